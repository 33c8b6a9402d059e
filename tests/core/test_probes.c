/* test_probes.c - core/probes.h: the k places of each key, asked in rounds, give the same answers
 * as one by one. */
#include "core_units.h"

#include "core/probes.h"

#define PLACES 4096

/* A table that logs which places are asked for. */
typedef struct toy {
    uint8_t  marked[PLACES];
    uint64_t places;
    unsigned fetched, asked;
} toy;

/* The functions under test pass the table as const, but its log has to change. */
static toy *toy_of(const void *table) {
    return (toy *)(uintptr_t)table;
}

static const uint8_t *toy_where(const void *table, uint64_t place) {
    toy *const t = toy_of(table);
    assert_true(place < t->places);
    t->fetched++;
    return t->marked + place % PLACES;
}

static bool toy_holds(const void *table, uint64_t place) {
    toy *const t = toy_of(table);
    assert_true(place < t->places);
    t->asked++;
    return t->marked[place % PLACES] != 0;
}

static void toy_fill(toy *table, dice *random, uint64_t percent) {
    *table = (toy){ .places = PLACES };
    for (unsigned i = 0; i < PLACES; i++) table->marked[i] = dice_below(random, 100) < percent;
}

/* ------------------------------------------------------------------ oracles */

static uint64_t oracle_place(uint64_t hash, unsigned i, uint64_t places) {
    uint64_t low;
    return multiply_digits(remix(hash, i), places, &low);
}

static bool oracle_has(const toy *table, uint64_t hash, unsigned k) {
    for (unsigned i = 0; i < k; i++) {
        if (!table->marked[oracle_place(hash, i, PLACES)]) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ asking */

/* A chunk of n keys, of which about half are surely present. */
static void check_ask(toy *table, dice *random, unsigned n, unsigned k) {
    uint64_t hash[TAMIS_CHUNK], expected = 0;
    for (unsigned i = 0; i < n; i++) {
        hash[i] = dice_roll(random);
        bool const is_added = dice_below(random, 2) == 0;
        for (unsigned j = 0; is_added && j < k; j++) {
            table->marked[oracle_place(hash[i], j, PLACES)] = 1;
        }
    }
    for (unsigned i = 0; i < n; i++) expected |= (uint64_t)oracle_has(table, hash[i], k) << i;
    assert_int_equal(probes_ask(table, hash, n, k, PLACES, toy_where, toy_holds), expected);
    assert_int_equal(probes_ask_near(table, hash, n, k, PLACES, toy_holds), expected);
}

static void probes_ask_far_and_near_mean_one_by_one_for_every_k_and_n(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned k = 1; k <= PROBES_MAX; k++) {
        for (unsigned n = 1; n <= TAMIS_CHUNK; n++) {
            toy table;
            toy_fill(&table, &random, (k * 7 + n) % 101);
            check_ask(&table, &random, n, k);
        }
    }
}

/* However the rounds are cut, no place of a key is asked twice, and none is left out. */
static void probes_ask_asks_every_place_of_a_present_key_once(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned k = 1; k <= PROBES_MAX; k++) {
        for (unsigned n = 1; n <= TAMIS_CHUNK; n++) {
            uint64_t hash[TAMIS_CHUNK];
            toy      table;
            for (unsigned i = 0; i < n; i++) hash[i] = dice_roll(&random);
            toy_fill(&table, &random, 100);
            assert_int_equal(probes_ask(&table, hash, n, k, PLACES, toy_where, toy_holds),
                             bits_low(n));
            assert_int_equal(table.asked, n * k);
        }
    }
}

/* Why there are rounds: absent keys are refused after a few questions each, not after k. */
static void probes_ask_leaves_absent_keys_early(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned k = 1; k <= PROBES_MAX; k++) {
        uint64_t hash[TAMIS_CHUNK];
        toy      table;
        for (unsigned i = 0; i < TAMIS_CHUNK; i++) hash[i] = dice_roll(&random);
        toy_fill(&table, &random, 0);
        assert_int_equal(probes_ask(&table, hash, TAMIS_CHUNK, k, PLACES, toy_where, toy_holds), 0);
        assert_in_range(table.asked, TAMIS_CHUNK, 4 * TAMIS_CHUNK);
        assert_in_range(table.fetched, TAMIS_CHUNK, 4 * TAMIS_CHUNK);
    }
}

