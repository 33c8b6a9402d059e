/* size.c - see size.h.
 *
 * The search, from the outside in:
 *
 *     layout          blocked if the user prefers speed, unless the fixed number of counters fills
 *                     no whole lines
 *     increments      {8, 12, 14, 15}, then {4, 5, 6, 7}; {1} if neither counts far enough
 *     width           8 bits, then 7, 9, 6, 5; 10, 11, 12 if none of these counts far enough
 *     hashes          1, 2, ... until tables only grow
 *     counters        bisection
 *
 * The order matters for time only: the likely winner is tried first, so that most others end with
 * their first comparison. Nothing is tried twice.
 */
#include "size.h"

#include "core/increments.h"
#include "theory/crossing.h"

#include <math.h>
#include <string.h>

#define VI_MAX_STUCK 1e-3 /* P[any counter ever sticks], which decides how wide counters are */

/* The best table so far. */
typedef struct vi_search {
    const tamis_need *need;
    double            n;        /* keys */
    uint64_t          count_to; /* tables that count less are passed over */
    double            bits, rate;
    uint64_t          best[VI_FIELDS];
} vi_search;

/* ------------------------------------------------------------------ the fewest counters */

/* Blocked: as many counters as the lines hold that this many need. With 8 bits, 64 in a line: 100
 * counters become 128. */
static uint64_t vi_fill_lines(const uint64_t *g, double counters) {
    double const per_line = (double)SECTORS_LINE_BITS / (double)g[VI_COUNTER_BITS];
    double const lines = fmax(1, ceil(counters / (g[VI_BLOCKED] ? floor(per_line) : per_line)));
    return g[VI_BLOCKED] ? (uint64_t)lines * vi_per_line(g) : (uint64_t)counters;
}

/* Tables that differ in the number of counters only. */
typedef struct vi_family {
    const vi_profile *profile;
    const uint64_t   *g; /* all other fields */
    double            n;
    vi_known         *known;
} vi_family;

/* For tamis_crossing(): the rate of such a table. */
static double vi_rate_with(const void *context, double counters) {
    const vi_family *const family = context;
    uint64_t               g[VI_FIELDS];
    memcpy(g, family->g, sizeof g);
    g[VI_COUNTERS] = vi_fill_lines(g, fmax(2, counters));
    return tamis_vi_fpr_known(family->profile, g, family->n, family->known);
}

/* The fewest counters that meet the rate, if fewer than `low` do not; 0: none do. The upper end
 * grows by half until it meets the rate, then bisection closes in: to 1 in 10^5, or 1 in 10^3 in a
 * blocked table, where a rate takes a hundred times longer to compute. It takes about `guess`. */
static uint64_t fewest_from(crossing *cross, const uint64_t *g, double low, double guess) {
    double high = fmax(low, 2), close = g[VI_BLOCKED] != 0 ? 1e-3 : 1e-5;
    tamis_crossing_close_in(cross, guess, 0x1p53, close / 2);
    for (; !tamis_crossing_meets(cross, high); high *= 1.5) {
        if (high > 0x1p53) return 0;
        low = high;
    }
    while (high - low > close * high && high - low > 1) {
        double const half = (low + high) / 2;
        if (tamis_crossing_meets(cross, half))
            high = half;
        else
            low = half;
    }
    return vi_fill_lines(g, fmax(2, ceil(high)));
}

/* The fewest counters that meet the rate; 0: none do; infinity: more than both `most` and what the
 * best table so far has bits for. A blocked table is never smaller than a scattered one, which is
 * found much faster. If that one already has more counters than the best table, its size is good
 * enough as an answer. */
