/* group.h - add many hashes to the lines of one shelf, or remove them: a warp takes the group
 * apart, merges, and puts it together in shared memory.
 *
 * What a group holds is a sorted list of entries. An entry is a number:
 *
 *     high bit                                                low bit
 *     +------+-------+------+---------------------------------+
 *     | line | chain | byte | rest: remainder, copies less 1  |
 *     +------+-------+------+---------------------------------+
 *       4      6       8      0 to 46
 *
 * In the order of these numbers the entries of the table stand, line by line, chain by chain. So:
 *
 *   1  list    what the 16 lines, their shelf and the attic have, into a list
 *   2  sort    the hashes that come, GPU_TILE at a time, as entries
 *   3  merge   both, chain by chain: a thread has a chain. Copies are counted here
 *   4  write   the first chains of each line, as many as fit, into the line; the next 28 entries of
 *              all lines onto the shelf; the others go to a list for the new attic
 *
 * Steps 2 and 3 repeat until all hashes are merged: so a group can get any number of them, and what
 * does not fit is only what the table has no room for.
 *
 * This file is included twice: `entry` has 32 bits in tables without rests, otherwise 64.
 */

#define GROUP_JOIN(a, b) a##b
#define GROUP_NAME(name, suffix) GROUP_JOIN(name, suffix)
#define G(name) GROUP_NAME(name, GROUP_SUFFIX)

/* The shared memory of a warp. at[c]: where the entries of chain c begin; c counts the chains of
 * all 16 lines. */
typedef struct G(group) {
    GROUP_ENTRY *tile;                         /* GPU_TILE */
    GROUP_ENTRY *list, *other;                 /* `room` each: what is there, and what it becomes */
    uint16_t    *tile_at, *list_at, *other_at; /* GPU_CHAINS + 1 */
    uint32_t    *used, *tail; /* of each line: slots in use; tail[l]: entries in tails before it */
    unsigned     n;           /* in the list */
} G(group);

TAMIS_INLINE G(group) G(group_make)(const gpu_change *change) {
    G(group) group;
    group.tile = gpu_shared();
    group.list = group.tile + GPU_TILE;
    group.other = group.list + change->room;
    group.used = (uint32_t *)(group.other + change->room);
    group.tail = group.used + SHELF_BUCKETS;
    group.tile_at = (uint16_t *)(group.tail + SHELF_BUCKETS + 16);
    group.list_at = group.tile_at + GPU_CHAINS + 8;
    group.other_at = group.list_at + GPU_CHAINS + 8;
    group.n = 0;
    return group;
}

/* Numbers of an entry. */
TAMIS_INLINE GROUP_ENTRY G(entry_make)(lines_view lines, uint64_t line, unsigned key,
                                       uint64_t rest) {
    uint64_t const chain = line * 64 + (key >> LINES_BYTE_BITS);
    return (GROUP_ENTRY)((chain << LINES_BYTE_BITS | (key & 0xff)) << lines_rest_bits(lines) |
                         rest);
}
TAMIS_INLINE unsigned G(entry_byte)(lines_view lines, GROUP_ENTRY entry) {
    return (unsigned)(entry >> lines_rest_bits(lines)) & 0xff;
}
TAMIS_INLINE unsigned G(entry_key)(lines_view lines, GROUP_ENTRY entry) {
    return (unsigned)(entry >> lines_rest_bits(lines)) & LINES_KEY_MASK;
}
TAMIS_INLINE uint64_t G(entry_rest)(lines_view lines, GROUP_ENTRY entry) {
    return (uint64_t)entry & bits_low(lines_rest_bits(lines));
}
/* Its chain, counted through all lines. */
TAMIS_INLINE unsigned G(entry_chain)(lines_view lines, GROUP_ENTRY entry) {
    unsigned const chain = (unsigned)(entry >> (LINES_BYTE_BITS + lines_rest_bits(lines)));
    return chain / 64 * RUNS_CHAINS + chain % 64;
}

/* at[c] of a sorted list of n entries. Each thread writes where the chains up to its own begin. */
TAMIS_INLINE void G(find_chains)(lines_view lines, const GROUP_ENTRY *list, unsigned n,
                                 uint16_t *at) {
    for (unsigned i = gpu_lane(); i <= n; i += GPU_WARP) {
        unsigned const first = i == 0 ? 0 : G(entry_chain)(lines, list[i - 1]) + 1;
        unsigned const last = i == n ? GPU_CHAINS : G(entry_chain)(lines, list[i]);
        for (unsigned chain = first; chain <= last; chain++) at[chain] = (uint16_t)i;
    }
    gpu_warp_sync();
}

/* ------------------------------------------------------------------ 1. list */

