/* test_rank_size.c - kinds/rank/size.h: the paper's numbers, and choices that keep their promises.
 *
 * usage: test_rank_size [N]      every N-th choice of the grids; default all
 */
#include "needs.h"
#include "unit.h"

#include "kinds/rank/size.h"
#include "theory/tails.h"

#define N_KEYS 1e5 /* of the paper's tables */

static unsigned one_in = 1; /* of the grid */

static tamis_need wish_of(double n, double fpr, double lifetime, double overflow) {
    return (tamis_need){ .work = work_of(n, lifetime), .fpr = fpr, .overflow = overflow };
}

/* A geometry to be chosen. */
static void free_geometry(uint64_t counter_bits, uint64_t copies, bool is_aligned,
                          uint64_t *ret_geometry) {
    for (unsigned i = 0; i < RANK_FIELDS; i++) ret_geometry[i] = NEED_FREE;
    ret_geometry[RANK_COUNTER_BITS] = counter_bits;
    ret_geometry[RANK_COPIES] = copies;
    ret_geometry[RANK_VALUE_BITS] = 0;
    ret_geometry[RANK_ALIGNED] = is_aligned;
}

static uint64_t bits_of(const uint64_t *geometry) {
    rank_layout layout;
    assert_true(tamis_rank_layout(geometry, &layout));
    return layout.end;
}

/* ------------------------------------------------------------------ the paper: storage */

/* Section V: S1, S2, S3 and S, as printed; B may be no integer there. */
typedef struct paper_row {
    double lambda, r, chains, z[3], share2, share3; /* Table II; J2 and J3 as shares of B */
    double bits_per_key;
} paper_row;

static const paper_row table2[] = {
    { 0.64, 6, 60, { 45, 8, 45 }, 0.179, 0.027, 10.551 },
    { 0.92, 10, 64, { 63, 17, 50 }, 0.360, 0.017, 14.389 },
    { 0.86, 13, 61, { 59, 13, 48 }, 0.233, 0.018, 18.174 },
};

static double paper_bits(double b, double l, double r, const double z[3], double j2, double j3) {
    double const s1 = (l + z[0]) + z[0] * r + (1 + ceil(log2(j2)));
    double const s2 = 1 + z[1] + z[1] * r + (1 + ceil(log2(j3)));
    double const s3 = 1 + z[2] + z[2] * r;
    return b * s1 + j2 * s2 + j3 * s3;
}

static void storage_by_the_papers_formula_is_the_published_one(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(table2); i++) {
        const paper_row *const row = &table2[i];
        double const           b = N_KEYS / row->lambda / row->chains;
        double const           bits =
            paper_bits(b, row->chains, row->r, row->z, row->share2 * b, row->share3 * b);
        assert_near(bits / N_KEYS, row->bits_per_key, 1e-4);
    }
}

/* Our storage is that of the paper, with one difference: a pointer to one of J extensions or to
 * none is ceil(log2(J + 1)) bits, where the paper spends 1 + ceil(log2 J). That is one bit less
 * unless J is a power of two. Occupancy is one bit per extension in both. */
static void layout_is_the_papers_storage_less_a_bit_per_pointer(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t const b = 1 + dice_below(&random, 100000), j2 = 1 + dice_below(&random, b);
        uint64_t const j3 = 1 + dice_below(&random, j2), l = 1 + dice_below(&random, 64);
        uint64_t const r = 1 + dice_below(&random, 20), c = dice_below(&random, 3);
        double         z[3];
        for (unsigned i = 0; i < 3; i++) z[i] = (double)(1 + dice_below(&random, 80));
        uint64_t const geometry[RANK_FIELDS] = {
            b, l, r, (uint64_t)z[0], (uint64_t)z[1], (uint64_t)z[2], j2, j3, c, 4, 0, 0
        };
        bool const   is_power2 = (j2 & (j2 - 1)) == 0, is_power3 = (j3 & (j3 - 1)) == 0;
        double const paper =
            paper_bits((double)b, (double)l, (double)(r + c), z, (double)j2, (double)j3);
        double const saved = (is_power2 ? 0 : (double)b) + (is_power3 ? 0 : (double)j2);
        assert_true((double)bits_of(geometry) == paper - saved);
    }
}

