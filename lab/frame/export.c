/* export.c - results for programs: CSV and JSON, the same columns in both. Curves are in figures.c.
 *
 * The output has no times and no facts about the machine, so the same seed gives the same bytes.
 */
#include "lab.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ columns */

/* A column is a text or a number; a missing number is NaN. */
typedef struct column {
    const char *name;
    const char *text; /* NULL: a number, or no text */
    double      number;
} column;

#define N_COLUMNS 18

static column text_column(const char *name, const char *text) {
    return (column){ name, text, NAN };
}

static column number_column(const char *name, double number, bool is_there) {
    return (column){ name, NULL, is_there ? number : NAN };
}

typedef struct row_texts {
    lab_judgement judgement;
    char          rule[32];
} row_texts;

static void fill_columns(const lab_run *run, const lab_row *row, row_texts *texts,
                         column columns[N_COLUMNS]) {
    const lab_measured *measured = &row->measured;
    bool const          is_measured = measured->trials != 0;
    texts->judgement = lab_judge(row);
    (void)lab_rule_text(row, texts->rule, sizeof texts->rule);
    column const all[N_COLUMNS] = {
        text_column("experiment", run->experiment->id),
        text_column("row", row->name),
        text_column("what", row->label),
        text_column("place", row->place != NULL ? row->place : run->experiment->place),
        text_column("published", row->published),
        number_column("published_sigma", row->published_sigma, row->published_sigma > 0),
        number_column("exact", row->exact, true),
        number_column("measured", measured->value, is_measured),
        number_column("trials", (double)measured->trials, is_measured),
        number_column("sigma_theory", measured->sigma_theory,
                      is_measured && measured->sigma_theory > 0),
        number_column("sigma_trials", measured->sigma_trials, measured->sigma_trials > 0),
        text_column("sigma_used", lab_sigma_source(measured)),
        text_column("tolerance", is_measured ? texts->rule : "as printed"),
        text_column("reason", row->reason),
        number_column("deviation", texts->judgement.deviation, is_measured),
        text_column("verdict", texts->judgement.text),
        text_column("flaw", row->flaw),
        text_column("remark", row->remark),
    };
    memcpy(columns, all, sizeof all);
}

static void print_number(FILE *to, double number) {
    bool const is_whole = number == floor(number) && fabs(number) < 1e15;
    (void)fprintf(to, is_whole ? "%.0f" : "%.6g", number);
}

/* ------------------------------------------------------------------ CSV (RFC 4180) */

void lab_csv_text(FILE *to, const char *text) {
    if (text[strcspn(text, ",\"\n")] == '\0') {
        (void)fputs(text, to);
        return;
    }
    (void)fputc('"', to);
    for (; *text != '\0'; text++) {
        if (*text == '"') (void)fputc('"', to);
        (void)fputc(*text, to);
    }
    (void)fputc('"', to);
}

/* The heading is the names of the columns of any row. */
static void csv_begin(FILE *to) {
    lab_experiment const none = { 0 };
    lab_run const        run = { .experiment = &none };
    lab_row const        row = { 0 };
    row_texts            texts;
    column               columns[N_COLUMNS];
    fill_columns(&run, &row, &texts, columns);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        (void)fprintf(to, "%s%s", i != 0 ? "," : "", columns[i].name);
    }
    (void)fputc('\n', to);
}

static void csv_experiment(FILE *to, const lab_run *run, unsigned index) {
    (void)index;
    for (size_t i = 0; i < run->n_rows; i++) {
        row_texts texts;
        column    columns[N_COLUMNS];
        fill_columns(run, &run->rows[i], &texts, columns);
        for (size_t c = 0; c < N_COLUMNS; c++) {
            if (c != 0) (void)fputc(',', to);
            if (columns[c].text != NULL) lab_csv_text(to, columns[c].text);
            if (!isnan(columns[c].number)) print_number(to, columns[c].number);
        }
        (void)fputc('\n', to);
    }
}

static void csv_end(FILE *to, const lab_tally *tally) {
    (void)to;
    (void)tally;
}

const lab_format lab_csv = { csv_begin, csv_experiment, csv_end };

/* ------------------------------------------------------------------ JSON */

/* Our own texts have no control characters. */
void lab_json_text(FILE *to, const char *text) {
    (void)fputc('"', to);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') (void)fputc('\\', to);
        (void)fputc(*text, to);
    }
    (void)fputc('"', to);
}

static void print_json_column(FILE *to, const column *at) {
    (void)fprintf(to, "\"%s\": ", at->name);
    if (at->text != NULL && *at->text != '\0')
        lab_json_text(to, at->text);
    else if (isfinite(at->number))
        print_number(to, at->number);
    else
        (void)fputs("null", to);
}

static void print_json_row(FILE *to, const lab_run *run, const lab_row *row) {
    row_texts texts;
    column    columns[N_COLUMNS];
    fill_columns(run, row, &texts, columns);
    (void)fputs("{", to);
    for (size_t i = 1; i < N_COLUMNS; i++) { /* the experiment is printed above its rows */
        (void)fputs(i != 1 ? ", " : "", to);
        print_json_column(to, &columns[i]);
    }
    (void)fprintf(to, ", \"is_out\": %s}", texts.judgement.verdict == LAB_OUT ? "true" : "false");
}

static void json_begin(FILE *to) {
    (void)fputs("{\"experiments\": [", to);
}

static void json_experiment(FILE *to, const lab_run *run, unsigned index) {
    column const about[] = { text_column("id", run->experiment->id),
                             text_column("title", run->experiment->title),
                             text_column("paper", run->experiment->paper),
                             text_column("place", run->experiment->place) };
    (void)fputs(index != 0 ? ",\n  {" : "\n  {", to);
    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++) {
        print_json_column(to, &about[i]);
        (void)fputs(",\n   ", to);
    }
    (void)fprintf(to, "\"mode\": \"%s\", \"seed\": %llu, \"rows\": [",
                  run->is_full ? "full" : "quick", (unsigned long long)run->seed);
    for (size_t i = 0; i < run->n_rows; i++) {
        (void)fputs(i != 0 ? ",\n    " : "\n    ", to);
        print_json_row(to, run, &run->rows[i]);
    }
    (void)fputs("],\n   \"figures\": [", to);
    lab_json_figures(to, run);
    (void)fputs("]}", to);
}

static void json_end(FILE *to, const lab_tally *tally) {
    (void)fprintf(to,
                  "\n],\n\"rows\": %u, \"calculated\": %u, \"papers_differ\": %u, "
                  "\"out_of_tolerance\": %u}\n",
                  tally->rows, tally->calculated, tally->papers_differ, tally->out);
}

const lab_format lab_json = { json_begin, json_experiment, json_end };
