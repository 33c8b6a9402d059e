/* size.c - see vi_size.h. */
#include "size.h"

#include "theory/blocked.h"
#include "theory/meet.h"
#include "theory/tails.h"
#include "theory/vi_rate.h"

#include <math.h>
#include <string.h>

#define MAX_STUCK 1e-3 /* chance that a counter ever sticks, which decides how many bits it has */

/* ------------------------------------------------------------------ sums of increments */

/* The distribution of the sum of j increments. Sums from `end` on are one. Counters beyond 1000
 * exclude nobody, whatever D is (core/increments.h), so no more sums need be told apart. */
#define LAW_SUMS 1024

static_assert((INCREMENTS_MAX - 1) * (INCREMENTS_MAX - 2) + 2 * INCREMENTS_MAX < LAW_SUMS,
              "beyond, any two increments are held");

typedef struct sum_law {
    unsigned j;
    uint64_t end; /* the first sum that makes a counter stuck, or LAW_SUMS */
    double   chance[LAW_SUMS + 1];
} sum_law;

/* One increment more. In place, from the top down: smaller sums are still those of j increments. */
static void add_increment(const increments *d, sum_law *law) {
    uint64_t const end = law->end, most = ++law->j * (uint64_t)d->value[d->n - 1];
    double         beyond = law->chance[end] * d->n;
    for (unsigned i = 0; i < d->n; i++) { /* sums that one increment takes to the end */
        for (uint64_t s = end < d->value[i] ? 0 : end - d->value[i]; s < end; s++) {
            beyond += law->chance[s];
        }
    }
    for (uint64_t s = min_u64(end, most) + 1; s-- > 0;) {
        double sum = 0;
        for (unsigned i = 0; i < d->n && s >= d->value[i]; i++) {
            sum += law->chance[s - d->value[i]];
        }
        law->chance[s] = sum / d->n;
    }
    law->chance[end] = beyond / d->n;
}

/* ------------------------------------------------------------------ one counter */

/* What counters exclude and hold, by the sum of the increments of the keys that have hit them. */
typedef struct shares {
    uint8_t  excluded[LAW_SUMS + 1]; /* of n increments */
    uint16_t both[LAW_SUMS + 1];     /* of n x n pairs */
} shares;

/* A counter whose keys have a sum of s holds copies x s. A stuck one excludes nothing. */
static void find_shares(const increments *d, uint64_t top, uint64_t copies, uint64_t end,
                        shares *ret_shares) {
    unsigned const n = d->n;
    for (uint64_t s = 0; s <= end; s++) {
        uint64_t const c = copies * s;
        bool const     is_stuck = s == end || c >= top;
        double const   excluded = is_stuck ? 0 : tamis_vi_excluded(d, c);
        double const   both = is_stuck ? 1 : tamis_vi_held_both(d, c);
        ret_shares->excluded[s] = (uint8_t)lrint(excluded * n);
        ret_shares->both[s] = (uint16_t)lrint(both * n * n);
    }
}

/* How many keys are looked at: as many as fill any counter, if that is not more than VI_MAX_KEYS.
 * If it is, a counter is taken to be stuck with as many as fill one on average. */
static void profile_ends(const increments *d, uint64_t stuck_sum, vi_profile *ret_profile) {
    uint64_t const most = (stuck_sum + d->value[0] - 1) / d->value[0];
    double         mean = 0;
    for (unsigned i = 0; i < d->n; i++) mean += (double)d->value[i] / d->n;
    ret_profile->top = (unsigned)min_u64(most, VI_MAX_KEYS);
    ret_profile->full = most <= VI_MAX_KEYS ? (double)most + 1 : ceil((double)stuck_sum / mean);
}

void tamis_vi_profile(uint64_t mask, unsigned counter_bits, vi_profile *ret_profile) {
    uint64_t const   copies = 1; /* of every key */
    increments const d = increments_make(mask);
    uint64_t const   top = bits_low(counter_bits);
    uint64_t const   stuck_sum = (top + copies - 1) / copies; /* such a sum makes it stuck */
    uint64_t const   largest = d.value[d.n - 1];
    sum_law          law = { .end = min_u64(stuck_sum, LAW_SUMS), .chance = { 1 } };
    shares           of_sum;
    find_shares(&d, top, copies, law.end, &of_sum);
    profile_ends(&d, stuck_sum, ret_profile);
    for (unsigned j = 0; j <= ret_profile->top + 1; j++) {
        double excluded = 0, both = 0;
        for (uint64_t s = 0; s <= min_u64(law.end, j * largest); s++) {
            excluded += law.chance[s] * of_sum.excluded[s];
            both += law.chance[s] * of_sum.both[s];
        }
        ret_profile->excludes[j] = excluded / d.n;
        ret_profile->both[j] = both / ((double)d.n * d.n);
        /* where sums beyond the law are not told apart, take the largest possible one */
        ret_profile->stuck[j] =
            law.end == stuck_sum ? law.chance[law.end] : (double)(j * largest >= stuck_sum);
        add_increment(&d, &law);
    }
}

