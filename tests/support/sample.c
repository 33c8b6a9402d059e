/* sample.c - see sample.h. */
#include "sample.h"

#include "grow.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dirent.h>

bool sample_is_growing(const char *kind) {
    return strncmp(kind, SAMPLE_GROWING, strlen(SAMPLE_GROWING)) == 0;
}

const char *sample_kind(const char *kind) {
    return sample_is_growing(kind) ? kind + strlen(SAMPLE_GROWING) : kind;
}

/* Add keys beyond the capacity until half of the buckets are moved. */
static tamis_set *half_grown(const char *kind, uint64_t keys, const tamis_seed *seed) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = kind;
    spec.fpr = 0.01;
    spec.seed = seed;
    spec.capacity = max_u64(1500, keys + keys / 8);
    spec.grow_to = 4 * spec.capacity;
    tamis_set *const set = make_set_from(&spec);
    for (uint64_t id = 0; 2 * set->growth->moved < set->table.geometry[0]; id++)
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    return set;
}

/* The size of the file of a set of that kind with this capacity, at 1%. */
static uint64_t planned_bytes(tamis_spec *spec, uint64_t capacity) {
    tamis_plan plan;
    size_t     n;
    spec->capacity = capacity;
    assert_int_equal(tamis_plan_kinds(spec, &plan, 1, &n, NULL), TAMIS_OK);
    assert_int_equal(plan.status, TAMIS_OK);
    return plan.file_bytes;
}

tamis_set *sample_set(const char *kind, size_t file_bytes, uint64_t keys, uint64_t seed) {
    tamis_seed const whole_seed = make_seed(seed);
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.kind = kind;
    spec.fpr = 0.01;
    spec.seed = &whole_seed;
    if (sample_is_growing(kind)) return half_grown(sample_kind(kind), keys, &whole_seed);
    uint64_t low = 1, high = file_bytes * 8;
    while (high - low > 1) {
        uint64_t const middle = (low + high) / 2;
        if (planned_bytes(&spec, middle) <= file_bytes)
            low = middle;
        else
            high = middle;
    }
    spec.capacity = low;
    tamis_set *const set = make_set_from(&spec);
    add_ids(set, 0, keys);
    return set;
}

static size_t first_body; /* of a file of two parts; else 0 */

void sample_take_layout(const buffer *s) {
    first_body = le32_load(s->bytes + 24) == 2 ? (size_t)le64_load(s->bytes + 128 + 16) : 0;
}

buffer sample_of(const tamis_set *set) {
    buffer const s = buffer_of(set);
    sample_take_layout(&s);
    return s;
}

uint64_t sample_keys_at(const char *path) {
    tamis_set    *set = NULL;
    tamis_problem problem;
    if (tamis_open(path, NULL, &set, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    uint64_t const keys = inspect(set).facts.keys;
    tamis_free(set);
    return keys;
}

/* The checksum of each block of a body. */
static void seal_body(const uint8_t *body, size_t bytes, uint8_t *checksums) {
    for (size_t at = 0; at < bytes; at += SAMPLE_BLOCK, checksums += 8) {
        size_t const n = bytes - at < SAMPLE_BLOCK ? bytes - at : SAMPLE_BLOCK;
        le64_store(checksums, XXH3_64bits(body + at, n));
    }
}

/* Written from docs/format.md, not from save.c. */
void sample_seal(buffer *s) {
    le64_store(s->bytes + 4088, XXH3_64bits(s->bytes, 4088));
    size_t const   first_blocks = (first_body + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK;
    size_t const   rest = s->n - SAMPLE_HEADER - 16 - first_body - 8 * first_blocks;
    size_t const   last_blocks = (rest + SAMPLE_BLOCK + 7) / (SAMPLE_BLOCK + 8);
    size_t const   last_body = rest - 8 * last_blocks, blocks = first_blocks + last_blocks;
    uint8_t *const bodies = s->bytes + SAMPLE_HEADER, *const table =
                                                          bodies + first_body + last_body;
    seal_body(bodies, first_body, table);
    seal_body(bodies + first_body, last_body, table + 8 * first_blocks);
    XXH3_state_t *const state = XXH3_createState();
    assert_non_null(state);
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, s->bytes, SAMPLE_HEADER);
    (void)XXH3_128bits_update(state, table, 8 * blocks);
    XXH128_hash_t const total = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    le64_store(table + 8 * blocks, total.low64);
    le64_store(table + 8 * blocks + 8, total.high64);
}

void sample_seal_stream(buffer *s, size_t head) {
    le64_store(s->bytes + head - 8, XXH3_64bits(s->bytes, head - 8));
    XXH128_hash_t const total = XXH3_128bits(s->bytes, s->n - 16);
    le64_store(s->bytes + s->n - 16, total.low64);
    le64_store(s->bytes + s->n - 8, total.high64);
}

unsigned sample_files(const char *folder, const char *part) {
    DIR *const all = opendir(folder);
    assert_non_null(all);
    unsigned             n = 0;
    const struct dirent *entry;
    while ((entry = readdir(all)) != NULL) n += strstr(entry->d_name, part) != NULL;
    (void)closedir(all);
    return n;
}

unsigned sample_open_files(void) {
    return sample_files("/proc/self/fd", "");
}

bool sample_is_refusal(tamis_status status) {
    return status == TAMIS_ERR_FOREIGN || status == TAMIS_ERR_VERSION ||
           status == TAMIS_ERR_TRUNCATED || status == TAMIS_ERR_CHECKSUM ||
           status == TAMIS_ERR_CORRUPT || status == TAMIS_ERR_KIND || status == TAMIS_ERR_NOT_BUILT;
}

#define MAX_KINDS 64

/* The names of all kinds, then those of the growing ones with the word before them. */
static size_t list_kinds(const char *ret_names[MAX_KINDS]) {
    static char growing[MAX_KINDS][40];
    size_t      n = 0;
    for (; tamis_kind_name(n) != NULL; n++) ret_names[n] = tamis_kind_name(n);
    for (size_t i = 0; tamis_kind_at(i) != NULL; i++) {
        if (tamis_kind_at(i)->growing == NULL) continue;
        assert_true(n < MAX_KINDS);
        (void)snprintf(growing[i], sizeof growing[i], SAMPLE_GROWING "%s", tamis_kind_name(i));
        ret_names[n++] = growing[i];
    }
    return n;
}

struct CMUnitTest *sample_tests(const struct CMUnitTest *tests, size_t n, size_t *ret_n) {
    const char              *kinds[MAX_KINDS];
    size_t const             n_kinds = list_kinds(kinds);
    struct CMUnitTest *const all = calloc(n * n_kinds, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < n * n_kinds; i++) {
        all[i] = tests[i % n];
        all[i].initial_state = (void *)(uintptr_t)kinds[i / n];
    }
    *ret_n = n * n_kinds;
    return all;
}
