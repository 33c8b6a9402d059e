/* size.c - see size.h. */
#include "size.h"

#include "core/checked.h"
#include "core/permute.h"
#include "peaks.h"
#include "theory/fluid.h"

#include <math.h>

static_assert(PREFIXES_MAX_CELLS <= LEVELS_MAX, "every number of cells has its level");

/* ------------------------------------------------------------------ layout */

static bool is_in(uint64_t value, uint64_t least, uint64_t most) {
    return value >= least && value <= most;
}

/* Bits of r and z: as many as the hash has behind the bucket. */
static unsigned string_bits(uint64_t buckets) {
    unsigned bits = PREFIXES_MAX_BITS;
    while (bits != 0 && buckets > PERMUTE_MAX >> bits) bits--;
    return bits;
}

bool tamis_ddlcbf_cells(const uint64_t *g, prefixes_shape *ret_cells) {
    bool const is_possible =
        is_in(g[DDLCBF_TABLES], DDLCBF_MIN_TABLES, DDLCBF_MAX_TABLES) &&
        is_in(g[DDLCBF_BUCKETS], 1, PERMUTE_MAX) && is_in(g[DDLCBF_CELLS], 1, PREFIXES_MAX_CELLS) &&
        is_in(g[DDLCBF_REMAINDER_BITS], PREFIXES_MIN_BITS, string_bits(g[DDLCBF_BUCKETS])) &&
        is_in(g[DDLCBF_COUNTER_BITS], 1, PREFIXES_MAX_COUNTER_BITS) &&
        is_in(g[DDLCBF_LENGTHS], 1, 2) &&
        is_in(g[DDLCBF_BUCKET_BYTES], PREFIXES_MIN_BYTES, PREFIXES_MAX_BYTES);
    if (!is_possible) return false;
    *ret_cells = (prefixes_shape){ .bytes = (uint16_t)g[DDLCBF_BUCKET_BYTES],
                                   .cells = (uint8_t)g[DDLCBF_CELLS],
                                   .counter_bits = (uint8_t)g[DDLCBF_COUNTER_BITS],
                                   .least = (uint8_t)g[DDLCBF_REMAINDER_BITS],
                                   .most = (uint8_t)string_bits(g[DDLCBF_BUCKETS]),
                                   .lengths = (uint8_t)g[DDLCBF_LENGTHS] };
    return prefixes_make(ret_cells);
}

bool tamis_ddlcbf_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t       buckets;
    prefixes_shape cells;
    return tamis_ddlcbf_cells(g, &cells) &&
           checked_mul(g[DDLCBF_BUCKETS], g[DDLCBF_TABLES], &buckets) &&
           checked_mul(buckets, g[DDLCBF_BUCKET_BYTES], ret_bytes);
}

/* ------------------------------------------------------------------ one length */

static double load_of(const uint64_t *g, double n) {
    return n / ((double)g[DDLCBF_TABLES] * (double)g[DDLCBF_BUCKETS]);
}

static double turns_of(double n, double lifetime) {
    return lifetime > n ? lifetime / n - 1 : 0;
}

/* The highest level there is. */
static unsigned last_level(uint64_t cells, double n) {
    return (unsigned)fmax(1, fmin((double)cells, n));
}

/* The rate from the cells of each length. */
static double rate_of(double sum) {
    return -expm1(-sum);
}

static double rate_by_levels(const levels *law, const prefixes_shape *s) {
    double sum = 0;
    for (unsigned level = 1; level <= s->cells; level++) {
        sum += ldexp(law->keys[level], -s->length[level]);
    }
    return rate_of(sum);
}

/* ------------------------------------------------------------------ buckets that are followed */

#define SMALL 512       /* buckets of a subtable that is followed */
#define SMALL_ALL 3072  /* and of all subtables: 15 KiB, and a subtable less than SMALL from 7 on */
#define SMALL_TURNS 6.0 /* after which buckets of two lengths look the same for ever */
#define FEW_BUCKETS 32  /* in all: fewer are not fluid */
#define FEW_TURNS 64.0  /* that these are followed */
#define FEW_STEPS 1e5   /* in all their lives */
#define LOOKS 7         /* at a table that looks the same for ever, half a turn apart */

