/* report.c - see report.h. */
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "events.h"
#include "message.h"
#include "numbers.h"
#include "output.h"

#define TIMELINE_ROWS 20
#define BAR_WIDTH 40

/* ------------------------------------------------------------------ shared with summary.c */

unsigned report_states(const session *s, report_state *ret_states) {
    unsigned n = 0;
    for (unsigned i = 0; i < s->m.n_states; i++) {
        const machine_state *const state = &s->m.states[i];
        unsigned                   at = 0;
        while (at < n && strcmp(ret_states[at].name, state->shown) != 0) at++;
        if (at == n) ret_states[n++] = (report_state){ .name = state->shown };
        ret_states[at].now += s->tracker.counts.now[i];
        ret_states[at].aged += s->tracker.counts.aged[i];
        ret_states[at].is_half_open |= state->is_half_open;
    }
    return n;
}

uint64_t report_flows_now(const session *s) {
    return s->tracker.counts.n_now;
}

double report_duration(const session *s) {
    return 1e-9 * (double)s->clock.now_ns;
}

double report_bits_per_flow(const table_info *info) {
    return info->capacity != 0 ? 8 * (double)info->body_bytes / (double)info->capacity : NAN;
}

/* ------------------------------------------------------------------ numbers as text */

/* "12.3 s", "4 min 10 s", "3 h 20 min". Rounded before it is split, so never "3 min 60 s". */
static void write_duration(double seconds, number_text ret_text) {
    double const whole = round(seconds), minutes = round(seconds / 60);
    if (seconds < 120) {
        (void)snprintf(ret_text, sizeof(number_text), "%.*f s", seconds < 10 ? 3 : 1, seconds);
    } else if (seconds < 7200) {
        (void)snprintf(ret_text, sizeof(number_text), "%.0f min %.0f s", floor(whole / 60),
                       fmod(whole, 60));
    } else {
        (void)snprintf(ret_text, sizeof(number_text), "%.0f h %.0f min", floor(minutes / 60),
                       fmod(minutes, 60));
    }
}

/* "0:04.500", "3:20" or "10:03:20": a time since the beginning, for rows that are step_ms apart. */
static void write_moment(uint64_t ms, uint64_t step_ms, number_text ret_text) {
    unsigned long long const seconds = ms / 1000, hours = seconds / 3600;
    int n = hours != 0 ? snprintf(ret_text, sizeof(number_text), "%llu:%02llu:%02llu", hours,
                                  seconds / 60 % 60, seconds % 60)
                       : snprintf(ret_text, sizeof(number_text), "%llu:%02llu", seconds / 60,
                                  seconds % 60);
    if (step_ms % 1000 != 0)
        (void)snprintf(ret_text + n, sizeof(number_text) - (size_t)n, ".%03llu",
                       (unsigned long long)(ms % 1000));
}

/* "2023-11-14 22:13:20 UTC". */
static void write_date(uint64_t time_ns, number_text ret_text) {
    time_t const seconds = (time_t)(time_ns / NS_PER_SECOND);
    struct tm    date;
    if (gmtime_r(&seconds, &date) == NULL ||
        strftime(ret_text, sizeof(number_text), "%Y-%m-%d %H:%M:%S UTC", &date) == 0)
        (void)snprintf(ret_text, sizeof(number_text), "unknown");
}

/* A rate per second. Small rates have two digits, so that only 0 is printed as 0. */
static void write_rate(double per_second, number_text ret_text) {
    if (per_second > 0 && per_second < 0.1)
        (void)snprintf(ret_text, sizeof(number_text), "%.2g", per_second);
    else
        number_short(per_second, ret_text);
}

/* "107 Mbit/s": number_short() with a blank before the letter. */
static void write_bit_rate(double bits_per_second, number_text ret_text) {
    number_text short_text;
    number_short(bits_per_second, short_text);
    size_t const digits = strspn(short_text, "0123456789.");
    (void)snprintf(ret_text, sizeof(number_text), "%.*s %sbit/s", (int)digits, short_text,
                   short_text + digits);
}

/* A part of a whole in percent. Nearly all of it is 99.99...%, with all its nines, and not 100%. */
static void write_share(uint64_t part, uint64_t whole, number_text ret_text) {
    double const rest = part < whole ? (double)(whole - part) / (double)whole : 0;
    if (part == 0)
        (void)snprintf(ret_text, sizeof(number_text), "0%%");
    else if (rest > 0 && rest < 0.001)
        (void)snprintf(ret_text, sizeof(number_text), "%.*f%%", (int)-floor(log10(rest)) - 2,
                       100 * (1 - rest));
    else
        number_rate((double)part / (double)whole, ret_text);
}

/* Print a line: a name of up to 14 letters, and a text. */
static void report_line(const char *name, const char *format, ...) MESSAGE_FORMAT(2);

static void report_line(const char *name, const char *format, ...) {
    char    text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    output_text("  %-14s %s\n", name, text);
}

/* ------------------------------------------------------------------ parts of the report */

