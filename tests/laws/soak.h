/* soak.h - a program that lets every subject live for as long as asked, hours if need be.
 *
 * usage: PROGRAM [--ops N] [--seed N] [--kind NAME]
 *
 * Each subject gets N operations. Prints what it did; the exit status is 1 if a law was broken,
 * with the seed that repeats it.
 */
#ifndef TAMIS_TESTS_SOAK_H
#define TAMIS_TESTS_SOAK_H

#include "subject.h"

typedef struct soak {
    const char *usage;
    subject *(*list)(uint64_t operations, size_t *ret_n);
    bool (*is_soaked)(const subject *variant);
    /* One life. NULL, or what is wrong; the line that sums it up goes to stdout. */
    const char *(*life)(const subject *variant, uint64_t seed);
} soak;

/* The whole main() of such a program. */
int soak_run(const soak *program, int argc, char **argv);

/* For the summary: seconds of a clock that only goes forward. */
double soak_seconds(void);

/* On a terminal: how far it is. */
void soak_progress(uint64_t done, uint64_t operations, double since);

#endif
