/* test_hash.c - core/hash.h: the mixer is one-to-one and scatters its inputs, ranges are exact and
 * even. */
#include "core_units.h"

#include "core/hash.h"
#include "hash_narrow.h"

static const uint64_t edges[] = {
    0,
    1,
    2,
    3,
    UINT32_MAX - UINT64_C(1),
    UINT32_MAX,
    UINT32_MAX + UINT64_C(1),
    UINT32_MAX + UINT64_C(2),
    UINT64_C(0x00000001fffffffe),
    UINT64_C(0x7fffffff80000001),
    UINT64_C(0x8000000000000000),
    UINT64_C(0xfffffffe00000001),
    UINT64_C(0xffffffff00000000),
    UINT64_MAX - 1,
    UINT64_MAX,
};

/* ------------------------------------------------------------------ mix64 loses nothing */

/* The y with x * y = 1 modulo 2^64, x odd: each step of Newton doubles the bits that are right. */
static uint64_t reciprocal(uint64_t x) {
    uint64_t y = x; /* right in 3 bits, since the square of an odd number is 1 modulo 8 */
    for (unsigned step = 0; step < 5; step++) y *= 2 - x * y;
    return y;
}

/* Undo x ^ (x >> shift), from the top bits, which were not changed, downwards. */
static uint64_t undo_xor_shift(uint64_t mixed, unsigned shift) {
    uint64_t x = 0;
    for (unsigned bit = 64; bit-- != 0;) {
        uint64_t const above = bit + shift < 64 ? x >> (bit + shift) & 1 : 0;
        x |= ((mixed >> bit & 1) ^ above) << bit;
    }
    return x;
}

static uint64_t unmix64(uint64_t mixed) {
    uint64_t x = undo_xor_shift(mixed, 31);
    x = undo_xor_shift(x * reciprocal(UINT64_C(0x94d049bb133111eb)), 27);
    return undo_xor_shift(x * reciprocal(UINT64_C(0xbf58476d1ce4e5b9)), 30);
}

static void mix64_can_be_undone_so_it_is_one_to_one(void **state) {
    (void)state;
    dice random = dice_start();
    assert_int_equal(UINT64_C(0x94d049bb133111eb) * reciprocal(UINT64_C(0x94d049bb133111eb)), 1);
    assert_int_equal(UINT64_C(0xbf58476d1ce4e5b9) * reciprocal(UINT64_C(0xbf58476d1ce4e5b9)), 1);
    for (size_t i = 0; i < COUNT(edges); i++) {
        assert_int_equal(unmix64(mix64(edges[i])), edges[i]);
        assert_int_equal(mix64(unmix64(edges[i])), edges[i]);
    }
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t const any = dice_edge(&random);
        assert_int_equal(unmix64(mix64(any)), any);
        assert_int_equal(mix64(unmix64(any)), any);
    }
}

/* ------------------------------------------------------------------ mix64 scatters */

#define FLIPS (1u << 14) /* inputs per input bit */

/* The number i with a zero inserted as bit `at`. Counting i up gives every pair of inputs that
 * differ in that bit once. */
static uint64_t count_around(uint64_t i, unsigned at) {
    uint64_t const below = i & ((UINT64_C(1) << at) - 1);
    return (i - below) << 1 | below;
}

/* How often flipping input bit `in` flips each of the 64 output bits. */
static void count_flips(unsigned in, dice *random, uint64_t flipped[64]) {
    memset(flipped, 0, 64 * sizeof flipped[0]);
    for (unsigned i = 0; i < FLIPS; i++) {
        uint64_t const x = i % 2 == 0 ? dice_roll(random) : count_around(i / 2, in);
        uint64_t const change = mix64(x) ^ mix64(x ^ UINT64_C(1) << in);
        for (unsigned out = 0; out < 64; out++) flipped[out] += change >> out & 1;
    }
}

/* Each of the 4096 pairs of an input and an output bit is a fair coin: within 6 sigma (all of
 * them: one chance in 10^5), and their squares together within 5. */
static void mix64_flips_every_output_bit_half_the_time(void **state) {
    (void)state;
    dice         random = dice_start();
    double const sigma = sqrt(FLIPS / 4.0);
    double       squares = 0;
    for (unsigned in = 0; in < 64; in++) {
        uint64_t flipped[64];
        count_flips(in, &random, flipped);
        for (unsigned out = 0; out < 64; out++) {
            double const off = ((double)flipped[out] - FLIPS / 2.0) / sigma;
            assert_true(fabs(off) < 6);
            squares += off * off;
        }
    }
    assert_true(fabs(squares - 4096) < UNIT_SIGMAS * sqrt(2 * 4096.0));
}

