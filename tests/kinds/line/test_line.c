/* test_line.c - tables of cache lines against an oracle that predicts every answer.
 *
 * usage: test_line [STEPS]     operations of each history
 *
 * A table stores nothing about a key but its fingerprint. So the oracle keeps a sorted list of
 * fingerprints with their copies and values, and how many entries each chain has. From that it
 * predicts every status, including refusals.
 */
#include "buffer.h"
#include "by_hand.h"
#include "kinds/line/size.h"
#include "overload.h"
#include "table.h"

#define MAX_BUCKETS 40
#define MAX_HELD 4000
#define MAX_TAIL 200 /* entries of a bucket beyond its line */

static uint64_t steps = 5000;

/* All modes, in tables that are so small that every limit is reached: buckets, remainder_bits,
 * counter_bits, copies, value_bits, attic. */
static const uint64_t geometries[][LINE_FIELDS] = {
    { 3, 8, 0, 8, 0, 16 },   /* a multiset */
    { 20, 8, 0, 8, 0, 25 },  /* on two shelves */
    { 2, 8, 0, 8, 0, 0 },    /* no attic */
    { 1, 40, 0, 8, 0, 250 }, /* one line, all the attic it can use */
    { 5, 12, 4, 1, 0, 10 },  /* counting */
    { 4, 16, 1, 1, 0, 20 },  /* counting, saturates soon */
    { 2, 8, 8, 1, 0, 3 },    /* wide counters */
    { 3, 10, 15, 1, 0, 9 },  /* wider ones */
    { 6, 9, 2, 1, 5, 12 },   /* values beside */
    { 3, 24, 3, 1, 8, 30 },  /* the same, wide */
    { 17, 20, 0, 1, 0, 9 },  /* a set, with wide remainders */
    { 3, 8, 0, 1, 0, 40 },   /* a set */
};

/* With values of 1, 8 and 32 bits, beside remainders of all widths. */
static const uint64_t maps[][LINE_FIELDS] = {
    { 3, 8, 0, 1, 1, 16 },   { 3, 8, 0, 1, 8, 16 },  { 3, 8, 0, 1, 32, 16 },
    { 2, 12, 0, 1, 1, 9 },   { 4, 24, 1, 1, 8, 20 }, { 18, 32, 0, 1, 32, 9 },
    { 1, 16, 0, 1, 8, 200 }, { 3, 11, 2, 1, 5, 12 },
};

/* ------------------------------------------------------------------ the oracle */

typedef struct holding {
    uint64_t print;
    uint32_t copies, value;
} holding;

typedef struct line_oracle {
    uint64_t g[LINE_FIELDS];
    uint64_t prints, most, keys, saturated;
    size_t   n;
    holding  held[MAX_HELD]; /* by print */
    unsigned size[MAX_BUCKETS][LINE_CHAINS], tail[MAX_BUCKETS];
} line_oracle;

static uint64_t oracle_print(const line_oracle *o, uint64_t hash) {
    return high_half(hash, o->prints);
}

