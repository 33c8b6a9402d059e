/* chunks.h - values in pieces: SCANDUMP, LOADCHUNK and the rewriting of append-only files.
 *
 * A dump is a header and pieces of an encoded value (codec.h). Every piece has 40 bytes in front:
 *
 *     "tamischk" | stamp | offset | bytes of the whole value | checksum of these 32 bytes
 *
 * The stamp is the same in all pieces of one dump, and changes with the contents. The iterator that
 * SCANDUMP returns and LOADCHUNK takes is 1 for the header, and 1 + the end of the piece for the
 * others.
 *
 * Pieces that come in are staged: nothing is visible until the last one is there and the decoder
 * has accepted the whole. A load that does not go on is forgotten after stage-seconds. Replicas get
 * all pieces at once, when the key is made.
 */
#ifndef TAMIS_REDIS_CHUNKS_H
#define TAMIS_REDIS_CHUNKS_H

#include "keys.h"

typedef enum dump_result { DUMP_PIECE, DUMP_END, DUMP_CHANGED, DUMP_NO_MEMORY } dump_result;

/* The piece after `position`, and the next position. */
dump_result chunks_dump(tamis_value *value, long long position, byte_buffer *ret_piece,
                        long long *ret_next);

typedef enum load_result {
    LOAD_OK,
    LOAD_REPLIED,     /* the last piece: the reply is given when the value is decoded */
    LOAD_BAD_HEADER,  /* not as long as a header */
    LOAD_BAD_CONTENT, /* of the header: not ours, or of a value that is too large */
    LOAD_REFUSED,     /* the value is damaged, or the key exists by now */
    LOAD_BAD_PIECE,   /* not the next one of this load */
    LOAD_NO_STAGE,    /* no load of this key has begun */
    LOAD_NO_MEMORY
} load_result;

/* Take a piece for the key, which is open for writing and holds nothing, and reply. */
void chunks_load(key_handle *key, unsigned family, long long position, tamis_key piece);

/* The text of an error for clients of a family; 0: for TAMIS.LOADCHUNK. */
const char *chunks_error(unsigned family, load_result result);

/* Forget loads that were given up; with `all`, all of them. */
void chunks_tidy(bool all);

void chunks_rewrite(redis_io *io, redis_string *key, void *value);

/* TAMIS.LOADCHUNK key position piece: for values of all families. */
redis_handler command_loadchunk;

#endif
