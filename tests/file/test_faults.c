/* test_faults.c - every system call of a save and of an open fails in turn, in every way.
 *
 * The linker puts the __wrap_ functions below in front of the library's calls (--wrap). A fault is
 * "the n-th call of this function fails so": for n = 1, 2, ... until a run needs no n-th call.
 */
#include "make.h"
#include "sample.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ faults */

/* The first N_CALLS are tried with every error; the others have cases of their own. */
enum call {
    OPEN,
    OPENAT,
    READ,
    WRITE,
    FSYNC,
    LINK,
    RENAME,
    FSTAT,
    FSTATAT,
    MAP,
    N_CALLS,
    RANDOM = N_CALLS,
    ACCESS,
    ACCESSAT,
    CHOWN,
    REALPATH,
    LSTAT,
    CHMOD,
    CLOSE
};

static const char *const call_names[N_CALLS] = { "open",   "openat", "pread", "write",   "fsync",
                                                 "linkat", "rename", "fstat", "fstatat", "mmap" };

#define SHORT (-1) /* not an error: half of the bytes */
#define NOTHING 0  /* not an error: no bytes at all */

static struct {
    enum call call;
    unsigned  left; /* calls until the fault; 0: none is set */
    int       error;
    bool      is_for_good; /* this call and all later ones */
    bool      has_struck;
} fault;

/* Is it this call's turn to fail? Then errno is set. */
static bool strikes(enum call call) {
    if (fault.left == 0 || fault.call != call) return false;
    if (fault.left > 1) {
        fault.left--;
        return false;
    }
    if (!fault.is_for_good) fault.left = 0;
    fault.has_struck = true;
    errno = fault.error > 0 ? fault.error : 0;
    return true;
}

/* The calls that were made, a letter for each. Equal letters in a row are one letter. */
static char   trace[100];
static size_t n_traced;

static void note(char letter) {
    if (n_traced != 0 && trace[n_traced - 1] == letter) return;
    if (n_traced + 1 < sizeof trace) trace[n_traced++] = letter;
}

static bool is_folder(int file) {
    struct stat about;
    return fstat(file, &about) == 0 && S_ISDIR(about.st_mode);
}

/* How many of n bytes a failing transfer moves: none, or half. */
static ssize_t stricken(size_t n) {
    if (fault.error == NOTHING) return 0;
    return fault.error == SHORT ? (ssize_t)(n / 2 + (n == 1)) : -1;
}

#define WRAP(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

WRAP(int, open64, (const char *path, int flags, mode_t mode)) {
    return strikes(OPEN) ? -1 : __real_open64(path, flags, mode);
}

WRAP(int, openat64, (int folder, const char *path, int flags, mode_t mode)) {
    return strikes(OPENAT) ? -1 : __real_openat64(folder, path, flags, mode);
}

WRAP(ssize_t, pread64, (int file, void *bytes, size_t n, off_t offset)) {
    bool const is_faulty = strikes(READ);
    if (is_faulty && stricken(n) < 0) return -1;
    return __real_pread64(file, bytes, is_faulty ? (size_t)stricken(n) : n, offset);
}

WRAP(ssize_t, write, (int file, const void *bytes, size_t n)) {
    note('w');
    bool const is_faulty = strikes(WRITE);
    if (is_faulty && stricken(n) < 0) return -1;
    return __real_write(file, bytes, is_faulty ? (size_t)stricken(n) : n);
}

WRAP(int, fsync, (int file)) {
    note(is_folder(file) ? 'd' : 'f');
    return strikes(FSYNC) ? -1 : __real_fsync(file);
}

WRAP(int, linkat, (int from, const char *old, int to, const char *new, int flags)) {
    note('l');
    return strikes(LINK) ? -1 : __real_linkat(from, old, to, new, flags);
}

WRAP(int, renameat, (int from, const char *old, int to, const char *new)) {
    note('r');
    return strikes(RENAME) ? -1 : __real_renameat(from, old, to, new);
}

/* Let owner and group of files appear to be others: only root could make such files. */
static bool is_owner_hidden;

