/* test_counting.c - counting filters against an oracle that predicts every answer and every byte.
 *
 * usage: test_counting [STEPS]     operations of each history
 *
 * The oracle keeps a plain array of counters, and finds those of a key by the formulas of
 * docs/format.md.
 */
#include "counters_oracle.h"
#include "table.h"

#include "ton2014/count_error.h"

static uint64_t steps = 6000;

/* Tables that are so small that a key has a counter twice, and counters stick: counters, hashes,
 * counter_bits, blocked, minimal. */
static const uint64_t geometries[][CBF_FIELDS] = {
    { 300, 5, 4, 0, 0 },   { 301, 7, 5, 0, 0 }, { 999, 4, 2, 0, 0 },  { 40, 6, 3, 0, 0 },
    { 7, 20, 5, 0, 0 },    { 2, 64, 16, 0, 0 }, { 150, 1, 4, 0, 0 },  { 90, 3, 11, 0, 0 },
    { 256, 5, 4, 1, 0 },   { 128, 7, 4, 1, 0 }, { 768, 64, 2, 1, 0 }, { 340, 9, 3, 1, 0 },
    { 306, 4, 5, 1, 0 },   { 73, 1, 7, 1, 0 },  { 73, 64, 7, 1, 0 },  { 32, 32, 16, 1, 0 },
    { 138, 13, 11, 1, 0 }, { 300, 5, 4, 0, 1 }, { 301, 3, 5, 0, 1 },  { 40, 6, 3, 0, 1 },
    { 7, 20, 5, 0, 1 },    { 100, 2, 2, 0, 1 }, { 90, 1, 11, 0, 1 },  { 256, 5, 4, 1, 1 },
    { 340, 9, 3, 1, 1 },   { 256, 2, 2, 1, 1 },
};

/* ------------------------------------------------------------------ the oracle */

struct oracle {
    uint64_t        g[CBF_FIELDS];
    counters_oracle all;
};

oracle *oracle_make(const uint64_t *g) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    memcpy(o->g, g, sizeof o->g);
    o->all = counters_of(g[CBF_COUNTERS], g[CBF_COUNTER_BITS], g[CBF_BLOCKED] != 0, g[CBF_HASHES]);
    return o;
}

oracle_facts oracle_look(const oracle *o) {
    oracle_facts facts = { .places = o->all.m, .hashes = o->g[CBF_HASHES] };
    facts.body_bytes = ((o->all.m * o->all.bits + 7) / 8 + 8 + 63) / 64 * 64;
    if (o->all.is_blocked) facts.body_bytes = 64 * counters_lines(&o->all);
    facts.keys = o->all.keys;
    facts.saturated = o->all.saturated;
    return facts;
}

/* By how much a key increases each counter. */
static visit oracle_visit(const oracle *o, uint64_t hash) {
    visit          v = { .adds = { 0 } };
    uint64_t const line = high_half(hash, o->all.m / o->all.per_line);
    for (unsigned i = 0; i < o->g[CBF_HASHES]; i++) {
        uint64_t       size;
        uint64_t const first = counters_range(&o->all, line, i, &size);
        v.adds[first + high_half(remix(hash, i), size)]++;
    }
    return v;
}

static uint64_t visit_least(const oracle *o, const visit *v) {
    uint64_t least = o->all.top;
    for (size_t c = 0; c < o->all.m; c++) {
        if (v->adds[c] != 0) least = min_u64(least, o->all.counter[c]);
    }
    return least;
}

uint64_t oracle_count(const oracle *o, uint64_t hash) {
    visit const    v = oracle_visit(o, hash);
    uint64_t const least = visit_least(o, &v);
    return least == o->all.top ? TAMIS_COUNT_MANY : least;
}

bool oracle_has(const oracle *o, uint64_t hash) {
    return oracle_count(o, hash) != 0;
}

/* With minimal increase, only the smallest counters of the key are increased, by one. */
void oracle_add(oracle *o, uint64_t hash) {
    visit const    v = oracle_visit(o, hash);
    bool const     is_minimal = o->g[CBF_MINIMAL] != 0;
    uint64_t const least = visit_least(o, &v);
    bool           is_changed = false;
    for (size_t c = 0; c < o->all.m; c++) {
        if (is_minimal && o->all.counter[c] != least) continue;
        is_changed |= counters_add(&o->all, c, is_minimal ? v.adds[c] != 0 : v.adds[c]);
    }
    o->all.keys += is_changed;
}

/* Refused if a counter is smaller than what the key adds to it. */
tamis_status oracle_remove(oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    for (size_t c = 0; c < o->all.m; c++) {
        uint64_t const counter = o->all.counter[c];
        if (counter < v.adds[c] && counter != o->all.top) return TAMIS_ERR_ABSENT;
    }
    counters_take(&o->all, &v);
    return TAMIS_OK;
}

