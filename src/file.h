/* file.h - the parts of a file, for the code that writes it (save.c) and reads it (open.c).
 *
 * docs/format.md is the specification.
 *
 *     header (4096 bytes) | body | a checksum for each block of the body | total checksum
 *
 * A set in a step of growing has two tables, and so two parts: first both bodies, then the
 * checksums of the blocks of both.
 */
#ifndef TAMIS_FILE_H
#define TAMIS_FILE_H

#include <stdio.h>
#include <string.h>

#include "checksum.h"
#include "core/le.h"
#include "file_layout.h"
#include "grow.h"

static const uint8_t MAGIC[8] = { 0x89, 't', 'a', 'm', 'i', 's', '\r', '\n' };

/* The tables of a set, in the order of their parts. Returns how many. */
TAMIS_INLINE unsigned file_tables(const tamis_set *set, const tamis_table *ret_tables[2]) {
    ret_tables[0] = &set->table;
    if (set->growth == NULL) return 1;
    ret_tables[1] = &set->growth->next;
    return grow_is_moving(set) ? 2 : 1;
}

/* How many fields of the geometry a file has: all fields of the kind's first version, and the later
 * ones up to the last that is not 0. So a set that does not use later fields has the same file as
 * before. */
TAMIS_INLINE unsigned file_fields(const tamis_kind *kind, const uint64_t *geometry) {
    unsigned n = tamis_kind_n_fields(kind);
    while (kind->first_fields != 0 && n > kind->first_fields && geometry[n - 1] == 0) n--;
    return n;
}

/* A path that is short enough for a message. If it is too long, only its end is kept, with the file
 * name. */
typedef struct file_name {
    char text[96];
} file_name;

TAMIS_INLINE file_name file_shorten(const char *path) {
    file_name    name;
    size_t const length = strlen(path), most = sizeof name.text - 1;
    bool const   is_long = length > most;
    (void)snprintf(name.text, sizeof name.text, "%s%s", is_long ? "..." : "",
                   is_long ? path + (length - most + 3) : path);
    return name;
}

/* save.c: "cannot save to PATH: No space left on device". Returns TAMIS_ERR_SPACE, _MEMORY
 * or _IO. */
tamis_status tamis_file_say_system(tamis_problem *problem, const char *action, const char *path,
                                   int error);

#endif
