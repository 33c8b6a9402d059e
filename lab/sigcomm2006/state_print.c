/* state_print.c - states beside fingerprints in d-left tables: overflow when keys are added and
 * removed, false positives, and the effect of the permutations.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Beyond Bloom Filters:
 * From Approximate Membership Checks to Approximate State Machines", SIGCOMM 2006, sections 3.4 and
 * 4. Its table: 3 subtables of n / 12 buckets with 6 cells. Here n is 49152. The library's side
 * table is left out where overflow is counted.
 */
#include "sigcomm2006.h"

#include "core/field.h"
#include "frame/theory.h"
#include "handle.h"
#include "kinds/state_print/size.h"
#include "theory/fluid.h"

#include <math.h>
#include <stdlib.h>

#define TABLES 3
#define BUCKETS 4096u /* of each */
#define ALL_BUCKETS (TABLES * BUCKETS)
#define CELLS 6
#define LEVELS 9 /* loads of a bucket, 0 to 8 */
#define VALUES 8
#define STEPS (UINT64_C(1) << 20) /* as in the paper on counting, of which section 4 is a sketch */
#define WARM_UP 8                 /* lives of a key, until the loads have their limit */
#define QUERIES 1000000u

/* ------------------------------------------------------------------ one trial */

typedef struct acsm_config {
    double   load; /* keys per bucket */
    unsigned cells, print_bits;
    bool     is_permuted, is_reinserted;
    bool     is_churned, is_asked;
    unsigned moves; /* of keys, in each step */
} acsm_config;

typedef struct acsm_outcome {
    uint64_t refused;         /* puts that found all buckets full, after the warm-up */
    uint64_t buckets[LEVELS]; /* with at least this many keys, at the end */
    uint64_t unknown;         /* of the keys that are there, at the end */
    uint64_t unknown_moved;   /* the same, when each was moved once more */
    uint64_t stuck;           /* drops that were refused in the whole trial */
    uint64_t wrong;           /* keys that are lost, or have another value */
    uint64_t hits;            /* strangers with a value, or unknown */
    uint64_t bits;            /* of all cells */
} acsm_outcome;

typedef struct acsm_trial {
    const acsm_config *config;
    tamis_states      *states;
    lab_random        *random;
    uint64_t           start, next; /* of the keys */
    uint64_t          *live;
    uint64_t           n;
    acsm_outcome      *outcome;
} acsm_trial;

static tamis_states *make(const acsm_config *config, lab_random *random) {
    tamis_seed const  seed = { lab_random_next(random), lab_random_next(random) };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_states     *states;
    tamis_problem     problem;
    char              geometry[160];
    (void)snprintf(geometry, sizeof geometry,
                   "tables=%u,buckets=%u,cells=%u,print_bits=%u,permuted=%u,reinserts=%u,side=%u,"
                   "bucket_bytes=%u",
                   TABLES, BUCKETS, config->cells, config->print_bits, config->is_permuted,
                   config->is_reinserted, config->is_permuted ? 0 : 64,
                   (config->cells * (config->print_bits + 3 + !config->is_permuted) + 7) / 8);
    spec.capacity = spec.lifetime =
        ALL_BUCKETS; /* the trial overloads the table more than a planner would allow */
    spec.values = VALUES;
    spec.kind = "state_print";
    spec.geometry = geometry;
    spec.seed = &seed;
    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK) lab_die("%s", problem.text);
    return states;
}

static uint32_t value_of(uint64_t key) {
    return (uint32_t)(key % VALUES);
}

static uint64_t new_key(acsm_trial *trial) {
    return lab_mix(trial->start + ++trial->next * LAB_GOLDEN);
}

/* Try new keys until one fits. False positives are skipped, since cells are counted. */
static uint64_t put_one(acsm_trial *trial) {
    for (;;) {
        uint64_t const key = new_key(trial);
        uint32_t       value;
        if (tamis_states_get_id(trial->states, key, &value) != TAMIS_ERR_ABSENT) continue;
        tamis_status const status = tamis_states_put_id(trial->states, key, value_of(key));
        if (status == TAMIS_OK) return key;
        bool const is_stuck = ++trial->outcome->refused > STEPS; /* fuller than it can be */
        if (status != TAMIS_ERR_FULL || is_stuck)
            lab_die("a put failed: %s", tamis_status_text(status));
    }
}

