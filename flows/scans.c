/* scans.c - see scans.h. */
#include "scans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define N_PLACES (2 * SCANS_SOURCES)

void scans_init(scans *ret_scans, uint64_t seed) {
    memset(ret_scans, 0, sizeof *ret_scans);
    ret_scans->seed = seed;
}

/* ------------------------------------------------------------------ finding a source */

static uint64_t hash_address(const scans *s, const uint8_t *address) {
    return XXH3_64bits_withSeed(address, 16, s->seed);
}

static uint16_t home_place(const scans *s, const uint8_t *address) {
    return (uint16_t)(hash_address(s, address) % N_PLACES);
}

static size_t place_after(size_t i) {
    return (i + 1) % N_PLACES;
}

/* The place of a source, or else the free place where it would go. */
static size_t find_place(const scans *s, const scan_end *end, uint16_t home) {
    size_t i = home;
    for (; s->places[i] != 0; i = place_after(i)) {
        const scan_source *const source = &s->sources[s->places[i] - 1];
        if (source->version == end->version && memcmp(source->address, end->address, 16) == 0)
            break;
    }
    return i;
}

/* Remove a source. The sources behind it move up, so that no search ends too early. */
static void place_clear(scans *s, uint16_t source) {
    size_t hole = s->sources[source].home;
    while (s->places[hole] != source + 1) hole = place_after(hole);
    for (size_t i = place_after(hole); s->places[i] != 0; i = place_after(i)) {
        size_t const home = s->sources[s->places[i] - 1].home;
        bool const is_home_between = hole < i ? home > hole && home <= i : home > hole || home <= i;
        if (is_home_between) continue;
        s->places[hole] = s->places[i];
        hole = i;
    }
    s->places[hole] = 0;
}

/* ------------------------------------------------------------------ the smallest counter */

/* Go round the counters until one with the smallest count is found. Counters only grow. So if a
 * whole round finds none, the smallest count is now the smallest that this round has seen. Rounds
 * are rare: all sources that share the smallest count are found within one, and each replaced
 * source leaves a counter that is one larger, so more and more counters share a count. */
static uint16_t find_smallest(scans *s) {
    for (;;) {
        uint64_t least = UINT64_MAX;
        for (size_t i = 0; i < SCANS_SOURCES; i++) {
            uint16_t const at = s->hand;
            s->hand = (uint16_t)((s->hand + 1) % SCANS_SOURCES);
            if (s->counts[at] <= s->smallest) return at;
            if (s->counts[at] < least) least = s->counts[at];
        }
        s->smallest = least;
    }
}

/* ------------------------------------------------------------------ entering the list */

static scan_source *begin_source(scans *s, uint16_t i, const scan_end *end, uint16_t home) {
    s->sources[i] = (scan_source){ .version = end->version, .home = home };
    memcpy(s->sources[i].address, end->address, 16);
    s->places[find_place(s, end, home)] = (uint16_t)(i + 1);
    return &s->sources[i];
}

/* The entry of a source: its own, a free one, or the one with the smallest counter, which it takes
 * over. */
static scan_source *find_entry(scans *s, const scan_end *end) {
    uint16_t const home = home_place(s, end->address);
    size_t const   place = find_place(s, end, home);
    if (s->places[place] != 0) return &s->sources[s->places[place] - 1];
    if (s->n < SCANS_SOURCES) return begin_source(s, (uint16_t)s->n++, end, home);
    uint16_t const i = find_smallest(s);
    place_clear(s, i);
    return begin_source(s, i, end, home);
}

/* ------------------------------------------------------------------ estimating */

/* Six bits of the hash choose a register. It keeps the longest run of zeros in the other bits. */
static void register_add(uint8_t *registers, uint64_t hash) {
    size_t const   i = hash % SCANS_REGISTERS;
    uint64_t const rest = hash / SCANS_REGISTERS | UINT64_C(1) << 57;
    uint8_t const  run = (uint8_t)(__builtin_ctzll(rest) + 1);
    if (run > registers[i]) registers[i] = run;
}

double scans_estimate(const uint8_t *registers) {
    double   sum = 0;
    unsigned zeros = 0;
    for (unsigned i = 0; i < SCANS_REGISTERS; i++) {
        sum += ldexp(1, -registers[i]);
        zeros += registers[i] == 0;
    }
    double const n = SCANS_REGISTERS, raw = 0.709 * n * n / sum; /* 0.709: for 64 registers */
    return raw <= 2.5 * n && zeros != 0 ? n * log(n / zeros) : raw;
}

/* There cannot be more hosts than attempts. */
double scans_hosts(const scan_source *source) {
    return fmin(scans_estimate(source->hosts), (double)source->attempts);
}

double scans_ports(const scan_source *source) {
    return fmin(scans_estimate(source->ports), (double)source->attempts);
}

/* ------------------------------------------------------------------ counting */

bool scans_is_likely(const scan_source *source) {
    return source->attempts >= SCANS_ATTEMPTS &&
           source->answers * SCANS_ANSWERED_ONE_IN < source->attempts;
}

const scan_source *scans_attempt(scans *s, const scan_end *from, const scan_end *to) {
    scan_source *const source = find_entry(s, from);
    s->n_attempts++;
    s->counts[source - s->sources]++;
    source->attempts++;
    register_add(source->hosts, hash_address(s, to->address));
    register_add(source->ports, XXH3_64bits_withSeed(&to->port, sizeof to->port, s->seed));
    if (source->is_reported || !scans_is_likely(source)) return NULL;
    source->is_reported = true;
    return source;
}

void scans_answer(scans *s, const scan_end *from) {
    size_t const place = find_place(s, from, home_place(s, from->address));
    if (s->places[place] != 0) s->sources[s->places[place] - 1].answers++;
}

static int compare_attempts(const void *a, const void *b) {
    const scan_source *const x = *(const scan_source *const *)a, *const y =
                                                                     *(const scan_source *const *)b;
    return (x->attempts < y->attempts) - (x->attempts > y->attempts);
}

size_t scans_likely(const scans *s, const scan_source **ret_sources, size_t max) {
    const scan_source *likely[SCANS_SOURCES];
    size_t             n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (scans_is_likely(&s->sources[i])) likely[n++] = &s->sources[i];
    }
    qsort(likely, n, sizeof(const scan_source *), compare_attempts);
    if (n > max) n = max;
    memcpy(ret_sources, likely, n * sizeof(const scan_source *));
    return n;
}
