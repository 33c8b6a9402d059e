/* intervals.c - see intervals.h. */
#include "intervals.h"

#include <string.h>
#include <time.h>

#include "json.h"
#include "numbers.h"
#include "output.h"
#include "report.h"
#include "who.h"

static void take_counts(const session *s, interval_counts *ret_counts) {
    const tracker_counts *const counts = &s->tracker.counts;
    *ret_counts = (interval_counts){ .packets = s->packets,
                                     .bytes = s->bytes,
                                     .flows = counts->flows,
                                     .dropped = s->dropped,
                                     .no_room = counts->no_room,
                                     .evicted = counts->evicted,
                                     .unknown = counts->unknown };
    for (unsigned i = 0; i < MACHINE_STATES; i++) ret_counts->timed_out += counts->aged[i];
    memcpy(ret_counts->events, counts->events, sizeof ret_counts->events);
}

/* What was counted between two times. */
static interval_counts subtract(const interval_counts *now, const interval_counts *before) {
    interval_counts left = { .packets = now->packets - before->packets,
                             .bytes = now->bytes - before->bytes,
                             .flows = now->flows - before->flows,
                             .timed_out = now->timed_out - before->timed_out,
                             .dropped = now->dropped - before->dropped,
                             .no_room = now->no_room - before->no_room,
                             .evicted = now->evicted - before->evicted,
                             .unknown = now->unknown - before->unknown };
    for (unsigned i = 0; i < MACHINE_EVENTS; i++)
        left.events[i] = now->events[i] - before->events[i];
    return left;
}

/* ------------------------------------------------------------------ an interval */

typedef struct interval {
    const session  *s;
    uint64_t        end_ns; /* since 1970 */
    double          seconds;
    interval_counts counts;
    uint64_t        flows_now, half_open;
    who             hosts;
} interval;

static uint64_t count_half_open(const session *s) {
    uint64_t n = 0;
    for (unsigned i = 0; i < s->m.n_states; i++)
        n += s->m.states[i].is_half_open ? s->tracker.counts.now[i] : 0;
    return n;
}

/* ------------------------------------------------------------------ JSON */

static void write_event_counts(const interval *row, const char *name, bool is_anomaly) {
    const machine *const m = &row->s->m;
    json_open(name, '{');
    for (unsigned i = 0; i < m->n_events; i++) {
        if (m->events[i].is_anomaly == is_anomaly && row->counts.events[i] != 0)
            json_count(m->events[i].name, row->counts.events[i]);
    }
    json_close('}');
}

static void print_json(const interval *row) {
    json_open(NULL, '{');
    json_text("event", "interval");
    json_seconds("time", row->end_ns);
    json_number("seconds", row->seconds);
    json_count("packets", row->counts.packets);
    json_count("bytes", row->counts.bytes);
    json_count("flows", row->counts.flows);
    json_count("flows_now", row->flows_now);
    json_count("half_open", row->half_open);
    json_count("timed_out", row->counts.timed_out);
    json_count("dropped", row->counts.dropped);
    json_count("no_room", row->counts.no_room);
    json_count("evicted", row->counts.evicted);
    json_count("unknown_packets", row->counts.unknown);
    write_event_counts(row, "events", false);
    write_event_counts(row, "anomalies", true);
    who_write_json(&row->hosts);
    json_close('}');
}

/* ------------------------------------------------------------------ CSV */

/* A name of an event or a state may have blanks and commas. */
static void print_csv_name(const char *name) {
    output_string(",\"");
    for (; *name != '\0'; name++) {
        if (*name == '"') output_string("\"");
        output_bytes(name, 1);
    }
    output_string("\"");
}

static void print_csv_header(const session *s) {
    output_string("time,seconds,packets,bytes,flows,flows_now,half_open,timed_out,dropped,no_room,"
                  "evicted,unknown_packets");
    for (unsigned i = 0; i < s->m.n_events; i++) print_csv_name(s->m.events[i].name);
    who_print_csv_header();
    output_string("\n");
}

