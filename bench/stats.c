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

/* The sorted rates of slices [first, end) of all rounds. */
static size_t sorted_rates(const bench_series *series, size_t first, size_t end,
                           double *ret_rates) {
    size_t n = 0;
    for (size_t i = 0; i < series->n_rounds * series->n_slices; i++) {
        size_t const        slice = i % series->n_slices;
        const sample *const at = &series->samples[i];
        if (slice < first || slice >= end || at->ops == 0 || at->seconds <= 0) continue;
        ret_rates[n++] = (double)at->ops / at->seconds / 1e6;
    }
    qsort(ret_rates, n, sizeof ret_rates[0], compare_doubles);
    return n;
}

static bench_figure figure_of(const bench_series *series, size_t first, size_t end) {
    bench_figure figure = { 0 };
    double      *rates = calloc(series->n_rounds * series->n_slices, sizeof *rates);
    if (rates == NULL) return figure;
    size_t const n = sorted_rates(series, first, end, rates);
    if (n != 0) {
        figure.rate = quantile(rates, n, 0.5);
        figure.low = quantile(rates, n, 0.1);
        figure.high = quantile(rates, n, 0.9);
        figure.n_samples = n;
    }
    free(rates);
    return figure;
}

bench_figure series_median(const bench_series *series) {
    return figure_of(series, 0, series->n_slices);
}

/* A median rate of one slice over the rounds is the median of its times. */
bench_figure series_total(const bench_series *series, size_t first_slice, size_t end_slice) {
    bench_figure figure = figure_of(series, first_slice, end_slice);
    double       ops = 0, seconds = 0;
    for (size_t slice = first_slice; slice < end_slice; slice++) {
        double const rate = figure_of(series, slice, slice + 1).rate;
        double const here = (double)series->samples[slice].ops;
        if (rate <= 0) continue;
        ops += here;
        seconds += here / (rate * 1e6);
    }
    if (seconds > 0) figure.rate = ops / seconds / 1e6;
    return figure;
}
