/* states_laws.c - the laws of states: what <tamis/states.h> promises, for every kind. */
#include "buffer.h"
#include "life.h"
#include "temporary.h"
#include "zero_body.h"

#include "grow.h"

/* ------------------------------------------------------------------ helpers */

static bool is_same_table(const tamis_table *x, const tamis_table *y) {
    return x->keys == y->keys && x->saturated == y->saturated && x->body_bytes == y->body_bytes &&
           memcmp(x->body, y->body, (size_t)x->body_bytes) == 0;
}

/* Are the tables equal, byte for byte? In a step of growing each has two. */
static bool is_same(const tamis_states *a, const tamis_states *b) {
    const tamis_table *of_a[2], *of_b[2];
    unsigned const     n = grow_tables(&a->set, of_a);
    if (grow_tables(&b->set, of_b) != n) return false;
    for (unsigned i = 0; i < n; i++) {
        if (!is_same_table(of_a[i], of_b[i])) return false;
    }
    return tamis_sum_tables(&a->set).aged == tamis_sum_tables(&b->set).aged;
}

static bool sum_print(void *context, uint64_t print, uint64_t copies) {
    (void)copies;
    *(uint64_t *)context += mix64(print);
    return true;
}

/* Tables that grow may be at different moments of a step. Do they have the same keys, and equally
 * many of each value? */
static bool is_alike(const tamis_states *a, const tamis_states *b) {
    uint64_t of_a[17] = { 0 }, of_b[17] = { 0 };
    if (a->set.growth == NULL || a->set.table.values > 16) return is_same(a, b);
    if (tamis_states_tally(a, of_a) != TAMIS_OK || tamis_states_tally(b, of_b) != TAMIS_OK)
        return false;
    (void)tamis_each_print(&a->set, sum_print, &of_a[16]);
    (void)tamis_each_print(&b->set, sum_print, &of_b[16]);
    return memcmp(of_a, of_b, sizeof of_a) == 0;
}

/* A table after some operations. */
static const char *life_grown(life *l, const subject *variant, uint64_t seed) {
    MUST(life_begin(l, variant, 2 * variant->capacity, seed), "no table");
    return life_run(l, variant->operations / 2 + variant->capacity, 0.9);
}

/* ------------------------------------------------------------------ histories */

/* Keys are put, moved, aged and dropped; every answer is one that the exact account allows. */
static const char *answers_are_those_of_an_exact_table(const subject *variant) {
    life        l;
    const char *why = life_grown(&l, variant, 1);
    for (unsigned part = 0; part < 4 && why == NULL; part++) {
        why = life_run(&l, variant->operations / 4, part % 2 == 0 ? 0.95 : 0.3);
        if (why == NULL) why = life_census(&l);
    }
    life_end(&l);
    return why;
}

/* If callers keep the rules, the rates are those of the plan, within 4 sigma and one. */
static const char *check_rate(const char *name, uint64_t n, uint64_t of_n, double stated) {
    double const expected = stated * (double)of_n;
    MUST((double)n <= expected + 4 * sqrt(expected) + 1, "%s: %llu of %llu, stated %.3g", name,
         (unsigned long long)n, (unsigned long long)of_n, stated);
    return NULL;
}

static const char *rates_are_those_of_the_plan(const subject *variant) {
    life              l;
    tamis_states_info info;
    if (variant->capacity > variant->operations)
        return NULL; /* that takes long: in long runs only */
    MUST(life_begin(&l, variant, 4 * variant->capacity, 5), "no table");
    l.is_behaved = true;
    const char *why = life_run(&l, 30 * variant->capacity, 0.97);
    l.answers = (answers){ 0 };
    for (unsigned round = 0; round < 3 && why == NULL; round++) {
        why = life_census(&l);
        if (why == NULL) why = life_run(&l, variant->capacity, 0.97);
    }
    if (why != NULL) return why;
    MUST(tamis_states_inspect(l.states, &info) == TAMIS_OK, "no info");
    const answers *const a = &l.answers;
    /* A key can collide when it comes and when another key comes: twice the rate of one. */
    why = check_rate("wrong or lost", a->wrong + a->lost, a->present, 2 * info.plan.fpr);
    if (why == NULL) why = check_rate("unknown", a->unknown, a->present, info.plan.unknown);
    if (why == NULL) why = check_rate("false", a->false_values, a->absent, info.plan.fpr);
    if (why == NULL && strcmp(variant->kind, "state_bloom") == 0 && variant->timeout == 0)
        MUST(a->wrong == 0 && a->lost == 0, "state_bloom has a wrong value, or lost a key");
    life_end(&l);
    return why;
}

