/* test_cells.c - core/cells.h against cells that are assembled bit by bit.
 *
 * A bucket begins at any byte, among other bytes that must not change. Every read of a word is
 * reported (TAMIS_TOUCH in le.h): if the bucket has 8 bytes or more, only its own bytes are read.
 */
#include "core_units.h"

static void touched(const void *from, size_t bytes);
#define TAMIS_TOUCH(address, bytes) touched(address, bytes)
#include "core/cells.h"

#define MAX_CELLS 64
#define MAX_BITS 57
#define BEFORE 64
#define MEMORY (BEFORE + MAX_CELLS * MAX_BITS / 8 + 32)

typedef struct model {
    cells_shape shape;
    uint64_t    cell[MAX_CELLS];
    uint8_t     memory[MEMORY]; /* what the bytes must be */
    unsigned    at;             /* the byte of the bucket */
    unsigned    memory_bytes;   /* up to where it may be read */
} model;

static const uint8_t *allowed_from, *allowed_to;

static void touched(const void *from, size_t bytes) {
    const uint8_t *const first = from;
    assert_true(first >= allowed_from && first + bytes <= allowed_to);
}

/* ------------------------------------------------------------------ the oracle */

static uint64_t low_bits(uint64_t value, unsigned bits) {
    return value & ~(UINT64_MAX << bits); /* bits < 64 */
}

static uint64_t model_print(const model *m, unsigned i) {
    return low_bits(m->cell[i], m->shape.print_bits);
}

static void model_set(model *m, unsigned i, uint64_t cell) {
    m->cell[i] = cell;
    for (unsigned b = 0; b < m->shape.bits; b++) {
        write_bit(m->memory + m->at, i * m->shape.bits + b, cell >> b & 1);
    }
}

static unsigned model_next(const model *m, uint64_t print, unsigned i) {
    while (i < m->shape.n && model_print(m, i) != print) i++;
    return i;
}

static unsigned model_used(const model *m) {
    unsigned used = 0;
    for (unsigned i = 0; i < m->shape.n; i++) used += model_print(m, i) != 0;
    return used;
}

