/* temporary.h - files and folders of a test, in the current folder, which is that of the build. */
#ifndef TAMIS_TESTS_TEMPORARY_H
#define TAMIS_TESTS_TEMPORARY_H

#include "unit.h"

#include <ftw.h>

typedef struct temporary {
    char path[32];
} temporary;

/* A new, empty file. */
static inline temporary temporary_file(void) {
    temporary made = { "tamis-test-XXXXXX" };
    int const file = mkstemp(made.path);
    assert_true(file >= 0 && close(file) == 0);
    return made;
}

/* Remove it, if it is still there. */
static inline void temporary_remove(const temporary *made) {
    (void)unlink(made->path);
}

/* A new folder. */
static inline void temporary_folder_make(char *ret_path, size_t n) {
    (void)snprintf(ret_path, n, "tamis-test-XXXXXX");
    assert_non_null(mkdtemp(ret_path));
}

static inline int temporary_remove_one(const char *path, const struct stat *about, int type,
                                       struct FTW *at) {
    (void)about;
    (void)type;
    (void)at;
    return remove(path);
}

/* Remove a folder with all that is in it. */
static inline void temporary_folder_remove(const char *path) {
    assert_int_equal(nftw(path, temporary_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
