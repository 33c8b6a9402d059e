/* group.h - add many hashes to the lines of one shelf, or remove them: a warp takes the group
 * apart, merges, and puts it together in shared memory.
 *
 * An entry of a group is a number:
 *
 *     high bit                                               low bit
 *     +------------+------+---------------------------------+
 *     | chain      | byte | rest: remainder, copies less 1  |
 *     +------------+------+---------------------------------+
 *       10           8      0 to 46
 *
 * where `chain` counts the chains of all 16 lines, 62 in each. In the order of these numbers the
 * entries stand in the table. So:
 *
 *   1  list    what the 16 lines, their shelf and the attic have
 *   2  sort    the hashes that come, a tile of them at a time, as entries
 *   3  merge   both, chain by chain: a thread has a chain. Copies are counted here
 *   4  write   the first chains of each line, as many as fit, into the line; the next 28 entries of
 *              all lines onto the shelf; the others go to a list for the new attic
 *
 * Steps 2 and 3 repeat until all hashes are merged: so a group can get any number of them, and what
 * does not fit is only what the table has no room for.
 *
 * In a list the chain of an entry is known from its place, so the list has the rest of it: an item,
 * which is a byte in tables without rests (GROUP_IS_BARE), otherwise 64 bits. A small list lets
 * more warps run at a time. This file is included twice, for both.
 */

#define GROUP_JOIN(a, b) a##b
#define GROUP_NAME(name, suffix) GROUP_JOIN(name, suffix)
#define G(name) GROUP_NAME(name, GROUP_SUFFIX)

/* The shared memory of a warp. at[c]: where the items of chain c begin. */
typedef struct G(group) {
    uint8_t     *raw;                /* the 16 lines and the shelf, as they are */
    GROUP_ENTRY *tile;               /* entries that come */
    GROUP_ITEM  *list, *other;       /* `room` each: what is there, and what it becomes */
    uint16_t    *list_at, *other_at; /* GPU_CHAINS + 1 */
    uint32_t    *used, *tail; /* of each line: slots in use; tail[l]: entries in tails before it */
    unsigned     n;           /* in the list */
    unsigned     tile_n;      /* in the tile */
    uint32_t     times;       /* that each of these comes */
} G(group);

TAMIS_INLINE G(group) G(group_make)(const gpu_change *change) {
    G(group) group;
    group.raw = gpu_shared();
    group.tile = (GROUP_ENTRY *)(void *)(group.raw + GPU_RAW_BYTES);
    group.used = (uint32_t *)(group.tile + change->tile);
    group.tail = group.used + SHELF_BUCKETS;
    group.list_at = (uint16_t *)(group.tail + SHELF_BUCKETS + 16);
    group.other_at = group.list_at + GPU_CHAINS + 8;
    group.list = (GROUP_ITEM *)(group.other_at + GPU_CHAINS + 8);
    group.other = group.list + change->room;
    group.n = 0;
    return group;
}

/* Bits of an item; those above them, in an entry, are its chain. */
TAMIS_INLINE unsigned G(item_bits)(lines_view lines) {
    return LINES_BYTE_BITS + lines_rest_bits(lines);
}
TAMIS_INLINE GROUP_ITEM G(item_make)(lines_view lines, unsigned byte, uint64_t rest) {
    return (GROUP_ITEM)((uint64_t)byte << lines_rest_bits(lines) | rest);
}
TAMIS_INLINE unsigned G(item_byte)(lines_view lines, GROUP_ITEM item) {
    return (unsigned)((uint64_t)item >> lines_rest_bits(lines)) & 0xff;
}
TAMIS_INLINE uint64_t G(item_rest)(lines_view lines, GROUP_ITEM item) {
    return (uint64_t)item & bits_low(lines_rest_bits(lines));
}
TAMIS_INLINE unsigned G(entry_chain)(lines_view lines, GROUP_ENTRY entry) {
    return (unsigned)(entry >> G(item_bits)(lines));
}

/* ------------------------------------------------------------------ 1. list */

