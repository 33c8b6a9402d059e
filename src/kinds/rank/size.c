/* size.c - see rank_size.h.
 *
 * The search. For every r the load lambda = fpr x 2^r is as large as the fpr allows, and that
 * leaves four or five r to try: a smaller lambda wastes index, a larger one wastes remainders.
 * Given B, the probabilities fall apart: J2 depends on Z1 alone, J3 on Z1 + Z2 alone, and Z1 + Z2 +
 * Z3 on neither, once each of the three ways to overflow has its share of the budget. So all of it
 * is a double loop over Z1 and Z1 + Z2 with two table lookups inside.
 */
#include "size.h"

#include "core/checked.h"
#include "theory/tails.h"

#include <math.h>
/* ------------------------------------------------------------------ layout */

static bool is_within(uint64_t value, uint64_t low, uint64_t high) {
    return value >= low && value <= high;
}

/* A level has cells and extensions, or neither; and no level follows a missing one. */
static bool levels_are_possible(const uint64_t *g) {
    uint64_t const cells = g[RANK_CELLS], more = RANK_MAX_CELLS;
    if (!is_within(cells, 1, more)) return false;
    if (g[RANK_CELLS2] > more - cells || g[RANK_CELLS3] > more - cells - g[RANK_CELLS2])
        return false;
    bool const has2 = g[RANK_CELLS2] != 0, has3 = g[RANK_CELLS3] != 0;
    if (has2 != (g[RANK_EXTENSIONS2] != 0) || has3 != (g[RANK_EXTENSIONS3] != 0)) return false;
    if (has3 && !has2) return false;
    return g[RANK_EXTENSIONS2] <= g[RANK_BUCKETS] && g[RANK_EXTENSIONS3] <= g[RANK_EXTENSIONS2];
}

static bool cells_are_possible(const uint64_t *g) {
    if (!is_within(g[RANK_REMAINDER_BITS], 1, RANK_MAX_CELL_BITS)) return false;
    if (g[RANK_COUNTER_BITS] > RANK_MAX_COUNTER_BITS || g[RANK_VALUE_BITS] > RANK_MAX_VALUE_BITS)
        return false;
    if (!is_within(g[RANK_COPIES], 1, RANK_MAX_COPIES)) return false;
    if (g[RANK_COPIES] == 1 && g[RANK_COUNTER_BITS] != 0) return false;
    return rank_cell_bits(g) <= RANK_MAX_CELL_BITS;
}

bool tamis_rank_layout(const uint64_t *geometry, rank_layout *ret_layout) {
    if (!is_within(geometry[RANK_BUCKETS], 1, UINT64_C(1) << 48)) return false;
    if (!is_within(geometry[RANK_CHAINS], 1, RANK_MAX_CHAINS)) return false;
    if (geometry[RANK_ALIGNED] > 1 || !cells_are_possible(geometry)) return false;
    if (!levels_are_possible(geometry) || tamis_rank_prints(geometry) == 0) return false;
    uint64_t const count[4] = { 0, geometry[RANK_BUCKETS], geometry[RANK_EXTENSIONS2],
                                geometry[RANK_EXTENSIONS3] };
    rank_layout    layout = { .end = 0 };
    for (unsigned level = 1; level <= 3; level++) { /* 2^48 records of 2^14 bits cannot wrap */
        layout.record[level] = rank_record_bits(geometry, level);
        layout.start[level] = layout.end;
        layout.end += count[level] * layout.record[level];
        if (geometry[RANK_ALIGNED] != 0) layout.end = (layout.end + 511) & ~UINT64_C(511);
        if (layout.end > UINT64_C(1) << 62) return false;
    }
    for (unsigned level = 2; level <= 3; level++) {
        layout.used[level] = layout.end;
        layout.end += count[level];
    }
    *ret_layout = layout;
    return true;
}

/* ------------------------------------------------------------------ prediction */

uint64_t tamis_rank_prints(const uint64_t *geometry) {
    uint64_t prints;
    if (geometry[RANK_REMAINDER_BITS] > 63) return 0;
    if (!checked_mul(geometry[RANK_BUCKETS], geometry[RANK_CHAINS], &prints)) return 0;
    if (!checked_mul(prints, UINT64_C(1) << geometry[RANK_REMAINDER_BITS], &prints)) return 0;
    return prints;
}

double tamis_rank_pool_overflow(double buckets, double n, double lifetime, double cells,
                                double extensions) {
    if (cells >= n || extensions >= buckets) return 0;
    double const mean = n / buckets, over = tamis_poisson_tail(mean, cells + 1);
    double const filling = 2 * tamis_binomial_tail(buckets, over, extensions + 1);
    double const add =
        2 * exp(tamis_poisson_log(mean, cells) + tamis_binomial_log(buckets - 1, over, extensions));
    return fmin(1, filling + tamis_prints_churn(n, lifetime) * add);
}

