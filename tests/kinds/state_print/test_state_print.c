/* test_state_print.c - d-left tables of states against an oracle that predicts every byte.
 *
 * usage: test_state_print [STEPS]     operations of each history
 */
#include "state_print_oracle.h"
#include "table.h"

#define POOL 400 /* keys that come and go */

static uint64_t steps = 6000;

/* Tables so small that every limit is met. The geometry: tables, buckets, cells, print_bits,
 * value_bits, bucket_bytes, permuted, reinserts, side. */
typedef struct config {
    const char *name;
    uint64_t    g[STATE_PRINT_FIELDS];
    uint64_t    values, timer_bits, timeout, lives;
} config;

static const config configs[] = {
    { "as planned", { 4, 9, 6, 14, 3, 13, 1, 0, 16 }, 8, 0, 0, 0 },
    { "reinserted", { 4, 9, 6, 14, 3, 13, 1, 1, 16 }, 8, 0, 0, 0 },
    { "aged", { 3, 7, 5, 11, 5, 10, 1, 0, 9 }, 7, 2, 40, 0 },
    { "aged, reinserted", { 3, 7, 5, 11, 5, 10, 1, 1, 9 }, 8, 2, 40, 0 },
    { "apart", { 3, 11, 4, 5, 2, 4, 0, 0, 16 }, 3, 0, 0, 0 },
    { "apart, reinserted", { 3, 11, 4, 5, 2, 4, 0, 1, 16 }, 3, 0, 0, 0 },
    { "apart, aged", { 4, 8, 4, 5, 6, 6, 0, 0, 20 }, 5, 3, 70, 0 },
    { "apart, aged, reinserted", { 2, 12, 5, 5, 7, 8, 0, 1, 64 }, 12, 3, 10, 0x3211 },
    { "75 fingerprints", { 2, 5, 3, 4, 6, 4, 1, 0, 3 }, 4, 4, 33, 0x7351 },
    { "no side table", { 3, 6, 4, 9, 4, 7, 1, 0, 0 }, 4, 2, 9, 0 },
    { "no side table, apart", { 3, 6, 4, 6, 2, 5, 0, 1, 0 }, 2, 0, 0, 0 },
    { "all tables, all cells", { 8, 1, 64, 20, 12, 256, 1, 1, 64 }, 100, 5, 1000, 0 },
    { "all tables, apart", { 8, 3, 2, 7, 5, 3, 0, 0, 8 }, 3, 3, 50, 0 },
    { "the widest", { 2, 10, 3, 48, 37, 32, 1, 0, 5 }, UINT64_C(1) << 32, 5, 100, 0 },
    { "the widest, apart", { 2, 10, 3, 48, 38, 33, 0, 1, 5 }, UINT64_C(1) << 32, 5, 100, 0 },
    { "one cell in a byte", { 3, 11, 1, 6, 2, 1, 1, 0, 2 }, 4, 0, 0, 0 },
    { "padded", { 2, 20, 5, 9, 4, 40, 1, 0, 7 }, 4, 2, 6, 0 },
    { "one bucket each", { 2, 1, 8, 12, 3, 15, 0, 0, 12 }, 6, 0, 0, 0 },
};

/* ------------------------------------------------------------------ a table and its oracle */

typedef struct pair {
    const tamis_kind *kind;
    tamis_table       table;
    oracle           *oracle;
    uint8_t          *expected; /* a body to compare with */
    uint64_t          pool[POOL];
    dice              chance;
    uint64_t          full, unknown, aside, aged; /* how often that happened */
} pair;

/* Made in place, since the oracle stores the address of the table. */
static void pair_make(pair *p, const config *wanted, const char *isa, uint64_t seed) {
    *p = (pair){ .oracle = malloc(sizeof *p->oracle), .chance = { seed } };
    assert_non_null(p->oracle);
    p->kind = find_kind("state_print", isa);
    p->table = table_make(p->kind, wanted->g);
    assert_true(
        p->kind->states->holds_values(wanted->g, wanted->values, (unsigned)wanted->timer_bits));
    p->expected = malloc(p->table.body_bytes);
    assert_non_null(p->expected);
    p->table.values = wanted->values;
    p->table.sweep = (sweep){ .units = p->kind->states->units(wanted->g),
                              .timeout = wanted->timeout,
                              .timer_bits = wanted->timer_bits,
                              .lives = wanted->lives };
    p->kind->prepare(&p->table);
    oracle_start(p->oracle, &p->table);
    for (unsigned i = 0; i < POOL; i++) p->pool[i] = dice_roll(&p->chance);
}

