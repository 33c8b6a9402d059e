/* plan_rows.h - the answers of all kinds to a spec: which can do it, which one is taken, why. */
#ifndef CLI_PLAN_ROWS_H
#define CLI_PLAN_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include <tamis/tamis.h>

#include "columns.h"

#define PLANS_MAX (TABLE_ROWS - 1)

/* Every kind's answer to a spec. */
typedef struct plans {
    tamis_plan rows[PLANS_MAX];
    size_t     n;
    uint64_t   memory; /* a kind that takes more is out of the question; 0: no limit */
} plans;

bool plans_is_able(const plans *of, const tamis_plan *plan);

/* NULL if no kind can do it. */
const tamis_plan *plans_chosen(const plans *of);

/* Those that can do it come first, the smallest on top; then the others, by name. */
void plans_sort(plans *of);

/* ------------------------------------------------------------------ for people */

/* A table of kinds with these TABLE_COLUMNS heads, the last three of which are cache lines. Freed
 * with free(). */
report_table *plans_table(const char *const *heads);

/* A row of a kind that can do it, up to the bits for a key; and its last words, the cache lines. */
table_row *table_add_able(report_table *table, const tamis_plan *plan);
void       row_lines(table_row *row, const tamis_plan *plan);

/* A row of a kind that cannot do it. */
void table_add_unable(report_table *table, const tamis_plan *plan, const char *why_not);

/* One more word of a row: 0.1%, "never" for 0. */
void row_rate(table_row *row, double rate);

/* "tamis takes dlcbf: the smallest of the 3 kinds that can do it." and the like. */
void plans_print_chosen(const plans *all, const tamis_plan *chosen, bool is_named);

/* ------------------------------------------------------------------ for programs */

/* Which kind is taken, and why; nothing if none is. */
void plans_json_chosen(const plans *all, bool is_named);

/* ------------------------------------------------------------------ for programmers */

/* The fields of a spec that are seldom set: NULL and 0 are left out. */
void code_rare_fields(const char *geometry, uint64_t lifetime, double overflow);

#endif