/* ------------------------------------------------------------------ remix */

#define CELLS 1024
#define SIDE 32 /* CELLS = SIDE x SIDE */
#define KEYS (64 * CELLS)

/* The hash of a sequential id: sequential ids are the worst input. The public functions mix ids
 * once before a kind sees them, and remix relies on that. */
static uint64_t hash_of(uint64_t id) {
    return mix64(id);
}

static void remix_spreads_sequential_ids_evenly(void **state) {
    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        uint64_t counts[CELLS] = { 0 };
        for (uint64_t id = 0; id < KEYS; id++) counts[fastrange(remix(hash_of(id), i), CELLS)]++;
        assert_true(fabs(chi_square_sigmas(counts, CELLS)) < UNIT_SIGMAS);
    }
}

static double pair_sigmas(unsigned i, unsigned j) {
    uint64_t counts[CELLS] = { 0 };
    for (uint64_t id = 0; id < KEYS; id++) {
        uint64_t const one = fastrange(remix(hash_of(id), i), SIDE);
        counts[one * SIDE + fastrange(remix(hash_of(id), j), SIDE)]++;
    }
    return chi_square_sigmas(counts, CELLS);
}

/* Two positions of one key are a point of a square. All parts of the square are hit equally
 * often. */
static void remix_outputs_are_pairwise_independent(void **state) {
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned j = i + 1; j < 16; j++) assert_true(fabs(pair_sigmas(i, j)) < UNIT_SIGMAS);
    }
    assert_true(fabs(pair_sigmas(0, 63)) < UNIT_SIGMAS);
    assert_true(fabs(pair_sigmas(62, 63)) < UNIT_SIGMAS);
}

/* The low bits as well, which a kind may take for a fingerprint. */
static void remix_outputs_are_independent_in_their_low_bits(void **state) {
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        uint64_t counts[CELLS] = { 0 };
        for (uint64_t id = 0; id < KEYS; id++) {
            uint64_t const one = remix(hash_of(id), i) % SIDE;
            counts[one * SIDE + remix(hash_of(id), i + 1) % SIDE]++;
        }
        assert_true(fabs(chi_square_sigmas(counts, CELLS)) < UNIT_SIGMAS);
    }
}

/* The position of a key and that of the next key, in the same sense. */
static void remix_of_neighbouring_ids_is_independent(void **state) {
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        uint64_t counts[CELLS] = { 0 };
        for (uint64_t id = 0; id < KEYS; id++) {
            uint64_t const one = fastrange(remix(hash_of(2 * id), i), SIDE);
            counts[one * SIDE + fastrange(remix(hash_of(2 * id + 1), i), SIDE)]++;
        }
        assert_true(fabs(chi_square_sigmas(counts, CELLS)) < UNIT_SIGMAS);
    }
}

#define PLACES 16384
#define HASHES 10
#define ADDED 1136 /* ln 2 x PLACES / HASHES: half of the places get marked */
#define ASKED 4000000

/* Mark HASHES places for each id in [from, from + n), and return how many of the ids had all of
 * theirs marked before. */
static uint64_t mark_or_ask(uint8_t *marked, uint64_t from, uint64_t n, bool is_marking) {
    uint64_t found = 0;
    for (uint64_t id = from; id < from + n; id++) {
        unsigned held = 0;
        for (unsigned i = 0; i < HASHES; i++) {
            uint64_t const place = fastrange(remix(hash_of(id), i), PLACES);
            held += marked[place];
            if (is_marking) marked[place] = 1;
        }
        found += held == HASHES;
    }
    return found;
}

/* Why independence matters: with a share p of the places marked, an absent key is taken for present
 * with probability p^k, if and only if its k places are as good as independent. */
static void remix_gives_a_bloom_filter_its_rate(void **state) {
    (void)state;
    static uint8_t marked[PLACES];
    double         share = 0;
    (void)mark_or_ask(marked, 0, ADDED, true);
    for (unsigned i = 0; i < PLACES; i++) share += marked[i] / (double)PLACES;
    double const expected = ASKED * pow(share, HASHES);
    double const found = (double)mark_or_ask(marked, ADDED, ASKED, false);
    assert_true(fabs(found - expected) < UNIT_SIGMAS * sqrt(expected));
}

/* ------------------------------------------------------------------ products */

static void check_product(uint64_t a, uint64_t b) {
    uint64_t       low, narrow_low, expected_low;
    uint64_t const expected = multiply_digits(a, b, &expected_low);
    assert_int_equal(mul_wide(a, b, &low), expected);
    assert_int_equal(low, expected_low);
    assert_int_equal(narrow_mul_wide(a, b, &narrow_low), expected);
    assert_int_equal(narrow_low, expected_low);
}

