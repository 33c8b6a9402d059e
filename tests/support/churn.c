/* churn.c - see churn.h. */
#include "churn.h"

#define BATCH 150       /* more than two chunks, and not a multiple of one */
#define FLOOD 40        /* copies at once; enough to saturate small counters */
#define MAX_COPIES 3000 /* of one key */

bool churn_begin(churn *c, tamis_set *set, uint64_t seed) {
    size_t const universe = (size_t)set->capacity * 3 + 16;
    *c = (churn){ .set = set,
                  .truth = calloc(universe, sizeof(uint32_t)),
                  .universe = universe,
                  .abilities = set->abilities,
                  .chance = { seed } };
    if (set->growth != NULL) c->goal = universe * 2 / 3; /* it must reach the steps of growing */
    return c->truth != NULL;
}

void churn_end(churn *c) {
    free(c->truth);
}

/* ------------------------------------------------------------------ the multiset */

static void truth_add(churn *c, uint64_t key) {
    c->distinct += c->truth[key]++ == 0;
    c->copies++;
}

static void truth_remove(churn *c, uint64_t key) {
    c->distinct -= --c->truth[key] == 0;
    c->copies--;
}

static uint64_t any_key(churn *c) {
    return dice_below(&c->chance, c->universe);
}

/* A key that is in the multiset, which must not be empty. */
static uint64_t present_key(churn *c) {
    uint64_t key = any_key(c);
    while (c->truth[key] == 0) key = key + 1 < c->universe ? key + 1 : 0;
    return key;
}

/* ------------------------------------------------------------------ single operations */

static const char *add_one(churn *c, uint64_t key) {
    if (c->truth[key] >= MAX_COPIES) return NULL;
    tamis_status const status = tamis_add_id(c->set, key);
    MUST(status == TAMIS_OK || status == TAMIS_ERR_FULL, "add said %d", status);
    c->refused += status == TAMIS_ERR_FULL;
    if (status == TAMIS_OK) truth_add(c, key);
    MUST(c->truth[key] == 0 || tamis_has_id(c->set, key), "key %llu is lost as it is added",
         (unsigned long long)key);
    return NULL;
}

static const char *remove_one(churn *c, uint64_t key) {
    tamis_status const status = tamis_remove_id(c->set, key);
    bool const         is_kept = status == TAMIS_ERR_SATURATED && tamis_has_id(c->set, key);
    MUST(status == TAMIS_OK || is_kept, "remove of a present key said %d", status);
    truth_remove(c, key);
    MUST(c->truth[key] == 0 || tamis_has_id(c->set, key), "key %llu lost all its copies at once",
         (unsigned long long)key);
    return NULL;
}

static const char *count_one(churn *c, uint64_t key) {
    uint64_t           count = 0;
    tamis_status const status = tamis_count_id(c->set, key, &count);
    MUST(status == TAMIS_OK, "count said %d", status);
    MUST(count >= c->truth[key], "key %llu counts %llu, and was added %u times",
         (unsigned long long)key, (unsigned long long)count, c->truth[key]);
    return NULL;
}

/* ------------------------------------------------------------------ batches */

static const char *add_batch(churn *c, unsigned n) {
    uint64_t keys[BATCH];
    for (unsigned i = 0; i < n; i++) keys[i] = any_key(c);
    size_t             added;
    tamis_status const status = tamis_add_id_batch(c->set, keys, n, &added);
    MUST(status == (added == n ? TAMIS_OK : TAMIS_ERR_FULL), "added %zu of %u and said %d", added,
         n, status);
    c->refused += status == TAMIS_ERR_FULL;
    for (size_t i = 0; i < added; i++) truth_add(c, keys[i]);
    return NULL;
}

/* Each copy once, so that all of them are there to be removed. */
static const char *remove_batch(churn *c, unsigned n) {
    uint64_t keys[BATCH] = { 0 };
    bool     removed[BATCH];
    unsigned n_taken = 0;
    while (n_taken < n && c->copies != 0) {
        keys[n_taken] = present_key(c);
        truth_remove(c, keys[n_taken++]);
    }
    tamis_removal      tally = { 0, 0, 0 };
    tamis_status const status = tamis_remove_id_batch(c->set, keys, n_taken, removed, &tally);
    MUST(status == TAMIS_OK && tally.removed + tally.saturated == n_taken,
         "removed %zu of %u present keys and said %d", tally.removed, n_taken, status);
    for (unsigned i = 0; i < n_taken; i++) { /* a saturated key stays */
        MUST(removed[i] || tamis_has_id(c->set, keys[i]), "copy %u was not removed", i);
    }
    return NULL;
}