/* ------------------------------------------------------------------ refusals */

/* Call an operation that must fail for a key that has `value`, or is absent. */
static tamis_status ask_in_vain(tamis_states *states, uint64_t key, bool is_there, uint32_t value,
                                uint64_t values, unsigned turn) {
    uint32_t const other = (uint32_t)((value + 1) % values);
    switch (turn % 3) {
    case 0:
        return is_there ? tamis_states_put_id(states, key, other)
                        : tamis_states_move_id(states, key, other, value);
    case 1: return tamis_states_move_id(states, key, other, value);
    default: return tamis_states_drop_id(states, key, is_there ? other : TAMIS_ANY_VALUE);
    }
}

/* A refused call changes no byte. A call that a fingerprint shows to be impossible is refused. */
static const char *refusals_change_nothing(const subject *variant) {
    life        l;
    uint64_t    refused = 0;
    const char *why = life_grown(&l, variant, 2);
    for (unsigned i = 0; i < 400 && why == NULL; i++) {
        uint64_t const key = life_key(&l, dice_below(&l.chance, l.population));
        uint32_t       value = 0;
        tamis_states  *before = NULL;
        MUST(tamis_states_copy(l.states, &before) == TAMIS_OK, "no copy");
        tamis_status const was = tamis_states_get_id(l.states, key, &value);
        tamis_status const status =
            ask_in_vain(l.states, key, was == TAMIS_OK, value, variant->values, i);
        bool const is_refused = status == TAMIS_ERR_CONFLICT || status == TAMIS_ERR_ABSENT;
        bool const is_expected = status == (was == TAMIS_OK ? TAMIS_ERR_CONFLICT : was);
        /* a refused drop pays for a step, which may move keys */
        bool const is_as_before =
            variant->grow_to != 0 ? is_alike(l.states, before) : is_same(l.states, before);
        if (is_refused && !is_as_before) why = "what was refused changed something";
        if (!is_expected && !variant->is_shared) why = because("%d for %d", (int)status, (int)was);
        if (!is_refused) {
            tamis_states *const changed = l.states;
            l.states = before;
            before = changed;
        }
        refused += is_refused;
        tamis_states_free(before);
    }
    MUST(why != NULL || refused > 100, "only %llu were refused", (unsigned long long)refused);
    life_end(&l);
    return why;
}

/* Put keys beyond the capacity until one is refused. No key is lost by that. */
static const char *full_loses_nothing(const subject *variant) {
    life        l;
    const char *why = NULL;
    MUST(life_begin(&l, variant, 6 * variant->capacity, 3), "no table");
    for (uint64_t i = 0; i < l.population && l.refused < 20 && why == NULL; i++) {
        why = life_put(&l, i, (uint32_t)(i % variant->values));
    }
    if (why == NULL) why = life_census(&l);
    if (why == NULL && !variant->is_shared && l.refused == 0) why = "six times as much, and room";
    life_end(&l);
    return why;
}

/* ------------------------------------------------------------------ batches */

typedef struct plan_of_steps {
    dice     chance;
    uint64_t values;
} plan_of_steps;

static tamis_step step(void *context, size_t i, tamis_status status, uint32_t value,
                       uint32_t *ret_to) {
    plan_of_steps *const p = context;
    (void)i;
    *ret_to = (uint32_t)dice_below(&p->chance, p->values);
    if (status == TAMIS_ERR_ABSENT) return TAMIS_STEP_SET;
    if (status == TAMIS_ERR_UNKNOWN) return TAMIS_STEP_TOUCH;
    return value == 0 ? TAMIS_STEP_DROP : (tamis_step)dice_below(&p->chance, 3);
}

