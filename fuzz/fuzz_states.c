/* fuzz_states.c - the input is a list of operations: puts, moves, touches, drops and ticks. An
 * exact table runs the same operations. A lost key, a wrong value, a key that is removed too early
 * or a broken invariant ends the run.
 *
 * Kinds that store fingerprints get fingerprints so long that no two keys have the same. Kinds
 * whose keys share cells may answer "don't know"; their law is that without timers a value is never
 * wrong.
 */
#include "core/base.h"
#include "fuzz.h"

#include <tamis/tamis.h>

#define KEYS 200
#define VALUES 5

typedef struct truth {
    bool     is_there;
    uint32_t value;
    uint64_t heard;
} truth;

typedef struct machine {
    tamis_states *states;
    truth         keys[KEYS];
    uint64_t      now, timeout;
    bool          is_shared;
} machine;

/* Write the table, read it back, and continue with the table that was read. */
static void reopen(machine *m) {
    static buffer file;
    tamis_states *back = NULL;
    file.n = 0;
    must(tamis_states_write(m->states, take, &file) == TAMIS_OK);
    must(tamis_states_read(file.bytes, file.n, NULL, &back, NULL) == TAMIS_OK);
    tamis_states_free(m->states);
    m->states = back;
}

static bool is_sure(const machine *m, const truth *t) {
    return t->is_there && (m->timeout == 0 || m->now - t->heard <= m->timeout);
}

static void check(const machine *m) {
    for (uint64_t key = 0; key < KEYS; key++) {
        const truth *const t = &m->keys[key];
        uint32_t           value = 0;
        tamis_status const status = tamis_states_get_id(m->states, key, &value);
        if (!is_sure(m, t)) continue;
        must(status != TAMIS_ERR_ABSENT);
        if (!m->is_shared || m->timeout == 0) must(status != TAMIS_OK || value == t->value);
    }
    must(tamis_states_validate(m->states, NULL));
}

/* Kinds with shared cells trust the caller, so only calls that keep the rules are made. */
static void act(machine *m, uint8_t action, uint64_t key, uint32_t value) {
    truth *const t = &m->keys[key];
    bool const   is_there = is_sure(m, t);
    switch (action % 6) {
    case 0:
        if (m->is_shared && t->is_there) break;
        if (tamis_states_put_id(m->states, key, value) == TAMIS_OK)
            *t = (truth){ true, value, m->now };
        break;
    case 1:
        if (m->is_shared && !is_there) break;
        if (tamis_states_move_id(m->states, key, TAMIS_ANY_VALUE, value) == TAMIS_OK)
            *t =
                (truth){ true, value, m->now }; /* otherwise it has not changed, or stays unknown */
        break;
    case 2:
        if (m->is_shared && !is_there) break;
        if (tamis_states_touch_id(m->states, key) == TAMIS_OK) t->heard = m->now;
        break;
    case 3:
        if (m->is_shared && !is_there) break;
        if (tamis_states_drop_id(m->states, key, TAMIS_ANY_VALUE) == TAMIS_OK) t->is_there = false;
        break;
    case 4:
        m->now += m->timeout != 0 ? value : 0;
        if (m->timeout != 0) must(tamis_states_tick(m->states, value, NULL, NULL) == TAMIS_OK);
        break;
    default: reopen(m); break;
    }
}

#define KINDS 8
#define TIMEOUTS 30

/* Planning takes longer than a run: one table for each kind and timeout is planned, and others are
 * made like it. */
static tamis_states *model_of(size_t kind, uint64_t timeout) {
    static tamis_states    *models[KINDS][TIMEOUTS];
    static const tamis_seed seed = { 1, 2 };
    tamis_states_spec       spec = TAMIS_STATES_SPEC_INIT;
    if (models[kind][timeout] != NULL) return models[kind][timeout];
    spec.capacity = 60; /* for 200 keys, so that it gets full */
    spec.values = VALUES;
    spec.fpr = 1e-8;
    spec.unknown = 0.01;
    spec.timeout = timeout;
    spec.kind = tamis_states_kind_name(kind);
    spec.seed = &seed;
    return tamis_states_create(&spec, &models[kind][timeout], NULL) == TAMIS_OK
               ? models[kind][timeout]
               : NULL;
}

static bool begin(machine *m, uint8_t kind, uint8_t timeout) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    size_t            n = 0;
    while (n < KINDS && tamis_states_kind_name(n) != NULL) n++;
    const char *const name = tamis_states_kind_name(kind % n);
    *m = (machine){ .timeout = timeout % TIMEOUTS };
    m->is_shared = strcmp(name, "state_bloom") == 0 || strcmp(name, "state_direct") == 0;
    spec.like = model_of(kind % n, m->timeout);
    return spec.like != NULL && tamis_states_create(&spec, &m->states, NULL) == TAMIS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static machine m;
    if (n < 2 || !begin(&m, bytes[0], bytes[1])) return 0;
    for (size_t i = 2; i + 2 < n; i += 3) {
        act(&m, bytes[i], bytes[i + 1] % KEYS, bytes[i + 2] % VALUES);
        if (i % 30 == 2) check(&m);
    }
    check(&m);
    tamis_states_free(m.states);
    return 0;
}
