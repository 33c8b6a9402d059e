/* touches.h - the cache lines that the operations of a kind touch, stated and counted.
 *
 * A test includes this, then the kind's source: so the kind is compiled into the test, portably and
 * with every read of a body reported (TAMIS_TOUCH in core/le.h). Its tables are then filled to
 * their capacity, and the lines that lookups and adds touch are counted.
 */
#ifndef TAMIS_TESTS_TOUCHES_H
#define TAMIS_TESTS_TOUCHES_H

#include "unit.h"

#define TAMIS_TOUCH(address, bytes) touched(address, bytes)
#define TAMIS_ISA traced
#define TAMIS_NO_SIMD

#define TOUCHES_MAX 128

/* The lines of what was done since n was set to 0. */
static struct {
    bool      is_on;
    uintptr_t line[TOUCHES_MAX];
    unsigned  n;
} touches_seen;

static inline void touched(const void *from, size_t bytes) {
    uintptr_t const first = (uintptr_t)from / 64, last = ((uintptr_t)from + bytes - 1) / 64;
    for (uintptr_t line = first; touches_seen.is_on && line <= last; line++) {
        unsigned i = 0;
        while (i < touches_seen.n && touches_seen.line[i] != line) i++;
        if (i < touches_seen.n) continue;
        assert_true(touches_seen.n < TOUCHES_MAX);
        touches_seen.line[touches_seen.n++] = line;
    }
}

#include "table.h"

/* ------------------------------------------------------------------ jobs */

#define TOUCHES_CAPACITY 100000
#define TOUCHES_SAMPLES 20000
#define TOUCHES_LAST 5000 /* adds that are counted, at 95 to 100% of the capacity */
#define TOUCHES_FIXED 3

typedef struct touches_job {
    const char      *name;
    double           fpr;
    unsigned         abilities;
    tamis_preference prefer;
    struct {
        unsigned field;
        uint64_t value; /* 0: nothing is fixed */
    } fixed[TOUCHES_FIXED];
} touches_job;

static inline tamis_table touches_table(const tamis_kind *kind, const touches_job *job,
                                        tamis_forecast *ret_stated) {
    tamis_need need = { .work = { TOUCHES_CAPACITY, 1,
                                  TOUCHES_CAPACITY * (job->abilities != 0 ? 16 : 1) },
                        .fpr = job->fpr,
                        .overflow = 1e-10,
                        .abilities = job->abilities,
                        .count_to = (job->abilities & TAMIS_CAN_COUNT) != 0 ? 255 : 0,
                        .prefer = job->prefer };
    uint64_t   g[TAMIS_MAX_FIELDS] = { 0 };
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++) need.fixed[i] = NEED_FREE;
    for (unsigned i = 0; i < TOUCHES_FIXED; i++) {
        if (job->fixed[i].value != 0) need.fixed[job->fixed[i].field] = job->fixed[i].value;
    }
    assert_int_equal(kind->plan(&need, g), TAMIS_OK);
    kind->predict(g, &need.work, ret_stated);
    return table_make(kind, g);
}

/* ------------------------------------------------------------------ counting */

typedef struct touches {
    double present, absent, add;
} touches;

/* Fill it, and count the lines of the last adds. */
static inline double touches_of_adds(const tamis_kind *kind, tamis_table *table,
                                     uint64_t *ret_key) {
    dice   random = dice_start();
    double total = 0;
    for (uint64_t i = 0; i < TOUCHES_CAPACITY; i++) {
        ret_key[i] = dice_roll(&random);
        touches_seen.n = 0;
        touches_seen.is_on = i >= TOUCHES_CAPACITY - TOUCHES_LAST;
        assert_int_equal(kind->calls.add(table, ret_key[i]), TAMIS_OK);
        total += touches_seen.n;
    }
    touches_seen.is_on = false;
    return total / TOUCHES_LAST;
}

/* Replace keys until the table is as it is after a long time. */
static inline void touches_churn(const tamis_kind *kind, tamis_table *table, uint64_t *key) {
    dice random = { 99 };
    for (uint64_t i = 0; i < 8 * TOUCHES_CAPACITY; i++) {
        uint64_t const at = dice_below(&random, TOUCHES_CAPACITY);
        assert_int_equal(kind->calls.remove(table, key[at]), TAMIS_OK);
        key[at] = dice_roll(&random);
        assert_int_equal(kind->calls.add(table, key[at]), TAMIS_OK);
    }
}

static inline double touches_of_has(const tamis_kind *kind, const tamis_table *table, uint64_t hash,
                                    bool is_present) {
    touches_seen.n = 0;
    touches_seen.is_on = true;
    assert_true(kind->calls.has(table, hash) || !is_present);
    touches_seen.is_on = false;
    return touches_seen.n;
}

static inline touches touches_count(const tamis_kind *kind, tamis_table *table, bool is_churned) {
    dice            random = { 12345 }; /* other keys than the table's */
    uint64_t *const key = calloc(TOUCHES_CAPACITY, sizeof *key);
    assert_non_null(key);
    touches mean = { .add = touches_of_adds(kind, table, key) };
    if (is_churned) touches_churn(kind, table, key);
    for (unsigned i = 0; i < TOUCHES_SAMPLES; i++) {
        uint64_t const one = key[dice_below(&random, TOUCHES_CAPACITY)];
        mean.present += touches_of_has(kind, table, one, true) / TOUCHES_SAMPLES;
        mean.absent += touches_of_has(kind, table, dice_roll(&random), false) / TOUCHES_SAMPLES;
    }
    free(key);
    return mean;
}

/* The counts themselves are good to a hundredth of a line: their sigma is below 0.7 lines, of 5000
 * samples and more. */
static inline void touches_check(const touches_job *job, const tamis_forecast *stated,
                                 const touches *counted, double near, double near_add) {
    print_message("# %s: present %.3f stated %.3f, absent %.3f stated %.3f, add %.3f stated %.3f\n",
                  job->name, counted->present, stated->lines_present, counted->absent,
                  stated->lines_absent, counted->add, stated->lines_add);
    assert_near(stated->lines_present, counted->present, near);
    assert_near(stated->lines_absent, counted->absent, near);
    assert_near(stated->lines_add, counted->add, near_add);
}

#endif
