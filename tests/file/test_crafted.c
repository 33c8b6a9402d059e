/* test_crafted.c - files that an attacker made: all checksums are right, but the contents are not.
 *
 * A file that is accepted must survive operations on it; one that is refused must get a reason. No
 * case may ask for more memory than twice the file.
 *
 * usage: test_crafted [TIMES]      TIMES x 8,000 random files per kind, and 4,000 that are not
 */
#include "ledger.h"
#include "sample.h"

/* ------------------------------------------------------------------ one crafted file */

static unsigned n_accepted, n_refused, times = 1;

/* Let the set grow to its last stage and shrink again, if that is not too large to try. */
static void use_growing(tamis_set *set, const tamis_facts *facts) {
    if (facts->grow_to > 100000) return;
    tamis_set *copy = NULL;
    assert_int_equal(tamis_copy(set, &copy), TAMIS_OK);
    for (uint64_t id = 0; id < facts->capacity / 8; id++) (void)!tamis_add_id(copy, id * 11);
    assert_true(tamis_validate(copy, NULL));
    (void)!tamis_resize(copy, facts->grow_to, NULL);
    (void)!tamis_resize(copy, facts->keys, NULL);
    assert_true(tamis_validate(copy, NULL));
    (void)!tamis_merge(copy, set);
    (void)!tamis_clear(copy);
    tamis_free(copy);
}

static void use(tamis_set *set) {
    uint64_t keys[300], counts[300];
    bool     flags[300];
    for (uint64_t i = 0; i < 300; i++) keys[i] = i * 7;
    (void)tamis_has_id_batch(set, keys, 300, flags);
    (void)!tamis_add_id_batch(set, keys, 300, NULL);
    (void)!tamis_count_id_batch(set, keys, 300, counts);
    (void)!tamis_remove_id_batch(set, keys, 300, flags, NULL);
    tamis_info info;
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_true(tamis_validate(set, NULL));
    if (info.facts.grow_to != 0) use_growing(set, &info.facts);
}

static void try_file(const buffer *s) {
    ledger             book = { 0 };
    tamis_set         *set = NULL;
    tamis_problem      problem;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.allocator = ledger_allocator(&book);
    tamis_status const status = tamis_read(s->bytes, s->n, &options, &set, &problem);
    assert_true(book.peak <= 2 * s->n);
    if (status == TAMIS_OK) {
        use(set);
        n_accepted++;
    } else {
        assert_true(sample_is_refusal(status));
        assert_null(set);
        n_refused++;
    }
    tamis_free(set);
    assert_int_equal(book.bytes, 0);
}

/* ------------------------------------------------------------------ what is crafted */

static const uint64_t extremes[] = {
    0,
    1,
    2,
    63,
    64,
    65,
    255,
    65535,
    UINT64_C(1) << 31,
    UINT32_MAX,
    UINT64_C(1) << 32,
    UINT64_C(1) << 60,
    UINT64_C(1) << 63,
    UINT64_MAX - 63,
    UINT64_MAX,
};
#define N_EXTREMES COUNT(extremes)

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
    for (uint64_t id = 0, n = grows ? 2000 : 300; n != 0; id++) {
        if (tamis_part_of_hash(tamis_hash_id(set, id), 4) != 2) continue;
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        n--;
    }
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

/* In each word of the header, flip every bit and try every extreme value. */
static void crafted_fields_are_safe(void **state) {
    buffer       s = fresh(*state);
    size_t const end = 400 + more_bytes(*state);
    for (size_t at = 0; at < end; at += 8) {
        uint64_t const good = le64_load(s.bytes + at);
        for (unsigned bit = 0; bit < 64; bit++) {
            le64_store(s.bytes + at, good ^ (UINT64_C(1) << bit));
            sample_seal(&s);
            try_file(&s);
        }
        for (size_t e = 0; e < N_EXTREMES; e++) {
            le64_store(s.bytes + at, extremes[e]);
            sample_seal(&s);
            try_file(&s);
        }
        le64_store(s.bytes + at, good);
    }
    free(s.bytes);
}

/* Change two words at a time, so that fields contradict each other. */
static void crafted_pairs_are_safe(void **state) {
    buffer       s = fresh(*state);
    dice         chance = { 5 };
    size_t const more = more_bytes(*state) / 8;
    for (unsigned trial = 0; trial < 6000 * times; trial++) {
        size_t const   a = dice_below(&chance, 34 + more) * 8 + 128;
        size_t const   b = dice_below(&chance, 48 + more) * 8;
        uint64_t const good_a = le64_load(s.bytes + a), good_b = le64_load(s.bytes + b);
        le64_store(s.bytes + a, extremes[dice_below(&chance, N_EXTREMES)]);
        le64_store(s.bytes + b, good_b ^ (UINT64_C(1) << dice_below(&chance, 64)));
        sample_seal(&s);
        try_file(&s);
        le64_store(s.bytes + b, good_b);
        le64_store(s.bytes + a, good_a);
    }
    free(s.bytes);
}

/* Any bytes in the body. */
static void crafted_bodies_are_safe(void **state) {
    buffer s = fresh(*state);
    for (unsigned trial = 0; trial < 2000 * times; trial++) {
        for (unsigned i = 0; i <= trial % 7; i++) {
            uint64_t const random = remix(trial, i);
            size_t const   at = SAMPLE_HEADER + fastrange(random, s.n - SAMPLE_HEADER - 24);
            s.bytes[at] = (uint8_t)random;
        }
        sample_seal(&s);
        try_file(&s);
    }
    free(s.bytes);
}

/* A file of a few kilobytes whose header claims a terabyte. */
static void crafted_giants_are_refused(void **state) {
    buffer s = fresh(*state);
    le64_store(s.bytes + 128 + 128, UINT64_C(1) << 43); /* places */
    le64_store(s.bytes + 128 + 16, (UINT64_C(1) << 43) / 8);
    sample_seal(&s);
    unsigned const before = n_refused;
    try_file(&s);
    assert_int_equal(n_refused, before + 1);
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

/* The cases above are useful only if some files were accepted and some were refused. */
static int check_both_ends(void **state) {
    (void)state;
    print_message("# %u files accepted and used, %u refused\n", n_accepted, n_refused);
    return n_accepted > 100 && n_refused > 10000 ? 0 : -1;
}

int main(int argc, char **argv) {
    if (argc > 1) times = (unsigned)strtoul(argv[1], NULL, 10);
    static const struct CMUnitTest of_a_kind[] = {
        cmocka_unit_test(crafted_fields_are_safe),
        cmocka_unit_test(crafted_pairs_are_safe),
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
    struct CMUnitTest *tests = sample_tests(of_a_kind, 5, &n);
    tests = realloc(tests, (n + COUNT(of_parts)) * sizeof *tests);
    assert_non_null(tests);
    memcpy(tests + n, of_parts, sizeof of_parts);
    int const failed =
        _cmocka_run_group_tests("crafted", tests, n + COUNT(of_parts), NULL, check_both_ends);
    free(tests);
    return failed;
}
