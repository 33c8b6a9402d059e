/* analysis.c - see analysis.h. */
#include "analysis.h"

#include "codes.h"
#include "followed.h"

#define HASH_BITS 64

/* ------------------------------------------------------------------ layout */

static bool is_between(uint64_t value, uint64_t low, uint64_t high) {
    return value >= low && value <= high;
}

/* Every geometry of a file passes through here; buckets of 64 and 128 bits are those of the
 * paper. */
static bool dlbf_fields_are_possible(const uint64_t *g) {
    if (!is_between(g[DLBF_TABLES], DLBF_MIN_TABLES, DLBF_MAX_TABLES)) return false;
    if (!is_between(g[DLBF_CELLS], 1, DLBF_MAX_CELLS)) return false;
    if (g[DLBF_BUCKET_BITS] != 64 && g[DLBF_BUCKET_BITS] != 128) return false;
    if (g[DLBF_GROUP] != 1 && g[DLBF_GROUP] != DLBF_MAX_GROUP) return false;
    if (!is_between(g[DLBF_BUCKETS], 1, DLBF_MAX_BUCKETS)) return false;
    return g[DLBF_BUCKETS] % g[DLBF_GROUP] == 0;
}

/* Has each load from 1 to `cells` up to 2 sorted bits, and no other load any; and are 8 bits enough
 * for all codes? */
static bool sorting_is_possible(unsigned cells, uint64_t sorting) {
    if (codes_sorted(sorting, 0) != 0 || sorting >> (2 * cells + 2) != 0) return false;
    for (unsigned a = 1; a <= cells; a++) {
        if (codes_sorted(sorting, a) > CODES_MAX_SORTED) return false;
    }
    return codes_count(cells, sorting) <= 1u << CODES_MAX_BITS;
}

/* The shortest length is that of full buckets, D / cells + s(cells). */
bool tamis_dlbf_lengths_never_grow(unsigned cells, uint64_t sorting, unsigned data_bits) {
    unsigned const shortest = data_bits / cells + codes_sorted(sorting, cells);
    for (unsigned a = 0; a < cells; a++) {
        unsigned const before = a * codes_sorted(sorting, a);
        unsigned const after = (a + 1) * codes_sorted(sorting, a + 1);
        if (after > before + shortest) return false;
    }
    return true;
}

/* A fingerprint is what the hash has beside the number of the bucket, and not longer than that. */
bool tamis_dlbf_layout(const uint64_t *g, dlbf_layout *ret_layout) {
    unsigned const cells = (unsigned)g[DLBF_CELLS], group = (unsigned)g[DLBF_GROUP];
    uint64_t const sorting = g[DLBF_SORTING];
    if (!dlbf_fields_are_possible(g) || !sorting_is_possible(cells, sorting)) return false;
    unsigned const code_bits = codes_bits(codes_count(cells, sorting));
    unsigned const data_bits = (unsigned)g[DLBF_BUCKET_BITS] - code_bits; /* of a bucket */
    if (!tamis_dlbf_lengths_never_grow(cells, sorting, data_bits)) return false;
    unsigned const shortest = data_bits / cells + codes_sorted(sorting, cells);
    /* Bits of the hash that the bucket's number leaves. Longer fingerprints would be made of bits
     * that are used twice. */
    unsigned const left = HASH_BITS - codes_bits(g[DLBF_BUCKETS]);
    unsigned const longest = left < DLBF_MAX_LENGTH ? left : DLBF_MAX_LENGTH;
    *ret_layout = (dlbf_layout){ .code_bits = code_bits,
                                 .data_bits = group * data_bits,
                                 .shortest = shortest < longest ? shortest : longest,
                                 .longest = longest,
                                 .block_bytes = group * (unsigned)g[DLBF_BUCKET_BITS] / 8,
                                 .blocks = g[DLBF_TABLES] * (g[DLBF_BUCKETS] / group) };
    return ret_layout->shortest >= DLBF_MIN_LENGTH;
}

