/* batches.h - chunks of keys in a table of lines, and both forms of all operations: for any
 * table, and for bare ones.
 *
 * The lines of a chunk are prefetched while the chunk before it is worked on. Lookups first read
 * all lines, then what only some keys need: rests, and shelves. Updates request the shelves of all
 * lines that are cut or full, and then go key by key (operations.h).
 */
#ifndef TAMIS_KINDS_LINE_BATCHES_H
#define TAMIS_KINDS_LINE_BATCHES_H

#include "operations.h"

/* ------------------------------------------------------------------ chunks */

/* Keys in a chunk, on processors that do not have many misses in flight (kind.h). The lines of the
 * next chunk are prefetched while this one is worked on. On a Zen 4, with 60 M keys, chunks of 32
 * have 0.7 of the speed of chunks of 16. On a Zen 5, chunks of 64 have 1.8 times that speed for
 * lookups, 1.4 and 1.3 times for adds and removals. Updates of tables with rests prefetch several
 * lines for each key: there long chunks are slower, 0.9 times for states. */
#define LINE_CHUNK 16

static_assert(LINE_CHUNK <= TAMIS_CHUNK, "the front door makes no larger chunks");

/* Up to this size a body is not prefetched: it is in the second-level cache, or seldom misses. With
 * 2 MiB of that cache, batches without fetching were 1.2 times as fast in bodies of 20 to 600 KiB
 * (updates up to 1.4 times), 0.9 times in 1.5 MiB, and 0.9 times in 4.6 MiB. Other processors have
 * 512 KiB or 1 MiB, a few older ones 256 KiB. */
#define LINE_CACHED_BYTES (UINT64_C(512) << 10)

static void line_hash_ids(const tamis_table *table, const uint64_t *ids, unsigned n,
                          uint64_t *ret_hash) {
    hash_ids(&table->ids, ids, n, ret_hash);
}

/* Updates also change the rests, which are asked for together with the line. Not in states: a put
 * or a move mostly changes one rest, and line_fetch_values() asks for just that. */
TAMIS_INLINE void line_fetch_as(const tamis_table *table, const uint64_t *hash, unsigned n,
                                bool is_update, bool is_bare) {
    lines_view const lines = line_view_as(table, is_bare);
    bool const       has_rests = lines_rest_bits(lines) != 0 && table->values == 0;
    if (table->body_bytes <= LINE_CACHED_BYTES) return;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const       bucket = fastrange(hash[i], lines.shape->buckets);
        const uint8_t *const line = lines_at(lines, bucket);
        if (is_update)
            prefetch_to_write(line);
        else
            prefetch_to_read(line);
        if (is_update && has_rests) lines_fetch_rests(lines, bucket);
    }
}

/* Prefetch the shelves that updates of these keys may need. Their lines have arrived, and say
 * whether they are cut or full. */
TAMIS_INLINE void line_fetch_tails(const tamis_table *table, const uint64_t *hash, unsigned n) {
    lines_view const lines = line_view(table);
    if (table->body_bytes <= LINE_CACHED_BYTES) return;
    for (unsigned i = 0; i < n; i++)
        lines_fetch_tail(lines, fastrange(hash[i], lines.shape->buckets));
}

/* The tables that the keys of a chunk are in. A set in a step of growing has two: hashes below the
 * boundary are in view[1]. Others have a boundary of 0, which the compiler knows. */
typedef struct line_sides {
    lines_view view[2];
    uint64_t   boundary;
} line_sides;

TAMIS_INLINE line_sides line_one_side(const tamis_table *table) {
    return (line_sides){ { line_view(table), line_view(table) }, 0 };
}

TAMIS_INLINE lines_view line_side(const line_sides *sides, uint64_t hash) {
    return sides->view[hash < sides->boundary];
}

/* Keys of a chunk whose chains are in tails: all shelves are asked for before the first is read, so
 * no key waits for memory while others could ask for theirs. Bit i of a mask is key i. */
static __attribute__((noinline)) uint64_t line_has_far(const line_sides *sides,
                                                       const uint64_t *hash, uint64_t far) {
    uint64_t found = 0;
    for (uint64_t left = far; left != 0; left &= left - 1) {
        unsigned const   i = bits_lowest(left);
        lines_view const lines = line_side(sides, hash[i]);
        shelf_view const shelves = lines_shelves(lines);
        prefetch_to_read(shelf_line(&shelves, fastrange(hash[i], lines.shape->buckets)));
    }
    for (; far != 0; far &= far - 1) {
        unsigned const   i = bits_lowest(far);
        lines_view const lines = line_side(sides, hash[i]);
        found |= (uint64_t)lines_far_holds(lines.body, lines.shape, hash[i]) << i;
    }
    return found;
}

/* In two passes. The first reads the lines: a byte that matches asks for its rest, which is in
 * another cache line. The second reads the rests, which have arrived meanwhile. Keys whose chains
 * are in tails take a third pass (line_has_far). */
TAMIS_INLINE uint64_t line_has_chunk_in(const line_sides *sides, const uint64_t *hash, unsigned n) {
    lines_place place[TAMIS_CHUNK];
    uint64_t    slots[TAMIS_CHUNK], maybe = 0, found = 0, far = 0;
    for (unsigned i = 0; i < n; i++) {
        lines_view const lines = line_side(sides, hash[i]);
        bool             is_far;
        place[i] = lines_find(lines, hash[i]);
        slots[i] = lines_slots_here(lines, &place[i], &is_far);
        far |= (uint64_t)is_far << i;
        maybe |= (uint64_t)(slots[i] != 0) << i;
        if (slots[i] != 0) lines_fetch_rest(lines, &place[i], bits_lowest(slots[i]));
    }
    for (maybe &= ~far; maybe != 0; maybe &= maybe - 1) {
        unsigned const   i = bits_lowest(maybe);
        lines_view const lines = line_side(sides, hash[i]);
        found |= (uint64_t)(lines_with_rest(lines, &place[i], slots[i]) != 0) << i;
    }
    return far == 0 ? found : found | line_has_far(sides, hash, far);
}

