/* contest.c - the interleaved measuring.
 *
 * A phase is cut into slices. In each slice every contestant does the same work on the same keys,
 * one after the other, and who begins moves on by one from slice to slice: a machine that slows
 * down for a second then slows down for all. Time is the thread's CPU time.
 *
 * Taking turns has a price: a contestant comes back to caches full of the others' lines. So each
 * turn begins with lookups that are not timed, enough to bring back a table that fits the caches.
 * A table that does not fit has no use for them, and gets few.
 *
 * All the pages were touched before the first slice (clear), or the fill would measure the kernel.
 */
#include "contest.h"

#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Long enough for the clock (about a microsecond to read), short enough to take turns often. */
#define MIN_LOOKUPS 10000
#define MAX_LOOKUPS 200000
#define MIN_FILL 2000
#define MIN_PAIRS 2500
#define CHURNED_SHARE 4 /* of n, one in */
#define REMOVED_SHARE 2

#define MAX_WARM 1000000
#define FEW_WARM 10000
#define WARM_PER_LINE 4 /* random draws per line: all but 2% of the lines come back */
#define USUAL_CACHE (INT64_C(32) << 20) /* where the system does not tell */

#define ABSENT_FROM (UINT64_C(1) << 62) /* key numbers that are never added */

/* Where the contest stands. Keys [first, end) by number are in the tables. */
typedef struct bench_stand {
    bench_contest *contest;
    bench_mode     mode;
    unsigned       round;
    uint64_t       key_base;
    uint64_t       random;
    uint64_t       first, end;
    uint64_t       next_absent;
    uint64_t      *keys; /* of this slice */
    uint64_t      *warm; /* some that are present */
    size_t         n_warm;
    uint64_t       cache_bytes;
    double         clock_cost;
} bench_stand;

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

/* What reading the clock twice costs: the least of many tries. */
static double clock_cost(void) {
    double least = 1;
    for (int i = 0; i < 1000; i++) {
        double const start = cpu_seconds();
        double const cost = cpu_seconds() - start;
        if (cost < least) least = cost;
    }
    return least;
}

/* ------------------------------------------------------------------ who can do what */

static bench_what call_of(bench_phase phase) {
    static const bench_what what[N_PHASES] = { CALL_ADD, CALL_HAS, CALL_HAS, CALL_CHURN,
                                               CALL_REMOVE };
    return what[phase];
}

static bool can_do(const contestant *who, bench_mode mode, bench_phase phase) {
    bench_call *const *const call = who->ops.call[mode];
    bool const               is_composed = mode == MODE_BATCH && phase == PHASE_CHURN;
    if (is_composed) return call[CALL_ADD] != NULL && call[CALL_REMOVE] != NULL;
    return call[call_of(phase)] != NULL;
}

bool contest_has_row(const bench_contest *contest, size_t row, bench_mode mode) {
    const contestant *const who = &contest->lineup->rows[row];
    if (who->table == NULL) return false;
    for (int phase = 0; phase < N_PHASES; phase++) {
        if (can_do(who, mode, (bench_phase)phase)) return true;
    }
    return false;
}

/* ------------------------------------------------------------------ one turn */

static size_t in_batches(void *table, bench_call *call, const uint64_t *keys, size_t n,
                         size_t batch) {
    size_t done = 0;
    for (size_t at = 0; at < n; at += batch) {
        done += call(table, keys + at, n - at < batch ? n - at : batch);
    }
    return done;
}

static size_t churn_in_batches(const contestant *who, const uint64_t *keys, size_t n,
                               size_t batch) {
    bench_call *const *const call = who->ops.call[MODE_BATCH];
    size_t                   done = 0;
    for (size_t at = 0; at < n; at += batch) {
        size_t const now = n - at < batch ? n - at : batch;
        done += call[CALL_REMOVE](who->table, keys + at, now);
        done += call[CALL_ADD](who->table, keys + n + at, now);
    }
    return done;
}

static size_t work(const contestant *who, bench_mode mode, bench_phase phase, const uint64_t *keys,
                   size_t n, size_t batch) {
    bench_call *const call = who->ops.call[mode][call_of(phase)];
    if (mode == MODE_SINGLE) return call(who->table, keys, n);
    if (phase == PHASE_CHURN) return churn_in_batches(who, keys, n, batch);
    return in_batches(who->table, call, keys, n, batch);
}

static size_t warm_lookups(const bench_stand *stand, const contestant *who) {
    double const lines = (double)who->bytes / LINE_BYTES;
    double const wish = WARM_PER_LINE * lines / (who->lines >= 1 ? who->lines : 1) + FEW_WARM;
    if (who->bytes > 2 * stand->cache_bytes) return FEW_WARM;
    return wish < MAX_WARM ? (size_t)wish : MAX_WARM;
}

