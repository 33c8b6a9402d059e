/* words.h - arguments of commands: words, numbers, items. */
#ifndef TAMIS_REDIS_WORDS_H
#define TAMIS_REDIS_WORDS_H

#include "abi.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <tamis/tamis.h>

/* Is the argument this word, in any case? */
static inline bool word_is(const redis_string *argument, const char *word) {
    size_t            n;
    const char *const text = redis_StringPtrLen(argument, &n);
    return n == strlen(word) && strncasecmp(text, word, n) == 0;
}

/* Letter i of the argument, in lower case; 0 beyond its end. */
static inline char word_letter(const redis_string *argument, size_t i) {
    size_t            n;
    const char *const text = redis_StringPtrLen(argument, &n);
    return (char)(i < n ? tolower((unsigned char)text[i]) : 0);
}

static inline bool word_number(const redis_string *argument, long long *ret) {
    return redis_StringToLongLong(argument, ret) == REDIS_OK;
}

/* A number of keys or bytes: not negative. */
static inline bool word_count(const redis_string *argument, uint64_t *ret) {
    long long number;
    if (!word_number(argument, &number) || number < 0) return false;
    *ret = (uint64_t)number;
    return true;
}

static inline bool word_double(const redis_string *argument, double *ret) {
    return redis_StringToDouble(argument, ret) == REDIS_OK && isfinite(*ret);
}

/* The bytes of an item. */
static inline tamis_key word_key(const redis_string *argument) {
    tamis_key key;
    key.data = redis_StringPtrLen(argument, &key.bytes);
    return key;
}

#endif
