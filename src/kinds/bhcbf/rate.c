/* rate.c - see rate.h. */
#include "rate.h"

#include "core/packed.h"
#include "theory/meet.h"

#include <string.h>

/* The distribution of the sum of t random numbers of the sequence, for t = 0, 1, ..., in rows as in
 * sums.h: chance[sums_row(t) + x] is that of the sum t v_1 + x. More than MOST_PLACES places of a
 * stranger do not meet in one entry, or hardly ever do. The table is limited to what the stack of a
 * small thread holds: rows for 8 places if v_l - v_1 is at most 38, for 6 places in any case. */
#define MOST_PLACES 8
#define LAW_ROOM 1400

typedef struct step_law {
    double   chance[LAW_ROOM];
    unsigned places; /* the last row */
} step_law;

/* Row t + 1 from row t: one more number, each of the l with the chance 1/l. For {1, 4, 13, 15}, row
 * 1 has 1/4 at x = 0, 3, 12 and 14; row 2 has 1/16 at x = 0, where both numbers are 1, and 2/16 at
 * x = 3, where one of them is 4. */
static void step_law_make(const sums *table, step_law *ret_law) {
    unsigned t = 0;
    memset(ret_law->chance, 0, sizeof ret_law->chance);
    ret_law->chance[0] = 1;
    for (; t < MOST_PLACES && sums_row(table, t + 2) <= LAW_ROOM; t++) {
        double *const from = ret_law->chance + sums_row(table, t);
        double *const to = ret_law->chance + sums_row(table, t + 1);
        for (unsigned x = 0; x <= t * table->width; x++) {
            for (unsigned i = 0; i < table->n; i++) {
                to[x + table->value[i] - table->least] += from[x] / table->n;
            }
        }
    }
    ret_law->places = t;
}

/* The chance that an entry holds t random places together: over all sums that t numbers have, that
 * of the sum, if an entry with this content may hold it. A marked entry holds everything. */
static double chance_to_hold(const pairs *layout, uint64_t field, const step_law *law, unsigned t) {
    double sum = 0;
    if (field == pairs_mark(layout)) return 1;
    pair const p = pairs_unpack(layout, field);
    if (t > law->places || p.count < t) return 0;
    const double *const chance = law->chance + sums_row(&layout->sums, t);
    for (unsigned x = 0; x <= t * layout->sums.width; x++) {
        if (chance[x] == 0) continue;
        if (pairs_may_hold(layout, p, t, (uint64_t)t * layout->sums.least + x)) sum += chance[x];
    }
    return sum;
}

/* Add n entries with this content. An empty entry holds nothing. */
static void add_entries(const pairs *layout, uint64_t field, const step_law *law, unsigned n,
                        meet *rate) {
    double held[MEET_MAX_K + 1] = { 0 };
    if (n == 0 || field == 0) return;
    for (unsigned t = 1; t <= rate->depth; t++) {
        held[t] = chance_to_hold(layout, field, law, t);
        if (held[t] == 0) break; /* an entry that cannot hold t places cannot hold more */
    }
    tamis_meet_add(rate, held, n);
}

/* Contents of up to 12 bits are tallied, so that each is looked at once and not for every entry.
 * Counts of 8 bits keep the tally small; a count that is full is handed over. */
#define TALLIED 4096

double tamis_bh_rate(const pairs *layout, const uint8_t *body, uint64_t entries, unsigned k,
                     uint64_t *ret_used) {
    uint8_t        count[TALLIED] = { 0 };
    meet           rate = tamis_meet_begin((double)entries, k);
    unsigned const bits = pairs_bits(layout);
    uint64_t       used = 0;
    step_law       law;
    step_law_make(&layout->sums, &law);
    for (uint64_t i = 0; i < entries; i++) {
        uint64_t const field = packed_get(body, i, bits);
        used += field != 0;
        if (field >= TALLIED) {
            add_entries(layout, field, &law, 1, &rate);
        } else if (++count[field] == UINT8_MAX) {
            add_entries(layout, field, &law, UINT8_MAX, &rate);
            count[field] = 0;
        }
    }
    for (uint64_t field = 1; field < TALLIED; field++) {
        add_entries(layout, field, &law, count[field], &rate);
    }
    *ret_used = used;
    return tamis_meet_rate(&rate, k);
}
