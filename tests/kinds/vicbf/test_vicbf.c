/* test_vicbf.c - variable increments against an oracle that predicts every answer and every byte.
 *
 * usage: test_vicbf [STEPS]     operations of each history
 *
 * The oracle keeps a plain array of counters, finds those of a key by the formulas of
 * docs/format.md, and knows by a table of all sums what a counter may hold.
 */
#include "counters_oracle.h"
#include "kinds/vicbf/size.h"

#define MAX_SUM 4096

#define ONE UINT64_C(2)
#define TWO(a, b) (UINT64_C(1) << (a) | UINT64_C(1) << (b))

#define SCATTERED 14 /* geometries from this one on are blocked */

static uint64_t steps = 6000;

/* Tables that are so small that a key has a counter twice, and counters stick: counters, hashes,
 * more, counter_bits, increments, blocked. */
static const uint64_t geometries[][VI_FIELDS] = {
    { 300, 5, 0, 8, VI_GENERAL, 0 }, { 300, 5, 128, 7, VI_D(4), 0 },
    { 200, 4, 0, 5, VI_D(4), 0 },    { 101, 6, 77, 5, VI_D(2), 0 },
    { 40, 6, 0, 8, VI_GENERAL, 0 },  { 7, 20, 0, 9, VI_D(4), 0 },
    { 2, 40, 255, 12, VI_D(4), 0 },  { 3, 40, 0, 12, VI_GENERAL, 0 },
    { 150, 3, 0, 4, ONE, 0 },        { 90, 3, 10, 2, ONE, 0 },
    { 130, 1, 0, 3, TWO(1, 2), 0 },  { 120, 3, 0, 9, TWO(5, 31), 0 },
    { 99, 4, 200, 10, VI_D(16), 0 }, { 150, 4, 0, 2, VI_D(4), 0 }, /* one key, and it sticks */
    { 256, 5, 0, 8, VI_GENERAL, 1 }, { 219, 5, 200, 7, VI_D(4), 1 },
    { 306, 7, 0, 5, VI_D(4), 1 },    { 64, 40, 255, 8, VI_GENERAL, 1 },
    { 256, 4, 1, 2, ONE, 1 },        { 84, 20, 3, 12, TWO(30, 31), 1 },
    { 280, 1, 30, 9, TWO(1, 3), 1 },
};

/* ------------------------------------------------------------------ the oracle */

struct oracle {
    uint64_t        g[VI_FIELDS];
    uint64_t        value[32], n; /* the increments */
    bool            is_sum[MAX_SUM];
    counters_oracle all;
};

oracle *oracle_make(const uint64_t *g) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    memcpy(o->g, g, sizeof o->g);
    o->all = counters_of(g[VI_COUNTERS], g[VI_COUNTER_BITS], g[VI_BLOCKED] != 0,
                         g[VI_HASHES] + (g[VI_MORE] != 0));
    for (uint64_t v = 1; v < 32; v++) {
        if ((g[VI_INCREMENTS] >> v & 1) != 0) o->value[o->n++] = v;
    }
    o->is_sum[0] = true;
    for (uint64_t s = 1; s < MAX_SUM; s++) {
        for (uint64_t i = 0; i < o->n; i++)
            o->is_sum[s] |= s >= o->value[i] && o->is_sum[s - o->value[i]];
    }
    return o;
}

oracle_facts oracle_look(const oracle *o) {
    oracle_facts facts = { .places = o->all.m, .hashes = o->g[VI_HASHES] };
    facts.body_bytes = ((o->all.m * o->all.bits + 7) / 8 + 9 + 63) / 64 * 64;
    if (o->all.is_blocked) facts.body_bytes = 64 * (counters_lines(&o->all) + 1);
    facts.keys = o->all.keys;
    facts.saturated = o->all.saturated;
    return facts;
}

static uint64_t oracle_hashes(const oracle *o, uint64_t hash) {
    return o->g[VI_HASHES] + ((remix(hash, 41) & 255) < o->g[VI_MORE]);
}

static visit oracle_visit(const oracle *o, uint64_t hash) {
    visit          v = { .adds = { 0 } };
    uint64_t const line = high_half(hash, o->all.m / o->all.per_line);
    for (unsigned i = 0; i < oracle_hashes(o, hash); i++) {
        uint64_t       size;
        uint64_t const x = remix(hash, i), first = counters_range(&o->all, line, i, &size);
        v.adds[first + high_half(x, size)] += o->value[high_half(x * size, o->n)];
    }
    return v;
}

/* At most how many times can the counter contain the key? */
static uint64_t oracle_most(const oracle *o, uint64_t c, uint64_t adds) {
    uint64_t const value = o->all.counter[c];
    uint64_t       most = 0;
    if (value == o->all.top) return TAMIS_COUNT_MANY;
    for (uint64_t times = 1; times * adds <= value; times++) {
        if (o->is_sum[value - times * adds]) most = times;
    }
    return most;
}

