/* size.c - see size.h. */
#include "size.h"

#include <math.h>

#define DIRECT_ROUNDS 100 /* towards the number of keys that stay */

unsigned tamis_state_direct_count_bits(const uint64_t *g) {
    return g[OVERLAID_COUNTER_BITS] == 0 ? 1 : (unsigned)g[OVERLAID_COUNTER_BITS];
}

unsigned tamis_state_direct_cell_bits(const uint64_t *g) {
    return tamis_state_direct_count_bits(g) + (unsigned)g[OVERLAID_TIMER_BITS];
}

/* One of V pairs seems to be there, and the V - 1 others do not. */
double tamis_state_direct_fpr(double f, double values) {
    return values * f * pow(1 - f, values - 1);
}

/* 1 - (1 - f)^(V - 1), by logarithms: f may be so small that 1 - f is rounded to 1. */
double tamis_state_direct_unknown(double f, double values) {
    return -expm1((values - 1) * log1p(-f));
}

/* ------------------------------------------------------------------ rates */

/* A table with this many keys at one time. */
typedef struct filling {
    double stuck, held; /* shares of cells */
    double f;
} filling;

/* Each key is in the table with one pair at a time, and leaves up to V pairs behind it in its life,
 * which can make counters stick. */
static filling filling_of(const uint64_t *g, double keys, double lifetime) {
    double const   m = (double)g[OVERLAID_CELLS], values = (double)g[OVERLAID_VALUES];
    unsigned const k = (unsigned)g[OVERLAID_HASHES], bits = (unsigned)g[OVERLAID_COUNTER_BITS];
    double const   top = (double)(UINT64_C(1) << bits) - 1;
    double const   pairs = fmax(keys, lifetime) * values;
    double const   stuck = bits == 0 ? 0 : tamis_overlaid_stuck(m, k, keys, pairs, top);
    double const   held = fmin(-expm1(k * keys * log1p(-1 / m)) + stuck, 1);
    return (filling){ stuck, held, fmin(tamis_overlaid_all(held, m, k) + keys / 0x1p64, 1) };
}

/* N = n + (L - n) u(N), from below: u grows with N, so every round is below the solution, and the
 * last one is it. L: all stay, or nearly so. */
double tamis_state_direct_keys(const uint64_t *g, double n, double lifetime) {
    bool const is_counted = g[OVERLAID_COUNTER_BITS] != 0, is_timed = g[OVERLAID_TIMER_BITS] != 0;
    if (is_timed || lifetime <= n) return n;
    if (!is_counted) return lifetime;
    double keys = n;
    for (unsigned i = 0; i < DIRECT_ROUNDS && keys < lifetime; i++) {
        double const f = filling_of(g, keys, lifetime).f;
        double const unknown = tamis_state_direct_unknown(f, (double)g[OVERLAID_VALUES]);
        double const next = n + (lifetime - n) * unknown;
        if (next - keys <= 1e-6 * n) return next;
        keys = next;
    }
    return lifetime;
}

/* A key with several hits has no value, so the fpr V f (1 - f)^(V - 1) falls again once f is beyond
 * 1 / V: its slope there is 0. Between n and N keys, what is stated is the largest: that at 1 / V,
 * if f comes past it, or else at the end that is nearer. */
void tamis_state_direct_forecast(const uint64_t *g, double n, double lifetime,
                                 overlaid_forecast *ret) {
    double const  values = (double)g[OVERLAID_VALUES];
    double const  keys = tamis_state_direct_keys(g, n, lifetime);
    filling const first = filling_of(g, n, lifetime), last = filling_of(g, keys, lifetime);
    double const  worst = fmin(fmax(1 / values, first.f), last.f);
    *ret = (overlaid_forecast){ .fpr = tamis_state_direct_fpr(worst, values),
                                .unknown = tamis_state_direct_unknown(last.f, values),
                                .saturation = -expm1(-(double)g[OVERLAID_CELLS] * last.stuck),
                                .held = last.held };
}

/* ------------------------------------------------------------------ choice */

/* With timers only on request (size.h); at most 16 values; and counters have 2 bits at least, or
 * none. */
bool tamis_state_direct_choose(const tamis_need *need, uint64_t *g) {
    static const overlaid_rules rules = { .law = tamis_state_direct_forecast,
                                          .cell_bits = tamis_state_direct_cell_bits,
                                          .least_counter_bits = STATE_DIRECT_MIN_COUNTER_BITS,
                                          .most_counter_bits = OVERLAID_MAX_COUNTER_BITS };
    uint64_t const              bits = g[OVERLAID_COUNTER_BITS];
    if (need->values > STATE_DIRECT_MAX_VALUES) return false;
    if (bits != 0 && bits < STATE_DIRECT_MIN_COUNTER_BITS) return false;
    if (need->timer_bits != 0 && bits == NEED_FREE) return false; /* only on request */
    return tamis_overlaid_choose(need, &rules, g);
}
