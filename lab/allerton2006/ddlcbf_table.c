/* ddlcbf_table.c - a dynamic d-left counting filter, written from the paper alone.
 *
 * A cell here is a (b, r) and as many of the bits after it as its length says. Nothing is packed.
 * Keys with the same (b, r) go to one bucket (III.A). When a length shrinks, cells that become
 * equal become one with a larger counter; so however full a bucket is, it can take a key whose (b,
 * r) it has. The paper also allows such keys to go to any bucket; that is an option here.
 */
#include "ddlcbf.h"

#include <math.h>
#include <stdlib.h>

#define RANGE_BITS 25

typedef struct cell {
    uint32_t print, more; /* (b, r); the bits after it, those beyond the length 0 */
    uint8_t  length, copies;
} cell;

typedef struct ddl_bucket {
    cell    cells[DLCBF_PAPER_CELLS + 1];
    uint8_t n, peak;
} ddl_bucket;

typedef struct table {
    ddlcbf_config config;
    uint64_t      factors[DLCBF_PAPER_TABLES];
    ddl_bucket    buckets[DLCBF_ALL_BUCKETS];
} table;

static ddl_bucket *bucket_in(table *filter, unsigned i, uint32_t print) {
    uint32_t const at = (uint32_t)(filter->factors[i] * print) % (1u << RANGE_BITS);
    return &filter->buckets[i * DLCBF_PAPER_BUCKETS + (at >> DLCBF_PAPER_BITS)];
}

static uint32_t cut(uint32_t more, unsigned length) {
    unsigned const bits = length - DDLCBF_LEAST;
    return bits == 0 ? 0 : more >> (32 - bits) << (32 - bits);
}

static bool matches(const cell *stored, uint32_t print, uint32_t more) {
    return stored->print == print && stored->more == cut(more, stored->length);
}

/* ------------------------------------------------------------------ lengths */

static unsigned at_least(unsigned length) {
    return length < DDLCBF_LEAST ? DDLCBF_LEAST : length > DDLCBF_MOST ? DDLCBF_MOST : length;
}

/* No cell longer than this. */
static void shorten(ddl_bucket *bucket, unsigned length) {
    for (unsigned i = 0; i < bucket->n; i++) {
        cell *const at = &bucket->cells[i];
        if (at->length > length) at->length = (uint8_t)length;
        at->more = cut(at->more, at->length);
    }
}

/* Two lengths: the shortest cells keep their length. The others and the new cell, which is the
 * last, share the remaining bits. If they would not be longer than the shortest, all cells get the
 * same length. */
static unsigned long_length(const ddl_bucket *bucket) {
    unsigned shortest = DDLCBF_MOST, n_short = 0, limit = DDLCBF_MOST;
    for (unsigned i = 0; i + 1 < bucket->n; i++) {
        if (bucket->cells[i].length < shortest) shortest = bucket->cells[i].length;
    }
    for (unsigned i = 0; i + 1 < bucket->n; i++) {
        if (bucket->cells[i].length == shortest)
            n_short++;
        else if (bucket->cells[i].length < limit)
            limit = bucket->cells[i].length; /* it cannot grow */
    }
    unsigned const left = DDLCBF_ROOM - n_short * (shortest + 1),
                   each = left / (bucket->n - n_short);
    if (each <= shortest + 1) return at_least(DDLCBF_ROOM / bucket->n - 1);
    return each - 1 < limit ? each - 1 : limit;
}

static void merge_equal(ddl_bucket *bucket) {
    for (unsigned i = 0; i < bucket->n; i++) {
        for (unsigned k = i + 1; k < bucket->n; k++) {
            cell *const one = &bucket->cells[i], *const other = &bucket->cells[k];
            if (other->length != one->length || !matches(one, other->print, other->more)) continue;
            one->copies = (uint8_t)(one->copies + other->copies);
            bucket->cells[k--] = bucket->cells[--bucket->n];
        }
    }
}

/* ------------------------------------------------------------------ adding and removing keys */

