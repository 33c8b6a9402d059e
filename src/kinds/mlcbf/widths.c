/* widths.c - see widths.h.
 *
 * In this file x is what a counter stores: the number of its sum (numbered.h), or the sum itself in
 * plain counters.
 */
#include "widths.h"

#include <math.h>
#include <string.h>

/* at_least[x]: P[a counter stores x or more]. From the largest sum down, so that `sum` is the
 * chance of all sums from c on; plain counters have numbers x that are no sums. */
static void find_tail(const ml_model *model, const ml_law *law, double at_least[WIDTHS_MAX]) {
    double sum = law->beyond;
    for (unsigned x = 0; x < WIDTHS_MAX; x++) at_least[x] = 0;
    for (unsigned c = law->end; c-- > 0;) {
        sum += law->chance[c];
        uint64_t const x = numbered_number(&model->map, c);
        if (law->chance[c] > 0 && x < WIDTHS_MAX) at_least[x] = sum;
    }
    /* numbers that no counter stores have the tail of the next one */
    for (unsigned x = WIDTHS_MAX - 1; x-- > 0;) at_least[x] = fmax(at_least[x], at_least[x + 1]);
}

/* How far the levels must reach: so far that counters get there rarely enough, even with one more
 * hit. A hit adds no more to a number than to its sum, so the largest increment is enough. */
static uint64_t rare_top(const ml_model *model, const double at_least[WIDTHS_MAX], double max_top) {
    const increments *const d = &model->map.d;
    unsigned                x = 0;
    while (x < WIDTHS_MAX && at_least[x] > max_top) x++;
    return min_u64(x + d->value[d->n - 1], WIDTHS_MAX - 1);
}

/* And beyond this many copies of a key that adds the largest increment, and hits of others: for 10
 * copies with {8, 12, 14, 15}, the number of (10 + 6) x 15 = 240, which is 223, and one more. */
static uint64_t count_top(const ml_model *model, uint64_t count_to) {
    const increments *const d = &model->map.d;
    if (count_to == 0) return 0;
    return numbered_number(&model->map, (count_to + ML_OTHERS) * d->value[d->n - 1]) + 1;
}

bool tamis_ml_can_count(const ml_model *model, uint64_t count_to) {
    return count_top(model, count_to) < WIDTHS_MAX;
}

/* Where the next level begins, after one of w bits that begins at x. */
static unsigned next_base(unsigned x, unsigned w) {
    return (unsigned)min_u64(x + bits_low(w), WIDTHS_MAX - 1);
}

/* width[left][x]: the best width of a level that begins at x, with `left` levels left. cost[x] is
 * the mean cost of a counter from x on; it is overwritten in place in the order of x, since what is
 * behind x is still that of one level less. Nothing is left to pay from the top on. */
static void find_widths(const double at_least[WIDTHS_MAX], unsigned top, double dearer,
                        uint8_t width[LEVELS_MAX + 1][WIDTHS_MAX]) {
    double cost[WIDTHS_MAX];
    for (unsigned x = 0; x < WIDTHS_MAX; x++) cost[x] = x >= top ? 0 : INFINITY;
    for (unsigned left = 1; left <= LEVELS_MAX; left++) {
        double const price = left == LEVELS_MAX ? 1 : dearer;
        for (unsigned x = 0; x < top; x++) {
            double least = INFINITY;
            for (unsigned w = 1; w <= LEVELS_MAX_BITS; w++) {
                double const sum = price * w * at_least[x] + cost[next_base(x, w)];
                if (!(sum < least)) continue;
                least = sum;
                width[left][x] = (uint8_t)w;
            }
            cost[x] = least;
        }
    }
}

/* Not inlined into the search, whose frame is large enough. */
__attribute__((noinline)) bool tamis_ml_widths(const ml_model *model, const ml_law *law,
                                               const widths_rules *rules,
                                               uint64_t            ret_bits[LEVELS_MAX]) {
    double  at_least[WIDTHS_MAX];
    uint8_t width[LEVELS_MAX + 1][WIDTHS_MAX];
    memset(width, 0, sizeof width);
    find_tail(model, law, at_least);
    if (!tamis_ml_can_count(model, rules->count_to)) return false;
    uint64_t const top =
        max_u64(rare_top(model, at_least, rules->max_top), count_top(model, rules->count_to));
    find_widths(at_least, (unsigned)top, rules->dearer, width);
    for (unsigned l = 0, x = 0; l < LEVELS_MAX; l++) {
        ret_bits[l] = width[LEVELS_MAX - l][x]; /* 0 from the top on */
        x = next_base(x, (unsigned)ret_bits[l]);
    }
    return ret_bits[0] != 0;
}