#define BATCH 500
#define OPERATIONS 7 /* put, move, touch, drop, get, set, step */

/* The keys of a batch and what goes with them, some twice. */
typedef struct batch_of_keys {
    uint64_t      key[BATCH], from[BATCH];
    uint32_t      to[BATCH], got[BATCH];
    tamis_status  status[BATCH];
    plan_of_steps steps;
} batch_of_keys;

static void batch_fill(batch_of_keys *b, dice *chance, uint64_t population, uint64_t values) {
    for (unsigned i = 0; i < BATCH; i++) {
        b->key[i] = i % 5 == 4 ? b->key[i - 1] : 3 * dice_below(chance, population) + 1;
        b->from[i] = i % 2 == 0 ? TAMIS_ANY_VALUE : dice_below(chance, values);
        b->to[i] = (uint32_t)dice_below(chance, values);
        b->got[i] = 0;
    }
    b->steps = (plan_of_steps){ *chance, values };
}

static tamis_status batch_do(unsigned operation, tamis_states *states, batch_of_keys *b,
                             size_t *ret_n) {
    tamis_states_batch const batch = { .ids = b->key,
                                       .n = BATCH,
                                       .from = b->from,
                                       .values = b->to,
                                       .ret_statuses = b->status,
                                       .ret_values = b->got };
    plan_of_steps            steps = b->steps;
    switch (operation) {
    case 0: return tamis_states_put_batch(states, &batch, ret_n);
    case 1: return tamis_states_move_batch(states, &batch, ret_n);
    case 2: return tamis_states_touch_batch(states, &batch, ret_n);
    case 3: return tamis_states_drop_batch(states, &batch, ret_n);
    case 4: return tamis_states_get_batch(states, &batch, ret_n);
    case 5: return tamis_states_set_batch(states, &batch, ret_n);
    default: return tamis_states_step_batch(states, &batch, step, &steps, ret_n);
    }
}

/* A step, one call at a time. */
static tamis_status step_alone(tamis_states *states, uint64_t key, plan_of_steps *steps,
                               uint32_t *ret_value) {
    tamis_status const was = tamis_states_get_id(states, key, ret_value);
    uint32_t           next = 0;
    switch (step(steps, 0, was, *ret_value, &next)) {
    case TAMIS_STEP_LEAVE: return TAMIS_OK;
    case TAMIS_STEP_TOUCH: return tamis_states_touch_id(states, key);
    case TAMIS_STEP_DROP: return tamis_states_drop_id(states, key, *ret_value);
    case TAMIS_STEP_SET: break;
    }
    return was == TAMIS_ERR_ABSENT ? tamis_states_put_id(states, key, next)
                                   : tamis_states_move_id(states, key, *ret_value, next);
}

/* Set means put or move, depending on get. Half of the keys are set in this way, and half by set
 * itself. */
static tamis_status set_alone(tamis_states *states, uint64_t key, uint32_t to) {
    uint32_t value = 0;
    if (key % 2 == 0) return tamis_states_set_id(states, key, to);
    switch (tamis_states_get_id(states, key, &value)) {
    case TAMIS_OK: return tamis_states_move_id(states, key, value, to);
    case TAMIS_ERR_ABSENT: return tamis_states_put_id(states, key, to);
    default: return tamis_states_move_id(states, key, TAMIS_ANY_VALUE, to);
    }
}

static tamis_status alone_do(unsigned operation, tamis_states *states, const batch_of_keys *b,
                             unsigned i, plan_of_steps *steps, uint32_t *ret_value) {
    switch (operation) {
    case 0: return tamis_states_put_id(states, b->key[i], b->to[i]);
    case 1: return tamis_states_move_id(states, b->key[i], b->from[i], b->to[i]);
    case 2: return tamis_states_touch_id(states, b->key[i]);
    case 3: return tamis_states_drop_id(states, b->key[i], b->from[i]);
    case 4: return tamis_states_get_id(states, b->key[i], ret_value);
    case 5: return set_alone(states, b->key[i], b->to[i]);
    default: return step_alone(states, b->key[i], steps, ret_value);
    }
}

