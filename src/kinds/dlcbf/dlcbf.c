/* dlcbf.c - the d-left counting filter: fingerprints in the least loaded of d buckets.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "An Improved Construction
 * for Counting Bloom Filters", ESA 2006. The paper's names: d subtables of B buckets with c cells
 * each, r bits of remainder.
 *
 * Idea
 * ----
 * A key is a fingerprint f, a number below B 2^r whose low r bits are not 0. It has one bucket in
 * each of d subtables, and in that bucket a remainder: P_i(f) says both (core/dleft.h). The key
 * goes to the least loaded of its d buckets; of several, to the leftmost. That balances so well
 * that buckets can be five sixths full and still never overflow.
 *
 *         subtable 1          subtable 2          subtable 3
 *     +---+---+---+---+   +---+---+---+---+   +---+---+---+---+
 *     | r   r   r   . |   | r   r   .   . |   | r   r   r   . |
 *     +---+---+---+---+   +---+---+---+---+   +---+---+---+---+
 *       bucket of P_1(f)    bucket of P_2(f)    bucket of P_3(f)
 *                           least loaded: f goes here
 *
 * A cell (core/cells.h) is a remainder, never 0, and above it a counter of copies less one:
 *
 *     | counter, C bits | remainder, r bits |          0: an empty cell
 *
 * Worked example of a permutation, with B = 4 buckets and r = 3 bits, so N = 32, and the factor 13:
 *
 *     f = 11 = 01|011      P(f) = 13 x 11 mod 32 = 15 = 01|111      bucket 1, remainder 7
 *     back                 5 x 15 mod 32 = 11, since 5 x 13 = 65 = 1 mod 32
 *
 * The paper's own table (section 5.1) has d = 4, B = 2048, c = 8, r = 14 and C = 2. With 49152
 * keys, 6 for each bucket, the fpr is 49152 / (2048 x 16383) = 0.146%. Cells of 16 bits at a load
 * of 6 of 8 are 21.3 bits for a key.
 *
 * Why permutations
 * ----------------
 * With d independent buckets and one remainder for all of them, two keys can leave the same
 * remainder in two buckets that both belong to a third key. Then it is not known which one to
 * remove for that third key. As P_i is a permutation, a remainder in a bucket of subtable i can
 * come from one f only. So equal cells are equal fingerprints, and any of them can be removed.
 *
 * Copies
 * ------
 * If one counter is full, further copies take further cells, up to DLCBF_COPIES (4) in total. When
 * all of these are full, the fingerprint is saturated and stays for ever. Without counters (C = 0)
 * a fingerprint is stored once, and there is no removal.
 *
 *     C = 2, 6 copies    a cell of 4 (counter 3) and one of 2 (counter 1), which may be elsewhere
 *     one removal        4 and 1, counters 3 and 0; the next removal deletes the second cell
 *
 * Moves
 * -----
 * When all d buckets of a key are full (section 5.2), a cell of the first bucket is moved to
 * another bucket of its own that has room: P_1 can be undone, so all buckets of that cell are
 * known. `moved` counts how often that was needed.
 *
 *     bucket of P_1(f)   | a b c d |     full, and so are those of P_2(f) to P_d(f)
 *     a moves            | d b c . |     the first cell that has room elsewhere; the last one, d,
 *                                        takes its place
 *     f is added         | d b c f |
 *
 * Invariants (checked by dlcbf_validate)
 *   I1  in a bucket the used cells come first, no remainder is 0, and the rest of the bucket is 0;
 *   I2  a fingerprint has at most 4 cells (1 without counters), and all but one of them are full;
 *   I3  the copies of all cells sum up to `keys`; `saturated` fingerprints have 4 full cells.
 */
#include "core/cells.h"
#include "core/checked.h"
#include "core/dleft.h"
#include "kind.h"
#include "prints_plan.h"
#include "size.h"

#include <math.h>

/* The geometry worked out. With C = 2, a cell counts to full = 4, and a fingerprint to most =
 * 16. */
typedef struct dlcbf_shape {
    cells_shape cells;
    dleft       places;
    uint64_t    full; /* most copies of one cell */
    uint64_t    most; /* most copies of a fingerprint: then it is saturated */
} dlcbf_shape;

