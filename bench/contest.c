/* contest.c - measure all contestants in turns.
 *
 * A phase is cut into slices. In each slice every contestant does the same work on the same keys,
 * one after the other. The first one changes from slice to slice. If the machine is slow for a
 * second, it is slow for all of them. Time is the CPU time of the thread.
 *
 * After the turns of the others, the caches hold their lines. So each turn begins with lookups that
 * are not timed, enough to fetch a table that fits into the caches. A larger table gains nothing
 * from them and gets few.
 *
 * All pages are touched before the first slice (by clear). Otherwise the fill would measure the
 * kernel.
 */
#include "contest.h"

#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Operations per slice: many compared with the cost of reading the clock (about a microsecond), few
 * enough to take turns often. */
#define MIN_LOOKUPS 10000
#define MAX_LOOKUPS 200000
#define MIN_FILL 2000
#define MIN_PAIRS 2500
#define CHURNED_SHARE 4 /* one in 4 keys */
#define REMOVED_SHARE 2

#define MAX_WARM 1000000
#define FEW_WARM 10000
#define WARM_PER_LINE 4                 /* random lookups per line fetch all but 2% of the lines */
#define USUAL_CACHE (INT64_C(32) << 20) /* if the system does not tell */

#define ABSENT_FROM (UINT64_C(1) << 62) /* key numbers that are never added */

/* The state of a running contest. The keys with numbers [first, end) are in the tables. */
typedef struct contest_state {
    bench_contest *contest;
    bench_mode     mode;
    unsigned       round;
    uint64_t       key_base;
    uint64_t       random;
    uint64_t       first, end;
    uint64_t       next_absent;
    uint64_t      *keys; /* of this slice */
    uint64_t      *warm; /* present keys, for warming up */
    size_t         n_warm;
    uint64_t       cache_bytes;
    double         clock_cost;
} contest_state;

typedef struct bench_slice {
    bench_phase phase;
    unsigned    position;
    uint64_t    n; /* operations */
} bench_slice;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The cost of reading the clock twice: the smallest of many tries. */
static double measure_clock_cost(void) {
    double least = 1;
    for (int i = 0; i < 1000; i++) {
        double const start = cpu_seconds();
        double const cost = cpu_seconds() - start;
        if (cost < least) least = cost;
    }
    return least;
}

/* ------------------------------------------------------------------ abilities */

static bench_operation phase_operation(bench_phase phase) {
    static const bench_operation operations[N_PHASES] = { CALL_ADD, CALL_HAS, CALL_HAS, CALL_CHURN,
                                                          CALL_REMOVE };
    return operations[phase];
}

static bool can_do(const contestant *entrant, bench_mode mode, bench_phase phase) {
    bench_call *const *const call = entrant->ops.call[mode];
    bool const               is_composed = mode == MODE_BATCH && phase == PHASE_CHURN;
    if (is_composed) return call[CALL_ADD] != NULL && call[CALL_REMOVE] != NULL;
    return call[phase_operation(phase)] != NULL;
}

bool contest_has_row(const bench_contest *contest, size_t row, bench_mode mode) {
    const contestant *const entrant = &contest->lineup->rows[row];
    if (entrant->table == NULL) return false;
    for (int phase = 0; phase < N_PHASES; phase++) {
        if (can_do(entrant, mode, (bench_phase)phase)) return true;
    }
    return false;
}

/* ------------------------------------------------------------------ one turn */

static size_t work_in_batches(void *table, bench_call *call, const uint64_t *keys, size_t n,
                              size_t batch) {
    size_t done = 0;
    for (size_t at = 0; at < n; at += batch) {
        done += call(table, keys + at, n - at < batch ? n - at : batch);
    }
    return done;
}

static size_t churn_in_batches(const contestant *entrant, const uint64_t *keys, size_t n,
                               size_t batch) {
    bench_call *const *const call = entrant->ops.call[MODE_BATCH];
    size_t                   done = 0;
    for (size_t at = 0; at < n; at += batch) {
        size_t const now = n - at < batch ? n - at : batch;
        done += call[CALL_REMOVE](entrant->table, keys + at, now);
        done += call[CALL_ADD](entrant->table, keys + n + at, now);
    }
    return done;
}

