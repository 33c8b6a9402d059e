/* test_laws.c - every law, against every kind on every instruction set in every variant.
 *
 * usage: test_laws [OPERATIONS [KIND [ISA [PART OF A LAW'S NAME]]]]     "" is any, "best" an ISA
 */
#include "subject.h"

typedef struct trial {
    const subject   *of;
    const named_law *law;
    char             name[160];
} trial;

static void law_holds(void **state) {
    const trial *const t = *state;
    const char *const  why = t->law->holds(t->of);
    if (why != NULL) fail_msg("%s: %s", t->name, why);
}

static void trial_name(trial *t) {
    (void)snprintf(t->name, sizeof t->name, "%s %s n=%llu %s: %s", t->of->kind, t->of->isa,
                   (unsigned long long)t->of->capacity,
                   t->of->geometry != NULL ? t->of->geometry : "planned", t->law->name);
}

int main(int argc, char **argv) {
    selection const wanted = selection_read(argc, argv, 50000);
    size_t          n_subjects, n_laws = 0, n = 0;
    subject *const  all = subjects_all(wanted.operations, &n_subjects);
    while (laws[n_laws].name != NULL) n_laws++;
    trial *const             trials = calloc(n_subjects * n_laws, sizeof *trials);
    struct CMUnitTest *const tests = calloc(n_subjects * n_laws, sizeof *tests);
    assert(trials != NULL && tests != NULL);
    for (size_t i = 0; i < n_subjects * n_laws; i++) {
        trials[n] = (trial){ .of = &all[i / n_laws], .law = &laws[i % n_laws] };
        const trial *const t = &trials[n];
        if (!selection_has(&wanted, t->of->kind, t->of->isa, t->law->name)) continue;
        trial_name(&trials[n]);
        tests[n] = (struct CMUnitTest){ trials[n].name, law_holds, NULL, NULL, &trials[n] };
        n++;
    }
    if (n == 0) puts("1..0 # SKIP nothing of that runs here");
    int const failed = n == 0 ? 0 : _cmocka_run_group_tests("laws", tests, n, NULL, NULL);
    free(tests);
    free(trials);
    free(all);
    return failed;
}
