/* analysis.c - see analysis.h.
 *
 * From the bottom up: the sum of j increments; what a counter with such a sum excludes; a counter
 * with a binomial number of hits; a table.
 */
#include "analysis.h"

#include "theory/blocked.h"
#include "theory/bloom_rate.h"
#include "theory/meet.h"
#include "theory/tails.h"
#include "theory/vi_rate.h"

#include <math.h>

/* ------------------------------------------------------------------ the geometry */

bool tamis_vi_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t const bits = g[VI_COUNTER_BITS], k = g[VI_HASHES];
    if (bits < VI_MIN_BITS || bits > VI_MAX_BITS || g[VI_BLOCKED] > 1 || g[VI_MORE] > 255)
        return false;
    if (k < 1 || k > VI_MAX_HASHES || g[VI_COUNTERS] < 2) return false;
    if (!increments_are_possible(g[VI_INCREMENTS])) return false;
    return sectors_body_bytes(g[VI_COUNTERS], bits, vi_sectors(g), g[VI_BLOCKED] != 0,
                              FIELD_PAD_BYTES, ret_bytes);
}

uint64_t tamis_vi_count_to(const uint64_t *g) {
    increments const d = increments_make(g[VI_INCREMENTS]);
    uint64_t const   hits = (bits_low((unsigned)g[VI_COUNTER_BITS]) - 1) / d.value[d.n - 1];
    return hits > VI_OTHERS ? hits - VI_OTHERS : 1;
}

/* ------------------------------------------------------------------ the sum of j increments */

/* Sums that are distinguished. Counters above 1000 exclude no key, whatever D is
 * (core/increments.h), so larger sums are not needed. */
#define VI_LAW_SUMS 1024

static_assert((INCREMENTS_MAX - 1) * (INCREMENTS_MAX - 2) + 2 * INCREMENTS_MAX < VI_LAW_SUMS,
              "larger counters may hold any two increments");

/* The distribution of the sum of j random increments. chance[end] is that of all sums from `end`
 * on. */
typedef struct vi_sum_law {
    unsigned j;
    uint64_t end; /* the first sum that makes a counter stuck, or VI_LAW_SUMS */
    double   chance[VI_LAW_SUMS + 1];
} vi_sum_law;

/* From j to j + 1 increments: P[s] becomes the mean of P[s - v] over all v of D. In place, from the
 * largest sum down, so that smaller sums are still those of j increments. Sums below j + 1 times
 * the least increment cannot be. For D = {4, 5, 6, 7}:
 *
 *     j = 0      0: 1
 *     j = 1      4, 5, 6, 7: 1/4 each
 *     j = 2      8: 1/16   9: 2/16   10: 3/16   11: 4/16   12: 3/16   13: 2/16   14: 1/16 */
static void add_increment(const increments *d, vi_sum_law *law) {
    uint64_t const end = law->end, before = law->j * (uint64_t)d->value[0];
    uint64_t const most = ++law->j * (uint64_t)d->value[d->n - 1];
    uint64_t const least = min_u64(end, law->j * (uint64_t)d->value[0]);
    double         beyond = law->chance[end] * d->n;
    for (unsigned i = 0; i < d->n; i++) { /* sums that one increment takes to the end */
        for (uint64_t s = end < d->value[i] ? 0 : end - d->value[i]; s < end; s++) {
            beyond += law->chance[s];
        }
    }
    for (uint64_t s = min_u64(end, most) + 1; s-- > least;) {
        double sum = 0;
        for (unsigned i = 0; i < d->n && s >= d->value[i]; i++) {
            sum += law->chance[s - d->value[i]];
        }
        law->chance[s] = sum / d->n;
    }
    for (uint64_t s = before; s < least; s++) law->chance[s] = 0;
    law->chance[end] = beyond / d->n;
}

/* ------------------------------------------------------------------ the profile of a counter */

/* What a counter of each value does. Small integers keep this small enough for the stack of a
 * small thread. */
typedef struct value_shares {
    uint8_t  excluded[VI_LAW_SUMS + 1]; /* increments that it excludes, of |D| */
    uint16_t both[VI_LAW_SUMS + 1];     /* ordered pairs that it may hold at once, of |D|^2 */
} value_shares;

