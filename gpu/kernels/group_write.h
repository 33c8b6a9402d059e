/* group_write.h - step 4 of group.h, which includes this file. */

/* The index of a line: it has the first chains of the list, as many as fit completely. */
TAMIS_INLINE runs G(index_of)(const G(group) * group, unsigned line, unsigned *ret_used) {
    const uint16_t *const at = group->list_at + line * LINE_CHAINS;
    runs                  index = { 0, 1 };
    unsigned              used = 0;
    bool                  is_cut = false;
    for (unsigned chain = 0; chain < LINE_CHAINS; chain++) {
        unsigned const n = (unsigned)(at[chain + 1] - at[chain]);
        is_cut |= used + n > LINE_SLOTS;
        index.occ |= (uint64_t)(n != 0) << chain;
        used += is_cut ? 0 : n;
        index.starts |= is_cut || n == 0 ? 0 : UINT64_C(1) << used;
    }
    *ret_used = used;
    return index;
}

/* The byte in a slot of a line. */
TAMIS_INLINE uint64_t G(slot_byte)(lines_view lines, const G(group) * group, unsigned line,
                                   unsigned slot) {
    if (slot >= group->used[line]) return 0;
    return G(item_byte)(lines, group->list[group->list_at[line * LINE_CHAINS] + slot]);
}

/* Write the indices, one line per thread. Fills in `used` and `tail`. False: a tail is too long. */
TAMIS_INLINE bool G(write_indices)(lines_view lines, uint64_t first, G(group) * group) {
    unsigned const line = gpu_lane();
    unsigned       used = 0;
    uint32_t       tail = 0, all;
    runs           index = { 0, 1 };
    if (line < SHELF_BUCKETS) {
        index = G(index_of)(group, line, &used);
        tail = group->list_at[(line + 1) * LINE_CHAINS] - group->list_at[line * LINE_CHAINS] - used;
        group->used[line] = used;
    }
    uint32_t const before = gpu_warp_sum(tail, &all);
    if (line <= SHELF_BUCKETS) group->tail[line] = before;
    if (gpu_ballot(tail > LINE_MAX_TAIL) != 0) return false;
    gpu_warp_sync();
    if (line < SHELF_BUCKETS && first + line < lines.shape->buckets) {
        uint64_t const starts = index.starts >> 1;
        gpu_pair const head = { index.occ | starts << LINE_CHAINS,
                                starts >> 2 | G(slot_byte)(lines, group, line, 0) << 48 |
                                    G(slot_byte)(lines, group, line, 1) << 56 };
        gpu_store_pair(lines_at(lines, first + line), head);
    }
    return true;
}

/* Write the slots after the first two, eight at a time. */
TAMIS_INLINE void G(write_slots)(lines_view lines, uint64_t first, const G(group) * group) {
    for (unsigned i = gpu_lane(); i < SHELF_BUCKETS * 6; i += GPU_WARP) {
        unsigned const line = i / 6, slot = 2 + i % 6 * 8;
        uint64_t       word = 0;
        for (unsigned j = 0; j < 8; j++)
            word |= G(slot_byte)(lines, group, line, slot + j) << 8 * j;
        if (first + line < lines.shape->buckets)
            gpu_store64(lines_at(lines, first + line) + RUNS_AT + slot, word);
    }
}

/* Find entry i of all tails, in the order of lines: its position in the list, and its line. */
TAMIS_INLINE unsigned G(tail_at)(const G(group) * group, unsigned i, unsigned *ret_line) {
    unsigned line = 0;
    while (group->tail[line + 1] <= i) line++;
    *ret_line = line;
    return group->list_at[line * LINE_CHAINS] + group->used[line] + (i - group->tail[line]);
}

/* The chain and byte of an item of a line. Its chain is the last that does not begin after it. */
TAMIS_INLINE unsigned G(key_at)(lines_view lines, const G(group) * group, unsigned line,
                                unsigned place) {
    const uint16_t *const at = group->list_at + line * LINE_CHAINS;
    unsigned              chain = 0;
    for (unsigned step = 32; step != 0; step /= 2) {
        if (chain + step < LINE_CHAINS && at[chain + step] <= place) chain += step;
    }
    return chain << LINE_BYTE_BITS | G(item_byte)(lines, group->list[place]);
}

