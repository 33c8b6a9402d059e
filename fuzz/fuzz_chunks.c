/* fuzz_chunks.c - bytes are a sequence of LOADCHUNK commands, as any client may send them.
 *
 * Pieces of good dumps come in any order, twice, cut, with other positions and stamps, changed with
 * the checksum made right, for keys that exist or not. Eight bytes for each command. What comes to
 * life is used.
 */
#include "core/le.h"
#include "redis_values.h"

#include <stdio.h>

#define FRONT 40
#define MAX_PIECES 24
#define PIECE_BYTES (1 << 17)

typedef struct piece {
    unsigned  family;
    long long position;
    uint8_t  *bytes;
    size_t    n;
} piece;

static piece    pieces[MAX_PIECES];
static unsigned n_pieces;

static void take_dump(unsigned which) {
    static const char *const commands[] = { NULL, "BF.SCANDUMP", "CF.SCANDUMP", "TAMIS.SCANDUMP",
                                            "TAMIS.SCANDUMP" };
    char                     position[24] = "0";
    for (mock_reply.number = 0; n_pieces < MAX_PIECES;) {
        mock_reply.n = 0;
        if (!mock_run(commands[value_families[which]], value_names[which], position, NULL)) return;
        if (mock_reply.number == 0 || mock_reply.n == 0) return;
        piece *const one = &pieces[n_pieces++];
        *one =
            (piece){ value_families[which], mock_reply.number, malloc(mock_reply.n), mock_reply.n };
        must(one->bytes != NULL);
        memcpy(one->bytes, mock_reply.bytes, mock_reply.n);
        (void)snprintf(position, sizeof position, "%lld", mock_reply.number);
    }
}

static void begin(void) {
    if (n_pieces != 0) return;
    mock_begin();
    values_make();
    take_dump(0);
    take_dump(1);
    must(n_pieces >= 4);
    mock_clear();
}

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
    static const char *const commands[] = { NULL, "BF.LOADCHUNK", "CF.LOADCHUNK",
                                            "TAMIS.LOADCHUNK" };
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
    for (size_t at = 0; at + 8 <= n && at < 400; at += 8) send_piece(bytes + at);
    if (mock_value("n") != NULL) values_use("n");
    if (mock_value("m") != NULL) values_use("m");
    must(mock_value("live") != NULL && mock_run("CF.EXISTS", "live", "a", NULL));
    mock_clear();
    return 0;
}
