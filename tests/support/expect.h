/* expect.h - a spec that is made, or refused for the right reason. Only the public API.
 *
 * A refusal names its cause (the exact status), says it in words, and leaves every result alone.
 */
#ifndef TAMIS_TESTS_EXPECT_H
#define TAMIS_TESTS_EXPECT_H

#include "unit.h"

#include <tamis/tamis.h>

#define NO_SET ((tamis_set *)(uintptr_t)0x5a5a)
#define NO_ROWS ((size_t)12345)
#define MAX_ROWS 64

static inline tamis_spec good_spec(void) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = 1000;
    spec.fpr = 0.01;
    return spec;
}

static inline void check_words(const tamis_problem *problem, tamis_status status) {
    assert_int_equal(problem->status, status);
    assert_non_null(memchr(problem->text, '\0', sizeof problem->text));
    assert_true(strlen(problem->text) >= 8);
}

static inline void expect_no_set(const tamis_spec *spec, tamis_status status) {
    tamis_problem problem = { 0 };
    tamis_set    *set = NO_SET;
    assert_int_equal(tamis_create(spec, &set, &problem), status);
    assert_ptr_equal(set, NO_SET);
    check_words(&problem, status);
    assert_int_equal(tamis_create(spec, &set, NULL), status); /* the message is optional */
}

static inline void expect_no_plan(const tamis_spec *spec, tamis_status status) {
    tamis_problem problem = { 0 };
    tamis_plan    rows[MAX_ROWS], before[MAX_ROWS];
    size_t        n = NO_ROWS;
    memset(rows, 0x5a, sizeof rows);
    memcpy(before, rows, sizeof rows);
    assert_int_equal(tamis_plan_kinds(spec, rows, MAX_ROWS, &n, &problem), status);
    assert_int_equal(n, NO_ROWS);
    assert_memory_equal(rows, before, sizeof rows);
    check_words(&problem, status);
    assert_int_equal(tamis_plan_kinds(spec, rows, MAX_ROWS, &n, NULL), status);
}

static inline void expect_refused(const tamis_spec *spec, tamis_status status) {
    expect_no_set(spec, status);
    expect_no_plan(spec, status);
}

/* Make a set, look at it, and free it. */
static inline tamis_info expect_made(const tamis_spec *spec) {
    tamis_problem      problem = { 0 };
    tamis_info         info;
    tamis_set         *set = NULL;
    tamis_status const status = tamis_create(spec, &set, &problem);
    if (status != TAMIS_OK) print_error("%s\n", problem.text);
    assert_int_equal(status, TAMIS_OK);
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
    return info;
}

#endif