/* Load all lines and the shelf at once: one wait for memory. Lines that do not exist are empty. */
TAMIS_INLINE void G(load_raw)(lines_view lines, uint64_t first, const G(group) * group) {
    shelf_view const     shelves = lines_shelves(lines);
    const uint8_t *const from = lines_at(lines, first), *const shelf = shelf_line(&shelves, first);
    unsigned const here = (unsigned)min_u64(lines.shape->buckets - first, SHELF_BUCKETS);
    unsigned const parts = TAMIS_LINE_BYTES / 16, end = SHELF_BUCKETS * parts;
    for (unsigned i = gpu_lane(); i < end + parts; i += GPU_WARP) {
        gpu_pair part = { 0, 0 };
        if (i < here * parts) part = gpu_load_pair(from + 16 * i);
        if (i >= end) part = gpu_load_pair(shelf + 16 * (i - end));
        gpu_store_pair(group->raw + 16 * i, part);
    }
    gpu_warp_sync();
}

/* The tail of a line: keys first..first+n-1 of the shelf, and words in the attic. */
typedef struct G(tail_here) {
    const uint8_t *shelf;
    shelf_part     part;
    uint64_t       place;
    unsigned       words;
} G(tail_here);

TAMIS_INLINE G(tail_here)
    G(find_tail)(const shelf_view *shelves, const G(group) * group, uint64_t bucket) {
    G(tail_here) tail = { group->raw + SHELF_BUCKETS * TAMIS_LINE_BYTES, { 0, 0, 0 }, 0, 0 };
    tail.part = shelf_find(gpu_shelf_ones(tail.shelf), bucket);
    /* All threads look for the same words: seldom, and few. */
    if (tail.part.first + tail.part.n == SHELF_KEYS)
        tail.words = tail_words(shelves, bucket, 0, 0, &tail.place);
    return tail;
}

/* Entry i of a tail: chain and byte. */
TAMIS_INLINE unsigned G(tail_key)(const shelf_view *shelves, const G(tail_here) * tail,
                                  unsigned          i) {
    if (i < tail->part.n) return gpu_load16(tail->shelf + SHELF_AT + 2 * (tail->part.first + i));
    uint64_t const word = attic_word(&shelves->attic, tail->place + i - tail->part.n);
    return (unsigned)(word & bits_low(ATTIC_OWN_BITS));
}

TAMIS_INLINE uint64_t G(tail_rest)(lines_view lines, const shelf_view *shelves,
                                   const G(tail_here) * tail, uint64_t bucket, unsigned i) {
    if (lines.is_bare) return 0;
    if (i >= tail->part.n) return attic_rest(&shelves->attic, tail->place + i - tail->part.n);
    return rest_get(lines.body, shelf_rest_at(shelves, bucket, tail->part.first + i),
                    lines_rest_bits(lines));
}

/* Where a chain begins among the entries of its line: at the run that has as many runs before it as
 * the chain has occupied ones; or behind the tail's entries of chains before it. */
TAMIS_INLINE unsigned G(chain_begin)(const shelf_view *shelves, const G(tail_here) * tail,
                                     runs index, unsigned chain) {
    unsigned const rank = bits_popcount(bits_below(index.occ, chain));
    if (rank <= runs_here(index)) return bits_lowest(bits_nth(index.starts, rank));
    unsigned at = runs_used(index);
    for (unsigned i = 0; i < tail->part.n + tail->words; i++)
        at += G(tail_key)(shelves, tail, i) >> LINES_BYTE_BITS < chain;
    return at;
}

