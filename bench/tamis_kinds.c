/* tamis_kinds.c - every kind of the library, by name. A new kind takes part without a change here.
 *
 * Keys are 8 bytes, which the set hashes as the peers do, or the same 64 bits as an id. A batch of
 * byte keys needs an array of pointers and lengths. Filling it in is timed, since a caller has to
 * do it, too.
 *
 * "line:fetch" means single calls with hints: tamis_fetch() for the key that comes --ahead keys
 * later, then the call for this key.
 */
#include "contestant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>

typedef struct kind_table {
    tamis_set *set;
    tamis_key  keys[MAX_BATCH];
    bool       answers[MAX_BATCH]; /* callers need an answer for each key */
    size_t     ahead;              /* how many keys ahead to hint */
} kind_table;

/* ------------------------------------------------------------------ keys as bytes, single calls */

static size_t add_bytes(void *table, const uint64_t *keys, size_t n) {
    tamis_set *const set = ((kind_table *)table)->set;
    size_t           added = 0;
    for (size_t i = 0; i < n; i++) added += tamis_add(set, &keys[i], KEY_BYTES) == TAMIS_OK;
    return added;
}

static size_t has_bytes(void *table, const uint64_t *keys, size_t n) {
    const tamis_set *const set = ((kind_table *)table)->set;
    size_t                 found = 0;
    for (size_t i = 0; i < n; i++) found += tamis_has(set, &keys[i], KEY_BYTES);
    return found;
}

static size_t remove_bytes(void *table, const uint64_t *keys, size_t n) {
    tamis_set *const set = ((kind_table *)table)->set;
    size_t           removed = 0;
    for (size_t i = 0; i < n; i++) removed += tamis_remove(set, &keys[i], KEY_BYTES) == TAMIS_OK;
    return removed;
}

static size_t churn_bytes(void *table, const uint64_t *keys, size_t n) {
    tamis_set *const set = ((kind_table *)table)->set;
    size_t           done = 0;
    for (size_t i = 0; i < n; i++) {
        done += tamis_remove(set, &keys[i], KEY_BYTES) == TAMIS_OK;
        done += tamis_add(set, &keys[n + i], KEY_BYTES) == TAMIS_OK;
    }
    return done;
}

/* ------------------------------------------------------------------ keys as bytes, in batches */

static const tamis_key *make_key_array(kind_table *table, const uint64_t *keys, size_t n) {
    for (size_t i = 0; i < n; i++) table->keys[i] = (tamis_key){ &keys[i], KEY_BYTES };
    return table->keys;
}

/* A batch stops at the first refused key. Go on after it, as single calls do. */
static size_t add_bytes_batch(void *table, const uint64_t *keys, size_t n) {
    kind_table *const      t = table;
    const tamis_key *const all = make_key_array(t, keys, n);
    size_t                 refused = 0;
    for (size_t at = 0; at < n;) {
        size_t     added = 0;
        bool const is_whole = tamis_add_batch(t->set, all + at, n - at, &added) == TAMIS_OK;
        at += added + !is_whole;
        refused += !is_whole;
    }
    return n - refused;
}

static size_t has_bytes_batch(void *table, const uint64_t *keys, size_t n) {
    kind_table *const t = table;
    return tamis_has_batch(t->set, make_key_array(t, keys, n), n, t->answers);
}

static size_t remove_bytes_batch(void *table, const uint64_t *keys, size_t n) {
    kind_table *const  t = table;
    tamis_removal      removal = { 0, 0, 0 };
    tamis_status const status =
        tamis_remove_batch(t->set, make_key_array(t, keys, n), n, t->answers, &removal);
    return status == TAMIS_OK ? removal.removed : 0;
}

/* ------------------------------------------------------------------ keys as ids, single calls */

static size_t bench_add_ids(void *table, const uint64_t *keys, size_t n) {
    tamis_set *const set = ((kind_table *)table)->set;
    size_t           added = 0;
    for (size_t i = 0; i < n; i++) added += tamis_add_id(set, keys[i]) == TAMIS_OK;
    return added;
}

static size_t bench_has_ids(void *table, const uint64_t *keys, size_t n) {
    const tamis_set *const set = ((kind_table *)table)->set;
    size_t                 found = 0;
    for (size_t i = 0; i < n; i++) found += tamis_has_id(set, keys[i]);
    return found;
}

static size_t bench_remove_ids(void *table, const uint64_t *keys, size_t n) {
    tamis_set *const set = ((kind_table *)table)->set;
    size_t           removed = 0;
    for (size_t i = 0; i < n; i++) removed += tamis_remove_id(set, keys[i]) == TAMIS_OK;
    return removed;
}

static size_t bench_churn_ids(void *table, const uint64_t *keys, size_t n) {
    tamis_set *const set = ((kind_table *)table)->set;
    size_t           done = 0;
    for (size_t i = 0; i < n; i++) {
        done += tamis_remove_id(set, keys[i]) == TAMIS_OK;
        done += tamis_add_id(set, keys[n + i]) == TAMIS_OK;
    }
    return done;
}

