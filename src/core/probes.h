/* probes.h - kinds that ask k independent places per key: Bloom filters and their relatives.
 *
 * Place i of a key is fastrange(remix(hash, i), places). Two ways to have many keys in flight:
 *
 * probes_ask    for lookups. Most absent keys are refused by their first or second place, so
 *               fetching all k would waste k - 2 lines. It goes in rounds: every key still in
 *               question is asked one place, those that failed leave, and as they leave, the rest
 *               are asked more places per round, so that about PROBES_IN_FLIGHT lines are on
 *               their way at any time.
 *
 * probes_locate for updates, which need all k places: as many keys as give about that many lines.
 *
 * Both take the kind's two questions (where is place p, does it hold) as functions, which the
 * compiler folds in: each instance is as if written by hand.
 */
#ifndef TAMIS_CORE_PROBES_H
#define TAMIS_CORE_PROBES_H

#include "core/batch.h"
#include "core/bits.h"
#include "core/hash.h"

#define PROBES_MAX 64 /* the largest k */

#define PROBES_IN_FLIGHT 64 /* lines on their way in a round of questions */
#define PROBES_LOCATED 128  /* places held ready for updates; at least PROBES_MAX */

TAMIS_INLINE uint64_t probes_place(uint64_t hash, unsigned i, uint64_t places) {
    return fastrange(remix(hash, i), places);
}

typedef const uint8_t *probes_where(const void *table, uint64_t place);
typedef bool           probes_holds(const void *table, uint64_t place);

/* Do all k places of each of n <= TAMIS_CHUNK keys hold? Bit i answers for hash[i]. */
TAMIS_INLINE uint64_t probes_ask(const void *table, const uint64_t *hash, unsigned n, unsigned k,
                                 uint64_t places, probes_where *where, probes_holds *holds) {
    uint64_t place[PROBES_IN_FLIGHT];
    uint8_t  open[TAMIS_CHUNK]; /* keys still in question */
    unsigned n_open = n;
    for (unsigned i = 0; i < n; i++) open[i] = (uint8_t)i;

    for (unsigned asked = 0, group; asked < k && n_open != 0; asked += group) {
        group = (unsigned)min_u64(k - asked, PROBES_IN_FLIGHT / n_open);
        uint64_t *next = place;
        for (unsigned o = 0; o < n_open; o++) {
            for (unsigned g = 0; g < group; g++, next++) {
                *next = probes_place(hash[open[o]], asked + g, places);
                prefetch_to_read(where(table, *next));
            }
        }
        unsigned n_kept = 0;
        next = place;
        for (unsigned o = 0; o < n_open; o++) {
            bool all = true;
            for (unsigned g = 0; g < group; g++, next++) all &= holds(table, *next);
            open[n_kept] = open[o]; /* no branch: who stays is a coin toss */
            n_kept += all;
        }
        n_open = n_kept;
    }

    uint64_t found = 0;
    for (unsigned o = 0; o < n_open; o++) found |= UINT64_C(1) << open[o];
    return found;
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
