/* shelf.h - where the chains go that find no room in their line: one more line for 16 buckets.
 *
 * The tail of a bucket is its entries beyond the cut of its line (runs.h), in order. A shelf is a
 * line that 16 neighbouring buckets share:
 *
 *     8 bytes    for each bucket in turn as many ones as its tail has entries here, then a zero
 *     56 bytes   28 keys of 16 bits: the tails of bucket 0, 1, ..., each key a chain and a byte
 *
 * It holds the first 28 entries of all these tails; the later ones are in the attic (attic.h). That
 * is the rule of the line once more: the shelf depends on what the buckets hold and on no history.
 * An entry more sends at most one to the attic, an entry less calls at most one back.
 *
 * Beside each key is a field of `rest_bits` bits: longer remainders, counters, values.
 */
#ifndef TAMIS_KINDS_LINE_SHELF_H
#define TAMIS_KINDS_LINE_SHELF_H

#include "attic.h"
#include "core/shift.h"

#define SHELF_BUCKETS ATTIC_GROUP
#define SHELF_KEYS 28
#define SHELF_AT 8 /* byte of the first key */

static_assert(SHELF_BUCKETS + SHELF_KEYS <= 64 && SHELF_AT + 2 * SHELF_KEYS == 64, "one line");

typedef struct shelves {
    attic    last;
    uint64_t lines; /* byte of the first shelf */
    uint64_t rests; /* bit of the first rest */
} shelves;

TAMIS_INLINE uint8_t *shelf_line(const shelves *of, uint64_t bucket) {
    return of->last.body + of->lines + bucket / SHELF_BUCKETS * TAMIS_LINE_BYTES;
}

/* Bit of the i-th rest of the shelf of a bucket. */
TAMIS_INLINE uint64_t shelf_rest_at(const shelves *of, uint64_t bucket, unsigned i) {
    return of->rests + (bucket / SHELF_BUCKETS * SHELF_KEYS + i) * of->last.rest_bits;
}

/* ------------------------------------------------------------------ the entries of a bucket */

/* The ones and zeros of a shelf. One that was checked has no more ones than keys. */
TAMIS_INLINE uint64_t shelf_ones(const uint8_t *line) {
    uint64_t const ones = le64_load(line) & bits_low(SHELF_BUCKETS + SHELF_KEYS);
    return bits_popcount(ones) <= SHELF_KEYS ? ones : 0;
}

/* Those on the shelf: keys first..first+n-1; the ones that tell end at bit `end`. */
typedef struct shelf_part {
    unsigned first, n, end;
} shelf_part;

TAMIS_INLINE shelf_part shelf_find(uint64_t ones, uint64_t bucket) {
    unsigned const which = bucket % SHELF_BUCKETS;
    unsigned const start = which == 0 ? 0 : bits_select(~ones, which - 1) + 1;
    unsigned const end = bits_select(~ones, which);
    return (shelf_part){ start - which, end - start, end };
}

TAMIS_INLINE unsigned shelf_used(uint64_t ones) {
    return bits_popcount(ones);
}

/* An entry of a tail, on the shelf or in the attic. */
typedef struct tail_entry {
    unsigned key; /* chain << 8 | byte */
    uint64_t rest;
    bool     is_shelved;
    uint64_t place; /* number on the shelf, or place in the attic */
} tail_entry;

/* On the way through the tail of a bucket. */
typedef struct tail_cursor {
    uint64_t bucket;
    unsigned at, end;     /* on the shelf */
    bool     has_more;    /* the shelf is full, so there may be some in the attic */
    bool     is_in_attic; /* and there */
    uint64_t place;
} tail_cursor;

TAMIS_INLINE tail_cursor tail_begin(const shelves *of, uint64_t bucket) {
    uint64_t const   ones = shelf_ones(shelf_line(of, bucket));
    shelf_part const part = shelf_find(ones, bucket);
    return (tail_cursor){ .bucket = bucket,
                          .at = part.first,
                          .end = part.first + part.n,
                          .has_more = shelf_used(ones) == SHELF_KEYS };
}

