/* lines.h - keys: the lines of files, or of stdin, one file after the other.
 *
 * Lines are cut where they lie in a large buffer; nothing is copied. Every line is a key, also an
 * empty one (of 0 bytes), and so is what follows the last separator of a file, if anything does. A
 * carriage return is part of its line.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <sys/types.h>

#include <tamis/tamis.h>

#define LINES_BATCH 512 /* keys at a time: with their lines, they stay in the second-level cache */

typedef struct lines {
    char *const *names; /* "-" is stdin */
    size_t       n_names, name;
    char         separator;

    int   descriptor; /* of the open file, or -1 */
    bool  is_regular;
    bool  is_at_end; /* of the open file */
    off_t stdin_start;
    int  *spools; /* for each name: a copy of what can be read only once, or -1. NULL: no copies */

    char  *buffer; /* lines begin at `begin`; no separator is between it and `scanned` */
    size_t buffer_bytes, begin, scanned, end;

    uint64_t keys, bytes; /* read so far */
} lines;

/* Read these files; none at all is stdin. */
void lines_open(lines *ret_lines, char *const *names, size_t n_names, char separator);

/* The next keys, at most LINES_BATCH; 0 at the end. They are good until the next call. In the
 * buffer they touch: a separator follows each, and then comes the next. */
size_t lines_next(lines *from, tamis_key *ret_keys);

/* The bytes of keys[first..last-1] with their separators, in one piece. */
size_t lines_span(const tamis_key *keys, size_t first, size_t last);

/* How many lines there are. Afterwards they can be read from the beginning, for which what comes
 * from a pipe is copied to a nameless file in TMPDIR. */
uint64_t lines_count(lines *from);

void lines_close(lines *from);

#endif
