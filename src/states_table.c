/* states_table.c - whole tables of states: time, merging, and facts about a table. */
#include "core/memory.h"
#include "grow.h"
#include "share.h"
#include "states_door.h"

/* ------------------------------------------------------------------ time */

/* A table that is large gets its bits of vacancy (core/vacancy.h) when time first passes. They make
 * the sweep faster, and nothing else: without memory for them it goes on. */
static void get_vacancy(tamis_set *set) {
    uint64_t const units = set->table.sweep.units;
    if (set->table.used_parts != NULL || set->states->is_vacant == NULL || units < VACANCY_LEAST)
        return;
    set->table.used_parts =
        memory_get(&set->allocator, (size_t)vacancy_words(units) * sizeof(uint64_t));
    vacancy_mark_all_used(set->table.used_parts, units);
}

/* The hand has passed all units of a bit, the last of them `last`: have they no keys? In a table
 * that is not nearly empty, the first one tells. */
static void note_vacancy(tamis_set *set, uint64_t last) {
    uint64_t unit = last - last % VACANCY_UNITS;
    while (unit <= last && set->states->is_vacant(&set->table, unit)) unit++;
    if (unit > last) vacancy_mark_empty(set->table.used_parts, last);
}

/* Visit units that are due, at most `most` of them. Units without keys are skipped by whole bits of
 * vacancy, each of which counts as one visit. */
static void sweep_units(tamis_set *set, uint64_t most, uint64_t *aged) {
    sweep *const hand = &set->table.sweep;
    for (; most != 0 && hand->done != hand->due; most--) {
        uint64_t const *const used_parts = set->table.used_parts;
        uint64_t const        unit = hand->done, limit = min_u64(hand->units, hand->due);
        uint64_t const next = used_parts != NULL ? vacancy_skip(used_parts, unit, limit) : unit;
        if (next != unit) {
            sweep_skip(hand, next - unit);
            continue;
        }
        set->states->sweep(&set->table, unit, aged);
        sweep_step(hand);
        bool const is_last = (unit + 1) % VACANCY_UNITS == 0 || unit + 1 == hand->units;
        if (used_parts != NULL && is_last) note_vacancy(set, unit);
    }
}

tamis_status tamis_states_tick(tamis_states *states, uint64_t ticks, uint64_t *aged,
                               uint64_t *ret_backlog) {
    tamis_status const checked = states_check(states);
    if (checked != TAMIS_OK) return checked;
    if (states->set.shared != NULL) return tamis_share_tick(&states->set, ticks, aged, ret_backlog);
    sweep *const hand = &states->set.table.sweep;
    if (hand->timeout == 0) return TAMIS_ERR_CANNOT;
    sweep_advance(hand, ticks);
    tamis_grow_follow_sweep(&states->set);
    get_vacancy(&states->set);
    sweep_units(&states->set, sweep_units_of_a_call(hand), aged);
    tamis_grow_follow_sweep(&states->set);
    if (ret_backlog != NULL) *ret_backlog = hand->due - hand->done;
    return TAMIS_OK;
}

/* A timer starts at `passes`, and its key goes at the pass after that: later than passes / most of
 * a timeout, and not later than (passes + 1) / most. */
