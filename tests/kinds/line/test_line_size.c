/* test_line_size.c - what kinds/line/size.h states, compared with tables that are filled and
 * churned.
 *
 * usage: test_line_size [N [TABLES]]     every N-th choice of the grid; so many tables that live
 *
 * The kind is compiled into this file to count the cache lines that operations touch (touches.h).
 * All other tables are the library's own.
 */
#include "needs.h"
#include "touches.h"

#include "kinds/line/line.c"
#include "kinds/line/states.c"

#define SIGMAS 4.0

static tamis_need wish_of(double n, double fpr, double lifetime, double overflow, bool is_fast) {
    return (tamis_need){ .work = work_of(n, lifetime),
                         .fpr = fpr,
                         .overflow = overflow,
                         .prefer = is_fast ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL };
}

static unsigned one_in = 1;    /* of the grid */
static unsigned tables = 1000; /* of each life */

/* ------------------------------------------------------------------ tables */

static void free_geometry(uint64_t counter_bits, uint64_t copies, uint64_t value_bits,
                          uint64_t *ret_geometry) {
    for (unsigned i = 0; i < LINE_FIELDS; i++) ret_geometry[i] = NEED_FREE;
    ret_geometry[LINE_COUNTER_BITS] = counter_bits;
    ret_geometry[LINE_COPIES] = copies;
    ret_geometry[LINE_VALUE_BITS] = value_bits;
}

static double bits_of(const uint64_t *geometry) {
    line_layout layout;
    assert_true(tamis_line_layout(geometry, &layout));
    return (double)layout.end;
}

/* ------------------------------------------------------------------ loads, measured */

/* What the shelves of a table have: lines that are cut, keys in tails, keys in the attic. Loads
 * that sum up to n vary less than independent ones, so the error of a series of shelves is on the
 * safe side. */
static void measure(const tamis_table *table, series *cut, series *tails, series *sent) {
    lines_view const view = line_view(table);
    uint64_t const   buckets = table->geometry[LINE_BUCKETS];
    for (uint64_t first = 0; first < buckets; first += SHELF_BUCKETS) {
        unsigned   n_cut = 0, n_tails = 0;
        lines_list list;
        for (uint64_t bucket = first; bucket < first + SHELF_BUCKETS; bucket++) {
            runs const index = runs_load(lines_at(view, bucket));
            n_cut += runs_are_cut(index);
            if (!runs_are_cut(index)) continue;
            lines_gather(view, bucket, &list);
            n_tails += list.n - runs_used(index);
        }
        series_add(cut, n_cut);
        series_add(tails, n_tails);
        series_add(sent, n_tails > SHELF_KEYS ? n_tails - SHELF_KEYS : 0);
    }
}

/* Within four sigma, which are estimated from the counts per shelf. If there are no more than 30 in
 * all, sigma is not known well enough. */
static void check_near(const char *name, double stated, const series *measured, double per) {
    double const mean = series_mean(measured) / per, sigma = series_error(measured, 0) / per;
    print_message("#   %s: %.6g +- %.2g, stated %.6g\n", name, mean, sigma, stated);
    assert_true(stated * per * measured->n < 30 || fabs(stated - mean) <= SIGMAS * sigma);
}

#define LOAD_LINES 16000

/* Random keys until the mean load is reached. */
static tamis_table fill_to(double load, dice *random) {
    uint64_t const          g[LINE_FIELDS] = { LOAD_LINES, 24, 0, 1, 0, LOAD_LINES };
    const tamis_kind *const kind = find_kind("line", NULL);
    tamis_table             table = table_make(kind, g);
    for (uint64_t i = 0; i < (uint64_t)(load * LOAD_LINES); i++) {
        assert_int_equal(kind->calls.add(&table, dice_roll(random)), TAMIS_OK);
    }
    return table;
}

