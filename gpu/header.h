/* header.h - the header of a file (docs/format.md), as the GPU library reads and writes it.
 */
#ifndef TAMIS_GPU_HEADER_H
#define TAMIS_GPU_HEADER_H

#include "file_layout.h"
#include "kernels/table.h"

#include <tamis/gpu.h>

/* What a header says, as far as it is needed here. */
typedef struct header_facts {
    char     kind[16];
    bool     is_states;
    unsigned parts; /* 2: the set is in a step of growing */
    uint64_t body_bytes, capacity, keys, saturated, refused_adds, refused_removes;
} header_facts;

header_facts header_read(const uint8_t *header);

/* Fill in all of a table but its body. TAMIS_OK, _CANNOT. */
tamis_status header_make_table(const uint8_t *header, gpu_table *ret_table, tamis_problem *problem);

/* Write the counts of `facts`, and the checksum that goes with them. */
void header_set_counts(uint8_t *header, const header_facts *facts);

/* Bytes of the file with this body. */
uint64_t header_file_bytes(uint64_t body_bytes);

/* Write the checksums of a file that has its header and its body already. */
void header_finish_file(uint8_t *file, uint64_t body_bytes);

#endif
