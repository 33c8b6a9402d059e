/* batch.h - many keys in flight: plan and prefetch all of a chunk, then probe all of it.
 *
 * A lookup in a large table waits for memory. Asked one by one, the processor overlaps a few; asked
 * in chunks, it overlaps all of them: far beyond the cache that is what speed is. So a chunk is the
 * main path, and a single call is a chunk of one in meaning.
 */
#ifndef TAMIS_CORE_BATCH_H
#define TAMIS_CORE_BATCH_H

#include "core/base.h"

/* Keys per chunk: as many as one mask has bits, and more than the line-fill buffers of a core. */
#define TAMIS_CHUNK 64

#endif
