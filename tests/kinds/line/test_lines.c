/* test_lines.c - kinds/line/lines.h against one sorted list of everything, and docs/format.md.
 *
 * The oracle keeps the entries of all buckets in the order of (bucket, chain, byte, rest). From
 * that alone it writes the whole body: a line has the first whole chains within 50 slots, a shelf
 * the first 28 of what is left of 16 buckets, the attic the others. It predicts what is refused,
 * and after every step all bytes must be equal.
 */
#include "core_units.h"
#include "entries.h"

#include "kinds/line/lines_list.h"

#define MAX_BUCKETS 20
#define MAX_ENTRIES 1500
#define MAX_BYTES 16384
#define MAX_TAIL 200 /* of one bucket */

typedef struct model {
    lines_shape shape;
    uint64_t    bytes;
    unsigned    n;
    model_entry list[MAX_ENTRIES];
    unsigned    refused, far, cut; /* what was met */
} model;

/* ------------------------------------------------------------------ the oracle: what is where */

/* The entries of a bucket: list[first..end-1]. */
static unsigned first_of(const model *m, uint64_t bucket) {
    unsigned i = 0;
    while (i < m->n && m->list[i].bucket < bucket) i++;
    return i;
}

/* How many of them are in its line: chains as long as they fit. */
static unsigned kept_of(const model *m, uint64_t bucket) {
    unsigned const first = first_of(m, bucket), end = first_of(m, bucket + 1);
    unsigned       kept = 0;
    for (unsigned i = first, n = 0; i < end; i++) {
        n++;
        bool const is_chain_end = i + 1 == end || m->list[i + 1].key >> 8 != m->list[i].key >> 8;
        if (is_chain_end && n <= LINE_SLOTS) kept = n;
        if (n > LINE_SLOTS) break;
    }
    return kept;
}

static unsigned tail_of(const model *m, uint64_t bucket) {
    return first_of(m, bucket + 1) - first_of(m, bucket) - kept_of(m, bucket);
}

/* Is there room for all entries? */
static bool model_fits(const model *m) {
    uint64_t sent = 0, shelf = 0;
    for (uint64_t bucket = 0; bucket < m->shape.buckets; bucket++) {
        if (bucket % 16 == 0) shelf = 0;
        if (tail_of(m, bucket) > MAX_TAIL) return false;
        for (unsigned i = tail_of(m, bucket); i != 0; i--) sent += ++shelf > SHELF_KEYS;
    }
    return sent <= m->shape.room;
}

/* ------------------------------------------------------------------ the oracle: its bytes */

static void put(uint8_t *bytes, uint64_t at, uint64_t bits, uint64_t value) {
    for (uint64_t i = 0; i < bits; i++) write_bit(bytes, at + i, value >> i & 1);
}

static void put_line(const model *m, uint64_t bucket, uint8_t *bytes) {
    unsigned const first = first_of(m, bucket), end = first_of(m, bucket + 1);
    unsigned const kept = kept_of(m, bucket);
    uint64_t const line = 512 * bucket, bits = m->shape.rest_bits;
    for (unsigned i = first; i < end; i++) {
        const model_entry *const e = &m->list[i];
        unsigned const           slot = i - first;
        write_bit(bytes, line + (e->key >> 8), true);
        if (slot >= kept) continue;
        bool const is_start = slot > 0 && e->key >> 8 != e[-1].key >> 8;
        if (is_start) write_bit(bytes, line + 61 + slot, true);
        put(bytes, line + 112 + 8 * slot, 8, e->key & 255);
        uint64_t const before = bucket * LINE_SLOTS * bits + bucket / 16 * m->shape.slot_pad;
        put(bytes, m->shape.slot_rests + before + slot * bits, bits, e->rest);
    }
    if (kept != 0) write_bit(bytes, line + 61 + kept, true);
}

static void put_shelved(const model *m, const model_entry *e, unsigned n, uint8_t *bytes) {
    uint64_t const group = e->bucket / 16, at = 8 * (m->shape.shelves + 64 * group);
    uint64_t const bits = m->shape.rest_bits;
    write_bit(bytes, at + n + e->bucket % 16, true); /* a zero for each bucket before */
    put(bytes, at + 64 + 16 * n, 16, e->key);
    put(bytes, m->shape.shelf_rests + group * m->shape.shelf_stride + n * bits, bits, e->rest);
}

