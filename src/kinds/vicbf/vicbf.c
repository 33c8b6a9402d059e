/* vicbf.c - the variable-increment counting Bloom filter: a third smaller than the plain one.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014. Names below follow it: m counters, k hashes, n
 * keys; D, the set of increments.
 *
 * Idea
 * ----
 * This is a counting Bloom filter in which a key adds to each of its k counters not 1,
 * but a number of a small set D; its hash chooses the number. So a counter that is not 0 can still
 * exclude a key: if we subtract the key's own number, and the rest is not a sum of numbers of D
 * (core/increments.h).
 *
 *        D = {4, 5, 6, 7}    add "apple"   0 0 6 0 0 5 0 0 0 4 0 ...
 *                            has "pear"    adds 7 to the counter that is 6: certainly absent
 *                            has "plum"    adds 5 to a counter that is 9 = 5 + 4: perhaps
 *
 * Worked example: a counter with D = {4, 5, 6, 7} that two keys have hit is one of 16 sums of two
 * numbers. It may hold a key that adds v if the rest is a sum again. 10 = 4 + 6 = 5 + 5 may hold 4,
 * 5 and 6, and excludes 7; 8 = 4 + 4 excludes all but 4. After three hits a counter is 12 or more,
 * what is left is 5 or more, and every number from 4 on is a sum: so it excludes nothing any more.
 * With {8, 12, 14, 15} some gaps are as far up as 33, and a counter excludes keys for longer.
 *
 * Why it saves memory: counters of 8 bits cost twice as much as counters of 4 bits, but each of
 * them excludes far more keys, so that fewer of them are needed. The best D that was found is
 * {8, 12, 14, 15}: at the same rate a third less memory than the plain counting filter, which is
 * this kind with D = {1}.
 *
 * Saturation: a counter that reaches its maximum is stuck (core/counters.h). It is never counted
 * down again, and excludes no key.
 *
 * Two of the k counters of a key may be the same one. The key then adds both numbers to it at once,
 * and the key can be in the counter only if their sum can. So an operation first joins such probes
 * (vicbf_join). A lookup tests counter by counter first, which excludes most absent keys, and joins
 * only if that has not excluded the key.
 *
 * Layout: the counters of a key are anywhere, or all in one cache line, one in each sector of it
 * (core/sectors.h, "blocked"). For the same rate a blocked table is larger, by a tenth at 1% and a
 * fifth at 0.1%, but an operation touches one line instead of k.
 *
 * Invariants (checked by vicbf_validate)
 *   I1  bits of the body that belong to no counter are zero;
 *   I2  `saturated` is the number of counters at their maximum;
 *   I3  every other counter is a sum of increments;
 *   I4  if D = {1} and no counter is saturated, the counters sum up to k x keys. With more numbers
 *       there is no such sum: the removal of a key that was never added, but was taken for present,
 *       subtracts other numbers than those that were added.
 */
#include "core/counters.h"
#include "core/increments.h"
#include "kind.h"
#include "size.h"
#include "theory/bloom_rate.h"
#include "theory/vi_rate.h"

/* If D and the counters are small, a table says which counter values may hold which increments:
 * 256 values of 16 bits, computed once. That covers the usual geometries, 8 bits and a D of 4
 * numbers. */
#define VICBF_LISTED 16
#define VICBF_LISTED_BITS 8

/* What vicbf_prepare makes of the geometry. */
typedef struct vicbf_shape {
    increments d;
    sectors    layout;
    unsigned   bits, hashes;
    unsigned   more;                          /* of 256 keys, how many have one hash more */
    bool       is_listed;                     /* `holds` is filled in */
    uint64_t   top;                           /* the maximum of a counter */
    uint16_t   holds[1 << VICBF_LISTED_BITS]; /* holds[c] bit i: c may hold increment i of D */
} vicbf_shape;

