/* lines.h - a table whose buckets are cache lines, with what does not fit in them.
 *
 * A bucket is a line of chains of bytes (runs.h) and, where that is cut, a tail on the shelf that
 * 16 lines share, or in the attic (shelf.h). Beside each slot is its rest, a field in a plane of
 * its own: what the remainder has beyond its byte, a value, a counter. Asking reads the line, and
 * the rest only where the byte has matched.
 *
 * The rule that makes it all a function of what it holds: a bucket's entries are in the order of
 * (chain, byte, rest), the line has the first chains, as many as fit as a whole, and the tail the
 * others. So whatever comes or goes, at most the last run of the line moves out, or the first of
 * the tail moves in.
 */
#ifndef TAMIS_KINDS_LINE_LINES_H
#define TAMIS_KINDS_LINE_LINES_H

#include "runs.h"
#include "shelf.h"

#define LINES_BYTE_BITS 8
#define LINES_MAX_TAIL 200 /* entries of a tail; no honest one comes near */

/* How a body looks, and what its cells are; all of one type, to lie in a table's derived words. */
typedef struct lines_shape {
    uint64_t buckets, remainder_bits, counter_bits, value_bits, rest_bits;
    uint64_t shelves, words, count; /* where they begin, in bytes; the lines are first */
    uint64_t slot_rests, shelf_rests, word_rests; /* the same in bits */
    uint64_t homes, room, word_bits;              /* of the attic */
    uint64_t end;                                 /* of all, in bits */
} lines_shape;

/* A body and how it looks: what everything here works on. */
typedef struct lines {
    uint8_t           *body;
    const lines_shape *shape;
} lines;

/* ------------------------------------------------------------------ where a key belongs */

TAMIS_INLINE shelves lines_shelves(lines of) {
    const lines_shape *const s = of.shape;
    return (shelves){ .last = { .body = of.body,
                                .words = s->words,
                                .rests = s->word_rests,
                                .count = s->count,
                                .homes = s->homes,
                                .room = s->room,
                                .rest_bits = (unsigned)s->rest_bits,
                                .word_bits = (unsigned)s->word_bits },
                      .lines = s->shelves,
                      .rests = s->shelf_rests };
}

typedef struct lines_place {
    uint64_t bucket;
    uint64_t remainder; /* without the byte: the top of a rest */
    uint8_t  chain, byte;
} lines_place;

/* Line, chain and remainder are the digits of the hash, read as a fraction of 2^64. */
TAMIS_INLINE lines_place lines_find(lines of, uint64_t hash) {
    const lines_shape *const s = of.shape;
    lines_place              place;
    place.bucket = fastrange_next(&hash, s->buckets);
    place.chain = (uint8_t)fastrange_next(&hash, RUNS_CHAINS);
    place.byte = (uint8_t)(hash >> (64 - LINES_BYTE_BITS));
    place.remainder = hash << LINES_BYTE_BITS >> 1 >> (63 + LINES_BYTE_BITS - s->remainder_bits);
    return place;
}

TAMIS_INLINE uint8_t *lines_at(lines of, uint64_t bucket) {
    return of.body + bucket * TAMIS_LINE_BYTES;
}

TAMIS_INLINE unsigned lines_key(const lines_place *place) {
    return (unsigned)place->chain << LINES_BYTE_BITS | place->byte;
}

/* ------------------------------------------------------------------ rests */

/* From the highest bit: what is left of the remainder, the value, the copies less one. */

TAMIS_INLINE uint64_t lines_rest_at(lines of, uint64_t bucket, unsigned slot) {
    const lines_shape *const s = of.shape;
    return s->slot_rests + (bucket * RUNS_SLOTS + slot) * s->rest_bits;
}

TAMIS_INLINE uint64_t lines_rest(lines of, uint64_t bucket, unsigned slot) {
    return rest_get(of.body, lines_rest_at(of, bucket, slot), (unsigned)of.shape->rest_bits);
}

/* Ask for one of them, or for all of a bucket: an update moves those behind its own. */
TAMIS_INLINE void lines_fetch_rest(lines of, const lines_place *place, unsigned slot) {
    prefetch_to_read(of.body + lines_rest_at(of, place->bucket, slot) / 8);
}

TAMIS_INLINE void lines_fetch_rests(lines of, uint64_t bucket) {
    uint64_t const bits = 8 * TAMIS_LINE_BYTES, first = lines_rest_at(of, bucket, 0) / bits;
    uint64_t const last = lines_rest_at(of, bucket, RUNS_SLOTS) / bits;
    for (uint64_t i = first; i <= last; i++) prefetch_to_write(of.body + i * TAMIS_LINE_BYTES);
}

