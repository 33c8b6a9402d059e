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
 * So the run of chain l is found by rank and select: it is the one with as many starts before it as
 * occ has ones below l. In a line that holds anything slot 0 begins a run, and in an empty one the
 * end is slot 0; so bit 0 of starts is always 1 and is not stored. That makes 62 + 50 bits of index
 * and 50 bytes: 64 bytes, and all zero is empty. In registers, starts has its bit 0: 51 bits.
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

#include "core/lanes.h"

#define RUNS_CHAINS 62
#define RUNS_SLOTS 50
#define RUNS_AT 14 /* byte of the first slot */

static_assert(RUNS_CHAINS + RUNS_SLOTS == 8 * RUNS_AT, "two words of index");

/* The index of a line. */
typedef struct runs {
    uint64_t occ, starts;
} runs;

TAMIS_INLINE runs runs_load(const uint8_t *line) {
    uint64_t const tail = le64_load(line + 6) >> (RUNS_CHAINS - 48);
    return (runs){ le64_load(line) & bits_low(RUNS_CHAINS), tail << 1 | 1 };
}

TAMIS_INLINE void runs_store(uint8_t *line, runs index) {
    uint64_t const tail = index.starts >> 1, first = index.occ | tail << RUNS_CHAINS;
    le64_store(line, first);
    le64_store(line + 6, first >> 48 | tail >> (64 - RUNS_CHAINS) << 16);
}

/* Slots in use, which is the place of the end. */
TAMIS_INLINE unsigned runs_used(runs index) {
    return 63 - (unsigned)__builtin_clzll(index.starts);
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
    uint64_t end;         /* the bit of the slot behind its last one, or 0: not here */
} run;

/* The set bits of starts that have `rank` and `rank` + 1 set bits below them; fewer than two if
 * there are no more. */
TAMIS_INLINE uint64_t runs_two_starts(uint64_t starts, unsigned rank) {
#if defined(__BMI2__) && !defined(TAMIS_NO_SIMD)
    return _pdep_u64(UINT64_C(3) << rank, starts);
#else
    unsigned const first = bits_select(starts, rank);
    if (first == 64) return 0;
    uint64_t const above = starts & ~bits_low(first + 1);
    return UINT64_C(1) << first | (above & -above);
#endif
}

/* The run of the chain. If the chain is empty: the run of the next occupied one, before which its
 * own would be. */
TAMIS_INLINE run runs_find(runs index, unsigned chain) {
    uint64_t const below = index.occ & ((UINT64_C(1) << chain) - 1);
    uint64_t const two = runs_two_starts(index.starts, bits_popcount(below));
    run            found;
    found.is_occupied = index.occ >> chain & 1;
    found.start = two & -two;
    found.end = two & (two - 1);
    return found;
}

/* Does the chain belong into the line: is its run here, or would it be? An occupied chain is here
 * if its run has an end; an empty one, if there is a start to put it before. Written without a
 * branch, since a processor cannot predict whether a chain is occupied. */
TAMIS_INLINE bool run_is_here(run found) {
    return (found.end | (found.start & (found.is_occupied - 1))) != 0;
}

/* Is it an occupied chain that is elsewhere? */
TAMIS_INLINE bool run_is_far(run found) {
    return (found.end == 0) & found.is_occupied;
}

/* A mask of its slots; 0 if it has none here. */
TAMIS_INLINE uint64_t run_mask(run found) {
    return (found.end - found.start) & (0 - (found.is_occupied & (found.end != 0)));
}

/* ------------------------------------------------------------------ bytes */

/* A mask of the slots that hold this byte. The line is compared in two halves of 32 bytes, which
 * overlap by 14; bits beyond the 50 slots are not set. */
TAMIS_INLINE uint64_t runs_match(const uint8_t *line, uint8_t byte) {
    uint64_t const low = lanes_equal_8x32(line + RUNS_AT, byte);
    return low | (uint64_t)lanes_equal_8x32(line + 32, byte) << (32 - RUNS_AT);
}

/* A mask of the slots that hold a smaller byte. */
TAMIS_INLINE uint64_t runs_below(const uint8_t *line, uint8_t byte) {
    uint64_t const low = lanes_below_8x32(line + RUNS_AT, byte);
    return low | (uint64_t)lanes_below_8x32(line + 32, byte) << (32 - RUNS_AT);
}

#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
/* A slot is opened or closed with four vector operations for each half of the line, as fast for
 * slot 0 as for slot 49; memmove() of an unknown length is a call and a branch. The halves overlap:
 * slots 0 to 31, and 18 to 49. */
