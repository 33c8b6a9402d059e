/* bloom.c - the Bloom filter: the baseline that everybody knows.
 *
 * Paper: B. H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", CACM 13(7),
 * 1970. Names below: m places (bits), k hashes, n keys.
 *
 * Idea
 * ----
 * A key marks k random places among m bits. A key is reported as present if all its k places are
 * marked.
 *
 *        add "apple"   0 1 0 0 1 0 0 0 0 1 0 ...     k = 3 places become 1
 *        has "pear"    ^             ^   ^           one of them is 0: certainly absent
 *
 * Why a key cannot be removed: several keys may have marked the same place, and a bit does not say
 * how many. Clearing it would lose the other keys. All kinds with removal store more than a bit.
 *
 * Why copies cost nothing: adding a key again marks places that are marked already.
 *
 * Size. The planner takes the smallest m, over all k, whose exact rate (theory/bloom_rate.h) meets
 * the target. The last cache line is then used completely, which lowers the rate a little.
 *
 * Invariants (checked by bloom_validate)
 *   I1  bits of the body beyond the m places are zero;
 *   I2  `keys` counts the adds that marked a new place; it is 0 exactly if nothing is marked;
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

enum { BLOOM_BITS, BLOOM_HASHES }; /* the fields of the geometry: m, k */

#define BLOOM_MAX_BITS (UINT64_C(1) << 63)

/* ------------------------------------------------------------------ planning */

static tamis_status bloom_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t places = need->fixed[BLOOM_BITS], k = need->fixed[BLOOM_HASHES];
    if (!tamis_bloom_choose(need->fpr, (double)need->work.capacity, &places, &k)) {
        return TAMIS_ERR_CANNOT;
    }
    if (need->fixed[BLOOM_BITS] == NEED_FREE) places = (places + 511) & ~UINT64_C(511);
    ret_geometry[BLOOM_BITS] = places;
    ret_geometry[BLOOM_HASHES] = k;
    return TAMIS_OK;
}

static bool bloom_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    uint64_t const k = geometry[BLOOM_HASHES];
    if (geometry[BLOOM_BITS] < 2 || geometry[BLOOM_BITS] > BLOOM_MAX_BITS) return false;
    if (k < 1 || k > PROBES_MAX) return false;
    return checked_body_bytes(geometry[BLOOM_BITS], 1, 0, ret_bytes);
}

/* Without removal the life of a filter is its filling, and copies mark nothing new: of the workload
 * only the capacity matters. */
static void bloom_predict(const uint64_t *geometry, const tamis_workload *work,
                          tamis_forecast *ret_forecast) {
    double const   m = (double)geometry[BLOOM_BITS], n = (double)work->capacity, lines = m / 512;
    unsigned const k = (unsigned)geometry[BLOOM_HASHES];
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_bloom_fpr(m, k, n),
        .lines_present = tamis_bloom_lines_present(lines, k),
        .lines_absent = tamis_bloom_lines_absent(lines, k, tamis_bloom_fill(m, k, n)),
        .lines_add = tamis_bloom_lines_present(lines, k),
    };
}

/* ------------------------------------------------------------------ places
 *
 * Place p is bit p % 8 of byte p / 8. The first two functions are what core/probes.h asks for. */

TAMIS_INLINE const uint8_t *bloom_where(const void *table, uint64_t place) {
    return ((const tamis_table *)table)->body + place / 8;
}

TAMIS_INLINE bool bloom_holds(const void *table, uint64_t place) {
    return (*bloom_where(table, place) >> (place % 8)) & 1;
}

/* Mark a place. Returns 1 if it was not marked before. */
TAMIS_INLINE unsigned bloom_mark(tamis_table *table, uint64_t place) {
    uint8_t *const byte = table->body + place / 8;
    unsigned const was = *byte, bit = 1u << (place % 8);
    *byte = (uint8_t)(was | bit);
    return (was & bit) == 0;
}

/* ------------------------------------------------------------------ one key */

