/* test_fluid.c - theory/fluid.h compared with the papers, with its own equations, and with d-left
 * tables that are filled and churned.
 *
 * The papers' numbers are those of PAPERS.md: 000 is Bonomi et al. (ESA 2006), 002 the state
 * machines of SIGCOMM 2006, 003 dynamic bit reassignment (Allerton 2006).
 */
#include "unit.h"

#include "theory/fluid.h"

#define SIGMAS 4.0

/* ------------------------------------------------------------------ the papers */

static void check_digits(double actual, double printed, double half_a_digit) {
    if (fabs(actual - printed) <= half_a_digit) return;
    fail_msg("%.6g is not %g to the digits that are printed", actual, printed);
}

/* 000, Table 1: 4 subtables, a load of 6, churn. */
static void table_1_of_esa2006_is_reproduced(void **state) {
    (void)state;
    static const double printed[] = { 1,      1.0000, 0.9999, 0.9990, 0.9920,
                                      0.9505, 0.7669, 0.2894, 0.0023 };
    fluid               law;
    tamis_fluid_churn(4, 6, INFINITY, &law);
    for (unsigned j = 0; j < COUNT(printed); j++) {
        check_digits(tamis_fluid_share(&law, j), printed[j], 5.1e-5);
    }
    assert_near(tamis_fluid_share(&law, 9), 1.681e-27, 1e-3);
    assert_near(law.x[3][8], 2.4e-14, 0.03); /* the last subtable never has 8 */
}

/* 000, 5.2: a load of 6.5 overflows in two of a hundred lives. */
static void load_6_5_of_esa2006_is_reproduced(void **state) {
    (void)state;
    fluid law;
    tamis_fluid_churn(4, 6.5, INFINITY, &law);
    assert_near(tamis_fluid_share(&law, 9), 2.205e-8, 1e-3);
}

/* Of all buckets, those with just so many keys: to two digits. */
static void check_loads(unsigned tables, double load, const double *printed, unsigned n) {
    fluid law;
    tamis_fluid_fill(tables, load, INFINITY, &law);
    for (unsigned j = 0; j < n; j++) {
        double const share = tamis_fluid_share(&law, j) - tamis_fluid_share(&law, j + 1);
        assert_near(share, printed[j], 0.005);
    }
}

/* 003, Table I (with 5.90e-4 for the misprinted 6.0e-4) and Table II: 3 subtables, filling. */
static void tables_1_and_2_of_allerton2006_are_reproduced(void **state) {
    (void)state;
    static const double at_4[] = {
        2.27e-5, 5.90e-4, 1.07e-2, .1549, .6559, .1780, 2.28e-5, 5.57e-31
    };
    static const double at_6_4[] = { 1.70e-8, 5.63e-7, 1.17e-5, 2.07e-4, 3.50e-3,
                                     5.58e-2, .4831,   .4512,   6.17e-3, 4.75e-15 };
    check_loads(3, 4, at_4, COUNT(at_4));
    check_loads(3, 6.4, at_6_4, COUNT(at_6_4));
}

/* 002, 3.4: what filling makes 1e-30 is 1e-8 under churn. */
static void churn_changes_the_loads_of_3_subtables(void **state) {
    (void)state;
    fluid law;
    tamis_fluid_churn(3, 4, INFINITY, &law);
    assert_near(tamis_fluid_share(&law, 7), 8.9e-9, 0.006);
    assert_near(tamis_fluid_all(&law, 6), 1.56e-8, 0.004);
    check_digits(1e47 * tamis_fluid_all(&law, 7), 2, 0.5);
    tamis_fluid_churn(3, 3.75, INFINITY, &law);
    assert_near(tamis_fluid_all(&law, 6), 4.4e-13, 0.02);
}

/* ------------------------------------------------------------------ the equations */

static const double loads[] = { 0.5, 1, 1.5, 2.25, 4, 6, 7.9, 12, 20, 32, 47.3, 48 };

static double mean_of(const fluid *law) {
    double sum = 0;
    for (unsigned j = 1; j <= FLUID_MAX_HEIGHT; j++) sum += tamis_fluid_share(law, j);
    return sum;
}

static void mean_of_all_buckets_is_the_load(void **state) {
    (void)state;
    for (unsigned tables = 1; tables <= FLUID_MAX_TABLES; tables++) {
        for (size_t i = 0; i < COUNT(loads); i++) {
            fluid law;
            tamis_fluid_fill(tables, loads[i], INFINITY, &law);
            assert_near(mean_of(&law), loads[i], 1e-9);
            if (tables == 1) continue;
            tamis_fluid_churn(tables, loads[i], INFINITY, &law);
            assert_near(mean_of(&law), loads[i], 1e-7);
        }
    }
}

