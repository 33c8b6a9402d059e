/* test_grow_states.c - states that grow: values and timers through steps, machines, and files.
 *
 * Timers are neither skipped nor counted twice: a key that is not touched leaves after its timeout
 * and within one more pass of the sweep, whatever steps are taken in between. In a table that grows
 * the sweep waits for at most one bucket of the first table, a 32nd of a pass.
 */
#include "buffer.h"
#include "make.h"

#include "grow.h"

#define FIRST 6000u
#define LAST 96000u
#define VALUES 8u

static const char *kinds[8];

static tamis_states_spec spec_of(const char *kind, uint64_t timeout, unsigned timer_bits) {
    static tamis_seed const seed = { 1, 2 };
    tamis_states_spec       spec = TAMIS_STATES_SPEC_INIT;
    spec.kind = kind;
    spec.capacity = FIRST;
    spec.grow_to = LAST;
    spec.values = VALUES;
    spec.fpr = 1e-6;
    spec.timeout = timeout;
    spec.timer_bits = timer_bits;
    spec.seed = &seed;
    return spec;
}

static tamis_states *make(const char *kind, uint64_t timeout, unsigned timer_bits) {
    tamis_states_spec const spec = spec_of(kind, timeout, timer_bits);
    return make_states_from(&spec);
}

static uint32_t value_of(uint64_t id) {
    return (uint32_t)(dice_mix(id) % VALUES);
}

static void put(tamis_states *states, uint64_t first, uint64_t n) {
    for (uint64_t id = first; id < first + n; id++)
        assert_int_equal(tamis_states_put_id(states, id, value_of(id)), TAMIS_OK);
}

static void expect(const tamis_states *states, uint64_t first, uint64_t n) {
    for (uint64_t id = first; id < first + n; id++) {
        uint32_t value = VALUES;
        assert_int_equal(tamis_states_get_id(states, id, &value), TAMIS_OK);
        assert_int_equal(value, value_of(id));
    }
    expect_valid_states(states);
}

/* Put keys until a step has moved so many buckets of 1000. Returns how many there are. */
static uint64_t put_until(tamis_states *states, uint64_t n, unsigned stage, uint64_t progress) {
    const struct growth *const growth = states->set.growth;
    while (growth->stage < stage || !grow_is_moving(&states->set) ||
           growth->moved * 1000 < progress * states->set.table.geometry[0])
        put(states, n++, 1);
    assert_int_equal(growth->stage, stage);
    return n;
}

static void assert_unchanged(const tamis_states *states, buffer *before) {
    buffer now = buffer_of_states(states);
    buffer_expect_equal(&now, before);
    free(now.bytes);
    free(before->bytes);
}

/* ------------------------------------------------------------------ values */

static void values_are_kept(void **state) {
    tamis_states *const states = make(*state, 0, 0);
    uint64_t            moved = 0;
    for (uint64_t n = 0; n < LAST; n++) {
        put(states, n, 1);
        if (states->set.growth->moved == moved) continue;
        moved = states->set.growth->moved;
        if (states->set.growth->stage < 3) expect(states, 0, n + 1);
    }
    expect(states, 0, LAST);
    assert_int_equal(states->set.growth->stage, 4);
    tamis_states_free(states);
}

static void tallies_are_of_both_tables(void **state) {
    tamis_states *const states = make(*state, 0, 0);
    uint64_t            truth[VALUES] = { 0 }, counts[VALUES];
    tamis_states_facts  facts;
    uint64_t const      n = put_until(states, 0, 2, 500);
    for (uint64_t id = 0; id < n; id++) truth[value_of(id)]++;
    assert_int_equal(tamis_states_tally(states, counts), TAMIS_OK);
    assert_memory_equal(counts, truth, sizeof truth);
    assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
    assert_int_equal(facts.keys, n);
    tamis_states_free(states);
}

/* ------------------------------------------------------------------ machines */

typedef struct asked {
    unsigned times[FIRST];
    size_t   n;
} asked;

static tamis_step count_and_put(void *context, size_t i, tamis_status status, uint32_t value,
                                uint32_t *ret_to) {
    asked *const all = context;
    (void)value;
    all->times[i]++;
    *ret_to = (uint32_t)(i % VALUES);
    return status == TAMIS_ERR_ABSENT ? TAMIS_STEP_SET : TAMIS_STEP_TOUCH;
}

