/* startup.c - tamis-bench-startup: how long it takes to make a set, or to plan one.
 *
 *     tamis-bench-startup [ROUNDS]     tables of CPU time in ms
 *     tamis-bench-startup plans        the plans for some thousands of specs, a line for each kind,
 *                                      to compare the plans of two builds
 *
 * The tables are over a grid of capacities and rates, for sets that only grow, remove or count. The
 * time of a spec is the minimum of ROUNDS calls, since the work is always the same and other
 * programs only add to it. Each column shows the median and the worst spec of the grid.
 *
 * Times are the thread's processor time, so that a busy machine matters little.
 */
#include "median.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tamis/states.h>
#include <time.h>

#define MAX_KINDS 32
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct job {
    const char *name;
    unsigned    abilities;
} job;

static const job jobs[] = { { "only grows", 0 },
                            { "removes", TAMIS_CAN_REMOVE },
                            { "counts to 255", TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT } };

static const double capacities[] = { 1e2, 3e2, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
static const double rates[] = { 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6 };

#define SPECS (COUNT(capacities) * COUNT(rates))

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static tamis_spec spec_of(const job *work, size_t i, tamis_preference prefer) {
    static const tamis_seed seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.capacity = (uint64_t)capacities[i / COUNT(rates)];
    spec.fpr = rates[i % COUNT(rates)];
    spec.abilities = work->abilities;
    spec.prefer = prefer;
    spec.seed = &seed;
    return spec;
}

/* ------------------------------------------------------------------ tables of times */

/* One call; its time in ms. */
typedef double timed_call(const tamis_spec *spec);

/* A large body is mapped and never touched, so its size does not matter. */
static double time_create(const tamis_spec *spec) {
    tamis_set   *set = NULL;
    double const begin = now();
    if (tamis_create(spec, &set, NULL) != TAMIS_OK) return 0;
    double const end = now();
    tamis_free(set);
    return end - begin;
}

static double time_plan(const tamis_spec *spec) {
    tamis_plan   rows[MAX_KINDS];
    size_t       n;
    double const begin = now();
    if (tamis_plan_kinds(spec, rows, MAX_KINDS, &n, NULL) != TAMIS_OK) return 0;
    return now() - begin;
}

/* The times of one call over the grid: median and worst, and which spec that was. */
static void print_cell(const job *work, tamis_preference prefer, const char *kind, unsigned rounds,
                       timed_call *call) {
    double times[SPECS], worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < SPECS; i++) {
        tamis_spec spec = spec_of(work, i, prefer);
        spec.kind = kind;
        times[i] = INFINITY;
        for (unsigned r = 0; r < rounds; r++) times[i] = fmin(times[i], call(&spec));
        if (times[i] > worst) at = i;
        worst = fmax(worst, times[i]);
    }
    double const middle = median(times, SPECS);
    printf(" %.3f / %.3f (%.0e, %.0e) |", middle, worst, capacities[at / COUNT(rates)],
           rates[at % COUNT(rates)]);
    (void)fflush(stdout);
}

static void print_jobs(unsigned rounds) {
    printf("CPU time in ms, median / worst (its capacity and rate)\n\n"
           "| set | create | create, `PREFER_SMALL` | `tamis_plan_kinds()` |\n"
           "| --- | --- | --- | --- |\n");
    for (size_t j = 0; j < COUNT(jobs); j++) {
        printf("| %s |", jobs[j].name);
        print_cell(&jobs[j], TAMIS_PREFER_FAST, NULL, rounds, time_create);
        print_cell(&jobs[j], TAMIS_PREFER_SMALL, NULL, rounds, time_create);
        print_cell(&jobs[j], TAMIS_PREFER_SMALL, NULL, rounds, time_plan);
        printf("\n");
    }
}

/* One row of tamis_plan_kinds(), for each kind. */
static void print_kinds(unsigned rounds) {
    tamis_spec const any = spec_of(&jobs[0], 0, TAMIS_PREFER_SMALL);
    tamis_plan       rows[MAX_KINDS];
    size_t           n;
    if (tamis_plan_kinds(&any, rows, MAX_KINDS, &n, NULL) != TAMIS_OK) return;
    printf("\n| kind |");
    for (size_t j = 0; j < COUNT(jobs); j++) printf(" %s |", jobs[j].name);
    printf("\n| --- | --- | --- | --- |\n");
    for (size_t k = 0; k < n; k++) {
        printf("| `%s` |", rows[k].kind);
        for (size_t j = 0; j < COUNT(jobs); j++)
            print_cell(&jobs[j], TAMIS_PREFER_SMALL, rows[k].kind, rounds, time_plan);
        printf("\n");
    }
}

