/* json.c - see json.h. */
#include "json.h"

#include <math.h>

#include "output.h"

static unsigned depth;
static bool     is_first = true; /* is the next value the first of its list or object? */
static bool     is_compact;

void json_compact(void) {
    is_compact = true;
}

static void json_indent(void) {
    if (is_compact) return;
    output_string("\n");
    for (unsigned i = 0; i < depth; i++) output_string("  ");
}

/* The number of bytes of the UTF-8 character at `text`, or 0 if it is invalid. Overlong forms and
 * surrogates are accepted: readers of JSON can handle them. */
static size_t utf8_bytes(const unsigned char *text) {
    size_t const n = *text < 0x80 ? 1 : *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
    if (n > 1 && (*text < 0xc2 || *text > 0xf4)) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
    }
    return n;
}

/* File names may be any bytes; a byte that is not UTF-8 becomes the replacement character. */
static void json_string(const char *text) {
    output_string("\"");
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t const n = utf8_bytes(at);
        if (n == 0)
            output_string("\\ufffd");
        else if (*at < 0x20)
            output_text("\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            output_text("\\%c", *at);
        else
            output_bytes(at, n);
        at += n != 0 ? n : 1;
    }
    output_string("\"");
}

static void json_begin_value(const char *name) {
    if (!is_first) output_string(",");
    is_first = false;
    if (depth != 0) json_indent();
    if (name == NULL) return;
    json_string(name);
    output_string(is_compact ? ":" : ": ");
}

void json_open(const char *name, char bracket) {
    json_begin_value(name);
    output_bytes(&bracket, 1);
    depth++;
    is_first = true;
}

void json_close(char bracket) {
    depth--;
    if (!is_first) json_indent();
    output_bytes(&bracket, 1);
    is_first = depth == 0; /* the next value of the top level is a document of its own */
    if (depth == 0) output_string("\n");
}

void json_text(const char *name, const char *text) {
    json_begin_value(name);
    json_string(text);
}

void json_count(const char *name, uint64_t value) {
    json_begin_value(name);
    output_number(value);
}

void json_number(const char *name, double value) {
    json_begin_value(name);
    if (isfinite(value))
        output_text("%.10g", value);
    else
        output_string("null");
}

void json_seconds(const char *name, uint64_t ns) {
    json_begin_value(name);
    output_text("%llu.%09llu", (unsigned long long)(ns / 1000000000),
                (unsigned long long)(ns % 1000000000));
}

void json_bool(const char *name, bool value) {
    json_begin_value(name);
    output_string(value ? "true" : "false");
}
