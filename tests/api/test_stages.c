/* test_stages.c - tamis_plan_stages(): a set that grows does what its plan says, and if a range is
 * not possible, the message names one that is. Uses only the public API. */
#include "ledger.h"
#include "make.h"
#include "resident.h"

#include <tamis/tamis.h>

#include <stdlib.h>

#define MAX_ROWS 64

static tamis_spec growing_spec(uint64_t capacity, uint64_t grow_to, double fpr,
                               unsigned abilities) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = capacity;
    spec.grow_to = grow_to;
    spec.fpr = fpr;
    spec.abilities = abilities;
    return spec;
}

static size_t stages_of(const tamis_spec *spec, tamis_plan *ret_rows) {
    size_t n;
    assert_int_equal(tamis_plan_stages(spec, ret_rows, MAX_ROWS, &n, NULL), TAMIS_OK);
    assert_true(n <= MAX_ROWS);
    return n;
}

/* The set has the size that the plan says for its stage. During a step there are two tables. */
static void check_stage(const tamis_set *set, const tamis_plan *rows, size_t n) {
    tamis_facts facts;
    assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
    assert_int_equal(facts.stages + 1, n);
    const tamis_plan *const row = &rows[facts.stage];
    assert_int_equal(facts.capacity, row->capacity);
    uint64_t const next = facts.is_growing ? row[1].body_bytes : 0;
    assert_int_equal(facts.body_bytes, row->body_bytes + next);
}

static void grow_through(const tamis_spec *spec) {
    tamis_plan       rows[MAX_ROWS];
    tamis_info       info;
    size_t const     n = stages_of(spec, rows);
    tamis_set *const set = make_set_from(spec);
    uint64_t const   last = rows[n - 1].capacity;
    for (uint64_t id = 0; id < last; id++) {
        if (id % 97 == 0) check_stage(set, rows, n);
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    }
    check_stage(set, rows, n);
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_int_equal(info.facts.stage, n - 1);
    assert_true(info.plan.fpr == rows[n - 1].fpr);
    tamis_free(set);
}

static void a_set_has_the_planned_bytes_at_each_stage(void **state) {
    (void)state;
    unsigned const abilities[] = { 0, TAMIS_CAN_REMOVE, TAMIS_CAN_COUNT | TAMIS_CAN_MERGE };
    for (unsigned i = 0; i < 3; i++) {
        tamis_spec spec = growing_spec(1000, 100000, 0.001, abilities[i]);
        grow_through(&spec);
        spec.copies = abilities[i] != 0 ? 5 : 1;
        spec.fpr = 1e-6;
        grow_through(&spec);
    }
}

static void states_have_the_planned_bytes_at_each_stage(void **state) {
    (void)state;
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_plan        rows[MAX_ROWS];
    tamis_states     *states;
    tamis_states_info info;
    size_t            n, at = 0;
    spec.capacity = 2000;
    spec.grow_to = 50000;
    spec.fpr = 0.001;
    spec.values = 5;
    spec.timeout = 100;
    assert_int_equal(tamis_states_plan_stages(&spec, rows, MAX_ROWS, &n, NULL), TAMIS_OK);
    assert_true(n >= 4);
    assert_int_equal(tamis_states_create(&spec, &states, NULL), TAMIS_OK);
    for (uint64_t id = 0; id < rows[n - 1].capacity; id++) {
        assert_int_equal(tamis_states_put_id(states, id, 3), TAMIS_OK);
        if (id % 499 != 0) continue;
        assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
        while (info.plan.capacity != rows[at].capacity) assert_true(++at < n);
        assert_int_equal(info.plan.body_bytes, rows[at].body_bytes);
    }
    assert_int_equal(at, n - 1);
    tamis_states_free(states);
}

