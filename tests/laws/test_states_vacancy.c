/* test_states_vacancy.c - large tables with few keys: the sweep skips empty units, and nothing else
 * changes.
 *
 * Two tables get the same operations. In one of them the bits of core/vacancy.h are reset before
 * every tick, so its sweep visits all units. The bodies, the counts of keys that timed out and the
 * place of the hand must be equal at any time.
 */
#include "dice.h"
#include "handle.h"
#include "make.h"

#define TIMEOUT 60
#define TICKS 600

static tamis_states *make_large(const char *kind) {
    static const tamis_seed fixed = { 5, 23 };
    static const uint64_t   timeouts[4] = { 4, 20, 40, 60 };
    tamis_states_spec       spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = 2000000;
    spec.values = 4;
    spec.fpr = 0.001;
    spec.timeout = TIMEOUT;
    spec.timeouts = timeouts;
    spec.timer_bits = 5;
    spec.kind = kind;
    spec.seed = &fixed;
    return make_states_from(&spec);
}

static uint64_t used_blocks(const tamis_states *states) {
    const tamis_table *const table = &states->set.table;
    uint64_t const           units = table->sweep.units;
    uint64_t                 n = 0;
    for (uint64_t unit = vacancy_skip(table->used_parts, 0, units); unit < units; n++)
        unit = vacancy_skip(table->used_parts, unit + VACANCY_UNITS, units);
    return n;
}

static void change(tamis_states *states, uint64_t id, uint64_t choice) {
    tamis_status status = TAMIS_OK;
    if (choice % 4 == 0) status = tamis_states_drop_id(states, id, TAMIS_ANY_VALUE);
    if (choice % 4 == 1) status = tamis_states_touch_id(states, id);
    if (choice % 4 >= 2) status = tamis_states_set_id(states, id, (uint32_t)(choice >> 8) % 4);
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_ABSENT);
}

static void assert_same_life(const tamis_states *a, const tamis_states *b) {
    const tamis_table *const one = &a->set.table, *const other = &b->set.table;
    assert_int_equal(one->keys, other->keys);
    assert_int_equal(one->aged, other->aged);
    assert_int_equal(one->sweep.done, other->sweep.done);
    assert_int_equal(one->sweep.due, other->sweep.due);
    assert_memory_equal(one->body, other->body, (size_t)one->body_bytes);
}

/* Do all work that is due, so that the limit of one call makes no difference. */
static void pass(tamis_states *states, uint64_t ticks, bool is_forgetful, uint64_t *aged) {
    uint64_t backlog;
    do {
        if (is_forgetful)
            vacancy_mark_all_used(states->set.table.used_parts, states->set.table.sweep.units);
        assert_int_equal(tamis_states_tick(states, ticks, aged, &backlog), TAMIS_OK);
        ticks = 0;
    } while (backlog != 0);
}

static void live_twice(const char *kind) {
    tamis_states *const skips = make_large(kind), *const visits = make_large(kind);
    uint64_t aged[2][4] = { { 0 } };
    dice     d = { 77 };
    for (unsigned tick = 0; tick < TICKS; tick++) {
        bool const is_busy = tick % 200 < 40; /* and silent for longer than any timeout */
        for (unsigned i = 0; is_busy && i < 30; i++) {
            uint64_t const id = dice_roll(&d) % 500, choice = dice_roll(&d);
            change(skips, id, choice);
            change(visits, id, choice);
        }
        pass(skips, 1, false, aged[0]);
        pass(visits, 1, true, aged[1]);
        if (tick % 20 == 0) assert_same_life(skips, visits);
        if (tick % 200 == 39) assert_in_range(used_blocks(skips), 1, 500);
        if (tick % 200 == 199) assert_int_equal(used_blocks(skips), 0);
    }
    assert_memory_equal(aged[0], aged[1], sizeof aged[0]);
    assert_true(aged[0][0] != 0 && aged[0][3] != 0);
    tamis_states_free(skips);
    tamis_states_free(visits);
}

static void skipping_empty_units_changes_nothing(void **state) {
    (void)state;
    live_twice("line");
    live_twice("rank");
}

/* Operations that replace a body reset the bits. A key that is merged, copied or read from a file
 * times out, too. */
static void keys_that_come_in_other_ways_time_out(void **state) {
    (void)state;
    tamis_states *const into = make_large("line"), *const from = make_large("line");
    tamis_states *copy;
    for (unsigned i = 0; i < 2 * TIMEOUT; i++) pass(into, 1, false, NULL);
    assert_int_equal(used_blocks(into), 0);
    for (uint64_t id = 0; id < 1000; id++)
        assert_int_equal(tamis_states_put_id(from, id, 3), TAMIS_OK);
    assert_int_equal(tamis_states_merge(into, from), TAMIS_OK);
    assert_int_equal(tamis_states_copy(into, &copy), TAMIS_OK);
    assert_int_equal(into->set.table.keys, 1000);
    for (unsigned i = 0; i < 2 * TIMEOUT; i++) {
        pass(into, 1, false, NULL);
        pass(copy, 1, false, NULL);
    }
    assert_int_equal(into->set.table.keys, 0);
    assert_int_equal(copy->set.table.keys, 0);
    tamis_states_free(into);
    tamis_states_free(from);
    tamis_states_free(copy);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipping_empty_units_changes_nothing),
        cmocka_unit_test(keys_that_come_in_other_ways_time_out),
    };
    return cmocka_run_group_tests_name("states_vacancy", tests, NULL, NULL);
}
