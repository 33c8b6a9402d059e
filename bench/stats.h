/* stats.h - turn timed slices into one figure and its spread. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sample {
    uint64_t ops; /* 0: this slice was not timed */
    double   seconds;
} sample;

/* samples[round * n_slices + slice] */
typedef struct bench_series {
    sample *samples;
    size_t  n_rounds, n_slices;
} bench_series;

/* Rates in million operations per second. */
typedef struct bench_figure {
    double rate;
    double low, high; /* 10th and 90th percentile of the slices */
    size_t n_samples;
} bench_figure;

bool series_init(bench_series *series, size_t n_rounds, size_t n_slices);
void series_fini(bench_series *series);

/* For slices [first, end) with equal work: the median of the rates of all rounds. */
bench_figure series_part(const bench_series *series, size_t first_slice, size_t end_slice);

/* For work that changes from slice to slice, as in the fill: take the median time of each slice
 * over all rounds, and the rate of the sum of these times. */
bench_figure series_total(const bench_series *series, size_t first_slice, size_t end_slice);

/* How many times as fast as b a was: the median of the ratios within each slice. */
bench_figure series_ratio(const bench_series *a, const bench_series *b, size_t first_slice,
                          size_t end_slice);

#endif
