/* explore.c - the protocol of shared sets, in every order of its threads up to some switches.
 *
 *     explore [--switches N] [--runs N] [--seed N]
 *
 * The library itself is run, not a model of it. It is compiled with -finstrument-functions, so the
 * compiler calls __cyg_profile_func_enter() wherever a function begins, inlined ones, too. The
 * threads are fibers of one thread of the system, and the beginnings of some functions are points
 * where another fiber may go on. First everything runs without a switch, whichever fiber begins;
 * then once for each point and each other fiber with a switch there; then with two, and so on.
 * Threads that wait for a lock let others run, which is not counted. Such a search finds an error
 * that needs few switches, for certain, and most do need few: M. Musuvathi, S. Qadeer, "Iterative
 * Context Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007.
 *
 * It knows one order of memory, that of the program. What processors may do beyond it is the
 * business of core/stripes.h.
 *
 * All orders with up to --switches switches are tried (a whole step: with two or more), and --runs
 * of those that have more, up to four.
 */
#define _GNU_SOURCE
#include <pthread.h>

/* Fibers are no threads of the system, so what belongs to a thread is ours. */
static int       explore_lock(pthread_mutex_t *mutex);
static int       explore_try_lock(pthread_mutex_t *mutex);
static int       explore_unlock(pthread_mutex_t *mutex);
static pthread_t explore_self(void);
#define pthread_mutex_lock explore_lock
#define pthread_mutex_trylock explore_try_lock
#define pthread_mutex_unlock explore_unlock
#define pthread_self explore_self

#include "tamis.c" /* the library in one file (make amalgamation) */

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define PLAIN __attribute__((no_instrument_function))
#define FIBERS 3
#define MOST_SWITCHES 4
#define STACK_BYTES (256 << 10)

/* ------------------------------------------------------------------ fibers */

typedef struct fiber {
    ucontext_t context;
    bool       is_done;
    uint8_t    stack[STACK_BYTES];
} fiber;

/* At this point another fiber goes on. */
typedef struct turn {
    uint64_t point;
    unsigned to;
} turn;

static struct {
    fiber      fibers[FIBERS];
    ucontext_t home;
    unsigned   start, now; /* the fiber that begins, and the one that runs */
    bool       is_on;
    uint64_t   points; /* that were passed */
    turn       turns[MOST_SWITCHES];
    unsigned   n_turns, next_turn;
    unsigned   owner, depth; /* of the mutex; depth 0: free */
    uint64_t   waits;        /* one after the other */
} world;

static PLAIN void go_to(unsigned other) {
    unsigned const me = world.now;
    if (other == me || world.fibers[other].is_done) return;
    world.now = other;
    (void)swapcontext(&world.fibers[me].context, &world.fibers[other].context);
}

/* Let some other fiber run. */
static PLAIN void give_way(void) {
    if (++world.waits > 100000) {
        (void)fprintf(stderr, "explore: the fibers wait for each other\n");
        exit(1);
    }
    for (unsigned i = 1; i < FIBERS; i++) {
        unsigned const other = (world.now + i) % FIBERS;
        if (world.fibers[other].is_done) continue;
        go_to(other);
        return;
    }
}

void __cyg_profile_func_enter(void *function, void *caller) PLAIN;
void __cyg_profile_func_exit(void *function, void *caller) PLAIN;

/* Where threads touch what others see: locks and versions, views, and the words of a table. */
static PLAIN bool is_point(const void *function) {
    static const void *const points[] = {
        stripe_lock_from,
        stripe_begin_change,
        stripe_fence,
        stripe_unlock,
        stripe_version,
        share_view_now,
        share_stripe,
        share_side,
        share_count,
        share_add_alone,
        runs_spot_of,
        runs_load,
        runs_store,
        runs_match,
        slots_open,
        slots_close,
        shelf_find,
        shelf_match,
        attic_find,
        words_read,
        line_carry,
        line_wipe,
        tamis_share_count_in,
        tamis_share_count_out,
        tamis_share_pay,
        tamis_share_publish,
        tamis_share_show_move,
        tamis_share_settle,
        tamis_share_divide,
        take_spare,
        retire,
    };
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        if (points[i] == function) return true;
    }
    return false;
}

