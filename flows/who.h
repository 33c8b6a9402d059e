/* who.h - who: likely scans, retries, floods and the busiest hosts, in JSON for the summary and for
 * intervals, and in text and CSV for intervals. (report_hosts.c prints those of the report.) */
#ifndef FLOWS_WHO_H
#define FLOWS_WHO_H

#include "watch.h"

/* Of the whole run, or of an interval: scans are then those that go on, in the last minute. */
typedef struct who {
    const watch *w;
    const top   *busiest;
    scan_span    span;
} who;

who who_of_all(const watch *w);
who who_of_interval(const watch *w);

/* Fields "scans", "retries", "floods" and "top". */
void who_write_json(const who *all);

/* Lines below the line of an interval. */
void who_print_text(const who *all);

/* Columns of CSV, each with a comma before it. */
void who_print_csv_header(void);
void who_print_csv(const who *all);

#endif
