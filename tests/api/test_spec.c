/* test_spec.c - the ranges of a spec: what is refused, with which status, and what is accepted. */
#include "expect.h"
#include "ledger.h"
#include "resident.h"

#include <stdio.h>
#include <sys/mman.h>

/* ------------------------------------------------------------------ arguments */

static void create_refuses_a_missing_spec_or_result(void **state) {
    (void)state;
    tamis_spec const spec = good_spec();
    tamis_problem    problem = { 0 };
    expect_refused(NULL, TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_create(&spec, NULL, &problem), TAMIS_ERR_ARGUMENT);
    check_words(&problem, TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_create(&spec, NULL, NULL), TAMIS_ERR_ARGUMENT);
}

static void plan_kinds_refuses_missing_results(void **state) {
    (void)state;
    tamis_spec const spec = good_spec();
    tamis_problem    problem = { 0 };
    tamis_plan       row;
    size_t           n = NO_ROWS;
    assert_int_equal(tamis_plan_kinds(&spec, &row, 1, NULL, &problem), TAMIS_ERR_ARGUMENT);
    check_words(&problem, TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_plan_kinds(&spec, NULL, 1, &n, &problem), TAMIS_ERR_ARGUMENT);
    check_words(&problem, TAMIS_ERR_ARGUMENT);
    assert_int_equal(n, NO_ROWS);
}

/* ------------------------------------------------------------------ ranges */

static void spec_capacity_is_1_to_2_to_40(void **state) {
    (void)state;
    static const uint64_t bad[] = { 0, (UINT64_C(1) << 40) + 1, UINT64_MAX };
    tamis_spec            spec = good_spec();
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.capacity = bad[i];
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    }
    spec.capacity = 1;
    assert_int_equal(expect_made(&spec).plan.capacity, 1);
    spec.capacity = UINT64_C(1) << 40; /* planned, not made: it is a terabyte */
    size_t n;
    assert_int_equal(tamis_plan_kinds(&spec, NULL, 0, &n, NULL), TAMIS_OK);
}

static void spec_fpr_is_1e_12_to_a_half(void **state) {
    (void)state;
    static const double bad[] = {
        0,          -0.0, -0.01, 9.99e-13, 0.500001, 0.6, 1.0, (double)INFINITY, -(double)INFINITY,
        (double)NAN
    };
    tamis_spec spec = good_spec();
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.fpr = bad[i];
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    }
    spec.fpr = 0.5;
    assert_true(expect_made(&spec).plan.fpr <= 0.5);
    spec.fpr = 1e-12;
    assert_true(expect_made(&spec).plan.fpr <= 1e-12);
}

/* With a geometry, an fpr of 0 means: whatever the geometry gives. Other values below the range,
 * and 0 without a geometry, are refused. */
static void spec_fpr_may_be_0_with_a_geometry(void **state) {
    (void)state;
    static const double bad[] = { -1, 1e-13, 0.51, (double)NAN };
    tamis_spec          spec = good_spec();
    spec.kind = "bloom";
    spec.geometry = "bits=4096,hashes=3";
    spec.fpr = 0;
    assert_true(expect_made(&spec).plan.fpr > 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.fpr = bad[i];
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    }
}

/* If neither the geometry nor a rate decides the size, it cannot be chosen. */
static void spec_fpr_0_needs_a_geometry_that_says_the_size(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    spec.fpr = 0;
    spec.kind = "bloom";
    spec.geometry = "hashes=3";
    expect_no_set(&spec, TAMIS_ERR_CANNOT);
    spec.geometry = "";
    expect_no_set(&spec, TAMIS_ERR_CANNOT);
}

/* Of a geometry that no kind has, the problem does not only ask for fewer keys. */
static void a_geometry_that_no_kind_has_is_told(void **state) {
    (void)state;
    tamis_spec    spec = good_spec();
    tamis_set    *set = NO_SET;
    tamis_problem problem = { 0 };
    spec.geometry = "hashes=99999";
    assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_CANNOT);
    assert_ptr_equal(set, NO_SET);
    assert_non_null(strstr(problem.text, "in that geometry: leave its fields free"));
}

