/* replace.c - see replace.h. */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ names */

/* The path behind all links, to be freed; or the path itself, if there is nothing yet. NULL: errno
 * says why. */
static char *follow(const char *path) {
    struct stat about;
    char *const real = realpath(path, NULL);
    if (real != NULL || errno != ENOENT) return real;
    if (lstat(path, &about) != 0) return errno == ENOENT ? strdup(path) : NULL;
    errno = ENOENT; /* a link that leads nowhere: the rename would replace it */
    return NULL;
}

/* Split a path into an open folder and a name. Returns an error. */
static int open_folder(char *path, replacement *r) {
    char *const       slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;
    size_t const      length = strlen(name);
    if (length == 0) return EISDIR;
    if (length >= sizeof r->name) return ENAMETOOLONG;
    memcpy(r->name, name, length + 1);
    if (slash != NULL) slash[1] = '\0'; /* what is left is the folder */
    r->folder = open(slash != NULL ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return r->folder < 0 ? errno : 0;
}

static int find(const char *path, replacement *r) {
    char *const target = follow(path);
    if (target == NULL) return errno;
    int const error = open_folder(target, r);
    free(target);
    return error;
}

/* ------------------------------------------------------------------ the new file */

/* A file without a name vanishes with the process. Where there are none (NFS), or where /proc is
 * missing, which is needed to name it later, it has its temporary name from the start. That name is
 * random: nobody can put a link there, and O_EXCL follows none. */
static int create(replacement *r) {
    uint64_t  random;
    int const flags = O_WRONLY | O_CLOEXEC;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return -1;
    (void)snprintf(r->temporary, sizeof r->temporary, ".tamis-%016llx.tmp",
                   (unsigned long long)random);
    int file = access("/proc/self/fd", X_OK) == 0
                   ? openat(r->folder, ".", O_TMPFILE | flags, (mode_t)0666)
                   : -1;
    if (file >= 0) return file;
    file = openat(r->folder, r->temporary, O_CREAT | O_EXCL | flags, (mode_t)0666);
    r->is_named = file >= 0;
    return file;
}

/* Only root can change the owner, and others can only set a group that they are in. A group that
 * cannot be kept gets no more rights than everybody has, since its members are other people. */
static void keep_rights(int file, const struct stat *old) {
    struct stat new;
    mode_t mode = old->st_mode & 0777;
    if (fstat(file, &new) != 0) return;
    if (new.st_uid != old->st_uid && fchown(file, old->st_uid, old->st_gid) == 0)
        new.st_gid = old->st_gid;
    if (new.st_gid != old->st_gid && fchown(file, (uid_t)-1, old->st_gid) != 0)
        mode &= (mode_t)~070 | (mode & 07) << 3;
    (void)fchmod(file, mode); /* last: a change of owner may clear bits */
}

/* Is there a file to replace? Returns an error if it is not a file. */
static int look(const replacement *r, bool *ret_exists, struct stat *ret_old) {
    *ret_exists = fstatat(r->folder, r->name, ret_old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*ret_exists) return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(ret_old->st_mode)) return EISDIR;
    return S_ISREG(ret_old->st_mode) ? 0 : EINVAL;
}

static int open_new(replacement *r) {
    struct stat old;
    bool        exists;
    int const   error = look(r, &exists, &old);
    if (error != 0) return error;
    int const file = create(r);
    if (file < 0) return errno;
    if (exists) keep_rights(file, &old);
    r->file = fdopen(file, "w");
    if (r->file != NULL) return 0;
    int const why = errno;
    (void)close(file);
    return why;
}

int replace_begin(const char *path, replacement *ret_replacement) {
    replacement r = { .folder = -1 };
    int         error = find(path, &r);
    if (error == 0) error = open_new(&r);
    if (error == 0)
        *ret_replacement = r;
    else
        replace_abandon(&r);
    return error;
}

/* ------------------------------------------------------------------ the end */

static bool sync_whole(int file) {
    int result;
    do result = fsync(file);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

/* Some file systems cannot sync a folder, and do not need it. */
static bool sync_folder(int folder) {
    return sync_whole(folder) || errno == EINVAL || errno == ENOTSUP;
}

/* linkat(2) replaces no file that has this name already. */
static bool give_name(replacement *r) {
    char self[64];
    if (r->is_named) return true;
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(r->file));
    r->is_named = linkat(AT_FDCWD, self, r->folder, r->temporary, AT_SYMLINK_FOLLOW) == 0;
    return r->is_named;
}

/* A write may have failed long ago, and nothing says why. */
static bool write_out(FILE *file) {
    errno = 0;
    if (fflush(file) == 0 && ferror(file) == 0) return true;
    if (errno == 0) errno = EIO;
    return false;
}

int replace_end(replacement *r, bool is_synced) {
    bool is_done = write_out(r->file) && (!is_synced || sync_whole(fileno(r->file))) &&
                   give_name(r) && renameat(r->folder, r->temporary, r->folder, r->name) == 0;
    if (is_done) r->is_named = false; /* from here on nothing can be undone */
    is_done = is_done && (!is_synced || sync_folder(r->folder));
    int const error = is_done ? 0 : errno;
    replace_abandon(r);
    return error;
}

void replace_abandon(replacement *r) {
    if (r->is_named) (void)unlinkat(r->folder, r->temporary, 0);
    if (r->file != NULL) (void)fclose(r->file);
    if (r->folder >= 0) (void)close(r->folder);
    *r = (replacement){ .folder = -1 };
}
