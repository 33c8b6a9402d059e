/* test_saturation.c - the stated probability that a counter sticks, compared with many sets that
 * are filled and churned.
 *
 * A set is filled to its capacity, then its oldest key is replaced by a new one, until its lifetime
 * is over. The share of sets in which anything stuck is compared with the prediction: to four sigma
 * below, and above by no more than a tenth, since the prediction counts a counter that falls and
 * rises again twice, and may be that much too large. That of minimal increase is a mean-field law,
 * and may be off by a fifth either way.
 *
 * usage: test_saturation [SETS]     of each geometry
 */
#include "subject.h"

static uint64_t n_sets = 1500;

typedef struct life {
    const char *geometry;
    uint64_t    capacity, lifetime;
    double      slack; /* what the prediction may be too small by */
} life;

static bool is_stuck_after(const life *lived, uint64_t seed, double *ret_predicted) {
    tamis_set *const set = make_set(&(subject){ .kind = "counting",
                                                .geometry = lived->geometry,
                                                .capacity = lived->capacity,
                                                .lifetime = lived->lifetime },
                                    seed);
    replace_ids(set, lived->capacity, lived->lifetime);
    tamis_info const info = inspect(set);
    tamis_free(set);
    *ret_predicted = info.plan.saturation;
    return info.facts.saturated != 0;
}

static void saturation_is_as_likely_as_stated(void **state) {
    const life *const lived = *state;
    double            predicted = 0, stuck = 0;
    for (uint64_t seed = 0; seed < n_sets; seed++) stuck += is_stuck_after(lived, seed, &predicted);
    double const measured = stuck / (double)n_sets;
    double const sigma = sqrt(predicted * (1 - predicted) / (double)n_sets) + 1e-9;
    double const high = (1 + lived->slack) * predicted, low = (0.9 - lived->slack / 2) * predicted;
    if (measured > high + 4 * sigma || measured < low - 4 * sigma) {
        fail_msg("%s: %.4f +- %.4f, predicted %.4f", lived->geometry, measured, sigma, predicted);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) n_sets = strtoull(argv[1], NULL, 10);
    static life lives[] = {
        { "counters=400,hashes=10,counter_bits=2", 1, 480, 0 },
        { "counters=1000,hashes=10,counter_bits=2", 2, 800, 0 },
        { "counters=2000,hashes=5,counter_bits=3", 100, 1000, 0 },
        { "counters=9000,hashes=6,counter_bits=3", 400, 1600, 0 },
        { "counters=2040,hashes=5,counter_bits=3,blocked=1", 100, 1000, 0 },
        { "counters=1280,hashes=9,counter_bits=2,blocked=1", 2, 600, 0 },
        { "counters=2000,hashes=2,counter_bits=2,minimal=1", 600, 600, .2 },
        { "counters=3000,hashes=3,counter_bits=2,minimal=1", 1300, 1300, .2 },
        { "counters=5120,hashes=2,counter_bits=2,blocked=1,minimal=1", 1400, 1400, .2 },
    };
    struct CMUnitTest tests[COUNT(lives)];
    for (size_t i = 0; i < COUNT(lives); i++) {
        tests[i] = (struct CMUnitTest){ lives[i].geometry, saturation_is_as_likely_as_stated, NULL,
                                        NULL, &lives[i] };
    }
    return cmocka_run_group_tests_name("saturation", tests, NULL, NULL);
}