static double vi_fewest_counters(const vi_search *search, const vi_profile *profile, uint64_t *g,
                                 double most) {
    double const    best = search->bits / (double)g[VI_COUNTER_BITS];
    uint64_t const  is_blocked = g[VI_BLOCKED];
    vi_known        known;
    vi_family const family = { profile, g, search->n, &known };
    crossing        scattered = tamis_crossing(vi_rate_with, &family, search->need->fpr);
    crossing        blocked = scattered;
    double const    limit = fmax(most, best);
    g[VI_BLOCKED] = 0;
    /* hits per counter are hardly ever more than 4: no fewer need be tried */
    double const low = search->n * vi_mean_hashes(g) / 4;
    bool const   is_more = limit < 0x1p53 && !tamis_crossing_meets(&scattered, limit);
    double const guess = most < INFINITY ? most / 1.05 : 4 * low;
    double const fewest = is_more ? INFINITY : (double)fewest_from(&scattered, g, low, guess);
    g[VI_BLOCKED] = is_blocked;
    if (!is_blocked || fewest == 0 || fewest > best) return fewest;
    tamis_vi_forget(&known);
    if (limit < 0x1p53 && !tamis_crossing_meets(&blocked, limit)) return INFINITY;
    return (double)fewest_from(&blocked, g, fewest, 1.1 * fewest);
}

/* ------------------------------------------------------------------ which table is better */

/* Free size: fewer bits, or as many and a lower rate. Fixed size: a table that meets the rate wins
 * over one that does not; if none does, the lowest rate wins, by at least 1 in 1000, so that the
 * likely winner stays where it makes no difference. */
static bool vi_is_better(const vi_search *search, double bits, double rate) {
    double const fpr = search->need->fpr;
    bool const   meets = rate <= fpr, met = search->rate <= fpr;
    if (need_is_fixed(search->need, VI_COUNTERS) && !(meets && met))
        return meets || (!met && rate < .999 * search->rate);
    return bits < search->bits || (bits <= search->bits && rate < search->rate);
}

/* Keep this table if it is better than the best so far and its counters do not stick too often. A
 * width that the user fixed is taken as it is. */
static void vi_try_table(vi_search *search, const vi_profile *profile, const uint64_t *g) {
    const tamis_need *const need = search->need;
    double const            bits = (double)g[VI_COUNTERS] * (double)g[VI_COUNTER_BITS];
    if (bits > search->bits && !need_is_fixed(need, VI_COUNTERS)) return;
    double const rate = tamis_vi_fpr_by(profile, g, search->n);
    double const stuck = tamis_vi_saturation_by(profile, g, search->n, (double)need->work.lifetime);
    if (stuck > VI_MAX_STUCK && !need_is_fixed(need, VI_COUNTER_BITS)) return;
    if (!vi_is_better(search, bits, rate)) return;
    search->bits = bits;
    search->rate = rate;
    memcpy(search->best, g, sizeof search->best);
}

/* ------------------------------------------------------------------ what is tried */

/* All numbers of hashes for one D and one width. The size falls with k to a single minimum and then
 * rises, so the loop may stop when it has risen by 5%: less may be due to the bisection. */
static void try_hashes(vi_search *search, uint64_t *g) {
    const tamis_need *const need = search->need;
    uint64_t const          fixed_k = need->fixed[VI_HASHES], fixed_m = need->fixed[VI_COUNTERS];
    uint64_t const          first = fixed_k != NEED_FREE ? fixed_k : 1;
    uint64_t const          last = fixed_k != NEED_FREE ? fixed_k : VI_MAX_HASHES;
    double                  fewest = INFINITY;
    vi_profile              profile;
    tamis_vi_profile(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS], &profile);
    for (uint64_t k = first; k <= last; k++) {
        g[VI_HASHES] = k;
        if (g[VI_BLOCKED] != 0 && vi_sectors(g) > vi_per_line(g)) break;
        double const m = fixed_m != NEED_FREE
                             ? (double)fixed_m
                             : vi_fewest_counters(search, &profile, g, 1.05 * fewest);
        if (m == 0) continue;
        if (m > 1.05 * fewest || m == INFINITY) break;
        fewest = fmin(fewest, m);
        g[VI_COUNTERS] = fixed_m != NEED_FREE ? fixed_m : (uint64_t)m;
        vi_try_table(search, &profile, g);
    }
}

#define USUAL_WIDTHS 5

/* All widths that can be best. Narrower counters stick, or want fewer hashes than are best; bits of
 * wider ones are wasted, unless counts need them. A fixed number of counters must fill whole lines
 * of a blocked table. */
