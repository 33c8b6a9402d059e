/* test_attic.c - kinds/line/attic.h against a sorted list.
 *
 * The oracle keeps the words in a list in the order of (home, word, rest). From that alone it
 * writes the whole body: each word at the first place that is neither before its home nor taken.
 * After every step all bytes must be equal, so they do not depend on the order of events.
 */
#include "core_units.h"

#include "kinds/line/attic.h"

#define MAX_WORDS 120
#define MAX_BUCKETS 4000
#define MAX_BYTES 3000

typedef struct entry {
    uint64_t home, word, rest;
} entry;

typedef struct model {
    attic_view shape; /* without a body */
    uint64_t   bytes, buckets;
    unsigned   n;
    entry      list[MAX_WORDS];
} model;

/* ------------------------------------------------------------------ the oracle */

static uint64_t home_of(const model *m, uint64_t bucket) {
    uint64_t low;
    return multiply_digits(mix64(bucket / 16), m->shape.homes, &low);
}

static bool is_before(const entry *a, const entry *b) {
    if (a->home != b->home) return a->home < b->home;
    return a->word != b->word ? a->word < b->word : a->rest < b->rest;
}

static void model_add(model *m, uint64_t word, uint64_t rest) {
    entry const added = { home_of(m, (word >> 14) - 1), word, rest };
    unsigned    i = m->n++;
    for (; i > 0 && is_before(&added, &m->list[i - 1]); i--) m->list[i] = m->list[i - 1];
    m->list[i] = added;
}

static void model_take(model *m, unsigned i) {
    for (m->n--; i < m->n; i++) m->list[i] = m->list[i + 1];
}

/* The place of the i-th word. */
static uint64_t model_place(const model *m, unsigned i) {
    uint64_t place = 0;
    for (unsigned k = 0; k <= i; k++) {
        place = k > 0 && m->list[k].home <= place ? place + 1 : m->list[k].home;
    }
    return place;
}

static void put(uint8_t *bytes, uint64_t at, unsigned bits, uint64_t value) {
    for (unsigned i = 0; i < bits; i++) write_bit(bytes, at + i, value >> i & 1);
}

static void model_bytes(const model *m, uint8_t *ret_bytes) {
    const attic_view *const shape = &m->shape;
    uint64_t                place = 0;
    memset(ret_bytes, 0, m->bytes);
    for (unsigned i = 0; i < m->n; i++) {
        place = i > 0 && m->list[i].home <= place ? place + 1 : m->list[i].home;
        put(ret_bytes, 8 * shape->words + shape->word_bits * place, shape->word_bits,
            m->list[i].word);
        put(ret_bytes, shape->rests + place * shape->rest_bits, shape->rest_bits, m->list[i].rest);
    }
    put(ret_bytes, 8 * shape->count, 64, m->n);
}

/* ------------------------------------------------------------------ a model and its body */

/* Words, count and rests, all zero, with other bytes before them. */
static model model_new(dice *random, uint64_t room, uint64_t homes, unsigned rest_bits) {
    model m = { .buckets = 1 + dice_below(random, MAX_BUCKETS) };
    m.shape = (attic_view){
        .words = dice_below(random, 20), .homes = homes, .room = room, .rest_bits = rest_bits
    };
    m.shape.word_bits = 8 * (4 + (unsigned)dice_below(random, 5)); /* enough for all buckets */
    m.shape.count = m.shape.words + m.shape.word_bits / 8 * (homes + room) + dice_below(random, 3);
    m.shape.rests = 8 * (m.shape.count + 8) + dice_below(random, 50);
    m.bytes = (m.shape.rests + (homes + room) * rest_bits) / 8 + FIELD_PAD_BYTES + 8;
    m.bytes = m.bytes / 8 * 8; /* as bodies are: fields are read by aligned words */
    assert_true(m.bytes <= MAX_BYTES);
    return m;
}

static model random_model(dice *random) {
    static const unsigned rests[] = { 0, 1, 4, 8, 16, 33, 56 };
    uint64_t const        room = 1 + dice_below(random, dice_below(random, 2) ? 40 : 8);
    uint64_t const homes = dice_below(random, 3) == 0 ? 1 + dice_below(random, 3) : room / 2 + 1;
    return model_new(random, room, homes, rests[dice_below(random, COUNT(rests))]);
}

static attic_view attic_here(const model *m, fenced *memory) {
    attic_view attic = m->shape;
    *memory = fenced_new(m->bytes);
    attic.body = memory->bytes;
    return attic;
}

static void check(const model *m, const attic_view *attic) {
    uint8_t expected[MAX_BYTES];
    model_bytes(m, expected);
    assert_memory_equal(attic->body, expected, m->bytes);
    assert_true(attic_is_whole(attic, m->buckets));
    assert_int_equal(attic_count(attic), m->n);
    for (uint64_t n = 1; n <= m->shape.room + 1; n++) {
        assert_int_equal(attic_has_room(attic, n), m->n + n <= m->shape.room);
    }
}