WRAP(int, fstat64, (int file, struct stat *about)) {
    if (strikes(FSTAT)) return -1;
    int const result = __real_fstat64(file, about);
    about->st_uid += is_owner_hidden;
    about->st_gid += is_owner_hidden;
    return result;
}

WRAP(int, fstatat64, (int folder, const char *path, struct stat *about, int flags)) {
    return strikes(FSTATAT) ? -1 : __real_fstatat64(folder, path, about, flags);
}

WRAP(void *, mmap64, (void *at, size_t n, int protection, int flags, int file, off_t offset)) {
    if (file >= 0 && strikes(MAP)) return MAP_FAILED; /* memory has tests of its own */
    return __real_mmap64(at, n, protection, flags, file, offset);
}

WRAP(ssize_t, getrandom, (void *bytes, size_t n, unsigned flags)) {
    bool const is_faulty = strikes(RANDOM);
    if (is_faulty && stricken(n) <= 0) return stricken(n);
    return __real_getrandom(bytes, is_faulty ? (size_t)stricken(n) : n, flags);
}

WRAP(int, access, (const char *path, int mode)) {
    return strikes(ACCESS) ? -1 : __real_access(path, mode);
}

WRAP(int, faccessat, (int folder, const char *path, int mode, int flags)) {
    return strikes(ACCESSAT) ? -1 : __real_faccessat(folder, path, mode, flags);
}

/* The owner is not really changed: the files stay those of the user who runs the test. */
WRAP(int, fchown, (int file, uid_t user, gid_t group)) {
    (void)file, (void)user, (void)group;
    return strikes(CHOWN) ? -1 : 0;
}

WRAP(char *, realpath, (const char *path, char *ret_path)) {
    return strikes(REALPATH) ? NULL : __real_realpath(path, ret_path);
}

WRAP(int, lstat64, (const char *path, struct stat *about)) {
    return strikes(LSTAT) ? -1 : __real_lstat64(path, about);
}

WRAP(int, fchmod, (int file, mode_t mode)) {
    return strikes(CHMOD) ? -1 : __real_fchmod(file, mode);
}

/* A folder that lets nobody remove anything. */
static bool is_unlink_refused;

WRAP(int, unlinkat, (int folder, const char *path, int flags)) {
    if (!is_unlink_refused) return __real_unlinkat(folder, path, flags);
    errno = EPERM;
    return -1;
}

/* Linux closes the descriptor even if it reports an error. */
WRAP(int, close, (int file)) {
    int const result = __real_close(file);
    return strikes(CLOSE) ? -1 : result;
}

/* ------------------------------------------------------------------ a save that is disturbed */

static const int errors[] = { EIO, ENOSPC, EACCES, EINTR, SHORT };
#define N_ERRORS COUNT(errors)

static char path[200], folder[64];

/* Short transfers are continued, and interrupted calls are repeated. */
static bool is_harmless(void) {
    bool const is_transfer = fault.call == READ || fault.call == WRITE;
    bool const is_retried = is_transfer || fault.call == FSYNC || fault.call == OPEN;
    return (fault.error == SHORT && is_transfer) || (fault.error == EINTR && is_retried);
}

/* Save once with the fault. The old file has 10 keys, the new one 20. */
static void save_disturbed(const tamis_set *old, const tamis_set *new) {
    unsigned const left = fault.left;
    fault.left = 0;
    assert_int_equal(tamis_save(old, path, NULL), TAMIS_OK);
    fault.left = left;
    unsigned const     open_before = sample_open_files();
    tamis_problem      problem = { .status = TAMIS_OK };
    tamis_status const status = tamis_save(new, path, &problem);
    fault.left = 0;
    assert_int_equal(sample_open_files(), open_before);
    assert_int_equal(sample_files(folder, "tmp"), 0);
    uint64_t const keys = sample_keys_at(path);
    if (status == TAMIS_OK) {
        assert_int_equal(keys, 20);
    } else {
        /* the last fsync, of the folder, comes after the rename: the new file may be in place */
        bool const is_last = fault.call == FSYNC && keys == 20;
        assert_true(keys == 10 || is_last);
        assert_int_equal(status, fault.error == ENOSPC ? TAMIS_ERR_SPACE : TAMIS_ERR_IO);
        assert_int_equal(problem.os_error, fault.error);
        assert_false(is_harmless() && !fault.is_for_good);
    }
}

