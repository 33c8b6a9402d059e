/* test_state_print_size.c - kinds/state_print/size.h: what it states, compared with tables that are
 * filled and churned.
 *
 * usage: test_state_print_size [N [MILLIONS]]     every N-th choice of the grid; steps of each life
 *
 * The kind is compiled into this file to count the cache lines that operations touch (touches.h).
 * All other tables are the library's own.
 */
#include "touches.h"

#include "kinds/state_print/state_print.c"
#include "kinds/state_print/states.c"

#define SIGMAS 4.0

static unsigned one_in = 1; /* of the grid */
static double   millions = 1;

/* ------------------------------------------------------------------ tables */

typedef struct world {
    const tamis_kind *kind;
    tamis_table       table;
    uint64_t         *key;
    uint64_t          n;
    dice              random;
} world;

/* Without ageing, and with as many values as fit. */
static world world_make(const uint64_t *geometry, uint64_t n) {
    world w = { .n = n, .key = calloc(n, sizeof *w.key), .random = dice_start() };
    assert_non_null(w.key);
    w.kind = find_kind("state_print", NULL);
    w.table = table_make(w.kind, geometry);
    w.table.values =
        (UINT64_C(1) << geometry[STATE_PRINT_VALUE_BITS]) - (geometry[STATE_PRINT_PERMUTED] == 0);
    w.table.sweep.units = state_print_units(geometry);
    w.kind->prepare(&w.table);
    return w;
}

static void world_free(world *w) {
    free(w->table.body);
    free(w->key);
}

static uint32_t value_of(const world *w, uint64_t key) {
    return (uint32_t)(key % w->table.values);
}

/* Put a new key; false: there was no room for it. A key whose print is there already is left out,
 * so that all prints in the table are different. */
static bool world_put(world *w, uint64_t at) {
    for (;;) {
        uint64_t const     key = dice_roll(&w->random);
        uint32_t           value;
        tamis_status const was = w->kind->states->get(&w->table, key, &value);
        if (was == TAMIS_OK) continue;
        tamis_status const status = w->kind->states->put(&w->table, key, value_of(w, key));
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_FULL);
        w->key[at] = key;
        return status == TAMIS_OK;
    }
}

static uint64_t world_fill(world *w) {
    uint64_t refused = 0;
    for (uint64_t i = 0; i < w->n; i++) refused += !world_put(w, i);
    return refused;
}

/* Replace random keys by new ones. Keys that are unknown stay. */
static uint64_t world_churn(world *w, uint64_t steps) {
    uint64_t refused = 0;
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t const at = dice_below(&w->random, w->n);
        (void)!w->kind->states->drop(&w->table, w->key[at], TAMIS_ANY_VALUE);
        refused += !world_put(w, at);
    }
    return refused;
}

static void state_print_geometry(const uint64_t *g) {
    for (unsigned i = 0; i < STATE_PRINT_FIELDS; i++)
        print_error(" %llu", (unsigned long long)g[i]);
    print_error("\n");
}

/* ------------------------------------------------------------------ rates, measured */

static void check_rate(const char *name, double seen, double all, double stated) {
    double const sigma = share_error(stated, all);
    print_message("# %s: %.6f, stated %.6f, %+.1f sigma\n", name, seen / all, stated,
                  (seen / all - stated) / sigma);
    assert_true(fabs(seen / all - stated) <= SIGMAS * sigma);
}

typedef struct answers {
    double values, unknown;
} answers;

static answers ask_strangers(world *w, unsigned n) {
    answers seen = { 0, 0 };
    for (unsigned i = 0; i < n; i++) {
        uint32_t           value;
        tamis_status const status = w->kind->states->get(&w->table, dice_roll(&w->random), &value);
        seen.values += status == TAMIS_OK;
        seen.unknown += status == TAMIS_ERR_UNKNOWN;
    }
    return seen;
}

