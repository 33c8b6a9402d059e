/* test_rank_growing.c - rank-indexed tables that become tables of another size (rank_growing.h).
 *
 * Every print, with its copies, its value and its timer, must arrive once; the table that it leaves
 * must be valid without it; and the cells in use must be counted right all the way.
 *
 * usage: test_rank_growing [STEPS]     operations of each history
 */
#include "kinds/rank/size.h"
#include "make.h"
#include "table.h"

static uint64_t steps = 3000;

/* Tables that overflow into every extension: buckets, chains, remainder_bits, cells, cells2,
 * cells3, extensions2, extensions3, counter_bits, copies, value_bits, aligned. */
static const uint64_t geometries[][RANK_FIELDS] = {
    { 20, 16, 5, 14, 6, 10, 9, 4, 0, 1, 0, 0 },   /* a set; the last group is half of one */
    { 9, 20, 9, 24, 9, 0, 4, 0, 0, 1, 0, 1 },     /* a set by lines, two levels */
    { 20, 16, 4, 14, 6, 10, 9, 4, 2, 4, 0, 0 },   /* counting */
    { 11, 40, 3, 40, 12, 30, 6, 3, 2, 4, 0, 1 },  /* counting, by lines */
    { 13, 7, 6, 11, 5, 9, 7, 2, 1, 2, 0, 0 },     /* an odd number of chains */
    { 20, 16, 6, 14, 6, 10, 9, 4, 0, 8, 0, 0 },   /* a multiset */
    { 1, 64, 5, 100, 56, 100, 1, 1, 0, 8, 0, 0 }, /* one bucket, all the cells there may be */
    { 30, 1, 7, 9, 5, 40, 20, 11, 3, 8, 0, 0 },   /* one long chain in each bucket */
    { 50, 64, 2, 60, 0, 0, 0, 0, 8, 3, 0, 0 },    /* one level, wide counters */
    { 20, 16, 4, 14, 6, 10, 9, 4, 13, 1, 0, 0 },  /* wide counters, one cell for a fingerprint */
};

/* The same with values of 3 bits, the second with timers of 3. */
static const uint64_t maps[][RANK_FIELDS] = {
    { 20, 16, 6, 14, 6, 10, 9, 4, 0, 1, 3, 0 },
    { 21, 15, 6, 14, 6, 10, 9, 4, 0, 1, 6, 0 },
};

#define VALUES 8

/* ------------------------------------------------------------------ tables */

/* Twice the buckets of another table, and enough extensions for any bucket of that. */
static void double_geometry(const tamis_kind *kind, const uint64_t *g, uint64_t *ret_double) {
    assert_true(kind->growing->scale(g, 1, ret_double));
    ret_double[RANK_EXTENSIONS2] = 2 * g[RANK_EXTENSIONS2];
    ret_double[RANK_EXTENSIONS3] = 2 * g[RANK_EXTENSIONS3];
    assert_int_equal(kind->prints(ret_double), kind->prints(g));
}

static tamis_table copy_table(const tamis_table *table) {
    tamis_table copy = *table;
    copy.body = aligned_alloc(64, table->body_bytes);
    assert_non_null(copy.body);
    memcpy(copy.body, table->body, table->body_bytes);
    return copy;
}

/* The hash in the middle of a print's share of all hashes. */
static uint64_t middle_hash(uint64_t print, uint64_t prints) {
    return print * (UINT64_MAX / prints) + UINT64_MAX / prints / 2;
}

/* Entries, counted as operations go and counted from the body, are the same. */
static void check_entries(const tamis_kind *kind, const tamis_table *table) {
    tamis_table    again = *table;
    uint64_t const entries = kind->growing->entries(table);
    kind->growing->recount(&again);
    assert_int_equal(kind->growing->entries(&again), entries);
    if (table->geometry[RANK_COUNTER_BITS] == 0) assert_int_equal(entries, table->keys);
}

static void check_valid(const tamis_kind *kind, const tamis_table *table) {
    expect_valid_table(kind, table);
    check_entries(kind, table);
}

/* ------------------------------------------------------------------ what a table holds */

/* All prints of a table and the copies of each, and their values. */
typedef struct contents {
    uint64_t n, prints;
    uint64_t print[4096], copies[4096];
    uint32_t value[4096];
} contents;

