/* test_vicbf.c - variable increments against an oracle that foresees every answer and every byte.
 *
 * usage: test_vicbf [STEPS]     operations of each history
 *
 * The oracle keeps a plain array of counters, finds those of a key by the formulas of
 * docs/format.md, and knows by a table of all sums what a counter may hold.
 */
#include "plan/vi_size.h"
#include "subject.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_COUNTERS 320
#define MAX_KEYS 400 /* that come and go in a history */
#define MAX_SUM 4096

#define ONE UINT64_C(2)
#define TWO(a, b) (UINT64_C(1) << (a) | UINT64_C(1) << (b))

static uint64_t steps = 6000;

/* Tables so small that counters of a key meet, and counters stick: counters, hashes, more,
 * counter_bits, increments, blocked. */
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

typedef struct oracle {
    uint64_t g[VI_FIELDS];
    uint64_t value[32], n; /* the increments */
    uint64_t per_line, top;
    uint64_t counter[MAX_COUNTERS];
    bool     is_sum[MAX_SUM];
    uint64_t keys, saturated;
} oracle;

static oracle *oracle_make(const uint64_t *g) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    memcpy(o->g, g, sizeof o->g);
    o->per_line = 512 / g[VI_COUNTER_BITS];
    o->top = (UINT64_C(1) << g[VI_COUNTER_BITS]) - 1;
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

/* All that a key adds, counter by counter: most of it nothing. */
typedef struct visit {
    uint64_t adds[MAX_COUNTERS];
} visit;

