/* size.c - see size.h.
 *
 * The search, from the outside in:
 *
 *     subtables     3, which the authors found best (section II.B)
 *     group         4 buckets if a small table is asked for; 1 for speed, and for few keys
 *     bucket bits   64, then 128
 *     load          the largest that meets the rate by the fluid limit, by bisection; then 1% less
 *                   again and again until the table itself, with whole buckets, meets it
 *     cells         the fewest that overflow rarely enough
 *     sorting       sorting.h
 *
 * The fewest bytes win, and the first of several.
 */
#include "size.h"

#include "codes.h"
#include "followed.h"
#include "sorting.h"

#include <string.h>

#define TRIES 100 /* of loads that are 1% less each */

/* What is searched for, and the smallest table so far. */
typedef struct dlbf_search {
    const tamis_need *need;
    double            n;     /* keys */
    double            bytes; /* of the smallest table; before, from which on it is too large */
    uint64_t          best[DLBF_FIELDS]; /* no subtables: none yet */
} dlbf_search;

/* ------------------------------------------------------------------ one load */

/* As many buckets as a load makes, in whole groups. */
static bool dlbf_set_buckets(const dlbf_search *search, uint64_t *g, double load) {
    double const group = (double)g[DLBF_GROUP];
    double const needed = ceil(search->n / (load * (double)g[DLBF_TABLES]) / group) * group;
    if (!(needed <= (double)DLBF_MAX_BUCKETS)) return false;
    g[DLBF_BUCKETS] = (uint64_t)needed;
    return true;
}

static double table_bytes(const uint64_t *g) {
    return (double)g[DLBF_TABLES] * (double)g[DLBF_BUCKETS] * (double)g[DLBF_BUCKET_BITS] / 8;
}

/* The fewest cells that overflow rarely enough, and hold the mean load. */
static uint64_t dlbf_fewest_cells(const dlbf_search *search, const uint64_t *g, const fluid *law) {
    double const most = search->need->overflow;
    unsigned     cells = 1;
    while (cells < DLBF_MAX_CELLS &&
           (cells < law->load || tamis_dlbf_overflow_by(g, law, cells, search->n) > most))
        cells++;
    return cells;
}

/* Choose cells and sorting for buckets that are as full as the law says. Returns the fpr; INFINITY:
 * it cannot be done. */
static double dlbf_complete(const dlbf_search *search, const fluid *law, uint64_t *g) {
    const tamis_need *const need = search->need;
    uint64_t const          fixed = need->fixed[DLBF_CELLS];
    g[DLBF_CELLS] = fixed != NEED_FREE ? fixed : dlbf_fewest_cells(search, g, law);
    if (g[DLBF_CELLS] < 1 || g[DLBF_CELLS] > DLBF_MAX_CELLS) return INFINITY;
    unsigned const cells = (unsigned)g[DLBF_CELLS];
    if (tamis_dlbf_overflow_by(g, law, cells, search->n) > need->overflow) return INFINITY;
    g[DLBF_SORTING] = need->fixed[DLBF_SORTING];
    return g[DLBF_SORTING] != NEED_FREE ? tamis_dlbf_fpr_by(g, law) : tamis_dlbf_sort(g, law);
}

/* Complete a table with the buckets that it has, by the law of this many keys in this many buckets,
 * and keep it if it is smaller than the best. Returns whether it meets the need. */
static bool try_buckets(dlbf_search *search, uint64_t *g) {
    double const n = search->n, most = search->need->fpr;
    dlbf_layout  layout;
    fluid        law;
    g[DLBF_CELLS] = DLBF_MAX_CELLS; /* for the law: not known yet */
    tamis_dlbf_law(g, n, &law);
    double fpr = dlbf_complete(search, &law, g);
    if (fpr < INFINITY && tamis_dlbf_is_followed(g, n)) fpr = tamis_dlbf_followed_fpr(g, n, fpr);
    fpr += n * 0x1p-64; /* equal hashes, as in tamis_dlbf_forecast */
    bool const is_good = most > 0 ? fpr <= most : fpr < INFINITY;
    if (!is_good || !tamis_dlbf_layout(g, &layout)) return false;
    if (table_bytes(g) >= search->bytes) return true;
    search->bytes = table_bytes(g);
    memcpy(search->best, g, sizeof search->best);
    return true;
}

/* ------------------------------------------------------------------ the largest load */

/* No load above this can meet the rate, so bisection begins here. An absent key meets d load cells,
 * so fingerprints need log2(d load / fpr) bits; they have at most those of the bucket, shared by
 * the load, and those that are sorted. */