static size_t do_work(const contestant *entrant, bench_mode mode, bench_phase phase,
                      const uint64_t *keys, size_t n, size_t batch) {
    bench_call *const call = entrant->ops.call[mode][phase_operation(phase)];
    if (mode == MODE_SINGLE) return call(entrant->table, keys, n);
    if (phase == PHASE_CHURN) return churn_in_batches(entrant, keys, n, batch);
    return work_in_batches(entrant->table, call, keys, n, batch);
}

static size_t warm_lookups(const contest_state *state, const contestant *entrant) {
    double const lines = (double)entrant->bytes / LINE_BYTES;
    double const enough =
        WARM_PER_LINE * lines / (entrant->lines >= 1 ? entrant->lines : 1) + FEW_WARM;
    if (entrant->bytes > 2 * state->cache_bytes) return FEW_WARM;
    return enough < MAX_WARM ? (size_t)enough : MAX_WARM;
}

static void warm_up(const contest_state *state, const contestant *entrant) {
    bool const       has_batch = entrant->ops.call[MODE_BATCH][CALL_HAS] != NULL;
    bench_mode const mode = has_batch ? MODE_BATCH : MODE_SINGLE;
    size_t const     n = warm_lookups(state, entrant);
    (void)do_work(entrant, mode, PHASE_PRESENT, state->warm, n, state->contest->options->batch);
}

static void count_answers(bench_outcome *outcome, const bench_slice *slice, uint64_t done) {
    switch (slice->phase) {
    case PHASE_FILL: outcome->refused_adds += slice->n - done; break;
    case PHASE_PRESENT:
        outcome->present_asked += slice->n;
        outcome->present_found += done;
        break;
    case PHASE_ABSENT:
        outcome->absent_asked += slice->n;
        outcome->absent_found += done;
        break;
    case PHASE_CHURN: outcome->refused_changes += 2 * slice->n - done; break;
    case PHASE_REMOVE: outcome->refused_changes += slice->n - done; break;
    case N_PHASES: break;
    }
}

/* A contestant without batch adds is filled by untimed single calls, to time its lookups. */
static void take_turn(contest_state *state, size_t row, const bench_slice *slice) {
    bench_contest *const    contest = state->contest;
    const contestant *const entrant = &contest->lineup->rows[row];
    if (!contest_has_row(contest, row, state->mode)) return;
    bool const is_timed = can_do(entrant, state->mode, slice->phase);
    if (!is_timed && slice->phase != PHASE_FILL) return;

    bench_mode const mode = is_timed ? state->mode : MODE_SINGLE;
    warm_up(state, entrant);
    double const start = cpu_seconds();
    size_t const done =
        do_work(entrant, mode, slice->phase, state->keys, slice->n, contest->options->batch);
    double const seconds = cpu_seconds() - start - state->clock_cost;

    bench_outcome *const outcome = &contest->outcomes[row][state->mode];
    bench_series *const  series = &outcome->phase[slice->phase];
    count_answers(outcome, slice, done);
    if (!is_timed) return;
    series->samples[state->round * series->n_slices + slice->position] =
        (sample){ .ops = slice->n, .seconds = seconds };
}

/* For an empty table, take keys that will be added: they lead to the same lines. */
static void choose_warm(contest_state *state) {
    uint64_t const present = state->end - state->first;
    uint64_t const range = present == 0 ? state->contest->n : present;
    for (size_t i = 0; i < state->n_warm; i++) {
        uint64_t const number = state->first + key_random_below(&state->random, range);
        state->warm[i] = key_number(state->key_base, number);
    }
}

static void show_progress(const contest_state *state, const bench_slice *slice) {
    static const char *const names[N_PHASES] = { "fill", "has present", "has absent", "churn",
                                                 "remove" };
    if (!isatty(STDERR_FILENO)) return;
    (void)fprintf(stderr, "\r%llu keys, round %u of %u, %s calls: %s %u    \033[K",
                  (unsigned long long)state->contest->n, state->round + 1, state->contest->rounds,
                  state->mode == MODE_SINGLE ? "single" : "batch", names[slice->phase],
                  slice->position + 1);
}