/* List a line and its tail. False: there is no room. */
TAMIS_INLINE bool G(list_line)(lines_view lines, uint64_t bucket, uint64_t room, G(group) * group) {
    shelf_view const     shelves = lines_shelves(lines);
    unsigned const       line = bucket % SHELF_BUCKETS;
    const uint8_t *const raw = group->raw + line * TAMIS_LINE_BYTES;
    runs const           index = gpu_index(gpu_load_pair(raw));
    G(tail_here) const tail = G(find_tail)(&shelves, group, bucket);
    unsigned const    used = runs_used(index), far = tail.part.n + tail.words;
    GROUP_ITEM *const to = group->list + group->n;
    if (group->n + used + far > room) return false;
    for (unsigned i = gpu_lane(); i < used; i += GPU_WARP)
        to[i] = G(item_make)(lines, raw[RUNS_AT + i], lines_rest(lines, bucket, i));
    for (unsigned i = gpu_lane(); i < far; i += GPU_WARP)
        to[used + i] = G(item_make)(lines, G(tail_key)(&shelves, &tail, i) & 0xff,
                                    G(tail_rest)(lines, &shelves, &tail, bucket, i));
    for (unsigned chain = gpu_lane(); chain < RUNS_CHAINS; chain += GPU_WARP)
        group->list_at[line * RUNS_CHAINS + chain] =
            (uint16_t)(group->n + G(chain_begin)(&shelves, &tail, index, chain));
    group->n += used + far;
    return true;
}

/* All that a group holds. False: it does not fit into the shared memory. */
TAMIS_INLINE bool G(list_group)(lines_view lines, uint64_t first, uint64_t room, G(group) * group) {
    group->n = 0;
    G(load_raw)(lines, first, group);
    for (unsigned line = 0; line < SHELF_BUCKETS; line++) {
        if (!G(list_line)(lines, first + line, room, group)) return false;
    }
    if (gpu_lane() == 0) group->list_at[GPU_CHAINS] = (uint16_t)group->n;
    gpu_warp_sync();
    return true;
}

/* ------------------------------------------------------------------ 2. sort */

/* A bitonic sort of n numbers; n is a power of two, and at least 64. */
TAMIS_INLINE void G(sort)(GROUP_ENTRY *numbers, unsigned n) {
    for (unsigned size = 2; size <= n; size *= 2) {
        for (unsigned stride = size / 2; stride != 0; stride /= 2) {
            for (unsigned i = gpu_lane(); i < n / 2; i += GPU_WARP) {
                unsigned const    low = (i & ~(stride - 1)) << 1 | (i & (stride - 1));
                unsigned const    high = low | stride;
                GROUP_ENTRY const a = numbers[low], b = numbers[high];
                bool const        is_up = (low & size) == 0;
                numbers[low] = (a < b) == is_up ? a : b;
                numbers[high] = (a < b) == is_up ? b : a;
            }
            gpu_warp_sync();
        }
    }
}

/* How many hashes from the first on are the same? So a flood of one key is one entry. */
TAMIS_INLINE uint32_t G(count_same)(const uint64_t *hashes, uint32_t n) {
    uint64_t const first = hashes[0];
    unsigned const each = 16; /* loads of a thread that are under way together */
    uint32_t const step = GPU_WARP * each;
    uint32_t       same = 0;
    for (; same + step <= n; same += step) {
        bool is_same = true;
#pragma GCC unroll 16
        for (unsigned j = 0; j < each; j++)
            is_same &= hashes[same + j * GPU_WARP + gpu_lane()] == first;
        if (gpu_ballot(!is_same) != 0) break;
    }
    return same;
}

/* Make entries of the next hashes, and sort them. Returns how many hashes were taken. */
TAMIS_INLINE uint32_t G(sort_tile)(lines_view lines, const uint64_t *hashes, uint32_t n,
                                   unsigned room, G(group) * group) {
    uint32_t const same = n > room ? G(count_same)(hashes, n) : 0;
    bool const     is_flood = same > room;
    unsigned       padded = 64;
    group->tile_n = is_flood ? 1 : (unsigned)min_u64(n, room);
    group->times = is_flood ? same : 1;
    while (padded < group->tile_n) padded *= 2;
    for (unsigned i = gpu_lane(); i < padded; i += GPU_WARP) {
        GROUP_ENTRY entry = (GROUP_ENTRY)-1;
        if (i < group->tile_n) {
            lines_place const place = lines_find(lines, hashes[i]);
            uint64_t const    chain = place.bucket % SHELF_BUCKETS * RUNS_CHAINS + place.chain;
            uint64_t const    rest = lines.is_bare ? 0 : rest_new(lines.shape, place.remainder, 0);
            entry =
                (GROUP_ENTRY)((chain << LINES_BYTE_BITS | place.byte) << lines_rest_bits(lines) |
                              rest);
        }
        group->tile[i] = entry;
    }
    gpu_warp_sync();
    if (!is_flood) G(sort)(group->tile, padded);
    return is_flood ? same : group->tile_n;
}

