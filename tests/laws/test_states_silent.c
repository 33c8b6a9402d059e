/* test_states_silent.c - keys that are not dropped but time out, in the kinds that store
 * fingerprints: how many of them a table has room for.
 *
 * A key that is no longer touched stays for a timeout T, and until the sweep visits it. With `most`
 * passes in a timeout that is at most T + T / most (two timeouts with 2 timer bits). A bucket that
 * will be swept next has the keys of all that time, one that was just swept only those of T. So
 * loads are less even than in a table from which random keys are removed, and the number of keys at
 * one time does not tell how full the fullest buckets are. The number of keys that came within the
 * longest stay does: for these the capacity must be planned (docs/states.md), and then no put is
 * refused.
 */
#include "make.h"

#define TIMEOUT 64
#define TURNS 24 /* timeouts; a table is as full as it gets after two */
#define CAPACITY 20000

typedef struct outcome {
    uint64_t puts, refused, most_keys;
} outcome;

/* `per_tick` keys come in each tick, but never so that there are more than `limit`. */
static outcome live(const char *kind, unsigned timer_bits, double per_tick, uint64_t limit) {
    tamis_seed const  fixed = { timer_bits, 11 };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    outcome           seen = { 0, 0, 0 };
    double            owed = 0;
    spec.capacity = CAPACITY;
    spec.values = 8;
    spec.fpr = 0.001;
    spec.timeout = TIMEOUT;
    spec.timer_bits = timer_bits;
    spec.kind = kind;
    spec.seed = &fixed;
    tamis_states *const states = make_states_from(&spec);
    for (unsigned tick = 0; tick < TURNS * TIMEOUT; tick++) {
        for (owed += per_tick; owed >= 1; owed--) {
            if (count_keys_of_states(states) >= limit) continue;
            uint64_t const     id = seen.puts++;
            tamis_status const status = tamis_states_put_id(states, id, (uint32_t)(id % 8));
            seen.refused += status == TAMIS_ERR_FULL;
        }
        if (count_keys_of_states(states) > seen.most_keys)
            seen.most_keys = count_keys_of_states(states);
        assert_int_equal(tamis_states_tick(states, 1, NULL, NULL), TAMIS_OK);
    }
    tamis_states_free(states);
    return seen;
}

static const char *const kinds[] = { "line", "rank", "state_print" };

static void capacity_for_the_longest_stay_is_enough(void **state) {
    (void)state;
    for (size_t i = 0; i < 4 * COUNT(kinds); i++) {
        const char *const kind = kinds[i / 4];
        unsigned const    timer_bits = 2 + (unsigned)(i % 4);
        double const      passes = (double)((1u << (timer_bits - 1)) - 1);
        double const      longest = TIMEOUT * (1 + 1 / passes);
        outcome const     seen = live(kind, timer_bits, CAPACITY / longest, UINT64_MAX);
        print_message("# %s, %u timer bits: at most %.3f of the capacity\n", kind, timer_bits,
                      (double)seen.most_keys / CAPACITY);
        assert_int_equal(seen.refused, 0);
        assert_true(seen.most_keys <= CAPACITY && seen.puts > 200000);
        assert_true((double)seen.most_keys > 0.7 * CAPACITY); /* and most of the room is used */
    }
}

/* Why this is needed: if the keys at one time are nearly as many as the capacity, puts are
 * refused. */
static void capacity_for_the_keys_at_one_time_is_not(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        uint64_t const limit = CAPACITY * 98 / 100;
        outcome const  seen = live(kinds[i], 2, CAPACITY / (1.5 * TIMEOUT), limit);
        print_message("# %s: %llu of %llu puts refused below 98%% of the capacity\n", kinds[i],
                      (unsigned long long)seen.refused, (unsigned long long)seen.puts);
        assert_true(seen.most_keys <= limit && seen.refused > 100);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacity_for_the_longest_stay_is_enough),
        cmocka_unit_test(capacity_for_the_keys_at_one_time_is_not),
    };
    return cmocka_run_group_tests_name("states_silent", tests, NULL, NULL);
}
