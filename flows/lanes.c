/* lanes.c - see lanes.h. */
#include "lanes.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "live.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "outputs.h"
#include "privileges.h"
#include "progress.h"

#define WAIT_MS 100
#define TEND_NS UINT64_C(50000000)    /* between two looks at signals and at the time */
#define DROPS_NS UINT64_C(1000000000) /* between two looks at the kernel's counters */
#define DRAIN_NS UINT64_C(2000000000) /* how long packets are still read after a signal */
#define WARN_NS UINT64_C(60000000000) /* between two warnings of drops, for people */

typedef struct lane {
    session        *own; /* the main session if there is one lane only */
    live           *input;
    pthread_mutex_t lock; /* held while packets are read, and while somebody adds up the lanes */
    pthread_t       thread;
    atomic_bool     is_done; /* no interface is left; read by the main thread */
    uint64_t        stop_ns; /* when a signal came; 0: none has */
} lane;

typedef struct lanes {
    session *s;
    upkeep  *u;
    unsigned n;
    size_t   n_interfaces;
    lane     all[LIVE_MAX_LANES];
    uint64_t seen_drops[LIVE_MAX_INTERFACES];   /* that were reported */
    bool     is_told_lost[LIVE_MAX_INTERFACES]; /* that the interface has gone */
    uint64_t tended_ns, counted_ns, warned_ns;  /* when these were last done */
} lanes;

/* ------------------------------------------------------------------ a table of several */

/* What a report asks a table for, of all lanes together. */
typedef struct table_sum {
    table    base;
    unsigned n;
    table   *parts[LIVE_MAX_LANES];
} table_sum;

static void table_sum_free(table *base) {
    table_sum *const t = (table_sum *)base;
    for (unsigned i = 0; i < t->n; i++) table_free(t->parts[i]);
    free(t);
}

static void table_sum_inspect(const table *base, table_info *ret_info) {
    const table_sum *const t = (const table_sum *)base;
    table_info             part;
    table_inspect(t->parts[0], ret_info);
    for (unsigned i = 1; i < t->n; i++) {
        table_inspect(t->parts[i], &part);
        ret_info->capacity += part.capacity;
        ret_info->body_bytes += part.body_bytes;
        ret_info->memory_bytes += part.memory_bytes;
        ret_info->flows += part.flows;
    }
}

static bool table_sum_is_behind(const table *base) {
    (void)base;
    return false;
}

static table *table_sum_new(const lanes *all) {
    static const table_ops ops = { .free = table_sum_free,
                                   .inspect = table_sum_inspect,
                                   .is_behind = table_sum_is_behind };
    table_sum *const       t = calloc(1, sizeof *t);
    if (t == NULL) die("out of memory");
    t->base.ops = &ops;
    t->n = all->n;
    for (unsigned i = 0; i < all->n; i++) t->parts[i] = all->all[i].own->flows;
    return &t->base;
}

/* ------------------------------------------------------------------ adding up */

static void add_tracker_counts(tracker_counts *to, const tracker_counts *from) {
    to->packets += from->packets;
    to->flows += from->flows;
    to->no_room += from->no_room;
    to->evicted += from->evicted;
    to->queue_bytes += from->queue_bytes;
    to->duplicates += from->duplicates;
    to->n_now += from->n_now;
    to->unknown += from->unknown;
    to->unruled += from->unruled;
    to->peak += from->peak; /* at different times: an upper bound */
    for (unsigned i = 0; i < MACHINE_STATES; i++) {
        to->now[i] += from->now[i];
        to->aged[i] += from->aged[i];
    }
    for (unsigned i = 0; i < MACHINE_EVENTS; i++) to->events[i] += from->events[i];
}

static void add_clock(flow_clock *to, const flow_clock *from) {
    if (from->now_ns >= to->now_ns) {
        to->now_ns = from->now_ns;
        to->latest_ns = from->latest_ns;
        to->first_ns = from->first_ns;
    }
    to->is_begun |= from->is_begun;
    to->n_late += from->n_late;
    to->n_jumps += from->n_jumps;
}

/* Add what the lanes have counted to a session that has none of it. */
static void add_up(session *to, const lanes *all) {
    for (unsigned i = 0; all->n > 1 && i < all->n; i++) {
        const session *const from = all->all[i].own;
        to->packets += from->packets;
        to->bytes += from->bytes;
        to->others += from->others;
        if (from->unknown_link_type != 0) to->unknown_link_type = from->unknown_link_type;
        for (unsigned skip = 0; skip < N_PACKET_SKIPS; skip++)
            to->skipped[skip] += from->skipped[skip];
        add_tracker_counts(&to->tracker.counts, &from->tracker.counts);
        add_clock(&to->clock, &from->clock);
        timeline_add(&to->line, &from->line);
    }
}

static void hold_lanes(lanes *all) {
    for (unsigned i = 0; i < all->n; i++) (void)pthread_mutex_lock(&all->all[i].lock);
}

static void release_lanes(lanes *all) {
    for (unsigned i = 0; i < all->n; i++) (void)pthread_mutex_unlock(&all->all[i].lock);
}

