/* setfile.c - see setfile.h. */
#include "setfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "numbers.h"
#include "signals.h"

/* ------------------------------------------------------------------ trouble */

/* Which file was meant depends on the command: a set that keys go to, one to be like, any. */
static const char *advice_on_name(bool is_missing, const options *asked) {
    if (asked->like != NULL) return "--like takes the file of a set";
    bool const is_for_keys = asked->of->max_operands > asked->of->set_operands;
    if (!is_for_keys) return is_missing ? "name one that is there" : "name a set";
    return is_missing ? "'tamis build' makes one"
                      : "'tamis build' makes one; the set comes before the files of keys";
}

const char *setfile_advice(const tamis_problem *problem, const options *asked) {
    if (problem->os_error == ENOENT) return advice_on_name(true, asked);
    if (problem->os_error == EISDIR) return advice_on_name(false, asked);
    if (problem->os_error == EACCES) return "make it readable";
    switch ((int)problem->status) {
    case TAMIS_ERR_FOREIGN: return advice_on_name(false, asked);
    case TAMIS_ERR_VERSION: return "use a newer tamis";
    case TAMIS_ERR_TRUNCATED:
    case TAMIS_ERR_CHECKSUM:
    case TAMIS_ERR_CORRUPT: return "take another copy of it, or build it again";
    case TAMIS_ERR_LIMIT:
    case TAMIS_ERR_MEMORY: return "use a machine with more memory";
    default: return NULL;
    }
}

/* ------------------------------------------------------------------ before the work */

/* Is the open file still the one with that name? */
static bool is_current(int descriptor, const char *path) {
    struct stat ours, named;
    return fstat(descriptor, &ours) == 0 && stat(path, &named) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/* Saving replaces the file, so whoever waited for the lock of the old one must look again. The
 * lock goes with the process. A file system without locks goes without. */
static void lock_file(const char *path, const options *asked) {
    bool is_said = is_given(asked, OPTION_BIT(QUIET));
    for (;;) {
        int const descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0) return; /* tamis_open() will say why */
        int locked = flock(descriptor, LOCK_EX | LOCK_NB);
        if (locked != 0 && errno == EWOULDBLOCK) {
            if (!is_said) warn("waiting for another writer of %s ...", path);
            is_said = true;
            locked = flock(descriptor, LOCK_EX);
        }
        if (locked != 0 || is_current(descriptor, path)) return;
        (void)close(descriptor);
    }
}

/* Better before the work than after it: is there a folder for it, and may we write there? */
static void check_folder(const char *path) {
    char *const       real = realpath(path, NULL); /* a link is followed when saving, too */
    char *const       folder = strdup(real != NULL ? real : path);
    const char *const name = folder != NULL ? dirname(folder) : NULL;
    int const         error = name == NULL || access(name, W_OK) == 0 ? 0 : errno;
    free(folder);
    free(real);
    if (error == ENOENT) die("cannot save to %s: there is no such folder; make it", path);
    if (error != 0) die("cannot save to %s: %s; make its folder writable", path, strerror(error));
}

/* ------------------------------------------------------------------ opening */

static tamis_set *open_set(const char *path, const options *asked, unsigned flags) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set;
    tamis_problem      problem;
    how.flags = flags;
    how.isa = asked->spec.isa;
    if (tamis_open(path, &how, &set, &problem) == TAMIS_OK) return set;
    const char *const advice = setfile_advice(&problem, asked);
    die("%s%s%s", problem.text, advice ? "; " : "", advice ? advice : "");
}

tamis_set *setfile_map(const char *path, const options *asked) {
    unsigned const trust = is_given(asked, OPTION_BIT(TRUST)) ? TAMIS_OPEN_TRUST : 0;
    return open_set(path, asked, TAMIS_OPEN_MAP | trust);
}

tamis_set *setfile_read(const char *path, const options *asked) {
    return open_set(path, asked, 0);
}

tamis_set *setfile_take(const char *path, const options *asked) {
    lock_file(path, asked);
    if (access(path, F_OK) == 0) check_folder(path);
    return setfile_read(path, asked);
}

/* ------------------------------------------------------------------ saving */

/* Nothing, an empty file and a set may be replaced; other files only by force. */
static bool is_foreign(const char *path) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    how.flags = TAMIS_OPEN_MAP | TAMIS_OPEN_TRUST;
    tamis_status const status = tamis_open(path, &how, &set, NULL);
    if (status == TAMIS_OK) tamis_free(set);
    return status == TAMIS_ERR_FOREIGN;
}

void setfile_check_target(const char *path, const options *asked) {
    struct stat about;
    check_folder(path);
    lock_file(path, asked);
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        die("%s is not a file that could hold a set; name another", path);
    }
    if (is_given(asked, OPTION_BIT(FORCE)) || !is_foreign(path)) return;
    bool const is_for_keys = asked->of->max_operands > asked->of->set_operands;
    die("%s is there and is not a tamis file; name %s, or replace it with --force", path,
        is_for_keys ? "the set first" : "another");
}

void setfile_save(const tamis_set *set, const char *path) {
    tamis_problem problem;
    signals_hold();
    tamis_status const status = tamis_save(set, path, &problem);
    signals_release();
    if (status == TAMIS_OK) return;
    bool const is_old = access(path, F_OK) == 0;
    bool const is_no_room = problem.os_error == ENOSPC || problem.os_error == EDQUOT;
    die("%s; %s%s", problem.text, is_old ? "the old file is as it was" : "nothing was saved",
        is_no_room ? "; make room and try again" : "");
}

void setfile_inspect(const tamis_set *set, tamis_info *ret_info) {
    if (tamis_inspect(set, ret_info) != TAMIS_OK) die("there is no set to look at");
}

void setfile_describe(const tamis_info *info, setfile_text ret_text) {
    number_text size, capacity, rate;
    number_size(info->plan.body_bytes, size);
    number_exact(info->plan.capacity, capacity);
    number_rate(info->current_fpr, rate);
    (void)snprintf(ret_text, sizeof(setfile_text), "%s (%s, made for %s), false-positive rate %s",
                   size, info->plan.kind, capacity, rate);
}

/* A kind that never refuses gets worse instead. That copies of keys are many is no reason: what
 * counts is the rate, of which half as much again may be chance in a small set. */
bool setfile_warn_of_overload(const tamis_info *info, const char *path) {
    bool const is_worse = info->current_fpr > 1.5 * info->plan.fpr;
    if (info->keys <= info->plan.capacity || !is_worse) return false;
    number_text keys, made_for, now, promised;
    number_exact(info->keys, keys);
    number_exact(info->plan.capacity, made_for);
    number_rate(info->current_fpr, now);
    number_rate(info->plan.fpr, promised);
    warn("%s holds %s keys and is made for %s: its false-positive rate is %s now, not %s; build a "
         "larger one",
         path, keys, made_for, now, promised);
    return true;
}