static void print_traffic(const session *s) {
    number_text  packets, bytes, duration, rate, bits;
    double const seconds = report_duration(s);
    const char  *noun = s->packets == 1 ? "packet" : "packets";
    if (s->clock.is_begun) {
        write_date(s->clock.first_ns, duration);
        report_line("began", "%s", duration);
    }
    number_exact(s->packets, packets);
    number_size(s->bytes, bytes);
    write_duration(seconds, duration);
    if (seconds > 0) {
        write_rate((double)s->packets / seconds, rate);
        write_bit_rate(8 * (double)s->bytes / seconds, bits);
        report_line("traffic", "%s %s, %s, in %s: %s packets/s, %s", packets, noun, bytes, duration,
                    rate, bits);
    } else {
        report_line("traffic", "%s %s, %s", packets, noun, bytes);
    }
    if (s->dropped != 0) {
        number_exact(s->dropped, packets);
        report_line("", "%s more were dropped by the kernel", packets);
    }
}

static void print_flows(const session *s) {
    number_text flows, now, most;
    number_exact(s->tracker.counts.flows, flows);
    number_exact(report_flows_now(s), now);
    number_exact(s->tracker.counts.peak, most);
    report_line("flows", "%s seen; %s now, at most %s at one time", flows, now, most);
}

static void print_half_open(const report_state *states, unsigned n) {
    number_text now_text, aged_text;
    uint64_t    now = 0, aged = 0;
    bool        has_half_open = false;
    for (unsigned i = 0; i < n; i++) {
        if (!states[i].is_half_open) continue;
        has_half_open = true;
        now += states[i].now;
        aged += states[i].aged;
    }
    number_exact(now, now_text);
    number_exact(aged, aged_text);
    if (has_half_open) report_line("half-open", "%s now; %s timed out", now_text, aged_text);
}

static void print_flow_states(const session *s) {
    report_state   states[MACHINE_STATES];
    unsigned const n = report_states(s, states);
    number_text    now, aged;
    print_half_open(states, n);
    output_string("\n");
    report_line("state", "%14s %14s", "now", "timed out");
    for (unsigned i = 0; i < n; i++) {
        number_exact(states[i].now, now);
        number_exact(states[i].aged, aged);
        report_line(states[i].name, "%14s %14s", now, aged);
    }
}

static void print_events(const session *s, bool is_anomaly) {
    bool is_first = true;
    for (unsigned i = 0; i < s->m.n_events; i++) {
        number_text count;
        if (s->tracker.counts.events[i] == 0 || s->m.events[i].is_anomaly != is_anomaly) continue;
        number_exact(s->tracker.counts.events[i], count);
        if (is_first) output_text("\n  %s\n", is_anomaly ? "anomalies" : "events");
        is_first = false;
        output_text("  %14s %s\n", count, s->m.events[i].name);
    }
}

/* ------------------------------------------------------------------ the table */

static void print_flow_table(const session *s) {
    table_info  info;
    number_text size, capacity, unknown, share, count;
    table_inspect(s->flows, &info);
    number_size(info.body_bytes, size);
    number_exact(info.capacity, capacity);
    output_string("\n");
    report_line("table", "%s (%s) for %s flows, %.1f bits per flow", size, info.kind, capacity,
                report_bits_per_flow(&info));
    if (s->asked->is_exact) return;
    number_exact(s->tracker.counts.unknown, unknown);
    write_share(s->tracker.counts.unknown, s->tracker.counts.packets, share);
    report_line("don't know", "%s packets (%s)", unknown, share);
    uint64_t const evicted = s->tracker.counts.evicted;
    number_exact(evicted, count);
    if (evicted != 0)
        report_line("evicted",
                    "%s flows, to make room for new ones; use a larger --flows or --memory", count);
    number_exact(s->tracker.counts.no_room, count);
    if (s->tracker.counts.no_room != 0)
        report_line("no room", "%s times for a new flow; use a larger --flows or --memory", count);
    uint64_t const unlogged = s->watch.log.is_open ? watch_unlogged(&s->watch) : 0;
    number_exact(unlogged, count);
    if (unlogged != 0)
        report_line("not logged", "%s flows, whose ends were forgotten; use a larger --log-ends",
                    count);
}

static void print_check_row(check_result result, const uint64_t *packets, const uint64_t *ends,
                            uint64_t n_packets, uint64_t n_ends) {
    number_text count, share, end, end_share;
    number_exact(packets[result], count);
    write_share(packets[result], n_packets, share);
    number_exact(ends[result], end);
    write_share(ends[result], n_ends, end_share);
    output_text("    %-28s %14s %9s", check_result_text(result), count, share);
    if (result != CHECK_GHOST) output_text("   %14s %9s", end, end_share);
    output_string("\n");
}

