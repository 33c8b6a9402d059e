/* test_calls.c - calls that do more than one add or one lookup: copies, test-and-add, hashes that
 * several sets share, facts without reading the body, planning under a limit of memory.
 */
#include "buffer.h"
#include "make.h"
#include "temporary.h"

#include <fcntl.h>
#include <unistd.h>

#define CAPACITY UINT64_C(2000)

static tamis_set *made(const char *kind, unsigned abilities) {
    static const tamis_seed seed = { 7, 9 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.capacity = CAPACITY;
    spec.fpr = 0.01;
    spec.abilities = abilities;
    spec.kind = kind;
    spec.seed = &seed;
    return make_set_from(&spec);
}

static tamis_facts facts_of(const tamis_set *set) {
    tamis_facts facts;
    assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
    return facts;
}

/* Does the kind have the ability in the geometry that it plans by itself? */
static bool can(const char *kind, unsigned ability) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_plan row;
    size_t     n;
    spec.capacity = CAPACITY;
    spec.fpr = 0.01;
    spec.abilities = ability;
    spec.kind = kind;
    assert_int_equal(tamis_plan_kinds(&spec, &row, 1, &n, NULL), TAMIS_OK);
    return row.status == TAMIS_OK;
}

/* ------------------------------------------------------------------ copies */

static void copies_in_one_call_are_that_many_adds(void **state) {
    (void)state;
    const char *kind;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++) {
        if (!can(kind, TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE)) continue;
        tamis_set *const at_once = made(kind, TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE);
        tamis_set *const singly = made(kind, TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE);
        assert_int_equal(tamis_add_copies_id(at_once, 5, 3), TAMIS_OK);
        for (unsigned copy = 0; copy < 3; copy++)
            assert_int_equal(tamis_add_id(singly, 5), TAMIS_OK);
        assert_int_equal(tamis_add_copies(at_once, "key", 3, 2), TAMIS_OK);
        for (unsigned copy = 0; copy < 2; copy++)
            assert_int_equal(tamis_add(singly, "key", 3), TAMIS_OK);
        assert_int_equal(tamis_add_copies_id(at_once, 6, 0), TAMIS_OK);
        uint64_t a, b;
        assert_int_equal(tamis_count_id(at_once, 5, &a), TAMIS_OK);
        assert_int_equal(tamis_count_id(singly, 5, &b), TAMIS_OK);
        assert_int_equal(a, b);
        assert_int_equal(facts_of(at_once).keys, facts_of(singly).keys);
        tamis_free(at_once);
        tamis_free(singly);
    }
}

/* A call that adds a huge number of copies returns: the key is saturated, and the other keys are
 * still in the set. */
static void a_flood_in_one_call_saturates_the_key(void **state) {
    (void)state;
    tamis_set *const set = made("line", TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE);
    uint64_t         count;
    assert_int_equal(tamis_add_id(set, 1), TAMIS_OK);
    assert_int_equal(tamis_add_copies_id(set, 5, UINT64_C(1) << 60), TAMIS_OK);
    assert_int_equal(tamis_count_id(set, 5, &count), TAMIS_OK);
    assert_true(count == TAMIS_COUNT_MANY);
    assert_true(tamis_has_id(set, 1));
    tamis_free(set);
}

/* If not all copies fit, the set stays as it was. */
static void copies_that_do_not_fit_change_nothing(void **state) {
    (void)state;
    tamis_set *const set = made("line", TAMIS_CAN_REMOVE);
    uint64_t         key = 0;
    while (tamis_add_id(set, key) == TAMIS_OK) key++;
    uint64_t const keys = facts_of(set).keys;
    tamis_set     *before;
    assert_int_equal(tamis_copy(set, &before), TAMIS_OK);
    unsigned refused = 0;
    for (uint64_t more = 0; more < 200; more++) {
        tamis_set *tried;
        assert_int_equal(tamis_copy(set, &tried), TAMIS_OK);
        if (tamis_add_copies_id(tried, key + more, 8) == TAMIS_ERR_FULL) {
            refused++;
            assert_int_equal(facts_of(tried).keys, keys);
            for (uint64_t k = 0; k < key; k++) assert_true(tamis_has_id(tried, k));
        }
        tamis_free(tried);
    }
    assert_true(refused > 0);
    tamis_free(before);
    tamis_free(set);
}

