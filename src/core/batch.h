/* batch.h - how many keys are worked on together.
 *
 * A lookup in a large table waits for memory. If keys are looked up one after the other, the
 * processor overlaps only a few of these waits. If the places of a whole chunk of keys are computed
 * and prefetched first, and looked at afterwards, the waits of the whole chunk overlap. In tables
 * beyond the cache that decides the speed (docs/performance.md). So the chunk is the main path of
 * every kind, and a single call gives the same answer as a chunk of one key.
 */
#ifndef TAMIS_CORE_BATCH_H
#define TAMIS_CORE_BATCH_H

#include "core/base.h"

/* Keys per chunk: one bit each in a 64-bit answer, and more keys than a core has line-fill buffers
 * (10 to 16), so that all of these are busy. */
#define TAMIS_CHUNK 64

#endif
