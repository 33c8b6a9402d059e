/* prefix_lists.h - the cells of a bucket as sorted lists, whatever bytes they are packed into.
 *
 * A key is a string of `most` bits here. A cell is a prefix of it, at least `least` bits, and a
 * counter of copies less one:
 *
 *     cell   | prefix, `least` to `most` bits | counter, C bits |
 *
 * A counter with all ones is stuck: its cell stands for any number of copies, and stays.
 *
 * A bucket has up to two groups of cells, each with a length of its own. one_length.h and
 * two_lengths.h are the two ways to pack such a bucket into bytes; prefixes.h is for all others to
 * use.
 */
#ifndef TAMIS_KINDS_DDLCBF_PREFIX_LISTS_H
#define TAMIS_KINDS_DDLCBF_PREFIX_LISTS_H

#include "core/row.h"
#include "max_codes.h"

#define PREFIXES_MAX_CELLS (MAX_CODES_LEVELS - 1)
#define PREFIXES_MIN_BYTES 8
#define PREFIXES_MAX_BYTES 64
#define PREFIXES_MAX_COUNTER_BITS 4
#define PREFIXES_MIN_BITS 4
#define PREFIXES_MAX_BITS 40

/* How buckets are packed. */
typedef struct prefixes_shape {
    uint16_t bytes;     /* of a bucket */
    uint16_t room;      /* bits for its cells: all but the code */
    uint16_t codes;     /* codes that exist; with two lengths, pairs of numbers of cells */
    uint8_t  code_bits; /* at the end of the bucket */
    uint8_t  cells;     /* that a bucket can have */
    uint8_t  counter_bits;
    uint8_t  least, most;                  /* bits of a prefix */
    uint8_t  lengths;                      /* 1: one_length.h; 2: two_lengths.h */
    uint8_t  length[MAX_CODES_LEVELS + 1]; /* of prefixes if this many cells share the room */
} prefixes_shape;

/* What the code of a bucket says: two groups of cells, one after the other. */
typedef struct prefixes_head {
    unsigned level; /* of one length: the most cells since the bucket was empty */
    unsigned n[2];  /* cells of each group */
    unsigned length[2];
} prefixes_head;

/* A bucket unpacked. With one length, all cells are in the first list. */
typedef struct prefixes {
    unsigned level, n[2], length[2];
    uint64_t cell[2][PREFIXES_MAX_CELLS];
} prefixes;

/* Bits that a cell takes in the bucket. With one length, the first bit of a prefix follows from its
 * group and is not stored: a prefix of 17 bits and a counter of 1 take 17. */
TAMIS_INLINE unsigned prefixes_width(const prefixes_shape *s, unsigned length) {
    return length - (s->lengths == 1) + s->counter_bits;
}

/* The counter that is stuck. */
TAMIS_INLINE uint64_t prefixes_stuck(const prefixes_shape *s) {
    return bits_low(s->counter_bits);
}

TAMIS_INLINE unsigned prefixes_load(const prefixes_head *head) {
    return head->n[0] + head->n[1];
}

/* The bits of a bucket that one group has. */
TAMIS_INLINE row prefixes_row(const prefixes_shape *s, const prefixes_head *head, unsigned group) {
    unsigned const at = group == 0 ? 0 : head->n[0] * prefixes_width(s, head->length[0]);
    return (row){ s->bytes, at, head->n[group], prefixes_width(s, head->length[group]) };
}

/* The bits that the cells of both groups take. */
TAMIS_INLINE unsigned prefixes_used(const prefixes_shape *s, const unsigned *n,
                                    const unsigned *length) {
    return n[0] * prefixes_width(s, length[0]) + n[1] * prefixes_width(s, length[1]);
}

/* ------------------------------------------------------------------ lists */

/* By insertion: a list has at most 16 cells, and most of them are in order already. */
TAMIS_INLINE void prefixes_sort(prefixes *bucket, unsigned list) {
    uint64_t *const cell = bucket->cell[list];
    for (unsigned i = 1; i < bucket->n[list]; i++) {
        uint64_t const moved = cell[i];
        unsigned       to = i;
        for (; to > 0 && cell[to - 1] > moved; to--) cell[to] = cell[to - 1];
        cell[to] = moved;
    }
}

/* Shorten the prefixes of a list. They cannot become longer: the bits are gone. */
TAMIS_INLINE void prefixes_cut(const prefixes_shape *s, prefixes *bucket, unsigned list,
                               unsigned length) {
    bool const     is_longer = bucket->n[list] != 0 && bucket->length[list] > length;
    unsigned const less = is_longer ? bucket->length[list] - length : 0;
    for (unsigned i = 0; i < bucket->n[list]; i++) {
        uint64_t const cell = bucket->cell[list][i];
        uint64_t const prefix = cell >> s->counter_bits >> less;
        bucket->cell[list][i] = prefix << s->counter_bits | (cell & prefixes_stuck(s));
    }
    bucket->length[list] = length;
    if (less != 0) prefixes_sort(bucket, list);
}

/* Put both lists into the first, with one length. Equal cells stay apart: they are of two keys, or
 * two copies. */
TAMIS_INLINE void prefixes_cut_all(const prefixes_shape *s, prefixes *bucket, unsigned length) {
    prefixes_cut(s, bucket, 0, length);
    prefixes_cut(s, bucket, 1, length);
    for (unsigned i = 0; i < bucket->n[1]; i++) {
        bucket->cell[0][bucket->n[0]++] = bucket->cell[1][i];
    }
    bucket->n[1] = 0;
    prefixes_sort(bucket, 0);
}

#endif
