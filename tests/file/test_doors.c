/* test_doors.c - what opening, sending, receiving and planning refuse: each of the rarer reasons.
 *
 * The common reasons have tests of their own (damage, crafted, transfer, spec). These are the ones
 * that `make coverage` found without any.
 */
#include "ledger.h"
#include "sample.h"

#include "file_layout.h"
#include "stream.h"

#include <fcntl.h>
#include <tamis/states.h>
#include <unistd.h>

static char folder[64], path[200];

/* ------------------------------------------------------------------ opening */

static tamis_status read_with(const buffer *s, const tamis_open_options *options) {
    tamis_set         *set = NULL;
    tamis_status const status = tamis_read(s->bytes, s->n, options, &set, NULL);
    assert_int_equal(set != NULL, status == TAMIS_OK);
    tamis_free(set);
    return status;
}

/* With every function that opens a set: from bytes, a path, a descriptor. */
static void expect_refused_options(const buffer *s, const tamis_open_options *options,
                                   tamis_status expected) {
    tamis_set *set = NULL;
    int const  file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(read_with(s, options), expected);
    assert_int_equal(tamis_open(path, options, &set, NULL), expected);
    assert_int_equal(tamis_open_fd(file, options, &set, NULL), expected);
    assert_null(set);
    assert_int_equal(close(file), 0);
}

static void wrong_options_are_refused_at_every_door(void **state) {
    (void)state;
    tamis_set *const         set = sample_set("line", 16384, 100, 1);
    buffer                   s = sample_of(set);
    tamis_set               *back = NULL;
    ledger                   book = { 0 };
    tamis_open_options const usual = TAMIS_OPEN_OPTIONS_INIT;
    tamis_open_options       options = usual;
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    options.size = 0;
    expect_refused_options(&s, &options, TAMIS_ERR_ARGUMENT);
    options = usual;
    options.flags = 1u << 20;
    expect_refused_options(&s, &options, TAMIS_ERR_ARGUMENT);
    options = usual;
    options.allocator = ledger_allocator(&book);
    options.allocator.free = NULL;
    expect_refused_options(&s, &options, TAMIS_ERR_ARGUMENT);
    options = usual;
    options.isa = "avx1024";
    expect_refused_options(&s, &options, TAMIS_ERR_NOT_BUILT);
    assert_int_equal(tamis_open(NULL, NULL, &back, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_open(path, NULL, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_write(NULL, buffer_write, &s), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_write(set, NULL, &s), TAMIS_ERR_ARGUMENT);
    tamis_free(set);
    free(s.bytes);
}

/* Not every kind can be shared between threads. Messages contain no control characters from
 * names. */
static void what_cannot_be_opened_is_told(void **state) {
    (void)state;
    tamis_set *const   set = sample_set("vicbf", 16384, 100, 1);
    buffer             s = sample_of(set);
    tamis_set         *back = NULL;
    tamis_problem      problem;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.shared = true;
    assert_int_equal(tamis_read(s.bytes, s.n, &options, &back, &problem), TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "share"));
    assert_int_equal(tamis_open("nowhere/\x7f\x1b", NULL, &back, &problem), TAMIS_ERR_IO);
    assert_non_null(strstr(problem.text, "nowhere/??"));
    assert_null(back);
    tamis_free(set);
    free(s.bytes);
}

static void rename_kind(buffer *s, const char *name) {
    memset(s->bytes + PART_KIND, 0, PART_KIND_BYTES);
    memcpy(s->bytes + PART_KIND, name, strlen(name));
    sample_seal(s);
}

/* A kind that is only for states has no sets, and a kind that is only for sets has no states. */
static void files_of_a_kind_that_cannot_be_are_refused(void **state) {
    (void)state;
    tamis_set *const  set = sample_set("line", 16384, 100, 1);
    buffer            s = sample_of(set);
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = 100;
    spec.values = 4;
    spec.fpr = 0.01;
    tamis_states *states = make_states_from(&spec);
    rename_kind(&s, "state_bloom");
    assert_int_equal(read_with(&s, NULL), TAMIS_ERR_KIND);
    buffer t = buffer_of_states(states);
    sample_take_layout(&t);
    rename_kind(&t, "bloom");
    tamis_states_free(states);
    states = NULL;
    assert_int_equal(tamis_states_read(t.bytes, t.n, NULL, &states, NULL), TAMIS_ERR_KIND);
    assert_null(states);
    tamis_free(set);
    free(s.bytes);
    free(t.bytes);
}

/* If a mapped file is refused, the set must not free its bodies: they belong to the mapping. */
static void damaged_steps_are_refused_when_mapped(void **state) {
    (void)state;
    tamis_set *const   set = sample_set(SAMPLE_GROWING "line", 0, 1400, 1);
    tamis_set         *back = NULL;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    uint8_t            byte;
    options.flags = TAMIS_OPEN_MAP;
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_open(path, &options, &back, NULL), TAMIS_OK);
    tamis_free(back);
    back = NULL;
    int const file = open(path, O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(pread(file, &byte, 1, SAMPLE_HEADER + 100), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file, &byte, 1, SAMPLE_HEADER + 100), 1);
    assert_int_equal(close(file), 0);
    assert_int_equal(tamis_open(path, &options, &back, NULL), TAMIS_ERR_CHECKSUM);
    assert_null(back);
    tamis_free(set);
}

