/* shelf.h - room for the chains that do not fit into their line: one more line for 16 buckets.
 *
 * The tail of a bucket is its entries beyond the cut of its line (runs.h), in order. A shelf is a
 * cache line that 16 neighbouring buckets share:
 *
 *     byte  0         8                                              64
 *           +---------+----------------------------------------------+
 *           | ones    | 28 keys of 16 bits, each a chain and a byte  |
 *           +---------+----------------------------------------------+
 *
 *     ones: for each bucket in turn a one for each of its entries here, then a zero
 *           1 1 0 | 0 | 1 0 | ...      bucket 0 has keys 0 and 1, bucket 1 none, bucket 2 key 2
 *
 * It holds the first 28 entries of these 16 tails; the later ones are in the attic (attic.h). This
 * is the rule of a line once more: the shelf depends on what the buckets hold and not on their
 * history. One entry more sends at most one to the attic; one entry less calls at most one back.
 *
 * Beside each key is its rest, a field of `rest_bits` bits in a plane of its own (lines.h).
 */
#ifndef TAMIS_KINDS_LINE_SHELF_H
#define TAMIS_KINDS_LINE_SHELF_H

#include "attic.h"
#include "rests.h"
#include "slots.h"

#define SHELF_AT 8 /* byte of the first key */

static_assert(SHELF_BUCKETS + SHELF_KEYS <= 64 && SHELF_AT + 2 * SHELF_KEYS == 64, "one line");

/* All shelves of a body, and the attic after them. In a window (sharing.h) the attic is in another
 * body, `away` bytes from this one. */
typedef struct shelf_view {
    uint8_t   *body;
    uint64_t   away;
    attic_view attic;
    uint64_t   lines;  /* byte of the first shelf */
    uint64_t   rests;  /* bit of the first rest of the first shelf */
    uint64_t   stride; /* bits from there to the next shelf's */
} shelf_view;

TAMIS_INLINE uint8_t *shelf_line(const shelf_view *shelves, uint64_t bucket) {
    return shelves->body + shelves->lines + bucket / SHELF_BUCKETS * TAMIS_LINE_BYTES;
}

/* The bit of the i-th rest on the shelf of a bucket. */
TAMIS_INLINE uint64_t shelf_rest_at(const shelf_view *shelves, uint64_t bucket, unsigned i) {
    return shelves->rests + bucket / SHELF_BUCKETS * shelves->stride +
           (uint64_t)i * shelves->attic.rest_bits;
}

/* All rests of a shelf, which begin at a word. */
TAMIS_INLINE rests_row shelf_row(const shelf_view *shelves, uint64_t bucket) {
    unsigned const bits = shelves->attic.rest_bits;
    return (rests_row){ shelves->body + shelf_rest_at(shelves, bucket, 0) / 8,
                        (unsigned)(shelves->stride / 64), bits, 0, SHELF_KEYS * bits };
}

/* ------------------------------------------------------------------ the ones of a shelf */

/* A valid shelf has no more ones than keys. One that has is not ours (its file was opened without
 * being checked): it is read as empty, so that no key beyond the 28 is ever looked at. */
TAMIS_INLINE uint64_t shelf_ones(const uint8_t *line) {
    uint64_t const ones = le64_load(line) & bits_low(SHELF_BUCKETS + SHELF_KEYS);
    return bits_popcount(ones) <= SHELF_KEYS ? ones : 0;
}

TAMIS_INLINE unsigned shelf_used(uint64_t ones) {
    return bits_popcount(ones);
}

/* What a bucket has on its shelf: the keys first..first+n-1. Its ones end before bit `end`, which
 * is its zero. */
typedef struct shelf_part {
    unsigned first, n, end;
} shelf_part;

/* A zero before the first bucket makes all buckets alike: the ones of a bucket are between two
 * zeros that follow each other. Up to zero number i there are i other zeros, so that the keys
 * before it are its position less i. With the shelf at the top, where bit 0 is on the left:
 *
 *     ones            1 1 0 0 1 0        the zeros of buckets 0, 1 and 2 are at the bits 2, 3 and 5
 *     ~ones << 1 | 1  1 0 0 1 1 0 1      one further, after the zero that was put before all
 *
 * For bucket 2, bits_two() finds the bits 4 and 6: its ones begin at bit 4 and its zero is bit 5.
 * So it has one key, number 4 - 2 = 2. */
