/* size.c - see size.h.
 *
 * The search, from the outside in:
 *
 *     counters     for the copies of one key, then of two (ddlcbf_try_counters)
 *     subtables    3, then 4
 *     cells        11, then 15
 *     load         the largest at which this many cells overflow rarely enough
 *     bytes        of a bucket, from the fewest up to the first that meet the rate: more would only
 *                  be larger
 *
 * The fewest bytes in all win, and the first of several.
 */
#include "size.h"

#include "theory/fluid.h"

#include <math.h>
#include <string.h>

/* What is searched for, and the smallest table so far. */
typedef struct ddlcbf_search {
    const tamis_need *need;
    double            keys, lifetime;
    double            fpr; /* to be reached: the need's, or a lower one (ddlcbf_try_counters) */
    uint64_t          fixed[DDLCBF_FIELDS]; /* the need's, or the paper's */
    double            bytes; /* a table must be smaller: the best so far, or need_bytes_limit() */
    uint64_t          best[DDLCBF_FIELDS]; /* no subtables: none yet */
} ddlcbf_search;

static bool ddlcbf_is_fixed(const ddlcbf_search *search, unsigned field) {
    return search->fixed[field] != NEED_FREE;
}

/* ------------------------------------------------------------------ buckets */

/* The largest load at which this many cells overflow rarely enough; if the number of buckets is
 * fixed, the load that they have. */
static double ddlcbf_largest_load(const ddlcbf_search *search, const uint64_t *g) {
    unsigned const tables = (unsigned)g[DDLCBF_TABLES], cells = (unsigned)g[DDLCBF_CELLS];
    double const   n = search->keys, adds = fmax(n, search->lifetime);
    double const   chance = search->need->overflow / adds; /* of one add */
    if (ddlcbf_is_fixed(search, DDLCBF_BUCKETS)) return fmin(cells, ddlcbf_load(g, n));
    return search->lifetime > n ? tamis_fluid_churn_load(tables, cells, chance, n, cells)
                                : tamis_fluid_fill_load(tables, cells, chance, n, cells);
}

/* As many buckets as a load makes. Their minimal remainders are as long as those of full buckets:
 * shorter ones would only make more keys the same. */
static bool ddlcbf_set_buckets(const ddlcbf_search *search, uint64_t *g, double load) {
    double const   needed = ceil(search->keys / (load * (double)g[DDLCBF_TABLES]));
    prefixes_shape s;
    if (!(needed < 0x1p60)) return false;
    if (!ddlcbf_is_fixed(search, DDLCBF_BUCKETS)) g[DDLCBF_BUCKETS] = (uint64_t)fmax(1, needed);
    if (ddlcbf_is_fixed(search, DDLCBF_REMAINDER_BITS)) return tamis_ddlcbf_cells(g, &s);
    g[DDLCBF_REMAINDER_BITS] = PREFIXES_MIN_BITS;
    if (!tamis_ddlcbf_cells(g, &s)) return false;
    g[DDLCBF_REMAINDER_BITS] = s.length[s.cells];
    return true;
}

/* Buckets of this many bytes: keep the table if it is smaller than the best. Returns whether the
 * bytes are enough for the rate. */
static bool try_bytes(ddlcbf_search *search, uint64_t *g, double load, const peak_levels *law) {
    double const   fpr = search->fpr;
    prefixes_shape s;
    uint64_t       bytes;
    if (!ddlcbf_set_buckets(search, g, load) || !tamis_ddlcbf_bytes(g, &bytes)) return false;
    if (!tamis_ddlcbf_cells(g, &s)) return false;
    if (fpr > 0 && tamis_ddlcbf_rate_by_levels(law, &s) > fpr) return false;
    if ((double)bytes >= search->bytes) return true;
    search->bytes = (double)bytes;
    memcpy(search->best, g, sizeof search->best);
    return true;
}

/* ------------------------------------------------------------------ what is tried */

/* Is every table with one length and this load too large?
 *
 * Let a bucket have R bits. At level k its prefixes have up to R/k + 1 - C bits (prefixes.h), and
 * its level is not below its load k. So its k cells add at least k 2^(C - 1 - R/k) to the sum of
 * the rate, which is convex in k: the sum is at least that of buckets which all have the mean
 * load. From d load 2^(C - 1 - R/load) <= -ln(1 - fpr) follow R and the bytes of all buckets. */
static bool load_is_too_large(const ddlcbf_search *search, const uint64_t *g, double load) {
    double const sum = -log1p(-search->fpr), cells = (double)g[DDLCBF_TABLES] * load;
    double const bits = log2(cells / sum) + (double)g[DDLCBF_COUNTER_BITS] - 1; /* of a key */
    bool const   is_known = search->fpr > 0 && g[DDLCBF_LENGTHS] == 1;
    return is_known && search->keys * bits / 8 >= search->bytes;
}

/* All bytes of a bucket, for one number of subtables and cells. The levels depend on the load only,
 * so they are computed once. */
static void ddlcbf_try_cells(ddlcbf_search *search, uint64_t *g) {
    uint64_t const fixed = search->fixed[DDLCBF_BUCKET_BYTES];
    uint64_t const first = fixed != NEED_FREE ? fixed : PREFIXES_MIN_BYTES;
    uint64_t const last = fixed != NEED_FREE ? fixed : PREFIXES_MAX_BYTES;
    double const   load = ddlcbf_largest_load(search, g);
    peak_levels    law;
    if (!(load > 0) || load_is_too_large(search, g, load)) return;
    tamis_ddlcbf_levels(g, load, search->keys, ddlcbf_turns(search->keys, search->lifetime), &law);
    for (uint64_t bytes = first; bytes <= last; bytes++) {
        g[DDLCBF_BUCKET_BYTES] = bytes;
        if (try_bytes(search, g, load, &law)) return;
    }
}

