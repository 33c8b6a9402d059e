/* dleft_size.c - see dleft_size.h.
 *
 * The search for the smallest table, from the outside in:
 *
 *     subtables    2, 3, 4; for speed only 2, since each subtable is a cache line more to read
 *     print bits   4, 5, ... A print of r bits keeps the rate up to a certain load. The search may
 *                  stop when that load is GOOD_LOAD: longer prints only make cells larger
 *     cells        small: the fewest that this load takes, then one cell less at a lower load
 *                  fast: as many as fill buckets of 16, 32 and 64 bytes
 *     load         the largest at which this many cells overflow rarely enough
 *
 * The fewest bytes win, and the first of several. If speed is preferred and no bucket of 16, 32 or
 * 64 bytes does it (with fields that are fixed), the search is done again without that.
 */
#include "theory/dleft_size.h"

#include "core/checked.h"
#include "core/dleft.h"

#include <math.h>
#include <string.h>

#define MAX_LOAD (FLUID_MAX_HEIGHT / 2.0)
#define GOOD_LOAD 32.0 /* larger buckets save next to nothing */
#define GOOD_TABLES 4  /* the most subtables that are tried */
#define LEAST_FAST_BYTES 16
#define MOST_FAST_BYTES 64

/* ------------------------------------------------------------------ layout */

/* The fewest bytes that hold the cells of a bucket. */
static uint64_t cell_bytes(const uint64_t *g) {
    return (g[DLEFT_CELLS] * dleft_cell_bits(g) + 7) / 8;
}

static bool dleft_fields_fit(const uint64_t *g) {
    uint64_t const r = g[DLEFT_PRINT_BITS], tables = g[DLEFT_TABLES];
    if (tables < DLEFT_MIN_TABLES || tables > DLEFT_MAX_TABLES) return false;
    if (g[DLEFT_CELLS] < 1 || g[DLEFT_CELLS] > DLEFT_MAX_CELLS) return false;
    if (r < DLEFT_MIN_PRINT_BITS || r > DLEFT_MAX_PRINT_BITS) return false;
    if (g[DLEFT_OTHER_BITS] > DLEFT_MAX_OTHER_BITS) return false;
    if (g[DLEFT_BUCKET_BYTES] < cell_bytes(g) || g[DLEFT_BUCKET_BYTES] > DLEFT_MAX_BUCKET_BYTES)
        return false;
    return g[DLEFT_BUCKETS] >= 1 && g[DLEFT_BUCKETS] <= PERMUTE_MAX >> r;
}

bool tamis_dleft_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t buckets;
    return dleft_fields_fit(g) && checked_mul(g[DLEFT_BUCKETS], g[DLEFT_TABLES], &buckets) &&
           checked_mul(buckets, g[DLEFT_BUCKET_BYTES], ret_bytes);
}

/* B (2^r - 1): a bucket and a print that is not 0. */
uint64_t tamis_dleft_prints(const uint64_t *g) {
    return g[DLEFT_BUCKETS] * ((UINT64_C(1) << g[DLEFT_PRINT_BITS]) - 1);
}

/* ------------------------------------------------------------------ prediction */

/* Keys per bucket, n / (d B). */
static double mean_load(const uint64_t *g, double n) {
    return n / ((double)g[DLEFT_TABLES] * (double)g[DLEFT_BUCKETS]);
}

/* The fluid law of a table with this many buckets that n keys make this load. */
static void dleft_make_law(const uint64_t *g, bool is_churned, double n, double load,
                           fluid *ret_law) {
    unsigned const tables = (unsigned)g[DLEFT_TABLES];
    tamis_fluid_law(tables, is_churned, load, n / (load * tables), ret_law);
}

/* A union bound: the chance of the next key at capacity, times the adds of the lifetime. No more
 * keys than a bucket has cells cannot overflow, whatever buckets they have. */
