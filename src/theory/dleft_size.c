/* dleft_size.c - see dleft_size.h. */
#include "theory/dleft_size.h"

#include "core/checked.h"
#include "core/dleft.h"

#include <math.h>

#define MAX_LOAD (FLUID_MAX_HEIGHT / 2.0)
#define GOOD_LOAD 32.0 /* larger buckets save next to nothing */

/* ------------------------------------------------------------------ layout */

static uint64_t cell_bytes(const uint64_t *g) {
    return (g[DLEFT_CELLS] * dleft_cell_bits(g) + 7) / 8;
}

static bool fields_are_possible(const uint64_t *g) {
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
    return fields_are_possible(g) && checked_mul(g[DLEFT_BUCKETS], g[DLEFT_TABLES], &buckets) &&
           checked_mul(buckets, g[DLEFT_BUCKET_BYTES], ret_bytes);
}

uint64_t tamis_dleft_prints(const uint64_t *g) {
    return g[DLEFT_BUCKETS] * ((UINT64_C(1) << g[DLEFT_PRINT_BITS]) - 1);
}

/* ------------------------------------------------------------------ prediction */

static double load_of(const uint64_t *g, double n) {
    return n / ((double)g[DLEFT_TABLES] * (double)g[DLEFT_BUCKETS]);
}

/* The law that counts for n keys at a load. */
static void law_of(const uint64_t *g, bool is_churned, double n, double load, fluid *ret_law) {
    unsigned const tables = (unsigned)g[DLEFT_TABLES];
    double const   buckets = n / (load * tables);
    if (is_churned)
        tamis_fluid_churn(tables, load, buckets, ret_law);
    else
        tamis_fluid_fill(tables, load, buckets, ret_law);
}

double tamis_dleft_overflow(const uint64_t *g, bool is_churned, double n, double lifetime) {
    fluid law;
    if (n <= (double)g[DLEFT_CELLS]) return 0;
    if (load_of(g, n) > fmin(MAX_LOAD, (double)g[DLEFT_CELLS])) return 1;
    law_of(g, is_churned, n, load_of(g, n), &law);
    return fmin(1, fmax(n, lifetime) * tamis_fluid_all(&law, (unsigned)g[DLEFT_CELLS]));
}

void tamis_dleft_law(const uint64_t *g, bool is_churned, double n, fluid *ret_law) {
    double const load = fmin(fmin(load_of(g, n), MAX_LOAD), (double)g[DLEFT_CELLS]);
    law_of(g, is_churned, INFINITY, load, ret_law);
}

/* ------------------------------------------------------------------ choice */

/* The smallest table so far. */
typedef struct search {
    const tamis_need  *need;
    const dleft_rules *rules;
    const uint64_t    *fixed;
    bool               is_fast;
    double             chance; /* P[the next key finds all its buckets full] that is allowed */
    double             least;  /* bytes */
    uint64_t           geometry[DLEFT_FIELDS];
} search;

/* The largest load, up to a limit, that the cells of a bucket allow. */
static double best_load(const search *best, const uint64_t *g, double limit) {
    unsigned const tables = (unsigned)g[DLEFT_TABLES], cells = (unsigned)g[DLEFT_CELLS];
    double const   most = fmin(fmin(limit, MAX_LOAD), cells);
    double const   n = best->rules->keys;
    return best->rules->is_churned ? tamis_fluid_churn_load(tables, cells, best->chance, n, most)
                                   : tamis_fluid_fill_load(tables, cells, best->chance, n, most);
}

/* The cells that a load needs. */
static uint64_t cells_for(const search *best, const uint64_t *g, double load) {
    fluid    law;
    uint64_t cells = 1;
    law_of(g, best->rules->is_churned, best->rules->keys, load, &law);
    while (cells < DLEFT_MAX_CELLS && tamis_fluid_all(&law, (unsigned)cells) > best->chance)
        cells++;
    return cells;
}

/* The buckets that there must be, or 0: any number. */
static uint64_t buckets_given(const search *best, const uint64_t *g) {
    uint64_t const step = (UINT64_C(1) << g[DLEFT_PRINT_BITS]) - 1;
    if (best->fixed[DLEFT_BUCKETS] != NEED_FREE) return best->fixed[DLEFT_BUCKETS];
    return best->need->prints / step;
}

static bool keeps_overflow(const search *best, const uint64_t *g) {
    const dleft_rules *const rules = best->rules;
    double const             lifetime = (double)best->need->work.lifetime;
    return tamis_dleft_overflow(g, rules->is_churned, rules->keys, lifetime) <= rules->overflow;
}

/* Keep a geometry without its buckets if, at this load, it is smaller than the others. */
static void try_load(search *best, uint64_t *g, double load) {
    double const   needed = ceil(best->rules->keys / (load * (double)g[DLEFT_TABLES]));
    uint64_t const given = buckets_given(best, g);
    uint64_t       bytes;
    if (!(needed < 0x1p60)) return;
    g[DLEFT_BUCKETS] = given != 0 ? given : (uint64_t)fmax(1, needed);
    if (!tamis_dleft_bytes(g, &bytes) || (double)bytes >= best->least) return;
    if (given != 0 && !keeps_overflow(best, g)) return;
    best->least = (double)bytes;
    for (unsigned i = 0; i < DLEFT_FIELDS; i++) best->geometry[i] = g[i];
}

