/* dlcbf_churn.c - real d-left tables of any geometry in which keys are added and removed.
 *
 * dlcbf.c has the paper's own table. Here the geometry is a parameter, and three things are
 * measured: refused adds, loads of buckets, and false positives.
 */
#include "dlcbf.h"

#include "core/field.h"
#include "frame/sets.h"
#include "handle.h"

#include <stdlib.h>

typedef struct churn_trial {
    const dlcbf_shape   *shape;
    tamis_set           *set;
    lab_random          *random;
    key_source           keys;
    uint64_t            *live; /* numbers of the keys in the set */
    uint64_t             next; /* the first number not used */
    dlcbf_churn_outcome *outcome;
} churn_trial;

static tamis_set *churn_make(const dlcbf_shape *shape, lab_random *random) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    char       geometry[160];
    (void)snprintf(geometry, sizeof geometry,
                   "tables=%u,buckets=%u,cells=%u,remainder_bits=%u,counter_bits=2,"
                   "bucket_bytes=%u,moves=%u",
                   DLCBF_PAPER_TABLES, shape->buckets, shape->cells, shape->bits,
                   (shape->cells * (shape->bits + 2) + 7) / 8, shape->moves);
    spec.capacity =
        DLCBF_PAPER_TABLES * shape->buckets; /* the planner would refuse the real number */
    spec.lifetime = spec.capacity;
    spec.kind = "dlcbf";
    spec.geometry = geometry;
    return sets_make(&spec, random);
}

/* Add new keys until one fits; returns its number. */
static uint64_t churn_add(churn_trial *trial) {
    uint8_t      key[KEY_BYTES];
    tamis_status status;
    do {
        key_write(&trial->keys, trial->next++, key);
        status = tamis_add(trial->set, key, KEY_BYTES);
        trial->outcome->refused += status == TAMIS_ERR_FULL;
        trial->outcome->adds++;
    } while (status == TAMIS_ERR_FULL);
    if (status != TAMIS_OK) lab_die("an add failed: %s", tamis_status_text(status));
    return trial->next - 1;
}

static void churn_replace(churn_trial *trial) {
    uint64_t *const slot = &trial->live[lab_random_below(trial->random, trial->shape->keys)];
    uint8_t         key[KEY_BYTES];
    key_write(&trial->keys, *slot, key);
    if (tamis_remove(trial->set, key, KEY_BYTES) != TAMIS_OK) lab_die("a key was lost");
    *slot = churn_add(trial);
}

/* A cell that is 0 is empty. */
static void churn_count_loads(churn_trial *trial) {
    const dlcbf_shape *const shape = trial->shape;
    unsigned const           cell_bits = shape->bits + 2;
    uint64_t const           bucket_bits = (shape->cells * cell_bits + 7) / 8 * 8;
    for (uint64_t bucket = 0; bucket < DLCBF_PAPER_TABLES * shape->buckets; bucket++) {
        for (unsigned cell = 0; cell < shape->cells; cell++) {
            uint64_t const at = bucket * bucket_bits + cell * cell_bits;
            bool const     is_used = field_get(trial->set->table.body, at, cell_bits) != 0;
            trial->outcome->buckets[cell + 1] += is_used;
        }
    }
    trial->outcome->bits = bucket_bits * DLCBF_PAPER_TABLES * shape->buckets;
}

static void churn_trial_run(const void *given, lab_random *random, void *ret_outcome) {
    const dlcbf_shape *const   shape = given;
    dlcbf_churn_outcome *const outcome = ret_outcome;
    churn_trial                trial = { .shape = shape,
                                         .set = churn_make(shape, random),
                                         .random = random,
                                         .keys = keys_of(random),
                                         .live = lab_allocate(shape->keys, sizeof *trial.live),
                                         .outcome = outcome };
    for (uint64_t i = 0; i < shape->keys; i++) trial.live[i] = churn_add(&trial);
    for (uint64_t i = 0; i < DLCBF_WARM_UP * shape->keys; i++) churn_replace(&trial);
    outcome->refused = outcome->adds = 0;
    for (uint64_t i = 0; i < shape->steps; i++) churn_replace(&trial);
    churn_count_loads(&trial);
    outcome->hits = sets_count(trial.set, &trial.keys, trial.next, shape->queries);
    free(trial.live);
    tamis_free(trial.set);
}

dlcbf_churn_outcome *dlcbf_churn_trials(const lab_run *run, const char *stream,
                                        const dlcbf_shape *shape, uint64_t n) {
    lab_series const series = { .stream = stream,
                                .n = n,
                                .trial = churn_trial_run,
                                .given = shape,
                                .outcome_bytes = sizeof(dlcbf_churn_outcome) };
    return lab_trials(run, &series);
}