static void run_slice(contest_state *state, const bench_slice *slice) {
    if (slice->n == 0) return;
    show_progress(state, slice);
    choose_warm(state);
    size_t const n_rows = state->contest->lineup->n;
    size_t const first = (slice->position + state->round) % n_rows;
    for (size_t i = 0; i < n_rows; i++) take_turn(state, (first + i) % n_rows, slice);
}

/* ------------------------------------------------------------------ phases */

static void number_keys(const contest_state *state, uint64_t *keys, uint64_t first, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) keys[i] = key_number(state->key_base, first + i);
}

static uint64_t bench_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t clamp_u64(uint64_t x, uint64_t low, uint64_t high) {
    return x < low ? low : bench_min(x, high);
}

/* The key at which slice i of the fill begins: equal slices of the first nine tenths, then of the
 * last tenth. */
static uint64_t fill_border(const bench_contest *contest, unsigned i) {
    uint64_t const most = contest->n / 10 * 9;
    unsigned const before = contest->fill_slices - contest->last_slices;
    if (i < before) return most * i / before;
    return most + (contest->n - most) * (i - before) / contest->last_slices;
}

static void run_fill(contest_state *state) {
    const bench_contest *const contest = state->contest;
    for (unsigned i = 0; i < contest->fill_slices; i++) {
        uint64_t const n = fill_border(contest, i + 1) - state->end;
        number_keys(state, state->keys, state->end, n);
        run_slice(state, &(bench_slice){ PHASE_FILL, i, n });
        state->end += n;
    }
}

static uint64_t lookups_per_slice(const bench_contest *contest) {
    return clamp_u64(contest->n / contest->other_slices, MIN_LOOKUPS, MAX_LOOKUPS);
}

static void run_present(contest_state *state) {
    uint64_t const n = lookups_per_slice(state->contest);
    for (unsigned i = 0; i < state->contest->other_slices; i++) {
        for (uint64_t k = 0; k < n; k++) {
            uint64_t const range = state->end - state->first;
            uint64_t const number = state->first + key_random_below(&state->random, range);
            state->keys[k] = key_number(state->key_base, number);
        }
        run_slice(state, &(bench_slice){ PHASE_PRESENT, i, n });
    }
}

static void run_absent(contest_state *state) {
    uint64_t const n = lookups_per_slice(state->contest);
    for (unsigned i = 0; i < state->contest->other_slices; i++) {
        number_keys(state, state->keys, state->next_absent, n);
        state->next_absent += n;
        run_slice(state, &(bench_slice){ PHASE_ABSENT, i, n });
    }
}

/* In small sets all keys are replaced several times, so that a slice is not too short. */
static uint64_t pairs_per_slice(const bench_contest *contest) {
    uint64_t const pairs = contest->n / CHURNED_SHARE / contest->other_slices;
    return bench_min(pairs < MIN_PAIRS ? MIN_PAIRS : pairs, contest->n);
}

static void run_churn_phase(contest_state *state) {
    uint64_t const n = pairs_per_slice(state->contest);
    for (unsigned i = 0; i < state->contest->other_slices; i++) {
        number_keys(state, state->keys, state->first, n);
        number_keys(state, state->keys + n, state->end, n);
        run_slice(state, &(bench_slice){ PHASE_CHURN, i, n });
        state->first += n;
        state->end += n;
    }
}

static uint64_t removals_per_slice(const bench_contest *contest) {
    return contest->n / REMOVED_SHARE / contest->fill_slices;
}

static void run_remove(contest_state *state) {
    uint64_t const n = removals_per_slice(state->contest);
    for (unsigned i = 0; i < state->contest->fill_slices; i++) {
        number_keys(state, state->keys, state->first, n);
        run_slice(state, &(bench_slice){ PHASE_REMOVE, i, n });
        state->first += n;
    }
}

static void run_round(contest_state *state) {
    const bench_lineup *const lineup = state->contest->lineup;
    for (size_t i = 0; i < lineup->n; i++) {
        const contestant *const entrant = &lineup->rows[i];
        if (entrant->table != NULL) entrant->ops.clear(entrant->table);
    }
    state->first = state->end = 0;
    run_fill(state);
    run_present(state);
    run_absent(state);
    run_churn_phase(state);
    run_remove(state);
}

