/* crafted.c - see crafted.h. */
#include "crafted.h"

#include "file_layout.h"
#include "kind.h"
#include "ledger.h"

#include <time.h>

crafted_counts crafted_seen;

#define CRAFTED_MOST_BYTES (1 << 18) /* of a body that is made for a geometry */

/* A limit for a hang, far above what any machine needs: under sanitizers and emulators, too. */
#define LONGEST 2.0

void crafted_both_ends_were_seen(void **state) {
    (void)state;
    print_message("# %u files accepted and used, %u refused; %u had a geometry that agrees with "
                  "their length; the slowest took %.3f s\n",
                  crafted_seen.accepted, crafted_seen.refused, crafted_seen.agreeing,
                  crafted_seen.slowest);
    assert_true(crafted_seen.accepted > 100 && crafted_seen.refused > 10000);
    assert_true(crafted_seen.agreeing > 1000);
    assert_true(crafted_seen.slowest < LONGEST);
}

/* Processor time of this process, so that other programs do not count. */
static double processor_time(void) {
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ------------------------------------------------------------------ sets */

/* Let the set grow to its last stage and shrink again, if that is not too large to try. */
static void use_growing(tamis_set *set, const tamis_facts *facts) {
    if (facts->grow_to > 100000) return;
    tamis_set *copy = NULL;
    assert_int_equal(tamis_copy(set, &copy), TAMIS_OK);
    for (uint64_t id = 0; id < facts->capacity / 8; id++) (void)!tamis_add_id(copy, id * 11);
    expect_valid(copy);
    (void)!tamis_resize(copy, facts->grow_to, NULL);
    (void)!tamis_resize(copy, facts->keys, NULL);
    expect_valid(copy);
    (void)!tamis_merge(copy, set);
    (void)!tamis_clear(copy);
    tamis_free(copy);
}

/* What was accepted is a set like any other: its own file is accepted, too. */
static void expect_saved_again(const tamis_set *set) {
    tamis_set    *again = NULL;
    tamis_problem problem;
    buffer const  file = buffer_of(set);
    if (tamis_read(file.bytes, file.n, NULL, &again, &problem) != TAMIS_OK)
        fail_msg("saved again: %s", problem.text);
    tamis_free(again);
    free(file.bytes);
}

static void use_set(tamis_set *set) {
    uint64_t keys[300], counts[300];
    bool     flags[300];
    for (uint64_t i = 0; i < 300; i++) keys[i] = i * 7;
    (void)tamis_has_id_batch(set, keys, 300, flags);
    (void)!tamis_add_id_batch(set, keys, 300, NULL);
    (void)!tamis_count_id_batch(set, keys, 300, counts);
    (void)!tamis_remove_id_batch(set, keys, 300, flags, NULL);
    tamis_info const info = inspect(set);
    expect_valid(set);
    if (info.facts.grow_to != 0) use_growing(set, &info.facts);
    expect_saved_again(set);
}

/* Count it: accepted if something was made. */
static void judge(tamis_status status, const void *made) {
    assert_true(status == TAMIS_OK || sample_is_refusal(status));
    assert_int_equal(status == TAMIS_OK, made != NULL);
    crafted_seen.accepted += status == TAMIS_OK;
    crafted_seen.refused += status != TAMIS_OK;
}

void crafted_try_set(const buffer *file) {
    ledger             book = { 0 };
    tamis_set         *set = NULL;
    tamis_problem      problem;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.allocator = ledger_allocator(&book);
    tamis_status const status = tamis_read(file->bytes, file->n, &options, &set, &problem);
    judge(status, set);
    assert_true(book.peak <= file->n);
    if (set != NULL) use_set(set);
    tamis_free(set);
    assert_int_equal(book.bytes, 0);
}

/* ------------------------------------------------------------------ states */

static void expect_states_saved_again(const tamis_states *states) {
    tamis_states *again = NULL;
    tamis_problem problem;
    buffer const  file = buffer_of_states(states);
    if (tamis_states_read(file.bytes, file.n, NULL, &again, &problem) != TAMIS_OK)
        fail_msg("saved again: %s", problem.text);
    tamis_states_free(again);
    free(file.bytes);
}

static void use_states(tamis_states *states) {
    uint64_t          counts[64];
    tamis_states_info info;
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    for (uint64_t id = 0; id < 200; id++) {
        uint32_t value, to = (uint32_t)(id % info.values);
        (void)!tamis_states_put_id(states, 10000 + id, to);
        (void)!tamis_states_get_id(states, id, &value);
        (void)!tamis_states_set_id(states, id, to);
        (void)!tamis_states_move_id(states, id * 5, TAMIS_ANY_VALUE, 0);
        (void)!tamis_states_touch_id(states, id * 2);
        if (id % 3 == 0) (void)!tamis_states_drop_id(states, id, TAMIS_ANY_VALUE);
        if (id % 20 == 0) (void)!tamis_states_tick(states, id, NULL, NULL);
    }
    (void)!tamis_states_tick(states, UINT64_C(1) << 40, NULL, NULL);
    if (info.values <= COUNT(counts)) {
        tamis_status const told = tamis_states_tally(states, counts);
        assert_true(told == TAMIS_OK || told == TAMIS_ERR_CANNOT); /* keys may share cells */
    }
    expect_valid_states(states);
    expect_states_saved_again(states);
}

void crafted_try_states(const buffer *file) {
    ledger             book = { 0 };
    tamis_states      *states = NULL;
    tamis_problem      problem;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.allocator = ledger_allocator(&book);
    tamis_status const status =
        tamis_states_read(file->bytes, file->n, &options, &states, &problem);
    judge(status, states);
    assert_true(book.peak <= file->n);
    if (states != NULL) use_states(states);
    tamis_states_free(states);
    assert_int_equal(book.bytes, 0);
}

/* ------------------------------------------------------------------ changing */

static const uint64_t extremes[] = {
    0,
    1,
    2,
    3,
    15,
    16,
    63,
    64,
    65,
    255,
    1500,
    65535,
    UINT64_C(1) << 31,
    UINT32_MAX,
    UINT64_C(1) << 32,
    UINT64_C(1) << 33,
    (UINT64_C(1) << 40) + 1,
    UINT64_C(1) << 56, /* the highest count */
    UINT64_C(1) << 57,
    UINT64_C(1) << 60,
    UINT64_C(1) << 63,
    UINT64_MAX - 63,
    UINT64_MAX,
};
#define N_EXTREMES COUNT(extremes)

static void try_sealed(buffer *file, crafted_try *try_file) {
    sample_seal(file);
    double const begin = processor_time();
    try_file(file);
    double const took = processor_time() - begin;
    if (took > crafted_seen.slowest) crafted_seen.slowest = took;
}

void crafted_fields(buffer *file, size_t from, size_t end, crafted_try *try_file) {
    for (size_t at = from; at < end; at += 8) {
        uint64_t const good = le64_load(file->bytes + at);
        for (size_t i = 0; i < 64 + N_EXTREMES; i++) {
            le64_store(file->bytes + at, i < 64 ? good ^ UINT64_C(1) << i : extremes[i - 64]);
            try_sealed(file, try_file);
        }
        le64_store(file->bytes + at, good);
    }
}

/* A word with one flipped bit, or an extreme one. */
static uint64_t crafted_word(dice *chance, uint64_t good, bool is_extreme) {
    return is_extreme ? extremes[dice_below(chance, N_EXTREMES)]
                      : good ^ UINT64_C(1) << dice_below(chance, 64);
}

void crafted_pairs(buffer *file, unsigned times, size_t end, crafted_try *try_file) {
    dice chance = { 5 };
    for (size_t a = 0; a < end; a += 8) {
        for (size_t b = a + 8; b < end; b += 8) {
            uint64_t const good_a = le64_load(file->bytes + a), good_b = le64_load(file->bytes + b);
            for (unsigned i = 0; i < 4 * times; i++) {
                le64_store(file->bytes + a, crafted_word(&chance, good_a, i & 1));
                le64_store(file->bytes + b, crafted_word(&chance, good_b, i & 2));
                try_sealed(file, try_file);
            }
            le64_store(file->bytes + b, good_b);
            le64_store(file->bytes + a, good_a);
        }
    }
}

/* A field of a geometry that is near the good one, small, or extreme. */
static uint64_t crafted_field(dice *chance, uint64_t good) {
    switch (dice_below(chance, 6)) {
    case 0: return good + 1;
    case 1: return good - 1;
    case 2: return good * 2;
    case 3: return good / 2;
    case 4: return dice_below(chance, 70);
    default: return extremes[dice_below(chance, N_EXTREMES)];
    }
}

/* The good file with a body of that many bytes: an empty table, or what fits of the good body. */
static buffer file_with_body(const buffer *good, uint64_t bytes, bool is_empty) {
    size_t const old = (size_t)le64_load(good->bytes + PART_BODY_BYTES);
    size_t const blocks = (size_t)file_blocks(bytes);
    buffer       file = { NULL, HEADER_BYTES + (size_t)bytes + 8 * blocks + TOTAL_BYTES };
    file.bytes = calloc(1, file.n);
    assert_non_null(file.bytes);
    memcpy(file.bytes, good->bytes, HEADER_BYTES + (is_empty ? 0 : (size_t)min_u64(old, bytes)));
    le64_store(file.bytes + PART_BODY_BYTES, bytes);
    if (!is_empty) return file;
    le64_store(file.bytes + PART_KEYS, 0);
    le64_store(file.bytes + PART_SATURATED, 0);
    le64_store(file.bytes + PART_MOVED, 0);
    return file;
}

void crafted_geometries(const buffer *good, unsigned trials, crafted_try *try_file) {
    dice              chance = { 6 };
    const tamis_kind *kind;
    unsigned const    fields = le32_load(good->bytes + PART_FIELDS);
    assert_int_equal(le32_load(good->bytes + AT_PARTS), 1);
    assert_int_equal(tamis_kind_find((const char *)good->bytes + PART_KIND, NULL, &kind), TAMIS_OK);
    for (unsigned trial = 0; trial < trials; trial++) {
        uint64_t g[TAMIS_MAX_FIELDS], bytes;
        for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++)
            g[i] = le64_load(good->bytes + PART_GEOMETRY + 8 * i);
        for (uint64_t n = dice_below(&chance, 3) + 1; n != 0; n--) {
            uint64_t const field = dice_below(&chance, fields);
            g[field] = crafted_field(&chance, g[field]);
        }
        if (!kind->body_bytes(g, &bytes) || bytes > CRAFTED_MOST_BYTES) continue;
        buffer file = file_with_body(good, bytes, trial % 2 == 0);
        for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++)
            le64_store(file.bytes + PART_GEOMETRY + 8 * i, g[i]);
        crafted_seen.agreeing++;
        try_sealed(&file, try_file);
        free(file.bytes);
    }
}

void crafted_bodies(buffer *file, unsigned trials, crafted_try *try_file) {
    uint64_t const bytes = file->n - SAMPLE_HEADER - 24;
    for (unsigned trial = 0; trial < trials; trial++) {
        for (unsigned i = 0; i <= trial % 7; i++) {
            uint64_t const random = remix(trial, i);
            file->bytes[SAMPLE_HEADER + fastrange(random, bytes)] = (uint8_t)random;
        }
        try_sealed(file, try_file);
    }
}

void crafted_bytes(const buffer *good, unsigned trials, size_t bytes, dice *chance,
                   crafted_try *try_file) {
    buffer file = { malloc(good->n), good->n };
    assert_non_null(file.bytes);
    for (unsigned trial = 0; trial < trials; trial++) {
        memcpy(file.bytes, good->bytes, good->n);
        for (uint64_t n = dice_below(chance, 3) + 1; n != 0; n--) {
            file.bytes[SAMPLE_HEADER + dice_below(chance, bytes)] ^= (uint8_t)dice_roll(chance);
        }
        try_sealed(&file, try_file);
    }
    free(file.bytes);
}
