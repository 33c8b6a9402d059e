/* states.c - the values that `line` keeps with its keys.
 *
 * What a line is, is said in line.c; what put, get, move, touch and drop mean, in state_cells.h. A
 * cell is an entry, and its field is the value in its rest. With one entry for a fingerprint, the
 * order of entries does not depend on values, which so can change in place. A unit of the sweep is
 * a bucket.
 */
#include "line.h"
#include "size.h"

/* ------------------------------------------------------------------ keys */

/* Where the rest of a key is that is in its line or nowhere, of the slots that have its byte. */
TAMIS_INLINE bool line_rest_here(lines of, const lines_place *place, uint64_t slots,
                                 uint64_t *ret_bit) {
    for (; slots != 0; slots &= slots - 1) {
        uint64_t const bit = lines_rest_at(of, place->bucket, bits_lowest(slots));
        uint64_t const rest = rest_get(of.body, bit, (unsigned)of.shape->rest_bits);
        *ret_bit = bit;
        if (rest_remainder(of.shape, rest) == place->remainder) return true;
    }
    return false;
}

/* The same, wherever it is. Most are in their lines, which takes a third of a search for all that
 * there is of a key. */
TAMIS_INLINE bool line_rest_of(lines of, const lines_place *place, uint64_t *ret_bit) {
    bool           is_far;
    uint64_t const slots = lines_slots_here(of, place, &is_far);
    if (__builtin_expect(!is_far, 1)) return line_rest_here(of, place, slots, ret_bit);
    lines_found const found = lines_look(of, place);
    if (found.copies != 0) *ret_bit = lines_found_rest(of, place, &found);
    return found.copies != 0;
}

static tamis_status line_find_state(const tamis_table *table, uint64_t hash, state_cell *ret_cell) {
    lines const       of = lines_of(table);
    lines_place const place = lines_find(of, hash);
    uint64_t          bit;
    if (!line_rest_of(of, &place, &bit)) return TAMIS_ERR_ABSENT;
    *ret_cell = (state_cell){ bit + of.shape->counter_bits, place.bucket };
    return TAMIS_OK;
}

static tamis_status line_new_state(tamis_table *table, const lines_place *place, uint64_t field) {
    lines const       of = lines_of(table);
    lines_found const found = lines_look(of, place);
    if (!lines_new_entry(of, place, &found, rest_new(of.shape, place->remainder, field)))
        return TAMIS_ERR_FULL;
    table->keys++;
    return TAMIS_OK;
}

static tamis_status line_insert_state(tamis_table *table, uint64_t hash, uint32_t value) {
    lines_place const place = lines_find(lines_of(table), hash);
    return line_new_state(table, &place,
                          state_fresh(table, line_value_bits(table), place.bucket, value));
}

/* All copies of the key are gone, and its value. */
static void line_erase_at(tamis_table *table, const lines_place *place) {
    lines const       of = lines_of(table);
    lines_found const found = lines_look(of, place);
    uint64_t const    most = shape_of(table)->most;
    lines_take(of, place, &found);
    table->keys -= found.copies;
    table->saturated -= most > 1 && found.copies >= most;
}

static void line_erase_state(tamis_table *table, uint64_t hash) {
    lines_place const place = lines_find(lines_of(table), hash);
    line_erase_at(table, &place);
}

/* The lines have come: ask for the rest of what matches in them, or for the shelf. A key that is
 * in neither may be put: then all rests of its bucket may move. */
static void line_fetch_values(const tamis_table *table, const uint64_t *hash, unsigned n,
                              bool is_new) {
    lines const   of = lines_of(table);
    shelves const all = lines_shelves(of);
    for (unsigned i = 0; i < n; i++) {
        bool              is_far;
        lines_place const place = lines_find(of, hash[i]);
        uint64_t const    slots = lines_slots_here(of, &place, &is_far);
        if (slots != 0)
            lines_fetch_rest(of, &place, bits_lowest(slots));
        else if (is_new && !is_far)
            lines_fetch_rests(of, place.bucket);
        if (is_far) prefetch_to_read(shelf_line(&all, place.bucket));
    }
}

static const state_cells line_cells = { line_find_state, line_insert_state, line_erase_state,
                                        NULL };

static tamis_status line_put(tamis_table *table, uint64_t hash, uint32_t value) {
    return state_cells_put(&line_cells, table, line_value_bits(table), hash, value);
}

static tamis_status line_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    return state_cells_get(&line_cells, table, line_value_bits(table), hash, ret_value);
}

/* The value of a key that is in its line or nowhere, of the slots that have its byte. */
TAMIS_INLINE tamis_status line_get_here(const tamis_table *table, const lines_place *place,
                                        uint64_t slots, uint32_t *ret_value) {
    lines const    of = lines_of(table);
    unsigned const bits = line_value_bits(table);
    uint64_t       bit;
    if (!line_rest_here(of, place, slots, &bit)) return TAMIS_ERR_ABSENT;
    uint64_t const field = field_get(of.body, bit + of.shape->counter_bits, bits);
    *ret_value = (uint32_t)state_value(table, bits, field);
    return TAMIS_OK;
}