/* load x d x 2^-f, at three loads, after filling and after churn; always below the union bound. */
static void strangers_have_a_value_as_often_as_stated(void **state) {
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        uint64_t const g[] = { 3, 500, 7, 11, 3, 13, i % 2, i / 6, 64 };
        uint64_t const n = 1500 * (2 + i / 2 % 3);
        world          w = world_make(g, n);
        assert_int_equal(world_fill(&w), 0);
        if (i % 4 < 2) (void)world_churn(&w, n); /* some, and some not */
        uint64_t const aside = side_count(state_print_side(&w.table));
        double const   cells = (double)(w.table.keys - aside), asked = 1000000;
        answers const  seen = ask_strangers(&w, 1000000);
        double const   bound = 3 * 7 * ldexp(1, -11);
        check_rate("strangers", seen.values + seen.unknown, asked,
                   -expm1(cells * log1p(-1 / (500 * (ldexp(1, 11) - 1)))));
        kind_survey survey;
        state_print_survey(&w.table, &survey);
        assert_near(survey.fpr, cells / (500 * (ldexp(1, 11) - 1)), 1e-12);
        assert_true((seen.values + seen.unknown) / asked < bound);
        assert_true(g[STATE_PRINT_PERMUTED] == 0 || seen.unknown == 0);
        world_free(&w);
    }
}

/* How many of the present keys are unknown, or have another value. */
static answers ask_members(const world *w) {
    answers seen = { 0, 0 };
    for (uint64_t i = 0; i < w->n; i++) {
        uint32_t           value = UINT32_MAX;
        tamis_status const status = w->kind->states->get(&w->table, w->key[i], &value);
        assert_true(status != TAMIS_ERR_ABSENT);
        seen.values += status == TAMIS_OK && value != value_of(w, w->key[i]);
        seen.unknown += status == TAMIS_ERR_UNKNOWN;
    }
    return seen;
}

/* As many as stated, or up to a sixth less. */
static void check_share(const char *name, double seen, double all, double stated) {
    double const sigma = share_error(stated, all);
    print_message("# %s: %.6f, stated %.6f or less\n", name, seen / all, stated);
    assert_true(seen / all <= stated + SIGMAS * sigma);
    assert_true(seen / all >= stated * 5 / 6 - SIGMAS * sigma);
}

/* Without permutations, half of the stated share after filling. After all keys were moved it is the
 * stated share, since then the second of two keys is unknown, too. */
static void members_are_unknown_as_often_as_stated(void **state) {
    (void)state;
    static const uint64_t shapes[][2] = { { 2, 9 }, { 3, 11 }, { 4, 12 }, { 8, 13 } };
    for (unsigned i = 0; i < COUNT(shapes); i++) {
        uint64_t const d = shapes[i][0], f = shapes[i][1], n = 40 * 1000;
        uint64_t const g[] = { d, 2000, 4 * n / (2000 * d), f, 5, 512, 0, 0, 64 };
        double         unknown = 0, moved = 0, rounds = 8;
        for (unsigned round = 0; round < rounds; round++) {
            world w = world_make(g, n);
            w.random.state += round;
            assert_int_equal(world_fill(&w), 0);
            answers const seen = ask_members(&w);
            unknown += seen.unknown;
            assert_true(seen.values == 0);
            for (uint64_t k = 0; k < n; k++) {
                uint32_t const value = value_of(&w, w.key[k]);
                (void)!w.kind->states->move(&w.table, w.key[k], value, value);
            }
            moved += ask_members(&w).unknown;
            world_free(&w);
        }
        double const stated = tamis_state_print_unknown(g, (double)n, (double)n);
        check_share("filled", unknown, rounds * (double)n, stated / 2);
        check_share("moved", moved, rounds * (double)n, stated);
    }
}

/* Without permutations and ageing, unknown keys cannot be dropped. So at the end there are more
 * keys than intended, but no more than stated, since there are fewer at the beginning. */
