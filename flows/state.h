/* state.h - the table of flows in a file, so that a run can continue where another ended (--state).
 *
 *     magic, version      16 bytes
 *     header              what the table was made for, its seed, the time; a checksum
 *     table               as tamis_states_save() writes it, with checksums of its own
 *
 * Only the table is kept: it knows all flows and the state of each. Counters begin at 0 again, and
 * so do lists of hosts.
 */
#ifndef FLOWS_STATE_H
#define FLOWS_STATE_H

#include "table.h"

typedef struct state_file {
    tamis_seed seed;
    uint64_t   time_ns; /* since 1970, of the last packet */
    uint8_t   *table;   /* the bytes of the table, */
    size_t     n;
    uint8_t   *memory; /* within the bytes of the file */
} state_file;

/* Read a file that was saved for the same machine and the same options. False: there is none, or it
 * is damaged or made for something else: then it is said why, and the run begins without it. A file
 * that is none of ours ends the program. */
bool state_load(const char *name, const machine *m, const table_spec *spec, state_file *ret_file);
void state_free(state_file *file);

/* Replace the file when all is written. A failure is reported, and the old file stays. */
bool state_save(const char *name, const machine *m, const table_spec *spec, const table *flows,
                uint64_t time_ns);

#endif