/* The same operations as a batch and one by one, on two copies. */
static const char *one_batch(unsigned operation, tamis_states *together, tamis_states *alone,
                             batch_of_keys *b) {
    plan_of_steps      steps = b->steps;
    size_t             n = SIZE_MAX, n_ok = 0;
    tamis_status const all = batch_do(operation, together, b, &n);
    MUST(all == TAMIS_OK, "a batch said %d", (int)all);
    for (unsigned i = 0; i < BATCH; i++) {
        uint32_t           value = 0;
        tamis_status const one = alone_do(operation, alone, b, i, &steps, &value);
        MUST(b->status[i] == one, "operation %u, key %u: %d in a batch, %d alone", operation, i,
             (int)b->status[i], (int)one);
        MUST(b->got[i] == value, "operation %u, key %u: value %u in a batch, %u alone", operation,
             i, b->got[i], value);
        n_ok += one == TAMIS_OK;
    }
    MUST(n == n_ok, "a batch counted %zu of %zu", n, n_ok);
    MUST(is_alike(together, alone), "operation %u left other bytes", operation);
    return NULL;
}

static const char *a_batch_is_its_operations_in_order(const subject *variant) {
    life          l;
    tamis_states *alone = NULL;
    const char   *why = life_grown(&l, variant, 4);
    if (why != NULL) return why;
    MUST(tamis_states_copy(l.states, &alone) == TAMIS_OK, "no copy");
    for (unsigned i = 0; i < 10 * OPERATIONS && why == NULL; i++) {
        static batch_of_keys b;
        batch_fill(&b, &l.chance, l.population, variant->values);
        why = one_batch(i % OPERATIONS, l.states, alone, &b);
    }
    tamis_states_free(alone);
    life_end(&l);
    return why;
}

/* ------------------------------------------------------------------ time */

/* A key that is touched within its timeout stays, however late the sweep is. In the end all go. */
static const char *silent_keys_expire_and_others_stay(const subject *variant) {
    life        l;
    const char *why = NULL;
    if (variant->timeout == 0) return NULL;
    MUST(life_begin(&l, variant, variant->capacity, 6), "no table");
    for (uint64_t i = 0; i < l.population && why == NULL; i++) {
        why = life_put(&l, i, (uint32_t)(i % variant->values));
    }
    for (unsigned round = 0; round < 12 && why == NULL; round++) { /* the first half stays alive */
        for (uint64_t i = 0; i < l.population / 2 && why == NULL; i++) why = life_touch(&l, i);
        why = life_tick(&l, variant->timeout); /* with a backlog, if the table is large */
        for (unsigned k = round; k < 6 && why == NULL; k++) why = life_tick(&l, 0);
        if (why == NULL) why = life_census(&l);
    }
    for (unsigned i = 0; i < 4 && why == NULL; i++) {
        why = life_tick(&l, 2 * variant->timeout);
        while (l.backlog != 0 && why == NULL) why = life_tick(&l, 0);
    }
    tamis_states_info info;
    if (why != NULL) return why;
    MUST(tamis_states_inspect(l.states, &info) == TAMIS_OK, "no info");
    MUST(variant->is_shared || (info.keys == 0 && info.aged > 0), "%llu keys are left",
         (unsigned long long)info.keys);
    MUST(info.current_fpr == 0 || variant->is_shared, "something is left");
    life_end(&l);
    return NULL;
}

