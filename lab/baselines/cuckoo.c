/* cuckoo.c - section II.D: fingerprints in a cuckoo table, for keys known beforehand.
 *
 * Buckets of one cell, four places for each key. All keys are known, so keys can be moved until
 * each has a cell. Whether that is possible is a matching problem, which is solved here with
 * augmenting paths, breadth first. The load up to which it is possible in large tables is known
 * (Dietzfelbinger, Goerdt, Mitzenmacher, Montanari, Pagh, Rink: "Tight thresholds for cuckoo
 * hashing via XORSAT", 2010). The library has no such kind: nothing can be added to it later.
 */
#include "baselines.h"

#include "frame/theory.h"

#include <math.h>
#include <stdlib.h>

#define CHOICES 4
#define CELLS 16384u
#define NONE UINT32_MAX
#define PRINT_BITS 8
#define QUERIES 200000u

/* ------------------------------------------------------------------ a table */

typedef struct cuckoo {
    uint32_t (*places)[CHOICES]; /* of each key */
    uint32_t *owner;             /* of each cell: a key, or NONE */
    uint32_t *came_from;         /* of each cell that was reached: the cell before, or itself */
    uint32_t *reached;           /* by the search for this key, plus 1 */
    uint32_t *queue;
    uint32_t  keys;
} cuckoo;

static cuckoo cuckoo_make(void) {
    cuckoo table = { .places = lab_allocate(CELLS, sizeof *table.places),
                     .owner = lab_allocate(CELLS, sizeof(uint32_t)),
                     .came_from = lab_allocate(CELLS, sizeof(uint32_t)),
                     .reached = lab_allocate(CELLS, sizeof(uint32_t)),
                     .queue = lab_allocate(CELLS, sizeof(uint32_t)) };
    for (unsigned i = 0; i < CELLS; i++) table.owner[i] = NONE;
    return table;
}

static void cuckoo_free(cuckoo *table) {
    free(table->places);
    free(table->owner);
    free(table->came_from);
    free(table->reached);
    free(table->queue);
}

/* Go from the free cell back to the first one, and move each key to the next cell of the path. */
static void cuckoo_move(cuckoo *table, uint32_t cell, uint32_t key) {
    while (table->came_from[cell] != cell) {
        table->owner[cell] = table->owner[table->came_from[cell]];
        cell = table->came_from[cell];
    }
    table->owner[cell] = key;
}

/* Add the cells of a key, which are reached from `from`, to the queue. Returns its new length. */
static uint32_t cuckoo_reach(cuckoo *table, uint32_t key, uint32_t from, uint32_t end) {
    for (unsigned i = 0; i < CHOICES; i++) {
        uint32_t const cell = table->places[key][i];
        if (table->reached[cell] == table->keys + 1) continue;
        table->reached[cell] = table->keys + 1;
        table->came_from[cell] = from != NONE ? from : cell;
        table->queue[end++] = cell;
    }
    return end;
}

/* Place one more key. False: it is impossible, even if other keys are moved. */
static bool cuckoo_add(cuckoo *table, lab_random *random) {
    uint32_t const key = table->keys;
    for (unsigned i = 0; i < CHOICES; i++) {
        table->places[key][i] = (uint32_t)lab_random_below(random, CELLS);
    }
    uint32_t end = cuckoo_reach(table, key, NONE, 0);
    for (uint32_t at = 0; at < end; at++) {
        uint32_t const cell = table->queue[at];
        if (table->owner[cell] == NONE) {
            cuckoo_move(table, cell, key);
            table->keys++;
            return true;
        }
        end = cuckoo_reach(table, table->owner[cell], cell, end);
    }
    return false;
}

/* ------------------------------------------------------------------ trials */

typedef struct cuckoo_outcome {
    double load; /* when the first key could not be placed */
    double hits; /* of the queries, at 1.05 cells for each key */
} cuckoo_outcome;

/* A query compares its fingerprint with those of four random cells. */
static double ask(const cuckoo *table, lab_random *random) {
    uint8_t *const print = lab_allocate(CELLS, 1);
    double         hits = 0;
    for (unsigned i = 0; i < CELLS; i++) print[i] = (uint8_t)lab_random_next(random);
    for (unsigned query = 0; query < QUERIES; query++) {
        uint64_t bits = lab_random_next(random);
        bool     is_found = false;
        for (unsigned i = 0; i < CHOICES; i++) {
            uint64_t const cell = lab_random_below(random, CELLS);
            is_found |= table->owner[cell] != NONE && print[cell] == (uint8_t)(bits >> (8 * i));
        }
        hits += is_found;
    }
    free(print);
    return hits;
}