static void unknown_keys_stay_as_stated(void **state) {
    (void)state;
    uint64_t const g[] = { 3, 1000, 12, 9, 3, 18, 0, 0, 64 };
    uint64_t const n = 12000;
    world          w = world_make(g, n);
    assert_int_equal(world_fill(&w), 0);
    for (unsigned lives = 2; lives <= 16; lives *= 2) {
        uint64_t const steps = n * lives / 2;
        (void)world_churn(&w, lives == 2 ? n : steps);
        double const  stated = tamis_state_print_keys(g, (double)n, (double)(n * lives));
        double const  more = (double)w.table.keys - (double)n, expected = stated - (double)n;
        answers const seen = ask_members(&w);
        double const  rate = tamis_state_print_unknown(g, (double)n, (double)(n * lives));
        print_message("# after %u lives %.0f more keys, stated %.0f; %.4f unknown, stated %.4f\n",
                      lives, more, expected, seen.unknown / (double)n, rate);
        assert_true(more <= expected + SIGMAS * sqrt(expected));
        assert_true(more >= expected / 3); /* half, since nothing is moved; fewer at first */
        assert_true(seen.unknown <= rate * (double)n + SIGMAS * sqrt(rate * (double)n));
    }
    world_free(&w);
}

/* With permutations no key is ever unknown, and every key can be dropped. */
static void permuted_keys_are_never_unknown(void **state) {
    (void)state;
    uint64_t const g[] = { 3, 1000, 6, 6, 3, 7, 1, 1, 64 };
    uint64_t const n = 9000;
    world          w = world_make(g, n);
    assert_int_equal(world_fill(&w), 0);
    assert_int_equal(world_churn(&w, 4 * n), 0);
    assert_int_equal(w.table.keys, n);
    answers const seen = ask_members(&w);
    assert_true(seen.unknown == 0 && seen.values == 0);
    assert_true(tamis_state_print_unknown(g, (double)n, 16 * (double)n) == 0);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(w.kind->states->drop(&w.table, w.key[i], value_of(&w, w.key[i])),
                         TAMIS_OK);
    }
    assert_int_equal(w.table.keys, 0);
    world_free(&w);
}

/* ------------------------------------------------------------------ overflow, measured */

/* The paper's buckets: 3 subtables, 6 cells, 4 keys for each (and more). Nothing is in the side
 * table. */
typedef struct life {
    uint64_t buckets;
    double   load;
    uint64_t cells, reinserts;
    bool     is_limit; /* so large that the fluid limit itself holds, and so often that it shows */
} life;

static const life lives[] = {
    { 4, 4, 6, 0, false },      { 8, 4, 6, 0, false },     { 16, 4, 6, 0, false },
    { 1000, 4.25, 6, 0, true }, { 1000, 4.5, 6, 0, true }, { 1000, 4.25, 7, 0, false },
};

static void life_geometry(const life *lived, uint64_t *ret_geometry) {
    uint64_t const g[] = {
        3, lived->buckets, lived->cells, 30, 3, (lived->cells * 33 + 7) / 8, 1, lived->reinserts, 0
    };
    memcpy(ret_geometry, g, sizeof g);
}

/* How many puts are refused while random keys are replaced by new ones. In large tables they are as
 * many as stated; in tables with few buckets at most that many. The chance at 4.00 in large ones,
 * 1.6e-8, is for the lab. */
static void puts_are_refused_as_often_as_stated_or_less(void **state) {
    const life *const lived = *state;
    uint64_t          g[STATE_PRINT_FIELDS];
    fluid             law;
    life_geometry(lived, g);
    uint64_t const n = (uint64_t)(lived->load * 3 * (double)lived->buckets);
    double const   steps = millions * 1e6;
    world          w = world_make(g, n);
    (void)world_fill(&w);
    (void)world_churn(&w, 6 * n);
    double const refused = (double)world_churn(&w, (uint64_t)steps);
    tamis_fluid_churn(3, lived->load, lived->is_limit ? INFINITY : (double)lived->buckets, &law);
    double const stated = steps * tamis_fluid_all(&law, (unsigned)lived->cells);
    print_message("# %.0f of %.0f refused, stated %.3g\n", refused, steps, stated);
    assert_true(refused <= stated + SIGMAS * sqrt(stated) + 1);
    if (lived->is_limit) assert_true(refused >= stated - SIGMAS * sqrt(stated));
    assert_near(tamis_state_print_overflow(g, 1000, 1e4), tamis_dleft_overflow(g, true, 1000, 1e4),
                1e-12);
    world_free(&w);
}