double tamis_rank_bucket_overflow(double buckets, double n, double lifetime, double cells) {
    if (cells >= n) return 0;
    double const filling = buckets * tamis_binomial_tail(n, 1 / buckets, cells + 1);
    double const add = exp(tamis_binomial_log(n - 1, 1 / buckets, cells));
    return fmin(1, filling + tamis_prints_churn(n, lifetime) * add);
}

double tamis_rank_overflow(const uint64_t *geometry, double n, double lifetime) {
    double const buckets = (double)geometry[RANK_BUCKETS];
    double       cells = (double)geometry[RANK_CELLS], sum = 0;
    for (unsigned level = 2; level <= 3; level++) {
        double const extensions = (double)geometry[RANK_EXTENSIONS2 + level - 2];
        if (extensions == 0) break; /* then the last term is the same event, and sharper */
        sum += tamis_rank_pool_overflow(buckets, n, lifetime, cells, extensions);
        cells += (double)geometry[RANK_CELLS + level - 1];
    }
    return fmin(1, sum + tamis_rank_bucket_overflow(buckets, n, lifetime, cells));
}

/* ------------------------------------------------------------------ choice */

/* How the budget is shared: a pool is sized finely; one cell more makes the last term a third. */
#define POOL_SHARE 0.45
#define BUCKET_SHARE 0.1

#define MIN_LAMBDA 0.2
#define MAX_LAMBDA 3.5

typedef struct search {
    const rank_need *need;
    const uint64_t  *fixed;
    double           cells;                    /* in use at capacity */
    uint64_t         best[RANK_FIELDS], bits;  /* of the best so far */
    uint64_t         pool[RANK_MAX_CELLS + 1]; /* J for a bucket of so many cells; FREE: not yet */
} search;

static uint64_t or_fixed(uint64_t fixed, uint64_t chosen) {
    return fixed != NEED_FREE ? fixed : chosen;
}

/* P[more than J of the buckets] from above by a geometric series, in a few operations: within 3%
 * of the sum at the probabilities that matter. */
static double pool_bound(double buckets, double over, double exact, double adds, double j) {
    double const here = exp(tamis_binomial_log(buckets, over, j + 1));
    double const ratio = (buckets - j - 1) / (j + 2) * over / (1 - over);
    double const add = exp(tamis_binomial_log(buckets - 1, over, j)) * exact;
    return 2 * (here / (1 - ratio) + adds * add);
}

/* The fewest extensions for buckets of so many cells. */
static uint64_t pool_needed(const search *s, double buckets, double cells) {
    if (cells >= s->cells) return 0;
    double const budget = POOL_SHARE * s->need->overflow, mean = s->cells / buckets;
    double const over = tamis_poisson_tail(mean, cells + 1);
    double const exact = exp(tamis_poisson_log(mean, cells));
    double const adds = tamis_prints_churn(s->cells, s->need->lifetime);
    double       low = floor(buckets * over), high = buckets; /* enough is in (low, high] */
    if (buckets * over < 1 && pool_bound(buckets, over, exact, adds, 0) <= budget) return 0;
    double guess = floor(low + 8 * sqrt(low + 1) + 20);
    while (high - low > 1) {
        double const middle = guess < high && guess > low ? guess : floor((low + high) / 2);
        bool const   enough = pool_bound(buckets, over, exact, adds, middle) <= budget;
        *(enough ? &high : &low) = middle;
        guess = 0;
    }
    return (uint64_t)high;
}

static uint64_t pool_for(search *s, double buckets, uint64_t cells) {
    if (s->pool[cells] == NEED_FREE) s->pool[cells] = pool_needed(s, buckets, (double)cells);
    return s->pool[cells];
}

/* The fewest cells that hardly any bucket exceeds; too many when RANK_MAX_CELLS are not enough. */
static uint64_t most_cells(const search *s, double buckets) {
    double const budget = BUCKET_SHARE * s->need->overflow;
    uint64_t     low = (uint64_t)(s->cells / buckets), high = RANK_MAX_CELLS + 1;
    if (low >= high) return high;
    while (high - low > 1) {
        uint64_t const middle = (low + high) / 2;
        bool const     enough = tamis_rank_bucket_overflow(buckets, s->cells, s->need->lifetime,
                                                           (double)middle) <= budget;
        *(enough ? &high : &low) = middle;
    }
    return high;
}

