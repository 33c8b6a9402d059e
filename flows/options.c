/* options.c - see options.h. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "numbers.h"
#include "output.h"
#include "outputs.h"
#include "suggest.h"

#define DEFAULT_FLOWS 1000000
#define DEFAULT_FPR 0.0005
#define MAX_FLOWS (UINT64_C(1) << 36)
#define DEFAULT_BUFFER (UINT64_C(64) << 20)
#define MIN_BUFFER (UINT64_C(1) << 20)
#define MAX_BUFFER (UINT64_C(1) << 30) /* of a ring of libpcap */
#define MAX_CORES 64
#define DEFAULT_KEEP 9
#define MAX_KEEP 1000
#define MAX_ENDS (UINT64_C(1) << 30)
#define SHORTEST_INTERVAL_NS UINT64_C(100000000)

/* ------------------------------------------------------------------ the list of options */

typedef enum option_id {
    OPTION_INTERFACE,
    OPTION_CORES,
    OPTION_BUFFER,
    OPTION_DROPS,
    OPTION_USER,
    OPTION_FILTER,
    OPTION_FLOWS,
    OPTION_MEMORY,
    OPTION_FPR,
    OPTION_KIND,
    OPTION_SEED,
    OPTION_COUNT,
    OPTION_DUPLICATES,
    OPTION_CHECK,
    OPTION_EXACT,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_OUTPUT,
    OPTION_ROTATE,
    OPTION_KEEP,
    OPTION_INTERVAL,
    OPTION_METRICS,
    OPTION_STATE,
    OPTION_LOG,
    OPTION_LOG_COLUMNS,
    OPTION_LOG_WHERE,
    OPTION_LOG_JSON,
    OPTION_LOG_ENDS,
    OPTION_QUIET,
    OPTION_HELP,
    N_OPTIONS
} option_id;

static const struct {
    char        letter;
    const char *name, *value, *text;
} list[N_OPTIONS] = {
    [OPTION_INTERFACE] = { 'i', "interface", "NAME",
                           "capture from this interface, until Ctrl-C; may be repeated" },
    [OPTION_CORES] = { 0, "cores", "CORES", "capture on this many cores: 1 (default)" },
    [OPTION_BUFFER] = { 0, "buffer", "SIZE", "memory for packets that wait: 64M (default)" },
    [OPTION_DROPS] = { 0, "fail-on-drops", NULL,
                       "exit with 1 if packets were dropped because they came too fast" },
    [OPTION_USER] = { 0, "user", "NAME", "become this user when the interfaces are open" },
    [OPTION_FILTER] = { 'f', "filter", "EXPRESSION",
                        "use only matching packets: 'host 10.0.0.1 and port 80'" },
    [OPTION_FLOWS] = { 0, "flows", "FLOWS",
                       "make room for this many flows at one time: 1M (default)" },
    [OPTION_MEMORY] = { 0, "memory", "SIZE", "or for as many flows as fit into this size: 16M" },
    [OPTION_FPR] = { 'e', "fpr", "RATE",
                     "how often a new flow may be mistaken for another: 0.05% (default)" },
    [OPTION_KIND] = { 'k', "kind", "KIND", "use this kind of table instead of the fastest" },
    [OPTION_SEED] = { 0, "seed", "SEED", "make runs repeatable: a number, or 0x and hex digits" },
    [OPTION_COUNT] = { 'c', "count", "PACKETS", "stop after this many packets" },
    [OPTION_DUPLICATES] = { 0, "duplicates", "TIME",
                            "ignore copies of packets within this time: 10ms; 0ms: ignore none" },
    [OPTION_CHECK] = { 0, "check", NULL,
                       "keep an exact table too, and report how often the two disagree" },
    [OPTION_EXACT] = { 0, "exact", NULL, "use an exact table instead; it grows as needed" },
    [OPTION_JSON] = { 0, "json", NULL,
                      "print events as they happen, one per line, then a summary" },
    [OPTION_CSV] = { 0, "csv", NULL, "print intervals as comma-separated values, and no report" },
    [OPTION_OUTPUT] = { 'o', "output", "FILE",
                        "append results to this file; SIGHUP opens it again" },
    [OPTION_ROTATE] = { 0, "rotate", "SIZE",
                        "begin a new file of results at this size; old: FILE.1, FILE.2, ..." },
    [OPTION_KEEP] = { 0, "keep", "FILES", "keep this many old files: 9 (default)" },
    [OPTION_INTERVAL] = { 0, "interval", "TIME", "report what happened in each interval: 10s, 5m" },
    [OPTION_METRICS] = { 0, "metrics", "FILE", "write counters for Prometheus to this file" },
    [OPTION_STATE] = { 0, "state", "FILE",
                       "continue with the flows in this file, and save them there at the end" },
    [OPTION_LOG] = { 0, "log", "FILE",
                     "write a line for each flow that ends; '-': standard output" },
    [OPTION_LOG_COLUMNS] = { 0, "log-columns", "NAMES", "of these columns: client,server,state" },
    [OPTION_LOG_WHERE] = { 0, "log-where", "TESTS",
                           "only if all are true: state=closed,client_bytes>1000" },
    [OPTION_LOG_JSON] = { 0, "log-json", NULL, "as JSON instead of columns with tabs" },
    [OPTION_LOG_ENDS] = { 0, "log-ends", "FLOWS",
                          "remember the ends of this many flows for it: 65536 (default)" },
    [OPTION_QUIET] = { 'q', "quiet", NULL, "no report at the end, no progress line" },
    [OPTION_HELP] = { 'h', "help", NULL, "print this page" },
};

