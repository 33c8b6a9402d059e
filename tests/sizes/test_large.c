/* test_large.c - real tables of more than 4 GiB are made, filled at both ends, saved, mapped and
 * asked.
 *
 * usage: test_large FOLDER     where there is room for a file of 6 GiB; needs as much memory
 */
#include "make.h"

#include <sys/stat.h>

#define KEYS 1000000

static char path[4096];

typedef struct large {
    const char *kind, *geometry;
    uint64_t    capacity;
} large;

static const large tables[] = {
    { "bloom", "bits=42949672960,hashes=8,blocked=1", UINT64_C(3000000000) },
    { "line", "buckets=84000000", UINT64_C(3000000000) },
};

/* The first and the last bytes of the file that are not zero are far apart. */
static void expect_both_ends(const tamis_set *set) {
    for (uint64_t id = 0; id < KEYS; id++) assert_true(tamis_has_id(set, id));
    uint64_t strangers = 0;
    for (uint64_t id = UINT64_C(1) << 50; id < (UINT64_C(1) << 50) + KEYS; id++)
        strangers += tamis_has_id(set, id);
    assert_true(strangers < 100); /* it is nearly empty */
}

static void check_opened(unsigned flags) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    tamis_problem      problem;
    options.flags = flags;
    if (tamis_open(path, &options, &set, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    assert_true(inspect(set).plan.body_bytes > UINT64_C(1) << 32);
    expect_both_ends(set);
    tamis_free(set);
}

static void a_table_above_4_gib_is_like_any_other(void **state) {
    const large *const wanted = *state;
    tamis_spec         spec = TAMIS_SPEC_INIT;
    struct stat        about;
    tamis_seed const   seed = { 5, 6 };
    spec.kind = wanted->kind;
    spec.geometry = wanted->geometry;
    spec.capacity = wanted->capacity;
    spec.seed = &seed;
    spec.overflow = 0.999;
    tamis_set *const set = make_set_from(&spec);
    add_ids(set, 0, KEYS);
    expect_both_ends(set);
    tamis_problem problem;
    if (tamis_save(set, path, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    tamis_free(set); /* one in memory at a time */
    assert_int_equal(stat(path, &about), 0);
    assert_true((uint64_t)about.st_size > UINT64_C(1) << 32);
    check_opened(TAMIS_OPEN_MAP);
    check_opened(TAMIS_OPEN_MAP | TAMIS_OPEN_TRUST);
    check_opened(0);
    assert_int_equal(unlink(path), 0);
}

int main(int argc, char **argv) {
    if (argc != 2) { /* no default: a file of 5 GiB left in a checkout is soon committed */
        (void)fputs("usage: test_large FOLDER\n", stderr);
        return 2;
    }
    (void)snprintf(path, sizeof path, "%s/large-%d.tamis", argv[1], (int)getpid());
    struct CMUnitTest tests[COUNT(tables)];
    for (size_t i = 0; i < COUNT(tables); i++)
        tests[i] = unit_named(tables[i].kind, a_table_above_4_gib_is_like_any_other, &tables[i]);
    int const failed = unit_run("large", tests, COUNT(tests));
    (void)unlink(path);
    return failed;
}
