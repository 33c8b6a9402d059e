/* setfile.c - see setfile.h. */
#include "setfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "commands.h"
#include "message.h"
#include "numbers.h"
#include "signals.h"

#define READ_BYTES ((off_t)1 << 24) /* reading a file of this size takes a few milliseconds */

/* ------------------------------------------------------------------ what is wrong */

/* Is the file a stream from 'tamis send'? Its first bytes tell. */
static bool is_stream(const char *path) {
    uint8_t    start[8];
    tamis_set *set;
    int const  descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    ssize_t const got = read(descriptor, start, sizeof start);
    (void)close(descriptor);
    return got == (ssize_t)sizeof start &&
           tamis_receive(start, sizeof start, NULL, &set, NULL) != TAMIS_ERR_FOREIGN;
}

/* What the user may have meant depends on the command: a set that keys go to, or any set. */
static const char *advice_on_name(bool is_missing, const options *asked) {
    if (asked->like != NULL) return "--like takes the file of a set";
    if (asked->set != NULL) return "name another file with --set";
    bool const is_for_keys = asked->command->max_operands > asked->command->set_operands;
    if (asked->command == &command_get) {
        return is_missing ? "name an existing file"
                          : "name the file of states before the files of keys";
    }
    if (!is_for_keys) return is_missing ? "name an existing file" : "name a set";
    return is_missing ? "'tamis build' makes one"
                      : "'tamis build' makes one; name the set before the files of keys";
}

const char *setfile_advice(const char *path, const tamis_problem *problem, const options *asked) {
    if (problem->os_error == ENOENT) return advice_on_name(true, asked);
    if (problem->os_error == EISDIR) return advice_on_name(false, asked);
    if (problem->os_error == EACCES) return "make it readable";
    if (problem->os_error == ESPIPE) return "a set is a file, not a pipe";
    switch ((int)problem->status) {
    case TAMIS_ERR_FOREIGN:
        return is_stream(path) ? "it is a stream from 'tamis send': make a set of it with 'tamis "
                                 "receive'"
                               : advice_on_name(false, asked);
    case TAMIS_ERR_VERSION: return "use a newer tamis";
    case TAMIS_ERR_TRUNCATED:
    case TAMIS_ERR_CHECKSUM:
    case TAMIS_ERR_CORRUPT: return "take another copy of it, or build it again";
    case TAMIS_ERR_LIMIT:
    case TAMIS_ERR_MEMORY: return "use a machine with more memory";
    default: return NULL;
    }
}

static bool holds_states(const char *path) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_states      *states = NULL;
    how.flags = TAMIS_OPEN_MAP | TAMIS_OPEN_TRUST;
    tamis_status const status = tamis_states_open(path, &how, &states, NULL);
    tamis_states_free(states);
    return status != TAMIS_ERR_KIND && status != TAMIS_ERR_FOREIGN;
}

static _Noreturn void die_of_problem(const char *path, const tamis_problem *problem,
                                     const options *asked) {
    const char *const advice = setfile_advice(path, problem, asked);
    die("%s%s%s", problem->text, advice ? "; " : "", advice ? advice : "");
}

/* ------------------------------------------------------------------ opening */

static tamis_status open_as_set(const char *path, const tamis_open_options *how, setfile *file,
                                tamis_problem *problem) {
    return tamis_open(path, how, &file->set, problem);
}

static tamis_status open_as_states(const char *path, const tamis_open_options *how, setfile *file,
                                   tamis_problem *problem) {
    return tamis_states_open(path, how, &file->states, problem);
}

typedef tamis_status opener(const char *path, const tamis_open_options *how, setfile *file,
                            tamis_problem *problem);

/* Is it to be mapped? Then the file is opened here, too, in order to watch it: before the library
 * opens it, so that no change is missed. */
static bool watch_if_mapped(setfile *file, const options *asked) {
    bool const is_trusted = is_given(asked, OPTION_BIT(TRUST));
    if (is_given(asked, OPTION_BIT(READ))) return false;
    file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor >= 0 && fstat(file->descriptor, &file->before) == 0 &&
        (is_trusted || file->before.st_size > READ_BYTES)) {
        return true;
    }
    if (file->descriptor >= 0) (void)close(file->descriptor);
    file->descriptor = -1;
    return false;
}