/* Filled once, the same buckets never overflow. */
static void fillings_of_the_papers_buckets_fit(void **state) {
    (void)state;
    uint64_t g[STATE_PRINT_FIELDS], refused = 0;
    life_geometry(&(life){ 1000, 4, 6, 0, true }, g);
    for (unsigned i = 0; i < 20; i++) {
        world w = world_make(g, 12000);
        w.random.state += i;
        refused += world_fill(&w);
        world_free(&w);
    }
    assert_int_equal(refused, 0);
    assert_true(tamis_state_print_overflow(g, 12000, 12000) < 1e-15);
    assert_true(tamis_state_print_overflow(g, 12000, 120000) > 1e-3);
}

/* Keys that would be refused without a side table are in it until they are dropped. */
static void what_overflows_is_aside(void **state) {
    (void)state;
    uint64_t g[STATE_PRINT_FIELDS], most = 0;
    life_geometry(&(life){ 300, 4.5, 6, 0, true }, g);
    g[STATE_PRINT_SIDE] = 64;
    world w = world_make(g, 4050);
    assert_int_equal(world_fill(&w), 0);
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(world_churn(&w, 500), 0);
        most = max_u64(most, side_count(state_print_side(&w.table)));
    }
    assert_in_range(most, 3, 40); /* 4050 x 5e-4 on average */
    answers const seen = ask_members(&w);
    assert_true(seen.unknown == 0 && seen.values == 0);
    world_free(&w);
}

/* Without permutations, keys that are unknown when they are put go to the side table, as often as
 * stated or less: two of three buckets have the print, and the statement counts all pairs of cells,
 * including unknown values. */
static void unknown_keys_go_aside_as_often_as_stated_or_less(void **state) {
    (void)state;
    uint64_t const g[] = { 3, 1000, 8, 8, 3, 12, 0, 0, 64 };
    uint64_t const n = 12000;
    double const   met = (double)n / (1000.0 * 255);
    double const   twice = -expm1(-met) - met * exp(-met), stated = twice + met * met;
    world          w = world_make(g, n);
    double         strangers = 0;
    assert_int_equal(world_fill(&w), 0);
    for (unsigned i = 0; i < 1000000; i++) {
        uint32_t value;
        strangers +=
            w.kind->states->get(&w.table, dice_roll(&w.random), &value) == TAMIS_ERR_UNKNOWN;
    }
    double const p =
        (double)(w.table.keys - side_count(state_print_side(&w.table))) / (3000.0 * 255);
    check_rate("unknown strangers", strangers, 1e6, 3 * p * p * (1 - p) + p * p * p);
    assert_true(strangers / 1e6 <= stated);
    world_free(&w);
}

/* ------------------------------------------------------------------ choices */

static const double   grid_n[] = { 1, 7, 100, 3000, 1e6, 3e9 };
static const double   grid_fpr[] = { 0.3, 0.01, 1e-4, 1e-7, 1e-11 };
static const double   grid_lives[] = { 1, 16, 1000 };
static const uint64_t grid_bits[] = { 1, 5, 37 };

typedef struct grid_point {
    tamis_need need;
    uint64_t   bits, permuted;
} grid_point;

#define GRID_POINTS (COUNT(grid_n) * COUNT(grid_fpr) * COUNT(grid_lives) * COUNT(grid_bits) * 2 * 2)

