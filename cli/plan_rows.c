/* plan_rows.c - see plan_rows.h. */
#include "plan_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"

plan_open plans_open(uint64_t memory, uint64_t capacity, double fpr) {
    if (memory == 0) return OPEN_NOTHING;
    return capacity == 0 ? OPEN_CAPACITY : fpr == 0 ? OPEN_RATE : OPEN_NOTHING;
}

const tamis_plan *plans_chosen(const plans *all) {
    for (size_t i = 0; i < all->n; i++) {
        if (all->rows[i].chosen) return &all->rows[i];
    }
    return NULL;
}

/* Negative if a comes before b. A kind with fewer bits per key has room for more keys in the same
 * memory; with the same keys and memory, the lower rate is better. */
static double compare_sizes(const tamis_plan *a, const tamis_plan *b, plan_open open) {
    if (open == OPEN_CAPACITY) return (double)b->capacity - (double)a->capacity;
    if (open == OPEN_RATE) return a->fpr - b->fpr;
    return (double)a->body_bytes - (double)b->body_bytes;
}

static bool comes_before(const tamis_plan *a, const tamis_plan *b, plan_open open) {
    bool const can_a = a->status == TAMIS_OK, can_b = b->status == TAMIS_OK;
    if (can_a != can_b) return can_a;
    double const difference = can_a ? compare_sizes(a, b, open) : 0;
    return difference != 0 ? difference < 0 : strcmp(a->kind, b->kind) < 0;
}

/* By insertion: there are about a dozen rows. */
void plans_sort(plans *all) {
    for (size_t i = 1; i < all->n; i++) {
        tamis_plan const row = all->rows[i];
        size_t           at = i;
        for (; at != 0 && comes_before(&row, &all->rows[at - 1], all->open); at--) {
            all->rows[at] = all->rows[at - 1];
        }
        all->rows[at] = row;
    }
}

/* ------------------------------------------------------------------ why */

typedef char reason[160];

/* Has the chosen kind the most keys, or the lowest rate, in the memory that is given? */
static bool is_best_in_memory(const plans *all) {
    const tamis_plan *const chosen = plans_chosen(all);
    if (all->open == OPEN_NOTHING) return false;
    for (size_t i = 0; i < all->n; i++) {
        const tamis_plan *const row = &all->rows[i];
        if (row->status == TAMIS_OK && compare_sizes(row, chosen, all->open) < 0) return false;
    }
    return true;
}

static const char *name_measure(const plans *all, bool is_fast) {
    if (is_fast) return "expected to be the fastest";
    if (all->open == OPEN_CAPACITY) return "it holds the most keys";
    return all->open == OPEN_RATE ? "it has the lowest rate" : "the smallest";
}

/* The planner chooses by preference; the reason says no more than that. That a kind is also the
 * smallest of this table would not mean that it is the smallest there is: with --small, every kind
 * is laid out again, and smaller. If a limit of memory leaves the rate or the capacity open, these
 * decide between kinds that are laid out for speed where that fits, unless line or bloom is taken.
 */
static void why_chosen(const plans *all, reason ret_text) {
    bool const prefers_fast = all->prefer == TAMIS_PREFER_FAST;
    bool const is_fast = prefers_fast && !is_best_in_memory(all);
    size_t     n_able = 0;
    for (size_t i = 0; i < all->n; i++) n_able += all->rows[i].status == TAMIS_OK;
    if (all->is_named)
        (void)snprintf(ret_text, sizeof(reason), "you named it");
    else if (n_able == 1)
        (void)snprintf(ret_text, sizeof(reason), "the only kind that can do it%s",
                       all->is_any_passed_over ? " without being named" : "");
    else
        (void)snprintf(ret_text, sizeof(reason), "%s of the %zu kinds that can do it%s",
                       name_measure(all, is_fast), n_able,
                       prefers_fast && !is_fast ? ", in layouts for speed where these fit" : "");
}