static void pair_free(pair *p) {
    free(p->table.body);
    free(p->expected);
    free(p->oracle);
}

static void check_bytes(const pair *p) {
    oracle_write(p->oracle, p->expected, p->table.body_bytes);
    assert_memory_equal(p->table.body, p->expected, p->table.body_bytes);
    assert_int_equal(p->table.keys, p->oracle->keys);
    assert_int_equal(p->table.aged, p->oracle->aged);
}

static void check_key(const pair *p, uint64_t hash) {
    uint32_t           value = 77;
    uint64_t           expected = 77;
    tamis_status const status = p->kind->states->get(&p->table, hash, &value);
    assert_int_equal(status, oracle_get(p->oracle, hash, &expected));
    assert_int_equal(value, expected);
}

/* The facts about all keys together. */
static void check_counts(const pair *p) {
    const oracle *const o = p->oracle;
    uint64_t            counts[128] = { 0 }, expected[128] = { 0 }, unknown = 0;
    kind_census         census;
    p->kind->states->census(&p->table, &census);
    for (unsigned b = 0; b <= side_unit(o); b++) {
        for (unsigned k = 0; k < o->all[b].n; k++) {
            uint64_t const value = o->all[b].list[k].value;
            unknown += value == p->table.values;
            if (value < COUNT(expected) && value < p->table.values) expected[value]++;
        }
    }
    assert_int_equal(census.unknown_cells, unknown);
    assert_int_equal(census.side_keys, o->all[side_unit(o)].n);
    assert_int_equal(census.side_room, o->g[STATE_PRINT_SIDE]);
    if (p->table.values > COUNT(counts)) return;
    p->kind->states->tally(&p->table, counts);
    assert_memory_equal(counts, expected, sizeof counts);
}

static uint64_t some_value(pair *p) {
    uint64_t const few = min_u64(p->table.values, 3); /* so that some are the same */
    return dice_below(&p->chance, 3) != 0 ? dice_below(&p->chance, few)
                                          : dice_below(&p->chance, p->table.values);
}

/* ------------------------------------------------------------------ histories */

static void step_key(pair *p, uint64_t hash, bool is_up) {
    uint64_t const from = dice_below(&p->chance, 2) == 0 ? TAMIS_ANY_VALUE : some_value(p);
    uint64_t const to = some_value(p);
    tamis_status   status, expected;
    switch (dice_below(&p->chance, 6)) {
    case 0:
        status = p->kind->states->touch(&p->table, hash);
        expected = oracle_touch(p->oracle, hash);
        break;
    case 1:
        status = p->kind->states->move(&p->table, hash, from, (uint32_t)to);
        expected = oracle_move(p->oracle, hash, from, to);
        break;
    case 2:
    case 3:
        if (!is_up) {
            status = p->kind->states->drop(&p->table, hash, from);
            expected = oracle_drop(p->oracle, hash, from);
            break;
        } /* fall through */
    default:
        status = p->kind->states->put(&p->table, hash, (uint32_t)to);
        expected = oracle_put(p->oracle, hash, to);
    }
    assert_int_equal(status, expected);
    p->full += status == TAMIS_ERR_FULL;
    p->unknown += status == TAMIS_ERR_UNKNOWN;
    p->aside += p->oracle->all[side_unit(p->oracle)].n;
    check_key(p, hash);
    check_bytes(p);
}