TAMIS_INLINE uint64_t rest_remainder(const lines_shape *s, uint64_t rest) {
    return rest >> (s->counter_bits + s->value_bits);
}

TAMIS_INLINE uint64_t rest_new(const lines_shape *s, uint64_t remainder, uint64_t value) {
    return remainder << (s->counter_bits + s->value_bits) | value << s->counter_bits;
}

TAMIS_INLINE unsigned rest_copies(const lines_shape *s, uint64_t rest) {
    return 1 + (unsigned)(rest & bits_low((unsigned)s->counter_bits));
}

/* Of the slots in `mask`, those whose rest has the remainder. */
TAMIS_INLINE uint64_t lines_with_rest(lines of, const lines_place *place, uint64_t mask) {
    const lines_shape *const s = of.shape;
    if (s->remainder_bits == LINES_BYTE_BITS) return mask;
    uint64_t kept = 0;
    for (; mask != 0; mask &= mask - 1) {
        uint64_t const rest = lines_rest(of, place->bucket, bits_lowest(mask));
        if (rest_remainder(s, rest) == place->remainder) kept |= mask & -mask;
    }
    return kept;
}

/* ------------------------------------------------------------------ asking */

/* The first entry of the tail with the fingerprint, or false; *ret_n is how many there are. */
static __attribute__((noinline, unused)) bool
lines_far_find(lines of, const lines_place *place, tail_entry *ret_first, unsigned *ret_n) {
    const lines_shape *const s = of.shape;
    shelves const            all = lines_shelves(of);
    unsigned const           key = lines_key(place);
    tail_cursor              cursor = tail_begin(&all, place->bucket);
    tail_entry               entry;
    unsigned                 n = 0;
    while (tail_next(&all, &cursor, &entry) && entry.key <= key) {
        if (entry.key != key || rest_remainder(s, entry.rest) != place->remainder) continue;
        if (n++ == 0) *ret_first = entry;
    }
    *ret_n = n;
    return n != 0;
}

static __attribute__((noinline, unused)) bool lines_far_holds(lines of, const lines_place *place) {
    tail_entry entry;
    unsigned   n;
    return lines_far_find(of, place, &entry, &n);
}

/* The slots of the line that have its byte, in its run. Or is its chain elsewhere? */
TAMIS_INLINE uint64_t lines_slots_here(lines of, const lines_place *place, bool *ret_is_far) {
    const uint8_t *const line = lines_at(of, place->bucket);
    run const            mine = runs_find(runs_load(line), place->chain);
    *ret_is_far = run_is_far(mine);
    return runs_match(line, place->byte) & run_mask(mine);
}

TAMIS_INLINE bool lines_holds(lines of, const lines_place *place) {
    bool           is_far;
    uint64_t const slots = lines_slots_here(of, place, &is_far);
    bool const     is_here = lines_with_rest(of, place, slots) != 0;
    return __builtin_expect(is_far, 0) ? lines_far_holds(of, place) : is_here;
}

/* ------------------------------------------------------------------ slots come and go */

/* Where in its run a new entry goes: behind those that are smaller. */
TAMIS_INLINE unsigned lines_slot_for(lines of, const uint8_t *line, const lines_place *place,
                                     run mine, uint64_t rest) {
    unsigned slot =
        bits_lowest(mine.start) + bits_popcount(runs_below(line, place->byte) & run_mask(mine));
    if (of.shape->rest_bits == 0) return slot;
    uint64_t same = runs_match(line, place->byte) & run_mask(mine);
    for (; same != 0; same &= same - 1) {
        slot += lines_rest(of, place->bucket, bits_lowest(same)) < rest;
    }
    return slot;
}

/* A new slot in a line that has a free one. */
TAMIS_INLINE void lines_insert(lines of, const lines_place *place, run mine, runs index,
                               uint64_t rest) {
    uint8_t *const line = lines_at(of, place->bucket);
    unsigned const slot = lines_slot_for(of, line, place, mine, rest), used = runs_used(index);
    unsigned const bits = (unsigned)of.shape->rest_bits;
    runs_open_slot(line, slot, place->byte);
    index.starts = runs_grown(index.starts, mine.start, !mine.is_occupied);
    index.occ |= UINT64_C(1) << place->chain;
    runs_store(line, index);
    if (bits == 0) return;
    uint64_t const at = lines_rest_at(of, place->bucket, slot);
    shift_open(of.body, at, lines_rest_at(of, place->bucket, used), bits);
    field_set(of.body, at, bits, rest);
}