static void check_load(double load, unsigned rounds) {
    series     cut = { 0 }, tails = { 0 }, sent = { 0 };
    dice       random = dice_start();
    law_shares stated;
    for (unsigned round = 0; round < rounds; round++) {
        tamis_table const table = fill_to(load, &random);
        measure(&table, &cut, &tails, &sent);
        free(table.body);
    }
    tamis_line_shares(load, &stated);
    print_message("# load %g\n", load);
    check_near("lines that are cut", stated.cut, &cut, SHELF_BUCKETS);
    check_near("keys beyond their lines", stated.shelved + stated.in_attic, &tails,
               SHELF_BUCKETS * load);
    check_near("keys in the attic", stated.in_attic, &sent, SHELF_BUCKETS * load);
}

/* What was found in 40 tables: all within 1.5 sigma; that is 0.2 to 0.5% of the cut lines, 0.2 to
 * 0.6% of the keys beyond their lines and 0.7 to 3% of those in the attic. */
static void lines_overflow_as_often_as_predicted(void **state) {
    (void)state;
    static const double loads[] = { 40, 44, 46, 48 };
    for (size_t i = 0; i < COUNT(loads); i++) check_load(loads[i], 3 + tables / 100);
}

/* ------------------------------------------------------------------ overflow, measured */

/* A table refuses a key just when its attic would have more words than it may; so the most words
 * that a table with a large one ever has tell for every size whether it would have refused. */
typedef struct life {
    const char *name;
    uint64_t    lines;
    double      load;
    unsigned    lifetime; /* in times its keys */
    uint64_t    copies;   /* of one key, which is flooded; 1: none is */
} life;

static const life lives[] = {
    { "7 lines, filled once", 7, 46, 1, 1 },     { "7 lines, flooded", 7, 46, 1, 8 },
    { "16 lines, filled once", 16, 46, 1, 1 },   { "16 lines, churned", 16, 44, 8, 1 },
    { "16 lines, flooded", 16, 46, 1, 8 },       { "16 lines, flooded, churned", 16, 46, 8, 8 },
    { "64 lines, filled once", 64, 46, 1, 1 },   { "64 lines, churned", 64, 46, 4, 1 },
    { "200 lines, filled once", 200, 44, 1, 1 }, { "200 lines, fuller", 200, 48, 1, 1 },
    { "200 lines, flooded", 200, 44, 1, 8 },     { "500 lines, filled once", 500, 46, 1, 1 },
};

#define MAX_ATTIC 1000

/* The geometry of a life. Remainders of 28 bits: no two keys have one fingerprint. */
static void life_geometry(const life *lived, uint64_t attic, uint64_t *ret_geometry) {
    uint64_t const g[LINE_FIELDS] = { lived->lines, 28, 0, lived->copies, 0, attic };
    memcpy(ret_geometry, g, sizeof g);
}

/* The most words of its attic in a life in which random keys make room for new ones. The first key
 * is the one that is flooded, and stays. A set that stores fingerprints once cannot remove, so
 * without a flood there are counters. */
static uint64_t peak_of(const life *lived, uint64_t n, uint64_t *key, dice *random) {
    const tamis_kind *const kind = find_kind("line", NULL);
    uint64_t                g[LINE_FIELDS], peak = 0;
    life_geometry(lived, MAX_ATTIC, g);
    g[LINE_COUNTER_BITS] = lived->copies == 1;
    tamis_table table = table_make(kind, g);
    for (uint64_t i = 0; i < lived->lifetime * n; i++) {
        uint64_t const at = i < n ? i : 1 + dice_below(random, n - 1);
        if (i >= n) assert_int_equal(kind->calls.remove(&table, key[at]), TAMIS_OK);
        for (uint64_t more = 1; i == n - 1 && more < lived->copies; more++) {
            assert_int_equal(kind->calls.add(&table, key[0]), TAMIS_OK);
        }
        key[at] = dice_roll(random);
        assert_int_equal(kind->calls.add(&table, key[at]), TAMIS_OK);
        uint64_t const now = le64_load(table.body + line_shape_of(&table)->lines.count);
        if (now > peak) peak = now;
    }
    free(table.body);
    return peak;
}