/* Each value lasts for its own timeout, and at most one pass longer. */
static const char *every_value_has_its_own_timeout(const subject *variant) {
    static const uint64_t times[4] = { 10, 33, 70, 41 };
    tamis_states_spec     spec = TAMIS_STATES_SPEC_INIT;
    if (variant->is_shared || variant->geometry != NULL || variant->values > 1000) return NULL;
    spec.capacity = 1000;
    spec.values = 4;
    spec.fpr = 1e-7;
    spec.timeout = 70;
    spec.timeouts = times;
    spec.kind = variant->kind;
    spec.isa = variant->isa;
    tamis_states *states = NULL;
    MUST(tamis_states_create(&spec, &states, NULL) == TAMIS_OK, "no table");
    for (uint64_t i = 0; i < 1000; i++) {
        MUST(tamis_states_put_id(states, i, i % 4) == TAMIS_OK, "no room");
    }
    uint64_t aged[4] = { 0, 0, 0, 0 }, counts[4];
    for (uint64_t now = 1; now <= 90; now++) {
        MUST(tamis_states_tick(states, 1, aged, NULL) == TAMIS_OK, "no tick");
        MUST(tamis_states_tally(states, counts) == TAMIS_OK, "no tally");
        for (unsigned v = 0; v < 4; v++) {
            uint64_t const least = (times[v] + 9) / 10 * 10; /* a pass is 10 ticks here */
            MUST(counts[v] + aged[v] == 250, "value %u: %llu + %llu", v,
                 (unsigned long long)counts[v], (unsigned long long)aged[v]);
            MUST(now > least || aged[v] == 0, "value %u went at %llu", v, (unsigned long long)now);
            MUST(now < least + 10 || counts[v] == 0, "value %u is there at %llu", v,
                 (unsigned long long)now);
        }
    }
    tamis_states_free(states);
    return NULL;
}

/* ------------------------------------------------------------------ whole tables */

/* A table that is written and read or opened again is the same, and continues in the same way. */
static const char *files_keep_everything(const subject *variant) {
    life               l;
    tamis_states      *read = NULL, *mapped = NULL;
    tamis_set         *set = NULL;
    buffer             file = { NULL, 0 };
    tamis_open_options map = TAMIS_OPEN_OPTIONS_INIT;
    tamis_problem      problem;
    uint64_t           a = 0, b = 0;
    const char        *why = life_grown(&l, variant, 7);
    if (why != NULL) return why;
    map.flags = TAMIS_OPEN_MAP;
    temporary const saved = temporary_file();
    if (variant->timeout != 0) MUST(life_tick(&l, variant->timeout / 3 + 1) == NULL, "no tick");
    MUST(tamis_states_write(l.states, buffer_write, &file) == TAMIS_OK, "not written");
    MUST(tamis_states_read(file.bytes, file.n, NULL, &read, &problem) == TAMIS_OK, "%s",
         problem.text);
    MUST(is_same(read, l.states), "read back as something else");
    MUST(tamis_states_save(l.states, saved.path, &problem) == TAMIS_OK, "%s", problem.text);
    MUST(tamis_states_open(saved.path, &map, &mapped, &problem) == TAMIS_OK, "%s", problem.text);
    MUST(is_same(mapped, l.states), "mapped as something else");
    MUST(tamis_states_put_id(mapped, 1, 0) == TAMIS_ERR_READ_ONLY, "written to a mapped file");
    MUST(tamis_open(saved.path, NULL, &set, &problem) == TAMIS_ERR_KIND, "states opened as a set");
    temporary_remove(&saved);
    for (unsigned i = 0; variant->timeout != 0 && i < 5; i++) {
        MUST(tamis_states_tick(read, variant->timeout / 4, NULL, &a) == TAMIS_OK, "no tick");
        MUST(tamis_states_tick(l.states, variant->timeout / 4, NULL, &b) == TAMIS_OK, "no tick");
        MUST(a == b && is_same(read, l.states), "time is another one in the copy");
    }
    free(file.bytes);
    tamis_states_free(read);
    tamis_states_free(mapped);
    life_end(&l);
    return NULL;
}