/* Time passes, and the sweep does some of the work that is due. */
static void step_time(pair *p) {
    sweep *const   hand = &p->table.sweep;
    uint64_t const span = hand->timeout / 4 + 1;
    sweep_advance(hand, dice_below(&p->chance, 40) == 0 ? 3 * hand->timeout
                                                        : dice_below(&p->chance, span));
    for (uint64_t n = dice_below(&p->chance, 2 * hand->units); n > 0 && hand->done != hand->due;
         n--) {
        uint64_t   aged[128] = { 0 }, expected[128] = { 0 };
        bool const is_few = p->table.values <= COUNT(aged);
        oracle_sweep(p->oracle, (unsigned)hand->done, is_few ? expected : NULL);
        p->kind->states->sweep(&p->table, hand->done, is_few ? aged : NULL);
        sweep_step(hand);
        assert_memory_equal(aged, expected, sizeof aged);
    }
    p->aged = p->table.aged;
    check_bytes(p);
}

/* Mostly puts for a while, then mostly drops. */
static void history(pair *p, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        step_key(p, p->pool[dice_below(&p->chance, POOL)], i / 700 % 2 == 0);
        check_key(p, p->pool[dice_below(&p->chance, POOL)]); /* somebody else */
        if (p->table.sweep.timeout != 0 && i % 5 == 0) step_time(p);
        if (i % 50 != 0) continue;
        expect_valid_table(p->kind, &p->table);
        check_counts(p);
    }
}

/* Every status, every value and every byte, on every instruction set. */
static void statuses_values_and_bytes_match_the_oracle(void **state) {
    (void)state;
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t full = 0, unknown = 0, aside = 0, aged = 0;
        for (size_t i = 0; i < COUNT(configs); i++) {
            pair p;
            pair_make(&p, &configs[i], tamis_isa_name(isa), i + 1);
            history(&p, steps);
            bool const is_apart = configs[i].g[STATE_PRINT_PERMUTED] == 0;
            if (!is_apart && p.unknown != 0) fail_msg("%s: something unknown", configs[i].name);
            full += p.full != 0;
            unknown += p.unknown != 0;
            aside += p.aside != 0;
            aged += p.aged != 0;
            pair_free(&p);
        }
        print_message("# %s: %u tables were full, %u had unknown keys, %u side keys, %u aged\n",
                      tamis_isa_name(isa), (unsigned)full, (unsigned)unknown, (unsigned)aside,
                      (unsigned)aged);
        assert_true(full >= 8 && unknown >= 6 && aside >= 12 && aged >= 8);
    }
}

static bool is_zero(const pair *p) {
    uint64_t at = 0;
    while (at < p->table.body_bytes && p->table.body[at] == 0) at++;
    return at == p->table.body_bytes;
}

/* Nothing is left of a key that was dropped or has aged. */
static void emptied_tables_are_all_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(configs); i++) {
        pair p;
        pair_make(&p, &configs[i], NULL, i + 1);
        bool const is_aged = configs[i].timeout != 0;
        if (!is_aged && configs[i].g[STATE_PRINT_PERMUTED] == 0) {
            pair_free(&p);
            continue; /* what is unknown stays */
        }
        history(&p, steps / 4);
        for (unsigned k = 0; k < POOL; k++) {
            (void)!p.kind->states->drop(&p.table, p.pool[k], TAMIS_ANY_VALUE);
        }
        for (uint64_t k = 0; is_aged && k < 40 * p.table.sweep.units; k++) {
            p.kind->states->sweep(&p.table, k % p.table.sweep.units, NULL);
        }
        assert_int_equal(p.table.keys, 0);
        assert_true(is_zero(&p));
        pair_free(&p);
    }
}

/* ------------------------------------------------------------------ unknown keys */

/* Two keys: the second leaves its print in a bucket that the first one has, too, but its own
 * buckets do not have the print of the first. The first is in subtable 0, the second goes to
 * subtable 1. */
static const config apart = { "apart", { 2, 30, 4, 6, 3, 5, 0, 0, 2 }, 4, 0, 0, 0 };

typedef struct couple {
    uint64_t first, second, filler; /* filler: makes the second one go to subtable 1 */
} couple;

