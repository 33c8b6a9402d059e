/* words.c - see words.h. */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)
#define MAX_TIMEOUT_MS (30 * UINT64_C(86400000))

/* ------------------------------------------------------------------ complaints */

bool word_fail(reader *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    r->problem->line = r->line;
    (void)vsnprintf(r->problem->text, sizeof r->problem->text, format, arguments);
    va_end(arguments);
    return false;
}

bool word_fail_expected(reader *r, const char *expected) {
    if (word_is_end(r)) return word_fail(r, "expected %s, found the end of the line", expected);
    return word_fail(r, "expected %s, found '%s'", expected, r->word);
}

/* ------------------------------------------------------------------ words */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_sign(char c) {
    return c == '(' || c == ')' || c == ',' || c == '<' || c == '>' || c == '=';
}

static bool is_line_end(const reader *r) {
    return r->at == r->end || *r->at == '\n' || *r->at == '#';
}

static bool take_bytes(reader *r, const char *from, size_t n) {
    if (n >= sizeof r->word)
        return word_fail(r, "a word of %zu letters; at most %zu", n, sizeof r->word - 1);
    memcpy(r->word, from, n);
    r->word[n] = '\0';
    return true;
}

static bool next_quoted(reader *r) {
    const char *const begin = ++r->at;
    while (r->at != r->end && *r->at != '\n' && *r->at != '"') r->at++;
    if (r->at == r->end || *r->at == '\n')
        return word_fail(r, "expected a closing quote before the end of the line");
    r->is_quoted = true;
    return take_bytes(r, begin, (size_t)(r->at++ - begin));
}

bool word_next(reader *r) {
    while (r->at != r->end && is_blank(*r->at)) r->at++;
    r->is_quoted = false;
    r->word[0] = '\0';
    if (is_line_end(r)) return true;
    if (*r->at == '"') return next_quoted(r);
    const char *const begin = r->at;
    if (is_sign(*r->at)) {
        r->at++;
        if ((*begin == '<' || *begin == '>') && r->at != r->end && *r->at == '=') r->at++;
        return take_bytes(r, begin, (size_t)(r->at - begin));
    }
    while (!is_line_end(r) && !is_blank(*r->at) && !is_sign(*r->at) && *r->at != '"') {
        if ((unsigned char)*r->at < ' ') return word_fail(r, "a byte that is no text");
        r->at++;
    }
    return take_bytes(r, begin, (size_t)(r->at - begin));
}

bool word_is_end(const reader *r) {
    return r->word[0] == '\0' && !r->is_quoted;
}

bool word_is(const reader *r, const char *word) {
    return !r->is_quoted && strcmp(r->word, word) == 0;
}

bool word_accept(reader *r, const char *word, bool *ret_is) {
    *ret_is = word_is(r, word);
    return *ret_is ? word_next(r) : true;
}

bool word_expect(reader *r, const char *word, const char *expected) {
    return word_is(r, word) ? word_next(r) : word_fail_expected(r, expected);
}

/* ------------------------------------------------------------------ names */

static bool is_name_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

bool word_take_name(reader *r, machine_word ret_name, const char *expected) {
    size_t const n = strlen(r->word);
    if (r->is_quoted || n == 0) return word_fail_expected(r, expected);
    for (size_t i = 0; i < n; i++) {
        if (!is_name_letter(r->word[i]))
            return word_fail_expected(r, "a name of letters, digits, - and _");
    }
    if (n >= MACHINE_NAME_BYTES)
        return word_fail(r, "'%s' is too long for a name; at most %d letters", r->word,
                         MACHINE_NAME_BYTES - 1);
    memcpy(ret_name, r->word, n + 1);
    return word_next(r);
}

/* ------------------------------------------------------------------ numbers */

/* Digits up to `limit`; *ret_rest is what follows them in the word. */
static bool read_digits(const char *word, uint64_t limit, uint64_t *ret_value,
                        const char **ret_rest) {
    uint64_t value = 0;
    if (*word < '0' || *word > '9') return false;
    for (; *word >= '0' && *word <= '9'; word++) {
        value = value * 10 + (uint64_t)(*word - '0');
        if (value > limit) return false;
    }
    *ret_value = value;
    *ret_rest = word;
    return true;
}

bool word_take_number(reader *r, uint32_t limit, const char *expected, uint32_t *ret_value) {
    uint64_t    value;
    const char *rest;
    if (!read_digits(r->word, limit, &value, &rest) || *rest != '\0')
        return word_fail_expected(r, expected);
    *ret_value = (uint32_t)value;
    return word_next(r);
}

bool word_take_range(reader *r, uint32_t limit, const char *expected, uint32_t *ret_low,
                     uint32_t *ret_high) {
    uint64_t    low, high;
    const char *rest;
    if (!read_digits(r->word, limit, &low, &rest)) return word_fail_expected(r, expected);
    high = low;
    if (*rest == '-' && !read_digits(rest + 1, limit, &high, &rest))
        return word_fail_expected(r, expected);
    if (*rest != '\0' || high < low) return word_fail_expected(r, expected);
    *ret_low = (uint32_t)low;
    *ret_high = (uint32_t)high;
    return word_next(r);
}

bool word_take_duration(reader *r, uint64_t *ret_ns) {
    static const struct {
        const char *name;
        uint64_t    ms;
    } units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };
    static const char *const expected = "a duration from 1ms to 30d, as in 500ms, 30s, 5m or 2h";
    uint64_t                 value;
    const char              *rest;
    if (!read_digits(r->word, MAX_TIMEOUT_MS, &value, &rest))
        return word_fail_expected(r, expected);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(rest, units[i].name) != 0) continue;
        if (value == 0 || value > MAX_TIMEOUT_MS / units[i].ms) break;
        *ret_ns = value * units[i].ms * NS_PER_MS;
        return word_next(r);
    }
    return word_fail_expected(r, expected);
}
