/* who.c - see who.h. */
#include "who.h"

#include <stdio.h>

#include "events.h"
#include "json.h"
#include "numbers.h"
#include "output.h"

who who_of_all(const watch *w) {
    return (who){ .w = w, .busiest = &w->top, .span = SCAN_ALL };
}

who who_of_interval(const watch *w) {
    return (who){ .w = w, .busiest = w->recent, .span = SCAN_WINDOW };
}

static size_t list_scans(const who *all, scan_verdict verdict, uint16_t *ret_sources) {
    return scans_list(&all->w->scans, verdict, all->span, ret_sources, RANKING_HOSTS);
}

static size_t list_floods(const who *all, const flood **ret_found) {
    return floods_list(&all->w->floods, all->span == SCAN_WINDOW, ret_found, FLOODS_FOUND);
}

/* ------------------------------------------------------------------ JSON */

static void write_scans(const who *all, const char *name, scan_verdict verdict) {
    uint16_t     sources[RANKING_HOSTS];
    size_t const n = list_scans(all, verdict, sources);
    json_open(name, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(NULL, '{');
        events_write_scan(&all->w->scans, sources[i], verdict, all->span);
        json_close('}');
    }
    json_close(']');
}

static void write_floods(const who *all) {
    const flood *found[FLOODS_FOUND];
    size_t const n = list_floods(all, found);
    json_open("floods", '[');
    for (size_t i = 0; i < n; i++) {
        json_open(NULL, '{');
        events_write_flood(found[i],
                           all->span == SCAN_WINDOW ? found[i]->in_interval : found[i]->flows);
        json_close('}');
    }
    json_close(']');
}

static void write_top(const who *all) {
    json_open("top", '{');
    for (unsigned role = 0; role < N_TOP_ROLES; role++) {
        json_open(role == TOP_SOURCE ? "sources" : "targets", '{');
        for (unsigned measure = 0; measure < N_TOP_MEASURES; measure++) {
            json_open(top_measure_name((top_measure)measure), '[');
            events_write_rows(all->busiest, (top_role)role, (top_measure)measure);
            json_close(']');
        }
        json_close('}');
    }
    json_close('}');
}

void who_write_json(const who *all) {
    write_scans(all, "scans", SCAN_LIKELY);
    write_scans(all, "retries", SCAN_RETRIES);
    write_floods(all);
    write_top(all);
}

/* ------------------------------------------------------------------ text */

#define TEXT_ROWS 5 /* of scans and of floods */

static void print_scans(const who *all, scan_verdict verdict, const char *title) {
    uint16_t     sources[RANKING_HOSTS];
    size_t const n = list_scans(all, verdict, sources);
    for (size_t i = 0; i < n && i < TEXT_ROWS; i++) {
        const scan_source *const source = &all->w->scans.sources[sources[i]];
        scan_figures const       known = scans_figures(source, all->span);
        address_text             address;
        number_text              text[4];
        address_write(all->w->scans.list.hosts[sources[i]].address,
                      all->w->scans.list.hosts[sources[i]].version, address);
        number_exact(known.attempts, text[0]);
        number_exact(known.answers, text[1]);
        number_exact(known.hosts, text[2]);
        number_exact(known.ports, text[3]);
        output_text("    %-13s %s: %s attempts, %s answered, hosts %s", title, address, text[0],
                    text[1], text[2]);
        if (known.ports != 0) output_text(", ports %s", text[3]);
        output_string("\n");
    }
    if (n > TEXT_ROWS) output_text("    %-13s and %zu more\n", title, n - TEXT_ROWS);
}

static void print_floods(const who *all) {
    const flood *found[FLOODS_FOUND];
    size_t const n = list_floods(all, found);
    for (size_t i = 0; i < n && i < TEXT_ROWS; i++) {
        address_text address;
        number_text  flows;
        char         port[16] = "";
        address_write(found[i]->target.address, found[i]->target.version, address);
        number_exact(found[i]->in_interval, flows);
        if (found[i]->target.port != 0)
            (void)snprintf(port, sizeof port, " port %u", found[i]->target.port);
        output_text("    %-13s %s%s: %s flows, %s\n", "flood", address, port, flows,
                    flood_kind_name(found[i]->kind));
    }
    if (n > TEXT_ROWS) output_text("    %-13s and %zu more\n", "flood", n - TEXT_ROWS);
}

/* The first source and the first target of a measure. */
static void print_busiest(const who *all, top_measure measure) {
    static const char *const words[N_TOP_ROLES] = { [TOP_SOURCE] = "from", [TOP_TARGET] = "to" };
    bool                     is_any = false;
    for (unsigned role = 0; role < N_TOP_ROLES; role++) {
        top_row      row;
        number_text  count;
        address_text address;
        if (top_rows(all->busiest, (top_role)role, measure, &row, 1) == 0) continue;
        if (measure == TOP_BYTES)
            number_size(row.count, count);
        else
            number_exact(row.count, count);
        address_write(row.host.address, row.host.version, address);
        if (!is_any) output_text("    %-13s ", measure == TOP_BYTES ? "most bytes" : "most flows");
        output_text("%s%s %s %s", is_any ? ", " : "", count, words[role], address);
        is_any = true;
    }
    if (is_any) output_string("\n");
}

void who_print_text(const who *all) {
    print_busiest(all, TOP_FLOWS);
    print_busiest(all, TOP_BYTES);
    print_scans(all, SCAN_LIKELY, "likely scan");
    print_scans(all, SCAN_RETRIES, "retries");
    print_floods(all);
}

/* ------------------------------------------------------------------ CSV */

void who_print_csv_header(void) {
    output_string(",likely_scans,retries,floods");
    for (unsigned i = 0; i < 4; i++) {
        const char *const role = top_role_name(i % 2 == 0 ? TOP_SOURCE : TOP_TARGET);
        const char *const measure = top_measure_name(i < 2 ? TOP_FLOWS : TOP_BYTES);
        output_text(",top_%s_by_%s,top_%s_%s", role, measure, role, measure);
    }
}

void who_print_csv(const who *all) {
    uint16_t     sources[RANKING_HOSTS];
    const flood *found[FLOODS_FOUND];
    output_text(",%zu", list_scans(all, SCAN_LIKELY, sources));
    output_text(",%zu", list_scans(all, SCAN_RETRIES, sources));
    output_text(",%zu", list_floods(all, found));
    for (unsigned i = 0; i < 4; i++) {
        top_row      row = { .count = 0 };
        address_text address = "";
        size_t const n = top_rows(all->busiest, i % 2 == 0 ? TOP_SOURCE : TOP_TARGET,
                                  i < 2 ? TOP_FLOWS : TOP_BYTES, &row, 1);
        if (n != 0) address_write(row.host.address, row.host.version, address);
        output_text(",%s,%llu", address, (unsigned long long)row.count);
    }
}
