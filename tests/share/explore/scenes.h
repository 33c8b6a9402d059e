/* scenes.h - what the three threads of explore.c do: a set, and a part for each thread.
 *
 * Some keys stay: those that were there before (0, 1, 2, ...), and those whose adds have returned.
 * Others come and go. The reader must never miss a key that stays, nor see another value of it.
 */
#ifndef EXPLORE_SCENES_H
#define EXPLORE_SCENES_H

#include "fibers.h"

/* A set that does not grow; or one that is about to begin a step, or to end it, or both. */
typedef enum moment { NO_STEP, BEGINS, ENDS, BOTH } moment;

/* What the first thread does; the others change and read. */
typedef enum job { ADD, MERGE, CLEAR, TICK } job;

typedef struct scene {
    const char *name, *kind, *geometry;
    moment      when;
    job         job;
    uint64_t    keys; /* that are there at the beginning; of a set that grows: found out */
    uint64_t    more; /* that the first thread adds */
} scene;

#define SOME_KEYS 6

static scene scenes[] = {
    { "a line that has room", "line", "buckets=32,attic=720,copies=8", NO_STEP, ADD, 900,
      SOME_KEYS },
    { "a line, its shelf and the attic", "line", "buckets=32,attic=720,copies=8", NO_STEP, ADD,
      1698, SOME_KEYS },
    { "line: a step of growing begins", "line", NULL, BEGINS, ADD, 0, SOME_KEYS },
    { "line: a step of growing ends", "line", NULL, ENDS, ADD, 0, SOME_KEYS },
    { "line: a whole step of growing", "line", NULL, BOTH, ADD, 0, 0 },
    { "line: another set is merged into it", "line", NULL, NO_STEP, MERGE, 900, SOME_KEYS },
    { "line: it is cleared", "line", NULL, NO_STEP, CLEAR, 60, 0 },
    { "line: states whose timers go by", "line", NULL, NO_STEP, TICK, 300, 0 },
    { "rank that has room", "rank", NULL, NO_STEP, ADD, 900, SOME_KEYS },
    { "rank that is nearly full", "rank", NULL, NO_STEP, ADD, 1700, SOME_KEYS },
    { "rank: a step of growing begins", "rank", NULL, BEGINS, ADD, 0, SOME_KEYS },
    { "rank: a step of growing ends", "rank", NULL, ENDS, ADD, 0, SOME_KEYS },
    { "rank: a whole step of growing", "rank", NULL, BOTH, ADD, 0, 0 },
    { "rank: another set is merged into it", "rank", NULL, NO_STEP, MERGE, 900, SOME_KEYS },
    { "rank: it is cleared", "rank", NULL, NO_STEP, CLEAR, 60, 0 },
    { "rank: states whose timers go by", "rank", NULL, NO_STEP, TICK, 300, 0 },
    { "counting", "counting", NULL, NO_STEP, ADD, 900, SOME_KEYS },
    { "counting: another set is merged into it", "counting", NULL, NO_STEP, MERGE, 900, SOME_KEYS },
};

#define VALUES 4    /* of states */
#define OLD_VALUE 3 /* of those that leave by themselves */
#define OTHERS 3    /* keys that come and go: one of the first thread, two of the changer */
#define READ_KEYS (1 + OTHERS + SOME_KEYS)

static const uint64_t others[OTHERS] = { UINT64_C(1) << 32, UINT64_C(2) << 32,
                                         (UINT64_C(2) << 32) + 1 };

static struct {
    const scene *scene;
    tamis_set   *set;             /* or states: the same handle */
    tamis_set   *source;          /* what is merged into it; not shared */
    uint64_t     there;           /* keys that stay and whose adds have returned */
    uint64_t     read[READ_KEYS]; /* keys that stay: the last one, and neighbours */
    uint64_t     aged[VALUES];    /* states that left by themselves */
    const char  *problem;
} play;

static PLAIN void expect(bool is_so, const char *rule) {
    if (!is_so && play.problem == NULL) play.problem = rule;
}

/* ------------------------------------------------------------------ the first thread */