TAMIS_INLINE void G(write_shelf)(lines_view lines, uint64_t first, const G(group) * group) {
    shelf_view const shelves = lines_shelves(lines);
    uint8_t *const   shelf = shelf_line(&shelves, first);
    unsigned const   i = gpu_lane(), all = group->tail[SHELF_BUCKETS];
    unsigned         line;
    if (i < SHELF_KEYS) {
        uint16_t *const key = (uint16_t *)(shelf + SHELF_AT) + i;
        unsigned const  place = i < all ? G(tail_at)(group, i, &line) : 0;
        *key = i < all ? (uint16_t)G(key_at)(lines, group, line, place) : 0;
        return;
    }
    if (i != SHELF_KEYS) return;
    uint64_t ones = 0;
    for (line = 0; line < SHELF_BUCKETS; line++) {
        unsigned const from = (unsigned)min_u64(group->tail[line], SHELF_KEYS);
        unsigned const to = (unsigned)min_u64(group->tail[line + 1], SHELF_KEYS);
        ones |= bits_low(to - from) << (from + line);
    }
    gpu_store64(shelf, ones);
}

/* Entries for which the shelf has no room go to the list for the new attic. */
TAMIS_INLINE void G(write_attic)(const gpu_change *change, lines_view lines, uint64_t first,
                                 const G(group) * group) {
    unsigned const all = group->tail[SHELF_BUCKETS];
    if (all <= SHELF_KEYS) return;
    uint32_t base[2] = { 0, 0 };
    if (gpu_lane() == 0) {
        uint64_t const at = gpu_add64(&change->tally->words, all - SHELF_KEYS);
        base[0] = (uint32_t)at;
        base[1] = (uint32_t)(at >> 32);
    }
    uint64_t const at = gpu_shuffle(base[0], 0) | (uint64_t)gpu_shuffle(base[1], 0) << 32;
    for (unsigned i = SHELF_KEYS + gpu_lane(); i < all; i += GPU_WARP) {
        unsigned       line;
        unsigned const place = G(tail_at)(group, i, &line);
        uint64_t const to = at + i - SHELF_KEYS;
        if (to >= lines.shape->room) continue; /* the host sees the count, and refuses the change */
        change->words[to] = attic_make_word(first + line, G(key_at)(lines, group, line, place));
        if (!lines.is_bare) change->rests[to] = G(item_rest)(lines, group->list[place]);
    }
}

/* The rest of slot i of a group, or of key i on its shelf. */
TAMIS_INLINE uint64_t G(rest_of)(lines_view lines, const G(group) * group, unsigned i,
                                 bool is_shelf) {
    unsigned line = i / LINE_SLOTS, slot = i % LINE_SLOTS;
    if (is_shelf && i >= group->tail[SHELF_BUCKETS]) return 0;
    if (is_shelf) return G(item_rest)(lines, group->list[G(tail_at)(group, i, &line)]);
    if (slot >= group->used[line]) return 0;
    return G(item_rest)(lines, group->list[group->list_at[line * LINE_CHAINS] + slot]);
}

/* Write n rests, from a bit on that begins a word. Each thread writes whole words, so no two
 * threads write the same word. */
TAMIS_INLINE void G(write_rests)(lines_view lines, const G(group) * group, uint64_t bit, unsigned n,
                                 bool is_shelf) {
    unsigned const bits = lines_rest_bits(lines);
    for (unsigned from = gpu_lane() * 64; from < n * bits; from += GPU_WARP * 64) {
        uint64_t word = 0;
        for (unsigned i = from / bits; i < n && i * bits < from + 64; i++) {
            uint64_t const rest = G(rest_of)(lines, group, i, is_shelf);
            word |= i * bits >= from ? rest << (i * bits - from) : rest >> (from - i * bits);
        }
        gpu_store64(lines.body + bit / 8 + from / 8, word);
    }
}

/* Write the list to the table. False: a tail is too long, and nothing was written. */
TAMIS_INLINE bool G(write_group)(const gpu_change *change, lines_view lines, uint64_t first,
                                 G(group) * group) {
    if (!G(write_indices)(lines, first, group)) return false;
    G(write_slots)(lines, first, group);
    G(write_shelf)(lines, first, group);
    G(write_attic)(change, lines, first, group);
    if (lines.is_bare) return true;
    shelf_view const shelves = lines_shelves(lines);
    unsigned const   here = (unsigned)min_u64(lines.shape->buckets - first, SHELF_BUCKETS);
    G(write_rests)(lines, group, lines_rest_at(lines, first, 0), here * LINE_SLOTS, false);
    G(write_rests)(lines, group, shelf_rest_at(&shelves, first, 0), SHELF_KEYS, true);
    return true;
}
