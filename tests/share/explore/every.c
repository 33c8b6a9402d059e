/* every.c - runs the protocol of shared sets in every order of three threads, for small scenes.
 *
 *     every [--quick 1] [--only WORDS] [--fault N] [--most N]
 *
 * explore.c tries long scenes in orders with few switches. This tries short scenes, two changes and
 * a lookup (plays.h), in all orders. The library itself is run, not a model of it.
 *
 * Idea
 * ----
 * Each thread is a fiber that stops before each access to memory that others use (steps.h). The
 * state of all - the set, the registers and the stacks - is packed into some kilobytes. From the
 * first state on, each fiber that can go on makes a step; then each of the states that come of it
 * is unpacked in turn, and so on, depth first. A state that was seen before is not tried again:
 * what can follow is the same, however it was reached.
 *
 *     state --0--> state --0--> ...         0: the first thread makes a step
 *        |            `---1--> ...          1: the second
 *        `----1--> state --0--> (seen)      so these two orders were the same so far
 *
 * Two accesses that commute need not be tried in both orders. If what a fiber does next commutes
 * with all that the others will ever do, only this fiber goes on.
 *
 * Why it is exhaustive
 * --------------------
 * What will the others do? That is what they did in any order so far (notes), so the first orders
 * may have too few switches. Everything is tried again until a whole pass notes nothing new. Then
 * no order is left out: suppose that in some order a fiber makes an access that was not noted, and
 * take the first such access of that order. All accesses before it were noted, so the switches
 * between them were tried, or commute. So this pass has come to the same state of that fiber, and
 * it has made and noted the access there.
 *
 * Invariants
 *   I1  a lookup finds a key that is in the set all the time;
 *   I2  every change succeeds;
 *   I3  the fibers never all wait;
 *   I4  at each end the set is valid, and has the keys that it should have.
 *
 * Loads out of order. In some scenes, the reader's loads may be made early: a load has not only the
 * present value, but each that the word had since the reader's last fence or acquiring load. So a
 * fence that is missing in the reader is found. This is more than processors do.
 *
 * What is not covered
 * -------------------
 * Stores out of order, and loads of writers out of order. Longer scenes: their states do not fit
 * into memory. An access is what GCC made of the portable code with -O1; it is split into words of
 * 8 bytes, lower addresses first. A lookup of `rank` or `counting` takes the lock after 2 attempts,
 * not after 16.
 */
#define XXH_INLINE_ALL
#include <math.h>
#include <xxhash.h>

#include "plays.h"
#include "visited.h"

/* ------------------------------------------------------------------ packing */

/* Copy n bytes of the world to the place, or back from there. Returns what follows. */
static uint8_t *carry(uint8_t *place, void *part, size_t n, bool is_packing) {
    if (is_packing)
        memcpy(place, part, n);
    else
        memcpy(part, place, n);
    return place + n;
}

/* All that can differ between two states. Returns how many bytes that is. */
static size_t carry_world(uint8_t *bytes, bool is_packing) {
    uint8_t *to = bytes;
    to = carry(to, &world.outcome, sizeof world.outcome, is_packing);
    to = carry(to, &world.used, sizeof world.used, is_packing);
    to = carry(to, &world.owner, sizeof world.owner, is_packing);
    to = carry(to, &world.depth, sizeof world.depth, is_packing);
    to = carry(to, &world.n_old, sizeof world.n_old, is_packing);
    to = carry(to, world.old, world.n_old * sizeof world.old[0], is_packing);
    for (unsigned i = 0; i < FIBERS; i++) {
        fiber *const one = &world.fibers[i];
        to = carry(to, one, sizeof *one, is_packing);
        to = carry(to, one->bottom, (size_t)(stacks[i] + STACK_BYTES - one->bottom), is_packing);
    }
    for (uint64_t i = 0; i < notes.n_packed; i++)
        to = carry(to, &arena[notes.packed[i]], sizeof arena[0], is_packing);
    return (size_t)(to - bytes);
}

/* Words that nobody has written so far are not packed. */
static void choose_packed(void) {
    notes.n_packed = 0;
    notes.is_late = false;
    for (uint64_t word = 0; word < ARENA_WORDS; word++) {
        notes.is_packed[word] = false;
        for (unsigned i = 0; i < FIBERS; i++) notes.is_packed[word] |= notes.written[i][word] != 0;
        if (notes.is_packed[word]) notes.packed[notes.n_packed++] = word;
    }
}

static size_t most_bytes(void) {
    return sizeof world + FIBERS * STACK_BYTES + notes.n_packed * sizeof arena[0];
}

/* ------------------------------------------------------------------ the way to this state */

/* A state on the way, and which of its steps were tried. */
typedef struct node {
    size_t   from, bytes; /* where it is packed */
    uint64_t hash;
    double   orders;             /* to an end, as far as they were tried */
    unsigned fiber, age;         /* the step to try next; age 0: a load has the present value */
    unsigned tried, tried_age;   /* the last one */
    bool     is_alone, is_first; /* only one fiber goes on; that is not known yet */
} node;