static uint64_t home_of(const model *m, uint64_t bucket) {
    uint64_t low;
    return multiply_digits(mix64(bucket / 16), m->shape.homes, &low);
}

/* Those of the attic, in the order of the list; groups are sorted by their homes. */
static void put_attic(const model *m, const model_entry **up, unsigned n, uint8_t *bytes) {
    uint64_t place = 0, bits = m->shape.rest_bits;
    for (unsigned i = 1; i < n; i++) {
        for (unsigned k = i; k > 0 && home_of(m, up[k - 1]->bucket) > home_of(m, up[k]->bucket);
             k--) {
            const model_entry *const one = up[k];
            up[k] = up[k - 1];
            up[k - 1] = one;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t const home = home_of(m, up[i]->bucket);
        place = i > 0 && home <= place ? place + 1 : home;
        put(bytes, 8 * m->shape.words + m->shape.word_bits * place, (unsigned)m->shape.word_bits,
            (up[i]->bucket + 1) << 14 | up[i]->key);
        put(bytes, m->shape.word_rests + place * bits, bits, up[i]->rest);
    }
    put(bytes, 8 * m->shape.count, 64, n);
}

static void model_bytes(const model *m, uint8_t *ret_bytes) {
    const model_entry *up[MAX_ENTRIES];
    unsigned           n_up = 0, shelf = 0;
    memset(ret_bytes, 0, m->bytes);
    for (uint64_t bucket = 0; bucket < m->shape.buckets; bucket++) {
        if (bucket % 16 == 0) shelf = 0;
        put_line(m, bucket, ret_bytes);
        for (unsigned i = first_of(m, bucket) + kept_of(m, bucket); i < first_of(m, bucket + 1);
             i++, shelf++) {
            if (shelf < SHELF_KEYS)
                put_shelved(m, &m->list[i], shelf, ret_bytes);
            else
                up[n_up++] = &m->list[i];
        }
    }
    put_attic(m, up, n_up, ret_bytes);
}

/* ------------------------------------------------------------------ a model and its body */

typedef struct width {
    uint64_t remainder_bits, counter_bits, value_bits;
} width;

/* Rests of 0, 4, 8, 16 bits, 24 + 8, and all there may be. */
static const width widths[] = { { 8, 0, 0 },  { 9, 0, 0 },  { 10, 0, 0 },
                                { 11, 0, 0 }, { 12, 0, 0 }, { 16, 0, 0 },
                                { 24, 0, 0 }, { 32, 8, 0 }, { 32, 0, 32 } };

static uint64_t whole_words(uint64_t bits) {
    return (bits + 63) / 64 * 64;
}

static void lay_out(model *m) {
    lines_shape *const s = &m->shape;
    uint64_t const     groups = (s->buckets + 15) / 16, places = s->homes + s->room;
    s->shelves = 64 * s->buckets;
    s->words = s->shelves + 64 * groups;
    s->count = s->words + s->word_bits / 8 * places;
    s->slot_rests = whole_words(8 * (s->count + 8));
    s->slot_pad = whole_words(16 * LINE_SLOTS * s->rest_bits) - 16 * LINE_SLOTS * s->rest_bits;
    s->shelf_stride = whole_words(SHELF_KEYS * s->rest_bits);
    s->row_bits = LINE_SLOTS * s->rest_bits;
    s->row_words = rests_window_words(LINE_SLOTS, (unsigned)s->rest_bits);
    s->group_bytes = (16 * s->row_bits + s->slot_pad) / 8;
    uint64_t const pads = s->buckets / 16 * s->slot_pad;
    s->shelf_rests = whole_words(s->slot_rests + s->buckets * LINE_SLOTS * s->rest_bits + pads);
    s->word_rests = s->shelf_rests + groups * s->shelf_stride;
    s->end = s->word_rests + places * s->rest_bits;
    m->bytes = (s->end / 8 + FIELD_PAD_BYTES + 64) / 64 * 64;
    assert_true(m->bytes <= MAX_BYTES);
}

static model *model_new(const width *w, uint64_t buckets, uint64_t room) {
    model *const m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->shape = (lines_shape){ .buckets = buckets,
                              .remainder_bits = w->remainder_bits,
                              .counter_bits = w->counter_bits,
                              .value_bits = w->value_bits,
                              .rest_bits = w->remainder_bits - 8 + w->counter_bits + w->value_bits,
                              .homes = room / 2 + 1,
                              .room = room,
                              .word_bits = 8 * (3 + (buckets + room) % 6) };
    lay_out(m);
    return m;
}

static void check_bytes(const model *m, lines_view lines) {
    uint8_t expected[MAX_BYTES];
    model_bytes(m, expected);
    assert_memory_equal(lines.body, expected, m->bytes);
}

/* The entries of a bucket, and where its line is cut. */
static void check_bucket(const model *m, lines_view lines, uint64_t bucket) {
    unsigned const first = first_of(m, bucket), n = first_of(m, bucket + 1) - first;
    runs const     index = runs_load(lines_at(lines, bucket));
    lines_list     list;
    lines_gather(lines, bucket, &list);
    assert_int_equal(list.n, n);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(list.key[i], m->list[first + i].key);
        assert_int_equal(list.rest[i], m->list[first + i].rest);
    }
    assert_int_equal(runs_used(index), kept_of(m, bucket));
    assert_int_equal(runs_are_cut(index), kept_of(m, bucket) < n);
}

