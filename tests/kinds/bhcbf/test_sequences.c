/* test_sequences.c - Bh sequences and B-tilde-h sequences, against all their sums, one by one. */
#include "unit.h"

#include "ton2014/sequences.h"

/* ------------------------------------------------------------------ oracles */

#define MAX_SUMS 4096

typedef struct all_sums {
    unsigned sum[MAX_SUMS], n;
} all_sums;

/* Sums of exactly `left` more numbers, none smaller than the one before. */
static void oracle_sums(uint64_t mask, unsigned from, unsigned left, unsigned sum, all_sums *to) {
    if (left == 0) {
        assert_true(to->n < MAX_SUMS);
        to->sum[to->n++] = sum;
        return;
    }
    for (unsigned v = from; v < 64; v++) {
        if ((mask >> v & 1) != 0) oracle_sums(mask, v, left - 1, sum + v, to);
    }
}

static bool oracle_distinct(const all_sums *sums) {
    for (unsigned i = 0; i < sums->n; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (sums->sum[i] == sums->sum[j]) return false;
        }
    }
    return true;
}

static bool oracle_bh(uint64_t mask, unsigned h) {
    all_sums sums = { .n = 0 };
    oracle_sums(mask, 1, h, 0, &sums);
    return oracle_distinct(&sums);
}

/* Sums of more than h numbers, as far as they matter, found by how many numbers make up a sum. */
static bool oracle_bh_tilde(uint64_t mask, unsigned h) {
    all_sums sums = { .n = 0 };
    bool     made[64][512] = { { false } };
    for (unsigned i = 1; i <= h; i++) oracle_sums(mask, 1, i, 0, &sums);
    if (!oracle_distinct(&sums)) return false;
    made[0][0] = true;
    for (unsigned i = 1; i < 64; i++) {
        for (unsigned v = 1; v < 64; v++) {
            for (unsigned s = v; (mask >> v & 1) != 0 && s < 512; s++) {
                made[i][s] |= made[i - 1][s - v];
            }
        }
    }
    for (unsigned i = 0; i < sums.n; i++) {
        for (unsigned more = h + 1; more < 64; more++) {
            if (made[more][sums.sum[i]]) return false;
        }
    }
    return true;
}

static uint64_t random_mask(dice *random, unsigned l, unsigned bound) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < l; i++) mask |= UINT64_C(1) << (1 + dice_below(random, bound));
    return mask;
}

/* ------------------------------------------------------------------ checks */

static void is_bh_is_that_all_sums_differ(void **state) {
    (void)state;
    dice     random = dice_start();
    unsigned good = 0;
    for (unsigned i = 0; i < 4000; i++) {
        unsigned const h = 1 + (unsigned)dice_below(&random, 5);
        uint64_t const mask =
            random_mask(&random, 1 + (unsigned)dice_below(&random, 5), i % 2 == 0 ? 63 : 15);
        assert_int_equal(tamis_is_bh(mask, h), oracle_bh(mask, h));
        good += tamis_is_bh(mask, h);
    }
    assert_in_range(good, 400, 3600);
}

static void is_bh_tilde_is_that_shorter_sums_are_alone(void **state) {
    (void)state;
    dice     random = dice_start();
    unsigned good = 0;
    for (unsigned i = 0; i < 600; i++) {
        unsigned const h = 1 + (unsigned)dice_below(&random, 3);
        uint64_t const mask =
            random_mask(&random, 1 + (unsigned)dice_below(&random, 4), i % 2 == 0 ? 63 : 15);
        assert_int_equal(is_bh_tilde(mask, h), oracle_bh_tilde(mask, h));
        good += is_bh_tilde(mask, h);
    }
    assert_in_range(good, 60, 540);
}

/* Examples 1, 2 and 5, and table II, whose B12 is B13 as well. */
static void sequences_of_the_paper_are_what_they_are_said_to_be(void **state) {
    (void)state;
    uint64_t const one = SEQUENCE_4(1, 4, 8, 13), last = SEQUENCE_2(1, 2) | SEQUENCE_1(15);
    assert_true(tamis_is_bh(one, 1) && tamis_is_bh(one, 2) && tamis_is_bh(one, 3));
    assert_false(tamis_is_bh(one, 4));
    assert_true(tamis_is_bh(SEQUENCE_4(1, 4, 13, 15), 3));
    assert_true(tamis_is_bh(SEQUENCE_4(1, 2, 5, 14), 3));
    assert_true(tamis_is_bh(SEQUENCE_4(1, 2, 4, 8) | SEQUENCE_1(13), 2));
    assert_true(tamis_is_bh(0xfffe, 1));
    assert_false(tamis_is_bh(0xfffe, 2));
    assert_true(tamis_is_bh(last, 12) && tamis_is_bh(last, 13));
    assert_false(tamis_is_bh(last, 14));
    assert_true(is_bh_tilde(SEQUENCE_2(3, 4), 2));
    assert_false(is_bh_tilde(SEQUENCE_2(3, 4), 3));
    assert_false(is_bh_tilde(one, 2)); /* 1 + 1 + 1 + 1 */
}

