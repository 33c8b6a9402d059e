/* bloom.c - the Bloom filter: the baseline that everybody knows, and its fast form.
 *
 * Papers: B. H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", CACM 13(7),
 * 1970. Names below: m places (bits), k hashes, n keys.
 * F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007: the
 * blocked form.
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
 * Blocked: all places of a key are in one cache line, one in each of k sectors of it (block.h). An
 * operation touches one line instead of up to k, and the marks of a key are made and compared all
 * at once by vectors. No other kind has so few instructions. The price is memory: lines are not
 * equally full, so that for the same rate a blocked filter is larger, by 5% at 1%, 9% at 0.1% and
 * a fifth at 0.01%.
 *
 * Size. The planner takes the smallest m, over all k, whose exact rate (size.h) meets the target.
 *
 * Worked example: with 10 bits for a key and k = 7, a place is marked with p = 1 - e^(-7 / 10) =
 * 0.503, and the rate is p^7 = 0.82%. With the best k half of the places are marked: then each of
 * the k places of an absent key halves its chance, and k = log2(1 / rate) and m / n = k / ln 2 =
 * 1.44 k bits for a key. For 1% that is k = 6.6 and 9.6 bits; k must be an integer.
 *
 * Invariants (checked by bloom_validate)
 *   I1  bits of the body beyond the m places are zero;
 *   I2  `keys` counts the adds that marked a new place; it is 0 exactly if nothing is marked;
 *   I3  the keys are enough for the marks: at most k x keys places are marked. Blocked: a key marks
 *       one place in each sector of one line, so the fullest sectors of all lines have at most
 *       `keys` marks together;
 *   I4  nothing is saturated;
 *   I5  blocked: a line has marks in all of its sectors, or in none.
 */
#include "block.h"
#include "core/probes.h"
#include "kind.h"
#include "sharing.h"
#include "size.h"
#include "theory/bloom_rate.h"

#include <math.h>

static_assert(BLOOM_MAX_K <= PROBES_MAX, "places of a key fit");

/* ------------------------------------------------------------------ planning */

static tamis_status bloom_plan(const tamis_need *need, uint64_t *ret_geometry) {
    return tamis_bloom_plan(need, ret_geometry) ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

/* Without removal the life of a filter is its filling, and copies mark nothing new: of the workload
 * only the capacity matters. An add never fails and nothing saturates: overflow and saturation stay
 * 0. Blocked, an operation is one line; scattered, a lookup of an absent key ends at the first
 * place that is not marked. */
static void bloom_predict(const uint64_t *geometry, const tamis_workload *work,
                          tamis_forecast *ret_forecast) {
    double const   m = (double)geometry[BLOOM_BITS], n = (double)work->capacity, lines = m / 512;
    unsigned const k = (unsigned)geometry[BLOOM_HASHES];
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_bloom_rate(geometry, n),
        .lines_present = 1,
        .lines_absent = 1,
        .lines_add = 1,
    };
    if (geometry[BLOOM_BLOCKED] != 0) return;
    ret_forecast->lines_present = tamis_bloom_lines_present(lines, k);
    ret_forecast->lines_absent = tamis_bloom_lines_absent(lines, k, tamis_bloom_fill(m, k, n));
    ret_forecast->lines_add = ret_forecast->lines_present;
}

TAMIS_INLINE unsigned bloom_k(const tamis_table *table) {
    return (unsigned)table->geometry[BLOOM_HASHES];
}