#define RUNS_HALF (32 - RUNS_AT) /* the first slot of the second half */

TAMIS_INLINE __m256i runs_half(const uint8_t *line, unsigned half) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(line + RUNS_AT + half * RUNS_HALF));
}

/* A half moved up by one slot: each slot has what the one before it had, and the first one what is
 * in front of the half. */
TAMIS_INLINE __m256i runs_half_up(const uint8_t *line, unsigned half) {
    const uint8_t *const before = line + RUNS_AT + half * RUNS_HALF - 1;
    return _mm256_loadu_si256((const __m256i *)(const void *)before);
}

/* A half moved down by one slot. Behind the second half is the next cache line, and loading it
 * would be waiting for it; so that half is moved in the register, and its last slot becomes 0. */
TAMIS_INLINE __m256i runs_half_down(const uint8_t *line, unsigned half) {
    if (half == 0) return _mm256_loadu_si256((const __m256i *)(const void *)(line + RUNS_AT + 1));
    __m256i const here = runs_half(line, half);
    __m256i const top = _mm256_permute2x128_si256(here, here, 0x81); /* its upper lane, then 0 */
    return _mm256_alignr_epi8(top, here, 1);
}

/* The numbers of the slots in a half, one in each byte. */
TAMIS_INLINE __m256i runs_numbers(unsigned half) {
    __m256i const first =
        _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                         21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    return _mm256_add_epi8(first, _mm256_set1_epi8((char)(half * RUNS_HALF)));
}

TAMIS_INLINE void runs_put_halves(uint8_t *line, __m256i first, __m256i second) {
    _mm256_storeu_si256((__m256i *)(void *)(line + RUNS_AT), first);
    _mm256_storeu_si256((__m256i *)(void *)(line + RUNS_AT + RUNS_HALF), second);
}

/* A half with `byte` at slot `at`, and the bytes from there on moved up by one. */
TAMIS_INLINE __m256i runs_opened(const uint8_t *line, unsigned half, unsigned at, uint8_t byte) {
    __m256i const slot = runs_numbers(half), here = _mm256_set1_epi8((char)at);
    __m256i const moved = _mm256_blendv_epi8(runs_half(line, half), runs_half_up(line, half),
                                             _mm256_cmpgt_epi8(slot, here));
    return _mm256_blendv_epi8(moved, _mm256_set1_epi8((char)byte), _mm256_cmpeq_epi8(slot, here));
}

/* A half with the bytes behind slot `at` moved down by one. */
TAMIS_INLINE __m256i runs_closed(const uint8_t *line, unsigned half, unsigned at) {
    __m256i const stays = _mm256_cmpgt_epi8(_mm256_set1_epi8((char)at), runs_numbers(half));
    return _mm256_blendv_epi8(runs_half_down(line, half), runs_half(line, half), stays);
}
#endif

/* Put a byte at slot `at`; those from there on move up by one. The last slot must be free. */
TAMIS_INLINE void runs_open_slot(uint8_t *line, unsigned at, uint8_t byte) {
#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
    runs_put_halves(line, runs_opened(line, 0, at, byte), runs_opened(line, 1, at, byte));
#else
    uint8_t *const slots = line + RUNS_AT;
    memmove(slots + at + 1, slots + at, RUNS_SLOTS - 1 - at);
    slots[at] = byte;
#endif
}

/* Take slot `at` away; those behind it move down by one, and the last slot becomes 0. */
TAMIS_INLINE void runs_close_slot(uint8_t *line, unsigned at) {
#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
    runs_put_halves(line, runs_closed(line, 0, at), runs_closed(line, 1, at));
#else
    uint8_t *const slots = line + RUNS_AT;
    memmove(slots + at, slots + at + 1, RUNS_SLOTS - 1 - at);
    slots[RUNS_SLOTS - 1] = 0;
#endif
}

/* ------------------------------------------------------------------ index */

/* Chains are as often empty as not, so nothing here branches on that. */

/* The starts after one more slot in the run that begins at bit `start`, or after a new run of one
 * slot there: the later starts move up by one. */
TAMIS_INLINE uint64_t runs_grown(uint64_t starts, uint64_t start, bool is_new) {
    uint64_t const later = start << !is_new;
    return (starts & (later - 1)) | start | (starts & -later) << 1;
}

/* The starts after one slot less in that run, or after its only one: the later starts move down. */
TAMIS_INLINE uint64_t runs_shrunk(uint64_t starts, uint64_t start, bool is_gone) {
    uint64_t const kept = (start << !is_gone) - 1;
    return (starts & kept) | (starts & -(start << 1)) >> 1;
}

#endif
