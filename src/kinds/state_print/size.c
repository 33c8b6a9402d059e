/* size.c - see size.h. */
#include "size.h"

#include "core/cells.h"
#include "core/checked.h"
#include "side.h"
#include "theory/print_law.h"
#include "theory/tails.h"

#include <math.h>

#define USUAL_SIDE 16
#define HALVINGS 24 /* of the share of unknown keys, in search of the smallest table */
#define ENOUGH 3    /* of them that made it no smaller */

/* ------------------------------------------------------------------ layout */

/* All buckets, padded to 8 bytes, then the side table. Every geometry from a file passes through
 * here, so sums are checked for overflow. */
bool tamis_state_print_layout(const uint64_t *g, state_print_layout *ret_layout) {
    uint64_t bytes, end;
    if (g[STATE_PRINT_PERMUTED] > 1 || g[STATE_PRINT_REINSERTS] > 1 ||
        g[STATE_PRINT_SIDE] > SIDE_MAX_ROOM || g[STATE_PRINT_VALUE_BITS] < 1)
        return false;
    if (!tamis_dleft_bytes(g, &bytes) || !checked_round_up(bytes, 8, &bytes)) return false;
    uint64_t const more = side_bytes(g[STATE_PRINT_SIDE], g[STATE_PRINT_VALUE_BITS]);
    if (!checked_add(bytes, more, &end)) return false;
    *ret_layout = (state_print_layout){ .side = bytes, .end = end };
    return true;
}

/* ------------------------------------------------------------------ rates */

/* q (d - 1) / d: P[of two given keys the later one makes the other unknown], twice. */
static double chance_of_pair(const uint64_t *g) {
    double const tables = (double)g[STATE_PRINT_TABLES];
    return g[STATE_PRINT_PERMUTED] != 0 ? 0 : (tables - 1) / tables / (double)tamis_dleft_prints(g);
}

/* N = n + (T - n) N q (d - 1) / d, solved for N: n / (1 - (T - n) q (d - 1) / d). INFINITY: more
 * keys stay than are dropped, so that the table fills up, whatever n is. */
double tamis_state_print_keys(const uint64_t *g, double n, double lifetime) {
    double const left = 1 - tamis_prints_churn(n, lifetime) * chance_of_pair(g);
    return left > 0 ? n / left : INFINITY;
}

/* Prints of N keys, in the cells of a key that is none of them. */
double tamis_state_print_fpr(const uint64_t *g, double n, double lifetime) {
    return tamis_prints_fpr(tamis_dleft_prints(g), tamis_state_print_keys(g, n, lifetime));
}

/* N q (d - 1) / d: that of keys which were all moved. Permuted, no key is ever unknown: two keys
 * have the same print in a bucket only if they have the same fingerprint. */
double tamis_state_print_unknown(const uint64_t *g, double n, double lifetime) {
    double const pair = chance_of_pair(g);
    return pair == 0 ? 0 : fmin(1, tamis_state_print_keys(g, n, lifetime) * pair);
}

/* P[some key that is unknown when it is added finds the side table full]. met: prints that match a
 * new key, on average, so Poisson. Two match (twice), or one whose value is unknown (met^2, since
 * as many of the keys are): such a key goes to the side table. Of n keys at one time that is a
 * Poisson number, and it is full for one that comes with the chance of its tail. */
static double side_overflow(const uint64_t *g, double n, double lifetime) {
    if (g[STATE_PRINT_PERMUTED] != 0) return 0;
    double const keys = tamis_state_print_keys(g, n, lifetime);
    double const met = keys / (double)tamis_dleft_prints(g);
    double const twice = -expm1(-met) - met * exp(-met), share = fmin(1, twice + met * met);
    double const full = tamis_poisson_tail(n * share, (double)g[STATE_PRINT_SIDE]);
    return isfinite(keys) ? fmin(1, lifetime * share * full) : 1;
}

/* A put fails if all buckets of its key are full, or the side table is when it is needed. That full
 * buckets send keys to the side table is not counted (size.h). */
double tamis_state_print_overflow(const uint64_t *g, double n, double lifetime) {
    double const keys = tamis_state_print_keys(g, n, lifetime);
    if (!isfinite(keys)) return 1;
    double const buckets = tamis_dleft_overflow(g, lifetime > n, keys, lifetime);
    return fmin(1, buckets + side_overflow(g, n, lifetime));
}

