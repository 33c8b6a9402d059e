/* list.c - the papers, each with the list of experiments at the end of its file. */
#include "lab.h"

extern const lab_experiment lab_baselines[];
extern const lab_experiment lab_bloom[];
extern const lab_experiment lab_cbf_esa2006[];
extern const lab_experiment lab_dlbf_allerton2006[];
extern const lab_experiment lab_dlcbf_esa2006[];
extern const lab_experiment lab_kinds[];
extern const lab_experiment lab_rank_icnp2008[];
extern const lab_experiment lab_sigcomm2006[];
extern const lab_experiment lab_vicbf_ton2014[];

/* clang-format off */
const lab_experiment *const lab_papers[] = {
    lab_bloom,
    lab_cbf_esa2006,
    lab_dlcbf_esa2006,
    lab_dlbf_allerton2006,
    lab_rank_icnp2008,
    lab_vicbf_ton2014,
    lab_sigcomm2006,
    lab_baselines,
    lab_kinds,
    NULL,
};
/* clang-format on */
