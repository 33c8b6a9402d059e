/* test_part_files.c - parts that are copied, saved, mapped, sent, resized; and damaged files. */
#include "buffer.h"
#include "make.h"
#include "temporary.h"

#include "core/le.h"
#include "file.h"
#include "grow.h"
#include "part.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define PART 5u
#define PARTS 8u

static tamis_set *make_part(const char *kind, uint64_t grow_to) {
    tamis_seed const seed = make_seed(1);
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.kind = kind;
    spec.capacity = 6000;
    spec.grow_to = grow_to;
    spec.fpr = 0.001;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.seed = &seed;
    spec.part = PART;
    spec.parts = PARTS;
    return make_set_from(&spec);
}

/* Add the ids below `n` that belong to the part. */
static void fill(tamis_set *set, uint64_t n) {
    for (uint64_t id = 0; id < n; id++) {
        bool const owns = tamis_part_of_hash(tamis_hash_id(set, id), PARTS) == PART;
        assert_int_equal(tamis_add_id(set, id), owns ? TAMIS_OK : TAMIS_ERR_PART);
    }
}

/* The set is the same part with the same bytes, and refuses keys of other parts. */
static void expect_part(tamis_set *set, const buffer *file, uint64_t n) {
    buffer const again = buffer_of(set);
    tamis_facts  facts;
    assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
    assert_int_equal(facts.part, PART);
    assert_int_equal(facts.parts, PARTS);
    buffer_expect_equal(&again, file);
    for (uint64_t id = 0; id < n; id++) {
        bool const owns = tamis_part_of_hash(tamis_hash_id(set, id), PARTS) == PART;
        assert_int_equal(tamis_has_id(set, id), owns);
    }
    free(again.bytes);
}

/* Copies, and files that are read and mapped, are the same part byte by byte; also in a step of
 * growing. */
static void check_life(tamis_set *set, uint64_t n) {
    temporary const    saved = temporary_file();
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *again = NULL;
    buffer const       file = buffer_of(set);
    assert_int_equal(tamis_copy(set, &again), TAMIS_OK);
    expect_part(again, &file, n);
    tamis_free(again);
    assert_int_equal(tamis_read(file.bytes, file.n, NULL, &again, NULL), TAMIS_OK);
    expect_part(again, &file, n);
    tamis_free(again);
    assert_int_equal(tamis_save(set, saved.path, NULL), TAMIS_OK);
    options.flags = TAMIS_OPEN_MAP;
    assert_int_equal(tamis_open(saved.path, &options, &again, NULL), TAMIS_OK);
    expect_part(again, &file, n);
    assert_int_equal(tamis_add_id(again, 0), TAMIS_ERR_READ_ONLY);
    tamis_free(again);
    free(file.bytes);
    temporary_remove(&saved);
}

static void a_part_is_kept_by_copies_and_files(void **state) {
    tamis_set *const set = make_part(*state, 0);
    fill(set, 40000);
    check_life(set, 40000);
    tamis_free(set);
}

static void a_growing_part_is_kept_at_every_moment(void **state) {
    tamis_set *const set = make_part(*state, 48000);
    unsigned         moments = 0;
    uint64_t         id = 0;
    while (set->growth->stage < 2) {
        uint64_t const moved = set->growth->moved;
        bool const     owns = tamis_part_of_hash(tamis_hash_id(set, id), PARTS) == PART;
        assert_int_equal(tamis_add_id(set, id++), owns ? TAMIS_OK : TAMIS_ERR_PART);
        if (set->growth->moved == moved || moments > 3) continue;
        check_life(set, id);
        moments++;
    }
    assert_true(moments > 2);
    uint64_t capacity;
    assert_int_equal(tamis_resize(set, 48000, &capacity), TAMIS_OK);
    check_life(set, id);
    tamis_free(set);
}

static void a_part_is_sent_as_one(void **state) {
    tamis_set *const set = make_part(*state, 24000);
    tamis_problem    problem;
    fill(set, 40000);
    buffer const sent = buffer_sent(set, TAMIS_SEND_COPIES);
    tamis_set   *again = buffer_receive(&sent, NULL);
    assert_int_equal(part_of_set(again).part, PART);
    for (uint64_t id = 0; id < 40000; id++)
        assert_int_equal(tamis_has_id(again, id), tamis_has_id(set, id));
    tamis_free(again);
    tamis_spec spec = TAMIS_SPEC_INIT; /* it cannot become another part */
    spec.part = 1;
    spec.parts = PARTS;
    assert_int_equal(tamis_receive(sent.bytes, sent.n, &spec, &again, &problem),
                     TAMIS_ERR_MISMATCH);
    free(sent.bytes);
    tamis_free(set);
}

/* ------------------------------------------------------------------ damage */

static void expect_header(const buffer *file, uint32_t required, uint32_t part, uint32_t parts,
                          tamis_status status) {
    uint8_t *const bytes = malloc(file->n);
    tamis_set     *set = NULL;
    assert_non_null(bytes);
    memcpy(bytes, file->bytes, file->n);
    le32_store(bytes + AT_REQUIRED, required);
    le32_store(bytes + AT_PART_INDEX, part);
    le32_store(bytes + AT_PART_COUNT, parts);
    le64_store(bytes + AT_CHECKSUM, XXH3_64bits(bytes, AT_CHECKSUM));
    assert_int_equal(tamis_read(bytes, file->n, NULL, &set, NULL), status);
    assert_null(set);
    free(bytes);
}

static void impossible_parts_of_files_are_refused(void **state) {
    tamis_set *const set = make_part(*state, 0);
    buffer const     file = buffer_of(set);
    expect_header(&file, NEEDS_PART, 8, 8, TAMIS_ERR_CORRUPT);
    expect_header(&file, NEEDS_PART, 0, 0, TAMIS_ERR_CORRUPT);
    expect_header(&file, NEEDS_PART, 1, 7, TAMIS_ERR_CORRUPT);
    expect_header(&file, NEEDS_PART, 1, 1u << 17, TAMIS_ERR_CORRUPT);
    expect_header(&file, 0, PART, PARTS, TAMIS_ERR_CORRUPT); /* reserved bytes of a whole set */
    expect_header(&file, 8, PART, PARTS, TAMIS_ERR_VERSION);
    /* the total checksum covers these fields, too */
    expect_header(&file, NEEDS_PART, 4, 8, TAMIS_ERR_CHECKSUM);
    free(file.bytes);
    tamis_free(set);
}

int main(void) {
    static char              kinds[2][8] = { "line", "rank" };
    static char              names[16][100];
    static struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_kept_by_copies_and_files),
        cmocka_unit_test(a_growing_part_is_kept_at_every_moment),
        cmocka_unit_test(a_part_is_sent_as_one),
        cmocka_unit_test(impossible_parts_of_files_are_refused),
    };
    struct CMUnitTest all[16];
    size_t            n = 0;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        for (size_t t = 0; t < COUNT(tests); t++, n++) {
            (void)snprintf(names[n], sizeof names[n], "%s: %s", kinds[k], tests[t].name);
            all[n] = unit_named(names[n], tests[t].test_func, kinds[k]);
        }
    }
    return unit_run("part_files", all, n);
}