static void rows_double_and_end_with_the_rate_that_was_asked_for(void **state) {
    (void)state;
    tamis_plan       rows[MAX_ROWS], fixed[MAX_ROWS];
    size_t           n_fixed;
    tamis_spec       spec = growing_spec(1000, UINT64_C(1) << 30, 0.001, TAMIS_CAN_REMOVE);
    size_t const     n = stages_of(&spec, rows);
    tamis_plan const last = rows[n - 1];
    assert_true(rows[0].capacity >= spec.capacity && last.capacity >= spec.grow_to);
    assert_true(last.fpr <= spec.fpr);
    for (size_t i = 1; i < n; i++) {
        assert_int_equal(rows[i].capacity, 2 * rows[i - 1].capacity);
        assert_true(rows[i].bits_per_key < rows[i - 1].bits_per_key);
        assert_true(rows[i].fpr > 1.9 * rows[i - 1].fpr && rows[i].fpr < 2.1 * rows[i - 1].fpr);
        assert_true(rows[i].overflow <= 1e-10);
    }
    /* in the last stage it is as large as a set made for that capacity, within 1/32, since the
     * first stage has 32 buckets */
    spec.capacity = last.capacity;
    spec.grow_to = 0;
    spec.kind = last.kind;
    assert_int_equal(tamis_plan_kinds(&spec, fixed, MAX_ROWS, &n_fixed, NULL), TAMIS_OK);
    assert_true((double)last.body_bytes < (1 + 1.0 / 32) * (double)fixed[0].body_bytes);
    /* the row of the kind is that of the last stage */
    spec.capacity = 1000;
    spec.grow_to = UINT64_C(1) << 30;
    assert_int_equal(tamis_plan_kinds(&spec, fixed, MAX_ROWS, &n_fixed, NULL), TAMIS_OK);
    assert_int_equal(fixed[0].capacity, last.capacity);
    assert_int_equal(fixed[0].body_bytes, last.body_bytes);
}

static void peaks_depend_on_whose_memory_it_is(void **state) {
    (void)state;
    tamis_plan   rows[MAX_ROWS], own[MAX_ROWS];
    tamis_spec   spec = growing_spec(1000, 20000000, 0.01, 0);
    size_t const n = stages_of(&spec, rows);
    ledger       book = { 0 };
    spec.allocator = ledger_allocator(&book);
    assert_int_equal(stages_of(&spec, own), n);
    assert_int_equal(rows[0].peak_bytes, rows[0].body_bytes);
    for (size_t i = 1; i < n; i++) {
        uint64_t const larger = rows[i].body_bytes, smaller = rows[i - 1].body_bytes;
        bool const     has_pages = smaller >= UINT64_C(4) << 20; /* else they are not given back */
        assert_true(larger > smaller);
        assert_int_equal(rows[i].peak_bytes, has_pages ? larger + larger / 20 : larger + smaller);
        assert_int_equal(own[i].peak_bytes, own[i].body_bytes + own[i - 1].body_bytes);
    }
}

/* A million bytes are allowed for everything else in the process, and because memory is given back
 * in large pieces. */
static void resident_memory_stays_below_the_planned_peak(void **state) {
    (void)state;
    tamis_plan       rows[MAX_ROWS];
    tamis_facts      facts = { .stage = 0 };
    tamis_spec const spec = growing_spec(1000, UINT64_C(1) << 30, 0.001, 0);
    size_t const     n = stages_of(&spec, rows);
    uint64_t const   before = resident_own_bytes();
    if (before == 0) return; /* the system does not tell */
    tamis_set *const set = make_set_from(&spec);
    for (uint64_t id = 0; facts.stage < 13; id += 512) {
        uint64_t ids[512];
        for (unsigned i = 0; i < 512; i++) ids[i] = id + i;
        assert_int_equal(tamis_add_id_batch(set, ids, 512, NULL), TAMIS_OK);
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
        size_t const to = facts.stage + facts.is_growing;
        assert_true(to < n);
        if (id % 8192 == 0 && facts.is_growing)
            assert_true(resident_own_bytes() - before < rows[to].peak_bytes + 1000000);
    }
    tamis_free(set);
}

static void a_fixed_size_is_one_row_and_like_has_the_rows_of_that_set(void **state) {
    (void)state;
    tamis_plan       rows[MAX_ROWS], like[MAX_ROWS];
    tamis_spec       spec = growing_spec(1000, 0, 0.001, 0), other = TAMIS_SPEC_INIT;
    tamis_set *const fixed = make_set_from(&spec);
    assert_int_equal(stages_of(&spec, rows), 1);
    other.like = fixed;
    assert_int_equal(stages_of(&other, like), 1);
    assert_int_equal(like[0].body_bytes, rows[0].body_bytes);
    tamis_free(fixed);
    spec.grow_to = 64000;
    tamis_set *const set = make_set_from(&spec);
    size_t const     n = stages_of(&spec, rows);
    assert_int_equal(tamis_resize(set, 10000, NULL), TAMIS_OK);
    other.like = set;
    assert_int_equal(stages_of(&other, like), n);
    for (size_t i = 0; i < n; i++) assert_int_equal(like[i].body_bytes, rows[i].body_bytes);
    tamis_free(set);
}

