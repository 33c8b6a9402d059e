/* test_lookups.c - sets on a GPU give the same answers as the sets on the host. */
#include "pair.h"
#include "temporary.h"

#include "core/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 6000

/* Half of the ids are added, some of them several times. */
static void fill(pair *both, uint64_t *ids, size_t n, bool has_copies) {
    dice   chance = { 7 };
    size_t added = 0;
    for (size_t i = 0; i < n; i++) ids[i] = i < n / 2 ? i : dice_roll(&chance);
    for (size_t i = 0; i < n; i += 2) {
        unsigned const copies = has_copies ? 1 + (unsigned)dice_below(&chance, 12) / 3 : 1;
        /* The set may be full. */
        for (unsigned j = 0; j < copies; j++) added += tamis_add_id(both->here, ids[i]) == TAMIS_OK;
    }
    assert_true(added != 0);
}

static void try_lookups(const char *kind, const char *geometry, unsigned hash, size_t n) {
    tamis_spec spec = pair_spec(kind, geometry, n / 2);
    uint64_t   ids[MANY];
    spec.hash = hash;
    pair both = pair_make(&spec);
    fill(&both, ids, n, true);
    pair_upload(&both);
    pair_ask(&both, ids, n);
    pair_compare(&both);
    pair_free(&both);
}

/* Tables without and with rests; sets, multisets and counters; cut lines, full shelves and an
 * attic; a last group with fewer buckets. */
static void test_lines(void **unused) {
    (void)unused;
    static const char *const geometries[] = {
        "buckets=60,remainder_bits=8,counter_bits=0,copies=1,attic=2000",
        "buckets=131,remainder_bits=8,counter_bits=0,copies=8,attic=2000",
        "buckets=100,remainder_bits=13,counter_bits=0,copies=8,attic=3000",
        "buckets=64,remainder_bits=8,counter_bits=3,copies=1,attic=1000",
        "buckets=57,remainder_bits=21,counter_bits=8,copies=1,attic=1000",
        "buckets=70,remainder_bits=40,counter_bits=24,copies=1,attic=1000",
        "buckets=1,remainder_bits=16,counter_bits=0,copies=1,attic=500",
    };
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++) {
        try_lookups("line", geometries[i], TAMIS_HASH_DEFAULT, MANY);
        try_lookups("line", geometries[i], TAMIS_HASH_DEFAULT, 60);
    }
}

static void test_blooms(void **unused) {
    (void)unused;
    static const char *const geometries[] = {
        "bits=60000,hashes=7",           "bits=60001,hashes=1",
        "bits=61440,hashes=1,blocked=1", "bits=61440,hashes=4,blocked=1",
        "bits=61440,hashes=8,blocked=1", "bits=102400,hashes=16,blocked=1",
        "bits=512,hashes=64,blocked=1",
    };
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
        try_lookups("bloom", geometries[i], TAMIS_HASH_DEFAULT, MANY);
}

/* Only if the library has SipHash. */
static void test_siphash(void **unused) {
    (void)unused;
    tamis_spec spec = pair_spec("line", NULL, 1000);
    tamis_set *set;
    spec.fpr = 0.01;
    spec.hash = TAMIS_HASH_SIPHASH;
    if (tamis_create(&spec, &set, NULL) != TAMIS_OK) {
        print_message("this build has no SipHash\n");
        return;
    }
    tamis_free(set);
    try_lookups("line", "buckets=131,remainder_bits=8,counter_bits=0,copies=8,attic=2000",
                TAMIS_HASH_SIPHASH, MANY);
}

/* Pieces of the pipeline are a few million keys; one more than two of them. */
static void test_pipeline(void **unused) {
    (void)unused;
    tamis_spec   spec = pair_spec("line", NULL, 100000);
    size_t const n = (2u << 21) + 1;
    uint64_t    *ids = malloc(8 * n);
    uint8_t     *has = malloc(n), *expected = malloc(n);
    spec.fpr = 0.003;
    pair           both = pair_make(&spec);
    tamis_gpu_keys keys = pair_keys(&both, ids, n, TAMIS_GPU_HOST);
    for (size_t i = 0; i < n; i++) ids[i] = i % 150000;
    assert_int_equal(tamis_add_id_batch(both.here, ids, 100000, NULL), TAMIS_OK);
    pair_upload(&both);
    assert_int_equal(tamis_gpu_has(both.there, &keys, has, NULL), TAMIS_OK);
    (void)tamis_has_id_batch(both.here, ids, n, (bool *)(void *)expected);
    assert_memory_equal(has, expected, n);
    pair_free(&both);
    free(ids);
    free(has);
    free(expected);
}

/* ------------------------------------------------------------------ states */

