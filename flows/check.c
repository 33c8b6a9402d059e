/* check.c - see check.h. */
#include "check.h"

#include <string.h>

#define SWEEP_SLOTS 256 /* slots per batch that are searched for timed-out flows */

static const struct {
    const char *name, *text;
} results[N_CHECK_RESULTS] = {
    [CHECK_SAME] = { "same", "the same" },
    [CHECK_UNKNOWN] = { "unknown", "don't know" },
    [CHECK_MISSED] = { "missed", "missed: exists, not found" },
    [CHECK_GHOST] = { "ghost", "ghost: found, does not exist" },
    [CHECK_WRONG] = { "wrong", "wrong: found in wrong state" },
};

const char *check_result_name(check_result result) {
    return results[result].name;
}

const char *check_result_text(check_result result) {
    return results[result].text;
}

bool check_init(check *ret_check, const machine *m, table *small, const table_spec *spec) {
    *ret_check = (check){ .m = m, .small = small };
    memcpy(ret_check->asked, spec->timeouts, sizeof ret_check->asked);
    return exact_init(&ret_check->flows);
}

void check_fini(check *c) {
    exact_fini(&c->flows);
}

/* ------------------------------------------------------------------ time */

/* May the small table have forgotten this flow? IN_TIME: no. EITHER: yes or no. TOO_LATE: it must
 * have. */
typedef enum lateness { IN_TIME, EITHER, TOO_LATE } lateness;

static lateness get_lateness(const check *c, const exact_slot *slot) {
    uint64_t const silence = (uint32_t)(c->now - slot->tick);
    if (silence <= c->asked[slot->value]) return IN_TIME;
    bool const is_late = silence > 2 * table_timeout(c->small, slot->value);
    return is_late && !table_is_behind(c->small) ? TOO_LATE : EITHER;
}

static void check_sweep(check *c) {
    for (unsigned i = 0; i < SWEEP_SLOTS; i++) {
        if (c->swept >= c->flows.n_slots) c->swept = 0;
        exact_slot *const slot = &c->flows.slots[c->swept];
        bool const        is_gone = slot->value != EXACT_FREE && get_lateness(c, slot) == TOO_LATE;
        if (is_gone) exact_remove(&c->flows, slot);
        c->swept += !is_gone;
    }
}

/* ------------------------------------------------------------------ comparing */

static check_result compare_answers(const exact_slot *slot, tamis_status status, uint32_t value) {
    bool const exists = slot != NULL;
    if (status == TAMIS_ERR_UNKNOWN) return exists ? CHECK_UNKNOWN : CHECK_GHOST;
    if (status == TAMIS_ERR_ABSENT) return exists ? CHECK_MISSED : CHECK_SAME;
    if (!exists) return CHECK_GHOST;
    return slot->value == value ? CHECK_SAME : CHECK_WRONG;
}

/* Find a flow in the exact table. Between one and two timeouts, follow the small table. */
static exact_slot *find_flow(check *c, uint64_t id, const tracked *p) {
    exact_slot *const slot = exact_find(&c->flows, id);
    lateness const    late = slot != NULL ? get_lateness(c, slot) : IN_TIME;
    if (late == IN_TIME) return slot;
    bool const is_same = p->before == TAMIS_OK && p->value == slot->value;
    c->n_either += late == EITHER && (is_same || p->before == TAMIS_ERR_ABSENT);
    if (late == EITHER && p->before != TAMIS_ERR_ABSENT) return slot;
    exact_remove(&c->flows, slot);
    return NULL;
}

static void check_set(check *c, exact_slot *slot, uint64_t id, uint32_t value) {
    if (slot == NULL) slot = exact_add(&c->flows, id);
    c->is_out_of_memory |= slot == NULL;
    if (slot == NULL) return;
    slot->value = value;
    slot->tick = c->now;
}

static void check_one(check *c, const tracked *p, uint64_t id) {
    exact_slot *const slot = find_flow(c, id, p);
    tracked           own = *p;
    c->packets[compare_answers(slot, p->before, p->value)]++;
    switch (tracker_decide(c->m, &own, slot != NULL ? TAMIS_OK : TAMIS_ERR_ABSENT,
                           slot != NULL ? slot->value : 0)) {
    case TAMIS_STEP_SET: check_set(c, slot, id, own.to); break;
    case TAMIS_STEP_DROP: exact_remove(&c->flows, slot); break;
    case TAMIS_STEP_TOUCH: slot->tick = c->now; break;
    case TAMIS_STEP_LEAVE: break;
    }
}

void check_batch(check *c, const tracked *batch, const uint64_t *ids, size_t n, uint32_t tick) {
    c->now = tick;
    for (size_t i = 0; i < n; i++) check_one(c, &batch[i], ids[i]);
    check_sweep(c);
}

/* ------------------------------------------------------------------ at the end */

/* Flows of the exact table that the small one is asked about. */
typedef struct question {
    check            *c;
    const exact_slot *slots[TRACKER_BATCH];
} question;

static tamis_step on_question(void *context, size_t i, tamis_status status, uint32_t value,
                              uint32_t *ret_to) {
    question *const asked = context;
    (void)ret_to;
    asked->c->ends[compare_answers(asked->slots[i], status, value)]++;
    return TAMIS_STEP_LEAVE;
}

void check_finish(check *c, uint32_t tick) {
    uint64_t     ids[TRACKER_BATCH];
    tamis_status statuses[TRACKER_BATCH];
    question     asked = { .c = c };
    size_t       n = 0;
    c->now = tick;
    for (uint64_t i = 0; i <= c->flows.n_slots; i++) {
        const exact_slot *const slot = &c->flows.slots[i < c->flows.n_slots ? i : 0];
        bool const              is_last = i == c->flows.n_slots;
        if (n == TRACKER_BATCH || (is_last && n != 0)) {
            table_step(c->small, ids, n, on_question, &asked, statuses);
            n = 0;
        }
        if (is_last || slot->value == EXACT_FREE || get_lateness(c, slot) != IN_TIME) continue;
        ids[n] = slot->id;
        asked.slots[n++] = slot;
    }
}