static tamis_spec line_spec(uint64_t capacity, uint64_t grow_to, uint32_t part, uint32_t parts) {
    static const tamis_seed seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.kind = "line";
    spec.capacity = capacity;
    spec.grow_to = grow_to;
    spec.fpr = 0.01;
    spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    spec.seed = &seed;
    spec.part = part;
    spec.parts = parts;
    return spec;
}

/* A part uses fewer bits of a hash: with 65536 parts 48 bits, too few for these fingerprints. */
static void parts_with_too_many_fingerprints_are_refused(void **state) {
    (void)state;
    tamis_spec spec = line_spec(100000, 0, 1, 2);
    spec.fpr = 1e-11;
    tamis_set *const set = make_set_from(&spec);
    buffer           s = sample_of(set);
    le32_store(s.bytes + AT_PART_COUNT, 65536);
    sample_seal(&s);
    assert_int_equal(read_with(&s, NULL), TAMIS_ERR_CORRUPT);
    le32_store(s.bytes + AT_PART_COUNT, 4); /* possible with 4 parts */
    sample_seal(&s);
    assert_int_equal(read_with(&s, NULL), TAMIS_OK);
    tamis_free(set);
    free(s.bytes);
}

/* ------------------------------------------------------------------ streams */

static size_t head_of(const buffer *s) {
    return stream_header_bytes(le32_load(s->bytes + STREAM_AT_FIELDS),
                               le32_load(s->bytes + STREAM_AT_FLAGS) & 7);
}

static void seal_stream(buffer *s) {
    if (le32_load(s->bytes + STREAM_AT_FIELDS) > TAMIS_MAX_FIELDS) return;
    size_t const head = head_of(s);
    if (head + STREAM_TOTAL_BYTES <= s->n) sample_seal_stream(s, head);
}

static tamis_set *filled(const tamis_spec *spec, uint64_t keys) {
    tamis_set *const set = make_set_from(spec);
    add_own_ids(set, keys);
    return set;
}

#define LIMIT (4u << 20)
#define SLACK 65536 /* handles, and what a step needs besides its table */

static unsigned n_taken, n_refused;