/* The published geometries, with whole buckets, in our layout: never larger than published. */
static void published_geometries_are_no_larger_here(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(table2); i++) {
        const paper_row *const row = &table2[i];
        double const           b = ceil(N_KEYS / row->lambda / row->chains);
        uint64_t const         geometry[RANK_FIELDS] = { (uint64_t)b,
                                                         (uint64_t)row->chains,
                                                         (uint64_t)row->r,
                                                         (uint64_t)row->z[0],
                                                         (uint64_t)row->z[1],
                                                         (uint64_t)row->z[2],
                                                         (uint64_t)round(row->share2 * b),
                                                         (uint64_t)round(row->share3 * b),
                                                         0,
                                                         1,
                                                         0,
                                                         0 };
        assert_true((double)bits_of(geometry) / N_KEYS <= row->bits_per_key);
        tamis_workload const work = work_of(N_KEYS, N_KEYS);
        assert_true(tamis_rank_overflow(geometry, &work) <= 1e-11);
    }
}

/* ------------------------------------------------------------------ the paper: tails */

/* Table I: .13, .01 and 8e-17 are printed; the last is 5.5e-17 (for >= 128 it is 1.28e-16). */
static void tails_of_table_1_are_the_published_ones(void **state) {
    (void)state;
    assert_near(tamis_poisson_tail(56, 64 + 1), 0.1291, 1e-3);
    assert_near(tamis_poisson_tail(56, 74 + 1), 0.0088, 1e-2);
    assert_near(tamis_poisson_tail(56, 128 + 1), 5.5e-17, 1e-2);
}

/* P_o of the published geometries: 1.2e-12, 7.4e-12 and 3.7e-12. */
static void overflow_of_table_2_is_what_its_bounds_give(void **state) {
    (void)state;
    static const double published[] = { 1.2e-12, 7.4e-12, 3.7e-12 };
    for (size_t i = 0; i < COUNT(table2); i++) {
        const paper_row *const row = &table2[i];
        double const           b = N_KEYS / row->lambda / row->chains, n = N_KEYS;
        double sum = tamis_rank_bucket_overflow(b, n, n, row->z[0] + row->z[1] + row->z[2]);
        sum += tamis_rank_pool_overflow(b, n, n, row->z[0], round(row->share2 * b));
        sum += tamis_rank_pool_overflow(b, n, n, row->z[0] + row->z[1], round(row->share3 * b));
        assert_near(sum, published[i], 0.05); /* two digits */
    }
}

/* ------------------------------------------------------------------ the sizes that are promised */

typedef struct promise {
    double   fpr, bits_per_key;
    uint64_t counter_bits, copies;
    double   lifetime;
} promise;

static void sizes_are_those_that_are_promised(void **state) {
    (void)state;
    static const promise promises[] = {
        { 1e-2, 10.4, 0, 1, 1 },  { 1e-3, 14.2, 0, 1, 1 },  { 1e-4, 18.2, 0, 1, 1 },
        { 1e-2, 12.9, 2, 4, 16 }, { 1e-3, 16.6, 2, 4, 16 }, { 1e-4, 20.6, 2, 4, 16 },
    };
    for (size_t i = 0; i < COUNT(promises); i++) {
        const promise *const p = &promises[i];
        tamis_need const     need = wish_of(N_KEYS, p->fpr, p->lifetime * N_KEYS, 1e-10);
        uint64_t             g[RANK_FIELDS];
        free_geometry(p->counter_bits, p->copies, false, g);
        assert_true(tamis_rank_choose(&need, g));
        assert_true((double)bits_of(g) / N_KEYS <= p->bits_per_key);
        assert_true(tamis_rank_fpr(g, N_KEYS) <= p->fpr);
        assert_true(tamis_rank_overflow(g, &need.work) <= 1e-10);
    }
}

/* ------------------------------------------------------------------ choices, on a wide grid */

static const double grid_n[] = { 1,   2,   3,     7,     10,  64,  100, 999,
                                 1e3, 5e3, 19999, 20000, 1e5, 1e6, 1e9, 1e12 };