/* ------------------------------------------------------------------ cache lines */

/* Buckets begin at all multiples of a power of two, the largest that divides their bytes. What part
 * of one is in how many lines? */
typedef struct part {
    uint64_t from, to; /* bytes of a bucket */
} part;

/* Lines of the second part that are not lines of the first, which begins with the bucket or is
 * nothing. A bucket of 24 bytes begins at a multiple of 8 in a line. Its first 12 bytes are in two
 * lines only if that is 56: 1.125 lines on average. Its bytes 16 to 23 are beyond these only if it
 * begins at 48: 0.125 more. */
static double more_lines(const uint64_t *g, part first, part second) {
    uint64_t const bytes = g[STATE_PRINT_BUCKET_BYTES], step = min_u64(64, bytes & -bytes);
    double         sum = 0;
    /* For each place where a bucket may begin in a line, count the lines after those that were
     * seen. */
    for (uint64_t start = 0; start < 64; start += step) {
        uint64_t const seen = first.to != 0 ? (start + first.to + 63) / 64 : 0;
        uint64_t const begin = max_u64(seen, (start + second.from) / 64);
        uint64_t const end = (start + second.to + 63) / 64;
        sum += end > begin ? (double)(end - begin) : 0;
    }
    return sum / (double)(64 / step);
}

/* The prints of a bucket up to a cell, as they are read: by words, which begin at the byte of their
 * first cell, and never reach beyond the bucket unless it is smaller than a word (core/cells.h). */
static part prints_part(const uint64_t *g, uint64_t cell) {
    uint64_t const bits = g[STATE_PRINT_PRINT_BITS], bytes = g[STATE_PRINT_BUCKET_BYTES];
    uint64_t const per_word = cells_per_word((unsigned)bits);
    uint64_t const last = cell / per_word * per_word * bits / 8;
    return (part){ 0, bytes < 8 ? 8 : min_u64(last, bytes - 8) + 8 };
}

/* The field of a cell, rounded to bytes: fields stand after all prints of the bucket. */
static part field_part(const uint64_t *g, uint64_t cell) {
    uint64_t const x = g[STATE_PRINT_VALUE_BITS];
    uint64_t const at = g[STATE_PRINT_CELLS] * g[STATE_PRINT_PRINT_BITS] + cell * x;
    return (part){ at / 8, (at + x + 7) / 8 };
}

/* With permutations, a get searches from the left until it has found its key, and stops there. A
 * put goes to cell j as often as that is the last cell that a bucket loses. */
void tamis_state_print_touches(const uint64_t *g, bool is_churned, double n, double *ret_present,
                               double *ret_absent, double *ret_put) {
    part const   nothing = { 0, 0 }, prints = prints_part(g, g[STATE_PRINT_CELLS] - 1);
    double const each = more_lines(g, nothing, prints), all = each * (double)g[STATE_PRINT_TABLES];
    bool const   is_permuted = g[STATE_PRINT_PERMUTED] != 0;
    double       found = 0, present = 0, comes = 0, put = 0;
    fluid        law;
    tamis_dleft_law(g, is_churned, n, &law);
    for (unsigned j = 0; j < g[STATE_PRINT_CELLS]; j++) {
        part const   seen = is_permuted ? prints_part(g, j) : prints, field = field_part(g, j);
        double const here = more_lines(g, nothing, seen) + more_lines(g, seen, field);
        double const behind = all + more_lines(g, prints, field);
        for (unsigned i = 0; i < law.tables; i++) {
            /* x[i][j + 1] is the share of buckets of subtable i with more than j cells: so often is
             * a key in cell j. Puts balance removals: they reach cell j as often as a bucket of
             * exactly j + 1 cells loses one of its keys. */
            double const share = law.x[i][j + 1], last = (j + 1) * (share - law.x[i][j + 2]);
            present += share * (is_permuted ? i * each + here : behind);
            found += share;
            put += last * behind;
            comes += last;
        }
    }
    double const count = g[STATE_PRINT_SIDE] != 0;
    *ret_absent = count + all;
    *ret_present = count + (found > 0 ? present / found : each);
    *ret_put = count + (comes > 0 ? put / comes : all);
}

/* ------------------------------------------------------------------ choice */