/* How many tables would have refused a key, for each number of words. */
static void measure_peaks(const life *lived, uint64_t n, unsigned *ret_refused) {
    dice            random = dice_start();
    uint64_t *const key = calloc(n, sizeof *key);
    assert_non_null(key);
    for (unsigned i = 0; i < tables; i++) {
        uint64_t const peak = peak_of(lived, n, key, &random);
        for (uint64_t words = 0; words < peak; words++) ret_refused[words]++;
    }
    free(key);
}

static double stated_of(const life *lived, uint64_t n, const uint64_t *g) {
    tamis_workload const work = { n, 1, lived->lifetime * n };
    return tamis_line_overflow(g, &work);
}

/* The smallest attic that is stated to overflow with a probability of at most a quarter, and the
 * smallest one that really does. */
static void explain_life(const life *lived, uint64_t n, const unsigned *refused) {
    uint64_t g[LINE_FIELDS], found = 0;
    life_geometry(lived, 0, g);
    while (refused[found] > tables / 4) found++;
    while (stated_of(lived, n, g) > 0.25) g[LINE_ATTIC]++;
    print_message("# %s: 1/4 overflow with %u words, stated %u; %.4f there\n", lived->name,
                  (unsigned)found, (unsigned)g[LINE_ATTIC],
                  (double)refused[g[LINE_ATTIC]] / tables);
    /* The statement is safe, and not too careful: for small tables the two are close. */
    bool const is_exact = lived->lines <= LAW_EXACT_SHELVES * SHELF_BUCKETS && lived->load < 48;
    assert_true(g[LINE_ATTIC] <=
                (is_exact && lived->lifetime == 1 ? 2 * found + 12 : 3 * found + 50));
}

/* To four sigma, for every size of the attic. What was found in 2500 tables each, where a quarter
 * is stated: of small tables that are filled once, 3 to 10% overflow (the factor 2 of the theorem,
 * and loads that sum up to n); of larger ones 0.2% (Chernoff's bound); of those that are churned,
 * hardly any (every add is taken for a chance of its own). In words of the attic: 21 for 12 that
 * would do with 64 lines, 11 for 5 with 200, 143 for 81 with 500; churned, 74 for 36 with 64. */
static void overflow_is_as_likely_as_stated_or_less(void **state) {
    const life *const lived = *state;
    uint64_t const    n = (uint64_t)(lived->load * (double)lived->lines);
    unsigned          refused[MAX_ATTIC + 1] = { 0 };
    measure_peaks(lived, n, refused);
    for (uint64_t words = 0; words < MAX_ATTIC; words++) {
        uint64_t g[LINE_FIELDS];
        life_geometry(lived, words, g);
        double const share = (double)refused[words] / tables;
        double const stated = stated_of(lived, n, g);
        double const sigma = share_error(stated, tables) + 1.0 / tables;
        assert_true(share <= stated + SIGMAS * sigma);
        if (refused[words] == 0) break;
    }
    explain_life(lived, n, refused);
}

/* ------------------------------------------------------------------ sizes that are promised */

typedef struct promise {
    double n, fpr, bits_per_key;
    bool   is_fast;
} promise;

/* A set with removal, over 16 times its capacity of adds; 8, 12 and 16 bits. (16.8 is what 12 bits
 * should take: the attic, with 2.25 places for a word, stands in the way.) */
