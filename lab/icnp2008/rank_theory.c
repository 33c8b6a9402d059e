/* rank_theory.c - the paper's formulas, an exhaustive search, and exact laws of
 * small tables. See rank.h. */
#include "rank.h"

#include "core/field.h"
#include "kinds/rank/size.h"
#include "theory/tails.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ tables as numbers */

double rank_print_rate(const rank_print *print) {
    return ldexp(print->lambda, -(int)print->remainder_bits);
}

rank_table rank_as_printed(const rank_print *print, unsigned counter_bits) {
    double const buckets = RANK_KEYS / (print->lambda * print->chains);
    return (rank_table){ .buckets = buckets,
                         .chains = print->chains,
                         .cells = { print->cells[0], print->cells[1], print->cells[2] },
                         .pool = { print->share[0] * buckets, print->share[1] * buckets },
                         .cell_bits = print->remainder_bits + counter_bits,
                         .remainder_bits = print->remainder_bits };
}

rank_table rank_as_built(const rank_print *print, unsigned counter_bits) {
    rank_table table = rank_as_printed(print, counter_bits);
    table.buckets = ceil(table.buckets);
    for (unsigned i = 0; i < 2; i++) table.pool[i] = ceil(table.pool[i]);
    return table;
}

double rank_paper_bits(const rank_table *t) {
    double const cell = 1 + t->cell_bits; /* with its bit of the higher index */
    double const flag2 = t->pool[0] > 0 ? 1 + ceil(log2(t->pool[0])) : 0;
    double const flag3 = t->pool[1] > 0 ? 1 + ceil(log2(t->pool[1])) : 0;
    double const bucket = t->chains + t->cells[0] * cell + flag2;
    double const second = 1 + t->cells[1] * cell + flag3;
    double const third = 1 + t->cells[2] * cell;
    return t->buckets * bucket + t->pool[0] * second + t->pool[1] * third;
}

double rank_layout_bits(const rank_table *t) {
    double const cell = 1 + t->cell_bits;
    double const bucket = t->chains + t->cells[0] * cell + ceil(log2(t->pool[0] + 1));
    double const second = 1 + t->cells[1] * cell + ceil(log2(t->pool[1] + 1));
    double const third = 1 + t->cells[2] * cell;
    return t->buckets * bucket + t->pool[0] * second + t->pool[1] * third;
}

double rank_body_bits(const rank_table *t) {
    double const bytes = ceil(rank_layout_bits(t) / 8) + FIELD_PAD_BYTES;
    return 8 * TAMIS_LINE_BYTES * ceil(bytes / TAMIS_LINE_BYTES);
}

double rank_filling_overflow(const rank_table *t, double keys) {
    double const two = t->cells[0] + t->cells[1], three = two + t->cells[2];
    double const over1 = tamis_poisson_tail(keys / t->buckets, t->cells[0] + 1);
    double const over2 = tamis_poisson_tail(keys / t->buckets, two + 1);
    return 2 * tamis_binomial_tail(t->buckets, over1, floor(t->pool[0]) + 1) +
           2 * tamis_binomial_tail(t->buckets, over2, floor(t->pool[1]) + 1) +
           t->buckets * tamis_binomial_tail(keys, 1 / t->buckets, three + 1);
}

double rank_fingerprints(const rank_table *t) {
    return ldexp(t->buckets * t->chains, (int)t->remainder_bits);
}

double rank_table_rate(const rank_table *t, double keys) {
    return -expm1(keys * log1p(-1 / rank_fingerprints(t)));
}

/* A bucket has L 2^r places for fingerprints, each taken with the same probability and nearly
 * independently. */
double rank_share_over(const rank_table *t, double keys, double cells) {
    double const places = ldexp(t->chains, (int)t->remainder_bits);
    return tamis_binomial_tail(places, rank_table_rate(t, keys), cells + 1);
}

/* The loads add up to the number of keys, so the count varies less than a binomial one. For Poisson
 * loads with a fixed sum its variance is B (p (1 - p) - cov^2 / mean), where the covariance of
 * "more than W" and the load is mean x P[load = W]. */
double rank_count_deviation(double buckets, double mean, double over, double exactly) {
    return sqrt(buckets * (over * (1 - over) - mean * exactly * exactly));
}

/* ------------------------------------------------------------------ other constructions */

double bloom_ideal_bits(double fpr) {
    return -log2(fpr) / M_LN2;
}

/* Four subtables of buckets of 8 with 6 keys each: a lookup meets 24 fingerprints. */
double dleft_bits(double fpr, double counter_bits) {
    return 8.0 / 6 * (log2(24 / fpr) + counter_bits);
}

double dleft_packed_bits(double fpr) {
    return log2(24 / fpr) + 3.0 / 6;
}

