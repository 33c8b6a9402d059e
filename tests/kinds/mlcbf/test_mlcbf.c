/* test_mlcbf.c - the multilayer filter against a slow oracle that predicts all of it.
 *
 * The oracle has a large counter for each place and a flag for those that are stuck; it finds sums
 * of increments by trying all of them, and writes a body bit by bit, level by level. From that it
 * predicts every status, answer and count, both counts of the handle, and every byte.
 *
 * usage: test_mlcbf [STEPS]
 */
#include "kinds/mlcbf/levels.h"
#include "kinds/mlcbf/size.h"
#include "subject.h"
#include "table.h"

static uint64_t steps = 3000;

#define MAX_COUNTERS 2000
#define MAX_SUMS 4000
#define STUCK_COUNT TAMIS_COUNT_MANY

/* ------------------------------------------------------------------ the oracle */

typedef struct oracle {
    uint64_t g[TAMIS_MAX_FIELDS];
    bool     is_sum[MAX_SUMS];
    uint64_t number[MAX_SUMS]; /* of a sum, if counters are numbers */
    uint64_t value[MAX_COUNTERS];
    bool     is_stuck[MAX_COUNTERS], is_closed[MAX_COUNTERS];
    uint64_t keys;
} oracle;

typedef struct step {
    uint64_t counter, amount;
} step;

static void oracle_begin(oracle *o, const uint64_t *geometry) {
    memset(o, 0, sizeof *o);
    memcpy(o->g, geometry, sizeof o->g);
    assert_true(o->g[ML_BLOCKS] * o->g[ML_COUNTERS] <= MAX_COUNTERS);
    o->is_sum[0] = true;
    for (uint64_t s = 1, n = 1; s < MAX_SUMS; s++) {
        for (uint64_t v = 1; v < 32 && v <= s; v++) {
            if ((o->g[ML_INCREMENTS] >> v & 1) != 0 && o->is_sum[s - v]) o->is_sum[s] = true;
        }
        o->number[s] = o->g[ML_PLAIN] ? s : n;
        n += o->is_sum[s];
    }
}

static uint64_t level_max(const oracle *o, unsigned l) {
    return (UINT64_C(1) << o->g[ML_BITS + l]) - 1;
}

static uint64_t oracle_top(const oracle *o) {
    uint64_t top = 0;
    for (unsigned l = 0; l < LEVELS_MAX; l++) top += level_max(o, l);
    return top;
}

/* What is stored for a counter. */
static uint64_t stored(const oracle *o, uint64_t counter) {
    bool const is_closed = o->is_closed[counter / o->g[ML_COUNTERS]];
    if (o->is_stuck[counter]) return is_closed ? level_max(o, 0) : oracle_top(o);
    return o->number[o->value[counter]];
}

/* Bits of a block's cells. */
static uint64_t cells_of(const oracle *o, uint64_t block) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < o->g[ML_COUNTERS]; i++) {
        uint64_t left = stored(o, block * o->g[ML_COUNTERS] + i);
        for (unsigned l = 0; l + 1 < LEVELS_MAX && left >= level_max(o, l); l++) {
            left -= level_max(o, l);
            bits += o->g[ML_BITS + l + 1];
        }
    }
    return bits;
}

/* In a closed block, every full counter is stuck. */
static void settle(oracle *o, uint64_t block) {
    uint64_t const first = block * o->g[ML_COUNTERS];
    for (uint64_t i = first; i < first + o->g[ML_COUNTERS]; i++) {
        if (o->is_stuck[i]) continue;
        uint64_t const x = o->number[o->value[i]];
        o->is_stuck[i] = x >= (o->is_closed[block] ? level_max(o, 0) : oracle_top(o));
    }
    if (o->is_closed[block] || cells_of(o, block) <= o->g[ML_AREA]) return;
    o->is_closed[block] = true;
    settle(o, block);
}

