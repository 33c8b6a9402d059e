/* set_laws.c - what every kind promises.
 *
 * Each law makes its own sets with fixed seeds, and returns NULL or a reason. Some laws concern
 * only kinds that refuse adds, or that remove; for other kinds they have nothing to check.
 */
#include "buffer.h"
#include "churn.h"
#include "ledger.h"
#include "temporary.h"
#include "zero_body.h"

#include "grow.h"

/* ------------------------------------------------------------------ comparing */

static bool same_bytes(const tamis_table *a, const tamis_table *b) {
    return a->body_bytes == b->body_bytes && a->keys == b->keys && a->saturated == b->saturated &&
           memcmp(a->body, b->body, a->body_bytes) == 0;
}

/* A set that grows has two tables in a step. */
static bool same_table(const tamis_set *a, const tamis_set *b) {
    const tamis_table *of_a[2], *of_b[2];
    unsigned const     n = grow_tables(a, of_a);
    if (grow_tables(b, of_b) != n) return false;
    for (unsigned i = 0; i < n; i++) {
        if (!same_bytes(of_a[i], of_b[i])) return false;
    }
    return a->table.refused_adds == b->table.refused_adds &&
           a->table.refused_removes == b->table.refused_removes;
}

static bool sum_print(void *context, uint64_t print, uint64_t copies) {
    *(uint64_t *)context += mix64(mix64(print) + copies);
    return true;
}

/* Both have the same prints and copies. How far a step is may depend on whether keys were added one
 * by one. */
static bool same_contents(const tamis_set *a, const tamis_set *b) {
    uint64_t of_a = 0, of_b = 0;
    if (a->growth == NULL) return same_table(a, b);
    (void)tamis_each_print(a, sum_print, &of_a);
    (void)tamis_each_print(b, sum_print, &of_b);
    return of_a == of_b && tamis_sum_tables(a).keys == tamis_sum_tables(b).keys;
}

/* For laws about the bytes of one table: a set that grows begins at its last stage. */
static tamis_set *make_largest(const subject *variant, uint64_t seed) {
    tamis_set *const set = subject_make(variant, seed);
    bool const       grows = set != NULL && set->growth != NULL;
    if (!grows || tamis_resize(set, variant->grow_to, NULL) == TAMIS_OK) return set;
    tamis_free(set);
    return NULL;
}

/* Add the ids first..first+n-1. Returns how many were added before the first refusal. */
static size_t add_range(tamis_set *set, uint64_t first, size_t n) {
    size_t added = 0;
    while (added < n && tamis_add_id(set, first + added) == TAMIS_OK) added++;
    return added;
}

static const char *has_range(const tamis_set *set, uint64_t first, size_t n) {
    for (size_t i = 0; i < n; i++) {
        MUST(tamis_has_id(set, first + i), "key %llu is lost", (unsigned long long)(first + i));
    }
    return NULL;
}

static const char *read_alike(const tamis_set *set);

/* ------------------------------------------------------------------ histories */

static const char *churned(const subject *variant, tamis_set *set) {
    churn c;
    if (!churn_begin(&c, set, 7)) return "no memory";
    const char *why = churn_run(&c, variant->operations);
    churn_end(&c);
    return why;
}

static const char *no_false_negative_under_churn(const subject *variant) {
    tamis_set *const set = subject_make(variant, 1);
    MUST(set != NULL, "could not be made");
    const char *const why = churned(variant, set);
    tamis_free(set);
    return why;
}

static const char *empty_again(const subject *variant, tamis_set *set) {
    churn c;
    if (!churn_begin(&c, set, 8)) return "no memory";
    const char *why = churn_run(&c, variant->operations);
    if (why == NULL) why = churn_empty(&c);
    churn_end(&c);
    if (why != NULL) return why;
    MUST(tamis_validate(set, &why), "%s", why);
    tamis_table const sum = tamis_sum_tables(set);
    bool const        is_promised = set->kind->empties_to_zero && sum.saturated == 0;
    MUST(!is_promised || is_zero_body(set), "bytes are left after all was removed");
    MUST(!is_promised || sum.keys == 0, "keys are left after all was removed");
    return NULL;
}

static const char *emptying_restores_every_byte(const subject *variant) {
    tamis_set *const set = subject_make(variant, 2);
    MUST(set != NULL, "could not be made");
    bool const        can = (set->abilities & TAMIS_CAN_REMOVE) != 0;
    const char *const why = can ? empty_again(variant, set) : NULL;
    tamis_free(set);
    return why;
}

/* ------------------------------------------------------------------ refusals */

/* Bytes that are compared at every step; the large bodies would take minutes and say the same. */
#define MAX_COMPARED 200000

static const char *refuse_adds(tamis_set *set, tamis_set *before) {
    for (uint64_t key = 0; key < 4 * set->capacity + 64; key++) {
        memcpy(before->table.body, set->table.body, set->table.body_bytes);
        tamis_table table = set->table;
        if (tamis_add_id(set, key) == TAMIS_OK) continue;
        table.refused_adds++;
        MUST(memcmp(before->table.body, set->table.body, set->table.body_bytes) == 0,
             "a refused add changed the body");
        MUST(memcmp(&table, &set->table, sizeof table) == 0, "a refused add changed the counts");
        MUST(key >= set->capacity, "refused key %llu of %llu", (unsigned long long)key,
             (unsigned long long)set->capacity);
    }
    return NULL;
}

static const char *refused_adds_change_nothing(const subject *variant) {
    if (variant->capacity > 5000) return NULL; /* the small ones say the same, at a cost of n^2 */
    tamis_set *const set = make_largest(variant, 3), *const before = make_largest(variant, 3);
    const char *why = set && before ? NULL : "could not be made";
    if (why == NULL && set->table.body_bytes <= MAX_COMPARED) why = refuse_adds(set, before);
    tamis_free(set);
    tamis_free(before);
    return why;
}