/* A counter of this value or more excludes nothing and holds any two increments: what is left is a
 * sum in any case. For {8, 12, 14, 15} that is 34 + 2 x 15 = 64. */
static uint64_t first_useless(const increments *d) {
    return increments_conductor(d) + 2u * d->value[d->n - 1];
}

/* A stuck counter, of value `end`, excludes nothing and holds everything. */
static void find_shares(const increments *d, uint64_t top, uint64_t end, value_shares *ret_shares) {
    uint64_t const useless = first_useless(d);
    unsigned const n = d->n;
    for (uint64_t c = 0; c <= end; c++) {
        bool const   is_stuck = c == end || c >= min_u64(top, useless);
        double const excluded = is_stuck ? 0 : tamis_vi_excluded(d, c);
        double const both = is_stuck ? 1 : tamis_vi_held_both(d, c);
        ret_shares->excluded[c] = (uint8_t)lrint(excluded * n);
        ret_shares->both[c] = (uint16_t)lrint(both * n * n);
    }
}

/* How many hits are distinguished: as many as fill any counter, even with the smallest increment:
 * 32 hits of 8 fill one of 8 bits. If those are more than VI_MAX_KEYS, a counter is treated as
 * stuck after as many hits as fill it on average. */
static void profile_ends(const increments *d, uint64_t top, vi_profile *ret_profile) {
    uint64_t const most = (top + d->value[0] - 1) / d->value[0];
    double         mean = 0;
    for (unsigned i = 0; i < d->n; i++) mean += (double)d->value[i] / d->n;
    ret_profile->top = (unsigned)min_u64(most, VI_MAX_KEYS);
    ret_profile->full = most <= VI_MAX_KEYS ? (double)most + 1 : ceil((double)top / mean);
}

/* e(j) and s(j) of the header, and the share of pairs for theory/meet.h: means over the sum of j
 * increments. */
void tamis_vi_profile(uint64_t mask, unsigned counter_bits, vi_profile *ret_profile) {
    increments const d = increments_make(mask);
    uint64_t const   top = bits_low(counter_bits); /* a sum of that much makes a counter stuck */
    uint64_t const   largest = d.value[d.n - 1], useless = first_useless(&d);
    vi_sum_law       law = { .end = min_u64(top, VI_LAW_SUMS), .chance = { 1 } };
    value_shares     shares;
    find_shares(&d, top, law.end, &shares);
    profile_ends(&d, top, ret_profile);
    for (unsigned j = 0; j <= ret_profile->top + 1; j++) {
        uint64_t const least = (uint64_t)j * d.value[0];
        bool const     is_useless = least >= useless; /* whatever the increments are */
        double         excluded = 0, both = is_useless ? (double)d.n * d.n : 0;
        for (uint64_t s = min_u64(least, law.end);
             s <= min_u64(law.end, j * largest) && !is_useless; s++) {
            excluded += law.chance[s] * shares.excluded[s];
            both += law.chance[s] * shares.both[s];
        }
        ret_profile->excludes[j] = excluded / d.n;
        ret_profile->both[j] = both / ((double)d.n * d.n);
        /* where the law ends below the maximum, assume the largest sum there can be */
        ret_profile->stuck[j] = law.end == top ? law.chance[top] : (double)(j * largest >= top);
        if (law.end == top || !is_useless) add_increment(&d, &law);
    }
}

/* ------------------------------------------------------------------ a counter with random hits */

/* The mean of by_hits[j] over the number of hits of one counter, P[X = j] of equation (2): each of
 * `hits` hits meets it with this chance. Each term follows from the one before. It may stop when
 * terms are negligible and falling; beyond the profile's top, by_hits is 0. */
static double vi_mean_over_hits(const vi_profile *profile, const double *by_hits, double chance,
                                double hits) {
    double const odds = chance / (1 - chance);
    double       p = exp(hits * log1p(-chance)), sum = 0;
    if (chance >= 1) return hits <= profile->top ? by_hits[(unsigned)hits] : 0;
    for (unsigned j = 0; j <= profile->top && (p > 1e-40 || j < hits * odds); j++) {
        sum += p * by_hits[j];
        p *= fmax(0, hits - j) / (j + 1) * odds;
    }
    return sum;
}

