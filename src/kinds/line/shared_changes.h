/* shared_changes.h - changes of tables of lines that many threads share (src/sharing.h).
 *
 * Changes are those of operations.h, on the table itself. A group is the 16 lines of a shelf:
 * nothing else changes when a key of theirs does, but the attic, which has a lock of its own.
 *
 *     line_hold()            lock the stripe of the key
 *     line_near_add()        most adds: its line has a free slot, and nothing else changes
 *     line_share_change()    all others: unlock, and lock again by way of share_change(), which
 *                            takes the attic's lock, too, if the change may need it
 *
 * Lookups of sets read the table in place (shared_lookups.h). Other lookups (counts, values) make a
 * copy: the line with its rests, and, if it is cut or full, its shelf with those. They have the
 * same form as in the table, so the functions of lines.h work on them; they only lie elsewhere:
 *
 *     byte  0         64        128
 *           +---------+---------+-----------------+--------------------+
 *           | line    | shelf   | rests of slots  | rests of the shelf |      a copy
 *           +---------+---------+-----------------+--------------------+
 *
 * Lines are found by their number, so the body of the copy seems to begin that many lines before
 * it; the offsets in its shape are corrected for that. The attic is not copied: a lookup that needs
 * it takes its lock.
 */
#ifndef TAMIS_KINDS_LINE_SHARED_CHANGES_H
#define TAMIS_KINDS_LINE_SHARED_CHANGES_H

#include "batches.h"
#include "sharing.h"
#include "size.h"

#define LINE_COPY_SHELF TAMIS_LINE_BYTES
#define LINE_COPY_RESTS (2 * TAMIS_LINE_BYTES)

/* The rests of a line may begin and end inside a word, so they can lie in two words more than they
 * fill. Those of a shelf begin at a word. */
static_assert(LINE_COPY_RESTS + (LINE_SLOTS * LINE_MAX_REST_BITS / 64 + 2 +
                                 SHELF_KEYS * LINE_MAX_REST_BITS / 64 + 1) *
                                    WORD_BYTES <=
                  SHARE_COPY_BYTES,
              "a copy has room for all");
#define LINE_GROUP_SHIFT 4
static_assert(1 << LINE_GROUP_SHIFT == SHELF_BUCKETS, "a group is the lines of a shelf");

/* ------------------------------------------------------------------ copies: where the parts are */

/* Words of the table: the first, and how many. Copies are made of whole words, since only these are
 * read in one piece while other threads write (core/words.h). */
typedef struct line_words {
    uint64_t first, n;
} line_words;

TAMIS_INLINE line_words line_slot_words(lines_view lines, uint64_t bucket) {
    uint64_t const first = lines_rest_at(lines, bucket, 0) / 64;
    uint64_t const end = (lines_rest_at(lines, bucket, LINE_SLOTS) + 63) / 64;
    return (line_words){ first, end - first };
}

TAMIS_INLINE line_words line_shelf_words(const shelf_view *shelves, uint64_t bucket) {
    uint64_t const first = shelf_rest_at(shelves, bucket, 0) / 64;
    return (line_words){ first, shelves->stride / 64 };
}

/* Let the copy's table find the parts of this bucket in the copy. For bucket 100 of a table without
 * rests: its line would be at byte 6400 of a body, and its shelf at 6 x 64 after the first one. So
 * the body of the copy is taken to begin 6400 bytes before it, and the first shelf 6 x 64 bytes
 * before the place of the shelf in it. The addresses in between are never used; they are computed
 * as integers, since C knows no pointers to there. The rests are shifted in the same way; they keep
 * their position in a word, so that whole words can be copied. */
TAMIS_INLINE void line_copy_place(share_copy *copy, uint64_t bucket) {
    lines_view const         from = line_view(copy->window.side);
    const lines_shape *const shape = from.shape;
    lines_shape *const       own = (lines_shape *)(void *)copy->window.table.derived;
    uint64_t const           origin = bucket * TAMIS_LINE_BYTES, group = bucket / SHELF_BUCKETS;
    uintptr_t const          body = (uintptr_t)copy->body - (uintptr_t)origin;
    copy->bucket = bucket;
    copy->window.table.body = (uint8_t *)body;
    own->shelves = origin + LINE_COPY_SHELF - group * TAMIS_LINE_BYTES;
    own->away = (uintptr_t)from.body - body;
    if (shape->rest_bits == 0) return;
    uint64_t const   at = lines_rest_at(from, bucket, 0), rests = 8 * (origin + LINE_COPY_RESTS);
    line_words const slots = line_slot_words(from, bucket);
    own->slot_rests = rests + at % 64 - (at - shape->slot_rests);
    own->shelf_rests = rests + 64 * slots.n - group * shape->shelf_stride;
}

