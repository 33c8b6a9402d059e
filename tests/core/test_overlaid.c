/* test_overlaid.c - core/overlaid.h: the places of a key, without repeats; units; timers that are
 * moved between tables. */
#include "core_units.h"

#include "core/overlaid.h"

/* The places of a key are those of its remixes, in order, without repeats. */
static void overlaid_places_of_a_key_are_distinct(void **state) {
    (void)state;
    for (uint64_t cells = 2; cells < 200; cells += 9) {
        for (unsigned hashes = 1; hashes <= OVERLAID_MAX_HASHES; hashes++) {
            overlaid_cells const layout = overlaid_make(cells, hashes, 5, 2);
            for (uint64_t id = 0; id < 20; id++) {
                uint64_t       place[OVERLAID_MAX_HASHES], expected = 0;
                uint64_t const hash = mix64(id + 1);
                unsigned const n = overlaid_places(&layout, hash, place);
                for (unsigned i = 0; i < hashes; i++) {
                    uint64_t const next = probes_place(hash, i, cells);
                    unsigned       j = 0;
                    while (j < expected && place[j] != next) j++;
                    if (j == expected) assert_int_equal(place[expected++], next);
                }
                assert_int_equal(n, expected);
            }
        }
    }
}

/* A unit is within a line's size, and twice as many cells are not; every cell is in one unit. */
static void overlaid_units_are_about_a_line(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= PACKED_MAX_BITS; bits++) {
        for (uint64_t cells = 2; cells < 1200; cells += 7) {
            overlaid_cells const layout = overlaid_make(cells, 1, bits, 0);
            uint64_t const       per_unit = UINT64_C(1) << layout.unit_shift;
            uint64_t             place = 0;
            assert_true(per_unit * bits <= 512 && 2 * per_unit * bits > 512);
            for (uint64_t unit = 0; unit < overlaid_units(&layout); unit++) {
                uint64_t const end = overlaid_unit_end(&layout, unit);
                assert_true(end > place && end - place <= per_unit);
                for (; place < end; place++) assert_int_equal(overlaid_unit(&layout, place), unit);
            }
            assert_int_equal(place, cells);
        }
    }
}

static void overlaid_cells_are_content_and_timer(void **state) {
    (void)state;
    overlaid_cells const layout = overlaid_make(1000, 4, 6, 3);
    for (uint64_t timer = 0; timer < 8; timer++) {
        for (uint64_t content = 1; content < 64; content++) {
            uint64_t const cell = overlaid_cell(&layout, content, timer);
            assert_true(cell <= bits_low(layout.bits));
            assert_int_equal(overlaid_content(&layout, cell), content);
            assert_int_equal(overlaid_timer(&layout, cell), timer);
            uint64_t const older = timer == 0 ? 0 : overlaid_cell(&layout, content, timer - 1);
            assert_int_equal(overlaid_older(&layout, cell), older);
        }
    }
}

/* How many units the sweep visits until it is at this unit again, if it first does all work that is
 * due. */
static uint64_t distance(const sweep *hand, uint64_t unit) {
    return (unit + hand->units - hand->due % hand->units) % hand->units;
}

/* The fewest passes with which a cell lives here as long as it would there, but at most those of a
 * fresh cell. */
static uint64_t foreseen_passes(const sweep *here, const sweep *there, uint64_t unit,
                                uint64_t left) {
    uint64_t const end = distance(there, unit) + left * there->units;
    uint64_t       passes = 0;
    while (distance(here, unit) + passes * here->units < end) passes++;
    return passes < sweep_most(here) ? passes : sweep_most(here);
}

/* No cell leaves earlier than it would have in its own table, however much work each sweep has
 * left. */
static void overlaid_timers_move_between_tables(void **state) {
    (void)state;
    overlaid_cells const layout = overlaid_make(640, 4, 5, 3); /* 10 units of 64 cells */
    sweep const          start = { .units = 10, .timeout = 100, .timer_bits = 3 };
    for (uint64_t here = 0; here <= 40; here++) {
        for (uint64_t there = 0; there <= 40; there++) {
            sweep into = start, from = start;
            into.due = here;
            from.due = there;
            for (uint64_t left = 0; left <= sweep_most(&start); left++) {
                uint64_t const place = 64 * (left + here % 7), unit = overlaid_unit(&layout, place);
                uint64_t const timer = left + sweep_owed(&from, unit);
                uint64_t const cell = overlaid_cell(&layout, 1, timer);
                assert_true(overlaid_timer_is_whole(&layout, &from, place, cell));
                assert_int_equal(overlaid_timer_here(&layout, &into, &from, place, cell),
                                 foreseen_passes(&into, &from, unit, left) +
                                     sweep_owed(&into, unit));
            }
        }
    }
    sweep const never = { .units = 10 };
    assert_int_equal(overlaid_timer_here(&layout, &never, &never, 5, 1), 0);
    assert_true(overlaid_timer_is_whole(&layout, &never, 5, 1));
    assert_true(overlaid_timer_is_whole(&layout, &start, 5, overlaid_cell(&layout, 1, 3)));
    assert_false(overlaid_timer_is_whole(&layout, &start, 5, overlaid_cell(&layout, 1, 4)));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(overlaid_places_of_a_key_are_distinct),
    cmocka_unit_test(overlaid_units_are_about_a_line),
    cmocka_unit_test(overlaid_cells_are_content_and_timer),
    cmocka_unit_test(overlaid_timers_move_between_tables),
};

CORE_EXPORT(overlaid)
