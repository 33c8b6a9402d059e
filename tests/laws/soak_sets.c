/* soak_sets.c - the first law of sets for as long as asked: no false negative, ever.
 *
 * Every kind, on every instruction set, beside an exact multiset; options: see soak.h.
 */
#include "churn.h"
#include "soak.h"

/* The largest set that is planned, and those that saturate early or lie beyond the cache. */
static bool is_long(const subject *variant) {
    return variant->geometry != NULL ? variant->capacity >= 900 : variant->capacity >= 20000;
}

static const char *live(const subject *variant, uint64_t seed) {
    tamis_set *const set = subject_make(variant, seed);
    churn            c;
    if (set == NULL || !churn_begin(&c, set, seed)) return "no memory";
    double const since = soak_seconds();
    const char  *why = NULL;
    while (c.operations < variant->operations && why == NULL) {
        why = churn_run(&c, min_u64(variant->operations - c.operations, 5000000));
        soak_progress(c.operations, variant->operations, since);
    }
    bool const can_remove = (set->abilities & TAMIS_CAN_REMOVE) != 0;
    if (why == NULL && can_remove) why = churn_empty(&c);
    if (why == NULL) {
        (void)printf("  %llu operations in %.1f s, %llu adds refused, %llu entries saturated\n",
                     (unsigned long long)c.operations, soak_seconds() - since,
                     (unsigned long long)c.refused, (unsigned long long)set->table.saturated);
    }
    churn_end(&c);
    tamis_free(set);
    return why;
}

int main(int argc, char **argv) {
    static const soak program = {
        "usage: soak_sets [--ops N] [--seed N] [--kind NAME]\n"
        "Every kind of sets, or the one named, each for N operations (100000000 without --ops).\n",
        subjects_all, is_long, live
    };
    return soak_run(&program, argc, argv);
}
