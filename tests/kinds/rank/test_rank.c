/* test_rank.c - rank-indexed tables against an oracle that predicts every answer.
 *
 * usage: test_rank [STEPS]     operations of each history
 */
#include "overload.h"
#include "rank_oracle.h"
#include "table.h"

static uint64_t steps = 7000;

/* All modes and layouts, with room for about as many keys as there are fingerprints, so that every
 * limit is reached: buckets, chains, remainder_bits, cells, cells2, cells3, extensions2,
 * extensions3, counter_bits, copies, value_bits, aligned. */
static const uint64_t geometries[][RANK_FIELDS] = {
    { 20, 16, 5, 14, 6, 10, 9, 4, 0, 1, 0, 0 },   /* a set */
    { 9, 20, 9, 24, 9, 0, 4, 0, 0, 1, 0, 1 },     /* a set by lines, two levels */
    { 20, 16, 4, 14, 6, 10, 9, 4, 2, 4, 0, 0 },   /* counting */
    { 11, 40, 3, 40, 12, 30, 6, 3, 2, 4, 0, 1 },  /* counting, by lines */
    { 13, 7, 6, 11, 5, 9, 7, 2, 1, 2, 0, 0 },     /* counting, saturates soon */
    { 20, 16, 6, 14, 6, 10, 9, 4, 0, 8, 0, 0 },   /* a multiset */
    { 1, 64, 5, 100, 56, 100, 1, 1, 0, 8, 0, 0 }, /* one bucket, all the cells there may be */
    { 30, 1, 7, 9, 5, 40, 20, 11, 3, 8, 0, 0 },   /* one long chain in each bucket */
    { 50, 64, 2, 60, 0, 0, 0, 0, 8, 3, 0, 0 },    /* one level, wide counters */
    { 20, 16, 4, 14, 6, 10, 9, 4, 13, 1, 0, 0 },  /* wide counters, one cell for a fingerprint */
    { 6, 33, 8, 30, 10, 20, 3, 2, 2, 4, 5, 1 },   /* with values beside */
};

/* The same with values of 1, 5 and 32 bits; the last beside counters. */
static const uint64_t maps[][RANK_FIELDS] = {
    { 20, 16, 6, 14, 6, 10, 9, 4, 0, 1, 1, 0 },  { 20, 16, 6, 14, 6, 10, 9, 4, 0, 1, 5, 0 },
    { 20, 16, 6, 14, 6, 10, 9, 4, 0, 1, 32, 0 }, { 9, 20, 9, 20, 9, 15, 4, 2, 0, 1, 32, 1 },
    { 9, 20, 9, 20, 9, 15, 4, 2, 0, 8, 5, 1 },   { 3, 2, 11, 20, 60, 0, 2, 0, 0, 1, 1, 0 },
    { 20, 16, 6, 14, 6, 10, 9, 4, 2, 4, 5, 0 },
};

#define N_GEOMETRIES COUNT(geometries)
#define N_MAPS COUNT(maps)

/* ------------------------------------------------------------------ a table and its oracle */

typedef struct pair {
    const tamis_kind *kind;
    tamis_table       table;
    rank_oracle       oracle;
    dice              chance;
    uint64_t          refused, saturated; /* how often that happened */
} pair;

static pair pair_make(const uint64_t *geometry, const char *isa, uint64_t seed) {
    pair p = { .oracle = oracle_make(geometry), .chance = { seed } };
    p.kind = find_kind("rank", isa);
    p.table = table_make(p.kind, geometry);
    assert_int_equal(p.kind->prints(geometry), p.oracle.prints);
    return p;
}

static void pair_free(pair *p) {
    free(p->table.body);
    oracle_free(&p->oracle);
}

typedef struct visits {
    const rank_oracle *oracle;
    uint64_t           next, n; /* the first fingerprint that was not visited yet */
} visits;

static bool check_visit(void *context, uint64_t print, uint64_t copies) {
    visits *const            seen = context;
    const rank_oracle *const o = seen->oracle;
    bool const               is_many = o->most > 1 && o->copies[print] == o->most;
    assert_true(print >= seen->next && print < o->prints); /* in increasing order, each once */
    for (; seen->next < print; seen->next++) assert_int_equal(o->copies[seen->next], 0);
    assert_int_equal(copies, is_many ? TAMIS_COUNT_MANY : o->copies[print]);
    seen->next = print + 1;
    seen->n++;
    return true;
}

