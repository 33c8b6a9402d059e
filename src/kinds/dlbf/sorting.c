/* sorting.c - see sorting.h.
 *
 * What a bit costs: without one, a load has one code. The first sorted bit of load a makes a + 1 of
 * it, the second (a + 1) (a + 2) (a + 3) / 6 (codes.h): for load 4, 4 codes more and then 30 more.
 */
#include "sorting.h"

#include "codes.h"

/* ------------------------------------------------------------------ one more sorted bit */

/* What one more sorted bit at a load is worth, over all buckets. In a group, the bits that it saves
 * are shared by all: as many as there are cells in buckets with that load. Alone, it halves what
 * these buckets add to the fpr: the sum of 2^-L over their cells. */
static double bit_worth(const uint64_t *g, const fluid *law, unsigned load, unsigned data_bits) {
    double cells = 0;
    for (unsigned i = 0; i < law->tables; i++) cells += load * dlbf_share_with(g, law, i, load);
    unsigned const length = data_bits / load + codes_sorted(g[DLBF_SORTING], load);
    return g[DLBF_GROUP] == 1 ? cells * ldexp(1, -(int)length) : cells;
}

/* The sorting with one more sorted bit at a load; the same sorting if that cannot be: if the load
 * has two, if there would be too many codes, or if cells would have to grow (analysis.h). */
static uint64_t with_one_more(const uint64_t *g, unsigned load, unsigned code_bits) {
    unsigned const cells = (unsigned)g[DLBF_CELLS];
    unsigned const data_bits = (unsigned)g[DLBF_BUCKET_BITS] - code_bits;
    uint64_t const more = g[DLBF_SORTING] + (UINT64_C(1) << (2 * load)); /* 2 bits for each load */
    bool const     is_possible = codes_sorted(g[DLBF_SORTING], load) < CODES_MAX_SORTED &&
                             codes_count(cells, more) <= 1u << code_bits &&
                             tamis_dlbf_lengths_never_grow(cells, more, data_bits);
    return is_possible ? more : g[DLBF_SORTING];
}

/* The sorting with the next bit: at the load where it is worth most for each code that it takes.
 * The same sorting if there is no room for any. */
static uint64_t with_best_bit(const uint64_t *g, const fluid *law, unsigned code_bits) {
    unsigned const cells = (unsigned)g[DLBF_CELLS];
    unsigned const data_bits = (unsigned)g[DLBF_BUCKET_BITS] - code_bits;
    uint64_t       best = g[DLBF_SORTING];
    double         most = 0;
    for (unsigned a = 1; a <= cells; a++) {
        uint64_t const more = with_one_more(g, a, code_bits);
        if (more == g[DLBF_SORTING]) continue;
        double const cost = codes_count(cells, more) - codes_count(cells, g[DLBF_SORTING]);
        double const worth = bit_worth(g, law, a, data_bits) / cost;
        if (worth <= most) continue;
        most = worth;
        best = more;
    }
    return best;
}

/* ------------------------------------------------------------------ all code bits */

/* The bits of a bucket that its cells have, and those that its code saves them, on average. */
static double known_bits(const uint64_t *g, const fluid *law, unsigned code_bits) {
    double bits = (double)g[DLBF_BUCKET_BITS] - code_bits;
    for (unsigned a = 1; a <= g[DLBF_CELLS]; a++) {
        for (unsigned i = 0; i < law->tables; i++) {
            bits +=
                a * codes_sorted(g[DLBF_SORTING], a) * dlbf_share_with(g, law, i, a) / law->tables;
        }
    }
    return bits;
}

/* Of the sortings with each number of code bits, the one with the lowest fpr. In groups, where it
 * takes long to compute an fpr, the one with the most known bits. */
double tamis_dlbf_sort(uint64_t *g, const fluid *law) {
    bool const is_alone = g[DLBF_GROUP] == 1;
    uint64_t   best = 0;
    double     least = INFINITY;
    for (unsigned bits = codes_bits(g[DLBF_CELLS] + 1); bits <= CODES_MAX_BITS; bits++) {
        uint64_t next = 0;
        do {
            g[DLBF_SORTING] = next;
            next = with_best_bit(g, law, bits);
        } while (next != g[DLBF_SORTING]);
        double const score = is_alone ? tamis_dlbf_fpr_by(g, law) : -known_bits(g, law, bits);
        if (score >= least) continue;
        least = score;
        best = g[DLBF_SORTING];
    }
    g[DLBF_SORTING] = best;
    return is_alone ? least : tamis_dlbf_fpr_by(g, law);
}