/* ------------------------------------------------------------------ values */

/* End the program if there is a complaint about the value of an option. */
static void check_option_value(option_id id, const char *text, const char *complaint) {
    if (complaint == NULL) return;
    die("--%s %s: %s", list[id].name, *text != '\0' ? text : "''", complaint);
}

static void check_table_kind(const char *name) {
    for (size_t i = 0; tamis_states_kind_name(i) != NULL; i++) {
        if (strcmp(tamis_states_kind_name(i), name) == 0) return;
    }
    const char *const meant = suggest(name, tamis_states_kind_name);
    if (meant != NULL) die("there is no kind of table '%s'; did you mean '%s'?", name, meant);
    die("there is no kind of table '%s'; use line, rank or state_print", name);
}

/* Read a number into *opt, and return the complaint about it, or NULL. */
static const char *take_number(options *opt, option_id id, const char *text) {
    const char *complaint = NULL;
    switch (id) {
    case OPTION_FLOWS:
        complaint = number_read_count(text, &opt->flows);
        if (complaint == NULL && (opt->flows < 1 || opt->flows > MAX_FLOWS))
            complaint = "the number of flows must be between 1 and 2^36";
        break;
    case OPTION_MEMORY:
        complaint = number_read_size(text, &opt->memory);
        if (complaint == NULL && opt->memory == 0)
            complaint = "the size must not be 0; write 16M, for example";
        break;
    case OPTION_FPR:
        complaint = number_read_rate(text, &opt->fpr);
        if (complaint == NULL && !(opt->fpr >= 1e-12 && opt->fpr <= 0.5))
            complaint = "the rate must be between 1e-12 and 50%";
        break;
    case OPTION_COUNT:
        complaint = number_read_count(text, &opt->max_packets);
        if (complaint == NULL && opt->max_packets == 0)
            complaint = "the number of packets must be at least 1";
        break;
    case OPTION_ROTATE:
        complaint = number_read_size(text, &opt->rotate);
        if (complaint == NULL && opt->rotate == 0) complaint = "the size must not be 0";
        break;
    case OPTION_DUPLICATES:
        complaint = number_read_time(text, &opt->duplicate_ns);
        opt->has_duplicates = true;
        break;
    case OPTION_INTERVAL:
        complaint = number_read_time(text, &opt->interval_ns);
        if (complaint == NULL && opt->interval_ns < SHORTEST_INTERVAL_NS)
            complaint = "the time must be at least 100ms";
        break;
    default: break;
    }
    return complaint;
}