/* The first holding whose print is not smaller. */
static size_t oracle_find(const line_oracle *o, uint64_t print) {
    size_t from = 0, to = o->n;
    while (from < to) {
        size_t const middle = (from + to) / 2;
        if (o->held[middle].print < print)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static holding *oracle_holding(line_oracle *o, uint64_t print) {
    size_t const i = oracle_find(o, print);
    return i < o->n && o->held[i].print == print ? &o->held[i] : NULL;
}

static uint64_t oracle_copies(line_oracle *o, uint64_t print) {
    const holding *const h = oracle_holding(o, print);
    return h == NULL ? 0 : h->copies;
}

static uint64_t oracle_count(line_oracle *o, uint64_t print) {
    uint64_t const copies = oracle_copies(o, print);
    return copies == o->most ? TAMIS_COUNT_MANY : copies;
}

/* How many entries are not in the line. The line has the first whole chains that fit into its
 * slots. */
static unsigned tail_of(const unsigned *size) {
    unsigned kept = 0, total = 0, chain = 0;
    for (unsigned i = 0; i < LINE_CHAINS; i++) total += size[i];
    for (; chain < LINE_CHAINS && kept + size[chain] <= LINE_SLOTS; chain++) kept += size[chain];
    return total - kept;
}

static bool oracle_fits(const line_oracle *o) {
    uint64_t sent = 0, shelf = 0;
    for (uint64_t bucket = 0; bucket < o->g[LINE_BUCKETS]; bucket++) {
        if (o->tail[bucket] > MAX_TAIL) return false;
        if (bucket % LINE_GROUP == 0) shelf = 0;
        shelf += o->tail[bucket];
        bool const is_end =
            bucket % LINE_GROUP == LINE_GROUP - 1 || bucket + 1 == o->g[LINE_BUCKETS];
        if (is_end && shelf > LINE_SHELF) sent += shelf - LINE_SHELF;
    }
    return sent <= o->g[LINE_ATTIC];
}

/* Entries of a print's chain, more or less. */
static bool oracle_resize(line_oracle *o, uint64_t print, unsigned more, unsigned less) {
    uint64_t const chain = print >> o->g[LINE_REMAINDER_BITS], bucket = chain / LINE_CHAINS;
    unsigned      *size = &o->size[bucket][chain % LINE_CHAINS];
    *size += more - less;
    o->tail[bucket] = tail_of(o->size[bucket]);
    if (oracle_fits(o)) return true;
    *size -= more - less;
    o->tail[bucket] = tail_of(o->size[bucket]);
    return false;
}

static void oracle_insert(line_oracle *o, uint64_t print, uint32_t value) {
    size_t const i = oracle_find(o, print);
    assert_true(o->n < MAX_HELD);
    memmove(&o->held[i + 1], &o->held[i], (o->n++ - i) * sizeof o->held[0]);
    o->held[i] = (holding){ print, 1, value };
}

static void oracle_delete(line_oracle *o, uint64_t print) {
    size_t const i = oracle_find(o, print);
    memmove(&o->held[i], &o->held[i + 1], (--o->n - i) * sizeof o->held[0]);
}

static tamis_status oracle_add(line_oracle *o, uint64_t print) {
    holding *const h = oracle_holding(o, print);
    bool const     needs_entry = h == NULL || o->g[LINE_COUNTER_BITS] == 0;
    if (h != NULL && h->copies == o->most) return TAMIS_OK;
    if (needs_entry && !oracle_resize(o, print, 1, 0)) return TAMIS_ERR_FULL;
    if (h == NULL)
        oracle_insert(o, print, 0);
    else
        h->copies++;
    o->keys++;
    o->saturated += o->most > 1 && oracle_copies(o, print) == o->most;
    return TAMIS_OK;
}

static tamis_status oracle_remove(line_oracle *o, uint64_t print) {
    holding *const h = oracle_holding(o, print);
    if (h == NULL) return TAMIS_ERR_ABSENT;
    if (h->copies == o->most) return TAMIS_ERR_SATURATED;
    bool const is_last = h->copies == 1;
    if (is_last || o->g[LINE_COUNTER_BITS] == 0) (void)oracle_resize(o, print, 0, 1);
    h->copies--;
    o->keys--;
    if (is_last) oracle_delete(o, print);
    return TAMIS_OK;
}

static tamis_status oracle_put(line_oracle *o, uint64_t print, uint32_t value) {
    holding *const h = oracle_holding(o, print);
    if (h == NULL) {
        if (!oracle_resize(o, print, 1, 0)) return TAMIS_ERR_FULL;
        oracle_insert(o, print, value);
        o->keys++;
        return TAMIS_OK;
    }
    h->value = value;
    return TAMIS_OK;
}

/* With all its copies. */
static tamis_status oracle_drop(line_oracle *o, uint64_t print) {
    holding *const h = oracle_holding(o, print);
    if (h == NULL) return TAMIS_ERR_ABSENT;
    (void)oracle_resize(o, print, 0, o->g[LINE_COUNTER_BITS] == 0 ? h->copies : 1);
    o->keys -= h->copies;
    o->saturated -= o->most > 1 && h->copies == o->most;
    oracle_delete(o, print);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ a table and its oracle */

typedef struct pair {
    const tamis_kind *kind;
    tamis_table       table;
    line_oracle      *oracle;
    dice              chance;
    uint64_t          refused, saturated; /* how often that happened */
} pair;

static pair pair_make(const uint64_t *geometry, const char *isa, uint64_t seed) {
    pair p = { .oracle = calloc(1, sizeof *p.oracle), .chance = { seed } };
    assert_non_null(p.oracle);
    p.kind = find_kind("line", isa);
    p.table = table_make(p.kind, geometry);
    memcpy(p.oracle->g, geometry, sizeof p.oracle->g);
    p.oracle->prints = (geometry[LINE_BUCKETS] * 62) << geometry[LINE_REMAINDER_BITS];
    p.oracle->most = geometry[LINE_COPIES] << geometry[LINE_COUNTER_BITS];
    assert_int_equal(p.kind->prints(geometry), p.oracle->prints);
    return p;
}

static void pair_free(pair *p) {
    free(p->table.body);
    free(p->oracle);
}

typedef struct visits {
    const line_oracle *oracle;
    size_t             n;
} visits;

static bool check_visit(void *context, uint64_t print, uint64_t copies) {
    visits *const            seen = context;
    const line_oracle *const o = seen->oracle;
    assert_true(seen->n < o->n);
    const holding *const h = &o->held[seen->n++]; /* in increasing order, each once */
    assert_int_equal(print, h->print);
    assert_int_equal(copies, o->most > 1 && h->copies == o->most ? TAMIS_COUNT_MANY : h->copies);
    return true;
}

/* All fingerprints and counts of the table are equal to those of the oracle. */
static void check_all(const pair *p) {
    visits      seen = { .oracle = p->oracle };
    const char *why = "";
    assert_true(p->kind->each(&p->table, check_visit, &seen));
    assert_int_equal(seen.n, p->oracle->n);
    if (!p->kind->validate(&p->table, &why)) fail_msg("%s", why);
    assert_int_equal(p->table.keys, p->oracle->keys);
    assert_int_equal(p->table.saturated, p->oracle->saturated);
}

static void check_key(const pair *p, uint64_t hash) {
    uint64_t const print = oracle_print(p->oracle, hash);
    assert_int_equal(p->kind->calls.has(&p->table, hash), oracle_copies(p->oracle, print) != 0);
    assert_int_equal(p->kind->calls.count(&p->table, hash), oracle_count(p->oracle, print));
    assert_int_equal(p->table.keys, p->oracle->keys);
    assert_int_equal(p->table.saturated, p->oracle->saturated);
}

/* Any hash, or one whose fingerprint is in the table. Every second is in one chain. */
static uint64_t pick(pair *p, bool is_present) {
    uint64_t const any = dice_roll(&p->chance);
    if (is_present && p->oracle->n != 0) {
        const holding *const h = &p->oracle->held[dice_below(&p->chance, p->oracle->n)];
        return fastrange_inverse(h->print, p->oracle->prints);
    }
    uint64_t const chains = p->oracle->g[LINE_BUCKETS] * LINE_CHAINS;
    return any % 4 != 0 ? any : any / chains + UINT64_MAX / chains * (dice_roll(&p->chance) % 3);
}

/* ------------------------------------------------------------------ adds and removals */

static void step_add(pair *p, uint64_t hash) {
    uint64_t const     print = oracle_print(p->oracle, hash);
    tamis_status const status = p->kind->calls.add(&p->table, hash);
    assert_int_equal(status, oracle_add(p->oracle, print));
    p->refused += status == TAMIS_ERR_FULL;
    p->saturated += oracle_count(p->oracle, print) == TAMIS_COUNT_MANY;
    check_key(p, hash);
}

static void step_remove(pair *p, uint64_t hash) {
    uint64_t const print = oracle_print(p->oracle, hash);
    assert_int_equal(p->kind->calls.remove(&p->table, hash), oracle_remove(p->oracle, print));
    check_key(p, hash);
}

/* Mostly adds for a while, then mostly removals. Some adds are of keys that are present. */
static void history(pair *p, uint64_t n) {
    bool const can_remove = p->oracle->most > 1;
    for (uint64_t i = 0; i < n; i++) {
        bool const is_up = i / 1500 % 2 == 0, towards = dice_below(&p->chance, 4) != 0;
        bool const is_copy = dice_below(&p->chance, 5) == 0;
        if (is_up == towards || !can_remove)
            step_add(p, pick(p, is_copy));
        else
            step_remove(p, pick(p, dice_below(&p->chance, 8) != 0));
        if (i % 250 == 0) check_all(p);
    }
    check_all(p);
}

/* Every status, every count and every fingerprint, through fillings and refusals. */
static void statuses_counts_and_fingerprints_match_the_oracle(void **state) {
    (void)state;
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t saturated = 0;
        for (size_t i = 0; i < COUNT(geometries); i++) {
            pair p = pair_make(geometries[i], tamis_isa_name(isa), i + 1);
            history(&p, steps);
            if (p.refused < steps / 50) fail_msg("geometry %zu was seldom full", i);
            saturated += p.saturated;
            pair_free(&p);
        }
        assert_true(saturated > steps / 10);
    }
}

static void counts_are_exact_up_to_the_limit(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        pair p = pair_make(geometries[i], NULL, 1);
        check_counts_to_the_limit(p.kind, &p.table, pick(&p, false), p.oracle->most);
        pair_free(&p);
    }
}

static void each_stops_when_it_is_told(void **state) {
    (void)state;
    pair     p = pair_make(geometries[0], NULL, 1);
    unsigned n = 0;
    assert_true(p.kind->each(&p.table, visit_three, &n));
    assert_int_equal(n, 0);
    history(&p, 200);
    assert_false(p.kind->each(&p.table, visit_three, &n));
    assert_int_equal(n, 3);
    pair_free(&p);
}

/* ------------------------------------------------------------------ no history shows */

static void shuffle(uint64_t *list, size_t n, dice *chance) {
    for (size_t i = n; i > 1; i--) {
        size_t const   k = dice_below(chance, i);
        uint64_t const one = list[k];
        list[k] = list[i - 1];
        list[i - 1] = one;
    }
}

/* Add keys, with floods among them; returns those that were added. */
static size_t fill(pair *p, uint64_t *ret_taken, size_t most) {
    size_t n = 0;
    for (uint64_t i = 0; i < most && n + 9 <= most; i++) {
        uint64_t const hash = pick(p, i % 8 == 0);
        unsigned const copies = i % 40 == 39 && p->oracle->most < 20 ? 9 : 1;
        for (unsigned k = 0; k < copies; k++) {
            if (p->kind->calls.add(&p->table, hash) == TAMIS_OK) ret_taken[n++] = hash;
        }
    }
    return n;
}

static void remove_strangers(pair *p, uint64_t *strangers, size_t *n) {
    shuffle(strangers, *n, &p->chance);
    while (*n != 0) {
        assert_int_equal(p->kind->calls.remove(&p->table, strangers[--*n]), TAMIS_OK);
    }
}

/* The same adds, with strangers among them that are removed again. If one finds no room, all
 * strangers are removed. */
static void live_otherwise(pair *p, const tamis_table *goal, const uint64_t *taken, size_t n) {
    uint64_t strangers[64];
    size_t   n_strangers = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t const stranger = pick(p, false);
        bool const     is_new =
            !p->kind->calls.has(goal, stranger) && !p->kind->calls.has(&p->table, stranger);
        bool const comes = p->oracle->most > 1 && is_new && n_strangers < 64;
        if (comes && p->kind->calls.add(&p->table, stranger) == TAMIS_OK) {
            strangers[n_strangers++] = stranger;
        }
        if (p->kind->calls.add(&p->table, taken[i]) == TAMIS_OK) continue;
        remove_strangers(p, strangers, &n_strangers);
        assert_int_equal(p->kind->calls.add(&p->table, taken[i]), TAMIS_OK);
    }
    remove_strangers(p, strangers, &n_strangers);
}

