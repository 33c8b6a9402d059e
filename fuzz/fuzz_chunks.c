/* fuzz_chunks.c - the input is a sequence of LOADCHUNK commands, as any client may send them.
 *
 * If the first byte is below 128, each eight bytes make one command from a piece of a valid dump.
 * Pieces come in any order, repeated, cut short, or with other positions and stamps; or changed,
 * with a correct checksum of their front; for keys that exist or not. Otherwise a valid value is
 * changed, all its checksums are corrected, and it is sent in pieces that belong together. One of
 * these values is so large that a thread decodes it. Values that are accepted are then used.
 */
#include "core/le.h"
#include "redis_values.h"

#include <stdio.h>

#define FRONT 40
#define MAX_PIECES 24
#define PIECE_BYTES (1 << 17)
#define VALUE_BYTES (1 << 20)
#define LARGE N_VALUES /* after the small values */

static const char *const commands[] = { NULL, "BF.LOADCHUNK", "CF.LOADCHUNK", "TAMIS.LOADCHUNK",
                                        "TAMIS.LOADCHUNK" };

typedef struct piece {
    unsigned  family;
    long long position;
    uint8_t  *bytes;
    size_t    n;
} piece;

static piece    pieces[MAX_PIECES];
static unsigned n_pieces;

/* The value is moved between two pieces, as defragmentation does: they have the same stamp. */
static void take_dump(unsigned which) {
    static const char *const dumps[] = { NULL, "BF.SCANDUMP", "CF.SCANDUMP", "TAMIS.SCANDUMP",
                                         "TAMIS.SCANDUMP" };
    char                     position[24] = "0";
    const piece *const       first = &pieces[n_pieces];
    for (mock_reply.number = 0; n_pieces < MAX_PIECES;) {
        mock_reply.n = 0;
        if (!mock_run(dumps[value_families[which]], value_names[which], position, NULL)) return;
        if (mock_reply.number == 0 || mock_reply.n == 0) return;
        piece *const one = &pieces[n_pieces++];
        *one =
            (piece){ value_families[which], mock_reply.number, malloc(mock_reply.n), mock_reply.n };
        must(one->bytes != NULL);
        memcpy(one->bytes, mock_reply.bytes, mock_reply.n);
        must(memcmp(one->bytes + 8, first->bytes + 8, 8) == 0);
        mock_move(value_names[which]);
        (void)snprintf(position, sizeof position, "%lld", mock_reply.number);
    }
}

/* ------------------------------------------------------------------ good values */

static struct {
    uint8_t *bytes; /* its encoding */
    size_t   n;
    unsigned family;
} values[N_VALUES + 1];

static void take_value(unsigned i, const char *key, unsigned family) {
    static uint8_t stream[VALUE_BYTES];
    size_t const   n = mock_save(family, mock_value(key), stream, sizeof stream);
    values[i].bytes = malloc(n);
    must(values[i].bytes != NULL);
    values[i].n = values_join(stream, n, values[i].bytes);
    values[i].family = family;
}

static void begin(void) {
    if (n_pieces != 0) return;
    mock_begin();
    values_make();
    take_dump(0);
    take_dump(1);
    must(n_pieces >= 4);
    for (unsigned i = 0; i < N_VALUES; i++) take_value(i, value_names[i], value_families[i]);
    must(mock_run("TAMIS.RESERVE", "large", "ERROR", "0.001", "CAPACITY", "240000", NULL));
    must(mock_run("TAMIS.ADD", "large", "a", NULL));
    take_value(LARGE, "large", FAMILY_SET);
    must(values[LARGE].n > 256 << 10); /* otherwise no thread would decode it */
    mock_clear();
}

/* ------------------------------------------------------------------ a changed value */

