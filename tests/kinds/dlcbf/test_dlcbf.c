/* test_dlcbf.c - d-left counting filters against an oracle that predicts every byte.
 *
 * usage: test_dlcbf [STEPS]     operations of each history
 *
 * The oracle is the paper's structure (Bonomi et al., ESA 2006, sections 3 and 5.2) as lists: each
 * bucket of each subtable is a list of fingerprints with their copies. It finds the places of a
 * fingerprint by long multiplication. Its lists, written bit by bit, are the body.
 */
#include "by_hand.h"
#include "kinds/dlcbf/size.h"
#include "subject.h"
#include "table.h"

#define MAX_BUCKETS 400 /* of all subtables */

static uint64_t steps = 4000;

/* Tables that are so small that every limit is reached: tables, buckets, cells, remainder_bits,
 * counter_bits, bucket_bytes, moves. */
static const uint64_t geometries[][DLCBF_FIELDS] = {
    { 4, 16, 8, 14, 2, 16, 1 },  /* the paper's cells */
    { 4, 16, 8, 14, 2, 16, 0 },  /* the same without moves */
    { 2, 5, 3, 4, 1, 2, 1 },     /* 75 fingerprints, which saturate soon */
    { 2, 5, 3, 4, 1, 3, 0 },     /* padded */
    { 3, 7, 6, 9, 4, 10, 1 },    /* the largest counters */
    { 2, 1, 64, 10, 2, 96, 1 },  /* one bucket each, all the cells there can be */
    { 8, 9, 2, 7, 1, 2, 1 },     /* all the subtables there can be */
    { 8, 3, 5, 20, 3, 15, 0 },   /* wide cells */
    { 2, 33, 4, 32, 4, 18, 1 },  /* the widest */
    { 3, 11, 1, 6, 2, 1, 1 },    /* a cell, a byte */
    { 5, 6, 13, 8, 0, 13, 1 },   /* a set */
    { 3, 6, 13, 7, 0, 16, 0 },   /* a set, padded */
    { 4, 12, 7, 11, 2, 512, 1 }, /* more padding than cells */
};

/* ------------------------------------------------------------------ the oracle */

typedef struct entry {
    uint64_t fingerprint, copies;
} entry;

typedef struct bucket {
    unsigned n;
    entry    list[DLEFT_MAX_CELLS];
} bucket;

typedef struct oracle {
    uint64_t g[DLCBF_FIELDS];
    uint64_t range, full, most;
    uint64_t factor[FLUID_MAX_TABLES];
    uint64_t keys, saturated, moved;
    bucket   all[MAX_BUCKETS]; /* subtable after subtable */
} oracle;

/* The factors: from a random number on, the next one that is coprime to the range. */
static void oracle_start(oracle *o, const uint64_t *geometry) {
    memset(o, 0, sizeof *o);
    memcpy(o->g, geometry, sizeof o->g);
    o->range = geometry[DLCBF_BUCKETS] << geometry[DLCBF_REMAINDER_BITS];
    o->full = UINT64_C(1) << geometry[DLCBF_COUNTER_BITS];
    o->most = geometry[DLCBF_COUNTER_BITS] == 0 ? 1 : 4 * o->full;
    for (unsigned i = 0; i < geometry[DLCBF_TABLES]; i++) {
        uint64_t factor = high_half(mix64((i + 1) * HASH_GOLDEN), o->range);
        while (have_common_factor(factor, o->range)) factor = (factor + 1) % o->range;
        o->factor[i] = factor;
    }
    assert_true(geometry[DLCBF_TABLES] * geometry[DLCBF_BUCKETS] <= MAX_BUCKETS);
}

/* The hash has one of B (2^r - 1) prints. The stored remainder is one more, so that it is never
 * 0. */
static uint64_t oracle_print(const oracle *o, uint64_t hash) {
    uint64_t const remainders = (UINT64_C(1) << o->g[DLCBF_REMAINDER_BITS]) - 1;
    return high_half(hash, o->g[DLCBF_BUCKETS] * remainders);
}

static uint64_t oracle_fingerprint(const oracle *o, uint64_t hash) {
    uint64_t const remainders = (UINT64_C(1) << o->g[DLCBF_REMAINDER_BITS]) - 1;
    uint64_t const print = oracle_print(o, hash);
    return print / remainders * (remainders + 1) + print % remainders + 1;
}

