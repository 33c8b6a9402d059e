/* outputs.c - see outputs.h. */
#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* ------------------------------------------------------------------ checking */

static bool is_file(const char *name) {
    return name != NULL && strcmp(name, "-") != 0;
}

static void refuse_folder(const char *option, const char *name, const char *example) {
    struct stat status;
    if (is_file(name) && stat(name, &status) == 0 && S_ISDIR(status.st_mode))
        die("--%s %s: this is a folder; name a file in it: %s/%s", option, name, name, example);
}

/* A device or a pipe would be replaced by a file, or be renamed: root may do that to /dev/null. */
static void need_plain_file(const char *option, const char *name, const char *action) {
    struct stat status;
    if (is_file(name) && stat(name, &status) == 0 && !S_ISREG(status.st_mode))
        die("--%s %s: this is a device or a pipe, which cannot be %s; name a file", option, name,
            action);
}

/* Each file of metrics begins like this (metrics.c). Another one is not replaced. */
static void need_own_metrics(const char *name) {
    static const char begin[] = "# HELP tamis_flows_";
    char              bytes[sizeof begin - 1];
    FILE *const       file = is_file(name) ? fopen(name, "re") : NULL;
    if (file == NULL) return;
    size_t const n = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    if (n != 0 && (n != sizeof bytes || memcmp(bytes, begin, n) != 0))
        die("--metrics %s: this file has no metrics of tamis-flows, and it would be replaced; "
            "choose another name",
            name);
}

/* Who we are now, for a message. */
static const char *describe_user(const options *asked, char *ret_text, size_t n) {
    if (asked->user != NULL)
        (void)snprintf(ret_text, n, " as user %s", asked->user);
    else
        (void)snprintf(ret_text, n, "%s",
                       asked->interface != NULL ? " without the rights of root, which are dropped"
                                                : "");
    return ret_text;
}

/* A file that is replaced or moved needs a folder in which files can be made. */
static void need_folder(const options *asked, const char *option, const char *name) {
    char        folder[4096], user[300];
    const char *slash = is_file(name) ? strrchr(name, '/') : NULL;
    if (!is_file(name)) return;
    size_t const n = slash != NULL ? (size_t)(slash - name) : 1;
    if (n >= sizeof folder) die("--%s %s: the name is too long", option, name);
    memcpy(folder, slash != NULL ? name : ".", n);
    folder[n] = '\0';
    if (n == 0) memcpy(folder, "/", 2);
    if (access(folder, W_OK | X_OK) == 0) return;
    int const error = errno;
    die("--%s %s: no file can be made in the folder %s%s: %s", option, name, folder,
        describe_user(asked, user, sizeof user), strerror(error));
}

/* If the name is a link, what it leads to is replaced, and its folder needs the rights. */
static void need_target(const options *asked, const char *option, const char *name) {
    struct stat about;
    char *const target = is_file(name) ? realpath(name, NULL) : NULL;
    if (target == NULL && is_file(name) && lstat(name, &about) == 0 && S_ISLNK(about.st_mode))
        die("--%s %s: this link leads to no file: %s", option, name, strerror(errno));
    need_folder(asked, option, target != NULL ? target : name);
    free(target);
}

/* A file that was opened with other rights: SIGHUP opens it again. */
static void expect_file(const options *asked, const char *option, const char *name) {
    char user[300];
    if (!is_file(name) || access(name, W_OK) == 0) return;
    int const error = errno;
    warn("--%s %s: this file can be written now, but not be opened again%s: %s; do not use SIGHUP",
         option, name, describe_user(asked, user, sizeof user), strerror(error));
}

static bool find_status(const char *name, struct stat *ret_status) {
    return (strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, ret_status) : stat(name, ret_status)) == 0;
}

static bool is_same_inode(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* The folder that a name is in; false: there is none. */
static bool find_folder(const char *name, const char *base, struct stat *ret_status) {
    char         folder[4096] = ".";
    size_t const n = (size_t)(base - name); /* with its last slash */
    if (n >= sizeof folder) return false;
    memcpy(folder, name, n);
    if (n != 0) folder[n] = '\0';
    return stat(folder, ret_status) == 0;
}

static const char *base_of(const char *name) {
    const char *const slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

bool outputs_are_same(const char *name, const char *other) {
    struct stat       here, there;
    const char *const base = base_of(name), *const other_base = base_of(other);
    if (strcmp(name, other) == 0) return true;
    bool const exists = find_status(name, &here), other_exists = find_status(other, &there);
    if (exists && other_exists) return S_ISREG(here.st_mode) && is_same_inode(&here, &there);
    return !exists && !other_exists && strcmp(base, other_base) == 0 &&
           find_folder(name, base, &here) && find_folder(other, other_base, &there) &&
           is_same_inode(&here, &there);
}

void outputs_check(const options *asked) {
    refuse_folder("state", asked->state, "flows.state");
    refuse_folder("metrics", asked->metrics, "flows.prom");
    need_plain_file("metrics", asked->metrics, "replaced");
    need_own_metrics(asked->metrics);
    need_target(asked, "state", asked->state);
    need_target(asked, "metrics", asked->metrics);
    if (asked->rotate != 0) {
        need_plain_file("output", asked->output, "renamed by --rotate");
        need_plain_file("log", asked->log.path, "renamed by --rotate");
        need_folder(asked, "output", asked->output);
        need_folder(asked, "log", asked->log.path);
    }
    if (asked->interface == NULL) return;
    expect_file(asked, "output", asked->output);
    expect_file(asked, "log", asked->log.path);
}

/* ------------------------------------------------------------------ rotation */

static void number_name(const char *name, unsigned i, char *ret_name, size_t n) {
    if (i == 0)
        (void)snprintf(ret_name, n, "%s", name);
    else
        (void)snprintf(ret_name, n, "%s.%u", name, i);
}

bool outputs_are_old_part(const char *name, const char *rotated, unsigned keep) {
    char part[4096];
    for (unsigned i = 1; i <= keep; i++) {
        number_name(rotated, i, part, sizeof part);
        if (outputs_are_same(part, name)) return true;
    }
    return false;
}

void outputs_rotate(const char *name, unsigned keep) {
    char from[4096], to[4096];
    for (unsigned i = keep; i-- != 0;) {
        number_name(name, i, from, sizeof from);
        number_name(name, i + 1, to, sizeof to);
        if (rename(from, to) != 0 && errno != ENOENT) warn("%s: %s", from, strerror(errno));
    }
}
