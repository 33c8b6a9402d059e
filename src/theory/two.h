/* two.h - two doubles at a time.
 *
 * Planning spends most of its time in sums of products, and every processor that tamis has a build
 * for has instructions for two of them at once. gcc and clang take those for their vector types.
 * Other compilers of C11 have no such types: there a pair is computed one after the other, with
 * the same operations and so the same results.
 */
#ifndef TAMIS_THEORY_TWO_H
#define TAMIS_THEORY_TWO_H

#include "core/base.h"

#include <string.h>

#if defined(__GNUC__) && !defined(__TINYC__)
typedef double  two __attribute__((vector_size(16)));
typedef int64_t two_masks __attribute__((vector_size(16)));
#define TWO_OPERATION(name, sign)               \
    TAMIS_INLINE two two_##name(two a, two b) { \
        return a sign b;                        \
    }

TAMIS_INLINE two two_make(double first, double second) {
    return (two){ first, second };
}

TAMIS_INLINE double two_get(two pair, unsigned i) {
    return pair[i];
}

/* Numbers that are above 0; 0 in place of the others. */
TAMIS_INLINE two two_above_0(two pair) {
    return (two)((two_masks)pair & (two_masks)(pair > 0));
}
#else
typedef struct two {
    double x[2];
} two;
#define TWO_OPERATION(name, sign)                                   \
    TAMIS_INLINE two two_##name(two a, two b) {                     \
        return (two){ { a.x[0] sign b.x[0], a.x[1] sign b.x[1] } }; \
    }

TAMIS_INLINE two two_make(double first, double second) {
    return (two){ { first, second } };
}

TAMIS_INLINE double two_get(two pair, unsigned i) {
    return pair.x[i];
}

TAMIS_INLINE two two_above_0(two pair) {
    return two_make(pair.x[0] > 0 ? pair.x[0] : 0, pair.x[1] > 0 ? pair.x[1] : 0);
}
#endif

TWO_OPERATION(add, +)
TWO_OPERATION(subtract, -)
TWO_OPERATION(multiply, *)

TAMIS_INLINE two two_same(double number) {
    return two_make(number, number);
}

/* Neighbours of an array. */
TAMIS_INLINE two two_load(const double *from) {
    two pair;
    memcpy(&pair, from, sizeof pair);
    return pair;
}

TAMIS_INLINE void two_store(double *to, two pair) {
    memcpy(to, &pair, sizeof pair);
}

#endif