static couple find_couple(const oracle *o, dice *chance) {
    couple   c = { .first = dice_roll(chance) };
    uint64_t print, other, any;
    do c.second = dice_roll(chance);
    while (home_of(o, c.second, 1, &other) != home_of(o, c.first, 1, &print) || print != other ||
           home_of(o, c.second, 0, &any) == home_of(o, c.first, 0, &any));
    do c.filler = dice_roll(chance);
    while (home_of(o, c.filler, 0, &other) != home_of(o, c.second, 0, &any) || other == print ||
           home_of(o, c.filler, 1, &any) == home_of(o, c.second, 1, &any));
    return c;
}

static void expect_get(const pair *p, uint64_t hash, tamis_status status, uint32_t value) {
    uint32_t got = 77;
    assert_int_equal(p->kind->states->get(&p->table, hash, &got), status);
    assert_int_equal(got, status == TAMIS_OK ? value : 77);
}

static couple make_couple(pair *p) {
    pair_make(p, &apart, NULL, 5);
    couple const c = find_couple(p->oracle, &p->chance);
    assert_int_equal(p->kind->states->put(&p->table, c.first, 1), TAMIS_OK);
    assert_int_equal(p->kind->states->put(&p->table, c.filler, 0), TAMIS_OK);
    assert_int_equal(p->kind->states->put(&p->table, c.second, 2), TAMIS_OK);
    return c;
}

/* The first key is unknown. The second one finds only its own cell. */
static void a_print_in_two_buckets_is_unknown(void **state) {
    (void)state;
    pair         p;
    couple const c = make_couple(&p);
    expect_get(&p, c.first, TAMIS_ERR_UNKNOWN, 0);
    expect_get(&p, c.second, TAMIS_OK, 2);
    assert_int_equal(p.kind->states->drop(&p.table, c.first, TAMIS_ANY_VALUE), TAMIS_ERR_UNKNOWN);
    assert_int_equal(p.kind->states->drop(&p.table, c.second, TAMIS_ANY_VALUE), TAMIS_OK);
    expect_get(&p, c.first, TAMIS_OK, 1); /* and known again */
    pair_free(&p);
}

static void a_move_of_an_unknown_key_makes_both_unknown(void **state) {
    (void)state;
    pair         p;
    kind_census  census;
    couple const c = make_couple(&p);
    assert_int_equal(p.kind->states->touch(&p.table, c.first), TAMIS_ERR_UNKNOWN);
    expect_get(&p, c.second, TAMIS_OK, 2); /* a touch does not */
    assert_int_equal(p.kind->states->move(&p.table, c.first, 1, 3), TAMIS_ERR_UNKNOWN);
    expect_get(&p, c.first, TAMIS_ERR_UNKNOWN, 0);
    expect_get(&p, c.second, TAMIS_ERR_UNKNOWN, 0);
    expect_get(&p, c.filler, TAMIS_OK, 0);
    p.kind->states->census(&p.table, &census);
    assert_int_equal(census.unknown_cells, 2);
    assert_int_equal(p.kind->states->drop(&p.table, c.second, TAMIS_ANY_VALUE), TAMIS_ERR_UNKNOWN);
    assert_int_equal(p.table.keys, 3);
    expect_valid_table(p.kind, &p.table);
    pair_free(&p);
}

static void an_unknown_key_that_is_put_is_known_aside(void **state) {
    (void)state;
    pair         p;
    couple const c = make_couple(&p);
    assert_int_equal(p.kind->states->put(&p.table, c.first, 3), TAMIS_OK);
    expect_get(&p, c.first, TAMIS_OK, 3);
    expect_get(&p, c.second, TAMIS_OK, 2);
    assert_int_equal(p.kind->states->put(&p.table, c.first, 2), TAMIS_ERR_CONFLICT);
    assert_int_equal(p.kind->states->move(&p.table, c.first, 3, 0), TAMIS_OK);
    expect_get(&p, c.first, TAMIS_OK, 0);
    assert_int_equal(p.kind->states->drop(&p.table, c.first, 0), TAMIS_OK);
    expect_get(&p, c.first, TAMIS_ERR_UNKNOWN, 0); /* its cell stays */
    assert_int_equal(p.table.keys, 3);
    pair_free(&p);
}

