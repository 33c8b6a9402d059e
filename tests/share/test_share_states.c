/* test_share_states.c - states that many threads share: one thread sees an ordinary table, and many
 * threads lose no state; time passes while they work. */
#include "buffer.h"
#include "dice.h"
#include "ledger.h"
#include "make.h"
#include "share.h"

#include <pthread.h>
#include <tamis/states.h>
#include <unistd.h>

typedef struct variant {
    const char *name, *kind;
    uint64_t    capacity, grow_to, timeout;
} variant;

static const variant variants[] = {
    { "line", "line", 8000, 0, 0 },
    { "line, timers", "line", 8000, 0, 40 },
    { "line, growing", "line", 500, 8000, 0 },
    { "line, growing, timers", "line", 500, 8000, 40 },
    { "rank, timers", "rank", 8000, 0, 40 },
    { "rank, growing", "rank", 500, 8000, 0 },
};

enum { VALUES = 6 };

static tamis_states *make_variant(const variant *one, bool is_shared) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_seed const  seed = { 3, 4 };
    tamis_states     *states = NULL;
    tamis_problem     problem = { .text = "" };
    spec.capacity = one->capacity;
    spec.grow_to = one->grow_to;
    spec.values = VALUES;
    spec.fpr = 1e-6;
    spec.kind = one->kind;
    spec.timeout = one->timeout;
    spec.seed = &seed;
    spec.shared = is_shared;
    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK)
        fail_msg("%s: %s", one->name, problem.text);
    return states;
}

static uint64_t most_keys(const variant *one) {
    return one->grow_to != 0 ? one->grow_to : one->capacity;
}

/* ------------------------------------------------------------------ one thread */

static tamis_step decide(void *context, size_t i, tamis_status was, uint32_t value,
                         uint32_t *ret_to) {
    (void)context;
    (void)i;
    *ret_to = was == TAMIS_OK ? (value + 1) % VALUES : 0;
    return value == 4 ? TAMIS_STEP_DROP : TAMIS_STEP_SET;
}

static tamis_status step_one(tamis_states *states, uint64_t id) {
    tamis_status       status;
    tamis_states_batch batch = { .ids = &id, .n = 1, .ret_statuses = &status };
    assert_int_equal(tamis_states_step_batch(states, &batch, decide, NULL, NULL), TAMIS_OK);
    return status;
}

static void do_both(tamis_states *a, tamis_states *b, dice *die, const variant *one) {
    uint64_t const id = dice_below(die, most_keys(one) / 2);
    uint32_t const value = (uint32_t)dice_below(die, VALUES);
    uint32_t       got[2] = { 0, 0 };
    switch (dice_below(die, 8)) {
    case 0:
        assert_int_equal(tamis_states_put_id(a, id, value), tamis_states_put_id(b, id, value));
        break;
    case 1:
        assert_int_equal(tamis_states_set_id(a, id, value), tamis_states_set_id(b, id, value));
        break;
    case 2:
        assert_int_equal(tamis_states_move_id(a, id, TAMIS_ANY_VALUE, value),
                         tamis_states_move_id(b, id, TAMIS_ANY_VALUE, value));
        break;
    case 3: assert_int_equal(tamis_states_touch_id(a, id), tamis_states_touch_id(b, id)); break;
    case 4:
        assert_int_equal(tamis_states_drop_id(a, id, TAMIS_ANY_VALUE),
                         tamis_states_drop_id(b, id, TAMIS_ANY_VALUE));
        break;
    case 5: assert_int_equal(step_one(a, id), step_one(b, id)); break;
    default:
        assert_int_equal(tamis_states_get_id(a, id, &got[0]), tamis_states_get_id(b, id, &got[1]));
        assert_int_equal(got[0], got[1]);
        break;
    }
}

