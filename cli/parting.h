/* parting.h - threads that add keys to one set, each to its own lines of it.
 *
 * A shared set lets threads add at the same time, but each key locks its stripe, and a stripe that
 * another core has written last must come from there. So the hashes of a block are parted first:
 * the top bits of a hash say where in the table its line is, and give its range.
 *
 *     hash     0 ............................................. 2^64
 *     range    |  0   |  1   |  2   |  3   |  4   |  ...
 *     lines    the same order: a range is a part of the table that no other range touches
 *
 * One thread at a time works on a range. A thread that finds one taken adds to another meanwhile.
 * There are four ranges for each thread (64 at most), so that one is free.
 *
 * Keys that come range by range fill a small set unevenly: its first range would be full, and the
 * set grow or refuse a key, before the others have theirs. So a block is added in the order of its
 * lines while it has more than a 64th of the keys that the set is made for.
 */
#ifndef CLI_PARTING_H
#define CLI_PARTING_H

#include "crew.h"

typedef struct parting parting;

/* For this many threads that add to the set. Ends the program if there is no memory. */
parting *parting_make(tamis_set *set, unsigned threads);
void     parting_free(parting *all);

/* Add the hashes of a job (job_hash) to the set. If one is refused, the status of the job says so,
 * and `lines` counts those that were added and one more. sums[0]: how many were added. */
void parting_add(parting *all, job *block);

#endif
