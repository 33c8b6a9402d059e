/* test_saboteurs.c - the laws notice broken kinds: a check that never fails proves nothing.
 *
 * Each kind here has one function broken, and a law must notice it. Tables with one invariant
 * broken are in tests/kinds/.
 */
#include "sabotage.h"

/* ------------------------------------------------------------------ broken kinds */

static bool forgets_some(const tamis_table *table, uint64_t hash) {
    return hash % 97 != 0 && honest->calls.has(table, hash);
}

static uint64_t forgets_some_in_chunks(const tamis_table *table, const uint64_t *hash, unsigned n) {
    uint64_t const found = honest->calls.has_chunk(table, hash, n);
    return n > 5 ? found & ~UINT64_C(32) : found;
}

static tamis_status refuses_too_late(tamis_table *table, uint64_t hash) {
    if (table->keys < 2100) return honest->calls.add(table, hash);
    table->body[0] ^= 1;
    return TAMIS_ERR_FULL;
}

static tamis_status refuses_too_early(tamis_table *table, uint64_t hash) {
    return table->keys < 1500 ? honest->calls.add(table, hash) : TAMIS_ERR_FULL;
}

static tamis_status removes_anything(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.remove(table, hash);
    return hash % 16 == 0 ? TAMIS_OK : status;
}

static tamis_status touches_when_refusing(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.remove(table, hash);
    if (status == TAMIS_ERR_ABSENT) table->body[hash % table->body_bytes] ^= 4;
    return status;
}

/* Decreases a stuck counter: the classic bug. */
static tamis_status unsticks(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.remove(table, hash);
    uint64_t const     place = fastrange(remix(hash, 0), table->geometry[0]);
    unsigned const     shift = place % 2 * 4;
    if (((table->body[place / 2] >> shift) & 15) == 15) {
        table->body[place / 2] = (uint8_t)(table->body[place / 2] & ~(15u << shift));
    }
    return status;
}

static tamis_status leaves_dirt(tamis_table *table, uint64_t hash) {
    table->body[table->body_bytes - 1] = 1;
    return honest->calls.remove(table, hash);
}

static unsigned adds_unlike_single(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const taken = honest->calls.add_chunk(table, hash, n);
    if (n == 7) table->keys++;
    return taken;
}

static uint64_t removes_unlike_single(tamis_table *table, const uint64_t *hash, unsigned n,
                                      uint64_t *ret_saturated) {
    return honest->calls.remove_chunk(table, hash, n, ret_saturated) ^ (n == 63 ? 1u : 0u);
}

static tamis_status merges_half(tamis_table *into, const tamis_table *from) {
    tamis_status const status = honest->merge(into, from);
    memset(into->body, 0, into->body_bytes / 8);
    return status;
}

static void convert_and_damage(const tamis_table *from, tamis_table *to) {
    honest->conversion->convert(from, to);
    memset(to->body, 0xff, to->body_bytes / 8);
}

static bool converts_geometry(const uint64_t *geometry, uint64_t *ret_geometry) {
    return honest->conversion->geometry(geometry, ret_geometry);
}

/* An array, so that its name is a pointer (SABOTEUR makes the name of a test from it). */
static const kind_conversion converts_wrongly[] = { { "bloom", converts_geometry,
                                                      convert_and_damage } };

static bool never_valid(const tamis_table *table, const char **reterr_why) {
    (void)table;
    *reterr_why = "I0: sabotaged";
    return false;
}

/* Its counts differ from those of the correct kind on other instruction sets. */
static tamis_status differs_by_isa(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.add(table, hash);
    table->keys += 2;
    return status;
}

static tamis_status counts_every_add(tamis_table *table, uint64_t hash) {
    uint64_t const     keys = table->keys;
    tamis_status const status = honest->calls.add(table, hash);
    if (status == TAMIS_OK) table->keys = keys + 1;
    return status;
}

static const saboteur saboteurs[] = {
    SABOTEUR("no_false_negative_under_churn", NULL, calls.has, forgets_some),
    SABOTEUR("batch_equals_single", NULL, calls.has_chunk, forgets_some_in_chunks),
    SABOTEUR("no_false_negative_under_churn", NULL, calls.has_chunk, forgets_some_in_chunks),
    SABOTEUR("refused_adds_change_nothing", NULL, calls.add, refuses_too_late),
    SABOTEUR("refused_adds_change_nothing", NULL, calls.add, refuses_too_early),
    SABOTEUR("refused_removes_change_nothing", NULL, calls.remove, removes_anything),
    SABOTEUR("removals_of_absent_keys_keep_the_table_valid", NULL, calls.remove, removes_anything),
    SABOTEUR("refused_removes_change_nothing", NULL, calls.remove, touches_when_refusing),
    SABOTEUR("floods_harm_no_other_key", NULL, calls.remove, unsticks),
    SABOTEUR("emptying_restores_every_byte", NULL, calls.remove, leaves_dirt),
    SABOTEUR("batch_equals_single", NULL, calls.add_chunk, adds_unlike_single),
    SABOTEUR("batch_equals_single", NULL, calls.remove_chunk, removes_unlike_single),
    SABOTEUR("no_false_negative_under_churn", NULL, calls.count, counts_too_few),
    SABOTEUR("merges_hold_both", NULL, merge, merges_half),
    SABOTEUR("conversions_answer_alike", NULL, conversion, converts_wrongly),
    SABOTEUR("error_rate_is_as_predicted", NULL, survey, flatters_itself),
    SABOTEUR("no_false_negative_under_churn", NULL, validate, never_valid),
    SABOTEUR("same_bytes_on_every_isa", NULL, calls.add, differs_by_isa),
    SABOTEUR("keys_and_bytes_are_counted_exactly", NULL, calls.add, differs_by_isa),
    SABOTEUR("adds_that_change_nothing_are_not_counted", NULL, calls.add, counts_every_add),
};