static unsigned steps_of(const oracle *o, uint64_t hash, step *ret_steps) {
    unsigned n = 0;
    for (unsigned i = 0; i < o->g[ML_HASHES]; i++) {
        uint64_t       rest = remix(hash, i), amount = 0;
        uint64_t const block = fastrange_next(&rest, o->g[ML_BLOCKS]);
        uint64_t const counter =
            block * o->g[ML_COUNTERS] + fastrange_next(&rest, o->g[ML_COUNTERS]);
        uint64_t chosen = fastrange(rest, (uint64_t)__builtin_popcountll(o->g[ML_INCREMENTS]));
        for (uint64_t v = 1; v < 32 && amount == 0; v++) {
            if ((o->g[ML_INCREMENTS] >> v & 1) != 0 && chosen-- == 0) amount = v;
        }
        unsigned same = 0;
        while (same < n && ret_steps[same].counter != counter) same++;
        if (same == n) ret_steps[n++] = (step){ counter, 0 };
        ret_steps[same].amount += amount;
    }
    return n;
}

static bool may_hold(const oracle *o, const step *at) {
    uint64_t const value = o->value[at->counter];
    return o->is_stuck[at->counter] || (value >= at->amount && o->is_sum[value - at->amount]);
}

static bool oracle_has(const oracle *o, uint64_t hash) {
    step           at[ML_MAX_HASHES];
    unsigned const n = steps_of(o, hash, at);
    for (unsigned i = 0; i < n; i++) {
        if (!may_hold(o, &at[i])) return false;
    }
    return true;
}

static void oracle_change(oracle *o, uint64_t hash, bool is_add) {
    step           at[ML_MAX_HASHES];
    unsigned const n = steps_of(o, hash, at);
    uint64_t       changed = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const c = at[i].counter;
        if (o->is_stuck[c]) continue;
        o->value[c] = is_add ? o->value[c] + at[i].amount : o->value[c] - at[i].amount;
        changed = 1;
        settle(o, c / o->g[ML_COUNTERS]);
    }
    if (is_add)
        o->keys += changed;
    else if (o->keys != 0)
        o->keys -= changed;
}

static uint64_t oracle_count(const oracle *o, uint64_t hash) {
    step           at[ML_MAX_HASHES];
    unsigned const n = steps_of(o, hash, at);
    uint64_t       least = STUCK_COUNT;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const value = o->value[at[i].counter];
        uint64_t       most = 0;
        if (o->is_stuck[at[i].counter]) continue;
        for (uint64_t t = 1; t * at[i].amount <= value; t++) {
            if (o->is_sum[value - t * at[i].amount]) most = t;
        }
        if (most < least) least = most;
    }
    return least;
}

static void oracle_merge(oracle *o, const oracle *from) {
    for (uint64_t i = 0; i < o->g[ML_BLOCKS] * o->g[ML_COUNTERS]; i++) {
        o->value[i] += from->value[i];
        o->is_stuck[i] |= from->is_stuck[i];
    }
    for (uint64_t b = 0; b < o->g[ML_BLOCKS]; b++) {
        o->is_closed[b] |= from->is_closed[b];
        settle(o, b);
    }
    o->keys += from->keys;
}

/* ------------------------------------------------------------------ its body */

/* One level: a cell for each of those that are at least `base`. */
static void put_level(const oracle *o, uint64_t block, unsigned l, uint64_t base, uint8_t *body,
                      uint64_t *at) {
    for (uint64_t i = 0; i < o->g[ML_COUNTERS]; i++) {
        uint64_t const x = stored(o, block * o->g[ML_COUNTERS] + i);
        if (x < base) continue;
        uint64_t const rest = x - base, max = level_max(o, l);
        *at = write_bits(body, *at, o->g[ML_BITS + l], rest < max ? rest : max);
    }
}

static void oracle_body(const oracle *o, uint8_t *ret_body, uint64_t bytes) {
    uint64_t const area = o->g[ML_COUNTERS] * o->g[ML_BITS], length = area + o->g[ML_AREA] + 1;
    memset(ret_body, 0, bytes);
    for (uint64_t b = 0; b < o->g[ML_BLOCKS]; b++) {
        uint64_t at = b * length, base = 0;
        for (unsigned l = 0; l < LEVELS_MAX && !(o->is_closed[b] && l != 0); l++) {
            put_level(o, b, l, base, ret_body, &at);
            base += level_max(o, l);
        }
        write_bit(ret_body, b * length + length - 1, o->is_closed[b]);
    }
}