static bool bloom_has(const tamis_table *table, uint64_t hash) {
    return probes_hold(table, hash, 0, (unsigned)table->geometry[BLOOM_HASHES],
                       table->geometry[BLOOM_BITS], bloom_holds);
}

/* An add that marks nothing new is not counted: the filter cannot tell that key from one it has. */
static tamis_status bloom_add(tamis_table *table, uint64_t hash) {
    unsigned const k = (unsigned)table->geometry[BLOOM_HASHES];
    uint64_t const m = table->geometry[BLOOM_BITS];
    unsigned       is_new = 0;
    for (unsigned i = 0; i < k; i++) is_new |= bloom_mark(table, probes_place(hash, i, m));
    table->keys += is_new;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ a chunk of keys */

static uint64_t bloom_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[BLOOM_HASHES];
    uint64_t const m = table->geometry[BLOOM_BITS];
    return table->body_bytes <= PROBES_NEAR
               ? probes_ask_near(table, hash, n, k, m, bloom_holds)
               : probes_ask(table, hash, n, k, m, bloom_where, bloom_holds);
}

static unsigned bloom_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[BLOOM_HASHES];
    uint64_t       place[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = probes_locate(table, hash + done, n - done, k, table->geometry[BLOOM_BITS],
                                bloom_where, place);
        for (unsigned i = 0; i < located; i++) {
            unsigned is_new = 0;
            for (unsigned j = 0; j < k; j++) is_new |= bloom_mark(table, place[i * k + j]);
            table->keys += is_new;
        }
    }
    return n;
}

/* ------------------------------------------------------------------ whole tables */

/* The union of the keys is the union of the marks. Keys that are in both tables are counted twice:
 * nobody can tell. */
static tamis_status bloom_merge(tamis_table *into, const tamis_table *from) {
    for (uint64_t at = 0; at < into->body_bytes; at += 8) {
        le64_store(into->body + at, le64_load(into->body + at) | le64_load(from->body + at));
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* All from the share of marked places: the rate is the chance that k random places are marked. */
static void bloom_survey(const tamis_table *table, kind_survey *ret_survey) {
    double const marked = (double)bits_popcount_bytes(table->body, table->body_bytes);
    double const m = (double)table->geometry[BLOOM_BITS], k = (double)table->geometry[BLOOM_HASHES];
    *ret_survey = (kind_survey){ .fpr = pow(marked / m, k),
                                 .distinct = tamis_bloom_distinct(m, k, marked),
                                 .load = marked / m };
}

static bool bloom_validate(const tamis_table *table, const char **reterr_why) {
    uint64_t const m = table->geometry[BLOOM_BITS], k = table->geometry[BLOOM_HASHES];
    uint64_t const marked = bits_popcount_bytes(table->body, table->body_bytes);
    for (uint64_t place = m; place < table->body_bytes * 8; place++) {
        TAMIS_REQUIRE(!bloom_holds(table, place), reterr_why,
                      "I1: a bit is set beyond the last place");
    }
    TAMIS_REQUIRE((table->keys == 0) == (marked == 0), reterr_why,
                  "I2: there are keys and no marks, or marks and no keys");
    TAMIS_REQUIRE(table->keys > UINT64_MAX / k || marked <= table->keys * k, reterr_why,
                  "I3: more places are marked than the keys can have marked");
    TAMIS_REQUIRE(table->saturated == 0, reterr_why, "I4: a Bloom filter cannot be saturated");
    return true;
}

KIND_EXPORT(bloom) = {
    .name = "bloom",
    .summary = "Bloom filter: small, no removal",
    .isa = KIND_ISA,
    .fields = { { "bits", 2, BLOOM_MAX_BITS }, { "hashes", 1, BLOOM_MAX_K }, { NULL, 0, 0 } },
    .plan = bloom_plan,
    .body_bytes = bloom_body_bytes,
    .predict = bloom_predict,
    .has = bloom_has,
    .add = bloom_add,
    .has_chunk = bloom_has_chunk,
    .add_chunk = bloom_add_chunk,
    .merge = bloom_merge,
    .survey = bloom_survey,
    .validate = bloom_validate,
};
