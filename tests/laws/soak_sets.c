/* soak_sets.c - the first law of sets for as long as asked: no false negative, ever.
 *
 * Every kind, on every instruction set, beside an exact multiset; options: see soak.h. In the end
 * of each life strangers are looked up, and from a copy absent keys are removed: both must be wrong
 * no more often than the set states.
 */
#include "churn.h"
#include "soak.h"

#define STRANGERS 200000 /* in a long life */
#define REMOVALS 100000

/* The largest set that is planned, those that grow, and those that saturate early or lie beyond
 * the cache. */
static bool is_long(const subject *variant) {
    if (variant->grow_to != 0) return true;
    return variant->geometry != NULL ? variant->capacity >= 900 : variant->capacity >= 20000;
}

static double current_fpr(const tamis_set *set) {
    tamis_info info;
    return tamis_inspect(set, &info) == TAMIS_OK ? info.current_fpr : 1;
}

static void ask_strangers(const tamis_set *set, uint64_t n, soak_tally *tally) {
    uint64_t const first = UINT64_C(1) << 40;
    for (uint64_t key = first; key < first + n; key++)
        tally->figures[SOAK_HITS] += tamis_has_id(set, key);
    tally->figures[SOAK_STRANGERS] += (double)n;
    tally->figures[SOAK_FORESEEN] += (double)n * current_fpr(set);
}

/* How many keys can be lost, at most, by one removal of an absent key. It removes one entry of a
 * fingerprint, or decreases each counter of its hashes by one; each of these may be the last one of
 * another key.
 */
static double most_lost_by_one(const tamis_set *set) {
    tamis_info info;
    if (tamis_inspect(set, &info) != TAMIS_OK) return 0;
    for (unsigned i = 0; i < info.plan.n_fields; i++) {
        if (strcmp(info.plan.fields[i].name, "hashes") == 0)
            return (double)info.plan.fields[i].value + 1; /* `more` gives some keys one more */
    }
    return 1;
}

/* Remove strangers from a copy, and see which keys of the multiset are lost. */
static const char *remove_strangers(const churn *c, uint64_t n, soak_tally *tally) {
    uint64_t const first = UINT64_C(1) << 41;
    tamis_set     *copy = NULL;
    double         taken = 0, lost = 0, fpr = current_fpr(c->set);
    MUST(tamis_copy(c->set, &copy) == TAMIS_OK, "no copy");
    for (uint64_t key = first; key < first + n; key++)
        taken += tamis_remove_id(copy, key) == TAMIS_OK;
    for (uint64_t key = 0; key < c->universe; key++)
        lost += c->truth[key] != 0 && !tamis_has_id(copy, key);
    const char   *why = NULL;
    bool const    is_valid = tamis_validate(copy, &why);
    double *const f = tally->figures;
    f[SOAK_ABSENT] += (double)n;
    f[SOAK_TAKEN] += taken;
    f[SOAK_TAKEN_MOST] += (double)n * fpr; /* it only falls as entries are taken */
    f[SOAK_LOST] += lost;
    f[SOAK_LOST_MOST] += taken * most_lost_by_one(copy);
    tamis_free(copy);
    MUST(is_valid, "invalid after removals of absent keys: %s", why);
    return NULL;
}

static const char *live(const subject *variant, uint64_t operations, uint64_t seed,
                        soak_tally *tally) {
    tamis_set *const set = subject_make(variant, seed);
    churn            c;
    if (set == NULL || !churn_begin(&c, set, seed)) return "no memory";
    const char *why = NULL;
    while (c.operations < operations && why == NULL)
        why = churn_run(&c, min_u64(operations - c.operations, 5000000));
    bool const can_remove = (set->abilities & TAMIS_CAN_REMOVE) != 0;
    if (why == NULL) ask_strangers(set, min_u64(operations, STRANGERS), tally);
    if (why == NULL && can_remove) why = remove_strangers(&c, min_u64(operations, REMOVALS), tally);
    tally->figures[SOAK_SATURATED] += (double)set->table.saturated;
    if (why == NULL && can_remove) why = churn_empty(&c);
    tally->figures[SOAK_OPERATIONS] += (double)c.operations;
    tally->figures[SOAK_REFUSED] += (double)c.refused;
    churn_end(&c);
    tamis_free(set);
    return why;
}

int main(int argc, char **argv) {
    static const soak program = {
        "usage: soak_sets [--ops N] [--seed N] [--kind NAME] [--journal FILE]\n"
        "Every kind of sets, or the one named, each for N operations (100000000 without --ops).\n"
        "With a journal it goes on where it was stopped.\n",
        subjects_all, is_long, live
    };
    return soak_run(&program, argc, argv);
}
