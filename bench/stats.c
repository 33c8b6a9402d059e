/* stats.c - medians and spreads. */
#include "stats.h"

#include "median.h"

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

/* A quantile of sorted values, interpolated between neighbours. */
static double quantile(const double *sorted, size_t n, double share) {
    double const at = share * (double)(n - 1);
    size_t const below = (size_t)at;
    if (below + 1 >= n) return sorted[n - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* Sorts the values. */
static bench_figure make_figure(double *values, size_t n) {
    if (n == 0) return (bench_figure){ 0 };
    qsort(values, n, sizeof values[0], compare_doubles);
    return (bench_figure){ .rate = quantile(values, n, 0.5),
                           .low = quantile(values, n, 0.1),
                           .high = quantile(values, n, 0.9),
                           .n_samples = n };
}

/* Million operations per second; 0 if the slice was not timed. */
static double slice_rate(const sample *slice) {
    return slice->ops == 0 || slice->seconds <= 0 ? 0 : (double)slice->ops / slice->seconds / 1e6;
}

/* If b is NULL: the rates of a. */
bench_figure series_ratio(const bench_series *a, const bench_series *b, size_t first_slice,
                          size_t end_slice) {
    double *const values = calloc(a->n_rounds * a->n_slices, sizeof *values);
    size_t        n = 0;
    if (values == NULL) return (bench_figure){ 0 };
    for (size_t i = 0; i < a->n_rounds * a->n_slices; i++) {
        size_t const slice = i % a->n_slices;
        double const over = slice_rate(&a->samples[i]);
        double const under = b == NULL ? 1 : slice_rate(&b->samples[i]);
        if (slice < first_slice || slice >= end_slice || over <= 0 || under <= 0) continue;
        values[n++] = over / under;
    }
    bench_figure const figure = make_figure(values, n);
    free(values);
    return figure;
}

bench_figure series_part(const bench_series *series, size_t first_slice, size_t end_slice) {
    return series_ratio(series, NULL, first_slice, end_slice);
}

/* All rounds of a slice have the same work, so its median rate gives its median time. */
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