static tamis_status open_watched(opener *open_as, const char *path, const options *asked,
                                 setfile *ret_file, tamis_problem *reterr_problem) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    *ret_file = (setfile){ .path = path, .descriptor = -1 };
    if (watch_if_mapped(ret_file, asked)) how.flags |= TAMIS_OPEN_MAP;
    if (is_given(asked, OPTION_BIT(TRUST))) how.flags |= TAMIS_OPEN_TRUST;
    how.isa = asked->spec.isa;
    how.shared = asked->spec.shared;
    tamis_status const status = open_as(path, &how, ret_file, reterr_problem);
    if (status == TAMIS_OK) return status;
    if (ret_file->descriptor >= 0) (void)close(ret_file->descriptor);
    ret_file->descriptor = -1;
    return status;
}

void setfile_open_set(const char *path, const options *asked, setfile *ret_file) {
    tamis_problem      problem;
    tamis_status const status = open_watched(open_as_set, path, asked, ret_file, &problem);
    if (status == TAMIS_OK) return;
    if (status == TAMIS_ERR_KIND && holds_states(path)) {
        die("%s holds states, not a set; 'tamis get' looks up the states of keys", path);
    }
    die_of_problem(path, &problem, asked);
}

void setfile_open_states(const char *path, const options *asked, setfile *ret_file) {
    tamis_problem      problem;
    tamis_status const status = open_watched(open_as_states, path, asked, ret_file, &problem);
    if (status == TAMIS_OK) return;
    if (status == TAMIS_ERR_KIND && !holds_states(path)) {
        die("%s is a set, not a table of states; use 'tamis has' or 'tamis count'", path);
    }
    die_of_problem(path, &problem, asked);
}

/* A set of an unknown kind is refused by both; then the first problem is the right one. */
tamis_status setfile_open_any(const char *path, const options *asked, setfile *ret_file,
                              tamis_problem *reterr_problem) {
    tamis_problem      second;
    tamis_status const status = open_watched(open_as_set, path, asked, ret_file, reterr_problem);
    if (status != TAMIS_ERR_KIND) return status;
    second.status = open_watched(open_as_states, path, asked, ret_file, &second);
    if (second.status == TAMIS_ERR_KIND) return status;
    *reterr_problem = second;
    return second.status;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_same_contents(const struct stat *a, const struct stat *b) {
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void setfile_check(const setfile *file) {
    struct stat now;
    if (file->descriptor < 0 || fstat(file->descriptor, &now) != 0) return;
    if (is_same_contents(&file->before, &now)) return;
    die("%s was overwritten while it was in use, so the last answers may be wrong; run this again, "
        "with --read if it happens often",
        file->path);
}

void setfile_close(setfile *file) {
    setfile_check(file);
    tamis_free(file->set);
    tamis_states_free(file->states);
    if (file->descriptor >= 0) (void)close(file->descriptor);
    *file = (setfile){ .descriptor = -1 };
}

tamis_set *setfile_read(const char *path, const options *asked) {
    options with = *asked;
    setfile file;
    with.given |= OPTION_BIT(READ);
    setfile_open_set(path, &with, &file);
    return file.set;
}

/* ------------------------------------------------------------------ before the work */

/* Saving replaces the file by a new one, so a process that has waited for the lock of the old file
 * must look again. The lock ends with the process. Where the file system has no locks there is
 * none, and only setfile_save() protects the file. */
static void lock_file(const char *path, const options *asked) {
    bool is_said = is_given(asked, OPTION_BIT(QUIET));
    for (;;) {
        struct stat ours, named;
        int const   descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0) return; /* tamis_open() will say why */
        int locked = flock(descriptor, LOCK_EX | LOCK_NB);
        if (locked != 0 && errno == EWOULDBLOCK) {
            if (!is_said) warn("waiting for another writer of %s ...", path);
            is_said = true;
            locked = flock(descriptor, LOCK_EX);
        }
        if (locked != 0) return;
        if (fstat(descriptor, &ours) == 0 && stat(path, &named) == 0 &&
            is_same_file(&ours, &named)) {
            return;
        }
        (void)close(descriptor);
    }
}

/* It is better to know before the work than after it: can a file be saved there? */
static void check_folder(const char *path) {
    struct stat       about;
    char *const       real = realpath(path, NULL); /* saving follows links, too */
    if (real == NULL && errno == ENOENT && lstat(path, &about) == 0)
        die("cannot save to %s: it is a link to nothing; remove it, or name another file", path);
    char *const       folder = strdup(real != NULL ? real : path);
    const char *const name = folder != NULL ? dirname(folder) : NULL;
    int const         error = name == NULL || access(name, W_OK) == 0 ? 0 : errno;
    free(folder);
    free(real);
    if (error == ENOENT) die("cannot save to %s: there is no such folder; make it", path);
    if (error != 0) die("cannot save to %s: %s; make its folder writable", path, strerror(error));
}

/* The library refuses the same files when it saves: a rename does not need the right to write to
 * the file, and root has that right even for files without any write permission. */
static void check_writable(const char *path, const struct stat *about) {
    if ((about->st_mode & 0222) != 0 && access(path, W_OK) == 0) return;
    die("cannot save to %s: it is read-only; make it writable (chmod u+w)", path);
}

static void target_find(const char *path, setfile_target *ret_target) {
    *ret_target = (setfile_target){ .path = path };
    ret_target->exists = stat(path, &ret_target->before) == 0;
}

tamis_set *setfile_take(const char *path, const options *asked, setfile_target *ret_target) {
    lock_file(path, asked);
    target_find(path, ret_target);
    if (ret_target->exists) {
        check_folder(path);
        if (S_ISREG(ret_target->before.st_mode)) check_writable(path, &ret_target->before);
    }
    return setfile_read(path, asked);
}

/* Is it a set of a kind that this many threads share well? Only its header is read. */
static bool is_of_shared_kind(const char *path, unsigned threads) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    tamis_facts        facts;
    how.flags = TAMIS_OPEN_MAP | TAMIS_OPEN_TRUST;
    if (tamis_open(path, &how, &set, NULL) != TAMIS_OK) return false;
    bool const is_well =
        tamis_get_facts(set, &facts) == TAMIS_OK && is_shared_well(facts.kind, threads);
    tamis_free(set);
    return is_well;
}