/* With several lanes the sums are made in a copy of the main session. */
static void use_sums(lanes   *all, void (*use)(upkeep *u, session *s, uint64_t now_ns),
                     uint64_t now_ns) {
    session *const s = all->s;
    if (all->n == 1) {
        use(all->u, s, now_ns);
        return;
    }
    session *const sums = malloc(sizeof *sums);
    if (sums == NULL) return;
    *sums = *s;
    sums->flows = table_sum_new(all);
    add_up(sums, all);
    use(all->u, sums, now_ns);
    s->shown_packets = sums->shown_packets; /* by the progress line */
    s->shown_seconds = sums->shown_seconds;
    free(sums->flows); /* not the tables in it */
    free(sums);
}

/* ------------------------------------------------------------------ drops */

static void report_drops(lanes *all, size_t i, uint64_t n, uint64_t now_ns) {
    session *const s = all->s;
    number_text    count;
    s->dropped += n;
    if (s->asked->is_json) {
        json_open(NULL, '{');
        json_text("event", "dropped");
        json_seconds("time", now_ns);
        json_text("interface", s->asked->interfaces[i]);
        json_count("packets", n);
        json_count("total", s->dropped);
        json_close('}');
    }
    if (s->asked->is_json) return;
    if (all->warned_ns != 0 && now_ns - all->warned_ns < WARN_NS) return;
    all->warned_ns = now_ns;
    number_exact(s->dropped, count);
    warn("%s: %s packets dropped so far: they come faster than they are read; use --cores, a "
         "larger --buffer, or -f",
         s->asked->interfaces[i], count);
}

static void count_drops(lanes *all, uint64_t now_ns) {
    all->counted_ns = now_ns;
    for (size_t i = 0; i < all->n_interfaces; i++) {
        uint64_t rings = 0, card = 0;
        for (unsigned at = 0; at < all->n; at++) {
            live_drops const drops = live_dropped(all->all[at].input, i);
            rings += drops.ring;
            if (drops.card > card) card = drops.card;
        }
        uint64_t const total = rings + card;
        if (total > all->seen_drops[i]) {
            report_drops(all, i, total - all->seen_drops[i], now_ns);
            all->seen_drops[i] = total;
        }
    }
}

/* ------------------------------------------------------------------ interfaces that go */

/* The first lane that noticed says why. */
static const char *find_loss(const lanes *all, size_t i) {
    const char *why = NULL;
    for (unsigned at = 0; at < all->n && why == NULL; at++) why = live_lost(all->all[at].input, i);
    return why;
}

static void report_loss(lanes *all, size_t i, const char *why, size_t n_left, uint64_t now_ns) {
    all->is_told_lost[i] = true;
    all->s->is_broken = true;
    if (n_left != 0)
        warn("%s; the other interfaces are still captured", why);
    else
        warn("%s", why);
    if (!all->s->asked->is_json) return;
    json_open(NULL, '{');
    json_text("event", "lost");
    json_seconds("time", now_ns);
    json_text("interface", all->s->asked->interfaces[i]);
    json_count("interfaces_left", n_left);
    json_close('}');
}

/* Each interface is reported once, however many lanes read it. */
static void look_for_losses(lanes *all, uint64_t now_ns) {
    size_t n_left = 0;
    for (size_t i = 0; i < all->n_interfaces; i++) n_left += find_loss(all, i) == NULL;
    for (size_t i = 0; i < all->n_interfaces; i++) {
        const char *const why = find_loss(all, i);
        if (why != NULL && !all->is_told_lost[i]) report_loss(all, i, why, n_left, now_ns);
    }
}

/* ------------------------------------------------------------------ reading */

/* Time passes without packets, too: at `asked_ns` there were none in the rings. But some may have
 * been on their way. */
static void pass_idle_time(session *own, uint64_t asked_ns) {
    clock_follow(&own->clock, asked_ns - LIVE_LAG_NS);
    tracker_advance(&own->tracker, own->clock.now_ns);
}

/* After a signal: are all packets read that came before it? They may wait in the rings. */
static bool is_drained(lane *l, uint64_t now_ns) {
    if (!capture_is_stopped()) return false;
    if (l->stop_ns == 0) l->stop_ns = now_ns;
    return l->own->clock.latest_ns >= l->stop_ns || now_ns - l->stop_ns >= DRAIN_NS;
}

/* Read some packets. False: there are no more. */
static bool lane_step(lane *l) {
    size_t const   max = session_packets_to_read(l->own);
    uint64_t const asked_ns = live_now_ns();
    if (max == 0 || is_drained(l, asked_ns)) return false;
    (void)pthread_mutex_lock(&l->lock);
    capture_status const status = live_read(l->input, max, session_on_packet, l->own);
    tracker_flush(&l->own->tracker);
    if (status == CAPTURE_IDLE) pass_idle_time(l->own, asked_ns);
    (void)pthread_mutex_unlock(&l->lock);
    if (status == CAPTURE_IDLE) live_wait(l->input, WAIT_MS);
    return status != CAPTURE_BROKEN;
}