static void mul_wide_is_the_product_as_on_paper_in_both_builds(void **state) {
    (void)state;
    dice random = dice_start();
    for (size_t i = 0; i < COUNT(edges); i++) {
        for (size_t j = 0; j < COUNT(edges); j++) check_product(edges[i], edges[j]);
    }
    for (unsigned i = 0; i < 300000; i++) {
        check_product(dice_edge(&random), dice_edge(&random));
        check_product(dice_roll(&random), dice_roll(&random));
    }
}

/* ------------------------------------------------------------------ ranges */

static void fastrange_stays_inside_its_range(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t const hash = dice_edge(&random), n = dice_edge(&random) | 1;
        assert_true(fastrange(hash, n) < n);
        assert_int_equal(fastrange(hash, n), narrow_fastrange(hash, n));
        assert_int_equal(fastrange(hash, 1), 0);
        assert_true(fastrange(hash, UINT64_MAX) < UINT64_MAX);
        assert_int_equal(fastrange(UINT64_MAX, n), n - 1);
        assert_int_equal(fastrange(0, n), 0);
    }
}

/* 2^16 equally spaced hashes fall on n values: each gets its share, rounded up or down. */
static void fastrange_gives_every_value_its_exact_share(void **state) {
    (void)state;
    for (uint64_t n = 1; n <= 300; n++) {
        uint64_t counts[300] = { 0 };
        for (uint64_t i = 0; i <= UINT16_MAX; i++) counts[fastrange(i << 48, n)]++;
        for (uint64_t value = 0; value < n; value++) {
            assert_true(counts[value] == 65536 / n || counts[value] == (65536 + n - 1) / n);
        }
    }
}

static void fastrange_is_uniform_for_mixed_numbers(void **state) {
    (void)state;
    static const uint64_t sizes[] = { 2, 3, 7, 10, 64, 100, 1000, 1023, CELLS };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint64_t counts[CELLS] = { 0 };
        for (uint64_t hash = 0; hash < KEYS; hash++) counts[fastrange(mix64(hash), sizes[i])]++;
        assert_true(fabs(chi_square_sigmas(counts, sizes[i])) < UNIT_SIGMAS);
    }
}

static void fastrange_next_gives_the_digits_of_one_number(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t const first = dice_edge(&random) | 1, hash = dice_edge(&random);
        uint64_t const second = 1 + dice_roll(&random) % (UINT64_MAX / first);
        uint64_t       left = hash, narrow_left = hash;
        uint64_t const high = fastrange_next(&left, first);
        uint64_t const low = fastrange_next(&left, second);
        assert_true(high < first && low < second);
        assert_int_equal(high * second + low, fastrange(hash, first * second));
        assert_int_equal(narrow_fastrange_next(&narrow_left, first), high);
        assert_int_equal(narrow_fastrange_next(&narrow_left, second), low);
        assert_int_equal(narrow_left, left);
    }
}

static void fastrange_next_gives_three_digits_of_one_number(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t const a = 1 + dice_below(&random, 1u << 21), b = 1 + dice_below(&random, 9999);
        uint64_t const c = 1 + dice_below(&random, 1u << 28), hash = dice_roll(&random);
        uint64_t       left = hash;
        uint64_t       number = fastrange_next(&left, a);
        number = number * b + fastrange_next(&left, b);
        number = number * c + fastrange_next(&left, c);
        assert_int_equal(number, fastrange(hash, a * b * c));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(mix64_can_be_undone_so_it_is_one_to_one),
    cmocka_unit_test(mix64_flips_every_output_bit_half_the_time),
    cmocka_unit_test(remix_spreads_sequential_ids_evenly),
    cmocka_unit_test(remix_outputs_are_pairwise_independent),
    cmocka_unit_test(remix_outputs_are_independent_in_their_low_bits),
    cmocka_unit_test(remix_of_neighbouring_ids_is_independent),
    cmocka_unit_test(remix_gives_a_bloom_filter_its_rate),
    cmocka_unit_test(mul_wide_is_the_product_as_on_paper_in_both_builds),
    cmocka_unit_test(fastrange_stays_inside_its_range),
    cmocka_unit_test(fastrange_gives_every_value_its_exact_share),
    cmocka_unit_test(fastrange_is_uniform_for_mixed_numbers),
    cmocka_unit_test(fastrange_next_gives_the_digits_of_one_number),
    cmocka_unit_test(fastrange_next_gives_three_digits_of_one_number),
};

CORE_EXPORT(hash)