/* L of analysis.h, and a bit more for the first buckets as long as bits are left over. */
void tamis_dlbf_lengths(const uint64_t *g, const dlbf_layout *layout, const unsigned *load,
                        unsigned *ret_length) {
    unsigned bits = layout->data_bits, total = 0, before = 0;
    for (unsigned i = 0; i < g[DLBF_GROUP]; i++) {
        bits += load[i] * codes_sorted(g[DLBF_SORTING], load[i]);
        total += load[i];
    }
    unsigned const length = total == 0 ? layout->longest : bits / total;
    bool const     is_less = length < layout->longest;
    for (unsigned i = 0; i < g[DLBF_GROUP]; i++) {
        before += load[i];
        /* `bits` - total x length bits are left over: the first buckets take one for each of their
         * cells, while there are enough. */
        ret_length[i] = is_less ? length + (before <= bits - total * length) : layout->longest;
    }
}

/* ------------------------------------------------------------------ the rate */

/* A little beyond the highest load all buckets are full, and nothing changes any more. */
void tamis_dlbf_law(const uint64_t *g, double n, fluid *ret_law) {
    unsigned const tables = (unsigned)g[DLBF_TABLES];
    double const   most = (double)g[DLBF_CELLS] + 4;
    if (n <= DLBF_FEW)
        tamis_fluid_few(tables, (double)g[DLBF_BUCKETS], (unsigned)n, ret_law);
    else
        tamis_fluid_fill(tables, fmin(dlbf_load(g, n), most), INFINITY, ret_law);
}

/* The blocks of one subtable, for a sum over all loads that their buckets may have. The arrays are
 * about the block that is looked at: [i] is of its first i buckets. */
typedef struct block_sum {
    const uint64_t *geometry;
    dlbf_layout     layout;
    double          share[DLBF_MAX_CELLS + 1];  /* Q(i, a) */
    unsigned        cells[DLBF_MAX_GROUP + 1];  /* a */
    unsigned        sorted[DLBF_MAX_GROUP + 1]; /* a s(a): the bits that sorting saves */
    unsigned        pairs[DLBF_MAX_GROUP + 1];  /* a (a - 1) / 2 */
    double          rare; /* blocks with a smaller chance would not be seen in the sum */
    double          sum;  /* of a 2^-L, over the buckets of all blocks so far */
} block_sum;

#define TOO_RARE 1e-9

/* The sum of dlbf_match over the buckets of a block, without going from bucket to bucket: planning
 * spends much of its time here. With the lengths of tamis_dlbf_lengths the first buckets, `longer`
 * of them, have one bit more. So their cells match half as often, and their pairs a quarter. */
static double block_match(const block_sum *all) {
    unsigned const group = (unsigned)all->geometry[DLBF_GROUP], total = all->cells[group];
    unsigned const bits = all->layout.data_bits + all->sorted[group];
    unsigned       length = total == 0 ? all->layout.longest : bits / total, longer = 0;
    if (length < all->layout.longest) {
        while (longer < group && all->cells[longer + 1] <= bits - total * length) longer++;
    } else {
        length = all->layout.longest;
    }
    double const p = 1 / (double)(UINT64_C(1) << length);
    return p * (total - all->cells[longer] / 2.0) -
           p * p * (all->pairs[group] - all->pairs[longer] * 0.75);
}

/* All loads of the buckets from `bucket` on; `chance` is that of the loads before it. The depth is
 * at most DLBF_MAX_GROUP. */
static void add_blocks(block_sum *all, unsigned bucket, double chance) {
    if (bucket == DLBF_MAX_GROUP || bucket == all->geometry[DLBF_GROUP]) {
        all->sum += chance * block_match(all);
        return;
    }
    for (unsigned a = 0; a <= all->geometry[DLBF_CELLS]; a++) {
        if (chance * all->share[a] < all->rare) continue;
        unsigned const sorted = a * codes_sorted(all->geometry[DLBF_SORTING], a);
        all->cells[bucket + 1] = all->cells[bucket] + a;
        all->sorted[bucket + 1] = all->sorted[bucket] + sorted;
        all->pairs[bucket + 1] = all->pairs[bucket] + a * (a - 1) / 2;
        add_blocks(all, bucket + 1, chance * all->share[a]);
    }
}

