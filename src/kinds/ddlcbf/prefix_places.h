/* prefix_places.h - where a key belongs in a d-left table with dynamic bit reassignment, and what
 * the table has of it.
 *
 * A key is (b, r, z): one of B buckets, r bits of remainder, and the rest. Its place in subtable i
 * is what P_i makes of (b, r), a bucket and r bits, with z after:
 *
 *     P_i(b, r)  =  | bucket, one of B | r_i |        string in that bucket:  | r_i | z |
 *
 * P_i can be undone, so a cell tells its (b, r), and as much of z as it has kept.
 *
 * Example: B = 4, r = 3 bits, strings of 6 bits. A key with (b, r) = 01|011 = 11 and z = 101 has in
 * a subtable whose P is x -> 13 x mod 32 the place 13 x 11 mod 32 = 15 = 01|111: bucket 1, where
 * its string is 111|101. A cell with the prefix 1111 there tells that (b, r) = 5 x 15 mod 32 = 11,
 * and that z begins with 1.
 */
#ifndef TAMIS_KINDS_DDLCBF_PREFIX_PLACES_H
#define TAMIS_KINDS_DDLCBF_PREFIX_PLACES_H

#include "core/permute.h"
#include "kind.h"
#include "prefixes.h"
#include "size.h"

/* The geometry worked out. */
typedef struct ddlcbf_shape {
    prefixes_shape cells;
    unsigned       tables;
    uint64_t       buckets, range; /* B, and B 2^r */
    permutation    permute[DDLCBF_MAX_TABLES];
} ddlcbf_shape;

static_assert(sizeof(ddlcbf_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

TAMIS_INLINE const ddlcbf_shape *ddlcbf_shape_of(const tamis_table *table) {
    return (const ddlcbf_shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ where a key belongs */

/* What is known of a key: (b, r) as one number, z from the top of a word, and how many bits of r
 * and z together. All of it of a key that a caller names; of a key that a cell stands for (in a
 * merge), as many bits as the cell has. */
typedef struct ddlcbf_key {
    uint64_t print, rest;
    unsigned known;
} ddlcbf_key;

#define DDLCBF_ALL_KNOWN 64

/* The digits of the hash: b, then r bits, and what is left is z. */
TAMIS_INLINE ddlcbf_key ddlcbf_key_of(const ddlcbf_shape *s, uint64_t hash) {
    uint64_t const bucket = fastrange_next(&hash, s->buckets);
    unsigned const r = s->cells.least;
    return (ddlcbf_key){ bucket << r | hash >> (64 - r), hash << r, DDLCBF_ALL_KNOWN };
}

typedef struct ddlcbf_place {
    uint8_t *bucket;
    uint64_t string; /* r_i and z */
} ddlcbf_place;

/* The place in subtable i: the permutation of (b, r), and z after it, as many bits of z as the
 * longest prefix has room for. */
TAMIS_INLINE ddlcbf_place ddlcbf_place_in(const tamis_table *table, const ddlcbf_key *key,
                                          unsigned i) {
    const ddlcbf_shape *const s = ddlcbf_shape_of(table);
    unsigned const            r = s->cells.least, z_bits = s->cells.most - r;
    uint64_t const            at = multiplier_apply(s->permute[i].there, s->range, key->print);
    uint64_t const            bucket = i * s->buckets + (at >> r);
    /* z_bits may be 0, and a shift by 64 is undefined: so shift twice. */
    uint64_t const z = key->rest >> 1 >> (63 - z_bits);
    return (ddlcbf_place){ table->body + bucket * s->cells.bytes,
                           (at & bits_low(r)) << z_bits | z };
}

/* What is known of the key that a cell of subtable i came from. */
static __attribute__((unused)) ddlcbf_key ddlcbf_key_from(const ddlcbf_shape *s, unsigned i,
                                                          uint64_t bucket, uint64_t prefix,
                                                          unsigned length) {
    unsigned const z_bits = length - s->cells.least;
    uint64_t const at = bucket << s->cells.least | prefix >> z_bits;
    return (ddlcbf_key){ multiplier_apply(s->permute[i].back, s->range, at),
                         (prefix & bits_low(z_bits)) << 1 << (63 - z_bits), length };
}

/* ------------------------------------------------------------------ looking */

/* The first match is enough for a lookup: any cell that matches may be the key's own. */
TAMIS_INLINE bool ddlcbf_holds(const tamis_table *table, const ddlcbf_key *key) {
    const prefixes_shape *const cells = &ddlcbf_shape_of(table)->cells;
    for (unsigned i = 0; i < ddlcbf_shape_of(table)->tables; i++) {
        ddlcbf_place const  place = ddlcbf_place_in(table, key, i);
        prefixes_head const head = prefixes_head_of(cells, place.bucket);
        if (prefixes_match(cells, place.bucket, &head, place.string, key->known) != 0) return true;
    }
    return false;
}

/* A cell that matches. */
typedef struct ddlcbf_cell {
    uint8_t *bucket;
    unsigned i, length;
    uint64_t counter;
} ddlcbf_cell;

/* All that a table has of a key, and where there is room for it. */
typedef struct ddlcbf_found {
    uint64_t     copies;
    unsigned     cells;
    bool         is_stuck;      /* one of them */
    ddlcbf_cell  longest, open; /* open: one that can count up; with a length, if there is one */
    ddlcbf_place least;         /* the least loaded bucket */
    unsigned     load;          /* of that */
} ddlcbf_found;

/* One more cell that matches. The longest is the most certain to be the key's own, so removals take
 * that one. A cell is open if one copy more does not make it stick. */
TAMIS_INLINE void ddlcbf_take_note(const prefixes_shape *s, ddlcbf_cell cell, ddlcbf_found *found) {
    bool const is_open = cell.counter + 1 < prefixes_stuck(s);
    found->cells++;
    found->copies += cell.counter + 1;
    found->is_stuck |= cell.counter == prefixes_stuck(s);
    if (cell.length > found->longest.length) found->longest = cell;
    if (is_open && cell.length > found->open.length) found->open = cell;
}

/* All subtables are read, even after a match: another cell may be longer, and an add needs the
 * least loaded bucket. Adds, removals and counts call it, and none of them is short. */
static __attribute__((noinline, unused)) ddlcbf_found ddlcbf_look(const tamis_table *table,
                                                                  const ddlcbf_key  *key) {
    const prefixes_shape *const s = &ddlcbf_shape_of(table)->cells;
    ddlcbf_found                found = { .load = UINT32_MAX };
    for (unsigned i = 0; i < ddlcbf_shape_of(table)->tables; i++) {
        ddlcbf_place const  place = ddlcbf_place_in(table, key, i);
        prefixes_head const head = prefixes_head_of(s, place.bucket);
        uint32_t            same = prefixes_match(s, place.bucket, &head, place.string, key->known);
        for (; same != 0; same &= same - 1) {
            unsigned const cell = bits_lowest(same);
            uint64_t const all = prefixes_cell(s, place.bucket, &head, cell);
            ddlcbf_take_note(s,
                             (ddlcbf_cell){ place.bucket, cell, prefixes_length(&head, cell),
                                            all & prefixes_stuck(s) },
                             &found);
        }
        if (prefixes_load(&head) >= found.load) continue;
        found.least = place;
        found.load = prefixes_load(&head);
    }
    return found;
}

#endif