static void sizes_are_those_that_are_promised(void **state) {
    (void)state;
    static const promise promises[] = {
        { 3.9e6, 0.003, 12.5, false },   { 60e6, 0.003, 12.5, false },
        { 3.9e6, 0.003, 12.5, true },    { 60e6, 0.003, 12.5, true },
        { 3.9e6, 1.85e-4, 16.8, false }, { 60e6, 1.85e-4, 16.95, false },
        { 3.9e6, 1.85e-4, 16.8, true },  { 60e6, 1.85e-4, 16.95, true },
        { 3.9e6, 1.18e-5, 21.5, false }, { 60e6, 1.18e-5, 21.5, false },
        { 3.9e6, 1.18e-5, 21.5, true },  { 60e6, 1.18e-5, 21.5, true },
    };
    for (size_t i = 0; i < COUNT(promises); i++) {
        const promise *const p = &promises[i];
        tamis_need const     need = wish_of(p->n, p->fpr, 16 * p->n, 1e-10, p->is_fast);
        uint64_t             g[LINE_FIELDS];
        free_geometry(0, 8, 0, g);
        assert_true(tamis_line_choose(&need, g));
        double const bits = bits_of(g) / p->n, fpr = tamis_line_fpr(g, p->n);
        print_message("# %.2g keys, %s: %u bits, load %.2f, %.3f bits per key, fpr %.4g\n", p->n,
                      p->is_fast ? "fast" : "small", (unsigned)g[LINE_REMAINDER_BITS],
                      p->n / (double)g[LINE_BUCKETS], bits, fpr);
        assert_true(bits <= p->bits_per_key);
        assert_true(fpr <= p->fpr);
        assert_true(tamis_line_overflow(g, &need.work) <= 1e-10);
    }
}

/* ------------------------------------------------------------------ choices, on a wide grid */

static const double grid_n[] = { 1,   2,   7,   43,  50,  51,  100, 999,
                                 1e3, 5e3, 2e4, 1e5, 1e6, 1e8, 1e9, 1e12 };
static const double grid_fpr[] = { 0.5, 0.3, 0.1, 0.01, 3e-3, 1e-3, 1e-4, 1e-6, 1e-9, 1e-11 };
static const double grid_overflow[] = { 1e-3, 1e-6, 1e-10, 1e-15 };
static const struct {
    uint64_t counter_bits, copies, value_bits, planned;
} grid_modes[] = { { 0, 1, 0, 1 }, { 0, 8, 0, 1 }, { 0, 8, 0, 3 }, { 8, 1, 0, 5 }, { 0, 1, 8, 1 } };

typedef struct grid_point {
    tamis_need need;
    uint64_t   counter_bits, copies, value_bits;
} grid_point;

#define GRID_POINTS (COUNT(grid_n) * COUNT(grid_fpr) * COUNT(grid_overflow) * COUNT(grid_modes) * 4)

static grid_point grid_at(size_t i) {
    grid_point p;
    bool const is_fast = i % 2 != 0, is_long = i / 2 % 2 != 0;
    i /= 4;
    uint64_t const planned = grid_modes[i % COUNT(grid_modes)].planned;
    p.counter_bits = grid_modes[i % COUNT(grid_modes)].counter_bits;
    p.copies = grid_modes[i % COUNT(grid_modes)].copies;
    p.value_bits = grid_modes[i % COUNT(grid_modes)].value_bits;
    i /= COUNT(grid_modes);
    double const overflow = grid_overflow[i % COUNT(grid_overflow)];
    i /= COUNT(grid_overflow);
    double const fpr = grid_fpr[i % COUNT(grid_fpr)], n = grid_n[i / COUNT(grid_fpr)];
    p.need = wish_of(n, fpr, n * (is_long ? 16 : 1), overflow, is_fast);
    p.need.work.copies = planned;
    return p;
}

static bool grid_choose(const grid_point *p, uint64_t *ret_geometry) {
    free_geometry(p->counter_bits, p->copies, p->value_bits, ret_geometry);
    return tamis_line_choose(&p->need, ret_geometry);
}

static void explain(const grid_point *p, const uint64_t *g) {
    print_error("n %g fpr %g overflow %g lifetime %g, counter %u, copies %u, value %u%s:",
                (double)p->need.work.capacity, p->need.fpr, p->need.overflow,
                (double)p->need.work.lifetime, (unsigned)p->counter_bits, (unsigned)p->copies,
                (unsigned)p->value_bits, need_is_fast(&p->need) ? ", fast" : "");
    for (unsigned i = 0; i < LINE_FIELDS; i++) print_error(" %llu", (unsigned long long)g[i]);
    print_error("\n");
}

/* Every choice is possible and keeps what was asked for; there is one unless it would need more
 * than 2^64 fingerprints, or remainders that are too long. */