static void move_one(acsm_trial *trial) {
    uint64_t const key = trial->live[lab_random_below(trial->random, trial->n)];
    (void)!tamis_states_move_id(trial->states, key, TAMIS_ANY_VALUE, value_of(key));
}

static void replace_one(acsm_trial *trial) {
    uint64_t *const    slot = &trial->live[lab_random_below(trial->random, trial->n)];
    tamis_status const status = tamis_states_drop_id(trial->states, *slot, TAMIS_ANY_VALUE);
    trial->outcome->stuck += status == TAMIS_ERR_UNKNOWN;
    trial->outcome->wrong += status == TAMIS_ERR_ABSENT;
    *slot = put_one(trial);
}

static void churn(acsm_trial *trial) {
    uint64_t const warm_up = WARM_UP * trial->n;
    for (uint64_t i = 0; i < warm_up + STEPS; i++) {
        if (i == warm_up) trial->outcome->refused = 0;
        for (unsigned k = 0; k < trial->config->moves; k++) move_one(trial);
        replace_one(trial);
    }
}

static uint64_t count_unknown(acsm_trial *trial) {
    uint64_t unknown = 0;
    for (uint64_t i = 0; i < trial->n; i++) {
        uint32_t           value = VALUES;
        tamis_status const status = tamis_states_get_id(trial->states, trial->live[i], &value);
        bool const         is_right = status == TAMIS_OK && value == value_of(trial->live[i]);
        unknown += status == TAMIS_ERR_UNKNOWN;
        trial->outcome->wrong += status != TAMIS_ERR_UNKNOWN && !is_right;
    }
    return unknown;
}

static void ask(acsm_trial *trial) {
    for (unsigned i = 0; i < QUERIES; i++) {
        uint32_t           value;
        tamis_status const status = tamis_states_get_id(trial->states, new_key(trial), &value);
        trial->outcome->hits += status != TAMIS_ERR_ABSENT;
    }
    trial->outcome->unknown = count_unknown(trial);
    for (uint64_t i = 0; i < trial->n; i++) {
        uint32_t const own = value_of(trial->live[i]);
        (void)!tamis_states_move_id(trial->states, trial->live[i], own, own);
    }
    trial->outcome->unknown_moved = count_unknown(trial);
}

/* A print is never 0. */
static void count_loads(acsm_trial *trial) {
    const tamis_table *const table = &trial->states->set.table;
    uint64_t const           bits = trial->config->print_bits,
                   bucket_bits = 8 * table->geometry[STATE_PRINT_BUCKET_BYTES];
    for (uint64_t b = 0; b < ALL_BUCKETS; b++) {
        trial->outcome->buckets[0]++;
        for (unsigned i = 0; i < trial->config->cells; i++) {
            uint64_t const at = b * bucket_bits + i * bits;
            trial->outcome->buckets[i + 1] += field_get(table->body, at, (unsigned)bits) != 0;
        }
    }
    trial->outcome->bits = ALL_BUCKETS * bucket_bits;
}

static void acsm_trial_run(const void *given, lab_random *random, void *ret_outcome) {
    const acsm_config *const config = given;
    uint64_t const           n = (uint64_t)(config->load * ALL_BUCKETS);
    acsm_trial               trial = { .config = config,
                                       .states = make(config, random),
                                       .random = random,
                                       .start = lab_random_next(random),
                                       .live = lab_allocate(n, sizeof *trial.live),
                                       .n = n,
                                       .outcome = ret_outcome };
    for (uint64_t i = 0; i < n; i++) trial.live[i] = put_one(&trial);
    if (config->is_churned) churn(&trial);
    count_loads(&trial);
    if (config->is_asked) ask(&trial);
    free(trial.live);
    tamis_states_free(trial.states);
}

