/* test_saboteurs_line.c - tables of lines with one invariant broken: validate must name it. */
#include "broken.h"

#include "kinds/line/lines_list.h"
#include "kinds/line/shape.h"

/* Two shelves, lines that are cut and words in the attic. */
#define MULTISET "buckets=18,remainder_bits=12,counter_bits=0,copies=8,attic=90"
#define COUNTING "buckets=18,remainder_bits=8,counter_bits=3,copies=1,attic=90"

/* The layout of a table of lines, computed from its geometry. */
typedef struct line_view {
    lines_shape shape;
    lines_view  lines;
    shelf_view  all;
} line_view;

static void view_of(const tamis_set *set, line_view *ret_view) {
    const uint64_t *const g = set->table.geometry;
    line_layout           at;
    assert_true(tamis_line_layout(g, &at));
    ret_view->shape = line_make_shape(g, &at);
    ret_view->lines = (lines_view){ set->table.body, &ret_view->shape, false };
    ret_view->all = lines_shelves(ret_view->lines);
}

static tamis_set *filled(const char *geometry, line_view *ret_view) {
    subject const variant = {
        .kind = "line", .capacity = 900, .geometry = geometry, .overflow = 0.9999
    };
    tamis_set *set = make_set(&variant, 1);
    view_of(set, ret_view);
    for (uint64_t key = 0; key < 40; key++) assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    for (uint64_t key = 0; attic_count(&ret_view->all.attic) < 8; key++) {
        assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    }
    assert_true(tamis_validate(set, NULL));
    return set;
}

/* The first line that is cut, or has free slots and is not. */
static uint64_t find_line(const line_view *view, bool is_cut) {
    for (uint64_t bucket = 0; bucket < view->shape.buckets; bucket++) {
        runs const index = runs_load(lines_at(view->lines, bucket));
        if (runs_are_cut(index) == is_cut && (is_cut || runs_used(index) < LINE_SLOTS)) {
            return bucket;
        }
    }
    fail_msg("there is no such line");
    return 0;
}

