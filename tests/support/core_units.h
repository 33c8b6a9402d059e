/* core_units.h - the units of src/core/, one test file each, gathered by core_main.c.
 *
 * They are compiled once per instruction set, with the flags of the library; core_main.c is not, so
 * that it can find out whether the processor runs the rest.
 */
#ifndef TAMIS_TESTS_CORE_UNITS_H
#define TAMIS_TESTS_CORE_UNITS_H

#include "unit.h"

typedef struct unit_list {
    const struct CMUnitTest *tests;
    size_t                   n;
} unit_list;

#define CORE_UNITS(each)                                                                           \
    each(checked) each(le) each(bits) each(hash) each(packed) each(shift) each(lanes) each(probes) \
        each(memory) each(field) each(parts) each(pool) each(chains) each(runs) each(attic)        \
            each(shelf) each(rests) each(lines) each(codes) each(permute) each(cells)              \
                each(max_codes) each(row) each(prefixes) each(sums) each(numbered) each(levels)    \
                    each(increments) each(sweep) each(sectors) each(counters) each(overlaid)       \
                        each(dleft) each(side) each(tagged)

#define CORE_DECLARE(unit) unit_list core_##unit##_tests(void);
CORE_UNITS(CORE_DECLARE)
#undef CORE_DECLARE

/* The last line of a unit's file: its array `tests`. */
#define CORE_EXPORT(unit)                          \
    unit_list core_##unit##_tests(void) {          \
        return (unit_list){ tests, COUNT(tests) }; \
    }

#endif
