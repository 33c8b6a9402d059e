/* prefixes.h - a bucket of prefixes that are as long as there is room for.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Bloom Filters via d-Left
 * Hashing and Dynamic Bit Reassignment", Allerton 2006, sections II.B and III.
 *
 * The fewer cells a bucket has, the longer their prefixes are:
 *
 *     | cell | cell | cell | cell |   ...   unused, 0 | code |
 *     0                                              room    8 bytes
 *
 * Worked example, the paper's bucket (III.C): 128 bits, up to 8 cells, counters of 1 bit, one
 * length. The code has 8 bits (one_length.h), so the room is 120 bits. A cell takes the prefix
 * without its first bit, and the counter, so a prefix of 7 cells has 120 / 7 rounded down, 17 bits,
 * and one of 8 cells 15. When the eighth cell comes, all lose their last two bits. They do not get
 * them back when a cell goes.
 *
 * There are two formats, and the geometry says which one a table has: all prefixes of a bucket have
 * one length (one_length.h), or they have two (two_lengths.h). What a cell is, is in
 * prefix_lists.h. A bucket is looked at as it is packed (`prefixes_head_of`, `prefixes_match`); to
 * be changed, it is unpacked, changed and packed again.
 *
 * Cells of a length are sorted, so the bytes follow from the cells, their lengths and the level. A
 * bucket without cells is all 0: whatever its past, the next key has all of it.
 */
#ifndef TAMIS_KINDS_DDLCBF_PREFIXES_H
#define TAMIS_KINDS_DDLCBF_PREFIXES_H

#include "one_length.h"
#include "two_lengths.h"

/* ------------------------------------------------------------------ the shape */

/* Complete a shape whose bytes, cells, counter_bits, least, most and lengths are given, all in
 * their ranges. False: this many cells have no room for the least length. */
TAMIS_INLINE bool prefixes_make(prefixes_shape *s) {
    bool const is_one = s->lengths == 1;
    /* A code is a number below `codes`; with two lengths, these two stand beside it, as what they
     * are above the least. */
    unsigned const extra = is_one ? 0 : 2 * TWO_LENGTHS_BITS;
    unsigned       bits = 0;
    s->codes = (uint16_t)(is_one ? one_length_codes(s->cells) : two_lengths_codes(s->cells));
    while (1u << bits < s->codes) bits++;
    s->code_bits = (uint8_t)(bits + extra);
    s->room = (uint16_t)(8 * s->bytes - s->code_bits);
    if (!is_one) s->most = (uint8_t)min_u64(s->most, s->least + bits_low(TWO_LENGTHS_BITS));
    for (unsigned level = 1; level <= s->cells; level++) {
        unsigned const all = s->room / level + is_one; /* a cell, with the bit that is implied */
        if (all < (unsigned)s->least + s->counter_bits) return false;
        s->length[level] = (uint8_t)min_u64(all - s->counter_bits, s->most);
    }
    s->length[0] = s->most;
    s->length[s->cells + 1] = s->least;
    return s->least <= s->most;
}

/* ------------------------------------------------------------------ looking */

/* The last bits of a bucket, from its last word. */
TAMIS_INLINE unsigned prefixes_code(const prefixes_shape *s, const uint8_t *bucket) {
    return (unsigned)(le64_load(bucket + s->bytes - 8) >> (64 - s->code_bits));
}

/* Whatever the bytes are, there are no more cells than there is room for; an impossible code has
 * none. */
TAMIS_INLINE prefixes_head prefixes_head_of(const prefixes_shape *s, const uint8_t *bucket) {
    unsigned const code = prefixes_code(s, bucket);
    return s->lengths == 1 ? one_length_head(s, code) : two_lengths_head(s, code);
}

/* Which cells are prefixes of a string of which the first `known` bits are known? Bit i of the
 * result is cell i, counted through both groups. */
