/* test_transfer.c - sets that are sent without their empty places, and the sets that are received.
 *
 * usage: test_transfer FOLDER            compare with the streams in the folder, too
 *        test_transfer FOLDER --write    write those that are missing; never over an old one
 *
 * The contents of a set are what its kind's `each` lists: fingerprints and their copies. Streams
 * are crafted below from docs/format.md, not from send.c.
 */
#include "golden.h"
#include "ledger.h"
#include "make.h"
#include "sample.h"

#include "handle.h"
#include "kinds/rank/size.h"
#include "print_list.h"

#include <math.h>
#include <unistd.h>

#define COUNTED (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)
#define NO_SET ((tamis_set *)(uintptr_t)0x5a5a)

enum {
    AT_MAJOR = 8,
    AT_FLAGS = 12,
    AT_HASH = 16,
    AT_R = 20,
    AT_PRINTS = 40,
    AT_LISTED = 48,
    AT_PAYLOAD = 56,
    AT_CAPACITY = 64,
    AT_LIFETIME = 72,
    AT_KIND = 80,
    AT_FIELDS = 96,
    AT_MORE_COPIES = 100,
    AT_GEOMETRY = 104,
    TOTAL = 16
};

/* ------------------------------------------------------------------ sets */

/* A way to store fingerprints. */
typedef struct mode {
    const char *name;
    unsigned    abilities;
    const char *kind, *geometry;
} mode;

static const mode modes[] = {
    { "set, packed", 0, "rank", "aligned=0" },
    { "set, aligned", 0, "rank", "aligned=1" },
    { "counting, packed", COUNTED, "rank", "counter_bits=2,aligned=0" },
    { "counting, aligned", COUNTED, "rank", "counter_bits=2,aligned=1" },
    { "multiset, packed", COUNTED, "rank", "counter_bits=0,copies=8,aligned=0" },
    { "multiset, aligned", COUNTED, "rank", "counter_bits=0,copies=8,aligned=1" },
    { "set of lines", 0, "line", NULL },
    { "counting lines", COUNTED, "line", NULL },
    { "multiset of lines", TAMIS_CAN_REMOVE, "line", NULL },
    { "d-left set", 0, "dlcbf", NULL },
    { "d-left counting", COUNTED, "dlcbf", NULL },
};

static const tamis_seed seed = { 0x7472616e73666572, 0x6e6f77 };

static tamis_spec spec_of(const mode *as, uint64_t capacity) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = capacity;
    spec.fpr = 0.01;
    spec.abilities = as->abilities;
    if ((as->abilities & TAMIS_CAN_COUNT) != 0 && as->geometry == NULL) {
        spec.count_to = 15; /* soon saturated */
    }
    spec.kind = as->kind;
    spec.geometry = as->geometry;
    spec.seed = &seed;
    return spec;
}

static tamis_set *make(const mode *as, uint64_t capacity) {
    tamis_spec const spec = spec_of(as, capacity);
    return make_set_from(&spec);
}

static bool is_counted(const tamis_set *set) {
    return (set->abilities & TAMIS_CAN_COUNT) != 0;
}

/* Fill it to half of its capacity: a third of the keys twice, some so often that they are
 * saturated. */
static void add_mixed(tamis_set *set, uint64_t capacity) {
    for (uint64_t key = 0; key < capacity / 2; key++) {
        unsigned const copies = key % 60 == 7 ? 100 : key % 3 == 0 ? 2 : 1;
        for (unsigned i = 0; i < copies; i++) (void)!tamis_add_id(set, key);
    }
}

static bool is_dleft(const tamis_set *set) {
    return strcmp(set->kind->name, "dlcbf") == 0;
}

/* Add keys until one is refused. Whether a d-left table has room depends on the order of the keys,
 * and a stream does not keep that order: so these get fewer keys. */
static void add_too_many(tamis_set *set, uint64_t capacity) {
    uint64_t key = 0;
    if (is_dleft(set)) {
        add_ids(set, 0, capacity * 21 / 20);
        return;
    }
    while (key < 20 * capacity && tamis_add_id(set, key) == TAMIS_OK) key++;
    assert_true(key > capacity && key < 20 * capacity);
}

enum filling { EMPTY, ONE, COPIES, FULL, OVER, N_FILLINGS };

static tamis_set *make_filled(const mode *as, uint64_t capacity, unsigned filling) {
    tamis_set *const set = make(as, capacity);
    switch (filling) {
    case ONE: add_ids(set, 12345, 1); break;
    case COPIES: add_mixed(set, capacity); break;
    case FULL: add_ids(set, 0, capacity); break;
    case OVER: add_too_many(set, capacity); break;
    default: break;
    }
    return set;
}

/* ------------------------------------------------------------------ what is in them */

typedef struct holding {
    uint64_t print, copies;
} holding;

typedef struct holdings {
    holding *all;
    size_t   n;
} holdings;

static bool hold(void *context, uint64_t print, uint64_t copies) {
    holdings *const to = context;
    if ((to->n & (to->n - 1)) == 0) {
        to->all = realloc(to->all, (to->n == 0 ? 1 : 2 * to->n) * sizeof to->all[0]);
        assert_non_null(to->all);
    }
    to->all[to->n++] = (holding){ print, copies };
    return true;
}

/* Sorted, since kinds list them in any order. */
static holdings holdings_of(const tamis_set *set) {
    holdings   all = { NULL, 0 };
    print_list list;
    assert_int_equal(tamis_print_list_make(set, &list), TAMIS_OK);
    assert_true(tamis_print_list_each(&list, hold, &all));
    tamis_print_list_free(&list);
    return all;
}

static uint64_t field_of(const tamis_set *set, const char *name) {
    tamis_info const info = inspect(set);
    return plan_field(&info.plan, name);
}

static uint64_t prints_of(const tamis_set *set) {
    return set->kind->prints(set->table.geometry);
}

/* The count that a set returns for this many copies, if it counts up to `most`. */
static uint64_t copies_told(uint64_t most, uint64_t copies) {
    if (most == 1) return 1;
    return copies >= most ? TAMIS_COUNT_MANY : copies;
}

/* The copies that a fingerprint can have. */
static uint64_t most_of(const tamis_set *set) {
    uint64_t const bits = field_of(set, "counter_bits");
    if (is_dleft(set)) return bits == 0 ? 1 : UINT64_C(4) << bits;
    return field_of(set, "copies") << bits;
}

/* Both have the same fingerprints, with as many copies as `b` can count and as were sent. */
static void expect_same_contents(const tamis_set *a, const tamis_set *b, bool has_copies) {
    holdings const in_a = holdings_of(a), in_b = holdings_of(b);
    uint64_t const most = most_of(b);
    assert_int_equal(in_a.n, in_b.n);
    for (size_t i = 0; i < in_a.n; i++) {
        uint64_t const copies = has_copies ? in_a.all[i].copies : 1;
        assert_int_equal(in_a.all[i].print, in_b.all[i].print);
        assert_int_equal(copies_told(most, copies), in_b.all[i].copies);
    }
    free(in_a.all);
    free(in_b.all);
}

static void expect_same_answers(const tamis_set *a, const tamis_set *b) {
    char text[40];
    for (uint64_t key = 0; key < 20000; key++) {
        int const n = snprintf(text, sizeof text, "key %llu", (unsigned long long)key);
        assert_int_equal(tamis_has_id(a, key), tamis_has_id(b, key));
        assert_int_equal(tamis_has(a, text, (size_t)n), tamis_has(b, text, (size_t)n));
    }
}

/* ------------------------------------------------------------------ streams */

static unsigned all_flags(const tamis_set *set) {
    return is_counted(set) ? TAMIS_SEND_COPIES : 0;
}

/* The stream is refused with this status and a text; no set is returned, and nothing leaks. 0: any
 * status that damaged bytes may lead to. */
static void expect_refused(const buffer *s, const tamis_spec *spec, tamis_status wanted,
                           const char *word) {
    ledger             book = { 0 };
    tamis_spec         watched = TAMIS_SPEC_INIT;
    tamis_problem      problem = { .text = "" };
    tamis_set         *set = NO_SET;
    tamis_status const status = tamis_receive(s->bytes, s->n, spec, &set, &problem);
    bool const         is_wanted = wanted != 0 ? status == wanted : sample_is_refusal(status);
    if (!is_wanted) fail_msg("%d, not %d: %s", status, wanted, problem.text);
    assert_ptr_equal(set, NO_SET);
    assert_int_equal(problem.status, status);
    assert_true(strlen(problem.text) >= 8);
    if (word != NULL && strstr(problem.text, word) == NULL) fail_msg("%s", problem.text);
    if (spec != NULL) watched = *spec;
    if (watched.allocator.alloc == NULL && watched.allocator.free == NULL) {
        watched.allocator = ledger_allocator(&book);
    }
    assert_true(tamis_receive(s->bytes, s->n, &watched, &set, NULL) != TAMIS_OK);
    assert_ptr_equal(set, NO_SET);
    assert_int_equal(book.bytes, 0);
}

static size_t head_bytes(const uint8_t *stream) {
    uint32_t const fields = le32_load(stream + AT_FIELDS);
    return AT_GEOMETRY + 8 * (size_t)(fields < 16 ? fields : 16) + 8;
}

/* Make both checksums right again, as an attacker would. */
static void seal(buffer *s) {
    sample_seal_stream(s, head_bytes(s->bytes));
}

static buffer copy_of(const buffer *s) {
    buffer copy = { NULL, 0 };
    (void)buffer_write(&copy, s->bytes, s->n);
    return copy;
}

/* A set with 3,840 possible fingerprints. It holds some of them, with copies. */
static tamis_set *small_set(const tamis_allocator *allocator) {
    tamis_spec spec = spec_of(&modes[2], 40);
    spec.fpr = 0;
    spec.geometry = "buckets=5,chains=12,remainder_bits=6,counter_bits=2,copies=8,aligned=0";
    if (allocator != NULL) spec.allocator = *allocator;
    tamis_set *const set = make_set_from(&spec);
    add_ids(set, 0, 40);
    add_ids(set, 0, 9);
    for (unsigned i = 0; i < 100; i++) assert_int_equal(tamis_add_id(set, 3), TAMIS_OK);
    return set;
}

static buffer small_stream(void) {
    tamis_set *const set = small_set(NULL);
    buffer const     s = buffer_sent(set, TAMIS_SEND_COPIES);
    tamis_free(set);
    return s;
}

/* ------------------------------------------------------------------ in order, each once */

