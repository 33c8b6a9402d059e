/* state.c - see state.h. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "message.h"
#include "replace.h"

/* ------------------------------------------------------------------ the header */

#define NAME "tamis-flows"
#define VERSION 3
#define FIRST_FIELD 16
#define N_FIELDS 5
#define HEADER_BYTES (FIRST_FIELD + 8 * N_FIELDS + 8) /* with its checksum */

typedef struct state_header {
    uint64_t made_for; /* hash of the machine and of the options for the table */
    uint64_t time_ns;
    uint64_t n_order; /* ids that come before the table */
    uint64_t order_checksum;
    uint64_t table_bytes;
} state_header;

static void put_number(uint8_t *at, uint64_t number, unsigned n_bytes) {
    for (unsigned i = 0; i < n_bytes; i++) at[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t get_number(const uint8_t *at, unsigned n_bytes) {
    uint64_t number = 0;
    for (unsigned i = 0; i < n_bytes; i++) number |= (uint64_t)at[i] << 8 * i;
    return number;
}

static uint64_t header_checksum(const uint8_t *bytes) {
    return XXH3_64bits(bytes, HEADER_BYTES - 8);
}

static void put_header(const state_header *header, uint8_t *ret_bytes) {
    uint64_t const fields[N_FIELDS] = { header->made_for, header->time_ns, header->n_order,
                                        header->order_checksum, header->table_bytes };
    memcpy(ret_bytes, NAME, sizeof NAME);
    put_number(ret_bytes + sizeof NAME, VERSION, 4);
    for (unsigned i = 0; i < N_FIELDS; i++)
        put_number(ret_bytes + FIRST_FIELD + 8 * (size_t)i, fields[i], 8);
    put_number(ret_bytes + HEADER_BYTES - 8, header_checksum(ret_bytes), 8);
}

static state_header get_header(const uint8_t *bytes) {
    uint64_t fields[N_FIELDS];
    for (unsigned i = 0; i < N_FIELDS; i++)
        fields[i] = get_number(bytes + FIRST_FIELD + 8 * (size_t)i, 8);
    return (state_header){ fields[0], fields[1], fields[2], fields[3], fields[4] };
}

/* What must be the same, so that values in the table mean the same: states, in their order, with
 * timeouts; and what the size of the table depends on. It hashes structures as they are in memory,
 * as the ids of flows do: on a machine with another order of bytes all of them differ, and the file
 * is refused. */
static uint64_t hash_purpose(const machine *m, const table_spec *spec) {
    uint64_t hash = XXH3_64bits_withSeed(m->name, strlen(m->name), (uint64_t)m->key);
    hash = XXH3_64bits_withSeed(m->values, sizeof m->values, hash);
    for (unsigned i = 0; i < m->n_states; i++) {
        hash = XXH3_64bits_withSeed(m->states[i].name, strlen(m->states[i].name), hash);
        hash = XXH3_64bits_withSeed(&m->states[i].timeout_ns, sizeof m->states[i].timeout_ns, hash);
    }
    uint64_t const sizes[] = { spec->capacity, spec->memory, spec->n_values };
    hash = XXH3_64bits_withSeed(sizes, sizeof sizes, hash);
    hash = XXH3_64bits_withSeed(&spec->fpr, sizeof spec->fpr, hash);
    const char *const kind = spec->kind != NULL ? spec->kind : "";
    return XXH3_64bits_withSeed(kind, strlen(kind), hash);
}

/* ------------------------------------------------------------------ loading */

/* An ordinary file, open to read; -1: there is none. Opening a pipe would wait for a writer. */
static int open_ordinary(const char *name, uint64_t *ret_bytes) {
    struct stat about;
    int const   file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == ENOENT) return -1;
    if (file < 0 || fstat(file, &about) != 0) die("--state %s: %s", name, strerror(errno));
    if (!S_ISREG(about.st_mode)) die("--state %s: this is not an ordinary file", name);
    *ret_bytes = (uint64_t)about.st_size;
    return file;
}

/* False: the file ends sooner, or cannot be read. */
static bool read_at(int file, uint64_t offset, uint8_t *ret_bytes, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t const got = pread(file, ret_bytes + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static const char other_version[] = "it was saved by another version of tamis-flows";
static const char other_table[] = "its table is one of another version of libtamis";

/* What is wrong with the header of a file of n bytes, or NULL. A checksum does not say who wrote
 * the file: no length in it is believed, so that a small file, or a sparse one, cannot ask for more
 * memory than the files that such a run saves. */
static const char *find_fault(const uint8_t *bytes, uint64_t n, uint64_t made_for,
                              const table_info *made) {
    state_header const header = get_header(bytes);
    if (get_number(bytes + sizeof NAME, 4) != VERSION) return other_version;
    if (n < HEADER_BYTES || get_number(bytes + HEADER_BYTES - 8, 8) != header_checksum(bytes))
        return "it is damaged";
    if (header.made_for != made_for)
        return "it was saved by another machine, or with another --flows, --memory, -e or -k";
    if (header.table_bytes != made->file_bytes) return other_table;
    if (header.n_order > room_most_ids(made->capacity) ||
        n != HEADER_BYTES + header.n_order * sizeof(uint64_t) + header.table_bytes)
        return "it is damaged";
    return NULL;
}

/* What follows the header. Returns what is wrong, or NULL. */
static const char *read_rest(int file, const state_header *header, state_file *ret_file) {
    size_t const   order_bytes = (size_t)header->n_order * sizeof(uint64_t);
    size_t const   n = order_bytes + (size_t)header->table_bytes;
    uint8_t *const bytes = malloc(n);
    if (bytes == NULL) return "there is not enough memory to read it";
    if (!read_at(file, HEADER_BYTES, bytes, n) ||
        XXH3_64bits(bytes, order_bytes) != header->order_checksum) {
        free(bytes);
        return "it is damaged";
    }
    *ret_file = (state_file){ .time_ns = header->time_ns,
                              .order = (uint64_t *)(void *)bytes,
                              .n_order = header->n_order,
                              .table = bytes + order_bytes,
                              .n = n - order_bytes,
                              .memory = bytes };
    return NULL;
}

/* The file is replaced at the end. So what is not ours, or cannot be read, must not be there. */
static const char *read_state(const char *name, int file, uint64_t n, uint64_t made_for,
                              const table_info *made, state_file *ret_file) {
    uint8_t bytes[HEADER_BYTES] = { 0 };
    if (!read_at(file, 0, bytes, n < HEADER_BYTES ? (size_t)n : HEADER_BYTES))
        die("--state %s: it cannot be read", name);
    if (memcmp(bytes, NAME, strlen(NAME)) != 0)
        die("--state %s: this file is not one that tamis-flows has saved, and it would be "
            "replaced; choose another name",
            name);
    const char *const  fault = find_fault(bytes, n, made_for, made);
    state_header const header = get_header(bytes);
    return fault != NULL ? fault : read_rest(file, &header, ret_file);
}

static bool is_same_file(const char *name, const char *other) {
    struct stat one, two;
    return stat(name, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* The version that has saved the file can use it, when somebody goes back to that. So it gets a
 * second name, under which it stays when this run replaces it. No other file is replaced for that.
 */
static void keep_old(const char *name, const char *fault) {
    char      kept[4096];
    int const length = snprintf(kept, sizeof kept, "%s.old", name);
    bool      is_kept = length > 0 && (size_t)length < sizeof kept;
    errno = is_kept ? 0 : ENAMETOOLONG;
    is_kept = is_kept && (linkat(AT_FDCWD, name, AT_FDCWD, kept, AT_SYMLINK_FOLLOW) == 0 ||
                          (errno == EEXIST && is_same_file(name, kept)));
    if (!is_kept) {
        die("--state %s: %s, and cannot be kept as %s.old: %s; move it away", name, fault, name,
            strerror(errno));
    }
    warn("--state %s: %s; beginning without it, and it is kept as %s", name, fault, kept);
}

bool state_load(const char *name, const machine *m, const table_spec *spec, const table_info *made,
                state_file *ret_file) {
    uint64_t  n = 0;
    int const file = open_ordinary(name, &n);
    if (file < 0) return false;
    const char *const fault = read_state(name, file, n, hash_purpose(m, spec), made, ret_file);
    (void)close(file);
    if (fault == other_version || fault == other_table)
        keep_old(name, fault);
    else if (fault != NULL)
        warn("--state %s: %s; beginning without it, and it is replaced at the end", name, fault);
    return fault == NULL;
}

/* What was saved for the same machine and the same options, but has a table that this library would
 * not make, is of another version of it. */
void state_refuse(const char *name, const tamis_problem *problem) {
    tamis_status const status = problem->status;
    if (status == TAMIS_ERR_VERSION || status == TAMIS_ERR_KIND || status == TAMIS_ERR_NOT_BUILT ||
        status == TAMIS_ERR_MISMATCH)
        keep_old(name, other_table);
    else
        warn("--state %s: %s; beginning without it, and it is replaced at the end", name,
             *problem->text != '\0' ? problem->text : tamis_status_text(status));
}

void state_free(state_file *file) {
    free(file->memory);
    *file = (state_file){ .memory = NULL };
}

/* ------------------------------------------------------------------ saving */

static bool write_part(void *context, const void *bytes, size_t n) {
    return fwrite(bytes, 1, n, context) == n;
}

static bool write_order(FILE *file, const room *r, state_header *header) {
    room_part    parts[2];
    XXH3_state_t sum;
    bool         is_written = true;
    XXH3_64bits_reset(&sum);
    room_order(r, parts);
    for (unsigned i = 0; i < 2 && is_written; i++) {
        size_t const bytes = parts[i].n * sizeof(uint64_t);
        if (bytes == 0) continue;
        (void)XXH3_64bits_update(&sum, parts[i].ids, bytes);
        header->n_order += parts[i].n;
        is_written = fwrite(parts[i].ids, 1, bytes, file) == bytes;
    }
    header->order_checksum = XXH3_64bits_digest(&sum);
    return is_written;
}

/* The header is written last, when the lengths are known. */
static bool write_state(FILE *file, state_header *header, const room *r) {
    uint8_t bytes[HEADER_BYTES] = { 0 };
    if (fwrite(bytes, sizeof bytes, 1, file) != 1) return false;
    if (!write_order(file, r, header) || !table_save(r->flows, write_part, file)) return false;
    long const end = ftell(file);
    if (end < 0 || fseek(file, 0, SEEK_SET) != 0) return false;
    header->table_bytes = (uint64_t)end - sizeof bytes - header->n_order * sizeof(uint64_t);
    put_header(header, bytes);
    return fwrite(bytes, sizeof bytes, 1, file) == 1;
}

bool state_save(const char *name, const machine *m, const table_spec *spec, const room *r,
                uint64_t time_ns) {
    state_header header = { .made_for = hash_purpose(m, spec), .time_ns = time_ns };
    replacement  file;
    int          error = replace_begin(name, &file);
    errno = 0;
    if (error == 0 && !write_state(file.file, &header, r)) {
        error = errno != 0 ? errno : EIO;
        replace_abandon(&file);
    } else if (error == 0) {
        error = replace_end(&file, true);
    }
    if (error == 0) return true;
    warn("--state %s: the flows could not be saved: %s", name, strerror(error));
    return false;
}
