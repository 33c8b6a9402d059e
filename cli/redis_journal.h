/* redis_journal.h - tamis redis load --journal FILE: a run that was killed can be continued.
 *
 * The journal is a text file. Its first line says for which set it is, and which clients the run
 * has at the shards. Then there is a line for each window before it is sent (how many keys, and a
 * checksum of them), and one when it is confirmed. Another run with the same input skips the
 * confirmed windows. It sends the unconfirmed ones again with the same numbers, so that the shards
 * recognise requests that they have done. Then it continues with the rest of the input.
 */
#ifndef CLI_REDIS_JOURNAL_H
#define CLI_REDIS_JOURNAL_H

#include "redis_windows.h"

typedef struct journal_window {
    uint64_t keys, sum;
} journal_window;

typedef struct journal {
    const char     *path; /* NULL: there is no journal, and all calls do nothing */
    int             descriptor;
    unsigned        windows; /* on their way at one time */
    journal_window *begun;   /* of an earlier run */
    uint64_t        n_begun, n_done, room;
    uint64_t        ones; /* answers of 1 in the windows that are done */
    bool            is_ended;
} journal;

/* Open or make the journal of a set that exists; the set gets the client of the journal. Any error
 * ends the program. */
void journal_open(journal *ret_journal, const options *asked, shards *set);
void journal_close(journal *book);

/* How many keys window i (0, 1, ...) had in an earlier run; 0: it had none. */
size_t journal_keys(const journal *book, uint64_t i);

/* Was it confirmed then? Its keys must be the same. */
bool journal_is_done(const journal *book, uint64_t i, const key_window *window);

/* Record that window i is going to be sent; the record is on disk when this returns. */
void journal_begin(journal *book, uint64_t i, const key_window *window);

/* The oldest window that was sent is confirmed, with this many answers of 1. */
void journal_done(journal *book, uint64_t ones);

/* All windows are confirmed. */
void journal_end(journal *book);

#endif
