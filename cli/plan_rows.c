/* plan_rows.c - see plan_rows.h. */
#include "plan_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"

bool plans_is_able(const plans *all, const tamis_plan *plan) {
    bool const is_large = all->memory != 0 && plan->body_bytes > all->memory;
    return plan->status == TAMIS_OK && !is_large;
}

const tamis_plan *plans_chosen(const plans *all) {
    for (size_t i = 0; i < all->n; i++) {
        if (all->rows[i].chosen) return &all->rows[i];
    }
    return NULL;
}

static int compare_plans(const void *left, const void *right) {
    const tamis_plan *const a = left, *const b = right;
    bool const can_a = a->status == TAMIS_OK, can_b = b->status == TAMIS_OK;
    if (can_a != can_b) return can_a ? -1 : 1;
    if (can_a && a->body_bytes != b->body_bytes) return a->body_bytes < b->body_bytes ? -1 : 1;
    return strcmp(a->kind, b->kind);
}

void plans_sort(plans *all) {
    qsort(all->rows, all->n, sizeof all->rows[0], compare_plans);
}

/* ------------------------------------------------------------------ why */

typedef char reason[160];

/* "the only kind that can do it", "the only kind that fits", or NULL if there are others. */
static const char *name_only(size_t n_possible, size_t n_able) {
    if (n_able != 1) return NULL;
    return n_possible == 1 ? "the only kind that can do it" : "the only kind that fits";
}

/* The planner chooses by preference; the reason says no more than that. That a kind is also the
 * smallest of this table would not be a reason to believe that it is the smallest there is: with
 * --small, every kind is laid out anew, and smaller. */
static void why_chosen(const plans *all, reason ret_text) {
    size_t n_possible = 0, n_able = 0;
    for (size_t i = 0; i < all->n; i++) {
        n_possible += all->rows[i].status == TAMIS_OK;
        n_able += plans_is_able(all, &all->rows[i]);
    }
    const char *const only = name_only(n_possible, n_able);
    if (all->is_named)
        (void)snprintf(ret_text, sizeof(reason), "you named it");
    else if (only != NULL)
        (void)snprintf(ret_text, sizeof(reason), "%s", only);
    else
        (void)snprintf(ret_text, sizeof(reason), "%s of the %zu kinds that %s",
                       all->prefer == TAMIS_PREFER_SMALL ? "the smallest"
                                                         : "expected to be the fastest",
                       n_able, n_able < n_possible ? "fit" : "can do it");
}

/* ------------------------------------------------------------------ for people */

report_table *plans_table(const char *const *heads) {
    report_table *const table = calloc(1, sizeof *table);
    if (table == NULL) die("out of memory");
    table->group = "cache lines to";
    table->group_column = TABLE_COLUMNS - 3;
    table_row *const head = table_add(table, STYLE_PLAIN);
    for (unsigned i = 0; i < TABLE_COLUMNS; i++) row_add(head, heads[i]);
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

table_row *table_add_able(report_table *table, const tamis_plan *plan) {
    table_row *const row = table_add(table, plan->chosen ? STYLE_BOLD : STYLE_PLAIN);
    number_text      size;
    row_kind(row, plan->chosen ? "*" : " ", plan->kind);
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
