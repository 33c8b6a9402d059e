/* test_writers.c - a writer that calls functions of the set or the table that is being written:
 * calls that would change it are refused with TAMIS_ERR_REENTRY, calls that only read it work, and
 * the same bytes are written as without these calls.
 */
#include "make.h"

#define REENTRY(call) assert_int_equal(call, TAMIS_ERR_REENTRY)
#define KEYS 300
#define ROOM 200000

/* What was written, and the set or table to call. */
typedef struct paper {
    tamis_set    *set, *other;
    tamis_states *states, *other_states;
    size_t        n, calls;
    uint8_t       bytes[ROOM];
} paper;

static bool take(void *context, const void *bytes, size_t n) {
    paper *const to = context;
    assert_true(n <= ROOM - to->n);
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
    to->calls++;
    return true;
}

static bool meddle_with_set(void *context, const void *bytes, size_t n) {
    paper *const   to = context;
    uint64_t const ids[2] = { 5, 1000 };
    tamis_facts    facts;
    bool           has = false;
    REENTRY(tamis_add(to->set, "a", 1));
    REENTRY(tamis_add_id(to->set, 2000));
    REENTRY(tamis_add_id_batch(to->set, ids, 2, NULL));
    REENTRY(tamis_remove_id(to->set, 5));
    REENTRY(tamis_merge(to->set, to->other));
    REENTRY(tamis_clear(to->set));
    tamis_free(to->set); /* does nothing */
    has = tamis_has_id(to->set, 5);
    assert_true(has);
    assert_int_equal(tamis_get_facts(to->set, &facts), TAMIS_OK);
    return take(context, bytes, n);
}

static bool meddle_with_states(void *context, const void *bytes, size_t n) {
    paper *const             to = context;
    uint64_t const           ids[2] = { 5, 1000 };
    uint32_t const           values[2] = { 1, 2 };
    tamis_states_batch const batch = { .ids = ids, .n = 2, .values = values };
    uint32_t                 value;
    REENTRY(tamis_states_put_id(to->states, 1000, 1));
    REENTRY(tamis_states_move_id(to->states, 5, TAMIS_ANY_VALUE, 1));
    REENTRY(tamis_states_drop(to->states, "a", 1, TAMIS_ANY_VALUE));
    REENTRY(tamis_states_put_batch(to->states, &batch, NULL));
    REENTRY(tamis_states_tick(to->states, 100, NULL, NULL));
    REENTRY(tamis_states_merge(to->states, to->other_states));
    REENTRY(tamis_states_clear(to->states));
    tamis_states_free(to->states); /* does nothing */
    assert_int_equal(tamis_states_get_id(to->states, 5, &value), TAMIS_OK);
    return take(context, bytes, n);
}

static void expect_same(const paper *alone, const paper *meddled) {
    assert_true(alone->n == meddled->n && alone->calls == meddled->calls && alone->calls >= 3);
    assert_memory_equal(alone->bytes, meddled->bytes, alone->n);
}

/* While it is saved and, if the kind can be sent, while it is sent. */
static void a_writer_cannot_change_its_set(void **state) {
    (void)state;
    paper *const alone = calloc(1, sizeof *alone), *const meddled = calloc(1, sizeof *meddled);
    assert_true(alone != NULL && meddled != NULL);
    for (size_t kind = 0; tamis_kind_name(kind) != NULL; kind++) {
        tamis_spec    spec = TAMIS_SPEC_INIT;
        tamis_problem problem;
        spec.capacity = KEYS;
        spec.fpr = 0.001;
        spec.kind = tamis_kind_name(kind);
        spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_MERGE;
        if (tamis_create(&spec, &meddled->set, &problem) != TAMIS_OK) continue; /* it cannot */
        spec.like = meddled->set;
        meddled->other = make_set_from(&spec);
        for (uint64_t i = 0; i < KEYS; i++)
            assert_int_equal(tamis_add_id(meddled->set, i), TAMIS_OK);
        for (unsigned is_sent = 0; is_sent < 2; is_sent++) {
            alone->n = alone->calls = meddled->n = meddled->calls = 0;
            if (is_sent == 0) {
                assert_int_equal(tamis_write(meddled->set, take, alone), TAMIS_OK);
                assert_int_equal(tamis_write(meddled->set, meddle_with_set, meddled), TAMIS_OK);
            } else {
                tamis_status const status = tamis_send(meddled->set, 0, take, alone);
                assert_int_equal(tamis_send(meddled->set, 0, meddle_with_set, meddled), status);
                if (status == TAMIS_ERR_CANNOT) continue;
            }
            expect_same(alone, meddled);
        }
        assert_int_equal(tamis_add_id(meddled->set, 1), TAMIS_OK); /* as usual again */
        tamis_free(meddled->set);
        tamis_free(meddled->other);
    }
    free(alone);
    free(meddled);
}

static void a_writer_cannot_change_its_states(void **state) {
    (void)state;
    paper *const alone = calloc(1, sizeof *alone), *const meddled = calloc(1, sizeof *meddled);
    assert_true(alone != NULL && meddled != NULL);
    for (size_t kind = 0; tamis_states_kind_name(kind) != NULL; kind++) {
        tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
        spec.capacity = KEYS;
        spec.values = 5;
        spec.fpr = 1e-6;
        spec.timeout = 20;
        spec.kind = tamis_states_kind_name(kind);
        if (strcmp(spec.kind, "state_direct") == 0) spec.geometry = "counter_bits=4";
        meddled->states = make_states_from(&spec);
        spec.like = meddled->states;
        meddled->other_states = make_states_from(&spec);
        alone->n = alone->calls = meddled->n = meddled->calls = 0;
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(tamis_states_put_id(meddled->states, i, 2), TAMIS_OK);
        assert_int_equal(tamis_states_write(meddled->states, take, alone), TAMIS_OK);
        assert_int_equal(tamis_states_write(meddled->states, meddle_with_states, meddled),
                         TAMIS_OK);
        expect_same(alone, meddled);
        assert_int_equal(tamis_states_put_id(meddled->states, 5000, 1), TAMIS_OK);
        tamis_states_free(meddled->states);
        tamis_states_free(meddled->other_states);
    }
    free(alone);
    free(meddled);
}

/* After a writer has stopped half-way, the set can be changed as before. */
static bool stop(void *context, const void *bytes, size_t n) {
    (void)bytes;
    (void)n;
    return ++*(unsigned *)context < 2;
}

static void a_writer_that_stops_locks_nothing(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT;
    unsigned   calls = 0;
    spec.capacity = KEYS;
    spec.fpr = 0.001;
    tamis_set *const set = make_set_from(&spec);
    assert_int_equal(tamis_write(set, stop, &calls), TAMIS_ERR_IO);
    assert_int_equal(tamis_add_id(set, 1), TAMIS_OK);
    tamis_free(set);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_writer_cannot_change_its_set),
        cmocka_unit_test(a_writer_cannot_change_its_states),
        cmocka_unit_test(a_writer_that_stops_locks_nothing),
    };
    return cmocka_run_group_tests_name("writers", tests, NULL, NULL);
}
