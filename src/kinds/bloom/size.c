/* size.c - see size.h. */
#include "size.h"

#include "block.h"
#include "core/checked.h"
#include "theory/blocked.h"
#include "theory/bloom_rate.h"

#include <math.h>

/* Blocked: k is a power of two, so that the sectors of a line are equal and no division is needed
 * (block.h). */
static bool is_block_k(uint64_t k) {
    return k >= 1 && k <= BLOCK_MAX_K && (k & (k - 1)) == 0;
}

/* A blocked filter is whole lines; a scattered one may end anywhere in its last line, and the rest
 * is zero (I1). */
bool tamis_bloom_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t const bits = g[BLOOM_BITS], k = g[BLOOM_HASHES];
    if (bits < 2 || bits > BLOOM_MAX_BITS) return false;
    if (k < 1 || k > BLOOM_MAX_K || g[BLOOM_BLOCKED] > 1) return false;
    if (g[BLOOM_BLOCKED] != 0 && (bits % BLOCK_BITS != 0 || !is_block_k(k))) return false;
    return checked_body_bytes(bits, 1, 0, ret_bytes);
}

/* The exact rates with n keys; theory/ has the derivations. */
double tamis_bloom_rate(const uint64_t *g, double n) {
    double const m = (double)g[BLOOM_BITS];
    if (g[BLOOM_BLOCKED] == 0) return tamis_bloom_fpr(m, (unsigned)g[BLOOM_HASHES], n);
    return tamis_blocked_fpr(BLOCK_BITS, g[BLOOM_HASHES], m / BLOCK_BITS, n);
}

/* ------------------------------------------------------------------ the choice */

/* Places anywhere. The last cache line is used completely, which lowers the rate a little; unless
 * the user fixed the bits. For 1000 keys and 1%, 9600 bits or so become 19 lines, 9728 bits. */
static bool bloom_choose_scattered(const tamis_need *need, uint64_t *g) {
    bool const is_any_size = g[BLOOM_BITS] == NEED_FREE;
    if (!tamis_bloom_choose(need->fpr, (double)need->work.capacity, &g[BLOOM_BITS],
                            &g[BLOOM_HASHES]))
        return false;
    if (is_any_size) g[BLOOM_BITS] = (g[BLOOM_BITS] + 511) & ~UINT64_C(511);
    return true;
}

/* The fewest lines with first to last hashes, powers of two. `most` is one line less than the best
 * so far: a k is worth a search only if that is enough for it. For a rate of 1%, k = 8 needs 10.1
 * bits for a key; 16 would need more, which one evaluation with a line less shows. */
static bool bloom_smallest_blocked(const tamis_need *need, uint64_t first, uint64_t last,
                                   uint64_t *g) {
    double const n = (double)need->work.capacity;
    double       most = BLOCKED_MAX_LINES;
    bool         is_any = false;
    for (uint64_t k = first; k <= last && most >= 1; k *= 2) {
        if (tamis_blocked_fpr(BLOCK_BITS, k, most, n) > need->fpr) continue;
        most = tamis_blocked_lines(BLOCK_BITS, k, need->fpr, n, most) - 1;
        is_any = true;
    }
    g[BLOOM_BITS] = (uint64_t)(most + 1) * BLOCK_BITS;
    return is_any;
}

/* The k with the lowest rate in a filter of this size. Lines are whole, so several k may need the
 * same number of them. */
static uint64_t best_blocked_k(double n, uint64_t first, uint64_t last, const uint64_t *g) {
    double const lines = (double)(g[BLOOM_BITS] / BLOCK_BITS);
    uint64_t     best = first;
    double       lowest = INFINITY;
    for (uint64_t k = first; k <= last; k *= 2) {
        double const rate = tamis_blocked_fpr(BLOCK_BITS, k, lines, n);
        if (rate >= lowest) continue;
        lowest = rate;
        best = k;
    }
    return best;
}

/* Fewer than 8 hashes are smaller above 4%, but no vectors are made for them: lookups within the
 * cache take twice as long. So a fast filter has 8 or more. */
#define FEWEST_FAST_HASHES 8

/* In two steps: the fewest lines over all k that are possible; then, with this number of lines, the
 * k with the lowest rate, which may be another one. A fixed k is the only one that is tried. */
static bool bloom_choose_blocked(const tamis_need *need, uint64_t *g) {
    bool const     is_any_k = g[BLOOM_HASHES] == NEED_FREE;
    uint64_t const fewest = need_is_fast(need) ? FEWEST_FAST_HASHES : 1;
    uint64_t const first = is_any_k ? fewest : g[BLOOM_HASHES];
    uint64_t const last = is_any_k ? BLOCK_MAX_K : g[BLOOM_HASHES];
    if (!is_block_k(first)) return false;
    if (g[BLOOM_BITS] == NEED_FREE) {
        if (!(need->fpr > 0) || !bloom_smallest_blocked(need, first, last, g)) return false;
    }
    if (g[BLOOM_BITS] == 0 || g[BLOOM_BITS] % BLOCK_BITS != 0) return false;
    g[BLOOM_HASHES] = best_blocked_k((double)need->work.capacity, first, last, g);
    return true;
}

/* Blocked or scattered first: the two have nothing in common but the fields. */
bool tamis_bloom_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[BLOOM_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    /* A user who fixes a size or a number of hashes expects the textbook filter: it is blocked only
     * if `blocked` is fixed, too. */
    bool const is_open = g[BLOOM_BITS] == NEED_FREE && g[BLOOM_HASHES] == NEED_FREE;
    if (g[BLOOM_BLOCKED] == NEED_FREE) g[BLOOM_BLOCKED] = is_open && need_is_fast(need);
    if (g[BLOOM_BLOCKED] > 1) return false;
    if (!(g[BLOOM_BLOCKED] != 0 ? bloom_choose_blocked(need, g) : bloom_choose_scattered(need, g)))
        return false;
    memcpy(ret_geometry, g, sizeof g);
    return true;
}