static void spec_abilities_are_the_known_ones(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    for (unsigned bit = 3; bit < 32; bit++) {
        spec.abilities = 1u << bit;
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
        spec.abilities = 1u << bit | TAMIS_CAN_REMOVE;
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    }
    spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE;
    assert_int_equal(expect_made(&spec).plan.abilities & spec.abilities, spec.abilities);
}

static void spec_preference_is_a_known_one(void **state) {
    (void)state;
    static const int bad[] = { 2, 7, 1000 };
    tamis_spec       spec = good_spec();
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.prefer = (tamis_preference)bad[i];
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    }
}

static void spec_hash_is_a_known_one(void **state) {
    (void)state;
    static const int bad[] = { 3, 1000, -1 };
    tamis_spec       spec = good_spec();
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.hash = (tamis_hash)bad[i];
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    }
    spec.hash = (tamis_hash)0; /* as a designated initialiser without a hash leaves it */
    assert_int_equal(expect_made(&spec).facts.hash, TAMIS_HASH_XXH3);
}

/* SipHash is a build option: either the set is made, or the status says that SipHash is not built
 * in. */
static void spec_siphash_is_made_or_not_built(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    tamis_set *set = NULL;
    spec.hash = TAMIS_HASH_SIPHASH;
    tamis_status const status = tamis_create(&spec, &set, NULL);
    tamis_free(set);
    if (status == TAMIS_OK)
        assert_int_equal(expect_made(&spec).facts.hash, TAMIS_HASH_SIPHASH);
    else
        expect_refused(&spec, TAMIS_ERR_NOT_BUILT);
}

static void spec_overflow_is_a_probability_below_1(void **state) {
    (void)state;
    static const double bad[] = { -1e-300, -1, 1, 2, (double)INFINITY, (double)NAN };
    tamis_spec          spec = good_spec();
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.overflow = bad[i];
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    }
    spec.overflow = 0.999;
    (void)expect_made(&spec);
}

/* ------------------------------------------------------------------ names */

static void spec_kind_is_a_known_one(void **state) {
    (void)state;
    static const char *const bad[] = { "", "blooms", "bloo", "BLOOM", "bloom ", "no such kind" };
    tamis_spec               spec = good_spec();
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.kind = bad[i];
        expect_refused(&spec, TAMIS_ERR_KIND);
    }
}

/* A set is made for an instruction set; a plan does not depend on it. */
static void spec_isa_is_one_that_runs_here(void **state) {
    (void)state;
    static const char *const bad[] = { "", "avx", "avx2 ", "PORTABLE", "sse9" };
    tamis_spec               spec = good_spec();
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.isa = bad[i];
        spec.kind = NULL;
        expect_no_set(&spec, TAMIS_ERR_NOT_BUILT);
        spec.kind = "bloom";
        expect_no_set(&spec, TAMIS_ERR_NOT_BUILT);
    }
    spec.kind = "line"; /* it has a build for each */
    for (size_t i = 0; (spec.isa = tamis_isa_name(i)) != NULL; i++) {
        assert_string_equal(expect_made(&spec).facts.isa, spec.isa);
    }
}

/* Kinds that are there for comparison have no build for sse4 and none for avx512: there they use
 * the portable one, and the one for avx2. */
static void spec_isa_without_a_build_is_the_next_lower_one(void **state) {
    (void)state;
    tamis_spec        spec = good_spec();
    tamis_field_range fields[TAMIS_MAX_FIELDS];
    size_t            n;
    spec.kind = "dlcbf";
    if (tamis_kind_fields(spec.kind, fields, &n) == TAMIS_ERR_KIND) return; /* -Dpapers=false */
    for (size_t i = 0; (spec.isa = tamis_isa_name(i)) != NULL; i++) {
        const char *const used = strcmp(spec.isa, "sse4") == 0     ? "portable"
                                 : strcmp(spec.isa, "avx512") == 0 ? "avx2"
                                                                   : spec.isa;
        assert_string_equal(expect_made(&spec).facts.isa, used);
    }
}