/* For one call and error, let the n-th call fail, for all n. Returns how many times it failed. */
static unsigned save_disturbed_everywhere(enum call call, int error, bool is_for_good) {
    tamis_set *const old = sample_set("bloom", 200000, 10, 1);
    tamis_set *const new = sample_set("bloom", 200000, 20, 1);
    unsigned struck = 0;
    for (unsigned n = 1;; n++) {
        fault.call = call;
        fault.left = n;
        fault.error = error;
        fault.is_for_good = is_for_good;
        fault.has_struck = false;
        save_disturbed(old, new);
        if (!fault.has_struck) break;
        struck++;
    }
    tamis_free(old);
    tamis_free(new);
    return struck;
}

static void disturbed_saves_leave_old_or_new(void **state) {
    (void)state;
    for (unsigned call = 0; call < N_CALLS; call++) {
        unsigned struck = 0;
        for (size_t e = 0; e < N_ERRORS; e++) {
            bool const is_transfer = call == WRITE;
            if (errors[e] == SHORT && !is_transfer) continue;
            struck += save_disturbed_everywhere(call, errors[e], false);
            /* a call that is always interrupted is repeated for ever, which is right */
            if (errors[e] > 0 && errors[e] != EINTR) {
                struck += save_disturbed_everywhere(call, errors[e], true);
            }
        }
        bool const is_used = call != READ && call != FSTAT && call != MAP;
        if (is_used && struck == 0) fail_msg("%s was never disturbed", call_names[call]);
    }
}

/* A file gets its name after its bytes are on the disk, and at the end the name is on the disk,
 * too. */
static void saves_sync_the_file_then_name_it_then_sync_the_folder(void **state) {
    (void)state;
    tamis_set *const set = sample_set("bloom", 200000, 10, 1);
    n_traced = 0;
    memset(trace, 0, sizeof trace);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    if (strcmp(trace, "wflrd") != 0)
        assert_string_equal(trace, "wfrd"); /* a file system without nameless files */
    tamis_free(set);
}

/* If a folder cannot be synced, that is accepted. If the disk fails in that sync, the problem says
 * what has happened. */
static void the_last_sync_may_be_impossible(void **state) {
    (void)state;
    tamis_set *const set = sample_set("bloom", 200000, 10, 1);
    tamis_problem    problem;
    fault.call = FSYNC;
    fault.is_for_good = false;
    fault.left = 2;
    fault.error = EINVAL;
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    fault.left = 2;
    fault.error = ENOTSUP;
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    fault.left = 2;
    fault.error = EIO;
    assert_int_equal(tamis_save(set, path, &problem), TAMIS_ERR_IO);
    assert_non_null(strstr(problem.text, "make sure of the new"));
    fault.left = 0;
    tamis_free(set);
}

/* ------------------------------------------------------------------ what else a save calls */

/* Save over a file of 10 keys a set of 20, with this fault at the n-th call. Returns the status,
 * and checks that the file is the one that this status promises. */
static tamis_status save_with(enum call call, unsigned n, int error, tamis_problem *ret_problem) {
    tamis_set *const old = sample_set("bloom", 20000, 10, 1);
    tamis_set *const new = sample_set("bloom", 20000, 20, 1);
    fault.left = 0;
    assert_int_equal(tamis_save(old, path, NULL), TAMIS_OK);
    assert_int_equal(chmod(path, 0664), 0);
    fault.call = call;
    fault.left = n;
    fault.error = error;
    fault.is_for_good = fault.has_struck = false;
    tamis_status const status = tamis_save(new, path, ret_problem);
    fault.left = 0;
    assert_true(fault.has_struck);
    assert_int_equal(sample_keys_at(path), status == TAMIS_OK ? 20 : 10);
    assert_int_equal(sample_files(folder, "tmp"), 0);
    tamis_free(old);
    tamis_free(new);
    return status;
}