static uint64_t oracle_stuck(const oracle *o) {
    uint64_t stuck = 0;
    for (uint64_t i = 0; i < o->g[ML_BLOCKS] * o->g[ML_COUNTERS]; i++) stuck += o->is_stuck[i];
    return stuck;
}

/* ------------------------------------------------------------------ both */

static tamis_set *make(const char *geometry, const char *isa) {
    return make_set(&(subject){ .kind = "mlcbf", .capacity = 50, .geometry = geometry, .isa = isa },
                    1);
}

static void check_body(const oracle *o, const tamis_set *set) {
    uint64_t const bytes = set->table.body_bytes;
    uint8_t *const body = malloc(bytes);
    assert_non_null(body);
    oracle_body(o, body, bytes);
    assert_memory_equal(body, set->table.body, bytes);
    free(body);
    assert_int_equal(set->table.keys, o->keys);
    assert_int_equal(set->table.saturated, oracle_stuck(o));
    expect_valid_table(set->kind, &set->table);
}

static void check_answers(const oracle *o, const tamis_set *set, uint64_t hash) {
    assert_int_equal(set->kind->calls.has(&set->table, hash), oracle_has(o, hash));
    assert_int_equal(set->kind->calls.count(&set->table, hash), oracle_count(o, hash));
}

/* Which events the histories have seen: each must happen at least once. */
static uint64_t seen_closed, seen_stuck_open, seen_refused, seen_kept;

static void note_limits(const oracle *o) {
    for (uint64_t i = 0; i < o->g[ML_BLOCKS] * o->g[ML_COUNTERS]; i++) {
        bool const is_closed = o->is_closed[i / o->g[ML_COUNTERS]];
        seen_closed += is_closed && !o->is_stuck[i];
        seen_stuck_open += !is_closed && o->is_stuck[i];
    }
}

/* Removes any key, added or not: the oracle must predict that, too. */
static void one_step(oracle *o, tamis_set *set, dice *chance, uint64_t range, bool is_growing) {
    uint64_t const hash = mix64(1 + dice_below(chance, range));
    bool const     is_add = (dice_below(chance, 8) != 0) == is_growing;
    check_answers(o, set, hash);
    if (is_add) {
        assert_int_equal(set->kind->calls.add(&set->table, hash), TAMIS_OK);
        oracle_change(o, hash, true);
    } else {
        bool const is_there = oracle_has(o, hash);
        bool const is_stuck = oracle_count(o, hash) == TAMIS_COUNT_MANY;
        assert_int_equal(set->kind->calls.remove(&set->table, hash), !is_there ? TAMIS_ERR_ABSENT
                                                                     : is_stuck
                                                                         ? TAMIS_ERR_SATURATED
                                                                         : TAMIS_OK);
        if (is_there) oracle_change(o, hash, false);
        seen_kept += is_stuck;
        seen_refused += !is_there;
    }
    check_body(o, set);
    check_answers(o, set, mix64(1 + dice_below(chance, range)));
}

/* Fills and empties the table, a little higher each time, so that areas run out and tops are
 * reached late. */
static void histories_are_the_oracles(const char *geometry, const char *isa) {
    static oracle    o;
    tamis_set *const set = make(geometry, isa);
    dice             chance = { 5 };
    oracle_begin(&o, set->table.geometry);
    uint64_t const range = 20 + o.g[ML_BLOCKS] * o.g[ML_COUNTERS] / (2 * o.g[ML_HASHES]);
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t const wave = range * (1 + 4 * i / steps);
        one_step(&o, set, &chance, range, i / wave % 2 == 0);
    }
    note_limits(&o);
    tamis_free(set);
}

static const char *const geometries[] = {
    "blocks=3,counters=40,area=30,hashes=3,increments=53504,bits=2,bits2=2,bits3=3,bits4=6",
    "blocks=2,counters=100,area=260,hashes=3,increments=53504,bits=1,bits2=2,bits3=1,bits4=4,bits5="
    "4,bits6=8",
    "blocks=5,counters=33,area=12,hashes=4,increments=240,plain=1,bits=4,bits2=3,bits3=3,bits4=3",
    "blocks=1,counters=200,area=90,hashes=4,increments=240,bits=3,bits2=3,bits3=5",
    "blocks=7,counters=31,area=64,hashes=5,increments=2,bits=1,bits2=1,bits3=1,bits4=2",
    "blocks=4,counters=50,area=0,hashes=5,increments=2,bits=3",
    "blocks=3,counters=50,area=0,hashes=3,increments=53504,plain=1,bits=8",
    "blocks=2,counters=60,area=70,hashes=3,increments=3640655872,plain=1,bits=5,bits2=5,bits3=8,"
    "bits4=8",
    "blocks=2,counters=3,area=40,hashes=12,increments=208,bits=7,bits2=6,bits3=8",
    "blocks=1,counters=500,area=1100,hashes=3,increments=3640655872,bits=1,bits2=3,bits3=7,bits4=8",
};

