/* test_share.c - sets that many threads share: one thread sees an ordinary set, byte for byte, and
 * many threads lose nothing. */
#include "buffer.h"
#include "dice.h"
#include "grow.h"
#include "ledger.h"
#include "make.h"
#include "share.h"

#include <pthread.h>
#include <stdio.h>

/* ------------------------------------------------------------------ what is shared */

typedef struct variant {
    const char *name, *kind, *geometry;
    unsigned    abilities;
    uint64_t    capacity, grow_to;
    double      fpr, overflow;
} variant;

static const variant variants[] = {
    { "line", "line", NULL, TAMIS_CAN_REMOVE, 50000, 0, 0.003, 0 },
    { "line, long remainders", "line", NULL, TAMIS_CAN_REMOVE, 50000, 0, 1e-6, 0 },
    { "line, counting", "line", NULL, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT, 50000, 0, 0.003, 0 },
    { "line, a set", "line", NULL, 0, 50000, 0, 0.003, 0 },
    { "line, growing", "line", NULL, TAMIS_CAN_REMOVE, 1000, 64000, 0.003, 0 },
    { "line, growing and counting", "line", NULL, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT, 1000, 64000,
      0.003, 0 },
    { "rank", "rank", NULL, TAMIS_CAN_REMOVE, 20000, 0, 0.01, 0 },
    { "rank, growing", "rank", NULL, TAMIS_CAN_REMOVE, 1000, 16000, 0.01, 0 },
    { "bloom", "bloom", NULL, 0, 20000, 0, 0.01, 0 },
    { "bloom, blocked", "bloom", "blocked=1", 0, 20000, 0, 0.01, 0 },
    { "counting", "counting", NULL, TAMIS_CAN_REMOVE, 20000, 0, 0.01, 0 },
    /* shelves and attic are full soon */
    { "line, crowded", "line", "buckets=130,attic=2900,copies=8", TAMIS_CAN_REMOVE, 7000, 0, 0,
      0.999 },
    { "line, crowded, counting", "line", "buckets=130,attic=2900,counter_bits=2,remainder_bits=11",
      TAMIS_CAN_REMOVE, 7000, 0, 0, 0.999 },
};

