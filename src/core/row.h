/* row.h - a row of equal fields in a bucket, at any bit and of any width, compared all at once.
 *
 *     bucket   ...|  field 0  |  field 1  |  field 2  |  field 3  |....
 *                 ^ bit `at`  |<- width ->|
 *
 * The width is known only when the bucket is looked at: the fewer fields, the longer they are
 * (dlbf, ddlcbf). core/cells.h is for fields whose width never changes.
 *
 * A field is read by the word that begins at its first byte. Near the end of the bucket the last
 * word of the bucket is taken instead, so that nothing outside is read: that might be another
 * cache line. So a bucket has at least 8 bytes.
 */
#ifndef TAMIS_CORE_ROW_H
#define TAMIS_CORE_ROW_H

#include "core/lanes.h"

#define ROW_MAX_WIDTH LANES_BITS

/* n fields of `width` bits, the first at bit `at` of a bucket of this many bytes. */
typedef struct row {
    unsigned bytes, at, n, width;
} row;

/* The word in which a field is whole: its byte, and how far up in it the field is. */
typedef struct row_place {
    unsigned byte, shift;
} row_place;

TAMIS_INLINE row_place row_find(row fields, unsigned i) {
    unsigned const bit = fields.at + i * fields.width, last = fields.bytes - 8;
    unsigned const byte = bit / 8 < last ? bit / 8 : last;
    return (row_place){ byte, bit - 8 * byte };
}

/* The fields from i on, as many as a word has; above them the word is not 0. */
TAMIS_INLINE uint64_t row_word(const uint8_t *bucket, row fields, unsigned i) {
    row_place const place = row_find(fields, i);
    return le64_load(bucket + place.byte) >> place.shift;
}

TAMIS_INLINE uint64_t row_get(const uint8_t *bucket, row fields, unsigned i) {
    return row_word(bucket, fields, i) & bits_low(fields.width);
}

/* Into a bucket that is 0 there. */
TAMIS_INLINE void row_put(uint8_t *bucket, row fields, unsigned i, uint64_t field) {
    row_place const place = row_find(fields, i);
    le64_store(bucket + place.byte, le64_load(bucket + place.byte) | field << place.shift);
}

/* ------------------------------------------------------------------ all at once */

/* The top bits of the first n lanes of a word. */
TAMIS_INLINE uint64_t row_tops(uint64_t ones, unsigned width, unsigned n) {
    return ones << (width - 1) & bits_low(n * width);
}

/* Which fields are `value`, their `skipped` lowest bits left out? Bit i of the result: field i. */
TAMIS_INLINE uint32_t row_match(const uint8_t *bucket, row fields, unsigned skipped,
                                uint64_t value) {
    uint64_t const ones = lanes_ones[fields.width];
    uint64_t const pattern = (value << skipped) * ones, skip = ones * bits_low(skipped);
    unsigned const per_word = lanes_per_word[fields.width];
    uint32_t       found = 0;
    for (unsigned i = 0; i < fields.n; i += per_word) {
        unsigned const n = fields.n - i < per_word ? fields.n - i : per_word;
        uint64_t const differ = (row_word(bucket, fields, i) ^ pattern) & ~skip;
        uint64_t const others = lanes_carry(differ, ones, fields.width);
        uint64_t       same = row_tops(ones, fields.width, n) & ~others;
        for (; same != 0; same &= same - 1)
            found |= UINT32_C(1) << (i + bits_lowest(same) / fields.width);
    }
    return found;
}

/* Does any field have this value? Most rows fit into one word, so the first word is read without
 * checking whether there are any fields: that check would be an unpredictable branch. A row without
 * fields may begin at the end of the bucket, so it reads the first word of the bucket instead. */
TAMIS_INLINE bool row_has(const uint8_t *bucket, row fields, uint64_t value) {
    uint64_t const ones = lanes_ones[fields.width];
    unsigned const per_word = lanes_per_word[fields.width];
    fields.at = fields.n != 0 ? fields.at : 0;
    for (unsigned i = 0;;) {
        unsigned const n = fields.n - i < per_word ? fields.n - i : per_word;
        uint64_t const differ = row_word(bucket, fields, i) ^ value * ones;
        uint64_t const others = lanes_carry(differ, ones, fields.width);
        if ((row_tops(ones, fields.width, n) & ~others) != 0) return true;
        i += n;
        if (i == fields.n) return false;
    }
}

#endif
