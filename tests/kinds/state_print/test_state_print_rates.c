/* test_state_print_rates.c - how often an answer of a state_print is wrong or "don't know",
 * compared with section 3.4: an absent key matches load x d x 2^-f prints on average, never more
 * than the union bound d x h x 2^-f; a present key is unknown as often as stated.
 *
 * usage: test_state_print_rates [TABLES OF EACH]
 */

#include "make.h"

#define TABLES 3 /* d */
#define BUCKETS 2048
#define CELLS 7 /* h */
#define VALUES 8
#define QUERIES 200000

static unsigned n_tables = 4;

/* What was seen in all tables of a geometry, and what the formulas expect. */
typedef struct seen {
    uint64_t values, unknown, asked;  /* of keys that are not there */
    uint64_t wrong, present, refused; /* of keys that are; those that were refused are not */
    uint64_t present_unknown;
    double   expected, expected_unknown;
} seen;

static tamis_states *make(uint64_t n, unsigned print_bits, bool is_permuted, uint64_t seed) {
    tamis_seed const  fixed = { seed, print_bits };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    char              geometry[120];
    (void)snprintf(geometry, sizeof geometry,
                   "tables=%u,buckets=%u,cells=%u,print_bits=%u,permuted=%d,side=64", TABLES,
                   BUCKETS, CELLS, print_bits, is_permuted);
    spec.capacity = spec.lifetime = n; /* insertions only */
    spec.values = VALUES;
    spec.kind = "state_print";
    spec.geometry = geometry;
    spec.seed = &fixed;
    return make_states_from(&spec);
}

static void ask_present(const tamis_states *states, const bool *is_taken, uint64_t n,
                        seen *counts) {
    for (uint64_t i = 0; i < n; i++) {
        uint32_t           value = 0;
        tamis_status const status = tamis_states_get_id(states, i, &value);
        if (!is_taken[i]) continue;
        assert_int_not_equal(status, TAMIS_ERR_ABSENT);
        counts->present++;
        counts->present_unknown += status == TAMIS_ERR_UNKNOWN;
        counts->wrong += status == TAMIS_OK && value != i % VALUES;
    }
}

static void ask_absent(const tamis_states *states, seen *counts) {
    for (uint64_t i = 0; i < QUERIES; i++) {
        uint32_t           value;
        tamis_status const status = tamis_states_get_id(states, (UINT64_C(1) << 40) + i, &value);
        counts->values += status == TAMIS_OK;
        counts->unknown += status == TAMIS_ERR_UNKNOWN;
    }
    counts->asked += QUERIES;
}

/* A print is never 0, so there is one print less. Keys whose print is there already are not
 * stored. */
static void fill_and_ask(double load, unsigned print_bits, bool is_permuted, uint64_t seed,
                         seen *counts) {
    uint64_t const      n = (uint64_t)(load * TABLES * BUCKETS);
    double const        prints = ldexp(1, (int)print_bits) - 1;
    tamis_states *const states = make(n, print_bits, is_permuted, seed);
    bool *const         is_taken = calloc(n, sizeof *is_taken);
    tamis_states_info   info;
    assert_non_null(is_taken);
    for (uint64_t i = 0; i < n; i++) {
        is_taken[i] = tamis_states_put_id(states, i, (uint32_t)(i % VALUES)) == TAMIS_OK;
        counts->refused += !is_taken[i];
    }
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    counts->expected += (double)(info.keys - info.side_keys) / BUCKETS / prints * QUERIES;
    counts->expected_unknown += info.plan.unknown * (double)n;
    ask_present(states, is_taken, n, counts);
    ask_absent(states, counts);
    free(is_taken);
    tamis_states_free(states);
}

static double sigmas(double counted, double expected) {
    return (counted - expected) / sqrt(expected + 1);
}

