/* os.c - see os.h. The only file of the library that reads errno. */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

bool tamis_os_is_no_memory(int error) {
    return error == ENOMEM;
}

/* strerror(3) may use one buffer for all threads; strerror_r(3) does not. There are two functions
 * of that name: POSIX's returns 0 and fills the buffer, GNU's returns the text, which may lie
 * elsewhere. */

__attribute__((unused)) static const char *text_from_posix(int result, const char *buffer) {
    return result == 0 ? buffer : "unknown error";
}

__attribute__((unused)) static const char *text_from_gnu(const char *text, const char *buffer) {
    (void)buffer;
    return text;
}

void tamis_os_text(int error, char *ret_text, size_t n) {
    char buffer[128] = "";
    (void)snprintf(ret_text, n, "%s",
                   _Generic(strerror_r(error, buffer, sizeof buffer),
                       char *: text_from_gnu,
                       int: text_from_posix)(strerror_r(error, buffer, sizeof buffer), buffer));
}

static bool fail(int *reterr, int error) {
    *reterr = error;
    return false;
}

/* System calls that are repeated when a signal interrupts them. */

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

bool tamis_os_use(int descriptor, os_file *ret_file, int *reterr) {
    struct stat about;
    if (fstat(descriptor, &about) != 0) return fail(reterr, errno);
    if (S_ISDIR(about.st_mode)) return fail(reterr, EISDIR);
    if (!S_ISREG(about.st_mode)) return fail(reterr, ESPIPE);
    *ret_file = (os_file){ descriptor, (uint64_t)about.st_size };
    return true;
}

bool tamis_os_open(const char *path, os_file *ret_file, int *reterr) {
    int const descriptor = open_to_read(path, O_NONBLOCK); /* a pipe must not make us wait */
    if (descriptor < 0) return fail(reterr, errno);
    if (tamis_os_use(descriptor, ret_file, reterr)) return true;
    (void)close(descriptor);
    return false;
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

#define MAX_NAME 240 /* longest file name, so that a temporary name fits as well */

/* The path after following all links, so that a link stays a link; or the path itself if nothing is
 * there yet. The caller frees it; NULL with *reterr set. A dangling link is an error: it would be
 * replaced. */
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

/* Look at the file at the name, if there is one. It must be a regular file: replacing a device or a
 * pipe by a rename would destroy it. And it must be writable: a rename needs only the permissions
 * of the folder, so without this check a save would replace a file that its owner has protected. A
 * file without any write permission is refused even for root, for whom access(2) allows
 * everything. */
static bool save_look(const os_save *save, bool *ret_exists, struct stat *ret_about, int *reterr) {
    *ret_exists = fstatat(save->folder, save->name, ret_about, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*ret_exists) return errno == ENOENT || fail(reterr, errno);
    if (S_ISDIR(ret_about->st_mode)) return fail(reterr, EISDIR);
    if (!S_ISREG(ret_about->st_mode)) return fail(reterr, EINVAL);
    if ((ret_about->st_mode & 0222) == 0) return fail(reterr, EACCES);
    return faccessat(save->folder, save->name, W_OK, AT_EACCESS) == 0 || fail(reterr, errno);
}

/* Choose a temporary name. It is random, so that saves at the same time do not collide. If a file
 * of that name exists all the same, O_EXCL and linkat(2) refuse to touch it. */
static bool save_pick_name(os_save *save, int *reterr) {
    uint64_t random = 0;
    if (!tamis_os_random(&random, sizeof random)) return fail(reterr, EIO);
    (void)snprintf(save->temporary, sizeof save->temporary, ".tamis-%016llx.tmp",
                   (unsigned long long)random);
    return true;
}

/* An unnamed file disappears when the process is killed. Not every file system supports this;
 * otherwise the file has its temporary name from the start. */
static bool save_create(os_save *save, int *reterr) {
    mode_t const mode = 0666;
    if (!save_pick_name(save, reterr)) return false;
    save->is_named = false;
    save->descriptor = access("/proc/self/fd", X_OK) == 0
                           ? openat(save->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode)
                           : -1;
    if (save->descriptor >= 0) return true;
    save->descriptor =
        openat(save->folder, save->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    save->is_named = save->descriptor >= 0;
    return save->is_named || fail(reterr, errno);
}

/* Give the new file the owner, group and mode of the old one, as far as the system allows: only
 * root can change the owner, and others can set only a group they are in. If the group cannot be
 * kept, the new group gets no more rights than everybody has, since its members are other
 * people. */
static void save_keep_rights(const os_save *save, const struct stat *old) {
    struct stat new;
    mode_t mode = old->st_mode & 0777;
    if (fstat(save->descriptor, &new) != 0) return;
    if (new.st_uid != old->st_uid && fchown(save->descriptor, old->st_uid, old->st_gid) == 0) {
        new.st_gid = old->st_gid;
    }
    if (new.st_gid != old->st_gid && fchown(save->descriptor, (uid_t)-1, old->st_gid) != 0) {
        mode &= (mode_t)~070 | (mode & 07) << 3;
    }
    (void)fchmod(save->descriptor, mode); /* last: a change of owner may clear bits */
}

bool tamis_os_save_begin(const char *path, os_save *ret_save, int *reterr) {
    os_save     save = { .descriptor = -1 };
    bool        exists = false;
    struct stat old;
    if (!save_find(path, &save, reterr)) return false;
    if (!save_look(&save, &exists, &old, reterr) || !save_create(&save, reterr)) {
        tamis_os_save_abandon(&save);
        return false;
    }
    if (exists) save_keep_rights(&save, &old);
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

/* Give an unnamed file its temporary name; linkat(2) never replaces an existing file. */
static bool save_give_name(os_save *save) {
    char self[64];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", save->descriptor);
    save->is_named = linkat(AT_FDCWD, self, save->folder, save->temporary, AT_SYMLINK_FOLLOW) == 0;
    return save->is_named;
}

bool tamis_os_save_commit(os_save *save, int *reterr) {
    bool is_done = sync_whole(save->descriptor) && (save->is_named || save_give_name(save)) &&
                   renameat(save->folder, save->temporary, save->folder, save->name) == 0;
    if (is_done) save->is_named = false; /* from here on nothing can be undone */
    save->is_replaced = is_done;
    /* Some file systems cannot sync a folder, and do not need it. */
    is_done = is_done && (sync_whole(save->folder) || errno == EINVAL || errno == ENOTSUP);
    int const error = errno;
    tamis_os_save_abandon(save);
    return is_done || fail(reterr, error);
}

void tamis_os_save_abandon(os_save *save) {
    if (save->is_named) (void)unlinkat(save->folder, save->temporary, 0);
    if (save->descriptor >= 0) (void)close(save->descriptor);
    if (save->folder >= 0) (void)close(save->folder);
}