/* A bucket without what is in its cells. */
typedef struct outline {
    uint8_t n[2], length[2], level;
} outline;

static prefixes outline_open(outline bucket) {
    return (prefixes){ .n = { bucket.n[0], bucket.n[1] },
                       .length = { bucket.length[0], bucket.length[1] },
                       .level = bucket.n[0] == 0 ? 0 : bucket.level };
}

static outline outline_close(const prefixes *p) {
    return (outline){ { (uint8_t)p->n[0], (uint8_t)p->n[1] },
                      { (uint8_t)p->length[0], (uint8_t)p->length[1] },
                      (uint8_t)p->level };
}

static outline outline_add(const prefixes_shape *s, outline bucket) {
    prefixes p = outline_open(bucket);
    (void)prefixes_put(s, &p, 0, s->most);
    return outline_close(&p);
}

static outline outline_remove(outline bucket, unsigned i) {
    prefixes p = outline_open(bucket);
    prefixes_take(&p, i);
    return outline_close(&p);
}

static double outline_rate(outline bucket) {
    return ldexp(bucket.n[0], -bucket.length[0]) + ldexp(bucket.n[1], -bucket.length[1]);
}

/* After filling, the outline follows from the load. */
static double filled_rate(const prefixes_shape *s, unsigned tables, double load) {
    fluid   law;
    outline bucket = { { 0, 0 }, { 0, 0 }, 0 };
    double  sum = 0;
    tamis_fluid_fill(tables, load, FLUID_MANY, &law);
    for (unsigned k = 1; k <= s->cells; k++) {
        bucket = outline_add(s, bucket);
        double const next = k == s->cells ? 0 : tamis_fluid_share(&law, k + 1);
        sum += (tamis_fluid_share(&law, k) - next) * outline_rate(bucket);
    }
    return rate_of(tables * sum);
}

/* A table of outlines. */
typedef struct outlines {
    const prefixes_shape *s;
    unsigned              tables;
    uint64_t              buckets, dice;
    outline               at[SMALL_ALL];
} outlines;

static uint64_t outlines_roll(outlines *table, uint64_t n) {
    table->dice += HASH_GOLDEN;
    return fastrange(mix64(table->dice), n);
}

static void outlines_add(outlines *table) {
    outline *least = NULL;
    for (unsigned i = 0; i < table->tables; i++) {
        outline *const here = &table->at[i * table->buckets + outlines_roll(table, table->buckets)];
        if (least == NULL || here->n[0] + here->n[1] < least->n[0] + least->n[1]) least = here;
    }
    *least = outline_add(table->s, *least);
}

/* Any place of any bucket, until there is a cell in it. */
static void outlines_remove(outlines *table) {
    for (;;) {
        outline *const here = &table->at[outlines_roll(table, table->tables * table->buckets)];
        unsigned const cell = (unsigned)outlines_roll(table, table->s->cells);
        if (cell >= (unsigned)here->n[0] + here->n[1]) continue;
        *here = outline_remove(*here, cell);
        return;
    }
}

static double outlines_rate(const outlines *table) {
    double sum = 0;
    for (uint64_t i = 0; i < table->tables * table->buckets; i++) sum += outline_rate(table->at[i]);
    return rate_of(sum / (double)table->buckets);
}

/* Filled with n keys, and then each replaced so many times; the mean of the last looks at it. */
static double outlines_live(outlines *table, double n, double turns, unsigned looks) {
    double sum = 0, steps = 0;
    memset(table->at, 0, sizeof table->at);
    for (double i = 0; i < n; i++) outlines_add(table);
    for (unsigned look = 0; look < looks; look++) {
        double const end = n * (turns - (looks - 1 - look) / 2.0);
        for (; steps < end; steps++) {
            outlines_remove(table);
            outlines_add(table);
        }
        sum += outlines_rate(table);
    }
    return sum / looks;
}

