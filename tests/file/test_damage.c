/* test_damage.c - a file with a flipped bit, a missing end or a surplus byte is refused.
 *
 * usage: test_damage [STEP]      flips every STEP-th bit of a file of 64 KiB, per kind; 1: of all,
 *                                and cuts it at every byte
 */
#include "sample.h"

static unsigned step = 1;

/* A file of the kind, which the caller frees. It takes a search to find one of that size, so the
 * last one is kept: the tests of one kind run one after the other. */
static buffer intact(const char *kind) {
    static buffer      last;
    static const char *kind_of_last;
    if (kind_of_last == NULL || strcmp(kind, kind_of_last) != 0) {
        tamis_set *const set = sample_set(kind, 65536, 4000, 1);
        free(last.bytes);
        last = sample_of(set);
        kind_of_last = kind;
        tamis_free(set);
    }
    if (!sample_is_growing(kind)) assert_in_range(last.n, 65536 - 512, 65536);
    buffer const copy = { .bytes = malloc(last.n), .n = last.n };
    assert_non_null(copy.bytes);
    memcpy(copy.bytes, last.bytes, last.n);
    return copy;
}

/* The file is refused with a reason, and no set is returned. */
static void expect_refusal(const buffer *s, size_t n, const char *name, size_t at) {
    tamis_set         *set = NULL;
    tamis_problem      problem = { .text = "" };
    tamis_status const status = tamis_read(s->bytes, n, NULL, &set, &problem);
    if (!sample_is_refusal(status)) fail_msg("%s at %zu: status %d", name, at, status);
    assert_null(set);
    assert_int_equal(problem.status, status);
    assert_true(problem.text[0] != '\0');
}

static void every_flipped_bit_is_refused(void **state) {
    buffer       s = intact(*state);
    size_t const bits = s.n * 8;
    for (size_t bit = 0; bit < bits; bit += step) {
        flip_bit(s.bytes, bit);
        expect_refusal(&s, s.n, "bit", bit);
        flip_bit(s.bytes, bit);
    }
    free(s.bytes);
}

/* In short runs, cut at every byte of the header and of the end, and at some bytes in between. */
static void every_cut_is_refused(void **state) {
    buffer s = intact(*state);
    for (size_t n = 0, next; n < s.n; n = next) {
        bool const is_special = n < 4200 || s.n - n <= 200 || step == 1;
        next = n + (is_special ? 1 : 37);
        expect_refusal(&s, n, "cut", n);
    }
    free(s.bytes);
}

static void every_surplus_is_refused(void **state) {
    buffer s = intact(*state);
    s.bytes = realloc(s.bytes, s.n + 4096);
    assert_non_null(s.bytes);
    memset(s.bytes + s.n, 0, 4096);
    for (size_t extra = 1; extra <= 4096; extra++)
        expect_refusal(&s, s.n + extra, "surplus", extra);
    free(s.bytes);
}

/* What disks do to files: sectors of zeros, exchanged sectors, bursts of wrong bits. */
static void every_torn_sector_is_refused(void **state) {
    buffer         s = intact(*state);
    uint8_t *const good = malloc(s.n);
    assert_non_null(good);
    memcpy(good, s.bytes, s.n);
    for (size_t at = 0; at + 1024 <= s.n; at += 512) {
        static const uint8_t zeros[512];
        if (memcmp(good + at, zeros, 512) != 0) {
            memset(s.bytes + at, 0, 512);
            expect_refusal(&s, s.n, "zeroed sector", at);
        }
        memcpy(s.bytes + at, good + at + 512, 512);
        memcpy(s.bytes + at + 512, good + at, 512);
        if (memcmp(s.bytes, good, s.n) != 0) expect_refusal(&s, s.n, "swapped sectors", at);
        memcpy(s.bytes, good, s.n);
    }
    free(good);
    free(s.bytes);
}

static void an_intact_file_is_read(void **state) {
    buffer     s = intact(*state);
    tamis_set *set = NULL;
    assert_int_equal(tamis_read(s.bytes, s.n, NULL, &set, NULL), TAMIS_OK);
    for (uint64_t key = 0; key < 4000; key++) assert_true(tamis_has_id(set, key));
    tamis_free(set);
    free(s.bytes);
}

int main(int argc, char **argv) {
    if (argc > 1) step = (unsigned)strtoul(argv[1], NULL, 10);
    static const struct CMUnitTest of_a_kind[] = {
        cmocka_unit_test(an_intact_file_is_read),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_surplus_is_refused),
        cmocka_unit_test(every_torn_sector_is_refused),
    };
    size_t                   n;
    struct CMUnitTest *const tests = sample_tests(of_a_kind, 5, &n);
    int const                failed = _cmocka_run_group_tests("damage", tests, n, NULL, NULL);
    free(tests);
    return failed;
}
