/* layout.c - the parts of a body; see size.h. The GPU library has this file, too.
 *
 * Worked example: 1000 lines, remainders of 10 bits, no counters, an attic for 100 words. A rest is
 * 2 bits. The attic has 126 homes, and so 226 places, with words of 3 bytes (14 bits, and 10 for a
 * bucket).
 *
 *     part           begins at                 length
 *     lines          byte 0                    1000 x 64 bytes
 *     shelves        byte 64000                63 x 64 bytes, one for 16 lines
 *     words          byte 68032                226 x 3 bytes
 *     count          byte 68710                8 bytes
 *     slot rests     bit 549760                62 x 1600 bits and 832: 16 lines are 25 whole words,
 *                                              the last 8 lines 12.5, rounded up
 *     shelf rests    bit 649792                63 x 64 bits: 28 x 2, rounded up to a word
 *     word rests     bit 653824                226 x 2 bits
 *     end            bit 654276
 */
#include "core/checked.h"
#include "size.h"

/* 0 if a product does not fit into 64 bits: a print is made of the bits of a hash, so no table can
 * have as many as 2^64. */
uint64_t tamis_line_prints(const uint64_t *g) {
    uint64_t prints;
    if (g[LINE_REMAINDER_BITS] > 63) return 0;
    if (!checked_mul(g[LINE_BUCKETS], LINE_CHAINS, &prints)) return 0;
    return checked_mul(prints, UINT64_C(1) << g[LINE_REMAINDER_BITS], &prints) ? prints : 0;
}

/* Every geometry of a file passes through here, so each field is checked. Copies are told apart by
 * entries or by counters, not by both; and an entry with a value is the only one of its
 * fingerprint. */
static bool line_fields_are_possible(const uint64_t *g) {
    uint64_t const bits = g[LINE_REMAINDER_BITS];
    if (g[LINE_BUCKETS] < 1 || g[LINE_BUCKETS] > LINE_MAX_BUCKETS) return false;
    if (g[LINE_ATTIC] > LINE_MAX_ATTIC) return false;
    if (bits < LINE_BYTE_BITS || bits > LINE_MAX_REMAINDER_BITS) return false;
    if (g[LINE_COUNTER_BITS] > LINE_MAX_COUNTER_BITS || g[LINE_VALUE_BITS] > LINE_MAX_VALUE_BITS)
        return false;
    if (g[LINE_COPIES] < 1 || g[LINE_COPIES] > LINE_MAX_COPIES) return false;
    if ((g[LINE_COUNTER_BITS] != 0 || g[LINE_VALUE_BITS] != 0) && g[LINE_COPIES] != 1) return false;
    return line_rest_bits(g) <= LINE_MAX_REST_BITS && tamis_line_prints(g) != 0;
}

static uint64_t line_whole_words(uint64_t bits) {
    return (bits + 63) / 64 * 64;
}

/* Nothing wraps: 2^44 lines of 512 + 50 x 56 bits. The rests of 16 lines and of their shelf begin
 * at a word of 64 bits, so that threads that work on different groups never write to one word. */
bool tamis_line_layout(const uint64_t *g, line_layout *ret_layout) {
    if (!line_fields_are_possible(g)) return false;
    uint64_t const shelves = (g[LINE_BUCKETS] + SHELF_BUCKETS - 1) / SHELF_BUCKETS;
    uint64_t const places = line_attic_homes(g[LINE_ATTIC]) + g[LINE_ATTIC];
    uint64_t const rest = line_rest_bits(g);
    line_layout    layout = { .shelves = g[LINE_BUCKETS] * TAMIS_LINE_BYTES };
    layout.words = layout.shelves + shelves * TAMIS_LINE_BYTES;
    layout.count = layout.words + line_word_bytes(g[LINE_BUCKETS]) * places;
    uint64_t const group = SHELF_BUCKETS * LINE_SLOTS * rest;
    layout.slot_rests = line_whole_words(8 * (layout.count + 8));
    layout.slot_pad = line_whole_words(group) - group;
    layout.shelf_stride = line_whole_words(SHELF_KEYS * rest);
    layout.shelf_rests = layout.slot_rests +
                         g[LINE_BUCKETS] / SHELF_BUCKETS * (group + layout.slot_pad) +
                         line_whole_words(g[LINE_BUCKETS] % SHELF_BUCKETS * LINE_SLOTS * rest);
    layout.word_rests = layout.shelf_rests + shelves * layout.shelf_stride;
    layout.end = layout.word_rests + places * rest;
    *ret_layout = layout;
    return true;
}