/* Two lengths, or few buckets, which are followed many times. */
static double followed_rate(const prefixes_shape *s, const uint64_t *g, double load, double turns) {
    outlines table = { .s = s, .tables = (unsigned)g[DDLCBF_TABLES] };
    table.buckets = min_u64(min_u64(g[DDLCBF_BUCKETS], SMALL), SMALL_ALL / table.tables);
    double const buckets = (double)(table.tables * table.buckets),
                 n = fmax(1, rint(load * buckets));
    bool const   is_settled = s->lengths == 2 && turns >= SMALL_TURNS;
    double const lived = fmin(turns, s->lengths == 2 ? SMALL_TURNS : FEW_TURNS);
    double const lives = buckets < FEW_BUCKETS ? ceil(FEW_STEPS / (n * (1 + lived) + 1e3)) : 1;
    double       sum = 0;
    for (double i = 0; i < lives; i++)
        sum += outlines_live(&table, n, lived, is_settled ? LOOKS : 1);
    return sum / lives;
}

/* ------------------------------------------------------------------ prediction */

/* The rate when n keys have a cell each. */
static double rate_of_cells(const uint64_t *g, const prefixes_shape *s, double n, double turns) {
    double const   load = fmin(load_of(g, n), (double)g[DDLCBF_CELLS]);
    unsigned const tables = (unsigned)g[DDLCBF_TABLES];
    bool const     is_few = tables * g[DDLCBF_BUCKETS] < FEW_BUCKETS;
    levels         law;
    if (is_few || (s->lengths == 2 && turns > 0)) return followed_rate(s, g, load, turns);
    if (s->lengths == 2) return filled_rate(s, tables, load);
    tamis_levels(tables, load, turns, last_level(s->cells, n), &law);
    return rate_by_levels(&law, s);
}

/* Where cells count copies, a key that matches a cell when it comes has none of its own. This is
 * the share of keys that have.
 *
 * Under churn each of S strings is that of Poisson(n / S) keys, and has a cell if it is that of
 * any. So S fpr cells serve n = -S ln(1 - fpr) keys.
 *
 * While a table is filled, the fpr is lower before the end: it rises as load x 2^-(bits / load),
 * about, so the mean of it is its end over 2 + ln 2 bits / load. Of the keys of the filling, a
 * share of e^-turns is still there in the end. */
static double share_with_cells(const prefixes_shape *s, double load, double turns, double fpr) {
    double const churned = fpr / -log1p(-fpr);
    double const filled = 1 - fpr / (2 + 0.69 * s->room / load);
    return churned + (filled - churned) * exp(-turns);
}

#define MANY_MATCHES 1e-4 /* an fpr from which on keys that match when they come matter */
#define ROUNDS 8          /* of finding the share of keys with cells; each is ten times closer */

/* Keys with the same string are one string for strangers, so with a sum of 2^-length over all n
 * keys the rate is 1 - e^-sum. If only m of them have cells, their sum is m / n of that. */
double tamis_ddlcbf_fpr(const uint64_t *g, double n, double lifetime) {
    double const   turns = turns_of(n, lifetime);
    prefixes_shape s;
    if (!tamis_ddlcbf_cells(g, &s)) return 1;
    double rate = rate_of_cells(g, &s, n, turns), share = 1;
    for (unsigned i = 0; i < ROUNDS && s.counter_bits > 1 && rate > MANY_MATCHES; i++) {
        double const before = share;
        share = (share + share_with_cells(&s, load_of(g, n), turns, fmin(rate, 0.99))) / 2;
        rate = -expm1(log1p(-rate_of_cells(g, &s, share * n, turns)) / share);
        if (fabs(share - before) < 1e-4 * (1 - share)) break;
    }
    return rate;
}

/* The law that counts, of tables with so many buckets: without turns, that of filling. */
static void law_of(uint64_t tables, bool is_churned, double load, double buckets, fluid *ret_law) {
    if (is_churned)
        tamis_fluid_churn((unsigned)tables, load, buckets, ret_law);
    else
        tamis_fluid_fill((unsigned)tables, load, buckets, ret_law);
}

