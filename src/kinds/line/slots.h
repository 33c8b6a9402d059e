/* slots.h - open and close a slot among those that fill a cache line to its end.
 *
 * Lines have slots of a byte from byte 14 on (runs.h), shelves have slots of two bytes from byte 8
 * on (shelf.h). A new entry pushes the slots after it up by one; when an entry goes, they come
 * back:
 *
 *     byte 0         first                                             64
 *          +---------+----+----+----+----+----+------------------------+
 *          | index   | a  | b  | c  | d  | e  | free, zero             |
 *          +---------+----+----+----+----+----+------------------------+
 *                              ^ open slot 2:   a b ? c d e     (the caller writes over ?)
 *                              ^ close slot 2:  a b d e 0
 *
 * With vectors this is three operations for each half of the line, as fast for the first slot as
 * for the last. memmove() of an unknown length is a call, and a branch that is often mispredicted.
 * The halves are 32 bytes each and overlap: those from `first` on, and the last ones of the line.
 *
 * With AVX-512 and NEON the line is moved by one slot as a whole, and a mask chooses.
 *
 * `first` and `width` are constants of the caller. Nothing beyond the line is read: that would be
 * the next cache line, and loading it would be waiting for it.
 */
#ifndef TAMIS_KINDS_LINE_SLOTS_H
#define TAMIS_KINDS_LINE_SLOTS_H

#include "core/lanes.h"

#ifdef LANES_VECTORS

/* Which bytes of the half that begins at byte `from` of the line are at byte `at` or after it? */
TAMIS_INLINE lanes_32 slots_behind(unsigned from, unsigned at) {
    static const uint8_t numbers[TAMIS_LINE_BYTES] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    return lanes_is_above(lanes_load(numbers + from), lanes_all(at - 1));
}

#ifdef LANES_LINE

TAMIS_INLINE void slots_open(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    lanes_64 const all = lanes_load_line(line);
    lanes_store_from(line, first + slot * width, lanes_line_up(all, width), all);
}

/* The last slot becomes 0. */
TAMIS_INLINE void slots_close(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    lanes_64 const all = lanes_load_line(line);
    lanes_store_from(line, first + slot * width, lanes_line_down(all, width), all);
}

#else

/* All loads come before the stores, since the halves overlap. */
TAMIS_INLINE void slots_open(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    unsigned const at = first + (slot + 1) * width; /* from here on bytes come from below */
    lanes_32 const low = lanes_pick(slots_behind(first, at), lanes_load(line + first - width),
                                    lanes_load(line + first));
    lanes_32 const high =
        lanes_pick(slots_behind(32, at), lanes_load(line + 32 - width), lanes_load(line + 32));
    lanes_store(line + first, low);
    lanes_store(line + 32, high);
}

/* The last slot becomes 0. */
TAMIS_INLINE void slots_close(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    unsigned const at = first + slot * width; /* from here on bytes come from above */
    lanes_32 const low = lanes_pick(slots_behind(first, at), lanes_load(line + first + width),
                                    lanes_load(line + first));
    lanes_32 const last = lanes_load(line + 32);
    lanes_32 const high = lanes_pick(slots_behind(32, at), lanes_move_down(last, width), last);
    lanes_store(line + first, low);
    lanes_store(line + 32, high);
}

#endif

/* slots_open() for `bytes` bytes at byte `at`, a number of slots that is known only at run time.
 * There must be as many bytes before `first`. */
TAMIS_INLINE void slots_open_some(uint8_t *line, unsigned first, unsigned at, unsigned bytes) {
    TAMIS_ASSERT(bytes <= first && at + bytes <= TAMIS_LINE_BYTES);
    lanes_32 const low = lanes_pick(slots_behind(first, at + bytes),
                                    lanes_load(line + first - bytes), lanes_load(line + first));
    lanes_32 const high = lanes_pick(slots_behind(32, at + bytes), lanes_load(line + 32 - bytes),
                                     lanes_load(line + 32));
    lanes_store(line + first, low);
    lanes_store(line + 32, high);
}

#else

TAMIS_INLINE void slots_open(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    uint8_t *const at = line + first + slot * width, *const end = line + TAMIS_LINE_BYTES;
    memmove(at + width, at, (size_t)(end - at) - width);
}

TAMIS_INLINE void slots_open_some(uint8_t *line, unsigned first, unsigned at, unsigned bytes) {
    (void)first; /* memmove() needs no bytes below */
    memmove(line + at + bytes, line + at, TAMIS_LINE_BYTES - at - bytes);
}

TAMIS_INLINE void slots_close(uint8_t *line, unsigned first, unsigned width, unsigned slot) {
    uint8_t *const at = line + first + slot * width, *const end = line + TAMIS_LINE_BYTES;
    memmove(at, at + width, (size_t)(end - at) - width);
    memset(end - width, 0, width);
}

#endif

#endif
