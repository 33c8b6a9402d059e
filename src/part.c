/* part.c - parts of a set. The first k bits of a hash choose one of P = 2^k parts, which uses the
 * rest.
 *
 * Idea
 * ----
 * The keys of a large set are spread over many parts by their hashes. If a part used the whole
 * hash, part i would get only hashes from i / P to (i + 1) / P, and fill only that share of its
 * buckets. So a part uses frac(h x P), which is `hash << k`:
 *
 *     hash       i i i i x x x x x x ...       k bits choose the part, and the part sees the rest
 *     its table          x x x x x x ... 0 0 0 0
 *
 * All that a kind stores about a key is floor(h x F), and its buckets are in that order. With F / P
 * prints in each part, print p of part i is print i x F / P + p of the whole set. So parts can be
 * split and joined without the keys (split.c).
 *
 * A set that is not a part pays nothing for this. A part has its own function table `calls`, as a
 * set that grows does (grow_calls.c). These functions take the whole hash, check whether the key
 * belongs to this part, and pass on the rest. The functions that they call (of the kind, of
 * growing, of sharing) see only the rest.
 */
#include "part.h"
#include "core/bits.h"
#include "core/memory.h"

#include <math.h>

static const struct set_part *part_at(const tamis_table *table) {
    return set_of_table(table)->part;
}

/* ------------------------------------------------------------------ one key */

static bool part_has(const tamis_table *table, uint64_t hash) {
    const struct set_part *const part = part_at(table);
    return part_owns(part, hash) && part->inner->has(table, hash << part->bits);
}

static uint64_t part_count(const tamis_table *table, uint64_t hash) {
    const struct set_part *const part = part_at(table);
    return part_owns(part, hash) ? part->inner->count(table, hash << part->bits) : 0;
}

static tamis_status part_add(tamis_table *table, uint64_t hash) {
    const struct set_part *const part = part_at(table);
    return part_owns(part, hash) ? part->inner->add(table, hash << part->bits) : TAMIS_ERR_PART;
}

static tamis_status part_add_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    const struct set_part *const part = part_at(table);
    if (!part_owns(part, hash)) return TAMIS_ERR_PART;
    return tamis_table_add_copies(part->inner, table, hash << part->bits, copies);
}

static tamis_status part_remove(tamis_table *table, uint64_t hash) {
    const struct set_part *const part = part_at(table);
    return part_owns(part, hash) ? part->inner->remove(table, hash << part->bits)
                                 : TAMIS_ERR_ABSENT;
}

/* ------------------------------------------------------------------ chunks */

/* Compute the rest of each hash; returns a bit for each hash that belongs to this part. */
static uint64_t part_shift(const struct set_part *part, const uint64_t *hash, unsigned n,
                           uint64_t *ret_rest) {
    uint64_t own = 0;
    ret_rest[0] = 0; /* n may be 0 */
    for (unsigned i = 0; i < n; i++) {
        own |= (uint64_t)part_owns(part, hash[i]) << i;
        ret_rest[i] = hash[i] << part->bits;
    }
    return own;
}

static uint64_t part_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    const struct set_part *const part = part_at(table);
    uint64_t                     rest[TAMIS_CHUNK];
    uint64_t const               own = part_shift(part, hash, n, rest);
    return part->inner->has_chunk(table, rest, n) & own;
}

/* Add keys up to the first that does not belong to this part; set.c says why (refusal_of). */
static unsigned part_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    const struct set_part *const part = part_at(table);
    uint64_t                     rest[TAMIS_CHUNK];
    uint64_t const               others = ~part_shift(part, hash, n, rest);
    unsigned const first = others == 0 ? n : (unsigned)min_u64(n, bits_lowest(others));
    return first == 0 ? 0 : part->inner->add_chunk(table, rest, first);
}

/* A key of another part must change nothing. If there is one, the keys are removed one by one. */
static uint64_t part_remove_chunk(tamis_table *table, const uint64_t *hash, unsigned n,
                                  uint64_t *ret_saturated) {
    const struct set_part *const part = part_at(table);
    uint64_t                     rest[TAMIS_CHUNK], removed = 0, saturated = 0;
    if (part_shift(part, hash, n, rest) == bits_low(n))
        return part->inner->remove_chunk(table, rest, n, ret_saturated);
    for (unsigned i = 0; i < n; i++) {
        tamis_status const status = part_remove(table, hash[i]);
        removed |= (uint64_t)(status == TAMIS_OK) << i;
        saturated |= (uint64_t)(status == TAMIS_ERR_SATURATED) << i;
    }
    *ret_saturated = saturated;
    return removed;
}

