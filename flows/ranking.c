/* ranking.c - see ranking.h. */
#include "ranking.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define N_PLACES (2 * RANKING_HOSTS)

void ranking_init(ranking *ret_ranking, uint64_t seed) {
    memset(ret_ranking, 0, sizeof *ret_ranking);
    ret_ranking->seed = seed;
}

/* ------------------------------------------------------------------ finding a host */

uint64_t ranking_hash(const ranking *r, const uint8_t *address) {
    return XXH3_64bits_withSeed(address, 16, r->seed);
}

static uint16_t home_place(const ranking *r, const host_end *host) {
    return (uint16_t)(ranking_hash(r, host->address) % N_PLACES);
}

static size_t place_after(size_t i) {
    return (i + 1) % N_PLACES;
}

/* The place of a host, or else the free place where it would go. */
static size_t find_place(const ranking *r, const host_end *host, uint16_t home) {
    size_t i = home;
    for (; r->places[i] != 0; i = place_after(i)) {
        size_t const at = r->places[i] - 1u;
        if (r->hosts[at].version == host->version &&
            memcmp(r->hosts[at].address, host->address, 16) == 0)
            break;
    }
    return i;
}

uint16_t ranking_find_hash(const ranking *r, const host_end *host, uint64_t hash) {
    uint16_t const found = r->places[find_place(r, host, (uint16_t)(hash % N_PLACES))];
    return found != 0 ? (uint16_t)(found - 1) : RANKING_NONE;
}

uint16_t ranking_find(const ranking *r, const host_end *host) {
    return ranking_find_hash(r, host, ranking_hash(r, host->address));
}

/* Remove a host. The hosts behind it move up, so that no search ends too early. */
static void place_clear(ranking *r, uint16_t host) {
    size_t hole = r->hosts[host].home;
    while (r->places[hole] != host + 1) hole = place_after(hole);
    for (size_t i = place_after(hole); r->places[i] != 0; i = place_after(i)) {
        size_t const home = r->hosts[r->places[i] - 1].home;
        bool const is_home_between = hole < i ? home > hole && home <= i : home > hole || home <= i;
        if (is_home_between) continue;
        r->places[hole] = r->places[i];
        hole = i;
    }
    r->places[hole] = 0;
}

/* ------------------------------------------------------------------ the smallest counter */

/* Go round the counters until one with the smallest count is found. Counters only grow. So if a
 * whole round finds none, the smallest count is now the smallest that this round has seen. Rounds
 * are rare if counters grow by one: all hosts that share the smallest count are found within one,
 * and each replaced host leaves a counter that is one larger, so more and more counters share a
 * count. */
static uint16_t find_smallest(ranking *r) {
    for (;;) {
        uint64_t least = UINT64_MAX;
        for (size_t i = 0; i < RANKING_HOSTS; i++) {
            uint16_t const at = r->hand;
            r->hand = (uint16_t)((r->hand + 1) % RANKING_HOSTS);
            if (r->counts[at] <= r->smallest) return at;
            if (r->counts[at] < least) least = r->counts[at];
        }
        r->smallest = least;
    }
}

/* ------------------------------------------------------------------ counting */

static uint16_t enter(ranking *r, const host_end *host, uint16_t home) {
    uint16_t const i = r->n < RANKING_HOSTS ? (uint16_t)r->n++ : find_smallest(r);
    if (r->hosts[i].version != 0) place_clear(r, i);
    r->hosts[i].version = host->version;
    r->hosts[i].home = home;
    memcpy(r->hosts[i].address, host->address, 16);
    r->places[find_place(r, host, home)] = (uint16_t)(i + 1);
    return i;
}

uint16_t ranking_count(ranking *r, const host_end *host, uint64_t count, bool *ret_has_entered) {
    uint16_t const home = home_place(r, host), found = r->places[find_place(r, host, home)];
    uint16_t const i = found != 0 ? (uint16_t)(found - 1) : enter(r, host, home);
    *ret_has_entered = found == 0;
    r->counts[i] += count;
    return i;
}

void ranking_halve(ranking *r) {
    for (size_t i = 0; i < r->n; i++) r->counts[i] /= 2;
    r->smallest /= 2;
}

/* Insertion sort: `max` is small, or few values are not 0. */
size_t ranking_sort(const ranking *r, const uint64_t *values, uint16_t *ret_hosts, size_t max) {
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        size_t at = n;
        if (values[i] == 0) continue;
        while (at > 0 && values[ret_hosts[at - 1]] < values[i]) at--;
        if (at == max) continue;
        if (n < max) n++;
        memmove(ret_hosts + at + 1, ret_hosts + at, (n - at - 1) * sizeof *ret_hosts);
        ret_hosts[at] = (uint16_t)i;
    }
    return n;
}