/* Keep a candidate if it is possible and the smallest yet. */
static void consider(search *s, const uint64_t *g) {
    rank_layout layout;
    if (!tamis_rank_layout(g, &layout)) return;
    if (g[RANK_ALIGNED] != 0 && layout.record[1] > 512 && s->fixed[RANK_CELLS] == NEED_FREE) return;
    if (layout.end >= s->bits) return;
    s->bits = layout.end;
    for (unsigned i = 0; i < RANK_FIELDS; i++) s->best[i] = g[i];
}

/* Would an aligned extension of one cell more be no larger, whatever its pointer? */
static bool is_unfilled(const uint64_t *g) {
    uint64_t const cell = 1 + rank_cell_bits(g), most_pointer = 32;
    if (g[RANK_ALIGNED] == 0) return false;
    return rank_align(g[RANK_CELLS2] * cell) ==
           rank_align((g[RANK_CELLS2] + 1) * cell + most_pointer);
}

/* Z1 is chosen: choose the levels above it. */
static void choose_upper(search *s, uint64_t *g, uint64_t most) {
    double const   buckets = (double)g[RANK_BUCKETS];
    uint64_t const cells = g[RANK_CELLS];
    g[RANK_CELLS2] = g[RANK_CELLS3] = g[RANK_EXTENSIONS2] = g[RANK_EXTENSIONS3] = 0;
    if (buckets * (double)rank_record_bits(g, 1) >= (double)s->bits) return;
    g[RANK_EXTENSIONS2] = or_fixed(s->fixed[RANK_EXTENSIONS2], pool_for(s, buckets, cells));
    if (g[RANK_EXTENSIONS2] == 0) {
        if (or_fixed(s->fixed[RANK_CELLS2], 0) == 0 && or_fixed(s->fixed[RANK_CELLS3], 0) == 0 &&
            or_fixed(s->fixed[RANK_EXTENSIONS3], 0) == 0)
            consider(s, g);
        return;
    }
    double const first = buckets * (double)rank_record_bits(g, 1);
    for (uint64_t two = cells + 1; two <= most; two++) {
        g[RANK_CELLS2] = two - cells;
        double const second =
            (double)g[RANK_EXTENSIONS2] * (double)(g[RANK_CELLS2] * rank_cell_bits(g));
        if (first + second >= (double)s->bits) return; /* and it only grows */
        if (two < most && s->fixed[RANK_CELLS2] == NEED_FREE && is_unfilled(g)) continue;
        if (or_fixed(s->fixed[RANK_CELLS2], g[RANK_CELLS2]) != g[RANK_CELLS2]) continue;
        g[RANK_EXTENSIONS3] =
            or_fixed(s->fixed[RANK_EXTENSIONS3], two < most ? pool_for(s, buckets, two) : 0);
        g[RANK_CELLS3] = or_fixed(s->fixed[RANK_CELLS3], g[RANK_EXTENSIONS3] ? most - two : 0);
        consider(s, g);
    }
}

/* Is the bucket a line that has no room for one cell more? */
static bool fills_line(const uint64_t *g) {
    uint64_t const cell = 1 + rank_cell_bits(g);
    uint64_t const bits =
        g[RANK_CHAINS] + rank_pointer_bits(g[RANK_EXTENSIONS2]) + g[RANK_CELLS] * cell;
    return bits <= 512 && bits + cell > 512;
}

/* Is every table of so many buckets, with at least so many cells each, too large? All keys need a
 * cell somewhere. */
static bool is_hopeless(const search *s, const uint64_t *g, uint64_t cells) {
    double const   cell = 1 + (double)rank_cell_bits(g), buckets = (double)g[RANK_BUCKETS];
    uint64_t const record = g[RANK_CHAINS] + cells * (1 + rank_cell_bits(g));
    double const   line = (double)(g[RANK_ALIGNED] != 0 ? rank_align(record) : record);
    double const   all = (double)g[RANK_CHAINS] * buckets + s->cells * cell;
    return s->fixed[RANK_CELLS] == NEED_FREE && fmax(all, buckets * line) >= (double)s->bits;
}

