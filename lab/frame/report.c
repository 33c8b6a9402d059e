/* report.c - results as a table for people. */
#include "lab.h"

#include <math.h>
#include <string.h>

#define COLUMNS 118 /* where notes are wrapped */
#define NOTE_INDENT 6

/* Print integers exactly, and other numbers with five digits. */
static const char *show(char buffer[32], double value) {
    bool const is_whole = value == floor(value) && fabs(value) < 1e12;
    (void)snprintf(buffer, 32, is_whole ? "%.0f" : "%#.5g", value);
    return buffer;
}

/* Words, wrapped and indented. */
static void print_wrapped(FILE *to, const char *text) {
    size_t column = 0;
    while (*text != '\0') {
        size_t const word = strcspn(text, " ");
        if (column == 0 || column + 1 + word > COLUMNS) {
            (void)fprintf(to, "%s%*s", column != 0 ? "\n" : "", NOTE_INDENT, "");
            column = NOTE_INDENT;
        } else {
            (void)fputc(' ', to);
            column++;
        }
        (void)fprintf(to, "%.*s", (int)word, text);
        column += word;
        text += word + strspn(text + word, " ");
    }
    (void)fputc('\n', to);
}

/* The deviation, and the largest one that is allowed. */
static const char *show_deviation(char buffer[32], const lab_row *row, double deviation) {
    double const tolerance = row->tolerance;
    switch (row->rule) {
    case LAB_SIGMA: (void)snprintf(buffer, 32, "%+.1f of %g sigma", deviation, tolerance); break;
    case LAB_RELATIVE:
        (void)snprintf(buffer, 32, "%+.2g%% of %g%%", 100 * deviation, 100 * tolerance);
        break;
    case LAB_COUNT: (void)snprintf(buffer, 32, "p %.2g of %g", deviation, tolerance); break;
    case LAB_AT_MOST: (void)snprintf(buffer, 32, "%+.2g%%", 100 * deviation); break;
    case LAB_EQUAL: (void)snprintf(buffer, 32, deviation == 0 ? "equal" : "%+g", deviation); break;
    }
    return buffer;
}

/* The standard error, with a star where it comes from the trials. */
static const char *show_sigma(char buffer[32], const lab_row *row, double sigma) {
    bool const is_theory = row->measured.sigma_theory > 0;
    if (sigma > 0) (void)snprintf(buffer, 32, "%.2g%s", sigma, is_theory ? " " : "*");
    return sigma > 0 ? buffer : "";
}

static const char *show_trials(char buffer[32], uint64_t trials) {
    if (trials > 1) (void)snprintf(buffer, 32, "%llu", (unsigned long long)trials);
    return trials > 1 ? buffer : "";
}

#define ROW_FORMAT "  %-*s %13s %11s %11s %8s %6s  %-16s  %s\n"

static void print_heading(FILE *to) {
    (void)fprintf(to, "\n" ROW_FORMAT, LAB_LABEL_WIDTH, "", "published", "exact", "measured", "+- ",
                  "trials", "off by", "verdict");
}

static void print_row(FILE *to, const lab_row *row, const lab_judgement *judgement) {
    static const char *const verdicts[] = { "agrees", "paper differs", "OUT OF TOLERANCE" };
    bool const               is_measured = row->measured.trials != 0;
    char                     exact[32], measured[32], sigma[32], trials[32], off[32];
    (void)fprintf(
        to, ROW_FORMAT, LAB_LABEL_WIDTH, row->label, row->published != NULL ? row->published : "",
        show(exact, row->exact), is_measured ? show(measured, row->measured.value) : "",
        show_sigma(sigma, row, judgement->sigma), show_trials(trials, row->measured.trials),
        is_measured ? show_deviation(off, row, judgement->deviation) : "",
        lab_is_judged(row) ? verdicts[judgement->verdict] : "");
}

/* What a reader must know about a row besides its numbers. */
static void print_notes(FILE *to, const lab_row *row, const lab_judgement *judgement) {
    if (judgement->verdict != LAB_AGREES) print_wrapped(to, judgement->text);
    if (judgement->verdict == LAB_OUT) print_wrapped(to, row->reason);
    if (row->flaw != NULL) print_wrapped(to, row->flaw);
    if (row->remark != NULL) print_wrapped(to, row->remark);
}

static void print_source(FILE *to, const lab_experiment *experiment) {
    char source[512];
    (void)snprintf(source, sizeof source, "%s, %s", experiment->paper, experiment->place);
    print_wrapped(to, source);
}

static void table_begin(FILE *to) {
    (void)to;
}

static void table_experiment(FILE *to, const lab_run *run, unsigned index) {
    const char *place = NULL;
    (void)fprintf(to, "%s%s: %s\n", index != 0 ? "\n" : "", run->experiment->id,
                  run->experiment->title);
    print_source(to, run->experiment);
    print_heading(to);
    for (size_t i = 0; i < run->n_rows; i++) {
        const lab_row      *row = &run->rows[i];
        lab_judgement const judgement = lab_judge(row);
        if (row->place != NULL && (place == NULL || strcmp(place, row->place) != 0)) {
            (void)fprintf(to, "  -- %s\n", row->place);
        }
        place = row->place;
        print_row(to, row, &judgement);
        print_notes(to, row, &judgement);
    }
}

static void table_end(FILE *to, const lab_tally *tally) {
    (void)fprintf(to,
                  "\n+- is the standard error by theory; with a star, from the scatter of the "
                  "trials. Without a measured\nvalue, the verdict is on the paper alone; without "
                  "either there is none.\n");
    (void)fprintf(to,
                  "\n%u rows: %u agree, in %u the paper differs from theory, %u out of tolerance; "
                  "%u more are only calculated\n",
                  tally->rows - tally->calculated,
                  tally->rows - tally->calculated - tally->papers_differ - tally->out,
                  tally->papers_differ, tally->out, tally->calculated);
}

const lab_format lab_table = { table_begin, table_experiment, table_end };
