/* lines.h - a table whose buckets are cache lines, and the entries that do not fit into them.
 *
 * A bucket is a line of chains of bytes (runs.h) and, if the line is cut, a tail: on the shelf that
 * 16 lines share, and after that in the attic (shelf.h, attic.h). An entry of a bucket is a chain,
 * a byte and a rest. The rests are in separate arrays, with a field for each slot of a line, each
 * key of a shelf and each word of the attic:
 *
 *     +-------+---------+-------+-------+------------+-------------+------------+
 *     | lines | shelves | words | count | slot rests | shelf rests | word rests |      the body
 *     +-------+---------+-------+-------+------------+-------------+------------+
 *
 *     high bit                                       low bit
 *     +--------------------------+-------+---------------+
 *     | remainder after the byte | value | copies less 1 |      a rest, of `rest_bits` bits
 *     +--------------------------+-------+---------------+
 *
 * A lookup reads the line, and a rest only if the byte matches. The rests of 16 lines, and those of
 * a shelf, begin at a word of 64 bits: so two threads that change different groups never write to
 * the same word.
 *
 * One rule makes the whole body depend only on its contents: the entries of a bucket are sorted by
 * (chain, byte, rest); the line has the first chains, as many complete ones as fit, and the tail
 * has the others. So a new entry moves at most the last run of the line to the tail, and a removed
 * entry brings back at most the first runs of the tail (far.h, near.h).
 */
#ifndef TAMIS_KINDS_LINE_LINES_H
#define TAMIS_KINDS_LINE_LINES_H

#include "runs.h"
#include "shelf.h"

#define LINES_CHAIN_MASK 0x3f00 /* of a key: its chain */
#define LINES_KEY_MASK 0x3fff   /* chain and byte */
#define LINES_LAST_KEY 0x3dff   /* of chain 61, the last one */

/* The layout of a body and of its entries. All members are of one type, so that the struct can lie
 * in the derived words of a table. */
typedef struct lines_shape {
    uint64_t buckets, remainder_bits, counter_bits, value_bits, rest_bits;
    uint64_t shelves, words, count; /* where they begin, in bytes; the lines are first */
    uint64_t slot_rests, shelf_rests, word_rests; /* the same in bits */
    uint64_t slot_pad, shelf_stride;              /* see line_layout */
    uint64_t row_bits, row_words, group_bytes; /* rests of a line: all, window (rests.h); group */
    uint64_t homes, room, word_bits;           /* of the attic */
    uint64_t end;                              /* of all parts, in bits */
    uint64_t away; /* of a window (sharing.h): bytes from its body to that of the attic */
} lines_shape;

/* A body and its layout, which all functions here work on. Most sets have no rests: remainders of 8
 * bits, no counters, no values. Functions for such sets have is_bare as a constant, and the
 * compiler leaves out all code for rests. */
typedef struct lines_view {
    uint8_t           *body;
    const lines_shape *shape;
    bool               is_bare;
} lines_view;

TAMIS_INLINE unsigned lines_rest_bits(lines_view lines) {
    return lines.is_bare ? 0 : (unsigned)lines.shape->rest_bits;
}

TAMIS_INLINE unsigned lines_remainder_bits(lines_view lines) {
    return lines.is_bare ? LINE_BYTE_BITS : (unsigned)lines.shape->remainder_bits;
}

TAMIS_INLINE unsigned lines_counter_bits(lines_view lines) {
    return lines.is_bare ? 0 : (unsigned)lines.shape->counter_bits;
}

/* The shelves and the attic of a body. The compiler keeps of this what a caller uses. */
TAMIS_INLINE shelf_view lines_shelves(lines_view lines) {
    const lines_shape *const shape = lines.shape;
    return (
        shelf_view){ .body = lines.body,
                     .away = shape->away,
                     .attic = { .body = (uint8_t *)((uintptr_t)lines.body + (uintptr_t)shape->away),
                                .words = shape->words,
                                .rests = shape->word_rests,
                                .count = shape->count,
                                .homes = shape->homes,
                                .room = shape->room,
                                .rest_bits = (unsigned)shape->rest_bits,
                                .word_bits = (unsigned)shape->word_bits },
                     .lines = shape->shelves,
                     .rests = shape->shelf_rests,
                     .stride = shape->shelf_stride };
}

