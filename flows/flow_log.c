/* flow_log.c - see flow_log.h. */
#include "flow_log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "message.h"
#include "output.h"

#define WARN_SECONDS 60 /* between two reports that the file cannot be written */

static const struct {
    const char *name;
    bool        is_text; /* quoted in JSON, and compared as text */
} columns[N_LOG_COLUMNS] = {
    [LOG_TIME] = { "time", false },
    [LOG_END] = { "end", false },
    [LOG_DURATION] = { "duration", false },
    [LOG_PROTOCOL] = { "protocol", true },
    [LOG_CLIENT] = { "client", true },
    [LOG_CLIENT_PORT] = { "client_port", false },
    [LOG_SERVER] = { "server", true },
    [LOG_SERVER_PORT] = { "server_port", false },
    [LOG_STATE] = { "state", true },
    [LOG_CAUSE] = { "cause", true },
    [LOG_CLIENT_BYTES] = { "client_bytes", false },
    [LOG_SERVER_BYTES] = { "server_bytes", false },
    [LOG_CLIENT_PACKETS] = { "client_packets", false },
    [LOG_SERVER_PACKETS] = { "server_packets", false },
    [LOG_IS_GUESS] = { "is_guess", false },
};

static const char *const causes[N_LOG_CAUSES] = { [CAUSE_PACKET] = "packet",
                                                  [CAUSE_REUSED] = "reused",
                                                  [CAUSE_TIMEOUT] = "timeout",
                                                  [CAUSE_EVICTED] = "evicted",
                                                  [CAUSE_RUNNING] = "running" };

const char *log_column_name(size_t i) {
    return i < N_LOG_COLUMNS ? columns[i].name : NULL;
}

/* ------------------------------------------------------------------ options */

/* The column whose name is the first n letters, or N_LOG_COLUMNS. */
static log_column find_column(const char *name, size_t n) {
    unsigned i = 0;
    while (i < N_LOG_COLUMNS && (strncmp(columns[i].name, name, n) != 0 || columns[i].name[n] != 0))
        i++;
    return (log_column)i;
}

static const char *column_complaint(void) {
    static char text[400];
    size_t      n = (size_t)snprintf(text, sizeof text, "unknown column; the columns are");
    for (unsigned i = 0; i < N_LOG_COLUMNS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %s", i == 0 ? "" : ",",
                              columns[i].name);
    return text;
}

const char *flow_log_read_columns(const char *text, flow_log_spec *spec) {
    spec->n_columns = 0;
    for (;; text++) {
        size_t const     n = strcspn(text, ",");
        log_column const column = find_column(text, n);
        if (column == N_LOG_COLUMNS) return column_complaint();
        if (spec->n_columns == N_LOG_COLUMNS) return "too many columns";
        spec->columns[spec->n_columns++] = column;
        text += n;
        if (*text == '\0') return NULL;
    }
}

void flow_log_all_columns(flow_log_spec *spec) {
    spec->n_columns = N_LOG_COLUMNS;
    for (unsigned i = 0; i < N_LOG_COLUMNS; i++) spec->columns[i] = (log_column)i;
}

static const char *read_test(const char *text, size_t n, log_test *ret_test) {
    size_t const             n_name = strcspn(text, "=<>!,");
    const char              *at = text + n_name;
    size_t const             n_sign = strspn(at, "=<>!");
    size_t const             n_value = n - n_name - n_sign;
    static const char *const signs[] = { "=", "!=", "<", "<=", ">", ">=" };
    *ret_test = (log_test){ .column = find_column(text, n_name) };
    if (ret_test->column == N_LOG_COLUMNS) return column_complaint();
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (strlen(signs[i]) == n_sign && strncmp(signs[i], at, n_sign) == 0)
            memcpy(ret_test->sign, signs[i], n_sign);
    }
    if (ret_test->sign[0] == '\0') return "expected = != < <= > or >= after the column";
    if (n_value == 0 || n_value >= sizeof ret_test->value) return "expected a value after the sign";
    memcpy(ret_test->value, at + n_sign, n_value);
    char *end;
    (void)strtod(ret_test->value, &end);
    if (!columns[ret_test->column].is_text && *end != '\0')
        return "this column is compared with a number";
    return NULL;
}

const char *flow_log_read_tests(const char *text, flow_log_spec *spec) {
    spec->n_tests = 0;
    for (;; text++) {
        size_t const n = strcspn(text, ",");
        if (spec->n_tests == LOG_TESTS) return "too many tests";
        const char *const complaint = read_test(text, n, &spec->tests[spec->n_tests++]);
        if (complaint != NULL) return complaint;
        text += n;
        if (*text == '\0') return NULL;
    }
}

/* ------------------------------------------------------------------ opening */