TAMIS_INLINE uint32_t prefixes_match(const prefixes_shape *s, const uint8_t *bucket,
                                     const prefixes_head *head, uint64_t string, unsigned known) {
    if (s->lengths == 2) return two_lengths_match(s, bucket, head, string, known);
    return head->length[0] > known ? 0 : one_length_match(s, bucket, head, string);
}

/* The length of the prefix of cell i, counted through both groups; and the whole cell. */
TAMIS_INLINE unsigned prefixes_length(const prefixes_head *head, unsigned i) {
    return head->length[i >= head->n[0]];
}

TAMIS_INLINE uint64_t prefixes_cell(const prefixes_shape *s, const uint8_t *bucket,
                                    const prefixes_head *head, unsigned i) {
    unsigned const group = i >= head->n[0];
    row const      cells = prefixes_row(s, head, group);
    uint64_t const stored = row_get(bucket, cells, group == 0 ? i : i - head->n[0]);
    return s->lengths == 1 ? stored | (uint64_t)group << cells.width : stored;
}

/* ------------------------------------------------------------------ packing
 *
 * Both functions are long and called in many places, so they are not inlined: that would take gcc
 * twice as long for this kind, and gains no instruction worth counting. */

/* With one length, the two groups of a packed bucket (cells whose first bit is 0 and 1) become one
 * list. */
static __attribute__((noinline, unused)) void
prefixes_unpack(const prefixes_shape *s, const uint8_t *bytes, prefixes *ret_bucket) {
    prefixes_head const head = prefixes_head_of(s, bytes);
    *ret_bucket = (prefixes){ .level = head.level, .length = { head.length[0], head.length[1] } };
    for (unsigned i = 0; i < prefixes_load(&head); i++) {
        unsigned const list = s->lengths == 1 ? 0 : i >= head.n[0];
        ret_bucket->cell[list][ret_bucket->n[list]++] = prefixes_cell(s, bytes, &head, i);
    }
}

static __attribute__((noinline, unused)) void
prefixes_pack(const prefixes_shape *s, const prefixes *bucket, uint8_t *bytes) {
    prefixes_head const head = { 0,
                                 { bucket->n[0], bucket->n[1] },
                                 { bucket->length[0], bucket->length[1] } };
    memset(bytes, 0, s->bytes);
    if (prefixes_load(&head) == 0) return;
    for (unsigned list = 0; list < 2; list++) {
        row const cells = prefixes_row(s, &head, list);
        for (unsigned i = 0; i < cells.n; i++) {
            row_put(bytes, cells, i, bucket->cell[list][i] & bits_low(cells.width));
        }
    }
    uint64_t const code =
        s->lengths == 1 ? one_length_code(s, bucket) : two_lengths_code(s, bucket);
    uint8_t *const last = bytes + s->bytes - 8;
    le64_store(last, le64_load(last) | code << (64 - s->code_bits));
}

/* ------------------------------------------------------------------ changing */

/* Add a cell. False: the bucket is full. The list says how long its prefixes are by now, and the
 * string is cut to that. A new cell is one copy: a counter of 0. */
TAMIS_INLINE bool prefixes_put(const prefixes_shape *s, prefixes *bucket, uint64_t string,
                               unsigned known) {
    if (bucket->n[0] + bucket->n[1] == s->cells) return false;
    unsigned const list =
        s->lengths == 1 ? one_length_fit(s, bucket, known) : two_lengths_fit(s, bucket, known);
    uint64_t const prefix = string >> (s->most - bucket->length[list]);
    bucket->cell[list][bucket->n[list]++] = prefix << s->counter_bits;
    prefixes_sort(bucket, list);
    return true;
}

/* Set the counter of cell i, counted through both lists. */
TAMIS_INLINE void prefixes_set_counter(const prefixes_shape *s, prefixes *bucket, unsigned i,
                                       uint64_t counter) {
    unsigned const  list = i >= bucket->n[0];
    uint64_t *const cell = &bucket->cell[list][list == 0 ? i : i - bucket->n[0]];
    *cell = *cell >> s->counter_bits << s->counter_bits | counter;
    prefixes_sort(bucket, list);
}

