/* test_rank.c - rank-indexed tables against an oracle that predicts every answer.
 *
 * usage: test_rank [STEPS]     operations of each history
 *
 * The oracle counts copies by fingerprint, and cells by bucket, in plain arrays. So it is for
 * geometries with few fingerprints.
 */
#include "kinds/rank/size.h"
#include "listed.h"
#include "overload.h"

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

static const tested_table under_test = {
    .kind = "rank",
    .geometries = geometries[0],
    .maps = maps[0],
    .n_geometries = COUNT(geometries),
    .n_maps = COUNT(maps),
    .fields = RANK_FIELDS,
    .turn = 3000,
    .map_turn = 2000,
    .copies_in = 3,
    .map_copies_in = 3,
    .check_every = 500,
};

/* ------------------------------------------------------------------ the oracle */

/* Most fingerprints are absent. To find one that is present, whole groups of absent ones are
 * skipped. */
#define CROWD 256

struct oracle {
    uint64_t  geometry[RANK_FIELDS];
    uint64_t  prints, most;
    uint32_t *copies, *value; /* of each fingerprint */
    uint32_t *crowd;          /* of each CROWD fingerprints: how many of them are there */
    uint32_t *cells;          /* of each bucket */
    uint64_t  taken[2];       /* extensions */
    uint64_t  keys, saturated;
};

oracle *oracle_make(const uint64_t *geometry) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    memcpy(o->geometry, geometry, sizeof o->geometry);
    o->prints = tamis_rank_prints(geometry);
    o->most = geometry[RANK_COPIES] << geometry[RANK_COUNTER_BITS];
    o->copies = calloc(o->prints, sizeof *o->copies);
    o->value = calloc(o->prints, sizeof *o->value);
    o->crowd = calloc(o->prints / CROWD + 1, sizeof *o->crowd);
    o->cells = calloc(geometry[RANK_BUCKETS], sizeof *o->cells);
    assert_true(o->copies != NULL && o->value != NULL && o->crowd != NULL && o->cells != NULL);
    return o;
}

void oracle_free(oracle *o) {
    free(o->copies);
    free(o->value);
    free(o->crowd);
    free(o->cells);
    free(o);
}

oracle_facts oracle_look(const oracle *o) {
    return (oracle_facts){ .prints = o->prints,
                           .most = o->most,
                           .keys = o->keys,
                           .saturated = o->saturated,
                           .value_bits = (unsigned)o->geometry[RANK_VALUE_BITS] };
}

uint64_t oracle_copies(const oracle *o, uint64_t print) {
    return o->copies[print];
}

uint32_t oracle_value(const oracle *o, uint64_t print) {
    return o->value[print];
}

uint64_t oracle_next(const oracle *o, uint64_t print) {
    while (print < o->prints && o->copies[print] == 0)
        print = o->crowd[print / CROWD] == 0 ? (print / CROWD + 1) * CROWD : print + 1;
    return print < o->prints ? print : NO_PRINT;
}

/* The hash of a print that is there is in the middle of the print's share of all hashes. */
uint64_t oracle_pick(const oracle *o, dice *chance, bool is_present) {
    uint64_t const any = dice_below(chance, o->prints);
    if (!is_present || o->keys == 0) return dice_roll(chance);
    uint64_t const found = oracle_next(o, any);
    uint64_t const print = found != NO_PRINT ? found : oracle_next(o, 0);
    return print * (UINT64_MAX / o->prints) + UINT64_MAX / o->prints / 2;
}

static uint64_t bucket_of(const oracle *o, uint64_t print) {
    return (print >> o->geometry[RANK_REMAINDER_BITS]) / o->geometry[RANK_CHAINS];
}

/* The extension that begins after exactly this many cells: 0 or 1; 2: none. */
static unsigned border_of(const oracle *o, uint64_t cells) {
    const uint64_t *const g = o->geometry;
    if (g[RANK_EXTENSIONS2] != 0 && cells == g[RANK_CELLS]) return 0;
    return g[RANK_EXTENSIONS3] != 0 && cells == g[RANK_CELLS] + g[RANK_CELLS2] ? 1 : 2;
}