static bool note_print(void *context, uint64_t print, uint64_t copies) {
    contents *const seen = context;
    assert_true(seen->n < COUNT(seen->print));
    seen->print[seen->n] = print;
    seen->copies[seen->n++] = copies;
    return true;
}

static void list_contents(const tamis_kind *kind, const tamis_table *table, contents *ret_seen) {
    memset(ret_seen, 0, sizeof *ret_seen);
    ret_seen->prints = kind->prints(table->geometry);
    assert_true(kind->each(table, note_print, ret_seen));
    for (uint64_t i = 0; i < ret_seen->n && table->values != 0; i++) {
        uint64_t const hash = middle_hash(ret_seen->print[i], ret_seen->prints);
        assert_int_equal(kind->states->get(table, hash, &ret_seen->value[i]), TAMIS_OK);
    }
}

/* The table holds just the prints first..end-1 of a list. */
static void check_part(const tamis_kind *kind, const tamis_table *table, const contents *all,
                       uint64_t first, uint64_t end) {
    static contents seen;
    uint64_t        n = 0;
    list_contents(kind, table, &seen);
    for (uint64_t i = 0; i < all->n; i++) {
        if (all->print[i] < first || all->print[i] >= end) continue;
        assert_true(n < seen.n);
        assert_int_equal(seen.print[n], all->print[i]);
        assert_int_equal(seen.copies[n], all->copies[i]);
        assert_int_equal(seen.value[n], all->value[i]);
        n++;
    }
    assert_int_equal(n, seen.n);
    check_valid(kind, table);
}

static void check_is_zero(const tamis_table *table) {
    for (uint64_t i = 0; i < table->body_bytes; i++) assert_int_equal(table->body[i], 0);
    assert_int_equal(table->keys | table->entries | table->saturated, 0);
}

/* ------------------------------------------------------------------ histories */

/* Mostly adds for a while, then mostly removals, of single keys and of many copies, until some are
 * refused. */
static void live(const tamis_kind *kind, tamis_table *table, uint64_t seed, uint64_t n) {
    dice           chance = { seed };
    uint64_t const prints = kind->prints(table->geometry);
    bool const can_remove = table->geometry[RANK_COPIES] << table->geometry[RANK_COUNTER_BITS] > 1;
    for (uint64_t i = 0; i < n; i++) {
        bool const     is_up = i / 1000 % 2 == 0, towards = dice_below(&chance, 4) != 0;
        uint64_t const hash = middle_hash(dice_below(&chance, prints), prints);
        if (is_up != towards && can_remove)
            (void)kind->calls.remove(table, hash);
        else if (dice_below(&chance, 8) == 0)
            (void)kind->calls.add_copies(table, hash, 1 + dice_below(&chance, 20));
        else
            (void)kind->calls.add(table, hash);
        if (i % 100 == 0) check_entries(kind, table);
    }
    check_valid(kind, table);
}

/* Adds until the table refuses one: then every extension of some level is taken. */
static void fill(const tamis_kind *kind, tamis_table *table, uint64_t seed) {
    dice chance = { seed };
    for (uint64_t i = 0; i < 4000; i++) {
        if (kind->calls.add(table, dice_roll(&chance)) != TAMIS_OK) break;
    }
    check_valid(kind, table);
}

static void entries_are_the_cells_in_use_after_any_history(void **state) {
    (void)state;
    const tamis_kind *const kind = find_kind("rank", NULL);
    for (size_t i = 0; i < COUNT(geometries); i++) {
        tamis_table a = table_make(kind, geometries[i]), b = table_make(kind, geometries[i]);
        live(kind, &a, i + 1, steps);
        live(kind, &b, i + 100, steps / 30);
        for (unsigned round = 0; round < 4; round++) {
            (void)kind->merge(&a, &b);
            check_valid(kind, &a);
            live(kind, &a, i + 200 + round, 1900); /* less, at the end */
        }
        free(a.body);
        free(b.body);
    }
}

/* ------------------------------------------------------------------ carry and wipe */

