/* os.c - see os.h. The only file of the library that reads errno. */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TRANSFER ((size_t)1 << 30) /* Linux moves at most 2 GiB per call */

bool tamis_os_random(void *ret_bytes, size_t n) {
    uint8_t *at = ret_bytes;
    while (n != 0) {
        ssize_t const got = getrandom(at, n, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

bool tamis_os_is_no_space(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

void tamis_os_text(int error, char *ret_text, size_t n) {
    (void)snprintf(ret_text, n, "%s", strerror(error));
}

static bool fail(int *reterr, int error) {
    *reterr = error;
    return false;
}

/* Calls that may be interrupted, until they are not. */

static int open_to_read(const char *path, int flags) {
    int descriptor;
    do {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | flags);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

static bool sync_whole(int descriptor) {
    int result;
    do {
        result = fsync(descriptor);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

/* ------------------------------------------------------------------ reading */

bool tamis_os_open(const char *path, os_file *ret_file, int *reterr) {
    int const descriptor = open_to_read(path, O_NONBLOCK); /* a pipe must not make us wait */
    if (descriptor < 0) return fail(reterr, errno);

    struct stat about;
    int         error = fstat(descriptor, &about) == 0 ? 0 : errno;
    if (error == 0 && S_ISDIR(about.st_mode)) error = EISDIR;
    if (error == 0 && !S_ISREG(about.st_mode)) error = ESPIPE;
    if (error != 0) {
        (void)close(descriptor);
        return fail(reterr, error);
    }
    *ret_file = (os_file){ descriptor, (uint64_t)about.st_size };
    return true;
}

bool tamis_os_read(const os_file *file, uint64_t offset, void *ret_bytes, size_t n, int *reterr) {
    uint8_t *at = ret_bytes;
    while (n != 0) {
        size_t const  wanted = n < MAX_TRANSFER ? n : MAX_TRANSFER;
        ssize_t const got = pread(file->descriptor, at, wanted, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fail(reterr, got < 0 ? errno : 0);
        at += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

void tamis_os_close(const os_file *file) {
    (void)close(file->descriptor);
}

const uint8_t *tamis_os_map(const os_file *file, int *reterr) {
    if (file->bytes > SIZE_MAX / 2) return fail(reterr, EFBIG), NULL;
    void *const mapping =
        mmap(NULL, (size_t)file->bytes, PROT_READ, MAP_SHARED, file->descriptor, 0);
    if (mapping == MAP_FAILED) return fail(reterr, errno), NULL;
    return mapping;
}

void tamis_os_unmap(void *mapping, size_t bytes) {
    (void)munmap(mapping, bytes);
}

/* ------------------------------------------------------------------ replacing a file */

#define MAX_NAME 240 /* of a file, so that its temporary name fits as well */

/* The path behind all links, so that a link stays one; the path itself when nothing is there yet.
 * To be freed; NULL with *reterr set. A link to nowhere is an error: it would be lost. */
static char *save_resolve(const char *path, int *reterr) {
    char *const real = realpath(path, NULL);
    struct stat about;
    if (real != NULL) return real;
    bool const  is_new = errno == ENOENT && lstat(path, &about) != 0 && errno == ENOENT;
    char *const same = is_new ? strdup(path) : NULL;
    if (same == NULL) *reterr = is_new ? ENOMEM : (errno != 0 ? errno : ENOENT);
    return same;
}

/* Split a path into an open folder and a name in it. */
static bool save_find(const char *path, os_save *save, int *reterr) {
    save->folder = -1;
    char *const target = save_resolve(path, reterr);
    if (target == NULL) return false;
    char *const       slash = strrchr(target, '/');
    const char *const name = slash != NULL ? slash + 1 : target;
    size_t const      length = strlen(name);
    int               error = length == 0 ? EISDIR : length > MAX_NAME ? ENAMETOOLONG : 0;
    if (error == 0) {
        memcpy(save->name, name, length + 1);
        if (slash != NULL) slash[1] = '\0'; /* what is left is the folder */
        save->folder = open_to_read(slash != NULL ? target : ".", O_DIRECTORY);
        error = save->folder < 0 ? errno : 0;
    }
    free(target);
    return error == 0 || fail(reterr, error);
}

/* The mode of what is there, if anything is. It must be a file: replacing a device or a pipe by a
 * rename would destroy it. */
static bool save_mode(const os_save *save, bool *ret_exists, mode_t *ret_mode, int *reterr) {
    struct stat about;
    *ret_exists = fstatat(save->folder, save->name, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*ret_exists) return errno == ENOENT || fail(reterr, errno);
    if (S_ISDIR(about.st_mode)) return fail(reterr, EISDIR);
    if (!S_ISREG(about.st_mode)) return fail(reterr, EINVAL);
    *ret_mode = about.st_mode & 0777;
    return true;
}

/* A nameless file vanishes by itself when the process is killed. Not every file system has them. */
static bool save_create(os_save *save, int *reterr) {
    mode_t const mode = 0666;
    (void)snprintf(save->temporary, sizeof save->temporary, ".%.*s.tamis.tmp", MAX_NAME,
                   save->name);
    save->is_named = false;
    save->descriptor = access("/proc/self/fd", X_OK) == 0
                           ? openat(save->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode)
                           : -1;
    if (save->descriptor >= 0) return true;
    /* Here the name must be its own: another save must not take it for a leftover. */
    uint64_t random = 0;
    if (!tamis_os_random(&random, sizeof random)) return fail(reterr, EIO);
    (void)snprintf(save->temporary, sizeof save->temporary, ".tamis-%016llx.tmp",
                   (unsigned long long)random);
    save->descriptor =
        openat(save->folder, save->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    save->is_named = save->descriptor >= 0;
    return save->is_named || fail(reterr, errno);
}

bool tamis_os_save_begin(const char *path, os_save *ret_save, int *reterr) {
    os_save save = { .descriptor = -1 };
    bool    exists = false;
    mode_t  mode = 0;
    if (!save_find(path, &save, reterr)) return false;
    if (!save_mode(&save, &exists, &mode, reterr) || !save_create(&save, reterr)) {
        tamis_os_save_abandon(&save);
        return false;
    }
    if (exists) (void)fchmod(save.descriptor, mode); /* as it was, where the system allows it */
    *ret_save = save;
    return true;
}

bool tamis_os_save_write(os_save *save, const void *bytes, size_t n, int *reterr) {
    const uint8_t *at = bytes;
    while (n != 0) {
        ssize_t const put = write(save->descriptor, at, n < MAX_TRANSFER ? n : MAX_TRANSFER);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail(reterr, put < 0 ? errno : ENOSPC);
        at += put;
        n -= (size_t)put;
    }
    return true;
}

/* Give a nameless file its temporary name. What is there already a killed save has left. */
static bool save_give_name(os_save *save) {
    char self[64];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", save->descriptor);
    (void)unlinkat(save->folder, save->temporary, 0);
    save->is_named = linkat(AT_FDCWD, self, save->folder, save->temporary, AT_SYMLINK_FOLLOW) == 0;
    return save->is_named;
}

/* One save in a folder at a time takes this step, or one would take the name that another has just
 * given for a leftover. The lock ends with the descriptor. */
static bool save_rename(os_save *save) {
    int locked;
    do {
        locked = flock(save->folder, LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    if (!save->is_named && !save_give_name(save)) return false;
    return renameat(save->folder, save->temporary, save->folder, save->name) == 0;
}

/* Some file systems cannot sync a folder, and need not. */
static bool sync_folder(int folder) {
    return sync_whole(folder) || errno == EINVAL || errno == ENOTSUP;
}

bool tamis_os_save_commit(os_save *save, int *reterr) {
    bool is_done = sync_whole(save->descriptor) && save_rename(save);
    if (is_done) save->is_named = false; /* from here on there is nothing to take back */
    save->is_replaced = is_done;
    is_done = is_done && sync_folder(save->folder);
    int const error = errno;
    tamis_os_save_abandon(save);
    return is_done || fail(reterr, error);
}

void tamis_os_save_abandon(os_save *save) {
    if (save->is_named) (void)unlinkat(save->folder, save->temporary, 0);
    if (save->descriptor >= 0) (void)close(save->descriptor);
    if (save->folder >= 0) (void)close(save->folder);
}