/* ------------------------------------------------------------------ copying */

/* Returns whether the tail may go on in the attic: it may if the shelf is full. The rests of the
 * shelf are copied to just behind those of the slots. */
static bool line_copy_tail(share_copy *copy) {
    lines_view const from = line_view(copy->window.side);
    shelf_view const shelves = lines_shelves(from);
    uint8_t *const   shelf = copy->body + LINE_COPY_SHELF;
    words_read(shelf, shelf_line(&shelves, copy->bucket), LINE_WORDS);
    if (from.shape->rest_bits != 0) {
        line_words const slots = line_slot_words(from, copy->bucket);
        line_words const on_shelf = line_shelf_words(&shelves, copy->bucket);
        words_read(copy->body + LINE_COPY_RESTS + slots.n * WORD_BYTES,
                   from.body + on_shelf.first * WORD_BYTES, on_shelf.n);
    }
    return shelf_used(shelf_ones(shelf)) == SHELF_KEYS;
}

/* The line and its rests, and the tail if there may be one: a line that is neither cut nor full has
 * none. Returns whether the attic is needed, too. */
static bool line_copy(share_copy *copy, uint64_t hash) {
    lines_view const from = line_view(copy->window.side);
    uint64_t const   bucket = fastrange(hash, from.shape->buckets);
    line_copy_place(copy, bucket);
    words_read(copy->body, lines_at(from, bucket), LINE_WORDS);
    if (from.shape->rest_bits != 0) {
        line_words const slots = line_slot_words(from, bucket);
        words_read(copy->body + LINE_COPY_RESTS, from.body + slots.first * WORD_BYTES, slots.n);
    }
    runs const index = runs_load(copy->body);
    bool const has_tail = runs_are_cut(index) || runs_are_full(index);
    return __builtin_expect(has_tail, 0) && line_copy_tail(copy);
}

/* ------------------------------------------------------------------ changes */

/* How many entries may come to the shelf from a line when `more` are added? For one, these are the
 * last run and the new entry. Several may cut several runs: then the answer is "more than a shelf
 * holds". */
TAMIS_INLINE unsigned line_may_move(runs index, unsigned more) {
    unsigned const last = runs_here(index) != 0 ? runs_find_last(index).n : 0;
    return more > 1 ? SHELF_KEYS + 1 : more * (last + 1);
}

/* A change needs the attic if the shelf is full, or may be afterwards. It is called by a constant
 * pointer, which a compiler may see too late to inline it: so it must not be forced to (-Og). */
static inline bool line_needs_attic_here(const tamis_table *table, uint64_t hash, unsigned more) {
    lines_view const lines = line_view(table);
    uint64_t const   bucket = fastrange(hash, lines.shape->buckets);
    runs const       index = runs_load(lines_at(lines, bucket));
    if (!runs_are_cut(index) && !runs_are_full(index)) return false;
    shelf_view const shelves = lines_shelves(lines);
    unsigned const   used = shelf_used(shelf_ones(shelf_line(&shelves, bucket)));
    return used == SHELF_KEYS || used + line_may_move(index, more) > SHELF_KEYS;
}

static bool line_needs_attic(const tamis_table *table, uint64_t hash, unsigned more) {
    return line_needs_attic_here(table, hash, more);
}

/* What share_change() calls with the locks held: the ordinary operations. */
static tamis_status line_share_add(tamis_table *table, uint64_t hash, void *unused) {
    (void)unused;
    return line_shape_of(table)->lines.rest_bits == 0 ? line_add_as(table, hash, true, false)
                                                      : line_add_as(table, hash, false, false);
}

static tamis_status line_share_remove(tamis_table *table, uint64_t hash, void *unused) {
    (void)unused;
    return line_shape_of(table)->lines.rest_bits == 0 ? line_remove_as(table, hash, true, false)
                                                      : line_remove_as(table, hash, false, false);
}

#define LINE_DERIVED_WORDS (sizeof(line_shape) / sizeof(uint64_t))