set_in_work setfile_take_shared(const char *path, const options *asked,
                                setfile_target *ret_target) {
    options with = *asked;
    with.spec.shared = asked->threads > 1 && is_of_shared_kind(path, asked->threads);
    tamis_set *const set = setfile_take(path, &with, ret_target);
    return (set_in_work){ set, with.spec.shared };
}

/* Why a file should not be replaced, or NULL. Nothing, an empty file, a set and a damaged set may
 * be. */
static const char *reason_to_keep(const char *path) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    how.flags = TAMIS_OPEN_MAP | TAMIS_OPEN_TRUST;
    tamis_status const status = tamis_open(path, &how, &set, NULL);
    tamis_free(set);
    if (status == TAMIS_ERR_FOREIGN) return "is not a tamis file";
    if (status == TAMIS_ERR_KIND && holds_states(path)) return "holds states, not a set";
    if (status == TAMIS_ERR_KIND) return "is a set of an unknown kind";
    if (status == TAMIS_ERR_VERSION) return "was written by a newer tamis";
    return NULL;
}

void setfile_aim(const char *path, const options *asked, setfile_target *ret_target) {
    check_folder(path);
    lock_file(path, asked);
    target_find(path, ret_target);
    if (!ret_target->exists) return;
    if (!S_ISREG(ret_target->before.st_mode)) {
        die("%s is not a regular file; name another file", path);
    }
    check_writable(path, &ret_target->before);
    const char *const reason = is_given(asked, OPTION_BIT(FORCE)) ? NULL : reason_to_keep(path);
    if (reason == NULL) return;
    bool const is_for_keys = asked->command->max_operands > asked->command->set_operands;
    die("%s exists and %s; name %s, or replace it with --force", path, reason,
        is_for_keys ? "the set first" : "another");
}

/* ------------------------------------------------------------------ saving */

/* Programs that do not know our lock may have changed the file since we have read it. */
static void check_unchanged(const setfile_target *target) {
    setfile_target now;
    target_find(target->path, &now);
    if (!now.exists) {
        if (target->exists)
            warn("another program removed %s meanwhile; saving it again", target->path);
        return;
    }
    if (!target->exists) {
        die("another program created %s meanwhile; it was not replaced, and nothing was saved",
            target->path);
    }
    if (!is_same_file(&target->before, &now.before) ||
        !is_same_contents(&target->before, &now.before)) {
        die("another program changed %s meanwhile; nothing was saved, run this again",
            target->path);
    }
}

/* The first signal waits for the end of the save; if it came before, the next one does not. */
void setfile_save(const tamis_set *set, const setfile_target *target) {
    tamis_problem problem;
    bool const    is_held = signals_caught() == 0;
    check_unchanged(target);
    if (is_held) signals_hold();
    tamis_status const status = tamis_save(set, target->path, &problem);
    if (is_held) signals_release();
    if (status == TAMIS_OK) return;
    bool const is_old = access(target->path, F_OK) == 0;
    bool const is_no_room = problem.os_error == ENOSPC || problem.os_error == EDQUOT;
    die("%s; %s%s", problem.text, is_old ? "the old file is unchanged" : "nothing was saved",
        is_no_room ? "; make room and try again" : "");
}

