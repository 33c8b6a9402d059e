/* crossing.h - where a falling rate crosses its limit, in few evaluations.
 *
 * A search for the smallest table asks "do this many counters meet the rate?" again and again, and
 * each answer costs microseconds. Bisection to 1 in 10^5 needs 17 evaluations. A rate is smooth, so
 * the straight line between two points of its logarithm crosses the limit at nearly the same place:
 * 5 or 6 evaluations are enough.
 *
 * Use. The search itself stays a plain bisection, which asks tamis_crossing_meets() and gets the
 * same answers as ever. Most of them cost nothing: a rate that falls meets the limit at any x above
 * one that did, and at none below one that did not. tamis_crossing_close_in() finds two such x
 * close together before the search begins. So it saves time, and changes no result.
 */
#ifndef TAMIS_THEORY_CROSSING_H
#define TAMIS_THEORY_CROSSING_H

#include <stdbool.h>

/* The rate of a table of size x. It must not rise with x. */
typedef double crossing_rate(const void *context, double x);

typedef struct crossing {
    crossing_rate *rate;
    const void    *context;
    double         limit;
    double         fails, meets;     /* the largest x known to fail, the least known to meet it */
    double         e_fails, e_meets; /* ln (rate / limit) there */
    double         last;             /* the x that was evaluated last */
} crossing;

/* Nothing is known yet. */
crossing tamis_crossing(crossing_rate *rate, const void *context, double limit);

/* Is the rate of a table of size x at most the limit? */
bool tamis_crossing_meets(crossing *cross, double x);

/* In smaller tables a rate may also rise, since places of a key meet: there, nothing is skipped. */
#define CROSSING_LEAST 64

/* Evaluate rates from a guess on, until `fails` and `meets` are closer together than `close` times
 * x, or than 1. Gives up where x would be below CROSSING_LEAST or above `most`. */
void tamis_crossing_close_in(crossing *cross, double guess, double most, double close);

#endif