static bool bucket_grow(oracle *o, uint64_t bucket) {
    const uint64_t *const g = o->geometry;
    unsigned const        level = border_of(o, o->cells[bucket]);
    if (o->cells[bucket] == g[RANK_CELLS] + g[RANK_CELLS2] + g[RANK_CELLS3]) return false;
    if (level < 2 && o->taken[level] == g[RANK_EXTENSIONS2 + level]) return false;
    if (level < 2) o->taken[level]++;
    o->cells[bucket]++;
    return true;
}

static void bucket_shrink(oracle *o, uint64_t bucket) {
    unsigned const level = border_of(o, --o->cells[bucket]);
    if (level < 2) o->taken[level]--;
}

static bool fills_cells(const oracle *o, uint64_t print) {
    return o->copies[print] % (1u << o->geometry[RANK_COUNTER_BITS]) == 0;
}

tamis_status oracle_add(oracle *o, uint64_t print) {
    if (o->copies[print] == o->most) return TAMIS_OK;
    bool const needs_cell = fills_cells(o, print);
    if (needs_cell && !bucket_grow(o, bucket_of(o, print))) return TAMIS_ERR_FULL;
    o->crowd[print / CROWD] += o->copies[print] == 0;
    o->copies[print]++;
    o->keys++;
    o->saturated += o->most > 1 && o->copies[print] == o->most;
    return TAMIS_OK;
}

tamis_status oracle_remove(oracle *o, uint64_t print) {
    if (o->copies[print] == 0) return TAMIS_ERR_ABSENT;
    if (o->copies[print] == o->most) return TAMIS_ERR_SATURATED;
    o->copies[print]--;
    o->crowd[print / CROWD] -= o->copies[print] == 0;
    o->keys--;
    if (fills_cells(o, print)) bucket_shrink(o, bucket_of(o, print));
    return TAMIS_OK;
}

tamis_status oracle_put(oracle *o, uint64_t print, uint32_t value) {
    if (o->copies[print] == 0) {
        if (!bucket_grow(o, bucket_of(o, print))) return TAMIS_ERR_FULL;
        o->copies[print] = 1;
        o->crowd[print / CROWD]++;
        o->keys++;
    }
    o->value[print] = value;
    return TAMIS_OK;
}

tamis_status oracle_drop(oracle *o, uint64_t print) {
    if (o->copies[print] == 0) return TAMIS_ERR_ABSENT;
    bucket_shrink(o, bucket_of(o, print));
    o->copies[print] = 0;
    o->crowd[print / CROWD]--;
    o->keys--;
    return TAMIS_OK;
}

oracle *oracle_merge(const oracle *a, const oracle *b) {
    oracle *const sum = oracle_make(a->geometry);
    bool          fits = true;
    for (uint64_t print = 0; print < a->prints; print++) {
        uint64_t const copies = min_u64(a->copies[print] + b->copies[print], a->most);
        for (uint64_t i = 0; i < copies; i++) fits &= oracle_add(sum, print) == TAMIS_OK;
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
    check_listed_stops(&under_test, geometries[2], 1000);
}

static void values_are_those_that_were_put(void **state) {
    (void)state;
    check_listed_maps(&under_test, steps);
}

/* Two tables that together have about as many keys as there is room for. */
static void merges_are_all_or_nothing_at_the_edge(void **state) {
    (void)state;
    unsigned fitted = 0, refused = 0;
    for (uint64_t round = 0; round < 60 + steps / 100; round++) {
        const uint64_t *const g = geometries[round % (COUNT(geometries) - 1)];
        listed                a = listed_make(&under_test, g, NULL, 2 * round);
        listed                b = listed_make(&under_test, g, NULL, 2 * round + 1);
        uint64_t const        room =
            g[RANK_BUCKETS] * g[RANK_CELLS] + g[RANK_CELLS2] * g[RANK_EXTENSIONS2];
        uint64_t const total = room * (6 + dice_below(&a.chance, 7)) / 10;
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