static void check_choice(const grid_point *p) {
    uint64_t     g[LINE_FIELDS];
    line_layout  layout;
    bool const   is_chosen = grid_choose(p, g);
    double const n = (double)p->need.work.capacity;
    bool const   is_easy = n / p->need.fpr < 0x1p62 && p->need.fpr >= 1e-9;
    if (is_easy && !is_chosen) explain(p, g);
    assert_true(is_chosen || !is_easy);
    if (!is_chosen) return;
    bool const is_kept = tamis_line_layout(g, &layout) && tamis_line_fpr(g, n) <= p->need.fpr &&
                         tamis_line_overflow(g, &p->need.work) <= p->need.overflow &&
                         g[LINE_COUNTER_BITS] == p->counter_bits && g[LINE_COPIES] == p->copies &&
                         g[LINE_VALUE_BITS] == p->value_bits;
    if (!is_kept) explain(p, g);
    assert_true(is_kept);
}

static void every_choice_keeps_what_was_asked_for(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += one_in) {
        grid_point const p = grid_at(i);
        check_choice(&p);
    }
}

static void asking_for_more_safety_never_saves_a_bit(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 7 * one_in) {
        grid_point const p = grid_at(i);
        grid_point       q = p;
        uint64_t         g[LINE_FIELDS], more[LINE_FIELDS];
        q.need.overflow /= 10;
        q.need.work.lifetime *= 4;
        if (grid_choose(&p, g) && grid_choose(&q, more)) assert_true(bits_of(g) <= bits_of(more));
    }
}

/* Fix each field, and each pair of fields, to values that were chosen for another need. */
static void check_fixed(const grid_point *p, const uint64_t *wish, unsigned a, unsigned b) {
    uint64_t g[LINE_FIELDS];
    free_geometry(p->counter_bits, p->copies, p->value_bits, g);
    g[a] = wish[a];
    g[b] = wish[b];
    if (!tamis_line_choose(&p->need, g)) return;
    assert_int_equal(g[a], wish[a]);
    assert_int_equal(g[b], wish[b]);
    (void)bits_of(g);
}

static void fixed_fields_are_honoured(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 29 * one_in) {
        grid_point const p = grid_at(i);
        grid_point       other = p;
        uint64_t         wish[LINE_FIELDS];
        other.need.work.capacity = p.need.work.capacity * 17 / 10;
        other.need.overflow = 1e-8;
        if (!grid_choose(&other, wish)) continue;
        for (unsigned a = 0; a < LINE_FIELDS; a++) {
            for (unsigned b = a; b < LINE_FIELDS; b++) check_fixed(&p, wish, a, b);
        }
    }
}

/* If all fields of a chosen geometry are fixed, the same geometry is chosen again. */
static void a_chosen_geometry_can_be_fixed(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 5 * one_in) {
        grid_point const p = grid_at(i);
        uint64_t         chosen[LINE_FIELDS], g[LINE_FIELDS];
        if (!grid_choose(&p, chosen)) continue;
        memcpy(g, chosen, sizeof g);
        assert_true(tamis_line_choose(&p.need, g));
        assert_memory_equal(g, chosen, sizeof g);
    }
}

/* A table with as many fingerprints as another one has, for keys received from there; or the number
 * is refused. */
static void a_fixed_number_of_fingerprints_is_met_or_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 5 * one_in) {
        grid_point p = grid_at(i);
        uint64_t   chosen[LINE_FIELDS], g[LINE_FIELDS];
        if (!grid_choose(&p, chosen)) continue;
        p.need.prints = tamis_line_prints(chosen);
        assert_true(grid_choose(&p, g));
        assert_int_equal(tamis_line_prints(g), p.need.prints);
        p.need.prints++; /* odd, so that no remainder goes into it */
        assert_false(grid_choose(&p, g));
    }
}

/* ------------------------------------------------------------------ ranges */

static const uint64_t sane[LINE_FIELDS] = { 100, 12, 4, 1, 8, 30 };