double tamis_vi_excludes(const vi_profile *profile, double counters, double hits) {
    return vi_mean_over_hits(profile, profile->excludes, 1 / counters, hits);
}

/* P[a counter is stuck]. Counters with more hits than the profile distinguishes are stuck. */
static double mean_stuck(const vi_profile *profile, double chance, double hits) {
    double const beyond =
        hits < profile->full ? 0 : tamis_binomial_tail(hits, chance, profile->full);
    return fmin(1, vi_mean_over_hits(profile, profile->stuck, chance, hits) + beyond);
}

/* ------------------------------------------------------------------ the fpr, blocked */

/* What vi_line_passes() needs to know. */
typedef struct line_law {
    const uint64_t   *g;
    const vi_profile *profile;
    blocked_sizes     sizes; /* of all sectors but the one that only some keys have */
    vi_known         *known; /* NULL: nothing is kept */
} line_law;

static double vi_lines(const uint64_t *g) {
    return fmax(1, floor((double)g[VI_COUNTERS] / (double)vi_per_line(g)));
}

/* Counters of the last sector, if only keys with one hash more have it. */
static double last_sector_size(const uint64_t *g) {
    return (double)(vi_sector(g, g[VI_HASHES] + 1) - vi_sector(g, g[VI_HASHES]));
}

/* 1 - p for a counter of a line with this many keys, each of which hits it with this chance. */
static double line_holds(const line_law *law, double chance, double keys) {
    return 1 - vi_mean_over_hits(law->profile, law->profile->excludes, chance, keys);
}

/* P[an absent key passes all sectors of a line with this many keys]: the product over sectors. A
 * sector of s counters is hit once by each key, so a counter of it with chance 1/s. The last sector
 * is asked, and was hit, by only a share `more` of all keys. */
static double vi_line_passes(const void *context, double keys) {
    const line_law *const law = context;
    double const          least = law->sizes.least, more = (double)law->g[VI_MORE] / 256;
    double const          pass = pow(line_holds(law, 1 / least, keys), law->sizes.small) *
                        pow(line_holds(law, 1 / (least + 1), keys), law->sizes.larger);
    if (more == 0) return pass;
    return pass * (1 - more + more * line_holds(law, more / last_sector_size(law->g), keys));
}

/* The same, from what is kept of it. */
static double vi_line_passes_known(const void *context, double keys) {
    const line_law *const law = context;
    if (law->known == NULL || keys >= VI_KNOWN_KEYS) return vi_line_passes(context, keys);
    double *const known = &law->known->passes[(unsigned)keys];
    if (*known < 0) *known = vi_line_passes(context, keys);
    return *known;
}

/* The mean over all lines (theory/blocked.h). */
static double blocked_fpr(const vi_profile *profile, const uint64_t *g, double n, vi_known *known) {
    line_law const law = { g, profile,
                           tamis_blocked_sizes(vi_per_line(g), vi_sectors(g), g[VI_HASHES]),
                           known };
    return tamis_blocked_mean(vi_lines(g), n, vi_line_passes_known, &law);
}

/* ------------------------------------------------------------------ the fpr */

/* Equation (5), (1 - p)^k, with the correction of theory/meet.h. A share `more` of all keys has
 * k + 1 hashes: their rate is weighed in. */
static double scattered_fpr(const vi_profile *profile, const uint64_t *g, double n) {
    double const   m = (double)g[VI_COUNTERS], k = (double)g[VI_HASHES];
    double const   hits = n * vi_mean_hashes(g), more = (double)g[VI_MORE] / 256;
    double const   pass = 1 - tamis_vi_excludes(profile, m, hits);
    meet_law const law = { profile->excludes, profile->both, profile->top };
    double const   usual = tamis_meet_power(&law, m, hits, pass, k);
    if (more == 0) return usual;
    return (1 - more) * usual + more * tamis_meet_power(&law, m, hits, pass, k + 1);
}

void tamis_vi_forget(vi_known *ret_known) {
    for (unsigned i = 0; i < VI_KNOWN_KEYS; i++) ret_known->passes[i] = -1;
}