/* Whatever the stream says, nothing crashes or leaks, and no more memory is used than allowed. */
static void try_stream(const buffer *s, tamis_spec spec) {
    ledger     book = { 0 };
    tamis_set *set = NULL;
    spec.allocator = ledger_allocator(&book);
    spec.max_bytes = LIMIT;
    if (tamis_receive(s->bytes, s->n, &spec, &set, NULL) == TAMIS_OK) {
        n_taken++;
        for (uint64_t id = 0; id < 300; id++) (void)!tamis_add_id(set, id);
        assert_true(tamis_validate(set, NULL));
    } else {
        n_refused++;
        assert_null(set);
    }
    assert_true(book.peak <= 2 * LIMIT + SLACK);
    tamis_free(set);
    assert_int_equal(book.bytes, 0);
}

/* Each half word of the header of a stream takes extreme values; what a spec asks for differs. */
static void crafted_streams_of_growing_sets_and_parts_are_safe(void **state) {
    static const uint32_t extremes[] = { 0,  1,  2,     3,     7,        31,        32,
                                         63, 64, 65535, 65536, 1u << 31, UINT32_MAX };
    (void)state;
    for (unsigned sort = 0; sort < 6; sort++) {
        tamis_spec const made =
            line_spec(sort < 4 ? 1500 : 300, sort < 4 ? 6000 : 0, 2, sort % 2 == 0 ? 0 : 4);
        tamis_spec use = made;
        use.part = made.parts == 0 ? 0 : 2;
        tamis_set *const like = filled(&use, sort < 2 ? 1800 : 250);
        buffer           s = buffer_sent(like, sort % 4 < 2 ? TAMIS_SEND_COPIES : 0);
        tamis_spec       specs[4] = { TAMIS_SPEC_INIT, TAMIS_SPEC_INIT, use, TAMIS_SPEC_INIT };
        specs[1].like = like;
        specs[3].kind = "rank";
        size_t const head = head_of(&s);
        buffer       bad = { NULL, 0 };
        (void)buffer_write(&bad, s.bytes, s.n);
        for (unsigned i = 0; i < 4; i++) try_stream(&s, specs[i]);
        for (size_t at = STREAM_AT_FLAGS; at + 4 <= head - 8; at += 4) {
            for (size_t e = 0; e < COUNT(extremes); e++) {
                memcpy(bad.bytes, s.bytes, s.n); /* checksums may have been put elsewhere */
                le32_store(bad.bytes + at, extremes[e]);
                seal_stream(&bad);
                try_stream(&bad, specs[(at / 4 + e + sort) % 4]);
            }
        }
        free(bad.bytes);
        tamis_free(like);
        free(s.bytes);
    }
    print_message("# %u streams taken, %u refused\n", n_taken, n_refused);
    assert_true(n_taken > 50 && n_refused > 500);
}

/* The bits of the last entry end too early: in its remainder, or in its number of copies. */
static void lists_that_end_in_an_entry_are_refused(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = 40;
    spec.kind = "rank";
    spec.geometry = "buckets=5,chains=12,remainder_bits=6,counter_bits=2,aligned=0";
    tamis_set *const set = make_set_from(&spec);
    static const struct {
        unsigned flags;
        uint8_t  payload[3];
        size_t   n;
    } lists[] = { { 0, { 1 }, 1 }, { TAMIS_SEND_COPIES, { 1, 0, 1 << 3 }, 3 } };
    for (size_t i = 0; i < COUNT(lists); i++) {
        static const uint8_t zeros[STREAM_TOTAL_BYTES];
        buffer               s = buffer_sent(set, lists[i].flags);
        tamis_set           *back = NULL;
        tamis_spec           like = TAMIS_SPEC_INIT;
        like.like = set;
        s.n = head_of(&s);
        le32_store(s.bytes + STREAM_AT_REMAINDER_BITS, 12);
        le64_store(s.bytes + STREAM_AT_LISTED, 1);
        le64_store(s.bytes + STREAM_AT_PAYLOAD_BYTES, lists[i].n);
        (void)buffer_write(&s, lists[i].payload, lists[i].n);
        (void)buffer_write(&s, zeros, sizeof zeros);
        seal_stream(&s);
        tamis_status const status = tamis_receive(s.bytes, s.n, i == 0 ? NULL : &like, &back, NULL);
        assert_true(status == TAMIS_ERR_CORRUPT || status == TAMIS_ERR_CANNOT);
        assert_null(back);
        free(s.bytes);
    }
    tamis_free(set);
}

