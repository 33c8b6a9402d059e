/* test_geometry.c - the geometry in a spec, as text: "hashes=9,counter_bits=3". */
#include "expect.h"
#include "make.h"

static void expect_geometry(const char *kind, const char *geometry, tamis_status status) {
    tamis_spec spec = good_spec();
    tamis_plan row;
    size_t     n;
    spec.fpr = 0;
    spec.kind = kind;
    spec.geometry = geometry;
    expect_no_set(&spec, status);
    assert_int_equal(tamis_plan_kinds(&spec, &row, 1, &n, NULL), TAMIS_OK);
    assert_int_equal(n, 1);
    assert_false(row.chosen);
    assert_int_equal(row.status, status);
    assert_string_equal(row.kind, kind);
}

static const char *const broken[] = {
    "colour=3",
    "bits",
    "bits=",
    "bits=,hashes=3",
    "=3",
    "bits=x",
    "bits=-4096",
    "bits=+4096",
    "bits= 4096",
    "bits =4096",
    "bits=0x1000",
    "bits=4096x",
    "bits=4096;",
    "bits=4096=3",
    "bitss=4096",
    "bit=4096",
    "BITS=4096",
    "bits=4096hashes=3",
    "bits=4096,hashes",
    "bits=4096,counter_bits=4",
    "bits=4096.0",
    "bits=4e3",
    "bits=4096\thashes=3",
    "bits=4096\n",
};

static void geometry_of_unknown_or_broken_fields_is_an_argument_error(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(broken); i++) {
        expect_geometry("bloom", broken[i], TAMIS_ERR_ARGUMENT);
    }
}

/* 2^64 does not fit into 64 bits, and 2^64 - 1, the planner's mark for a free field, is refused,
 * too. */
static void geometry_of_overflowing_numbers_is_an_argument_error(void **state) {
    (void)state;
    expect_geometry("bloom", "bits=18446744073709551616", TAMIS_ERR_ARGUMENT);
    expect_geometry("bloom", "bits=99999999999999999999999999999999", TAMIS_ERR_ARGUMENT);
    expect_geometry("bloom", "bits=18446744073709551615", TAMIS_ERR_ARGUMENT);
    expect_geometry("bloom", "hashes=18446744073709551616,bits=4096", TAMIS_ERR_ARGUMENT);
}

static void geometry_that_nobody_can_address_is_a_limit(void **state) {
    (void)state;
    expect_geometry("bloom", "bits=18446744073709551614,hashes=3", TAMIS_ERR_LIMIT);
    expect_geometry("counting", "counters=9223372036854775807,hashes=3", TAMIS_ERR_LIMIT);
}

/* A geometry that is too small is not reported as too large. */
static void geometry_that_a_kind_never_makes_is_not_a_limit(void **state) {
    (void)state;
    expect_geometry("bloom", "bits=4096,hashes=0", TAMIS_ERR_CANNOT);
    expect_geometry("bloom", "bits=4096,hashes=65", TAMIS_ERR_CANNOT);
    expect_geometry("counting", "counters=4096,counter_bits=1", TAMIS_ERR_CANNOT);
    expect_geometry("counting", "counters=4096,counter_bits=17", TAMIS_ERR_CANNOT);
    expect_geometry("bloom", "bits=1,hashes=3", TAMIS_ERR_CANNOT);
    expect_geometry("bloom", "bits=0,hashes=3", TAMIS_ERR_CANNOT);
    expect_geometry("bloom", "bits=1", TAMIS_ERR_CANNOT);
    expect_geometry("counting", "counters=1,hashes=3", TAMIS_ERR_CANNOT);
}

static void geometry_that_misses_the_rate_cannot(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    spec.kind = "bloom";
    spec.geometry = "bits=512";
    expect_no_set(&spec, TAMIS_ERR_CANNOT);
    spec.geometry = "bits=1048576,hashes=7";
    (void)expect_made(&spec);
}