static void assert_same_tally(const tamis_states *a, const tamis_states *b) {
    uint64_t of_a[VALUES], of_b[VALUES];
    assert_int_equal(tamis_states_tally(a, of_a), TAMIS_OK);
    assert_int_equal(tamis_states_tally(b, of_b), TAMIS_OK);
    assert_memory_equal(of_a, of_b, sizeof of_a);
}

/* Timers of two tables are equal while their sizes are: growing tables begin their steps at
 * different moments. */
static void one_thread_sees_an_ordinary_table(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        const variant *const one = &variants[v];
        tamis_states *const shared = make_variant(one, true), *const plain =
                                                                  make_variant(one, false);
        bool const ticks = one->timeout != 0 && one->grow_to == 0;
        dice       die = { 5 };
        for (unsigned i = 0; i < 60000; i++) {
            do_both(shared, plain, &die, one);
            if (!ticks || i % 200 != 0) continue;
            assert_int_equal(tamis_states_tick(shared, 1, NULL, NULL),
                             tamis_states_tick(plain, 1, NULL, NULL));
        }
        expect_valid_states(shared);
        assert_same_tally(shared, plain);
        tamis_states_free(shared);
        tamis_states_free(plain);
    }
}

/* ------------------------------------------------------------------ many threads */

enum { WRITERS = 3, ROUNDS = 6 };

typedef struct crew {
    tamis_states  *states;
    const variant *one;
    unsigned       number;
    bool          *is_over;
    uint64_t       missed;
} crew;

static uint64_t key_of(unsigned writer, uint64_t i) {
    return UINT64_C(1) << 40 | (uint64_t)writer << 32 | i;
}

/* Each writer has keys of its own, and knows their values. */
static void *write_states(void *context) {
    crew *const    my = context;
    uint64_t const n = most_keys(my->one) / 8;
    uint32_t       value;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < n; i++) {
            uint64_t const key = key_of(my->number, i);
            uint32_t const to = (round + (uint32_t)i) % VALUES;
            my->missed += tamis_states_set_id(my->states, key, to) != TAMIS_OK;
            my->missed += tamis_states_get_id(my->states, key, &value) != TAMIS_OK || value != to;
            my->missed += tamis_states_move_id(my->states, key, to, 5 - to) != TAMIS_OK;
            my->missed +=
                tamis_states_get_id(my->states, key, &value) != TAMIS_OK || value != 5 - to;
        }
        for (uint64_t i = 0; i < n && round + 1 < ROUNDS; i += 2)
            my->missed += tamis_states_drop_id(my->states, key_of(my->number, i),
                                               TAMIS_ANY_VALUE) != TAMIS_OK;
    }
    return NULL;
}

/* Time passes, but not so much that a key could be silent for a whole timeout: the stable keys are
 * touched in between. */
static void *pass_time(void *context) {
    crew *const my = context;
    uint64_t    counts[VALUES];
    while (!__atomic_load_n(my->is_over, __ATOMIC_RELAXED)) {
        for (uint64_t i = 0; i < most_keys(my->one) / 8; i++)
            my->missed += tamis_states_touch_id(my->states, i) != TAMIS_OK;
        my->missed += tamis_states_tally(my->states, counts) != TAMIS_OK;
        my->missed += !tamis_states_validate(my->states, NULL);
    }
    return NULL;
}

static void *read_states(void *context) {
    crew *const    my = context;
    dice           die = { 17 };
    uint64_t const n = most_keys(my->one) / 8;
    uint32_t       value;
    while (!__atomic_load_n(my->is_over, __ATOMIC_RELAXED)) {
        uint64_t const id = dice_below(&die, n);
        my->missed +=
            tamis_states_get_id(my->states, id, &value) != TAMIS_OK || value != id % VALUES;
    }
    return NULL;
}