/* The same stream with another kind and number of fields in its header. */
static buffer stream_renamed(const buffer *s, const char *kind, unsigned n_fields) {
    static const uint8_t zeros[8 * TAMIS_MAX_FIELDS];
    buffer               made = { NULL, 0 };
    unsigned const       had = le32_load(s->bytes + STREAM_AT_FIELDS);
    unsigned const       kept = had < n_fields ? had : n_fields;
    size_t const         rest = STREAM_AT_GEOMETRY + 8 * (size_t)had;
    (void)buffer_write(&made, s->bytes, STREAM_AT_GEOMETRY + 8 * (size_t)kept);
    (void)buffer_write(&made, zeros, 8 * (size_t)(n_fields - kept));
    (void)buffer_write(&made, s->bytes + rest, s->n - rest);
    memset(made.bytes + STREAM_AT_KIND, 0, STREAM_KIND_BYTES);
    memcpy(made.bytes + STREAM_AT_KIND, kind, strlen(kind));
    le32_store(made.bytes + STREAM_AT_FIELDS, n_fields);
    seal_stream(&made);
    return made;
}

/* The header names a kind whose sets cannot be sent, or whose geometry has other fields. Without a
 * spec the stream is refused. With a spec the sender's kind only matters for its abilities, and
 * such a sender has none. */
static void streams_with_a_wrong_kind_are_refused_or_only_listed(void **state) {
    (void)state;
    tamis_spec const  spec = line_spec(300, 0, 0, 0);
    tamis_set *const  set = filled(&spec, 250);
    buffer            s = buffer_sent(set, TAMIS_SEND_COPIES);
    const tamis_kind *kind;
    tamis_spec        asked = TAMIS_SPEC_INIT;
    asked.kind = "line";
    for (size_t i = 0; (kind = tamis_kind_at(i)) != NULL; i++) {
        unsigned const n_fields = tamis_kind_n_fields(kind);
        for (unsigned more = strcmp(kind->name, "line") == 0; more < 2; more++) {
            buffer     bad = stream_renamed(&s, kind->name, n_fields - more);
            tamis_set *back = NULL;
            assert_int_equal(tamis_receive(bad.bytes, bad.n, NULL, &back, NULL), TAMIS_ERR_CORRUPT);
            assert_null(back);
            assert_int_equal(tamis_receive(bad.bytes, bad.n, &asked, &back, NULL), TAMIS_OK);
            expect_ids(back, 0, 250);
            tamis_free(back);
            free(bad.bytes);
        }
    }
    tamis_free(set);
    free(s.bytes);
}

static void a_set_like_a_growing_one_grows(void **state) {
    (void)state;
    tamis_spec const spec = line_spec(1500, 6000, 0, 0);
    tamis_set *const set = filled(&spec, 1400);
    buffer           s = buffer_sent(set, TAMIS_SEND_COPIES);
    tamis_spec       like = TAMIS_SPEC_INIT;
    tamis_set       *back = NULL;
    like.like = set;
    assert_int_equal(tamis_receive(s.bytes, s.n, &like, &back, NULL), TAMIS_OK);
    add_ids(back, 1400, 4000);
    expect_ids(back, 0, 5400);
    tamis_free(back);
    tamis_free(set);
    free(s.bytes);
}

