/* test_saboteurs_bloom.c - Bloom filters with one invariant broken: validate must name it. */
#include "broken.h"

static void validate_names_each_invariant(void **state) {
    (void)state;
    subject const variant = { .kind = "bloom", .capacity = 100, .geometry = "bits=1000,hashes=5" };
    tamis_set *const set = filled_set(&variant, 100);
    set->table.body[1000 / 8] ^= 1; /* the first bit beyond */
    expect_broken(set, "I1");
    set->table.body[1000 / 8] ^= 1;
    set->table.body[set->table.body_bytes - 1] ^= 0x80; /* the last one */
    expect_broken(set, "I1");
    set->table.body[set->table.body_bytes - 1] ^= 0x80;
    uint64_t const keys = set->table.keys;
    set->table.keys = 0;
    expect_broken(set, "I2");
    set->table.keys = 5;
    expect_broken(set, "I3");
    set->table.keys = keys;
    set->table.saturated = 1;
    expect_broken(set, "I4");
    set->table.saturated = 0;
    assert_true(tamis_validate(set, NULL));
    memset(set->table.body, 0, set->table.body_bytes);
    expect_broken(set, "I2");
    tamis_free(set);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_names_each_invariant),
    };
    return unit_run("saboteurs_bloom", tests, COUNT(tests));
}