static_assert(sizeof(dlcbf_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* ------------------------------------------------------------------ planning */

static tamis_status dlcbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    return tamis_dlcbf_choose(need, ret_geometry) ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

static bool dlcbf_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    uint64_t bytes;
    if (!tamis_dlcbf_bytes(geometry, &bytes)) return false;
    return checked_body_bytes(bytes, 8, FIELD_PAD_BYTES, ret_bytes);
}

/* Without counters a fingerprint is stored once, for all keys that have it: nothing can be
 * removed. */
static unsigned dlcbf_lacks(const uint64_t *geometry) {
    return geometry[DLCBF_COUNTER_BITS] == 0 ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0;
}

static uint64_t dlcbf_prints(const uint64_t *geometry) {
    return tamis_dlcbf_prints(geometry);
}

/* Overflow is that of d-left hashing with as many cells as the keys take: a key with c copies takes
 * c / full cells, rounded up, and one of them may be flooded, which takes up to DLCBF_COPIES cells.
 * Without counters a copy takes nothing. */
static void dlcbf_predict(const uint64_t *g, const tamis_workload *work,
                          tamis_forecast *ret_forecast) {
    uint64_t const capacity = work->capacity, lifetime = work->lifetime;
    double const   n = (double)capacity, t = (double)lifetime;
    uint64_t const prints = tamis_dlcbf_prints(g);
    bool const     is_counted = g[DLCBF_COUNTER_BITS] != 0;
    double const   cells = is_counted ? ceil((double)work->copies / (double)dlcbf_full(g)) : 1;
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_prints_fpr(prints, n),
        .overflow = tamis_dlcbf_overflow(g, n * cells + DLCBF_COPIES - 1, t * cells),
        .saturation = prints_saturation(prints, dlcbf_most(g), work),
    };
    tamis_dlcbf_touches(g, n, &ret_forecast->lines_present, &ret_forecast->lines_absent,
                        &ret_forecast->lines_add);
}

/* What operations need of the geometry: the cells, and the permutations, which are made once. */
static void dlcbf_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    uint64_t              bytes;
    if (!tamis_dlcbf_bytes(g, &bytes)) return; /* it will get no body either */
    dlcbf_shape const shape = { .cells = cells_make(
                                    (cells_shape){ .n = (unsigned)g[DLCBF_CELLS],
                                                   .bits = (unsigned)dleft_cell_bits(g),
                                                   .print_bits = (unsigned)g[DLCBF_REMAINDER_BITS],
                                                   .bytes = (unsigned)g[DLCBF_BUCKET_BYTES] }),
                                .places = dleft_make((unsigned)g[DLCBF_TABLES], g[DLCBF_BUCKETS],
                                                     (unsigned)g[DLCBF_REMAINDER_BITS], true),
                                .full = UINT64_C(1) << g[DLCBF_COUNTER_BITS],
                                .most = dlcbf_most(g) };
    memcpy(table->derived, &shape, sizeof shape);
}

