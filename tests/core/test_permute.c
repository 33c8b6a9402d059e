/* test_permute.c - core/permute.h: bijections, their inverses, and d-left tables that use them.
 */
#include "core_units.h"

#include "core/permute.h"

#define MAX_TABLES 8
#define ONCE __attribute__((unused)) /* a test that only the portable build has */

/* ------------------------------------------------------------------ oracles */

/* a x mod n by doubling; n is at most 2^62, so nothing wraps. */
static uint64_t oracle_product(uint64_t a, uint64_t x, uint64_t n) {
    uint64_t sum = 0;
    for (; a != 0; a /= 2) {
        if (a % 2 != 0) sum = (sum + x) % n;
        x = 2 * x % n;
    }
    return sum;
}

/* A random size up to 2^62; half of them are B x 2^r. */
static uint64_t random_size(dice *random) {
    uint64_t const any = dice_edge(random) >> (2 + dice_below(random, 50));
    uint64_t const r = dice_below(random, 33);
    uint64_t const size = dice_below(random, 2) == 0 ? any : (any >> r) << r;
    return size == 0 ? PERMUTE_MAX : size;
}

static uint64_t there(uint64_t n, unsigned i, uint64_t x) {
    return multiplier_apply(permutation_make(n, i).there, n, x);
}

/* ------------------------------------------------------------------ products */

static void check_product(uint64_t factor, uint64_t n, uint64_t x) {
    uint64_t const product = multiplier_apply(multiplier_make(factor, n), n, x);
    if (product == oracle_product(factor, x, n)) return;
    fail_msg("%llu x %llu mod %llu is not %llu", (unsigned long long)factor, (unsigned long long)x,
             (unsigned long long)n, (unsigned long long)product);
}

static void multiplier_gives_the_product_modulo_n(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 30000; round++) {
        uint64_t const n = random_size(&random);
        uint64_t const factors[] = { 0, 1 % n, n / 2, n - 1, dice_below(&random, n) };
        uint64_t const factor = factors[dice_below(&random, COUNT(factors))];
        check_product(factor, n, 0);
        check_product(factor, n, n - 1);
        check_product(factor, n, n / 2);
        check_product(factor, n, dice_edge(&random) % n);
        check_product(factor, n, dice_roll(&random) % n);
    }
}

/* ------------------------------------------------------------------ bijections */

#define MAX_SIZE (48u << 10)

/* Every number comes out exactly once, and the inverse leads back. */
static void check_bijection(uint64_t n, unsigned i) {
    static uint8_t    seen[MAX_SIZE];
    permutation const p = permutation_make(n, i);
    memset(seen, 0, n);
    for (uint64_t x = 0; x < n; x++) {
        uint64_t const y = multiplier_apply(p.there, n, x);
        if (y >= n || seen[y]++ != 0) {
            fail_msg("P_%u(%u) of %u is %u", i, (unsigned)x, (unsigned)n, (unsigned)y);
        }
        assert_int_equal(multiplier_apply(p.back, n, y), x);
    }
}

static void permutation_is_a_bijection_for_every_small_n(void **state) {
    (void)state;
    for (uint64_t n = 1; n <= 300; n++) {
        for (unsigned i = 0; i < MAX_TABLES; i++) check_bijection(n, i);
    }
}

static void permutation_is_a_bijection_for_buckets_of_every_number(void **state) {
    (void)state;
    for (unsigned r = 4; r <= 10; r += 2) {
        for (uint64_t buckets = 1; buckets <= 48; buckets++) {
            unsigned const i = (unsigned)(buckets + r) % MAX_TABLES;
            check_bijection(buckets << r, i);
            check_bijection(buckets << r, MAX_TABLES - 1 - i);
        }
    }
}

/* n is too large to try all numbers. The inverse leads back for those that are tried, and the
 * permutation is one multiplication. */
