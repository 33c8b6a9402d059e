/* numbers.c - see numbers.h. The tools never call setlocale(), so the decimal point is a point. */
#include "numbers.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NOT_A_COUNT "not a number; write 1000, 10k, 1M or 2G"
#define NOT_A_RATE "not a rate; write 0.1%, 0.001, 1e-6 or 1/1000"
#define NOT_A_SIZE "not a size; write 4096, 64KiB, 16MiB or 2GiB"
#define NOT_A_TIME "not a time; write 500ms, 10s, 5m, 2h or 1d"
#define NOT_A_SEED "not a seed; write a number, or up to 32 hexadecimal digits after 0x"

/* ------------------------------------------------------------------ reading */

/* Read a decimal number at the beginning of `text`. strtod() alone would also accept " 5", "-5",
 * "0x5", "inf" and "nan". Returns the rest of the text, or NULL. */
static const char *read_plain(const char *text, double *ret_value) {
    if (!(*text >= '0' && *text <= '9') && *text != '.') return NULL;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return NULL;
    char *end;
    errno = 0;
    double const value = strtod(text, &end);
    if (end == text) return NULL;
    *ret_value = value == 0 && errno == ERANGE ? DBL_MIN : value; /* 1e-400 is small, and not 0 */
    return end;
}

typedef struct suffix {
    const char *name;
    double      factor;
} suffix;

/* The factor of a suffix, in upper or lower case; 0 if it is unknown. */
static double suffix_find(const suffix *table, const char *name) {
    for (; table->name != NULL; table++) {
        if (strcasecmp(table->name, name) == 0) return table->factor;
    }
    return 0;
}

/* Read a number and its suffix. Their product must be below 2^63 and a whole number; with
 * is_rounded, a fraction is dropped if there is a suffix (1.2M bytes). */
static const char *read_whole(const char *text, const suffix *suffixes, const char *complaint,
                              bool is_rounded, uint64_t *ret_value) {
    double            value;
    const char *const rest = read_plain(text, &value);
    if (rest == NULL) return complaint;
    double const factor = suffix_find(suffixes, rest);
    if (factor == 0) return complaint;
    value = round(value * factor * 1e3) / 1e3; /* 1.1k is 1100, though 1.1 * 1000 is not quite */
    if (is_rounded && factor != 1) value = floor(value);
    if (value != floor(value)) return "not a whole number; round it";
    if (value >= 0x1p63) return "too large; it must be below 2^63";
    *ret_value = (uint64_t)value;
    return NULL;
}

const char *number_read_count(const char *text, uint64_t *ret_count) {
    static const suffix suffixes[] = { { "", 1 },        { "k", 1e3 },     { "M", 1e6 },
                                       { "G", 1e9 },     { "T", 1e12 },    { "Ki", 0x1p10 },
                                       { "Mi", 0x1p20 }, { "Gi", 0x1p30 }, { "Ti", 0x1p40 },
                                       { NULL, 0 } };
    return read_whole(text, suffixes, NOT_A_COUNT, false, ret_count);
}

/* M alone means MiB here, as in du(1) and dd(1). */
const char *number_read_size(const char *text, uint64_t *ret_bytes) {
    static const suffix suffixes[] = { { "", 1 },         { "B", 1 },        { "k", 0x1p10 },
                                       { "M", 0x1p20 },   { "G", 0x1p30 },   { "T", 0x1p40 },
                                       { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 },
                                       { "TiB", 0x1p40 }, { "kB", 1e3 },     { "MB", 1e6 },
                                       { "GB", 1e9 },     { "TB", 1e12 },    { NULL, 0 } };
    return read_whole(text, suffixes, NOT_A_SIZE, true, ret_bytes);
}

const char *number_read_time(const char *text, uint64_t *ret_ns) {
    static const suffix suffixes[] = { { "ms", 1e6 },   { "s", 1e9 },     { "m", 60e9 },
                                       { "h", 3600e9 }, { "d", 86400e9 }, { NULL, 0 } };
    return read_whole(text, suffixes, NOT_A_TIME, true, ret_ns);
}