static grid_point grid_at(size_t i) {
    grid_point p = { .need = { .overflow = 1e-10,
                               .prefer = i % 2 != 0 ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL } };
    i /= 2;
    p.permuted = i % 2 == 0;
    i /= 2;
    p.bits = grid_bits[i % COUNT(grid_bits)];
    i /= COUNT(grid_bits);
    double const turnovers = grid_lives[i % COUNT(grid_lives)];
    i /= COUNT(grid_lives);
    p.need.fpr = grid_fpr[i % COUNT(grid_fpr)];
    p.need.work.capacity = (uint64_t)grid_n[i / COUNT(grid_fpr)];
    p.need.unknown = p.need.fpr / (1 + (double)(i % 3) * 2);
    p.need.work.lifetime = p.need.work.capacity * (uint64_t)turnovers;
    return p;
}

static void free_geometry(const grid_point *p, uint64_t *ret_geometry) {
    for (unsigned i = 0; i < STATE_PRINT_FIELDS; i++) ret_geometry[i] = NEED_FREE;
    ret_geometry[STATE_PRINT_VALUE_BITS] = p->bits;
    ret_geometry[STATE_PRINT_PERMUTED] = p->permuted;
}

static bool grid_choose(const grid_point *p, uint64_t *ret_geometry) {
    free_geometry(p, ret_geometry);
    return tamis_state_print_choose(&p->need, ret_geometry);
}

static void explain(const grid_point *p, const uint64_t *g) {
    print_error("n %g fpr %g unknown %g lifetime %g%s:", (double)p->need.work.capacity, p->need.fpr,
                p->need.unknown, (double)p->need.work.lifetime,
                need_is_fast(&p->need) ? ", fast" : "");
    state_print_geometry(g);
}

static bool keeps_all(const grid_point *p, const uint64_t *g) {
    double const n = (double)p->need.work.capacity, t = (double)p->need.work.lifetime,
                 more = 1 + 1e-9;
    state_print_layout layout;
    return tamis_state_print_layout(g, &layout) &&
           tamis_state_print_fpr(g, n, t) <= p->need.fpr * more &&
           tamis_state_print_unknown(g, n, t) <= p->need.unknown * more &&
           tamis_state_print_overflow(g, n, t) <= p->need.overflow &&
           g[STATE_PRINT_VALUE_BITS] == p->bits && g[STATE_PRINT_PERMUTED] == p->permuted &&
           g[STATE_PRINT_REINSERTS] <= 1;
}

/* Every choice is possible and meets the need. There is a choice unless it would need too many
 * fingerprints. */
static void every_choice_keeps_what_was_asked_for(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += one_in) {
        grid_point const p = grid_at(i);
        uint64_t         g[STATE_PRINT_FIELDS];
        bool const       is_easy = (double)p.need.work.capacity / p.need.fpr *
                                 ((double)p.need.work.lifetime / (double)p.need.work.capacity) <
                             0x1p50;
        bool const is_chosen = grid_choose(&p, g);
        if (!is_chosen && !is_easy) continue;
        if (!is_chosen || !keeps_all(&p, g)) explain(&p, g);
        assert_true(is_chosen && keeps_all(&p, g));
    }
}

/* If all fields are fixed, nothing is left to choose: the rates that they have are the lowest. */
static void expect_refused_at_lower_rates(const grid_point *p, const uint64_t *geometry) {
    double const n = (double)p->need.work.capacity, t = (double)p->need.work.lifetime;
    double const unknown = tamis_state_print_unknown(geometry, n, t);
    tamis_need   lower = p->need;
    uint64_t     g[STATE_PRINT_FIELDS];
    memcpy(g, geometry, sizeof g);
    lower.fpr = tamis_state_print_fpr(geometry, n, t) / 2;
    assert_false(tamis_state_print_choose(&lower, g));
    lower.fpr = p->need.fpr;
    lower.unknown = unknown / 2;
    if (unknown > 0) assert_false(tamis_state_print_choose(&lower, g));
}