static bool is_standard_output(const flow_log *log) {
    return strcmp(log->spec->path, "-") == 0;
}

/* A full disk does not end the run: there may be room again later. */
static void note_failure(flow_log *log, int error) {
    time_t const now = time(NULL);
    if (!log->has_failed || now - log->warned >= WARN_SECONDS) {
        warn("--log %s: %s; lines are lost until it can be written again", log->spec->path,
             strerror(error));
        log->warned = now;
    }
    log->has_failed = true;
}

/* Write to the file, or to standard output together with everything else that goes there. */
static void put_text(flow_log *log, const char *text) {
    if (log->file == NULL) {
        output_string(text);
        return;
    }
    if (fputs(text, log->file) == EOF) note_failure(log, errno);
    log->n_bytes += strlen(text);
}

void flow_log_flush(flow_log *log) {
    if (!log->is_open || log->file == NULL) return;
    if (fflush(log->file) != 0) note_failure(log, errno);
}

/* The first line names the columns. A file that is continued has one already. */
static void put_header(flow_log *log) {
    if (log->file != NULL) (void)fseek(log->file, 0, SEEK_END);
    long const size = log->file != NULL ? ftell(log->file) : 0;
    log->n_bytes = size > 0 ? (uint64_t)size : 0;
    if (log->spec->is_json || size > 0) return;
    put_text(log, "#");
    for (size_t i = 0; i < log->spec->n_columns; i++) {
        if (i != 0) put_text(log, "\t");
        put_text(log, columns[log->spec->columns[i]].name);
    }
    put_text(log, "\n");
}

/* A test of a state that the machine does not have would select nothing, or all. */
static void check_state(const machine *m, const log_test *test) {
    char   text[MACHINE_STATES * (MACHINE_NAME_BYTES + 2)] = "";
    size_t n = 0;
    for (unsigned i = 0; i < m->n_states; i++) {
        const char *const name = m->states[i].shown;
        bool              is_listed = false;
        if (strcmp(name, test->value) == 0) return;
        for (unsigned j = 0; j < i; j++) is_listed |= strcmp(name, m->states[j].shown) == 0;
        if (is_listed) continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %s", n == 0 ? "" : ",", name);
    }
    die("--log-where state%s%s: unknown state; the states of %s are%s", test->sign, test->value,
        m->name, text);
}

static void check_tests(const machine *m, const flow_log_spec *spec) {
    for (size_t i = 0; i < spec->n_tests; i++) {
        const log_test *const test = &spec->tests[i];
        bool const is_equal = strcmp(test->sign, "=") == 0 || strcmp(test->sign, "!=") == 0;
        if (test->column == LOG_STATE && is_equal) check_state(m, test);
    }
}

/* Values of 32 bits need a kind that small builds of the library leave out. */
static void check_kinds(void) {
    for (size_t i = 0; tamis_states_kind_name(i) != NULL; i++) {
        if (strcmp(tamis_states_kind_name(i), "state_print") == 0) return;
    }
    die("--log: this build of tamis has no tables for the log (the kind state_print is missing); "
        "build it without -Dpapers=false");
}

void flow_log_open(flow_log *ret_log, const machine *m, const flow_log_spec *spec) {
    tamis_problem problem = { .status = TAMIS_OK };
    *ret_log = (flow_log){ .spec = spec, .m = m, .tick_ns = tracker_tick_ns(m) };
    if (spec->path == NULL) return;
    check_tests(m, spec);
    check_kinds();
    if (!records_init(&ret_log->records, m, spec->capacity, spec->fpr, &spec->seed, &problem))
        die("--log: %s", *problem.text != '\0' ? problem.text : tamis_status_text(problem.status));
    ret_log->is_open = true;
    if (!is_standard_output(ret_log)) ret_log->file = fopen(spec->path, "a");
    if (ret_log->file == NULL && !is_standard_output(ret_log))
        die("--log %s: %s", spec->path, strerror(errno));
    put_header(ret_log);
}

static void close_file(flow_log *log) {
    if (log->file == NULL) return;
    if (fclose(log->file) != 0) note_failure(log, errno);
    log->file = NULL;
}

void flow_log_close(flow_log *log) {
    if (!log->is_open) return;
    close_file(log);
    records_fini(&log->records);
    log->is_open = false;
}

void flow_log_reopen(flow_log *log) {
    if (!log->is_open || is_standard_output(log)) return;
    FILE *const file = fopen(log->spec->path, "a");
    if (file == NULL) {
        warn("--log %s: %s; lines still go to the file that was open", log->spec->path,
             strerror(errno));
        return;
    }
    close_file(log);
    log->file = file;
    put_header(log);
}

/* ------------------------------------------------------------------ lines */