static uint64_t line_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    line_sides const sides = line_one_side(table);
    return line_has_chunk_in(&sides, hash, n);
}

/* next: as many keys, whose lines are prefetched meanwhile; NULL, a constant: none. */
TAMIS_INLINE uint64_t line_has_bare_chunk(const tamis_table *table, const uint64_t *hash,
                                          unsigned n, const uint64_t *next) {
    lines_view const lines = line_view_as(table, true);
    uint64_t         found = 0, far = 0;
    /* Backwards: to push a bit into a mask is one instruction. */
    for (const uint64_t *key = hash + n; key != hash;) {
        bool              is_far;
        lines_place const place = lines_find(lines, *--key);
        if (next != NULL)
            prefetch_to_read(lines_at(lines, fastrange(next[key - hash], lines.shape->buckets)));
        found = 2 * found + (lines_slots_here(lines, &place, &is_far) != 0);
        far = 2 * far + is_far;
    }
    /* Slots of a far key mean nothing (runs.h), so the tail alone decides. */
    if (far == 0) return found;
    line_sides const sides = line_one_side(table);
    return (found & ~far) | line_has_far(&sides, hash, far);
}

static uint64_t line_has_chunk_bare(const tamis_table *table, const uint64_t *hash, unsigned n) {
    return line_has_bare_chunk(table, hash, n, NULL);
}

/* All chunks are of one size but the last, which is smaller: before that one, its lines are fetched
 * at once, and the loop needs no test for each key. */
static uint64_t line_has_rolling_bare(const tamis_table *table, const uint64_t *hash, unsigned n,
                                      const uint64_t *next, unsigned n_next) {
    if (n_next == n) return line_has_bare_chunk(table, hash, n, next);
    line_fetch_as(table, next, n_next, false, true);
    return line_has_bare_chunk(table, hash, n, NULL);
}

/* In order, and up to the first that is refused. The shelves that lines of the chunk may need are
 * asked for before the first key is added. */
TAMIS_INLINE unsigned line_add_chunk_as(tamis_table *table, const uint64_t *hash, unsigned n,
                                        bool is_bare) {
    const uint64_t *key = hash, *const end = hash + n;
    line_fetch_tails(table, hash, n);
    while (key != end && line_add_as(table, *key, is_bare, false) == TAMIS_OK) key++;
    return (unsigned)(key - hash);
}

/* In order, and to the last: a key that is absent or saturated does not stop the others. */
TAMIS_INLINE uint64_t line_remove_chunk_as(tamis_table *table, const uint64_t *hash, unsigned n,
                                           uint64_t *ret_saturated, bool is_bare) {
    uint64_t removed = 0, saturated = 0;
    line_fetch_tails(table, hash, n);
    for (unsigned i = 0; i < n; i++) {
        tamis_status const status = line_remove_as(table, hash[i], is_bare, false);
        removed |= (uint64_t)(status == TAMIS_OK) << i;
        saturated |= (uint64_t)(status == TAMIS_ERR_SATURATED) << i;
    }
    *ret_saturated = saturated;
    return removed;
}

/* ------------------------------------------------------------------ any table, and bare ones */

#define LINE_FORM(name, is_bare)                                                                  \
    static bool line_has##name(const tamis_table *table, uint64_t hash) {                         \
        return lines_holds(line_view_as(table, is_bare), hash);                                   \
    }                                                                                             \
    static bool line_has_id##name(const tamis_table *table, uint64_t id) {                        \
        return lines_holds(line_view_as(table, is_bare), hash_id(&table->ids, id));               \
    }                                                                                             \
    static tamis_status line_add_id##name(tamis_table *table, uint64_t id) {                      \
        return line_add_as(table, hash_id(&table->ids, id), is_bare, true);                       \
    }                                                                                             \
    static tamis_status line_remove_id##name(tamis_table *table, uint64_t id) {                   \
        return line_remove_as(table, hash_id(&table->ids, id), is_bare, true);                    \
    }                                                                                             \
    static tamis_status line_add##name(tamis_table *table, uint64_t hash) {                       \
        return line_add_as(table, hash, is_bare, false);                                          \
    }                                                                                             \
    static tamis_status line_remove##name(tamis_table *table, uint64_t hash) {                    \
        return line_remove_as(table, hash, is_bare, false);                                       \
    }                                                                                             \
    static void line_fetch##name(const tamis_table *table, const uint64_t *hash, unsigned n,      \
                                 bool is_update) {                                                \
        line_fetch_as(table, hash, n, is_update, is_bare);                                        \
    }                                                                                             \
    static void line_fetch_id##name(const tamis_table *table, uint64_t id) {                      \
        uint64_t const hash = hash_id(&table->ids, id);                                           \
        line_fetch_as(table, &hash, 1, false, is_bare);                                           \
    }                                                                                             \
    static unsigned line_add_chunk##name(tamis_table *table, const uint64_t *hash, unsigned n) {  \
        return line_add_chunk_as(table, hash, n, is_bare);                                        \
    }                                                                                             \
    static uint64_t line_remove_chunk##name(tamis_table *table, const uint64_t *hash, unsigned n, \
                                            uint64_t *ret_saturated) {                            \
        return line_remove_chunk_as(table, hash, n, ret_saturated, is_bare);                      \
    }

LINE_FORM(, false)
LINE_FORM(_bare, true)

#endif
