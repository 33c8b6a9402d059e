/* both.c - see both.h. */
#include "both.h"
#include "survey.h"
#include "table.h"

/* ------------------------------------------------------------------ both */

both both_make(const tested *target, const uint64_t *geometry, const char *isa, uint64_t seed) {
    both b = { .o = oracle_make(geometry), .chance = { seed } };
    b.kind = find_kind(target->kind, isa);
    b.table = table_make(b.kind, geometry);
    assert_int_equal(b.table.body_bytes, oracle_look(b.o).body_bytes);
    for (unsigned i = 0; i < MAX_KEYS; i++) b.hash[i] = dice_roll(&b.chance);
    return b;
}

static void both_clear(both *b) {
    free(b->o);
    b->o = oracle_make(b->table.geometry);
    memset(b->table.body, 0, b->table.body_bytes);
    memset(b->copies, 0, sizeof b->copies);
    b->table.keys = b->table.saturated = 0;
}

void both_free(both *b) {
    free(b->table.body);
    free(b->o);
}

void both_add(both *b, size_t key) {
    oracle_add(b->o, b->hash[key]);
    assert_int_equal(b->kind->calls.add(&b->table, b->hash[key]), TAMIS_OK);
    b->copies[key]++;
}

/* The result of a removal; _SATURATED if all places of the key are stuck. */
static tamis_status foresee_removal(both *b, uint64_t hash) {
    bool const         is_saturated = oracle_count(b->o, hash) == TAMIS_COUNT_MANY;
    tamis_status const status = oracle_remove(b->o, hash);
    return is_saturated && status == TAMIS_OK ? TAMIS_ERR_SATURATED : status;
}

void both_remove(both *b, size_t key, bool is_fair) {
    while (is_fair && b->copies[key] == 0) key = (key + 1) % MAX_KEYS;
    tamis_status const status = foresee_removal(b, b->hash[key]);
    assert_int_equal(b->kind->calls.remove(&b->table, b->hash[key]), status);
    assert_true(!is_fair || status != TAMIS_ERR_ABSENT);
    b->refused += status == TAMIS_ERR_ABSENT;
    b->kept += status == TAMIS_ERR_SATURATED;
    b->copies[key] -= b->copies[key] != 0;
}

/* ------------------------------------------------------------------ checks */

void both_check_counts(const both *b) {
    oracle_facts const facts = oracle_look(b->o);
    assert_int_equal(b->table.keys, facts.keys);
    assert_int_equal(b->table.saturated, facts.saturated);
}

void both_check_bytes(const both *b) {
    uint8_t *const expected = calloc(1, b->table.body_bytes);
    assert_non_null(expected);
    oracle_bytes(b->o, expected);
    assert_memory_equal(b->table.body, expected, b->table.body_bytes);
    expect_valid_table(b->kind, &b->table);
    free(expected);
}

/* A chunk of keys gets the same answers as single calls, in kinds that have chunk functions. */
static void check_chunk(const both *b, const uint64_t *hash) {
    uint64_t counts[TAMIS_CHUNK], found = 0;
    if (b->kind->calls.has_chunk != NULL)
        found = b->kind->calls.has_chunk(&b->table, hash, TAMIS_CHUNK);
    if (b->kind->calls.count_chunk != NULL)
        b->kind->calls.count_chunk(&b->table, hash, TAMIS_CHUNK, counts);
    for (unsigned i = 0; i < TAMIS_CHUNK; i++) {
        if (b->kind->calls.has_chunk != NULL)
            assert_int_equal(found >> i & 1, oracle_has(b->o, hash[i]));
        if (b->kind->calls.count_chunk != NULL)
            assert_int_equal(counts[i], oracle_count(b->o, hash[i]));
    }
}

/* Both give the same answers, and these are right as long as only added keys were removed. */
static void check_keys(both *b, bool is_fair) {
    uint64_t hash[TAMIS_CHUNK];
    for (unsigned i = 0; i < TAMIS_CHUNK; i++) {
        size_t const key = dice_below(&b->chance, MAX_KEYS);
        hash[i] = i % 4 == 0 ? dice_roll(&b->chance) : b->hash[key];
        bool const     has = b->kind->calls.has(&b->table, hash[i]);
        uint64_t const count = b->kind->calls.count(&b->table, hash[i]);
        assert_int_equal(has, oracle_has(b->o, hash[i]));
        assert_int_equal(count, oracle_count(b->o, hash[i]));
        assert_true(has || count == 0);
        if (!is_fair || i % 4 == 0) continue;
        assert_true(has || b->copies[key] == 0);
        assert_true(count >= b->copies[key]);
    }
    check_chunk(b, hash);
}

/* ------------------------------------------------------------------ histories */

static bool can_remove(const both *b) {
    return (tamis_kind_abilities(b->kind, b->table.geometry) & TAMIS_CAN_REMOVE) != 0;
}