double tamis_ddlcbf_overflow(const uint64_t *g, double n, double lifetime) {
    fluid law;
    if (n <= (double)g[DDLCBF_CELLS]) return 0;
    if (load_of(g, n) > (double)g[DDLCBF_CELLS]) return 1;
    law_of(g[DDLCBF_TABLES], lifetime > n, load_of(g, n), (double)g[DDLCBF_BUCKETS], &law);
    return fmin(1, fmax(n, lifetime) * tamis_fluid_all(&law, (unsigned)g[DDLCBF_CELLS]));
}

/* A lookup goes from the left until it has found its key. */
void tamis_ddlcbf_touches(const uint64_t *g, double n, double *ret_present, double *ret_absent,
                          double *ret_add) {
    double const bytes = (double)g[DDLCBF_BUCKET_BYTES], tables = (double)g[DDLCBF_TABLES];
    bool const   is_aligned = 64 % g[DDLCBF_BUCKET_BYTES] == 0;
    double const each = is_aligned ? 1 : 1 + (bytes - 1) / 64; /* lines of a bucket */
    double       mean = 0, sum = 0;
    fluid        law;
    law_of(g[DDLCBF_TABLES], true, fmin(load_of(g, n), (double)g[DDLCBF_CELLS]), INFINITY, &law);
    for (unsigned i = 0; i < law.tables; i++) {
        for (unsigned j = 1; j <= FLUID_MAX_HEIGHT; j++) {
            mean += (i + 1) * law.x[i][j];
            sum += law.x[i][j];
        }
    }
    *ret_present = each * (sum > 0 ? mean / sum : 1);
    *ret_absent = *ret_add = each * tables;
}

/* ------------------------------------------------------------------ choice */

/* The smallest table so far. */
typedef struct search {
    const tamis_need *need;
    double            keys, lifetime;
    uint64_t          fixed[DDLCBF_FIELDS];
    double            least;
    uint64_t          geometry[DDLCBF_FIELDS];
} search;

/* The largest load at which c cells are enough; with buckets that are fixed, the one they have. */
static double best_load(const search *best, const uint64_t *g) {
    unsigned const tables = (unsigned)g[DDLCBF_TABLES], c = (unsigned)g[DDLCBF_CELLS];
    double const   n = best->keys, chance = best->need->overflow / fmax(n, best->lifetime);
    if (best->fixed[DDLCBF_BUCKETS] != NEED_FREE) return fmin(c, load_of(g, n));
    return best->lifetime > n ? tamis_fluid_churn_load(tables, c, chance, n, c)
                              : tamis_fluid_fill_load(tables, c, chance, n, c);
}

/* Remainders as long as full buckets have them, unless they are fixed. */
static bool set_remainder(const search *best, uint64_t *g) {
    prefixes_shape s;
    if (best->fixed[DDLCBF_REMAINDER_BITS] != NEED_FREE) return tamis_ddlcbf_cells(g, &s);
    g[DDLCBF_REMAINDER_BITS] = PREFIXES_MIN_BITS;
    if (!tamis_ddlcbf_cells(g, &s)) return false;
    g[DDLCBF_REMAINDER_BITS] = s.length[s.cells];
    return true;
}

/* As many buckets as there must be, and their remainders. */
static bool set_buckets(const search *best, uint64_t *g, double load) {
    double const needed = ceil(best->keys / (load * (double)g[DDLCBF_TABLES]));
    if (!(needed < 0x1p60)) return false;
    if (best->fixed[DDLCBF_BUCKETS] == NEED_FREE) g[DDLCBF_BUCKETS] = (uint64_t)fmax(1, needed);
    return set_remainder(best, g);
}

/* Buckets of so many bytes. Returns whether they are long enough for the rate. */
static bool try_bytes(search *best, uint64_t *g, double load, const levels *law) {
    prefixes_shape s;
    uint64_t       bytes;
    if (!set_buckets(best, g, load) || !tamis_ddlcbf_bytes(g, &bytes)) return false;
    if (!tamis_ddlcbf_cells(g, &s)) return false;
    if (best->need->fpr > 0 && rate_by_levels(law, &s) > best->need->fpr) return false;
    if ((double)bytes >= best->least) return true;
    best->least = (double)bytes;
    for (unsigned i = 0; i < DDLCBF_FIELDS; i++) best->geometry[i] = g[i];
    return true;
}

