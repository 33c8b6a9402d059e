/* test_sizes.c - capacities at which arithmetic easily goes wrong: 0, 1, 2, around powers of two,
 * up to 2^40.
 *
 * usage: test_sizes [STEP]     so many powers of two further each time; 1: all of them
 */
#include "make.h"

#define MOST_POWER 40

static unsigned step = 8;

static tamis_spec spec_of(const char *kind, uint64_t capacity) {
    static const tamis_seed seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.kind = kind;
    spec.capacity = capacity;
    spec.fpr = 0.01;
    spec.seed = &seed;
    return spec;
}

/* If a plan is possible, the table has the size that it states, and the format can address it. */
static void plan_one(const char *kind, uint64_t capacity) {
    tamis_spec const   spec = spec_of(kind, capacity);
    tamis_plan         plan;
    size_t             n;
    tamis_problem      problem = { .text = "" };
    tamis_status const status = tamis_plan_kinds(&spec, &plan, 1, &n, &problem);
    if (capacity == 0 || capacity > UINT64_C(1) << MOST_POWER) {
        assert_int_equal(status, TAMIS_ERR_ARGUMENT);
        assert_true(problem.text[0] != '\0');
        return;
    }
    assert_int_equal(status, TAMIS_OK);
    assert_int_equal(n, 1);
    if (plan.status != TAMIS_OK) {
        assert_true(plan.status == TAMIS_ERR_LIMIT || plan.status == TAMIS_ERR_CANNOT);
        return;
    }
    assert_near(plan.bits_per_key, 8.0 * (double)plan.body_bytes / (double)capacity, 1e-9);
    assert_true(plan.bits_per_key >= 6.6); /* no set of 1% is smaller than log2(100) */
    assert_true(plan.fpr > 0 && plan.fpr <= 0.01 * (1 + 1e-9));
    assert_true(plan.file_bytes > plan.body_bytes);
}

static void every_capacity_is_planned_or_refused(void **state) {
    const char *const kind = *state;
    plan_one(kind, 0);
    plan_one(kind, 1);
    plan_one(kind, 2);
    for (unsigned power = 2; power <= MOST_POWER; power += step) {
        for (int more = -1; more <= 1; more++)
            plan_one(kind, (UINT64_C(1) << power) + (uint64_t)(int64_t)more);
    }
    plan_one(kind, UINT64_C(1) << MOST_POWER);
    plan_one(kind, (UINT64_C(1) << MOST_POWER) + 1);
    plan_one(kind, UINT64_MAX);
}

/* Filled to the last key: all are there, and no add was refused. */
static void every_small_set_holds_its_capacity(void **state) {
    for (uint64_t power = 0; power <= 10; power += 1 + step / 4) {
        for (uint64_t more = 0; more < 3; more++) {
            uint64_t const     capacity = (UINT64_C(1) << power) + more - (power != 0);
            tamis_spec const   spec = spec_of(*state, capacity);
            tamis_set         *set = NULL;
            tamis_status const status = tamis_create(&spec, &set, NULL);
            if (status == TAMIS_ERR_CANNOT) continue;
            assert_int_equal(status, TAMIS_OK);
            add_ids(set, 0, capacity);
            expect_ids(set, 0, capacity);
            assert_true(tamis_validate(set, NULL));
            tamis_free(set);
        }
    }
}

/* Keys of any length; none is read beyond its end. */
static void every_length_of_a_key_is_one(void **state) {
    tamis_spec const    spec = spec_of(*state, 3000);
    tamis_set *const    set = make_set_from(&spec);
    fenced              memory = fenced_new(70000);
    static const size_t lengths[] = { 0,   1,   2,    3,    4,    7,     8,     9,    15,  16,
                                      17,  31,  32,   33,   63,   64,    65,    127,  128, 129,
                                      240, 241, 1023, 1024, 1025, 65535, 65536, 70000 };
    for (size_t i = 0; i < 70000; i++) memory.bytes[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        const uint8_t *const key = memory.bytes + 70000 - lengths[i];
        assert_int_equal(tamis_add(set, key, lengths[i]), TAMIS_OK);
        assert_true(tamis_has(set, key, lengths[i]));
    }
    fenced_free(&memory);
    tamis_free(set);
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[60];
    size_t            n = 0;
    if (argc > 1) step = (unsigned)strtoul(argv[1], NULL, 10);
    for (size_t i = 0; tamis_kind_name(i) != NULL; i++) {
        const char *const kind = tamis_kind_name(i);
        tests[n++] = unit_named(kind, every_capacity_is_planned_or_refused, kind);
        tests[n++] = unit_named(kind, every_small_set_holds_its_capacity, kind);
        tests[n++] = unit_named(kind, every_length_of_a_key_is_one, kind);
    }
    return unit_run("sizes", tests, n);
}