static bool model_is_whole(const model *m) {
    unsigned used = 0;
    while (used < m->shape.n && model_print(m, used) != 0) used++;
    for (unsigned i = used; i < m->shape.n; i++) {
        if (m->cell[i] != 0) return false;
    }
    for (unsigned bit = m->shape.n * m->shape.bits; bit < 8 * m->shape.bytes; bit++) {
        if (read_bit(m->memory + m->at, bit)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ a model and its bucket */

/* A bucket with or without padding, at any byte, among random bytes. The memory ends with the
 * bucket, or after 8 bytes if the bucket is smaller: so many are read then. */
static model model_new(dice *random, unsigned n, unsigned bits, unsigned print_bits) {
    unsigned const least = (n * bits + 7) / 8;
    unsigned const bytes = least + (unsigned)(dice_below(random, 2) * dice_below(random, 10));
    model          m = { .at = (unsigned)dice_below(random, BEFORE) };
    m.shape = cells_make((cells_shape){ n, bits, print_bits, bytes, 0, 0 });
    m.memory_bytes = m.at + (bytes < 8 ? 8 : bytes);
    dice_fill(random, m.memory, m.memory_bytes);
    for (unsigned bit = 0; bit < 8 * bytes; bit++) write_bit(m.memory + m.at, bit, false);
    return m;
}

/* Few different prints, so that many are equal; prints that differ in one bit; any counter. */
static uint64_t random_cell(const model *m, dice *random) {
    uint64_t const edges[] = { 1,
                               2,
                               bits_low(m->shape.print_bits),
                               3,
                               UINT64_C(1) << (m->shape.print_bits - 1),
                               dice_roll(random) };
    uint64_t const print = low_bits(edges[dice_below(random, 6)], m->shape.print_bits);
    uint64_t const counter = dice_below(random, 2) == 0 ? 0 : dice_roll(random);
    uint64_t const cell = print | counter << m->shape.print_bits;
    return low_bits(m->shape.print_bits == m->shape.bits ? print : cell, m->shape.bits);
}

static uint64_t random_print(const model *m, dice *random) {
    uint64_t const print = low_bits(random_cell(m, random), m->shape.print_bits);
    return print == 0 ? 1 : print;
}

/* Copy the bytes into fenced memory, where reads are watched; check() compares them later. */
static uint8_t *bucket_of(const model *m, const fenced *memory) {
    uint8_t *const bucket = memory->bytes + MEMORY - m->memory_bytes + m->at;
    memcpy(bucket - m->at, m->memory, m->memory_bytes);
    allowed_from = bucket;
    allowed_to = bucket + (m->shape.bytes < 8 ? 8 : m->shape.bytes);
    return bucket;
}

static void check(const model *m, const uint8_t *bucket) {
    assert_memory_equal(bucket - m->at, m->memory, m->memory_bytes);
}

typedef void shape_check(model *m, const fenced *memory, dice *random);

/* Every width and every number of cells; prints that take the whole cell or a part of it. */
static void for_all_shapes(shape_check *check_one) {
    dice   random = dice_start();
    fenced memory = fenced_new(MEMORY);
    for (unsigned bits = 4; bits <= MAX_BITS; bits++) {
        for (unsigned n = 1; n <= MAX_CELLS; n++) {
            unsigned const less = (unsigned)dice_below(&random, n % 3 == 0 ? bits - 1 : 4);
            model          m = model_new(&random, n, bits, bits - less);
            check_one(&m, &memory, &random);
        }
    }
    fenced_free(&memory);
}

/* ------------------------------------------------------------------ tests */

static void get_and_set(model *m, const fenced *memory, dice *random) {
    uint8_t *const bucket = bucket_of(m, memory);
    for (unsigned round = 0; round < 2 * m->shape.n; round++) {
        unsigned const i = (unsigned)dice_below(random, m->shape.n);
        uint64_t const cell = random_cell(m, random);
        assert_int_equal(cells_get(&m->shape, bucket, i), m->cell[i]);
        cells_set(&m->shape, bucket, i, cell);
        model_set(m, i, cell);
        check(m, bucket);
        assert_int_equal(cells_get(&m->shape, bucket, i), cell);
        assert_int_equal(cells_print(&m->shape, cell), model_print(m, i));
    }
}

static void cells_are_read_and_set_and_nothing_else(void **state) {
    (void)state;
    for_all_shapes(get_and_set);
}

/* Lookups answer correctly for any bytes: also with empty cells in between and counters without a
 * print. */
static void look(model *m, const fenced *memory, dice *random) {
    for (unsigned i = 0; i < m->shape.n; i++) {
        if (dice_below(random, 4) != 0) model_set(m, i, random_cell(m, random));
    }
    const uint8_t *const bucket = bucket_of(m, memory);
    for (unsigned round = 0; round < 8; round++) {
        uint64_t const print = random_print(m, random);
        unsigned const from = (unsigned)dice_below(random, m->shape.n + 1);
        assert_int_equal(cells_has(&m->shape, bucket, print), model_next(m, print, 0) < m->shape.n);
        assert_int_equal(cells_next(&m->shape, bucket, print, 0), model_next(m, print, 0));
        assert_int_equal(cells_next(&m->shape, bucket, print, from), model_next(m, print, from));
    }
    assert_int_equal(cells_used(&m->shape, bucket), model_used(m));
    check(m, bucket);
}

static void cells_are_found_and_counted_as_one_by_one(void **state) {
    (void)state;
    for (unsigned round = 0; round < 4; round++) for_all_shapes(look);
}

/* One cell has the print, at every place in turn: it is always found, and no other. */
static void find_one(model *m, const fenced *memory, dice *random) {
    uint64_t const print = random_print(m, random);
    uint64_t const other = low_bits(print ^ 1, m->shape.print_bits);
    for (unsigned i = 0; i < m->shape.n; i++) model_set(m, i, other);
    assert_int_equal(cells_has(&m->shape, bucket_of(m, memory), print), false);
    for (unsigned i = 0; i < m->shape.n; i++) {
        model_set(m, i, print);
        const uint8_t *const bucket = bucket_of(m, memory);
        assert_true(cells_has(&m->shape, bucket, print));
        assert_int_equal(cells_next(&m->shape, bucket, print, 0), i);
        assert_int_equal(cells_next(&m->shape, bucket, print, i), i);
        assert_int_equal(cells_next(&m->shape, bucket, print, i + 1), m->shape.n);
        model_set(m, i, other);
    }
}

static void cells_find_one_among_neighbours_of_one_bit(void **state) {
    (void)state;
    for_all_shapes(find_one);
}

/* Bits after the last cell, and bytes of others, are never taken for a cell. */
static void ignore_what_is_behind(model *m, const fenced *memory, dice *random) {
    for (unsigned bit = m->shape.n * m->shape.bits; bit < 8 * m->shape.bytes; bit++) {
        write_bit(m->memory + m->at, bit, dice_below(random, 2));
    }
    const uint8_t *const bucket = bucket_of(m, memory);
    assert_int_equal(cells_used(&m->shape, bucket), 0);
    for (uint64_t print = 1; print < 16 && print <= bits_low(m->shape.print_bits); print++) {
        assert_false(cells_has(&m->shape, bucket, print));
        assert_int_equal(cells_next(&m->shape, bucket, print, 0), m->shape.n);
    }
}

static void cells_end_where_the_bucket_ends(void **state) {
    (void)state;
    for_all_shapes(ignore_what_is_behind);
}

static void fill_first(model *m, unsigned used, dice *random) {
    for (unsigned i = 0; i < used; i++) {
        uint64_t const cell = random_cell(m, random);
        model_set(m, i, low_bits(cell, m->shape.print_bits) != 0 ? cell : cell | 1);
    }
}

/* Delete cells until none is left. */
static void delete_all(model *m, const fenced *memory, dice *random) {
    unsigned used = 1 + (unsigned)dice_below(random, m->shape.n);
    fill_first(m, used, random);
    uint8_t *const bucket = bucket_of(m, memory);
    for (; used != 0; used--) {
        unsigned const i = (unsigned)dice_below(random, used);
        cells_delete(&m->shape, bucket, i, used);
        model_set(m, i, m->cell[used - 1]);
        model_set(m, used - 1, 0);
        check(m, bucket);
        assert_int_equal(cells_used(&m->shape, bucket), used - 1);
        assert_true(cells_are_whole(&m->shape, bucket));
    }
}

static void cells_are_deleted_and_the_last_takes_the_place(void **state) {
    (void)state;
    for_all_shapes(delete_all);
}

/* Make a gap, a counter without a print, or a bit after the cells; or damage nothing. */
static void damage(model *m, dice *random) {
    unsigned const i = (unsigned)dice_below(random, m->shape.n);
    uint64_t const print = bits_low(m->shape.print_bits);
    unsigned const bit = (unsigned)dice_below(random, 8 * m->shape.bytes);
    switch (dice_below(random, 4)) {
    case 0: model_set(m, i, 0); break;
    case 1: model_set(m, i, m->cell[i] & ~print); break;
    case 2: model_set(m, i, random_cell(m, random)); break;
    default: write_bit(m->memory + m->at, bit, !read_bit(m->memory + m->at, bit));
    }
    for (unsigned k = 0; k < m->shape.n; k++) { /* what the bits are now */
        m->cell[k] = 0;
        for (unsigned b = 0; b < m->shape.bits; b++) {
            bool const is_set = read_bit(m->memory + m->at, k * m->shape.bits + b);
            m->cell[k] |= (uint64_t)is_set << b;
        }
    }
}

static unsigned seen[2];

static void judge(model *m, const fenced *memory, dice *random) {
    fill_first(m, (unsigned)dice_below(random, m->shape.n + 1), random);
    assert_true(cells_are_whole(&m->shape, bucket_of(m, memory)));
    for (unsigned round = 0; round < 3; round++) {
        model hurt = *m;
        damage(&hurt, random);
        bool const is_whole = model_is_whole(&hurt);
        assert_int_equal(cells_are_whole(&hurt.shape, bucket_of(&hurt, memory)), is_whole);
        seen[is_whole]++;
    }
}

static void cells_are_valid_exactly_when_all_rules_hold(void **state) {
    (void)state;
    seen[0] = seen[1] = 0;
    for_all_shapes(judge);
    assert_true(seen[0] > 2000 && seen[1] > 2000);
}

/* A word may begin up to 7 bits before the first cell; as many cells as fit into the rest. */
static void cells_per_word_is_the_most_that_fits(void **state) {
    (void)state;
    for (unsigned bits = 4; bits <= MAX_BITS; bits++) {
        unsigned const early = bits % 8 == 0 ? 0 : 7;
        assert_int_equal(cells_per_word(bits), (64 - early) / bits);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cells_are_read_and_set_and_nothing_else),
    cmocka_unit_test(cells_are_found_and_counted_as_one_by_one),
    cmocka_unit_test(cells_find_one_among_neighbours_of_one_bit),
    cmocka_unit_test(cells_end_where_the_bucket_ends),
    cmocka_unit_test(cells_are_deleted_and_the_last_takes_the_place),
    cmocka_unit_test(cells_are_valid_exactly_when_all_rules_hold),
    cmocka_unit_test(cells_per_word_is_the_most_that_fits),
};

CORE_EXPORT(cells)