static_assert(sizeof(vicbf_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");
static_assert(VI_MAX_HASHES + 1 <= SECTORS_MAX, "a sector for each hash, and for one more");
static_assert(1 << VI_MAX_BITS <= VI_RATE_VALUES, "counters of all values");

/* ------------------------------------------------------------------ planning */

/* Copies of every key would raise the rate, since larger counters exclude fewer keys: that is not
 * planned for. */
static tamis_status vicbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    if (need->work.copies > 1) return TAMIS_ERR_CANNOT;
    return tamis_vi_choose(need, ret_geometry) ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

/* Fill in `holds`. A stuck counter holds every increment. */
static void vicbf_list(vicbf_shape *shape) {
    const increments *const d = &shape->d;
    shape->is_listed = shape->bits <= VICBF_LISTED_BITS && d->n <= VICBF_LISTED;
    for (uint64_t c = 0; shape->is_listed && c <= shape->top; c++) {
        for (unsigned i = 0; i < d->n; i++) {
            bool const is_held = c == shape->top || increments_may_hold(d, c, d->value[i]);
            shape->holds[c] = (uint16_t)(shape->holds[c] | (unsigned)is_held << i);
        }
    }
}

static void vicbf_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    uint64_t              bytes;
    if (!tamis_vi_body_bytes(g, &bytes)) return; /* such a geometry gets no body either */
    vicbf_shape shape = { .d = increments_make(g[VI_INCREMENTS]),
                          .layout = sectors_make(g[VI_COUNTERS], g[VI_COUNTER_BITS], vi_sectors(g),
                                                 g[VI_BLOCKED] != 0),
                          .bits = (unsigned)g[VI_COUNTER_BITS],
                          .hashes = (unsigned)g[VI_HASHES],
                          .more = (unsigned)g[VI_MORE],
                          .top = bits_low((unsigned)g[VI_COUNTER_BITS]) };
    vicbf_list(&shape);
    memcpy(table->derived, &shape, sizeof shape);
}

TAMIS_INLINE const vicbf_shape *vicbf_shape_of(const tamis_table *table) {
    return (const vicbf_shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ where a key counts */

/* A counter of a key, by its first bit, and what the key adds to it. */
typedef struct vicbf_probe {
    uint64_t at, adds;
} vicbf_probe;

/* How many hashes a key has. With `more`, some keys have one more, so that the mean number of
 * hashes need not be an integer. */
TAMIS_INLINE unsigned vicbf_hashes(const vicbf_shape *shape, uint64_t hash) {
    return shape->hashes +
           (shape->more != 0 && (remix(hash, VI_MAX_HASHES + 1) & 255) < shape->more);
}

/* Join probes at the same counter into one. Returns how many are left. A key that adds 4 and 6 to
 * one counter adds 10 to it, and is excluded by 12: 12 - 10 = 2 is no sum. Each number alone is not
 * excluded: 12 - 4 = 8 and 12 - 6 = 6 are sums. A removal must take 10 at once, for the same
 * reason. */
static unsigned vicbf_join(vicbf_probe *probe, unsigned n) {
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned same = 0;
        while (same < kept && probe[same].at != probe[i].at) same++;
        if (same < kept)
            probe[same].adds += probe[i].adds;
        else
            probe[kept++] = probe[i];
    }
    return kept;
}

/* Blocked: sectors keep the probes of a key apart. */
TAMIS_INLINE unsigned vicbf_probes_in_line(const vicbf_shape *shape, uint64_t hash,
                                           vicbf_probe *ret_probe) {
    uint64_t const line = sectors_line(&shape->layout, hash);
    unsigned const hashes = vicbf_hashes(shape, hash);
    for (unsigned i = 0; i < hashes; i++) {
        uint64_t       chosen = remix(hash, i);
        uint64_t const counter = sectors_pick(&shape->layout, i, &chosen);
        ret_probe[i] =
            (vicbf_probe){ line + counter * shape->bits, increments_pick(&shape->d, chosen) };
    }
    return hashes;
}

/* All probes of a key, joined. Returns how many. One random number per hash selects the counter,
 * and what is left of it the increment. */
TAMIS_INLINE unsigned vicbf_probes(const vicbf_shape *shape, uint64_t hash,
                                   vicbf_probe *ret_probe) {
    if (shape->layout.lines != 0) return vicbf_probes_in_line(shape, hash, ret_probe);
    unsigned const hashes = vicbf_hashes(shape, hash);
    uint64_t       seen = 0; /* counters modulo 64: if all differ, no two probes can meet */
    for (unsigned i = 0; i < hashes; i++) {
        uint64_t       chosen = remix(hash, i);
        uint64_t const counter = fastrange_next(&chosen, shape->layout.counters);
        ret_probe[i] = (vicbf_probe){ counter * shape->bits, increments_pick(&shape->d, chosen) };
        seen |= UINT64_C(1) << (counter % 64);
    }
    return bits_popcount(seen) == hashes ? hashes : vicbf_join(ret_probe, hashes);
}

/* May a counter of value c hold a probe that adds this number? */
TAMIS_INLINE bool vicbf_may_hold(const vicbf_shape *shape, uint64_t c, uint64_t adds) {
    return c == shape->top || increments_may_hold(&shape->d, c, adds);
}

/* The same for increment number `which` of D alone, from the table if there is one. */
TAMIS_INLINE bool vicbf_may_hold_one(const vicbf_shape *shape, uint64_t c, uint64_t which,
                                     bool is_listed) {
    if (is_listed) return (shape->holds[c] >> which & 1) != 0;
    return vicbf_may_hold(shape, c, shape->d.value[which]);
}

/* ------------------------------------------------------------------ lookups, blocked */

/* May the counter of a key in sector i hold it? */
TAMIS_INLINE bool vicbf_line_holds(const vicbf_shape *shape, counters line, uint64_t hash,
                                   unsigned i, bool is_listed) {
    uint64_t       chosen = remix(hash, i);
    uint64_t const counter = sectors_pick(&shape->layout, i, &chosen);
    uint64_t const which = fastrange(chosen, shape->d.n);
    return vicbf_may_hold_one(shape, counters_get(line, counter * line.bits), which, is_listed);
}

/* Counter by counter, until one excludes the key. The first two are tested together: after one of
 * them alone, the branch would be a coin toss that the processor mispredicts half of the time. */
TAMIS_INLINE bool vicbf_has_in_line(const vicbf_shape *shape, counters cells, uint64_t hash,
                                    bool is_listed) {
    uint8_t *const first_byte = cells.body + sectors_line(&shape->layout, hash) / 8;
    counters const line = { first_byte, cells.bits, cells.top };
    unsigned const hashes = vicbf_hashes(shape, hash);
    unsigned const first = vicbf_line_holds(shape, line, hash, 0, is_listed);
    unsigned const second = vicbf_line_holds(shape, line, hash, hashes > 1, is_listed);
    if ((first & second) == 0) return false;
    for (unsigned i = 2; i < hashes; i++) {
        if (!vicbf_line_holds(shape, line, hash, i, is_listed)) return false;
    }
    return true;
}

/* Counters of any width. Those of 8 bits have an instance of their own in vicbf_has. */
static __attribute__((noinline)) bool vicbf_has_in_any_line(const vicbf_shape *shape, uint8_t *body,
                                                            uint64_t hash) {
    return vicbf_has_in_line(shape, counters_of(&shape->layout, body), hash, shape->is_listed);
}

/* ------------------------------------------------------------------ lookups, scattered */

/* All counters of the key hold it one by one, and some of them may be the same: do they hold it
 * with the joined probes, too? Rarely asked. */
static __attribute__((noinline)) bool vicbf_holds_together(const vicbf_shape *shape, counters cells,
                                                           uint64_t hash) {
    vicbf_probe    probe[VI_MAX_HASHES + 1];
    unsigned const n = vicbf_probes(shape, hash, probe);
    for (unsigned i = 0; i < n; i++) {
        if (!vicbf_may_hold(shape, counters_get(cells, probe[i].at), probe[i].adds)) return false;
    }
    return true;
}

/* Counter by counter, until one excludes the key. */
static __attribute__((noinline)) bool vicbf_has_anywhere(const vicbf_shape *shape, counters cells,
                                                         uint64_t hash) {
    unsigned const hashes = vicbf_hashes(shape, hash);
    uint64_t       seen = 0; /* counters modulo 64 */
    for (unsigned i = 0; i < hashes; i++) {
        uint64_t       chosen = remix(hash, i);
        uint64_t const counter = fastrange_next(&chosen, shape->layout.counters);
        uint64_t const c = counters_get(cells, counter * cells.bits);
        /* What fastrange_next() left of the number chooses the increment, as in vicbf_probes(). */
        uint64_t const which = fastrange(chosen, shape->d.n);
        if (!vicbf_may_hold_one(shape, c, which, shape->is_listed)) return false;
        seen |= UINT64_C(1) << (counter % 64);
    }
    return bits_popcount(seen) == hashes || vicbf_holds_together(shape, cells, hash);
}

/* ------------------------------------------------------------------ one key */

/* Three forms: scattered; blocked with the usual counters of 8 bits, which are bytes; blocked with
 * any others. */
static bool vicbf_has(const tamis_table *table, uint64_t hash) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    if (shape->layout.lines == 0)
        return vicbf_has_anywhere(shape, counters_of(&shape->layout, table->body), hash);
    if (shape->bits != 8 || !shape->is_listed)
        return vicbf_has_in_any_line(shape, table->body, hash);
    return vicbf_has_in_line(shape, (counters){ table->body, 8, 255 }, hash, true);
}

/* Each counter gets all that the key adds to it. One that passes its maximum is stuck there. */
static tamis_status vicbf_add(tamis_table *table, uint64_t hash) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    vicbf_probe              probe[VI_MAX_HASHES + 1];
    counters const           cells = counters_of(&shape->layout, table->body);
    unsigned const           n = vicbf_probes(shape, hash, probe);
    uint64_t                 stuck = 0;
    bool                     is_changed = false;
    for (unsigned i = 0; i < n; i++) {
        is_changed |= counters_up(cells, probe[i].at, probe[i].adds, &stuck);
    }
    table->saturated += stuck;
    table->keys += is_changed; /* an add that met only stuck counters is not counted */
    return TAMIS_OK;
}

