/* test_dleft.c - core/dleft.h: the places of keys, with and without permutations, and the way
 * back. */
#include "core_units.h"

#include "core/dleft.h"

typedef struct shape {
    unsigned tables, print_bits;
    uint64_t buckets;
} shape;

static shape random_shape(dice *random) {
    unsigned const bits = 4 + (unsigned)dice_below(random, 45);
    uint64_t const most = PERMUTE_MAX >> bits;
    uint64_t const any = 1 + (dice_edge(random) >> dice_below(random, 63)) % most;
    return (shape){ 2 + (unsigned)dice_below(random, 7), bits, any < most ? any : most };
}

/* In each subtable a print is one of 2^r - 1 numbers. Print and bucket together belong to exactly
 * one fingerprint: the way back finds the fingerprint that was placed there. */
static void dleft_places_tell_the_fingerprint(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 3000; round++) {
        shape const sizes = random_shape(&random);
        dleft const d = dleft_make(sizes.tables, sizes.buckets, sizes.print_bits, true);
        for (unsigned k = 0; k < 20; k++) {
            uint64_t const hash = k == 0 ? 0 : k == 1 ? UINT64_MAX : dice_roll(&random);
            uint64_t const fingerprint = dleft_fingerprint(&d, hash);
            assert_true(fingerprint < d.range && (fingerprint & bits_low(sizes.print_bits)) != 0);
            for (unsigned i = 0; i < sizes.tables; i++) {
                dleft_place const place = dleft_place_in(&d, fingerprint, i);
                assert_int_equal(place.bucket / sizes.buckets, i);
                assert_true(place.print != 0 && place.print <= bits_low(sizes.print_bits));
                assert_int_equal(dleft_fingerprint_of(&d, place), fingerprint);
            }
        }
    }
}

/* As hashes go from 0 to 2^64, each of the B (2^r - 1) fingerprints comes up, and all equally
 * often. */
static void dleft_hashes_in_order_reach_every_fingerprint(void **state) {
    (void)state;
    static const shape shapes[] = { { 2, 4, 5 }, { 3, 7, 11 }, { 8, 5, 64 } };
    for (size_t k = 0; k < COUNT(shapes); k++) {
        dleft const d = dleft_make(shapes[k].tables, shapes[k].buckets, shapes[k].print_bits, true);
        uint64_t const prints = d.buckets * bits_low(d.print_bits);
        uint64_t       last = 0;
        for (uint64_t i = 0; i < prints; i++) {
            uint64_t const next = dleft_fingerprint(&d, fastrange_inverse(i, prints));
            assert_int_equal(next, last + 1 + (((last + 1) & bits_low(d.print_bits)) == 0));
            last = next;
        }
        assert_int_equal(last, d.range - 1);
    }
}

/* Without permutations, buckets and print are independent of each other: all pairs are equally
 * likely. */
static void dleft_lone_buckets_and_prints_are_independent(void **state) {
    (void)state;
    enum { B = 7, PRINTS = 15, N = 200000 };
    dleft const d = dleft_make(3, B, 4, false);
    dice        random = dice_start();
    uint64_t    with_print[3][B * PRINTS] = { { 0 } }, with_next[3][B * B] = { { 0 } };
    for (unsigned k = 0; k < N; k++) {
        uint64_t const hash = dice_roll(&random), print = dleft_lone_print(&d, hash) - 1;
        for (unsigned i = 0; i < 3; i++) {
            uint64_t const own = dleft_lone_bucket(&d, hash, i) - i * B;
            uint64_t const next = dleft_lone_bucket(&d, hash, (i + 1) % 3) - (i + 1) % 3 * B;
            assert_true(own < B && next < B && print < PRINTS);
            with_print[i][own * PRINTS + print]++;
            with_next[i][own * B + next]++;
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_true(fabs(chi_square_sigmas(with_print[i], B * PRINTS)) < UNIT_SIGMAS);
        assert_true(fabs(chi_square_sigmas(with_next[i], B * B)) < UNIT_SIGMAS);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(dleft_places_tell_the_fingerprint),
    cmocka_unit_test(dleft_hashes_in_order_reach_every_fingerprint),
    cmocka_unit_test(dleft_lone_buckets_and_prints_are_independent),
};

CORE_EXPORT(dleft)
