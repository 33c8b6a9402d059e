/* types.c - what the server asks of a value: save it, load it, copy it, free it. */
#include "types.h"

#include "chunks.h"
#include "clock.h"
#include "codec.h"
#include "keys.h"
#include "settings.h"

#include <string.h>

#define ENCODING 1
#define PIECE_BYTES ((size_t)1 << 20) /* longest string in an RDB file that we write or read */

static redis_type *types[FAMILY_STATES + 1];

/* The server wants nine characters. */
static const char *const names[FAMILY_STATES + 1] = { NULL, "tamis--bf", "tamis--cf", "tamis-set",
                                                      "tamis-sta" };

bool type_is_ours(const redis_type *type) {
    for (unsigned i = FAMILY_BF; i <= FAMILY_STATES; i++) {
        if (type != NULL && types[i] == type) return true;
    }
    return false;
}

redis_type *type_of_family(value_family family) {
    return types[family];
}

/* Files have a header and checksums: at most 4 KiB for each part and an eighth of the body more. */
uint64_t type_max_encoded_bytes(void) {
    uint64_t const limit = (uint64_t)settings.max_key_bytes;
    return limit == 0 ? UINT64_MAX : limit + limit / 8 + (uint64_t)VALUE_MAX_PARTS * 8192;
}

/* ------------------------------------------------------------------ RDB */

static bool rdb_write(void *context, const void *bytes, size_t n) {
    for (size_t at = 0; at < n; at += PIECE_BYTES) {
        size_t const piece = n - at < PIECE_BYTES ? n - at : PIECE_BYTES;
        redis_SaveStringBuffer(context, (const char *)bytes + at, piece);
    }
    return true;
}

/* The length, and then pieces until so many bytes were saved. */
static void rdb_save(redis_io *io, void *value) {
    redis_SaveUnsigned(io, value_encoded_bytes(value));
    if (!value_encode(value, rdb_write, io))
        redis_LogIOError(io, "warning", "tamis: no memory to save a key");
}

/* Memory is taken for bytes that have arrived, not for bytes that are promised. */
static bool rdb_gather(redis_io *io, byte_buffer *bytes) {
    uint64_t const total = redis_LoadUnsigned(io);
    if (redis_IsIOError(io) || total < VALUE_HEADER_BYTES || total > type_max_encoded_bytes())
        return false;
    while (bytes->n < total) {
        size_t      n = 0;
        char *const piece = redis_LoadStringBuffer(io, &n);
        if (piece == NULL || redis_IsIOError(io)) return false;
        bool const is_good =
            n != 0 && n <= PIECE_BYTES && n <= total - bytes->n && buffer_append(bytes, piece, n);
        redis_Free(piece);
        if (!is_good) return false;
    }
    return true;
}

static void *rdb_load(redis_io *io, int encoding, value_family family) {
    byte_buffer  bytes = { NULL, 0, 0 };
    tamis_value *value = NULL;
    const char  *why = "the stream is cut, or too large";
    if (encoding > ENCODING)
        why = "written by a newer version of the module";
    else if (rdb_gather(io, &bytes))
        value = value_decode(bytes.bytes, bytes.n, family, &why);
    buffer_free(&bytes);
    if (value == NULL) {
        redis_LogIOError(io, "warning", "tamis: a value cannot be loaded: %s", why);
        return NULL;
    }
    const redis_string *const name = redis_GetKeyNameFromIO(io);
    if (name != NULL) clock_watch(value, redis_GetDbIdFromIO(io), name);
    return value;
}

static void *rdb_load_bf(redis_io *io, int encoding) {
    return rdb_load(io, encoding, FAMILY_BF);
}
static void *rdb_load_cf(redis_io *io, int encoding) {
    return rdb_load(io, encoding, FAMILY_CF);
}
static void *rdb_load_set(redis_io *io, int encoding) {
    return rdb_load(io, encoding, FAMILY_SET);
}
static void *rdb_load_states(redis_io *io, int encoding) {
    return rdb_load(io, encoding, FAMILY_STATES);
}

/* ------------------------------------------------------------------ the rest */

static size_t mem_usage(const void *value) {
    return (size_t)value_memory(value) + clock_memory(value);
}

static void free_value(void *value) {
    clock_forget(value);
    value_free(value);
}

/* Pages that go back to the system; more than 64 are freed by another thread. */
static size_t free_effort(redis_string *key, const void *value) {
    (void)key;
    return 1 + (size_t)(value_memory(value) / 4096);
}

/* A copy has an account of its own, so it is made by writing and reading. */
static void *copy_value(redis_key_context *context, const void *from) {
    byte_buffer  bytes = { NULL, 0, 0 };
    tamis_value *copy = NULL;
    if (value_encode(from, buffer_write, &bytes))
        copy = value_decode(bytes.bytes, bytes.n, 0, NULL);
    buffer_free(&bytes);
    if (copy != NULL)
        clock_watch(copy, redis_GetToDbIdFromOptCtx(context),
                    redis_GetToKeyNameFromOptCtx(context));
    return copy;
}

static bool digest_write(void *context, const void *bytes, size_t n) {
    redis_DigestAddStringBuffer(context, bytes, n);
    return true;
}

static void digest(redis_digest *digest, void *value) {
    struct tamis_value *const one = value;
    redis_DigestAddLongLong(digest, (long long)one->family);
    redis_DigestAddLongLong(digest, (long long)one->items);
    redis_DigestAddLongLong(digest, (long long)one->last_ms);
    (void)value_encode_contents(value, digest_write, digest);
    redis_DigestEndSequence(digest);
}

/* Bodies are large allocations, which the server's allocator does not fragment: only the value
 * itself is moved, unless a thread knows it by its address. */
static int defrag(redis_defrag *context, redis_string *key, void **value) {
    (void)key;
    bool const                is_shared = atomic_load(&((tamis_value *)*value)->refs) != 1;
    struct tamis_value *const moved = is_shared ? NULL : redis_DefragAlloc(context, *value);
    if (moved != NULL) {
        value_moved(moved, *value);
        *value = moved;
        clock_moved(moved);
    }
    return 0;
}

bool types_create(redis_ctx *ctx) {
    static void *(*const loaders[])(redis_io *, int) = { NULL, rdb_load_bf, rdb_load_cf,
                                                         rdb_load_set, rdb_load_states };
    for (unsigned i = FAMILY_BF; i <= FAMILY_STATES; i++) {
        redis_type_methods methods = { .version = 4,
                                       .rdb_load = loaders[i],
                                       .rdb_save = rdb_save,
                                       .aof_rewrite = chunks_rewrite,
                                       .mem_usage = mem_usage,
                                       .digest = digest,
                                       .free = free_value,
                                       .free_effort = free_effort,
                                       .defrag = defrag,
                                       .copy2 = copy_value };
        types[i] = redis_CreateDataType(ctx, names[i], ENCODING, &methods);
        if (types[i] == NULL) return false;
    }
    return true;
}