static const double grid_fpr[] = { 0.5, 0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12 };
static const double grid_overflow[] = { 1e-3, 1e-6, 1e-10, 1e-15 };
static const struct {
    uint64_t counter_bits, copies, planned;
} grid_modes[] = { { 0, 1, 1 }, { 0, 8, 1 }, { 0, 8, 3 }, { 2, 4, 5 }, { 8, 1, 30 }, { 8, 4, 1 } };

typedef struct grid_point {
    tamis_need need;
    uint64_t   counter_bits, copies;
    bool       is_aligned;
} grid_point;

#define GRID_POINTS (COUNT(grid_n) * COUNT(grid_fpr) * COUNT(grid_overflow) * COUNT(grid_modes) * 4)

static grid_point grid_at(size_t i) {
    grid_point p = { .is_aligned = i % 2 != 0 };
    bool const is_long = i / 2 % 2 != 0;
    i /= 4;
    uint64_t const planned = grid_modes[i % COUNT(grid_modes)].planned;
    p.counter_bits = grid_modes[i % COUNT(grid_modes)].counter_bits;
    p.copies = grid_modes[i % COUNT(grid_modes)].copies;
    i /= COUNT(grid_modes);
    double const overflow = grid_overflow[i % COUNT(grid_overflow)];
    i /= COUNT(grid_overflow);
    double const fpr = grid_fpr[i % COUNT(grid_fpr)], n = grid_n[i / COUNT(grid_fpr)];
    p.need = wish_of(n, fpr, n * (is_long ? 16 : 1), overflow);
    p.need.work.copies = planned;
    return p;
}

static bool grid_choose(const grid_point *p, uint64_t *ret_geometry) {
    free_geometry(p->counter_bits, p->copies, p->is_aligned, ret_geometry);
    return tamis_rank_choose(&p->need, ret_geometry);
}

static void explain(const grid_point *p, const uint64_t *g) {
    print_error("n %g fpr %g overflow %g lifetime %g, %llu counter bits, %llu copies%s:",
                (double)p->need.work.capacity, p->need.fpr, p->need.overflow,
                (double)p->need.work.lifetime, (unsigned long long)p->counter_bits,
                (unsigned long long)p->copies, p->is_aligned ? ", aligned" : "");
    for (unsigned i = 0; i < RANK_FIELDS; i++) print_error(" %llu", (unsigned long long)g[i]);
    print_error("\n");
}

/* Every choice is possible and keeps what was asked for; there is one unless more than 2^64
 * fingerprints would be needed. Where every key takes several cells, 256 in a bucket may be too
 * few. */
static void check_choice(const grid_point *p) {
    uint64_t    g[RANK_FIELDS];
    rank_layout layout;
    bool const  is_beyond = (double)p->need.work.capacity / p->need.fpr >= 0x1p64;
    bool const  is_chosen = grid_choose(p, g);
    bool const  is_hard = p->need.work.copies > UINT64_C(1) << p->counter_bits;
    if (is_chosen != !is_beyond && !is_hard) explain(p, g);
    assert_true(is_chosen == !is_beyond || (is_hard && !is_chosen));
    if (!is_chosen) return;
    bool const is_kept = tamis_rank_layout(g, &layout) &&
                         tamis_rank_fpr(g, (double)p->need.work.capacity) <= p->need.fpr &&
                         tamis_rank_overflow(g, &p->need.work) <= p->need.overflow &&
                         g[RANK_COUNTER_BITS] == p->counter_bits && g[RANK_COPIES] == p->copies &&
                         g[RANK_VALUE_BITS] == 0 && g[RANK_ALIGNED] == p->is_aligned;
    if (!is_kept) explain(p, g);
    assert_true(is_kept);
    if (p->is_aligned) assert_true(layout.record[1] <= 512); /* a bucket is one line */
}

static void every_choice_keeps_what_was_asked_for(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += one_in) {
        grid_point const p = grid_at(i);
        check_choice(&p);
    }
}

/* ------------------------------------------------------------------ choices, compared */

/* The bits of a choice; 0: there is none. */
static double chosen_bits(const grid_point *p) {
    uint64_t g[RANK_FIELDS];
    return grid_choose(p, g) ? (double)bits_of(g) : 0;
}

