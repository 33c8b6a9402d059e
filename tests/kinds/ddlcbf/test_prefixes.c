/* test_prefixes.c - kinds/ddlcbf/prefixes.h: shapes, and buckets with random histories.
 *
 * The bytes are compared with an oracle's in test_ddlcbf.c; this test checks what holds for every
 * shape: a bucket packs and unpacks to itself, its cells are prefixes of what was put there, and it
 * uses the room it has.
 */
#include "core_units.h"

#include "kinds/ddlcbf/prefixes.h"

#define MAX_STRINGS 64

static bool any_shape(dice *random, prefixes_shape *ret_shape) {
    *ret_shape = (prefixes_shape){
        .bytes = (uint16_t)(PREFIXES_MIN_BYTES +
                            dice_below(random, PREFIXES_MAX_BYTES - PREFIXES_MIN_BYTES + 1)),
        .cells = (uint8_t)(1 + dice_below(random, PREFIXES_MAX_CELLS)),
        .counter_bits = (uint8_t)(1 + dice_below(random, PREFIXES_MAX_COUNTER_BITS)),
        .least = (uint8_t)(PREFIXES_MIN_BITS + dice_below(random, 20)),
        .most = (uint8_t)(24 + dice_below(random, PREFIXES_MAX_BITS - 23)),
        .lengths = (uint8_t)(1 + dice_below(random, 2))
    };
    return prefixes_make(ret_shape);
}

/* The paper's: 120 bits for cells, and lengths of 17 and 15 at 7 and 8 cells. */
static void prefixes_of_the_paper_have_its_lengths(void **state) {
    (void)state;
    prefixes_shape s = { .bytes = 16, .cells = 8, .counter_bits = 1, .least = 14, .most = 40 };
    s.lengths = 1;
    assert_true(prefixes_make(&s));
    assert_true(s.room == 120 && s.code_bits == 8);
    assert_true(s.length[7] == 17 && s.length[8] == 15 && s.length[9] == 14);
    s.least = 16;
    assert_false(prefixes_make(&s));
    s.least = 14;
    s.lengths = 2;
    s.bytes = 17;
    assert_true(prefixes_make(&s));
    assert_true(s.room == 120 && s.code_bits == 16 && s.length[7] == 16 && s.length[8] == 14);
}

/* As many cells as a level says always fit, and none is shorter than the least. */
static void prefixes_fit_at_every_level(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 5000; round++) {
        prefixes_shape s;
        if (!any_shape(&random, &s)) continue;
        for (unsigned level = 1; level <= s.cells + 1u; level++) {
            unsigned const cells = level <= s.cells ? level : s.cells;
            assert_in_range(s.length[level], s.least, s.most);
            assert_true(s.length[level] <= s.length[level - 1]);
            assert_true(cells * prefixes_width(&s, s.length[level]) <= s.room);
        }
    }
}

static bool is_prefix(const prefixes_shape *s, uint64_t cell, unsigned length, uint64_t string) {
    return cell >> s->counter_bits == string >> (s->most - length);
}

/* Each cell is a prefix of a different string that was put and not taken out. */
static void check_bucket(const prefixes_shape *s, const uint8_t *bucket, const uint64_t *strings,
                         unsigned n) {
    prefixes_head const head = prefixes_head_of(s, bucket);
    assert_int_equal(prefixes_load(&head), n);
    assert_true(prefixes_is_packed(s, bucket) && prefixes_is_sorted(s, bucket));
    for (unsigned i = 0; i < n; i++) {
        uint32_t const found = prefixes_match(s, bucket, &head, strings[i], 64);
        assert_true(found != 0);
        for (unsigned cell = 0; cell < n; cell++) {
            bool const is_its = is_prefix(s, prefixes_cell(s, bucket, &head, cell),
                                          prefixes_length(&head, cell), strings[i]);
            assert_int_equal(found >> cell & 1, is_its);
        }
    }
}

/* Put and take out strings at random. The longest match is taken out, so all other strings still
 * match. */
