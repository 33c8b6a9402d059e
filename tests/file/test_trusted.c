/* test_trusted.c - files that are opened with TAMIS_OPEN_TRUST although their bodies are damaged.
 *
 * SECURITY.md promises that reads and changes stay within the body, and that every call ends. Every
 * body lies before a page without access, so that one byte too far is a crash; a sender that writes
 * more than a stream of this set can have is stopped and fails.
 *
 * usage: test_trusted [TIMES]      TIMES x 500 files of each table
 */
#include "crafted.h"
#include "life.h"

#define MOST_STREAM ((size_t)1 << 20) /* bytes; the sets here have 400 to 6,000 keys */

static unsigned times = 1;

/* ------------------------------------------------------------------ memory with a fence */

#define MAX_BLOCKS 64

/* What is handed out now; an entry whose bytes are 0 is free. */
static struct {
    fenced memory;
    size_t bytes;
} blocks[MAX_BLOCKS];

static void *fence_alloc(void *context, size_t bytes, size_t alignment) {
    size_t i = 0;
    (void)context;
    while (i < MAX_BLOCKS && blocks[i].bytes != 0) i++;
    if (i == MAX_BLOCKS || bytes > (size_t)1 << 24) return NULL;
    blocks[i].memory = fenced_new((bytes + alignment - 1) / alignment * alignment);
    blocks[i].bytes = bytes;
    return blocks[i].memory.bytes;
}

static void fence_free(void *context, void *memory, size_t bytes) {
    (void)context;
    for (size_t i = 0; i < MAX_BLOCKS; i++) {
        if (blocks[i].bytes == 0 || blocks[i].memory.bytes != memory) continue;
        assert_int_equal(blocks[i].bytes, bytes);
        fenced_free(&blocks[i].memory);
        blocks[i].bytes = 0;
        return;
    }
    assert_null(memory);
}

static void expect_no_blocks(void) {
    for (size_t i = 0; i < MAX_BLOCKS; i++) assert_int_equal(blocks[i].bytes, 0);
}

static tamis_open_options trusting(void) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.flags = TAMIS_OPEN_TRUST;
    options.allocator = (tamis_allocator){ fence_alloc, fence_free, NULL };
    return options;
}

/* ------------------------------------------------------------------ sets */

static bool take_some(void *context, const void *bytes, size_t n) {
    size_t *const sum = context;
    (void)bytes;
    *sum += n;
    if (*sum > MOST_STREAM) fail_msg("a stream of more than %zu bytes", MOST_STREAM);
    return true;
}

static void read_trusted(const tamis_set *set) {
    uint64_t   keys[100], counts[100];
    bool       flags[100];
    tamis_info info;
    tamis_set *bloom = NULL;
    size_t     sum = 0;
    for (uint64_t i = 0; i < 100; i++) keys[i] = i * 3;
    tamis_has_id_batch(set, keys, 100, flags);
    (void)!tamis_count_id_batch(set, keys, 100, counts);
    (void)!tamis_inspect(set, &info);
    (void)tamis_validate(set, NULL);
    (void)!tamis_write(set, take_some, &sum);
    for (unsigned copies = 0; copies < 2; copies++) {
        sum = 0;
        tamis_status const status = tamis_send(set, copies, take_some, &sum);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_CANNOT ||
                    status == TAMIS_ERR_CORRUPT);
    }
    (void)!tamis_convert(set, "bloom", &bloom);
    tamis_free(bloom);
}

static void change_trusted(tamis_set *set, uint64_t grow_to) {
    uint64_t   keys[100];
    tamis_set *other = NULL, *halves[2] = { NULL, NULL };
    for (uint64_t i = 0; i < 100; i++) keys[i] = i * 5;
    assert_int_equal(tamis_copy(set, &other), TAMIS_OK);
    (void)!tamis_add_id_batch(set, keys, 100, NULL);
    for (uint64_t i = 0; i < 20; i++) {
        (void)!tamis_add_copies_id(set, i, i < 10 ? i : UINT64_MAX >> i);
        (void)!tamis_remove_id(set, 3 * i);
    }
    (void)!tamis_remove_id_batch(set, keys, 100, NULL, NULL);
    for (uint64_t id = 0; id < grow_to / 4; id++) (void)!tamis_add_id(set, id * 11);
    (void)!tamis_resize(set, grow_to, NULL);
    (void)!tamis_resize(set, 1, NULL);
    (void)!tamis_merge(set, other);
    (void)!tamis_subtract(other, set);
    if (tamis_split(set, &halves[0], &halves[1], NULL) == TAMIS_OK) {
        tamis_free(halves[0]);
        tamis_free(halves[1]);
    }
    tamis_free(other);
}

