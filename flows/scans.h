/* scans.h - sources that try much and are answered little, in bounded memory.
 *
 * Paper: A. Metwally, D. Agrawal, A. El Abbadi, "Efficient Computation of Frequent and Top-k
 * Elements in Data Streams", ICDT 2005 (Space-Saving).
 *
 * Idea: a list of SCANS_SOURCES sources with a counter each. A source that is not in the list takes
 * the place of the one with the smallest counter, and goes on counting from there. So
 *
 *   - every source with more than 1/SCANS_SOURCES of all attempts is in the list, whatever comes;
 *   - a counter is too large by at most what it was taken over with, and never too small.
 *
 * Beside the counter, attempts and answers are counted since the source came into the list: these
 * are exact, and what is reported, so no source is blamed for what others did. How many different
 * hosts and ports were tried is estimated, by 64 small registers each (HyperLogLog: P. Flajolet,
 * E. Fusy, O. Gandouet, F. Meunier, 2007), with a standard error of 13%.
 */
#ifndef FLOWS_SCANS_H
#define FLOWS_SCANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCANS_SOURCES 1024
#define SCANS_REGISTERS 64

/* A likely scan: so many attempts, and fewer than one in ten answered. */
#define SCANS_ATTEMPTS 100
#define SCANS_ANSWERED_ONE_IN 10

typedef struct scan_end {
    uint8_t  address[16];
    uint8_t  version;
    uint16_t port;
} scan_end;

typedef struct scan_source {
    uint8_t  address[16];
    uint8_t  version;
    bool     is_told;           /* as a likely scan */
    uint16_t home;              /* where the search for it begins */
    uint64_t attempts, answers; /* since it is in the list */
    uint8_t  hosts[SCANS_REGISTERS], ports[SCANS_REGISTERS];
} scan_source;

typedef struct scans {
    uint64_t    seed;
    uint64_t    n_attempts; /* of all sources */
    size_t      n;
    scan_source sources[SCANS_SOURCES];
    uint64_t    counts[SCANS_SOURCES];     /* Space-Saving's */
    uint64_t    smallest;                  /* none of them is below */
    uint16_t    hand;                      /* where the search for a smallest one goes on */
    uint16_t    places[2 * SCANS_SOURCES]; /* by address: 1 + a source, or 0 */
} scans;

void scans_init(scans *ret_scans, uint64_t seed);

/* `from` tries `to`. Not NULL: it has just become a likely scan. */
const scan_source *scans_attempt(scans *s, const scan_end *from, const scan_end *to);

/* An attempt of `from` was answered. */
void scans_answer(scans *s, const scan_end *from);

bool   scans_is_likely(const scan_source *source);
double scans_estimate(const uint8_t *registers);
double scans_hosts(const scan_source *source); /* that it has tried, about */
double scans_ports(const scan_source *source);

/* The likely ones, most attempts first; returns how many were written. */
size_t scans_likely(const scans *s, const scan_source **ret_sources, size_t max);

#endif
