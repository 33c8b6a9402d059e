/* size.c - see size.h. */
#include "size.h"

#include "codes.h"
#include "core/hash.h"
#include "theory/fluid.h"

#include <math.h>
#include <string.h>

#define SMALL 10000 /* keys of a table whose overflow the limit does not tell */
#define FEW 1000    /* keys for which the limit is too far away: see tamis_fluid_few */
#define HASH_BITS 64

/* ------------------------------------------------------------------ layout */

static bool is_between(uint64_t value, uint64_t low, uint64_t high) {
    return value >= low && value <= high;
}

static bool fields_are_possible(const uint64_t *g) {
    if (!is_between(g[DLBF_TABLES], DLBF_MIN_TABLES, DLBF_MAX_TABLES)) return false;
    if (!is_between(g[DLBF_CELLS], 1, DLBF_MAX_CELLS)) return false;
    if (g[DLBF_BUCKET_BITS] != 64 && g[DLBF_BUCKET_BITS] != 128) return false;
    if (g[DLBF_GROUP] != 1 && g[DLBF_GROUP] != DLBF_MAX_GROUP) return false;
    if (!is_between(g[DLBF_BUCKETS], 1, DLBF_MAX_BUCKETS)) return false;
    return g[DLBF_BUCKETS] % g[DLBF_GROUP] == 0;
}

/* Are the sorted bits those of loads that there are, up to 2, and is one code enough for all? */
static bool sorting_is_possible(unsigned cells, uint64_t sorting) {
    if (codes_sorted(sorting, 0) != 0 || sorting >> (2 * cells + 2) != 0) return false;
    for (unsigned a = 1; a <= cells; a++) {
        if (codes_sorted(sorting, a) > CODES_MAX_SORTED) return false;
    }
    return codes_count(cells, sorting) <= 1u << CODES_MAX_BITS;
}

/* Do the bits that a load saves rise by no more than the shortest length, D / cells + s(cells)? */
static bool lengths_never_grow(unsigned cells, uint64_t sorting, unsigned bucket_data_bits) {
    unsigned const shortest = bucket_data_bits / cells + codes_sorted(sorting, cells);
    for (unsigned a = 0; a < cells; a++) {
        unsigned const before = a * codes_sorted(sorting, a);
        unsigned const after = (a + 1) * codes_sorted(sorting, a + 1);
        if (after > before + shortest) return false;
    }
    return true;
}

static unsigned least_of(unsigned a, unsigned b) {
    return a < b ? a : b;
}

bool tamis_dlbf_layout(const uint64_t *g, dlbf_layout *ret_layout) {
    if (!fields_are_possible(g)) return false;
    unsigned const cells = (unsigned)g[DLBF_CELLS], group = (unsigned)g[DLBF_GROUP];
    uint64_t const sorting = g[DLBF_SORTING];
    if (!sorting_is_possible(cells, sorting)) return false;
    unsigned const code_bits = codes_bits(codes_count(cells, sorting));
    unsigned const data_bits = (unsigned)g[DLBF_BUCKET_BITS] - code_bits;
    unsigned const index_bits = codes_bits(g[DLBF_BUCKETS]);
    if (!lengths_never_grow(cells, sorting, data_bits)) return false;
    dlbf_layout layout = { .code_bits = code_bits,
                           .data_bits = group * data_bits,
                           .shortest = data_bits / cells + codes_sorted(sorting, cells),
                           .longest = least_of(DLBF_MAX_LENGTH, HASH_BITS - index_bits),
                           .block_bytes = group * (unsigned)g[DLBF_BUCKET_BITS] / 8,
                           .blocks = g[DLBF_TABLES] * (g[DLBF_BUCKETS] / group) };
    layout.shortest = least_of(layout.shortest, layout.longest);
    *ret_layout = layout;
    return layout.shortest >= DLBF_MIN_LENGTH;
}

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
        ret_length[i] = is_less ? length + (before <= bits - total * length) : layout->longest;
    }
}

/* ------------------------------------------------------------------ prediction */

static double load_of(const uint64_t *g, double n) {
    return n / ((double)g[DLBF_TABLES] * (double)g[DLBF_BUCKETS]);
}

/* A little beyond the highest load all buckets are full, and nothing changes any more. */
static void law_of(const uint64_t *g, double n, fluid *ret_law) {
    unsigned const tables = (unsigned)g[DLBF_TABLES];
    if (n <= FEW)
        tamis_fluid_few(tables, (double)g[DLBF_BUCKETS], (unsigned)n, ret_law);
    else
        tamis_fluid_fill(tables, fmin(load_of(g, n), (double)g[DLBF_CELLS] + 4), INFINITY, ret_law);
}

