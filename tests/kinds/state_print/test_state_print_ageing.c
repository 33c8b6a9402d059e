/* test_state_print_ageing.c - how full the buckets become when keys are no longer touched and the
 * sweep removes them: no fuller than the law of churn says for the capacity.
 *
 * New keys go to the least loaded of their buckets, which are those that were just swept, and there
 * they stay longest. So there are up to a fifth more keys than if new keys went to random buckets.
 * The plan allows for it where the capacity counts a key for the longest time that it may stay
 * (tests/laws/test_states_silent.c): a key counts for T + T / passes, whenever it goes.
 */
#include "handle.h"
#include "kinds/state_print/size.h"
#include "kinds/state_print/state_print.h"
#include "make.h"

#define TIMEOUT 64
#define FIRST 4 /* timeouts before anything is counted */
#define TURNS 16
#define CAPACITY 20000

/* How many buckets of a subtable have each number of keys, in all samples. */
typedef struct loads {
    double with[DLEFT_MAX_TABLES][DLEFT_MAX_CELLS + 1];
    double samples, keys;
} loads;

static void count_loads(const tamis_table *table, loads *sum) {
    const uint64_t *const g = table->geometry;
    for (uint64_t i = 0; i < g[STATE_PRINT_TABLES] * g[STATE_PRINT_BUCKETS]; i++) {
        sum->with[i / g[STATE_PRINT_BUCKETS]][tagged_used(state_print_cells(table), i)]++;
    }
    sum->samples++;
    sum->keys += (double)table->keys;
}

/* In the longest time that a key may stay, as many keys come as the capacity is. */
static void live(tamis_states *states, double longest, loads *sum) {
    double   owed = 0;
    uint64_t next = 0;
    for (unsigned tick = 0; tick < TURNS * TIMEOUT; tick++) {
        for (owed += CAPACITY / longest; owed >= 1; owed--) {
            tamis_status const status = tamis_states_put_id(states, next, (uint32_t)(next % 8));
            assert_true(status == TAMIS_OK || status == TAMIS_ERR_CONFLICT);
            next++;
        }
        assert_int_equal(tamis_states_tick(states, 1, NULL, NULL), TAMIS_OK);
        if (tick >= FIRST * TIMEOUT && tick % 8 == 0) count_loads(&states->set.table, sum);
    }
}

/* Samples are taken several times in a round, so they are not independent: all samples of a round
 * count as one. */
static void expect_law(const tamis_table *table, const loads *sum) {
    const uint64_t *const g = table->geometry;
    fluid                 law;
    tamis_dleft_law(g, true, CAPACITY, &law);
    for (uint64_t i = 0; i < g[STATE_PRINT_TABLES]; i++) {
        double at_least = 0;
        for (uint64_t j = g[STATE_PRINT_CELLS]; j > 0; j--) {
            double const buckets = (double)g[STATE_PRINT_BUCKETS], x = law.x[i][j];
            at_least += sum->with[i][j] / sum->samples;
            if (at_least > buckets * x + 4 * sqrt(buckets * x) + 1)
                fail_msg("subtable %d: %.1f buckets with %d keys, the law says %.1f", (int)i,
                         at_least, (int)j, buckets * x);
        }
    }
}

static void no_bucket_is_fuller_than_the_plan_says(void **state) {
    static const char *const geometries[] = { NULL, "tables=3,cells=6", "tables=4,cells=10" };
    (void)state;
    for (unsigned i = 0; i < 4 * COUNT(geometries); i++) {
        unsigned const    timer_bits = 2 + i % 4;
        double const      longest = TIMEOUT * (1 + 1.0 / ((1u << (timer_bits - 1)) - 1));
        tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
        loads             sum = { .samples = 0 };
        tamis_seed const  seed = { i, 5 };
        spec.capacity = CAPACITY;
        spec.values = 8;
        spec.fpr = 0.001;
        spec.overflow = i / 4 == 0 ? 0 : 0.01;
        spec.timeout = TIMEOUT;
        spec.timer_bits = timer_bits;
        spec.kind = "state_print";
        spec.geometry = geometries[i / 4];
        spec.seed = &seed;
        tamis_states *const states = make_states_from(&spec);
        live(states, longest, &sum);
        print_message("# %s, %u timer bits: %.3f of the capacity on average\n",
                      geometries[i / 4] != NULL ? geometries[i / 4] : "as planned", timer_bits,
                      sum.keys / sum.samples / CAPACITY);
        expect_law(&states->set.table, &sum);
        tamis_states_free(states);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bucket_is_fuller_than_the_plan_says),
    };
    return cmocka_run_group_tests_name("state_print_ageing", tests, NULL, NULL);
}
