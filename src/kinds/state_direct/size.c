/* size.c - see state_direct_size.h. */
#include "size.h"

#include <math.h>

unsigned tamis_state_direct_count_bits(const uint64_t *g) {
    return g[SHARED_COUNTER_BITS] == 0 ? 1 : (unsigned)g[SHARED_COUNTER_BITS];
}

unsigned tamis_state_direct_cell_bits(const uint64_t *g) {
    return tamis_state_direct_count_bits(g) + (unsigned)g[SHARED_TIMER_BITS];
}

double tamis_state_direct_fpr(double f, double values) {
    return values * f * pow(1 - f, values - 1);
}

double tamis_state_direct_unknown(double f, double values) {
    return -expm1((values - 1) * log1p(-f));
}

void tamis_state_direct_forecast(const uint64_t *g, double n, double lifetime,
                                 shared_forecast *ret) {
    double const   m = (double)g[SHARED_CELLS], values = (double)g[SHARED_VALUES];
    unsigned const k = (unsigned)g[SHARED_HASHES], bits = (unsigned)g[SHARED_COUNTER_BITS];
    bool const     is_for_good = bits == 0 && g[SHARED_TIMER_BITS] == 0;
    double const   there = is_for_good ? fmax(n, lifetime) : n;
    double const   top = (double)(UINT64_C(1) << bits) - 1;
    double const   pairs = fmax(n, lifetime) * values;
    double const   stuck = bits == 0 ? 0 : tamis_shared_stuck(m, k, n, pairs, top);
    double const   held = fmin(-expm1(k * there * log1p(-1 / m)) + stuck, 1);
    double const   f = fmin(tamis_shared_all(held, m, k) + n / 18446744073709551616.0, 1);
    *ret = (shared_forecast){ .fpr = tamis_state_direct_fpr(f, values),
                              .unknown = tamis_state_direct_unknown(f, values),
                              .saturation = -expm1(-m * stuck),
                              .held = held };
}

bool tamis_state_direct_choose(shared_need need, uint64_t *g) {
    uint64_t const bits = g[SHARED_COUNTER_BITS];
    need.law = tamis_state_direct_forecast;
    need.cell_bits = tamis_state_direct_cell_bits;
    need.least_counter_bits = STATE_DIRECT_MIN_COUNTER_BITS;
    need.most_counter_bits = SHARED_MAX_COUNTER_BITS;
    if (need.values > STATE_DIRECT_MAX_VALUES) return false;
    if (bits != 0 && bits < STATE_DIRECT_MIN_COUNTER_BITS) return false;
    return tamis_shared_choose(&need, g);
}
