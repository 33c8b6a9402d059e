/* test_refusals.c - faults of headers that only one check finds, and what looks like one and is
 * none. scripts/mutate found that nothing else noticed if these checks were missing.
 */
#include "ledger.h"
#include "sample.h"

#include "file_layout.h"
#include "grow.h"
#include "kind.h"
#include "kinds/dlbf/analysis.h"
#include "stream.h"
#include "theory/overlaid_size.h"

#include <tamis/states.h>
#include <unistd.h>

static tamis_status read_status(const buffer *s, tamis_problem *ret_problem) {
    tamis_set         *set = NULL;
    tamis_status const status = tamis_read(s->bytes, s->n, NULL, &set, ret_problem);
    assert_int_equal(set != NULL, status == TAMIS_OK);
    tamis_free(set);
    return status;
}

static tamis_status receive_status(const buffer *s, tamis_problem *ret_problem) {
    tamis_set         *set = NULL;
    tamis_status const status = tamis_receive(s->bytes, s->n, NULL, &set, ret_problem);
    assert_int_equal(set != NULL, status == TAMIS_OK);
    tamis_free(set);
    return status;
}

/* The bytes of the header of a stream of one kind, with its checksum. */
static size_t head_of(const buffer *s) {
    return stream_header_bytes(le32_load(s->bytes + STREAM_AT_FIELDS),
                               le32_load(s->bytes + STREAM_AT_FLAGS));
}

/* A set with an unknown hash would answer no to all of its keys. */
static void unknown_hashes_are_not_in_this_build(void **state) {
    (void)state;
    static const uint32_t hashes[] = { 0, 3, 4, 255, UINT32_MAX };
    tamis_set *const      set = sample_set("line", 16384, 100, 1);
    buffer                file = sample_of(set), sent = buffer_sent(set, 0);
    for (size_t i = 0; i < COUNT(hashes); i++) {
        le32_store(file.bytes + AT_HASH, hashes[i]);
        sample_seal(&file);
        assert_int_equal(read_status(&file, NULL), TAMIS_ERR_NOT_BUILT);
        le32_store(sent.bytes + STREAM_AT_HASH, hashes[i]);
        sample_seal_stream(&sent, head_of(&sent));
        assert_int_equal(receive_status(&sent, NULL), TAMIS_ERR_NOT_BUILT);
    }
    tamis_free(set);
    free(file.bytes);
    free(sent.bytes);
}

/* A reader accepts counts up to 2^56, so that sums of them do not wrap. */
static void each_count_that_is_too_high_is_refused(void **state) {
    (void)state;
    static const size_t fields[] = { AT_REFUSED_ADDS, AT_REFUSED_REMOVES, PART_KEYS, PART_SATURATED,
                                     PART_MOVED };
    tamis_set *const    set = sample_set("line", 16384, 100, 1);
    buffer              file = sample_of(set);
    tamis_problem       problem;
    for (size_t i = 0; i < COUNT(fields); i++) {
        uint64_t const count = le64_load(file.bytes + fields[i]);
        le64_store(file.bytes + fields[i], KIND_MAX_COUNT + 1);
        sample_seal(&file);
        assert_int_equal(read_status(&file, &problem), TAMIS_ERR_CORRUPT);
        assert_non_null(strstr(problem.text, "the counts are invalid"));
        le64_store(file.bytes + fields[i], count);
    }
    le64_store(file.bytes + AT_MORE_COPIES, UINT64_C(1) << 32);
    sample_seal(&file);
    assert_int_equal(read_status(&file, &problem), TAMIS_ERR_CORRUPT);
    assert_int_equal(problem.offset, AT_MORE_COPIES);
    tamis_free(set);
    free(file.bytes);
}