static void run_crews(const variant *one, tamis_states *states) {
    bool      is_over = false;
    pthread_t thread[WRITERS + 2];
    crew      crews[WRITERS + 2];
    for (unsigned i = 0; i < WRITERS + 2; i++) {
        crews[i] = (crew){ states, one, i, &is_over, 0 };
        void *(*const work)(void *) = i < WRITERS    ? write_states
                                      : i == WRITERS ? read_states
                                                     : pass_time;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &crews[i]), 0);
    }
    for (unsigned i = 0; i < WRITERS + 2; i++) {
        if (i == WRITERS) __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
        (void)pthread_join(thread[i], NULL);
        if (crews[i].missed != 0)
            fail_msg("%s: crew %u missed %llu", one->name, i, (unsigned long long)crews[i].missed);
    }
}

/* Half of the timeout passes while threads work, and no key leaves; then the whole timeout passes,
 * and all keys leave. */
static void time_goes_by(tamis_states *states, uint64_t timeout) {
    tamis_states_facts facts;
    uint64_t           backlog = 1;
    for (uint64_t i = 0; i < 2 * timeout + 2 || backlog != 0; i++)
        assert_int_equal(tamis_states_tick(states, 1, NULL, &backlog), TAMIS_OK);
    assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
    assert_int_equal(facts.keys, 0);
    expect_valid_states(states);
}

static void threads_lose_no_state(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        const variant *const one = &variants[v];
        tamis_states *const  states = make_variant(one, true);
        uint64_t const       n = most_keys(one) / 8;
        tamis_states_facts   facts;
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(tamis_states_put_id(states, i, (uint32_t)(i % VALUES)), TAMIS_OK);
        for (uint64_t i = 0; i < one->timeout / 4; i++)
            assert_int_equal(tamis_states_tick(states, 1, NULL, NULL), TAMIS_OK);
        run_crews(one, states);
        expect_valid_states(states);
        assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
        assert_int_equal(facts.keys, (1 + WRITERS) * n);
        if (one->timeout != 0) time_goes_by(states, one->timeout);
        tamis_states_free(states);
    }
}

/* ------------------------------------------------------------------ time and threads at once */

static void *tick_often(void *context) {
    crew *const my = context;
    while (!__atomic_load_n(my->is_over, __ATOMIC_RELAXED))
        my->missed += tamis_states_tick(my->states, 1, NULL, NULL) != TAMIS_OK;
    return NULL;
}

static void *put_often(void *context) {
    crew *const my = context;
    for (uint64_t i = 0; i < 40000; i++)
        my->missed += tamis_states_set_id(my->states, key_of(my->number, i % 1000), 1) != TAMIS_OK;
    return NULL;
}

/* No timer is longer than that of a key which was touched now (I8), and the counts are right. */
static void timers_stay_possible(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        const variant *const one = &variants[v];
        if (one->timeout == 0) continue;
        tamis_states *const states = make_variant(one, true);
        bool                is_over = false;
        pthread_t           thread[3];
        crew                crews[3];
        for (unsigned i = 0; i < 3; i++) {
            crews[i] = (crew){ states, one, i, &is_over, 0 };
            assert_int_equal(
                pthread_create(&thread[i], NULL, i < 2 ? put_often : tick_often, &crews[i]), 0);
        }
        for (unsigned i = 0; i < 3; i++) {
            if (i == 2) __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
            (void)pthread_join(thread[i], NULL);
            assert_int_equal(crews[i].missed, 0);
        }
        expect_valid_states(states);
        time_goes_by(states, one->timeout);
        tamis_states_free(states);
    }
}

/* ------------------------------------------------------------------ a step that has to wait */

/* An allocator that fails; or that lets another thread change the table while it allocates. */
typedef struct meddler {
    ledger        book;
    tamis_states *states;
    bool          fails, meddles;
    uint64_t      late; /* the first id that was refused; all ids below it are in the table */
    unsigned      asked;
} meddler;

/* The other thread: there is room for the late key now, and it is put with another value. */
static void *make_room_and_put(void *context) {
    meddler *const my = context;
    for (uint64_t id = 0; id < my->late; id++)
        if (tamis_states_drop_id(my->states, id, TAMIS_ANY_VALUE) != TAMIS_OK) return NULL;
    return tamis_states_put_id(my->states, my->late, 1) == TAMIS_OK ? my : NULL;
}