static void try_widths(vi_search *search, uint64_t *g) {
    static const uint64_t widths[] = { 8, 7, 9, 6, 5, 10, 11, 12 };
    uint64_t const        fixed = search->need->fixed[VI_COUNTER_BITS];
    uint64_t const        m = search->need->fixed[VI_COUNTERS];
    bool                  is_counting = false; /* did any width count far enough? */
    for (unsigned i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        if ((fixed != NEED_FREE && i != 0) || (is_counting && i >= USUAL_WIDTHS)) break;
        g[VI_COUNTER_BITS] = fixed != NEED_FREE ? fixed : widths[i];
        if (tamis_vi_count_to(g) < search->count_to) continue;
        is_counting = true;
        if (m != NEED_FREE && g[VI_BLOCKED] != 0 && m % vi_per_line(g) != 0) continue;
        try_hashes(search, g);
    }
}

/* One set of increments, in one layout: all widths and numbers of hashes. What the user has fixed
 * stays. */
static void vi_try_set(vi_search *search, bool is_blocked, uint64_t mask) {
    const tamis_need *const need = search->need;
    uint64_t                g[VI_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    g[VI_INCREMENTS] = mask;
    if (!need_is_fixed(need, VI_MORE)) g[VI_MORE] = 0;
    if (!need_is_fixed(need, VI_BLOCKED)) g[VI_BLOCKED] = is_blocked;
    try_widths(search, g);
}

/* All sets of increments, in one layout. {8, 12, 14, 15} is the paper's best set; {4, 5, 6, 7} is
 * better where counters have to be narrow; {1} counts furthest. */
static void vi_try_sets(vi_search *search, bool is_blocked) {
    if (need_is_fixed(search->need, VI_INCREMENTS)) {
        vi_try_set(search, is_blocked, search->need->fixed[VI_INCREMENTS]);
        return;
    }
    vi_try_set(search, is_blocked, VI_GENERAL);
    vi_try_set(search, is_blocked, VI_D(4));
    if (search->bits == INFINITY && search->count_to != 0) vi_try_set(search, is_blocked, VI_ONE);
}

/* Blocked if the user prefers speed; but the user may have fixed a number of counters that fills no
 * whole lines, and not have asked for lines: then it is scattered. */
static void try_layouts(vi_search *search) {
    const tamis_need *const need = search->need;
    bool const may_scatter = need_is_fixed(need, VI_COUNTERS) && !need_is_fixed(need, VI_BLOCKED);
    vi_try_sets(search, need_is_fast(need));
    if (search->bits == INFINITY && need_is_fast(need) && may_scatter) vi_try_sets(search, false);
}

/* ------------------------------------------------------------------ the choice */

/* Can the fixed fields be met at all? Without a rate, the size must be given. */
static bool vi_need_is_possible(const tamis_need *need) {
    uint64_t const k = need->fixed[VI_HASHES], bits = need->fixed[VI_COUNTER_BITS];
    uint64_t const mask = need->fixed[VI_INCREMENTS];
    if (need->fpr <= 0 && !need_is_fixed(need, VI_COUNTERS)) return false;
    if (k != NEED_FREE && (k < 1 || k > VI_MAX_HASHES)) return false;
    if (bits != NEED_FREE && (bits < VI_MIN_BITS || bits > VI_MAX_BITS)) return false;
    return mask == NEED_FREE || increments_are_possible(mask);
}

bool tamis_vi_choose(const tamis_need *need, uint64_t *ret_geometry) {
    vi_search search = { .need = need,
                         .n = (double)need->work.capacity,
                         .count_to = min_u64(need->count_to, VI_MAX_COUNT),
                         .bits = INFINITY,
                         .rate = INFINITY };
    if (!vi_need_is_possible(need)) return false;
    try_layouts(&search);
    if (search.bits == INFINITY && search.count_to != 0) {
        search.count_to = 0; /* the fixed fields do not count so far: the planner says how far */
        try_layouts(&search);
    }
    if (search.bits == INFINITY) return false;
    memcpy(ret_geometry, search.best, sizeof search.best);
    return true;
}
