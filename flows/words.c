/* words.c - see words.h. */
#include "words.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)
#define MAX_TIMEOUT_MS (30 * UINT64_C(86400000))

/* ------------------------------------------------------------------ errors */

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

/* ------------------------------------------------------------------ text */

static size_t bytes_left(const reader *r) {
    return (size_t)(r->end - r->at);
}

/* The length of the UTF-8 character at r->at; 0: it is not valid. Overlong forms and surrogates are
 * accepted, since they do no harm here. */
static size_t character_bytes(const reader *r) {
    unsigned char const first = (unsigned char)*r->at;
    bool const          is_plain = first >= ' ' && first != 0x7f;
    if (first < 0x80) return is_plain || first == '\t' || first == '\r' || first == '\n';
    size_t const n = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (n > bytes_left(r)) return 0;
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)r->at[i] & 0xc0) != 0x80) return 0;
    }
    return n;
}

bool words_are_text(reader *r) {
    const char *const begin = r->at;
    while (r->at != r->end) {
        size_t const n = character_bytes(r);
        if (n == 0)
            return word_fail(r, "expected text in UTF-8, found the byte 0x%02x",
                             (unsigned char)*r->at);
        r->line += *r->at == '\n';
        r->at += n;
    }
    r->at = begin;
    r->line = 1;
    bool const has_mark = bytes_left(r) >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0;
    if (has_mark) r->at += 3; /* the byte order mark that some editors write */
    return true;
}

/* ------------------------------------------------------------------ words */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_sign(char c) {
    return c == '(' || c == ')' || c == ',' || c == '<' || c == '>' || c == '=' || c == '&';
}

static bool is_line_end(const reader *r) {
    return r->at == r->end || *r->at == '\n' || *r->at == '#';
}

static bool set_word(reader *r, const char *begin, size_t n) {
    if (n >= sizeof r->word)
        return word_fail(r, "a word of %zu letters is too long; at most %zu", n,
                         sizeof r->word - 1);
    memcpy(r->word, begin, n);
    r->word[n] = '\0';
    return true;
}

static bool next_quoted(reader *r) {
    const char *const begin = ++r->at;
    while (r->at != r->end && *r->at != '\n' && *r->at != '"') r->at++;
    if (r->at == r->end || *r->at == '\n')
        return word_fail(r, "expected a closing quote before the end of the line");
    r->is_quoted = true;
    return set_word(r, begin, (size_t)(r->at++ - begin));
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
        return set_word(r, begin, (size_t)(r->at - begin));
    }
    while (!is_line_end(r) && !is_blank(*r->at) && !is_sign(*r->at) && *r->at != '"') r->at++;
    return set_word(r, begin, (size_t)(r->at - begin));
}

bool word_is_end(const reader *r) {
    return r->word[0] == '\0' && !r->is_quoted;
}

bool word_is(const reader *r, const char *word) {
    return !r->is_quoted && strcmp(r->word, word) == 0;
}

bool word_accept(reader *r, const char *word, bool *ret_accepted) {
    *ret_accepted = word_is(r, word);
    return *ret_accepted ? word_next(r) : true;
}

bool word_expect(reader *r, const char *word, const char *expected) {
    return word_is(r, word) ? word_next(r) : word_fail_expected(r, expected);
}

/* ------------------------------------------------------------------ names */

bool word_is_name(const reader *r) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return !r->is_quoted && r->word[0] != '\0' && r->word[strspn(r->word, letters)] == '\0';
}

bool word_take_name(reader *r, machine_word ret_name, const char *expected) {
    size_t const n = strlen(r->word);
    if (r->is_quoted || n == 0) return word_fail_expected(r, expected);
    if (!word_is_name(r)) return word_fail_expected(r, "a name of letters, digits, - and _");
    if (n >= MACHINE_NAME_BYTES)
        return word_fail(r, "'%s' is too long for a name; at most %d letters", r->word,
                         MACHINE_NAME_BYTES - 1);
    memcpy(ret_name, r->word, n + 1);
    return word_next(r);
}

/* ------------------------------------------------------------------ numbers */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_hex(const char *word) {
    return word[0] == '0' && word[1] == 'x' && hex_digit(word[2]) >= 0;
}