double tamis_dleft_overflow(const uint64_t *g, bool is_churned, double n, double lifetime) {
    fluid law;
    if (n <= (double)g[DLEFT_CELLS]) return 0;
    if (mean_load(g, n) > fmin(MAX_LOAD, (double)g[DLEFT_CELLS])) return 1;
    dleft_make_law(g, is_churned, n, mean_load(g, n), &law);
    return fmin(1, fmax(n, lifetime) * tamis_fluid_all(&law, (unsigned)g[DLEFT_CELLS]));
}

void tamis_dleft_law(const uint64_t *g, bool is_churned, double n, fluid *ret_law) {
    double const load = fmin(fmin(mean_load(g, n), MAX_LOAD), (double)g[DLEFT_CELLS]);
    tamis_fluid_law((unsigned)g[DLEFT_TABLES], is_churned, load, is_churned ? INFINITY : FLUID_MANY,
                    ret_law);
}

/* ------------------------------------------------------------------ the search */

/* What is searched for, and the smallest table so far. */
typedef struct dleft_search {
    const tamis_need  *need;
    const dleft_rules *rules;
    const uint64_t    *fixed;   /* the geometry that was asked for */
    bool               is_fast; /* buckets in one cache line, and two subtables */
    double             chance;  /* P[the next key finds all its buckets full] that is allowed */
    double             bytes;   /* of the smallest table; before, from which on it is too large */
    uint64_t           best[DLEFT_FIELDS]; /* no subtables: none yet */
} dleft_search;

/* The number of buckets if it is fixed, directly or by the number of prints; 0: it is free. */
static uint64_t given_buckets(const dleft_search *search, const uint64_t *g) {
    uint64_t const per_bucket = (UINT64_C(1) << g[DLEFT_PRINT_BITS]) - 1;
    if (search->fixed[DLEFT_BUCKETS] != NEED_FREE) return search->fixed[DLEFT_BUCKETS];
    return search->need->prints / per_bucket;
}

static bool keeps_overflow(const dleft_search *search, const uint64_t *g) {
    const dleft_rules *const rules = search->rules;
    double const             lifetime = (double)search->need->work.lifetime;
    return tamis_dleft_overflow(g, rules->is_churned, rules->keys, lifetime) <= rules->overflow;
}

/* Give a table as many buckets as this load makes, or those that are given, and keep it if it is
 * smaller than the best. Overflow needs a check only if the buckets are given: otherwise the caller
 * has chosen a load that keeps it. */
static void try_load(dleft_search *search, uint64_t *g, double load) {
    double const   needed = ceil(search->rules->keys / (load * (double)g[DLEFT_TABLES]));
    uint64_t const given = given_buckets(search, g);
    uint64_t       bytes;
    if (!(needed < 0x1p60)) return;
    g[DLEFT_BUCKETS] = given != 0 ? given : (uint64_t)fmax(1, needed);
    if (!tamis_dleft_bytes(g, &bytes) || (double)bytes >= search->bytes) return;
    if (given != 0 && !keeps_overflow(search, g)) return;
    search->bytes = (double)bytes;
    memcpy(search->best, g, sizeof search->best);
}

/* ------------------------------------------------------------------ cells and loads */

/* Try this many cells, in buckets of this many bytes (0: as few as they take), unless these are
 * fixed. */
static void set_cells(const dleft_search *search, uint64_t *g, uint64_t cells, uint64_t bytes) {
    uint64_t const fixed = search->fixed[DLEFT_BUCKET_BYTES];
    g[DLEFT_CELLS] = cells < DLEFT_MAX_CELLS ? cells : DLEFT_MAX_CELLS;
    g[DLEFT_BUCKET_BYTES] = fixed != NEED_FREE ? fixed : bytes != 0 ? bytes : cell_bytes(g);
}

/* The largest load, up to `most`, at which the cells of a bucket overflow rarely enough. */
static double dleft_largest_load(const dleft_search *search, const uint64_t *g, double most) {
    unsigned const tables = (unsigned)g[DLEFT_TABLES], cells = (unsigned)g[DLEFT_CELLS];
    double const   n = search->rules->keys, limit = fmin(fmin(most, MAX_LOAD), cells);
    return search->rules->is_churned
               ? tamis_fluid_churn_load(tables, cells, search->chance, n, limit)
               : tamis_fluid_fill_load(tables, cells, search->chance, n, limit);
}