/* ------------------------------------------------------------------ one fingerprint */

/* Sometimes only few chains, and few different bytes, so that runs are long and have equal
 * bytes. */
static lines_place random_place(const model *m, dice *random, unsigned chains) {
    uint64_t const any = dice_edge(random);
    unsigned const bits = (unsigned)m->shape.remainder_bits - 8;
    uint64_t const near = dice_below(random, 4) == 0 ? m->shape.buckets : 3; /* to the end */
    return (lines_place){
        .bucket = m->shape.buckets - 1 - dice_below(random, min_u64(near, m->shape.buckets)),
        .chain = (uint8_t)(dice_below(random, chains) * 61 / (chains - 1)),
        .byte = (uint8_t)(dice_below(random, 3) == 0 ? any % 3 : any >> 8),
        .remainder = (any >> 16 ^ any) % 5 == 0 ? any % 2 & bits_low(bits) : any & bits_low(bits)
    };
}

static bool is_print(const model *m, const model_entry *e, const lines_place *place) {
    unsigned const other = (unsigned)(m->shape.counter_bits + m->shape.value_bits);
    return e->bucket == place->bucket && e->key == lines_key(place) &&
           e->rest >> other == place->remainder;
}

/* The first entry with the fingerprint, or the number of all; how many there are. */
static unsigned find_print(const model *m, const lines_place *place, unsigned *ret_n) {
    unsigned i = 0;
    while (i < m->n && !is_print(m, &m->list[i], place)) i++;
    *ret_n = 0;
    for (unsigned k = i; k < m->n; k++) *ret_n += is_print(m, &m->list[k], place);
    return i;
}

/* A hash that falls to a place: bucket, chain and remainder are the digits of its print. */
static uint64_t hash_of(const model *m, const lines_place *place) {
    unsigned const bits = (unsigned)m->shape.remainder_bits;
    uint64_t const chain = place->bucket * LINE_CHAINS + place->chain;
    uint64_t const print = chain << bits | (uint64_t)place->byte << (bits - 8) | place->remainder;
    return fastrange_inverse(print, (m->shape.buckets * LINE_CHAINS) << bits);
}

static lines_found check_look(model *m, lines_view lines, const lines_place *place) {
    lines_found const found = lines_look(lines, place);
    unsigned          n;
    unsigned const    i = find_print(m, place, &n);
    if (n != 0 && m->shape.counter_bits != 0) n = 1 + (m->list[i].rest & 255);
    assert_int_equal(found.copies, n);
    assert_int_equal(lines_holds(lines, hash_of(m, place)), n != 0);
    m->far += found.is_far;
    if (n == 0) return found;
    uint64_t const at = lines_found_rest(lines, place, &found);
    assert_int_equal(field_get(lines.body, at, (unsigned)m->shape.rest_bits), m->list[i].rest);
    return found;
}