static void a_system_without_random_bytes_saves_nothing(void **state) {
    (void)state;
    tamis_problem problem;
    assert_int_equal(save_with(RANDOM, 1, EINTR, NULL), TAMIS_OK);
    assert_int_equal(save_with(RANDOM, 1, SHORT, NULL), TAMIS_OK);
    assert_int_equal(save_with(RANDOM, 1, ENOSYS, &problem), TAMIS_ERR_IO);
    assert_int_equal(problem.os_error, EIO);
    assert_int_equal(save_with(RANDOM, 1, NOTHING, &problem), TAMIS_ERR_IO);
}

/* Without /proc the file has a name from the beginning. */
static void saves_do_without_proc(void **state) {
    (void)state;
    assert_int_equal(save_with(ACCESS, 1, ENOENT, NULL), TAMIS_OK);
}

static void files_that_are_not_ours_to_write_stay(void **state) {
    (void)state;
    tamis_problem problem;
    assert_int_equal(save_with(ACCESSAT, 1, EROFS, &problem), TAMIS_ERR_IO);
    assert_int_equal(problem.os_error, EROFS);
}

/* All errors for a full disk: of quotas, of limits on files, and of devices that give no reason. */
static void all_words_for_a_full_disk_are_known(void **state) {
    (void)state;
    static const int words[] = { ENOSPC, EDQUOT, EFBIG, NOTHING };
    for (size_t i = 0; i < COUNT(words); i++)
        assert_int_equal(save_with(WRITE, 1, words[i], NULL), TAMIS_ERR_SPACE);
}

static mode_t mode_of_file(void) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 0777;
}

/* If the group cannot be kept, its rights are dropped: the new group has other members. */
static void rights_are_kept_as_far_as_they_can_be(void **state) {
    (void)state;
    is_owner_hidden = true;
    assert_int_equal(save_with(CHOWN, 1, EPERM, NULL), TAMIS_OK); /* then the group alone */
    assert_int_equal(mode_of_file(), 0664);
    fault.is_for_good = false;
    tamis_set *const set = sample_set("bloom", 20000, 10, 1);
    fault.call = CHOWN;
    fault.left = 1;
    fault.error = EPERM;
    fault.is_for_good = true;
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    fault.left = 0;
    is_owner_hidden = false;
    assert_int_equal(mode_of_file(), 0644);
    tamis_free(set);
}

/* A path that cannot be followed: a folder without permission, a loop of links, a bad disk. */
static void paths_that_cannot_be_followed_are_told(void **state) {
    (void)state;
    static const int why[] = { EACCES, ELOOP, EIO, ENAMETOOLONG };
    tamis_problem    problem;
    char             name[300];
    tamis_set *const set = sample_set("bloom", 20000, 10, 1);
    (void)snprintf(name, sizeof name, "%s/not-there-yet", folder);
    for (size_t i = 0; i < COUNT(why); i++) {
        assert_int_equal(save_with(REALPATH, 1, why[i], &problem), TAMIS_ERR_IO);
        assert_int_equal(problem.os_error, why[i]);
        fault.call = LSTAT; /* only of a name that realpath() does not find */
        fault.left = 1;
        fault.error = why[i];
        assert_int_equal(tamis_save(set, name, &problem), TAMIS_ERR_IO);
        assert_int_equal(problem.os_error, why[i]);
        assert_int_equal(access(name, F_OK), -1);
        fault.left = 0;
    }
    assert_int_equal(save_with(REALPATH, 1, ENOMEM, &problem), TAMIS_ERR_MEMORY);
    tamis_free(set);
}

/* These come when the file is on the disk already, or cannot be helped: the save succeeds, and a
 * save that fails for another reason keeps that reason. */