const char *number_read_rate(const char *text, double *ret_rate) {
    double      value, parts = 1;
    const char *rest = read_plain(text, &value);
    if (rest == NULL) return NOT_A_RATE;
    if (*rest == '/') rest = read_plain(rest + 1, &parts);
    if (rest != NULL && strcmp(rest, "%") == 0) {
        value /= 100;
        rest++;
    }
    if (rest == NULL || *rest != '\0' || parts == 0) return NOT_A_RATE;
    *ret_rate = value / parts;
    if (*ret_rate == 0 && value != 0) *ret_rate = DBL_MIN;
    return NULL;
}

/* The value of a hexadecimal digit, or -1. */
static int hex_value(char digit) {
    static const char digits[] = "0123456789abcdef";
    char const        lower = digit >= 'A' && digit <= 'F' ? (char)(digit + 'a' - 'A') : digit;
    const char *const at = digit != '\0' ? strchr(digits, lower) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static const char *read_hex(const char *digits, tamis_seed *ret_seed) {
    tamis_seed seed = { 0, 0 };
    if (*digits == '\0' || strlen(digits) > 32) return NOT_A_SEED;
    for (; *digits != '\0'; digits++) {
        int const value = hex_value(*digits);
        if (value < 0) return NOT_A_SEED;
        seed.high = seed.high << 4 | seed.low >> 60;
        seed.low = seed.low << 4 | (uint64_t)value;
    }
    *ret_seed = seed;
    return NULL;
}

const char *number_read_seed(const char *text, tamis_seed *ret_seed) {
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return read_hex(text + 2, ret_seed);
    uint64_t value = 0;
    if (*text == '\0') return NOT_A_SEED;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9') return NOT_A_SEED;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) {
            return "too large for 64 bits; write it in hexadecimal, after 0x";
        }
    }
    *ret_seed = (tamis_seed){ .low = value, .high = 0 };
    return NULL;
}

/* ------------------------------------------------------------------ writing */

void number_exact(uint64_t value, number_text ret_text) {
    char      digits[24];
    int const n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char     *to = ret_text;
    for (int i = 0; i < n; i++) {
        if (i != 0 && (n - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
}

/* Write three significant digits, without zeros at the end: 1.23, 12.3, 123, 1. */
static int write_digits(double value, char *ret_text, size_t n) {
    int const decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    int       length = snprintf(ret_text, n, "%.*f", decimals, value);
    while (decimals != 0 && ret_text[length - 1] == '0') length--;
    if (ret_text[length - 1] == '.') length--;
    ret_text[length] = '\0';
    return length;
}

/* Divide by `step` until the number is short enough, and write the name of that unit after it. */
static void write_scaled(double value, double step, const char *const *names,
                         number_text ret_text) {
    while (value >= 0.9995 * step && names[1] != NULL) {
        value /= step;
        names++;
    }
    int const length = write_digits(value, ret_text, sizeof(number_text));
    (void)snprintf(ret_text + length, sizeof(number_text) - (size_t)length, "%s", *names);
}

void number_short(double value, number_text ret_text) {
    static const char *const names[] = { "", "k", "M", "G", "T", NULL };
    write_scaled(round(value * 1e3) / 1e3, 1000, names, ret_text);
}

void number_size(uint64_t bytes, number_text ret_text) {
    static const char *const names[] = { " B", " KiB", " MiB", " GiB", " TiB", NULL };
    write_scaled((double)bytes, 1024, names, ret_text);
}

void number_rate(double rate, number_text ret_text) {
    if (isnan(rate)) {
        (void)snprintf(ret_text, sizeof(number_text), "unknown");
    } else if (rate > 0 && rate < 1e-5) {
        (void)snprintf(ret_text, sizeof(number_text), "%.1e", rate);
    } else {
        (void)snprintf(ret_text, sizeof(number_text), "%.3g%%", 100 * rate);
    }
}

void number_seed(tamis_seed seed, number_text ret_text) {
    (void)snprintf(ret_text, sizeof(number_text), "0x%016llx%016llx", (unsigned long long)seed.high,
                   (unsigned long long)seed.low);
}