/* A share q of ones gives fpr = q^k, so k = ln fpr / ln q; and k = -m/n ln(1 - q). */
static double bloom_bits_of_share(double fpr, double share) {
    return -log(fpr) / log(share) / log1p(-share);
}

double bloom_uncompressed_bits(double fpr, double packed) {
    double low = 1e-9, high = 0.5; /* the entropy grows with q up to one half */
    for (unsigned i = 0; i < 200; i++) {
        double const q = (low + high) / 2;
        double const entropy = -(q * log2(q) + (1 - q) * log1p(-q) / M_LN2);
        if (bloom_bits_of_share(fpr, q) * entropy < packed)
            low = q;
        else
            high = q;
    }
    return bloom_bits_of_share(fpr, (low + high) / 2);
}

/* ------------------------------------------------------------------ the smallest table */

#define MOST_CELLS 256

typedef struct search {
    const rank_wish *wish;
    double           cells;                /* in use at capacity */
    double           pool[MOST_CELLS + 1]; /* the least J for this many cells; below 0: not yet */
    rank_table       best;
    double           bits;
} search;

static double pool_overflow(const search *s, double buckets, unsigned cells, double extensions) {
    return tamis_rank_pool_overflow(buckets, s->cells, s->wish->lifetime, cells, extensions);
}

/* The fewest extensions for which the pool of buckets of this many cells overflows with at most the
 * probability `budget`. */
