/* test_limits.c - little memory, little shared memory, calls of the driver that fail, damaged
 * bodies: cases that only the emulator can produce. */
#include "emulator.h"
#include "file_layout.h"
#include "header.h"
#include "pair.h"
#include "set.h"
#include "temporary.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ memory */

/* A block of compute capability 7.5 has 64 KiB of shared memory. That is enough for tables without
 * rests, and for lines with rests that are not crowded. */
static void test_little_shared_memory(void **unused) {
    (void)unused;
    tamis_spec spec =
        pair_spec("line", "buckets=16,remainder_bits=12,counter_bits=0,copies=1,attic=4000", 0);
    pair            both = pair_make(&spec);
    uint64_t *const ids = malloc(8 * PAIR_MOST);
    tamis_problem   problem = { 0 };
    emulator_shared = UINT64_C(64) << 10;
    for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = i;
    assert_true(pair_add(&both, ids, 900, 0));
    tamis_gpu_keys const more = pair_keys(&both, ids, 2000, 0);
    assert_int_equal(tamis_gpu_add(both.there, &more, &problem), TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "shared memory"));
    pair_compare(&both);
    pair_free(&both);
    pair_history("buckets=32,remainder_bits=8,counter_bits=0,copies=8,attic=4000", 2500, 9);
    emulator_shared = UINT64_C(227) << 10;
    free(ids);
}

/* A file that is opened with TAMIS_OPEN_TRUST may be damaged. An attic entry that belongs to no
 * bucket is dropped, and nothing outside of the table is read. */
static void test_damaged_attic(void **unused) {
    (void)unused;
    tamis_spec spec =
        pair_spec("line", "buckets=64,remainder_bits=8,counter_bits=0,copies=8,attic=2000", 0);
    pair            both = pair_make(&spec);
    uint64_t *const ids = malloc(8 * PAIR_MOST);
    for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = i;
    assert_true(pair_add(&both, ids, 4500, 0));
    const lines_shape *const lines = &both.there->table.lines;
    uint8_t *const           words = both.there->table.body + lines->words;
    uint64_t const           before = both.there->attic;
    assert_true(before > 100);
    size_t at = 0;
    while (words[at] == 0) at += lines->word_bits / 8;
    memset(words + at, 0, lines->word_bits / 8);
    words[at] = 1;
    tamis_gpu_keys const one = pair_keys(&both, ids + 5000, 1, 0);
    assert_int_equal(tamis_gpu_add(both.there, &one, NULL), TAMIS_OK);
    assert_true(both.there->attic < before + 1);
    pair_free(&both);
    free(ids);
}

/* Change some bytes of the body, or fill a piece of it with ones or zeros. */
static void damage_body(FILE *file, uint64_t body_bytes, dice *d) {
    uint8_t  piece[512];
    unsigned filling = (unsigned)dice_below(d, 3);
    for (unsigned n = 1 + (unsigned)dice_below(d, 20); n != 0; n--) {
        size_t const bytes = 1 + (size_t)dice_below(d, filling == 0 ? 8 : sizeof piece);
        uint64_t     at = dice_below(d, body_bytes);
        size_t const most = body_bytes - at < bytes ? (size_t)(body_bytes - at) : bytes;
        for (size_t i = 0; i < most; i++)
            piece[i] = filling == 0 ? (uint8_t)dice_roll(d) : filling == 1 ? 0xff : 0;
        assert_int_equal(fseek(file, (long)(HEADER_BYTES + at), SEEK_SET), 0);
        assert_int_equal(fwrite(piece, 1, most, file), most);
    }
}

/* All calls for a set whose body is damaged. What they return does not matter. */
static void use_damaged(tamis_gpu_set *set, const uint64_t *ids, uint8_t *has, uint64_t *counts) {
    tamis_gpu_keys const keys = { .data = ids, .n = 2000, .flags = TAMIS_GPU_HOST };
    tamis_gpu_keys const more = { .data = ids + 1000, .n = 2000, .flags = TAMIS_GPU_HOST };
    tamis_set           *back = NULL;
    (void)!tamis_gpu_has(set, &keys, has, NULL);
    (void)!tamis_gpu_count(set, &keys, counts, NULL);
    (void)!tamis_gpu_remove(set, &keys, NULL, NULL);
    (void)!tamis_gpu_add(set, &more, NULL);
    (void)!tamis_gpu_remove(set, &more, NULL, NULL);
    (void)!tamis_gpu_add(set, &keys, NULL);
    (void)!tamis_gpu_has(set, &more, has, NULL);
    (void)!tamis_gpu_download(set, &back, NULL);
    tamis_free(back);
}