/* Carry a whole table to another, bucket by bucket. Both are valid after each bucket. */
static void carry_all(const tamis_kind *kind, const tamis_table *from, tamis_table *to) {
    static contents   all;
    tamis_table const before = copy_table(from);
    uint64_t const    buckets = from->geometry[RANK_BUCKETS];
    list_contents(kind, from, &all);
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        assert_int_equal(kind->growing->carry(from, bucket, to), TAMIS_OK);
        check_part(kind, to, &all, 0, all.prints / buckets * (bucket + 1));
    }
    assert_memory_equal(from->body, before.body, from->body_bytes);
    assert_int_equal(to->keys, from->keys);
    assert_int_equal(to->saturated, from->saturated);
    assert_int_equal(kind->growing->entries(to), kind->growing->entries(from));
    free(before.body);
}

/* Bytes of the body that are said to belong to no bucket from this one on are zero. */
static void check_spans(const tamis_kind *kind, const tamis_table *table, uint64_t bucket) {
    kind_span      spans[KIND_MAX_SPANS];
    unsigned const n = kind->growing->spans(table, bucket, spans);
    rank_layout    layout;
    assert_true(tamis_rank_layout(table->geometry, &layout));
    assert_int_equal(n, 1);
    assert_int_equal(spans[0].begin, 0);
    assert_int_equal(spans[0].end, bucket * layout.record[1] / 8);
    for (uint64_t i = 0; i < spans[0].end; i++) assert_int_equal(table->body[i], 0);
}

/* Wiping does not change the counts of a table. Set them to those of the prints from `first` on. */
static void set_counts(const tamis_kind *kind, tamis_table *table, const contents *all,
                       uint64_t first) {
    uint64_t const most = table->geometry[RANK_COPIES] << table->geometry[RANK_COUNTER_BITS];
    table->keys = table->saturated = 0;
    for (uint64_t i = 0; i < all->n; i++) {
        if (all->print[i] < first) continue;
        table->saturated += all->copies[i] == TAMIS_COUNT_MANY;
        table->keys += all->copies[i] == TAMIS_COUNT_MANY ? most : all->copies[i];
    }
    kind->growing->recount(table);
}

/* Empty a table group by group: the rest of it does not change. */
static void wipe_all(const tamis_kind *kind, tamis_table *table) {
    static contents all;
    uint64_t const  buckets = table->geometry[RANK_BUCKETS], group = kind->growing->group;
    list_contents(kind, table, &all);
    for (uint64_t first = 0; first < buckets; first += group) {
        uint64_t const end = min_u64(first + group, buckets), keys = table->keys;
        kind->growing->wipe(table, first, end - first);
        assert_int_equal(table->keys, keys);
        set_counts(kind, table, &all, all.prints / buckets * end);
        check_part(kind, table, &all, all.prints / buckets * end, all.prints);
        check_spans(kind, table, end);
    }
    check_is_zero(table);
}

/* To twice the buckets and back. */
static void go_up_and_down(const tamis_kind *kind, tamis_table *table) {
    uint64_t wide[RANK_FIELDS];
    double_geometry(kind, table->geometry, wide);
    tamis_table large = table_make(kind, wide), small = table_make(kind, table->geometry);
    large.values = small.values = table->values;
    small.sweep = large.sweep = table->sweep;
    large.sweep.units *= 2;
    carry_all(kind, table, &large);
    carry_all(kind, &large, &small);
    wipe_all(kind, &large);
    wipe_all(kind, table);
    wipe_all(kind, &small);
    free(large.body);
    free(small.body);
}

static void every_print_arrives_once_with_its_copies(void **state) {
    (void)state;
    for (size_t isa = 0; tamis_isa_name(isa) != NULL; isa++) {
        const tamis_kind *const kind = find_kind("rank", tamis_isa_name(isa));
        for (size_t i = 0; i < 2 * COUNT(geometries); i++) {
            tamis_table table = table_make(kind, geometries[i / 2]);
            if (i % 2 == 0)
                live(kind, &table, i + 1, steps);
            else
                fill(kind, &table, i + 1);
            go_up_and_down(kind, &table);
            free(table.body);
        }
    }
}

/* Between tables of any two sizes that have as many prints. */
static void four_times_the_buckets_in_one_step(void **state) {
    (void)state;
    const tamis_kind *const kind = find_kind("rank", NULL);
    tamis_table             table = table_make(kind, geometries[5]);
    uint64_t                wide[RANK_FIELDS];
    live(kind, &table, 1, 900);
    assert_true(kind->growing->scale(table.geometry, 2, wide));
    wide[RANK_EXTENSIONS2] = wide[RANK_EXTENSIONS3] = 20;
    tamis_table large = table_make(kind, wide);
    carry_all(kind, &table, &large);
    free(large.body);
    free(table.body);
}

