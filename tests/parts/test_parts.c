/* test_parts.c - parts of a set: which keys they own, and what they do with others.
 *
 * The oracle is a whole set with the same geometry that gets the remaining bits of each hash: a
 * part must be equal to that set, bit by bit.
 */
#include "buffer.h"
#include "expect.h"
#include "make.h"

#include "handle.h"

#define PARTS 8u
#define BITS 3u
#define KEYS 20000u
#define OTHERS 200000u

static tamis_spec part_spec(const char *kind, const tamis_seed *seed, uint32_t part) {
    tamis_spec        spec = TAMIS_SPEC_INIT;
    const tamis_kind *found = NULL;
    assert_int_equal(tamis_kind_find(kind, NULL, &found), TAMIS_OK);
    spec.kind = kind;
    spec.abilities = found->calls.remove != NULL ? TAMIS_CAN_REMOVE : 0;
    spec.capacity = KEYS / PARTS + 300;
    spec.fpr = 0.01;
    spec.seed = seed;
    spec.part = part;
    spec.parts = PARTS;
    return spec;
}

/* Every part of a set with KEYS ids. */
typedef struct parts {
    tamis_set *part[PARTS];
} parts;

static parts make_parts(const char *kind, uint64_t seed_number) {
    tamis_seed const seed = make_seed(seed_number);
    parts            made;
    for (uint32_t i = 0; i < PARTS; i++) {
        tamis_spec const spec = part_spec(kind, &seed, i);
        made.part[i] = make_set_from(&spec);
    }
    for (uint64_t id = 0; id < KEYS; id++) {
        uint64_t const hash = tamis_hash_id(made.part[0], id);
        assert_int_equal(tamis_add_id(made.part[hash >> (64 - BITS)], id), TAMIS_OK);
    }
    return made;
}

static void free_parts(parts *made) {
    for (uint32_t i = 0; i < PARTS; i++) tamis_free(made->part[i]);
}

/* ------------------------------------------------------------------ who owns a key */

static void the_first_bits_of_a_hash_choose_the_part(void **state) {
    (void)state;
    dice chance = dice_start();
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t const hash = dice_roll(&chance);
        assert_int_equal(tamis_part_of_hash(hash, 1), 0);
        for (unsigned bits = 1; bits <= 16; bits++) {
            assert_int_equal(tamis_part_of_hash(hash, 1u << bits), hash >> (64 - bits));
        }
    }
    tamis_seed const seed = make_seed(1);
    tamis_spec const spec = part_spec("line", &seed, 5);
    tamis_set *const set = make_set_from(&spec);
    assert_int_equal(tamis_part_of_key(set, "apple", 5, 4096),
                     tamis_hash_key(set, "apple", 5) >> 52);
    tamis_free(set);
}

/* All parts together answer as one set: each key is in its part, and in no other. */
static void a_key_is_in_its_part_alone(void **state) {
    parts made = make_parts(*state, 2);
    for (uint64_t id = 0; id < KEYS; id++) {
        uint32_t const own = tamis_part_of_hash(tamis_hash_id(made.part[0], id), PARTS);
        for (uint32_t i = 0; i < PARTS; i++)
            assert_int_equal(tamis_has_id(made.part[i], id), i == own);
    }
    free_parts(&made);
}

/* A part is the set that gets what is left of the hashes: same bytes, so same answers and rates. */
static void a_part_is_a_set_of_the_rest_of_hashes(void **state) {
    parts      made = make_parts(*state, 3);
    tamis_set *first = made.part[0];
    for (uint32_t i = 0; i < PARTS; i++) {
        tamis_seed const seed = make_seed(3);
        tamis_spec       spec = part_spec(*state, &seed, i);
        spec.part = spec.parts = 0;
        tamis_set *const whole = make_set_from(&spec);
        for (uint64_t id = 0; id < KEYS; id++) {
            uint64_t const hash = tamis_hash_id(first, id);
            if (hash >> (64 - BITS) != i) continue;
            assert_int_equal(tamis_add_hash(whole, hash << BITS), TAMIS_OK);
        }
        assert_int_equal(whole->table.body_bytes, made.part[i]->table.body_bytes);
        assert_memory_equal(whole->table.body, made.part[i]->table.body, whole->table.body_bytes);
        tamis_free(whole);
    }
    free_parts(&made);
}

/* At most six sigma above the rate that the parts predict, for absent keys that are looked up in
 * their own part. */
static void parts_keep_the_rate(void **state) {
    parts    made = make_parts(*state, 4);
    uint64_t found = 0;
    double   predicted = 0;
    for (uint64_t id = KEYS; id < KEYS + OTHERS; id++) {
        uint32_t const own = tamis_part_of_hash(tamis_hash_id(made.part[0], id), PARTS);
        found += tamis_has_id(made.part[own], id);
    }
    for (uint32_t i = 0; i < PARTS; i++) predicted += inspect(made.part[i]).current_fpr / PARTS;
    double const expected = predicted * OTHERS, sigma = sqrt(expected);
    assert_true((double)found < expected + 6 * sigma);
    assert_true((double)found > expected - 6 * sigma);
    free_parts(&made);
}