static tamis_spec spec_of(const variant *one, bool is_shared) {
    static const tamis_seed seed = { 7, 11 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.capacity = one->capacity;
    spec.fpr = one->fpr;
    spec.abilities = one->abilities;
    spec.kind = one->kind;
    spec.geometry = one->geometry;
    spec.overflow = one->overflow;
    spec.seed = &seed;
    spec.grow_to = one->grow_to;
    spec.shared = is_shared;
    return spec;
}

static tamis_set *make_variant(const variant *one, bool is_shared) {
    tamis_spec const spec = spec_of(one, is_shared);
    tamis_set       *set = NULL;
    tamis_problem    problem = { .text = "" };
    if (tamis_create(&spec, &set, &problem) != TAMIS_OK)
        fail_msg("%s: %s", one->name, problem.text);
    return set;
}

static uint64_t most_keys(const variant *one) {
    return one->grow_to != 0 ? one->grow_to : one->capacity;
}

/* Sets that grow have the same bytes only at the same stage. */
static void bring_to_one_stage(tamis_set *a, tamis_set *b, const variant *one) {
    if (one->grow_to == 0) return;
    assert_int_equal(tamis_resize(a, one->grow_to, NULL), tamis_resize(b, one->grow_to, NULL));
}

/* The order of cells in `rank` depends on the history, but a stream of it is sorted. */
static void assert_same(const variant *one, const tamis_set *a, const tamis_set *b) {
    bool const   is_rank = strcmp(one->kind, "rank") == 0;
    buffer const of_a = is_rank ? buffer_sent(a, TAMIS_SEND_COPIES) : buffer_of(a);
    buffer const of_b = is_rank ? buffer_sent(b, TAMIS_SEND_COPIES) : buffer_of(b);
    buffer_expect_equal(&of_a, &of_b);
    free(of_a.bytes);
    free(of_b.bytes);
}

/* ------------------------------------------------------------------ one thread */

/* One operation on both: the same answer. */
static void do_both(tamis_set *a, tamis_set *b, dice *die, uint64_t universe) {
    uint64_t const id = dice_below(die, universe);
    uint64_t       counts[2] = { 0, 0 };
    bool           is_new[2] = { false, false };
    switch (dice_below(die, 6)) {
    case 0:
    case 1: assert_int_equal(tamis_add_id(a, id), tamis_add_id(b, id)); break;
    case 2: assert_int_equal(tamis_remove_id(a, id), tamis_remove_id(b, id)); break;
    case 3: assert_int_equal(tamis_has_id(a, id), tamis_has_id(b, id)); break;
    case 4:
        assert_int_equal(tamis_count_id(a, id, &counts[0]), tamis_count_id(b, id, &counts[1]));
        assert_int_equal(counts[0], counts[1]);
        break;
    default:
        assert_int_equal(tamis_add_new_id(a, id, &is_new[0]), tamis_add_new_id(b, id, &is_new[1]));
        assert_int_equal(is_new[0], is_new[1]);
        break;
    }
}

static void one_thread_sees_an_ordinary_set(void **state) {
    (void)state;
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
        tamis_set *const shared = make_variant(&variants[v], true);
        tamis_set *const plain = make_variant(&variants[v], false);
        dice             die = { 5 };
        for (unsigned i = 0; i < 120000; i++)
            do_both(shared, plain, &die, most_keys(&variants[v]) * 2);
        expect_valid(shared);
        bring_to_one_stage(shared, plain, &variants[v]);
        assert_same(&variants[v], shared, plain);
        tamis_free(shared);
        tamis_free(plain);
    }
}

/* ------------------------------------------------------------------ many threads */

enum { WRITERS = 3, ROUNDS = 8 };

typedef struct crew {
    tamis_set *set;
    uint64_t   stable; /* ids below this are never removed */
    unsigned   number; /* of the writer */
    uint64_t   keys;   /* of each writer */
    bool      *is_over;
    uint64_t   missed, asked;
} crew;

static uint64_t first_key(unsigned writer) {
    return UINT64_C(1) << 40 | (uint64_t)writer << 32;
}

/* Each writer has keys of its own, adds and removes them, and leaves every second one. */
static void *write_keys(void *context) {
    crew *const    my = context;
    uint64_t const first = first_key(my->number);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < my->keys; i++) my->missed += tamis_add_id(my->set, first + i) != 0;
        for (uint64_t i = 0; i < my->keys; i++) {
            my->missed += !tamis_has_id(my->set, first + i);
            if (round + 1 < ROUNDS || i % 2 == 1)
                my->missed += tamis_remove_id(my->set, first + i) != TAMIS_OK;
        }
    }
    return NULL;
}

static void *read_keys(void *context) {
    crew *const my = context;
    dice        die = { 99 + my->number };
    uint64_t    ids[64];
    while (!__atomic_load_n(my->is_over, __ATOMIC_RELAXED)) {
        for (unsigned i = 0; i < 64; i++) ids[i] = dice_below(&die, my->stable);
        my->missed += 64 - tamis_has_id_batch(my->set, ids, 64, NULL);
        for (unsigned i = 0; i < 8; i++) my->missed += !tamis_has_id(my->set, ids[i]);
        my->asked += 72;
    }
    return NULL;
}

/* Save, copy and inspect the set: every stable key is in the result. */
static void *save_sets(void *context) {
    crew *const my = context;
    while (!__atomic_load_n(my->is_over, __ATOMIC_RELAXED)) {
        tamis_set  *copy = NULL;
        tamis_facts facts;
        my->missed += tamis_copy(my->set, &copy) != TAMIS_OK;
        for (uint64_t i = 0; i < my->stable; i++) my->missed += !tamis_has_id(copy, i);
        my->missed += !tamis_validate(copy, NULL);
        tamis_free(copy);
        my->missed += tamis_get_facts(my->set, &facts) != TAMIS_OK || facts.keys < my->stable;
        my->asked++;
    }
    return NULL;
}