static void step_add(model *m, lines_view lines, const lines_place *place, uint64_t value) {
    lines_found const found = check_look(m, lines, place);
    unsigned          n;
    unsigned const    i = find_print(m, place, &n);
    uint64_t const    rest = rest_new(&m->shape, place->remainder, value);
    if (n != 0 && m->shape.counter_bits != 0) { /* another number of copies */
        lines_set_copies(lines, place, &found, 1 + (unsigned)(value & 255));
        m->list[i].rest = (m->list[i].rest & ~UINT64_C(255)) | (value & 255);
        return;
    }
    m->list[m->n++] = (model_entry){ place->bucket, rest, lines_key(place) };
    qsort(m->list, m->n, sizeof m->list[0], entry_order);
    bool const fits = model_fits(m);
    assert_int_equal(lines_new_entry(lines, place, &found, rest), fits);
    if (fits) return;
    model_entry const added = { place->bucket, rest, lines_key(place) };
    unsigned          k = 0;
    while (entry_order(&m->list[k], &added) != 0) k++;
    for (m->n--; k < m->n; k++) m->list[k] = m->list[k + 1];
    m->refused++;
}

static void step_remove(model *m, lines_view lines, const lines_place *place) {
    lines_found const found = check_look(m, lines, place);
    unsigned          n;
    unsigned          i = find_print(m, place, &n);
    if (n == 0) return;
    lines_take(lines, place, &found);
    for (m->n--; i < m->n; i++) m->list[i] = m->list[i + 1];
}

/* The fingerprint of an entry that is there. */
static lines_place place_at(const model *m, unsigned i) {
    unsigned const other = (unsigned)(m->shape.counter_bits + m->shape.value_bits);
    return (lines_place){ .bucket = m->list[i].bucket,
                          .chain = (uint8_t)(m->list[i].key >> 8),
                          .byte = (uint8_t)m->list[i].key,
                          .remainder = m->list[i].rest >> other };
}

/* ------------------------------------------------------------------ histories */

typedef struct life {
    uint64_t buckets, room;
    unsigned chains, steps;
} life;

/* One line alone; few long chains, and two; many lines; no attic. */
static const life lives[] = { { 1, 20, 62, 400 }, { 2, 90, 5, 700 },   { 1, 230, 2, 900 },
                              { 3, 8, 30, 900 },  { 18, 30, 62, 900 }, { 2, 0, 62, 500 } };

/* A value or a counter that fits. */
static uint64_t random_value(const model *m, dice *random) {
    if (m->shape.counter_bits != 0) return 0;
    return dice_roll(random) & bits_low((unsigned)m->shape.value_bits);
}

static void step(model *m, lines_view lines, const life *as, bool is_up, dice *random) {
    bool const  is_known = m->n != 0 && dice_below(random, is_up ? 8 : 2) == 0;
    unsigned    i = m->n == 0 ? 0 : (unsigned)dice_below(random, m->n);
    lines_place place =
        is_known || (!is_up && m->n != 0) ? place_at(m, i) : random_place(m, random, as->chains);
    unsigned   n;
    bool const is_counted = m->shape.counter_bits != 0 && find_print(m, &place, &n) < m->n;
    if (is_up)
        step_add(m, lines, &place, is_counted ? dice_roll(random) & 255 : random_value(m, random));
    else
        step_remove(m, lines, &place);
    check_bytes(m, lines);
    check_bucket(m, lines, place.bucket);
    m->cut += kept_of(m, place.bucket) < first_of(m, place.bucket + 1) - first_of(m, place.bucket);
}

/* Adds to met[] how often each was seen: cut lines, keys outside of their line, refusals. */
static void live(const width *w, const life *as, dice *random, unsigned met[3]) {
    model *const     m = model_new(w, as->buckets, as->room);
    fenced           memory = fenced_new(m->bytes);
    lines_view const lines = { memory.bytes, &m->shape, false };
    for (unsigned i = 0; i < as->steps; i++) {
        bool const is_late = i > as->steps * 3 / 5; /* filled: up and down */
        step(m, lines, as, dice_below(random, 8) < (is_late ? (i / 40 % 2 ? 6u : 2u) : 7u), random);
    }
    met[0] += m->cut;
    met[1] += m->far;
    met[2] += m->refused;
    while (m->n != 0) {
        lines_place const place = place_at(m, (unsigned)dice_below(random, m->n));
        step_remove(m, lines, &place);
        if (m->n % 16 == 0) check_bytes(m, lines);
    }
    fenced_free(&memory);
    free(m);
}

static void lines_are_as_one_sorted_list_says(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < COUNT(lives); i++) {
        unsigned met[3] = { 0, 0, 0 };
        for (unsigned w = 0; w < COUNT(widths); w++) live(&widths[w], &lives[i], &random, met);
        assert_true(met[0] > 1000 && met[1] > 200 && met[2] > 200); /* or it would show little */
    }
}