TAMIS_INLINE shelf_part shelf_find(uint64_t ones, uint64_t bucket) {
    unsigned const  which = bucket % SHELF_BUCKETS;
    bits_pair const two = bits_two(~ones << 1 | 1, which);
    unsigned const  start = bits_lowest(two.first), end = bits_lowest(two.second) - 1;
    return (shelf_part){ start - which, end - start, end };
}

/* Which keys of a bucket are the same as `key` in the bits of `mask`? Bit i: key i of the shelf. */
TAMIS_INLINE uint32_t shelf_match(const uint8_t *line, shelf_part part, unsigned key,
                                  unsigned mask) {
    uint32_t const own = (uint32_t)(bits_low(part.first + part.n) & ~bits_low(part.first));
    /* Two loads of 16 keys cover the 28. The second begins at byte 32, which is key 12, so the
     * masks overlap and agree there. */
    uint64_t const low = lanes_equal_16x16(line + SHELF_AT, (uint16_t)key, (uint16_t)mask);
    uint64_t const high = lanes_equal_16x16(line + 32, (uint16_t)key, (uint16_t)mask);
    return (uint32_t)(low | high << (32 - SHELF_AT) / 2) & own;
}

/* How many keys of a bucket are below `key`? */
TAMIS_INLINE unsigned shelf_below(const uint8_t *line, shelf_part part, unsigned key) {
    uint32_t const own = (uint32_t)(bits_low(part.first + part.n) & ~bits_low(part.first));
    uint64_t const low = lanes_below_16x16(line + SHELF_AT, (uint16_t)key);
    uint64_t const high = lanes_below_16x16(line + 32, (uint16_t)key);
    return bits_popcount((low | high << (32 - SHELF_AT) / 2) & own);
}

/* ------------------------------------------------------------------ going through a tail */

/* An entry of a tail, on the shelf or in the attic. */
typedef struct tail_entry {
    unsigned key; /* chain << 8 | byte */
    uint64_t rest;
    bool     is_shelved;
    uint64_t place; /* its number on the shelf, or its place in the attic */
} tail_entry;

/* The bit of its rest, counted from the body of the shelf. */
TAMIS_INLINE uint64_t tail_rest_at(const shelf_view *shelves, uint64_t bucket,
                                   const tail_entry *entry) {
    return entry->is_shelved
               ? shelf_rest_at(shelves, bucket, (unsigned)entry->place)
               : shelves->attic.rests + entry->place * shelves->attic.rest_bits + 8 * shelves->away;
}

typedef struct tail_cursor {
    uint64_t bucket;
    unsigned at, end;     /* the keys that are left on the shelf */
    bool     has_more;    /* the shelf is full, so the tail may continue in the attic */
    bool     is_in_attic; /* and the cursor is there, */
    uint64_t place;       /* at this place */
} tail_cursor;

/* At the first entry of a tail. The attic is not searched before the keys of the shelf are done. */
TAMIS_INLINE tail_cursor tail_begin(const shelf_view *shelves, uint64_t bucket) {
    uint64_t const   ones = shelf_ones(shelf_line(shelves, bucket));
    shelf_part const part = shelf_find(ones, bucket);
    return (tail_cursor){ .bucket = bucket,
                          .at = part.first,
                          .end = part.first + part.n,
                          .has_more = shelf_used(ones) == SHELF_KEYS };
}

/* The next entry, or false: there are no more. */
static __attribute__((unused)) bool tail_next(const shelf_view *shelves, tail_cursor *cursor,
                                              tail_entry *ret_entry) {
    const attic_view *const attic = &shelves->attic;
    if (cursor->at < cursor->end) {
        unsigned const at = cursor->at++;
        uint64_t const rest = shelf_rest_at(shelves, cursor->bucket, at);
        unsigned const key = le16_load(shelf_line(shelves, cursor->bucket) + SHELF_AT + 2 * at);
        *ret_entry = (tail_entry){ key, rest_get(shelves->body, rest, attic->rest_bits), true, at };
        return true;
    }
    if (!cursor->has_more) return false;
    /* The words of a bucket are next to each other in the attic, in the order of (key, rest): find
     * the first one, once. */
    if (!cursor->is_in_attic) cursor->place = attic_find(attic, attic_make_word(cursor->bucket, 0));
    cursor->is_in_attic = true;
    uint64_t const word = attic_word(attic, cursor->place);
    if (word == 0 || attic_bucket(word) != cursor->bucket) return false;
    *ret_entry = (tail_entry){ (unsigned)(word & bits_low(ATTIC_OWN_BITS)),
                               attic_rest(attic, cursor->place), false, cursor->place };
    cursor->place++;
    return true;
}

