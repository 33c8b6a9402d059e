/* subtract.c - subtract one set from another: the reverse of a merge.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter":
 * counters that keys are added to can also be subtracted, table by table.
 *
 * Kinds whose merge adds counters subtract them, counter by counter. All counters are checked
 * first: if one of them cannot be subtracted, nothing is changed. Kinds that store fingerprints
 * remove one copy for each copy in the other set. Only at the end is it known whether all copies
 * were in the set, so this is done to a copy of the set. Kinds that store more about a key than its
 * print cannot subtract: with the print alone, the wrong one of two keys might be removed.
 */
#include "grow.h"
#include "part.h"

/* The set that prints are removed from. */
typedef struct taking {
    tamis_set *from;
    uint64_t   prints;
} taking;

/* Remove all copies of a print. Saturated prints stay; so a print that is saturated in the other
 * set must be saturated in this set, too. */
static bool take_print(void *context, uint64_t print, uint64_t copies) {
    const taking *const     out = context;
    const kind_calls *const calls = part_inner_calls(out->from);
    tamis_table *const      table = &out->from->table;
    uint64_t const          hash = fastrange_inverse(print, out->prints);
    if (copies == TAMIS_COUNT_MANY) return calls->count(table, hash) == TAMIS_COUNT_MANY;
    if (calls->remove_copies != NULL)
        return calls->remove_copies(table, hash, copies) != TAMIS_ERR_ABSENT;
    for (uint64_t i = 0; i < copies; i++) {
        if (calls->remove(table, hash) == TAMIS_ERR_ABSENT) return false;
    }
    return true;
}

static tamis_status subtract_prints(tamis_set *into, const tamis_set *from) {
    taking out = { into, into->kind->prints(into->table.geometry) };
    return tamis_each_print(from, take_print, &out) ? TAMIS_OK : TAMIS_ERR_ABSENT;
}

static tamis_status subtract_now(tamis_set *into, const tamis_set *from) {
    unsigned const needed = TAMIS_CAN_REMOVE | TAMIS_CAN_MERGE;
    if (!tamis_is_alike(into, from) && !tamis_has_same_prints(into, from))
        return TAMIS_ERR_MISMATCH;
    if ((into->abilities & needed) != needed) return TAMIS_ERR_CANNOT;
    if (into->kind->subtract != NULL) return into->kind->subtract(&into->table, &from->table);
    bool const is_by_print = into->kind->each != NULL && !into->kind->keeps_more_than_prints;
    return is_by_print ? tamis_change_all(into, from, subtract_prints) : TAMIS_ERR_CANNOT;
}

tamis_status tamis_subtract(tamis_set *into, const tamis_set *from) {
    if (into == NULL || from == NULL || into == from) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = handle_change_status(into);
    return status == TAMIS_OK ? tamis_change_by(into, from, subtract_now) : status;
}
