/* test_shelf.c - kinds/line/shelf.h against a sorted list of the entries of each bucket.
 *
 * The oracle keeps all entries in one list, in the order of (bucket, key, rest). From that alone it
 * writes the whole body: the first 28 entries of 16 buckets are on their shelf, the others in the
 * attic. After every step all bytes must be equal.
 */
#include "core_units.h"
#include "entries.h"

#include "kinds/line/shelf.h"

#define MAX_BUCKETS 50
#define MAX_ENTRIES 400
#define MAX_BYTES 8192

typedef struct model {
    shelf_view  shape; /* without a body */
    uint64_t    bytes, buckets;
    unsigned    n;
    model_entry list[MAX_ENTRIES];
} model;

/* ------------------------------------------------------------------ the oracle */

static uint64_t group_of(uint64_t bucket) {
    return bucket / 16;
}

/* The home of an entry among those of the attic. */
static uint64_t home_of(const model *m, const model_entry *one) {
    uint64_t low;
    return multiply_digits(mix64(group_of(one->bucket)), m->shape.attic.homes, &low);
}

/* The order in the attic: by home, then as in the list. */
static void model_attic(const model *m, model *ret_attic) {
    uint64_t group = UINT64_MAX;
    unsigned on_shelf = 0;
    ret_attic->n = 0;
    for (unsigned i = 0; i < m->n; i++) {
        on_shelf = group_of(m->list[i].bucket) == group ? on_shelf + 1 : 0;
        group = group_of(m->list[i].bucket);
        if (on_shelf < SHELF_KEYS) continue;
        unsigned k = ret_attic->n++;
        for (; k > 0 && home_of(m, &ret_attic->list[k - 1]) > home_of(m, &m->list[i]); k--) {
            ret_attic->list[k] = ret_attic->list[k - 1];
        }
        ret_attic->list[k] = m->list[i];
    }
}

static void put(uint8_t *bytes, uint64_t at, unsigned bits, uint64_t value) {
    for (unsigned i = 0; i < bits; i++) write_bit(bytes, at + i, value >> i & 1);
}

static void put_attic(const model *m, uint8_t *bytes) {
    const attic_view *const shape = &m->shape.attic;
    model                   up;
    uint64_t                place = 0;
    model_attic(m, &up);
    for (unsigned i = 0; i < up.n; i++) {
        uint64_t const home = home_of(m, &up.list[i]);
        place = i > 0 && home <= place ? place + 1 : home;
        uint64_t const word = (up.list[i].bucket + 1) * 16384 + up.list[i].key;
        put(bytes, 8 * shape->words + shape->word_bits * place, shape->word_bits, word);
        put(bytes, shape->rests + place * shape->rest_bits, shape->rest_bits, up.list[i].rest);
    }
    put(bytes, 8 * shape->count, 64, up.n);
}

/* Ones and zeros of a shelf, its keys, its rests. */
static void put_shelf(const model *m, uint64_t group, uint8_t *bytes) {
    uint64_t const at = 8 * (m->shape.lines + 64 * group);
    unsigned const bits = m->shape.attic.rest_bits;
    unsigned       n = 0;
    for (unsigned i = 0; i < m->n && n < SHELF_KEYS; i++) {
        const model_entry *const e = &m->list[i];
        if (group_of(e->bucket) != group) continue;
        write_bit(bytes, at + n + e->bucket % 16, true); /* a zero for each bucket before */
        put(bytes, at + 64 + 16 * n, 16, e->key);
        put(bytes, m->shape.rests + group * m->shape.stride + n++ * bits, bits, e->rest);
    }
}

static void model_bytes(const model *m, uint8_t *ret_bytes) {
    memset(ret_bytes, 0, m->bytes);
    for (uint64_t group = 0; group <= group_of(m->buckets - 1); group++) {
        put_shelf(m, group, ret_bytes);
    }
    put_attic(m, ret_bytes);
}

