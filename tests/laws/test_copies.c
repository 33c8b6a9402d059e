/* test_copies.c - copies of keys in the kinds that store fingerprints, `line` and `rank`.
 */
#include "subject.h"

static const char *const kinds[] = { "line", "rank" };

static tamis_set *make(const char *kind, uint64_t capacity, double fpr, unsigned abilities) {
    tamis_seed const seed = { 5, 6 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    tamis_set       *set = NULL;
    tamis_problem    problem;
    spec.capacity = capacity;
    spec.fpr = fpr;
    spec.abilities = abilities;
    spec.kind = kind;
    spec.seed = &seed;
    if (tamis_create(&spec, &set, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    return set;
}

/* A third of all fingerprints are in use, many by several keys, whose copies have entries of their
 * own. The present rate is that of strangers, and not higher. */
static void the_present_rate_counts_fingerprints_once(void **state) {
    (void)state;
    static const unsigned abilities[] = { 0, TAMIS_CAN_REMOVE, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT };
    uint64_t const        n = 40000, strangers = 1000000;
    for (unsigned i = 0; i < COUNT(kinds) * COUNT(abilities); i++) {
        tamis_set *const set = make(kinds[i % 2], n, .3, abilities[i / 2]);
        tamis_info       info;
        uint64_t         found = 0;
        for (uint64_t key = 0; key < n; key++) assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
        for (uint64_t key = n; key < n + strangers; key++) found += tamis_has_id(set, key);
        assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
        double const rate = (double)found / (double)strangers;
        double const sigma = sqrt(info.current_fpr * (1 - info.current_fpr) / (double)strangers);
        if (fabs(rate - info.current_fpr) > 5 * sigma)
            fail_msg("%s: %.4f is stated, %.4f measured", kinds[i % 2], info.current_fpr, rate);
        tamis_free(set);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_present_rate_counts_fingerprints_once),
    };
    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