static void geometry_may_be_written_with_commas_and_blanks(void **state) {
    (void)state;
    static const char *const good[] = { "bits=4096,hashes=5",       "hashes=5,bits=4096",
                                        "bits=4096 hashes=5",       "bits=4096, hashes=5",
                                        " bits=4096 ,hashes=5",     "bits=4096,,hashes=5,",
                                        "   hashes=5   bits=4096 ", ",bits=04096,hashes=05" };
    for (size_t i = 0; i < COUNT(good); i++) {
        tamis_spec spec = good_spec();
        spec.fpr = 0;
        spec.kind = "bloom";
        spec.geometry = good[i];
        tamis_info const info = expect_made(&spec);
        assert_int_equal(plan_field(&info.plan, "bits"), 4096);
        assert_int_equal(plan_field(&info.plan, "hashes"), 5);
    }
}

/* The planner chooses the fields that are not fixed, so that the rate is met. */
static void geometry_leaves_other_fields_to_the_planner(void **state) {
    (void)state;
    static const char *const empty[] = { "", " ", ",", " , " };
    tamis_spec               spec = good_spec();
    spec.kind = "counting";
    tamis_info const free_choice = expect_made(&spec);
    for (size_t i = 0; i < COUNT(empty); i++) {
        spec.geometry = empty[i];
        tamis_info const info = expect_made(&spec);
        assert_memory_equal(info.plan.fields, free_choice.plan.fields, sizeof info.plan.fields);
    }
    spec.geometry = "counter_bits=3,hashes=4";
    tamis_info const info = expect_made(&spec);
    assert_int_equal(plan_field(&info.plan, "counter_bits"), 3);
    assert_int_equal(plan_field(&info.plan, "hashes"), 4);
    assert_true(info.plan.fpr <= spec.fpr);
}

/* If the spec names no kind, all kinds that have these fields are considered. */
static void geometry_chooses_among_kinds_that_have_its_fields(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    spec.geometry = "counter_bits=5,counters=65536";
    tamis_info const info = expect_made(&spec);
    assert_int_equal(plan_field(&info.plan, "counter_bits"), 5);
    spec.geometry = "colour=3";
    expect_no_set(&spec, TAMIS_ERR_ARGUMENT);
}

/* ------------------------------------------------------------------ messages */

/* Messages repeat names from the spec. These may come from an untrusted source. */
static void problem_text_is_one_line_whatever_the_caller_wrote(void **state) {
    (void)state;
    static const char *const names[] = { "a\nb", "\r\n", "\n\n\n", "a\tb\n" };
    for (size_t i = 0; i < COUNT(names); i++) {
        tamis_spec    spec = good_spec();
        tamis_problem problem = { 0 };
        tamis_set    *set = NO_SET;
        spec.kind = names[i];
        assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_KIND);
        assert_null(strpbrk(problem.text, "\r\n"));
        spec.kind = "bloom";
        spec.geometry = names[i];
        assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_ARGUMENT);
        assert_null(strpbrk(problem.text, "\r\n"));
        spec.geometry = NULL;
        spec.isa = names[i];
        assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_NOT_BUILT);
        assert_null(strpbrk(problem.text, "\r\n"));
    }
}

static void problem_text_is_cut_off_when_a_name_is_too_long(void **state) {
    (void)state;
    static char endless[100001];
    tamis_spec  spec = good_spec();
    memset(endless, 'x', sizeof endless - 1);
    spec.kind = endless;
    expect_refused(&spec, TAMIS_ERR_KIND);
    spec.kind = "bloom";
    spec.geometry = endless;
    expect_no_set(&spec, TAMIS_ERR_ARGUMENT);
    spec.geometry = NULL;
    spec.isa = endless;
    expect_no_set(&spec, TAMIS_ERR_NOT_BUILT);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometry_of_unknown_or_broken_fields_is_an_argument_error),
        cmocka_unit_test(geometry_of_overflowing_numbers_is_an_argument_error),
        cmocka_unit_test(geometry_that_nobody_can_address_is_a_limit),
        cmocka_unit_test(geometry_that_a_kind_never_makes_is_not_a_limit),
        cmocka_unit_test(geometry_that_misses_the_rate_cannot),
        cmocka_unit_test(geometry_may_be_written_with_commas_and_blanks),
        cmocka_unit_test(problem_text_is_one_line_whatever_the_caller_wrote),
        cmocka_unit_test(problem_text_is_cut_off_when_a_name_is_too_long),
        cmocka_unit_test(geometry_leaves_other_fields_to_the_planner),
        cmocka_unit_test(geometry_chooses_among_kinds_that_have_its_fields),
    };
    return unit_run("geometry", tests, COUNT(tests));
}
