/* test_max_codes.c - kinds/ddlcbf/max_codes.h compared with counting. */
#include "core_units.h"

#include "kinds/ddlcbf/max_codes.h"

/* Every triple in its order has the next code, and every code gives its triple back. */
static void max_codes_number_all_triples(void **state) {
    (void)state;
    unsigned code = 0;
    for (unsigned level = 0; level <= MAX_CODES_LEVELS; level++) {
        assert_int_equal(MAX_CODES_BELOW(level), code);
        for (unsigned cells = 0; cells <= level; cells++) {
            for (unsigned zeros = 0; zeros <= cells; zeros++, code++) {
                max_code const triple = max_codes_get(code);
                assert_int_equal(max_codes_code((max_code){ level, cells, zeros }), code);
                assert_true(triple.level == level && triple.cells == cells &&
                            triple.zeros == zeros);
            }
        }
    }
    assert_int_equal(code, MAX_CODES_ALL);
}

static void max_codes_up_to_eight_are_165(void **state) {
    (void)state;
    assert_int_equal(MAX_CODES_BELOW(9), 165); /* the paper's 8 bits are enough */
}

static void max_codes_number_all_pairs(void **state) {
    (void)state;
    unsigned pair = 0;
    for (unsigned cells = 0; cells <= MAX_CODES_LEVELS; cells++) {
        assert_int_equal(MAX_CODES_PAIRS(cells), pair);
        for (unsigned zeros = 0; zeros <= cells; zeros++, pair++) {
            max_code const triple = max_codes_get_pair(pair);
            assert_int_equal(max_codes_pair(cells, zeros), pair);
            assert_true(triple.cells == cells && triple.zeros == zeros);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(max_codes_number_all_triples),
    cmocka_unit_test(max_codes_up_to_eight_are_165),
    cmocka_unit_test(max_codes_number_all_pairs),
};

CORE_EXPORT(max_codes)
