/* make.h - sets and states made as a user makes them, and the calls that every test repeats.
 *
 * A test that gets something else than it expects fails at once, in the library's own words. Only
 * the public API is needed.
 */
#ifndef TAMIS_TESTS_MAKE_H
#define TAMIS_TESTS_MAKE_H

#include "unit.h"

#include <tamis/tamis.h>

/* Both halves differ for every n, and those of near numbers have nothing in common. */
static inline tamis_seed make_seed(uint64_t n) {
    return (tamis_seed){ dice_mix(n), dice_mix(~n) };
}

static inline tamis_set *make_set_from(const tamis_spec *spec) {
    tamis_problem problem = { 0 };
    tamis_set    *set = NULL;
    if (tamis_create(spec, &set, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    return set;
}

/* NULL: its hash function is not in this build. */
static inline tamis_set *make_set_if_built(const tamis_spec *spec) {
    tamis_problem      problem = { 0 };
    tamis_set         *set = NULL;
    tamis_status const status = tamis_create(spec, &set, &problem);
    if (status != TAMIS_OK && status != TAMIS_ERR_NOT_BUILT) fail_msg("%s", problem.text);
    return set;
}

static inline tamis_states *make_states_from(const tamis_states_spec *spec) {
    tamis_problem problem = { 0 };
    tamis_states *states = NULL;
    if (tamis_states_create(spec, &states, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    return states;
}

static inline tamis_info inspect(const tamis_set *set) {
    tamis_info info;
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    return info;
}

static inline uint64_t plan_field(const tamis_plan *plan, const char *name) {
    for (unsigned i = 0; i < plan->n_fields; i++) {
        if (strcmp(plan->fields[i].name, name) == 0) return plan->fields[i].value;
    }
    fail_msg("no field %s", name);
    return 0;
}

static inline void expect_valid(const tamis_set *set) {
    const char *why = NULL;
    if (!tamis_validate(set, &why)) fail_msg("%s", why);
}

static inline void expect_valid_states(const tamis_states *states) {
    const char *why = NULL;
    if (!tamis_states_validate(states, &why)) fail_msg("%s", why);
}

/* ------------------------------------------------------------------ ids */

/* The n ids from `first` on: all are added. */
static inline void add_ids(tamis_set *set, uint64_t first, uint64_t n) {
    for (uint64_t id = first; id < first + n; id++) {
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    }
}

static inline void add_copies(tamis_set *set, uint64_t id, uint64_t copies) {
    for (uint64_t i = 0; i < copies; i++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
}

static inline void remove_ids(tamis_set *set, uint64_t first, uint64_t n) {
    for (uint64_t id = first; id < first + n; id++) {
        assert_int_equal(tamis_remove_id(set, id), TAMIS_OK);
    }
}

static inline void expect_ids(const tamis_set *set, uint64_t first, uint64_t n) {
    for (uint64_t id = first; id < first + n; id++) assert_true(tamis_has_id(set, id));
}

static inline uint64_t count_ids(const tamis_set *set, uint64_t first, uint64_t n) {
    uint64_t found = 0;
    for (uint64_t id = first; id < first + n; id++) found += tamis_has_id(set, id);
    return found;
}

static inline uint64_t copies_of(const tamis_set *set, uint64_t id) {
    uint64_t count = 0;
    assert_int_equal(tamis_count_id(set, id, &count), TAMIS_OK);
    return count;
}

/* The first id from `id` on that belongs to this set, which may be a part of a larger one. */
static inline uint64_t next_own_id(const tamis_set *set, uint64_t id) {
    tamis_facts facts;
    assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
    while (facts.parts != 0 &&
           tamis_part_of_hash(tamis_hash_id(set, id), facts.parts) != facts.part)
        id++;
    return id;
}

/* The first n of these. */
static inline void add_own_ids(tamis_set *set, uint64_t n) {
    for (uint64_t id = 0; n != 0; id++, n--) {
        id = next_own_id(set, id);
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    }
}

/* Fills a set to its capacity, then replaces the oldest id by a new one until `adds` were added. */
static inline void replace_ids(tamis_set *set, uint64_t capacity, uint64_t adds) {
    for (uint64_t id = 0; id < adds; id++) {
        if (id >= capacity) assert_int_equal(tamis_remove_id(set, id - capacity), TAMIS_OK);
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    }
}

static inline uint64_t count_keys_of_states(const tamis_states *states) {
    tamis_states_facts facts;
    assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
    return facts.keys;
}

#endif
