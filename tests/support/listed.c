/* listed.c - see listed.h. */
#include "listed.h"

#include "by_hand.h"
#include "core/hash.h"

/* ------------------------------------------------------------------ both */

listed listed_make(const tested_table *target, const uint64_t *geometry, const char *isa,
                   uint64_t seed) {
    listed both = { .o = oracle_make(geometry), .chance = { seed } };
    both.kind = find_kind(target->kind, isa);
    both.table = table_make(both.kind, geometry);
    assert_int_equal(both.kind->prints(geometry), oracle_look(both.o).prints);
    return both;
}

void listed_free(listed *both) {
    free(both->table.body);
    oracle_free(both->o);
}

static uint64_t print_of(const listed *both, uint64_t hash) {
    return high_half(hash, oracle_look(both->o).prints);
}

static uint64_t pick(listed *both, bool is_present) {
    return oracle_pick(both->o, &both->chance, is_present);
}

/* The count that a table returns for a print. */
static uint64_t count_of(const oracle *o, uint64_t print) {
    uint64_t const copies = oracle_copies(o, print);
    return copies == oracle_look(o).most ? TAMIS_COUNT_MANY : copies;
}

typedef struct visits {
    const oracle *o;
    uint64_t      next; /* the first print that was not visited yet */
} visits;

/* In increasing order, each once. A print that can have only one copy is not stuck. */
static bool check_visit(void *context, uint64_t print, uint64_t copies) {
    visits *const  seen = context;
    uint64_t const most = oracle_look(seen->o).most;
    assert_int_equal(print, oracle_next(seen->o, seen->next));
    assert_int_equal(copies, most > 1 ? count_of(seen->o, print) : oracle_copies(seen->o, print));
    seen->next = print + 1;
    return true;
}

static void check_numbers(const listed *both) {
    oracle_facts const facts = oracle_look(both->o);
    assert_int_equal(both->table.keys, facts.keys);
    assert_int_equal(both->table.saturated, facts.saturated);
}

void listed_check(const listed *both) {
    visits seen = { .o = both->o };
    assert_true(both->kind->each(&both->table, check_visit, &seen));
    assert_int_equal(oracle_next(both->o, seen.next), NO_PRINT);
    expect_valid_table(both->kind, &both->table);
    check_numbers(both);
}

/* ------------------------------------------------------------------ adds and removals */

static void check_key(const listed *both, uint64_t hash) {
    uint64_t const print = print_of(both, hash);
    assert_int_equal(both->kind->calls.has(&both->table, hash), oracle_copies(both->o, print) != 0);
    assert_int_equal(both->kind->calls.count(&both->table, hash), count_of(both->o, print));
    check_numbers(both);
}

void listed_add(listed *both, uint64_t hash) {
    uint64_t const     print = print_of(both, hash);
    tamis_status const status = both->kind->calls.add(&both->table, hash);
    assert_int_equal(status, oracle_add(both->o, print));
    both->refused += status == TAMIS_ERR_FULL;
    both->saturated += count_of(both->o, print) == TAMIS_COUNT_MANY;
    check_key(both, hash);
}

static void listed_remove(listed *both, uint64_t hash) {
    assert_int_equal(both->kind->calls.remove(&both->table, hash),
                     oracle_remove(both->o, print_of(both, hash)));
    check_key(both, hash);
}

void listed_history(listed *both, const tested_table *target, uint64_t n) {
    bool const can_remove = oracle_look(both->o).most > 1;
    for (uint64_t i = 0; i < n; i++) {
        bool const is_up = i / target->turn % 2 == 0, towards = dice_below(&both->chance, 4) != 0;
        bool const is_copy = dice_below(&both->chance, target->copies_in) == 0;
        if (is_up == towards || !can_remove)
            listed_add(both, pick(both, is_copy));
        else
            listed_remove(both, pick(both, dice_below(&both->chance, 8) != 0));
        if (i % target->check_every == 0) listed_check(both);
    }
    listed_check(both);
}

void check_listed_histories(const tested_table *target, uint64_t steps) {
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t refused = 0, saturated = 0;
        for (size_t i = 0; i < target->n_geometries; i++) {
            listed both = listed_make(target, target->geometries + i * target->fields,
                                      tamis_isa_name(isa), i + 1);
            listed_history(&both, target, steps);
            if (target->full_in != 0 && both.refused < steps / target->full_in)
                fail_msg("geometry %zu was seldom full", i);
            refused += both.refused;
            saturated += both.saturated;
            listed_free(&both);
        }
        assert_true(refused > steps / 10 && saturated > steps / 10);
    }
}

void check_listed_limits(const tested_table *target) {
    for (size_t i = 0; i < target->n_geometries; i++) {
        listed both = listed_make(target, target->geometries + i * target->fields, NULL, 1);
        check_counts_to_the_limit(both.kind, &both.table, pick(&both, false),
                                  oracle_look(both.o).most);
        listed_free(&both);
    }
}

void check_listed_stops(const tested_table *target, const uint64_t *geometry, uint64_t filled) {
    listed   both = listed_make(target, geometry, NULL, 1);
    unsigned n = 0;
    assert_true(both.kind->each(&both.table, visit_three, &n));
    assert_int_equal(n, 0);
    listed_history(&both, target, filled);
    assert_false(both.kind->each(&both.table, visit_three, &n));
    assert_int_equal(n, 3);
    listed_free(&both);
}

