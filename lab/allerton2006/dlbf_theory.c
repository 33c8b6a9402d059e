/* dlbf_theory.c - lengths of fingerprints, codes, and the rates that follow. */
#include "dlbf.h"

#include <math.h>

/* ------------------------------------------------------------------ buckets */

const bucket_layout dlbf_plain64 = { .name = "plain64", .bits = 60 };
const bucket_layout dlbf_sorted64 = { .name = "sorted64", .bits = 60, .one = { 4, 5 } };
const bucket_layout dlbf_one128 = { .name = "one128", .bits = 120, .one = { 1, 11 } };
const bucket_layout dlbf_two128 = {
    .name = "two128", .bits = 120, .one = { 1, 11 }, .two = { 6, 7 }
};
const bucket_layout dlbf_two128_78 = {
    .name = "two128.78", .bits = 120, .one = { 1, 11 }, .two = { 7, 8 }
};

static bool is_among(dlbf_loads range, unsigned load) {
    return range.from != 0 && load >= range.from && load <= range.to;
}

unsigned dlbf_sorted_bits(const bucket_layout *layout, unsigned load) {
    return is_among(layout->two, load) ? 2 : is_among(layout->one, load) ? 1 : 0;
}

unsigned dlbf_length(const bucket_layout *layout, unsigned load) {
    return layout->bits / load + dlbf_sorted_bits(layout, load);
}

/* How many codes a load needs: 1 for the load alone; a + 1 to tell the number of zeros, too; and to
 * tell the numbers of 00, 01, 10 and 11, as many as there are ways to write a as a sum of four. */
double dlbf_codes(const bucket_layout *layout, unsigned most) {
    double codes = 0;
    for (unsigned a = 0; a <= most; a++) {
        unsigned const sorted = dlbf_sorted_bits(layout, a);
        codes += sorted == 2 ? (a + 1.0) * (a + 2) * (a + 3) / 6 : sorted == 1 ? a + 1.0 : 1.0;
    }
    return codes;
}

/* The false positives that one more bit saves in the buckets of a set, if there are bits for it. */
static double saved(const unsigned loads[DLBF_PAPER_GROUP],
                    const unsigned lengths[DLBF_PAPER_GROUP], unsigned set, unsigned left) {
    double   sum = 0;
    unsigned needed = 0;
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++) {
        if ((set >> i & 1) == 0) continue;
        needed += loads[i];
        sum += loads[i] * ldexp(0.5, -(int)lengths[i]);
    }
    return needed <= left ? sum : -1;
}

/* The remaining bits go to the buckets where they lower the rate most. */
static void spend(const unsigned loads[DLBF_PAPER_GROUP], unsigned left,
                  unsigned lengths[DLBF_PAPER_GROUP]) {
    unsigned best = 0;
    for (unsigned set = 1; set < 1u << DLBF_PAPER_GROUP; set++) {
        if (saved(loads, lengths, set, left) > saved(loads, lengths, best, left)) best = set;
    }
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++) lengths[i] += best >> i & 1;
}

/* All known bits, including those that the codes tell, are shared equally. Then the first buckets
 * get one bit more per cell, as long as bits remain. */
static void share_all(const bucket_layout *layout, const unsigned loads[DLBF_PAPER_GROUP],
                      unsigned sum, unsigned ret_lengths[DLBF_PAPER_GROUP]) {
    unsigned bits = DLBF_PAPER_GROUP * layout->bits, upto = 0;
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++) {
        bits += loads[i] * dlbf_sorted_bits(layout, loads[i]);
    }
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++) {
        upto += loads[i];
        ret_lengths[i] = bits / sum + (upto <= bits % sum);
    }
}

void dlbf_group_lengths(const bucket_layout *layout, const unsigned loads[DLBF_PAPER_GROUP],
                        dlbf_sharing sharing, unsigned ret_lengths[DLBF_PAPER_GROUP]) {
    unsigned const bits = DLBF_PAPER_GROUP * layout->bits;
    unsigned       sum = 0;
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++) sum += loads[i];
    sum += sum == 0; /* no cells: lengths do not matter */
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++) {
        ret_lengths[i] = bits / sum + dlbf_sorted_bits(layout, loads[i]);
    }
    if (sharing == DLBF_SPENT) spend(loads, bits % sum, ret_lengths);
    if (sharing == DLBF_LIBRARY) share_all(layout, loads, sum, ret_lengths);
}

/* ------------------------------------------------------------------ laws */

