/* chunks.c - dumps in pieces, and loads that are staged. */
#include "chunks.h"

#include "background.h"
#include "codec.h"
#include "settings.h"
#include "types.h"
#include "words.h"

#include <string.h>

#define FRONT_BYTES 40
#define PIECE_BYTES ((uint64_t)16 << 20)
#define MAX_STAGES 16

static const char MAGIC[8] = { 't', 'a', 'm', 'i', 's', 'c', 'h', 'k' };

typedef struct piece_front {
    uint64_t stamp, offset, total;
} piece_front;

static void put64(char *at, uint64_t number) {
    for (unsigned i = 0; i < 8; i++) at[i] = (char)(number >> (8 * i) & 255);
}

static uint64_t get64(const char *at) {
    uint64_t number = 0;
    for (unsigned i = 8; i-- != 0;) number = number << 8 | (unsigned char)at[i];
    return number;
}

static void front_write(const piece_front *front, char *ret_bytes) {
    memcpy(ret_bytes, MAGIC, sizeof MAGIC);
    put64(ret_bytes + 8, front->stamp);
    put64(ret_bytes + 16, front->offset);
    put64(ret_bytes + 24, front->total);
    put64(ret_bytes + 32, value_checksum(ret_bytes, 32));
}

static bool front_read(const char *bytes, size_t n, piece_front *ret_front) {
    if (n < FRONT_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) return false;
    if (get64(bytes + 32) != value_checksum(bytes, 32)) return false;
    *ret_front = (piece_front){ get64(bytes + 8), get64(bytes + 16), get64(bytes + 24) };
    return true;
}

/* ------------------------------------------------------------------ out */

/* Different contents have different stamps, also in another process. The address is that of the
 * account: defragmentation may move the value itself between two pieces of a dump. */
static uint64_t stamp_of(const tamis_value *value) {
    char           bytes[24];
    uint64_t const address = (uintptr_t)value->account;
    put64(bytes, value->changes);
    put64(bytes + 8, value->items);
    put64(bytes + 16, address);
    return value_checksum(bytes, sizeof bytes);
}

static bool append_front(byte_buffer *piece, const piece_front *front) {
    char bytes[FRONT_BYTES];
    front_write(front, bytes);
    return buffer_append(piece, bytes, sizeof bytes);
}

dump_result chunks_dump(tamis_value *value, long long position, byte_buffer *ret_piece,
                        long long *ret_next) {
    if (position == 0) value->dumped = value->changes;
    piece_front const header = { stamp_of(value), 0, value_encoded_bytes(value) };
    if (position > 0 && (uint64_t)position - 1 >= header.total) return DUMP_END;
    if (value->dumped != value->changes) return DUMP_CHANGED;
    if (position == 0) {
        *ret_next = 1;
        return append_front(ret_piece, &header) ? DUMP_PIECE : DUMP_NO_MEMORY;
    }
    uint64_t const    offset = (uint64_t)position - 1;
    uint64_t const    rest = header.total - offset;
    uint64_t const    n = rest < PIECE_BYTES ? rest : PIECE_BYTES;
    piece_front const front = { header.stamp, offset, header.total };
    *ret_next = (long long)(1 + offset + n);
    return append_front(ret_piece, &front) && value_encode_range(value, offset, n, ret_piece)
               ? DUMP_PIECE
               : DUMP_NO_MEMORY;
}

/* ------------------------------------------------------------------ staged */

typedef struct staged_load {
    bool        is_used;
    int         db;
    unsigned    family;
    byte_buffer name, bytes;
    piece_front header;
    long long   last_ms;
} staged_load;

static staged_load stages[MAX_STAGES];

static void stage_drop(staged_load *stage) {
    buffer_free(&stage->name);
    buffer_free(&stage->bytes);
    stage->is_used = false;
}

void chunks_tidy(bool all) {
    long long const oldest = redis_Milliseconds() - 1000 * settings.stage_seconds;
    for (unsigned i = 0; i < MAX_STAGES; i++) {
        if (stages[i].is_used && (all || stages[i].last_ms < oldest)) stage_drop(&stages[i]);
    }
}

