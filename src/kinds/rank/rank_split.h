/* rank_split.h - a bucket of chains is cut in two at once.
 *
 * Cells that are appended to a bucket one by one are shifted again and again: 90 ns for each. Here
 * all cells of the old bucket are read first, then each of the two new ones is written, every cell
 * at its place: 35 ns. The new buckets must be empty.
 *
 * The place of a cell is a rank, as always: with a word for each level, whose bit l says whether
 * chain l reaches so deep, a cell comes after all cells of the levels before its own, and after
 * as many of its own level as there are ones below its chain.
 *
 *     level 0   0 1 0 0 1 1 0 0     these are the base index; where the word of the next level has
 *     level 1   0 0 0 0 1 1 0 0     a one, too, the chain goes on: that is the bit of the higher
 *     level 2   0 0 0 0 0 1 0 0     index beside the cell
 *
 * These are the chains that chains.h draws. The second cell of chain 5 comes after the 3 cells of
 * level 0, and after 1 of level 1, that of chain 4: it is cell 4. Level 2 has the bit of chain 5,
 * so there is a one beside it.
 */
#ifndef TAMIS_KINDS_RANK_RANK_SPLIT_H
#define TAMIS_KINDS_RANK_RANK_SPLIT_H

#include "chains.h"

/* A bucket that is being made. Only the first `n` cells and `levels` words have been set. */
typedef struct split_half {
    unsigned n, levels;
    uint16_t length[64];                  /* of each chain, so far */
    uint64_t level[CHAINS_MAX_CELLS + 1]; /* bit l: chain l has more than this many cells */
    uint64_t cell[CHAINS_MAX_CELLS];      /* in the order in which they came */
    uint8_t  chain[CHAINS_MAX_CELLS];     /* of each cell, */
    uint8_t  depth[CHAINS_MAX_CELLS];     /* and how many of its chain came before it */
    uint16_t first[CHAINS_MAX_CELLS];     /* cells before each level */
} split_half;

TAMIS_INLINE void split_begin(split_half *half) {
    half->n = half->levels = 0;
    memset(half->length, 0, sizeof half->length);
}

/* One more cell, at the end of its chain. A word of a new level begins with 0. */
TAMIS_INLINE void split_add(split_half *half, unsigned chain, uint64_t cell) {
    unsigned const depth = half->length[chain], i = half->n;
    if (i == CHAINS_MAX_CELLS) return; /* a body that was not checked */
    if (depth == half->levels) half->level[half->levels++] = 0;
    half->level[depth] |= UINT64_C(1) << chain;
    half->length[chain]++;
    half->cell[i] = cell;
    half->chain[i] = (uint8_t)chain;
    half->depth[i] = (uint8_t)depth;
    half->n++;
}

/* All cells have come: where does each level begin? */
TAMIS_INLINE void split_number(split_half *half) {
    unsigned first = 0;
    for (unsigned depth = 0; depth < half->levels; depth++) {
        half->first[depth] = (uint16_t)first;
        first += bits_popcount(half->level[depth]);
    }
    half->level[half->levels] = 0;
}

/* Take the extensions that a bucket with this many cells needs, in the order in which single adds
 * would: part 1, whose pointer is in the bucket, then part 2, whose pointer is in part 1. False:
 * there are too few. */
TAMIS_INLINE bool split_make_room(chains_view chains, const chains_place *place, unsigned n) {
    const chains_shape *const shape = chains.shape;
    unsigned const            one = (unsigned)shape->room[0], two = one + (unsigned)shape->room[1];
    if (n > chains_room(shape)) return false;
    if (n > one && !chains_make_room(chains, place, one)) return false;
    return n <= two || chains_make_room(chains, place, two);
}

/* Write all cells into an empty bucket. False: there is no room; extensions may have been taken. */
static __attribute__((unused)) bool split_write(chains_view chains, uint64_t bucket,
                                                split_half *half) {
    chains_place const place = { .bucket = bucket, .at = chains_bucket_at(chains.shape, bucket) };
    if (half->n == 0) return true;
    if (!split_make_room(chains, &place, half->n)) return false;
    parts_list const index = chains_parts(chains, place.at, half->n, true);
    parts_list const cells = chains_parts(chains, place.at, half->n, false);
    split_number(half);
    for (unsigned i = 0; i < half->n; i++) {
        unsigned const chain = half->chain[i], depth = half->depth[i];
        unsigned const to = half->first[depth] + bits_rank(half->level[depth], chain);
        field_set(chains.body, parts_at(&cells, to), cells.bits, half->cell[i]);
        if (half->level[depth + 1] >> chain & 1)
            field_set_bit(chains.body, parts_at(&index, to), true);
    }
    for (uint64_t left = half->level[0]; left != 0; left &= left - 1)
        field_set_bit(chains.body, place.at + bits_lowest(left), true);
    return true;
}

#endif
