/* prefixes.h - a bucket of prefixes, as long as there is room for.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Bloom Filters via d-Left
 * Hashing and Dynamic Bit Reassignment", Allerton 2006, sections II.B and III.
 *
 * A key is a string of `most` bits here. A bucket stores a prefix of it, at least `least` bits, and
 * a counter. The fewer there are, the longer they are:
 *
 *     | cell | cell | cell | cell |   ...   unused, 0 | code |
 *     0                                          room        8 bytes
 *
 * One length: all cells have the length that the largest number of cells since the bucket was empty
 * leaves them, its level. The code is (level, cells, zeros), max_codes.h: cells that begin with 0
 * come first, so the code tells the first bit of each, and it is not stored. The last level, one
 * more than there are cells, has the least length.
 *
 * Two lengths: short and long cells, in this order. A newcomer takes all the room there is, if that
 * is more than the short ones have; further long ones share with it. When they would have no more
 * than the short ones, all get the same. The code is the pair (cells, long ones), the short length
 * less `least` and the long one less `least`, or 0 without long ones, of 5 bits each.
 *
 * Cells of a length are sorted, so the bytes follow from the cells, their lengths and the level. A
 * bucket without cells is all 0: whatever its past, the next key has all of it.
 *
 * A cell is a prefix and below it a counter of copies less one. A counter at its limit is stuck: it
 * stands for any number of copies, and stays.
 */
#ifndef TAMIS_KINDS_DDLCBF_PREFIXES_H
#define TAMIS_KINDS_DDLCBF_PREFIXES_H

#include "max_codes.h"
#include "core/row.h"

#define PREFIXES_MAX_CELLS (MAX_CODES_LEVELS - 1)
#define PREFIXES_MIN_BYTES 8
#define PREFIXES_MAX_BYTES 64
#define PREFIXES_MAX_COUNTER_BITS 4
#define PREFIXES_MIN_BITS 4
#define PREFIXES_MAX_BITS 40
#define PREFIXES_LENGTH_BITS 5 /* of two lengths: how much longer than the least */

typedef struct prefixes_shape {
    uint16_t bytes, room, codes; /* codes: of one length, or pairs of two */
    uint8_t  code_bits, cells, counter_bits, least, most, lengths;
    uint8_t  length[MAX_CODES_LEVELS + 1]; /* by level; with two lengths, if all had one */
} prefixes_shape;

/* ------------------------------------------------------------------ the shape */

TAMIS_INLINE unsigned prefixes_bits_for(unsigned codes) {
    unsigned bits = 0;
    while (1u << bits < codes) bits++;
    return bits;
}

/* Bits of the prefix that are implied by its place. */
TAMIS_INLINE unsigned prefixes_implied(const prefixes_shape *s) {
    return s->lengths == 1;
}

TAMIS_INLINE unsigned prefixes_width(const prefixes_shape *s, unsigned length) {
    return length - prefixes_implied(s) + s->counter_bits;
}

/* A shape whose bytes, cells, counter_bits, least, most and lengths are given, all in their ranges.
 * False: so many cells have no room for the least length. */
TAMIS_INLINE bool prefixes_make(prefixes_shape *s) {
    unsigned const pairs = max_codes_pairs(s->cells + 1u);
    unsigned const triples =
        max_codes_below(s->cells + 1u) + pairs; /* the last level has no more */
    unsigned const extra = s->lengths == 1 ? 0 : 2 * PREFIXES_LENGTH_BITS;
    s->codes = (uint16_t)(s->lengths == 1 ? triples : pairs);
    s->code_bits = (uint8_t)(prefixes_bits_for(s->codes) + extra);
    s->room = (uint16_t)(8 * s->bytes - s->code_bits);
    if (s->lengths == 2)
        s->most = (uint8_t)min_u64(s->most, s->least + bits_low(PREFIXES_LENGTH_BITS));
    for (unsigned level = 1; level <= s->cells; level++) {
        unsigned const all = s->room / level + prefixes_implied(s);
        if (all < (unsigned)s->least + s->counter_bits) return false;
        s->length[level] = (uint8_t)min_u64(all - s->counter_bits, s->most);
    }
    s->length[0] = s->most;
    s->length[s->cells + 1] = s->least;
    return s->least <= s->most;
}