static void try_set(const buffer *file) {
    static const char *const isas[] = { NULL, "portable" };
    for (size_t i = 0; i < COUNT(isas); i++) {
        tamis_open_options options = trusting();
        tamis_set         *set = NULL;
        tamis_facts        facts;
        options.isa = isas[i];
        assert_int_equal(tamis_read(file->bytes, file->n, &options, &set, NULL), TAMIS_OK);
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
        read_trusted(set);
        change_trusted(set, facts.grow_to);
        tamis_free(set);
        expect_no_blocks();
    }
}

/* A mapped file may be read only. */
static void try_mapped_set(const buffer *file) {
    tamis_open_options options = trusting();
    tamis_set         *set = NULL;
    int const          fd = memfd_create("trusted", 0);
    assert_true(fd >= 0 && write(fd, file->bytes, file->n) == (ssize_t)file->n);
    options.flags |= TAMIS_OPEN_MAP;
    assert_int_equal(tamis_open_fd(fd, &options, &set, NULL), TAMIS_OK);
    read_trusted(set);
    tamis_free(set);
    assert_int_equal(close(fd), 0);
}

/* Small sets, in which each of some hundred bits is flipped in turn. */
static void sets_with_any_flipped_bit_can_be_sent(void **state) {
    tamis_seed const seed = { 1, 2 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.kind = *state;
    spec.capacity = 400;
    spec.fpr = 0.01;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.seed = &seed;
    tamis_set *const set = make_set_from(&spec);
    add_ids(set, 0, 300);
    buffer file = sample_of(set);
    for (size_t bit = 0; bit < 8 * (file.n - SAMPLE_HEADER - 24); bit += 7) {
        file.bytes[SAMPLE_HEADER + bit / 8] ^= (uint8_t)(1u << bit % 8);
        sample_seal(&file);
        try_set(&file);
        file.bytes[SAMPLE_HEADER + bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    tamis_free(set);
    free(file.bytes);
}

static void damaged_sets_that_are_trusted_stay_inside_their_bodies(void **state) {
    tamis_set *const set = sample_set(*state, 8192, 300, 1);
    buffer           file = sample_of(set);
    dice             chance = dice_start();
    size_t const     body = file.n - SAMPLE_HEADER - 24;
    crafted_bytes(&file, 300 * times, body, &chance, try_set);
    crafted_bytes(&file, 100 * times, body, &chance, try_mapped_set);
    crafted_bodies(&file, 100 * times, try_set);
    crafted_bodies(&file, 20 * times, try_mapped_set);
    tamis_free(set);
    free(file.bytes);
}

/* Few keys and a low rate: some kinds have a single block then, with nothing behind it. Bytes of
 * ones say that all counters and lists are as long as they can be. */
static void damaged_small_sets_that_are_trusted_stay_inside_their_bodies(void **state) {
    static const uint64_t capacities[] = { 2, 5, 19, 60, 150 };
    dice                  chance = dice_start();
    if (sample_is_growing(*state)) return;
    for (size_t i = 0; i < COUNT(capacities); i++) {
        tamis_seed const seed = { 1, 2 };
        tamis_spec       spec = TAMIS_SPEC_INIT;
        spec.kind = *state;
        spec.capacity = capacities[i];
        spec.fpr = 1e-6;
        spec.prefer = TAMIS_PREFER_SMALL;
        spec.seed = &seed;
        tamis_set *const set = make_set_from(&spec);
        add_ids(set, 0, capacities[i]);
        buffer const   good = sample_of(set);
        size_t const   bytes = (size_t)set->table.body_bytes;
        uint8_t *const body = good.bytes + SAMPLE_HEADER;
        for (unsigned tries = 0; tries < 40 * times; tries++) {
            for (uint64_t n = dice_below(&chance, bytes + 1); n != 0; n--)
                body[dice_below(&chance, bytes)] =
                    dice_below(&chance, 3) != 0 ? 255 : (uint8_t)dice_roll(&chance);
            buffer file = good;
            sample_seal(&file);
            try_set(&file);
            memcpy(body, set->table.body, bytes);
        }
        tamis_free(set);
        free(good.bytes);
    }
}

/* ------------------------------------------------------------------ states */

static void read_trusted_states(const tamis_states *states) {
    tamis_states_info info;
    uint32_t          value;
    size_t            sum = 0;
    for (uint64_t id = 0; id < 100; id++) (void)!tamis_states_get_id(states, id, &value);
    (void)!tamis_states_inspect(states, &info);
    (void)tamis_states_validate(states, NULL);
    (void)!tamis_states_write(states, take_some, &sum);
}

static void change_trusted_states(tamis_states *states, uint64_t grow_to) {
    tamis_states *other = NULL;
    assert_int_equal(tamis_states_copy(states, &other), TAMIS_OK);
    for (uint64_t id = 0; id < 100; id++) {
        (void)!tamis_states_put_id(states, 7 * id, 1);
        (void)!tamis_states_move_id(states, id, TAMIS_ANY_VALUE, 0);
        if (id % 3 == 0) (void)!tamis_states_drop_id(states, id, TAMIS_ANY_VALUE);
        if (id % 10 == 0) (void)!tamis_states_tick(states, 3, NULL, NULL);
    }
    for (uint64_t id = 0; id < grow_to / 4; id++) (void)!tamis_states_put_id(states, 1000 + id, 1);
    (void)!tamis_states_resize(states, grow_to, NULL);
    (void)!tamis_states_resize(states, 1, NULL);
    (void)!tamis_states_merge(states, other);
    tamis_states_free(other);
}

static void try_states(const buffer *file) {
    static const char *const isas[] = { NULL, "portable" };
    for (size_t i = 0; i < COUNT(isas); i++) {
        tamis_open_options options = trusting();
        tamis_states      *states = NULL;
        tamis_states_facts facts;
        options.isa = isas[i];
        assert_int_equal(tamis_states_read(file->bytes, file->n, &options, &states, NULL),
                         TAMIS_OK);
        assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
        read_trusted_states(states);
        change_trusted_states(states, facts.grow_to);
        tamis_states_free(states);
        expect_no_blocks();
    }
}

/* Line and rank, growing, with timers and without. */
static void damaged_states_that_are_trusted_stay_inside_their_bodies(void **state) {
    tamis_seed const seed = { 1, 2 };
    dice             chance = dice_start();
    for (unsigned variant = 0; variant < 2; variant++) {
        tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
        spec.kind = *state;
        spec.capacity = 1500;
        spec.grow_to = 6000;
        spec.values = 5;
        spec.fpr = 1e-4;
        spec.timeout = variant * 100;
        spec.seed = &seed;
        tamis_states *const states = make_states_from(&spec);
        for (uint64_t id = 0; id < 1350; id++)
            assert_int_equal(tamis_states_put_id(states, id, (uint32_t)(id % 5)), TAMIS_OK);
        buffer file = buffer_of_states(states);
        sample_take_layout(&file);
        crafted_bytes(&file, 300 * times, file.n - SAMPLE_HEADER - 24, &chance, try_states);
        crafted_bodies(&file, 100 * times, try_states);
        tamis_states_free(states);
        free(file.bytes);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) times = (unsigned)strtoul(argv[1], NULL, 10);
    static const struct CMUnitTest of_a_kind[] = {
        cmocka_unit_test(damaged_sets_that_are_trusted_stay_inside_their_bodies),
        cmocka_unit_test(damaged_small_sets_that_are_trusted_stay_inside_their_bodies),
    };
    const struct CMUnitTest of_others[] = {
        unit_named("line, flipped bits", sets_with_any_flipped_bit_can_be_sent, "line"),
        unit_named("rank, flipped bits", sets_with_any_flipped_bit_can_be_sent, "rank"),
        unit_named("dlcbf, flipped bits", sets_with_any_flipped_bit_can_be_sent, "dlcbf"),
        unit_named("line, states", damaged_states_that_are_trusted_stay_inside_their_bodies,
                   "line"),
        unit_named("rank, states", damaged_states_that_are_trusted_stay_inside_their_bodies,
                   "rank"),
    };
    size_t             n;
    struct CMUnitTest *tests = sample_tests(of_a_kind, COUNT(of_a_kind), &n);
    tests = realloc(tests, (n + COUNT(of_others)) * sizeof *tests);
    assert_non_null(tests);
    memcpy(tests + n, of_others, sizeof of_others);
    int const failed = _cmocka_run_group_tests("trusted", tests, n + COUNT(of_others), NULL, NULL);
    free(tests);
    return failed;
}