/* Remove keys that were never added. Those that match are added again; those that are refused
 * change nothing. All are tried, since a kind may refuse in several places of its code. */
static const char *refuse_removes(tamis_set *set, tamis_set *before) {
    size_t const added = add_range(set, 0, (size_t)set->capacity);
    uint64_t     refused = 0;
    for (uint64_t key = 1000000; key < 1002000; key++) {
        memcpy(before->table.body, set->table.body, set->table.body_bytes);
        bool const         matched = tamis_has_id(set, key);
        tamis_status const status = tamis_remove_id(set, key);
        if (status == TAMIS_OK) {
            MUST(matched, "an absent key was removed");
            MUST(tamis_add_id(set, key) == TAMIS_OK, "what was removed cannot be put back");
            continue;
        }
        bool const is_kept = status == TAMIS_ERR_SATURATED && matched;
        MUST(status == TAMIS_ERR_ABSENT || is_kept, "remove said %d", status);
        MUST(memcmp(before->table.body, set->table.body, set->table.body_bytes) == 0,
             "a refused removal changed the body");
        refused += status == TAMIS_ERR_ABSENT;
    }
    MUST(set->table.refused_removes == refused, "%llu refusals are counted as %llu",
         (unsigned long long)refused, (unsigned long long)set->table.refused_removes);
    /* if a kind stores more than a print, adding the key again may not restore what its removal
     * took */
    bool const is_print = !set->kind->keeps_more_than_prints || refused == 2000;
    return is_print ? has_range(set, 0, added) : NULL;
}

static const char *refused_removes_change_nothing(const subject *variant) {
    tamis_set *const set = make_largest(variant, 4), *const before = make_largest(variant, 4);
    const char *why = set && before ? NULL : "could not be made";
    bool const  is_tried = why == NULL && (set->abilities & TAMIS_CAN_REMOVE) != 0 &&
                          set->table.body_bytes <= MAX_COMPARED;
    if (is_tried) why = refuse_removes(set, before);
    tamis_free(set);
    tamis_free(before);
    return why;
}

/* Remove keys that were never added but match: other keys may be lost; the table stays valid. */
static const char *remove_strangers(tamis_set *set) {
    const char  *why = NULL;
    size_t const added = add_range(set, 0, (size_t)set->capacity);
    size_t       removed = 0, lost = 0;
    for (uint64_t key = 1000000; key < 1000000 + 10 * set->capacity; key++) {
        bool const         matched = tamis_has_id(set, key);
        tamis_status const status = tamis_remove_id(set, key);
        MUST(status == TAMIS_ERR_ABSENT || matched, "a key that is not there was removed");
        removed += status == TAMIS_OK;
    }
    for (size_t key = 0; key < added; key++) lost += !tamis_has_id(set, key);
    MUST(tamis_validate(set, &why), "%s", why);
    MUST(lost <= removed * 64, "%zu strange removals lost %zu keys", removed, lost);
    return NULL;
}

static const char *removals_of_absent_keys_keep_the_table_valid(const subject *variant) {
    tamis_set *const set = subject_make(variant, 5);
    MUST(set != NULL, "could not be made");
    bool const        can = (set->abilities & TAMIS_CAN_REMOVE) != 0;
    const char *const why = can ? remove_strangers(set) : NULL;
    tamis_free(set);
    return why;
}

/* ------------------------------------------------------------------ floods */

/* Removes a copy of a key that is there. A saturated key stays. */
static bool removes(tamis_set *set, uint64_t key) {
    tamis_status const status = tamis_remove_id(set, key);
    return status == TAMIS_OK || (status == TAMIS_ERR_SATURATED && tamis_has_id(set, key));
}

static const char *flooded(tamis_set *set, unsigned copies) {
    size_t const   half = (size_t)set->capacity / 2;
    uint64_t const flood = 77777777, bytes = set->table.body_bytes;
    size_t const   before = add_range(set, 0, half);
    for (unsigned i = 0; i < copies; i++) {
        MUST(tamis_add_id(set, flood) == TAMIS_OK, "copy %u of a flood was refused", i);
    }
    MUST(set->table.body_bytes == bytes && !grow_is_moving(set), "a flood made the set grow");
    MUST(add_range(set, half, half) == half, "no room for others after a flood");
    const char *why = has_range(set, 0, before);
    if (why == NULL) why = has_range(set, half, half);
    if (why != NULL) return why;
    MUST(tamis_has_id(set, flood), "the flooded key is lost");
    if ((set->abilities & TAMIS_CAN_REMOVE) == 0) return NULL;
    tamis_table const sum = tamis_sum_tables(set);
    MUST(sum.saturated != 0 || sum.keys > copies, "the flood left no trace");
    for (unsigned i = 0; i < copies; i++) {
        MUST(removes(set, flood), "copy %u cannot be removed", i);
    }
    why = has_range(set, 0, before);
    return why != NULL ? why : has_range(set, half, half);
}

/* 10000 copies saturate all but the widest counters; longer runs flood these, too. */
static const char *floods_harm_no_other_key(const subject *variant) {
    unsigned const   copies = variant->operations < SHORT_RUN ? 10000 : 100000;
    tamis_set *const set = subject_make(variant, 6);
    MUST(set != NULL, "could not be made");
    const char *why = flooded(set, copies);
    if (why == NULL && !tamis_validate(set, &why)) why = because("%s", why);
    tamis_free(set);
    return why;
}

/* ------------------------------------------------------------------ batches */

static const size_t batch_sizes[] = { 0,  1,  7,  8,  9,  15,  16,  17,  31,
                                      32, 33, 63, 64, 65, 127, 128, 1000 };
