/* sabotage.c - see sabotage.h. */
#include "sabotage.h"

/* ------------------------------------------------------------------ broken kinds */

const tamis_kind *honest;

/* A chunk goes one by one, by the broken one. */
static tamis_kind sabotage(const tamis_kind *by) {
    tamis_kind kind = *honest;
    if (by->has != NULL) kind.has = by->has;
    if (by->has_chunk != NULL) kind.has_chunk = by->has_chunk;
    if (by->add != NULL) kind.add = by->add, kind.add_chunk = NULL;
    if (by->add_chunk != NULL) kind.add_chunk = by->add_chunk;
    if (by->remove != NULL) kind.remove = by->remove, kind.remove_chunk = NULL;
    if (by->remove_chunk != NULL) kind.remove_chunk = by->remove_chunk;
    if (by->count != NULL) kind.count = by->count;
    if (by->merge != NULL) kind.merge = by->merge;
    if (by->subtract != NULL) kind.subtract = by->subtract;
    if (by->convert != NULL) kind.convert = by->convert;
    if (by->predict != NULL) kind.predict = by->predict;
    if (by->survey != NULL) kind.survey = by->survey;
    if (by->validate != NULL) kind.validate = by->validate;
    return kind;
}

static const named_law *law_named(const char *name) {
    const named_law *at = set_laws;
    while (at->name != NULL && strcmp(at->name, name) != 0) at++;
    assert_non_null(at->name);
    return at;
}

typedef struct trial {
    const subject  *of;
    const saboteur *by;
    char            name[120];
} trial;

static void law_sees_the_saboteur(void **state) {
    const trial *const     t = *state;
    const named_law *const guard = law_named(t->by->law);
    tamis_kind const       broken = sabotage(&t->by->broken);
    subject                of = *t->of;
    of.isa = honest->isa;
    if (t->by->geometry != NULL) of.geometry = t->by->geometry;
    assert_null(guard->holds(&of));
    of.instead = &broken;
    assert_non_null(guard->holds(&of));
}

int sabotage_run(const subject *of, const saboteur *saboteurs, size_t n_saboteurs,
                 const struct CMUnitTest *tests, size_t n_tests) {
    struct CMUnitTest *const all = calloc(n_tests + n_saboteurs, sizeof *all);
    trial *const             trials = calloc(n_saboteurs + 1, sizeof *trials);
    assert(all != NULL && trials != NULL);
    assert(tamis_kind_find(of->kind, NULL, &honest) == TAMIS_OK);
    memcpy(all, tests, n_tests * sizeof *tests);
    for (size_t i = 0; i < n_saboteurs; i++) {
        const saboteur *const by = &saboteurs[i];
        trial *const          t = &trials[i];
        *t = (trial){ .of = of, .by = by };
        (void)snprintf(t->name, sizeof t->name, "%s_sees_who_%s", by->law, by->name);
        all[n_tests + i] = (struct CMUnitTest){ t->name, law_sees_the_saboteur, NULL, NULL, t };
    }
    int const failed = _cmocka_run_group_tests(of->kind, all, n_tests + n_saboteurs, NULL, NULL);
    free(trials);
    free(all);
    return failed;
}

/* ------------------------------------------------------------------ broken in any kind */

bool forgets_single_copies(const tamis_table *table, uint64_t hash) {
    return honest->has(table, hash) && honest->count(table, hash) > 1;
}

tamis_status removes_without_looking(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->remove(table, hash);
    return hash % 8 == 0 ? TAMIS_OK : status;
}

uint64_t counts_too_few(const tamis_table *table, uint64_t hash) {
    uint64_t const count = honest->count(table, hash);
    return count > 1 && count != TAMIS_COUNT_MANY ? count - 1 : count;
}

tamis_status merges_a_part(tamis_table *into, const tamis_table *from) {
    tamis_status const status = honest->merge(into, from);
    memset(into->body, 0, into->body_bytes / 4);
    return status;
}

void flatters_itself(const tamis_table *table, kind_survey *ret_survey) {
    honest->survey(table, ret_survey);
    ret_survey->fpr *= .8;
}
