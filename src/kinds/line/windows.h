/* windows.h - windows to a table of lines, for sets that many threads share (src/sharing.h).
 *
 * The window of a key is its line with its rests, and, if the line is cut or full, its shelf with
 * those. They have the same form as in the table, so the functions of lines.h work on them; they
 * only lie elsewhere:
 *
 *     byte  0         64        128
 *           +---------+---------+-----------------+--------------------+
 *           | line    | shelf   | rests of slots  | rests of the shelf |      a window
 *           +---------+---------+-----------------+--------------------+
 *
 * Lines are found by their number, so the body of the window seems to begin that many lines before
 * it; the offsets in its shape are corrected for that. The attic is not copied: who needs it has
 * its lock.
 *
 * A group is the 16 lines of a shelf: nothing else changes when a key of theirs does, but the
 * attic.
 */
#ifndef TAMIS_KINDS_LINE_WINDOWS_H
#define TAMIS_KINDS_LINE_WINDOWS_H

#include "operations.h"
#include "sharing.h"
#include "size.h"

#define LINE_WINDOW_SHELF TAMIS_LINE_BYTES
#define LINE_WINDOW_RESTS (2 * TAMIS_LINE_BYTES)

/* A rest word may be cut at both ends, and the words of a shelf begin at a word. */
static_assert(LINE_WINDOW_RESTS + (RUNS_SLOTS * LINE_MAX_REST_BITS / 64 + 2 +
                                   SHELF_KEYS * LINE_MAX_REST_BITS / 64 + 1) *
                                      WORD_BYTES <=
                  SHARE_WINDOW_BYTES,
              "a window has room for all");
static_assert(1 << 4 == SHELF_BUCKETS, "group_shift");

/* ------------------------------------------------------------------ where the parts are */

/* Words of the table: the first, and how many. */
typedef struct line_words {
    uint64_t first, n;
} line_words;

TAMIS_INLINE line_words line_slot_words(lines_view lines, uint64_t bucket) {
    uint64_t const first = lines_rest_at(lines, bucket, 0) / 64;
    uint64_t const end = (lines_rest_at(lines, bucket, RUNS_SLOTS) + 63) / 64;
    return (line_words){ first, end - first };
}

TAMIS_INLINE line_words line_shelf_words(const shelf_view *shelves, uint64_t bucket) {
    uint64_t const first = shelf_rest_at(shelves, bucket, 0) / 64;
    return (line_words){ first, shelves->stride / 64 };
}

/* Let the window's table find the parts of this bucket in the window. */
TAMIS_INLINE void line_window_place(share_window *window, uint64_t bucket) {
    lines_view const         from = line_view(window->side);
    const lines_shape *const shape = from.shape;
    lines_shape *const       own = (lines_shape *)(void *)window->table.derived;
    uint64_t const           origin = bucket * TAMIS_LINE_BYTES, group = bucket / SHELF_BUCKETS;
    uintptr_t const          body = (uintptr_t)window->body - origin;
    window->bucket = bucket;
    window->table.body = (uint8_t *)body;
    own->shelves = origin + LINE_WINDOW_SHELF - group * TAMIS_LINE_BYTES;
    own->away = (uintptr_t)from.body - body;
    if (shape->rest_bits == 0) return;
    uint64_t const   at = lines_rest_at(from, bucket, 0), rests = 8 * (origin + LINE_WINDOW_RESTS);
    line_words const slots = line_slot_words(from, bucket);
    own->slot_rests = rests + at % 64 - (at - shape->slot_rests);
    own->shelf_rests = rests + 64 * slots.n - group * shape->shelf_stride;
}

/* ------------------------------------------------------------------ copying */

TAMIS_INLINE void line_copy_in(void *to, const void *from, uint64_t words, bool is_locked) {
    if (is_locked)
        memcpy(to, from, words * WORD_BYTES);
    else
        words_read(to, from, words);
}

/* Slots that may leave a line for the shelf when so many entries come. */
TAMIS_INLINE unsigned line_may_move(runs index, unsigned more) {
    unsigned const used = runs_used(index);
    uint64_t const starts = index.starts ^ UINT64_C(1) << used;
    unsigned const last = starts == 0 ? 0 : used - (63 - (unsigned)__builtin_clzll(starts));
    return more > 1 ? SHELF_KEYS + 1 : more * (last + 1); /* several may cut several runs */
}