/* The counter that is stuck. */
TAMIS_INLINE uint64_t prefixes_stuck(const prefixes_shape *s) {
    return bits_low(s->counter_bits);
}

/* ------------------------------------------------------------------ looking */

/* What the code says: two groups of cells, one behind the other. Of one length those that begin
 * with 0 and with 1, of two the short and the long ones. */
typedef struct prefixes_head {
    unsigned level, n[2], length[2];
} prefixes_head;

TAMIS_INLINE unsigned prefixes_code(const prefixes_shape *s, const uint8_t *bucket) {
    return (unsigned)(le64_load(bucket + s->bytes - 8) >> (64 - s->code_bits));
}

TAMIS_INLINE prefixes_head prefixes_head_one(const prefixes_shape *s, unsigned code) {
    max_code const of = max_codes_get(code < s->codes ? code : 0);
    unsigned const length = s->length[of.level];
    return (prefixes_head){ of.level, { of.zeros, of.cells - of.zeros }, { length, length } };
}

TAMIS_INLINE unsigned prefixes_used(const prefixes_shape *s, const unsigned *n,
                                    const unsigned *length) {
    return n[0] * prefixes_width(s, length[0]) + n[1] * prefixes_width(s, length[1]);
}

TAMIS_INLINE prefixes_head prefixes_head_two(const prefixes_shape *s, unsigned code) {
    unsigned const bits = PREFIXES_LENGTH_BITS, mask = (1u << bits) - 1, pair = code >> 2 * bits;
    max_code const of = max_codes_get_pair(pair < s->codes ? pair : 0);
    prefixes_head  head = { 0, { of.cells - of.zeros, of.zeros }, { s->least, s->least } };
    head.length[0] += code >> bits & mask;
    head.length[1] += code & mask;
    bool const fits = head.length[0] <= s->most && head.length[1] <= s->most &&
                      prefixes_used(s, head.n, head.length) <= s->room;
    return fits ? head : (prefixes_head){ 0, { 0, 0 }, { s->least, s->least } };
}

/* Whatever the bytes, it has no more cells than there is room for; an impossible code none. */
TAMIS_INLINE prefixes_head prefixes_head_of(const prefixes_shape *s, const uint8_t *bucket) {
    unsigned const code = prefixes_code(s, bucket);
    return s->lengths == 1 ? prefixes_head_one(s, code) : prefixes_head_two(s, code);
}

TAMIS_INLINE row prefixes_row(const prefixes_shape *s, const prefixes_head *head, unsigned group) {
    unsigned const at = group == 0 ? 0 : head->n[0] * prefixes_width(s, head->length[0]);
    return (row){ s->bytes, at, head->n[group], prefixes_width(s, head->length[group]) };
}

TAMIS_INLINE unsigned prefixes_load(const prefixes_head *head) {
    return head->n[0] + head->n[1];
}

/* One length: all cells of the level are compared, used or not, so that how many there are decides
 * no branch; then those that begin otherwise are left out. */
TAMIS_INLINE uint32_t prefixes_match_one(const prefixes_shape *s, const uint8_t *bucket,
                                         const prefixes_head *head, uint64_t string) {
    unsigned const length = head->length[0];
    unsigned const cells = head->level < s->cells ? head->level : s->cells;
    row const      all = { s->bytes, 0, cells, prefixes_width(s, length) };
    uint64_t const value = string >> (s->most - length);
    uint64_t const zeros = bits_low(head->n[0]), used = bits_low(prefixes_load(head));
    uint64_t const alike = value >> (length - 1) != 0 ? used & ~zeros : zeros;
    return row_match(bucket, all, s->counter_bits, value & bits_low(length - 1)) & (uint32_t)alike;
}