static void print_check(const session *s) {
    table_info  info;
    number_text small, large;
    uint64_t    n_packets = 0, n_ends = 0;
    for (unsigned i = 0; i < N_CHECK_RESULTS; i++) {
        n_packets += s->check.packets[i];
        n_ends += s->check.ends[i];
    }
    table_inspect(s->flows, &info);
    number_size(info.body_bytes, small);
    number_size(exact_bytes(&s->check.flows), large);
    output_text("\n  compared with an exact table of %s (this one: %s)\n", large, small);
    output_text("    %-28s %14s %9s   %14s\n", "before each packet", "packets", "", "flows now");
    for (unsigned i = 0; i < N_CHECK_RESULTS; i++) {
        print_check_row((check_result)i, s->check.packets, s->check.ends, n_packets, n_ends);
    }
    if (s->check.is_out_of_memory)
        output_string("    the exact table ran out of memory: these numbers are wrong\n");
}

/* ------------------------------------------------------------------ timeline */

static void print_timeline_row(const session *s, size_t first, size_t n, uint64_t most) {
    timeline_slot sum = { 0 };
    number_text   from, rate, flows;
    double const  width = 1e-9 * (double)timeline_width_ns(&s->line);
    char          bar[BAR_WIDTH + 1] = "";
    for (size_t i = first; i < first + n && i < TIMELINE_SLOTS; i++) {
        sum.packets += s->line.slots[i].packets;
        sum.flows += s->line.slots[i].flows;
    }
    uint64_t const width_ms = timeline_width_ns(&s->line) / 1000000;
    write_moment(first * width_ms, n * width_ms, from);
    write_rate((double)sum.packets / (width * (double)n), rate);
    number_short((double)sum.flows, flows);
    memset(bar, '#', (size_t)((double)BAR_WIDTH * (double)sum.packets / (double)most + 0.5));
    output_text("    %12s %9s %8s%s%s\n", from, rate, flows, *bar != '\0' ? "  " : "", bar);
}

static uint64_t packets_in(const session *s, size_t first, size_t n) {
    uint64_t packets = 0;
    for (size_t i = first; i < first + n && i < TIMELINE_SLOTS; i++)
        packets += s->line.slots[i].packets;
    return packets;
}

static void print_timeline(const session *s) {
    size_t const slots = (size_t)(s->clock.now_ns / timeline_width_ns(&s->line)) + 1;
    size_t const per_row = (slots + TIMELINE_ROWS - 1) / TIMELINE_ROWS;
    uint64_t     most = 1;
    if (slots < 2 || slots > TIMELINE_SLOTS) return;
    for (size_t i = 0; i < slots; i += per_row) {
        uint64_t const packets = packets_in(s, i, per_row);
        if (packets > most) most = packets;
    }
    output_text("\n    %12s %9s %8s\n", "time", "packets/s", "new");
    for (size_t i = 0; i < slots; i += per_row) print_timeline_row(s, i, per_row, most);
}

/* ------------------------------------------------------------------ the rest */

static void print_skipped(const session *s) {
    bool        is_first = true;
    number_text count;
    for (unsigned i = PACKET_TAKEN + 1; i < N_PACKET_SKIPS; i++) {
        if (s->skipped[i] == 0) continue;
        number_exact(s->skipped[i], count);
        if (is_first) output_string("\n  skipped\n");
        is_first = false;
        output_text("  %14s %s", count, packet_skip_text((packet_skip)i));
        if (i == PACKET_UNKNOWN_LINK_TYPE) output_text(" (%d)", s->unknown_link_type);
        output_string("\n");
    }
}

/* The speed is reported for files only, and not for small ones. */
static bool has_speed(const session *s) {
    return s->asked->interface == NULL && s->seconds >= 0.001 && s->packets != 0;
}

static void print_rest(const session *s) {
    number_text count, rate;
    bool const  has_rest = has_speed(s) || s->others != 0 || s->tracker.counts.unruled != 0 ||
                          s->clock.n_late != 0 || s->clock.n_jumps != 0;
    if (!has_rest) return;
    output_string("\n");
    number_exact(s->others, count);
    if (s->others != 0)
        report_line("others", "%s packets that this machine does not handle", count);
    number_exact(s->tracker.counts.unruled, count);
    if (s->tracker.counts.unruled != 0)
        report_line("no rule", "%s packets for which no rule opens a flow", count);
    number_exact(s->clock.n_late, count);
    if (s->clock.n_late != 0) report_line("out of order", "%s packets, by their timestamps", count);
    number_exact(s->clock.n_jumps, count);
    if (s->clock.n_jumps != 0)
        report_line("time jumped", "%s %s, and was corrected", count,
                    s->clock.n_jumps == 1 ? "time" : "times");
    if (!has_speed(s)) return;
    number_short((double)s->packets / s->seconds, rate);
    report_line("speed", "%s packets/s, in %.*f s", rate, s->seconds < 0.1 ? 4 : 2, s->seconds);
}

void report_print(const session *s) {
    output_text("%s\n\n", s->m.title);
    print_traffic(s);
    print_flows(s);
    print_flow_states(s);
    print_events(s, false);
    print_events(s, true);
    report_print_hosts(s);
    print_timeline(s);
    print_flow_table(s);
    if (s->has_check) print_check(s);
    print_skipped(s);
    print_rest(s);
}