/* Take a slot of a run away. */
TAMIS_INLINE runs lines_delete(lines of, uint64_t bucket, unsigned chain, run mine, runs index,
                               unsigned slot) {
    uint8_t *const line = lines_at(of, bucket);
    unsigned const bits = (unsigned)of.shape->rest_bits, used = runs_used(index);
    bool const     is_last = mine.start << 1 == mine.end;
    runs_close_slot(line, slot);
    index.starts = runs_shrunk(index.starts, mine.start, is_last);
    index.occ &= ~((uint64_t)is_last << chain);
    runs_store(line, index);
    if (bits != 0) {
        shift_close(of.body, lines_rest_at(of, bucket, slot), lines_rest_at(of, bucket, used),
                    bits);
    }
    return index;
}

/* ------------------------------------------------------------------ lines that are full */

/* The chain of the last run of a line; any, if it has none. */
TAMIS_INLINE unsigned lines_last_chain(runs index) {
    return bits_select(index.occ, runs_here(index) - 1) % 64;
}

/* Ask for the shelf of a line that is cut or full: an update is likely to need it. */
TAMIS_INLINE void lines_fetch_tail(lines of, uint64_t bucket) {
    runs const    index = runs_load(lines_at(of, bucket));
    shelves const all = lines_shelves(of);
    if (runs_are_cut(index) || runs_used(index) == RUNS_SLOTS)
        prefetch_to_write(shelf_line(&all, bucket));
}

/* The last run of a line moves to the tail, whole. There is room. The chain stays occupied. */
static __attribute__((unused)) void lines_cut_last(lines of, uint64_t bucket) {
    shelves const  all = lines_shelves(of);
    uint8_t *const line = lines_at(of, bucket);
    runs           index = runs_load(line);
    unsigned const chain = lines_last_chain(index), used = runs_used(index);
    uint64_t const below = index.starts & bits_low(used);
    unsigned const first = 63 - (unsigned)__builtin_clzll(below);
    unsigned const bits = all.last.rest_bits;
    for (unsigned slot = first; slot < used; slot++) {
        tail_add(&all, bucket, chain << LINES_BYTE_BITS | line[RUNS_AT + slot],
                 lines_rest(of, bucket, slot));
        line[RUNS_AT + slot] = 0;
        rest_set(of.body, lines_rest_at(of, bucket, slot), bits, 0);
    }
    index.starts = below; /* its start is the end now */
    runs_store(line, index);
}

/* How many entries the first chain of the tail has, up to one more than `most`. */
static __attribute__((unused)) unsigned lines_first_of_tail(const shelves *all, uint64_t bucket,
                                                            unsigned most) {
    tail_cursor cursor = tail_begin(all, bucket);
    tail_entry  first, entry;
    unsigned    n = 1;
    if (!tail_next(all, &cursor, &first)) return 0;
    while (n <= most && tail_next(all, &cursor, &entry) &&
           entry.key >> LINES_BYTE_BITS == first.key >> LINES_BYTE_BITS) {
        n++;
    }
    return n;
}

/* Bring back from the tail what has room in the line now. */
static __attribute__((noinline, unused)) void lines_pull_back(lines of, uint64_t bucket) {
    shelves const  all = lines_shelves(of);
    uint8_t *const line = lines_at(of, bucket);
    runs           index = runs_load(line);
    unsigned const bits = all.last.rest_bits;
    while (runs_are_cut(index)) {
        unsigned const used = runs_used(index), room = RUNS_SLOTS - used;
        unsigned const n = lines_first_of_tail(&all, bucket, room);
        if (n == 0 || n > room) return;
        for (unsigned i = 0; i < n; i++) {
            tail_entry entry;
            if (!tail_get(&all, bucket, 0, &entry)) return;
            line[RUNS_AT + used + i] = (uint8_t)entry.key;
            rest_set(of.body, lines_rest_at(of, bucket, used + i), bits, entry.rest);
            tail_remove(&all, bucket, &entry);
        }
        index.starts |= UINT64_C(1) << (used + n);
        runs_store(line, index);
    }
}

/* A new entry for a line that has no free slot, or for a chain beyond its cut. What moves to the
 * tail is the last run of the line, if the entry comes before it; that run and the entry, if it
 * belongs to it; or only the entry. */