static void names_of_kinds_and_instruction_sets_end_with_null(void **state) {
    (void)state;
    size_t n_kinds = 0, n_isas = 0;
    while (tamis_kind_name(n_kinds) != NULL) n_kinds++;
    while (tamis_isa_name(n_isas) != NULL) n_isas++;
    assert_in_range(n_kinds, 2, 100);
    assert_in_range(n_isas, 1, 100);
    assert_string_equal(tamis_isa_name(n_isas - 1), "portable");
    for (size_t i = 0; i < n_kinds; i++) {
        assert_in_range(strlen(tamis_kind_name(i)), 1, 15); /* it stands in every file */
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(tamis_kind_name(i), tamis_kind_name(j));
        }
    }
    assert_null(tamis_kind_name(SIZE_MAX));
    assert_null(tamis_isa_name(SIZE_MAX));
}

/* ------------------------------------------------------------------ abilities of a named kind */

static void create_says_cannot_when_the_named_kind_lacks_an_ability(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    spec.kind = "bloom";
    spec.abilities = TAMIS_CAN_REMOVE;
    expect_no_set(&spec, TAMIS_ERR_CANNOT);
    spec.abilities = TAMIS_CAN_COUNT;
    expect_no_set(&spec, TAMIS_ERR_CANNOT);
    spec.abilities = TAMIS_CAN_MERGE;
    assert_string_equal(expect_made(&spec).plan.kind, "bloom");
}

/* ------------------------------------------------------------------ size, and older callers */

static void spec_size_is_that_of_a_spec(void **state) {
    (void)state;
    static const size_t bad[] = { 0, 1, sizeof(size_t) - 1, SIZE_MAX };
    tamis_spec          spec = good_spec();
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec.size = bad[i];
        expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    }
    spec.size = sizeof spec.size; /* a spec without even a capacity */
    expect_refused(&spec, TAMIS_ERR_ARGUMENT);
}

/* A struct of 4 KiB is the largest that the library believes in. */
static void spec_size_is_at_most_4_kib(void **state) {
    (void)state;
    static struct {
        tamis_spec spec;
        uint8_t    later[4096];
    } newer;
    newer.spec = good_spec();
    newer.spec.size = 4096;
    (void)expect_made(&newer.spec);
    newer.spec.size = 4097;
    expect_refused(&newer.spec, TAMIS_ERR_ARGUMENT);
}

/* A caller whose header has fields that this library does not know. */
static void spec_of_a_newer_caller_is_taken_if_its_new_fields_are_zero(void **state) {
    (void)state;
    struct {
        tamis_spec spec;
        uint64_t   later;
    } newer = { good_spec(), 0 };
    newer.spec.size = sizeof newer;
    (void)expect_made(&newer.spec);
    newer.later = UINT64_C(1) << 60;
    expect_refused(&newer.spec, TAMIS_ERR_ARGUMENT);

    /* The caller did start from TAMIS_SPEC_INIT: the text must say what is really wrong. */
    tamis_problem problem;
    tamis_set    *set = NULL;
    assert_int_equal(tamis_create(&newer.spec, &set, &problem), TAMIS_ERR_ARGUMENT);
    assert_non_null(strstr(problem.text, "a newer library"));
    assert_non_null(strstr(problem.text, tamis_version()));
    assert_int_equal(tamis_receive("x", 1, &newer.spec, &set, &problem), TAMIS_ERR_ARGUMENT);
    assert_non_null(strstr(problem.text, "a newer library"));
}

/* A caller whose header knew only the fields up to `bytes`. There is no memory beyond them. */
static tamis_info made_by_older_caller(const tamis_spec *spec, size_t bytes) {
    fenced memory = fenced_new(bytes);
    memcpy(memory.bytes, spec, bytes);
    memcpy(memory.bytes, &bytes, sizeof bytes);
    tamis_info const info = expect_made((const tamis_spec *)(const void *)memory.bytes);
    fenced_free(&memory);
    return info;
}

