/* sigcomm2006.h - declarations for the experiments on approximate state machines.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Beyond Bloom Filters:
 * From Approximate Membership Checks to Approximate State Machines", SIGCOMM 2006.
 */
#ifndef TAMIS_LAB_SIGCOMM2006_H
#define TAMIS_LAB_SIGCOMM2006_H

#include "frame/lab.h"

#define SIGCOMM_PAPER                                                                 \
    "Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese: \"Beyond Bloom Filters: From " \
    "Approximate Membership Checks to Approximate State Machines\""

void fcf_overflow_run(lab_run *run);
void fcf_rates_run(lab_run *run);
void fcf_larger_run(lab_run *run);
void fcf_timers_run(lab_run *run);
void sbf_insertions_run(lab_run *run);
void sbf_churn_run(lab_run *run);
void sbf_thresholds_run(lab_run *run);
void sbf_timers_run(lab_run *run);

#endif