/* Whoever has too little memory for a file must know how much it takes. */
static void missing_memory_for_a_file_is_told(void **state) {
    (void)state;
    ledger             book = { .fail_at = 2 }; /* the first request is for the handle */
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set *const   set = sample_set("line", 16384, 100, 1);
    buffer const       file = sample_of(set);
    tamis_set         *read = NULL;
    tamis_problem      problem;
    char               bytes[40];
    options.allocator = ledger_allocator(&book);
    assert_int_equal(tamis_read(file.bytes, file.n, &options, &read, &problem), TAMIS_ERR_MEMORY);
    (void)snprintf(bytes, sizeof bytes, "needs %llu bytes",
                   (unsigned long long)set->table.body_bytes);
    assert_non_null(strstr(problem.text, bytes));
    tamis_free(set);
    free(file.bytes);
}

/* Each stage doubles capacity and lifetime, and the last ones must be possible, too. */
static void a_life_that_cannot_double_is_refused(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = "line";
    spec.capacity = 1500;
    spec.grow_to = 6000;
    spec.fpr = 0.01;
    tamis_set *const set = make_set_from(&spec);
    buffer           file = sample_of(set);
    uint64_t const   capacity = le64_load(file.bytes + PART_CAPACITY);
    assert_int_equal(read_status(&file, NULL), TAMIS_OK);
    le64_store(file.bytes + PART_LIFETIME, UINT64_C(1) << 63);
    sample_seal(&file);
    assert_int_equal(read_status(&file, NULL), TAMIS_ERR_CORRUPT);
    le64_store(file.bytes + PART_LIFETIME, UINT64_C(1) << 61);
    sample_seal(&file);
    assert_int_equal(read_status(&file, NULL), TAMIS_OK);
    le64_store(file.bytes + PART_CAPACITY, UINT64_C(1) << 40);
    sample_seal(&file);
    assert_int_equal(read_status(&file, NULL), TAMIS_ERR_CORRUPT);
    le64_store(file.bytes + PART_CAPACITY, capacity);
    le_double_store(file.bytes + AT_OVERFLOW, 1);
    sample_seal(&file);
    assert_int_equal(read_status(&file, NULL), TAMIS_ERR_CORRUPT);
    le_double_store(file.bytes + AT_OVERFLOW, 0.5);
    sample_seal(&file);
    assert_int_equal(read_status(&file, NULL), TAMIS_OK);
    le64_store(file.bytes + AT_BUCKETS_MOVED, set->kind->growing->group); /* but in no step */
    sample_seal(&file);
    assert_int_equal(read_status(&file, NULL), TAMIS_ERR_CORRUPT);
    tamis_free(set);
    free(file.bytes);
}

/* Shifts by so many bits mean nothing, there are no chains without prints, and each chain and each
 * listed print takes a bit of the payload. */
static void impossible_numbers_of_a_stream_are_named(void **state) {
    (void)state;
    tamis_set *const set = sample_set("line", 16384, 100, 1);
    buffer           s = buffer_sent(set, 0);
    size_t const     head = head_of(&s);
    tamis_problem    problem;
    uint32_t const   bits = le32_load(s.bytes + STREAM_AT_REMAINDER_BITS);
    for (uint32_t wrong = STREAM_MAX_REMAINDER_BITS + 1; wrong < 130; wrong++) {
        le32_store(s.bytes + STREAM_AT_REMAINDER_BITS, wrong);
        sample_seal_stream(&s, head);
        assert_int_equal(receive_status(&s, &problem), TAMIS_ERR_CORRUPT);
        assert_non_null(strstr(problem.text, "invalid header"));
    }
    le32_store(s.bytes + STREAM_AT_REMAINDER_BITS, bits);
    uint64_t const payload_bits = le64_load(s.bytes + STREAM_AT_PAYLOAD_BYTES) * 8;
    struct {
        size_t   at;
        uint64_t wrong;
    } const numbers[] = { { STREAM_AT_PRINTS, 0 },
                          { STREAM_AT_PRINTS, (payload_bits + 1) << bits },
                          { STREAM_AT_LISTED, payload_bits + 1 } };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        uint64_t const right = le64_load(s.bytes + numbers[i].at);
        le64_store(s.bytes + numbers[i].at, numbers[i].wrong);
        sample_seal_stream(&s, head);
        assert_int_equal(receive_status(&s, &problem), TAMIS_ERR_CORRUPT);
        assert_non_null(strstr(problem.text, "invalid header"));
        le64_store(s.bytes + numbers[i].at, right);
    }
    tamis_free(set);
    free(s.bytes);
}