/* All counters are looked at before any is changed. All stuck: nothing changes. */
static tamis_status vicbf_remove(tamis_table *table, uint64_t hash) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    vicbf_probe              probe[VI_MAX_HASHES + 1];
    counters const           cells = counters_of(&shape->layout, table->body);
    unsigned const           n = vicbf_probes(shape, hash, probe);
    bool                     is_changed = false;
    for (unsigned i = 0; i < n; i++) {
        if (!vicbf_may_hold(shape, counters_get(cells, probe[i].at), probe[i].adds))
            return TAMIS_ERR_ABSENT;
    }
    for (unsigned i = 0; i < n; i++) {
        is_changed |= counters_down(cells, probe[i].at, probe[i].adds);
    }
    table->keys -= is_changed && table->keys != 0;
    return is_changed ? TAMIS_OK : TAMIS_ERR_SATURATED;
}

/* The fewest copies that any counter allows which is not stuck. All stuck: many. A counter of 22
 * allows a key that adds 8 one copy: without one 14 is left, which is a sum; without two 6, which
 * is none. */
static uint64_t vicbf_count(const tamis_table *table, uint64_t hash) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    vicbf_probe              probe[VI_MAX_HASHES + 1];
    unsigned const           n = vicbf_probes(shape, hash, probe);
    uint64_t                 least = TAMIS_COUNT_MANY;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const c = field_get(table->body, probe[i].at, shape->bits);
        if (c != shape->top) least = min_u64(least, increments_most(&shape->d, c, probe[i].adds));
    }
    return least;
}

