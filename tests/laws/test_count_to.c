/* test_count_to.c - kinds that count in shared counters: a plan that is asked to count to some
 * number does so, in a full table, or says how far the kind can count.
 */
#include "subject.h"

#define KEYS 3000
#define MAX_HASHES 40
#define COUNTED (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)

typedef struct wish {
    const char *kind;
    uint64_t    most; /* counts that the kind can be planned for; 0: more than are tried */
} wish;

static const wish kinds[] = {
    { "counting", 0 }, { "vicbf", 4088 }, { "bhcbf", 57 }, { "mlcbf", 504 }
};

static tamis_spec spec_of(const char *kind, uint64_t count_to, bool is_fast) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = KEYS;
    spec.fpr = 1e-5; /* so low that no other key is likely to disturb a count */
    spec.abilities = COUNTED;
    spec.count_to = count_to;
    spec.prefer = is_fast ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL;
    spec.kind = kind;
    return spec;
}

/* A key that comes to a full set is counted copy by copy. A counter that it shares with other keys
 * may reach its end and stick: the others still tell the count. But it harms no other counter. */
static void count_in_full_set(tamis_set *set, uint64_t count_to) {
    uint64_t const key = UINT64_MAX;
    uint64_t       count = 0;
    for (uint64_t id = 0; id + 1 < KEYS; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    uint64_t const before = set->table.saturated;
    for (uint64_t n = 1; n <= count_to; n++) {
        assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
        assert_int_equal(tamis_count_id(set, key, &count), TAMIS_OK);
        assert_int_equal(count, n);
    }
    assert_true(set->table.saturated <= before + MAX_HASHES);
    assert_true(tamis_validate(set, NULL));
    for (uint64_t n = 0; n < count_to; n++) {
        assert_int_equal(tamis_remove_id(set, key), TAMIS_OK);
    }
    assert_false(tamis_has_id(set, key));
    assert_true(tamis_validate(set, NULL));
}

static void counts_are_exact_in_a_full_set_as_far_as_asked_for(void **state) {
    (void)state;
    static const uint64_t asked[] = { 1, 15, 57, 255, 504, 4088 };
    tamis_seed const      seed = { 7, 8 };
    for (size_t i = 0; i < COUNT(kinds) * COUNT(asked) * 2; i++) {
        const wish *const wanted = &kinds[i / 2 % COUNT(kinds)];
        uint64_t const    count_to = asked[i / 2 / COUNT(kinds)];
        tamis_spec        spec = spec_of(wanted->kind, count_to, i % 2 != 0);
        tamis_set        *set = NULL;
        tamis_facts       facts;
        tamis_problem     problem;
        spec.seed = &seed;
        if (wanted->most != 0 && count_to > wanted->most) continue;
        if (tamis_create(&spec, &set, &problem) != TAMIS_OK)
            fail_msg("%s to %llu: %s", wanted->kind, (unsigned long long)count_to, problem.text);
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
        assert_true(facts.count_to >= count_to);
        count_in_full_set(set, count_to);
        tamis_free(set);
    }
}

/* If a kind cannot count that far, it is refused, and the reason says how far it can. */
static void counts_beyond_the_kind_are_refused_with_its_limit(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        tamis_spec const spec = spec_of(kinds[i].kind, 5000, false);
        tamis_set       *set = NULL;
        tamis_problem    problem;
        tamis_plan       plan;
        size_t           rows;
        if (kinds[i].most == 0) continue;
        assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_CANNOT);
        assert_int_equal(tamis_plan_kinds(&spec, &plan, 1, &rows, NULL), TAMIS_OK);
        assert_true(plan.status == TAMIS_ERR_CANNOT && plan.count_to >= kinds[i].most);
        char expected[64];
        (void)snprintf(expected, sizeof expected, "kind %s counts to %llu:", kinds[i].kind,
                       (unsigned long long)plan.count_to);
        assert_non_null(strstr(problem.text, expected));
    }
}

/* In `mlcbf` the copies of a key take cells of the block that its counters are in: there must be
 * room for them. No block of a full table closes when one key after the other comes with many
 * copies, and goes: that would make more counters stick than the key has. */
static void blocks_have_room_for_a_key_with_many_copies(void **state) {
    (void)state;
    tamis_seed const seed = { 9, 10 };
    for (unsigned i = 0; i < 2; i++) {
        tamis_spec spec = spec_of("mlcbf", 255, i != 0);
        tamis_set *set = NULL;
        spec.seed = &seed;
        assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_OK);
        for (uint64_t id = 0; id < KEYS; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        for (uint64_t id = 0; id < KEYS; id += 10) {
            uint64_t const before = set->table.saturated;
            for (uint64_t n = 1; n < 255; n++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
            for (uint64_t n = 1; n < 255; n++) assert_int_equal(tamis_remove_id(set, id), TAMIS_OK);
            assert_true(set->table.saturated <= before + MAX_HASHES);
        }
        tamis_free(set);
    }
}

/* Without a number to count to, a kind that is named counts as far as it can, up to the default. */
static void a_named_kind_counts_to_the_default_or_to_its_limit(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        tamis_spec const spec = spec_of(kinds[i].kind, 0, false);
        uint64_t const   most = kinds[i].most != 0 ? kinds[i].most : TAMIS_DEFAULT_COUNT_TO;
        tamis_plan       plan;
        size_t           rows;
        assert_int_equal(tamis_plan_kinds(&spec, &plan, 1, &rows, NULL), TAMIS_OK);
        assert_int_equal(plan.status, TAMIS_OK);
        assert_true(plan.count_to >= min_u64(most, TAMIS_DEFAULT_COUNT_TO));
    }
}

/* Fields that the user fixed stay, and decide how far is counted. */
static void fixed_fields_count_as_far_as_they_can(void **state) {
    (void)state;
    static const struct {
        const char *kind, *geometry;
        uint64_t    counts;
    } fixed[] = { { "vicbf", "counter_bits=8", 248 }, /* with {1} */
                  { "vicbf", "counter_bits=8,increments=53504", 10 },
                  { "bhcbf", "count_bits=4,sum_bits=12,centred=0", 9 },
                  { "mlcbf", "bits=4,bits2=4,bits3=0", 23 } };
    for (size_t i = 0; i < COUNT(fixed); i++) {
        tamis_spec spec = spec_of(fixed[i].kind, fixed[i].counts, false);
        tamis_plan plan;
        size_t     rows;
        spec.geometry = fixed[i].geometry;
        spec.fpr = .01;
        assert_int_equal(tamis_plan_kinds(&spec, &plan, 1, &rows, NULL), TAMIS_OK);
        if (plan.status != TAMIS_OK || plan.count_to != fixed[i].counts)
            fail_msg("%s %s: %llu", fixed[i].kind, fixed[i].geometry,
                     (unsigned long long)plan.count_to);
        spec.count_to++;
        assert_int_equal(tamis_plan_kinds(&spec, &plan, 1, &rows, NULL), TAMIS_OK);
        assert_int_equal(plan.status, TAMIS_ERR_CANNOT);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact_in_a_full_set_as_far_as_asked_for),
        cmocka_unit_test(counts_beyond_the_kind_are_refused_with_its_limit),
        cmocka_unit_test(blocks_have_room_for_a_key_with_many_copies),
        cmocka_unit_test(a_named_kind_counts_to_the_default_or_to_its_limit),
        cmocka_unit_test(fixed_fields_count_as_far_as_they_can),
    };
    return unit_run("count_to", tests, COUNT(tests));
}
