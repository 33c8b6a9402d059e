/* parts.h - an array of small fields that lies in up to three pieces.
 *
 * A bucket whose cells have run out goes on in an extension elsewhere. Its fields are numbered
 * through: piece 0 holds the first room[0] of them, piece 1 the next room[1], and so on. Opening a
 * gap for one field shifts the rest of its piece up by one, and what falls out at the end of a
 * piece goes to the beginning of the next; closing does the reverse. All by whole words (shift.h).
 */
#ifndef TAMIS_KINDS_RANK_PARTS_H
#define TAMIS_KINDS_RANK_PARTS_H

#include "core/field.h"
#include "core/shift.h"

#define PARTS_MAX 3

typedef struct parts {
    uint64_t at[PARTS_MAX];   /* bit of the body where the piece begins */
    unsigned room[PARTS_MAX]; /* fields of the piece; 0 after the last */
    unsigned bits;            /* of a field */
} parts;

/* The bit where field i is. */
TAMIS_INLINE uint64_t parts_at(const parts *of, unsigned i) {
    unsigned part = 0;
    for (; part + 1 < PARTS_MAX && i >= of->room[part]; part++) i -= of->room[part];
    return of->at[part] + (uint64_t)i * of->bits;
}

/* Put `value` at place i of `used` fields; those from i on move up. There is room for one more. */
TAMIS_INLINE void parts_open(uint8_t *body, const parts *of, unsigned i, unsigned used,
                             uint64_t value) {
    TAMIS_ASSERT(i <= used);
    for (unsigned part = 0, first = 0; part < PARTS_MAX; first += of->room[part++]) {
        unsigned const end = first + of->room[part];
        if (i >= end) continue;
        bool const     is_full = used >= end;
        uint64_t const start = of->at[part], last = start + (uint64_t)(end - first - 1) * of->bits;
        uint64_t const out = is_full ? field_get(body, last, of->bits) : 0;
        uint64_t const to = is_full ? last : start + (uint64_t)(used - first) * of->bits;
        uint64_t const from = start + (uint64_t)(i - first) * of->bits;
        shift_open(body, from, to, of->bits);
        field_set(body, from, of->bits, value);
        if (!is_full) return;
        value = out;
        i = end;
    }
}

/* Take field i of `used` away; those behind it move down, and a zero is left behind the last. */
TAMIS_INLINE void parts_close(uint8_t *body, const parts *of, unsigned i, unsigned used) {
    TAMIS_ASSERT(i < used);
    for (unsigned part = 0, first = 0; part < PARTS_MAX; first += of->room[part++]) {
        unsigned const end = first + of->room[part];
        if (i >= end) continue;
        uint64_t const start = of->at[part];
        unsigned const here = (unsigned)min_u64(used, end) - first;
        shift_close(body, start + (uint64_t)(i - first) * of->bits,
                    start + (uint64_t)here * of->bits, of->bits);
        if (used <= end || part + 1 == PARTS_MAX) return;
        field_set(body, start + (uint64_t)(here - 1) * of->bits, of->bits,
                  field_get(body, of->at[part + 1], of->bits));
        i = end;
    }
}

#endif