static void layout_refuses_what_is_out_of_range(void **state) {
    (void)state;
    static const struct {
        unsigned field;
        uint64_t value;
    } bad[] = {
        { LINE_BUCKETS, 0 },
        { LINE_BUCKETS, (UINT64_C(1) << 44) + 1 },
        { LINE_BUCKETS, UINT64_MAX },
        { LINE_REMAINDER_BITS, 7 },
        { LINE_REMAINDER_BITS, 0 },
        { LINE_REMAINDER_BITS, 41 },
        { LINE_REMAINDER_BITS, 64 },
        { LINE_REMAINDER_BITS, UINT64_MAX },
        { LINE_COUNTER_BITS, 25 },
        { LINE_COUNTER_BITS, UINT64_MAX },
        { LINE_COPIES, 0 },
        { LINE_COPIES, 2 },
        { LINE_COPIES, 9 },
        { LINE_VALUE_BITS, 38 },
        { LINE_VALUE_BITS, UINT64_MAX },
        { LINE_ATTIC, (UINT64_C(1) << 44) + 1 },
        { LINE_ATTIC, UINT64_MAX },
    };
    line_layout layout;
    assert_true(tamis_line_layout(sane, &layout));
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint64_t g[LINE_FIELDS];
        memcpy(g, sane, sizeof g);
        g[bad[i].field] = bad[i].value;
        assert_false(tamis_line_layout(g, &layout));
    }
    uint64_t const wide[LINE_FIELDS] = { 100, 40, 0, 1, 25, 30 }; /* 57 bits beside a slot */
    assert_false(tamis_line_layout(wide, &layout));
    uint64_t const copied[LINE_FIELDS] = { 100, 12, 0, 2, 8, 30 }; /* two values of one key */
    assert_false(tamis_line_layout(copied, &layout));
    uint64_t const many[LINE_FIELDS] = { UINT64_C(1) << 44, 15, 0, 1, 0, 0 }; /* 2^64 prints */
    assert_false(tamis_line_layout(many, &layout));
}

/* Up to a multiple of 64 bits. */
static uint64_t whole_words(uint64_t bits) {
    return bits % 64 == 0 ? bits : bits + 64 - bits % 64;
}

/* One part after the other, as docs/format.md lists them. */
static void layout_has_its_parts_one_after_the_other(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t const counter = dice_below(&random, 25);
        uint64_t const g[LINE_FIELDS] = {
            1 + (dice_edge(&random) >> 24), 8 + dice_below(&random, 33), counter, 1,
            dice_below(&random, 33),        dice_edge(&random) >> 24
        };
        line_layout layout;
        if (!tamis_line_layout(g, &layout)) continue;
        uint64_t const rest = g[LINE_REMAINDER_BITS] - 8 + counter + g[LINE_VALUE_BITS];
        uint64_t const groups = g[LINE_BUCKETS] / 16 + (g[LINE_BUCKETS] % 16 != 0);
        uint64_t const words = 2 * g[LINE_ATTIC] + g[LINE_ATTIC] / 4 + 1;
        uint64_t       width = 2; /* bytes, for 14 bits and the number of a bucket */
        while (width < 8 && g[LINE_BUCKETS] >> (8 * width - 14) != 0) width++;
        assert_int_equal(layout.shelves, 64 * g[LINE_BUCKETS]);
        assert_int_equal(layout.words, layout.shelves + 64 * groups);
        assert_int_equal(layout.count, layout.words + width * words);
        uint64_t const slots = g[LINE_BUCKETS] / 16 * whole_words(800 * rest) +
                               whole_words(g[LINE_BUCKETS] % 16 * 50 * rest);
        assert_int_equal(layout.slot_rests, whole_words(8 * layout.count + 64));
        assert_int_equal(layout.slot_pad, whole_words(800 * rest) - 800 * rest);
        assert_int_equal(layout.shelf_stride, whole_words(28 * rest));
        assert_int_equal(layout.shelf_rests, layout.slot_rests + slots);
        assert_int_equal(layout.word_rests, layout.shelf_rests + groups * whole_words(28 * rest));
        assert_int_equal(layout.end, layout.word_rests + words * rest);
    }
}

