/* journal.c - see journal.h.
 *
 * A file is a header and records: the number of a trial and its outcome, in the order in which the
 * trials ended. A run that was killed may leave half a record at the end. It is cut off.
 */
#include "journal.h"

#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define FLUSH_EVERY 1.0 /* seconds of work that a kill may cost */

typedef struct header {
    char     magic[8];
    uint64_t program, seed, stream, n, outcome_bytes;
} header;

/* ------------------------------------------------------------------ the folder */

static uint64_t hash_of_program(void) {
    XXH3_state_t *const state = XXH3_createState();
    FILE *const         file = fopen("/proc/self/exe", "rb");
    unsigned char       part[4096];
    size_t              bytes;
    if (file == NULL || state == NULL)
        lab_die("--keep needs to read the program's own file, and cannot");
    (void)XXH3_64bits_reset(state);
    while ((bytes = fread(part, 1, sizeof part, file)) != 0) {
        (void)XXH3_64bits_update(state, part, bytes);
    }
    (void)fclose(file);
    uint64_t const hash = XXH3_64bits_digest(state);
    (void)XXH3_freeState(state);
    return hash;
}

void journal_open(journal *kept, const char *folder) {
    *kept = (journal){ .folder = folder, .program = hash_of_program() };
    (void)pthread_mutex_init(&kept->lock, NULL);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) lab_die("%s cannot be made", folder);
}

/* ------------------------------------------------------------------ a series */

static header header_of(const journal *kept, const lab_run *run, const lab_series *series) {
    return (header){ .magic = "tamislab",
                     .program = kept->program,
                     .seed = run->seed,
                     .stream = XXH3_64bits(series->stream, strlen(series->stream)),
                     .n = series->n,
                     .outcome_bytes = series->outcome_bytes };
}

/* Read all whole records. Returns their number. */
static uint64_t read_records(journal *kept, const lab_series *series, unsigned char *outcomes,
                             unsigned char *is_done) {
    unsigned char *const outcome = lab_allocate(1, series->outcome_bytes);
    uint64_t             i, n = 0;
    while (fread(&i, sizeof i, 1, kept->file) == 1 && i < series->n &&
           fread(outcome, series->outcome_bytes, 1, kept->file) == 1) {
        memcpy(outcomes + i * series->outcome_bytes, outcome, series->outcome_bytes);
        is_done[i] = 1;
        n++;
    }
    free(outcome);
    return n;
}

/* The next record goes after the last whole one. */
static void cut_off(journal *kept, const lab_series *series, uint64_t records, const char *path) {
    uint64_t const end = sizeof(header) + records * (sizeof(uint64_t) + series->outcome_bytes);
    bool const     is_cut = ftruncate(fileno(kept->file), (off_t)end) == 0;
    if (!is_cut || fseek(kept->file, (long)end, SEEK_SET) != 0) lab_die("%s cannot be cut", path);
}

uint64_t journal_begin(journal *kept, const lab_run *run, const lab_series *series,
                       unsigned char *outcomes, unsigned char *is_done) {
    char         path[PATH_MAX];
    header const wanted = header_of(kept, run, series);
    header       found;
    uint64_t     records = 0;
    (void)snprintf(path, sizeof path, "%s/%s.%s.%u", kept->folder, run->experiment->id,
                   run->is_full ? "full" : "quick", kept->series++);
    kept->file = fopen(path, "r+b");
    if (kept->file == NULL) kept->file = fopen(path, "w+b");
    if (kept->file == NULL) lab_die("%s cannot be written", path);
    if (fread(&found, sizeof found, 1, kept->file) != 1) {
        rewind(kept->file);
        if (fwrite(&wanted, sizeof wanted, 1, kept->file) != 1) lab_die("%s: cannot write", path);
    } else if (memcmp(&found, &wanted, sizeof found) != 0) {
        lab_die("%s is from another program, seed or series; use another folder for --keep", path);
    } else {
        records = read_records(kept, series, outcomes, is_done);
    }
    cut_off(kept, series, records, path);
    return records;
}

void journal_trial(journal *kept, const lab_series *series, uint64_t i, const void *outcome) {
    (void)pthread_mutex_lock(&kept->lock);
    bool is_written = fwrite(&i, sizeof i, 1, kept->file) == 1 &&
                      fwrite(outcome, series->outcome_bytes, 1, kept->file) == 1;
    if (clock_now() - kept->flushed >= FLUSH_EVERY) {
        is_written = is_written && fflush(kept->file) == 0;
        kept->flushed = clock_now();
    }
    (void)pthread_mutex_unlock(&kept->lock);
    if (!is_written) lab_die("trials cannot be kept in %s", kept->folder);
}

void journal_end(journal *kept) {
    if (fclose(kept->file) != 0) lab_die("trials cannot be kept in %s", kept->folder);
    kept->file = NULL;
}

void journal_experiment_over(journal *kept) {
    kept->series = 0;
}