/* ------------------------------------------------------------------ counters */

/* The mean of what[j] over the number of hits of a counter, up to top, of so many with a chance
 * each. */
static double mean_over_hits(const vi_profile *of, const double *what, double chance, double hits) {
    double const odds = chance / (1 - chance);
    double       p = exp(hits * log1p(-chance)), sum = 0;
    if (chance >= 1) return hits <= of->top ? what[(unsigned)hits] : 0;
    for (unsigned j = 0; j <= of->top && (p > 1e-40 || j < hits * odds); j++) {
        sum += p * what[j];
        p *= fmax(0, hits - j) / (j + 1) * odds;
    }
    return sum;
}

double tamis_vi_excludes(const vi_profile *of, double counters, double hits) {
    return mean_over_hits(of, of->excludes, 1 / counters, hits);
}

/* A counter that was hit more often than the profile tells of is stuck. */
static double mean_stuck(const vi_profile *of, double chance, double hits) {
    double const beyond = hits < of->full ? 0 : tamis_binomial_tail(hits, chance, of->full);
    return fmin(1, mean_over_hits(of, of->stuck, chance, hits) + beyond);
}

/* ------------------------------------------------------------------ rates */

/* A line of a blocked table. */
typedef struct line_law {
    const uint64_t   *g;
    const vi_profile *profile;
    blocked_sizes     sizes; /* of all sectors but the one that only some keys have */
} line_law;

static double lines_of(const uint64_t *g) {
    return fmax(1, floor((double)g[VI_COUNTERS] / (double)vi_per_line(g)));
}

/* Counters of the sector that only those keys have that have one hash more. */
static double last_size(const uint64_t *g) {
    return (double)(vi_sector(g, g[VI_HASHES] + 1) - vi_sector(g, g[VI_HASHES]));
}

/* P[a counter of a line with so many keys holds a place of an absent one]. */
static double line_holds(const line_law *of, double chance, double keys) {
    return 1 - mean_over_hits(of->profile, of->profile->excludes, chance, keys);
}

/* P[an absent key passes all its counters]. */
static double line_passes(const void *context, double keys) {
    const line_law *const of = context;
    double const          least = of->sizes.least, more = (double)of->g[VI_MORE] / 256;
    double const          pass = pow(line_holds(of, 1 / least, keys), of->sizes.small) *
                        pow(line_holds(of, 1 / (least + 1), keys), of->sizes.larger);
    if (more == 0) return pass;
    return pass * (1 - more + more * line_holds(of, more / last_size(of->g), keys));
}

static double scattered_passes(const vi_profile *of, const uint64_t *g, double n) {
    double const   m = (double)g[VI_COUNTERS], k = (double)g[VI_HASHES];
    double const   hits = n * vi_mean_hashes(g), more = (double)g[VI_MORE] / 256;
    double const   pass = 1 - tamis_vi_excludes(of, m, hits);
    meet_law const law = { of->excludes, of->both, of->top };
    double const   usual = tamis_meet_power(&law, m, hits, pass, k);
    if (more == 0) return usual;
    return (1 - more) * usual + more * tamis_meet_power(&law, m, hits, pass, k + 1);
}

static double fpr_of(const vi_profile *of, const uint64_t *g, double n) {
    line_law const law = { g, of,
                           tamis_blocked_sizes(vi_per_line(g), vi_sectors(g), g[VI_HASHES]) };
    double const passes = g[VI_BLOCKED] != 0 ? tamis_blocked_mean(lines_of(g), n, line_passes, &law)
                                             : scattered_passes(of, g, n);
    return fmin(1, passes + n / 0x1p64);
}

double tamis_vi_fpr(const uint64_t *g, double n) {
    vi_profile profile;
    tamis_vi_profile(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS], &profile);
    return fpr_of(&profile, g, n);
}

/* ------------------------------------------------------------------ counters that stick */

/* Of `counters` that each hit meets with a chance of its own: those that stick in the filling, and
 * those that each later hit of one of them brings to it. */
static double stuck_among(const vi_profile *of, double counters, double chance, double n,
                          double later) {
    double const now = mean_over_hits(of, of->stuck, chance, n);
    double const after = mean_over_hits(of, of->stuck + 1, chance, n);
    return counters * (mean_stuck(of, chance, n) + later * chance * fmax(0, after - now));
}

