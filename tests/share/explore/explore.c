/* explore.c - runs the protocol of shared sets in every order of its threads, up to some number of
 * switches between them.
 *
 *     explore [--switches N] [--runs N] [--part N] [--seed N] [--only WORDS] [--fault N]
 *
 * Three threads (fibers.h) do what a scene says. First everything runs without a switch, whichever
 * thread begins; then once for each point and each other thread with a switch there; then with two,
 * and so on. Such a search is certain to find every error that needs few switches, and most errors
 * need few: M. Musuvathi, S. Qadeer, "Iterative Context Bounding for Systematic Testing of
 * Multithreaded Programs", PLDI 2007.
 *
 * All orders with up to --switches switches are tried (a whole step of growing: with two or more),
 * and --runs of those that have more, up to four. With --part N it is one in N of them, and with
 * --only WORDS the scenes whose names begin so. --fault N: puts a fault into the library
 * (run-explore has the list), which must be found. every.c tries short scenes in all orders.
 */
#include "fibers.h"
#include "scenes.h"

/* ------------------------------------------------------------------ runs */

static PLAIN void give_up(const scene *one, const char *why) {
    (void)fprintf(stderr, "explore: %s: %s\n", one->name, why);
    exit(2);
}

static PLAIN tamis_set *make_set(const scene *one, bool is_shared) {
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
    spec.shared = is_shared;
    if (tamis_create(&spec, &set, &problem) != TAMIS_OK) give_up(one, problem.text);
    return set;
}

/* Old states that leave soon, and young ones that stay. */
static PLAIN tamis_set *make_states(const scene *one) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_seed const  seed = { 3, 5 };
    tamis_problem     problem;
    tamis_states     *states = NULL;
    spec.capacity = 3 * one->keys;
    spec.fpr = 1e-6;
    spec.values = VALUES;
    spec.timeout = 40;
    spec.kind = one->kind;
    spec.seed = &seed;
    spec.shared = true;
    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK) give_up(one, problem.text);
    for (uint64_t id = 1; id <= one->keys; id++)
        expect(tamis_states_put_id(states, id << 33, OLD_VALUE) == TAMIS_OK, "full");
    expect(tamis_states_tick(states, 2, NULL, NULL) == TAMIS_OK, "no tick");
    for (unsigned i = 0; i < 50; i++)
        expect(tamis_states_tick(states, 1, NULL, NULL) == TAMIS_OK, "no tick");
    for (uint64_t id = 0; id < one->keys; id++)
        expect(tamis_states_put_id(states, id, id % VALUES) == TAMIS_OK, "full");
    return &states->set;
}

static PLAIN bool is_growing(const tamis_set *set) {
    tamis_facts facts;
    if (tamis_get_facts(set, &facts) != TAMIS_OK) exit(2);
    return facts.is_growing;
}

/* How many keys there are when the step begins, and when it ends. */
static PLAIN void find_step(scene *one) {
    tamis_set *const set = make_set(one, true);
    uint64_t         id = 0, begin;
    while (!is_growing(set)) expect(tamis_add_id(set, id++) == TAMIS_OK, "full");
    begin = id;
    while (is_growing(set)) expect(tamis_add_id(set, id++) == TAMIS_OK, "full");
    tamis_free(set);
    one->keys = (one->when == ENDS ? id : begin) - SOME_KEYS / 2;
    if (one->when == BOTH) one->more = id - begin + SOME_KEYS;
}

static PLAIN tamis_set *make_first(scene *one) {
    if (one->job == TICK) return make_states(one);
    if (one->when != NO_STEP) find_step(one);
    tamis_set *const set = make_set(one, true);
    for (uint64_t id = 0; id < one->keys; id++) expect(tamis_add_id(set, id) == TAMIS_OK, "full");
    return set;
}

/* A key that stays, but moves when this one is added or removed: the next one after it in the same
 * bucket. */
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

/* What a merge brings: the keys that the adder adds in other scenes. */
static PLAIN tamis_set *make_source(const scene *one) {
    if (one->job != MERGE) return NULL;
    tamis_set *const source = make_set(one, false);
    for (uint64_t id = one->keys; id < one->keys + one->more; id++)
        expect(tamis_add_id(source, id) == TAMIS_OK, "full");
    return source;
}

static PLAIN void copy_first(const scene *one, const tamis_set *first) {
    tamis_status status;
    if (one->job == TICK)
        status = tamis_states_copy((const tamis_states *)first, (tamis_states **)&play.set);
    else
        status = tamis_copy(first, &play.set);
    if (status != TAMIS_OK) give_up(one, "no copy");
}