/* List what is in a line. Returns how many entries that are. */
TAMIS_INLINE unsigned G(list_line)(lines_view lines, uint64_t bucket, GROUP_ENTRY *to) {
    const uint8_t *const line = lines_at(lines, bucket);
    runs const           index = gpu_index(gpu_load_pair(line));
    unsigned const       used = runs_used(index);
    for (unsigned slot = gpu_lane(); slot < used; slot += GPU_WARP) {
        unsigned const rank = bits_popcount(index.starts & bits_low(slot + 1)) - 1;
        unsigned const chain = bits_select(index.occ, rank);
        unsigned const key = chain << LINES_BYTE_BITS | line[RUNS_AT + slot];
        to[slot] =
            G(entry_make)(lines, bucket % SHELF_BUCKETS, key, lines_rest(lines, bucket, slot));
    }
    return used;
}

/* List the part of a shelf that belongs to a bucket, and its words in the attic. Returns how many
 * there are; those beyond `most` are not listed. */
TAMIS_INLINE unsigned G(list_tail)(lines_view lines, uint64_t bucket, unsigned most,
                                   GROUP_ENTRY *to) {
    shelf_view const     shelves = lines_shelves(lines);
    const uint8_t *const shelf = shelf_line(&shelves, bucket);
    shelf_part const     part = shelf_find(gpu_shelf_ones(shelf), bucket);
    unsigned const       n = part.n;
    if (n > most) return n;
    for (unsigned i = gpu_lane(); i < part.n; i += GPU_WARP) {
        unsigned const key = gpu_load16(shelf + SHELF_AT + 2 * (part.first + i));
        uint64_t const rest = rest_get(lines.body, shelf_rest_at(&shelves, bucket, part.first + i),
                                       lines_rest_bits(lines));
        to[i] = G(entry_make)(lines, bucket % SHELF_BUCKETS, key, rest);
    }
    if (part.first + part.n < SHELF_KEYS) return n;
    /* All threads look for the same words: seldom, and few. */
    uint64_t       place;
    unsigned const words = tail_words(&shelves, bucket, 0, 0, &place);
    for (unsigned i = gpu_lane(); i < words && n + words <= most; i += GPU_WARP) {
        uint64_t const word = attic_word(&shelves.attic, place + i);
        unsigned const key = (unsigned)(word & bits_low(ATTIC_OWN_BITS));
        uint64_t const rest = lines.is_bare ? 0 : attic_rest(&shelves.attic, place + i);
        to[n + i] = G(entry_make)(lines, bucket % SHELF_BUCKETS, key, rest);
    }
    return n + words;
}

