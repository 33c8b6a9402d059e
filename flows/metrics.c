/* metrics.c - see metrics.h. */
#include "metrics.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "replace.h"
#include "report.h"

/* ------------------------------------------------------------------ the format */

static void begin_metric(FILE *file, const char *name, const char *type, const char *help) {
    (void)fprintf(file, "# HELP tamis_flows_%s %s\n# TYPE tamis_flows_%s %s\n", name, help, name,
                  type);
}

/* A label's value may be any text, with three escapes. */
static void write_label(FILE *file, const char *name, const char *value) {
    (void)fprintf(file, "%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '\n') {
            (void)fputs("\\n", file);
            continue;
        }
        if (*value == '"' || *value == '\\') (void)fputc('\\', file);
        (void)fputc(*value, file);
    }
    (void)fputc('"', file);
}

/* One value of a metric. `label` is NULL, or has a name and a value beside that of the machine. */
static void write_value(FILE *file, const session *s, const char *name, const char *label,
                        const char *label_value, uint64_t value) {
    (void)fprintf(file, "tamis_flows_%s{", name);
    write_label(file, "machine", s->m.name);
    if (label != NULL) {
        (void)fputc(',', file);
        write_label(file, label, label_value);
    }
    (void)fprintf(file, "} %llu\n", (unsigned long long)value);
}

static void write_counter(FILE *file, const session *s, const char *name, const char *help,
                          uint64_t value) {
    begin_metric(file, name, "counter", help);
    write_value(file, s, name, NULL, NULL, value);
}

static void write_gauge(FILE *file, const session *s, const char *name, const char *help,
                        uint64_t value) {
    begin_metric(file, name, "gauge", help);
    write_value(file, s, name, NULL, NULL, value);
}

/* ------------------------------------------------------------------ the contents */

static void write_traffic(FILE *file, const session *s) {
    const tracker_counts *const counts = &s->tracker.counts;
    write_counter(file, s, "packets_total", "Packets read.", s->packets);
    write_counter(file, s, "bytes_total", "Bytes on the wire of the packets read.", s->bytes);
    write_counter(file, s, "dropped_packets_total",
                  "Packets that the kernel or the network card dropped.", s->dropped);
    write_counter(file, s, "opened_total", "Flows that were opened.", counts->flows);
    write_counter(file, s, "no_room_total", "Flows for which the table had no room.",
                  counts->no_room);
    write_counter(file, s, "evicted_total", "Flows that were forgotten to make room.",
                  counts->evicted);
    write_counter(file, s, "unknown_packets_total",
                  "Packets whose flow's state the table did not know.", counts->unknown);
    write_counter(file, s, "other_packets_total", "Packets that the machine does not handle.",
                  s->others);
    write_gauge(file, s, "last_packet_timestamp_seconds", "Time of the last packet.",
                s->clock.latest_ns / NS_PER_SECOND);
}

static void write_states(FILE *file, const session *s) {
    report_state   states[MACHINE_STATES];
    unsigned const n = report_states(s, states);
    uint64_t       half_open = 0;
    begin_metric(file, "current", "gauge", "Flows in each state.");
    for (unsigned i = 0; i < n; i++)
        write_value(file, s, "current", "state", states[i].name, states[i].now);
    begin_metric(file, "timed_out_total", "counter", "Flows that timed out in each state.");
    for (unsigned i = 0; i < n; i++)
        write_value(file, s, "timed_out_total", "state", states[i].name, states[i].aged);
    for (unsigned i = 0; i < n; i++) half_open += states[i].is_half_open ? states[i].now : 0;
    write_gauge(file, s, "half_open", "Flows without an answer so far.", half_open);
}

static void write_events(FILE *file, const session *s, const char *name, bool is_anomaly,
                         const char *help) {
    begin_metric(file, name, "counter", help);
    for (unsigned i = 0; i < s->m.n_events; i++) {
        if (s->m.events[i].is_anomaly == is_anomaly)
            write_value(file, s, name, "event", s->m.events[i].name, s->tracker.counts.events[i]);
    }
}

static void write_skipped(FILE *file, const session *s) {
    begin_metric(file, "skipped_packets_total", "counter", "Packets that were skipped, by reason.");
    for (unsigned i = PACKET_TAKEN + 1; i < N_PACKET_SKIPS; i++)
        write_value(file, s, "skipped_packets_total", "reason", packet_skip_name((packet_skip)i),
                    s->skipped[i]);
}

/* How often, and not who: addresses as labels would make a series for each. */
static void write_hosts(FILE *file, const session *s) {
    const watch *const w = &s->main->watch;
    write_counter(file, s, "scans_total", "Likely scans that were found.", w->scans.n_scans);
    write_counter(file, s, "retries_total",
                  "Sources found that try a dead service again and again.", w->scans.n_retries);
    begin_metric(file, "floods_total", "counter", "Floods that were found, by their kind.");
    for (unsigned kind = 0; kind < N_FLOOD_KINDS; kind++)
        write_value(file, s, "floods_total", "kind", flood_kind_name((flood_kind)kind),
                    w->floods.n_told[kind]);
}

static void write_all(FILE *file, const session *s, const table_info *info) {
    write_traffic(file, s);
    write_states(file, s);
    write_events(file, s, "events_total", false, "Events of the machine.");
    write_events(file, s, "anomalies_total", true, "Anomalies that the machine found.");
    write_hosts(file, s);
    write_skipped(file, s);
    write_gauge(file, s, "table_bytes", "Size of the table of flows.", info->body_bytes);
    write_gauge(file, s, "table_capacity", "Flows that the table has room for.", info->capacity);
}

/* It is not synced: the next file comes in seconds, and after a loss of power the run is gone, too.
 * Anybody may read it, whatever the umask and the mode of the old file: the collector runs as
 * another user. */
bool metrics_write(const session *s, const table_info *info, const char *name) {
    replacement r;
    int         error = replace_begin(name, &r);
    if (error == 0) {
        (void)fchmod(fileno(r.file), 0644);
        write_all(r.file, s, info);
        error = replace_end(&r, false);
    }
    if (error == 0) return true;
    warn("--metrics %s: %s; the old file stays", name, strerror(error));
    return false;
}