/* A part that there cannot be. */
static void impossible_parts_of_a_stream_are_named(void **state) {
    (void)state;
    static const uint32_t wrong[][2] = { { 4, 4 }, { 1, 3 }, { 0, 1u << 31 }, { 1, 0 } };
    tamis_spec            spec = TAMIS_SPEC_INIT;
    tamis_problem         problem;
    spec.kind = "line";
    spec.capacity = 1000;
    spec.fpr = 0.01;
    spec.part = 1;
    spec.parts = 4;
    tamis_set *const set = make_set_from(&spec);
    buffer           s = buffer_sent(set, 0);
    size_t const     head = head_of(&s);
    uint8_t *const   place = s.bytes + head - 8 - STREAM_PART_BYTES;
    assert_int_equal(le32_load(place + STREAM_PART_INDEX), 1);
    assert_int_equal(le32_load(place + STREAM_PART_COUNT), 4);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        le32_store(place + STREAM_PART_INDEX, wrong[i][0]);
        le32_store(place + STREAM_PART_COUNT, wrong[i][1]);
        sample_seal_stream(&s, head);
        assert_int_equal(receive_status(&s, &problem), TAMIS_ERR_CORRUPT);
        assert_non_null(strstr(problem.text, "invalid header"));
    }
    tamis_free(set);
    free(s.bytes);
}