/* If the side table is full, a put is refused and changes nothing. */
static void a_full_side_table_refuses(void **state) {
    (void)state;
    pair         p;
    couple const c = make_couple(&p);
    for (unsigned i = 0; i < 2; i++) { /* any two others that are unknown */
        uint64_t hash, print, own;
        (void)home_of(p.oracle, c.first, 0, &own);
        do hash = dice_roll(&p.chance);
        while (home_of(p.oracle, hash, 0, &print) != home_of(p.oracle, c.first, 0, &own) ||
               print != own ||
               home_of(p.oracle, hash, 1, &print) != home_of(p.oracle, c.first, 1, &own));
        assert_int_equal(p.kind->states->put(&p.table, hash, 1), TAMIS_OK);
        expect_get(&p, hash, TAMIS_OK, 1);
    }
    memcpy(p.expected, p.table.body, p.table.body_bytes);
    assert_int_equal(p.kind->states->put(&p.table, c.first, 1), TAMIS_ERR_FULL);
    assert_memory_equal(p.table.body, p.expected, p.table.body_bytes);
    expect_get(&p, c.first, TAMIS_ERR_UNKNOWN, 0);
    pair_free(&p);
}

/* ------------------------------------------------------------------ overflow */

/* Cells and the side table are filled to the last place, a put that is refused changes nothing, and
 * with reinserts a key comes back from the side table when it is moved and there is room. */
static void overflow_goes_aside_and_comes_back(void **state) {
    (void)state;
    static const config small[] = {
        { "in place", { 2, 3, 2, 20, 3, 6, 1, 0, 5 }, 8, 0, 0, 0 },
        { "reinserted", { 2, 3, 2, 20, 3, 6, 1, 1, 5 }, 8, 0, 0, 0 },
    };
    for (unsigned i = 0; i < 2; i++) {
        pair         p;
        uint64_t     hash = 0;
        kind_census  census;
        tamis_status status = TAMIS_OK;
        pair_make(&p, &small[i], NULL, 3);
        while (status == TAMIS_OK || p.table.keys < 17) { /* 12 cells and 5 */
            memcpy(p.expected, p.table.body, p.table.body_bytes);
            hash = dice_roll(&p.chance);
            status = p.kind->states->put(&p.table, hash, 1);
            assert_true(status == TAMIS_OK || status == TAMIS_ERR_FULL);
            if (status == TAMIS_OK) assert_int_equal(oracle_put(p.oracle, hash, 1), TAMIS_OK);
        }
        assert_memory_equal(p.table.body, p.expected, p.table.body_bytes);
        expect_get(&p, hash, TAMIS_ERR_ABSENT, 0);
        expect_valid_table(p.kind, &p.table);
        bucket const aside = p.oracle->all[side_unit(p.oracle)];
        for (uint64_t b = 0; b < side_unit(p.oracle); b++) { /* empty all buckets */
            uint64_t const most = p.oracle->all[b].n;
            for (uint64_t k = 0; k < most; k++) p.kind->states->sweep(&p.table, b, NULL);
        }
        assert_int_equal(p.table.keys, 5);
        for (unsigned k = 0; k < 5; k++) {
            expect_get(&p, aside.list[k].name, TAMIS_OK, 1);
            assert_int_equal(p.kind->states->move(&p.table, aside.list[k].name, 1, 7), TAMIS_OK);
            expect_get(&p, aside.list[k].name, TAMIS_OK, 7);
        }
        p.kind->states->census(&p.table, &census);
        assert_int_equal(census.side_keys, i == 0 ? 5 : 0);
        expect_valid_table(p.kind, &p.table);
        pair_free(&p);
    }
}

/* ------------------------------------------------------------------ merging */

/* A table with the same keys and another history. */
static void pair_make_other(pair *other, const pair *p, const config *wanted, uint64_t seed) {
    pair_make(other, wanted, NULL, seed);
    memcpy(other->pool, p->pool, sizeof other->pool);
    other->chance.state ^= mix64(seed);
}

