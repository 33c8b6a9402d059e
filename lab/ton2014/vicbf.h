/* vicbf.h - what the parts of paper 001 share: filters of three kinds, and their rates.
 *
 * Names: n keys, m counters or entries, k hashes.
 */
#ifndef TAMIS_LAB_VICBF_TON2014_H
#define TAMIS_LAB_VICBF_TON2014_H

#include "frame/lab.h"

#include "kinds/bhcbf/sequences.h"
#include "kinds/bhcbf/size.h"
#include "kinds/vicbf/size.h"

#define VI_PAPER_KEYS 1024 /* in all of section VIII but table I */
#define VI_TABLE_KEYS 2000 /* in table I */
#define VI_TABLE_RATE 1e-3
#define VI_KIB 8192.0 /* the paper's KB, in bits */

#define BH_PAPER SEQUENCE_4(1, 4, 13, 15)
#define BH_EXAMPLE SEQUENCE_4(1, 4, 8, 13)

typedef enum vi_kind { VI_CBF, VI_VI, VI_BH } vi_kind;

/* A filter: its kind, keys and geometry, in the order of the kind's fields. */
typedef struct vi_config {
    vi_kind  kind;
    uint64_t n;
    uint64_t g[BH_FIELDS];
} vi_config;

/* What is measured of it, and printed in the paper. */
typedef struct vi_rate_row {
    const char *name, *what, *place;
    const char *published; /* a rate that the authors measured */
    const char *stuck;     /* and the share of entries that overflow; NULL: no row */
    const char *remark;
    vi_config   of;
} vi_rate_row;

/* The expected rate of a filter, by the library's own analysis; of small tables, too. */
double vi_rate(const vi_config *of);

/* As in the paper: as if counters knew nothing of each other. */
double vi_plain_rate(const vi_config *of);

/* The k that makes the plain rate least, up to the first that does not. */
unsigned vi_best_k(vi_config of);

/* Theorem 1, as it is printed. */
double vi_theorem_1(double m, double k, double n, double h, double l);

/* Over filters: their own rates, those of asking, and shares of entries that overflowed. */
typedef struct vi_samples {
    lab_sample own, asked, stuck;
} vi_samples;

vi_samples vi_take_samples(const lab_run *run, const char *stream, const vi_config *of, uint64_t n);

/* Fill filters; a row of their own rates, one of asking, and one of what overflowed if wanted. */
void vi_record_rates(lab_run *run, const vi_rate_row *row);

/* `computed`, or `exact` itself if they are within a fraction of each other: the digits beyond are
 * a matter of the compiler, and results are compared byte for byte. */
double vi_same(double exact, double computed, double within);

/* A number that is computed in two ways. */
void vi_record_computed(lab_run *run, const char *name, const char *what, const char *published,
                        double exact, double computed);

/* bh.c, _figures.c, _sizes.c, _spectral.c */
void vi_sequences_run(lab_run *run);
void vi_bits_run(lab_run *run);
void vi_theorems_run(lab_run *run);
void vi_figures_run(lab_run *run);
void vi_savings_run(lab_run *run);
void vi_spectral_run(lab_run *run);
void vi_sizes_run(lab_run *run);
void vi_levels_run(lab_run *run);

#endif
