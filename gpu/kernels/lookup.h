/* lookup.h - find the entries of a key in a table of lines.
 *
 * It is the lookup of kinds/line/lines.h, but it loads memory differently. A processor compares the
 * whole line with
 * one vector instruction; a GPU counts transactions of 32 bytes. So here the index of a line is one
 * aligned load of 16 bytes, and then only the words with the bytes of the run are loaded: for most
 * absent keys the first half of the line is enough.
 */
#ifndef TAMIS_GPU_LOOKUP_H
#define TAMIS_GPU_LOOKUP_H

#include "shim.h"
#include "siphash.h"
#include "table.h"

TAMIS_INLINE uint64_t gpu_hash(const gpu_table *table, uint64_t key, uint64_t is_hash) {
    if (is_hash) return key;
    if (table->is_sip) return siphash_id(table->sip_low, table->sip_high, key);
    return hash_id(&table->ids, key);
}

TAMIS_INLINE lines_view gpu_view(const gpu_table *table, bool is_bare) {
    return (lines_view){ table->body, &table->lines, is_bare };
}

/* The index of a line, from its first 16 bytes. */
TAMIS_INLINE runs gpu_index(gpu_pair head) {
    uint64_t const starts = (head.high & bits_low(48)) << 2 | head.low >> LINE_CHAINS;
    return (runs){ head.low & bits_low(LINE_CHAINS), starts << 1 | 1 };
}

/* The result: how many entries have the fingerprint, and the rest of the first of them. */
typedef struct gpu_found {
    unsigned entries;
    uint64_t rest;
} gpu_found;

/* Add an entry with the byte and the chain of the key to the result, if its rest matches. */
TAMIS_INLINE void gpu_note(lines_view lines, const lines_place *place, uint64_t rest_at,
                           gpu_found *found) {
    uint64_t rest = 0;
    if (!lines.is_bare) {
        rest = rest_get(lines.body, rest_at, lines_rest_bits(lines));
        if (rest_remainder(lines.shape, rest) != place->remainder) return;
    }
    if (found->entries++ == 0) found->rest = rest;
}

/* Which of the slots first..end-1 have the byte? Bit i: slot first + i. */
TAMIS_INLINE uint64_t gpu_match(const uint8_t *line, gpu_pair head, unsigned first, unsigned end,
                                uint8_t byte) {
    uint64_t matches = 0;
    for (unsigned slot = first; slot < end;) {
        unsigned const at = RUNS_AT + slot, skip = at % 8;
        unsigned const n = (unsigned)min_u64(8 - skip, end - slot);
        uint64_t const word = at < 16 ? head.high : gpu_load64(line + (at - skip));
        uint64_t const same = lanes_equal(word >> 8 * skip, byte, LANES_BYTES, 8) >> 7;
        matches |= (lanes_gather8(same) & bits_low(n)) << (slot - first);
        slot += n;
    }
    return matches;
}

/* Like shelf_ones(), with one load. */
TAMIS_INLINE uint64_t gpu_shelf_ones(const uint8_t *shelf) {
    uint64_t const ones = gpu_load64(shelf) & bits_low(SHELF_BUCKETS + SHELF_KEYS);
    return bits_popcount(ones) <= SHELF_KEYS ? ones : 0;
}

/* Search the tail of a bucket: its part of the shelf, and the attic if it may have words there. */
TAMIS_INLINE gpu_found gpu_look_far(lines_view lines, const lines_place *place) {
    shelf_view const     shelves = lines_shelves(lines);
    const uint8_t *const shelf = shelf_line(&shelves, place->bucket);
    shelf_part const     part = shelf_find(gpu_shelf_ones(shelf), place->bucket);
    unsigned const       key = lines_key(place);
    gpu_found            found = { 0, 0 };
    for (unsigned i = part.first; i < part.first + part.n; i++) {
        if (gpu_load16(shelf + SHELF_AT + 2 * i) == key)
            gpu_note(lines, place, shelf_rest_at(&shelves, place->bucket, i), &found);
    }
    if (part.first + part.n < SHELF_KEYS) return found;
    uint64_t at = 0;
    unsigned n = tail_words(&shelves, place->bucket, key, LINES_KEY_MASK, &at);
    for (; n != 0; n--, at++) {
        gpu_note(lines, place, shelves.attic.rests + at * shelves.attic.rest_bits, &found);
    }
    return found;
}

TAMIS_INLINE gpu_found gpu_look(lines_view lines, const lines_place *place) {
    gpu_pair const head = gpu_load_pair(lines_at(lines, place->bucket));
    runs const     index = gpu_index(head);
    gpu_found      found = { 0, 0 };
    unsigned const rank = bits_popcount(bits_below(index.occ, place->chain));
    if ((index.occ >> place->chain & 1) == 0) return found;
    bits_pair const two = bits_two(index.starts, rank);
    if (two.second == 0) return gpu_look_far(lines, place);
    unsigned const first = bits_lowest(two.first);
    uint64_t       matches = gpu_match(lines_at(lines, place->bucket), head, first,
                                       bits_lowest(two.second), place->byte);
    if (lines.is_bare) return (gpu_found){ bits_popcount(matches), 0 };
    for (; matches != 0; matches &= matches - 1) {
        gpu_note(lines, place, lines_rest_at(lines, place->bucket, first + bits_lowest(matches)),
                 &found);
    }
    return found;
}

/* ------------------------------------------------------------------ kernels */

/* This thread's first item, and the step to its next. */
TAMIS_INLINE uint64_t gpu_first(void) {
    return (uint64_t)gpu_block() * gpu_threads() + gpu_thread();
}
TAMIS_INLINE uint64_t gpu_step(void) {
    return (uint64_t)gpu_blocks() * gpu_threads();
}

TAMIS_INLINE uint64_t gpu_count_of(const gpu_table *table, gpu_found found) {
    if (found.entries == 0) return 0;
    uint64_t const copies =
        table->lines.counter_bits == 0 ? found.entries : rest_copies(&table->lines, found.rest);
    return copies >= table->most ? UINT64_MAX : copies;
}

/* The value of a state; UINT64_MAX: the key has none. */
TAMIS_INLINE uint64_t gpu_value_of(const gpu_table *table, gpu_found found) {
    if (found.entries == 0) return UINT64_MAX;
    return found.rest >> table->lines.counter_bits & bits_low((unsigned)table->state_bits);
}

typedef enum gpu_question { GPU_HAS, GPU_COUNT, GPU_GET } gpu_question;

/* The question and is_bare are constants of each kernel. A thread handles one key at a time. With
 * loads of 2, 4 or 8 keys in flight it needs more registers, so fewer threads run, and an H200 was
 * slower in all tables (10^8 keys, present: 41, 39, 34 and 16 G/s). */
TAMIS_INLINE void gpu_ask_lines(const gpu_ask *ask, gpu_question question, bool is_bare) {
    lines_view const lines = gpu_view(&ask->table, is_bare);
    for (uint64_t i = gpu_first(); i < ask->keys.n; i += gpu_step()) {
        uint64_t const    hash = gpu_hash(&ask->table, ask->keys.data[i], ask->keys.are_hashes);
        lines_place const place = lines_find(lines, hash);
        gpu_found const   found = gpu_look(lines, &place);
        if (question == GPU_HAS) ask->ret_has[i] = found.entries != 0;
        if (question == GPU_COUNT) ask->ret_counts[i] = gpu_count_of(&ask->table, found);
        if (question == GPU_GET) ask->ret_counts[i] = gpu_value_of(&ask->table, found);
    }
}

#endif
