/* runs.h - 62 chains of bytes in one cache line.
 *
 * The bytes of chain 0 come first, then those of chain 1, and so on, packed, and sorted within a
 * chain: a run for each chain that is not empty. Two words of index say which run is whose:
 *
 *     bit   0                      62                112 = byte 14                byte 64
 *           +----------------------+-----------------+----------------------------+
 *           | occ: 62 bits         | starts: 50 bits | 50 slots of a byte each    |
 *           +----------------------+-----------------+----------------------------+
 *
 *     occ      bit l: chain l has bytes, here or elsewhere (see below)
 *     starts   bit i: slot i begins a run, or is the first free slot ("the end")
 *
 *     occ      0 1 0 0 1 1 0 ...       chains 1, 4 and 5 have bytes
 *     starts   1 0 1 1 0 0 1           runs begin at slots 0, 2 and 3; the end is slot 6
 *     slots    a b c d e f             chain 1: a b    chain 4: c    chain 5: d e f
 *
 * So the run of chain l is found by rank and select. If occ has r ones below bit l, its run begins
 * at the start that has r other starts before it. In a line that holds anything slot 0 begins a
 * run, and in an empty one the end is slot 0; so bit 0 of starts is always 1 and is not stored.
 * That makes 62 + 50 bits of index and 50 bytes: 64 bytes, and all zero is empty. In registers,
 * starts has its bit 0: 51 bits.
 *
 * Worked example, with the line above:
 *
 *     chain 5   occ has 2 ones below bit 5 (chains 1 and 4), so its rank is 2. The start with two
 *               others before it is slot 3, the next start is slot 6: its slots are 3, 4 and 5.
 *     chain 2   its bit of occ is 0: it is empty. The rank is 1, so an entry of it would go to the
 *               start with one other before it: slot 2, before the run of chain 4.
 *     chain 9   if it were marked in occ, its rank would be 3. The start with three others before
 *               it is the end, and no start follows: its entries are elsewhere.
 *
 * A line that is too full is cut: it keeps the first chains, as many as fit as a whole, and the
 * later ones are elsewhere (shelf.h). All chains stay marked in occ. So a lookup always begins in
 * the line; "the rank of my chain is beyond the runs" means elsewhere; and what a line looks like
 * depends on what it holds and not on its history.
 *
 * Functions here work on a line's index in registers and on its address; none loops over slots.
 */
#ifndef TAMIS_KINDS_LINE_RUNS_H
#define TAMIS_KINDS_LINE_RUNS_H

#include "dimensions.h"
#include "slots.h"

#define RUNS_AT 14 /* byte of the first slot */

static_assert(LINE_CHAINS + LINE_SLOTS == 8 * RUNS_AT, "two words of index");

/* The index of a line. */
typedef struct runs {
    uint64_t occ, starts;
} runs;

/* The index is 14 bytes, and is read and written as two words that overlap in two bytes:
 *
 *     bit    0                48           62  64                            112
 *            |<-------- occ -------------->|<--------- starts, from bit 1 ------>|
 *     word   |<-------- first word ----------->|
 *                             |<-------- second word, from byte 6 ------------->|
 *
 * In the second word, occ has the low 14 bits, and bit 1 of starts comes next. Shifted down by 13,
 * bit 1 of starts is in its place, and the last bit of occ is where bit 0 belongs, which is always
 * 1. */
TAMIS_INLINE uint64_t runs_load_starts(const uint8_t *line) {
    return le64_load(line + 6) >> (LINE_CHAINS - 48 - 1) | 1;
}

TAMIS_INLINE runs runs_load(const uint8_t *line) {
    return (runs){ le64_load(line) & bits_low(LINE_CHAINS), runs_load_starts(line) };
}

/* The second word is written over the last two bytes of the first, so it has the top bits of occ
 * once more. */
TAMIS_INLINE void runs_store(uint8_t *line, runs index) {
    le64_store(line, index.occ);
    le64_store(line + 6, index.occ >> 48 | index.starts >> 1 << (LINE_CHAINS - 48));
}

/* The starts alone, more of them than before: all that is stored of them stays set. */
TAMIS_INLINE void runs_store_starts(uint8_t *line, uint64_t starts) {
    le64_store(line + 6, le64_load(line + 6) | starts >> 1 << (LINE_CHAINS - 48));
}

/* Slots in use, which is the place of the end. */
TAMIS_INLINE unsigned runs_used(runs index) {
    return 63 - (unsigned)__builtin_clzll(index.starts);
}

TAMIS_INLINE bool runs_are_full(runs index) {
    return index.starts >> LINE_SLOTS & 1;
}

/* Runs in the line. */
TAMIS_INLINE unsigned runs_here(runs index) {
    return bits_popcount(index.starts) - 1;
}

