/* prints_plan.h - how kinds that store fingerprints plan what a copy, a count or a value takes. */
#ifndef TAMIS_PRINTS_PLAN_H
#define TAMIS_PRINTS_PLAN_H

#include "kind.h"
#include "theory/print_law.h"

/* Three fields of the geometry: counter_bits, copies and value_bits, fixed or free. What is free is
 * chosen. False: the need cannot be met with what is fixed. `counting` is as in prints.h. */
static inline bool prints_plan(const tamis_need *need, prints_mode counting, uint64_t *fields) {
    prints_mode fixed = { fields[0], fields[1], fields[2] };
    bool const  is_removed = (need->abilities & TAMIS_CAN_REMOVE) != 0;
    bool const  is_counted = (need->abilities & TAMIS_CAN_COUNT) != 0;
    if (need->values != 0 && !tamis_prints_states(need->values, need->timer_bits, &fixed))
        return false;
    prints_mode const mode = tamis_prints_mode(fixed, is_removed, is_counted, counting);
    fields[0] = mode.counter_bits;
    fields[1] = mode.copies;
    fields[2] = mode.value_bits;
    return true;
}

#endif