/* All keys belong to a few buckets, so that many steps of the machine have to wait for room. The
 * machine is still asked once for each key. */
static void machines_are_asked_once(void **state) {
    tamis_states *const states = make(*state, 0, 0);
    static asked        all;
    static uint64_t     ids[FIRST];
    static tamis_status statuses[FIRST];
    size_t              n = 0, ok = 0;
    memset(&all, 0, sizeof all);
    for (uint64_t id = 0; n < FIRST; id++) {
        if (keyhash_id(&states->set.hasher, id) >> 58 == 0) ids[n++] = id;
    }
    tamis_states_batch const batch = { .ids = ids, .n = n, .ret_statuses = statuses };
    assert_int_equal(tamis_states_step_batch(states, &batch, count_and_put, &all, &ok), TAMIS_OK);
    assert_true(ok > 200);
    assert_true(states->set.growth->stage > 0);
    for (size_t i = 0; i < n; i++) {
        uint32_t           value = VALUES;
        tamis_status const status = tamis_states_get_id(states, ids[i], &value);
        assert_int_equal(all.times[i], 1);
        assert_int_equal(status, statuses[i] == TAMIS_OK ? TAMIS_OK : TAMIS_ERR_ABSENT);
        if (status == TAMIS_OK) assert_int_equal(value, i % VALUES);
    }
    assert_true(tamis_states_validate(states, NULL));
    tamis_states_free(states);
}

/* ------------------------------------------------------------------ timers */

#define MAX_KEYS 200000u

/* More and more keys come, so that steps are taken while keys age. */
static void ages(const char *kind, uint64_t timeout, unsigned timer_bits, unsigned per_call) {
    static uint64_t     heard[MAX_KEYS];
    tamis_states *const states = make(kind, timeout, timer_bits);
    tamis_states_spec   spec = spec_of(kind, timeout, timer_bits);
    uint64_t            least, most, n = 0, first = 0, now = 0, backlog;
    tamis_states_facts  facts;
    assert_int_equal(tamis_states_timeout(&spec, 0, &least, &most, NULL), TAMIS_OK);
    while (states->set.growth->stage < 3) {
        for (uint64_t end = min_u64(n + 20 + n / per_call, MAX_KEYS); n < end; n++) {
            put(states, n, 1);
            heard[n] = now;
            if (n % 7 != 0) continue;
            uint64_t const other =
                first + dice_mix(n) % (n + 1 - first); /* now and then a key is touched */
            if (tamis_states_touch_id(states, other) == TAMIS_OK) heard[other] = now;
        }
        now++;
        assert_int_equal(tamis_states_tick(states, 1, NULL, &backlog), TAMIS_OK);
        while (backlog != 0)
            assert_int_equal(tamis_states_tick(states, 0, NULL, &backlog), TAMIS_OK);
        assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
        assert_int_equal(facts.keys + facts.aged, n);
        for (uint64_t id = first; id < n; id++) {
            uint32_t           value;
            uint64_t const     age = now - heard[id];
            tamis_status const status = tamis_states_get_id(states, id, &value);
            if (age <= least && status != TAMIS_OK)
                fail_msg("gone at %llu of %llu, stage %u", (unsigned long long)age,
                         (unsigned long long)least, states->set.growth->stage);
            if (age >= most + timeout / 32 + 1 && status == TAMIS_OK)
                fail_msg("there at %llu of %llu, stage %u", (unsigned long long)age,
                         (unsigned long long)most, states->set.growth->stage);
        }
        while (first < n && now - heard[first] > 2 * most) first++;
    }
    assert_true(tamis_states_validate(states, NULL));
    tamis_states_free(states);
}

static void silent_keys_go_in_time(void **state) {
    static const uint64_t timeouts[] = { 1, 7, 20, 37, 64, 100, 333, 1000 };
    for (size_t i = 0; i < COUNT(timeouts); i++) {
        for (unsigned bits = 2; bits <= 4; bits++)
            ages(*state, timeouts[i], bits, (unsigned)(timeouts[i] + 2));
    }
}

/* What a test knows of a key. */
typedef struct silence {
    uint64_t heard;    /* when it was put or touched last; UINT64_MAX: never */
    uint64_t sizes;    /* how often the table had got another size by then */
    bool     was_late; /* there was a backlog */
} silence;

/* A key stays for at least `least`, and leaves in time. Each change of size may delay it by one
 * bucket of the smallest table, which has more than 128. If it was touched while the sweep was
 * late, it may stay two timeouts longer (states.h). */
