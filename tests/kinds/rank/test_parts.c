/* test_parts.c - kinds/rank/parts.h against a plain array. */
#include "core_units.h"

#include "kinds/rank/parts.h"

#define MAX_ROOM 40 /* of a piece */
#define MAX_FIELDS (PARTS_MAX * MAX_ROOM)
#define MAX_FIELD_BITS 56
#define MAX_GAP 150 /* bits between pieces */
#define BYTES (((MAX_ROOM * MAX_FIELD_BITS + MAX_GAP) * PARTS_MAX + MAX_GAP) / 8 + 64)

/* The pieces in memory, and what should be in them. */
typedef struct model {
    parts_list parts;
    unsigned   room, used;
    uint64_t   field[MAX_FIELDS];
    uint8_t    beside[BYTES]; /* all bits that are of no piece */
} model;

/* One to three pieces in any order, with other bits between them. */
static model random_model(dice *random) {
    model          m = { .parts.bits = 1 + (unsigned)dice_below(random, MAX_FIELD_BITS) };
    unsigned const pieces = 1 + (unsigned)dice_below(random, PARTS_MAX);
    unsigned const turn = (unsigned)dice_below(random, pieces);
    uint64_t       at = 0;
    for (unsigned i = 0; i < pieces; i++) {
        unsigned const piece = (i + turn) % pieces;
        at += dice_below(random, MAX_GAP);
        m.parts.at[piece] = at;
        m.parts.room[piece] = 1 + (unsigned)dice_below(random, MAX_ROOM);
        m.room += m.parts.room[piece];
        at += (uint64_t)m.parts.room[piece] * m.parts.bits;
    }
    dice_fill(random, m.beside, BYTES);
    return m;
}

/* Where field i is, counted one by one. */
static uint64_t model_at(const model *m, unsigned i) {
    unsigned piece = 0, place = 0;
    for (unsigned n = 0; n < i; n++) {
        if (++place < m->parts.room[piece] || piece + 1 == PARTS_MAX) continue;
        piece++;
        place = 0;
    }
    return m->parts.at[piece] + (uint64_t)place * m->parts.bits;
}

/* The memory as it should be: fields in use, zeros after them, and the bits that belong to no
 * piece. */
static void model_bytes(const model *m, uint8_t *ret_bytes) {
    memcpy(ret_bytes, m->beside, BYTES);
    for (unsigned i = 0; i < m->room; i++) {
        uint64_t const value = i < m->used ? m->field[i] : 0, at = model_at(m, i);
        for (unsigned bit = 0; bit < m->parts.bits; bit++) {
            write_bit(ret_bytes, at + bit, value >> bit & 1);
        }
    }
}

static void check(const model *m, const uint8_t *body) {
    uint8_t expected[BYTES];
    model_bytes(m, expected);
    if (memcmp(body, expected, BYTES) == 0) return;
    print_error("%u fields of %u bits in %u+%u+%u\n", m->used, m->parts.bits, m->parts.room[0],
                m->parts.room[1], m->parts.room[2]);
    fail();
}

static void step_open(model *m, uint8_t *body, dice *random) {
    unsigned const i = (unsigned)dice_below(random, m->used + 1);
    uint64_t const value = dice_edge(random) & bits_low(m->parts.bits);
    parts_open(body, &m->parts, i, m->used, value);
    memmove(m->field + i + 1, m->field + i, (m->used - i) * sizeof m->field[0]);
    m->field[i] = value;
    m->used++;
}

static void step_close(model *m, uint8_t *body, dice *random) {
    unsigned const i = (unsigned)dice_below(random, m->used);
    parts_close(body, &m->parts, i, m->used);
    m->used--;
    memmove(m->field + i, m->field + i + 1, (m->used - i) * sizeof m->field[0]);
}

/* Up to the last field and down to none, three times. */
static void live(model *m, uint8_t *body, dice *random) {
    model_bytes(m, body);
    for (unsigned turn = 0; turn < 6; turn++) {
        bool const is_growing = turn % 2 == 0;
        while (m->used != (is_growing ? m->room : 0)) {
            bool const towards = dice_below(random, 4) != 0;
            if ((is_growing == towards || m->used == 0) && m->used < m->room)
                step_open(m, body, random);
            else
                step_close(m, body, random);
            check(m, body);
        }
    }
}

static void parts_open_and_close_keep_an_array_in_order(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced body = fenced_new(BYTES);
    for (unsigned round = 0; round < 60; round++) {
        model m = random_model(&random);
        live(&m, body.bytes, &random);
    }
    fenced_free(&body);
}

static void parts_at_finds_every_field(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 1000; round++) {
        model const m = random_model(&random);
        for (unsigned i = 0; i < m.room; i++) {
            assert_int_equal(parts_at(&m.parts, i), model_at(&m, i));
        }
    }
}

/* The field that is pushed out of a full piece becomes the first of the next piece, and returns
 * later. */
static void parts_carry_over_the_border_of_a_piece(void **state) {
    (void)state;
    parts_list const parts = { .at = { 0, 100 }, .room = { 2, 2 }, .bits = 8 };
    uint8_t          body[40] = { 0 };
    parts_open(body, &parts, 0, 0, 0xaa);
    parts_open(body, &parts, 1, 1, 0xbb);
    parts_open(body, &parts, 0, 2, 0xcc);
    assert_int_equal(body[0], 0xcc);
    assert_int_equal(body[1], 0xaa);
    assert_int_equal(field_get(body, 100, 8), 0xbb);
    parts_close(body, &parts, 0, 3);
    assert_int_equal(body[0], 0xaa);
    assert_int_equal(body[1], 0xbb);
    assert_int_equal(field_get(body, 100, 8), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(parts_open_and_close_keep_an_array_in_order),
    cmocka_unit_test(parts_at_finds_every_field),
    cmocka_unit_test(parts_carry_over_the_border_of_a_piece),
};

CORE_EXPORT(parts)