/* A carry finds no room. After wiping what was carried, the table is as before. */
static void a_refused_carry_can_be_taken_back(void **state) {
    (void)state;
    const tamis_kind *const kind = find_kind("rank", NULL);
    unsigned                refused = 0;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        tamis_table table = table_make(kind, geometries[i]);
        uint64_t    wide[RANK_FIELDS];
        double_geometry(kind, table.geometry, wide);
        wide[RANK_CELLS] = 3;
        wide[RANK_CELLS2] = 2, wide[RANK_EXTENSIONS2] = 2;
        wide[RANK_CELLS3] = 60, wide[RANK_EXTENSIONS3] = 2;
        tamis_table large = table_make(kind, wide);
        fill(kind, &table, i + 1);
        for (uint64_t bucket = 0; bucket < table.geometry[RANK_BUCKETS]; bucket++) {
            tamis_table const before = copy_table(&large);
            if (kind->growing->carry(&table, bucket, &large) != TAMIS_OK) {
                kind->growing->wipe(&large, 2 * bucket, 2);
                assert_memory_equal(large.body, before.body, before.body_bytes);
                large.keys = before.keys;
                large.entries = before.entries;
                large.saturated = before.saturated;
                refused++;
            }
            check_valid(kind, &large);
            free(before.body);
        }
        free(large.body);
        free(table.body);
    }
    assert_true(refused > 50);
}

/* ------------------------------------------------------------------ values and timers */

/* Values that are put, moved and dropped while time passes. */
static tamis_table live_as_map(const tamis_kind *kind, const uint64_t *geometry, uint64_t seed) {
    dice           chance = { seed };
    tamis_table    table = table_make(kind, geometry);
    uint64_t const prints = kind->prints(geometry);
    bool const     is_aged = geometry[RANK_VALUE_BITS] > 3;
    table.values = VALUES;
    table.sweep = (sweep){ .units = geometry[RANK_BUCKETS],
                           .timeout = is_aged ? 1000 : 0,
                           .timer_bits = is_aged ? 3 : 0 };
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t const hash = middle_hash(dice_below(&chance, prints), prints);
        uint32_t const value = (uint32_t)dice_below(&chance, VALUES);
        if (dice_below(&chance, 4) != 0)
            (void)kind->states->set(&table, hash, value);
        else
            (void)kind->states->drop(&table, hash, TAMIS_ANY_VALUE);
        if (is_aged && i % 8 == 0) kind->states->sweep(&table, i / 8 % table.sweep.units, NULL);
    }
    check_valid(kind, &table);
    assert_true(table.keys > 100);
    return table;
}

/* The sweep visits both tables again and again: keys leave both in the same pass. */
static void check_timers(const tamis_kind *kind, tamis_table *table, tamis_table *large) {
    static contents all;
    unsigned        rounds = 0;
    for (; table->keys != 0; rounds++) {
        assert_true(rounds < 8);
        for (uint64_t unit = 0; unit < table->sweep.units; unit++) {
            kind->states->sweep(table, unit, NULL);
            kind->states->sweep(large, 2 * unit, NULL);
            kind->states->sweep(large, 2 * unit + 1, NULL);
        }
        list_contents(kind, table, &all);
        check_part(kind, large, &all, 0, all.prints);
    }
    assert_true(rounds > 2);
    check_is_zero(large);
}

static void values_and_timers_are_kept(void **state) {
    (void)state;
    const tamis_kind *const kind = find_kind("rank", NULL);
    for (size_t i = 0; i < COUNT(maps); i++) {
        tamis_table table = live_as_map(kind, maps[i], i + 1), same = copy_table(&table);
        uint64_t    wide[RANK_FIELDS];
        double_geometry(kind, maps[i], wide);
        tamis_table large = table_make(kind, wide);
        large.values = table.values;
        large.sweep = table.sweep;
        large.sweep.units *= 2;
        go_up_and_down(kind, &same);
        carry_all(kind, &table, &large);
        if (table.sweep.timer_bits != 0) check_timers(kind, &table, &large);
        free(table.body);
        free(same.body);
        free(large.body);
    }
}

