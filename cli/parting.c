/* parting.c - see parting.h. */
#include "parting.h"

#include <pthread.h>
#include <stdlib.h>

#include "message.h"

#define RANGES_PER_THREAD 4
#define MOST_BITS 6 /* ranges are the bits of a word; and a block has about 100 keys for each */

#define LEAST_BLOCKS 64 /* that a set must have room for: see parting.h */

struct parting {
    tamis_set      *set;
    uint64_t        most_lines; /* of a block that is parted; threads change it */
    unsigned        bits;       /* of a hash that tell its range */
    pthread_mutex_t ranges[1 << MOST_BITS];
};

/* A set that grows will be large enough sooner or later. */
static bool is_small(parting *all, uint64_t n_lines) {
    tamis_facts facts;
    if (n_lines <= __atomic_load_n(&all->most_lines, __ATOMIC_RELAXED)) return false;
    if (tamis_get_facts(all->set, &facts) != TAMIS_OK) return true;
    __atomic_store_n(&all->most_lines, facts.capacity / LEAST_BLOCKS, __ATOMIC_RELAXED);
    return n_lines > facts.capacity / LEAST_BLOCKS;
}

parting *parting_make(tamis_set *set, unsigned threads) {
    parting *const all = calloc(1, sizeof *all);
    if (all == NULL) die("not enough memory for %u threads", threads);
    all->set = set;
    while (all->bits < MOST_BITS && 1u << all->bits < RANGES_PER_THREAD * threads) all->bits++;
    for (unsigned i = 0; i < 1u << all->bits; i++) (void)pthread_mutex_init(&all->ranges[i], NULL);
    return all;
}

void parting_free(parting *all) {
    for (unsigned i = 0; i < 1u << all->bits; i++) (void)pthread_mutex_destroy(&all->ranges[i]);
    free(all);
}

/* Sort hashes by range. Those of range r are ret_parted[begin[r]] to ret_parted[begin[r + 1] - 1].
 */
static void part(unsigned bits, const uint64_t *hashes, size_t n, uint64_t *ret_parted,
                 size_t *ret_begin) {
    unsigned const shift = 64 - bits, ranges = 1u << bits;
    size_t         end[1 << MOST_BITS] = { 0 };
    for (size_t i = 0; i < n; i++) end[hashes[i] >> shift]++;
    for (unsigned r = 0, sum = 0; r < ranges; r++) {
        ret_begin[r] = sum;
        sum += (unsigned)end[r];
        end[r] = ret_begin[r];
    }
    for (size_t i = 0; i < n; i++) ret_parted[end[hashes[i] >> shift]++] = hashes[i];
    ret_begin[ranges] = n;
}

/* Lock one of these ranges: one that is free, if there is one. Where to begin to look differs from
 * block to block. */
static unsigned lock_any(parting *all, uint64_t wanted, unsigned begin) {
    unsigned const ranges = 1u << all->bits;
    unsigned       last = 0;
    for (unsigned i = 0; i < ranges; i++) {
        unsigned const range = (begin + i) % ranges;
        if ((wanted >> range & 1) == 0) continue;
        if (pthread_mutex_trylock(&all->ranges[range]) == 0) return range;
        last = range;
    }
    (void)pthread_mutex_lock(&all->ranges[last]);
    return last;
}

static void add_in_order(parting *all, job *block) {
    size_t added;
    block->status = tamis_add_hash_batch(all->set, block->hashes, (size_t)block->lines, &added);
    block->sums[0] = added;
}

static void add_by_range(parting *all, job *block) {
    unsigned const ranges = 1u << all->bits;
    size_t         begin[(1 << MOST_BITS) + 1], added;
    part(all->bits, block->hashes, (size_t)block->lines, block->parted, begin);
    uint64_t wanted = ranges == 64 ? UINT64_MAX : (UINT64_C(1) << ranges) - 1;
    while (wanted != 0 && block->status == TAMIS_OK) {
        unsigned const range = lock_any(all, wanted, (unsigned)block->hashes[0] % ranges);
        size_t const   n = begin[range + 1] - begin[range];
        block->status = tamis_add_hash_batch(all->set, block->parted + begin[range], n, &added);
        (void)pthread_mutex_unlock(&all->ranges[range]);
        block->sums[0] += added;
        wanted &= ~(UINT64_C(1) << range);
    }
}

void parting_add(parting *all, job *block) {
    if (block->lines == 0) return;
    if (is_small(all, block->lines))
        add_in_order(all, block);
    else
        add_by_range(all, block);
    if (block->status != TAMIS_OK) block->lines = block->sums[0] + 1;
}