/* ------------------------------------------------------------------ keys of other parts */

static uint64_t id_of_part(const tamis_set *set, uint32_t part, uint64_t from) {
    while (tamis_part_of_hash(tamis_hash_id(set, from), PARTS) != part) from++;
    return from;
}

static void a_key_of_another_part_changes_nothing(void **state) {
    parts            made = make_parts(*state, 5);
    tamis_set *const set = made.part[3];
    uint64_t const   id = id_of_part(set, 4, 0), hash = tamis_hash_id(set, id);
    bool             is_new = false;
    size_t const     bytes = (size_t)set->table.body_bytes;
    uint8_t *const   before = malloc(bytes);
    uint64_t         count = 7;
    assert_non_null(before);
    memcpy(before, set->table.body, bytes);
    assert_int_equal(tamis_add_id(set, id), TAMIS_ERR_PART);
    assert_int_equal(tamis_add_hash(set, hash), TAMIS_ERR_PART);
    assert_int_equal(tamis_add_copies_id(set, id, 3), TAMIS_ERR_PART);
    assert_int_equal(tamis_add_new_id(set, id, &is_new), TAMIS_ERR_PART);
    assert_false(tamis_has_id(set, id));
    assert_false(tamis_has_hash(set, hash));
    if ((set->abilities & TAMIS_CAN_REMOVE) != 0)
        assert_int_equal(tamis_remove_id(set, id), TAMIS_ERR_ABSENT);
    if ((set->abilities & TAMIS_CAN_COUNT) != 0) {
        assert_int_equal(tamis_count_id(set, id, &count), TAMIS_OK);
        assert_int_equal(count, 0);
    }
    tamis_fetch_id(set, id);
    assert_memory_equal(before, set->table.body, bytes);
    assert_int_equal(set->table.refused_adds, 0);
    free(before);
    free_parts(&made);
}

/* Batches with keys of all parts have the same results as single calls. */
static void batches_say_the_same(void **state) {
    parts            made = make_parts(*state, 6);
    tamis_set *const set = made.part[2];
    static uint64_t  ids[3000], counts[3000];
    static bool      answers[3000];
    size_t           added = 0, owned = 0;
    for (size_t i = 0; i < COUNT(ids); i++) ids[i] = i;
    size_t const found = tamis_has_id_batch(set, ids, COUNT(ids), answers);
    for (size_t i = 0; i < COUNT(ids); i++) {
        bool const owns = tamis_part_of_hash(tamis_hash_id(set, i), PARTS) == 2;
        assert_int_equal(answers[i], owns);
        owned += owns;
    }
    assert_int_equal(found, owned);
    if ((set->abilities & TAMIS_CAN_COUNT) != 0) {
        assert_int_equal(tamis_count_id_batch(set, ids, COUNT(ids), counts), TAMIS_OK);
        for (size_t i = 0; i < COUNT(ids); i++) assert_int_equal(counts[i] != 0, answers[i]);
    }
    /* 70 new keys of this part, one of another, and more */
    uint64_t at = KEYS;
    for (size_t i = 0; i < 100; i++) {
        ids[i] = id_of_part(set, i == 70 ? 6 : 2, at);
        at = ids[i] + 1;
    }
    assert_int_equal(tamis_add_id_batch(set, ids, 100, &added), TAMIS_ERR_PART);
    assert_int_equal(added, 70);
    assert_int_equal(tamis_add_new_id_batch(set, ids, 100, NULL, &added), TAMIS_ERR_PART);
    assert_int_equal(added, 70);
    assert_int_equal(tamis_add_id_balanced(set, ids + 71, 29, &added), TAMIS_OK);
    assert_int_equal(tamis_has_id_batch(set, ids, 100, NULL), 99);
    if ((set->abilities & TAMIS_CAN_REMOVE) != 0) {
        tamis_removal removal;
        assert_int_equal(tamis_remove_id_batch(set, ids, 100, answers, &removal), TAMIS_OK);
        assert_int_equal(removal.absent, 1);
        assert_false(answers[70]);
    }
    free_parts(&made);
}

/* ------------------------------------------------------------------ specs */

static void impossible_parts_are_refused(void **state) {
    (void)state;
    static const uint32_t wrong[][2] = { { 0, 3 },       { 1, 0 }, { 2, 2 },
                                         { 0, 1 << 17 }, { 8, 8 }, { 5, 6 } };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tamis_spec spec = good_spec();
        spec.part = wrong[i][0];
        spec.parts = wrong[i][1];
        expect_no_set(&spec, TAMIS_ERR_ARGUMENT);
    }
    tamis_spec spec = good_spec(); /* 30 bits of keys, 30 of rate, and 16 for the part: too many */
    spec.parts = 1 << 16;
    spec.capacity = UINT64_C(1) << 30;
    spec.fpr = 1e-9;
    expect_no_set(&spec, TAMIS_ERR_CANNOT);
    spec.kind = "bloom";
    expect_no_set(&spec, TAMIS_ERR_CANNOT);
}