tamis_status tamis_states_timeout(const tamis_states_spec *spec, uint64_t value,
                                  uint64_t *ret_least, uint64_t *ret_most,
                                  tamis_problem *reterr_problem) {
    tamis_request      request;
    tamis_status const status = tamis_request_states(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    const tamis_set *const like = request.like;
    sweep const            hand = like != NULL ? tamis_choice_to_follow(like).sweep : request.sweep;
    if (value >= (like != NULL ? like->table.values : request.need.values))
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "there is no such value");
    if (hand.timeout == 0)
        return tamis_problem_say(reterr_problem, TAMIS_ERR_CANNOT, "there is no timeout");
    uint64_t const passes = sweep_life(&hand, value), most = sweep_most(&hand);
    if (ret_least != NULL) *ret_least = passes * hand.timeout / most;
    if (ret_most != NULL) *ret_most = ((passes + 1) * hand.timeout + most - 1) / most;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ all keys */

tamis_status tamis_states_tally(const tamis_states *states, uint64_t *ret_counts) {
    if (states == NULL || ret_counts == NULL) return TAMIS_ERR_ARGUMENT;
    if (states_kind(states)->tally == NULL) return TAMIS_ERR_CANNOT;
    memset(ret_counts, 0, (size_t)states->set.table.values * sizeof ret_counts[0]);
    states_kind(states)->tally(&states->set.table, ret_counts);
    return TAMIS_OK;
}

/* Double the buckets of a set until it has this many, and end its step. A set of a fixed size is
 * taken as it is, or not at all. */
static tamis_status bring_to(tamis_set *set, uint64_t buckets) {
    int doublings = 0;
    while (set->table.geometry[0] << doublings < buckets) doublings++;
    if (set->table.geometry[0] << doublings != buckets) return TAMIS_ERR_MISMATCH;
    if (doublings == 0 && !grow_is_moving(set)) return TAMIS_OK;
    return set->growth != NULL ? tamis_grow_rebuild(set, doublings) : TAMIS_ERR_MISMATCH;
}

/* Merge a copy of one into a copy of the other, both with this many buckets. *ret_merged is it. */
static tamis_status merge_at(const tamis_set *into, const tamis_set *from, uint64_t buckets,
                             tamis_set **ret_merged) {
    tamis_set   *copy = NULL, *other = NULL;
    tamis_status status = tamis_copy_unshared(into, &copy);
    if (status == TAMIS_OK) status = tamis_copy_unshared(from, &other);
    if (status == TAMIS_OK) status = bring_to(copy, buckets);
    if (status == TAMIS_OK) status = bring_to(other, buckets);
    if (status == TAMIS_OK) status = into->kind->states->merge(&copy->table, &other->table);
    tamis_free(other);
    if (status == TAMIS_OK)
        *ret_merged = copy;
    else
        tamis_free(copy);
    return status;
}

/* The first stage that both can have, and that has room for all. A set of another stage has the
 * same prints, and its keys the same timers (grow.c). */
static tamis_status merge_stages(tamis_set *into, const tamis_set *from) {
    tamis_set   *merged;
    uint64_t     buckets = max_u64(into->table.geometry[0], from->table.geometry[0]);
    tamis_status status = merge_at(into, from, buckets, &merged);
    bool const   is_larger = status == TAMIS_ERR_FULL; /* than what both have now */
    while (status == TAMIS_ERR_FULL) {
        buckets *= 2;
        status = merge_at(into, from, buckets, &merged);
    }
    if (status == TAMIS_ERR_LIMIT) status = TAMIS_ERR_MISMATCH; /* one cannot be so large */
    if (status == TAMIS_ERR_MISMATCH && is_larger) status = TAMIS_ERR_FULL;
    if (status != TAMIS_OK) return status;
    handle_swap(into, merged);
    tamis_free(merged);
    return TAMIS_OK;
}

/* Tables that are alike are merged in place, by the kind. If there is no room, or one of them is at
 * another stage or in a step, copies of both are brought to a stage where there is. */
static tamis_status merge_states(tamis_set *into, const tamis_set *from) {
    const kind_states *const kind = into->kind->states;
    bool const               is_alike = tamis_is_alike(into, from);
    if (!is_alike && !tamis_has_same_prints(into, from)) return TAMIS_ERR_MISMATCH;
    if (kind->merge == NULL) return TAMIS_ERR_CANNOT;
    if (!is_alike || grow_is_moving(into) || grow_is_moving(from)) return merge_stages(into, from);
    tamis_status const status = tamis_merge_or_restore(into, from, kind->merge);
    return status == TAMIS_ERR_FULL && into->growth != NULL ? merge_stages(into, from) : status;
}

tamis_status tamis_states_merge(tamis_states *into, const tamis_states *from) {
    if (from == NULL || into == from) return TAMIS_ERR_ARGUMENT;
    tamis_status const checked = states_check(into);
    if (checked != TAMIS_OK) return checked;
    return tamis_change_by(&into->set, &from->set, merge_states);
}

tamis_status tamis_states_get_facts(const tamis_states *states, tamis_states_facts *ret_facts) {
    tamis_facts as_set;
    if (states == NULL || ret_facts == NULL) return TAMIS_ERR_ARGUMENT;
    const tamis_table *const table = &states->set.table;
    const kind_states *const kind = states_kind(states);
    tamis_share_hold(&states->set);
    (void)!tamis_get_facts(&states->set, &as_set); /* the arguments are right */
    /* How many keys there are; an estimate where keys share cells and age. */
    uint64_t const keys = kind->keys != NULL ? kind->keys(table) : table->keys;
    *ret_facts = (tamis_states_facts){ .kind = as_set.kind,
                                       .isa = as_set.isa,
                                       .hash = as_set.hash,
                                       .seed = as_set.seed,
                                       .is_mapped = as_set.is_mapped,
                                       .is_huge = as_set.is_huge,
                                       .capacity = as_set.capacity,
                                       .lifetime = as_set.lifetime,
                                       .values = table->values,
                                       .timeout = table->sweep.timeout,
                                       .timer_bits = (unsigned)table->sweep.timer_bits,
                                       .keys = keys,
                                       .saturated = as_set.saturated,
                                       .moved = as_set.moved,
                                       .aged = tamis_sum_tables(&states->set).aged,
                                       .backlog = table->sweep.due - table->sweep.done,
                                       .refused = as_set.refused_adds,
                                       .conflicts = states->set.conflicts,
                                       .body_bytes = as_set.body_bytes,
                                       .memory_bytes = as_set.memory_bytes,
                                       .grow_to = as_set.grow_to,
                                       .stage = as_set.stage,
                                       .stages = as_set.stages,
                                       .is_growing = as_set.is_growing };
    tamis_share_release(&states->set);
    return TAMIS_OK;
}

tamis_status tamis_states_inspect(const tamis_states *states, tamis_states_info *ret_info) {
    tamis_info         as_set;
    tamis_states_facts facts;
    kind_census        census = { 0, 0, 0 };
    if (ret_info == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status status = tamis_states_get_facts(states, &facts);
    if (status == TAMIS_OK) status = tamis_inspect(&states->set, &as_set);
    if (status != TAMIS_OK) return status;
    if (states_kind(states)->census != NULL)
        states_kind(states)->census(&states->set.table, &census);
    *ret_info = (tamis_states_info){ .plan = as_set.plan,
                                     .isa = facts.isa,
                                     .hash = facts.hash,
                                     .seed = facts.seed,
                                     .is_mapped = facts.is_mapped,
                                     .is_huge = facts.is_huge,
                                     .values = facts.values,
                                     .timeout = facts.timeout,
                                     .timer_bits = facts.timer_bits,
                                     .keys = facts.keys,
                                     .current_fpr = as_set.current_fpr,
                                     .unknown_cells = census.unknown_cells,
                                     .side_keys = census.side_keys,
                                     .side_room = census.side_room,
                                     .saturated = facts.saturated,
                                     .moved = facts.moved,
                                     .aged = facts.aged,
                                     .backlog = facts.backlog,
                                     .refused = facts.refused,
                                     .conflicts = facts.conflicts,
                                     .memory_bytes = facts.memory_bytes };
    return TAMIS_OK;
}