/* What is constant for the functions below: all of it is inlined into them, in place of calls
 * through the pointers of line_sharing. */
static const kind_sharing line_inlined = { .derived_words = LINE_DERIVED_WORDS,
                                           .needs_attic = line_needs_attic_here,
                                           .copy = line_copy };

/* As line_fetch_tails(): the shelves of lines that are cut or full are prefetched before the first
 * key is worked on. An index that was read while it changed may prefetch a shelf in vain, or none;
 * that costs only time. */
TAMIS_INLINE void line_share_fetch_tails(const sharing *share, const uint64_t *hash, unsigned n) {
    const share_view *const view = share_view_now(share);
    if (view->table.body_bytes <= LINE_CACHED_BYTES) return;
    for (unsigned i = 0; i < n; i++) {
        lines_view const lines = line_view(share_side(view, hash[i]));
        uint64_t const   bucket = fastrange(hash[i], lines.shape->buckets);
        shelf_view const shelves = lines_shelves(lines);
        uint8_t          head[2 * WORD_BYTES] __attribute__((aligned(WORD_BYTES)));
        words_read(head, lines_at(lines, bucket), 2);
        runs const index = runs_load(head);
        if (runs_are_cut(index) || runs_are_full(index))
            prefetch_to_write(shelf_line(&shelves, bucket));
    }
}

/* The general form. The window serves all keys of a chunk. */
static __attribute__((noinline)) tamis_status line_share_change(sharing      *share,
                                                                share_window *window, uint64_t hash,
                                                                unsigned         more,
                                                                share_operation *operation) {
    return share_change(share, &line_inlined, window, hash, more, operation, NULL);
}

/* The line of a key, with its stripe locked. `before` goes back into the word of the stripe, one
 * version on, when the change is done: so the lock need not be read again. */
typedef struct line_held {
    lines_view          lines;
    lines_place         place;
    share_stripe_state *stripe;
    uint64_t            before; /* what the word of the stripe was */
    unsigned            which;  /* 1: the line is in `next` */
} line_held;

/* is_bare: the table is, and is in no step of growing; a constant. False: the view is another, or
 * the stripe is locked; nothing was done. */
TAMIS_INLINE bool line_hold(sharing *share, const share_view *view, uint64_t hash, bool is_bare,
                            line_held *ret_held) {
    share_stripe_state *const stripe = &share->stripes[share_stripe(view, hash)];
    uint64_t                  before;
    if (__builtin_expect(!stripe_lock_from(&stripe->word, &before), 0)) return false;
    const tamis_table *const side = is_bare ? &view->table : share_side(view, hash);
    lines_view const         lines = line_view_as(side, is_bare);
    *ret_held = (line_held){ lines, lines_find(lines, hash), stripe, before, side == &view->next };
    if (__builtin_expect(share_view_now(share) == view, 1)) return true;
    stripe_unlock(&stripe->word);
    return false;
}

/* Add to the counts of the stripe that is held: keys, and entries where these are counted. They are
 * kept apart for the two tables of a step. `more` may be -1, modulo 2^64. */
TAMIS_INLINE void line_count_held(const line_held *held, uint64_t more) {
    share_add_alone(&held->stripe->keys[held->which], more);
    if (lines_counter_bits(held->lines) != 0)
        share_add_alone(&held->stripe->entries[held->which], more);
}

/* Where a new entry goes: false, if its line has no free slot, or a byte of its run is the same. As
 * line_add_as(). */
TAMIS_INLINE bool line_near_slot(const line_held *held, runs *ret_index, run *ret_mine,
                                 unsigned *ret_slot) {
    const lines_place *const place = &held->place;
    const uint8_t *const     line = lines_at(held->lines, place->bucket);
    *ret_index = runs_load(line);
    *ret_mine = runs_find(*ret_index, place->chain);
    if (!run_is_here(*ret_mine) || runs_are_full(*ret_index)) return false;
    *ret_slot = lines_slot_after(line, place, *ret_mine);
    return line[RUNS_AT + *ret_slot - 1] != place->byte;
}

