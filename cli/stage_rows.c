/* stage_rows.c - see stage_rows.h. */
#include "stage_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"

/* ------------------------------------------------------------------ planning */

static void stages_take(tamis_status status, stage_rows *stages) {
    if (status != TAMIS_OK) stages->n = 0;
    if (stages->n > STAGES_MAX) stages->n = STAGES_MAX;
}

void stages_make(const tamis_spec *spec, stage_rows *ret_stages) {
    ret_stages->n = 0;
    ret_stages->problem = (tamis_problem){ .status = TAMIS_OK };
    if (spec->grow_to == 0) return;
    stages_take(
        tamis_plan_stages(spec, ret_stages->rows, STAGES_MAX, &ret_stages->n, &ret_stages->problem),
        ret_stages);
}

void stages_make_states(const tamis_states_spec *spec, stage_rows *ret_stages) {
    ret_stages->n = 0;
    ret_stages->problem = (tamis_problem){ .status = TAMIS_OK };
    if (spec->grow_to == 0) return;
    stages_take(tamis_states_plan_stages(spec, ret_stages->rows, STAGES_MAX, &ret_stages->n,
                                         &ret_stages->problem),
                ret_stages);
}

/* Found by trying something easy. */
const char *stages_why_not(const char *kind, bool is_of_states) {
    tamis_spec        set = TAMIS_SPEC_INIT;
    tamis_states_spec states = TAMIS_STATES_SPEC_INIT;
    size_t            n;
    set.kind = states.kind = kind;
    set.capacity = states.capacity = 10000;
    set.grow_to = states.grow_to = 40000;
    set.fpr = states.fpr = 0.01;
    states.values = 2;
    tamis_status const status = is_of_states ? tamis_states_plan_stages(&states, NULL, 0, &n, NULL)
                                             : tamis_plan_stages(&set, NULL, 0, &n, NULL);
    return status == TAMIS_OK ? "cannot grow that far at that rate" : "cannot grow";
}

/* ------------------------------------------------------------------ for people */

static void add_stage(report_table *table, const tamis_plan *row, bool is_last) {
    table_row *const words = table_add(table, is_last ? STYLE_BOLD : STYLE_PLAIN);
    number_text      keys, size, bits, fpr, peak;
    number_exact(row->capacity, keys);
    number_size(row->body_bytes, size);
    (void)snprintf(bits, sizeof bits, "%.1f", row->bits_per_key);
    number_rate(row->fpr, fpr);
    number_size(row->peak_bytes, peak);
    row_add(words, "");
    row_add(words, keys);
    row_add(words, size);
    row_add(words, bits);
    row_add(words, fpr);
    row_add(words, peak);
}

/* Its first column is empty, as the first column is flush left. */
void stages_print(const stage_rows *stages) {
    static const char *const heads[] = { "", "keys up to", "size", "bits/key", "fpr", "peak" };
    if (stages->n == 0) return;
    report_table *const table = calloc(1, sizeof *table);
    if (table == NULL) die("not enough memory: needs %zu bytes for a table", sizeof *table);
    table_row *const head = table_add(table, STYLE_PLAIN);
    for (unsigned i = 0; i < 6; i++) row_add(head, heads[i]);
    for (size_t i = 0; i < stages->n; i++) add_stage(table, &stages->rows[i], i + 1 == stages->n);
    output_text("\n%s as it grows; peak is the most memory while it grows to that size:\n\n",
                stages->rows[0].kind);
    table_print(table);
    free(table);
}

/* ------------------------------------------------------------------ for programs */

void stages_json(const stage_rows *stages) {
    if (stages->n == 0) return;
    json_open("stages", '[');
    for (size_t i = 0; i < stages->n; i++) {
        const tamis_plan *const row = &stages->rows[i];
        json_open(NULL, '{');
        json_count("capacity", row->capacity);
        json_count("body_bytes", row->body_bytes);
        json_count("peak_bytes", row->peak_bytes);
        json_number("bits_per_key", row->bits_per_key);
        json_number("fpr", row->fpr);
        json_close('}');
    }
    json_close(']');
}
