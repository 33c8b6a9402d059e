/* test_extremes.c - geometries that nobody would choose: every kind refuses them, or works with
 * them.
 *
 * usage: test_extremes [TIMES]      so many times 200 wishes and 4,000 geometries for each kind
 *
 * Sizes are computed from numbers in files, which may come from an attacker, and in specs. Nothing
 * may overflow, divide by zero or search for ever.
 */
#include "make.h"

#include "handle.h"
#include "kind.h"

#include <tamis/states.h>

#define N_EDGES 9

static unsigned times = 1;

static const uint64_t extremes[] = { 0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     7,
                                     8,
                                     31,
                                     32,
                                     63,
                                     64,
                                     65,
                                     255,
                                     256,
                                     65535,
                                     65536,
                                     UINT64_C(1) << 31,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 40,
                                     UINT64_C(1) << 53,
                                     UINT64_C(1) << 58,
                                     UINT64_C(1) << 60,
                                     UINT64_C(1) << 61,
                                     UINT64_C(1) << 63,
                                     UINT64_MAX - 63,
                                     UINT64_MAX - 1 };

static uint64_t any_extreme(dice *chance) {
    return extremes[dice_below(chance, COUNT(extremes))];
}

/* ------------------------------------------------------------------ sizes of geometries */

/* A geometry that the kind chooses for some keys. The others are made by changing it. */
static bool usual_geometry(const tamis_kind *kind, uint64_t *ret_geometry) {
    tamis_plan        plan;
    size_t            n;
    tamis_spec        spec = TAMIS_SPEC_INIT;
    tamis_states_spec states_spec = TAMIS_STATES_SPEC_INIT;
    spec.kind = states_spec.kind = kind->name;
    spec.capacity = states_spec.capacity = 1000;
    spec.fpr = states_spec.fpr = 0.01;
    states_spec.values = 4;
    tamis_status const status = kind->calls.has != NULL
                                    ? tamis_plan_kinds(&spec, &plan, 1, &n, NULL)
                                    : tamis_states_plan_kinds(&states_spec, &plan, 1, &n, NULL);
    if (status != TAMIS_OK || plan.status != TAMIS_OK) return false;
    for (unsigned i = 0; i < tamis_kind_n_fields(kind); i++) ret_geometry[i] = plan.fields[i].value;
    return true;
}

static void sizes_of_any_geometry_are_computed_or_refused(void **state) {
    const tamis_kind *const kind = *state;
    uint64_t                usual[TAMIS_MAX_FIELDS] = { 0 }, geometry[TAMIS_MAX_FIELDS], bytes;
    unsigned const          n = tamis_kind_n_fields(kind);
    dice                    chance = { 7 };
    unsigned                n_possible = 0, n_refused = 0;
    assert_true(usual_geometry(kind, usual));
    assert_true(kind->body_bytes(usual, &bytes));
    for (unsigned trial = 0; trial < 4000 * times; trial++) {
        memcpy(geometry, usual, sizeof geometry);
        for (uint64_t i = 0; i <= trial % 4; i++)
            geometry[dice_below(&chance, n)] = any_extreme(&chance);
        bool const is_possible = kind->body_bytes(geometry, &bytes);
        if (is_possible) assert_true(bytes >= 64 && bytes % 64 == 0 && bytes <= INT64_MAX);
        if (kind->prints != NULL && is_possible) assert_true(kind->prints(geometry) > 0);
        n_possible += is_possible;
        n_refused += !is_possible;
    }
    assert_true(n_possible > 10 && n_refused > 1000);
}

/* Numbers around both ends of a field's range. */
static uint64_t edge_of(const kind_field *field, unsigned i) {
    uint64_t const edges[N_EDGES] = { 0,
                                      1,
                                      field->least - 1,
                                      field->least,
                                      field->least + 1,
                                      field->most - 1,
                                      field->most,
                                      field->most + 1,
                                      UINT64_MAX };
    return edges[i];
}

/* A geometry that has a size is inside the ranges that users are told. With two fields changed,
 * since one number may be refused only because of another one. */