/* How many words the attic would have if this group had this many more entries. */
static uint64_t model_sent(const model *m, uint64_t more_to, unsigned more) {
    uint64_t sent = 0;
    for (uint64_t group = 0; group <= group_of(m->buckets - 1); group++) {
        uint64_t n = group == more_to ? more : 0;
        for (unsigned i = 0; i < m->n; i++) n += group_of(m->list[i].bucket) == group;
        sent += n > SHELF_KEYS ? n - SHELF_KEYS : 0;
    }
    return sent;
}

/* ------------------------------------------------------------------ a model and its body */

static model model_new(dice *random, unsigned rest_bits) {
    model m = { .buckets = 1 + dice_below(random, MAX_BUCKETS) };
    m.shape.attic.room = dice_below(random, 60);
    m.shape.attic.homes = m.shape.attic.room / 2 + 1;
    m.shape.attic.rest_bits = rest_bits;
    m.shape.attic.word_bits = 8 * (3 + (unsigned)dice_below(random, 6));
    uint64_t const places = m.shape.attic.room + m.shape.attic.homes;
    uint64_t const groups = group_of(m.buckets - 1) + 1;
    m.shape.lines = 64 * dice_below(random, 3);
    m.shape.attic.words = m.shape.lines + 64 * groups;
    m.shape.attic.count = m.shape.attic.words + m.shape.attic.word_bits / 8 * places;
    m.shape.rests = 8 * (m.shape.attic.count + 8);
    m.shape.stride = (SHELF_KEYS * rest_bits + 63) / 64 * 64;
    m.shape.attic.rests = m.shape.rests + groups * m.shape.stride;
    m.bytes = (m.shape.attic.rests + places * rest_bits) / 8 + FIELD_PAD_BYTES + 8;
    m.bytes = m.bytes / 8 * 8; /* as bodies are: fields are read by aligned words */
    assert_true(m.bytes <= MAX_BYTES);
    return m;
}

static shelf_view shelves_here(const model *m, fenced *memory) {
    shelf_view shelves = m->shape;
    *memory = fenced_new(m->bytes);
    shelves.attic.body = memory->bytes;
    shelves.body = shelves.attic.body;
    return shelves;
}

static void check_bytes(const model *m, const shelf_view *shelves) {
    uint8_t expected[MAX_BYTES];
    model_bytes(m, expected);
    assert_memory_equal(shelves->attic.body, expected, m->bytes);
    assert_true(attic_is_whole(&shelves->attic, m->buckets));
}

/* Every tail, entry by entry, and no entry more. */
static void check_tails(const model *m, const shelf_view *shelves) {
    uint64_t group = UINT64_MAX;
    unsigned on_shelf = 0, k = 0;
    for (uint64_t bucket = 0; bucket < m->buckets; bucket++) {
        tail_entry found;
        unsigned   i = 0;
        on_shelf = group_of(bucket) == group ? on_shelf : 0;
        group = group_of(bucket);
        for (; k < m->n && m->list[k].bucket == bucket; k++, on_shelf++) {
            assert_true(tail_get(shelves, bucket, i++, &found));
            assert_int_equal(found.key, m->list[k].key);
            assert_int_equal(found.rest, m->list[k].rest);
            assert_int_equal(found.is_shelved, on_shelf < SHELF_KEYS);
        }
        assert_false(tail_get(shelves, bucket, i, &found));
    }
}

static void check_room(const model *m, const shelf_view *shelves, dice *random) {
    uint64_t const bucket = dice_below(random, m->buckets);
    for (unsigned n = 1; n < 60; n++) {
        bool const has_room = model_sent(m, group_of(bucket), n) <= m->shape.attic.room;
        assert_int_equal(tail_has_room(shelves, bucket, n), has_room);
    }
}

/* ------------------------------------------------------------------ histories */

static model_entry random_entry(const model *m, dice *random) {
    uint64_t const any = dice_roll(random);
    bool const     is_small = dice_below(random, 2) == 0; /* so that equal ones meet */
    return (model_entry){ .bucket = dice_below(random, dice_below(random, 3) ? m->buckets : 1),
                          .key = (unsigned)dice_below(random, is_small ? 4 : 62 * 256),
                          .rest = (is_small ? any % 3 : any) & bits_low(m->shape.attic.rest_bits) };
}

