/* test_grow.c - sets that grow: what they hold at every moment of a step, and what a step costs.
 *
 * Files, copies and streams of them are in test_grow_files.c; memory that runs out is in
 * test_grow_memory.c.
 */
#include "growing.h"

/* ------------------------------------------------------------------ what is in it */

/* An empty set of fixed size with the geometry of a growing one. */
static tamis_set *make_fixed(const tamis_set *set) {
    tamis_choice const choice = tamis_choice_like(set);
    tamis_set         *made = NULL;
    assert_int_equal(tamis_make(&choice, &set->hasher, &set->allocator, &made), TAMIS_OK);
    return made;
}

/* After each step the table is equal to one that was made with that size. */
static void a_step_leaves_the_table_of_that_size(void **state) {
    tamis_set *const set = growing_make(*state, 1);
    uint64_t         next = 0;
    for (unsigned stage = 0; stage <= GROWING_STAGES; stage++) {
        next = growing_bring(set, next, stage, 0);
        tamis_set *const fixed = make_fixed(set);
        assert_int_equal(set->capacity, (uint64_t)GROWING_CAPACITY << stage);
        add_ids(fixed, 0, next);
        growing_expect_contents(set, fixed);
        if (growing_is_canonical(set)) growing_expect_table(&set->table, &fixed->table);
        tamis_free(fixed);
    }
    tamis_free(set);
}

/* Slots in use. */
static uint64_t entries_of(const tamis_set *set) {
    const tamis_table *tables[2];
    uint64_t           sum = 0;
    for (unsigned n = grow_tables(set, tables); n-- != 0;)
        sum += set->kind->growing->entries(tables[n]);
    return sum;
}

/* A step begins at 15/16 of the capacity, and is over when the number of entries reaches the
 * capacity. */
static void a_step_is_over_at_capacity(void **state) {
    tamis_set *const set = growing_make(*state, 2);
    for (uint64_t id = 0; id < GROWING_TO; id++) {
        bool const     is_last = set->growth->stage == GROWING_STAGES;
        uint64_t const before = entries_of(set), begin = set->capacity - set->capacity / 16;
        assert_int_equal(grow_is_moving(set), !is_last && before >= begin);
        assert_true(before < set->capacity);
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    }
    assert_int_equal(set->growth->stage, GROWING_STAGES);
    assert_int_equal(set->table.refused_adds, 0);
    tamis_free(set);
}

/* Every stage has the geometry that a plan for its capacity has, and the last stage is the plan
 * itself. */
static void stages_are_as_planned(void **state) {
    tamis_set *const grown = growing_make(*state, 3), *const resized = growing_make(*state, 3);
    tamis_seed const seed = make_seed(3);
    tamis_spec       spec = growing_spec(*state, &seed);
    tamis_plan       plan;
    size_t           n;
    uint64_t         next = 0, capacity;
    assert_int_equal(tamis_plan_kinds(&spec, &plan, 1, &n, NULL), TAMIS_OK);
    for (unsigned stage = 0; stage <= GROWING_STAGES; stage++) {
        next = growing_bring(grown, next, stage, 0);
        assert_int_equal(tamis_resize(resized, (uint64_t)GROWING_CAPACITY << stage, &capacity),
                         TAMIS_OK);
        assert_int_equal(capacity, (uint64_t)GROWING_CAPACITY << stage);
        assert_memory_equal(grown->table.geometry, resized->table.geometry,
                            sizeof grown->table.geometry);
        assert_int_equal(grown->kind->prints(grown->table.geometry),
                         grown->kind->prints(resized->table.geometry));
    }
    for (unsigned i = 0; i < plan.n_fields; i++)
        assert_int_equal(plan.fields[i].value, grown->table.geometry[i]);
    assert_int_equal(plan.body_bytes, grown->table.body_bytes);
    assert_true(plan.fpr <= spec.fpr);
    tamis_free(grown);
    tamis_free(resized);
}

/* Ask for all keys, in three ways. */
static void expect_all(const tamis_set *set, uint64_t n) {
    bool     has[256];
    uint64_t ids[256];
    for (uint64_t first = 0; first < n; first += 256) {
        size_t const here = (size_t)min_u64(256, n - first);
        for (size_t i = 0; i < here; i++) ids[i] = first + i;
        assert_int_equal(tamis_has_id_batch(set, ids, here, has), here);
        for (size_t i = 0; i < here; i++) assert_true(has[i]);
    }
    for (uint64_t id = 0; id < n; id += 7) assert_true(tamis_has_id(set, id));
}

