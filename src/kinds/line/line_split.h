/* line_split.h - a line becomes two lines of a table that is twice as large, all its entries at
 * once.
 *
 * line_growing.h says where the entries go: the byte of each takes in the top bit of its rest, and
 * its own top bit goes to the chain. So the order of the entries stays the same, and so do the
 * bytes, but for a shift by one bit. What changes is where runs begin:
 *
 *     chain      4              | 5                   the run of chain l becomes those of 2l and
 *     byte       0x11 0x13 0x90 | 0x85                2l + 1, and one of them may be empty
 *     top bit    0    0    1    | 1
 *     chain      8    8    9    | 11                  a run begins where one began before, and
 *     begins     1    0    1      1                   where the top bit changes from 0 to 1
 *
 * All of this is arithmetic on masks with a bit for each slot or for each chain. PEXT takes one bit
 * for each run from a mask of slots, and PDEP puts it at its chain. In a set that grew to 2 M keys,
 * moving a key takes 21 instructions, and 100 without this file.
 *
 * It works for lines that have no tail, in tables of sets without counters, to lines that are still
 * empty. This is nearly always so when a set grows. Otherwise the functions return false and have
 * changed nothing.
 */
#ifndef TAMIS_KINDS_LINE_LINE_SPLIT_H
#define TAMIS_KINDS_LINE_LINE_SPLIT_H

#include "lines_list.h"

#ifdef BITS_PDEP

#define SPLIT_CHAINS (LINE_CHAINS / 2) /* chains of a line that go to the first of the two */
#define SPLIT_EVEN UINT64_C(0x5555555555555555)
#define SPLIT_WORDS 7 /* of 8 slots */

/* A line that is to be split. Bit i of a mask is slot i. */
typedef struct split_line {
    uint64_t occ, starts, high; /* its index; the slots whose byte has its top bit set */
    unsigned used, first;       /* entries; those that go to the first line */
    uint64_t tops;              /* the top bits of the rests */
    uint64_t rest[LINE_SLOTS];  /* the other bits of the rests, if there are any */
} split_line;

/* Does a fingerprint have so many copies that it may be saturated? Copies are next to each other in
 * a run, so a run of `most` slots must be there: most - 1 slots in a row without a start. Each turn
 * of the loop keeps the slots whose neighbour above was kept, too: so after it, a bit that is left
 * begins most - 1 of them. */
TAMIS_INLINE bool split_may_be_saturated(uint64_t starts, unsigned used, uint64_t most) {
    uint64_t inner = ~starts & bits_low(used);
    if (most < 2) return false;
    for (uint64_t i = 2; i < most; i++) inner &= inner >> 1;
    return inner != 0;
}

/* Rests of one bit are the top bits. Those of two bits are taken apart by PEXT, 25 at a time: the
 * upper bit of each is its top bit, and the lower ones are a word, as rests of one bit are. */
TAMIS_INLINE void split_read_rests(lines_view from, uint64_t bucket, split_line *split) {
    uint64_t const at = lines_rest_at(from, bucket, 0);
    unsigned const bits = lines_rest_bits(from), half = LINE_SLOTS / 2;
    split->tops = 0;
    if (bits == 1) {
        split->tops = field_get(from.body, at, LINE_SLOTS);
    } else if (bits == 2) {
        uint64_t const low = field_get(from.body, at, 2 * half);
        uint64_t const high = field_get(from.body, at + 2 * half, 2 * half);
        split->tops = bits_take(low, SPLIT_EVEN << 1) | bits_take(high, SPLIT_EVEN << 1) << half;
        split->rest[0] = bits_take(low, SPLIT_EVEN) | bits_take(high, SPLIT_EVEN) << half;
    } else {
        for (unsigned i = 0; i < split->used; i++) {
            uint64_t const rest = field_get(from.body, at + i * bits, bits);
            split->tops |= rest >> (bits - 1) << i;
            split->rest[i] = rest & bits_low(bits - 1);
        }
    }
}

/* The entries first..end-1 of the split line are those of a line, which was empty. */
TAMIS_INLINE void split_put_rests(lines_view to, uint64_t bucket, const split_line *split,
                                  unsigned first, unsigned end) {
    uint64_t const at = lines_rest_at(to, bucket, 0);
    unsigned const bits = lines_rest_bits(to);
    if (bits == 1)
        field_set(to.body, at, LINE_SLOTS, (split->rest[0] & bits_low(end)) >> first);
    else if (bits > 1)
        rests_fill(to.body, at, bits, split->rest + first, end - first);
}