static void part_count_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                             uint64_t *ret_counts) {
    const struct set_part *const part = part_at(table);
    uint64_t                     rest[TAMIS_CHUNK];
    uint64_t const               own = part_shift(part, hash, n, rest);
    part->inner->count_chunk(table, rest, n, ret_counts);
    for (unsigned i = 0; i < n && own != bits_low(n); i++) {
        if ((own >> i & 1) == 0) ret_counts[i] = 0;
    }
}

static void part_fetch(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update) {
    const struct set_part *const part = part_at(table);
    uint64_t                     rest[TAMIS_CHUNK];
    (void)part_shift(part, hash, n, rest);
    part->inner->fetch(table, rest, n, is_update);
}

static void part_fetch_more(const tamis_table *table, const uint64_t *hash, unsigned n) {
    const struct set_part *const part = part_at(table);
    uint64_t                     rest[TAMIS_CHUNK];
    (void)part_shift(part, hash, n, rest);
    part->inner->fetch_more(table, rest, n);
}

/* ------------------------------------------------------------------ which functions */

/* Wrap the inner functions. Those that are NULL stay NULL. */
static void part_wrap(struct set_part *part) {
    const kind_calls *const inner = part->inner;
    part->calls = (kind_calls){
        .has = inner->has != NULL ? part_has : NULL,
        .add = inner->add != NULL ? part_add : NULL,
        .remove = inner->remove != NULL ? part_remove : NULL,
        .count = inner->count != NULL ? part_count : NULL,
        .add_copies = inner->add != NULL ? part_add_copies : NULL,
        .hash_ids = inner->hash_ids, /* whole hashes */
        .has_chunk = inner->has_chunk != NULL ? part_has_chunk : NULL,
        .add_chunk = inner->add_chunk != NULL ? part_add_chunk : NULL,
        .remove_chunk = inner->remove_chunk != NULL ? part_remove_chunk : NULL,
        .count_chunk = inner->count_chunk != NULL ? part_count_chunk : NULL,
        .fetch = inner->fetch != NULL ? part_fetch : NULL,
        .fetch_more = inner->fetch_more != NULL ? part_fetch_more : NULL,
        .chunk = inner->chunk,
        .has_long_lookups = inner->has_long_lookups,
        .has_long_updates = inner->has_long_updates,
    };
}

void tamis_handle_use_calls(tamis_set *set, const kind_calls *calls) {
    set->calls = calls;
    if (set->part != NULL) {
        set->part->inner = calls;
        part_wrap(set->part);
        set->calls = &set->part->calls;
    }
    tamis_handle_bind(set);
}

bool tamis_part_fits(const tamis_kind *kind, const uint64_t *geometry, tamis_part_place place) {
    return kind->prints == NULL || part_holds(place, kind->prints(geometry));
}

tamis_status tamis_part_check(const tamis_request *request, const tamis_choice *choice,
                              tamis_problem *problem) {
    tamis_part_place const place = request->part.parts != 0 ? request->part : choice->part;
    int const              bits = 64 - (int)part_bits(place);
    double const           met = ldexp((double)choice->work.capacity, -bits);
    bool const             is_rare = choice->kind->prints != NULL || place.parts == 0 ||
                         request->like != NULL || met <= request->need.fpr / 64;
    if (is_rare && tamis_part_fits(choice->kind, choice->geometry, place)) return TAMIS_OK;
    return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                             "with %u parts, each part has only %d bits of each hash: too few for "
                             "this capacity and fpr",
                             place.parts, bits);
}

tamis_status tamis_part_init(tamis_set *set, tamis_part_place place) {
    if (place.parts == 0) return TAMIS_OK;
    struct set_part *const part = memory_get(&set->allocator, sizeof *part);
    if (part == NULL) return TAMIS_ERR_MEMORY;
    part->place = place;
    part->bits = part_bits(place);
    set->part = part;
    tamis_handle_use_calls(set, set->calls);
    return TAMIS_OK;
}

void tamis_part_free(tamis_set *set) {
    if (set->part != NULL) memory_give(&set->allocator, set->part, sizeof *set->part);
    set->part = NULL;
}

/* ------------------------------------------------------------------ the public functions */

uint32_t tamis_part_of_hash(uint64_t hash, uint32_t parts) {
    tamis_part_place const place = { 0, parts };
    bool const             is_given = part_is_possible(place);
    TAMIS_ASSERT(is_given);
    unsigned const bits = is_given ? part_bits(place) : 0;
    return bits == 0 ? 0 : (uint32_t)(hash >> (64 - bits));
}

uint32_t tamis_part_of_key(const tamis_set *set, const void *key, size_t key_bytes,
                           uint32_t parts) {
    return tamis_part_of_hash(tamis_hash_key(set, key, key_bytes), parts);
}