/* The number of keys that were aged out is beside a field that states must not have. */
static void numbers_of_aged_keys_are_kept(void **state) {
    (void)state;
    tamis_states_spec  spec = TAMIS_STATES_SPEC_INIT;
    tamis_states_facts facts;
    uint64_t           backlog = 1;
    spec.kind = "line";
    spec.capacity = 1000;
    spec.values = 4;
    spec.fpr = 1e-4;
    spec.timeout = 10;
    tamis_states *states = make_states_from(&spec);
    for (uint64_t id = 0; id < 100; id++)
        assert_int_equal(tamis_states_put_id(states, id, 1), TAMIS_OK);
    assert_int_equal(tamis_states_tick(states, 100, NULL, &backlog), TAMIS_OK);
    while (backlog != 0) assert_int_equal(tamis_states_tick(states, 0, NULL, &backlog), TAMIS_OK);
    buffer const s = buffer_of_states(states);
    tamis_states_free(states);
    states = NULL;
    assert_int_equal(le64_load(s.bytes + AT_AGED), 100);
    assert_int_equal(tamis_states_read(s.bytes, s.n, NULL, &states, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
    assert_int_equal(facts.keys, 0);
    tamis_states_free(states);
    free(s.bytes);
}

/* A limit alone does not plan another set, even if another one would be chosen now. */
static void a_limit_alone_keeps_an_unusual_geometry(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT, limited = TAMIS_SPEC_INIT;
    tamis_set *back = NULL;
    spec.kind = "line";
    spec.capacity = 3000;
    spec.fpr = 0.001;
    spec.prefer = TAMIS_PREFER_SMALL;
    spec.overflow = 0.4;
    limited.max_bytes = UINT64_C(1) << 20;
    tamis_set *const set = make_set_from(&spec);
    add_ids(set, 0, 300);
    buffer const s = buffer_sent(set, 0);
    assert_int_equal(tamis_receive(s.bytes, s.n, &limited, &back, NULL), TAMIS_OK);
    buffer const sent = buffer_of(set), received = buffer_of(back);
    buffer_expect_equal(&sent, &received);
    free(sent.bytes);
    free(received.bytes);
    free(s.bytes);
    tamis_free(set);
    tamis_free(back);
}

/* With a limit and one more wish, it is planned: each wish changes the set, or cannot be had. */
static void a_limit_with_a_wish_plans_another_set(void **state) {
    (void)state;
    tamis_spec const none = TAMIS_SPEC_INIT;
    tamis_spec       spec = none, wishes[8];
    for (size_t i = 0; i < COUNT(wishes); i++) wishes[i] = none;
    wishes[0].copies = 5;
    wishes[1].count_to = 1000;
    wishes[2].memory = 100;
    wishes[3].prefer = TAMIS_PREFER_SMALL;
    wishes[4].lifetime = UINT64_C(1) << 40;
    wishes[5].overflow = 0.9;
    wishes[6].grow_to = 100000;
    wishes[7].parts = 4;
    spec.kind = "line";
    spec.capacity = 3000;
    spec.fpr = 0.001;
    tamis_set *const set = make_set_from(&spec);
    buffer const     sent = buffer_sent(set, 0), same = buffer_of(set);
    for (size_t i = 0; i < COUNT(wishes); i++) {
        tamis_set *back = NULL;
        wishes[i].max_bytes = UINT64_C(1) << 20;
        if (tamis_receive(sent.bytes, sent.n, &wishes[i], &back, NULL) == TAMIS_OK) {
            buffer const received = buffer_of(back);
            if (received.n == same.n && memcmp(received.bytes, same.bytes, same.n) == 0)
                fail_msg("wish %zu was not heard", i);
            free(received.bytes);
        }
        tamis_free(back);
    }
    tamis_free(set);
    free(sent.bytes);
    free(same.bytes);
}

/* With a limit of memory and a kind, the set is of that kind; reserved bytes are named by the place
 * of the first. */
static void a_limit_with_a_kind_makes_that_kind(void **state) {
    (void)state;
    tamis_spec    spec = TAMIS_SPEC_INIT, limited = TAMIS_SPEC_INIT;
    tamis_set    *back = NULL;
    tamis_problem problem;
    spec.kind = "line";
    spec.capacity = 3000;
    spec.fpr = 0.001;
    limited.max_bytes = UINT64_C(1) << 20;
    limited.kind = "rank";
    tamis_set *const set = make_set_from(&spec);
    add_ids(set, 0, 300);
    buffer const sent = buffer_sent(set, 0);
    assert_int_equal(tamis_receive(sent.bytes, sent.n, &limited, &back, NULL), TAMIS_OK);
    assert_string_equal(back->kind->name, "rank");
    for (uint64_t id = 0; id < 300; id++) assert_true(tamis_has_id(back, id));
    buffer file = sample_of(set);
    file.bytes[28] = 1;
    sample_seal(&file);
    assert_int_equal(read_status(&file, &problem), TAMIS_ERR_CORRUPT);
    assert_int_equal(problem.offset, 28);
    free(file.bytes);
    free(sent.bytes);
    tamis_free(set);
    tamis_free(back);
}

/* Programs print the text of a problem if there is one. */
static void a_call_that_succeeds_leaves_no_problem(void **state) {
    (void)state;
    tamis_problem      problem = { .status = TAMIS_OK };
    tamis_set         *read = NULL, *received = NULL;
    tamis_open_options shared = TAMIS_OPEN_OPTIONS_INIT;
    tamis_spec         spec = TAMIS_SPEC_INIT;
    shared.shared = spec.shared = true;
    tamis_set *const set = sample_set("line", 16384, 100, 1);
    buffer           file = sample_of(set), sent = buffer_sent(set, 0);
    assert_int_equal(tamis_read(file.bytes, file.n, &shared, &read, &problem), TAMIS_OK);
    assert_int_equal(tamis_receive(sent.bytes, sent.n, &spec, &received, &problem), TAMIS_OK);
    assert_string_equal(problem.text, "");
    tamis_free(set);
    tamis_free(read);
    tamis_free(received);
    free(file.bytes);
    free(sent.bytes);
}

static bool has_size(const char *name, const char *fields, const uint64_t *changes) {
    const tamis_kind *kind;
    uint64_t          g[TAMIS_MAX_FIELDS] = { 0 }, bytes;
    tamis_plan        plan;
    tamis_spec        spec = TAMIS_SPEC_INIT;
    size_t            n;
    spec.kind = name;
    spec.capacity = 1000;
    spec.fpr = 0.01;
    assert_int_equal(tamis_kind_find(name, NULL, &kind), TAMIS_OK);
    assert_int_equal(tamis_plan_kinds(&spec, &plan, 1, &n, NULL), TAMIS_OK);
    for (unsigned i = 0; i < plan.n_fields; i++) {
        g[i] = plan.fields[i].value;
        for (const char *at = fields; *at != '\0'; at += strlen(at) + 1)
            if (strcmp(plan.fields[i].name, at) == 0) g[i] = *changes;
    }
    return kind->body_bytes(g, &bytes);
}

/* All keys would share a single counter. */
static void a_table_of_one_counter_is_refused(void **state) {
    (void)state;
    static const uint64_t one = 1, two = 2;
    assert_false(has_size("mlcbf", "counters\0blocks\0", &one));
    assert_true(has_size("mlcbf", "counters\0blocks\0", &two));
}

/* The fingerprints of a dlbf's bucket never get longer when a key is added (analysis.h): with 8
 * cells of 7 bits, 7 cells may have one sorted bit each, and not two. */
static void fingerprints_never_get_longer(void **state) {
    (void)state;
    const tamis_kind *kind;
    uint64_t          bytes;
    assert_int_equal(tamis_kind_find("dlbf", NULL, &kind), TAMIS_OK);
    for (uint64_t sorted = 0; sorted <= 2; sorted++) {
        uint64_t const g[TAMIS_MAX_FIELDS] = {
            [DLBF_TABLES] = 4,
            [DLBF_BUCKETS] = 8,
            [DLBF_BUCKET_BITS] = 64,
            [DLBF_CELLS] = 8,
            [DLBF_SORTING] = sorted << 14,
            [DLBF_GROUP] = 1,
        };
        assert_int_equal(kind->body_bytes(g, &bytes), sorted < 2);
    }
}

/* A counter of one bit would stick at its first key; a timer has two bits at least. */
static void states_have_no_counters_or_timers_of_one_bit(void **state) {
    (void)state;
    const tamis_kind *kind;
    uint64_t          bytes, g[TAMIS_MAX_FIELDS] = { 0 };
    g[OVERLAID_CELLS] = 1024;
    g[OVERLAID_HASHES] = g[OVERLAID_VALUES] = 4;
    assert_int_equal(tamis_kind_find("state_direct", NULL, &kind), TAMIS_OK);
    for (uint64_t bits = 0; bits <= SWEEP_MAX_BITS + 1; bits++) {
        g[OVERLAID_TIMER_BITS] = bits;
        bool const is_possible = bits != 1 && bits <= SWEEP_MAX_BITS;
        assert_int_equal(kind->body_bytes(g, &bytes), is_possible);
    }
    g[OVERLAID_TIMER_BITS] = 0;
    for (uint64_t bits = 0; bits <= OVERLAID_MAX_COUNTER_BITS + 1; bits++) {
        g[OVERLAID_COUNTER_BITS] = bits;
        bool const is_possible = bits != 1 && bits <= OVERLAID_MAX_COUNTER_BITS;
        assert_int_equal(kind->body_bytes(g, &bytes), is_possible);
    }
}

static void the_least_number_of_a_field_can_be_asked_for(void **state) {
    (void)state;
    static const struct {
        const char *kind, *geometry;
    } wishes[] = { { "vicbf", "counters=1000,counter_bits=2" }, { "bhcbf", "entries=2" } };
    for (size_t i = 0; i < COUNT(wishes); i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        tamis_plan plan;
        size_t     n;
        spec.kind = wishes[i].kind;
        spec.geometry = wishes[i].geometry;
        spec.capacity = 1;
        assert_int_equal(tamis_plan_kinds(&spec, &plan, 1, &n, NULL), TAMIS_OK);
        if (plan.status != TAMIS_OK) fail_msg("%s: %d", wishes[i].geometry, plan.status);
    }
}

static void a_set_for_one_key_is_read(void **state) {
    (void)state;
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = "line";
    spec.capacity = 1;
    spec.fpr = 0.01;
    tamis_set *const set = make_set_from(&spec);
    buffer const     file = sample_of(set);
    assert_int_equal(read_status(&file, NULL), TAMIS_OK);
    tamis_free(set);
    free(file.bytes);
}

static void empty_files_are_cut_files(void **state) {
    (void)state;
    buffer const       nothing = { NULL, 0 };
    tamis_problem      problem;
    temporary          file = temporary_file();
    tamis_open_options mapped = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    mapped.flags = TAMIS_OPEN_MAP;
    assert_int_equal(receive_status(&nothing, &problem), TAMIS_ERR_TRUNCATED);
    assert_int_equal(problem.offset, 0);
    assert_int_equal(truncate(file.path, 0), 0);
    assert_int_equal(tamis_open(file.path, NULL, &set, NULL), TAMIS_ERR_TRUNCATED);
    assert_int_equal(tamis_open(file.path, &mapped, &set, NULL), TAMIS_ERR_TRUNCATED);
    assert_null(set);
    temporary_remove(&file);
}

/* A status alone does not tell what to do. */
static void problems_say_what_is_wrong(void **state) {
    (void)state;
    tamis_problem    problem;
    tamis_set       *back = NULL;
    tamis_spec       asked = TAMIS_SPEC_INIT;
    tamis_set *const set = sample_set("dlcbf", 16384, 100, 1);
    buffer           file = sample_of(set), sent = buffer_sent(set, 0);
    uint64_t const   places = le64_load(file.bytes + PART_GEOMETRY);
    le64_store(file.bytes + PART_GEOMETRY, 0);
    sample_seal(&file);
    assert_int_equal(read_status(&file, &problem), TAMIS_ERR_CORRUPT);
    assert_int_equal(problem.offset, PART_GEOMETRY);
    le64_store(file.bytes + PART_GEOMETRY, places);
    memcpy(file.bytes + PART_KIND, "nosuchkind", 11);
    sample_seal(&file);
    assert_int_equal(read_status(&file, &problem), TAMIS_ERR_KIND);
    assert_non_null(strstr(problem.text, "kind is not in this build"));
    asked.max_bytes = 64;
    assert_int_equal(tamis_receive(sent.bytes, sent.n, &asked, &back, &problem), TAMIS_ERR_LIMIT);
    assert_non_null(strstr(problem.text, "cannot make the set"));
    tamis_free(set);
    free(file.bytes);
    free(sent.bytes);
}

/* ------------------------------------------------------------------ streams of unusual senders */

/* The stream of a set that can remove, with other numbers about its growth. Without copies, another
 * set of its kind is made of it, which grows as far as the sender. */
static buffer of_a_growing_set(uint64_t grow_to, uint64_t capacity, uint32_t stages) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = "line";
    spec.capacity = 1500;
    spec.grow_to = grow_to;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.fpr = 0.01;
    tamis_set *const set = make_set_from(&spec);
    buffer           sent = buffer_sent(set, 0);
    size_t const     head = head_of(&sent);
    tamis_free(set);
    le64_store(sent.bytes + STREAM_AT_CAPACITY, capacity);
    le64_store(sent.bytes + STREAM_AT_LIFETIME, capacity);
    le32_store(sent.bytes + head - 8 - STREAM_GROWTH_BYTES + STREAM_STAGES, stages);
    sample_seal_stream(&sent, head);
    return sent;
}

#define MOST (UINT64_C(1) << 40)

/* No set has more than 2^40 keys. A sender that says so is refused. */
static void a_sender_grows_to_the_largest_capacity_at_most(void **state) {
    (void)state;
    static const struct {
        uint64_t grow_to, capacity;
        uint32_t stages;
        bool     grows;
    } senders[] = { { MOST, 1, 40, true },
                    { MOST, 2, 39, true },
                    { MOST, 1024, 30, true },
                    { 6000, 1500, 2, true },
                    { 6000, 1500, 30, false },
                    { 6000, 1500, 41, false },
                    { 6000, 1500, UINT32_MAX, false } };
    for (size_t i = 0; i < COUNT(senders); i++) {
        buffer const sent =
            of_a_growing_set(senders[i].grow_to, senders[i].capacity, senders[i].stages);
        tamis_set         *back = NULL;
        tamis_status const status = tamis_receive(sent.bytes, sent.n, NULL, &back, NULL);
        assert_int_equal(status, senders[i].grows ? TAMIS_OK : TAMIS_ERR_CORRUPT);
        if (senders[i].grows) assert_true(grow_largest(back) >= senders[i].grow_to);
        tamis_free(back);
        free(sent.bytes);
    }
}

/* The same stream with fewer fields in its geometry. */
static buffer with_fields(const buffer *sent, uint32_t fields) {
    size_t const head = head_of(sent), less = STREAM_AT_GEOMETRY + 8 * (size_t)fields;
    buffer       changed = { NULL, 0 };
    (void)buffer_write(&changed, sent->bytes, less + 8); /* and room for the checksum */
    (void)buffer_write(&changed, sent->bytes + head, sent->n - head);
    le32_store(changed.bytes + STREAM_AT_FIELDS, fields);
    sample_seal_stream(&changed, less + 8);
    return changed;
}

static tamis_set *small_dlcbf(const char *geometry) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = "dlcbf";
    spec.geometry = geometry;
    spec.capacity = 64;
    tamis_set *const set = make_set_from(&spec);
    add_ids(set, 0, 64);
    return set;
}

