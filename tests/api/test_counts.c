/* test_counts.c - how often counts are too high. tamis.h says: about as often as the fpr.
 *
 * Kinds in which copies take room say so (copies_take_room); they are tested with keys that are
 * added once, and all others also with copies. The planner never takes them for a spec that asks to
 * count. And how often keys with copies saturate an entry, compared with the plan.
 */
#include "make.h"

#define CAPACITY UINT64_C(100000)
#define FPR 0.01
#define SIGMAS 5.0
#define ABSENT (UINT64_C(1) << 40) /* keys from here on are not added */

static tamis_spec spec_of(const char *kind, tamis_preference prefer) {
    static const tamis_seed seed = { 20060911, 42 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.capacity = CAPACITY;
    spec.fpr = FPR;
    spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    spec.prefer = prefer;
    spec.kind = kind;
    spec.seed = &seed;
    return spec;
}

/* One key in four may have three copies. */
static unsigned true_copies(uint64_t key, bool has_copies) {
    return has_copies && key % 4 == 0 ? 3 : 1;
}

/* Fill up to the capacity, which counts different keys. */
static void fill(tamis_set *set, bool has_copies) {
    for (uint64_t key = 0; key < CAPACITY; key++) {
        add_copies(set, key, true_copies(key, has_copies));
    }
}

/* The most hits in n trials that chance explains. */
static double most_of(double n, double chance) {
    return n * chance + SIGMAS * sqrt(n * chance);
}

static void check_counts(const char *kind, tamis_preference prefer, bool has_copies) {
    tamis_spec const spec = spec_of(kind, prefer);
    tamis_set *const set = make_set_from(&spec);
    double           more = 0, absent = 0;
    fill(set, has_copies);
    for (uint64_t key = 0; key < CAPACITY; key++) {
        uint64_t const count = copies_of(set, key), truth = true_copies(key, has_copies);
        assert_true(count >= truth);
        more += count > truth;
        absent += copies_of(set, ABSENT + key) != 0;
    }
    print_message("# %s, %s%s: too many %g, absent %g, of %g\n", kind,
                  prefer == TAMIS_PREFER_SMALL ? "small" : "fast", has_copies ? ", copies" : "",
                  more, absent, FPR * (double)CAPACITY);
    assert_true(more <= most_of((double)CAPACITY, FPR));
    assert_true(absent <= most_of((double)CAPACITY, FPR));
    tamis_free(set);
}

/* The row of a kind in a plan that asks to count. False: the kind cannot count. */
static bool row_of(const char *kind, tamis_plan *ret_row) {
    tamis_spec spec = spec_of(kind, TAMIS_PREFER_FAST);
    size_t     n = 0;
    assert_int_equal(tamis_plan_kinds(&spec, ret_row, 1, &n, NULL), TAMIS_OK);
    return ret_row->status == TAMIS_OK;
}

static void counts_are_too_many_about_as_often_as_the_fpr(void **state) {
    (void)state;
    unsigned seen = 0;
    for (size_t i = 0; tamis_kind_name(i) != NULL; i++) {
        tamis_plan row;
        if (!row_of(tamis_kind_name(i), &row)) continue;
        seen++;
        for (unsigned prefer = TAMIS_PREFER_FAST; prefer <= TAMIS_PREFER_SMALL; prefer++) {
            check_counts(row.kind, (tamis_preference)prefer, false);
            if (!row.copies_take_room) check_counts(row.kind, (tamis_preference)prefer, true);
        }
    }
    assert_true(seen >= 2);
}

static void kinds_whose_copies_take_room_are_chosen_only_when_named(void **state) {
    (void)state;
    for (unsigned round = 0; round < 16; round++) {
        static const double rates[] = { 0.3, 0.02, 1e-3, 1e-6 };
        tamis_spec spec = spec_of(NULL, round % 2 == 0 ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL);
        spec.fpr = rates[round / 4];
        if (round / 2 % 2 != 0) spec.abilities = TAMIS_CAN_COUNT;
        tamis_set *const set = make_set_from(&spec);
        assert_false(inspect(set).plan.copies_take_room);
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ every choice */

#define FEW UINT64_C(2000)

/* Add all keys; with one planned copy, the first key comes so often that its copies would use up
 * the capacity many times. */
static void fill_as_planned(tamis_set *set, const tamis_spec *spec, uint64_t capacity) {
    for (uint64_t key = 0; key < capacity; key++) add_copies(set, key, spec->copies);
    if (spec->copies == 1) add_copies(set, 0, 20 * capacity);
}

/* A set that the planner has chosen counts right: about as many counts are too high as its rate
 * says. */
static void check_choice(const tamis_spec *spec) {
    tamis_set    *set;
    tamis_problem problem;
    double        more = 0;
    if (tamis_create(spec, &set, &problem) != TAMIS_OK) {
        assert_int_equal(problem.status, TAMIS_ERR_CANNOT);
        return;
    }
    tamis_plan const made = inspect(set).plan;
    uint64_t const   capacity = made.capacity;
    assert_false(made.copies_take_room);
    fill_as_planned(set, spec, capacity);
    for (uint64_t key = 1; key < capacity; key++) {
        uint64_t const count = copies_of(set, key);
        assert_true(count >= spec->copies);
        more += count > spec->copies;
    }
    assert_true(copies_of(set, 0) >= (spec->copies == 1 ? made.count_to : spec->copies));
    assert_true(more <= most_of((double)capacity, made.fpr) + 1);
    tamis_free(set);
}

/* Without a name, with and without a limit of memory that leaves the rate or the capacity open. In
 * 3072 bytes (12.3 bits per key) only kinds whose copies use up capacity could count. */
static void every_choice_counts_the_copies_that_are_planned(void **state) {
    static const uint64_t memories[] = { 0, 3072, 3600, 8000 };
    (void)state;
    for (unsigned round = 0; round < 2 * 2 * 3 * COUNT(memories); round++) {
        tamis_spec     spec = spec_of(NULL, (tamis_preference)(round % 2));
        unsigned const open = round / 4 % 3; /* nothing, the rate, the capacity */
        spec.abilities = open == 2 ? TAMIS_CAN_COUNT : TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE;
        spec.copies = 1 + round / 2 % 2;
        spec.memory = memories[round / 12];
        spec.capacity = spec.memory != 0 && open == 2 ? 0 : FEW;
        spec.fpr = spec.memory != 0 && open == 1 ? 0 : FPR;
        check_choice(&spec);
    }
}

/* The message names the kind that can, and what it needs; with that much memory it is chosen. */
static void a_refusal_says_how_much_memory_is_enough(void **state) {
    (void)state;
    tamis_spec         spec = spec_of(NULL, TAMIS_PREFER_FAST);
    tamis_problem      problem;
    tamis_set         *set = NULL;
    unsigned long long needed = 0;
    char               kind[16] = "";
    spec.capacity = 20000;
    spec.fpr = 0;
    spec.memory = 30 << 10;
    assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_CANNOT);
    int const read = sscanf(problem.text,
                            "no kind can do all of that in 30720 bytes: %15s needs %llu, the least",
                            kind, &needed);
    if (read != 2) fail_msg("%s", problem.text);
    spec.memory = needed;
    set = make_set_from(&spec);
    assert_string_equal(inspect(set).plan.kind, kind);
    tamis_free(set);
    spec.memory--;
    assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_ERR_CANNOT);
}

/* Only one kind has these fields, so the geometry is as good as its name. */
static void a_geometry_can_name_such_a_kind(void **state) {
    (void)state;
    tamis_spec spec = spec_of(NULL, TAMIS_PREFER_SMALL);
    spec.geometry = "increments=240,plain=0";
    tamis_set *const set = make_set_from(&spec);
    assert_true(inspect(set).plan.copies_take_room);
    tamis_free(set);
}

/* ------------------------------------------------------------------ saturation */

#define LIVES 400
#define LIFE_KEYS UINT64_C(300)

/* Fill a set with keys of four copies each, then replace the oldest key by a new one, until all
 * were replaced seven times. Is any entry saturated then? */
static bool live(const char *kind, uint64_t n, double *ret_stated) {
    tamis_spec       spec = spec_of(kind, TAMIS_PREFER_FAST);
    tamis_seed const seed = make_seed(n);
    spec.capacity = LIFE_KEYS;
    spec.lifetime = 8 * LIFE_KEYS;
    spec.fpr = 0.07;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.copies = 4;
    spec.seed = &seed;
    tamis_set *const set = make_set_from(&spec);
    for (uint64_t key = 0; key < spec.lifetime; key++) {
        for (unsigned i = 0; key >= LIFE_KEYS && i < 4; i++) {
            tamis_status const status = tamis_remove_id(set, key - LIFE_KEYS);
            assert_true(status == TAMIS_OK || status == TAMIS_ERR_SATURATED);
        }
        add_copies(set, key, 4);
    }
    tamis_info const info = inspect(set);
    *ret_stated = info.plan.saturation;
    tamis_free(set);
    return info.facts.saturated != 0;
}

/* Four keys with one fingerprint saturate a dlcbf here: 1e-27 was stated, as if it took 16. */
static void keys_with_copies_saturate_as_often_as_stated(void **state) {
    (void)state;
    static const char *const kinds[] = { "line", "rank", "dlcbf", "ddlcbf" };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        double   stated = 0;
        unsigned n = 0;
        for (uint64_t k = 0; k < LIVES; k++) n += live(kinds[i], k, &stated);
        double const expected = LIVES * stated;
        print_message("# %s: %u of %u saturated, stated %.3g\n", kinds[i], n, LIVES, expected);
        assert_true(fabs(n - expected) <= 4 * sqrt(expected) + 0.1 * expected);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_too_many_about_as_often_as_the_fpr),
        cmocka_unit_test(kinds_whose_copies_take_room_are_chosen_only_when_named),
        cmocka_unit_test(every_choice_counts_the_copies_that_are_planned),
        cmocka_unit_test(a_refusal_says_how_much_memory_is_enough),
        cmocka_unit_test(a_geometry_can_name_such_a_kind),
        cmocka_unit_test(keys_with_copies_saturate_as_often_as_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