/* Fix each field to a value that was chosen for another need; then all fields of a choice. */
static void fixed_fields_are_honoured(void **state) {
    (void)state;
    unsigned had = 0;
    for (size_t i = 0; i < GRID_POINTS; i += 7 * one_in) {
        grid_point const p = grid_at(i);
        grid_point       other = p;
        uint64_t         wish[STATE_PRINT_FIELDS], g[STATE_PRINT_FIELDS];
        other.need.work.capacity += p.need.work.capacity * 3 / 10;
        other.need.work.lifetime += p.need.work.lifetime * 3 / 10;
        other.need.overflow = 1e-12;
        if (!grid_choose(&other, wish)) continue;
        for (unsigned a = 0; a < STATE_PRINT_FIELDS; a++) {
            free_geometry(&p, g);
            g[a] = wish[a];
            if (!tamis_state_print_choose(&p.need, g)) continue;
            had++;
            if (g[a] != wish[a] || !keeps_all(&p, g)) explain(&p, g);
            assert_true(g[a] == wish[a] && keeps_all(&p, g));
        }
        if (!grid_choose(&p, wish)) continue;
        memcpy(g, wish, sizeof g);
        if (!tamis_state_print_choose(&p.need, g)) explain(&p, wish);
        assert_memory_equal(g, wish, sizeof g);
        expect_refused_at_lower_rates(&p, wish);
    }
    assert_true(had > 20);
}

/* d b h (f + x) bits, and the side table. */
static void layouts_are_those_of_the_paper(void **state) {
    (void)state;
    uint64_t const     g[] = { 3, 1000, 8, 14, 4, 18, 1, 0, 16 };
    state_print_layout layout;
    assert_true(tamis_state_print_layout(g, &layout));
    assert_int_equal(8 * layout.side, 3 * 1000 * 8 * (14 + 4));
    assert_int_equal(layout.end - layout.side, 8 + 16 * 8 + 16 * 4 / 8);
    assert_near(tamis_state_print_fpr(g, 12000, 12000), 12 * ldexp(1, -14), 0.001);
}

static void layouts_refuse_what_is_out_of_range(void **state) {
    (void)state;
    static const struct {
        unsigned field;
        uint64_t value;
    } bad[] = {
        { STATE_PRINT_TABLES, 1 },         { STATE_PRINT_TABLES, 9 },
        { STATE_PRINT_BUCKETS, 0 },        { STATE_PRINT_BUCKETS, UINT64_MAX },
        { STATE_PRINT_CELLS, 0 },          { STATE_PRINT_CELLS, 9 },
        { STATE_PRINT_CELLS, 65 },         { STATE_PRINT_PRINT_BITS, 3 },
        { STATE_PRINT_PRINT_BITS, 15 },    { STATE_PRINT_PRINT_BITS, 49 },
        { STATE_PRINT_VALUE_BITS, 0 },     { STATE_PRINT_VALUE_BITS, 5 },
        { STATE_PRINT_VALUE_BITS, 39 },    { STATE_PRINT_BUCKET_BYTES, 17 },
        { STATE_PRINT_BUCKET_BYTES, 513 }, { STATE_PRINT_PERMUTED, 2 },
        { STATE_PRINT_REINSERTS, 2 },      { STATE_PRINT_SIDE, 65 },
        { STATE_PRINT_SIDE, UINT64_MAX },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint64_t           g[] = { 3, 1000, 8, 14, 4, 18, 1, 0, 16 };
        state_print_layout layout;
        g[bad[i].field] = bad[i].value;
        if (tamis_state_print_layout(g, &layout)) fail_msg("field %u", bad[i].field);
    }
    /* Each field is in its range, but buckets and side table together take 2^64 bytes. */
    static const uint64_t huge[] = { 8, (UINT64_C(1) << 55) - 1, 1, 4, 1, 64, 1, 0, 64 };
    state_print_layout    layout;
    assert_false(tamis_state_print_layout(huge, &layout));
}