/* Has the line fewer runs than occupied chains, so that the later ones are elsewhere? The end is a
 * start, too: a line that is not cut has one more of them than chains. */
TAMIS_INLINE bool runs_are_cut(runs index) {
    return !bits_are_fewer(index.occ, index.starts);
}

/* A chain in a line. Slots are single bits: a mask of slots is then a subtraction. */
typedef struct run {
    uint64_t is_occupied; /* 1: the chain has bytes, here or elsewhere */
    uint64_t start;       /* the bit of its first slot, or 0: not here */
    uint64_t end;         /* the bit of the slot after its last one, or 0: not here */
} run;

/* The run of the chain. If the chain is empty: the run of the next occupied one, before which its
 * own would be. */
TAMIS_INLINE run runs_find(runs index, unsigned chain) {
    unsigned const  rank = bits_popcount(bits_below(index.occ, chain));
    bits_pair const two = bits_two(index.starts, rank);
    return (run){ index.occ >> chain & 1, two.first, two.second };
}

/* The same if the chain is occupied. If it is empty: start and end are 0, so it has no slots. */
TAMIS_INLINE run runs_find_occupied(runs index, unsigned chain) {
    unsigned const  rank = bits_popcount(bits_below(index.occ, chain));
    uint64_t const  is_occupied = index.occ >> chain & 1;
    bits_pair const two = bits_two_if(index.starts, rank, is_occupied);
    return (run){ is_occupied, two.first, two.second };
}

/* The end of the run of the chain. An empty one has its end where its start would be. 0: not here.
 * The `end` of an empty chain is that of the next run, and 0 if there is none, so it does not say
 * whether an entry of the chain belongs here. Compilers make a conditional move of this: a
 * processor cannot predict whether a chain is occupied. */
TAMIS_INLINE uint64_t run_end(run found) {
    return found.is_occupied != 0 ? found.end : found.start;
}

/* Does the chain belong into the line: is its run here, or would it be? */
TAMIS_INLINE bool run_is_here(run found) {
    return run_end(found) != 0;
}

/* Is it an occupied chain that is elsewhere? That is: the end is 0, and is_occupied is 1. */
TAMIS_INLINE bool run_is_far(run found) {
    return found.end < found.is_occupied;
}

/* A mask of its slots; 0 if it has none here. */
TAMIS_INLINE uint64_t run_mask(run found) {
    return (found.end - found.start) & (0 - (found.is_occupied & (found.end != 0)));
}

/* The same of a chain that belongs into the line. */
TAMIS_INLINE uint64_t run_mask_here(run found) {
    return (found.end - found.start) & (0 - found.is_occupied);
}

/* The last run of a line. */
typedef struct runs_last {
    unsigned chain, first, n; /* its chain; its first slot; its slots */
    uint64_t starts;          /* those of the line without it: its start is the end then */
} runs_last;

/* The line must have a run. */
TAMIS_INLINE runs_last runs_find_last(runs index) {
    unsigned const used = runs_used(index);
    uint64_t const starts = index.starts ^ UINT64_C(1) << used;
    unsigned const first = 63 - (unsigned)__builtin_clzll(starts);
    unsigned const chain = bits_select(index.occ, runs_here(index) - 1) % 64;
    return (runs_last){ chain, first, used - first, starts };
}

/* ------------------------------------------------------------------ bytes */

/* A mask of the slots that hold this byte; bits beyond the 50 slots are not set. */
TAMIS_INLINE uint64_t runs_match(const uint8_t *line, uint8_t byte) {
    return lanes_equal_line(line, RUNS_AT, byte);
}

/* A mask of the slots that hold this byte or a smaller one. */
TAMIS_INLINE uint64_t runs_up_to(const uint8_t *line, uint8_t byte) {
    return lanes_up_to_line(line, RUNS_AT, byte);
}

/* What a lookup asks, in fewer instructions than runs_find(): the slots of the chain that hold this
 * byte, as a mask. It means nothing if the chain is far: it has bytes, but elsewhere. If the caller
 * does not want all slots, any bit that is set stands for some of them. */
typedef struct runs_hits {
    uint64_t slots;
    bool     is_far;
} runs_hits;

#if defined(BITS_PDEP) || defined(BITS_HALVES) || !defined(BITS_POPCNT)

/* The slots of the chain are found first; those with the byte are among them. With PDEP that takes
 * three instructions. */
TAMIS_INLINE runs_hits runs_look_up(const uint8_t *line, unsigned chain, uint8_t byte,
                                    bool wants_all) {
    (void)wants_all;
    uint64_t const  occ = le64_load(line), is_occupied = occ >> chain & 1;
    unsigned const  rank = bits_popcount(bits_below(occ, chain));
    bits_pair const two = bits_two_if(runs_load_starts(line), rank, is_occupied);
    /* Occupied and without an end here: one comparison of a bit or 0 with 1 or 0. */
    return (runs_hits){ runs_match(line, byte) & (two.second - two.first),
                        two.second < is_occupied };
}

