/* test_copies.c - copies of keys in the kinds that store fingerprints, `line` and `rank`: as many
 * as are planned for find room, are counted, and can be removed.
 */
#include "make.h"
#include "subject.h"

static const char *const kinds[] = { "line", "rank" };

#define REMOVED TAMIS_CAN_REMOVE
#define COUNTED (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)

typedef struct wish {
    uint64_t capacity, copies, count_to;
    double   fpr;
    unsigned abilities;
} wish;

static tamis_set *make(const char *kind, const wish *wanted) {
    tamis_seed const seed = { 5, 6 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.capacity = wanted->capacity;
    spec.copies = wanted->copies;
    spec.count_to = wanted->count_to;
    spec.fpr = wanted->fpr;
    spec.abilities = wanted->abilities;
    spec.prefer = TAMIS_PREFER_SMALL;
    spec.kind = kind;
    spec.seed = &seed;
    return make_set_from(&spec);
}

/* ------------------------------------------------------------------ room */

/* Cases that were refused in earlier versions: every key twice, and with counts five times. With a
 * high fpr, where many keys share a fingerprint; and with so many copies that no kind has entries
 * for them. */
static const wish wishes[] = {
    { 300000, 2, 0, .01, REMOVED }, { 33000, 5, 0, .01, REMOVED }, { 33000, 0, 0, .01, COUNTED },
    { 20000, 2, 0, .3, REMOVED },   { 5000, 40, 0, .1, REMOVED },  { 700, 300, 1000, .01, COUNTED },
    { 60, 3, 0, .01, REMOVED },
};

/* Every key has all its copies, and one is flooded; nothing is refused. Then all copies except
 * those of the flooded key can be removed, and nothing else is left. This is done twice, since
 * entries that stick would take the room of other keys. */
static void live_once(tamis_set *set, uint64_t copies, uint64_t n) {
    uint64_t const flood = UINT64_MAX;
    for (uint64_t i = 0; i < copies * n; i++) {
        assert_int_equal(tamis_add_id(set, i % n), TAMIS_OK);
    }
    for (uint64_t i = 0; i < 5000; i++) assert_int_equal(tamis_add_id(set, flood), TAMIS_OK);
    assert_true(tamis_validate(set, NULL));
    for (uint64_t i = 0; i < copies * n; i++) {
        tamis_status const status = tamis_remove_id(set, i % n);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_SATURATED);
    }
    assert_int_equal(set->table.saturated, 1);
    for (uint64_t key = 0; key < 10; key++) {
        uint64_t count;
        assert_int_equal(tamis_count_id(set, key, &count), TAMIS_OK);
        assert_true(count == 0 || count == TAMIS_COUNT_MANY);
    }
}

