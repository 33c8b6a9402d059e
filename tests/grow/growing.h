/* growing.h - sets that grow, brought to any moment of their life. */
#ifndef TAMIS_TESTS_GROWING_H
#define TAMIS_TESTS_GROWING_H

#include "buffer.h"
#include "make.h"

#include "core/hash.h"
#include "grow.h"

/* A sort of growing set. Its first stage has the fewest possible buckets, or a few more, and four
 * steps follow. */
typedef struct growing_mode {
    const char *name;
    unsigned    abilities;
    uint64_t    copies;
    double      fpr;
    tamis_hash  hash;
} growing_mode;

static const growing_mode growing_modes[] = {
    { "removal", TAMIS_CAN_REMOVE, 0, 0.01, TAMIS_HASH_XXH3 },
    { "set", TAMIS_CAN_MERGE, 0, 0.01, TAMIS_HASH_XXH3 },
    { "counting", TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT, 0, 0.01, TAMIS_HASH_XXH3 },
    { "copies", TAMIS_CAN_REMOVE, 3, 0.01, TAMIS_HASH_XXH3 },
    { "long prints", TAMIS_CAN_REMOVE, 0, 1e-6, TAMIS_HASH_XXH3 },
    { "siphash", TAMIS_CAN_REMOVE, 0, 0.001, TAMIS_HASH_SIPHASH },
};
#define GROWING_MODES COUNT(growing_modes)
#define GROWING_CAPACITY 6000u
#define GROWING_STAGES 4u
#define GROWING_TO (GROWING_CAPACITY << GROWING_STAGES)

/* ------------------------------------------------------------------ making them */

/* The i-th kind of sets that grows; NULL: no more. */
static inline const char *growing_kind(size_t i) {
    for (size_t k = 0; tamis_kind_at(k) != NULL; k++) {
        if (tamis_kind_at(k)->growing != NULL && i-- == 0) return tamis_kind_at(k)->name;
    }
    return NULL;
}

/* What one test is about: a kind in a mode. */
typedef struct growing_case {
    const char         *kind;
    const growing_mode *mode;
    char                name[100];
} growing_case;

static inline tamis_spec growing_spec(const growing_case *tried, const tamis_seed *seed) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = tried->kind;
    spec.capacity = GROWING_CAPACITY;
    spec.grow_to = GROWING_TO;
    spec.fpr = tried->mode->fpr;
    spec.abilities = tried->mode->abilities;
    spec.copies = tried->mode->copies;
    spec.hash = tried->mode->hash;
    spec.seed = seed;
    return spec;
}

static inline tamis_set *growing_make(const growing_case *tried, uint64_t seed) {
    tamis_seed const whole = make_seed(seed);
    tamis_spec const spec = growing_spec(tried, &whole);
    return make_set_from(&spec);
}

/* How many buckets of the table were moved, of 1000. */
static inline uint64_t growing_progress(const tamis_set *set) {
    return grow_is_moving(set) ? set->growth->moved * 1000 / set->table.geometry[0] : 0;
}

/* Add ids from `first` on until a step to stage `stage` + 1 has moved at least so many buckets of
 * 1000, or until the set is at that stage, if that is 0. Returns the first id not added. */
static inline uint64_t growing_bring(tamis_set *set, uint64_t first, unsigned stage,
                                     uint64_t progress) {
    uint64_t id = first;
    while (set->growth->stage < stage ||
           (progress != 0 && set->growth->stage == stage && growing_progress(set) < progress)) {
        assert_true(id < first + 2 * GROWING_TO);
        assert_int_equal(tamis_add_id(set, id++), TAMIS_OK);
    }
    assert_int_equal(set->growth->stage, stage);
    return id;
}

/* ------------------------------------------------------------------ comparing them */

/* All prints of a set with their copies, as one number that depends on their order. */
typedef struct growing_sum {
    uint64_t sum, n, copies;
} growing_sum;