#else

/* With POPCNT and without PDEP it takes many instructions to find the slots of a chain, and few to
 * find the chain of a slot: its run is counted by the starts up to it. Of six absent keys only one
 * has a slot with its byte in the line at all (1 - (255/256)^44 = 16%, with 44 entries), and a
 * present key seldom has more than one, so there is little to count.
 *
 * NEON counts two words in hardly more instructions than one (bits_in_both). But it can only add
 * the counts, so the starts are counted as what is missing to 64 bits:
 *
 *     occ          0 1 0 0 1 1 0 ...    chain 4:  mine has 0 1 0 0 1, in its top bits     2 ones
 *     starts       1 0 1 1 0 0 1 ...    slot 2:   up to it 1 0 1
 *     not_starts   0 1 0 0 1 1 0 ...              up to it 0 1 0, then ones         64 - 2 ones
 *
 * If the chain is occupied and the sum is 64, the slot is in the run of the chain. One exception:
 * the slots after the end hold 0, and have the sum of the first chain that is far. No start comes
 * after these slots, since the end is a start, too.
 *
 * A chain with r occupied ones before it is in the line if there are r + 2 starts or more: its own
 * and that of its end. So it is far if the sum with all starts is 64 or more; it is below 128. */
TAMIS_INLINE runs_hits runs_look_up(const uint8_t *line, unsigned chain, uint8_t byte,
                                    bool wants_all) {
    uint64_t mine = le64_load(line) << (63 ^ chain), but_bit_0 = ~UINT64_C(1), own = 0;
    /* In a register, the next line is one instruction of aarch64: bic, which shifts, too. With a
     * constant, GCC 12 makes it mvn and and. */
    TAMIS_OPAQUE(but_bit_0);
    uint64_t const not_starts = but_bit_0 & ~(le64_load(line + 6) >> (LINE_CHAINS - 48 - 1));
    for (uint64_t left = lanes_mark_line(line, byte) & -(mine >> 63); left != 0;
         left = lanes_other_marks(left)) {
        /* The slots up to this one; none for a byte of the index, and then the sum is above 64. */
        uint64_t const up_to = bits_low(LINE_SLOTS) >> lanes_after_mark(left);
        uint64_t const some = not_starts | ~up_to;
        /* GCC 12 would keep a second copy of `mine` in a vector register, for the next slot, which
         * is seldom there: line_has_chunk_bare() would have 112 instructions instead of 95. */
        TAMIS_OPAQUE(mine);
        if (bits_in_both(mine, some) != 64 || some == not_starts) continue;
        if (!wants_all) return (runs_hits){ 1, false };
        own |= up_to ^ up_to >> 1;
    }
    TAMIS_OPAQUE(mine); /* the same for its use below: line_has() has 163 instructions, not 167 */
    uint64_t const is_far = mine & (uint64_t)bits_in_both(mine, not_starts) << 57; /* in bit 63 */
    return (runs_hits){ own, is_far >> 63 };
}

#endif

/* Put a byte at slot `at`; those from there on move up by one. The last slot must be free. */
TAMIS_INLINE void runs_open_slot(uint8_t *line, unsigned at, uint8_t byte) {
    slots_open(line, RUNS_AT, 1, at);
    line[RUNS_AT + at] = byte;
}

/* Remove slot `at`; those after it move down by one, and the last slot becomes 0. */
TAMIS_INLINE void runs_close_slot(uint8_t *line, unsigned at) {
    slots_close(line, RUNS_AT, 1, at);
}

/* ------------------------------------------------------------------ index */

/* Chains are as often empty as not, so nothing here branches on that. */

/* The starts after one more slot in the run that begins at bit `start`, or after a new run of one
 * slot there (is_occupied is 0): the later starts move up by one, which adds them once more. In the
 * line at the top of this file, where runs begin at the slots 0, 2 and 3 and the end is 6:
 *
 *     one slot more in the run at 2      0 2 4, end 7
 *     a new run there, before it         0 2 3 4, end 7 */
TAMIS_INLINE uint64_t runs_grown(uint64_t starts, uint64_t start, uint64_t is_occupied) {
    uint64_t const later = start << is_occupied;
    return (starts + (starts & -later)) | start;
}

/* The starts after one slot less in that run: the later starts move down. If it was the only slot,
 * the next start comes down onto this one, and one of them is left.
 *
 *     one slot less in the run at 0      0 1 2, end 5
 *     the only slot of the run at 2      0 2, end 5 */
TAMIS_INLINE uint64_t runs_shrunk(uint64_t starts, uint64_t start) {
    uint64_t const later = starts & -(start << 1);
    return (starts - later) | later >> 1;
}

#endif