static void *lane_thread(void *context) {
    lane *const l = context;
    while (lane_step(l)) {
    }
    atomic_store(&l->is_done, true);
    return NULL;
}

/* ------------------------------------------------------------------ beside reading */

static void show_progress(upkeep *u, session *s, uint64_t now_ns) {
    (void)u;
    (void)now_ns;
    session_show_progress(s, 0);
}

/* Look at signals, drops and the time, if that was not done a moment ago. */
static void tend(lanes *all) {
    uint64_t const now_ns = live_now_ns();
    session *const s = all->s;
    if (now_ns - all->tended_ns < TEND_NS) return;
    all->tended_ns = now_ns;
    hold_lanes(all);
    if (now_ns - all->counted_ns >= DROPS_NS) count_drops(all, now_ns);
    look_for_losses(all, now_ns);
    if (upkeep_is_due(all->u, now_ns)) use_sums(all, upkeep_do, now_ns);
    if (!s->asked->is_quiet) use_sums(all, show_progress, now_ns);
    release_lanes(all);
    (void)pthread_mutex_lock(&s->lock);
    flow_log_flush(&s->watch.log);
    output_flush();
    (void)pthread_mutex_unlock(&s->lock);
}

static bool is_any_reading(const lanes *all) {
    bool is_any = false;
    for (unsigned i = 0; i < all->n; i++) is_any |= !atomic_load(&all->all[i].is_done);
    return is_any && !capture_is_stopped();
}

/* The threads take no signals: they come to the main one, and interrupt its sleep. */
static void run_threads(lanes *all) {
    struct timespec const pause = { .tv_nsec = TEND_NS };
    sigset_t              every, before;
    (void)sigfillset(&every);
    (void)pthread_sigmask(SIG_BLOCK, &every, &before);
    for (unsigned i = 0; i < all->n; i++) {
        lane *const l = &all->all[i];
        if (pthread_create(&l->thread, NULL, lane_thread, l) != 0)
            die("cannot start a thread for core %u; use a smaller --cores", i + 1);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    while (is_any_reading(all)) {
        (void)nanosleep(&pause, NULL);
        tend(all);
    }
    for (unsigned i = 0; i < all->n; i++) (void)pthread_join(all->all[i].thread, NULL);
}

static void run_alone(lanes *all) {
    while (lane_step(&all->all[0])) tend(all);
}

/* ------------------------------------------------------------------ beginning and end */

/* All clocks begin at the same time, so that the times of lanes can be compared. */
static void begin_lanes(lanes *all, live **inputs, uint64_t began_ns) {
    for (unsigned i = 0; i < all->n; i++) {
        lane *const l = &all->all[i];
        l->input = inputs[i];
        l->own = all->n == 1 ? all->s : malloc(sizeof *l->own);
        if (l->own == NULL) die("out of memory");
        if (all->n > 1) session_begin_lane(l->own, all->s, all->n);
        clock_see(&l->own->clock, began_ns);
        session_resume(l->own, began_ns);
        (void)pthread_mutex_init(&l->lock, NULL);
    }
}

/* What the lanes have counted becomes that of the main session, and so do their tables. */
static void end_lanes(lanes *all) {
    count_drops(all, live_now_ns());
    look_for_losses(all, live_now_ns());
    for (unsigned i = 0; i < all->n; i++) {
        lane *const l = &all->all[i];
        pass_idle_time(l->own, live_now_ns());
        if (all->n > 1) session_finish(l->own);
        live_close(l->input);
        (void)pthread_mutex_destroy(&l->lock);
    }
    if (all->n == 1) return;
    add_up(all->s, all);
    all->s->flows = table_sum_new(all);
    for (unsigned i = 0; i < all->n; i++) {
        tracker_fini(&all->all[i].own->tracker);
        free(all->all[i].own);
    }
}

void lanes_capture(session *s, upkeep *u) {
    const options *const asked = s->asked;
    live_spec            spec = { .names = asked->interfaces,
                                  .n_names = asked->n_interfaces,
                                  .filter = asked->filter,
                                  .buffer = asked->buffer,
                                  .n_lanes = asked->cores };
    live                *inputs[LIVE_MAX_LANES];
    capture_text         problem;
    if (!live_open(&spec, inputs, problem)) {
        warn("%s", problem);
        s->is_broken = true;
        return;
    }
    lanes *const all = calloc(1, sizeof *all);
    if (all == NULL) die("out of memory");
    *all = (lanes){ .s = s, .u = u, .n = asked->cores, .n_interfaces = asked->n_interfaces };
    s->n_captures++;
    begin_lanes(all, inputs, spec.began_ns);
    privileges_drop(asked->user);
    outputs_check(asked);
    upkeep_begin(u, s, spec.began_ns);
    if (!asked->is_quiet) progress_begin(0);
    if (all->n == 1)
        run_alone(all);
    else
        run_threads(all);
    progress_hide();
    end_lanes(all);
    free(all);
}
