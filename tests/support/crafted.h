/* crafted.h - files that an attacker made: all checksums are right, but the contents are not.
 *
 * Functions that change a file in many ways, and read each result as a user would.
 */
#ifndef TAMIS_TESTS_CRAFTED_H
#define TAMIS_TESTS_CRAFTED_H

#include "sample.h"

/* ------------------------------------------------------------------ reading */

/* Read the file, whose checksums must be right. A table that is accepted must survive operations on
 * it, and one that is refused must get a reason. Neither may ask for more memory than the file
 * has bytes. */
typedef void crafted_try(const buffer *file);
crafted_try  crafted_try_set, crafted_try_states;

/* How many files these functions have accepted and refused, and the processor time that the slowest
 * of them took, in seconds. */
typedef struct crafted_counts {
    unsigned accepted, refused, agreeing; /* agreeing: of crafted_geometries() */
    double   slowest;
} crafted_counts;
extern crafted_counts crafted_seen;

/* The last case of a group: the others are useful only if some files were accepted and some were
 * refused, and no file may take long (0.1 s of processor time are promised on a quiet machine). It
 * is a case and not the teardown of the group, since a teardown that fails does not change the exit
 * status of a program. */
void crafted_both_ends_were_seen(void **state);

/* ------------------------------------------------------------------ changing */

/* In each word of the header from `from` up to `end`: flip every bit and try every extreme
 * value. */
void crafted_fields(buffer *file, size_t from, size_t end, crafted_try *try_file);

/* Change two words of the header at a time, so that fields contradict each other: every pair of
 * words below `end`, each word with a flipped bit and with an extreme value, so many times. */
void crafted_pairs(buffer *file, unsigned times, size_t end, crafted_try *try_file);

/* Change one to three fields of the geometry, and make all else agree: the body has the size that
 * the kind computes, and is empty or has the good bytes. So nothing but the kind's own checks is
 * between the reader and such a table. For files of one part. */
void crafted_geometries(const buffer *good, unsigned trials, crafted_try *try_file);

/* Any bytes in the body, more and more of them. */
void crafted_bodies(buffer *file, unsigned trials, crafted_try *try_file);

/* One to three wrong bytes among the first `bytes` of the body. */
void crafted_bytes(const buffer *good, unsigned trials, size_t bytes, dice *chance,
                   crafted_try *try_file);

#endif