static acsm_outcome *run_trials(const lab_run *run, const char *stream, const acsm_config *config,
                                uint64_t n) {
    lab_series const series = { .stream = stream,
                                .n = n,
                                .trial = acsm_trial_run,
                                .given = config,
                                .outcome_bytes = sizeof(acsm_outcome) };
    return lab_trials(run, &series);
}

/* ------------------------------------------------------------------ overflow */

typedef struct overflow_row {
    const char *name;
    double      load;
    unsigned    cells;
    bool        is_reinserted;
    unsigned    moves;
    uint64_t    quick, full; /* trials */
} overflow_row;

/* P[the next key finds all its buckets full], after a long time of adds and removals. */
static double chance_of(double load, unsigned cells) {
    fluid law;
    tamis_fluid_churn(TABLES, load, INFINITY, &law);
    return tamis_fluid_all(&law, cells);
}

/* A key that is put again when it changes can only move to a bucket that has fewer. */
static void record_refusals(lab_run *run, const overflow_row *row) {
    acsm_config const   config = { .load = row->load,
                                   .cells = row->cells,
                                   .print_bits = 20,
                                   .is_permuted = true,
                                   .is_reinserted = row->is_reinserted,
                                   .is_churned = true,
                                   .moves = row->moves };
    uint64_t const      n = run->is_full ? row->full : row->quick;
    acsm_outcome *const outcomes = run_trials(run, row->name, &config, n);
    uint64_t            refused = 0;
    for (uint64_t i = 0; i < n; i++) refused += outcomes[i].refused;
    free(outcomes);
    double const exact = (double)n * (double)STEPS * chance_of(row->load, row->cells);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "refused.%s", row->name),
                           .label = lab_text(run, "refused, %.3f in %u cells%s", row->load,
                                             row->cells, row->is_reinserted ? ", reinserted" : ""),
                           .exact = exact,
                           .measured = { .value = (double)refused, .trials = n },
                           .rule = row->is_reinserted ? LAB_AT_MOST : LAB_COUNT,
                           .tolerance = 1e-4,
                           .reason = row->is_reinserted ? "the limit without reinsertion is a bound"
                                                        : "the number of rare events is Poisson",
                           .remark = lab_text(run, "of %u times 2^20 puts", (unsigned)n) });
}

static void record_fluid(lab_run *run, const char *name, const char *label, const char *published,
                         double exact) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .published = published,
                                .exact = exact,
                                .rule = LAB_EQUAL,
                                .reason = "the equations of the fluid limit" });
}

static void record_limits(lab_run *run) {
    fluid filled, churned;
    tamis_fluid_fill(TABLES, 4, INFINITY, &filled);
    tamis_fluid_churn(TABLES, 4, INFINITY, &churned);
    record_fluid(run, "filled.7", "share of buckets over 6, filled once", "5.6e-31",
                 tamis_fluid_share(&filled, 7));
    record_fluid(run, "churned.7", "the same under churn", NULL, tamis_fluid_share(&churned, 7));
    record_fluid(run, "churned.put", "P[a put finds 3 full buckets]", NULL,
                 tamis_fluid_all(&churned, CELLS));
    record_fluid(run, "churned.steps", "such puts in 2^20", NULL,
                 (double)STEPS * tamis_fluid_all(&churned, CELLS));
    record_fluid(run, "churned.7cells", "P[a put finds 3 full], 7 cells", NULL,
                 tamis_fluid_all(&churned, CELLS + 1));
    record_fluid(run, "churned.3.75", "P[a put finds 3 full], 3.75 in 6 cells", NULL,
                 chance_of(3.75, CELLS));
    record_fluid(run, "churned.3.5", "P[a put finds 3 full], 3.5 in 6 cells", NULL,
                 chance_of(3.5, CELLS));
}

typedef struct share_row {
    const char *name;
    unsigned    load;
    double      exact;
} share_row;

