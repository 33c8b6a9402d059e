/* test_rank_lines.c - cache lines per operation of a rank-indexed table: stated against counted.
 *
 * The kind is compiled into this file with every read of a body reported (TAMIS_TOUCH in le.h, and
 * the reads of single bytes below). A table is filled to its capacity; then the lines that lookups
 * and adds touch are counted and compared with what tamis_rank_lines() states.
 */
#include "unit.h"

static void touched(const void *from, size_t bytes);
#define TAMIS_TOUCH(address, bytes) touched(address, bytes)
#define TAMIS_ISA traced
#include "core/field.h"

/* Reads of single bytes, which le.h does not see. */
static inline uint64_t traced_wide(const uint8_t *body, uint64_t at, unsigned bits) {
    touched(body + at / 8, 9);
    return field_get_wide(body, at, bits);
}

static inline void traced_set_bit(uint8_t *body, uint64_t at, bool value) {
    touched(body + at / 8, 1);
    field_set_bit(body, at, value);
}

#define field_get_wide traced_wide
#define field_set_bit traced_set_bit
#include "kinds/rank.c"
#undef field_get_wide
#undef field_set_bit

#define CAPACITY 100000
#define SAMPLES 20000
#define LAST 5000 /* adds that are counted, at 95 to 100% of the capacity */
#define MAX_LINES 64

/* ------------------------------------------------------------------ counting */

static struct {
    uintptr_t line[MAX_LINES];
    unsigned  n;
} seen;

static void touched(const void *from, size_t bytes) {
    uintptr_t const first = (uintptr_t)from / 64, last = ((uintptr_t)from + bytes - 1) / 64;
    for (uintptr_t line = first; line <= last; line++) {
        unsigned i = 0;
        while (i < seen.n && seen.line[i] != line) i++;
        if (i < seen.n) continue;
        assert_true(seen.n < MAX_LINES);
        seen.line[seen.n++] = line;
    }
}

/* ------------------------------------------------------------------ a table */

typedef struct job {
    const char *name;
    double      fpr;
    unsigned    abilities;
    uint64_t    aligned;
} job;

static void table_make(const job *of, tamis_table *ret_table, tamis_forecast *ret_forecast) {
    tamis_need need = { .capacity = CAPACITY,
                        .fpr = of->fpr,
                        .lifetime = of->abilities != 0 ? 16 * CAPACITY : CAPACITY,
                        .overflow = 1e-10,
                        .abilities = of->abilities };
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++) need.fixed[i] = KIND_FREE;
    need.fixed[RANK_ALIGNED] = of->aligned;
    memset(ret_table, 0, sizeof *ret_table);
    assert_int_equal(rank_plan(&need, ret_table->geometry), TAMIS_OK);
    assert_true(rank_body_bytes(ret_table->geometry, &ret_table->body_bytes));
    ret_table->body = aligned_alloc(64, ret_table->body_bytes);
    assert_non_null(ret_table->body);
    memset(ret_table->body, 0, ret_table->body_bytes);
    rank_prepare(ret_table);
    rank_predict(ret_table->geometry, CAPACITY, need.lifetime, ret_forecast);
}

typedef struct counts {
    double present, absent, add;
} counts;

/* Fill it, and count the lines of the last adds. */
static double fill(tamis_table *table, uint64_t *ret_key) {
    unit_random random = random_start();
    double      lines = 0;
    for (uint64_t i = 0; i < CAPACITY; i++) {
        ret_key[i] = random_next(&random);
        seen.n = 0;
        assert_int_equal(rank_add(table, ret_key[i]), TAMIS_OK);
        if (i >= CAPACITY - LAST) lines += seen.n;
    }
    return lines / LAST;
}

static counts table_count(tamis_table *table) {
    unit_random     random = { 12345 }; /* other keys than the table's */
    uint64_t *const key = calloc(CAPACITY, sizeof *key);
    assert_non_null(key);
    counts lines = { .add = fill(table, key) };
    for (unsigned i = 0; i < SAMPLES; i++) {
        seen.n = 0;
        assert_true(rank_has(table, key[random_below(&random, CAPACITY)]));
        lines.present += (double)seen.n / SAMPLES;
        seen.n = 0;
        (void)rank_has(table, random_next(&random));
        lines.absent += (double)seen.n / SAMPLES;
    }
    free(key);
    return lines;
}

/* Lookups within 2.5%, adds within 10%; found were 1.8% and 8.5%. The counts themselves are good to
 * a hundredth of a line: their sigma is below 0.7 lines, of 5000 samples and more. */
static void lines_are_as_stated(void **state) {
    const job *const of = *state;
    tamis_table      table;
    tamis_forecast   stated;
    table_make(of, &table, &stated);
    counts const counted = table_count(&table);
    print_message("# %s: present %.3f stated %.3f, absent %.3f stated %.3f, add %.3f stated %.3f\n",
                  of->name, counted.present, stated.lines_present, counted.absent,
                  stated.lines_absent, counted.add, stated.lines_add);
    free(table.body);
    assert_near(stated.lines_present, counted.present, 0.025);
    assert_near(stated.lines_absent, counted.absent, 0.025);
    assert_near(stated.lines_add, counted.add, 0.1);
}

#define COUNTED (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)

static const job jobs[] = {
    { "packed set, 10%", 0.1, 0, 0 },
    { "packed set, 1%", 1e-2, 0, 0 },
    { "packed set, 0.1%", 1e-3, 0, 0 },
    { "packed set, 1e-6", 1e-6, 0, 0 },
    { "packed, counting, 1%", 1e-2, COUNTED, 0 },
    { "packed, counting, 0.01%", 1e-4, COUNTED, 0 },
    { "aligned set, 1%", 1e-2, 0, 1 },
    { "aligned set, 1e-6", 1e-6, 0, 1 },
    { "aligned, counting, 1%", 1e-2, COUNTED, 1 },
    { "aligned, counting, 0.01%", 1e-4, COUNTED, 1 },
};

int main(void) {
    struct CMUnitTest tests[UNIT_COUNT(jobs)];
    for (size_t i = 0; i < UNIT_COUNT(jobs); i++) {
        union {
            const void *in;
            void       *out;
        } const state = { &jobs[i] };
        struct CMUnitTest test = cmocka_unit_test_prestate(lines_are_as_stated, state.out);
        test.name = jobs[i].name;
        tests[i] = test;
    }
    return unit_run("rank_lines", tests, UNIT_COUNT(tests));
}
