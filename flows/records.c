/* records.c - see records.h. */
#include "records.h"

#include <string.h>

#include "counter.h"

#define FRACTION_BITS 7
#define START_BITS 11
#define LONG_AFTER 1024 /* units; then the beginning is kept in units that are 64 times as long */
#define LONG_SHIFT 6
#define RECORD_LIFE 1000 /* units: no flow may be silent for longer */

static const counter_scale byte_scale = { 1.0234, 0, 1023 };
static const counter_scale packet_scale = { 1.0115, 511, 2047 };

static uint32_t pack_first(const record *f) {
    return (uint32_t)f->is_long << 31 | f->start << 20 | f->bytes[0] << 10 | f->bytes[1];
}

static uint32_t pack_second(const record *f) {
    return f->fraction << 25 | (uint32_t)f->is_guess << 24 | f->packets[0] << 11 | f->packets[1];
}

static void unpack_first(uint32_t value, record *f) {
    f->is_long = value >> 31 != 0;
    f->start = value >> 20 & 2047;
    f->bytes[0] = value >> 10 & 1023;
    f->bytes[1] = value & 1023;
}

static void unpack_second(uint32_t value, record *f) {
    f->fraction = value >> 25;
    f->is_guess = (value >> 24 & 1) != 0;
    f->packets[0] = value >> 11 & 2047;
    f->packets[1] = value & 2047;
}

/* ------------------------------------------------------------------ making */

static tamis_states *make_table(const tamis_states_spec *base, uint64_t salt,
                                tamis_problem *reterr_problem) {
    tamis_states_spec spec = *base;
    tamis_seed        seed = { base->seed->low + salt, base->seed->high };
    tamis_states     *states = NULL;
    spec.seed = &seed;
    return tamis_states_create(&spec, &states, reterr_problem) == TAMIS_OK ? states : NULL;
}

bool records_init(records *ret_records, const machine *m, uint64_t capacity, double fpr,
                  const tamis_seed *seed, tamis_problem *reterr_problem) {
    uint64_t          longest = 0;
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    for (unsigned i = 0; i < m->n_states; i++) {
        if (m->states[i].timeout_ns > longest) longest = m->states[i].timeout_ns;
    }
    spec.capacity = capacity;
    spec.values = UINT64_C(1) << 32;
    spec.fpr = fpr;
    spec.prefer = TAMIS_PREFER_FAST;
    spec.seed = seed;
    /* Twice the longest time in the table of flows: the record is still there when a flow has timed
     * out, and its line is written. */
    spec.timeout = 2 * (longest / tracker_tick_ns(m) + 1);
    spec.timer_bits = 4;
    *ret_records = (records){ .m = m, .unit_ns = NS_PER_SECOND, .random = seed->high | 1 };
    if (longest / RECORD_LIFE > NS_PER_SECOND) ret_records->unit_ns = longest / RECORD_LIFE;
    for (unsigned i = 0; i < 2; i++) {
        ret_records->tables[i] = make_table(&spec, i + 1, reterr_problem);
        if (ret_records->tables[i] != NULL) continue;
        records_fini(ret_records);
        return false;
    }
    ret_records->longest = spec.timeout;
    return true;
}

void records_fini(records *r) {
    for (unsigned i = 0; i < 2; i++) {
        if (r->tables[i] != NULL) tamis_states_free(r->tables[i]);
        r->tables[i] = NULL;
    }
}

/* After a long silence nothing is left. */
void records_tick(records *r, uint64_t ticks) {
    for (unsigned i = 0; i < 2; i++) {
        tamis_status const status = ticks > 2 * r->longest
                                        ? tamis_states_clear(r->tables[i])
                                        : tamis_states_tick(r->tables[i], ticks, NULL, NULL);
        (void)status; /* an error would be about the arguments, which are valid */
    }
}

uint64_t records_bytes(const records *r) {
    uint64_t           bytes = 0;
    tamis_states_facts facts;
    for (unsigned i = 0; i < 2; i++) {
        if (tamis_states_get_facts(r->tables[i], &facts) == TAMIS_OK) bytes += facts.body_bytes;
    }
    return bytes;
}

/* ------------------------------------------------------------------ one packet */