TAMIS_INLINE bool bloom_is_blocked(const tamis_table *table) {
    return table->geometry[BLOOM_BLOCKED] != 0;
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

/* Mark a place. Returns 1 if it was not marked before: as a number, so that callers can collect it
 * without a branch. */
TAMIS_INLINE unsigned bloom_mark(tamis_table *table, uint64_t place) {
    uint8_t *const byte = table->body + place / 8;
    unsigned const was = *byte, bit = 1u << (place % 8);
    *byte = (uint8_t)(was | bit);
    return (was & bit) == 0;
}

/* ------------------------------------------------------------------ scattered: one key */

static STRIPE_READER bool bloom_has_scattered(const tamis_table *table, uint64_t hash) {
    return probes_hold(table, hash, 0, (unsigned)table->geometry[BLOOM_HASHES],
                       table->geometry[BLOOM_BITS], bloom_holds);
}

/* An add that marks nothing new is not counted: the filter cannot tell that key from one it has. So
 * `keys` is a little less than the different keys that were added, by those that were false
 * positives when they came. */
TAMIS_INLINE unsigned bloom_mark_scattered(tamis_table *table, uint64_t hash) {
    unsigned const k = (unsigned)table->geometry[BLOOM_HASHES];
    uint64_t const m = table->geometry[BLOOM_BITS];
    unsigned       is_new = 0;
    for (unsigned i = 0; i < k; i++) is_new |= bloom_mark(table, probes_place(hash, i, m));
    table->keys += is_new;
    return is_new;
}

static tamis_status bloom_add_scattered(tamis_table *table, uint64_t hash) {
    (void)bloom_mark_scattered(table, hash);
    return TAMIS_OK;
}

static tamis_status bloom_add_new_scattered(tamis_table *table, uint64_t hash, bool *ret_is_new) {
    *ret_is_new = bloom_mark_scattered(table, hash) != 0;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ scattered: a chunk of keys */

/* In the cache the first two places are asked without a branch. Beyond it, one place of every key
 * is prefetched at a time, and keys that fail drop out: most absent keys need one line or two. */
static STRIPE_READER uint64_t bloom_has_chunk_scattered(const tamis_table *table,
                                                        const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[BLOOM_HASHES];
    uint64_t const m = table->geometry[BLOOM_BITS];
    return table->body_bytes <= PROBES_NEAR
               ? probes_ask_near(table, hash, n, k, m, bloom_holds)
               : probes_ask(table, hash, n, k, m, bloom_where, bloom_holds);
}

/* An add touches all k lines of its key anyway. So the places of several keys are computed and
 * prefetched first, as many as `place` has room for, and marked when they have arrived. */
static unsigned bloom_add_chunk_scattered(tamis_table *table, const uint64_t *hash, unsigned n) {
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

/* ------------------------------------------------------------------ blocked: one line per key */

/* Keys in a chunk, and the size up to which nothing is fetched: for the same reasons as in `line`,
 * which has the measurements (kinds/line/batches.h). */
#define BLOOM_CHUNK 16
#define BLOOM_CACHED_BYTES (UINT64_C(192) << 10)

static_assert(BLOOM_CHUNK <= TAMIS_CHUNK, "the front door makes no larger chunks");

/* The line of a key is the high half of hash x lines. The body is all lines, so that its first byte
 * is the high half of hash x bytes, rounded down to a line. With 4 lines, 256 bytes, and a hash of
 * 2^63, the middle of all: byte 128, line 2. The marks in the line come from remixes of the hash,
 * so they do not depend on which line it is. */
TAMIS_INLINE uint8_t *bloom_line(const tamis_table *table, uint64_t hash) {
    uint64_t const byte = fastrange(hash, table->body_bytes);
    return table->body + (byte & ~(uint64_t)(TAMIS_LINE_BYTES - 1));
}

/* Prefetch the lines of the next chunk. A small filter is in the cache already: there a prefetch
 * costs an instruction and gains nothing. */
static void bloom_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                        bool is_update) {
    if (table->body_bytes <= BLOOM_CACHED_BYTES) return;
    for (unsigned i = 0; i < n; i++) {
        if (is_update)
            prefetch_to_write(bloom_line(table, hash[i]));
        else
            prefetch_to_read(bloom_line(table, hash[i]));
    }
}

static void bloom_fetch_id(const tamis_table *table, uint64_t id) {
    uint64_t const hash = hash_id(&table->ids, id);
    bloom_fetch(table, &hash, 1, false);
}

/* The front door has prefetched the lines of the chunk by bloom_fetch(), so that these two only
 * loop. The answers of a chunk are a mask, and no branch depends on them. */
TAMIS_INLINE uint64_t bloom_has_chunk_blocked_as(const tamis_table *table, const uint64_t *hash,
                                                 unsigned n, const uint64_t *next, unsigned n_next,
                                                 unsigned k) {
    uint64_t found = 0;
    for (unsigned i = 0; i < n; i++) {
        if (i < n_next) prefetch_to_read(bloom_line(table, next[i]));
        found |= (uint64_t)block_holds(bloom_line(table, hash[i]), hash[i], k) << i;
    }
    return found;
}

TAMIS_INLINE unsigned bloom_add_chunk_blocked_as(tamis_table *table, const uint64_t *hash,
                                                 unsigned n, unsigned k) {
    uint64_t added = 0;
    for (unsigned i = 0; i < n; i++) added += block_mark(bloom_line(table, hash[i]), hash[i], k);
    table->keys += added;
    return n;
}

/* The functions of blocked filters: for any k, and for the usual ones, where k is a constant. Each
 * makes a table of calls of its own, so that nothing asks for k when a key comes:
 *
 *     bloom_form_blocked      k is read from the geometry: 1, 2, 4, 32 and 64
 *     bloom_form_blocked_8    8 marks, one in each word of the line
 *     bloom_form_blocked_16   16 marks, one in each half of a word */
#define BLOOM_BLOCKED_FORM(name, k)                                                                \
    static STRIPE_READER bool bloom_has_##name(const tamis_table *table, uint64_t hash) {          \
        return block_holds(bloom_line(table, hash), hash, k);                                      \
    }                                                                                              \
    static tamis_status bloom_add_##name(tamis_table *table, uint64_t hash) {                      \
        table->keys += block_mark(bloom_line(table, hash), hash, k);                               \
        return TAMIS_OK;                                                                           \
    }                                                                                              \
    static STRIPE_READER uint64_t bloom_has_chunk_##name(const tamis_table *table,                 \
                                                         const uint64_t *hash, unsigned n) {       \
        return bloom_has_chunk_blocked_as(table, hash, n, NULL, 0, k);                             \
    }                                                                                              \
    static STRIPE_READER uint64_t bloom_has_rolling_##name(                                        \
        const tamis_table *table, const uint64_t *hash, unsigned n, const uint64_t *next,          \
        unsigned n_next) {                                                                         \
        if (table->body_bytes <= BLOOM_CACHED_BYTES) n_next = 0;                                   \
        return bloom_has_chunk_blocked_as(table, hash, n, next, n_next, k);                        \
    }                                                                                              \
    static unsigned bloom_add_chunk_##name(tamis_table *table, const uint64_t *hash, unsigned n) { \
        return bloom_add_chunk_blocked_as(table, hash, n, k);                                      \
    }                                                                                              \
    static const kind_calls bloom_form_##name = { .has = bloom_has_##name,                         \
                                                  .add = bloom_add_##name,                         \
                                                  .has_chunk = bloom_has_chunk_##name,             \
                                                  .has_rolling = bloom_has_rolling_##name,         \
                                                  .add_chunk = bloom_add_chunk_##name,             \
                                                  .fetch = bloom_fetch,                            \
                                                  .fetch_id = bloom_fetch_id,                      \
                                                  .chunk = BLOOM_CHUNK,                            \
                                                  .has_long_lookups = true,                        \
                                                  .has_long_updates = true };

