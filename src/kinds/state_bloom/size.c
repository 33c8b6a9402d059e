/* size.c - see size.h. */
#include "size.h"

#include <math.h>

#define OLDEST 40.0   /* mean lives; e^-40 of the keys are older */
#define AGE_STEPS 128 /* of the integral, even */

/* All values, and two more codes: "empty" and DK. 8 values take 4 bits, for 10 codes. */
unsigned tamis_state_bloom_code_bits(uint64_t values) {
    unsigned bits = 2;
    while (UINT64_C(1) << bits < values + 2) bits++;
    return bits;
}

unsigned tamis_state_bloom_cell_bits(const uint64_t *g) {
    return tamis_state_bloom_code_bits(g[OVERLAID_VALUES]) + (unsigned)g[OVERLAID_COUNTER_BITS] +
           (unsigned)g[OVERLAID_TIMER_BITS];
}

/* ------------------------------------------------------------------ churn */

typedef struct churn {
    double   m, n, lives; /* lives: T */
    unsigned k;
    double   stuck; /* share of cells that are stuck, and say "don't know" to everybody */
} churn;

/* q(a)^k of size.h: all cells of a key of that age are held by others, or were since it came.
 * Others: the n - 1 that were there when it came, and n for each mean life since. */
static double churn_overlapped(const churn *keys, double age) {
    double const others = keys->n - 1 + keys->n * age;
    double const q = -expm1(keys->k * others * log1p(-1 / keys->m));
    return tamis_overlaid_all(q + keys->stuck, keys->m, keys->k);
}

/* The integral by Simpson's rule over the ages up to T, and keys that are as old as the table. */
static double churn_unknown(const churn *keys) {
    double const oldest = fmin(keys->lives, OLDEST), step = oldest / AGE_STEPS;
    double       sum = 0;
    for (unsigned i = 0; i <= AGE_STEPS && oldest > 0; i++) {
        double const age = i * step, weight = i == 0 || i == AGE_STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * exp(-age) * churn_overlapped(keys, age);
    }
    return sum * step / 3 + exp(-oldest) * churn_overlapped(keys, oldest);
}

/* Without counters and timers nothing ever leaves: all keys of a life are there. Stuck cells say DK
 * to everybody, and count as held. */
void tamis_state_bloom_forecast(const uint64_t *g, double n, double lifetime,
                                overlaid_forecast *ret) {
    double const   m = (double)g[OVERLAID_CELLS];
    unsigned const k = (unsigned)g[OVERLAID_HASHES];
    unsigned const bits = (unsigned)g[OVERLAID_COUNTER_BITS];
    bool const     is_for_good = bits == 0 && g[OVERLAID_TIMER_BITS] == 0;
    double const   there = is_for_good ? fmax(n, lifetime) : n;
    double const   top = (double)(UINT64_C(1) << bits);
    double const   stuck = bits == 0 ? 0 : tamis_overlaid_stuck(m, k, n, lifetime, top);
    double const   held = fmin(-expm1(k * there * log1p(-1 / m)) + stuck, 1);
    churn const    keys = {
           .m = m, .n = there, .lives = fmax(lifetime / there - 1, 0), .k = k, .stuck = stuck
    };
    *ret = (overlaid_forecast){ .fpr = tamis_overlaid_all(held, m, k) + n / 0x1p64,
                                .unknown = fmin(churn_unknown(&keys), 1),
                                .saturation = -expm1(-m * stuck),
                                .held = held };
}

/* Without drops there is nothing to count. */
bool tamis_state_bloom_choose(const tamis_need *need, uint64_t *g) {
    bool const           is_counted = need->work.lifetime > need->work.capacity;
    overlaid_rules const rules = { .law = tamis_state_bloom_forecast,
                                   .cell_bits = tamis_state_bloom_cell_bits,
                                   .least_counter_bits = is_counted ? 1 : 0,
                                   .most_counter_bits =
                                       is_counted ? OVERLAID_MAX_COUNTER_BITS : 0 };
    return tamis_overlaid_choose(need, &rules, g);
}
