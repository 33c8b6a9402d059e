/* test_saboteurs_rank.c - rank-indexed tables with one invariant broken: validate must name it. */
#include "broken.h"

#include "core/bits.h"
#include "core/field.h"
#include "kinds/rank/size.h"

/* Three levels, some extensions taken and some not, cells that are counted and fingerprints in two
 * cells; aligned, so that there are bits between the parts. */
#define PACKED                                                                                     \
    "buckets=13,chains=8,remainder_bits=7,cells=7,cells2=4,cells3=9,extensions2=12,extensions3=9," \
    "counter_bits=1,copies=4,aligned=0"
#define ALIGNED_SET                                                                                \
    "buckets=13,chains=8,remainder_bits=7,cells=7,cells2=4,cells3=9,extensions2=12,extensions3=9," \
    "counter_bits=0,copies=1,aligned=1"
/* One extension of each level, so that a pointer has one bit. */
#define ONE_OF_EACH                                                                                \
    "buckets=13,chains=8,remainder_bits=7,cells=12,cells2=1,cells3=9,extensions2=1,extensions3=1," \
    "counter_bits=1,copies=4,aligned=0"

static tamis_set *filled(const char *geometry) {
    subject const variant = {
        .kind = "rank", .capacity = 90, .geometry = geometry, .overflow = 0.9999
    };
    tamis_set *set = filled_set(&variant, 90);
    for (uint64_t key = 0; key < 9; key++) {
        for (unsigned i = 0; i < 3; i++) assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    }
    assert_true(tamis_validate(set, NULL));
    return set;
}

static rank_layout layout_of(const tamis_set *set) {
    rank_layout layout;
    assert_true(tamis_rank_layout(set->table.geometry, &layout));
    return layout;
}

/* The bit of the body where the first bucket with more, or no more, than `cells` cells begins. */
static uint64_t bucket_at(const tamis_set *set, bool has_more, uint64_t cells, bool *ret_found) {
    rank_layout const layout = layout_of(set);
    const uint64_t   *g = set->table.geometry;
    for (uint64_t b = 0; b < g[RANK_BUCKETS]; b++) {
        uint64_t const at = b * layout.record[1];
        uint64_t const pointer =
            field_get(set->table.body, at + g[RANK_CHAINS], rank_pointer_bits(g[RANK_EXTENSIONS2]));
        uint64_t load = bits_popcount(field_get(set->table.body, at, (unsigned)g[RANK_CHAINS]));
        uint64_t const index = at + g[RANK_CHAINS] + rank_pointer_bits(g[RANK_EXTENSIONS2]);
        load += bits_popcount(field_get(set->table.body, index, (unsigned)g[RANK_CELLS]));
        *ret_found = (pointer != 0 || load > cells) == has_more;
        if (*ret_found) return at;
    }
    return 0;
}

/* The first extension of the second level that is taken, or not. */
static uint64_t extension_at(const tamis_set *set, bool is_taken) {
    rank_layout const layout = layout_of(set);
    for (uint64_t i = 0; i < set->table.geometry[RANK_EXTENSIONS2]; i++) {
        if (field_get_bit(set->table.body, layout.used[2] + i) == is_taken) return i;
    }
    fail_msg("there is no such extension");
    return 0;
}

/* I1: a level whose count is wrong; a mark or a cell after the last one. */
static void validate_names_levels_that_do_not_add_up(void **state) {
    (void)state;
    tamis_set *const      set = filled(PACKED);
    const uint64_t *const g = set->table.geometry;
    rank_layout const     layout = layout_of(set);
    bool                  found;
    uint64_t const        small = bucket_at(set, false, g[RANK_CELLS] - 1, &found);
    assert_true(found);
    expect_flip_broken(set, small + layout.record[1] - 1, "I1"); /* the last bit of the last cell */
    uint64_t const index = small + g[RANK_CHAINS] + rank_pointer_bits(g[RANK_EXTENSIONS2]);
    expect_flip_broken(set, index + g[RANK_CELLS] - 1, "I1"); /* its mark */
    memset(set->table.body, 0xff, set->table.body_bytes);
    expect_broken(set, "I1");
    tamis_free(set);
}