static void expect_told_range(const tamis_kind *kind, const uint64_t *geometry) {
    uint64_t bytes;
    if (!kind->body_bytes(geometry, &bytes)) return;
    for (unsigned i = 0; i < tamis_kind_n_fields(kind); i++) {
        const kind_field *const field = &kind->fields[i];
        if (geometry[i] < field->least || geometry[i] > field->most)
            fail_msg("%s=%llu has a size", field->name, (unsigned long long)geometry[i]);
    }
}

/* Has a geometry with this value a size, when one or two other fields are changed, too? */
static bool is_possible_somehow(const tamis_kind *kind, const uint64_t *usual, unsigned field,
                                uint64_t value) {
    unsigned const n = tamis_kind_n_fields(kind), all = n * N_EDGES;
    for (unsigned i = 0; i < all * all; i++) {
        unsigned const a = i % all, b = i / all;
        uint64_t       geometry[TAMIS_MAX_FIELDS], bytes;
        memcpy(geometry, usual, sizeof geometry);
        geometry[a / N_EDGES] = edge_of(&kind->fields[a / N_EDGES], a % N_EDGES);
        geometry[b / N_EDGES] = edge_of(&kind->fields[b / N_EDGES], b % N_EDGES);
        geometry[field] = value;
        if (kind->body_bytes(geometry, &bytes)) return true;
    }
    return false;
}

/* Ends that need more changes than two, or that no table has: a range is that of its field
 * alone. */
static const char *const not_reached[] = {
    "rank most cells",    "rank least cells2",        "rank most cells2",  "rank least extensions2",
    "dlcbf most buckets", "ddlcbf most buckets",      "dlbf most sorting", "mlcbf least bits2",
    "mlcbf least bits3",  "state_print most buckets",
};

static bool is_not_reached(const char *end) {
    for (size_t i = 0; i < COUNT(not_reached); i++)
        if (strcmp(end, not_reached[i]) == 0) return true;
    return false;
}

static void both_ends_of_a_range_are_possible(void **state) {
    const tamis_kind *const kind = *state;
    uint64_t                usual[TAMIS_MAX_FIELDS] = { 0 };
    assert_true(usual_geometry(kind, usual));
    for (unsigned i = 0; i < 2 * tamis_kind_n_fields(kind); i++) {
        const kind_field *const field = &kind->fields[i / 2];
        char                    end[60];
        (void)snprintf(end, sizeof end, "%s %s %s", kind->name, i % 2 == 0 ? "least" : "most",
                       field->name);
        bool const is_possible =
            is_possible_somehow(kind, usual, i / 2, i % 2 == 0 ? field->least : field->most);
        if (is_possible == is_not_reached(end))
            fail_msg("%s: %s", end, is_possible ? "it is listed as not reached" : "no table");
    }
}

static void no_field_is_beyond_its_range(void **state) {
    const tamis_kind *const kind = *state;
    uint64_t                usual[TAMIS_MAX_FIELDS] = { 0 };
    unsigned const          n = tamis_kind_n_fields(kind);
    assert_true(usual_geometry(kind, usual));
    for (unsigned pair = 0; pair < n * n; pair++) {
        for (unsigned i = 0; i < N_EDGES * N_EDGES; i++) {
            uint64_t geometry[TAMIS_MAX_FIELDS];
            memcpy(geometry, usual, sizeof geometry);
            geometry[pair / n] = edge_of(&kind->fields[pair / n], i / N_EDGES);
            geometry[pair % n] = edge_of(&kind->fields[pair % n], i % N_EDGES);
            expect_told_range(kind, geometry);
        }
    }
}

/* ------------------------------------------------------------------ wishes */

/* "name=value", for one field or two, some of them far outside of what they may be. */
static void write_geometry(const tamis_kind *kind, dice *chance, char *ret_text, size_t room) {
    int            used = 0;
    unsigned const n = tamis_kind_n_fields(kind), wanted = 1 + (unsigned)dice_below(chance, 2);
    unsigned const first = (unsigned)dice_below(chance, n);
    for (unsigned i = 0; i < wanted && i < n; i++) {
        const kind_field *const field = &kind->fields[(first + i) % n];
        uint64_t const edges[] = { field->least, field->most, field->least + 1, field->most - 1,
                                   any_extreme(chance) };
        uint64_t const value = edges[dice_below(chance, COUNT(edges))];
        used += snprintf(ret_text + used, room - (size_t)used, "%s%s=%llu", i == 0 ? "" : ",",
                         field->name, (unsigned long long)value);
    }
}

