/* scans.h - find sources with many attempts and few answers, in bounded memory.
 *
 * Paper: A. Metwally, D. Agrawal, A. El Abbadi, "Efficient Computation of Frequent and Top-k
 * Elements in Data Streams", ICDT 2005 (Space-Saving).
 *
 * Idea: keep a list of SCANS_SOURCES sources, each with a counter. A source that is not in the list
 * replaces the one with the smallest counter and continues its count. So
 *
 *   - every source with more than 1/SCANS_SOURCES of all attempts is in the list, in any case;
 *   - a counter is never too small, and too large by at most the count that it took over.
 *
 * Attempts and answers are also counted from the time when the source entered the list. These
 * counts are exact and are the ones reported, so no source is blamed for the attempts of another.
 * The number of different hosts and ports is estimated by 64 small registers each (HyperLogLog: P.
 * Flajolet, E. Fusy, O. Gandouet, F. Meunier, 2007), with a standard error of 13%.
 */
#ifndef FLOWS_SCANS_H
#define FLOWS_SCANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCANS_SOURCES 1024
#define SCANS_REGISTERS 64

/* A likely scan has so many attempts or more, and fewer than one in ten are answered. */
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
    bool     is_reported;       /* as a likely scan */
    uint16_t home;              /* the place where the search for it begins */
    uint64_t attempts, answers; /* since it entered the list */
    uint8_t  hosts[SCANS_REGISTERS], ports[SCANS_REGISTERS];
} scan_source;

typedef struct scans {
    uint64_t    seed;
    uint64_t    n_attempts; /* of all sources */
    size_t      n;
    scan_source sources[SCANS_SOURCES];
    uint64_t    counts[SCANS_SOURCES];     /* the counters of Space-Saving */
    uint64_t    smallest;                  /* no counter is below this */
    uint16_t    hand;                      /* where the search for a smallest counter continues */
    uint16_t    places[2 * SCANS_SOURCES]; /* hash table by address: 1 + a source, or 0 */
} scans;

void scans_init(scans *ret_scans, uint64_t seed);

/* Source `from` tries to reach `to`. Returns the source if it has just become a likely scan, else
 * NULL. */
const scan_source *scans_attempt(scans *s, const scan_end *from, const scan_end *to);

/* An attempt of `from` was answered. */
void scans_answer(scans *s, const scan_end *from);

bool   scans_is_likely(const scan_source *source);
double scans_estimate(const uint8_t *registers);
double scans_hosts(const scan_source *source); /* estimates */
double scans_ports(const scan_source *source);

/* The likely scans, most attempts first. Returns how many were written. */
size_t scans_likely(const scans *s, const scan_source **ret_sources, size_t max);

#endif