/* As line_has_chunk: what else is needed is asked for at once and looked at in the end. */
static void line_get_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                           uint32_t *ret_values, tamis_status *ret_statuses) {
    lines const   of = lines_of(table);
    shelves const all = lines_shelves(of);
    lines_place   place[TAMIS_CHUNK];
    uint64_t      slots[TAMIS_CHUNK], far = 0;
    for (unsigned i = 0; i < n; i++) {
        bool is_far;
        place[i] = lines_find(of, hash[i]);
        slots[i] = lines_slots_here(of, &place[i], &is_far);
        if (slots[i] != 0) lines_fetch_rest(of, &place[i], bits_lowest(slots[i]));
        if (__builtin_expect(!is_far, 1)) continue;
        prefetch_to_read(shelf_line(&all, place[i].bucket));
        far |= UINT64_C(1) << i;
    }
    for (unsigned i = 0; i < n; i++) {
        ret_statuses[i] = far >> i & 1 ? line_get(table, hash[i], &ret_values[i])
                                       : line_get_here(table, &place[i], slots[i], &ret_values[i]);
    }
}

static tamis_status line_move(tamis_table *table, uint64_t hash, uint64_t from, uint32_t to) {
    return state_cells_move(&line_cells, table, line_value_bits(table), hash, from, to);
}

static tamis_status line_touch(tamis_table *table, uint64_t hash) {
    return state_cells_touch(&line_cells, table, line_value_bits(table), hash);
}

static tamis_status line_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    return state_cells_drop(&line_cells, table, line_value_bits(table), hash, from);
}

static tamis_status line_step(tamis_table *table, uint64_t hash, const kind_stepper *by,
                              tamis_status *ret_was, uint32_t *ret_value) {
    return state_cells_step(&line_cells, table, line_value_bits(table), hash, by, ret_was,
                            ret_value);
}

static uint64_t line_units(const uint64_t *geometry) {
    return geometry[LINE_BUCKETS];
}

static bool line_holds_values(const uint64_t *g, uint64_t values, unsigned timer_bits) {
    return g[LINE_COPIES] == 1 && g[LINE_COUNTER_BITS] == 0 &&
           g[LINE_VALUE_BITS] == tamis_prints_value_bits(values, timer_bits);
}

/* ------------------------------------------------------------------ whole buckets */

/* The hand passes a bucket: first all that stay, then those that go, which moves the others. */
static void line_sweep(tamis_table *table, uint64_t bucket, uint64_t *aged) {
    const line_shape *const s = shape_of(table);
    lines const             of = lines_of(table);
    unsigned const          bits = line_value_bits(table);
    lines_list              list;
    lines_gather(of, bucket, &list);
    for (unsigned i = 0; i < list.n; i++) {
        uint64_t const    field = lines_list_field(&s->lines, &list, i);
        lines_place const place = lines_list_place(&s->lines, bucket, &list, i);
        if (state_is_over(table, bits, field)) continue;
        lines_found const found = lines_look(of, &place);
        field_set(table->body, lines_found_rest(of, &place, &found) + s->lines.counter_bits, bits,
                  state_older(table, bits, field));
    }
    for (unsigned i = 0; i < list.n; i++) {
        uint64_t const field = lines_list_field(&s->lines, &list, i);
        if (!state_is_over(table, bits, field)) continue;
        lines_place const place = lines_list_place(&s->lines, bucket, &list, i);
        line_erase_at(table, &place);
        table->aged++;
        if (aged != NULL) aged[state_value(table, bits, field)]++;
    }
}

static void line_tally(const tamis_table *table, uint64_t *counts) {
    const line_shape *const s = shape_of(table);
    lines_list              list;
    for (uint64_t bucket = 0; bucket < s->lines.buckets; bucket++) {
        lines_gather(lines_of(table), bucket, &list);
        for (unsigned i = 0; i < list.n; i++) {
            uint64_t const field = lines_list_field(&s->lines, &list, i);
            uint64_t const value = state_value(table, line_value_bits(table), field);
            if (value < table->values) counts[value]++; /* always, in a table of ours */
        }
    }
}

static tamis_status line_merge_state(tamis_table *into, const tamis_table *from,
                                     const lines_place *place, uint64_t field) {
    lines const       of = lines_of(into);
    unsigned const    bits = line_value_bits(into);
    uint64_t const    taken = state_taken_over(into, from, bits, place->bucket, field);
    lines_found const found = lines_look(of, place);
    if (found.copies == 0) return line_new_state(into, place, taken);
    uint64_t const bit = lines_found_rest(of, place, &found) + of.shape->counter_bits;
    return state_join(into, bits, bit, taken);
}

static tamis_status line_merge_states(tamis_table *into, const tamis_table *from) {
    const line_shape *const s = shape_of(from);
    lines_list              list;
    for (uint64_t bucket = 0; bucket < s->lines.buckets; bucket++) {
        lines_gather(lines_of(from), bucket, &list);
        for (unsigned i = 0; i < list.n; i++) {
            lines_place const  place = lines_list_place(&s->lines, bucket, &list, i);
            tamis_status const status =
                line_merge_state(into, from, &place, lines_list_field(&s->lines, &list, i));
            if (status != TAMIS_OK) return status;
        }
    }
    return TAMIS_OK;
}

const kind_states KIND_STATES(line) = {
    .put = line_put,
    .get = line_get,
    .move = line_move,
    .touch = line_touch,
    .drop = line_drop,
    .units = line_units,
    .holds_values = line_holds_values,
    .get_chunk = line_get_chunk,
    .fetch_values = line_fetch_values,
    .step = line_step,
    .sweep = line_sweep,
    .tally = line_tally,
    .merge = line_merge_states,
};
