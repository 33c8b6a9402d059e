/* blocks.h - a block of a d-left Bloom filter: one bucket, or four that share their bits.
 *
 *     | code of each bucket | cells of bucket 0 | cells of bucket 1 | ... | 0 |
 *
 * A block is looked at as it is packed (`dlbf_view_of`, `dlbf_matches`); to be changed, it is
 * unpacked, changed and packed again, with all cells as long as there is room for then
 * (analysis.h says how long).
 */
#ifndef TAMIS_KINDS_DLBF_BLOCKS_H
#define TAMIS_KINDS_DLBF_BLOCKS_H

#include "codes.h"
#include "core/field.h"
#include "core/row.h"
#include "kind.h"
#include "size.h"

static_assert(DLBF_MAX_CELLS <= CODES_MAX_LOAD && DLBF_MAX_LENGTH <= ROW_MAX_WIDTH, "one limit");
static_assert(DLBF_MIN_LENGTH - CODES_MAX_SORTED >= 1, "no cell is too narrow");

#define DLBF_BLOCK_CELLS (DLBF_MAX_GROUP * DLBF_MAX_CELLS)

/* The geometry worked out. */
typedef struct dlbf_shape {
    dlbf_layout layout;
    unsigned    tables, group;
    uint64_t    buckets;
    codes       codes;
    uint8_t     saved[DLBF_MAX_CELLS + 1];     /* bits that a load a saves by sorting: a s(a) */
    uint16_t    inverse[DLBF_BLOCK_CELLS + 1]; /* (2^16 - 1) / t for t cells: to divide by t */
} dlbf_shape;