static uint64_t high_half(uint64_t a, uint64_t b) {
    uint64_t const a1 = a >> 32, a0 = a & UINT32_MAX, b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t const middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

static uint64_t oracle_hashes(const oracle *o, uint64_t hash) {
    return o->g[VI_HASHES] + ((remix(hash, 41) & 255) < o->g[VI_MORE]);
}

/* Of hash i: the first counter that it can have, and how many. */
static uint64_t oracle_range(const oracle *o, uint64_t line, uint64_t i, uint64_t *ret_size) {
    uint64_t const n_sectors = o->g[VI_HASHES] + (o->g[VI_MORE] != 0);
    uint64_t const first = i * o->per_line / n_sectors, end = (i + 1) * o->per_line / n_sectors;
    *ret_size = o->g[VI_BLOCKED] != 0 ? end - first : o->g[VI_COUNTERS];
    return o->g[VI_BLOCKED] != 0 ? line * o->per_line + first : 0;
}

static visit oracle_visit(const oracle *o, uint64_t hash) {
    visit          v = { .adds = { 0 } };
    uint64_t const line = high_half(hash, o->g[VI_COUNTERS] / o->per_line);
    for (unsigned i = 0; i < oracle_hashes(o, hash); i++) {
        uint64_t       size;
        uint64_t const x = remix(hash, i), first = oracle_range(o, line, i, &size);
        v.adds[first + high_half(x, size)] += o->value[high_half(x * size, o->n)];
    }
    return v;
}

/* How often at most can the counter hold the key? */
static uint64_t oracle_most(const oracle *o, uint64_t c, uint64_t adds) {
    uint64_t const value = o->counter[c];
    uint64_t       most = 0;
    if (value == o->top) return TAMIS_COUNT_MANY;
    for (uint64_t times = 1; times * adds <= value; times++) {
        if (o->is_sum[value - times * adds]) most = times;
    }
    return most;
}

static uint64_t visit_count(const oracle *o, const visit *v) {
    uint64_t least = TAMIS_COUNT_MANY;
    for (size_t c = 0; c < o->g[VI_COUNTERS]; c++) {
        if (v->adds[c] != 0) least = min_u64(least, oracle_most(o, c, v->adds[c]));
    }
    return least;
}

static uint64_t oracle_count(const oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    return visit_count(o, &v);
}

static void oracle_add(oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    bool        is_changed = false;
    for (size_t c = 0; c < o->g[VI_COUNTERS]; c++) {
        if (v.adds[c] == 0 || o->counter[c] == o->top) continue;
        is_changed = true;
        o->counter[c] = min_u64(o->counter[c] + v.adds[c], o->top);
        o->saturated += o->counter[c] == o->top;
    }
    o->keys += is_changed;
}

static tamis_status oracle_remove(oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    bool        is_changed = false;
    if (visit_count(o, &v) == 0) return TAMIS_ERR_ABSENT;
    for (size_t c = 0; c < o->g[VI_COUNTERS]; c++) {
        if (v.adds[c] == 0 || o->counter[c] == o->top) continue;
        is_changed = true;
        o->counter[c] -= v.adds[c];
    }
    o->keys -= is_changed && o->keys != 0;
    return TAMIS_OK;
}

/* The body, bit by bit. */
static void oracle_bytes(const oracle *o, uint8_t *to, size_t bytes) {
    size_t const bits = o->g[VI_COUNTER_BITS];
    memset(to, 0, bytes);
    for (size_t i = 0; i < o->g[VI_COUNTERS] * bits; i++) {
        size_t const c = i / bits;
        size_t const in_line = c / o->per_line * 512 + c % o->per_line * bits;
        size_t const at = (o->g[VI_BLOCKED] != 0 ? in_line : c * bits) + i % bits;
        if ((o->counter[c] >> (i % bits) & 1) != 0) to[at / 8] |= (uint8_t)(1u << (at % 8));
    }
}

static size_t oracle_body_bytes(const oracle *o) {
    size_t const lines = o->g[VI_COUNTERS] / o->per_line;
    size_t const bytes = (o->g[VI_COUNTERS] * o->g[VI_COUNTER_BITS] + 7) / 8;
    return o->g[VI_BLOCKED] != 0 ? 64 * (lines + 1) : (bytes + 9 + 63) / 64 * 64;
}

/* ------------------------------------------------------------------ a table and its oracle */

typedef struct both {
    const tamis_kind *kind;
    tamis_table       table;
    oracle           *o;
    dice              chance;
    uint64_t          hash[MAX_KEYS];
    unsigned          copies[MAX_KEYS]; /* what is really there */
    uint64_t          refused;
} both;

static both both_make(const uint64_t *g, const char *isa, uint64_t seed) {
    both b = { .o = oracle_make(g), .chance = { seed } };
    assert_int_equal(tamis_kind_find("vicbf", isa, &b.kind), TAMIS_OK);
    memcpy(b.table.geometry, g, VI_FIELDS * sizeof g[0]);
    assert_true(b.kind->body_bytes(b.table.geometry, &b.table.body_bytes));
    assert_int_equal(b.table.body_bytes, oracle_body_bytes(b.o));
    b.table.body = aligned_alloc(64, b.table.body_bytes);
    assert_non_null(b.table.body);
    memset(b.table.body, 0, b.table.body_bytes);
    b.kind->prepare(&b.table);
    for (unsigned i = 0; i < MAX_KEYS; i++) b.hash[i] = dice_roll(&b.chance);
    return b;
}

static void both_free(both *b) {
    free(b->table.body);
    free(b->o);
}

static void check_bytes(const both *b) {
    uint8_t    *expected = malloc(b->table.body_bytes);
    const char *why = "";
    assert_non_null(expected);
    oracle_bytes(b->o, expected, b->table.body_bytes);
    assert_memory_equal(b->table.body, expected, b->table.body_bytes);
    if (!b->kind->validate(&b->table, &why)) fail_msg("%s", why);
    free(expected);
}

static void check_counts(const both *b) {
    assert_int_equal(b->table.keys, b->o->keys);
    assert_int_equal(b->table.saturated, b->o->saturated);
}

/* The same answers; and none is wrong, while none but added keys were removed. */
static void check_keys(both *b, bool is_fair) {
    for (unsigned i = 0; i < 64; i++) {
        size_t const   key = dice_below(&b->chance, MAX_KEYS);
        uint64_t const hash = i % 4 == 0 ? dice_roll(&b->chance) : b->hash[key];
        uint64_t const count = oracle_count(b->o, hash);
        assert_int_equal(b->kind->count(&b->table, hash), count);
        assert_int_equal(b->kind->has(&b->table, hash), count != 0);
        if (is_fair && i % 4 != 0) assert_true(count >= b->copies[key]);
    }
}

static void step_add(both *b, size_t key) {
    oracle_add(b->o, b->hash[key]);
    assert_int_equal(b->kind->add(&b->table, b->hash[key]), TAMIS_OK);
    b->copies[key]++;
}

static void step_remove(both *b, size_t key, bool is_fair) {
    while (is_fair && b->copies[key] == 0) key = (key + 1) % MAX_KEYS;
    tamis_status const status = oracle_remove(b->o, b->hash[key]);
    assert_int_equal(b->kind->remove(&b->table, b->hash[key]), status);
    assert_true(!is_fair || status == TAMIS_OK);
    b->refused += status != TAMIS_OK;
    b->copies[key] -= b->copies[key] != 0;
}

/* Up for a while, then down for a while, with a flood in each. */
static void history(both *b, uint64_t n, bool is_fair) {
    size_t   there = 0;
    uint64_t round = n / 6 + 1, goal = b->o->g[VI_COUNTERS] * 3 / b->o->g[VI_HASHES] + 2;
    for (uint64_t i = 0; i < n; i++) {
        size_t const key = dice_below(&b->chance, MAX_KEYS);
        bool const   is_up = there < (i / round % 2 == 0 ? goal : goal / 8);
        if (is_up == (dice_below(&b->chance, 5) != 0) || there == 0) {
            step_add(b, i / round > 2 && i % round < 12 ? 0 : key);
            there++;
        } else {
            step_remove(b, key, is_fair);
            there--;
        }
        check_counts(b);
        if (i % 64 == 0) check_keys(b, is_fair);
        if (i % 100 == 0) check_bytes(b);
    }
    check_bytes(b);
}

static void answers_and_bytes_are_the_oracles(void **state) {
    (void)state;
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        uint64_t saturated = 0, refused = 0;
        for (size_t i = 0; i < 2 * COUNT(geometries); i++) {
            both b = both_make(geometries[i / 2], tamis_isa_name(isa), i + 1);
            history(&b, steps, i % 2 == 0);
            saturated += b.table.saturated != 0;
            refused += b.refused;
            both_free(&b);
        }
        assert_in_range(saturated, COUNT(geometries) / 2, 2 * COUNT(geometries));
        assert_true(refused > steps / 10);
    }
}

