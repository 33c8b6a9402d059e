/* test_save.c - a save replaces a file as a whole, or not at all.
 *
 * usage: test_save [ROUNDS]      of kill -9 in the middle of saving
 */
#include "sample.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned rounds = 200;
static char     folder[64];

static void path_in(char *ret_path, const char *name) {
    (void)snprintf(ret_path, 200, "%s/%s", folder, name);
}

/* ------------------------------------------------------------------ killed */

/* Save the two sets in turn until killed. */
static void save_for_ever(tamis_set *const *sets, const char *path) {
    for (unsigned i = 0;; i++) {
        if (tamis_save(sets[i % 2], path, NULL) != TAMIS_OK) _exit(3);
    }
}

/* How many microseconds a save takes on this machine now: the kills come within a few saves. */
static uint64_t save_time(const tamis_set *set, const char *path) {
    struct timespec before, after;
    (void)clock_gettime(CLOCK_MONOTONIC, &before);
    for (unsigned i = 0; i < 4; i++) assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    (void)clock_gettime(CLOCK_MONOTONIC, &after);
    int64_t const nanoseconds =
        (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + (after.tv_nsec - before.tv_nsec);
    return (uint64_t)nanoseconds / 4000 + 1;
}

static void killed_saves_leave_the_old_or_the_new(void **state) {
    (void)state;
    char path[200];
    path_in(path, "killed.tamis");
    tamis_set *const sets[2] = { sample_set("bloom", 1 << 20, 1000, 1),
                                 sample_set("bloom", 1 << 20, 2000, 2) };
    unsigned         n_first = 0, n_second = 0;
    uint64_t const   longest = 2000 + 6 * save_time(sets[0], path);
    for (unsigned round = 0; round < rounds; round++) {
        pid_t const child = fork();
        assert_true(child >= 0);
        if (child == 0) save_for_ever(sets, path);
        (void)usleep((useconds_t)fastrange(remix(3, round), longest));
        (void)kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));           /* it did not end by an error of its own */
        uint64_t const keys = sample_keys_at(path); /* one of the two, whole */
        assert_true(keys > 990 && keys <= 2000);
        n_first += keys <= 1000;
        n_second += keys > 1000;
    }
    assert_int_equal(n_first + n_second, rounds);
    assert_true(n_first != 0 && n_second != 0); /* the kills came at different moments */
    tamis_free(sets[0]);
    tamis_free(sets[1]);
}

/* ------------------------------------------------------------------ what is at the path */

static void saves_keep_the_mode_of_the_old_file(void **state) {
    (void)state;
    char             path[200];
    struct stat      about;
    tamis_set *const set = sample_set("bloom", 8192, 10, 1);
    path_in(path, "mode.tamis");
    mode_t const mask = umask(022);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0644);
    assert_int_equal(chmod(path, 0660), 0);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0660);
    (void)umask(mask);
    tamis_free(set);
}

static void saves_follow_a_link(void **state) {
    (void)state;
    char             path[200], link[200];
    struct stat      about;
    tamis_set *const set = sample_set("bloom", 8192, 10, 1);
    path_in(path, "target.tamis");
    path_in(link, "link.tamis");
    assert_int_equal(symlink("target.tamis", link), 0);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_save(set, link, NULL), TAMIS_OK);
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(sample_keys_at(path), 10);
    tamis_free(set);
}

/* A save would replace a link that leads nowhere, or to itself, by a file. */
static void saves_refuse_a_broken_link(void **state) {
    (void)state;
    char                     link[200];
    struct stat              about;
    tamis_problem            problem;
    tamis_set *const         set = sample_set("bloom", 8192, 10, 1);
    static const char *const targets[] = { "nowhere.tamis", "broken1.tamis" };
    for (unsigned i = 0; i < 2; i++) {
        path_in(link, i == 0 ? "broken0.tamis" : "broken1.tamis");
        assert_int_equal(symlink(targets[i], link), 0);
        assert_int_equal(tamis_save(set, link, &problem), TAMIS_ERR_IO);
        assert_int_equal(lstat(link, &about), 0);
        assert_true(S_ISLNK(about.st_mode));
    }
    tamis_free(set);
}

/* Owner and group are kept as well, if the system allows it: root may do that. */
static void saves_keep_the_owner_of_the_old_file(void **state) {
    (void)state;
    char        path[200];
    struct stat about;
    if (geteuid() != 0) return; /* nobody else may change owners */
    tamis_set *const set = sample_set("bloom", 8192, 10, 1);
    path_in(path, "owner.tamis");
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(chown(path, 12345, 23456), 0);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_uid, 12345);
    assert_int_equal(about.st_gid, 23456);
    assert_int_equal(about.st_mode & 0777, 0640);
    tamis_free(set);
}