TAMIS_INLINE uint32_t prefixes_match_two(const prefixes_shape *s, const uint8_t *bucket,
                                         const prefixes_head *head, uint64_t string,
                                         unsigned known) {
    uint32_t found = 0;
    for (unsigned group = 0; group < 2; group++) {
        unsigned const length = head->length[group];
        if (head->n[group] == 0 || length > known) continue;
        uint64_t const value = string >> (s->most - length);
        uint32_t const here =
            row_match(bucket, prefixes_row(s, head, group), s->counter_bits, value);
        found |= here << (group == 0 ? 0 : head->n[0]);
    }
    return found;
}

/* Which cells are prefixes of a string of which the `known` highest bits are known? Bit i of the
 * result is cell i, counted through both groups. */
TAMIS_INLINE uint32_t prefixes_match(const prefixes_shape *s, const uint8_t *bucket,
                                     const prefixes_head *head, uint64_t string, unsigned known) {
    if (s->lengths == 2) return prefixes_match_two(s, bucket, head, string, known);
    return head->length[0] > known ? 0 : prefixes_match_one(s, bucket, head, string);
}

/* Of a cell, counted through both groups: its length, and all of it. */
TAMIS_INLINE unsigned prefixes_length(const prefixes_head *head, unsigned i) {
    return head->length[i >= head->n[0]];
}

TAMIS_INLINE uint64_t prefixes_cell(const prefixes_shape *s, const uint8_t *bucket,
                                    const prefixes_head *head, unsigned i) {
    unsigned const group = i >= head->n[0];
    row const      of = prefixes_row(s, head, group);
    uint64_t const cell = row_get(bucket, of, group == 0 ? i : i - head->n[0]);
    return prefixes_implied(s) ? cell | (uint64_t)group << of.width : cell;
}

/* ------------------------------------------------------------------ a bucket unpacked */

/* Sorted lists of cells. Those of one length are all in the first. */
typedef struct prefixes {
    unsigned level, n[2], length[2];
    uint64_t cell[2][PREFIXES_MAX_CELLS];
} prefixes;

TAMIS_INLINE void prefixes_unpack(const prefixes_shape *s, const uint8_t *bucket, prefixes *ret_p) {
    prefixes_head const head = prefixes_head_of(s, bucket);
    *ret_p = (prefixes){ .level = head.level, .length = { head.length[0], head.length[1] } };
    for (unsigned i = 0; i < prefixes_load(&head); i++) {
        unsigned const list = s->lengths == 1 ? 0 : i >= head.n[0];
        ret_p->cell[list][ret_p->n[list]++] = prefixes_cell(s, bucket, &head, i);
    }
}

TAMIS_INLINE unsigned prefixes_pack_code(const prefixes_shape *s, const prefixes *p) {
    unsigned const bits = PREFIXES_LENGTH_BITS, n = p->n[0] + p->n[1];
    if (n == 0) return 0;
    if (s->lengths == 2) {
        unsigned const more = p->n[1] != 0 ? p->length[1] - s->least : 0;
        return max_codes_pair(n, p->n[1]) << 2 * bits | (p->length[0] - s->least) << bits | more;
    }
    unsigned zeros = 0;
    while (zeros < n && p->cell[0][zeros] >> prefixes_width(s, p->length[0]) == 0) zeros++;
    return max_codes_of((max_code){ p->level, n, zeros });
}

TAMIS_INLINE void prefixes_pack(const prefixes_shape *s, const prefixes *p, uint8_t *bucket) {
    prefixes_head const head = { 0, { p->n[0], p->n[1] }, { p->length[0], p->length[1] } };
    memset(bucket, 0, s->bytes);
    for (unsigned list = 0; list < 2; list++) {
        row const of = prefixes_row(s, &head, list);
        for (unsigned i = 0; i < of.n; i++) {
            row_put(bucket, of, i, p->cell[list][i] & bits_low(of.width));
        }
    }
    uint64_t const code = prefixes_pack_code(s, p);
    uint8_t *const last = bucket + s->bytes - 8;
    le64_store(last, le64_load(last) | code << (64 - s->code_bits));
}