TAMIS_INLINE const dlcbf_shape *dlcbf_shape_of(const tamis_table *table) {
    return (const dlcbf_shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ where a key belongs */

/* A bucket of a key, and the key's remainder there. */
typedef struct dlcbf_place {
    uint8_t *bucket;
    uint64_t remainder;
} dlcbf_place;

/* The place in subtable i. Buckets are numbered through all subtables. Their cells need not fill
 * their bytes: a bucket of a fast table is padded, so that it lies in one cache line. */
TAMIS_INLINE dlcbf_place dlcbf_place_in(const tamis_table *table, uint64_t fingerprint,
                                        unsigned i) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    dleft_place const        place = dleft_place_in(&s->places, fingerprint, i);
    return (dlcbf_place){ table->body + place.bucket * s->cells.bytes, place.print };
}

/* Copies that a cell stands for: 1 and what its counter says. A cell with a remainder and a counter
 * of 0 is one copy; that is no empty cell, since no remainder is 0. */
TAMIS_INLINE uint64_t dlcbf_copies(const dlcbf_shape *s, uint64_t cell) {
    return 1 + (cell >> s->cells.print_bits);
}

/* The reverse: a cell of this many copies. */
TAMIS_INLINE uint64_t dlcbf_cell(const dlcbf_shape *s, uint64_t copies, uint64_t remainder) {
    return (copies - 1) << s->cells.print_bits | remainder;
}

/* ------------------------------------------------------------------ looking */

/* All that a table has of a fingerprint, and the best bucket for a new cell of it. */
typedef struct dlcbf_found {
    uint64_t    copies;  /* in all its cells */
    unsigned    cells;   /* how many it has */
    unsigned    partial; /* how many of them are not full: at most 1 by I2 */
    unsigned    cell;    /* the one that is not full, or any if all are */
    uint8_t    *bucket;  /* the bucket of that cell */
    dlcbf_place least;   /* the least loaded bucket */
    unsigned    load;    /* its cells in use */
} dlcbf_found;

/* Add up the cells of a fingerprint in one bucket; `cell` is the first, or n if there is none. */
TAMIS_INLINE void dlcbf_look_in(const dlcbf_shape *s, dlcbf_place place, unsigned cell,
                                dlcbf_found *found) {
    for (; cell < s->cells.n;
         cell = cells_next(&s->cells, place.bucket, place.remainder, cell + 1)) {
        uint64_t const copies = dlcbf_copies(s, cells_get(&s->cells, place.bucket, cell));
        found->copies += copies;
        found->partial += copies < s->full;
        /* Keep the first cell, and replace it by one that is not full. */
        if (found->cells++ != 0 && copies == s->full) continue;
        found->bucket = place.bucket;
        found->cell = cell;
    }
}

/* Look through all d buckets, even after a match: further cells of the fingerprint may be in
 * others, where they went because these were less loaded when they came. The paper's add must
 * search all buckets for the fingerprint before it places it, too; else one fingerprint would have
 * two cells although the counter of the first has room (I2). */
TAMIS_INLINE dlcbf_found dlcbf_look(const tamis_table *table, uint64_t fingerprint) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    dlcbf_found              found = { .load = UINT32_MAX };
    for (unsigned i = 0; i < s->places.tables; i++) {
        dlcbf_place const place = dlcbf_place_in(table, fingerprint, i);
        cells_seen const  seen = cells_see(&s->cells, place.bucket, place.remainder);
        dlcbf_look_in(s, place, seen.first, &found);
        if (seen.used >= found.load) continue; /* ties go to the left */
        found.least = place;
        found.load = seen.used;
    }
    return found;
}

/* ------------------------------------------------------------------ changing */

/* All buckets of a fingerprint are full: move a cell of the first one to another bucket of that
 * cell's own fingerprint. False: none of them has room. The moved cell keeps its counter; only its
 * remainder is another in the other bucket. */
static __attribute__((noinline)) bool dlcbf_make_room(tamis_table *table, uint64_t fingerprint) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    uint8_t *const           full = dlcbf_place_in(table, fingerprint, 0).bucket;
    uint64_t const           bucket = (uint64_t)(full - table->body) / s->cells.bytes;
    /* The keys of this bucket have other buckets in the other subtables, each its own: so one of n
     * cells finds room where the new key did not. */
    for (unsigned cell = 0; cell < s->cells.n; cell++) {
        uint64_t const    moved = cells_get(&s->cells, full, cell);
        dleft_place const place = { bucket, cells_print(&s->cells, moved) };
        dlcbf_found const found = dlcbf_look(table, dleft_fingerprint_of(&s->places, place));
        if (found.load == s->cells.n) continue;
        /* Not to the bucket that it is in: that one is full. */
        cells_set(&s->cells, found.least.bucket, found.load,
                  dlcbf_cell(s, dlcbf_copies(s, moved), found.least.remainder));
        cells_delete(&s->cells, full, cell, s->cells.n);
        table->moved++;
        return true;
    }
    return false;
}

/* A new cell with this many copies. False: there is no room, and nothing has changed. */
static bool dlcbf_new_cell(tamis_table *table, uint64_t fingerprint, const dlcbf_found *found,
                           uint64_t copies) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    dlcbf_place              place = found->least;
    unsigned                 at = found->load;
    if (__builtin_expect(at == s->cells.n, 0)) {
        if (table->geometry[DLCBF_MOVES] == 0 || !dlcbf_make_room(table, fingerprint)) return false;
        place = dlcbf_place_in(table, fingerprint, 0);
        at = s->cells.n - 1;
    }
    cells_set(&s->cells, place.bucket, at, dlcbf_cell(s, copies, place.remainder));
    return true;
}

