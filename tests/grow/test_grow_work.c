/* test_grow_work.c - how much one call does for a step, keys that all belong to one bucket, and
 * memory.
 *
 * A call moves one group of buckets at most. An add is refused below grow_to only if a table of the
 * last stage has no room for its key, either. A step takes the memory of the larger of the two
 * tables if memory comes from the system, and of both with a user's allocator.
 *
 * usage: test_grow_work [KEYS]      how many are added where resident memory is measured
 */
#include "growing.h"
#include "ledger.h"
#include "resident.h"

#include "core/memory.h"

/* ------------------------------------------------------------------ one call */

/* The bytes of a table that belong to buckets before this one. */
static uint64_t bytes_before(const tamis_set *set, const tamis_table *table, uint64_t bucket) {
    kind_span spans[KIND_MAX_SPANS];
    uint64_t  sum = 0;
    for (unsigned n = set->kind->growing->spans(table, bucket, spans); n-- != 0;)
        sum += spans[n].end - spans[n].begin;
    return sum;
}

/* A call moves at most one group of buckets, and its new place has at most 64 KiB. */
static void a_call_moves_one_group(void **state) {
    tamis_set *const set = growing_make(*state, 1);
    uint64_t const   group = set->kind->growing->group;
    uint64_t         calls = 0, groups = 0;
    while (set->growth->stage < GROWING_STAGES) {
        unsigned const stage = set->growth->stage;
        uint64_t const before = set->growth->moved, buckets = set->table.geometry[0];
        assert_int_equal(tamis_add_id(set, calls++), TAMIS_OK);
        bool const     is_over = set->growth->stage != stage;
        uint64_t const after = is_over ? buckets : set->growth->moved;
        assert_true(after - before <= group);
        groups += after != before;
        if (after == before || is_over) continue;
        const tamis_table *const next = &set->growth->next;
        assert_true(bytes_before(set, next, 2 * after) - bytes_before(set, next, 2 * before) <=
                    65536);
    }
    assert_true(groups >= 30);
    tamis_free(set);
}

/* Removals move buckets, too, also of absent keys: a step ends after removals alone. */
static void removals_pay_for_a_step(void **state) {
    tamis_set *const set = growing_make(*state, 2);
    uint64_t const   n = growing_bring(set, 0, 2, 100);
    if ((set->abilities & TAMIS_CAN_REMOVE) != 0) {
        uint64_t removed = 0;
        while (grow_is_moving(set)) {
            assert_true(removed < n);
            assert_int_equal(tamis_remove_id(set, removed++), TAMIS_OK);
        }
        expect_ids(set, removed, n - removed);
    }
    tamis_free(set);
}

/* ------------------------------------------------------------------ keys of a few buckets */

/* Add hashes below a limit until both sets refuse. The growing set must accept what the largest
 * accepts. */
static void flood(const growing_case *tried, uint64_t below, uint64_t others) {
    tamis_set *const set = growing_make(tried, 3), *const largest = growing_make(tried, 3);
    dice     chance = { below };
    uint64_t n = 0, last = 0;
    assert_int_equal(tamis_resize(largest, GROWING_TO, NULL), TAMIS_OK);
    add_ids(set, 0, others);
    add_ids(largest, 0, others);
    for (; n < GROWING_TO - others; n++) {
        uint64_t const     hash = n % 3 != 2 ? dice_below(&chance, below) : last; /* some twice */
        tamis_status const expected = tamis_add_hash(largest, hash);
        assert_int_equal(tamis_add_hash(set, hash), expected);
        if (expected != TAMIS_OK) break;
        assert_true(tamis_has_hash(set, hash));
        last = hash;
    }
    growing_expect_contents(set, largest);
    expect_ids(set, 0, others);
    assert_true(n > 40);
    tamis_free(set);
    tamis_free(largest);
}

static void keys_of_one_bucket_find_room(void **state) {
    uint64_t const first = UINT64_MAX / 32; /* about the first bucket of the first stage */
    for (unsigned shift = 0; shift <= 6; shift += 2) {
        flood(*state, first >> shift, 0);
        flood(*state, first >> shift, GROWING_CAPACITY - GROWING_CAPACITY / 16 + 20);
        flood(*state, first * 4 >> shift, 2 * GROWING_CAPACITY - 200);
    }
}

/* The same many times at random moments of steps. */
static void keys_of_one_bucket_at_any_moment(void **state) {
    dice chance = { 31 };
    for (unsigned i = 0; i < 12; i++) {
        uint64_t const others = dice_below(&chance, GROWING_TO / 3);
        flood(*state, UINT64_MAX >> (4 + dice_below(&chance, 8)), others / (1 + i % 4));
    }
}

/* ------------------------------------------------------------------ steps that find no room */

/* The real kind carries the buckets; the test decides when that is refused. */
static const tamis_kind *honest;
static uint64_t          carried, least_buckets;

/* Now and then a bucket is carried and then refused, as if there was no room for its last key. */
static tamis_status carry_or_refuse(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    uint64_t const     keys = to->keys;
    tamis_status const status = honest->growing->carry(from, bucket, to);
    if (status != TAMIS_OK || carried++ % 33 != 8) return status;
    to->keys -= to->keys != keys;
    return TAMIS_ERR_FULL;
}

/* Refuse unless the new table has at least this many buckets. */
static tamis_status carry_far(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    if (to->geometry[0] < least_buckets) return TAMIS_ERR_FULL;
    return honest->growing->carry(from, bucket, to);
}

typedef tamis_status carry_function(const tamis_table *from, uint64_t bucket, tamis_table *to);

