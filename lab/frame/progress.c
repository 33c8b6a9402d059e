/* progress.c - see progress.h.
 *
 * The time that each experiment took in earlier runs is listed here. It is used for the estimate of
 * the remaining time, and for nothing else. How fast this machine is follows from the experiments
 * that are done.
 */
#include "progress.h"

#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DRAW_EVERY 0.2 /* seconds */
#define MOST_OF_IT 0.95

/* Seconds on one core. */
typedef struct cost {
    const char *id;
    double      quick, full;
} cost;

/* clang-format off */
static const cost costs[] = {
    { "bloom.fpr", 2.0, 39 },
    { "cbf.esa2006", 6.3, 1678 },
    { "dlcbf.esa2006", 4.1, 2666 },
    { "dlcbf.overflow", 8.2, 5075 },
    { "dlcbf.permuted", 0.5, 23 },
    { "dlcbf.compared", 0, 0 },
    { "dlcbf.larger", 6.4, 130 },
    { "dlcbf.moves", 7.2, 145 },
    { "dlbf.loads", 2.1, 13 },
    { "dlbf.codes", 0, 0 },
    { "dlbf.rates", 2.1, 13 },
    { "dlbf.compared", 0, 0 },
    { "dlbf.tables", 3.8, 63 },
    { "dlbf.even", 1.3, 22 },
    { "dlbf.groups", 0, 0 },
    { "dlbf.offline", 0.2, 9.1 },
    { "ddlcbf.peaks", 3.1, 20 },
    { "dlbf.kind", 2.9, 346 },
    { "dlbf.balanced", 1.0, 116 },
    { "ddlcbf.kind", 6.8, 70 },
    { "rank.example", 0, 0 },
    { "rank.loads", 0.2, 7.8 },
    { "rank.sizes", 0.7, 35 },
    { "rank.overflow", 1.8, 148 },
    { "rank.compared", 0.3, 20 },
    { "rank.trimmed", 0.1, 1.0 },
    { "rank.figures", 1.4, 1.4 },
    { "rank.beyond", 0.8, 0.8 },
    { "vicbf.rates.30", 1.3, 33 },
    { "vicbf.rates.50", 2.8, 34 },
    { "vicbf.lengths", 1.3, 31 },
    { "bhcbf.trades", 1.1, 27 },
    { "bhcbf.sequences", 0, 0 },
    { "bhcbf.bits", 0.7, 18 },
    { "vicbf.theorems", 0.3, 6 },
    { "vicbf.sizes", 0.8, 20 },
    { "mlcbf.sizes", 2.6, 14 },
    { "fcf.larger", 4.7, 95 },
    { "fcf.timers", 0.9, 21 },
    { "sbf.thresholds", 0.1, 3 },
    { "sbf.timers", 1.4, 51 },
    { "rank.smaller", 0.6, 0.6 },
    { "dlbf.underloaded", 1.3, 20 },
    { "baselines.fingerprints", 0, 0 },
    { "bloom.compressed", 0.6, 8 },
    { "baselines.cuckoo", 0.2, 3 },
    { "kinds.sizes", 5, 5 },
    { "kinds.filling", 2, 35 },
    { "kinds.churn", 15, 250 },
    { "kinds.overflow", 2, 40 },
    { "kinds.saturation", 2, 40 },
};
/* clang-format on */

/* For experiments that are not in the list. */
static const cost usual = { NULL, 1.5, 50 };

static double cost_of(const progress *p, const char *id) {
    const cost *found = &usual;
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        if (strcmp(costs[i].id, id) == 0) found = &costs[i];
    }
    return p->is_full ? found->full : found->quick;
}

void progress_begin(progress *p, bool is_full, unsigned jobs) {
    *p = (progress){ .is_shown = isatty(STDERR_FILENO) != 0,
                     .is_full = is_full,
                     .jobs = jobs,
                     .begun = clock_now() };
    (void)pthread_mutex_init(&p->lock, NULL);
}

void progress_expect(progress *p, const char *id) {
    p->n++;
    p->all += cost_of(p, id);
}

void progress_experiment(progress *p, const char *id) {
    p->id = id;
    p->index++;
    p->began_this = clock_now();
    progress_trial(p, 0, 0);
}

void progress_experiment_over(progress *p) {
    p->before += cost_of(p, p->id);
    progress_clear(p);
}

/* What is done, in the unit of cost. The share of the running experiment is by its time. */
static double cost_done(const progress *p, double time) {
    double const before = p->began_this - p->begun;
    double const speed = before > 1 ? p->before / before : p->jobs;
    double const most = MOST_OF_IT * cost_of(p, p->id);
    return p->before + fmin((time - p->began_this) * speed, most);
}

static void print_left(double seconds) {
    if (seconds >= 5400)
        (void)fprintf(stderr, "about %.1f hours left", seconds / 3600);
    else if (seconds >= 90)
        (void)fprintf(stderr, "about %.0f minutes left", seconds / 60);
    else if (seconds >= 2)
        (void)fprintf(stderr, "about %.0f seconds left", seconds);
    else
        (void)fputs("nearly done", stderr);
}

static void draw(progress *p, double time, uint64_t done, uint64_t total) {
    double const done_cost = cost_done(p, time), elapsed = time - p->begun;
    double const left = elapsed > 1 ? elapsed * (p->all - done_cost) / done_cost : p->all / p->jobs;
    (void)fprintf(stderr, "\r%u of %u: %s", p->index, p->n, p->id);
    if (total != 0) {
        (void)fprintf(stderr, ", trial %llu of %llu", (unsigned long long)done,
                      (unsigned long long)total);
    }
    (void)fprintf(stderr, "; %.0f%%, ", floor(100 * done_cost / p->all));
    print_left(left);
    (void)fputs("\033[K", stderr);
    (void)fflush(stderr);
    p->drawn = time;
}

void progress_trial(progress *p, uint64_t done, uint64_t total) {
    if (!p->is_shown) return;
    (void)pthread_mutex_lock(&p->lock);
    double const time = clock_now();
    if (total == 0 || time - p->drawn >= DRAW_EVERY) draw(p, time, done, total);
    (void)pthread_mutex_unlock(&p->lock);
}

void progress_clear(progress *p) {
    if (!p->is_shown) return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
}
