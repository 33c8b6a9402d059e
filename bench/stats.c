/* stats.c - medians and spreads. */
#include "stats.h"

#include <stdlib.h>

bool series_init(bench_series *series, size_t n_rounds, size_t n_slices) {
    series->n_rounds = n_rounds;
    series->n_slices = n_slices;
    series->samples = calloc(n_rounds * n_slices, sizeof(sample));
    return series->samples != NULL;
}

void series_fini(bench_series *series) {
    free(series->samples);
    series->samples = NULL;
}

static int compare_doubles(const void *a, const void *b) {
    double const x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted values, between neighbours in proportion. */
static double quantile(const double *sorted, size_t n, double share) {
    double const at = share * (double)(n - 1);
    size_t const below = (size_t)at;
    if (below + 1 >= n) return sorted[n - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* Sorts the values. */
static bench_figure figure_of(double *values, size_t n) {
    if (n == 0) return (bench_figure){ 0 };
    qsort(values, n, sizeof values[0], compare_doubles);
    return (bench_figure){ .rate = quantile(values, n, 0.5),
                           .low = quantile(values, n, 0.1),
                           .high = quantile(values, n, 0.9),
                           .n_samples = n };
}

/* Million operations per second; 0 where nothing was timed. */
static double rate_of(const sample *at) {
    return at->ops == 0 || at->seconds <= 0 ? 0 : (double)at->ops / at->seconds / 1e6;
}

/* With b NULL, the rates of a themselves. */
bench_figure series_ratio(const bench_series *a, const bench_series *b, size_t first_slice,
                          size_t end_slice) {
    double *const values = calloc(a->n_rounds * a->n_slices, sizeof *values);
    size_t        n = 0;
    if (values == NULL) return (bench_figure){ 0 };
    for (size_t i = 0; i < a->n_rounds * a->n_slices; i++) {
        size_t const slice = i % a->n_slices;
        double const over = rate_of(&a->samples[i]);
        double const under = b == NULL ? 1 : rate_of(&b->samples[i]);
        if (slice < first_slice || slice >= end_slice || over <= 0 || under <= 0) continue;
        values[n++] = over / under;
    }
    bench_figure const figure = figure_of(values, n);
    free(values);
    return figure;
}

bench_figure series_part(const bench_series *series, size_t first_slice, size_t end_slice) {
    return series_ratio(series, NULL, first_slice, end_slice);
}

/* A median rate of one slice over the rounds is the median of its times. */
bench_figure series_total(const bench_series *series, size_t first_slice, size_t end_slice) {
    bench_figure figure = series_part(series, first_slice, end_slice);
    double       ops = 0, seconds = 0;
    for (size_t slice = first_slice; slice < end_slice; slice++) {
        double const rate = series_part(series, slice, slice + 1).rate;
        double const here = (double)series->samples[slice].ops;
        if (rate <= 0) continue;
        ops += here;
        seconds += here / (rate * 1e6);
    }
    if (seconds > 0) figure.rate = ops / seconds / 1e6;
    return figure;
}