/* The other way round: the fewest cells that overflow rarely enough at a load. *ret_less: the
 * largest load for one cell less; 0: not known. */
static uint64_t dleft_fewest_cells(const dleft_search *search, const uint64_t *g, double load,
                                   double *ret_less) {
    unsigned const tables = (unsigned)g[DLEFT_TABLES];
    uint64_t       cells = 1;
    fluid          law;
    *ret_less = 0;
    if (!search->rules->is_churned)
        return tamis_fluid_fill_cells(tables, load, search->chance, search->rules->keys,
                                      DLEFT_MAX_CELLS, ret_less);
    dleft_make_law(g, true, search->rules->keys, load, &law);
    while (cells < DLEFT_MAX_CELLS && tamis_fluid_all(&law, (unsigned)cells) > search->chance)
        cells++;
    return cells;
}

/* Is every table with these prints too large, whatever its load and cells?
 *
 * A key goes above the last cell of its buckets only if all of them are full, and the chance of
 * that is largest in the end. So no more than load x chance keys per bucket are above, and the
 * others are in cells: cells >= load (1 - chance). That is a cell for each key, or nearly. */
static bool prints_are_too_long(const dleft_search *search, const uint64_t *g) {
    double const cells = search->rules->keys * (1 - fmin(1, search->chance));
    return cells * (double)dleft_cell_bits(g) / 8 >= search->bytes;
}

/* Can these cells, with a load of at most `most`, make a smaller table than the best? Its buckets
 * must be as full as the bytes of the best would make them. Under churn, one look at whether such a
 * load overflows is much less work than finding the largest load. */
static bool can_be_smaller(const dleft_search *search, const uint64_t *g, double most) {
    double const n = search->rules->keys;
    double const load = n * (double)g[DLEFT_BUCKET_BYTES] / search->bytes;
    fluid        law;
    if (load >= fmin(most, (double)g[DLEFT_CELLS])) return false;
    if (load < 1 || !search->rules->is_churned) return true;
    dleft_make_law(g, true, n, load, &law);
    return tamis_fluid_all(&law, (unsigned)g[DLEFT_CELLS]) <= search->chance;
}

/* This many cells, in buckets as full as overflow and the rate (`most`) allow. `known` is that
 * load, or 0. */
static void dleft_try_cells(dleft_search *search, uint64_t *g, uint64_t cells, uint64_t bytes,
                            double most, double known) {
    if (cells < 1) return;
    set_cells(search, g, cells, bytes);
    if (!can_be_smaller(search, g, most)) return;
    bool const   is_given = given_buckets(search, g) != 0;
    double const load = known != 0 ? known : is_given ? most : dleft_largest_load(search, g, most);
    try_load(search, g, load);
}

/* The smallest table whose load is at most `most`: as few cells as that load takes. The
 * last of these cells may be needed for a small part of the load only, so one cell less in buckets
 * that are less full is tried, too; but only if it would be smaller at the same load. */
static void try_fewest_cells(dleft_search *search, uint64_t *g, double most) {
    bool const   is_given = given_buckets(search, g) != 0;
    double const load = is_given ? most : fmin(most, GOOD_LOAD);
    double       less;
    set_cells(search, g, dleft_fewest_cells(search, g, load, &less), 0);
    try_load(search, g, load);
    if (is_given || g[DLEFT_CELLS] <= 1) return;
    double const cells = search->rules->keys / load * (double)(g[DLEFT_CELLS] - 1);
    if (load > (double)(g[DLEFT_CELLS] - 1)) less = 0; /* the load would be limited by the cells */
    if (cells * (double)dleft_cell_bits(g) / 8 < search->bytes)
        dleft_try_cells(search, g, g[DLEFT_CELLS] - 1, 0, load, less);
}

