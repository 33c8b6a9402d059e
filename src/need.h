/* need.h - the interface of planning: what is requested, and what a kind predicts for a geometry.
 *
 * spec.c makes a `tamis_need` from the user's spec, for a set or for states: every value is checked
 * and every default is filled in. planner.c passes it to each kind. A kind fills in the fields of
 * its geometry that are still free, or says that it cannot meet the need.
 */
#ifndef TAMIS_NEED_H
#define TAMIS_NEED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <tamis/tamis.h>

/* A field of the geometry that the user did not fix: the kind chooses it. */
#define NEED_FREE UINT64_MAX

/* How a table will be used. Stated rates and probabilities hold for this. */
typedef struct tamis_workload {
    uint64_t capacity; /* different keys at one time */
    uint64_t copies;   /* copies of every key; at least 1. Any single key may have more */
    uint64_t lifetime; /* keys added in total; a key that is added again counts again */
} tamis_workload;

typedef struct tamis_need {
    tamis_workload   work;
    double           fpr;       /* 0: what follows from the fixed geometry */
    double           overflow;  /* largest acceptable probability of a refused add */
    unsigned         abilities; /* TAMIS_CAN_... */
    uint64_t         count_to;  /* counts up to this must be exact; 0: no counting */
    tamis_preference prefer;
    bool             grows;  /* it is the last stage of a set that grows (grow.c) */
    uint64_t         prints; /* the required number of possible prints; 0: any */
    /* Larger bodies are of no use; 0: of any size. A kind that sees early that all its tables are
     * larger need not search on (_CANNOT). It may also ignore this: the planner looks at sizes. A
     * table that is not larger is the same as without the limit. */
    uint64_t most_bytes;
    uint64_t fixed[TAMIS_MAX_FIELDS]; /* fields that the user fixed; others NEED_FREE */

    /* for states only */
    uint64_t values;     /* 0: a set */
    double   unknown;    /* how often a lookup of a present key may answer "don't know" */
    unsigned timer_bits; /* 0: no timeout */
} tamis_need;

static inline bool need_is_fast(const tamis_need *need) {
    return need->prefer == TAMIS_PREFER_FAST;
}

/* The bytes from which on a body is too large. */
static inline double need_bytes_limit(const tamis_need *need) {
    return need->most_bytes != 0 ? (double)need->most_bytes + 1 : INFINITY;
}

/* Has the user fixed this field of the geometry? */
static inline bool need_is_fixed(const tamis_need *need, unsigned field) {
    return need->fixed[field] != NEED_FREE;
}

/* The value of a field: the one that the user has fixed, or else the one that the kind has chosen.
 * A search that tries values for all fields gets only that value of a fixed one. */
static inline uint64_t need_or_fixed(uint64_t fixed, uint64_t chosen) {
    return fixed != NEED_FREE ? fixed : chosen;
}

static inline bool need_is_in(uint64_t value, uint64_t least, uint64_t most) {
    return value >= least && value <= most;
}

/* The same of a field that the user may have fixed. */
static inline bool need_is_free_or_in(uint64_t fixed, uint64_t least, uint64_t most) {
    return fixed == NEED_FREE || need_is_in(fixed, least, most);
}

static inline bool need_can(const tamis_need *need, unsigned abilities) {
    return (need->abilities & abilities) != 0;
}

/* What the kind's own analysis predicts for a geometry and a workload. */
typedef struct tamis_forecast {
    double fpr;        /* at capacity */
    double overflow;   /* P[an add within capacity is ever refused] */
    double saturation; /* P[any entry ever saturates], if no key has more copies than planned */
    double lines_present, lines_absent, lines_add; /* cache lines that an operation touches */
    double unknown;                                /* for states */
} tamis_forecast;

#endif