static void choices_that_cannot_be_are_refused(void **state) {
    (void)state;
    tamis_need const need = { .work = { 1000, 1, UINT64_C(1) << 40 }, .overflow = 1e-10 };
    /* All fields are fixed, and a bucket is too short for its cell. */
    uint64_t tight[] = { 7, 1, 1, 48, 4, 1, 1, 0, 60 };
    assert_false(tamis_state_print_choose(&need, tight));
    /* Prints of 4 bits, in a long life: more keys are unknown than any side table holds. */
    uint64_t unknown[] = { NEED_FREE, NEED_FREE, NEED_FREE, 4, 4, NEED_FREE, 0, 0, NEED_FREE };
    assert_false(tamis_state_print_choose(&need, unknown));
    /* Two buckets with the most cells would hold these keys, but overflow too often. */
    tamis_need const few = { .work = { 93, 1, 16 * 93 }, .overflow = 1e-10 };
    uint64_t         two[] = { 2, 1, NEED_FREE, NEED_FREE, 11, NEED_FREE, 1, 0, NEED_FREE };
    assert_false(tamis_state_print_choose(&few, two));
}

/* ------------------------------------------------------------------ lines touched */

#define CAPACITY 30000
#define SAMPLES 20000
#define LAST 2000 /* puts that are counted, at 93 to 100% of the capacity */

typedef struct job {
    const char *name;
    double      fpr;
    uint64_t    bits, permuted, cells, bytes, side; /* cells and bytes 0: free */
    bool        is_fast, is_churned;
} job;

typedef struct counts {
    double present, absent, put;
} counts;

static world job_world(const job *wanted, tamis_forecast *ret_stated) {
    tamis_need const need = { .work = { .capacity = CAPACITY,
                                        .copies = 1,
                                        .lifetime = wanted->is_churned ? 16 * CAPACITY : CAPACITY },
                              .fpr = wanted->fpr,
                              .unknown = wanted->fpr,
                              .overflow = 1e-10,
                              .prefer = wanted->is_fast ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL };
    uint64_t         g[STATE_PRINT_FIELDS];
    for (unsigned i = 0; i < STATE_PRINT_FIELDS; i++) g[i] = NEED_FREE;
    g[STATE_PRINT_VALUE_BITS] = wanted->bits;
    g[STATE_PRINT_PERMUTED] = wanted->permuted;
    g[STATE_PRINT_SIDE] = wanted->side;
    if (wanted->cells != 0) g[STATE_PRINT_CELLS] = wanted->cells;
    if (wanted->bytes != 0) g[STATE_PRINT_BUCKET_BYTES] = wanted->bytes;
    assert_true(tamis_state_print_choose(&need, g));
    state_print_predict(g, &need.work, ret_stated);
    return world_make(g, CAPACITY);
}

static unsigned count_one(world *w, uint64_t key, tamis_status (*operation)(world *, uint64_t)) {
    touches_seen.n = 0;
    touches_seen.is_on = true;
    (void)!operation(w, key);
    touches_seen.is_on = false;
    return touches_seen.n;
}

static tamis_status just_get(world *w, uint64_t key) {
    uint32_t value;
    return state_print_get(&w->table, key, &value);
}

static tamis_status just_put(world *w, uint64_t key) {
    return state_print_put(&w->table, key, value_of(w, key));
}

static counts count_lines(world *w, bool is_churned) {
    counts total = { 0, 0, 0 };
    for (uint64_t i = 0; i < CAPACITY; i++) {
        w->key[i] = dice_roll(&w->random);
        unsigned const lines = count_one(w, w->key[i], just_put);
        if (i >= CAPACITY - LAST) total.put += (double)lines / LAST;
    }
    if (is_churned) (void)world_churn(w, 5 * CAPACITY);
    for (unsigned i = 0; i < SAMPLES; i++) {
        uint64_t const key = w->key[dice_below(&w->random, CAPACITY)];
        total.present += (double)count_one(w, key, just_get) / SAMPLES;
        total.absent += (double)count_one(w, dice_roll(&w->random), just_get) / SAMPLES;
    }
    return total;
}

