/* size.c - see size.h.
 *
 * The search, from the outside in:
 *
 *     remainder    the first that allows a load of LINE_GOOD_LOAD, and the next
 *     lines        mean loads from the highest that the rate allows, half a key less each, until
 *                  tables only grow
 *     attic        the room that these lines need, by Chernoff's bound
 *
 * The attic of the table that wins is computed once more in the end, exactly where that is
 * possible.
 */
#include "size.h"

#include "core/base.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ prediction */

/* The life of a table. Without counters, every copy of a key that is planned is an entry; and one
 * key may have all the entries it can. */
static law_life line_life_of(const uint64_t *g, const tamis_workload *work) {
    double const   n = (double)work->capacity;
    bool const     has_counters = g[LINE_COUNTER_BITS] != 0;
    uint64_t const each = has_counters ? 1 : min_u64(work->copies, g[LINE_COPIES]);
    return (law_life){ .lines = (double)g[LINE_BUCKETS],
                       .keys = n,
                       .churn = tamis_prints_churn(n, (double)work->lifetime),
                       .each = (unsigned)each,
                       .flood = g[LINE_COPIES] > each ? (unsigned)g[LINE_COPIES] : 0 };
}

/* Entries at capacity. */
static double line_entries(const uint64_t *g, const law_life *life) {
    return life->keys * life->each + (double)g[LINE_COPIES] - life->each;
}

/* P[the attic overflows]. An add is also refused if its tail would have more than LINE_MAX_TAIL
 * entries, but no tail comes near that at a planned load. */
double tamis_line_overflow(const uint64_t *g, const tamis_workload *work) {
    law_life const life = line_life_of(g, work);
    double const   entries = line_entries(g, &life), room = (double)g[LINE_ATTIC];
    /* One line holds them all, or the attic alone does: then no add is ever refused. */
    if (entries <= LINE_SLOTS || entries <= fmin(room, LINE_MAX_TAIL)) return 0;
    return tamis_line_law(&life, room);
}

/* Each operation reads the line of the key. If the key is in the tail, or would be, it reads the
 * shelf, too, and the attic if the shelf is full. An absent key reads a rest if its byte is in its
 * chain by chance. An add moves half of the rests. */
void tamis_line_touches(const uint64_t *g, double n, double *ret_present, double *ret_absent,
                        double *ret_add) {
    /* `chain`: mean keys of a chain, which is how many entries an absent key is compared with. */
    double const mean = fmin(n / (double)g[LINE_BUCKETS], LAW_MAX_LOAD), chain = mean / LINE_CHAINS;
    double const is_wide = g[LINE_REMAINDER_BITS] > LINE_BYTE_BITS ? 1 : 0;
    double const rest = (double)line_rest_bits(g), has_rests = rest != 0 ? 1 : 0;
    law_shares   shares;
    tamis_line_shares(mean, &shares);
    /* A present key is away from its line with the share of such keys; an absent one, if its chain
     * has keys there: so often for each of the `chain` keys that it would be compared with. */
    double const away = shares.shelved + shares.in_attic, tail = 1 + shares.crowded;
    *ret_present = 1 + away * tail + is_wide;
    *ret_absent = 1 + away * tail * chain + is_wide * chain / 256;
    *ret_add =
        1 + shares.cut * (1 + has_rests) + has_rests + rest * mean / 2 / (8 * TAMIS_LINE_BYTES);
}

/* ------------------------------------------------------------------ choice */

/* The number of lines, for a mean load. False: no number of lines meets the need. */
static bool line_choose_lines(const tamis_need *need, const uint64_t *fixed, uint64_t *g,
                              double mean) {
    double const lines = ceil((double)need->work.capacity / mean);
    if (lines > (double)LINE_MAX_BUCKETS) return false;
    g[LINE_BUCKETS] = need_or_fixed(fixed[LINE_BUCKETS], (uint64_t)lines);
    if (need->prints == 0) return true;
    /* The fingerprints of the table are given (it is received): lines x chains x
     * 2^remainder_bits. */
    uint64_t const step = (uint64_t)LINE_CHAINS << g[LINE_REMAINDER_BITS];
    if (need->prints % step != 0) return false;
    g[LINE_BUCKETS] = need->prints / step;
    return need_or_fixed(fixed[LINE_BUCKETS], g[LINE_BUCKETS]) == g[LINE_BUCKETS];
}

/* The search, and the best table so far. The attic that lines need does not depend on the
 * remainder: what is known of it is kept for the next remainder. */
#define LINE_MAX_TRIES 64

typedef struct line_search {
    const tamis_need *need;
    const uint64_t   *fixed; /* the fields that are not for us to choose */
    uint64_t          best[LINE_FIELDS];
    double            bits; /* of the best, with about the attic that it needs */
    unsigned          n_known;
    uint64_t          known_lines[LINE_MAX_TRIES];
    double            known_room[LINE_MAX_TRIES];
} line_search;

/* About the room that the attic needs; INFINITY: the lines are too full. */
static double line_rough_room(line_search *search, const uint64_t *g) {
    law_life const life = line_life_of(g, &search->need->work);
    if (search->fixed[LINE_ATTIC] != NEED_FREE) return (double)search->fixed[LINE_ATTIC];
    if (line_entries(g, &life) <= LINE_SLOTS) return 0; /* one line holds them all */
    if (life.each * life.keys / life.lines > LAW_MAX_LOAD) return INFINITY;
    for (unsigned i = 0; i < search->n_known; i++) {
        if (search->known_lines[i] == g[LINE_BUCKETS]) return search->known_room[i];
    }
    double const room = tamis_line_rough_room(&life, search->need->overflow);
    if (search->n_known < LINE_MAX_TRIES) {
        search->known_lines[search->n_known] = g[LINE_BUCKETS];
        search->known_room[search->n_known++] = room;
    }
    return room;
}

