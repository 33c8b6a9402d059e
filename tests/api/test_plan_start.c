/* test_plan_start.c - planning all kinds takes few evaluations of their laws.
 *
 * These evaluations take nearly all of the time of tamis_plan_kinds(). As in test_line_start.c, the
 * linker puts the functions of this file between the searches and the laws (--wrap).
 */
#include "unit.h"

#include "kinds/bhcbf/analysis.h"
#include "kinds/mlcbf/law.h"
#include "kinds/vicbf/analysis.h"

#include <tamis/tamis.h>

static unsigned asked; /* rates of vicbf, bhcbf and mlcbf */

double __real_tamis_vi_fpr_known(const vi_profile *profile, const uint64_t *g, double n,
                                 vi_known *known);
double __wrap_tamis_vi_fpr_known(const vi_profile *profile, const uint64_t *g, double n,
                                 vi_known *known);
double __real_tamis_bh_fpr(const bh_profile *profile, double m, double k, double n);
double __wrap_tamis_bh_fpr(const bh_profile *profile, double m, double k, double n);
void   __real_tamis_ml_short_law(const numbered *map, double m, double hits, ml_law *ret_law);
void   __wrap_tamis_ml_short_law(const numbered *map, double m, double hits, ml_law *ret_law);

double __wrap_tamis_vi_fpr_known(const vi_profile *profile, const uint64_t *g, double n,
                                 vi_known *known) {
    asked++;
    return __real_tamis_vi_fpr_known(profile, g, n, known);
}

double __wrap_tamis_bh_fpr(const bh_profile *profile, double m, double k, double n) {
    asked++;
    return __real_tamis_bh_fpr(profile, m, k, n);
}

void __wrap_tamis_ml_short_law(const numbered *map, double m, double hits, ml_law *ret_law) {
    asked++;
    __real_tamis_ml_short_law(map, m, hits, ret_law);
}

/* ------------------------------------------------------------------ plans */

static unsigned asked_for(const char *kind, double capacity, double fpr, tamis_preference prefer) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_plan row;
    size_t     n;
    spec.kind = kind;
    spec.capacity = (uint64_t)capacity;
    spec.fpr = fpr;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.prefer = prefer;
    asked = 0;
    assert_int_equal(tamis_plan_kinds(&spec, &row, 1, &n, NULL), TAMIS_OK);
    return asked;
}

/* Plain bisection asks two to three times as often. */
static void a_plan_takes_few_evaluations(void **state) {
    static const struct {
        const char *kind;
        unsigned    most;
    } kinds[] = { { "vicbf", 1800 }, { "bhcbf", 180 }, { "mlcbf", 450 } };
    static const double rates[] = { 0.1, 0.01, 1e-3, 1e-5 };
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        unsigned most = 0;
        for (double n = 1e3; n <= 1e8; n *= 10) {
            for (size_t j = 0; j < COUNT(rates); j++) {
                unsigned const fast = asked_for(kinds[i].kind, n, rates[j], TAMIS_PREFER_FAST);
                unsigned const small = asked_for(kinds[i].kind, n, rates[j], TAMIS_PREFER_SMALL);
                if (fast > most) most = fast;
                if (small > most) most = small;
            }
        }
        print_message("# %s: %u evaluations at most\n", kinds[i].kind, most);
        assert_true(most > 0 && most <= kinds[i].most);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_takes_few_evaluations),
    };
    return unit_run("plan_start", tests, COUNT(tests));
}