/* Some puts, then some drops. Keys with equal fingerprints have equal values, or any. */
static void some_puts(pair *p, unsigned n, unsigned drops, bool is_same) {
    for (unsigned i = 0; i < n; i++) {
        uint64_t const hash = p->pool[dice_below(&p->chance, POOL)];
        uint64_t const value = is_same ? (hash >> 62) % p->table.values : some_value(p);
        (void)!p->kind->states->put(&p->table, hash, (uint32_t)value);
    }
    for (unsigned i = 0; i < drops; i++) {
        uint64_t const hash = p->pool[dice_below(&p->chance, POOL)];
        (void)!p->kind->states->drop(&p->table, hash, TAMIS_ANY_VALUE);
    }
}

/* What get says of all keys of the pool. */
typedef struct answers {
    tamis_status status[POOL];
    uint32_t     value[POOL];
} answers;

static void ask_all(const pair *p, answers *ret_answers) {
    for (unsigned i = 0; i < POOL; i++) {
        ret_answers->status[i] =
            p->kind->states->get(&p->table, p->pool[i], &ret_answers->value[i]);
    }
}

/* The answer that a merged table must have, given those of the two. */
static bool is_union(const answers *a, const answers *b, const answers *both, unsigned i,
                     bool is_permuted) {
    bool const     of_a = a->status[i] != TAMIS_ERR_ABSENT, of_b = b->status[i] != TAMIS_ERR_ABSENT;
    bool const     is_known = both->status[i] == TAMIS_OK;
    uint32_t const expected = of_a && a->status[i] == TAMIS_OK ? a->value[i] : b->value[i];
    if (!of_a && !of_b) return both->status[i] == TAMIS_ERR_ABSENT;
    if (is_permuted) return is_known && both->value[i] == expected;
    if (both->status[i] == TAMIS_ERR_ABSENT) return false;
    bool const is_sure = a->status[i] != TAMIS_ERR_UNKNOWN && b->status[i] != TAMIS_ERR_UNKNOWN;
    return !is_known || !is_sure || both->value[i] == expected;
}

static bool clash(const answers *a, const answers *b) {
    unsigned i = 0;
    while (i < POOL &&
           !(a->status[i] == TAMIS_OK && b->status[i] == TAMIS_OK && a->value[i] != b->value[i]))
        i++;
    return i < POOL;
}

typedef struct merges {
    unsigned done, full, conflicts, aside;
} merges;

static void merge_once(const config *wanted, uint64_t seed, bool is_same, merges *count) {
    bool const  is_permuted = wanted->g[STATE_PRINT_PERMUTED] != 0;
    unsigned    n = (unsigned)(wanted->g[STATE_PRINT_TABLES] * wanted->g[STATE_PRINT_BUCKETS] *
                            wanted->g[STATE_PRINT_CELLS]);
    pair        p, other;
    answers     a, b, both;
    kind_census census;
    pair_make(&p, wanted, NULL, seed);
    pair_make_other(&other, &p, wanted, seed + 1);
    unsigned const drops = n * (unsigned)(seed % 5);
    some_puts(&p, n, drops, is_same);
    some_puts(&other, n + n / 2, drops, is_same);
    ask_all(&p, &a);
    ask_all(&other, &b);
    other.kind->states->census(&other.table, &census);
    tamis_status const status = p.kind->states->merge(&p.table, &other.table);
    ask_all(&p, &both);
    if (status == TAMIS_OK) {
        expect_valid_table(p.kind, &p.table);
        assert_false(is_permuted && clash(&a, &b));
        for (unsigned i = 0; i < POOL; i++) {
            if (!is_union(&a, &b, &both, i, is_permuted)) fail_msg("%s: key %u", wanted->name, i);
        }
        count->done++;
        count->aside += census.side_keys != 0;
    }
    if (status == TAMIS_ERR_CONFLICT) assert_true(is_permuted && clash(&a, &b));
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_CONFLICT || status == TAMIS_ERR_FULL);
    count->conflicts += status == TAMIS_ERR_CONFLICT;
    count->full += status == TAMIS_ERR_FULL;
    pair_free(&p);
    pair_free(&other);
}