/* Entry i of a bucket's tail, or false: it has no more than i. */
static __attribute__((unused)) bool tail_get(const shelf_view *shelves, uint64_t bucket, unsigned i,
                                             tail_entry *ret_entry) {
    tail_cursor cursor = tail_begin(shelves, bucket);
    /* Those on the shelf are passed over at once; in the attic, one by one. */
    unsigned skipped = (unsigned)min_u64(i, cursor.end - cursor.at);
    cursor.at += skipped;
    while (skipped++ < i) {
        if (!tail_next(shelves, &cursor, ret_entry)) return false;
    }
    return tail_next(shelves, &cursor, ret_entry);
}

/* The entries of a tail on its shelf, and whether it may continue in the attic. */
typedef struct tail_parts {
    const uint8_t *line;
    shelf_part     shelved;
    bool           may_go_on; /* the shelf is full up to the last entry of this bucket */
} tail_parts;

TAMIS_INLINE tail_parts tail_find(const shelf_view *shelves, uint64_t bucket) {
    const uint8_t *const line = shelf_line(shelves, bucket);
    shelf_part const     part = shelf_find(shelf_ones(line), bucket);
    return (tail_parts){ line, part, part.first + part.n == SHELF_KEYS };
}

TAMIS_INLINE tail_entry tail_shelved(const shelf_view *shelves, uint64_t bucket, unsigned key,
                                     unsigned at) {
    uint64_t const rest = shelf_rest_at(shelves, bucket, at);
    return (tail_entry){ key, rest_get(shelves->body, rest, shelves->attic.rest_bits), true, at };
}

/* Words of a bucket in the attic that agree with `own` in the bits of `mask`, its upper bits; the
 * first of them is at *ret_place. */
static __attribute__((unused)) unsigned tail_words(const shelf_view *shelves, uint64_t bucket,
                                                   unsigned own, unsigned mask,
                                                   uint64_t *ret_place) {
    uint64_t const first = attic_make_word(bucket, own & mask);
    uint64_t const all = ~(bits_low(ATTIC_OWN_BITS) & ~(uint64_t)mask);
    uint64_t const place = attic_find(&shelves->attic, first);
    unsigned       n = 0;
    while ((attic_word(&shelves->attic, place + n) & all) == first) n++;
    *ret_place = place;
    return n;
}

/* The first entry of a tail, or false: it is empty. */
TAMIS_INLINE bool tail_first(const shelf_view *shelves, uint64_t bucket, tail_entry *ret_entry) {
    tail_parts const parts = tail_find(shelves, bucket);
    unsigned const   at = parts.shelved.first;
    if (parts.shelved.n == 0 && !parts.may_go_on) return false;
    if (parts.shelved.n == 0) return tail_get(shelves, bucket, 0, ret_entry);
    *ret_entry = tail_shelved(shelves, bucket, le16_load(parts.line + SHELF_AT + 2 * at), at);
    return true;
}

/* How many entries of a tail have a key that agrees with `key` in the bits of `mask`? With
 * LINES_CHAIN_MASK (lines.h) these are the entries of a chain; with mask 0, all are counted. */
TAMIS_INLINE unsigned tail_count(const shelf_view *shelves, uint64_t bucket, unsigned key,
                                 unsigned mask) {
    tail_parts const parts = tail_find(shelves, bucket);
    uint64_t         place;
    unsigned const   n = bits_popcount(shelf_match(parts.line, parts.shelved, key, mask));
    return parts.may_go_on ? n + tail_words(shelves, bucket, key, mask, &place) : n;
}

/* ------------------------------------------------------------------ a shelf and the attic */

