/* state.h - the table of flows in a file, so that a run can continue where another ended (--state).
 *
 *     0    "tamis-flows", with a zero behind it
 *     12   version: 3, in 4 bytes
 *     16   hash of the machine and of the options that the table was made for
 *     24   time of the last packet, in ns since 1970
 *     32   number of ids, and
 *     40   XXH3 of them
 *     48   bytes of the table
 *     56   XXH3 of all before
 *     64   ids of flows that may be forgotten to make room, oldest first (room.h)
 *     ...  the table, as tamis_states_save() writes it, with its seed and checksums of its own
 *
 * Numbers are little-endian, and have 8 bytes unless it says otherwise. Checksums find damage. They
 * do not keep anybody from writing a file, so the reader believes nothing in it.
 *
 * The table knows all flows and the state of each. Counters begin at 0 again, and so do lists of
 * hosts.
 */
#ifndef FLOWS_STATE_H
#define FLOWS_STATE_H

#include "room.h"

typedef struct state_file {
    uint64_t  time_ns; /* since 1970, of the last packet */
    uint64_t *order;   /* ids, oldest first, */
    uint64_t  n_order;
    uint8_t  *table; /* and the bytes of the table, */
    size_t    n;
    uint8_t  *memory; /* within the bytes of the file */
} state_file;

/* Read a file that was saved for the same machine and the same options; `made` describes the empty
 * table of this run. False: there is none, or it is damaged or made for something else; then a
 * message says why, and the run begins without it. A file of another version, of tamis-flows or of
 * libtamis, is kept under a second name, NAME.old. A file that tamis-flows has not saved, or that
 * cannot be kept, ends the program. Whether the bytes of the table are valid is for
 * table_states_restore() to say. */
bool state_load(const char *name, const machine *m, const table_spec *spec, const table_info *made,
                state_file *ret_file);
void state_free(state_file *file);

/* Say why table_states_restore() did not accept the table, and keep the file if it is of another
 * version. */
void state_refuse(const char *name, const tamis_problem *problem);

/* Save the table of `r` and the order of its flows. The file is replaced when all is on the disk
 * (replace.h). A failure is reported, and the old file stays. */
bool state_save(const char *name, const machine *m, const table_spec *spec, const room *r,
                uint64_t time_ns);

#endif