/* Save as a user who owns the folder, but not the file, and is not in its group. */
static void save_as_another(const tamis_set *set, const char *path) {
    pid_t const child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setgid(54321) != 0 || setuid(54321) != 0) _exit(2);
        _exit(tamis_save(set, path, NULL) == TAMIS_OK ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* If the group of the file changes, the new group gets no more rights than everybody has. */
static void saves_give_no_rights_to_another_group(void **state) {
    (void)state;
    char        path[200];
    struct stat about;
    if (geteuid() != 0) return; /* nobody else may change owners */
    tamis_set *const set = sample_set("bloom", 8192, 10, 1);
    path_in(path, "group.tamis");
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(chown(path, 12345, 23456), 0);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    save_as_another(set, path);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_gid, 54321);
    assert_int_equal(about.st_mode & 0777, 0666);
    assert_int_equal(chown(path, 54321, 23456), 0);
    assert_int_equal(chmod(path, 0664), 0);
    save_as_another(set, path);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0644);
    assert_int_equal(chmod(folder, 0700), 0);
    tamis_free(set);
}

/* A save touches no other file, not even one with the name that temporary files had once. And it
 * does not wait for a lock on the folder. */
static void saves_touch_no_other_file_and_wait_for_no_lock(void **state) {
    (void)state;
    char             path[200], other[200];
    tamis_set *const set = sample_set("bloom", 8192, 10, 1);
    path_in(path, "clean.tamis");
    path_in(other, ".clean.tamis.tamis.tmp");
    FILE *const file = fopen(other, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    int const lock = open(folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    (void)alarm(60); /* ends the test if it waits */
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    (void)alarm(0);
    assert_int_equal(close(lock), 0);
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(sample_keys_at(path), 10);
    assert_int_equal(unlink(other), 0);
    tamis_free(set);
}

/* Several saves to one name at the same time: each succeeds, and no temporary file is left. */
static void saves_at_the_same_time_all_succeed(void **state) {
    (void)state;
    char             path[200];
    pid_t            children[4];
    tamis_set *const set = sample_set("bloom", 8192, 10, 1);
    path_in(path, "same.tamis");
    for (unsigned i = 0; i < 4; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] != 0) continue;
        for (unsigned n = 0; n < 100; n++) {
            if (tamis_save(set, path, NULL) != TAMIS_OK) _exit(1);
        }
        _exit(0);
    }
    for (unsigned i = 0; i < 4; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(sample_keys_at(path), 10);
    assert_int_equal(sample_files(folder, ".tmp"), 0);
    tamis_free(set);
}

static void expect_refused(const tamis_set *set, const char *path, int os_error) {
    tamis_problem problem = { .text = "" };
    assert_int_equal(tamis_save(set, path, &problem), TAMIS_ERR_IO);
    assert_int_equal(problem.os_error, os_error);
    assert_non_null(strstr(problem.text, "cannot save to"));
}

/* A rename works without the right to write to the file, but a save requires that right. */
static void saves_refuse_a_read_only_file(void **state) {
    (void)state;
    char             path[200];
    struct stat      before, after;
    tamis_set *const set = sample_set("bloom", 8192, 10, 1);
    path_in(path, "read-only.tamis");
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(stat(path, &before), 0);
    expect_refused(set, path, EACCES);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    tamis_free(set);
}

/* A pipe, and a device where we may make one. Both are our own: if a save by root were not refused,
 * it would replace what it is given. */
static void saves_refuse_pipes_and_devices(void **state) {
    (void)state;
    static const mode_t types[] = { S_IFIFO, S_IFCHR };
    tamis_set *const    set = sample_set("bloom", 8192, 10, 1);
    for (size_t i = 0; i < COUNT(types); i++) {
        char        path[200];
        struct stat about;
        path_in(path, "node");
        if (mknod(path, types[i] | 0600, makedev(1, 3)) != 0) {
            assert_int_equal(types[i], S_IFCHR);
            continue;
        }
        expect_refused(set, path, EINVAL);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode & S_IFMT, types[i]);
        assert_int_equal(unlink(path), 0);
    }
    tamis_free(set);
}

static void saves_refuse_what_is_not_a_file(void **state) {
    (void)state;
    char             path[200], name[300];
    tamis_set *const set = sample_set("bloom", 8192, 10, 1);
    expect_refused(set, folder, EISDIR);
    path_in(path, "no such folder/x.tamis");
    expect_refused(set, path, ENOENT);
    path_in(path, "");
    expect_refused(set, path, EISDIR);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    expect_refused(set, name, ENAMETOOLONG);
    assert_int_equal(sample_files(folder, ".tmp"), 0);
    tamis_free(set);
}