/* Of the buckets of subtable i, the share with a load; those that would have more have all. */
static double share_of(const uint64_t *g, const fluid *law, unsigned i, unsigned load) {
    return law->x[i][load] - (load == g[DLBF_CELLS] ? 0 : law->x[i][load + 1]);
}

/* What a block is made of, and the mean of a 2^-L over all blocks, as far as it is known. */
typedef struct blocks {
    const uint64_t *geometry;
    dlbf_layout     layout;
    double          share[DLBF_MAX_CELLS + 1];
    unsigned        load[DLBF_MAX_GROUP];
    double          rare; /* chances that are too small to be seen in the mean */
    double          mean;
} blocks;

#define TOO_RARE 1e-9

/* One of a cells is hit with a chance of a p, less what hits two. */
static void add_block(blocks *all, double chance) {
    unsigned length[DLBF_MAX_GROUP];
    tamis_dlbf_lengths(all->geometry, &all->layout, all->load, length);
    for (unsigned i = 0; i < all->geometry[DLBF_GROUP]; i++) {
        double const a = all->load[i], p = ldexp(1, -(int)length[i]);
        all->mean += chance * a * p * (1 - (a - 1) * p / 2);
    }
}

/* All loads of the buckets from `bucket` on. */
static void add_blocks(blocks *all, unsigned bucket, double chance) {
    if (bucket == DLBF_MAX_GROUP || bucket == all->geometry[DLBF_GROUP]) {
        add_block(all, chance);
        return;
    }
    for (unsigned a = 0; a <= all->geometry[DLBF_CELLS]; a++) {
        if (chance * all->share[a] < all->rare) continue;
        all->load[bucket] = a;
        add_blocks(all, bucket + 1, chance * all->share[a]);
    }
}

static double fpr_of(const uint64_t *g, const fluid *law) {
    blocks all = { .geometry = g };
    double hit = 0;
    if (!tamis_dlbf_layout(g, &all.layout)) return INFINITY;
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned a = 0; a <= g[DLBF_CELLS]; a++) all.share[a] = share_of(g, law, i, a);
        all.rare = g[DLBF_GROUP] == 1 ? 0 : TOO_RARE * law->x[i][1];
        all.mean = 0;
        add_blocks(&all, 0, 1);
        hit += (1 - hit) * all.mean / (double)g[DLBF_GROUP];
    }
    return hit;
}

/* Keys that would have made a bucket higher than the highest found all theirs full. The limit knows
 * of no chance: in small tables a rare one is far more frequent, but less so than the limit says
 * for a cell less (test_dlbf_size.c). */
static double overflow_of(const uint64_t *g, const fluid *law, unsigned cells, double n) {
    double const   buckets = (double)g[DLBF_TABLES] * (double)g[DLBF_BUCKETS];
    unsigned const higher = n <= SMALL ? cells : cells + 1;
    return n <= cells ? 0 : -expm1(-buckets * tamis_fluid_share(law, higher));
}

/* A lookup goes from the left until it has found its key. */
static double lines_of(const uint64_t *g, const fluid *law) {
    double mean = 0, sum = 0;
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned j = 1; j <= g[DLBF_CELLS]; j++) {
            mean += (i + 1) * law->x[i][j];
            sum += law->x[i][j];
        }
    }
    return sum > 0 ? mean / sum : 1;
}

#define MANY_HITS 1e-3 /* an fpr from which on keys that are not stored, as they match, matter */

/* Of all keys, the share that matched when they came and so were not stored: the mean of the fpr
 * over the filling. The fpr rises with the load as load x 2^-(bits / load), about, so its mean is
 * its end over 2 + ln 2 bits / load. */
static double share_found(const uint64_t *g, double n, double fpr) {
    return n > 0 ? fpr / (2 + 0.69 * (double)g[DLBF_BUCKET_BITS] / load_of(g, n)) : 0;
}

double tamis_dlbf_added(const uint64_t *g, double stored, double fpr) {
    return stored / (1 - share_found(g, stored, fmin(fpr, 1)));
}

/* ------------------------------------------------------------------ few keys, followed */

