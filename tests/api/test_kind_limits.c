/* test_kind_limits.c - what a kind says that none of its tables does (kind.h). The planner believes
 * it, and does not plan a kind that cannot be the answer.
 */
#include "unit.h"

#include "kind.h"

static tamis_plan plan_one(const tamis_spec *spec) {
    tamis_plan row;
    size_t     n;
    assert_int_equal(tamis_plan_kinds(spec, &row, 1, &n, NULL), TAMIS_OK);
    return row;
}

/* Also not tables that may well overflow, which are the smallest. */
static void no_table_has_fewer_bits_than_its_kind_says(void **state) {
    static const double   rates[] = { 0.5, 0.1, 0.01, 1e-3, 1e-5, 1e-8 };
    static const uint64_t capacities[] = { 1, 30, 100, 1000, 30000, 100000000 };
    const tamis_kind     *kind;
    (void)state;
    for (size_t k = 0; (kind = tamis_kind_at(k)) != NULL; k++) {
        for (size_t i = 0; i < COUNT(rates) * COUNT(capacities); i++) {
            tamis_spec spec = TAMIS_SPEC_INIT;
            spec.kind = kind->name;
            spec.capacity = spec.lifetime = capacities[i / COUNT(rates)];
            spec.fpr = rates[i % COUNT(rates)];
            spec.prefer = TAMIS_PREFER_SMALL;
            spec.overflow = 0.5;
            tamis_plan const row = plan_one(&spec);
            double const bits = kind->least_bits.factor * -log2(spec.fpr) + kind->least_bits.more;
            if (row.status == TAMIS_OK) assert_true(row.bits_per_key >= bits);
        }
    }
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
        cmocka_unit_test(no_table_has_fewer_bits_than_its_kind_says),
        cmocka_unit_test(no_table_counts_further_than_its_kind_says),
    };
    return unit_run("kind_limits", tests, COUNT(tests));
}
