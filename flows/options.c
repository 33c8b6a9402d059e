/* options.c - see options.h. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "numbers.h"
#include "output.h"
#include "suggest.h"

#define DEFAULT_FLOWS 1000000
#define DEFAULT_FPR 0.0005
#define MAX_FLOWS (UINT64_C(1) << 36)

static void refuse(const char *name, const char *text, const char *complaint) {
    if (complaint != NULL) die("%s %s: %s", name, *text != '\0' ? text : "''", complaint);
}

static void take_interface(options *to, const char *text) {
    to->interface = text;
}

static void take_filter(options *to, const char *text) {
    to->filter = text;
}

static void take_flows(options *to, const char *text) {
    refuse("--flows", text, number_read_count(text, &to->flows));
    if (to->flows < 1 || to->flows > MAX_FLOWS)
        refuse("--flows", text, "a table is made for 1 to 2^36 flows");
}

static void take_memory(options *to, const char *text) {
    refuse("--memory", text, number_read_size(text, &to->memory));
    if (to->memory == 0) refuse("--memory", text, "give it some, as in 16M");
}

static void take_fpr(options *to, const char *text) {
    refuse("-e", text, number_read_rate(text, &to->fpr));
    if (!(to->fpr >= 1e-12 && to->fpr <= 0.5))
        refuse("-e", text, "a rate is between 1e-12 and 50%");
}

static void take_kind(options *to, const char *text) {
    to->kind = text;
    for (size_t i = 0; tamis_states_kind_name(i) != NULL; i++) {
        if (strcmp(tamis_states_kind_name(i), text) == 0) return;
    }
    const char *const meant = suggest(text, tamis_states_kind_name);
    if (meant != NULL) die("there is no kind of states '%s'; did you mean '%s'?", text, meant);
    die("there is no kind of states '%s'", text);
}

static void take_seed(options *to, const char *text) {
    refuse("--seed", text, number_read_seed(text, &to->seed));
    to->has_seed = true;
}

static void take_count(options *to, const char *text) {
    refuse("-c", text, number_read_count(text, &to->max_packets));
    if (to->max_packets == 0) refuse("-c", text, "stop after at least one packet");
}

static void take_check(options *to, const char *text) {
    (void)text;
    to->is_checked = true;
}

static void take_exact(options *to, const char *text) {
    (void)text;
    to->is_exact = true;
}

static void take_json(options *to, const char *text) {
    (void)text;
    to->is_json = true;
}

static void take_quiet(options *to, const char *text) {
    (void)text;
    to->is_quiet = true;
}

static void take_help(options *to, const char *text) {
    (void)to;
    (void)text;
    options_help();
    output_flush();
    exit(EXIT_DONE);
}

/* ------------------------------------------------------------------ the table */

static const struct {
    char        letter;
    const char *name, *value, *text;
    void (*take)(options *to, const char *text);
} table[] = {
    { 'i', "interface", "NAME", "capture here, until Ctrl-C, instead of reading files",
      take_interface },
    { 'f', "filter", "EXPRESSION", "only packets that pass, as in 'host 10.0.0.1 and port 80'",
      take_filter },
    { 0, "flows", "FLOWS", "make the table for so many flows at one time: 1M (the default)",
      take_flows },
    { 0, "memory", "SIZE", "or for as many as fit into this: 16M", take_memory },
    { 'e', "fpr", "RATE", "how often a new flow may be taken for another: 0.05% (the default)",
      take_fpr },
    { 'k', "kind", "KIND", "take this kind of states", take_kind },
    { 0, "seed", "SEED", "do the same every time: a number, or 0x and hex digits", take_seed },
    { 'c', "count", "PACKETS", "stop after so many", take_count },
    { 0, "check", NULL, "keep an exact table beside, and tell how the two disagree", take_check },
    { 0, "exact", NULL, "use an exact table instead, of whatever size it gets", take_exact },
    { 0, "json", NULL, "print events as they happen, one per line, and a summary", take_json },
    { 'q', "quiet", NULL, "no report at the end, no line on the terminal", take_quiet },
    { 'h', "help", NULL, "print this page", take_help },
};

#define N_OPTIONS (sizeof table / sizeof table[0])

/* ------------------------------------------------------------------ reading */

typedef struct getopt_form {
    char          letters[2 * N_OPTIONS + 2];
    struct option names[N_OPTIONS + 1];
} getopt_form;