static void saves_into_the_current_folder(void **state) {
    (void)state;
    tamis_set *const set = sample_set("counting", 8192, 10, 1);
    assert_int_equal(tamis_save(set, "here.tamis", NULL), TAMIS_OK);
    assert_int_equal(sample_keys_at("here.tamis"), 10);
    assert_int_equal(unlink("here.tamis"), 0);
    tamis_free(set);
}

/* ------------------------------------------------------------------ no room */

static void a_full_disk_leaves_the_old_file(void **state) {
    (void)state;
    char             path[200];
    tamis_problem    problem;
    tamis_set *const small = sample_set("bloom", 8192, 10, 1);
    tamis_set *const large = sample_set("bloom", 1 << 20, 1000, 1);
    struct rlimit    before, limit;
    path_in(path, "full.tamis");
    assert_int_equal(tamis_save(small, path, NULL), TAMIS_OK);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    tamis_status const status = tamis_save(large, path, &problem);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, TAMIS_ERR_SPACE);
    assert_int_equal(problem.status, TAMIS_ERR_SPACE);
    assert_int_equal(sample_keys_at(path), 10);
    assert_int_equal(sample_files(folder, ".tmp"), 0);
    tamis_free(small);
    tamis_free(large);
}

/* ------------------------------------------------------------------ opening */

static void expect_open_error(const char *path, tamis_status status, int os_error) {
    tamis_set    *set = NULL;
    tamis_problem problem = { .text = "" };
    for (unsigned flags = 0; flags < 4; flags++) {
        tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
        options.flags = flags;
        assert_int_equal(tamis_open(path, &options, &set, &problem), status);
        assert_int_equal(problem.status, status);
        assert_int_equal(problem.os_error, os_error);
        assert_null(set);
    }
}

static void what_is_not_a_set_is_not_opened(void **state) {
    (void)state;
    char path[200];
    path_in(path, "absent.tamis");
    expect_open_error(path, TAMIS_ERR_IO, ENOENT);
    expect_open_error(folder, TAMIS_ERR_IO, EISDIR);
    expect_open_error("/dev/null", TAMIS_ERR_IO, ESPIPE);
    path_in(path, "empty.tamis");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    expect_open_error(path, TAMIS_ERR_TRUNCATED, 0);
    file = fopen(path, "w");
    assert_true(file != NULL && fputs("hello, world\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    expect_open_error(path, TAMIS_ERR_FOREIGN, 0);
}

/* A damaged file is refused, whether it is mapped or read. With TAMIS_OPEN_TRUST only its header is
 * checked. */
static void damage_is_seen_in_a_mapped_file(void **state) {
    (void)state;
    char               path[200];
    tamis_set         *set = sample_set("counting", 200000, 1000, 1);
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    path_in(path, "damaged.tamis");
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    tamis_free(set);
    int const file = open(path, O_WRONLY);
    assert_int_equal(pwrite(file, "damage", 6, 150000), 6);
    assert_int_equal(close(file), 0);
    set = NULL;
    tamis_problem problem;
    options.flags = TAMIS_OPEN_MAP;
    assert_int_equal(tamis_open(path, &options, &set, &problem), TAMIS_ERR_CHECKSUM);
    assert_int_equal(problem.offset, 4096 + 2 * 65536); /* the block that it is in */
    options.flags = TAMIS_OPEN_MAP | TAMIS_OPEN_TRUST;
    assert_int_equal(tamis_open(path, &options, &set, NULL), TAMIS_OK);
    tamis_free(set);
}

static void nothing_stays_open(void **state) {
    (void)state;
    assert_int_equal(sample_open_files(), *(unsigned *)*state);
}

int main(int argc, char **argv) {
    if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
    unsigned open_before = sample_open_files();
    temporary_folder_make(folder, sizeof folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_keep_the_mode_of_the_old_file),
        cmocka_unit_test(saves_follow_a_link),
        cmocka_unit_test(saves_refuse_a_broken_link),
        cmocka_unit_test(saves_keep_the_owner_of_the_old_file),
        cmocka_unit_test(saves_give_no_rights_to_another_group),
        cmocka_unit_test(saves_refuse_a_read_only_file),
        cmocka_unit_test(saves_touch_no_other_file_and_wait_for_no_lock),
        cmocka_unit_test(saves_at_the_same_time_all_succeed),
        cmocka_unit_test(saves_refuse_pipes_and_devices),
        cmocka_unit_test(saves_refuse_what_is_not_a_file),
        cmocka_unit_test(saves_into_the_current_folder),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(what_is_not_a_set_is_not_opened),
        cmocka_unit_test(damage_is_seen_in_a_mapped_file),
        cmocka_unit_test(killed_saves_leave_the_old_or_the_new),
        cmocka_unit_test_prestate(nothing_stays_open, &open_before),
    };
    int const failed = cmocka_run_group_tests_name("save", tests, NULL, NULL);
    temporary_folder_remove(folder);
    return failed;
}
