/* os.h - all system calls of the library, in one place.
 *
 * Each function does its work completely: no short reads or writes, no interrupted calls. On
 * failure it returns false (or NULL) and sets *reterr to the system's error number, or to 0 if the
 * file ended too early.
 */
#ifndef TAMIS_OS_H
#define TAMIS_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool tamis_os_random(void *ret_bytes, size_t n);

/* An open file to read; `bytes` is its length now. Folders, pipes and devices are refused. */
typedef struct os_file {
    int      descriptor;
    uint64_t bytes;
} os_file;

bool tamis_os_open(const char *path, os_file *ret_file, int *reterr);

/* The same for a descriptor that the caller owns: tamis_os_close() is not called on it. */
bool tamis_os_use(int descriptor, os_file *ret_file, int *reterr);
bool tamis_os_read(const os_file *file, uint64_t offset, void *ret_bytes, size_t n, int *reterr);
void tamis_os_close(const os_file *file);

/* The whole file, read-only and shared. */
const uint8_t *tamis_os_map(const os_file *file, int *reterr);
void           tamis_os_unmap(void *mapping, size_t bytes);

/* A file that is being replaced. The new file is invisible until it is committed, and then it is
 * complete. The steps are an unnamed (or temporary) file in the same folder, write, fsync, rename,
 * fsync of the folder. Owner, group and mode are those of the old file, as far as the system
 * allows; an old file that may not be written to is refused (EACCES). After a failure the old file
 * is untouched and no temporary file stays; a failed fsync is final. No other file of the folder is
 * touched, and no lock is taken.
 *
 * A process that is killed leaves no temporary file, either, except in two cases: if the file
 * system has no unnamed files, and in the short time between link and rename. Then a file
 * .tamis-*.tmp stays, with 16 random digits in its name.
 */
typedef struct os_save {
    int  descriptor;
    int  folder;
    bool is_named;      /* the temporary name is in the folder */
    bool is_replaced;   /* the new file is in place; set by commit, even if it fails later */
    char name[256];     /* of the file to replace, in the folder */
    char temporary[32]; /* its name until then */
} os_save;

bool tamis_os_save_begin(const char *path, os_save *ret_save, int *reterr);
bool tamis_os_save_write(os_save *save, const void *bytes, size_t n, int *reterr);
bool tamis_os_save_commit(os_save *save, int *reterr);
void tamis_os_save_abandon(os_save *save);

/* Does this error number mean that there is no room on the disk, or no memory? */
bool tamis_os_is_no_space(int error);
bool tamis_os_is_no_memory(int error);

/* The system's message for an error number. */
void tamis_os_text(int error, char *ret_text, size_t n);

#endif
