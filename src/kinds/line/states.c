/* states.c - the states that `line` keeps with its keys.
 *
 * line.c explains the table; state_cells.h says what put, get, move, touch and drop mean, and has
 * the functions that do it. Here is what they are made of. The cell of a key is its entry, which is
 * one for each fingerprint; its field is the value in the rest of the entry (lines.h).
 *
 *     a rest      | remainder | timer, value | counter |        state_cells.h packs the field
 *                  high bits   '-- field ---'  low bits
 *
 * The field is below the remainder, so the order of entries does not depend on it, and a value
 * changes in place: a move writes a few bits, and no entry moves. A unit of the sweep is a bucket:
 * its line, its part of the shelf and its words in the attic age together.
 */
#include "line.h"
#include "near.h"
#include "size.h"

static_assert(LINES_MAX_ENTRIES <= STATE_LIST_MAX, "a bucket can be listed");

/* ------------------------------------------------------------------ finding a key */

/* Find the rest of a key whose chain is in its line, among the slots that have its byte. In states
 * a fingerprint has one entry, so the first that has the remainder is the one. */
TAMIS_INLINE bool line_rest_here(lines_view lines, const lines_place *place, uint64_t slots,
                                 uint64_t *ret_bit) {
    for (; slots != 0; slots &= slots - 1) {
        uint64_t const bit = lines_rest_at(lines, place->bucket, bits_lowest(slots));
        uint64_t const rest = rest_get(lines.body, bit, (unsigned)lines.shape->rest_bits);
        *ret_bit = bit;
        if (rest_remainder(lines.shape, rest) == place->remainder) return true;
    }
    return false;
}

