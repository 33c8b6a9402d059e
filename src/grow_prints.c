/* grow_prints.c - loops over the prints of a set, which in a step of growing are in two tables.
 *
 * Tables of other stages have the same prints (grow.c). So sets at different stages can be merged
 * print by print, and the tables of a step can be checked by the range of their prints.
 */
#include "grow.h"
#include "part.h"

/* ------------------------------------------------------------------ all prints */

bool tamis_each_print(const tamis_set *set, kind_visit *visit, void *context) {
    const tamis_table *tables[2];
    unsigned const     n = grow_tables(set, tables);
    bool               goes_on = true;
    for (unsigned i = 0; i < n && goes_on; i++)
        goes_on = set->kind->each(tables[i], visit, context);
    return goes_on;
}

/* ------------------------------------------------------------------ joining two sets */

/* The set that prints are added to. */
typedef struct joining {
    tamis_set   *into;
    uint64_t     prints;
    tamis_status status;
} joining;

static bool join_print(void *context, uint64_t print, uint64_t copies) {
    joining *const join = context;
    uint64_t const hash = fastrange_inverse(print, join->prints);
    join->status =
        tamis_table_add_copies(part_inner_calls(join->into), &join->into->table, hash, copies);
    return join->status == TAMIS_OK;
}

tamis_status tamis_merge_prints(tamis_set *into, const tamis_set *from) {
    joining join = { into, into->kind->prints(into->table.geometry), TAMIS_OK };
    (void)tamis_each_print(from, join_print, &join);
    return join.status;
}

/* ------------------------------------------------------------------ checking */

/* The prints that a table may have in a step. */
typedef struct print_range {
    uint64_t first, end;
} print_range;

static bool is_in_range(void *context, uint64_t print, uint64_t copies) {
    const print_range *const range = context;
    (void)copies;
    return print >= range->first && print < range->end;
}

bool tamis_grow_is_whole(const tamis_set *set, const char **reterr_why) {
    if (!grow_is_moving(set)) return true;
    uint64_t const prints = set->kind->prints(set->table.geometry);
    uint64_t const middle = prints / set->table.geometry[0] * set->growth->moved;
    print_range    below = { 0, middle }, above = { middle, prints };
    TAMIS_REQUIRE(set->kind->each(&set->growth->next, is_in_range, &below) &&
                      set->kind->each(&set->table, is_in_range, &above),
                  reterr_why, "a key is in the wrong table of a set that grows");
    return true;
}