/* The cell that was found has this many copies from now on. Its remainder stays, so its place among
 * the cells of the bucket may, too: they are in no order. */
static void dlcbf_set_copies(const dlcbf_shape *s, const dlcbf_found *found, uint64_t copies) {
    uint64_t const old = cells_get(&s->cells, found->bucket, found->cell);
    cells_set(&s->cells, found->bucket, found->cell,
              dlcbf_cell(s, copies, cells_print(&s->cells, old)));
}

/* Add up to `copies` copies, as many as fit into one cell; returns how many. 0: there is no
 * room. */
TAMIS_INLINE uint64_t dlcbf_add_some(tamis_table *table, uint64_t fingerprint, uint64_t copies,
                                     const dlcbf_found *found) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    /* What all its cells could count and do not: all of it is in one cell (I2). With full = 4,
     * cells of 4 and 1 copies: 2 x 4 - 5 = 3. */
    uint64_t const open = found->cells * s->full - found->copies;
    uint64_t const added = min_u64(copies, open != 0 ? open : s->full);
    if (open != 0)
        dlcbf_set_copies(s, found, s->full - open + added);
    else if (!dlcbf_new_cell(table, fingerprint, found, added))
        return 0;
    table->keys += added;
    table->saturated += s->most > 1 && found->copies + added == s->most;
    return added;
}

/* ------------------------------------------------------------------ keys, by their hash */

/* From the left, as keys are placed: on ties the left bucket gets the key, so the first subtables
 * have a little more of them, and a key that is there is found a little sooner. */
static bool dlcbf_has(const tamis_table *table, uint64_t hash) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    uint64_t const           fingerprint = dleft_fingerprint(&s->places, hash);
    for (unsigned i = 0; i < s->places.tables; i++) {
        dlcbf_place const place = dlcbf_place_in(table, fingerprint, i);
        if (cells_has(&s->cells, place.bucket, place.remainder)) return true;
    }
    return false;
}

/* One look tells all: the copies that are there, a cell that can count one more, and the least
 * loaded bucket. Only when all buckets are full is another cell looked at (dlcbf_make_room). */
static tamis_status dlcbf_add(tamis_table *table, uint64_t hash) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    uint64_t const           fingerprint = dleft_fingerprint(&s->places, hash);
    dlcbf_found const        found = dlcbf_look(table, fingerprint);
    if (found.copies >= s->most) return TAMIS_OK; /* saturated; or stored once, without counters */
    return dlcbf_add_some(table, fingerprint, 1, &found) != 0 ? TAMIS_OK : TAMIS_ERR_FULL;
}

/* One copy less. By I2 all cells but one are full, so it is taken from the one that is not. */
static tamis_status dlcbf_remove(tamis_table *table, uint64_t hash) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    dlcbf_found const        found = dlcbf_look(table, dleft_fingerprint(&s->places, hash));
    if (found.copies == 0) return TAMIS_ERR_ABSENT;
    if (found.copies >= s->most) return TAMIS_ERR_SATURATED; /* it stays */
    /* What all its cells could count and do not is missing in that one: with full = 4, cells of 4
     * and 1 copies, 4 - (2 x 4 - 5) = 1. */
    uint64_t const in_cell = s->full - (found.cells * s->full - found.copies);
    if (in_cell > 1)
        dlcbf_set_copies(s, &found, in_cell - 1);
    else
        cells_delete(&s->cells, found.bucket, found.cell, cells_used(&s->cells, found.bucket));
    table->keys--;
    return TAMIS_OK;
}

static uint64_t dlcbf_count(const tamis_table *table, uint64_t hash) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    dlcbf_found const        found = dlcbf_look(table, dleft_fingerprint(&s->places, hash));
    return found.copies >= s->most ? TAMIS_COUNT_MANY : found.copies;
}

/* Keys of a chunk: their buckets are on their way from memory while the chunk before is worked on.
 * A bucket may lie in two cache lines. */
