/* slots.h - open and close a slot among those that fill a cache line to its end.
 *
 * Lines have slots of a byte from byte 14 on (runs.h), shelves have slots of two bytes from byte 8
 * on (shelf.h). A new entry pushes the slots behind it up by one; when an entry goes, they come
 * back:
 *
 *     byte 0         first                                             64
 *          +---------+----+----+----+----+----+------------------------+
 *          | index   | a  | b  | c  | d  | e  | free, zero             |
 *          +---------+----+----+----+----+----+------------------------+
 *                              ^ open slot 2:   a b ? c d e     (the caller writes over ?)
 *                              ^ close slot 2:  a b d e 0
 *
 * With AVX2 this is three vector operations for each half of the line, as fast for the first slot
 * as for the last. memmove() of an unknown length is a call, and a branch that is often
 * mispredicted. The halves are 32 bytes each and overlap: those from `first` on, and the last ones
 * of the line.
 *
 * `first` and `width` are constants of the caller. Nothing beyond the line is read: that would be
 * the next cache line, and loading it would be waiting for it.
 */
#ifndef TAMIS_KINDS_LINE_SLOTS_H
#define TAMIS_KINDS_LINE_SLOTS_H

#include "core/lanes.h"

#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)

TAMIS_INLINE __m256i slots_load(const uint8_t *bytes) {
    return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

TAMIS_INLINE void slots_store(uint8_t *bytes, __m256i all) {
    _mm256_storeu_si256((__m256i *)(void *)bytes, all);
}

/* Which bytes of the half that begins at byte `from` of the line are at byte `at` or behind it? */
TAMIS_INLINE __m256i slots_behind(unsigned from, unsigned at) {
    __m256i const numbers =
        _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                         21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    return _mm256_cmpgt_epi8(_mm256_add_epi8(numbers, _mm256_set1_epi8((char)from)),
                             _mm256_set1_epi8((char)(at - 1)));
}

/* The last half of the line moved down by one slot; the last slot becomes 0. */
TAMIS_INLINE __m256i slots_last_down(const uint8_t *line, unsigned width) {
    __m256i const half = slots_load(line + 32);
    __m256i const top = _mm256_permute2x128_si256(half, half, 0x81); /* its upper lane, then 0 */
    return width == 1 ? _mm256_alignr_epi8(top, half, 1) : _mm256_alignr_epi8(top, half, 2);
}

/* All loads come before the stores, since the halves overlap. */
TAMIS_INLINE void slots_open(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    unsigned const at = first + (slot + 1) * width; /* from here on bytes come from below */
    __m256i const  low = _mm256_blendv_epi8(
         slots_load(line + first), slots_load(line + first - width), slots_behind(first, at));
    __m256i const high = _mm256_blendv_epi8(slots_load(line + 32), slots_load(line + 32 - width),
                                            slots_behind(32, at));
    slots_store(line + first, low);
    slots_store(line + 32, high);
}

TAMIS_INLINE void slots_close(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    unsigned const at = first + slot * width; /* from here on bytes come from above */
    __m256i const  low = _mm256_blendv_epi8(
         slots_load(line + first), slots_load(line + first + width), slots_behind(first, at));
    __m256i const high = _mm256_blendv_epi8(slots_load(line + 32), slots_last_down(line, width),
                                            slots_behind(32, at));
    slots_store(line + first, low);
    slots_store(line + 32, high);
}

#else

TAMIS_INLINE void slots_open(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    uint8_t *const at = line + first + slot * width, *const end = line + TAMIS_LINE_BYTES;
    memmove(at + width, at, (size_t)(end - at) - width);
}

TAMIS_INLINE void slots_close(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    uint8_t *const at = line + first + slot * width, *const end = line + TAMIS_LINE_BYTES;
    memmove(at, at + width, (size_t)(end - at) - width);
    memset(end - width, 0, width);
}

#endif

#endif
