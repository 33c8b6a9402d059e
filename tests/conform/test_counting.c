/* test_counting.c - counting filters against an oracle that foresees every answer and every byte.
 *
 * usage: test_counting [STEPS]     operations of each history
 *
 * The oracle keeps a plain array of counters, and finds those of a key by the formulas of
 * docs/format.md.
 */
#include "plan/cbf_size.h"
#include "subject.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_COUNTERS 1024
#define MAX_KEYS 400 /* that come and go in a history */

static uint64_t steps = 6000;

/* Tables so small that counters of a key meet, and counters stick: counters, hashes, counter_bits,
 * blocked, minimal. */
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

typedef struct oracle {
    uint64_t g[CBF_FIELDS];
    uint64_t per_line, top;
    uint64_t counter[MAX_COUNTERS];
    uint64_t keys, saturated;
} oracle;

/* How often a key counts in each counter: most of it never. */
typedef struct visit {
    uint64_t times[MAX_COUNTERS];
} visit;

static uint64_t high_half(uint64_t a, uint64_t b) {
    uint64_t const a1 = a >> 32, a0 = a & UINT32_MAX, b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t const middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* Of hash i: the first counter that it can have, and how many. */
static uint64_t oracle_range(const oracle *o, uint64_t line, uint64_t i, uint64_t *ret_size) {
    uint64_t const k = o->g[CBF_HASHES];
    uint64_t const first = i * o->per_line / k, end = (i + 1) * o->per_line / k;
    *ret_size = o->g[CBF_BLOCKED] != 0 ? end - first : o->g[CBF_COUNTERS];
    return o->g[CBF_BLOCKED] != 0 ? line * o->per_line + first : 0;
}

static visit oracle_visit(const oracle *o, uint64_t hash) {
    visit          v = { .times = { 0 } };
    uint64_t const line = high_half(hash, o->g[CBF_COUNTERS] / o->per_line);
    for (unsigned i = 0; i < o->g[CBF_HASHES]; i++) {
        uint64_t       size;
        uint64_t const first = oracle_range(o, line, i, &size);
        v.times[first + high_half(remix(hash, i), size)]++;
    }
    return v;
}

static uint64_t visit_least(const oracle *o, const visit *v) {
    uint64_t least = o->top;
    for (size_t c = 0; c < o->g[CBF_COUNTERS]; c++) {
        if (v->times[c] != 0) least = min_u64(least, o->counter[c]);
    }
    return least;
}

static uint64_t oracle_count(const oracle *o, uint64_t hash) {
    visit const    v = oracle_visit(o, hash);
    uint64_t const least = visit_least(o, &v);
    return least == o->top ? TAMIS_COUNT_MANY : least;
}

/* With minimal increase, only counters that are the smallest, and by one. */
static void oracle_add(oracle *o, uint64_t hash) {
    visit const    v = oracle_visit(o, hash);
    bool const     is_minimal = o->g[CBF_MINIMAL] != 0;
    uint64_t const least = visit_least(o, &v);
    bool           is_changed = false;
    for (size_t c = 0; c < o->g[CBF_COUNTERS]; c++) {
        if (v.times[c] == 0 || o->counter[c] == o->top) continue;
        if (is_minimal && o->counter[c] != least) continue;
        is_changed = true;
        o->counter[c] = min_u64(o->counter[c] + (is_minimal ? 1 : v.times[c]), o->top);
        o->saturated += o->counter[c] == o->top;
    }
    o->keys += is_changed;
}

/* Refused if a counter has not been counted up as often as the key counts it. */
static tamis_status oracle_remove(oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    bool        is_changed = false;
    for (size_t c = 0; c < o->g[CBF_COUNTERS]; c++) {
        if (o->counter[c] < v.times[c] && o->counter[c] != o->top) return TAMIS_ERR_ABSENT;
    }
    for (size_t c = 0; c < o->g[CBF_COUNTERS]; c++) {
        if (v.times[c] == 0 || o->counter[c] == o->top) continue;
        is_changed = true;
        o->counter[c] -= v.times[c];
    }
    o->keys -= is_changed && o->keys != 0;
    return TAMIS_OK;
}

/* The body, bit by bit. */
static void oracle_bytes(const oracle *o, uint8_t *to, size_t bytes) {
    size_t const bits = o->g[CBF_COUNTER_BITS];
    memset(to, 0, bytes);
    for (size_t i = 0; i < o->g[CBF_COUNTERS] * bits; i++) {
        size_t const c = i / bits;
        size_t const in_line = c / o->per_line * 512 + c % o->per_line * bits;
        size_t const at = (o->g[CBF_BLOCKED] != 0 ? in_line : c * bits) + i % bits;
        if ((o->counter[c] >> (i % bits) & 1) != 0) to[at / 8] |= (uint8_t)(1u << (at % 8));
    }
}

static size_t oracle_body_bytes(const oracle *o) {
    size_t const bytes = (o->g[CBF_COUNTERS] * o->g[CBF_COUNTER_BITS] + 7) / 8;
    if (o->g[CBF_BLOCKED] != 0) return 64 * (o->g[CBF_COUNTERS] / o->per_line);
    return (bytes + 8 + 63) / 64 * 64;
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

static oracle *oracle_make(const uint64_t *g) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    memcpy(o->g, g, sizeof o->g);
    o->per_line = 512 / g[CBF_COUNTER_BITS];
    o->top = (UINT64_C(1) << g[CBF_COUNTER_BITS]) - 1;
    return o;
}

static both both_make(const uint64_t *g, const char *isa, uint64_t seed) {
    both b = { .o = oracle_make(g), .chance = { seed } };
    assert_int_equal(tamis_kind_find("counting", isa, &b.kind), TAMIS_OK);
    memcpy(b.table.geometry, g, CBF_FIELDS * sizeof g[0]);
    assert_true(b.kind->body_bytes(b.table.geometry, &b.table.body_bytes));
    assert_int_equal(b.table.body_bytes, oracle_body_bytes(b.o));
    b.table.body = aligned_alloc(64, b.table.body_bytes);
    assert_non_null(b.table.body);
    memset(b.table.body, 0, b.table.body_bytes);
    b.kind->prepare(&b.table);
    for (unsigned i = 0; i < MAX_KEYS; i++) b.hash[i] = dice_roll(&b.chance);
    return b;
}

static void both_clear(both *b) {
    memset(b->table.body, 0, b->table.body_bytes);
    memset(b->o->counter, 0, sizeof b->o->counter);
    memset(b->copies, 0, sizeof b->copies);
    b->table.keys = b->table.saturated = b->o->keys = b->o->saturated = 0;
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

/* The same answers, in chunks too; and none is too small, if none but added keys were removed. */
static void check_keys(both *b, bool is_fair) {
    uint64_t hash[TAMIS_CHUNK], counts[TAMIS_CHUNK];
    for (unsigned i = 0; i < TAMIS_CHUNK; i++) {
        size_t const key = dice_below(&b->chance, MAX_KEYS);
        hash[i] = i % 4 == 0 ? dice_roll(&b->chance) : b->hash[key];
        uint64_t const count = oracle_count(b->o, hash[i]);
        assert_int_equal(b->kind->count(&b->table, hash[i]), count);
        assert_int_equal(b->kind->has(&b->table, hash[i]), count != 0);
        if (is_fair && i % 4 != 0) assert_true(count >= b->copies[key]);
    }
    uint64_t const found = b->kind->has_chunk(&b->table, hash, TAMIS_CHUNK);
    b->kind->count_chunk(&b->table, hash, TAMIS_CHUNK, counts);
    for (unsigned i = 0; i < TAMIS_CHUNK; i++) {
        assert_int_equal(counts[i], oracle_count(b->o, hash[i]));
        assert_int_equal(found >> i & 1, counts[i] != 0);
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

static bool can_remove(const both *b) {
    return (tamis_kind_abilities(b->kind, b->o->g) & TAMIS_CAN_REMOVE) != 0;
}

/* Up for a while, then down for a while, with a flood in each. */
static void history(both *b, uint64_t n, bool is_fair) {
    size_t         there = 0;
    uint64_t const round = n / 6 + 1, goal = b->o->g[CBF_COUNTERS] * 2 / b->o->g[CBF_HASHES] + 2;
    for (uint64_t i = 0; i < n; i++) {
        size_t const key = dice_below(&b->chance, MAX_KEYS);
        bool const   is_up = there < (i / round % 2 == 0 ? goal : goal / 8);
        bool const   is_add = is_up == (dice_below(&b->chance, 5) != 0) || there == 0;
        if (!can_remove(b) && there > 3 * goal) { /* what cannot shrink begins anew */
            both_clear(b);
            there = 0;
        }
        if (is_add || !can_remove(b)) {
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

/* Counter by counter, stuck ones too; and what was in either is in the sum. */
static void merges_are_sums(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        both           a = both_make(geometries[i], NULL, 1), b = both_make(geometries[i], NULL, 1);
        uint64_t const n = 1 + a.o->g[CBF_COUNTERS] / a.o->g[CBF_HASHES];
        for (uint64_t k = 0; k < n; k++) step_add(&a, dice_below(&a.chance, MAX_KEYS / 2));
        for (uint64_t k = 0; k < 2 * n; k++) step_add(&b, dice_below(&b.chance, MAX_KEYS));
        assert_int_equal(a.kind->merge(&a.table, &b.table), TAMIS_OK);
        a.o->saturated = 0;
        for (size_t c = 0; c < a.o->g[CBF_COUNTERS]; c++) {
            a.o->counter[c] = min_u64(a.o->counter[c] + b.o->counter[c], a.o->top);
            a.o->saturated += a.o->counter[c] == a.o->top;
        }
        a.o->keys += b.o->keys;
        check_counts(&a);
        check_bytes(&a);
        for (size_t k = 0; k < MAX_KEYS; k++) {
            uint64_t const copies = a.copies[k] + b.copies[k];
            assert_true(a.kind->count(&a.table, a.hash[k]) >= copies);
        }
        both_free(&a);
        both_free(&b);
    }
}

/* ------------------------------------------------------------------ the present rate */

/* The share of all ways to choose counters of a line that are not 0. */
static double line_rate(const oracle *o, uint64_t line) {
    double rate = 1;
    for (uint64_t i = 0; i < o->g[CBF_HASHES]; i++) {
        uint64_t       size, holds = 0;
        uint64_t const first = oracle_range(o, line, i, &size);
        for (uint64_t c = 0; c < size; c++) holds += o->counter[first + c] != 0;
        rate *= (double)holds / (double)size;
    }
    return rate;
}

static void the_present_rate_is_that_of_all_strangers(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        both           b = both_make(geometries[i], NULL, i + 1);
        bool const     is_blocked = geometries[i][CBF_BLOCKED] != 0;
        uint64_t const lines = is_blocked ? geometries[i][CBF_COUNTERS] / b.o->per_line : 1;
        for (size_t key = 0; key < 40; key++) {
            double rate = 0, said = b.kind->current_fpr(&b.table);
            for (uint64_t line = 0; line < lines; line++)
                rate += line_rate(b.o, line) / (double)lines;
            if (fabs(rate - said) > 1e-9) fail_msg("%zu, %zu keys: %g, not %g", i, key, said, rate);
            step_add(&b, key);
        }
        both_free(&b);
    }
}

/* ------------------------------------------------------------------ conversion */

/* A Bloom filter has no lines. */
static void only_scattered_counters_become_a_bloom_filter(void **state) {
    (void)state;
    subject const of[2] = {
        { .kind = "counting", .capacity = 100, .geometry = "blocked=0,counters=1280,hashes=5" },
        { .kind = "counting", .capacity = 100, .geometry = "blocked=1,counters=1280,hashes=5" }
    };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = subject_make(&of[i], 1), *less = NULL;
        assert_non_null(set);
        assert_int_equal(tamis_convert(set, "bloom", &less), i == 0 ? TAMIS_OK : TAMIS_ERR_CANNOT);
        tamis_free(less);
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ how many */

/* The share of keys, each added once, whose count is too high; the mean over tables. */
static double share_too_high(const uint64_t *g, uint64_t n, unsigned tables) {
    uint64_t          high = 0;
    const tamis_kind *kind;
    tamis_table       table = { .body = NULL };
    assert_int_equal(tamis_kind_find("counting", NULL, &kind), TAMIS_OK);
    memcpy(table.geometry, g, CBF_FIELDS * sizeof g[0]);
    assert_true(kind->body_bytes(g, &table.body_bytes));
    table.body = aligned_alloc(64, table.body_bytes);
    assert_non_null(table.body);
    kind->prepare(&table);
    for (uint64_t t = 0; t < tables; t++) {
        dice keys = { t << 32 }, again = { t << 32 };
        memset(table.body, 0, table.body_bytes);
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(kind->add(&table, dice_roll(&keys)), TAMIS_OK);
        for (uint64_t i = 0; i < n; i++) high += kind->count(&table, dice_roll(&again)) != 1;
    }
    free(table.body);
    return (double)high / (double)(n * tables);
}

/* Within 3% and 4 sigma; keys that err come together, so twice the sigma of independent ones. */
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
        double const   is = share_too_high(rows[i].g, rows[i].n, tables);
        double const   stated = tamis_cbf_count_error(rows[i].g, (double)rows[i].n);
        double const   sigma = 2 * sqrt(stated / ((double)rows[i].n * tables));
        if (fabs(is - stated) > .03 * stated + 4 * sigma) {
            fail_msg("row %zu: %.5f, stated %.5f +- %.5f", i, is, stated, sigma);
        }
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_bytes_are_the_oracles),
        cmocka_unit_test(merges_are_sums),
        cmocka_unit_test(the_present_rate_is_that_of_all_strangers),
        cmocka_unit_test(only_scattered_counters_become_a_bloom_filter),
        cmocka_unit_test(counts_are_too_high_as_often_as_stated),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return _cmocka_run_group_tests("counting", tests, COUNT(tests), NULL, NULL);
}