/* Keys in a chunk: few, so that the lines prefetched for the next chunk are still on their way or
 * in the first cache when its turn comes. */
#define VICBF_CHUNK 16

/* A lookup of an absent key needs one or two of its counters, an update all of them. */
static void vicbf_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                        bool is_update) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    const sectors *const     layout = &shape->layout;
    unsigned const           probes = is_update ? shape->hashes : 2;
    for (unsigned i = 0; i < n && layout->lines != 0; i++) {
        prefetch_to_read(table->body + sectors_line(layout, hash[i]) / 8);
    }
    for (unsigned i = 0; i < n && layout->lines == 0; i++) {
        for (unsigned j = 0; j < probes && j < shape->hashes; j++) {
            uint64_t const counter = fastrange(remix(hash[i], j), layout->counters);
            prefetch_to_read(table->body + counter * shape->bits / 8);
        }
    }
}

/* ------------------------------------------------------------------ merging and subtracting */

/* A sum that reaches the maximum gets stuck, so a merge never fails for lack of room. */
static tamis_status vicbf_merge(tamis_table *into, const tamis_table *from) {
    into->saturated += counters_add_all(&vicbf_shape_of(into)->layout, into->body, from->body);
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* For counters_hold_all(): can a counter hold this rest? */
static bool vicbf_can_be(const void *d, uint64_t rest) {
    return increments_make_up(d, rest);
}

/* What is left of each counter must be a sum of increments (I3). */
static tamis_status vicbf_subtract(tamis_table *into, const tamis_table *from) {
    const vicbf_shape *const shape = vicbf_shape_of(into);
    if (!counters_hold_all(&shape->layout, into->body, from->body, vicbf_can_be, &shape->d))
        return TAMIS_ERR_ABSENT;
    counters_take_all(&shape->layout, into->body, from->body);
    into->keys = sub_or_0(into->keys, from->keys); /* not all of them may have been counted */
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the table as it is */

/* What a pass over the counters finds: the chance that an absent key passes, and how many counters
 * are not 0. */
typedef struct vicbf_contents {
    double   fpr;
    uint64_t used;
} vicbf_contents;

/* The share of all pairs of an increment and one of the n counters from `first` on in which the
 * counter may contain the increment. Counters that are not 0 are added to `used`. */
static double vicbf_share(const tamis_table *table, uint64_t first, uint64_t n, uint64_t *used) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    uint64_t                 pass = 0;
    for (uint64_t i = first; i < first + n; i++) {
        uint64_t const c = field_get(table->body, sectors_at(&shape->layout, i), shape->bits);
        *used += c != 0;
        for (unsigned j = 0; j < shape->d.n && c != 0; j++) {
            pass += vicbf_may_hold(shape, c, shape->d.value[j]);
        }
    }
    return (double)pass / (double)(n * shape->d.n);
}

/* The chance that an absent key of this line passes all its sectors. Only some keys have the last
 * sector, if there is one for `more`. */
static double vicbf_line_fpr(const tamis_table *table, uint64_t line, uint64_t *used) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    const sectors *const     layout = &shape->layout;
    double const             more = shape->more / 256.0;
    double                   rate = 1;
    /* The last sector is asked by a share `more` of keys; the others pass it in any case. */
    for (unsigned i = 0; i < shape->hashes + (shape->more != 0); i++) {
        uint64_t const first = line * layout->per_line + layout->first[i];
        uint64_t const size = layout->first[i + 1] - layout->first[i];
        double const   share = vicbf_share(table, first, size, used);
        rate *= i < shape->hashes ? share : 1 - more + more * share;
    }
    return rate;
}