/* No key is lost at any moment: after each group that was moved, all are there. */
static void no_key_is_lost_in_a_step(void **state) {
    tamis_set *const set = growing_make(*state, 4);
    uint64_t         moved = 0, checks = 0;
    for (uint64_t id = 0; set->growth->stage < 2; id++) {
        assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        if (set->growth->moved == moved) continue;
        moved = set->growth->moved;
        expect_all(set, id + 1);
        expect_valid(set);
        checks++;
    }
    assert_true(checks >= 4);
    tamis_free(set);
}

/* Also during a step, the rate that a set states is true, and not above the one that was asked
 * for. */
static void the_rate_is_kept_at_every_stage(void **state) {
    const growing_case *const tried = *state;
    tamis_set *const          set = growing_make(tried, 5);
    uint64_t const            strangers = 40000;
    uint64_t                  next = 0;
    for (unsigned stage = 0; stage <= GROWING_STAGES; stage++) {
        next = growing_bring(set, next, stage, stage < GROWING_STAGES ? 500 : 0);
        tamis_info const info = inspect(set);
        double const     hits = (double)count_ids(set, UINT64_C(1) << 40, strangers);
        double const     expected = (double)strangers * info.current_fpr;
        assert_true(info.current_fpr <= tried->mode->fpr);
        assert_true(fabs(hits - expected) <= 4 * sqrt(expected) + 2);
        assert_near(info.distinct, next, 0.01 + tried->mode->fpr);
    }
    tamis_free(set);
}

/* ------------------------------------------------------------------ counts */

/* Growth follows entries, not copies. */
static void copies_do_not_let_it_grow(void **state) {
    const growing_case *const tried = *state;
    tamis_set *const          set = growing_make(tried, 6);
    bool const is_counted = (tried->mode->abilities & TAMIS_CAN_COUNT) != 0; /* by counters */
    for (unsigned i = 0; i < 1000000; i++) assert_int_equal(tamis_add_id(set, 1), TAMIS_OK);
    assert_int_equal(tamis_add_copies_id(set, 2, UINT64_C(1) << 40), TAMIS_OK);
    if (is_counted) {
        for (uint64_t id = 10; id < 10 + GROWING_CAPACITY / 2; id++)
            assert_int_equal(tamis_add_copies_id(set, id, 200), TAMIS_OK);
    }
    assert_int_equal(set->growth->stage, 0);
    assert_false(grow_is_moving(set));
    tamis_free(set);
}

/* Add and remove the same keys in a set that grows and in one of the last size: answers and counts
 * are the same, whatever was moved in between. */
static void counts_are_kept_in_steps(void **state) {
    tamis_set *const set = growing_make(*state, 7);
    bool const       can_count = (set->abilities & TAMIS_CAN_COUNT) != 0;
    if ((set->abilities & TAMIS_CAN_REMOVE) == 0) {
        tamis_free(set);
        return;
    }
    tamis_set *largest = growing_make(*state, 7);
    assert_int_equal(tamis_resize(largest, GROWING_TO, NULL), TAMIS_OK);
    dice chance = { 77 };
    for (uint64_t i = 0; i < 14 * GROWING_CAPACITY; i++) {
        uint64_t const id = dice_below(&chance, 600 + i / 2), choice = dice_below(&chance, 8);
        if (choice < 5)
            assert_int_equal(tamis_add_id(set, id), tamis_add_id(largest, id));
        else if (choice < 7)
            assert_int_equal(tamis_remove_id(set, id), tamis_remove_id(largest, id));
        else
            assert_int_equal(tamis_add_copies_id(set, id, 3), tamis_add_copies_id(largest, id, 3));
        assert_int_equal(tamis_has_id(set, id), tamis_has_id(largest, id));
        if (can_count) assert_int_equal(copies_of(set, id), copies_of(largest, id));
        if (i % 16384 == 0) growing_expect_contents(set, largest);
    }
    growing_expect_contents(set, largest);
    assert_true(set->growth->stage >= 2);
    assert_int_equal(set->table.refused_removes, largest->table.refused_removes);
    assert_int_equal(tamis_resize(set, GROWING_TO, NULL), TAMIS_OK);
    growing_expect_alike(set, largest);
    tamis_free(set);
    tamis_free(largest);
}

