/* test_runs.c - kinds/line/runs.h against single bits, lists of lengths and plain arrays of bytes.
 *
 * This file is compiled for every instruction set, and each is compared with the same models: so
 * all of them give the same results. A line is tested between two neighbours of random bytes.
 */
#include "core_units.h"

#include "kinds/line/runs.h"

#define LINE 64
#define MAX_STARTS (LINE_SLOTS + 1)

/* Three lines; the middle one is tested. */
typedef struct stage {
    uint8_t now[3 * LINE], expected[3 * LINE];
} stage;

static stage stage_random(dice *random) {
    stage s;
    dice_fill(random, s.now, sizeof s.now);
    memcpy(s.expected, s.now, sizeof s.now);
    return s;
}

static uint8_t *line_of(stage *s) {
    return s->now + LINE;
}

static uint8_t *expected_of(stage *s) {
    return s->expected + LINE;
}

/* The line is as expected, and so is all beside it. */
static void check_stage(const stage *s) {
    assert_memory_equal(s->now, s->expected, sizeof s->now);
}

static runs random_index(dice *random) {
    uint64_t const occ = dice_edge(random), starts = dice_edge(random);
    return (runs){ occ & bits_low(LINE_CHAINS), (starts & bits_low(MAX_STARTS)) | 1 };
}

/* ------------------------------------------------------------------ the index in its line */

static void check_index(stage *s, runs index) {
    for (unsigned l = 0; l < LINE_CHAINS; l++) write_bit(expected_of(s), l, index.occ >> l & 1);
    for (unsigned i = 1; i < MAX_STARTS; i++) {
        write_bit(expected_of(s), 61 + i, index.starts >> i & 1);
    }
    runs_store(line_of(s), index);
    check_stage(s);
    runs const back = runs_load(line_of(s));
    assert_true(back.occ == index.occ && back.starts == index.starts);
}

static void runs_index_is_where_the_format_says(void **state) {
    (void)state;
    dice  random = dice_start();
    stage s = stage_random(&random);
    for (unsigned l = 0; l < LINE_CHAINS; l++) check_index(&s, (runs){ UINT64_C(1) << l, 1 });
    for (unsigned i = 0; i < MAX_STARTS; i++) check_index(&s, (runs){ 0, UINT64_C(1) << i | 1 });
    check_index(&s, (runs){ bits_low(LINE_CHAINS), bits_low(MAX_STARTS) });
    check_index(&s, (runs){ 0, 1 });
    for (unsigned round = 0; round < 20000; round++) check_index(&s, random_index(&random));
}

static void runs_of_a_line_of_zeros_are_none(void **state) {
    (void)state;
    uint8_t const line[LINE] = { 0 };
    runs const    index = runs_load(line);
    assert_int_equal(index.occ, 0);
    assert_int_equal(runs_used(index), 0);
    assert_int_equal(runs_here(index), 0);
    assert_false(runs_are_cut(index));
}

/* ------------------------------------------------------------------ finding a run */

/* The bit of `word` that has so many ones below it; 0: there is none. */
static uint64_t nth_bit(uint64_t word, unsigned n) {
    for (unsigned i = 0; i < 64; i++) {
        if ((word >> i & 1) != 0 && n-- == 0) return UINT64_C(1) << i;
    }
    return 0;
}

static void check_find(runs index, unsigned chain) {
    unsigned rank = 0;
    for (unsigned l = 0; l < chain; l++) rank += (index.occ >> l & 1) != 0;
    run const      found = runs_find(index, chain);
    uint64_t const start = nth_bit(index.starts, rank), end = nth_bit(index.starts, rank + 1);
    bool const     is_there = index.occ >> chain & 1;
    assert_int_equal(found.is_occupied, is_there);
    assert_true(found.start == start && found.end == end);
    assert_int_equal(run_is_here(found), is_there ? end != 0 : start != 0);
    assert_int_equal(run_is_far(found), is_there && end == 0);
    uint64_t mask = 0;
    for (uint64_t bit = start; is_there && end != 0 && bit < end; bit *= 2) mask |= bit;
    assert_true(run_mask(found) == mask);
    assert_true(!run_is_here(found) || run_mask_here(found) == mask);
    run const occupied = runs_find_occupied(index, chain);
    assert_int_equal(occupied.is_occupied, is_there);
    assert_true(occupied.start == (is_there ? start : 0) && occupied.end == (is_there ? end : 0));
    assert_int_equal(run_is_far(occupied), run_is_far(found));
}

static void runs_find_agrees_with_counting_bit_by_bit(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 2000; round++) {
        runs const index = random_index(&random);
        for (unsigned chain = 0; chain < LINE_CHAINS; chain++) check_find(index, chain);
    }
}