static void getopt_prepare(getopt_form *ret_form) {
    *ret_form = (getopt_form){ .letters = ":" };
    char *letter = ret_form->letters + 1;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        bool const has_value = table[i].value != NULL;
        ret_form->names[i] =
            (struct option){ table[i].name, has_value ? required_argument : no_argument, NULL,
                             (int)(256 + i) };
        if (table[i].letter == 0) continue;
        *letter++ = table[i].letter;
        if (has_value) *letter++ = ':';
    }
}

static size_t option_of(int answer) {
    if (answer >= 256) return (size_t)answer - 256;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (table[i].letter == answer) return i;
    }
    return 0;
}

static _Noreturn void die_of_option(int answer, char **argv) {
    if (answer == ':') {
        size_t const i = option_of(optopt);
        die("--%s needs a value (%s): %s", table[i].name, table[i].value, table[i].text);
    }
    if (optopt >= 256) die("--%s takes no value", table[optopt - 256].name);
    if (optopt > 0) die("there is no option '-%c'; 'tamis-flows help' lists them", optopt);
    die("there is no option '%s'; 'tamis-flows help' lists them", argv[optind - 1]);
}

static void take_options(int argc, char **argv, options *to) {
    getopt_form form;
    int         answer;
    getopt_prepare(&form);
    opterr = 0;
    while ((answer = getopt_long(argc, argv, form.letters, form.names, NULL)) != -1) {
        if (answer == '?' || answer == ':') die_of_option(answer, argv);
        table[option_of(answer)].take(to, optarg);
    }
}

static void check_together(const options *asked) {
    if (asked->flows != 0 && asked->memory != 0) die("--flows and --memory: choose one");
    if (asked->is_exact && asked->is_checked)
        die("--exact and --check: choose one; --check has both tables");
    if (asked->interface != NULL && asked->n_captures != 0) {
        die("'%s' is one too many: with -i, packets come from %s", asked->captures[0],
            asked->interface);
    }
    if (asked->interface == NULL && asked->n_captures == 0) {
        die("where are the packets? Name a capture file, '-' for standard input, or -i and an "
            "interface");
    }
}

void options_read(int argc, char **argv, const char *machine, options *ret_options) {
    *ret_options = (options){ .machine = machine, .fpr = DEFAULT_FPR };
    take_options(argc, argv, ret_options);
    if (machine == NULL && optind == argc)
        die("which machine? Name a file, or one of 'tamis-flows machines'");
    if (machine == NULL) ret_options->machine = argv[optind++];
    ret_options->captures = argv + optind;
    ret_options->n_captures = (size_t)(argc - optind);
    check_together(ret_options);
    if (ret_options->flows == 0 && ret_options->memory == 0) ret_options->flows = DEFAULT_FLOWS;
}

/* ------------------------------------------------------------------ help */

static void help_option(size_t i) {
    char name[64];
    (void)snprintf(name, sizeof name, "--%s%s%s", table[i].name, table[i].value ? " " : "",
                   table[i].value ? table[i].value : "");
    if (table[i].letter != 0)
        output_text("  -%c, %-20s %s\n", table[i].letter, name, table[i].text);
    else
        output_text("      %-20s %s\n", name, table[i].text);
}

void options_help(void) {
    output_string(
        "tamis-flows: the states of connections, in a few bits each\n\n"
        "Usage: tamis-flows tcp [options] CAPTURE...       every TCP connection\n"
        "       tamis-flows dns [options] CAPTURE...       DNS questions and answers\n"
        "       tamis-flows run MACHINE [options] CAPTURE...\n"
        "                                                  a machine of your own, from a file\n"
        "       tamis-flows machines                       those that came along\n"
        "       tamis-flows show MACHINE                   print one, to begin with\n\n"
        "A CAPTURE is a pcap or pcapng file, or '-' for standard input. The table of flows\n"
        "has a fixed size. Where it cannot tell the state of a flow, it says so.\n\n"
        "Options:\n");
    for (size_t i = 0; i < N_OPTIONS; i++) help_option(i);
    output_string(
        "\nExamples:\n"
        "  tamis-flows tcp capture.pcap\n"
        "  tamis-flows tcp -i eth0 --memory 16M\n"
        "  tcpdump -i eth0 -w - | tamis-flows tcp --json - | grep reset\n"
        "  tamis-flows dns -f 'host 10.0.0.53' capture.pcapng\n"
        "  tamis-flows show tcp >mine.machine; tamis-flows run mine.machine capture.pcap\n");
}
