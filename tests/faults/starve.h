/* starve.h - memory that runs out at the n-th request, wherever the request comes from.
 *
 * The linker puts the __wrap_ functions of starve.c in front of every call of the library that gets
 * memory from the system (--wrap): aligned_alloc, mmap, strdup, realpath, pthread_mutex_init. So
 * the library runs out of memory also if the caller gives it no allocator. All memory that is
 * handed out is counted.
 */
#ifndef TAMIS_TESTS_STARVE_H
#define TAMIS_TESTS_STARVE_H

#include "unit.h"

#include <tamis/tamis.h>

/* From now on the n-th request fails (n >= 1), and with `is_for_good` all later ones as well. */
void starve(size_t n, bool is_for_good);

/* Memory is back. Was the n-th request made? */
bool starve_end(void);

/* Bytes and blocks that were handed out and not given back: 0 when all is freed. */
size_t starve_outstanding(void);

/* How many requests there were since the program began. */
size_t starve_requests(void);

/* An allocator for a spec that fails and counts in the same way. */
tamis_allocator starve_allocator(void);

#endif
