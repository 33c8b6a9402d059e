/* life.c - see life.h. */
#include "life.h"

/* ------------------------------------------------------------------ subjects */

/* With no geometry, as planned. Small tables in which much happens, and one that is larger than
 * what one tick goes through. */
static const struct {
    uint64_t    capacity, values, timeout;
    double      fpr, unknown;
    const char *kind, *geometry; /* of one kind only */
    bool        grows;
} variants[] = {
    { 900, 2, 0, 1e-7, 1e-4, NULL, NULL, false },
    { 900, 8, 60, 1e-7, 1e-4, NULL, NULL, false },
    { 700, 3, 1, 1e-7, 1e-4, NULL, NULL, false },
    { 300, 1000000, 1000, 1e-9, 0, NULL, NULL, false },
    { 100, UINT64_C(1) << 32, 0, 1e-6, 0, NULL, NULL, false },
    { 20000, 7, 0, 0.01, 0.01, NULL, NULL, false },
    { 150000, 8, 40, 0.001, 0.001, NULL, NULL, false },
    { 1000, 16, 30, 1e-7, 0, "state_print", "permuted=0", false },
    { 1000, 16, 30, 1e-7, 0, "state_print", "reinserts=1", false },
    { 1000, 3, 30, 0.001, 0.01, "state_bloom", "counter_bits=0", false },
    { 1000, 3, 30, 0.001, 0.01, "state_bloom", "counter_bits=4", false },
    { 1000, 3, 30, 0.001, 0.01, "state_direct", "counter_bits=4", false },
    { 6000, 8, 0, 1e-7, 1e-4, NULL, NULL, true },
    { 6000, 8, 60, 1e-7, 1e-4, NULL, NULL, true },
};

#define N_VARIANTS COUNT(variants)

static bool is_shared(const char *kind) {
    return strcmp(kind, "state_bloom") == 0 || strcmp(kind, "state_direct") == 0;
}

static bool kind_grows(const char *kind) {
    const tamis_kind *found = NULL;
    return tamis_kind_find(kind, NULL, &found) == TAMIS_OK && found->growing != NULL;
}

static bool variant_is_for(size_t variant, const char *kind) {
    if (variants[variant].grows) return kind_grows(kind);
    const char *const own = variants[variant].kind;
    bool const        is_few = variants[variant].values <= 16;
    return own != NULL ? strcmp(own, kind) == 0 : is_few || !is_shared(kind);
}

/* A plan of state_direct with timers is made only on request (kinds/state_direct/size.h). */
static const char *variant_geometry(size_t variant, const char *kind) {
    const char *const own = variants[variant].geometry;
    bool const        is_direct = strcmp(kind, "state_direct") == 0;
    bool const        must_ask = own == NULL && is_direct && variants[variant].timeout != 0;
    return must_ask ? "counter_bits=4" : own;
}

subject *states_subjects(uint64_t operations, size_t *ret_n) {
    size_t kinds = 0, isas = 0, n = 0;
    while (tamis_states_kind_name(kinds) != NULL) kinds++;
    while (tamis_isa_name(isas) != NULL) isas++;
    subject *const all = calloc(kinds * isas * N_VARIANTS, sizeof *all);
    for (size_t i = 0; all != NULL && i < kinds * isas * N_VARIANTS; i++) {
        const char *const kind = tamis_states_kind_name(i / isas / N_VARIANTS);
        size_t const      variant = i % N_VARIANTS;
        const char *const isa = tamis_isa_name(i / N_VARIANTS % isas);
        if (!variant_is_for(variant, kind) || !isa_is_own(kind, isa)) continue;
        bool const is_middle = i / N_VARIANTS % isas == 1 && isas > 2; /* between best and plain */
        all[n++] = (subject){ .kind = kind,
                              .isa = isa,
                              .capacity = variants[variant].capacity,
                              .values = variants[variant].values,
                              .timeout = variants[variant].timeout,
                              .fpr = variants[variant].fpr,
                              .unknown = variants[variant].unknown,
                              .geometry = variant_geometry(variant, kind),
                              .is_shared = is_shared(kind),
                              .grow_to = variants[variant].grows ? variants[variant].capacity : 0,
                              .operations = is_middle ? operations / 4 : operations };
    }
    *ret_n = n;
    return all;
}

