/* need.h - the interface of planning: what is asked for, and what a kind predicts of a geometry.
 *
 * spec.c makes a `tamis_need` from the user's spec, of a set or of states: every value is checked
 * and every default is filled in. planner.c hands it to each kind. A kind fills in the fields of
 * its geometry that are still free, or says that it cannot meet the need.
 */
#ifndef TAMIS_NEED_H
#define TAMIS_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include <tamis/tamis.h>

/* A field of the geometry that the user did not fix: the kind chooses it. */
#define NEED_FREE UINT64_MAX

/* How a table will be used. Stated rates and probabilities hold for this. */
typedef struct tamis_workload {
    uint64_t capacity; /* different keys at one time */
    uint64_t copies;   /* of every key; at least 1. Any single key may have more */
    uint64_t lifetime; /* keys that arrive in all; a key that comes back counts again */
} tamis_workload;

typedef struct tamis_need {
    tamis_workload   work;
    double           fpr;       /* 0: whatever the fixed geometry gives */
    double           overflow;  /* largest acceptable probability of a refused add */
    unsigned         abilities; /* TAMIS_CAN_... */
    uint64_t         count_to;  /* counts up to this must be exact; 0: counts are not asked for */
    tamis_preference prefer;
    bool             grows;  /* it is the last stage of a set that grows (grow.c) */
    uint64_t         prints; /* the number of fingerprints that it must have; 0: any */
    uint64_t         fixed[TAMIS_MAX_FIELDS]; /* the geometry as far as it is given, or NEED_FREE */

    /* of states only */
    uint64_t values;     /* 0: a set */
    double   unknown;    /* how often a lookup of a present key may answer "don't know" */
    unsigned timer_bits; /* 0: nothing ages */
} tamis_need;

static inline bool need_is_fast(const tamis_need *need) {
    return need->prefer == TAMIS_PREFER_FAST;
}

static inline bool need_can(const tamis_need *need, unsigned abilities) {
    return (need->abilities & abilities) != 0;
}

/* What the kind's own analysis says of a geometry under a workload. */
typedef struct tamis_forecast {
    double fpr;                                    /* at capacity */
    double overflow;                               /* P[an add within capacity is ever refused] */
    double saturation;                             /* P[any entry ever saturates], without floods */
    double lines_present, lines_absent, lines_add; /* cache lines that an operation touches */
    double unknown;                                /* of states */
} tamis_forecast;

#endif