#define N_BATCHES COUNT(batch_sizes)
#define MAX_BATCH 1000

static const char *add_both_ways(tamis_set *single, tamis_set *batch, const uint64_t *keys,
                                 size_t n) {
    size_t       added = 0, singly = 0;
    tamis_status status = TAMIS_OK;
    while (singly < n && (status = tamis_add_id(single, keys[singly])) == TAMIS_OK) singly++;
    tamis_status const in_batch = tamis_add_id_batch(batch, keys, n, &added);
    MUST(in_batch == status && added == singly, "added %zu (%d) in a batch, %zu (%d) singly", added,
         in_batch, singly, status);
    MUST(same_contents(single, batch), "a batch of %zu adds left other bytes", n);
    return NULL;
}

static const char *remove_both_ways(tamis_set *single, tamis_set *batch, const uint64_t *keys,
                                    size_t n) {
    bool          removed[MAX_BATCH];
    tamis_removal tally = { 0, 0, 0 };
    size_t        n_singly = 0;
    MUST(tamis_remove_id_batch(batch, keys, n, removed, &tally) == TAMIS_OK, "batch failed");
    for (size_t i = 0; i < n; i++) {
        bool const is_removed = tamis_remove_id(single, keys[i]) == TAMIS_OK;
        MUST(is_removed == removed[i], "key %zu of %zu: removal differs", i, n);
        n_singly += is_removed;
    }
    MUST(tally.removed == n_singly, "removed %zu in a batch, %zu singly", tally.removed, n_singly);
    MUST(same_contents(single, batch), "a batch of %zu removals left other bytes", n);
    return NULL;
}

static const char *ask_both_ways(const tamis_set *set, const uint64_t *keys, size_t n) {
    bool         has[MAX_BATCH];
    uint64_t     counts[MAX_BATCH];
    size_t       n_has = 0;
    size_t const in_batch = tamis_has_id_batch(set, keys, n, has);
    bool const   can_count = (set->abilities & TAMIS_CAN_COUNT) != 0;
    if (can_count) {
        MUST(tamis_count_id_batch(set, keys, n, counts) == TAMIS_OK, "count batch failed");
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t count = 0;
        MUST(has[i] == tamis_has_id(set, keys[i]), "key %zu of %zu: has differs", i, n);
        if (can_count) MUST(tamis_count_id(set, keys[i], &count) == TAMIS_OK, "count failed");
        MUST(!can_count || count == counts[i], "key %zu of %zu: count differs", i, n);
        n_has += has[i];
    }
    MUST(n_has == in_batch, "the batch counts %zu and shows %zu", in_batch, n_has);
    return NULL;
}

/* Keys from a small range, so that a batch has duplicates in it. */
static const char *both_ways(tamis_set *single, tamis_set *batch) {
    dice        chance = { 9 };
    uint64_t    keys[MAX_BATCH];
    const char *why = NULL;
    for (size_t round = 0; round < 3 * N_BATCHES && why == NULL; round++) {
        size_t const n = batch_sizes[round % N_BATCHES];
        for (size_t i = 0; i < n; i++) keys[i] = dice_below(&chance, single->capacity + 4);
        why = add_both_ways(single, batch, keys, n);
        for (size_t i = 0; i < n; i++) keys[i] = dice_below(&chance, 2 * single->capacity + 4);
        if (why == NULL) why = ask_both_ways(single, keys, n);
        if (why == NULL && (single->abilities & TAMIS_CAN_REMOVE) != 0 && round % 3 != 0) {
            why = remove_both_ways(single, batch, keys, n);
        }
    }
    return why;
}

static const char *batch_equals_single(const subject *variant) {
    tamis_set *const single = subject_make(variant, 10), *const batch = subject_make(variant, 10);
    const char *why = single && batch ? both_ways(single, batch) : "could not be made";
    tamis_free(single);
    tamis_free(batch);
    return why;
}

/* Byte keys of all lengths, in batches and singly; the empty key too. */
static const char *byte_keys_both_ways(tamis_set *single, tamis_set *batch) {
    static uint8_t text[70000];
    tamis_key      keys[100] = { { NULL, 0 } };
    bool           has[100];
    size_t const   n = (size_t)min_u64(100, single->capacity);
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)mix64(i);
    for (size_t i = 0; i < n; i++) keys[i] = (tamis_key){ text + i, i < 99 ? i : 65536 };
    MUST(tamis_add_batch(batch, keys, n, NULL) == TAMIS_OK, "batch refused");
    for (size_t i = 0; i < n; i++) {
        MUST(tamis_add(single, keys[i].data, keys[i].bytes) == TAMIS_OK, "single refused");
    }
    MUST(same_table(single, batch), "byte keys in a batch left other bytes");
    MUST(tamis_has_batch(single, keys, n, has) == n, "a byte key is lost");
    for (size_t i = 0; i < n; i++) {
        MUST(has[i] && tamis_has(batch, keys[i].data, keys[i].bytes), "byte key %zu is lost", i);
    }
    if ((single->abilities & TAMIS_CAN_REMOVE) == 0) return NULL;
    tamis_removal removed;
    MUST(tamis_remove_batch(batch, keys, n, NULL, &removed) == TAMIS_OK && removed.absent == 0,
         "removal");
    for (size_t i = 0; i < n; i++) {
        tamis_status const status = tamis_remove(single, keys[i].data, keys[i].bytes);
        MUST(status == TAMIS_OK || status == TAMIS_ERR_SATURATED, "single removal");
    }
    MUST(same_table(single, batch), "removing byte keys in a batch left other bytes");
    return NULL;
}