/* Fair histories that end with nothing leave nothing, if no counter stuck. */
static void what_is_emptied_is_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        both b = both_make(geometries[i], NULL, i + 7);
        for (size_t key = 0; key < 20; key++) step_add(&b, key % 9);
        for (size_t key = 20; key-- > 0;) step_remove(&b, key % 9, true);
        check_bytes(&b);
        for (uint64_t at = 0; at < b.table.body_bytes && b.table.saturated == 0; at++) {
            assert_int_equal(b.table.body[at], 0);
        }
        assert_true(b.table.saturated != 0 || b.table.keys == 0);
        both_free(&b);
    }
}

/* Counter by counter, stuck ones too; and what was in either is in the sum. */
static void merges_are_sums(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        both           a = both_make(geometries[i], NULL, 1), b = both_make(geometries[i], NULL, 1);
        uint64_t const n = 1 + a.o->g[VI_COUNTERS] / a.o->g[VI_HASHES];
        for (uint64_t k = 0; k < n; k++) step_add(&a, dice_below(&a.chance, MAX_KEYS / 2));
        for (uint64_t k = 0; k < 2 * n; k++) step_add(&b, dice_below(&b.chance, MAX_KEYS));
        assert_int_equal(a.kind->merge(&a.table, &b.table), TAMIS_OK);
        a.o->saturated = 0;
        for (size_t c = 0; c < a.o->g[VI_COUNTERS]; c++) {
            a.o->counter[c] = min_u64(a.o->counter[c] + b.o->counter[c], a.o->top);
            a.o->saturated += a.o->counter[c] == a.o->top;
        }
        a.o->keys += b.o->keys;
        check_counts(&a);
        check_bytes(&a);
        for (size_t k = 0; k < MAX_KEYS; k++) {
            uint64_t const copies = a.copies[k] + b.copies[k];
            assert_true(a.kind->count(&a.table, a.hash[k]) >= copies);
            assert_true(copies == 0 || a.kind->has(&a.table, a.hash[k]));
        }
        both_free(&a);
        both_free(&b);
    }
}

/* A stuck counter says nothing: neither how many, nor who, and removals leave it. */
static void what_sticks_stays(void **state) {
    (void)state;
    static const uint64_t g[] = { 2, 1, 0, 5, VI_D(4), 0 };
    both                  b = both_make(g, NULL, 5);
    while (b.table.saturated != 2) step_add(&b, dice_below(&b.chance, MAX_KEYS));
    for (unsigned i = 0; i < 100; i++) step_remove(&b, i, false);
    assert_int_equal(b.refused, 0);
    check_counts(&b);
    check_bytes(&b);
    for (unsigned i = 0; i < MAX_KEYS; i++) {
        assert_true(b.kind->has(&b.table, b.hash[i]));
        assert_int_equal(b.kind->count(&b.table, b.hash[i]), TAMIS_COUNT_MANY);
    }
    both_free(&b);
}

/* ------------------------------------------------------------------ the present rate */

/* The share of all ways to choose counters of a line, and increments, that it may hold. No two
 * counters of a key meet, so each hash passes or not by itself. */
static double line_rate(const oracle *o, uint64_t line) {
    double rate = 1;
    for (uint64_t i = 0; i <= o->g[VI_HASHES]; i++) {
        uint64_t       size, passes = 0;
        uint64_t const first = oracle_range(o, line, i, &size);
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

static void the_present_rate_is_that_of_all_strangers(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        both           b = both_make(geometries[i], NULL, i + 1);
        uint64_t const lines = geometries[i][VI_COUNTERS] / b.o->per_line;
        for (size_t key = 0; key < 40 && geometries[i][VI_BLOCKED] != 0; key++) {
            double rate = 0, said = b.kind->current_fpr(&b.table);
            for (uint64_t line = 0; line < lines; line++)
                rate += line_rate(b.o, line) / (double)lines;
            if (fabs(rate - said) > 1e-9) fail_msg("%zu, %zu keys: %g, not %g", i, key, said, rate);
            step_add(&b, key);
        }
        both_free(&b);
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_bytes_are_the_oracles),
        cmocka_unit_test(what_is_emptied_is_zero),
        cmocka_unit_test(merges_are_sums),
        cmocka_unit_test(what_sticks_stays),
        cmocka_unit_test(the_present_rate_is_that_of_all_strangers),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return _cmocka_run_group_tests("vicbf", tests, COUNT(tests), NULL, NULL);
}