/* What a line is made of. */
typedef struct log_line {
    const log_end *end;
    const char    *state;
    record_values  values;
} log_line;

static void write_seconds(uint64_t ns, log_field ret_text) {
    (void)snprintf(ret_text, sizeof(log_field), "%" PRIu64 ".%06" PRIu64, ns / NS_PER_SECOND,
                   ns % NS_PER_SECOND / 1000);
}

static void write_address_field(const log_line *line, bool is_client, log_field ret_text) {
    address_text text;
    bool const   is_high = line->end->is_client_high == is_client;
    address_write(line->end->flow->address[is_high], line->end->flow->version, text);
    memcpy(ret_text, text, sizeof text);
}

/* A column that is a number. */
static double get_number(const log_line *line, log_column column) {
    const log_end *const end = line->end;
    switch (column) {
    case LOG_PROTOCOL: return end->flow->protocol; /* one without a name */
    case LOG_CLIENT_PORT: return end->flow->port[end->is_client_high];
    case LOG_SERVER_PORT: return end->flow->port[!end->is_client_high];
    case LOG_CLIENT_BYTES: return line->values.bytes[0];
    case LOG_SERVER_BYTES: return line->values.bytes[1];
    case LOG_CLIENT_PACKETS: return line->values.packets[0];
    case LOG_SERVER_PACKETS: return line->values.packets[1];
    default: return end->known->is_guess;
    }
}

static void write_field(const log_line *line, log_column column, log_field ret_text) {
    uint64_t const    end_ns = line->end->time_ns, duration = line->values.duration_ns;
    const char *const protocol = protocol_name(line->end->flow->protocol);
    const char       *word = NULL;
    switch (column) {
    case LOG_TIME: write_seconds(end_ns - duration, ret_text); return;
    case LOG_END: write_seconds(end_ns, ret_text); return;
    case LOG_DURATION: write_seconds(duration, ret_text); return;
    case LOG_CLIENT: write_address_field(line, true, ret_text); return;
    case LOG_SERVER: write_address_field(line, false, ret_text); return;
    case LOG_STATE: word = line->state; break;
    case LOG_CAUSE: word = causes[line->end->cause]; break;
    case LOG_PROTOCOL: word = protocol; break;
    default: break;
    }
    if (word != NULL)
        (void)snprintf(ret_text, sizeof(log_field), "%s", word);
    else
        (void)snprintf(ret_text, sizeof(log_field), "%.0f", get_number(line, column));
}

static bool passes_test(const log_line *line, const log_test *test) {
    log_field field;
    write_field(line, test->column, field);
    double const order = columns[test->column].is_text
                             ? strcmp(field, test->value)
                             : strtod(field, NULL) - strtod(test->value, NULL);
    bool const   is_or_equal = test->sign[1] == '=';
    switch (test->sign[0]) {
    case '=': return order == 0;
    case '!': return order != 0;
    case '<': return order < 0 || (is_or_equal && order == 0);
    default: return order > 0 || (is_or_equal && order == 0);
    }
}

static void put_field(flow_log *log, const log_line *line, size_t i) {
    log_column const column = log->spec->columns[i];
    bool const       is_json = log->spec->is_json, is_text = columns[column].is_text;
    log_field        field;
    char             text[128];
    write_field(line, column, field);
    if (is_json && column == LOG_IS_GUESS) /* as in events */
        (void)snprintf(field, sizeof field, "%s", line->end->known->is_guess ? "true" : "false");
    if (is_json)
        (void)snprintf(text, sizeof text, "%c\"%s\":%s%s%s", i == 0 ? '{' : ',',
                       columns[column].name, is_text ? "\"" : "", field, is_text ? "\"" : "");
    else
        (void)snprintf(text, sizeof text, "%s%s", i == 0 ? "" : "\t", field);
    put_text(log, text);
}

void flow_log_write(flow_log *log, const log_end *end) {
    log_line line = { .end = end, .state = log->m->states[end->state].shown };
    records_read(&log->records, end->known, end->now_ns, &line.values);
    log->n_ends++;
    for (size_t i = 0; i < log->spec->n_tests; i++) {
        if (!passes_test(&line, &log->spec->tests[i])) return;
    }
    for (size_t i = 0; i < log->spec->n_columns; i++) put_field(log, &line, i);
    put_text(log, log->spec->is_json ? "}\n" : "\n");
}

/* Several lanes call this, each with its own clock: time goes on with the latest. */
void flow_log_time(flow_log *log, uint64_t now_ns) {
    uint64_t const tick = now_ns / log->tick_ns;
    if (!log->is_open || tick <= log->tick) return;
    records_tick(&log->records, tick - log->tick);
    log->tick = tick;
}