static void runs_counts_agree_with_counting_bit_by_bit(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 20000; round++) {
        runs const index = random_index(&random);
        unsigned   last = 0, starts = 0, chains = 0;
        for (unsigned i = 0; i < 64; i++) {
            if ((index.starts >> i & 1) != 0) last = i;
            starts += (index.starts >> i & 1) != 0;
            chains += (index.occ >> i & 1) != 0;
        }
        assert_int_equal(runs_used(index), last);
        assert_int_equal(runs_here(index), starts - 1);
        assert_int_equal(runs_are_cut(index), chains > starts - 1);
    }
}

/* ------------------------------------------------------------------ bytes */

static void runs_match_and_up_to_agree_with_a_loop(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(LINE); /* asking reads the line and no more */
    for (unsigned round = 0; round < 300; round++) {
        dice_fill(&random, memory.bytes, LINE);
        for (unsigned i = 0; i < 20; i++) {
            memory.bytes[RUNS_AT + dice_below(&random, LINE_SLOTS)] = (uint8_t)(i * 255 / 19);
        }
        for (unsigned byte = 0; byte < 256; byte++) {
            uint64_t same = 0, up_to = 0;
            for (unsigned slot = 0; slot < LINE_SLOTS; slot++) {
                same |= (uint64_t)(memory.bytes[RUNS_AT + slot] == byte) << slot;
                up_to |= (uint64_t)(memory.bytes[RUNS_AT + slot] <= byte) << slot;
            }
            assert_true(runs_match(memory.bytes, (uint8_t)byte) == same);
            assert_true(runs_up_to(memory.bytes, (uint8_t)byte) == up_to);
        }
    }
    fenced_free(&memory);
}

/* A chain of any index, whole or cut, and a byte. */
static void check_look_up(const uint8_t *line, unsigned chain, uint8_t byte) {
    run const mine = runs_find(runs_load(line), chain);
    uint64_t  slots = 0;
    for (unsigned slot = 0; slot < LINE_SLOTS; slot++) {
        bool const is_own = run_mask(mine) >> slot & 1;
        slots |= (uint64_t)(is_own && line[RUNS_AT + slot] == byte) << slot;
    }
    runs_hits const all = runs_look_up(line, chain, byte, true);
    runs_hits const any = runs_look_up(line, chain, byte, false);
    assert_int_equal(all.is_far, run_is_far(mine));
    assert_int_equal(any.is_far, run_is_far(mine));
    if (run_is_far(mine)) return;
    assert_true(all.slots == slots);
    assert_int_equal(any.slots != 0, slots != 0);
}

/* Lines of few different bytes, so that most are in several runs, in the index and, as 0, in the
 * slots after the end. */
static void runs_look_up_finds_just_the_slots_of_the_chain(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(LINE);
    for (unsigned round = 0; round < 3000; round++) {
        uint64_t const kinds = 1 + dice_below(&random, 40);
        memset(memory.bytes, 0, LINE);
        runs_store(memory.bytes, random_index(&random));
        unsigned const used = runs_used(runs_load(memory.bytes));
        for (unsigned slot = 0; slot < used; slot++) {
            memory.bytes[RUNS_AT + slot] = (uint8_t)dice_below(&random, kinds);
        }
        for (unsigned chain = 0; chain < LINE_CHAINS; chain++) {
            check_look_up(memory.bytes, chain, 0);
            check_look_up(memory.bytes, chain, (uint8_t)dice_below(&random, kinds));
            check_look_up(memory.bytes, chain, memory.bytes[dice_below(&random, LINE)]);
        }
    }
    fenced_free(&memory);
}

static void runs_open_slot_moves_the_later_ones_up(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 200 * LINE_SLOTS; round++) {
        stage          s = stage_random(&random);
        unsigned const at = round % LINE_SLOTS;
        uint8_t const  byte = (uint8_t)dice_below(&random, 256);
        uint8_t *const slots = expected_of(&s) + RUNS_AT;
        for (unsigned slot = LINE_SLOTS - 1; slot > at; slot--) slots[slot] = slots[slot - 1];
        slots[at] = byte;
        runs_open_slot(line_of(&s), at, byte);
        check_stage(&s);
    }
}

static void runs_close_slot_moves_the_later_ones_down(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 200 * LINE_SLOTS; round++) {
        stage          s = stage_random(&random);
        unsigned const at = round % LINE_SLOTS;
        uint8_t *const slots = expected_of(&s) + RUNS_AT;
        for (unsigned slot = at; slot < LINE_SLOTS - 1; slot++) slots[slot] = slots[slot + 1];
        slots[LINE_SLOTS - 1] = 0;
        runs_close_slot(line_of(&s), at);
        check_stage(&s);
    }
}

/* Slots of two bytes from byte 8 on, as shelves have them. */
static void slots_of_two_bytes_open_and_close(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 200 * 28; round++) {
        unsigned const first = 8, slot = round % 28, at = first + 2 * slot;
        stage          s = stage_random(&random);
        uint8_t *const line = line_of(&s), *const expected = expected_of(&s);
        for (unsigned i = LINE - 1; i >= at + 2; i--) expected[i] = expected[i - 2];
        slots_open(line, first, 2, slot);
        line[at] = expected[at]; /* the caller writes over the open slot */
        line[at + 1] = expected[at + 1];
        check_stage(&s);
        for (unsigned i = at; i < LINE - 2; i++) expected[i] = expected[i + 2];
        expected[LINE - 2] = expected[LINE - 1] = 0;
        slots_close(line, first, 2, slot);
        check_stage(&s);
    }
}

