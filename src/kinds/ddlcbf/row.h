/* row.h - a row of equal fields at any bit of a bucket, compared all at once.
 *
 * As cells.h, for fields whose width is known only when the bucket is looked at: masks come from a
 * table by width. A word that begins at the byte of a field has 57 bits of fields in it, whatever
 * bit of the byte they begin at; near the end of the bucket the last word of it is taken, so that
 * nothing is read outside. A bucket has at least 8 bytes.
 */
#ifndef TAMIS_KINDS_DDLCBF_ROW_H
#define TAMIS_KINDS_DDLCBF_ROW_H

#include "core/bits.h"
#include "core/le.h"

#define ROW_MAX_WIDTH 57

/* The lowest bit of each whole field in a word. */
#define ROW_ONES(w) ((UINT64_C(1) << (57 / (w) * (w))) - 1) / ((UINT64_C(1) << (w)) - 1)
#define ROW_4(of, w) of(w), of((w) + 1), of((w) + 2), of((w) + 3)
#define ROW_57(of)                                                                                 \
    of(1), ROW_4(of, 2), ROW_4(of, 6), ROW_4(of, 10), ROW_4(of, 14), ROW_4(of, 18), ROW_4(of, 22), \
        ROW_4(of, 26), ROW_4(of, 30), ROW_4(of, 34), ROW_4(of, 38), ROW_4(of, 42), ROW_4(of, 46),  \
        ROW_4(of, 50), ROW_4(of, 54)
#define ROW_PER_WORD(w) 57 / (w)

static const uint64_t row_ones[ROW_MAX_WIDTH + 1] __attribute__((unused)) = { 0, ROW_57(ROW_ONES) };
static const uint8_t  row_per_word[ROW_MAX_WIDTH + 1]
    __attribute__((unused)) = { 0, ROW_57(ROW_PER_WORD) };

/* n fields of `width` bits, the first at bit `at` of a bucket of so many bytes. */
typedef struct row {
    unsigned bytes, at, n, width;
} row;

/* The word in which a field is whole: its byte, and how far up in it the field is. */
typedef struct row_place {
    unsigned byte, shift;
} row_place;

TAMIS_INLINE row_place row_find(row of, unsigned i) {
    unsigned const bit = of.at + i * of.width, last = of.bytes - 8;
    unsigned const byte = bit / 8 < last ? bit / 8 : last;
    return (row_place){ byte, bit - 8 * byte };
}

TAMIS_INLINE uint64_t row_get(const uint8_t *bucket, row of, unsigned i) {
    row_place const place = row_find(of, i);
    return le64_load(bucket + place.byte) >> place.shift & bits_low(of.width);
}

/* Into a bucket that is 0 there. */
TAMIS_INLINE void row_put(uint8_t *bucket, row of, unsigned i, uint64_t field) {
    row_place const place = row_find(of, i);
    le64_store(bucket + place.byte, le64_load(bucket + place.byte) | field << place.shift);
}

/* Which fields are `value`, but for their `skipped` lowest bits? Bit i of the result is field i.
 * With the value subtracted by exclusive or, a field that has it is 0; adding the largest number of
 * one bit less carries into the top bit of each that has not. */
TAMIS_INLINE uint32_t row_match(const uint8_t *bucket, row of, unsigned skipped, uint64_t value) {
    uint64_t const ones = row_ones[of.width], tops = ones << (of.width - 1);
    uint64_t const pattern = (value << skipped) * ones, skip = ones * bits_low(skipped);
    unsigned const per_word = row_per_word[of.width];
    uint32_t       found = 0;
    for (unsigned i = 0; i < of.n; i += per_word) {
        unsigned const  n = of.n - i < per_word ? of.n - i : per_word;
        row_place const place = row_find(of, i);
        uint64_t const  differ = (le64_load(bucket + place.byte) >> place.shift ^ pattern) & ~skip;
        uint64_t const  others = ((differ & ~tops) + (tops - ones)) | differ;
        uint64_t        same = tops & ~others & bits_low(n * of.width);
        for (; same != 0; same &= same - 1)
            found |= UINT32_C(1) << (i + bits_lowest(same) / of.width);
    }
    return found;
}

#endif