TAMIS_INLINE bool line_open_tail(share_window *window, unsigned more, bool is_locked) {
    lines_view const from = line_view(window->side);
    shelf_view const shelves = lines_shelves(from);
    uint8_t *const   shelf = window->body + LINE_WINDOW_SHELF;
    line_copy_in(shelf, shelf_line(&shelves, window->bucket), LINE_WORDS, is_locked);
    if (from.shape->rest_bits != 0) {
        line_words const slots = line_slot_words(from, window->bucket);
        line_words const on_shelf = line_shelf_words(&shelves, window->bucket);
        line_copy_in(window->body + LINE_WINDOW_RESTS + slots.n * WORD_BYTES,
                     from.body + on_shelf.first * WORD_BYTES, on_shelf.n, is_locked);
    }
    unsigned const used = shelf_used(shelf_ones(shelf));
    unsigned const most = used + line_may_move(runs_load(window->body), more);
    return used == SHELF_KEYS || most > SHELF_KEYS;
}

TAMIS_INLINE bool line_open_here(share_window *window, uint64_t hash, unsigned more,
                                 bool is_locked) {
    lines_view const from = line_view(window->side);
    uint64_t const   bucket = fastrange(hash, from.shape->buckets);
    line_window_place(window, bucket);
    line_copy_in(window->body, lines_at(from, bucket), LINE_WORDS, is_locked);
    if (from.shape->rest_bits != 0) {
        line_words const slots = line_slot_words(from, bucket);
        line_copy_in(window->body + LINE_WINDOW_RESTS, from.body + slots.first * WORD_BYTES,
                     slots.n, is_locked);
    }
    runs const index = runs_load(window->body);
    window->has_tail = runs_are_cut(index) || runs_are_full(index);
    return __builtin_expect(window->has_tail, 0) && line_open_tail(window, more, is_locked);
}

static bool line_open(share_window *window, uint64_t hash, unsigned more, bool is_locked) {
    return line_open_here(window, hash, more, is_locked);
}

TAMIS_INLINE void line_publish_rests(const share_window *window) {
    lines_view const     to = line_view(window->side);
    shelf_view const     shelves = lines_shelves(to);
    line_words const     slots = line_slot_words(to, window->bucket);
    line_words const     on_shelf = line_shelf_words(&shelves, window->bucket);
    const uint8_t *const rests = window->body + LINE_WINDOW_RESTS;
    words_write(to.body + slots.first * WORD_BYTES, rests, slots.n);
    if (window->has_tail)
        words_write(to.body + on_shelf.first * WORD_BYTES, rests + slots.n * WORD_BYTES,
                    on_shelf.n);
}

TAMIS_INLINE void line_publish_here(const share_window *window) {
    lines_view const to = line_view(window->side);
    words_write(lines_at(to, window->bucket), window->body, LINE_WORDS);
    if (window->has_tail) {
        shelf_view const shelves = lines_shelves(to);
        words_write(shelf_line(&shelves, window->bucket), window->body + LINE_WINDOW_SHELF,
                    LINE_WORDS);
    }
    if (to.shape->rest_bits != 0) line_publish_rests(window);
}

static void line_publish(const share_window *window) {
    line_publish_here(window);
}

/* ------------------------------------------------------------------ chunks */

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

static uint64_t line_share_has(const tamis_table *table, uint64_t hash, void *unused) {
    (void)unused;
    return lines_holds(line_view(table), hash);
}

#define LINE_DERIVED_WORDS (sizeof(line_shape) / sizeof(uint64_t))

/* What is constant for the functions below: all of it is inlined into them. */
static const kind_sharing line_windows = { .group_shift = 4,
                                           .derived_words = LINE_DERIVED_WORDS,
                                           .open = line_open_here,
                                           .publish = line_publish_here };

/* ------------------------------------------------------------------ near changes, in registers */

/* Most keys of a bare table change their line and nothing else. A window for that is slow: words
 * are copied into it and loaded again as vectors across them, and out of it the other way round; a
 * processor stops at such loads until all stores before them are done. So here the line is read
 * where it is (its stripe is locked), changed in registers, and written once. False: it is not so
 * simple, and nothing has changed; the stripe is still locked. */

#ifdef LANES_VECTORS

/* The slots of a line in two vectors that overlap, as in slots.h. */
typedef struct line_slots {
    lanes_32 low, high; /* from byte RUNS_AT on, and from byte 32 on */
} line_slots;