/* Just the room that the attic of the best table needs: once, so that it may take its time. */
static double line_exact_room(const line_search *search) {
    law_life const life = line_life_of(search->best, &search->need->work);
    if (search->fixed[LINE_ATTIC] != NEED_FREE) return (double)search->fixed[LINE_ATTIC];
    if (line_entries(search->best, &life) <= LINE_SLOTS) return 0;
    return tamis_line_room(&life, search->need->overflow);
}

/* The bits of the table with this room in the attic. INFINITY: it is not possible. */
static double line_bits(uint64_t *g, double room) {
    line_layout layout;
    if (room > (double)LINE_MAX_ATTIC) return INFINITY;
    g[LINE_ATTIC] = (uint64_t)room;
    return tamis_line_layout(g, &layout) ? (double)layout.end : INFINITY;
}

/* The mean load to begin with: the highest that the rate allows (n / F <= fpr) and that is good.
 * For a rate of 0.3% and 8 bits of remainder, 0.003 x 62 x 256 = 47.6 keys are allowed; a fast
 * table has 44, and so a rate of 0.28%. With 0.2% only 31.7 are: then 9 bits are better
 * (LINE_GOOD_LOAD). */
static double line_first_load(const tamis_need *need, const uint64_t *g, double each) {
    double const chains = LINE_CHAINS * ldexp(1, (int)g[LINE_REMAINDER_BITS]);
    double const fast = line_rest_bits(g) != 0 ? LINE_FAST_LOAD_RESTS : LINE_FAST_LOAD;
    double const most = (need_is_fast(need) ? fast : LINE_MAX_LOAD) / each;
    return need->fpr > 0 ? fmin(most, need->fpr * chains) : most;
}

/* All loads for a remainder, from the highest on. The search ends when tables only grow: this one
 * is 2% larger than the best with this remainder; or even without an attic, it is no smaller than
 * the best of all. That saves evaluations of the law, which take nearly all of the time.
 *
 * Why 2%: as the load falls, the attic shrinks and the lines become more, so the size first falls
 * and then rises. But lines come in whole numbers, and small tables go up and down by their
 * rounding: a table that is a little larger may be followed by a smaller one. */
static void line_try_loads(line_search *search, uint64_t *g) {
    const tamis_need *const need = search->need;
    double const            each = line_life_of(g, &need->work).each;
    bool const              is_free = need->prints == 0 && search->fixed[LINE_BUCKETS] == NEED_FREE;
    double                  least = INFINITY, mean = line_first_load(need, g, each);
    uint64_t                lines = 0; /* of the last table that was tried */
    do {
        bool const is_possible = line_choose_lines(need, search->fixed, g, mean);
        mean -= 0.5 / each;
        if (!is_possible || g[LINE_BUCKETS] == lines) continue; /* with the next load, if any */
        lines = g[LINE_BUCKETS];
        /* Fewer keys in a line are more lines: from here on even the lines alone are larger than
         * the best table. */
        if (line_bits(g, 0) >= search->bits) return;
        double const bits = line_bits(g, line_rough_room(search, g));
        if (bits > 1.02 * least) return;
        least = fmin(least, bits);
        if (bits >= search->bits) continue;
        search->bits = bits;
        memcpy(search->best, g, sizeof search->best);
    } while (is_free && mean >= LINE_MIN_LOAD / each);
}

/* Shorter remainders than the first that allows a good load only waste lines; longer ones than the
 * next only waste bits. If the number of lines is given, the load is, and the remainder must allow
 * that one. */
static unsigned line_first_remainder(const tamis_need *need, uint64_t fixed_lines) {
    double   load = LINE_GOOD_LOAD;
    unsigned bits = LINE_BYTE_BITS;
    if (need->fpr <= 0) return bits;
    if (fixed_lines != NEED_FREE && fixed_lines != 0)
        load = fmax(load, (double)need->work.capacity / (double)fixed_lines);
    while (bits < LINE_MAX_REMAINDER_BITS - 1 &&
           need->fpr * LINE_CHAINS * ldexp(1, (int)bits) < load) {
        bits++;
    }
    return bits;
}

/* In two passes: tables are compared by about the attic that they need, and the best one gets just
 * what it needs. A fixed remainder is the only one that is tried. `geometry` is both the fixed
 * fields and the result, so it is written at the end. */
bool tamis_line_choose(const tamis_need *need, uint64_t *geometry) {
    uint64_t const fixed = geometry[LINE_REMAINDER_BITS];
    if (fixed != NEED_FREE && fixed > LINE_MAX_REMAINDER_BITS) return false;
    unsigned const first =
        fixed != NEED_FREE ? (unsigned)fixed : line_first_remainder(need, geometry[LINE_BUCKETS]);
    /* Two remainders are worth a try: see line_first_remainder(). For given fingerprints any may be
     * the one that divides them. */
    unsigned const tries = fixed != NEED_FREE ? 1 : need->prints != 0 ? 33 : need->fpr > 0 ? 2 : 1;
    line_search    search = { .need = need, .fixed = geometry, .bits = INFINITY };
    for (unsigned bits = first; bits < first + tries && bits <= LINE_MAX_REMAINDER_BITS; bits++) {
        uint64_t g[LINE_FIELDS];
        memcpy(g, geometry, sizeof g);
        g[LINE_REMAINDER_BITS] = bits;
        line_try_loads(&search, g);
    }
    if (search.bits == INFINITY) return false;
    if (line_bits(search.best, line_exact_room(&search)) == INFINITY) return false;
    memcpy(geometry, search.best, sizeof search.best);
    return true;
}