static_assert(sizeof(dlbf_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

TAMIS_INLINE const dlbf_shape *dlbf_shape_of(const tamis_table *table) {
    return (const dlbf_shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ looking */

/* What the codes of a block say of one of its buckets. */
typedef struct dlbf_view {
    codes_split split;  /* how many cells begin with what */
    unsigned    length; /* bits of a fingerprint that are known */
    unsigned    width;  /* those of them that are stored: without the sorted bits */
    unsigned    at;     /* bit of the block at which the first cell begins */
} dlbf_view;

TAMIS_INLINE codes_split dlbf_split(const dlbf_shape *s, const uint8_t *block, unsigned bucket) {
    unsigned const bits = s->layout.code_bits;
    return s->codes.split[le64_load(block) >> (bucket * bits) & bits_low(bits)];
}

/* The length of the fingerprints in a block with this many cells that share this many bits; and the
 * bits that are left over, or -1 if all cells are as long as a fingerprint can be. The quotient is
 * exact: inverse[t] + 1 is 2^16 / t rounded up, too large by less than 1, so the product by less
 * than `bits` / 2^16, which is below 0.01. Another whole number is at least 1 / 60 away. */
TAMIS_INLINE unsigned dlbf_length(const dlbf_shape *s, unsigned cells, unsigned bits,
                                  int *ret_left) {
    unsigned const length = bits * (s->inverse[cells] + 1u) >> 16; /* bits / cells */
    bool const     is_less = length < s->layout.longest;
    *ret_left = is_less ? (int)(bits - cells * length) : -1;
    return is_less ? length : s->layout.longest;
}

/* All buckets of a block are looked at, since they share its bits. With bits left over, the first
 * buckets of a group get one bit more for every cell, as long as there are enough (analysis.h).
 * `group` is a constant at every call, so that the loops for single buckets disappear.
 *
 * For the group of the example in analysis.h, with the loads 4, 3, 5 and 4: the codes take 16 bits;
 * the cells of bucket 0 take 4 x 16 - 4 = 60, as their first bits are not stored, and those of
 * bucket 1, which has no sorted bit, 3 x 16 = 48. So bucket 2 begins at bit 124, with a length of
 * 16 and a width of 15. */
TAMIS_INLINE dlbf_view dlbf_view_of(const dlbf_shape *s, const uint8_t *block, unsigned bucket,
                                    unsigned group) {
    unsigned load[DLBF_MAX_GROUP], cells = 0, bits = s->layout.data_bits;
    for (unsigned i = 0; i < group; i++) {
        load[i] = split_load(dlbf_split(s, block, i));
        cells += load[i];
        bits += s->saved[load[i]];
    }
    int            left, before = 0;
    unsigned const length = dlbf_length(s, cells, bits, &left);
    unsigned       at = group * s->layout.code_bits;
    for (unsigned i = 0; i < bucket; i++) {
        before += (int)load[i];
        at += load[i] * (length + (before <= left)) - s->saved[load[i]];
    }
    unsigned const own = length + (group > 1 && before + (int)load[bucket] <= left);
    return (dlbf_view){ dlbf_split(s, block, bucket), own, own - s->codes.sorted[load[bucket]],
                        at };
}

/* Does a cell of the bucket match? Only those are compared that begin with the same sorted bits:
 * `part` is these bits of the fingerprint, and the split says which cells have them. */
TAMIS_INLINE bool dlbf_matches(const dlbf_shape *s, const uint8_t *block, dlbf_view view,
                               uint64_t longest) {
    uint64_t const print = longest >> (s->layout.longest - view.length);
    unsigned const part = (unsigned)(print >> view.width);
    unsigned const first = split_first(view.split, part), end = split_end(view.split, part);
    row const      cells = { s->layout.block_bytes, view.at + first * view.width, end - first,
                             view.width };
    return row_has(block, cells, print & bits_low(view.width));
}

/* ------------------------------------------------------------------ packing */

/* A block unpacked: the fingerprints of its buckets, in their longest form. Bits that are not known
 * any more are 0. */
typedef struct dlbf_block {
    unsigned load[DLBF_MAX_GROUP];
    uint64_t print[DLBF_MAX_GROUP][DLBF_MAX_CELLS + 1];
} dlbf_block;

/* Part by part: the cells of a part begin with the bits that are its number, which are not
 * stored. */
static void dlbf_unpack(const dlbf_shape *s, const uint8_t *bytes, dlbf_block *ret_block) {
    for (unsigned i = 0; i < s->group; i++) {
        dlbf_view const view = dlbf_view_of(s, bytes, i, s->group);
        unsigned        part = 0;
        ret_block->load[i] = split_load(view.split);
        for (unsigned cell = 0; cell < ret_block->load[i]; cell++) {
            while (split_end(view.split, part) <= cell) part++;
            uint64_t const stored = field_get(bytes, view.at + cell * view.width, view.width);
            uint64_t const print = (uint64_t)part << view.width | stored;
            ret_block->print[i][cell] = print << (s->layout.longest - view.length);
        }
    }
}

/* The codes come first, since the place of a cell in the block depends on all of them: with these
 * in place, dlbf_view_of() says where the cells go. A fingerprint is cut to the length that they
 * have now. */
static void dlbf_pack(const dlbf_shape *s, const dlbf_block *block, uint8_t *bytes) {
    uint64_t word = 0;
    memset(bytes, 0, s->layout.block_bytes);
    for (unsigned i = 0; i < s->group; i++) {
        unsigned const unsorted = s->layout.longest - s->codes.sorted[block->load[i]];
        codes_split    split = 0;
        for (unsigned cell = 0; cell < block->load[i]; cell++) {
            split = split_with(split, (unsigned)(block->print[i][cell] >> unsorted));
        }
        word |= (uint64_t)codes_code(&s->codes, split) << (i * s->layout.code_bits);
    }
    le64_store(bytes, word);
    for (unsigned i = 0; i < s->group; i++) {
        dlbf_view const view = dlbf_view_of(s, bytes, i, s->group);
        for (unsigned cell = 0; cell < block->load[i]; cell++) {
            uint64_t const print = block->print[i][cell] >> (s->layout.longest - view.length);
            field_set(bytes, view.at + cell * view.width, view.width, print & bits_low(view.width));
        }
    }
}

#endif
