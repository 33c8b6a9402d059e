/* session.c - see session.h. */
#include "session.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "machine_file.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "progress.h"
#include "state.h"
#include "upkeep.h"

#define READ_PACKETS 256

/* ------------------------------------------------------------------ machine and table */

static uint64_t random64(void) {
    uint64_t value;
    if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value)
        die("the system gives no random numbers: %s", strerror(errno));
    return value;
}

static void plan_flow_table(session *s) {
    const options *const asked = s->asked;
    s->spec = (table_spec){
        .capacity = asked->flows, .memory = asked->memory, .fpr = asked->fpr, .kind = asked->kind
    };
    s->spec.seed = asked->has_seed ? asked->seed : (tamis_seed){ random64(), random64() };
    tracker_timeouts(&s->m, &s->spec);
}

/* --state: the flows of an earlier run, if there are any. The new table shows what they have to be
 * like. `file` is empty, and gets what was saved. */
static void load_flow_table(session *s, state_file *file) {
    const char *const name = s->asked->state;
    tamis_problem     problem = { .status = TAMIS_OK };
    table_info        made;
    if (name == NULL) return;
    table_inspect(s->flows, &made);
    if (!state_load(name, &s->m, &s->spec, &made, file)) return;
    if (table_states_restore(s->flows, file->table, file->n, &s->spec.seed, &problem)) {
        s->saved_ns = file->time_ns;
        s->has_loaded = true;
        return;
    }
    state_free(file);
    state_refuse(name, &problem);
}

static void make_flow_table(session *s) {
    tamis_problem problem = { .status = TAMIS_OK };
    s->flows = s->asked->is_exact ? table_exact_new(&s->spec, &problem)
                                  : table_states_new(&s->spec, &problem);
    if (s->flows == NULL)
        die("%s%s", *problem.text != '\0' ? problem.text : tamis_status_text(problem.status),
            problem.status == TAMIS_ERR_MEMORY ? "; use a smaller --flows or --memory" : "");
}

/* ------------------------------------------------------------------ events of the tracker */

static void session_on_batch(void *context, const tracked *batch, const uint64_t *ids,
                             const tamis_status *after, size_t n, uint32_t tick) {
    session *const lane = context, *const s = lane->main;
    (void)pthread_mutex_lock(&s->lock);
    watch_batch(&s->watch, batch, ids, after, n);
    if (s->has_check) check_batch(&s->check, batch, ids, n, tick);
    (void)pthread_mutex_unlock(&s->lock);
}

static void session_on_aged(void *context, unsigned state, uint64_t n) {
    session *const lane = context, *const s = lane->main;
    (void)pthread_mutex_lock(&s->lock);
    watch_aged(&s->watch, state, n, lane->clock.latest_ns);
    (void)pthread_mutex_unlock(&s->lock);
}

static void session_on_time(void *context, uint64_t now_ns, uint64_t ticks) {
    session *const lane = context, *const s = lane->main;
    (void)ticks;
    (void)pthread_mutex_lock(&s->lock);
    watch_time(&s->watch, now_ns);
    (void)pthread_mutex_unlock(&s->lock);
}

static void session_on_full(void *context, bool is_refused) {
    session *const lane = context, *const s = lane->main;
    table_info info; /* the tracker has not counted the flows of this batch yet */
    table_inspect(lane->flows, &info);
    (void)pthread_mutex_lock(&s->lock);
    watch_full(&s->watch, is_refused, info.flows, lane->clock.latest_ns);
    (void)pthread_mutex_unlock(&s->lock);
}

static void session_on_evicted(void *context, uint64_t id) {
    session *const lane = context, *const s = lane->main;
    (void)pthread_mutex_lock(&s->lock);
    watch_evicted(&s->watch, id);
    (void)pthread_mutex_unlock(&s->lock);
}

/* What the session of a lane has for itself. */
static void begin_tracking(session *s) {
    state_file file = { .memory = NULL };
    make_flow_table(s);
    load_flow_table(s, &file);
    tracker_init(&s->tracker, &s->main->m, s->flows, s->spec.seed.low ^ s->spec.seed.high);
    room_restore(&s->tracker.room, file.order, file.n_order);
    if (s->has_loaded) tracker_count_loaded(&s->tracker);
    state_free(&file);
    s->tracker.hooks = (tracker_hooks){ .context = s,
                                        .on_batch = session_on_batch,
                                        .on_aged = session_on_aged,
                                        .on_time = session_on_time,
                                        .on_full = session_on_full };
    if (watch_has_ends(&s->main->watch)) s->tracker.hooks.on_evicted = session_on_evicted;
    watch_add_table(&s->main->watch, s->flows);
    timeline_init(&s->line);
}