/* The eight words of a line with this index and these slots, to the line itself. Nothing is loaded
 * but what one store before has written as a whole. */
TAMIS_INLINE void line_store_words(uint8_t *line, runs index, line_slots slots) {
    uint8_t        low[32] __attribute__((aligned(32))), high[32] __attribute__((aligned(32)));
    uint64_t       words[LINE_WORDS];
    uint64_t const upper = index.occ >> 48 | index.starts >> 1 << (RUNS_CHAINS - 48);
    lanes_store(low, slots.low);
    lanes_store(high, slots.high);
    words[0] = (index.occ & bits_low(48)) | upper << 48;
    words[1] = upper >> 16 | (uint64_t)le16_load(low) << 48;
    words[2] = le64_load(low + 16 - RUNS_AT);
    words[3] = le64_load(low + 24 - RUNS_AT);
    for (unsigned i = 0; i < 4; i++) words[4 + i] = le64_load(high + 8 * i);
    words_write(line, words, LINE_WORDS);
}

/* Write the line, count, and unlock. */
TAMIS_INLINE void line_near_finish(sharing *share, const share_place *place, uint8_t *line,
                                   runs index, line_slots slots, uint64_t more_keys) {
    uint64_t *const word = &share->stripes[place->stripe].word;
    stripe_begin_change(word);
    line_store_words(line, index, slots);
    share_add_alone(&share->stripes[place->stripe].keys[place->which], more_keys);
    stripe_unlock(word);
}

/* As line_add_to_bare() and runs_open_slot(). */
TAMIS_INLINE bool line_near_add(sharing *share, const share_place *where, uint64_t hash) {
    lines_view const  lines = line_view_as(where->side, true);
    lines_place const place = lines_find(lines, hash);
    uint8_t *const    line = lines_at(lines, place.bucket);
    runs              index = runs_load(line);
    run const         mine = runs_find(index, place.chain);
    if (lines.shape->rest_bits != 0 || !run_is_here(mine) || runs_are_full(index)) return false;
    unsigned const slot = lines_slot_for(lines, line, &place, mine, 0), at = RUNS_AT + slot;
    if (line[at - 1] == place.byte) return false; /* perhaps another copy */
    lanes_32 const   byte = lanes_all(place.byte);
    line_slots const slots = {
        lanes_pick(slots_behind(RUNS_AT, at + 1), lanes_load(line + RUNS_AT - 1),
                   lanes_pick(slots_behind(RUNS_AT, at), byte, lanes_load(line + RUNS_AT))),
        lanes_pick(slots_behind(32, at + 1), lanes_load(line + 31),
                   lanes_pick(slots_behind(32, at), byte, lanes_load(line + 32)))
    };
    index.starts = runs_grown(index.starts, mine.start, mine.is_occupied);
    index.occ |= UINT64_C(1) << place.chain;
    line_near_finish(share, where, line, index, slots, 1);
    return true;
}

/* As line_remove_as() and runs_close_slot(). */
TAMIS_INLINE bool line_near_remove(sharing *share, const share_place *where, uint64_t hash) {
    lines_view const  lines = line_view_as(where->side, true);
    lines_place const place = lines_find(lines, hash);
    uint8_t *const    line = lines_at(lines, place.bucket);
    runs              index = runs_load(line);
    run const         mine = runs_find_occupied(index, place.chain);
    if (lines.shape->rest_bits != 0 || runs_are_cut(index)) return false;
    uint64_t const same = runs_match(line, place.byte) & (mine.end - mine.start);
    if (same == 0 || bits_popcount(same) >= line_shape_of(where->side)->most) return false;
    unsigned const   at = RUNS_AT + bits_lowest(same);
    bool const       is_last = mine.start << 1 == mine.end; /* of its run */
    lanes_32 const   last = lanes_load(line + 32);
    line_slots const slots = { lanes_pick(slots_behind(RUNS_AT, at), lanes_load(line + RUNS_AT + 1),
                                          lanes_load(line + RUNS_AT)),
                               lanes_pick(slots_behind(32, at), lanes_move_down(last, 1), last) };
    index.starts = runs_shrunk(index.starts, mine.start);
    index.occ &= ~((uint64_t)is_last << place.chain);
    line_near_finish(share, where, line, index, slots, (uint64_t)-1);
    return true;
}

#else