/* ------------------------------------------------------------------ changing */

TAMIS_INLINE void prefixes_sort(prefixes *p, unsigned list) {
    uint64_t *const cell = p->cell[list];
    for (unsigned i = 1; i < p->n[list]; i++) {
        uint64_t const moved = cell[i];
        unsigned       to = i;
        for (; to > 0 && cell[to - 1] > moved; to--) cell[to] = cell[to - 1];
        cell[to] = moved;
    }
}

/* Shorten the cells of a list; they cannot become longer. */
TAMIS_INLINE void prefixes_cut(const prefixes_shape *s, prefixes *p, unsigned list,
                               unsigned length) {
    bool const     is_longer = p->n[list] != 0 && p->length[list] > length;
    unsigned const less = is_longer ? p->length[list] - length : 0;
    for (unsigned i = 0; i < p->n[list]; i++) {
        uint64_t const prefix = p->cell[list][i] >> s->counter_bits >> less;
        uint64_t const counter = p->cell[list][i] & bits_low(s->counter_bits);
        p->cell[list][i] = prefix << s->counter_bits | counter;
    }
    p->length[list] = length;
    if (less != 0) prefixes_sort(p, list);
}

/* All cells have one length. */
TAMIS_INLINE void prefixes_cut_all(const prefixes_shape *s, prefixes *p, unsigned length) {
    prefixes_cut(s, p, 0, length);
    prefixes_cut(s, p, 1, length);
    for (unsigned i = 0; i < p->n[1]; i++) p->cell[0][p->n[0]++] = p->cell[1][i];
    p->n[1] = 0;
    prefixes_sort(p, 0);
}

/* One length: the level that the next cell needs. Returns its list. */
TAMIS_INLINE unsigned prefixes_fit_one(const prefixes_shape *s, prefixes *p, unsigned known) {
    if (p->level < p->n[0] + 1) p->level = p->n[0] + 1;
    while (s->length[p->level] > known) p->level++;
    prefixes_cut(s, p, 0, s->length[p->level]);
    return 0;
}

/* Two lengths: what the long ones get with one more of them, up to what is known of it; the long
 * ones are cut to that, or if it is no more than the short ones have, all. */
TAMIS_INLINE unsigned prefixes_fit_two(const prefixes_shape *s, prefixes *p, unsigned known) {
    unsigned const n = p->n[0] + p->n[1], most = known < s->most ? known : s->most;
    unsigned const left = s->room - p->n[0] * prefixes_width(s, p->length[0]);
    unsigned const each = left / (p->n[1] + 1), least = s->least + s->counter_bits;
    unsigned       length = each < least ? 0 : each - s->counter_bits;
    if (p->n[1] != 0 && length > p->length[1]) length = p->length[1];
    if (length > most) length = most;
    if (n != 0 && length > p->length[0]) {
        prefixes_cut(s, p, 1, length);
        return 1;
    }
    unsigned all = s->length[n + 1] < most ? s->length[n + 1] : most;
    if (n != 0 && all > p->length[0]) all = p->length[0];
    prefixes_cut_all(s, p, all);
    return 0;
}

/* A new cell. False: there are as many as there can be. */
TAMIS_INLINE bool prefixes_put(const prefixes_shape *s, prefixes *p, uint64_t string,
                               unsigned known) {
    if (p->n[0] + p->n[1] == s->cells) return false;
    unsigned const list =
        s->lengths == 1 ? prefixes_fit_one(s, p, known) : prefixes_fit_two(s, p, known);
    p->cell[list][p->n[list]++] = string >> (s->most - p->length[list]) << s->counter_bits;
    prefixes_sort(p, list);
    return true;
}

/* The counter of a cell, counted through both lists. */
TAMIS_INLINE void prefixes_set_counter(const prefixes_shape *s, prefixes *p, unsigned i,
                                       uint64_t counter) {
    unsigned const  list = i >= p->n[0];
    uint64_t *const cell = &p->cell[list][list == 0 ? i : i - p->n[0]];
    *cell = *cell >> s->counter_bits << s->counter_bits | counter;
    prefixes_sort(p, list);
}

