/* upkeep.c - see upkeep.h. */
#include "upkeep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "metrics.h"
#include "output.h"
#include "outputs.h"
#include "report.h"

#define METRICS_NS (10 * NS_PER_SECOND) /* live, without --interval */

static volatile sig_atomic_t wants_report, wants_reopening;

void upkeep_signal(int number) {
    if (number == SIGUSR1) wants_report = 1;
    if (number == SIGHUP) wants_reopening = 1;
}

/* ------------------------------------------------------------------ the output file */

/* Make standard output the file with this name. All results are appended to it. written_before is
 * chosen so that output_written() - written_before is the size of the file. */
static bool open_output(upkeep *u, const char *name) {
    struct stat status;
    int const   descriptor = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor < 0) return false;
    bool const     is_done = dup2(descriptor, STDOUT_FILENO) >= 0;
    bool const     has_size = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    uint64_t const size = has_size ? (uint64_t)status.st_size : 0;
    u->written_before = output_written() - size; /* may be below 0, and wrap around */
    (void)close(descriptor);
    return is_done;
}

void upkeep_open_output(upkeep *u, const options *asked) {
    *u = (upkeep){ .asked = asked, .metrics_ns = UINT64_MAX };
    if (asked->output != NULL && !open_output(u, asked->output))
        die("%s: %s", asked->output, strerror(errno));
}

/* If the file cannot be opened, the old one is still there. */
static void reopen_output(upkeep *u) {
    output_flush();
    if (u->asked->output != NULL && !open_output(u, u->asked->output))
        warn("%s: %s; results still go to the file that was open", u->asked->output,
             strerror(errno));
}

static void rotate_output(upkeep *u) {
    output_flush();
    outputs_rotate(u->asked->output, u->asked->keep);
    reopen_output(u);
    intervals_begin_file(&u->intervals);
}

static bool is_output_long(const upkeep *u) {
    return u->asked->rotate != 0 && u->asked->output != NULL &&
           output_written() - u->written_before >= u->asked->rotate;
}

static bool is_log_long(const upkeep *u) {
    return u->asked->rotate != 0 && u->log != NULL && u->log->file != NULL &&
           u->log->n_bytes >= u->asked->rotate;
}

static void rotate_log(upkeep *u) {
    outputs_rotate(u->asked->log.path, u->asked->keep);
    flow_log_reopen(u->log);
}

/* ------------------------------------------------------------------ reports */

void upkeep_report(const session *s) {
    if (s->asked->is_json)
        summary_print(s);
    else
        report_print(s);
}

/* With --csv: write the report to standard error, so that the output has rows of values only. */
static void report_beside_rows(upkeep *u, const session *s) {
    output_flush();
    uint64_t const written = output_written();
    int const      kept = dup(STDOUT_FILENO);
    if (kept < 0) return;
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
        report_print(s);
        output_flush();
        (void)dup2(kept, STDOUT_FILENO);
    }
    u->written_before += output_written() - written; /* for --rotate */
    (void)close(kept);
}

/* The report of SIGUSR1, while packets arrive. Ageing that is due is not finished here: this would
 * take time. Among the lines of intervals it stands alone, and the lines after it have a header. */
static void report_now(upkeep *u, const session *s) {
    bool const is_among_lines = u->asked->interval_ns != 0 && !u->asked->is_json;
    wants_report = 0;
    if (u->asked->is_csv) {
        report_beside_rows(u, s);
        return;
    }
    if (is_among_lines) output_string("\n");
    upkeep_report(s);
    if (is_among_lines) output_string("\n");
    if (is_among_lines) intervals_begin_file(&u->intervals);
    output_flush();
}

/* ------------------------------------------------------------------ all of it */

void upkeep_begin(upkeep *u, const session *s, uint64_t now_ns) {
    bool const is_live = u->asked->interface != NULL;
    u->is_begun = true;
    u->log = &s->main->watch.log;
    intervals_begin(&u->intervals, s, now_ns);
    if (is_live && u->asked->metrics != NULL) u->metrics_ns = now_ns;
}

static uint64_t metrics_pause(const upkeep *u) {
    return u->asked->interval_ns != 0 ? u->asked->interval_ns : METRICS_NS;
}

/* It is time, or the clock of the system was set back. */
static bool are_metrics_due(const upkeep *u, uint64_t now_ns) {
    if (u->metrics_ns == UINT64_MAX || now_ns == 0) return false;
    return now_ns >= u->metrics_ns || now_ns + 2 * metrics_pause(u) < u->metrics_ns;
}

bool upkeep_is_due(const upkeep *u, uint64_t now_ns) {
    return wants_report || wants_reopening || is_output_long(u) || is_log_long(u) ||
           (now_ns != 0 && intervals_are_due(&u->intervals, now_ns)) || are_metrics_due(u, now_ns);
}

/* False: the file could not be written. */
static bool write_metrics(upkeep *u, const session *s, uint64_t now_ns) {
    if (u->metrics_ns != UINT64_MAX) u->metrics_ns = now_ns + metrics_pause(u);
    if (u->asked->metrics == NULL) return true;
    if (!u->has_table) table_inspect(s->flows, &u->table);
    u->has_table = true;
    return metrics_write(s, &u->table, u->asked->metrics);
}

void upkeep_do(upkeep *u, session *s, uint64_t now_ns) {
    if (wants_reopening) {
        wants_reopening = 0;
        reopen_output(u);
        intervals_begin_file(&u->intervals);
        flow_log_reopen(&s->main->watch.log);
    }
    if (now_ns != 0 && intervals_are_due(&u->intervals, now_ns)) {
        intervals_print_due(&u->intervals, s, now_ns);
        (void)write_metrics(u, s, now_ns);
    } else if (are_metrics_due(u, now_ns)) {
        (void)write_metrics(u, s, now_ns);
    }
    if (wants_report) report_now(u, s);
    if (is_output_long(u)) rotate_output(u);
    if (is_log_long(u)) rotate_log(u);
}

void upkeep_end(upkeep *u, session *s) {
    intervals_print_last(&u->intervals, s);
    s->is_broken |= !write_metrics(u, s, s->clock.latest_ns);
}
