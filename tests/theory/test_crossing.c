/* test_crossing.c - a search that follows the rate finds what plain bisection finds, and asks less.
 */
#include "unit.h"

#include "theory/crossing.h"

/* The rate of a Bloom filter with k hashes and n keys in x places, or one that has steps. */
typedef struct filter {
    double   k, n;
    bool     is_whole; /* x is rounded down */
    unsigned asked;
} filter;

static double rate_of(const void *context, double x) {
    filter *const made = *(filter *const *)context;
    double const  places = made->is_whole ? floor(x) : x;
    made->asked++;
    return pow(-expm1(-made->k * made->n / places), made->k);
}

/* The least whole x that meets the limit. */
static double search(crossing *cross, double most) {
    double low = 1, high = most;
    while (high - low > 1) {
        double const half = floor((low + high) / 2);
        if (tamis_crossing_meets(cross, half))
            high = half;
        else
            low = half;
    }
    return high;
}

static void check(filter bloom, double limit, double guess) {
    filter        *context = &bloom;
    double const   most = 0x1p50;
    crossing       plain = tamis_crossing(rate_of, &context, limit), near = plain;
    double const   expected = search(&plain, most);
    unsigned const asked = bloom.asked;
    bloom.asked = 0;
    tamis_crossing_close_in(&near, guess, most, 0);
    assert_true(search(&near, most) == expected);
    assert_true(bloom.asked <= asked / 2); /* even with a guess that is wrong by a factor of 1000 */
    if (expected == most) return;          /* no x meets it */
    bloom.asked = 0;
    near = plain = tamis_crossing(rate_of, &context, limit);
    tamis_crossing_close_in(&near, 0.8 * expected, most, 1e-5);
    assert_true(bloom.asked <= 9);
    assert_true(near.fails < expected && near.meets > expected - 1);
    assert_true(near.meets - near.fails <= fmax(1, 1e-5 * near.meets));
}

static void a_search_finds_what_bisection_finds(void **state) {
    static const double keys[] = { 100, 1e3, 1e5, 1e8, 1e11 };
    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        for (unsigned k = 1; k <= 16; k *= 2) {
            for (double limit = 0.3; limit > 1e-7; limit /= 7) {
                check((filter){ k, keys[i], i % 2 == 0, 0 }, limit, keys[i] * k);
            }
        }
    }
}

/* Small tables, and guesses beyond `most`, are left to bisection. */
static void a_search_gives_up_where_it_may_not_ask(void **state) {
    filter   bloom = { 4, 5, true, 0 }, *context = &bloom;
    crossing cross = tamis_crossing(rate_of, &context, 0.01);
    (void)state;
    tamis_crossing_close_in(&cross, 20, 1e6, 0);
    tamis_crossing_close_in(&cross, 2e6, 1e6, 0);
    assert_int_equal(bloom.asked, 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_finds_what_bisection_finds),
        cmocka_unit_test(a_search_gives_up_where_it_may_not_ask),
    };
    return unit_run("crossing", tests, COUNT(tests));
}
