/* set_door.h - what the files with the public functions of sets share.
 *
 *     set.c          one key: add, has, remove, count
 *     set_batch.c    many keys: the same
 *     one_id.c       the three shortest calls, for one id
 */
#ifndef TAMIS_SET_DOOR_H
#define TAMIS_SET_DOOR_H

#include "handle.h"
#include "share.h"

/* May the set be changed, may keys be removed, can it count? TAMIS_OK, or why not. */
TAMIS_INLINE tamis_status set_check_change(const tamis_set *set) {
    if (set == NULL) return TAMIS_ERR_ARGUMENT;
    return handle_change_status(set);
}

TAMIS_INLINE tamis_status set_check_remove(const tamis_set *set) {
    tamis_status const status = set_check_change(set);
    if (status != TAMIS_OK) return status;
    return (set->abilities & TAMIS_CAN_REMOVE) != 0 ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

TAMIS_INLINE tamis_status set_check_count(const tamis_set *set, const uint64_t *ret_count) {
    if (set == NULL || ret_count == NULL) return TAMIS_ERR_ARGUMENT;
    return (set->abilities & TAMIS_CAN_COUNT) != 0 ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

/* Add a key unless it is there already. *ret_is_new: it was not. */
TAMIS_INLINE tamis_status set_add_if_new(tamis_set *set, uint64_t hash, bool *ret_is_new) {
    if (set->shared != NULL) {
        tamis_status const shared = tamis_share_add_new(set, hash, ret_is_new);
        handle_note(set, shared == TAMIS_ERR_FULL, 0, 0);
        return shared;
    }
    bool         is_new = set->calls->add_new == NULL && !set->calls->has(&set->table, hash);
    tamis_status status = TAMIS_OK;
    if (set->calls->add_new != NULL)
        status = set->calls->add_new(&set->table, hash, &is_new);
    else if (is_new)
        status = set->calls->add(&set->table, hash);
    handle_note(set, status == TAMIS_ERR_FULL, 0, 0);
    if (status == TAMIS_OK) *ret_is_new = is_new;
    return status;
}

#endif
