/* parts.h - an array of small fields that is stored in up to three pieces.
 *
 * A bucket that has no more room continues in an extension elsewhere. Its fields are numbered
 * continuously: piece 0 has the first room[0] of them, piece 1 the next room[1], and so on.
 *
 *     piece 0                piece 1         piece 2
 *     [ a b c d e f ]        [ g h i ]       [ j k . ]
 *
 * Opening a gap for one field moves the fields after it in its piece up by one; the field that
 * falls out at the end of a piece goes to the start of the next. Closing a gap does the reverse.
 * Both work on whole words (core/shift.h).
 *
 *     open place 2 for x     [ a b x c d e ]        [ f g h ]       [ i j k ]
 *     close place 2 again    [ a b c d e f ]        [ g h i ]       [ j k . ]
 */
#ifndef TAMIS_KINDS_RANK_PARTS_H
#define TAMIS_KINDS_RANK_PARTS_H

#include "core/field.h"
#include "core/shift.h"

#define PARTS_MAX 3

typedef struct parts_list {
    uint64_t at[PARTS_MAX];   /* bit of the body where the piece begins */
    unsigned room[PARTS_MAX]; /* fields of the piece; 0 after the last one */
    unsigned bits;            /* of a field */
} parts_list;

/* The bit where field i is. A field beyond all pieces would be in the last one. */
TAMIS_INLINE uint64_t parts_at(const parts_list *parts, unsigned i) {
    unsigned part = 0;
    for (; part + 1 < PARTS_MAX && i >= parts->room[part]; part++) i -= parts->room[part];
    return parts->at[part] + (uint64_t)i * parts->bits;
}

/* Put `value` at place i of `used` fields; those from i on move up. There must be room for it. */
TAMIS_INLINE void parts_open(uint8_t *body, const parts_list *parts, unsigned i, unsigned used,
                             uint64_t value) {
    TAMIS_ASSERT(i <= used);
    unsigned const bits = parts->bits;
    for (unsigned part = 0, first = 0; part < PARTS_MAX; first += parts->room[part++]) {
        unsigned const end = first + parts->room[part]; /* the piece holds fields first..end-1 */
        if (i >= end) continue;
        bool const     is_full = used >= end;
        uint64_t const start = parts->at[part], last = start + (uint64_t)(end - first - 1) * bits;
        uint64_t const falls_out = is_full ? field_get(body, last, bits) : 0;
        uint64_t const to = is_full ? last : start + (uint64_t)(used - first) * bits;
        uint64_t const gap = start + (uint64_t)(i - first) * bits;
        shift_open(body, gap, to, bits);
        field_set(body, gap, bits, value);
        if (!is_full) return;
        value = falls_out; /* for place 0 of the next piece */
        i = end;
    }
}

/* Remove field i of `used`; those after it move down, and a zero is left after the last. */
TAMIS_INLINE void parts_close(uint8_t *body, const parts_list *parts, unsigned i, unsigned used) {
    TAMIS_ASSERT(i < used);
    unsigned const bits = parts->bits;
    for (unsigned part = 0, first = 0; part < PARTS_MAX; first += parts->room[part++]) {
        unsigned const end = first + parts->room[part];
        if (i >= end) continue;
        uint64_t const start = parts->at[part];
        unsigned const here = (unsigned)min_u64(used, end) - first;
        shift_close(body, start + (uint64_t)(i - first) * bits, start + (uint64_t)here * bits,
                    bits);
        if (used <= end || part + 1 == PARTS_MAX) return;
        /* The first field of the next piece becomes the last of this one. */
        field_set(body, start + (uint64_t)(here - 1) * bits, bits,
                  field_get(body, parts->at[part + 1], bits));
        i = end;
    }
}

#endif