tamis_states *states_subject_make(const subject *variant, uint64_t seed) {
    tamis_seed const  fixed = make_seed(seed);
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = variant->grow_to != 0 ? variant->grow_to / 4 : variant->capacity;
    spec.grow_to = variant->grow_to;
    spec.values = variant->values;
    spec.timeout = variant->timeout;
    spec.fpr = variant->fpr;
    spec.unknown = variant->unknown;
    spec.kind = variant->kind;
    spec.geometry = variant->geometry;
    spec.seed = &fixed;
    spec.isa = variant->isa;
    tamis_states *states = NULL;
    tamis_problem problem;
    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK) {
        (void)fprintf(stderr, "%s: %s\n", variant->kind, problem.text);
        return NULL;
    }
    if (variant->instead == NULL) return states;
    states->set.kind = variant->instead;
    if (states->set.growth == NULL) states->set.states = variant->instead->states;
    return states;
}

/* ------------------------------------------------------------------ the account */

bool life_begin(life *l, const subject *variant, uint64_t population, uint64_t seed) {
    *l = (life){ .variant = variant, .population = population, .chance = { mix64(seed) } };
    l->people = calloc(population, sizeof *l->people);
    l->states = states_subject_make(variant, seed);
    return l->people != NULL && l->states != NULL;
}

void life_end(life *l) {
    tamis_states_free(l->states);
    free(l->people);
}

uint64_t life_key(const life *l, uint64_t i) {
    (void)l;
    return i * 3 + 1;
}

/* A key that was not touched for longer than its timeout: it may or may not be there. */
static bool is_doubtful(const life *l, const person *p) {
    return p->is_there && l->variant->timeout != 0 && l->now - p->heard > l->variant->timeout;
}

/* A key that must be gone. Shared cells may be kept alive by other keys. Steps of growing let a key
 * stay for a 32nd of a pass more, in all. */
static bool is_over(const life *l, const person *p) {
    uint64_t const timeout = l->variant->timeout;
    uint64_t const waited = l->variant->grow_to != 0 ? timeout / 32 + 1 : 0;
    return is_doubtful(l, p) && !l->variant->is_shared && !p->is_blurred && l->backlog == 0 &&
           l->now - p->heard >= 2 * timeout + waited;
}

/* In kinds whose keys share cells, a key that was silent for long may have lost some of its cells,
 * and other keys may use them now. So any answer is possible. */
static void hear(life *l, person *p, uint32_t value) {
    bool const is_patched =
        l->variant->is_shared && p->is_there && (p->is_blurred || is_doubtful(l, p));
    if (!p->is_there) l->there++;
    *p = (person){ true, is_patched || (!l->variant->is_shared && l->backlog != 0), value, l->now };
}

static void forget(life *l, person *p) {
    if (p->is_there) l->there--;
    p->is_there = false;
}

/* ------------------------------------------------------------------ one key */

/* Two keys may look like one to the table. The plan states how often; here it is counted. */
static bool may_clash(const life *l) {
    return l->variant->fpr > 1e-5 || l->variant->is_shared;
}

const char *life_get(life *l, uint64_t i) {
    const person *const p = &l->people[i];
    uint32_t            value = UINT32_MAX;
    tamis_status const  status = tamis_states_get_id(l->states, life_key(l, i), &value);
    MUST(status == TAMIS_OK || status == TAMIS_ERR_ABSENT || status == TAMIS_ERR_UNKNOWN,
         "get said %d", (int)status);
    MUST(status != TAMIS_OK || value < l->variant->values, "a value that there is not: %u", value);
    MUST(status == TAMIS_OK || value == UINT32_MAX, "get wrote a value and said %d", (int)status);
    if (is_over(l, p)) {
        MUST(status == TAMIS_ERR_ABSENT || may_clash(l), "silent for two timeouts and still there");
        return NULL;
    }
    if (is_doubtful(l, p) || (l->variant->is_shared && p->is_there && p->is_blurred)) return NULL;
    if (!p->is_there) {
        l->answers.absent++;
        l->answers.false_values += status == TAMIS_OK;
        l->answers.false_unknown += status == TAMIS_ERR_UNKNOWN;
        MUST(status == TAMIS_ERR_ABSENT || may_clash(l), "a key that is not there: %d",
             (int)status);
        return NULL;
    }
    l->answers.present++;
    l->answers.right += status == TAMIS_OK && value == p->value;
    l->answers.wrong += status == TAMIS_OK && value != p->value;
    l->answers.unknown += status == TAMIS_ERR_UNKNOWN;
    l->answers.lost += status == TAMIS_ERR_ABSENT;
    MUST(status != TAMIS_ERR_ABSENT || may_clash(l), "a key is lost");
    MUST(status != TAMIS_OK || value == p->value || may_clash(l), "a wrong value");
    return NULL;
}

