/* size.c - see size.h. */
#include "size.h"

#include "theory/blocked.h"
#include "theory/bloom_rate.h"
#include "theory/tails.h"

#include <math.h>

static_assert(CBF_MAX_HASHES == BLOOM_MAX_K && CBF_MAX_HASHES <= SECTORS_MAX, "one limit");

/* ------------------------------------------------------------------ geometries */

/* Every geometry from a file passes through here, so each field is checked. Scattered counters are
 * read by whole words, the last one too: hence the pad. */
bool tamis_cbf_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t const bits = g[CBF_COUNTER_BITS];
    bool const     is_blocked = g[CBF_BLOCKED] != 0;
    if (g[CBF_COUNTERS] < 2 || g[CBF_COUNTERS] > CBF_MAX_COUNTERS) return false;
    if (g[CBF_HASHES] < 1 || g[CBF_HASHES] > CBF_MAX_HASHES) return false;
    if (bits < CBF_MIN_BITS || bits > CBF_MAX_BITS) return false;
    if (g[CBF_BLOCKED] > 1 || g[CBF_MINIMAL] > 1) return false;
    return sectors_body_bytes(g[CBF_COUNTERS], bits, g[CBF_HASHES], is_blocked,
                              is_blocked ? 0 : CBF_PAD_BYTES, ret_bytes);
}

/* The largest value of a counter: it is stuck there. */
static uint64_t cbf_top(const uint64_t *g) {
    return bits_low((unsigned)g[CBF_COUNTER_BITS]);
}

uint64_t tamis_cbf_count_to(const uint64_t *g) {
    return cbf_top(g) - 1;
}

/* In a blocked table: counters per line, number of lines, sizes of the sectors. */

static uint64_t cbf_per_line(const uint64_t *g) {
    return SECTORS_LINE_BITS / g[CBF_COUNTER_BITS];
}

static double cbf_lines(const uint64_t *g) {
    return (double)(g[CBF_COUNTERS] / cbf_per_line(g));
}

/* ------------------------------------------------------------------ rates */

/* That of a Bloom filter with a bit for each counter, whatever the counters hold. */
double tamis_cbf_fpr(const uint64_t *g, double n) {
    if (n == 0) return 0;
    if (g[CBF_BLOCKED] == 0)
        return tamis_bloom_fpr((double)g[CBF_COUNTERS], (unsigned)g[CBF_HASHES], n);
    return tamis_blocked_fpr(cbf_per_line(g), g[CBF_HASHES], cbf_lines(g), n);
}

/* ------------------------------------------------------------------ minimal increase */

#define MAX_LEVELS 64 /* values beyond are reached only in a table that is many times too full */

typedef struct minimal_law {
    double   k, per_line;
    unsigned top; /* hits that make a counter stick, at most MAX_LEVELS */
} minimal_law;

/* One step of the law: next[v] = now[v] + du x slope, where the slope is that of the shares in
 * `at`. now[v] is a_v of size.h. */
static void minimal_step(const minimal_law *law, const double *now, const double *at, double du,
                         double *next) {
    next[0] = 1;
    for (unsigned v = 0; v < law->top; v++) {
        next[v + 1] = now[v + 1] + du * (at[v] - at[v + 1]) * pow(at[v], law->k - 1);
    }
}

/* How often keys bring counters to their maximum until each counter is hit u times, per k counters.
 * By the midpoint method: half a step with the slope of now, then a whole one with the slope of
 * there. A share may come out above 1 by rounding. */
static double minimal_events(const minimal_law *law, double u) {
    double         now[MAX_LEVELS + 1] = { 1 }, half[MAX_LEVELS + 1], next[MAX_LEVELS + 1];
    double         events = 0;
    unsigned const steps = (unsigned)fmin(4000, 100 + 50 * u), top = law->top;
    double const   du = u / steps;
    for (unsigned i = 0; i < steps; i++) {
        minimal_step(law, now, now, du / 2, half);
        minimal_step(law, now, half, du, next);
        events += du * (pow(half[top - 1], law->k) - pow(half[top], law->k));
        for (unsigned v = 0; v <= top; v++) now[v] = fmin(1, next[v]);
    }
    return events;
}

/* The same for a line with this many keys. */
static double minimal_line(const void *context, double keys) {
    const minimal_law *const law = context;
    return minimal_events(law, keys * law->k / law->per_line);
}

