/* test_kind_limits.c - limits that a kind states for all its tables (kind.h) are true. The planner
 * trusts them, and does not plan a kind that cannot be chosen.
 */
#include "unit.h"

#include "kind.h"
#include "planner.h"

static tamis_plan plan_one(const tamis_spec *spec) {
    tamis_plan row;
    size_t     n;
    assert_int_equal(tamis_plan_kinds(spec, &row, 1, &n, NULL), TAMIS_OK);
    return row;
}

/* The plan of a kind, with a limit of bytes. */
static tamis_plan plan_within(const tamis_kind *kind, const tamis_spec *spec, uint64_t most) {
    tamis_request   request;
    tamis_candidate made;
    assert_int_equal(tamis_request_set(spec, &request, NULL), TAMIS_OK);
    request.need.most_bytes = most;
    tamis_ask_kind(kind, &request, &made);
    return made.plan;
}

/* With a limit of bytes a kind may give up, but only if it has no table that small. The smallest
 * tables come from specs that accept a high probability of overflow. */
static void a_limit_of_bytes_hides_no_table(void **state) {
    static const double   rates[] = { 0.3, 0.03, 1e-3, 1e-5, 1e-8 };
    static const uint64_t capacities[] = { 1, 30, 300, 5000, 100000, 100000000 };
    const tamis_kind     *kind;
    unsigned              given_up = 0;
    (void)state;
    for (size_t k = 0; (kind = tamis_kind_at(k)) != NULL; k++) {
        for (size_t i = 0; i < COUNT(rates) * COUNT(capacities) * 3 && kind->calls.has != NULL;
             i++) {
            tamis_spec spec = TAMIS_SPEC_INIT;
            spec.capacity = capacities[i / 3 / COUNT(rates)];
            spec.fpr = rates[i / 3 % COUNT(rates)];
            spec.prefer = TAMIS_PREFER_SMALL;
            spec.abilities = i % 3 == 0 ? 0 : TAMIS_CAN_REMOVE;
            if (i % 3 == 2) spec.lifetime = spec.capacity;
            if (i % 3 == 2) spec.overflow = 0.5;
            tamis_plan const any = plan_within(kind, &spec, 0);
            if (any.status != TAMIS_OK) continue;
            tamis_plan const same = plan_within(kind, &spec, any.body_bytes);
            assert_int_equal(same.status, TAMIS_OK);
            assert_int_equal(same.body_bytes, any.body_bytes);
            assert_memory_equal(same.fields, any.fields, sizeof same.fields);
            given_up += plan_within(kind, &spec, any.body_bytes / 2).status != TAMIS_OK;
        }
    }
    assert_true(given_up > 300); /* some kinds do use the limit */
}

static void no_table_counts_further_than_its_kind_says(void **state) {
    const tamis_kind *kind;
    (void)state;
    for (size_t k = 0; (kind = tamis_kind_at(k)) != NULL; k++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        if (kind->most_count == 0) continue;
        spec.kind = kind->name;
        spec.capacity = 1000;
        spec.fpr = 0.01;
        spec.abilities = TAMIS_CAN_COUNT;
        spec.count_to = kind->most_count + 1;
        assert_int_equal(plan_one(&spec).status, TAMIS_ERR_CANNOT);
        spec.count_to = kind->most_count / 2;
        assert_int_equal(plan_one(&spec).status, TAMIS_OK);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_of_bytes_hides_no_table),
        cmocka_unit_test(no_table_counts_further_than_its_kind_says),
    };
    return unit_run("kind_limits", tests, COUNT(tests));
}