/* ------------------------------------------------------------------ where a key belongs */

typedef struct lines_place {
    uint64_t bucket;
    uint64_t remainder; /* without its top 8 bits, which are the byte */
    uint8_t  chain, byte;
} lines_place;

/* Bucket, chain and remainder are the digits of the hash, read as a fraction of 2^64. For 1000
 * lines and the hash 0x9e3779b97f4a7c15, which is 0.6180339887 x 2^64:
 *
 *     0.6180339887 x 1000 = 618.0339887        line 618
 *     0.0339887    x   62 =   2.1073           chain 2
 *     0.1073       x  256 =  27.469            byte 27
 *     0.469        x    4 =   1.88             the other 2 bits of a remainder of 10 bits: 1 */
TAMIS_INLINE lines_place lines_find(lines_view lines, uint64_t hash) {
    lines_place place;
    place.bucket = fastrange_next(&hash, lines.shape->buckets);
    place.chain = (uint8_t)fastrange_next(&hash, LINE_CHAINS);
    place.byte = (uint8_t)(hash >> (64 - LINE_BYTE_BITS));
    /* Two shifts, since one by 64 has no meaning in C: remainder_bits may be 8. */
    place.remainder =
        hash << LINE_BYTE_BITS >> 1 >> (63 + LINE_BYTE_BITS - lines_remainder_bits(lines));
    return place;
}

TAMIS_INLINE uint8_t *lines_at(lines_view lines, uint64_t bucket) {
    return lines.body + bucket * TAMIS_LINE_BYTES;
}

/* Chain and byte in one number, as tails have them. */
TAMIS_INLINE unsigned lines_key(const lines_place *place) {
    return (unsigned)place->chain << LINE_BYTE_BITS | place->byte;
}

/* ------------------------------------------------------------------ rests */

/* The bit of the body where the rest of a slot begins. Those of 16 lines end at a whole word:
 * slot_pad bits after each such group are not used. */
TAMIS_INLINE uint64_t lines_rest_at(lines_view lines, uint64_t bucket, unsigned slot) {
    return lines.shape->slot_rests + (bucket * LINE_SLOTS + slot) * lines_rest_bits(lines) +
           bucket / SHELF_BUCKETS * lines.shape->slot_pad;
}

TAMIS_INLINE uint64_t lines_rest(lines_view lines, uint64_t bucket, unsigned slot) {
    return rest_get(lines.body, lines_rest_at(lines, bucket, slot), lines_rest_bits(lines));
}

/* The rests of a line as a row. A short window ends within the words of its group; the last group
 * of a table may have fewer lines than the others.
 *
 * Example, with rests of 1 bit: the row of the sixth line of a group begins at bit 5 x 50 = 250 of
 * it, in byte 31. The window is the word from there on, and the row its bits 2 to 51. With rests of
 * 3 bits, rows of 150 bits, it begins at bit 750: the window begins at word 11, at bit 704, and the
 * row is its bits 46 to 195. */
TAMIS_INLINE rests_row lines_row(lines_view lines, uint64_t bucket) {
    const lines_shape *const shape = lines.shape;
    uint64_t const begin = shape->slot_rests / 8 + bucket / SHELF_BUCKETS * shape->group_bytes;
    uint64_t const bit = bucket % SHELF_BUCKETS * shape->row_bits, words = shape->row_words;
    uint64_t       at = begin + bit / 64 * 8;
    if (words <= RESTS_SHORT_WORDS) {
        uint64_t const end = min_u64(begin + shape->group_bytes, shape->shelf_rests / 8);
        at = min_u64(begin + bit / 8, end - 8 * words);
    }
    unsigned const first = (unsigned)(bit - 8 * (at - begin));
    return (rests_row){ lines.body + at, (unsigned)words, lines_rest_bits(lines), first,
                        first + (unsigned)shape->row_bits };
}

