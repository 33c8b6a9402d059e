/* test_line_start.c - making a small set takes few evaluations of the law.
 *
 * They take nearly all of the time of tamis_create(), and a server makes many small sets. The
 * linker puts the functions of this file between size.c and law.c (--wrap), so nothing in the
 * library has to count.
 */
#include "unit.h"

#include "kinds/line/law.h"

#include <tamis/tamis.h>

typedef struct evaluations {
    unsigned rough, room, law, shares;
} evaluations;

static evaluations made;

double __real_tamis_line_rough_room(const law_life *life, double overflow);
double __wrap_tamis_line_rough_room(const law_life *life, double overflow);
double __real_tamis_line_room(const law_life *life, double overflow);
double __wrap_tamis_line_room(const law_life *life, double overflow);
double __real_tamis_line_law(const law_life *life, double room);
double __wrap_tamis_line_law(const law_life *life, double room);
void   __real_tamis_line_shares(double mean, law_shares *ret_shares);
void   __wrap_tamis_line_shares(double mean, law_shares *ret_shares);

double __wrap_tamis_line_rough_room(const law_life *life, double overflow) {
    made.rough++;
    return __real_tamis_line_rough_room(life, overflow);
}

double __wrap_tamis_line_room(const law_life *life, double overflow) {
    made.room++;
    return __real_tamis_line_room(life, overflow);
}

double __wrap_tamis_line_law(const law_life *life, double room) {
    made.law++;
    return __real_tamis_line_law(life, room);
}

void __wrap_tamis_line_shares(double mean, law_shares *ret_shares) {
    made.shares++;
    __real_tamis_line_shares(mean, ret_shares);
}

/* ------------------------------------------------------------------ sets */

static void make_set(const tamis_spec *spec) {
    tamis_set *set;
    made = (evaluations){ 0, 0, 0, 0 };
    assert_int_equal(tamis_create(spec, &set, NULL), TAMIS_OK);
    tamis_free(set);
}

/* The search tries up to 11 loads where the attic is a large part of the table, and 1 to 5 where it
 * is not. The forecast of the table is computed only by tamis_inspect() and tamis_plan_kinds(). */
static void a_set_takes_few_evaluations(void **state) {
    static const double   rates[] = { 0.07, 0.01, 0.001, 1e-6 };
    static const unsigned abilities[] = { 0, TAMIS_CAN_REMOVE, TAMIS_CAN_COUNT };
    (void)state;
    for (uint64_t n = 100; n <= 1000000; n *= 10) {
        for (unsigned i = 0; i < COUNT(rates) * COUNT(abilities); i++) {
            tamis_spec spec = TAMIS_SPEC_INIT;
            spec.kind = "line";
            spec.capacity = n;
            spec.fpr = rates[i % COUNT(rates)];
            spec.abilities = abilities[i / COUNT(rates)];
            make_set(&spec);
            assert_true(made.rough >= 1 && made.rough <= (n < 100000 ? 11u : 5u));
            assert_int_equal(made.room, 1);
            assert_int_equal(made.law + made.shares, 0);
        }
    }
}

/* A given geometry may not meet the need, so it is checked. */
static void a_given_geometry_is_checked(void **state) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *set;
    (void)state;
    spec.kind = "line";
    spec.capacity = 1000;
    spec.fpr = 0.01;
    spec.geometry = "buckets=25,attic=1";
    made = (evaluations){ 0, 0, 0, 0 };
    assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_ERR_CANNOT);
    assert_int_equal(made.law, 1);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_takes_few_evaluations),
        cmocka_unit_test(a_given_geometry_is_checked),
    };
    return unit_run("line_start", tests, COUNT(tests));
}