/* The least room in the side table that is enough; false: none is. Half of the accepted overflow is
 * for this, and the other half for full buckets (try_keys). */
static bool choose_side(const tamis_need *need, uint64_t *g) {
    double const n = (double)need->work.capacity, lifetime = (double)need->work.lifetime;
    if (g[STATE_PRINT_SIDE] != NEED_FREE) return true;
    for (uint64_t room = USUAL_SIDE; room <= SIDE_MAX_ROOM; room += 8) {
        g[STATE_PRINT_SIDE] = room;
        if (side_overflow(g, n, lifetime) <= need->overflow / 2) return true;
    }
    return false;
}

/* Does a geometry keep the rates of the need? A hair more is allowed: sums are rounded, and a table
 * that just meets its rate must not be refused for that. Without an fpr, any rate is accepted. */
static bool keeps(const tamis_need *need, const uint64_t *g) {
    double const n = (double)need->work.capacity, t = (double)need->work.lifetime;
    double const more = 1 + 1e-9;
    if (tamis_state_print_overflow(g, n, t) > need->overflow) return false;
    return need->fpr <= 0 || (tamis_state_print_fpr(g, n, t) <= need->fpr * more &&
                              tamis_state_print_unknown(g, n, t) <= need->unknown * more);
}

/* Is there nothing to choose of the buckets? */
static bool all_fields_are_given(const uint64_t *g) {
    unsigned i = 0;
    while (i < DLEFT_FIELDS && g[i] != NEED_FREE) i++;
    return i == DLEFT_FIELDS;
}

/* Choose the buckets and the side table for this many keys in the end, with such a rate. Returns
 * the bytes that it takes; INFINITY: no geometry does it. */
static double try_keys(const tamis_need *need, double keys, double fpr, uint64_t *g) {
    bool const         is_permuted = g[STATE_PRINT_PERMUTED] != 0;
    state_print_layout layout;
    dleft_rules const  rules = { .keys = keys,
                                 .fpr = fpr,
                                 .overflow = is_permuted ? need->overflow : need->overflow / 2,
                                 .is_churned = need->work.lifetime > need->work.capacity,
                                 .most_print_bits = DLEFT_MAX_PRINT_BITS };
    if (!all_fields_are_given(g) && !tamis_dleft_choose(need, &rules, g)) return INFINITY;
    if (g[STATE_PRINT_REINSERTS] == NEED_FREE) g[STATE_PRINT_REINSERTS] = 0;
    if (!choose_side(need, g) || !tamis_state_print_layout(g, &layout)) return INFINITY;
    return keeps(need, g) ? (double)layout.end : INFINITY;
}

/* Permuted, one try is all. Not permuted, longer prints make fewer keys unknown, so that fewer stay
 * and the table can have fewer cells. So the rate is halved again and again, until ENOUGH tries
 * have made the table no smaller. A try is for the keys that there are in the end if a share `fpr`
 * of all puts after the filling stays: n + (T - n) fpr. */
bool tamis_state_print_choose(const tamis_need *need, uint64_t *geometry) {
    double const n = (double)need->work.capacity;
    bool const   is_permuted = geometry[STATE_PRINT_PERMUTED] != 0;
    double const churn = is_permuted ? 0 : tamis_prints_churn(n, (double)need->work.lifetime);
    double       fpr = is_permuted ? need->fpr : fmin(need->fpr, need->unknown), least = INFINITY;
    uint64_t     best[STATE_PRINT_FIELDS];
    unsigned     tries = is_permuted || fpr <= 0 ? 1 : HALVINGS, worse = 0;
    for (; tries != 0 && worse < ENOUGH; tries--, fpr /= 2) {
        uint64_t g[STATE_PRINT_FIELDS];
        for (unsigned k = 0; k < STATE_PRINT_FIELDS; k++) g[k] = geometry[k];
        double const bytes = try_keys(need, n + churn * fpr, fpr, g);
        worse += least < INFINITY && bytes >= least;
        if (bytes >= least) continue;
        least = bytes;
        for (unsigned k = 0; k < STATE_PRINT_FIELDS; k++) best[k] = g[k];
    }
    for (unsigned k = 0; k < STATE_PRINT_FIELDS && least < INFINITY; k++) geometry[k] = best[k];
    return least < INFINITY;
}
