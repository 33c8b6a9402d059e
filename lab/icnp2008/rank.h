/* rank.h - what the experiments on rank-indexed hashing share.
 *
 * Paper: N. Hua, H. Zhao, B. Lin, J. Xu, "Rank-Indexed Hashing: A Compact Construction of Bloom
 * Filters and Variants", ICNP 2008. Names as there and in kinds/rank/size.h: B buckets of L chains,
 * lambda = n / BL, r bits of remainder, Z1 Z2 Z3 cells, J2 J3 extensions.
 */
#ifndef TAMIS_LAB_RANK_ICNP2008_H
#define TAMIS_LAB_RANK_ICNP2008_H

#include "frame/lab.h"

#include <tamis/tamis.h>

#define RANK_KEYS 100000 /* n of all the tables */
#define RANK_OVERFLOW 1e-10

/* ------------------------------------------------------------------ what is printed */

#define RANK_PAPER                                                                         \
    "Hua, Zhao, Lin, Xu: \"Rank-Indexed Hashing: A Compact Construction of Bloom Filters " \
    "and Variants\""

/* A row of Table II, and what Tables III to V print for it. */
typedef struct rank_print {
    const char *name, *label; /* "1e-2", "1%" */
    const char *target;       /* the fpr that it is for */
    double      fpr;
    double      lambda;
    double      remainder_bits, chains, cells[3];
    double      share[2]; /* J2 / B, J3 / B */

    const char *bits, *standard, *dleft, *over_standard, *over_dleft;   /* Table III */
    const char *counting_bits, *counting_standard, *counting_dleft;     /* Table IV */
    const char *counting_over_standard, *counting_over_dleft;           /* Table IV */
    const char *packed, *packed_ratio, *packed_bloom;                   /* Table V */
    const char *packed_dleft, *packed_dleft_ratio, *packed_dleft_bloom; /* Table V */
} rank_print;

#define RANK_PRINTS 3
extern const rank_print rank_prints[RANK_PRINTS];

/* The false-positive rate that lambda and r give. The paper's comparisons are made at this rate. */
double rank_print_rate(const rank_print *print);

/* ------------------------------------------------------------------ tables as numbers */

/* Real numbers, because the paper's B and J are not whole. */
typedef struct rank_table {
    double buckets, chains, cells[3], pool[2];
    double cell_bits; /* remainder and counter */
    double remainder_bits;
} rank_table;

/* As printed, with B = n / lambda L; and with whole numbers, none of them rounded down. */
rank_table rank_as_printed(const rank_print *print, unsigned counter_bits);
rank_table rank_as_built(const rank_print *print, unsigned counter_bits);

/* S of section V. */
double rank_paper_bits(const rank_table *table);

/* The whole body in our layout. Its pointers need no flag: one of their values means "none". */
double rank_layout_bits(const rank_table *table);
double rank_body_bits(const rank_table *table);

/* P_o by section IV, for a table that is filled once and never changed. */
double rank_filling_overflow(const rank_table *table, double keys);

/* How many fingerprints there are, B L 2^r; and the rate of a table with this many keys. */
double rank_fingerprints(const rank_table *table);
double rank_table_rate(const rank_table *table, double keys);

/* The share of buckets with more than `cells` different fingerprints. */
double rank_share_over(const rank_table *table, double keys, double cells);

/* The standard deviation of the number of such buckets. */
double rank_count_deviation(double buckets, double mean, double over, double exactly);

/* ------------------------------------------------------------------ other constructions */

double bloom_ideal_bits(double fpr);                /* log2(1/fpr) / ln 2 */
double dleft_bits(double fpr, double counter_bits); /* 4/3 (log2(24/fpr) + counter) */
double dleft_packed_bits(double fpr); /* without empty cells: a count of 3 bits for 6 keys */

/* The bits per key of a Bloom filter whose entropy is `packed` bits per key. */
double bloom_uncompressed_bits(double fpr, double packed);

/* ------------------------------------------------------------------ the smallest table */

typedef struct rank_wish {
    double   n, fpr, lifetime, overflow;
    unsigned counter_bits, copies;
    bool     is_paper;               /* count bits as the paper does */
    unsigned remainder_bits, chains; /* 0: any */
    double   buckets;                /* 0: as few as the rate allows */
} rank_wish;

/* An exhaustive search; the library has a faster one. Returns bits per key. */
double rank_smallest(const rank_wish *wish, rank_table *ret_table);

/* ------------------------------------------------------------------ exact laws of small tables */

/* Keys thrown into buckets of which only `extensions` may get more than `cells`. */
typedef struct rank_crowd {
    unsigned buckets, keys, cells, extensions;
} rank_crowd;

/* The probability that the keys do not fit. */
double rank_crowd_filling(const rank_crowd *crowd);

/* Keys are removed and added; instead of a refused key another one is tried, until one fits.
 * Returns the refused keys per removed key, on average. */
double rank_crowd_churning(const rank_crowd *crowd);

/* ------------------------------------------------------------------ real tables */

#define RANK_GEOMETRY_BYTES 256

/* A spec for exactly this table. The geometry is written to `geometry`, which must live as long as
 * the spec. */
tamis_spec rank_spec(const rank_table *table, unsigned counter_bits, unsigned copies, uint64_t keys,
                     char geometry[RANK_GEOMETRY_BYTES]);

/* The library's plan for a spec that names a kind. */
tamis_plan rank_plan_of(const tamis_spec *spec);

/* The library's own choice: its smallest table of kind "rank" for this wish. */
tamis_plan rank_library_choice(const rank_wish *wish, const char *geometry);

/* Extensions in use of level 2 or 3. */
uint64_t rank_extensions_used(const tamis_set *set, unsigned level);

/* ------------------------------------------------------------------ experiments */

void rank_example(lab_run *run);
void rank_loads(lab_run *run);
void rank_sizes(lab_run *run);
void rank_overflow(lab_run *run);
void rank_compared(lab_run *run);
void rank_trimmed(lab_run *run);
void rank_figures(lab_run *run);
void rank_beyond(lab_run *run);
void rank_smaller(lab_run *run);

#endif