static void spec_of_an_older_caller_takes_defaults_for_the_rest(void **state) {
    (void)state;
    tamis_seed const seed = { 1, 2 };
    tamis_spec       spec = good_spec();
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.lifetime = 5000;
    spec.seed = &seed;
    spec.isa = "portable";

    tamis_info info = made_by_older_caller(&spec, offsetof(tamis_spec, abilities));
    assert_int_equal(info.plan.lifetime, 1000); /* the default without removal: the capacity */
    assert_int_equal(info.facts.hash, TAMIS_HASH_XXH3);

    info = made_by_older_caller(&spec, offsetof(tamis_spec, lifetime));
    assert_int_equal(info.plan.lifetime, 16000);
    assert_true(info.plan.abilities & TAMIS_CAN_REMOVE);

    info = made_by_older_caller(&spec, offsetof(tamis_spec, seed));
    assert_int_equal(info.plan.lifetime, 5000);
    assert_false(info.facts.seed.low == 1 && info.facts.seed.high == 2);

    info = made_by_older_caller(&spec, offsetof(tamis_spec, isa));
    assert_true(info.facts.seed.low == 1 && info.facts.seed.high == 2);
    assert_string_equal(info.facts.isa, tamis_isa_name(0));
    assert_string_equal(made_by_older_caller(&spec, sizeof spec).facts.isa, "portable");
}

/* ------------------------------------------------------------------ allocator */

static void spec_allocator_is_both_functions_or_none(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    spec.allocator.alloc = ledger_alloc;
    expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    spec.allocator.alloc = NULL;
    spec.allocator.free = ledger_free;
    expect_refused(&spec, TAMIS_ERR_ARGUMENT);
}

static void spec_allocator_flags_are_the_known_ones(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    spec.allocator_flags = 2;
    expect_refused(&spec, TAMIS_ERR_ARGUMENT);
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    options.allocator_flags = 2;
    assert_int_equal(tamis_read("", 0, &options, &set, NULL), TAMIS_ERR_ARGUMENT);
}

/* Fresh pages, which the system clears when they are touched. */
static void *pages_alloc(void *context, size_t bytes, size_t alignment) {
    (void)context, (void)alignment;
    void *const memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    if (context != NULL && bytes > *(size_t *)context) *(size_t *)context = bytes;
    return memory != MAP_FAILED ? memory : NULL;
}

static void pages_free(void *context, void *memory, size_t bytes) {
    (void)context;
    (void)munmap(memory, bytes);
}

/* Bytes that become resident when a set with a body of 16 MiB or more is made in fresh pages. */
static uint64_t bytes_touched(unsigned flags) {
    size_t     largest = 0;
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *set = NULL;
    spec.capacity = 10000000;
    spec.fpr = 0.001;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.kind = "line";
    spec.allocator = (tamis_allocator){ pages_alloc, pages_free, &largest };
    spec.allocator_flags = flags;
    uint64_t const before = resident_bytes();
    assert_true(before != 0);
    assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_OK);
    uint64_t const after = resident_bytes();
    assert_true(largest >= (size_t)16 << 20);
    assert_int_equal(tamis_add(set, "key", 3), TAMIS_OK);
    assert_true(tamis_has(set, "key", 3));
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
    return after > before ? after - before : 0;
}

static void memory_that_is_zero_already_is_not_touched(void **state) {
    (void)state;
    assert_true(bytes_touched(0) > 12 << 20); /* otherwise this test would prove nothing */
    assert_true(bytes_touched(TAMIS_ALLOCATOR_ZEROED) < 4 << 20);
}

/* A small set, and one that is large enough for huge pages: all memory comes from the allocator and
 * goes back to it. */
static void spec_allocator_gets_every_request_and_everything_back(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    for (spec.capacity = 1000; spec.capacity <= 8000000; spec.capacity *= 8000) {
        ledger     book = { 0 };
        tamis_set *set;
        tamis_info info;
        spec.allocator = ledger_allocator(&book);
        assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_OK);
        assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
        assert_int_equal(info.facts.memory_bytes, book.bytes);
        assert_false(info.facts.is_huge);
        tamis_free(set);
        assert_int_equal(book.blocks, 0);
        assert_int_equal(book.bytes, 0);
    }
}