/* All fingerprints and counts of the table are equal to those of the oracle. */
static void check_all(const pair *p) {
    visits      seen = { .oracle = &p->oracle };
    const char *why = "";
    assert_true(p->kind->each(&p->table, check_visit, &seen));
    for (; seen.next < p->oracle.prints; seen.next++) {
        assert_int_equal(p->oracle.copies[seen.next], 0);
    }
    if (!p->kind->validate(&p->table, &why)) fail_msg("%s", why);
    assert_int_equal(p->table.keys, p->oracle.keys);
    assert_int_equal(p->table.saturated, p->oracle.saturated);
}

static void check_key(const pair *p, uint64_t hash, uint64_t print) {
    assert_int_equal(p->kind->calls.has(&p->table, hash), p->oracle.copies[print] != 0);
    assert_int_equal(p->kind->calls.count(&p->table, hash), oracle_count(&p->oracle, print));
    assert_int_equal(p->table.keys, p->oracle.keys);
    assert_int_equal(p->table.saturated, p->oracle.saturated);
}

/* ------------------------------------------------------------------ adds and removals */

static void step_add(pair *p, uint64_t hash) {
    uint64_t const     print = oracle_print(&p->oracle, hash);
    tamis_status const status = p->kind->calls.add(&p->table, hash);
    assert_int_equal(status, oracle_add(&p->oracle, print));
    p->refused += status == TAMIS_ERR_FULL;
    p->saturated += oracle_count(&p->oracle, print) == TAMIS_COUNT_MANY;
    check_key(p, hash, print);
}

static void step_remove(pair *p, uint64_t hash) {
    uint64_t const print = oracle_print(&p->oracle, hash);
    assert_int_equal(p->kind->calls.remove(&p->table, hash), oracle_remove(&p->oracle, print));
    check_key(p, hash, print);
}

/* Any hash, or one whose fingerprint is in the table. */
static uint64_t pick(pair *p, bool is_present) {
    uint64_t print = dice_below(&p->chance, p->oracle.prints);
    if (!is_present) return dice_roll(&p->chance);
    print = oracle_next(&p->oracle, print);
    /* the middle of its share of all hashes */
    return print * (UINT64_MAX / p->oracle.prints) + UINT64_MAX / p->oracle.prints / 2;
}

/* Mostly adds for a while, then mostly removals. Some adds are of keys that are present. */
static void history(pair *p, uint64_t n) {
    bool const can_remove = p->oracle.most > 1;
    for (uint64_t i = 0; i < n; i++) {
        bool const is_up = i / 3000 % 2 == 0, towards = dice_below(&p->chance, 4) != 0;
        bool const is_copy = dice_below(&p->chance, 3) == 0;
        if (is_up == towards || !can_remove)
            step_add(p, pick(p, is_copy));
        else
            step_remove(p, pick(p, dice_below(&p->chance, 8) != 0));
        if (i % 500 == 0) check_all(p);
    }
    check_all(p);
}

/* Every status, every count and every fingerprint, through fillings and refusals. */
static void statuses_counts_and_fingerprints_match_the_oracle(void **state) {
    (void)state;
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t refused = 0, saturated = 0;
        for (size_t i = 0; i < N_GEOMETRIES; i++) {
            pair p = pair_make(geometries[i], tamis_isa_name(isa), i + 1);
            history(&p, steps);
            refused += p.refused;
            saturated += p.saturated;
            pair_free(&p);
        }
        assert_true(refused > steps / 10 && saturated > steps / 10);
    }
}

static void counts_are_exact_up_to_the_limit(void **state) {
    (void)state;
    for (size_t i = 0; i < N_GEOMETRIES; i++) {
        pair p = pair_make(geometries[i], NULL, 1);
        check_counts_to_the_limit(p.kind, &p.table, pick(&p, false), p.oracle.most);
        pair_free(&p);
    }
}

