/* dlcbf_moves.c - section 5.2: how much fuller a table gets if cells may move.
 *
 * When all buckets of a new key are full, a cell of one of them may go to another of its own
 * buckets. The paper moves only cells of the first bucket, and says that "greater loads
 * could be handled by allowing more movement". Three rules are compared:
 *
 *     first   a cell of the bucket in the first subtable moves: the paper's rule, and the library's
 *     any     a cell of any of the four buckets moves
 *     two     as any, and if that fails, a cell moves after another one has made room for it
 *
 * The law: with x(i) the share of full buckets of subtable i, all buckets of a new key are full
 * with the chance e = x(1) x(2) x(3) x(4). A cell of subtable i cannot move if its three other
 * buckets are full, q(i) = e / x(i), and none of 8 can with the chance q(i)^8. So an add is refused
 * with
 *
 *     first   e q(1)^8
 *     any     e q(1)^8 q(2)^8 q(3)^8 q(4)^8
 *     two     e, times for each i and each of its 8 cells the product over the other subtables k
 *             of x(k) q(k)^8
 *
 * and x(i) follows from the equations of theory/fluid.h, in which a key that finds four full
 * buckets makes another one longer. This assumes that the buckets of a key are independent. They
 * are not quite: when the key was added, its own bucket had the smallest load.
 */
#include "dlcbf.h"

#include <math.h>
#include <stdlib.h>

#define D DLCBF_PAPER_TABLES
#define BUCKETS DLCBF_PAPER_BUCKETS
#define CELLS DLCBF_PAPER_CELLS

typedef enum move_rule { MOVE_NONE, MOVE_FIRST, MOVE_ANY, MOVE_TWO } move_rule;

/* ------------------------------------------------------------------ the law */

#define STEPS_PER_LIFE 200
#define LIVES 20

typedef struct move_law {
    double x[D][CELLS + 2];
} move_law;

static double full_but(const move_law *law, unsigned table) {
    double product = 1;
    for (unsigned k = 0; k < D; k++) product *= k == table ? 1 : law->x[k][CELLS];
    return product;
}

/* P[none of 8 cells of a full bucket of this subtable can move]. */
static double none_moves(const move_law *law, unsigned table) {
    return pow(full_but(law, table), CELLS);
}

/* P[a cell of this subtable cannot move, even if another one makes room for it]. */
static double stuck_twice(const move_law *law, unsigned table) {
    double product = 1;
    for (unsigned k = 0; k < D; k++)
        product *= k == table ? 1 : law->x[k][CELLS] * none_moves(law, k);
    return product;
}

static double refused_share(const move_law *law, move_rule rule) {
    double share = full_but(law, D);
    if (rule == MOVE_FIRST) return share * none_moves(law, 0);
    for (unsigned i = 0; i < D && rule == MOVE_ANY; i++) share *= none_moves(law, i);
    for (unsigned i = 0; i < D && rule == MOVE_TWO; i++) share *= pow(stuck_twice(law, i), CELLS);
    return share;
}

/* P[a key comes to (i, j)], for a key that has no bucket in subtable `not`. With `not` = D it is a
 * new key, which has all. */
static double comes_to(const move_law *law, unsigned i, unsigned j, unsigned not ) {
    double chance = i == not ? 0 : law->x[i][j - 1] - law->x[i][j];
    for (unsigned k = 0; k < i; k++) chance *= k == not ? 1 : law->x[k][j];
    for (unsigned k = i + 1; k < D; k++) chance *= k == not ? 1 : law->x[k][j - 1];
    return chance;
}

/* P[the cell that moves is one of subtable i], of a key that found all buckets full. */
static void who_moves(const move_law *law, move_rule rule, double ret_chance[D]) {
    double left = full_but(law, D);
    for (unsigned i = 0; i < D; i++) {
        bool const may = rule == MOVE_FIRST ? i == 0 : rule != MOVE_NONE;
        ret_chance[i] = may ? left * (1 - none_moves(law, i)) : 0;
        left -= ret_chance[i];
    }
    /* The last cell of two steps may be anywhere; there are few of them. */
    for (unsigned i = 0; i < D && rule == MOVE_TWO; i++) ret_chance[i] += left / D;
}

/* The slope per lifetime of a key: keys that are added, keys that are moved, and keys that are
 * removed. */
