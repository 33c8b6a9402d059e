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

/* "the smallest of the 3 kinds that can do it" and the like. */
void plans_why_chosen(const plans *all, const tamis_plan *chosen, bool is_named, char *ret_text,
                      size_t n);

/* One more word of a row: 17.3; or 0.1%, "never" for 0. */
void row_decimal(table_row *row, double value);
void row_rate(table_row *row, double rate);

#endif
