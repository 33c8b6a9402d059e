/* growing.c - tamis-bench-growing: the cost of growing.
 *
 *     tamis-bench-growing N [ROUNDS] [JSON]
 *
 * It measures a set that begins with 1000 keys and grows to N:
 *
 *   adds      the speed of batches of adds over the whole life, compared with a set of the same
 *             kind that is made for N keys at once. The two take turns, ROUNDS times; medians.
 *   lookups   the speed of batches of lookups when half of a step is done, compared with just
 *             before the step. Also measured with two sets in turns, with about as many keys.
 *   waiting   the longest time of one add. Each add of a growing set is timed separately.
 *   space     bytes and bits per key at each stage, when it is full.
 *
 * All times are processor time of the thread. Keys are made outside of the timed parts.
 */
#include "keys.h"
#include "median.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>
#include <time.h>

#define FIRST 1000
#define FPR 0.00277 /* of 8-bit remainders: `line` without rests at the last stage */
#define CHUNK 4096
#define LOOKUPS (UINT64_C(1) << 21)
#define MAX_ROUNDS 15
#define MAX_STAGES 41
#define HISTOGRAM 40 /* powers of two, in nanoseconds */

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *why) {
    (void)fprintf(stderr, "tamis-bench-growing: %s\n", why);
    exit(1);
}

static tamis_set *make(uint64_t capacity, uint64_t grow_to) {
    static const tamis_seed seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    tamis_problem           problem;
    tamis_set              *set;
    spec.capacity = capacity;
    spec.grow_to = grow_to;
    spec.fpr = FPR;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.kind = "line";
    spec.seed = &seed;
    if (tamis_create(&spec, &set, &problem) != TAMIS_OK) stop(problem.text);
    return set;
}

static tamis_facts facts_of(const tamis_set *set) {
    tamis_facts facts;
    if (tamis_get_facts(set, &facts) != TAMIS_OK) stop("no facts");
    return facts;
}

static void keys_from(uint64_t first, uint64_t n, uint64_t *ret_ids) {
    for (uint64_t i = 0; i < n; i++) ret_ids[i] = key_number(7, first + i);
}

/* Add the keys number first..end-1. Returns the seconds that the adds took. */
static double add_range(tamis_set *set, uint64_t first, uint64_t end) {
    static uint64_t ids[CHUNK];
    double          seconds = 0;
    for (uint64_t n; first < end; first += n) {
        n = end - first < CHUNK ? end - first : CHUNK;
        keys_from(first, n, ids);
        double const start = now();
        if (tamis_add_id_batch(set, ids, n, NULL) != TAMIS_OK) stop("an add was refused");
        seconds += now() - start;
    }
    return seconds;
}

/* ------------------------------------------------------------------ adds */

typedef struct compared {
    double rate, other, ratio; /* million operations per second; the median ratio of the rounds */
} compared;

static compared compare(double *a, double *b, unsigned n) {
    double   ratios[MAX_ROUNDS];
    compared found;
    for (unsigned i = 0; i < n; i++) ratios[i] = a[i] / b[i];
    found.rate = median(a, n);
    found.other = median(b, n);
    found.ratio = median(ratios, n);
    return found;
}

static compared measure_adds(uint64_t n, unsigned rounds) {
    double growing[MAX_ROUNDS], fixed[MAX_ROUNDS];
    for (unsigned i = 0; i < 2 * rounds; i++) {
        bool const       is_growing = (i + i / 2) % 2 == 0; /* they take turns to go first */
        tamis_set *const set = is_growing ? make(FIRST, n) : make(n, 0);
        *(is_growing ? &growing[i / 2] : &fixed[i / 2]) = (double)n / add_range(set, 0, n) / 1e6;
        tamis_free(set);
    }
    return compare(growing, fixed, rounds);
}

/* ------------------------------------------------------------------ lookups */