/* All subtables and cells, or those that are fixed. */
static void ddlcbf_try_all(ddlcbf_search *search, uint64_t *g) {
    static const uint64_t good_tables[] = { 3, 4 }, good_cells[] = { 11, 15 };
    bool const            is_tables = ddlcbf_is_fixed(search, DDLCBF_TABLES);
    bool const            is_cells = ddlcbf_is_fixed(search, DDLCBF_CELLS);
    for (unsigned i = 0; i < (is_tables ? 1 : 2); i++) {
        g[DDLCBF_TABLES] = is_tables ? search->fixed[DDLCBF_TABLES] : good_tables[i];
        if (g[DDLCBF_TABLES] < DDLCBF_MIN_TABLES || g[DDLCBF_TABLES] > DDLCBF_MAX_TABLES) return;
        for (unsigned k = 0; k < (is_cells ? 1 : 2); k++) {
            g[DDLCBF_CELLS] = is_cells ? search->fixed[DDLCBF_CELLS] : good_cells[k];
            if (g[DDLCBF_CELLS] < 1 || g[DDLCBF_CELLS] > PREFIXES_MAX_CELLS) return;
            ddlcbf_try_cells(search, g);
        }
    }
}

/* ------------------------------------------------------------------ the choice */

/* The fewest counter bits that hold this many copies in one cell, and count as far as is asked:
 * DDLCBF_COPIES cells may match a key. */
static uint64_t ddlcbf_enough_counter_bits(const tamis_need *need, uint64_t copies) {
    uint64_t bits = need_can(need, TAMIS_CAN_COUNT) ? 2 : 1;
    for (; bits < PREFIXES_MAX_COUNTER_BITS; bits++) {
        uint64_t const full = bits_low((unsigned)bits);
        if (full >= copies && DDLCBF_COPIES * full >= need->count_to) break;
    }
    return bits;
}

static void ddlcbf_try_bits(ddlcbf_search *search, uint64_t *g, uint64_t bits, double fpr) {
    g[DDLCBF_COUNTER_BITS] = need_or_fixed(search->fixed[DDLCBF_COUNTER_BITS], bits);
    search->fpr = fpr;
    ddlcbf_try_all(search, g);
}

#define FEW_MATCHES 0.005 /* a rate up to which it hardly matters that keys share cells */

/* At high rates many keys match the cell of another key, and the law of the rate (analysis.h)
 * expects that such a cell holds the copies of both. If it cannot, the second key takes a cell
 * more, and a removal can leave the other with parts of two cells: with 20,000 keys of 2 copies and
 * counters to 3, the rate was 8.2% where the law says 5.1%. So cells get counters for two keys, or
 * the rate is made so low that few keys match; whichever is smaller. */
static void ddlcbf_try_counters(ddlcbf_search *search, uint64_t *g) {
    const tamis_need *const need = search->need;
    uint64_t const          copies = need->work.copies;
    uint64_t const          one = ddlcbf_enough_counter_bits(need, copies);
    uint64_t const          two = ddlcbf_enough_counter_bits(need, 2 * copies);
    uint64_t const          bits = need_or_fixed(search->fixed[DDLCBF_COUNTER_BITS], two);
    bool const              is_for_two = bits_low((unsigned)bits) >= 2 * copies;
    if (copies == 1 || need->fpr <= FEW_MATCHES) {
        ddlcbf_try_bits(search, g, one, need->fpr);
        return;
    }
    ddlcbf_try_bits(search, g, one, FEW_MATCHES);
    if (is_for_two) ddlcbf_try_bits(search, g, two, need->fpr);
}

/* Without a rate nothing says how large a bucket is. Then it is one with 120 bits for remainders,
 * as in section III.C. */
static void fix_as_in_the_paper(uint64_t *fixed) {
    if (fixed[DDLCBF_TABLES] == NEED_FREE) fixed[DDLCBF_TABLES] = 4;
    if (fixed[DDLCBF_CELLS] == NEED_FREE) fixed[DDLCBF_CELLS] = 8;
    if (fixed[DDLCBF_BUCKET_BYTES] == NEED_FREE) fixed[DDLCBF_BUCKET_BYTES] = 16;
}

/* Any one key may be added without end, and then takes DDLCBF_COPIES cells instead of one. A given
 * number of fingerprints cannot be planned for: the rate that is planned is that of z, too. */
bool tamis_ddlcbf_choose(const tamis_need *need, uint64_t *ret_geometry) {
    ddlcbf_search search = { .need = need,
                             .keys = (double)need->work.capacity + DDLCBF_COPIES - 1,
                             .lifetime = (double)need->work.lifetime,
                             .bytes = need_bytes_limit(need) };
    uint64_t      g[DDLCBF_FIELDS];
    if (need->prints != 0) return false;
    memcpy(search.fixed, need->fixed, sizeof search.fixed);
    if (need->fpr <= 0) fix_as_in_the_paper(search.fixed);
    memcpy(g, search.fixed, sizeof g);
    if (g[DDLCBF_COUNTER_BITS] == NEED_FREE)
        g[DDLCBF_COUNTER_BITS] = ddlcbf_enough_counter_bits(need, need->work.copies);
    if (g[DDLCBF_LENGTHS] == NEED_FREE) g[DDLCBF_LENGTHS] = 1;
    if (g[DDLCBF_COUNTER_BITS] > PREFIXES_MAX_COUNTER_BITS) return false;
    if (ddlcbf_full(g) < need->work.copies) return false;
    ddlcbf_try_counters(&search, g);
    if (search.best[DDLCBF_TABLES] == 0) return false;
    memcpy(ret_geometry, search.best, sizeof search.best);
    return true;
}