/* A set would have to grow while it is received, but the limit does not allow it. */
static void a_limit_holds_while_a_set_is_received(void **state) {
    (void)state;
    tamis_spec    spec = line_spec(1500, 6000, 0, 0);
    tamis_problem problem;
    tamis_set *back = NULL, *const set = filled(&spec, 5500);
    buffer     s = buffer_sent(set, TAMIS_SEND_COPIES);
    tamis_spec asked = TAMIS_SPEC_INIT;
    asked.kind = "line";
    asked.capacity = 1500;
    asked.grow_to = 6000;
    assert_int_equal(tamis_receive(s.bytes, s.n, &asked, &back, NULL), TAMIS_OK);
    expect_ids(back, 0, 5500);
    asked.max_bytes = inspect(back).plan.body_bytes / 2;
    tamis_free(back);
    back = NULL;
    assert_int_equal(tamis_receive(s.bytes, s.n, &asked, &back, &problem), TAMIS_ERR_MEMORY);
    assert_non_null(strstr(problem.text, "grow"));
    assert_null(back);
    tamis_free(set);
    free(s.bytes);
}

static void a_part_is_received_as_that_part(void **state) {
    (void)state;
    tamis_spec const spec = line_spec(300, 0, 2, 4), other = line_spec(300, 0, 1, 4),
                     fewer = line_spec(300, 0, 1, 2);
    tamis_set *const set = filled(&spec, 250);
    buffer           s = buffer_sent(set, TAMIS_SEND_COPIES);
    tamis_set       *back = NULL;
    tamis_spec       asked = TAMIS_SPEC_INIT;
    asked.kind = "line";
    asked.part = 2;
    asked.parts = 4;
    assert_int_equal(tamis_receive(s.bytes, s.n, &asked, &back, NULL), TAMIS_OK);
    tamis_free(back);
    back = NULL;
    asked.part = other.part;
    assert_int_equal(tamis_receive(s.bytes, s.n, &asked, &back, NULL), TAMIS_ERR_MISMATCH);
    asked.parts = fewer.parts;
    assert_int_equal(tamis_receive(s.bytes, s.n, &asked, &back, NULL), TAMIS_ERR_MISMATCH);
    tamis_free(set);
    free(s.bytes);
}

/* A dlcbf can be sent, but not be shared, and no other kind has its prints. */
static void what_cannot_be_shared_is_not_received_as_shared(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT, asked = TAMIS_SPEC_INIT;
    spec.capacity = 300;
    spec.fpr = 0.01;
    spec.kind = "dlcbf";
    spec.abilities = TAMIS_CAN_REMOVE;
    tamis_set *const set = filled(&spec, 250);
    buffer           s = buffer_sent(set, 0);
    tamis_set       *back = NULL;
    tamis_problem    problem;
    asked.shared = true;
    assert_int_equal(tamis_receive(s.bytes, s.n, &asked, &back, &problem), TAMIS_ERR_CANNOT);
    assert_null(back);
    assert_non_null(strstr(problem.text, "that threads share with the fingerprints of the stream"));
    tamis_free(set);
    free(s.bytes);
}

/* If the spec has only max_bytes, the set is made as it was sent; any other field makes a new
 * set. */
static void a_limit_alone_asks_for_nothing_else(void **state) {
    static const tamis_seed seed = { 1, 2 };
    (void)state;
    tamis_spec const spec = line_spec(300, 0, 0, 0);
    tamis_set *const set = filled(&spec, 250);
    buffer           s = buffer_sent(set, TAMIS_SEND_COPIES);
    for (unsigned wish = 0; wish < 12; wish++) {
        tamis_spec asked = TAMIS_SPEC_INIT;
        tamis_set *back = NULL;
        asked.max_bytes = 1u << 20;
        if (wish == 1) asked.copies = 1;
        if (wish == 2) asked.count_to = 3, asked.abilities = TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE;
        if (wish == 3) asked.memory = 1u << 16;
        if (wish == 4) asked.lifetime = 5000;
        if (wish == 5) asked.overflow = 0.01;
        if (wish == 6) asked.isa = "portable";
        if (wish == 7) asked.seed = &seed;
        if (wish == 8) asked.hash = TAMIS_HASH_XXH3;
        if (wish == 9) asked.shared = true;
        if (wish == 10) asked.reseed = true;
        if (wish == 11) asked.count_to = 3;
        if (tamis_receive(s.bytes, s.n, &asked, &back, NULL) == TAMIS_OK) expect_ids(back, 0, 250);
        if (wish == 0) assert_non_null(back);
        tamis_free(back);
    }
    tamis_free(set);
    free(s.bytes);
}

