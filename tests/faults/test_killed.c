/* test_killed.c - kill -9 while a set grows and is saved again and again.
 *
 * usage: test_killed [ROUNDS]
 *
 * A child adds keys to a set that grows, saves it every few hundred keys, and reports through a
 * pipe how many keys each finished save has. It is killed at a random moment. The file must then be
 * whole and have all keys of the last save that was finished, in this round or an earlier one, and
 * nothing else is left behind but, at worst, one temporary file (os.h says when).
 */
#include "sample.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAVE_EVERY 300
#define MOST_KEYS 100000

static unsigned rounds = 30;
static char     folder[64], path[200];

static tamis_set *start(const char *kind, bool is_shared) {
    static const tamis_seed seed = { 3, 4 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.kind = kind;
    spec.capacity = 6000;
    spec.grow_to = 400000;
    spec.fpr = 0.01;
    spec.seed = &seed;
    spec.shared = is_shared;
    return make_set_from(&spec);
}

/* Add keys from this one on, until the process is killed. */
static void build(tamis_set *set, uint64_t from, int pipe_in) {
    for (uint64_t id = from;; id++) {
        if (tamis_add_id(set, id) != TAMIS_OK) _exit(2);
        if ((id + 1) % SAVE_EVERY != 0) continue;
        uint64_t const saved = id + 1;
        if (tamis_save(set, path, NULL) != TAMIS_OK) _exit(3);
        if (write(pipe_in, &saved, sizeof saved) != sizeof saved) _exit(4);
    }
}

/* The last complete number that came through the pipe, or `last` if there is none. */
static uint64_t last_saved(int pipe_out, uint64_t last) {
    uint64_t saved;
    while (read(pipe_out, &saved, sizeof saved) == sizeof saved) last = saved;
    return last;
}

/* With `is_first` the first save is finished before the clock starts: there is a file then. Returns
 * how many keys the last finished save of this build has; 0: none was finished. */
static uint64_t kill_a_build(tamis_set *set, uint64_t from, uint64_t delay, bool is_first) {
    int      ends[2], status;
    uint64_t saved = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t const child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        build(set, from, ends[1]);
    }
    (void)close(ends[1]);
    if (is_first) assert_int_equal(read(ends[0], &saved, sizeof saved), sizeof saved);
    (void)usleep((useconds_t)delay);
    (void)kill(child, SIGKILL);
    saved = last_saved(ends[0], saved);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* it did not end by an error of its own */
    return saved;
}

static void expect_file_with(uint64_t keys) {
    tamis_set    *back = NULL;
    tamis_problem problem;
    if (tamis_open(path, NULL, &back, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    expect_ids(back, 0, keys);
    assert_true(tamis_validate(back, NULL));
    tamis_free(back);
}

/* Every round opens the file. If the round reported no finished save, the file is that of an
 * earlier round, or of a save that was finished but not reported. In both cases it is known which
 * keys it must have. */
static void killed_builds_lose_nothing_that_was_saved(void **state) {
    const char *const kind = *state;
    bool const        is_shared = strcmp(kind, "line") == 0;
    tamis_set *const  set = start(kind, is_shared);
    unsigned const    left_before = sample_files(folder, ".tmp");
    uint64_t          n = 0, on_disk = 0;
    unsigned          n_finished = 0;
    (void)unlink(path);
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t const from = MOST_KEYS * round / rounds; /* through all steps */
        while (n < from) assert_int_equal(tamis_add_id(set, n++), TAMIS_OK);
        uint64_t const delay = fastrange(remix(7, round), 60000);
        uint64_t const saved = kill_a_build(set, from, delay, round == 0);
        n_finished += saved != 0;
        on_disk = saved != 0 ? saved : min_u64(on_disk, from);
        assert_true(on_disk > 0);
        expect_file_with(on_disk);
    }
    print_message("# %u kills, %u of them after a save of the same build; all files whole, "
                  "the last with %llu keys\n",
                  rounds, n_finished, (unsigned long long)on_disk);
    assert_true(n_finished > 0);
    assert_true(sample_files(folder, ".tmp") - left_before <= rounds); /* one for a kill, at most */
    tamis_free(set);
}

int main(int argc, char **argv) {
    if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
    temporary_folder_make(folder, sizeof folder);
    (void)snprintf(path, sizeof path, "%s/killed.tamis", folder);
    const struct CMUnitTest tests[] = {
        unit_named("line, shared", killed_builds_lose_nothing_that_was_saved, "line"),
        unit_named("rank", killed_builds_lose_nothing_that_was_saved, "rank"),
    };
    int const failed = unit_run("killed", tests, COUNT(tests));
    temporary_folder_remove(folder);
    return failed;
}
