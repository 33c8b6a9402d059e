/* test_full.c - a disk that is really full: a file system of 1 MiB in memory.
 *
 * It is mounted in a namespace of this process and vanishes with it. That needs root, or a kernel
 * that lets users make namespaces. Where neither is allowed, the test is skipped, with the reason;
 * scripts/trust takes that for a failure.
 */
#include "sample.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

static char folder[64];

static bool write_text(const char *path, const char *text) {
    int const  file = open(path, O_WRONLY);
    bool const is_done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) (void)close(file);
    return is_done;
}

/* Enter a new namespace, in which this process may mount. */
static bool enter_namespace(void) {
    char map[40];
    if (unshare(CLONE_NEWNS) == 0) return true;
    uid_t const user = geteuid();
    gid_t const group = getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)user);
    if (!write_text("/proc/self/uid_map", map)) return false;
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)group);
    return write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/gid_map", map);
}

static bool mount_small(const char *at) {
    return enter_namespace() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", at, "tmpfs", 0, "size=1m") == 0;
}

static uint64_t bytes_free(void) {
    struct statvfs about;
    assert_int_equal(statvfs(folder, &about), 0);
    return (uint64_t)about.f_bavail * about.f_frsize;
}

/* Let a file of this size take the room. */
static void set_filler(uint64_t bytes) {
    static char zeros[4096];
    char        path[200];
    (void)snprintf(path, sizeof path, "%s/filler", folder);
    int const file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(file >= 0);
    for (uint64_t at = 0; at < bytes; at += sizeof zeros)
        assert_int_equal(write(file, zeros, sizeof zeros), sizeof zeros);
    assert_int_equal(close(file), 0);
}

/* For every amount of room from nothing to enough, page by page. */
static void a_full_disk_leaves_the_old_file(void **state) {
    char             path[200];
    unsigned         n_full = 0, n_saved = 0;
    tamis_set *const old = sample_set(*state, 16384, 100, 1);
    tamis_set *const new = sample_set(*state, 65536, 4000, 2);
    (void)snprintf(path, sizeof path, "%s/full.tamis", folder);
    for (uint64_t room = 0; room <= 30 * 4096; room += 4096) {
        set_filler(0);
        assert_int_equal(tamis_save(old, path, NULL), TAMIS_OK);
        uint64_t const keys = sample_keys_at(path);
        set_filler(bytes_free() - room);
        assert_int_equal(bytes_free(), room);
        unsigned const     open_before = sample_open_files();
        tamis_problem      problem = { .status = TAMIS_OK };
        tamis_status const status = tamis_save(new, path, &problem);
        if (status == TAMIS_ERR_SPACE) assert_int_equal(problem.os_error, ENOSPC);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_SPACE);
        assert_int_equal(sample_keys_at(path) == keys, status != TAMIS_OK);
        assert_int_equal(sample_files(folder, ".tmp"), 0);
        assert_int_equal(sample_open_files(), open_before);
        assert_true(tamis_validate(new, NULL)); /* and is as good as before */
        n_full += status != TAMIS_OK;
        n_saved += status == TAMIS_OK;
    }
    assert_true(n_full > 2 && n_saved > 2);
    tamis_free(old);
    tamis_free(new);
}

int main(void) {
    temporary_folder_make(folder, sizeof folder);
    if (!mount_small(folder)) {
        (void)printf("1..0 # SKIP no file system can be mounted here: %s\n", strerror(errno));
        (void)rmdir(folder);
        return 0;
    }
    static const struct CMUnitTest of_a_kind[] = { cmocka_unit_test(
        a_full_disk_leaves_the_old_file) };
    size_t                         n;
    struct CMUnitTest *const       tests = sample_tests(of_a_kind, 1, &n);
    int const                      failed = _cmocka_run_group_tests("full", tests, n, NULL, NULL);
    free(tests);
    (void)umount2(folder, MNT_DETACH);
    (void)rmdir(folder);
    return failed;
}