#define COUNTED \
    "tables=4,buckets=8,cells=8,remainder_bits=14,counter_bits=2,bucket_bytes=16,moves=0"

/* What comes after the last field (a checksum) is no field: here it would be the counter's bits. */
static void missing_fields_of_a_stream_are_0(void **state) {
    (void)state;
    tamis_set *const set = small_dlcbf(COUNTED);
    buffer const     sent = buffer_sent(set, 0), cut = with_fields(&sent, 4);
    tamis_problem    problem;
    assert_int_equal(receive_status(&sent, NULL), TAMIS_OK);
    assert_int_equal(receive_status(&cut, &problem), TAMIS_ERR_CORRUPT);
    assert_int_equal(problem.offset, STREAM_AT_GEOMETRY);
    tamis_free(set);
    free(sent.bytes);
    free(cut.bytes);
}

/* A newer version of a kind may have other fields, so nobody knows what that sender could do. */
static void abilities_are_not_inherited_from_other_fields(void **state) {
    (void)state;
    tamis_set *const set = small_dlcbf(COUNTED);
    buffer const     sent = buffer_sent(set, TAMIS_SEND_COPIES), other = with_fields(&sent, 6);
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.fpr = 0.1;
    spec.kind = "dlcbf";
    tamis_set *const inherits = buffer_receive(&sent, &spec);
    tamis_set *const plain = buffer_receive(&other, &spec);
    assert_int_equal(inherits->abilities & TAMIS_CAN_REMOVE, TAMIS_CAN_REMOVE);
    assert_int_equal(plain->abilities & TAMIS_CAN_REMOVE, 0);
    tamis_free(set);
    tamis_free(inherits);
    tamis_free(plain);
    free(sent.bytes);
    free(other.bytes);
}

