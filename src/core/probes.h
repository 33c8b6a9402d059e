/* probes.h - the k places of a key in a Bloom filter or one of its relatives.
 *
 * Place i of a key is fastrange(remix(hash, i), places): k independent choices of one of m places.
 * A lookup of a present key must ask all k of them. A lookup of an absent key stops at the first
 * place that does not hold it: in a filter of the best size half of the places are empty, so that
 * takes two places on average.
 *
 * Looking up many keys at once, there are three ways:
 *
 *   probes_ask       for a table beyond the cache. To prefetch all k places of an absent key would
 *                    load k - 2 lines in vain. So it goes in rounds: place i of every open key is
 *                    prefetched, then asked; keys whose place does not hold leave. Once few keys
 *                    leave a round (the rest seem to be present), or few are left, all remaining
 *                    places of all open keys are tested at once.
 *   probes_ask_near  for a table within the cache, where there is nothing to wait for. The cost is
 *                    then the mispredicted branch when a key leaves: places are tested two by two,
 *                    without a branch.
 *   probes_locate    for updates, which need all k places of every key: computes and prefetches the
 *                    places of as many keys as fill the line-fill buffers.
 *
 * A kind passes two functions, "where is this place in the body" and "does this place hold". They
 * are inlined, so that each instance is as fast as one written by hand.
 */
#ifndef TAMIS_CORE_PROBES_H
#define TAMIS_CORE_PROBES_H

#include "core/batch.h"
#include "core/bits.h"
#include "core/hash.h"

#define PROBES_MAX 64 /* the largest k */

#define PROBES_FEW 8        /* with so few open keys, another round does not pay */
#define PROBES_LOCATED 128  /* places that are prefetched at a time; at least PROBES_MAX */
#define PROBES_NEAR 1048576 /* bytes of a body that the cache of a core holds */

static_assert(PROBES_LOCATED >= PROBES_MAX, "all places of one key");

TAMIS_INLINE uint64_t probes_place(uint64_t hash, unsigned i, uint64_t places) {
    return fastrange(remix(hash, i), places);
}

typedef const uint8_t *probes_where(const void *table, uint64_t place);
typedef bool           probes_holds(const void *table, uint64_t place);

/* ------------------------------------------------------------------ one key */

/* Do the places first, ..., k - 1 of a key all hold? Stops at the first that does not. */
TAMIS_INLINE bool probes_hold(const void *table, uint64_t hash, unsigned first, unsigned k,
                              uint64_t places, probes_holds *holds) {
    for (unsigned i = first; i < k; i++) {
        if (!holds(table, probes_place(hash, i, places))) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ many keys, in the cache */

/* `list` has the indices of n open keys. Keep those whose places i and j both hold, and return how
 * many are left. Every key is written, and the length grows only by those that stay: no branch. */
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

/* Do all k places of each of n <= TAMIS_CHUNK keys hold? Bit i answers for hash[i]. */
TAMIS_INLINE uint64_t probes_ask_near(const void *table, const uint64_t *hash, unsigned n,
                                      unsigned k, uint64_t places, probes_holds *holds) {
    unsigned const second = k > 1; /* with k = 1, place 0 is tested twice */
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

/* ------------------------------------------------------------------ many keys, beyond the cache */

/* One round: prefetch place `i` of every open key, then ask it. `open` is a mask of keys; returns
 * the mask of those whose place holds. */
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

/* All places from `first` on of every open key, in blocks of at most PROBES_LOCATED places. */
TAMIS_INLINE uint64_t probes_ask_rest(const void *table, const uint64_t *hash, uint64_t open,
                                      unsigned first, unsigned k, uint64_t places,
                                      probes_where *where, probes_holds *holds) {
    uint64_t place[PROBES_LOCATED], kept = 0;
    while (open != 0) {
        uint64_t const *next = place;
        unsigned        n = 0;
        uint64_t        block = 0; /* the keys of this block */
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

/* Do all k places of each of n <= TAMIS_CHUNK keys hold? Bit i answers for hash[i]. Rounds go on
 * while more than a quarter of the open keys leave, and more than PROBES_FEW are open. */
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

/* ------------------------------------------------------------------ updates */

/* Compute and prefetch, for writing, all places of the first keys: place[i * k + j] is place j of
 * hash[i]. Returns how many keys that are, at least 1. */
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