static void calls_that_do_not_matter_change_nothing(void **state) {
    (void)state;
    tamis_problem problem;
    assert_int_equal(save_with(CHMOD, 1, EPERM, NULL), TAMIS_OK);
    for (unsigned n = 1; n <= 2; n++) assert_int_equal(save_with(CLOSE, n, EIO, NULL), TAMIS_OK);
    tamis_set *const set = sample_set("bloom", 20000, 30, 1);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    is_unlink_refused = true;
    fault.call = RENAME;
    fault.left = 1;
    fault.error = EIO;
    assert_int_equal(tamis_save(set, path, &problem), TAMIS_ERR_IO);
    assert_int_equal(problem.os_error, EIO);
    is_unlink_refused = false;
    assert_int_equal(sample_keys_at(path), 30);
    assert_int_equal(sample_files(folder, "tmp"), 1); /* that is all that is left behind */
    tamis_free(set);
}

static void names_that_cannot_be_are_refused(void **state) {
    (void)state;
    char             name[400];
    tamis_problem    problem;
    tamis_set *const set = sample_set("bloom", 20000, 10, 1);
    (void)snprintf(name, sizeof name, "%s/nowhere/", folder);
    assert_int_equal(tamis_save(set, name, &problem), TAMIS_ERR_IO);
    assert_int_equal(problem.os_error, EISDIR);
    int const n = snprintf(name, sizeof name, "%s/", folder);
    memset(name + n, 'x', 245);
    name[n + 245] = '\0';
    assert_int_equal(tamis_save(set, name, &problem), TAMIS_ERR_IO);
    assert_int_equal(problem.os_error, ENAMETOOLONG);
    (void)snprintf(name, sizeof name, "%s/link", folder);
    assert_int_equal(symlink("gone", name), 0);
    assert_int_equal(tamis_save(set, name, &problem), TAMIS_ERR_IO);
    assert_int_equal(problem.os_error, ENOENT);
    tamis_free(set);
}

/* ------------------------------------------------------------------ an open that is disturbed */

/* Every way to open a file. */
enum door { BY_NAME, MAPPED, BY_DESCRIPTOR, STATES, STATES_MAPPED, STATES_BY_DESCRIPTOR, N_DOORS };

static char states_path[200];

/* Open the file at this door. Returns a key count, or 0 with a status and nothing made. */
static tamis_status open_at(enum door door, uint64_t *ret_keys, tamis_problem *ret_problem) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    tamis_states      *states = NULL;
    tamis_status       status;
    int                file = -1;
    if (door == MAPPED || door == STATES_MAPPED) options.flags = TAMIS_OPEN_MAP;
    if (door == BY_DESCRIPTOR || door == STATES_BY_DESCRIPTOR) {
        file = __real_open64(door == BY_DESCRIPTOR ? path : states_path, O_RDONLY | O_CLOEXEC, 0);
        assert_true(file >= 0);
    }
    if (door == BY_DESCRIPTOR)
        status = tamis_open_fd(file, &options, &set, ret_problem);
    else if (door == STATES_BY_DESCRIPTOR)
        status = tamis_states_open_fd(file, &options, &states, ret_problem);
    else if (door == BY_NAME || door == MAPPED)
        status = tamis_open(path, &options, &set, ret_problem);
    else
        status = tamis_states_open(states_path, &options, &states, ret_problem);
    fault.left = 0;
    if (file >= 0) assert_int_equal(__real_close(file), 0); /* it is still the caller's */
    assert_int_equal(status == TAMIS_OK, set != NULL || states != NULL);
    *ret_keys = set != NULL ? (uint64_t)tamis_has_id(set, 3) : states != NULL;
    tamis_free(set);
    tamis_states_free(states);
    return status;
}

static void open_disturbed(enum door door) {
    unsigned const     open_before = sample_open_files();
    tamis_problem      problem = { .status = TAMIS_OK };
    uint64_t           keys = 0;
    tamis_status const status = open_at(door, &keys, &problem);
    assert_int_equal(status == TAMIS_OK, !fault.has_struck || is_harmless());
    if (status == TAMIS_OK) {
        assert_int_equal(keys, 1);
    } else {
        assert_true(status == TAMIS_ERR_IO || status == TAMIS_ERR_SPACE);
        assert_int_equal(problem.os_error, fault.error);
    }
    assert_int_equal(sample_open_files(), open_before);
}