static inline bool growing_sum_one(void *context, uint64_t print, uint64_t copies) {
    growing_sum *const all = context;
    all->sum = dice_mix(all->sum ^ dice_mix(print)) + copies;
    all->n++;
    if (copies != TAMIS_COUNT_MANY) all->copies += copies;
    return true;
}

static inline growing_sum growing_contents(const tamis_set *set) {
    growing_sum all = { 0, 0, 0 };
    assert_true(tamis_each_print(set, growing_sum_one, &all));
    return all;
}

static inline uint64_t growing_keys(const tamis_set *set) {
    return tamis_sum_tables(set).keys;
}

/* Both sets have the same prints, at whatever places. */
static inline void growing_expect_contents(const tamis_set *a, const tamis_set *b) {
    growing_sum const of_a = growing_contents(a), of_b = growing_contents(b);
    assert_int_equal(of_a.n, of_b.n);
    assert_int_equal(of_a.sum, of_b.sum);
    assert_int_equal(growing_keys(a), growing_keys(b));
    assert_int_equal(tamis_sum_tables(a).saturated, tamis_sum_tables(b).saturated);
    expect_valid(a);
    expect_valid(b);
}

static inline void growing_expect_table(const tamis_table *a, const tamis_table *b) {
    assert_memory_equal(a->geometry, b->geometry, sizeof a->geometry);
    assert_int_equal(a->body_bytes, b->body_bytes);
    assert_memory_equal(a->body, b->body, a->body_bytes);
    assert_int_equal(a->keys, b->keys);
    assert_int_equal(a->entries, b->entries);
    assert_int_equal(a->saturated, b->saturated);
}

/* Both sets have the same bytes and are at the same moment of a step. */
static inline void growing_expect_same(const tamis_set *a, const tamis_set *b) {
    const tamis_table *of_a[2], *of_b[2];
    unsigned const     n = grow_tables(a, of_a);
    assert_int_equal(grow_tables(b, of_b), n);
    for (unsigned i = 0; i < n; i++) growing_expect_table(of_a[i], of_b[i]);
    assert_int_equal(a->capacity, b->capacity);
    assert_int_equal(a->lifetime, b->lifetime);
    assert_int_equal(a->growth->stage, b->growth->stage);
    assert_int_equal(a->growth->stages, b->growth->stages);
    assert_int_equal(a->growth->moved, b->growth->moved);
    assert_int_equal(a->growth->boundary, b->growth->boundary);
}

/* Is the body a function of the contents? */
static inline bool growing_is_canonical(const tamis_set *set) {
    return strcmp(set->kind->name, "line") == 0;
}

/* Both sets are at the same stage. They have the same bytes if the kind promises that, or else the
 * same contents. */
static inline void growing_expect_alike(const tamis_set *a, const tamis_set *b) {
    growing_expect_contents(a, b);
    if (growing_is_canonical(a)) growing_expect_same(a, b);
}

/* ------------------------------------------------------------------ programs */

/* Run each test for every kind that grows, in every mode that this build has. */
static inline int growing_run(const char *name, const struct CMUnitTest *tests, size_t n) {
    static growing_case cases[256];
    struct CMUnitTest   all[256];
    size_t              made = 0;
    const char         *kind;
    for (size_t k = 0; (kind = growing_kind(k)) != NULL; k++) {
        for (size_t m = 0; m < GROWING_MODES; m++) {
            if (!keyhash_is_built(growing_modes[m].hash)) continue;
            for (size_t t = 0; t < n; t++, made++) {
                growing_case *const tried = &cases[made];
                assert_true(made < COUNT(cases));
                *tried = (growing_case){ .kind = kind, .mode = &growing_modes[m] };
                (void)snprintf(tried->name, sizeof tried->name, "%s, %s: %s", kind,
                               growing_modes[m].name, tests[t].name);
                all[made] = unit_named(tried->name, tests[t].test_func, tried);
            }
        }
    }
    return unit_run(name, all, made);
}

#endif
