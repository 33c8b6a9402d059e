/* sample.h - the bytes of the file of a small set, and functions with which tests change them. */
#ifndef TAMIS_TESTS_SAMPLE_H
#define TAMIS_TESTS_SAMPLE_H

#include "buffer.h"
#include "make.h"
#include "temporary.h"

#include "core/hash.h"
#include "core/le.h"

#include <tamis/tamis.h>

#define SAMPLE_HEADER 4096
#define SAMPLE_BLOCK 65536

/* This before the name of a kind stands for a set of that kind in the middle of a step of
 * growing. */
#define SAMPLE_GROWING "growing "

bool        sample_is_growing(const char *kind);
const char *sample_kind(const char *kind); /* without that word */

/* Each test once for every kind, with the name of the kind as the state, and once more for kinds
 * that grow. The caller frees the array. */
struct CMUnitTest *sample_tests(const struct CMUnitTest *tests, size_t n, size_t *ret_n);

/* A set of that kind with `keys` keys, whose file has at most about this many bytes. */
tamis_set *sample_set(const char *kind, size_t file_bytes, uint64_t keys, uint64_t seed);

/* Its file, in memory; the caller frees the bytes. */
buffer sample_of(const tamis_set *set);

/* How many keys the file at a path holds; fails when it cannot be opened. */
uint64_t sample_keys_at(const char *path);

/* Remember where the parts of a file are, before its header is changed; sample_of() does it. */
void sample_take_layout(const buffer *s);

/* Make all checksums right again: what an attacker would do. The file has the layout that was taken
 * last. */
void sample_seal(buffer *s);

/* The same for a stream whose header has `head` bytes. */
void sample_seal_stream(buffer *s, size_t head);

/* The number of descriptors that are open. */
unsigned sample_open_files(void);

/* The number of files in a folder whose name contains `part`. */
unsigned sample_files(const char *folder, const char *part);

/* Is this one of the statuses that a reader may give? */
bool sample_is_refusal(tamis_status status);

#endif