/* ------------------------------------------------------------------ a kind that fills up */

/* A correct toy kind that gets full after TOY_ROOM keys, so that the laws see refusals often. Its
 * merge adds all keys or none. It cannot remove if its geometry says so. */
#define TOY_ROOM 2100

static tamis_status toy_add(tamis_table *table, uint64_t hash) {
    bool const is_copy = honest->calls.has(table, hash);
    return table->keys < TOY_ROOM || is_copy ? honest->calls.add(table, hash) : TAMIS_ERR_FULL;
}

static tamis_status toy_merge(tamis_table *into, const tamis_table *from) {
    return into->keys + from->keys <= TOY_ROOM ? honest->merge(into, from) : TAMIS_ERR_FULL;
}

static unsigned toy_lacks(const uint64_t *geometry) {
    return geometry[1] == 1 ? TAMIS_CAN_REMOVE : 0;
}

static tamis_kind toy_kind(void) {
    tamis_kind toy = *honest;
    toy.calls.add = toy_add;
    toy.calls.add_chunk = NULL;
    toy.merge = toy_merge;
    toy.lacks = toy_lacks;
    return toy;
}

static subject toy_subject(const tamis_kind *toy) {
    return (subject){
        .kind = "counting", .capacity = 2000, .fpr = 0.01, .operations = 50000, .instead = toy
    };
}

static void every_law_holds_for_a_kind_that_fills_up(void **state) {
    (void)state;
    tamis_kind const toy = toy_kind();
    subject const    variant = toy_subject(&toy);
    for (const named_law *at = set_laws; at->name != NULL; at++) {
        bool const        is_by_isa = strcmp(at->name, "same_bytes_on_every_isa") == 0;
        const char *const why =
            is_by_isa ? NULL : at->holds(&variant); /* the others do not fill up */
        if (why != NULL) fail_msg("%s: %s", at->name, why);
    }
}

static void a_batch_stops_where_it_is_refused(void **state) {
    (void)state;
    tamis_kind const toy = toy_kind();
    subject const    variant = toy_subject(&toy);
    tamis_set *const set = make_set(&variant, 1);
    uint64_t         keys[3000];
    size_t           added = 0;
    for (uint64_t i = 0; i < 3000; i++) keys[i] = i;
    assert_int_equal(tamis_add_id_batch(set, keys, 3000, &added), TAMIS_ERR_FULL);
    assert_in_range(added, TOY_ROOM, TOY_ROOM + 60); /* some matched, and needed no room */
    assert_int_equal(set->table.refused_adds, 1);
    assert_int_equal(tamis_add_id(set, keys[added]), TAMIS_ERR_FULL);
    assert_int_equal(set->table.refused_adds, 2);
    assert_int_equal(tamis_has_id_batch(set, keys, added, NULL), added);
    tamis_free(set);
}

static void a_merge_that_does_not_fit_changes_nothing(void **state) {
    (void)state;
    tamis_kind const toy = toy_kind();
    subject const    variant = toy_subject(&toy);
    tamis_set *const a = make_set(&variant, 1), *const b = make_set(&variant, 1);
    tamis_set *before = NULL;
    for (uint64_t i = 0; i < 1500; i++) {
        assert_int_equal(tamis_add_id(a, i), TAMIS_OK);
        assert_int_equal(tamis_add_id(b, i + 1500), TAMIS_OK);
    }
    assert_int_equal(tamis_copy(a, &before), TAMIS_OK);
    assert_int_equal(tamis_merge(a, b), TAMIS_ERR_FULL);
    assert_memory_equal(a->table.body, before->table.body, a->table.body_bytes);
    assert_int_equal(a->table.keys, before->table.keys);
    tamis_free(a);
    tamis_free(b);
    tamis_free(before);
}

static void a_geometry_may_take_abilities_away(void **state) {
    (void)state;
    tamis_kind const toy = toy_kind();
    uint64_t const   one[TAMIS_MAX_FIELDS] = { 100, 1, 4 }, two[TAMIS_MAX_FIELDS] = { 100, 2, 4 };
    assert_int_equal(tamis_kind_abilities(&toy, one), TAMIS_CAN_COUNT | TAMIS_CAN_MERGE);
    assert_int_equal(tamis_kind_abilities(&toy, two),
                     TAMIS_CAN_COUNT | TAMIS_CAN_MERGE | TAMIS_CAN_REMOVE);
}

int main(void) {
    static const subject variant = {
        .kind = "counting", .capacity = 2000, .fpr = 0.01, .operations = 50000
    };
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_law_holds_for_a_kind_that_fills_up),
        cmocka_unit_test(a_batch_stops_where_it_is_refused),
        cmocka_unit_test(a_merge_that_does_not_fit_changes_nothing),
        cmocka_unit_test(a_geometry_may_take_abilities_away),
    };
    return sabotage_run(&variant, saboteurs, COUNT(saboteurs), tests, COUNT(tests));
}
