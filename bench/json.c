/* json.c - print all numbers as JSON.
 *
 *     { "machine": {...}, "parameters": {...},
 *       "sizes": [ { "n": ..., "contestants": [ {..., "calls": [...] } ] } ] }
 *
 * Values that were not measured are null. bench/README.md describes all fields.
 */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <tamis/tamis.h>

static void put_string(FILE *out, const char *text) {
    if (text == NULL) {
        (void)fputs("null", out);
        return;
    }
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char const c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            (void)fputc(c, out);
    }
    (void)fputc('"', out);
}

static void put_text(FILE *out, const char *name, const char *text) {
    fprintf(out, "\"%s\": ", name);
    put_string(out, text);
    (void)fputs(", ", out);
}

/* The last field of an object: without a comma. */
static void put_last_number(FILE *out, const char *name, double number) {
    if (isfinite(number))
        fprintf(out, "\"%s\": %.9g", name, number);
    else
        fprintf(out, "\"%s\": null", name);
}

static void put_number(FILE *out, const char *name, double number) {
    put_last_number(out, name, number);
    (void)fputs(", ", out);
}

static void put_whole(FILE *out, const char *name, uint64_t number) {
    fprintf(out, "\"%s\": %" PRIu64 ", ", name, number);
}

/* ------------------------------------------------------------------ the head */

static void put_machine(FILE *out, const bench_machine *machine) {
    (void)fputs("  \"machine\": { ", out);
    put_text(out, "cpu", machine->cpu);
    put_text(out, "compiler", machine->compiler);
    put_text(out, "tamis", tamis_version());
    put_text(out, "huge_pages", machine->huge_pages);
    put_number(out, "page_bytes", (double)machine->page_bytes);
    fprintf(out, "\"cache_bytes\": [%ld, %ld, %ld], ", machine->cache_bytes[0],
            machine->cache_bytes[1], machine->cache_bytes[2]);
    put_last_number(out, "pinned_to", machine->pinned_to < 0 ? NAN : (double)machine->pinned_to);
    (void)fputs(" },\n", out);
}

static void put_parameters(FILE *out, const bench_options *options) {
    (void)fputs("  \"parameters\": { ", out);
    put_text(out, "unit", "million operations per second, thread CPU time");
    put_text(out, "keys", options->is_id ? "ids" : "bytes");
    put_text(out, "pages", options->is_small_pages ? "small" : "own");
    put_text(out, "isa", options->is_every_isa ? "all" : "best");
    put_text(out, "only", options->only);
    put_text(out, "ratios", options->ratios);
    put_number(out, "fpr", options->fpr);
    put_whole(out, "batch", options->batch);
    put_whole(out, "ahead", options->ahead);
    put_whole(out, "slices", options->slices);
    put_whole(out, "seed", options->seed);
    fprintf(out, "\"remove\": %s },\n", options->is_removing ? "true" : "false");
}

void json_begin(FILE *out, const bench_machine *machine, const bench_options *options) {
    (void)fputs("{\n", out);
    put_machine(out, machine);
    put_parameters(out, options);
    (void)fputs("  \"sizes\": [\n", out);
}

void json_end(FILE *out) {
    (void)fputs("\n  ]\n}\n", out);
}

/* ------------------------------------------------------------------ one size */

/* Print "name": { "rate": ..., and the spread. The caller closes the object. False: it was null. */
static bool put_figure(FILE *out, bench_column column, const char *rate_name,
                       const bench_figure *figure) {
    static const char *const names[N_COLUMNS] = { "fill",       "fill_last_tenth", "has_present",
                                                  "has_absent", "remove",          "churn_pairs" };
    fprintf(out, "%s\n            \"%s\": ", column == 0 ? "" : ",", names[column]);
    if (figure->n_samples == 0) {
        (void)fputs("null", out);
        return false;
    }
    (void)fputs("{ ", out);
    put_number(out, rate_name, figure->rate);
    put_number(out, "p10", figure->low);
    put_number(out, "p90", figure->high);
    return true;
}

static void put_rate(FILE *out, const bench_contest *contest, size_t row, bench_mode mode,
                     bench_column column) {
    bench_figure const figure = contest_figure(contest, row, mode, column);
    double const       ceiling = contest_ceiling(contest, row, column);
    if (!put_figure(out, column, "rate", &figure)) return;
    put_number(out, "of_ceiling", ceiling > 0 ? figure.rate / ceiling : NAN);
    fprintf(out, "\"samples\": %zu }", figure.n_samples);
}

static const char *json_mode(bench_mode mode) {
    return mode == MODE_SINGLE ? "single" : "batch";
}