const char *life_put(life *l, uint64_t i, uint32_t value) {
    person *const      p = &l->people[i];
    bool const         is_doubt = is_doubtful(l, p), was_there = p->is_there && !is_doubt;
    tamis_status const status = tamis_states_put_id(l->states, life_key(l, i), value);
    l->refused += status == TAMIS_ERR_FULL;
    if (status == TAMIS_OK) {
        MUST(!was_there || p->value == value || may_clash(l), "put over another value");
        hear(l, p, value);
    } else if (status == TAMIS_ERR_CONFLICT) {
        MUST(may_clash(l) || is_doubt || (was_there && p->value != value), "no conflict");
        l->clashes += !p->is_there;
    } else if (status == TAMIS_ERR_UNKNOWN) {
        MUST(l->variant->is_shared || l->variant->geometry != NULL, "put said unknown");
        l->clashes += !p->is_there;
    } else {
        MUST(status == TAMIS_ERR_FULL && !was_there, "put said %d", (int)status);
    }
    return NULL;
}

const char *life_move(life *l, uint64_t i, uint32_t to) {
    person *const      p = &l->people[i];
    bool const         is_doubt = is_doubtful(l, p), is_there = p->is_there && !is_doubt;
    bool const         is_any = dice_below(&l->chance, 2) == 0;
    uint64_t const     from = is_any || !p->is_there ? TAMIS_ANY_VALUE : p->value;
    tamis_status const status = tamis_states_move_id(l->states, life_key(l, i), from, to);
    MUST(status != TAMIS_ERR_CONFLICT || from != TAMIS_ANY_VALUE, "a conflict with any value");
    MUST(status != TAMIS_ERR_CONFLICT || may_clash(l), "a conflict with its own value");
    MUST(status == TAMIS_OK || status == TAMIS_ERR_CONFLICT || status == TAMIS_ERR_ABSENT ||
             status == TAMIS_ERR_UNKNOWN,
         "move said %d", (int)status);
    if (!may_clash(l) && !is_doubt)
        MUST(status == (is_there ? TAMIS_OK : TAMIS_ERR_ABSENT) || status == TAMIS_ERR_UNKNOWN,
             "move of a key that is %sthere said %d", is_there ? "" : "not ", (int)status);
    if (status == TAMIS_OK && p->is_there) hear(l, p, to);
    return NULL;
}

const char *life_touch(life *l, uint64_t i) {
    person *const      p = &l->people[i];
    tamis_status const status = tamis_states_touch_id(l->states, life_key(l, i));
    bool const         is_there = p->is_there && !is_doubtful(l, p);
    MUST(!is_there || status != TAMIS_ERR_ABSENT || may_clash(l), "touch: a key is lost");
    MUST(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN || status == TAMIS_ERR_ABSENT,
         "touch said %d", (int)status);
    if (status != TAMIS_ERR_ABSENT && p->is_there) hear(l, p, p->value);
    return NULL;
}

const char *life_drop(life *l, uint64_t i) {
    person *const      p = &l->people[i];
    bool const         is_there = p->is_there && !is_doubtful(l, p);
    uint64_t const     from = p->is_there && dice_below(&l->chance, 2) ? p->value : TAMIS_ANY_VALUE;
    tamis_status const status = tamis_states_drop_id(l->states, life_key(l, i), from);
    MUST(!is_there || status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN || may_clash(l),
         "drop of a key that is there said %d", (int)status);
    if (status == TAMIS_OK || status == TAMIS_ERR_ABSENT) forget(l, p);
    return NULL;
}

/* ------------------------------------------------------------------ time, and much of it */

