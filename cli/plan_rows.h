/* plan_rows.h - what all kinds make of a spec: which can do the job, which is chosen, and why. */
#ifndef CLI_PLAN_ROWS_H
#define CLI_PLAN_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include <tamis/tamis.h>

#include "columns.h"

#define PLANS_MAX (TABLE_ROWS - 1)

/* Under a limit of memory, each kind has its own capacity, or its own rate. */
typedef enum plan_open { OPEN_NOTHING, OPEN_CAPACITY, OPEN_RATE } plan_open;

plan_open plans_open(uint64_t memory, uint64_t capacity, double fpr);

/* What every kind makes of a spec. */
typedef struct plans {
    tamis_plan       rows[PLANS_MAX];
    size_t           n;
    bool             is_named;           /* the user has named the kind */
    bool             is_any_passed_over; /* can a kind do it that is chosen only if it is named? */
    tamis_preference prefer;             /* otherwise, what the planner chooses by */
    plan_open        open;               /* what a limit of memory leaves to each kind */
} plans;

/* NULL if no kind can do it. */
const tamis_plan *plans_chosen(const plans *all);

/* Kinds that can do the job come first, with the smallest on top (or the one with the most keys, or
 * the lowest rate); then the others, by name. */
void plans_sort(plans *all);

/* ------------------------------------------------------------------ for people */

/* A table of kinds that begins with these n headings; three for cache lines follow. Free it with
 * free(). */
report_table *plans_table(const char *const *heads, unsigned n);

/* Add a row for a kind that can do it, up to the bits per key; and its last words, the cache lines.
 */
table_row *table_add_able(report_table *table, const plans *all, const tamis_plan *plan);
void       row_lines(table_row *row, const tamis_plan *plan);

/* The heading of the second column: "size", or "keys" if each kind has its own capacity. */
const char *plans_size_head(const plans *all);

/* "With --small it takes rank, 1.65 MiB." (Or "for 466 keys", or "at 0.03%".) */
void plans_print_small(const plans *all, const tamis_plan *small);

/* A row of a kind that cannot do it. */
void table_add_unable(report_table *table, const tamis_plan *plan, const char *why_not);

/* One more word of a row: 0.1%, "never" for 0. */
void row_rate(table_row *row, double rate);

/* "tamis takes dlcbf: the smallest of the 3 kinds that can do it." One must be chosen. */
void plans_print_chosen(const plans *all);

/* ------------------------------------------------------------------ for programs */

/* Which kind is chosen, and why; nothing if none is. */
void plans_json_chosen(const plans *all);

/* ------------------------------------------------------------------ for programmers */

/* Print the fields of a spec that are seldom set; NULL and 0 are left out. */
void code_rare_fields(const char *geometry, uint64_t lifetime, double overflow);

#endif
