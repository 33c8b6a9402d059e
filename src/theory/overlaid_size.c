/* overlaid_size.c - see overlaid_size.h.
 *
 * The search for the fewest bits tries all widths of a counter and all k, and for each pair finds
 * the fewest cells: a power of two and then the number, both by bisection, since both rates fall
 * with the cells. A pair that does not meet the need with just fewer bits than the best has is
 * given up after that one evaluation, as most are (try_choice).
 */
#include "theory/overlaid_size.h"

#include "core/checked.h"
#include "theory/tails.h"

#include <math.h>

#define MAX_CELLS 9007199254740992.0 /* 2^53: up to there a double counts one by one */

/* The product of overlaid_size.h. Factor i is the chance that place i is held: by a key, or since
 * it coincides with an earlier place of the same key. */
double tamis_overlaid_all(double p, double m, unsigned k) {
    double product = 1;
    p = fmin(p, 1);
    for (unsigned i = 0; i < k; i++) {
        double const earlier = i / m;
        product *= p + (1 - p) * (earlier < 1 ? earlier : 1); /* fmin() would be a call */
    }
    return product;
}

/* `each` is h, the chance that a key holds a given cell. expm1 and log1p keep its digits: with 10^9
 * cells, (1 - 1/m)^k is so near to 1 that half of them would be lost in the difference. */
double tamis_overlaid_stuck(double m, unsigned k, double n, double lifetime, double top) {
    double const each = -expm1(k * log1p(-1 / m)), later = lifetime > n ? lifetime - n : 0;
    double const filling = tamis_binomial_tail(n, each, top);
    double const put = each * exp(tamis_binomial_log(n - 1, each, top - 1));
    return fmin(filling + later * put, 1);
}

/* Every geometry of a file passes through here. One cell would be the place of all keys. */
bool tamis_overlaid_body_bytes(const uint64_t *g, unsigned cell_bits, uint64_t *ret_bytes) {
    uint64_t const timer = g[OVERLAID_TIMER_BITS];
    bool const     is_timer = timer == 0 || (timer >= SWEEP_MIN_BITS && timer <= SWEEP_MAX_BITS);
    if (g[OVERLAID_CELLS] < 2 || g[OVERLAID_HASHES] < 1 || g[OVERLAID_HASHES] > OVERLAID_MAX_HASHES)
        return false;
    if (g[OVERLAID_COUNTER_BITS] > OVERLAID_MAX_COUNTER_BITS || !is_timer) return false;
    return checked_body_bytes(g[OVERLAID_CELLS], cell_bits, PACKED_PAD_BYTES, ret_bytes);
}

/* ------------------------------------------------------------------ the fewest bits */

/* What is searched for. */
typedef struct overlaid_search {
    const tamis_need     *need;
    const overlaid_rules *rules;
} overlaid_search;

/* The rates of a geometry, by the law of the kind that is planned. */
static void search_law(const overlaid_search *search, const uint64_t *g, overlaid_forecast *ret) {
    const tamis_workload *const work = &search->need->work;
    search->rules->law(g, (double)work->capacity, (double)work->lifetime, ret);
}

/* Would this many cells meet the need? A rate of 0 is none. */
static bool overlaid_meets(const overlaid_search *search, const uint64_t *g, double cells) {
    const tamis_need *const need = search->need;
    uint64_t                at[OVERLAID_FIELDS];
    overlaid_forecast       told;
    for (unsigned i = 0; i < OVERLAID_FIELDS; i++) at[i] = g[i];
    at[OVERLAID_CELLS] = (uint64_t)cells;
    search_law(search, at, &told);
    return (need->fpr == 0 || told.fpr <= need->fpr) &&
           (need->unknown == 0 || told.unknown <= need->unknown);
}

/* The lowest e with 2^e cells that are `most` or more, or meet the need. A forecast takes long, so
 * it is found by bisection, too. */