static const char *byte_keys_of_any_length(const subject *variant) {
    tamis_set *const single = subject_make(variant, 11), *const batch = subject_make(variant, 11);
    const char *why = single && batch ? byte_keys_both_ways(single, batch) : "could not be made";
    tamis_free(single);
    tamis_free(batch);
    return why;
}

/* ------------------------------------------------------------------ determinism */

static const char *churned_alike(const subject *variant, const subject *other) {
    tamis_set *const a = subject_make(variant, 12), *const b = subject_make(other, 12);
    const char *why = a && b ? NULL : "could not be made";
    if (why == NULL) why = churned(variant, a);
    if (why == NULL) why = churned(other, b);
    if (why == NULL && !same_table(a, b)) why = "the same history left other bytes";
    tamis_free(a);
    tamis_free(b);
    return why;
}

static const char *same_seed_same_bytes(const subject *variant) {
    return churned_alike(variant, variant);
}

static const char *same_bytes_on_every_isa(const subject *variant) {
    const char *why = NULL;
    if (variant->instead == NULL && variant->isa != NULL &&
        !isa_is_best(variant->kind, variant->isa))
        return NULL; /* the best one is compared with all others */
    for (size_t i = 0; tamis_isa_name(i) != NULL && why == NULL; i++) {
        subject other = *variant;
        other.isa = tamis_isa_name(i);
        other.instead = NULL;
        why = churned_alike(variant, &other);
    }
    return why;
}

/* ------------------------------------------------------------------ whole sets */

static const char *copy_and_clear(const subject *variant, tamis_set *set) {
    tamis_set *copy = NULL, *fresh = subject_make(variant, 13);
    MUST(fresh != NULL, "could not be made");
    size_t const added = add_range(set, 0, (size_t)set->capacity);
    MUST(tamis_copy(set, &copy) == TAMIS_OK, "copy failed");
    bool const is_same = same_table(set, copy);
    bool const is_empty = tamis_clear(set) == TAMIS_OK && !grow_is_moving(set) &&
                          set->table.keys == 0 && is_zero_body(set);
    bool const        is_cleared = is_empty && (set->growth != NULL || same_table(set, fresh));
    const char *const why = has_range(copy, 0, added);
    tamis_free(copy);
    tamis_free(fresh);
    MUST(is_same, "a copy has other bytes");
    MUST(is_cleared, "a cleared set is not as new");
    return why;
}

static const char *copies_and_clears_are_exact(const subject *variant) {
    tamis_set *const set = subject_make(variant, 13);
    MUST(set != NULL, "could not be made");
    const char *const why = copy_and_clear(variant, set);
    tamis_free(set);
    return why;
}

/* Two halves that are merged hold all keys; a set that differs is refused and changes nothing. */
static const char *merge_two(const subject *variant, tamis_set *a, tamis_set *b) {
    size_t const half = (size_t)(a->capacity + 1) / 2, rest = (size_t)a->capacity - half;
    MUST(add_range(a, 0, half) == half && add_range(b, half, rest) == rest, "adds refused");
    tamis_set *const stranger = subject_make(variant, 999);
    MUST(stranger != NULL, "could not be made");
    tamis_status const strange = tamis_merge(a, stranger);
    tamis_free(stranger);
    MUST(strange == TAMIS_ERR_MISMATCH, "merge with another seed said %d", strange);
    const char *why = has_range(a, 0, half);
    MUST(why == NULL && tamis_merge(a, b) == TAMIS_OK, "merge failed");
    why = has_range(a, 0, half + rest);
    if (why == NULL && !tamis_validate(a, &why)) return because("%s", why);
    if (why != NULL || (a->abilities & TAMIS_CAN_REMOVE) == 0) return why;
    for (size_t key = 0; key < half; key++) {
        MUST(removes(a, key), "a merged key cannot be removed");
    }
    return has_range(a, half, rest);
}

static const char *merges_hold_both(const subject *variant) {
    tamis_set *const a = subject_make(variant, 14);
    MUST(a != NULL, "could not be made");
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.like = a;
    spec.isa = variant->isa;
    tamis_set  *b = NULL;
    const char *why = tamis_create(&spec, &b, NULL) == TAMIS_OK ? NULL : "no set like this one";
    if (why == NULL && (a->abilities & TAMIS_CAN_MERGE) != 0) why = merge_two(variant, a, b);
    tamis_free(a);
    tamis_free(b);
    return why;
}

/* Merge copies of the same keys, as far as there is room for them. */
static const char *merge_copies(tamis_set *a, tamis_set *b) {
    uint64_t truth[2] = { 0, 0 };
    for (unsigned i = 0; i < 2; i++) {
        truth[i] += tamis_add_id(a, i) == TAMIS_OK;
        truth[i] += tamis_add_id(b, i) == TAMIS_OK;
        truth[i] += tamis_add_id(b, i) == TAMIS_OK;
    }
    tamis_status const status = tamis_merge(a, b);
    if (status == TAMIS_ERR_FULL) return NULL;
    MUST(status == TAMIS_OK, "merge said %d", status);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t count = 0;
        MUST(tamis_count_id(a, i, &count) == TAMIS_OK, "count failed");
        MUST(count >= truth[i], "merged copies count %llu, and are %llu", (unsigned long long)count,
             (unsigned long long)truth[i]);
    }
    return NULL;
}

static const char *merged_counts_are_sums(const subject *variant) {
    tamis_set *const a = subject_make(variant, 20), *const b = subject_make(variant, 20);
    const char    *why = a && b ? NULL : "could not be made";
    unsigned const needed = TAMIS_CAN_MERGE | TAMIS_CAN_COUNT;
    if (why == NULL && (a->abilities & needed) == needed) why = merge_copies(a, b);
    tamis_free(a);
    tamis_free(b);
    return why;
}

