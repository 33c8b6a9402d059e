/* lab.c - what every experiment needs: rows, trials, means. See lab.h. */
#include "lab.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define TEXT_BYTES 256

/* ------------------------------------------------------------------ when the lab itself fails */

void lab_die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("tamis-lab: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    exit(LAB_EXIT_BROKEN);
}

void *lab_allocate(size_t n, size_t bytes_each) {
    void *const memory = calloc(n != 0 ? n : 1, bytes_each);
    if (memory == NULL) lab_die("no memory for %zu x %zu bytes", n, bytes_each);
    return memory;
}

void *lab_grow(void *array, size_t n, size_t bytes_each) {
    void *const larger = realloc(array, (n + 1) * bytes_each);
    if (larger == NULL) lab_die("no memory for %zu results", n + 1);
    return larger;
}

/* ------------------------------------------------------------------ one run */

void lab_record(lab_run *run, const lab_row *row) {
    run->rows = lab_grow(run->rows, run->n_rows, sizeof *run->rows);
    run->rows[run->n_rows++] = *row;
}

void lab_draw(lab_run *run, const lab_point *point) {
    lab_draw_measured(run, point, 0);
}

void lab_draw_measured(lab_run *run, const lab_point *point, double sigma) {
    run->marks = lab_grow(run->marks, run->n_marks, sizeof *run->marks);
    run->marks[run->n_marks++] = (lab_mark){ *point, sigma };
}

void lab_describe(lab_run *run, const lab_figure *figure) {
    run->figures = lab_grow(run->figures, run->n_figures, sizeof *run->figures);
    run->figures[run->n_figures++] = *figure;
}

const char *lab_text(lab_run *run, const char *format, ...) {
    char *const text = lab_allocate(TEXT_BYTES, 1);
    va_list     arguments;
    va_start(arguments, format);
    int const length = vsnprintf(text, TEXT_BYTES, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= TEXT_BYTES) lab_die("a text of %d letters is too long", length);
    run->texts = lab_grow(run->texts, run->n_texts, sizeof *run->texts);
    run->texts[run->n_texts++] = text;
    return text;
}

void lab_run_free(lab_run *run) {
    for (size_t i = 0; i < run->n_texts; i++) free(run->texts[i]);
    free(run->texts);
    free(run->figures);
    free(run->marks);
    free(run->rows);
    *run = (lab_run){ 0 };
}

/* ------------------------------------------------------------------ statistics */

/* Welford's update: no difference of large sums. */
void lab_sample_add(lab_sample *sample, double value) {
    double const before = value - sample->mean;
    sample->n++;
    sample->mean += before / (double)sample->n;
    sample->squares += before * (value - sample->mean);
}

double lab_sample_deviation(const lab_sample *sample) {
    return sample->n < 2 ? 0 : sqrt(sample->squares / (double)(sample->n - 1));
}

lab_measured lab_sample_mean(const lab_sample *sample, double sigma_theory) {
    double const root = sqrt((double)sample->n);
    return (lab_measured){ .value = sample->mean,
                           .trials = sample->n,
                           .sigma_trials = sample->n < 2 ? 0 : lab_sample_deviation(sample) / root,
                           .sigma_theory = sigma_theory };
}

lab_measured lab_computed(double value) {
    return (lab_measured){ .value = value, .trials = 1 };
}