static void each_stops_when_it_is_told(void **state) {
    (void)state;
    pair     p = pair_make(geometries[2], NULL, 1);
    unsigned n = 0;
    assert_true(p.kind->each(&p.table, visit_three, &n));
    assert_int_equal(n, 0);
    history(&p, 1000);
    assert_false(p.kind->each(&p.table, visit_three, &n));
    assert_int_equal(n, 3);
    pair_free(&p);
}

/* ------------------------------------------------------------------ values */

static void check_value(const pair *p, uint64_t hash) {
    uint64_t const     print = oracle_print(&p->oracle, hash);
    uint32_t           value = 0xdeadbeef;
    tamis_status const status = p->kind->states->get(&p->table, hash, &value);
    bool const         is_there = p->oracle.copies[print] != 0;
    assert_int_equal(status, is_there ? TAMIS_OK : TAMIS_ERR_ABSENT);
    assert_int_equal(value, is_there ? p->oracle.value[print] : 0xdeadbeef);
    assert_int_equal(p->kind->calls.has(&p->table, hash), is_there);
}

/* A key that has another value is a conflict, and can be moved. */
static tamis_status put_or_move(pair *p, uint64_t hash, uint32_t value) {
    uint32_t           before = value;
    tamis_status const was = p->kind->states->get(&p->table, hash, &before);
    tamis_status const status = p->kind->states->put(&p->table, hash, value);
    if (was != TAMIS_OK || before == value) return status;
    assert_int_equal(status, TAMIS_ERR_CONFLICT);
    assert_int_equal(p->kind->states->move(&p->table, hash, value, value), TAMIS_ERR_CONFLICT);
    check_value(p, hash);
    return p->kind->states->move(&p->table, hash,
                                 dice_below(&p->chance, 2) ? before : TAMIS_ANY_VALUE, value);
}

static void step_put(pair *p, uint64_t hash) {
    unsigned const     bits = (unsigned)p->oracle.geometry[RANK_VALUE_BITS];
    uint32_t const     value = (uint32_t)(dice_roll(&p->chance) >> (64 - bits));
    tamis_status const status = put_or_move(p, hash, value);
    assert_int_equal(status, oracle_put(&p->oracle, oracle_print(&p->oracle, hash), value));
    p->refused += status == TAMIS_ERR_FULL;
    check_value(p, hash);
}

static void step_drop(pair *p, uint64_t hash) {
    tamis_status const status = p->kind->states->drop(&p->table, hash, TAMIS_ANY_VALUE);
    assert_int_equal(status, oracle_drop(&p->oracle, oracle_print(&p->oracle, hash)));
    check_value(p, hash);
}

static void live_as_map(pair *p, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        bool const is_up = i / 2000 % 2 == 0, towards = dice_below(&p->chance, 4) != 0;
        if (is_up == towards)
            step_put(p, pick(p, dice_below(&p->chance, 3) == 0));
        else
            step_drop(p, pick(p, dice_below(&p->chance, 8) != 0));
        check_value(p, pick(p, i % 2 == 0)); /* somebody else */
        if (i % 500 == 0) check_all(p);
    }
    check_all(p);
}

static void drop_all(pair *p) {
    while (p->oracle.keys != 0) step_drop(p, pick(p, true));
    for (uint64_t i = 0; i < p->table.body_bytes; i++) assert_int_equal(p->table.body[i], 0);
}

/* put, replace, get and drop, of present and absent keys, with and without room. */
static void values_are_those_that_were_put(void **state) {
    (void)state;
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t refused = 0;
        for (size_t i = 0; i < N_MAPS; i++) {
            pair p = pair_make(maps[i], tamis_isa_name(isa), i + 1);
            live_as_map(&p, steps / 2);
            refused += p.refused;
            drop_all(&p);
            pair_free(&p);
        }
        assert_true(refused > steps / 20);
    }
}

/* ------------------------------------------------------------------ merging */

/* The contents of both together. False: there is no room for them. */
static bool oracle_merge(const rank_oracle *a, const rank_oracle *b, rank_oracle *ret_sum) {
    *ret_sum = oracle_make(a->geometry);
    bool fits = true;
    for (uint64_t print = 0; print < a->prints; print++) {
        uint64_t const copies = min_u64(a->copies[print] + b->copies[print], a->most);
        for (uint64_t i = 0; i < copies; i++) fits &= oracle_add(ret_sum, print) == TAMIS_OK;
    }
    return fits;
}

