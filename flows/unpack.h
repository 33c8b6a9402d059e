/* unpack.h - decompress captures while they are read: gzip, xz and zstd.
 *
 * Each needs a library, which a build may be without: unpack_new() then says so. Files of several
 * parts, one after the other, are read as one, as by zcat(1).
 */
#ifndef FLOWS_UNPACK_H
#define FLOWS_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct unpack unpack;

/* What the first bytes of a file say: "gzip", "xz", "zstd" or "bzip2"; NULL: it is not compressed,
 * or in another way. */
const char *unpack_detect(const uint8_t *bytes, size_t n);

/* NULL: this build cannot read it, or there is no memory; *reterr_why says so. */
unpack *unpack_new(const char *format, const char **reterr_why);
void    unpack_free(unpack *u);

/* Decompress from *in to `out`, and advance both. False: the bytes are damaged. */
typedef struct unpack_in {
    const uint8_t *at, *end;
} unpack_in;
bool unpack_step(unpack *u, unpack_in *in, uint8_t *out, size_t room, size_t *ret_n);

/* Does the file end well if it ends now? */
bool unpack_is_complete(const unpack *u);

#endif
