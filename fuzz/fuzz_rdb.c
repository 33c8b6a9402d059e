/* fuzz_rdb.c - the input is what RESTORE passes to the Redis module: it is refused, or becomes a
 * working key.
 *
 * The first two bytes choose a valid value and what to do: use the rest of the input as the stream,
 * or change some bytes of the valid value, with three bytes of input for each change. Then its
 * checksums (of the value's header and of the files in it) are corrected, unless the choice says
 * otherwise.
 */
#include "redis_values.h"

#define ROOM (1 << 16)

static struct {
    uint8_t bytes[ROOM];
    size_t  n;
} good[N_VALUES];

static void begin(void) {
    if (good[0].n != 0) return;
    mock_begin();
    values_make();
    for (unsigned i = 0; i < N_VALUES; i++)
        good[i].n = mock_save(value_families[i], mock_value(value_names[i]), good[i].bytes, ROOM);
    mock_clear();
}

/* The changed value as a stream of one string (or of two, if it is long). */
static size_t make_stream(uint8_t *value, size_t n, const uint8_t *changes, size_t n_changes,
                          bool is_sealed, uint8_t *ret_stream) {
    for (size_t i = 0; i + 3 < n_changes; i += 4)
        value[(le16_load(changes + i) | (size_t)(changes[i + 2] & 1) << 16) % n] ^= changes[i + 3];
    if (is_sealed) values_seal(value, n);
    le64_store(ret_stream, n);
    le64_store(ret_stream + 8, n);
    memcpy(ret_stream + 16, value, n);
    return n + 16;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static uint8_t value[ROOM], stream[ROOM + 16];
    begin();
    if (n < 2 || n > ROOM) return 0;
    unsigned const which = bytes[0] % N_VALUES, family = 1 + bytes[1] % 4;
    bool const     is_raw = bytes[0] / 8 % 4 == 0;
    size_t         length = n - 2;
    if (is_raw)
        memcpy(stream, bytes + 2, length);
    else
        length = make_stream(value, values_join(good[which].bytes, good[which].n, value), bytes + 2,
                             n - 2, bytes[0] / 32 != 7, stream);
    mock_stream    from = { .bytes = stream, .n = length };
    unsigned const stated = bytes[1] / 8 % 2 == 0 ? value_families[which] : family;
    void *const    made = mock_load(stated, &from, bytes[1] / 16 % 4 == 3);
    if (made != NULL) {
        mock_set("n", stated, made);
        values_use("n");
    }
    mock_clear();
    return 0;
}
