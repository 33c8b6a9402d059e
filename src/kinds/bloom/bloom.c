/* bloom.c - the Bloom filter: the baseline that everybody knows.
 *
 * Paper: B. H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", CACM 13(7),
 * 1970. Names below: m places (bits), k hashes, n keys.
 *
 * Idea
 * ----
 * A key marks k random places among m bits. It is in the set if all its k places are marked.
 *
 *        add "apple"   0 1 0 0 1 0 0 0 0 1 0 ...     k = 3 places become 1
 *        has "pear"    ^             ^   ^           one of them is 0: certainly not there
 *
 * Why it cannot remove: a mark may belong to several keys, and nothing says to how many. That is
 * what every other kind in this folder is about.
 *
 * The size is the smallest m over all k for which the exact rate (theory/bloom_rate.h) meets the
 * target; the body is then filled up to whole cache lines, which makes the rate a little better.
 *
 * Invariants (checked by bloom_validate)
 *   I1  bits of the body beyond the m places are zero;
 *   I2  keys, which counts the adds that marked something new, is 0 just when nothing is marked;
 *   I3  at most k x keys places are marked;
 *   I4  nothing is saturated.
 */
#include "core/bits.h"
#include "core/checked.h"
#include "core/le.h"
#include "core/probes.h"
#include "kind.h"
#include "theory/bloom_rate.h"

#include <math.h>

enum { BITS, HASHES }; /* the geometry: m, k */

static_assert(BLOOM_MAX_K == PROBES_MAX && BLOOM_FREE == KIND_FREE, "one limit, one mark");

/* ------------------------------------------------------------------ planning */

/* Whole cache lines, all of them places. */
static uint64_t bloom_fill_lines(uint64_t places) {
    return (places + 511) & ~UINT64_C(511);
}

static tamis_status bloom_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t places = need->fixed[BITS], k = need->fixed[HASHES];
    if (!tamis_bloom_choose(need->fpr, (double)need->capacity, &places, &k)) {
        return TAMIS_ERR_CANNOT;
    }
    ret_geometry[BITS] = need->fixed[BITS] == KIND_FREE ? bloom_fill_lines(places) : places;
    ret_geometry[HASHES] = k;
    return TAMIS_OK;
}

static bool bloom_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    if (geometry[BITS] < 2 || geometry[HASHES] < 1 || geometry[HASHES] > PROBES_MAX) return false;
    return checked_body_bytes(geometry[BITS], 1, 0, ret_bytes);
}

static void bloom_predict(const uint64_t *geometry, uint64_t capacity, uint64_t lifetime,
                          tamis_forecast *ret_forecast) {
    (void)lifetime; /* no removal: the life of a filter is its filling */
    double const   m = (double)geometry[BITS], n = (double)capacity, lines = m / 512;
    unsigned const k = (unsigned)geometry[HASHES];
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_bloom_fpr(m, k, n),
        .lines_present = tamis_bloom_lines_present(lines, k),
        .lines_absent = tamis_bloom_lines_absent(lines, k, tamis_bloom_fill(m, k, n)),
        .lines_add = tamis_bloom_lines_present(lines, k),
    };
}

/* ------------------------------------------------------------------ places */

TAMIS_INLINE const uint8_t *bloom_where(const void *table, uint64_t place) {
    return ((const tamis_table *)table)->body + place / 8;
}

TAMIS_INLINE bool bloom_holds(const void *table, uint64_t place) {
    return (*bloom_where(table, place) >> (place % 8)) & 1;
}

/* Returns 1 if the place was not marked before. */
TAMIS_INLINE unsigned bloom_mark(tamis_table *table, uint64_t place) {
    uint8_t *const byte = table->body + place / 8;
    unsigned const was = *byte, bit = 1u << (place % 8);
    *byte = (uint8_t)(was | bit);
    return (was & bit) == 0;
}

/* ------------------------------------------------------------------ keys */

static bool bloom_has(const tamis_table *table, uint64_t hash) {
    return probes_hold(table, hash, 0, (unsigned)table->geometry[HASHES], table->geometry[BITS],
                       bloom_holds);
}

static tamis_status bloom_add(tamis_table *table, uint64_t hash) {
    unsigned const k = (unsigned)table->geometry[HASHES];
    uint64_t const m = table->geometry[BITS];
    unsigned       n_new = 0;
    for (unsigned i = 0; i < k; i++) n_new |= bloom_mark(table, probes_place(hash, i, m));
    table->keys += n_new;
    return TAMIS_OK;
}

static uint64_t bloom_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[HASHES];
    uint64_t const m = table->geometry[BITS];
    return table->body_bytes <= PROBES_NEAR
               ? probes_ask_near(table, hash, n, k, m, bloom_holds)
               : probes_ask(table, hash, n, k, m, bloom_where, bloom_holds);
}

static unsigned bloom_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[HASHES];
    uint64_t       place[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = probes_locate(table, hash + done, n - done, k, table->geometry[BITS], bloom_where,
                                place);
        for (unsigned i = 0; i < located; i++) {
            unsigned is_new = 0;
            for (unsigned j = 0; j < k; j++) is_new |= bloom_mark(table, place[i * k + j]);
            table->keys += is_new;
        }
    }
    return n;
}

/* ------------------------------------------------------------------ whole tables */

static tamis_status bloom_merge(tamis_table *into, const tamis_table *from) {
    for (uint64_t at = 0; at < into->body_bytes; at += 8) {
        le64_store(into->body + at, le64_load(into->body + at) | le64_load(from->body + at));
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

static double bloom_current_fpr(const tamis_table *table) {
    double const marked = (double)bits_popcount_bytes(table->body, table->body_bytes);
    return pow(marked / (double)table->geometry[BITS], (double)table->geometry[HASHES]);
}

static bool bloom_validate(const tamis_table *table, const char **reterr_why) {
    uint64_t const m = table->geometry[BITS], k = table->geometry[HASHES];
    uint64_t const marked = bits_popcount_bytes(table->body, table->body_bytes);
    for (uint64_t place = m; place < table->body_bytes * 8; place++) {
        TAMIS_REQUIRE(!bloom_holds(table, place), reterr_why, "I1: a bit beyond the last place");
    }
    TAMIS_REQUIRE((table->keys == 0) == (marked == 0), reterr_why,
                  "I2: keys without marks, or marks without keys");
    TAMIS_REQUIRE(table->keys > UINT64_MAX / k || marked <= table->keys * k, reterr_why,
                  "I3: more marks than the keys can have made");
    TAMIS_REQUIRE(table->saturated == 0, reterr_why, "I4: nothing can be saturated here");
    return true;
}

KIND_EXPORT(bloom) = {
    .name = "bloom",
    .summary = "Bloom filter: small, no removal",
    .isa = KIND_ISA,
    .field_names = { "bits", "hashes", NULL },
    .plan = bloom_plan,
    .body_bytes = bloom_body_bytes,
    .predict = bloom_predict,
    .has = bloom_has,
    .add = bloom_add,
    .has_chunk = bloom_has_chunk,
    .add_chunk = bloom_add_chunk,
    .merge = bloom_merge,
    .current_fpr = bloom_current_fpr,
    .validate = bloom_validate,
};