/* n keys in each of two tables that can be merged, and one that both have. */
static bool two_halves(const subject *variant, tamis_states **ret_a, tamis_states **ret_b) {
    tamis_states_spec like = TAMIS_STATES_SPEC_INIT;
    uint64_t const    n = variant->capacity / 2;
    uint64_t          refused = 0;
    *ret_a = states_subject_make(variant, 8);
    like.like = *ret_a;
    like.isa = variant->isa;
    if (*ret_a == NULL || tamis_states_create(&like, ret_b, NULL) != TAMIS_OK) return false;
    for (uint64_t i = 0; i < 2 * n; i++) {
        tamis_states *const where = i < n ? *ret_a : *ret_b;
        refused += tamis_states_put_id(where, i, (uint32_t)(i % variant->values)) != TAMIS_OK;
    }
    if (!variant->is_shared) refused += tamis_states_put_id(*ret_b, 0, 0) != TAMIS_OK;
    return refused <=
           (uint64_t)(4 * (variant->fpr + variant->unknown) * (double)variant->capacity) + 3;
}

/* Does the table know all keys with their values, or answer "don't know"? */
static const char *check_merged(const subject *variant, const tamis_states *states) {
    uint64_t     unknown = 0, bad = 0, n = variant->capacity / 2 * 2;
    uint32_t     value = 0;
    const char  *why = NULL;
    double const rates =
        variant->is_shared || variant->fpr > 1e-5 ? 4 * (variant->fpr + variant->unknown) : 0;
    for (uint64_t i = 0; i < n; i++) {
        tamis_status const status = tamis_states_get_id(states, i, &value);
        unknown += status == TAMIS_ERR_UNKNOWN;
        bad += status == TAMIS_ERR_ABSENT || (status == TAMIS_OK && value != i % variant->values);
    }
    /* Not permuted, a key that both have may be in two of its buckets then. */
    bool const is_apart = variant->geometry != NULL && strcmp(variant->geometry, "permuted=0") == 0;
    MUST((double)(bad + unknown) <= rates * (double)n + (rates > 0 ? 20 : is_apart),
         "%llu + %llu of %llu are not right", (unsigned long long)bad, (unsigned long long)unknown,
         (unsigned long long)n);
    MUST(tamis_states_validate(states, &why), "%s", why);
    return NULL;
}

/* Two tables become one that has the keys of both. */
static const char *merged_tables_know_the_keys_of_both(const subject *variant) {
    tamis_states *a = NULL, *b = NULL;
    const char   *why = NULL;
    MUST(two_halves(variant, &a, &b), "no tables");
    bool const         is_clear = variant->fpr < 1e-5 && !variant->is_shared;
    tamis_status const status = tamis_states_merge(a, b);
    MUST(status == TAMIS_OK || (!is_clear && status == TAMIS_ERR_CONFLICT), "merge said %d",
         (int)status);
    if (status == TAMIS_OK) why = check_merged(variant, a);
    tamis_states_free(a);
    tamis_states_free(b);
    return why;
}

/* Two tables with one key that has another value in each. */
static const char *try_conflict(const subject *variant, tamis_states **ret_a, tamis_states **ret_b,
                                tamis_states **ret_before) {
    uint32_t const other = (uint32_t)(1 % variant->values);
    uint32_t       value = 0;
    MUST(two_halves(variant, ret_a, ret_b), "no tables");
    MUST(tamis_states_move_id(*ret_b, 0, 0, other) == TAMIS_OK, "no move");
    MUST(tamis_states_copy(*ret_a, ret_before) == TAMIS_OK, "no copy");
    tamis_status const status = tamis_states_merge(*ret_a, *ret_b);
    MUST(status == TAMIS_ERR_CONFLICT || status == TAMIS_OK, "merge said %d", (int)status);
    MUST(status == TAMIS_OK || is_same(*ret_a, *ret_before), "a refused merge changed something");
    MUST(status != TAMIS_OK || tamis_states_get_id(*ret_a, 0, &value) == TAMIS_ERR_UNKNOWN,
         "two values became one");
    return NULL;
}

