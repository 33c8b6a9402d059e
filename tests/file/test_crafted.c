/* test_crafted.c - files that an attacker made: all checksums are right, but the contents are not.
 *
 * A file that is accepted must survive operations on it; one that is refused must get a reason. No
 * case may ask for more memory than the file has bytes.
 *
 * usage: test_crafted [TIMES]      TIMES x about 9,000 random files per kind, and 4,000 others
 */
#include "crafted.h"

static unsigned times = 1;

/* ------------------------------------------------------------------ what is crafted */

/* This before the name of a kind stands for a set of that kind that is one of four parts of a
 * larger set. */
#define PART_OF "part of "

static bool is_part(const char *kind) {
    return strncmp(kind, PART_OF, strlen(PART_OF)) == 0;
}

static tamis_set *part_of_a_set(const char *kind) {
    static const tamis_seed seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    bool const              grows = sample_is_growing(kind);
    spec.kind = sample_kind(kind);
    spec.fpr = 0.01;
    spec.seed = &seed;
    spec.capacity = grows ? 1500 : 400;
    spec.grow_to = grows ? 6000 : 0;
    spec.part = 2;
    spec.parts = 4;
    tamis_set *const set = make_set_from(&spec);
    add_own_ids(set, grows ? 2000 : 300);
    return set;
}

static buffer fresh(const char *kind) {
    tamis_set *const set =
        is_part(kind) ? part_of_a_set(kind + strlen(PART_OF)) : sample_set(kind, 8192, 300, 1);
    buffer const s = sample_of(set);
    tamis_free(set);
    return s;
}

/* The header of a set in a step describes one table more. */
static size_t more_bytes(const char *kind) {
    return strstr(kind, SAMPLE_GROWING) != NULL ? 256 : 0;
}

static void crafted_fields_are_safe(void **state) {
    buffer s = fresh(*state);
    crafted_fields(&s, 0, 400 + more_bytes(*state), crafted_try_set);
    free(s.bytes);
}

static void crafted_pairs_are_safe(void **state) {
    buffer s = fresh(*state);
    crafted_pairs(&s, times, 400 + more_bytes(*state), crafted_try_set);
    free(s.bytes);
}

/* A set in a step has two geometries, which must agree with each other. */
static void crafted_geometries_are_safe(void **state) {
    if (strstr(*state, SAMPLE_GROWING) != NULL) return;
    buffer s = fresh(*state);
    crafted_geometries(&s, 3000 * times, crafted_try_set);
    free(s.bytes);
}

static void crafted_bodies_are_safe(void **state) {
    buffer s = fresh(*state);
    crafted_bodies(&s, 2000 * times, crafted_try_set);
    free(s.bytes);
}

/* A file of a few kilobytes whose header claims a terabyte. */
static void crafted_giants_are_refused(void **state) {
    buffer s = fresh(*state);
    le64_store(s.bytes + 128 + 128, UINT64_C(1) << 43); /* places */
    le64_store(s.bytes + 128 + 16, (UINT64_C(1) << 43) / 8);
    sample_seal(&s);
    unsigned const before = crafted_seen.refused;
    crafted_try_set(&s);
    assert_int_equal(crafted_seen.refused, before + 1);
    free(s.bytes);
}

/* Every reserved byte of the header, and the bytes after the name of the kind. */
static void crafted_reserved_bytes_are_refused(void **state) {
    buffer       s = fresh(*state);
    bool const   grows = sample_is_growing(*state);
    size_t const name_end = 128 + strlen(sample_kind(*state)), parts_end = grows ? 640 : 384;
    for (size_t at = 28; at < 4088; at++) {
        bool const   is_name = at >= name_end && at < 128 + 16;
        size_t const in_part = at >= 128 && at < parts_end ? (at - 128) % 256 : 0;
        bool const   is_reserved =
            at < 32 || (at >= 64 && at < 80) || (at >= (grows ? 112 : 88) && at < 128) ||
            (in_part >= 60 && in_part < 64) || (in_part >= 72 && in_part < 128) || at >= parts_end;
        if (!is_name && !is_reserved) continue;
        s.bytes[at] = 1;
        sample_seal(&s);
        tamis_set         *set = NULL;
        tamis_status const status = tamis_read(s.bytes, s.n, NULL, &set, NULL);
        bool const         is_other_name = is_name && status == TAMIS_ERR_KIND;
        if (status != TAMIS_ERR_CORRUPT && !is_other_name) fail_msg("byte %zu: %d", at, status);
        s.bytes[at] = 0;
    }
    free(s.bytes);
}

int main(int argc, char **argv) {
    if (argc > 1) times = (unsigned)strtoul(argv[1], NULL, 10);
    static const struct CMUnitTest of_a_kind[] = {
        cmocka_unit_test(crafted_fields_are_safe),
        cmocka_unit_test(crafted_pairs_are_safe),
        cmocka_unit_test(crafted_geometries_are_safe),
        cmocka_unit_test(crafted_bodies_are_safe),
        cmocka_unit_test(crafted_giants_are_refused),
        cmocka_unit_test(crafted_reserved_bytes_are_refused),
    };
    const struct CMUnitTest of_parts[] = {
        unit_named("part of line, fields", crafted_fields_are_safe, PART_OF "line"),
        unit_named("part of line, pairs", crafted_pairs_are_safe, PART_OF "line"),
        unit_named("part of line, bodies", crafted_bodies_are_safe, PART_OF "line"),
        unit_named("part of growing line, fields", crafted_fields_are_safe,
                   PART_OF SAMPLE_GROWING "line"),
        unit_named("part of growing line, pairs", crafted_pairs_are_safe,
                   PART_OF SAMPLE_GROWING "line"),
        unit_named("part of growing line, bodies", crafted_bodies_are_safe,
                   PART_OF SAMPLE_GROWING "line"),
    };
    size_t             n;
    struct CMUnitTest *tests = sample_tests(of_a_kind, COUNT(of_a_kind), &n);
    tests = realloc(tests, (n + COUNT(of_parts) + 1) * sizeof *tests);
    assert_non_null(tests);
    memcpy(tests + n, of_parts, sizeof of_parts);
    n += COUNT(of_parts);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(crafted_both_ends_were_seen);
    int const failed = _cmocka_run_group_tests("crafted", tests, n, NULL, NULL);
    free(tests);
    return failed;
}