void __cyg_profile_func_enter(void *function, void *caller) {
    (void)caller;
    if (!world.is_on) return;
    if (function == (void *)stripe_wait) {
        give_way();
        return;
    }
    world.waits = 0;
    if (!is_point(function)) return;
    uint64_t const point = world.points++;
    if (world.next_turn == world.n_turns || world.turns[world.next_turn].point != point) return;
    go_to(world.turns[world.next_turn++].to);
}

void __cyg_profile_func_exit(void *function, void *caller) {
    (void)function;
    (void)caller;
}

/* The only mutex of a run is that of its set. */
static PLAIN int explore_try_lock(pthread_mutex_t *mutex) {
    (void)mutex;
    if (world.depth != 0 && world.owner != world.now) return 1;
    world.owner = world.now;
    world.depth++;
    return 0;
}

static PLAIN int explore_lock(pthread_mutex_t *mutex) {
    while (explore_try_lock(mutex) != 0) give_way();
    return 0;
}

static PLAIN int explore_unlock(pthread_mutex_t *mutex) {
    (void)mutex;
    world.depth--;
    return 0;
}

static PLAIN pthread_t explore_self(void) {
    return (pthread_t)(world.now + 1);
}

/* ------------------------------------------------------------------ what the fibers do */

/* A set that does not grow; or one that is about to begin a step, or to end it, or both. */
typedef enum moment { NO_STEP, BEGINS, ENDS, BOTH } moment;

typedef struct scene {
    const char *name, *kind, *geometry;
    moment      when;
    uint64_t    keys; /* that are there at the beginning; of a set that grows: found out */
    uint64_t    more; /* that the adder adds */
} scene;

#define SOME_KEYS 6

static scene scenes[] = {
    { "a line that has room", "line", "buckets=32,attic=720,copies=8", NO_STEP, 900, SOME_KEYS },
    { "a line, its shelf and the attic", "line", "buckets=32,attic=720,copies=8", NO_STEP, 1698,
      SOME_KEYS },
    { "a step of growing begins", "line", NULL, BEGINS, 0, SOME_KEYS },
    { "a step of growing ends", "line", NULL, ENDS, 0, SOME_KEYS },
    { "a step of growing ends, one lock for all", "rank", NULL, ENDS, 0, SOME_KEYS },
    { "a whole step of growing", "line", NULL, BOTH, 0, 0 },
};

#define OTHERS 3 /* keys that come and go: one of the adder, two of the changer */
#define READ_KEYS (1 + OTHERS + SOME_KEYS)

static const uint64_t others[OTHERS] = { UINT64_C(1) << 32, UINT64_C(2) << 32,
                                         (UINT64_C(2) << 32) + 1 };

static struct {
    const scene *scene;
    tamis_set   *set;
    uint64_t     there;           /* keys that stay and whose adds have returned */
    uint64_t     read[READ_KEYS]; /* keys that stay: the last one, and neighbours */
    const char  *problem;
} play;

static PLAIN void expect(bool is_so, const char *what) {
    if (!is_so && play.problem == NULL) play.problem = what;
}

/* Keys that stay are 0, 1, 2, ... */
static PLAIN void adder(void) {
    for (uint64_t id = play.scene->keys; id < play.scene->keys + play.scene->more; id++) {
        expect(tamis_add_id(play.set, id) == TAMIS_OK, "an add was refused");
        play.there = id + 1;
    }
    expect(tamis_add_id(play.set, others[0]) == TAMIS_OK, "an add was refused");
    expect(tamis_remove_id(play.set, others[0]) == TAMIS_OK, "a key is gone");
}

static PLAIN void changer(void) {
    for (unsigned i = 1; i < OTHERS; i++) {
        uint64_t const id = others[i];
        expect(tamis_add_id(play.set, id) == TAMIS_OK, "an add was refused");
        expect(tamis_has_id(play.set, id), "a key is missed by who has added it");
        expect(tamis_remove_id(play.set, id) == TAMIS_OK, "a key is gone");
    }
}

static PLAIN void reader(void) {
    bool is_there[READ_KEYS];
    for (unsigned i = 0; i < 3; i++) {
        uint64_t const last = play.there - 1;
        play.read[0] = last;
        size_t const found = tamis_has_id_batch(play.set, play.read, READ_KEYS, is_there);
        expect(found == READ_KEYS, "a key that stays is missed");
        expect(tamis_has_id(play.set, last), "a key that stays is missed");
        expect(tamis_has_id(play.set, play.read[OTHERS + i]), "a key that stays is missed");
    }
}