const char *life_tick(life *l, uint64_t ticks) {
    if (l->variant->timeout == 0) {
        MUST(tamis_states_tick(l->states, 1, NULL, NULL) == TAMIS_ERR_CANNOT, "time without end");
        return NULL;
    }
    MUST(tamis_states_tick(l->states, ticks, NULL, &l->backlog) == TAMIS_OK, "no tick");
    l->now += ticks;
    return NULL;
}

/* A key that is there, or any. */
static uint64_t pick(life *l, bool is_there) {
    uint64_t i = dice_below(&l->chance, l->population);
    for (unsigned tries = 0; is_there && !l->people[i].is_there && tries < 40; tries++) {
        i = dice_below(&l->chance, l->population);
    }
    return i;
}

/* Kinds with shared cells and no timers trust the caller: put only keys that are not there, and
 * move and drop only keys that are. */
static bool must_behave(const life *l) {
    return l->is_behaved || (l->variant->is_shared && l->variant->timeout == 0);
}

/* A well-behaved caller does not move or drop a key that is not there. If cells are shared, nor a
 * key that was silent for too long: other keys may use some of its cells now. */
static bool must_leave(const life *l, uint64_t i) {
    const person *const p = &l->people[i];
    return must_behave(l) && (!p->is_there || (l->variant->is_shared && is_doubtful(l, p)));
}

/* Certainly gone, even if it was touched while the sweep was late: it can be put as a new key. */
static void let_go(life *l, uint64_t i) {
    person *const p = &l->people[i];
    bool const    is_gone = l->backlog == 0 && l->now - p->heard >= 4 * l->variant->timeout;
    if (l->variant->is_shared && is_doubtful(l, p) && is_gone) forget(l, p);
}

static const char *come(life *l) {
    uint64_t const i = pick(l, false);
    if (must_behave(l)) let_go(l, i);
    if (must_behave(l) && l->people[i].is_there) return NULL;
    return life_put(l, i, (uint32_t)dice_below(&l->chance, l->variant->values));
}

static const char *change(life *l) {
    uint64_t const i = pick(l, true);
    if (must_leave(l, i)) return NULL;
    switch (dice_below(&l->chance, 3)) {
    case 0: return life_touch(l, i);
    default: return life_move(l, i, (uint32_t)dice_below(&l->chance, l->variant->values));
    }
}

static const char *go(life *l) {
    uint64_t const i = pick(l, true);
    if (must_behave(l)) let_go(l, i);
    if (must_leave(l, i)) return NULL;
    return life_drop(l, i);
}

/* Time passes at such a rate that all keys of the capacity are touched a few times within a
 * timeout; now and then it jumps. One operation in eight comes here. */
static const char *pass(life *l) {
    uint64_t const timeout = l->variant->timeout, parts = l->variant->capacity / 2;
    uint64_t const jump = dice_below(&l->chance, 5000) == 0 ? 3 * timeout : 0;
    uint64_t const whole = 2 * timeout / parts; /* on average, so much and a part */
    bool const     is_more = dice_below(&l->chance, parts) < timeout % parts;
    uint64_t const ticks = dice_below(&l->chance, whole + 1) + is_more + jump;
    return ticks != 0 || dice_below(&l->chance, 8) == 0 ? life_tick(l, ticks) : NULL;
}

const char *life_run(life *l, uint64_t n, double share) {
    uint64_t const level = (uint64_t)(share * (double)l->variant->capacity);
    const char    *why = NULL;
    for (uint64_t k = 0; k < n && why == NULL; k++) {
        bool const is_low = l->there < level;
        switch (dice_below(&l->chance, 8)) {
        case 0:
        case 1: why = is_low ? come(l) : go(l); break;
        case 2: why = come(l); break;
        case 3: why = go(l); break;
        case 4:
        case 5: why = change(l); break;
        case 6: why = l->variant->timeout != 0 ? pass(l) : NULL; break;
        default: why = life_get(l, pick(l, k % 2 == 0)); break;
        }
    }
    return why;
}

const char *life_census(life *l) {
    const char *why = NULL;
    for (uint64_t i = 0; i < l->population && why == NULL; i++) why = life_get(l, i);
    if (why == NULL && !tamis_states_validate(l->states, &why)) return why;
    return why;
}