/* In a blocked table a key hits one counter of each sector of its line. */
static double stuck_in_lines(const vi_profile *of, const uint64_t *g, double n, double later) {
    double const        lines = lines_of(g), more = (double)g[VI_MORE] / 256;
    blocked_sizes const sizes = tamis_blocked_sizes(vi_per_line(g), vi_sectors(g), g[VI_HASHES]);
    double const        small = lines * sizes.least, larger = lines * (sizes.least + 1);
    double const        last = more != 0 ? lines * last_size(g) : 1;
    return sizes.small * stuck_among(of, small, 1 / small, n, later) +
           sizes.larger * stuck_among(of, larger, 1 / larger, n, later) +
           (more != 0 ? stuck_among(of, last, more / last, n, later) : 0);
}

static double stuck_of(const vi_profile *of, const uint64_t *g, double n, double lifetime) {
    double const m = (double)g[VI_COUNTERS], k = vi_mean_hashes(g), later = fmax(0, lifetime - n);
    return -expm1(-(g[VI_BLOCKED] != 0 ? stuck_in_lines(of, g, n, later)
                                       : stuck_among(of, m, 1 / m, n * k, later * k)));
}

double tamis_vi_saturation(const uint64_t *g, double n, double lifetime) {
    vi_profile profile;
    tamis_vi_profile(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS], &profile);
    return stuck_of(&profile, g, n, lifetime);
}

/* ------------------------------------------------------------------ choice */

/* Counters fill the last line of a table. */
static uint64_t fill_lines(const uint64_t *g, double counters) {
    double const per_line = (double)SECTORS_LINE_BITS / (double)g[VI_COUNTER_BITS];
    double const lines = fmax(1, ceil(counters / (g[VI_BLOCKED] ? floor(per_line) : per_line)));
    return g[VI_BLOCKED] ? (uint64_t)lines * vi_per_line(g) : (uint64_t)counters;
}

/* The fewest counters that keep the fpr, from `low` on; 0: none do. */
static uint64_t fewest(const vi_need *need, const vi_profile *of, uint64_t *g, double low) {
    double high = fmax(low, 2), close = g[VI_BLOCKED] != 0 ? 1e-3 : 1e-5;
    for (;; high *= 1.5) {
        g[VI_COUNTERS] = fill_lines(g, high);
        if (fpr_of(of, g, need->n) <= need->fpr) break;
        if (high > 0x1p53) return 0;
        low = high;
    }
    while (high - low > close * high && high - low > 1) {
        double const half = (low + high) / 2;
        g[VI_COUNTERS] = fill_lines(g, fmax(2, half));
        *(fpr_of(of, g, need->n) > need->fpr ? &low : &high) = half;
    }
    return fill_lines(g, fmax(2, ceil(high)));
}

/* A blocked table is never smaller than one that is not, which is found much faster. */
static uint64_t fewest_below(const vi_need *need, const vi_profile *of, uint64_t *g, double most) {
    uint64_t const is_blocked = g[VI_BLOCKED];
    g[VI_BLOCKED] = 0;
    uint64_t const scattered = fewest(need, of, g, need->n * vi_mean_hashes(g) / 4);
    g[VI_BLOCKED] = is_blocked;
    if (!is_blocked || scattered == 0 || (double)scattered > most) return scattered;
    return fewest(need, of, g, (double)scattered);
}

typedef struct search {
    const vi_need  *need;
    const uint64_t *fixed;
    double          least, rate; /* the smallest so far, and its fpr */
    uint64_t        best[VI_FIELDS];
} search;

/* Smaller, or with a lower fpr. If the number of counters is fixed, one that keeps the fpr is
 * better than one that does not, and if none does, the lowest is best. */
static bool is_better(const search *of, double size, double rate) {
    bool const keeps = rate <= of->need->fpr, kept = of->rate <= of->need->fpr;
    if (of->fixed[VI_COUNTERS] != NEED_FREE && !(keeps && kept))
        return keeps || (!kept && rate < .999 * of->rate);
    return size < of->least || (size <= of->least && rate < of->rate);
}

/* Its counters do not stick, and it is better than the best so far. */
static void try_one(search *of, const vi_profile *profile, const uint64_t *g) {
    double const size = (double)g[VI_COUNTERS] * (double)g[VI_COUNTER_BITS];
    if (size > of->least && of->fixed[VI_COUNTERS] == NEED_FREE) return;
    double const rate = fpr_of(profile, g, of->need->n);
    double const stuck = stuck_of(profile, g, of->need->n, of->need->lifetime);
    if (stuck > MAX_STUCK && of->fixed[VI_COUNTER_BITS] == NEED_FREE) return;
    if (!is_better(of, size, rate)) return;
    of->least = size;
    of->rate = rate;
    for (unsigned i = 0; i < VI_FIELDS; i++) of->best[i] = g[i];
}