/* For one door, call and error, let the n-th call fail, for all n. Returns how often it failed. */
static unsigned open_disturbed_everywhere(enum door door, enum call call, int error,
                                          bool is_for_good) {
    for (unsigned n = 1;; n++) {
        fault.call = call;
        fault.left = n;
        fault.error = error;
        fault.is_for_good = is_for_good;
        fault.has_struck = false;
        open_disturbed(door);
        if (!fault.has_struck) return n - 1;
    }
}

/* Which calls a door makes. A mapped file is not read, and a descriptor is open already. */
static bool door_makes(enum door door, enum call call) {
    bool const is_mapped = door == MAPPED || door == STATES_MAPPED;
    bool const is_open = door == BY_DESCRIPTOR || door == STATES_BY_DESCRIPTOR;
    if (call == OPEN) return !is_open;
    if (call == READ) return !is_mapped;
    return call == FSTAT || (call == MAP && is_mapped);
}

static void save_for_opening(void) {
    tamis_set *const  set = sample_set("counting", 200000, 100, 1);
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = 20000;
    spec.values = 4;
    spec.fpr = 1e-6;
    spec.unknown = 1e-3;
    tamis_states *const states = make_states_from(&spec);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_save(states, states_path, NULL), TAMIS_OK);
    tamis_free(set);
    tamis_states_free(states);
}

static void disturbed_opens_say_why(void **state) {
    (void)state;
    static const enum call calls[] = { OPEN, FSTAT, READ, MAP };
    save_for_opening();
    for (unsigned door = 0; door < N_DOORS; door++) {
        for (size_t c = 0; c < COUNT(calls); c++) {
            unsigned struck = 0;
            for (size_t e = 0; e < N_ERRORS; e++) {
                if (errors[e] == SHORT && calls[c] != READ) continue;
                struck += open_disturbed_everywhere(door, calls[c], errors[e], false);
                if (errors[e] != EINTR) /* short ones for good come down to a single byte */
                    struck += open_disturbed_everywhere(door, calls[c], errors[e], true);
            }
            if ((struck != 0) != door_makes(door, calls[c]))
                fail_msg("door %u: %s was disturbed %u times", door, call_names[calls[c]], struck);
        }
    }
}

/* The file becomes shorter after its length was read. */
static void files_that_shrink_are_told(void **state) {
    (void)state;
    tamis_set *const set = sample_set("counting", 200000, 100, 1);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    tamis_free(set);
    for (unsigned n = 1; n <= 3; n++) {
        tamis_set    *back = NULL;
        tamis_problem problem;
        fault.call = READ;
        fault.left = n;
        fault.error = NOTHING;
        fault.is_for_good = false;
        assert_int_equal(tamis_open(path, NULL, &back, &problem), TAMIS_ERR_TRUNCATED);
        assert_null(back);
        assert_non_null(strstr(problem.text, "shortened"));
    }
}

int main(void) {
    temporary_folder_make(folder, sizeof folder);
    (void)snprintf(path, sizeof path, "%s/faults.tamis", folder);
    (void)snprintf(states_path, sizeof states_path, "%s/faults.states", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disturbed_saves_leave_old_or_new),
        cmocka_unit_test(disturbed_opens_say_why),
        cmocka_unit_test(saves_sync_the_file_then_name_it_then_sync_the_folder),
        cmocka_unit_test(the_last_sync_may_be_impossible),
        cmocka_unit_test(a_system_without_random_bytes_saves_nothing),
        cmocka_unit_test(saves_do_without_proc),
        cmocka_unit_test(files_that_are_not_ours_to_write_stay),
        cmocka_unit_test(all_words_for_a_full_disk_are_known),
        cmocka_unit_test(rights_are_kept_as_far_as_they_can_be),
        cmocka_unit_test(paths_that_cannot_be_followed_are_told),
        cmocka_unit_test(names_that_cannot_be_are_refused),
        cmocka_unit_test(files_that_shrink_are_told),
        cmocka_unit_test(calls_that_do_not_matter_change_nothing), /* it leaves a file behind */
    };
    int const failed = cmocka_run_group_tests_name("faults", tests, NULL, NULL);
    temporary_folder_remove(folder);
    return failed;
}