/* If a key has two values, the merge is refused and changes nothing, or the key is unknown. */
static const char *merging_is_all_or_nothing(const subject *variant) {
    tamis_states *a = NULL, *b = NULL, *before = NULL;
    if (variant->is_shared) return NULL; /* cells that differ are unknown: see merging_joins */
    if (variant->grow_to != 0) return NULL;
    const char *const why = try_conflict(variant, &a, &b, &before);
    tamis_states_free(a);
    tamis_states_free(b);
    tamis_states_free(before);
    return why;
}

/* Let time pass until there is no backlog. */
static const char *tick_all(tamis_states *states, uint64_t ticks) {
    uint64_t backlog = 1;
    for (bool is_first = true; backlog != 0; is_first = false) {
        MUST(tamis_states_tick(states, is_first ? ticks : 0, NULL, &backlog) == TAMIS_OK,
             "no tick");
    }
    return NULL;
}

/* The sweep of one table is at some place. Keys are put into the other one, a few in each part of a
 * timeout. Those that were taken are marked with 1 + when. */
static const char *two_hands(const subject *variant, uint64_t seed, tamis_states **ret_a,
                             tamis_states **ret_b, uint64_t *when, uint64_t n) {
    tamis_states_spec like = TAMIS_STATES_SPEC_INIT;
    dice              chance = { mix64(seed) };
    const char       *why = NULL;
    *ret_a = states_subject_make(variant, seed);
    like.like = *ret_a;
    like.isa = variant->isa;
    MUST(*ret_a != NULL && tamis_states_create(&like, ret_b, NULL) == TAMIS_OK, "no tables");
    why = tick_all(*ret_a, dice_below(&chance, 2 * variant->timeout));
    for (uint64_t i = 0, now = 0; i < n && why == NULL; i++) {
        uint64_t const later = dice_below(&chance, n) < variant->timeout % n ? 1 : 0;
        uint64_t const ticks = variant->timeout / n + later; /* a timeout in all */
        if (ticks != 0) why = tick_all(*ret_b, ticks);
        now += ticks;
        tamis_status const status = tamis_states_put_id(*ret_b, i, (uint32_t)(i % variant->values));
        when[i] = status == TAMIS_OK ? 1 + now : 0;
    }
    return why;
}

/* No key is removed before its timeout, and none is left a round after two timeouts. */
static const char *check_ages(const subject *variant, const tamis_states *states,
                              const uint64_t *when, uint64_t n, uint64_t now) {
    uint64_t const round = variant->timeout; /* with timers of two bits, as all subjects have */
    for (uint64_t i = 0; i < n; i++) {
        uint32_t value;
        if (when[i] == 0) continue;
        tamis_status const status = tamis_states_get_id(states, i, &value);
        uint64_t const     age = now - (when[i] - 1);
        MUST(age > variant->timeout || status != TAMIS_ERR_ABSENT, "gone at %llu of %llu",
             (unsigned long long)age, (unsigned long long)variant->timeout);
        bool const is_over =
            age >= 2 * variant->timeout + round && !variant->is_shared && variant->fpr < 1e-5;
        MUST(!is_over || status == TAMIS_ERR_ABSENT, "there at %llu of %llu",
             (unsigned long long)age, (unsigned long long)variant->timeout);
    }
    return NULL;
}

/* A key that was touched within the timeout is in the merged table, wherever the sweeps were. */
static const char *merging_expires_no_key_early(const subject *variant) {
    enum { KEYS = 64 };
    uint64_t       when[KEYS] = { 0 };
    uint64_t const part = variant->timeout / 16 + 1, seeds = variant->capacity > 10000         ? 1
                                                             : variant->operations < SHORT_RUN ? 3
                                                                                               : 10;
    const char    *why = NULL;
    for (uint64_t seed = 1; seed <= seeds && variant->timeout != 0 && why == NULL; seed++) {
        tamis_states *a = NULL, *b = NULL;
        uint64_t      now = 0;
        why = two_hands(variant, seed, &a, &b, when, KEYS);
        for (unsigned i = 0; i < KEYS; i++) now = max_u64(now, when[i] != 0 ? when[i] - 1 : 0);
        if (why == NULL && tamis_states_merge(a, b) != TAMIS_OK) why = "not merged";
        for (uint64_t end = now + 3 * variant->timeout; now <= end && why == NULL; now += part) {
            why = check_ages(variant, a, when, KEYS, now);
            if (why == NULL) why = tick_all(a, part);
        }
        tamis_states_free(a);
        tamis_states_free(b);
    }
    return why;
}

