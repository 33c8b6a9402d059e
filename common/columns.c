/* columns.c - see columns.h. */
#include "columns.h"

#include <stdio.h>
#include <string.h>

#include "output.h"

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

/* Does the word count for the width of its column? The last word of a short row does not. */
static bool has_width(const report_table *table, const table_row *row, unsigned column) {
    bool const is_whole = row->n_words == table->rows[0].n_words;
    return column < row->n_words && (is_whole || column + 1 < row->n_words);
}

static int column_width(const report_table *table, unsigned column) {
    size_t width = 0;
    for (unsigned i = 0; i < table->n_rows; i++) {
        const table_row *const row = &table->rows[i];
        size_t const length = has_width(table, row, column) ? strlen(row->words[column]) : 0;
        if (length > width) width = length;
    }
    return (int)width;
}

static void row_print(const report_table *table, const table_row *row, const int *widths,
                      bool is_colourful) {
    static const char *const begin[] = { "", "\033[1m", "\033[2m" };
    char                     line[TABLE_COLUMNS * (TABLE_WORD_BYTES + 2)];
    size_t                   at = 0;
    for (unsigned i = 0; i < row->n_words; i++) {
        bool const is_left = i == 0 || !has_width(table, row, i);
        at += (size_t)snprintf(line + at, sizeof line - at, is_left ? "%s%-*s" : "%s%*s",
                               i ? "  " : "", has_width(table, row, i) ? widths[i] : 0,
                               row->words[i]);
    }
    bool const is_styled = is_colourful && row->style != STYLE_PLAIN;
    output_text("%s%s%s\n", is_styled ? begin[row->style] : "", line, is_styled ? "\033[0m" : "");
}

/* Centre the heading above its columns, if they are wide enough. */
static void group_print(const report_table *table, const int *widths) {
    int before = 0, over = -2;
    for (unsigned i = 0; i < table->rows[0].n_words; i++) {
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
    for (unsigned i = 0; i < table->n_rows; i++)
        row_print(table, &table->rows[i], widths, is_colourful);
}