/* Send a piece with a front before it: bytes `from` to `to` of a value of n bytes. */
static void send_front(unsigned family, const uint8_t *value, size_t from, size_t to, size_t n) {
    static uint8_t bytes[FRONT + VALUE_BYTES];
    char           number[24];
    memcpy(bytes, "tamischk", 8);
    le64_store(bytes + 8, 77);
    le64_store(bytes + 16, from);
    le64_store(bytes + 24, n);
    le64_store(bytes + 32, values_checksum(bytes, 32));
    memcpy(bytes + FRONT, value + from, to - from);
    (void)snprintf(number, sizeof number, "%zu", 1 + to);
    mock_word const words[] = {
        mock_text(commands[family]), mock_text("n"), mock_text(number), { bytes, FRONT + to - from }
    };
    (void)mock_call(words, 4);
}

/* The input has four bytes: the value, the number of pieces, whether checksums are corrected, and
 * whether clients can wait. Then it has four bytes for each change: the position and the new
 * value. */
static void send_changed(const uint8_t *bytes, size_t n) {
    static uint8_t value[VALUE_BYTES];
    unsigned const which = bytes[1] % (N_VALUES + 1), family = values[which].family;
    size_t const   length = values[which].n, cuts = 1 + bytes[2] % 4u;
    memcpy(value, values[which].bytes, length);
    for (size_t i = 4; i + 3 < n; i += 4)
        value[(le16_load(bytes + i) | (size_t)bytes[i + 2] << 16) % length] ^= bytes[i + 3];
    if (bytes[3] % 8 != 7) values_seal(value, length);
    mock_let_wait(bytes[3] / 8 % 4 != 0);
    send_front(family, value, 0, 0, length);
    for (size_t i = 0; i < cuts; i++)
        send_front(family, value, length * i / cuts, length * (i + 1) / cuts, length);
    mock_let_wait(false);
}

/* ------------------------------------------------------------------ pieces in any order */

/* Change a copy of a piece as the eight bytes say. Returns its length. */
static size_t change(const piece *one, const uint8_t *how, uint8_t *ret_bytes) {
    size_t n = one->n;
    memcpy(ret_bytes, one->bytes, n);
    if (how[1] % 4 == 1) n = le16_load(how + 2) % (n + 1);
    if (how[1] % 4 == 2 && n != 0) ret_bytes[le16_load(how + 2) % n] ^= how[4];
    if (how[1] % 4 == 3 && n >= FRONT) {
        le64_store(ret_bytes + 8 + 8 * (how[2] % 3), UINT64_C(1) << (how[3] % 64));
    }
    if (how[1] / 4 % 4 != 0 && n >= FRONT)
        le64_store(ret_bytes + 32, values_checksum(ret_bytes, 32));
    return n;
}

static void send_piece(const uint8_t *how) {
    static uint8_t           bytes[PIECE_BYTES];
    static const char *const names[] = { "n", "n", "n", "m", "live", "other" };
    const piece *const       one = &pieces[how[0] % n_pieces];
    size_t const             n = change(one, how, bytes);
    long long                position = one->position;
    if (how[5] % 8 == 7) position = (long long)((UINT64_C(1) << (how[6] % 64)) - how[7] % 3);
    if (how[5] % 8 == 6) position = (long long)(1 + n - (n >= FRONT ? FRONT : 0));
    unsigned const family = how[5] / 8 % 4 == 0 ? 1u + how[6] % 3u : one->family;
    char           number[24];
    (void)snprintf(number, sizeof number, "%lld", position);
    mock_word const words[] = {
        mock_text(commands[family]), mock_text(names[how[7] % 6]), mock_text(number), { bytes, n }
    };
    (void)mock_call(words, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    begin();
    must(mock_run("CF.ADD", "live", "a", NULL));
    if (n > 4 && bytes[0] >= 128)
        send_changed(bytes, n);
    else
        for (size_t at = 0; at + 8 <= n && at < 400; at += 8) send_piece(bytes + at);
    if (mock_value("n") != NULL) values_use("n");
    if (mock_value("m") != NULL) values_use("m");
    must(mock_value("live") != NULL && mock_run("CF.EXISTS", "live", "a", NULL));
    mock_clear();
    return 0;
}