/* Bodies of files that are opened with TAMIS_OPEN_TRUST: all accesses stay in the table, which
 * AddressSanitizer checks, and every call ends. */
static void test_damaged_bodies(void **unused) {
    (void)unused;
    static const char *const shapes[][2] = {
        { "line", "buckets=64,remainder_bits=8,counter_bits=0,copies=8,attic=2000" },
        { "line", "buckets=64,remainder_bits=12,counter_bits=2,copies=1,attic=300" },
        { "line", "buckets=64,remainder_bits=8,counter_bits=0,copies=1,attic=300" },
        { "bloom", "blocked=1" },
        { "bloom", NULL },
    };
    uint64_t *const ids = malloc(8 * PAIR_MOST), *const counts = malloc(8 * PAIR_MOST);
    uint8_t *const has = malloc(PAIR_MOST);
    dice           d = dice_start();
    for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = i;
    for (unsigned round = 0; round < 5 * 10; round++) {
        const char *const *const shape = shapes[round % 5];
        tamis_spec               spec = pair_spec(shape[0], shape[1], *shape[0] == 'b' ? 3000 : 0);
        temporary                path = temporary_file();
        tamis_gpu_set           *damaged = NULL;
        tamis_facts              facts;
        if (*shape[0] == 'b') spec.fpr = 0.01;
        pair both = pair_make(&spec);
        (void)!tamis_add_id_batch(both.here, ids, 3000, NULL);
        assert_int_equal(tamis_get_facts(both.here, &facts), TAMIS_OK);
        assert_int_equal(tamis_save(both.here, path.path, NULL), TAMIS_OK);
        FILE *const file = fopen(path.path, "r+b");
        assert_non_null(file);
        damage_body(file, facts.body_bytes, &d);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(
            tamis_gpu_upload_file(both.gpu, path.path, TAMIS_OPEN_TRUST, &damaged, NULL), TAMIS_OK);
        use_damaged(damaged, ids, has, counts);
        tamis_gpu_free(damaged);
        temporary_remove(&path);
        pair_free(&both);
    }
    free(ids);
    free(counts);
    free(has);
}

/* With little memory, keys are processed in pieces and the copy of the body is kept in the memory
 * of the host. A call that is refused in a later piece changes nothing. */
static void test_pieces(void **unused) {
    (void)unused;
    tamis_spec spec =
        pair_spec("line", "buckets=400,remainder_bits=8,counter_bits=0,copies=8,attic=60", 17000);
    uint64_t *const ids = malloc(8 * PAIR_MOST);
    pair            both = pair_make(&spec);
    uint64_t const  body = emulator_used(both.gpu);
    for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = i;
    emulator_memory = body + 8 * 16000 + 40000; /* keys, and little else */
    assert_true(pair_add(&both, ids, 16000, 0));
    pair_compare(&both);
    assert_true(pair_add(&both, ids + 16000, 100, TAMIS_GPU_HOST));
    pair_compare(&both);
    emulator_memory = body + 8 * PAIR_MOST + 40000;
    assert_false(pair_add(&both, ids, PAIR_MOST, 0));
    tamis_gpu_keys const keys = pair_keys(&both, ids, 10, 0);
    emulator_memory = emulator_used(both.gpu) + 20;
    assert_int_equal(tamis_gpu_add(both.there, &keys, NULL), TAMIS_ERR_MEMORY);
    emulator_memory = UINT64_C(1) << 40;
    pair_ask(&both, ids, 16100);
    pair_remove(&both, ids, 16100, 0);
    pair_free(&both);
    free(ids);
}