/* Let a set take its steps with another function. Both must live as long as the set. */
static void replace_carry(tamis_set *set, carry_function *carry, tamis_kind *kind,
                          kind_growing *growing) {
    honest = set->kind;
    *growing = *honest->growing;
    *kind = *honest;
    growing->carry = carry;
    kind->growing = growing;
    set->kind = kind;
}

/* A group that finds no room stays where it is, and nothing is miscounted. */
static void a_refused_group_changes_nothing(void **state) {
    tamis_set *const set = growing_make(*state, 5), *const other = growing_make(*state, 5);
    tamis_kind   kind;
    kind_growing growing;
    carried = 0;
    replace_carry(set, carry_or_refuse, &kind, &growing);
    for (uint64_t id = 0; id < 2 * GROWING_CAPACITY; id++) {
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        assert_int_equal(tamis_add_id(other, id), TAMIS_OK);
        if (grow_is_moving(set)) growing_expect_contents(set, other);
        if (set->growth->stage != 0) break;
    }
    set->kind = honest;
    growing_expect_contents(set, other);
    tamis_free(set);
    tamis_free(other);
}

/* If the next stages have no room, the first one that has is taken at once. */
static void more_than_one_doubling_at_once(void **state) {
    tamis_set *const set = growing_make(*state, 6), *const other = growing_make(*state, 6);
    tamis_kind   kind;
    kind_growing growing;
    uint64_t     id = 0;
    least_buckets = set->table.geometry[0] << 3;
    replace_carry(set, carry_far, &kind, &growing);
    while (set->growth->stage == 0) assert_int_equal(tamis_add_id(set, id++), TAMIS_OK);
    assert_int_equal(set->growth->stage, 3);
    set->kind = honest;
    add_ids(set, id, GROWING_TO - id);
    add_ids(other, 0, GROWING_TO);
    growing_expect_alike(set, other);
    tamis_free(set);
    tamis_free(other);
}

/* ------------------------------------------------------------------ memory */

/* For everything else in the process, and because memory is given back in large pieces. */
#define OTHER_BYTES (UINT64_C(6) << 20)

static uint64_t many = 8000000;

static uint64_t larger_body(const tamis_set *set) {
    return max_u64(set->table.body_bytes, grow_is_moving(set) ? set->growth->next.body_bytes : 0);
}

static void expect_one_table(const tamis_set *set, uint64_t before) {
    uint64_t const larger = larger_body(set), most = larger + larger / 20 + OTHER_BYTES;
    uint64_t const now = resident_own_bytes(); /* 0: the system does not tell */
    if (now > before + most)
        fail_msg("%llu keys: %llu bytes in memory, a table has %llu",
                 (unsigned long long)growing_keys(set), (unsigned long long)(now - before),
                 (unsigned long long)larger);
}

/* A call gives back one piece of 64 KiB at most. */
static void expect_one_piece(tamis_set *set, uint64_t id) {
    struct growth const before = *set->growth;
    unsigned            pieces = 0;
    assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    bool const is_same_step = before.next.body != NULL && grow_is_moving(set);
    for (unsigned i = 0; i < KIND_MAX_SPANS && is_same_step; i++) {
        uint64_t const was = before.given_back[i], now = set->growth->given_back[i];
        pieces += now != was;
        if (was != 0 && now != was) assert_int_equal(now - was, 65536);
    }
    assert_true(pieces <= 1);
}

/* Tables with many bits per key are large enough to measure with fewer keys. */
static void resident_memory_is_one_table(void **state) {
    const growing_case *const tried = *state;
    tamis_spec                spec = growing_spec(tried, NULL);
    uint64_t                  ids[2048];
    if (many < 10000000 && tried->mode->fpr > 1e-5) return;
    spec.grow_to = many;
    tamis_set *const set = make_set_from(&spec);
    uint64_t const   before = resident_own_bytes();
    for (uint64_t first = 0; first < many && before != 0; first += COUNT(ids)) {
        for (size_t i = 0; i < COUNT(ids); i++) ids[i] = first + i;
        if (grow_is_moving(set) && first / COUNT(ids) % 8 == 0)
            for (size_t i = 0; i < COUNT(ids); i++) expect_one_piece(set, ids[i]);
        else
            assert_int_equal(tamis_add_id_batch(set, ids, COUNT(ids), NULL), TAMIS_OK);
        expect_one_table(set, before);
    }
    tamis_free(set);
}

static void an_allocator_gives_both_tables(void **state) {
    const growing_case *const tried = *state;
    ledger                    book = { 0 };
    tamis_seed const          seed = make_seed(4);
    tamis_spec                spec = growing_spec(tried, &seed);
    spec.allocator = ledger_allocator(&book);
    tamis_set *const set = make_set_from(&spec);
    for (uint64_t id = 0; id < GROWING_TO; id++) {
        tamis_facts facts;
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
        assert_int_equal(book.bytes, facts.memory_bytes);
        assert_true(book.peak <=
                    sizeof *set + sizeof *set->growth + set->table.body_bytes + larger_body(set));
    }
    tamis_free(set);
    assert_int_equal(book.bytes, 0);
}

int main(int argc, char **argv) {
    if (argc > 1) many = strtoull(argv[1], NULL, 10);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_moves_one_group),
        cmocka_unit_test(removals_pay_for_a_step),
        cmocka_unit_test(keys_of_one_bucket_find_room),
        cmocka_unit_test(keys_of_one_bucket_at_any_moment),
        cmocka_unit_test(a_refused_group_changes_nothing),
        cmocka_unit_test(more_than_one_doubling_at_once),
        cmocka_unit_test(resident_memory_is_one_table),
        cmocka_unit_test(an_allocator_gives_both_tables),
    };
    return growing_run("grow, work", tests, COUNT(tests));
}