/* ------------------------------------------------------------------ stages */

static void sizes_that_cannot_be_are_refused(void **state) {
    (void)state;
    const tamis_kind *const kind = find_kind("rank", NULL);
    uint64_t                g[RANK_FIELDS], to[RANK_FIELDS];
    memcpy(g, geometries[0], sizeof g); /* 20 buckets, 5 bits */
    assert_true(kind->growing->scale(g, 4, to));
    assert_int_equal(to[RANK_BUCKETS], 320);
    assert_int_equal(to[RANK_REMAINDER_BITS], 1);
    assert_false(kind->growing->scale(g, 5, to));
    assert_true(kind->growing->scale(g, -2, to));
    assert_int_equal(to[RANK_BUCKETS], 5);
    assert_int_equal(to[RANK_REMAINDER_BITS], 7);
    assert_false(kind->growing->scale(g, -3, to)); /* 20 is not a multiple of 8 */
    g[RANK_BUCKETS] = UINT64_C(1) << 47, g[RANK_CHAINS] = 1;
    assert_true(kind->growing->scale(g, 1, to));
    assert_false(kind->growing->scale(g, 2, to));
    g[RANK_REMAINDER_BITS] = 10, g[RANK_COUNTER_BITS] = 24, g[RANK_VALUE_BITS] = 20;
    assert_true(kind->growing->scale(g, -2, to));
    assert_false(kind->growing->scale(g, -3, to)); /* cells of 57 bits */
}

/* A set that is made by tamis_create() has a table at every stage, which does not overflow more
 * often than was asked, and is at the last stage no larger than one that was made for that size. */
static void check_stages(const tamis_spec *spec) {
    tamis_set *const set = make_set_from(spec);
    tamis_problem    problem;
    uint64_t         before = 0, bytes = 0;
    tamis_facts      facts;
    assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
    assert_true(facts.grow_to >= spec->grow_to && facts.stages > 0);
    for (uint64_t capacity = facts.capacity; capacity <= facts.grow_to; capacity *= 2) {
        assert_int_equal(tamis_resize(set, capacity, NULL), TAMIS_OK);
        tamis_info info;
        assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
        assert_int_equal(info.facts.capacity, capacity);
        assert_true(info.plan.overflow <= spec->overflow);
        assert_true(info.plan.fpr <= spec->fpr);
        before = bytes;
        bytes = info.facts.body_bytes;
        assert_true(bytes > before && (before == 0 || bytes < 2 * before));
    }
    tamis_spec one = *spec;
    tamis_plan row;
    size_t     n;
    one.capacity = facts.grow_to;
    one.grow_to = 0;
    one.prefer = TAMIS_PREFER_SMALL;
    assert_int_equal(tamis_plan_kinds(&one, &row, 1, &n, &problem), TAMIS_OK);
    assert_true((double)bytes <= (double)row.body_bytes * (1 + 1.0 / 32));
    tamis_free(set);
}

static void every_stage_is_planned_for_its_capacity(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = "rank";
    spec.capacity = 1000;
    for (unsigned i = 0; i < 24; i++) {
        spec.abilities = i % 4 == 0 ? 0 : i % 4 == 1 ? TAMIS_CAN_REMOVE : TAMIS_CAN_COUNT;
        spec.copies = i % 4 == 3 ? 20 : 1;
        spec.fpr = i % 3 == 0 ? 0.05 : i % 3 == 1 ? 0.01 : 0.0002;
        spec.overflow = i % 2 == 0 ? 1e-9 : 1e-4;
        spec.grow_to = i % 5 == 0 ? 8001 : i % 5 == 1 ? 60000 : UINT64_C(1000) << (i % 12);
        spec.grow_to = max_u64(spec.grow_to, 8001);
        spec.prefer = i % 7 < 3 ? TAMIS_PREFER_SMALL : TAMIS_PREFER_FAST;
        check_stages(&spec);
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_the_cells_in_use_after_any_history),
        cmocka_unit_test(every_print_arrives_once_with_its_copies),
        cmocka_unit_test(four_times_the_buckets_in_one_step),
        cmocka_unit_test(a_refused_carry_can_be_taken_back),
        cmocka_unit_test(values_and_timers_are_kept),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(every_stage_is_planned_for_its_capacity),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("rank_growing", tests, NULL, NULL);
}
