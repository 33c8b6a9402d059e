/* main.c - tamis-bench: speed and size of every kind, compared with peers and with bare memory. */
#include "report.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* One run of the program. */
typedef struct bench_run {
    bench_options options;
    bench_machine machine;
    FILE         *table;
    FILE         *json; /* or NULL */
} bench_run;

/* @return the processor, or -1 if pinning is not allowed. The report says so then. */
static int pin_to(int cpu) {
    cpu_set_t set;
    int const where = cpu >= 0 ? cpu : sched_getcpu();
    if (where < 0 || where >= CPU_SETSIZE) return -1;
    CPU_ZERO(&set);
    CPU_SET((size_t)where, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0 ? where : -1;
}

static bench_enter *find_enter(const char *key) {
    if (strcmp(key, "libbloom") == 0) return enter_libbloom;
    if (strcmp(key, "rte_member") == 0) return enter_dpdk;
    return outside_has_key(key) ? enter_outside : enter_tamis;
}

static void enter_all(bench_lineup *lineup, const bench_options *options, uint64_t n) {
    for (size_t i = 0; i < options->entries.n; i++) {
        const bench_entry *const entry = &options->entries.list[i];
        find_enter(entry->key)(lineup, options, entry, n);
    }
    enter_ceilings(lineup, options);
}

static bool run_size(const bench_run *run, uint64_t n, bool is_first) {
    bench_lineup *const lineup = calloc(1, sizeof *lineup);
    if (lineup == NULL) return false;
    enter_all(lineup, &run->options, n);
    bench_contest *const contest = contest_run(&run->options, &run->machine, lineup, n);
    bool const           is_fine = contest != NULL;
    if (is_fine) {
        report_table(run->table, contest);
        (void)fflush(run->table);
        if (run->json != NULL) json_size(run->json, contest, is_first);
    }
    contest_free(contest);
    lineup_free(lineup);
    free(lineup);
    return is_fine;
}

static bool run_sizes(const bench_run *run) {
    bool is_fine = true;
    report_head(run->table, &run->machine, &run->options);
    if (run->json != NULL) json_begin(run->json, &run->machine, &run->options);
    for (size_t i = 0; i < run->options.n_sizes && is_fine; i++) {
        is_fine = run_size(run, run->options.sizes[i], i == 0);
    }
    if (run->json != NULL) json_end(run->json);
    if (!is_fine) (void)fputs("tamis-bench: out of memory\n", stderr);
    return is_fine;
}

/* If JSON goes to stdout, the report goes to stderr. */
static bool open_bench_outputs(bench_run *run) {
    const char *const name = run->options.json;
    run->table = stdout;
    if (name == NULL) return true;
    if (strcmp(name, "-") == 0) {
        run->json = stdout;
        run->table = stderr;
        return true;
    }
    run->json = fopen(name, "w");
    if (run->json == NULL) perror(name);
    return run->json != NULL;
}

/* Buffered writes may fail late, so check at the end. */
static bool close_output(FILE *file) {
    bool const had_error = ferror(file) != 0;
    if (fclose(file) == 0 && !had_error) return true;
    perror("tamis-bench: writing");
    return false;
}

int main(int argc, char **argv) {
    if (!outside_check(stderr)) return 2;
    bench_run             run = { .json = NULL };
    options_verdict const verdict = options_parse(&run.options, argc, argv);
    if (verdict != OPTIONS_RUN) return verdict == OPTIONS_DONE ? EXIT_SUCCESS : 2;
    if (!open_bench_outputs(&run)) return 2;
    if (run.options.is_small_pages) (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    run.machine = machine_look(pin_to(run.options.cpu));

    bool is_fine = run_sizes(&run);
    dpdk_shutdown();
    if (run.json != NULL && run.json != stdout) is_fine &= close_output(run.json);
    is_fine &= close_output(stdout);
    return is_fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
