/* size.c - see size.h.
 *
 * The search goes from the outside in, a function for each step: r, L, B, Z1, Z2. For every r the
 * load lambda = fpr x 2^r is as large as the fpr allows, and that leaves four or five r to try: a
 * smaller lambda wastes index, a larger one wastes remainders. Given B, the three ways to overflow
 * can be planned apart, once each has its share of the allowed probability: J2 depends on Z1 alone,
 * J3 on Z1 + Z2 alone, and W3 = Z1 + Z2 + Z3 on neither. So what is left is a double loop over Z1
 * and Z1 + Z2 with two table lookups inside.
 *
 *     level 1   B buckets of Z1 cells         B follows from the fpr
 *     level 2   J2 extensions of Z2 cells     for the buckets with more than Z1 cells
 *     level 3   J3 extensions of Z3 cells     for those with more than Z1 + Z2
 *     together  W3 cells                      which hardly any bucket exceeds: `most` below
 *
 * With a larger Z1 most buckets have more empty cells; with a smaller one more buckets have an
 * extension, with a pointer and empty cells of its own. No formula says where the least is, so all
 * are tried. Three plans (1000 to 10^6 keys) looked at 100 to 1400 values of Z1 and at 1000 to
 * 39,000 tables, and computed the exact size of 30 to 230 of these: all others were larger by their
 * records alone. That took 2 to 18 million instructions.
 */
#include "size.h"

#include "core/checked.h"
#include "theory/tails.h"

#include <math.h>

/* ------------------------------------------------------------------ layout */

/* A level has cells and extensions, or neither; and no level follows a missing one. An extension of
 * level 3 hangs on one of level 2, so there are no more of them. */
static bool rank_levels_are_possible(const uint64_t *g) {
    uint64_t const cells = g[RANK_CELLS], more = RANK_MAX_CELLS;
    if (!need_is_in(cells, 1, more)) return false;
    if (g[RANK_CELLS2] > more - cells || g[RANK_CELLS3] > more - cells - g[RANK_CELLS2])
        return false;
    bool const has2 = g[RANK_CELLS2] != 0, has3 = g[RANK_CELLS3] != 0;
    if (has2 != (g[RANK_EXTENSIONS2] != 0) || has3 != (g[RANK_EXTENSIONS3] != 0)) return false;
    if (has3 && !has2) return false;
    return g[RANK_EXTENSIONS2] <= g[RANK_BUCKETS] && g[RANK_EXTENSIONS3] <= g[RANK_EXTENSIONS2];
}

/* A cell is read as one field, so remainder, counter and value must fit into one. */
static bool rank_cells_are_possible(const uint64_t *g) {
    if (!need_is_in(g[RANK_REMAINDER_BITS], 1, RANK_MAX_CELL_BITS)) return false;
    if (g[RANK_COUNTER_BITS] > RANK_MAX_COUNTER_BITS || g[RANK_VALUE_BITS] > RANK_MAX_VALUE_BITS)
        return false;
    if (!need_is_in(g[RANK_COPIES], 1, RANK_MAX_COPIES)) return false;
    return rank_cell_bits(g) <= RANK_MAX_CELL_BITS;
}

/* The parts of the body, one after the other: buckets, extensions of level 2, of level 3, and a bit
 * for each extension ("is it taken?") at the end, so that records of an aligned layout stay at
 * cache lines.
 *
 *     | B buckets    | J2 extensions | J3 extensions | J2 + J3 bits     |
 *     start[1] = 0   start[2]        start[3]        used[2], used[3]   end
 */
