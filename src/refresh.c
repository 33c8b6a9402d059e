/* refresh.c - longer fingerprints again, from a copy that has them.
 *
 * Paper: Bonomi et al., Allerton 2006, section III.B: "an additional (off-chip) structure that held
 * larger versions of the remainders, which could be used to refresh short remainders periodically".
 *
 * The set is made anew from what the other one holds, and takes its place. Before that, both must
 * hold the same fingerprints as often; one that is saturated in either is not counted.
 */
#include "print_list.h"

static bool is_alike(const tamis_set *a, const tamis_set *b) {
    return strcmp(a->kind->name, b->kind->name) == 0 && a->hasher.hash == b->hasher.hash &&
           a->hasher.seed.low == b->hasher.seed.low && a->hasher.seed.high == b->hasher.seed.high &&
           a->kind->prints(a->table.geometry) == b->kind->prints(b->table.geometry);
}

/* The next print of a list, with all its copies. */
static bool next_print(const prints_list *of, uint64_t *i, print_copies *ret_next) {
    if (*i == of->n) return false;
    *ret_next = of->list[(*i)++];
    for (; *i < of->n && of->list[*i].print == ret_next->print; ++*i) {
        uint64_t const more = of->list[*i].copies;
        bool const     is_many = more == TAMIS_COUNT_MANY || ret_next->copies == TAMIS_COUNT_MANY;
        ret_next->copies = is_many ? TAMIS_COUNT_MANY : ret_next->copies + more;
    }
    return true;
}

static bool lists_agree(const prints_list *a, const prints_list *b) {
    uint64_t     i = 0, k = 0;
    print_copies left, right;
    while (next_print(a, &i, &left)) {
        if (!next_print(b, &k, &right) || left.print != right.print) return false;
        bool const is_many = left.copies == TAMIS_COUNT_MANY || right.copies == TAMIS_COUNT_MANY;
        if (!is_many && left.copies != right.copies) return false;
    }
    return k == b->n;
}

/* TAMIS_OK if both hold the same fingerprints; _MISMATCH, _MEMORY. */
static tamis_status compare(const tamis_set *set, const tamis_set *fuller) {
    prints_list  a = { .list = NULL }, b = { .list = NULL };
    tamis_status status = tamis_prints_list(set, &a);
    if (status == TAMIS_OK) status = tamis_prints_list(fuller, &b);
    if (status == TAMIS_OK && !lists_agree(&a, &b)) status = TAMIS_ERR_MISMATCH;
    tamis_prints_free(&a);
    tamis_prints_free(&b);
    return status;
}

tamis_status tamis_refresh(tamis_set *set, const tamis_set *fuller) {
    if (set == NULL || fuller == NULL || set == fuller) return TAMIS_ERR_ARGUMENT;
    if (set->mapping != NULL) return TAMIS_ERR_READ_ONLY;
    if (!set->kind->refreshes) return TAMIS_ERR_CANNOT;
    if (!is_alike(set, fuller)) return TAMIS_ERR_MISMATCH;
    tamis_set   *fresh = NULL;
    tamis_status status = compare(set, fuller);
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
