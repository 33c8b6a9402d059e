/* plays.h - what the three threads of every.c do: one operation each, on a small set.
 *
 * The first thread adds a key, the second one removes or adds another, and the reader looks up a
 * key that is there all the time. Which keys these are is chosen so that the changes move the entry
 * of the reader's key, or the memory that a lookup needs to find it.
 */
#ifndef EXPLORE_PLAYS_H
#define EXPLORE_PLAYS_H

#include "steps.h"

typedef enum question { HAS, HAS_TWO, COUNT } question;
typedef enum second { REMOVES, ADDS } second;

typedef struct play {
    const char *name, *kind;
    void (*prepare)(void);
    question question;
    second   second;
    bool     is_loose; /* the reader's loads may be out of order */
    bool     is_quick; /* a second or two */
    bool     grows;
} play;

static struct {
    const play *play;
    tamis_set  *set;
    uint64_t    added, other; /* of the first and the second thread */
    uint64_t    stays[2];     /* keys of the reader */
} now;

/* ------------------------------------------------------------------ memory */

/* All memory of a set is in the arena, one piece after the other. Nothing is given back. */
static void *arena_take(void *context, size_t bytes, size_t alignment) {
    (void)context;
    size_t const at = (world.used + alignment - 1) / alignment * alignment;
    if (at + bytes > sizeof arena) return NULL;
    world.used = at + bytes;
    return (uint8_t *)arena + at;
}

static void arena_give(void *context, void *memory, size_t bytes) {
    (void)context;
    (void)memory;
    (void)bytes;
}

/* `line`: two groups of lines, and so two stripes. */
static void make_set(void) {
    tamis_spec       spec = TAMIS_SPEC_INIT;
    tamis_seed const seed = { 3, 5 };
    tamis_problem    problem;
    bool const       is_line = strcmp(now.play->kind, "line") == 0 && !now.play->grows;
    spec.capacity = 40;
    spec.fpr = is_line ? 0 : 0.003;
    spec.overflow = now.play->grows ? 0 : 0.999;
    spec.grow_to = now.play->grows ? 64000 : 0;
    spec.geometry = is_line ? "buckets=32,attic=40,copies=8" : NULL;
    spec.abilities = TAMIS_CAN_REMOVE | (now.play->question == COUNT ? TAMIS_CAN_COUNT : 0);
    spec.kind = now.play->kind;
    spec.seed = &seed;
    spec.shared = true;
    spec.allocator = (tamis_allocator){ .alloc = arena_take, .free = arena_give };
    if (tamis_create(&spec, &now.set, &problem) != TAMIS_OK) stop_all(problem.text);
}

/* ------------------------------------------------------------------ keys */

static void put(uint64_t id) {
    if (tamis_add_id(now.set, id) != TAMIS_OK) stop_all("a scene does not fit");
}

/* The next id from this one on that is in the bucket. */
static uint64_t id_in(uint64_t bucket, uint64_t from) {
    while (explore_bucket(now.set, from) != bucket) from++;
    return from;
}

/* The one whose hash is the last, or the first. */
static uint64_t later_of(uint64_t a, uint64_t b) {
    return explore_hash(now.set, a) > explore_hash(now.set, b) ? a : b;
}

static uint64_t earlier_of(uint64_t a, uint64_t b) {
    return explore_hash(now.set, a) > explore_hash(now.set, b) ? b : a;
}

/* Put n ids into the bucket: an early one, a late one, and others between them. */
static void put_some(uint64_t bucket, unsigned n, uint64_t *ret_early, uint64_t *ret_late) {
    uint64_t id = id_in(bucket, 0);
    *ret_early = *ret_late = id;
    for (put(id); --n != 0; put(id)) {
        id = id_in(bucket, id + 1);
        *ret_early = earlier_of(*ret_early, id);
        *ret_late = later_of(*ret_late, id);
    }
}

/* An id in the bucket that is not in the set, and before this one. */
static uint64_t id_before(uint64_t bucket, uint64_t late) {
    uint64_t id = id_in(bucket, UINT64_C(1) << 40);
    while (later_of(id, late) == id) id = id_in(bucket, id + 1);
    return id;
}

/* What would be so if `added` were added? */
typedef struct after {
    explore_part part; /* `line`: of the key that stays */
    bool         is_growing;
} after;

static after after_add(void) {
    tamis_set *copy, *const set = now.set;
    size_t const used = world.used;
    tamis_facts  facts;
    after        result = { .part = IN_LINE };
    if (tamis_copy(set, &copy) != TAMIS_OK) stop_all("no copy");
    now.set = copy;
    put(now.added);
    if (strcmp(now.play->kind, "line") == 0) result.part = explore_part_of(copy, now.stays[0]);
    if (tamis_get_facts(copy, &facts) != TAMIS_OK) stop_all("no facts");
    result.is_growing = facts.is_growing;
    now.set = set;
    world.used = used;
    return result;
}

/* Put more ids into the bucket until `added` moves the key that stays. */
static void put_until_it_moves(uint64_t bucket, explore_part from, explore_part to) {
    uint64_t id = UINT64_C(1) << 30;
    while (explore_part_of(now.set, now.stays[0]) != from || after_add().part != to) {
        id = id_in(bucket, id + 1);
        if (later_of(id, now.stays[0]) != id) put(id);
    }
}

