/* plan_rows.c - see plan_rows.h. */
#include "plan_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"

bool plans_is_able(const plans *of, const tamis_plan *plan) {
    bool const is_large = of->memory != 0 && plan->body_bytes > of->memory;
    return plan->status == TAMIS_OK && !is_large;
}

const tamis_plan *plans_chosen(const plans *of) {
    for (size_t i = 0; i < of->n; i++) {
        if (of->rows[i].chosen) return &of->rows[i];
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

void plans_sort(plans *of) {
    qsort(of->rows, of->n, sizeof of->rows[0], compare_plans);
}

/* ------------------------------------------------------------------ why */

static double lines_of(const tamis_plan *plan) {
    return plan->lines_present + plan->lines_absent + plan->lines_add;
}

/* Of the kinds that can do it: how many, and is none smaller, or faster, than this one? */
static size_t compare_able(const plans *all, const tamis_plan *chosen, bool *ret_is_smallest,
                           bool *ret_is_fastest) {
    size_t n_able = 0;
    *ret_is_smallest = *ret_is_fastest = true;
    for (size_t i = 0; i < all->n; i++) {
        const tamis_plan *const plan = &all->rows[i];
        if (!plans_is_able(all, plan)) continue;
        n_able++;
        if (plan->body_bytes < chosen->body_bytes) *ret_is_smallest = false;
        if (lines_of(plan) < lines_of(chosen)) *ret_is_fastest = false;
    }
    return n_able;
}

typedef char reason[160];

static void why_chosen(const plans *all, const tamis_plan *chosen, bool is_named, reason ret_text) {
    bool         is_smallest, is_fastest;
    size_t const n = sizeof(reason);
    size_t const n_able = compare_able(all, chosen, &is_smallest, &is_fastest);
    if (is_named)
        (void)snprintf(ret_text, n, "you named it");
    else if (n_able == 1)
        (void)snprintf(ret_text, n, "the only kind that can do it");
    else
        (void)snprintf(ret_text, n, "%s of the %zu kinds that can do it%s",
                       is_smallest ? "the smallest" : "expected to be the fastest", n_able,
                       is_smallest && is_fastest ? ", and none touches fewer cache lines" : "");
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

void plans_print_chosen(const plans *all, const tamis_plan *chosen, bool is_named) {
    reason why;
    why_chosen(all, chosen, is_named, why);
    output_text("\n* tamis takes %s: %s.\n", chosen->kind, why);
}

/* ------------------------------------------------------------------ for programs */

void plans_json_chosen(const plans *all, bool is_named) {
    const tamis_plan *const chosen = plans_chosen(all);
    reason                  why;
    if (chosen == NULL) return;
    why_chosen(all, chosen, is_named, why);
    json_text("chosen", chosen->kind);
    json_text("why", why);
}

/* ------------------------------------------------------------------ for programmers */

void code_rare_fields(const char *geometry, uint64_t lifetime, double overflow) {
    if (geometry != NULL) output_text("    spec.geometry = \"%s\";\n", geometry);
    if (lifetime != 0) output_text("    spec.lifetime = %llu;\n", (unsigned long long)lifetime);
    if (overflow > 0) output_text("    spec.overflow = %.10g;\n", overflow);
}