static void *meddler_alloc(void *context, size_t bytes, size_t alignment) {
    meddler *const my = context;
    pthread_t      thread;
    void          *is_done = my;
    if (my->fails) return NULL;
    if (my->meddles) {
        my->meddles = false;
        assert_int_equal(pthread_create(&thread, NULL, make_room_and_put, my), 0);
        assert_int_equal(pthread_join(thread, &is_done), 0);
        assert_non_null(is_done);
    }
    return ledger_alloc(&my->book, bytes, alignment);
}

static void meddler_free(void *context, void *memory, size_t bytes) {
    ledger_free(&((meddler *)context)->book, memory, bytes);
}

static tamis_states *make_meddled(meddler *my, const char *kind) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_seed const  seed = { 3, 4 };
    spec.capacity = 1000;
    spec.grow_to = 20000;
    spec.values = VALUES;
    spec.fpr = 1e-6;
    spec.kind = kind;
    spec.seed = &seed;
    spec.shared = true;
    spec.allocator = (tamis_allocator){ meddler_alloc, meddler_free, my };
    return my->states = make_states_from(&spec);
}

/* A new key gets the value 0; one that is there, the next value. */
static tamis_step decide_next(void *context, size_t i, tamis_status was, uint32_t value,
                              uint32_t *ret_to) {
    ((meddler *)context)->asked++;
    (void)i;
    *ret_to = was == TAMIS_OK ? value + 1 : 0;
    return TAMIS_STEP_SET;
}

/* The machine decides for a key that is absent, and there is no room for it. While room is made,
 * another thread puts the key. The machine is asked again: it must not put a key that is there. */
static void a_step_that_waits_for_room_sees_who_was_faster(void **state) {
    (void)state;
    const char *const kinds[] = { "line", "rank" };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        meddler             my = { .states = NULL };
        tamis_states *const states = make_meddled(&my, kinds[k]);
        uint32_t            value = 0;
        tamis_status        status;
        tamis_states_batch  batch = {
             .ids = &my.late, .n = 1, .ret_statuses = &status, .ret_values = &value
        };
        my.fails = true;
        while (tamis_states_put_id(states, my.late, 2) == TAMIS_OK) my.late++;
        my.fails = false;
        my.meddles = true;
        assert_int_equal(tamis_states_step_batch(states, &batch, decide_next, &my, NULL), TAMIS_OK);
        assert_int_equal(status, TAMIS_OK);
        assert_int_equal(value, 1);
        assert_int_equal(my.asked, 2);
        assert_int_equal(tamis_states_get_id(states, my.late, &value), TAMIS_OK);
        assert_int_equal(value, 2);
        expect_valid_states(states);
        tamis_states_free(states);
        assert_int_equal(my.book.bytes, 0);
    }
}

/* ------------------------------------------------------------------ callbacks */

#define REENTRY(call) assert_int_equal(call, TAMIS_ERR_REENTRY)

typedef struct intruder {
    tamis_states *states;
    uint64_t      first; /* of its keys */
    unsigned      calls;
} intruder;

static tamis_step intrude(void *context, size_t i, tamis_status was, uint32_t value,
                          uint32_t *ret_to) {
    intruder *const          my = context;
    uint64_t const           ids[2] = { my->first + i, my->first + i + 1 };
    uint32_t const           values[2] = { 1, 2 };
    tamis_states_batch const batch = { .ids = ids, .n = 2, .values = values };
    my->calls++;
    for (uint64_t id = 0; id < 20; id++) REENTRY(tamis_states_drop_id(my->states, id, 0));
    REENTRY(tamis_states_drop_id(my->states, ids[0], TAMIS_ANY_VALUE));
    REENTRY(tamis_states_put(my->states, "a", 1, 1));
    REENTRY(tamis_states_move_id(my->states, ids[0], TAMIS_ANY_VALUE, 1));
    REENTRY(tamis_states_set_id(my->states, ids[0], 1));
    REENTRY(tamis_states_touch_id(my->states, ids[1]));
    REENTRY(tamis_states_put_batch(my->states, &batch, NULL));
    REENTRY(tamis_states_step_batch(my->states, &batch, decide, NULL, NULL));
    REENTRY(tamis_states_tick(my->states, 1, NULL, NULL));
    REENTRY(tamis_states_clear(my->states));
    tamis_states_free(my->states); /* does nothing */
    return decide(NULL, i, was, value, ret_to);
}