static void check_history(const uint64_t *geometry, uint64_t seed, size_t adds) {
    pair            a = pair_make(geometry, NULL, seed), b = pair_make(geometry, NULL, ~seed);
    uint64_t *const taken = calloc(adds, sizeof *taken);
    assert_non_null(taken);
    size_t const n = fill(&a, taken, adds);
    shuffle(taken, n, &a.chance);
    live_otherwise(&b, &a.table, taken, n);
    assert_memory_equal(a.table.body, b.table.body, a.table.body_bytes);
    assert_int_equal(a.table.keys, b.table.keys);
    assert_int_equal(a.table.saturated, b.table.saturated);
    free(taken);
    pair_free(&a);
    pair_free(&b);
}

/* Half full, just full, and overfull. */
static void bytes_tell_what_is_held_and_no_history(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 4 + steps / 1000; seed++) {
        for (size_t i = 0; i < COUNT(geometries); i++) {
            uint64_t const slots = geometries[i][LINE_BUCKETS] * LINE_SLOTS;
            for (uint64_t half = 1; half <= 4; half++) {
                check_history(geometries[i], seed, slots * half / 2 + 20);
            }
        }
    }
}

/* ------------------------------------------------------------------ values */

static void check_value(const pair *p, uint64_t hash) {
    const holding *const h = oracle_holding(p->oracle, oracle_print(p->oracle, hash));
    uint32_t             value = 0xdeadbeef;
    tamis_status const   status = p->kind->states->get(&p->table, hash, &value);
    assert_int_equal(status, h != NULL ? TAMIS_OK : TAMIS_ERR_ABSENT);
    assert_int_equal(value, h != NULL ? h->value : 0xdeadbeef);
    assert_int_equal(p->kind->calls.has(&p->table, hash), h != NULL);
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
    unsigned const     bits = (unsigned)p->oracle->g[LINE_VALUE_BITS];
    uint32_t const     value = (uint32_t)(dice_roll(&p->chance) >> (64 - bits));
    tamis_status const status = put_or_move(p, hash, value);
    assert_int_equal(status, oracle_put(p->oracle, oracle_print(p->oracle, hash), value));
    p->refused += status == TAMIS_ERR_FULL;
    check_value(p, hash);
}

