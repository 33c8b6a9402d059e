/* growth.h - sets that grow: from where to where, if the user does not say, and what that costs. */
#ifndef CLI_GROWTH_H
#define CLI_GROWTH_H

#include <stdbool.h>

#include <tamis/tamis.h>

/* Nothing is known of how many keys will come: begin with a thousand, and grow to 2^30 or to what
 * --grow-to says. False: no kind can, at that rate and with these options. */
bool growth_without_count(tamis_spec *spec);

/* The first size of a set that grows so far, if nothing is known. */
uint64_t growth_first(uint64_t grow_to);

/* The keys were counted: spec->capacity. Room for them, without a step, and for 16 times as many
 * (but to at least a million) by growing. If no kind can, the spec stays as it is. */
void growth_from_count(tamis_spec *spec);

/* The rate at grow_to of a set or a table of states that is at this stage. */
double growth_last_rate(const tamis_plan *plan, unsigned stage, unsigned stages);

/* Bits per key that this set takes more than one of fixed size would, for as many keys and for the
 * rate at grow_to. The same for states. */
double growth_cost(const tamis_plan *plan, double last_rate);
double growth_states_cost(const tamis_states_info *info, double last_rate);

/* End a step of growing, and begin none: afterwards, the size of the set and each byte of it follow
 * from its keys alone, not from their order, nor from what threads did at the same time. If there
 * is no memory for that, the set stays as it is, which is as good. */
void growth_settle(tamis_set *set);

#endif