/* Uniform in [0, 1). */
static double next_random(records *r) {
    r->random ^= r->random >> 12;
    r->random ^= r->random << 25;
    r->random ^= r->random >> 27;
    return (double)(r->random * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

static uint64_t count_units(const records *r, uint64_t now_ns, bool is_long) {
    return now_ns / r->unit_ns >> (is_long ? LONG_SHIFT : 0);
}

static uint32_t count_elapsed(const records *r, const record *f, uint64_t now_ns) {
    return (uint32_t)(count_units(r, now_ns, f->is_long) - f->start) & ((1u << START_BITS) - 1);
}

static uint64_t get_duration(const records *r, const record *f, uint64_t now_ns) {
    uint64_t const elapsed = count_elapsed(r, f, now_ns);
    uint64_t const part = now_ns % r->unit_ns, step = r->unit_ns >> FRACTION_BITS;
    if (f->is_long) return (elapsed << LONG_SHIFT) * r->unit_ns;
    uint64_t const end = elapsed * r->unit_ns + part, begin = f->fraction * step;
    return end > begin ? end - begin : 0;
}

static void begin_record(const records *r, record *f, const tracked *p) {
    memset(f, 0, sizeof *f);
    f->start = (uint32_t)count_units(r, p->now_ns, false) & ((1u << START_BITS) - 1);
    f->fraction = (uint32_t)(((p->now_ns % r->unit_ns) << FRACTION_BITS) / r->unit_ns);
    f->is_guess = p->rule != NULL && p->rule->is_guess;
}

/* The flow is old: keep its beginning in long units. */
static void lengthen(const records *r, record *f, uint64_t now_ns) {
    uint32_t const elapsed = count_elapsed(r, f, now_ns);
    if (f->is_long || elapsed < LONG_AFTER) return;
    f->is_long = true;
    f->start = (uint32_t)(count_units(r, now_ns, true) - (elapsed >> LONG_SHIFT)) &
               ((1u << START_BITS) - 1);
}

void records_read(const records *r, const record *known, uint64_t now_ns,
                  record_values *ret_values) {
    memset(ret_values, 0, sizeof *ret_values);
    if (!known->is_known) return;
    /* the beginning is rounded down: a single packet would seem to last for some milliseconds */
    bool const is_single = known->packets[0] + known->packets[1] == 1;
    ret_values->duration_ns = is_single ? 0 : get_duration(r, known, now_ns);
    for (unsigned i = 0; i < 2; i++) {
        ret_values->bytes[i] = counter_value(&byte_scale, known->bytes[i]);
        ret_values->packets[i] = counter_value(&packet_scale, known->packets[i]);
    }
}

/* ------------------------------------------------------------------ a batch */

typedef struct records_step {
    records            *r;
    unsigned            i_table;
    const tracked      *batch;
    const tamis_status *after;
    record             *now, *before;
} records_step;

static void unpack(unsigned i_table, uint32_t value, record *f) {
    f->is_known = true;
    if (i_table == 0)
        unpack_first(value, f);
    else
        unpack_second(value, f);
}

/* Does this packet belong to a flow that is in the table, and has not ended before? */
static bool is_counted(const records *r, const tracked *p, tamis_status after) {
    if (tracker_is_opening(p, after)) return true;
    if (p->before != TAMIS_OK || (p->step == TAMIS_STEP_SET && after != TAMIS_OK)) return false;
    return !r->m->states[machine_state_of(r->m, p->value)].is_ended;
}

/* Add the packet to the counters of one table. An ICMP error is no packet of the flow it quotes. */
static void count_in_record(records *r, record *f, const tracked *p, unsigned i_table) {
    unsigned const side = p->p.is_from_high != p->is_client_high;
    if (p->p.is_quoted) return;
    if (i_table == 0) {
        f->bytes[side] =
            counter_add(&byte_scale, f->bytes[side], p->p.payload_bytes, next_random(r));
        lengthen(r, f, p->now_ns);
    } else {
        f->packets[side] = counter_add(&packet_scale, f->packets[side], 1, next_random(r));
    }
}

/* The first table has all but the fraction of a second and the packets: both steps fill a part. */
static tamis_step on_record(void *context, size_t i, tamis_status status, uint32_t value,
                            uint32_t *ret_to) {
    records_step *const  s = context;
    const tracked *const p = &s->batch[i];
    bool const           is_opening = tracker_is_opening(p, s->after[i]);
    record               f;
    if (!is_counted(s->r, p, s->after[i])) return TAMIS_STEP_LEAVE;
    begin_record(s->r, &f, p);
    if (status == TAMIS_OK) unpack(s->i_table, value, is_opening ? &s->before[i] : &f);
    count_in_record(s->r, &f, p, s->i_table);
    *ret_to = s->i_table == 0 ? pack_first(&f) : pack_second(&f);
    unpack(s->i_table, *ret_to, &s->now[i]);
    if (!tracker_is_end(s->r->m, p, s->after[i])) return TAMIS_STEP_SET;
    return status == TAMIS_OK ? TAMIS_STEP_DROP : TAMIS_STEP_LEAVE;
}

void records_batch(records *r, const tracked *batch, const uint64_t *ids, const tamis_status *after,
                   size_t n, record *ret_records, record *ret_before) {
    tamis_states_batch const request = { .ids = ids, .n = n };
    memset(ret_records, 0, n * sizeof *ret_records);
    memset(ret_before, 0, n * sizeof *ret_before);
    for (unsigned i = 0; i < 2; i++) {
        records_step       step = { r, i, batch, after, ret_records, ret_before };
        tamis_status const status =
            tamis_states_step_batch(r->tables[i], &request, on_record, &step, NULL);
        (void)status; /* an error would be about the arguments, which are valid */
    }
}

static tamis_step on_taken(void *context, size_t i, tamis_status status, uint32_t value,
                           uint32_t *ret_to) {
    records_step *const s = context;
    (void)ret_to;
    if (status != TAMIS_OK) return TAMIS_STEP_LEAVE;
    unpack(s->i_table, value, &s->now[i]);
    return TAMIS_STEP_DROP;
}

void records_take(records *r, uint64_t id, record *ret_record) {
    tamis_states_batch const request = { .ids = &id, .n = 1 };
    *ret_record = (record){ .is_known = false };
    for (unsigned i = 0; i < 2; i++) {
        records_step       step = { .r = r, .i_table = i, .now = ret_record };
        tamis_status const status =
            tamis_states_step_batch(r->tables[i], &request, on_taken, &step, NULL);
        (void)status; /* as above */
    }
}
