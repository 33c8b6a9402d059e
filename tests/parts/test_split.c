/* test_split.c - splitting and joining are exact: no answer changes, and `line` keeps its bytes.
 *
 * Each half must be equal to a part to which the keys of that half were added one by one.
 */
#include "../grow/growing.h"
#include "part.h"

#define PROBES 30000u

/* A set of fixed size with an even number of buckets, as a mode asks. */
static tamis_set *make_even(const growing_case *tried, uint64_t seed_number, uint64_t multiple) {
    tamis_seed const seed = make_seed(seed_number);
    tamis_spec       spec = growing_spec(tried, &seed);
    char             geometry[64];
    spec.grow_to = 0;
    tamis_set *const first = make_set_from(&spec);
    uint64_t const   buckets = (first->table.geometry[0] / multiple + 1) * multiple;
    (void)snprintf(geometry, sizeof geometry, "%s=%llu", first->kind->fields[0].name,
                   (unsigned long long)buckets);
    tamis_free(first);
    spec.geometry = geometry;
    return make_set_from(&spec);
}

/* Some ids have copies. */
static void fill_one(tamis_set *set, uint64_t id) {
    uint64_t const copies = id % 97 == 5 ? 1 + id % 4 : 1;
    assert_int_equal(tamis_add_copies_id(set, id, copies), TAMIS_OK);
}

/* The first one has more than can be counted. */
static void fill(tamis_set *set, uint64_t first, uint64_t n) {
    for (uint64_t id = first; id < first + n; id++) fill_one(set, id);
    assert_int_equal(tamis_add_copies_id(set, first, 100000), TAMIS_OK);
}

static void expect_same_answers(const tamis_set *whole, tamis_set *const *parts, uint32_t n) {
    uint64_t keys = 0;
    for (uint32_t i = 0; i < n; i++) {
        keys += growing_keys(parts[i]);
        expect_valid(parts[i]);
    }
    assert_int_equal(keys, growing_keys(whole));
    for (uint64_t id = 0; id < PROBES; id++) {
        uint64_t const         hash = tamis_hash_id(whole, id);
        const tamis_set *const part = parts[tamis_part_of_hash(hash, n)];
        uint64_t               a = 0, b = 0;
        assert_int_equal(tamis_has_hash(whole, hash), tamis_has_hash(part, hash));
        if ((whole->abilities & TAMIS_CAN_COUNT) == 0) continue;
        assert_int_equal(tamis_count_hash(whole, hash, &a), TAMIS_OK);
        assert_int_equal(tamis_count_hash(part, hash, &b), TAMIS_OK);
        assert_int_equal(a, b);
    }
}

/* The same file in `line`, the same contents in others. */
static void expect_joined(const tamis_set *joined, const tamis_set *whole) {
    growing_expect_contents(joined, whole);
    if (!growing_is_canonical(whole)) return;
    buffer a = buffer_of(joined), b = buffer_of(whole);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.bytes, b.bytes, b.n);
    free(a.bytes);
    free(b.bytes);
}

static void split(const tamis_set *set, tamis_set **ret_halves) {
    tamis_problem problem = { 0 };
    if (tamis_split(set, &ret_halves[0], &ret_halves[1], &problem) != TAMIS_OK)
        fail_msg("%s", problem.text);
}

