/* dlcbf.c - the d-left counting filter: real tables of the paper's size, and the list of
 * experiments. The rows of each section are in the other files dlcbf_*.c. */
#include "dlcbf.h"

#include "core/field.h"
#include "frame/sets.h"
#include "handle.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ one trial */

typedef struct dlcbf_trial {
    const dlcbf_config *config;
    tamis_set          *set;
    lab_random         *random;
    key_source          keys;
    uint32_t           *live; /* numbers of the keys in the set */
    uint32_t            next; /* the first number not used */
    dlcbf_outcome      *outcome;
} dlcbf_trial;

static tamis_set *make(const dlcbf_config *config, lab_random *random) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    char       geometry[128];
    (void)snprintf(geometry, sizeof geometry,
                   "tables=%u,buckets=%u,cells=%u,remainder_bits=%u,counter_bits=2,moves=%u",
                   DLCBF_PAPER_TABLES, DLCBF_PAPER_BUCKETS, DLCBF_PAPER_CELLS, DLCBF_PAPER_BITS,
                   config->moves);
    spec.capacity = DLCBF_PAPER_KEYS; /* some trials add more keys than a planner would allow */
    spec.lifetime = DLCBF_PAPER_KEYS + DLCBF_PAPER_STEPS;
    spec.kind = "dlcbf";
    spec.geometry = geometry;
    return sets_make(&spec, random);
}

/* The cells of a bucket are 16 bits each; a cell of 0 is empty, and so are all cells after it. */
static bool cell_is_used(const dlcbf_trial *trial, uint64_t bucket, unsigned cell) {
    uint64_t const at = (bucket * DLCBF_PAPER_CELLS + cell) * (DLCBF_PAPER_BITS + 2);
    return field_get(trial->set->table.body, at, DLCBF_PAPER_BITS + 2) != 0;
}

/* Add new keys until one fits. Returns the number of that key. */
static uint32_t add_one(dlcbf_trial *trial) {
    uint8_t      key[KEY_BYTES];
    tamis_status status;
    do {
        key_write(&trial->keys, trial->next++, key);
        status = tamis_add(trial->set, key, KEY_BYTES);
        trial->outcome->refused += status == TAMIS_ERR_FULL;
    } while (status == TAMIS_ERR_FULL);
    if (status != TAMIS_OK) lab_die("an add failed: %s", tamis_status_text(status));
    if (trial->config->is_watched && trial->next > trial->config->keys) {
        uint64_t copies;
        status = tamis_count(trial->set, key, KEY_BYTES, &copies);
        if (status == TAMIS_OK && copies < DLCBF_LEVELS) trial->outcome->rises[copies]++;
    }
    return trial->next - 1;
}

static void look_at_last(dlcbf_trial *trial) {
    for (unsigned i = 0; i < DLCBF_PAPER_BUCKETS; i++) {
        uint64_t const bucket = DLCBF_ALL_BUCKETS - 1 - i;
        trial->outcome->last_full += cell_is_used(trial, bucket, DLCBF_PAPER_CELLS - 1);
    }
}

static void replace_one(dlcbf_trial *trial) {
    uint32_t *const slot = &trial->live[lab_random_below(trial->random, trial->config->keys)];
    uint8_t         key[KEY_BYTES];
    key_write(&trial->keys, *slot, key);
    trial->outcome->unremoved += tamis_remove(trial->set, key, KEY_BYTES) != TAMIS_OK;
    *slot = add_one(trial);
}

/* Keys with numbers beyond all steps were never added. */
static void ask(dlcbf_trial *trial) {
    dlcbf_outcome *const outcome = trial->outcome;
    uint64_t const       first = 2 * DLCBF_PAPER_STEPS;
    outcome->hits_few = sets_count(trial->set, &trial->keys, first, DLCBF_FEW_QUERIES);
    outcome->hits_more =
        outcome->hits_few + sets_count(trial->set, &trial->keys, first + DLCBF_FEW_QUERIES,
                                       DLCBF_MORE_QUERIES - DLCBF_FEW_QUERIES);
    outcome->hits =
        outcome->hits_more + sets_count(trial->set, &trial->keys, first + DLCBF_MORE_QUERIES,
                                        DLCBF_QUERIES - DLCBF_MORE_QUERIES);
}

