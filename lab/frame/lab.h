/* lab.h - what an experiment is, and how its rows are compared with theory and with the paper.
 *
 * An experiment belongs to one place of a paper. It runs trials with the library itself and records
 * rows. A row has up to three numbers, and two comparisons are made between them:
 *
 *     published   what the paper prints, as a string, digit for digit
 *     exact       what theory says, computed here and never written by hand
 *     measured    what the library did, with its standard error
 *
 *     measured against exact      by the row's rule; this is the test of the library
 *     published against exact     to the digits that are printed; this is the test of the paper
 *
 * A printed value that theory contradicts needs a `flaw`: a sentence that says what is wrong with
 * it. A disagreement without such a sentence is out of tolerance, and so is a flaw that is noted
 * for a value that is right.
 *
 * To add an experiment, add an entry to the list of its paper. To add a paper, make a folder, and
 * name its list in list.c and its files in meson.build.
 */
#ifndef TAMIS_LAB_H
#define TAMIS_LAB_H

#include "random.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ------------------------------------------------------------------ experiments */

typedef struct lab_run lab_run;

typedef struct lab_experiment {
    const char *id; /* "cbf.esa2006": lower case, construction first */
    const char *title;
    const char *paper; /* authors and title */
    const char *place; /* venue and year; section, table or figure */
    void (*run)(lab_run *run);
} lab_experiment;

/* list.c: every paper's experiments, each list ended by an entry without id; NULL at the end. */
extern const lab_experiment *const lab_papers[];

/* ------------------------------------------------------------------ rows */

/* A measured value. With 0 trials nothing was measured. A number that the library computes counts
 * as one trial without error. */
typedef struct lab_measured {
    double   value;
    uint64_t trials;
    double   sigma_trials; /* standard error, from the scatter of the trials; 0: none */
    double   sigma_theory; /* standard error, by theory; 0: there is no theory for it */
} lab_measured;

/* How near to exact a measured value must be. */
typedef enum lab_rule {
    LAB_SIGMA,    /* within `tolerance` standard errors: those of theory, if there are any */
    LAB_RELATIVE, /* within the fraction `tolerance` of exact */
    LAB_EQUAL,    /* the same number */
    LAB_COUNT,    /* a count of rare events, Poisson with mean exact: a deviation as large has at
                     least the probability `tolerance` */
    LAB_AT_MOST   /* exact is a bound */
} lab_rule;

typedef struct lab_row {
    const char *name;  /* for programs: "fpr.churned" */
    const char *label; /* for people, at most LAB_LABEL_WIDTH letters */
    const char *place; /* NULL: the experiment's */

    const char *published;  /* as printed; NULL: nothing. "<0.1" just under, ">0.1" just over,
                              "0.123..." cut off and not rounded */
    double published_sigma; /* standard error of what the authors measured; 0: they calculated it */

    double       exact;
    lab_measured measured;

    lab_rule    rule;
    double      tolerance;
    const char *reason; /* why this rule and tolerance */
    const char *flaw;   /* what is wrong with the printed value; NULL: nothing known */
    const char *remark; /* anything else worth knowing; NULL: nothing */
} lab_row;

#define LAB_LABEL_WIDTH 40

/* The usual rule for measured rates. */
#define LAB_WITHIN_4_SIGMA             \
    .rule = LAB_SIGMA, .tolerance = 4, \
    .reason = "4 standard errors are exceeded by chance in 6 of 100000 rows"

/* ------------------------------------------------------------------ figures */

/* A point of a figure. Points are not judged; what a figure shows has rows of its own. */
typedef struct lab_point {
    const char *figure, *curve;
    double      x, y;
} lab_point;

/* A point as it is kept. */
typedef struct lab_mark {
    lab_point point;
    double    sigma; /* standard error of y; 0: it was calculated, and belongs to a line */
} lab_mark;

/* The title and the axes of a figure. A figure without a description has its name as title, and
 * linear axes. */
typedef struct lab_figure {
    const char *name; /* as in its points */
    const char *title;
    const char *x, *y; /* what the axes are */
    bool        is_log_x, is_log_y;
    const char *remark; /* NULL: nothing */
} lab_figure;

/* ------------------------------------------------------------------ one run */

struct lab_run {
    const lab_experiment *experiment;
    bool                  is_full; /* the paper's own number of trials, however long it takes */
    uint64_t              seed;
    unsigned              jobs;     /* threads for trials; 0 is 1 */
    struct progress      *progress; /* NULL: no progress is shown */
    struct journal       *journal;  /* NULL: trials are not kept */
    lab_row              *rows;
    size_t                n_rows;
    lab_mark             *marks;
    size_t                n_marks;
    lab_figure           *figures;
    size_t                n_figures;
    char                **texts;
    size_t                n_texts;
};

