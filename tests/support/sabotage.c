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
    kind.has_id = broken->has_id;
    kind.add_id = broken->add_id;
    kind.remove_id = broken->remove_id;
    if (broken->has != NULL) kind.has = broken->has;
    if (broken->has_chunk != NULL) kind.has_chunk = broken->has_chunk;
    if (broken->add != NULL) kind.add = broken->add, kind.add_chunk = NULL;
    if (broken->add_chunk != NULL) kind.add_chunk = broken->add_chunk;
    if (broken->remove != NULL) kind.remove = broken->remove, kind.remove_chunk = NULL;
    if (broken->remove_chunk != NULL) kind.remove_chunk = broken->remove_chunk;
    if (broken->count != NULL) kind.count = broken->count;
    if (broken->merge != NULL) kind.merge = broken->merge;
    if (broken->subtract != NULL) kind.subtract = broken->subtract;
    if (broken->convert != NULL) kind.convert = broken->convert;
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
    assert_null(guard->holds(&variant));
    variant.instead = &broken;
    assert_non_null(guard->holds(&variant));
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

/* ------------------------------------------------------------------ broken in any blocked kind */

/* The first two fields of the geometry of all kinds that use this. */
enum { PLACES, HASHES };

bool looks_in_the_next_line(const tamis_table *table, uint64_t hash) {
    uint64_t const one_line = UINT64_MAX / (table->body_bytes / TAMIS_LINE_BYTES);
    return honest->has(table, hash % 64 == 0 ? hash + one_line : hash);
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