/* One more copy, which leaves the value alone. */
static void step_copy(pair *p, uint64_t hash) {
    uint64_t const print = oracle_print(p->oracle, hash);
    if (oracle_holding(p->oracle, print) == NULL) return;
    assert_int_equal(p->kind->calls.add(&p->table, hash), oracle_add(p->oracle, print));
    check_value(p, hash);
}

static void step_drop(pair *p, uint64_t hash) {
    tamis_status const status = p->kind->states->drop(&p->table, hash, TAMIS_ANY_VALUE);
    assert_int_equal(status, oracle_drop(p->oracle, oracle_print(p->oracle, hash)));
    check_value(p, hash);
}

static void live_as_map(pair *p, uint64_t n) {
    bool const can_copy = p->oracle->g[LINE_COUNTER_BITS] != 0;
    for (uint64_t i = 0; i < n; i++) {
        bool const is_up = i / 800 % 2 == 0, towards = dice_below(&p->chance, 4) != 0;
        if (is_up == towards)
            step_put(p, pick(p, dice_below(&p->chance, 4) == 0));
        else
            step_drop(p, pick(p, dice_below(&p->chance, 8) != 0));
        if (can_copy && i % 4 == 0) step_copy(p, pick(p, true));
        check_value(p, pick(p, i % 2 == 0)); /* somebody else */
        if (i % 250 == 0) check_all(p);
    }
    check_all(p);
}