/* Where one of the tables had an answer, the merged one has the same answer or "don't know"; no key
 * is lost. A conflict is reported only if some key has two values. */
static void a_merged_table_knows_what_both_knew(void **state) {
    (void)state;
    static const config small[] = {
        { "permuted", { 3, 11, 4, 7, 3, 5, 1, 0, 16 }, 8, 0, 0, 0 },
        { "75 fingerprints", { 2, 5, 3, 4, 3, 3, 1, 0, 16 }, 6, 0, 0, 0 },
        { "apart", { 3, 11, 4, 5, 2, 4, 0, 0, 16 }, 3, 0, 0, 0 },
        { "apart, large", { 3, 40, 4, 5, 3, 4, 0, 0, 16 }, 7, 0, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(small); i++) {
        merges count = { 0 };
        for (uint64_t seed = 1; seed < 600; seed++) {
            merge_once(&small[i], seed, seed % 4 != 0, &count);
        }
        print_message("# %s: %u merged, %u of them with side tables, %u full, %u conflicts\n",
                      small[i].name, count.done, count.aside, count.full, count.conflicts);
        assert_true(count.done > 100 && count.aside > 30);
    }
}

/* A key of the side table and a cell that may belong to it, in the four ways in which they can be
 * merged. The two keys have the same fingerprint. */
static void keys_that_meet_in_a_merge_are_one_or_two(void **state) {
    (void)state;
    static const config wanted = { "tiny", { 2, 1, 1, 8, 3, 2, 1, 0, 4 }, 8, 0, 0, 0 };
    pair                a, b;
    for (unsigned round = 0; round < 6; round++) {
        pair_make(&a, &wanted, NULL, 1);
        pair_make_other(&b, &a, &wanted, 1);
        uint64_t const hash = UINT64_C(0x4000000000000000), twin = hash + 1;
        uint64_t const others[] = { UINT64_C(0x8000000000000000), UINT64_C(0xc000000000000000) };
        /* a: both buckets are full, so that the key is aside */
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(a.kind->states->put(&a.table, others[i], 0), TAMIS_OK);
        }
        assert_int_equal(a.kind->states->put(&a.table, hash, 1), TAMIS_OK);
        expect_get(&a, twin, TAMIS_ERR_ABSENT, 0);
        /* b: it is in a cell, or its twin is, with the same value or another */
        uint32_t const value = round % 2 == 0 ? 1 : 2;
        assert_int_equal(b.kind->states->put(&b.table, round < 2 ? hash : twin, value), TAMIS_OK);
        expect_get(&b, round < 2 ? twin : hash, TAMIS_OK, value); /* nobody can tell */
        if (round < 4) { /* the cell comes to the side table: no room for it in the buckets */
            assert_int_equal(a.kind->states->merge(&a.table, &b.table), TAMIS_ERR_FULL);
            assert_int_equal(a.kind->states->drop(&a.table, others[0], 0), TAMIS_OK);
            tamis_status const status = a.kind->states->merge(&a.table, &b.table);
            assert_int_equal(status, value == 1 ? TAMIS_OK : TAMIS_ERR_CONFLICT);
            if (status == TAMIS_OK) {
                kind_census census;
                a.kind->states->census(&a.table, &census);
                assert_int_equal(census.side_keys, 0);
                expect_get(&a, hash, TAMIS_OK, 1);
                expect_get(&a, twin, TAMIS_OK, 1);
                expect_valid_table(a.kind, &a.table);
            }
        } else { /* the side table comes to the cell */
            tamis_status const status = b.kind->states->merge(&b.table, &a.table);
            assert_int_equal(status, value == 1 ? TAMIS_ERR_FULL : TAMIS_ERR_CONFLICT);
        }
        pair_free(&a);
        pair_free(&b);
    }
}

/* ------------------------------------------------------------------ merging, and time */

typedef struct clocks {
    pair     table[2];
    uint64_t heard[POOL]; /* when a key was last put, or NEVER */
    uint64_t now;
} clocks;

#define NEVER UINT64_MAX