static void try_cells(search *best, uint64_t *g) {
    uint64_t const fixed = best->fixed[DDLCBF_BUCKET_BYTES];
    double const   load = best_load(best, g);
    uint64_t       bytes = fixed != NEED_FREE ? fixed : PREFIXES_MIN_BYTES;
    uint64_t const last = fixed != NEED_FREE ? fixed : PREFIXES_MAX_BYTES;
    levels         law;
    if (!(load > 0)) return;
    tamis_levels((unsigned)g[DDLCBF_TABLES], load, turns_of(best->keys, best->lifetime),
                 last_level(g[DDLCBF_CELLS], best->keys), &law);
    for (g[DDLCBF_BUCKET_BYTES] = bytes; g[DDLCBF_BUCKET_BYTES] <= last; g[DDLCBF_BUCKET_BYTES]++) {
        if (try_bytes(best, g, load, &law)) return;
    }
}

/* Numbers of cells whose codes leave little unused, and of subtables; the others are not better. */
static const uint64_t good_cells[] = { 11, 15 }, good_tables[] = { 3, 4 };

static void try_all(search *best, uint64_t *g) {
    uint64_t const tables = best->fixed[DDLCBF_TABLES], cells = best->fixed[DDLCBF_CELLS];
    for (unsigned i = 0; i < (tables == NEED_FREE ? 2 : 1); i++) {
        for (unsigned k = 0; k < (cells == NEED_FREE ? 2 : 1); k++) {
            g[DDLCBF_TABLES] = tables == NEED_FREE ? good_tables[i] : tables;
            g[DDLCBF_CELLS] = cells == NEED_FREE ? good_cells[k] : cells;
            if (!is_in(g[DDLCBF_TABLES], DDLCBF_MIN_TABLES, DDLCBF_MAX_TABLES)) return;
            if (is_in(g[DDLCBF_CELLS], 1, PREFIXES_MAX_CELLS)) try_cells(best, g);
        }
    }
}

/* The fewest counter bits that hold all planned copies of a key in one cell, and count as far as is
 * asked. */
static uint64_t enough_counter_bits(const tamis_need *need) {
    uint64_t bits = need_can(need, TAMIS_CAN_COUNT) ? 2 : 1;
    for (; bits < PREFIXES_MAX_COUNTER_BITS; bits++) {
        uint64_t const full = bits_low((unsigned)bits);
        if (full >= need->work.copies && DDLCBF_COPIES * full >= need->count_to) break;
    }
    return bits;
}

bool tamis_ddlcbf_choose(const tamis_need *need, uint64_t *ret_geometry) {
    search   best = { .need = need,
                      .keys = (double)need->work.capacity + DDLCBF_COPIES - 1,
                      .lifetime = (double)need->work.lifetime,
                      .least = INFINITY };
    uint64_t g[DDLCBF_FIELDS];
    if (need->prints != 0) return false; /* the rate that is planned is that of z too */
    memcpy(best.fixed, need->fixed, sizeof best.fixed);
    if (need->fpr <= 0) { /* as in the paper, where nothing is said */
        uint64_t *const fixed = best.fixed;
        if (fixed[DDLCBF_TABLES] == NEED_FREE) fixed[DDLCBF_TABLES] = 4;
        if (fixed[DDLCBF_CELLS] == NEED_FREE) fixed[DDLCBF_CELLS] = 8;
        if (fixed[DDLCBF_BUCKET_BYTES] == NEED_FREE) fixed[DDLCBF_BUCKET_BYTES] = 16;
    }
    memcpy(g, best.fixed, sizeof g);
    if (g[DDLCBF_COUNTER_BITS] == NEED_FREE) g[DDLCBF_COUNTER_BITS] = enough_counter_bits(need);
    if (g[DDLCBF_LENGTHS] == NEED_FREE) g[DDLCBF_LENGTHS] = 1;
    if (g[DDLCBF_COUNTER_BITS] > PREFIXES_MAX_COUNTER_BITS) return false;
    if (ddlcbf_full(g) < need->work.copies) return false;
    try_all(&best, g);
    if (best.least == INFINITY) return false;
    memcpy(ret_geometry, best.geometry, sizeof best.geometry);
    return true;
}
