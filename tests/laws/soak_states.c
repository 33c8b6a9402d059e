/* soak_states.c - states that come, change, age and go, for as long as asked.
 *
 * usage: soak_states [--ops N] [--seed N] [--kind NAME]
 *
 * Every kind of states on every instruction set, in every variant of some size, each for N
 * operations beside an exact account of all keys; from time to time the table goes through a file
 * and on. Prints what it did; exit status 1 if a law was broken, with the seed that repeats it.
 */
#include "life.h"
#include "soak_options.h"

#include <time.h>

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct buffer {
    uint8_t *bytes;
    size_t   n, room;
} buffer;

static bool take(void *context, const void *bytes, size_t n) {
    buffer *const to = context;
    if (n > to->room - to->n) return false;
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
    return true;
}

/* Through a file, and on. */
static const char *reopen(life *l) {
    size_t const       room = (size_t)tamis_file_bytes(l->states->set.table.body_bytes);
    buffer             file = { malloc(room), 0, room };
    tamis_states      *back = NULL;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.isa = l->of->isa;
    MUST(file.bytes != NULL, "no memory");
    MUST(tamis_states_write(l->states, take, &file) == TAMIS_OK, "not written");
    tamis_problem problem;
    if (tamis_states_read(file.bytes, file.n, &options, &back, &problem) != TAMIS_OK)
        return because("%s", problem.text);
    free(file.bytes);
    tamis_states_free(l->states);
    l->states = back;
    return NULL;
}

/* One subject. NULL, or what is wrong. */
static const char *soak(const state_subject *of, uint64_t seed) {
    life   l;
    double since = seconds();
    if (!life_begin(&l, of, 2 * of->capacity, seed)) return "no table";
    const char *why = NULL;
    uint64_t    done = 0, part = 0;
    for (; done < of->operations && why == NULL; part++) {
        uint64_t const n = min_u64(of->operations - done, 2000000);
        why = life_run(&l, n, part % 4 == 3 ? 0.2 : 0.95);
        if (why == NULL) why = life_census(&l);
        if (why == NULL) why = reopen(&l);
        done += n;
        if (isatty(STDERR_FILENO))
            (void)fprintf(stderr, "\r  %3.0f%% \r", 100.0 * (double)done / (double)of->operations);
    }
    const answers *const a = &l.answers;
    if (why == NULL)
        (void)printf("  %llu operations in %.1f s; of %llu present %llu unknown, %llu wrong, %llu "
                     "lost; of %llu absent %llu with a value; %llu aged, %llu refused\n",
                     (unsigned long long)done, seconds() - since, (unsigned long long)a->present,
                     (unsigned long long)a->unknown, (unsigned long long)a->wrong,
                     (unsigned long long)a->lost, (unsigned long long)a->absent,
                     (unsigned long long)a->false_values,
                     (unsigned long long)l.states->set.table.aged, (unsigned long long)l.refused);
    life_end(&l);
    return why;
}

static const char usage[] =
    "usage: soak_states [--ops N] [--seed N] [--kind NAME]\n"
    "Every kind of states, or the one named, each for N operations (100000000 without --ops).\n";

int main(int argc, char **argv) {
    soak_options const   options = soak_options_or_exit(argc, argv, usage);
    size_t               n;
    state_subject *const all = state_subjects(options.operations, &n);
    int                  n_broken = 0, n_done = 0;
    for (size_t i = 0; i < n; i++) {
        const state_subject *const of = &all[i];
        if (options.kind != NULL && strcmp(options.kind, of->kind) != 0) continue;
        (void)printf("%s, %s, %llu keys of %llu values, timeout %llu, %s\n", of->kind, of->isa,
                     (unsigned long long)of->capacity, (unsigned long long)of->values,
                     (unsigned long long)of->timeout, of->geometry ? of->geometry : "planned");
        (void)fflush(stdout);
        const char *const why = soak(of, options.seed);
        if (why != NULL)
            (void)printf("  BROKEN with --seed %llu: %s\n", (unsigned long long)options.seed, why);
        n_broken += why != NULL;
        n_done++;
    }
    free(all);
    (void)printf("%d passed, %d failed\n", n_done - n_broken, n_broken);
    return n_broken != 0 || n_done == 0;
}