static PLAIN bool is_there_at_the_end(uint64_t id) {
    uint32_t value;
    if (play.scene->job != TICK) return tamis_has_id(play.set, id);
    return tamis_states_get_id((tamis_states *)play.set, id, &value) == TAMIS_OK;
}

static PLAIN void check_end(const scene *one) {
    const char *why = NULL;
    for (uint64_t id = 0; id < one->keys + one->more && one->job != CLEAR; id++)
        expect(is_there_at_the_end(id), "a key is missing at the end");
    if (one->job == CLEAR) expect(tamis_has_id(play.set, others[0]), "a key is missing at the end");
    if (!tamis_validate(play.set, &why)) expect(false, why);
    if (one->when != NO_STEP)
        expect(is_growing(play.set) == (one->when == BEGINS), "the step is not where it should be");
    if (one->job == TICK) expect(play.aged[OLD_VALUE] != 0, "no state has left");
}

/* One run with the turns of the world, from a copy of the set. Returns how many points it had. */
static PLAIN uint64_t run_once(const scene *one, const tamis_set *first) {
    copy_first(one, first);
    play.scene = one;
    play.there = one->keys;
    memset(play.aged, 0, sizeof play.aged);
    fiber_run_all(fiber_main);
    check_end(one);
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

/* All runs with up to `left` more switches, all of them after a point. Or one in `part` of them. */
static PLAIN bool try_all(const scene *one, const tamis_set *first, uint64_t from, unsigned left,
                          uint64_t part) {
    uint64_t points;
    if (!is_good_run(one, first, &points)) return false;
    if (left == 0) return true;
    turn *const mine = &world.turns[world.n_turns++];
    bool        is_good = true;
    for (uint64_t way = from * FIBERS; way < points * FIBERS && is_good; way++) {
        if (way % part != 0) continue;
        *mine = (turn){ way / FIBERS, (unsigned)(way % FIBERS) };
        is_good = try_all(one, first, mine->point + 1, left - 1, part);
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

typedef struct options {
    uint64_t    switches, runs, seed, part;
    const char *only;
} options;

static PLAIN options read_options(int argc, char **argv) {
    options chosen = { .switches = 1, .runs = 2000, .seed = 20060911, .part = 1, .only = "" };
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t const value = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--switches") == 0) chosen.switches = value;
        if (strcmp(argv[i], "--runs") == 0) chosen.runs = value;
        if (strcmp(argv[i], "--seed") == 0) chosen.seed = value;
        if (strcmp(argv[i], "--part") == 0) chosen.part = value;
        if (strcmp(argv[i], "--fault") == 0) explore_fault = (unsigned)value;
        if (strcmp(argv[i], "--only") == 0) chosen.only = argv[i + 1];
    }
    if (chosen.switches > MOST_SWITCHES || chosen.part == 0) exit(2);
    return chosen;
}

/* All orders with few switches, and some with more. */
static PLAIN bool try_scene(scene *one, const options *chosen) {
    play.problem = NULL;
    tamis_set *const first = make_first(one);
    play.source = make_source(one);
    for (unsigned k = 0; k < OTHERS; k++) play.read[1 + k] = neighbour(first, others[k], one->keys);
    for (unsigned k = 0; k < SOME_KEYS; k++)
        play.read[1 + OTHERS + k] = neighbour(first, one->keys + k, one->keys);
    bool const     is_long = one->when == BOTH && chosen->switches == 1;
    unsigned const all = is_long ? 0 : (unsigned)chosen->switches;
    bool           is_good = play.problem == NULL;
    runs_done = world.n_turns = 0;
    for (world.start = 0; world.start < FIBERS && is_good; world.start++)
        is_good = try_all(one, first, 0, all, chosen->part);
    for (unsigned more = all + 1; more <= MOST_SWITCHES && is_good; more++)
        is_good = try_some(one, first, more, chosen->runs, chosen->seed);
    tamis_free(play.source);
    tamis_free(first);
    return is_good;
}

PLAIN int main(int argc, char **argv) {
    options const chosen = read_options(argc, argv);
    unsigned      failed = 0, n = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (strncmp(scenes[i].name, chosen.only, strlen(chosen.only)) != 0) continue;
        bool const is_good = try_scene(&scenes[i], &chosen);
        (void)printf("%s %u - %s: %llu runs\n", is_good ? "ok" : "not ok", ++n, scenes[i].name,
                     (unsigned long long)runs_done);
        (void)fflush(stdout);
        failed += !is_good;
    }
    (void)printf("1..%u\n", n);
    return failed != 0 ? 1 : n == 0 ? 2 : 0;
}