/* ------------------------------------------------------------------ planning */

static void expect_no_plan(const tamis_spec *spec) {
    tamis_set *set = NULL;
    assert_int_equal(tamis_create(spec, &set, NULL), TAMIS_ERR_ARGUMENT);
    assert_null(set);
}

static void growth_that_cannot_be_is_refused(void **state) {
    (void)state;
    tamis_spec const good = line_spec(1500, 6000, 0, 0);
    tamis_spec       spec = good;
    spec.capacity = 0;
    spec.memory = 100000;
    expect_no_plan(&spec);
    spec = good;
    spec.grow_to = 1499;
    expect_no_plan(&spec);
    spec.grow_to = (UINT64_C(1) << 40) + 1;
    expect_no_plan(&spec);
    spec = good;
    spec.geometry = "tables=2";
    expect_no_plan(&spec);
    spec = good;
    spec.fpr = 0;
    expect_no_plan(&spec);
}

static void wishes_that_contradict_each_other_are_refused(void **state) {
    (void)state;
    tamis_spec spec = line_spec(300, 0, 0, 0);
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.count_to = 3;
    expect_no_plan(&spec);
    tamis_states_spec states_spec = TAMIS_STATES_SPEC_INIT;
    tamis_states     *states = NULL;
    states_spec.capacity = 100;
    states_spec.values = 4;
    states_spec.fpr = 0.01;
    states_spec.timer_bits = 3; /* without a timeout */
    assert_int_equal(tamis_states_create(&states_spec, &states, NULL), TAMIS_ERR_ARGUMENT);
    states_spec.timeout = 100;
    states_spec.timer_bits = 6;
    assert_int_equal(tamis_states_create(&states_spec, &states, NULL), TAMIS_ERR_ARGUMENT);
    ledger book = { 0 };
    states_spec.timer_bits = 3;
    states_spec.allocator = ledger_allocator(&book);
    states_spec.allocator.alloc = NULL;
    assert_int_equal(tamis_states_create(&states_spec, &states, NULL), TAMIS_ERR_ARGUMENT);
    assert_null(states);
}

int main(void) {
    temporary_folder_make(folder, sizeof folder);
    (void)snprintf(path, sizeof path, "%s/doors.tamis", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_options_are_refused_at_every_door),
        cmocka_unit_test(what_cannot_be_opened_is_told),
        cmocka_unit_test(files_of_a_kind_that_cannot_be_are_refused),
        cmocka_unit_test(damaged_steps_are_refused_when_mapped),
        cmocka_unit_test(parts_with_too_many_fingerprints_are_refused),
        cmocka_unit_test(crafted_streams_of_growing_sets_and_parts_are_safe),
        cmocka_unit_test(lists_that_end_in_an_entry_are_refused),
        cmocka_unit_test(streams_with_a_wrong_kind_are_refused_or_only_listed),
        cmocka_unit_test(a_set_like_a_growing_one_grows),
        cmocka_unit_test(a_limit_holds_while_a_set_is_received),
        cmocka_unit_test(a_part_is_received_as_that_part),
        cmocka_unit_test(what_cannot_be_shared_is_not_received_as_shared),
        cmocka_unit_test(a_limit_alone_asks_for_nothing_else),
        cmocka_unit_test(growth_that_cannot_be_is_refused),
        cmocka_unit_test(wishes_that_contradict_each_other_are_refused),
    };
    int const failed = cmocka_run_group_tests_name("doors", tests, NULL, NULL);
    temporary_folder_remove(folder);
    return failed;
}
