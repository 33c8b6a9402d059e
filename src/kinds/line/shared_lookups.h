/* shared_lookups.h - lookups in tables of lines that other threads may be changing (src/sharing.h).
 *
 * They read the line and the shelf in place. They only count bits, compare, and load rests of one
 * of the 50 slots or 28 shelved keys. So whatever they read, they end, and load nothing outside of
 * the body. At the end they check whether the data was consistent:
 *
 *     version of the stripe -> line -> shelf, if the key is in the tail -> is the version the same?
 *
 * If it is not, or if the attic has to be read, which takes its lock, the key is looked up again in
 * the general way (share_ask).
 *
 * Why the version is read first: a change that begins after that makes it another one, and so does
 * one that was under way. What was read in between is then thrown away, whatever it says.
 *
 * A chunk of keys is looked up in masks, with a bit for each key:
 *
 *     found    the answer so far
 *     far      its chain is in the tail: the shelf decides
 *     maybe    a byte of its chain matches: the rest of that slot decides (tables with rests)
 *     again    not known: a change came in between, or the attic must be asked
 *     moved    it is in the other of the two tables that a set has in a step of growing
 */
#ifndef TAMIS_KINDS_LINE_SHARED_LOOKUPS_H
#define TAMIS_KINDS_LINE_SHARED_LOOKUPS_H

#include "shared_changes.h"

static uint64_t line_share_holds(const tamis_table *table, uint64_t hash, void *unused) {
    (void)unused;
    return lines_holds(line_view(table), hash);
}

/* Which keys on the shelf have the fingerprint? *ret_may_go_on: there may be more of them in the
 * attic, which cannot be read without its lock. */
TAMIS_INLINE uint32_t line_on_shelf(lines_view lines, const lines_place *place,
                                    bool *ret_may_go_on) {
    shelf_view const shelves = lines_shelves(lines);
    tail_parts const parts = tail_find(&shelves, place->bucket);
    uint32_t same = shelf_match(parts.line, parts.shelved, lines_key(place), LINES_KEY_MASK);
    *ret_may_go_on = parts.may_go_on;
    if (lines.shape->rest_bits == 0) return same;
    uint32_t kept = 0;
    for (; same != 0; same &= same - 1) {
        uint64_t const at = shelf_rest_at(&shelves, place->bucket, bits_lowest(same));
        uint64_t const rest = rest_get(lines.body, at, shelves.attic.rest_bits);
        if (rest_remainder(lines.shape, rest) == place->remainder) kept |= same & -same;
    }
    return kept;
}

/* A key that is being changed, or whose tail goes on in the attic. */
static __attribute__((noinline)) bool line_share_ask(sharing *share, uint64_t hash) {
    return share_ask(share, &line_inlined, hash, line_share_holds, NULL) != 0;
}

/* One key of any table, near or far. The version of the stripe is read before its line and compared
 * after it: if it is the same, no change was under way in between, and what was read belongs
 * together. If not, or if the attic must be asked, the general form does it again. */
static STRIPE_READER bool line_share_has(sharing *share, uint64_t hash) {
    const share_view *const view = share_view_now(share);
    const uint64_t *const   word = &share->stripes[share_stripe(view, hash)].word;
    uint64_t const          version = stripe_version(word);
    lines_view const        lines = line_view(share_side(view, hash));
    lines_place const       place = lines_find(lines, hash);
    bool                    is_far, may_go_on = false;
    uint64_t found = lines_with_rest(lines, &place, lines_slots_here(lines, &place, &is_far));
    if (__builtin_expect(is_far, 0)) found = line_on_shelf(lines, &place, &may_go_on);
    bool const is_known = found != 0 || !may_go_on;
    bool const is_whole = stripe_is_same(word, version) && share_view_now(share) == view;
    return __builtin_expect(is_known & is_whole, 1) ? found != 0 : line_share_ask(share, hash);
}

/* The keys of a mask: in any table, or being changed a moment ago. */
static __attribute__((noinline)) uint64_t line_share_has_each(sharing *share, const uint64_t *hash,
                                                              uint64_t keys) {
    uint64_t found = 0;
    for (; keys != 0; keys &= keys - 1) {
        unsigned const i = bits_lowest(keys);
        found |= (uint64_t)line_share_has(share, hash[i]) << i;
    }
    return found;
}

/* As line_has_far(), for a bare table. version[i] is from before the line of key i was read: if it
 * is the same after its shelf was read, both belong together. */
static __attribute__((noinline)) STRIPE_READER uint64_t line_share_has_far(sharing          *share,
                                                                           const share_view *view,
                                                                           const uint64_t   *hash,
                                                                           const uint64_t *version,
                                                                           uint64_t        far) {
    lines_view const lines = line_view_as(&view->table, true);
    uint64_t         found = 0, again = 0;
    for (uint64_t left = far; left != 0; left &= left - 1) {
        shelf_view const shelves = lines_shelves(lines);
        uint64_t const   bucket = fastrange(hash[bits_lowest(left)], lines.shape->buckets);
        prefetch_to_read(shelf_line(&shelves, bucket));
    }
    for (; far != 0; far &= far - 1) {
        unsigned const    i = bits_lowest(far);
        lines_place const place = lines_find(lines, hash[i]);
        bool              may_go_on;
        bool const        is_there = line_on_shelf(lines, &place, &may_go_on) != 0;
        const uint64_t   *word = &share->stripes[place.bucket >> view->stripe_shift].word;
        bool const        is_known = stripe_is_same(word, version[i]) & (is_there | !may_go_on);
        found |= (uint64_t)is_there << i;
        again |= (uint64_t)!is_known << i;
    }
    if (again == 0) return found;
    return (found & ~again) | line_share_has_each(share, hash, again);
}