static void warm_up(const bench_stand *stand, const contestant *who) {
    bool const       has_batch = who->ops.call[MODE_BATCH][CALL_HAS] != NULL;
    bench_mode const mode = has_batch ? MODE_BATCH : MODE_SINGLE;
    size_t const     n = warm_lookups(stand, who);
    (void)work(who, mode, PHASE_PRESENT, stand->warm, n, stand->contest->options->batch);
}

static void tally(bench_outcome *outcome, const bench_slice *slice, uint64_t done) {
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

/* Who has no batch call to add is filled by single ones, untimed, so that it can be asked. */
static void take_turn(bench_stand *stand, size_t row, const bench_slice *slice) {
    bench_contest *const    contest = stand->contest;
    const contestant *const who = &contest->lineup->rows[row];
    if (!contest_has_row(contest, row, stand->mode)) return;
    bool const is_timed = can_do(who, stand->mode, slice->phase);
    if (!is_timed && slice->phase != PHASE_FILL) return;

    bench_mode const mode = is_timed ? stand->mode : MODE_SINGLE;
    warm_up(stand, who);
    double const start = cpu_seconds();
    size_t const done =
        work(who, mode, slice->phase, stand->keys, slice->n, contest->options->batch);
    double const seconds = cpu_seconds() - start - stand->clock_cost;

    bench_outcome *const outcome = &contest->outcomes[row][stand->mode];
    bench_series *const  series = &outcome->phase[slice->phase];
    tally(outcome, slice, done);
    if (!is_timed) return;
    series->samples[stand->round * series->n_slices + slice->position] =
        (sample){ .ops = slice->n, .seconds = seconds };
}

/* Into an empty table, keys that are not there yet: they lead to the same lines. */
static void choose_warm(bench_stand *stand) {
    uint64_t const present = stand->end - stand->first;
    uint64_t const range = present == 0 ? stand->contest->n : present;
    for (size_t i = 0; i < stand->n_warm; i++) {
        uint64_t const number = stand->first + key_random_below(&stand->random, range);
        stand->warm[i] = key_number(stand->key_base, number);
    }
}

static void show_progress(const bench_stand *stand, const bench_slice *slice) {
    static const char *const names[N_PHASES] = { "fill", "has present", "has absent", "churn",
                                                 "remove" };
    if (!isatty(STDERR_FILENO)) return;
    (void)fprintf(stderr, "\r%llu keys, round %u of %u, %s calls: %s %u    \033[K",
                  (unsigned long long)stand->contest->n, stand->round + 1, stand->contest->rounds,
                  stand->mode == MODE_SINGLE ? "single" : "batch", names[slice->phase],
                  slice->position + 1);
}

static void run_slice(bench_stand *stand, const bench_slice *slice) {
    if (slice->n == 0) return;
    show_progress(stand, slice);
    choose_warm(stand);
    size_t const n_rows = stand->contest->lineup->n;
    size_t const first = (slice->position + stand->round) % n_rows;
    for (size_t i = 0; i < n_rows; i++) take_turn(stand, (first + i) % n_rows, slice);
}

/* ------------------------------------------------------------------ phases */

static void number_keys(const bench_stand *stand, uint64_t *keys, uint64_t first, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) keys[i] = key_number(stand->key_base, first + i);
}

static uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t clamp_u64(uint64_t x, uint64_t low, uint64_t high) {
    return x < low ? low : min_u64(x, high);
}

/* Where slice i of the fill begins: even pieces of the first nine tenths, then of the last. */
static uint64_t fill_border(const bench_contest *contest, unsigned i) {
    uint64_t const most = contest->n / 10 * 9;
    unsigned const before = contest->fill_slices - contest->last_slices;
    if (i < before) return most * i / before;
    return most + (contest->n - most) * (i - before) / contest->last_slices;
}

static void run_fill(bench_stand *stand) {
    const bench_contest *const contest = stand->contest;
    for (unsigned i = 0; i < contest->fill_slices; i++) {
        uint64_t const n = fill_border(contest, i + 1) - stand->end;
        number_keys(stand, stand->keys, stand->end, n);
        run_slice(stand, &(bench_slice){ PHASE_FILL, i, n });
        stand->end += n;
    }
}

static uint64_t lookups_per_slice(const bench_contest *contest) {
    return clamp_u64(contest->n / contest->other_slices, MIN_LOOKUPS, MAX_LOOKUPS);
}

static void run_present(bench_stand *stand) {
    uint64_t const n = lookups_per_slice(stand->contest);
    for (unsigned i = 0; i < stand->contest->other_slices; i++) {
        for (uint64_t k = 0; k < n; k++) {
            uint64_t const range = stand->end - stand->first;
            uint64_t const number = stand->first + key_random_below(&stand->random, range);
            stand->keys[k] = key_number(stand->key_base, number);
        }
        run_slice(stand, &(bench_slice){ PHASE_PRESENT, i, n });
    }
}

