/* test_header.c - the public header in other people's programs: alone, twice, as C99 and as C++11.
 *
 * Compiled with -pedantic and warnings as errors, once as this file and once as test_header.cpp,
 * which is this file too. No cmocka and no unit.h, so that no other header hides a missing
 * #include.
 */
#include <tamis/tamis.h>

#include <stdio.h>
#include <string.h>

static unsigned n_cases, n_failed;

static void check(bool holds, const char *name) {
    printf("%sok %u - %s\n", holds ? "" : "not ", ++n_cases, name);
    if (!holds) n_failed++;
}

/* ------------------------------------------------------------------ initial values */

static bool spec_init_sets_the_documented_defaults(void) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    return spec.size == sizeof spec && spec.capacity == 0 && !(spec.fpr > 0) &&
           spec.abilities == 0 && spec.copies == 0 && spec.count_to == 0 && spec.memory == 0 &&
           spec.prefer == TAMIS_PREFER_FAST && spec.kind == NULL && spec.geometry == NULL &&
           spec.lifetime == 0 && !(spec.overflow > 0) && spec.seed == NULL &&
           spec.hash == TAMIS_HASH_DEFAULT && spec.like == NULL && spec.allocator.alloc == NULL &&
           spec.allocator.free == NULL && spec.allocator.context == NULL && spec.isa == NULL;
}

static bool open_options_init_sets_the_documented_defaults(void) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    return options.size == sizeof options && options.flags == 0 && options.isa == NULL &&
           options.allocator.alloc == NULL && options.allocator.free == NULL &&
           options.allocator.context == NULL;
}

/* ------------------------------------------------------------------ what is frozen */

static bool statuses_have_their_frozen_values(void) {
    return TAMIS_OK == 0 && TAMIS_ERR_FULL == -1 && TAMIS_ERR_ABSENT == -2 &&
           TAMIS_ERR_SATURATED == -5 && TAMIS_ERR_REENTRY == -17 && TAMIS_ERR_ARGUMENT == -10 &&
           TAMIS_ERR_KIND == -11 && TAMIS_ERR_CANNOT == -12 && TAMIS_ERR_MISMATCH == -13 &&
           TAMIS_ERR_READ_ONLY == -14 && TAMIS_ERR_NOT_BUILT == -15 && TAMIS_ERR_LIMIT == -16 &&
           TAMIS_ERR_MEMORY == -30 && TAMIS_ERR_IO == -31 && TAMIS_ERR_SPACE == -32 &&
           TAMIS_ERR_FOREIGN == -50 && TAMIS_ERR_VERSION == -51 && TAMIS_ERR_TRUNCATED == -52 &&
           TAMIS_ERR_CHECKSUM == -53 && TAMIS_ERR_CORRUPT == -54;
}

/* The numbers of abilities and hash functions are written into specs and files. */
static bool numbers_of_choices_have_their_frozen_values(void) {
    return TAMIS_CAN_REMOVE == 1 && TAMIS_CAN_COUNT == 2 && TAMIS_CAN_MERGE == 4 &&
           TAMIS_PREFER_FAST == 0 && TAMIS_PREFER_SMALL == 1 && TAMIS_HASH_DEFAULT == 0 &&
           TAMIS_HASH_XXH3 == 1 && TAMIS_HASH_SIPHASH == 2 && TAMIS_OPEN_MAP == 1 &&
           TAMIS_OPEN_TRUST == 2;
}

/* ------------------------------------------------------------------ a first program */

static bool use(tamis_set *set) {
    uint64_t count = 0;
    bool     works = tamis_add(set, "apple", 5) == TAMIS_OK && tamis_has(set, "apple", 5);
    works = works && tamis_count(set, "apple", 5, &count) == TAMIS_OK && count == 1;
    works = works && tamis_remove(set, "apple", 5) == TAMIS_OK && !tamis_has(set, "apple", 5);
    works = works && tamis_remove(set, "apple", 5) == TAMIS_ERR_ABSENT;
    return works && tamis_validate(set, NULL);
}

static bool a_set_can_be_made_and_used(void) {
    tamis_spec    spec = TAMIS_SPEC_INIT;
    tamis_problem problem;
    tamis_set    *set = NULL;
    spec.capacity = 1000;
    spec.fpr = 0.001;
    spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    if (tamis_create(&spec, &set, &problem) != TAMIS_OK) return false;
    bool const works = use(set);
    tamis_free(set);
    return works;
}

static bool version_agrees_with_the_library(void) {
    char expected[40];
    (void)snprintf(expected, sizeof expected, "%d.%d.%d", TAMIS_VERSION_MAJOR, TAMIS_VERSION_MINOR,
                   TAMIS_VERSION_PATCH);
    return strcmp(expected, tamis_version()) == 0;
}

int main(void) {
    check(spec_init_sets_the_documented_defaults(), "spec_init_sets_the_documented_defaults");
    check(open_options_init_sets_the_documented_defaults(),
          "open_options_init_sets_the_documented_defaults");
    check(statuses_have_their_frozen_values(), "statuses_have_their_frozen_values");
    check(numbers_of_choices_have_their_frozen_values(),
          "numbers_of_choices_have_their_frozen_values");
    check(a_set_can_be_made_and_used(), "a_set_can_be_made_and_used");
    check(version_agrees_with_the_library(), "version_agrees_with_the_library");
    printf("1..%u\n", n_cases);
    return n_failed != 0;
}