/* ------------------------------------------------------------------ runs that change */

/* The lengths of the runs of a line, in order. */
typedef struct lengths {
    unsigned n, length_of[LINE_SLOTS + 1];
} lengths;

static uint64_t starts_of(const lengths *l) {
    uint64_t starts = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < l->n; i++) {
        starts |= UINT64_C(1) << at;
        at += l->length_of[i];
    }
    return starts | UINT64_C(1) << at;
}

/* Where run i begins; that behind the last, the end. */
static uint64_t start_bit(const lengths *l, unsigned i) {
    unsigned at = 0;
    for (unsigned k = 0; k < i; k++) at += l->length_of[k];
    return UINT64_C(1) << at;
}

/* Up to `most` slots in all. */
static lengths random_lengths(dice *random, unsigned most) {
    lengths        l = { .n = 0 };
    unsigned const longest = 1 + (unsigned)dice_below(random, dice_below(random, 4) ? 4 : 50);
    unsigned const total = (unsigned)dice_below(random, most + 1);
    for (unsigned left = total; left != 0;) {
        unsigned const length = 1 + (unsigned)dice_below(random, longest);
        l.length_of[l.n++] = length < left ? length : left;
        left -= l.length_of[l.n - 1];
    }
    return l;
}

static lengths with_born(const lengths *l, unsigned at) {
    lengths more = { .n = l->n + 1 };
    for (unsigned i = 0; i < more.n; i++) {
        more.length_of[i] = i < at ? l->length_of[i] : i == at ? 1 : l->length_of[i - 1];
    }
    return more;
}

static void a_slot_more_or_less_moves_the_later_starts(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 5000; round++) {
        lengths const l = random_lengths(&random, LINE_SLOTS - 1);
        for (unsigned i = 0; i < l.n; i++) {
            lengths more = l;
            more.length_of[i]++;
            assert_true(runs_grown(starts_of(&l), start_bit(&l, i), 1) == starts_of(&more));
            assert_true(runs_shrunk(starts_of(&more), start_bit(&l, i)) == starts_of(&l));
        }
    }
}

static void a_run_more_or_less_makes_place_and_closes_it(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 5000; round++) {
        lengths const l = random_lengths(&random, LINE_SLOTS - 1);
        for (unsigned i = 0; i <= l.n; i++) {
            lengths const more = with_born(&l, i);
            assert_true(runs_grown(starts_of(&l), start_bit(&l, i), 0) == starts_of(&more));
            assert_true(runs_shrunk(starts_of(&more), start_bit(&l, i)) == starts_of(&l));
        }
    }
}

/* Chains of these lengths, on random chains: the mask of each is its slots, and no other's. */
static void runs_of_the_chains_are_one_after_the_other(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 2000; round++) {
        lengths const l = random_lengths(&random, LINE_SLOTS);
        runs          index = { .occ = 0, .starts = starts_of(&l) };
        while (bits_popcount(index.occ) < l.n) {
            index.occ |= UINT64_C(1) << dice_below(&random, LINE_CHAINS);
        }
        uint64_t seen = 0;
        for (unsigned chain = 0, i = 0; chain < LINE_CHAINS; chain++) {
            uint64_t const mask = run_mask(runs_find(index, chain));
            unsigned const length = index.occ >> chain & 1 ? l.length_of[i++] : 0;
            assert_int_equal(bits_popcount(mask), length);
            assert_true(mask == bits_low(bits_popcount(seen | mask)) - seen);
            seen |= mask;
        }
        assert_int_equal(bits_popcount(seen), runs_used(index));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(runs_index_is_where_the_format_says),
    cmocka_unit_test(runs_of_a_line_of_zeros_are_none),
    cmocka_unit_test(runs_find_agrees_with_counting_bit_by_bit),
    cmocka_unit_test(runs_counts_agree_with_counting_bit_by_bit),
    cmocka_unit_test(runs_match_and_up_to_agree_with_a_loop),
    cmocka_unit_test(runs_look_up_finds_just_the_slots_of_the_chain),
    cmocka_unit_test(runs_open_slot_moves_the_later_ones_up),
    cmocka_unit_test(runs_close_slot_moves_the_later_ones_down),
    cmocka_unit_test(slots_of_two_bytes_open_and_close),
    cmocka_unit_test(a_slot_more_or_less_moves_the_later_starts),
    cmocka_unit_test(a_run_more_or_less_makes_place_and_closes_it),
    cmocka_unit_test(runs_of_the_chains_are_one_after_the_other),
};

CORE_EXPORT(runs)
