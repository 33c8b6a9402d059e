/* followed.c - see followed.h. */
#include "followed.h"

#include "core/hash.h"

#include <string.h>

#define FOLLOWED_MAX_BUCKETS 4096 /* in all subtables */
#define ALL_KEYS 5e4              /* in all lives: 29 keys live 1725 times */
#define LEAST_KEYS 16 /* that a life counts as, at least: there are no more than 3125 lives */

typedef struct followed {
    const uint64_t *geometry;
    dlbf_layout     layout;
    uint64_t        dice;
    double          match[DLBF_MAX_CELLS + 1];  /* by the load of a bucket that is a block alone */
    uint8_t         load[FOLLOWED_MAX_BUCKETS]; /* of each bucket, through all subtables */
} followed;

/* The next throw of the dice: SplitMix64, which begins with 0 for every table. */
static uint64_t followed_roll(followed *table) {
    table->dice += HASH_GOLDEN;
    return mix64(table->dice);
}

/* P[an absent key whose bucket this is matches one of its cells]. The length follows from the loads
 * of all buckets of the block. */
static double followed_match(const followed *table, uint64_t bucket) {
    unsigned const group = (unsigned)table->geometry[DLBF_GROUP];
    if (group == 1) return table->match[table->load[bucket]];
    unsigned load[DLBF_MAX_GROUP] = { 0 }, length[DLBF_MAX_GROUP] = { 0 };
    for (unsigned i = 0; i < group; i++) load[i] = table->load[bucket / group * group + i];
    tamis_dlbf_lengths(table->geometry, &table->layout, load, length);
    return dlbf_match(1, load[bucket % group], length[bucket % group]);
}

/* Fill in `match`, so that it is computed once for a load and not for every key. In a group the
 * length depends on four loads, and is computed each time. */
static void followed_prepare(followed *table) {
    const uint64_t *const g = table->geometry;
    for (unsigned a = 0; a <= g[DLBF_CELLS] && g[DLBF_GROUP] == 1; a++) {
        unsigned length;
        tamis_dlbf_lengths(g, &table->layout, &a, &length);
        table->match[a] = dlbf_match(1, a, length);
    }
}

/* Add a key to the least loaded of its buckets, the leftmost if several are equal, unless that is
 * full, or the key matches in one of them. If matches are rare, they are not searched. */
static void followed_add(followed *table, bool may_match) {
    const uint64_t *const g = table->geometry;
    uint64_t              least = 0;
    unsigned              least_load = (unsigned)g[DLBF_CELLS];
    double                missed = 1; /* P[no cell matches] */
    for (uint64_t i = 0; i < g[DLBF_TABLES]; i++) {
        uint64_t const bucket =
            i * g[DLBF_BUCKETS] + fastrange(followed_roll(table), g[DLBF_BUCKETS]);
        if (may_match) missed *= 1 - followed_match(table, bucket);
        if (table->load[bucket] >= least_load) continue;
        least_load = table->load[bucket];
        least = bucket;
    }
    bool const is_stored = !may_match || (double)followed_roll(table) * 0x1p-64 < missed;
    if (is_stored && least_load < g[DLBF_CELLS]) table->load[least]++;
}

/* The rate of the table as it is. It is summed up, not 1 - P[missed]: rates of 1e-17 would be lost
 * beside 1. */
static double followed_rate(const followed *table) {
    uint64_t const buckets = table->geometry[DLBF_BUCKETS];
    double         hit = 0;
    for (uint64_t i = 0; i < table->geometry[DLBF_TABLES]; i++) {
        double sum = 0;
        for (uint64_t b = 0; b < buckets; b++) sum += followed_match(table, i * buckets + b);
        hit += (1 - hit) * sum / (double)buckets;
    }
    return hit;
}

bool tamis_dlbf_is_followed(const uint64_t *g, double n) {
    return n <= DLBF_FEW &&
           (double)g[DLBF_TABLES] * (double)g[DLBF_BUCKETS] <= FOLLOWED_MAX_BUCKETS;
}

/* As many lives as have ALL_KEYS keys together; fewer than LEAST_KEYS keys count as so many. If
 * matches matter (the limit says so), keys that match when they come are not stored, as in a
 * table. */
double tamis_dlbf_followed_fpr(const uint64_t *g, double n, double limit) {
    followed     table = { .geometry = g };
    double const lives = ceil(ALL_KEYS / fmax(n, LEAST_KEYS));
    double       sum = 0;
    if (!tamis_dlbf_layout(g, &table.layout)) return INFINITY;
    followed_prepare(&table);
    for (double life = 0; life < lives; life++) {
        memset(table.load, 0, sizeof table.load);
        for (double key = 0; key < n; key++) followed_add(&table, limit > FOLLOWED_HITS);
        sum += followed_rate(&table);
    }
    return sum / lives;
}