/* Part 0 of 1 is a whole set, except that it is called a part. */
static void one_part_of_one_owns_all(void **state) {
    tamis_seed const seed = make_seed(7);
    tamis_spec       spec = part_spec(*state, &seed, 0);
    spec.parts = 1;
    tamis_set *const part = make_set_from(&spec);
    spec.parts = 0;
    tamis_set *const whole = make_set_from(&spec);
    add_ids(part, 0, 2000);
    add_ids(whole, 0, 2000);
    assert_memory_equal(part->table.body, whole->table.body, whole->table.body_bytes);
    assert_int_equal(tamis_is_alike(part, whole), false);
    tamis_free(part);
    tamis_free(whole);
}

/* `like` gives the same part, or another one of the same set. */
static void like_makes_the_same_part_or_another(void **state) {
    parts       made = make_parts(*state, 8);
    tamis_spec  spec = TAMIS_SPEC_INIT;
    tamis_facts facts;
    spec.like = made.part[6];
    tamis_set *const same = make_set_from(&spec);
    assert_int_equal(tamis_get_facts(same, &facts), TAMIS_OK);
    assert_int_equal(facts.part, 6);
    assert_int_equal(facts.parts, PARTS);
    if ((facts.abilities & TAMIS_CAN_MERGE) != 0) {
        assert_int_equal(tamis_merge(same, made.part[6]), TAMIS_OK);
        assert_int_equal(tamis_merge(same, made.part[5]), TAMIS_ERR_MISMATCH);
    }
    spec.part = 1;
    spec.parts = PARTS;
    tamis_set *const other = make_set_from(&spec);
    uint64_t const   id = id_of_part(other, 1, 0);
    assert_int_equal(tamis_add_id(other, id), TAMIS_OK);
    assert_int_equal(tamis_add_id(same, id), TAMIS_ERR_PART);
    tamis_free(same);
    tamis_free(other);
    free_parts(&made);
}

/* Threads that share a part get the same refusals, also in sets that grow. */
static void shared_parts_refuse_others(void **state) {
    (void)state;
    tamis_seed const seed = make_seed(9);
    tamis_spec       spec = part_spec("line", &seed, 3);
    bool             is_new = false;
    spec.shared = true;
    spec.capacity = 2000;
    spec.grow_to = 16000;
    tamis_set *const set = make_set_from(&spec);
    for (uint64_t id = 0; id < 100000; id++) {
        bool const         owns = tamis_part_of_hash(tamis_hash_id(set, id), PARTS) == 3;
        tamis_status const status =
            id % 2 == 0 ? tamis_add_id(set, id) : tamis_add_new_id(set, id, &is_new);
        assert_int_equal(status, owns ? TAMIS_OK : TAMIS_ERR_PART);
    }
    for (uint64_t id = 0; id < 100000; id++) {
        bool const owns = tamis_part_of_hash(tamis_hash_id(set, id), PARTS) == 3;
        assert_int_equal(tamis_has_id(set, id), owns);
    }
    tamis_free(set);
}

int main(void) {
    static const struct CMUnitTest of_kinds[] = {
        cmocka_unit_test(a_key_is_in_its_part_alone),
        cmocka_unit_test(a_part_is_a_set_of_the_rest_of_hashes),
        cmocka_unit_test(parts_keep_the_rate),
        cmocka_unit_test(a_key_of_another_part_changes_nothing),
        cmocka_unit_test(batches_say_the_same),
        cmocka_unit_test(one_part_of_one_owns_all),
        cmocka_unit_test(like_makes_the_same_part_or_another),
    };
    static char       names[256][120];
    struct CMUnitTest all[256] = {
        cmocka_unit_test(the_first_bits_of_a_hash_choose_the_part),
        cmocka_unit_test(impossible_parts_are_refused),
        cmocka_unit_test(shared_parts_refuse_others),
    };
    size_t n = 3;
    for (size_t k = 0; tamis_kind_name(k) != NULL; k++) {
        if (tamis_kind_at(k) == NULL) continue;
        for (size_t t = 0; t < COUNT(of_kinds); t++, n++) {
            (void)snprintf(names[n], sizeof names[n], "%s: %s", tamis_kind_at(k)->name,
                           of_kinds[t].name);
            all[n] = unit_named(names[n], of_kinds[t].test_func,
                                (void *)(uintptr_t)tamis_kind_at(k)->name);
        }
    }
    return unit_run("parts", all, n);
}