bool tamis_rank_layout(const uint64_t *geometry, rank_layout *ret_layout) {
    if (!need_is_in(geometry[RANK_BUCKETS], 1, RANK_MAX_BUCKETS)) return false;
    if (!need_is_in(geometry[RANK_CHAINS], 1, RANK_MAX_CHAINS)) return false;
    if (geometry[RANK_ALIGNED] > 1 || !rank_cells_are_possible(geometry)) return false;
    if (!rank_levels_are_possible(geometry) || tamis_rank_prints(geometry) == 0) return false;
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

/* B x L x 2^r; 0 if that does not fit into 64 bits, which no geometry may exceed: a hash has no
 * more. */
uint64_t tamis_rank_prints(const uint64_t *geometry) {
    uint64_t prints;
    if (geometry[RANK_REMAINDER_BITS] > 63) return 0;
    if (!checked_mul(geometry[RANK_BUCKETS], geometry[RANK_CHAINS], &prints)) return 0;
    if (!checked_mul(prints, UINT64_C(1) << geometry[RANK_REMAINDER_BITS], &prints)) return 0;
    return prints;
}

/* The two terms of size.h for one pool. `filling`: more than J buckets need an extension when the
 * table is filled. `add`: in a full life, one add finds all J taken and its own bucket just full;
 * it is multiplied by the adds that come after the filling. The factors 2 are from Theorem 1 of the
 * paper, which replaces dependent loads by independent ones. */
double tamis_rank_pool_overflow(double buckets, double n, double lifetime, double cells,
                                double extensions) {
    if (cells >= n || extensions >= buckets) return 0;
    double const mean = n / buckets, over = tamis_poisson_tail(mean, cells + 1);
    double const filling = 2 * tamis_binomial_tail(buckets, over, extensions + 1);
    double const add =
        2 * exp(tamis_poisson_log(mean, cells) + tamis_binomial_log(buckets - 1, over, extensions));
    return fmin(1, filling + tamis_prints_churn(n, lifetime) * add);
}

/* The same two terms for the last level. No pool is involved, so the loads need not be independent
 * and the binomial law of one bucket is exact; only the sum over buckets is a bound. */
double tamis_rank_bucket_overflow(double buckets, double n, double lifetime, double cells) {
    if (cells >= n) return 0;
    double const filling = buckets * tamis_binomial_tail(n, 1 / buckets, cells + 1);
    double const add = exp(tamis_binomial_log(n - 1, 1 / buckets, cells));
    return fmin(1, filling + tamis_prints_churn(n, lifetime) * add);
}

/* The life of a table: n different keys with `each` cells, of which one may have `most`. */
typedef struct rank_life {
    double n, lifetime;
    double each, most;
} rank_life;

/* A cell counts to 2^C. So c planned copies take ceil(c / 2^C) cells, and a flooded key takes the
 * maximum. */
static rank_life rank_life_of(const uint64_t *g, const tamis_workload *work) {
    uint64_t const counted = UINT64_C(1) << min_u64(g[RANK_COUNTER_BITS], 32);
    uint64_t const each = min_u64((work->copies + counted - 1) / counted, g[RANK_COPIES]);
    return (rank_life){ .n = (double)work->capacity,
                        .lifetime = (double)work->lifetime,
                        .each = (double)each,
                        .most = (double)g[RANK_COPIES] };
}

/* Can one key take more cells than the others? */
static bool rank_has_flood(const rank_life *life) {
    return life->most > life->each;
}

/* P[any bucket ever needs more than this many cells], except for that of a flooded key. */
static double rank_buckets_overflow(const rank_life *life, double buckets, double cells) {
    return tamis_rank_bucket_overflow(buckets, life->n, life->lifetime, floor(cells / life->each));
}

/* P[the bucket of a flooded key ever needs more than this many cells]: of the n - 1 other keys,
 * more fall into it than it has room for. */
static double rank_flooded_overflow(const rank_life *life, double buckets, double cells) {
    double const room = floor((cells - life->most) / life->each);
    if (!rank_has_flood(life) || room >= life->n - 1) return 0;
    if (room < 0) return 1;
    double const filling = tamis_binomial_tail(life->n - 1, 1 / buckets, room + 1);
    double const add = exp(tamis_binomial_log(life->n - 2, 1 / buckets, room)) / buckets;
    return fmin(1, filling + tamis_prints_churn(life->n, life->lifetime) * add);
}

/* The sum over all ways to overflow: one for each pool, one for the last level, and one for the
 * bucket of a flooded key. */
double tamis_rank_overflow(const uint64_t *geometry, const tamis_workload *work) {
    rank_life const life = rank_life_of(geometry, work);
    double const    buckets = (double)geometry[RANK_BUCKETS];
    double          cells = (double)geometry[RANK_CELLS], sum = 0;
    /* A pool of as many extensions as there are buckets cannot run out. In the others a flooded
     * bucket may hold one extension, which the other buckets then do not have. */
    for (unsigned level = 2; level <= 3; level++) {
        double const extensions = (double)geometry[RANK_EXTENSIONS2 + level - 2];
        if (extensions == 0) break; /* then the last term is the same event, and sharper */
        if (extensions < buckets)
            sum +=
                tamis_rank_pool_overflow(buckets, life.n, life.lifetime, floor(cells / life.each),
                                         extensions - rank_has_flood(&life));
        cells += (double)geometry[RANK_CELLS + level - 1];
    }
    sum += rank_buckets_overflow(&life, buckets, cells);
    return fmin(1, sum + rank_flooded_overflow(&life, buckets, cells));
}

/* ------------------------------------------------------------------ choice */

/* How the allowed probability of overflow is divided: 0.45 for each of the two pools, 0.1 for the
 * last level. A pool can be sized finely, so it uses all of its share. The last level cannot: one
 * cell more divides its probability by three. */
#define POOL_SHARE 0.45
#define BUCKET_SHARE 0.1

/* Keys for each chain. For a given fpr, lambda doubles with each bit of remainder, so this leaves
 * four or five remainders to try. Apart from empty cells, a key takes 1 / lambda bits of base
 * index, 1 of the higher index and r = log2(lambda / fpr): so log2(1 / fpr) + 1, and 1 / lambda +
 * log2(lambda). The latter is 0.91 for lambda = ln 2, where it is least, and more than 2 at these
 * limits. */
#define MIN_LAMBDA 0.2
#define MAX_LAMBDA 3.5

/* The search. `g` in the functions below is the geometry that is being put together: each function
 * fills in its fields and calls the next one, and the innermost compares it with the best. */
typedef struct rank_search {
    const tamis_need *need;
    const uint64_t   *fixed; /* fields that are not for us to choose */
    rank_life         life;
    uint64_t          best[RANK_FIELDS], bits; /* the best geometry so far, and its size */
    /* pool[w]: the extensions that buckets with w cells so far need, so J2 for w = Z1 and J3 for
     * w = Z1 + Z2. NEED_FREE: not computed yet. It depends on B, and is cleared for every B. */
    uint64_t pool[RANK_MAX_CELLS + 1];
} rank_search;

/* May the field have this value: is it free, or fixed to just that? */
static bool rank_may_be(const rank_search *s, unsigned field, uint64_t value) {
    return need_or_fixed(s->fixed[field], value) == value;
}

/* ------------------------------------------------------------------ extensions, and cells */

/* P[more than J of the buckets] from above by a geometric series, in a few operations: within 3% of
 * the sum at the probabilities that matter. `here` is the first term of the tail of the binomial,
 * and `ratio` is that of the second to the first; later ratios are smaller. `exact` is the chance
 * that a bucket is just full, for the adds after the filling (size.h). */
static double rank_pool_bound(double buckets, double over, double exact, double adds, double j) {
    double const here = exp(tamis_binomial_log(buckets, over, j + 1));
    double const ratio = (buckets - j - 1) / (j + 2) * over / (1 - over);
    double const add = exp(tamis_binomial_log(buckets - 1, over, j)) * exact;
    return 2 * (here / (1 - ratio) + adds * add);
}

/* The fewest extensions for buckets of this many keys, without a flooded one. By bisection, which
 * begins with a good guess. */
static uint64_t rank_plain_pool(const rank_search *s, double buckets, double keys) {
    double const n = s->life.n, budget = POOL_SHARE * s->need->overflow;
    if (keys >= n) return 0;
    double const over = tamis_poisson_tail(n / buckets, keys + 1);
    double const exact = exp(tamis_poisson_log(n / buckets, keys));
    double const adds = tamis_prints_churn(n, s->life.lifetime);
    double       low = floor(buckets * over), high = buckets; /* enough is in (low, high] */
    if (buckets * over < 1 && rank_pool_bound(buckets, over, exact, adds, 0) <= budget) return 0;
    /* The first try is 8 sigma above the mean: just above the answer for the usual probabilities of
     * overflow. So the interval is short at once, even with 10^9 buckets. After it, bisection. */
    double guess = floor(low + 8 * sqrt(low + 1) + 20);
    while (high - low > 1) {
        double const middle = guess < high && guess > low ? guess : floor((low + high) / 2);
        bool const   enough = rank_pool_bound(buckets, over, exact, adds, middle) <= budget;
        if (enough)
            high = middle;
        else
            low = middle;
        guess = 0;
    }
    return (uint64_t)high;
}

/* The fewest extensions for buckets of this many cells. One more for the flooded key, unless even
 * its bucket needs none. */
static uint64_t rank_pool_for(rank_search *s, uint64_t buckets, uint64_t cells) {
    if (s->pool[cells] != NEED_FREE) return s->pool[cells];
    double const b = (double)buckets, c = (double)cells;
    uint64_t     pool = rank_plain_pool(s, b, floor(c / s->life.each));
    if (rank_has_flood(&s->life)) {
        double const rare = BUCKET_SHARE * s->need->overflow;
        if (pool != 0 || rank_flooded_overflow(&s->life, b, c) > rare)
            pool = min_u64(pool + 1, buckets);
    }
    return s->pool[cells] = pool;
}

/* The fewest cells that hardly any bucket exceeds. RANK_MAX_CELLS + 1: there is no such number. */
static uint64_t rank_most_cells(const rank_search *s, double buckets) {
    double const mean = s->life.each * s->life.n / buckets;
    uint64_t     high = RANK_MAX_CELLS + 1, low = mean < (double)high ? (uint64_t)mean : high;
    if (low >= high) return high;
    /* Invariant: `low` cells are too few, `high` are enough (or there is no such number). The mean
     * is too few: half of the buckets have more. */
    while (high - low > 1) {
        uint64_t const middle = (low + high) / 2;
        double const   overflow = rank_buckets_overflow(&s->life, buckets, (double)middle) +
                                rank_flooded_overflow(&s->life, buckets, (double)middle);
        if (overflow <= BUCKET_SHARE * s->need->overflow)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ------------------------------------------------------------------ Z2 and Z3 */

/* Keep a candidate if it is possible and the smallest yet. Most are not, and the sum of their
 * records says so: that is computed first, as doubles, since B x record of an impossible geometry
 * may not fit into 64 bits. The exact size is that of the layout. An aligned bucket must be one
 * line, unless the user fixed its cells. */
static void rank_consider(rank_search *s, const uint64_t *g) {
    rank_layout layout;
    double      bits = 0;
    for (unsigned level = 1; level <= 3; level++) {
        uint64_t const count = level == 1 ? g[RANK_BUCKETS] : g[RANK_EXTENSIONS2 + level - 2];
        bits += (double)count * (double)rank_record_bits(g, level);
    }
    if (bits * (1 - 1e-12) >= (double)s->bits) return;
    if (!tamis_rank_layout(g, &layout)) return;
    if (g[RANK_ALIGNED] != 0 && layout.record[1] > 512 && s->fixed[RANK_CELLS] == NEED_FREE) return;
    if (layout.end >= s->bits) return;
    s->bits = layout.end;
    for (unsigned i = 0; i < RANK_FIELDS; i++) s->best[i] = g[i];
}

/* Would an aligned extension of one cell more be no larger, whatever its pointer? Then this one
 * need not be looked at. */
static bool rank_is_unfilled(const uint64_t *g) {
    uint64_t const cell = 1 + rank_cell_bits(g), most_pointer = 32;
    if (g[RANK_ALIGNED] == 0) return false;
    return rank_align(g[RANK_CELLS2] * cell) ==
           rank_align((g[RANK_CELLS2] + 1) * cell + most_pointer);
}

/* Z1 and J2 are chosen: try all Z2. With each of them go J3 extensions that fill a bucket up to
 * `most` cells; none if Z1 + Z2 is that already. Z2 grows, and so do the buckets and extensions of
 * level 2 together: when these alone are larger than the best table, the search is over. */
static void rank_try_extensions(rank_search *s, uint64_t *g, uint64_t most) {
    uint64_t const buckets = g[RANK_BUCKETS], cells = g[RANK_CELLS];
    double const   first = (double)buckets * (double)rank_record_bits(g, 1);
    for (uint64_t two = cells + 1; two <= most; two++) {
        g[RANK_CELLS2] = two - cells;
        double const second =
            (double)g[RANK_EXTENSIONS2] * (double)(g[RANK_CELLS2] * rank_cell_bits(g));
        if (first + second >= (double)s->bits) return;
        if (!rank_may_be(s, RANK_CELLS2, g[RANK_CELLS2])) continue;
        bool const is_last = two == most || s->fixed[RANK_CELLS2] != NEED_FREE;
        if (!is_last && rank_is_unfilled(g)) continue;
        g[RANK_EXTENSIONS3] = need_or_fixed(s->fixed[RANK_EXTENSIONS3],
                                            two < most ? rank_pool_for(s, buckets, two) : 0);
        g[RANK_CELLS3] =
            need_or_fixed(s->fixed[RANK_CELLS3], g[RANK_EXTENSIONS3] != 0 ? most - two : 0);
        rank_consider(s, g);
    }
}

/* B, L, r and Z1 are chosen, and hardly any bucket needs more than `most` cells: choose the levels
 * above. How many buckets need more than Z1 cells does not depend on Z2 and Z3, so J2 follows from
 * Z1 at once. If it is 0, there is one level. Otherwise Z2 decides the rest, and all are tried.
 *
 * Z1 is passed over if the buckets alone are as large as the best table so far. */
static void rank_choose_upper(rank_search *s, uint64_t *g, uint64_t most) {
    g[RANK_CELLS2] = g[RANK_CELLS3] = g[RANK_EXTENSIONS2] = g[RANK_EXTENSIONS3] = 0;
    if ((double)g[RANK_BUCKETS] * (double)rank_record_bits(g, 1) >= (double)s->bits) return;
    g[RANK_EXTENSIONS2] =
        need_or_fixed(s->fixed[RANK_EXTENSIONS2], rank_pool_for(s, g[RANK_BUCKETS], g[RANK_CELLS]));
    bool const may_be_one_level = rank_may_be(s, RANK_CELLS2, 0) &&
                                  rank_may_be(s, RANK_CELLS3, 0) &&
                                  rank_may_be(s, RANK_EXTENSIONS3, 0);
    if (g[RANK_EXTENSIONS2] != 0)
        rank_try_extensions(s, g, most);
    else if (may_be_one_level)
        rank_consider(s, g);
}

/* ------------------------------------------------------------------ Z1 */

/* Is an aligned bucket a line that has no room for one cell more? */
static bool rank_fills_line(const uint64_t *g) {
    uint64_t const cell = 1 + rank_cell_bits(g);
    uint64_t const bits =
        g[RANK_CHAINS] + rank_pointer_bits(g[RANK_EXTENSIONS2]) + g[RANK_CELLS] * cell;
    return g[RANK_ALIGNED] != 0 && bits <= 512 && bits + cell > 512;
}

/* Is every table of this many buckets, with at least this many cells each, too large? All keys need
 * a cell somewhere. */
static bool rank_is_hopeless(const rank_search *s, const uint64_t *g, uint64_t cells) {
    double const   cell = 1 + (double)rank_cell_bits(g), buckets = (double)g[RANK_BUCKETS];
    uint64_t const record = g[RANK_CHAINS] + cells * (1 + rank_cell_bits(g));
    double const   line = (double)(g[RANK_ALIGNED] != 0 ? rank_align(record) : record);
    double const   all = (double)g[RANK_CHAINS] * buckets + s->life.each * s->life.n * cell;
    return s->fixed[RANK_CELLS] == NEED_FREE && fmax(all, buckets * line) >= (double)s->bits;
}

/* As rank_pool_for(), if the cells of the extensions are fixed, to `more`: with 0 cells there are
 * none, else at least one, since a level has both cells and extensions or neither. */
static uint64_t rank_fixed_pool(rank_search *s, uint64_t buckets, uint64_t cells, uint64_t more) {
    if (more == 0 || cells > RANK_MAX_CELLS) return 0;
    return max_u64(rank_pool_for(s, buckets, cells), 1);
}

/* The cells of all levels are fixed, as in a set that grows: only J2 and J3 are to be chosen. */
static void rank_choose_pools(rank_search *s, uint64_t *g) {
    uint64_t const *const fixed = s->fixed;
    uint64_t const        buckets = g[RANK_BUCKETS], one = fixed[RANK_CELLS];
    uint64_t const        two = one + fixed[RANK_CELLS2];
    for (unsigned i = RANK_CELLS; i <= RANK_CELLS3; i++) g[i] = fixed[i];
    g[RANK_EXTENSIONS2] = need_or_fixed(fixed[RANK_EXTENSIONS2],
                                        rank_fixed_pool(s, buckets, one, fixed[RANK_CELLS2]));
    g[RANK_EXTENSIONS3] = need_or_fixed(fixed[RANK_EXTENSIONS3],
                                        rank_fixed_pool(s, buckets, two, fixed[RANK_CELLS3]));
    rank_consider(s, g);
}

/* Z1 is fixed, and so may be more or less than what would be chosen. With extensions a bucket has
 * `most` cells, but at least one more than Z1, or there would be no extension to choose; and never
 * more than RANK_MAX_CELLS. If Z2 is fixed, too, any sum of the two must be reached by the loop of
 * rank_try_extensions(). */
static void rank_try_fixed_cells(rank_search *s, uint64_t *g, uint64_t most) {
    uint64_t const fixed = s->fixed[RANK_CELLS];
    most = max_u64(min_u64(most, RANK_MAX_CELLS), min_u64(fixed, RANK_MAX_CELLS - 1) + 1);
    if (s->fixed[RANK_CELLS2] != NEED_FREE) most = RANK_MAX_CELLS;
    g[RANK_CELLS] = fixed;
    if (fixed <= RANK_MAX_CELLS) rank_choose_upper(s, g, most);
}

/* B, L and r are chosen: choose Z1. It tries every Z1 from mean + 4 sigma down to mean - sigma, and
 * at last `most` cells, which hardly any bucket exceeds. A bucket has n / B keys on average, with a
 * standard deviation of the square root of that, and each key takes `each` cells. */
static void rank_choose_cells(rank_search *s, uint64_t *g) {
    double const   keys = s->life.n / (double)g[RANK_BUCKETS];
    double const   mean = s->life.each * keys, sigma = s->life.each * sqrt(keys);
    uint64_t const low = (uint64_t)fmax(1, mean - sigma);
    if (rank_is_hopeless(s, g, low)) return;
    for (unsigned i = 0; i <= RANK_MAX_CELLS; i++) s->pool[i] = NEED_FREE;
    bool const are_all_fixed = s->fixed[RANK_CELLS] != NEED_FREE &&
                               s->fixed[RANK_CELLS2] != NEED_FREE &&
                               s->fixed[RANK_CELLS3] != NEED_FREE;
    if (are_all_fixed) {
        rank_choose_pools(s, g);
        return;
    }
    uint64_t const most = rank_most_cells(s, (double)g[RANK_BUCKETS]);
    if (s->fixed[RANK_CELLS] != NEED_FREE) {
        rank_try_fixed_cells(s, g, most);
        return;
    }
    if (most > RANK_MAX_CELLS) return;
    g[RANK_EXTENSIONS2] = 0; /* a record without a pointer, for the first test in the loop */
    for (uint64_t cells = min_u64(most, (uint64_t)(mean + 4 * sigma) + 1); cells >= low; cells--) {
        g[RANK_CELLS] = cells;
        if (g[RANK_ALIGNED] != 0 && rank_record_bits(g, 1) > 512) continue;
        rank_choose_upper(s, g, most);
        if (rank_fills_line(g)) break; /* fewer cells would only waste it */
    }
    g[RANK_CELLS] = most;
    rank_choose_upper(s, g, most);
}

/* ------------------------------------------------------------------ r, L and B */

/* L and r are chosen: choose B, the fewest buckets that meet the fpr. */
static void rank_choose_buckets(rank_search *s, uint64_t *g) {
    const tamis_need *const need = s->need;
    /* The fpr is the share of fingerprints that are stored, n / (B L 2^r). So B L = n / fpr / 2^r
     * chains are needed. Without an fpr there is one key for each chain. */
    double const rate = need->fpr > 0 ? need->fpr : ldexp(1, -(int)g[RANK_REMAINDER_BITS]);
    double const chains = s->life.n / rate / ldexp(1, (int)g[RANK_REMAINDER_BITS]);
    double const buckets = fmax(1, ceil(chains / (double)g[RANK_CHAINS]));
    if (buckets > 0x1p48) return;
    g[RANK_BUCKETS] = need_or_fixed(s->fixed[RANK_BUCKETS], (uint64_t)buckets);
    /* A received set must have exactly the fingerprints of the one that was sent: B L 2^r is
     * given. */
    if (need->prints != 0) {
        uint64_t const step = g[RANK_CHAINS] << g[RANK_REMAINDER_BITS];
        if (step == 0 || need->prints % step != 0) return;
        g[RANK_BUCKETS] = need->prints / step;
        if (!rank_may_be(s, RANK_BUCKETS, g[RANK_BUCKETS])) return;
    }
    if (g[RANK_BUCKETS] == 0 || tamis_rank_prints(g) == 0) return;
    if (need->fpr > 0 && tamis_rank_fpr(g, s->life.n) > need->fpr) return;
    double const lambda = s->life.n / ((double)g[RANK_BUCKETS] * (double)g[RANK_CHAINS]);
    bool const   is_free = s->fixed[RANK_REMAINDER_BITS] == NEED_FREE && g[RANK_BUCKETS] > 1;
    if (is_free && !(lambda >= MIN_LAMBDA && lambda <= MAX_LAMBDA)) return;
    rank_choose_cells(s, g);
}

/* r is chosen: choose L. Fewer than 64 chains are better if a bucket must be one cache line, and if
 * there are so few buckets that B is coarse. If the number of fingerprints is given, L must divide
 * it. */
static void rank_choose_chains(rank_search *s, uint64_t *g) {
    bool const     is_coarse = s->life.n < 20000, is_bound = s->need->prints != 0;
    bool const     is_aligned = g[RANK_ALIGNED] != 0;
    uint64_t const step = is_bound ? 1 : is_aligned ? 2 : 4;
    uint64_t const least = is_aligned || is_bound ? 2 : is_coarse ? 32 : RANK_MAX_CHAINS;
    uint64_t const fixed = s->fixed[RANK_CHAINS];
    if (fixed != NEED_FREE) {
        g[RANK_CHAINS] = fixed;
        rank_choose_buckets(s, g);
        return;
    }
    for (uint64_t chains = RANK_MAX_CHAINS; chains >= least; chains -= step) {
        g[RANK_CHAINS] = chains;
        rank_choose_buckets(s, g);
    }
}

/* All remainders, from the outside in. Without an fpr and without a number of prints to keep,
 * nothing says how long remainders should be: then they have 8 bits, and there is one key for each
 * chain. `geometry` is both the fixed fields and the result. */
bool tamis_rank_choose(const tamis_need *need, uint64_t *geometry) {
    rank_search s = { .need = need, .fixed = geometry, .bits = UINT64_MAX };
    uint64_t    g[RANK_FIELDS];
    for (unsigned i = 0; i < RANK_FIELDS; i++) g[i] = geometry[i];
    s.life = rank_life_of(g, &need->work);
    uint64_t const usual = need->fpr > 0 || need->prints != 0 ? NEED_FREE : 8;
    uint64_t const fixed = need_or_fixed(geometry[RANK_REMAINDER_BITS], usual);
    /* Most r leave at once: rank_choose_buckets() returns where lambda is out of its limits. */
    for (uint64_t r = 1; r <= RANK_MAX_CELL_BITS; r++) {
        g[RANK_REMAINDER_BITS] = r;
        if (need_or_fixed(fixed, r) == r && rank_cells_are_possible(g)) rank_choose_chains(&s, g);
    }
    if (s.bits == UINT64_MAX) return false;
    for (unsigned i = 0; i < RANK_FIELDS; i++) geometry[i] = s.best[i];
    return true;
}