static staged_load *stage_find(const key_handle *key) {
    tamis_key const name = word_key(key->name);
    int const       db = redis_GetSelectedDb(key->ctx);
    for (unsigned i = 0; i < MAX_STAGES; i++) {
        staged_load *const one = &stages[i];
        if (one->is_used && one->db == db && one->name.n == name.bytes &&
            memcmp(one->name.bytes, name.data, name.bytes) == 0)
            return one;
    }
    return NULL;
}

/* A free place, or that of the load that has waited longest. */
static staged_load *stage_take(void) {
    staged_load *oldest = &stages[0];
    for (unsigned i = 0; i < MAX_STAGES; i++) {
        if (!stages[i].is_used) return &stages[i];
        if (stages[i].last_ms < oldest->last_ms) oldest = &stages[i];
    }
    stage_drop(oldest);
    return oldest;
}

static load_result stage_begin(key_handle *key, unsigned family, const char *bytes, size_t n) {
    piece_front header;
    if (n != FRONT_BYTES) return LOAD_BAD_HEADER;
    if (!front_read(bytes, n, &header) || header.offset != 0) return LOAD_BAD_CONTENT;
    if (header.total < VALUE_HEADER_BYTES || header.total > type_max_encoded_bytes())
        return LOAD_BAD_CONTENT;
    staged_load *const old = stage_find(key);
    staged_load *const one = old != NULL ? old : stage_take();
    tamis_key const    name = word_key(key->name);
    if (old != NULL) stage_drop(old);
    *one = (staged_load){ .is_used = true, .family = family, .header = header };
    one->db = redis_GetSelectedDb(key->ctx);
    one->last_ms = redis_Milliseconds();
    if (buffer_append(&one->name, name.data, name.bytes)) return LOAD_OK;
    stage_drop(one);
    return LOAD_NO_MEMORY;
}

/* `piece` has room for the largest one, so there is memory for all of them. */
static void replicate_load(const key_handle *key, const decoding *job, byte_buffer *piece) {
    char        bytes[FRONT_BYTES];
    piece_front front = { job->stamp, 0, job->bytes.n };
    front_write(&front, bytes);
    redis_Replicate(key->ctx, "TAMIS.LOADCHUNK", "slb", key->name, 1LL, bytes, sizeof bytes);
    for (uint64_t at = 0; at < job->bytes.n; at += PIECE_BYTES) {
        uint64_t const rest = job->bytes.n - at, n = rest < PIECE_BYTES ? rest : PIECE_BYTES;
        front.offset = at;
        piece->n = 0;
        (void)append_front(piece, &front);
        (void)buffer_append(piece, job->bytes.bytes + at, (size_t)n);
        redis_Replicate(key->ctx, "TAMIS.LOADCHUNK", "slb", key->name, (long long)(1 + at + n),
                        piece->bytes, piece->n);
    }
}

static void decode_stage(decoding *job) {
    job->value = value_decode(job->bytes.bytes, job->bytes.n, job->family, NULL);
}

static void reply_load(key_handle *key, unsigned family, load_result result) {
    if (result == LOAD_OK)
        redis_ReplyWithSimpleString(key->ctx, "OK");
    else
        redis_ReplyWithError(key->ctx, chunks_error(family, result));
}

/* Give the key its value, unless somebody else has made it meanwhile. */
static load_result give_to_key(key_handle *key, decoding *job) {
    byte_buffer    piece = { NULL, 0, 0 };
    uint64_t const most = job->bytes.n < PIECE_BYTES ? job->bytes.n : PIECE_BYTES;
    if (job->value == NULL || key->value != NULL || key->is_foreign) return LOAD_REFUSED;
    if (!buffer_reserve(&piece, FRONT_BYTES + (size_t)most)) return LOAD_NO_MEMORY;
    key_set(key, job->value);
    job->value = NULL;
    replicate_load(key, job, &piece);
    buffer_free(&piece);
    key_notify(key, "tamis.loadchunk");
    return LOAD_OK;
}

static void finish_stage(key_handle *key, decoding *job) {
    reply_load(key, job->family, give_to_key(key, job));
}

/* All bytes are there: are they a value? */
static void stage_finish(key_handle *key, staged_load *stage) {
    decoding job = { .source = { stage->bytes.bytes, stage->bytes.n },
                     .bytes = stage->bytes,
                     .family = stage->family,
                     .decode = decode_stage,
                     .finish = finish_stage,
                     .stamp = stage->header.stamp };
    stage->bytes = (byte_buffer){ NULL, 0, 0 };
    stage_drop(stage);
    background_decode(key, &job);
}

