/* group_merge.h - step 3 of group.h, which includes this file. */

/* The end of the entries of the tile, from `at` on, that have this print. An exponential search:
 * the steps double and then halve, so that many copies take few steps. */
TAMIS_INLINE unsigned G(print_end)(const G(group) * group, unsigned at, GROUP_ENTRY print,
                                   unsigned counter_bits) {
    unsigned step = 1;
    while (at + step <= group->tile_n && group->tile[at + step - 1] >> counter_bits == print) {
        at += step;
        step *= 2;
    }
    for (step /= 2; step != 0; step /= 2) {
        if (at + step <= group->tile_n && group->tile[at + step - 1] >> counter_bits == print)
            at += step;
    }
    return at;
}

/* Merge one chain with the entries of the tile from `fresh` on that belong to it. Returns how many
 * entries the chain has then. They are written if `to` is not NULL. */
TAMIS_INLINE unsigned G(merge_chain)(const gpu_change *change, lines_view lines,
                                     const G(group) * group, unsigned chain, unsigned fresh,
                                     GROUP_ITEM *to, gpu_tally *tally) {
    unsigned const    counter_bits = lines_counter_bits(lines), bits = G(item_bits)(lines);
    GROUP_ENTRY const base = (GROUP_ENTRY)chain << bits, none = (GROUP_ENTRY)-1;
    unsigned          old = group->list_at[chain], n = 0;
    unsigned const    old_end = group->list_at[chain + 1];
    for (;;) {
        bool const is_fresh =
            fresh < group->tile_n && G(entry_chain)(lines, group->tile[fresh]) == chain;
        GROUP_ENTRY const a = old < old_end ? (base | group->list[old]) >> counter_bits : none;
        GROUP_ENTRY const b = is_fresh ? group->tile[fresh] >> counter_bits : none;
        GROUP_ENTRY const print = a < b ? a : b;
        unsigned          had = 0, more = 0;
        if (print == none) return n;
        for (; old < old_end && (base | group->list[old]) >> counter_bits == print; old++)
            had += 1 + (unsigned)(group->list[old] & bits_low(counter_bits));
        if (b == print) {
            unsigned const end = G(print_end)(group, fresh, print, counter_bits);
            more = (end - fresh) * group->times;
            fresh = end;
        }
        unsigned const copies = group_copies(change, had, more, tally);
        unsigned const entries = counter_bits == 0 ? copies : copies != 0;
        unsigned const counter = counter_bits == 0 || copies == 0 ? 0 : copies - 1;
        for (unsigned i = 0; i < entries && to != NULL; i++)
            to[n + i] = (GROUP_ITEM)((print << counter_bits | counter) & bits_low(bits));
        n += entries;
    }
}

/* Is entry i of the tile the first of its chain? Then its thread merges that chain. */
TAMIS_INLINE bool G(is_first)(lines_view lines, const G(group) * group, unsigned i) {
    return i == 0 ||
           G(entry_chain)(lines, group->tile[i]) != G(entry_chain)(lines, group->tile[i - 1]);
}

/* Compute how long all chains will be, and from that where they will begin. Returns the total
 * number of entries. */
TAMIS_INLINE unsigned G(measure)(const gpu_change *change, lines_view lines, const G(group) * group,
                                 gpu_tally *tally) {
    unsigned total = 0;
    for (unsigned chain = gpu_lane(); chain < GPU_CHAINS; chain += GPU_WARP)
        group->other_at[chain] = (uint16_t)(group->list_at[chain + 1] - group->list_at[chain]);
    gpu_warp_sync();
    for (unsigned i = gpu_lane(); i < group->tile_n; i += GPU_WARP) {
        unsigned const chain = G(entry_chain)(lines, group->tile[i]);
        if (G(is_first)(lines, group, i))
            group->other_at[chain] =
                (uint16_t)G(merge_chain)(change, lines, group, chain, i, NULL, tally);
    }
    gpu_warp_sync();
    for (unsigned base = 0; base < GPU_CHAINS; base += GPU_WARP) {
        uint32_t       all;
        uint32_t const before = gpu_warp_sum(group->other_at[base + gpu_lane()], &all);
        group->other_at[base + gpu_lane()] = (uint16_t)(total + before);
        total += all;
    }
    if (gpu_lane() == 0) group->other_at[GPU_CHAINS] = (uint16_t)total;
    gpu_warp_sync();
    return total;
}

/* Write the chains to the new list: first copy all of them, then write those that change. */
TAMIS_INLINE void G(write_list)(const gpu_change *change, lines_view lines,
                                const G(group) * group) {
    gpu_tally ignored = { 0 };
    for (unsigned chain = gpu_lane(); chain < GPU_CHAINS; chain += GPU_WARP) {
        unsigned const from = group->list_at[chain], to = group->other_at[chain];
        unsigned const old = group->list_at[chain + 1] - from,
                       now = group->other_at[chain + 1] - to;
        for (unsigned i = 0; i < old && i < now; i++) group->other[to + i] = group->list[from + i];
    }
    gpu_warp_sync();
    for (unsigned i = gpu_lane(); i < group->tile_n; i += GPU_WARP) {
        unsigned const chain = G(entry_chain)(lines, group->tile[i]);
        if (G(is_first)(lines, group, i))
            (void)G(merge_chain)(change, lines, group, chain, i,
                                 group->other + group->other_at[chain], &ignored);
    }
    gpu_warp_sync();
}

/* Merge the tile into the list. False: there would be more entries than there is room for, and the
 * list has not changed. */
TAMIS_INLINE bool G(merge)(const gpu_change *change, lines_view lines, G(group) * group,
                           gpu_tally *tally) {
    unsigned const total = G(measure)(change, lines, group, tally);
    if (total > change->room) return false;
    G(write_list)(change, lines, group);
    GROUP_ITEM *const list = group->list;
    uint16_t *const   list_at = group->list_at;
    group->list = group->other;
    group->list_at = group->other_at;
    group->other = list;
    group->other_at = list_at;
    group->n = total;
    return true;
}