void session_begin(session *ret_session, const options *asked, upkeep *u) {
    session *const s = ret_session;
    memset(s, 0, sizeof *s);
    s->main = s;
    s->asked = asked;
    s->upkeep = u;
    s->due_ns = UINT64_MAX;
    (void)pthread_mutex_init(&s->lock, NULL);
    machine_load(&s->m, asked->machine);
    if (asked->has_duplicates) s->m.duplicate_ns = asked->duplicate_ns;
    plan_flow_table(s);
    s->log = asked->log;
    s->log.seed = s->spec.seed;
    s->log.fpr = asked->fpr;
    s->log.capacity = asked->flows != 0 ? asked->flows : asked->memory / 4; /* 32 bits per flow */
    watch_spec const spec = { .is_json = asked->is_json,
                              .has_intervals = asked->interval_ns != 0,
                              .seed = s->spec.seed.high,
                              .log = &s->log };
    watch_init(&s->watch, &s->m, &s->line, &spec);
    if (asked->cores > 1)
        timeline_init(&s->line); /* the lanes have the tables */
    else
        begin_tracking(s);
    s->has_check = asked->is_checked;
    if (s->has_check && !check_init(&s->check, &s->m, s->flows, &s->spec)) die("out of memory");
}

/* Flows are divided by a hash. So a lane gets a little more than its share: four standard
 * deviations. */
void session_begin_lane(session *ret_lane, session *main, unsigned n) {
    session *const lane = ret_lane;
    memset(lane, 0, sizeof *lane);
    lane->main = main;
    lane->asked = main->asked;
    lane->due_ns = UINT64_MAX;
    lane->spec = main->spec;
    if (lane->spec.capacity != 0) {
        double const share = (double)lane->spec.capacity / n;
        lane->spec.capacity = (uint64_t)(share + 4 * sqrt(share)) + 1;
    }
    lane->spec.memory /= n;
    begin_tracking(lane);
}

/* ------------------------------------------------------------------ flows of an earlier run */

/* The clock may have been set back between the two runs. */
void session_resume(session *s, uint64_t now_ns) {
    if (!s->has_loaded) return;
    tracker_resume(&s->tracker, now_ns > s->saved_ns ? now_ns - s->saved_ns : 0);
    s->has_loaded = false;
}

/* ------------------------------------------------------------------ packets */

static void count_packet(session *s, const capture_packet *raw) {
    timeline_slot *const slot = timeline_at(&s->line, s->clock.now_ns);
    s->packets++;
    s->bytes += raw->on_wire;
    slot->packets++;
    slot->bytes += raw->on_wire;
}

/* Captures from files: the time of the capture has come for an interval to end, or for the first
 * one to begin. The packet that came at that time belongs to the next one. */
static void keep_up(session *s) {
    upkeep *const  u = s->upkeep;
    uint64_t const latest_ns = s->clock.latest_ns;
    session_resume(s, latest_ns);
    tracker_advance(&s->tracker, s->clock.now_ns);
    if (!u->is_begun)
        upkeep_begin(u, s, latest_ns);
    else if (upkeep_is_due(u, latest_ns))
        upkeep_do(u, s, latest_ns);
    uint64_t const next_ns = intervals_next(&u->intervals);
    s->due_ns = next_ns == UINT64_MAX ? UINT64_MAX
                : next_ns > latest_ns ? s->clock.now_ns + (next_ns - latest_ns)
                                      : s->clock.now_ns + 1;
}

/* An ICMP error tells something about the flow whose packet it quotes, if the machine asks. */
static bool take_quote(session *s, packet *p, const capture_packet *raw) {
    const machine *const m = &s->main->m;
    packet               quoted;
    if (m->unreachable == 0 || !packet_quoted(p, &quoted) || !machine_takes(m, &quoted))
        return false;
    *p = quoted;
    tracker_take(&s->tracker, raw->time_ns, s->clock.now_ns, 0, machine_unreachable_answers(m));
    return true;
}