/* So many cells, in buckets of so many bytes (0: as few as they take). */
static void set_cells(const search *best, uint64_t *g, uint64_t cells, uint64_t bytes) {
    uint64_t const fixed = best->fixed[DLEFT_BUCKET_BYTES];
    g[DLEFT_CELLS] = cells < DLEFT_MAX_CELLS ? cells : DLEFT_MAX_CELLS;
    g[DLEFT_BUCKET_BYTES] = fixed != NEED_FREE ? fixed : bytes != 0 ? bytes : cell_bytes(g);
}

/* Could these cells be full enough to be smaller than the best? With keys that come and go, one
 * look at the load that it would take is much less work than finding the best load. */
static bool is_dense(const search *best, const uint64_t *g, double limit) {
    double const n = best->rules->keys;
    double const load = n * (double)g[DLEFT_BUCKET_BYTES] / best->least;
    fluid        law;
    if (load >= fmin(limit, (double)g[DLEFT_CELLS])) return false;
    if (load < 1 || !best->rules->is_churned) return true;
    law_of(g, true, n, load, &law);
    return tamis_fluid_all(&law, (unsigned)g[DLEFT_CELLS]) <= best->chance;
}

/* The same, as full as they may be. */
static void try_cells(search *best, uint64_t *g, uint64_t cells, uint64_t bytes, double limit) {
    if (cells < 1) return;
    set_cells(best, g, cells, bytes);
    if (!is_dense(best, g, limit)) return;
    try_load(best, g, buckets_given(best, g) != 0 ? limit : best_load(best, g, limit));
}

/* Could a cell less be smaller than the best, if the load stayed? */
static bool is_promising(const search *best, const uint64_t *g, double limit) {
    double const bytes = best->rules->keys / limit * (double)(g[DLEFT_CELLS] - 1);
    return g[DLEFT_CELLS] > 1 && bytes * (double)dleft_cell_bits(g) / 8 < best->least;
}

/* Subtables and remainders are given, and the largest load that keeps the fpr. */
static void try_widths(search *best, uint64_t *g, double limit) {
    uint64_t const given = g[DLEFT_BUCKETS] = buckets_given(best, g);
    if (best->need->prints != 0 && best->need->prints != tamis_dleft_prints(g)) return;
    if (given != 0) {
        double const load = best->rules->keys / ((double)g[DLEFT_TABLES] * (double)given);
        if (load > fmin(limit * (1 + 1e-12), MAX_LOAD)) return;
        limit = load;
    }
    if (best->fixed[DLEFT_CELLS] != NEED_FREE) {
        try_cells(best, g, best->fixed[DLEFT_CELLS], 0, limit);
    } else if (best->is_fast) { /* buckets that never lie in two cache lines */
        for (uint64_t bytes = 16; bytes <= 64; bytes *= 2) {
            try_cells(best, g, 8 * bytes / dleft_cell_bits(g), bytes, limit);
        }
    } else {
        double const load = given != 0 ? limit : fmin(limit, GOOD_LOAD);
        set_cells(best, g, cells_for(best, g, load), 0);
        try_load(best, g, load);
        if (given == 0 && is_promising(best, g, load))
            try_cells(best, g, g[DLEFT_CELLS] - 1, 0, load);
    }
}

static void try_tables(search *best, uint64_t *g) {
    uint64_t const fixed = best->fixed[DLEFT_PRINT_BITS];
    bool const     is_free = fixed == NEED_FREE;
    bool const     is_given = best->need->prints != 0 || best->fixed[DLEFT_BUCKETS] != NEED_FREE;
    double         limit = 0;
    for (uint64_t r = is_free ? DLEFT_MIN_PRINT_BITS : fixed;
         r <= (is_free ? best->rules->most_print_bits : fixed); r++) {
        if (limit >= GOOD_LOAD && !is_given) break;
        g[DLEFT_PRINT_BITS] = r;
        limit = best->rules->fpr * (ldexp(1, (int)r) - 1) / (double)g[DLEFT_TABLES];
        if (best->rules->fpr <= 0) limit = MAX_LOAD;
        if (limit >= 1) try_widths(best, g, limit);
    }
}

static void try_all(search *best, uint64_t first, uint64_t last) {
    for (uint64_t tables = first; tables <= last; tables++) {
        uint64_t g[DLEFT_FIELDS];
        for (unsigned i = 0; i < DLEFT_FIELDS; i++) g[i] = best->fixed[i];
        g[DLEFT_TABLES] = tables;
        if (tables >= DLEFT_MIN_TABLES && tables <= DLEFT_MAX_TABLES) try_tables(best, g);
    }
}

/* What is fast may not be had with the buckets that there must be; then any. */
bool tamis_dleft_choose(const tamis_need *need, const dleft_rules *rules, uint64_t *geometry) {
    double const   adds = fmax(rules->keys, (double)need->work.lifetime);
    search         best = { .need = need,
                            .rules = rules,
                            .fixed = geometry,
                            .is_fast = need_is_fast(need),
                            .chance = rules->overflow / adds,
                            .least = INFINITY };
    uint64_t const fixed = geometry[DLEFT_TABLES];
    uint64_t const first = fixed != NEED_FREE ? fixed : DLEFT_MIN_TABLES;
    uint64_t const last = fixed != NEED_FREE ? fixed : 4;
    try_all(&best, first, best.is_fast ? first : last);
    if (best.is_fast && best.least == INFINITY) {
        best.is_fast = false;
        try_all(&best, first, last);
    }
    for (unsigned i = 0; i < DLEFT_FIELDS && best.least < INFINITY; i++)
        geometry[i] = best.geometry[i];
    return best.least < INFINITY;
}