static double look_up(const tamis_set *set, uint64_t first, uint64_t among) {
    static uint64_t ids[CHUNK];
    static bool     found[CHUNK];
    uint64_t        state = first;
    double          seconds = 0;
    for (uint64_t done = 0; done < LOOKUPS; done += CHUNK) {
        for (unsigned i = 0; i < CHUNK; i++)
            ids[i] = key_number(7, first + key_random_below(&state, among));
        double const start = now();
        (void)tamis_has_id_batch(set, ids, CHUNK, found);
        seconds += now() - start;
    }
    return (double)LOOKUPS / seconds / 1e6;
}

/* A set just before its last step, and one with half of that step done. Both have grown, so that
 * their memory is the same. */
static void make_pair(uint64_t n, tamis_set **ret_before, tamis_set **ret_amid,
                      uint64_t *ret_keys) {
    tamis_set *const before = make(FIRST, n), *const amid = make(FIRST, n);
    uint64_t const last = facts_of(amid).grow_to / 2, keys = last - last / 16 - 1;
    (void)add_range(before, 0, keys);
    (void)add_range(amid, 0, keys + last / 32);
    if (!facts_of(amid).is_growing) stop("no step is under way where one was expected");
    *ret_before = before;
    *ret_amid = amid;
    *ret_keys = keys;
}

static void measure_lookups(uint64_t n, unsigned rounds, compared *ret_present,
                            compared *ret_absent) {
    double     amid[2][MAX_ROUNDS], before[2][MAX_ROUNDS];
    tamis_set *set_before, *set_amid;
    uint64_t   keys;
    make_pair(n, &set_before, &set_amid, &keys);
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned absent = 0; absent < 2; absent++) {
            uint64_t const first = absent != 0 ? UINT64_C(1) << 50 : 0;
            before[absent][i] = look_up(set_before, first, keys);
            amid[absent][i] = look_up(set_amid, first, keys);
        }
    }
    *ret_present = compare(amid[0], before[0], rounds);
    *ret_absent = compare(amid[1], before[1], rounds);
    tamis_free(set_before);
    tamis_free(set_amid);
}

/* ------------------------------------------------------------------ waiting and space */

typedef struct life {
    uint64_t histogram[HISTOGRAM]; /* adds that took 2^i nanoseconds or more, and less than twice */
    double   quantile, longest;    /* the 99.999% quantile, and the maximum, in seconds */
    unsigned stages;
    uint64_t keys[MAX_STAGES], bytes[MAX_STAGES]; /* when the stage ended */
} life;

static unsigned bin_of(double seconds) {
    unsigned bin = 0;
    while (bin + 1 < HISTOGRAM && seconds * 1e9 >= (double)(UINT64_C(2) << bin)) bin++;
    return bin;
}

/* The slowest adds, so that the quantile is exact. */
static double slowest_share(double *list, uint64_t n_list, uint64_t n) {
    uint64_t const beyond = n / 100000;
    qsort(list, n_list, sizeof *list, compare_doubles);
    return n_list > beyond ? list[n_list - 1 - beyond] : 0;
}

/* Time every add of a growing set separately. */
static void live(uint64_t n, life *ret_life) {
    uint64_t         n_slow = 0, room = n / 100 + 1000;
    double          *slow = malloc(room * sizeof *slow);
    tamis_set *const set = make(FIRST, n);
    tamis_facts      before = facts_of(set);
    *ret_life = (life){ .longest = 0 };
    if (slow == NULL) stop("no memory");
    for (uint64_t i = 0; i < n; i++) {
        uint64_t const id = key_number(7, i);
        double const   start = now();
        if (tamis_add_id(set, id) != TAMIS_OK) stop("an add was refused");
        double const took = now() - start;
        ret_life->histogram[bin_of(took)]++;
        if (took > 5e-6 && n_slow < room) slow[n_slow++] = took;
        if (took > ret_life->longest) ret_life->longest = took;
        tamis_facts const facts = facts_of(set);
        if (facts.stage != before.stage || i + 1 == n) {
            ret_life->keys[ret_life->stages] = i + 1;
            ret_life->bytes[ret_life->stages++] =
                facts.stage != before.stage ? before.body_bytes : facts.body_bytes;
        }
        if (!facts.is_growing) before = facts;
    }
    ret_life->quantile = slowest_share(slow, n_slow, n);
    free(slow);
    tamis_free(set);
}