static void create_says_memory_when_any_request_fails(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    ledger     book = { 0 };
    spec.allocator = ledger_allocator(&book);
    (void)expect_made(&spec);
    size_t const n_requests = book.requests;
    for (size_t i = 0; i < n_requests; i++) {
        book = (ledger){ .fail_at = i + 1 };
        tamis_problem problem = { 0 };
        tamis_set    *set = NO_SET;
        assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_MEMORY);
        assert_ptr_equal(set, NO_SET);
        check_words(&problem, TAMIS_ERR_MEMORY);
        assert_int_equal(book.bytes, 0);
    }
}

/* 2^59 bytes can be addressed, but not allocated. */
static void create_says_memory_when_there_is_not_so_much(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    spec.kind = "bloom";
    spec.geometry = "bits=4611686018427387904,hashes=3"; /* more than 32 bits can address */
    expect_no_set(&spec, SIZE_MAX > UINT32_MAX ? TAMIS_ERR_MEMORY : TAMIS_ERR_LIMIT);
}

/* ------------------------------------------------------------------ like */

/* `like` takes everything from the other set: the fields above it in the spec are not checked. */
static void spec_like_ignores_the_fields_above_it(void **state) {
    (void)state;
    tamis_spec spec = good_spec();
    tamis_set *set;
    tamis_info old;
    assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_OK);
    assert_int_equal(tamis_inspect(set, &old), TAMIS_OK);
    spec = (tamis_spec){ .size = sizeof spec, .fpr = -1, .abilities = ~0u, .like = set };
    spec.kind = "no such kind";
    tamis_info const info = expect_made(&spec);
    assert_memory_equal(&info.facts.seed, &old.facts.seed, sizeof old.facts.seed);
    assert_string_equal(info.plan.kind, old.plan.kind);
    assert_int_equal(info.plan.capacity, old.plan.capacity);
    assert_memory_equal(info.plan.fields, old.plan.fields, sizeof old.plan.fields);
    spec.isa = "no such isa";
    expect_no_set(&spec, TAMIS_ERR_NOT_BUILT);
    tamis_free(set);
}

/* ------------------------------------------------------------------ statuses in words */

static const tamis_status statuses[] = {
    TAMIS_OK,
    TAMIS_ERR_FULL,
    TAMIS_ERR_ABSENT,
    TAMIS_ERR_ARGUMENT,
    TAMIS_ERR_KIND,
    TAMIS_ERR_CANNOT,
    TAMIS_ERR_MISMATCH,
    TAMIS_ERR_READ_ONLY,
    TAMIS_ERR_NOT_BUILT,
    TAMIS_ERR_LIMIT,
    TAMIS_ERR_MEMORY,
    TAMIS_ERR_IO,
    TAMIS_ERR_SPACE,
    TAMIS_ERR_FOREIGN,
    TAMIS_ERR_VERSION,
    TAMIS_ERR_TRUNCATED,
    TAMIS_ERR_CHECKSUM,
    TAMIS_ERR_CORRUPT,
};

/* The new set has the same shape, is at its first stage and can grow. Its seed is the given one, or
 * random. */
static void spec_reseed_takes_the_shape_of_another_set_and_not_its_seed(void **state) {
    (void)state;
    tamis_seed const fixed = { 1, 2 };
    tamis_spec       spec = good_spec();
    tamis_set       *first, *given, *random;
    tamis_facts      facts, other;
    spec.kind = "rank";
    spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_MERGE;
    spec.grow_to = 16 * spec.capacity;
    assert_int_equal(tamis_create(&spec, &first, NULL), TAMIS_OK);
    tamis_spec again = TAMIS_SPEC_INIT;
    again.like = first;
    again.reseed = true;
    assert_int_equal(tamis_create(&again, &random, NULL), TAMIS_OK);
    again.seed = &fixed;
    assert_int_equal(tamis_create(&again, &given, NULL), TAMIS_OK);
    assert_int_equal(tamis_get_facts(first, &facts), TAMIS_OK);
    assert_int_equal(tamis_get_facts(given, &other), TAMIS_OK);
    assert_true(other.seed.low == 1 && other.seed.high == 2);
    assert_true(other.body_bytes == facts.body_bytes && other.grow_to == facts.grow_to);
    assert_int_equal(tamis_get_facts(random, &other), TAMIS_OK);
    assert_true(other.seed.low != facts.seed.low || other.seed.high != facts.seed.high);
    assert_int_equal(tamis_merge(first, random), TAMIS_ERR_MISMATCH);
    for (uint64_t id = 0; id < 4 * spec.capacity; id++)
        assert_int_equal(tamis_add_id(given, id), TAMIS_OK);
    for (uint64_t id = 0; id < 4 * spec.capacity; id++) assert_true(tamis_has_id(given, id));
    tamis_free(first);
    tamis_free(given);
    tamis_free(random);
}

