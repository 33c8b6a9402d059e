/* hash_narrow.c - see hash_narrow.h. A file of its own, since core/hash.h is included once. */
#include "hash_narrow.h"

#undef __SIZEOF_INT128__
#include "core/hash.h"

uint64_t narrow_mul_wide(uint64_t a, uint64_t b, uint64_t *ret_low) {
    return mul_wide(a, b, ret_low);
}

uint64_t narrow_fastrange(uint64_t hash, uint64_t n) {
    return fastrange(hash, n);
}

uint64_t narrow_fastrange_next(uint64_t *hash, uint64_t n) {
    return fastrange_next(hash, n);
}