/* ------------------------------------------------------------------ keys as ids, in batches */

static size_t bench_add_ids_batch(void *table, const uint64_t *keys, size_t n) {
    kind_table *const t = table;
    size_t            refused = 0;
    for (size_t at = 0; at < n;) {
        size_t     added = 0;
        bool const is_whole = tamis_add_id_batch(t->set, keys + at, n - at, &added) == TAMIS_OK;
        at += added + !is_whole;
        refused += !is_whole;
    }
    return n - refused;
}

static size_t bench_has_ids_batch(void *table, const uint64_t *keys, size_t n) {
    kind_table *const t = table;
    return tamis_has_id_batch(t->set, keys, n, t->answers);
}

static size_t bench_remove_ids_batch(void *table, const uint64_t *keys, size_t n) {
    kind_table *const  t = table;
    tamis_removal      removal = { 0, 0, 0 };
    tamis_status const status = tamis_remove_id_batch(t->set, keys, n, t->answers, &removal);
    return status == TAMIS_OK ? removal.removed : 0;
}

/* ------------------------------------------------------------------ single calls with hints */

/* The loop that tamis.h shows for tamis_fetch(). */

static size_t add_bytes_hinted(void *table, const uint64_t *keys, size_t n) {
    const kind_table *const t = table;
    size_t                  added = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + t->ahead < n) tamis_fetch(t->set, &keys[i + t->ahead], KEY_BYTES);
        added += tamis_add(t->set, &keys[i], KEY_BYTES) == TAMIS_OK;
    }
    return added;
}

static size_t has_bytes_hinted(void *table, const uint64_t *keys, size_t n) {
    const kind_table *const t = table;
    size_t                  found = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + t->ahead < n) tamis_fetch(t->set, &keys[i + t->ahead], KEY_BYTES);
        found += tamis_has(t->set, &keys[i], KEY_BYTES);
    }
    return found;
}

static size_t remove_bytes_hinted(void *table, const uint64_t *keys, size_t n) {
    const kind_table *const t = table;
    size_t                  removed = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + t->ahead < n) tamis_fetch(t->set, &keys[i + t->ahead], KEY_BYTES);
        removed += tamis_remove(t->set, &keys[i], KEY_BYTES) == TAMIS_OK;
    }
    return removed;
}

static size_t churn_bytes_hinted(void *table, const uint64_t *keys, size_t n) {
    const kind_table *const t = table;
    size_t                  done = 0;
    for (size_t i = 0; i < n; i++) {
        bool const has_next = i + t->ahead < n;
        if (has_next) tamis_fetch(t->set, &keys[i + t->ahead], KEY_BYTES);
        if (has_next) tamis_fetch(t->set, &keys[n + i + t->ahead], KEY_BYTES);
        done += tamis_remove(t->set, &keys[i], KEY_BYTES) == TAMIS_OK;
        done += tamis_add(t->set, &keys[n + i], KEY_BYTES) == TAMIS_OK;
    }
    return done;
}

static size_t add_ids_hinted(void *table, const uint64_t *keys, size_t n) {
    const kind_table *const t = table;
    size_t                  added = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + t->ahead < n) tamis_fetch_id(t->set, keys[i + t->ahead]);
        added += tamis_add_id(t->set, keys[i]) == TAMIS_OK;
    }
    return added;
}

static size_t has_ids_hinted(void *table, const uint64_t *keys, size_t n) {
    const kind_table *const t = table;
    size_t                  found = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + t->ahead < n) tamis_fetch_id(t->set, keys[i + t->ahead]);
        found += tamis_has_id(t->set, keys[i]);
    }
    return found;
}

static size_t remove_ids_hinted(void *table, const uint64_t *keys, size_t n) {
    const kind_table *const t = table;
    size_t                  removed = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + t->ahead < n) tamis_fetch_id(t->set, keys[i + t->ahead]);
        removed += tamis_remove_id(t->set, keys[i]) == TAMIS_OK;
    }
    return removed;
}

static size_t churn_ids_hinted(void *table, const uint64_t *keys, size_t n) {
    const kind_table *const t = table;
    size_t                  done = 0;
    for (size_t i = 0; i < n; i++) {
        bool const has_next = i + t->ahead < n;
        if (has_next) tamis_fetch_id(t->set, keys[i + t->ahead]);
        if (has_next) tamis_fetch_id(t->set, keys[n + i + t->ahead]);
        done += tamis_remove_id(t->set, keys[i]) == TAMIS_OK;
        done += tamis_add_id(t->set, keys[n + i]) == TAMIS_OK;
    }
    return done;
}

/* ------------------------------------------------------------------ making contestants */

static void kind_clear(void *table) {
    tamis_status const status = tamis_clear(((kind_table *)table)->set);
    (void)status; /* it fails only for sets that are mapped from files */
}

static void kind_free(void *table) {
    tamis_free(((kind_table *)table)->set);
    free(table);
}