/* Equation (1), a subtable at a time. The sum over a block is that of all its buckets, and a key
 * meets one of them. What two subtables match is counted once. */
double tamis_dlbf_fpr_by(const uint64_t *g, const fluid *law) {
    block_sum all = { .geometry = g };
    double    hit = 0;
    if (!tamis_dlbf_layout(g, &all.layout)) return INFINITY;
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned a = 0; a <= g[DLBF_CELLS]; a++) all.share[a] = dlbf_share_with(g, law, i, a);
        all.rare = g[DLBF_GROUP] == 1 ? 0 : TOO_RARE * law->x[i][1];
        all.sum = 0;
        add_blocks(&all, 0, 1);
        hit += (1 - hit) * all.sum / (double)g[DLBF_GROUP];
    }
    return hit;
}

/* ------------------------------------------------------------------ overflow */

#define SMALL 10000 /* keys of a table whose overflow the limit does not tell */

/* Each bucket that would be higher than the highest is a refused key; such events are rare and
 * nearly independent, so P[any] = 1 - e^-expected. In small tables a rare load is far more frequent
 * than the limit says, but less so than the limit says for a cell less (test_dlbf_size.c). */
double tamis_dlbf_overflow_by(const uint64_t *g, const fluid *law, unsigned cells, double n) {
    double const   buckets = (double)g[DLBF_TABLES] * (double)g[DLBF_BUCKETS];
    unsigned const higher = n <= SMALL ? cells : cells + 1;
    return n <= cells ? 0 : -expm1(-buckets * tamis_fluid_share(law, higher));
}

/* ------------------------------------------------------------------ keys that are not stored */

/* The share of keys that matched when they were added, and so were not stored. It is the mean of
 * the fpr while the table was filled. The fpr rises with the load about as load x 2^-(bits / load),
 * so its mean is its final value over 2 + ln 2 bits / load. */
static double share_not_stored(const uint64_t *g, double n, double fpr) {
    return n > 0 ? fpr / (2 + 0.69 * (double)g[DLBF_BUCKET_BITS] / dlbf_load(g, n)) : 0;
}

double tamis_dlbf_added(const uint64_t *g, double stored, double fpr) {
    return stored / (1 - share_not_stored(g, stored, fmin(fpr, 1)));
}

/* ------------------------------------------------------------------ the forecast */

#define DLBF_RATE_ROUNDS 3 /* of rate and keys that are stored: each depends on the other */

/* The fluid law of n keys first. If the rate is so high that keys which are not stored matter, it
 * is computed again for those that are stored. A table of few keys is followed instead. In the end,
 * n / 2^64: keys with equal hashes cannot be distinguished by any kind. */
dlbf_forecast tamis_dlbf_forecast(const uint64_t *g, double n) {
    bool const is_followed = tamis_dlbf_is_followed(g, n);
    fluid      law;
    tamis_dlbf_law(g, n, &law);
    dlbf_forecast told = {
        .fpr = tamis_dlbf_fpr_by(g, &law),
        .overflow = tamis_dlbf_overflow_by(g, &law, (unsigned)g[DLBF_CELLS], n),
        .lines = tamis_fluid_tables_read(&law, (unsigned)g[DLBF_CELLS]),
    };
    for (unsigned i = 0; i < DLBF_RATE_ROUNDS && told.fpr > FOLLOWED_HITS && !is_followed; i++) {
        tamis_dlbf_law(g, n * (1 - share_not_stored(g, n, told.fpr)), &law);
        told.fpr = tamis_dlbf_fpr_by(g, &law);
    }
    if (is_followed) told.fpr = tamis_dlbf_followed_fpr(g, n, told.fpr);
    told.fpr += n * 0x1p-64;
    return told;
}