static tamis_set *join(const tamis_set *first, const tamis_set *second) {
    tamis_problem problem = { 0 };
    tamis_set    *joined = NULL;
    if (tamis_join(first, second, &joined, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    return joined;
}

/* Split a set into 2, 4 and 8 parts; ask; join all again. */
static void check_set(const tamis_set *whole, unsigned levels) {
    tamis_set *parts[8], *halves[8];
    for (unsigned level = 1; level <= levels; level++) {
        uint32_t const n = 1u << level;
        for (uint32_t i = 0; i < n / 2; i++) split(level == 1 ? whole : parts[i], &halves[2 * i]);
        for (uint32_t i = 0; i < n / 2 && level != 1; i++) tamis_free(parts[i]);
        memcpy(parts, halves, sizeof parts);
        expect_same_answers(whole, parts, n);
    }
    for (uint32_t n = 1u << levels; n > 1; n /= 2) {
        for (uint32_t i = 0; i < n / 2; i++) halves[i] = join(parts[2 * i], parts[2 * i + 1]);
        for (uint32_t i = 0; i < n; i++) tamis_free(parts[i]);
        memcpy(parts, halves, sizeof parts);
    }
    expect_joined(parts[0], whole);
    tamis_free(parts[0]);
}

static void a_set_is_split_and_joined_exactly(void **state) {
    tamis_set *const set = make_even(*state, 1, 8);
    check_set(set, 3); /* empty */
    fill(set, 0, GROWING_CAPACITY / 2);
    (void)!tamis_add_copies_id(set, 7, UINT64_C(1) << 40); /* perhaps refused, and counted */
    check_set(set, 3);
    fill(set, 50000, GROWING_CAPACITY / 4);
    check_set(set, 3);
    tamis_free(set);
}

/* At every stage of a set that grows. A set in a step is split as if it were at the next stage. */
static void a_growing_set_is_split_and_joined_exactly(void **state) {
    tamis_set *const set = growing_make(*state, 2);
    uint64_t         next = 0;
    for (unsigned stage = 0; stage <= GROWING_STAGES; stage++) {
        next = growing_bring(set, next, stage, 0);
        if (set->table.geometry[0] % 2 == 0) check_set(set, 1);
        if (stage == GROWING_STAGES || stage == 0) continue;
        next = growing_bring(set, next, stage, 500);
        tamis_set *halves[2];
        split(set, halves);
        expect_same_answers(set, halves, 2);
        assert_int_equal(halves[0]->growth->stage, stage + 1);
        tamis_set *const joined = join(halves[0], halves[1]);
        growing_expect_contents(joined, set);
        tamis_free(joined);
        tamis_free(halves[0]);
        tamis_free(halves[1]);
    }
    tamis_free(set);
}

/* Each half is equal to a part to which its keys were added one by one, and stays equal when more
 * keys are added, until it is full. */
static void a_half_is_the_part_of_its_keys(void **state) {
    tamis_set *const whole = make_even(*state, 3, 2);
    tamis_set       *halves[2];
    for (uint64_t id = 0; id < GROWING_CAPACITY * 3 / 4; id++) fill_one(whole, id);
    split(whole, halves);
    for (uint32_t i = 0; i < 2; i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        spec.like = halves[i];
        tamis_set *const fresh = make_set_from(&spec);
        for (uint64_t id = 0; id < GROWING_CAPACITY * 3 / 4; id++) {
            if (tamis_part_of_hash(tamis_hash_id(whole, id), 2) == i) fill_one(fresh, id);
        }
        growing_expect_contents(halves[i], fresh);
        if (growing_is_canonical(fresh)) growing_expect_table(&halves[i]->table, &fresh->table);
        tamis_free(fresh);
    }
    for (uint64_t id = 100000; id < 100000 + GROWING_CAPACITY / 8; id++) {
        uint32_t const own = tamis_part_of_hash(tamis_hash_id(whole, id), 2);
        assert_int_equal(tamis_add_id(halves[own], id), TAMIS_OK);
        assert_int_equal(tamis_add_id(halves[1 - own], id), TAMIS_ERR_PART);
        assert_true(tamis_has_id(halves[own], id));
    }
    tamis_free(halves[0]);
    tamis_free(halves[1]);
    tamis_free(whole);
}

/* Halves that have grown to different stages are joined at the later one. */
static void halves_of_different_stages_are_joined(void **state) {
    tamis_set *const set = growing_make(*state, 4);
    tamis_set       *halves[2];
    uint64_t         next = growing_bring(set, 0, 1, 0);
    uint64_t         capacity;
    split(set, halves);
    for (; halves[1]->growth->stage < 3; next++) {
        if (tamis_part_of_hash(tamis_hash_id(set, next), 2) == 1)
            assert_int_equal(tamis_add_id(halves[1], next), TAMIS_OK);
    }
    assert_int_equal(tamis_resize(halves[0], 1, &capacity), TAMIS_ERR_FULL);
    tamis_set *const joined = join(halves[0], halves[1]);
    assert_int_equal(joined->growth->stage, 3);
    expect_same_answers(joined, halves, 2);
    tamis_free(joined);
    tamis_free(halves[0]);
    tamis_free(halves[1]);
    tamis_free(set);
}

/* ------------------------------------------------------------------ what is refused */

static void expect_no_join(const tamis_set *a, const tamis_set *b, tamis_status status) {
    tamis_problem problem = { 0 };
    tamis_set    *joined = NULL;
    assert_int_equal(tamis_join(a, b, &joined, &problem), status);
    assert_null(joined);
    assert_true(strlen(problem.text) > 20);
}

static void strangers_are_not_joined(void **state) {
    tamis_set *const a = make_even(*state, 5, 4), *const b = make_even(*state, 6, 4);
    tamis_set *of_a[2], *of_b[2], *quarters[2];
    split(a, of_a);
    split(b, of_b);
    split(of_a[0], quarters);
    expect_no_join(a, b, TAMIS_ERR_MISMATCH);             /* whole sets */
    expect_no_join(of_a[1], of_a[0], TAMIS_ERR_MISMATCH); /* in the wrong order */
    expect_no_join(of_a[0], of_b[1], TAMIS_ERR_MISMATCH); /* another seed */
    expect_no_join(quarters[0], of_a[1], TAMIS_ERR_MISMATCH);
    expect_no_join(of_a[0], of_a[0], TAMIS_ERR_ARGUMENT);
    for (unsigned i = 0; i < 2; i++) {
        tamis_free(of_a[i]);
        tamis_free(of_b[i]);
        tamis_free(quarters[i]);
    }
    tamis_free(a);
    tamis_free(b);
}

/* Two empty halves for so many keys in their life. */
static void make_halves(const growing_case *tried, uint64_t lifetime, tamis_set **ret_halves) {
    tamis_seed const seed = make_seed(5);
    tamis_spec       spec = growing_spec(tried, &seed);
    spec.grow_to = 0;
    spec.lifetime = lifetime;
    spec.parts = 2;
    for (spec.part = 0; spec.part < 2; spec.part++) ret_halves[spec.part] = make_set_from(&spec);
}

/* The numbers of two halves may have no sum that a file can say. A life stops at the longest one; a
 * capacity beyond the limit is refused. */
static void numbers_beyond_the_limits_are_not_joined(void **state) {
    static const uint64_t lives[] = { UINT64_MAX, (UINT64_C(1) << 63) + 5, UINT64_C(1) << 62 };
    for (size_t i = 0; i < COUNT(lives); i++) {
        tamis_set *halves[2], *again = NULL;
        make_halves(*state, lives[i], halves);
        tamis_set *const joined = join(halves[0], halves[1]);
        assert_true(joined->lifetime == (i < 2 ? UINT64_MAX : UINT64_C(1) << 63));
        buffer const file = buffer_of(joined);
        assert_int_equal(tamis_read(file.bytes, file.n, NULL, &again, NULL), TAMIS_OK);
        halves[0]->capacity = halves[1]->capacity = UINT64_C(1) << 40;
        expect_no_join(halves[0], halves[1], TAMIS_ERR_LIMIT);
        free(file.bytes);
        tamis_free(again);
        tamis_free(joined);
        tamis_free(halves[0]);
        tamis_free(halves[1]);
    }
}

static void what_cannot_be_halved_is_refused(void **state) {
    const growing_case *const tried = *state;
    tamis_spec                spec = TAMIS_SPEC_INIT;
    tamis_set                *first = NULL, *second = NULL;
    tamis_problem             problem = { 0 };
    char                      geometry[40];
    tamis_set *const          even = make_even(tried, 7, 2);
    (void)snprintf(geometry, sizeof geometry, "%s=%llu", even->kind->fields[0].name,
                   (unsigned long long)even->table.geometry[0] + 1);
    tamis_free(even);
    spec.kind = tried->kind;
    spec.abilities = tried->mode->abilities;
    spec.capacity = GROWING_CAPACITY;
    spec.geometry = geometry;
    tamis_set *const odd = make_set_from(&spec);
    assert_int_equal(tamis_split(odd, &first, &second, &problem), TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "multiple of the number of parts"));
    tamis_free(odd);
    spec = (tamis_spec)TAMIS_SPEC_INIT;
    spec.kind = "bloom";
    spec.capacity = 1000;
    spec.fpr = 0.01;
    tamis_set *const bloom = make_set_from(&spec);
    assert_int_equal(tamis_split(bloom, &first, &second, &problem), TAMIS_ERR_CANNOT);
    assert_null(first);
    assert_int_equal(tamis_split(NULL, &first, &second, NULL), TAMIS_ERR_ARGUMENT);
    tamis_free(bloom);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_is_split_and_joined_exactly),
        cmocka_unit_test(a_growing_set_is_split_and_joined_exactly),
        cmocka_unit_test(a_half_is_the_part_of_its_keys),
        cmocka_unit_test(halves_of_different_stages_are_joined),
        cmocka_unit_test(strangers_are_not_joined),
        cmocka_unit_test(numbers_beyond_the_limits_are_not_joined),
        cmocka_unit_test(what_cannot_be_halved_is_refused),
    };
    return growing_run("split", tests, COUNT(tests));
}