#define DLCBF_CHUNK 8

/* All d buckets, though a lookup that finds its key early needs fewer: which ones is not known
 * before. They are asked for to be read, also by updates, which change only one of them. */
static void dlcbf_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                        bool is_update) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    (void)is_update;
    for (unsigned k = 0; k < n; k++) {
        uint64_t const fingerprint = dleft_fingerprint(&s->places, hash[k]);
        for (unsigned i = 0; i < s->places.tables; i++) {
            const uint8_t *const bucket = dlcbf_place_in(table, fingerprint, i).bucket;
            prefetch_to_read(bucket);
            prefetch_to_read(bucket + s->cells.bytes - 1);
        }
    }
}

/* ------------------------------------------------------------------ whole tables */

/* Visits every cell: first the first cells of all buckets, then the second ones, and so on
 * (core/cells.h). So a table that is merged into another one fills that evenly. */
typedef struct dlcbf_walk {
    cells_walk at;
    uint64_t   fingerprint, copies; /* of the cell where it is */
} dlcbf_walk;

/* Go to the next cell that is used; false after the last. A bucket and a remainder are a
 * fingerprint again, since the permutation of the subtable can be undone. */
static bool dlcbf_next(const tamis_table *table, dlcbf_walk *walk) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    if (!cells_walk_on(&s->cells, table->body, dleft_all(&s->places), &walk->at)) return false;
    dleft_place const place = { walk->at.bucket, cells_print(&s->cells, walk->at.found) };
    walk->fingerprint = dleft_fingerprint_of(&s->places, place);
    walk->copies = dlcbf_copies(s, walk->at.found);
    return true;
}

/* Fingerprints with a low part of 0 do not exist (I1), so they are left out of the numbering of
 * prints that other kinds share: there are B (2^r - 1) of them. Below f, f / 2^r + 1 of them are
 * left out: for r = 3, f = 11 is print 11 - 1 - 1 = 9, after 1 to 7 (prints 0 to 6), 9 and 10 (7
 * and 8). */
static bool dlcbf_each(const tamis_table *table, kind_visit *visit, void *context) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    dlcbf_walk               walk = { .copies = 0 };
    while (dlcbf_next(table, &walk)) {
        uint64_t const print = walk.fingerprint - (walk.fingerprint >> s->cells.print_bits) - 1;
        bool const     is_many = s->most > 1 && walk.copies == s->full &&
                             dlcbf_look(table, walk.fingerprint).copies >= s->most;
        if (!visit(context, print, is_many ? TAMIS_COUNT_MANY : walk.copies)) return false;
    }
    return true;
}

/* Copies beyond what a fingerprint can have saturate it; `keys` counts what is stored. */
static tamis_status dlcbf_merge(tamis_table *into, const tamis_table *from) {
    uint64_t const most = dlcbf_shape_of(into)->most;
    dlcbf_walk     walk = { .copies = 0 };
    while (dlcbf_next(from, &walk)) {
        /* In steps of what fits into one cell. Nothing is added to a saturated fingerprint. */
        for (uint64_t left = walk.copies, added; left != 0; left -= added) {
            dlcbf_found const found = dlcbf_look(into, walk.fingerprint);
            added = min_u64(left, most - found.copies);
            if (added == 0) break;
            added = dlcbf_add_some(into, walk.fingerprint, added, &found);
            if (added == 0) return TAMIS_ERR_FULL;
        }
    }
    return TAMIS_OK;
}

/* Does the cell where the walk is stand for its fingerprint? One cell of each does: the one that is
 * not full, or else the first (dlcbf_look finds that one). A cell that is not full is always it. */
static bool dlcbf_stands_for_all(const tamis_table *table, const dlcbf_walk *walk) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    if (s->most == 1 || walk->copies < s->full) return true;
    dlcbf_found const found = dlcbf_look(table, walk->fingerprint);
    return found.bucket == table->body + walk->at.bucket * s->cells.bytes &&
           found.cell == walk->at.cell;
}

/* A lookup says yes if the fingerprint is stored, so the fpr is the share of stored fingerprints. A
 * fingerprint with several cells counts once. */