/* Can the kind subtract: by counters, or by prints if it stores nothing else about a key? */
static bool can_subtract(const tamis_set *set) {
    unsigned const needed = TAMIS_CAN_MERGE | TAMIS_CAN_REMOVE;
    bool const     is_by_print = set->kind->each != NULL && !set->kind->keeps_more_than_prints;
    return (set->abilities & needed) == needed && (set->kind->subtract != NULL || is_by_print);
}

/* Do both give the same answers, for keys that are there and for others? */
static const char *answer_alike(const tamis_set *a, const tamis_set *b, uint64_t n) {
    for (uint64_t key = 0; key < n; key++) {
        uint64_t in_a = 0, in_b = 0;
        MUST(tamis_has_id(a, key) == tamis_has_id(b, key), "answers differ for key %llu",
             (unsigned long long)key);
        if ((a->abilities & TAMIS_CAN_COUNT) == 0) continue;
        MUST(tamis_count_id(a, key, &in_a) == TAMIS_OK, "count failed");
        MUST(tamis_count_id(b, key, &in_b) == TAMIS_OK, "count failed");
        MUST(in_a == in_b, "counts differ for key %llu", (unsigned long long)key);
    }
    return NULL;
}

/* Subtract what was merged. If nothing has stuck, all is as before: byte for byte in kinds whose
 * bytes do not depend on the order of adds. */
static const char *take_out_merged(tamis_set *a, const tamis_set *b, const tamis_set *before) {
    bool const   is_canonical = a->kind->subtract != NULL || strcmp(a->kind->name, "line") == 0;
    size_t const half = (size_t)(a->capacity + 1) / 2;
    const char  *why = NULL;
    tamis_status status = tamis_merge(a, b);
    if (status == TAMIS_ERR_FULL) return NULL;
    MUST(status == TAMIS_OK, "merge said %d", status);
    status = tamis_subtract(a, b);
    MUST(status == TAMIS_OK, "subtracting what was merged said %d", status);
    MUST(tamis_validate(a, &why), "%s", why);
    why = has_range(a, 0, half);
    tamis_table const now = tamis_sum_tables(a), then = tamis_sum_tables(before);
    if (why != NULL || now.saturated != then.saturated) return why;
    MUST(now.keys == then.keys, "the keys that are left are miscounted");
    MUST(!is_canonical || same_contents(a, before), "merging and subtracting left other bytes");
    return answer_alike(a, before, 3 * a->capacity + 100);
}

/* Subtracting a set with n keys that were never added is mostly refused, and then nothing has
 * changed. */
static const char *take_out_strangers(tamis_set *a, const tamis_set *b, const tamis_set *before,
                                      size_t n) {
    tamis_status const status = tamis_subtract(a, b);
    tamis_info         info;
    MUST(tamis_inspect(before, &info) == TAMIS_OK, "inspect failed");
    if (status == TAMIS_OK) { /* by chance: it begins anew */
        MUST(n < 20 || info.current_fpr > .2, "%zu strangers were taken out", n);
        tamis_table_copy(&a->table, &before->table);
        return NULL;
    }
    MUST(status == TAMIS_ERR_ABSENT, "subtracting a stranger said %d", status);
    MUST(same_table(a, before), "a refused subtraction left other bytes");
    return NULL;
}

static const char *subtract_all_ways(tamis_set *a, tamis_set *b) {
    size_t const half = (size_t)(a->capacity + 1) / 2;
    tamis_set   *before = NULL;
    MUST(add_range(a, 0, half) == half, "adds refused");
    size_t const added = add_range(b, half / 2, (size_t)a->capacity - half); /* some are in both */
    size_t const strangers = half / 2 + added > half ? half / 2 + added - half : 0;
    MUST(tamis_copy(a, &before) == TAMIS_OK, "copy failed");
    const char *why = take_out_strangers(a, b, before, strangers);
    if (why == NULL) why = take_out_merged(a, b, before);
    if (why == NULL && tamis_subtract(before, before) != TAMIS_ERR_ARGUMENT)
        why = "subtracted from itself";
    tamis_free(before);
    return why;
}

static const char *subtractions_undo_merges(const subject *variant) {
    tamis_set *const a = subject_make(variant, 22), *const b = subject_make(variant, 22);
    tamis_set *const stranger = subject_make(variant, 999);
    const char      *why = a && b && stranger ? NULL : "could not be made";
    if (why == NULL && tamis_subtract(a, stranger) != TAMIS_ERR_MISMATCH)
        why = "subtracted a set with another seed";
    if (why == NULL && can_subtract(a)) why = subtract_all_ways(a, b);
    if (why == NULL && !can_subtract(a) && tamis_subtract(a, b) != TAMIS_ERR_CANNOT)
        why = "subtracted what cannot be";
    tamis_free(a);
    tamis_free(b);
    tamis_free(stranger);
    return why;
}

/* Sets that are merged into each other for ever, as nodes of a network do. */
static const char *merge_for_ever(tamis_set *set) {
    const char    *why = NULL;
    uint64_t const n = set->capacity;
    (void)add_range(set, 0, (size_t)n);
    for (unsigned i = 0; i < 70 && why == NULL; i++) {
        tamis_set *copy = NULL;
        MUST(tamis_copy(set, &copy) == TAMIS_OK, "copy failed");
        tamis_status const status = tamis_merge(set, copy);
        tamis_free(copy);
        if (status == TAMIS_ERR_FULL) break;
        MUST(status == TAMIS_OK, "merge said %d", status);
    }
    MUST(tamis_validate(set, &why), "%s", why);
    why = has_range(set, 0, (size_t)n);
    return why != NULL ? why : read_alike(set);
}