/* Start all, wait for the writers, then end the others. Nobody may have missed a key. */
static void run_crews(const variant *one, tamis_set *set, uint64_t stable, uint64_t each) {
    bool      is_over = false;
    pthread_t thread[WRITERS + 2];
    crew      crews[WRITERS + 2];
    for (unsigned i = 0; i < WRITERS + 2; i++) {
        crews[i] = (crew){ set, stable, i, each, &is_over, 0, 0 };
        void *(*const work)(void *) = i < WRITERS    ? write_keys
                                      : i == WRITERS ? read_keys
                                                     : save_sets;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &crews[i]), 0);
    }
    for (unsigned i = 0; i < WRITERS + 2; i++) {
        if (i == WRITERS) __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
        (void)pthread_join(thread[i], NULL);
        if (crews[i].missed != 0)
            fail_msg("%s: crew %u missed %llu", one->name, i, (unsigned long long)crews[i].missed);
    }
}

/* What the writers leave, added by one thread. */
static void add_what_stays(tamis_set *set, uint64_t stable, uint64_t each) {
    for (uint64_t i = 0; i < stable; i++) assert_int_equal(tamis_add_id(set, i), TAMIS_OK);
    for (unsigned w = 0; w < WRITERS; w++) {
        for (uint64_t i = 0; i < each; i += 2)
            assert_int_equal(tamis_add_id(set, first_key(w) + i), TAMIS_OK);
    }
}

static void threads_lose_nothing(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        const variant *const one = &variants[v];
        uint64_t const       stable = most_keys(one) * 3 / 10, each = most_keys(one) / 6;
        if ((one->abilities & TAMIS_CAN_REMOVE) == 0) continue;
        tamis_set *const shared = make_variant(one, true), *const plain = make_variant(one, false);
        for (uint64_t i = 0; i < stable; i++) assert_int_equal(tamis_add_id(shared, i), TAMIS_OK);
        run_crews(one, shared, stable, each);
        add_what_stays(plain, stable, each);
        expect_valid(shared);
        bring_to_one_stage(shared, plain, one);
        assert_same(one, shared, plain);
        tamis_free(shared);
        tamis_free(plain);
    }
}

/* ------------------------------------------------------------------ two sets */

typedef struct merging {
    tamis_set *into, *from;
} merging;

static void *merge_often(void *context) {
    const merging *const my = context;
    for (unsigned i = 0; i < 20; i++) (void)!tamis_merge(my->into, my->from);
    return NULL;
}

/* Two threads merge the sets in opposite directions. The second one waits, but not for ever. */
static void merging_both_ways_ends(void **state) {
    (void)state;
    tamis_set *const a = make_variant(&variants[0], true), *const b =
                                                               make_variant(&variants[0], true);
    merging   ways[2] = { { a, b }, { b, a } };
    pthread_t thread[2];
    for (uint64_t i = 0; i < 1000; i++) assert_int_equal(tamis_add_id(i % 2 ? a : b, i), TAMIS_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, merge_often, &ways[i]), 0);
    for (unsigned i = 0; i < 2; i++) (void)pthread_join(thread[i], NULL);
    for (uint64_t i = 0; i < 1000; i++) assert_true(tamis_has_id(a, i) && tamis_has_id(b, i));
    expect_valid(a);
    tamis_free(a);
    tamis_free(b);
}

/* ------------------------------------------------------------------ sets like a shared one */

static void *resize_often(void *context) {
    crew *const my = context;
    for (unsigned i = 0; i < 3000; i++)
        my->missed += tamis_resize(my->set, i % 2 == 0 ? 1 : my->keys, NULL) != TAMIS_OK;
    __atomic_store_n(my->is_over, true, __ATOMIC_RELAXED);
    return NULL;
}