static bench_ops hinted_ops(bool is_id) {
    static const bench_ops bytes = {
        .call = { { add_bytes_hinted, has_bytes_hinted, remove_bytes_hinted, churn_bytes_hinted } },
        .clear = kind_clear,
        .free = kind_free,
    };
    static const bench_ops ids = {
        .call = { { add_ids_hinted, has_ids_hinted, remove_ids_hinted, churn_ids_hinted } },
        .clear = kind_clear,
        .free = kind_free,
    };
    return is_id ? ids : bytes;
}

static bench_ops plain_ops(bool is_id) {
    static const bench_ops bytes = {
        .call = { { add_bytes, has_bytes, remove_bytes, churn_bytes },
                  { add_bytes_batch, has_bytes_batch, remove_bytes_batch, NULL } },
        .clear = kind_clear,
        .free = kind_free,
    };
    static const bench_ops ids = {
        .call = { { bench_add_ids, bench_has_ids, bench_remove_ids, bench_churn_ids },
                  { bench_add_ids_batch, bench_has_ids_batch, bench_remove_ids_batch, NULL } },
        .clear = kind_clear,
        .free = kind_free,
    };
    return is_id ? ids : bytes;
}

static bench_ops kind_ops(bool is_hinted, bool is_id, bool can_remove) {
    bench_ops ops = is_hinted ? hinted_ops(is_id) : plain_ops(is_id);
    for (int mode = 0; mode < N_MODES && !can_remove; mode++) {
        ops.call[mode][CALL_REMOVE] = ops.call[mode][CALL_CHURN] = NULL;
    }
    return ops;
}

static tamis_spec kind_spec(const contestant *entrant, uint64_t n, const tamis_seed *seed) {
    const bench_entry *const entry = entrant->entry;
    tamis_spec               spec = TAMIS_SPEC_INIT;
    spec.kind = entry->key;
    spec.isa = entrant->isa;
    spec.capacity = n;
    spec.fpr = entry->fpr;
    if (*entry->geometry != '\0') spec.geometry = entry->geometry;
    if (entry->is_removing) spec.abilities |= TAMIS_CAN_REMOVE;
    if (entry->is_counting) spec.abilities |= TAMIS_CAN_COUNT;
    if (entry->is_small) spec.prefer = TAMIS_PREFER_SMALL;
    spec.seed = seed;
    return spec;
}

static void kind_make(contestant *entrant, const bench_options *options, uint64_t n) {
    tamis_seed const  seed = { options->seed, 0 };
    tamis_spec const  spec = kind_spec(entrant, n, &seed);
    tamis_problem     problem = { .text = "out of memory" };
    tamis_info        info;
    kind_table *const table = malloc(sizeof *table);
    if (table == NULL || tamis_create(&spec, &table->set, &problem) != TAMIS_OK) {
        contestant_exclude(entrant, "%s", problem.text);
        free(table);
        return;
    }
    if (tamis_inspect(table->set, &info) != TAMIS_OK) info = (tamis_info){ 0 };
    table->ahead = options->ahead;
    entrant->table = table;
    entrant->bytes = info.plan.body_bytes;
    entrant->lines = info.plan.lines_present;
    entrant->isa = info.facts.isa;
    entrant->ops = kind_ops(entrant->entry->is_hinted, options->is_id,
                            (info.plan.abilities & TAMIS_CAN_REMOVE) != 0);
}

/* isa NULL: the one of the entry or the best one, which the name does not show. */
static void enter_kind(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                       uint64_t n, const char *isa) {
    contestant *const entrant = lineup_enter(lineup, entry);
    if (entrant == NULL) return;
    entrant->group = "tamis";
    entrant->isa = isa == NULL ? entry->isa : isa;
    if (isa != NULL) (void)snprintf(entrant->name, sizeof entrant->name, "%s/%s", entry->text, isa);
    kind_make(entrant, options, n);
}

/* Not every kind has a build for every instruction set: another one takes its place, and would be
 * measured twice. A small set says which one it uses. */
static bool has_build(const bench_entry *entry, const char *isa) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *set = NULL;
    tamis_info info = { .facts = { .isa = NULL } };
    spec.kind = entry->key;
    spec.capacity = 100;
    spec.fpr = 0.01;
    spec.isa = isa;
    if (tamis_create(&spec, &set, NULL) != TAMIS_OK) return true; /* the entry itself says why */
    tamis_status const status = tamis_inspect(set, &info);
    bool const         is_own = status == TAMIS_OK && strcmp(info.facts.isa, isa) == 0;
    tamis_free(set);
    return is_own;
}

void enter_tamis(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                 uint64_t n) {
    if (entry_has_states(entry)) {
        enter_states(lineup, options, entry, n);
        return;
    }
    if (!options->is_every_isa || entry->isa != NULL) {
        enter_kind(lineup, options, entry, n, NULL);
        return;
    }
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        const char *const name = tamis_isa_name(isa);
        if (has_build(entry, name)) enter_kind(lineup, options, entry, n, name);
    }
}