static PLAIN void fiber_main(int number) {
    void (*const parts[FIBERS])(void) = { adder, changer, reader };
    parts[number]();
    world.fibers[number].is_done = true;
    for (unsigned i = 0; i < FIBERS; i++) {
        if (world.fibers[i].is_done) continue;
        world.now = i;
        (void)setcontext(&world.fibers[i].context);
    }
    (void)setcontext(&world.home);
}

/* ------------------------------------------------------------------ runs */

static PLAIN tamis_set *make_set(const scene *one) {
    tamis_spec       spec = TAMIS_SPEC_INIT;
    tamis_seed const seed = { 3, 5 };
    tamis_problem    problem;
    tamis_set       *set = NULL;
    spec.capacity = one->when == NO_STEP ? 1720 : 1000;
    spec.grow_to = one->when == NO_STEP ? 0 : 64000;
    spec.fpr = one->geometry != NULL ? 0 : 0.003;
    spec.overflow = one->geometry != NULL ? 0.999 : 0;
    spec.geometry = one->geometry;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.kind = one->kind;
    spec.seed = &seed;
    spec.shared = true;
    if (tamis_create(&spec, &set, &problem) != TAMIS_OK) {
        (void)fprintf(stderr, "explore: %s: %s\n", one->name, problem.text);
        exit(2);
    }
    return set;
}

static PLAIN bool is_growing(const tamis_set *set) {
    tamis_facts facts;
    if (tamis_get_facts(set, &facts) != TAMIS_OK) exit(2);
    return facts.is_growing;
}

/* How many keys there are when the step begins, and when it ends. */
static PLAIN void find_step(scene *one) {
    tamis_set *const set = make_set(one);
    uint64_t         id = 0, begin;
    while (!is_growing(set)) expect(tamis_add_id(set, id++) == TAMIS_OK, "full");
    begin = id;
    while (is_growing(set)) expect(tamis_add_id(set, id++) == TAMIS_OK, "full");
    tamis_free(set);
    one->keys = (one->when == ENDS ? id : begin) - SOME_KEYS / 2;
    if (one->when == BOTH) one->more = id - begin + SOME_KEYS;
}

static PLAIN tamis_set *make_first(scene *one) {
    if (one->when != NO_STEP) find_step(one);
    tamis_set *const set = make_set(one);
    for (uint64_t id = 0; id < one->keys; id++) expect(tamis_add_id(set, id) == TAMIS_OK, "full");
    return set;
}

/* A key that stays, and that moves when this one comes or goes: in the same bucket, behind it, and
 * nearest to it. */
static PLAIN uint64_t neighbour(const tamis_set *set, uint64_t other, uint64_t n) {
    uint64_t const hash = keyhash_id(&set->hasher, other), buckets = set->table.geometry[0];
    uint64_t       best = 0, distance = UINT64_MAX;
    for (uint64_t id = 0; id < n; id++) {
        uint64_t const mine = keyhash_id(&set->hasher, id);
        if (fastrange(mine, buckets) != fastrange(hash, buckets) || mine < hash) continue;
        if (mine - hash >= distance) continue;
        best = id;
        distance = mine - hash;
    }
    return best;
}

static PLAIN void begin_fibers(void) {
    for (int i = 0; i < FIBERS; i++) {
        fiber *const one = &world.fibers[i];
        one->is_done = false;
        (void)getcontext(&one->context);
        one->context.uc_stack.ss_sp = one->stack;
        one->context.uc_stack.ss_size = sizeof one->stack;
        one->context.uc_link = NULL;
        makecontext(&one->context, (void (*)(void))fiber_main, 1, i);
    }
}

/* One run with the turns of the world, from a copy of the set. Returns how many points it had. */
static PLAIN uint64_t run_once(const scene *one, const tamis_set *first) {
    const char *why = NULL;
    if (tamis_copy(first, &play.set) != TAMIS_OK) exit(2);
    play.scene = one;
    play.there = one->keys;
    world.points = world.next_turn = 0;
    world.now = world.start;
    world.depth = 0;
    begin_fibers();
    world.is_on = true;
    (void)swapcontext(&world.home, &world.fibers[world.start].context);
    world.is_on = false;
    for (uint64_t id = 0; id < one->keys + one->more; id++)
        expect(tamis_has_id(play.set, id), "a key is missing at the end");
    if (!tamis_validate(play.set, &why)) expect(false, why);
    if (one->when != NO_STEP)
        expect(is_growing(play.set) == (one->when == BEGINS), "the step is not where it should be");
    tamis_free(play.set);
    return world.points;
}