static int compare_holdings(const void *a, const void *b) {
    uint64_t const x = ((const holding *)a)->print, y = ((const holding *)b)->print;
    return x < y ? -1 : x > y;
}

/* The prints that the kind lists, added up without print_list.c. */
static holdings holdings_by_hand(const tamis_set *set) {
    holdings raw = { NULL, 0 }, all = { NULL, 0 };
    assert_true(set->kind->each(&set->table, hold, &raw));
    if (raw.n != 0) qsort(raw.all, raw.n, sizeof raw.all[0], compare_holdings);
    for (size_t i = 0; i < raw.n; i++) {
        if (i == 0 || raw.all[i].print != raw.all[i - 1].print) {
            (void)hold(&all, raw.all[i].print, raw.all[i].copies);
            continue;
        }
        uint64_t *const copies = &all.all[all.n - 1].copies;
        bool const      is_many = *copies == TAMIS_COUNT_MANY;
        assert_int_equal(raw.all[i].copies == TAMIS_COUNT_MANY, is_many);
        if (!is_many) *copies += raw.all[i].copies;
    }
    free(raw.all);
    return all;
}

static bool hold_three(void *context, uint64_t print, uint64_t copies) {
    (void)hold(context, print, copies);
    return ((holdings *)context)->n < 3;
}

/* A kind may list its prints in any order, and a print several times with a part of its copies
 * each. */
static void fingerprints_are_listed_in_order_each_once(void **state) {
    for (unsigned filling = 0; filling < N_FILLINGS; filling++) {
        tamis_set *const set = make_filled(*state, 1000, filling);
        holdings const   all = holdings_of(set), by_hand = holdings_by_hand(set);
        uint64_t         copies = 0;
        assert_int_equal(all.n, by_hand.n);
        for (size_t i = 0; i < all.n; i++) {
            bool const is_many = all.all[i].copies == TAMIS_COUNT_MANY;
            assert_true(i == 0 || all.all[i - 1].print < all.all[i].print);
            assert_true(all.all[i].print < prints_of(set));
            assert_int_equal(all.all[i].print, by_hand.all[i].print);
            assert_int_equal(all.all[i].copies, by_hand.all[i].copies);
            copies += is_many ? most_of(set) : all.all[i].copies;
        }
        assert_int_equal(copies, inspect(set).facts.keys);
        free(all.all);
        free(by_hand.all);
        tamis_free(set);
    }
}

static void listing_fingerprints_stops_on_request(void **state) {
    tamis_set *const set = make_filled(*state, 1000, COPIES);
    holdings         few = { NULL, 0 };
    holdings const   all = holdings_of(set);
    print_list       list;
    assert_int_equal(tamis_print_list_make(set, &list), TAMIS_OK);
    assert_false(tamis_print_list_each(&list, hold_three, &few));
    assert_int_equal(few.n, 3);
    assert_memory_equal(few.all, all.all, 3 * sizeof few.all[0]);
    tamis_print_list_free(&list);
    free(few.all);
    free(all.all);
    tamis_free(set);
}

/* ------------------------------------------------------------------ there and back */

static bool is_same_geometry(const tamis_plan *a, const tamis_plan *b) {
    if (a->n_fields != b->n_fields) return false;
    for (unsigned i = 0; i < a->n_fields; i++) {
        if (a->fields[i].value != b->fields[i].value) return false;
    }
    return true;
}

static void expect_twin(const tamis_set *set, const tamis_set *back) {
    tamis_info const a = inspect(set), b = inspect(back);
    assert_string_equal(a.plan.kind, b.plan.kind);
    assert_true(is_same_geometry(&a.plan, &b.plan));
    assert_int_equal(a.plan.capacity, b.plan.capacity);
    assert_int_equal(a.plan.lifetime, b.plan.lifetime);
    assert_int_equal(a.facts.hash, b.facts.hash);
    assert_memory_equal(&a.facts.seed, &b.facts.seed, sizeof a.facts.seed);
    assert_int_equal(a.facts.keys, b.facts.keys);
    assert_int_equal(a.facts.saturated, b.facts.saturated);
    expect_same_contents(set, back, true);
    expect_same_answers(set, back);
}

static void what_arrives_is_what_was_sent(void **state) {
    for (unsigned filling = 0; filling < N_FILLINGS; filling++) {
        tamis_set *const set = make_filled(*state, 1000, filling);
        buffer const     s = buffer_sent(set, all_flags(set));
        tamis_set *const back = buffer_receive(&s, NULL);
        expect_twin(set, back);
        assert_int_equal(inspect(set).facts.saturated != 0, filling == COPIES && is_counted(set));
        buffer const again = buffer_sent(back, all_flags(back));
        assert_int_equal(again.n, s.n);
        assert_memory_equal(again.bytes, s.bytes, s.n);
        free(again.bytes);
        free(s.bytes);
        tamis_free(back);
        tamis_free(set);
    }
}

/* Without copies: each fingerprint once, and no removal. */
static void what_arrives_without_copies_answers_the_same(void **state) {
    for (unsigned filling = 0; filling < OVER; filling++) {
        tamis_set *const set = make_filled(*state, 1000, filling);
        buffer const     s = buffer_sent(set, 0);
        tamis_set *const back = buffer_receive(&s, NULL);
        holdings const   all = holdings_of(set);
        tamis_info const info = inspect(back);
        assert_int_equal(info.facts.keys, all.n);
        assert_int_equal(info.facts.saturated, 0);
        assert_int_equal(info.plan.abilities & COUNTED, 0);
        assert_int_equal(info.plan.capacity, 1000);
        expect_same_contents(set, back, false);
        expect_same_answers(set, back);
        free(all.all);
        free(s.bytes);
        tamis_free(back);
        tamis_free(set);
    }
}

/* Saturated keys stay. All others can be removed, and then no other bit is set. */
static void what_arrives_can_be_emptied(void **state) {
    tamis_set *const set = make(*state, 1000);
    if (is_counted(set)) {
        add_ids(set, 0, 700);
        add_ids(set, 0, 200);
        buffer const     s = buffer_sent(set, TAMIS_SEND_COPIES);
        tamis_set *const back = buffer_receive(&s, NULL);
        for (uint64_t i = 0; i < 900; i++) {
            assert_int_equal(tamis_remove_id(back, i < 700 ? i : i - 700), TAMIS_OK);
        }
        assert_int_equal(inspect(back).facts.keys, 0);
        for (uint64_t i = 0; i < back->table.body_bytes; i++) {
            assert_int_equal(back->table.body[i], 0);
        }
        free(s.bytes);
        tamis_free(back);
    }
    tamis_free(set);
}

static void stream_is_independent_of_history(void **state) {
    tamis_set *const one = make(*state, 1000), *const other = make(*state, 1000);
    add_ids(one, 0, 600);
    if (is_counted(other)) add_ids(other, 5000, 300);
    for (uint64_t key = 600; key-- != 0;) add_ids(other, key, 1);
    for (uint64_t key = 5000; key < 5300 && is_counted(other); key++) {
        assert_int_equal(tamis_remove_id(other, key), TAMIS_OK);
    }
    buffer const a = buffer_sent(one, all_flags(one)), b = buffer_sent(other, all_flags(other));
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.bytes, b.bytes, a.n);
    free(a.bytes);
    free(b.bytes);
    tamis_free(one);
    tamis_free(other);
}

static void stream_is_the_same_for_every_instruction_set(void **state) {
    buffer first = { NULL, 0 };
    for (size_t i = 0; tamis_isa_name(i) != NULL; i++) {
        tamis_spec spec = spec_of(*state, 1000);
        spec.isa = tamis_isa_name(i);
        tamis_set *const set = make_set_from(&spec);
        add_mixed(set, 1000);
        buffer const s = buffer_sent(set, all_flags(set));
        if (i == 0) first = copy_of(&s);
        assert_int_equal(s.n, first.n);
        assert_memory_equal(s.bytes, first.bytes, s.n);
        tamis_set *const back = buffer_receive(&first, &spec);
        assert_string_equal(inspect(back).facts.isa, inspect(set).facts.isa);
        expect_same_contents(set, back, true);
        free(s.bytes);
        tamis_free(back);
        tamis_free(set);
    }
    free(first.bytes);
}

/* A set that is mapped from its file is sent without being read into memory. */
static void mapped_set_is_sent_the_same(void **state) {
    char             folder[64], path[128];
    tamis_set *const set = make_filled(*state, 1000, COPIES);
    temporary_folder_make(folder, sizeof folder);
    (void)snprintf(path, sizeof path, "%s/set.tamis", folder);
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *mapped = NULL;
    how.flags = TAMIS_OPEN_MAP;
    assert_int_equal(tamis_open(path, &how, &mapped, NULL), TAMIS_OK);
    buffer const a = buffer_sent(set, all_flags(set)), b = buffer_sent(mapped, all_flags(mapped));
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.bytes, b.bytes, a.n);
    free(a.bytes);
    free(b.bytes);
    tamis_free(mapped);
    tamis_free(set);
    temporary_folder_remove(folder);
}

/* ------------------------------------------------------------------ into other geometries */

/* What the receiver asks for: a multiple of the capacity, abilities, a geometry. */
typedef struct change {
    const char *name;
    unsigned    from; /* of the modes */
    double      capacity;
    unsigned    abilities;
    const char *geometry;
} change;

static const change changes[] = {
    { "half as large again", 2, 1.5, COUNTED, NULL },
    { "larger", 2, 2, COUNTED, NULL },
    { "much larger", 2, 16, COUNTED, NULL },
    { "smaller", 2, 0.5, COUNTED, NULL },
    { "much smaller", 2, 0.25, COUNTED, NULL },
    { "larger set", 0, 3, 0, NULL },
    { "smaller set", 0, 0.4, 0, NULL },
    { "larger lines", 8, 3, TAMIS_CAN_REMOVE, NULL },
    { "smaller lines", 8, 0.5, TAMIS_CAN_REMOVE, NULL },
    { "packed to aligned", 2, 1, COUNTED, "aligned=1" },
    { "aligned to packed", 3, 1, COUNTED, "aligned=0" },
    { "set, packed to aligned", 0, 1, 0, "aligned=1" },
    { "set, aligned to packed", 1, 1, 0, "aligned=0" },
    { "counter of 2 bits to 4", 2, 1, COUNTED, "counter_bits=4" },
    { "counter of 2 bits to 8", 2, 1, COUNTED, "counter_bits=8" },
    { "counter of 2 bits to 1", 2, 1, COUNTED, "counter_bits=1" },
    { "counting to multiset", 2, 1, COUNTED, "counter_bits=0,copies=8" },
    { "counting to what can remove", 2, 1, TAMIS_CAN_REMOVE, NULL },
    { "multiset to counting", 4, 1, COUNTED, "counter_bits=2" },
    { "counting to set", 2, 1, TAMIS_CAN_MERGE, NULL },
    { "multiset to set", 5, 1, TAMIS_CAN_MERGE, NULL },
};

