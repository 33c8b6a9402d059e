/* test_overlaid_plans.c - the plans of kinds in which keys share cells: they meet the need, no
 * smaller table would meet it, and impossible needs are refused.
 */
#include "cells_oracle.h"
#include "kinds/state_bloom/size.h"
#include "kinds/state_direct/size.h"

typedef struct planned_kind {
    const char   *name;
    overlaid_law *law;
    unsigned (*cell_bits)(const uint64_t *g);
    uint64_t most_values;
    unsigned least_bits; /* of counters, where there are any */
} planned_kind;

static const planned_kind planned[] = {
    { "state_bloom", tamis_state_bloom_forecast, tamis_state_bloom_cell_bits, UINT64_C(1) << 32,
      1 },
    { "state_direct", tamis_state_direct_forecast, tamis_state_direct_cell_bits, 16, 2 },
};

static tamis_states_spec spec_of(const planned_kind *row, uint64_t capacity, uint64_t values,
                                 double fpr) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.kind = row->name;
    spec.capacity = capacity;
    spec.values = values;
    spec.fpr = fpr;
    return spec;
}

static tamis_plan plan_of(const tamis_states_spec *spec) {
    tamis_plan    plan;
    tamis_problem problem;
    size_t        n;
    if (tamis_states_plan_kinds(spec, &plan, 1, &n, &problem) != TAMIS_OK)
        fail_msg("%s", problem.text);
    assert_int_equal(n, 1);
    return plan;
}

static void geometry_of(const tamis_plan *plan, uint64_t *ret_g) {
    assert_int_equal(plan->n_fields, OVERLAID_FIELDS);
    for (unsigned i = 0; i < OVERLAID_FIELDS; i++) ret_g[i] = plan->fields[i].value;
}

/* Would a table of at most this many bits meet the need, with this k and these counters? */
static bool would_do(const planned_kind *row, const tamis_states_spec *spec, uint64_t lifetime,
                     uint64_t *g, double bits) {
    overlaid_forecast told;
    double const      unknown = spec->unknown != 0 ? spec->unknown : spec->fpr;
    if (bits < 0) return false;
    g[OVERLAID_CELLS] = (uint64_t)(bits / row->cell_bits(g));
    if (g[OVERLAID_CELLS] < 2) return false;
    row->law(g, (double)spec->capacity, (double)lifetime, &told);
    return told.fpr <= spec->fpr && told.unknown <= unknown;
}

/* A plan meets the need, and no table that is a cache line smaller does. */
static void expect_plan(const planned_kind *row, const tamis_states_spec *spec) {
    tamis_plan const plan = plan_of(spec);
    uint64_t         g[OVERLAID_FIELDS], other[OVERLAID_FIELDS];
    assert_int_equal(plan.status, TAMIS_OK);
    geometry_of(&plan, g);
    assert_int_equal(g[OVERLAID_VALUES], spec->values);
    assert_int_equal(g[OVERLAID_TIMER_BITS], spec->timer_bits);
    assert_true(plan.fpr <= spec->fpr);
    assert_true(plan.unknown <= (spec->unknown != 0 ? spec->unknown : spec->fpr));
    uint64_t const bits = g[OVERLAID_CELLS] * row->cell_bits(g);
    assert_int_equal(plan.body_bytes, ((bits + 7) / 8 + 8 + 63) / 64 * 64);
    memcpy(other, g, sizeof g);
    bool const is_counted = g[OVERLAID_COUNTER_BITS] != 0;
    for (unsigned c = is_counted ? row->least_bits : 0; c <= (is_counted ? 8u : 0u); c++) {
        for (unsigned k = 1; k <= OVERLAID_MAX_HASHES; k++) {
            other[OVERLAID_HASHES] = k;
            other[OVERLAID_COUNTER_BITS] = c;
            if (would_do(row, spec, plan.lifetime, other, (double)bits - 512)) {
                fail_msg("%s of %llu keys, %llu values, fpr %g: %llu cells, k %llu, %llu bits; and "
                         "%llu, %u, %u",
                         row->name, (unsigned long long)spec->capacity,
                         (unsigned long long)spec->values, spec->fpr,
                         (unsigned long long)g[OVERLAID_CELLS],
                         (unsigned long long)g[OVERLAID_HASHES],
                         (unsigned long long)g[OVERLAID_COUNTER_BITS],
                         (unsigned long long)other[OVERLAID_CELLS], k, c);
            }
        }
    }
}

static void plans_are_the_smallest_that_meet_the_spec(void **state) {
    (void)state;
    static const uint64_t capacities[] = { 1, 10, 1000, 1000000, 1000000000 };
    static const uint64_t values[] = { 2, 3, 8, 14, 1000, UINT64_C(1) << 32 };
    static const double   rates[] = { 0.1, 1e-3, 1e-6 };
    for (size_t kind = 0; kind < COUNT(planned); kind++) {
        for (unsigned i = 0; i < 5 * 6 * 3 * 4; i++) {
            tamis_states_spec spec =
                spec_of(&planned[kind], capacities[i % 5], values[i / 5 % 6], rates[i / 30 % 3]);
            bool const is_direct = planned[kind].law == tamis_state_direct_forecast;
            if (spec.values > planned[kind].most_values) continue;
            if (is_direct && i / 180 == 1) continue; /* it ages only on request */
            if (i / 90 % 2 == 1) spec.lifetime = spec.capacity;
            if (i / 180 == 1) spec.timeout = 100, spec.timer_bits = 2 + i % 4;
            if (i % 7 == 0) spec.unknown = spec.fpr * 4;
            if (i % 7 == 1) spec.unknown = spec.fpr / 9;
            expect_plan(&planned[kind], &spec);
        }
    }
}

