/* size.c - see ml_size.h. */
#include "size.h"

#include "law.h"

#include <math.h>
#include <string.h>

#define MAX_STUCK 1e-3  /* however much the user puts up with: beyond, the fpr would suffer */
#define MIN_COUNTERS 64 /* fewer, and a key would meet itself */
/* Not inlined: what a small thread has on its stack is not that of several functions at once. */
#define SMALL_FRAME __attribute__((noinline))

#define MAX_HITS 500 /* on average: beyond, all counters are at the top */

/* ------------------------------------------------------------------ a table */

static ml_life life_of(const uint64_t *g, double n, double lifetime) {
    return (ml_life){ (double)g[ML_BLOCKS], (double)g[ML_COUNTERS],
                      fmax(0, lifetime - n) * (double)g[ML_HASHES] };
}

static levels levels_of(const uint64_t *g) {
    return levels_make(g[ML_COUNTERS], g[ML_AREA], g + ML_BITS);
}

/* An increment excludes as much as its counter still knows: nothing of what is above level 0 if
 * the cells of the others left no room for its own. */
static double passes(const ml_heights *is, const ml_cells *others) {
    double excluded = 0;
    for (unsigned l = 0; l < is->depth; l++) {
        double const open =
            l == 0 ? 1 : 1 - others->over - tamis_ml_between(others, 0, is->cost[l]);
        excluded += is->excludes[l] * fmax(0, open);
    }
    return fmin(1, fmax(0, 1 - excluded));
}

static SMALL_FRAME void forecast(const ml_model *of, const uint64_t *g, double n, double lifetime,
                                 ml_forecast *ret) {
    double const  m = ml_total(g), k = (double)g[ML_HASHES];
    levels const  l = levels_of(g);
    ml_life const span = life_of(g, n, lifetime);
    ml_law        law;
    ml_heights    is;
    ml_cells      others;
    *ret = (ml_forecast){ .fpr = 1, .top = 1, .closed = 1, .ever = 1 };
    if (m < 2 || n * k / m > MAX_HITS) return;
    tamis_ml_law(&of->of, m, n * k, &law);
    ml_counter const average = tamis_ml_counter(of, &law);
    tamis_ml_heights(of, &l, &law, &is);
    ret->top = is.top;
    ret->ever = -expm1(-tamis_ml_sticks(&is, &span, (double)g[ML_AREA], &others));
    ret->closed = fmin(1, tamis_ml_closed(&is, &others));
    ret->fpr = tamis_ml_rate(&average, passes(&is, &others), m, k, n);
    for (unsigned from = 0; from < l.depth; from++) {
        for (unsigned up = from; up < l.depth; up++) ret->level[from] += is.last[up];
    }
}

void tamis_ml_forecast(const uint64_t *g, double n, double lifetime, ml_forecast *ret_forecast) {
    ml_model of;
    tamis_ml_model(g[ML_INCREMENTS], g[ML_PLAIN] != 0, &of);
    forecast(&of, g, n, lifetime, ret_forecast);
}

/* ------------------------------------------------------------------ choice: level by level */

/* P[the number of a counter is at least x]. */
#define MAX_X 512

static void tail_of(const ml_model *of, const ml_law *law, double at_least[MAX_X]) {
    double sum = law->beyond;
    for (unsigned x = 0; x < MAX_X; x++) at_least[x] = 0;
    for (unsigned c = law->end; c-- > 0;) {
        sum += law->chance[c];
        uint64_t const x = numbered_number(&of->of, c);
        if (law->chance[c] > 0 && x < MAX_X) at_least[x] = sum;
    }
    for (unsigned x = MAX_X - 1; x-- > 0;) at_least[x] = fmax(at_least[x], at_least[x + 1]);
}

/* Where the top may be: so far up that a hit brings a counter there rarely enough. */
static unsigned lowest_top(const ml_model *of, const double at_least[MAX_X], double enough) {
    unsigned const step = of->of.d.value[of->of.d.n - 1];
    unsigned       x = 0;
    while (x < MAX_X && at_least[x] > enough) x++;
    return (unsigned)min_u64(x + step, MAX_X - 1);
}

/* The sizes of levels that cost the fewest bits on average, from the last back to the first: a
 * level of w bits costs each counter that reaches it w, and takes the next one 2^w - 1 further.
 * Cells above level 0 are dearer than their bits, since the area has a reserve. */