static __attribute__((noinline, unused)) bool lines_far_insert(lines of, const lines_place *place,
                                                               uint64_t rest) {
    shelves const  all = lines_shelves(of);
    uint8_t *const line = lines_at(of, place->bucket);
    runs           index = runs_load(line);
    run const      mine = runs_find(index, place->chain);
    unsigned const last = lines_last_chain(index);
    unsigned const last_slots = bits_popcount(run_mask(runs_find(index, last)));
    bool const     is_before = run_is_here(mine) && place->chain < last;
    bool const     is_in_last = run_is_here(mine) && place->chain == last && mine.is_occupied;
    unsigned const moved = is_before ? last_slots : is_in_last ? last_slots + 1 : 1;
    tail_entry     entry;
    if (tail_get(&all, place->bucket, LINES_MAX_TAIL - moved, &entry)) return false;
    if (!tail_has_room(&all, place->bucket, moved)) return false;
    if (is_before || is_in_last) lines_cut_last(of, place->bucket);
    index = runs_load(line);
    if (is_before) {
        lines_insert(of, place, runs_find(index, place->chain), index, rest);
        return true;
    }
    tail_add(&all, place->bucket, lines_key(place), rest);
    index.occ |= UINT64_C(1) << place->chain;
    runs_store(line, index);
    return true;
}

/* ------------------------------------------------------------------ one fingerprint */

/* What a table has of a fingerprint. */
typedef struct lines_found {
    unsigned   copies;
    uint64_t   slots;  /* in the line */
    bool       is_far; /* or in the tail, and there */
    tail_entry entry;
    run        mine;
    runs       index;
} lines_found;

TAMIS_INLINE lines_found lines_look(lines of, const lines_place *place) {
    const lines_shape *const s = of.shape;
    const uint8_t *const     line = lines_at(of, place->bucket);
    lines_found              found;
    found.index = runs_load(line);
    found.mine = runs_find(found.index, place->chain);
    found.is_far = run_is_far(found.mine);
    found.slots = lines_with_rest(of, place, runs_match(line, place->byte) & run_mask(found.mine));
    found.copies = bits_popcount(found.slots);
    if (__builtin_expect(found.is_far, 0)) {
        tail_entry entry; /* not found.entry itself: what escapes cannot stay in registers */
        unsigned   entries;
        if (lines_far_find(of, place, &entry, &entries)) found.entry = entry;
        found.copies = entries;
        if (entries != 0 && s->counter_bits != 0) found.copies = rest_copies(s, entry.rest);
    } else if (s->counter_bits != 0 && found.copies != 0) {
        found.copies = rest_copies(s, lines_rest(of, place->bucket, bits_lowest(found.slots)));
    }
    return found;
}

/* Where the rest of what was found is. */
TAMIS_INLINE uint64_t lines_found_rest(lines of, const lines_place *place,
                                       const lines_found *found) {
    if (!found->is_far) return lines_rest_at(of, place->bucket, bits_lowest(found->slots));
    shelves const all = lines_shelves(of);
    return found->entry.is_shelved
               ? shelf_rest_at(&all, place->bucket, (unsigned)found->entry.place)
               : all.last.rests + found->entry.place * all.last.rest_bits;
}

TAMIS_INLINE void lines_set_copies(lines of, const lines_place *place, const lines_found *found,
                                   unsigned copies) {
    field_set(of.body, lines_found_rest(of, place, found), (unsigned)of.shape->counter_bits,
              copies - 1);
}

TAMIS_INLINE bool lines_new_entry(lines of, const lines_place *place, const lines_found *found,
                                  uint64_t rest) {
    bool const is_easy = run_is_here(found->mine) && runs_used(found->index) < RUNS_SLOTS;
    if (__builtin_expect(!is_easy, 0)) return lines_far_insert(of, place, rest);
    lines_insert(of, place, found->mine, found->index, rest);
    return true;
}

/* The entry of the tail is gone. */
static __attribute__((noinline, unused)) void lines_far_take(lines of, const lines_place *place,
                                                             tail_entry gone) {
    shelves const  all = lines_shelves(of);
    uint8_t *const line = lines_at(of, place->bucket);
    runs           index = runs_load(line);
    tail_entry     entry;
    bool           is_left = false;
    tail_remove(&all, place->bucket, &gone);
    tail_cursor cursor = tail_begin(&all, place->bucket);
    while (!is_left && tail_next(&all, &cursor, &entry)) {
        is_left = entry.key >> LINES_BYTE_BITS == place->chain;
    }
    if (!is_left) index.occ &= ~(UINT64_C(1) << place->chain);
    runs_store(line, index);
    lines_pull_back(of, place->bucket);
}

/* Take away one entry of what was found. */
TAMIS_INLINE void lines_take(lines of, const lines_place *place, const lines_found *found) {
    if (__builtin_expect(found->is_far, 0)) {
        lines_far_take(of, place, found->entry);
        return;
    }
    runs const index = lines_delete(of, place->bucket, place->chain, found->mine, found->index,
                                    bits_lowest(found->slots));
    if (__builtin_expect(runs_are_cut(index), 0)) lines_pull_back(of, place->bucket);
}

#endif