/* True: there was room. */
static bool check_merge(pair *into, const pair *from) {
    tamis_table const before = into->table;
    uint8_t *const    bytes = malloc(before.body_bytes);
    rank_oracle       sum;
    bool const        fits = oracle_merge(&into->oracle, &from->oracle, &sum);
    assert_non_null(bytes);
    memcpy(bytes, before.body, before.body_bytes);
    tamis_status const status = into->kind->merge(&into->table, &from->table);
    assert_int_equal(status, fits ? TAMIS_OK : TAMIS_ERR_FULL);
    if (!fits) {
        assert_memory_equal(into->table.body, bytes, before.body_bytes);
        assert_int_equal(into->table.keys, before.keys);
        assert_int_equal(into->table.saturated, before.saturated);
    } else {
        oracle_free(&into->oracle);
        into->oracle = sum;
    }
    if (!fits) oracle_free(&sum);
    free(bytes);
    check_all(into);
    return fits;
}

/* Add this many keys; now and then one that both tables have, until it is saturated. */
static void fill_for_merge(pair *p, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        bool const     is_flood = i % 16 == 0;
        uint64_t const hash = is_flood ? mix64(i) : dice_roll(&p->chance);
        for (uint64_t copy = 0; copy < (is_flood ? p->oracle.most : 1); copy++) step_add(p, hash);
    }
}

/* Two tables that together have about as many keys as there is room for. */
static void merges_are_all_or_nothing_at_the_edge(void **state) {
    (void)state;
    unsigned fitted = 0, refused = 0;
    for (uint64_t round = 0; round < 60 + steps / 100; round++) {
        const uint64_t *const g = geometries[round % (N_GEOMETRIES - 1)];
        pair           a = pair_make(g, NULL, 2 * round), b = pair_make(g, NULL, 2 * round + 1);
        uint64_t const room =
            g[RANK_BUCKETS] * g[RANK_CELLS] + g[RANK_CELLS2] * g[RANK_EXTENSIONS2];
        uint64_t const total = room * (6 + dice_below(&a.chance, 7)) / 10;
        uint64_t const first = dice_below(&a.chance, total);
        fill_for_merge(&a, first);
        fill_for_merge(&b, total - first);
        bool const fits = check_merge(&a, &b);
        fitted += fits;
        refused += !fits;
        check_all(&b);
        pair_free(&a);
        pair_free(&b);
    }
    assert_true(fitted > 30 && refused > 30);
}

/* ------------------------------------------------------------------ through the front door */

static tamis_set *make(uint64_t capacity, unsigned abilities, tamis_preference prefer) {
    return make_set(&(subject){ .kind = "rank",
                                .capacity = capacity,
                                .fpr = 0.001,
                                .abilities = abilities,
                                .prefer = prefer },
                    4711);
}

static void a_million_adds_of_one_key_harm_no_other_key(void **state) {
    (void)state;
    unsigned const counted = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    check_flood(make(3000, counted, TAMIS_PREFER_SMALL));
    check_flood(make(3000, counted, TAMIS_PREFER_FAST));
    check_flood(make(1, counted, TAMIS_PREFER_SMALL));
    check_flood(make(3000, 0, TAMIS_PREFER_SMALL));
}

static void filling_to_150_percent_loses_no_key(void **state) {
    (void)state;
    check_exhaustion(make(20000, TAMIS_CAN_REMOVE, TAMIS_PREFER_SMALL), 1000);
    check_exhaustion(make(20000, TAMIS_CAN_REMOVE, TAMIS_PREFER_FAST), 1000);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_counts_and_fingerprints_match_the_oracle),
        cmocka_unit_test(counts_are_exact_up_to_the_limit),
        cmocka_unit_test(each_stops_when_it_is_told),
        cmocka_unit_test(values_are_those_that_were_put),
        cmocka_unit_test(merges_are_all_or_nothing_at_the_edge),
        cmocka_unit_test(a_million_adds_of_one_key_harm_no_other_key),
        cmocka_unit_test(filling_to_150_percent_loses_no_key),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