static void run_absent(bench_stand *stand) {
    uint64_t const n = lookups_per_slice(stand->contest);
    for (unsigned i = 0; i < stand->contest->other_slices; i++) {
        number_keys(stand, stand->keys, stand->next_absent, n);
        stand->next_absent += n;
        run_slice(stand, &(bench_slice){ PHASE_ABSENT, i, n });
    }
}

/* Small sets are turned over several times, so that a slice is not too short. */
static uint64_t pairs_per_slice(const bench_contest *contest) {
    uint64_t const pairs = contest->n / CHURNED_SHARE / contest->other_slices;
    return min_u64(pairs < MIN_PAIRS ? MIN_PAIRS : pairs, contest->n);
}

static void run_churn(bench_stand *stand) {
    uint64_t const n = pairs_per_slice(stand->contest);
    for (unsigned i = 0; i < stand->contest->other_slices; i++) {
        number_keys(stand, stand->keys, stand->first, n);
        number_keys(stand, stand->keys + n, stand->end, n);
        run_slice(stand, &(bench_slice){ PHASE_CHURN, i, n });
        stand->first += n;
        stand->end += n;
    }
}

static uint64_t removals_per_slice(const bench_contest *contest) {
    return contest->n / REMOVED_SHARE / contest->fill_slices;
}

static void run_remove(bench_stand *stand) {
    uint64_t const n = removals_per_slice(stand->contest);
    for (unsigned i = 0; i < stand->contest->fill_slices; i++) {
        number_keys(stand, stand->keys, stand->first, n);
        run_slice(stand, &(bench_slice){ PHASE_REMOVE, i, n });
        stand->first += n;
    }
}

static void run_round(bench_stand *stand) {
    const bench_lineup *const lineup = stand->contest->lineup;
    for (size_t i = 0; i < lineup->n; i++) {
        const contestant *const who = &lineup->rows[i];
        if (who->table != NULL) who->ops.clear(who->table);
    }
    stand->first = stand->end = 0;
    run_fill(stand);
    run_present(stand);
    run_absent(stand);
    run_churn(stand);
    run_remove(stand);
}

/* ------------------------------------------------------------------ the whole */

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

static size_t most_warm_lookups(const bench_stand *stand) {
    const bench_lineup *const lineup = stand->contest->lineup;
    size_t                    most = FEW_WARM;
    for (size_t row = 0; row < lineup->n; row++) {
        size_t const wanted = warm_lookups(stand, &lineup->rows[row]);
        if (wanted > most) most = wanted;
    }
    return most;
}

static bool stand_init(bench_stand *stand, bench_contest *contest) {
    long const cache = contest->machine->cache_bytes[N_CACHES - 1];
    stand->contest = contest;
    stand->key_base = key_mix(contest->options->seed + 1);
    stand->random = contest->options->seed;
    stand->next_absent = ABSENT_FROM;
    stand->cache_bytes = (uint64_t)(cache > 0 ? cache : USUAL_CACHE);
    stand->clock_cost = clock_cost();
    stand->n_warm = most_warm_lookups(stand);
    stand->keys = calloc(longest_slice(contest), sizeof *stand->keys);
    stand->warm = calloc(stand->n_warm, sizeof *stand->warm);
    return stand->keys != NULL && stand->warm != NULL;
}

static bool outcomes_init(bench_contest *contest) {
    bool is_fine = true;
    for (size_t row = 0; row < contest->lineup->n; row++) {
        for (int mode = 0; mode < N_MODES; mode++) {
            for (int phase = 0; phase < N_PHASES; phase++) {
                bool const    is_cut_alike = phase == PHASE_FILL || phase == PHASE_REMOVE;
                bench_series *series = &contest->outcomes[row][mode].phase[phase];
                is_fine &= series_init(series, contest->rounds,
                                       is_cut_alike ? contest->fill_slices : contest->other_slices);
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
    bench_stand          stand = { 0 };
    if (contest == NULL) return NULL;
    bool const is_ready = stand_init(&stand, contest);
    bool const has_players = lineup->n_ceilings > 0; /* they come with the first contestant */
    for (unsigned round = 0; is_ready && has_players && round < contest->rounds; round++) {
        stand.round = round;
        for (int mode = 0; mode < N_MODES; mode++) {
            stand.mode = (bench_mode)mode;
            run_round(&stand);
        }
    }
    if (isatty(STDERR_FILENO)) (void)fputs("\r\033[K", stderr);
    free(stand.keys);
    free(stand.warm);
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