static void all_copies_that_are_planned_find_room(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kinds) * COUNT(wishes); i++) {
        const wish *const wanted = &wishes[i / 2];
        tamis_set *const  set = make(kinds[i % 2], wanted);
        uint64_t const    copies = wanted->copies != 0 ? wanted->copies : 5;
        live_once(set, copies, wanted->capacity - 1);
        uint64_t const left = set->table.keys; /* copies of the flooded key alone */
        live_once(set, copies, wanted->capacity - 1);
        assert_int_equal(set->table.keys, left);
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

typedef struct crowd {
    const char *kind, *geometry;
    uint64_t    keys, copies;
} crowd;

/* Without counters, so that every copy takes an entry. */
static const crowd crowds[] = {
    { "line", "buckets=40,remainder_bits=30,copies=8,attic=80", 560, 3 },
    { "line", "buckets=16,remainder_bits=30,copies=8,attic=60", 90, 7 },
    { "rank", "buckets=40,chains=64,remainder_bits=30,cells=64,copies=8", 600, 3 },
    { "rank", "buckets=40,chains=64,remainder_bits=30,cells=30,cells2=40,extensions2=18,copies=8",
      370, 3 },
};

/* Is an add refused in a table that gets all copies of its keys? */
static bool is_refused(const crowd *many, uint64_t seed_low, double *ret_stated) {
    tamis_seed const seed = { seed_low, 7 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    bool             is_full = false;
    spec.capacity = spec.lifetime = many->keys;
    spec.copies = many->copies;
    spec.overflow = .9;
    spec.abilities = REMOVED;
    spec.kind = many->kind;
    spec.geometry = many->geometry;
    spec.seed = &seed;
    tamis_set *const set = make_set_from(&spec);
    *ret_stated = inspect(set).plan.overflow;
    for (uint64_t i = 0; i < many->keys * many->copies && !is_full; i++) {
        is_full = tamis_add_id(set, i % many->keys) != TAMIS_OK;
    }
    tamis_free(set);
    return is_full;
}

/* The stated probability is that of tables in which all keys have all copies. In tables with little
 * room it is large enough to be measured. */
static void overflow_with_copies_is_as_likely_as_stated_or_less(void **state) {
    (void)state;
    unsigned const rounds = 400;
    for (size_t i = 0; i < COUNT(crowds); i++) {
        double refused = 0, stated = 0;
        for (unsigned round = 0; round < rounds; round++)
            refused += is_refused(&crowds[i], round, &stated);
        double const share = refused / rounds, sigma = share_error(stated, rounds);
        print_message("# %s: %.3f refused, %.3f stated\n", crowds[i].kind, share, stated);
        assert_true(stated > .03 && stated < .9); /* or it would show nothing */
        assert_true(share <= stated + 4 * sigma);
    }
}

/* ------------------------------------------------------------------ counts */

/* Counts are exact up to what is asked for, or the default; then they are many. */
static void counts_are_exact_as_far_as_asked_for(void **state) {
    (void)state;
    static const uint64_t count_to[] = { 0, 1, 15, 16, 255, 256, 70000, (1 << 24) - 1 };
    for (size_t i = 0; i < COUNT(kinds) * COUNT(count_to); i++) {
        uint64_t const asked = count_to[i / 2], most = asked == 0 ? TAMIS_DEFAULT_COUNT_TO : asked;
        wish const     wanted = { 50, 0, asked, 1e-6, COUNTED };
        tamis_set *const set = make(kinds[i % 2], &wanted);
        tamis_facts      facts;
        uint64_t         count = 0;
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
        if (facts.count_to < most || facts.count_to / 2 >= max_u64(most, 8))
            fail_msg("%s counts to %llu, not %llu", kinds[i % 2],
                     (unsigned long long)facts.count_to, (unsigned long long)most);
        uint64_t const tried = min_u64(facts.count_to, 300);
        for (uint64_t key = 0; key < 50; key++) {
            for (uint64_t n = 1; n <= tried; n++) {
                assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
                assert_int_equal(tamis_count_id(set, key, &count), TAMIS_OK);
                assert_int_equal(count, n);
            }
        }
        if (facts.count_to < 300) {
            assert_int_equal(tamis_add_id(set, 3), TAMIS_OK);
            assert_int_equal(tamis_count_id(set, 3, &count), TAMIS_OK);
            assert_true(count == TAMIS_COUNT_MANY);
            assert_int_equal(tamis_remove_id(set, 3), TAMIS_ERR_SATURATED);
        }
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

/* Merged counts are sums, whatever their size, and end at "many". */
static void merged_counts_are_sums(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        wish const       wanted = { 50, 0, 100000, 1e-6, COUNTED };
        tamis_set *const a = make(kinds[i], &wanted), *const b = make(kinds[i], &wanted);
        uint64_t count = 0;
        assert_int_equal(tamis_add_copies_id(a, 1, 70000), TAMIS_OK);
        assert_int_equal(tamis_add_copies_id(b, 1, 40000), TAMIS_OK);
        assert_int_equal(tamis_add_copies_id(b, 2, 90000), TAMIS_OK);
        assert_int_equal(tamis_merge(a, b), TAMIS_OK);
        assert_int_equal(tamis_count_id(a, 1, &count), TAMIS_OK);
        assert_int_equal(count, 110000);
        assert_int_equal(tamis_count_id(a, 2, &count), TAMIS_OK);
        assert_int_equal(count, 90000);
        assert_int_equal(a->table.keys, 200000);
        assert_int_equal(tamis_merge(a, b), TAMIS_OK);
        assert_int_equal(tamis_count_id(a, 2, &count), TAMIS_OK);
        assert_true(count == TAMIS_COUNT_MANY && a->table.saturated == 2);
        assert_true(tamis_validate(a, NULL));
        tamis_free(a);
        tamis_free(b);
    }
}

/* ------------------------------------------------------------------ many in one call */

/* A kind that counts the calls of its operations. One set at a time. */
static const kind_calls *inner;
static uint64_t          calls;

static tamis_status counted_add(tamis_table *table, uint64_t hash) {
    calls++;
    return inner->add(table, hash);
}

static uint64_t counted_count(const tamis_table *table, uint64_t hash) {
    calls++;
    return inner->count(table, hash);
}

static tamis_status counted_add_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    calls++;
    return inner->add_copies(table, hash, copies);
}

/* In steps, not in seconds: a flood takes one call of the kind, however far it counts. The call
 * itself does not loop over copies: 10^9 copies of each of 10,000 keys would take hours. */
static void a_flood_takes_one_step(void **state) {
    (void)state;
    static const uint64_t count_to[] = { 0, 255, 65535, (1 << 24) - 1 };
    for (size_t i = 0; i < 2 * COUNT(count_to); i++) {
        uint64_t const   to = count_to[i / 2], n = 10000, flood = 1000000000;
        wish const       wanted = { n, to == 0 ? 1 : 0, to, .001, to == 0 ? REMOVED : COUNTED };
        tamis_set *const set = make(kinds[i % 2], &wanted);
        kind_calls       outer = *set->calls;
        inner = set->calls;
        outer.add = counted_add;
        outer.count = counted_count;
        outer.add_copies = counted_add_copies;
        set->calls = &outer;
        calls = 0;
        for (uint64_t key = 0; key < (to == 0 ? 1 : n); key++)
            assert_int_equal(tamis_add_copies_id(set, key, flood), TAMIS_OK);
        assert_int_equal(calls, to == 0 ? 1 : n);
        set->calls = inner;
        assert_true(copies_of(set, 0) == TAMIS_COUNT_MANY);
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

/* The same copies in one call and one by one make the same bytes. */
static void add_both_ways(const char *kind, const wish *wanted, const char *geometry) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = wanted->capacity;
    spec.count_to = geometry == NULL ? wanted->count_to : 0;
    spec.fpr = wanted->fpr;
    spec.abilities = wanted->abilities;
    spec.kind = kind;
    spec.geometry = geometry;
    spec.seed = &(tamis_seed){ 5, 6 };
    tamis_set *const singly = make_set_from(&spec), *const at_once = make_set_from(&spec);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 3 * wanted->capacity; i++) {
        uint64_t const key = dice_mix(i) % wanted->capacity, n = dice_mix(~i) % 41;
        tamis_set     *before;
        tamis_status   status = TAMIS_OK;
        assert_int_equal(tamis_copy(singly, &before), TAMIS_OK);
        for (uint64_t c = 0; c < n && status == TAMIS_OK; c++) status = tamis_add_id(singly, key);
        assert_int_equal(tamis_add_copies_id(at_once, key, n), status);
        if (status == TAMIS_ERR_FULL) { /* all or none */
            refused++;
            tamis_table_copy(&singly->table, &before->table);
        }
        assert_int_equal(at_once->table.keys, singly->table.keys);
        assert_int_equal(at_once->table.saturated, singly->table.saturated);
        assert_memory_equal(at_once->table.body, singly->table.body, singly->table.body_bytes);
        tamis_free(before);
    }
    assert_true(tamis_validate(at_once, NULL));
    bool const is_crowded = geometry != NULL || (wanted->abilities & TAMIS_CAN_COUNT) == 0;
    assert_true((refused != 0) == (is_crowded && wanted->abilities != 0));
    tamis_free(singly);
    tamis_free(at_once);
}

static void copies_in_one_call_make_the_same_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        add_both_ways(kinds[i], &(wish){ 1000, 0, 0, .01, 0 }, NULL);
        add_both_ways(kinds[i], &(wish){ 1000, 0, 0, .01, REMOVED }, NULL);
        add_both_ways(kinds[i], &(wish){ 1000, 0, 15, .01, COUNTED }, NULL);
        add_both_ways(kinds[i], &(wish){ 1000, 0, 100000, .1, COUNTED }, NULL);
    }
    add_both_ways("rank", &(wish){ 1000, 0, 0, .01, COUNTED }, "counter_bits=2,copies=8");
    add_both_ways("rank", &(wish){ 1000, 0, 0, .01, COUNTED }, "counter_bits=3,aligned=1");
}