/* In a table of few buckets, loads differ by chance, which the limit does not know, and the fpr is
 * mostly that of the fullest ones: at 29 keys the limit is a fifth too low. No law is known for
 * it. So such tables are followed, without their contents: so many lives, with dice that are always
 * the same, that the mean is good to about 1% (test_dlbf_size.c). */
#define FOLLOWED_BUCKETS 4096 /* in all; with more the limit is close, however few the keys are */
#define FOLLOWED_KEYS 5e4     /* in all lives */

typedef struct followed {
    const uint64_t *geometry;
    dlbf_layout     layout;
    uint64_t        dice;
    uint8_t         load[FOLLOWED_BUCKETS]; /* of each bucket, through all subtables */
} followed;

static uint64_t followed_roll(followed *table) {
    table->dice += HASH_GOLDEN;
    return mix64(table->dice);
}

/* P[a stranger whose bucket this is matches one of its cells]. */
static double followed_match(const followed *table, uint64_t bucket) {
    unsigned const group = (unsigned)table->geometry[DLBF_GROUP];
    unsigned       load[DLBF_MAX_GROUP], length[DLBF_MAX_GROUP];
    for (unsigned i = 0; i < group; i++) load[i] = table->load[bucket / group * group + i];
    tamis_dlbf_lengths(table->geometry, &table->layout, load, length);
    double const a = load[bucket % group], p = ldexp(1, -(int)length[bucket % group]);
    return a * p * (1 - (a - 1) * p / 2);
}

/* A key comes: to the least loaded of its buckets, the leftmost of several, unless that is full, or
 * the key matches in one of them. */
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

static double followed_fpr(const followed *table) {
    uint64_t const buckets = table->geometry[DLBF_BUCKETS];
    double         hit = 0; /* not 1 - P[missed]: rates of 1e-17 would be lost */
    for (uint64_t i = 0; i < table->geometry[DLBF_TABLES]; i++) {
        double sum = 0;
        for (uint64_t b = 0; b < buckets; b++) sum += followed_match(table, i * buckets + b);
        hit += (1 - hit) * sum / (double)buckets;
    }
    return hit;
}

static bool is_followed(const uint64_t *g, double n) {
    return n <= FEW && (double)g[DLBF_TABLES] * (double)g[DLBF_BUCKETS] <= FOLLOWED_BUCKETS;
}

/* The mean over many lives; `limit` is the fpr that the limit tells. */
static double follow_few(const uint64_t *g, double n, double limit) {
    followed     table = { .geometry = g };
    double const lives = ceil(FOLLOWED_KEYS / fmax(n, 16));
    double       sum = 0;
    if (!tamis_dlbf_layout(g, &table.layout)) return INFINITY;
    for (double life = 0; life < lives; life++) {
        memset(table.load, 0, sizeof table.load);
        for (double key = 0; key < n; key++) followed_add(&table, limit > MANY_HITS);
        sum += followed_fpr(&table);
    }
    return sum / lives;
}

dlbf_forecast tamis_dlbf_forecast(const uint64_t *g, double n) {
    fluid law;
    law_of(g, n, &law);
    dlbf_forecast told = { .fpr = fpr_of(g, &law),
                           .overflow = overflow_of(g, &law, (unsigned)g[DLBF_CELLS], n),
                           .lines = lines_of(g, &law) };
    for (unsigned i = 0; i < 3 && told.fpr > MANY_HITS && !is_followed(g, n); i++) {
        law_of(g, n * (1 - share_found(g, n, told.fpr)), &law);
        told.fpr = fpr_of(g, &law);
    }
    if (is_followed(g, n)) told.fpr = follow_few(g, n, told.fpr);
    told.fpr += n * 0x1p-64; /* equal hashes cannot be told apart by anybody */
    return told;
}

/* ------------------------------------------------------------------ sorting */

/* Of all buckets, those with a load: what one more sorted bit is worth there, as far as the codes
 * are concerned. In a group the bits that are saved are shared; alone they halve what the load adds
 * to the fpr. */
static double worth_of(const uint64_t *g, const fluid *law, unsigned load, unsigned data_bits) {
    double cells = 0;
    for (unsigned i = 0; i < law->tables; i++) cells += load * share_of(g, law, i, load);
    unsigned const length = data_bits / load + codes_sorted(g[DLBF_SORTING], load);
    return g[DLBF_GROUP] == 1 ? cells * ldexp(1, -(int)length) : cells;
}

