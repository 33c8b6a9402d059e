/* test_batches.c - batches do what single calls do, with short and with long chunks.
 *
 * The memory of the keys of a chunk is prefetched, in several ways (keys.h). How long a chunk is
 * depends on the processor, so the tests set the length themselves.
 */
#include "handle.h"
#include "make.h"

#define MOST_IDS 150 /* two long chunks and a rest */

/* Lookups in batches of all sizes around that of a chunk, half of them of absent keys, answer as
 * single calls do. */
static void check_batches_of_lookups(const tamis_set *set, uint64_t keys) {
    for (size_t n = 1; n <= MOST_IDS; n += n < 70 ? 1 : 19) {
        uint64_t ids[MOST_IDS];
        bool     has[MOST_IDS];
        size_t   found = 0;
        for (size_t i = 0; i < n; i++) ids[i] = (n * 7919 + i * 104729) % (2 * keys);
        size_t const told = tamis_has_id_batch(set, ids, n, has);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(has[i], tamis_has_id(set, ids[i]));
            assert_true(has[i] || ids[i] >= keys);
            found += has[i];
        }
        assert_int_equal(told, found);
    }
}

/* The length of chunks depends on the processor (kind.h, chunk). Here it depends on the test. */
static void set_chunks(tamis_set *set, unsigned chunk) {
    set->ask_chunk = set->update_chunk = chunk;
}

/* Add 0..keys-1 to `batched` in batches of many sizes, and to `single` one by one; then remove some
 * of them, and keys that are not there. Both sets have the same bytes. */
static void check_batches_of_updates(tamis_set *batched, tamis_set *single, uint64_t keys,
                                     unsigned chunk) {
    uint64_t ids[MOST_IDS];
    size_t   n = 1, removed = 0;
    for (uint64_t at = 0; at < keys; at += n) {
        size_t added;
        n = (size_t)min_u64(1 + at * 31 % MOST_IDS, keys - at);
        for (size_t i = 0; i < n; i++) ids[i] = at + i;
        set_chunks(batched, chunk); /* it changes when a growing set begins or ends a step */
        assert_int_equal(tamis_add_id_batch(batched, ids, n, &added), TAMIS_OK);
        assert_int_equal(added, n);
        for (size_t i = 0; i < n; i++) assert_int_equal(tamis_add_id(single, ids[i]), TAMIS_OK);
    }
    for (uint64_t at = 0; at < keys; at += 3 * n) {
        tamis_removal removal;
        n = 1 + at * 31 % MOST_IDS;
        for (size_t i = 0; i < n; i++) ids[i] = at + i;
        assert_int_equal(tamis_remove_id_batch(batched, ids, n, NULL, &removal), TAMIS_OK);
        removed += removal.removed;
        for (size_t i = 0; i < n; i++) removed -= tamis_remove_id(single, ids[i]) == TAMIS_OK;
    }
    assert_int_equal(removed, 0);
    assert_int_equal(batched->table.body_bytes, single->table.body_bytes);
    assert_memory_equal(batched->table.body, single->table.body, single->table.body_bytes);
}

/* In sets beyond the second-level cache the memory of keys is prefetched, in several ways. */
static void batches_beyond_the_cache_are_single_calls(void **state) {
    (void)state;
    static const tamis_seed seed = { 7, 9 };
    static const struct {
        const char *kind;
        unsigned    abilities;
        bool        shared, grows;
    } sets[] = { { "line", TAMIS_CAN_REMOVE, false, false },
                 { "line", TAMIS_CAN_REMOVE, true, false },
                 { "line", TAMIS_CAN_REMOVE, false, true },
                 { "line", TAMIS_CAN_COUNT, false, false },
                 { "bloom", 0, false, false },
                 { "bloom", 0, true, false },
                 { "rank", TAMIS_CAN_REMOVE, false, false } };
    static const unsigned chunks[] = { 16, TAMIS_CHUNK };
    for (size_t i = 0; i < 2 * sizeof sets / sizeof sets[0]; i++) {
        uint64_t const keys = 500000;
        unsigned const chunk = chunks[i % 2];
        tamis_spec     spec = TAMIS_SPEC_INIT;
        spec.capacity = sets[i / 2].grows ? 1000 : keys;
        spec.grow_to = sets[i / 2].grows ? keys : 0;
        spec.fpr = 0.003;
        spec.abilities = sets[i / 2].abilities;
        spec.shared = sets[i / 2].shared;
        spec.kind = sets[i / 2].kind;
        spec.seed = &seed;
        tamis_set *const set = make_set_from(&spec), *const other = make_set_from(&spec);
        for (uint64_t id = 0; id < keys; id++) {
            assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
            if ((id + 1) % 100000 != 0) continue;
            set_chunks(set, chunk);
            check_batches_of_lookups(set, id + 1);
        }
        assert_int_equal(tamis_clear(set), TAMIS_OK);
        if (spec.abilities != 0) check_batches_of_updates(set, other, keys, chunk);
        tamis_free(set);
        tamis_free(other);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_beyond_the_cache_are_single_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