/* ------------------------------------------------------------------ prints and subtables */

/* Subtables and print bits are chosen; the rate holds up to a load of `most`. If the number of
 * buckets is given, so is the load, and it may not be larger. */
static void try_print_bits(dleft_search *search, uint64_t *g, double most) {
    uint64_t const given = g[DLEFT_BUCKETS] = given_buckets(search, g);
    if (search->need->prints != 0 && search->need->prints != tamis_dleft_prints(g)) return;
    if (given != 0) {
        double const load = mean_load(g, search->rules->keys);
        if (load > fmin(most * (1 + 1e-12), MAX_LOAD)) return;
        most = load;
    }
    if (search->fixed[DLEFT_CELLS] != NEED_FREE) {
        dleft_try_cells(search, g, search->fixed[DLEFT_CELLS], 0, most, 0);
    } else if (search->is_fast) {
        for (uint64_t bytes = LEAST_FAST_BYTES; bytes <= MOST_FAST_BYTES; bytes *= 2)
            dleft_try_cells(search, g, 8 * bytes / dleft_cell_bits(g), bytes, most, 0);
    } else {
        try_fewest_cells(search, g, most);
    }
}

/* All print bits for one number of subtables. The rate n / (B (2^r - 1)) is load d / (2^r - 1), so
 * the largest load is fpr (2^r - 1) / d; below 1, most buckets would be empty. With a given number
 * of buckets the load is given, too, and all print bits are tried. */
static void try_tables(dleft_search *search, uint64_t *g) {
    uint64_t const fixed = search->fixed[DLEFT_PRINT_BITS];
    uint64_t const first = fixed == NEED_FREE ? DLEFT_MIN_PRINT_BITS : fixed;
    uint64_t const last = fixed == NEED_FREE ? search->rules->most_print_bits : fixed;
    bool const is_given = search->need->prints != 0 || search->fixed[DLEFT_BUCKETS] != NEED_FREE;
    double     most = 0;
    for (uint64_t r = first; r <= last; r++) {
        if (most >= GOOD_LOAD && !is_given) break;
        g[DLEFT_PRINT_BITS] = r;
        most = search->rules->fpr * (ldexp(1, (int)r) - 1) / (double)g[DLEFT_TABLES];
        if (search->rules->fpr <= 0) most = MAX_LOAD;
        if (most >= 1 && !prints_are_too_long(search, g)) try_print_bits(search, g, most);
    }
}

/* All numbers of subtables, or the one that is fixed. */
static void dleft_try_all(dleft_search *search) {
    uint64_t const fixed = search->fixed[DLEFT_TABLES];
    uint64_t const first = fixed != NEED_FREE ? fixed : DLEFT_MIN_TABLES;
    uint64_t const last = fixed != NEED_FREE || search->is_fast ? first : GOOD_TABLES;
    if (first < DLEFT_MIN_TABLES || first > DLEFT_MAX_TABLES) return;
    for (uint64_t tables = first; tables <= last; tables++) {
        uint64_t g[DLEFT_FIELDS];
        memcpy(g, search->fixed, sizeof g);
        g[DLEFT_TABLES] = tables;
        try_tables(search, g);
    }
}

bool tamis_dleft_choose(const tamis_need *need, const dleft_rules *rules, uint64_t *geometry) {
    double const adds = fmax(rules->keys, (double)need->work.lifetime);
    dleft_search search = { .need = need,
                            .rules = rules,
                            .fixed = geometry,
                            .is_fast = need_is_fast(need),
                            .chance = rules->overflow / adds,
                            .bytes = need_bytes_limit(need) };
    search.best[DLEFT_TABLES] = 0;
    dleft_try_all(&search);
    if (search.is_fast && search.best[DLEFT_TABLES] == 0) {
        search.is_fast = false;
        dleft_try_all(&search);
    }
    if (search.best[DLEFT_TABLES] == 0) return false;
    memcpy(geometry, search.best, sizeof search.best);
    return true;
}