void dlbf_law(double load, fluid *ret_law) {
    tamis_fluid_fill(DLBF_PAPER_TABLES, load, INFINITY, ret_law);
}

double dlbf_share(const fluid *law, unsigned load) {
    return tamis_fluid_share(law, load) - tamis_fluid_share(law, load + 1);
}

/* Q of equation (1): the share of subtable i. */
static double share_in(const fluid *law, unsigned i, unsigned load) {
    return law->x[i][load] - law->x[i][load + 1];
}

/* What a bucket of this load and length adds to the rate: by the union bound of equation (1), and
 * exactly, if equal fingerprints count once. */
typedef double hit_law(unsigned load, unsigned length);

static double hit(unsigned load, unsigned length) {
    return load * ldexp(1, -(int)length);
}

static double hit_once(unsigned load, unsigned length) {
    return -expm1(load * log1p(-ldexp(1, -(int)length)));
}

static double rate_in(const bucket_layout *layout, const fluid *law, unsigned i, hit_law *hits) {
    double rate = 0;
    for (unsigned a = 1; a <= DLBF_MAX_LOAD; a++)
        rate += share_in(law, i, a) * hits(a, dlbf_length(layout, a));
    return rate;
}

double dlbf_rate(const bucket_layout *layout, const fluid *law) {
    double rate = 0;
    for (unsigned i = 0; i < law->tables; i++) rate += rate_in(layout, law, i, hit);
    return rate;
}

double dlbf_own_rate(const bucket_layout *layout, const fluid *law) {
    double misses = 1;
    for (unsigned i = 0; i < law->tables; i++) misses *= 1 - rate_in(layout, law, i, hit_once);
    return 1 - misses;
}

/* The buckets of a group are independent, and lookups reach all of them equally often. */
static double group_rate_in(const bucket_layout *layout, const fluid *law, unsigned i,
                            dlbf_sharing sharing, hit_law *hits) {
    unsigned const base = 13; /* no load that matters is larger */
    double         rate = 0;
    for (unsigned n = 0; n < base * base * base * base; n++) {
        unsigned const loads[] = { n % base, n / base % base, n / base / base % base,
                                   n / base / base / base };
        unsigned       lengths[DLBF_PAPER_GROUP];
        double         chance = 1, sum = 0;
        for (unsigned k = 0; k < DLBF_PAPER_GROUP; k++) chance *= share_in(law, i, loads[k]);
        if (chance < 1e-18) continue;
        dlbf_group_lengths(layout, loads, sharing, lengths);
        for (unsigned k = 0; k < DLBF_PAPER_GROUP; k++) sum += hits(loads[k], lengths[k]);
        rate += chance * sum / DLBF_PAPER_GROUP;
    }
    return rate;
}

double dlbf_group_rate(const bucket_layout *layout, const fluid *law, dlbf_sharing sharing) {
    double rate = 0;
    for (unsigned i = 0; i < law->tables; i++) rate += group_rate_in(layout, law, i, sharing, hit);
    return rate;
}

double dlbf_group_own_rate(const bucket_layout *layout, const fluid *law, dlbf_sharing sharing) {
    double misses = 1;
    for (unsigned i = 0; i < law->tables; i++)
        misses *= 1 - group_rate_in(layout, law, i, sharing, hit_once);
    return 1 - misses;
}

/* ------------------------------------------------------------------ balls and bins */

double dlbf_bins_rate(const dlbf_bins *bins, const bucket_layout *layout) {
    double hits = 0;
    for (unsigned i = 0; i < bins->tables * bins->buckets; i++) {
        unsigned const load = bins->loads[i];
        if (load != 0) hits += hit(load, dlbf_length(layout, load));
    }
    return hits / bins->buckets;
}

double dlbf_bins_group_rate(const dlbf_bins *bins, const bucket_layout *layout,
                            dlbf_sharing sharing) {
    double hits = 0;
    for (unsigned i = 0; i < bins->tables * bins->buckets; i += DLBF_PAPER_GROUP) {
        const uint8_t *const at = bins->loads + i;
        unsigned const       loads[] = { at[0], at[1], at[2], at[3] };
        unsigned             lengths[DLBF_PAPER_GROUP];
        dlbf_group_lengths(layout, loads, sharing, lengths);
        for (unsigned k = 0; k < DLBF_PAPER_GROUP; k++) hits += hit(loads[k], lengths[k]);
    }
    return hits / bins->buckets;
}