static void add_one(model *m, const attic_view *attic, uint64_t word, uint64_t rest) {
    model_add(m, word, rest);
    attic_add(attic, word, rest);
}

/* Few different buckets, keys and rests, so that many are equal. */
static void add_random(model *m, const attic_view *attic, dice *random) {
    uint64_t const bucket = dice_below(random, dice_below(random, 2) ? m->buckets : 1 + m->n);
    unsigned const own = (unsigned)dice_below(random, dice_below(random, 2) ? 1 << 14 : 3);
    uint64_t const any = dice_below(random, 2) ? dice_roll(random) : dice_below(random, 4);
    add_one(m, attic, attic_make_word(bucket % m->buckets, own), any & bits_low(attic->rest_bits));
}

static void take_random(model *m, const attic_view *attic, dice *random) {
    unsigned const i = (unsigned)dice_below(random, m->n);
    attic_take(attic, model_place(m, i));
    model_take(m, i);
}

/* ------------------------------------------------------------------ tests */

static void attic_is_as_a_sorted_list_would_be(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 150; round++) {
        model            m = random_model(&random);
        fenced           memory;
        attic_view const attic = attic_here(&m, &memory);
        for (unsigned i = 0; i < 200; i++) {
            bool const is_up = dice_below(&random, 8) < (i / 50 % 2 == 0 ? 6u : 2u);
            if (m.n < m.shape.room && is_up) add_random(&m, &attic, &random);
            if (m.n != 0 && !is_up) take_random(&m, &attic, &random);
            check(&m, &attic);
        }
        while (m.n != 0) take_random(&m, &attic, &random);
        check(&m, &attic); /* all zero */
        fenced_free(&memory);
    }
}

/* Every word is found where the list has the first of its kind. */
static void attic_find_gives_the_first_place_not_before_a_word(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 300; round++) {
        model            m = random_model(&random);
        fenced           memory;
        attic_view const attic = attic_here(&m, &memory);
        while (m.n < m.shape.room) add_random(&m, &attic, &random);
        for (unsigned i = 0; i < m.n; i++) {
            unsigned first = i;
            while (first > 0 && m.list[first - 1].word == m.list[i].word) first--;
            uint64_t const place = model_place(&m, first);
            assert_int_equal(attic_find(&attic, m.list[i].word), place);
            assert_int_equal(attic_word(&attic, place), m.list[i].word);
            assert_int_equal(attic_rest(&attic, place), m.list[first].rest);
        }
        fenced_free(&memory);
    }
}

#define STRANGER (1u << 13) /* a bit of the words that will not stay */

static void shuffle(entry *list, unsigned n, dice *random) {
    for (unsigned i = n; i > 1; i--) {
        unsigned const k = (unsigned)dice_below(random, i);
        entry const    one = list[k];
        list[k] = list[i - 1];
        list[i - 1] = one;
    }
}

/* Words that stay and strangers among them. */
static unsigned random_list(const model *m, dice *random, entry *ret_list) {
    for (unsigned i = 0; i < m->shape.room; i++) {
        unsigned const own = (unsigned)dice_below(random, 5) * 1000;
        ret_list[i].word = attic_make_word(dice_below(random, m->buckets),
                                           own | (dice_below(random, 3) ? 0 : STRANGER));
        ret_list[i].rest = dice_roll(random) & bits_low(m->shape.rest_bits);
    }
    return (unsigned)m->shape.room;
}

/* Add in this order. Strangers are removed: at once if `is_eager`, or all at the end. */
static void live(model *m, const attic_view *attic, const entry *list, unsigned n, bool is_eager) {
    for (unsigned i = 0; i < n; i++) {
        add_one(m, attic, list[i].word, list[i].rest);
        for (unsigned k = m->n; (is_eager || i == n - 1) && k-- > 0;) {
            if ((m->list[k].word & STRANGER) == 0) continue;
            attic_take(attic, model_place(m, k));
            model_take(m, k);
        }
    }
}

/* The same words and rests in other orders, with strangers that come and go. */
static void attic_looks_the_same_whatever_the_order(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 300; round++) {
        model const    empty = random_model(&random);
        entry          list[MAX_WORDS];
        unsigned const n = random_list(&empty, &random, list);
        fenced         memory[4];
        for (unsigned i = 0; i < 4; i++) {
            model            m = empty;
            attic_view const attic = attic_here(&m, &memory[i]);
            live(&m, &attic, list, n, i % 2 == 0);
            assert_memory_equal(attic.body, memory[0].bytes, m.bytes);
            shuffle(list, n, &random);
        }
        for (unsigned i = 0; i < 4; i++) fenced_free(&memory[i]);
    }
}