/* P_i. */
static uint64_t place_of(const oracle *o, uint64_t fingerprint, unsigned i) {
    return multiply_mod(o->factor[i], fingerprint, o->range);
}

static bucket *bucket_of(oracle *o, uint64_t fingerprint, unsigned i) {
    uint64_t const at = place_of(o, fingerprint, i) >> o->g[DLCBF_REMAINDER_BITS];
    return &o->all[i * o->g[DLCBF_BUCKETS] + at];
}

/* The entries of a fingerprint: their number, all their copies, and the entry that adds and
 * removals change: the one that is not full, or else the first. */
typedef struct holding {
    uint64_t copies;
    unsigned entries;
    bucket  *in;
    unsigned at;
} holding;

static holding oracle_find(oracle *o, uint64_t fingerprint) {
    holding found = { .copies = 0 };
    for (unsigned i = 0; i < o->g[DLCBF_TABLES]; i++) {
        bucket *const b = bucket_of(o, fingerprint, i);
        for (unsigned k = 0; k < b->n; k++) {
            if (b->list[k].fingerprint != fingerprint) continue;
            bool const is_chosen = found.entries == 0 || b->list[k].copies < o->full;
            found.copies += b->list[k].copies;
            found.entries++;
            if (!is_chosen) continue;
            found.in = b;
            found.at = k;
        }
    }
    return found;
}

static bucket *least_loaded(oracle *o, uint64_t fingerprint) {
    bucket *least = bucket_of(o, fingerprint, 0);
    for (unsigned i = 1; i < o->g[DLCBF_TABLES]; i++) {
        bucket *const b = bucket_of(o, fingerprint, i);
        if (b->n < least->n) least = b;
    }
    return least->n < o->g[DLCBF_CELLS] ? least : NULL;
}

static void take_out(bucket *b, unsigned at) {
    b->list[at] = b->list[--b->n];
}

/* Section 5.2: move a key of the first bucket that also has room in another one. */
static bucket *oracle_make_room(oracle *o, uint64_t fingerprint) {
    bucket *const full = bucket_of(o, fingerprint, 0);
    for (unsigned k = 0; k < full->n && o->g[DLCBF_MOVES] != 0; k++) {
        bucket *const other = least_loaded(o, full->list[k].fingerprint);
        if (other == NULL) continue;
        other->list[other->n++] = full->list[k];
        take_out(full, k);
        o->moved++;
        return full;
    }
    return NULL;
}

static tamis_status oracle_add(oracle *o, uint64_t fingerprint) {
    holding const found = oracle_find(o, fingerprint);
    if (found.copies == o->most) return TAMIS_OK;
    if (found.copies < found.entries * o->full) {
        found.in->list[found.at].copies++;
    } else {
        bucket *to = least_loaded(o, fingerprint);
        if (to == NULL) to = oracle_make_room(o, fingerprint);
        if (to == NULL) return TAMIS_ERR_FULL;
        to->list[to->n++] = (entry){ fingerprint, 1 };
    }
    o->keys++;
    o->saturated += o->most > 1 && found.copies + 1 == o->most;
    return TAMIS_OK;
}

static tamis_status oracle_remove(oracle *o, uint64_t fingerprint) {
    holding const found = oracle_find(o, fingerprint);
    if (found.copies == 0) return TAMIS_ERR_ABSENT;
    if (found.copies == o->most) return TAMIS_ERR_SATURATED;
    if (--found.in->list[found.at].copies == 0) take_out(found.in, found.at);
    o->keys--;
    return TAMIS_OK;
}

static uint64_t oracle_count(oracle *o, uint64_t fingerprint) {
    uint64_t const copies = oracle_find(o, fingerprint).copies;
    return copies == o->most ? TAMIS_COUNT_MANY : copies;
}

static void oracle_write(const oracle *o, uint8_t *ret_body, uint64_t bytes) {
    uint64_t const r = o->g[DLCBF_REMAINDER_BITS], bits = r + o->g[DLCBF_COUNTER_BITS];
    memset(ret_body, 0, bytes);
    for (uint64_t b = 0; b < o->g[DLCBF_TABLES] * o->g[DLCBF_BUCKETS]; b++) {
        unsigned const table = (unsigned)(b / o->g[DLCBF_BUCKETS]);
        for (unsigned k = 0; k < o->all[b].n; k++) {
            const entry *const e = &o->all[b].list[k];
            uint64_t const     at = 8 * o->g[DLCBF_BUCKET_BYTES] * b + k * bits;
            uint64_t const     remainder = place_of(o, e->fingerprint, table) % (UINT64_C(1) << r);
            assert_true(remainder != 0); /* or the cell would be taken for an empty one */
            write_bits(ret_body, at, r, remainder);
            write_bits(ret_body, at + r, bits - r, e->copies - 1);
        }
    }
}