/* ------------------------------------------------------------------ the whole contest */

static uint64_t longest_slice(const bench_contest *contest) {
    unsigned const before = contest->fill_slices - contest->last_slices;
    uint64_t       longest = contest->n / before + contest->n / 10 + 1;
    uint64_t const others[] = { lookups_per_slice(contest), 2 * pairs_per_slice(contest),
                                removals_per_slice(contest) };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i] > longest) longest = others[i];
    }
    return longest;
}

static size_t most_warm_lookups(const contest_state *state) {
    const bench_lineup *const lineup = state->contest->lineup;
    size_t                    most = FEW_WARM;
    for (size_t row = 0; row < lineup->n; row++) {
        size_t const wanted = warm_lookups(state, &lineup->rows[row]);
        if (wanted > most) most = wanted;
    }
    return most;
}

static bool state_init(contest_state *state, bench_contest *contest) {
    long const cache = contest->machine->cache_bytes[N_CACHES - 1];
    state->contest = contest;
    state->key_base = key_mix(contest->options->seed + 1);
    state->random = contest->options->seed;
    state->next_absent = ABSENT_FROM;
    state->cache_bytes = (uint64_t)(cache > 0 ? cache : USUAL_CACHE);
    state->clock_cost = measure_clock_cost();
    state->n_warm = most_warm_lookups(state);
    state->keys = calloc(longest_slice(contest), sizeof *state->keys);
    state->warm = calloc(state->n_warm, sizeof *state->warm);
    return state->keys != NULL && state->warm != NULL;
}

static bool outcomes_init(bench_contest *contest) {
    bool is_fine = true;
    for (size_t row = 0; row < contest->lineup->n; row++) {
        for (int mode = 0; mode < N_MODES; mode++) {
            for (int phase = 0; phase < N_PHASES; phase++) {
                bool const    is_cut_as_fill = phase == PHASE_FILL || phase == PHASE_REMOVE;
                bench_series *series = &contest->outcomes[row][mode].phase[phase];
                is_fine &=
                    series_init(series, contest->rounds,
                                is_cut_as_fill ? contest->fill_slices : contest->other_slices);
            }
        }
    }
    return is_fine;
}

static bench_contest *contest_new(const bench_options *options, const bench_machine *machine,
                                  const bench_lineup *lineup, uint64_t n) {
    bench_contest *const contest = calloc(1, sizeof *contest);
    if (contest == NULL) return NULL;
    contest->options = options;
    contest->machine = machine;
    contest->lineup = lineup;
    contest->n = n;
    contest->rounds = options_rounds(options, n);
    contest->other_slices = options->slices;
    contest->fill_slices = (unsigned)clamp_u64(n / MIN_FILL, 2, options->slices);
    contest->last_slices = contest->fill_slices < 10 ? 1 : contest->fill_slices / 5;
    if (outcomes_init(contest)) return contest;
    contest_free(contest);
    return NULL;
}

bench_contest *contest_run(const bench_options *options, const bench_machine *machine,
                           const bench_lineup *lineup, uint64_t n) {
    bench_contest *const contest = contest_new(options, machine, lineup, n);
    contest_state        state = { 0 };
    if (contest == NULL) return NULL;
    bool const is_ready = state_init(&state, contest);
    bool const has_tables =
        lineup->n_ceilings > 0; /* there are ceilings if there are contestants */
    for (unsigned round = 0; is_ready && has_tables && round < contest->rounds; round++) {
        state.round = round;
        for (int mode = 0; mode < N_MODES; mode++) {
            state.mode = (bench_mode)mode;
            run_round(&state);
        }
    }
    if (isatty(STDERR_FILENO)) (void)fputs("\r\033[K", stderr);
    free(state.keys);
    free(state.warm);
    if (is_ready) return contest;
    contest_free(contest);
    return NULL;
}

void contest_free(bench_contest *contest) {
    if (contest == NULL) return;
    for (size_t row = 0; row < contest->lineup->n; row++) {
        for (int mode = 0; mode < N_MODES; mode++) {
            bench_outcome *const outcome = &contest->outcomes[row][mode];
            for (int phase = 0; phase < N_PHASES; phase++) series_fini(&outcome->phase[phase]);
        }
    }
    free(contest);
}