static void add_one(model *m, const shelf_view *shelves, const model_entry *added) {
    assert_true(m->n < MAX_ENTRIES);
    m->list[m->n++] = *added;
    qsort(m->list, m->n, sizeof m->list[0], entry_order);
    tail_add(shelves, added->bucket, added->key, added->rest);
}

static void remove_at(model *m, const shelf_view *shelves, unsigned i) {
    uint64_t const bucket = m->list[i].bucket;
    unsigned       first = i;
    tail_entry     found;
    while (first > 0 && m->list[first - 1].bucket == bucket) first--;
    assert_true(tail_get(shelves, bucket, i - first, &found));
    tail_remove(shelves, bucket, &found);
    for (m->n--; i < m->n; i++) m->list[i] = m->list[i + 1];
}

/* Up to what the attic can hold, and down again. */
static void step(model *m, const shelf_view *shelves, bool is_up, dice *random) {
    model_entry const next = random_entry(m, random);
    bool const        has_room = model_sent(m, group_of(next.bucket), 1) <= m->shape.attic.room;
    assert_int_equal(tail_has_room(shelves, next.bucket, 1), has_room);
    if (is_up && has_room) add_one(m, shelves, &next);
    if (!is_up && m->n != 0) remove_at(m, shelves, (unsigned)dice_below(random, m->n));
}

static void live(unsigned rest_bits, dice *random) {
    model            m = model_new(random, rest_bits);
    fenced           memory;
    shelf_view const shelves = shelves_here(&m, &memory);
    for (unsigned i = 0; i < 600; i++) {
        step(&m, &shelves, dice_below(random, 8) < (i / 150 % 2 == 0 ? 7u : 2u), random);
        check_bytes(&m, &shelves);
        if (i % 10 == 0) check_tails(&m, &shelves);
        if (i % 50 == 0) check_room(&m, &shelves, random);
    }
    while (m.n != 0) remove_at(&m, &shelves, (unsigned)dice_below(random, m.n));
    check_bytes(&m, &shelves); /* all zero */
    fenced_free(&memory);
}

static void shelves_hold_the_first_and_the_attic_the_others(void **state) {
    (void)state;
    static const unsigned rests[] = { 0, 4, 8, 16, 32, 56 };
    dice                  random = dice_start();
    for (unsigned round = 0; round < 24; round++) live(rests[round % COUNT(rests)], &random);
}

/* The same entries in other orders; those of an odd key leave again. */
static void shelves_look_the_same_whatever_the_order(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 20; round++) {
        model const empty = model_new(&random, round % 2 * 12);
        model       list = empty;
        fenced      memory[3];
        while (model_sent(&list, 0, 0) < empty.shape.attic.room && list.n < 150) {
            list.list[list.n++] = random_entry(&empty, &random);
        }
        if (model_sent(&list, 0, 0) > empty.shape.attic.room) list.n--;
        for (unsigned i = 0; i < 3; i++) {
            model            m = empty;
            shelf_view const shelves = shelves_here(&m, &memory[i]);
            for (unsigned k = 0; k < list.n; k++) {
                add_one(&m, &shelves, &list.list[i == 1 ? list.n - 1 - k : k]);
            }
            for (unsigned k = m.n; k-- > 0;) {
                if (m.list[k].key % 2 != 0) remove_at(&m, &shelves, k);
            }
            assert_memory_equal(memory[i].bytes, memory[0].bytes, m.bytes);
            qsort(list.list, list.n, sizeof list.list[0], entry_order);
        }
        for (unsigned i = 0; i < 3; i++) fenced_free(&memory[i]);
    }
}

