/* codec.h - a value as bytes: the one form for RDB, AOF, DUMP, COPY and chunks.
 *
 *     header (256 bytes) | a row for each part (32 bytes) | extra | files of the parts
 *
 * Everything is little-endian. The files are those of the library (docs/format.md), which has the
 * one decoder and validator; what is ours is the header, the rows and the extra bytes, with a
 * checksum. The extra bytes are the requests of clients (requests.h), if there are some.
 */
#ifndef TAMIS_REDIS_CODEC_H
#define TAMIS_REDIS_CODEC_H

#include "value.h"

/* How many bytes value_encode() writes. */
uint64_t value_encoded_bytes(const tamis_value *value);

/* Write all bytes. False: the writer stopped, or there is no memory for checksums. */
bool value_encode(const tamis_value *value, tamis_writer *writer, void *context);

/* The same without headers and total checksums of the files: they have refused adds, which replicas
 * do not count. */
bool value_encode_contents(const tamis_value *value, tamis_writer *writer, void *context);

/* Bytes offset .. offset + n - 1 of them, and not a byte more. */
bool value_encode_range(const tamis_value *value, uint64_t offset, uint64_t n,
                        byte_buffer *ret_bytes);

/* Make a value of bytes that nobody has checked. NULL: they are not a whole value of that family
 * (0: any), or there is no memory; *reterr_why says what is wrong. */
tamis_value *value_decode(const char *bytes, size_t n, unsigned family, const char **reterr_why);

/* The length that is stated at the beginning of an encoded value; 0: the bytes are not a value. */
#define VALUE_HEADER_BYTES 256
uint64_t value_stated_bytes(const char *bytes, size_t n);

/* A checksum of a few bytes (FNV-1a), against accidents. */
uint64_t value_checksum(const void *bytes, size_t n);

#endif
