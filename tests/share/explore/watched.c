/* watched.c - the library in one file, where every access to memory is a call.
 *
 * It is compiled with -fsanitize=thread: the compiler calls a function before each load and store
 * that another thread could see, and in place of each atomic operation. They are the functions of
 * ThreadSanitizer; here the explorer has its own (steps.h). What the compiler does not see is
 * replaced by functions of the explorer: copies of memory, waiting, the mutex.
 */
#define _GNU_SOURCE
#include "watch.h"

#include <string.h>

#define pthread_mutex_lock explore_lock
#define pthread_mutex_trylock explore_try_lock
#define pthread_mutex_unlock explore_unlock
#define pthread_self explore_self

/* Short copies of a known length are loads and stores, which the compiler sees. */
#define IS_SHORT(n) (__builtin_constant_p(n) && (n) <= 8)
#define memcpy(to, from, n) \
    (IS_SHORT(n) ? __builtin_memcpy(to, from, n) : (explore_copy(to, from, n), (void *)(to)))
#define memmove(to, from, n) (explore_copy(to, from, n), (void *)(to))
#define memset(to, byte, n) (explore_fill(to, byte, n), (void *)(to))

#include "tamis.c" /* make amalgamation, with the faults of run-explore */

uint64_t explore_hash(const tamis_set *set, uint64_t id) {
    return keyhash_id(&set->hasher, id);
}

uint64_t explore_bucket(const tamis_set *set, uint64_t id) {
    return fastrange(explore_hash(set, id), set->table.geometry[0]);
}

explore_part explore_part_of(const tamis_set *set, uint64_t id) {
    lines_view const  lines = line_view(&set->table);
    lines_place const place = lines_find(lines, explore_hash(set, id));
    bool              is_far, may_go_on;
    (void)lines_slots_here(lines, &place, &is_far);
    if (!is_far) return IN_LINE;
    return line_on_shelf(lines, &place, &may_go_on) != 0 ? ON_SHELF : IN_ATTIC;
}
