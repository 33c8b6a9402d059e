/* touched.c - how many cache lines an operation on a rank-indexed table touches.
 *
 * A bucket begins at any bit of a line (or at its first, in the aligned layout) and is a base
 * index, a higher index and cells. A lookup reads the base index; where its chain is not empty, the
 * first cell, then level by level the higher index and the next cell. So the lines are those of a
 * few stretches of bits, and a set of lines is a mask: averaged over where a bucket begins, and
 * over where in the levels a chain is. Level j of an average bucket has L P[Poisson(lambda) >= j]
 * cells. What is in an extension is one line more.
 *
 *     [ base | pointer | higher index       | cells                         ]      a bucket
 *       read             a level at a time    one of each level                    by a lookup
 *       read             all of it moved      from the new cell on, moved          by an add
 */
#include "size.h"
#include "theory/tails.h"

#include <math.h>

#define PHASES 64 /* places where a bucket may begin, 8 bits apart */
#define SHARES 8  /* chains looked at, evenly spread */
#define MAX_DEPTH 12

/* A bucket with the mean load. Positions are in bits, from its beginning. */
typedef struct touched_bucket {
    double index, cells; /* where they begin in a record */
    double cell_bits;
    double size[MAX_DEPTH + 2];     /* cells of level 1, 2, ... */
    double at_least[MAX_DEPTH + 2]; /* chance that a chain is so long */
    double begin;                   /* the bit of a cache line where the bucket begins */
} touched_bucket;

/* The lines of the bits from..to-1 of a record, as a mask. */
static uint64_t touched_lines(const touched_bucket *bucket, double from, double to) {
    unsigned const first = (unsigned)((bucket->begin + from) / 512);
    unsigned const last = (unsigned)((bucket->begin + fmax(to - 1, from)) / 512);
    return ((UINT64_C(2) << last) - 1) & ~((UINT64_C(1) << first) - 1);
}

/* The lines of cell i. A cell may lie in two. */
static uint64_t touched_cell(const touched_bucket *bucket, double i) {
    double const at = bucket->cells + floor(i) * bucket->cell_bits;
    return touched_lines(bucket, at, at + bucket->cell_bits);
}

static double touched_count(uint64_t lines) {
    return __builtin_popcountll(lines);
}

/* One chain, `share` of the way through each level: add what its keys and absent ones touch. */
static void touched_follow(const touched_bucket *bucket, double chains, double share, double load,
                           double *present, double *absent, double *add) {
    uint64_t lines = touched_lines(bucket, 0, chains);
    double   start = 0, mean_length = 0;
    for (unsigned j = 1; j <= MAX_DEPTH; j++) mean_length += bucket->at_least[j];
    /* Here `lines` are those that a walk has touched when it has read j cells. An absent key stops
     * where its chain ends. An add stops there, too, and then moves the rest of the index and of
     * the cells up. A present key is in cell j + 1 as often as a chain has one. */
    for (unsigned j = 0; j <= MAX_DEPTH; j++) {
        double const ends = bucket->at_least[j] - bucket->at_least[j + 1]; /* here, with j cells */
        double const next = start + share * bucket->size[j + 1];
        uint64_t const index = touched_lines(bucket, bucket->index, bucket->index + load);
        uint64_t const moved = touched_lines(bucket, bucket->cells + next * bucket->cell_bits,
                                             bucket->cells + load * bucket->cell_bits);
        *absent += ends * touched_count(lines);
        *add += ends * touched_count(lines | index | moved);
        lines |= touched_cell(bucket, next);
        *present += bucket->at_least[j + 1] / mean_length * touched_count(lines);
        lines |= touched_lines(bucket, bucket->index + start,
                               bucket->index + start + bucket->size[j + 1]);
        start += bucket->size[j + 1];
    }
}

/* ------------------------------------------------------------------ extensions */

/* What extensions add to the lines of a bucket, on average over its load. */
typedef struct touched_more {
    double present, absent, add;
} touched_more;

/* The chance that a chain of a bucket with `load` cells reaches the first level that goes beyond
 * `room` cells. A lookup that goes so far reads the index in the extension, even where the cells of
 * its own chain are not there. */
static double touched_reach(double load, double chains, double room) {
    double end = 0, reach = 1;
    for (unsigned j = 1; j <= MAX_DEPTH && end < room + 0.5; j++) {
        reach = tamis_poisson_tail(load / chains, j);
        end += chains * reach;
    }
    return reach;
}

/* The load of a bucket is Poisson. A key of a bucket is present in one of its cells, and is beyond
 * the first part as often as the cells are; an add moves cells up to the last. */
static touched_more touched_extensions(const uint64_t *g, double mean) {
    double const chains = (double)g[RANK_CHAINS], room = (double)g[RANK_CELLS];
    double       tail = tamis_poisson_tail(mean, room + 1);
    touched_more more = { .add = tail };
    for (double load = room + 1; load <= RANK_MAX_CELLS && tail > 1e-12; load++) {
        double const next = tamis_poisson_tail(mean, load + 1), here = tail - next;
        more.present += here * (load - room) / mean;
        more.absent += here * touched_reach(load, chains, room);
        tail = next;
    }
    return more;
}

/* The means over all phases and shares, and what extensions add. A packed bucket begins at any bit:
 * 64 phases of 8 bits are enough, since what matters is where its parts cross a line. */
void tamis_rank_lines(const uint64_t *geometry, double n, double *ret_present, double *ret_absent,
                      double *ret_add) {
    double const   chains = (double)geometry[RANK_CHAINS], buckets = (double)geometry[RANK_BUCKETS];
    double const   load = fmin(n / buckets, (double)geometry[RANK_CELLS]), lambda = load / chains;
    touched_bucket bucket = { .cell_bits = rank_cell_bits(geometry) };
    bucket.index = chains + rank_pointer_bits(geometry[RANK_EXTENSIONS2]);
    bucket.cells = bucket.index + (double)geometry[RANK_CELLS];
    for (unsigned j = 0; j <= MAX_DEPTH; j++) {
        bucket.at_least[j] = tamis_poisson_tail(lambda, j);
        bucket.size[j] = chains * bucket.at_least[j];
    }
    /* An aligned bucket always begins with its line: one phase is all of them. */
    double         present = 0, absent = 0, add = 0;
    unsigned const phases = geometry[RANK_ALIGNED] != 0 ? 1 : PHASES;
    for (unsigned phase = 0; phase < phases; phase++) {
        bucket.begin = phase * 512.0 / PHASES;
        for (unsigned i = 0; i < SHARES; i++) {
            touched_follow(&bucket, chains, (i + 0.5) / SHARES, load, &present, &absent, &add);
        }
    }
    touched_more const more = touched_extensions(geometry, n / buckets);
    double const       tries = phases * SHARES;
    *ret_present = present / tries + more.present;
    *ret_absent = absent / tries + more.absent;
    *ret_add = add / tries + more.add;
}