/* Fill a table with ids 0 to n - 1. Returns the bytes of scratch memory per key. */
static double scratch_of(double fpr, unsigned abilities, size_t n, unsigned flags) {
    tamis_spec spec = pair_spec("line", NULL, n);
    spec.fpr = fpr;
    spec.abilities = abilities;
    uint64_t *const ids = malloc(8 * n);
    pair            both = pair_make(&spec);
    for (size_t i = 0; i < n; i++) ids[i] = i;
    /* The buffer for copying keys is kept. It has a fixed size and is not counted. */
    tamis_gpu_keys const first = pair_keys(&both, ids, n, TAMIS_GPU_HOST);
    uint8_t *const       has = malloc(n);
    assert_int_equal(tamis_gpu_has(both.there, &first, has, NULL), TAMIS_OK);
    free(has);
    tamis_gpu_keys const keys = pair_keys(&both, ids, n, flags);
    uint64_t const       before = emulator_used(both.gpu);
    emulator_peak = 0;
    assert_int_equal(tamis_gpu_add(both.there, &keys, NULL), TAMIS_OK);
    assert_int_equal(emulator_used(both.gpu), before);
    uint64_t const bytes = emulator_peak - before;
    assert_int_equal(tamis_add_id_batch(both.here, ids, n, NULL), TAMIS_OK);
    pair_compare(&both);
    pair_free(&both);
    free(ids);
    return (double)bytes / (double)n;
}

/* Filling a table takes at most 12 bytes of scratch memory for each key, in each mode. */
static void test_scratch(void **unused) {
    (void)unused;
    unsigned const modes[] = { 0, TAMIS_CAN_REMOVE, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT };
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 2; j++) {
            double const bytes = scratch_of(j == 0 ? 0.003 : 1e-5, modes[i], PAIR_MOST, 0);
            if (!(bytes > 8.0 / 4 && bytes <= 12)) fail_msg("%u, %u: %f bytes", i, j, bytes);
        }
    }
    double const from_here = scratch_of(0.003, TAMIS_CAN_REMOVE, 7 * PAIR_MOST, TAMIS_GPU_HOST);
    if (!(from_here > 8.0 / 4 && from_here <= 12)) fail_msg("from here: %f bytes", from_here);
}

static void test_too_large(void **unused) {
    (void)unused;
    tamis_spec     spec = pair_spec("line", NULL, 3000);
    tamis_problem  problem = { 0 };
    tamis_gpu_set *none;
    spec.fpr = 0.01;
    pair both = pair_make(&spec);
    emulator_memory = emulator_used(both.gpu) + 1000;
    assert_int_equal(tamis_gpu_upload(both.gpu, both.here, &none, &problem), TAMIS_ERR_MEMORY);
    assert_non_null(strstr(problem.text, "too large"));
    emulator_memory = UINT64_C(1) << 40;
    tamis_gpu_free(both.there);
    assert_int_equal(emulator_used(both.gpu), 0);
    both.there = NULL;
    pair_free(&both);
}

/* ------------------------------------------------------------------ calls that fail */

/* The call is refused, and the problem has a text. */
static void expect_words(tamis_status status, tamis_status expected, tamis_problem *problem) {
    assert_int_equal(status, expected);
    assert_true(problem->text[0] != 0);
    *problem = (tamis_problem){ 0 };
}

/* If a context could not be entered, it is not left, either: the current one is that of the
 * caller. */