BLOOM_BLOCKED_FORM(blocked, bloom_k(table))
BLOOM_BLOCKED_FORM(blocked_8, 8)
BLOOM_BLOCKED_FORM(blocked_16, 16)

/* ------------------------------------------------------------------ any filter */

static const kind_calls bloom_form_scattered = {
    .has = bloom_has_scattered,
    .add = bloom_add_scattered,
    .add_new = bloom_add_new_scattered,
    .has_chunk = bloom_has_chunk_scattered,
    .add_chunk = bloom_add_chunk_scattered,
};

/* Which functions a filter gets is decided once, when it is made: k of 8 and 16 are constants in
 * their own functions, where the compiler unrolls the loops and vectors are used. */
static const kind_calls *bloom_form(const uint64_t *geometry) {
    if (geometry[BLOOM_BLOCKED] == 0) return &bloom_form_scattered;
    if (geometry[BLOOM_HASHES] == 8) return &bloom_form_blocked_8;
    return geometry[BLOOM_HASHES] == 16 ? &bloom_form_blocked_16 : &bloom_form_blocked;
}

/* For callers that have no set, and so no form. */

static bool bloom_has(const tamis_table *table, uint64_t hash) {
    return bloom_form(table->geometry)->has(table, hash);
}

static tamis_status bloom_add(tamis_table *table, uint64_t hash) {
    return bloom_form(table->geometry)->add(table, hash);
}