/* The load rises, then falls, with floods. A kind that cannot remove is cleared instead. */
static void history(both *b, const tested *target, uint64_t n, bool is_fair) {
    oracle_facts const facts = oracle_look(b->o);
    uint64_t const     round = n / 6 + 1, goal = facts.places * target->crowd / facts.hashes + 2;
    bool const         is_growing = !can_remove(b);
    uint64_t           there = 0;
    for (uint64_t i = 0; i < n; i++) {
        size_t const key = dice_below(&b->chance, MAX_KEYS);
        bool const   is_up = there < (i / round % 2 == 0 ? goal : goal / 8);
        bool const   is_add = is_up == (dice_below(&b->chance, 5) != 0) || there == 0;
        if (is_growing && there > 3 * goal) {
            both_clear(b);
            there = 0;
        }
        if (is_add || is_growing) {
            both_add(b, i / round >= target->calm && i % round < 12 ? 0 : key);
            there++;
        } else {
            both_remove(b, key, is_fair);
            there--;
        }
        both_check_counts(b);
        if (i % 64 == 0) check_keys(b, is_fair);
        if (i % 100 == 0) both_check_bytes(b);
    }
    both_check_bytes(b);
}

void check_histories(const tested *target, uint64_t steps) {
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t saturated = 0, refused = 0, kept = 0;
        for (size_t i = 0; i < 2 * target->n; i++) {
            const uint64_t *const g = &target->geometries[i / 2 * target->fields];
            both                  b = both_make(target, g, tamis_isa_name(isa), i + 1);
            history(&b, target, steps, i % 2 == 0);
            saturated += b.table.saturated != 0;
            refused += b.refused;
            kept += b.kept;
            both_free(&b);
        }
        assert_in_range(saturated, target->n / 2, 2 * target->n);
        assert_true(refused > steps / 10);
        assert_true(kept > steps / 10);
    }
}

/* ------------------------------------------------------------------ chunks */

static void check_removal(both *b, const uint64_t *hash, unsigned n) {
    uint64_t removed = 0, saturated = 0, kept = 1;
    for (unsigned j = 0; j < n; j++) {
        tamis_status const status = foresee_removal(b, hash[j]);
        removed |= (uint64_t)(status == TAMIS_OK) << j;
        saturated |= (uint64_t)(status == TAMIS_ERR_SATURATED) << j;
    }
    assert_int_equal(b->kind->calls.remove_chunk(&b->table, hash, n, &kept), removed);
    assert_int_equal(kept, saturated);
    b->kept += saturated != 0;
}

void check_chunks(const tested *target) {
    uint64_t kept = 0;
    for (size_t i = 0; i < target->n; i++) {
        both b = both_make(target, &target->geometries[i * target->fields], NULL, i);
        for (unsigned round = 0; round < 30; round++) {
            uint64_t       hash[TAMIS_CHUNK];
            unsigned const n = 1 + (unsigned)dice_below(&b.chance, TAMIS_CHUNK);
            bool const     is_add = round % 3 != 2 || !can_remove(&b);
            for (unsigned j = 0; j < n; j++) hash[j] = b.hash[dice_below(&b.chance, 30)];
            for (unsigned j = 0; j < n && is_add; j++) oracle_add(b.o, hash[j]);
            if (is_add)
                assert_int_equal(b.kind->calls.add_chunk(&b.table, hash, n), n);
            else
                check_removal(&b, hash, n);
            both_check_counts(&b);
            both_check_bytes(&b);
        }
        kept += b.kept;
        both_free(&b);
    }
    assert_true(kept > 0);
}

/* ------------------------------------------------------------------ merges */

static void check_merge(both *a, both *b) {
    oracle_facts const facts = oracle_look(a->o);
    uint64_t const     n = 1 + facts.places / facts.hashes;
    for (uint64_t k = 0; k < n; k++) both_add(a, dice_below(&a->chance, MAX_KEYS / 2));
    for (uint64_t k = 0; k < 2 * n; k++) both_add(b, dice_below(&b->chance, MAX_KEYS));
    assert_int_equal(a->kind->merge(&a->table, &b->table), TAMIS_OK);
    oracle_merge(a->o, b->o);
    both_check_counts(a);
    both_check_bytes(a);
    for (size_t k = 0; k < MAX_KEYS; k++) {
        uint64_t const copies = a->copies[k] + b->copies[k];
        assert_true(a->kind->calls.count(&a->table, a->hash[k]) >= copies);
        assert_true(copies == 0 || a->kind->calls.has(&a->table, a->hash[k]));
    }
}

void check_merges(const tested *target) {
    for (size_t i = 0; i < target->n; i++) {
        const uint64_t *const g = &target->geometries[i * target->fields];
        both                  a = both_make(target, g, NULL, 1), b = both_make(target, g, NULL, 1);
        check_merge(&a, &b);
        both_free(&a);
        both_free(&b);
    }
}

/* ------------------------------------------------------------------ the present rate */

void check_rates(const tested *target, size_t keys) {
    for (size_t i = 0; i < target->n; i++) {
        both b = both_make(target, &target->geometries[i * target->fields], NULL, i + 1);
        for (size_t key = 0; key < keys; key++) {
            double const rate = oracle_rate(b.o), said = survey_fpr(b.kind, &b.table);
            if (fabs(rate - said) > 1e-9) fail_msg("%zu, %zu keys: %g, not %g", i, key, said, rate);
            both_add(&b, key);
        }
        both_free(&b);
    }
}
