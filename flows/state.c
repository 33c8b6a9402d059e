/* state.c - see state.h. */
#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "message.h"

static const char magic[16] = "tamis-flows st2";

#define NAME_BYTES 14 /* of the magic; the rest is the version */

typedef struct state_header {
    char       magic[16];
    uint64_t   made_for; /* hash of the machine and of the options for the table */
    tamis_seed seed;
    uint64_t   time_ns;
    uint64_t   n_order; /* ids that come before the table */
    uint64_t   order_checksum;
    uint64_t   table_bytes;
    uint64_t   checksum; /* of all before */
} state_header;

static uint64_t header_checksum(const state_header *header) {
    return XXH3_64bits(header, offsetof(state_header, checksum));
}

/* What must be the same, so that values in the table mean the same: states, in their order, with
 * timeouts; and what the size of the table depends on. */
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

/* All bytes of a file. NULL: errno says why. Opening a pipe would wait for a writer. */
static uint8_t *read_all(const char *name, size_t *ret_n) {
    struct stat status;
    uint8_t    *bytes = NULL;
    if (stat(name, &status) != 0) return NULL;
    if (!S_ISREG(status.st_mode)) die("--state %s: this is not an ordinary file", name);
    FILE *const file = fopen(name, "rb");
    if (file == NULL) return NULL;
    if (fstat(fileno(file), &status) == 0 && status.st_size >= 0) {
        bytes = malloc((size_t)status.st_size + 1);
        if (bytes != NULL) *ret_n = fread(bytes, 1, (size_t)status.st_size, file);
    }
    (void)fclose(file);
    return bytes;
}

/* Do the order of flows and the table fill the rest of a file of n bytes? */
static bool fits(const state_header *header, size_t n) {
    size_t const rest = n - sizeof *header;
    return header->n_order <= rest / sizeof(uint64_t) &&
           header->table_bytes == rest - header->n_order * sizeof(uint64_t);
}

/* What is wrong with the bytes of a file, or NULL. */
static const char *find_fault(const uint8_t *bytes, size_t n, uint64_t made_for) {
    state_header header;
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return "it was saved by another version of tamis-flows";
    if (n < sizeof header) return "it is damaged";
    memcpy(&header, bytes, sizeof header);
    if (header.checksum != header_checksum(&header) || !fits(&header, n)) return "it is damaged";
    if (header.made_for != made_for)
        return "it was saved by another machine, or with another --flows, --memory, -e or -k";
    if (header.order_checksum !=
        XXH3_64bits(bytes + sizeof header, header.n_order * sizeof(uint64_t)))
        return "it is damaged";
    return NULL;
}

/* The file is replaced at the end. So what is not ours, or cannot be read, must not be there. */
static void refuse_foreign(const char *name, const uint8_t *bytes, size_t n) {
    if (bytes == NULL) die("--state %s: %s", name, strerror(errno));
    if (n < sizeof magic || memcmp(bytes, magic, NAME_BYTES) != 0)
        die("--state %s: this file is not one that tamis-flows has saved, and it would be "
            "replaced; choose another name",
            name);
}

bool state_load(const char *name, const machine *m, const table_spec *spec, state_file *ret_file) {
    size_t         n = 0;
    state_header   header;
    uint8_t *const bytes = read_all(name, &n);
    if (bytes == NULL && errno == ENOENT) return false;
    refuse_foreign(name, bytes, n);
    const char *const fault = find_fault(bytes, n, hash_purpose(m, spec));
    if (fault != NULL) {
        warn("--state %s: %s; beginning without it, and it is replaced at the end", name, fault);
        free(bytes);
        return false;
    }
    memcpy(&header, bytes, sizeof header);
    *ret_file = (state_file){ .seed = header.seed,
                              .time_ns = header.time_ns,
                              .order = (uint64_t *)(void *)(bytes + sizeof header),
                              .n_order = header.n_order,
                              .table = bytes + n - header.table_bytes,
                              .n = header.table_bytes,
                              .memory = bytes };
    return true;
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
    if (fwrite(header, sizeof *header, 1, file) != 1) return false;
    if (!write_order(file, r, header) || !table_save(r->flows, write_part, file)) return false;
    long const end = ftell(file);
    if (end < 0 || fseek(file, 0, SEEK_SET) != 0) return false;
    header->table_bytes = (uint64_t)end - sizeof *header - header->n_order * sizeof(uint64_t);
    header->checksum = header_checksum(header);
    return fwrite(header, sizeof *header, 1, file) == 1 && fflush(file) == 0 &&
           fsync(fileno(file)) == 0;
}

/* Write all of it to a file. Returns 0, or errno. */
static int write_file(const char *name, state_header *header, const room *r) {
    errno = 0;
    FILE *const file = fopen(name, "wb");
    if (file == NULL) return errno;
    bool const is_written = write_state(file, header, r);
    int        error = is_written ? 0 : errno != 0 ? errno : EIO;
    if (fclose(file) != 0 && error == 0) error = errno;
    return error;
}

bool state_save(const char *name, const machine *m, const table_spec *spec, const room *r,
                uint64_t time_ns) {
    state_header header = { .made_for = hash_purpose(m, spec),
                            .seed = spec->seed,
                            .time_ns = time_ns };
    char         other[4096];
    memcpy(header.magic, magic, sizeof magic);
    int const n = snprintf(other, sizeof other, "%s.%ld", name, (long)getpid());
    int       error = n < (int)sizeof other ? write_file(other, &header, r) : ENAMETOOLONG;
    if (error == 0 && rename(other, name) != 0) error = errno;
    if (error == 0) return true;
    (void)unlink(other);
    warn("--state %s: the flows could not be saved: %s", name, strerror(error));
    return false;
}