/* The bucket that has (b, r) already; otherwise the least loaded one, the leftmost of several. */
static ddl_bucket *choose(table *filter, uint32_t print) {
    ddl_bucket *best = NULL;
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++) {
        ddl_bucket *const at = bucket_in(filter, i, print);
        for (unsigned k = 0; k < at->n && filter->config.is_forced; k++) {
            if (at->cells[k].print == print) return at;
        }
        if (best == NULL || at->n < best->n) best = at;
    }
    return best;
}

static void add(table *to, uint32_t print, uint32_t more) {
    ddl_bucket *const bucket = choose(to, print);
    for (unsigned i = 0; i < bucket->n; i++) {
        if (!matches(&bucket->cells[i], print, more)) continue;
        bucket->cells[i].copies++;
        return;
    }
    bucket->cells[bucket->n++] = (cell){ print, more, DDLCBF_MOST, 1 };
    if (bucket->n > bucket->peak) bucket->peak = bucket->n;
    shorten(bucket,
            to->config.lengths == 1 ? at_least(DDLCBF_ROOM / bucket->peak) : long_length(bucket));
    merge_equal(bucket);
    if (bucket->n > DLCBF_PAPER_CELLS) lab_die("a bucket of %u cells", bucket->n);
}

/* The longest match; NULL: there is none. */
static cell *find(table *filter, uint32_t print, uint32_t more, ddl_bucket **ret_bucket) {
    cell *best = NULL;
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++) {
        ddl_bucket *const at = bucket_in(filter, i, print);
        for (unsigned k = 0; k < at->n; k++) {
            cell *const stored = &at->cells[k];
            if (!matches(stored, print, more)) continue;
            if (best != NULL && stored->length <= best->length) continue;
            best = stored;
            *ret_bucket = at;
        }
    }
    return best;
}

static void drop(table *from, uint32_t print, uint32_t more) {
    ddl_bucket *bucket = NULL;
    cell *const found = find(from, print, more, &bucket);
    if (found == NULL) lab_die("a key is lost");
    if (--found->copies == 0) *found = bucket->cells[--bucket->n];
}

/* ------------------------------------------------------------------ one trial */

typedef struct key {
    uint32_t print, more;
} key;

static key draw(lab_random *random) {
    uint64_t const bits = lab_random_next(random);
    return (key){ (uint32_t)(bits >> (64 - RANGE_BITS)), (uint32_t)bits };
}

static void take_stock(table *filter, const key *keys, ddlcbf_outcome *outcome) {
    double n_cells = 0;
    for (unsigned i = 0; i < DLCBF_ALL_BUCKETS; i++) {
        const ddl_bucket *const at = &filter->buckets[i];
        outcome->peaks[at->peak]++;
        for (unsigned k = 0; k < at->n; k++) {
            outcome->rate += ldexp(1, -at->cells[k].length) / DLCBF_PAPER_BUCKETS;
            outcome->mean_length += at->cells[k].length;
            n_cells++;
        }
    }
    outcome->mean_length /= n_cells;
    for (unsigned i = 0; i < DLCBF_PAPER_KEYS; i++) {
        ddl_bucket *bucket;
        outcome->lost += find(filter, keys[i].print, keys[i].more, &bucket) == NULL;
    }
}

void ddlcbf_trial(const void *given, lab_random *random, void *ret_outcome) {
    table *const filter = lab_allocate(1, sizeof *filter);
    key *const   keys = lab_allocate(DLCBF_PAPER_KEYS, sizeof *keys);
    filter->config = *(const ddlcbf_config *)given;
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++)
        filter->factors[i] = lab_random_next(random) | 1;
    for (unsigned i = 0; i < DLCBF_PAPER_KEYS; i++) {
        keys[i] = draw(random);
        add(filter, keys[i].print, keys[i].more);
    }
    for (uint64_t step = 0; step < DLCBF_PAPER_STEPS; step++) {
        key *const slot = &keys[lab_random_below(random, DLCBF_PAPER_KEYS)];
        drop(filter, slot->print, slot->more);
        *slot = draw(random);
        add(filter, slot->print, slot->more);
    }
    take_stock(filter, keys, ret_outcome);
    free(keys);
    free(filter);
}