/* ------------------------------------------------------------------ where a key belongs */

/* The high half of hash x (buckets x 62 x 2^r), digit by digit. */
static void lines_find_reads_the_digits_of_the_hash(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t const    r = 8 + dice_below(&random, 33), hash = dice_edge(&random);
        lines_shape const shape = { .buckets = 1 + dice_below(&random, 1 << 16),
                                    .remainder_bits = r };
        uint64_t          low;
        uint64_t const    print = multiply_digits(hash, (shape.buckets * LINE_CHAINS) << r, &low);
        lines_place const place = lines_find((lines_view){ NULL, &shape, false }, hash);
        assert_int_equal(place.bucket, (print >> r) / LINE_CHAINS);
        assert_int_equal(place.chain, (print >> r) % LINE_CHAINS);
        assert_int_equal(place.byte, print >> (r - 8) & 255);
        assert_int_equal(place.remainder, print & bits_low((unsigned)r - 8));
    }
}

/* ------------------------------------------------------------------ any bytes */

static void random_bytes(dice *random, const model *m, uint8_t *body) {
    dice_fill(random, body, m->bytes);
    if (dice_below(random, 2) == 0) return;
    for (uint64_t i = 0; i < m->shape.count; i++) body[i] &= (uint8_t)dice_below(random, 256);
    for (uint64_t at = m->shape.shelves; at < m->shape.words; at += 64) { /* some full ones */
        le64_store(body + at, dice_below(random, 2) ? bits_low(28) : dice_edge(random));
    }
    for (uint64_t at = m->shape.words; at < m->shape.count; at += m->shape.word_bits / 8) {
        bool const is_there = dice_below(random, 3) != 0;
        le64_store(body + at, is_there ? attic_make_word(dice_below(random, 20), 300) : 0);
    }
}

static void lines_of_any_bytes_are_read_inside_the_body(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 1500; round++) {
        model *const     m = model_new(&widths[round % COUNT(widths)],
                                       1 + dice_below(&random, MAX_BUCKETS), round % 40);
        fenced           memory = fenced_new(m->bytes);
        lines_view const lines = { memory.bytes, &m->shape, false };
        lines_list       list;
        random_bytes(&random, m, memory.bytes);
        for (uint64_t bucket = 0; bucket < m->shape.buckets; bucket++) {
            lines_gather(lines, bucket, &list);
            assert_true(list.n <= LINES_MAX_ENTRIES);
            for (unsigned i = 0; i < list.n; i++) {
                uint64_t const print = lines_list_print(&m->shape, bucket, &list, i);
                assert_true(print >> m->shape.remainder_bits < m->shape.buckets * LINE_CHAINS);
            }
        }
        for (unsigned i = 0; i < 30; i++) {
            uint64_t const    hash = dice_roll(&random);
            lines_place const place = lines_find(lines, hash);
            lines_found const found = lines_look(lines, &place);
            if (m->shape.counter_bits == 0)
                assert_int_equal(lines_holds(lines, hash), found.copies != 0);
        }
        fenced_free(&memory);
        free(m);
    }
}

/* In a file that was opened with TAMIS_OPEN_TRUST, changes may be wrong, but must stay inside the
 * body. */
static void lines_of_any_bytes_are_changed_inside_the_body(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 3000; round++) {
        model *const     m = model_new(&widths[round % COUNT(widths)],
                                       1 + dice_below(&random, MAX_BUCKETS), round % 40);
        fenced           memory = fenced_new(m->bytes);
        lines_view const lines = { memory.bytes, &m->shape, false };
        random_bytes(&random, m, memory.bytes);
        for (unsigned i = 0; i < 60; i++) {
            lines_place const place = lines_find(lines, dice_roll(&random));
            lines_found const found = lines_look(lines, &place);
            if (i % 2 == 0)
                (void)lines_new_entry(lines, &place, &found,
                                      rest_new(&m->shape, place.remainder, 0));
            else if (found.copies != 0)
                lines_take(lines, &place, &found);
        }
        fenced_free(&memory);
        free(m);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_are_as_one_sorted_list_says),
    cmocka_unit_test(lines_find_reads_the_digits_of_the_hash),
    cmocka_unit_test(lines_of_any_bytes_are_read_inside_the_body),
    cmocka_unit_test(lines_of_any_bytes_are_changed_inside_the_body),
};

CORE_EXPORT(lines)