/* Blocked: the mean over all lines. */
static vicbf_contents vicbf_read_lines(const tamis_table *table) {
    uint64_t const lines = vicbf_shape_of(table)->layout.lines;
    vicbf_contents found = { 0, 0 };
    for (uint64_t line = 0; line < lines; line++) {
        found.fpr += vicbf_line_fpr(table, line, &found.used);
    }
    found.fpr /= (double)lines;
    return found;
}

/* Scattered: by how many counters of each value there are. */
static vicbf_contents vicbf_read_scattered(const tamis_table *table) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    vi_rate                  rate;
    tamis_vi_rate_begin(&rate, &shape->d, (double)shape->layout.counters, shape->hashes,
                        shape->more);
    for (uint64_t i = 0; i < shape->layout.counters; i++) {
        uint64_t const c = field_get(table->body, sectors_at(&shape->layout, i), shape->bits);
        vi_rate_add(&rate, c == shape->top ? VI_RATE_STUCK : c);
    }
    return (vicbf_contents){ tamis_vi_rate_end(&rate), rate.used };
}

/* The number of keys is estimated from the share of counters that are not 0, as in a Bloom filter:
 * copies of a key do not change it. Stuck counters may outlive their keys, and still count. */
static void vicbf_survey(const tamis_table *table, kind_survey *ret_survey) {
    bool const           is_blocked = vicbf_shape_of(table)->layout.lines != 0;
    double const         m = (double)table->geometry[VI_COUNTERS];
    double const         k = vi_mean_hashes(table->geometry);
    vicbf_contents const found = is_blocked ? vicbf_read_lines(table) : vicbf_read_scattered(table);
    *ret_survey = (kind_survey){ .fpr = found.fpr,
                                 .distinct = tamis_bloom_distinct(m, k, (double)found.used),
                                 .load = (double)found.used / m };
}