/* n / 2^64: keys whose 64-bit hash is that of a stored key. */
double tamis_vi_fpr_known(const vi_profile *profile, const uint64_t *g, double n, vi_known *known) {
    double const passes =
        g[VI_BLOCKED] != 0 ? blocked_fpr(profile, g, n, known) : scattered_fpr(profile, g, n);
    return fmin(1, passes + n / 0x1p64);
}

double tamis_vi_fpr_by(const vi_profile *profile, const uint64_t *g, double n) {
    return tamis_vi_fpr_known(profile, g, n, NULL);
}

double tamis_vi_fpr(const uint64_t *g, double n) {
    vi_profile profile;
    tamis_vi_profile(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS], &profile);
    return tamis_vi_fpr_by(&profile, g, n);
}

/* ------------------------------------------------------------------ counters that stick */

/* Expected events of sticking among `counters` counters, each met by a hit with `chance`. Two
 * parts: counters that are stuck after the first `hits` hits; and for each `later` hit, the chance
 * that it finds a counter which is not stuck with j hits and would be with j + 1. */
static double stuck_among(const vi_profile *profile, double counters, double chance, double hits,
                          double later) {
    double const now = vi_mean_over_hits(profile, profile->stuck, chance, hits);
    double const after = vi_mean_over_hits(profile, profile->stuck + 1, chance, hits);
    return counters * (mean_stuck(profile, chance, hits) + later * chance * fmax(0, after - now));
}

/* Blocked: a key hits one counter of each sector of its line, so n keys are n hits of each group of
 * sectors with the same size, taken over all lines. */
static double stuck_in_lines(const vi_profile *profile, const uint64_t *g, double n, double later) {
    double const        lines = vi_lines(g), more = (double)g[VI_MORE] / 256;
    blocked_sizes const sizes = tamis_blocked_sizes(vi_per_line(g), vi_sectors(g), g[VI_HASHES]);
    double const        small = lines * sizes.least, larger = lines * (sizes.least + 1);
    double const        last = more != 0 ? lines * last_sector_size(g) : 1;
    return sizes.small * stuck_among(profile, small, 1 / small, n, later) +
           sizes.larger * stuck_among(profile, larger, 1 / larger, n, later) +
           (more != 0 ? stuck_among(profile, last, more / last, n, later) : 0);
}

/* Events are rare and nearly independent, so P[any] = 1 - e^-expected. */
double tamis_vi_saturation_by(const vi_profile *profile, const uint64_t *g, double n,
                              double lifetime) {
    double const m = (double)g[VI_COUNTERS], k = vi_mean_hashes(g), later = fmax(0, lifetime - n);
    double const expected = g[VI_BLOCKED] != 0 ? stuck_in_lines(profile, g, n, later)
                                               : stuck_among(profile, m, 1 / m, n * k, later * k);
    return -expm1(-expected);
}

double tamis_vi_saturation(const uint64_t *g, double n, double lifetime) {
    vi_profile profile;
    tamis_vi_profile(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS], &profile);
    return tamis_vi_saturation_by(&profile, g, n, lifetime);
}

/* ------------------------------------------------------------------ the forecast */

/* Blocked: any operation touches one line. Otherwise an operation touches the lines of all its
 * counters, and an absent key only until a counter excludes it. */
void tamis_vi_predict(const uint64_t *g, const tamis_workload *work, tamis_forecast *ret_forecast) {
    double const   n = (double)work->capacity, m = (double)g[VI_COUNTERS];
    double const   lines = m * (double)g[VI_COUNTER_BITS] / SECTORS_LINE_BITS;
    unsigned const hashes = (unsigned)ceil(vi_mean_hashes(g));
    vi_profile     profile;
    tamis_vi_profile(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS], &profile);
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_vi_fpr_by(&profile, g, n),
        .saturation = tamis_vi_saturation_by(&profile, g, n, (double)work->lifetime),
        .lines_present = 1,
        .lines_absent = 1,
        .lines_add = 1,
    };
    if (g[VI_BLOCKED] != 0) return;
    double const excludes = tamis_vi_excludes(&profile, m, n * vi_mean_hashes(g));
    ret_forecast->lines_present = tamis_bloom_lines_present(lines, hashes);
    ret_forecast->lines_absent = tamis_bloom_lines_absent(lines, hashes, 1 - excludes);
    ret_forecast->lines_add = ret_forecast->lines_present;
}
