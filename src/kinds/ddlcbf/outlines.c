/* outlines.c - see outlines.h. */
#include "outlines.h"

#include "core/hash.h"
#include "theory/fluid.h"

#include <string.h>

#define OUTLINES_MAX_BUCKETS \
    512                /* of a subtable that is followed: a larger table has the same rate */
#define MAX_ALL 3072   /* and of all subtables: 15 KiB of stack; from 7 on, they get fewer each */
#define TURNS_TWO 6.0  /* after which buckets of two lengths look the same for ever */
#define TURNS_FEW 64.0 /* that a few buckets of one length are followed */
#define STEPS_FEW 1e5  /* in all lives of a few buckets */
#define LOOKS 7        /* at a table that looks the same for ever, half a turn apart */

/* ------------------------------------------------------------------ a bucket */

/* A bucket without what is in its cells: how many there are of each length, and its level. */
typedef struct outline {
    uint8_t n[2], length[2], level;
} outline;

/* The kind's own rules change a bucket: an outline becomes a `prefixes` and back. */
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

/* Where all cells of a bucket have the same length, it follows from the level. This is what
 * one_length_fit() does for a key with all bits known, without a bucket: it takes a tenth of the
 * time. */
TAMIS_INLINE void outline_add_one_length(const prefixes_shape *s, outline *bucket) {
    unsigned const n = bucket->n[0];
    unsigned       level = n == 0 ? 0 : bucket->level;
    if (n == s->cells) return;
    if (level <= n) level = n + 1;
    bucket->n[0] = (uint8_t)(n + 1);
    bucket->length[0] = s->length[level];
    bucket->level = (uint8_t)level;
}

/* A key with all bits known; which bits they are does not matter here, so 0. */
TAMIS_INLINE void outline_add(const prefixes_shape *s, outline *bucket) {
    if (s->lengths == 1) {
        outline_add_one_length(s, bucket);
        return;
    }
    prefixes p = outline_open(*bucket);
    (void)prefixes_put(s, &p, 0, s->most);
    *bucket = outline_close(&p);
}

/* With one length, which cell goes does not matter: the level stays, and so do the lengths. */
TAMIS_INLINE void outline_remove(const prefixes_shape *s, outline *bucket, unsigned cell) {
    if (s->lengths == 1) {
        bucket->n[0]--;
        return;
    }
    prefixes p = outline_open(*bucket);
    prefixes_take(&p, cell);
    *bucket = outline_close(&p);
}

static unsigned outline_load(const outline *bucket) {
    return (unsigned)bucket->n[0] + bucket->n[1];
}

/* The sum of 2^-length over its cells: two of 24 bits and one of 40 make 2 x 2^-24 + 2^-40. */
static double outline_sum(outline bucket) {
    return ldexp(bucket.n[0], -bucket.length[0]) + ldexp(bucket.n[1], -bucket.length[1]);
}

/* ------------------------------------------------------------------ filled, without dice */

/* Equation (1) of section II.A: the share of buckets with k cells, times what such a bucket adds.
 * Buckets that would have more than all cells have all. */
double tamis_outlines_filled_rate(const prefixes_shape *s, unsigned tables, double load) {
    fluid   law;
    outline bucket = { { 0, 0 }, { 0, 0 }, 0 };
    double  sum = 0;
    tamis_fluid_fill(tables, load, FLUID_MANY, &law);
    for (unsigned k = 1; k <= s->cells; k++) {
        outline_add(s, &bucket);
        double const next = k == s->cells ? 0 : tamis_fluid_share(&law, k + 1);
        sum += (tamis_fluid_share(&law, k) - next) * outline_sum(bucket);
    }
    return ddlcbf_rate(tables * sum);
}

/* ------------------------------------------------------------------ a table */

typedef struct outlines {
    const prefixes_shape *s;
    unsigned              tables;
    uint64_t              buckets, dice;
    outline               at[MAX_ALL];
} outlines;

/* A number below n. */
static uint64_t outlines_roll(outlines *table, uint64_t n) {
    table->dice += HASH_GOLDEN;
    return fastrange(mix64(table->dice), n);
}

/* d-left: the least loaded of d random buckets, the leftmost of several. A full bucket gets no more
 * cells: outline_add() changes nothing then. */
static void outlines_add(outlines *table) {
    outline *least = NULL;
    for (unsigned i = 0; i < table->tables; i++) {
        outline *const here = &table->at[i * table->buckets + outlines_roll(table, table->buckets)];
        if (least == NULL || outline_load(here) < outline_load(least)) least = here;
    }
    outline_add(table->s, least);
}

/* A random key: any place of any bucket, until there is a cell in it. */
static void outlines_remove(outlines *table) {
    for (;;) {
        outline *const here = &table->at[outlines_roll(table, table->tables * table->buckets)];
        unsigned const cell = (unsigned)outlines_roll(table, table->s->cells);
        if (cell >= outline_load(here)) continue;
        outline_remove(table->s, here, cell);
        return;
    }
}

/* An absent key has one bucket in each subtable: so the sum over all cells is divided by the
 * buckets of one of them. */
static double outlines_rate_now(const outlines *table) {
    double sum = 0;
    for (uint64_t i = 0; i < table->tables * table->buckets; i++) sum += outline_sum(table->at[i]);
    return ddlcbf_rate(sum / (double)table->buckets);
}

/* Fill a table with n keys, then replace each of them this many times. The mean rate of the last
 * `looks`, which are half a turn apart: with 7 looks and 6 turns, at 3, 3.5, ... and 6 turns. One
 * look is at the end. */
static double outlines_live(outlines *table, double n, double turns, unsigned looks) {
    double sum = 0, steps = 0;
    memset(table->at, 0, table->tables * table->buckets * sizeof table->at[0]);
    for (double i = 0; i < n; i++) outlines_add(table);
    /* A step replaces one key: a random one goes, and a new one comes. */
    for (unsigned look = 0; look < looks; look++) {
        double const end = n * (turns - (looks - 1 - look) / 2.0);
        for (; steps < end; steps++) {
            outlines_remove(table);
            outlines_add(table);
        }
        sum += outlines_rate_now(table);
    }
    return sum / looks;
}

/* A large table with two lengths lives once, and is looked at several times if it has settled. A
 * few buckets live many times, since each life is another: the mean is what counts. */
double tamis_outlines_rate(const prefixes_shape *s, unsigned tables, uint64_t buckets, double load,
                           double turns) {
    outlines table = { .s = s, .tables = tables };
    table.buckets = min_u64(min_u64(buckets, OUTLINES_MAX_BUCKETS), MAX_ALL / tables);
    double const   all = (double)(tables * table.buckets), n = fmax(1, rint(load * all));
    bool const     is_settled = s->lengths == 2 && turns >= TURNS_TWO;
    double const   lived = fmin(turns, s->lengths == 2 ? TURNS_TWO : TURNS_FEW);
    double const   lives = all < OUTLINES_FEW ? ceil(STEPS_FEW / (n * (1 + lived) + 1e3)) : 1;
    unsigned const looks = is_settled ? LOOKS : 1;
    double         sum = 0;
    for (double i = 0; i < lives; i++) sum += outlines_live(&table, n, lived, looks);
    return sum / lives;
}