/* All words at the last home, or at the first: `room` of them find a place, and no more. */
static void attic_is_full_by_count_alone(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 100; round++) {
        model            m = random_model(&random);
        fenced           memory;
        attic_view const attic = attic_here(&m, &memory);
        uint64_t const   wanted = round % 2 == 0 ? m.shape.homes - 1 : 0;
        uint64_t         bucket = 0;
        m.buckets = MAX_BUCKETS;
        while (home_of(&m, bucket) != wanted) bucket += 16;
        while (m.n < m.shape.room) {
            uint64_t const word = attic_make_word(bucket + dice_below(&random, 16), m.n);
            add_one(&m, &attic, word, dice_roll(&random) & bits_low(attic.rest_bits));
            check(&m, &attic);
        }
        assert_int_equal(model_place(&m, m.n - 1), wanted + m.shape.room - 1);
        while (m.n != 0) take_random(&m, &attic, &random);
        check(&m, &attic);
        fenced_free(&memory);
    }
}

/* ------------------------------------------------------------------ wholeness */

/* Would the oracle write these words? Equal words may have their rests in any order here. */
static bool model_is_whole(const model *m, const attic_view *attic) {
    model    copy = *m;
    uint64_t n = 0;
    copy.n = 0;
    for (uint64_t place = 0; place < m->shape.homes + m->shape.room; place++) {
        uint64_t const word = attic_word(attic, place);
        if (word == 0 && attic_rest(attic, place) != 0) return false;
        if (word == 0) continue;
        if (word < 1 << 14 || (word >> 14) - 1 >= m->buckets || ++n > m->shape.room) return false;
        model_add(&copy, word, 0);
    }
    if (attic_count(attic) != n) return false;
    for (unsigned i = 0; i < copy.n; i++) {
        if (attic_word(attic, model_place(&copy, i)) != copy.list[i].word) return false;
    }
    return true;
}

/* A random change, from a bit to a word that has moved. */
static void damage(const model *m, const attic_view *attic, dice *random) {
    uint64_t const places = m->shape.homes + m->shape.room;
    uint64_t const a = dice_below(random, places), b = dice_below(random, places);
    uint64_t const word_a = attic_word(attic, a), word_b = attic_word(attic, b);
    uint64_t const bit = dice_below(random, attic->word_bits * places);
    switch (dice_below(random, 5)) {
    case 0: flip_bit(attic->body + attic->words, bit); break;
    case 1: flip_bit(attic->body + attic->count, bit % 8); break;
    case 2: attic_set(attic, a, 0, 0); break;
    case 3: attic_set(attic, a, attic_word(attic, a), bits_low(attic->rest_bits)); break;
    default: attic_set(attic, a, word_b, 0); attic_set(attic, b, word_a, 0);
    }
}

static void attic_is_whole_just_when_the_oracle_would_write_it(void **state) {
    (void)state;
    dice     random = dice_start();
    unsigned seen[2] = { 0, 0 };
    for (unsigned round = 0; round < 400; round++) {
        model            m = random_model(&random);
        fenced           memory;
        attic_view const attic = attic_here(&m, &memory);
        unsigned const   n = (unsigned)dice_below(&random, m.shape.room + 1);
        for (unsigned i = 0; i < n; i++) add_random(&m, &attic, &random);
        for (unsigned i = 0; i < 20; i++) {
            damage(&m, &attic, &random);
            bool const is_whole = model_is_whole(&m, &attic);
            assert_int_equal(attic_is_whole(&attic, m.buckets), is_whole);
            seen[is_whole]++;
            model_bytes(&m, attic.body);
        }
        fenced_free(&memory);
    }
    assert_true(seen[0] > 2000 && seen[1] > 500);
}

/* For any bytes, every operation ends and stays inside the body. */
static void attic_of_any_bytes_is_read_inside_the_body(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 2000; round++) {
        model            m = random_model(&random);
        fenced           memory;
        attic_view const attic = attic_here(&m, &memory);
        dice_fill(&random, attic.body, m.bytes);
        for (uint64_t i = 0; i < m.shape.homes + m.shape.room && round % 2 == 0; i++) {
            bool const is_there = dice_below(&random, 4) != 0; /* plausible ones */
            attic_set(&attic, i, is_there ? attic_make_word(dice_below(&random, 50), 7) : 0, 0);
        }
        assert_int_equal(attic_is_whole(&attic, m.buckets), model_is_whole(&m, &attic));
        for (unsigned i = 0; i < 10; i++) {
            uint64_t const bucket = dice_edge(&random) & bits_low(50);
            uint64_t const place = attic_find(&attic, attic_make_word(bucket, 0));
            assert_true(place <= m.shape.homes + m.shape.room);
        }
        fenced_free(&memory);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(attic_is_as_a_sorted_list_would_be),
    cmocka_unit_test(attic_find_gives_the_first_place_not_before_a_word),
    cmocka_unit_test(attic_looks_the_same_whatever_the_order),
    cmocka_unit_test(attic_is_full_by_count_alone),
    cmocka_unit_test(attic_is_whole_just_when_the_oracle_would_write_it),
    cmocka_unit_test(attic_of_any_bytes_is_read_inside_the_body),
};

CORE_EXPORT(attic)