/* ------------------------------------------------------------------ a table and its oracle */

typedef struct pair {
    const tamis_kind *kind;
    tamis_table       table;
    oracle           *oracle;
    uint8_t          *expected; /* a body to compare with */
    dice              chance;
    uint64_t          refused, saturated, spread; /* how often that happened */
} pair;

static pair pair_make(const uint64_t *geometry, const char *isa, uint64_t seed) {
    pair p = { .oracle = malloc(sizeof *p.oracle), .chance = { seed } };
    assert_non_null(p.oracle);
    oracle_start(p.oracle, geometry);
    p.kind = find_kind("dlcbf", isa);
    p.table = table_make(p.kind, geometry);
    p.expected = malloc(p.table.body_bytes);
    assert_non_null(p.expected);
    return p;
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
    assert_int_equal(p->table.saturated, p->oracle->saturated);
    assert_int_equal(p->table.moved, p->oracle->moved);
}

static void check_key(const pair *p, uint64_t hash) {
    uint64_t const count = oracle_count(p->oracle, oracle_fingerprint(p->oracle, hash));
    assert_int_equal(p->kind->calls.has(&p->table, hash), count != 0);
    assert_int_equal(p->kind->calls.count(&p->table, hash), count);
}

static uint64_t prints_of(const uint64_t *geometry) {
    return geometry[DLCBF_BUCKETS] * ((UINT64_C(1) << geometry[DLCBF_REMAINDER_BITS]) - 1);
}

/* A hash of this fingerprint. */
static uint64_t hash_of(const oracle *o, uint64_t fingerprint) {
    uint64_t const print = fingerprint - (fingerprint >> o->g[DLCBF_REMAINDER_BITS]) - 1;
    return fastrange_inverse(print, prints_of(o->g));
}

/* Any hash, or one whose fingerprint is in some bucket. */
static uint64_t pick(pair *p, bool is_present) {
    oracle *const  o = p->oracle;
    uint64_t const buckets = o->g[DLCBF_TABLES] * o->g[DLCBF_BUCKETS];
    for (unsigned i = 0; i < 20 && is_present; i++) {
        const bucket *const b = &o->all[dice_below(&p->chance, buckets)];
        if (b->n == 0) continue;
        return hash_of(o, b->list[dice_below(&p->chance, b->n)].fingerprint);
    }
    return dice_roll(&p->chance);
}

/* ------------------------------------------------------------------ histories */

static void step_add(pair *p, uint64_t hash) {
    uint64_t const     fingerprint = oracle_fingerprint(p->oracle, hash);
    tamis_status const status = p->kind->calls.add(&p->table, hash);
    assert_int_equal(status, oracle_add(p->oracle, fingerprint));
    p->refused += status == TAMIS_ERR_FULL;
    p->saturated += oracle_count(p->oracle, fingerprint) == TAMIS_COUNT_MANY;
    p->spread += oracle_find(p->oracle, fingerprint).entries > 1;
    check_key(p, hash);
    check_bytes(p);
}

static void step_remove(pair *p, uint64_t hash) {
    uint64_t const fingerprint = oracle_fingerprint(p->oracle, hash);
    assert_int_equal(p->kind->calls.remove(&p->table, hash), oracle_remove(p->oracle, fingerprint));
    check_key(p, hash);
    check_bytes(p);
}

/* Mostly adds for a while, then mostly removals. Some adds are of keys that are present, some of
 * many copies. */
static void history(pair *p, uint64_t n) {
    const uint64_t *const g = p->oracle->g;
    uint64_t const        phase = 200 + 3 * g[DLCBF_TABLES] * g[DLCBF_BUCKETS] * g[DLCBF_CELLS];
    uint64_t              flood = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool const is_up = i / phase % 2 == 0, towards = dice_below(&p->chance, 5) != 0;
        if (i % 500 == 0) flood = pick(p, false);
        if (is_up == towards)
            step_add(p, dice_below(&p->chance, 8) == 0 ? flood : pick(p, i % 5 == 0));
        else
            step_remove(p, pick(p, dice_below(&p->chance, 8) != 0));
        check_key(p, pick(p, i % 2 == 0)); /* somebody else */
        if (i % 100 == 0) expect_valid_table(p->kind, &p->table);
    }
    expect_valid_table(p->kind, &p->table);
}