static double load_limit(const dlbf_search *search, const uint64_t *g) {
    double const bits = (double)g[DLBF_BUCKET_BITS], d = (double)g[DLBF_TABLES];
    double       load = DLBF_MAX_CELLS;
    while (bits / load + CODES_MAX_SORTED < log2(d * load / search->need->fpr)) load *= 0.97;
    return load;
}

/* Does a load meet the need by the fluid limit? `law` is that of a smaller load that does: filling
 * goes on from it, and it becomes the law of this load if this one does, too. */
static bool is_good_load(const dlbf_search *search, uint64_t *g, double load, fluid *law) {
    fluid next = *law;
    tamis_fluid_go_on(&next, load);
    bool const is_good =
        dlbf_set_buckets(search, g, load) && dlbf_complete(search, &next, g) <= search->need->fpr;
    if (is_good) *law = next;
    return is_good;
}

/* The largest load that meets the need by the fluid limit, to three digits; 0: there is none, or
 * none that makes a table smaller than the best. Whether a load is good can change several times
 * within a few per cent, since codes are whole numbers: so a load of 5% less must be bad before all
 * are taken for bad. */
static double dlbf_largest_load(const dlbf_search *search, uint64_t *g) {
    double const smaller = search->n * (double)g[DLBF_BUCKET_BITS] / 8 / search->bytes;
    double       low = 0, high = load_limit(search, g);
    fluid        law;
    tamis_fluid_fill((unsigned)g[DLBF_TABLES], 0, FLUID_MANY, &law);
    if (smaller >= high) return 0;
    if (smaller > 0) {
        fluid other = law; /* the filling below takes the same steps with a limit and without */
        if (!is_good_load(search, g, 0.95 * smaller, &other)) return 0;
    }
    while (high - low > 1e-3 * high && high > 1e-3) {
        double const load = (low + high) / 2;
        bool const   is_good = is_good_load(search, g, load, &law);
        if (is_good)
            low = load;
        else
            high = load;
    }
    return low;
}

/* The smallest table with buckets of a size. If the number of buckets is fixed, there is one only.
 * Otherwise the load goes down from the largest: few keys are less even than their limit. It ends
 * where tables are no longer smaller than the best. */
static void try_bucket_bits(dlbf_search *search, uint64_t *g) {
    uint64_t const fixed = search->need->fixed[DLBF_BUCKETS];
    double const   papers = g[DLBF_BUCKET_BITS] == 64 ? 4 : 6.4;
    if (fixed != NEED_FREE) {
        g[DLBF_BUCKETS] = fixed;
        if (fixed >= 1) (void)try_buckets(search, g);
        return;
    }
    double   load = search->need->fpr <= 0 ? papers : dlbf_largest_load(search, g);
    uint64_t tried = 0;
    for (unsigned i = 0; i < TRIES && load > 0; i++, load *= 0.99) {
        if (!dlbf_set_buckets(search, g, load) || table_bytes(g) >= search->bytes) return;
        if (g[DLBF_BUCKETS] == tried) continue; /* few keys: 1% less is the same number */
        tried = g[DLBF_BUCKETS];
        if (try_buckets(search, g)) return;
    }
}

/* ------------------------------------------------------------------ the choice */

/* What is not searched is fixed first: 3 subtables; and groups of four, which are smaller, unless
 * speed is preferred or there are few keys. Then both sizes of a bucket are tried, the second only
 * for tables that are smaller than the best of the first. */
bool tamis_dlbf_choose(const tamis_need *need, uint64_t *ret_geometry) {
    dlbf_search    search = { .need = need,
                              .n = (double)need->work.capacity,
                              .bytes = need_bytes_limit(need) };
    uint64_t const fixed_bits = need->fixed[DLBF_BUCKET_BITS];
    bool const     is_alone = need_is_fast(need) || search.n <= DLBF_FEW;
    uint64_t       g[DLBF_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (g[DLBF_TABLES] == NEED_FREE) g[DLBF_TABLES] = 3;
    if (g[DLBF_GROUP] == NEED_FREE) g[DLBF_GROUP] = is_alone ? 1 : DLBF_MAX_GROUP;
    if (g[DLBF_TABLES] < DLBF_MIN_TABLES || g[DLBF_TABLES] > DLBF_MAX_TABLES) return false;
    if (g[DLBF_GROUP] != 1 && g[DLBF_GROUP] != DLBF_MAX_GROUP) return false;
    for (uint64_t bits = 64; bits <= 128; bits *= 2) {
        if (fixed_bits != NEED_FREE && fixed_bits != bits) continue;
        g[DLBF_BUCKET_BITS] = bits;
        try_bucket_bits(&search, g);
    }
    if (search.best[DLBF_TABLES] == 0) return false;
    memcpy(ret_geometry, search.best, sizeof search.best);
    return true;
}