/* The sorting with one more sorted bit at a load, or the same if that cannot be. */
static uint64_t sorted_more(const uint64_t *g, unsigned load, unsigned code_bits) {
    unsigned const cells = (unsigned)g[DLBF_CELLS];
    uint64_t const more = g[DLBF_SORTING] + (UINT64_C(1) << (2 * load));
    bool const     is_possible =
        codes_sorted(g[DLBF_SORTING], load) < CODES_MAX_SORTED &&
        codes_count(cells, more) <= 1u << code_bits &&
        lengths_never_grow(cells, more, (unsigned)g[DLBF_BUCKET_BITS] - code_bits);
    return is_possible ? more : g[DLBF_SORTING];
}

/* The best sorting with codes of so many bits: each time the bit that is worth most per code. */
static void sort_for(uint64_t *g, const fluid *law, unsigned code_bits) {
    unsigned const cells = (unsigned)g[DLBF_CELLS];
    unsigned const data_bits = (unsigned)g[DLBF_BUCKET_BITS] - code_bits;
    g[DLBF_SORTING] = 0;
    for (;;) {
        uint64_t best = g[DLBF_SORTING];
        double   most = 0;
        for (unsigned a = 1; a <= cells; a++) {
            uint64_t const more = sorted_more(g, a, code_bits);
            if (more == g[DLBF_SORTING]) continue;
            double const cost = codes_count(cells, more) - codes_count(cells, g[DLBF_SORTING]);
            double const worth = worth_of(g, law, a, data_bits) / cost;
            if (worth <= most) continue;
            most = worth;
            best = more;
        }
        if (best == g[DLBF_SORTING]) return;
        g[DLBF_SORTING] = best;
    }
}

/* The bits of a bucket that its cells have, and those that are told by the code. */
static double bits_of(const uint64_t *g, const fluid *law, unsigned code_bits) {
    double bits = (double)g[DLBF_BUCKET_BITS] - code_bits;
    for (unsigned a = 1; a <= g[DLBF_CELLS]; a++) {
        for (unsigned i = 0; i < law->tables; i++) {
            bits += a * codes_sorted(g[DLBF_SORTING], a) * share_of(g, law, i, a) / law->tables;
        }
    }
    return bits;
}

/* The best sorting of all sizes of a code, and its fpr. For groups it would take long to ask each
 * for its fpr; there it is the bits that count. */
static double sort_best(uint64_t *g, const fluid *law) {
    uint64_t best = 0;
    double   least = INFINITY;
    for (unsigned bits = codes_bits(g[DLBF_CELLS] + 1); bits <= CODES_MAX_BITS; bits++) {
        sort_for(g, law, bits);
        double const score = g[DLBF_GROUP] == 1 ? fpr_of(g, law) : -bits_of(g, law, bits);
        if (score >= least) continue;
        least = score;
        best = g[DLBF_SORTING];
    }
    g[DLBF_SORTING] = best;
    return g[DLBF_GROUP] == 1 ? least : fpr_of(g, law);
}

/* ------------------------------------------------------------------ choice */

typedef struct search {
    const tamis_need *need;
    const uint64_t   *fixed;
    double            n;     /* keys */
    double            least; /* bytes of the smallest so far */
    uint64_t          geometry[DLBF_FIELDS];
} search;

/* The highest load that overflow allows, and the best sorting. Returns the fpr. */
static double complete(const search *best, const fluid *law, uint64_t *g) {
    unsigned cells = 1;
    while (cells < DLBF_MAX_CELLS &&
           (cells < law->load || overflow_of(g, law, cells, best->n) > best->need->overflow))
        cells++;
    g[DLBF_CELLS] = best->fixed[DLBF_CELLS] != NEED_FREE ? best->fixed[DLBF_CELLS] : cells;
    if (!is_between(g[DLBF_CELLS], 1, DLBF_MAX_CELLS)) return INFINITY;
    if (overflow_of(g, law, (unsigned)g[DLBF_CELLS], best->n) > best->need->overflow)
        return INFINITY;
    g[DLBF_SORTING] = best->fixed[DLBF_SORTING];
    return g[DLBF_SORTING] != NEED_FREE ? fpr_of(g, law) : sort_best(g, law);
}

static bool set_buckets(const search *best, uint64_t *g, double load) {
    double const group = (double)g[DLBF_GROUP];
    double const needed = ceil(best->n / (load * (double)g[DLBF_TABLES]) / group) * group;
    if (!(needed <= (double)DLBF_MAX_BUCKETS)) return false;
    g[DLBF_BUCKETS] = (uint64_t)needed;
    return true;
}

