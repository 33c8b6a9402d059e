/* ranges.h - the lowest and the highest rate of the paper's 10000 trials, for both filters.
 *
 * Trials are independent, and a trial is a binomial count of hits. So theory gives the mean and the
 * deviation of the extremes (theory.h).
 */
#ifndef TAMIS_LAB_ESA2006_RANGES_H
#define TAMIS_LAB_ESA2006_RANGES_H

#include "frame/lab.h"
#include "frame/theory.h"

typedef struct range_row {
    const char *name, *label, *published, *flaw;
    unsigned    queries;
    bool        is_high;
} range_row;

/* `rate`: of an absent key, by theory. `extreme_rate`: the lowest or highest rate of n trials. Only
 * the full mode has as many trials as the paper; with fewer, nothing is compared. */
static inline void record_range(lab_run *run, const range_row *row, double rate,
                                double extreme_rate, uint64_t n, unsigned paper_trials) {
    double const  queries = row->queries;
    extreme const law = row->is_high ? theory_highest(queries, rate, paper_trials)
                                     : theory_lowest(queries, rate, paper_trials);
    lab_record(run, &(lab_row){ .name = row->name,
                                .label = row->label,
                                .published = row->published,
                                .published_sigma = law.deviation / queries,
                                .exact = law.mean / queries,
                                .measured = { .value = extreme_rate,
                                              .trials = n == paper_trials ? n : 0,
                                              .sigma_theory = law.deviation / queries },
                                .rule = LAB_SIGMA,
                                .tolerance = 8,
                                .reason = "an extreme has a long tail: 8 standard errors are "
                                          "exceeded by chance in 2 of 100000 rows",
                                .flaw = row->flaw });
}

#endif