static const char *repeatedly_merged_sets_can_be_read(const subject *variant) {
    tamis_set *const set = subject_make(variant, 19);
    MUST(set != NULL, "could not be made");
    bool const is_tried =
        (set->abilities & TAMIS_CAN_MERGE) != 0 && set->table.body_bytes <= MAX_COMPARED;
    const char *const why = is_tried ? merge_for_ever(set) : NULL;
    tamis_free(set);
    return why;
}

static const char *convert_to_less(tamis_set *set, tamis_set *less) {
    const char *why = NULL;
    MUST(tamis_validate(less, &why), "%s", why);
    for (uint64_t key = 0; key < 5 * set->capacity + 1000; key++) {
        MUST(tamis_has_id(set, key) == tamis_has_id(less, key), "answers differ for key %llu",
             (unsigned long long)key);
    }
    MUST(less->table.body_bytes <= set->table.body_bytes, "it grew");
    return NULL;
}

/* Can the kind convert this geometry, too? */
static bool can_convert(const tamis_set *set) {
    uint64_t geometry[TAMIS_MAX_FIELDS];
    return set->kind->conversion != NULL &&
           set->kind->conversion->geometry(set->table.geometry, geometry);
}

static const char *conversions_answer_alike(const subject *variant) {
    tamis_set *const set = subject_make(variant, 15);
    MUST(set != NULL, "could not be made");
    const char *why = churned(variant, set);
    tamis_set  *less = NULL;
    if (why == NULL && can_convert(set)) {
        why = tamis_convert(set, set->kind->conversion->to, &less) == TAMIS_OK
                  ? convert_to_less(set, less)
                  : "conversion failed";
    }
    if (why == NULL && tamis_convert(set, "no such kind", &less) != TAMIS_ERR_KIND) {
        why = "converted to a kind that does not exist";
    }
    if (why == NULL && tamis_convert(set, set->kind->name, &less) != TAMIS_ERR_CANNOT) {
        why = "converted to itself";
    }
    tamis_free(set);
    tamis_free(less);
    return why;
}

/* ------------------------------------------------------------------ files */

static const char *opened_alike(const tamis_set *set, const char *path, unsigned flags) {
    tamis_set         *opened = NULL;
    tamis_problem      problem;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.isa = set->kind->isa;
    if (tamis_open(path, &options, &opened, &problem) != TAMIS_OK)
        return because("%s", problem.text);
    bool const is_same = same_table(set, opened) && set->capacity == opened->capacity &&
                         set->lifetime == opened->lifetime;
    bool const         is_mapped = (flags & TAMIS_OPEN_MAP) != 0;
    tamis_status const change = tamis_add_id(opened, 1);
    tamis_free(opened);
    MUST(is_same, "what was opened (flags %u) is not what was saved", flags);
    MUST((change == TAMIS_ERR_READ_ONLY) == is_mapped, "add to an opened set said %d", change);
    return NULL;
}

static const char *read_alike(const tamis_set *set) {
    tamis_info info;
    MUST(tamis_inspect(set, &info) == TAMIS_OK, "inspect failed");
    buffer     to = { NULL, 0 };
    tamis_set *back = NULL;
    bool const is_written = tamis_write(set, buffer_write, &to) == TAMIS_OK;
    bool const is_read = is_written && tamis_read(to.bytes, to.n, NULL, &back, NULL) == TAMIS_OK;
    bool const is_same = is_read && same_table(set, back);
    free(to.bytes);
    tamis_free(back);
    bool const is_planned = grow_is_moving(set) || to.n == info.plan.file_bytes; /* of one part */
    MUST(is_written && is_planned, "wrote %zu bytes, not what was planned", to.n);
    MUST(is_same, "what was read is not what was written");
    return NULL;
}

static const char *saved_opened_mapped_alike(const subject *variant) {
    tamis_set *const set = subject_make(variant, 16);
    MUST(set != NULL, "could not be made");
    temporary const file = temporary_file();
    const char     *why = churned(variant, set);
    if (why == NULL && tamis_save(set, file.path, NULL) != TAMIS_OK) why = "save failed";
    for (unsigned flags = 0; flags < 4 && why == NULL; flags++)
        why = opened_alike(set, file.path, flags);
    if (why == NULL) why = read_alike(set);
    temporary_remove(&file);
    tamis_free(set);
    return why;
}

/* ------------------------------------------------------------------ memory that runs out */

/* Call everything that allocates once. TAMIS_OK, or the status of the first failure. */
static tamis_status allocate_everything(const subject *variant, tamis_allocator *allocator,
                                        buffer *file) {
    tamis_set         *set = NULL, *copy = NULL, *less = NULL, *back = NULL;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.allocator = *allocator;
    file->n = 0;
    tamis_status status = subject_try(variant, 17, allocator, &set, NULL);
    size_t const n = status == TAMIS_OK ? add_range(set, 0, (size_t)set->capacity) : 0;
    bool const   grows = status == TAMIS_OK && set->growth != NULL;
    if (grows && n != variant->capacity) status = TAMIS_ERR_CORRUPT; /* it has room for so many */
    if (grows && status == TAMIS_OK) status = tamis_resize(set, variant->grow_to, NULL);
    if (status == TAMIS_OK) status = tamis_copy(set, &copy);
    if (status == TAMIS_OK && can_convert(set)) {
        status = tamis_convert(set, set->kind->conversion->to, &less);
    }
    if (status == TAMIS_OK && can_subtract(set)) status = tamis_subtract(copy, set);
    if (status == TAMIS_OK) status = tamis_write(set, buffer_write, file);
    if (status == TAMIS_OK) status = tamis_read(file->bytes, file->n, &options, &back, NULL);
    if (set != NULL && has_range(set, 0, n) != NULL) status = TAMIS_ERR_CORRUPT;
    tamis_free(set);
    tamis_free(copy);
    tamis_free(less);
    tamis_free(back);
    return status;
}