/* ------------------------------------------------------------------ saturated keys */

static void removals_of_saturated_keys_are_told_apart(void **state) {
    (void)state;
    static const char *const kinds[] = { "line",  "rank",  "counting", "vicbf",
                                         "bhcbf", "mlcbf", "dlcbf",    "ddlcbf" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *const kind = kinds[i];
        tamis_set *const  set = made(kind, TAMIS_CAN_REMOVE);
        for (unsigned copy = 0; copy < 100000; copy++)
            assert_int_equal(tamis_add_id(set, 1), TAMIS_OK);
        assert_int_equal(tamis_add_id(set, 2), TAMIS_OK);
        assert_true(facts_of(set).saturated != 0);
        assert_int_equal(tamis_remove_id(set, 1), TAMIS_ERR_SATURATED);
        assert_true(tamis_has_id(set, 1));
        uint64_t const keys[] = { 1, 2, 1, 3 };
        bool           removed[4];
        tamis_removal  removal;
        assert_int_equal(tamis_remove_id_batch(set, keys, 4, removed, &removal), TAMIS_OK);
        assert_true(!removed[0] && removed[1] && !removed[2] && !removed[3]);
        assert_int_equal(removal.removed, 1);
        assert_int_equal(removal.saturated, 2);
        assert_int_equal(removal.absent, 1);
        assert_int_equal(facts_of(set).refused_removes, 1);
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ test and add */

static void add_new_tells_what_was_new(void **state) {
    (void)state;
    const char *kind;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++) {
        tamis_set *const single = made(kind, 0), *const batch = made(kind, 0);
        uint64_t ids[3 * 500];
        bool     is_new[3 * 500], was_new;
        size_t   n_new = 0, done;
        for (size_t k = 0; k < 3 * 500; k++) ids[k] = k * 7919 % 500; /* each three times */
        assert_int_equal(tamis_add_new_id_batch(batch, ids, 3 * 500, is_new, &done), TAMIS_OK);
        assert_int_equal(done, 3 * 500);
        for (size_t k = 0; k < 3 * 500; k++) {
            bool const was_there = tamis_has_id(single, ids[k]);
            assert_int_equal(tamis_add_new_id(single, ids[k], &was_new), TAMIS_OK);
            assert_true(was_new == !was_there && was_new == is_new[k]);
            assert_true(tamis_has_id(single, ids[k]));
            n_new += was_new;
        }
        assert_int_equal(facts_of(single).keys, n_new);
        assert_int_equal(facts_of(batch).keys, n_new);
        assert_true(n_new <= 500 && n_new > 450); /* some are taken for present by chance */
        tamis_free(single);
        tamis_free(batch);
    }
}

/* The file is the same as after a lookup, followed by an add if the answer was no; also in sets
 * with copies. */
static void add_new_is_a_lookup_and_an_add(void **state) {
    (void)state;
    const char *kind;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++) {
        unsigned const   abilities = can(kind, TAMIS_CAN_COUNT) ? TAMIS_CAN_COUNT : 0;
        tamis_set *const both = made(kind, abilities), *const apart = made(kind, abilities);
        bool is_new;
        for (uint64_t id = 0; id < CAPACITY; id++) {
            if (id % 3 == 0) {
                assert_int_equal(tamis_add_id(both, id / 2), TAMIS_OK);
                assert_int_equal(tamis_add_id(apart, id / 2), TAMIS_OK);
            }
            assert_int_equal(tamis_add_new_id(both, id, &is_new), TAMIS_OK);
            assert_true(is_new == !tamis_has_id(apart, id));
            if (is_new) assert_int_equal(tamis_add_id(apart, id), TAMIS_OK);
        }
        buffer const one = buffer_of(both), other = buffer_of(apart);
        buffer_expect_equal(&one, &other);
        free(one.bytes);
        free(other.bytes);
        tamis_free(both);
        tamis_free(apart);
    }
}