static void test_states(void **unused) {
    (void)unused;
    static const tamis_seed seed = { 3, 4 };
    tamis_states_spec       spec = TAMIS_STATES_SPEC_INIT;
    tamis_states           *states;
    tamis_gpu              *gpu;
    tamis_gpu_set          *there;
    uint64_t                ids[2000] = { 0 }, values[2000];
    uint8_t                 has[2000];
    spec.capacity = 1000;
    spec.values = 1000;
    spec.fpr = 0.001;
    spec.timeout = 100;
    spec.kind = "line";
    spec.seed = &seed;
    assert_int_equal(tamis_states_create(&spec, &states, NULL), TAMIS_OK);
    for (size_t i = 0; i < 2000; i++) {
        ids[i] = i;
        if (i < 1000)
            assert_int_equal(tamis_states_put_id(states, i, (uint32_t)(i * 7 % 1000)), TAMIS_OK);
    }
    assert_int_equal(tamis_gpu_open(0, &gpu, NULL), TAMIS_OK);
    assert_int_equal(tamis_gpu_upload_states(gpu, states, &there, NULL), TAMIS_OK);
    tamis_gpu_keys const keys = there_keys(gpu, ids, 2000, 0);
    there_get(there, &keys, values);
    there_has(there, &keys, has);
    for (size_t i = 0; i < 2000; i++) {
        uint32_t           value = 0;
        tamis_status const status = tamis_states_get_id(states, ids[i], &value);
        assert_int_equal(has[i], status == TAMIS_OK);
        assert_int_equal(values[i], status == TAMIS_OK ? value : TAMIS_GPU_ABSENT);
    }
    assert_int_equal(tamis_gpu_add(there, &keys, NULL), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_gpu_remove(there, &keys, NULL, NULL), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_gpu_count(there, &keys, values, NULL), TAMIS_ERR_CANNOT);
    there_forget(gpu);
    tamis_gpu_free(there);
    tamis_gpu_close(gpu);
    tamis_states_free(states);
}

/* ------------------------------------------------------------------ sets come and go */

/* A set in a step of growing is complete on the GPU. */
static void test_growing(void **unused) {
    (void)unused;
    tamis_spec  spec = pair_spec("line", NULL, 2000);
    tamis_facts facts;
    uint64_t    ids[MANY];
    size_t      n = 0;
    spec.fpr = 0.001;
    spec.grow_to = 64000;
    spec.abilities = TAMIS_CAN_REMOVE;
    pair both = pair_make(&spec);
    do {
        ids[n] = n;
        assert_int_equal(tamis_add_id(both.here, n++), TAMIS_OK);
        assert_int_equal(tamis_get_facts(both.here, &facts), TAMIS_OK);
    } while (!facts.is_growing && n < MANY);
    assert_true(facts.is_growing);
    pair_upload(&both);
    pair_ask(&both, ids, n);
    assert_int_equal(tamis_resize(both.here, 2 * facts.capacity, NULL), TAMIS_OK);
    pair_compare(&both);
    pair_free(&both);
}

static void test_files(void **unused) {
    (void)unused;
    tamis_spec     spec = pair_spec("line", NULL, 3000);
    uint64_t       ids[MANY];
    temporary      file = temporary_file();
    tamis_gpu_set *from_file;
    spec.fpr = 0.01;
    pair both = pair_make(&spec);
    fill(&both, ids, MANY, false);
    assert_int_equal(tamis_save(both.here, file.path, NULL), TAMIS_OK);
    assert_int_equal(tamis_gpu_upload_file(both.gpu, file.path, 0, &from_file, NULL), TAMIS_OK);
    tamis_gpu_free(both.there);
    both.there = from_file;
    pair_ask(&both, ids, MANY);
    pair_compare(&both);
    assert_int_equal(tamis_gpu_upload_file(both.gpu, "/nowhere", 0, &from_file, NULL),
                     TAMIS_ERR_IO);
    assert_int_equal(tamis_gpu_upload_file(both.gpu, file.path, 64, &from_file, NULL),
                     TAMIS_ERR_ARGUMENT);
    temporary_remove(&file);
    pair_free(&both);
}

/* ------------------------------------------------------------------ refusals */

/* A part uses other bits of a hash than a whole set. If it were used as a whole set, it would miss
 * keys. */
static void test_parts(void **unused) {
    (void)unused;
    static const char *const kinds[] = { "line", "bloom" };
    temporary                file = temporary_file();
    tamis_gpu               *gpu;
    assert_int_equal(tamis_gpu_open(0, &gpu, NULL), TAMIS_OK);
    for (unsigned i = 0; i < 2; i++) {
        tamis_spec     spec = pair_spec(kinds[i], NULL, 3000);
        tamis_problem  problem = { 0 };
        tamis_set     *part;
        tamis_gpu_set *none = NULL;
        spec.fpr = 0.01;
        spec.part = 1;
        spec.parts = 4;
        assert_int_equal(tamis_create(&spec, &part, NULL), TAMIS_OK);
        assert_int_equal(tamis_gpu_upload(gpu, part, &none, &problem), TAMIS_ERR_CANNOT);
        assert_non_null(strstr(problem.text, "part of a set"));
        assert_int_equal(tamis_save(part, file.path, NULL), TAMIS_OK);
        assert_int_equal(tamis_gpu_upload_file(gpu, file.path, 0, &none, &problem),
                         TAMIS_ERR_CANNOT);
        assert_int_equal(tamis_gpu_create(gpu, &spec, &none, &problem), TAMIS_ERR_CANNOT);
        assert_non_null(strstr(problem.text, "part of a set"));
        assert_null(none);
        tamis_free(part);
    }
    tamis_gpu_close(gpu);
    temporary_remove(&file);
}

