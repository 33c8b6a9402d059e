/* states.c - the front door of states: check, hash, call the kind.
 *
 * A table of states is a handle like a set's, with a kind that keeps values. What is the same for
 * both (memory, copies, files) is in make.c, save.c and open.c; here are the operations on keys,
 * and time.
 */
#include "core/memory.h"
#include "keys.h"

static tamis_status check_change(const tamis_states *states) {
    if (states == NULL) return TAMIS_ERR_ARGUMENT;
    return states->set.mapping != NULL ? TAMIS_ERR_READ_ONLY : TAMIS_OK;
}

static bool is_value(const tamis_states *states, uint64_t value) {
    return value < states->set.table.values;
}

static bool is_expected(const tamis_states *states, uint64_t value) {
    return value == TAMIS_ANY_VALUE || is_value(states, value);
}

/* Count what info tells, and pass on. */
static tamis_status note(tamis_set *set, tamis_status status) {
    set->refused_adds += status == TAMIS_ERR_FULL;
    set->refused_removes += status == TAMIS_ERR_CONFLICT;
    return status;
}

/* ------------------------------------------------------------------ one hash */

/* All that can be asked of one key. */
typedef struct request {
    enum { REQUEST_PUT, REQUEST_MOVE, REQUEST_TOUCH, REQUEST_DROP } what;
    uint64_t from;
    uint32_t to;
} request;

static tamis_status check_request(const tamis_states *states, const request *asked) {
    tamis_status const status = check_change(states);
    if (status != TAMIS_OK) return status;
    return is_value(states, asked->to) && is_expected(states, asked->from) ? TAMIS_OK
                                                                           : TAMIS_ERR_ARGUMENT;
}

static tamis_status do_request(tamis_set *set, uint64_t hash, const request *asked) {
    const tamis_kind *const kind = set->kind;
    switch (asked->what) {
    case REQUEST_PUT: return note(set, kind->states->put(&set->table, hash, asked->to));
    case REQUEST_MOVE:
        return note(set, kind->states->move(&set->table, hash, asked->from, asked->to));
    case REQUEST_TOUCH: return note(set, kind->states->touch(&set->table, hash));
    case REQUEST_DROP: return note(set, kind->states->drop(&set->table, hash, asked->from));
    }
    return TAMIS_ERR_ARGUMENT;
}

static tamis_status request_bytes(tamis_states *states, const void *key, size_t key_bytes,
                                  request asked) {
    tamis_status const status = check_request(states, &asked);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    return do_request(&states->set, keyhash_bytes(&states->set.hasher, key, key_bytes), &asked);
}

static tamis_status request_hash(tamis_states *states, uint64_t hash, request asked) {
    tamis_status const status = check_request(states, &asked);
    if (status != TAMIS_OK) return status;
    return do_request(&states->set, keyhash_id(&states->set.hasher, hash), &asked);
}

static request ask_put(uint32_t value) {
    return (request){ REQUEST_PUT, TAMIS_ANY_VALUE, value };
}

static request ask_move(uint64_t from, uint32_t to) {
    return (request){ REQUEST_MOVE, from, to };
}

static request ask_touch(void) {
    return (request){ REQUEST_TOUCH, TAMIS_ANY_VALUE, 0 };
}

static request ask_drop(uint64_t from) {
    return (request){ REQUEST_DROP, from, 0 };
}

tamis_status tamis_states_put(tamis_states *states, const void *key, size_t key_bytes,
                              uint32_t value) {
    return request_bytes(states, key, key_bytes, ask_put(value));
}

tamis_status tamis_states_move(tamis_states *states, const void *key, size_t key_bytes,
                               uint64_t from, uint32_t to) {
    return request_bytes(states, key, key_bytes, ask_move(from, to));
}

tamis_status tamis_states_touch(tamis_states *states, const void *key, size_t key_bytes) {
    return request_bytes(states, key, key_bytes, ask_touch());
}

