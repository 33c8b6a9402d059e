/* probes.h - kinds that ask k independent places per key: Bloom filters and their relatives.
 *
 * Place i of a key is fastrange(remix(hash, i), places). A present key is asked all k of them, an
 * absent one until the first that does not hold, about two. Many keys at once:
 *
 * probes_ask     lookups in a table beyond the cache. Fetching all k places of a key that is absent
 *                would waste k - 2 lines, so it goes in rounds: one place of every key in question,
 *                fetched for all of them, then looked at for all of them; those that fail leave.
 *                Once few leave (they are present, it seems) or few are left, the rest is asked
 *                at once.
 * probes_ask_near  lookups in a table within the cache. Nothing to wait for, so the cost is
 *                mispredicted branches: the first two places are asked without any.
 * probes_locate  updates, which need all k places: as many keys as fill the line-fill buffers.
 *
 * They take the kind's two questions (where is place p, does it hold) as functions, which the
 * compiler folds in: each instance is as if written by hand.
 */
#ifndef TAMIS_CORE_PROBES_H
#define TAMIS_CORE_PROBES_H

#include "core/batch.h"
#include "core/bits.h"
#include "core/hash.h"

#define PROBES_MAX 64 /* the largest k */

#define PROBES_FEW 8        /* keys left in question that are not worth rounds of their own */
#define PROBES_LOCATED 128  /* places held ready at a time; at least PROBES_MAX */
#define PROBES_NEAR 1048576 /* bytes that a core's own cache holds */

TAMIS_INLINE uint64_t probes_place(uint64_t hash, unsigned i, uint64_t places) {
    return fastrange(remix(hash, i), places);
}

typedef const uint8_t *probes_where(const void *table, uint64_t place);
typedef bool           probes_holds(const void *table, uint64_t place);

/* Do the places from `first` on hold? Stops at the first that does not. */
TAMIS_INLINE bool probes_hold(const void *table, uint64_t hash, unsigned first, unsigned k,
                              uint64_t places, probes_holds *holds) {
    for (unsigned i = first; i < k; i++) {
        if (!holds(table, probes_place(hash, i, places))) return false;
    }
    return true;
}

/* Of the n listed keys, those whose places i and j hold stay; returns how many. No branch. */
TAMIS_INLINE unsigned probes_keep(const void *table, const uint64_t *hash, uint8_t *list,
                                  unsigned n, unsigned i, unsigned j, uint64_t places,
                                  probes_holds *holds) {
    unsigned kept = 0;
    for (unsigned at = 0; at < n; at++) {
        uint8_t const  key = list[at];
        unsigned const first = holds(table, probes_place(hash[key], i, places));
        unsigned const second = holds(table, probes_place(hash[key], j, places));
        list[kept] = key;
        kept += first & second;
    }
    return kept;
}

TAMIS_INLINE uint64_t probes_ask_near(const void *table, const uint64_t *hash, unsigned n,
                                      unsigned k, uint64_t places, probes_holds *holds) {
    unsigned const second = k > 1; /* with k = 1, the first place again */
    uint8_t        list[TAMIS_CHUNK];
    unsigned       open = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned const first_holds = holds(table, probes_place(hash[i], 0, places));
        unsigned const second_holds = holds(table, probes_place(hash[i], second, places));
        list[open] = (uint8_t)i;
        open += first_holds & second_holds;
    }
    for (unsigned i = 2; i < k && open != 0; i += 2) {
        open = probes_keep(table, hash, list, open, i, i + 1 < k ? i + 1 : i, places, holds);
    }
    uint64_t found = 0;
    for (unsigned i = 0; i < open; i++) found |= UINT64_C(1) << list[i];
    return found;
}

/* Ask place `i` of every open key; who holds? */
TAMIS_INLINE uint64_t probes_ask_one(const void *table, const uint64_t *hash, uint64_t open,
                                     unsigned i, uint64_t places, probes_where *where,
                                     probes_holds *holds) {
    uint64_t place[TAMIS_CHUNK], kept = 0;
    for (uint64_t left = open; left != 0; left &= left - 1) {
        unsigned const key = bits_lowest(left);
        place[key] = probes_place(hash[key], i, places);
        prefetch_to_read(where(table, place[key]));
    }
    for (uint64_t left = open; left != 0; left &= left - 1) {
        unsigned const key = bits_lowest(left);
        kept |= (uint64_t)holds(table, place[key]) << key;
    }
    return kept;
}

/* Ask the places from `first` on of every open key, as many keys at a time as give enough lines. */
TAMIS_INLINE uint64_t probes_ask_rest(const void *table, const uint64_t *hash, uint64_t open,
                                      unsigned first, unsigned k, uint64_t places,
                                      probes_where *where, probes_holds *holds) {
    uint64_t place[PROBES_LOCATED], kept = 0;
    while (open != 0) {
        uint64_t const *next = place;
        unsigned        n = 0;
        uint64_t        block = 0;
        for (; open != 0 && n + (k - first) <= PROBES_LOCATED; open &= open - 1) {
            unsigned const key = bits_lowest(open);
            block |= UINT64_C(1) << key;
            for (unsigned i = first; i < k; i++) {
                place[n] = probes_place(hash[key], i, places);
                prefetch_to_read(where(table, place[n++]));
            }
        }
        for (; block != 0; block &= block - 1) {
            bool all = true;
            for (unsigned i = first; i < k; i++) all &= holds(table, *next++);
            kept |= (uint64_t)all << bits_lowest(block);
        }
    }
    return kept;
}

/* Do all k places of each of n <= TAMIS_CHUNK keys hold? Bit i answers for hash[i]. */
TAMIS_INLINE uint64_t probes_ask(const void *table, const uint64_t *hash, unsigned n, unsigned k,
                                 uint64_t places, probes_where *where, probes_holds *holds) {
    uint64_t open = bits_low(n);
    unsigned asked = 0, n_open = n, n_before;
    do {
        n_before = n_open;
        open = probes_ask_one(table, hash, open, asked++, places, where, holds);
        n_open = bits_popcount(open);
    } while (asked < k && n_open > PROBES_FEW && n_open < n_before - n_before / 4);
    return asked < k ? probes_ask_rest(table, hash, open, asked, k, places, where, holds) : open;
}

/* Compute and prefetch, for writing, the places of the first keys: place[i * k + j] is place j of
 * hash[i]. Returns how many keys fit, at least 1. */
TAMIS_INLINE unsigned probes_locate(const void *table, const uint64_t *hash, unsigned n, unsigned k,
                                    uint64_t places, probes_where *where,
                                    uint64_t place[PROBES_LOCATED]) {
    unsigned const n_keys = (unsigned)min_u64(n, PROBES_LOCATED / k);
    for (unsigned i = 0; i < n_keys; i++) {
        for (unsigned j = 0; j < k; j++) {
            uint64_t const p = probes_place(hash[i], j, places);
            prefetch_to_write(where(table, p));
            *place++ = p;
        }
    }
    return n_keys;
}

#endif