/* cost[x] is that of a counter from x on, with so many levels left. In place: what is behind x is
 * still that of one level less. */
static SMALL_FRAME bool best_levels(const double at_least[MAX_X], unsigned top, double dearer,
                                    uint64_t *g) {
    double  cost[MAX_X];
    uint8_t size[LEVELS_MAX + 1][MAX_X];
    memset(size, 0, sizeof size);
    for (unsigned x = 0; x < MAX_X; x++) cost[x] = x >= top ? 0 : INFINITY;
    for (unsigned left = 1; left <= LEVELS_MAX; left++) {
        double const price = left == LEVELS_MAX ? 1 : dearer;
        for (unsigned x = 0; x < top; x++) {
            double least = INFINITY;
            for (unsigned w = 1; w <= LEVELS_MAX_BITS; w++) {
                unsigned const next = (unsigned)min_u64(x + bits_low(w), MAX_X - 1);
                double const   sum = price * w * at_least[x] + cost[next];
                if (!(sum < least)) continue;
                least = sum;
                size[left][x] = (uint8_t)w;
            }
            cost[x] = least;
        }
    }
    unsigned x = 0;
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        g[ML_BITS + l] = size[LEVELS_MAX - l][x];
        x = (unsigned)min_u64(x + bits_low((unsigned)g[ML_BITS + l]), MAX_X - 1);
    }
    return g[ML_BITS] != 0;
}

/* ------------------------------------------------------------------ choice: blocks */

typedef struct search {
    const ml_need  *need;
    const uint64_t *fixed;
    double          least, rate; /* the cheapest so far, and its fpr */
    uint64_t        best[ML_FIELDS];
} search;

static double goal_of(const ml_need *need) {
    return fmin(need->overflow, MAX_STUCK);
}

/* Does anything stick rarely enough, with so much area? */
static bool is_enough(const ml_need *need, const ml_heights *is, const ml_life *span, double area) {
    ml_cells others;
    return tamis_ml_sticks(is, span, area, &others) <= -log1p(-goal_of(need));
}

/* More area than this is never used. */
static double most_area(const ml_life *span, const ml_heights *is) {
    return fmin(ML_MAX_AREA, span->counters * is->cost[is->depth - 1]);
}

/* The smallest area that rarely enough is too small; false: none is. */
static bool fit_area(const ml_need *need, const ml_heights *is, uint64_t *g) {
    ml_life const span = life_of(g, need->n, need->lifetime);
    double const  most = most_area(&span, is), mean = span.counters * tamis_ml_mean_cost(is);
    double const  some = 8 * sqrt(span.counters) * tamis_ml_cost_deviation(is) + 16;
    double        low = -1, high = fmin(most, ceil(mean + some));
    while (!is_enough(need, is, &span, high)) {
        if (high >= most) return false;
        low = high;
        high = fmin(most, ceil(high + some));
    }
    if (low < 0 && !is_enough(need, is, &span, floor(mean))) low = floor(mean);
    while (high - low > 1) {
        double const half = floor((low + high) / 2);
        *(is_enough(need, is, &span, half) ? &high : &low) = half;
    }
    g[ML_AREA] = (uint64_t)high;
    return true;
}

static double table_bits(const uint64_t *g) {
    levels const l = levels_of(g);
    return (double)g[ML_BLOCKS] * (double)levels_block_bits(&l);
}

/* Have so many counters of a line room enough in what is left of it? */
static bool fits_line(const ml_need *need, const ml_heights *is, const uint64_t *g) {
    ml_life const span = life_of(g, need->n, need->lifetime);
    double const  left = (double)ML_LINE_BITS - 1 - (double)(g[ML_COUNTERS] * g[ML_BITS]);
    return left >= 0 && is_enough(need, is, &span, fmin(left, most_area(&span, is)));
}