/* All batch calls have the same results and lead to the same contents as single calls. */
static void batches_do_the_same(void **state) {
    tamis_set *const single = growing_make(*state, 8), *const batch = growing_make(*state, 8);
    uint64_t      ids[1200], counts[1200];
    bool          is_new[1200], removed[1200];
    tamis_removal tally;
    size_t        added;
    dice          chance = { 78 };
    for (uint64_t round = 0; round < 60; round++) {
        size_t const n = (size_t)dice_below(&chance, 1200);
        for (size_t i = 0; i < n; i++) ids[i] = dice_below(&chance, 100 + 1200 * round);
        for (size_t i = 0; i < n; i++) assert_int_equal(tamis_add_id(single, ids[i]), TAMIS_OK);
        assert_int_equal(tamis_add_id_batch(batch, ids, n, &added), TAMIS_OK);
        assert_int_equal(added, n);
        for (size_t i = 0; i < n; i++) ids[i] = dice_below(&chance, 100 + 2400 * round);
        assert_int_equal(tamis_add_new_id_batch(batch, ids, n, is_new, &added), TAMIS_OK);
        for (size_t i = 0; i < n; i++) {
            bool alone;
            assert_int_equal(tamis_add_new_id(single, ids[i], &alone), TAMIS_OK);
            assert_int_equal(alone, is_new[i]);
        }
        (void)tamis_has_id_batch(batch, ids, n, is_new);
        for (size_t i = 0; i < n; i++) assert_true(is_new[i]);
        growing_expect_contents(single, batch);
        if ((batch->abilities & TAMIS_CAN_COUNT) != 0) {
            assert_int_equal(tamis_count_id_batch(batch, ids, n, counts), TAMIS_OK);
            for (size_t i = 0; i < n; i++) assert_int_equal(counts[i], copies_of(single, ids[i]));
        }
        if ((batch->abilities & TAMIS_CAN_REMOVE) == 0 || round % 2 != 0) continue;
        assert_int_equal(tamis_remove_id_batch(batch, ids, n, removed, &tally), TAMIS_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(tamis_remove_id(single, ids[i]) == TAMIS_OK, removed[i]);
    }
    growing_expect_contents(single, batch);
    assert_true(single->growth->stage >= 2);
    tamis_free(single);
    tamis_free(batch);
}

/* ------------------------------------------------------------------ another size by hand */

static void resizing_keeps_all_answers(void **state) {
    tamis_set *const set = growing_make(*state, 9), *const other = growing_make(*state, 9);
    uint64_t       capacity = 0, bytes;
    uint64_t const n = growing_bring(set, 0, 2, 500);
    add_ids(other, 0, n);
    /* up, from the middle of a step, and to where it is */
    assert_int_equal(tamis_resize(set, GROWING_TO, &capacity), TAMIS_OK);
    assert_int_equal(capacity, GROWING_TO);
    growing_expect_contents(set, other);
    bytes = inspect(set).facts.memory_bytes;
    /* more than it can become, less than it holds: nothing changes */
    assert_int_equal(tamis_resize(set, GROWING_TO + 1, &capacity), TAMIS_ERR_LIMIT);
    assert_int_equal(tamis_resize(set, n / 2, &capacity), TAMIS_ERR_FULL);
    assert_int_equal(tamis_resize(NULL, n, &capacity), TAMIS_ERR_ARGUMENT);
    assert_int_equal(capacity, GROWING_TO);
    growing_expect_contents(set, other);
    /* down, as far as the keys allow: memory comes back, the answers stay */
    assert_int_equal(tamis_resize(set, n, &capacity), TAMIS_OK);
    assert_int_equal(capacity, GROWING_CAPACITY << 2);
    growing_expect_contents(set, other);
    assert_true(inspect(set).facts.memory_bytes < bytes / 3 + bytes / 16);
    for (uint64_t id = UINT64_C(1) << 40; id < (UINT64_C(1) << 40) + 20000; id++)
        assert_int_equal(tamis_has_id(set, id), tamis_has_id(other, id));
    /* and it grows again, to the same set */
    add_ids(set, n, GROWING_TO - n);
    add_ids(other, n, GROWING_TO - n);
    growing_expect_alike(set, other);
    tamis_free(set);
    tamis_free(other);
}

/* After many removals a set goes back to its first size. */
static void removals_make_room_to_shrink(void **state) {
    tamis_set *const set = growing_make(*state, 10), *const small = growing_make(*state, 10);
    uint64_t capacity = 0;
    if ((set->abilities & TAMIS_CAN_REMOVE) != 0) {
        uint64_t const n = growing_bring(set, 0, 3, 300);
        remove_ids(set, 500, n - 500);
        add_ids(small, 0, 500);
        assert_int_equal(tamis_resize(set, 0, &capacity), TAMIS_ERR_FULL);
        assert_int_equal(tamis_resize(set, 500, &capacity), TAMIS_OK);
        assert_int_equal(capacity, GROWING_CAPACITY);
        growing_expect_alike(set, small);
    }
    tamis_free(set);
    tamis_free(small);
}

static void sets_of_fixed_size_stay(void **state) {
    const growing_case *const tried = *state;
    tamis_spec                spec = growing_spec(tried, NULL);
    uint64_t                  capacity = 7;
    spec.grow_to = 0;
    tamis_set *const set = make_set_from(&spec);
    assert_int_equal(tamis_resize(set, 2 * GROWING_CAPACITY, &capacity), TAMIS_ERR_CANNOT);
    assert_int_equal(capacity, 7);
    assert_int_equal(inspect(set).facts.grow_to, 0);
    tamis_free(set);
}

/* Also during a step: the step ends, and the set is empty at this stage. */
static void clearing_leaves_an_empty_set(void **state) {
    tamis_set *const set = growing_make(*state, 11), *const other = growing_make(*state, 11);
    uint64_t const n = growing_bring(set, 0, 1, 500);
    assert_int_equal(tamis_clear(set), TAMIS_OK);
    assert_false(grow_is_moving(set));
    assert_int_equal(growing_keys(set), 0);
    assert_int_equal(set->growth->stage, 1);
    expect_valid(set);
    for (uint64_t id = 0; id < n; id++) assert_false(tamis_has_id(set, id));
    (void)growing_bring(set, 0, 3, 0);
    (void)growing_bring(other, 0, 3, 0);
    growing_expect_alike(set, other);
    tamis_free(set);
    tamis_free(other);
}

/* ------------------------------------------------------------------ two sets */

/* The moments of a set's life that are combined with each other. */
static const struct {
    unsigned stage;
    uint64_t progress;
} moments[] = { { 0, 0 }, { 0, 600 }, { 1, 0 }, { 2, 300 }, { 3, 100 } };

static tamis_set *make_at(const growing_case *tried, size_t moment, uint64_t first,
                          uint64_t *ret_next) {
    tamis_set *const set = growing_make(tried, 12);
    add_ids(set, first, 200);
    *ret_next = growing_bring(set, first + 200, moments[moment].stage, moments[moment].progress);
    return set;
}

/* A set with both ranges of keys. */
static tamis_set *make_union(const growing_case *tried, uint64_t n, uint64_t first, uint64_t end) {
    tamis_set *const set = growing_make(tried, 12);
    add_ids(set, 0, n);
    add_ids(set, first, end - first);
    return set;
}

/* Each mode tries a third of all pairs of moments, so that all modes together try all pairs. */
static bool is_tried(const growing_case *tried, size_t a, size_t b) {
    return (a + 2 * b + (size_t)(tried->mode - growing_modes)) % 3 == 0;
}

/* Merging in both directions, at any two moments, gives the same as adding all keys. */
static void merging_is_adding_everything(void **state) {
    for (size_t a = 0; a < COUNT(moments); a++) {
        for (size_t b = 0; b < COUNT(moments); b++) {
            if (!is_tried(*state, a, b)) continue;
            uint64_t          of_into, end;
            uint64_t const    first = 200 - a * 30 + (UINT64_C(1) << 30) * (b % 2);
            tamis_set *const  into = make_at(*state, a, 0, &of_into);
            tamis_set *const  from = make_at(*state, b, first, &end);
            tamis_set *const  both = make_union(*state, of_into, first, end);
            growing_sum const before = growing_contents(from);
            assert_int_equal(tamis_merge(into, from), TAMIS_OK);
            growing_expect_contents(into, both);
            assert_int_equal(growing_contents(from).sum, before.sum);
            assert_int_equal(tamis_resize(into, GROWING_TO, NULL), TAMIS_OK);
            assert_int_equal(tamis_resize(both, GROWING_TO, NULL), TAMIS_OK);
            growing_expect_alike(into, both);
            tamis_free(into);
            tamis_free(from);
            tamis_free(both);
        }
    }
}

/* If two sets cannot be merged, neither of them changes. */
static void merging_is_all_or_nothing(void **state) {
    const growing_case *const tried = *state;
    tamis_set *const into = growing_make(tried, 13), *const from = growing_make(tried, 13);
    uint64_t added = 0;
    while (tamis_add_id(into, added) == TAMIS_OK && added < 2 * GROWING_TO) added++;
    assert_true(added >= GROWING_TO);
    for (uint64_t id = 0; id < GROWING_TO - GROWING_TO / 16; id++)
        assert_int_equal(tamis_add_id(from, (UINT64_C(1) << 33) + id), TAMIS_OK);
    assert_true(grow_is_moving(from) || from->growth->stage == GROWING_STAGES);
    buffer const before = buffer_of(into);
    assert_int_equal(tamis_merge(into, from), TAMIS_ERR_FULL);
    buffer const after = buffer_of(into);
    assert_int_equal(before.n, after.n);
    assert_memory_equal(before.bytes, after.bytes, before.n);
    expect_valid(into);
    expect_all(into, added);
    free(before.bytes);
    free(after.bytes);
    tamis_free(into);
    tamis_free(from);
}

static void subtracting_undoes_merging(void **state) {
    for (size_t a = 0; a < COUNT(moments); a++) {
        for (size_t b = 0; b < COUNT(moments); b++) {
            if (!is_tried(*state, a, b)) continue;
            uint64_t          of_into, end;
            tamis_set *const  into = make_at(*state, a, 0, &of_into);
            tamis_set *const  from = make_at(*state, b, UINT64_C(1) << 30, &end);
            bool const        can = (into->abilities & TAMIS_CAN_REMOVE) != 0;
            growing_sum const before = growing_contents(into);
            assert_int_equal(tamis_merge(into, from), TAMIS_OK);
            assert_int_equal(tamis_subtract(into, from), can ? TAMIS_OK : TAMIS_ERR_CANNOT);
            if (can) {
                /* a print that saturated stays: the chance of three keys with one print is small */
                growing_sum const left = growing_contents(into);
                if (tamis_sum_tables(into).saturated == 0) assert_int_equal(left.sum, before.sum);
                if (b != 0) assert_int_equal(tamis_subtract(into, from), TAMIS_ERR_ABSENT);
                if (b != 0) assert_int_equal(growing_contents(into).sum, left.sum);
            }
            expect_valid(into);
            tamis_free(into);
            tamis_free(from);
        }
    }
}

static void other_sets_do_not_match(void **state) {
    const growing_case *const tried = *state;
    tamis_set *const set = growing_make(tried, 14), *const seeded = growing_make(tried, 15);
    tamis_seed const seed = make_seed(14);
    tamis_spec       spec = growing_spec(tried, &seed);
    spec.grow_to = GROWING_TO * 4;
    tamis_set *const larger = make_set_from(&spec);
    assert_int_equal(tamis_merge(set, seeded), TAMIS_ERR_MISMATCH);
    assert_int_equal(tamis_merge(set, larger), TAMIS_ERR_MISMATCH);
    assert_int_equal(tamis_merge(larger, set), TAMIS_ERR_MISMATCH);
    tamis_free(set);
    tamis_free(seeded);
    tamis_free(larger);
}

/* A set that is made like one in a step grows as that one does, and can be merged with it. */
static void sets_like_one_in_a_step(void **state) {
    const growing_case *const tried = *state;
    tamis_set *const          set = growing_make(tried, 16);
    uint64_t const            n = growing_bring(set, 0, 1, 500);
    tamis_spec                spec = TAMIS_SPEC_INIT;
    spec.like = set;
    tamis_set *const like = make_set_from(&spec);
    assert_int_equal(like->growth->stage, 1);
    assert_int_equal(inspect(like).facts.grow_to, GROWING_TO);
    add_ids(like, 0, n);
    growing_expect_contents(like, set);
    add_ids(like, n, GROWING_TO - n);
    add_ids(set, n, GROWING_TO - n);
    growing_expect_alike(like, set);
    tamis_free(set);
    tamis_free(like);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_leaves_the_table_of_that_size),
        cmocka_unit_test(a_step_is_over_at_capacity),
        cmocka_unit_test(stages_are_as_planned),
        cmocka_unit_test(no_key_is_lost_in_a_step),
        cmocka_unit_test(the_rate_is_kept_at_every_stage),
        cmocka_unit_test(copies_do_not_let_it_grow),
        cmocka_unit_test(counts_are_kept_in_steps),
        cmocka_unit_test(batches_do_the_same),
        cmocka_unit_test(resizing_keeps_all_answers),
        cmocka_unit_test(removals_make_room_to_shrink),
        cmocka_unit_test(sets_of_fixed_size_stay),
        cmocka_unit_test(clearing_leaves_an_empty_set),
        cmocka_unit_test(merging_is_adding_everything),
        cmocka_unit_test(merging_is_all_or_nothing),
        cmocka_unit_test(subtracting_undoes_merging),
        cmocka_unit_test(other_sets_do_not_match),
        cmocka_unit_test(sets_like_one_in_a_step),
    };
    return growing_run("grow", tests, COUNT(tests));
}
