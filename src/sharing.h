/* sharing.h - sets that many threads use at the same time: the interface between kinds and
 * share*.c.
 *
 * Idea
 * ----
 * A table is divided into stripes. Each stripe has some groups of buckets, a lock and a version
 * (core/stripes.h). No two groups have a word of memory in common. The kind's ordinary functions
 * work on the table, and know nothing about threads. A window is a private table head for one call:
 * it points to the same body, but has its own counts.
 *
 *     change    lock the stripe, make readers wait, change the table through a window, unlock
 *     lookup    read, then check that the version is still the same; no lock is taken
 *
 * There are three ways to look up a key. Functions that return safely whatever they read (all
 * lookups of `rank` and `counting`, and kinds/line/shared_lookups.h) read the table itself, and
 * then check the version. Otherwise the few cache lines that the key can be in are copied; if no
 * thread has changed them meanwhile, the kind's ordinary functions look up the key in the copy.
 * Lookups of `bloom`, whose bits are never cleared, need no check at all (reads_in_place).
 *
 * Memory that all groups share (the attic of `line`, the pools of `rank`) has one more lock, the
 * attic's. Threads that may need it take it after the lock of the stripe. Lookups take it, too; few
 * need it. A lookup with that lock never waits for a stripe, so there is no deadlock.
 *
 * Growing. In a step, a set has two tables, and a boundary between them (grow.c). The stripe of a
 * key is that of its bucket in the older table, for both tables; so the stripe is known before the
 * table. Buckets are moved and the boundary is changed with that stripe locked. A view says which
 * tables there are. A view never changes; a new one replaces it. A thread that has locked a stripe,
 * or has read something, checks that the view is still the same. share_grow.c says when old views
 * and their tables are freed.
 *
 * The functions here are inlined into the kinds, whose kind_sharing is a constant there.
 */
#ifndef TAMIS_SHARING_H
#define TAMIS_SHARING_H

#include "core/stripes.h"
#include "core/words.h"
#include "kind.h"

#define SHARE_SWEEP_WORDS (sizeof(sweep) / WORD_BYTES)

#define SHARE_COPY_BYTES 768
#define SHARE_ONE_GROUP 63 /* as a group_shift */

/* A table head for one call. Its counts are differences: what an operation adds to them. The body
 * is that of the table, or, in a copy, a small one with the parts that a key needs. */
typedef struct share_window {
    tamis_table        table;
    const tamis_table *side; /* the table that it belongs to */
} share_window;

/* A window with its own body, for lookups without a lock. */
typedef struct share_copy {
    share_window window;
    uint64_t     bucket; /* of the key */
    uint8_t      body[SHARE_COPY_BYTES] __attribute__((aligned(TAMIS_LINE_BYTES)));
} share_copy;

/* The tables of a set. It never changes once others can see it, except for the boundary. */
typedef struct share_view {
    tamis_table table, next;  /* next.body is NULL except in a step of growing */
    unsigned    stripe_shift; /* a bucket of `table`, shifted by this, is its stripe */
    uint64_t    boundary;     /* hashes below it are in `next`, in this view */
} share_view;

/* A stripe: its lock and version (core/stripes.h), and the counts of its keys, as differences to
 * the counts in the handle: of keys in the table, and of keys in `next`. Everything that a change
 * writes besides the table is in one cache line. */
typedef struct share_stripe_state {
    uint64_t word;
    uint64_t keys[2], entries[2];
    uint64_t unused[3];
} share_stripe_state;

static_assert(sizeof(share_stripe_state) == TAMIS_LINE_BYTES, "one line");

/* What a shared set has besides its table. Fields that several threads use are atomic, or protected
 * by a lock. What every call reads is in the first cache line; what some calls write is in others,
 * so that a core does not lose the first one to them. */
typedef struct sharing {
    const share_view   *view;  /* the present one */
    uint64_t            views; /* how many views there have been */
    share_stripe_state *stripes;
    uint64_t            n; /* stripes */
    uint64_t            unused_of_calls[4];

    uint64_t attic; /* a lock for memory that all stripes share */
    uint64_t unused_of_attic[7];

    /* For states: the sweep of each table, and its version. */
    uint64_t hand;
    sweep    sweeps[2];

    /* These change seldom, so there is one for all stripes. */
    uint64_t saturated[2], moved, aged, refused_adds, refused_removes, conflicts;
} sharing;

typedef struct kind_sharing kind_sharing;

/* How a kind lets threads share its tables. */
struct kind_sharing {
    unsigned derived_words; /* of table->derived that its functions use */

