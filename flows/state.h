/* state.h - the table of flows in a file, so that a run can continue where another ended (--state).
 *
 *     magic, version      16 bytes
 *     header              what the table was made for, its seed, the time; checksums
 *     order               ids of flows that may be forgotten to make room, oldest first (room.h)
 *     table               as tamis_states_save() writes it, with checksums of its own
 *
 * The table knows all flows and the state of each. Counters begin at 0 again, and so do lists of
 * hosts.
 */
#ifndef FLOWS_STATE_H
#define FLOWS_STATE_H

#include "room.h"

typedef struct state_file {
    tamis_seed seed;
    uint64_t   time_ns; /* since 1970, of the last packet */
    uint64_t  *order;   /* ids, oldest first, */
    uint64_t   n_order;
    uint8_t   *table; /* and the bytes of the table, */
    size_t     n;
    uint8_t   *memory; /* within the bytes of the file */
} state_file;

/* Read a file that was saved for the same machine and the same options. False: there is none, or it
 * is damaged or made for something else; then a message says why, and the run begins without it. A
 * file that tamis-flows has not saved ends the program. */
bool state_load(const char *name, const machine *m, const table_spec *spec, state_file *ret_file);
void state_free(state_file *file);

/* Save the table of `r` and the order of its flows. The file is replaced when all is written. A
 * failure is reported, and the old file stays. */
bool state_save(const char *name, const machine *m, const table_spec *spec, const room *r,
                uint64_t time_ns);

#endif