static void prefixes_keep_what_was_put(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 2000; round++) {
        prefixes_shape s;
        if (!any_shape(&random, &s)) continue;
        fenced   memory = fenced_new(s.bytes);
        uint64_t strings[MAX_STRINGS];
        unsigned n = 0;
        memset(memory.bytes, 0, s.bytes);
        for (unsigned step = 0; step < 100; step++) {
            prefixes p;
            prefixes_unpack(&s, memory.bytes, &p);
            if (n < s.cells && dice_below(&random, 20) < 12) {
                strings[n] = dice_roll(&random) & bits_low(s.most);
                assert_true(prefixes_put(&s, &p, strings[n++], 64));
            } else if (n != 0) {
                unsigned const      at = (unsigned)dice_below(&random, n);
                prefixes_head const head = prefixes_head_of(&s, memory.bytes);
                uint32_t found = prefixes_match(&s, memory.bytes, &head, strings[at], 64);
                prefixes_take(&p, 31 - (unsigned)__builtin_clz(found)); /* long ones are behind */
                strings[at] = strings[--n];
            }
            prefixes_pack(&s, &p, memory.bytes);
            check_bucket(&s, memory.bytes, strings, n);
        }
        fenced_free(&memory);
    }
}

/* A bucket with a cell of which only the shortest prefix is known. */
static void prefixes_of_which_less_is_known_are_short(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 2000; round++) {
        prefixes_shape s;
        prefixes       p = { .level = 0 };
        if (!any_shape(&random, &s)) continue;
        uint8_t bucket[PREFIXES_MAX_BYTES] = { 0 };
        prefixes_unpack(&s, bucket, &p);
        uint64_t const string = dice_roll(&random) & bits_low(s.most);
        if (s.cells > 1) assert_true(prefixes_put(&s, &p, ~string & bits_low(s.most), 64));
        assert_true(prefixes_put(&s, &p, string, s.least));
        prefixes_pack(&s, &p, bucket);
        prefixes_head const head = prefixes_head_of(&s, bucket);
        uint64_t const      low = bits_low((unsigned)s.most - s.least);
        assert_true(prefixes_match(&s, bucket, &head, string ^ low, s.least) != 0);
        assert_true(prefixes_match(&s, bucket, &head, string ^ low, 64) != 0);
    }
}

static void prefixes_squeeze_puts_equal_ones_together(void **state) {
    (void)state;
    prefixes_shape s = { .bytes = 16, .cells = 8, .counter_bits = 2, .least = 9, .most = 40 };
    for (s.lengths = 1; s.lengths <= 2; s.lengths++) {
        assert_true(prefixes_make(&s));
        uint8_t  bucket[16] = { 0 };
        prefixes p;
        prefixes_unpack(&s, bucket, &p);
        for (uint64_t i = 0; i < 8; i++) { /* 3, 2, 1, 1, 1 strings that begin alike */
            static const uint64_t begin[] = { 5, 5, 5, 400, 400, 7, 8, 9 };
            assert_true(prefixes_put(&s, &p, begin[i] << (s.most - 9u) | i, 64));
        }
        assert_false(prefixes_put(&s, &p, 0, 64));
        prefixes_squeeze(&s, &p);
        static const uint64_t expected[] = { 5 << 2 | 2, 7 << 2, 8 << 2, 9 << 2, 400 << 2 | 1 };
        assert_int_equal(p.n[0], 5);
        assert_memory_equal(p.cell[0], expected, sizeof expected);
        prefixes_set_counter(&s, &p, 0, 3);
        assert_true(prefixes_put(&s, &p, UINT64_C(5) << (s.most - 9u), s.least));
        prefixes_squeeze(&s, &p);
        assert_int_equal(p.n[0], 5);
        assert_true(p.cell[0][0] == (5 << 2 | 3)); /* what is stuck stays so */
        prefixes_pack(&s, &p, bucket);
        assert_true(prefixes_is_packed(&s, bucket));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(prefixes_of_the_paper_have_its_lengths),
    cmocka_unit_test(prefixes_fit_at_every_level),
    cmocka_unit_test(prefixes_keep_what_was_put),
    cmocka_unit_test(prefixes_of_which_less_is_known_are_short),
    cmocka_unit_test(prefixes_squeeze_puts_equal_ones_together),
};

CORE_EXPORT(prefixes)