/* The next entry. False: there is none. */
static __attribute__((unused)) bool tail_next(const shelves *of, tail_cursor *cursor,
                                              tail_entry *ret_entry) {
    const attic *const last = &of->last;
    if (cursor->at < cursor->end) {
        unsigned const at = cursor->at++;
        uint64_t const rest = shelf_rest_at(of, cursor->bucket, at);
        unsigned const key = le16_load(shelf_line(of, cursor->bucket) + SHELF_AT + 2 * at);
        *ret_entry = (tail_entry){ key, rest_get(last->body, rest, last->rest_bits), true, at };
        return true;
    }
    if (!cursor->has_more) return false;
    if (!cursor->is_in_attic) cursor->place = attic_find(last, attic_make_word(cursor->bucket, 0));
    cursor->is_in_attic = true;
    uint64_t const word = attic_word(last, cursor->place);
    if (word == 0 || attic_bucket(word) != cursor->bucket) return false;
    *ret_entry = (tail_entry){ (unsigned)(word & bits_low(ATTIC_OWN_BITS)),
                               attic_rest(last, cursor->place), false, cursor->place };
    cursor->place++;
    return true;
}

/* The i-th entry of a bucket's tail. False: it has no more. */
static __attribute__((unused)) bool tail_get(const shelves *of, uint64_t bucket, unsigned i,
                                             tail_entry *ret_entry) {
    tail_cursor cursor = tail_begin(of, bucket);
    unsigned    skipped = (unsigned)min_u64(i, cursor.end - cursor.at);
    cursor.at += skipped;
    while (skipped++ < i) {
        if (!tail_next(of, &cursor, ret_entry)) return false;
    }
    return tail_next(of, &cursor, ret_entry);
}

/* ------------------------------------------------------------------ entries come and go */

/* Is there room for n more entries of the buckets that share a shelf with this one? */
TAMIS_INLINE bool tail_has_room(const shelves *of, uint64_t bucket, unsigned n) {
    unsigned const total = shelf_used(shelf_ones(shelf_line(of, bucket))) + n;
    return total <= SHELF_KEYS || attic_has_room(&of->last, min_u64(total - SHELF_KEYS, n));
}

/* Put an entry at place `at` of a shelf that is not full; the later ones move up. */
static __attribute__((unused)) void shelf_insert(const shelves *of, uint64_t bucket, unsigned at,
                                                 unsigned key, uint64_t rest) {
    uint8_t *const line = shelf_line(of, bucket), *const keys = line + SHELF_AT;
    uint64_t const ones = shelf_ones(line), end = UINT64_C(1) << shelf_find(ones, bucket).end;
    unsigned const used = shelf_used(ones), bits = of->last.rest_bits;
    memmove(keys + 2 * (at + 1), keys + 2 * at, 2 * (size_t)(used - at));
    le16_store(keys + 2 * at, (uint16_t)key);
    le64_store(line, (ones & (end - 1)) | end | (ones & -end) << 1);
    if (bits == 0) return;
    shift_open(of->last.body, shelf_rest_at(of, bucket, at), shelf_rest_at(of, bucket, used), bits);
    field_set(of->last.body, shelf_rest_at(of, bucket, at), bits, rest);
}

/* Take entry `at` of the bucket off its shelf. */
static __attribute__((unused)) void shelf_delete(const shelves *of, uint64_t bucket, unsigned at) {
    uint8_t *const line = shelf_line(of, bucket), *const keys = line + SHELF_AT;
    uint64_t const ones = shelf_ones(line), end = UINT64_C(1) << shelf_find(ones, bucket).end;
    unsigned const used = shelf_used(ones), bits = of->last.rest_bits;
    memmove(keys + 2 * at, keys + 2 * (at + 1), 2 * (size_t)(used - at - 1));
    le16_store(keys + 2 * (used - 1), 0);
    le64_store(line, (ones & (end / 2 - 1)) | (ones & -end) >> 1);
    if (bits == 0) return;
    shift_close(of->last.body, shelf_rest_at(of, bucket, at), shelf_rest_at(of, bucket, used),
                bits);
}