/* A bare table that is in no step of growing, as most are. next: as many keys, whose lines are
 * prefetched meanwhile; NULL, a constant: none. */
TAMIS_INLINE uint64_t line_share_has_bare(sharing *share, const share_view *view,
                                          const uint64_t *hash, unsigned n, const uint64_t *next) {
    const share_stripe_state *const stripes = share->stripes;
    lines_view const                lines = line_view_as(&view->table, true);
    unsigned const                  shift = view->stripe_shift;
    uint64_t                        version[TAMIS_CHUNK], found = 0, far = 0, again = 0;
    for (unsigned i = n; i-- != 0;) { /* backwards: to push a bit into a mask is one instruction */
        lines_place const     place = lines_find(lines, hash[i]);
        const uint64_t *const word = &stripes[place.bucket >> shift].word;
        bool                  is_far;
        version[i] = stripe_version(word);
        if (next != NULL)
            prefetch_to_read(lines_at(lines, fastrange(next[i], lines.shape->buckets)));
        found = 2 * found + (lines_slots_here(lines, &place, &is_far) != 0);
        far = 2 * far + is_far;
        again = 2 * again + !stripe_is_same(word, version[i]);
    }
    far &= ~again;
    found &= ~(far | again);
    if (far != 0) found |= line_share_has_far(share, view, hash, version, far);
    if (again != 0) found |= line_share_has_each(share, hash, again);
    return found;
}

/* Any table, and both tables of a step. As line_has_chunk_in(): rests are asked for when the bytes
 * are compared, and read when all lines are done. */
TAMIS_INLINE uint64_t line_share_has_any(sharing *share, const share_view *view,
                                         const uint64_t *hash, unsigned n) {
    const uint64_t *word[TAMIS_CHUNK];
    lines_place     place[TAMIS_CHUNK];
    uint64_t        version[TAMIS_CHUNK], slots[TAMIS_CHUNK];
    uint64_t        maybe = 0, found = 0, again = 0, moved = 0;
    for (unsigned i = 0; i < n; i++) {
        word[i] = &share->stripes[share_stripe(view, hash[i])].word;
        version[i] = stripe_version(word[i]);
        const tamis_table *const side = share_side(view, hash[i]);
        lines_view const         lines = line_view(side);
        bool                     is_far;
        place[i] = lines_find(lines, hash[i]);
        slots[i] = lines_slots_here(lines, &place[i], &is_far);
        moved |= (uint64_t)(side == &view->next) << i;
        again |= (uint64_t)is_far << i; /* one by one */
        maybe |= (uint64_t)(slots[i] != 0) << i;
        if (slots[i] != 0) lines_fetch_rest(lines, &place[i], bits_lowest(slots[i]));
    }
    for (maybe &= ~again; maybe != 0; maybe &= maybe - 1) {
        unsigned const   i = bits_lowest(maybe);
        lines_view const lines = line_view((moved >> i & 1) != 0 ? &view->next : &view->table);
        found |= (uint64_t)(lines_with_rest(lines, &place[i], slots[i]) != 0) << i;
    }
    /* Only now: the rests were read after the lines. */
    for (unsigned i = 0; i < n; i++) again |= (uint64_t)!stripe_is_same(word[i], version[i]) << i;
    if (again == 0) return found;
    return (found & ~again) | line_share_has_each(share, hash, again);
}

/* If the view has changed meanwhile (a step of growing began or ended), the keys may have been
 * looked for in the wrong table: all are looked up again. */
static uint64_t line_share_answer(sharing *share, const share_view *view, const uint64_t *hash,
                                  unsigned n, uint64_t found) {
    if (__builtin_expect(share_view_now(share) == view, 1)) return found;
    return line_share_has_each(share, hash, bits_low(n));
}

static STRIPE_READER uint64_t line_share_has_chunk(sharing *share, const uint64_t *hash,
                                                   unsigned n) {
    const share_view *const view = share_view_now(share);
    uint64_t const found = line_is_calm(view) ? line_share_has_bare(share, view, hash, n, NULL)
                                              : line_share_has_any(share, view, hash, n);
    return line_share_answer(share, view, hash, n, found);
}

/* Only for a bare table with lines to prefetch, in no step of growing. False: the caller prefetches
 * all lines at once, and then asks line_share_has_chunk(). */
static STRIPE_READER bool line_share_has_rolling(sharing *share, const uint64_t *hash, unsigned n,
                                                 const uint64_t *next, uint64_t *ret_found) {
    const share_view *const view = share_view_now(share);
    if (!line_is_calm(view) || view->table.body_bytes <= LINE_CACHED_BYTES) return false;
    uint64_t const found = line_share_has_bare(share, view, hash, n, next);
    *ret_found = line_share_answer(share, view, hash, n, found);
    return true;
}

#endif