static void expect_age(const tamis_states *states, uint64_t id, const silence *key, silence now,
                       uint64_t least, uint64_t most) {
    uint32_t           value = VALUES;
    uint64_t const     timeout = states->set.table.sweep.timeout;
    uint64_t const     age = key->heard == UINT64_MAX ? UINT64_MAX : now.heard - key->heard;
    uint64_t const     more = (now.sizes - key->sizes) * timeout / 128 + 1;
    uint64_t const     end = most + more + (key->was_late ? 2 * timeout : 0);
    tamis_status const found = tamis_states_get_id(states, id, &value);
    if (age <= least && (found != TAMIS_OK || value != value_of(id)))
        fail_msg("gone at %llu of %llu", (unsigned long long)age, (unsigned long long)least);
    if (!now.was_late && age > end && found == TAMIS_OK)
        fail_msg("there at %llu of %llu", (unsigned long long)age, (unsigned long long)end);
}

#define SIZES 3

/* Give the table several sizes at one moment. Returns how often it became smaller. */
static unsigned take_sizes(tamis_states *states, uint64_t chance) {
    unsigned smaller = 0;
    for (unsigned i = 0; i < SIZES; i++) {
        uint64_t const     before = states->set.capacity, wish = FIRST << (chance >> 8 * i) % 5;
        tamis_status const status = tamis_states_resize(states, wish, NULL);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_FULL);
        assert_true(sweep_is_whole(&states->set.table.sweep));
        smaller += states->set.capacity < before;
    }
    return smaller;
}

/* Keys come and go while the size of the table is changed again and again: up to the largest, down
 * to the smallest that has room, between steps and during one, with and without work left for the
 * sweep. */
static void ages_through_sizes(const char *kind, uint64_t timeout, unsigned timer_bits) {
    enum { KEYS = 6500 };
    uint64_t const      rounds = 100 + 3 * timeout;
    static silence      keys[KEYS];
    tamis_states *const states = make(kind, timeout, timer_bits);
    tamis_states_spec   spec = spec_of(kind, timeout, timer_bits);
    uint64_t            least, most, backlog = 0, smaller = 0;
    silence             now = { 0, 0, false };
    assert_int_equal(tamis_states_timeout(&spec, 0, &least, &most, NULL), TAMIS_OK);
    for (uint64_t id = 0; id < KEYS; id++) keys[id] = (silence){ UINT64_MAX, 0, false };
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t const chance = dice_mix(round * 64 + timeout * 8 + timer_bits);
        for (uint64_t i = 0; i < 30 + 3000 / timeout; i++) {
            uint64_t const id = dice_mix(chance + i) % (round % 50 < 25 ? KEYS : KEYS / 9);
            put(states, id, 1);
            keys[id] = now;
        }
        smaller += take_sizes(states, chance);
        now.sizes += SIZES;
        now.heard++;
        assert_int_equal(tamis_states_tick(states, 1, NULL, &backlog), TAMIS_OK);
        now.was_late = backlog != 0 && (chance >> 40) % 4 == 0;
        while (backlog != 0 && !now.was_late)
            assert_int_equal(tamis_states_tick(states, 0, NULL, &backlog), TAMIS_OK);
        for (uint64_t id = 0; id < KEYS; id++) expect_age(states, id, &keys[id], now, least, most);
        assert_true(tamis_states_validate(states, NULL));
    }
    assert_true(smaller > 20);
    tamis_states_free(states);
}

static void timers_go_on_in_any_size(void **state) {
    static const uint64_t timeouts[] = { 1, 7, 20, 150 };
    for (size_t i = 0; i < COUNT(timeouts); i++) {
        for (unsigned bits = 2; bits <= 4; bits++) ages_through_sizes(*state, timeouts[i], bits);
    }
}