static void check_order(const grid_point *less, const grid_point *more, double slack) {
    double const a = chosen_bits(less), b = chosen_bits(more);
    uint64_t     g[RANK_FIELDS];
    if (a == 0 || b == 0 || a <= b * slack) return;
    (void)grid_choose(less, g);
    explain(less, g);
    (void)grid_choose(more, g);
    explain(more, g);
    fail();
}

/* A smaller overflow probability, a longer life, wider counters: the same candidates, each as large
 * or larger. */
static void asking_for_more_safety_or_counters_never_saves_a_bit(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 7 * one_in) {
        grid_point const p = grid_at(i);
        grid_point       q = p;
        q.need.overflow /= 10;
        check_order(&p, &q, 1);
        q = p;
        q.need.work.lifetime *= 4;
        check_order(&p, &q, 1);
        q = p;
        q.counter_bits += 1;
        if (p.need.work.copies == 1) check_order(&p, &q, 1); /* with more it saves cells */
    }
}

/* Twice the keys, or half the rate. (With smaller steps the size may even fall a little, since the
 * number of buckets is rounded.) */
static void asking_for_twice_the_keys_or_half_the_error_takes_more(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 7 * one_in) {
        grid_point const p = grid_at(i);
        grid_point       q = p;
        q.need.work.capacity *= 2;
        q.need.work.lifetime *= 2;
        check_order(&p, &q, 1);
        q = p;
        q.need.fpr /= 2;
        check_order(&p, &q, 1);
    }
}

/* Packed is never larger than aligned. */
static void packing_never_takes_more_than_aligning(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 7 * one_in) {
        grid_point p = grid_at(i), q = p;
        p.is_aligned = false;
        q.is_aligned = true;
        check_order(&p, &q, 1.02);
    }
}

/* ------------------------------------------------------------------ fields that are fixed */

/* Fix each field, and each pair of fields, to values that were chosen for another need. */
static void check_fixed(const grid_point *p, const uint64_t *wish, unsigned a, unsigned b) {
    uint64_t g[RANK_FIELDS];
    free_geometry(p->counter_bits, p->copies, p->is_aligned, g);
    g[a] = wish[a];
    g[b] = wish[b];
    if (!tamis_rank_choose(&p->need, g)) return;
    assert_int_equal(g[a], wish[a]);
    assert_int_equal(g[b], wish[b]);
    (void)bits_of(g);
    assert_true(tamis_rank_fpr(g, (double)p->need.work.capacity) <= p->need.fpr);
}

static void fixed_fields_are_honoured(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 31 * one_in) {
        grid_point const p = grid_at(i);
        grid_point       other = p;
        uint64_t         wish[RANK_FIELDS];
        other.need.work.capacity = p.need.work.capacity * 17 / 10;
        other.need.overflow = 1e-8;
        if (!grid_choose(&other, wish)) continue;
        for (unsigned a = 0; a <= RANK_EXTENSIONS3; a++) {
            for (unsigned b = a; b <= RANK_EXTENSIONS3; b++) check_fixed(&p, wish, a, b);
        }
    }
}

/* If all or some fields of a chosen geometry are fixed, the same geometry is chosen again. */
static void a_chosen_geometry_can_be_fixed(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 31 * one_in) {
        grid_point const p = grid_at(i);
        uint64_t         chosen[RANK_FIELDS], g[RANK_FIELDS];
        if (!grid_choose(&p, chosen)) continue;
        memcpy(g, chosen, sizeof g);
        bool const is_same = tamis_rank_choose(&p.need, g) && memcmp(g, chosen, sizeof g) == 0;
        if (!is_same) explain(&p, chosen);
        assert_true(is_same);
        for (unsigned field = 0; field <= RANK_EXTENSIONS3; field++) {
            free_geometry(p.counter_bits, p.copies, p.is_aligned, g);
            g[field] = chosen[field];
            bool const is_again = tamis_rank_choose(&p.need, g) && bits_of(g) <= bits_of(chosen);
            if (!is_again) print_error("field %u\n", field);
            if (!is_again) explain(&p, chosen);
            assert_true(is_again);
        }
    }
}