static void test_no_entry(void **unused) {
    (void)unused;
    tamis_spec      spec = pair_spec("line", NULL, 3000);
    tamis_problem   problem = { 0 };
    tamis_gpu_set  *none = NULL;
    tamis_set      *set = NULL;
    tamis_gpu_facts facts;
    void           *memory = NULL;
    uint64_t        id = 1;
    uint8_t         has;
    spec.fpr = 0.01;
    spec.abilities = TAMIS_CAN_REMOVE;
    pair                 both = pair_make(&spec);
    tamis_gpu_keys const keys = pair_keys(&both, &id, 1, 0);
    assert_int_equal(emulator_depth, 0);
    emulator_refuses_entry = true;
    expect_words(tamis_gpu_upload(both.gpu, both.here, &none, &problem), TAMIS_ERR_IO, &problem);
    expect_words(tamis_gpu_create(both.gpu, &spec, &none, &problem), TAMIS_ERR_IO, &problem);
    expect_words(tamis_gpu_download(both.there, &set, &problem), TAMIS_ERR_IO, &problem);
    expect_words(tamis_gpu_has(both.there, &keys, &has, &problem), TAMIS_ERR_IO, &problem);
    expect_words(tamis_gpu_add(both.there, &keys, &problem), TAMIS_ERR_IO, &problem);
    expect_words(tamis_gpu_remove(both.there, &keys, NULL, &problem), TAMIS_ERR_IO, &problem);
    expect_words(tamis_gpu_get_memory(both.gpu, 8, &memory, &problem), TAMIS_ERR_IO, &problem);
    expect_words(tamis_gpu_wait(both.gpu, NULL, &problem), TAMIS_ERR_IO, &problem);
    assert_int_equal(tamis_gpu_describe(both.gpu, &facts), TAMIS_ERR_IO);
    assert_int_equal(emulator_depth, 0);
    emulator_refuses_entry = false;
    pair_compare(&both);
    pair_free(&both);
    assert_int_equal(emulator_depth, 0);
}

static void test_no_pinned_memory(void **unused) {
    (void)unused;
    tamis_spec     spec = pair_spec("line", NULL, 3000);
    tamis_problem  problem = { 0 };
    tamis_gpu_set *none = NULL;
    tamis_set     *set = NULL;
    uint64_t       id = 1;
    uint8_t        has;
    spec.fpr = 0.01;
    pair                 both = pair_make(&spec);
    tamis_gpu_keys const keys = pair_keys(&both, &id, 1, TAMIS_GPU_HOST);
    emulator_refuses_pins = true;
    expect_words(tamis_gpu_upload(both.gpu, both.here, &none, &problem), TAMIS_ERR_MEMORY,
                 &problem);
    expect_words(tamis_gpu_download(both.there, &set, &problem), TAMIS_ERR_MEMORY, &problem);
    expect_words(tamis_gpu_has(both.there, &keys, &has, &problem), TAMIS_ERR_MEMORY, &problem);
    emulator_refuses_pins = false;
    assert_int_equal(tamis_gpu_has(both.there, &keys, &has, &problem), TAMIS_OK);
    pair_free(&both);
}

/* Headers as a newer libtamis might write them, with something that this library does not know. */
static void test_newer_sets(void **unused) {
    (void)unused;
    static const struct {
        unsigned    at, value;
        const char *words;
    } cases[] = { { AT_HASH, 3, "hash" },
                  { AT_REQUIRED, 8, "flags" },
                  { PART_FIELDS, 7, "newer" },
                  { AT_MAJOR, 2, "newer" } };
    static const char *const kinds[] = { "line", "bloom" };
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        tamis_spec    spec = pair_spec(kinds[i % 2], NULL, 3000);
        tamis_problem problem = { 0 };
        gpu_table     table;
        uint8_t       header[HEADER_BYTES];
        spec.fpr = 0.01;
        pair both = pair_make(&spec);
        memcpy(header, both.there->header, sizeof header);
        assert_int_equal(header_make_table(header, &table, &problem), TAMIS_OK);
        header[cases[i / 2].at] = (uint8_t)cases[i / 2].value;
        assert_int_equal(header_make_table(header, &table, &problem), TAMIS_ERR_CANNOT);
        assert_non_null(strstr(problem.text, cases[i / 2].words));
        pair_free(&both);
    }
}

/* A call with keys in the memory of this machine, or without keys. */
typedef tamis_status some_call(pair *both, const tamis_gpu_keys *keys, tamis_problem *problem);

static tamis_status call_create(pair *both, const tamis_gpu_keys *keys, tamis_problem *problem) {
    tamis_spec     spec = pair_spec("line", NULL, 3000);
    tamis_gpu_set *made = NULL;
    (void)keys;
    spec.fpr = 0.01;
    tamis_status const status = tamis_gpu_create(both->gpu, &spec, &made, problem);
    tamis_gpu_free(made);
    return status;
}