/* A spec that asks to count further than possible is refused. */
static void counts_beyond_24_bits_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        tamis_set *set = NULL;
        spec.capacity = 1000;
        spec.fpr = .01;
        spec.abilities = COUNTED;
        spec.count_to = 1 << 24;
        spec.kind = kinds[i];
        assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_ERR_CANNOT);
    }
}

/* ------------------------------------------------------------------ the present */

/* In `rank`, a quarter of all fingerprints are in use, many by several keys, whose copies have
 * entries of their own. (`line` has remainders of 8 bits at least.) The present rate is the share
 * of absent keys that are found, and not higher; the estimated number of keys is near the truth. */
static void the_present_rate_counts_fingerprints_once(void **state) {
    (void)state;
    static const unsigned abilities[] = { 0, REMOVED, COUNTED };
    uint64_t const        n = 40000, strangers = 1000000;
    for (unsigned i = 0; i < COUNT(kinds) * COUNT(abilities); i++) {
        wish const       wanted = { n, 0, 0, .3, abilities[i / 2] };
        tamis_set *const set = make(kinds[i % 2], &wanted);
        tamis_info       info;
        uint64_t         found = 0;
        for (uint64_t key = 0; key < n; key++) assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
        for (uint64_t key = 0; key < n; key += 5) (void)!tamis_add_id(set, key);
        for (uint64_t key = n; key < n + strangers; key++) found += tamis_has_id(set, key);
        assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
        double const rate = (double)found / (double)strangers;
        double const sigma = share_error(info.current_fpr, (double)strangers);
        if (fabs(rate - info.current_fpr) > 5 * sigma)
            fail_msg("%s: %.4f is stated, %.4f measured", kinds[i % 2], info.current_fpr, rate);
        assert_near(info.distinct, (double)n, .02);
        assert_near(info.prints, info.current_fpr * (double)set->kind->prints(set->table.geometry),
                    1e-9);
        assert_true(info.prints < n && (i % 2 == 0 || (double)info.prints < .9 * (double)n));
        assert_true(info.load > .5 && info.load < 1);
        tamis_free(set);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_copies_that_are_planned_find_room),
        cmocka_unit_test(overflow_with_copies_is_as_likely_as_stated_or_less),
        cmocka_unit_test(counts_are_exact_as_far_as_asked_for),
        cmocka_unit_test(merged_counts_are_sums),
        cmocka_unit_test(a_flood_takes_one_step),
        cmocka_unit_test(copies_in_one_call_make_the_same_bytes),
        cmocka_unit_test(counts_beyond_24_bits_are_refused),
        cmocka_unit_test(the_present_rate_counts_fingerprints_once),
    };
    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
