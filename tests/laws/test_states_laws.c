/* test_states_laws.c - every law of states, against every kind on every instruction set in every
 * variant.
 *
 * usage: test_states_laws [OPERATIONS [KIND [ISA [PART OF A LAW'S NAME]]]]     "" is any, or "best"
 */
#include "life.h"

typedef struct trial {
    const state_subject   *of;
    const named_state_law *law;
    char                   name[200];
} trial;

static void law_holds(void **state) {
    const trial *const t = *state;
    const char *const  why = t->law->holds(t->of);
    if (why != NULL) fail_msg("%s: %s", t->name, why);
}

static void trial_name(trial *t) {
    const state_subject *const of = t->of;
    (void)snprintf(t->name, sizeof t->name, "%s %s n=%llu v=%llu t=%llu %s: %s", of->kind, of->isa,
                   (unsigned long long)of->capacity, (unsigned long long)of->values,
                   (unsigned long long)of->timeout, of->geometry ? of->geometry : "planned",
                   t->law->name);
}

int main(int argc, char **argv) {
    selection const wanted = selection_read(argc, argv, 30000);
    size_t          n_subjects, n_laws = 0, n = 0;
    while (state_laws[n_laws].name != NULL) n_laws++;
    state_subject *const     all = state_subjects(wanted.operations, &n_subjects);
    trial *const             trials = calloc(n_subjects * n_laws, sizeof *trials);
    struct CMUnitTest *const tests = calloc(n_subjects * n_laws, sizeof *tests);
    assert(all != NULL && trials != NULL && tests != NULL);
    for (size_t i = 0; i < n_subjects * n_laws; i++) {
        trials[n] = (trial){ .of = &all[i / n_laws], .law = &state_laws[i % n_laws] };
        const trial *const t = &trials[n];
        if (t->of->capacity > 10 * wanted.operations) continue; /* in long runs only */
        if (!selection_has(&wanted, t->of->kind, t->of->isa, t->law->name)) continue;
        trial_name(&trials[n]);
        tests[n] = (struct CMUnitTest){ trials[n].name, law_holds, NULL, NULL, &trials[n] };
        n++;
    }
    if (n == 0) puts("1..0 # SKIP nothing of that runs here");
    int const failed = n == 0 ? 0 : _cmocka_run_group_tests("states", tests, n, NULL, NULL);
    free(tests);
    free(trials);
    free(all);
    return failed;
}
