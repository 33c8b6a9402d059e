/* inspect.c - facts, surveys and validation of a set.
 *
 *     tamis_get_facts()    what the handle knows: costs nothing
 *     tamis_inspect()      the same, what the analysis predicts, and a survey of the whole body
 *     tamis_validate()     checks every invariant of the whole body
 *
 * A shared set is held meanwhile: changes wait, so that all numbers are of one moment.
 */
#include "core/memory.h"
#include "core/vacancy.h"
#include "grow.h"
#include "part.h"
#include "share.h"
#include "theory/print_law.h"

#include <math.h>
#include <string.h>

tamis_table tamis_sum_tables(const tamis_set *set) {
    const tamis_table *tables[2];
    tamis_table        sum = { .body = NULL };
    for (unsigned n = grow_tables(set, tables); n-- != 0;) {
        sum.body_bytes += tables[n]->body_bytes;
        sum.keys += tables[n]->keys;
        sum.saturated += tables[n]->saturated;
        sum.moved += tables[n]->moved;
        sum.aged += tables[n]->aged;
    }
    return sum;
}

/* In a step of growing, keys are in two tables. Their prints differ, so the rates add up. The load
 * is that of the new table when all has moved: it has twice the room, of which the keys of the old
 * one will fill half of what they fill there. */
static void survey_tables(const tamis_set *set, kind_survey *ret_survey) {
    kind_survey next;
    set->kind->survey(&set->table, ret_survey);
    if (!grow_is_moving(set)) return;
    set->kind->survey(&set->growth->next, &next);
    ret_survey->fpr += next.fpr;
    ret_survey->prints += next.prints;
    ret_survey->load = ret_survey->load / 2 + next.load;
    ret_survey->distinct =
        tamis_prints_distinct(set->kind->prints(set->table.geometry), ret_survey->prints);
}

static void get_facts(const tamis_set *set, tamis_facts *ret_facts) {
    const tamis_table *const table = &set->table;
    bool const               is_mapped = set->mapping != NULL;
    tamis_table const        sum = tamis_sum_tables(set);
    *ret_facts = (tamis_facts){
        .kind = set->kind->name,
        .isa = set->kind->isa,
        .abilities = set->abilities,
        .hash = set->hasher.hash,
        .seed = set->hasher.seed,
        .is_mapped = is_mapped,
        .is_huge = !is_mapped && memory_is_huge(&set->allocator, (size_t)table->body_bytes),
        .capacity = set->capacity,
        .copies = set->copies,
        .lifetime = set->lifetime,
        .keys = sum.keys,
        .saturated = sum.saturated,
        .refused_adds = set->table.refused_adds,
        .refused_removes = set->table.refused_removes,
        .moved = sum.moved,
        .body_bytes = sum.body_bytes,
        .memory_bytes = sum.body_bytes + sizeof *set,
        .part = part_of_set(set).part,
        .parts = part_of_set(set).parts,
    };
    if (set->part != NULL) ret_facts->memory_bytes += sizeof *set->part;
    if (table->used_parts != NULL)
        ret_facts->memory_bytes += vacancy_words(table->sweep.units) * sizeof(uint64_t);
    if (set->shared != NULL) ret_facts->memory_bytes += tamis_share_bytes(set);
    if (set->growth != NULL) {
        ret_facts->memory_bytes += sizeof *set->growth;
        ret_facts->grow_to = grow_largest(set);
        ret_facts->stage = set->growth->stage;
        ret_facts->stages = set->growth->stages;
        ret_facts->is_growing = grow_is_moving(set);
    }
    if ((set->abilities & TAMIS_CAN_COUNT) != 0) {
        ret_facts->count_to = set->kind->count_to(table->geometry);
    }
}

tamis_status tamis_get_facts(const tamis_set *set, tamis_facts *ret_facts) {
    if (set == NULL || ret_facts == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_share_hold(set);
    get_facts(set, ret_facts);
    tamis_share_release(set);
    return TAMIS_OK;
}

tamis_status tamis_get_field(const tamis_set *set, const char *name, uint64_t *ret_value) {
    if (set == NULL || name == NULL || ret_value == NULL) return TAMIS_ERR_ARGUMENT;
    unsigned i = 0;
    while (set->kind->fields[i].name != NULL && strcmp(set->kind->fields[i].name, name) != 0) i++;
    if (set->kind->fields[i].name == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_share_hold(set);
    *ret_value = set->table.geometry[i];
    tamis_share_release(set);
    return TAMIS_OK;
}

tamis_status tamis_inspect(const tamis_set *set, tamis_info *ret_info) {
    if (set == NULL || ret_info == NULL) return TAMIS_ERR_ARGUMENT;
    const tamis_table *table = &set->table;
    kind_survey        survey = { 0 };
    tamis_info         info = { 0 };
    tamis_share_hold(set);
    tamis_workload const work = tamis_handle_workload(set);
    survey_tables(set, &survey);
    info.current_fpr = survey.fpr;
    /* Keys with equal hashes add to the rate, unless the rate of the fingerprints includes them. In
     * a part, the first bits of all hashes are equal. */
    if (set->kind->prints == NULL)
        info.current_fpr += (double)table->keys / ldexp(1, 64 - (int)part_bits(part_of_set(set)));
    info.distinct = survey.distinct;
    info.load = survey.load;
    info.prints = survey.prints;
    tamis_plan_describe(set->kind, table->geometry, &work, &info.plan);
    get_facts(set, &info.facts);
    tamis_share_release(set);
    *ret_info = info;
    return TAMIS_OK;
}

static bool tables_are_valid(const tamis_set *set, const char **reterr_why) {
    const tamis_table *tables[2];
    for (unsigned n = grow_tables(set, tables); n-- != 0;) {
        if (!set->kind->validate(tables[n], reterr_why)) return false;
    }
    return tamis_grow_is_whole(set, reterr_why);
}

bool tamis_validate(const tamis_set *set, const char **reterr_why) {
    const char *why = NULL;
    if (set != NULL) tamis_share_hold(set);
    bool const is_valid = set != NULL && tables_are_valid(set, &why);
    if (set != NULL) tamis_share_release(set);
    if (!is_valid && reterr_why != NULL) *reterr_why = why != NULL ? why : "the set is NULL";
    return is_valid;
}