/* Numbers that are small and whole. */
static const char *take_small_number(options *opt, option_id id, const char *text) {
    uint64_t          value = 0;
    const char *const complaint =
        id == OPTION_BUFFER ? number_read_size(text, &value) : number_read_count(text, &value);
    if (complaint != NULL) return complaint;
    switch (id) {
    case OPTION_CORES:
        if (value < 1 || value > MAX_CORES) return "the number of cores must be from 1 to 64";
        opt->cores = (unsigned)value;
        return NULL;
    case OPTION_KEEP:
        if (value < 1 || value > MAX_KEEP) return "the number of files must be from 1 to 1000";
        opt->keep = (unsigned)value;
        return NULL;
    case OPTION_LOG_ENDS:
        if (value < 1 || value > MAX_ENDS) return "the number of flows must be from 1 to 2^30";
        opt->log.n_ends = (uint32_t)value;
        return NULL;
    default:
        if (value < MIN_BUFFER || value > MAX_BUFFER) return "the size must be from 1M to 1G";
        opt->buffer = value;
        return NULL;
    }
}

static void add_interface(options *opt, const char *name) {
    for (size_t i = 0; i < opt->n_interfaces; i++) {
        if (strcmp(opt->interfaces[i], name) == 0) die("-i %s is given twice", name);
    }
    if (opt->n_interfaces == OPTIONS_INTERFACES)
        die("-i %s: at most %d interfaces can be captured at one time", name, OPTIONS_INTERFACES);
    opt->interfaces[opt->n_interfaces++] = name;
    opt->interface = opt->interfaces[0];
}

/* Where the value of an option goes that is any text, or NULL. */
static const char **find_text(options *opt, option_id id) {
    switch (id) {
    case OPTION_USER: return &opt->user;
    case OPTION_FILTER: return &opt->filter;
    case OPTION_OUTPUT: return &opt->output;
    case OPTION_STATE: return &opt->state;
    case OPTION_METRICS: return &opt->metrics;
    case OPTION_LOG: return &opt->log.path;
    default: return NULL;
    }
}

/* Where an option without a value goes, or NULL. */
static bool *find_flag(options *opt, option_id id) {
    switch (id) {
    case OPTION_DROPS: return &opt->fails_on_drops;
    case OPTION_CHECK: return &opt->is_checked;
    case OPTION_EXACT: return &opt->is_exact;
    case OPTION_JSON: return &opt->is_json;
    case OPTION_CSV: return &opt->is_csv;
    case OPTION_LOG_JSON: return &opt->log.is_json;
    case OPTION_QUIET: return &opt->is_quiet;
    case OPTION_SEED: return &opt->has_seed; /* and its value, below */
    default: return NULL;
    }
}

/* The value of any other option. Returns a complaint, or NULL. */
static const char *take_value(options *opt, option_id id, const char *text) {
    switch (id) {
    case OPTION_CORES:
    case OPTION_KEEP:
    case OPTION_LOG_ENDS:
    case OPTION_BUFFER: return take_small_number(opt, id, text);
    case OPTION_INTERFACE: add_interface(opt, text); return NULL;
    case OPTION_KIND:
        check_table_kind(text);
        opt->kind = text;
        return NULL;
    case OPTION_SEED: return number_read_seed(text, &opt->seed);
    case OPTION_LOG_COLUMNS: return flow_log_read_columns(text, &opt->log);
    case OPTION_LOG_WHERE: return flow_log_read_tests(text, &opt->log);
    default: return take_number(opt, id, text);
    }
}

static void take_option(options *opt, option_id id, const char *text) {
    const char **const to_text = find_text(opt, id);
    bool *const        to_flag = find_flag(opt, id);
    if (id == OPTION_HELP) {
        options_help();
        output_flush();
        exit(EXIT_DONE);
    }
    if (to_text != NULL) *to_text = text;
    if (to_flag != NULL) *to_flag = true;
    if (to_text == NULL && text != NULL) check_option_value(id, text, take_value(opt, id, text));
}

/* ------------------------------------------------------------------ reading */

typedef struct getopt_form {
    char          letters[2 * N_OPTIONS + 2];
    struct option names[N_OPTIONS + 1];
} getopt_form;

static void prepare_getopt(getopt_form *ret_form) {
    *ret_form = (getopt_form){ .letters = ":" };
    char *letter = ret_form->letters + 1;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        bool const has_value = list[i].value != NULL;
        ret_form->names[i] =
            (struct option){ list[i].name, has_value ? required_argument : no_argument, NULL,
                             (int)(256 + i) };
        if (list[i].letter == 0) continue;
        *letter++ = list[i].letter;
        if (has_value) *letter++ = ':';
    }
}