static double rate_of(const tamis_set *set, uint64_t keys) {
    return -expm1(-(double)keys / (double)prints_of(set));
}

/* If the rate would rise by more than half, the set is refused until the spec allows that rate. */
static void allow_rate(const buffer *s, const tamis_set *from, tamis_spec *spec) {
    double const rate = rate_of(from, spec->capacity);
    expect_refused(s, spec, TAMIS_ERR_CANNOT, "would be a false positive");
    spec->fpr = rate * 0.99;
    expect_refused(s, spec, TAMIS_ERR_CANNOT, "would be a false positive");
    spec->fpr = rate * 1.01;
}

static void expect_changed(const change *as) {
    uint64_t const   capacity = 4000, held = 500;
    tamis_set *const set = make(&modes[as->from], capacity);
    add_mixed(set, held);
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = (uint64_t)((double)capacity * as->capacity);
    spec.abilities = as->abilities;
    if ((as->abilities & TAMIS_CAN_COUNT) != 0 && as->geometry == NULL) {
        spec.count_to = 15; /* soon saturated */
    }
    spec.geometry = as->geometry;
    buffer const s = buffer_sent(set, all_flags(set));
    if (as->capacity > 1.5) allow_rate(&s, set, &spec);
    tamis_set *const back = buffer_receive(&s, &spec);
    tamis_info const info = inspect(back);
    assert_int_equal(info.plan.capacity, spec.capacity);
    assert_int_equal(as->abilities & ~info.plan.abilities, 0);
    assert_int_equal(prints_of(back), prints_of(set));
    assert_true(info.plan.overflow <= 1e-10);
    expect_same_contents(set, back, true);
    expect_same_answers(set, back);
    add_ids(back, 100000, spec.capacity - held);
    free(s.bytes);
    tamis_free(back);
    tamis_free(set);
}

static void what_arrives_may_have_another_geometry(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(changes); i++) {
        print_message("# %s\n", changes[i].name);
        expect_changed(&changes[i]);
    }
}

/* 1024 x 4095 fingerprints can also be 65 buckets of 63 chains. Keys in several cells, saturated
 * keys, and keys of any subtable arrive, and can be sent back. */
static void d_left_becomes_rank_and_d_left_again(void **state) {
    (void)state;
    for (unsigned bits = 0; bits <= 2; bits++) {
        mode const as = { "", bits == 0 ? 0 : COUNTED, "dlcbf", NULL };
        tamis_spec spec = spec_of(&as, 8000), other = spec_of(&as, 0), like = TAMIS_SPEC_INIT;
        char       geometry[100];
        (void)snprintf(geometry, sizeof geometry, "buckets=1024,remainder_bits=12,counter_bits=%u",
                       bits);
        spec.geometry = geometry;
        spec.count_to = 0; /* as far as the geometry counts */
        tamis_set *const set = make_set_from(&spec);
        add_mixed(set, 8000);
        buffer const s = buffer_sent(set, all_flags(set));
        other.kind = "rank";
        other.seed = NULL;
        tamis_set *const rank = buffer_receive(&s, &other);
        assert_string_equal(rank->kind->name, "rank");
        expect_same_contents(set, rank, true);
        expect_same_answers(set, rank);
        buffer const t = buffer_sent(rank, all_flags(rank));
        like.like = set;
        tamis_set *const back = buffer_receive(&t, &like);
        if (bits == 0) expect_twin(set, back);
        expect_same_answers(set, back);
        free(s.bytes);
        free(t.bytes);
        tamis_free(back);
        tamis_free(rank);
        tamis_free(set);
    }
}

/* Sets that are filled to their capacity: although the keys arrive in another order, none has to be
 * moved. */
static void a_received_d_left_table_needed_no_moves(void **state) {
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        mode const     as = { "", i % 2 == 0 ? 0 : COUNTED, "dlcbf", NULL };
        uint64_t const capacity = i < 4 ? 3000 : 200000;
        tamis_spec     spec = spec_of(&as, capacity);
        spec.prefer = i / 2 % 2 == 0 ? TAMIS_PREFER_SMALL : TAMIS_PREFER_FAST;
        tamis_set *const set = make_set_from(&spec);
        add_ids(set, 0, capacity);
        buffer const     s = buffer_sent(set, all_flags(set));
        tamis_set *const back = buffer_receive(&s, NULL);
        expect_twin(set, back);
        assert_int_equal(inspect(set).facts.moved, 0);
        assert_int_equal(inspect(back).facts.moved, 0);
        free(s.bytes);
        tamis_free(back);
        tamis_free(set);
    }
}

static tamis_spec spec_of_capacity(uint64_t capacity) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = capacity;
    return spec;
}

/* One and a half times the keys are accepted although the rate rises. A few more are refused, and
 * the message says what the rate would be. */
static void without_a_rate_in_the_spec_the_senders_rate_is_kept(void **state) {
    tamis_set *const set = make_filled(*state, 10000, COPIES);
    buffer const     s = buffer_sent(set, all_flags(set));
    tamis_spec const most = spec_of_capacity(15000);
    tamis_spec       more = spec_of_capacity(15500), same = spec_of_capacity(0);
    tamis_set *const back = buffer_receive(&s, &most);
    double const     prints = (double)prints_of(set), rate = rate_of(set, 15500);
    char             told[80];
    assert_true(inspect(back).plan.fpr <= 1.5 * 10000 / prints);
    (void)snprintf(told, sizeof told,
                   "with 15500 keys and these fingerprints, one absent key in %.0f ", 1 / rate);
    expect_refused(&s, &more, TAMIS_ERR_CANNOT, told);
    more.fpr = rate * 1.01;
    tamis_set *const larger = buffer_receive(&s, &more);
    assert_int_equal(inspect(larger).plan.capacity, 15500);
    same.fpr = 0.5 * 10000 / prints; /* less than it is */
    expect_refused(&s, &same, TAMIS_ERR_CANNOT, "would be a false positive");
    free(s.bytes);
    tamis_free(larger);
    tamis_free(back);
    tamis_free(set);
}

/* Fixed fields can give a set a lower rate than a spec may ask for. It is received all the same, as
 * another kind, too. */
