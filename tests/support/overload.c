/* overload.c - see overload.h. */
#include "overload.h"

/* ------------------------------------------------------------------ floods */

#define FLOOD 1000000

static void flood(tamis_set *set) {
    for (uint64_t i = 0; i < FLOOD; i++) assert_int_equal(tamis_add_id(set, 0), TAMIS_OK);
}

static void check_has_all(const tamis_set *set) {
    for (uint64_t key = 0; key < set->capacity; key++) assert_true(tamis_has_id(set, key));
}

void check_flood(tamis_set *set) {
    flood(set);
    for (uint64_t key = 1; key < set->capacity; key++) {
        assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    }
    flood(set);
    check_has_all(set);
    if ((set->abilities & TAMIS_CAN_REMOVE) != 0) {
        uint64_t count = 0;
        assert_int_equal(tamis_count_id(set, 0, &count), TAMIS_OK);
        assert_true(count == TAMIS_COUNT_MANY);
        assert_int_equal(set->table.saturated, 1);
        for (uint64_t i = 0; i < 1000; i++) {
            assert_int_equal(tamis_remove_id(set, 0), TAMIS_ERR_SATURATED);
        }
        check_has_all(set);
    }
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* ------------------------------------------------------------------ exhaustion */

/* Keys 0.. ; true in ret_taken for those that found room. Returns how many did not. */
static uint64_t overfill(tamis_set *set, uint64_t keys, bool *ret_taken) {
    uint64_t       refused = 0;
    uint8_t *const before = malloc(set->table.body_bytes);
    assert_non_null(before);
    for (uint64_t key = 0; key < keys; key++) {
        bool const is_late = key >= set->capacity && key % 16 == 0;
        if (is_late) memcpy(before, set->table.body, set->table.body_bytes);
        tamis_status const status = tamis_add_id(set, key);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_FULL);
        assert_true(status == TAMIS_OK || key >= set->capacity);
        ret_taken[key] = status == TAMIS_OK;
        refused += status == TAMIS_ERR_FULL;
        if (!is_late || status == TAMIS_OK) continue;
        assert_memory_equal(before, set->table.body, set->table.body_bytes);
    }
    free(before);
    return refused;
}

void check_exhaustion(tamis_set *set, uint64_t least_refused) {
    uint64_t const keys = set->capacity * 3 / 2;
    bool *const    taken = calloc(keys, sizeof *taken);
    assert_non_null(taken);
    uint64_t const refused = overfill(set, keys, taken);
    assert_in_range(refused, least_refused, keys - set->capacity);
    assert_int_equal(set->table.refused_adds, refused);
    assert_int_equal(set->table.keys, keys - refused);
    assert_true(tamis_validate(set, NULL));
    for (uint64_t key = 0; key < keys; key++) assert_true(!taken[key] || tamis_has_id(set, key));
    for (uint64_t key = 0; key < keys; key++) {
        if (taken[key]) assert_int_equal(tamis_remove_id(set, key), TAMIS_OK);
    }
    for (uint64_t i = 0; i < set->table.body_bytes; i++) assert_int_equal(set->table.body[i], 0);
    free(taken);
    tamis_free(set);
}

/* ------------------------------------------------------------------ saturation */

static bool is_stuck_after(const subject *lived, uint64_t seed, double *ret_stated) {
    tamis_set *const set = make_set(lived, seed);
    replace_ids(set, lived->capacity, lived->lifetime);
    tamis_info const info = inspect(set);
    tamis_free(set);
    *ret_stated = info.plan.saturation;
    return info.facts.saturated != 0;
}

void check_saturation(const subject *lived, uint64_t sets, double low, double high) {
    double stated = 0, stuck = 0;
    for (uint64_t seed = 0; seed < sets; seed++) stuck += is_stuck_after(lived, seed, &stated);
    double const measured = stuck / (double)sets;
    double const sigma = share_error(stated, (double)sets) + 1e-9;
    if (measured > high * stated + 4 * sigma || measured < low * stated - 4 * sigma)
        fail_msg("%s: %.4f +- %.4f, stated %.4f", lived->geometry, measured, sigma, stated);
}
