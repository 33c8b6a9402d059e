/* size.c - see size.h.
 *
 * The search:
 *
 *     sequence     the first of a short list that is a Bh sequence for the h that is asked for
 *     hashes       1, 2, ... until tables only grow: gives the best k, and a size for each k
 *     bits         c1 of 3 to 6 bits, and for each the bits of c2 or c3 up to 12; with the best k,
 *                  or a lower one where entries would stick
 *     entries      once more, for the bits that have won
 *
 * Words, as in analysis.h: an entry has a counter c1 of its keys, and c2 (the paper's) or c3 (ours,
 * centred), the sum of their numbers from the sequence. Each of the k places of a key is a hit of
 * an entry. An entry whose c1 or c2 is too small for its hits sticks: it excludes no key any more.
 */
#include "size.h"

#include "sequences.h"
#include "theory/crossing.h"

#include <math.h>
#include <string.h>

#define MAX_TRIED_K 40
#define FEWER_HASHES 6 /* how far below the best k lower ones are tried (lowest_k) */

/* What has been found so far. */
typedef struct bh_search {
    const tamis_need *need;
    double            n, lifetime; /* keys at one time, and in all */
    double            max_stuck;   /* accepted P[any entry ever sticks]; 1: any */
    uint64_t          count_to;    /* tables that count less are passed over */
    uint64_t          best_k;
    double            entries[BH_MAX_HASHES + 1]; /* needed with k hashes, if none ever stuck */
    double            bits; /* of the best table so far; before, from which on it is too large */
    uint64_t          best[BH_FIELDS]; /* no entries: none yet */
} bh_search;

static bool has_best(const bh_search *search) {
    return search->best[BH_ENTRIES] != 0;
}

/* ------------------------------------------------------------------ the sequence */

/* The first made the smallest tables, over n = 10^3 to 10^8 and rates of 1% to 0.01%, of all that
 * were tried: those of 4 numbers up to 10, 5 up to 14, 6 up to 22 and 7 up to 26, with h = 2. What
 * the paper has, {1, 4, 13, 15}, takes 9 to 26% more. It and the last are for larger h. */
static const uint64_t sequences[] = {
    SEQUENCE_4(1, 3, 8, 16) | SEQUENCE_2(22, 25) | SEQUENCE_1(26), /* for h up to 2 */
    SEQUENCE_4(1, 4, 13, 15),                                      /* 3 */
    SEQUENCE_2(1, 2) | SEQUENCE_1(15),                             /* 13 */
};

/* The largest h for which this is a Bh sequence (definition 1) and lookups have their sums; 0:
 * none. */
static uint64_t largest_h(uint64_t mask) {
    uint64_t h = 0;
    if (!sums_are_possible(mask)) return 0;
    while (h < SEQUENCES_MAX_H && tamis_is_bh(mask, (unsigned)h + 1) && bh_has_rows(mask, h + 1))
        h++;
    return h;
}