static void move_slope(const move_law *law, move_rule rule, double load, move_law *ret_slope) {
    double moves[D];
    who_moves(law, rule, moves);
    for (unsigned i = 0; i < D; i++) {
        for (unsigned j = 1; j <= CELLS; j++) {
            double comes = comes_to(law, i, j, D);
            for (unsigned from = 0; from < D; from++) {
                double const blocked = full_but(law, from);
                if (moves[from] > 0 && blocked < 1)
                    comes += moves[from] * comes_to(law, i, j, from) / (1 - blocked);
            }
            double const accepted = 1 - refused_share(law, rule);
            ret_slope->x[i][j] = D * load * comes / accepted;
            ret_slope->x[i][j] -= j * (law->x[i][j] - law->x[i][j + 1]);
        }
    }
}

static void move_step(const move_law *from, const move_law *slope, double step, move_law *ret_to) {
    for (unsigned i = 0; i < D; i++) {
        ret_to->x[i][0] = 1;
        ret_to->x[i][CELLS + 1] = 0;
        for (unsigned j = 1; j <= CELLS; j++)
            ret_to->x[i][j] = from->x[i][j] + step * slope->x[i][j];
    }
}

/* Solve the equations by the midpoint method, from buckets of the mean load, until they are at
 * rest. */
static void move_solve(move_rule rule, double load, move_law *ret_law) {
    double const step = 1.0 / STEPS_PER_LIFE;
    move_law     slope, middle;
    for (unsigned i = 0; i < D; i++) {
        for (unsigned j = 0; j <= CELLS + 1; j++)
            ret_law->x[i][j] = j > CELLS ? 0 : fmax(0, fmin(1, load + 1 - j));
    }
    for (unsigned part = 0; part < LIVES * STEPS_PER_LIFE; part++) {
        move_slope(ret_law, rule, load, &slope);
        move_step(ret_law, &slope, step / 2, &middle);
        move_slope(&middle, rule, load, &slope);
        move_step(ret_law, &slope, step, ret_law);
    }
}

static double law_refused(move_rule rule, double load) {
    move_law law;
    move_solve(rule, load, &law);
    return refused_share(&law, rule);
}