/* The plan of a set at one of its stages. */
static tamis_plan plan_like(const tamis_set *set) {
    tamis_spec like = TAMIS_SPEC_INIT;
    tamis_plan row;
    size_t     n;
    like.like = set;
    assert_int_equal(tamis_plan_kinds(&like, &row, 1, &n, NULL), TAMIS_OK);
    return row;
}

static bool is_same_plan(const tamis_plan *a, const tamis_plan *b) {
    bool is_same = a->capacity == b->capacity && a->body_bytes == b->body_bytes &&
                   a->file_bytes == b->file_bytes && a->lifetime == b->lifetime;
    for (unsigned i = 0; i < a->n_fields; i++)
        is_same = is_same && a->fields[i].value == b->fields[i].value;
    return is_same;
}

static void assert_makes_sets_like_it(const tamis_set *set, uint64_t first_capacity) {
    tamis_spec like = TAMIS_SPEC_INIT;
    tamis_plan rows[40];
    tamis_set *made = NULL;
    size_t     n;
    like.like = set;
    assert_int_equal(tamis_plan_stages(&like, rows, COUNT(rows), &n, NULL), TAMIS_OK);
    assert_int_equal(rows[0].capacity, first_capacity);
    assert_int_equal(tamis_create(&like, &made, NULL), TAMIS_OK);
    assert_int_equal(tamis_merge(made, set), TAMIS_OK);
    tamis_free(made);
}

/* Plans and sets that are made like a shared one, while it goes from stage to stage, are those of
 * one stage: not the buckets of one, and the remainders or the capacity of another. */