static const char *every_allocation_may_fail(const subject *variant) {
    buffer      file = { NULL, 0 };
    const char *why = NULL;
    bool        is_done = false;
    for (int at = 0; !is_done && why == NULL; at++) {
        ledger             book = { .fail_at = (size_t)at + 1 };
        tamis_allocator    allocator = ledger_allocator(&book);
        tamis_status const status = allocate_everything(variant, &allocator, &file);
        tamis_status const expected = book.has_failed ? TAMIS_ERR_MEMORY : TAMIS_OK;
        /* an add does not say that a step could not begin: there is still room */
        bool const is_put_off = variant->grow_to != 0 && status == TAMIS_OK;
        if (status != expected && !is_put_off)
            why = book.has_failed
                      ? because("request %d failed and the call said %d", at, status)
                      : because("no request failed and the call said %d: is it too large?", status);
        if (book.bytes != 0)
            why = because("request %d failed and %zu bytes leaked", at, book.bytes);
        is_done = !book.has_failed;
        if (at > 100) why = "it never stops asking for memory";
    }
    free(file.bytes);
    return why;
}

/* ------------------------------------------------------------------ honesty */

/* Fill to capacity and look up n absent keys: the hits are within 4 sigma of the rate that the set
 * states. */
static const char *rate_of(tamis_set *set, uint64_t n, double *ret_current) {
    uint64_t const first = UINT64_C(1) << 40;
    (void)add_range(set, 0, (size_t)set->capacity);
    uint64_t hits = 0;
    for (uint64_t key = first; key < first + n; key++) hits += tamis_has_id(set, key);
    tamis_info info;
    MUST(tamis_inspect(set, &info) == TAMIS_OK, "inspect failed");
    double const expected = (double)n * info.current_fpr;
    double const sigma = sqrt(expected * (1 - info.current_fpr)) + 1;
    MUST(fabs((double)hits - expected) <= 4 * sigma, "%llu false positives, %.1f +- %.1f expected",
         (unsigned long long)hits, expected, sigma);
    *ret_current = info.current_fpr;
    return NULL;
}

#define MOST_FILTERS 24

/* The mean over filters of their own rate, within 4 sigma of the prediction for the geometry. */
static const char *error_rate_is_as_predicted(const subject *variant) {
    bool const     is_short = variant->operations < SHORT_RUN;
    uint64_t const strangers = min_u64((is_short ? 10 : 2) * variant->operations, 200000);
    uint64_t const filters = is_short ? MOST_FILTERS / 2 : MOST_FILTERS;
    series         rates = { 0, 0, 0 };
    double         predicted = 0;
    if (variant->isa != NULL && !isa_is_best(variant->kind, variant->isa))
        return NULL; /* same bytes */
    for (uint64_t i = 0; i < filters; i++) {
        tamis_set *const set = make_largest(variant, 100 + i);
        MUST(set != NULL, "could not be made");
        double            current = 0;
        tamis_info        info;
        const char *const why = rate_of(set, strangers, &current);
        if (why == NULL && tamis_inspect(set, &info) == TAMIS_OK) predicted = info.plan.fpr;
        tamis_free(set);
        if (why != NULL) return why;
        series_add(&rates, current);
    }
    double const mean = series_mean(&rates), sigma = series_error(&rates, 0);
    double const twice = predicted * predicted; /* a kind may count keys that collide twice */
    MUST(fabs(mean - predicted) <= 4 * sigma + 1e-9 * predicted + twice,
         "mean fpr %.4g +- %.2g, predicted %.4g", mean, sigma, predicted);
    MUST(variant->geometry != NULL || predicted <= variant->fpr, "predicts more than was asked");
    return NULL;
}

/* How many keys that were added once have a higher count? No more than the share of absent keys
 * that are found: other keys hit the entries of a present key as often as those of an absent one.
 * Wrong counts come in pairs, so sigma is larger than that of independent keys. */
static const char *count_all(tamis_set *set) {
    size_t const n = add_range(set, 0, (size_t)set->capacity);
    tamis_info   info;
    double       high = 0;
    for (size_t key = 0; key < n; key++) {
        uint64_t count = 0;
        MUST(tamis_count_id(set, key, &count) == TAMIS_OK, "count failed");
        MUST(count != 0, "key %zu counts 0", key);
        high += count != 1;
    }
    MUST(tamis_inspect(set, &info) == TAMIS_OK, "inspect failed");
    double const most = (double)n * info.current_fpr, sigma = sqrt(2 * most) + 1;
    if (info.facts.saturated != 0)
        return NULL; /* a key meets entries that it has saturated itself */
    MUST(high <= most + 4 * sigma, "%.0f of %zu counts are too high, at most %.1f +- %.1f expected",
         high, n, most, sigma);
    return NULL;
}

static const char *counts_are_seldom_too_high(const subject *variant) {
    tamis_set *const set = subject_make(variant, 21);
    MUST(set != NULL, "could not be made");
    bool const        can = (set->abilities & TAMIS_CAN_COUNT) != 0;
    const char *const why = can ? count_all(set) : NULL;
    tamis_free(set);
    return why;
}

