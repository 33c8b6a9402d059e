/* count_error.h - how often the count of a key is too high, in a counting Bloom filter.
 *
 * n different keys were added once each. A count is too high if all counters of the key were hit by
 * others. With minimal increase they had been hit already when the key came, which is the mean of
 * the false-positive rate over the filling: later keys hardly ever raise all of them. That is right
 * to 3% below a rate of 5%.
 */
#ifndef TAMIS_LAB_COUNT_ERROR_H
#define TAMIS_LAB_COUNT_ERROR_H

#include "kinds/counting/size.h"

#include <math.h>

static inline double count_error(const uint64_t *geometry, double n) {
    double const steps = 200;
    double       sum = 0;
    if (geometry[CBF_MINIMAL] == 0) return tamis_cbf_fpr(geometry, n - 1);
    for (double i = 0; i < steps; i++) sum += tamis_cbf_fpr(geometry, floor((i + .5) / steps * n));
    return sum / steps;
}

#endif
