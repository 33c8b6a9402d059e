/* test_bits.c - core/bits.h against loops over single bits. */
#include "core_units.h"

#include "core/bits.h"

/* ------------------------------------------------------------------ oracles */

static unsigned oracle_rank(uint64_t word, unsigned i) {
    unsigned ones = 0;
    for (unsigned bit = 0; bit < i; bit++) ones += (unsigned)(word >> bit & 1);
    return ones;
}

static unsigned oracle_select(uint64_t word, unsigned rank) {
    for (unsigned bit = 0; bit < 64; bit++) {
        if ((word >> bit & 1) != 0 && rank-- == 0) return bit;
    }
    return 64;
}

/* Random words, from nearly all zeros to nearly all ones. */
static uint64_t random_density(dice *random) {
    uint64_t word = dice_roll(random);
    uint64_t thinned = dice_below(random, 6);
    while (thinned-- != 0) word &= dice_roll(random);
    return dice_below(random, 2) == 0 ? word : ~word;
}

/* ------------------------------------------------------------------ tests */

static void bits_low_sets_just_the_n_lowest(void **state) {
    (void)state;
    for (unsigned n = 0; n <= 64; n++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            assert_int_equal(bits_low(n) >> bit & 1, bit < n);
        }
    }
}

/* 16 bits at every quarter of the word, over zeros and over ones. */
static void bits_popcount_counts_all_16_bit_patterns(void **state) {
    (void)state;
    for (unsigned at = 0; at <= 48; at += 16) {
        for (uint64_t pattern = 0; pattern <= UINT16_MAX; pattern++) {
            uint64_t const word = pattern << at;
            unsigned const ones = oracle_rank(pattern, 16);
            assert_int_equal(bits_popcount(word), ones);
            assert_int_equal(bits_popcount(~word), 64 - ones);
        }
    }
}

static void bits_rank_counts_the_bits_below(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 10000; round++) {
        uint64_t const word = round == 0 ? 0 : round == 1 ? UINT64_MAX : random_density(&random);
        for (unsigned i = 0; i <= 64; i++) {
            assert_int_equal(bits_rank(word, i), oracle_rank(word, i));
        }
        assert_int_equal(bits_popcount(word), oracle_rank(word, 64));
    }
}

static void bits_lowest_finds_the_first_set_bit(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned bit = 0; bit < 64; bit++) {
        for (unsigned round = 0; round < 100; round++) {
            uint64_t const above = dice_roll(&random) & ~bits_low(bit);
            assert_int_equal(bits_lowest(above | UINT64_C(1) << bit), bit);
        }
    }
}

static void bits_select_finds_the_bit_of_every_rank(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 10000; round++) {
        uint64_t const word = round == 0 ? 0 : round == 1 ? UINT64_MAX : random_density(&random);
        for (unsigned rank = 0; rank <= 65; rank++) {
            assert_int_equal(bits_select(word, rank), oracle_select(word, rank));
        }
    }
}

static void bits_select_says_64_when_there_is_no_such_bit(void **state) {
    (void)state;
    for (unsigned n = 0; n <= 64; n++) {
        uint64_t const top = n == 0 ? 0 : bits_low(n) << (64 - n);
        for (unsigned rank = n; rank <= 200; rank++) assert_int_equal(bits_select(top, rank), 64);
        assert_int_equal(bits_select(top, UINT32_MAX), 64);
    }
}

static uint64_t oracle_bit(uint64_t word, unsigned rank) {
    unsigned const place = oracle_select(word, rank);
    return place == 64 ? 0 : UINT64_C(1) << place;
}

static void bits_of_two_words_are_added_and_compared(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 10000; round++) {
        uint64_t const a = round < 2 ? -(uint64_t)round : random_density(&random);
        uint64_t const b = round < 2 ? ~a : random_density(&random);
        unsigned const ones_of_a = oracle_rank(a, 64), ones_of_b = oracle_rank(b, 64);
        assert_int_equal(bits_in_both(a, b), ones_of_a + ones_of_b);
        assert_int_equal(bits_in_both(a, a), 2 * ones_of_a);
        assert_int_equal(bits_are_fewer(a, b), ones_of_a < ones_of_b);
        assert_false(bits_are_fewer(a, a));
    }
}

