/* subtract.c - take all of one set out of another: the reverse of a merge.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter":
 * counters to which keys add are counters from which whole tables of them can be taken again.
 *
 * Kinds whose merge adds counters subtract them, counter by counter, after a look at all of them:
 * if one cannot have been part of the other, nothing is changed. Kinds that store fingerprints give
 * up one copy for each that the other holds; that is only known when it is done, so a copy is kept
 * meanwhile. A kind that stores more of a key than its print (add_print) cannot: by the print alone
 * it would take the wrong one of two.
 */
#include "handle.h"

/* The set that prints are taken out of. */
typedef struct taking {
    tamis_set *from;
    uint64_t   prints;
} taking;

/* One that is saturated is never taken out; so it must be saturated here, too. */
static bool take_print(void *context, uint64_t print, uint64_t copies) {
    taking *const           of = context;
    const tamis_kind *const kind = of->from->kind;
    tamis_table *const      table = &of->from->table;
    uint64_t const          hash = fastrange_inverse(print, of->prints);
    if (copies == TAMIS_COUNT_MANY) return kind->count(table, hash) == TAMIS_COUNT_MANY;
    for (uint64_t i = 0; i < copies; i++) {
        if (kind->remove(table, hash) != TAMIS_OK) return false;
    }
    return true;
}

static tamis_status subtract_prints(tamis_set *into, const tamis_set *from) {
    taking             of = { into, into->kind->prints(into->table.geometry) };
    tamis_set         *before;
    tamis_status const status = tamis_copy(into, &before);
    if (status != TAMIS_OK) return status;
    bool const is_taken = into->kind->each(&from->table, take_print, &of);
    if (!is_taken) tamis_table_copy(&into->table, &before->table);
    tamis_free(before);
    return is_taken ? TAMIS_OK : TAMIS_ERR_ABSENT;
}

tamis_status tamis_subtract(tamis_set *into, const tamis_set *from) {
    unsigned const needed = TAMIS_CAN_REMOVE | TAMIS_CAN_MERGE;
    if (into == NULL || from == NULL || into == from) return TAMIS_ERR_ARGUMENT;
    if (into->mapping != NULL) return TAMIS_ERR_READ_ONLY;
    if (!tamis_is_alike(into, from)) return TAMIS_ERR_MISMATCH;
    if ((into->abilities & needed) != needed) return TAMIS_ERR_CANNOT;
    if (into->kind->subtract != NULL) return into->kind->subtract(&into->table, &from->table);
    bool const is_by_print = into->kind->each != NULL && into->kind->add_print == NULL;
    return is_by_print ? subtract_prints(into, from) : TAMIS_ERR_CANNOT;
}