/* Put an entry at place `at` of a shelf that is not full; the later ones move up by one. */
static __attribute__((unused)) void shelf_insert(const shelf_view *shelves, uint64_t bucket,
                                                 unsigned at, unsigned key, uint64_t rest) {
    uint8_t *const line = shelf_line(shelves, bucket);
    uint64_t const ones = shelf_ones(line), end = UINT64_C(1) << shelf_find(ones, bucket).end;
    unsigned const used = shelf_used(ones), bits = shelves->attic.rest_bits;
    slots_open(line, SHELF_AT, 2, at);
    le16_store(line + SHELF_AT + 2 * at, (uint16_t)key);
    /* The bit of its zero becomes a one, and everything from that zero on moves up. */
    le64_store(line, (ones & (end - 1)) | end | (ones & -end) << 1);
    if (bits == 0) return;
    rests_row const row = shelf_row(shelves, bucket);
    rests_insert(&row, at, 1, used, rest);
}

/* Remove entry `at`, which belongs to the bucket, from its shelf; later ones move down by one. */
static __attribute__((unused)) void shelf_delete(const shelf_view *shelves, uint64_t bucket,
                                                 unsigned at) {
    uint8_t *const line = shelf_line(shelves, bucket);
    uint64_t const ones = shelf_ones(line), end = UINT64_C(1) << shelf_find(ones, bucket).end;
    unsigned const used = shelf_used(ones), bits = shelves->attic.rest_bits;
    slots_close(line, SHELF_AT, 2, at);
    /* Its last one, just below its zero, goes, and everything from that zero on moves down. */
    le64_store(line, (ones & (end / 2 - 1)) | (ones & -end) >> 1);
    if (bits == 0) return;
    rests_row const row = shelf_row(shelves, bucket);
    rests_remove(&row, at, 1, used);
}

/* The last entry of a shelf goes to the attic: the shelf is full, or will be. The shelf does not
 * say whose entry that is, but its ones do: the owner is the bucket with as many zeros before the
 * last one as it has buckets before it. In a body that was not checked there may be more zeros than
 * buckets; the owner is on this shelf all the same. */
static __attribute__((unused)) void shelf_evict(const shelf_view *shelves, uint64_t bucket) {
    const uint8_t *const line = shelf_line(shelves, bucket);
    uint64_t const       ones = shelf_ones(line), first = bucket / SHELF_BUCKETS * SHELF_BUCKETS;
    unsigned const       top = 63 - (unsigned)__builtin_clzll(ones);
    unsigned const       zeros = bits_rank(~ones, top); /* below the last one */
    uint64_t const       owner = first + min_u64(zeros, SHELF_BUCKETS - 1);
    unsigned const       at = shelf_used(ones) - 1, key = le16_load(line + SHELF_AT + 2 * at);
    uint64_t const       rest =
        rest_get(shelves->body, shelf_rest_at(shelves, bucket, at), shelves->attic.rest_bits);
    shelf_delete(shelves, owner, at);
    attic_add(&shelves->attic, attic_make_word(owner, key), rest);
}

/* The first entry in the attic that belongs to this shelf, if any, comes back to its end. In the
 * attic the words of 16 buckets are next to each other, in the order of buckets, so it is the first
 * word that is not below the smallest that these buckets can have. */
static __attribute__((unused)) void shelf_recall(const shelf_view *shelves, uint64_t bucket) {
    uint64_t const first = bucket / SHELF_BUCKETS * SHELF_BUCKETS;
    uint64_t const place = attic_find(&shelves->attic, attic_make_word(first, 0));
    uint64_t const word = attic_word(&shelves->attic, place);
    if (word == 0 || attic_bucket(word) / SHELF_BUCKETS != bucket / SHELF_BUCKETS) return;
    uint64_t const rest = attic_rest(&shelves->attic, place);
    attic_take(&shelves->attic, place);
    shelf_insert(shelves, attic_bucket(word), shelf_used(shelf_ones(shelf_line(shelves, bucket))),
                 (unsigned)(word & bits_low(ATTIC_OWN_BITS)), rest);
}

/* ------------------------------------------------------------------ adding and removing entries */