static void add_new_takes_keys_as_bytes(void **state) {
    (void)state;
    tamis_set *const set = made(NULL, 0);
    tamis_key const  keys[] = { { "a", 1 }, { "b", 1 }, { "a", 1 } };
    bool             is_new[3], one;
    assert_int_equal(tamis_add_new_batch(set, keys, 3, is_new, NULL), TAMIS_OK);
    assert_true(is_new[0] && is_new[1] && !is_new[2]);
    assert_int_equal(tamis_add_new(set, "b", 1, &one), TAMIS_OK);
    assert_true(!one);
    assert_int_equal(tamis_add_new(set, "b", 1, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_add_new(NULL, "b", 1, &one), TAMIS_ERR_ARGUMENT);
    tamis_free(set);
}

static void add_new_takes_hashes(void **state) {
    (void)state;
    tamis_set *const set = made(NULL, 0);
    uint64_t const   a = tamis_hash_key(set, "a", 1), b = tamis_hash_key(set, "b", 1);
    uint64_t const   hashes[] = { a, b, a };
    bool             is_new[3], one;
    size_t           done;
    assert_int_equal(tamis_add_new_hash_batch(set, hashes, 3, is_new, &done), TAMIS_OK);
    assert_true(is_new[0] && is_new[1] && !is_new[2] && done == 3);
    assert_int_equal(tamis_add_new_hash(set, b, &one), TAMIS_OK);
    assert_true(!one && tamis_has(set, "a", 1) && facts_of(set).keys == 2);
    assert_int_equal(tamis_add_new_hash(set, b, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_add_new_hash(NULL, b, &one), TAMIS_ERR_ARGUMENT);
    tamis_free(set);
}

/* ------------------------------------------------------------------ removing copies */

/* Two sets get the same adds and removals. One of them says whether a copy was the last; the other
 * one is looked at. Few different keys, so that many have copies. */
static void compare_last_copies(tamis_set *told, tamis_set *asked, unsigned steps) {
    uint64_t n_last = 0, n_more = 0;
    for (unsigned i = 0; i < steps; i++) {
        uint64_t const id = UINT64_C(2654435761) * i % 1009;
        uint64_t const hash = tamis_hash_id(told, id);
        bool const     is_add = i % 5 < 3;
        bool           is_last = false;
        if (is_add) {
            assert_int_equal(tamis_add_hash(told, hash), tamis_add_hash(asked, hash));
            continue;
        }
        tamis_status const status = tamis_remove_copy_hash(told, hash, &is_last);
        assert_int_equal(status, tamis_remove_hash(asked, hash));
        if (status == TAMIS_OK) assert_int_equal(is_last, !tamis_has_hash(asked, hash));
        n_last += is_last;
        n_more += status == TAMIS_OK && !is_last;
    }
    assert_true(n_last > 0 && n_more > 0);
    assert_int_equal(facts_of(told).keys, facts_of(asked).keys);
    assert_int_equal(facts_of(told).refused_removes, facts_of(asked).refused_removes);
}

static void the_last_copy_is_told_in_every_kind(void **state) {
    (void)state;
    const char *kind;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++) {
        if (!can(kind, TAMIS_CAN_REMOVE)) continue;
        tamis_set *const told = made(kind, TAMIS_CAN_REMOVE);
        tamis_set *const asked = made(kind, TAMIS_CAN_REMOVE);
        compare_last_copies(told, asked, 3000);
        tamis_free(told);
        tamis_free(asked);
    }
}

/* Also in a step of growing, where a key may be in either table, in shared sets and in parts. */
static void the_last_copy_is_told_in_sets_that_grow(void **state) {
    (void)state;
    static const tamis_seed seed = { 7, 9 };
    for (unsigned form = 0; form < 3; form++) {
        tamis_set *sets[2];
        tamis_spec spec = TAMIS_SPEC_INIT;
        spec.capacity = 100;
        spec.grow_to = 3200;
        spec.fpr = 0.01;
        spec.kind = "rank";
        spec.prefer = TAMIS_PREFER_SMALL;
        spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
        spec.count_to = 15;
        spec.seed = &seed;
        spec.shared = form == 1;
        spec.parts = form == 2 ? 2 : 0;
        for (unsigned i = 0; i < 2; i++) sets[i] = make_set_from(&spec);
        compare_last_copies(sets[0], sets[1], 8000);
        for (unsigned i = 0; i < 2; i++) tamis_free(sets[i]);
    }
}

static void the_last_copy_needs_a_set_that_removes(void **state) {
    (void)state;
    tamis_set *const bloom = made("bloom", 0), *const rank = made("rank", TAMIS_CAN_REMOVE);
    bool is_last = true;
    assert_int_equal(tamis_remove_copy_hash(NULL, 1, &is_last), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_remove_copy_hash(rank, 1, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_remove_copy_hash(bloom, 1, &is_last), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_remove_copy_hash(rank, 1, &is_last), TAMIS_ERR_ABSENT);
    assert_true(is_last && facts_of(rank).refused_removes == 1);
    tamis_free(bloom);
    tamis_free(rank);
}

/* ------------------------------------------------------------------ hashes */

static void sets_that_share_a_seed_share_hashes(void **state) {
    (void)state;
    tamis_set *const line = made("line", TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE);
    tamis_set *const bloom = made("bloom", 0);
    uint64_t         count;
    for (uint64_t id = 0; id < 300; id++) {
        uint64_t const hash = tamis_hash_id(line, id);
        assert_true(hash == tamis_hash_id(bloom, id));
        assert_int_equal(tamis_add_hash(line, hash), TAMIS_OK);
        assert_int_equal(tamis_add_id(bloom, id), TAMIS_OK);
        assert_true(tamis_has_id(line, id) && tamis_has_hash(bloom, hash));
        assert_int_equal(tamis_count_hash(line, hash, &count), TAMIS_OK);
        assert_true(count >= 1);
    }
    uint64_t const by_bytes = tamis_hash_key(line, "sieve", 5);
    assert_true(by_bytes == tamis_hash_key(bloom, "sieve", 5));
    assert_int_equal(tamis_add(line, "sieve", 5), TAMIS_OK);
    assert_true(tamis_has_hash(line, by_bytes));
    assert_int_equal(tamis_remove_hash(line, by_bytes), TAMIS_OK);
    tamis_free(line);
    tamis_free(bloom);
}

/* Sets have functions of their own for ids (src/one_id.c). One set is used through them, and an
 * equal set through the hashes of the same ids, until adds are refused: both give the same answers
 * and have the same counts. */
static void check_ids_and_hashes(const tamis_spec *spec) {
    tamis_set *const by_id = make_set_from(spec), *const by_hash = make_set_from(spec);
    tamis_status status = TAMIS_OK;
    uint64_t     n = 0;
    for (; n < 5 * CAPACITY && status == TAMIS_OK; n++) {
        status = tamis_add_id(by_id, n);
        assert_int_equal(tamis_add_hash(by_hash, tamis_hash_id(by_hash, n)), status);
    }
    for (uint64_t id = 0; id < 2 * n; id++) {
        uint64_t const hash = tamis_hash_id(by_hash, id);
        assert_int_equal(tamis_has_id(by_id, id), tamis_has_hash(by_hash, hash));
        assert_int_equal(tamis_has_id(by_hash, id), tamis_has_hash(by_id, hash));
    }
    for (uint64_t id = 0; id < 2 * n; id++) {
        uint64_t const hash = tamis_hash_id(by_hash, id);
        assert_int_equal(tamis_remove_id(by_id, id), tamis_remove_hash(by_hash, hash));
    }
    tamis_facts const a = facts_of(by_id), b = facts_of(by_hash);
    assert_true(a.keys == b.keys && a.saturated == b.saturated);
    assert_true(a.refused_adds == b.refused_adds && a.refused_removes == b.refused_removes);
    assert_true((spec->abilities & TAMIS_CAN_REMOVE) == 0 || a.refused_removes > 0);
    tamis_free(by_id);
    tamis_free(by_hash);
}

static void an_id_is_the_key_of_its_hash(void **state) {
    (void)state;
    static const tamis_seed seed = { 7, 9 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.seed = &seed;
    spec.capacity = CAPACITY;
    for (unsigned i = 0; i < 2 * 2 * 2; i++) {
        spec.hash = i % 2 == 0 ? TAMIS_HASH_XXH3 : TAMIS_HASH_SIPHASH;
        spec.abilities = i / 2 % 2 == 0 ? 0 : TAMIS_CAN_REMOVE;
        spec.fpr = i / 4 == 0 ? 0.0028 : 0.0001; /* lines without and with rests */
        const char *kind;
        for (size_t k = 0; (kind = tamis_kind_name(k)) != NULL; k++) {
            spec.kind = kind;
            tamis_plan row;
            size_t     rows;
            if (tamis_plan_kinds(&spec, &row, 1, &rows, NULL) != TAMIS_OK) break; /* no SipHash */
            if (row.status == TAMIS_OK) check_ids_and_hashes(&spec);
        }
    }
}

static void batches_of_hashes_are_batches_of_their_keys(void **state) {
    (void)state;
    tamis_set *const a = made("line", TAMIS_CAN_REMOVE), *const b = made("line", TAMIS_CAN_REMOVE);
    uint64_t      ids[777], hashes[777];
    size_t        added;
    tamis_removal removal;
    for (size_t i = 0; i < 777; i++) hashes[i] = tamis_hash_id(a, ids[i] = 3 * i);
    assert_int_equal(tamis_add_hash_batch(a, hashes, 777, &added), TAMIS_OK);
    assert_int_equal(added, 777);
    assert_int_equal(tamis_add_id_batch(b, ids, 777, NULL), TAMIS_OK);
    assert_int_equal(tamis_has_id_batch(a, ids, 777, NULL), 777);
    assert_int_equal(tamis_has_hash_batch(b, hashes, 777, NULL), 777);
    assert_int_equal(tamis_remove_hash_batch(b, hashes, 777, NULL, &removal), TAMIS_OK);
    assert_int_equal(removal.removed, 777);
    assert_int_equal(facts_of(b).keys, 0);
    tamis_free(a);
    tamis_free(b);
}

/* ------------------------------------------------------------------ hints */

/* A writer that computes a checksum of the file: the sum of all bytes, each weighted by its
 * place. */
static bool sum_up(void *context, const void *bytes, size_t n) {
    uint64_t *const sum = context;
    for (size_t i = 0; i < n; i++)
        *sum = *sum * UINT64_C(0x9e3779b97f4a7c15) + 1 + ((const uint8_t *)bytes)[i];
    return true;
}

/* The set is larger than any cache that the kinds expect, so that the hints really prefetch. */
static void a_hint_changes_nothing(void **state) {
    (void)state;
    const char *kind;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        spec.capacity = 300000;
        spec.fpr = 0.01;
        spec.kind = kind;
        tamis_set *const set = make_set_from(&spec);
        for (uint64_t id = 0; id < 1000; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        uint64_t before = 0, after = 0;
        assert_int_equal(tamis_write(set, sum_up, &before), TAMIS_OK);
        for (uint64_t id = 0; id < 2000; id++) {
            tamis_fetch_id(set, id);
            tamis_fetch_hash(set, UINT64_MAX - id);
            tamis_fetch(set, &id, sizeof id);
        }
        tamis_fetch(set, NULL, 0); /* the empty key */
        assert_int_equal(tamis_write(set, sum_up, &after), TAMIS_OK);
        assert_true(before != 0 && before == after);
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ facts */

/* Every field of the geometry is found by its name, and no other name is found. */
static void assert_has_fields(const tamis_set *set, const tamis_plan *plan) {
    uint64_t value;
    for (unsigned i = 0; i < plan->n_fields; i++) {
        assert_int_equal(tamis_get_field(set, plan->fields[i].name, &value), TAMIS_OK);
        assert_int_equal(value, plan->fields[i].value);
        assert_int_equal(tamis_get_field(set, plan->fields[i].name, NULL), TAMIS_ERR_ARGUMENT);
    }
    assert_int_equal(tamis_get_field(set, "nothing", &value), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_get_field(set, NULL, &value), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_get_field(NULL, "buckets", &value), TAMIS_ERR_ARGUMENT);
}

static void facts_are_those_of_the_plan(void **state) {
    (void)state;
    const char *kind;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++) {
        tamis_set *const set = made(kind, 0);
        tamis_info       info;
        for (uint64_t id = 0; id < 1000; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
        tamis_facts const facts = facts_of(set);
        assert_string_equal(facts.kind, kind);
        assert_int_equal(facts.abilities, info.plan.abilities);
        assert_int_equal(facts.capacity, CAPACITY);
        assert_int_equal(facts.copies, 1);
        assert_int_equal(facts.count_to, info.plan.count_to);
        assert_int_equal(facts.body_bytes, info.plan.body_bytes);
        assert_int_equal(facts.keys, info.facts.keys);
        assert_has_fields(set, &info.plan);
        assert_true((facts.count_to != 0) == ((facts.abilities & TAMIS_CAN_COUNT) != 0));
        tamis_free(set);
    }
    assert_int_equal(tamis_get_facts(NULL, &(tamis_facts){ 0 }), TAMIS_ERR_ARGUMENT);
}

/* The estimate is the number of keys that were added; the load is the share of the room that is in
 * use. */
static void a_survey_estimates_keys_and_load(void **state) {
    (void)state;
    static const char *const kinds[] = { "bloom", "counting", "vicbf", "bhcbf",  "mlcbf",
                                         "line",  "rank",     "dlcbf", "ddlcbf", "dlbf" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        tamis_set *const set = made(kinds[i], 0);
        double           load = 0;
        for (uint64_t id = 0; id < CAPACITY; id++) {
            assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
            if (id % 500 != 499) continue;
            tamis_info const info = inspect(set);
            assert_true(fabs(info.distinct / (double)(id + 1) - 1) < 0.1);
            assert_true(info.load > load && info.load <= 1);
            assert_true(info.prints <= id + 1);
            load = info.load;
        }
        tamis_free(set);
    }
}

/* Copies of a key change what is stored, but not which places of the table are in use. */
static void a_survey_does_not_count_copies_as_different_keys(void **state) {
    (void)state;
    static const char *const kinds[] = { "bloom", "counting", "line", "rank",
                                         "vicbf", "bhcbf",    "mlcbf" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        tamis_set *const set = made(kinds[i], TAMIS_CAN_COUNT * (i != 0));
        for (uint64_t id = 0; id < 1000; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        tamis_info const once = inspect(set);
        for (uint64_t id = 0; id < 500; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        tamis_info const twice = inspect(set);
        assert_true(fabs(twice.distinct / once.distinct - 1) < 1e-9);
        tamis_free(set);
    }
}

/* Copies are not counted as different keys, whichever cells they are in: the estimate, the
 * fingerprints and the fpr stay the same. The room that copies take is part of the load. */
static void a_survey_counts_copies_once(void **state) {
    (void)state;
    static const char *const kinds[] = { "line", "rank", "dlcbf", "ddlcbf" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        tamis_set *const set = made(kinds[i], TAMIS_CAN_REMOVE);
        for (uint64_t id = 0; id < 500; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        tamis_info const before = inspect(set);
        for (unsigned copy = 0; copy < 300; copy++) {
            assert_int_equal(tamis_add_id(set, copy % 50), TAMIS_OK);
        }
        tamis_info const after = inspect(set);
        assert_true(fabs(after.distinct / before.distinct - 1) < 0.02);
        assert_true(fabs((double)after.prints / (double)before.prints - 1) < 0.02);
        assert_true(after.load >= before.load);
        tamis_free(set);
    }
}

static void fields_of_a_geometry_are_within_their_ranges(void **state) {
    (void)state;
    const char       *kind;
    tamis_field_range fields[TAMIS_MAX_FIELDS];
    size_t            n;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++) {
        assert_int_equal(tamis_kind_fields(kind, fields, &n), TAMIS_OK);
        tamis_set *const set = made(kind, 0);
        tamis_info       info;
        assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
        assert_int_equal(n, info.plan.n_fields);
        for (size_t f = 0; f < n; f++) {
            assert_string_equal(fields[f].name, info.plan.fields[f].name);
            assert_true(fields[f].least <= info.plan.fields[f].value);
            assert_true(fields[f].most >= info.plan.fields[f].value);
        }
        tamis_free(set);
    }
    assert_int_equal(tamis_kind_fields("none", fields, &n), TAMIS_ERR_KIND);
}

/* ------------------------------------------------------------------ a limit of memory */

/* The capacities that kinds have room for. With a layout for speed, a few more keys may still fit,
 * as a table that is only small. With the smallest layout they do not. */
static void expect_capacities(const tamis_spec *spec) {
    tamis_plan rows[32];
    size_t     n, possible = 0;
    assert_int_equal(tamis_plan_kinds(spec, rows, 32, &n, NULL), TAMIS_OK);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].status != TAMIS_OK) continue;
        possible++;
        assert_true(rows[i].body_bytes <= spec->memory);
        assert_true(rows[i].fpr <= spec->fpr);
        tamis_spec more = *spec; /* 3% more keys */
        tamis_plan row;
        more.kind = rows[i].kind;
        more.capacity = rows[i].capacity + rows[i].capacity / 32 + 64;
        size_t one;
        assert_int_equal(tamis_plan_kinds(&more, &row, 1, &one, NULL), TAMIS_OK);
        if (spec->prefer == TAMIS_PREFER_SMALL) assert_int_equal(row.status, TAMIS_ERR_CANNOT);
        if (row.status == TAMIS_OK) assert_true(row.body_bytes <= spec->memory);
    }
    assert_true(possible >= 2);
}

static void memory_decides_how_many_keys_fit(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.memory = 100000;
    spec.fpr = 0.001;
    spec.abilities = TAMIS_CAN_REMOVE;
    expect_capacities(&spec);
    tamis_set *const  set = make_set_from(&spec);
    tamis_facts const facts = facts_of(set);
    assert_true(facts.body_bytes <= spec.memory && facts.capacity > 30000);
    tamis_free(set);
    spec.prefer = TAMIS_PREFER_SMALL;
    expect_capacities(&spec);
}

static void memory_decides_which_rate_is_reached(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_info info;
    spec.memory = 100000;
    spec.capacity = 50000;
    tamis_set *const set = make_set_from(&spec);
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_true(info.plan.body_bytes <= spec.memory && info.plan.capacity == 50000);
    assert_true(info.plan.fpr < 0.005); /* 16 bits for a key */
    tamis_free(set);
}

/* In 1.3 MiB, a million keys that can be removed have a rate of 0.68% in rank, 6.5% in mlcbf and
 * 14% in vicbf; line does not fit. All of them touch one cache line for a lookup. */
static void memory_is_for_the_lowest_rate_where_line_does_not_fit(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_plan rows[16];
    size_t     n_rows;
    double     lowest = 1, chosen = 0;
    spec.memory = (13 << 20) / 10;
    spec.capacity = 1000000;
    spec.abilities = TAMIS_CAN_REMOVE;
    assert_int_equal(tamis_plan_kinds(&spec, rows, 16, &n_rows, NULL), TAMIS_OK);
    for (size_t i = 0; i < n_rows; i++) {
        if (rows[i].status == TAMIS_OK && rows[i].fpr < lowest) lowest = rows[i].fpr;
        if (rows[i].chosen) chosen = rows[i].fpr;
    }
    assert_true(lowest < 0.01 && chosen == lowest);
    tamis_set *const set = make_set_from(&spec);
    tamis_info       info;
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_true(info.plan.fpr == lowest);
    tamis_free(set);
}

static void memory_that_is_too_little_is_refused(void **state) {
    (void)state;
    tamis_spec    spec = TAMIS_SPEC_INIT;
    tamis_set    *set;
    tamis_problem problem;
    spec.capacity = 50000;
    spec.fpr = 0.001;
    spec.memory = 1000;
    spec.kind = "line";
    assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "memory"));
    spec.capacity = 0;
    spec.fpr = 0;
    assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_ARGUMENT);
}

/* ------------------------------------------------------------------ descriptors */

static void a_set_is_opened_from_a_descriptor(void **state) {
    (void)state;
    temporary const  file = temporary_file();
    tamis_set *const set = made(NULL, TAMIS_CAN_REMOVE);
    tamis_set       *back = NULL;
    assert_int_equal(tamis_add(set, "sieve", 5), TAMIS_OK);
    assert_int_equal(tamis_save(set, file.path, NULL), TAMIS_OK);
    int const fd = open(file.path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(lseek(fd, 100, SEEK_SET), 100); /* the offset must not matter */
    temporary_remove(&file);                         /* the descriptor is enough */
    for (unsigned flags = 0; flags <= TAMIS_OPEN_MAP; flags++) {
        tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
        options.flags = flags;
        assert_int_equal(tamis_open_fd(fd, &options, &back, NULL), TAMIS_OK);
        assert_true(tamis_has(back, "sieve", 5));
        assert_true(facts_of(back).is_mapped == (flags != 0));
        tamis_free(back);
    }
    assert_int_equal(lseek(fd, 0, SEEK_CUR),
                     100); /* the descriptor is still open, with the same offset */
    assert_int_equal(close(fd), 0);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(tamis_open_fd(ends[0], NULL, &back, NULL), TAMIS_ERR_IO);
    assert_int_equal(tamis_open_fd(-1, NULL, &back, NULL), TAMIS_ERR_IO);
    (void)close(ends[0]);
    (void)close(ends[1]);
    tamis_free(set);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_in_one_call_are_that_many_adds),
        cmocka_unit_test(a_flood_in_one_call_saturates_the_key),
        cmocka_unit_test(copies_that_do_not_fit_change_nothing),
        cmocka_unit_test(removals_of_saturated_keys_are_told_apart),
        cmocka_unit_test(add_new_tells_what_was_new),
        cmocka_unit_test(add_new_is_a_lookup_and_an_add),
        cmocka_unit_test(add_new_takes_keys_as_bytes),
        cmocka_unit_test(add_new_takes_hashes),
        cmocka_unit_test(the_last_copy_is_told_in_every_kind),
        cmocka_unit_test(the_last_copy_is_told_in_sets_that_grow),
        cmocka_unit_test(the_last_copy_needs_a_set_that_removes),
        cmocka_unit_test(sets_that_share_a_seed_share_hashes),
        cmocka_unit_test(an_id_is_the_key_of_its_hash),
        cmocka_unit_test(batches_of_hashes_are_batches_of_their_keys),
        cmocka_unit_test(a_hint_changes_nothing),
        cmocka_unit_test(facts_are_those_of_the_plan),
        cmocka_unit_test(a_survey_estimates_keys_and_load),
        cmocka_unit_test(a_survey_does_not_count_copies_as_different_keys),
        cmocka_unit_test(a_survey_counts_copies_once),
        cmocka_unit_test(fields_of_a_geometry_are_within_their_ranges),
        cmocka_unit_test(memory_decides_how_many_keys_fit),
        cmocka_unit_test(memory_decides_which_rate_is_reached),
        cmocka_unit_test(memory_is_for_the_lowest_rate_where_line_does_not_fit),
        cmocka_unit_test(memory_that_is_too_little_is_refused),
        cmocka_unit_test(a_set_is_opened_from_a_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