/* The cell is gone. Long ones that are left alone are the short ones. */
TAMIS_INLINE void prefixes_take(prefixes *p, unsigned i) {
    unsigned const list = i >= p->n[0];
    unsigned const at = list == 0 ? i : i - p->n[0];
    p->n[list]--;
    for (unsigned k = at; k < p->n[list]; k++) p->cell[list][k] = p->cell[list][k + 1];
    if (p->n[0] != 0 || p->n[1] == 0) return;
    memcpy(p->cell[0], p->cell[1], sizeof p->cell[0]);
    p->n[0] = p->n[1];
    p->n[1] = 0;
    p->length[0] = p->length[1];
}

/* All cells of the least length, equal ones in one with their copies. */
TAMIS_INLINE void prefixes_squeeze(const prefixes_shape *s, prefixes *p) {
    uint64_t *const cell = p->cell[0];
    uint64_t const  stuck = prefixes_stuck(s);
    unsigned        n = 0;
    p->level = s->cells + 1u;
    prefixes_cut_all(s, p, s->least);
    for (unsigned i = 0; i < p->n[0]; i++) {
        bool const is_same = n != 0 && cell[n - 1] >> s->counter_bits == cell[i] >> s->counter_bits;
        if (!is_same) {
            cell[n++] = cell[i];
            continue;
        }
        uint64_t const sum = (cell[n - 1] & stuck) + (cell[i] & stuck) + 1;
        cell[n - 1] = (cell[i] & ~stuck) | min_u64(sum, stuck);
    }
    p->n[0] = n;
}

/* ------------------------------------------------------------------ counting */

/* The copies that the cells stand for, those that are stuck for one more than can be told. */
TAMIS_INLINE uint64_t prefixes_copies(const prefixes_shape *s, const prefixes *p) {
    uint64_t copies = p->n[0] + p->n[1];
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned i = 0; i < p->n[list]; i++) copies += p->cell[list][i] & prefixes_stuck(s);
    }
    return copies;
}

TAMIS_INLINE uint64_t prefixes_n_stuck(const prefixes_shape *s, const prefixes *p) {
    uint64_t const stuck = prefixes_stuck(s);
    uint64_t       n = 0;
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned i = 0; i < p->n[list]; i++) n += (p->cell[list][i] & stuck) == stuck;
    }
    return n;
}

/* Add the different prefixes of a bucket to n, by their length. */
TAMIS_INLINE void prefixes_count_lengths(const prefixes_shape *s, const uint8_t *bucket,
                                         uint64_t *n) {
    prefixes p;
    prefixes_unpack(s, bucket, &p);
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned i = 0; i < p.n[list]; i++) {
            uint64_t const differ = i == 0 ? UINT64_MAX : p.cell[list][i] ^ p.cell[list][i - 1];
            n[p.length[list]] += differ >> s->counter_bits != 0;
        }
    }
}

/* ------------------------------------------------------------------ checking */

/* Is it what packing would have made? A code that is impossible unpacks to something else. */
TAMIS_INLINE bool prefixes_is_packed(const prefixes_shape *s, const uint8_t *bucket) {
    uint8_t  again[PREFIXES_MAX_BYTES];
    prefixes p;
    prefixes_unpack(s, bucket, &p);
    if (s->lengths == 2 && p.n[1] != 0 && (p.n[0] == 0 || p.length[1] <= p.length[0])) return false;
    prefixes_pack(s, &p, again);
    return memcmp(again, bucket, s->bytes) == 0;
}

TAMIS_INLINE bool prefixes_is_sorted(const prefixes_shape *s, const uint8_t *bucket) {
    prefixes p;
    prefixes_unpack(s, bucket, &p);
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned i = 1; i < p.n[list]; i++) {
            if (p.cell[list][i - 1] > p.cell[list][i]) return false;
        }
    }
    return true;
}

#endif