/* Most keys change their line and nothing else. False: not this one; it has not changed. */
TAMIS_INLINE bool line_near_add(const line_held *held) {
    lines_view const lines = held->lines;
    uint64_t const   rest = lines.is_bare ? 0 : rest_new(lines.shape, held->place.remainder, 0);
    runs             index;
    run              mine;
    unsigned         slot;
    if (!line_near_slot(held, &index, &mine, &slot)) return false;
    stripe_begin_change_from(&held->stripe->word, held->before);
    lines_insert_at(lines, &held->place, mine, index, slot, rest);
    line_count_held(held, 1);
    stripe_end_change_from(&held->stripe->word, held->before);
    return true;
}

/* As line_remove_as(). False, and nothing has changed: the line is cut, so that entries might come
 * back to it; or the removal is refused; or only a counter changes. */
TAMIS_INLINE bool line_near_remove(const line_held *held, uint64_t most) {
    lines_view const         lines = held->lines;
    const lines_place *const place = &held->place;
    uint8_t *const           line = lines_at(lines, place->bucket);
    runs const               index = runs_load(line);
    run const                mine = runs_find_occupied(index, place->chain);
    if (runs_are_cut(index)) return false;
    uint64_t const matches = runs_match(line, place->byte) & (mine.end - mine.start);
    uint64_t const same = lines_with_rest(lines, place, matches);
    unsigned const copies = lines_copies(lines, place, same);
    if (same == 0 || copies >= most || (lines_counter_bits(lines) != 0 && copies > 1)) return false;
    stripe_begin_change_from(&held->stripe->word, held->before);
    (void)lines_delete(lines, place->bucket, place->chain, mine, index, bits_lowest(same));
    line_count_held(held, (uint64_t)-1);
    stripe_end_change_from(&held->stripe->word, held->before);
    return true;
}

/* Is it a bare table in no step of growing? Then the short forms apply: one table, and no rests. */
TAMIS_INLINE bool line_is_calm(const share_view *view) {
    return view->next.body == NULL && line_shape_of(&view->table)->lines.rest_bits == 0;
}

/* Add a chunk. For each key: lock its stripe, and change the line if nothing else is to change. If
 * it is not so simple, unlock it and take the general form, which may also lock the attic. */
TAMIS_INLINE unsigned line_share_add_as(sharing *share, const share_view *view,
                                        const uint64_t *hash, unsigned n, bool is_bare) {
    unsigned     added = 0;
    line_held    held;
    share_window window;
    window.side = NULL;
    line_share_fetch_tails(share, hash, n);
    for (; added < n; added++) {
        if (__builtin_expect(line_hold(share, view, hash[added], is_bare, &held), 1)) {
            if (line_near_add(&held)) continue;
            stripe_unlock(&held.stripe->word);
        }
        if (line_share_change(share, &window, hash[added], 1, line_share_add) != TAMIS_OK) break;
    }
    return added;
}

static unsigned line_share_add_chunk(sharing *share, const uint64_t *hash, unsigned n) {
    const share_view *const view = share_view_now(share);
    return line_is_calm(view) ? line_share_add_as(share, view, hash, n, true)
                              : line_share_add_as(share, view, hash, n, false);
}

TAMIS_INLINE uint64_t line_share_remove_as(sharing *share, const share_view *view,
                                           const uint64_t *hash, unsigned n,
                                           uint64_t *ret_saturated, bool is_bare) {
    uint64_t const most = line_shape_of(&view->table)->most;
    uint64_t       removed = 0, saturated = 0;
    line_held      held;
    share_window   window;
    window.side = NULL;
    line_share_fetch_tails(share, hash, n);
    /* A key is taken for removed until the general form says otherwise. */
    for (unsigned i = 0; i < n; i++) {
        removed |= UINT64_C(1) << i;
        if (__builtin_expect(line_hold(share, view, hash[i], is_bare, &held), 1)) {
            if (line_near_remove(&held, most)) continue;
            stripe_unlock(&held.stripe->word);
        }
        tamis_status const status =
            line_share_change(share, &window, hash[i], 0, line_share_remove);
        removed ^= (uint64_t)(status != TAMIS_OK) << i;
        saturated |= (uint64_t)(status == TAMIS_ERR_SATURATED) << i;
    }
    *ret_saturated = saturated;
    return removed;
}

static uint64_t line_share_remove_chunk(sharing *share, const uint64_t *hash, unsigned n,
                                        uint64_t *ret_saturated) {
    const share_view *const view = share_view_now(share);
    return line_is_calm(view) ? line_share_remove_as(share, view, hash, n, ret_saturated, true)
                              : line_share_remove_as(share, view, hash, n, ret_saturated, false);
}

#endif