#define N_GEOMETRIES COUNT(geometries)

static void every_status_answer_and_byte_matches_the_oracle(void **state) {
    (void)state;
    for (size_t i = 0; i < N_GEOMETRIES; i++) {
        for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
            histories_are_the_oracles(geometries[i], tamis_isa_name(isa));
        }
    }
    assert_true(seen_closed > 20 && seen_stuck_open > 20 && seen_refused > 100 && seen_kept > 100);
}

static void fill_both(oracle *o, tamis_set *set, dice *chance, uint64_t keys) {
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t const hash = dice_roll(chance);
        assert_int_equal(set->kind->calls.add(&set->table, hash), TAMIS_OK);
        oracle_change(o, hash, true);
    }
    check_body(o, set);
}

/* Merges tables from nearly empty to closed, on either side. */
static void merges_are_sums(void **state) {
    (void)state;
    static oracle a, b;
    dice          chance = { 6 };
    for (unsigned round = 0; round < 40 * N_GEOMETRIES; round++) {
        tamis_set *const into = make(geometries[round % N_GEOMETRIES], NULL);
        tamis_set *const from = make(geometries[round % N_GEOMETRIES], NULL);
        oracle_begin(&a, into->table.geometry);
        oracle_begin(&b, from->table.geometry);
        uint64_t const m = a.g[ML_BLOCKS] * a.g[ML_COUNTERS], most = 2 * m / a.g[ML_HASHES];
        fill_both(&a, into, &chance, dice_below(&chance, most + 1));
        fill_both(&b, from, &chance, dice_below(&chance, most + 1));
        assert_int_equal(into->kind->merge(&into->table, &from->table), TAMIS_OK);
        oracle_merge(&a, &b);
        check_body(&a, into);
        tamis_free(into);
        tamis_free(from);
    }
}

/* ------------------------------------------------------------------ promises */

/* Table I of the paper as printed, with all its upper cells in one area. Counters reach the top and
 * stick in as many filters as stated, and no key is lost. */
static void the_papers_own_sizes_stick_and_lose_nothing(void **state) {
    (void)state;
    double const filters = 150;
    ml_forecast  told = { 0 };
    double       stuck = 0;
    for (uint64_t filter = 0; filter < (uint64_t)filters; filter++) {
        subject const    variant = { .kind = "mlcbf",
                                     .capacity = 2000,
                                     .geometry =
                                         "blocks=1,counters=12842,area=2724,hashes=5,increments="
                                            "240,plain=1,bits=4,bits2=3,bits3=3,bits4=3" };
        tamis_set *const set = make_set(&variant, 50 + filter);
        tamis_ml_forecast(set->table.geometry, 2000, 2000, &told);
        for (uint64_t key = 0; key < 4000; key++) {
            assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
            if (key >= 2000) assert_int_equal(tamis_remove_id(set, key - 2000), TAMIS_OK);
            if (key == 1999) stuck += set->table.saturated != 0;
        }
        for (uint64_t key = 2000; key < 4000; key++) assert_true(tamis_has_id(set, key));
        tamis_free(set);
    }
    print_message("# %.0f of %.0f filters stick, %.1f expected\n", stuck, filters,
                  filters * told.ever);
    double const sigma = sqrt(filters * told.ever * (1 - told.ever));
    assert_true(fabs(stuck - filters * told.ever) <= 4 * sigma);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_answer_and_byte_matches_the_oracle),
        cmocka_unit_test(merges_are_sums),
        cmocka_unit_test(the_papers_own_sizes_stick_and_lose_nothing),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("mlcbf", tests, NULL, NULL);
}
