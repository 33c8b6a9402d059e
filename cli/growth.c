/* growth.c - see growth.h.
 *
 * A doubling that is still possible costs a bit in every place of the set, about 1.2 bits per key;
 * it lowers the rate until it is used. At 0.1%, a `line` for a million keys takes 14.4 bits per key
 * if its size is fixed, 19.1 if it can grow 16-fold, and 26.0 if it can grow to 2^30. So a set
 * whose keys could be counted is made for them, with modest room for more. Where nothing can be
 * known, room to 2^30 is a few kilobytes in a small set; and in a large one few doublings are left.
 */
#include "growth.h"

#include <math.h>
#include <string.h>

#define FIRST_KEYS 1000                     /* the first size, if nothing is known */
#define MOST_FIRST_KEYS (UINT64_C(1) << 20) /* at a low rate, few doublings are possible */
#define MOST_KEYS (UINT64_C(1) << 30)
#define COUNTED_DOUBLINGS 4              /* of counted keys: 16 times as many */
#define COUNTED_KEYS (UINT64_C(1) << 20) /* room for this many costs little in a small set */
#define SET_MAX_KEYS (UINT64_C(1) << 40) /* of any set: tamis_spec.capacity */

static bool is_possible(const tamis_spec *spec) {
    size_t n;
    return tamis_plan_stages(spec, NULL, 0, &n, NULL) == TAMIS_OK;
}

uint64_t growth_first(uint64_t grow_to) {
    return grow_to < FIRST_KEYS ? grow_to : FIRST_KEYS;
}

bool growth_without_count(tamis_spec *spec) {
    tamis_spec tried = *spec;
    if (tried.grow_to == 0) tried.grow_to = MOST_KEYS;
    for (uint64_t first = FIRST_KEYS; first <= MOST_FIRST_KEYS; first *= 2) {
        tried.capacity = first < tried.grow_to ? first : tried.grow_to;
        if (!is_possible(&tried)) continue;
        *spec = tried;
        return true;
    }
    return false;
}

/* A step begins when one key in 16 of the capacity is left. */
void growth_from_count(tamis_spec *spec) {
    tamis_spec tried = *spec;
    unsigned   doublings = COUNTED_DOUBLINGS;
    tried.capacity += tried.capacity / 15 + 1;
    if (tried.capacity < FIRST_KEYS) tried.capacity = FIRST_KEYS;
    while (tried.capacity << doublings < COUNTED_KEYS) doublings++;
    if (spec->grow_to != 0) {
        tried.grow_to = spec->grow_to > tried.capacity ? spec->grow_to : tried.capacity;
        if (is_possible(&tried)) *spec = tried;
        return;
    }
    for (; doublings != 0; doublings--) {
        tried.grow_to = tried.capacity << doublings;
        if (tried.grow_to > SET_MAX_KEYS || !is_possible(&tried)) continue;
        *spec = tried;
        return;
    }
}

/* ------------------------------------------------------------------ the end of a step */

/* A step begins when 15/16 of the room are taken, but threads do not count together after each key,
 * and may notice later. So look again: resizing to less than the set holds is refused. */
void growth_settle(tamis_set *set) {
    tamis_facts facts;
    if (tamis_get_facts(set, &facts) != TAMIS_OK || facts.stage == facts.stages) return;
    uint64_t const before_step = facts.capacity - facts.capacity / 16 - 1;
    tamis_status   status = TAMIS_ERR_FULL;
    if (!facts.is_growing) status = tamis_resize(set, before_step, NULL);
    if (status == TAMIS_ERR_FULL) status = tamis_resize(set, 2 * facts.capacity, NULL);
    (void)status;
}

/* ------------------------------------------------------------------ what it costs */

#define SLACK (1 + 1e-6) /* the rate does not double to the last digit */

/* The rate doubles with each stage: twice the keys among the same fingerprints. */
double growth_last_rate(const tamis_plan *plan, unsigned stage, unsigned stages) {
    return fmin(ldexp(plan->fpr, (int)(stages - stage)), 0.5);
}

static double bits_more(const tamis_plan *plan, const tamis_plan *fixed) {
    return fixed->status == TAMIS_OK ? fmax(plan->bits_per_key - fixed->bits_per_key, 0) : 0;
}

/* A set that can remove counts a little without counters, too. It must not be compared with one
 * that has them. */
static bool has_counters(const tamis_plan *plan) {
    for (unsigned i = 0; i < plan->n_fields; i++) {
        if (strcmp(plan->fields[i].name, "counter_bits") == 0) return plan->fields[i].value != 0;
    }
    return false;
}

double growth_cost(const tamis_plan *plan, double last_rate) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_plan fixed;
    size_t     n;
    spec.capacity = plan->capacity;
    spec.lifetime = plan->lifetime;
    spec.copies = plan->copies;
    spec.abilities = plan->abilities & (TAMIS_CAN_REMOVE | TAMIS_CAN_MERGE);
    if (has_counters(plan)) spec.abilities |= plan->abilities & TAMIS_CAN_COUNT;
    if ((spec.abilities & TAMIS_CAN_COUNT) != 0) spec.count_to = plan->count_to;
    spec.fpr = fmin(last_rate * SLACK, 0.5);
    spec.kind = plan->kind;
    return tamis_plan_kinds(&spec, &fixed, 1, &n, NULL) == TAMIS_OK ? bits_more(plan, &fixed) : 0;
}

double growth_states_cost(const tamis_states_info *info, double last_rate) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_plan        fixed;
    size_t            n;
    spec.capacity = info->plan.capacity;
    spec.lifetime = info->plan.lifetime;
    spec.values = info->values;
    spec.timeout = info->timeout;
    spec.timer_bits = info->timer_bits;
    spec.fpr = fmin(last_rate * SLACK, 0.5);
    spec.kind = info->plan.kind;
    bool const is_planned = tamis_states_plan_kinds(&spec, &fixed, 1, &n, NULL) == TAMIS_OK;
    return is_planned ? bits_more(&info->plan, &fixed) : 0;
}
