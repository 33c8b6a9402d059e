/* refresh.c - restore longer fingerprints from a copy that has them.
 *
 * Paper: Bonomi et al., Allerton 2006, section III.B: "an additional (off-chip) structure that held
 * larger versions of the remainders, which could be used to refresh short remainders periodically".
 *
 * A new table is made from the contents of the other set, and replaces the old one. Before that,
 * both sets must have the same fingerprints with the same number of copies; if a fingerprint is
 * saturated in either set, its copies are not compared.
 */
#include "part.h"
#include "print_list.h"

static bool is_alike(const tamis_set *a, const tamis_set *b) {
    return strcmp(a->kind->name, b->kind->name) == 0 && keyhash_is_same(&a->hasher, &b->hasher) &&
           part_is_same(part_of_set(a), part_of_set(b)) &&
           a->kind->prints(a->table.geometry) == b->kind->prints(b->table.geometry);
}

static bool lists_agree(const print_list *a, const print_list *b) {
    if (a->n != b->n) return false;
    for (uint64_t i = 0; i < a->n; i++) {
        print_copies const x = a->entries[i], y = b->entries[i];
        bool const         is_many = x.copies == TAMIS_COUNT_MANY || y.copies == TAMIS_COUNT_MANY;
        if (x.print != y.print || (!is_many && x.copies != y.copies)) return false;
    }
    return true;
}

/* TAMIS_OK if both have the same fingerprints; _MISMATCH, _MEMORY. Kinds that can be refreshed have
 * their prints in any order, so both lists are made in memory. */
static tamis_status compare_sets(const tamis_set *set, const tamis_set *fuller) {
    print_list   a = { .entries = NULL }, b = { .entries = NULL };
    tamis_status status = tamis_print_list_make(set, &a);
    if (status == TAMIS_OK) status = tamis_print_list_make(fuller, &b);
    if (status == TAMIS_OK && !lists_agree(&a, &b)) status = TAMIS_ERR_MISMATCH;
    tamis_print_list_free(&a);
    tamis_print_list_free(&b);
    return status;
}

tamis_status tamis_refresh(tamis_set *set, const tamis_set *fuller) {
    if (set == NULL || fuller == NULL || set == fuller) return TAMIS_ERR_ARGUMENT;
    tamis_status const checked = handle_change_status(set);
    if (checked != TAMIS_OK) return checked;
    if (!set->kind->refreshes) return TAMIS_ERR_CANNOT;
    if (!is_alike(set, fuller)) return TAMIS_ERR_MISMATCH;
    tamis_set   *fresh = NULL;
    tamis_status status = compare_sets(set, fuller);
    if (status == TAMIS_OK) status = tamis_copy(set, &fresh);
    if (status != TAMIS_OK) return status;
    (void)!tamis_clear(fresh);
    status = set->kind->merge(&fresh->table, &fuller->table);
    if (status == TAMIS_OK) {
        memcpy(set->table.body, fresh->table.body, (size_t)set->table.body_bytes);
        set->table.keys = fresh->table.keys;
        set->table.saturated = fresh->table.saturated;
    }
    tamis_free(fresh);
    return status;
}
