/* vicbf.h - declarations for the experiments on variable increments: filters of three kinds, and
 * their rates.
 *
 * Names: n keys, m counters or entries, k hashes.
 */
#ifndef TAMIS_LAB_VICBF_TON2014_H
#define TAMIS_LAB_VICBF_TON2014_H

#include "frame/lab.h"

#include "kinds/bhcbf/size.h"
#include "kinds/vicbf/size.h"
#include "sequences.h"

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
    const char *name, *label, *place;
    const char *published; /* a rate that the authors measured */
    const char *stuck;     /* and the share of entries that overflow; NULL: no row */
    const char *remark;
    vi_config   config;
} vi_rate_row;

/* The expected rate of a filter by the library's analysis, which also holds for small tables. */
double vi_rate(const vi_config *config);

/* As in the paper: as if counters were independent. */
double vi_plain_rate(const vi_config *config);

/* The best k: the plain rate falls up to it, and rises with the next. */
unsigned vi_best_k(vi_config config);

/* Theorem 1, as it is printed. */
double vi_theorem_1(double m, double k, double n, double h, double l);

/* Samples over filters: own rates, rates of queries, and shares of entries that overflowed. */
typedef struct vi_samples {
    lab_sample own, asked, stuck;
} vi_samples;

vi_samples vi_take_samples(const lab_run *run, const char *stream, const vi_config *config,
                           uint64_t n);

/* Fill filters, and record a row of their own rates, one of queries, and one of overflowed entries
 * if `stuck` is given. */
void vi_record_rates(lab_run *run, const vi_rate_row *row);

/* `computed`, or `exact` itself if both agree up to this fraction. The digits beyond depend on the
 * compiler, and results are compared byte for byte. */
double vi_same(double exact, double computed, double within);

/* Record a number that is computed in two ways. */
void vi_record_computed(lab_run *run, const char *name, const char *label, const char *published,
                        double exact, double computed);

/* ------------------------------------------------------------------ table I */

/* A scheme whose number of counters and hashes is to be chosen. */
typedef struct vi_scheme {
    vi_config config;
    bool      is_improved; /* Bh-CBF, with lookups that use entries of up to 6 keys */
    unsigned  bits;        /* of a counter, or of an entry */
} vi_scheme;

#define VI_SCHEME_CBF \
    { { VI_CBF, VI_TABLE_KEYS, { 0, 0, 4 } }, false, 4 }
#define VI_SCHEME_BH \
    { { VI_BH, VI_TABLE_KEYS, { 0, 0, 4, 8, BH_PAPER, 3, 0, 0 } }, false, 12 }
#define VI_SCHEME_IMPROVED \
    { { VI_BH, VI_TABLE_KEYS, { 0, 0, 4, 8, BH_PAPER, 3, 1, 0 } }, true, 12 }
#define VI_SCHEME_D4 \
    { { VI_VI, VI_TABLE_KEYS, { 0, 0, 0, 7, VI_D(4), 0 } }, false, 7 }
#define VI_SCHEME_GENERAL \
    { { VI_VI, VI_TABLE_KEYS, { 0, 0, 0, 8, VI_GENERAL, 0 } }, false, 8 }

double vi_scheme_rate(const vi_scheme *s, uint64_t m, unsigned k);

/* The fewest counters with which it meets a rate of 0.1%, and the k that needs the fewest. */
uint64_t vi_scheme_fewest(const vi_scheme *s, unsigned k);
unsigned vi_scheme_best_k(const vi_scheme *s);

/* The library's plan for the same keys and rate, compared with the paper's bits. */
typedef struct vi_planned_row {
    const char *name, *label, *kind, *geometry;
    double      bits; /* of the paper's */
} vi_planned_row;

void vi_record_planned(lab_run *run, const vi_planned_row *row);

/* ------------------------------------------------------------------ experiments */

/* bh.c: how many different contents an entry with up to 3 keys can have. */
double vi_count_entries(void);

void vi_sequences_run(lab_run *run);
void vi_bits_run(lab_run *run);
void vi_theorems_run(lab_run *run);
void vi_figures_run(lab_run *run);
void vi_savings_run(lab_run *run);
void vi_spectral_run(lab_run *run);
void vi_sizes_run(lab_run *run);
void vi_levels_run(lab_run *run);

#endif