/* I1: fewer chains than runs; a start after the end; a free slot whose byte or rest is not zero. */
static void validate_names_an_impossible_index(void **state) {
    (void)state;
    line_view        view;
    tamis_set *const set = filled(MULTISET, &view);
    uint64_t const   bucket = find_line(&view, false), at = 512 * bucket;
    runs const       index = runs_load(lines_at(view.lines, bucket));
    expect_flip_broken(set, at + bits_lowest(index.occ), "I1");
    expect_flip_broken(set, at + 61 + LINE_SLOTS, "I1");
    expect_flip_broken(set, at + 511, "I1");
    expect_flip_broken(set, at + 112 + 8 * runs_used(index), "I1");
    uint64_t const rest = lines_rest_at(view.lines, bucket, LINE_SLOTS - 1);
    expect_flip_broken(set, rest + 3, "I1");
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* Swap the bytes, or the rests, of a slot and the next in its run. */
static bool swap_slots(const line_view *view, uint64_t bucket, unsigned slot, bool is_rest) {
    uint8_t *const slots = lines_at(view->lines, bucket) + RUNS_AT;
    runs const     index = runs_load(lines_at(view->lines, bucket));
    uint64_t const one = lines_rest(view->lines, bucket, slot);
    uint64_t const next = lines_rest(view->lines, bucket, slot + 1);
    if (slot + 1 >= runs_used(index) || (index.starts >> (slot + 1) & 1) != 0) return false;
    if (is_rest ? slots[slot] != slots[slot + 1] || one == next : slots[slot] == slots[slot + 1])
        return false;
    uint8_t const  byte = slots[slot];
    unsigned const bits = (unsigned)view->shape.rest_bits;
    slots[slot] = slots[slot + 1];
    slots[slot + 1] = byte;
    field_set(view->lines.body, lines_rest_at(view->lines, bucket, slot), bits, next);
    field_set(view->lines.body, lines_rest_at(view->lines, bucket, slot + 1), bits, one);
    return true;
}

/* I2: a chain without entries; a line that is cut too early, or within a run; slots out of
 * order. */
static void validate_names_lines_out_of_order(void **state) {
    (void)state;
    line_view        view;
    tamis_set *const set = filled(MULTISET, &view);
    unsigned         swapped = 0;
    uint64_t const   bucket = find_line(&view, false), cut = find_line(&view, true);
    runs const       index = runs_load(lines_at(view.lines, bucket));
    runs const       other = runs_load(lines_at(view.lines, cut));
    expect_flip_broken(set, 512 * bucket + bits_lowest(~index.occ), "I2");
    expect_flip_broken(set, 512 * cut + bits_lowest(~other.occ), "I2");
    for (uint64_t b = 0; b < view.shape.buckets; b++) {
        for (unsigned slot = 0; slot + 1 < LINE_SLOTS; slot++) {
            if (!swap_slots(&view, b, slot, false)) continue;
            expect_broken(set, "I2");
            assert_true(swap_slots(&view, b, slot, false));
            swapped++;
        }
    }
    assert_true(swapped > 50 && tamis_validate(set, NULL));
    lines_cut_last(view.lines, bucket); /* all is there, and in order */
    expect_broken(set, "I2");
    tamis_free(set);
}

/* I2: two rests of equal bytes the wrong way round. */
static void validate_names_rests_out_of_order(void **state) {
    (void)state;
    line_view         view;
    tamis_set *const  set = filled(MULTISET, &view);
    uint64_t const    bucket = find_line(&view, false);
    lines_place const place = { .bucket = bucket, .chain = 3, .byte = 77, .remainder = 5 };
    lines_place const more = { .bucket = bucket, .chain = 3, .byte = 77, .remainder = 9 };
    lines_found       found = lines_look(view.lines, &place);
    assert_true(lines_new_entry(view.lines, &place, &found, 5));
    found = lines_look(view.lines, &more);
    assert_true(lines_new_entry(view.lines, &more, &found, 9));
    set->table.keys += 2;
    assert_true(tamis_validate(set, NULL));
    found = lines_look(view.lines, &place);
    assert_true(swap_slots(&view, bucket, bits_lowest(found.here.slots), true));
    expect_broken(set, "I2");
    tamis_free(set);
}

/* I3: a shelf with a wrong count, or with a free key that is not zero; the same in the attic; an
 * attic that is out of order, or has entries for which the shelf has room. */
static void validate_names_shelves_and_attics_that_are_wrong(void **state) {
    (void)state;
    line_view               view;
    tamis_set *const        set = filled(MULTISET, &view);
    const attic_view *const up = &view.all.attic;
    uint64_t const          first = 8 * view.shape.shelves, second = first + 512;
    assert_int_equal(shelf_used(le64_load(shelf_line(&view.all, 0))), SHELF_KEYS);
    unsigned const used = shelf_used(le64_load(shelf_line(&view.all, 16)));
    assert_true(used < SHELF_KEYS);
    expect_flip_broken(set, first + 63, "I3");
    expect_flip_broken(set, second + 63, "I3");
    expect_flip_broken(set, second + used + 2, "I3"); /* a third bucket, of two */
    expect_flip_broken(set, second + 64 + 16 * SHELF_KEYS - 1, "I3");
    expect_flip_broken(set, view.shape.shelf_rests + 2 * SHELF_KEYS * 4 - 1, "I3");
    expect_flip_broken(set, 8 * view.shape.count, "I3");
    expect_flip_broken(set, view.shape.end - 1, "I3"); /* the rest of no word */
    uint64_t const place = attic_find(up, attic_make_word(0, 0));
    expect_flip_broken(set, 8 * view.shape.words + view.shape.word_bits * (place + 1) - 1,
                       "I3"); /* of no bucket */
    assert_true(tamis_validate(set, NULL));
    attic_add(up, attic_make_word(17, 5 << 8), 0);
    expect_broken(set, "I3");
    tamis_free(set);
}

/* I3: a word that is not at its place. */
static void validate_names_words_that_are_not_at_home(void **state) {
    (void)state;
    line_view               view;
    tamis_set *const        set = filled(MULTISET, &view);
    const attic_view *const up = &view.all.attic;
    unsigned                moved = 0;
    for (uint64_t place = 0; place < attic_places(up); place++) {
        uint64_t const word = attic_word(up, place), rest = attic_rest(up, place);
        for (uint64_t to = 0; word != 0 && to < attic_places(up); to++) {
            if (attic_word(up, to) != 0) continue;
            attic_set(up, place, 0, 0);
            attic_set(up, to, word, rest);
            assert_false(tamis_validate(set, NULL));
            attic_set(up, to, 0, 0);
            attic_set(up, place, word, rest);
            moved++;
        }
    }
    assert_true(moved > 500 && tamis_validate(set, NULL));
    tamis_free(set);
}

/* I4: a ninth copy; with counters, a second entry. */
static void validate_names_too_many_copies(void **state) {
    (void)state;
    static const char *const geometries[] = { MULTISET, COUNTING };
    for (unsigned i = 0; i < 2; i++) {
        line_view         view;
        tamis_set *const  set = filled(geometries[i], &view);
        unsigned const    most = i == 0 ? 8 : 1;
        lines_place const place = { .bucket = 16, .chain = 3, .byte = 77, .remainder = 0 };
        for (unsigned copy = 0; copy < most + 1; copy++) {
            lines_found const found = lines_look(view.lines, &place);
            assert_true(lines_new_entry(view.lines, &place, &found, 0));
            set->table.keys++;
            set->table.saturated += copy + 1 == most && most > 1;
            if (copy < most) assert_true(tamis_validate(set, NULL));
        }
        expect_broken(set, "I4");
        tamis_free(set);
    }
}

/* I5: counts that differ from `keys` or `saturated`. I6: a bit after the last part. */
static void validate_names_counts_and_bits_that_are_wrong(void **state) {
    (void)state;
    line_view        view;
    tamis_set *const set = filled(COUNTING, &view);
    set->table.keys++;
    expect_broken(set, "I5");
    set->table.keys--;
    set->table.saturated++;
    expect_broken(set, "I5");
    set->table.saturated--;
    expect_flip_broken(set, lines_rest_at(view.lines, 0, 0), "I5"); /* a copy more or less */
    expect_flip_broken(set, view.shape.end, "I6");
    expect_flip_broken(set, set->table.body_bytes * 8 - 1, "I6");
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* A bucket has more entries than any operation makes or looks at: such a table is refused. */
static void validate_names_a_bucket_with_too_many(void **state) {
    (void)state;
    subject const    variant = { .kind = "line",
                                 .capacity = 40,
                                 .geometry = "buckets=1,remainder_bits=12,copies=8,attic=400" };
    tamis_set *const set = make_set(&variant, 1);
    line_view        view;
    view_of(set, &view);
    for (unsigned i = 0; i < LINES_MAX_ENTRIES + 10; i++) {
        tail_add(&view.all, 0, 5 << 8 | i / 16, i % 16);
    }
    runs_store(set->table.body, (runs){ UINT64_C(1) << 5, 1 });
    set->table.keys = LINES_MAX_ENTRIES + 10;
    assert_false(tamis_validate(set, NULL));
    set->table.keys = LINES_MAX_ENTRIES;
    assert_false(tamis_validate(set, NULL));
    tamis_free(set);
}

/* Is the bit part of a fingerprint? Only there a flipped bit can give another valid table. */
static bool is_fingerprint(const line_view *view, uint64_t bit) {
    const lines_shape *const s = &view->shape;
    if (bit < 8 * s->shelves) return bit % 512 >= 112;
    if (bit < 8 * s->words) return bit % 512 >= 64;
    if (bit < 8 * s->count) return (bit - 8 * s->words) % s->word_bits < 14;
    return bit >= s->slot_rests && bit < s->end && s->counter_bits == 0;
}

/* Every flipped bit is noticed, unless the result is another fingerprint. */
static void validate_sees_every_flipped_bit(void **state) {
    (void)state;
    static const char *const geometries[] = { MULTISET, COUNTING };
    for (unsigned i = 0; i < 2; i++) {
        line_view        view;
        tamis_set *const set = filled(geometries[i], &view);
        for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
            if (is_fingerprint(&view, bit)) continue;
            flip(set, bit);
            bool const is_seen = !tamis_validate(set, NULL);
            flip(set, bit);
            if (!is_seen) fail_msg("bit %llu, %s", (unsigned long long)bit, geometries[i]);
        }
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

static void validate_is_safe_on_any_bytes(void **state) {
    (void)state;
    static const char *const geometries[] = { MULTISET, COUNTING };
    dice                     chance = { 7 };
    for (unsigned i = 0; i < 2; i++) {
        line_view        view;
        tamis_set *const set = filled(geometries[i], &view);
        uint8_t *const   good = malloc(set->table.body_bytes);
        assert_non_null(good);
        memcpy(good, set->table.body, set->table.body_bytes);
        for (unsigned round = 0; round < 1500; round++) {
            uint64_t const from = dice_below(&chance, set->table.body_bytes);
            memcpy(set->table.body, good, set->table.body_bytes);
            for (uint64_t at = round % 2 == 0 ? 0 : from; at < set->table.body_bytes; at++) {
                uint64_t const roll = dice_roll(&chance), mask = roll >> 8 & roll >> 16;
                set->table.body[at] = (uint8_t)(roll & (round % 3 == 0 ? UINT64_MAX : mask));
            }
            assert_false(tamis_validate(set, NULL));
            (void)tamis_has_id(set, round);
        }
        free(good);
        tamis_free(set);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_names_an_impossible_index),
        cmocka_unit_test(validate_names_lines_out_of_order),
        cmocka_unit_test(validate_names_rests_out_of_order),
        cmocka_unit_test(validate_names_shelves_and_attics_that_are_wrong),
        cmocka_unit_test(validate_names_words_that_are_not_at_home),
        cmocka_unit_test(validate_names_too_many_copies),
        cmocka_unit_test(validate_names_counts_and_bits_that_are_wrong),
        cmocka_unit_test(validate_names_a_bucket_with_too_many),
        cmocka_unit_test(validate_sees_every_flipped_bit),
        cmocka_unit_test(validate_is_safe_on_any_bytes),
    };
    return unit_run("saboteurs_line", tests, COUNT(tests));
}