/* The load at which a share of the adds is refused. */
static double law_load(move_rule rule, double share) {
    double low = 5, high = CELLS - 1e-3;
    while (high - low > 1e-4) {
        double const middle = (low + high) / 2;
        if (law_refused(rule, middle) < share)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ------------------------------------------------------------------ a table with any rule */

typedef struct move_key {
    uint16_t bucket[D];
    uint8_t  table;
} move_key;

typedef struct move_table {
    move_rule rule;
    uint32_t  cell[D][BUCKETS][CELLS]; /* numbers of keys */
    uint8_t   load[D][BUCKETS];
    uint64_t  n;
    move_key *keys;
} move_table;

/* The least loaded bucket of a key, the leftmost of several. */
static unsigned least_of(const move_table *table, const move_key *key) {
    unsigned best = 0;
    for (unsigned i = 1; i < D; i++) {
        if (table->load[i][key->bucket[i]] < table->load[best][key->bucket[best]]) best = i;
    }
    return best;
}

static bool has_room(const move_table *table, const move_key *key, unsigned i) {
    return table->load[i][key->bucket[i]] < CELLS;
}

static void append(move_table *table, uint32_t number, unsigned i) {
    move_key *const key = &table->keys[number];
    unsigned const  bucket = key->bucket[i];
    table->cell[i][bucket][table->load[i][bucket]++] = number;
    key->table = (uint8_t)i;
}

/* The last cell takes the place of one that goes, as in the library. It matters: which cell of a
 * bucket is tried first changes the share of refused adds by up to 10%. */
static void take_out_cell(move_table *table, unsigned i, unsigned bucket, unsigned cell) {
    table->cell[i][bucket][cell] = table->cell[i][bucket][--table->load[i][bucket]];
}

/* Make room in a full bucket: the first of its keys that can goes to another bucket. */
static bool make_room(move_table *table, unsigned i, unsigned bucket) {
    for (unsigned cell = 0; cell < CELLS; cell++) {
        uint32_t const number = table->cell[i][bucket][cell];
        unsigned const to = least_of(table, &table->keys[number]);
        if (!has_room(table, &table->keys[number], to)) continue;
        take_out_cell(table, i, bucket, cell);
        append(table, number, to);
        return true;
    }
    return false;
}

/* The same, after some key has made room in another bucket of the one that goes. */
static bool make_room_twice(move_table *table, unsigned i, unsigned bucket) {
    for (unsigned cell = 0; cell < CELLS; cell++) {
        uint32_t const number = table->cell[i][bucket][cell];
        for (unsigned k = 0; k < D; k++) {
            if (k == i || !make_room(table, k, table->keys[number].bucket[k])) continue;
            take_out_cell(table, i, bucket, cell);
            append(table, number, k);
            return true;
        }
    }
    return false;
}

/* Make room for a key whose buckets are all full. */
static bool push_in(move_table *table, uint32_t number) {
    const move_key *const key = &table->keys[number];
    unsigned const        tables = table->rule == MOVE_NONE ? 0 : table->rule == MOVE_FIRST ? 1 : D;
    for (unsigned i = 0; i < tables; i++) {
        if (!make_room(table, i, key->bucket[i])) continue;
        append(table, number, i);
        return true;
    }
    for (unsigned i = 0; i < D && table->rule == MOVE_TWO; i++) {
        if (!make_room_twice(table, i, key->bucket[i])) continue;
        append(table, number, i);
        return true;
    }
    return false;
}

static bool add(move_table *table, uint32_t number, lab_random *random) {
    move_key *const key = &table->keys[number];
    uint64_t const  drawn = lab_random_next(random);
    for (unsigned i = 0; i < D; i++) key->bucket[i] = (drawn >> (16 * i)) % BUCKETS;
    unsigned const least = least_of(table, key);
    if (!has_room(table, key, least)) return push_in(table, number);
    append(table, number, least);
    return true;
}

static void take_out(move_table *table, uint32_t number) {
    const move_key *const key = &table->keys[number];
    unsigned const        i = key->table, bucket = key->bucket[i];
    unsigned              cell = 0;
    while (table->cell[i][bucket][cell] != number) cell++;
    take_out_cell(table, i, bucket, cell);
}

typedef struct move_given {
    move_rule rule;
    double    load;
    uint64_t  steps;
} move_given;

static void move_trial(const void *given, lab_random *random, void *ret_outcome) {
    const move_given *const    config = given;
    dlcbf_churn_outcome *const outcome = ret_outcome;
    move_table *const          table = lab_allocate(1, sizeof *table);
    table->rule = config->rule;
    table->n = (uint64_t)(config->load * D * BUCKETS);
    table->keys = lab_allocate(table->n, sizeof *table->keys);
    uint64_t const warm_up = DLCBF_WARM_UP * table->n, steps = warm_up + config->steps;
    for (uint32_t i = 0; i < table->n; i++)
        while (!add(table, i, random)) outcome->refused++;
    for (uint64_t i = 0; i < steps; i++) {
        uint32_t const number = (uint32_t)lab_random_below(random, table->n);
        if (i == warm_up) outcome->refused = outcome->adds = 0;
        take_out(table, number);
        for (outcome->adds++; !add(table, number, random); outcome->adds++) outcome->refused++;
    }
    free(table->keys);
    free(table);
}

static dlcbf_churn_outcome *run_rule(const lab_run *run, const char *stream,
                                     const move_given *given, uint64_t n) {
    lab_series const series = { .stream = stream,
                                .n = n,
                                .trial = move_trial,
                                .given = given,
                                .outcome_bytes = sizeof(dlcbf_churn_outcome) };
    return lab_trials(run, &series);
}

/* ------------------------------------------------------------------ rows */

#define SHARE 1e-3   /* of adds that are refused: one in a thousand */
#define APART 0.06   /* between the two loads at which refusals are counted */
#define NEARLY 7.95  /* of 8 cells */
#define LIBRARY 7.65 /* keys per bucket of the library's own tables */
#define STEPS (UINT64_C(1) << 18)

static uint64_t trials_of(const lab_run *run) {
    return run->is_full ? 60 : 3;
}

static double refused_of(const dlcbf_churn_outcome *outcomes, uint64_t n) {
    double refused = 0, adds = 0;
    for (uint64_t i = 0; i < n; i++) {
        refused += (double)outcomes[i].refused;
        adds += (double)outcomes[i].adds;
    }
    return refused / adds;
}

static double seen_at(const lab_run *run, const char *name, move_rule rule, double load) {
    move_given const           given = { .rule = rule, .load = load, .steps = STEPS };
    dlcbf_churn_outcome *const outcomes = run_rule(run, name, &given, trials_of(run));
    double const               share = refused_of(outcomes, trials_of(run));
    free(outcomes);
    return share;
}

/* Where the share of refused adds is SHARE: its logarithm is a straight line between two loads that
 * are near. */
static double seen_load(lab_run *run, const char *name, move_rule rule, double high) {
    double const low = high - APART;
    double const below = log(seen_at(run, lab_text(run, "%s.low", name), rule, low));
    double const above = log(seen_at(run, lab_text(run, "%s.high", name), rule, high));
    return low + APART * (log(SHARE) - below) / (above - below);
}

typedef struct move_row {
    const char *name, *label;
    move_rule   rule;
    double      tolerance;
    const char *reason;
} move_row;

static void record_load(lab_run *run, const move_row *row) {
    double const exact = law_load(row->rule, SHARE);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.load", row->name),
                                .label = row->label,
                                .exact = exact,
                                .measured = { .value = seen_load(run, row->name, row->rule, exact),
                                              .trials = 2 * trials_of(run) },
                                .rule = LAB_RELATIVE,
                                .tolerance = row->tolerance,
                                .reason = row->reason,
                                .remark = lab_text(
                                    run, "By the law, one add in a million is refused at %.2f.",
                                    law_load(row->rule, 1e-6)) });
}