/* Prefetch the rest of one slot. */
TAMIS_INLINE void lines_fetch_rest(lines_view lines, const lines_place *place, unsigned slot) {
    prefetch_to_read(lines.body + lines_rest_at(lines, place->bucket, slot) / 8);
}

/* Prefetch all rests of a bucket: an update moves those after its own. */
TAMIS_INLINE void lines_fetch_rests(lines_view lines, uint64_t bucket) {
    uint64_t const bits = 8 * TAMIS_LINE_BYTES, first = lines_rest_at(lines, bucket, 0) / bits;
    uint64_t const last = lines_rest_at(lines, bucket, LINE_SLOTS) / bits;
    for (uint64_t i = first; i <= last; i++) prefetch_to_write(lines.body + i * TAMIS_LINE_BYTES);
}

TAMIS_INLINE uint64_t rest_remainder(const lines_shape *shape, uint64_t rest) {
    return rest >> (shape->counter_bits + shape->value_bits);
}

/* The rest of a new entry, of one copy. */
TAMIS_INLINE uint64_t rest_new(const lines_shape *shape, uint64_t remainder, uint64_t value) {
    return remainder << (shape->counter_bits + shape->value_bits) | value << shape->counter_bits;
}

TAMIS_INLINE unsigned rest_copies(const lines_shape *shape, uint64_t rest) {
    return 1 + (unsigned)(rest & bits_low((unsigned)shape->counter_bits));
}

/* Of the slots in `mask`, those whose rest has the remainder. Without further bits of remainder,
 * the byte has said it all, and no rest is read. */
TAMIS_INLINE uint64_t lines_with_rest(lines_view lines, const lines_place *place, uint64_t mask) {
    const lines_shape *const shape = lines.shape;
    if (lines_remainder_bits(lines) == LINE_BYTE_BITS) return mask;
    uint64_t kept = 0;
    for (; mask != 0; mask &= mask - 1) {
        uint64_t const rest = lines_rest(lines, place->bucket, bits_lowest(mask));
        if (rest_remainder(shape, rest) == place->remainder) kept |= mask & -mask;
    }
    return kept;
}

/* ------------------------------------------------------------------ lookups */

/* Functions with "far" in their names work on a tail. They are never inlined: 1.7% of the keys are
 * in tails at capacity, and the code for the other keys stays small. Functions that a lookup or a
 * removal calls get their arguments in registers: an argument in memory would be written for each
 * key, far or not. */

/* The first entry of the tail with the fingerprint, or false. *ret_n: how many there are. The shelf
 * first, then the attic: so the first entry is the first in the order of the tail. Where the attic
 * has more than one word of a key, they are next to each other. */
static __attribute__((noinline, unused)) bool
lines_far_find(lines_view lines, const lines_place *place, tail_entry *ret_first, unsigned *ret_n) {
    shelf_view const shelves = lines_shelves(lines);
    tail_parts const parts = tail_find(&shelves, place->bucket);
    unsigned const   key = lines_key(place);
    uint32_t         same = shelf_match(parts.line, parts.shelved, key, LINES_KEY_MASK);
    unsigned         n = 0;
    for (; same != 0; same &= same - 1) {
        tail_entry const entry = tail_shelved(&shelves, place->bucket, key, bits_lowest(same));
        if (rest_remainder(lines.shape, entry.rest) == place->remainder && n++ == 0)
            *ret_first = entry;
    }
    uint64_t at = 0;
    unsigned words = 0;
    if (parts.may_go_on) words = tail_words(&shelves, place->bucket, key, LINES_KEY_MASK, &at);
    for (; words != 0; words--, at++) {
        tail_entry const entry = { key, attic_rest(&shelves.attic, at), false, at };
        if (rest_remainder(lines.shape, entry.rest) == place->remainder && n++ == 0)
            *ret_first = entry;
    }
    *ret_n = n;
    return n != 0;
}