/* The largest difference of the logarithms of two tails that are above 1e-40. */
static double tails_differ(const fluid *a, const fluid *b) {
    double most = 0;
    for (unsigned i = 0; i < a->tables; i++) {
        for (unsigned j = 1; j <= FLUID_MAX_HEIGHT; j++) {
            double const x = a->x[i][j], y = b->x[i][j];
            if (fmax(x, y) > 1e-40) most = fmax(most, fabs(log(y / x)));
        }
    }
    return most;
}

/* A filling of half a key at a time takes all steps. One filling of all keys may raise the tails by
 * whole levels instead. */
static void filling_by_whole_levels_gives_the_same_tails(void **state) {
    (void)state;
    static const double buckets[] = { 10, 1e5, INFINITY };
    for (unsigned tables = 2; tables <= FLUID_MAX_TABLES; tables++) {
        for (size_t i = 0; i < COUNT(buckets); i++) {
            fluid slowly, at_once;
            tamis_fluid_fill(tables, 0, buckets[i], &slowly);
            for (double load = 0.5; load <= 46; load += 0.5) {
                tamis_fluid_go_on(&slowly, load);
                tamis_fluid_fill(tables, load, buckets[i], &at_once);
                if (tails_differ(&slowly, &at_once) > (isinf(buckets[i]) ? 3e-5 : 3e-3))
                    fail_msg("d %u, %g buckets, load %g: tails differ by %g", tables, buckets[i],
                             load, tails_differ(&slowly, &at_once));
            }
        }
    }
}

/* P[the next key makes a bucket of subtable i have j]. */
static double oracle_rate(const fluid *law, unsigned i, unsigned j) {
    double rate = law->x[i][j - 1] - law->x[i][j];
    for (unsigned k = 0; k < i; k++) rate *= law->x[k][j];
    for (unsigned k = i + 1; k < law->tables; k++) rate *= law->x[k][j - 1];
    return rate;
}

/* As many come as go: of d B load keys one leaves, and j of them are in a bucket with j. */
static void churn_comes_to_rest_where_as_many_come_as_go(void **state) {
    (void)state;
    for (unsigned tables = 2; tables <= FLUID_MAX_TABLES; tables++) {
        for (size_t at = 0; at < COUNT(loads); at++) {
            fluid    law;
            unsigned seen = 0;
            tamis_fluid_churn(tables, loads[at], INFINITY, &law);
            for (unsigned j = 1; j < loads[at] + 20; j++) {
                for (unsigned i = 0; i < tables && law.x[i][j] > 1e-290; i++, seen++) {
                    double const leave = j * (law.x[i][j] - law.x[i][j + 1]) / (loads[at] * tables);
                    double const come = oracle_rate(&law, i, j);
                    assert_true(fabs(come - leave) <= 1e-7 * law.x[i][j]);
                }
            }
            assert_true(seen > tables * loads[at]);
        }
    }
}

/* Shares that fall with j and, from the left to the right, with i. */
static void fuller_buckets_are_rarer_and_further_left(void **state) {
    (void)state;
    for (unsigned tables = 2; tables <= FLUID_MAX_TABLES; tables++) {
        for (size_t at = 0; at < COUNT(loads); at++) {
            for (unsigned is_churn = 0; is_churn < 2; is_churn++) {
                fluid law;
                (is_churn ? tamis_fluid_churn : tamis_fluid_fill)(tables, loads[at], INFINITY,
                                                                  &law);
                for (unsigned j = 1; j <= FLUID_MAX_HEIGHT; j++) {
                    for (unsigned i = 0; i < tables; i++) {
                        assert_true(law.x[i][j] >= 0 && law.x[i][j] <= law.x[i][j - 1]);
                        if (i > 0) assert_true(law.x[i][j] <= law.x[i - 1][j] * (1 + 1e-9));
                    }
                }
            }
        }
    }
}

/* The same equations by Euler's method, with steps so small that it does not matter. */
static void oracle_fill(unsigned tables, double load, unsigned steps, fluid *ret_fluid) {
    *ret_fluid = (fluid){ .tables = tables, .load = load };
    for (unsigned i = 0; i < tables; i++) ret_fluid->x[i][0] = 1;
    for (unsigned step = 0; step < steps; step++) {
        fluid const before = *ret_fluid;
        for (unsigned i = 0; i < tables; i++) {
            for (unsigned j = 1; j < load + 8; j++) {
                ret_fluid->x[i][j] += load / steps * tables * oracle_rate(&before, i, j);
            }
        }
    }
}