/* ------------------------------------------------------------------ scenes of `line` */

static void one_line(void) {
    put_some(3, 6, &now.other, &now.stays[0]);
    now.added = id_before(3, now.stays[0]);
}

static void line_to_shelf(void) {
    put_some(3, 30, &now.other, &now.stays[0]);
    now.added = id_before(3, now.stays[0]);
    put_until_it_moves(3, IN_LINE, ON_SHELF);
}

/* A shelf has the first 28 entries of its 16 tails, in order. So those of line 15 move when line 14
 * gets a tail. */
static void make_shelved(void) {
    uint64_t early;
    put_some(15, 30, &early, &now.stays[0]);
    now.added = id_before(15, now.stays[0]);
    put_until_it_moves(15, IN_LINE, ON_SHELF);
    put(now.added);
}

static void on_the_shelf(void) {
    uint64_t const stays = (make_shelved(), now.stays[0]);
    put_some(14, 30, &now.other, &now.stays[0]);
    now.added = id_before(14, now.stays[0]);
    put_until_it_moves(14, IN_LINE, ON_SHELF);
    now.stays[0] = stays;
}

/* The second thread removes a key of another line of this group, and needs the lock only. */
static void shelf_to_attic(void) {
    uint64_t early, late;
    make_shelved();
    put_some(13, 6, &now.other, &late);
    put_some(14, 48, &early, &late);
    now.added = id_before(14, late);
    put_until_it_moves(14, ON_SHELF, IN_ATTIC);
}

/* The lookup of two keys asks one in each stripe. */
static void two_stripes(void) {
    uint64_t early;
    put_some(15, 30, &now.other, &now.stays[1]);
    put_some(20, 30, &early, &now.stays[0]);
    now.added = id_before(20, now.stays[0]);
}

/* ------------------------------------------------------------------ other scenes */

/* A key that stays is in the bucket of the one that is added. */
static void some_keys(void) {
    for (uint64_t id = 0; id < 30; id++) put(id);
    now.other = 3;
    now.stays[0] = 7;
    now.added = id_before(explore_bucket(now.set, 7), 7);
}

/* The next add begins or ends a step. The keys with the last hashes are moved last. */
static void step_changes(bool is_growing) {
    while (after_add().is_growing == is_growing) {
        put(now.added);
        now.stays[0] = now.added == 0 ? 0 : later_of(now.stays[0], now.added);
        now.added++;
    }
    now.other = now.added + 1;
    while (later_of(now.other, now.stays[0]) != now.other) now.other++;
}

static void step_ends(void) {
    step_changes(false);
    step_changes(true);
}

/* In order: loads out of order, quick, grows. */
static const play plays[] = {
    { "line: one line", "line", one_line, HAS, REMOVES, true, false, false },
    { "line: a count", "line", one_line, COUNT, REMOVES, true, false, false },
    { "line: two stripes", "line", two_stripes, HAS_TWO, REMOVES, false, true, false },
    { "line: a key moves on the shelf", "line", on_the_shelf, HAS, REMOVES, false, true, false },
    { "line: a key goes to the shelf", "line", line_to_shelf, HAS, REMOVES, false, false, false },
    { "line: a key goes to the attic", "line", shelf_to_attic, HAS, REMOVES, false, false, false },
    { "line: a step of growing ends", "line", step_ends, HAS, ADDS, false, false, true },
    { "rank", "rank", some_keys, HAS, REMOVES, true, true, false },
    { "counting", "counting", some_keys, HAS, REMOVES, true, true, false },
};

/* ------------------------------------------------------------------ the threads */

static void ask(void) {
    bool     is_there[2] = { false, false };
    uint64_t there = 0;
    switch (now.play->question) {
    case HAS: there = tamis_has_id(now.set, now.stays[0]); break;
    case HAS_TWO: there = tamis_has_id_batch(now.set, now.stays, 2, is_there); break;
    case COUNT:
        expect(tamis_count_id(now.set, now.stays[0], &there) == TAMIS_OK, "no count");
        break;
    }
    expect(there >= (now.play->question == HAS_TWO ? 2 : 1), "a key that stays is missed");
}

static void change(void) {
    if (now.play->second == REMOVES)
        expect(tamis_remove_id(now.set, now.other) == TAMIS_OK, "a key is gone");
    if (now.play->second == ADDS)
        expect(tamis_add_id(now.set, now.other) == TAMIS_OK, "an add was refused");
}

static void fiber_main(int number) {
    if (number == 0) expect(tamis_add_id(now.set, now.added) == TAMIS_OK, "an add was refused");
    if (number == 1) change();
    if (number == READER) ask();
    fiber_end();
}

static void check_end(void) {
    const char *why = NULL;
    expect(tamis_has_id(now.set, now.stays[0]), "a key is missing at the end");
    expect(tamis_has_id(now.set, now.added), "a key is missing at the end");
    if (now.play->second == ADDS)
        expect(tamis_has_id(now.set, now.other), "a key is missing at the end");
    if (!tamis_validate(now.set, &why)) expect(false, why);
}

#endif