/* Expected keys that bring counters to their maximum, which `hits` hits do. */
static double minimal_stuck(const uint64_t *g, double n, double hits) {
    double const      m = (double)g[CBF_COUNTERS], k = (double)g[CBF_HASHES];
    minimal_law const law = { k, (double)cbf_per_line(g), (unsigned)fmin(hits, MAX_LEVELS) };
    if (g[CBF_BLOCKED] == 0) return m / k * minimal_events(&law, n * k / m);
    return m / k * tamis_blocked_mean(cbf_lines(g), n, minimal_line, &law);
}

/* ------------------------------------------------------------------ counters that stick */

/* Of this many counters, how many get `hits` of `throws` throws or more, each into any of
 * `places`. */
static double stuck_by(double counters, double throws, double places, double hits) {
    return counters * tamis_binomial_tail(throws, 1 / places, hits);
}

/* Expected counters that one add brings to `hits` hits when n - 1 keys are there: those that have
 * this many with n keys, less those that have them with n - 1. For many keys that difference
 * cancels; then a key hits a counter at most once, and it is k times the chance to meet one that
 * has one hit less. */
static double scattered_risk(double m, double k, double n, double hits) {
    if (n > 100000) return k * exp(tamis_binomial_log((n - 1) * k, 1 / m, hits - 1));
    return stuck_by(m, n * k, m, hits) - stuck_by(m, (n - 1) * k, m, hits);
}

/* All sectors of a size: those that stick in the filling, and later. */
static double sectors_stuck(const uint64_t *g, double how_many, double size, double n, double later,
                            double hits) {
    double const places = cbf_lines(g) * size;
    double const risk = n < 1 ? 0 : exp(tamis_binomial_log(n - 1, 1 / places, hits - 1));
    return how_many * (stuck_by(places, n, places, hits) + later * risk);
}

/* Expected counters that stick, in the filling and later; such events are rare and nearly
 * independent, so P[any] = 1 - e^-expected. Blocked: sectors of a line differ by at most one
 * counter, so there are two sizes. */
double tamis_cbf_saturation(const uint64_t *g, const tamis_workload *work) {
    double const m = (double)g[CBF_COUNTERS], k = (double)g[CBF_HASHES], n = (double)work->capacity;
    double const hits = ceil((double)cbf_top(g) / (double)work->copies);
    double const later = fmax(0, (double)work->lifetime - n); /* keys in place of a removed one */
    if (g[CBF_MINIMAL] != 0) return -expm1(-minimal_stuck(g, n, hits));
    if (g[CBF_BLOCKED] == 0)
        return -expm1(-(stuck_by(m, n * k, m, hits) + later * scattered_risk(m, k, n, hits)));
    blocked_sizes const sizes = tamis_blocked_sizes(cbf_per_line(g), g[CBF_HASHES], g[CBF_HASHES]);
    return -expm1(-(sectors_stuck(g, sizes.small, sizes.least, n, later, hits) +
                    sectors_stuck(g, sizes.larger, sizes.least + 1, n, later, hits)));
}

/* ------------------------------------------------------------------ the choice, scattered */

/* As many counters as the cache lines hold that these need. */
static uint64_t cbf_fill_lines(const uint64_t *g) {
    uint64_t bytes;
    if (!tamis_cbf_body_bytes(g, &bytes)) return g[CBF_COUNTERS];
    return (bytes - CBF_PAD_BYTES) * 8 / g[CBF_COUNTER_BITS];
}

/* The size of a Bloom filter, with counters for bits. The last line is used to its end, unless the
 * user has fixed the number of counters. */
static bool cbf_choose_scattered(const tamis_need *need, uint64_t *g) {
    bool const is_any_size = g[CBF_COUNTERS] == NEED_FREE;
    if (!tamis_bloom_choose(need->fpr, (double)need->work.capacity, &g[CBF_COUNTERS],
                            &g[CBF_HASHES]))
        return false;
    if (is_any_size) g[CBF_COUNTERS] = cbf_fill_lines(g);
    return true;
}

/* ------------------------------------------------------------------ the choice, blocked */

/* The smallest table with first to last hashes. A number of hashes that does not meet the rate with
 * one line less than the best so far need not be searched. */