const char *chunks_error(unsigned family, load_result result) {
    if (result == LOAD_NO_STAGE) return "ERR not found";
    if (result == LOAD_NO_MEMORY) return "ERR Insufficient memory";
    if (family != FAMILY_CF) return "ERR received bad data";
    return result == LOAD_BAD_HEADER    ? "Invalid header"
           : result == LOAD_BAD_CONTENT ? "Couldn't create filter!"
                                        : "Couldn't load chunk!";
}

/* A piece. LOAD_REPLIED: it was the last one, and the reply is given, or will be. */
static load_result take_piece(key_handle *key, unsigned family, long long position,
                              const char *bytes, size_t n) {
    piece_front front;
    chunks_tidy(false);
    if (position == 1) return stage_begin(key, family, bytes, n);
    staged_load *const stage = stage_find(key);
    if (stage == NULL || stage->family != family) return LOAD_NO_STAGE;
    if (!front_read(bytes, n, &front) || front.stamp != stage->header.stamp ||
        front.total != stage->header.total || front.offset != stage->bytes.n ||
        n - FRONT_BYTES > front.total - front.offset ||
        (uint64_t)position != 1 + front.offset + (n - FRONT_BYTES) || n == FRONT_BYTES)
        return LOAD_BAD_PIECE;
    if (!buffer_append(&stage->bytes, bytes + FRONT_BYTES, n - FRONT_BYTES)) {
        stage_drop(stage);
        return LOAD_NO_MEMORY;
    }
    stage->last_ms = redis_Milliseconds();
    if (stage->bytes.n < stage->header.total) return LOAD_OK;
    stage_finish(key, stage);
    return LOAD_REPLIED;
}

void chunks_load(key_handle *key, unsigned family, long long position, tamis_key piece) {
    load_result const result = take_piece(key, family, position, piece.data, piece.bytes);
    if (result != LOAD_REPLIED) reply_load(key, family, result);
}

int command_loadchunk(redis_ctx *ctx, redis_string **argv, int argc) {
    long long position;
    if (argc != 4) return redis_WrongArity(ctx);
    if (!word_number(argv[2], &position) || position < 1)
        return redis_ReplyWithError(ctx, "ERR the position must be a number above 0");
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    if (key.value != NULL || key.is_foreign)
        redis_ReplyWithError(ctx, "ERR item exists");
    else
        chunks_load(&key, 0, position, word_key(argv[3]));
    key_close(&key);
    return REDIS_OK;
}

/* ------------------------------------------------------------------ append-only files */

typedef struct aof_emitter {
    redis_io     *io;
    redis_string *key;
    piece_front   front;
    byte_buffer   piece;
} aof_emitter;

static bool emitter_flush(aof_emitter *emitter) {
    size_t const n = emitter->piece.n - FRONT_BYTES;
    if (n == 0) return true;
    front_write(&emitter->front, emitter->piece.bytes);
    emitter->front.offset += n;
    redis_EmitAOF(emitter->io, "TAMIS.LOADCHUNK", "slb", emitter->key,
                  (long long)(1 + emitter->front.offset), emitter->piece.bytes, emitter->piece.n);
    emitter->piece.n = FRONT_BYTES;
    return true;
}

static bool emitter_write(void *context, const void *bytes, size_t n) {
    aof_emitter *const emitter = context;
    if (emitter->piece.n + n > PIECE_BYTES && !emitter_flush(emitter)) return false;
    return buffer_append(&emitter->piece, bytes, n);
}

void chunks_rewrite(redis_io *io, redis_string *key, void *value) {
    aof_emitter emitter = { .io = io, .key = key };
    char        bytes[FRONT_BYTES];
    emitter.front = (piece_front){ stamp_of(value), 0, value_encoded_bytes(value) };
    front_write(&emitter.front, bytes);
    redis_EmitAOF(io, "TAMIS.LOADCHUNK", "slb", key, 1LL, bytes, sizeof bytes);
    bool const is_good = buffer_append(&emitter.piece, bytes, sizeof bytes) &&
                         value_encode(value, emitter_write, &emitter) && emitter_flush(&emitter);
    if (!is_good) redis_LogIOError(io, "warning", "tamis: no memory to rewrite a key");
    buffer_free(&emitter.piece);
}
