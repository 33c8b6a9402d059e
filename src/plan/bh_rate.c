/* bh_rate.c - see bh_rate.h. */
#include "plan/bh_rate.h"

#include "core/packed.h"

#include <math.h>
#include <string.h>

#define FEW 4096 /* entries among which places of a key meet often enough to matter */
#define MEET 8   /* as many places as meet in an entry, but in a table of a few */
#define MAX_K 64

/* law[t][x]: the chance that t random numbers sum up to x. */
typedef double sums_law[MEET + 1][MEET * SUMS_MAX + 1];

static void draw(const sums *of, sums_law law) {
    memset(law, 0, sizeof(sums_law));
    law[0][0] = 1;
    for (unsigned t = 0; t < MEET; t++) {
        for (unsigned x = 0; x <= t * SUMS_MAX; x++) {
            if (law[t][x] == 0) continue;
            for (unsigned i = 0; i < of->n; i++) law[t + 1][x + of->value[i]] += law[t][x] / of->n;
        }
    }
}

/* The chance that an entry holds t random places at once. */
static double chance(const pairs *of, uint64_t field, sums_law law, unsigned t) {
    double sum = 0;
    if (field == pairs_mark(of)) return 1;
    pair const p = pairs_unpack(of, field);
    if (t > MEET || p.count < t) return 0;
    for (unsigned x = t * of->sums.least; x <= t * (of->sums.least + of->sums.width); x++) {
        if (law[t][x] != 0 && pairs_may_hold(of, p, t, x)) sum += law[t][x];
    }
    return sum;
}

/* One factor more. */
static void multiply(const pairs *of, uint64_t field, sums_law law, double m, unsigned k,
                     double *product) {
    double   factor[MAX_K + 1], weight = 1;
    unsigned last = 0;
    for (unsigned t = 1; t <= k; t++) {
        weight /= t * m;
        factor[t] = weight * chance(of, field, law, t);
        if (factor[t] == 0) break; /* nor does it hold more */
        last = t;
    }
    for (unsigned j = k; j != 0; j--) {
        for (unsigned t = 1; t <= last && t <= j; t++) product[j] += product[j - t] * factor[t];
    }
}

double tamis_bh_rate(const pairs *of, const uint8_t *body, uint64_t entries, unsigned k) {
    double   product[MAX_K + 1] = { 1 }, held = 0;
    sums_law law;
    draw(&of->sums, law);
    for (uint64_t i = 0; i < entries; i++) {
        uint64_t const field = packed_get(body, i, pairs_bits(of));
        if (field == 0) continue;
        if (entries <= FEW)
            multiply(of, field, law, (double)entries, k, product);
        else
            held += chance(of, field, law, 1);
    }
    return entries <= FEW ? product[k] * tgamma(k + 1.0) : pow(held / (double)entries, k);
}