static bool cbf_smallest_blocked(const tamis_need *need, uint64_t first, uint64_t last,
                                 uint64_t *g) {
    double const   n = (double)need->work.capacity;
    uint64_t const per_line = cbf_per_line(g);
    double         most = BLOCKED_MAX_LINES;
    bool           is_any = false;
    for (uint64_t k = first; k <= last && most >= 1; k++) {
        if (tamis_blocked_fpr(per_line, k, most, n) > need->fpr) continue;
        most = tamis_blocked_lines(per_line, k, need->fpr, n, most) - 1;
        is_any = true;
    }
    g[CBF_COUNTERS] = (uint64_t)(most + 1) * per_line;
    return is_any;
}

/* For a table of this size, the number of hashes with the lowest rate. */
static void lowest_blocked(double n, uint64_t first, uint64_t last, uint64_t *g) {
    uint64_t best = first;
    double   lowest = INFINITY;
    for (uint64_t k = first; k <= last; k++) {
        g[CBF_HASHES] = k;
        double const rate = tamis_cbf_fpr(g, n);
        if (rate >= lowest) continue;
        lowest = rate;
        best = k;
    }
    g[CBF_HASHES] = best;
}

/* The fewest lines over all k that are possible; then, with this number of lines, the k with the
 * lowest rate. A line needs a counter for each hash, so wide counters limit k: of 16 bits, 32 fit a
 * line. */
static bool cbf_choose_blocked(const tamis_need *need, uint64_t *g) {
    uint64_t const k = g[CBF_HASHES], room = cbf_per_line(g), most = min_u64(CBF_MAX_HASHES, room);
    uint64_t const first = k != NEED_FREE ? k : 1, last = k != NEED_FREE ? k : most;
    if (first < 1 || last > most) return false;
    if (g[CBF_COUNTERS] == NEED_FREE) {
        if (!(need->fpr > 0) || !cbf_smallest_blocked(need, first, last, g)) return false;
    }
    if (g[CBF_COUNTERS] == 0 || g[CBF_COUNTERS] % room != 0) return false;
    lowest_blocked((double)need->work.capacity, first, last, g);
    return true;
}

/* ------------------------------------------------------------------ the choice */

#define USUAL_HITS 15 /* that make a counter of the usual width stick */

/* Are counters of this many bits wide enough? See size.h. */
static bool bits_are_enough(const tamis_need *need, unsigned bits) {
    uint64_t const top = bits_low(bits), copies = need->work.copies;
    return top > max_u64(need->count_to, copies) && (top + copies - 1) / copies >= USUAL_HITS;
}

/* The fewest bits for counters. A fixed number of counters must fill whole lines with them, if the
 * table is blocked. More than CBF_MAX_BITS: there are none. */
static unsigned fewest_bits(const tamis_need *need) {
    uint64_t const counters = need->fixed[CBF_COUNTERS];
    bool const     is_whole = need->fixed[CBF_BLOCKED] == 1 && counters != NEED_FREE;
    unsigned       bits = CBF_USUAL_BITS;
    for (; bits <= CBF_MAX_BITS; bits++) {
        if (is_whole && counters % (SECTORS_LINE_BITS / bits) != 0) continue;
        if (bits_are_enough(need, bits)) break;
    }
    return bits;
}

/* The width first: it depends on copies and counts only, and says how many counters a line has.
 * Fields that stay free after that are not blocked, and not minimal. Fixed values out of their
 * ranges are refused, so that nothing below need check them. */
bool tamis_cbf_choose(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[CBF_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (g[CBF_COUNTER_BITS] == NEED_FREE) g[CBF_COUNTER_BITS] = fewest_bits(need);
    if (g[CBF_COUNTER_BITS] < CBF_MIN_BITS || g[CBF_COUNTER_BITS] > CBF_MAX_BITS) return false;
    if (tamis_cbf_count_to(g) < need->work.copies) return false; /* every key would saturate */
    if (g[CBF_BLOCKED] == NEED_FREE) g[CBF_BLOCKED] = 0;
    if (g[CBF_MINIMAL] == NEED_FREE) g[CBF_MINIMAL] = 0;
    if (g[CBF_BLOCKED] > 1 || g[CBF_MINIMAL] > 1) return false;
    if (!(g[CBF_BLOCKED] != 0 ? cbf_choose_blocked(need, g) : cbf_choose_scattered(need, g)))
        return false;
    memcpy(ret_geometry, g, sizeof g);
    return true;
}