static void shelf_find_agrees_with_counting_bit_by_bit(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 5000; round++) {
        unsigned n[SHELF_BUCKETS] = { 0 }, left = (unsigned)dice_below(&random, SHELF_KEYS + 1);
        uint64_t ones = 0;
        for (; left != 0; left--) n[dice_below(&random, SHELF_BUCKETS)]++;
        for (unsigned bucket = 0, at = 0; bucket < SHELF_BUCKETS; bucket++, at++) {
            for (unsigned i = 0; i < n[bucket]; i++) ones |= UINT64_C(1) << at++;
        }
        for (unsigned bucket = 0, first = 0; bucket < SHELF_BUCKETS; bucket++) {
            shelf_part const part = shelf_find(ones, bucket + 16 * dice_below(&random, 9));
            assert_int_equal(part.first, first);
            assert_int_equal(part.n, n[bucket]);
            first += n[bucket];
            assert_int_equal(part.end, first + bucket);
        }
    }
}

static void shelves_of_any_bytes_are_read_inside_the_body(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 2000; round++) {
        model            m = model_new(&random, round % 5 * 14);
        fenced           memory;
        shelf_view const shelves = shelves_here(&m, &memory);
        dice_fill(&random, memory.bytes, m.bytes);
        for (uint64_t group = 0; round % 2 == 0 && group <= group_of(m.buckets - 1); group++) {
            uint64_t const ones = dice_edge(&random) & dice_roll(&random);
            le64_store(memory.bytes + m.shape.lines + 64 * group, ones);
        }
        for (uint64_t bucket = 0; bucket < m.buckets; bucket++) {
            tail_entry found;
            for (unsigned i = 0; i < 250; i++) {
                if (!tail_get(&shelves, bucket, i, &found)) continue;
                assert_true(found.is_shelved ? found.place < SHELF_KEYS
                                             : found.place < attic_places(&shelves.attic));
            }
        }
        fenced_free(&memory);
    }
}

/* A body of two shelves and more, with room in the attic. */
static model model_of_two_shelves(dice *random, unsigned rest_bits) {
    model m;
    do m = model_new(random, rest_bits);
    while (m.buckets <= SHELF_BUCKETS || m.shape.attic.room == 0);
    return m;
}

/* 28 ones in any of the 44 bits. As no checked body has, the last bit may be a one: then 16 zeros
 * come before it, as many as there are buckets. */
static uint64_t full_of_ones(dice *random) {
    unsigned const bits = SHELF_BUCKETS + SHELF_KEYS;
    uint64_t       ones = dice_below(random, 2) << (bits - 1);
    while (bits_popcount(ones) < SHELF_KEYS) ones |= UINT64_C(1) << dice_below(random, bits);
    return ones;
}

/* A full shelf of any bytes: the next shelf is not touched. */
static void an_evicted_entry_is_of_its_own_shelf_in_any_bytes(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 2000; round++) {
        model            m = model_of_two_shelves(&random, round % 5 * 14);
        fenced           memory;
        shelf_view const shelves = shelves_here(&m, &memory);
        uint8_t *const   line = memory.bytes + m.shape.lines;
        uint8_t *const   rests = memory.bytes + m.shape.rests / 8;
        uint8_t          before[MAX_BYTES];
        dice_fill(&random, line, 2 * 64);
        dice_fill(&random, rests, 2 * m.shape.stride / 8);
        le64_store(line, full_of_ones(&random));
        memcpy(before, memory.bytes, m.bytes);
        shelf_evict(&shelves, dice_below(&random, SHELF_BUCKETS));
        assert_memory_equal(line + 64, before + m.shape.lines + 64, 64);
        assert_memory_equal(rests + m.shape.stride / 8,
                            before + (m.shape.rests + m.shape.stride) / 8, m.shape.stride / 8);
        assert_int_equal(attic_count(&shelves.attic), 1);
        fenced_free(&memory);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shelves_hold_the_first_and_the_attic_the_others),
    cmocka_unit_test(shelves_look_the_same_whatever_the_order),
    cmocka_unit_test(shelf_find_agrees_with_counting_bit_by_bit),
    cmocka_unit_test(shelves_of_any_bytes_are_read_inside_the_body),
    cmocka_unit_test(an_evicted_entry_is_of_its_own_shelf_in_any_bytes),
};

CORE_EXPORT(shelf)