/* ------------------------------------------------------------------ for people */

report_table *plans_table(const char *const *heads, unsigned n) {
    static const char *const last[] = { "hit", "miss", "add" };
    report_table *const      table = calloc(1, sizeof *table);
    if (table == NULL) die("not enough memory: needs %zu bytes for a table", sizeof *table);
    table->group = "cache lines to";
    table->group_column = n;
    table_row *const head = table_add(table, STYLE_PLAIN);
    for (unsigned i = 0; i < n; i++) row_add(head, heads[i]);
    for (unsigned i = 0; i < 3; i++) row_add(head, last[i]);
    return table;
}

static void row_decimal(table_row *row, double value) {
    number_text text;
    (void)snprintf(text, sizeof text, "%.1f", value);
    row_add(row, text);
}

static void row_kind(table_row *row, const char *mark, const char *kind) {
    number_text text;
    (void)snprintf(text, sizeof text, "%s %s", mark, kind);
    row_add(row, text);
}

const char *plans_size_head(const plans *all) {
    return all->open == OPEN_CAPACITY ? "keys" : "size";
}

table_row *table_add_able(report_table *table, const plans *all, const tamis_plan *plan) {
    table_row *const row = table_add(table, plan->chosen ? STYLE_BOLD : STYLE_PLAIN);
    number_text      size;
    row_kind(row, plan->chosen ? "*" : " ", plan->kind);
    if (all->open == OPEN_CAPACITY)
        number_exact(plan->capacity, size);
    else
        number_size(plan->body_bytes, size);
    row_add(row, size);
    row_decimal(row, plan->bits_per_key);
    return row;
}

void row_lines(table_row *row, const tamis_plan *plan) {
    row_decimal(row, plan->lines_present);
    row_decimal(row, plan->lines_absent);
    row_decimal(row, plan->lines_add);
}

void table_add_unable(report_table *table, const tamis_plan *plan, const char *why_not) {
    table_row *const row = table_add(table, STYLE_FAINT);
    row_kind(row, " ", plan->kind);
    row_add(row, why_not);
}

void row_rate(table_row *row, double rate) {
    number_text text;
    number_rate(rate, text);
    row_add(row, rate == 0 ? "never" : text);
}

void plans_print_chosen(const plans *all) {
    const tamis_plan *const chosen = plans_chosen(all);
    reason                  why;
    why_chosen(all, why);
    output_text("\n* tamis takes %s: %s.\n", chosen->kind, why);
}

void plans_print_small(const plans *all, const tamis_plan *small) {
    number_text text;
    if (all->open == OPEN_CAPACITY)
        number_exact(small->capacity, text);
    else if (all->open == OPEN_RATE)
        number_rate(small->fpr, text);
    else
        number_size(small->body_bytes, text);
    output_text("  With --small it takes %s, %s%s%s.\n", small->kind,
                all->open == OPEN_CAPACITY ? "for "
                : all->open == OPEN_RATE   ? "at "
                                           : "",
                text,
                all->open != OPEN_CAPACITY ? ""
                : small->capacity == 1     ? " key"
                                           : " keys");
}

/* ------------------------------------------------------------------ for programs */

void plans_json_chosen(const plans *all) {
    const tamis_plan *const chosen = plans_chosen(all);
    reason                  why;
    if (chosen == NULL) return;
    why_chosen(all, why);
    json_text("chosen", chosen->kind);
    json_text("why", why);
}

/* ------------------------------------------------------------------ for programmers */

void code_rare_fields(const char *geometry, uint64_t lifetime, double overflow) {
    if (geometry != NULL) output_text("    spec.geometry = \"%s\";\n", geometry);
    if (lifetime != 0) output_text("    spec.lifetime = %llu;\n", (unsigned long long)lifetime);
    if (overflow > 0) output_text("    spec.overflow = %.10g;\n", overflow);
}