/* A lookup whose chain is in the tail. It gets the hash and not the place: the caller has both, but
 * a place is a struct in memory. Most absent keys end at the first test, without reading a rest. */
static __attribute__((noinline, unused)) bool
lines_far_holds(uint8_t *body, const lines_shape *shape, uint64_t hash) {
    lines_view const  lines = { body, shape, false };
    lines_place const place = lines_find(lines, hash);
    shelf_view const  shelves = lines_shelves(lines);
    tail_parts const  parts = tail_find(&shelves, place.bucket);
    uint32_t const same = shelf_match(parts.line, parts.shelved, lines_key(&place), LINES_KEY_MASK);
    tail_entry     entry;
    unsigned       n;
    if (same == 0 && !parts.may_go_on) return false;
    if (same != 0 && shape->remainder_bits == LINE_BYTE_BITS) return true;
    return lines_far_find(lines, &place, &entry, &n);
}

/* The slots of the key's run that have its byte; of a bare table, one of them or all. *ret_is_far:
 * its chain is in the tail, and the slots mean nothing. */
TAMIS_INLINE uint64_t lines_slots_here(lines_view lines, const lines_place *place,
                                       bool *ret_is_far) {
    const uint8_t *line = lines_at(lines, place->bucket);
    /* One address for all loads. GCC 12 would keep body and 64 x bucket as well, and use both in
     * one of the loads: line_has_id_bare() would have 100 instructions instead of 97. */
    TAMIS_OPAQUE(line);
    runs_hits const hits = runs_look_up(line, place->chain, place->byte, !lines.is_bare);
    *ret_is_far = hits.is_far;
    return hits.slots;
}

/* A whole lookup: where the key belongs, the slots of its chain with its byte, and of these the
 * rests. One cache line if no byte matches; few keys take the branch for tails. */
TAMIS_INLINE bool lines_holds(lines_view lines, uint64_t hash) {
    lines_place const place = lines_find(lines, hash);
    bool              is_far;
    uint64_t const    slots = lines_slots_here(lines, &place, &is_far);
    if (__builtin_expect(is_far, 0)) return lines_far_holds(lines.body, lines.shape, hash);
    return lines_with_rest(lines, &place, slots) != 0;
}

/* ------------------------------------------------------------------ adding and removing slots */

/* The slot after all entries of a run whose byte is not larger: the bytes of a run are sorted, so
 * it is the first from the start on that is larger, or the end. */
TAMIS_INLINE unsigned lines_slot_after(const uint8_t *line, const lines_place *place, run mine) {
    return bits_lowest((run_end(mine) | ~runs_up_to(line, place->byte)) & -mine.start);
}

/* The slot of a new entry: in its run, after all entries that are not larger. */
TAMIS_INLINE unsigned lines_slot_for(lines_view lines, const uint8_t *line,
                                     const lines_place *place, run mine, uint64_t rest) {
    unsigned slot = lines_slot_after(line, place, mine);
    if (lines_rest_bits(lines) == 0 || line[RUNS_AT + slot - 1] != place->byte) return slot;
    /* Entries with this byte are before that slot, in the order of their rests. Those with a larger
     * rest must come after the new one, so it goes that many slots further to the front. */
    uint64_t same = runs_match(line, place->byte) & run_mask_here(mine);
    for (; same != 0; same &= same - 1) {
        slot -= lines_rest(lines, place->bucket, bits_lowest(same)) > rest;
    }
    return slot;
}