/* A table with as many fingerprints as another one has, for keys received from there; or the number
 * is refused. */
static void a_fixed_number_of_fingerprints_is_met_or_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < GRID_POINTS; i += 31 * one_in) {
        grid_point p = grid_at(i);
        uint64_t   chosen[RANK_FIELDS], g[RANK_FIELDS];
        if (!grid_choose(&p, chosen)) continue;
        p.need.prints = tamis_rank_prints(chosen);
        assert_true(grid_choose(&p, g));
        assert_int_equal(tamis_rank_prints(g), p.need.prints);
        assert_true(tamis_rank_fpr(g, (double)p.need.work.capacity) <= p.need.fpr);
        assert_true(bits_of(g) <= bits_of(chosen));
        p.need.prints++; /* odd, so that no remainder goes into it */
        assert_false(grid_choose(&p, g));
    }
}

/* A level that is not needed, but is fixed by the user. */
static void levels_that_are_asked_for_are_there_or_refused(void **state) {
    (void)state;
    static const unsigned fields[] = { RANK_CELLS2, RANK_CELLS3, RANK_EXTENSIONS2,
                                       RANK_EXTENSIONS3 };
    for (double n = 1; n < 1000; n *= 3) {
        for (unsigned i = 0; i < COUNT(fields); i++) {
            tamis_need const need = wish_of(n, 1e-4, n, 1e-3);
            uint64_t         g[RANK_FIELDS];
            free_geometry(0, 1, i % 2 == 0, g);
            g[RANK_REMAINDER_BITS] = 13;
            g[fields[i]] = 1 + i % 2 * 35;
            uint64_t const wish = g[fields[i]];
            if (tamis_rank_choose(&need, g)) assert_int_equal(g[fields[i]], wish);
        }
    }
}

/* Each field is in its range, but a bucket would have more cells than it may have. */
static void levels_with_too_many_cells_together_are_refused(void **state) {
    (void)state;
    tamis_need const need = wish_of(2000, 0.01, 2000, 1e-10);
    uint64_t         g[RANK_FIELDS];
    free_geometry(0, 1, false, g);
    g[RANK_CELLS] = g[RANK_CELLS2] = 200;
    g[RANK_CELLS3] = 1;
    assert_false(tamis_rank_choose(&need, g));
}

/* The most cells there may be, in one level. */
static void a_bucket_may_have_all_the_cells_there_may_be(void **state) {
    (void)state;
    tamis_need const need = wish_of(2000, 0.01, 2000, 1e-10);
    for (uint64_t cells = 250; cells <= RANK_MAX_CELLS; cells++) {
        uint64_t g[RANK_FIELDS];
        free_geometry(0, 1, false, g);
        g[RANK_CELLS] = cells;
        assert_true(tamis_rank_choose(&need, g));
        assert_int_equal(g[RANK_CELLS], cells);
    }
}

/* ------------------------------------------------------------------ ranges */

static const uint64_t sane[RANK_FIELDS] = { 100, 64, 8, 50, 10, 40, 30, 5, 2, 4, 0, 0 };