static const char *has_batch(churn *c, unsigned n) {
    uint64_t keys[BATCH] = { 0 };
    bool     has[BATCH];
    size_t   n_true = 0;
    for (unsigned i = 0; i < n; i++) keys[i] = any_key(c);
    size_t const n_has = tamis_has_id_batch(c->set, keys, n, has);
    for (unsigned i = 0; i < n; i++) {
        MUST(has[i] || c->truth[keys[i]] == 0, "key %llu is lost", (unsigned long long)keys[i]);
        n_true += has[i];
    }
    MUST(n_has == n_true, "the batch counts %zu and shows %zu", n_has, n_true);
    return NULL;
}

/* ------------------------------------------------------------------ histories */

static const char *flood(churn *c) {
    uint64_t const key = any_key(c);
    const char    *why = NULL;
    for (unsigned i = 0; i < FLOOD && why == NULL; i++) why = add_one(c, key);
    c->operations += FLOOD;
    return why;
}

/* Move towards the goal more often than away from it. */
static bool is_growing(churn *c) {
    bool const towards = dice_below(&c->chance, 4) != 0;
    return (c->distinct < c->goal) == towards;
}

static const char *step_batch(churn *c) {
    unsigned const n = 1 + (unsigned)dice_below(&c->chance, BATCH);
    c->operations += n;
    if (dice_below(&c->chance, 3) == 0) return has_batch(c, n);
    if ((c->abilities & TAMIS_CAN_REMOVE) != 0 && !is_growing(c)) return remove_batch(c, n);
    return add_batch(c, n);
}

/* Beyond the capacity; for a set that grows, two steps further. */
static uint64_t most_keys(const churn *c) {
    return c->set->growth != NULL ? c->universe : c->set->capacity * 5 / 4 + 2;
}

/* Choose the load to go to next. Now and then the set is emptied. Kinds that cannot remove need
 * that once they are full. The others need it before a flood: too many saturated keys would hide a
 * lost one. */
static const char *new_goal(churn *c) {
    c->goal = (size_t)dice_below(&c->chance, most_keys(c));
    bool const can_remove = (c->abilities & TAMIS_CAN_REMOVE) != 0;
    if (can_remove ? dice_below(&c->chance, 64) != 0 : c->distinct < c->set->capacity) return NULL;
    MUST(tamis_clear(c->set) == TAMIS_OK, "clear failed");
    memset(c->truth, 0, c->universe * sizeof c->truth[0]);
    c->distinct = c->copies = 0;
    return NULL;
}

static const char *step(churn *c) {
    uint64_t const face = dice_below(&c->chance, 4096);
    if (face == 0) return new_goal(c);
    if (face == 1) return flood(c);
    if (face < 64) return step_batch(c);
    c->operations++;
    if (face < 1024 && c->copies != 0) {
        MUST(tamis_has_id(c->set, present_key(c)), "a present key is lost");
        return NULL;
    }
    if (face < 1400 && (c->abilities & TAMIS_CAN_COUNT) != 0) return count_one(c, any_key(c));
    bool const can_remove = (c->abilities & TAMIS_CAN_REMOVE) != 0 && c->copies != 0;
    if (can_remove && !is_growing(c)) return remove_one(c, present_key(c));
    if (can_remove || c->distinct < c->goal) return add_one(c, any_key(c));
    uint64_t const key = any_key(c); /* a filled filter is only queried */
    MUST(tamis_has_id(c->set, key) || c->truth[key] == 0, "a key is lost");
    return NULL;
}

const char *churn_run(churn *c, uint64_t n) {
    uint64_t const end = c->operations + n;
    const char    *why = NULL;
    while (c->operations < end && why == NULL) why = step(c);
    return why != NULL ? why : churn_check_all(c);
}

const char *churn_check_all(const churn *c) {
    for (uint64_t key = 0; key < c->universe; key++) {
        if (c->truth[key] == 0) continue;
        MUST(tamis_has_id(c->set, key), "key %llu is lost", (unsigned long long)key);
    }
    const char *why = NULL;
    MUST(tamis_validate(c->set, &why), "%s", why);
    return NULL;
}

const char *churn_empty(churn *c) {
    const char *why = NULL;
    while (c->copies != 0 && why == NULL) why = remove_batch(c, BATCH);
    return why;
}
