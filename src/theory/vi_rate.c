/* vi_rate.c - see vi_rate.h. */
#include "theory/vi_rate.h"

#include "theory/meet.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ one counter */

double tamis_vi_excluded(const increments *d, uint64_t c) {
    unsigned excluded = 0;
    for (unsigned i = 0; i < d->n; i++) excluded += !increments_may_hold(d, c, d->value[i]);
    return (double)excluded / d->n;
}

/* Each pair of two different ones counts twice. */
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

/* ------------------------------------------------------------------ all counters */

#define MAX_SUM (MEET_MAX_K * INCREMENTS_MAX)

/* The law of a sum of so many random increments. */
typedef struct sum_law {
    double   chance[MAX_SUM + 1];
    unsigned last; /* the largest sum */
} sum_law;

/* One increment more, in place: from the top down. */
static void draw_one(const increments *d, sum_law *law) {
    law->last += d->value[d->n - 1];
    for (unsigned x = law->last + 1; x-- > 0;) {
        double sum = 0;
        for (unsigned i = 0; i < d->n && d->value[i] <= x; i++) {
            sum += law->chance[x - d->value[i]];
        }
        law->chance[x] = sum / d->n;
    }
}

/* The chance that a counter holds what the law says. */
static double held_by(const increments *d, uint64_t counter, const sum_law *law) {
    double sum = 0;
    for (unsigned x = d->value[0]; x <= law->last && x <= counter; x++) {
        if (increments_make_up(d, counter - x)) sum += law->chance[x];
    }
    return sum;
}

/* So many counters of a value. One that does not hold t places does not hold more. */
static void add_counters(const increments *d, uint64_t value, uint64_t how_many, meet *rate) {
    sum_law law;
    double  held[MEET_MAX_K + 1] = { 0 };
    memset(law.chance, 0, sizeof law.chance);
    law.chance[0] = 1;
    law.last = 0;
    for (unsigned t = 1; t <= rate->depth; t++) {
        draw_one(d, &law);
        held[t] = held_by(d, value, &law);
        if (held[t] == 0) break;
    }
    tamis_meet_add(rate, held, (double)how_many);
}

static void add_stuck(uint64_t how_many, meet *rate) {
    double held[MEET_MAX_K + 1];
    for (unsigned t = 0; t <= MEET_MAX_K; t++) held[t] = 1;
    tamis_meet_add(rate, held, (double)how_many);
}

double tamis_vi_rate(const increments *d, const vi_counts *counts, unsigned k, unsigned more) {
    double total = (double)counts->stuck, some = more / 256.0;
    for (unsigned value = 0; value < VI_RATE_VALUES; value++) total += (double)counts->of[value];
    meet rate = tamis_meet_begin(total, k + (more != 0));
    for (unsigned value = 1; value < VI_RATE_VALUES; value++) {
        if (counts->of[value] != 0) add_counters(d, value, counts->of[value], &rate);
    }
    if (counts->stuck != 0) add_stuck(counts->stuck, &rate);
    double const usual = tamis_meet_rate(&rate, k);
    return more == 0 ? usual : (1 - some) * usual + some * tamis_meet_rate(&rate, k + 1);
}
