/* analysis.c - see analysis.h. */
#include "analysis.h"

#include "core/checked.h"
#include "core/permute.h"
#include "outlines.h"
#include "theory/fluid.h"

#include <math.h>

static_assert(PREFIXES_MAX_CELLS <= PEAK_LEVELS_MAX, "every number of cells has its level");

/* ------------------------------------------------------------------ layout */

/* Bits of a string (r, z): all bits of the hash that do not choose the bucket, up to the longest
 * prefix. With 2^30 buckets in a subtable 32 are left, since B 2^r is at most 2^62. */
static unsigned string_bits(uint64_t buckets) {
    unsigned bits = PREFIXES_MAX_BITS;
    while (bits != 0 && buckets > PERMUTE_MAX >> bits) bits--;
    return bits;
}

/* Every geometry of a file passes through here: each field is checked before it is narrowed. At
 * last prefixes_make() says whether the cells fit their bucket. */
bool tamis_ddlcbf_cells(const uint64_t *g, prefixes_shape *ret_cells) {
    bool const is_possible =
        need_is_in(g[DDLCBF_TABLES], DDLCBF_MIN_TABLES, DDLCBF_MAX_TABLES) &&
        need_is_in(g[DDLCBF_BUCKETS], 1, PERMUTE_MAX) &&
        need_is_in(g[DDLCBF_CELLS], 1, PREFIXES_MAX_CELLS) &&
        need_is_in(g[DDLCBF_REMAINDER_BITS], PREFIXES_MIN_BITS, string_bits(g[DDLCBF_BUCKETS])) &&
        need_is_in(g[DDLCBF_COUNTER_BITS], 1, PREFIXES_MAX_COUNTER_BITS) &&
        need_is_in(g[DDLCBF_LENGTHS], 1, 2) &&
        need_is_in(g[DDLCBF_BUCKET_BYTES], PREFIXES_MIN_BYTES, PREFIXES_MAX_BYTES);
    if (!is_possible) return false;
    *ret_cells = (prefixes_shape){ .bytes = (uint16_t)g[DDLCBF_BUCKET_BYTES],
                                   .cells = (uint8_t)g[DDLCBF_CELLS],
                                   .counter_bits = (uint8_t)g[DDLCBF_COUNTER_BITS],
                                   .least = (uint8_t)g[DDLCBF_REMAINDER_BITS],
                                   .most = (uint8_t)string_bits(g[DDLCBF_BUCKETS]),
                                   .lengths = (uint8_t)g[DDLCBF_LENGTHS] };
    return prefixes_make(ret_cells);
}

/* The bytes of all buckets; checked, since fields from a file may be of any size. */
bool tamis_ddlcbf_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t       buckets;
    prefixes_shape cells;
    return tamis_ddlcbf_cells(g, &cells) &&
           checked_mul(g[DDLCBF_BUCKETS], g[DDLCBF_TABLES], &buckets) &&
           checked_mul(buckets, g[DDLCBF_BUCKET_BYTES], ret_bytes);
}

/* ------------------------------------------------------------------ the rate, every key a cell */

/* There is no higher level than there are cells in a bucket, or keys. */
void tamis_ddlcbf_levels(const uint64_t *g, double load, double n, double turns,
                         peak_levels *ret_levels) {
    unsigned const last = (unsigned)fmax(1, fmin((double)g[DDLCBF_CELLS], n));
    tamis_peak_levels((unsigned)g[DDLCBF_TABLES], load, turns, last, ret_levels);
}

/* Equation (1), with the keys of each level: all cells of a bucket have the length of its level. */
double tamis_ddlcbf_rate_by_levels(const peak_levels *law, const prefixes_shape *s) {
    double sum = 0;
    for (unsigned level = 1; level <= s->cells; level++) {
        sum += ldexp(law->keys[level], -s->length[level]);
    }
    return ddlcbf_rate(sum);
}

/* The rate when each of n keys has a cell of its own. Which of the three ways:
 *
 *     few buckets, or two lengths that were churned     a small table is followed
 *     two lengths that were filled only                 the fluid limit of filling
 *     one length                                        the levels
 */
static double rate_of_cells(const uint64_t *g, const prefixes_shape *s, double n, double turns) {
    double const   load = fmin(ddlcbf_load(g, n), (double)g[DDLCBF_CELLS]);
    unsigned const tables = (unsigned)g[DDLCBF_TABLES];
    bool const     is_few = tables * g[DDLCBF_BUCKETS] < OUTLINES_FEW;
    peak_levels    law;
    if (is_few || (s->lengths == 2 && turns > 0))
        return tamis_outlines_rate(s, tables, g[DDLCBF_BUCKETS], load, turns);
    if (s->lengths == 2) return tamis_outlines_filled_rate(s, tables, load);
    tamis_ddlcbf_levels(g, load, n, turns, &law);
    return tamis_ddlcbf_rate_by_levels(&law, s);
}