/* ------------------------------------------------------------------ lines touched */

/* All within 3%; found were 2.3% (lookups) and 2.4% (adds). A few adds touch many lines, so between
 * seeds their mean scatters by 1.6%: another seed may fail for that reason alone. */
static void lines_are_as_stated(void **state) {
    const touches_job *const job = *state;
    const tamis_kind *const  kind = &tamis_kind_line_traced;
    tamis_forecast           stated;
    tamis_table              table = touches_table(kind, job, &stated);
    touches const            counted = touches_count(kind, &table, false);
    free(table.body);
    touches_check(job, &stated, &counted, 0.03, 0.03);
}

#define COUNTED (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)

static const touches_job jobs[] = {
    { .name = "0.3%, small",
      .fpr = 0.003,
      .abilities = TAMIS_CAN_REMOVE,
      .prefer = TAMIS_PREFER_SMALL },
    { .name = "0.3%, fast",
      .fpr = 0.003,
      .abilities = TAMIS_CAN_REMOVE,
      .prefer = TAMIS_PREFER_FAST },
    { .name = "9 bits, fast",
      .fpr = 1.4e-3,
      .abilities = TAMIS_CAN_REMOVE,
      .prefer = TAMIS_PREFER_FAST },
    { .name = "10 bits, fast",
      .fpr = 7.3e-4,
      .abilities = TAMIS_CAN_REMOVE,
      .prefer = TAMIS_PREFER_FAST },
    { .name = "12 bits, small",
      .fpr = 1.85e-4,
      .abilities = TAMIS_CAN_REMOVE,
      .prefer = TAMIS_PREFER_SMALL },
    { .name = "12 bits, fast",
      .fpr = 1.85e-4,
      .abilities = TAMIS_CAN_REMOVE,
      .prefer = TAMIS_PREFER_FAST },
    { .name = "16 bits, fast",
      .fpr = 1.18e-5,
      .abilities = TAMIS_CAN_REMOVE,
      .prefer = TAMIS_PREFER_FAST },
    { .name = "24 bits, fast",
      .fpr = 4.6e-8,
      .abilities = TAMIS_CAN_REMOVE,
      .prefer = TAMIS_PREFER_FAST },
    { .name = "counting, 0.3%, fast",
      .fpr = 0.003,
      .abilities = COUNTED,
      .prefer = TAMIS_PREFER_FAST },
    { .name = "set, 10%, fast", .fpr = 0.1, .abilities = 0, .prefer = TAMIS_PREFER_FAST },
};

/* ------------------------------------------------------------------ all */

#define N_EACH (COUNT(lives) + COUNT(jobs))

int main(int argc, char **argv) {
    static const struct CMUnitTest single[] = {
        cmocka_unit_test(lines_overflow_as_often_as_predicted),
        cmocka_unit_test(sizes_are_those_that_are_promised),
        cmocka_unit_test(every_choice_keeps_what_was_asked_for),
        cmocka_unit_test(asking_for_more_safety_never_saves_a_bit),
        cmocka_unit_test(fixed_fields_are_honoured),
        cmocka_unit_test(a_chosen_geometry_can_be_fixed),
        cmocka_unit_test(a_fixed_number_of_fingerprints_is_met_or_refused),
        cmocka_unit_test(layout_refuses_what_is_out_of_range),
        cmocka_unit_test(layout_has_its_parts_one_after_the_other),
    };
    struct CMUnitTest tests[COUNT(single) + N_EACH];
    size_t            n = COUNT(single);
    memcpy(tests, single, sizeof single);
    for (size_t i = 0; i < COUNT(lives); i++) {
        tests[n++] = unit_named(lives[i].name, overflow_is_as_likely_as_stated_or_less, &lives[i]);
    }
    for (size_t i = 0; i < COUNT(jobs); i++) {
        tests[n++] = unit_named(jobs[i].name, lines_are_as_stated, &jobs[i]);
    }
    if (argc > 1) one_in = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2) tables = (unsigned)strtoul(argv[2], NULL, 10);
    return unit_run("line_size", tests, n);
}
