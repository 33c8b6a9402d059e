/* group.h - add many hashes to the lines of one shelf, or remove them: a warp unpacks the group in
 * shared memory, merges the hashes into it, and packs it again.
 *
 * An entry of a group is a number:
 *
 *     high bit                                               low bit
 *     +------------+------+---------------------------------+
 *     | chain      | byte | rest: remainder, copies less 1  |
 *     +------------+------+---------------------------------+
 *       10           8      0 to 46
 *
 * where `chain` counts the chains of all 16 lines, 62 in each. The table has its entries in the
 * order of these numbers. The steps:
 *
 *   1  list    what the 16 lines, their shelf and the attic have
 *   2  sort    the hashes that come, a tile of them at a time, as entries
 *   3  merge   both, chain by chain: a thread has a chain. Copies are counted here
 *   4  write   the first chains of each line, as many as fit, into the line; the next 28 entries of
 *              all lines onto the shelf; the others go to a list for the new attic
 *
 * Steps 2 and 3 repeat until all hashes are merged. So a group can get any number of hashes, and is
 * refused only if the table has no room for them.
 *
 * In a list the position of an entry tells its chain, so the list stores only the other bits,
 * called an item: a byte in tables without rests (GROUP_IS_BARE), otherwise 64 bits. A small list
 * lets more warps run at a time. This file is included twice, once for each.
 */

#define GROUP_JOIN(a, b) a##b
#define GROUP_NAME(name, suffix) GROUP_JOIN(name, suffix)
#define G(name) GROUP_NAME(name, GROUP_SUFFIX)

/* The shared memory of a warp. at[c]: where the items of chain c begin. */
typedef struct G(group) {
    uint8_t     *raw;                /* the 16 lines and the shelf, as they are */
    GROUP_ENTRY *tile;               /* entries that come */
    GROUP_ITEM  *list, *other;       /* `room` items each: the old list, and the new one */
    uint16_t    *list_at, *other_at; /* GPU_CHAINS + 1 */
    uint32_t    *used;               /* slots in use, of each line */
    uint32_t    *tail;               /* of each line: entries in the tails of lines before it */
    unsigned     n;                  /* in the list */
    unsigned     tile_n;             /* in the tile */
    uint32_t     times;              /* how often each entry of the tile comes */
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

/* Bits of an item. The bits above them in an entry are its chain. */
TAMIS_INLINE unsigned G(item_bits)(lines_view lines) {
    return LINE_BYTE_BITS + lines_rest_bits(lines);
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

/* Load all lines and the shelf at once, to wait for memory only once. Lines that do not exist are
 * empty. */
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
    /* All threads search for the same words. This is rare, and the words are few. */
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

/* Where a chain begins among the entries of its line: if r chains before it have entries, at run r;
 * or, in the tail, after the entries of chains before it. */
TAMIS_INLINE unsigned G(chain_begin)(const shelf_view *shelves, const G(tail_here) * tail,
                                     runs index, unsigned chain) {
    unsigned const rank = bits_popcount(bits_below(index.occ, chain));
    if (rank <= runs_here(index)) return bits_lowest(bits_nth(index.starts, rank));
    unsigned at = runs_used(index);
    for (unsigned i = 0; i < tail->part.n + tail->words; i++)
        at += G(tail_key)(shelves, tail, i) >> LINE_BYTE_BITS < chain;
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
    for (unsigned chain = gpu_lane(); chain < LINE_CHAINS; chain += GPU_WARP)
        group->list_at[line * LINE_CHAINS + chain] =
            (uint16_t)(group->n + G(chain_begin)(&shelves, &tail, index, chain));
    group->n += used + far;
    return true;
}

/* List all entries of a group. False: they do not fit into the shared memory. */
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

/* How many hashes at the beginning are equal? They become one entry, so that many copies of one key
 * are cheap. */
TAMIS_INLINE uint32_t G(count_same)(const uint64_t *hashes, uint32_t n) {
    uint64_t const first = hashes[0];
    unsigned const each = 16; /* loads that a thread has in flight */
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
            uint64_t const    chain = place.bucket % SHELF_BUCKETS * LINE_CHAINS + place.chain;
            uint64_t const    rest = lines.is_bare ? 0 : rest_new(lines.shape, place.remainder, 0);
            entry = (GROUP_ENTRY)((chain << LINE_BYTE_BITS | place.byte) << lines_rest_bits(lines) |
                                  rest);
        }
        group->tile[i] = entry;
    }
    gpu_warp_sync();
    if (!is_flood) G(sort)(group->tile, padded);
    return is_flood ? same : group->tile_n;
}

/* ------------------------------------------------------------------ 3. merge, 4. write */

#include "group_merge.h"
#include "group_write.h"

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
    gpu_warp_sync(); /* the next group uses the same memory */
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
