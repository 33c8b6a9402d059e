/* lines.h - keys: the lines of files, or of standard input, one file after the other.
 *
 * Lines are cut where they lie in a large buffer; nothing is copied. Every line is a key, also an
 * empty one (of 0 bytes). The bytes after the last separator of a file are a key, too, if there are
 * any. A carriage return is part of its line. A line of more than LINES_LONGEST bytes is an error:
 * input without separators, as /dev/zero, would take all memory.
 *
 * After signals_end_input(), a signal ends the input: the whole lines that were read by then are
 * the last.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <sys/types.h>

#include <tamis/tamis.h>

#define LINES_BATCH 512 /* keys at a time: with their lines, they stay in the second-level cache */
#define LINES_ALL UINT64_MAX
#define LINES_LONGEST ((size_t)16 << 20) /* bytes, without the separator */

/* Bytes that are cut into lines, from `begin` to `end`. No separator is between `begin` and
 * `scanned`. */
typedef struct line_text {
    char  *buffer;
    size_t buffer_bytes, begin, scanned, end;
    char   separator;
} line_text;

/* Cut keys off the beginning of the text, at most LINES_BATCH; 0 if it holds no whole line any
 * more. In the buffer each is followed by its separator, and that by the next key. */
size_t text_cut(line_text *text, tamis_key *ret_keys);

void text_free(line_text *text);

/* To be called before the input waits or fails, so that whatever was read before is done by then.
 * It waits for the oldest block that is not done yet, and finishes it. */
typedef enum settled {
    SETTLED_ONE,   /* there may be more */
    SETTLED_ALL,   /* there is none */
    SETTLED_ENOUGH /* no more input is needed */
} settled;
typedef settled lines_settle(void *context);

typedef struct lines {
    char *const *names; /* "-" is stdin */
    size_t       n_names, name;

    int   descriptor; /* of the open file, or -1 */
    bool  is_regular;
    bool  is_at_end; /* of the open file */
    off_t stdin_start;
    int  *spools; /* for each name: a copy of a file that can be read only once, or -1. NULL: no
                     copies */

    line_text text; /* read, and not handed out yet */

    uint64_t keys, bytes; /* read so far */
    uint64_t limit;       /* of keys to read, or LINES_ALL */
    bool     is_answered; /* lines are printed while others are read: the output is another file */

    lines_settle *settle; /* of threads that work on blocks; or NULL */
    void         *settle_context;
} lines;

/* Read these files; if there are none, standard input. */
void lines_open(lines *ret_lines, char *const *names, size_t n_names, char separator);

/* The next keys, at most LINES_BATCH; 0 at the end. They are valid until the next call. */
size_t lines_next(lines *input, tamis_key *ret_keys);

/* Many whole lines at once, for another thread to cut: about 256 KiB, or as many as there are
 * without waiting. False at the end. `block` is a text that was done with, or zeros; its buffer is
 * used again. The caller counts the lines: adds them to `keys`, and calls lines_count(). `limit` is
 * the caller's to keep, too. */
bool lines_next_block(lines *input, line_text *block);

/* Is there more to read at once? False at the end, too. */
bool lines_are_ready(const lines *input);

/* Is a block so small that handing it to another thread costs as much as the work? */
static inline bool text_is_small(const line_text *text) {
    return text->end - text->begin < ((size_t)1 << 15);
}

/* This many more lines were read. */
void lines_count(lines *input, uint64_t n);

/* All lines were read and counted: say so if a signal has ended them. lines_next() does it. */
void lines_end(const lines *input);

/* The bytes of keys[first..last-1] with their separators, in one piece. */
size_t lines_span(const tamis_key *keys, size_t first, size_t last);

/* The bytes of all files together; 0 if one of them has no size, as a pipe. */
uint64_t lines_total_bytes(const lines *input);

/* Read the lines so that they can be read again. Call it before the first lines_next(). Lines from
 * a pipe are copied to a nameless file in TMPDIR, since a pipe can be read only once. */
void lines_keep(lines *input);

/* Go back to the first line, after lines_keep(). */
void lines_rewind(lines *input);

void lines_close(lines *input);

#endif