/* Put a new entry into its slot in a line that has a free one. With the line that is drawn in
 * runs.h, an entry x of chain 4 whose byte comes after c:
 *
 *     before    occ  1 4 5    runs begin at 0 2 3, end 6    slots a b c d e f
 *     after     occ  1 4 5    runs begin at 0 2 4, end 7    slots a b c x d e f
 *
 * The rests move with their slots (rests.h). */
TAMIS_INLINE void lines_insert_at(lines_view lines, const lines_place *place, run mine, runs index,
                                  unsigned slot, uint64_t rest) {
    uint8_t *const line = lines_at(lines, place->bucket);
    unsigned const bits = lines_rest_bits(lines), used = runs_used(index);
    runs_open_slot(line, slot, place->byte);
    index.starts = runs_grown(index.starts, mine.start, mine.is_occupied);
    index.occ |= UINT64_C(1) << place->chain;
    runs_store(line, index);
    if (bits == 0) return;
    rests_row const row = lines_row(lines, place->bucket);
    rests_insert(&row, slot, 1, used, rest);
}

TAMIS_INLINE void lines_insert(lines_view lines, const lines_place *place, run mine, runs index,
                               uint64_t rest) {
    const uint8_t *const line = lines_at(lines, place->bucket);
    unsigned const       slot = lines_slot_for(lines, line, place, mine, rest);
    /* A slot behind the end is found only in a line that was not checked: its runs are not those
     * of its chains, or not sorted. */
    lines_insert_at(lines, place, mine, index, (unsigned)min_u64(slot, runs_used(index)), rest);
}

/* Remove a slot of a run. Returns the index of the line after that, so that the caller need not
 * load again what was just stored. A chain whose last slot goes is no longer marked. */
TAMIS_INLINE runs lines_delete(lines_view lines, uint64_t bucket, unsigned chain, run mine,
                               runs index, unsigned slot) {
    uint8_t *const line = lines_at(lines, bucket);
    unsigned const bits = lines_rest_bits(lines), used = runs_used(index);
    bool const     is_last = mine.start << 1 == mine.end; /* of its run */
    runs_close_slot(line, slot);
    index.starts = runs_shrunk(index.starts, mine.start);
    index.occ &= ~((uint64_t)is_last << chain);
    runs_store(line, index);
    if (bits == 0) return index;
    rests_row const row = lines_row(lines, bucket);
    rests_remove(&row, slot, 1, used);
    return index;
}

/* ------------------------------------------------------------------ one fingerprint, here */

/* The entries of a fingerprint in its line, if its chain is not in the tail. */
typedef struct lines_here {
    unsigned copies;
    uint64_t slots; /* where they are */
    run      mine;  /* its chain */
    runs     index; /* of the line */
} lines_here;

/* How many copies of a fingerprint do these slots of its run have? With counters there is one slot,
 * which counts them (I4 in line.c); without, each slot is a copy. */
TAMIS_INLINE unsigned lines_copies(lines_view lines, const lines_place *place, uint64_t slots) {
    if (lines_counter_bits(lines) == 0 || slots == 0) return bits_popcount(slots);
    return rest_copies(lines.shape, lines_rest(lines, place->bucket, bits_lowest(slots)));
}

/* What a change needs to know of its line, from one load of the index. */
TAMIS_INLINE lines_here lines_look_here(lines_view lines, const lines_place *place) {
    const uint8_t *const line = lines_at(lines, place->bucket);
    lines_here           here;
    here.index = runs_load(line);
    here.mine = runs_find(here.index, place->chain);
    here.slots = lines_with_rest(lines, place, runs_match(line, place->byte) & run_mask(here.mine));
    here.copies = lines_copies(lines, place, here.slots);
    return here;
}

/* Store another number of copies in the counter of the one entry that a fingerprint has. */
TAMIS_INLINE void lines_count_here(lines_view lines, const lines_place *place, uint64_t slots,
                                   unsigned copies) {
    field_set(lines.body, lines_rest_at(lines, place->bucket, bits_lowest(slots)),
              lines_counter_bits(lines), copies - 1);
}

#endif