void oracle_merge(oracle *o, const oracle *from) {
    counters_merge(&o->all, &from->all);
}

void oracle_bytes(const oracle *o, uint8_t *to) {
    counters_bytes(&o->all, to);
}

/* Of all ways to choose the counters of a key in a line, the share in which none is 0. */
static double line_rate(const oracle *o, uint64_t line) {
    double rate = 1;
    for (uint64_t i = 0; i < o->g[CBF_HASHES]; i++) {
        uint64_t       size, holds = 0;
        uint64_t const first = counters_range(&o->all, line, i, &size);
        for (uint64_t c = 0; c < size; c++) holds += o->all.counter[first + c] != 0;
        rate *= (double)holds / (double)size;
    }
    return rate;
}

double oracle_rate(const oracle *o) {
    return counters_mean(&o->all, o, line_rate);
}

/* ------------------------------------------------------------------ tables and their oracles */

static const tested under_test = { "counting", geometries[0], COUNT(geometries),
                                   CBF_FIELDS, .crowd = 2,    .calm = 3 };

static void answers_and_bytes_match_the_oracle(void **state) {
    (void)state;
    check_histories(&under_test, steps);
}

static void chunks_are_their_keys_one_by_one(void **state) {
    (void)state;
    check_chunks(&under_test);
}

static void merges_are_sums(void **state) {
    (void)state;
    check_merges(&under_test);
}

static void current_fpr_is_the_share_of_absent_keys_that_match(void **state) {
    (void)state;
    check_rates(&under_test, 40);
}

/* ------------------------------------------------------------------ conversion */

/* A Bloom filter has no lines. */
static void only_scattered_counters_become_a_bloom_filter(void **state) {
    (void)state;
    subject const variant[2] = {
        { .kind = "counting", .capacity = 100, .geometry = "blocked=0,counters=1280,hashes=5" },
        { .kind = "counting", .capacity = 100, .geometry = "blocked=1,counters=1280,hashes=5" }
    };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = make_set(&variant[i], 1), *less = NULL;
        assert_int_equal(tamis_convert(set, "bloom", &less), i == 0 ? TAMIS_OK : TAMIS_ERR_CANNOT);
        tamis_free(less);
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ how many */

/* The share of keys, each added once, whose count is too high; the mean over tables. */
static double share_too_high(const uint64_t *g, uint64_t n, unsigned tables) {
    uint64_t                high = 0;
    const tamis_kind *const kind = find_kind("counting", NULL);
    tamis_table             table = table_make(kind, g);
    for (uint64_t t = 0; t < tables; t++) {
        dice keys = { t << 32 }, again = { t << 32 };
        memset(table.body, 0, table.body_bytes);
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(kind->calls.add(&table, dice_roll(&keys)), TAMIS_OK);
        for (uint64_t i = 0; i < n; i++) high += kind->calls.count(&table, dice_roll(&again)) != 1;
    }
    free(table.body);
    return (double)high / (double)(n * tables);
}

/* Within 3% and 4 sigma. Counts that are too high are not independent, so sigma is taken as twice
 * that of independent
 * keys. */
static void counts_are_too_high_as_often_as_stated(void **state) {
    (void)state;
    static const struct {
        uint64_t g[CBF_FIELDS], n;
    } rows[] = {
        { { 9600, 7, 4, 0, 0 }, 1000 }, { { 9600, 7, 4, 0, 1 }, 1000 },
        { { 4800, 3, 4, 0, 0 }, 1000 }, { { 4800, 3, 4, 0, 1 }, 1000 },
        { { 6400, 6, 4, 1, 0 }, 600 },  { { 6400, 6, 4, 1, 1 }, 600 },
        { { 99, 3, 4, 0, 1 }, 20 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned const tables = (unsigned)(400000 / rows[i].n);
        double const   measured = share_too_high(rows[i].g, rows[i].n, tables);
        double const   stated = count_error(rows[i].g, (double)rows[i].n);
        double const   sigma = 2 * sqrt(stated / ((double)rows[i].n * tables));
        if (fabs(measured - stated) > .03 * stated + 4 * sigma) {
            fail_msg("row %zu: %.5f, stated %.5f +- %.5f", i, measured, stated, sigma);
        }
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_bytes_match_the_oracle),
        cmocka_unit_test(chunks_are_their_keys_one_by_one),
        cmocka_unit_test(merges_are_sums),
        cmocka_unit_test(current_fpr_is_the_share_of_absent_keys_that_match),
        cmocka_unit_test(only_scattered_counters_become_a_bloom_filter),
        cmocka_unit_test(counts_are_too_high_as_often_as_stated),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return _cmocka_run_group_tests("counting", tests, COUNT(tests), NULL, NULL);
}