static void drop_all(pair *p) {
    while (p->oracle->keys != 0) step_drop(p, pick(p, true));
    for (uint64_t i = 0; i < p->table.body_bytes; i++) assert_int_equal(p->table.body[i], 0);
}

/* put, replace, get and drop, of present and absent keys, with and without room. */
static void values_are_those_that_were_put(void **state) {
    (void)state;
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t refused = 0;
        for (size_t i = 0; i < COUNT(maps); i++) {
            pair p = pair_make(maps[i], tamis_isa_name(isa), i + 1);
            live_as_map(&p, steps / 2);
            refused += p.refused;
            drop_all(&p);
            pair_free(&p);
        }
        assert_true(refused > steps / 20);
    }
}

/* Two maps with the same keys and values are the same bytes. */
static void bytes_of_a_map_tell_no_history(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(maps); i++) {
        pair a = pair_make(maps[i], NULL, 7 * i), b = pair_make(maps[i], NULL, 5 * i + 1);
        live_as_map(&a, 900);
        for (size_t k = a.oracle->n; k-- > 0;) { /* backwards, with another value first */
            uint64_t const hash = fastrange_inverse(a.oracle->held[k].print, a.oracle->prints);
            assert_int_equal(b.kind->states->put(&b.table, hash, k & 1), TAMIS_OK);
        }
        for (size_t k = 0; k < a.oracle->n; k++) {
            uint64_t const hash = fastrange_inverse(a.oracle->held[k].print, a.oracle->prints);
            uint32_t const value = a.oracle->held[k].value;
            assert_int_equal(b.kind->states->move(&b.table, hash, k & 1, value), TAMIS_OK);
            for (uint32_t copy = 1; copy < a.oracle->held[k].copies; copy++) {
                assert_int_equal(b.kind->calls.add(&b.table, hash), TAMIS_OK);
            }
        }
        assert_memory_equal(a.table.body, b.table.body, a.table.body_bytes);
        pair_free(&a);
        pair_free(&b);
    }
}

/* ------------------------------------------------------------------ merging */

/* The contents of both together. False: there is no room for them. */
static bool oracle_merge(const line_oracle *a, const line_oracle *b, line_oracle *ret_sum) {
    *ret_sum = *a;
    for (size_t i = 0; i < b->n; i++) {
        for (uint32_t copy = 0; copy < b->held[i].copies; copy++) {
            if (oracle_add(ret_sum, b->held[i].print) != TAMIS_OK) return false;
        }
    }
    return true;
}

/* True: there was room. */
static bool check_merge(pair *into, const pair *from) {
    tamis_table const  before = into->table;
    uint8_t *const     bytes = malloc(before.body_bytes);
    line_oracle *const sum = malloc(sizeof *sum);
    assert_true(bytes != NULL && sum != NULL);
    bool const fits = oracle_merge(into->oracle, from->oracle, sum);
    memcpy(bytes, before.body, before.body_bytes);
    assert_int_equal(into->kind->merge(&into->table, &from->table),
                     fits ? TAMIS_OK : TAMIS_ERR_FULL);
    if (!fits) {
        assert_memory_equal(into->table.body, bytes, before.body_bytes);
        assert_int_equal(into->table.keys, before.keys);
        assert_int_equal(into->table.saturated, before.saturated);
    } else {
        *into->oracle = *sum;
    }
    free(sum);
    free(bytes);
    check_all(into);
    return fits;
}

/* Add this many keys; now and then one that both tables have, until it is saturated. */
static void fill_for_merge(pair *p, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        bool const     is_flood = i % 16 == 0;
        uint64_t const hash = is_flood ? mix64(i) : dice_roll(&p->chance);
        for (uint64_t copy = 0; copy < (is_flood ? p->oracle->most : 1); copy++) step_add(p, hash);
    }
}