static const char *keys_and_bytes_are_counted_exactly(const subject *variant) {
    tamis_set *const set = subject_make(variant, 18);
    MUST(set != NULL, "could not be made");
    size_t const added = add_range(set, 0, (size_t)set->capacity);
    tamis_info   info;
    bool const   is_told = tamis_inspect(set, &info) == TAMIS_OK;
    uint64_t     bytes = 0;
    bool const   is_sized = set->kind->body_bytes(set->table.geometry, &bytes);
    bool const   is_same = bytes == info.plan.body_bytes && bytes == set->table.body_bytes;
    double const slack = 8 + 10 * (info.plan.fpr + info.plan.saturation) * (double)added;
    tamis_free(set);
    MUST(is_told && is_sized && is_same, "bytes: %llu planned, %llu told",
         (unsigned long long)bytes, (unsigned long long)info.plan.body_bytes);
    MUST(bytes % TAMIS_LINE_BYTES == 0, "a body of %llu bytes", (unsigned long long)bytes);
    uint64_t const capacity = variant->grow_to != 0 ? info.facts.capacity : variant->capacity;
    MUST(info.plan.bits_per_key == 8.0 * (double)bytes / (double)capacity, "bits per key");
    MUST(info.facts.keys <= added && (double)info.facts.keys + slack >= (double)added,
         "%llu keys of %zu", (unsigned long long)info.facts.keys, added);
    return NULL;
}

/* 60 adds of three keys: an add of a key that is present, or can be counted no further, changes no
 * byte. */
static const char *counted_as_changed(tamis_set *set, uint8_t *before) {
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t const keys = set->table.keys;
        memcpy(before, set->table.body, (size_t)set->table.body_bytes);
        if (tamis_add_id(set, i % 3) != TAMIS_OK) return NULL; /* full */
        bool const is_same = memcmp(before, set->table.body, (size_t)set->table.body_bytes) == 0;
        MUST(set->table.keys == keys + !is_same, "add %llu: %llu keys after %llu, and %s",
             (unsigned long long)i, (unsigned long long)set->table.keys, (unsigned long long)keys,
             is_same ? "no byte changed" : "something changed");
    }
    return NULL;
}

static const char *adds_that_change_nothing_are_not_counted(const subject *variant) {
    tamis_set *const set = subject_make(variant, 19);
    MUST(set != NULL, "could not be made");
    uint8_t *const    before = malloc((size_t)set->table.body_bytes);
    const char *const why = before != NULL ? counted_as_changed(set, before) : "no memory";
    free(before);
    tamis_free(set);
    return why;
}

/* ------------------------------------------------------------------ growing */

/* A set that is in a step, or just after one, has all n keys, counts them, and has no more false
 * positives than allowed. */
static const char *check_moment(const subject *variant, const tamis_set *set, size_t n) {
    uint64_t const strangers = 2000, first = UINT64_C(1) << 41;
    const char    *why = has_range(set, 0, n);
    tamis_info     info;
    double         hits = 0;
    if (why != NULL) return why;
    MUST(tamis_validate(set, &why), "%s", why);
    MUST(tamis_inspect(set, &info) == TAMIS_OK, "inspect failed");
    MUST(info.facts.keys <= n && (double)info.facts.keys >= (double)n * (1 - variant->fpr) - 8,
         "%llu keys of %zu", (unsigned long long)info.facts.keys, n);
    for (uint64_t key = first; key < first + strangers; key++) hits += tamis_has_id(set, key);
    double const most = (double)strangers * variant->fpr;
    MUST(hits <= most + 4 * sqrt(most) + 1, "%.0f false positives, at most %.1f", hits, most);
    return read_alike(set);
}

static const char *grow_two_stages(const subject *variant, tamis_set *set) {
    const char *why = NULL;
    uint64_t    moved = 0;
    for (size_t n = 0; set->growth->stage < 2 && why == NULL; n++) {
        MUST(tamis_add_id(set, n) == TAMIS_OK, "key %zu was refused", n);
        if (set->growth->moved != moved) why = check_moment(variant, set, n + 1);
        moved = set->growth->moved;
    }
    return why;
}

static const char *every_moment_of_a_step_is_whole(const subject *variant) {
    tamis_set *const set = subject_make(variant, 23);
    MUST(set != NULL, "could not be made");
    const char *const why = set->growth != NULL ? grow_two_stages(variant, set) : NULL;
    tamis_free(set);
    return why;
}

const named_law set_laws[] = {
    { "no_false_negative_under_churn", no_false_negative_under_churn },
    { "emptying_restores_every_byte", emptying_restores_every_byte },
    { "refused_adds_change_nothing", refused_adds_change_nothing },
    { "refused_removes_change_nothing", refused_removes_change_nothing },
    { "removals_of_absent_keys_keep_the_table_valid",
      removals_of_absent_keys_keep_the_table_valid },
    { "floods_harm_no_other_key", floods_harm_no_other_key },
    { "batch_equals_single", batch_equals_single },
    { "byte_keys_of_any_length", byte_keys_of_any_length },
    { "same_seed_same_bytes", same_seed_same_bytes },
    { "same_bytes_on_every_isa", same_bytes_on_every_isa },
    { "copies_and_clears_are_exact", copies_and_clears_are_exact },
    { "merges_hold_both", merges_hold_both },
    { "merged_counts_are_sums", merged_counts_are_sums },
    { "subtractions_undo_merges", subtractions_undo_merges },
    { "repeatedly_merged_sets_can_be_read", repeatedly_merged_sets_can_be_read },
    { "conversions_answer_alike", conversions_answer_alike },
    { "saved_opened_mapped_alike", saved_opened_mapped_alike },
    { "every_allocation_may_fail", every_allocation_may_fail },
    { "error_rate_is_as_predicted", error_rate_is_as_predicted },
    { "counts_are_seldom_too_high", counts_are_seldom_too_high },
    { "keys_and_bytes_are_counted_exactly", keys_and_bytes_are_counted_exactly },
    { "adds_that_change_nothing_are_not_counted", adds_that_change_nothing_are_not_counted },
    { "every_moment_of_a_step_is_whole", every_moment_of_a_step_is_whole },
    { NULL, NULL },
};
