/* ddlcbf.h - declarations for the experiments on dynamic d-left counting filters.
 *
 * Paper: as in dlbf.h, section III. The table of ESA 2006 again, with 120 bits in each
 * bucket for remainders and their counters of one bit: 14 bits of a remainder at least, and as many
 * more as there is room for.
 */
#ifndef TAMIS_LAB_DDLCBF_ALLERTON2006_H
#define TAMIS_LAB_DDLCBF_ALLERTON2006_H

#include "esa2006/dlcbf.h"

#define DDLCBF_ROOM 120u
#define DDLCBF_LEAST (unsigned)DLCBF_PAPER_BITS
#define DDLCBF_MOST (DDLCBF_LEAST + 32)
#define DDLCBF_TOP 10 /* no bucket ever has more cells */

/* ------------------------------------------------------------------ one length: a law
 *
 * Every bucket has the length that the most cells it ever had leave each. The share of buckets of a
 * subtable with this many cells now and this many at most follows equations like those of
 * theory/fluid.h, from the filling on.
 */

typedef struct ddlcbf_peaks {
    bool   is_forced;
    double share[DLCBF_PAPER_TABLES][DDLCBF_TOP + 1][DDLCBF_TOP + 1]; /* table, now, at most */
} ddlcbf_peaks;

/* Forced adds, as in the paper: keys with the same (b, r) must go to the same bucket, even if it is
 * full. Of 2^20 adds, 1500 are forced. */
void ddlcbf_filled(bool is_forced, ddlcbf_peaks *ret_peaks);
void ddlcbf_churn(double steps, ddlcbf_peaks *peaks);

/* The share of buckets whose highest load so far is this. */
double ddlcbf_peak_share(const ddlcbf_peaks *peaks, unsigned most);

/* The false-positive rate. The highest load of a bucket determines how long its cells are. */
double ddlcbf_rate(const ddlcbf_peaks *peaks, const unsigned lengths[DDLCBF_TOP + 1]);

/* The paper's filter: counters of one bit, and semi-sorting, which saves one bit per cell. */
void ddlcbf_lengths(unsigned ret_lengths[DDLCBF_TOP + 1]);

/* ------------------------------------------------------------------ a table, once more */

/* A slow table that is written from the paper alone. A key is a (b, r) of 25 bits, and 32 more
 * bits. */
typedef struct ddlcbf_config {
    unsigned lengths;   /* 1, with semi-sorting, or 2, without */
    bool     is_forced; /* keys with the same (b, r) go to one bucket */
} ddlcbf_config;

typedef struct ddlcbf_outcome {
    double rate;                  /* from what is stored */
    double peaks[DDLCBF_TOP + 1]; /* buckets */
    double lost;                  /* keys that are not found */
    double mean_length;
} ddlcbf_outcome;

void ddlcbf_trial(const void *config, lab_random *random, void *ret_outcome);

#endif