/* The problem text names a grow_to and a first capacity, and both are possible. If the spec names
 * no kind, a kind is chosen that can do all of it. */
static void ranges_that_are_too_wide_are_refused_with_one_that_is_possible(void **state) {
    (void)state;
    tamis_plan         rows[MAX_ROWS];
    tamis_problem      problem = { .status = TAMIS_OK };
    tamis_spec         spec = growing_spec(1000, UINT64_C(1) << 30, 1e-9, 0);
    size_t             n;
    unsigned long long from, to, first, last;
    assert_true(stages_of(&spec, rows) > 1);
    assert_string_equal(rows[0].kind, "rank");
    spec.kind = "line";
    assert_int_equal(tamis_plan_stages(&spec, rows, MAX_ROWS, &n, &problem), TAMIS_ERR_CANNOT);
    const char *const text = strstr(problem.text, "from ");
    assert_non_null(text);
    assert_int_equal(sscanf(text,
                            "from %llu keys it can grow to %llu; to reach %llu, start with %llu",
                            &from, &to, &last, &first),
                     4);
    assert_int_equal(from, spec.capacity);
    assert_int_equal(last, spec.grow_to);
    tamis_spec shorter = spec, later = spec;
    shorter.grow_to = to;
    later.capacity = first;
    assert_true(stages_of(&shorter, rows) > 1);
    assert_true(stages_of(&later, rows) > 1);
}

/* The doublings that a kind can plan, from 1000 keys at this rate; -1: not even one size. */
static int most_doublings(const char *kind, double fpr, unsigned abilities) {
    int most = -1;
    for (int doublings = 0; doublings < 30; doublings++) {
        tamis_spec spec = growing_spec(1000, UINT64_C(1000) << doublings, fpr, abilities);
        size_t     n;
        spec.kind = kind;
        if (tamis_plan_stages(&spec, NULL, 0, &n, NULL) != TAMIS_OK) break;
        most = doublings;
    }
    return most;
}

/* A higher rate needs shorter fingerprints, so the set can grow at least as far. */
static void a_higher_rate_never_grows_less_far(void **state) {
    (void)state;
    const char *const kinds[] = { "line", "rank" };
    for (unsigned i = 0; i < 4; i++) {
        unsigned const abilities = i < 2 ? 0 : TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
        int            before = -1;
        for (double fpr = 2e-12; fpr < 0.3; fpr *= 1.7) {
            int const most = most_doublings(kinds[i % 2], fpr, abilities);
            if (most < before) fail_msg("%s at %g: %d, before %d", kinds[i % 2], fpr, most, before);
            before = most;
        }
        assert_int_equal(before, 29);
    }
}

static void kinds_that_cannot_grow_say_which_can(void **state) {
    (void)state;
    tamis_set    *set;
    tamis_problem problem = { .status = TAMIS_OK };
    tamis_spec    spec = growing_spec(1000, 100000, 0.01, 0);
    spec.kind = "bloom";
    assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "kind bloom cannot grow"));
    assert_non_null(strstr(problem.text, "line"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_has_the_planned_bytes_at_each_stage),
        cmocka_unit_test(states_have_the_planned_bytes_at_each_stage),
        cmocka_unit_test(rows_double_and_end_with_the_rate_that_was_asked_for),
        cmocka_unit_test(peaks_depend_on_whose_memory_it_is),
        cmocka_unit_test(resident_memory_stays_below_the_planned_peak),
        cmocka_unit_test(a_fixed_size_is_one_row_and_like_has_the_rows_of_that_set),
        cmocka_unit_test(ranges_that_are_too_wide_are_refused_with_one_that_is_possible),
        cmocka_unit_test(a_higher_rate_never_grows_less_far),
        cmocka_unit_test(kinds_that_cannot_grow_say_which_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