    /* 2^group_shift buckets are a group; the first field of the geometry is the number of buckets.
     * NULL, or SHARE_ONE_GROUP: the whole table is one group, and one change runs at a time. */
    unsigned (*group_shift)(const uint64_t *geometry);

    /* A key that is not being changed is always found, even while other threads change the table.
     * So the kind's own functions are called, without a lock. They must be STRIPE_READER. */
    bool reads_in_place;

    /* Lookups of the kind always end and read nothing outside of the body, even while other threads
     * write to it. So they run without a lock, and their answer is valid if nothing has changed
     * meanwhile. They must be STRIPE_READER. */
    bool reads_anything;

    /* May a change of the key need memory that all groups share? Its stripe is locked. `more`: how
     * many entries may be added. NULL: never. */
    bool (*needs_attic)(const tamis_table *table, uint64_t hash, unsigned more);

    /* Copy the parts that a lookup of a key needs. Other threads may be writing, so the copy may be
     * inconsistent. Returns whether the attic is needed, too. NULL: lookups lock their stripe. */
    bool (*copy)(share_copy *copy, uint64_t hash);

    /* Optional, for speed: like those of kind_calls. `has` comes with has_chunk. */
    bool (*has)(sharing *share, uint64_t hash);
    uint64_t (*has_chunk)(sharing *share, const uint64_t *hash, unsigned n);
    /* `next` has n keys, too. False: neither looked up nor prefetched, use has_chunk and fetch. */
    bool (*has_rolling)(sharing *share, const uint64_t *hash, unsigned n, const uint64_t *next,
                        uint64_t *ret_found);
    unsigned (*add_chunk)(sharing *share, const uint64_t *hash, unsigned n);
    uint64_t (*remove_chunk)(sharing *share, const uint64_t *hash, unsigned n,
                             uint64_t *ret_saturated);
};

/* ------------------------------------------------------------------ views, sides, stripes */

/* A thread counts itself in before it takes the view, and a view is freed only after the counters
 * were seen at 0 (share_grow.c). That holds if no thread takes the view before it has counted,
 * which "acquire" alone does not promise. On x86 and aarch64 this is the same instruction. */
TAMIS_INLINE const share_view *share_view_now(const sharing *share) {
    return __atomic_load_n(&share->view, __ATOMIC_SEQ_CST);
}

TAMIS_INLINE uint64_t share_stripe(const share_view *view, uint64_t hash) {
    return fastrange(hash, view->table.geometry[0]) >> view->stripe_shift;
}

/* The table that has the key. Only right while its stripe is locked, or has the same version. */
TAMIS_INLINE const tamis_table *share_side(const share_view *view, uint64_t hash) {
    if (__builtin_expect(view->next.body == NULL, 1)) return &view->table;
    bool const is_moved = hash < __atomic_load_n(&view->boundary, __ATOMIC_ACQUIRE);
    return is_moved ? &view->next : &view->table;
}

/* ------------------------------------------------------------------ windows */

/* A window to this table. Keys of one table can use one window, one after the other. */
TAMIS_INLINE void share_window_begin(share_window *window, const tamis_table *side,
                                     unsigned derived_words) {
    window->side = side;
    window->table.body = side->body;
    window->table.body_bytes = side->body_bytes;
    memcpy(window->table.derived, side->derived, derived_words * sizeof side->derived[0]);
    memcpy(window->table.geometry, side->geometry, sizeof side->geometry);
    window->table.values = side->values;
    window->table.used_parts = NULL; /* one thread at a time could keep that */
    if (side->values != 0) window->table.sweep = side->sweep;
}

/* The keys of a window begin with a number that no operation brings to 0: kinds take that for an
 * empty table. */
#define SHARE_KEYS (UINT64_C(1) << 40)

TAMIS_INLINE void share_counts_begin(tamis_table *table) {
    table->entries = table->saturated = table->moved = table->aged = 0;
    table->keys = SHARE_KEYS;
}

TAMIS_INLINE void share_add(uint64_t *sum, uint64_t more) {
    if (__builtin_expect(more != 0, 0)) (void)__atomic_fetch_add(sum, more, __ATOMIC_RELAXED);
}

/* For a number that only the holder of a lock writes. */
TAMIS_INLINE void share_add_alone(uint64_t *sum, uint64_t more) {
    __atomic_store_n(sum, *sum + more, __ATOMIC_RELAXED);
}

/* Where a key is. */
typedef struct share_place {
    uint64_t           stripe;
    const tamis_table *side;
    unsigned           which; /* 1: that is `next` */
} share_place;

