/* pair.c - see pair.h. */
#include "pair.h"

#include "buffer.h"
#include "make.h"

tamis_spec pair_spec(const char *kind, const char *geometry, uint64_t capacity) {
    static const tamis_seed seed = { 12345, 67890 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.kind = kind;
    spec.geometry = geometry;
    spec.capacity = geometry == NULL ? capacity : 10; /* it will be overloaded */
    spec.seed = &seed;
    return spec;
}

pair pair_make(const tamis_spec *spec) {
    pair          made = { .here = make_set_from(spec) };
    tamis_problem problem;
    assert_int_equal(tamis_gpu_open(0, &made.gpu, NULL), TAMIS_OK);
    if (tamis_gpu_create(made.gpu, spec, &made.there, &problem) != TAMIS_OK)
        fail_msg("%s", problem.text);
    return made;
}

void pair_free(pair *both) {
    there_forget(both->gpu);
    tamis_gpu_free(both->there);
    tamis_gpu_close(both->gpu);
    tamis_free(both->here);
}

void pair_upload(pair *both) {
    tamis_problem problem;
    tamis_gpu_free(both->there);
    if (tamis_gpu_upload(both->gpu, both->here, &both->there, &problem) != TAMIS_OK)
        fail_msg("%s", problem.text);
}

/* ------------------------------------------------------------------ files */

static void compare_files(const pair *both, size_t skipped_first, size_t skipped_last) {
    tamis_set    *down;
    tamis_problem problem;
    if (tamis_gpu_download(both->there, &down, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    buffer const a = buffer_of(both->here), b = buffer_of(down);
    assert_int_equal(a.n, b.n);
    for (size_t i = skipped_first; i < a.n - skipped_last; i++) {
        if (a.bytes[i] != b.bytes[i])
            fail_msg("byte %zu of the file is %02x, and %02x on the GPU", i, a.bytes[i],
                     b.bytes[i]);
    }
    free(a.bytes);
    free(b.bytes);
    tamis_free(down);
}

void pair_compare(const pair *both) {
    compare_files(both, 0, 0);
}

/* The header has 4096 bytes; the total checksum, of the header too, is the last 16. */
void pair_compare_body(const pair *both) {
    compare_files(both, 4096, 16);
}

/* ------------------------------------------------------------------ answers */

tamis_gpu_keys pair_keys(const pair *both, const uint64_t *ids, size_t n, unsigned flags) {
    return there_keys(both->gpu, ids, n, flags);
}

static void compare_counts(const pair *both, const tamis_gpu_keys *keys, const uint64_t *ids) {
    uint64_t *const counts = malloc(8 * keys->n), *const expected = malloc(8 * keys->n);
    assert_int_equal(tamis_count_id_batch(both->here, ids, keys->n, expected), TAMIS_OK);
    there_count(both->there, keys, counts);
    for (size_t i = 0; i < keys->n; i++) assert_int_equal(counts[i], expected[i]);
    free(counts);
    free(expected);
}

/* Keys as ids and as hashes, in the memory of the GPU and in that of the host. */
void pair_ask(const pair *both, const uint64_t *ids, size_t n) {
    uint8_t *const      has = malloc(n);
    uint64_t *const     hashes = malloc(8 * n);
    tamis_gpu_set_facts facts;
    assert_int_equal(tamis_gpu_get_facts(both->there, &facts), TAMIS_OK);
    for (size_t i = 0; i < n; i++) hashes[i] = tamis_hash_id(both->here, ids[i]);
    for (unsigned flags = 0; flags < 4; flags++) {
        bool const           are_hashes = (flags & TAMIS_GPU_HASHES) != 0;
        tamis_gpu_keys const keys = pair_keys(both, are_hashes ? hashes : ids, n, flags);
        there_has(both->there, &keys, has);
        for (size_t i = 0; i < n; i++) assert_int_equal(has[i], tamis_has_id(both->here, ids[i]));
        if ((facts.abilities & TAMIS_CAN_COUNT) != 0) compare_counts(both, &keys, ids);
    }
    there_forget(both->gpu);
    free(has);
    free(hashes);
}

/* ------------------------------------------------------------------ changes */

bool pair_add(pair *both, const uint64_t *ids, size_t n, unsigned flags) {
    tamis_set           *before;
    tamis_problem        problem = { 0 };
    tamis_gpu_keys const keys = pair_keys(both, ids, n, flags);
    assert_int_equal(tamis_copy(both->here, &before), TAMIS_OK);
    tamis_status const status = tamis_add_id_batch(both->here, ids, n, NULL);
    tamis_status const there = tamis_gpu_add(both->there, &keys, &problem);
    if (there != status) fail_msg("%d here, %d there: %s", status, there, problem.text);
    there_forget(both->gpu);
    if (status == TAMIS_OK) {
        tamis_free(before);
    } else {
        tamis_free(both->here);
        both->here = before;
    }
    return status == TAMIS_OK;
}

void pair_remove(pair *both, const uint64_t *ids, size_t n, unsigned flags) {
    tamis_gpu_keys const keys = pair_keys(both, ids, n, flags);
    tamis_removal        here, there;
    assert_int_equal(tamis_remove_id_batch(both->here, ids, n, NULL, &here), TAMIS_OK);
    assert_int_equal(tamis_gpu_remove(both->there, &keys, &there, NULL), TAMIS_OK);
    assert_int_equal(here.removed, there.removed);
    assert_int_equal(here.absent, there.absent);
    assert_int_equal(here.saturated, there.saturated);
    there_forget(both->gpu);
}

void pair_history(const char *geometry, size_t pool, unsigned rounds) {
    tamis_spec      spec = pair_spec("line", geometry, pool);
    uint64_t *const ids = malloc(8 * PAIR_MOST);
    pair            both = pair_make(&spec);
    dice            chance = { pool };
    bool            refused = false; /* then the counts of refusals differ */
    bool const      can_remove =
        strstr(geometry, "copies=1,") == NULL || strstr(geometry, "counter_bits=0") == NULL;
    for (unsigned round = 0; round < rounds; round++) {
        size_t const n = 1 + (size_t)dice_below(&chance, pool / 2);
        for (size_t i = 0; i < n; i++) {
            uint64_t const id = dice_roll(&chance);
            ids[i] = id % 5 == 0 ? id / 5 % 20 : id / 5 % pool;
        }
        if (round % 3 == 2 && can_remove)
            pair_remove(&both, ids, n, round % 2 ? TAMIS_GPU_HOST : 0);
        else if (!pair_add(&both, ids, n, round % 2 ? TAMIS_GPU_HOST : 0))
            refused = true;
        if (refused)
            pair_compare_body(&both);
        else
            pair_compare(&both);
    }
    pair_ask(&both, ids, 500);
    pair_free(&both);
    free(ids);
}
