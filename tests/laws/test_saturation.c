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
#include "overload.h"

static uint64_t n_sets = 1500;

typedef struct life {
    const char *geometry;
    uint64_t    capacity, lifetime;
    double      slack; /* what the prediction may be too small by */
} life;

static void saturation_is_as_likely_as_stated(void **state) {
    const life *const lived = *state;
    subject const     variant = { .kind = "counting",
                                  .geometry = lived->geometry,
                                  .capacity = lived->capacity,
                                  .lifetime = lived->lifetime };
    check_saturation(&variant, n_sets, 0.9 - lived->slack / 2, 1 + lived->slack);
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