static double pool_for(const search *s, double buckets, unsigned cells, double budget) {
    double const mean = s->cells / buckets;
    double       low = floor(buckets * tamis_poisson_tail(mean, cells + 1)) - 1, high = buckets;
    while (high - low > 1) {
        double const middle = floor((low + high) / 2);
        if (pool_overflow(s, buckets, cells, middle) <= budget)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The same with the whole budget. The result is kept, since it is needed many times. */
static double least_pool(search *s, double buckets, unsigned cells) {
    if (s->pool[cells] < 0) s->pool[cells] = pool_for(s, buckets, cells, s->wish->overflow);
    return s->pool[cells];
}

static double bits_of(const search *s, const rank_table *table) {
    return s->wish->is_paper ? rank_paper_bits(table) : rank_layout_bits(table);
}

static void consider(search *s, const rank_table *table) {
    double const bits = bits_of(s, table);
    if (bits >= s->bits) return;
    s->bits = bits;
    s->best = *table;
}

/* Z1, Z2 and Z3 are chosen. Try every J2 (large ones in steps of 1/4096), each with the smallest J3
 * that the rest of the budget allows. */
static void try_pools(search *s, rank_table *table, double budget) {
    double const   buckets = table->buckets, least = table->pool[1];
    unsigned const one = (unsigned)table->cells[0], two = one + (unsigned)table->cells[1];
    double         extensions = pool_for(s, buckets, one, budget);
    for (;; extensions += 1 + floor(extensions / 4096)) {
        table->pool[0] = extensions;
        table->pool[1] = least;
        if (bits_of(s, table) >= s->bits) return;
        double const left = budget - pool_overflow(s, buckets, one, extensions);
        if (table->cells[2] > 0) table->pool[1] = pool_for(s, buckets, two, left);
        consider(s, table);
    }
}

/* B, L and r are chosen, and so is the number of cells that a bucket has in all: try every Z1 and
 * every Z1 + Z2. The bits with the smallest possible pools are a lower bound; most candidates are
 * rejected by that alone. */
static void try_cells(search *s, rank_table *table, unsigned most, double budget) {
    unsigned const mean = (unsigned)(s->cells / table->buckets);
    for (unsigned one = mean / 2 + 1; one < most; one++) {
        for (unsigned two = one + 1; two <= most; two++) {
            table->cells[0] = one;
            table->cells[1] = two - one;
            table->cells[2] = most - two;
            table->pool[0] = least_pool(s, table->buckets, one);
            table->pool[1] = two < most ? least_pool(s, table->buckets, two) : 0;
            if (bits_of(s, table) < s->bits) try_pools(s, table, budget);
        }
    }
}

/* The overflow of the third level uses a part of the budget; the rest is for the pools. Try all
 * numbers of cells, from the smallest that leaves some of the budget to one that leaves 99%. */
static void try_buckets(search *s, rank_table *table) {
    double const all = s->wish->overflow;
    for (unsigned i = 0; i <= MOST_CELLS; i++) s->pool[i] = -1;
    for (unsigned most = (unsigned)(s->cells / table->buckets); most <= MOST_CELLS; most++) {
        double const spent =
            tamis_rank_bucket_overflow(table->buckets, s->cells, s->wish->lifetime, most);
        if (spent < all) try_cells(s, table, most, all - spent);
        if (spent < all / 100) return;
    }
}

/* 64 chains are best, as the paper found. But if there are few buckets, their number is a coarse
 * step, and fewer chains may fit better. */
static void try_chains(search *s, unsigned remainder_bits) {
    const rank_wish *wish = s->wish;
    double const     lambda = ldexp(wish->fpr, (int)remainder_bits);
    unsigned const   most = wish->chains != 0 ? wish->chains : 64;
    unsigned const   least = wish->chains == 0 && wish->n < 20000 ? 32 : most;
    for (unsigned chains = most; chains >= least; chains -= 4) {
        rank_table table = { .chains = chains,
                             .remainder_bits = remainder_bits,
                             .cell_bits = remainder_bits + wish->counter_bits };
        table.buckets = wish->buckets > 0 ? wish->buckets : ceil(wish->n / (lambda * chains));
        try_buckets(s, &table);
    }
}

double rank_smallest(const rank_wish *wish, rank_table *ret_table) {
    search s = { .wish = wish, .cells = wish->n + wish->copies - 1, .bits = INFINITY };
    for (unsigned r = 1; r <= 56; r++) {
        double const lambda = ldexp(wish->fpr, (int)r);
        bool const   is_wanted = wish->remainder_bits == 0 || wish->remainder_bits == r;
        if (is_wanted && lambda >= 0.25 && lambda <= 3.5) try_chains(&s, r);
    }
    if (ret_table != NULL) *ret_table = s.best;
    return s.bits / wish->n;
}

/* ------------------------------------------------------------------ exact laws of small tables
 *
 * Keys thrown into buckets are independent Poisson loads, given their sum. So the law of the loads
 * is a table over (how many buckets have more than W, the sum of all loads), bucket by bucket.
 */

typedef struct crowd_law {
    unsigned most; /* J: states with more are dropped */
    unsigned keys;
    double  *at; /* [over][sum] */
} crowd_law;

static double crowd_mean(const rank_crowd *crowd) {
    return (double)crowd->keys / crowd->buckets;
}

static void add_bucket(const rank_crowd *crowd, const crowd_law *from, crowd_law *to) {
    size_t const width = (size_t)from->keys + 1;
    for (size_t i = 0; i < (from->most + 1) * width; i++) to->at[i] = 0;
    for (unsigned load = 0; load <= from->keys; load++) {
        double const   p = exp(tamis_poisson_log(crowd_mean(crowd), load));
        unsigned const over = load > crowd->cells;
        if (p < 1e-40) continue;
        for (unsigned o = 0; o + over <= from->most; o++) {
            const double *const source = from->at + o * width;
            double *const       target = to->at + (o + over) * width + load;
            for (size_t sum = 0; sum + load < width; sum++) target[sum] += p * source[sum];
        }
    }
}

/* After this many buckets. The caller frees `at`. */
static crowd_law crowd_of(const rank_crowd *crowd, unsigned buckets) {
    size_t const size = (crowd->extensions + 1) * ((size_t)crowd->keys + 1);
    crowd_law    now = { crowd->extensions, crowd->keys, lab_allocate(size, sizeof(double)) };
    crowd_law    next = { crowd->extensions, crowd->keys, lab_allocate(size, sizeof(double)) };
    now.at[0] = 1;
    for (unsigned i = 0; i < buckets; i++) {
        add_bucket(crowd, &now, &next);
        crowd_law const swap = now;
        now = next;
        next = swap;
    }
    free(next.at);
    return now;
}

double rank_crowd_filling(const rank_crowd *crowd) {
    crowd_law const law = crowd_of(crowd, crowd->buckets);
    double          fits = 0;
    for (unsigned o = 0; o <= crowd->extensions; o++) {
        fits += law.at[o * ((size_t)crowd->keys + 1) + crowd->keys];
    }
    free(law.at);
    return 1 - fits / exp(tamis_poisson_log(crowd->keys, crowd->keys));
}

/* Removing a random key and throwing new ones until one fits keeps this law: "n keys thrown, given
 * that they fit". A throw beside the n - 1 other keys is refused if J buckets have more than W keys
 * and it meets a bucket with exactly W. */
double rank_crowd_churning(const rank_crowd *crowd) {
    crowd_law const law = crowd_of(crowd, crowd->buckets - 1);
    size_t const    sum = crowd->keys - 1 - crowd->cells;
    double const    others = law.at[crowd->extensions * ((size_t)crowd->keys + 1) + sum];
    double const    full = exp(tamis_poisson_log(crowd_mean(crowd), crowd->cells));
    free(law.at);
    return full * others / exp(tamis_poisson_log(crowd->keys, crowd->keys - 1.0)) /
           (1 - rank_crowd_filling(crowd));
}
