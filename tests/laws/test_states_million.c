/* test_states_million.c - a million keys of 8 states that come, move and go, in the table that the
 * planner chooses: how often it does not know, is wrong, or has lost a key.
 *
 * usage: test_states_million [KEYS]
 *
 * Written as a user would: the public interface alone, and arrays with the truth. All errors are
 * counted: a key that was refused because it was taken for another one counts as wrong for as long
 * as it would have been in the table.
 */

#include "make.h"

#define VALUES 8
#define TURNOVERS 10 /* operations on each key, on average; a quarter of them is another key */
#define MOST_BITS 32
#define MOST_BAD 0.001

static uint64_t n_keys = 1000000;
static dice     chance = { 1 };

/* ------------------------------------------------------------------ the truth */

typedef struct truth {
    tamis_states *states;
    uint64_t     *key;
    uint8_t      *value;
    bool         *is_refused;
    uint64_t      next; /* key: no two are the same */
} truth;

static void come(truth *account, uint64_t i) {
    account->key[i] = account->next++;
    account->value[i] = (uint8_t)(dice_below(&chance, VALUES));
    account->is_refused[i] =
        tamis_states_put_id(account->states, account->key[i], account->value[i]) != TAMIS_OK;
}

static void go(truth *account, uint64_t i) {
    if (account->is_refused[i]) return;
    tamis_status const status =
        tamis_states_drop_id(account->states, account->key[i], account->value[i]);
    (void)status; /* if it is lost, that was counted before */
}

static void move(truth *account, uint64_t i) {
    uint8_t const to = (uint8_t)(dice_below(&chance, VALUES));
    if (account->is_refused[i]) return;
    if (tamis_states_move_id(account->states, account->key[i], account->value[i], to) == TAMIS_OK)
        account->value[i] = to;
}

static truth begin(double fpr, uint64_t timeout) {
    tamis_seed const  seed = { 8, 1000000 };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    truth             made = { .next = 1 };
    spec.capacity = n_keys;
    spec.values = VALUES;
    spec.fpr = fpr;
    spec.timeout = timeout;
    spec.seed = &seed;
    made.states = make_states_from(&spec);
    made.key = malloc(n_keys * sizeof made.key[0]);
    made.value = malloc(n_keys * sizeof made.value[0]);
    made.is_refused = malloc(n_keys * sizeof made.is_refused[0]);
    assert_true(made.key != NULL && made.value != NULL && made.is_refused != NULL);
    for (uint64_t i = 0; i < n_keys; i++) come(&made, i);
    return made;
}

static void end(truth *account) {
    tamis_states_free(account->states);
    free(account->key);
    free(account->value);
    free(account->is_refused);
}

/* ------------------------------------------------------------------ answers */

typedef struct answers {
    uint64_t unknown, wrong, lost, refused; /* of the keys that are there */
    uint64_t false_values;                  /* of as many that are not */
} answers;

static answers ask(const truth *account) {
    answers found = { 0 };
    for (uint64_t i = 0; i < n_keys; i++) {
        uint32_t           value = 0;
        tamis_status const status = tamis_states_get_id(account->states, account->key[i], &value);
        bool const         is_taken = !account->is_refused[i];
        found.refused += !is_taken;
        found.unknown += is_taken && status == TAMIS_ERR_UNKNOWN;
        found.lost += is_taken && status == TAMIS_ERR_ABSENT;
        found.wrong += is_taken && status == TAMIS_OK && value != account->value[i];
        found.false_values +=
            tamis_states_get_id(account->states, (UINT64_C(1) << 40) + i, &value) == TAMIS_OK;
    }
    return found;
}

static double percent(uint64_t n) {
    return 100 * (double)n / (double)n_keys;
}

static void judge(const truth *account, double fpr) {
    answers const     found = ask(account);
    uint64_t const    bad = found.unknown + found.wrong + found.lost + found.refused;
    double const      expected = fpr * (double)n_keys;
    tamis_states_info info;
    assert_int_equal(tamis_states_inspect(account->states, &info), TAMIS_OK);
    double const bits = 8 * (double)info.memory_bytes / (double)n_keys;
    print_message("# %s, fpr %g, timeout %llu: %.2f bits per key; %.4f%% unknown, %.4f%% wrong, "
                  "%.4f%% lost, %.4f%% refused: %.4f%%; of others %.4f%% have a value\n",
                  info.plan.kind, fpr, (unsigned long long)info.timeout, bits,
                  percent(found.unknown), percent(found.wrong), percent(found.lost),
                  percent(found.refused), percent(bad), percent(found.false_values));
    assert_true(bits <= MOST_BITS);
    assert_true((double)bad < MOST_BAD * (double)n_keys);
    assert_true((double)found.false_values <= expected + 4 * sqrt(expected));
    assert_true((double)bad <= expected + 4 * sqrt(expected));
}

/* ------------------------------------------------------------------ the test */

/* No time passes: it is assumed that keys are touched often enough. */
static void churn(double fpr, uint64_t timeout) {
    truth account = begin(fpr, timeout);
    for (uint64_t k = 0; k < TURNOVERS * n_keys; k++) {
        uint64_t const i = dice_below(&chance, n_keys);
        if (dice_below(&chance, 4) != 0) {
            move(&account, i);
        } else {
            go(&account, i);
            come(&account, i);
        }
    }
    judge(&account, fpr);
    end(&account);
}

static void a_million_states_are_right_but_for_one_in_a_thousand(void **state) {
    (void)state;
    churn(0.001, 0);
    churn(0.001, 60);
    churn(0.0001, 60);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_states_are_right_but_for_one_in_a_thousand),
    };
    if (argc > 1) n_keys = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("states_million", tests, NULL, NULL);
}
