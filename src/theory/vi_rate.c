/* vi_rate.c - see vi_rate.h.
 *
 * What a counter lets through depends on its value only, and there are few values: so it is
 * computed once for each value that occurs, and counts as often as there are such counters. meet.h
 * needs it for one probe in the counter, for two that meet there, and so on.
 */
#include "theory/vi_rate.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ one counter */

double tamis_vi_excluded(const increments *d, uint64_t c) {
    unsigned excluded = 0;
    for (unsigned i = 0; i < d->n; i++) excluded += !increments_may_hold(d, c, d->value[i]);
    return (double)excluded / d->n;
}

/* Pairs are ordered: (v, w) and (w, v) are two, (v, v) is one. */
double tamis_vi_held_both(const increments *d, uint64_t c) {
    unsigned held = 0;
    for (unsigned i = 0; i < d->n; i++) {
        for (unsigned j = 0; j <= i; j++) {
            uint64_t const sum = (uint64_t)d->value[i] + d->value[j];
            held += increments_may_hold(d, c, sum) ? 1u + (j != i) : 0;
        }
    }
    return (double)held / ((double)d->n * d->n);
}

/* ------------------------------------------------------------------ t probes in one counter */

/* The distribution of the sum of t random increments. It lies between t times the least and t times
 * the largest increment, so chance[x] is that of t x least + x. */
typedef struct drawn_sums {
    double   chance[MEET_MAX_K * (INCREMENTS_MAX - 1) + 1];
    unsigned t;
} drawn_sums;

/* From t to t + 1 increments. In place, from the top down: chance[x] is needed only for sums that
 * are at least as large. */
static void draw_one(const increments *d, drawn_sums *law) {
    unsigned const least = d->value[0], width = d->value[d->n - 1] - least;
    for (unsigned x = ++law->t * width + 1; x-- > 0;) {
        double sum = 0;
        for (unsigned i = 0; i < d->n && d->value[i] - least <= x; i++) {
            sum += law->chance[x - (d->value[i] - least)];
        }
        law->chance[x] = sum / d->n;
    }
}

/* The chance that a counter may hold such a sum. */
static double held_by(const increments *d, uint64_t counter, const drawn_sums *law) {
    uint64_t const base = (uint64_t)law->t * d->value[0];
    unsigned const width = d->value[d->n - 1] - d->value[0];
    double         sum = 0;
    for (unsigned x = 0; x <= law->t * width && base + x <= counter; x++) {
        if (increments_make_up(d, counter - base - x)) sum += law->chance[x];
    }
    return sum;
}

/* ------------------------------------------------------------------ all counters */

/* If some strangers have one probe more, meet.h must know of as many. */
void tamis_vi_rate_begin(vi_rate *ret_rate, const increments *d, double counters, unsigned k,
                         unsigned more) {
    ret_rate->d = d;
    ret_rate->meet = tamis_meet_begin(counters, k + (more != 0));
    ret_rate->k = k;
    ret_rate->more = more;
    ret_rate->stuck = 0;
    ret_rate->used = 0;
    memset(ret_rate->n_of, 0, sizeof ret_rate->n_of);
}

/* A counter that cannot hold t probes cannot hold more. One that is 0 holds none. */
void tamis_vi_rate_flush(vi_rate *rate, uint64_t value) {
    double const n = rate->n_of[value];
    double       held[MEET_MAX_K + 1] = { 0 };
    drawn_sums   law;
    rate->n_of[value] = 0;
    if (n == 0 || value == 0) return;
    memset(law.chance, 0, sizeof law.chance);
    law.chance[0] = 1;
    law.t = 0;
    for (unsigned t = 1; t <= rate->meet.depth; t++) {
        draw_one(rate->d, &law);
        held[t] = held_by(rate->d, value, &law);
        if (held[t] == 0) break;
    }
    tamis_meet_add(&rate->meet, held, n);
}

/* The mean over strangers with k probes and with k + 1. */
double tamis_vi_rate_end(vi_rate *rate) {
    double const some = rate->more / 256.0;
    double       held[MEET_MAX_K + 1];
    for (uint64_t value = 0; value < VI_RATE_VALUES; value++) tamis_vi_rate_flush(rate, value);
    for (unsigned t = 0; t <= MEET_MAX_K; t++) held[t] = 1; /* a stuck counter holds anything */
    if (rate->stuck != 0) tamis_meet_add(&rate->meet, held, (double)rate->stuck);
    double const usual = tamis_meet_rate(&rate->meet, rate->k);
    if (rate->more == 0) return usual;
    return (1 - some) * usual + some * tamis_meet_rate(&rate->meet, rate->k + 1);
}
