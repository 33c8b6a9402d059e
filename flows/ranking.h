/* ranking.h - the hosts with the largest counts, in bounded memory.
 *
 * Paper: A. Metwally, D. Agrawal, A. El Abbadi, "Efficient Computation of Frequent and Top-k
 * Elements in Data Streams", ICDT 2005 (Space-Saving).
 *
 * Idea: keep a list of RANKING_HOSTS hosts, each with a counter. A host that is not in the list
 * replaces the one with the smallest counter and continues its count. So
 *
 *   - every host with more than 1/RANKING_HOSTS of the whole is in the list, in any case;
 *   - a counter is never too small, and too large by at most the count that it took over.
 *
 * The caller keeps other facts about a host in an array of its own, and clears them when another
 * host enters. So no host gets the counts of another one.
 */
#ifndef FLOWS_RANKING_H
#define FLOWS_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANKING_HOSTS 1024

/* One end of a flow. */
typedef struct host_end {
    uint8_t  address[16];
    uint8_t  version;
    uint16_t port; /* 0: there is none */
} host_end;

typedef struct ranking {
    uint64_t seed;
    size_t   n;
    struct {
        uint8_t  address[16];
        uint8_t  version;
        uint16_t home; /* the place where the search for it begins */
    } hosts[RANKING_HOSTS];
    uint64_t counts[RANKING_HOSTS];     /* the counters of Space-Saving */
    uint64_t smallest;                  /* no counter is below this */
    uint16_t hand;                      /* where the search for a smallest counter continues */
    uint16_t places[2 * RANKING_HOSTS]; /* hash table by address: 1 + a host, or 0 */
} ranking;

#define RANKING_NONE UINT16_MAX

void ranking_init(ranking *ret_ranking, uint64_t seed);

/* Add to the counter of a host. Returns its index. *ret_has_entered: it was not in the list. */
uint16_t ranking_count(ranking *r, const host_end *host, uint64_t count, bool *ret_has_entered);

/* Halve all counters: what is counted from now on counts twice as much. */
void ranking_halve(ranking *r);

/* The index of a host, or RANKING_NONE. The second one has its hash already. */
uint16_t ranking_find(const ranking *r, const host_end *host);
uint16_t ranking_find_hash(const ranking *r, const host_end *host, uint64_t hash);

uint64_t ranking_hash(const ranking *r, const uint8_t *address);

/* The indices of up to `max` hosts with the largest values that are not 0, largest first. Returns
 * how many. */
size_t ranking_sort(const ranking *r, const uint64_t *values, uint16_t *ret_hosts, size_t max);

#endif