/* The share of buckets with this many keys; or their number, if they are few. */
static void record_share(lab_run *run, const acsm_outcome *outcomes, uint64_t n,
                         const share_row *row) {
    lab_sample   sample = { 0 };
    double const expected = row->exact * ALL_BUCKETS * (double)n;
    bool const   is_few = expected < 100;
    for (uint64_t i = 0; i < n; i++) {
        lab_sample_add(&sample, (double)outcomes[i].buckets[row->load] / ALL_BUCKETS);
    }
    lab_row shown = { .name = lab_text(run, "%s.load.%u", row->name, row->load),
                      .label = lab_text(run, "share with %u or more, %s", row->load, row->name),
                      .exact = row->exact,
                      .measured = lab_sample_mean(&sample, 0),
                      LAB_WITHIN_4_SIGMA };
    if (is_few) {
        shown.label = lab_text(run, "buckets with %u or more, %s", row->load, row->name);
        shown.exact = expected;
        shown.measured =
            (lab_measured){ .value = round(sample.mean * ALL_BUCKETS * (double)n), .trials = n };
        shown.rule = LAB_COUNT;
        shown.tolerance = 1e-4;
        shown.reason = "the number of rare events is Poisson";
    }
    lab_record(run, &shown);
}

/* Loads of tables, after filling or under churn. */
static void record_loads(lab_run *run, bool is_churned) {
    const char *const name = is_churned ? "churned" : "filled";
    acsm_config const config = {
        .load = 4, .cells = CELLS, .print_bits = 20, .is_permuted = true, .is_churned = is_churned
    };
    uint64_t const      n = run->is_full ? (is_churned ? 2000 : 400) : 6;
    acsm_outcome *const outcomes = run_trials(run, name, &config, n);
    uint64_t            refused = 0;
    fluid               law;
    if (is_churned)
        tamis_fluid_churn(TABLES, 4, INFINITY, &law);
    else
        tamis_fluid_fill(TABLES, 4, INFINITY, &law);
    for (uint64_t i = 0; i < n; i++) refused += outcomes[i].refused;
    for (unsigned j = 4; j <= CELLS; j++) {
        record_share(run, outcomes, n, &(share_row){ name, j, tamis_fluid_share(&law, j) });
    }
    free(outcomes);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.refused", name),
                                .label = lab_text(run, "puts refused, %s", name),
                                .exact = is_churned ? (double)(n * STEPS) * chance_of(4, CELLS) : 0,
                                .measured = { .value = (double)refused, .trials = n },
                                .rule = is_churned ? LAB_COUNT : LAB_EQUAL,
                                .tolerance = 1e-4,
                                .reason = "the number of rare events is Poisson" });
}

void fcf_overflow_run(lab_run *run) {
    static const overflow_row rows[] = {
        { "4.125", 4.125, CELLS, false, 0, 6, 200 },
        { "4.250", 4.25, CELLS, false, 0, 3, 40 },
        { "4.250.moved", 4.25, CELLS, true, 1, 3, 40 },
        { "4.750.moved", 4.75, CELLS, true, 1, 2, 40 },
        { "7cells", 4.25, CELLS + 1, false, 0, 2, 40 },
    };
    record_limits(run);
    record_loads(run, false);
    record_loads(run, true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) record_refusals(run, &rows[i]);
}

/* ------------------------------------------------------------------ unknown keys, by theory
 *
 * Apart, X is unknown when a later Y with the same print goes to a bucket that X had, too, and did
 * not take. So count, for a bucket, pairs of a key that it did not take and a later one that it
 * took. Keys come to a bucket at random, and are taken according to its load and to those of other
 * buckets, which are independent of it. Let u(l) be the chance that it has l keys, and m(l) the
 * mean number of keys that it did not take, where it has l:
 *
 *     u(l)' =  comes (t(l-1) u(l-1) - t(l) u(l))                       + goes
 *     m(l)' =  comes (t(l-1) m(l-1) - t(l) m(l) + (1 - t(l)) u(l))     + goes
 *
 * and pairs come at a rate of sum t(l) m(l). t(l) is the chance that a bucket of subtable i is
 * taken: those to the left have more than l, those to the right at least l.
 */

#define TOP 14     /* loads beyond are nothing */
#define PARTS 2000 /* of a unit of time */

typedef struct pair_law {
    double u[TOP + 2], m[TOP + 2], count; /* of a bucket of subtable i; count: of pairs */
} pair_law;