static void record_two(lab_run *run) {
    double const adds = (double)(trials_of(run) * STEPS);
    lab_record(run, &(lab_row){ .name = "two.refused",
                                .label = "two steps: adds refused at 7.95 of 8",
                                .exact = adds * law_refused(MOVE_TWO, NEARLY),
                                .measured = { .value = adds * seen_at(run, "two", MOVE_TWO, NEARLY),
                                              .trials = trials_of(run) },
                                .rule = LAB_COUNT,
                                .tolerance = 1e-4,
                                .reason = "the number of rare events is Poisson" });
}

static lab_sample sample_refused(const dlcbf_churn_outcome *outcomes, uint64_t n) {
    lab_sample sample = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&sample, refused_of(&outcomes[i], 1));
    return sample;
}

/* The library moves cells of the first bucket, and finds buckets by permutations. */
static void record_library(lab_run *run) {
    uint64_t const             n = 4 * trials_of(run);
    move_given const           given = { .rule = MOVE_FIRST, .load = LIBRARY, .steps = STEPS };
    dlcbf_shape const          shape = { .buckets = BUCKETS,
                                         .cells = CELLS,
                                         .bits = 24,
                                         .moves = 1,
                                         .keys = (uint64_t)(LIBRARY * D * BUCKETS),
                                         .steps = STEPS };
    dlcbf_churn_outcome *const lab = run_rule(run, "library.lab", &given, n);
    dlcbf_churn_outcome *const library = dlcbf_churn_trials(run, "library", &shape, n);
    lab_sample const           exact = sample_refused(lab, n), seen = sample_refused(library, n);
    double const               deviation = lab_sample_deviation(&exact);
    lab_record(run,
               &(lab_row){ .name = "first.library",
                           .label = "library: share of adds refused at 7.65",
                           .exact = exact.mean,
                           .measured = lab_sample_mean(&seen, deviation * sqrt(2.0 / (double)n)),
                           LAB_WITHIN_4_SIGMA,
                           .remark = "Exact is the lab's own table, with independent "
                                     "buckets." });
    free(lab);
    free(library);
}

void dlcbf_moves(lab_run *run) {
    static const move_row rows[] = {
        { "none", "no moves: load, 1 add in 1000 refused", MOVE_NONE, 0.002,
          "a scatter of 5% in the refusals shifts the load by 0.1%" },
        { "first", "first bucket moves: load, 1 in 1000", MOVE_FIRST, 0.01,
          "the law takes a key's buckets for independent, but they were fuller than its own" },
        { "any", "any bucket moves: load, 1 in 1000", MOVE_ANY, 0.01,
          "the law takes a key's buckets for independent, but they were fuller than its own" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) record_load(run, &rows[i]);
    record_two(run);
    record_library(run);
}