/* Add what an operation counted to the sums. Its stripe is locked. */
TAMIS_INLINE void share_count(sharing *share, const share_place *place, const tamis_table *change) {
    share_stripe_state *const counts = &share->stripes[place->stripe];
    share_add_alone(&counts->keys[place->which], change->keys - SHARE_KEYS);
    if (change->entries != 0) share_add_alone(&counts->entries[place->which], change->entries);
    share_add(&share->saturated[place->which], change->saturated);
    share_add(&share->moved, change->moved);
    share_add(&share->aged, change->aged);
}

/* The sweep of a table as it is now. */
TAMIS_INLINE void share_load_sweep(const sharing *share, unsigned which, sweep *ret_sweep) {
    unsigned turns = 0;
    for (;; stripe_wait(&turns)) {
        uint64_t const version = stripe_version(&share->hand);
        words_read(ret_sweep, &share->sweeps[which], SHARE_SWEEP_WORDS);
        if (__builtin_expect(stripe_is_same(&share->hand, version), 1)) return;
    }
}

/* ------------------------------------------------------------------ changes */

/* What is done to a window: one of the kind's functions. */
typedef tamis_status share_operation(tamis_table *table, uint64_t hash, void *arguments);

TAMIS_INLINE uint64_t *share_word(const sharing *share, uint64_t stripe) {
    return &share->stripes[stripe].word;
}

/* Lock the stripe of a key. */
TAMIS_INLINE share_place share_lock(sharing *share, uint64_t hash) {
    for (;;) {
        const share_view *const view = share_view_now(share);
        uint64_t const          stripe = share_stripe(view, hash);
        stripe_lock(share_word(share, stripe));
        const tamis_table *const side = share_side(view, hash);
        if (__builtin_expect(share_view_now(share) == view, 1))
            return (share_place){ stripe, side, side == &view->next };
        stripe_unlock(share_word(share, stripe));
    }
}

/* Change a key whose stripe is locked. The window may have served another key before, or is new:
 * its side is NULL. */
TAMIS_INLINE tamis_status share_change_locked(sharing *share, const kind_sharing *how,
                                              const share_place *place, share_window *window,
                                              uint64_t hash, unsigned more,
                                              share_operation *operation, void *arguments) {
    if (window->side != place->side) share_window_begin(window, place->side, how->derived_words);
    if (place->side->values != 0) share_load_sweep(share, place->which, &window->table.sweep);
    share_counts_begin(&window->table);
    bool const needs_attic = how->needs_attic != NULL && how->needs_attic(place->side, hash, more);
    if (__builtin_expect(needs_attic, 0)) stripe_lock(&share->attic);
    stripe_begin_change(share_word(share, place->stripe));
    tamis_status const status = operation(&window->table, hash, arguments);
    if (__builtin_expect(needs_attic, 0)) stripe_unlock(&share->attic);
    share_count(share, place, &window->table);
    return status;
}

TAMIS_INLINE tamis_status share_change(sharing *share, const kind_sharing *how,
                                       share_window *window, uint64_t hash, unsigned more,
                                       share_operation *operation, void *arguments) {
    share_place const  place = share_lock(share, hash);
    tamis_status const status =
        share_change_locked(share, how, &place, window, hash, more, operation, arguments);
    stripe_unlock(share_word(share, place.stripe));
    return status;
}

/* Add a chunk of keys to a table of one group, with one lock for all of them. The stripe keeps its
 * version, so lookups do not notice: this is only for kinds with reads_in_place. */
TAMIS_INLINE unsigned share_add_together(sharing *share, const kind_calls *calls,
                                         const uint64_t *hash, unsigned n) {
    share_window      window;
    share_place const place = share_lock(share, hash[0]);
    share_window_begin(&window, place.side, KIND_DERIVED);
    share_counts_begin(&window.table);
    unsigned const added = calls->add_chunk(&window.table, hash, n);
    share_count(share, &place, &window.table);
    stripe_unlock(share_word(share, place.stripe));
    return added;
}

/* ------------------------------------------------------------------ lookups */

typedef uint64_t share_question(const tamis_table *table, uint64_t hash, void *arguments);

/* Ask about a key with its stripe locked. */
static __attribute__((noinline, unused)) uint64_t
share_ask_locked(sharing *share, uint64_t hash, share_question *question, void *arguments) {
    share_place const place = share_lock(share, hash);
    uint64_t const    answer = question(place.side, hash, arguments);
    stripe_unlock(share_word(share, place.stripe));
    return answer;
}

