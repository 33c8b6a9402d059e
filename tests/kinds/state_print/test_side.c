/* test_side.c - kinds/state_print/side.h against a list, on memory that ends where the table
 * does. */
#include "core_units.h"

#include "kinds/state_print/side.h"

typedef struct model {
    unsigned n;
    uint64_t hash[SIDE_MAX_ROOM], field[SIDE_MAX_ROOM];
} model;

static unsigned model_find(const model *m, uint64_t hash) {
    unsigned i = 0;
    while (i < m->n && m->hash[i] != hash) i++;
    return i;
}

/* Bit by bit: the count, the hashes, the fields behind the room for them. */
static void check_bytes(side list, const model *m) {
    uint8_t        expected[8 + SIDE_MAX_ROOM * 16] = { 0 };
    unsigned const room = list.shape->room, bits = list.shape->bits;
    for (unsigned b = 0; b < 64; b++) write_bit(expected, b, (uint64_t)m->n >> b & 1);
    for (unsigned i = 0; i < m->n; i++) {
        for (unsigned b = 0; b < 64; b++) {
            write_bit(expected, 64 * (1 + i) + b, m->hash[i] >> b & 1);
        }
        for (unsigned b = 0; b < bits; b++) {
            write_bit(expected, 64 * (1 + room) + i * bits + b, m->field[i] >> b & 1);
        }
    }
    assert_memory_equal(list.body + list.shape->at, expected, side_bytes(room, bits));
}

static void check_step(side list, model *m, dice *random) {
    uint64_t const hash = dice_below(random, 3) == 0 ? 0 : dice_below(random, 2 * list.shape->room);
    unsigned const at = model_find(m, hash);
    assert_int_equal(side_find(list, hash), at);
    assert_int_equal(side_has(list, hash), at < m->n);
    if (at < m->n) {
        assert_int_equal(field_get(list.body, side_field_at(list, at), list.shape->bits),
                         m->field[at]);
        side_take(list, at);
        m->hash[at] = m->hash[--m->n];
        m->field[at] = m->field[m->n];
    } else {
        uint64_t const field = dice_roll(random) & bits_low(list.shape->bits);
        assert_int_equal(side_add(list, hash, field), m->n < list.shape->room);
        if (m->n < list.shape->room) {
            m->hash[m->n] = hash;
            m->field[m->n++] = field;
        }
    }
    assert_int_equal(side_count(list), m->n);
    assert_true(side_is_whole(list));
    check_bytes(list, m);
}

static void side_is_a_list(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 200; round++) {
        side_shape const shape = { 8 * dice_below(&random, 4),
                                   1 + (unsigned)dice_below(&random, SIDE_MAX_ROOM),
                                   1 + (unsigned)dice_below(&random, 38) };
        size_t const     bytes = shape.at + side_bytes(shape.room, shape.bits) + FIELD_PAD_BYTES;
        fenced           memory = fenced_new(bytes);
        side const       list = { memory.bytes, &shape };
        model            m = { .n = 0 };
        for (unsigned i = 0; i < 4 * shape.room; i++) check_step(list, &m, &random);
        fenced_free(&memory);
    }
}

static void side_without_room_is_nothing(void **state) {
    (void)state;
    side_shape const shape = { 0, 0, 5 };
    side const       list = { NULL, &shape };
    assert_int_equal(side_bytes(0, 5), 0);
    assert_int_equal(side_count(list), 0);
    assert_false(side_has(list, 0));
    assert_false(side_add(list, 1, 2));
    assert_true(side_is_whole(list));
}

/* A wrong count from a file leads to no access outside of the table. */
static void side_count_is_never_more_than_there_is_room_for(void **state) {
    (void)state;
    uint8_t          bytes[8 + 3 * 8 + 2 + FIELD_PAD_BYTES] = { 0 };
    side_shape const shape = { 0, 3, 5 };
    side const       list = { bytes, &shape };
    for (uint64_t count = 0; count < 10; count++) {
        le64_store(bytes, count == 9 ? UINT64_MAX : count);
        assert_int_equal(side_count(list), count < 3 ? count : 3);
        assert_int_equal(side_is_whole(list), count < 2); /* or the hash 0 is there twice */
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(side_is_a_list),
    cmocka_unit_test(side_without_room_is_nothing),
    cmocka_unit_test(side_count_is_never_more_than_there_is_room_for),
};

CORE_EXPORT(side)
