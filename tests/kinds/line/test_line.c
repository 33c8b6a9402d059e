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
#include "listed.h"
#include "overload.h"

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

static const tested_table under_test = {
    .kind = "line",
    .geometries = geometries[0],
    .maps = maps[0],
    .n_geometries = COUNT(geometries),
    .n_maps = COUNT(maps),
    .fields = LINE_FIELDS,
    .turn = 1500,
    .map_turn = 800,
    .copies_in = 5,
    .map_copies_in = 4,
    .check_every = 250,
    .full_in = 50,
};

/* ------------------------------------------------------------------ the oracle */

typedef struct holding {
    uint64_t print;
    uint32_t copies, value;
} holding;

struct oracle {
    uint64_t g[LINE_FIELDS];
    uint64_t prints, most, keys, saturated;
    size_t   n;
    holding  held[MAX_HELD]; /* by print */
    unsigned size[MAX_BUCKETS][LINE_CHAINS], tail[MAX_BUCKETS];
};

oracle *oracle_make(const uint64_t *geometry) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    memcpy(o->g, geometry, sizeof o->g);
    o->prints = (geometry[LINE_BUCKETS] * 62) << geometry[LINE_REMAINDER_BITS];
    o->most = geometry[LINE_COPIES] << geometry[LINE_COUNTER_BITS];
    return o;
}

void oracle_free(oracle *o) {
    free(o);
}

oracle_facts oracle_look(const oracle *o) {
    return (oracle_facts){ .prints = o->prints,
                           .most = o->most,
                           .keys = o->keys,
                           .saturated = o->saturated,
                           .value_bits = (unsigned)o->g[LINE_VALUE_BITS],
                           .can_copy = o->g[LINE_COUNTER_BITS] != 0 };
}

