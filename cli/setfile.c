/* setfile.c - see setfile.h. */
#include "setfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "numbers.h"
#include "signals.h"

/* ------------------------------------------------------------------ trouble */

const char *advice_for(const tamis_problem *problem) {
    if (problem->os_error == ENOENT) return "'tamis build' makes one";
    switch ((int)problem->status) {
    case TAMIS_ERR_FOREIGN:
        return "'tamis build' makes one; the set comes before the files of keys";
    case TAMIS_ERR_VERSION: return "use a newer tamis";
    case TAMIS_ERR_TRUNCATED:
    case TAMIS_ERR_CHECKSUM:
    case TAMIS_ERR_CORRUPT: return "take another copy of it, or build it again";
    case TAMIS_ERR_CANNOT: return "'tamis plan' compares the kinds";
    case TAMIS_ERR_MEMORY:
    case TAMIS_ERR_LIMIT: return "ask for fewer keys or a higher rate";
    default: return NULL;
    }
}

void die_of_problem(const tamis_problem *problem) {
    const char *const advice = advice_for(problem);
    die("%s%s%s", problem->text, advice ? "; " : "", advice ? advice : "");
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
static void lock_file(const char *path) {
    for (;;) {
        int const descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0) return; /* tamis_open() will say why */
        if (flock(descriptor, LOCK_EX) != 0 || is_current(descriptor, path)) return;
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
    if (error != 0) die("cannot save to %s: %s", path, strerror(error));
}

/* ------------------------------------------------------------------ opening */

static tamis_set *open_set(const char *path, const char *isa, unsigned flags) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set;
    tamis_problem      problem;
    how.flags = flags;
    how.isa = isa;
    if (tamis_open(path, &how, &set, &problem) != TAMIS_OK) die_of_problem(&problem);
    return set;
}

tamis_set *setfile_map(const char *path, const options *asked) {
    unsigned const trust = is_given(asked, OPTION_BIT(TRUST)) ? TAMIS_OPEN_TRUST : 0;
    return open_set(path, asked->spec.isa, TAMIS_OPEN_MAP | trust);
}

tamis_set *setfile_look(const char *path, const char *isa) {
    return open_set(path, isa, TAMIS_OPEN_MAP);
}

tamis_set *setfile_read(const char *path, const char *isa) {
    return open_set(path, isa, 0);
}

tamis_set *setfile_take(const char *path, const options *asked) {
    lock_file(path);
    if (access(path, F_OK) == 0) check_folder(path);
    return setfile_read(path, asked->spec.isa);
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
    lock_file(path);
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        die("%s is not a file that could hold a set; name another", path);
    }
    if (is_given(asked, OPTION_BIT(FORCE)) || !is_foreign(path)) return;
    die("%s is there and is not a tamis file; name the set first, or replace it with --force",
        path);
}

void setfile_save(const tamis_set *set, const char *path) {
    tamis_problem problem;
    signals_hold();
    tamis_status const status = tamis_save(set, path, &problem);
    signals_release();
    if (status == TAMIS_OK) return;
    bool const is_old = access(path, F_OK) == 0;
    die("%s; %s", problem.text, is_old ? "the old file is as it was" : "nothing was saved");
}

void setfile_inspect(const tamis_set *set, tamis_info *ret_info) {
    if (tamis_inspect(set, ret_info) != TAMIS_OK) die("there is no set to look at");
}

/* A kind that never refuses gets worse instead. That copies of keys are many is no reason: what
 * counts is the rate, of which half as much again may be chance in a small set. */
void setfile_warn_of_overload(const tamis_info *info, const char *path) {
    if (info->keys <= info->plan.capacity || info->current_fpr <= 1.5 * info->plan.fpr) return;
    number_text keys, made_for, now, promised;
    number_exact(info->keys, keys);
    number_exact(info->plan.capacity, made_for);
    number_rate(info->current_fpr, now);
    number_rate(info->plan.fpr, promised);
    warn("%s holds %s keys and is made for %s: its false-positive rate is %s now, not %s; build a "
         "larger one",
         path, keys, made_for, now, promised);
}
