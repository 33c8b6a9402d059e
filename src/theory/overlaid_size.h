/* overlaid_size.h - the arithmetic of cells that keys share: state_bloom and state_direct.
 *
 * Each of n keys has k places among m cells, chosen at random. Places that coincide are one.
 *
 * Held. A key misses a given cell with probability (1 - 1/m)^k, so some key holds it with
 *     p = 1 - (1 - 1/m)^(kn).
 * That all cells of another key are held is at most as likely as if cells were held independently
 * (as with balls thrown into bins: if one bin is hit, the others are less likely to be). Place i of
 * a key coincides with one of its earlier places with probability i/m at most. So
 *     P[all] <= (p + (1-p) 0/m) (p + (1-p) 1/m) ... (p + (1-p) (k-1)/m).
 *
 * Stuck. A counter that reaches its top is stuck, and the cell stays in use. The expected number in
 * a life of L keys, n at a time, per cell: those that the filling brings there, P[Binomial(n, h) >=
 * top], h = 1 - (1-1/m)^k, and those that each of the L - n later keys does, h P[Binomial(n-1, h) =
 * top - 1]. Stuck cells are added to the cells in use, or to those whose value is unknown.
 */
#ifndef TAMIS_THEORY_OVERLAID_SIZE_H
#define TAMIS_THEORY_OVERLAID_SIZE_H

#include "core/overlaid.h"
#include "need.h"

/* The geometry of both kinds. */
enum {
    OVERLAID_CELLS,        /* m */
    OVERLAID_HASHES,       /* k */
    OVERLAID_VALUES,       /* that a key can have */
    OVERLAID_COUNTER_BITS, /* 0: cells do not count */
    OVERLAID_TIMER_BITS,   /* 0: nothing ages */
    OVERLAID_FIELDS
};

#define OVERLAID_MAX_COUNTER_BITS 8
#define OVERLAID_USUAL_COUNTER_BITS 4 /* if the number of cells is given */

/* P[all k places of a key are in a set of cells that has the share p], by the product above. */
double tamis_overlaid_all(double p, double m, unsigned k);

/* The share of cells that are stuck at the end of a life, at most. */
double tamis_overlaid_stuck(double m, unsigned k, double n, double lifetime, double top);

/* What a kind says of a geometry. */
typedef struct overlaid_forecast {
    double fpr, unknown, saturation;
    double held; /* the share of cells */
} overlaid_forecast;

typedef void overlaid_law(const uint64_t *g, double n, double lifetime, overlaid_forecast *ret);

/* What differs between the kinds. */
typedef struct overlaid_rules {
    overlaid_law *law;
    unsigned (*cell_bits)(const uint64_t *g);
    unsigned least_counter_bits, most_counter_bits; /* to choose from */
} overlaid_rules;

/* Fill in the free fields of a geometry: the fewest bits in total that meet the rates. If the
 * number of cells is fixed, the k with the fewest unknown keys. False: that is impossible, or the
 * fixed fields contradict the need. */
bool tamis_overlaid_choose(const tamis_need *need, const overlaid_rules *rules, uint64_t *g);

/* Is it a geometry at all, whose cells have this many bits? Returns the bytes of its body. */
bool tamis_overlaid_body_bytes(const uint64_t *g, unsigned cell_bits, uint64_t *ret_bytes);

#endif
