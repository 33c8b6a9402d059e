/* median.h - the median of a few measurements. */
#ifndef BENCH_MEDIAN_H
#define BENCH_MEDIAN_H

#include <stdlib.h>

/* For qsort(). */
static inline int compare_doubles(const void *a, const void *b) {
    double const x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the list. */
static inline double median(double *list, unsigned n) {
    qsort(list, n, sizeof *list, compare_doubles);
    return list[n / 2];
}

#endif