/* Delete a cell. If only long ones are left, these are the short ones from now on. */
TAMIS_INLINE void prefixes_take(prefixes *bucket, unsigned i) {
    unsigned const list = i >= bucket->n[0];
    unsigned const at = list == 0 ? i : i - bucket->n[0];
    bucket->n[list]--;
    for (unsigned k = at; k < bucket->n[list]; k++) {
        bucket->cell[list][k] = bucket->cell[list][k + 1];
    }
    if (bucket->n[0] != 0 || bucket->n[1] == 0) return;
    memcpy(bucket->cell[0], bucket->cell[1], sizeof bucket->cell[0]);
    bucket->n[0] = bucket->n[1];
    bucket->n[1] = 0;
    bucket->length[0] = bucket->length[1];
}

/* Cut all prefixes to the least length, and put cells together that are equal then: their copies
 * add up. Cells of 3 copies and of 2, with the counters 2 and 1, become one of 5 with the counter 2
 * + 1 + 1 = 4, or stuck if C bits do not count so far. */
TAMIS_INLINE void prefixes_squeeze(const prefixes_shape *s, prefixes *bucket) {
    uint64_t *const cell = bucket->cell[0];
    uint64_t const  stuck = prefixes_stuck(s);
    unsigned        n = 0;
    bucket->level = s->cells + 1u;
    prefixes_cut_all(s, bucket, s->least);
    for (unsigned i = 0; i < bucket->n[0]; i++) {
        /* Cells are sorted by prefix, so equal ones are neighbours. */
        bool const is_same = n != 0 && (cell[n - 1] ^ cell[i]) >> s->counter_bits == 0;
        if (!is_same) {
            cell[n++] = cell[i];
            continue;
        }
        uint64_t const sum = (cell[n - 1] & stuck) + (cell[i] & stuck) + 1; /* copies less one */
        cell[n - 1] = (cell[i] & ~stuck) | min_u64(sum, stuck);
    }
    bucket->n[0] = n;
}

/* ------------------------------------------------------------------ counting and checking */

/* The copies that all cells stand for; a stuck one for one more than it could count. */
TAMIS_INLINE uint64_t prefixes_copies(const prefixes_shape *s, const prefixes *bucket) {
    uint64_t copies = bucket->n[0] + bucket->n[1];
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned i = 0; i < bucket->n[list]; i++) {
            copies += bucket->cell[list][i] & prefixes_stuck(s);
        }
    }
    return copies;
}

TAMIS_INLINE uint64_t prefixes_n_stuck(const prefixes_shape *s, const prefixes *bucket) {
    uint64_t const stuck = prefixes_stuck(s);
    uint64_t       n = 0;
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned i = 0; i < bucket->n[list]; i++) {
            n += (bucket->cell[list][i] & stuck) == stuck;
        }
    }
    return n;
}

/* Is it what packing would have made? An impossible code unpacks to something else. */
TAMIS_INLINE bool prefixes_is_packed(const prefixes_shape *s, const uint8_t *bytes) {
    uint8_t  again[PREFIXES_MAX_BYTES];
    prefixes bucket;
    prefixes_unpack(s, bytes, &bucket);
    bool const is_long_only = bucket.n[0] == 0 || bucket.length[1] <= bucket.length[0];
    if (s->lengths == 2 && bucket.n[1] != 0 && is_long_only) return false;
    prefixes_pack(s, &bucket, again);
    return memcmp(again, bytes, s->bytes) == 0;
}

/* A cell is compared with its counter below it: so equal prefixes are in the order of counters
 * (I2). */
TAMIS_INLINE bool prefixes_is_sorted(const prefixes_shape *s, const uint8_t *bytes) {
    prefixes bucket;
    prefixes_unpack(s, bytes, &bucket);
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned i = 1; i < bucket.n[list]; i++) {
            if (bucket.cell[list][i - 1] > bucket.cell[list][i]) return false;
        }
    }
    return true;
}

#endif