/* As many counters as one line holds with their area. */
static bool fit_line(const ml_need *need, const ml_heights *is, double m, uint64_t *g) {
    uint64_t low = 0, high = (ML_LINE_BITS - 1) / g[ML_BITS] + 1;
    while (high - low > 1) {
        uint64_t const half = (low + high) / 2;
        g[ML_COUNTERS] = half;
        g[ML_BLOCKS] = (uint64_t)ceil(m / (double)half);
        *(fits_line(need, is, g) ? &low : &high) = half;
    }
    if (low == 0) return false;
    g[ML_COUNTERS] = low;
    g[ML_BLOCKS] = (uint64_t)ceil(m / (double)low);
    g[ML_AREA] = ML_LINE_BITS - 1 - low * g[ML_BITS];
    return true;
}

/* As many blocks as are not too long, all of the same size. */
static void fit_blocks(const ml_heights *is, double m, const uint64_t *fixed, uint64_t *g) {
    double const bits = m * ((double)g[ML_BITS] + 1.1 * tamis_ml_mean_cost(is));
    double const most = ML_MAX_COUNTERS - 1;
    if (fixed[ML_COUNTERS] != NEED_FREE) {
        g[ML_BLOCKS] = (uint64_t)fmax(1, ceil(m / (double)fixed[ML_COUNTERS]));
        return;
    }
    if (fixed[ML_BLOCKS] == NEED_FREE) {
        g[ML_BLOCKS] = (uint64_t)fmax(ceil(bits / ML_BLOCK_BITS), ceil(m / most));
    }
    g[ML_COUNTERS] = (uint64_t)ceil(m / (double)g[ML_BLOCKS]);
}

static bool layout(const search *of, const ml_heights *is, double m, uint64_t *g) {
    const uint64_t *const fixed = of->fixed;
    bool const is_free = fixed[ML_BLOCKS] == NEED_FREE && fixed[ML_COUNTERS] == NEED_FREE;
    if (of->need->is_fast && is_free && fixed[ML_AREA] == NEED_FREE && is->depth > 1) {
        return fit_line(of->need, is, m, g);
    }
    if (fixed[ML_BLOCKS] == NEED_FREE || fixed[ML_COUNTERS] == NEED_FREE) {
        fit_blocks(is, m, fixed, g);
    }
    if (g[ML_COUNTERS] > ML_MAX_COUNTERS) return false;
    if (fixed[ML_AREA] == NEED_FREE) return fit_area(of->need, is, g);
    return true;
}

/* ------------------------------------------------------------------ choice: all of it */

/* The fewest counters that keep the fpr, if they have all the bits they want; 0: none do. */
static SMALL_FRAME double fewest(const ml_model *of, const ml_need *need, double k) {
    double low = 0, high = need->n * k;
    for (ml_law law;;) {
        double const m = fmax(2, low == 0 ? high : (low + high) / 2);
        tamis_ml_law(&of->of, m, need->n * k, &law);
        ml_counter const is = tamis_ml_counter(of, &law);
        bool const       is_kept = tamis_ml_rate(&is, 1 - is.excludes, m, k, need->n) <= need->fpr;
        if (low == 0 && !is_kept) {
            high *= 2;
            if (high > 0x1p53 || high > need->n * k * 4096) return 0;
            continue;
        }
        *(is_kept ? &high : &low) = m;
        if (low == 0) low = fmax(1, need->n * k / (2 * MAX_HITS));
        if (high - low <= fmax(1e-4 * high, 1) || high <= 2) return ceil(high);
    }
}

/* What is to be small: bits; if it is to be fast also hashes, each a line to wait for. One more is
 * taken to be worth a tenth of the memory at most. */
static double price_of(const search *of, const uint64_t *g, double bits) {
    return bits * (of->need->is_fast ? 10 + (double)g[ML_HASHES] : 1);
}

/* Cheaper, or as cheap and with a lower fpr. */
static void try_one(search *of, const ml_model *with, const uint64_t *g) {
    ml_forecast  told;
    double const price = price_of(of, g, table_bits(g));
    if (price > of->least) return;
    forecast(with, g, of->need->n, of->need->lifetime, &told);
    if (of->need->fpr > 0 && told.fpr > of->need->fpr && of->fixed[ML_BLOCKS] == NEED_FREE) return;
    if (price >= of->least && told.fpr >= of->rate) return;
    of->least = price;
    of->rate = told.fpr;
    memcpy(of->best, g, sizeof of->best);
}

