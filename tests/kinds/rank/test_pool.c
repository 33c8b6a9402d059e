/* test_pool.c - kinds/rank/pool.h against a plain array of what is taken. */
#include "core_units.h"

#include "kinds/rank/pool.h"

#define MAX_RECORDS 400
#define MAX_AT 200
#define BYTES ((MAX_RECORDS + MAX_AT) / 8 + FIELD_PAD_BYTES + 1)

typedef struct model {
    uint64_t at, n, left;
    bool     is_taken[MAX_RECORDS];
    uint8_t  beside[BYTES]; /* all bits that are not the pool's */
} model;

static model random_model(dice *random) {
    model m = { .at = dice_below(random, MAX_AT), .n = 1 + dice_below(random, MAX_RECORDS) };
    m.left = m.n;
    dice_fill(random, m.beside, BYTES);
    return m;
}

static void model_bytes(const model *m, uint8_t *ret_bytes) {
    memcpy(ret_bytes, m->beside, BYTES);
    for (uint64_t i = 0; i < m->n; i++) write_bit(ret_bytes, m->at + i, m->is_taken[i]);
}

static void check(const model *m, const uint8_t *body) {
    uint8_t expected[BYTES];
    model_bytes(m, expected);
    assert_memory_equal(body, expected, BYTES);
}

/* The first free record from `wanted` on, searched once around. */
static uint64_t model_take(model *m, uint64_t wanted) {
    for (uint64_t i = 0; i < m->n; i++) {
        uint64_t const record = (min_u64(wanted, m->n) + i) % m->n;
        if (m->is_taken[record]) continue;
        m->is_taken[record] = true;
        m->left--;
        return record;
    }
    return POOL_NONE;
}

static void model_give(model *m, uint64_t record) {
    m->is_taken[record] = false;
    m->left++;
}

static void take_one(model *m, uint8_t *body, uint64_t wanted) {
    assert_int_equal(pool_take(body, m->at, m->n, wanted), model_take(m, wanted));
    check(m, body);
}

/* ------------------------------------------------------------------ tests */

static void pool_takes_every_record_once_and_then_says_none(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced body = fenced_new(BYTES);
    for (unsigned round = 0; round < 100; round++) {
        model m = random_model(&random);
        model_bytes(&m, body.bytes);
        for (uint64_t i = 0; i < m.n; i++) take_one(&m, body.bytes, dice_below(&random, m.n));
        assert_int_equal(m.left, 0);
        for (uint64_t wanted = 0; wanted < m.n; wanted++) take_one(&m, body.bytes, wanted);
    }
    fenced_free(&body);
}

static void pool_gives_the_wanted_record_or_the_next_one_around(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced body = fenced_new(BYTES);
    for (unsigned round = 0; round < 100; round++) {
        model          m = random_model(&random);
        uint64_t const share = 1 + dice_below(&random, 8);
        model_bytes(&m, body.bytes);
        for (unsigned i = 0; i < 600; i++) {
            uint64_t const record = dice_below(&random, m.n);
            bool const     gives = m.is_taken[record] && dice_below(&random, 9) < share;
            if (gives) pool_give(body.bytes, m.at, record);
            if (gives) model_give(&m, record);
            check(&m, body.bytes);
            if (!gives) take_one(&m, body.bytes, record);
        }
    }
    fenced_free(&body);
}

/* One that is free among many that are taken is found from everywhere. */
static void pool_finds_the_last_free_record_from_every_place(void **state) {
    (void)state;
    fenced body = fenced_new(BYTES);
    for (uint64_t vacant = 0; vacant < 130; vacant++) {
        for (uint64_t wanted = 0; wanted <= 130; wanted++) {
            memset(body.bytes, 0xff, BYTES);
            write_bit(body.bytes, 3 + vacant, false);
            assert_int_equal(pool_take(body.bytes, 3, 130, wanted), vacant);
            assert_int_equal(pool_take(body.bytes, 3, 130, wanted), POOL_NONE);
        }
    }
    fenced_free(&body);
}

/* Bits after the last record do not belong to the pool, whatever they are. */
static void an_empty_pool_has_no_records(void **state) {
    (void)state;
    uint8_t body[BYTES] = { 0 };
    assert_int_equal(pool_take(body, 5, 0, 0), POOL_NONE);
    for (size_t i = 0; i < BYTES; i++) assert_int_equal(body[i], 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pool_takes_every_record_once_and_then_says_none),
    cmocka_unit_test(pool_gives_the_wanted_record_or_the_next_one_around),
    cmocka_unit_test(pool_finds_the_last_free_record_from_every_place),
    cmocka_unit_test(an_empty_pool_has_no_records),
};

CORE_EXPORT(pool)