static double taken(const fluid *law, unsigned i, unsigned load) {
    double chance = 1;
    for (unsigned k = 0; k < i; k++) chance *= law->x[k][load + 1];
    for (unsigned k = i + 1; k < TABLES; k++) chance *= law->x[k][load];
    return chance;
}

/* A short time, in which `comes` keys come to a bucket and each key leaves with the probability
 * `goes`. */
static void pairs_go_on(const fluid *law, unsigned i, double comes, double goes, pair_law *pairs) {
    pair_law const was = *pairs;
    for (unsigned l = 0; l <= TOP; l++) {
        double const t = l < TOP ? taken(law, i, l) : 0, below = l > 0 ? taken(law, i, l - 1) : 0;
        double const u_below = l > 0 ? was.u[l - 1] : 0, m_below = l > 0 ? was.m[l - 1] : 0;
        pairs->u[l] += comes * (below * u_below - t * was.u[l]);
        pairs->u[l] += goes * ((l + 1) * was.u[l + 1] - l * was.u[l]);
        pairs->m[l] += comes * (below * m_below - t * was.m[l] + (1 - t) * was.u[l]);
        pairs->m[l] += goes * ((l + 1) * was.m[l + 1] - l * was.m[l] - was.m[l]);
        pairs->count += comes * t * was.m[l];
    }
    pairs->count -= 2 * goes * was.count;
}

/* The share of unknown keys at a load of 4, of prints of which there are this many. */
static double unknown_share(bool is_churned, double prints) {
    pair_law laws[TABLES] = { { .u = { 1 } }, { .u = { 1 } }, { .u = { 1 } } };
    double   pairs = 0;
    fluid    law;
    tamis_fluid_fill(TABLES, 0, INFINITY, &law);
    for (unsigned part = 0; part < 4 * PARTS; part++) {
        tamis_fluid_go_on(&law, (part + 0.5) / PARTS);
        for (unsigned i = 0; i < TABLES; i++)
            pairs_go_on(&law, i, (double)TABLES / PARTS, 0, &laws[i]);
    }
    if (is_churned) tamis_fluid_churn(TABLES, 4, INFINITY, &law);
    for (unsigned part = 0; is_churned && part < 20 * PARTS; part++) {
        for (unsigned i = 0; i < TABLES; i++) {
            pairs_go_on(&law, i, 4.0 * TABLES / PARTS, 1.0 / PARTS, &laws[i]);
        }
    }
    for (unsigned i = 0; i < TABLES; i++) pairs += laws[i].count;
    return pairs / prints / (4 * TABLES);
}

/* ------------------------------------------------------------------ rates */

#define PRINT_BITS 12

static void record_count(lab_run *run, const char *name, const char *label, double exact,
                         double measured, uint64_t n) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .exact = exact,
                                .measured = { .value = measured, .trials = n },
                                .rule = exact == 0 ? LAB_EQUAL : LAB_COUNT,
                                .tolerance = 1e-4,
                                .reason = exact == 0 ? "it cannot happen"
                                                     : "the number of rare events is Poisson" });
}

typedef struct sums {
    double hits, unknown, moved, stuck, wrong, bits;
} sums;

static sums sum_of(const acsm_outcome *outcomes, uint64_t n) {
    sums sum = { .bits = (double)outcomes[0].bits };
    for (uint64_t i = 0; i < n; i++) {
        sum.hits += (double)outcomes[i].hits;
        sum.unknown += (double)outcomes[i].unknown;
        sum.moved += (double)outcomes[i].unknown_moved;
        sum.stuck += (double)outcomes[i].stuck;
        sum.wrong += (double)outcomes[i].wrong;
    }
    return sum;
}