static void rates_below_the_least_of_a_spec_are_kept(void **state) {
    (void)state;
    tamis_spec spec = spec_of_capacity(100), as_rank = spec_of_capacity(0);
    spec.kind = "line";
    spec.geometry = "buckets=4,remainder_bits=40";
    as_rank.kind = "rank";
    tamis_set *const set = make_set_from(&spec);
    for (uint64_t id = 0; id < 100; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    buffer const     s = buffer_sent(set, 0);
    tamis_set *const back = buffer_receive(&s, &as_rank);
    assert_true(rate_of(set, 100) < 1e-12);
    for (uint64_t id = 0; id < 100; id++) assert_true(tamis_has_id(back, id));
    free(s.bytes);
    tamis_free(back);
    tamis_free(set);
}

/* If the spec asks for no abilities, removal is kept, provided that copies were sent. */
static void without_abilities_in_the_spec_the_senders_are_kept(void **state) {
    tamis_set *const set = make_filled(*state, 1000, COPIES);
    unsigned const   own = set->abilities & COUNTED;
    buffer const     all = buffer_sent(set, all_flags(set)), bare = buffer_sent(set, 0);
    tamis_spec const spec = spec_of_capacity(1200);
    tamis_set *const back = buffer_receive(&all, &spec), *const less = buffer_receive(&bare, &spec);
    assert_int_equal(back->abilities & own, own);
    assert_int_equal(less->abilities & COUNTED, 0);
    expect_same_contents(set, back, true);
    expect_same_contents(set, less, false);
    for (uint64_t key = 1; key < 500 && own != 0; key += 60) {
        assert_int_equal(tamis_remove_id(back, key), TAMIS_OK);
    }
    free(all.bytes);
    free(bare.bytes);
    tamis_free(less);
    tamis_free(back);
    tamis_free(set);
}

/* The number of fingerprints is given by the stream. So a fixed number of buckets either fits to it
 * or is refused. */
static void fixed_buckets_are_kept_or_refused(void **state) {
    tamis_set *const set = make_filled(*state, 1000, COPIES);
    buffer const     s = buffer_sent(set, all_flags(set));
    uint64_t const   own = field_of(set, "buckets");
    tamis_spec       spec = spec_of(*state, 1000);
    const char      *none = is_dleft(set) ? "moves=1" : "value_bits=0";
    const char      *rest = spec.geometry != NULL ? spec.geometry : none;
    unsigned         n_had = 0, n_refused = 0;
    spec.fpr = 0;
    for (uint64_t buckets = own / 2; buckets <= 2 * own; buckets++) {
        char       geometry[120];
        tamis_set *back = NULL;
        (void)snprintf(geometry, sizeof geometry, "buckets=%llu,%s", (unsigned long long)buckets,
                       rest);
        spec.geometry = geometry;
        tamis_status const status = tamis_receive(s.bytes, s.n, &spec, &back, NULL);
        if (status == TAMIS_ERR_CANNOT && buckets != own) {
            n_refused++;
            continue;
        }
        assert_int_equal(status, TAMIS_OK);
        assert_int_equal(field_of(back, "buckets"), buckets);
        assert_int_equal(prints_of(back), prints_of(set));
        expect_same_contents(set, back, true);
        tamis_free(back);
        n_had++;
    }
    assert_true(n_had >= 1 && n_refused > n_had);
    free(s.bytes);
    tamis_free(set);
}

/* A spec that asks for abilities other than removal gives removal up; the set is then as small as
 * possible. */
static void what_arrives_without_removal_is_smaller(void **state) {
    (void)state;
    tamis_set *const set = make_filled(&modes[2], 10000, FULL);
    buffer const     s = buffer_sent(set, TAMIS_SEND_COPIES);
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.prefer = TAMIS_PREFER_SMALL;
    tamis_set *const counting = buffer_receive(&s, &spec);
    spec.abilities = TAMIS_CAN_MERGE;
    tamis_set *const back = buffer_receive(&s, &spec);
    assert_int_equal(inspect(counting).plan.abilities & COUNTED, COUNTED);
    assert_int_equal(inspect(back).plan.abilities & COUNTED, 0);
    assert_int_equal(inspect(back).plan.capacity, 10000);
    assert_true(inspect(back).plan.body_bytes * 100 < inspect(set).plan.body_bytes * 85);
    assert_true(inspect(back).plan.body_bytes * 100 < inspect(counting).plan.body_bytes * 85);
    expect_same_contents(set, counting, true);
    expect_same_contents(set, back, true);
    free(s.bytes);
    tamis_free(counting);
    tamis_free(back);
    tamis_free(set);
}

static void what_arrives_like_another_can_merge_with_it(void **state) {
    bool const       is_line = strcmp(((const mode *)*state)->kind, "line") == 0;
    uint64_t const   capacity = is_line ? 1100 : 3000; /* no more lines than prints allow */
    tamis_set *const set = make_filled(*state, 1000, COPIES);
    tamis_spec       spec = spec_of(*state, capacity);
    buffer const     s = buffer_sent(set, all_flags(set));
    spec.fpr = 0.04; /* of three times as many keys */
    tamis_set *const other = buffer_receive(&s, &spec);
    assert_int_equal(tamis_clear(other), TAMIS_OK);
    add_ids(other, 90000, 100);
    tamis_spec like = TAMIS_SPEC_INIT;
    like.like = other;
    tamis_set *const back = buffer_receive(&s, &like);
    assert_int_equal(inspect(back).plan.capacity, capacity);
    expect_same_contents(set, back, true);
    assert_int_equal(tamis_merge(back, other), TAMIS_OK);
    for (uint64_t key = 0; key < 100; key++) assert_true(tamis_has_id(back, 90000 + key));
    free(s.bytes);
    tamis_free(back);
    tamis_free(other);
    tamis_free(set);
}

/* ------------------------------------------------------------------ what cannot be had */

static void stream_without_copies_cannot_become_removable(void **state) {
    (void)state;
    tamis_set *const set = make_filled(&modes[2], 1000, COPIES);
    buffer const     s = buffer_sent(set, 0);
    tamis_spec       spec = TAMIS_SPEC_INIT, like = TAMIS_SPEC_INIT;
    spec.abilities = TAMIS_CAN_REMOVE;
    expect_refused(&s, &spec, TAMIS_ERR_CANNOT, "has no copies");
    spec.abilities = TAMIS_CAN_COUNT;
    expect_refused(&s, &spec, TAMIS_ERR_CANNOT, "has no copies");
    like.like = set;
    expect_refused(&s, &like, TAMIS_ERR_CANNOT, "has no copies");
    free(s.bytes);
    tamis_free(set);
}

/* The size of a `line` follows from the fingerprints alone, whatever the capacity. */
static void too_small_a_capacity_is_refused(void **state) {
    if (strcmp(((const mode *)*state)->kind, "line") == 0) return;
    tamis_set *const set = make_filled(*state, 10000, FULL);
    buffer const     s = buffer_sent(set, all_flags(set));
    tamis_spec       spec = spec_of(*state, 1000);
    spec.fpr = 0;
    expect_refused(&s, &spec, TAMIS_ERR_FULL, "ask for more capacity");
    free(s.bytes);
    tamis_free(set);
}

static bool must_not_write(void *context, const void *bytes, size_t n) {
    (void)context;
    (void)bytes;
    fail_msg("%zu bytes were written", n);
    return false;
}

/* Kinds that store more about a key than its fingerprint cannot be sent, either: that information
 * would be lost, and the rate would rise. A ddlcbf that states 0.023% would come back with
 * 0.16%. */
static void kinds_without_fingerprints_cannot_be_sent(void **state) {
    (void)state;
    static const char *const kinds[] = { "bloom", "counting", "ddlcbf" };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        spec.capacity = 100;
        spec.fpr = 0.01;
        spec.kind = kinds[i];
        tamis_set *const set = make_set_from(&spec);
        assert_int_equal(tamis_send(set, 0, must_not_write, NULL), TAMIS_ERR_CANNOT);
        assert_int_equal(tamis_send(set, TAMIS_SEND_COPIES, must_not_write, NULL),
                         TAMIS_ERR_CANNOT);
        tamis_free(set);
    }
}

static void wrong_arguments_of_sending_are_refused(void **state) {
    (void)state;
    tamis_set *const set = make(&modes[0], 100), *const counted = make(&modes[2], 100);
    assert_int_equal(tamis_send(NULL, 0, must_not_write, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_send(set, 0, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_send(counted, 2, must_not_write, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_send(counted, 3, must_not_write, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_send(counted, 1u << 31, must_not_write, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_send(set, TAMIS_SEND_COPIES, must_not_write, NULL), TAMIS_ERR_CANNOT);
    tamis_free(counted);
    tamis_free(set);
}

static void wrong_arguments_of_receiving_are_refused(void **state) {
    (void)state;
    buffer const s = small_stream();
    tamis_set   *set = NO_SET;
    tamis_spec   spec = TAMIS_SPEC_INIT;
    assert_int_equal(tamis_receive(NULL, 1, NULL, &set, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_receive(NULL, 0, NULL, &set, NULL), TAMIS_ERR_TRUNCATED);
    assert_int_equal(tamis_receive(s.bytes, s.n, NULL, NULL, NULL), TAMIS_ERR_ARGUMENT);
    spec.size = 0;
    expect_refused(&s, &spec, TAMIS_ERR_ARGUMENT, "TAMIS_SPEC_INIT");
    spec.size = SIZE_MAX;
    assert_int_equal(tamis_receive(s.bytes, s.n, &spec, &set, NULL), TAMIS_ERR_ARGUMENT);
    assert_ptr_equal(set, NO_SET);
    free(s.bytes);
}

#define EXPECT_SPEC(status, field, value)          \
    do {                                           \
        tamis_spec spec = TAMIS_SPEC_INIT;         \
        spec.field = (value);                      \
        expect_refused(&s, &spec, (status), NULL); \
    } while (0)

static void wrong_specs_are_refused(void **state) {
    (void)state;
    buffer const s = small_stream();
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, capacity, (UINT64_C(1) << 40) + 1);
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, fpr, 0.7);
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, fpr, -1);
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, fpr, (double)NAN);
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, abilities, 64);
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, prefer, (tamis_preference)7);
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, overflow, 2);
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, lifetime, 1);
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, geometry, "wheels=4");
    EXPECT_SPEC(TAMIS_ERR_ARGUMENT, allocator.alloc, ledger_alloc);
    EXPECT_SPEC(TAMIS_ERR_KIND, kind, "sponge");
    EXPECT_SPEC(TAMIS_ERR_CANNOT, kind, "bloom");
    EXPECT_SPEC(TAMIS_ERR_CANNOT, kind, "counting");
    EXPECT_SPEC(TAMIS_ERR_CANNOT, fpr, 1e-9);
    EXPECT_SPEC(TAMIS_ERR_CANNOT, geometry, "chains=11");
    EXPECT_SPEC(TAMIS_ERR_CANNOT, geometry, "remainder_bits=40");
    free(s.bytes);
}

/* With `like`, the allocator and the instruction set of the spec are still used. */
static void half_an_allocator_is_refused_with_like_too(void **state) {
    (void)state;
    buffer const     s = small_stream();
    tamis_set *const set = small_set(NULL);
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.like = set;
    spec.allocator.alloc = ledger_alloc;
    expect_refused(&s, &spec, TAMIS_ERR_ARGUMENT, NULL);
    spec.allocator = (tamis_allocator){ NULL, ledger_free, NULL };
    expect_refused(&s, &spec, TAMIS_ERR_ARGUMENT, NULL);
    tamis_free(set);
    free(s.bytes);
}

static void a_missing_instruction_set_is_reported(void **state) {
    (void)state;
    buffer const     s = small_stream();
    tamis_set *const set = small_set(NULL);
    EXPECT_SPEC(TAMIS_ERR_NOT_BUILT, isa, "avx1024");
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.isa = "avx1024";
    spec.kind = "rank";
    expect_refused(&s, &spec, TAMIS_ERR_NOT_BUILT, NULL);
    spec.like = set;
    expect_refused(&s, &spec, TAMIS_ERR_NOT_BUILT, NULL);
    tamis_free(set);
    free(s.bytes);
}

/* A set keeps the hash of the stream, but the hash of a spec must be one of this build. */
static void a_hash_that_is_not_built_is_named(void **state) {
    (void)state;
    buffer const  s = small_stream();
    tamis_spec    spec = TAMIS_SPEC_INIT;
    tamis_set    *set = NULL;
    tamis_problem problem;
    spec.hash = TAMIS_HASH_SIPHASH;
    tamis_status const status = tamis_receive(s.bytes, s.n, &spec, &set, &problem);
    if (status != TAMIS_OK) {
        assert_int_equal(status, TAMIS_ERR_NOT_BUILT);
        assert_non_null(strstr(problem.text, "SipHash"));
    }
    tamis_free(set);
    free(s.bytes);
}

static void sets_that_are_not_alike_are_refused(void **state) {
    (void)state;
    buffer const     s = small_stream();
    tamis_seed const other_seed = { 1, 2 };
    tamis_spec       specs[3] = { spec_of(&modes[2], 40), spec_of(&modes[2], 40),
                                  spec_of(&modes[0], 40) };
    specs[0].geometry = "buckets=5,chains=12,remainder_bits=6,counter_bits=2,aligned=0";
    specs[0].seed = &other_seed;
    specs[0].fpr = 0;
    specs[2].kind = "bloom";
    specs[2].geometry = NULL;
    for (size_t i = 0; i < COUNT(specs); i++) {
        tamis_set *const other = make_set_from(&specs[i]);
        EXPECT_SPEC(TAMIS_ERR_MISMATCH, like, other);
        tamis_free(other);
    }
    free(s.bytes);
}

/* ------------------------------------------------------------------ sizes */

/* The paper's size, (1/lambda + r + 1) bits for each of n keys, in chains of lambda = n 2^r / F. */
static double formula_bits(double prints, double n, unsigned r) {
    return ldexp(prints, -(int)r) + n * (r + 1);
}

static double best_formula_bits(double prints, double n) {
    double best = formula_bits(prints, n, 0);
    for (unsigned r = 1; r <= 56; r++) best = fmin(best, formula_bits(prints, n, r));
    return best;
}

/* Keys with different fingerprints, so that each has one copy. */
static void add_different(tamis_set *set, uint64_t n) {
    uint64_t added = 0;
    for (uint64_t key = 0; added < n; key++) {
        if (tamis_has_id(set, key)) continue;
        assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
        added++;
    }
}