/* Is there room for n more entries of the buckets that share a shelf with this one? */
TAMIS_INLINE bool tail_has_room(const shelf_view *shelves, uint64_t bucket, unsigned n) {
    /* A new entry takes a place on the shelf or pushes another one out: each entry beyond the 28 is
     * one more for the attic, but never more than were added. */
    unsigned const total = shelf_used(shelf_ones(shelf_line(shelves, bucket))) + n;
    return total <= SHELF_KEYS || attic_has_room(&shelves->attic, min_u64(total - SHELF_KEYS, n));
}

/* The keys of a bucket on its shelf that come before a new one, in the order of (key, rest). */
TAMIS_INLINE unsigned shelf_before(const shelf_view *shelves, uint64_t bucket, shelf_part part,
                                   unsigned key, uint64_t rest) {
    const uint8_t *const keys = shelf_line(shelves, bucket) + SHELF_AT;
    unsigned             i = 0;
    for (; i < part.n; i++) {
        unsigned const other = le16_load(keys + 2 * (part.first + i));
        if (other > key) break;
        if (other == key && tail_shelved(shelves, bucket, key, part.first + i).rest >= rest) break;
    }
    return i;
}

/* Add an entry to the tail of a bucket, where it belongs in the order. There must be room. A full
 * shelf holds the first 28 entries of its buckets, so the new one belongs to the attic only if it
 * comes after all of these; else the last of them does. */
static __attribute__((unused)) void tail_add(const shelf_view *shelves, uint64_t bucket,
                                             unsigned key, uint64_t rest) {
    uint64_t const   ones = shelf_ones(shelf_line(shelves, bucket));
    shelf_part const part = shelf_find(ones, bucket);
    unsigned const   at = part.first + shelf_before(shelves, bucket, part, key, rest);
    bool const       is_full = shelf_used(ones) == SHELF_KEYS;
    if (is_full && at == SHELF_KEYS) { /* it comes after all that the shelf holds */
        attic_add(&shelves->attic, attic_make_word(bucket, key), rest);
        return;
    }
    if (is_full) shelf_evict(shelves, bucket);
    shelf_insert(shelves, bucket, at, key, rest);
}

/* Remove an entry. Only a shelf that was full has entries in the attic: then the first of these
 * takes the place that has become free. */
static __attribute__((unused)) void tail_remove(const shelf_view *shelves, uint64_t bucket,
                                                const tail_entry *entry) {
    if (!entry->is_shelved) {
        attic_take(&shelves->attic, entry->place);
        return;
    }
    bool const was_full = shelf_used(shelf_ones(shelf_line(shelves, bucket))) == SHELF_KEYS;
    shelf_delete(shelves, bucket, (unsigned)entry->place);
    if (was_full) shelf_recall(shelves, bucket);
}

/* ------------------------------------------------------------------ checking */

/* Check the shelf of bucket `first` and those that share it, of `buckets` in the table: no more
 * ones than keys, none for buckets that do not exist, zeros in free places, and entries in the
 * attic only if the shelf is full. Adds the number of these to *sent. Safe on any bytes. */
static __attribute__((unused)) bool shelf_is_whole(const shelf_view *shelves, uint64_t first,
                                                   uint64_t buckets, uint64_t *sent) {
    const uint8_t *const line = shelf_line(shelves, first);
    uint64_t const       ones = le64_load(line), here = min_u64(buckets - first, SHELF_BUCKETS);
    unsigned const       used = shelf_used(ones);
    /* `used` ones and a zero for each of `here` buckets. The last of these bits is a zero, so all
     * ones are below it. */
    if (used > SHELF_KEYS || ones >> (used + here - 1) != 0) return false;
    for (unsigned i = used; i < SHELF_KEYS; i++) {
        if (le16_load(line + SHELF_AT + 2 * i) != 0) return false;
    }
    if (!field_is_zero(shelves->body, shelf_rest_at(shelves, first, used),
                       shelf_rest_at(shelves, first, 0) + shelves->stride))
        return false;
    uint64_t place = attic_find(&shelves->attic, attic_make_word(first, 0)), word;
    while ((word = attic_word(&shelves->attic, place++)) != 0 &&
           attic_bucket(word) / SHELF_BUCKETS == first / SHELF_BUCKETS) {
        if (used < SHELF_KEYS) return false;
        ++*sent;
    }
    return true;
}

#endif
