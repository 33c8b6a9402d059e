/* golden.h - files of earlier versions: they are read, and the same contents give the same bytes.
 *
 * A test gets their folder as an argument; with another argument it writes the files that are
 * missing, and never over an old one.
 */
#ifndef TAMIS_TESTS_GOLDEN_H
#define TAMIS_TESTS_GOLDEN_H

#include "buffer.h"

/* All of them were made with this seed. */
static const tamis_seed golden_seed = { UINT64_C(0x0123456789abcdef),
                                        UINT64_C(0xfedcba9876543210) };

static const char *golden_folder;

#define GOLDEN_PATH_BYTES 500

static inline void golden_path(const char *file, char ret_path[GOLDEN_PATH_BYTES]) {
    (void)snprintf(ret_path, GOLDEN_PATH_BYTES, "%s/%s", golden_folder, file);
}

/* The caller frees the bytes. */
static inline buffer golden_read(const char *file) {
    char path[GOLDEN_PATH_BYTES];
    golden_path(file, path);
    return buffer_read(path);
}

static inline void golden_expect(const char *file, const buffer *now) {
    buffer const then = golden_read(file);
    buffer_expect_equal(now, &then);
    free(then.bytes);
}

/* Write the file if it is missing. False: that failed. */
static inline bool golden_write(const char *name, const buffer *now) {
    char path[GOLDEN_PATH_BYTES];
    golden_path(name, path);
    if (access(path, F_OK) == 0) return true;
    FILE *const file = fopen(path, "wb");
    bool const  is_written = file != NULL && fwrite(now->bytes, 1, now->n, file) == now->n;
    (void)printf("%s, %zu bytes\n", path, now->n);
    return file != NULL && fclose(file) == 0 && is_written;
}

#endif