/* All that a group holds. False: it does not fit into the shared memory. */
TAMIS_INLINE bool G(list_group)(lines_view lines, uint64_t first, uint64_t room, G(group) * group) {
    uint64_t const end = min_u64(first + SHELF_BUCKETS, lines.shape->buckets);
    group->n = 0;
    for (uint64_t bucket = first; bucket < end; bucket++) {
        if (group->n + RUNS_SLOTS > room) return false;
        group->n += G(list_line)(lines, bucket, group->list + group->n);
        group->n += G(list_tail)(lines, bucket, (unsigned)room - group->n, group->list + group->n);
        if (group->n > room) return false;
    }
    gpu_warp_sync();
    G(find_chains)(lines, group->list, group->n, group->list_at);
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

/* Make entries of n hashes, and sort them. */
TAMIS_INLINE void G(sort_tile)(lines_view lines, const uint64_t *hashes, unsigned n,
                               G(group) * group) {
    unsigned padded = 64;
    while (padded < n) padded *= 2;
    for (unsigned i = gpu_lane(); i < padded; i += GPU_WARP) {
        GROUP_ENTRY entry = (GROUP_ENTRY)-1;
        if (i < n) {
            lines_place const place = lines_find(lines, hashes[i]);
            uint64_t const    rest = lines.is_bare ? 0 : rest_new(lines.shape, place.remainder, 0);
            entry = G(entry_make)(lines, place.bucket % SHELF_BUCKETS, lines_key(&place), rest);
        }
        group->tile[i] = entry;
    }
    gpu_warp_sync();
    G(sort)(group->tile, padded);
    G(find_chains)(lines, group->tile, n, group->tile_at);
}

/* ------------------------------------------------------------------ 3. merge */

/* Merge one chain: entries first..end-1 of the list, and new ones. Returns how many there are then.
 * They are written if `to` is not NULL. */
TAMIS_INLINE unsigned G(merge_chain)(const gpu_change *change, lines_view lines,
                                     const G(group) * group, unsigned chain, GROUP_ENTRY *to,
                                     gpu_tally *tally) {
    unsigned const counter_bits = lines_counter_bits(lines);
    unsigned       old = group->list_at[chain], fresh = group->tile_at[chain], n = 0;
    unsigned const old_end = group->list_at[chain + 1], fresh_end = group->tile_at[chain + 1];
    while (old < old_end || fresh < fresh_end) {
        GROUP_ENTRY const none = (GROUP_ENTRY)-1;
        GROUP_ENTRY const a = old < old_end ? group->list[old] >> counter_bits : none;
        GROUP_ENTRY const b = fresh < fresh_end ? group->tile[fresh] >> counter_bits : none;
        GROUP_ENTRY const print = a < b ? a : b;
        unsigned          had = 0, more = 0;
        for (; old < old_end && group->list[old] >> counter_bits == print; old++)
            had += 1 + (unsigned)(group->list[old] & bits_low(counter_bits));
        for (; fresh < fresh_end && group->tile[fresh] >> counter_bits == print; fresh++) more++;
        unsigned const copies = group_copies(change, had, more, tally);
        unsigned const entries = counter_bits == 0 ? copies : copies != 0;
        for (unsigned i = 0; i < entries && to != NULL; i++)
            to[n + i] =
                counter_bits == 0 ? print : (GROUP_ENTRY)(print << counter_bits | (copies - 1));
        n += entries;
    }
    return n;
}

/* Merge the tile into the list. False, and the list is as it was: there would be more than `most`
 * entries. */
TAMIS_INLINE bool G(merge)(const gpu_change *change, lines_view lines, unsigned most,
                           G(group) * group, gpu_tally *tally) {
    gpu_tally ignored;
    unsigned  total = 0;
    for (unsigned base = 0; base < GPU_CHAINS; base += GPU_WARP) {
        unsigned const chain = base + gpu_lane();
        uint32_t const n = G(merge_chain)(change, lines, group, chain, NULL, tally);
        uint32_t       all;
        group->other_at[chain] = (uint16_t)(total + gpu_warp_sum(n, &all));
        total += all;
    }
    if (gpu_lane() == 0) group->other_at[GPU_CHAINS] = (uint16_t)total;
    if (total > most) return false;
    gpu_warp_sync();
    for (unsigned chain = gpu_lane(); chain < GPU_CHAINS; chain += GPU_WARP) {
        (void)G(merge_chain)(change, lines, group, chain, group->other + group->other_at[chain],
                             &ignored);
    }
    GROUP_ENTRY *const list = group->list;
    uint16_t *const    list_at = group->list_at;
    group->list = group->other;
    group->list_at = group->other_at;
    group->other = list;
    group->other_at = list_at;
    group->n = total;
    gpu_warp_sync();
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
    return G(entry_byte)(lines, group->list[group->list_at[line * RUNS_CHAINS] + slot]);
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

/* Entry i of all tails, in the order of lines, and its line. */
TAMIS_INLINE GROUP_ENTRY G(tail_entry)(const G(group) * group, unsigned i, unsigned *ret_line) {
    unsigned line = 0;
    while (group->tail[line + 1] <= i) line++;
    *ret_line = line;
    return group
        ->list[group->list_at[line * RUNS_CHAINS] + group->used[line] + (i - group->tail[line])];
}

TAMIS_INLINE void G(write_shelf)(lines_view lines, uint64_t first, const G(group) * group) {
    shelf_view const shelves = lines_shelves(lines);
    uint8_t *const   shelf = shelf_line(&shelves, first);
    unsigned const   i = gpu_lane(), all = group->tail[SHELF_BUCKETS];
    unsigned         line;
    if (i < SHELF_KEYS) {
        uint16_t *const key = (uint16_t *)(shelf + SHELF_AT) + i;
        *key = i < all ? (uint16_t)G(entry_key)(lines, G(tail_entry)(group, i, &line)) : 0;
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
        unsigned          line;
        GROUP_ENTRY const entry = G(tail_entry)(group, i, &line);
        uint64_t const    to = at + i - SHELF_KEYS;
        if (to >= lines.shape->room) continue; /* refused when they are counted */
        change->words[to] = attic_make_word(first + line, G(entry_key)(lines, entry));
        if (!lines.is_bare) change->rests[to] = G(entry_rest)(lines, entry);
    }
}

/* The rest of slot i of a group, or of key i on its shelf. */
TAMIS_INLINE uint64_t G(rest_of)(lines_view lines, const G(group) * group, unsigned i,
                                 bool is_shelf) {
    unsigned line = i / RUNS_SLOTS, slot = i % RUNS_SLOTS;
    if (is_shelf)
        return i < group->tail[SHELF_BUCKETS] ? G(entry_rest)(lines, G(tail_entry)(group, i, &line))
                                              : 0;
    if (slot >= group->used[line]) return 0;
    return G(entry_rest)(lines, group->list[group->list_at[line * RUNS_CHAINS] + slot]);
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
    unsigned const most = (unsigned)change->room;
    if (begin == end) return true;
    if (!G(list_group)(lines, first, change->room, &group)) return false;
    for (uint32_t at = begin, n; at < end; at += n) {
        n = (uint32_t)min_u64(end - at, GPU_TILE);
        G(sort_tile)(lines, change->hashes + at, n, &group);
        if (!G(merge)(change, lines, most, &group, tally)) return false;
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
#undef GROUP_IS_BARE
