/* upkeep.c - see upkeep.h. */
#include "upkeep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "metrics.h"
#include "output.h"
#include "report.h"

#define METRICS_NS (10 * NS_PER_SECOND) /* live, without --interval */

static volatile sig_atomic_t wants_report, wants_reopening;

void upkeep_signal(int number) {
    if (number == SIGUSR1) wants_report = 1;
    if (number == SIGHUP) wants_reopening = 1;
}

/* ------------------------------------------------------------------ the output file */

/* Make standard output the file with this name. All results are written there. */
static bool open_output(const char *name) {
    int const descriptor = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor < 0) return false;
    bool const is_done = dup2(descriptor, STDOUT_FILENO) >= 0;
    (void)close(descriptor);
    return is_done;
}

void upkeep_open_output(upkeep *u, const options *asked) {
    *u = (upkeep){ .asked = asked, .metrics_ns = UINT64_MAX };
    if (asked->output != NULL && !open_output(asked->output))
        die("%s: %s", asked->output, strerror(errno));
}

/* If the file cannot be opened, the old one is still there. */
static void reopen_output(upkeep *u) {
    output_flush();
    u->rotated_at = output_written();
    if (u->asked->output != NULL && !open_output(u->asked->output))
        warn("%s: %s; results still go to the file that was open", u->asked->output,
             strerror(errno));
}

static void number_name(const options *asked, unsigned i, char *ret_name, size_t n) {
    if (i == 0)
        (void)snprintf(ret_name, n, "%s", asked->output);
    else
        (void)snprintf(ret_name, n, "%s.%u", asked->output, i);
}

/* FILE.1 becomes FILE.2, and so on; the oldest is replaced. Then FILE becomes FILE.1. */
static void rotate_output(upkeep *u) {
    char from[4096], to[4096];
    output_flush();
    for (unsigned i = u->asked->keep; i-- != 0;) {
        number_name(u->asked, i, from, sizeof from);
        number_name(u->asked, i + 1, to, sizeof to);
        if (rename(from, to) != 0 && errno != ENOENT) warn("%s: %s", from, strerror(errno));
    }
    reopen_output(u);
    intervals_begin_file(&u->intervals);
}

static bool is_output_long(const upkeep *u) {
    return u->asked->rotate != 0 && output_written() - u->rotated_at >= u->asked->rotate;
}

/* ------------------------------------------------------------------ reports */

void upkeep_report(const session *s) {
    if (s->asked->is_json)
        summary_print(s);
    else
        report_print(s);
}

/* While packets arrive. Ageing that is due is not finished here: this would take time. */
static void report_now(const session *s) {
    wants_report = 0;
    upkeep_report(s);
    output_flush();
}

/* ------------------------------------------------------------------ all of it */

void upkeep_begin(upkeep *u, const session *s, uint64_t now_ns) {
    bool const is_live = u->asked->interface != NULL;
    u->is_begun = true;
    intervals_begin(&u->intervals, s, now_ns);
    if (is_live && u->asked->metrics != NULL) u->metrics_ns = now_ns;
}

bool upkeep_is_due(const upkeep *u, uint64_t now_ns) {
    return wants_report || wants_reopening || is_output_long(u) ||
           now_ns >= intervals_next(&u->intervals) || now_ns >= u->metrics_ns;
}

static void write_metrics(upkeep *u, const session *s, uint64_t now_ns) {
    uint64_t const pause = u->asked->interval_ns != 0 ? u->asked->interval_ns : METRICS_NS;
    if (u->metrics_ns != UINT64_MAX) u->metrics_ns = now_ns + pause;
    if (u->asked->metrics == NULL) return;
    if (!u->has_table) table_inspect(s->flows, &u->table);
    u->has_table = true;
    metrics_write(s, &u->table, u->asked->metrics);
}

void upkeep_do(upkeep *u, session *s, uint64_t now_ns) {
    if (wants_reopening) {
        wants_reopening = 0;
        reopen_output(u);
        intervals_begin_file(&u->intervals);
        flow_log_reopen(&s->main->watch.log);
    }
    if (now_ns >= intervals_next(&u->intervals)) {
        intervals_print_due(&u->intervals, s, now_ns);
        write_metrics(u, s, now_ns);
    } else if (now_ns >= u->metrics_ns) {
        write_metrics(u, s, now_ns);
    }
    if (wants_report) report_now(s);
    if (is_output_long(u)) rotate_output(u);
}

void upkeep_end(upkeep *u, session *s) {
    intervals_print_last(&u->intervals, s);
    write_metrics(u, s, s->clock.latest_ns);
}