/* Two tables that together have about as many keys as there is room for. */
static void merges_are_all_or_nothing_at_the_edge(void **state) {
    (void)state;
    unsigned fitted = 0, refused = 0;
    for (uint64_t round = 0; round < 100 + steps / 50; round++) {
        const uint64_t *const g = geometries[round % COUNT(geometries)];
        if (g[LINE_VALUE_BITS] != 0) continue;
        pair           a = pair_make(g, NULL, 2 * round), b = pair_make(g, NULL, 2 * round + 1);
        bool const     is_counted = g[LINE_COUNTER_BITS] != 0 || g[LINE_COPIES] == 1;
        uint64_t const room = g[LINE_BUCKETS] * LINE_SLOTS + g[LINE_ATTIC] / 2;
        uint64_t const total =
            room * (is_counted ? 6 + dice_below(&a.chance, 9) : 5 + dice_below(&a.chance, 6)) / 10;
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

/* Add n fingerprints of one chain, from the first on; how many were taken. */
static unsigned fill_chain(pair *p, uint64_t chain, uint64_t first, unsigned n) {
    unsigned taken = 0;
    for (uint64_t i = first; i < first + n; i++) {
        uint64_t const print = (chain << p->oracle->g[LINE_REMAINDER_BITS]) + i;
        uint64_t const keys = p->oracle->keys;
        step_add(p, fastrange_inverse(print, p->oracle->prints));
        taken += p->oracle->keys != keys;
    }
    return taken;
}

/* A bucket that is one long chain has nothing in its line, and all in its tail. */
static void merges_of_one_long_chain_are_all_or_nothing(void **state) {
    (void)state;
    static const uint64_t geometry[LINE_FIELDS] = { 1, 12, 0, 8, 0, 400 };
    for (unsigned n = 95; n <= 130; n += 5) {
        pair a = pair_make(geometry, NULL, 1), b = pair_make(geometry, NULL, 2);
        assert_int_equal(fill_chain(&a, 5, 0, n), n);
        assert_int_equal(fill_chain(&b, 5, 1000, n), n);
        assert_int_equal(check_merge(&a, &b), 2 * n <= MAX_TAIL);
        pair_free(&a);
        pair_free(&b);
    }
}

/* A line full of chain 0, and a tail of chain 5: it fits up to the last word of the attic. */
static void merges_fit_up_to_the_last_word(void **state) {
    (void)state;
    for (uint64_t words = 0; words < 4; words++) {
        uint64_t const geometry[LINE_FIELDS] = { 1, 12, 0, 8, 0, words };
        unsigned const most = LINE_SHELF + (unsigned)words;
        for (unsigned n = most - 1; n <= most + 2; n++) {
            pair a = pair_make(geometry, NULL, 1), b = pair_make(geometry, NULL, 2);
            assert_int_equal(fill_chain(&a, 0, 0, LINE_SLOTS), LINE_SLOTS);
            assert_int_equal(fill_chain(&a, 5, 0, n / 2), n / 2);
            assert_int_equal(fill_chain(&b, 5, 1000, n - n / 2), n - n / 2);
            assert_int_equal(check_merge(&a, &b), n <= most);
            pair_free(&a);
            pair_free(&b);
        }
    }
}

/* ------------------------------------------------------------------ through the front door */

static const tamis_seed seed = { 4711, 1147 };

static tamis_spec spec_of(uint64_t capacity, unsigned abilities, const char *geometry) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = "line";
    spec.capacity = capacity;
    spec.fpr = 0.001;
    spec.abilities = abilities;
    spec.geometry = geometry;
    spec.seed = &seed;
    return spec;
}

static tamis_set *make(uint64_t capacity, unsigned abilities, const char *geometry) {
    tamis_spec const spec = spec_of(capacity, abilities, geometry);
    return make_set_from(&spec);
}

#define COUNTED (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)

static void a_million_adds_of_one_key_harm_no_other_key(void **state) {
    (void)state;
    check_flood(make(3000, TAMIS_CAN_REMOVE, NULL)); /* a multiset */
    check_flood(make(3000, COUNTED, NULL));          /* with counters */
    check_flood(make(1, TAMIS_CAN_REMOVE, NULL));
    check_flood(make(3000, 0, NULL));
}

static void filling_to_150_percent_loses_no_key(void **state) {
    (void)state;
    check_exhaustion(make(20000, TAMIS_CAN_REMOVE, NULL), 500);
    check_exhaustion(make(20000, COUNTED, NULL), 500);
    check_exhaustion(make(20000, TAMIS_CAN_REMOVE, "remainder_bits=24"), 500);
}

/* ------------------------------------------------------------------ sent and received */

static tamis_set *received(const tamis_set *from, const tamis_spec *spec) {
    bool const         has_copies = (from->abilities & TAMIS_CAN_COUNT) != 0;
    buffer             s = { NULL, 0 };
    tamis_set         *set = NULL;
    tamis_problem      problem = { .text = "" };
    tamis_status const status =
        tamis_send(from, has_copies ? TAMIS_SEND_COPIES : 0, buffer_write, &s);
    assert_int_equal(status, TAMIS_OK);
    if (tamis_receive(s.bytes, s.n, spec, &set, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    if (!tamis_validate(set, NULL)) fail_msg("what arrived is not valid");
    free(s.bytes);
    return set;
}

static void check_twin(const tamis_set *set, const tamis_set *twin) {
    assert_string_equal(twin->kind->name, set->kind->name);
    assert_memory_equal(twin->table.geometry, set->table.geometry, sizeof set->table.geometry);
    assert_int_equal(twin->table.keys, set->table.keys);
    assert_int_equal(twin->table.saturated, set->table.saturated);
    assert_memory_equal(twin->table.body, set->table.body, set->table.body_bytes);
}

/* Some keys twice, some so often that they saturate. */
static void add_mixed(tamis_set *set, uint64_t keys) {
    for (uint64_t key = 0; key < keys; key++) {
        unsigned const copies = key % 60 == 7 ? 300 : key % 3 == 0 ? 2 : 1;
        for (unsigned i = 0; i < copies; i++) (void)!tamis_add_id(set, key);
    }
}

typedef struct mode {
    unsigned    abilities;
    const char *geometry, *rank; /* the same mode there */
} mode;

static const mode modes[] = {
    { TAMIS_CAN_REMOVE, "remainder_bits=8", "counter_bits=0,copies=8" },
    { COUNTED, "remainder_bits=12,counter_bits=4", "counter_bits=3,copies=2" },
    { COUNTED, "counter_bits=8", "counter_bits=8,copies=2" },
    { 0, "remainder_bits=20", "copies=1" },
};

/* It is the same to the last bit: the body does not depend on its history. */
static void what_arrives_is_what_was_sent(void **state) {
    (void)state;
    static const uint64_t keys[] = { 0, 1, 1000, 1500, 4000 };
    for (size_t i = 0; i < COUNT(modes); i++) {
        for (size_t k = 0; k < COUNT(keys); k++) {
            tamis_spec spec = spec_of(2000, modes[i].abilities, modes[i].geometry);
            if (strstr(spec.geometry, "remainder") != NULL) spec.fpr = 0;
            tamis_set *const set = make_set_from(&spec);
            add_mixed(set, keys[k]);
            tamis_set *const back = received(set, NULL);
            check_twin(set, back);
            tamis_free(back);
            tamis_free(set);
        }
    }
}

/* To a rank with as many fingerprints, and back again. */
static void lines_become_ranks_and_lines_again(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(modes); i++) {
        tamis_spec spec = spec_of(2000, modes[i].abilities, modes[i].geometry);
        if (strstr(spec.geometry, "remainder") != NULL) spec.fpr = 0;
        tamis_set *const set = make_set_from(&spec);
        add_mixed(set, 1500);
        tamis_spec other = TAMIS_SPEC_INIT, like = TAMIS_SPEC_INIT;
        other.kind = "rank";
        other.abilities = modes[i].abilities;
        other.geometry = modes[i].rank;
        tamis_set *const rank = received(set, &other);
        assert_string_equal(rank->kind->name, "rank");
        for (uint64_t key = 0; key < 20000; key++) {
            assert_int_equal(tamis_has_id(rank, key), tamis_has_id(set, key));
        }
        like.like = set;
        tamis_set *const back = received(rank, &like);
        check_twin(set, back);
        tamis_free(back);
        tamis_free(rank);
        tamis_free(set);
    }
}

/* A rank whose number of fingerprints is 62 x 2^r x any number can become a line; with 61 it
 * cannot. */
static void ranks_become_lines_where_62_divides(void **state) {
    (void)state;
    static const char *const geometry[] = { "buckets=100,chains=31,remainder_bits=9,copies=8",
                                            "buckets=100,chains=61,remainder_bits=9,copies=8" };
    for (unsigned i = 0; i < 2; i++) {
        tamis_spec spec = spec_of(2000, TAMIS_CAN_REMOVE, geometry[i]), other = TAMIS_SPEC_INIT;
        spec.kind = "rank";
        spec.fpr = 0;
        tamis_set *const set = make_set_from(&spec);
        add_mixed(set, 1500);
        other.kind = "line";
        other.abilities = TAMIS_CAN_REMOVE;
        buffer     s = { NULL, 0 };
        tamis_set *line = NULL;
        assert_int_equal(tamis_send(set, TAMIS_SEND_COPIES, buffer_write, &s), TAMIS_OK);
        tamis_status const status = tamis_receive(s.bytes, s.n, &other, &line, NULL);
        assert_int_equal(status, i == 0 ? TAMIS_OK : TAMIS_ERR_CANNOT);
        for (uint64_t key = 0; i == 0 && key < 20000; key++) {
            assert_int_equal(tamis_has_id(line, key), tamis_has_id(set, key));
        }
        free(s.bytes);
        tamis_free(line);
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ bare tables */

/* A chunk of random keys, added or removed by the functions for bare tables and by those for any:
 * the same answers, counts and bytes. Few keys make copies, many make tails that need the attic. */
static void step_alike(const kind_calls *form, tamis_table *bare, const tamis_kind *kind,
                       tamis_table *any, dice *chance, uint64_t keys) {
    /* Larger tables have one function more. */
    const kind_calls *const rolling = kind->form((uint64_t[]){ 100000, 8, 0, 8, 0, 16 });
    uint64_t                hash[TAMIS_CHUNK], saturated[2];
    unsigned                n = 1 + (unsigned)dice_below(chance, TAMIS_CHUNK);
    bool const is_add = dice_below(chance, 2) != 0, is_chunk = dice_below(chance, 4) == 0;
    for (unsigned i = 0; i < n; i++) hash[i] = mix64(dice_below(chance, keys));
    if (is_chunk && is_add) {
        assert_int_equal(form->add_chunk(bare, hash, n), kind->calls.add_chunk(any, hash, n));
    } else if (is_chunk) {
        assert_true(form->remove_chunk(bare, hash, n, &saturated[0]) ==
                    kind->calls.remove_chunk(any, hash, n, &saturated[1]));
        assert_true(saturated[0] == saturated[1]);
    } else if (is_add) {
        assert_int_equal(form->add_id(bare, hash[0]), kind->calls.add_id(any, hash[0]));
    } else {
        assert_int_equal(form->remove_id(bare, hash[0]), kind->calls.remove_id(any, hash[0]));
    }
    assert_true(form->has_chunk(bare, hash, n) == kind->calls.has_chunk(any, hash, n));
    assert_true(rolling->has_rolling(bare, hash, n, hash, dice_below(chance, 2) == 0 ? n : n / 2) ==
                kind->calls.has_chunk(any, hash, n));
    assert_int_equal(form->has_id(bare, hash[0]), kind->calls.has_id(any, hash[0]));
    assert_true(memcmp(bare->body, any->body, any->body_bytes) == 0);
    assert_true(bare->keys == any->keys && bare->saturated == any->saturated);
    assert_true(bare->refused_adds == any->refused_adds &&
                bare->refused_removes == any->refused_removes);
}

static void functions_for_bare_tables_do_as_those_for_any(void **state) {
    (void)state;
    static const uint64_t bare[][LINE_FIELDS] = {
        { 3, 8, 0, 8, 0, 16 },  { 20, 8, 0, 8, 0, 25 }, { 20, 8, 0, 2, 0, 300 },
        { 16, 8, 0, 2, 0, 30 }, { 2, 8, 0, 8, 0, 0 },   { 18, 8, 0, 1, 0, 40 },
        { 1, 8, 0, 8, 0, 250 },
    };
    const char *isa;
    for (size_t which = 0; (isa = tamis_isa_name(which)) != NULL; which++) {
        const tamis_kind *const kind = find_kind("line", isa);
        for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++) {
            const kind_calls *const form = kind->form(bare[i]);
            tamis_table             a = table_make(kind, bare[i]), b = table_make(kind, bare[i]);
            dice                    chance = { 5 + i };
            uint64_t const          room = bare[i][LINE_BUCKETS] * LINE_SLOTS;
            assert_non_null(form);
            for (uint64_t step = 0; step < 2 * steps; step++) {
                uint64_t const keys = (step / 1000 % 4 + 1) * room * 3 / 4;
                step_alike(form, &a, kind, &b, &chance, keys);
            }
            assert_true(a.refused_removes != 0);
            free(a.body);
            free(b.body);
        }
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_counts_and_fingerprints_match_the_oracle),
        cmocka_unit_test(counts_are_exact_up_to_the_limit),
        cmocka_unit_test(each_stops_when_it_is_told),
        cmocka_unit_test(bytes_tell_what_is_held_and_no_history),
        cmocka_unit_test(values_are_those_that_were_put),
        cmocka_unit_test(bytes_of_a_map_tell_no_history),
        cmocka_unit_test(merges_are_all_or_nothing_at_the_edge),
        cmocka_unit_test(merges_of_one_long_chain_are_all_or_nothing),
        cmocka_unit_test(merges_fit_up_to_the_last_word),
        cmocka_unit_test(a_million_adds_of_one_key_harm_no_other_key),
        cmocka_unit_test(filling_to_150_percent_loses_no_key),
        cmocka_unit_test(what_arrives_is_what_was_sent),
        cmocka_unit_test(lines_become_ranks_and_lines_again),
        cmocka_unit_test(ranks_become_lines_where_62_divides),
        cmocka_unit_test(functions_for_bare_tables_do_as_those_for_any),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