static double any_rate(dice *chance) {
    static const double rates[] = { 0, 0, 0.01, 0.4, 1e-4, 1e-9, 1e-12 };
    return rates[dice_below(chance, COUNT(rates))];
}

static uint64_t any_capacity(dice *chance) {
    static const uint64_t capacities[] = { 1, 2, 3, 40, 1000, 1000, 30000, UINT64_C(1) << 40 };
    return capacities[dice_below(chance, COUNT(capacities))];
}

static void expect_told(tamis_status status, const tamis_plan *plan, const char *geometry) {
    if (status != TAMIS_OK || plan->status != TAMIS_OK) return;
    if (plan->body_bytes < 64 || !(plan->bits_per_key > 0))
        fail_msg("%s: a plan of %llu bytes", geometry, (unsigned long long)plan->body_bytes);
}

static void plan_a_set(const tamis_kind *kind, const char *geometry, dice *chance) {
    static const unsigned abilities[] = { 0, TAMIS_CAN_REMOVE, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT };
    tamis_spec            spec = TAMIS_SPEC_INIT;
    tamis_plan            plan;
    size_t                n;
    spec.kind = kind->name;
    spec.geometry = geometry;
    spec.capacity = any_capacity(chance);
    spec.fpr = any_rate(chance);
    spec.abilities = abilities[dice_below(chance, 3)];
    spec.prefer = dice_below(chance, 2) == 0 ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL;
    if (dice_below(chance, 4) == 0) spec.overflow = 1e-12;
    if (dice_below(chance, 4) == 0) spec.copies = 1 + dice_below(chance, 300);
    expect_told(tamis_plan_kinds(&spec, &plan, 1, &n, NULL), &plan, geometry);
}

static void plan_states(const tamis_kind *kind, const char *geometry, dice *chance) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_plan        plan;
    size_t            n;
    spec.kind = kind->name;
    spec.geometry = geometry;
    spec.capacity = any_capacity(chance);
    spec.fpr = any_rate(chance);
    spec.unknown = any_rate(chance);
    spec.values = 2 + dice_below(chance, 3) * 40;
    spec.prefer = dice_below(chance, 2) == 0 ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL;
    if (dice_below(chance, 2) == 0) spec.timeout = 100;
    expect_told(tamis_states_plan_kinds(&spec, &plan, 1, &n, NULL), &plan, geometry);
}

static void any_wish_is_planned_or_refused(void **state) {
    const tamis_kind *const kind = *state;
    dice                    chance = { 11 };
    char                    geometry[200];
    for (unsigned trial = 0; trial < 200 * times; trial++) {
        write_geometry(kind, &chance, geometry, sizeof geometry);
        const char *const text = trial % 8 == 0 ? NULL : geometry;
        if (kind->calls.has != NULL) plan_a_set(kind, text, &chance);
        if (kind->states != NULL) plan_states(kind, text, &chance);
    }
}

#define MOST_KINDS 40

static size_t take_kind(const tamis_kind *kind, struct CMUnitTest *ret_tests) {
    ret_tests[0] = unit_named(kind->name, sizes_of_any_geometry_are_computed_or_refused, kind);
    ret_tests[1] = unit_named(kind->name, no_field_is_beyond_its_range, kind);
    ret_tests[2] = unit_named(kind->name, both_ends_of_a_range_are_possible, kind);
    ret_tests[3] = unit_named(kind->name, any_wish_is_planned_or_refused, kind);
    return 4;
}

int main(int argc, char **argv) {
    static struct CMUnitTest tests[4 * MOST_KINDS];
    size_t                   n = 0;
    if (argc > 1) times = (unsigned)strtoul(argv[1], NULL, 10);
    for (size_t i = 0; i < MOST_KINDS && tamis_kind_at(i) != NULL; i++)
        n += take_kind(tamis_kind_at(i), tests + n);
    for (size_t i = 0; i < MOST_KINDS && tamis_states_kind_at(i) != NULL; i++) {
        if (tamis_states_kind_at(i)->calls.has == NULL)
            n += take_kind(tamis_states_kind_at(i), tests + n);
    }
    return _cmocka_run_group_tests("extremes", tests, n, NULL, NULL);
}