static void print_csv(const interval *row) {
    uint64_t const numbers[] = { row->counts.packets, row->counts.bytes,   row->counts.flows,
                                 row->flows_now,      row->half_open,      row->counts.timed_out,
                                 row->counts.dropped, row->counts.no_room, row->counts.evicted,
                                 row->counts.unknown };
    output_text("%llu.%03llu,%.3f", (unsigned long long)(row->end_ns / NS_PER_SECOND),
                (unsigned long long)(row->end_ns % NS_PER_SECOND / 1000000), row->seconds);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        output_string(",");
        output_number(numbers[i]);
    }
    for (unsigned i = 0; i < row->s->m.n_events; i++) {
        output_string(",");
        output_number(row->counts.events[i]);
    }
    who_print_csv(&row->hosts);
    output_string("\n");
}

/* ------------------------------------------------------------------ text */

static void print_text_header(void) {
    output_text("%-19s %9s %10s %9s %9s %9s %9s %8s %8s\n", "time (UTC)", "packets/s", "bit/s",
                "new flows", "flows now", "half-open", "timed out", "evicted", "dropped");
}

static void print_text(const interval *row) {
    time_t const seconds = (time_t)(row->end_ns / NS_PER_SECOND);
    struct tm    date;
    char         when[32] = "";
    number_text  text[8];
    if (gmtime_r(&seconds, &date) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &date);
    number_short((double)row->counts.packets / row->seconds, text[0]);
    number_short(8 * (double)row->counts.bytes / row->seconds, text[1]);
    number_short((double)row->counts.flows, text[2]);
    number_short((double)row->flows_now, text[3]);
    number_short((double)row->half_open, text[4]);
    number_short((double)row->counts.timed_out, text[5]);
    number_short((double)row->counts.evicted, text[6]);
    number_short((double)row->counts.dropped, text[7]);
    output_text("%-19s %9s %10s %9s %9s %9s %9s %8s %8s\n", when, text[0], text[1], text[2],
                text[3], text[4], text[5], text[6], text[7]);
    who_print_text(&row->hosts);
}

/* ------------------------------------------------------------------ when */

static void print_interval(intervals *all, const interval *row) {
    const options *const asked = row->s->asked;
    if (asked->is_json) {
        print_json(row);
    } else if (asked->is_csv) {
        if (!all->has_header) print_csv_header(row->s);
        print_csv(row);
    } else {
        if (!all->has_header) print_text_header();
        print_text(row);
    }
    all->has_header = true;
}

/* Close the interval that is counted now, at a time that is not before its beginning. */
static void close_interval(intervals *all, const session *s, uint64_t end_ns) {
    interval        row = { .s = s,
                            .end_ns = end_ns,
                            .seconds = 1e-9 * (double)(end_ns - all->began_ns),
                            .flows_now = report_flows_now(s),
                            .half_open = count_half_open(s),
                            .hosts = who_of_interval(&s->main->watch) };
    interval_counts now;
    take_counts(s, &now);
    row.counts = subtract(&now, &all->before);
    print_interval(all, &row);
    watch_begin_interval(&s->main->watch);
    all->before = now;
    all->began_ns = end_ns;
}

void intervals_begin(intervals *ret_intervals, const session *s, uint64_t now_ns) {
    *ret_intervals = (intervals){ .length_ns = s->asked->interval_ns, .began_ns = now_ns };
    take_counts(s, &ret_intervals->before);
}

/* A wrong timestamp, or a clock that was set, can be years ahead. Of many intervals without a
 * packet only the first ones have a row, and the next one begins where the last of them ends. */
#define MOST_EMPTY_ROWS 100

void intervals_print_due(intervals *all, const session *s, uint64_t now_ns) {
    /* a clock that was set back: the interval goes on, and ends by the new time */
    if (now_ns < all->began_ns) all->began_ns = now_ns;
    for (unsigned i = 0; i < MOST_EMPTY_ROWS && intervals_next(all) <= now_ns; i++)
        close_interval(all, s, intervals_next(all));
    if (intervals_next(all) <= now_ns)
        all->began_ns += (now_ns - all->began_ns) / all->length_ns * all->length_ns;
    output_flush();
}

void intervals_print_last(intervals *all, const session *s) {
    uint64_t const end_ns = s->clock.latest_ns;
    if (all->length_ns == 0 || end_ns <= all->began_ns) return;
    close_interval(all, s, end_ns);
    if (!s->asked->is_json && !s->asked->is_csv && !s->asked->is_quiet) output_string("\n");
}

void intervals_begin_file(intervals *all) {
    all->has_header = false;
}