/* ------------------------------------------------------------------ plans, to compare builds */

static void print_plan(const char *spec, const tamis_plan *plan) {
    printf("%s %s %d %d", spec, plan->kind, (int)plan->status, plan->chosen);
    if (plan->status == TAMIS_OK) {
        printf(" bytes=%llu", (unsigned long long)plan->body_bytes);
        for (unsigned f = 0; f < plan->n_fields; f++)
            printf(" %s=%llu", plan->fields[f].name, (unsigned long long)plan->fields[f].value);
        printf(" | fpr=%.6g overflow=%.3g saturation=%.3g lines=%.4g,%.4g,%.4g unknown=%.4g",
               plan->fpr, plan->overflow, plan->saturation, plan->lines_present, plan->lines_absent,
               plan->lines_add, plan->unknown);
    }
    printf("\n");
}

static void print_rows(const char *text, const tamis_spec *set, const tamis_states_spec *states) {
    tamis_plan         rows[MAX_KINDS];
    size_t             n;
    tamis_status const status = set != NULL
                                    ? tamis_plan_kinds(set, rows, MAX_KINDS, &n, NULL)
                                    : tamis_states_plan_kinds(states, rows, MAX_KINDS, &n, NULL);
    if (status != TAMIS_OK) return;
    for (size_t i = 0; i < n; i++) print_plan(text, &rows[i]);
}

/* A grid that is not the one of the tables. Variants: the default, a short life that may overflow,
 * a long life, one copy, four copies. */
static void print_sets(void) {
    static const double keys[] = { 1,     7,     40,    123, 350, 1000, 2300, 7000,
                                   15000, 17000, 60000, 3e5, 1e6, 2e7,  1e9 };
    static const double fprs[] = {
        0.4, 0.15, 0.07, 0.02, 0.01, 4e-3, 1e-3, 2e-4, 1e-5, 1e-6, 3e-9
    };
    for (unsigned i = 0; i < COUNT(keys) * COUNT(fprs) * COUNT(jobs) * 2 * 4; i++) {
        char           text[100];
        unsigned const variant = i % 4, prefer = i / 4 % 2, work = i / 8 % COUNT(jobs);
        unsigned const cell = i / 8 / (unsigned)COUNT(jobs);
        tamis_spec     spec = TAMIS_SPEC_INIT;
        spec.capacity = (uint64_t)keys[cell / COUNT(fprs)];
        spec.fpr = fprs[cell % COUNT(fprs)];
        spec.abilities = jobs[work].abilities;
        spec.prefer = prefer == 0 ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL;
        if (variant == 1) spec.overflow = 0.01, spec.lifetime = spec.capacity;
        if (variant == 2) spec.lifetime = 100000 * spec.capacity;
        if (variant == 3) spec.copies = 4, spec.count_to = work == 2 ? 4 : 0;
        if (variant == 3 && work == 0) continue;
        (void)snprintf(text, sizeof text, "set n=%.0f fpr=%g %s prefer=%u variant=%u",
                       (double)spec.capacity, spec.fpr, jobs[work].name, prefer, variant);
        print_rows(text, &spec, NULL);
    }
}

static void print_states(void) {
    static const double keys[] = { 30, 400, 5000, 20000, 1e6, 1e8 };
    static const double fprs[] = { 0.1, 0.01, 1e-3, 1e-5 };
    for (unsigned i = 0; i < COUNT(keys) * COUNT(fprs) * 2 * 2; i++) {
        char              text[100];
        unsigned const    cell = i / 4;
        tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
        spec.capacity = (uint64_t)keys[cell / COUNT(fprs)];
        spec.fpr = fprs[cell % COUNT(fprs)];
        spec.values = i % 2 == 0 ? 8 : 1000;
        spec.timeout = i / 2 % 2 == 0 ? 0 : 60;
        (void)snprintf(text, sizeof text, "states n=%.0f fpr=%g values=%u timeout=%u",
                       (double)spec.capacity, spec.fpr, (unsigned)spec.values,
                       (unsigned)spec.timeout);
        print_rows(text, NULL, &spec);
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "plans") == 0) {
        print_sets();
        print_states();
        return 0;
    }
    unsigned const rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 5;
    print_jobs(rounds);
    print_kinds(rounds);
    return 0;
}