static struct {
    node    *nodes;
    uint8_t *bytes;
    size_t   depth, room, bytes_room;
    uint64_t steps, ends;
} path;

static void *grown(void *memory, size_t bytes) {
    void *const larger = realloc(memory, bytes);
    if (larger == NULL) stop_all("not enough memory");
    return larger;
}

/* Where the next state is packed: after the last one. */
static uint8_t *path_end(size_t *ret_from) {
    const node *const last = path.depth != 0 ? &path.nodes[path.depth - 1] : NULL;
    *ret_from = last != NULL ? last->from + last->bytes : 0;
    if (*ret_from + most_bytes() > path.bytes_room) {
        path.bytes_room = 2 * (*ret_from + most_bytes());
        path.bytes = grown(path.bytes, path.bytes_room);
    }
    return path.bytes + *ret_from;
}

/* Orders are logarithms with base 10: there may be more than a double can hold. */
static void add_orders(node *one, double more) {
    double const most = fmax(one->orders, more), least = fmin(one->orders, more);
    one->orders = least == -INFINITY ? most : most + log10(1 + pow(10, least - most));
}

/* Put the present state at the end, if it is new. Otherwise its orders are known. */
static bool path_push(void) {
    size_t         from;
    uint8_t *const place = path_end(&from);
    size_t const   bytes = carry_world(place, true);
    uint64_t const hash = XXH3_64bits(place, bytes) | 1;
    double         orders;
    if (!visited_add(hash, &orders)) {
        add_orders(&path.nodes[path.depth - 1], orders);
        return false;
    }
    if (path.depth == path.room) {
        path.room = 2 * path.room + 64;
        path.nodes = grown(path.nodes, path.room * sizeof path.nodes[0]);
    }
    path.nodes[path.depth++] =
        (node){ .from = from, .bytes = bytes, .hash = hash, .orders = -INFINITY, .is_first = true };
    return true;
}

/* All that can follow the last state was tried. */
static void path_pop(void) {
    const node *const last = &path.nodes[--path.depth];
    visited_slot(last->hash)->orders = last->orders;
    if (path.depth != 0) add_orders(&path.nodes[path.depth - 1], last->orders);
}

/* ------------------------------------------------------------------ steps */

static bool can_run(unsigned i) {
    return !world.fibers[i].is_done && !world.fibers[i].is_waiting;
}

static bool is_all_done(void) {
    for (unsigned i = 0; i < FIBERS; i++) {
        if (!world.fibers[i].is_done) return false;
    }
    return true;
}

static bool is_stuck(void) {
    for (unsigned i = 0; i < FIBERS; i++) {
        if (can_run(i)) return false;
    }
    return !is_all_done();
}

/* If what some fiber does next commutes with all that others will do, only that one goes on. */
static void find_alone(node *one) {
    if (!one->is_first) return;
    one->is_first = false;
    for (unsigned i = 0; i < FIBERS && !one->is_alone; i++) {
        const fiber *const other = &world.fibers[i];
        if (!can_run(i)) continue;
        one->is_alone =
            other->word == ARENA_WORDS || !is_contested(i, other->word, other->is_write);
        if (one->is_alone) one->fiber = i;
    }
}

/* The old value number `age`, from 1 on, that the fiber may load. */
static bool find_old(unsigned number, unsigned age, uint64_t *ret_value) {
    const fiber *const one = &world.fibers[number];
    if (number != READER || one->is_write || one->word == ARENA_WORDS) return false;
    for (unsigned i = 0; i < world.n_old; i++) {
        if (world.old[i].word != one->word || world.old[i].value == arena[one->word]) continue;
        *ret_value = world.old[i].value;
        if (--age == 0) return true;
    }
    return false;
}

/* Make the next step from this state, which is the present one. False: all were made. */
static bool make_step(node *one) {
    uint64_t value;
    find_alone(one);
    for (; one->fiber < FIBERS;
         one->fiber = one->is_alone ? FIBERS : one->fiber + 1, one->age = 0) {
        if (!can_run(one->fiber)) continue;
        if (one->age != 0 && !find_old(one->fiber, one->age, &value)) continue;
        one->tried = one->fiber;
        one->tried_age = one->age++;
        if (one->tried_age != 0) lend(world.fibers[one->tried].word, value);
        fiber_resume(one->tried);
        path.steps++;
        return true;
    }
    return false;
}

/* The check looks at the whole set, which changes its counts. */
static void check_and_restore(void) {
    static uint64_t kept[ARENA_WORDS];
    size_t const    used = world.used;
    memcpy(kept, arena, used);
    check_end();
    world.used = used;
    memcpy(arena, kept, used);
}