/* ------------------------------------------------------------------ 3. merge */

/* The end of the entries of the tile, from `at` on, that have a print. Steps double and then halve,
 * so that many copies take few steps. */
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
 * there are then. They are written if `to` is not NULL. */
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

/* Is entry i of the tile the first of its chain? Its thread merges that chain. */
TAMIS_INLINE bool G(is_first)(lines_view lines, const G(group) * group, unsigned i) {
    return i == 0 ||
           G(entry_chain)(lines, group->tile[i]) != G(entry_chain)(lines, group->tile[i - 1]);
}

/* How long all chains will be, and so where they will begin. Returns how many entries that are. */
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

/* Write the chains to the other list: first all as they are, then those that change. */
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

/* Merge the tile into the list. False, and the list is as it was: there would be more entries than
 * there is room for. */
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

/* ------------------------------------------------------------------ 4. write */

/* The index of a line of the list: the first chains, as many as fit as a whole. */
TAMIS_INLINE runs G(index_of)(const G(group) * group, unsigned line, unsigned *ret_used) {
    const uint16_t *const at = group->list_at + line * RUNS_CHAINS;
    runs                  index = { 0, 1 };
    unsigned              used = 0;
    bool                  is_cut = false;
    for (unsigned chain = 0; chain < RUNS_CHAINS; chain++) {
        unsigned const n = (unsigned)(at[chain + 1] - at[chain]);
        is_cut |= used + n > RUNS_SLOTS;
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
    return G(item_byte)(lines, group->list[group->list_at[line * RUNS_CHAINS] + slot]);
}

/* Write the indices; a thread has a line. Fills in `used` and `tail`. False: a tail is too long. */
TAMIS_INLINE bool G(write_indices)(lines_view lines, uint64_t first, G(group) * group) {
    unsigned const line = gpu_lane();
    unsigned       used = 0;
    uint32_t       tail = 0, all;
    runs           index = { 0, 1 };
    if (line < SHELF_BUCKETS) {
        index = G(index_of)(group, line, &used);
        tail = group->list_at[(line + 1) * RUNS_CHAINS] - group->list_at[line * RUNS_CHAINS] - used;
        group->used[line] = used;
    }
    uint32_t const before = gpu_warp_sum(tail, &all);
    if (line <= SHELF_BUCKETS) group->tail[line] = before;
    if (gpu_ballot(tail > LINES_MAX_TAIL) != 0) return false;
    gpu_warp_sync();
    if (line < SHELF_BUCKETS && first + line < lines.shape->buckets) {
        uint64_t const starts = index.starts >> 1;
        gpu_pair const head = { index.occ | starts << RUNS_CHAINS,
                                starts >> 2 | G(slot_byte)(lines, group, line, 0) << 48 |
                                    G(slot_byte)(lines, group, line, 1) << 56 };
        gpu_store_pair(lines_at(lines, first + line), head);
    }
    return true;
}

/* The slots behind the first two, in words of eight. */
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

/* Where entry i of all tails, in the order of lines, is in the list, and its line. */
TAMIS_INLINE unsigned G(tail_at)(const G(group) * group, unsigned i, unsigned *ret_line) {
    unsigned line = 0;
    while (group->tail[line + 1] <= i) line++;
    *ret_line = line;
    return group->list_at[line * RUNS_CHAINS] + group->used[line] + (i - group->tail[line]);
}

/* The chain and byte of an item of a line: its chain is the last that does not begin behind it. */
TAMIS_INLINE unsigned G(key_at)(lines_view lines, const G(group) * group, unsigned line,
                                unsigned place) {
    const uint16_t *const at = group->list_at + line * RUNS_CHAINS;
    unsigned              chain = 0;
    for (unsigned step = 32; step != 0; step /= 2) {
        if (chain + step < RUNS_CHAINS && at[chain + step] <= place) chain += step;
    }
    return chain << LINES_BYTE_BITS | G(item_byte)(lines, group->list[place]);
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

/* What the shelf has no room for goes to the list of the new attic. */
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
        if (to >= lines.shape->room) continue; /* refused when they are counted */
        change->words[to] = attic_make_word(first + line, G(key_at)(lines, group, line, place));
        if (!lines.is_bare) change->rests[to] = G(item_rest)(lines, group->list[place]);
    }
}