/* The rate of absent keys: computed from the cells in use, and the paper's bound over all cells. */
static void record_strangers(lab_run *run, const char *name, const sums *sum, uint64_t n) {
    double const prints = BUCKETS * (ldexp(1, PRINT_BITS) - 1), asked = QUERIES * (double)n;
    double const rate = -expm1(4.0 * ALL_BUCKETS * log1p(-1 / prints));
    double const sigma = theory_rate_sigma(rate, 0, (double)n, QUERIES);
    lab_record(
        run,
        &(lab_row){ .name = lab_text(run, "%s.strangers", name),
                    .label = lab_text(run, "false positives, %s", name),
                    .exact = rate,
                    .measured = { .value = sum->hits / asked, .trials = n, .sigma_theory = sigma },
                    LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.bound", name),
                                .label = "the paper's bound, d h 2^-f",
                                .exact = TABLES * CELLS * ldexp(1, -PRINT_BITS),
                                .measured = { .value = sum->hits / asked, .trials = n },
                                .rule = LAB_AT_MOST,
                                .reason = "a union bound over all cells" });
}

/* Present keys, after filling once. */
static void record_rates(lab_run *run, bool is_permuted) {
    const char *const   name = is_permuted ? "permuted" : "apart";
    acsm_config const   config = { .load = 4,
                                   .cells = CELLS,
                                   .print_bits = PRINT_BITS,
                                   .is_permuted = is_permuted,
                                   .is_asked = true };
    uint64_t const      n = run->is_full ? 400 : 8;
    acsm_outcome *const outcomes = run_trials(run, name, &config, n);
    sums const          sum = sum_of(outcomes, n);
    double const        keys = 4.0 * ALL_BUCKETS * (double)n;
    double const        share = is_permuted ? 0 : unknown_share(false, ldexp(1, PRINT_BITS) - 1);
    free(outcomes);
    record_strangers(run, name, &sum, n);
    record_count(run, lab_text(run, "%s.unknown", name), lab_text(run, "unknown keys, %s", name),
                 keys * share, sum.unknown, n);
    record_count(run, lab_text(run, "%s.moved", name),
                 lab_text(run, "unknown pairs after moving all, %s", name), keys * share,
                 sum.moved / 2, n);
    record_count(run, lab_text(run, "%s.wrong", name), lab_text(run, "wrong or lost, %s", name), 0,
                 sum.wrong, n);
    double const bits = CELLS * (PRINT_BITS + 3 + !is_permuted);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.bits", name),
                                .label = lab_text(run, "total bits, d b h (f + x), %s", name),
                                .exact = ALL_BUCKETS * 8 * ceil(bits / 8),
                                .measured = lab_computed(sum.bits),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic; buckets are whole bytes" });
}

/* When keys are added and removed: unknown keys cannot be removed and stay. They are so few that
 * they hardly change the other rates. */
static void record_churn(lab_run *run, bool is_permuted) {
    const char *const   name = is_permuted ? "permuted" : "apart";
    acsm_config const   config = { .load = 4,
                                   .cells = CELLS + 1,
                                   .print_bits = PRINT_BITS + 4,
                                   .is_permuted = is_permuted,
                                   .is_churned = true,
                                   .is_asked = true };
    uint64_t const      n = run->is_full ? 100 : 4;
    acsm_outcome *const outcomes = run_trials(run, lab_text(run, "%s.churn", name), &config, n);
    sums const          sum = sum_of(outcomes, n);
    double const        prints = ldexp(1, PRINT_BITS + 4) - 1, keys = 4.0 * ALL_BUCKETS * (double)n;
    double const        share = is_permuted ? 0 : unknown_share(true, prints);
    double const        drops = (double)n * ((double)STEPS + WARM_UP * 4.0 * ALL_BUCKETS);
    free(outcomes);
    record_count(run, lab_text(run, "%s.churn.unknown", name),
                 lab_text(run, "unknown keys after 2^20 steps, %s", name), keys * share,
                 sum.unknown, n);
    record_count(run, lab_text(run, "%s.churn.stuck", name),
                 lab_text(run, "drops refused, %s", name), drops * share, sum.stuck, n);
    record_count(run, lab_text(run, "%s.churn.wrong", name),
                 lab_text(run, "wrong or lost, %s", name), 0, sum.wrong, n);
}

void fcf_rates_run(lab_run *run) {
    for (unsigned i = 0; i < 2; i++) {
        record_rates(run, i != 0);
        record_churn(run, i != 0);
    }
}