/* The stream takes the r that is best for the present keys, not that of the table. So its size,
 * with header and checksums, is compared with the formula at the best r, and it is smaller than the
 * formula at the table's r. */
static void expect_size(const mode *as, uint64_t keys, double fpr) {
    tamis_spec spec = spec_of(as, keys);
    spec.fpr = fpr;
    tamis_set *const set = make_set_from(&spec);
    add_different(set, keys);
    buffer const   s = buffer_sent(set, 0);
    double const   n = (double)keys, bits = 8.0 * (double)s.n;
    double const   prints = (double)prints_of(set);
    unsigned const own_r = (unsigned)field_of(set, "remainder_bits");
    double const   best = best_formula_bits(prints, n), own = formula_bits(prints, n, own_r);
    print_message("# %8.0f keys %6g %-17s formula %.3f at its r, %.3f at the best; sent in %.3f", n,
                  fpr, as->name, own / n, best / n, bits / n);
    assert_true(bits <= 1.01 * best && bits >= 0.99 * best);
    assert_true(bits <= 1.01 * own);
    if (is_counted(set)) {
        buffer const with = buffer_sent(set, TAMIS_SEND_COPIES);
        print_message(", %.3f with copies", 8.0 * (double)with.n / n);
        assert_true(fabs(8.0 * (double)with.n - bits - n) <= 8);
        free(with.bytes);
    }
    print_message("\n");
    free(s.bytes);
    tamis_free(set);
}

static void stream_is_as_small_as_the_formula(void **state) {
    static const double rates[] = { 0.01, 0.001, 0.0001, 0.03 };
    for (size_t i = 0; i < COUNT(rates); i++) expect_size(*state, 100000, rates[i]);
    if (*state == &modes[2]) expect_size(*state, 1000000, 0.001);
}

/* ------------------------------------------------------------------ damage */

static void every_flipped_bit_is_refused(void **state) {
    (void)state;
    buffer s = small_stream();
    for (size_t bit = 0; bit < s.n * 8; bit++) {
        flip_bit(s.bytes, bit);
        expect_refused(&s, NULL, 0, NULL);
        flip_bit(s.bytes, bit);
    }
    free(s.bytes);
}

static void every_cut_is_refused(void **state) {
    (void)state;
    buffer s = small_stream();
    for (size_t n = 0; n < s.n; n++) {
        buffer cut = { malloc(n + 1), n }; /* of its own, so that reading on is noticed */
        assert_non_null(cut.bytes);
        cut.bytes = realloc(cut.bytes, n != 0 ? n : 1);
        assert_non_null(cut.bytes);
        memcpy(cut.bytes, s.bytes, n);
        expect_refused(&cut, NULL, TAMIS_ERR_TRUNCATED, NULL);
        free(cut.bytes);
    }
    free(s.bytes);
}

static void every_surplus_is_refused(void **state) {
    (void)state;
    buffer       s = small_stream();
    size_t const n = s.n;
    s.bytes = realloc(s.bytes, n + 64);
    assert_non_null(s.bytes);
    memset(s.bytes + n, 0, 64);
    for (s.n = n + 1; s.n <= n + 64; s.n++) expect_refused(&s, NULL, TAMIS_ERR_CORRUPT, "more");
    free(s.bytes);
}

static void foreign_bytes_are_refused(void **state) {
    (void)state;
    static const char text[] = "#!/bin/sh\necho this is no set\n";
    tamis_set *const  set = small_set(NULL);
    buffer            file = sample_of(set), script = { NULL, 0 };
    (void)buffer_write(&script, text, sizeof text);
    expect_refused(&file, NULL, TAMIS_ERR_FOREIGN, "not a tamis stream");
    expect_refused(&script, NULL, TAMIS_ERR_FOREIGN, "not a tamis stream");
    buffer const s = small_stream();
    tamis_set   *opened = NO_SET;
    assert_int_equal(tamis_read(s.bytes, s.n, NULL, &opened, NULL), TAMIS_ERR_FOREIGN);
    free(s.bytes);
    free(file.bytes);
    free(script.bytes);
    tamis_free(set);
}

/* ------------------------------------------------------------------ crafted headers */

typedef struct crafted_field {
    const char  *name;
    size_t       at, bytes;
    uint64_t     value;
    tamis_status status;
} crafted_field;

static const crafted_field crafted_fields[] = {
    { "no prints", AT_PRINTS, 8, 0, TAMIS_ERR_CORRUPT },
    { "more prints than the payload has chains", AT_PRINTS, 8, UINT64_C(1) << 40,
      TAMIS_ERR_CORRUPT },
    { "all prints there are", AT_PRINTS, 8, UINT64_MAX, TAMIS_ERR_CORRUPT },
    { "prints that the geometry does not have", AT_PRINTS, 8, 3839, TAMIS_ERR_CORRUPT },
    { "one more listed", AT_LISTED, 8, 41, TAMIS_ERR_CORRUPT },
    { "one less listed", AT_LISTED, 8, 38, TAMIS_ERR_CORRUPT },
    { "none listed", AT_LISTED, 8, 0, TAMIS_ERR_CORRUPT },
    { "more listed than bits", AT_LISTED, 8, 100000, TAMIS_ERR_CORRUPT },
    { "as many listed as can be", AT_LISTED, 8, UINT64_MAX, TAMIS_ERR_CORRUPT },
    { "another remainder", AT_R, 4, 5, TAMIS_ERR_CORRUPT },
    { "a remainder too long", AT_R, 4, 57, TAMIS_ERR_CORRUPT },
    { "a remainder of 60 bits", AT_R, 4, 60, TAMIS_ERR_CORRUPT },
    { "a remainder of 64 bits", AT_R, 4, 64, TAMIS_ERR_CORRUPT },
    { "a remainder without end", AT_R, 4, UINT32_MAX, TAMIS_ERR_CORRUPT },
    { "payload behind the end", AT_PAYLOAD, 8, 1000, TAMIS_ERR_TRUNCATED },
    { "payload that wraps around", AT_PAYLOAD, 8, UINT64_MAX, TAMIS_ERR_TRUNCATED },
    { "payload that wraps to a little", AT_PAYLOAD, 8, UINT64_MAX - 200, TAMIS_ERR_TRUNCATED },
    { "17 fields", AT_FIELDS, 4, 17, TAMIS_ERR_CHECKSUM },
    { "fields without end", AT_FIELDS, 4, UINT32_MAX, TAMIS_ERR_CHECKSUM },
    { "an unknown flag", AT_FLAGS, 4, 9, TAMIS_ERR_VERSION },
    { "a part without its fields", AT_FLAGS, 4, 5, TAMIS_ERR_CHECKSUM },
    { "the last flag", AT_FLAGS, 4, UINT32_C(1) << 31, TAMIS_ERR_VERSION },
    { "no copies after all", AT_FLAGS, 4, 0, TAMIS_ERR_CORRUPT },
    { "a newer version", AT_MAJOR, 2, 2, TAMIS_ERR_VERSION },
    { "no capacity", AT_CAPACITY, 8, 0, TAMIS_ERR_CORRUPT },
    { "a capacity too large", AT_CAPACITY, 8, (UINT64_C(1) << 40) + 1, TAMIS_ERR_CORRUPT },
    { "a lifetime below the capacity", AT_LIFETIME, 8, 39, TAMIS_ERR_CORRUPT },
    { "no hash", AT_HASH, 4, 0, TAMIS_ERR_NOT_BUILT },
    { "a hash unknown", AT_HASH, 4, 77, TAMIS_ERR_NOT_BUILT },
    { "other buckets", AT_GEOMETRY + 8 * RANK_BUCKETS, 8, 6, TAMIS_ERR_CORRUPT },
    { "no buckets", AT_GEOMETRY + 8 * RANK_BUCKETS, 8, 0, TAMIS_ERR_CORRUPT },
    { "other chains", AT_GEOMETRY + 8 * RANK_CHAINS, 8, 13, TAMIS_ERR_CORRUPT },
    { "too many cells", AT_GEOMETRY + 8 * RANK_CELLS, 8, 257, TAMIS_ERR_CORRUPT },
    { "a kind without a name", AT_KIND, 8, 0, TAMIS_ERR_CORRUPT },
    { "a kind unknown", AT_KIND, 8, 0x6b6b6b6b, TAMIS_ERR_KIND },
    { "a kind without prints", AT_KIND, 8, 0x6d6f6f6c62, TAMIS_ERR_CORRUPT },
};