static void permutation_of_any_n_can_be_undone(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t const    n = round == 0 ? PERMUTE_MAX : random_size(&random);
        permutation const p = permutation_make(n, (unsigned)dice_below(&random, MAX_TABLES));
        uint64_t const    numbers[] = { 0, n - 1, dice_edge(&random) % n };
        assert_true(p.there.factor < n && p.back.factor < n);
        assert_int_equal(oracle_product(p.there.factor, p.back.factor, n), 1 % n);
        for (unsigned i = 0; i < COUNT(numbers); i++) {
            uint64_t const y = multiplier_apply(p.there, n, numbers[i]);
            assert_int_equal(y, oracle_product(p.there.factor, numbers[i], n));
            assert_int_equal(multiplier_apply(p.back, n, y), numbers[i]);
        }
    }
}

/* A kind takes 0 for an empty cell. */
static void remainder_is_0_in_all_subtables_or_in_none(void **state) {
    (void)state;
    dice     random = dice_start();
    unsigned zeros = 0;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned const r = 4 + (unsigned)dice_below(&random, 29);
        uint64_t const n = (1 + (dice_edge(&random) >> (2 + r)) % (PERMUTE_MAX >> r)) << r;
        uint64_t const mask = (UINT64_C(1) << r) - 1;
        uint64_t const any = dice_roll(&random) % n;
        uint64_t const x = dice_below(&random, 2) == 0 ? any : any & ~mask;
        zeros += (x & mask) == 0;
        for (unsigned i = 0; i < MAX_TABLES; i++) {
            assert_int_equal((there(n, i, x) & mask) == 0, (x & mask) == 0);
        }
    }
    assert_true(zeros > 5000 && zeros < 15000);
}

/* ------------------------------------------------------------------ no two alike */

/* The shortest step (s, t), by its larger side, such that numbers s apart are t apart in the other
 * subtable: Gauss's reduction of the lattice of (x, a x mod n). Where it is short, keys that share
 * a bucket here share one there. */
static double shortest_step(uint64_t a, uint64_t n) {
    double u[2] = { (double)n, 0 }, v[2] = { (double)a, 1 };
    for (;;) {
        double const uu = u[0] * u[0] + u[1] * u[1], vv = v[0] * v[0] + v[1] * v[1];
        if (uu <= vv && uu == 0) return 0;
        double *const large = uu > vv ? u : v, *const small = uu > vv ? v : u;
        double const times = rint((u[0] * v[0] + u[1] * v[1]) / fmin(uu, vv));
        if (times == 0) return fmax(fabs(small[0]), fabs(small[1]));
        large[0] -= times * small[0];
        large[1] -= times * small[1];
    }
}

/* The shortest of all pairs of subtables, divided by sqrt(n), which is usual for two random
 * factors. */
static double worst_step(uint64_t n, unsigned tables) {
    double worst = INFINITY;
    for (unsigned i = 0; i < tables; i++) {
        for (unsigned k = 0; k < i; k++) {
            permutation const a = permutation_make(n, i), b = permutation_make(n, k);
            uint64_t const    ratio = oracle_product(a.there.factor, b.back.factor, n);
            worst = fmin(worst, shortest_step(ratio, n) / sqrt((double)n));
        }
    }
    return worst;
}

/* Factors 1, 3, 5, 7 would have steps of 1 to 7. Among 20000 sizes with 28 pairs each the worst
 * was found to have 1/250 of sqrt(n); two random factors have about 1. */
static ONCE void no_two_subtables_are_nearly_the_same(void **state) {
    (void)state;
    dice   random = dice_start();
    double worst = INFINITY;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned const r = 6 + (unsigned)dice_below(&random, 15);
        uint64_t const buckets = 1024 + dice_below(&random, UINT64_C(1) << 20);
        worst = fmin(worst, worst_step(buckets << r, MAX_TABLES));
    }
    print_message("# the shortest step is %.2g of sqrt(N)\n", worst);
    assert_true(worst > 1.0 / 5000);
    assert_near(shortest_step(7, 1u << 20), 7, 0);
    assert_near(shortest_step(699051, 1u << 20), 3, 0); /* 3 x 699051 is 1 */
}

