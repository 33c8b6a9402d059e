/* crossing.c - see crossing.h. */
#include "theory/crossing.h"

#include <math.h>

#define FIRST_STEP 1.2 /* from the guess, to find the other side; its square, and so on, follow */
#define CROSSING_LEAST_RATE 1e-300 /* a rate of 0 has no logarithm */
#define MAX_ROUNDS 60              /* in any case: bisection alone would be done by then */
#define SLOW 4                     /* rounds after which both sides should be half as far apart */

crossing tamis_crossing(crossing_rate *rate, const void *context, double limit) {
    return (crossing){
        .rate = rate, .context = context, .limit = limit, .fails = -INFINITY, .meets = INFINITY
    };
}

bool tamis_crossing_meets(crossing *cross, double x) {
    if (x <= cross->fails) return false;
    if (x >= cross->meets) return true;
    double const rate = cross->rate(cross->context, x);
    double const excess = log(fmax(rate, CROSSING_LEAST_RATE) / cross->limit);
    bool const   is_met = rate <= cross->limit;
    *(is_met ? &cross->meets : &cross->fails) = cross->last = x;
    *(is_met ? &cross->e_meets : &cross->e_fails) = excess;
    return is_met;
}

/* Go from the guess towards the other side, in growing steps. False: it is not
 * within CROSSING_LEAST to `most`. */
static bool find_both_sides(crossing *cross, double guess, double most) {
    double     step = FIRST_STEP, x = guess;
    bool const is_met = tamis_crossing_meets(cross, x);
    for (; cross->fails == -INFINITY || cross->meets == INFINITY; step *= step) {
        double const next = is_met ? fmax(x / step, CROSSING_LEAST) : fmin(x * step, most);
        if (next == x) return false;
        x = next;
        (void)tamis_crossing_meets(cross, x);
    }
    return true;
}

/* Where the line between both sides is zero, over ln x: rates are nearly powers of x. Every second
 * time, as far again beyond that as it is from the side that was found last: that is most likely
 * the other side, just as close. */
static double next_guess(const crossing *cross, bool is_beyond, double margin) {
    double const part = cross->e_fails / (cross->e_fails - cross->e_meets);
    double const zero = cross->fails * pow(cross->meets / cross->fails, part);
    double const x = is_beyond ? zero * zero / cross->last : zero;
    return fmin(cross->meets - margin, fmax(cross->fails + margin, x));
}

void tamis_crossing_close_in(crossing *cross, double guess, double most, double close) {
    double wide = INFINITY; /* between both sides, some rounds ago */
    if (!(guess >= CROSSING_LEAST && guess <= most) || !find_both_sides(cross, guess, most)) return;
    for (unsigned round = 0; round < MAX_ROUNDS; round++) {
        double const between = cross->meets - cross->fails, enough = fmax(1, close * cross->meets);
        if (between <= enough) return;
        bool const   is_slow = round % SLOW == SLOW - 1 && between > wide / 2;
        double const half = cross->fails + between / 2;
        double const x = next_guess(cross, round % 2 == 1, fmax(enough / 4, between / 1024));
        if (round % SLOW == SLOW - 1) wide = between;
        (void)tamis_crossing_meets(cross, is_slow ? half : x);
    }
}