static void layout_refuses_what_is_out_of_range(void **state) {
    (void)state;
    static const struct {
        unsigned field;
        uint64_t value;
    } bad[] = {
        { RANK_BUCKETS, 0 },         { RANK_BUCKETS, (UINT64_C(1) << 48) + 1 },
        { RANK_CHAINS, 0 },          { RANK_CHAINS, 65 },
        { RANK_REMAINDER_BITS, 0 },  { RANK_REMAINDER_BITS, 55 },
        { RANK_REMAINDER_BITS, 64 }, { RANK_REMAINDER_BITS, UINT64_MAX },
        { RANK_CELLS, 0 },           { RANK_CELLS, 207 },
        { RANK_CELLS, UINT64_MAX },  { RANK_CELLS2, 0 },
        { RANK_CELLS2, 167 },        { RANK_CELLS2, UINT64_MAX },
        { RANK_CELLS3, 0 },          { RANK_CELLS3, 197 },
        { RANK_CELLS3, UINT64_MAX }, { RANK_EXTENSIONS2, 0 },
        { RANK_EXTENSIONS2, 101 },   { RANK_EXTENSIONS2, 4 },
        { RANK_EXTENSIONS3, 0 },     { RANK_EXTENSIONS3, 31 },
        { RANK_COUNTER_BITS, 25 },   { RANK_COUNTER_BITS, UINT64_MAX },
        { RANK_COPIES, 0 },          { RANK_COPIES, 9 },
        { RANK_VALUE_BITS, 38 },     { RANK_VALUE_BITS, 47 },
        { RANK_ALIGNED, 2 },
    };
    rank_layout layout;
    assert_true(tamis_rank_layout(sane, &layout));
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint64_t g[RANK_FIELDS];
        memcpy(g, sane, sizeof g);
        g[bad[i].field] = bad[i].value;
        if (tamis_rank_layout(g, &layout)) print_error("case %zu\n", i);
        assert_false(tamis_rank_layout(g, &layout));
    }
    /* Each field is in its range, but a third level follows no second one. */
    static const uint64_t gap[RANK_FIELDS] = { 100, 64, 8, 50, 0, 40, 0, 5, 2, 4, 0, 0 };
    assert_false(tamis_rank_layout(gap, &layout));
}

/* No two parts overlap, records of the aligned layout begin where lines do or inside one. */
static void check_layout(const uint64_t *g) {
    rank_layout layout;
    if (!tamis_rank_layout(g, &layout)) return;
    uint64_t const count[4] = { 0, g[RANK_BUCKETS], g[RANK_EXTENSIONS2], g[RANK_EXTENSIONS3] };
    uint64_t       end = 0;
    for (unsigned level = 1; level <= 3; level++) {
        assert_true(layout.start[level] >= end);
        end = layout.start[level] + count[level] * layout.record[level];
        if (g[RANK_ALIGNED] == 0 || layout.record[level] == 0) continue;
        assert_int_equal(layout.start[level] % 512, 0);
        assert_true(layout.record[level] % 512 == 0 || 512 % layout.record[level] == 0);
    }
    assert_true(layout.used[2] >= end);
    assert_true(layout.used[3] >= layout.used[2] + count[2]);
    assert_int_equal(layout.end, layout.used[3] + count[3]);
}

static void layout_keeps_its_parts_apart(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t g[RANK_FIELDS];
        memcpy(g, sane, sizeof g);
        for (unsigned i = 0; i < 3; i++) {
            g[dice_below(&random, RANK_FIELDS)] = dice_below(&random, 70);
        }
        g[RANK_ALIGNED] = dice_below(&random, 2);
        check_layout(g);
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_by_the_papers_formula_is_the_published_one),
        cmocka_unit_test(layout_is_the_papers_storage_less_a_bit_per_pointer),
        cmocka_unit_test(published_geometries_are_no_larger_here),
        cmocka_unit_test(tails_of_table_1_are_the_published_ones),
        cmocka_unit_test(overflow_of_table_2_is_what_its_bounds_give),
        cmocka_unit_test(sizes_are_those_that_are_promised),
        cmocka_unit_test(every_choice_keeps_what_was_asked_for),
        cmocka_unit_test(asking_for_more_safety_or_counters_never_saves_a_bit),
        cmocka_unit_test(asking_for_twice_the_keys_or_half_the_error_takes_more),
        cmocka_unit_test(packing_never_takes_more_than_aligning),
        cmocka_unit_test(fixed_fields_are_honoured),
        cmocka_unit_test(a_chosen_geometry_can_be_fixed),
        cmocka_unit_test(a_fixed_number_of_fingerprints_is_met_or_refused),
        cmocka_unit_test(levels_that_are_asked_for_are_there_or_refused),
        cmocka_unit_test(levels_with_too_many_cells_together_are_refused),
        cmocka_unit_test(a_bucket_may_have_all_the_cells_there_may_be),
        cmocka_unit_test(layout_refuses_what_is_out_of_range),
        cmocka_unit_test(layout_keeps_its_parts_apart),
    };
    if (argc > 1) one_in = (unsigned)strtoul(argv[1], NULL, 10);
    return unit_run("rank_size", tests, COUNT(tests));
}