/* B, L and r are chosen: choose the cells. */
static void choose_cells(search *s, uint64_t *g) {
    double const   mean = s->cells / (double)g[RANK_BUCKETS], sigma = sqrt(mean);
    uint64_t const low = (uint64_t)fmax(1, mean - sigma);
    if (is_hopeless(s, g, low)) return;
    uint64_t       most = most_cells(s, (double)g[RANK_BUCKETS]);
    uint64_t const fixed = s->fixed[RANK_CELLS];
    if (fixed != NEED_FREE) {
        g[RANK_CELLS] = fixed;
        most = max_u64(min_u64(most, RANK_MAX_CELLS), min_u64(fixed, RANK_MAX_CELLS - 1) + 1);
        if (s->fixed[RANK_CELLS2] != NEED_FREE) most = RANK_MAX_CELLS;
    }
    if (most > RANK_MAX_CELLS) return;
    for (unsigned i = 0; i <= RANK_MAX_CELLS; i++) s->pool[i] = NEED_FREE;
    uint64_t const high = min_u64(most, (uint64_t)(mean + 4 * sigma) + 1);
    g[RANK_EXTENSIONS2] = 0;
    for (uint64_t cells = high; cells >= low && fixed == NEED_FREE; cells--) {
        g[RANK_CELLS] = cells;
        if (g[RANK_ALIGNED] != 0 && rank_record_bits(g, 1) > 512) continue;
        choose_upper(s, g, most);
        if (g[RANK_ALIGNED] != 0 && fills_line(g)) break; /* fewer cells would only waste it */
    }
    g[RANK_CELLS] = or_fixed(fixed, most); /* and all in one level */
    choose_upper(s, g, most);
}

/* L and r are chosen: choose B, the fewest buckets that meet the fpr. */
static void choose_buckets(search *s, uint64_t *g) {
    double const rate = s->need->fpr > 0 ? s->need->fpr : ldexp(1, -(int)g[RANK_REMAINDER_BITS]);
    double const chains = s->need->n / rate / ldexp(1, (int)g[RANK_REMAINDER_BITS]);
    double const buckets = fmax(1, ceil(chains / (double)g[RANK_CHAINS]));
    if (buckets > 0x1p48) return;
    g[RANK_BUCKETS] = or_fixed(s->fixed[RANK_BUCKETS], (uint64_t)buckets);
    if (s->need->prints != 0) {
        uint64_t const step = g[RANK_CHAINS] << g[RANK_REMAINDER_BITS];
        if (step == 0 || s->need->prints % step != 0) return;
        g[RANK_BUCKETS] = s->need->prints / step;
        if (or_fixed(s->fixed[RANK_BUCKETS], g[RANK_BUCKETS]) != g[RANK_BUCKETS]) return;
    }
    if (g[RANK_BUCKETS] == 0 || tamis_rank_prints(g) == 0) return;
    if (s->need->fpr > 0 && tamis_rank_fpr(g, s->need->n) > s->need->fpr) return;
    double const lambda = s->need->n / ((double)g[RANK_BUCKETS] * (double)g[RANK_CHAINS]);
    bool const   is_free = s->fixed[RANK_REMAINDER_BITS] == NEED_FREE && g[RANK_BUCKETS] > 1;
    if (is_free && !(lambda >= MIN_LAMBDA && lambda <= MAX_LAMBDA)) return;
    choose_cells(s, g);
}

/* Fewer than 64 chains pay where a bucket shall be one line, or where few buckets make B coarse. */
static void choose_chains(search *s, uint64_t *g) {
    bool const     is_coarse = s->need->n < 20000;
    bool const     is_bound = s->need->prints != 0; /* then L must divide them */
    uint64_t const step = is_bound ? 1 : g[RANK_ALIGNED] != 0 ? 2 : 4;
    uint64_t const fixed = s->fixed[RANK_CHAINS];
    uint64_t const few = g[RANK_ALIGNED] != 0 || is_bound ? 2 : 32;
    uint64_t const least = few == 32 && !is_coarse ? RANK_MAX_CHAINS : few;
    for (uint64_t chains = RANK_MAX_CHAINS; chains >= least; chains -= step) {
        g[RANK_CHAINS] = or_fixed(fixed, chains);
        choose_buckets(s, g);
        if (fixed != NEED_FREE) return;
    }
}

bool tamis_rank_choose(const rank_need *need, uint64_t *geometry) {
    search   s = { .need = need, .fixed = geometry, .bits = UINT64_MAX };
    uint64_t g[RANK_FIELDS];
    for (unsigned i = 0; i < RANK_FIELDS; i++) g[i] = geometry[i];
    s.cells = need->n + (double)(geometry[RANK_COPIES] - 1); /* one flooded key harms nobody */
    uint64_t const fixed = geometry[RANK_REMAINDER_BITS];
    uint64_t const usual = need->fpr > 0 || need->prints != 0 ? NEED_FREE : 8;
    for (uint64_t r = 1; r <= RANK_MAX_CELL_BITS; r++) {
        g[RANK_REMAINDER_BITS] = r;
        if (or_fixed(fixed, or_fixed(usual, r)) == r) choose_chains(&s, g);
    }
    if (s.bits == UINT64_MAX) return false;
    for (unsigned i = 0; i < RANK_FIELDS; i++) geometry[i] = s.best[i];
    return true;
}