/* All numbers of hashes, until the table only grows. */
static void try_hashes(search *of, uint64_t *g) {
    uint64_t const fixed = of->fixed[VI_HASHES], m = of->fixed[VI_COUNTERS];
    uint64_t const last = fixed != NEED_FREE ? fixed : VI_MAX_HASHES;
    vi_profile     profile;
    double         least = INFINITY;
    tamis_vi_profile(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS], &profile);
    for (uint64_t k = fixed != NEED_FREE ? fixed : 1; k <= last; k++) {
        g[VI_HASHES] = k;
        if (g[VI_BLOCKED] != 0 && vi_sectors(g) > vi_per_line(g)) break;
        double const most = of->least / (double)g[VI_COUNTER_BITS];
        g[VI_COUNTERS] = m != NEED_FREE ? m : fewest_below(of->need, &profile, g, most);
        if (g[VI_COUNTERS] == 0) continue;
        if ((double)g[VI_COUNTERS] > 1.05 * least) break;
        least = fmin(least, (double)g[VI_COUNTERS]);
        try_one(of, &profile, g);
    }
}

/* Given counters are as many as lines hold, or need not be. */
static bool fills_lines(const uint64_t *fixed, const uint64_t *g) {
    if (fixed[VI_COUNTERS] == NEED_FREE || g[VI_BLOCKED] == 0) return true;
    return fixed[VI_COUNTERS] % vi_per_line(g) == 0;
}

/* Fewer bits make counters stick, or need fewer hashes than are best; more than that are wasted.
 * The likely winner is first, so that the others need not be searched to the end. */
static void try_bits(search *of, uint64_t *g) {
    static const uint64_t widths[] = { 8, 7, 9, 6, 5 };
    uint64_t const        fixed = of->fixed[VI_COUNTER_BITS];
    for (unsigned i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        g[VI_COUNTER_BITS] = fixed != NEED_FREE ? fixed : widths[i];
        if (fixed != NEED_FREE && i != 0) break;
        if (fills_lines(of->fixed, g)) try_hashes(of, g);
    }
}

static bool is_possible(const vi_need *need, const uint64_t *fixed) {
    if (need->fpr <= 0 && (fixed[VI_COUNTERS] == NEED_FREE)) return false;
    if (fixed[VI_HASHES] != NEED_FREE && (fixed[VI_HASHES] < 1 || fixed[VI_HASHES] > VI_MAX_HASHES))
        return false;
    if (fixed[VI_COUNTER_BITS] != NEED_FREE &&
        (fixed[VI_COUNTER_BITS] < VI_MIN_BITS || fixed[VI_COUNTER_BITS] > VI_MAX_BITS))
        return false;
    return fixed[VI_INCREMENTS] == NEED_FREE || increments_are_possible(fixed[VI_INCREMENTS]);
}

/* The user gave counters that are not so many as lines hold, and did not ask for lines. */
static bool choose_scattered(const vi_need *need, uint64_t *geometry) {
    vi_need scattered = *need;
    scattered.is_blocked = false;
    return need->is_blocked && geometry[VI_BLOCKED] == NEED_FREE &&
           geometry[VI_COUNTERS] != NEED_FREE && tamis_vi_choose(&scattered, geometry);
}

bool tamis_vi_choose(const vi_need *need, uint64_t *geometry) {
    static const uint64_t sets[] = { VI_GENERAL, VI_D(4) };
    search of = { .need = need, .fixed = geometry, .least = INFINITY, .rate = INFINITY };
    if (!is_possible(need, geometry)) return false;
    for (unsigned i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        uint64_t g[VI_FIELDS];
        memcpy(g, geometry, sizeof g);
        if (g[VI_MORE] == NEED_FREE) g[VI_MORE] = 0;
        if (g[VI_BLOCKED] == NEED_FREE) g[VI_BLOCKED] = need->is_blocked;
        if (g[VI_INCREMENTS] != NEED_FREE && i != 0) break;
        if (g[VI_INCREMENTS] == NEED_FREE) g[VI_INCREMENTS] = sets[i];
        try_bits(&of, g);
    }
    if (!(of.least < INFINITY)) return choose_scattered(need, geometry);
    memcpy(geometry, of.best, sizeof of.best);
    return true;
}