/* ------------------------------------------------------------------ telling */

void setfile_inspect(const tamis_set *set, tamis_info *ret_info) {
    if (tamis_inspect(set, ret_info) != TAMIS_OK) die("there is no set to inspect");
}

void setfile_name_capacity(const tamis_facts *facts, capacity_text ret_text) {
    number_text capacity, copies, grow_to;
    char        growth[80] = "", each[80] = "";
    number_exact(facts->capacity, capacity);
    number_exact(facts->copies, copies);
    number_exact(facts->grow_to, grow_to);
    if (facts->grow_to > facts->capacity)
        (void)snprintf(growth, sizeof growth, ", growing to %s", grow_to);
    if (facts->copies > 1) (void)snprintf(each, sizeof each, " with up to %s copies each", copies);
    (void)snprintf(ret_text, sizeof(capacity_text), "%s %s%s%s", capacity,
                   plural(facts->capacity, "key", "keys"), each, growth);
}

/* How far the estimate of different keys may be off by chance. A set that can remove and stores
 * fingerprints knows how many different ones there are; only the number of keys that share one is
 * estimated. In other sets the estimate of a few keys scatters more: that of 1000 keys in
 * `counting` by about 1%. */
static double distinct_scatter(const tamis_info *info, bool is_multiset) {
    double const keys = (double)info->facts.keys;
    double const shared = fabs(info->distinct - (double)info->prints);
    bool const   is_exact = is_multiset && info->prints != 0;
    return is_exact ? 0.5 + 3 * sqrt(shared) : 2.5 + 0.005 * keys + sqrt(keys);
}

bool setfile_has_copies(const tamis_info *info) {
    bool const   is_multiset = (info->plan.abilities & TAMIS_CAN_REMOVE) != 0;
    double const more = (double)info->facts.keys - info->distinct;
    return is_multiset && more > distinct_scatter(info, is_multiset);
}

void setfile_name_contents(const tamis_info *info, contents_text ret_text) {
    uint64_t const keys = info->facts.keys;
    double const   difference = info->distinct - (double)keys;
    number_text    counted, distinct;
    number_exact(keys, counted);
    number_exact((uint64_t)(info->distinct + 0.5), distinct);
    bool const is_multiset = (info->plan.abilities & TAMIS_CAN_REMOVE) != 0;
    bool const is_chance = fabs(difference) <= distinct_scatter(info, is_multiset);
    if (setfile_has_copies(info)) {
        (void)snprintf(ret_text, sizeof(contents_text), "%s copies of about %s %s", counted,
                       distinct, info->distinct < 1.5 ? "key" : "keys");
    } else if (!is_chance && !is_multiset) {
        (void)snprintf(ret_text, sizeof(contents_text), "about %s keys", distinct);
    } else {
        (void)snprintf(ret_text, sizeof(contents_text), "%s %s", counted,
                       plural(keys, "key", "keys"));
    }
}

void setfile_describe(const tamis_info *info, setfile_text ret_text) {
    number_text   size, rate;
    capacity_text made_for;
    number_size(info->plan.body_bytes, size);
    setfile_name_capacity(&info->facts, made_for);
    number_rate(info->current_fpr, rate);
    (void)snprintf(ret_text, sizeof(setfile_text), "%s (%s, made for %s), false-positive rate %s",
                   size, info->plan.kind, made_for, rate);
}

/* A kind that never refuses a key gets worse instead. The number of keys alone says little, since
 * some may be copies: the rate decides, and in a small set half as much again may be chance. */
bool setfile_warn_of_overload(const tamis_info *info, const char *path) {
    bool const is_worse = info->current_fpr > 1.5 * info->plan.fpr;
    if (info->facts.keys <= info->plan.capacity || !is_worse) return false;
    if (info->facts.stage < info->facts.stages) return false; /* it is about to grow */
    contents_text contents;
    number_text   made_for, now, planned;
    setfile_name_contents(info, contents);
    number_exact(info->plan.capacity, made_for);
    number_rate(info->current_fpr, now);
    number_rate(info->plan.fpr, planned);
    warn("%s holds %s and is made for %s: its false-positive rate is now %s instead of %s; "
         "build a larger one",
         path, contents, made_for, now, planned);
    return true;
}