static void filling_is_as_by_many_small_steps(void **state) {
    (void)state;
    static const double few[] = { 0.7, 2, 3.5, 6 };
    for (unsigned tables = 1; tables <= 5; tables++) {
        for (size_t at = 0; at < COUNT(few); at++) {
            fluid        law, slow, slower;
            double const load = few[at];
            tamis_fluid_fill(tables, load, INFINITY, &law);
            oracle_fill(tables, load, (unsigned)(load * 4000), &slow);
            oracle_fill(tables, load, (unsigned)(load * 8000), &slower);
            for (unsigned j = 1; j < load + 6; j++) {
                for (unsigned i = 0; i < tables; i++) {
                    double const x = 2 * slower.x[i][j] - slow.x[i][j]; /* half the error is left */
                    if (slower.x[i][j] > 1e-7) assert_near(law.x[i][j], x, 2e-4);
                }
            }
        }
    }
}

/* With one subtable there is no choice: the loads are Poisson's. */
static void one_subtable_has_the_law_of_poisson(void **state) {
    (void)state;
    for (size_t at = 0; at < COUNT(loads); at++) {
        fluid  law;
        double term = exp(-loads[at]), above = 1 - term;
        tamis_fluid_fill(1, loads[at], INFINITY, &law);
        for (unsigned j = 1; above > 1e-6; j++) {
            assert_near(law.x[0][j], above, 1e-5);
            term *= loads[at] / j;
            above -= term;
        }
    }
}

/* ------------------------------------------------------------------ tables that live */

#define MAX_TABLES 4
#define MAX_HEIGHT 64
#define NOWHERE UINT32_MAX

typedef struct balls {
    unsigned  tables, buckets;
    uint64_t  n;
    uint8_t  *load;  /* of each bucket, subtable after subtable */
    uint32_t *place; /* of each ball */
} balls;

static void balls_add(balls *b, uint64_t ball, dice *random) {
    uint32_t best = 0;
    for (unsigned i = 0; i < b->tables; i++) {
        uint32_t const at = i * b->buckets + (uint32_t)(dice_roll(random) >> 33) % b->buckets;
        if (i == 0 || b->load[at] < b->load[best]) best = at;
    }
    b->load[best]++;
    b->place[ball] = best;
}

static balls balls_fill(unsigned tables, double load, unsigned buckets, dice *random) {
    balls b = { .tables = tables, .buckets = buckets };
    b.n = (uint64_t)(load * tables * buckets);
    b.load = calloc((size_t)tables * buckets, 1);
    b.place = calloc(b.n, sizeof *b.place);
    assert_true(b.load != NULL && b.place != NULL);
    for (uint64_t i = 0; i < b.n; i++) balls_add(&b, i, random);
    return b;
}

static void balls_churn(balls *b, uint64_t steps, dice *random) {
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t const ball = (dice_roll(random) >> 20) % b->n;
        b->load[b->place[ball]]--;
        balls_add(b, ball, random);
    }
}

static void balls_free(balls *b) {
    free(b->load);
    free(b->place);
}

/* Means of x(i, j) over tables, and their sigmas. */
typedef struct sample {
    double n, sum[MAX_TABLES][MAX_HEIGHT], squares[MAX_TABLES][MAX_HEIGHT];
} sample;

static void sample_add(sample *s, const balls *b) {
    s->n++;
    for (unsigned i = 0; i < b->tables; i++) {
        double x[MAX_HEIGHT] = { 0 };
        for (unsigned k = 0; k < b->buckets; k++) {
            for (unsigned j = 0; j <= b->load[i * b->buckets + k]; j++) x[j] += 1.0 / b->buckets;
        }
        for (unsigned j = 0; j < MAX_HEIGHT; j++) {
            s->sum[i][j] += x[j];
            s->squares[i][j] += x[j] * x[j];
        }
    }
}

/* Only where enough buckets were seen for a reliable sigma. A finite table is within 1 / B of the
 * limit. */
static void check_sample(const sample *s, const fluid *law, unsigned buckets) {
    unsigned checked = 0;
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned j = 1; j < MAX_HEIGHT; j++) {
            double const mean = s->sum[i][j] / s->n, x = law->x[i][j];
            double const sigma = sqrt(fmax(0, s->squares[i][j] / s->n - mean * mean) / (s->n - 1));
            if (x * buckets * s->n < 100 || (1 - x) * buckets * s->n < 100) continue;
            if (fabs(mean - x) > SIGMAS * sigma + 0.5 / buckets) {
                fail_msg("d %u load %g: x(%u, %u) is %g, found %g +- %g", law->tables, law->load,
                         i + 1, j, x, mean, sigma);
            }
            checked++;
        }
    }
    assert_true(checked > law->tables);
}

