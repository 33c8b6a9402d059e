/* larger.c - section 3.4: "higher utilizations and hence less overall space is possible by using
 * larger values of d, f, and h".
 *
 * The paper's table has d = 3, h = 6 and u = 2/3, for insertions only. Here keys are added and
 * removed, and tables are so full that one put in 10^10 fails. With more keys in the buckets of a
 * lookup the fingerprint must be longer: f = log2(d load / fpr), which is why f is in the list.
 */
#include "sigcomm2006.h"

#include "theory/fluid.h"

#include <tamis/tamis.h>

#include <math.h>
#include <stdlib.h>

#define SAFE 1e-10 /* P[a put finds all buckets full] */
#define FULL 2e-5  /* the same, in tables that are made to fail */
#define RATE 1e-3  /* the share of absent keys that match another key */
#define STATE_BITS 3
#define WARM_UP 8 /* lives of a key */
#define STEPS (UINT64_C(1) << 19)
#define QUICK_TRIALS 2
#define FULL_TRIALS 40

typedef struct larger_shape {
    unsigned tables, cells, buckets; /* buckets of each subtable, in the tables that are made */
} larger_shape;

static double chance_full(const larger_shape *shape, double load) {
    fluid law;
    tamis_fluid_churn(shape->tables, load, INFINITY, &law);
    return tamis_fluid_all(&law, shape->cells);
}

static double load_for(const larger_shape *shape, double chance) {
    double low = 0.3 * shape->cells, high = shape->cells;
    while (high - low > 1e-9 * high) {
        double const middle = (low + high) / 2;
        if (chance_full(shape, middle) < chance)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ------------------------------------------------------------------ tables that are too full */

typedef struct larger_given {
    larger_shape shape;
    uint64_t     keys;
    char         geometry[160];
} larger_given;

static tamis_states *larger_make(const larger_given *given, lab_random *random) {
    tamis_seed const  seed = { lab_random_next(random), lab_random_next(random) };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_states     *states;
    tamis_problem     problem;
    spec.capacity = spec.lifetime = given->keys / 4; /* fuller than it would plan */
    spec.values = 1u << STATE_BITS;
    spec.kind = "state_print";
    spec.geometry = given->geometry;
    spec.seed = &seed;
    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK) lab_die("%s", problem.text);
    return states;
}

/* Try new keys until one fits; returns its id. False positives are skipped. */
static uint64_t larger_put(tamis_states *states, uint64_t start, uint64_t *next,
                           uint64_t *refused) {
    for (;;) {
        uint64_t const id = lab_mix(start + ++*next * LAB_GOLDEN);
        uint32_t       value;
        if (tamis_states_get_id(states, id, &value) != TAMIS_ERR_ABSENT) continue;
        tamis_status const status = tamis_states_put_id(states, id, 0);
        if (status == TAMIS_OK) return id;
        if (status != TAMIS_ERR_FULL) lab_die("a put failed: %s", tamis_status_text(status));
        ++*refused;
    }
}

static void larger_trial(const void *context, lab_random *random, void *ret_outcome) {
    const larger_given *const given = context;
    tamis_states *const       states = larger_make(given, random);
    uint64_t *const           live = lab_allocate(given->keys, sizeof *live);
    uint64_t                  start = lab_random_next(random), next = 0, refused = 0;
    uint64_t const            warm_up = WARM_UP * given->keys;
    for (uint64_t i = 0; i < given->keys; i++) live[i] = larger_put(states, start, &next, &refused);
    for (uint64_t i = 0; i < warm_up + STEPS; i++) {
        uint64_t *const slot = &live[lab_random_below(random, given->keys)];
        if (i == warm_up) refused = 0;
        if (tamis_states_drop_id(states, *slot, TAMIS_ANY_VALUE) != TAMIS_OK)
            lab_die("a key is lost");
        *slot = larger_put(states, start, &next, &refused);
    }
    *(uint64_t *)ret_outcome = refused;
    free(live);
    tamis_states_free(states);
}

/* ------------------------------------------------------------------ rows */

/* The library's planner has a faster search for the same load, which stops within 0.2%. */
static void record_load(lab_run *run, const larger_shape *shape, const char *name) {
    double const load = load_for(shape, SAFE);
    double const own =
        tamis_fluid_churn_load(shape->tables, shape->cells, SAFE, 1e15, shape->cells);
    double const bits = log2(shape->tables * load / RATE) + STATE_BITS;
    bool const   is_paper = shape->tables == 3 && shape->cells == 6;
    lab_record(
        run, &(lab_row){
                 .name = lab_text(run, "%s.utilization", name),
                 .label = lab_text(run, "utilization, d = %u, h = %u", shape->tables, shape->cells),
                 .published = is_paper ? "0.667" : NULL,
                 .exact = load / shape->cells,
                 .measured = lab_computed(own / shape->cells),
                 .rule = LAB_RELATIVE,
                 .tolerance = 0.002,
                 .reason = "the measured column is the library's search, which stops within 0.2%",
                 .flaw = is_paper ? "Printed as 2/3, for insertions only. With keys that "
                                    "come and go one put in 64 million fails there."
                                  : NULL });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.bits", name),
                                .label = lab_text(run, "bits per key at 0.1%%, d = %u, h = %u",
                                                  shape->tables, shape->cells),
                                .exact = bits * shape->cells / load,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = lab_text(run, "f = %.1f bits, and 3 of state.",
                                                   bits - STATE_BITS) });
}

static void record_refused(lab_run *run, const larger_shape *shape, const char *name) {
    double const   load = load_for(shape, FULL);
    uint64_t const n = run->is_full ? FULL_TRIALS : QUICK_TRIALS;
    larger_given   given = { .shape = *shape,
                             .keys = (uint64_t)(load * shape->tables * shape->buckets) };
    double         refused = 0;
    (void)snprintf(given.geometry, sizeof given.geometry,
                   "tables=%u,buckets=%u,cells=%u,print_bits=24,permuted=1,reinserts=0,side=0",
                   shape->tables, shape->buckets, shape->cells);
    lab_series const series = { .stream = name,
                                .n = n,
                                .trial = larger_trial,
                                .given = &given,
                                .outcome_bytes = sizeof(uint64_t) };
    uint64_t *const  outcomes = lab_trials(run, &series);
    for (uint64_t i = 0; i < n; i++) refused += (double)outcomes[i];
    free(outcomes);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.refused", name),
                                .label = lab_text(run, "puts refused, load %.2f in %u cells", load,
                                                  shape->cells),
                                .exact = (double)(n * STEPS) * FULL,
                                .measured = { .value = refused, .trials = n },
                                .rule = LAB_COUNT,
                                .tolerance = 1e-4,
                                .reason = "the number of rare events is Poisson" });
}

void fcf_larger_run(lab_run *run) {
    static const larger_shape shapes[] = { { 3, 6, 2048 },  { 4, 6, 2048 },  { 3, 8, 2048 },
                                           { 4, 8, 1024 },  { 3, 16, 1024 }, { 4, 16, 1024 },
                                           { 5, 16, 1024 }, { 4, 32, 512 } };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const char *const name = lab_text(run, "%ux%u", shapes[i].tables, shapes[i].cells);
        record_load(run, &shapes[i], name);
        if (shapes[i].cells <= 16 && shapes[i].tables <= 4) record_refused(run, &shapes[i], name);
    }
}