/* The index of an option, from what getopt_long() returns. */
static option_id find_option(int answer) {
    if (answer >= 256) return (option_id)(answer - 256);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (list[i].letter == answer) return (option_id)i;
    }
    return OPTION_HELP;
}

static _Noreturn void refuse_option(int answer, char **argv) {
    if (answer == ':') {
        option_id const i = find_option(optopt);
        die("--%s needs a value (%s): %s", list[i].name, list[i].value, list[i].text);
    }
    if (optopt >= 256) die("--%s takes no value", list[optopt - 256].name);
    if (optopt > 0) die("there is no option '-%c'; 'tamis-flows help' lists them", optopt);
    die("there is no option '%s'; 'tamis-flows help' lists them", argv[optind - 1]);
}

static void parse_options(int argc, char **argv, options *opt) {
    getopt_form form;
    int         answer;
    prepare_getopt(&form);
    opterr = 0;
    while ((answer = getopt_long(argc, argv, form.letters, form.names, NULL)) != -1) {
        if (answer == '?' || answer == ':') refuse_option(answer, argv);
        take_option(opt, find_option(answer), optarg);
    }
}

static void check_combination(const options *asked) {
    if (asked->flows != 0 && asked->memory != 0)
        die("--flows and --memory cannot be used together");
    if (asked->is_exact && asked->is_checked)
        die("--exact and --check cannot be used together; --check uses both tables");
    if (asked->log.path == NULL && (asked->log.n_columns != 0 || asked->log.n_tests != 0 ||
                                    asked->log.is_json || asked->log.n_ends != LOG_ENDS))
        die("--log-columns, --log-where, --log-json and --log-ends need --log FILE");
    if (asked->interface != NULL && asked->n_captures != 0) {
        die("'%s': with -i %s no capture files are read; leave out one of the two",
            asked->captures[0], asked->interface);
    }
    if (asked->interface == NULL && asked->n_captures == 0) {
        die("nothing to read: name a capture file, '-' for standard input, or -i INTERFACE");
    }
}

/* Options that only make sense with others. */
static void check_company(const options *asked) {
    bool const is_live = asked->interface != NULL;
    if (!is_live && asked->cores > 1) die("--cores: only captures from interfaces (-i) use it");
    if (!is_live && asked->user != NULL) die("--user: only captures from interfaces (-i) use it");
    if (!is_live && asked->buffer != 0) die("--buffer: only captures from interfaces (-i) use it");
    if (!is_live && asked->fails_on_drops)
        die("--fail-on-drops: only captures from interfaces (-i) use it");
    if (asked->cores > 1 && asked->is_checked) die("--check works on one core only");
    if (asked->cores > 1 && asked->max_packets != 0) die("-c works on one core only");
    if (asked->cores > 1 && asked->state != NULL) die("--state works on one core only");
    if (asked->state != NULL && (asked->is_exact || asked->is_checked))
        die("--state saves the small table only; leave out --exact and --check");
    if (asked->is_csv && asked->is_json) die("--csv and --json cannot be used together");
    if (asked->is_csv && asked->interval_ns == 0) die("--csv needs --interval: 10s, for example");
    bool const has_log_file = asked->log.path != NULL && strcmp(asked->log.path, "-") != 0;
    if (asked->rotate != 0 && asked->output == NULL && !has_log_file)
        die("--rotate needs an output file (-o) or a flow log (--log FILE)");
    if (asked->keep != 0 && asked->rotate == 0) die("--keep needs --rotate: 100M, for example");
}

/* Two outputs in one file would overwrite each other, and an output would spoil a capture. */
static void check_names(const options *asked) {
    static const char *const outputs[] = { "-o", "--log", "--metrics", "--state" };
    const char *const names[] = { asked->output, asked->log.path, asked->metrics, asked->state };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const name = names[i];
        if (name == NULL || strcmp(name, "-") == 0) continue;
        for (size_t j = 0; j < i; j++) {
            if (names[j] != NULL && strcmp(names[j], "-") != 0 && outputs_are_same(name, names[j]))
                die("%s and %s name the same file %s; use two files", outputs[j], outputs[i], name);
        }
        for (size_t j = 0; j < asked->n_captures; j++) {
            if (outputs_are_same(name, asked->captures[j]))
                die("%s %s: this is a capture that is read; name another file", outputs[i], name);
        }
    }
}