static void store(uint8_t *to, size_t bytes, uint64_t value) {
    for (size_t i = 0; i < bytes; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static void crafted_headers_are_refused(void **state) {
    (void)state;
    buffer const good = small_stream();
    for (size_t i = 0; i < COUNT(crafted_fields); i++) {
        const crafted_field *const field = &crafted_fields[i];
        buffer                     s = copy_of(&good);
        tamis_set                 *set = NO_SET;
        store(s.bytes + field->at, field->bytes, field->value);
        seal(&s);
        tamis_status const status = tamis_receive(s.bytes, s.n, NULL, &set, NULL);
        if (status != field->status) fail_msg("%s: %d, not %d", field->name, status, field->status);
        assert_ptr_equal(set, NO_SET);
        free(s.bytes);
    }
    free(good.bytes);
}

/* A name of 16 letters has no end. */
static void crafted_names_without_an_end_are_refused(void **state) {
    (void)state;
    buffer s = small_stream();
    memset(s.bytes + AT_KIND, 'k', 16);
    seal(&s);
    expect_refused(&s, NULL, TAMIS_ERR_CORRUPT, NULL);
    free(s.bytes);
}

/* As in a file: what follows the name of the kind is zero. */
static void crafted_bytes_behind_the_kind_are_refused(void **state) {
    (void)state;
    buffer s = small_stream();
    for (size_t at = AT_KIND + 5; at < AT_FIELDS; at++) {
        s.bytes[at] = 1;
        seal(&s);
        tamis_set         *set = NO_SET;
        tamis_status const status = tamis_receive(s.bytes, s.n, NULL, &set, NULL);
        if (status != TAMIS_ERR_CORRUPT) fail_msg("byte %zu: %d", at, status);
        s.bytes[at] = 0;
    }
    free(s.bytes);
}

/* Refused, or a set that can be used. */
static void expect_safe(const buffer *s, bool has_spec) {
    ledger     book = { 0 };
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *set = NULL;
    uint64_t   keys[100];
    tamis_info info;
    for (uint64_t i = 0; i < 100; i++) keys[i] = i;
    spec.allocator = ledger_allocator(&book);
    spec.abilities = has_spec ? TAMIS_CAN_REMOVE : 0;
    if (tamis_receive(s->bytes, s->n, &spec, &set, NULL) == TAMIS_OK) {
        (void)tamis_has_id_batch(set, keys, 100, NULL);
        (void)!tamis_add_id_batch(set, keys, 100, NULL);
        (void)!tamis_remove_id_batch(set, keys, 100, NULL, NULL);
        assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
        expect_valid(set);
        tamis_free(set);
    }
    assert_int_equal(book.bytes, 0);
}

/* Each word of the header: every bit, and every extreme. */
static void crafted_words_are_safe(void **state) {
    (void)state;
    static const uint64_t extremes[] = {
        0,         1, 63, 65535, UINT32_MAX, UINT64_C(1) << 39, UINT64_C(1) << 60, UINT64_MAX - 63,
        UINT64_MAX
    };
    buffer       s = small_stream();
    size_t const head = head_bytes(s.bytes);
    for (size_t at = 8; at + 8 < head; at += 8) {
        uint64_t const good = le64_load(s.bytes + at);
        for (unsigned i = 0; i < 64 + COUNT(extremes); i++) {
            le64_store(s.bytes + at, i < 64 ? good ^ UINT64_C(1) << i : extremes[i - 64]);
            if (le32_load(s.bytes + AT_FIELDS) <= 12) seal(&s);
            expect_safe(&s, i % 2 == 0);
        }
        le64_store(s.bytes + at, good);
    }
    free(s.bytes);
}

static unsigned n_crafted = 5000; /* payloads */

static void crafted_payloads_are_safe(void **state) {
    (void)state;
    buffer const good = small_stream();
    size_t const head = head_bytes(good.bytes);
    for (unsigned trial = 0; trial < n_crafted; trial++) {
        buffer s = copy_of(&good);
        for (unsigned i = 0; i <= trial % 5; i++) {
            uint64_t const random = remix(trial, i);
            size_t const   at = head + fastrange(random, s.n - head - TOTAL);
            s.bytes[at] ^= (uint8_t)(random | 1);
        }
        seal(&s);
        expect_safe(&s, trial % 2 == 0);
        free(s.bytes);
    }
    free(good.bytes);
}

/* ------------------------------------------------------------------ crafted payloads */

/* A string of bits, lowest first. */
typedef struct bit_string {
    uint8_t bytes[2048];
    size_t  bits;
} bit_string;

static void put(bit_string *to, uint64_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; i++, to->bits++) {
        assert_true(to->bits < 8 * sizeof to->bytes);
        to->bytes[to->bits / 8] |= (uint8_t)((value >> i & 1) << (to->bits % 8));
    }
}

static void put_gamma(bit_string *to, uint64_t number) {
    unsigned below = 0;
    while (number >> below > 1) below++;
    put(to, 0, below);
    put(to, 1, 1);
    put(to, number & ((UINT64_C(1) << below) - 1), below);
}

/* An entry of a list; copies 0: they are not sent. */
static void put_print(bit_string *to, uint64_t print, unsigned r, uint64_t copies) {
    put(to, 1, 1);
    put(to, print & ((UINT64_C(1) << r) - 1), r);
    if (copies != 0) put_gamma(to, copies);
}

/* What format.md says that the payload is. */
static void put_list(bit_string *to, const holdings *list, uint64_t prints, unsigned r,
                     bool has_copies) {
    size_t next = 0;
    for (uint64_t q = 0; q <= (prints - 1) >> r; q++) {
        for (; next < list->n && list->all[next].print >> r == q; next++) {
            uint64_t const told = list->all[next].copies;
            uint64_t const copies = told == TAMIS_COUNT_MANY ? 65536 : told;
            put_print(to, list->all[next].print, r, has_copies ? copies : 0);
        }
        put(to, 0, 1);
    }
}

/* A stream of the small set with another payload. */
static buffer with_payload(const bit_string *payload, unsigned r, uint64_t listed,
                           bool has_copies) {
    buffer const good = small_stream();
    size_t const head = head_bytes(good.bytes), bytes = (payload->bits + 7) / 8;
    buffer       s = { NULL, 0 };
    uint8_t      total[TOTAL] = { 0 };
    (void)buffer_write(&s, good.bytes, head);
    (void)buffer_write(&s, payload->bytes, bytes);
    (void)buffer_write(&s, total, TOTAL);
    le32_store(s.bytes + AT_FLAGS, has_copies ? TAMIS_SEND_COPIES : 0);
    le32_store(s.bytes + AT_R, r);
    le64_store(s.bytes + AT_LISTED, listed);
    le64_store(s.bytes + AT_PAYLOAD, bytes);
    seal(&s);
    free(good.bytes);
    return s;
}

static void stream_is_what_the_format_says(void **state) {
    (void)state;
    tamis_set *const set = small_set(NULL);
    holdings const   list = holdings_of(set);
    for (unsigned has_copies = 0; has_copies < 2; has_copies++) {
        buffer const   by_us = buffer_sent(set, has_copies ? TAMIS_SEND_COPIES : 0);
        bit_string     payload = { .bits = 0 };
        unsigned const r = le32_load(by_us.bytes + AT_R);
        put_list(&payload, &list, 3840, r, has_copies);
        buffer const by_format = with_payload(&payload, r, list.n, has_copies);
        assert_int_equal(by_us.n, by_format.n);
        assert_memory_equal(by_us.bytes, by_format.bytes, by_us.n);
        free(by_us.bytes);
        free(by_format.bytes);
    }
    free(list.all);
    tamis_free(set);
}

/* Any r is read, not only the best. */
static void list_may_be_cut_into_any_chains(void **state) {
    (void)state;
    tamis_set *const set = small_set(NULL);
    holdings const   list = holdings_of(set);
    for (unsigned r = 0; r <= 56; r++) {
        bit_string payload = { .bits = 0 };
        put_list(&payload, &list, 3840, r, true);
        buffer const     s = with_payload(&payload, r, list.n, true);
        tamis_set *const back = buffer_receive(&s, NULL);
        expect_twin(set, back);
        free(s.bytes);
        tamis_free(back);
    }
    free(list.all);
    tamis_free(set);
}

/* Some prints with one copy each, in the given order, followed by this many zeros. */
static buffer listed(const uint64_t *prints, size_t n, unsigned r, unsigned zeros) {
    bit_string payload = { .bits = 0 };
    uint64_t   chain = 0;
    for (size_t i = 0; i < n; i++) {
        for (; chain < prints[i] >> r; chain++) put(&payload, 0, 1);
        put_print(&payload, prints[i], r, 1);
    }
    put(&payload, 0, zeros);
    return with_payload(&payload, r, n, true);
}

typedef struct crafted_list {
    const char *name;
    uint64_t    prints[3];
    size_t      n;
    unsigned    r, zeros;
    bool        is_good;
} crafted_list;

/* Of 3,840 prints: 60 chains of 64, or 7 of 512 and half of one. */
static const crafted_list crafted_lists[] = {
    { "a good one", { 5, 6, 3839 }, 3, 6, 1, true },
    { "none", { 0 }, 0, 6, 60, true },
    { "the last", { 3839 }, 1, 9, 1, true },
    { "out of order", { 6, 5, 70 }, 3, 6, 59, false },
    { "one twice", { 5, 5, 70 }, 3, 6, 59, false },
    { "the first out of order", { 1, 0, 70 }, 3, 6, 59, false },
    { "behind the last", { 5, 3840 }, 2, 9, 1, false },
    { "far behind the last", { 5, 4095 }, 2, 9, 1, false },
    { "in a chain that is not there", { 5, 3840 }, 2, 6, 1, false },
    { "a zero too few, and no bit to spare", { 5, 6, 3839 }, 3, 9, 0, false },
    { "all zeros too few", { 5, 6, 7 }, 3, 6, 0, false },
    { "none, and a byte of zeros too few", { 0 }, 0, 6, 56, false },
    { "a byte of zeros too many", { 5, 6, 3839 }, 3, 6, 17, false },
};

static void crafted_lists_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(crafted_lists); i++) {
        const crafted_list *const list = &crafted_lists[i];
        buffer const              s = listed(list->prints, list->n, list->r, list->zeros);
        tamis_set                *set = NULL;
        tamis_status const        status = tamis_receive(s.bytes, s.n, NULL, &set, NULL);
        tamis_status const        wanted = list->is_good ? TAMIS_OK : TAMIS_ERR_CORRUPT;
        if (status != wanted) fail_msg("%s: %d, not %d", list->name, status, wanted);
        if (!list->is_good) expect_refused(&s, NULL, TAMIS_ERR_CORRUPT, NULL);
        tamis_free(set);
        free(s.bytes);
    }
}

/* A list of one print. Its copies are a run of zeros, a one, and as many bits as there were
 * zeros. */
static buffer with_gamma(unsigned zeros, uint64_t rest) {
    bit_string payload = { .bits = 0 };
    put(&payload, 1, 1);
    put(&payload, 9, 6);
    put(&payload, 0, zeros);
    put(&payload, 1, 1);
    put(&payload, rest, zeros);
    put(&payload, 0, 60);
    return with_payload(&payload, 6, 1, true);
}

/* "a number from 1 to 65536". small_set() saturates at copies x 2^counter_bits = 8 x 4 = 32, so
 * larger numbers arrive as 32 copies, saturated. */
static void crafted_copies_are_refused(void **state) {
    (void)state;
    for (unsigned zeros = 0; zeros < 40; zeros++) {
        buffer const s = with_gamma(zeros, 0);
        if (zeros <= 16) {
            tamis_set *const set = buffer_receive(&s, NULL);
            assert_int_equal(inspect(set).facts.keys, zeros < 5 ? UINT64_C(1) << zeros : 32);
            assert_int_equal(inspect(set).facts.saturated, zeros >= 5);
            tamis_free(set);
        } else {
            expect_refused(&s, NULL, TAMIS_ERR_CORRUPT, NULL);
        }
        free(s.bytes);
    }
}

static void crafted_copies_beyond_saturation_are_refused(void **state) {
    (void)state;
    for (unsigned bit = 0; bit < 16; bit++) {
        buffer const s = with_gamma(16, UINT64_C(1) << bit);
        expect_refused(&s, NULL, TAMIS_ERR_CORRUPT, NULL);
        free(s.bytes);
    }
}

