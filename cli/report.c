/* report.c - see report.h. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output.h"

/* ------------------------------------------------------------------ tables */

table_row *table_add(report_table *table, table_style style) {
    if (table->n_rows < TABLE_ROWS) table->n_rows++;
    table_row *const row = &table->rows[table->n_rows - 1];
    *row = (table_row){ .style = style };
    return row;
}

void row_add(table_row *row, const char *word) {
    if (row->n_words == TABLE_COLUMNS) return;
    (void)snprintf(row->words[row->n_words++], sizeof row->words[0], "%s", word);
}

/* The last word of a short row may hang over. */
static bool has_width(const table_row *row, unsigned column) {
    return column < row->n_words && (row->n_words == TABLE_COLUMNS || column + 1 < row->n_words);
}

static int column_width(const report_table *table, unsigned column) {
    size_t width = 0;
    for (unsigned i = 0; i < table->n_rows; i++) {
        const table_row *const row = &table->rows[i];
        size_t const           length = has_width(row, column) ? strlen(row->words[column]) : 0;
        if (length > width) width = length;
    }
    return (int)width;
}

static void row_print(const table_row *row, const int *widths, bool is_colourful) {
    static const char *const begin[] = { "", "\033[1m", "\033[2m" };
    char                     line[TABLE_COLUMNS * (TABLE_WORD_BYTES + 2)];
    size_t                   at = 0;
    for (unsigned i = 0; i < row->n_words; i++) {
        bool const is_left = i == 0 || !has_width(row, i);
        at += (size_t)snprintf(line + at, sizeof line - at, is_left ? "%s%-*s" : "%s%*s",
                               i ? "  " : "", has_width(row, i) ? widths[i] : 0, row->words[i]);
    }
    bool const is_styled = is_colourful && row->style != STYLE_PLAIN;
    output_text("%s%s%s\n", is_styled ? begin[row->style] : "", line, is_styled ? "\033[0m" : "");
}

/* In the middle above its columns, as far as they leave room. */
static void group_print(const report_table *table, const int *widths) {
    int before = 0, over = -2;
    for (unsigned i = 0; i < TABLE_COLUMNS; i++) {
        if (i < table->group_column)
            before += widths[i] + 2;
        else
            over += widths[i] + 2;
    }
    int const left = (over - (int)strlen(table->group)) / 2;
    output_text("%*s%s\n", before + (left > 0 ? left : 0), "", table->group);
}

void table_print(const report_table *table) {
    int widths[TABLE_COLUMNS];
    for (unsigned i = 0; i < TABLE_COLUMNS; i++) widths[i] = column_width(table, i);
    if (table->group != NULL) group_print(table, widths);
    bool const is_colourful = output_is_colourful();
    for (unsigned i = 0; i < table->n_rows; i++) row_print(&table->rows[i], widths, is_colourful);
}

/* ------------------------------------------------------------------ JSON */

static unsigned depth;
static bool     is_first = true; /* the next value is the first of its list or object */

static void json_indent(void) {
    output_string("\n");
    for (unsigned i = 0; i < depth; i++) output_string("  ");
}

/* The length of the UTF-8 character at `text`, or 0 if there is none. Overlong forms and the like
 * are let through: every reader of JSON does something sensible with them. */
static size_t utf8_bytes(const unsigned char *text) {
    size_t const n = *text < 0x80 ? 1 : *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
    if (n > 1 && (*text < 0xc2 || *text > 0xf4)) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
    }
    return n;
}

/* File names are any bytes; what is not UTF-8 becomes the replacement character. */
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
    output_string(": ");
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
    is_first = depth == 0; /* what follows at the top is a document of its own */
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

void json_bool(const char *name, bool value) {
    json_begin_value(name);
    output_string(value ? "true" : "false");
}
