/* fuzz_rdb.c - bytes are what RESTORE hands to the Redis module: refused, or a key that works.
 *
 * The first two bytes choose a good value and what to do with it: use the rest as the stream, or
 * change some bytes of the good one, three bytes for each change. Then its checksums are made right
 * (of the value's header and of the files in it), unless the choice says otherwise.
 */
#include "redis_values.h"
#include "seal.h"

#define HEADER 256
#define ROW 32
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

/* A stream is: the length of the value, then strings. This joins the strings. */
static size_t join(const uint8_t *stream, size_t n, uint8_t *ret_value) {
    size_t done = 0;
    for (size_t at = 8; at + 8 <= n;) {
        uint64_t const piece = le64_load(stream + at);
        if (piece > n - at - 8) break;
        memcpy(ret_value + done, stream + at + 8, (size_t)piece);
        done += (size_t)piece;
        at += 8 + (size_t)piece;
    }
    return done;
}

/* Right checksums: of each file, then of header, rows and requests. */
static void seal_value(uint8_t *value, size_t n) {
    if (n < HEADER) return;
    uint64_t const rows = le64_load(value + 128), extra = le64_load(value + 144);
    if (rows > 48 || extra > n || HEADER + ROW * rows + extra > n) return;
    size_t const front = HEADER + ROW * (size_t)rows;
    size_t       at = front + (size_t)extra;
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t const length = le64_load(value + HEADER + ROW * i);
        if (length > n - at) break;
        seal_file(value + at, (size_t)length);
        at += (size_t)length;
    }
    le64_store(value + 248, 0);
    uint64_t const sum = values_checksum(value, front);
    uint64_t const more = values_checksum(value + front, (size_t)extra);
    le64_store(value + 248, extra == 0 ? sum : sum ^ (more << 1 | more >> 63));
}

/* The changed value as a stream of one string (or of two, if it is long). */
static size_t make_stream(uint8_t *value, size_t n, const uint8_t *changes, size_t n_changes,
                          bool is_sealed, uint8_t *ret_stream) {
    for (size_t i = 0; i + 3 < n_changes; i += 4)
        value[(le16_load(changes + i) | (size_t)(changes[i + 2] & 1) << 16) % n] ^= changes[i + 3];
    if (is_sealed) seal_value(value, n);
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
        length = make_stream(value, join(good[which].bytes, good[which].n, value), bytes + 2, n - 2,
                             bytes[0] / 32 != 7, stream);
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