static int overlaid_exponent(const overlaid_search *search, const uint64_t *g, double most) {
    int low = 0, high = 1; /* 2^low does not, 2^high does */
    while (ldexp(1, high) < most) high++;
    while (high - low > 1) {
        int const middle = (low + high) / 2;
        if (overlaid_meets(search, g, ldexp(1, middle)))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The fewest cells, at most `most`, that meet the need with the k and the counters of g; both rates
 * fall with the cells. 0: none. */
static double overlaid_fewest_cells(const overlaid_search *search, const uint64_t *g, double most) {
    int const exponent = overlaid_exponent(search, g, most);
    double    low = ldexp(1, exponent - 1), high = fmin(ldexp(1, exponent), most);
    if (high < 2 || !overlaid_meets(search, g, high)) return 0;
    while (high - low > 1) {
        double const middle = floor((low + high) / 2);
        if (overlaid_meets(search, g, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The best so far. */
typedef struct best_cells {
    double   bits; /* in all */
    double   cells;
    unsigned k, counter_bits;
} best_cells;

/* One k and one width of counters: find the fewest cells, if fewer bits than the best has will do.
 * `most` is as many cells as make one bit less than the best. */
static void try_choice(const overlaid_search *search, uint64_t *g, best_cells *best) {
    double const bits = search->rules->cell_bits(g);
    double const most = best->bits > 0 ? ceil(best->bits / bits) - 1 : MAX_CELLS;
    if (most < 2 || (best->bits > 0 && !overlaid_meets(search, g, most))) return;
    double const cells = overlaid_fewest_cells(search, g, most);
    if (cells == 0) return;
    *best = (best_cells){ cells * bits, cells, (unsigned)g[OVERLAID_HASHES],
                          (unsigned)g[OVERLAID_COUNTER_BITS] };
}

/* Any number of cells, k and counters, except for what is fixed of the last two. The last cache
 * line is used completely: further cells cost nothing there, and lower the rates a little. */
static bool choose_size(const overlaid_search *search, uint64_t *g) {
    const overlaid_rules *const rules = search->rules;
    uint64_t const              k_fixed = g[OVERLAID_HASHES], bits_fixed = g[OVERLAID_COUNTER_BITS];
    unsigned const              k_least = k_fixed == NEED_FREE ? 1 : (unsigned)k_fixed;
    unsigned const k_most = k_fixed == NEED_FREE ? OVERLAID_MAX_HASHES : (unsigned)k_fixed;
    bool const     is_any = bits_fixed == NEED_FREE;
    unsigned const least = is_any ? rules->least_counter_bits : (unsigned)bits_fixed;
    unsigned const most = is_any ? rules->most_counter_bits : (unsigned)bits_fixed;
    best_cells     best = { 0, 0, 0, 0 };
    for (unsigned bits = least; bits <= most; bits++) {
        for (unsigned k = k_least; k <= k_most; k++) {
            g[OVERLAID_HASHES] = k;
            g[OVERLAID_COUNTER_BITS] = bits;
            try_choice(search, g, &best);
        }
    }
    if (best.bits == 0) return false;
    g[OVERLAID_HASHES] = best.k;
    g[OVERLAID_COUNTER_BITS] = best.counter_bits;
    g[OVERLAID_CELLS] =
        checked_fill_lines((uint64_t)best.cells, rules->cell_bits(g), PACKED_PAD_BYTES);
    return true;
}

/* ------------------------------------------------------------------ with the cells given */

/* The k with the fewest unknown keys. With few hashes, all cells of a key are soon shared with
 * others; with many, most cells are. So there is a best one in between. */
static void choose_k(const overlaid_search *search, uint64_t *g) {
    double   fewest = 2;
    unsigned best = 1;
    for (unsigned k = 1; k <= OVERLAID_MAX_HASHES; k++) {
        overlaid_forecast told;
        g[OVERLAID_HASHES] = k;
        search_law(search, g, &told);
        if (told.unknown >= fewest) continue;
        fewest = told.unknown;
        best = k;
    }
    g[OVERLAID_HASHES] = best;
}

/* Values and timers are what the need says. A user who fixes them must fix the same. */
static bool take_or_agree(uint64_t *field, uint64_t value) {
    if (*field == NEED_FREE) *field = value;
    return *field == value;
}

bool tamis_overlaid_choose(const tamis_need *need, const overlaid_rules *rules, uint64_t *g) {
    overlaid_search const search = { need, rules };
    bool const            is_k = g[OVERLAID_HASHES] == NEED_FREE ||
                      (g[OVERLAID_HASHES] >= 1 && g[OVERLAID_HASHES] <= OVERLAID_MAX_HASHES);
    bool const is_bits = g[OVERLAID_COUNTER_BITS] == NEED_FREE ||
                         g[OVERLAID_COUNTER_BITS] <= OVERLAID_MAX_COUNTER_BITS;
    if (!is_k || !is_bits || !take_or_agree(&g[OVERLAID_VALUES], need->values) ||
        !take_or_agree(&g[OVERLAID_TIMER_BITS], need->timer_bits))
        return false;
    if (g[OVERLAID_CELLS] == NEED_FREE) {
        bool const is_rate = need->fpr > 0 || need->unknown > 0; /* or nothing says how large */
        return is_rate && choose_size(&search, g);
    }
    if (g[OVERLAID_CELLS] < 2) return false;
    if (g[OVERLAID_COUNTER_BITS] == NEED_FREE)
        g[OVERLAID_COUNTER_BITS] = rules->most_counter_bits == 0 ? 0 : OVERLAID_USUAL_COUNTER_BITS;
    if (g[OVERLAID_HASHES] == NEED_FREE) choose_k(&search, g);
    return true;
}
