/* touched.c - how many cache lines an operation on a rank-indexed table touches.
 *
 * A bucket begins at any bit of a line (or at its first, in the aligned layout) and is a base
 * index, a higher index and cells. A lookup reads the base index; where its chain is not empty, the
 * first cell, then level by level the higher index and the next cell. So the lines are those of a
 * few stretches of bits, and a set of lines is a mask: averaged over where a bucket begins, and
 * over where in the levels a chain is. Level j of an average bucket has L P[Poisson(lambda) >= j]
 * cells. What is in an extension is one line more.
 */
#include "size.h"
#include "theory/tails.h"

#include <math.h>

#define PHASES 64 /* places where a bucket may begin, 8 bits apart */
#define SHARES 8  /* chains looked at, evenly spread */
#define MAX_DEPTH 12

typedef struct picture {
    double index, cells; /* where they begin in a record */
    double cell_bits;
    double size[MAX_DEPTH + 2];     /* cells of level 1, 2, ... */
    double at_least[MAX_DEPTH + 2]; /* chance that a chain is so long */
    double begin;                   /* of the bucket in a line */
} picture;

/* The lines of the bits from..to-1 of a record, as a mask. */
static uint64_t lines_of(const picture *p, double from, double to) {
    unsigned const first = (unsigned)((p->begin + from) / 512);
    unsigned const last = (unsigned)((p->begin + fmax(to - 1, from)) / 512);
    return ((UINT64_C(2) << last) - 1) & ~((UINT64_C(1) << first) - 1);
}

static uint64_t cell_lines(const picture *p, double i) {
    double const at = p->cells + floor(i) * p->cell_bits;
    return lines_of(p, at, at + p->cell_bits);
}

static double count(uint64_t lines) {
    return __builtin_popcountll(lines);
}

/* One chain, `share` of the way through each level: add what its keys and absent ones touch. */
static void follow(const picture *p, double chains, double share, double load, double *present,
                   double *absent, double *add) {
    uint64_t lines = lines_of(p, 0, chains);
    double   start = 0, mean_length = 0;
    for (unsigned j = 1; j <= MAX_DEPTH; j++) mean_length += p->at_least[j];
    for (unsigned j = 0; j <= MAX_DEPTH; j++) {
        double const   ends = p->at_least[j] - p->at_least[j + 1]; /* here, with j cells */
        double const   next = start + share * p->size[j + 1];
        uint64_t const index = lines_of(p, p->index, p->index + load);
        uint64_t const moved =
            lines_of(p, p->cells + next * p->cell_bits, p->cells + load * p->cell_bits);
        *absent += ends * count(lines);
        *add += ends * count(lines | index | moved);
        lines |= cell_lines(p, next);
        *present += p->at_least[j + 1] / mean_length * count(lines);
        lines |= lines_of(p, p->index + start, p->index + start + p->size[j + 1]);
        start += p->size[j + 1];
    }
}

/* The share of all cells that are in extensions, and of the buckets that have one. */
static double share_beyond(double mean, double cells, double *ret_buckets) {
    double beyond = 0;
    for (unsigned i = 1; i < RANK_MAX_CELLS; i++) beyond += tamis_poisson_tail(mean, cells + i);
    *ret_buckets = tamis_poisson_tail(mean, cells + 1);
    return beyond / mean;
}

void tamis_rank_lines(const uint64_t *geometry, double n, double *ret_present, double *ret_absent,
                      double *ret_add) {
    double const chains = (double)geometry[RANK_CHAINS], buckets = (double)geometry[RANK_BUCKETS];
    double const load = fmin(n / buckets, (double)geometry[RANK_CELLS]), lambda = load / chains;
    picture      p = { .cell_bits = rank_cell_bits(geometry) };
    p.index = chains + rank_pointer_bits(geometry[RANK_EXTENSIONS2]);
    p.cells = p.index + (double)geometry[RANK_CELLS];
    for (unsigned j = 0; j <= MAX_DEPTH; j++) {
        p.at_least[j] = tamis_poisson_tail(lambda, j);
        p.size[j] = chains * p.at_least[j];
    }
    double         present = 0, absent = 0, add = 0, extended;
    unsigned const phases = geometry[RANK_ALIGNED] != 0 ? 1 : PHASES;
    for (unsigned phase = 0; phase < phases; phase++) {
        p.begin = phase * 512.0 / PHASES;
        for (unsigned i = 0; i < SHARES; i++) {
            follow(&p, chains, (i + 0.5) / SHARES, load, &present, &absent, &add);
        }
    }
    double const beyond = share_beyond(n / buckets, (double)geometry[RANK_CELLS], &extended);
    double const tries = phases * SHARES;
    *ret_present = present / tries + beyond;
    *ret_absent = absent / tries + beyond * n / buckets / chains;
    *ret_add = add / tries + extended;
}