/* Ask the table itself, while others may be changing it; the answer counts if they have not. After
 * this many attempts in vain, a lookup takes the lock. */
#define SHARE_TRIES 16

static __attribute__((noinline, unused)) STRIPE_READER uint64_t
share_ask_in_place(sharing *share, uint64_t hash, share_question *question, void *arguments) {
    for (unsigned i = 0; i < SHARE_TRIES; i++) {
        const share_view *const view = share_view_now(share);
        uint64_t *const         word = share_word(share, share_stripe(view, hash));
        uint64_t const          version = stripe_version(word);
        uint64_t const          answer = question(share_side(view, hash), hash, arguments);
        if (stripe_is_same(word, version) && share_view_now(share) == view) return answer;
        stripe_pause();
    }
    return share_ask_locked(share, hash, question, arguments);
}

/* Ask about a key, without a lock where that is possible. The question is only asked about a copy
 * that is whole. */
TAMIS_INLINE uint64_t share_ask(sharing *share, const kind_sharing *how, uint64_t hash,
                                share_question *question, void *arguments) {
    share_copy copy;
    unsigned   turns = 0;
    if (how->reads_anything) return share_ask_in_place(share, hash, question, arguments);
    if (how->copy == NULL) return share_ask_locked(share, hash, question, arguments);
    for (;; stripe_wait(&turns)) {
        const share_view *const view = share_view_now(share);
        uint64_t *const         word = &share->stripes[share_stripe(view, hash)].word;
        uint64_t const          version = stripe_version(word);
        share_window_begin(&copy.window, share_side(view, hash), how->derived_words);
        bool const needs_attic = how->copy(&copy, hash);
        if (__builtin_expect(needs_attic, 0)) stripe_lock(&share->attic);
        bool const is_whole = stripe_is_same(word, version) && share_view_now(share) == view;
        uint64_t   answer = 0;
        if (__builtin_expect(is_whole, 1)) answer = question(&copy.window.table, hash, arguments);
        if (__builtin_expect(needs_attic, 0)) stripe_unlock(&share->attic);
        if (__builtin_expect(is_whole, 1)) return answer;
    }
}

/* A chunk of keys in a table of one group, between two steps of growing, as share_ask_in_place()
 * does it. If something was changed meanwhile, or in a step, *ret_is_whole is false. */
typedef uint64_t share_chunk(const tamis_table *table, const uint64_t *hash, unsigned n);

TAMIS_INLINE uint64_t share_has_together(sharing *share, share_chunk *has_chunk,
                                         const uint64_t *hash, unsigned n, bool *ret_is_whole) {
    const share_view *const view = share_view_now(share);
    uint64_t *const         word = share_word(share, share_stripe(view, hash[0]));
    uint64_t const          version = stripe_version(word);
    *ret_is_whole = false;
    if (view->next.body != NULL) return 0;
    uint64_t const found = has_chunk(&view->table, hash, n);
    *ret_is_whole = stripe_is_same(word, version) && share_view_now(share) == view;
    return found;
}

/* For kinds whose keys change places all over the table, or whose groups have words in common: one
 * lock for all changes, which take turns. Lookups take none. The kind has NAME_has() and
 * NAME_has_chunk(). */
#define SHARE_ONE_LOCK(name)                                                                       \
    static uint64_t name##_share_question(const tamis_table *table, uint64_t hash, void *unused) { \
        (void)unused;                                                                              \
        return name##_has(table, hash);                                                            \
    }                                                                                              \
                                                                                                   \
    static bool name##_share_has(sharing *share, uint64_t hash) {                                  \
        return share_ask_in_place(share, hash, name##_share_question, NULL) != 0;                  \
    }                                                                                              \
                                                                                                   \
    static uint64_t name##_share_has_chunk(sharing *share, const uint64_t *hash, unsigned n) {     \
        bool     is_whole;                                                                         \
        uint64_t found = share_has_together(share, name##_has_chunk, hash, n, &is_whole);          \
        if (__builtin_expect(is_whole, 1)) return found;                                           \
        found = 0;                                                                                 \
        for (unsigned i = 0; i < n; i++) found |= (uint64_t)name##_share_has(share, hash[i]) << i; \
        return found;                                                                              \
    }                                                                                              \
                                                                                                   \
    static const kind_sharing name##_sharing = { .derived_words = KIND_DERIVED,                    \
                                                 .reads_anything = true,                           \
                                                 .has = name##_share_has,                          \
                                                 .has_chunk = name##_share_has_chunk }

#endif