/* The rest of slot i of a group, or of key i on its shelf. */
TAMIS_INLINE uint64_t G(rest_of)(lines_view lines, const G(group) * group, unsigned i,
                                 bool is_shelf) {
    unsigned line = i / RUNS_SLOTS, slot = i % RUNS_SLOTS;
    if (is_shelf && i >= group->tail[SHELF_BUCKETS]) return 0;
    if (is_shelf) return G(item_rest)(lines, group->list[G(tail_at)(group, i, &line)]);
    if (slot >= group->used[line]) return 0;
    return G(item_rest)(lines, group->list[group->list_at[line * RUNS_CHAINS] + slot]);
}

/* Write n rests from a bit on that begins a word. A thread has a whole word: none is shared. */
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

/* Write what is in the list. False, and nothing is written: a tail is too long. */
TAMIS_INLINE bool G(write_group)(const gpu_change *change, lines_view lines, uint64_t first,
                                 G(group) * group) {
    if (!G(write_indices)(lines, first, group)) return false;
    G(write_slots)(lines, first, group);
    G(write_shelf)(lines, first, group);
    G(write_attic)(change, lines, first, group);
    if (lines.is_bare) return true;
    shelf_view const shelves = lines_shelves(lines);
    unsigned const   here = (unsigned)min_u64(lines.shape->buckets - first, SHELF_BUCKETS);
    G(write_rests)(lines, group, lines_rest_at(lines, first, 0), here * RUNS_SLOTS, false);
    G(write_rests)(lines, group, shelf_rest_at(&shelves, first, 0), SHELF_KEYS, true);
    return true;
}

/* ------------------------------------------------------------------ a group */

/* Merge all hashes of a group. False: it does not fit. */
TAMIS_INLINE bool G(change_group)(const gpu_change *change, lines_view lines, uint64_t number,
                                  gpu_tally *tally) {
    G(group) group = G(group_make)(change);
    uint64_t const first = number * SHELF_BUCKETS;
    uint32_t const begin = number == 0 ? 0 : change->ends[number - 1], end = change->ends[number];
    if (begin == end) return true;
    if (!G(list_group)(lines, first, change->room, &group)) return false;
    for (uint32_t at = begin, n; at < end; at += n) {
        n = G(sort_tile)(lines, change->hashes + at, end - at, (unsigned)change->tile, &group);
        if (!G(merge)(change, lines, &group, tally)) return false;
    }
    bool const is_written = G(write_group)(change, lines, first, &group);
    gpu_warp_sync(); /* the next group takes the same memory */
    return is_written;
}

/* A warp takes one group after the other. */
TAMIS_INLINE void G(change_groups)(const gpu_change *change) {
    lines_view const lines = gpu_view(&change->table, GROUP_IS_BARE);
    uint64_t const   n = change->n_large != 0 ? change->n_large : change->groups;
    for (uint64_t i = gpu_block(); i < n; i += gpu_blocks()) {
        uint64_t const number = change->n_large != 0 ? change->large[i] : i;
        gpu_tally      tally = { 0 };
        if (G(change_group)(change, lines, number, &tally))
            group_count_up(change->tally, &tally);
        else
            group_give_up(change, number);
        gpu_warp_sync();
    }
}

#undef G
#undef GROUP_NAME
#undef GROUP_JOIN
#undef GROUP_SUFFIX
#undef GROUP_ENTRY
#undef GROUP_ITEM
#undef GROUP_IS_BARE