/* No load is better than this: fingerprints need log2 of what an absent key meets, over the fpr,
 * and have the bits of a bucket and those that are sorted. */
static double load_limit(const search *best, const uint64_t *g) {
    double const bits = (double)g[DLBF_BUCKET_BITS], d = (double)g[DLBF_TABLES];
    double       load = DLBF_MAX_CELLS;
    while (bits / load + CODES_MAX_SORTED < log2(d * load / best->need->fpr)) load *= 0.97;
    return load;
}

/* The largest load that meets the need, to three digits; 0: there is none. */
static double best_load(const search *best, uint64_t *g) {
    double low = 0, high = load_limit(best, g);
    fluid  law, law_low;
    tamis_fluid_fill((unsigned)g[DLBF_TABLES], 0, INFINITY, &law_low);
    while (high - low > 1e-3 * high && high > 1e-3) {
        double const load = (low + high) / 2;
        law = law_low;
        tamis_fluid_go_on(&law, load);
        bool const is_good =
            set_buckets(best, g, load) && complete(best, &law, g) <= best->need->fpr;
        *(is_good ? &low : &high) = load;
        if (is_good) law_low = law;
    }
    return low;
}

/* Complete it for the buckets that it has, and keep it if it is good and the smallest. */
static bool try_buckets(search *best, uint64_t *g) {
    dlbf_layout layout;
    fluid       law;
    g[DLBF_CELLS] = DLBF_MAX_CELLS; /* for the law: not known yet */
    law_of(g, best->n, &law);
    double fpr = complete(best, &law, g);
    if (fpr < INFINITY && is_followed(g, best->n)) fpr = follow_few(g, best->n, fpr);
    fpr += best->n * 0x1p-64;
    bool const is_good = best->need->fpr > 0 ? fpr <= best->need->fpr : fpr < INFINITY;
    if (!is_good || !tamis_dlbf_layout(g, &layout)) return false;
    double const bytes = (double)layout.blocks * layout.block_bytes;
    if (bytes >= best->least) return true;
    best->least = bytes;
    for (unsigned i = 0; i < DLBF_FIELDS; i++) best->geometry[i] = g[i];
    return true;
}

#define USUAL_LOAD(bits) ((bits) == 64 ? 4 : 6.4) /* of the paper */

/* Buckets of a size that is given. Few keys are a little less even than their limit. */
static void try_size(search *best, uint64_t *g) {
    if (best->fixed[DLBF_BUCKETS] != NEED_FREE) {
        g[DLBF_BUCKETS] = best->fixed[DLBF_BUCKETS];
        if (g[DLBF_BUCKETS] >= 1) (void)try_buckets(best, g);
        return;
    }
    bool const is_any = best->need->fpr <= 0;
    double     load = is_any ? USUAL_LOAD(g[DLBF_BUCKET_BITS]) : best_load(best, g);
    for (unsigned i = 0; i < 100 && load > 0; i++, load *= 0.99) {
        if (!set_buckets(best, g, load) || try_buckets(best, g)) return;
    }
}

bool tamis_dlbf_choose(const tamis_need *need, uint64_t *ret_geometry) {
    search best = {
        .need = need, .fixed = need->fixed, .n = (double)need->work.capacity, .least = INFINITY
    };
    uint64_t const bits_fixed = need->fixed[DLBF_BUCKET_BITS];
    bool const     is_single = need_is_fast(need) || best.n <= FEW;
    uint64_t       g[DLBF_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (g[DLBF_TABLES] == NEED_FREE) g[DLBF_TABLES] = 3;
    if (g[DLBF_GROUP] == NEED_FREE) g[DLBF_GROUP] = is_single ? 1 : DLBF_MAX_GROUP;
    if (!is_between(g[DLBF_TABLES], DLBF_MIN_TABLES, DLBF_MAX_TABLES)) return false;
    if (g[DLBF_GROUP] != 1 && g[DLBF_GROUP] != DLBF_MAX_GROUP) return false;
    for (uint64_t bits = 64; bits <= 128; bits *= 2) {
        if (bits_fixed != NEED_FREE && bits_fixed != bits) continue;
        g[DLBF_BUCKET_BITS] = bits;
        try_size(&best, g);
    }
    if (best.least == INFINITY) return false;
    memcpy(ret_geometry, best.geometry, sizeof best.geometry);
    return true;
}