static void check_nth(uint64_t word, unsigned rank) {
    bits_pair const two = bits_two(word, rank);
    assert_true(bits_nth(word, rank) == oracle_bit(word, rank));
    assert_true(two.first == oracle_bit(word, rank));
    assert_true(two.second == oracle_bit(word, rank + 1));
    for (unsigned is_wanted = 0; is_wanted < 2; is_wanted++) {
        bits_pair const some = bits_two_if(word, rank, is_wanted);
        assert_true(some.first == (is_wanted ? two.first : 0));
        assert_true(some.second == (is_wanted ? two.second : 0));
    }
}

/* Words of up to 56 bits may have fewer ones than are asked for; words of 64 bits may not. */
static void bits_nth_and_two_find_the_bits_or_nothing(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 10000; round++) {
        uint64_t const word = round == 0 ? 0 : round == 1 ? UINT64_MAX : random_density(&random);
        for (unsigned rank = 0; rank < 63; rank++) check_nth(word & bits_low(56), rank);
        for (unsigned rank = 0; rank + 1 < oracle_rank(word, 64); rank++) check_nth(word, rank);
    }
    assert_true(bits_nth(UINT64_MAX, 63) == UINT64_C(1) << 63);
}

/* Every byte at every place of a word, between zeros and between ones. */
static void bits_nth_finds_each_bit_of_each_byte(void **state) {
    (void)state;
    for (unsigned at = 0; at < 64; at += 8) {
        for (uint64_t byte = 0; byte < 256; byte++) {
            uint64_t const among_ones = ~((byte ^ 0xff) << at);
            for (unsigned rank = 0; rank < oracle_rank(byte, 8); rank++) {
                assert_true(bits_nth(byte << at, rank) == oracle_bit(byte << at, rank));
                assert_true(bits_nth(among_ones, at + rank) == oracle_bit(byte << at, rank));
            }
        }
    }
}

static void bits_rank_of_select_is_the_rank(void **state) {
    (void)state;
    for (uint64_t pattern = 0; pattern <= UINT16_MAX; pattern++) {
        uint64_t const word = pattern * UINT64_C(0x0000800040010001);
        for (unsigned rank = 0; rank < bits_popcount(word); rank++) {
            unsigned const place = bits_select(word, rank);
            assert_true(word >> place & 1);
            assert_int_equal(bits_rank(word, place), rank);
        }
    }
}

static void bits_popcount_bytes_counts_a_body_and_nothing_behind_it(void **state) {
    (void)state;
    dice random = dice_start();
    for (size_t bytes = 0; bytes <= 512; bytes += 8) {
        fenced   memory = fenced_new(bytes);
        uint64_t expected = 0;
        dice_fill(&random, memory.bytes, bytes);
        for (size_t bit = 0; bit < bytes * 8; bit++) expected += read_bit(memory.bytes, bit);
        assert_int_equal(bits_popcount_bytes(memory.bytes, bytes), expected);
        fenced_free(&memory);
    }
}

#ifdef BITS_PDEP
static void bits_are_taken_and_put_one_by_one(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 10000; round++) {
        uint64_t const word = dice_roll(&random), mask = dice_edge(&random);
        uint64_t       taken = 0, put = 0;
        for (unsigned bit = 0, n = 0; bit < 64; bit++) {
            if ((mask >> bit & 1) == 0) continue;
            taken |= (word >> bit & 1) << n;
            put |= (word >> n++ & 1) << bit;
        }
        assert_true(bits_take(word, mask) == taken);
        assert_true(bits_put(word, mask) == put);
    }
}
#endif

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bits_low_sets_just_the_n_lowest),
    cmocka_unit_test(bits_popcount_counts_all_16_bit_patterns),
    cmocka_unit_test(bits_rank_counts_the_bits_below),
    cmocka_unit_test(bits_lowest_finds_the_first_set_bit),
    cmocka_unit_test(bits_select_finds_the_bit_of_every_rank),
    cmocka_unit_test(bits_select_says_64_when_there_is_no_such_bit),
    cmocka_unit_test(bits_of_two_words_are_added_and_compared),
    cmocka_unit_test(bits_nth_and_two_find_the_bits_or_nothing),
    cmocka_unit_test(bits_nth_finds_each_bit_of_each_byte),
    cmocka_unit_test(bits_rank_of_select_is_the_rank),
    cmocka_unit_test(bits_popcount_bytes_counts_a_body_and_nothing_behind_it),
#ifdef BITS_PDEP
    cmocka_unit_test(bits_are_taken_and_put_one_by_one),
#endif
};

CORE_EXPORT(bits)