/* Every status, every count and every byte, on every instruction set. */
static void statuses_counts_and_bytes_match_the_oracle(void **state) {
    (void)state;
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t saturated = 0, spread = 0, moved = 0;
        for (size_t i = 0; i < COUNT(geometries); i++) {
            pair p = pair_make(geometries[i], tamis_isa_name(isa), i + 1);
            history(&p, steps);
            if (p.refused < steps / 100) fail_msg("geometry %zu was seldom full", i);
            assert_true(p.table.moved == 0 || geometries[i][DLCBF_MOVES] == 1);
            saturated += p.saturated;
            spread += p.spread;
            moved += p.table.moved;
            pair_free(&p);
        }
        print_message("# %llu saturated, %llu in several cells, %llu moved\n",
                      (unsigned long long)saturated, (unsigned long long)spread,
                      (unsigned long long)moved);
        assert_true(saturated > steps / 5 && spread > steps / 2 && moved > steps / 20);
    }
}

/* Saturated fingerprints stay; of all others nothing is left. */
static void emptied_tables_are_all_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        if (geometries[i][DLCBF_COUNTER_BITS] == 0) continue;
        pair           p = pair_make(geometries[i], NULL, i + 1);
        oracle *const  o = p.oracle;
        uint64_t const buckets = o->g[DLCBF_TABLES] * o->g[DLCBF_BUCKETS];

        for (uint64_t k = 0; k < steps / 4; k++) {
            uint64_t const hash = pick(&p, k % 3 == 0);
            if (oracle_find(o, oracle_fingerprint(o, hash)).copies + 1 < o->most)
                step_add(&p, hash);
        }
        for (uint64_t b = 0; b < buckets; b++) {
            while (o->all[b].n != 0) step_remove(&p, hash_of(o, o->all[b].list[0].fingerprint));
        }
        assert_int_equal(p.table.keys, 0);
        for (uint64_t k = 0; k < p.table.body_bytes; k++) assert_int_equal(p.table.body[k], 0);
        pair_free(&p);
    }
}

/* A count is exact up to its limit. At the limit it is TAMIS_COUNT_MANY, and stays so. */
static void counts_are_exact_up_to_the_limit(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        const uint64_t *const g = geometries[i];
        if (g[DLCBF_TABLES] * g[DLCBF_CELLS] < DLCBF_COPIES) continue; /* no room for that many */
        pair           p = pair_make(g, NULL, 1);
        uint64_t const hash = pick(&p, false), most = p.oracle->most;
        for (uint64_t n = 1; n < most; n++) {
            step_add(&p, hash);
            assert_int_equal(p.kind->calls.count(&p.table, hash), n);
        }
        assert_int_equal(p.table.saturated, 0);
        for (unsigned n = 0; n < 3; n++) step_add(&p, hash);
        assert_int_equal(p.kind->calls.count(&p.table, hash), TAMIS_COUNT_MANY);
        assert_int_equal(p.table.keys, most);
        assert_int_equal(p.table.saturated, most > 1);
        for (unsigned n = 0; n < 3; n++) step_remove(&p, hash);
        assert_int_equal(p.kind->calls.count(&p.table, hash), TAMIS_COUNT_MANY);
        pair_free(&p);
    }
}

/* ------------------------------------------------------------------ the traps of the paper */

/* A remainder of 0 would be an empty cell. The prints of all hashes, from the first to the last. */
static void no_fingerprint_has_a_low_part_of_0(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        pair           p = pair_make(geometries[i], NULL, 1);
        uint64_t const prints = prints_of(geometries[i]), few = 3000;
        assert_int_equal(p.kind->prints(geometries[i]), prints);
        for (uint64_t k = 0; k < few; k++) {
            uint64_t const print = k < prints ? k : prints - 1 - k % prints;
            uint64_t const hashes[] = { fastrange_inverse(print, prints), dice_roll(&p.chance) };
            for (unsigned n = 0; n < 2; n++) {
                uint64_t const fingerprint = oracle_fingerprint(p.oracle, hashes[n]);
                assert_true(fingerprint % (UINT64_C(1) << geometries[i][DLCBF_REMAINDER_BITS]) !=
                            0);
                assert_true(fingerprint < p.oracle->range);
            }
            memset(p.table.body, 0, p.table.body_bytes);
            p.table.keys = p.table.saturated = 0;
            assert_int_equal(p.kind->calls.add(&p.table, hashes[0]), TAMIS_OK);
            assert_true(p.kind->calls.has(&p.table, hashes[0]));
        }
        pair_free(&p);
    }
}