/* When all keys are dropped, no key is left; in kinds that promise it, no bit is set. */
static const char *dropping_all_leaves_nothing(const subject *variant) {
    life        l;
    const char *why = life_grown(&l, variant, 9);
    if (why != NULL) return why;
    for (uint64_t i = 0; i < l.population && why == NULL; i++) {
        if (l.people[i].is_there || !variant->is_shared) why = life_drop(&l, i);
    }
    uint64_t const keys = tamis_sum_tables(&l.states->set).keys;
    bool const is_clear = variant->fpr < 1e-5 && !variant->is_shared && variant->geometry == NULL;
    MUST(!is_clear || keys == 0, "%llu keys are left", (unsigned long long)keys);
    bool const is_promised = is_clear && l.states->set.kind->empties_to_zero;
    MUST(!is_promised || is_zero_body(&l.states->set), "bytes are left");
    life_end(&l);
    return why;
}

/* The same operations on the portable build leave the same bytes. */
static const char *instruction_sets_change_no_bit(const subject *variant) {
    subject other = *variant;
    life    a, b;
    other.isa = "portable";
    const char *why = life_grown(&a, variant, 10);
    if (why == NULL) why = life_grown(&b, &other, 10);
    if (why != NULL) return why;
    MUST(is_same(a.states, b.states), "other bytes than the portable build's");
    life_end(&a);
    life_end(&b);
    return NULL;
}

/* The counts of tally agree with the keys. */
static const char *tallies_add_up(const subject *variant) {
    life     l;
    uint64_t counts[32], sum = 0, right = 0;
    if (variant->values > 32) return NULL;
    const char *why = life_grown(&l, variant, 11);
    if (why != NULL) return why;
    tamis_status const status = tamis_states_tally(l.states, counts);
    MUST(status == (variant->is_shared ? TAMIS_ERR_CANNOT : TAMIS_OK), "tally said %d",
         (int)status);
    for (unsigned v = 0; status == TAMIS_OK && v < variant->values; v++) sum += counts[v];
    for (uint64_t i = 0; i < l.population; i++) right += l.people[i].is_there;
    uint64_t const keys = tamis_sum_tables(&l.states->set).keys;
    MUST(status != TAMIS_OK || sum == keys || variant->geometry != NULL, "%llu keys, %llu counted",
         (unsigned long long)keys, (unsigned long long)sum);
    MUST(status != TAMIS_OK || sum <= right, "more than there are");
    life_end(&l);
    return NULL;
}

/* ------------------------------------------------------------------ all of them */

const named_law states_laws[] = {
    { "answers_are_those_of_an_exact_table", answers_are_those_of_an_exact_table },
    { "rates_are_those_of_the_plan", rates_are_those_of_the_plan },
    { "refusals_change_nothing", refusals_change_nothing },
    { "full_loses_nothing", full_loses_nothing },
    { "a_batch_is_its_operations_in_order", a_batch_is_its_operations_in_order },
    { "silent_keys_expire_and_others_stay", silent_keys_expire_and_others_stay },
    { "every_value_has_its_own_timeout", every_value_has_its_own_timeout },
    { "files_keep_everything", files_keep_everything },
    { "merged_tables_know_the_keys_of_both", merged_tables_know_the_keys_of_both },
    { "merging_is_all_or_nothing", merging_is_all_or_nothing },
    { "merging_expires_no_key_early", merging_expires_no_key_early },
    { "dropping_all_leaves_nothing", dropping_all_leaves_nothing },
    { "instruction_sets_change_no_bit", instruction_sets_change_no_bit },
    { "tallies_add_up", tallies_add_up },
    { NULL, NULL },
};