static void probes_ask_answers_duplicates_alike(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned k = 1; k <= PROBES_MAX; k++) {
        uint64_t hash[TAMIS_CHUNK];
        toy      table;
        toy_fill(&table, &random, 50);
        for (unsigned i = 0; i < TAMIS_CHUNK; i++) hash[i] = 99;
        for (unsigned i = 0; i + 1 < k; i++) table.marked[oracle_place(99, i, PLACES)] = 1;
        table.marked[oracle_place(99, k - 1, PLACES)] = 0; /* refused by the last place */
        assert_int_equal(probes_ask(&table, hash, TAMIS_CHUNK, k, PLACES, toy_where, toy_holds), 0);
        assert_int_equal(probes_ask_near(&table, hash, TAMIS_CHUNK, k, PLACES, toy_holds), 0);
        table.marked[oracle_place(99, k - 1, PLACES)] = 1;
        assert_int_equal(probes_ask(&table, hash, TAMIS_CHUNK, k, PLACES, toy_where, toy_holds),
                         UINT64_MAX);
        assert_int_equal(probes_ask_near(&table, hash, TAMIS_CHUNK, k, PLACES, toy_holds),
                         UINT64_MAX);
    }
}

/* Starting at any place, no question is asked after the first refusal. */
static void probes_hold_stops_at_the_first_place_that_does_not(void **state) {
    (void)state;
    for (unsigned k = 1; k <= PROBES_MAX; k++) {
        for (unsigned first = 0; first <= k; first++) {
            toy table = { .places = PLACES };
            for (unsigned i = first; i < k; i++) table.marked[oracle_place(99, i, PLACES)] = 1;
            assert_true(probes_hold(&table, 99, first, k, PLACES, toy_holds));
            assert_int_equal(table.asked, k - first);
            if (first == k) continue;
            table.marked[oracle_place(99, first, PLACES)] = 0;
            table.asked = 0;
            assert_false(probes_hold(&table, 99, first, k, PLACES, toy_holds));
            assert_int_equal(table.asked, 1);
        }
    }
}

/* ------------------------------------------------------------------ locating */

#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)

static void check_locate(dice *random, unsigned n, unsigned k, uint64_t places) {
    uint64_t hash[TAMIS_CHUNK], place[PROBES_LOCATED];
    toy      table = { .places = places };
    for (unsigned i = 0; i < n; i++) hash[i] = dice_roll(random);
    for (unsigned i = 0; i < PROBES_LOCATED; i++) place[i] = UNTOUCHED;
    unsigned const fit = PROBES_LOCATED / k, expected = n < fit ? n : fit;
    assert_int_equal(probes_locate(&table, hash, n, k, places, toy_where, place), expected);
    assert_int_equal(table.fetched, expected * k);
    for (unsigned i = 0; i < PROBES_LOCATED; i++) {
        bool const is_used = i < expected * k;
        assert_int_equal(place[i], is_used ? oracle_place(hash[i / k], i % k, places) : UNTOUCHED);
    }
}

static void probes_locate_finds_all_places_of_the_first_keys(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned k = 1; k <= PROBES_MAX; k++) {
        for (unsigned n = 1; n <= TAMIS_CHUNK; n++) {
            check_locate(&random, n, k, PLACES);
            check_locate(&random, n, k, 1);
            check_locate(&random, n, k, UINT64_MAX);
        }
    }
}

/* A caller that goes on with the remaining keys comes to an end, also with the largest k. */
static void probes_locate_always_gets_on(void **state) {
    (void)state;
    uint64_t hash[TAMIS_CHUNK] = { 0 }, place[PROBES_LOCATED];
    toy      table = { .places = PLACES };
    for (unsigned k = 1; k <= PROBES_MAX; k++) {
        unsigned done = 0, located;
        for (; done < TAMIS_CHUNK; done += located) {
            located =
                probes_locate(&table, hash + done, TAMIS_CHUNK - done, k, PLACES, toy_where, place);
            assert_in_range(located, 1, TAMIS_CHUNK - done);
        }
    }
}

static void probes_place_is_a_remix_brought_into_range(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 100000; round++) {
        uint64_t const hash = dice_roll(&random), places = dice_edge(&random) | 1;
        unsigned const i = (unsigned)dice_below(&random, PROBES_MAX);
        assert_int_equal(probes_place(hash, i, places), oracle_place(hash, i, places));
        assert_true(probes_place(hash, i, places) < places);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(probes_ask_far_and_near_mean_one_by_one_for_every_k_and_n),
    cmocka_unit_test(probes_ask_asks_every_place_of_a_present_key_once),
    cmocka_unit_test(probes_ask_leaves_absent_keys_early),
    cmocka_unit_test(probes_ask_answers_duplicates_alike),
    cmocka_unit_test(probes_hold_stops_at_the_first_place_that_does_not),
    cmocka_unit_test(probes_locate_finds_all_places_of_the_first_keys),
    cmocka_unit_test(probes_locate_always_gets_on),
    cmocka_unit_test(probes_place_is_a_remix_brought_into_range),
};

CORE_EXPORT(probes)