static void sets_like_one_that_grows_are_like_it(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        if (variants[v].grow_to == 0) continue;
        tamis_set *const set = make_variant(&variants[v], true);
        tamis_plan const small = plan_like(set);
        assert_int_equal(tamis_resize(set, variants[v].grow_to, NULL), TAMIS_OK);
        tamis_plan const large = plan_like(set);
        bool             is_over = false;
        crew             my = { .set = set, .keys = variants[v].grow_to, .is_over = &is_over };
        pthread_t        thread;
        assert_int_equal(pthread_create(&thread, NULL, resize_often, &my), 0);
        for (unsigned i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
            tamis_plan const now = plan_like(set);
            assert_true(is_same_plan(&now, &small) || is_same_plan(&now, &large));
            if (i % 16 == 0) assert_makes_sets_like_it(set, small.capacity);
        }
        (void)pthread_join(thread, NULL);
        assert_int_equal(my.missed, 0);
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ callbacks, and other kinds */

/* Where a file is written to, and the set that the writer changes meanwhile. */
typedef struct busy_writer {
    tamis_set *set;
    buffer     file;
} busy_writer;

static bool add_while_writing(void *context, const void *bytes, size_t n) {
    busy_writer *const writer = context;
    return tamis_add_id(writer->set, 1) == TAMIS_OK && buffer_write(&writer->file, bytes, n);
}

/* A copy of the set is written, so the set can be changed meanwhile, even by the writer callback
 * itself. */
static void a_set_can_be_changed_while_it_is_written(void **state) {
    (void)state;
    busy_writer writer = { make_variant(&variants[0], true), { NULL, 0 } };
    tamis_set  *read = NULL;
    assert_int_equal(tamis_add_id(writer.set, 2), TAMIS_OK);
    assert_int_equal(tamis_write(writer.set, add_while_writing, &writer), TAMIS_OK);
    assert_int_equal(tamis_read(writer.file.bytes, writer.file.n, NULL, &read, NULL), TAMIS_OK);
    assert_true(tamis_has_id(writer.set, 1) && tamis_has_id(read, 2) && !tamis_has_id(read, 1));
    tamis_free(read);
    tamis_free(writer.set);
    free(writer.file.bytes);
}

static bool free_while_writing(void *context, const void *bytes, size_t n) {
    busy_writer *const writer = context;
    tamis_free(writer->set); /* does nothing */
    return tamis_has_id(writer->set, 2) && buffer_write(&writer->file, bytes, n);
}

static void a_set_is_not_freed_while_it_is_written(void **state) {
    (void)state;
    busy_writer writer = { make_variant(&variants[0], true), { NULL, 0 } };
    assert_int_equal(tamis_add_id(writer.set, 2), TAMIS_OK);
    assert_int_equal(tamis_write(writer.set, free_while_writing, &writer), TAMIS_OK);
    assert_int_equal(tamis_send(writer.set, 0, free_while_writing, &writer), TAMIS_OK);
    assert_true(tamis_has_id(writer.set, 2));
    expect_valid(writer.set);
    tamis_free(writer.set);
    free(writer.file.bytes);
}

static uint64_t add_until(tamis_set *set, uint64_t from, bool is_growing) {
    tamis_facts facts;
    do {
        assert_int_equal(tamis_add_id(set, from++), TAMIS_OK);
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
    } while (facts.is_growing != is_growing);
    return from;
}

/* A step that another set has begun is ended by one that was read from its file, and by a copy. */
static void a_step_goes_on_in_what_was_read(void **state) {
    (void)state;
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    how.shared = true;
    for (size_t v = 0; v < COUNT(variants); v++) {
        if (variants[v].grow_to == 0) continue;
        tamis_set *const begun = make_variant(&variants[v], false);
        tamis_set       *sets[2];
        uint64_t const   n = add_until(begun, 0, true);
        buffer const     file = buffer_of(begun);
        assert_int_equal(tamis_read(file.bytes, file.n, &how, &sets[0], NULL), TAMIS_OK);
        assert_int_equal(tamis_copy(sets[0], &sets[1]), TAMIS_OK);
        for (unsigned i = 0; i < 2; i++) {
            uint64_t const end = add_until(sets[i], n, false);
            for (uint64_t id = 0; id < end; id++) assert_true(tamis_has_id(sets[i], id));
            expect_valid(sets[i]);
            tamis_free(sets[i]);
        }
        tamis_free(begun);
        free(file.bytes);
    }
}

/* A key with too many copies is saturated in a stripe. A step that begins before anybody has
 * gathered the counts of the stripes must take it along: or the saved file says that it was
 * damaged. */
static void a_saturated_key_is_counted_after_a_step(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        if (variants[v].grow_to == 0) continue;
        tamis_set *const set = make_variant(&variants[v], true);
        tamis_facts      facts;
        assert_int_equal(tamis_add_copies_id(set, 0, 1000000), TAMIS_OK);
        for (uint64_t id = 1; id < variants[v].grow_to; id++)
            assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
        expect_valid(set);
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
        assert_true(facts.stage != 0);
        assert_int_equal(facts.saturated, 1);
        buffer const file = buffer_of(set);
        tamis_set   *read;
        assert_int_equal(tamis_read(file.bytes, file.n, NULL, &read, NULL), TAMIS_OK);
        free(file.bytes);
        tamis_free(read);
        tamis_free(set);
    }
}

/* A spec for tamis_receive() can ask for a shared set, with and without `like`. */
static void a_received_set_is_shared_if_the_spec_says_so(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        bool const has_prints = strstr("line rank", variants[v].kind) != NULL;
        if (!has_prints || (variants[v].abilities & TAMIS_CAN_REMOVE) == 0) continue;
        tamis_set *const set = make_variant(&variants[v], false);
        assert_int_equal(tamis_add_id(set, 1), TAMIS_OK);
        buffer const sent = buffer_sent(set, TAMIS_SEND_COPIES);
        for (unsigned is_like = 0; is_like < 2; is_like++) {
            tamis_spec    spec = TAMIS_SPEC_INIT;
            tamis_set    *got = NULL;
            tamis_problem problem = { .text = "" };
            spec.shared = true;
            spec.like = is_like ? set : NULL;
            if (tamis_receive(sent.bytes, sent.n, &spec, &got, &problem) != TAMIS_OK)
                fail_msg("%s: %s", variants[v].name, problem.text);
            assert_non_null(got->shared);
            assert_int_equal(tamis_add_id(got, 2), TAMIS_OK);
            assert_true(tamis_has_id(got, 1) && tamis_has_id(got, 2));
            expect_valid(got);
            tamis_free(got);
        }
        tamis_free(set);
        free(sent.bytes);
    }
}