/* ------------------------------------------------------------------ values */

static void check_value(const listed *both, uint64_t hash) {
    uint64_t const     print = print_of(both, hash);
    bool const         is_there = oracle_copies(both->o, print) != 0;
    uint32_t           value = 0xdeadbeef;
    tamis_status const status = both->kind->states->get(&both->table, hash, &value);
    assert_int_equal(status, is_there ? TAMIS_OK : TAMIS_ERR_ABSENT);
    assert_int_equal(value, is_there ? oracle_value(both->o, print) : 0xdeadbeef);
    assert_int_equal(both->kind->calls.has(&both->table, hash), is_there);
}

/* A key that has another value is a conflict, and can be moved. */
static tamis_status put_or_move(listed *both, uint64_t hash, uint32_t value) {
    const kind_states *const states = both->kind->states;
    uint32_t                 before = value;
    tamis_status const       was = states->get(&both->table, hash, &before);
    tamis_status const       status = states->put(&both->table, hash, value);
    if (was != TAMIS_OK || before == value) return status;
    assert_int_equal(status, TAMIS_ERR_CONFLICT);
    assert_int_equal(states->move(&both->table, hash, value, value), TAMIS_ERR_CONFLICT);
    check_value(both, hash);
    return states->move(&both->table, hash, dice_below(&both->chance, 2) ? before : TAMIS_ANY_VALUE,
                        value);
}

static void listed_put(listed *both, uint64_t hash) {
    unsigned const     bits = oracle_look(both->o).value_bits;
    uint32_t const     value = (uint32_t)(dice_roll(&both->chance) >> (64 - bits));
    tamis_status const status = put_or_move(both, hash, value);
    assert_int_equal(status, oracle_put(both->o, print_of(both, hash), value));
    both->refused += status == TAMIS_ERR_FULL;
    check_value(both, hash);
}

/* One more copy, which leaves the value alone. */
static void listed_copy(listed *both, uint64_t hash) {
    uint64_t const print = print_of(both, hash);
    if (oracle_copies(both->o, print) == 0) return;
    assert_int_equal(both->kind->calls.add(&both->table, hash), oracle_add(both->o, print));
    check_value(both, hash);
}

static void listed_drop(listed *both, uint64_t hash) {
    tamis_status const status = both->kind->states->drop(&both->table, hash, TAMIS_ANY_VALUE);
    assert_int_equal(status, oracle_drop(both->o, print_of(both, hash)));
    check_value(both, hash);
}

void listed_map_history(listed *both, const tested_table *target, uint64_t n) {
    bool const can_copy = oracle_look(both->o).can_copy;
    for (uint64_t i = 0; i < n; i++) {
        bool const is_up = i / target->map_turn % 2 == 0;
        bool const towards = dice_below(&both->chance, 4) != 0;
        if (is_up == towards)
            listed_put(both, pick(both, dice_below(&both->chance, target->map_copies_in) == 0));
        else
            listed_drop(both, pick(both, dice_below(&both->chance, 8) != 0));
        if (can_copy && i % 4 == 0) listed_copy(both, pick(both, true));
        check_value(both, pick(both, i % 2 == 0)); /* somebody else */
        if (i % target->check_every == 0) listed_check(both);
    }
    listed_check(both);
}

static void drop_all(listed *both) {
    while (both->table.keys != 0) listed_drop(both, pick(both, true));
    for (uint64_t i = 0; i < both->table.body_bytes; i++) assert_int_equal(both->table.body[i], 0);
}

void check_listed_maps(const tested_table *target, uint64_t steps) {
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t refused = 0;
        for (size_t i = 0; i < target->n_maps; i++) {
            listed both =
                listed_make(target, target->maps + i * target->fields, tamis_isa_name(isa), i + 1);
            listed_map_history(&both, target, steps / 2);
            refused += both.refused;
            drop_all(&both);
            listed_free(&both);
        }
        assert_true(refused > steps / 20);
    }
}

/* ------------------------------------------------------------------ merging */

void listed_fill_for_merge(listed *both, uint64_t n) {
    uint64_t const most = oracle_look(both->o).most;
    for (uint64_t i = 0; i < n; i++) {
        bool const     is_flood = i % 16 == 0;
        uint64_t const hash = is_flood ? mix64(i) : dice_roll(&both->chance);
        for (uint64_t copy = 0; copy < (is_flood ? most : 1); copy++) listed_add(both, hash);
    }
}

bool listed_merge(listed *into, const listed *from) {
    tamis_table const before = into->table;
    uint8_t *const    bytes = malloc(before.body_bytes);
    oracle *const     sum = oracle_merge(into->o, from->o);
    assert_non_null(bytes);
    memcpy(bytes, before.body, before.body_bytes);
    assert_int_equal(into->kind->merge(&into->table, &from->table),
                     sum != NULL ? TAMIS_OK : TAMIS_ERR_FULL);
    if (sum == NULL) {
        assert_memory_equal(into->table.body, bytes, before.body_bytes);
        assert_int_equal(into->table.keys, before.keys);
        assert_int_equal(into->table.saturated, before.saturated);
    } else {
        oracle_free(into->o);
        into->o = sum;
    }
    free(bytes);
    listed_check(into);
    return sum != NULL;
}