/* Bits after the list: the last byte has room for a few. */
static void crafted_bits_behind_the_list_are_refused(void **state) {
    (void)state;
    static const uint64_t prints[] = { 5, 6, 3839 };
    buffer const          good = listed(prints, 3, 6, 1);
    size_t const          bits = 59 + 3 * 8 + 1, end = head_bytes(good.bytes) * 8 + bits;
    assert_true(end % 8 != 0);
    for (size_t bit = end; bit % 8 != 0; bit++) {
        buffer s = copy_of(&good);
        write_bit(s.bytes, bit, true);
        seal(&s);
        expect_refused(&s, NULL, TAMIS_ERR_CORRUPT, NULL);
        free(s.bytes);
    }
    free(good.bytes);
}

/* ------------------------------------------------------------------ faults */

static void every_failing_allocation_of_receiving_is_reported(void **state) {
    (void)state;
    buffer const s = small_stream();
    tamis_set   *set = NO_SET;
    tamis_status status = TAMIS_ERR_MEMORY;
    unsigned     turn = 0;
    while (status != TAMIS_OK) {
        ledger        book = { .fail_at = ++turn };
        tamis_problem problem = { .text = "" };
        tamis_spec    spec = TAMIS_SPEC_INIT;
        spec.abilities = COUNTED;
        spec.allocator = ledger_allocator(&book);
        status = tamis_receive(s.bytes, s.n, &spec, &set, &problem);
        if (status == TAMIS_OK) {
            tamis_free(set);
        } else {
            assert_int_equal(status, TAMIS_ERR_MEMORY);
            assert_int_equal(problem.status, TAMIS_ERR_MEMORY);
            assert_ptr_equal(set, NO_SET);
        }
        assert_int_equal(book.bytes, 0);
    }
    assert_true(turn > 2);
    free(s.bytes);
}

/* "... needs N bytes", or MiB, where N is not 0. */
static void expect_need(tamis_status status, const tamis_problem *problem) {
    const char *const needs = strstr(problem->text, " needs ");
    assert_int_equal(status, TAMIS_ERR_MEMORY);
    assert_int_equal(problem->status, TAMIS_ERR_MEMORY);
    if (needs == NULL || strtod(needs + 7, NULL) <= 0) fail_msg("%s", problem->text);
}

/* For every way to make a set: without any memory, and with memory for the handle but not for the
 * body. */
static void a_lack_of_memory_says_how_much_is_needed(void **state) {
    (void)state;
    tamis_set *const set = small_set(NULL);
    buffer const     stream = buffer_sent(set, TAMIS_SEND_COPIES);
    buffer           file = { NULL, 0 };
    assert_int_equal(tamis_write(set, buffer_write, &file), TAMIS_OK);
    for (unsigned turn = 1; turn <= 2; turn++) {
        ledger             book = { .fail_at = turn };
        tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
        tamis_spec         spec = spec_of(&modes[0], 1000);
        tamis_problem      problem = { .text = "" };
        tamis_set         *made = NULL;
        spec.allocator = how.allocator = ledger_allocator(&book);
        expect_need(tamis_create(&spec, &made, &problem), &problem);
        book = (ledger){ .fail_at = turn };
        expect_need(tamis_read(file.bytes, file.n, &how, &made, &problem), &problem);
        book = (ledger){ .fail_at = turn };
        spec = (tamis_spec)TAMIS_SPEC_INIT;
        spec.allocator = how.allocator;
        expect_need(tamis_receive(stream.bytes, stream.n, &spec, &made, &problem), &problem);
    }
    free(stream.bytes);
    free(file.bytes);
    tamis_free(set);
}

static void a_lack_of_memory_in_saving_says_how_much_is_needed(void **state) {
    (void)state;
    ledger                book = { 0 };
    tamis_allocator const allocator = ledger_allocator(&book);
    tamis_set *const      set = small_set(&allocator);
    tamis_problem         problem = { .text = "" };
    temporary const       file = temporary_file();
    book.is_empty = true;
    expect_need(tamis_save(set, file.path, &problem), &problem);
    temporary_remove(&file);
    tamis_free(set);
}

static void every_failing_allocation_of_sending_is_reported(void **state) {
    (void)state;
    ledger                book = { 0 };
    tamis_allocator const allocator = ledger_allocator(&book);
    tamis_set *const      set = small_set(&allocator);
    size_t const          before = book.bytes;
    tamis_status          status = TAMIS_ERR_MEMORY;
    unsigned              turn = 0;
    while (status != TAMIS_OK) {
        buffer s = { NULL, 0 };
        book.fail_at = book.requests + ++turn;
        status = tamis_send(set, TAMIS_SEND_COPIES, buffer_write, &s);
        assert_true(status == TAMIS_OK || (status == TAMIS_ERR_MEMORY && s.n == 0));
        assert_int_equal(book.bytes, before);
        free(s.bytes);
    }
    assert_true(turn > 1);
    book.fail_at = 0;
    tamis_free(set);
    assert_int_equal(book.bytes, 0);
}

/* A writer that stops at its `left`-th call, and must not be called again. */
typedef struct stopper {
    unsigned left;
    bool     has_stopped;
} stopper;

static bool stop(void *context, const void *bytes, size_t n) {
    stopper *const writer = context;
    (void)bytes;
    (void)n;
    assert_false(writer->has_stopped);
    writer->has_stopped = --writer->left == 0;
    return !writer->has_stopped;
}

static void a_failing_writer_is_reported(void **state) {
    ledger     book = { 0 };
    tamis_spec spec = spec_of(*state, 100000);
    spec.allocator = ledger_allocator(&book);
    tamis_set *const set = make_set_from(&spec);
    add_ids(set, 0, 100000);
    size_t const before = book.bytes;
    tamis_status status = TAMIS_ERR_IO;
    unsigned     turn = 0;
    while (status != TAMIS_OK) {
        stopper to = { .left = ++turn };
        status = tamis_send(set, all_flags(set), stop, &to);
        assert_int_equal(status, to.has_stopped ? TAMIS_ERR_IO : TAMIS_OK);
        assert_int_equal(book.bytes, before);
    }
    assert_true(turn > 4); /* header, payload in several pieces, checksum */
    tamis_free(set);
}

/* ------------------------------------------------------------------ streams of old */

typedef struct golden {
    const char *file;
    const char *geometry;
    tamis_hash  hash;
    unsigned    flags;
} golden;

static const golden goldens[] = {
    { "v1-rank.stream",
      "buckets=20,chains=30,remainder_bits=7,cells=20,cells2=10,cells3=0,extensions2=15,"
      "extensions3=0,counter_bits=0,copies=1,value_bits=0,aligned=0",
      TAMIS_HASH_XXH3, 0 },
    { "v1-rank-copies.stream",
      "buckets=11,chains=64,remainder_bits=6,cells=40,cells2=20,cells3=0,extensions2=8,"
      "extensions3=0,counter_bits=2,copies=4,value_bits=0,aligned=1",
      TAMIS_HASH_XXH3, TAMIS_SEND_COPIES },
    { "v1-rank-siphash.stream",
      "buckets=13,chains=48,remainder_bits=6,cells=40,cells2=20,cells3=0,extensions2=8,"
      "extensions3=0,counter_bits=0,copies=8,value_bits=0,aligned=0",
      TAMIS_HASH_SIPHASH, TAMIS_SEND_COPIES },
};

/* NULL when its hash is not in this build. */
static tamis_set *golden_set(const golden *file) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = "rank";
    spec.geometry = file->geometry;
    spec.capacity = 300;
    spec.lifetime = 4800;
    spec.overflow = 0.9;
    spec.hash = file->hash;
    spec.seed = &golden_seed;
    tamis_set *const set = make_set_if_built(&spec);
    if (set == NULL) return NULL;
    add_ids(set, 0, 300);
    for (uint64_t key = 0; key < 20; key++) add_ids(set, key, 1);
    for (unsigned i = 0; i < 40; i++) add_ids(set, 50, 1);
    return set;
}

static void golden_streams_are_sent_and_received(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(goldens); i++) {
        tamis_set *const set = golden_set(&goldens[i]);
        if (set == NULL) continue;
        buffer const now = buffer_sent(set, goldens[i].flags);
        golden_expect(goldens[i].file, &now);
        tamis_set *const back = buffer_receive(&now, NULL);
        expect_twin(set, back);
        for (uint64_t key = 0; key < 300; key++) assert_true(tamis_has_id(back, key));
        free(now.bytes);
        tamis_free(back);
        tamis_free(set);
    }
}

static int write_missing(void) {
    for (size_t i = 0; i < COUNT(goldens); i++) {
        tamis_set *const set = golden_set(&goldens[i]);
        if (set == NULL) return 1;
        buffer const now = buffer_sent(set, goldens[i].flags);
        if (!golden_write(goldens[i].file, &now)) return 1;
        free(now.bytes);
        tamis_free(set);
    }
    return 0;
}

/* ------------------------------------------------------------------ the inverse of fastrange */

static void expect_inverse(uint64_t print, uint64_t prints) {
    uint64_t const hash = fastrange_inverse(print, prints);
    if (fastrange(hash, prints) != print || (hash != 0 && fastrange(hash - 1, prints) >= print)) {
        fail_msg("%llu of %llu: %llu", (unsigned long long)print, (unsigned long long)prints,
                 (unsigned long long)hash);
    }
#if defined(__SIZEOF_INT128__)
    __extension__ unsigned __int128 const wide = (unsigned __int128)print << 64;
    assert_int_equal(hash, (uint64_t)(wide / prints + (wide % prints != 0)));
#endif
}

static void inverse_is_the_smallest_hash_of_a_print(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t const any = mix64(2 * i + 1) >> (i % 64);
        uint64_t const prints = i % 3 == 0   ? any | 1
                                : i % 3 == 1 ? UINT64_C(1) << (i % 64)
                                             : any + 1;
        if (prints == 0) continue;
        expect_inverse(fastrange(mix64(2 * i), prints), prints);
        expect_inverse(0, prints);
        expect_inverse(prints - 1, prints);
    }
    for (uint64_t prints = 1; prints < 200; prints++) {
        for (uint64_t print = 0; print < prints; print++) expect_inverse(print, prints);
    }
    expect_inverse(UINT64_MAX - 1, UINT64_MAX);
}

/* ------------------------------------------------------------------ all */