/* A merge in a step of growing replaces both tables, and the step goes on in the new ones. Its end
 * must find all the memory that it needs. */
static void a_step_goes_on_after_a_merge(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        if (variants[v].grow_to == 0) continue;
        tamis_set *const set = make_variant(&variants[v], true);
        tamis_set *const other = make_variant(&variants[v], false);
        uint64_t const   n = add_until(set, 0, true);
        tamis_facts      facts;
        assert_int_equal(tamis_add_id(other, n), TAMIS_OK);
        assert_int_equal(tamis_merge(set, other), TAMIS_OK);
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
        assert_true(facts.is_growing);
        uint64_t const end = add_until(set, n + 1, false);
        for (uint64_t id = 0; id < end; id++) assert_true(tamis_has_id(set, id));
        expect_valid(set);
        tamis_free(set);
        tamis_free(other);
    }
}

/* One thread is refused for want of room; another one finds that room was made meanwhile. The
 * refused one must still read why it was refused, or its caller would think that the key is in. */
static void a_refusal_outlives_the_room_that_another_found(void **state) {
    (void)state;
    tamis_set *const set = make_variant(&variants[4], true);
    uint64_t         id = 0;
    while (tamis_add_id(set, id) == TAMIS_OK) id++;
    assert_true(id >= variants[4].grow_to);
    assert_int_equal(tamis_share_make_room(set, share_of(set)->views - 1), TAMIS_OK);
    assert_int_equal(tamis_share_refusal(set), TAMIS_ERR_FULL);
    tamis_free(set);
}

/* Add ids of the lowest buckets until these have no room, and the set has to grow for them. */
static void crowd_low_buckets(tamis_set *set) {
    for (uint64_t id = 0; set->growth->stage == 0; id++) {
        if (tamis_hash_id(set, id) >> 60 == 0) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    }
}

/* The same if a merge has made room. It works on a copy that is not shared, and the copy found room
 * in the end. */
static void a_refusal_outlives_a_merge_that_grows(void **state) {
    (void)state;
    tamis_set *const set = make_variant(&variants[4], true);
    tamis_set *const from = make_variant(&variants[4], false);
    crowd_low_buckets(from);
    assert_int_equal(tamis_merge(set, from), TAMIS_OK);
    assert_true(set->growth->stage > 0);
    assert_int_equal(tamis_share_refusal(set), TAMIS_ERR_FULL);
    tamis_free(set);
    tamis_free(from);
}

/* The facts count all memory of a set, also its locks, and tables that lookups may still read. */
static void the_facts_of_a_shared_set_count_all_memory(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        ledger      book = { 0 };
        tamis_spec  spec = spec_of(&variants[v], true);
        tamis_set  *set = NULL;
        tamis_facts facts;
        spec.allocator = ledger_allocator(&book);
        assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_OK);
        for (uint64_t id = 0; id < variants[v].capacity * 5 / 2; id++) {
            if (variants[v].grow_to != 0) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
            if (variants[v].grow_to == 0 && id > 0) break;
            assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
            assert_int_equal(facts.memory_bytes, book.bytes);
        }
        tamis_free(set);
        assert_int_equal(book.bytes, 0);
    }
}

/* A step that found no memory begins later, and not sooner than the first attempt: keys that have
 * gone meanwhile need no larger table. */