enum { INTRUDER_KEYS = 50, INTRUDERS = 64, INTRUSION_SECONDS = 300 };

static void *run_intruder(void *context) {
    intruder *const          my = context;
    uint64_t                 ids[INTRUDER_KEYS];
    size_t                   n = 0;
    tamis_states_batch const batch = { .ids = ids, .n = INTRUDER_KEYS };
    for (uint64_t i = 0; i < INTRUDER_KEYS; i++) ids[i] = my->first + i;
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(tamis_states_step_batch(my->states, &batch, intrude, my, &n), TAMIS_OK);
        assert_int_equal(n, INTRUDER_KEYS);
    }
    return NULL;
}

/* The callback has its key's stripe locked: a change of its own table would wait for itself. If it
 * does, the alarm ends the test. */
static void a_callback_cannot_change_its_shared_table(void **state) {
    (void)state;
    (void)alarm(INTRUSION_SECONDS);
    for (size_t v = 0; v < COUNT(variants); v++) {
        intruder            my = { .states = make_variant(&variants[v], true), .first = 1000 };
        tamis_states *const alone = make_variant(&variants[v], false);
        for (unsigned round = 0; round < 3; round++)
            for (uint64_t i = 0; i < INTRUDER_KEYS; i++)
                assert_int_equal(step_one(alone, 1000 + i), TAMIS_OK);
        (void)run_intruder(&my);
        assert_int_equal(my.calls, 3 * INTRUDER_KEYS);
        expect_valid_states(my.states);
        assert_same_tally(my.states, alone);
        assert_int_equal(tamis_states_put_id(my.states, 1, 1), TAMIS_OK); /* as usual again */
        tamis_states_free(my.states);
        tamis_states_free(alone);
    }
    (void)alarm(0);
}

/* With 64 threads, some lines of share.h have more threads than they have room for. */
static void nor_can_the_callbacks_of_many_threads(void **state) {
    (void)state;
    (void)alarm(INTRUSION_SECONDS);
    for (size_t v = 0; v < COUNT(variants); v++) {
        pthread_t           threads[INTRUDERS];
        intruder            all[INTRUDERS];
        tamis_states *const states = make_variant(&variants[v], true);
        for (unsigned t = 0; t < INTRUDERS; t++) {
            all[t] = (intruder){ .states = states, .first = 1000 * (t + 1) };
            assert_int_equal(pthread_create(&threads[t], NULL, run_intruder, &all[t]), 0);
        }
        for (unsigned t = 0; t < INTRUDERS; t++)
            assert_int_equal(pthread_join(threads[t], NULL), 0);
        for (unsigned t = 0; t < INTRUDERS; t++) assert_int_equal(all[t].calls, 3 * INTRUDER_KEYS);
        expect_valid_states(states);
        tamis_states_free(states);
    }
    (void)alarm(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_sees_an_ordinary_table),
        cmocka_unit_test(threads_lose_no_state),
        cmocka_unit_test(timers_stay_possible),
        cmocka_unit_test(a_step_that_waits_for_room_sees_who_was_faster),
        cmocka_unit_test(a_callback_cannot_change_its_shared_table),
        cmocka_unit_test(nor_can_the_callbacks_of_many_threads),
    };
    return unit_run("share_states", tests, COUNT(tests));
}
