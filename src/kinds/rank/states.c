/* states.c - the states that `rank` keeps with its keys.
 *
 * rank.c explains the table; state_cells.h says what put, get, move, touch and drop mean, and has
 * the functions that do it. Here is what they are made of. A fingerprint has one cell, and its
 * state is the top of that (copies.h). A unit of the sweep is a bucket.
 *
 *     a cell     | remainder | counter, C bits | value, timer |      state_cells.h packs the state
 *                 low bits                       high bits
 *
 * A state is changed in place: no cell moves for it. A drop removes the cell as a removal does.
 */
#include "rank.h"
#include "size.h"

static_assert(CHAINS_MAX_CELLS <= STATE_LIST_MAX, "a bucket can be listed");

/* Where the state of a key is: the bit of the body, and the unit of the sweep that ages it. */
static STRIPE_READER tamis_status rank_find_state(const tamis_table *table, uint64_t hash,
                                                  state_cell *ret_cell) {
    chains_view const  chains = rank_view(table);
    chains_place const place = rank_find(table, hash);
    copies_trail const trail = copies_follow(chains, &place);
    /* A fingerprint has one cell here (prints_plan.h), so `match` is that. */
    if (trail.cells == 0) return TAMIS_ERR_ABSENT;
    ret_cell->bit = rank_state_at(chains.shape, chains_cell(chains, place.at, trail.match));
    ret_cell->unit = place.bucket;
    return TAMIS_OK;
}

/* Store a new key with its state, in a cell that counts one copy. The caller has looked: the key is
 * absent. */
static tamis_status rank_insert_field(tamis_table *table, uint64_t hash, uint64_t field) {
    chains_view const  chains = rank_view(table);
    chains_place const place = rank_find(table, hash);
    copies_trail const trail = copies_follow(chains, &place);
    uint64_t const     cell = place.remainder | field << rank_state_at(chains.shape, 0);
    if (!chains_append(chains, &place, &trail.end, cell)) return TAMIS_ERR_FULL;
    table->keys++;
    return TAMIS_OK;
}

/* The cell goes with all copies that it counts. */
static void rank_erase_state(tamis_table *table, uint64_t hash) {
    chains_view const  chains = rank_view(table);
    chains_place const place = rank_find(table, hash);
    copies_trail const trail = copies_follow(chains, &place);
    uint64_t const     most = rank_shape_of(table)->most;
    if (trail.cells == 0) return; /* never so in a table that was checked */
    chains_delete(chains, &place, &trail.end, trail.match);
    table->keys -= trail.match_copies;
    table->saturated -= most > 1 && trail.copies >= most;
}

/* Cell by cell. */
static void rank_list_cells(const tamis_table *table, uint64_t bucket, state_list *ret_list) {
    chains_view const chains = rank_view(table);
    uint64_t const    at = chains_bucket_at(chains.shape, bucket);
    ret_list->n = (unsigned)min_u64(chains_load(chains, at), STATE_LIST_MAX);
    for (unsigned i = 0; i < ret_list->n; i++)
        ret_list->bit[i] = rank_state_at(chains.shape, chains_cell(chains, at, i));
}

/* Chain by chain, with prints. */
static void rank_list_chains(const tamis_table *table, uint64_t bucket, state_list *ret_list) {
    chains_view const chains = rank_view(table);
    uint64_t const    at = chains_bucket_at(chains.shape, bucket), base = chains_base(chains, at);
    unsigned          n = 0;
    for (uint64_t left = base; left != 0; left &= left - 1) {
        unsigned const chain = bits_lowest(left);
        chains_step    step = chains_first(base, chain);
        do {
            if (n == STATE_LIST_MAX) break; /* a body that was not checked */
            uint64_t const cell = chains_cell(chains, at, chains_at_step(&step));
            ret_list->bit[n] = rank_state_at(chains.shape, cell);
            ret_list->print[n++] =
                rank_print(chains.shape, bucket, chain, chains_remainder(chains, cell));
        } while (chains_next(chains, at, &step));
    }
    ret_list->n = n;
}

/* A cell alone does not say which chain it belongs to, and so not its print; but without prints,
 * cells are listed faster. */
static void rank_list_states(const tamis_table *table, uint64_t bucket, bool has_prints,
                             state_list *ret_list) {
    if (has_prints)
        rank_list_chains(table, bucket, ret_list);
    else
        rank_list_cells(table, bucket, ret_list);
}

STATE_UNITS_DEFINE(rank, RANK)

const kind_states KIND_STATES(rank) = { STATE_UNITS_MEMBERS(rank) };