/* ------------------------------------------------------------------ keys that share a cell */

#define MANY_MATCHES 1e-4 /* a rate from which on keys that match when they come matter */
#define DDLCBF_ROUNDS 8   /* of finding the share of keys with cells, at most */

/* Where cells count copies, a key that matches a cell when it is added has no cell of its own. This
 * is the share of keys that have one.
 *
 * Under churn each of S strings is that of Poisson(n / S) keys, and has a cell if it is that of
 * any. So S fpr cells serve n = -S ln(1 - fpr) keys.
 *
 * While a table is filled, the fpr is lower before the end: it rises as load x 2^-(bits / load),
 * about, so its mean is its end over 2 + ln 2 bits / load. Of the keys of the filling, a share of
 * e^-turns is still there in the end. */
static double share_with_cells(const prefixes_shape *s, double load, double turns, double fpr) {
    double const churned = fpr / -log1p(-fpr);
    double const filled = 1 - fpr / (2 + 0.69 * s->room / load);
    return churned + (filled - churned) * exp(-turns);
}

/* The rate depends on the share of keys with cells, and the share on the rate. The first guess is
 * that all keys have cells. Each next one is where the line through the last two crosses zero, of
 * what a share would have to be by its rate, less what it is: that takes two or three guesses. The
 * rate of a few buckets has steps, with no such line: there, the share moves half of the way.
 *
 * Keys with the same string are one string for an absent key, so with a sum of 2^-length over all n
 * keys the rate is 1 - e^-sum. If only m of them have cells, their sum is m / n of that. */
double tamis_ddlcbf_fpr(const uint64_t *g, double n, double lifetime) {
    double const   turns = ddlcbf_turns(n, lifetime);
    prefixes_shape s;
    if (!tamis_ddlcbf_cells(g, &s)) return 1;
    bool const is_few = g[DDLCBF_TABLES] * g[DDLCBF_BUCKETS] < OUTLINES_FEW;
    double     rate = rate_of_cells(g, &s, n, turns), share = 1, before = 1, missed_before = 0;
    for (unsigned i = 0; i < DDLCBF_ROUNDS && s.counter_bits > 1 && rate > MANY_MATCHES; i++) {
        double const load = ddlcbf_load(g, n);
        double const missed = share_with_cells(&s, load, turns, fmin(rate, 0.99)) - share;
        double const line = i == 0 ? -1 : (missed - missed_before) / (share - before);
        before = share;
        missed_before = missed;
        share = fmin(1, share - missed / (is_few ? -2 : fmin(line, -0.5)));
        rate = -expm1(log1p(-rate_of_cells(g, &s, share * n, turns)) / share);
        if (fabs(share - before) < (is_few ? 1e-4 : 1e-3) * (1 - share)) break;
    }
    return rate;
}

/* ------------------------------------------------------------------ overflow and lines */

/* As tamis_dleft_overflow; without turns, the law is that of filling. */
double tamis_ddlcbf_overflow(const uint64_t *g, double n, double lifetime) {
    unsigned const tables = (unsigned)g[DDLCBF_TABLES], cells = (unsigned)g[DDLCBF_CELLS];
    double const   load = ddlcbf_load(g, n);
    fluid          law;
    if (n <= cells) return 0;
    if (load > cells) return 1;
    tamis_fluid_law(tables, lifetime > n, load, (double)g[DDLCBF_BUCKETS], &law);
    return fmin(1, fmax(n, lifetime) * tamis_fluid_all(&law, cells));
}

/* A bucket whose bytes divide a line lies in one. Others begin at any byte of a line. A lookup that
 * finds its key reads no further; an absent key and an add read all d buckets. */
void tamis_ddlcbf_touches(const uint64_t *g, double n, double *ret_present, double *ret_absent,
                          double *ret_add) {
    double const bytes = (double)g[DDLCBF_BUCKET_BYTES], tables = (double)g[DDLCBF_TABLES];
    double const load = fmin(ddlcbf_load(g, n), (double)g[DDLCBF_CELLS]);
    bool const   is_aligned = TAMIS_LINE_BYTES % g[DDLCBF_BUCKET_BYTES] == 0;
    double const each = is_aligned ? 1 : 1 + (bytes - 1) / TAMIS_LINE_BYTES; /* lines of a bucket */
    fluid        law;
    tamis_fluid_churn((unsigned)g[DDLCBF_TABLES], load, INFINITY, &law);
    *ret_present = each * tamis_fluid_tables_read(&law, FLUID_MAX_HEIGHT);
    *ret_absent = *ret_add = each * tables;
}
