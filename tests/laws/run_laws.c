/* run_laws.c - see run_laws.h. */
#include "run_laws.h"

typedef struct trial {
    const subject   *variant;
    const named_law *law;
    char             name[200];
} trial;

static void law_holds(void **state) {
    const trial *const t = *state;
    const char *const  why = t->law->holds(t->variant);
    if (why != NULL) fail_msg("%s: %s", t->name, why);
}

static void name_trial(trial *t) {
    const subject *const variant = t->variant;
    char                 states[60] = "";
    if (variant->grow_to != 0)
        (void)snprintf(states, sizeof states, " to %llu%s", (unsigned long long)variant->grow_to,
                       (variant->abilities & TAMIS_CAN_COUNT) != 0 ? ", counts" : "");
    if (variant->values != 0)
        (void)snprintf(states, sizeof states, " v=%llu t=%llu", (unsigned long long)variant->values,
                       (unsigned long long)variant->timeout);
    (void)snprintf(t->name, sizeof t->name, "%s %s n=%llu%s %s: %s", variant->kind, variant->isa,
                   (unsigned long long)variant->capacity, states,
                   variant->geometry != NULL ? variant->geometry : "planned", t->law->name);
}

/* ------------------------------------------------------------------ arguments */

typedef struct selection {
    uint64_t    operations;
    const char *kind, *isa, *law;
} selection;

static selection read_selection(int argc, char **argv, uint64_t operations) {
    return (selection){ .operations = argc > 1 ? strtoull(argv[1], NULL, 10) : operations,
                        .kind = argc > 2 ? argv[2] : "",
                        .isa = argc > 3 ? argv[3] : "",
                        .law = argc > 4 ? argv[4] : "" };
}

/* "best": the one that the kind uses by itself. */
static bool is_isa(const char *wanted, const subject *variant) {
    if (strcmp(wanted, "best") == 0) return isa_is_best(variant->kind, variant->isa);
    return *wanted == '\0' || strcmp(wanted, variant->isa) == 0;
}

static bool is_name_or_any(const char *wanted, const char *name) {
    return *wanted == '\0' || strcmp(wanted, name) == 0;
}

/* A body beyond the cache takes seconds for each law. Short runs try only the first law on it. */
#define LARGE_BODY (UINT64_C(1) << 20)

static bool is_large(const subject *variant) {
    tamis_set *const set = variant->values == 0 ? subject_make(variant, 1) : NULL;
    bool const       has_large_body = set != NULL && set->table.body_bytes > LARGE_BODY;
    tamis_free(set);
    return has_large_body;
}

static bool is_selected(const selection *wanted, const trial *t, bool is_first_law) {
    if (t->variant->capacity > 10 * wanted->operations) return false; /* in long runs only */
    if (!is_name_or_any(wanted->kind, t->variant->kind)) return false;
    if (!is_isa(wanted->isa, t->variant)) return false;
    if (strstr(t->law->name, wanted->law) == NULL) return false;
    return is_first_law || wanted->operations >= SHORT_RUN || !is_large(t->variant);
}

/* ------------------------------------------------------------------ the program */

int run_laws(const named_law *laws, subject_list *list, uint64_t operations, int argc,
             char **argv) {
    selection const wanted = read_selection(argc, argv, operations);
    size_t          n_subjects, n_laws = 0, n = 0;
    subject *const  all = list(wanted.operations, &n_subjects);
    while (laws[n_laws].name != NULL) n_laws++;
    trial *const             trials = calloc(n_subjects * n_laws, sizeof *trials);
    struct CMUnitTest *const tests = calloc(n_subjects * n_laws, sizeof *tests);
    assert(all != NULL && trials != NULL && tests != NULL);
    for (size_t i = 0; i < n_subjects * n_laws; i++) {
        trials[n] = (trial){ .variant = &all[i / n_laws], .law = &laws[i % n_laws] };
        if (!is_selected(&wanted, &trials[n], i % n_laws == 0)) continue;
        name_trial(&trials[n]);
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