static void a_size_is_taken_or_refused(void **state) {
    tamis_states *const states = make(*state, 40, 3);
    tamis_states       *fixed = NULL;
    tamis_states_spec   spec = spec_of(*state, 40, 3);
    uint64_t            capacity = 0, n = put_until(states, 0, 1, 300);
    buffer              before = buffer_of_states(states);
    assert_int_equal(tamis_states_resize(NULL, FIRST, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_resize(states, FIRST, &capacity), TAMIS_ERR_FULL);
    assert_int_equal(tamis_states_resize(states, 2 * LAST, &capacity), TAMIS_ERR_LIMIT);
    assert_unchanged(states, &before);
    assert_int_equal(tamis_states_resize(states, 5 * FIRST, &capacity), TAMIS_OK);
    assert_int_equal(capacity, 8 * FIRST);
    expect(states, 0, n);
    for (uint64_t id = 100; id < n; id++)
        assert_int_equal(tamis_states_drop_id(states, id, TAMIS_ANY_VALUE), TAMIS_OK);
    assert_int_equal(tamis_states_resize(states, 100, &capacity), TAMIS_OK);
    assert_int_equal(capacity, FIRST);
    expect(states, 0, 100);
    spec.grow_to = 0;
    fixed = make_states_from(&spec);
    assert_int_equal(tamis_states_resize(fixed, FIRST, NULL), TAMIS_ERR_CANNOT);
    tamis_states_free(fixed);
    tamis_states_free(states);
}

/* Work that is due during a step is due once after it, and a backlog never exceeds its limit. */
static void a_late_sweep_stays_whole(void **state) {
    for (uint64_t ticks = 1; ticks < 200; ticks += 7) {
        tamis_states *states = make(*state, 50, 3), *back = NULL;
        uint64_t      n = put_until(states, 0, 0, 400), backlog;
        tamis_problem problem = { 0 };
        assert_int_equal(tamis_states_tick(states, ticks, NULL, NULL), TAMIS_OK);
        sweep *const hand = &states->set.table.sweep;
        sweep_advance(hand, 3 * ticks); /* time passes, and nothing is swept */
        tamis_grow_follow_sweep(&states->set);
        while (states->set.growth->stage == 0) put(states, 100000 + n++, 1);
        assert_true(sweep_is_whole(hand));
        buffer const file = buffer_of_states(states);
        if (tamis_states_read(file.bytes, file.n, NULL, &back, &problem) != TAMIS_OK)
            fail_msg("%s", problem.text);
        do {
            assert_int_equal(tamis_states_tick(states, 0, NULL, &backlog), TAMIS_OK);
        } while (backlog != 0);
        free(file.bytes);
        tamis_states_free(back);
        tamis_states_free(states);
    }
}

/* ------------------------------------------------------------------ files */

/* A table that is read in the middle of a step continues like the one that was written. */
static void files_go_on(void **state) {
    for (uint64_t progress = 1; progress < 800; progress += 250) {
        tamis_states *states = make(*state, 40, 3), *back = NULL, *copy = NULL;
        put(states, 500000, 300);
        assert_int_equal(tamis_states_tick(states, 11, NULL, NULL), TAMIS_OK);
        uint64_t const n = put_until(states, 0, 1, progress);
        buffer const   file = buffer_of_states(states);
        assert_int_equal(tamis_states_read(file.bytes, file.n, NULL, &back, NULL), TAMIS_OK);
        buffer const again = buffer_of_states(back);
        buffer_expect_equal(&again, &file);
        assert_int_equal(tamis_states_copy(states, &copy), TAMIS_OK);
        for (unsigned i = 0; i < 30; i++) {
            uint64_t here[VALUES], there[VALUES], also[VALUES];
            put(states, n + 300 * i, 300);
            put(back, n + 300 * i, 300);
            put(copy, n + 300 * i, 300);
            assert_int_equal(tamis_states_tick(states, 1, NULL, NULL), TAMIS_OK);
            assert_int_equal(tamis_states_tick(back, 1, NULL, NULL), TAMIS_OK);
            assert_int_equal(tamis_states_tick(copy, 1, NULL, NULL), TAMIS_OK);
            assert_int_equal(tamis_states_tally(states, here), TAMIS_OK);
            assert_int_equal(tamis_states_tally(back, there), TAMIS_OK);
            assert_int_equal(tamis_states_tally(copy, also), TAMIS_OK);
            assert_memory_equal(here, there, sizeof here);
            assert_memory_equal(here, also, sizeof here);
        }
        expect(back, n, 9000);
        free(file.bytes);
        free(again.bytes);
        tamis_states_free(states);
        tamis_states_free(back);
        tamis_states_free(copy);
    }
}

/* ------------------------------------------------------------------ merging */

/* A stage, and how far the step to the next one is, of 1000; 0: no step. */
typedef struct moment {
    unsigned stage;
    uint64_t progress;
} moment;

#define OTHER 1000000u /* the first key of the other table */

static tamis_states *make_at(const char *kind, moment when, uint64_t first, uint64_t *ret_n) {
    tamis_states *const states = make(kind, 40, 3);
    uint64_t            n = first;
    while (states->set.growth->stage < when.stage) put(states, n++, 1);
    if (when.progress != 0) n = put_until(states, n, when.stage, when.progress);
    put(states, n++, 1);
    *ret_n = n - first;
    return states;
}

static void let_pass(tamis_states *states, uint64_t ticks) {
    uint64_t backlog = 0;
    for (uint64_t i = 0; i < ticks || backlog != 0; i++)
        assert_int_equal(tamis_states_tick(states, i < ticks ? 1 : 0, NULL, &backlog), TAMIS_OK);
}

/* Both tables have had their keys for 9 ticks, and their sweeps are at different places. */
static void merge_two(const char *kind, moment a, moment b) {
    uint64_t            n, m;
    tamis_states *const into = make_at(kind, a, 0, &n), *const from = make_at(kind, b, OTHER, &m);
    let_pass(into, 9);
    put(from, OTHER + m++, 1);
    let_pass(from, 5);
    let_pass(from, 4);
    buffer before = buffer_of_states(from);
    assert_int_equal(tamis_states_merge(into, from), TAMIS_OK);
    assert_unchanged(from, &before);
    expect(into, 0, n);
    expect(into, OTHER, m);
    assert_int_equal(count_keys_of_states(into), n + m);
    let_pass(into, 40 - 9 - 1);
    expect(into, 0, n);
    expect(into, OTHER, m);
    let_pass(into, 2 * 40 + 40); /* one round longer, since the sweeps were at different places */
    assert_int_equal(count_keys_of_states(into), 0);
    tamis_states_free(into);
    tamis_states_free(from);
}

static void tables_of_any_stage_are_merged(void **state) {
    static const moment moments[] = { { 0, 0 }, { 0, 300 }, { 1, 0 }, { 1, 700 }, { 3, 0 } };
    for (size_t a = 0; a < COUNT(moments); a++) {
        for (size_t b = 0; b < COUNT(moments); b++) merge_two(*state, moments[a], moments[b]);
    }
}

/* A merge fails if a key has different values, or if the last stage has no room. */
static void a_merge_is_done_or_not(void **state) {
    uint64_t            n, m;
    tamis_states *const into = make_at(*state, (moment){ 0, 300 }, 0, &n);
    tamis_states *const from = make_at(*state, (moment){ 2, 0 }, OTHER, &m);
    assert_int_equal(tamis_states_put_id(from, 7, (value_of(7) + 1) % VALUES), TAMIS_OK);
    buffer before = buffer_of_states(into);
    assert_int_equal(tamis_states_merge(into, from), TAMIS_ERR_CONFLICT);
    assert_unchanged(into, &before);
    assert_int_equal(tamis_states_set_id(from, 7, value_of(7)), TAMIS_OK);
    while (m < 85000) put(from, OTHER + m++, 1);
    while (n < 85000) put(into, n++, 1);
    before = buffer_of_states(into);
    assert_int_equal(tamis_states_merge(into, from), TAMIS_ERR_FULL);
    assert_unchanged(into, &before);
    tamis_states_free(into);
    tamis_states_free(from);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_kept),
        cmocka_unit_test(tallies_are_of_both_tables),
        cmocka_unit_test(machines_are_asked_once),
        cmocka_unit_test(silent_keys_go_in_time),
        cmocka_unit_test(timers_go_on_in_any_size),
        cmocka_unit_test(a_size_is_taken_or_refused),
        cmocka_unit_test(a_late_sweep_stays_whole),
        cmocka_unit_test(files_go_on),
        cmocka_unit_test(tables_of_any_stage_are_merged),
        cmocka_unit_test(a_merge_is_done_or_not),
    };
    struct CMUnitTest all[COUNT(tests) * COUNT(kinds)];
    size_t            n = 0;
    for (size_t k = 0, found = 0; tamis_states_kind_at(k) != NULL && found < COUNT(kinds); k++) {
        if (tamis_states_kind_at(k)->growing == NULL) continue;
        kinds[found] = tamis_states_kind_at(k)->name;
        for (size_t t = 0; t < COUNT(tests); t++)
            all[n++] = unit_named(tests[t].name, tests[t].test_func, kinds[found]);
        found++;
    }
    return unit_run("grow, states", all, n);
}