/* A tick of both tables, in which a key of each is touched. The sweep does all of its work except
 * for `left` units. */
static void tick_both(clocks *c, uint64_t left) {
    c->now++;
    for (unsigned i = 0; i < 2; i++) {
        pair *const  p = &c->table[i];
        sweep *const hand = &p->table.sweep;
        sweep_advance(hand, 1);
        for (; hand->due - hand->done > left; sweep_step(hand)) {
            p->kind->states->sweep(&p->table, hand->done, NULL);
        }
        uint64_t const which = dice_below(&p->chance, POOL);
        if (p->kind->states->put(&p->table, p->pool[which], 1) == TAMIS_OK)
            c->heard[which] = c->now;
    }
}

/* The first table is the merged one now. Keys that were touched within the timeout are there. When
 * none has been touched for that time and two passes, no key is left. */
static void check_ageing(clocks *c) {
    pair *const    p = &c->table[0];
    sweep *const   hand = &p->table.sweep;
    uint64_t const pass = hand->timeout / sweep_most(hand), merged = c->now;
    for (; c->now <= merged + hand->timeout + 2 * pass; c->now++) {
        answers all;
        ask_all(p, &all);
        for (unsigned k = 0; k < POOL; k++) {
            if (c->heard[k] == NEVER || c->now - c->heard[k] > hand->timeout) continue;
            if (all.status[k] == TAMIS_ERR_ABSENT)
                fail_msg("key %u went after %u", k, (unsigned)(c->now - c->heard[k]));
        }
        sweep_advance(hand, 1);
        for (; hand->done != hand->due; sweep_step(hand)) {
            p->kind->states->sweep(&p->table, hand->done, NULL);
        }
    }
    assert_int_equal(p->table.keys, 0);
}

static void merged_keys_do_not_age_before_their_time(void **state) {
    (void)state;
    static const config small[] = {
        { "permuted, 2 bits", { 3, 11, 8, 14, 5, 19, 1, 0, 16 }, 8, 2, 60, 0 },
        { "permuted, 4 bits", { 3, 11, 8, 14, 7, 21, 1, 0, 16 }, 8, 4, 70, 0 },
        { "apart, 3 bits", { 3, 11, 8, 14, 6, 20, 0, 0, 16 }, 7, 3, 60, 0 },
    };
    unsigned merged = 0;
    for (uint64_t seed = 1; seed < 100; seed++) {
        const config *const wanted = &small[seed % COUNT(small)];
        clocks              c = { .now = 0 };
        pair_make(&c.table[0], wanted, NULL, seed);
        pair_make_other(&c.table[1], &c.table[0], wanted, seed + 1);
        for (unsigned i = 0; i < POOL; i++) c.heard[i] = NEVER;
        uint64_t const ticks = 100 + seed, left = dice_below(&c.table[0].chance, 50);
        while (c.now < ticks) tick_both(&c, c.now < 80 ? 0 : left);
        if (c.table[0].kind->states->merge(&c.table[0].table, &c.table[1].table) == TAMIS_OK) {
            expect_valid_table(c.table[0].kind, &c.table[0].table);
            check_ageing(&c);
            merged++;
        }
        for (unsigned i = 0; i < 2; i++) pair_free(&c.table[i]);
    }
    print_message("# %u merged\n", merged);
    assert_true(merged > 60);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_values_and_bytes_match_the_oracle),
        cmocka_unit_test(emptied_tables_are_all_zero),
        cmocka_unit_test(a_print_in_two_buckets_is_unknown),
        cmocka_unit_test(a_move_of_an_unknown_key_makes_both_unknown),
        cmocka_unit_test(an_unknown_key_that_is_put_is_known_aside),
        cmocka_unit_test(a_full_side_table_refuses),
        cmocka_unit_test(overflow_goes_aside_and_comes_back),
        cmocka_unit_test(a_merged_table_knows_what_both_knew),
        cmocka_unit_test(keys_that_meet_in_a_merge_are_one_or_two),
        cmocka_unit_test(merged_keys_do_not_age_before_their_time),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("state_print", tests, NULL, NULL);
}