/* The bytes of all slots after the split: moved up by one bit, with the top bit of their rest. */
TAMIS_INLINE void split_bytes(const uint8_t *line, uint64_t tops, uint8_t *ret_bytes) {
    uint8_t old[8 * SPLIT_WORDS] = { 0 };
    memcpy(old, line + RUNS_AT, LINE_SLOTS);
    for (unsigned i = 0; i < SPLIT_WORDS; i++) {
        uint64_t const moved = (le64_load(old + 8 * i) & 127 * BITS_BYTES) << 1;
        le64_store(ret_bytes + 8 * i, moved | bits_put(tops >> (8 * i), BITS_BYTES));
    }
}

/* The chains of the new lines that are not empty: for each chain of `occ`, 2l if its first byte has
 * no top bit, and 2l + 1 if its last one has it. Bytes are sorted in a run, so these two decide. In
 * the line that is drawn above, with runs at the slots 0 and 3 and an end at 4:
 *
 *     chain   first byte         last byte          becomes
 *     4       0x11, slot 0       0x90, slot 2       8 and 9
 *     5       0x85, slot 3       0x85, slot 3       11 only
 *
 * `even` and `odd` have a bit for each old chain, at its place in occ; SPLIT_EVEN spreads them to
 * the places 2l and 2l + 1. Chains from SPLIT_CHAINS on are those of the second line. */
TAMIS_INLINE void split_chains(const split_line *split, uint64_t *ret_first, uint64_t *ret_second) {
    uint64_t const firsts = split->starts & bits_low(split->used), lasts = split->starts >> 1;
    uint64_t const even = bits_put(bits_take(~split->high, firsts), split->occ);
    uint64_t const odd = bits_put(bits_take(split->high, lasts), split->occ);
    uint64_t const mask = bits_low(SPLIT_CHAINS);
    *ret_first = bits_put(even & mask, SPLIT_EVEN) | bits_put(odd & mask, SPLIT_EVEN << 1);
    *ret_second =
        bits_put(even >> SPLIT_CHAINS, SPLIT_EVEN) | bits_put(odd >> SPLIT_CHAINS, SPLIT_EVEN << 1);
}

/* Write both lines, which are empty. A run begins at a slot where one began before, or whose byte
 * has a top bit where the one before it has none; a line has an end behind its last entry. */
TAMIS_INLINE void split_make_lines(lines_view to, uint64_t bucket, const uint8_t *line,
                                   const split_line *split) {
    uint8_t        bytes[8 * SPLIT_WORDS];
    uint64_t const begins =
        (split->starts & bits_low(split->used)) | (split->high & ~(split->high << 1));
    unsigned const first = split->first, second = split->used - first;
    uint8_t *const low = lines_at(to, 2 * bucket), *const high = lines_at(to, 2 * bucket + 1);
    runs low_index, high_index;
    split_chains(split, &low_index.occ, &high_index.occ);
    low_index.starts = (begins & bits_low(first)) | UINT64_C(1) << first;
    high_index.starts = begins >> first | UINT64_C(1) << second;
    split_bytes(line, split->tops, bytes);
    memcpy(low + RUNS_AT, bytes, first);
    memcpy(high + RUNS_AT, bytes + first, second);
    runs_store(low, low_index);
    runs_store(high, high_index);
    split_put_rests(to, 2 * bucket, split, 0, first);
    split_put_rests(to, 2 * bucket + 1, split, first, split->used);
}

/* Split a line. *ret_n: its entries. */
TAMIS_INLINE bool lines_split(lines_view from, uint64_t bucket, uint64_t most, lines_view to,
                              unsigned *ret_n) {
    const uint8_t *const line = lines_at(from, bucket);
    runs const           index = runs_load(line);
    split_line           split = { .occ = index.occ, .starts = index.starts };
    const uint8_t *const low = lines_at(to, 2 * bucket), *const high = lines_at(to, 2 * bucket + 1);
    split.used = *ret_n = runs_used(index);
    if (runs_are_cut(index) || (le64_load(low) | le64_load(high)) != 0 ||
        split_may_be_saturated(split.starts, split.used, most))
        return false;
    /* Bytes above 127 have a top bit. The first entry of chain 31 is the first of the second
     * line. */
    split.high = ~runs_up_to(line, 127) & bits_low(split.used);
    split.first = bits_lowest(bits_nth(split.starts, bits_rank(split.occ, SPLIT_CHAINS)));
    split_read_rests(from, bucket, &split);
    split_make_lines(to, bucket, line, &split);
    return true;
}

#else

TAMIS_INLINE bool lines_split(lines_view from, uint64_t bucket, uint64_t most, lines_view to,
                              unsigned *ret_n) {
    (void)from, (void)bucket, (void)most, (void)to, (void)ret_n;
    return false;
}

#endif

#endif