/* --rotate renames FILE to FILE.1, that to FILE.2, and so on, over the file that is there. */
static void check_parts(const options *asked, const char *rotated) {
    const char *const names[] = { asked->output, asked->log.path, asked->metrics, asked->state };
    size_t const      n = sizeof names / sizeof names[0];
    if (asked->rotate == 0 || rotated == NULL || strcmp(rotated, "-") == 0) return;
    for (size_t i = 0; i < n + asked->n_captures; i++) {
        const char *const name = i < n ? names[i] : asked->captures[i - n];
        bool const        is_file = name != NULL && (i >= n || strcmp(name, "-") != 0);
        if (is_file && outputs_are_old_part(name, rotated, asked->keep))
            die("--rotate renames old parts of %s to %s, a file of this run; name another file",
                rotated, name);
    }
}

void options_read(int argc, char **argv, const char *machine, options *ret_options) {
    *ret_options = (options){
        .machine = machine, .fpr = DEFAULT_FPR, .cores = 1, .log = { .n_ends = LOG_ENDS }
    };
    parse_options(argc, argv, ret_options);
    if (machine == NULL && optind == argc)
        die("run needs a machine: a file, or one that 'tamis-flows machines' lists");
    if (machine == NULL) ret_options->machine = argv[optind++];
    ret_options->captures = argv + optind;
    ret_options->n_captures = (size_t)(argc - optind);
    check_combination(ret_options);
    check_company(ret_options);
    if (ret_options->buffer == 0) ret_options->buffer = DEFAULT_BUFFER;
    if (ret_options->keep == 0) ret_options->keep = DEFAULT_KEEP;
    check_names(ret_options);
    check_parts(ret_options, ret_options->output);
    check_parts(ret_options, ret_options->log.path);
    if (ret_options->log.n_columns == 0) flow_log_all_columns(&ret_options->log);
    if (ret_options->flows == 0 && ret_options->memory == 0) ret_options->flows = DEFAULT_FLOWS;
}

/* ------------------------------------------------------------------ help */

static void print_option(size_t i) {
    char name[64];
    (void)snprintf(name, sizeof name, "--%s%s%s", list[i].name, list[i].value ? " " : "",
                   list[i].value ? list[i].value : "");
    if (list[i].letter != 0)
        output_text("  -%c, %-20s %s\n", list[i].letter, name, list[i].text);
    else
        output_text("      %-20s %s\n", name, list[i].text);
}

void options_help(void) {
    output_string(
        "tamis-flows: track the states of connections in a few bits each\n\n"
        "Usage: tamis-flows tcp [options] CAPTURE...       track TCP connections\n"
        "       tamis-flows udp|icmp|dns|tls|quic [options] CAPTURE...\n"
        "                                                  track these instead\n"
        "       tamis-flows run MACHINE [options] CAPTURE...\n"
        "                                                  use your own state machine, from a "
        "file\n"
        "       tamis-flows check MACHINE [--dot]          explain a machine, or draw it\n"
        "       tamis-flows machines                       list the built-in machines\n"
        "       tamis-flows show MACHINE                   print one, as a start for your own\n\n"
        "A CAPTURE is a pcap or pcapng file, or '-' for standard input; it may be compressed\n"
        "(gz, xz, zst). The table of flows has a fixed size. If it cannot tell the state of a\n"
        "flow, it says \"don't know\".\n\n"
        "Options:\n");
    for (size_t i = 0; i < N_OPTIONS; i++) print_option(i);
    output_string(
        "\nExamples:\n"
        "  tamis-flows tcp capture.pcap\n"
        "  tamis-flows tcp -i eth0 --memory 16M\n"
        "  tamis-flows tcp -i eth0 -i eth1 --cores 2 --interval 10s --csv -o flows.csv\n"
        "  tcpdump -i eth0 -w - | tamis-flows tcp --json - | grep reset\n"
        "  tamis-flows dns -f 'host 10.0.0.53' capture.pcapng\n"
        "  tamis-flows show tcp >mine.machine; tamis-flows run mine.machine capture.pcap\n");
}
