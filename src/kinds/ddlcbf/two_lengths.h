/* two_lengths.h - buckets whose prefixes have two lengths: new cells may be longer than old ones.
 *
 *     | short cells | long cells |   unused, 0   | pair | short length | long length |
 *     0                                         room            5 bits        5 bits
 *
 * A new cell takes all the room that is left, if it becomes longer than the short cells by that;
 * further long cells share that room with it. When they would be no longer than the short ones, all
 * cells get one length again, and the room is shared by all.
 *
 * The code is the pair (cells, long cells), numbered as in max_codes.h, and both lengths less
 * `least`. The long length is 0 there if there are no long cells.
 *
 * Worked example: a room of 100 bits, counters of 1 bit, lengths from 14 to 40 bits. A cell takes
 * one bit more than its length.
 *
 *     cells   what happens                                                short        long
 *     1       all the room, but a prefix has 40 bits at most              1 of 40
 *     2       59 bits are left: the new one is no longer than the first   2 of 40
 *     3       18 bits are left, for a prefix of 17: all are cut to 32     3 of 32
 *     4       1 bit is left: all are cut to 100 / 4 - 1                   4 of 24
 *     3       one is removed, and 25 bits are free again                  3 of 24
 *     4       the new one could have 24: no longer, so all have one       4 of 24
 *     2, 3    two are removed; the next has 50 bits, so up to 40          2 of 24      1 of 40
 */
#ifndef TAMIS_KINDS_DDLCBF_TWO_LENGTHS_H
#define TAMIS_KINDS_DDLCBF_TWO_LENGTHS_H

#include "prefix_lists.h"

#define TWO_LENGTHS_BITS 5 /* of a length in the code */

TAMIS_INLINE unsigned two_lengths_codes(unsigned cells) {
    return MAX_CODES_PAIRS(cells + 1);
}

/* Codes can have lengths that no bucket has; these say that the bucket is empty. */
TAMIS_INLINE prefixes_head two_lengths_head(const prefixes_shape *s, unsigned code) {
    unsigned const bits = TWO_LENGTHS_BITS, mask = (1u << bits) - 1, pair = code >> 2 * bits;
    max_code const groups = max_codes_get_pair(pair < s->codes ? pair : 0); /* zeros: the long */
    prefixes_head  head = { 0,
                            { groups.cells - groups.zeros, groups.zeros },
                            { s->least, s->least } };
    head.length[0] += code >> bits & mask;
    head.length[1] += code & mask;
    bool const fits = head.length[0] <= s->most && head.length[1] <= s->most &&
                      prefixes_used(s, head.n, head.length) <= s->room;
    return fits ? head : (prefixes_head){ 0, { 0, 0 }, { s->least, s->least } };
}

/* Which cells are a prefix of a string of which the first `known` bits are known? */
TAMIS_INLINE uint32_t two_lengths_match(const prefixes_shape *s, const uint8_t *bucket,
                                        const prefixes_head *head, uint64_t string,
                                        unsigned known) {
    uint32_t found = 0;
    for (unsigned group = 0; group < 2; group++) {
        unsigned const length = head->length[group];
        if (head->n[group] == 0 || length > known) continue;
        uint64_t const value = string >> (s->most - length);
        uint32_t const here =
            row_match(bucket, prefixes_row(s, head, group), s->counter_bits, value);
        found |= here << (group == 0 ? 0 : head->n[0]);
    }
    return found;
}

/* | pair | short length - least, 5 bits | long length - least, 5 bits | */
TAMIS_INLINE unsigned two_lengths_code(const prefixes_shape *s, const prefixes *bucket) {
    unsigned const pair = max_codes_pair(bucket->n[0] + bucket->n[1], bucket->n[1]);
    unsigned const short_more = bucket->length[0] - s->least;
    unsigned const long_more = bucket->n[1] != 0 ? bucket->length[1] - s->least : 0;
    return (pair << TWO_LENGTHS_BITS | short_more) << TWO_LENGTHS_BITS | long_more;
}

/* The length that long cells have with one more of them, of which this many bits are known. 0: none
 * that is possible. */
TAMIS_INLINE unsigned two_lengths_long(const prefixes_shape *s, const prefixes *bucket,
                                       unsigned most) {
    unsigned const left = s->room - bucket->n[0] * prefixes_width(s, bucket->length[0]);
    unsigned const each = left / (bucket->n[1] + 1);
    if (each < (unsigned)s->least + s->counter_bits) return 0;
    uint64_t const length = min_u64(each - s->counter_bits, most);
    return (unsigned)(bucket->n[1] != 0 ? min_u64(length, bucket->length[1]) : length);
}

/* Make room for one more cell, of which this many bits are known. Returns the list that it belongs
 * to. */
TAMIS_INLINE unsigned two_lengths_fit(const prefixes_shape *s, prefixes *bucket, unsigned known) {
    unsigned const n = bucket->n[0] + bucket->n[1], most = known < s->most ? known : s->most;
    unsigned const length = two_lengths_long(s, bucket, most);
    if (n != 0 && length > bucket->length[0]) {
        prefixes_cut(s, bucket, 1, length);
        return 1;
    }
    uint64_t const all = min_u64(s->length[n + 1], most);
    prefixes_cut_all(s, bucket, (unsigned)(n != 0 ? min_u64(all, bucket->length[0]) : all));
    return 0;
}

#endif