/* The last entry of a full shelf goes to the attic. */
static __attribute__((unused)) void shelf_evict(const shelves *of, uint64_t bucket) {
    const uint8_t *const line = shelf_line(of, bucket);
    uint64_t const       ones = shelf_ones(line), first = bucket / SHELF_BUCKETS * SHELF_BUCKETS;
    unsigned const       top = 63 - (unsigned)__builtin_clzll(ones);
    uint64_t const       owner = first + bits_rank(~ones, top); /* zeros below the last one */
    unsigned const       at = SHELF_KEYS - 1, key = le16_load(line + SHELF_AT + 2 * at);
    uint64_t const       rest =
        rest_get(of->last.body, shelf_rest_at(of, bucket, at), of->last.rest_bits);
    shelf_delete(of, owner, at);
    attic_add(&of->last, attic_make_word(owner, key), rest);
}

/* The first entry of the attic that belongs to this shelf comes back, if there is one. */
static __attribute__((unused)) void shelf_recall(const shelves *of, uint64_t bucket) {
    uint64_t const first = bucket / SHELF_BUCKETS * SHELF_BUCKETS;
    uint64_t const place = attic_find(&of->last, attic_make_word(first, 0));
    uint64_t const word = attic_word(&of->last, place);
    if (word == 0 || attic_bucket(word) / SHELF_BUCKETS != bucket / SHELF_BUCKETS) return;
    uint64_t const rest = attic_rest(&of->last, place);
    attic_take(&of->last, place);
    shelf_insert(of, attic_bucket(word), SHELF_KEYS - 1,
                 (unsigned)(word & bits_low(ATTIC_OWN_BITS)), rest);
}

/* Add an entry to the tail of a bucket, where it belongs in the order. There is room. */
static __attribute__((unused)) void tail_add(const shelves *of, uint64_t bucket, unsigned key,
                                             uint64_t rest) {
    uint64_t const   ones = shelf_ones(shelf_line(of, bucket));
    shelf_part const part = shelf_find(ones, bucket);
    tail_cursor      cursor = tail_begin(of, bucket);
    tail_entry       other;
    unsigned         i = 0;
    while (i < part.n && tail_next(of, &cursor, &other) &&
           (other.key < key || (other.key == key && other.rest < rest))) {
        i++;
    }
    bool const is_full = shelf_used(ones) == SHELF_KEYS;
    if (is_full && part.first + i == SHELF_KEYS) {
        attic_add(&of->last, attic_make_word(bucket, key), rest);
        return;
    }
    if (is_full) shelf_evict(of, bucket);
    shelf_insert(of, bucket, part.first + i, key, rest);
}

static __attribute__((unused)) void tail_remove(const shelves *of, uint64_t bucket,
                                                const tail_entry *entry) {
    if (!entry->is_shelved) {
        attic_take(&of->last, entry->place);
        return;
    }
    bool const was_full = shelf_used(shelf_ones(shelf_line(of, bucket))) == SHELF_KEYS;
    shelf_delete(of, bucket, (unsigned)entry->place);
    if (was_full) shelf_recall(of, bucket);
}

/* ------------------------------------------------------------------ checking */

/* The shelf of bucket `first` and those behind it, of `buckets` in all: no more ones than keys,
 * none for buckets that are not, zeros behind, and the attic only behind a full one. Counts what
 * the attic has of it. */
static __attribute__((unused)) bool shelf_is_whole(const shelves *of, uint64_t first,
                                                   uint64_t buckets, uint64_t *sent) {
    const uint8_t *const line = shelf_line(of, first);
    uint64_t const       ones = le64_load(line), here = min_u64(buckets - first, SHELF_BUCKETS);
    unsigned const       used = shelf_used(ones);
    if (used > SHELF_KEYS || ones >> (used + here - 1) != 0) return false;
    for (unsigned i = used; i < SHELF_KEYS; i++) {
        if (le16_load(line + SHELF_AT + 2 * i) != 0) return false;
    }
    if (!field_is_zero(of->last.body, shelf_rest_at(of, first, used),
                       shelf_rest_at(of, first, SHELF_KEYS)))
        return false;
    uint64_t place = attic_find(&of->last, attic_make_word(first, 0)), word;
    while ((word = attic_word(&of->last, place++)) != 0 &&
           attic_bucket(word) / SHELF_BUCKETS == first / SHELF_BUCKETS) {
        if (used < SHELF_KEYS) return false;
        ++*sent;
    }
    return true;
}

#endif