TAMIS_INLINE bool line_near_add(sharing *share, const share_place *where, uint64_t hash) {
    (void)share;
    (void)where;
    (void)hash;
    return false;
}

TAMIS_INLINE bool line_near_remove(sharing *share, const share_place *where, uint64_t hash) {
    return line_near_add(share, where, hash);
}

#endif

/* As line_fetch_tails(): the shelves of lines that are cut or full are asked for before the first
 * key is worked on. An index that is torn asks for a shelf in vain, or too late. */
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

/* The general form, with a window, of a key whose stripe is locked. */
static __attribute__((noinline)) tamis_status
line_share_add_far(sharing *share, const share_place *place, share_window *window, uint64_t hash) {
    return share_change_locked(share, &line_windows, place, window, hash, 1, line_share_add, NULL);
}

static __attribute__((noinline)) tamis_status line_share_remove_far(sharing           *share,
                                                                    const share_place *place,
                                                                    share_window      *window,
                                                                    uint64_t           hash) {
    return share_change_locked(share, &line_windows, place, window, hash, 0, line_share_remove,
                               NULL);
}

static unsigned line_share_add_chunk(sharing *share, const uint64_t *hash, unsigned n) {
    share_window window;
    unsigned     added = 0;
    window.side = NULL;
    line_share_fetch_tails(share, hash, n);
    for (; added < n; added++) {
        share_place const place = share_lock(share, hash[added]);
        if (line_near_add(share, &place, hash[added])) continue;
        if (line_share_add_far(share, &place, &window, hash[added]) != TAMIS_OK) break;
    }
    return added;
}

static uint64_t line_share_remove_chunk(sharing *share, const uint64_t *hash, unsigned n,
                                        uint64_t *ret_saturated) {
    share_window window;
    uint64_t     removed = 0, saturated = 0;
    window.side = NULL;
    line_share_fetch_tails(share, hash, n);
    for (unsigned i = 0; i < n; i++) {
        share_place const place = share_lock(share, hash[i]);
        tamis_status      status = TAMIS_OK;
        if (!line_near_remove(share, &place, hash[i]))
            status = line_share_remove_far(share, &place, &window, hash[i]);
        removed |= (uint64_t)(status == TAMIS_OK) << i;
        saturated |= (uint64_t)(status == TAMIS_ERR_SATURATED) << i;
    }
    *ret_saturated = saturated;
    return removed;
}

/* A line that was copied, and what tells whether the copy is whole. */
typedef struct line_copy {
    uint8_t            line[TAMIS_LINE_BYTES] __attribute__((aligned(TAMIS_LINE_BYTES)));
    const tamis_table *side;
    lines_place        place;
    const uint64_t    *word;
    uint64_t           version;
} line_copy;

TAMIS_INLINE void line_copy_of(const sharing *share, const share_view *view, uint64_t hash,
                               line_copy *ret_copy) {
    ret_copy->word = &share->stripes[share_stripe(view, hash)].word;
    ret_copy->version = stripe_version(ret_copy->word);
    ret_copy->side = share_side(view, hash);
    lines_view const lines = line_view(ret_copy->side);
    ret_copy->place = lines_find(lines, hash);
    words_read(ret_copy->line, lines_at(lines, ret_copy->place.bucket), LINE_WORDS);
}

/* A key of a bare table whose chain is in the tail: look on a copy of the shelf. False: that is not
 * enough, and *ret_is_found means nothing. */
static __attribute__((noinline)) bool line_copy_far(const sharing *share, const share_view *view,
                                                    const line_copy *copy, bool *ret_is_found) {
    lines_view const lines = line_view(copy->side);
    shelf_view const shelves = lines_shelves(lines);
    uint8_t          shelf[TAMIS_LINE_BYTES] __attribute__((aligned(TAMIS_LINE_BYTES)));
    words_read(shelf, shelf_line(&shelves, copy->place.bucket), LINE_WORDS);
    if (!stripe_is_same(copy->word, copy->version) || share_view_now(share) != view) return false;
    shelf_part const part = shelf_find(shelf_ones(shelf), copy->place.bucket);
    *ret_is_found = shelf_match(shelf, part, lines_key(&copy->place), LINES_KEY_MASK) != 0;
    return *ret_is_found || part.first + part.n < SHELF_KEYS;
}

