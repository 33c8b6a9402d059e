/* dlbf.h - declarations for the experiments on d-left Bloom filters.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Bloom Filters via d-Left
 * Hashing and Dynamic Bit Reassignment", Allerton 2006. A bucket has 60 or 120 bits that all its
 * fingerprints share, and a code of 4 or 8 bits that tells how many there are. Unused codes also
 * tell how many fingerprints begin with 0, or with 00, 01, 10 and 11. These first bits need not be
 * stored then (semi-sorting), so a fingerprint is one or two bits longer than what is stored of it.
 *
 * Everything here is computed twice, without the library's kinds: by arithmetic from the fluid
 * limit (theory/fluid.h), and by throwing balls into bins.
 */
#ifndef TAMIS_LAB_DLBF_ALLERTON2006_H
#define TAMIS_LAB_DLBF_ALLERTON2006_H

#include "frame/lab.h"
#include "theory/fluid.h"

#define DLBF_PAPER                                                                          \
    "Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese: \"Bloom Filters via d-Left Hashing " \
    "and Dynamic Bit Reassignment\""

#define DLBF_PAPER_TABLES 3
#define DLBF_PAPER_GROUP 4 /* buckets that share their bits, in section II.C */
#define DLBF_MAX_LOAD 24

/* ------------------------------------------------------------------ buckets */

/* From .. to, both included; 0 .. 0 is none. */
typedef struct dlbf_loads {
    unsigned from, to;
} dlbf_loads;

typedef struct bucket_layout {
    const char *name;
    unsigned    bits;     /* for fingerprints */
    dlbf_loads  one, two; /* loads that are semi-sorted by one bit, and by two */
} bucket_layout;

extern const bucket_layout dlbf_plain64, dlbf_sorted64, dlbf_one128, dlbf_two128, dlbf_two128_78;

/* Bits of semi-sorting, and f(a): bits of a fingerprint in a bucket of load a. */
unsigned dlbf_sorted_bits(const bucket_layout *layout, unsigned load);
unsigned dlbf_length(const bucket_layout *layout, unsigned load);

/* How many codes the loads 0 .. most need. */
double dlbf_codes(const bucket_layout *layout, unsigned most);

/* How the buckets of a group share their bits. */
typedef enum dlbf_sharing {
    DLBF_EQUAL, /* all cells have the same length; the remaining bits are wasted: as in the paper */
    DLBF_SPENT, /* the remaining bits go to the buckets where they lower the rate most */
    DLBF_LIBRARY /* bits saved by sorting are shared, too; the first buckets get what remains */
} dlbf_sharing;

/* Lengths in a group of buckets with these loads. */
void dlbf_group_lengths(const bucket_layout *layout, const unsigned loads[DLBF_PAPER_GROUP],
                        dlbf_sharing sharing, unsigned ret_lengths[DLBF_PAPER_GROUP]);

/* ------------------------------------------------------------------ laws */

/* The fluid limit of filling. */
void dlbf_law(double load, fluid *ret_law);

/* The share of all buckets with this load. */
double dlbf_share(const fluid *law, unsigned load);

/* Equation (1): the sum over the subtables of E[a 2^-f(a)]. */
double dlbf_rate(const bucket_layout *layout, const fluid *law);

/* The rate of a real filter. Equation (1) is a union bound: it counts equal fingerprints of a
 * bucket twice, and lookups that match in two subtables. That is 0.04% at a rate of 0.0004. */
double dlbf_own_rate(const bucket_layout *layout, const fluid *law);

/* The same two with groups. */
double dlbf_group_own_rate(const bucket_layout *layout, const fluid *law, dlbf_sharing sharing);
double dlbf_group_rate(const bucket_layout *layout, const fluid *law, dlbf_sharing sharing);

/* ------------------------------------------------------------------ balls and bins */

/* Loads of buckets, subtable by subtable. */
typedef struct dlbf_bins {
    unsigned tables, buckets; /* buckets of each */
    uint8_t *loads;
} dlbf_bins;

/* Equation (1) for the loads of these buckets. */
double dlbf_bins_rate(const dlbf_bins *bins, const bucket_layout *layout);
double dlbf_bins_group_rate(const dlbf_bins *bins, const bucket_layout *layout,
                            dlbf_sharing sharing);

/* Two subtables of 4096 buckets, all keys placed again ten times: the rates of some trials. */
lab_sample dlbf_offline_rate(const lab_run *run, const bucket_layout *layout, unsigned keys);

/* A filter of the library's kind dlbf. */
typedef struct dlbf_kind_config {
    unsigned             tables, buckets, group; /* buckets: of each subtable */
    uint64_t             keys;
    const bucket_layout *layout;
} dlbf_kind_config;

/* The own rates of n such filters (kinds.c). */
lab_sample dlbf_kind_own_rate(const lab_run *run, const char *stream,
                              const dlbf_kind_config *config, uint64_t n);

/* ------------------------------------------------------------------ experiments */

#define DLBF_PAPER_KEYS 49152u

void dlbf_loads_run(lab_run *run);
void dlbf_codes_run(lab_run *run);
void dlbf_rates_run(lab_run *run);
void dlbf_compared_run(lab_run *run);
void dlbf_offline_run(lab_run *run);
void dlbf_underloaded_run(lab_run *run);
void dlbf_tables_run(lab_run *run);
void dlbf_even_run(lab_run *run);
void dlbf_groups_run(lab_run *run);
void ddlcbf_peaks_run(lab_run *run);
void dlbf_kind_run(lab_run *run);
void dlbf_balanced_run(lab_run *run);
void ddlcbf_kind_run(lab_run *run);

#endif
