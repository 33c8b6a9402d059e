/* soak.h - a program that tests every subject for as long as asked, days if need be.
 *
 * usage: PROGRAM [--ops N] [--seed N] [--kind NAME] [--journal FILE]
 *
 * Each subject gets N operations, in lives of at most SOAK_LIFE of them. Every life has a table and
 * a seed of its own. All subjects live their first life, then their second, and so on, so that a
 * soak that is stopped early has tested all subjects equally long. With a journal, a line is
 * appended for each life that is over. Started again with the same journal, the program goes on
 * after the last line, and the sums are those of all lives. With --ops 0 it prints the sums of a
 * journal and does nothing. The exit status is 1 if a law was broken, with the seed that repeats
 * it.
 */
#ifndef TAMIS_TESTS_SOAK_H
#define TAMIS_TESTS_SOAK_H

#include "subject.h"

#define SOAK_LIFE UINT64_C(2000000)

/* What is counted. The first law, no false negative, needs no number: breaking it ends a life. */
enum soak_figure {
    SOAK_OPERATIONS,
    SOAK_REFUSED,    /* adds that found no room, beyond the capacity */
    SOAK_SATURATED,  /* entries that stick in the end, after floods */
    SOAK_STRANGERS,  /* lookups of absent keys, */
    SOAK_HITS,       /* how many of them said yes, */
    SOAK_FORESEEN,   /* and how many the tables themselves predicted */
    SOAK_ABSENT,     /* removals of absent keys, */
    SOAK_TAKEN,      /* how many of them found a match, */
    SOAK_TAKEN_MOST, /* the most to be expected, */
    SOAK_LOST,       /* present keys that were lost by them, */
    SOAK_LOST_MOST,  /* and the most that they can lose */
    SOAK_PRESENT,    /* states: lookups of present keys, */
    SOAK_UNKNOWN,    /* and answers "don't know" */
    SOAK_FIGURES
};

typedef struct soak_tally {
    double figures[SOAK_FIGURES];
} soak_tally;

typedef struct soak {
    const char *usage;
    subject *(*list)(uint64_t operations, size_t *ret_n);
    bool (*is_soaked)(const subject *variant);
    /* One life of so many operations. NULL, or what is wrong; what it counts is added. */
    const char *(*life)(const subject *variant, uint64_t operations, uint64_t seed,
                        soak_tally *tally);
} soak;

/* The whole main() of such a program. */
int soak_run(const soak *program, int argc, char **argv);

#endif