/* The flaw of section 3.2: two keys leave the same remainder where a third looks. Every key of a
 * small table is added and removed among all others: no key is ever taken for another. */
static void removal_never_takes_the_cell_of_another(void **state) {
    (void)state;
    static const uint64_t geometry[DLCBF_FIELDS] = { 3, 6, 40, 4, 2, 30, 0 };
    pair                  p = pair_make(geometry, NULL, 3);
    uint64_t const        prints = prints_of(geometry);
    for (uint64_t round = 0; round < 20; round++) {
        for (uint64_t k = 0; k < prints; k++) {
            uint64_t const print = dice_below(&p.chance, prints);
            uint64_t const hash = fastrange_inverse(print, prints);
            if (dice_below(&p.chance, 2) == 0)
                step_add(&p, hash);
            else
                step_remove(&p, hash);
        }
        for (uint64_t k = 0; k < prints; k++) check_key(&p, fastrange_inverse(k, prints));
    }
    pair_free(&p);
}

/* ------------------------------------------------------------------ visiting */

typedef struct visits {
    pair    *visited;
    uint64_t total, n;
} visits;

/* Each entry is visited with its copies; those of a saturated fingerprint as saturated. */
static bool check_visit(void *context, uint64_t print, uint64_t copies) {
    visits *const  seen = context;
    oracle *const  o = seen->visited->oracle;
    uint64_t const hash = fastrange_inverse(print, prints_of(o->g));
    uint64_t const fingerprint = oracle_fingerprint(o, hash);
    bool const     is_many = o->most > 1 && oracle_find(o, fingerprint).copies == o->most;
    assert_int_equal(copies == TAMIS_COUNT_MANY, is_many);
    assert_true(oracle_find(o, fingerprint).entries != 0);
    seen->total += is_many ? o->full : copies;
    seen->n++;
    return true;
}

static bool stop_at_third(void *context, uint64_t print, uint64_t copies) {
    (void)print;
    (void)copies;
    return ++*(unsigned *)context < 3;
}

static void each_visits_every_cell_until_it_is_told_to_stop(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        pair     p = pair_make(geometries[i], NULL, i + 1);
        unsigned n = 0;
        assert_true(p.kind->each(&p.table, stop_at_third, &n));
        assert_int_equal(n, 0);
        history(&p, 700);
        visits seen = { .visited = &p };
        assert_true(p.kind->each(&p.table, check_visit, &seen));
        assert_int_equal(seen.total, p.table.keys);
        uint64_t entries = 0;
        for (uint64_t b = 0; b < MAX_BUCKETS; b++) entries += p.oracle->all[b].n;
        assert_int_equal(seen.n, entries);
        assert_false(p.kind->each(&p.table, stop_at_third, &n));
        assert_int_equal(n, 3);
        pair_free(&p);
    }
}

/* ------------------------------------------------------------------ merging */

/* The first cells of all buckets, then the second ones, and so on; copies beyond what a fingerprint
 * can have are dropped. */
static bool oracle_merge(oracle *into, const oracle *from) {
    for (unsigned k = 0; k < DLEFT_MAX_CELLS; k++) {
        for (uint64_t b = 0; b < MAX_BUCKETS; b++) {
            const entry *const e = &from->all[b].list[k];
            for (uint64_t copy = 0; k < from->all[b].n && copy < e->copies; copy++) {
                if (oracle_add(into, e->fingerprint) != TAMIS_OK) return false;
            }
        }
    }
    return true;
}

static void fill_for_merge(pair *p, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        bool const     is_flood = i % 16 == 0;
        uint64_t const hash = is_flood ? mix64(i) : pick(p, i % 7 == 0);
        for (uint64_t copy = 0; copy < (is_flood ? p->oracle->most / 2 + i % 3 : 1); copy++) {
            step_add(p, hash);
        }
    }
}