/* [load, rate] of each slice. */
static void put_filling(FILE *out, const bench_contest *contest, size_t row, bench_mode mode) {
    (void)fputs(",\n            \"filling\": [", out);
    for (unsigned slice = 0, shown = 0; slice < contest->fill_slices; slice++) {
        double             load;
        bench_figure const figure = contest_filling(contest, row, mode, slice, &load);
        if (figure.n_samples == 0) continue;
        fprintf(out, "%s[%.5f, %.6g]", shown++ == 0 ? "" : ", ", load, figure.rate);
    }
    (void)fputs("]", out);
}

/* How many times as fast as this row the entry of --ratios is, in one mode. */
static void put_ratios(FILE *out, const bench_contest *contest, size_t row, bench_mode mode) {
    size_t const best = contest_ratio_row(contest);
    (void)fputs("\n          { ", out);
    put_text(out, "mode", json_mode(mode));
    (void)fputs("\"rates\": {", out);
    for (int i = 0; i < N_COLUMNS; i++) {
        bench_column const column = (bench_column)i;
        bench_figure const ratio = contest_ratio(contest, best, row, mode, column);
        if (!put_figure(out, column, "ratio", &ratio)) continue;
        fprintf(out, "\"to\": \"%s\" }", json_mode(contest_ratio_mode(contest, row, mode, column)));
    }
    (void)fputs(" } }", out);
}

static void put_all_ratios(FILE *out, const bench_contest *contest, size_t row) {
    size_t const best = contest_ratio_row(contest);
    bool const   has_ratios = best < contest->lineup->n && best != row &&
                            row >= contest->lineup->n_ceilings &&
                            contest->lineup->rows[row].table != NULL;
    (void)fputs("\"ratios\": [", out);
    for (int mode = 0; mode < N_MODES && has_ratios; mode++) {
        if (mode != 0) (void)fputc(',', out);
        put_ratios(out, contest, row, (bench_mode)mode);
    }
    (void)fputs("], ", out);
}

static void put_mode(FILE *out, const bench_contest *contest, size_t row, bench_mode mode) {
    const bench_outcome *const outcome = &contest->outcomes[row][mode];
    (void)fputs("\n          { ", out);
    put_text(out, "mode", json_mode(mode));
    put_whole(out, "present_asked", outcome->present_asked);
    put_whole(out, "present_found", outcome->present_found);
    put_whole(out, "absent_asked", outcome->absent_asked);
    put_whole(out, "absent_found", outcome->absent_found);
    put_whole(out, "refused_adds", outcome->refused_adds);
    put_whole(out, "refused_changes", outcome->refused_changes);
    (void)fputs("\"rates\": {", out);
    for (int column = 0; column < N_COLUMNS; column++) {
        put_rate(out, contest, row, mode, (bench_column)column);
    }
    (void)fputs(" }", out);
    put_filling(out, contest, row, mode);
    (void)fputs(" }", out);
}

static void put_contestant(FILE *out, const bench_contest *contest, size_t row) {
    const contestant *const entrant = &contest->lineup->rows[row];
    bool const              is_ceiling = row < contest->lineup->n_ceilings;
    double const            fpr = contest_fpr(contest, row);
    double const            bits = 8 * (double)entrant->bytes / (double)contest->n;
    fprintf(out, "%s\n        { ", row == 0 ? "" : ",");
    put_text(out, "name", entrant->name);
    put_text(out, "entry", entrant->entry == NULL ? NULL : entrant->entry->text);
    put_text(out, "group", entrant->group);
    put_text(out, "isa", entrant->isa);
    put_text(out, "note", entrant->note);
    fprintf(out, "\"took_part\": %s, ", entrant->table != NULL ? "true" : "false");
    put_whole(out, "bytes", entrant->bytes);
    put_number(out, "bits_per_key", is_ceiling || entrant->table == NULL ? NAN : bits);
    put_text(out, "ceiling", contest->lineup->rows[contest_ceiling_row(contest, row)].name);
    put_number(out, "fpr_asked", entrant->entry == NULL ? NAN : entrant->entry->fpr);
    put_number(out, "fpr_measured", fpr < 0 ? NAN : fpr);
    put_all_ratios(out, contest, row);
    (void)fputs("\"calls\": [", out);
    for (int mode = 0, shown = 0; mode < N_MODES; mode++) {
        if (!contest_has_row(contest, row, (bench_mode)mode)) continue;
        if (shown++ != 0) (void)fputc(',', out);
        put_mode(out, contest, row, (bench_mode)mode);
    }
    (void)fputs("] }", out);
}

void json_size(FILE *out, const bench_contest *contest, bool is_first) {
    fprintf(out, "%s    { ", is_first ? "" : ",\n");
    put_whole(out, "n", contest->n);
    put_whole(out, "rounds", contest->rounds);
    put_whole(out, "slices_of_fill", contest->fill_slices);
    put_whole(out, "slices_of_last_tenth", contest->last_slices);
    (void)fputs("\"contestants\": [", out);
    for (size_t row = 0; row < contest->lineup->n; row++) put_contestant(out, contest, row);
    (void)fputs("\n      ] }", out);
}