/* Only insertions: no value is ever wrong, since a key that meets another value is refused. */
static void expect_rates(double load, unsigned print_bits, bool is_permuted) {
    seen counts = { 0 };
    for (unsigned i = 0; i < n_tables; i++) fill_and_ask(load, print_bits, is_permuted, i, &counts);
    double const matches = (double)(counts.values + 2 * counts.unknown), bound = TABLES * CELLS;
    double const off = sigmas(matches, counts.expected);
    double const off_unknown = sigmas((double)counts.present_unknown, counts.expected_unknown);
    print_message("# %s, load %g, f = %u: %.6f have a value, %.6f expected (%.1f sigma); of those "
                  "that are there %.6f are unknown, %.6f stated (%.1f sigma)\n",
                  is_permuted ? "permuted" : "plain", load, print_bits,
                  matches / (double)counts.asked, counts.expected / (double)counts.asked, off,
                  (double)counts.present_unknown / (double)counts.present,
                  counts.expected_unknown / (double)(counts.present + counts.refused), off_unknown);
    assert_true(fabs(off) < 4);
    assert_true(matches < bound / ldexp(1, (int)print_bits) * (double)counts.asked);
    assert_true(off_unknown < 4);
    assert_true(is_permuted == (counts.present_unknown == 0));
    assert_int_equal(counts.wrong, 0);
}

static void wrong_answers_are_those_of_prints_that_meet(void **state) {
    static const double   loads[] = { 2, 3, 4 };
    static const unsigned prints[] = { 9, 12, 15 };
    (void)state;
    for (unsigned i = 0; i < COUNT(loads) * COUNT(prints) * 2; i++) {
        expect_rates(loads[i % 3], prints[i / 3 % 3], i / 9 == 1);
    }
}

/* What is stated for a plain table holds after all keys were moved: then both of two keys with the
 * same print are unknown, and before that only the first of them. The measured share is a little
 * lower (84% at a load of 2 keys in a bucket, 90% at 4): a bucket that the first key passed by is
 * rather full, and the second key passes it by, too. */
static void expect_unknown(const char *when, uint64_t unknown, double stated) {
    double const counted = (double)unknown;
    print_message("# plain, %s: %.0f keys are unknown, %.0f stated\n", when, counted, stated);
    assert_true(sigmas(counted, stated) < 4 && sigmas(counted, 0.75 * stated) > -4);
}

static void a_plain_table_has_the_unknown_keys_that_are_stated(void **state) {
    static const double   loads[] = { 2, 3, 4 };
    static const unsigned prints[] = { 9, 11, 13 };
    (void)state;
    for (unsigned i = 0; i < COUNT(loads) * COUNT(prints); i++) {
        uint64_t const n = (uint64_t)(loads[i % 3] * TABLES * BUCKETS);
        uint64_t       at_first = 0, moved = 0;
        double         stated = 0;
        for (unsigned seed = 0; seed < n_tables; seed++) {
            tamis_states *const states = make(n, prints[i / 3], false, 50 + seed);
            bool *const         is_taken = calloc(n, sizeof *is_taken);
            seen                first = { 0 }, second = { 0 };
            tamis_states_info   info;
            assert_non_null(is_taken);
            for (uint64_t id = 0; id < n; id++)
                is_taken[id] = tamis_states_put_id(states, id, (uint32_t)(id % VALUES)) == TAMIS_OK;
            assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
            ask_present(states, is_taken, n, &first);
            for (uint64_t id = 0; id < n; id++) {
                if (is_taken[id]) (void)!tamis_states_move_id(states, id, TAMIS_ANY_VALUE, 0);
            }
            ask_present(states, is_taken, n, &second);
            at_first += first.present_unknown;
            moved += second.present_unknown;
            stated += info.plan.unknown * (double)first.present;
            free(is_taken);
            tamis_states_free(states);
        }
        expect_unknown("before a move", at_first, stated / 2);
        expect_unknown("all moved", moved, stated);
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_answers_are_those_of_prints_that_meet),
        cmocka_unit_test(a_plain_table_has_the_unknown_keys_that_are_stated),
    };
    if (argc > 1) n_tables = (unsigned)strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("state_print_rates", tests, NULL, NULL);
}
