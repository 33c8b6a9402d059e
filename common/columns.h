/* columns.h - print a table.
 *
 * Rows of words, in columns that are as wide as their widest word. The first row has the headings:
 * it says how many columns there are. The first column is flush left, the others are flush right. A
 * row may have fewer words than there are columns: its last word may then be wider than its column.
 */
#ifndef COMMON_COLUMNS_H
#define COMMON_COLUMNS_H

#define TABLE_COLUMNS 11 /* at most */
#define TABLE_ROWS 40
#define TABLE_WORD_BYTES 128

typedef enum table_style { STYLE_PLAIN, STYLE_BOLD, STYLE_FAINT } table_style;

typedef struct table_row {
    char        words[TABLE_COLUMNS][TABLE_WORD_BYTES];
    unsigned    n_words;
    table_style style;
} table_row;

typedef struct report_table {
    table_row   rows[TABLE_ROWS];
    unsigned    n_rows;
    const char *group; /* a heading over the columns from `group_column` on, or NULL */
    unsigned    group_column;
} report_table;

/* Add an empty row. If the table is full, the last row is emptied and returned. */
table_row *table_add(report_table *table, table_style style);

/* Add a word to a row. */
void row_add(table_row *row, const char *word);

void table_print(const report_table *table);

#endif