static void factors_of_subtables_are_different(void **state) {
    (void)state;
    for (unsigned r = 4; r <= 20; r++) {
        for (uint64_t buckets = r < 8 ? 64 : 8; buckets <= 2000; buckets++) {
            uint64_t factor[MAX_TABLES];
            for (unsigned i = 0; i < MAX_TABLES; i++) {
                factor[i] = permutation_make(buckets << r, i).there.factor;
                for (unsigned k = 0; k < i; k++) assert_true(factor[k] != factor[i]);
            }
        }
    }
}

/* ------------------------------------------------------------------ d-left tables */

/* The example of the paper: 4 subtables of 8 cells a bucket, 6 of them used, random keys that come
 * and go. `factor` 0: those of permute.h. */
#define TABLES 4
#define CELLS 8
#define MAX_BUCKETS 2048
#define MAX_KEYS (6 * TABLES * MAX_BUCKETS)

typedef struct dleft {
    uint64_t   buckets, remainder_bits;
    multiplier multiplier_of[TABLES];
    bool       is_low; /* the bucket is the low part */
    uint8_t    load[TABLES][MAX_BUCKETS];
    uint32_t   place[MAX_KEYS]; /* of each key */
    uint64_t   n, overflows;
} dleft;

static void dleft_start(dleft *t, uint64_t buckets, unsigned r, const uint64_t *factors) {
    memset(t, 0, sizeof *t);
    t->buckets = buckets;
    t->remainder_bits = r;
    t->n = 6 * TABLES * buckets;
    for (unsigned i = 0; i < TABLES; i++) {
        uint64_t const n = buckets << r;
        t->multiplier_of[i] =
            factors == NULL ? permutation_make(n, i).there : multiplier_make(factors[i], n);
    }
}

static uint32_t dleft_bucket(const dleft *t, uint64_t fingerprint, unsigned i) {
    uint64_t const at =
        multiplier_apply(t->multiplier_of[i], t->buckets << t->remainder_bits, fingerprint);
    return (uint32_t)(t->is_low ? at % t->buckets : at >> t->remainder_bits);
}

static void dleft_add(dleft *t, uint64_t fingerprint, uint64_t key) {
    unsigned best = 0;
    uint32_t bucket[TABLES];
    for (unsigned i = 0; i < TABLES; i++) {
        bucket[i] = dleft_bucket(t, fingerprint, i);
        if (t->load[i][bucket[i]] < t->load[best][bucket[best]]) best = i;
    }
    t->overflows += t->load[best][bucket[best]]++ >= CELLS;
    t->place[key] = best << 16 | bucket[best];
}

static void dleft_live(dleft *t, uint64_t steps, dice *random) {
    uint64_t const prints = t->buckets << t->remainder_bits;
    for (uint64_t key = 0; key < t->n; key++) dleft_add(t, dice_below(random, prints), key);
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t const key = dice_below(random, t->n);
        t->load[t->place[key] >> 16][t->place[key] & 0xffff]--;
        dleft_add(t, dice_below(random, prints), key);
    }
}

/* The share of all buckets with at least j keys, for each j. */
static void dleft_shares(const dleft *t, double *ret_share) {
    for (unsigned i = 0; i < TABLES; i++) {
        for (uint64_t b = 0; b < t->buckets; b++) {
            for (unsigned j = 0; j <= t->load[i][b] && j <= CELLS; j++) {
                ret_share[j] += 1.0 / (double)(TABLES * t->buckets);
            }
        }
    }
}

#define TRIALS 20

