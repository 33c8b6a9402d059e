/* pair.c - see pair.h. */
#include "pair.h"

#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

uint64_t pair_random(uint64_t *state) {
    *state += HASH_GOLDEN;
    return mix64(*state);
}

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
    pair          made;
    tamis_problem problem;
    if (tamis_create(spec, &made.here, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    assert_int_equal(tamis_gpu_open(0, &made.gpu, NULL), TAMIS_OK);
    if (tamis_gpu_create(made.gpu, spec, &made.there, &problem) != TAMIS_OK)
        fail_msg("%s", problem.text);
    return made;
}

void pair_free(pair *both) {
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

typedef struct bytes {
    uint8_t *data;
    size_t   n;
} bytes;

static bool append(void *context, const void *data, size_t n) {
    bytes *const to = context;
    to->data = realloc(to->data, to->n + n);
    memcpy(to->data + to->n, data, n);
    to->n += n;
    return true;
}

static bytes file_of(const tamis_set *set) {
    bytes file = { NULL, 0 };
    assert_int_equal(tamis_write(set, append, &file), TAMIS_OK);
    return file;
}

static void compare_files(const pair *both, size_t skipped_first, size_t skipped_last) {
    tamis_set    *down;
    tamis_problem problem;
    if (tamis_gpu_download(both->there, &down, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    bytes const a = file_of(both->here), b = file_of(down);
    assert_int_equal(a.n, b.n);
    for (size_t i = skipped_first; i < a.n - skipped_last; i++) {
        if (a.data[i] != b.data[i])
            fail_msg("byte %zu of the file is %02x, and %02x on the GPU", i, a.data[i], b.data[i]);
    }
    free(a.data);
    free(b.data);
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

tamis_gpu_keys pair_keys(const uint64_t *ids, size_t n, unsigned flags) {
    return (tamis_gpu_keys){ ids, n, flags, NULL };
}

static void compare_counts(const pair *both, const tamis_gpu_keys *keys, const uint64_t *ids) {
    uint64_t *const counts = malloc(8 * keys->n), *const expected = malloc(8 * keys->n);
    assert_int_equal(tamis_count_id_batch(both->here, ids, keys->n, expected), TAMIS_OK);
    assert_int_equal(tamis_gpu_count(both->there, keys, counts, NULL), TAMIS_OK);
    for (size_t i = 0; i < keys->n; i++) assert_int_equal(counts[i], expected[i]);
    free(counts);
    free(expected);
}

/* As ids and as hashes, from the memory of the GPU and from this machine's. */
void pair_ask(const pair *both, const uint64_t *ids, size_t n) {
    uint8_t *const      has = malloc(n + 1);
    uint64_t *const     hashes = malloc(8 * n);
    tamis_gpu_set_facts facts;
    assert_int_equal(tamis_gpu_get_facts(both->there, &facts), TAMIS_OK);
    for (size_t i = 0; i < n; i++) hashes[i] = tamis_hash_id(both->here, ids[i]);
    for (unsigned flags = 0; flags < 4; flags++) {
        bool const           are_hashes = (flags & TAMIS_GPU_HASHES) != 0;
        tamis_gpu_keys const keys = pair_keys(are_hashes ? hashes : ids, n, flags);
        memset(has, 0xee, n + 1);
        assert_int_equal(tamis_gpu_has(both->there, &keys, has, NULL), TAMIS_OK);
        for (size_t i = 0; i < n; i++) assert_int_equal(has[i], tamis_has_id(both->here, ids[i]));
        assert_int_equal(has[n], 0xee);
        if ((facts.abilities & TAMIS_CAN_COUNT) != 0) compare_counts(both, &keys, ids);
    }
    free(has);
    free(hashes);
}
