/* soak.c - the first law for as long as asked: no false negative, ever.
 *
 * usage: soak [--ops N] [--seed N] [--kind NAME]
 *
 * Every kind, on every instruction set, in one variant that is planned and one that saturates
 * early, each for N operations beside an exact multiset. Prints what it did; exit status 1 if a
 * law was broken, with the seed that repeats it.
 */
#include "churn.h"
#include "soak_options.h"

#include <time.h>

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void progress(const churn *c, uint64_t n, double since) {
    if (!isatty(STDERR_FILENO)) return;
    double const share = (double)c->operations / (double)n, spent = seconds() - since;
    (void)fprintf(stderr, "\r  %3.0f%%, %.0f s left \r", 100 * share, spent * (1 / share - 1));
}

/* One subject. NULL, or what is wrong. */
static const char *soak(const subject *of, uint64_t seed) {
    tamis_set *const set = subject_make(of, seed);
    churn            c;
    if (set == NULL || !churn_begin(&c, set, seed)) return "no memory";
    double const since = seconds();
    const char  *why = NULL;
    while (c.operations < of->operations && why == NULL) {
        why = churn_run(&c, min_u64(of->operations - c.operations, 5000000));
        progress(&c, of->operations, since);
    }
    bool const can_remove = (set->abilities & TAMIS_CAN_REMOVE) != 0;
    if (why == NULL && can_remove) why = churn_empty(&c);
    if (why == NULL) {
        (void)printf("  %llu operations in %.1f s, %llu adds refused, %llu entries saturated\n",
                     (unsigned long long)c.operations, seconds() - since,
                     (unsigned long long)c.refused, (unsigned long long)set->table.saturated);
    }
    churn_end(&c);
    tamis_free(set);
    return why;
}

static const char usage[] =
    "usage: soak [--ops N] [--seed N] [--kind NAME]\n"
    "Every kind of sets, or the one named, each for N operations (100000000 without --ops).\n";

int main(int argc, char **argv) {
    soak_options const options = soak_options_or_exit(argc, argv, usage);
    size_t             n;
    subject *const     all = subjects_all(options.operations, &n);
    int                n_broken = 0, n_done = 0;
    for (size_t i = 0; i < n; i++) {
        const subject *const of = &all[i];
        /* the largest that is planned, and those that saturate early or lie beyond the cache */
        bool const is_long = of->geometry != NULL ? of->capacity >= 900 : of->capacity >= 20000;
        if (!is_long || (options.kind != NULL && strcmp(options.kind, of->kind) != 0)) continue;
        (void)printf("%s, %s, %llu keys, %s\n", of->kind, of->isa, (unsigned long long)of->capacity,
                     of->geometry ? of->geometry : "planned");
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