/* Fill in the sequence and its h, as far as they are free. False: there is none. */
static bool choose_sequence(uint64_t *g) {
    for (unsigned i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        uint64_t const mask = g[BH_SEQUENCE] != NEED_FREE ? g[BH_SEQUENCE] : sequences[i];
        uint64_t const most = largest_h(mask), h = g[BH_H] != NEED_FREE ? g[BH_H] : most;
        if (h < 1 || h > most) continue;
        g[BH_SEQUENCE] = mask;
        g[BH_H] = h;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ the number of hashes */

/* Tables that differ in the number of entries only, and the rate of one of them, as
 * tamis_crossing() asks for it. */
typedef struct bh_family {
    const bh_profile *profile;
    double            k, n;
} bh_family;

static double bh_rate_with(const void *context, double entries) {
    const bh_family *const family = context;
    return tamis_bh_fpr(family->profile, entries, family->k, family->n);
}

/* The fewest entries that meet the rate with k hashes, to 1 in 10^4; infinity: none do. The upper
 * end doubles until it meets the rate, then bisection closes in. `guess` may be any number; the
 * search is shorter if it is near the result. */
static double fewest_entries(const bh_search *search, const bh_profile *profile, double k,
                             double guess) {
    bh_family const family = { profile, k, search->n };
    crossing        cross = tamis_crossing(bh_rate_with, &family, search->need->fpr);
    double          low = 1, high = fmax(2, search->n);
    tamis_crossing_close_in(&cross, fmax(2, guess), (double)PAIRS_MAX_ENTRIES, 5e-5);
    for (; !tamis_crossing_meets(&cross, high); high *= 2) {
        if (high > (double)PAIRS_MAX_ENTRIES / 4) return INFINITY;
        low = high;
    }
    while (high - low > fmax(1, 1e-4 * high)) {
        double const half = floor((low + high) / 2);
        if (tamis_crossing_meets(&cross, half))
            high = half;
        else
            low = half;
    }
    return high;
}

/* A profile in which entries hardly ever stick: with the fixed bits, if both are fixed; else with 4
 * bits for c1 and the most possible for c2. settle_entries() corrects the number of entries in the
 * end, for the bits that were chosen. */
static void profile_for_hashes(const bh_search *search, const uint64_t *g,
                               bh_profile *ret_profile) {
    bool const is_whole =
        need_is_fixed(search->need, BH_COUNT_BITS) && need_is_fixed(search->need, BH_SUM_BITS);
    uint64_t wide[BH_FIELDS];
    memcpy(wide, g, sizeof wide);
    if (!is_whole) {
        wide[BH_COUNT_BITS] = 4;
        wide[BH_SUM_BITS] = BH_MAX_SUM_BITS;
    }
    wide[BH_CENTRED] = is_whole && g[BH_CENTRED] != 0;
    pairs const layout = tamis_bh_pairs(wide);
    tamis_bh_profile_rate(&layout, BH_MAX_COUNT, ret_profile);
}

/* The number of entries for each k, and the best k: that of the smallest table or, in a table of
 * fixed size, of the lowest rate. Both fall with k to a single minimum and then rise, so the loop
 * may stop when they have risen by 10%.
 *
 * entries[k] is kept for every k that was tried, since a lower k than the best may win in the end:
 * it needs more entries, but these stick less often and may be narrower (try_bits). */
static bool choose_hashes(bh_search *search, const uint64_t *g) {
    bool const is_sized = need_is_fixed(search->need, BH_ENTRIES);
    uint64_t   k = need_is_fixed(search->need, BH_HASHES) ? search->need->fixed[BH_HASHES] : 1;
    uint64_t   last = need_is_fixed(search->need, BH_HASHES) ? k : MAX_TRIED_K;
    double     least = INFINITY;
    bh_profile profile;
    profile_for_hashes(search, g, &profile);
    for (; k <= last; k++) {
        double const guess = least < INFINITY ? least : search->n;
        double const m =
            is_sized ? (double)g[BH_ENTRIES] : fewest_entries(search, &profile, (double)k, guess);
        double const cost = is_sized ? tamis_bh_fpr(&profile, m, (double)k, search->n) : m;
        search->entries[k] = m;
        if (cost < least) search->best_k = k;
        if (cost > 1.1 * least) break;
        least = fmin(least, cost);
    }
    return least < INFINITY;
}

/* The lowest k that is worth trying. With fewer hashes than the best, fewer keys meet in an entry,
 * so that entries stick less often. */
static uint64_t lowest_k(const bh_search *search) {
    uint64_t const best = search->best_k;
    if (need_is_fixed(search->need, BH_ENTRIES) || need_is_fixed(search->need, BH_HASHES))
        return best;
    return best <= FEWER_HASHES ? 1 : best - FEWER_HASHES;
}

/* ------------------------------------------------------------------ the bits of an entry */

/* Would entries of this layout stick too often, in m entries with k hashes? Most layouts do so
 * while the table is filled. The risk of later keys takes longer to compute, so it is computed only
 * for the others, once for all k (`has_risk`). */
static bool sticks_too_often(const bh_search *search, const pairs *layout, bh_profile *profile,
                             bool *has_risk, double m, double k) {
    double const n = search->n, most = search->max_stuck;
    if (most >= 1) return false;
    if (tamis_bh_saturation(profile, m, k, n, n) > most) return true;
    if (!*has_risk) tamis_bh_profile_risk(layout, profile);
    *has_risk = true;
    return tamis_bh_saturation(profile, m, k, n, search->lifetime) > most;
}

/* The most hits that an entry has, in all tables that try_bits() looks at. All entries with more
 * together stick less often than a millionth of what is accepted. */
static unsigned most_hits(const bh_search *search) {
    double const later = fmax(0, search->lifetime - search->n);
    unsigned     most = 0;
    for (uint64_t k = search->best_k; k >= lowest_k(search); k--) {
        double const   m = search->entries[k], hits = search->n * (double)k;
        double const   never = 1e-6 * search->max_stuck / (m + later * (double)k);
        unsigned const these = m < INFINITY ? tamis_bh_most_hits(m, hits, never) : 0;
        most = these > most ? these : most;
    }
    return most;
}

/* Try the bits in g with the best k, and with lower ones where entries stick with that. Keep the
 * smallest table in which they do not. Profiles take nine tenths of the time here, so the two tests
 * that need none come first. */
static void try_bits(bh_search *search, uint64_t *g) {
    double const bits = (double)(g[BH_COUNT_BITS] + g[BH_SUM_BITS]);
    bool         has_risk = false;
    if (bits * search->entries[search->best_k] >= search->bits) return;
    if (search->count_to != 0 && tamis_bh_count_to(g) < search->count_to) return;
    pairs const layout = tamis_bh_pairs(g);
    bh_profile  profile;
    tamis_bh_profile_stuck(&layout, most_hits(search), &profile);
    for (uint64_t k = search->best_k; k >= lowest_k(search); k--) {
        double const m = search->entries[k];
        if (bits * m >= search->bits || m > (double)PAIRS_MAX_ENTRIES) continue;
        if (sticks_too_often(search, &layout, &profile, &has_risk, m, (double)k)) continue;
        search->bits = bits * m;
        memcpy(search->best, g, sizeof search->best);
        search->best[BH_ENTRIES] = (uint64_t)m;
        search->best[BH_HASHES] = k;
    }
}

/* Does c1 of this many bits alone stick too often, whatever c2 has? A quick test, before a profile
 * is made for each width of c2. */
static bool is_too_short(const bh_search *search, uint64_t count_bits) {
    uint64_t const k = lowest_k(search);
    double const   m = search->entries[k], top = (double)bits_low((unsigned)count_bits);
    return m < INFINITY && m * tamis_bh_beyond(top, m, search->n * (double)k) > search->max_stuck;
}

/* All bits that can be best: c1 of 3 to 6 bits, c2 with at least one bit more. Centred, unless the
 * user says otherwise. */
static void try_all_bits(bh_search *search, uint64_t *g) {
    uint64_t const count = search->need->fixed[BH_COUNT_BITS];
    uint64_t const sum = search->need->fixed[BH_SUM_BITS];
    uint64_t const first = count != NEED_FREE ? count : 3;
    uint64_t const last = count != NEED_FREE ? count : BH_MAX_COUNT_BITS;
    uint64_t const last_sum = sum != NEED_FREE ? sum : BH_MAX_SUM_BITS;
    g[BH_CENTRED] = search->need->fixed[BH_CENTRED] != 0;
    for (uint64_t bits = first; bits <= last; bits++) {
        if (is_too_short(search, bits)) continue;
        g[BH_COUNT_BITS] = bits;
        for (g[BH_SUM_BITS] = sum != NEED_FREE ? sum : bits + 1; g[BH_SUM_BITS] <= last_sum;
             g[BH_SUM_BITS]++) {
            try_bits(search, g);
        }
    }
}

/* The user fixed c1 or c2 with so few bits that entries stick too often in every table. That is
 * accepted then (max_stuck = 1). If c2 is free, it gets the bits for the largest sum of as many
 * keys as c1 counts: more would be of no use, since c1 sticks first. If c2 is fixed, it is centred,
 * which needs fewer bits. */
static void try_widest(bh_search *search, uint64_t *g) {
    const uint64_t *const fixed = search->need->fixed;
    bool const            is_sum_fixed = need_is_fixed(search->need, BH_SUM_BITS);
    g[BH_COUNT_BITS] = need_is_fixed(search->need, BH_COUNT_BITS) ? fixed[BH_COUNT_BITS] : 4;
    g[BH_CENTRED] = is_sum_fixed && fixed[BH_CENTRED] != 0;
    if (need_is_fixed(search->need, BH_CENTRED)) g[BH_CENTRED] = fixed[BH_CENTRED];
    g[BH_SUM_BITS] = is_sum_fixed ? fixed[BH_SUM_BITS] : BH_MAX_SUM_BITS;
    /* Sums of one number: the largest of these is the largest number of the sequence. As long as c2
     * with a bit less still holds as many of them as c1 counts, it gets a bit less. */
    sums const     row = sums_make(g[BH_SEQUENCE], 1);
    uint64_t const top = bits_low((unsigned)g[BH_COUNT_BITS]) * (row.least + row.width);
    while (!is_sum_fixed && bits_low((unsigned)g[BH_SUM_BITS] - 1) >= top) {
        g[BH_SUM_BITS]--;
    }
    search->max_stuck = 1;
    try_bits(search, g);
}

/* ------------------------------------------------------------------ the choice */

/* Can the fixed fields be met at all? Without a rate, the size must be given. */
static bool may_be_possible(double fpr, const uint64_t *fixed) {
    return (fpr > 0 || fixed[BH_ENTRIES] != NEED_FREE) &&
           need_is_free_or_in(fixed[BH_ENTRIES], 2, PAIRS_MAX_ENTRIES) &&
           need_is_free_or_in(fixed[BH_HASHES], 1, BH_MAX_HASHES) &&
           need_is_free_or_in(fixed[BH_COUNT_BITS], BH_MIN_BITS, BH_MAX_COUNT_BITS) &&
           need_is_free_or_in(fixed[BH_SUM_BITS], BH_MIN_BITS, BH_MAX_SUM_BITS) &&
           need_is_free_or_in(fixed[BH_IMPROVED], 0, 1) &&
           need_is_free_or_in(fixed[BH_CENTRED], 0, 1);
}

/* The number of entries of the best table once more. choose_hashes() found it for entries that
 * never stick; this is for the chosen bits, with the entries that do. */
static bool settle_entries(const bh_search *search, uint64_t *g) {
    if (need_is_fixed(search->need, BH_ENTRIES)) return true;
    double const   k = (double)g[BH_HASHES], about = (double)g[BH_ENTRIES];
    double const   never = 1e-6 * search->need->fpr / k; /* changes no digit of the rate */
    unsigned const most = tamis_bh_most_hits(fmax(2, about / 2), search->n * k, never);
    pairs const    layout = tamis_bh_pairs(g);
    bh_profile     profile;
    tamis_bh_profile_rate(&layout, most, &profile);
    double const m = fewest_entries(search, &profile, k, about);
    if (m > (double)PAIRS_MAX_ENTRIES) return false;
    g[BH_ENTRIES] = (uint64_t)m;
    return true;
}

/* The limit of bytes is used as 8.01 bits per byte: settle_entries() changes the size a little at
 * the end, and a table that would then be small enough must not be given up before. */
bool tamis_bh_choose(const tamis_need *need, double max_stuck, uint64_t *ret_geometry) {
    bh_search search = { .need = need,
                         .n = (double)need->work.capacity,
                         .lifetime = (double)need->work.lifetime,
                         .max_stuck = max_stuck,
                         .count_to = min_u64(need->count_to, BH_MAX_COUNT_TO),
                         .bits = 8.01 * need_bytes_limit(need) };
    uint64_t  g[BH_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (!may_be_possible(need->fpr, g) || !choose_sequence(g)) return false;
    if (g[BH_IMPROVED] == NEED_FREE) g[BH_IMPROVED] = 1;
    if (!choose_hashes(&search, g)) return false;
    try_all_bits(&search, g);
    if (!has_best(&search) && search.count_to != 0) {
        search.count_to = 0; /* the fixed fields cannot count that far: the planner reports it */
        try_all_bits(&search, g);
    }
    bool const is_any = need_is_fixed(need, BH_COUNT_BITS) || need_is_fixed(need, BH_SUM_BITS);
    if (!has_best(&search) && is_any) try_widest(&search, g);
    if (!has_best(&search) || !settle_entries(&search, search.best)) return false;
    memcpy(ret_geometry, search.best, sizeof search.best);
    return true;
}