/* ------------------------------------------------------------------ validation */

static bool vicbf_validate(const tamis_table *table, const char **reterr_why) {
    const vicbf_shape *const shape = vicbf_shape_of(table);
    uint64_t                 saturated = 0;
    double                   sum = 0;
    TAMIS_REQUIRE(sectors_gaps_are_zero(&shape->layout, table->body, table->body_bytes), reterr_why,
                  "I1: a bit is set that belongs to no counter");
    for (uint64_t i = 0; i < shape->layout.counters; i++) {
        uint64_t const c = field_get(table->body, sectors_at(&shape->layout, i), shape->bits);
        saturated += c == shape->top;
        sum += (double)c;
        TAMIS_REQUIRE(c == shape->top || increments_make_up(&shape->d, c), reterr_why,
                      "I3: a counter is not a sum of increments");
    }
    TAMIS_REQUIRE(saturated == table->saturated, reterr_why,
                  "I2: the stored number of saturated counters is wrong");
    bool const is_told = shape->d.n == 1 && shape->more == 0 && saturated == 0;
    TAMIS_REQUIRE(!is_told || sum == (double)table->keys * shape->hashes, reterr_why,
                  "I4: the counters do not sum up to k x keys");
    return true;
}

KIND_EXPORT(vicbf) = {
    .name = "vicbf",
    .summary = "counting filter with variable increments: a third smaller than counting",
    .isa = KIND_ISA,
    .copies_take_room = true,
    .fields = { { "counters", 2, UINT64_C(1) << 62 },
                { "hashes", 1, VI_MAX_HASHES },
                { "more", 0, 255 },
                { "counter_bits", VI_MIN_BITS, VI_MAX_BITS },
                { "increments", 2, UINT32_MAX - 1 },
                { "blocked", 0, 1 },
                { NULL, 0, 0 } },
    .plan = vicbf_plan,
    .body_bytes = tamis_vi_body_bytes,
    .predict = tamis_vi_predict,
    .count_to = tamis_vi_count_to,
    .most_count = VI_MAX_COUNT,
    .prepare = vicbf_prepare,
    .calls = {
        .has = vicbf_has,
        .add = vicbf_add,
        .remove = vicbf_remove,
        .count = vicbf_count,
        .fetch = vicbf_fetch,
        .chunk = VICBF_CHUNK,
    },
    .merge = vicbf_merge,
    .subtract = vicbf_subtract,
    .survey = vicbf_survey,
    .validate = vicbf_validate,
    .empties_to_zero = true,
};