static void test_refusals(void **unused) {
    (void)unused;
    tamis_spec     spec = pair_spec("line", NULL, 3000);
    tamis_problem  problem = { 0 };
    tamis_gpu_set *none;
    tamis_set     *rank;
    uint64_t       id = 1, count;
    uint8_t        has;
    spec.fpr = 0.01;
    pair           both = pair_make(&spec);
    tamis_gpu_keys keys = pair_keys(&both, &id, 1, 0), bad = keys;
    bad.flags = 64;
    spec.kind = "rank";
    assert_int_equal(tamis_create(&spec, &rank, NULL), TAMIS_OK);
    assert_int_equal(tamis_gpu_upload(both.gpu, rank, &none, &problem), TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "rank"));
    assert_int_equal(tamis_gpu_create(both.gpu, &spec, &none, &problem), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_gpu_has(both.there, &bad, &has, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_gpu_has(both.there, &keys, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_gpu_has(NULL, &keys, &has, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_gpu_count(both.there, &keys, &count, NULL), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_gpu_get(both.there, &keys, &count, NULL), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_gpu_open(-1, &both.gpu, NULL), TAMIS_ERR_ARGUMENT);
    tamis_free(rank);
    pair_free(&both);
}

/* A kernel loads no word from an address that is not a multiple of its size. */
static void test_alignment(void **unused) {
    (void)unused;
    tamis_spec spec =
        pair_spec("line", "buckets=64,remainder_bits=8,counter_bits=3,copies=1,attic=1000", 3000);
    pair            both = pair_make(&spec);
    uint64_t const  words[4] = { 0 };
    tamis_problem   problem = { 0 };
    tamis_gpu_keys  good = pair_keys(&both, words, 3, 0), bad = good;
    tamis_gpu_keys  memory = pair_keys(&both, words, 4, 0); /* for answers */
    uint64_t *const counts = (uint64_t *)(uintptr_t)memory.data;
    uint8_t *const  has = (uint8_t *)counts;
    uint64_t *const odd_counts = (uint64_t *)(void *)(has + 4);
    bad.data = (const uint64_t *)(const void *)((const uint8_t *)good.data + 4);
    assert_int_equal(tamis_gpu_has(both.there, &bad, has, &problem), TAMIS_ERR_ARGUMENT);
    assert_non_null(strstr(problem.text, "multiple of 8"));
    assert_int_equal(tamis_gpu_count(both.there, &bad, counts, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_gpu_add(both.there, &bad, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_gpu_remove(both.there, &bad, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_gpu_count(both.there, &good, odd_counts, &problem), TAMIS_ERR_ARGUMENT);
    assert_non_null(strstr(problem.text, "answers"));
    good.n = 2;
    assert_int_equal(tamis_gpu_has(both.there, &good, has + 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_gpu_wait(both.gpu, NULL, NULL), TAMIS_OK);
    pair_free(&both);
}

/* The spec of an older caller ends earlier. That of a newer caller is accepted if its additional
 * fields are zero. */
static void test_other_specs(void **unused) {
    (void)unused;
    union {
        tamis_spec spec;
        uint8_t    bytes[sizeof(tamis_spec) + 16];
    } other = { .bytes = { 0 } };
    tamis_gpu     *gpu;
    tamis_gpu_set *set;
    other.spec = pair_spec("line", NULL, 3000);
    other.spec.fpr = 0.01;
    assert_int_equal(tamis_gpu_open(0, &gpu, NULL), TAMIS_OK);
    size_t const sizes[] = { sizeof other, sizeof other.spec, offsetof(tamis_spec, part) };
    for (unsigned i = 0; i < 3; i++) {
        other.spec.size = sizes[i];
        assert_int_equal(tamis_gpu_create(gpu, &other.spec, &set, NULL), TAMIS_OK);
        tamis_gpu_free(set);
    }
    other.bytes[sizeof other - 1] = 1;
    other.spec.size = sizeof other;
    assert_int_equal(tamis_gpu_create(gpu, &other.spec, &set, NULL), TAMIS_ERR_ARGUMENT);
    other.spec.size = 1 << 20;
    assert_int_equal(tamis_gpu_create(gpu, &other.spec, &set, NULL), TAMIS_ERR_ARGUMENT);
    other.spec.size = 4;
    assert_int_equal(tamis_gpu_create(gpu, &other.spec, &set, NULL), TAMIS_ERR_ARGUMENT);
    tamis_gpu_close(gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_blooms),
        cmocka_unit_test(test_siphash),     cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_states),      cmocka_unit_test(test_growing),
        cmocka_unit_test(test_files),       cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_other_specs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
