/* summary.c - the last line of --json: the report of the session as one object. */
#include <math.h>

#include "json.h"
#include "report.h"
#include "who.h"

static void write_states(const session *s) {
    report_state   states[MACHINE_STATES];
    unsigned const n = report_states(s, states);
    uint64_t       half_open = 0;
    json_open("states", '{');
    for (unsigned i = 0; i < n; i++) json_count(states[i].name, states[i].now);
    json_close('}');
    json_open("aged", '{');
    for (unsigned i = 0; i < n; i++) json_count(states[i].name, states[i].aged);
    json_close('}');
    for (unsigned i = 0; i < n; i++) half_open += states[i].is_half_open ? states[i].now : 0;
    json_count("half_open", half_open);
}

static void write_events(const session *s, const char *name, bool is_anomaly) {
    json_open(name, '{');
    for (unsigned i = 0; i < s->m.n_events; i++) {
        if (s->m.events[i].is_anomaly == is_anomaly)
            json_count(s->m.events[i].name, s->tracker.counts.events[i]);
    }
    json_close('}');
}

static void write_table(const session *s) {
    table_info info;
    table_inspect(s->flows, &info);
    json_open("table", '{');
    json_text("kind", info.kind);
    json_count("capacity", info.capacity);
    json_count("bytes", info.body_bytes);
    json_count("memory_bytes", info.memory_bytes);
    json_number("bits_per_flow", report_bits_per_flow(&info));
    json_number("fpr", info.fpr);
    json_number("unknown_rate", info.unknown);
    json_count("queue_bytes", s->tracker.counts.queue_bytes);
    json_close('}');
}

static void write_results(const char *name, const uint64_t *counts) {
    json_open(name, '{');
    for (unsigned i = 0; i < N_CHECK_RESULTS; i++)
        json_count(check_result_name((check_result)i), counts[i]);
    json_close('}');
}

static void write_check(const session *s) {
    json_open("check", '{');
    write_results("packets", s->check.packets);
    write_results("flows_now", s->check.ends);
    json_count("either", s->check.n_either);
    json_count("exact_bytes", exact_bytes(&s->check.flows));
    json_count("exact_flows", s->check.flows.peak_used);
    json_close('}');
}

static void write_timeline(const session *s) {
    uint64_t const slots = s->clock.now_ns / timeline_width_ns(&s->line) + 1;
    json_open("timeline", '{');
    json_number("slot_seconds", 1e-9 * (double)timeline_width_ns(&s->line));
    json_open("packets", '[');
    for (size_t i = 0; i < slots && i < TIMELINE_SLOTS; i++)
        json_count(NULL, s->line.slots[i].packets);
    json_close(']');
    json_open("bytes", '[');
    for (size_t i = 0; i < slots && i < TIMELINE_SLOTS; i++)
        json_count(NULL, s->line.slots[i].bytes);
    json_close(']');
    json_open("flows", '[');
    for (size_t i = 0; i < slots && i < TIMELINE_SLOTS; i++)
        json_count(NULL, s->line.slots[i].flows);
    json_close(']');
    json_close('}');
}

static void write_skipped(const session *s) {
    json_open("skipped", '{');
    for (unsigned i = PACKET_TAKEN + 1; i < N_PACKET_SKIPS; i++) {
        json_count(packet_skip_name((packet_skip)i), s->skipped[i]);
    }
    json_close('}');
}

static void write_traffic(const session *s) {
    double const seconds = report_duration(s);
    if (s->clock.is_begun) json_seconds("began", s->clock.first_ns);
    json_count("packets", s->packets);
    json_count("bytes", s->bytes);
    json_number("seconds", seconds);
    json_number("packets_per_second", seconds > 0 ? (double)s->packets / seconds : NAN);
    json_number("bits_per_second", seconds > 0 ? 8 * (double)s->bytes / seconds : NAN);
    json_count("dropped", s->dropped);
}

static void write_flows(const session *s) {
    const tracker_counts *const counts = &s->tracker.counts;
    json_count("flows", counts->flows);
    json_count("flows_now", report_flows_now(s));
    json_count("flows_peak", counts->peak);
    json_count("no_room", counts->no_room);
    json_count("evicted", counts->evicted);
    if (s->watch.log.is_open) json_count("not_logged", watch_unlogged(&s->watch));
    json_count("unknown_packets", counts->unknown);
    json_count("duplicates", counts->duplicates);
    json_count("machine_packets", counts->packets);
    json_count("no_rule", counts->unruled);
    json_count("others", s->others);
}

void summary_print(const session *s) {
    who const all = who_of_all(&s->watch);
    json_open(NULL, '{');
    json_text("event", "summary");
    json_text("machine", s->m.name);
    write_traffic(s);
    write_flows(s);
    write_states(s);
    write_events(s, "events", false);
    write_events(s, "anomalies", true);
    who_write_json(&all);
    write_table(s);
    if (s->has_check) write_check(s);
    write_timeline(s);
    write_skipped(s);
    json_count("out_of_order", s->clock.n_late);
    json_count("time_jumps", s->clock.n_jumps);
    json_bool("is_complete", !s->is_broken);
    json_number("speed", s->seconds > 0 ? (double)s->packets / s->seconds : NAN);
    json_close('}');
}