/* ------------------------------------------------------------------ the report */

static void print_pair(FILE *to, const char *name, const char *other, compared found) {
    (void)fprintf(to, "  %-28s %7.1f M/s   %-24s %7.1f M/s   %5.2fx\n", name, found.rate, other,
                  found.other, found.ratio);
}

static void print_life(FILE *to, const life *all, uint64_t n) {
    (void)fprintf(to, "one add at a time: 99.999%% within %.1f us, the longest %.1f us\n",
                  1e6 * all->quantile, 1e6 * all->longest);
    for (unsigned i = 0; i < HISTOGRAM; i++) {
        if (all->histogram[i] != 0)
            (void)fprintf(to, "  from %8.3f us  %12llu  %.2e\n", 1e-3 * (double)(1ull << i),
                          (unsigned long long)all->histogram[i],
                          (double)all->histogram[i] / (double)n);
    }
    for (unsigned i = 0; i < all->stages; i++) {
        (void)fprintf(to, "  stage %2u: %12llu keys %14llu bytes  %6.2f bits per key\n", i,
                      (unsigned long long)all->keys[i], (unsigned long long)all->bytes[i],
                      8.0 * (double)all->bytes[i] / (double)all->keys[i]);
    }
}

static void json_pair(FILE *to, const char *name, compared found) {
    (void)fprintf(to, "  \"%s\": {\"rate\": %.4g, \"other\": %.4g, \"ratio\": %.4g},\n", name,
                  found.rate, found.other, found.ratio);
}

static void json_life(FILE *to, const life *all) {
    (void)fprintf(to, "  \"quantile_us\": %.4g, \"longest_us\": %.4g,\n", 1e6 * all->quantile,
                  1e6 * all->longest);
    (void)fprintf(to, "  \"histogram\": [");
    for (unsigned i = 0; i < HISTOGRAM; i++)
        (void)fprintf(to, "%s%llu", i != 0 ? ", " : "", (unsigned long long)all->histogram[i]);
    (void)fprintf(to, "],\n  \"stages\": [");
    for (unsigned i = 0; i < all->stages; i++) {
        (void)fprintf(to, "%s{\"keys\": %llu, \"bytes\": %llu}", i != 0 ? ", " : "",
                      (unsigned long long)all->keys[i], (unsigned long long)all->bytes[i]);
    }
    (void)fprintf(to, "]\n");
}

int main(int argc, char **argv) {
    uint64_t const n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned const asked = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;
    unsigned const rounds = asked < 1 ? 1 : asked > MAX_ROUNDS ? MAX_ROUNDS : asked;
    life           all;
    compared       present, absent;
    if (n < 100000) stop("usage: tamis-bench-growing N [ROUNDS] [JSON]   (N: 100000 or more)");
    (void)printf("from %d keys to %llu, %u rounds\n", FIRST, (unsigned long long)n, rounds);
    compared const adds = measure_adds(n, rounds);
    print_pair(stdout, "adds, growing", "of fixed size", adds);
    measure_lookups(n, rounds, &present, &absent);
    print_pair(stdout, "has, present, in a step", "before it", present);
    print_pair(stdout, "has, absent, in a step", "before it", absent);
    live(n, &all);
    print_life(stdout, &all, n);
    FILE *const json = argc > 3 ? fopen(argv[3], "w") : NULL;
    if (argc > 3 && json == NULL) stop("cannot write the JSON file");
    if (json == NULL) return 0;
    (void)fprintf(json, "{\n  \"n\": %llu, \"rounds\": %u,\n", (unsigned long long)n, rounds);
    json_pair(json, "adds", adds);
    json_pair(json, "present", present);
    json_pair(json, "absent", absent);
    json_life(json, &all);
    (void)fprintf(json, "}\n");
    return fclose(json) == 0 ? 0 : 1;
}
