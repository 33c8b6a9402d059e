/* size.c - see cbf_size.h. */
#include "size.h"

#include "theory/blocked.h"
#include "theory/bloom_rate.h"
#include "theory/tails.h"

#include <math.h>

static_assert(CBF_MAX_HASHES <= SECTORS_MAX && CBF_MAX_HASHES == BLOOM_MAX_K,
              "a sector for each hash, and one limit of hashes");

#define MAX_LINES 9007199254740992.0 /* 2^53: up to there a double counts one by one */

bool tamis_cbf_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t const bits = g[CBF_COUNTER_BITS];
    if (g[CBF_COUNTERS] < 2 || g[CBF_HASHES] < 1 || g[CBF_HASHES] > CBF_MAX_HASHES) return false;
    if (bits < CBF_MIN_BITS || bits > CBF_MAX_BITS) return false;
    if (g[CBF_BLOCKED] > 1 || g[CBF_MINIMAL] > 1) return false;
    bool const is_blocked = g[CBF_BLOCKED] != 0;
    return sectors_body_bytes(g[CBF_COUNTERS], bits, g[CBF_HASHES], is_blocked,
                              is_blocked ? 0 : CBF_PAD_BYTES, ret_bytes);
}

static uint64_t per_line(const uint64_t *g) {
    return SECTORS_LINE_BITS / g[CBF_COUNTER_BITS];
}

static double lines_of(const uint64_t *g) {
    return (double)(g[CBF_COUNTERS] / per_line(g));
}

static blocked_sizes sizes_of(const uint64_t *g) {
    return tamis_blocked_sizes(per_line(g), g[CBF_HASHES], g[CBF_HASHES]);
}

/* ------------------------------------------------------------------ rates */

/* P[a stranger to a line with so many keys finds none of its counters 0]. */
static double line_passes(const void *context, double keys) {
    const blocked_sizes *const sizes = context;
    double const               least = sizes->least;
    if (keys == 0) return 0; /* also where a sector is one counter */
    return pow(tamis_bloom_fill(least, 1, keys), sizes->small) *
           pow(tamis_bloom_fill(least + 1, 1, keys), sizes->larger);
}

double tamis_cbf_fpr(const uint64_t *g, double n) {
    if (n == 0) return 0;
    if (g[CBF_BLOCKED] == 0)
        return tamis_bloom_fpr((double)g[CBF_COUNTERS], (unsigned)g[CBF_HASHES], n);
    blocked_sizes const sizes = sizes_of(g);
    return fmin(1, tamis_blocked_mean(lines_of(g), n, line_passes, &sizes) + n / 0x1p64);
}

/* ------------------------------------------------------------------ minimal increase */

#define MAX_LEVELS 64 /* counters beyond are reached in a table that is many times too full */

typedef struct minimal_law {
    double   k, per_line;
    unsigned top; /* at most MAX_LEVELS */
} minimal_law;

/* A step of the law, from the shares and their slopes. */
static void minimal_step(const minimal_law *of, const double *from, const double *slopes, double du,
                         double *to) {
    to[0] = 1;
    for (unsigned v = 0; v < of->top; v++) {
        to[v + 1] = from[v + 1] + du * (slopes[v] - slopes[v + 1]) * pow(slopes[v], of->k - 1);
    }
}

/* By midpoints: how often keys bring counters to their maximum, until each is hit u times; of k
 * counters. */
static double minimal_events(const minimal_law *of, double u) {
    double         now[MAX_LEVELS + 1] = { 1 }, half[MAX_LEVELS + 1], next[MAX_LEVELS + 1];
    double         events = 0;
    unsigned const steps = (unsigned)fmin(4000, 100 + 50 * u), top = of->top;
    for (unsigned i = 0; i < steps; i++) {
        minimal_step(of, now, now, u / steps / 2, half);
        minimal_step(of, now, half, u / steps, next);
        events += u / steps * (pow(half[top - 1], of->k) - pow(half[top], of->k));
        for (unsigned v = 0; v <= top; v++) now[v] = fmin(1, next[v]);
    }
    return events;
}

/* The same of a line with so many keys. */
static double minimal_line(const void *context, double keys) {
    const minimal_law *const of = context;
    return minimal_events(of, keys * of->k / of->per_line);
}

/* Keys that bring counters to their maximum. */
static double minimal_stuck(const uint64_t *g, double n) {
    double const      m = (double)g[CBF_COUNTERS], k = (double)g[CBF_HASHES];
    uint64_t const    top = bits_low((unsigned)g[CBF_COUNTER_BITS]);
    minimal_law const of = { k, (double)per_line(g), (unsigned)min_u64(top, MAX_LEVELS) };
    if (g[CBF_BLOCKED] == 0) return m / k * minimal_events(&of, n * k / m);
    return m / k * tamis_blocked_mean(lines_of(g), n, minimal_line, &of);
}

/* ------------------------------------------------------------------ counters that stick */

/* `counters` of them get so many of `hits`, with a chance of 1/places each. Expected to stick in
 * the filling. */
static double stuck_by(double counters, double hits, double places, double top) {
    return counters * tamis_binomial_tail(hits, 1 / places, top);
}

/* Expected counters that one add brings to their maximum when n - 1 keys are there: those that
 * reach it with n keys and not with n - 1. For many keys that difference cancels, and a key hits a
 * counter at most once: it is then k times the chance to meet one that is just below. */