/* Most keys are in their lines, where this takes a third of the time of lines_look(). */
static tamis_status line_find_state(const tamis_table *table, uint64_t hash, state_cell *ret_cell) {
    lines_view const  lines = line_view(table);
    lines_place const place = lines_find(lines, hash);
    bool              is_far, is_found;
    uint64_t          bit = 0;
    uint64_t const    slots = lines_slots_here(lines, &place, &is_far);
    if (__builtin_expect(!is_far, 1)) {
        is_found = line_rest_here(lines, &place, slots, &bit);
    } else {
        lines_found const found = lines_look(lines, &place);
        is_found = found.copies != 0;
        if (is_found) bit = lines_found_rest(lines, &place, &found);
    }
    if (!is_found) return TAMIS_ERR_ABSENT;
    /* The counter is the lowest part of a rest; the field of value and timer follows. */
    *ret_cell = (state_cell){ bit + lines.shape->counter_bits, place.bucket };
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ adding and removing entries */

/* Add an entry whose line has no free slot. near_push_new() does what most of these need, and
 * changes nothing if it does not apply. */
static __attribute__((noinline)) bool line_insert_far(lines_view lines, const lines_place *place,
                                                      uint64_t rest) {
    return near_push_new(lines, place, rest) || lines_far_insert(lines, place, rest);
}

/* A new entry for a key that is absent: the caller has looked. */
static tamis_status line_insert_field(tamis_table *table, uint64_t hash, uint64_t field) {
    lines_view const     lines = line_view(table);
    lines_place const    place = lines_find(lines, hash);
    const uint8_t *const line = lines_at(lines, place.bucket);
    uint64_t const       rest = rest_new(lines.shape, place.remainder, field);
    runs const           index = runs_load(line);
    run const            mine = runs_find(index, place.chain);
    if (__builtin_expect(run_is_here(mine) && !runs_are_full(index), 1))
        lines_insert(lines, &place, mine, index, rest);
    else if (!line_insert_far(lines, &place, rest))
        return TAMIS_ERR_FULL;
    table->keys++;
    return TAMIS_OK;
}

/* Remove the entry of a key, with all copies that it counts. */
static void line_erase_state(tamis_table *table, uint64_t hash) {
    lines_view const  lines = line_view(table);
    lines_place const place = lines_find(lines, hash);
    lines_found const found = lines_look(lines, &place);
    uint64_t const    most = line_shape_of(table)->most;
    if (found.copies == 0) return; /* never so in a table that was checked */
    lines_take(lines, &place, &found);
    table->keys -= found.copies;
    table->saturated -= most > 1 && found.copies >= most;
}

/* All states of a bucket, for the sweep and for tallies. */
static void line_list_states(const tamis_table *table, uint64_t bucket, bool has_prints,
                             state_list *ret_list) {
    lines_view const lines = line_view(table);
    lines_list       list;
    (void)has_prints; /* they cost nothing */
    lines_gather(lines, bucket, &list);
    ret_list->n = list.n;
    for (unsigned i = 0; i < list.n; i++) {
        ret_list->bit[i] = list.at[i] + lines.shape->counter_bits;
        ret_list->print[i] = lines_list_print(lines.shape, bucket, &list, i);
    }
}

STATE_UNITS_DEFINE(line, LINE)

/* ------------------------------------------------------------------ batches */

/* The lines of these keys have arrived in the cache: prefetch the rest of a slot that matches, or
 * the shelf. A key that is in neither may be put: then all rests of its bucket may move. */
static void line_fetch_values(const tamis_table *table, const uint64_t *hash, unsigned n,
                              bool is_new) {
    lines_view const lines = line_view(table);
    shelf_view const shelves = lines_shelves(lines);
    for (unsigned i = 0; i < n; i++) {
        bool              is_far;
        lines_place const place = lines_find(lines, hash[i]);
        uint64_t const    slots = lines_slots_here(lines, &place, &is_far);
        if (slots != 0)
            lines_fetch_rest(lines, &place, bits_lowest(slots));
        else if (is_new && !is_far)
            lines_fetch_rests(lines, place.bucket);
        if (is_far) prefetch_to_read(shelf_line(&shelves, place.bucket));
    }
}

/* The value of a key whose chain is in its line, given the slots that have its byte. */
TAMIS_INLINE tamis_status line_get_here(const tamis_table *table, const lines_place *place,
                                        uint64_t slots, uint32_t *ret_value) {
    lines_view const lines = line_view(table);
    unsigned const   bits = line_state_bits(table);
    uint64_t         bit;
    if (!line_rest_here(lines, place, slots, &bit)) return TAMIS_ERR_ABSENT;
    uint64_t const field = field_get(lines.body, bit + lines.shape->counter_bits, bits);
    *ret_value = (uint32_t)state_value(table, bits, field);
    return TAMIS_OK;
}

/* As line_has_chunk(): prefetch what is needed beside the lines, and read it in a second pass. */
static void line_get_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                           uint32_t *ret_values, tamis_status *ret_statuses) {
    lines_view const lines = line_view(table);
    shelf_view const shelves = lines_shelves(lines);
    lines_place      place[TAMIS_CHUNK];
    uint64_t         slots[TAMIS_CHUNK], far = 0;
    for (unsigned i = 0; i < n; i++) {
        bool is_far;
        place[i] = lines_find(lines, hash[i]);
        slots[i] = lines_slots_here(lines, &place[i], &is_far);
        if (slots[i] != 0) lines_fetch_rest(lines, &place[i], bits_lowest(slots[i]));
        if (__builtin_expect(!is_far, 1)) continue;
        prefetch_to_read(shelf_line(&shelves, place[i].bucket));
        far |= UINT64_C(1) << i;
    }
    for (unsigned i = 0; i < n; i++) {
        ret_statuses[i] = far >> i & 1 ? line_get(table, hash[i], &ret_values[i])
                                       : line_get_here(table, &place[i], slots[i], &ret_values[i]);
    }
}

const kind_states KIND_STATES(line) = {
    STATE_UNITS_MEMBERS(line),
    .get_chunk = line_get_chunk,
    .fetch_values = line_fetch_values,
};