/* With k hashes: counters, then levels, then blocks. Returns the bits, or infinity. */
static SMALL_FRAME double try_hashes(search *of, const ml_model *with, uint64_t *g) {
    const ml_need *const need = of->need;
    bool const is_given = of->fixed[ML_BLOCKS] != NEED_FREE && of->fixed[ML_COUNTERS] != NEED_FREE;
    double const k = (double)g[ML_HASHES], ideal = is_given ? ml_total(g) : fewest(with, need, k);
    double const m = is_given || ideal == 0 ? ideal : fmax(ideal, MIN_COUNTERS);
    ml_law       law;
    ml_heights   is;
    double       at_least[MAX_X];
    if (m < 2 || need->n * k / m > MAX_HITS) return INFINITY;
    tamis_ml_law(&with->of, m, need->n * k, &law);
    if (of->fixed[ML_BITS] == NEED_FREE) {
        double const chances = m + fmax(0, need->lifetime - need->n) * k;
        tail_of(with, &law, at_least);
        unsigned const top = lowest_top(with, at_least, goal_of(need) / 8 / chances);
        if (!best_levels(at_least, top, need->is_fast ? 1.6 : 1.15, g)) return INFINITY;
    }
    levels const l = levels_make(1, 0, g + ML_BITS);
    tamis_ml_heights(with, &l, &law, &is);
    double const least = m * ((double)g[ML_BITS] + tamis_ml_mean_cost(&is)); /* without a reserve */
    if (price_of(of, g, least) > of->least) return least;
    if (!layout(of, &is, m, g)) return INFINITY;
    try_one(of, with, g);
    return table_bits(g);
}

/* All numbers of hashes, until the table only grows. */
static void try_set(search *of, uint64_t mask) {
    uint64_t const fixed = of->fixed[ML_HASHES];
    uint64_t const last = fixed != NEED_FREE ? fixed : ML_MAX_HASHES;
    double         least = INFINITY;
    ml_model       with;
    tamis_ml_model(mask, of->fixed[ML_PLAIN] == 1, &with);
    for (uint64_t k = fixed != NEED_FREE ? fixed : 1; k <= last; k++) {
        uint64_t g[ML_FIELDS];
        memcpy(g, of->fixed, sizeof g);
        g[ML_HASHES] = k;
        g[ML_INCREMENTS] = mask;
        g[ML_PLAIN] = of->fixed[ML_PLAIN] == 1;
        for (unsigned l = 0; l < LEVELS_MAX; l++) g[ML_BITS + l] *= g[ML_BITS + l] != NEED_FREE;
        double const bits = try_hashes(of, &with, g);
        if (bits > 1.1 * least) break;
        least = fmin(least, bits);
    }
}

static bool is_possible(const ml_need *need, const uint64_t *fixed) {
    bool const is_sized = fixed[ML_BLOCKS] != NEED_FREE && fixed[ML_COUNTERS] != NEED_FREE;
    if (need->fpr <= 0 && !is_sized) return false;
    if (fixed[ML_HASHES] != NEED_FREE && (fixed[ML_HASHES] < 1 || fixed[ML_HASHES] > ML_MAX_HASHES))
        return false;
    if (fixed[ML_BLOCKS] == 0 || fixed[ML_COUNTERS] == 0) return false;
    if (fixed[ML_PLAIN] != NEED_FREE && fixed[ML_PLAIN] > 1) return false;
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        uint64_t const bits = fixed[ML_BITS + l];
        if (bits != NEED_FREE && bits > LEVELS_MAX_BITS) return false;
    }
    if (fixed[ML_BITS] == 0) return false;
    return fixed[ML_INCREMENTS] == NEED_FREE || increments_are_possible(fixed[ML_INCREMENTS]);
}

bool tamis_ml_choose(const ml_need *need, uint64_t *geometry) {
    static const uint64_t sets[] = { ML_GENERAL, ML_GENERAL_WIDE, ML_D4, ML_ONE };
    search                of = { .need = need, .fixed = geometry, .least = INFINITY, .rate = 2 };
    if (!is_possible(need, geometry)) return false;
    for (unsigned i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        bool const is_given = geometry[ML_INCREMENTS] != NEED_FREE;
        if (is_given && i != 0) break;
        try_set(&of, is_given ? geometry[ML_INCREMENTS] : sets[i]);
    }
    if (!(of.least < INFINITY)) return false;
    memcpy(geometry, of.best, sizeof of.best);
    return true;
}
