/* test_states_strangers.c - callers that break the rules: they move and drop absent keys, or never
 * drop keys. What that costs, and that the damage ages away.
 *
 * The figures of docs/states.md, "Callers that break the rules", are what this prints.
 */

#include "make.h"

#define KEYS 3000
#define VALUES 8
#define TIMEOUT 20
#define TICKS 60
#define STRANGERS 2000 /* that move, and as many that drop, in each tick */
#define ENDLESS 20     /* keys in each tick that come and are never heard of again */
#define FPR 0.001

typedef struct subject {
    const char *kind, *geometry;
    bool        is_shared;
} subject;

static const subject subjects[] = {
    { "line", NULL, false },
    { "rank", NULL, false },
    { "state_print", NULL, false },
    { "state_print", "permuted=0", false },
    { "state_bloom", NULL, true },
    { "state_bloom", "counter_bits=0", true },
    { "state_direct", "counter_bits=4", true },
    { "state_direct", "counter_bits=0", true },
};

typedef struct faithful {
    tamis_states *states;
    uint64_t      first; /* keys are first, first + 1, ... */
    uint64_t      next_stranger;
    bool          is_taken[KEYS];
} faithful;

typedef struct answers {
    uint64_t present, wrong, lost, unknown;
} answers;

static tamis_states *make(const subject *variant) {
    tamis_seed const  seed = { 3, 4 };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = KEYS;
    spec.values = VALUES;
    spec.fpr = FPR;
    spec.unknown = 10 * FPR;
    spec.timeout = TIMEOUT;
    spec.kind = variant->kind;
    spec.geometry = variant->geometry;
    spec.seed = &seed;
    return make_states_from(&spec);
}

static void fill(faithful *all) {
    for (uint64_t i = 0; i < KEYS; i++) {
        all->is_taken[i] = tamis_states_put_id(all->states, all->first + i, i % VALUES) == TAMIS_OK;
    }
}

static answers ask(const faithful *all) {
    answers found = { 0 };
    for (uint64_t i = 0; i < KEYS; i++) {
        uint32_t           value = 0;
        tamis_status const status = tamis_states_get_id(all->states, all->first + i, &value);
        if (!all->is_taken[i]) continue;
        found.present++;
        found.unknown += status == TAMIS_ERR_UNKNOWN;
        found.lost += status == TAMIS_ERR_ABSENT;
        found.wrong += status == TAMIS_OK && value != i % VALUES;
    }
    return found;
}

/* In each tick the honest keys are touched, and strangers come, too. */
static void live_among_strangers(faithful *all) {
    for (unsigned tick = 0; tick < TICKS; tick++) {
        tamis_status said = TAMIS_OK; /* the result does not matter */
        for (uint64_t i = 0; i < KEYS; i++) {
            if (all->is_taken[i]) said = tamis_states_touch_id(all->states, all->first + i);
        }
        for (unsigned i = 0; i < ENDLESS; i++) {
            said = tamis_states_put_id(all->states, all->next_stranger++, i % VALUES);
        }
        for (unsigned i = 0; i < STRANGERS; i++) {
            uint64_t const one = all->next_stranger++, other = all->next_stranger++;
            said = tamis_states_move_id(all->states, one, TAMIS_ANY_VALUE, i % VALUES);
            said = tamis_states_drop_id(all->states, other, TAMIS_ANY_VALUE);
        }
        (void)said;
        assert_int_equal(tamis_states_tick(all->states, 1, NULL, NULL), TAMIS_OK);
    }
}

static void let_all_age(tamis_states *states) {
    uint64_t backlog = 1;
    for (bool is_first = true; backlog != 0; is_first = false) {
        uint64_t const ticks = is_first ? 2 * TIMEOUT : 0;
        assert_int_equal(tamis_states_tick(states, ticks, NULL, &backlog), TAMIS_OK);
    }
}

static void tell(const subject *variant, const answers *found) {
    double const percent = 100 / (double)found->present;
    print_message("# %s %s: %.2f%% wrong, %.2f%% lost, %.2f%% unknown\n", variant->kind,
                  variant->geometry != NULL ? variant->geometry : "",
                  percent * (double)found->wrong, percent * (double)found->lost,
                  percent * (double)found->unknown);
}

/* Each stranger matches another key with probability fpr. If a cell belongs to one key, only that
 * key is hurt. Only in tables without drops is it certain that no key is lost. */
static void judge_damage(const subject *variant, const answers *found) {
    double const hits = FPR * TICKS * (2 * STRANGERS + ENDLESS);
    double const hurt = (double)(found->wrong + found->lost);
    tell(variant, found);
    if (!variant->is_shared) assert_true(hurt > 0 && hurt <= hits + 4 * sqrt(hits));
    if (strcmp(variant->kind, "state_bloom") == 0) assert_true(hurt <= 0.002 * KEYS);
}

/* Nothing was touched for two timeouts: the table is as good as new. */
static void judge_recovery(const subject *variant, const faithful *all) {
    answers const     found = ask(all);
    double const      unknown = 10 * FPR * KEYS;
    tamis_states_info info;
    const char       *why = "";
    assert_int_equal(tamis_states_inspect(all->states, &info), TAMIS_OK);
    assert_true(tamis_states_validate(all->states, &why));
    assert_int_equal(found.wrong | found.lost, 0);
    assert_true((double)found.present >= KEYS * (1 - 4 * FPR));
    assert_true((double)found.unknown <= unknown + 4 * sqrt(unknown));
    assert_true(variant->is_shared || info.keys <= KEYS);
}

static void what_strangers_do_ages_away(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(subjects); i++) {
        faithful all = { .states = make(&subjects[i]),
                         .first = 1,
                         .next_stranger = UINT64_C(1) << 40 };
        fill(&all);
        live_among_strangers(&all);
        answers const found = ask(&all);
        judge_damage(&subjects[i], &found);
        let_all_age(all.states);
        all.first += KEYS;
        fill(&all);
        judge_recovery(&subjects[i], &all);
        tamis_states_free(all.states);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_strangers_do_ages_away),
    };
    return cmocka_run_group_tests_name("states_strangers", tests, NULL, NULL);
}