static uint64_t runs_done;

static PLAIN bool is_good_run(const scene *one, const tamis_set *first, uint64_t *ret_points) {
    uint64_t const points = run_once(one, first);
    runs_done++;
    if (ret_points != NULL) *ret_points = points;
    if (play.problem == NULL) return true;
    (void)printf("# %s: %s; fiber %u begins, switches", one->name, play.problem, world.start);
    for (unsigned i = 0; i < world.n_turns; i++)
        (void)printf(" at %llu to %u", (unsigned long long)world.turns[i].point, world.turns[i].to);
    (void)printf("\n");
    return false;
}

/* All runs with up to `left` more switches, all of them after a point. */
static PLAIN bool try_all(const scene *one, const tamis_set *first, uint64_t from, unsigned left) {
    uint64_t points;
    if (!is_good_run(one, first, &points)) return false;
    if (left == 0) return true;
    turn *const mine = &world.turns[world.n_turns++];
    bool        is_good = true;
    for (uint64_t point = from; point < points && is_good; point++) {
        for (unsigned to = 0; to < FIBERS && is_good; to++) {
            *mine = (turn){ point, to };
            is_good = try_all(one, first, point + 1, left - 1);
        }
    }
    world.n_turns--;
    return is_good;
}

static PLAIN uint64_t draw(uint64_t *state, uint64_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* Runs with this many switches at points that are drawn. */
static PLAIN bool try_some(const scene *one, const tamis_set *first, unsigned switches,
                           uint64_t runs, uint64_t seed) {
    uint64_t points = 0;
    world.n_turns = 0;
    world.start = 0;
    if (!is_good_run(one, first, &points)) return false;
    for (; runs != 0; runs--) {
        uint64_t from = 0;
        world.start = (unsigned)draw(&seed, FIBERS);
        for (world.n_turns = 0; world.n_turns < switches; world.n_turns++) {
            uint64_t const room = points > from ? points - from : 1;
            from += draw(&seed, world.n_turns + 1 == switches ? room : 1 + room / 2);
            world.turns[world.n_turns] = (turn){ from++, (unsigned)draw(&seed, FIBERS) };
        }
        if (!is_good_run(one, first, NULL)) return false;
    }
    world.n_turns = 0;
    return true;
}

PLAIN int main(int argc, char **argv) {
    uint64_t switches = 1, runs = 2000, seed = 20060911;
    unsigned failed = 0, n = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t const value = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--switches") == 0) switches = value;
        if (strcmp(argv[i], "--runs") == 0) runs = value;
        if (strcmp(argv[i], "--seed") == 0) seed = value;
    }
    if (switches > MOST_SWITCHES) return 2;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        tamis_set *const first = make_first(&scenes[i]);
        runs_done = 0;
        world.n_turns = 0;
        for (unsigned k = 0; k < OTHERS; k++)
            play.read[1 + k] = neighbour(first, others[k], scenes[i].keys);
        for (unsigned k = 0; k < SOME_KEYS; k++)
            play.read[1 + OTHERS + k] = neighbour(first, scenes[i].keys + k, scenes[i].keys);
        play.problem = NULL;
        bool const is_long = scenes[i].when == BOTH;
        unsigned   all = is_long && switches == 1 ? 0 : (unsigned)switches;
        bool       is_good = true;
        for (world.start = 0; world.start < FIBERS && is_good; world.start++)
            is_good = try_all(&scenes[i], first, 0, all);
        for (unsigned more = all + 1; more <= MOST_SWITCHES && is_good; more++)
            is_good = try_some(&scenes[i], first, more, runs, seed);
        (void)printf("%s %u - %s: %llu runs\n", is_good ? "ok" : "not ok", ++n, scenes[i].name,
                     (unsigned long long)runs_done);
        (void)fflush(stdout);
        failed += !is_good;
        tamis_free(first);
    }
    (void)printf("1..%u\n", n);
    return failed != 0;
}