/* Add a row to the results. Its strings must be constants, or come from lab_text(). */
void lab_record(lab_run *run, const lab_row *row);

/* Add a point to a curve: a calculated one, or one that was measured. Its strings as in rows. */
void lab_draw(lab_run *run, const lab_point *point);
void lab_draw_measured(lab_run *run, const lab_point *point, double sigma);

/* Describe a figure. */
void lab_describe(lab_run *run, const lab_figure *figure);

/* printf to a string that lives as long as the run. */
__attribute__((format(printf, 2, 3))) const char *lab_text(lab_run *run, const char *format, ...);

void lab_run_free(lab_run *run);

/* One trial. It reads `given`, which all trials share, takes all randomness from `random`, and
 * writes its outcome, which begins as zero bytes. It touches nothing else, so that trials can run
 * in parallel. */
typedef void lab_trial(const void *given, lab_random *random, void *ret_outcome);

typedef struct lab_series {
    const char *stream; /* trials of the same stream and number see the same randomness */
    uint64_t    n;
    lab_trial  *trial;
    const void *given;
    size_t      outcome_bytes;
} lab_series;

/* Run a series (trials.c). Returns the outcomes in order, to be freed; they are the same with any
 * number of threads. */
void *lab_trials(const lab_run *run, const lab_series *series);

/* Print one line and exit with LAB_EXIT_BROKEN: the lab itself cannot continue. */
__attribute__((noreturn, format(printf, 1, 2))) void lab_die(const char *format, ...);

/* Allocate zeroed memory. Does not return if there is none. */
void *lab_allocate(size_t n, size_t bytes_each);

/* Make room for one more element in an array of n. Returns the new array; does not return if there
 * is no memory. */
void *lab_grow(void *array, size_t n, size_t bytes_each);

/* ------------------------------------------------------------------ statistics */

/* The sum of one number per trial, and of its square. */
typedef struct lab_sample {
    uint64_t n;
    double   mean, squares; /* squares: of the deviations from the mean */
} lab_sample;

void         lab_sample_add(lab_sample *sample, double value);
double       lab_sample_deviation(const lab_sample *sample); /* of one trial; 0 below two */
lab_measured lab_sample_mean(const lab_sample *sample, double sigma_theory);

/* A number that the library computes. */
lab_measured lab_computed(double value);

/* ------------------------------------------------------------------ verdicts (judge.c) */

typedef enum lab_verdict { LAB_AGREES, LAB_PAPER_DIFFERS, LAB_OUT } lab_verdict;

typedef struct lab_judgement {
    lab_verdict verdict;
    double      sigma;     /* the standard error that was used; 0: none */
    double      deviation; /* of measured from exact, in the unit of the rule: standard errors, a
                              fraction of exact, the difference itself, or a probability */
    char        text[256]; /* in words */
} lab_judgement;

lab_judgement lab_judge(const lab_row *row);

/* Does the row have a measured or a published value? Without, it agrees if `exact` is a number. */
bool lab_is_judged(const lab_row *row);

/* The rule in words, such as "4 sigma". */
const char *lab_rule_text(const lab_row *row, char *buffer, size_t bytes);

/* Which standard error is used: "theory", "trials" or "". */
const char *lab_sigma_source(const lab_measured *measured);

/* ------------------------------------------------------------------ formats */

typedef struct lab_tally {
    unsigned rows, calculated, papers_differ, out; /* calculated: with nothing to compare */
} lab_tally;

/* A way to print results: begin, each experiment as it ends, end. */
typedef struct lab_format {
    void (*begin)(FILE *to);
    void (*experiment)(FILE *to, const lab_run *run, unsigned index);
    void (*end)(FILE *to, const lab_tally *tally);
} lab_format;

extern const lab_format lab_table; /* report.c */
extern const lab_format lab_csv;   /* export.c */
extern const lab_format lab_json;
extern const lab_format lab_curves; /* figures.c: points, and no rows */

/* figures.c: the figures of a run, for export.c. */
void lab_json_figures(FILE *to, const lab_run *run);

/* export.c, for figures.c: a text or a number as CSV and JSON have it. */
void lab_csv_text(FILE *to, const char *text);
void lab_json_text(FILE *to, const char *text);

/* Exit statuses. */
enum { LAB_EXIT_AGREES = 0, LAB_EXIT_OUT = 1, LAB_EXIT_USAGE = 2, LAB_EXIT_BROKEN = 3 };

#endif