/* True: there was room. */
static bool check_merge(pair *into, const pair *from) {
    oracle *const before = malloc(sizeof *before);
    assert_non_null(before);
    *before = *into->oracle;
    bool const         fits = oracle_merge(into->oracle, from->oracle);
    tamis_status const status = into->kind->merge(&into->table, &from->table);
    assert_int_equal(status, fits ? TAMIS_OK : TAMIS_ERR_FULL);
    if (fits) check_bytes(into);
    if (fits) expect_valid_table(into->kind, &into->table);
    free(before);
    return fits;
}

/* Two tables that together have about as many keys as there is room for. The kind merges by steps;
 * if a merge fails, the caller restores the table (make.c). */
static void merges_match_the_oracle_up_to_the_limit(void **state) {
    (void)state;
    unsigned fitted = 0, refused = 0;
    for (uint64_t round = 0; round < 100 + steps / 40; round++) {
        const uint64_t *const g = geometries[round % COUNT(geometries)];
        pair           a = pair_make(g, NULL, 2 * round), b = pair_make(g, NULL, 2 * round + 1);
        uint64_t const room = g[DLCBF_TABLES] * g[DLCBF_BUCKETS] * g[DLCBF_CELLS];
        uint64_t const total = room * (4 + dice_below(&a.chance, 9)) / 10;
        uint64_t const first = dice_below(&a.chance, total + 1);
        assert_true(a.kind->merges_by_steps);
        fill_for_merge(&a, first);
        fill_for_merge(&b, total - first);
        bool const fits = check_merge(&a, &b);
        fitted += fits;
        refused += !fits;
        check_bytes(&b);
        pair_free(&a);
        pair_free(&b);
    }
    print_message("# %u fitted, %u did not\n", fitted, refused);
    assert_true(fitted > 30 && refused > 30);
}

/* ------------------------------------------------------------------ through the front door */

#define COUNTED (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)

static tamis_set *make(uint64_t capacity, unsigned abilities, const char *geometry) {
    return make_set(&(subject){ .kind = "dlcbf",
                                .capacity = capacity,
                                .fpr = 0.001,
                                .overflow = geometry != NULL ? 0.999 : 0,
                                .abilities = abilities,
                                .geometry = geometry },
                    4711);
}

static void check_same(const tamis_set *a, const tamis_set *b) {
    assert_memory_equal(a->table.body, b->table.body, a->table.body_bytes);
    assert_int_equal(a->table.keys, b->table.keys);
    assert_int_equal(a->table.saturated, b->table.saturated);
    assert_int_equal(a->table.moved, b->table.moved);
}

/* All or nothing: if the first table has no room for the second, it does not change. */
static void merges_that_do_not_fit_change_nothing(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint64_t keys = 400; keys <= 1000; keys += 20) {
        static const char *const geometry =
            "tables=3,buckets=50,cells=6,remainder_bits=12,counter_bits=1";
        tamis_set *const a = make(200, COUNTED, geometry), *const b = make(200, COUNTED, geometry);
        tamis_set *before = NULL;
        for (uint64_t key = 0; key < keys / 2; key++) {
            assert_int_equal(tamis_add_id(a, key), TAMIS_OK);
            assert_int_equal(tamis_add_id(b, key + keys / 2), TAMIS_OK);
        }
        assert_int_equal(tamis_copy(a, &before), TAMIS_OK);
        tamis_status const status = tamis_merge(a, b);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_FULL);
        if (status == TAMIS_ERR_FULL) check_same(a, before);
        refused += status == TAMIS_ERR_FULL;
        assert_true(tamis_validate(a, NULL));
        for (uint64_t key = 0; key < keys && status == TAMIS_OK; key++) {
            assert_true(tamis_has_id(a, key));
        }
        tamis_free(before);
        tamis_free(a);
        tamis_free(b);
    }
    assert_in_range(refused, 3, 25);
}