/* ------------------------------------------------------------------ whole tables */

/* The union of the keys is the union of the bits. Keys that are in both tables are counted
 * twice, since the tables do not know which these are. Bodies are whole cache lines, and so
 * whole words. */
static tamis_status bloom_merge(tamis_table *into, const tamis_table *from) {
    for (uint64_t at = 0; at < into->body_bytes; at += 8) {
        le64_store(into->body + at, le64_load(into->body + at) | le64_load(from->body + at));
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* How many places are marked in sector i of a line. It is a part of a word, or several words: with
 * k = 16 sector 3 is the upper half of word 1, with k = 2 sector 1 is the words 4 to 7. */
static uint64_t bloom_sector(const tamis_table *table, uint64_t line, unsigned i) {
    unsigned const size = BLOCK_BITS / bloom_k(table), first = i * size;
    uint8_t *const word = table->body + line * TAMIS_LINE_BYTES + first / 64 * 8;
    if (size >= 64) return bits_popcount_bytes(word, size / 8);
    return bits_popcount(le64_load(word) >> first % 64 & bits_low(size));
}

/* The chance that an absent key finds its place of every sector marked, as a mean over lines. With
 * k sectors of 512 / k bits, a sector with x marks lets through a share of x k / 512. */
static double bloom_blocked_fpr(const tamis_table *table) {
    uint64_t const lines = table->body_bytes / TAMIS_LINE_BYTES;
    unsigned const k = bloom_k(table);
    double         sum = 0;
    for (uint64_t line = 0; line < lines; line++) {
        double rate = 1;
        for (unsigned i = 0; i < k; i++) {
            rate *= (double)bloom_sector(table, line, i) * k / BLOCK_BITS;
        }
        sum += rate;
    }
    return sum / (double)lines;
}

/* All from the marked places. Scattered: the rate is the chance that k random places are marked.
 * Blocked: the i-th places of all keys are n random ones of the m / k in the i-th sectors. So the
 * number of keys is estimated as in a filter with m / k places and one hash, which has the mean
 * marks of a sector. */
static void bloom_survey(const tamis_table *table, kind_survey *ret_survey) {
    double const marked = (double)bits_popcount_bytes(table->body, table->body_bytes);
    double const m = (double)table->geometry[BLOOM_BITS], k = (double)bloom_k(table);
    *ret_survey = (kind_survey){ .fpr = pow(marked / m, k),
                                 .distinct = tamis_bloom_distinct(m, k, marked),
                                 .load = marked / m };
    if (!bloom_is_blocked(table)) return;
    ret_survey->fpr = bloom_blocked_fpr(table);
    ret_survey->distinct = tamis_bloom_distinct(m / k, 1, marked / k);
}

/* The fewest keys that can have made the marks of a line: each makes at most one in a sector, so as
 * many as the fullest sector has. False: only some sectors are empty, which no key leaves so. */
static bool bloom_line_keys(const tamis_table *table, uint64_t line, uint64_t *ret_keys) {
    uint64_t least = UINT64_MAX, most = 0;
    for (unsigned i = 0; i < bloom_k(table); i++) {
        uint64_t const marked = bloom_sector(table, line, i);
        least = min_u64(least, marked);
        most = max_u64(most, marked);
    }
    *ret_keys = most;
    return least != 0 || most == 0;
}

/* I3 and I5. */
static bool bloom_lines_are_whole(const tamis_table *table, const char **reterr_why) {
    uint64_t keys = 0;
    for (uint64_t line = 0; line < table->body_bytes / TAMIS_LINE_BYTES; line++) {
        uint64_t here;
        TAMIS_REQUIRE(bloom_line_keys(table, line, &here), reterr_why,
                      "I5: a line has set bits, but not in all of its sectors");
        keys += here;
    }
    TAMIS_REQUIRE(keys <= table->keys, reterr_why,
                  "I3: more bits are set than the keys can have set");
    return true;
}

/* The product k x keys is compared only where it does not wrap; where it would, it is more than any
 * body has places. */
static bool bloom_validate(const tamis_table *table, const char **reterr_why) {
    uint64_t const m = table->geometry[BLOOM_BITS], k = table->geometry[BLOOM_HASHES];
    uint64_t const marked = bits_popcount_bytes(table->body, table->body_bytes);
    /* At most 511 bits, since the body is the fewest whole lines. */
    for (uint64_t place = m; place < table->body_bytes * 8; place++) {
        TAMIS_REQUIRE(!bloom_holds(table, place), reterr_why,
                      "I1: a bit is set after the last one");
    }
    TAMIS_REQUIRE((table->keys == 0) == (marked == 0), reterr_why,
                  "I2: there are keys but no bits are set, or the reverse");
    TAMIS_REQUIRE(table->keys > UINT64_MAX / k || marked <= table->keys * k, reterr_why,
                  "I3: more bits are set than the keys can have set");
    TAMIS_REQUIRE(table->saturated == 0, reterr_why,
                  "I4: the number of saturated entries is not 0");
    return !bloom_is_blocked(table) || bloom_lines_are_whole(table, reterr_why);
}

/* ------------------------------------------------------------------ many threads */

/* Marks never go, so a lookup needs no lock: whatever it reads, it finds all marks of keys that
 * were added before, and a mark that is just being made belongs to an add that has not returned.
 * Scattered: the marks of a key are in many lines, and adds take turns. Blocked: a line is a group.
 * The first number of the geometry is the bits, of which a line has 2^9. */
static unsigned bloom_group_shift(const uint64_t *geometry) {
    return geometry[BLOOM_BLOCKED] != 0 ? 9 : SHARE_ONE_GROUP;
}

/* The line of a key is all that changes: its stripe is locked for that, and other lines are
 * free. `keys` is counted by stripe, since one counter for all threads would be a line that
 * all wait for. */
static unsigned bloom_share_add_blocked(sharing *share, const uint64_t *hash, unsigned n) {
    const tamis_table *const table = &share_view_now(share)->table;
    unsigned const           k = bloom_k(table);
    for (unsigned i = 0; i < n; i++) {
        share_place const         place = share_lock(share, hash[i]);
        share_stripe_state *const stripe = &share->stripes[place.stripe];
        share_add_alone(&stripe->keys[0], block_mark(bloom_line(table, hash[i]), hash[i], k));
        stripe_unlock(&stripe->word);
    }
    return n;
}

/* Scattered adds take turns, a chunk at a time. */
static unsigned bloom_share_add_chunk(sharing *share, const uint64_t *hash, unsigned n) {
    const tamis_table *const table = &share_view_now(share)->table;
    if (bloom_is_blocked(table)) return bloom_share_add_blocked(share, hash, n);
    return share_add_together(share, &bloom_form_scattered, hash, n);
}

static const kind_sharing bloom_sharing = { .derived_words = KIND_DERIVED,
                                            .group_shift = bloom_group_shift,
                                            .reads_in_place = true,
                                            .add_chunk = bloom_share_add_chunk };

KIND_EXPORT(bloom) = {
    .name = "bloom",
    .summary = "Bloom filter: fast or small, no removal",
    .isa = KIND_ISA,
    .is_grow_only = true,
    .fields = { { "bits", 2, BLOOM_MAX_BITS },
                { "hashes", 1, BLOOM_MAX_K },
                { "blocked", 0, 1 },
                { NULL, 0, 0 } },
    .first_fields = 2,
    .plan = bloom_plan,
    .body_bytes = tamis_bloom_body_bytes,
    .predict = bloom_predict,
    .calls = {
        .has = bloom_has,
        .add = bloom_add,
    },
    .form = bloom_form,
    .merge = bloom_merge,
    .sharing = &bloom_sharing,
    .survey = bloom_survey,
    .validate = bloom_validate,
};