/* Parse a number up to `limit`, as in 22 or 0x16. *ret_rest is the part of the word after it. */
static bool read_leading_number(const char *word, uint64_t limit, uint64_t *ret_value,
                                const char **ret_rest) {
    uint64_t  value = 0;
    int const base = is_hex(word) ? 16 : 10;
    if (*word < '0' || *word > '9') return false;
    if (base == 16) word += 2;
    for (; hex_digit(*word) >= 0 && hex_digit(*word) < base; word++) {
        value = value * (uint64_t)base + (uint64_t)hex_digit(*word);
        if (value > limit) return false;
    }
    *ret_value = value;
    *ret_rest = word;
    return true;
}

bool word_take_number(reader *r, uint32_t limit, const char *expected, uint32_t *ret_value) {
    uint64_t    value;
    const char *rest;
    if (!read_leading_number(r->word, limit, &value, &rest) || *rest != '\0')
        return word_fail_expected(r, expected);
    *ret_value = (uint32_t)value;
    return word_next(r);
}

bool word_take_range(reader *r, uint32_t limit, const char *expected, uint32_t *ret_low,
                     uint32_t *ret_high) {
    uint64_t    low, high;
    const char *rest;
    if (!read_leading_number(r->word, limit, &low, &rest)) return word_fail_expected(r, expected);
    high = low;
    if (*rest == '-' && !read_leading_number(rest + 1, limit, &high, &rest))
        return word_fail_expected(r, expected);
    if (*rest != '\0' || high < low) return word_fail_expected(r, expected);
    *ret_low = (uint32_t)low;
    *ret_high = (uint32_t)high;
    return word_next(r);
}

bool word_take_ports(reader *r, machine_ports *ret_ports) {
    static const char *const expected = "a port or ports, as in 53 or 80,443,6000-6063";
    bool                     is_more = true;
    ret_ports->n = 0;
    while (is_more) {
        uint32_t low, high;
        if (ret_ports->n == MACHINE_RANGES)
            return word_fail(r, "more than %d ports or ranges in one list", MACHINE_RANGES);
        if (!word_take_range(r, MACHINE_MAX_PORT, expected, &low, &high)) return false;
        ret_ports->low[ret_ports->n] = (uint16_t)low;
        ret_ports->high[ret_ports->n++] = (uint16_t)high;
        if (!word_accept(r, ",", &is_more)) return false;
    }
    return true;
}

bool word_take_sequence(reader *r, uint8_t *ret_bytes, uint32_t *ret_n) {
    static const char *const expected = "1 to 8 bytes in hexadecimal, as in 0x1603";
    size_t const             n = strlen(r->word);
    if (r->is_quoted || !is_hex(r->word) || n % 2 != 0 || n / 2 - 1 > MACHINE_SEQUENCE)
        return word_fail_expected(r, expected);
    for (size_t i = 2; i < n; i += 2) {
        int const high = hex_digit(r->word[i]), low = hex_digit(r->word[i + 1]);
        if (high < 0 || low < 0) return word_fail_expected(r, expected);
        ret_bytes[i / 2 - 1] = (uint8_t)(16 * high + low);
    }
    *ret_n = (uint32_t)(n / 2 - 1);
    return word_next(r);
}

/* 10.0.0.0/8, 192.0.2.7, 2001:db8::/32. */
bool word_take_prefix(reader *r, machine_prefix *ret_prefix) {
    static const char *const expected = "an address or a prefix, as in 10.0.0.0/8 or 2001:db8::1";
    machine_prefix           prefix = { .version = strchr(r->word, ':') != NULL ? 6 : 4 };
    unsigned const           most = prefix.version == 6 ? 128 : 32;
    char *const              slash = strchr(r->word, '/');
    uint64_t                 bits = most;
    const char              *rest = "";
    char                     address[MACHINE_TEXT_BYTES];
    size_t const             n = slash != NULL ? (size_t)(slash - r->word) : strlen(r->word);
    memcpy(address, r->word, n);
    address[n] = '\0';
    if (slash != NULL && !read_leading_number(slash + 1, most, &bits, &rest))
        return word_fail_expected(r, expected);
    if (r->is_quoted || *rest != '\0' ||
        inet_pton(prefix.version == 6 ? AF_INET6 : AF_INET, address, prefix.address) != 1)
        return word_fail_expected(r, expected);
    prefix.bits = (unsigned)bits;
    *ret_prefix = prefix;
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
    if (!read_leading_number(r->word, MAX_TIMEOUT_MS, &value, &rest))
        return word_fail_expected(r, expected);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(rest, units[i].name) != 0) continue;
        if (value == 0 || value > MAX_TIMEOUT_MS / units[i].ms) break;
        *ret_ns = value * units[i].ms * NS_PER_MS;
        return word_next(r);
    }
    return word_fail_expected(r, expected);
}