static double scattered_risk(double m, double k, double n, double top) {
    if (n > 100000) return k * exp(tamis_binomial_log((n - 1) * k, 1 / m, top - 1));
    return stuck_by(m, n * k, m, top) - stuck_by(m, (n - 1) * k, m, top);
}

/* Of all sectors with so many counters: those that stick in the filling, and later. */
static double sectors_stuck(const uint64_t *g, double how_many, double size, double n,
                            double later) {
    double const top = (double)bits_low((unsigned)g[CBF_COUNTER_BITS]);
    double const places = lines_of(g) * size;
    double const risk = n < 1 ? 0 : exp(tamis_binomial_log(n - 1, 1 / places, top - 1));
    return how_many * (stuck_by(places, n, places, top) + later * risk);
}

double tamis_cbf_saturation(const uint64_t *g, double n, double lifetime) {
    double const m = (double)g[CBF_COUNTERS], k = (double)g[CBF_HASHES];
    double const top = (double)bits_low((unsigned)g[CBF_COUNTER_BITS]);
    double const later = fmax(0, lifetime - n); /* adds in place of a removed key */
    if (g[CBF_MINIMAL] != 0) return -expm1(-minimal_stuck(g, n));
    if (g[CBF_BLOCKED] == 0)
        return -expm1(-(stuck_by(m, n * k, m, top) + later * scattered_risk(m, k, n, top)));
    blocked_sizes const sizes = sizes_of(g);
    return -expm1(-(sectors_stuck(g, sizes.small, sizes.least, n, later) +
                    sectors_stuck(g, sizes.larger, sizes.least + 1, n, later)));
}

/* ------------------------------------------------------------------ choice */

/* As many counters as the cache lines hold that these need. */
static uint64_t fill_lines(const uint64_t *g) {
    uint64_t bytes;
    if (!tamis_cbf_body_bytes(g, &bytes)) return g[CBF_COUNTERS];
    return (bytes - CBF_PAD_BYTES) * 8 / g[CBF_COUNTER_BITS];
}

static bool choose_scattered(double fpr, double n, uint64_t *g) {
    bool const is_any_size = g[CBF_COUNTERS] == NEED_FREE;
    if (!tamis_bloom_choose(fpr, n, &g[CBF_COUNTERS], &g[CBF_HASHES])) return false;
    if (is_any_size) g[CBF_COUNTERS] = fill_lines(g);
    return true;
}

/* The rate of a blocked table of so many lines. */
static double rate_of(uint64_t *g, double lines, double n) {
    g[CBF_COUNTERS] = (uint64_t)lines * per_line(g);
    return tamis_cbf_fpr(g, n);
}

/* The fewest lines that keep the rate, up to `most`, which do. */
static double fewest_lines(double fpr, double n, uint64_t *g, double most) {
    double low = 0, high = most;
    while (high - low > 1) {
        double const middle = floor((low + high) / 2);
        *(rate_of(g, middle, n) <= fpr ? &high : &low) = middle;
    }
    return high;
}

/* Of all numbers of hashes from first to last. One that does not keep the rate with a line less
 * than the best so far need not be searched. */
static bool smallest_blocked(double fpr, double n, uint64_t first, uint64_t last, uint64_t *g) {
    double most = MAX_LINES / SECTORS_LINE_BITS;
    bool   is_any = false;
    for (uint64_t k = first; k <= last && most >= 1; k++) {
        g[CBF_HASHES] = k;
        if (rate_of(g, most, n) > fpr) continue;
        most = fewest_lines(fpr, n, g, most) - 1;
        is_any = true;
    }
    g[CBF_COUNTERS] = (uint64_t)(most + 1) * per_line(g);
    return is_any;
}

/* The number of hashes with the lowest rate, for a table of this size. */
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

static bool choose_blocked(double fpr, double n, uint64_t *g) {
    uint64_t const k = g[CBF_HASHES], room = per_line(g), most = min_u64(CBF_MAX_HASHES, room);
    uint64_t const first = k != NEED_FREE ? k : 1, last = k != NEED_FREE ? k : most;
    if (first < 1 || last > most) return false;
    if (g[CBF_COUNTERS] == NEED_FREE) {
        if (!(fpr > 0) || !smallest_blocked(fpr, n, first, last, g)) return false;
    }
    if (g[CBF_COUNTERS] == 0 || g[CBF_COUNTERS] % room != 0) return false;
    lowest_blocked(n, first, last, g);
    return true;
}

bool tamis_cbf_choose(double fpr, double n, uint64_t *g) {
    if (g[CBF_COUNTER_BITS] == NEED_FREE) g[CBF_COUNTER_BITS] = CBF_USUAL_BITS;
    if (g[CBF_COUNTER_BITS] < CBF_MIN_BITS || g[CBF_COUNTER_BITS] > CBF_MAX_BITS) return false;
    if (g[CBF_BLOCKED] == NEED_FREE) g[CBF_BLOCKED] = 0;
    if (g[CBF_MINIMAL] == NEED_FREE) g[CBF_MINIMAL] = 0;
    if (g[CBF_BLOCKED] > 1 || g[CBF_MINIMAL] > 1) return false;
    return g[CBF_BLOCKED] != 0 ? choose_blocked(fpr, n, g) : choose_scattered(fpr, n, g);
}