static void dlcbf_survey(const tamis_table *table, kind_survey *ret_survey) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    uint64_t const           all = tamis_dlcbf_prints(table->geometry);
    uint64_t                 cells = 0, prints = 0;
    dlcbf_walk               walk = { .copies = 0 };
    while (dlcbf_next(table, &walk)) {
        cells++;
        prints += dlcbf_stands_for_all(table, &walk);
    }
    *ret_survey =
        (kind_survey){ .fpr = (double)prints / (double)all,
                       .distinct = tamis_prints_distinct(all, prints),
                       .load = (double)cells / (double)(dleft_all(&s->places) * s->cells.n),
                       .prints = prints };
}

/* A fingerprint that is saturated is met once for each of its cells, so the cells are counted. */
static bool dlcbf_validate(const tamis_table *table, const char **reterr_why) {
    const dlcbf_shape *const s = dlcbf_shape_of(table);
    uint64_t const           buckets = dleft_all(&s->places);
    uint64_t                 copies = 0, saturated_cells = 0;
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        TAMIS_REQUIRE(cells_are_whole(&s->cells, table->body + bucket * s->cells.bytes), reterr_why,
                      "I1: a bucket has a gap, a remainder of 0, or bits behind its cells");
    }
    TAMIS_REQUIRE(field_rest_is_zero(table->body, buckets * s->cells.bytes * 8, table->body_bytes),
                  reterr_why, "I1: bits behind the last bucket are not 0");
    dlcbf_walk walk = { .copies = 0 };
    while (dlcbf_next(table, &walk)) {
        dlcbf_found const found = dlcbf_look(table, walk.fingerprint);
        TAMIS_REQUIRE(found.copies <= s->most && found.partial <= 1, reterr_why,
                      "I2: a fingerprint has too many cells");
        copies += walk.copies;
        saturated_cells += s->most > 1 && found.copies == s->most;
    }
    TAMIS_REQUIRE(copies == table->keys, reterr_why, "I3: the copies do not sum up to the keys");
    /* A saturated fingerprint has DLCBF_COPIES cells, all full, and each was counted. */
    TAMIS_REQUIRE(saturated_cells / DLCBF_COPIES == table->saturated, reterr_why,
                  "I3: the number of saturated fingerprints is wrong");
    return true;
}

/* The maximum stands for "saturated". */
static uint64_t dlcbf_count_to(const uint64_t *g) {
    return dlcbf_most(g) - 1;
}

KIND_EXPORT(dlcbf) = {
    .name = "dlcbf",
    .summary = "d-left counting filter: fingerprints in the least loaded of d buckets",
    .isa = KIND_ISA,
    .fields = { { "tables", DLEFT_MIN_TABLES, DLEFT_MAX_TABLES },
                { "buckets", 1, PERMUTE_MAX >> DLEFT_MIN_PRINT_BITS },
                { "cells", 1, DLEFT_MAX_CELLS },
                { "remainder_bits", DLEFT_MIN_PRINT_BITS, DLCBF_MAX_REMAINDER_BITS },
                { "counter_bits", 0, DLCBF_MAX_COUNTER_BITS },
                { "bucket_bytes", 1, DLEFT_MAX_BUCKET_BYTES },
                { "moves", 0, 1 },
                { NULL, 0, 0 } },
    .plan = dlcbf_plan,
    .body_bytes = dlcbf_body_bytes,
    .predict = dlcbf_predict,
    .heeds_most_bytes = true,
    .count_to = dlcbf_count_to,
    .most_count = ((uint64_t)DLCBF_COPIES << DLCBF_MAX_COUNTER_BITS) - 1,
    .lacks = dlcbf_lacks,
    .prepare = dlcbf_prepare,
    .calls = {
        .has = dlcbf_has,
        .add = dlcbf_add,
        .remove = dlcbf_remove,
        .count = dlcbf_count,
        .fetch = dlcbf_fetch,
        .chunk = DLCBF_CHUNK,
    },
    .merge = dlcbf_merge,
    .merges_by_steps = true,
    .prints = dlcbf_prints,
    .each = dlcbf_each,
    .each_is_scattered = true,
    .survey = dlcbf_survey,
    .validate = dlcbf_validate,
    .empties_to_zero = true,
};
