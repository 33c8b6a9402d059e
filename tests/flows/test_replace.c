/* test_replace.c - files that are replaced (common/replace.h): the order of system calls, rights,
 * links, failures, and kill -9 at every one of these calls.
 *
 * The linker puts the __wrap_ functions in front of the calls of the tools (--wrap).
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "replace.h"
#include "temporary.h"

/* ------------------------------------------------------------------ system calls */

static char     trace[32]; /* a letter for each call */
static size_t   n_traced;
static unsigned turn;         /* the call that fails or kills, from 1; 0: none */
static bool     is_killing;   /* it kills the process */
static bool     has_nameless; /* the file system has files without names */

/* Note a call. True: it fails, with errno set. */
static bool strikes(char letter) {
    if (n_traced + 1 < sizeof trace) trace[n_traced++] = letter;
    if (turn == 0 || n_traced != turn) return false;
    if (is_killing) (void)raise(SIGKILL);
    errno = EIO;
    return true;
}

#define WRAP(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

WRAP(int, openat64, (int folder, const char *path, int flags, mode_t mode)) {
    if ((flags & O_TMPFILE) == O_TMPFILE && !has_nameless) {
        errno = ENOTSUP;
        return -1;
    }
    return strikes('o') ? -1 : __real_openat64(folder, path, flags, mode);
}

WRAP(int, fsync, (int file)) {
    struct stat about;
    bool const  is_folder = fstat(file, &about) == 0 && S_ISDIR(about.st_mode);
    return strikes(is_folder ? 'd' : 'f') ? -1 : __real_fsync(file);
}

WRAP(int, linkat, (int from, const char *old, int to, const char *new, int flags)) {
    return strikes('l') ? -1 : __real_linkat(from, old, to, new, flags);
}

WRAP(int, renameat, (int from, const char *old, int to, const char *new)) {
    return strikes('r') ? -1 : __real_renameat(from, old, to, new);
}

static void watch(unsigned which, bool kills, bool nameless) {
    memset(trace, 0, sizeof trace);
    n_traced = 0;
    turn = which;
    is_killing = kills;
    has_nameless = nameless;
}

/* ------------------------------------------------------------------ files */

typedef struct place {
    char folder[32], name[64];
} place;