static PLAIN void play_add(void) {
    for (uint64_t id = play.scene->keys; id < play.scene->keys + play.scene->more; id++) {
        expect(tamis_add_id(play.set, id) == TAMIS_OK, "an add was refused");
        play.there = id + 1;
    }
    expect(tamis_add_id(play.set, others[0]) == TAMIS_OK, "an add was refused");
    expect(tamis_remove_id(play.set, others[0]) == TAMIS_OK, "a key is gone");
}

static PLAIN void play_merge(void) {
    expect(tamis_merge(play.set, play.source) == TAMIS_OK, "a merge was refused");
    play.there = play.scene->keys + play.scene->more;
}

/* A clear takes what is there. What comes after it stays. */
static PLAIN void play_clear(void) {
    expect(tamis_clear(play.set) == TAMIS_OK, "a clear was refused");
    expect(tamis_add_id(play.set, others[0]) == TAMIS_OK, "an add was refused");
    expect(tamis_has_id(play.set, others[0]), "the thread that added a key misses it");
}

/* The states of make_first() that are old leave in these ticks; those that stay are young. */
#define TICKS 12

static PLAIN void play_tick(void) {
    for (unsigned i = 0; i < TICKS; i++)
        expect(tamis_states_tick((tamis_states *)play.set, 1, play.aged, NULL) == TAMIS_OK,
               "a tick was refused");
}

/* ------------------------------------------------------------------ the changer */

static PLAIN void play_changes(void) {
    bool const is_cleared = play.scene->job == CLEAR; /* then a key may go between two calls */
    for (unsigned i = 1; i < OTHERS; i++) {
        uint64_t const id = others[i];
        expect(tamis_add_id(play.set, id) == TAMIS_OK, "an add was refused");
        expect(tamis_has_id(play.set, id) || is_cleared, "the thread that added a key misses it");
        expect(tamis_remove_id(play.set, id) == TAMIS_OK || is_cleared, "a key is gone");
    }
}

static PLAIN void play_state_changes(void) {
    tamis_states *const states = (tamis_states *)play.set;
    for (unsigned i = 1; i < OTHERS; i++) {
        uint64_t const id = others[i];
        uint32_t       value = 0;
        expect(tamis_states_put_id(states, id, 1) == TAMIS_OK, "a put was refused");
        expect(tamis_states_move_id(states, id, 1, 2) == TAMIS_OK, "a move was refused");
        expect(tamis_states_get_id(states, id, &value) == TAMIS_OK && value == 2,
               "the thread that put a state misses it");
        expect(tamis_states_touch_id(states, play.read[i]) == TAMIS_OK, "a touch was refused");
        expect(tamis_states_drop_id(states, id, 2) == TAMIS_OK, "a state is gone");
    }
}

/* ------------------------------------------------------------------ the reader */

static PLAIN void play_lookups(void) {
    bool is_there[READ_KEYS];
    for (unsigned i = 0; i < 3; i++) {
        uint64_t const last = play.there - 1;
        play.read[0] = last;
        size_t const found = tamis_has_id_batch(play.set, play.read, READ_KEYS, is_there);
        if (play.scene->job == CLEAR) continue;
        expect(found == READ_KEYS, "a key that stays is missed");
        expect(tamis_has_id(play.set, last), "a key that stays is missed");
        expect(tamis_has_id(play.set, play.read[OTHERS + i]), "a key that stays is missed");
    }
}

static PLAIN void play_gets(void) {
    for (unsigned i = 0; i < READ_KEYS; i++) {
        uint32_t value = VALUES;
        expect(tamis_states_get_id((tamis_states *)play.set, play.read[i], &value) == TAMIS_OK,
               "a state that stays is missed");
        expect(value == play.read[i] % VALUES, "a state that stays is another");
    }
}

/* ------------------------------------------------------------------ who does what */

static PLAIN void fiber_main(int number) {
    static void (*const firsts[])(void) = { play_add, play_merge, play_clear, play_tick };
    bool const has_states = play.scene->job == TICK;
    if (number == 0) firsts[play.scene->job]();
    if (number == 1) has_states ? play_state_changes() : play_changes();
    if (number == READER) has_states ? play_gets() : play_lookups();
    fiber_end(number);
}

#endif