/* The fluid limit at load 6, and how far the mean of 20 trials may be from it (PAPERS.md). */
static void check_loads(uint64_t buckets, unsigned r) {
    static const double limit[] = { 1,       0.999997, 0.999924, 0.999045, 0.992029,
                                    .950466, .766867,  .289400,  .002272 };
    static const double within[] = { 0, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 3e-3, 4e-3, 4e-4 };
    double              share[CELLS + 1] = { 0 };
    dice                random = dice_start();
    static dleft        t;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        dleft_start(&t, buckets, r, NULL);
        dleft_live(&t, 4 * t.n, &random);
        dleft_shares(&t, share);
        assert_int_equal(t.overflows, 0);
    }
    for (unsigned j = 0; j <= CELLS; j++) {
        if (fabs(share[j] / TRIALS - limit[j]) <= within[j] + 1e-9) continue;
        fail_msg("%u buckets: %g have %u or more, not %g", (unsigned)buckets, share[j] / TRIALS, j,
                 limit[j]);
    }
}

static ONCE void tables_fill_as_with_independent_buckets(void **state) {
    (void)state;
    check_loads(2048, 14);
    check_loads(2000, 14);
    check_loads(1999, 11); /* a prime */
    check_loads(1155, 9);  /* 3 x 5 x 7 x 11 */
}

/* The share of buckets with 8 keys when fingerprints come in order, as out of a stream. */
static double fullest_in_order(const uint64_t *factors) {
    static dleft   t;
    double         share[CELLS + 1] = { 0 };
    dice           random = dice_start();
    uint64_t       key = 0;
    uint64_t const step = (UINT64_C(2) << 14) / (6 * TABLES); /* on average half of that */
    dleft_start(&t, 2000, 14, factors);
    for (uint64_t f = 0; f < t.buckets << 14 && key < t.n; key++) {
        dleft_add(&t, f, key);
        f += 1 + dice_below(&random, step - 1);
    }
    assert_true(key > t.n * 99 / 100);
    dleft_shares(&t, share);
    return share[CELLS];
}

/* If the first permutation were the identity, they would not. */
static void tables_fill_as_well_with_fingerprints_in_order(void **state) {
    (void)state;
    uint64_t factors[TABLES];
    for (unsigned i = 0; i < TABLES; i++) {
        factors[i] = permutation_make(2000 << 14, i).there.factor;
    }
    double const good = fullest_in_order(NULL);
    factors[0] = 1;
    double const bad = fullest_in_order(factors);
    print_message("# buckets with %u in order: %.4f, with the identity %.4f\n", CELLS, good, bad);
    assert_true(good < 1e-4 && bad > 1e-3);
}

/* The paper leaves the factors open; these would be bad ones. */
static ONCE void small_factors_or_low_buckets_overflow(void **state) {
    (void)state;
    static const uint64_t small[] = { 1, 3, 5, 7 };
    dice                  random = dice_start();
    static dleft          t;
    uint64_t              overflows[2] = { 0, 0 };
    for (unsigned trial = 0; trial < 16; trial++) {
        bool const is_low = trial % 8 == 7;
        dleft_start(&t, 2048, 14, is_low ? NULL : small);
        t.is_low = is_low;
        dleft_live(&t, 1 << 20, &random);
        overflows[is_low] += t.overflows;
    }
    print_message("# small factors %u, low buckets %u\n", (unsigned)overflows[0],
                  (unsigned)overflows[1]);
    assert_true(overflows[0] > 3 && overflows[1] > 10000);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(multiplier_gives_the_product_modulo_n),
    cmocka_unit_test(permutation_is_a_bijection_for_every_small_n),
    cmocka_unit_test(permutation_is_a_bijection_for_buckets_of_every_number),
    cmocka_unit_test(permutation_of_any_n_can_be_undone),
    cmocka_unit_test(tables_fill_as_well_with_fingerprints_in_order),
    cmocka_unit_test(remainder_is_0_in_all_subtables_or_in_none),
    cmocka_unit_test(factors_of_subtables_are_different),
#ifdef TAMIS_NO_SIMD /* these take seconds, and no instruction set changes the arithmetic */
    cmocka_unit_test(no_two_subtables_are_nearly_the_same),
    cmocka_unit_test(tables_fill_as_with_independent_buckets),
    cmocka_unit_test(small_factors_or_low_buckets_overflow),
#endif
};

CORE_EXPORT(permute)