static void check_life(unsigned tables, double load, bool is_churn) {
    dice           random = dice_start();
    unsigned const buckets = 2000;
    sample         s = { 0 };
    fluid          law;
    for (unsigned trial = 0; trial < 30; trial++) {
        balls b = balls_fill(tables, load, buckets, &random);
        if (is_churn) balls_churn(&b, 8 * b.n, &random);
        sample_add(&s, &b);
        balls_free(&b);
    }
    (is_churn ? tamis_fluid_churn : tamis_fluid_fill)(tables, load, INFINITY, &law);
    check_sample(&s, &law, buckets);
}

static void tables_that_live_have_these_loads(void **state) {
    (void)state;
    static const double few[] = { 0.75, 3, 6.5 };
    for (unsigned tables = 2; tables <= MAX_TABLES; tables++) {
        for (size_t i = 0; i < COUNT(few); i++) {
            check_life(tables, few[i], false);
            check_life(tables, few[i], true);
        }
    }
}

/* ------------------------------------------------------------------ the load for a chance */

typedef double load_for(unsigned tables, unsigned j, double chance, double n, double limit);
typedef void   law_at(unsigned tables, double load, double buckets, fluid *ret_fluid);

static double chance_at(law_at *law_of, unsigned tables, unsigned j, double n, double load) {
    fluid law;
    law_of(tables, load, n / (load * tables), &law);
    return tamis_fluid_all(&law, j);
}

/* `step`: the next load that it would have tried, and what it may lose besides. */
static void check_load_for(load_for *best, law_at *law_of, const unsigned *sizes, double chance,
                           double n, double step) {
    unsigned const tables = sizes[0], j = sizes[1];
    double const   limit = j, load = best(tables, j, chance, n, limit);
    double const   slack = 1.15; /* steps from another beginning */
    if (load >= 0 && load <= limit &&
        (load == 0 || chance_at(law_of, tables, j, n, load) <= chance * slack) &&
        (load == limit || chance_at(law_of, tables, j, n, load + step) * slack > chance))
        return;
    fail_msg("d %u, %u cells, %g, %g keys: %g", tables, j, chance, n, load);
}

static void loads_are_the_largest_that_keep_the_chance(void **state) {
    (void)state;
    static const double   chances[] = { 0.5, 1e-3, 1e-8, 1e-15, 1e-25 };
    static const double   keys[] = { 3000, 1e5, INFINITY };
    static const unsigned cells[] = { 1, 3, 8, 20, 40 };
    for (unsigned round = 0; round < 3 * 4 * 5 * 5; round++) {
        unsigned const sizes[2] = { 2 + 2 * (round / 3 % 4), cells[round / 12 % 5] };
        double const   chance = chances[round / 60], n = keys[round % 3];
        double const   fewer = isinf(n) ? 0.051 : 0.051 + 0.05 * sizes[1]; /* buckets, see there */
        check_load_for(tamis_fluid_fill_load, tamis_fluid_fill, sizes, chance, n, fewer);
        check_load_for(tamis_fluid_churn_load, tamis_fluid_churn, sizes, chance, n,
                       3e-3 * sizes[1]);
    }
}

static void loads_stay_below_their_limit(void **state) {
    (void)state;
    for (unsigned tables = 2; tables <= FLUID_MAX_TABLES; tables++) {
        assert_true(tamis_fluid_fill_load(tables, 20, 1e-10, 1e6, 3) == 3);
        assert_true(tamis_fluid_churn_load(tables, 20, 1e-10, 1e6, 3) == 3);
    }
}

/* ------------------------------------------------------------------ finite tables */

#define LIVES 6

typedef struct life {
    unsigned tables, cells, buckets;
    double   load, limit; /* the limit's chance, for the record */
} life;

/* Where the limit is wrong by 2 to 1e6 times. */
static const life lives[LIVES] = {
    { 2, 4, 8, 1.3125, 9e-8 },    { 2, 8, 8, 4.5, 1e-9 },      { 2, 16, 16, 12.125, 8e-10 },
    { 2, 16, 8, 11.6875, 1e-14 }, { 3, 6, 8, 4.041667, 6e-8 }, { 2, 6, 64, 2.9375, 1e-7 },
};

