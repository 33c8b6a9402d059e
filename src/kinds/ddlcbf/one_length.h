/* one_length.h - buckets whose prefixes all have the same length (Allerton 2006, section III).
 *
 *     | begin with 0 | begin with 1 |   unused, 0   | code |         `bytes` bytes
 *     0                                            room
 *
 * The level of a bucket is the most cells that it had since it was empty. Its prefixes are as long
 * as this many cells leave room for, length[level], also when some of the cells are gone.
 *
 * Cells that begin with 0 come first, and the code says how many these are: (level, cells, zeros)
 * of max_codes.h. So the first bit of a prefix need not be stored (semi-sorting, section II.B).
 *
 * The last level, one more than there can be cells, stands for prefixes of the least length.
 *
 * Codes: with up to 8 cells there are 165 triples of the levels 0 to 8, and 45 pairs (cells, zeros)
 * at the last level: 210, which is 8 bits. 11 and 15 cells are other numbers that leave little of a
 * power of two unused: 364 + 78 = 442 of 512, and 816 + 136 = 952 of 1024.
 */
#ifndef TAMIS_KINDS_DDLCBF_ONE_LENGTH_H
#define TAMIS_KINDS_DDLCBF_ONE_LENGTH_H

#include "prefix_lists.h"

TAMIS_INLINE unsigned one_length_codes(unsigned cells) {
    return MAX_CODES_BELOW(cells + 1) + MAX_CODES_PAIRS(cells + 1); /* no more cells at the last */
}

/* Both groups have the length of the level. An impossible code is read as that of the empty
 * bucket. */
TAMIS_INLINE prefixes_head one_length_head(const prefixes_shape *s, unsigned code) {
    max_code const triple = max_codes_get(code < s->codes ? code : 0);
    unsigned const length = s->length[triple.level];
    return (prefixes_head){ triple.level,
                            { triple.zeros, triple.cells - triple.zeros },
                            { length, length } };
}

/* Which cells are a prefix of this string? All places of the level are compared, used or not, so
 * that the number of cells decides no branch; then those are left out that begin otherwise. */
TAMIS_INLINE uint32_t one_length_match(const prefixes_shape *s, const uint8_t *bucket,
                                       const prefixes_head *head, uint64_t string) {
    unsigned const length = head->length[0];
    unsigned const cells = head->level < s->cells ? head->level : s->cells;
    row const      all = { s->bytes, 0, cells, prefixes_width(s, length) };
    uint64_t const value = string >> (s->most - length);
    uint64_t const zeros = bits_low(head->n[0]), used = bits_low(prefixes_load(head));
    uint64_t const alike = value >> (length - 1) != 0 ? used & ~zeros : zeros;
    return row_match(bucket, all, s->counter_bits, value & bits_low(length - 1)) & (uint32_t)alike;
}

/* The zeros are the cells whose first bit is 0: they come first, since cells are sorted. */
TAMIS_INLINE unsigned one_length_code(const prefixes_shape *s, const prefixes *bucket) {
    unsigned zeros = 0;
    while (zeros < bucket->n[0] &&
           bucket->cell[0][zeros] >> prefixes_width(s, bucket->length[0]) == 0)
        zeros++;
    return max_codes_code((max_code){ bucket->level, bucket->n[0], zeros });
}

/* Make room for one more cell, of which this many bits are known: the level rises to the number of
 * cells, and further if less is known of the new one. Returns the list that it belongs to. */
TAMIS_INLINE unsigned one_length_fit(const prefixes_shape *s, prefixes *bucket, unsigned known) {
    if (bucket->level < bucket->n[0] + 1) bucket->level = bucket->n[0] + 1;
    while (s->length[bucket->level] > known) bucket->level++;
    prefixes_cut(s, bucket, 0, s->length[bucket->level]);
    return 0;
}

#endif
