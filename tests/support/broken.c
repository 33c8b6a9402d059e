/* broken.c - see broken.h. */
#include "broken.h"

tamis_set *filled_set(const subject *variant, uint64_t keys) {
    tamis_set *const set = make_set(variant, 1);
    add_ids(set, 0, keys);
    assert_true(tamis_validate(set, NULL));
    return set;
}

tamis_set *unstuck_set(const char *kind, const char *geometry) {
    subject const    variant = { .kind = kind, .capacity = 100, .geometry = geometry };
    tamis_set *const set = filled_set(&variant, 100);
    assert_int_equal(set->table.saturated, 0);
    return set;
}

void expect_broken(const tamis_set *set, const char *invariant) {
    const char *why = "nothing";
    assert_false(set->kind->validate(&set->table, &why));
    if (strncmp(why, invariant, strlen(invariant)) != 0) fail_msg("%s, not %s", why, invariant);
}

void flip(tamis_set *set, uint64_t bit) {
    flip_bit(set->table.body, bit);
}

void expect_flip_broken(tamis_set *set, uint64_t bit, const char *invariant) {
    flip(set, bit);
    expect_broken(set, invariant);
    flip(set, bit);
}

void expect_all_flips_broken(tamis_set *set) {
    for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
        flip(set, bit);
        if (tamis_validate(set, NULL)) fail_msg("bit %llu", (unsigned long long)bit);
        flip(set, bit);
    }
    assert_true(tamis_validate(set, NULL));
}

void scramble(tamis_set *set, dice *chance, unsigned round) {
    for (uint64_t at = 0; at < set->table.body_bytes; at++) {
        uint64_t const roll = dice_roll(chance);
        uint64_t const quarter = roll & roll >> 8, eighth = quarter & roll >> 16;
        uint64_t const bits = round % 3 == 0 ? roll : round % 3 == 1 ? quarter : eighth;
        set->table.body[at] = (uint8_t)bits;
    }
}
