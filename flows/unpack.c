/* unpack.c - see unpack.h. */
#include "unpack.h"

#include <stdlib.h>
#include <string.h>

#ifdef FLOWS_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef FLOWS_HAVE_LZMA
#include <lzma.h>
#endif
#ifdef FLOWS_HAVE_ZSTD
#include <zstd.h>
#endif

/* A file can ask for any amount of memory. xz -9 needs 65 MiB; libzstd has a limit of 128 MiB. */
#define MOST_MEMORY (UINT64_C(256) << 20)

struct unpack {
    bool (*step)(unpack *u, unpack_in *in, uint8_t *out, size_t room, size_t *ret_n);
    void (*end)(unpack *u);
    bool is_between; /* parts: the last one is complete, and no other has begun */
#ifdef FLOWS_HAVE_ZLIB
    z_stream gzip;
#endif
#ifdef FLOWS_HAVE_LZMA
    lzma_stream xz;
#endif
#ifdef FLOWS_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

const char *unpack_detect(const uint8_t *bytes, size_t n) {
    static const struct {
        const char *format, *magic;
    } known[] = { { "gzip", "\x1f\x8b" },
                  { "xz", "\xfd"
                          "7zXZ" },
                  { "bzip2", "BZh" },
                  { "zstd", "\x28\xb5\x2f\xfd" } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t const length = strlen(known[i].magic);
        if (n >= length && memcmp(bytes, known[i].magic, length) == 0) return known[i].format;
    }
    return NULL;
}

/* ------------------------------------------------------------------ gzip */

#ifdef FLOWS_HAVE_ZLIB

static bool gzip_step(unpack *u, unpack_in *in, uint8_t *out, size_t room, size_t *ret_n) {
    z_stream *const stream = &u->gzip;
    if (u->is_between && in->at != in->end) {
        if (*in->at != 0x1f) { /* zeros may follow the last part, from tapes */
            bool const is_padding = *in->at == 0;
            in->at = in->end;
            return is_padding;
        }
        if (inflateReset(stream) != Z_OK) return false;
    }
    stream->next_in = (uint8_t *)(uintptr_t)in->at;
    stream->avail_in = (unsigned)(in->end - in->at);
    stream->next_out = out;
    stream->avail_out = (unsigned)room;
    int const status = inflate(stream, Z_NO_FLUSH);
    if (in->at != in->end) u->is_between = status == Z_STREAM_END;
    in->at = stream->next_in;
    *ret_n = room - stream->avail_out;
    return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
}

static void gzip_end(unpack *u) {
    (void)inflateEnd(&u->gzip);
}

static bool gzip_begin(unpack *u) {
    u->step = gzip_step;
    u->end = gzip_end;
    return inflateInit2(&u->gzip, 15 + 16) == Z_OK; /* the largest window, and gzip's header */
}

#endif

/* ------------------------------------------------------------------ xz */

#ifdef FLOWS_HAVE_LZMA

/* Is_between is never known: with LZMA_CONCATENATED another part may follow until the input ends.
 * So xz's own footer is checked with LZMA_FINISH, when there is no more input. */
static bool xz_step(unpack *u, unpack_in *in, uint8_t *out, size_t room, size_t *ret_n) {
    lzma_stream *const stream = &u->xz;
    stream->next_in = in->at;
    stream->avail_in = (size_t)(in->end - in->at);
    stream->next_out = out;
    stream->avail_out = room;
    lzma_ret const status = lzma_code(stream, in->at == in->end ? LZMA_FINISH : LZMA_RUN);
    in->at = stream->next_in;
    *ret_n = room - stream->avail_out;
    u->is_between = status == LZMA_STREAM_END;
    return status == LZMA_OK || status == LZMA_STREAM_END || status == LZMA_BUF_ERROR;
}

static void xz_end(unpack *u) {
    lzma_end(&u->xz);
}

static bool xz_begin(unpack *u) {
    u->step = xz_step;
    u->end = xz_end;
    u->xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&u->xz, MOST_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
}

#endif

/* ------------------------------------------------------------------ zstd */

#ifdef FLOWS_HAVE_ZSTD

static bool zstd_step(unpack *u, unpack_in *in, uint8_t *out, size_t room, size_t *ret_n) {
    ZSTD_inBuffer  input = { in->at, (size_t)(in->end - in->at), 0 };
    ZSTD_outBuffer output = { out, room, 0 };
    size_t const   status = ZSTD_decompressStream(u->zstd, &output, &input);
    if (ZSTD_isError(status)) return false;
    if (input.pos != 0 || output.pos != 0) u->is_between = status == 0;
    in->at += input.pos;
    *ret_n = output.pos;
    return true;
}

static void zstd_end(unpack *u) {
    (void)ZSTD_freeDStream(u->zstd);
}

static bool zstd_begin(unpack *u) {
    u->step = zstd_step;
    u->end = zstd_end;
    u->zstd = ZSTD_createDStream();
    return u->zstd != NULL;
}

#endif

/* ------------------------------------------------------------------ all of them */

/* False: no memory. *ret_is_known says whether this build has the format. */
static bool begin_format(unpack *u, const char *format, bool *ret_is_known) {
    *ret_is_known = true;
#ifdef FLOWS_HAVE_ZLIB
    if (strcmp(format, "gzip") == 0) return gzip_begin(u);
#endif
#ifdef FLOWS_HAVE_LZMA
    if (strcmp(format, "xz") == 0) return xz_begin(u);
#endif
#ifdef FLOWS_HAVE_ZSTD
    if (strcmp(format, "zstd") == 0) return zstd_begin(u);
#endif
    *ret_is_known = false;
    return false;
}

unpack *unpack_new(const char *format, const char **reterr_why) {
    unpack *const u = calloc(1, sizeof *u);
    bool          is_known = true;
    if (u != NULL && begin_format(u, format, &is_known)) return u;
    *reterr_why = is_known ? "out of memory" : "this build cannot read it";
    unpack_free(u);
    return NULL;
}

void unpack_free(unpack *u) {
    if (u != NULL && u->end != NULL) u->end(u);
    free(u);
}

bool unpack_step(unpack *u, unpack_in *in, uint8_t *out, size_t room, size_t *ret_n) {
    *ret_n = 0;
    return u->step(u, in, out, room, ret_n);
}

bool unpack_is_complete(const unpack *u) {
    return u->is_between;
}
