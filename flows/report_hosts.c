/* report_hosts.c - the part of the report that says who: likely scans, retries, floods, and the
 * hosts with the most flows, half-open flows, refusals, resets and bytes. */
#include <stdio.h>
#include <string.h>

#include "events.h"
#include "numbers.h"
#include "output.h"
#include "report.h"

#define SCAN_ROWS 10
#define FLOOD_ROWS 10
#define TOP_ROWS 3

/* ------------------------------------------------------------------ scans */

static void print_scan(const scans *s, uint16_t i, int width) {
    const scan_source *const source = &s->sources[i];
    scan_figures const       known = scans_figures(source, SCAN_ALL);
    number_text              attempts, answers, hosts, ports;
    address_text             address, target;
    address_write(s->list.hosts[i].address, s->list.hosts[i].version, address);
    address_write(source->target.address, source->target.version, target);
    number_exact(known.attempts, attempts);
    number_exact(known.answers, answers);
    number_exact(known.hosts, hosts);
    number_exact(known.ports, ports);
    output_text("    %-*s %s attempts, %s answered; ", width, address, attempts, answers);
    if (source->verdict == SCAN_RETRIES)
        output_text("one target is %s", target);
    else
        output_text("about %s %s", hosts, known.hosts == 1 ? "host" : "hosts");
    if (source->verdict == SCAN_RETRIES && source->target.port != 0)
        output_text(" port %u", source->target.port);
    if (source->verdict != SCAN_RETRIES && known.ports != 0)
        output_text(" and %s %s", ports, known.ports == 1 ? "port" : "ports");
    output_string("\n");
}

/* The width of the column of addresses. IPv6 addresses can be long. */
static int longest_address(const scans *s, const uint16_t *sources, size_t n) {
    size_t longest = 18;
    for (size_t i = 0; i < n; i++) {
        address_text text;
        address_write(s->list.hosts[sources[i]].address, s->list.hosts[sources[i]].version, text);
        if (strlen(text) > longest) longest = strlen(text);
    }
    return (int)longest;
}

static void print_scans(const scans *s, scan_verdict verdict) {
    uint16_t     sources[RANKING_HOSTS];
    size_t const n = scans_list(s, verdict, SCAN_ALL, sources, RANKING_HOSTS);
    size_t const shown = n < SCAN_ROWS ? n : SCAN_ROWS;
    if (n == 0) return;
    if (verdict == SCAN_LIKELY)
        output_text("\n  likely scans (within a minute, %d attempts or more without an answer, to "
                    "many targets)\n",
                    SCANS_ATTEMPTS);
    else
        output_text("\n  retries (within a minute, %d attempts or more without an answer, to few "
                    "targets)\n",
                    SCANS_ATTEMPTS);
    int const width = longest_address(s, sources, shown);
    for (size_t i = 0; i < shown; i++) print_scan(s, sources[i], width);
    if (n > shown) output_text("    and %zu more\n", n - shown);
}

/* ------------------------------------------------------------------ busy hosts */

static void write_count(top_measure measure, uint64_t count, number_text ret_text) {
    if (measure == TOP_BYTES)
        number_size(count, ret_text);
    else
        number_exact(count, ret_text);
}

/* The port is that of the service: a target has it, and a source goes to it. */
static void print_row(const char *title, top_role role, top_measure measure, const top_row *row) {
    number_text  count;
    address_text address;
    char         port[24] = "";
    write_count(measure, row->count, count);
    address_write(row->host.address, row->host.version, address);
    if (row->host.port != 0)
        (void)snprintf(port, sizeof port, role == TOP_SOURCE ? " to port %u" : " port %u",
                       row->host.port);
    output_text("    %-10s %14s  %s%s\n", title, count, address, port);
}

static void print_list(const top *t, top_role role) {
    static const char *const titles[N_TOP_MEASURES] = { [TOP_FLOWS] = "flows",
                                                        [TOP_HALF_OPEN] = "half-open",
                                                        [TOP_REFUSED] = "refused",
                                                        [TOP_RESET] = "reset",
                                                        [TOP_BYTES] = "bytes" };
    size_t                   all = 0;
    output_text("\n  top %s\n", role == TOP_SOURCE ? "sources" : "targets");
    for (unsigned measure = 0; measure < N_TOP_MEASURES; measure++) {
        top_row      rows[TOP_ROWS];
        size_t const n = top_rows(t, role, (top_measure)measure, rows, TOP_ROWS);
        for (size_t i = 0; i < n && (i == 0 || rows[i].count > 1); i++)
            print_row(i == 0 ? titles[measure] : "", role, (top_measure)measure, &rows[i]);
        all += n;
    }
    if (all == 0) output_string("    none stands out\n");
}

/* ------------------------------------------------------------------ floods */

static void print_flood(const flood *found) {
    number_text  flows;
    address_text target, source;
    char         port[16] = "", from[64] = "";
    number_exact(found->flows, flows);
    address_write(found->target.address, found->target.version, target);
    if (found->target.port != 0) (void)snprintf(port, sizeof port, " port %u", found->target.port);
    if (found->source.version != 0) {
        address_write(found->source.address, found->source.version, source);
        (void)snprintf(from, sizeof from, ", from %s", source);
    }
    output_text("    %-12s %12s  %s%s%s\n", flood_kind_name(found->kind), flows, target, port,
                from);
}

static void print_floods(const floods *f) {
    const flood *found[FLOODS_FOUND];
    size_t const n = floods_list(f, false, found, FLOODS_FOUND);
    size_t const shown = n < FLOOD_ROWS ? n : FLOOD_ROWS;
    if (n == 0) return;
    output_text("\n  floods (%d or more new flows of a target within ten seconds that nobody "
                "answers)\n",
                FLOODS_FLOWS);
    for (size_t i = 0; i < shown; i++) print_flood(found[i]);
    if (n > shown) output_text("    and %zu more\n", n - shown);
}

void report_print_hosts(const session *s) {
    print_scans(&s->watch.scans, SCAN_LIKELY);
    print_scans(&s->watch.scans, SCAN_RETRIES);
    print_floods(&s->watch.floods);
    if (s->watch.top.n_flows == 0) return;
    for (unsigned role = 0; role < N_TOP_ROLES; role++) print_list(&s->watch.top, (top_role)role);
}