void session_on_packet(void *context, const capture_packet *raw) {
    session *const s = context;
    clock_see(&s->clock, raw->time_ns);
    if (s->clock.now_ns >= s->due_ns) keep_up(s);
    count_packet(s, raw);
    packet *const     p = tracker_room(&s->tracker, s->clock.now_ns);
    packet_skip const skip =
        packet_parse(raw->bytes, raw->captured, raw->on_wire, raw->link_type, p);
    s->skipped[skip]++;
    if (skip == PACKET_UNKNOWN_LINK_TYPE) s->unknown_link_type = raw->link_type;
    if (skip != PACKET_TAKEN) return;
    if (machine_takes(&s->main->m, p))
        tracker_add(&s->tracker, raw->time_ns, s->clock.now_ns, (uint32_t)raw->on_wire);
    else if (!take_quote(s, p, raw))
        s->others++;
}

static double monotonic_seconds(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The rate is the one since the last progress line, not the average over the whole capture. */
void session_show_progress(session *s, uint64_t bytes) {
    double const seconds = progress_due();
    number_text  packets, rate, flows;
    char         text[200];
    uint64_t     n_flows = 0;
    if (seconds <= 0) return;
    for (unsigned i = 0; i < s->m.n_states; i++) n_flows += s->tracker.counts.now[i];
    number_short((double)s->packets, packets);
    number_short((double)(s->packets - s->shown_packets) / (seconds - s->shown_seconds), rate);
    s->shown_packets = s->packets;
    s->shown_seconds = seconds;
    number_short((double)n_flows, flows);
    (void)snprintf(text, sizeof text, "%s packets, %s/s, %s flows now", packets, rate, flows);
    progress_show(text, seconds, bytes);
}

/* Packets to read next, at most READ_PACKETS; 0: -c says that there were enough. */
size_t session_packets_to_read(const session *s) {
    uint64_t const max = s->asked->max_packets;
    if (max == 0 || s->packets + READ_PACKETS <= max) return READ_PACKETS;
    return s->packets < max ? (size_t)(max - s->packets) : 0;
}

/* From a pipe, packets are handled as they come and not when a batch is full, and what they cause
 * can be read at once. */
static void handle_waiting(session *s) {
    tracker_flush(&s->tracker);
    flow_log_flush(&s->watch.log);
    output_flush();
}

static capture_status read_packets(session *s, capture *input) {
    capture_status status = CAPTURE_MORE;
    bool const     is_stream = capture_total_bytes(input) == 0;
    while (status == CAPTURE_MORE && session_packets_to_read(s) != 0) {
        status = capture_read(input, session_packets_to_read(s), session_on_packet, s);
        if (is_stream) handle_waiting(s);
        if (upkeep_is_due(s->upkeep, 0)) upkeep_do(s->upkeep, s, 0); /* a signal, or rotation */
        if (!s->asked->is_quiet) session_show_progress(s, capture_read_bytes(input));
    }
    return status;
}

void session_read(session *s, const char *name) {
    capture_text   problem;
    capture *const input = capture_open_file(name, s->asked->filter, problem);
    if (input == NULL) {
        warn("%s", problem);
        s->is_broken = true;
        return;
    }
    if (s->n_captures++ == 0) s->due_ns = 0; /* the first packet begins the first interval */
    double const began = monotonic_seconds();
    if (!s->asked->is_quiet) progress_begin(capture_total_bytes(input));
    s->shown_packets = s->packets;
    s->shown_seconds = 0;
    capture_status const status = read_packets(s, input);
    tracker_flush(&s->tracker);
    s->seconds += monotonic_seconds() - began;
    progress_hide();
    if (status == CAPTURE_BROKEN) {
        warn("%s: %s", name, capture_problem(input));
        s->is_broken = true;
    }
    capture_close(input);
}

void session_finish(session *s) {
    bool const has_table = s->flows != NULL && s->tracker.tick_ns != 0;
    if (has_table) tracker_advance(&s->tracker, s->clock.now_ns);
    while (has_table && table_is_behind(s->flows)) tracker_advance(&s->tracker, s->clock.now_ns);
    if (s->main == s) {
        watch_finish(&s->watch, s->clock.now_ns, s->asked->state != NULL);
        flow_log_flush(&s->watch.log);
        s->is_broken |= s->watch.log.has_failed;
    }
    if (!has_table) return; /* several lanes, which are finished */
    if (s->has_check) check_finish(&s->check, (uint32_t)s->tracker.tick);
}

void session_end(session *s) {
    if (s->has_check) check_fini(&s->check);
    watch_fini(&s->watch);
    tracker_fini(&s->tracker);
    table_free(s->flows);
    machine_free(&s->m);
    (void)pthread_mutex_destroy(&s->lock);
}
