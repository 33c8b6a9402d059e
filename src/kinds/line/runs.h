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
 * A line that is too full is cut: it keeps the first chains, as many as fit as a whole, and the
 * later ones are elsewhere (shelf.h). All chains stay marked in occ. So a lookup always begins in
 * the line; "the rank of my chain is beyond the runs" means elsewhere; and what a line looks like
 * depends on what it holds and not on its history.
 *
 * Functions here work on a line's index in registers and on its address; none loops over slots.
 */
#ifndef TAMIS_KINDS_LINE_RUNS_H
#define TAMIS_KINDS_LINE_RUNS_H

#include "slots.h"

#define RUNS_CHAINS 62
#define RUNS_SLOTS 50
#define RUNS_AT 14 /* byte of the first slot */

static_assert(RUNS_CHAINS + RUNS_SLOTS == 8 * RUNS_AT, "two words of index");

/* The index of a line. */
typedef struct runs {
    uint64_t occ, starts;
} runs;

TAMIS_INLINE uint64_t runs_load_starts(const uint8_t *line) {
    return le64_load(line + 6) >> (RUNS_CHAINS - 48 - 1) | 1; /* over the last bit of occ */
}

TAMIS_INLINE runs runs_load(const uint8_t *line) {
    return (runs){ le64_load(line) & bits_low(RUNS_CHAINS), runs_load_starts(line) };
}

/* The second word is written over the last two bytes of the first. */
TAMIS_INLINE void runs_store(uint8_t *line, runs index) {
    le64_store(line, index.occ);
    le64_store(line + 6, index.occ >> 48 | index.starts >> 1 << (RUNS_CHAINS - 48));
}

/* The starts alone, more of them than before: all that is stored of them stays set. */
TAMIS_INLINE void runs_store_starts(uint8_t *line, uint64_t starts) {
    le64_store(line + 6, le64_load(line + 6) | starts >> 1 << (RUNS_CHAINS - 48));
}

/* Slots in use, which is the place of the end. */
TAMIS_INLINE unsigned runs_used(runs index) {
    return 63 - (unsigned)__builtin_clzll(index.starts);
}

TAMIS_INLINE bool runs_are_full(runs index) {
    return index.starts >> RUNS_SLOTS & 1;
}

/* Runs in the line. */
TAMIS_INLINE unsigned runs_here(runs index) {
    return bits_popcount(index.starts) - 1;
}

/* Has the line fewer runs than occupied chains, so that the later ones are elsewhere? */
TAMIS_INLINE bool runs_are_cut(runs index) {
    return bits_popcount(index.occ) >= bits_popcount(index.starts);
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

/* Does the chain belong into the line: is its run here, or would it be? An occupied chain is here
 * if its run has an end; an empty one, if there is a start to put it before. Written without a
 * branch, since a processor cannot predict whether a chain is occupied. */
TAMIS_INLINE bool run_is_here(run found) {
    return (found.end | (found.start & (found.is_occupied - 1))) != 0;
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
 * byte, as a mask. It means nothing if the chain is far: it has bytes, but elsewhere. */
typedef struct runs_hits {
    uint64_t slots;
    bool     is_far;
} runs_hits;

#if defined(BITS_PDEP) || defined(BITS_HALVES) || !defined(BITS_POPCNT)

/* The slots of the chain are found first; those with the byte are among them. With PDEP that takes
 * three instructions. */
TAMIS_INLINE runs_hits runs_look_up(const uint8_t *line, unsigned chain, uint8_t byte) {
    uint64_t const  occ = le64_load(line), is_occupied = occ >> chain & 1;
    unsigned const  rank = bits_popcount(bits_below(occ, chain));
    bits_pair const two = bits_two_if(runs_load_starts(line), rank, is_occupied);
    /* Occupied and without an end here: one comparison of a bit or 0 with 1 or 0. */
    return (runs_hits){ runs_match(line, byte) & (two.second - two.first),
                        two.second < is_occupied };
}

#else

/* With POPCNT and without PDEP it takes many instructions to find the slots of a chain, and few to
 * find the chain of a slot: its run is counted by the starts up to it. Of five absent keys only one
 * has a slot with its byte in the line at all, and a present key seldom has more than one, so there
 * is little to count. In the slots after the end, which hold 0, the count is the one of a chain
 * that is far, and its result means nothing. */
TAMIS_INLINE runs_hits runs_look_up(const uint8_t *line, unsigned chain, uint8_t byte) {
    uint64_t const occ = le64_load(line), is_occupied = occ >> chain & 1;
    uint64_t const starts = runs_load_starts(line), before = bits_below(occ, chain);
    uint64_t       own = 0;
    for (uint64_t left = runs_match(line, byte) & -is_occupied; left != 0; left &= left - 1) {
        uint64_t const up_to = left ^ (left - 1); /* the bits up to the lowest one of `left` */
        if (bits_more(starts & up_to, before) == 1) own |= left & up_to;
    }
    /* The end has a start, too. */
    return (runs_hits){ own, (bits_more(starts, before) <= 1) & is_occupied };
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
 * slot there (is_occupied is 0): the later starts move up by one, which adds them once more. */
TAMIS_INLINE uint64_t runs_grown(uint64_t starts, uint64_t start, uint64_t is_occupied) {
    uint64_t const later = start << is_occupied;
    return (starts + (starts & -later)) | start;
}

/* The starts after one slot less in that run: the later starts move down. If it was the only slot,
 * the next start comes down onto this one, and one of them is left. */
TAMIS_INLINE uint64_t runs_shrunk(uint64_t starts, uint64_t start) {
    uint64_t const later = starts & -(start << 1);
    return (starts - later) | later >> 1;
}

#endif