static void write_text(const char *name, const char *text) {
    FILE *const file = fopen(name, "w");
    assert_true(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool holds(const char *name, const char *text) {
    char        found[64] = "";
    FILE *const file = fopen(name, "r");
    assert_non_null(file);
    (void)!fread(found, 1, sizeof found - 1, file);
    (void)fclose(file);
    return strcmp(found, text) == 0;
}

static place make_place(void) {
    place p;
    temporary_folder_make(p.folder, sizeof p.folder);
    (void)snprintf(p.name, sizeof p.name, "%s/file", p.folder);
    write_text(p.name, "old");
    return p;
}

static unsigned count_files(const char *path) {
    unsigned   n = 0;
    DIR *const folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(folder);
    return n;
}

static int replace(const char *name, bool is_synced) {
    replacement r;
    int const   error = replace_begin(name, &r);
    if (error != 0) return error;
    (void)fputs("new", r.file);
    return replace_end(&r, is_synced);
}

static unsigned count_open(void) {
    return count_files("/proc/self/fd");
}

/* ------------------------------------------------------------------ tests */

/* Without the sync of the folder, a loss of power can bring back the old file, or none. */
static void file_and_folder_are_synced_in_this_order(void **state) {
    (void)state;
    place const p = make_place();
    watch(0, false, true);
    assert_int_equal(replace(p.name, true), 0);
    if (strcmp(trace, "oflrd") != 0) assert_string_equal(trace, "oofrd"); /* none without a name */
    assert_true(holds(p.name, "new"));
    watch(0, false, false);
    assert_int_equal(replace(p.name, true), 0);
    assert_string_equal(trace, "ofrd");
    watch(0, false, false);
    assert_int_equal(replace(p.name, false), 0);
    assert_string_equal(trace, "or");
    assert_int_equal(count_files(p.folder), 1);
    temporary_folder_remove(p.folder);
}

/* Call `which` fails. Returns its letter, or 0 if there were not so many calls. */
static char fail_at(const place *p, unsigned which, bool nameless, int *ret_error) {
    write_text(p->name, "old");
    watch(which, false, nameless);
    *ret_error = replace(p->name, true);
    char const struck = n_traced >= which ? trace[which - 1] : '\0';
    watch(0, false, true);
    return struck;
}

/* If only the sync of the folder fails, the file was replaced, and the failure is reported. If
 * there are no files without a name, one with a name is tried. */
static void a_failure_leaves_the_old_file_and_nothing_else(void **state) {
    (void)state;
    place const    p = make_place();
    unsigned const n_open = count_open();
    for (unsigned i = 0; i < 10; i++) {
        int        error;
        bool const nameless = i % 2 == 0;
        char const struck = fail_at(&p, 1 + i / 2, nameless, &error);
        bool const is_mended = struck == 'o' && nameless;
        assert_int_equal(error, struck == '\0' || is_mended ? 0 : EIO);
        assert_true(holds(p.name, error == 0 || struck == 'd' ? "new" : "old"));
        assert_int_equal(count_files(p.folder), 1);
        assert_int_equal(count_open(), n_open);
    }
    temporary_folder_remove(p.folder);
}

/* A child is killed at each call. With a nameless file, nothing is left, except between the link
 * and the rename. */
static void kill_9_leaves_the_old_file_or_the_new_one(void **state) {
    (void)state;
    place const p = make_place();
    for (unsigned which = 1; which <= 5; which++) {
        write_text(p.name, "old");
        pid_t const child = fork();
        if (child == 0) {
            watch(which, true, true);
            _exit(replace(p.name, true));
        }
        int status;
        assert_true(waitpid(child, &status, 0) == child);
        assert_true(holds(p.name, "old") || holds(p.name, "new"));
        if (which <= 3) assert_true(holds(p.name, "old") && count_files(p.folder) == 1);
    }
    temporary_folder_remove(p.folder);
}

static mode_t mode_of(const char *name) {
    struct stat about;
    assert_int_equal(stat(name, &about), 0);
    return about.st_mode & 07777;
}

static void the_mode_is_kept_and_a_new_file_has_that_of_the_umask(void **state) {
    static const mode_t modes[] = { 0600, 0640, 0644, 0666, 0400 };
    (void)state;
    place const  p = make_place();
    mode_t const before = umask(027);
    watch(0, false, true);
    for (unsigned i = 0; i < COUNT(modes); i++) {
        assert_int_equal(chmod(p.name, modes[i]), 0);
        assert_int_equal(replace(p.name, true), 0);
        assert_int_equal(mode_of(p.name), modes[i]);
    }
    assert_int_equal(unlink(p.name), 0);
    assert_int_equal(replace(p.name, true), 0);
    assert_int_equal(mode_of(p.name), 0640);
    (void)umask(before);
    temporary_folder_remove(p.folder);
}

static void a_link_stays_and_its_file_is_replaced(void **state) {
    (void)state;
    place const p = make_place();
    char        link[64];
    struct stat about;
    (void)snprintf(link, sizeof link, "%s/link", p.folder);
    watch(0, false, true);
    assert_int_equal(symlink("file", link), 0);
    assert_int_equal(replace(link, true), 0);
    assert_true(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    assert_true(holds(p.name, "new"));
    assert_int_equal(unlink(p.name), 0);
    assert_int_equal(replace(link, true), ENOENT); /* it leads nowhere now */
    assert_int_equal(count_files(p.folder), 1);
    temporary_folder_remove(p.folder);
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    place const p = make_place();
    char        pipe[64];
    watch(0, false, true);
    (void)snprintf(pipe, sizeof pipe, "%s/pipe", p.folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(replace(pipe, true), EINVAL);
    assert_int_equal(replace(p.folder, true), EISDIR);
    assert_int_equal(replace("no/such/folder", true), ENOENT);
    assert_int_equal(replace("/dev/null", true), EINVAL);
    assert_int_equal(count_files(p.folder), 2);
    temporary_folder_remove(p.folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_and_folder_are_synced_in_this_order),
        cmocka_unit_test(a_failure_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(kill_9_leaves_the_old_file_or_the_new_one),
        cmocka_unit_test(the_mode_is_kept_and_a_new_file_has_that_of_the_umask),
        cmocka_unit_test(a_link_stays_and_its_file_is_replaced),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return unit_run("replace", tests, COUNT(tests));
}