static uint64_t visit_count(const oracle *o, const visit *v) {
    uint64_t least = TAMIS_COUNT_MANY;
    for (size_t c = 0; c < o->all.m; c++) {
        if (v->adds[c] != 0) least = min_u64(least, oracle_most(o, c, v->adds[c]));
    }
    return least;
}

uint64_t oracle_count(const oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    return visit_count(o, &v);
}

bool oracle_has(const oracle *o, uint64_t hash) {
    return oracle_count(o, hash) != 0;
}

void oracle_add(oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    bool        is_changed = false;
    for (size_t c = 0; c < o->all.m; c++) is_changed |= counters_add(&o->all, c, v.adds[c]);
    o->all.keys += is_changed;
}

tamis_status oracle_remove(oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    if (visit_count(o, &v) == 0) return TAMIS_ERR_ABSENT;
    counters_take(&o->all, &v);
    return TAMIS_OK;
}

void oracle_merge(oracle *o, const oracle *from) {
    counters_merge(&o->all, &from->all);
}

void oracle_bytes(const oracle *o, uint8_t *to) {
    counters_bytes(&o->all, to);
}

/* Of all ways to choose counters of a line and increments, the share that the line may contain. The
 * counters of a key are different, so each hash passes or fails independently. */
static double line_rate(const oracle *o, uint64_t line) {
    double rate = 1;
    for (uint64_t i = 0; i <= o->g[VI_HASHES]; i++) {
        uint64_t       size, passes = 0;
        uint64_t const first = counters_range(&o->all, line, i, &size);
        double const   some = (double)o->g[VI_MORE] / 256;
        if (i == o->g[VI_HASHES] && some == 0) break;
        for (uint64_t way = 0; way < size * o->n; way++) {
            passes += oracle_most(o, first + way / o->n, o->value[way % o->n]) != 0;
        }
        double const share = (double)passes / (double)(size * o->n);
        rate *= i < o->g[VI_HASHES] ? share : 1 - some + some * share;
    }
    return rate;
}

double oracle_rate(const oracle *o) {
    assert_true(o->all.is_blocked);
    return counters_mean(&o->all, o, line_rate);
}

/* ------------------------------------------------------------------ tables and their oracles */

static const tested under_test = { "vicbf",   geometries[0], COUNT(geometries),
                                   VI_FIELDS, .crowd = 3,    .calm = 3 };

static void answers_and_bytes_match_the_oracle(void **state) {
    (void)state;
    check_histories(&under_test, steps);
}

static void merges_are_sums(void **state) {
    (void)state;
    check_merges(&under_test);
}

/* A history that removes all it has added leaves an all-zero table, if no counter stuck. */
static void an_emptied_table_is_all_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        both b = both_make(&under_test, geometries[i], NULL, i + 7);
        for (size_t key = 0; key < 20; key++) both_add(&b, key % 9);
        for (size_t key = 20; key-- > 0;) both_remove(&b, key % 9, true);
        both_check_bytes(&b);
        for (uint64_t at = 0; at < b.table.body_bytes && b.table.saturated == 0; at++) {
            assert_int_equal(b.table.body[at], 0);
        }
        assert_true(b.table.saturated != 0 || b.table.keys == 0);
        both_free(&b);
    }
}

/* A stuck counter tells neither how many keys it has nor which, and removals do not change it. */
static void stuck_counters_stay(void **state) {
    (void)state;
    static const uint64_t g[] = { 2, 1, 0, 5, VI_D(4), 0 };
    both                  b = both_make(&under_test, g, NULL, 5);
    while (b.table.saturated != 2) both_add(&b, dice_below(&b.chance, MAX_KEYS));
    for (unsigned i = 0; i < 100; i++) both_remove(&b, i, false);
    assert_int_equal(b.refused, 0);
    both_check_counts(&b);
    both_check_bytes(&b);
    for (unsigned i = 0; i < MAX_KEYS; i++) {
        assert_true(b.kind->calls.has(&b.table, b.hash[i]));
        assert_int_equal(b.kind->calls.count(&b.table, b.hash[i]), TAMIS_COUNT_MANY);
    }
    both_free(&b);
}

static void current_fpr_is_the_share_of_absent_keys_that_match(void **state) {
    (void)state;
    static const tested in_lines = {
        "vicbf", geometries[SCATTERED], COUNT(geometries) - SCATTERED, VI_FIELDS, 0, 0
    };
    check_rates(&in_lines, 40);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_bytes_match_the_oracle),
        cmocka_unit_test(an_emptied_table_is_all_zero),
        cmocka_unit_test(merges_are_sums),
        cmocka_unit_test(stuck_counters_stay),
        cmocka_unit_test(current_fpr_is_the_share_of_absent_keys_that_match),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return _cmocka_run_group_tests("vicbf", tests, COUNT(tests), NULL, NULL);
}
