/* states_door.h - what the files with the public functions of states share.
 *
 *     states.c          one key: put, get, move, set, touch, drop
 *     states_batch.c    many keys: the same, and the steps of a state machine
 *     states_table.c    whole tables: time, tally, merge, facts
 *     states_handle.c   making, copying and freeing tables, and their files
 */
#ifndef TAMIS_STATES_DOOR_H
#define TAMIS_STATES_DOOR_H

#include "handle.h"

/* May the table be changed? TAMIS_OK, _ARGUMENT, _READ_ONLY or _REENTRY. */
TAMIS_INLINE tamis_status states_check(const tamis_states *states) {
    return states != NULL ? handle_change_status(&states->set) : TAMIS_ERR_ARGUMENT;
}

TAMIS_INLINE bool states_is_value(const tamis_states *states, uint64_t value) {
    return value < states->set.table.values;
}

/* A value that a key may be expected to have. */
TAMIS_INLINE bool states_is_expected(const tamis_states *states, uint64_t value) {
    return value == TAMIS_ANY_VALUE || states_is_value(states, value);
}

/* Count the refusals that tamis_states_info reports, and pass the status on. */
TAMIS_INLINE tamis_status states_note(tamis_states *states, tamis_status status) {
    handle_note(&states->set, status == TAMIS_ERR_FULL, 0, status == TAMIS_ERR_CONFLICT);
    return status;
}

/* The operations of the table's kind. */
TAMIS_INLINE const kind_states *states_kind(const tamis_states *states) {
    return states->set.states;
}

#endif
