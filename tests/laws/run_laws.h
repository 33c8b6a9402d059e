/* run_laws.h - a program that tries every law on every subject: one test for each pair.
 *
 * usage: PROGRAM [OPERATIONS [KIND [ISA [LAW]]]]
 *
 * OPERATIONS is how long histories are. "" stands for all kinds, all instruction sets (ISA) and all
 * laws; "best" is the fastest instruction set of this machine; LAW may be a part of a law's name.
 */
#ifndef TAMIS_TESTS_RUN_LAWS_H
#define TAMIS_TESTS_RUN_LAWS_H

#include "subject.h"

/* All variants of all kinds with histories of that length; the caller frees. */
typedef subject *subject_list(uint64_t operations, size_t *ret_n);

/* The whole main() of such a program. */
int run_laws(const named_law *laws, subject_list *list, uint64_t operations, int argc, char **argv);

#endif
