/* rate.c - see bh_rate.h. */
#include "rate.h"

#include "core/packed.h"
#include "theory/meet.h"

#include <string.h>

#define AT_ONCE 8   /* as many places as meet in an entry, but in a table of a few */
#define FIELDS 4096 /* all that there are in entries of up to 12 bits: they are counted first */

/* law[t][x]: the chance that t random numbers sum up to x. */
typedef double sums_law[AT_ONCE + 1][AT_ONCE * SUMS_MAX + 1];

static void draw(const sums *of, sums_law law) {
    memset(law, 0, sizeof(sums_law));
    law[0][0] = 1;
    for (unsigned t = 0; t < AT_ONCE; t++) {
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
    if (t > AT_ONCE || p.count < t) return 0;
    for (unsigned x = t * of->sums.least; x <= t * (of->sums.least + of->sums.width); x++) {
        if (law[t][x] != 0 && pairs_may_hold(of, p, t, x)) sum += law[t][x];
    }
    return sum;
}

/* So many entries with this in them. */
static void add_entries(const pairs *of, uint64_t field, sums_law law, uint64_t how_many,
                        meet *rate) {
    double held[MEET_MAX_K + 1] = { 0 };
    if (how_many == 0 || field == 0) return;
    for (unsigned t = 1; t <= rate->depth; t++) {
        held[t] = chance(of, field, law, t);
        if (held[t] == 0) break; /* nor does it hold more */
    }
    tamis_meet_add(rate, held, (double)how_many);
}

double tamis_bh_rate(const pairs *of, const uint8_t *body, uint64_t entries, unsigned k) {
    uint64_t       count[FIELDS] = { 0 };
    meet           rate = tamis_meet_begin((double)entries, k);
    unsigned const bits = pairs_bits(of);
    sums_law       law;
    draw(&of->sums, law);
    for (uint64_t i = 0; i < entries; i++) {
        uint64_t const field = packed_get(body, i, bits);
        if (field < FIELDS)
            count[field]++;
        else
            add_entries(of, field, law, 1, &rate);
    }
    for (uint64_t field = 1; field < FIELDS; field++) {
        add_entries(of, field, law, count[field], &rate);
    }
    return tamis_meet_rate(&rate, k);
}
