/* test_false_positives.c - how many absent keys are found, at every load and for every shape of
 * keys.
 *
 * The law error_rate_is_as_predicted compares full tables of sequential ids with the prediction.
 * Here one table of each kind is asked when it is half full, nearly full, full, and after ten
 * times as many adds and removals; with ids in a row, ids that differ only in their upper bits,
 * short texts, and texts that differ only at the end of a long prefix. The hits must be those of
 * the rate that the set states: neither more, nor fewer, since a set that finds too little is
 * wrong, too.
 *
 * usage: test_false_positives [QUERIES]      of each kind, load and shape; 100,000 without it
 */
#include "make.h"

#include <math.h>
#include <stdio.h>

#define CAPACITY UINT64_C(20000)
#define FPR 0.01
#define Z 4.75 /* one correct test in 500,000 fails; the seeds are fixed */

static uint64_t n_queries = 100000;

typedef enum shape { IN_A_ROW, UPPER_BITS, TEXTS, LONG_PREFIX, N_SHAPES } shape;

static const char *const shape_names[] = { "ids in a row", "ids in upper bits", "texts",
                                           "texts with a long prefix" };

static uint64_t id_of(shape which, uint64_t i) {
    return which == UPPER_BITS ? i << 30 : i;
}

static size_t text_of(shape which, uint64_t i, char *ret_text, size_t room) {
    const char *const format =
        which == TEXTS ? "user:%llu" : "https://www.example.org/a/folder/of/pages/%012llu.html";
    return (size_t)snprintf(ret_text, room, format, (unsigned long long)i);
}

static tamis_status add_one(tamis_set *set, shape which, uint64_t i) {
    char text[100];
    if (which < TEXTS) return tamis_add_id(set, id_of(which, i));
    return tamis_add(set, text, text_of(which, i, text, sizeof text));
}

static tamis_status remove_one(tamis_set *set, shape which, uint64_t i) {
    char text[100];
    if (which < TEXTS) return tamis_remove_id(set, id_of(which, i));
    return tamis_remove(set, text, text_of(which, i, text, sizeof text));
}

static bool has_one(const tamis_set *set, shape which, uint64_t i) {
    char text[100];
    if (which < TEXTS) return tamis_has_id(set, id_of(which, i));
    return tamis_has(set, text, text_of(which, i, text, sizeof text));
}

/* Keys first..end-1 are in the set, those from end on are not. */
static void expect_rate(const tamis_set *set, shape which, uint64_t first, uint64_t end,
                        const char *when) {
    uint64_t hits = 0;
    for (uint64_t i = first; i < end; i++) assert_true(has_one(set, which, i));
    for (uint64_t i = end; i < end + n_queries; i++) hits += has_one(set, which, i);
    double const n = (double)n_queries, rate = inspect(set).current_fpr;
    double const sigma = sqrt(n * rate * (1 - rate));
    if (fabs((double)hits - n * rate) > Z * sigma + 1)
        fail_msg("%s, %s: %llu of %.0f hit, %.0f +- %.0f expected", shape_names[which], when,
                 (unsigned long long)hits, n, n * rate, sigma);
    if ((double)hits > n * FPR * 1.02 + Z * sqrt(n * FPR))
        fail_msg("%s, %s: %llu of %.0f hit, more than was asked for", shape_names[which], when,
                 (unsigned long long)hits, n);
}

static void add_up_to(tamis_set *set, shape which, uint64_t *n, uint64_t end) {
    for (; *n < end; ++*n) assert_int_equal(add_one(set, which, *n), TAMIS_OK);
}

static tamis_set *made(const char *kind, shape which, unsigned abilities) {
    tamis_seed const seed = make_seed(20060912 + which);
    tamis_spec       spec = TAMIS_SPEC_INIT;
    tamis_set       *set = NULL;
    spec.capacity = CAPACITY;
    spec.fpr = FPR;
    spec.kind = kind;
    spec.seed = &seed;
    spec.abilities = abilities;
    tamis_status const status = tamis_create(&spec, &set, NULL);
    assert_true(status == TAMIS_OK || (abilities != 0 && status == TAMIS_ERR_CANNOT));
    return set;
}

static void rates_are_as_stated_at_every_load(void **state) {
    for (shape which = 0; which < N_SHAPES; which++) {
        tamis_set *set = made(*state, which, TAMIS_CAN_REMOVE);
        bool const can_remove = set != NULL;
        uint64_t   n = 0;
        if (!can_remove) set = made(*state, which, 0);
        add_up_to(set, which, &n, CAPACITY / 2);
        expect_rate(set, which, 0, n, "half full");
        add_up_to(set, which, &n, CAPACITY / 100 * 95);
        expect_rate(set, which, 0, n, "at 95%");
        add_up_to(set, which, &n, CAPACITY);
        expect_rate(set, which, 0, n, "full");
        for (; can_remove && n < 11 * CAPACITY; n++) {
            assert_int_equal(remove_one(set, which, n - CAPACITY), TAMIS_OK);
            assert_int_equal(add_one(set, which, n), TAMIS_OK);
        }
        expect_rate(set, which, n - CAPACITY, n, "after ten times the adds");
        tamis_free(set);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) n_queries = strtoull(argv[1], NULL, 10);
    struct CMUnitTest tests[64];
    size_t            n = 0;
    const char       *kind;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++)
        tests[n++] = unit_named(kind, rates_are_as_stated_at_every_load, kind);
    return unit_run("false positives", tests, n);
}
