/* test_states_saboteurs.c - kinds of states that are broken on purpose: some law must notice each.
 *
 * A saboteur is a copy of a kind with one function replaced by a worse one. If all laws still hold,
 * the laws are too weak, and that is the failure here.
 */
#include "life.h"

static const kind_states *honest; /* what the saboteur is a copy of */
static unsigned           turn;

/* Only now and then: a saboteur that is always wrong is too easy to notice. */
static bool is_time(unsigned one_in) {
    return ++turn % one_in == 0;
}

static tamis_status put_over(tamis_table *table, uint64_t hash, uint32_t value) {
    tamis_status const status = honest->put(table, hash, value);
    return status == TAMIS_ERR_CONFLICT ? honest->move(table, hash, TAMIS_ANY_VALUE, value)
                                        : status;
}

static tamis_status put_nothing(tamis_table *table, uint64_t hash, uint32_t value) {
    return is_time(300) ? TAMIS_OK : honest->put(table, hash, value);
}

static tamis_status get_another(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    tamis_status const status = honest->get(table, hash, ret_value);
    if (status == TAMIS_OK && is_time(200)) *ret_value = (*ret_value + 1) % 2;
    return status;
}

static tamis_status get_none(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    return is_time(200) ? TAMIS_ERR_ABSENT : honest->get(table, hash, ret_value);
}

static tamis_status move_anything(tamis_table *table, uint64_t hash, uint64_t from, uint32_t to) {
    (void)from;
    return honest->move(table, hash, TAMIS_ANY_VALUE, to);
}

static tamis_status move_not(tamis_table *table, uint64_t hash, uint64_t from, uint32_t to) {
    return is_time(100) ? TAMIS_OK : honest->move(table, hash, from, to);
}

static tamis_status touch_not(tamis_table *table, uint64_t hash) {
    uint32_t value;
    return honest->get(table, hash, &value);
}

static tamis_status drop_not(tamis_table *table, uint64_t hash, uint64_t from) {
    return is_time(50) ? TAMIS_OK : honest->drop(table, hash, from);
}

static tamis_status drop_any(tamis_table *table, uint64_t hash, uint64_t from) {
    (void)from;
    return honest->drop(table, hash, TAMIS_ANY_VALUE);
}

static void sweep_twice(tamis_table *table, uint64_t unit, uint64_t *aged) {
    honest->sweep(table, unit, aged);
    if (is_time(40)) honest->sweep(table, unit, aged);
}

static void sweep_some(tamis_table *table, uint64_t unit, uint64_t *aged) {
    if (!is_time(10)) honest->sweep(table, unit, aged);
}

static tamis_status merge_nothing(tamis_table *into, const tamis_table *from) {
    (void)into;
    (void)from;
    return TAMIS_OK;
}

static tamis_status merge_half(tamis_table *into, const tamis_table *from) {
    tamis_status const status = honest->merge(into, from);
    if (status != TAMIS_OK) into->keys++; /* and nobody restores it: see below */
    return status == TAMIS_ERR_CONFLICT ? TAMIS_OK : status;
}

/* What is done to a kind, and in which variant it can be seen. */
typedef struct saboteur {
    const char *name;
    void (*spoil)(kind_states *states);
    bool is_ageing;
} saboteur;

#define SPOIL(name, field, function)        \
    static void name(kind_states *states) { \
        states->field = function;           \
    }

SPOIL(spoil_put_over, put, put_over)
SPOIL(spoil_put_nothing, put, put_nothing)
SPOIL(spoil_get_another, get, get_another)
SPOIL(spoil_get_none, get, get_none)
SPOIL(spoil_move_anything, move, move_anything)
SPOIL(spoil_move_not, move, move_not)
SPOIL(spoil_touch_not, touch, touch_not)
SPOIL(spoil_drop_not, drop, drop_not)
SPOIL(spoil_drop_any, drop, drop_any)
SPOIL(spoil_sweep_twice, sweep, sweep_twice)
SPOIL(spoil_sweep_some, sweep, sweep_some)
SPOIL(spoil_merge_nothing, merge, merge_nothing)
SPOIL(spoil_merge_half, merge, merge_half)

static const saboteur saboteurs[] = {
    { "put over another value", spoil_put_over, false },
    { "put nothing, sometimes", spoil_put_nothing, false },
    { "get another value, sometimes", spoil_get_another, false },
    { "get nothing, sometimes", spoil_get_none, false },
    { "move whatever it is", spoil_move_anything, false },
    { "move not, sometimes", spoil_move_not, false },
    { "touch not", spoil_touch_not, true },
    { "drop not, sometimes", spoil_drop_not, false },
    { "drop whatever it is", spoil_drop_any, false },
    { "sweep twice, sometimes", spoil_sweep_twice, true },
    { "sweep not, sometimes", spoil_sweep_some, true },
    { "merge nothing", spoil_merge_nothing, false },
    { "merge what conflicts", spoil_merge_half, false },
};

#define N_SABOTEURS COUNT(saboteurs)

static bool is_noticed(const subject *variant) {
    for (size_t i = 0; states_laws[i].name != NULL; i++) {
        if (states_laws[i].holds(variant) != NULL) return true;
    }
    return false;
}

static void some_law_notices(void **state) {
    const saboteur *const how = *state;
    const tamis_kind     *kind;
    for (size_t i = 0; (kind = tamis_states_kind_at(i)) != NULL; i++) {
        bool const is_shared = kind->states->tally == NULL;
        if (is_shared) continue; /* their answers may be unknown: see their own tests */
        kind_states worse = *kind->states;
        tamis_kind  spoiled = *kind;
        subject     variant = { .kind = kind->name,
                                .isa = kind->isa,
                                .capacity = 900,
                                .values = 8,
                                .timeout = how->is_ageing ? 60 : 0,
                                .fpr = 1e-7,
                                .operations = 20000,
                                .instead = &spoiled };
        honest = kind->states;
        spoiled.states = &worse;
        how->spoil(&worse);
        if (!is_noticed(&variant)) fail_msg("%s: no law notices: %s", kind->name, how->name);
    }
}

int main(void) {
    struct CMUnitTest tests[N_SABOTEURS];
    for (size_t i = 0; i < N_SABOTEURS; i++) {
        tests[i] = (struct CMUnitTest){ saboteurs[i].name, some_law_notices, NULL, NULL,
                                        (void *)(uintptr_t)&saboteurs[i] };
    }
    return _cmocka_run_group_tests("saboteurs of states", tests, N_SABOTEURS, NULL, NULL);
}