static void take_stock(dlcbf_trial *trial) {
    dlcbf_outcome *const outcome = trial->outcome;
    for (uint64_t bucket = 0; bucket < DLCBF_ALL_BUCKETS; bucket++) {
        outcome->buckets[0]++;
        for (unsigned cell = 0; cell < DLCBF_PAPER_CELLS; cell++) {
            outcome->buckets[cell + 1] += cell_is_used(trial, bucket, cell);
        }
    }
    for (uint32_t i = 0; i < trial->config->keys; i++) {
        uint8_t key[KEY_BYTES];
        key_write(&trial->keys, trial->live[i], key);
        outcome->lost += !tamis_has(trial->set, key, KEY_BYTES);
    }
    tamis_info info;
    if (tamis_inspect(trial->set, &info) != TAMIS_OK) lab_die("a set cannot be inspected");
    outcome->moved = info.facts.moved;
}

static void dlcbf_trial_run(const void *given, lab_random *random, void *ret_outcome) {
    const dlcbf_config *const config = given;
    tamis_set *const          set = make(config, random);
    dlcbf_trial               trial = { .config = config,
                                        .set = set,
                                        .random = random,
                                        .keys = keys_of(random),
                                        .live = lab_allocate(config->keys, sizeof *trial.live),
                                        .outcome = ret_outcome };
    for (uint32_t i = 0; i < config->keys; i++) trial.live[i] = add_one(&trial);
    for (uint64_t i = 0; i < DLCBF_PAPER_STEPS; i++) {
        replace_one(&trial);
        if (config->is_watched && i % DLCBF_LOOK_EVERY == 0) look_at_last(&trial);
    }
    if (config->is_watched) ask(&trial);
    take_stock(&trial);
    free(trial.live);
    tamis_free(set);
}

dlcbf_outcome *dlcbf_trials(const lab_run *run, const char *stream, const dlcbf_config *config,
                            uint64_t n) {
    lab_series const series = { .stream = stream,
                                .n = n,
                                .trial = dlcbf_trial_run,
                                .given = config,
                                .outcome_bytes = sizeof(dlcbf_outcome) };
    return lab_trials(run, &series);
}

/* ------------------------------------------------------------------ experiments */

#define PAPER                                                                           \
    "Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese: \"An Improved Construction for " \
    "Counting Bloom Filters\""

const lab_experiment lab_dlcbf_esa2006[] = {
    { .id = "dlcbf.esa2006",
      .title = "the d-left counting filter: 4 x 2048 buckets of 8 cells, 49152 keys, 2^20 steps",
      .paper = PAPER,
      .place = "ESA 2006, section 5.1",
      .run = dlcbf_esa2006 },
    { .id = "dlcbf.overflow",
      .title = "fuller tables: 6.5 keys per bucket overflow, 6.75 do not if cells are moved",
      .paper = PAPER,
      .place = "ESA 2006, section 5.2",
      .run = dlcbf_overflow },
    { .id = "dlcbf.permuted",
      .title = "permutations that fail",
      .paper = PAPER,
      .place = "ESA 2006, section 3.3",
      .run = dlcbf_permuted },
    { .id = "dlcbf.compared",
      .title = "bits and false positives compared with the counting Bloom filter",
      .paper = PAPER,
      .place = "ESA 2006, section 4",
      .run = dlcbf_compared },
    { .id = "dlcbf.larger",
      .title = "larger buckets: 8, 16 and 32 cells",
      .paper = PAPER,
      .place = "ESA 2006, sections 4 and 5.1",
      .run = dlcbf_larger },
    { .id = "dlcbf.moves",
      .title = "more movement: cells of one bucket, of all buckets, and in two steps",
      .paper = PAPER,
      .place = "ESA 2006, section 5.2",
      .run = dlcbf_moves },
    { .id = NULL },
};