static void status_texts_differ_and_have_no_full_stop(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(statuses); i++) {
        const char *const text = tamis_status_text(statuses[i]);
        assert_non_null(text);
        assert_true(strlen(text) > 2);
        assert_true(text[strlen(text) - 1] != '.');
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(text, tamis_status_text(statuses[j]));
        }
    }
}

static void status_text_of_any_number_is_a_text(void **state) {
    (void)state;
    for (int number = -300; number <= 300; number++) {
        assert_non_null(tamis_status_text((tamis_status)number));
    }
}

static void version_is_that_of_the_header(void **state) {
    (void)state;
    char expected[40];
    (void)snprintf(expected, sizeof expected, "%d.%d.%d", TAMIS_VERSION_MAJOR, TAMIS_VERSION_MINOR,
                   TAMIS_VERSION_PATCH);
    assert_string_equal(tamis_version(), expected);
    assert_string_equal(tamis_version(), MESON_VERSION);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_refuses_a_missing_spec_or_result),
        cmocka_unit_test(plan_kinds_refuses_missing_results),
        cmocka_unit_test(spec_capacity_is_1_to_2_to_40),
        cmocka_unit_test(spec_fpr_is_1e_12_to_a_half),
        cmocka_unit_test(spec_fpr_may_be_0_with_a_geometry),
        cmocka_unit_test(spec_fpr_0_needs_a_geometry_that_says_the_size),
        cmocka_unit_test(a_geometry_that_no_kind_has_is_told),
        cmocka_unit_test(spec_abilities_are_the_known_ones),
        cmocka_unit_test(spec_preference_is_a_known_one),
        cmocka_unit_test(spec_hash_is_a_known_one),
        cmocka_unit_test(spec_siphash_is_made_or_not_built),
        cmocka_unit_test(spec_overflow_is_a_probability_below_1),
        cmocka_unit_test(spec_kind_is_a_known_one),
        cmocka_unit_test(spec_isa_is_one_that_runs_here),
        cmocka_unit_test(spec_isa_without_a_build_is_the_next_lower_one),
        cmocka_unit_test(names_of_kinds_and_instruction_sets_end_with_null),
        cmocka_unit_test(create_says_cannot_when_the_named_kind_lacks_an_ability),
        cmocka_unit_test(spec_size_is_that_of_a_spec),
        cmocka_unit_test(spec_size_is_at_most_4_kib),
        cmocka_unit_test(spec_of_a_newer_caller_is_taken_if_its_new_fields_are_zero),
        cmocka_unit_test(spec_of_an_older_caller_takes_defaults_for_the_rest),
        cmocka_unit_test(spec_allocator_is_both_functions_or_none),
        cmocka_unit_test(spec_allocator_flags_are_the_known_ones),
        cmocka_unit_test(memory_that_is_zero_already_is_not_touched),
        cmocka_unit_test(spec_allocator_gets_every_request_and_everything_back),
        cmocka_unit_test(create_says_memory_when_any_request_fails),
        cmocka_unit_test(create_says_memory_when_there_is_not_so_much),
        cmocka_unit_test(spec_like_ignores_the_fields_above_it),
        cmocka_unit_test(spec_reseed_takes_the_shape_of_another_set_and_not_its_seed),
        cmocka_unit_test(status_texts_differ_and_have_no_full_stop),
        cmocka_unit_test(status_text_of_any_number_is_a_text),
        cmocka_unit_test(version_is_that_of_the_header),
    };
    return unit_run("spec", tests, COUNT(tests));
}