/* With moves a table takes more keys before it refuses one, and counts the moves. */
static void moves_make_room_and_are_counted(void **state) {
    (void)state;
    uint64_t taken[2] = { 0, 0 };
    for (unsigned moves = 0; moves < 2; moves++) {
        char geometry[120];
        (void)snprintf(geometry, sizeof geometry,
                       "tables=4,buckets=256,cells=8,remainder_bits=14,counter_bits=2,moves=%u",
                       moves);
        tamis_set *const set = make(5000, COUNTED, geometry);
        tamis_info       info;
        while (tamis_add_id(set, taken[moves]) == TAMIS_OK) taken[moves]++;
        for (uint64_t key = 0; key < taken[moves]; key++) assert_true(tamis_has_id(set, key));
        assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
        assert_true((info.facts.moved != 0) == (moves == 1));
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
    print_message("# of 8192 cells %llu without moves, %llu with\n", (unsigned long long)taken[0],
                  (unsigned long long)taken[1]);
    assert_true(taken[1] > taken[0] + 100);
}

/* At capacity no key has to be moved, although a merge adds the keys in another order.
 * (tests/file/test_transfer.c: streams.) */
static void check_unmoved(const tamis_set *set, uint64_t keys) {
    tamis_info info;
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_int_equal(info.facts.moved, 0);
    for (uint64_t key = 0; key < keys; key++) assert_true(tamis_has_id(set, key));
}

static tamis_set *make_to(uint64_t capacity, unsigned abilities, tamis_preference prefer) {
    return make_set(&(subject){ .kind = "dlcbf",
                                .capacity = capacity,
                                .fpr = 0.01,
                                .abilities = abilities,
                                .prefer = prefer },
                    4711);
}

static void merges_at_capacity_move_nothing(void **state) {
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t const         capacity = i < 4 ? 2000 : 100000;
        unsigned const         abilities = i % 2 == 0 ? 0 : COUNTED;
        tamis_preference const prefer = i / 2 % 2 == 0 ? TAMIS_PREFER_SMALL : TAMIS_PREFER_FAST;
        tamis_set             *sets[3];
        for (unsigned k = 0; k < 3; k++) sets[k] = make_to(capacity, abilities, prefer);
        for (uint64_t key = 0; key < capacity; key++) {
            assert_int_equal(tamis_add_id(sets[key % 2], key), TAMIS_OK);
        }
        assert_int_equal(tamis_merge(sets[0], sets[1]), TAMIS_OK); /* halves */
        assert_int_equal(tamis_merge(sets[2], sets[0]), TAMIS_OK); /* all into none */
        check_unmoved(sets[0], capacity);
        check_unmoved(sets[2], capacity);
        for (unsigned k = 0; k < 3; k++) tamis_free(sets[k]);
    }
}

#define FLOOD 300000

/* In a full table one key is added again and again: no other key is refused or lost. */
static void floods_of_one_key_harm_no_other_key(void **state) {
    (void)state;
    uint64_t const   capacity = 3000;
    tamis_set *const set = make(capacity, COUNTED, NULL);
    uint64_t         count = 0;
    for (uint64_t i = 0; i < FLOOD; i++) assert_int_equal(tamis_add_id(set, 0), TAMIS_OK);
    for (uint64_t key = 1; key < capacity; key++) {
        assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    }
    for (uint64_t i = 0; i < FLOOD; i++) assert_int_equal(tamis_add_id(set, 0), TAMIS_OK);
    assert_int_equal(tamis_count_id(set, 0, &count), TAMIS_OK);
    assert_true(count == TAMIS_COUNT_MANY);
    assert_int_equal(set->table.saturated, 1);
    for (uint64_t i = 0; i < FLOOD; i++)
        assert_int_equal(tamis_remove_id(set, 0), TAMIS_ERR_SATURATED);
    for (uint64_t key = 0; key < capacity; key++) assert_true(tamis_has_id(set, key));
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_counts_and_bytes_match_the_oracle),
        cmocka_unit_test(emptied_tables_are_all_zero),
        cmocka_unit_test(counts_are_exact_up_to_the_limit),
        cmocka_unit_test(no_fingerprint_has_a_low_part_of_0),
        cmocka_unit_test(removal_never_takes_the_cell_of_another),
        cmocka_unit_test(each_visits_every_cell_until_it_is_told_to_stop),
        cmocka_unit_test(merges_match_the_oracle_up_to_the_limit),
        cmocka_unit_test(merges_that_do_not_fit_change_nothing),
        cmocka_unit_test(moves_make_room_and_are_counted),
        cmocka_unit_test(merges_at_capacity_move_nothing),
        cmocka_unit_test(floods_of_one_key_harm_no_other_key),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("dlcbf", tests, NULL, NULL);
}