tamis_status tamis_states_drop(tamis_states *states, const void *key, size_t key_bytes,
                               uint64_t from) {
    return request_bytes(states, key, key_bytes, ask_drop(from));
}

tamis_status tamis_states_put_id(tamis_states *states, uint64_t hash, uint32_t value) {
    return request_hash(states, hash, ask_put(value));
}

tamis_status tamis_states_move_id(tamis_states *states, uint64_t hash, uint64_t from,
                                    uint32_t to) {
    return request_hash(states, hash, ask_move(from, to));
}

tamis_status tamis_states_touch_id(tamis_states *states, uint64_t hash) {
    return request_hash(states, hash, ask_touch());
}

tamis_status tamis_states_drop_id(tamis_states *states, uint64_t hash, uint64_t from) {
    return request_hash(states, hash, ask_drop(from));
}

tamis_status tamis_states_get(const tamis_states *states, const void *key, size_t key_bytes,
                              uint32_t *ret_value) {
    if (states == NULL || ret_value == NULL || !is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    uint64_t const hash = keyhash_bytes(&states->set.hasher, key, key_bytes);
    return states->set.kind->states->get(&states->set.table, hash, ret_value);
}

tamis_status tamis_states_get_id(const tamis_states *states, uint64_t hash, uint32_t *ret_value) {
    if (states == NULL || ret_value == NULL) return TAMIS_ERR_ARGUMENT;
    return states->set.kind->states->get(&states->set.table, keyhash_id(&states->set.hasher, hash),
                                         ret_value);
}

/* ------------------------------------------------------------------ batches */

static bool is_keys(const tamis_states_batch *of, keys_from *ret_from) {
    if (of == NULL || (of->keys != NULL && of->ids != NULL)) return false;
    *ret_from = (keys_from){ .keys = of->keys, .ids = of->ids, .n = of->n };
    return is_batch(ret_from);
}

/* Are all values of the batch values, so far as they are wanted? */
static bool are_values(const tamis_states *states, const tamis_states_batch *of, bool is_from,
                       bool is_to) {
    bool is_all = !is_to || of->values != NULL || of->n == 0;
    for (size_t i = 0; is_all && is_to && i < of->n; i++) is_all = is_value(states, of->values[i]);
    for (size_t i = 0; is_all && is_from && of->from != NULL && i < of->n; i++) {
        is_all = is_expected(states, of->from[i]);
    }
    return is_all;
}

/* The memory of a chunk has come: ask for what it points to. */
static void chunk_ready(const tamis_set *set, const uint64_t *hash, unsigned n, bool is_new) {
    if (n != 0 && set->kind->states->fetch_values != NULL)
        set->kind->states->fetch_values(&set->table, hash, n, is_new);
}

/* Before key i of a chunk. When most of it is done, the memory of the next one has come, and there
 * is time left for what that points to. The first chunk of all has to wait. */
static void chunk_look_ahead(const key_batch *at, unsigned i, bool is_new) {
    if (at->at == 0 && i == 0) chunk_ready(at->set, at->hash, at->n, is_new);
    if (i == at->n * 3 / 4) chunk_ready(at->set, at->hash_next, at->n_next, is_new);
}

/* The same request for all keys, each with its own values. */
static tamis_status request_batch(tamis_states *states, const tamis_states_batch *of, request asked,
                                  size_t *ret_n) {
    bool const         is_to = asked.what == REQUEST_PUT || asked.what == REQUEST_MOVE;
    bool const         is_from = asked.what == REQUEST_MOVE || asked.what == REQUEST_DROP;
    keys_from          from;
    tamis_status const checked = check_change(states);
    if (checked != TAMIS_OK) return checked;
    if (!is_keys(of, &from) || !are_values(states, of, is_from, is_to)) return TAMIS_ERR_ARGUMENT;
    size_t    n = 0;
    key_batch at;
    for (batch_begin(&at, &states->set, &from, true); at.n != 0; batch_next(&at)) {
        for (unsigned i = 0; i < at.n; i++) {
            chunk_look_ahead(&at, i, asked.what == REQUEST_PUT);
            if (is_to) asked.to = of->values[at.at + i];
            if (is_from && of->from != NULL) asked.from = of->from[at.at + i];
            tamis_status const status = do_request(&states->set, at.hash[i], &asked);
            if (of->ret_statuses != NULL) of->ret_statuses[at.at + i] = status;
            n += status == TAMIS_OK;
        }
    }
    if (ret_n != NULL) *ret_n = n;
    return TAMIS_OK;
}

tamis_status tamis_states_put_batch(tamis_states *states, const tamis_states_batch *batch,
                                    size_t *ret_n) {
    return request_batch(states, batch, ask_put(0), ret_n);
}

tamis_status tamis_states_move_batch(tamis_states *states, const tamis_states_batch *batch,
                                     size_t *ret_n) {
    return request_batch(states, batch, ask_move(TAMIS_ANY_VALUE, 0), ret_n);
}

tamis_status tamis_states_touch_batch(tamis_states *states, const tamis_states_batch *batch,
                                      size_t *ret_n) {
    return request_batch(states, batch, ask_touch(), ret_n);
}

tamis_status tamis_states_drop_batch(tamis_states *states, const tamis_states_batch *batch,
                                     size_t *ret_n) {
    return request_batch(states, batch, ask_drop(TAMIS_ANY_VALUE), ret_n);
}

/* A chunk of gets; values only where there are any. */
static void chunk_get(const tamis_set *set, const uint64_t *hash, unsigned n, uint32_t *ret_values,
                      tamis_status *ret_statuses) {
    if (set->kind->states->get_chunk != NULL) {
        set->kind->states->get_chunk(&set->table, hash, n, ret_values, ret_statuses);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        ret_statuses[i] = set->kind->states->get(&set->table, hash[i], &ret_values[i]);
    }
}

tamis_status tamis_states_get_batch(const tamis_states *states, const tamis_states_batch *batch,
                                    size_t *ret_n) {
    keys_from from;
    if (states == NULL || !is_keys(batch, &from)) return TAMIS_ERR_ARGUMENT;
    size_t       n = 0;
    key_batch    at;
    uint32_t     values[TAMIS_CHUNK];
    tamis_status statuses[TAMIS_CHUNK];
    for (batch_begin(&at, &states->set, &from, false); at.n != 0; batch_next(&at)) {
        if (states->set.kind->states->get_chunk == NULL)
            chunk_ready(&states->set, at.hash, at.n, false);
        chunk_get(&states->set, at.hash, at.n, values, statuses);
        for (unsigned i = 0; i < at.n; i++) {
            bool const is_known = statuses[i] == TAMIS_OK;
            if (is_known && batch->ret_values != NULL) batch->ret_values[at.at + i] = values[i];
            n += is_known;
        }
        if (batch->ret_statuses != NULL)
            memcpy(batch->ret_statuses + at.at, statuses, at.n * sizeof statuses[0]);
    }
    if (ret_n != NULL) *ret_n = n;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ machines */

/* Do what a stepper has decided about a key that was found so. */
static tamis_status step_one(tamis_set *set, uint64_t hash, tamis_step step, tamis_status was,
                             uint32_t value, uint32_t to) {
    uint64_t const from = was == TAMIS_OK ? value : TAMIS_ANY_VALUE;
    bool const     is_new = was == TAMIS_ERR_ABSENT;
    switch (step) {
    case TAMIS_STEP_LEAVE: return TAMIS_OK;
    case TAMIS_STEP_TOUCH: return do_request(set, hash, &(request){ .what = REQUEST_TOUCH });
    case TAMIS_STEP_SET: {
        request const put = ask_put(to), move = ask_move(from, to);
        return to < set->table.values ? do_request(set, hash, is_new ? &put : &move)
                                      : TAMIS_ERR_ARGUMENT;
    }
    case TAMIS_STEP_DROP: {
        request const drop = ask_drop(from);
        return do_request(set, hash, &drop);
    }
    }
    return TAMIS_ERR_ARGUMENT;
}

/* One key, with what get would have said of it. */
static tamis_status take_step(tamis_set *set, uint64_t hash, const kind_stepper *by,
                              tamis_status *ret_was, uint32_t *ret_value) {
    if (set->kind->states->step != NULL)
        return note(set, set->kind->states->step(&set->table, hash, by, ret_was, ret_value));
    uint32_t to = 0;
    *ret_was = set->kind->states->get(&set->table, hash, ret_value);
    tamis_step const decided = by->decide(by->context, by->i, *ret_was, *ret_value, &to);
    return step_one(set, hash, decided, *ret_was, *ret_value, to);
}

tamis_status tamis_states_step_batch(tamis_states *states, const tamis_states_batch *batch,
                                     tamis_stepper *step, void *context, size_t *ret_n) {
    keys_from          from;
    tamis_status const checked = check_change(states);
    if (checked != TAMIS_OK) return checked;
    if (step == NULL || !is_keys(batch, &from)) return TAMIS_ERR_ARGUMENT;
    tamis_set *const set = &states->set;
    size_t           n = 0;
    key_batch        at;
    for (batch_begin(&at, set, &from, true); at.n != 0; batch_next(&at)) {
        for (unsigned i = 0; i < at.n; i++) {
            chunk_look_ahead(&at, i, true);
            kind_stepper const by = { step, context, at.at + i };
            uint32_t           value = 0;
            tamis_status       was;
            tamis_status const status = take_step(set, at.hash[i], &by, &was, &value);
            if (batch->ret_statuses != NULL) batch->ret_statuses[by.i] = status;
            if (batch->ret_values != NULL && was == TAMIS_OK) batch->ret_values[by.i] = value;
            n += status == TAMIS_OK;
        }
    }
    if (ret_n != NULL) *ret_n = n;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ time */

#define TICK_UNITS 1024 /* the least that a call may do, in units of the sweep */

/* The most that a call does, however much is due: twice what falls due in a tick, so that whoever
 * calls once in a tick keeps up, and works off what he owes. */
static uint64_t tick_work(const sweep *hand) {
    uint64_t const a_tick = hand->units * sweep_most(hand) / hand->timeout + 1;
    return max_u64(2 * a_tick, TICK_UNITS);
}

tamis_status tamis_states_tick(tamis_states *states, uint64_t ticks, uint64_t *aged,
                               uint64_t *ret_backlog) {
    tamis_status const checked = check_change(states);
    if (checked != TAMIS_OK) return checked;
    tamis_table *const table = &states->set.table;
    sweep *const       hand = &table->sweep;
    if (hand->timeout == 0) return TAMIS_ERR_CANNOT;
    sweep_advance(hand, ticks);
    for (uint64_t left = tick_work(hand); left != 0 && hand->done != hand->due; left--) {
        states->set.kind->states->sweep(table, hand->done, aged);
        sweep_step(hand);
    }
    if (ret_backlog != NULL) *ret_backlog = hand->due - hand->done;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ whole tables */

tamis_status tamis_states_tally(const tamis_states *states, uint64_t *ret_counts) {
    if (states == NULL || ret_counts == NULL) return TAMIS_ERR_ARGUMENT;
    if (states->set.kind->states->tally == NULL) return TAMIS_ERR_CANNOT;
    memset(ret_counts, 0, (size_t)states->set.table.values * sizeof ret_counts[0]);
    states->set.kind->states->tally(&states->set.table, ret_counts);
    return TAMIS_OK;
}

tamis_status tamis_states_merge(tamis_states *into, const tamis_states *from) {
    if (from == NULL || into == from) return TAMIS_ERR_ARGUMENT;
    tamis_status const checked = check_change(into);
    if (checked != TAMIS_OK) return checked;
    if (!tamis_is_alike(&into->set, &from->set)) return TAMIS_ERR_MISMATCH;
    if (into->set.kind->states->merge == NULL) return TAMIS_ERR_CANNOT;
    return tamis_merge_or_restore(&into->set, &from->set, into->set.kind->states->merge);
}

tamis_status tamis_states_inspect(const tamis_states *states, tamis_states_info *ret_info) {
    tamis_info  as_set;
    kind_census census = { 0, 0, 0 };
    if (states == NULL || ret_info == NULL) return TAMIS_ERR_ARGUMENT;
    const tamis_table *const table = &states->set.table;
    tamis_status const       status = tamis_inspect(&states->set, &as_set);
    if (status != TAMIS_OK) return status;
    if (states->set.kind->states->census != NULL) states->set.kind->states->census(table, &census);
    *ret_info = (tamis_states_info){ .plan = as_set.plan,
                                     .isa = as_set.isa,
                                     .hash = as_set.hash,
                                     .seed = as_set.seed,
                                     .is_mapped = as_set.is_mapped,
                                     .is_huge = as_set.is_huge,
                                     .values = table->values,
                                     .timeout = table->sweep.timeout,
                                     .timer_bits = (unsigned)table->sweep.timer_bits,
                                     .keys = as_set.keys,
                                     .current_fpr = as_set.current_fpr,
                                     .unknown_cells = census.unknown_cells,
                                     .side_keys = census.side_keys,
                                     .side_room = census.side_room,
                                     .saturated = as_set.saturated,
                                     .moved = as_set.moved,
                                     .aged = table->aged,
                                     .backlog = table->sweep.due - table->sweep.done,
                                     .refused = as_set.refused_adds,
                                     .conflicts = as_set.refused_removes,
                                     .memory_bytes = as_set.memory_bytes };
    return TAMIS_OK;
}

/* The rest is as with sets. */

static const tamis_set *set_of(const tamis_states *states) {
    return states != NULL ? &states->set : NULL;
}

void tamis_states_free(tamis_states *states) {
    if (states != NULL) tamis_free(&states->set);
}

bool tamis_states_validate(const tamis_states *states, const char **reterr_why) {
    return tamis_validate(set_of(states), reterr_why);
}

tamis_status tamis_states_clear(tamis_states *states) {
    return states != NULL ? tamis_clear(&states->set) : TAMIS_ERR_ARGUMENT;
}

/* A handle that a function of sets has made: what it is the first of. */
static tamis_status hand_over(tamis_status status, tamis_set *set, tamis_states **ret_states) {
    if (status == TAMIS_OK) *ret_states = (tamis_states *)(void *)set;
    return status;
}

static_assert(sizeof(tamis_states) == sizeof(tamis_set), "one handle, two names");

tamis_status tamis_states_copy(const tamis_states *states, tamis_states **ret_copy) {
    tamis_set *copy = NULL;
    if (ret_copy == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = tamis_copy(set_of(states), &copy);
    return hand_over(status, copy, ret_copy);
}

tamis_status tamis_states_save(const tamis_states *states, const char *path,
                               tamis_problem *reterr_problem) {
    return tamis_save(set_of(states), path, reterr_problem);
}

tamis_status tamis_states_write(const tamis_states *states, tamis_writer *writer, void *context) {
    return tamis_write(set_of(states), writer, context);
}

tamis_status tamis_states_open(const char *path, const tamis_open_options *options,
                               tamis_states **ret_states, tamis_problem *reterr_problem) {
    tamis_set         *set = NULL;
    tamis_set        **ret_set = ret_states != NULL ? &set : NULL;
    tamis_status const status = tamis_file_open(path, options, true, ret_set, reterr_problem);
    return hand_over(status, set, ret_states);
}

tamis_status tamis_states_read(const void *bytes, size_t n, const tamis_open_options *options,
                               tamis_states **ret_states, tamis_problem *reterr_problem) {
    tamis_set         *set = NULL;
    tamis_set        **ret_set = ret_states != NULL ? &set : NULL;
    tamis_status const status = tamis_file_read(bytes, n, options, true, ret_set, reterr_problem);
    return hand_over(status, set, ret_states);
}