static void values_that_are_no_sequence_are_refused(void **state) {
    (void)state;
    assert_false(tamis_is_bh(0, 1) || is_bh_tilde(0, 1));
    assert_false(tamis_is_bh(1, 1) || is_bh_tilde(3, 1)); /* 0 is no number of it */
    assert_false(tamis_is_bh(2, 0) || is_bh_tilde(2, 0));
    assert_true(tamis_is_bh(2, SEQUENCES_MAX_H) && is_bh_tilde(2, SEQUENCES_MAX_H));
    assert_false(tamis_is_bh(2, SEQUENCES_MAX_H + 1));
    assert_false(is_bh_tilde(2, SEQUENCES_MAX_H + 1));
    assert_true(tamis_is_bh(UINT64_C(1) << 63 | 2, SEQUENCES_MAX_H));
    assert_false(tamis_is_bh(~UINT64_C(1), SEQUENCES_MAX_H)); /* and says so at once */
}

/* ------------------------------------------------------------------ searches */

static void bh_search_finds_the_48_sequences_of_the_paper(void **state) {
    (void)state;
    uint64_t masks[60];
    memset(masks, 0, sizeof masks);
    assert_int_equal(bh_search(3, 4, 15, masks, 60), 48);
    bool has_best = false, has_mirror = false;
    for (unsigned i = 0; i < 48; i++) {
        assert_true(oracle_bh(masks[i], 3) && (masks[i] & 3) == 2);
        has_best |= masks[i] == SEQUENCE_4(1, 4, 13, 15);
        has_mirror |= masks[i] == SEQUENCE_4(1, 3, 12, 15);
        for (unsigned j = 0; j < i; j++) assert_true(masks[j] != masks[i]);
    }
    assert_true(has_best && has_mirror);
    assert_int_equal(masks[48], 0);
}

/* Compared with a search over all sets of numbers. */
static void searches_find_every_sequence(void **state) {
    (void)state;
    for (unsigned h = 1; h <= 4; h++) {
        for (unsigned l = 1; l <= 4; l++) {
            size_t bh = 0, tilde = 0;
            for (uint64_t mask = 2; mask < UINT64_C(1) << 13; mask += 2) {
                if ((unsigned)__builtin_popcountll(mask) != l) continue;
                bh += (mask & 2) != 0 && oracle_bh(mask, h);
                tilde += is_bh_tilde(mask, h);
            }
            assert_int_equal(bh_search(h, l, 12, NULL, 0), bh);
            assert_int_equal(bh_tilde_search(h, l, 12, NULL, 0), tilde);
        }
    }
}

/* Table II calls these the longest: with numbers up to 15, none is one number longer. */
static void table_2_has_the_longest_sequences(void **state) {
    (void)state;
    assert_int_equal(bh_search(1, 15, 15, NULL, 0), 1);
    assert_true(bh_search(2, 5, 15, NULL, 0) > 0);
    assert_int_equal(bh_search(2, 6, 15, NULL, 0), 0);
    assert_int_equal(bh_search(3, 5, 15, NULL, 0), 0);
    assert_true(bh_search(12, 3, 15, NULL, 0) > 0);
    assert_int_equal(bh_search(12, 4, 15, NULL, 0), 0);
}

static void searches_write_no_more_than_there_is_room_for(void **state) {
    (void)state;
    uint64_t masks[3] = { 7, 7, 7 }, all[60];
    assert_int_equal(bh_search(3, 4, 15, masks, 2), 48);
    assert_int_equal(bh_search(3, 4, 15, all, 60), 48);
    assert_true(masks[0] == all[0] && masks[1] == all[1] && masks[2] == 7);
    assert_int_equal(bh_search(0, 4, 15, masks, 3), 0);
    assert_int_equal(bh_search(3, 0, 15, masks, 3), 0);
    assert_int_equal(bh_search(3, 4, 0, masks, 3), 0);
    assert_int_equal(bh_search(3, 4, 64, masks, 3), 0);
    assert_int_equal(bh_tilde_search(3, 0, 15, masks, 3), 0);
    assert_int_equal(bh_tilde_search(3, 2, 64, masks, 3), 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_bh_is_that_all_sums_differ),
        cmocka_unit_test(is_bh_tilde_is_that_shorter_sums_are_alone),
        cmocka_unit_test(sequences_of_the_paper_are_what_they_are_said_to_be),
        cmocka_unit_test(values_that_are_no_sequence_are_refused),
        cmocka_unit_test(bh_search_finds_the_48_sequences_of_the_paper),
        cmocka_unit_test(searches_find_every_sequence),
        cmocka_unit_test(table_2_has_the_longest_sequences),
        cmocka_unit_test(searches_write_no_more_than_there_is_room_for),
    };
    return unit_run("sequences", tests, COUNT(tests));
}
