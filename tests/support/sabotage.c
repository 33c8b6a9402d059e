/* sabotage.c - see sabotage.h. */
#include "sabotage.h"

#include "theory/bloom_rate.h"

#include <math.h>

/* ------------------------------------------------------------------ broken kinds */

const tamis_kind *honest;

/* Chunks are processed key by key, with the broken function. */
static tamis_kind sabotage(const tamis_kind *broken) {
    tamis_kind kind = *honest;
    kind.form = NULL; /* faster functions of the honest one would be called instead */
    kind.calls.has_id = broken->calls.has_id;
    kind.calls.add_id = broken->calls.add_id;
    kind.calls.remove_id = broken->calls.remove_id;
    if (broken->calls.has != NULL) kind.calls.has = broken->calls.has;
    if (broken->calls.has_chunk != NULL) kind.calls.has_chunk = broken->calls.has_chunk;
    if (broken->calls.add != NULL) kind.calls.add = broken->calls.add, kind.calls.add_chunk = NULL;
    if (broken->calls.add_chunk != NULL) kind.calls.add_chunk = broken->calls.add_chunk;
    if (broken->calls.remove != NULL)
        kind.calls.remove = broken->calls.remove, kind.calls.remove_chunk = NULL;
    if (broken->calls.remove_chunk != NULL) kind.calls.remove_chunk = broken->calls.remove_chunk;
    if (broken->calls.count != NULL) kind.calls.count = broken->calls.count;
    if (broken->merge != NULL) kind.merge = broken->merge;
    if (broken->subtract != NULL) kind.subtract = broken->subtract;
    if (broken->conversion != NULL) kind.conversion = broken->conversion;
    if (broken->predict != NULL) kind.predict = broken->predict;
    if (broken->survey != NULL) kind.survey = broken->survey;
    if (broken->validate != NULL) kind.validate = broken->validate;
    if (broken->growing != NULL) kind.growing = broken->growing;
    return kind;
}

static const named_law *law_named(const char *name) {
    const named_law *at = set_laws;
    while (at->name != NULL && strcmp(at->name, name) != 0) at++;
    assert_non_null(at->name);
    return at;
}

typedef struct trial {
    const subject  *variant;
    const saboteur *broken;
    char            name[120];
} trial;

static void law_sees_the_saboteur(void **state) {
    const trial *const     t = *state;
    const named_law *const guard = law_named(t->broken->law);
    tamis_kind const       broken = sabotage(&t->broken->broken);
    subject                variant = *t->variant;
    variant.isa = honest->isa;
    if (t->broken->geometry != NULL) variant.geometry = t->broken->geometry;
    const char *const why = guard->holds(&variant);
    if (why != NULL) fail_msg("the correct kind breaks the law: %s", why);
    variant.instead = &broken;
    if (guard->holds(&variant) == NULL) fail_msg("the law does not notice the broken function");
}

int sabotage_run(const subject *variant, const saboteur *saboteurs, size_t n_saboteurs,
                 const struct CMUnitTest *tests, size_t n_tests) {
    struct CMUnitTest *const all = calloc(n_tests + n_saboteurs, sizeof *all);
    trial *const             trials = calloc(n_saboteurs + 1, sizeof *trials);
    assert(all != NULL && trials != NULL);
    assert(tamis_kind_find(variant->kind, NULL, &honest) == TAMIS_OK);
    if (n_tests != 0) memcpy(all, tests, n_tests * sizeof *tests);
    for (size_t i = 0; i < n_saboteurs; i++) {
        const saboteur *const one = &saboteurs[i];
        trial *const          t = &trials[i];
        *t = (trial){ .variant = variant, .broken = one };
        (void)snprintf(t->name, sizeof t->name, "%s_sees_who_%s", one->law, one->name);
        all[n_tests + i] = (struct CMUnitTest){ t->name, law_sees_the_saboteur, NULL, NULL, t };
    }
    int const failed =
        _cmocka_run_group_tests(variant->kind, all, n_tests + n_saboteurs, NULL, NULL);
    free(trials);
    free(all);
    return failed;
}

/* ------------------------------------------------------------------ broken in any kind */

bool forgets_single_copies(const tamis_table *table, uint64_t hash) {
    return honest->calls.has(table, hash) && honest->calls.count(table, hash) > 1;
}

tamis_status removes_without_looking(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.remove(table, hash);
    return hash % 8 == 0 ? TAMIS_OK : status;
}

uint64_t counts_too_few(const tamis_table *table, uint64_t hash) {
    uint64_t const count = honest->calls.count(table, hash);
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

/* ------------------------------------------------------------------ broken in any blocked kind */

/* The first two fields of the geometry of all kinds that use this. */
enum { PLACES, HASHES };

bool looks_in_the_next_line(const tamis_table *table, uint64_t hash) {
    uint64_t const one_line = UINT64_MAX / (table->body_bytes / TAMIS_LINE_BYTES);
    return honest->calls.has(table, hash % 64 == 0 ? hash + one_line : hash);
}

void surveys_as_if_anywhere(const tamis_table *table, kind_survey *ret_survey) {
    honest->survey(table, ret_survey);
    ret_survey->fpr = pow(ret_survey->load, (double)table->geometry[HASHES]);
}

void predicts_as_if_anywhere(const uint64_t *geometry, const tamis_workload *work,
                             tamis_forecast *ret_forecast) {
    honest->predict(geometry, work, ret_forecast);
    ret_forecast->fpr = tamis_bloom_fpr((double)geometry[PLACES], (unsigned)geometry[HASHES],
                                        (double)work->capacity);
}