/* Within 3%; one in a hundred strangers is taken for a member, and found before the end. */
static void lines_are_as_stated(void **state) {
    const job *const wanted = *state;
    tamis_forecast   stated;
    world            w = job_world(wanted, &stated);
    counts const     counted = count_lines(&w, wanted->is_churned);
    print_message("# %s: present %.3f stated %.3f, absent %.3f stated %.3f, put %.3f stated %.3f\n",
                  wanted->name, counted.present, stated.lines_present, counted.absent,
                  stated.lines_absent, counted.put, stated.lines_add);
    world_free(&w);
    assert_near(stated.lines_present, counted.present, 0.03);
    assert_near(stated.lines_absent, counted.absent, 0.03);
    assert_near(stated.lines_add, counted.put, 0.03);
}

static const job jobs[] = {
    { "lines, small", 0.01, 3, 1, 0, 0, 16, false, true },
    { "lines, fast", 0.01, 3, 1, 0, 0, 16, true, true },
    { "lines, 0.1%, 5 bits", 0.001, 5, 1, 0, 0, 16, false, true },
    { "lines, 32 bits", 1e-6, 32, 1, 0, 0, 16, false, true },
    { "lines, 32 bits, fast", 1e-6, 32, 1, 0, 0, 16, true, true },
    { "lines, no side table", 0.001, 5, 1, 7, 16, 0, false, true },
    { "lines, filled once", 0.001, 5, 1, 0, 0, 16, false, false },
    { "lines, apart", 0.001, 4, 0, 7, 0, 16, false, true },
    { "lines, 100 bytes", 0.001, 4, 1, 30, 100, 16, false, true },
};

/* ------------------------------------------------------------------ all */

static const char *life_name(size_t i) {
    static char       names[COUNT(lives)][100];
    const life *const lived = &lives[i];
    (void)snprintf(names[i], sizeof names[i], "overflow of 3 x %u buckets of %u cells at %.2f",
                   (unsigned)lived->buckets, (unsigned)lived->cells, lived->load);
    return names[i];
}

int main(int argc, char **argv) {
    static const struct CMUnitTest single[] = {
        cmocka_unit_test(strangers_have_a_value_as_often_as_stated),
        cmocka_unit_test(members_are_unknown_as_often_as_stated),
        cmocka_unit_test(unknown_keys_stay_as_stated),
        cmocka_unit_test(permuted_keys_are_never_unknown),
        cmocka_unit_test(fillings_of_the_papers_buckets_fit),
        cmocka_unit_test(what_overflows_is_aside),
        cmocka_unit_test(unknown_keys_go_aside_as_often_as_stated_or_less),
        cmocka_unit_test(every_choice_keeps_what_was_asked_for),
        cmocka_unit_test(fixed_fields_are_honoured),
        cmocka_unit_test(layouts_are_those_of_the_paper),
        cmocka_unit_test(layouts_refuse_what_is_out_of_range),
        cmocka_unit_test(choices_that_cannot_be_are_refused),
    };
    struct CMUnitTest tests[COUNT(single) + COUNT(lives) + COUNT(jobs)];
    size_t            n = COUNT(single);
    memcpy(tests, single, sizeof single);
    for (size_t i = 0; i < COUNT(lives); i++) {
        tests[n++] =
            unit_named(life_name(i), puts_are_refused_as_often_as_stated_or_less, &lives[i]);
    }
    for (size_t i = 0; i < COUNT(jobs); i++) {
        tests[n++] = unit_named(jobs[i].name, lines_are_as_stated, &jobs[i]);
    }
    if (argc > 1) one_in = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2) millions = strtod(argv[2], NULL);
    return unit_run("state_print_size", tests, n);
}