/* I2: a pointer that leads nowhere or is not needed; a missing pointer; an extension that belongs
 * to two buckets or to none, or is used but not marked as taken. */
static void validate_names_extensions_that_are_not_one_buckets(void **state) {
    (void)state;
    tamis_set *const      set = filled(PACKED);
    const uint64_t *const g = set->table.geometry;
    rank_layout const     layout = layout_of(set);
    unsigned const        bits = rank_pointer_bits(g[RANK_EXTENSIONS2]);
    bool                  found[2];
    uint64_t const        large = bucket_at(set, true, g[RANK_CELLS], &found[0]) + g[RANK_CHAINS];
    uint64_t const        small = bucket_at(set, false, g[RANK_CELLS], &found[1]) + g[RANK_CHAINS];
    uint64_t const        pointer = field_get(set->table.body, large, bits);
    assert_true(found[0] && found[1]);
    for (uint64_t wrong = 0; wrong < 16; wrong++) {
        if (wrong == pointer) continue;
        field_set(set->table.body, large, bits, wrong);
        assert_false(tamis_validate(set, NULL));
    }
    field_set(set->table.body, large, bits, pointer);
    expect_flip_broken(set, small,
                       "I"); /* noticed by the check of the levels, which need none: I1 */
    expect_flip_broken(set, layout.used[2] + extension_at(set, true), "I2");
    expect_flip_broken(set, layout.used[2] + extension_at(set, false), "I2");
    expect_flip_broken(set, layout.used[3] + g[RANK_EXTENSIONS3] - 1, "I2");
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* Two buckets share an extension, and the other extension belongs to none. Each bucket alone looks
 * valid. */
static void validate_names_an_extension_of_two_buckets(void **state) {
    (void)state;
    tamis_set *const      set = filled(PACKED);
    const uint64_t *const g = set->table.geometry;
    rank_layout const     layout = layout_of(set);
    unsigned const        bits = rank_pointer_bits(g[RANK_EXTENSIONS2]);
    uint64_t              first = 0;
    bool                  is_seen = false;
    for (uint64_t b = 0; b < g[RANK_BUCKETS] && !is_seen; b++) {
        uint64_t const at = b * layout.record[1] + g[RANK_CHAINS];
        uint64_t const pointer = field_get(set->table.body, at, bits);
        if (pointer == 0) continue;
        if (first != 0) {
            const char *why = "nothing";
            field_set(set->table.body, at, bits, first);
            assert_false(tamis_validate(set, &why));
            is_seen = strncmp(why, "I2", 2) == 0;
            field_set(set->table.body, at, bits, pointer);
        }
        first = first != 0 ? first : pointer;
    }
    assert_true(is_seen);
    tamis_free(set);
}

/* I3: a bit in a free extension, between the parts, or after all of them. */
static void validate_names_bits_where_nothing_is(void **state) {
    (void)state;
    tamis_set *const      set = filled(ALIGNED_SET);
    const uint64_t *const g = set->table.geometry;
    rank_layout const     layout = layout_of(set);
    uint64_t const        vacant = layout.start[2] + extension_at(set, false) * layout.record[2];
    uint64_t const        gap = g[RANK_BUCKETS] * layout.record[1];
    assert_true(gap < layout.start[2]); /* 13 buckets of a quarter of a line */
    expect_flip_broken(set, layout.end, "I3");
    expect_flip_broken(set, set->table.body_bytes * 8 - 1, "I3");
    expect_flip_broken(set, vacant, "I3");
    expect_flip_broken(set, vacant + layout.record[2] - 1, "I3");
    expect_flip_broken(set, gap, "I3");
    expect_flip_broken(set, layout.start[2] - 1, "I3");
    tamis_free(set);
}

/* I4: a second cell of a fingerprint whose first is not full. I5: counts that are not `keys`. */
static void validate_names_cells_and_counts_that_are_wrong(void **state) {
    (void)state;
    subject const    variant = { .kind = "rank",
                                 .capacity = 2,
                                 .geometry = "buckets=1,chains=1,remainder_bits=7,cells=4,"
                                                "counter_bits=1,copies=2,aligned=0" };
    tamis_set *const set = make_set(&variant, 1);
    assert_non_null(set);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(tamis_add_id(set, 5), TAMIS_OK);
    uint64_t const cells = 1 + 4; /* the base index, the higher index of 4, then cells of 8 bits */
    assert_true(tamis_validate(set, NULL));
    expect_flip_broken(set, cells + 7, "I4");     /* 1 + 1 copies in two cells */
    expect_flip_broken(set, cells + 8 + 7, "I5"); /* 2 + 2 copies: one too many */
    set->table.keys++;
    expect_broken(set, "I5");
    set->table.keys--;
    set->table.saturated++;
    expect_broken(set, "I5");
    set->table.saturated--;
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* Is the bit in the remainder of a cell? Only there a flipped bit can give another valid table. */
static bool is_remainder(const uint64_t *g, const rank_layout *layout, uint64_t bit) {
    for (unsigned level = 1; level <= 3; level++) {
        uint64_t const count = g[level == 1 ? RANK_BUCKETS : RANK_EXTENSIONS2 + level - 2];
        uint64_t const room = g[RANK_CELLS + level - 1];
        uint64_t       head = room + (level == 1 ? g[RANK_CHAINS] : 0);
        if (level < 3) head += rank_pointer_bits(g[RANK_EXTENSIONS2 + level - 1]);
        if (bit < layout->start[level] ||
            bit >= layout->start[level] + count * layout->record[level])
            continue;
        uint64_t const at = (bit - layout->start[level]) % layout->record[level];
        if (at < head || at >= head + room * rank_cell_bits(g)) return false;
        return (at - head) % rank_cell_bits(g) < g[RANK_REMAINDER_BITS];
    }
    return false;
}

/* Every flipped bit is noticed, unless the result is another fingerprint. */
static void validate_sees_every_flipped_bit(void **state) {
    (void)state;
    static const char *const geometries[] = { PACKED, ALIGNED_SET, ONE_OF_EACH };
    for (size_t i = 0; i < COUNT(geometries); i++) {
        tamis_set *const  set = filled(geometries[i]);
        rank_layout const layout = layout_of(set);
        for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
            flip(set, bit);
            bool const is_seen = !tamis_validate(set, NULL);
            flip(set, bit);
            if (is_seen || is_remainder(set->table.geometry, &layout, bit)) continue;
            fail_msg("bit %llu of %llu, %s", (unsigned long long)bit,
                     (unsigned long long)layout.end, geometries[i]);
        }
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

static void validate_is_safe_on_any_bytes(void **state) {
    (void)state;
    static const char *const geometries[] = { PACKED, ALIGNED_SET };
    dice                     chance = { 7 };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = filled(geometries[i]);
        for (unsigned round = 0; round < 3000; round++) {
            scramble(set, &chance, round);
            assert_false(tamis_validate(set, NULL));
            (void)tamis_has_id(set, round);
        }
        tamis_free(set);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_names_levels_that_do_not_add_up),
        cmocka_unit_test(validate_names_extensions_that_are_not_one_buckets),
        cmocka_unit_test(validate_names_an_extension_of_two_buckets),
        cmocka_unit_test(validate_names_bits_where_nothing_is),
        cmocka_unit_test(validate_names_cells_and_counts_that_are_wrong),
        cmocka_unit_test(validate_sees_every_flipped_bit),
        cmocka_unit_test(validate_is_safe_on_any_bytes),
    };
    return unit_run("saboteurs_rank", tests, COUNT(tests));
}
