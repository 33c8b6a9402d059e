/* test_batch.c - core/batch.h: the chunk of a toy kind, against asking one by one. */
#include "core_units.h"

#include "core/batch.h"

#define CELLS 256

/* What the toy was asked to do, in order: so many plans, fetches and probes. */
typedef struct toy_log {
    unsigned planned, fetched, probed;
    bool     is_late; /* something was planned or fetched after the first probe */
} toy_log;

/* A table where a hash is held by the one cell that its low byte names. */
typedef struct tamis_table {
    bool     cell[CELLS];
    toy_log *log;
} tamis_table;

typedef struct toy_plan {
    uint64_t cell;
    unsigned number; /* of the plan, counted up */
} toy_plan;

static toy_plan toy_plan_of(const tamis_table *table, uint64_t hash) {
    if (table->log->probed != 0) table->log->is_late = true;
    return (toy_plan){ hash % CELLS, table->log->planned++ };
}

static void toy_fetch(const tamis_table *table, const toy_plan *plan) {
    if (table->log->probed != 0) table->log->is_late = true;
    assert_int_equal(plan->number, table->log->fetched++);
}

static bool toy_probe(const tamis_table *table, const toy_plan *plan) {
    assert_int_equal(plan->number, table->log->probed++);
    return table->cell[plan->cell];
}

TAMIS_DEFINE_HAS_CHUNK(toy_has_chunk, toy_plan, toy_plan_of, toy_fetch, toy_probe)

/* One chunk of n hashes on a table of which `filled` in 256 cells hold something. */
static void check_chunk(unit_random *random, unsigned n, uint64_t filled) {
    toy_log     log = { 0 };
    tamis_table table = { .log = &log };
    uint64_t    hash[TAMIS_CHUNK], expected = 0;
    for (unsigned i = 0; i < CELLS; i++) table.cell[i] = random_below(random, CELLS) < filled;
    for (unsigned i = 0; i < TAMIS_CHUNK; i++) hash[i] = random_next(random);
    for (unsigned i = 0; i < n; i++) expected |= (uint64_t)table.cell[hash[i] % CELLS] << i;
    assert_int_equal(toy_has_chunk(&table, hash, n), expected);
    assert_int_equal(log.planned, n);
    assert_int_equal(log.fetched, n);
    assert_int_equal(log.probed, n);
    assert_false(log.is_late);
}

/* The same bits as one by one, none above n, and all memory asked for before any is looked at. */
static void has_chunk_means_one_by_one_and_fetches_first(void **state) {
    (void)state;
    unit_random random = random_start();
    for (unsigned n = 1; n <= TAMIS_CHUNK; n++) {
        for (uint64_t filled = 0; filled <= CELLS; filled += 32) check_chunk(&random, n, filled);
    }
}

static void has_chunk_answers_the_same_for_duplicates(void **state) {
    (void)state;
    toy_log     log = { 0 };
    tamis_table table = { .log = &log };
    uint64_t    hash[TAMIS_CHUNK];
    for (unsigned i = 0; i < TAMIS_CHUNK; i++) hash[i] = 7;
    assert_int_equal(toy_has_chunk(&table, hash, TAMIS_CHUNK), 0);
    table.cell[7] = true;
    log = (toy_log){ 0 };
    assert_int_equal(toy_has_chunk(&table, hash, TAMIS_CHUNK), UINT64_MAX);
}

/* The front door stops reading at n: so must the chunk. */
static void has_chunk_reads_no_hash_beyond_n(void **state) {
    (void)state;
    for (unsigned n = 1; n <= TAMIS_CHUNK; n++) {
        toy_log     log = { 0 };
        tamis_table table = { .log = &log };
        fenced      memory = fenced_new(n * sizeof(uint64_t));
        assert_int_equal(toy_has_chunk(&table, (const uint64_t *)(void *)memory.bytes, n), 0);
        fenced_free(&memory);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(has_chunk_means_one_by_one_and_fetches_first),
    cmocka_unit_test(has_chunk_answers_the_same_for_duplicates),
    cmocka_unit_test(has_chunk_reads_no_hash_beyond_n),
};

CORE_EXPORT(batch)