static const struct CMUnitTest of_a_mode[] = {
    cmocka_unit_test(fingerprints_are_listed_in_order_each_once),
    cmocka_unit_test(listing_fingerprints_stops_on_request),
    cmocka_unit_test(what_arrives_is_what_was_sent),
    cmocka_unit_test(what_arrives_without_copies_answers_the_same),
    cmocka_unit_test(what_arrives_can_be_emptied),
    cmocka_unit_test(stream_is_independent_of_history),
    cmocka_unit_test(stream_is_the_same_for_every_instruction_set),
    cmocka_unit_test(mapped_set_is_sent_the_same),
    cmocka_unit_test(without_a_rate_in_the_spec_the_senders_rate_is_kept),
    cmocka_unit_test(without_abilities_in_the_spec_the_senders_are_kept),
    cmocka_unit_test(fixed_buckets_are_kept_or_refused),
    cmocka_unit_test(what_arrives_like_another_can_merge_with_it),
    cmocka_unit_test(too_small_a_capacity_is_refused),
    cmocka_unit_test(stream_is_as_small_as_the_formula),
    cmocka_unit_test(a_failing_writer_is_reported),
};

/* A stream stores how many copies of every key are planned for, as a file does. */
static void copies_that_are_planned_arrive(void **state) {
    (void)state;
    tamis_spec spec = spec_of(&modes[3], 1000), other = TAMIS_SPEC_INIT;
    spec.copies = 3;
    tamis_set *const set = make_set_from(&spec);
    buffer const     s = buffer_sent(set, TAMIS_SEND_COPIES);
    assert_int_equal(le32_load(s.bytes + AT_MORE_COPIES), 2);
    other.capacity = 1200;
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const back = buffer_receive(&s, i == 0 ? NULL : &other);
        assert_int_equal(inspect(back).plan.copies, 3);
        tamis_free(back);
    }
    tamis_free(set);
    free(s.bytes);
}

static tamis_set *counting_to(const char *kind, uint64_t count_to) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = 1000;
    spec.fpr = 0.01;
    spec.abilities = COUNTED;
    spec.count_to = count_to;
    spec.kind = kind;
    spec.seed = &seed;
    return make_set_from(&spec);
}

/* A set of another kind counts as far as the sender, if the spec leaves that open. */
static void what_arrives_counts_as_far_as_the_sender(void **state) {
    (void)state;
    static const uint64_t    count_to[] = { 15, 1000, 1000000 };
    static const char *const kinds[] = { "line", "rank" };
    for (size_t i = 0; i < 2 * COUNT(count_to); i++) {
        uint64_t const   most = count_to[i / 2];
        tamis_set *const set = counting_to(kinds[i % 2], most);
        tamis_spec       spec = TAMIS_SPEC_INIT;
        add_ids(set, 0, 1000);
        assert_int_equal(tamis_add_copies_id(set, 7, most - 1), TAMIS_OK);
        buffer const s = buffer_sent(set, TAMIS_SEND_COPIES);
        spec.kind = "rank";
        spec.capacity = 1100;
        for (unsigned asks = 0; asks < 2; asks++) {
            spec.abilities = asks != 0 ? COUNTED : 0;
            tamis_set *const back = buffer_receive(&s, &spec);
            assert_int_equal(inspect(back).plan.count_to, inspect(set).plan.count_to);
            if (most < 65536) assert_int_equal(copies_of(back, 7), most);
            tamis_free(back);
        }
        free(s.bytes);
        tamis_free(set);
    }
}

/* If the spec names a kind that cannot count that far, it is refused, unless the spec asks for
 * less, or fixes the counters. Only a set with the prints of a dlcbf can become one. */
static void counts_that_cannot_be_kept_are_told(void **state) {
    (void)state;
    mode const       as = { "", COUNTED, "dlcbf", "buckets=1024,remainder_bits=12,counter_bits=2" };
    tamis_set *const small = make(&as, 8000);
    tamis_spec       spec = TAMIS_SPEC_INIT, back = TAMIS_SPEC_INIT;
    add_ids(small, 0, 1000);
    buffer const s = buffer_sent(small, TAMIS_SEND_COPIES);
    spec.kind = "rank";
    spec.abilities = COUNTED;
    spec.count_to = 1000;
    tamis_set *const set = buffer_receive(&s, &spec);
    buffer const     t = buffer_sent(set, TAMIS_SEND_COPIES);
    back.kind = "dlcbf";
    expect_refused(&t, &back, TAMIS_ERR_CANNOT, "counts to 63");
    back.abilities = COUNTED;
    expect_refused(&t, &back, TAMIS_ERR_CANNOT, "counts to 63");
    back.count_to = 63;
    tamis_free(buffer_receive(&t, &back));
    back.count_to = 0;
    back.geometry = "counter_bits=3";
    tamis_free(buffer_receive(&t, &back));
    free(s.bytes);
    free(t.bytes);
    tamis_free(set);
    tamis_free(small);
}

/* "65536 means saturated", in a set that counts further than that, too. If it arrived as 65,536
 * copies, it could be removed although there are more copies. */
static void saturated_keys_arrive_saturated(void **state) {
    (void)state;
    tamis_set *const few = counting_to("rank", 15), *const many = counting_to("line", 1000000);
    tamis_spec spec = TAMIS_SPEC_INIT;
    add_copies(few, 1, 100);
    add_ids(few, 2, 1);
    spec.abilities = COUNTED;
    spec.count_to = 1000000;
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const from = i == 0 ? few : many;
        if (i == 1) assert_int_equal(tamis_add_copies_id(many, 1, 70000), TAMIS_OK);
        buffer const     s = buffer_sent(from, TAMIS_SEND_COPIES);
        tamis_set *const back = buffer_receive(&s, &spec);
        assert_true(copies_of(back, 1) == TAMIS_COUNT_MANY);
        assert_int_equal(tamis_remove_id(back, 1), TAMIS_ERR_SATURATED);
        assert_int_equal(copies_of(back, 2), i == 0 ? 1 : 0);
        free(s.bytes);
        tamis_free(back);
        tamis_free(from);
    }
}

/* A list of this many prints is more than 32 bits can address. It is refused, and no size wraps
 * around. */
static void lists_beyond_the_address_space_are_refused(void **state) {
    (void)state;
    size_t bytes = 7;
    assert_false(print_list_bytes(UINT64_C(134217728), UINT32_MAX, &bytes));
    assert_false(print_list_bytes(UINT64_MAX / 32 + 1, SIZE_MAX, &bytes));
    assert_false(print_list_bytes(UINT64_MAX, SIZE_MAX, &bytes));
    assert_int_equal(bytes, 7);
    assert_true(print_list_bytes(0, UINT32_MAX, &bytes));
    assert_int_equal(bytes, 16);
    assert_true(print_list_bytes(UINT64_C(134217727), UINT32_MAX, &bytes));
    assert_int_equal(bytes, UINT64_C(134217727) * 32 + 16);
}

static const struct CMUnitTest of_all[] = {
    cmocka_unit_test(rates_below_the_least_of_a_spec_are_kept),
    cmocka_unit_test(copies_that_are_planned_arrive),
    cmocka_unit_test(what_arrives_counts_as_far_as_the_sender),
    cmocka_unit_test(counts_that_cannot_be_kept_are_told),
    cmocka_unit_test(saturated_keys_arrive_saturated),
    cmocka_unit_test(lists_beyond_the_address_space_are_refused),
    cmocka_unit_test(what_arrives_may_have_another_geometry),
    cmocka_unit_test(d_left_becomes_rank_and_d_left_again),
    cmocka_unit_test(a_received_d_left_table_needed_no_moves),
    cmocka_unit_test(what_arrives_without_removal_is_smaller),
    cmocka_unit_test(stream_without_copies_cannot_become_removable),
    cmocka_unit_test(kinds_without_fingerprints_cannot_be_sent),
    cmocka_unit_test(wrong_arguments_of_sending_are_refused),
    cmocka_unit_test(wrong_arguments_of_receiving_are_refused),
    cmocka_unit_test(wrong_specs_are_refused),
    cmocka_unit_test(half_an_allocator_is_refused_with_like_too),
    cmocka_unit_test(a_missing_instruction_set_is_reported),
    cmocka_unit_test(a_hash_that_is_not_built_is_named),
    cmocka_unit_test(sets_that_are_not_alike_are_refused),
    cmocka_unit_test(every_flipped_bit_is_refused),
    cmocka_unit_test(every_cut_is_refused),
    cmocka_unit_test(every_surplus_is_refused),
    cmocka_unit_test(foreign_bytes_are_refused),
    cmocka_unit_test(crafted_headers_are_refused),
    cmocka_unit_test(crafted_names_without_an_end_are_refused),
    cmocka_unit_test(crafted_bytes_behind_the_kind_are_refused),
    cmocka_unit_test(crafted_words_are_safe),
    cmocka_unit_test(crafted_payloads_are_safe),
    cmocka_unit_test(stream_is_what_the_format_says),
    cmocka_unit_test(list_may_be_cut_into_any_chains),
    cmocka_unit_test(crafted_lists_are_refused),
    cmocka_unit_test(crafted_copies_are_refused),
    cmocka_unit_test(crafted_copies_beyond_saturation_are_refused),
    cmocka_unit_test(crafted_bits_behind_the_list_are_refused),
    cmocka_unit_test(every_failing_allocation_of_receiving_is_reported),
    cmocka_unit_test(a_lack_of_memory_says_how_much_is_needed),
    cmocka_unit_test(a_lack_of_memory_in_saving_says_how_much_is_needed),
    cmocka_unit_test(every_failing_allocation_of_sending_is_reported),
    cmocka_unit_test(golden_streams_are_sent_and_received),
    cmocka_unit_test(inverse_is_the_smallest_hash_of_a_print),
};

#define N_TESTS (COUNT(of_a_mode) * COUNT(modes) + COUNT(of_all))

int main(int argc, char **argv) {
    static struct CMUnitTest tests[N_TESTS];
    static char              names[N_TESTS][120];
    size_t                   n = 0;
    if (argc < 2) return 2;
    golden_folder = argv[1];
    if (argc > 2 && strcmp(argv[2], "--write") == 0) return write_missing();
    if (argc > 2) n_crafted = (unsigned)strtoul(argv[2], NULL, 10);
    for (size_t i = 0; i < COUNT(modes); i++) {
        union {
            const void *in;
            void       *out;
        } const as = { &modes[i] };
        for (size_t t = 0; t < COUNT(of_a_mode); t++, n++) {
            tests[n] = of_a_mode[t];
            tests[n].initial_state = as.out;
            (void)snprintf(names[n], sizeof names[n], "%s (%s)", of_a_mode[t].name, modes[i].name);
            tests[n].name = names[n];
        }
    }
    memcpy(tests + n, of_all, sizeof of_all);
    return _cmocka_run_group_tests("transfer", tests, N_TESTS, NULL, NULL);
}