static void expect_status(const planned_kind *row, const char *geometry, double fpr,
                          tamis_status status) {
    tamis_states_spec spec = spec_of(row, 1000, 8, fpr);
    tamis_states     *states = NULL;
    spec.geometry = geometry;
    assert_int_equal(plan_of(&spec).status, status);
    assert_int_equal(tamis_states_create(&spec, &states, NULL), status);
    tamis_states_free(states);
}

static void impossible_specs_are_refused(void **state) {
    (void)state;
    static const char *const impossible[] = {
        "values=7",
        "timer_bits=2",
        "hashes=0",
        "hashes=33",
        "cells=0",
        "cells=1",
        "counter_bits=9",
        "cells=500,hashes=33",
        "counter_bits=9,cells=1000",
    };
    for (size_t kind = 0; kind < COUNT(planned); kind++) {
        const planned_kind *const row = &planned[kind];
        for (size_t i = 0; i < COUNT(impossible); i++)
            expect_status(row, impossible[i], 0.01, TAMIS_ERR_CANNOT);
        expect_status(row, "buckets=5", 0.01, TAMIS_ERR_ARGUMENT);
        expect_status(row, "hashes=4", 0, TAMIS_ERR_CANNOT); /* nothing says how large */
        expect_status(row, "cells=2000", 0.01, TAMIS_ERR_CANNOT);
        expect_status(row, "cells=2000", 0, TAMIS_OK);
        expect_status(row, "cells=2,hashes=32,counter_bits=8", 0, TAMIS_OK);
        expect_status(row, "cells=9000000000000000000", 0, TAMIS_ERR_LIMIT);
    }
}

/* With the cells given, k is the one with the fewest unknown keys. */
static void a_fixed_size_has_the_best_k(void **state) {
    (void)state;
    for (size_t kind = 0; kind < COUNT(planned); kind++) {
        const planned_kind *const row = &planned[kind];
        tamis_states_spec         spec = spec_of(row, 1000, 8, 0);
        uint64_t                  g[OVERLAID_FIELDS];
        spec.geometry = "cells=30000";
        tamis_plan const plan = plan_of(&spec);
        geometry_of(&plan, g);
        for (unsigned k = 1; k <= OVERLAID_MAX_HASHES; k++) {
            overlaid_forecast told;
            g[OVERLAID_HASHES] = k;
            row->law(g, 1000, 16000, &told);
            assert_true(plan.unknown <= told.unknown);
        }
    }
}

/* A geometry that is given is what its field names say, in cells of a known size. */
static void a_geometry_can_be_given(void **state) {
    (void)state;
    for (size_t kind = 0; kind < COUNT(planned); kind++) {
        tamis_states_spec spec = spec_of(&planned[kind], 1000, 8, 0);
        uint64_t          g[OVERLAID_FIELDS];
        spec.timeout = 60;
        spec.geometry = "cells=777,hashes=5,values=8,counter_bits=3,timer_bits=2";
        tamis_plan const plan = plan_of(&spec);
        geometry_of(&plan, g);
        assert_int_equal(plan.status, TAMIS_OK);
        assert_true(g[OVERLAID_CELLS] == 777 && g[OVERLAID_HASHES] == 5 && g[OVERLAID_VALUES] == 8);
        assert_true(g[OVERLAID_COUNTER_BITS] == 3 && g[OVERLAID_TIMER_BITS] == 2);
    }
}

/* The product for all places: it cannot be less than the truth, and is near to it. */
static void places_that_coincide_are_counted(void **state) {
    (void)state;
    for (double m = 2; m <= 1000; m *= 3) {
        for (double held = 1; held < m; held += ceil(m / 7)) {
            double const   p = held / m;
            unsigned const k = 6;
            double         of_distinct[8] = { 1 }, exact = 0; /* P[so many different places] */
            for (unsigned i = 0; i < k; i++) {
                for (unsigned d = i + 1; d > 0; d--) {
                    of_distinct[d] =
                        of_distinct[d] * d / m + of_distinct[d - 1] * (m - (d - 1)) / m;
                }
                of_distinct[0] = 0;
            }
            for (unsigned d = 1; d <= k; d++) exact += fmax(of_distinct[d], 0) * pow(p, d);
            double const told = tamis_overlaid_all(p, m, k);
            assert_true(told >= exact * (1 - 1e-9));
            if (m > 100 && p > 0.25) assert_true(told <= exact * 1.05);
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_the_smallest_that_meet_the_spec),
        cmocka_unit_test(impossible_specs_are_refused),
        cmocka_unit_test(a_fixed_size_has_the_best_k),
        cmocka_unit_test(a_geometry_can_be_given),
        cmocka_unit_test(places_that_coincide_are_counted),
    };
    return cmocka_run_group_tests_name("overlaid_plans", tests, NULL, NULL);
}