static void a_step_without_memory_begins_no_sooner(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        if (variants[v].grow_to == 0) continue;
        tamis_set *const set = make_variant(&variants[v], true);
        uint64_t         id = 0;
        set->max_bytes = 1; /* no room for a step */
        while (tamis_add_id(set, id) == TAMIS_OK) id++;
        for (uint64_t i = 10; i < id; i++) assert_int_equal(tamis_remove_id(set, i), TAMIS_OK);
        set->max_bytes = 0;
        for (uint64_t i = 0; i < set->capacity / 2; i++)
            assert_int_equal(tamis_add_id(set, i), TAMIS_OK);
        assert_int_equal(set->growth->stage, 0);
        assert_false(grow_is_moving(set));
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ many copies at once */

#define COPIES 3

#define COUNTS 1000000

/* The key that one thread adds, and that another one counts at the same time. Both are atomic. */
typedef struct copied {
    tamis_set *set;
    uint64_t   id;
    bool       is_over;
} copied;

/* From the first key on again, when there are enough. */
static void *add_copies_of_each(void *context) {
    copied *const all = context;
    tamis_status  status = TAMIS_OK;
    for (uint64_t n = 0; !__atomic_load_n(&all->is_over, __ATOMIC_ACQUIRE); n++) {
        if (n % 20000 == 0) status |= tamis_clear(all->set);
        __atomic_store_n(&all->id, n % 20000, __ATOMIC_RELEASE);
        status |= tamis_add_copies_id(all->set, n % 20000, COPIES);
    }
    return status == TAMIS_OK ? NULL : all;
}

/* Other keys with the same fingerprint have as many copies, so no count is between 0 and that. */
static void count_while_copies_are_added(const variant *one) {
    copied    all = { .set = make_variant(one, true) };
    pthread_t adding;
    void     *failed = NULL;
    uint64_t  count = 0, torn = 0;
    assert_int_equal(pthread_create(&adding, NULL, add_copies_of_each, &all), 0);
    for (unsigned i = 0; i < COUNTS; i++) {
        uint64_t const id = __atomic_load_n(&all.id, __ATOMIC_ACQUIRE);
        if (tamis_count_id(all.set, id, &count) != TAMIS_OK) break;
        torn += count != 0 && count < COPIES;
    }
    __atomic_store_n(&all.is_over, true, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(adding, &failed), 0);
    assert_null(failed);
    assert_int_equal(torn, 0);
    tamis_free(all.set);
}

static void copies_are_added_all_at_once(void **state) {
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++) {
        if ((variants[v].abilities & TAMIS_CAN_COUNT) == 0 || variants[v].overflow != 0) continue;
        count_while_copies_are_added(&variants[v]);
    }
}

static void other_kinds_say_that_they_cannot(void **state) {
    (void)state;
    tamis_spec    spec = TAMIS_SPEC_INIT;
    tamis_set    *set = NULL;
    tamis_problem problem;
    spec.capacity = 1000;
    spec.fpr = 0.01;
    spec.shared = true;
    spec.kind = "dlcbf";
    assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "cannot be shared"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_sees_an_ordinary_set),
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(merging_both_ways_ends),
        cmocka_unit_test(sets_like_one_that_grows_are_like_it),
        cmocka_unit_test(a_received_set_is_shared_if_the_spec_says_so),
        cmocka_unit_test(a_set_can_be_changed_while_it_is_written),
        cmocka_unit_test(a_set_is_not_freed_while_it_is_written),
        cmocka_unit_test(a_step_goes_on_in_what_was_read),
        cmocka_unit_test(a_saturated_key_is_counted_after_a_step),
        cmocka_unit_test(a_step_goes_on_after_a_merge),
        cmocka_unit_test(a_refusal_outlives_the_room_that_another_found),
        cmocka_unit_test(a_refusal_outlives_a_merge_that_grows),
        cmocka_unit_test(the_facts_of_a_shared_set_count_all_memory),
        cmocka_unit_test(a_step_without_memory_begins_no_sooner),
        cmocka_unit_test(copies_are_added_all_at_once),
        cmocka_unit_test(other_kinds_say_that_they_cannot),
    };
    return unit_run("share", tests, COUNT(tests));
}
