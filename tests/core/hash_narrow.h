/* hash_narrow.h - the products of core/hash.h as they are computed by compilers without 128-bit
 * integers. */
#ifndef TAMIS_TESTS_HASH_NARROW_H
#define TAMIS_TESTS_HASH_NARROW_H

#include <stdint.h>

uint64_t narrow_mul_wide(uint64_t a, uint64_t b, uint64_t *ret_low);
uint64_t narrow_fastrange(uint64_t hash, uint64_t n);
uint64_t narrow_fastrange_next(uint64_t *hash, uint64_t n);

#endif
