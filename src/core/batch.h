/* batch.h - many keys in flight: plan and prefetch all of a chunk, then probe all of it.
 *
 * A lookup in a large table waits for memory. Asked one by one, the processor overlaps a few; asked
 * in chunks, it overlaps all of them: far beyond the cache that is what speed is. So a chunk is the
 * main path, and a single call is a chunk of one in meaning.
 *
 * A kind whose keys live in one place writes three inline functions,
 *
 *     plan  kind_plan(const tamis_table *, uint64_t hash)    where could it be? (reads no memory)
 *     void  kind_fetch(const tamis_table *, const plan *)    ask for that memory
 *     bool  kind_probe(const tamis_table *, const plan *)    is it there?
 *
 * and has its chunk by one line. Kinds that ask k places per key use probes.h instead.
 */
#ifndef TAMIS_CORE_BATCH_H
#define TAMIS_CORE_BATCH_H

#include "core/base.h"

/* Keys per chunk: as many as one mask has bits, and more than the line-fill buffers of a core. */
#define TAMIS_CHUNK 64

/* uint64_t name(table, hash, n): bit i is probe(plan(hash[i])), 1 <= n <= TAMIS_CHUNK. */
#define TAMIS_DEFINE_HAS_CHUNK(name, plan_type, plan_of, fetch, probe)                   \
    static uint64_t name(const tamis_table *table, const uint64_t *hash, unsigned n) {   \
        plan_type plan[TAMIS_CHUNK];                                                     \
        uint64_t  found = 0;                                                             \
        for (unsigned i = 0; i < n; i++) {                                               \
            plan[i] = plan_of(table, hash[i]);                                           \
            fetch(table, &plan[i]);                                                      \
        }                                                                                \
        for (unsigned i = 0; i < n; i++) found |= (uint64_t)probe(table, &plan[i]) << i; \
        return found;                                                                    \
    }

#endif
