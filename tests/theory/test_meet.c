/* test_meet.c - places of a key that are the same, compared with all ways to choose places, one by
 * one, and with products that are computed in full. */
#include "unit.h"

#include "core/increments.h"
#include "theory/meet.h"
#include "theory/vi_rate.h"

#define MASK(...) mask_of((const unsigned[]){ __VA_ARGS__, 0 })

static uint64_t mask_of(const unsigned *values) {
    uint64_t mask = 0;
    for (; *values != 0; values++) mask |= UINT64_C(1) << *values;
    return mask;
}

/* ------------------------------------------------------------------ all strangers */

#define STUCK UINT64_MAX

typedef struct table {
    increments d;
    uint64_t   counter[5];
    unsigned   m;
} table;

static bool holds(const table *t, const uint64_t *adds) {
    for (unsigned i = 0; i < t->m; i++) {
        bool const is_asked = adds[i] != 0 && t->counter[i] != STUCK;
        if (is_asked && !increments_may_hold(&t->d, t->counter[i], adds[i])) return false;
    }
    return true;
}

/* How many of all ways to choose k counters and increments are held. */
static double count_ways(const table *t, unsigned k, uint64_t *adds) {
    double sum = 0;
    if (k == 0) return holds(t, adds);
    for (unsigned way = 0; way < t->m * t->d.n; way++) {
        adds[way / t->d.n] += t->d.value[way % t->d.n];
        sum += count_ways(t, k - 1, adds);
        adds[way / t->d.n] -= t->d.value[way % t->d.n];
    }
    return sum;
}

static double rate_of_all(const table *t, unsigned k) {
    uint64_t adds[5] = { 0 };
    return count_ways(t, k, adds) / pow((double)t->m * t->d.n, k);
}

static double rate_stated(const table *t, unsigned k, unsigned more) {
    vi_rate rate;
    tamis_vi_rate_begin(&rate, &t->d, t->m, k, more);
    for (unsigned i = 0; i < t->m; i++) {
        vi_rate_add(&rate, t->counter[i] == STUCK ? VI_RATE_STUCK : t->counter[i]);
    }
    return tamis_vi_rate_end(&rate);
}

static void meet_rate_is_that_of_all_strangers(void **state) {
    (void)state;
    uint64_t const sets[] = { MASK(1), MASK(1, 2), MASK(4, 5, 6, 7), MASK(8, 12, 14, 15) };
    dice           random = dice_start();
    for (unsigned round = 0; round < 200; round++) {
        table t = { .d = increments_make(sets[round % 4]), .m = 1 + round / 4 % 5 };
        for (unsigned i = 0; i < t.m; i++) {
            do t.counter[i] = dice_below(&random, 40);
            while (!increments_make_up(&t.d, t.counter[i]));
            if (dice_below(&random, 8) == 0) t.counter[i] = STUCK;
        }
        for (unsigned k = 1; k <= 4; k++) {
            double const rate = rate_of_all(&t, k), next = rate_of_all(&t, k + 1);
            assert_near(rate_stated(&t, k, 0) + 1, rate + 1, 1e-13);
            assert_near(rate_stated(&t, k, 64) + 1, .75 * rate + .25 * next + 1, 1e-13);
        }
    }
}

/* Counters of 1, which hold one probe that adds 1 and no more, in numbers that the tally hands over
 * in several parts. */
static void vi_rate_of_many_counters_is_that_of_all_of_them(void **state) {
    (void)state;
    double const     held[MEET_MAX_K + 1] = { 0, 1 };
    increments const d = increments_make(MASK(1));
    for (unsigned n = UINT16_MAX - 1; n <= 4u * UINT16_MAX; n += UINT16_MAX / 2) {
        vi_rate rate;
        meet    direct = tamis_meet_begin(2.0 * n, 5);
        tamis_vi_rate_begin(&rate, &d, 2.0 * n, 5, 0);
        for (unsigned i = 0; i < n; i++) vi_rate_add(&rate, 0);
        for (unsigned i = 0; i < n; i++) vi_rate_add(&rate, 1);
        tamis_meet_add(&direct, held, n);
        assert_near(tamis_vi_rate_end(&rate), tamis_meet_rate(&direct, 5), 1e-12);
    }
}

/* ------------------------------------------------------------------ large tables */

/* The product over m entries, each of one of a few sorts, term by term. */
static double rate_of_product(unsigned m, unsigned k, double sorts[][MEET_MAX_K + 1], unsigned n) {
    long double product[MEET_MAX_K + 1] = { 1 }, scale = 1;
    for (unsigned e = 0; e < m; e++) {
        long double factor[MEET_MAX_K + 1], weight = 1;
        for (unsigned t = 1; t <= k; t++) {
            weight /= (long double)t * m / k;
            factor[t] = weight * (long double)sorts[e % n][t];
        }
        for (unsigned j = k; j != 0; j--) {
            for (unsigned t = 1; t <= j; t++) product[j] += product[j - t] * factor[t];
        }
    }
    for (unsigned i = 1; i <= k; i++) scale *= (long double)i / k;
    return (double)(product[k] * scale);
}

/* Just below and above the size up to which the whole product is computed. */
static void meet_rate_of_large_tables_is_that_of_the_product(void **state) {
    (void)state;
    static const unsigned sizes[] = { 60, 64, 65, 400, 4096, 4097, 9000, 30000 };
    dice                  random = dice_start();
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (unsigned k = 1; k <= 41; k = 2 * k + 1) {
            double   sorts[6][MEET_MAX_K + 1] = { { 0 } };
            unsigned m = sizes[i] - sizes[i] % 6;
            for (unsigned s = 0; s < 6; s++) { /* the more places, the fewer are held */
                sorts[s][0] = s == 0 ? 0 : 1;
                for (unsigned t = 1; t <= k; t++) {
                    sorts[s][t] = sorts[s][t - 1] * (double)dice_below(&random, 100) / 100;
                }
            }
            meet pair = tamis_meet_begin(m, k);
            for (unsigned s = 0; s < 6; s++) tamis_meet_add(&pair, sorts[s], m / 6);
            double const exact = rate_of_product(m, k, sorts, 6);
            assert_near(tamis_meet_rate(&pair, k), exact, m <= 64 ? 1e-12 : m < 4096 ? 1e-3 : 1e-4);
        }
    }
}

/* Entries that pass every key, and entries that pass none. */
static void meet_rate_of_all_and_of_none(void **state) {
    (void)state;
    double all[MEET_MAX_K + 1], none[MEET_MAX_K + 1] = { 0 };
    for (unsigned t = 0; t <= MEET_MAX_K; t++) all[t] = 1;
    for (double m = 1; m < 1e9; m *= 7) {
        for (unsigned k = 1; k <= 64; k += 9) {
            meet full = tamis_meet_begin(m, k), empty = full;
            tamis_meet_add(&full, all, m);
            tamis_meet_add(&empty, none, m);
            assert_near(tamis_meet_rate(&full, k), 1, m > 64 && m < 4096 ? 1e-3 : 1e-9);
            assert_near(tamis_meet_rate(&empty, k), 0, 0);
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(meet_rate_is_that_of_all_strangers),
        cmocka_unit_test(vi_rate_of_many_counters_is_that_of_all_of_them),
        cmocka_unit_test(meet_rate_of_large_tables_is_that_of_the_product),
        cmocka_unit_test(meet_rate_of_all_and_of_none),
    };
    return unit_run("meet", tests, COUNT(tests));
}