static tamis_status call_upload(pair *both, const tamis_gpu_keys *keys, tamis_problem *problem) {
    tamis_gpu_set *made = NULL;
    (void)keys;
    tamis_status const status = tamis_gpu_upload(both->gpu, both->here, &made, problem);
    tamis_gpu_free(made);
    return status;
}

static tamis_status call_download(pair *both, const tamis_gpu_keys *keys, tamis_problem *problem) {
    tamis_set *made = NULL;
    (void)keys;
    tamis_status const status = tamis_gpu_download(both->there, &made, problem);
    tamis_free(made);
    return status;
}

static tamis_status call_has(pair *both, const tamis_gpu_keys *keys, tamis_problem *problem) {
    uint8_t has[100];
    return tamis_gpu_has(both->there, keys, has, problem);
}

/* If it succeeds, the set here gets the same keys. */
static tamis_status call_add(pair *both, const tamis_gpu_keys *keys, tamis_problem *problem) {
    tamis_status const status = tamis_gpu_add(both->there, keys, problem);
    if (status == TAMIS_OK)
        assert_int_equal(tamis_add_id_batch(both->here, keys->data, keys->n, NULL), TAMIS_OK);
    return status;
}

static tamis_status call_remove(pair *both, const tamis_gpu_keys *keys, tamis_problem *problem) {
    tamis_status const status = tamis_gpu_remove(both->there, keys, NULL, problem);
    if (status == TAMIS_OK)
        assert_int_equal(tamis_remove_id_batch(both->here, keys->data, keys->n, NULL, NULL),
                         TAMIS_OK);
    return status;
}

/* Let the first allocation of a call and all others fail, then all but the first, and so on until
 * it needs no more. A call may do without some. Nothing else changes, and no memory is kept. */
static unsigned let_allocations_fail(pair *both, some_call *call, const uint64_t *ids) {
    tamis_gpu_keys const keys = pair_keys(both, ids, 100, TAMIS_GPU_HOST);
    uint64_t const       used = emulator_used(both->gpu);
    unsigned             n = 0, refused = 0;
    for (bool is_last = false; !is_last; n++) {
        tamis_problem problem = { 0 };
        emulator_allocations = n;
        tamis_status const status = call(both, &keys, &problem);
        is_last = emulator_allocations != 0;
        emulator_allocations = UINT64_MAX;
        refused += status != TAMIS_OK;
        if (status != TAMIS_OK) expect_words(status, TAMIS_ERR_MEMORY, &problem);
        if (status != TAMIS_OK) assert_int_equal(emulator_used(both->gpu), used);
        pair_compare(both);
    }
    assert_int_equal(emulator_depth, 0);
    return refused;
}

static void test_each_allocation_fails(void **unused) {
    (void)unused;
    static const struct {
        const char *kind;
        double      fpr;
    } sets[] = { { "line", 0.01 }, { "line", 1e-6 }, { "bloom", 0.01 } };
    some_call *const calls[] = { call_create, call_upload, call_download, call_has, call_add };
    uint64_t         ids[100];
    for (unsigned i = 0; i < 100; i++) ids[i] = i;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        tamis_spec spec = pair_spec(sets[i].kind, NULL, 3000);
        spec.fpr = sets[i].fpr;
        spec.abilities = i < 2 ? TAMIS_CAN_REMOVE : 0;
        for (size_t j = 0; j < sizeof calls / sizeof *calls; j++) {
            pair both = pair_make(&spec); /* the memory for keys is kept from call to call */
            assert_true(let_allocations_fail(&both, calls[j], ids) != 0);
            pair_free(&both);
        }
        pair both = pair_make(&spec);
        if (i < 2) assert_true(let_allocations_fail(&both, call_remove, ids) != 0);
        pair_free(&both);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_little_shared_memory),
        cmocka_unit_test(test_damaged_attic),
        cmocka_unit_test(test_damaged_bodies),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_no_entry),
        cmocka_unit_test(test_no_pinned_memory),
        cmocka_unit_test(test_newer_sets),
        cmocka_unit_test(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