/* Adds that found all their buckets full, among those of a long life; they are refused. Refusals
 * come together: sets of them half a table of adds apart are taken for independent. */
static double count_refused(const life *lived, uint64_t steps, double *ret_bursts) {
    dice     random = dice_start();
    balls    b = balls_fill(lived->tables, lived->load, lived->buckets, &random);
    uint64_t refused = 0, last = 0;
    balls_churn(&b, 8 * b.n, &random);
    for (uint64_t i = 1; i <= steps; i++) {
        uint64_t const ball = (dice_roll(&random) >> 20) % b.n;
        if (b.place[ball] != NOWHERE) b.load[b.place[ball]]--;
        balls_add(&b, ball, &random);
        if (b.load[b.place[ball]] <= lived->cells) continue;
        b.load[b.place[ball]]--;
        b.place[ball] = NOWHERE;
        *ret_bursts += i - last > b.n / 2 || last == 0;
        last = i;
        refused++;
    }
    balls_free(&b);
    return (double)refused;
}

/* The stated chance is not lower than the measured one, except for four sigma and a factor of 1.5;
 * and it is not more than a hundred times higher. */
static void finite_tables_are_full_as_often_as_stated(void **state) {
    (void)state;
    for (unsigned i = 0; i < LIVES; i++) {
        const life *const lived = &lives[i];
        uint64_t const    steps = UINT64_C(1) << 24;
        double            bursts = 0;
        double const      refused = count_refused(lived, steps, &bursts);
        fluid             limit, law;
        tamis_fluid_churn(lived->tables, lived->load, INFINITY, &limit);
        tamis_fluid_churn(lived->tables, lived->load, lived->buckets, &law);
        double const stated = tamis_fluid_all(&law, lived->cells) * (double)steps;
        double const sigma = refused / sqrt(bursts + 1) + 1;
        print_message("# d %u, %u cells, %u buckets: refused %g +- %.2g, stated %.3g, limit %.2g\n",
                      lived->tables, lived->cells, lived->buckets, refused, sigma, stated,
                      tamis_fluid_all(&limit, lived->cells) * (double)steps);
        assert_near(tamis_fluid_all(&limit, lived->cells), lived->limit, 0.5);
        assert_true(refused - SIGMAS * sigma <= 1.5 * stated);
        assert_true(stated <= 100 * (refused + SIGMAS * sigma));
    }
}

/* Large tables agree with the limit as long as tails are shares of buckets; small tables are never
 * below it. */
static void finite_tables_are_full_no_less_often_than_the_limit(void **state) {
    (void)state;
    for (unsigned tables = 2; tables <= FLUID_MAX_TABLES; tables++) {
        for (size_t at = 1; loads[at] < 10; at++) {
            for (unsigned is_churn = 0; is_churn < 2; is_churn++) {
                law_at *const law_of = is_churn ? tamis_fluid_churn : tamis_fluid_fill;
                double        before = 0;
                for (double buckets = INFINITY; buckets >= 8; buckets = fmin(1e9, buckets / 16)) {
                    fluid law;
                    law_of(tables, loads[at], buckets, &law);
                    double const all = tamis_fluid_all(&law, (unsigned)loads[at] + 3);
                    assert_true(all >= before * 0.999 && all <= 1);
                    before = all;
                }
            }
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_1_of_esa2006_is_reproduced),
        cmocka_unit_test(load_6_5_of_esa2006_is_reproduced),
        cmocka_unit_test(tables_1_and_2_of_allerton2006_are_reproduced),
        cmocka_unit_test(churn_changes_the_loads_of_3_subtables),
        cmocka_unit_test(mean_of_all_buckets_is_the_load),
        cmocka_unit_test(filling_by_whole_levels_gives_the_same_tails),
        cmocka_unit_test(churn_comes_to_rest_where_as_many_come_as_go),
        cmocka_unit_test(fuller_buckets_are_rarer_and_further_left),
        cmocka_unit_test(filling_is_as_by_many_small_steps),
        cmocka_unit_test(one_subtable_has_the_law_of_poisson),
        cmocka_unit_test(tables_that_live_have_these_loads),
        cmocka_unit_test(loads_are_the_largest_that_keep_the_chance),
        cmocka_unit_test(loads_stay_below_their_limit),
        cmocka_unit_test(finite_tables_are_full_as_often_as_stated),
        cmocka_unit_test(finite_tables_are_full_no_less_often_than_the_limit),
    };
    return unit_run("fluid", tests, COUNT(tests));
}