/* The first holding whose print is not smaller. */
static size_t oracle_find(const oracle *o, uint64_t print) {
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

static const holding *oracle_holding(const oracle *o, uint64_t print) {
    size_t const i = oracle_find(o, print);
    return i < o->n && o->held[i].print == print ? &o->held[i] : NULL;
}

uint64_t oracle_next(const oracle *o, uint64_t print) {
    size_t const i = oracle_find(o, print);
    return i < o->n ? o->held[i].print : NO_PRINT;
}

uint64_t oracle_copies(const oracle *o, uint64_t print) {
    const holding *const h = oracle_holding(o, print);
    return h == NULL ? 0 : h->copies;
}

uint32_t oracle_value(const oracle *o, uint64_t print) {
    return oracle_holding(o, print)->value;
}

/* Of the other hashes one in four is in one of the first three chains. */
uint64_t oracle_pick(const oracle *o, dice *chance, bool is_present) {
    uint64_t const any = dice_roll(chance);
    if (is_present && o->n != 0)
        return fastrange_inverse(o->held[dice_below(chance, o->n)].print, o->prints);
    uint64_t const chains = o->g[LINE_BUCKETS] * LINE_CHAINS;
    return any % 4 != 0 ? any : any / chains + UINT64_MAX / chains * (dice_roll(chance) % 3);
}

/* How many entries are not in the line. The line has the first whole chains that fit into its
 * slots. */
static unsigned tail_of(const unsigned *size) {
    unsigned kept = 0, total = 0, chain = 0;
    for (unsigned i = 0; i < LINE_CHAINS; i++) total += size[i];
    for (; chain < LINE_CHAINS && kept + size[chain] <= LINE_SLOTS; chain++) kept += size[chain];
    return total - kept;
}

static bool oracle_fits(const oracle *o) {
    uint64_t sent = 0, shelf = 0;
    for (uint64_t bucket = 0; bucket < o->g[LINE_BUCKETS]; bucket++) {
        if (o->tail[bucket] > MAX_TAIL) return false;
        if (bucket % SHELF_BUCKETS == 0) shelf = 0;
        shelf += o->tail[bucket];
        bool const is_end =
            bucket % SHELF_BUCKETS == SHELF_BUCKETS - 1 || bucket + 1 == o->g[LINE_BUCKETS];
        if (is_end && shelf > SHELF_KEYS) sent += shelf - SHELF_KEYS;
    }
    return sent <= o->g[LINE_ATTIC];
}

/* Entries of a print's chain, more or less. */
static bool oracle_resize(oracle *o, uint64_t print, unsigned more, unsigned less) {
    uint64_t const chain = print >> o->g[LINE_REMAINDER_BITS], bucket = chain / LINE_CHAINS;
    unsigned      *size = &o->size[bucket][chain % LINE_CHAINS];
    *size += more - less;
    o->tail[bucket] = tail_of(o->size[bucket]);
    if (oracle_fits(o)) return true;
    *size -= more - less;
    o->tail[bucket] = tail_of(o->size[bucket]);
    return false;
}

static void oracle_insert(oracle *o, uint64_t print, uint32_t value) {
    size_t const i = oracle_find(o, print);
    assert_true(o->n < MAX_HELD);
    memmove(&o->held[i + 1], &o->held[i], (o->n++ - i) * sizeof o->held[0]);
    o->held[i] = (holding){ print, 1, value };
}

static void oracle_delete(oracle *o, uint64_t print) {
    size_t const i = oracle_find(o, print);
    memmove(&o->held[i], &o->held[i + 1], (--o->n - i) * sizeof o->held[0]);
}

static holding *held_by(oracle *o, uint64_t print) {
    size_t const i = oracle_find(o, print);
    return i < o->n && o->held[i].print == print ? &o->held[i] : NULL;
}

tamis_status oracle_add(oracle *o, uint64_t print) {
    holding *const h = held_by(o, print);
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

tamis_status oracle_remove(oracle *o, uint64_t print) {
    holding *const h = held_by(o, print);
    if (h == NULL) return TAMIS_ERR_ABSENT;
    if (h->copies == o->most) return TAMIS_ERR_SATURATED;
    bool const is_last = h->copies == 1;
    if (is_last || o->g[LINE_COUNTER_BITS] == 0) (void)oracle_resize(o, print, 0, 1);
    h->copies--;
    o->keys--;
    if (is_last) oracle_delete(o, print);
    return TAMIS_OK;
}

tamis_status oracle_put(oracle *o, uint64_t print, uint32_t value) {
    holding *const h = held_by(o, print);
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
tamis_status oracle_drop(oracle *o, uint64_t print) {
    const holding *const h = oracle_holding(o, print);
    if (h == NULL) return TAMIS_ERR_ABSENT;
    (void)oracle_resize(o, print, 0, o->g[LINE_COUNTER_BITS] == 0 ? h->copies : 1);
    o->keys -= h->copies;
    o->saturated -= o->most > 1 && h->copies == o->most;
    oracle_delete(o, print);
    return TAMIS_OK;
}

oracle *oracle_merge(const oracle *a, const oracle *b) {
    oracle *const sum = malloc(sizeof *sum);
    bool          fits = true;
    assert_non_null(sum);
    *sum = *a;
    for (size_t i = 0; i < b->n && fits; i++) {
        for (uint32_t copy = 0; copy < b->held[i].copies && fits; copy++)
            fits = oracle_add(sum, b->held[i].print) == TAMIS_OK;
    }
    if (fits) return sum;
    oracle_free(sum);
    return NULL;
}

/* ------------------------------------------------------------------ a table and its oracle */

static void statuses_counts_and_fingerprints_match_the_oracle(void **state) {
    (void)state;
    check_listed_histories(&under_test, steps);
}

static void counts_are_exact_up_to_the_limit(void **state) {
    (void)state;
    check_listed_limits(&under_test);
}

static void each_stops_when_it_is_told(void **state) {
    (void)state;
    check_listed_stops(&under_test, geometries[0], 200);
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
static size_t fill(listed *p, uint64_t *ret_taken, size_t most) {
    size_t n = 0;
    for (uint64_t i = 0; i < most && n + 9 <= most; i++) {
        uint64_t const hash = oracle_pick(p->o, &p->chance, i % 8 == 0);
        unsigned const copies = i % 40 == 39 && oracle_look(p->o).most < 20 ? 9 : 1;
        for (unsigned k = 0; k < copies; k++) {
            if (p->kind->calls.add(&p->table, hash) == TAMIS_OK) ret_taken[n++] = hash;
        }
    }
    return n;
}

static void remove_strangers(listed *p, uint64_t *strangers, size_t *n) {
    shuffle(strangers, *n, &p->chance);
    while (*n != 0) {
        assert_int_equal(p->kind->calls.remove(&p->table, strangers[--*n]), TAMIS_OK);
    }
}

/* The same adds, with strangers among them that are removed again. If one finds no room, all
 * strangers are removed. */
static void live_otherwise(listed *p, const tamis_table *goal, const uint64_t *taken, size_t n) {
    uint64_t strangers[64];
    size_t   n_strangers = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t const stranger = oracle_pick(p->o, &p->chance, false);
        bool const     is_new =
            !p->kind->calls.has(goal, stranger) && !p->kind->calls.has(&p->table, stranger);
        bool const comes = oracle_look(p->o).most > 1 && is_new && n_strangers < 64;
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
    listed          a = listed_make(&under_test, geometry, NULL, seed);
    listed          b = listed_make(&under_test, geometry, NULL, ~seed);
    uint64_t *const taken = calloc(adds, sizeof *taken);
    assert_non_null(taken);
    size_t const n = fill(&a, taken, adds);
    shuffle(taken, n, &a.chance);
    live_otherwise(&b, &a.table, taken, n);
    assert_memory_equal(a.table.body, b.table.body, a.table.body_bytes);
    assert_int_equal(a.table.keys, b.table.keys);
    assert_int_equal(a.table.saturated, b.table.saturated);
    free(taken);
    listed_free(&a);
    listed_free(&b);
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

static void values_are_those_that_were_put(void **state) {
    (void)state;
    check_listed_maps(&under_test, steps);
}

/* Two maps with the same keys and values are the same bytes. */
static void bytes_of_a_map_tell_no_history(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(maps); i++) {
        listed a = listed_make(&under_test, maps[i], NULL, 7 * i);
        listed b = listed_make(&under_test, maps[i], NULL, 5 * i + 1);
        listed_map_history(&a, &under_test, 900);
        for (size_t k = a.o->n; k-- > 0;) { /* backwards, with another value first */
            uint64_t const hash = fastrange_inverse(a.o->held[k].print, a.o->prints);
            assert_int_equal(b.kind->states->put(&b.table, hash, k & 1), TAMIS_OK);
        }
        for (size_t k = 0; k < a.o->n; k++) {
            uint64_t const hash = fastrange_inverse(a.o->held[k].print, a.o->prints);
            uint32_t const value = a.o->held[k].value;
            assert_int_equal(b.kind->states->move(&b.table, hash, k & 1, value), TAMIS_OK);
            for (uint32_t copy = 1; copy < a.o->held[k].copies; copy++) {
                assert_int_equal(b.kind->calls.add(&b.table, hash), TAMIS_OK);
            }
        }
        assert_memory_equal(a.table.body, b.table.body, a.table.body_bytes);
        listed_free(&a);
        listed_free(&b);
    }
}

/* ------------------------------------------------------------------ merging */

/* Two tables that together have about as many keys as there is room for. */
static void merges_are_all_or_nothing_at_the_edge(void **state) {
    (void)state;
    unsigned fitted = 0, refused = 0;
    for (uint64_t round = 0; round < 100 + steps / 50; round++) {
        const uint64_t *const g = geometries[round % COUNT(geometries)];
        if (g[LINE_VALUE_BITS] != 0) continue;
        listed         a = listed_make(&under_test, g, NULL, 2 * round);
        listed         b = listed_make(&under_test, g, NULL, 2 * round + 1);
        bool const     is_counted = g[LINE_COUNTER_BITS] != 0 || g[LINE_COPIES] == 1;
        uint64_t const room = g[LINE_BUCKETS] * LINE_SLOTS + g[LINE_ATTIC] / 2;
        uint64_t const total =
            room * (is_counted ? 6 + dice_below(&a.chance, 9) : 5 + dice_below(&a.chance, 6)) / 10;
        uint64_t const first = dice_below(&a.chance, total);
        listed_fill_for_merge(&a, first);
        listed_fill_for_merge(&b, total - first);
        bool const fits = listed_merge(&a, &b);
        fitted += fits;
        refused += !fits;
        listed_check(&b);
        listed_free(&a);
        listed_free(&b);
    }
    assert_true(fitted > 30 && refused > 30);
}

/* Add n fingerprints of one chain, from the first on; how many were taken. */
static unsigned fill_chain(listed *p, uint64_t chain, uint64_t first, unsigned n) {
    unsigned taken = 0;
    for (uint64_t i = first; i < first + n; i++) {
        uint64_t const print = (chain << p->o->g[LINE_REMAINDER_BITS]) + i;
        uint64_t const keys = p->o->keys;
        listed_add(p, fastrange_inverse(print, p->o->prints));
        taken += p->o->keys != keys;
    }
    return taken;
}

/* A bucket that is one long chain has nothing in its line, and all in its tail. */
static void merges_of_one_long_chain_are_all_or_nothing(void **state) {
    (void)state;
    static const uint64_t geometry[LINE_FIELDS] = { 1, 12, 0, 8, 0, 400 };
    for (unsigned n = 95; n <= 130; n += 5) {
        listed a = listed_make(&under_test, geometry, NULL, 1);
        listed b = listed_make(&under_test, geometry, NULL, 2);
        assert_int_equal(fill_chain(&a, 5, 0, n), n);
        assert_int_equal(fill_chain(&b, 5, 1000, n), n);
        assert_int_equal(listed_merge(&a, &b), 2 * n <= MAX_TAIL);
        listed_free(&a);
        listed_free(&b);
    }
}

/* A line full of chain 0, and a tail of chain 5: it fits up to the last word of the attic. */
static void merges_fit_up_to_the_last_word(void **state) {
    (void)state;
    for (uint64_t words = 0; words < 4; words++) {
        uint64_t const geometry[LINE_FIELDS] = { 1, 12, 0, 8, 0, words };
        unsigned const most = SHELF_KEYS + (unsigned)words;
        for (unsigned n = most - 1; n <= most + 2; n++) {
            listed a = listed_make(&under_test, geometry, NULL, 1);
            listed b = listed_make(&under_test, geometry, NULL, 2);
            assert_int_equal(fill_chain(&a, 0, 0, LINE_SLOTS), LINE_SLOTS);
            assert_int_equal(fill_chain(&a, 5, 0, n / 2), n / 2);
            assert_int_equal(fill_chain(&b, 5, 1000, n - n / 2), n - n / 2);
            assert_int_equal(listed_merge(&a, &b), n <= most);
            listed_free(&a);
            listed_free(&b);
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
    bool const       has_copies = (from->abilities & TAMIS_CAN_COUNT) != 0;
    buffer const     s = buffer_sent(from, has_copies ? TAMIS_SEND_COPIES : 0);
    tamis_set *const set = buffer_receive(&s, spec);
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
        buffer const       s = buffer_sent(set, TAMIS_SEND_COPIES);
        tamis_set         *line = NULL;
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