static void cuckoo_trial(const void *given, lab_random *random, void *ret_outcome) {
    const double *const   cells_per_key = given;
    cuckoo_outcome *const outcome = ret_outcome;
    cuckoo                table = cuckoo_make();
    uint32_t const        target = (uint32_t)(CELLS / *cells_per_key);
    bool                  is_placed = true;
    while (is_placed && table.keys < target) is_placed = cuckoo_add(&table, random);
    outcome->hits = is_placed ? ask(&table, random) : NAN;
    while (is_placed && table.keys < CELLS) is_placed = cuckoo_add(&table, random);
    outcome->load = (double)table.keys / CELLS;
    cuckoo_free(&table);
}

/* ------------------------------------------------------------------ theory and rows */

/* The load up to which all keys of a large table can be placed. Take away cells with fewer than two
 * keys, again and again; what is left is the core. The limit is reached when the core has as many
 * keys as cells. */
static double threshold(double choices) {
    double low = 1e-3, high = 20;
    for (unsigned i = 0; i < 100; i++) {
        double const x = (low + high) / 2, keys = x * expm1(x) / (expm1(x) - x);
        if (keys < choices)
            low = x;
        else
            high = x;
    }
    return low / (choices * pow(-expm1(-low), choices - 1));
}

static void record_trials(lab_run *run, double cells_per_key) {
    lab_series const      series = { .stream = "fill",
                                     .n = run->is_full ? 200 : 16,
                                     .trial = cuckoo_trial,
                                     .given = &cells_per_key,
                                     .outcome_bytes = sizeof(cuckoo_outcome) };
    cuckoo_outcome *const outcomes = lab_trials(run, &series);
    double const          load = floor(CELLS / cells_per_key) / CELLS;
    double const          rate = 1 - pow(1 - load * exp2(-PRINT_BITS), CHOICES);
    lab_sample            first = { 0 }, asked = { 0 };
    double                refused = 0;
    for (uint64_t i = 0; i < series.n; i++) {
        bool const is_refused = isnan(outcomes[i].hits);
        refused += is_refused;
        lab_sample_add(&first, outcomes[i].load);
        if (!is_refused) lab_sample_add(&asked, outcomes[i].hits / QUERIES);
    }
    lab_record(run, &(lab_row){ .name = "105.refused",
                                .label = "tables of 1.05 cells per key that fail",
                                .measured = { .value = refused, .trials = series.n },
                                .rule = LAB_EQUAL,
                                .reason = "far from the threshold, by theory" });
    lab_record(run, &(lab_row){ .name = "threshold",
                                .label = "share of cells used at the first failure",
                                .exact = threshold(CHOICES),
                                .measured = lab_sample_mean(&first, 0),
                                .rule = LAB_RELATIVE,
                                .tolerance = 0.01,
                                .reason = "theory is of large tables; in one of 2^14 cells the "
                                          "threshold is not sharper than 2^-7",
                                .remark = "So 1.024 cells per key are enough; the paper says less "
                                          "than 1.05." });
    lab_record(run, &(lab_row){ .name = "105.rate",
                                .label = "false positives, fingerprints of 8 bits",
                                .exact = rate,
                                .measured = lab_sample_mean(
                                    &asked, theory_rate_sigma(rate, 0, (double)asked.n, QUERIES)),
                                LAB_WITHIN_4_SIGMA });
    free(outcomes);
}

/* For d-left Bloom filters, and Bloom filters of as many bits, see dlbf.rates. */
static void record_offline(lab_run *run, double bits, double cells_per_key) {
    double const print = floor(bits / cells_per_key);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%.0f.perfect", bits),
                           .label = lab_text(run, "perfect hash, %.0f bits per key: rate", bits),
                           .exact = exp2(-bits),
                           .rule = LAB_EQUAL,
                           .reason = "arithmetic",
                           .remark = "Without the bits of the hash function itself." });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%.0f.cuckoo", bits),
                                .label = lab_text(run, "cuckoo, %.2f bits per key: rate",
                                                  print * cells_per_key),
                                .exact = CHOICES / cells_per_key * exp2(-print),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
}

void baselines_cuckoo(lab_run *run) {
    double const cells_per_key = 1.05;
    record_trials(run, cells_per_key);
    record_offline(run, 16, cells_per_key);
    record_offline(run, 20, cells_per_key);
}