/* Ask about the keys that need more than their line. */
static __attribute__((noinline)) uint64_t line_share_ask(sharing *share, const share_view *view,
                                                         const line_copy *copy,
                                                         const uint64_t *hash, uint64_t again) {
    bool const is_old_view = share_view_now(share) != view;
    uint64_t   found = 0;
    for (uint64_t left = again; left != 0 && !is_old_view; left &= left - 1) {
        const line_copy *const one = &copy[bits_lowest(left)];
        shelf_view const       shelves = lines_shelves(line_view(one->side));
        prefetch_to_read(shelf_line(&shelves, one->place.bucket));
    }
    for (; again != 0; again &= again - 1) {
        unsigned const i = bits_lowest(again);
        bool           is_found = false;
        bool const     is_bare = line_shape_of(copy[i].side)->lines.rest_bits == 0;
        if (is_old_view || !is_bare || !line_copy_far(share, view, &copy[i], &is_found))
            is_found = share_ask(share, &line_windows, hash[i], line_share_has, NULL) != 0;
        found |= (uint64_t)is_found << i;
    }
    return found;
}

/* All lines are copied before the first is searched: a word that was just stored cannot be loaded
 * as a part of a vector at once. Keys that need more than their line are asked for one by one. */
static __attribute__((noinline)) uint64_t line_share_has_any(sharing *share, const share_view *view,
                                                             const uint64_t *hash, unsigned n) {
    line_copy copy[TAMIS_CHUNK];
    uint64_t  found = 0, again = 0;
    for (unsigned i = 0; i < n; i++) line_copy_of(share, view, hash[i], &copy[i]);
    for (unsigned i = 0; i < n; i++) {
        bool           is_far;
        uint64_t const slots = lines_slots_in(copy[i].line, &copy[i].place, &is_far);
        bool const     is_whole = stripe_is_same(copy[i].word, copy[i].version);
        bool const     has_rests = line_shape_of(copy[i].side)->lines.rest_bits != 0;
        bool const     is_more = is_far | (has_rests & (slots != 0));
        found |= (uint64_t)(slots != 0) << i;
        again |= (uint64_t)(!is_whole | is_more) << i;
    }
    if (__builtin_expect(share_view_now(share) != view, 0)) again = bits_low(n);
    if (again == 0) return found;
    return (found & ~again) | line_share_ask(share, view, copy, hash, again);
}

/* The same for a bare table that is in no step of growing: most are, and then all that is not about
 * the key is the same for the whole chunk. */
static uint64_t line_share_has_chunk(sharing *share, const uint64_t *hash, unsigned n) {
    const share_view *const         view = share_view_now(share);
    lines_view const                lines = line_view_as(&view->table, true);
    const share_stripe_state *const stripes = share->stripes;
    unsigned const                  shift = view->stripe_shift;
    uint8_t  line[TAMIS_CHUNK][TAMIS_LINE_BYTES] __attribute__((aligned(TAMIS_LINE_BYTES)));
    uint64_t version[TAMIS_CHUNK], found = 0, again = 0;
    if (view->next.body != NULL || lines.shape->rest_bits != 0)
        return line_share_has_any(share, view, hash, n);
    for (unsigned i = 0; i < n; i++) {
        uint64_t const bucket = fastrange(hash[i], lines.shape->buckets);
        version[i] = stripe_version(&stripes[bucket >> shift].word);
        words_read(line[i], lines_at(lines, bucket), LINE_WORDS);
    }
    for (unsigned i = n; i-- != 0;) { /* backwards: to push a bit into a mask is one instruction */
        bool              is_far;
        lines_place const place = lines_find(lines, hash[i]);
        uint64_t const    slots = lines_slots_in(line[i], &place, &is_far);
        bool const is_whole = stripe_is_same(&stripes[place.bucket >> shift].word, version[i]);
        found = 2 * found + (slots != 0);
        again = 2 * again + (is_far | !is_whole);
    }
    if (__builtin_expect(share_view_now(share) != view, 0)) again = bits_low(n);
    found &= ~again;
    for (; again != 0; again &= again - 1) {
        unsigned const i = bits_lowest(again);
        found |= line_share_has_any(share, view, hash + i, 1) << i;
    }
    return found;
}

static const kind_sharing line_sharing = { .group_shift = 4,
                                           .derived_words = LINE_DERIVED_WORDS,
                                           .open = line_open,
                                           .publish = line_publish,
                                           .has_chunk = line_share_has_chunk,
                                           .add_chunk = line_share_add_chunk,
                                           .remove_chunk = line_share_remove_chunk };

#endif
