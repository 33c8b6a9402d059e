/* test_hostile_keys.c - keys of somebody who knows the code, but not the seed.
 *
 * He sees all answers, and makes new queries from those that were false positives. And he can
 * guess a seed, and prepare keys that fall into a few buckets under it. Neither helps him: the
 * rate of false positives stays what the set states, and no add is refused. Those who know the seed
 * can do harm, which shows that the prepared keys are bad ones; but other keys are not harmed.
 *
 * usage: test_hostile_keys [QUERIES]      of each kind and hash; 100,000 without it
 */
#include "make.h"

#include <math.h>

#define CAPACITY UINT64_C(20000)
#define FPR 0.01
#define MOST_FOUND 1000
#define Z 4.75 /* one-sided: one correct test in a million fails */

static uint64_t n_queries = 100000;

static tamis_set *victim(const char *kind, tamis_hash hash, const tamis_seed *seed) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = CAPACITY;
    spec.fpr = FPR;
    spec.kind = kind;
    spec.hash = hash;
    spec.seed = seed;
    return make_set_if_built(&spec);
}

/* ------------------------------------------------------------------ queries */

/* A query that is close to one that was answered with yes: one bit, or a few of the number, or its
 * bytes in another order. */
static uint64_t relative_of(dice *chance, uint64_t found) {
    switch (dice_below(chance, 4)) {
    case 0: return found ^ UINT64_C(1) << dice_below(chance, 64);
    case 1: return found + 1 + dice_below(chance, 1000);
    case 2: return found << 8 | found >> 56;
    default: return found * 3;
    }
}

/* Every second query is new, the others come from what was found. Numbers are asked as ids, and as
 * keys of bytes. Returns how many queries hit; none is asked twice. */
static uint64_t hits_of_queries(const tamis_set *set, bool is_bytes) {
    static uint64_t found[MOST_FOUND];
    static uint8_t  asked[1 << 23]; /* a bit for each query: those that share one are left out */
    dice            chance = dice_start();
    uint64_t        n = 0, hits = 0, n_found = 0;
    memset(asked, 0, sizeof asked);
    while (n < n_queries) {
        uint64_t const any = dice_roll(&chance);
        uint64_t const query = (any & 1) != 0 || n_found == 0
                                   ? dice_roll(&chance)
                                   : relative_of(&chance, found[dice_below(&chance, n_found)]);
        uint64_t const bit = dice_mix(query) % (8 * sizeof asked);
        if (query < CAPACITY || (asked[bit / 8] >> bit % 8 & 1) != 0) continue;
        asked[bit / 8] |= (uint8_t)(1 << bit % 8);
        n++;
        bool const is_hit =
            is_bytes ? tamis_has(set, &query, sizeof query) : tamis_has_id(set, query);
        if (!is_hit) continue;
        hits++;
        found[n_found < MOST_FOUND ? n_found++ : dice_below(&chance, MOST_FOUND)] = query;
    }
    return hits;
}

/* The hits are those of the stated rate, and far below twice the rate that was asked for. */
static void expect_usual_rate(const tamis_set *set, uint64_t hits, const char *how) {
    double const n = (double)n_queries, rate = inspect(set).current_fpr;
    double const sigma = sqrt(n * rate * (1 - rate));
    if (fabs((double)hits - n * rate) > Z * sigma + 1)
        fail_msg("%s: %llu of %.0f hit, %.0f +- %.0f expected", how, (unsigned long long)hits, n,
                 n * rate, sigma);
    assert_true((double)hits < 2 * FPR * n);
}

static void adaptive_queries_find_no_more(void **state) {
    static const tamis_hash hashes[] = { TAMIS_HASH_XXH3, TAMIS_HASH_SIPHASH };
    for (size_t h = 0; h < COUNT(hashes); h++) {
        tamis_seed const secret = make_seed(20061105 + h);
        tamis_set *const set = victim(*state, hashes[h], &secret);
        if (set == NULL) continue;
        add_ids(set, 0, CAPACITY);
        expect_usual_rate(set, hits_of_queries(set, false), "ids");
        expect_usual_rate(set, hits_of_queries(set, true), "bytes");
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ keys for a guessed seed */

/* Keys whose hashes begin with 8 zeros under the guess: in most kinds a 256th of the table. */
static uint64_t *prepared_for(const tamis_set *guessed) {
    uint64_t *const ids = malloc(CAPACITY * sizeof *ids);
    assert_non_null(ids);
    for (uint64_t id = CAPACITY, n = 0; n < CAPACITY; id++) {
        ids[n] = id;
        n += tamis_hash_id(guessed, id) >> 56 == 0;
    }
    return ids;
}

static unsigned n_struck; /* kinds that refuse these keys if the guess is right */

static void expect_honest_keys_stay(tamis_set *set, const uint64_t *ids) {
    uint64_t taken = 0;
    add_ids(set, 0, 100);
    while (taken < CAPACITY && tamis_add_id(set, ids[taken]) == TAMIS_OK) taken++;
    for (uint64_t i = 0; i < taken; i++) assert_true(tamis_has_id(set, ids[i]));
    expect_ids(set, 0, 100);
    expect_valid(set);
    n_struck += taken < CAPACITY;
}

static void a_guessed_seed_does_not_help(void **state) {
    tamis_seed const guess = make_seed(1), secret = make_seed(20061107);
    tamis_set *const guessed = victim(*state, TAMIS_HASH_XXH3, &guess);
    tamis_set *const set = victim(*state, TAMIS_HASH_XXH3, &secret);
    uint64_t *const  ids = prepared_for(guessed);
    for (uint64_t i = 0; i < CAPACITY; i++) assert_int_equal(tamis_add_id(set, ids[i]), TAMIS_OK);
    for (uint64_t i = 0; i < CAPACITY; i++) assert_true(tamis_has_id(set, ids[i]));
    expect_usual_rate(set, hits_of_queries(set, false), "after prepared keys");
    expect_valid(set);
    expect_honest_keys_stay(guessed, ids);
    free(ids);
    tamis_free(guessed);
    tamis_free(set);
}

/* Otherwise the keys were harmless. In line and rank, the first bits of a hash choose the
 * bucket. */
static void right_guesses_do_harm(void **state) {
    (void)state;
    print_message("# with the right seed, %u kinds refuse some of the prepared keys\n", n_struck);
    assert_true(n_struck >= 2);
}

int main(int argc, char **argv) {
    if (argc > 1) n_queries = strtoull(argv[1], NULL, 10);
    struct CMUnitTest tests[64];
    size_t            n = 0;
    const char       *kind;
    for (size_t i = 0; (kind = tamis_kind_name(i)) != NULL; i++) {
        tests[n++] = unit_named(kind, adaptive_queries_find_no_more, kind);
        tests[n++] = unit_named(kind, a_guessed_seed_does_not_help, kind);
    }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(right_guesses_do_harm);
    return unit_run("hostile keys", tests, n);
}