/* ------------------------------------------------------------------ blocks */

/* Each 64 KiB of a body have a checksum of 8 bytes, the rest has one, too, and there is none for
 * nothing. */
static void every_block_has_one_checksum(void **state) {
    (void)state;
    static const struct {
        const char *geometry;
        size_t      body, blocks;
    } bodies[] = { { "bits=523776,hashes=4,blocked=1", 65472, 1 },
                   { "bits=524288,hashes=4,blocked=1", 65536, 1 },
                   { "bits=524800,hashes=4,blocked=1", 65600, 2 },
                   { "bits=1048576,hashes=4,blocked=1", 131072, 2 } };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        spec.kind = "bloom";
        spec.geometry = bodies[i].geometry;
        spec.capacity = 1000;
        tamis_set *const set = make_set_from(&spec);
        buffer const     file = buffer_of(set);
        assert_int_equal(file.n, 4096 + bodies[i].body + 8 * bodies[i].blocks + 16);
        tamis_free(set);
        free(file.bytes);
    }
}

/* ------------------------------------------------------------------ buckets */

/* Filled buckets of 4, 8 and 12 bytes. What follows the last cell is the next bucket, and not 0. */
static void buckets_without_padding_are_valid(void **state) {
    (void)state;
    static const char *const geometries[] = {
        "tables=4,buckets=8,cells=2,remainder_bits=16,counter_bits=0,bucket_bytes=4,moves=0",
        "tables=4,buckets=8,cells=4,remainder_bits=16,counter_bits=0,bucket_bytes=8,moves=0",
        "tables=4,buckets=8,cells=8,remainder_bits=12,counter_bits=0,bucket_bytes=12,moves=0",
    };
    for (size_t i = 0; i < COUNT(geometries); i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        spec.kind = "dlcbf";
        spec.geometry = geometries[i];
        spec.capacity = 16;
        tamis_set *const set = make_set_from(&spec);
        for (uint64_t id = 0; tamis_add_id(set, id) == TAMIS_OK; id++) {
        }
        buffer const file = sample_of(set);
        assert_int_equal(read_status(&file, NULL), TAMIS_OK);
        tamis_free(set);
        free(file.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_hashes_are_not_in_this_build),
        cmocka_unit_test(each_count_that_is_too_high_is_refused),
        cmocka_unit_test(missing_memory_for_a_file_is_told),
        cmocka_unit_test(a_life_that_cannot_double_is_refused),
        cmocka_unit_test(impossible_numbers_of_a_stream_are_named),
        cmocka_unit_test(impossible_parts_of_a_stream_are_named),
        cmocka_unit_test(numbers_of_aged_keys_are_kept),
        cmocka_unit_test(a_limit_alone_keeps_an_unusual_geometry),
        cmocka_unit_test(a_limit_with_a_wish_plans_another_set),
        cmocka_unit_test(a_limit_with_a_kind_makes_that_kind),
        cmocka_unit_test(a_call_that_succeeds_leaves_no_problem),
        cmocka_unit_test(a_table_of_one_counter_is_refused),
        cmocka_unit_test(fingerprints_never_get_longer),
        cmocka_unit_test(states_have_no_counters_or_timers_of_one_bit),
        cmocka_unit_test(the_least_number_of_a_field_can_be_asked_for),
        cmocka_unit_test(a_set_for_one_key_is_read),
        cmocka_unit_test(empty_files_are_cut_files),
        cmocka_unit_test(problems_say_what_is_wrong),
        cmocka_unit_test(a_sender_grows_to_the_largest_capacity_at_most),
        cmocka_unit_test(missing_fields_of_a_stream_are_0),
        cmocka_unit_test(abilities_are_not_inherited_from_other_fields),
        cmocka_unit_test(every_block_has_one_checksum),
        cmocka_unit_test(buckets_without_padding_are_valid),
    };
    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