/* What is there after a step. True: more can follow. */
static bool look_at_step(void) {
    if (is_stuck()) expect(false, "all threads wait");
    if (world.outcome.problem != NULL || !path_push()) return false;
    if (!is_all_done()) return true;
    path.ends++;
    check_and_restore();
    if (world.outcome.problem != NULL) return false;
    path.nodes[path.depth - 1].orders = 0; /* one */
    path_pop();
    return false;
}

/* ------------------------------------------------------------------ all orders of a scene */

typedef struct options {
    const char *only;
    bool        is_quick;
    uint64_t    most; /* states */
} options;

typedef struct beginning {
    uint64_t arena[ARENA_WORDS];
    size_t   used;
} beginning;

static void begin_again(const beginning *first) {
    memcpy(arena, first->arena, sizeof arena);
    world.used = first->used;
    fiber_begin_all(fiber_main);
}

/* One order that is drawn. A few of them note most words that threads share, and that saves passes.
 */
static void walk(const beginning *first, uint64_t seed) {
    begin_again(first);
    while (!is_all_done() && !is_stuck() && world.outcome.problem == NULL) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned which = (unsigned)(seed >> 40) % FIBERS;
        unsigned steps = 1 + (unsigned)(seed >> 45) % ((seed >> 60) < 4 ? 64 : 4);
        while (!can_run(which)) which = (which + 1) % FIBERS;
        for (; steps != 0 && can_run(which); steps--) fiber_resume(which);
    }
}

/* All orders, with what is noted so far. False: it stopped early, or there is a problem. */
static bool pass(const beginning *first, uint64_t most) {
    bool is_here = true;
    path.depth = path.steps = path.ends = 0;
    visited_clear();
    choose_packed();
    notes.is_new = false;
    begin_again(first);
    (void)path_push();
    while (path.depth != 0) {
        node *const last = &path.nodes[path.depth - 1];
        if (!is_here) (void)carry_world(path.bytes + last->from, false);
        if (!make_step(last)) {
            is_here = false;
            path_pop();
            continue;
        }
        if (notes.is_late) return false;
        is_here = look_at_step();
        if (world.outcome.problem != NULL) return false;
        if (most != 0 && visited.n > most) stop_all("there are more states than --most");
    }
    return true;
}

#define WALKS 300

static bool try_scene(const play *one, uint64_t most) {
    static beginning first;
    memset(arena, 0, sizeof arena);
    memset(&notes, 0, sizeof notes);
    memset(&now, 0, sizeof now);
    world.used = 0;
    now.play = one;
    make_set();
    one->prepare();
    memcpy(first.arena, arena, sizeof arena);
    first.used = world.used;
    world.is_loose = one->is_loose;
    for (unsigned i = 0; i < WALKS; i++) walk(&first, i);
    do {
        if (!pass(&first, most) && world.outcome.problem != NULL) return false;
    } while (notes.is_new);
    return true;
}

/* The steps to a problem: "0x12" are twelve steps of the first thread, and ' is an old value. */
static void show_path(void) {
    (void)printf("# %s:", world.outcome.problem);
    for (size_t i = 0, n = 1; i < path.depth; i++, n++) {
        const node *const one = &path.nodes[i];
        if (i + 1 < path.depth && one[1].tried == one->tried && one->tried_age == one[1].tried_age)
            continue;
        (void)printf(" %ux%zu%s", one->tried, n, one->tried_age != 0 ? "'" : "");
        n = 0;
    }
    (void)printf("\n");
}

static options read_options(int argc, char **argv) {
    options chosen = { .only = "" };
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--only") == 0) chosen.only = argv[i + 1];
        if (strcmp(argv[i], "--quick") == 0) chosen.is_quick = atoi(argv[i + 1]) != 0;
        if (strcmp(argv[i], "--fault") == 0) explore_fault = (unsigned)atoi(argv[i + 1]);
        if (strcmp(argv[i], "--most") == 0) chosen.most = strtoull(argv[i + 1], NULL, 10);
    }
    return chosen;
}

int main(int argc, char **argv) {
    options const chosen = read_options(argc, argv);
    unsigned      failed = 0, n = 0;
    for (size_t i = 0; i < sizeof plays / sizeof plays[0]; i++) {
        if (strncmp(plays[i].name, chosen.only, strlen(chosen.only)) != 0) continue;
        if (chosen.is_quick && !plays[i].is_quick) continue;
        bool const is_good = try_scene(&plays[i], chosen.most);
        if (!is_good) show_path();
        (void)printf("%s %u - %s: %llu states, %llu steps, 10^%.0f orders, %llu ends\n",
                     is_good ? "ok" : "not ok", ++n, plays[i].name, (unsigned long long)visited.n,
                     (unsigned long long)path.steps, visited_slot(path.nodes[0].hash)->orders,
                     (unsigned long long)path.ends);
        (void)fflush(stdout);
        failed += !is_good;
    }
    (void)printf("1..%u\n", n);
    return failed != 0 ? 1 : n == 0 ? 2 : 0;
}
