/* redis_journal.c - see redis_journal.h. */
#include "redis_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

#define LINE_BYTES 512
#define MAGIC "tamis journal 1 "

/* ------------------------------------------------------------------ writing */

/* Lines are short, so a write is whole, or the disk is full. */
static void write_line(const journal *book, const char *line) {
    size_t const n = strlen(line);
    if (write(book->descriptor, line, n) != (ssize_t)n || fdatasync(book->descriptor) != 0)
        die("%s: %s", book->path, strerror(errno));
}

void journal_begin(journal *book, uint64_t i, const key_window *window) {
    char line[64];
    if (book->path == NULL || i < book->n_begun) return;
    (void)snprintf(line, sizeof line, "window %zu %016" PRIx64 "\n", window->n, window_sum(window));
    write_line(book, line);
}

void journal_done(journal *book, uint64_t ones) {
    char line[64];
    if (book->path == NULL) return;
    (void)snprintf(line, sizeof line, "done %" PRIu64 "\n", ones);
    write_line(book, line);
}

void journal_end(journal *book) {
    if (book->path != NULL) write_line(book, "end\n");
}

/* ------------------------------------------------------------------ reading */

size_t journal_keys(const journal *book, uint64_t i) {
    return i < book->n_begun ? (size_t)book->begun[i].keys : 0;
}

bool journal_is_done(const journal *book, uint64_t i, const key_window *window) {
    if (i >= book->n_begun) return false;
    if (window->n != book->begun[i].keys || window_sum(window) != book->begun[i].sum)
        die("%s: the input is not the one of this journal (window %" PRIu64 " has other keys)",
            book->path, i + 1);
    return i < book->n_done;
}

static void note_window(journal *book, uint64_t keys, uint64_t sum) {
    if (book->n_begun == book->room) {
        book->room = 2 * book->room + 64;
        book->begun = realloc(book->begun, (size_t)book->room * sizeof *book->begun);
        if (book->begun == NULL) die("not enough memory for the journal");
    }
    book->begun[book->n_begun++] = (journal_window){ keys, sum };
}

/* A line behind the first. False: it is not one of ours. */
static bool take_line(journal *book, const char *line) {
    uint64_t keys, sum, ones;
    if (strcmp(line, "end\n") == 0) {
        book->is_ended = true;
        return true;
    }
    if (sscanf(line, "window %" SCNu64 " %" SCNx64, &keys, &sum) == 2) {
        note_window(book, keys, sum);
        return keys != 0;
    }
    if (sscanf(line, "done %" SCNu64, &ones) != 1) return false;
    book->ones += ones;
    return ++book->n_done <= book->n_begun;
}

/* The first line: what the journal is for. The client is what an earlier run was called. */
static void write_head(const journal *book, const options *asked, const shards *set,
                       char ret_line[LINE_BYTES]) {
    (void)snprintf(ret_line, LINE_BYTES,
                   MAGIC "%s %s seed=%016" PRIx64 ":%016" PRIx64 " windows=%u client=%s\n",
                   asked->operands[0], set->name, set->meta.seed.high, set->meta.seed.low,
                   book->windows, set->client);
}

static void take_head(journal *book, const options *asked, shards *set, const char *line) {
    char              mine[LINE_BYTES];
    const char *const words = strstr(line, " windows=");
    char              client[sizeof set->client];
    if (words == NULL || sscanf(words, " windows=%u client=%30s", &book->windows, client) != 2 ||
        book->windows < 1 || book->windows > MAX_WINDOWS)
        die("%s is not a journal", book->path);
    (void)snprintf(set->client, sizeof set->client, "%s", client);
    write_head(book, asked, set, mine);
    if (strcmp(mine, line) != 0)
        die("%s is the journal of another set, or of another command: %.*s", book->path,
            (int)strcspn(line, "\n"), line);
}

/* The end of a file without a whole line: may it be cut off? Only what an earlier run can have left
 * when it was killed, and never the contents of some other file. */
static bool is_cut_line(FILE *file, const char *line, long begin) {
    size_t const n = strlen(line), magic = sizeof MAGIC - 1;
    bool const is_all = feof(file) && ftell(file) - begin == (long)n; /* no longer, and no zeros */
    return is_all && (begin != 0 || strncmp(line, MAGIC, n < magic ? n : magic) == 0);
}

/* All whole lines; a line that was cut by the end of the earlier run is cut off. */
static void read_lines(journal *book, const options *asked, shards *set) {
    FILE *const file = fdopen(dup(book->descriptor), "r");
    char        line[LINE_BYTES] = "";
    long        whole = 0;
    if (file == NULL) die("%s: %s", book->path, strerror(errno));
    while (fgets(line, sizeof line, file) != NULL) {
        if (strchr(line, '\n') == NULL && is_cut_line(file, line, whole)) break;
        if (whole == 0)
            take_head(book, asked, set, line);
        else if (book->is_ended || !take_line(book, line))
            die("%s is damaged after byte %ld", book->path, whole);
        whole = ftell(file);
    }
    (void)fclose(file);
    if (ftruncate(book->descriptor, whole) != 0 || lseek(book->descriptor, whole, SEEK_SET) < 0)
        die("%s: %s", book->path, strerror(errno));
    if (whole == 0) {
        write_head(book, asked, set, line);
        write_line(book, line);
    }
}

void journal_open(journal *ret_journal, const options *asked, shards *set) {
    struct stat about;
    *ret_journal = (journal){ .path = asked->journal, .windows = asked->windows, .descriptor = -1 };
    if (asked->journal == NULL) return;
    ret_journal->descriptor = open(asked->journal, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (ret_journal->descriptor < 0) die("%s: %s", asked->journal, strerror(errno));
    /* A pipe would be read for ever. */
    if (fstat(ret_journal->descriptor, &about) != 0 || !S_ISREG(about.st_mode))
        die("%s: a journal must be an ordinary file", asked->journal);
    if (flock(ret_journal->descriptor, LOCK_EX | LOCK_NB) != 0)
        die("%s: another run uses this journal", asked->journal);
    read_lines(ret_journal, asked, set);
}

void journal_close(journal *book) {
    if (book->descriptor >= 0) (void)close(book->descriptor);
    free(book->begun);
}
