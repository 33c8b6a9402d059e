/* options.c - see options.h. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "geometry.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "suggest.h"

#define DEFAULT_FPR 0.001
#define MAX_CAPACITY (UINT64_C(1) << 40)
#define MIN_FPR 1e-12
#define MAX_FPR 0.5
#define MAX_VALUES (UINT64_C(1) << 32)
#define MAX_COPIES (UINT64_C(1) << 32)
#define MAX_TIMEOUT (UINT64_C(1) << 32)
#define MAX_REPLICAS 100

/* ------------------------------------------------------------------ values */

/* "-n 10X: not a number; write 1000, 10k, 1M or 2G". Does nothing if the complaint is NULL. */
static void refuse(const char *name, const char *text, const char *complaint) {
    if (complaint != NULL) die("%s %s: %s", name, *text != '\0' ? text : "''", complaint);
}

static void take_capacity(options *to, const char *text) {
    to->is_counted = strcmp(text, "auto") == 0;
    if (to->is_counted) return;
    refuse("-n", text, number_read_count(text, &to->spec.capacity));
    if (to->spec.capacity < 1 || to->spec.capacity > MAX_CAPACITY) {
        refuse("-n", text, "a set is made for 1 to 2^40 (1.1T) keys");
    }
}

static void take_grow_to(options *to, const char *text) {
    refuse("--grow-to", text, number_read_count(text, &to->spec.grow_to));
    if (to->spec.grow_to < 1 || to->spec.grow_to > MAX_CAPACITY) {
        refuse("--grow-to", text, "a set can grow to 1 to 2^40 (1.1T) keys");
    }
}

static void take_fpr(options *to, const char *text) {
    refuse("-e", text, number_read_rate(text, &to->spec.fpr));
    bool const is_rate = to->spec.fpr >= MIN_FPR && to->spec.fpr <= MAX_FPR;
    if (!is_rate && to->spec.fpr != 0) {
        refuse("-e", text, "a false-positive rate is between 1e-12 and 50%");
    }
}

static void take_memory(options *to, const char *text) {
    refuse("--memory", text, number_read_size(text, &to->spec.memory));
    if (to->spec.memory == 0) refuse("--memory", text, "a set needs more memory");
}

static void take_lifetime(options *to, const char *text) {
    refuse("--lifetime", text, number_read_count(text, &to->spec.lifetime));
    if (to->spec.lifetime == 0) refuse("--lifetime", text, "it must be at least 1");
}

static void take_overflow(options *to, const char *text) {
    refuse("--overflow", text, number_read_rate(text, &to->spec.overflow));
    if (!(to->spec.overflow > 0 && to->spec.overflow < 1)) {
        refuse("--overflow", text, "a probability is between 0 and 1, as in 1e-15");
    }
}

static void take_kind(options *to, const char *text) {
    to->spec.kind = text;
}

static void take_values(options *to, const char *text) {
    refuse("--values", text, number_read_count(text, &to->values));
    if (to->values < 2 || to->values > MAX_VALUES) {
        refuse("--values", text, "a key has one of 2 to 2^32 (4294967296) values");
    }
}

static void take_unknown(options *to, const char *text) {
    refuse("--unknown", text, number_read_rate(text, &to->unknown));
    if (!(to->unknown >= MIN_FPR && to->unknown <= MAX_FPR)) {
        refuse("--unknown", text, "a rate is between 1e-12 and 50%");
    }
}

static void take_timeout(options *to, const char *text) {
    refuse("--timeout", text, number_read_count(text, &to->timeout));
    if (to->timeout < 1 || to->timeout > MAX_TIMEOUT) {
        refuse("--timeout", text, "a timeout has 1 to 2^32 ticks");
    }
}

static void take_geometry(options *to, const char *text) {
    to->spec.geometry = text;
}

static void take_like(options *to, const char *text) {
    to->like = text;
}

static void take_set(options *to, const char *text) {
    to->set = text;
}

static void take_seed(options *to, const char *text) {
    refuse("--seed", text, number_read_seed(text, &to->seed));
    to->spec.seed = &to->seed;
}

static void take_hash(options *to, const char *text) {
    if (strcmp(text, "xxh3") == 0)
        to->spec.hash = TAMIS_HASH_XXH3;
    else if (strcmp(text, "siphash") == 0)
        to->spec.hash = TAMIS_HASH_SIPHASH;
    else
        refuse("--hash", text, "write xxh3 (fast) or siphash (for keys an attacker may choose)");
}

static void take_remove(options *to, const char *text) {
    (void)text;
    to->spec.abilities |= TAMIS_CAN_REMOVE;
}

static void take_count_ability(options *to, const char *text) {
    (void)text;
    to->spec.abilities |= TAMIS_CAN_COUNT;
}

/* A user who says how far to count wants to count. */
static void take_count_to(options *to, const char *text) {
    refuse("--count-to", text, number_read_count(text, &to->spec.count_to));
    if (to->spec.count_to < 1 || to->spec.count_to > MAX_COPIES) {
        refuse("--count-to", text, "write 1 to 16777215, the highest count of any kind");
    }
    to->spec.abilities |= TAMIS_CAN_COUNT;
}

static void take_copies(options *to, const char *text) {
    refuse("--copies", text, number_read_count(text, &to->spec.copies));
    if (to->spec.copies < 1 || to->spec.copies > MAX_COPIES) {
        refuse("--copies", text, "a key has 1 to 2^32 copies");
    }
}

static void take_merge(options *to, const char *text) {
    (void)text;
    to->spec.abilities |= TAMIS_CAN_MERGE;
}

static void take_small(options *to, const char *text) {
    (void)text;
    to->spec.prefer = TAMIS_PREFER_SMALL;
}

static void take_null(options *to, const char *text) {
    (void)text;
    to->separator = '\0';
}

static void take_threads(options *to, const char *text) {
    uint64_t threads;
    refuse("--threads", text, number_read_count(text, &threads));
    if (threads < 1 || threads > CREW_MOST_THREADS) {
        refuse("--threads", text, "use 1 to 256 threads");
    }
    to->threads = (unsigned)threads;
}

static void take_cluster(options *to, const char *text) {
    to->cluster = text;
}

static void take_shards(options *to, const char *text) {
    uint64_t shards;
    refuse("--shards", text, number_read_count(text, &shards));
    if (shards < 1 || shards > MAX_SHARDS || (shards & (shards - 1)) != 0)
        die("--shards %s: the number of shards is a power of two, 1 to %d", text, MAX_SHARDS);
    to->shards = (unsigned)shards;
}

static void take_wait(options *to, const char *text) {
    uint64_t replicas;
    refuse("--wait", text, number_read_count(text, &replicas));
    if (replicas > MAX_REPLICAS) refuse("--wait", text, "no node has that many replicas");
    to->replicas = (unsigned)replicas;
}

static void take_windows(options *to, const char *text) {
    uint64_t windows;
    refuse("--windows", text, number_read_count(text, &windows));
    if (windows < 1 || windows > MAX_WINDOWS) refuse("--windows", text, "it takes 1 to 16");
    to->windows = (unsigned)windows;
}

static void take_journal(options *to, const char *text) {
    to->journal = text;
}

static void take_user(options *to, const char *text) {
    to->user = text;
}

static void take_password_file(options *to, const char *text) {
    to->password_file = text;
}

static void take_ca_file(options *to, const char *text) {
    to->ca_file = text;
}

static void take_cert_file(options *to, const char *text) {
    to->cert_file = text;
}

static void take_key_file(options *to, const char *text) {
    to->key_file = text;
}

static void take_tls_name(options *to, const char *text) {
    to->tls_name = text;
}

/* ------------------------------------------------------------------ the table */

typedef struct option_entry {
    char        letter; /* or 0 */
    const char *name;
    const char *value; /* what to call it, or NULL if it takes none */
    const char *text;
    void (*take)(options *to, const char *text); /* NULL: that it was given says all */
} option_entry;

static const option_entry table[N_OPTIONS] = {
    [OPTION_CAPACITY] = { 'n', "capacity", "KEYS", "different keys at one time: 1000, 10k, 1.5M",
                          take_capacity },
    [OPTION_GROW_TO] = { 0, "grow-to", "KEYS",
                         "let it grow to this many keys, with the rate of -e at the end",
                         take_grow_to },
    [OPTION_FPR] = { 'e', "fpr", "RATE",
                     "false-positive rate when full: 0.1% (the default), 1e-6, 1/1000", take_fpr },
    [OPTION_MEMORY] = { 0, "memory", "SIZE",
                        "largest size, as in 16MiB; without -n or -e, the best possible",
                        take_memory },
    [OPTION_VALUES] = { 0, "values", "COUNT",
                        "plan a table of states: how many values a key can have", take_values },
    [OPTION_UNKNOWN] = { 0, "unknown", "RATE",
                         "how often it may answer \"don't know\" (default: the rate of -e)",
                         take_unknown },
    [OPTION_TIMEOUT] = { 0, "timeout", "TICKS",
                         "remove keys that were not touched for this many ticks", take_timeout },
    [OPTION_REMOVE] = { 0, "remove", NULL, "the set must be able to remove keys", take_remove },
    [OPTION_COUNT] = { 0, "count", NULL, "the set must be able to count the copies of a key",
                       take_count_ability },
    [OPTION_COUNT_TO] = { 0, "count-to", "N",
                          "count up to N copies (default: 255, or the limit of a named kind)",
                          take_count_to },
    [OPTION_COPIES] = { 0, "copies", "N", "make room for N copies of every key (default: 1)",
                        take_copies },
    [OPTION_MERGE] = { 0, "merge", NULL, "the set must be able to merge with another", take_merge },
    [OPTION_FAST] = { 0, "fast", NULL, "choose the fastest kind (the default)", NULL },
    [OPTION_SMALL] = { 0, "small", NULL, "choose the smallest kind", take_small },
    [OPTION_KIND] = { 'k', "kind", "KIND", "use this kind; 'tamis kinds' lists them", take_kind },
    [OPTION_GEOMETRY] = { 0, "geometry", "FIELDS", "fix fields of the kind: hashes=9,bits=65536",
                          take_geometry },
    [OPTION_LIFETIME] = { 0, "lifetime", "KEYS", "keys that are added over its whole life",
                          take_lifetime },
    [OPTION_OVERFLOW] = { 0, "overflow", "P",
                          "acceptable probability of a refused add (default: 1e-10)",
                          take_overflow },
    [OPTION_LIKE] = { 0, "like", "FILE", "make it like this set, so that the two can merge",
                      take_like },
    [OPTION_SET] = { 0, "set", "FILE", "remember the lines in this set between runs", take_set },
    [OPTION_SEED] = { 0, "seed", "SEED", "fix the seed, to repeat a run: a number, or 0x and hex",
                      take_seed },
    [OPTION_HASH] = { 0, "hash", "NAME", "xxh3, or siphash for keys that an attacker may choose",
                      take_hash },
    [OPTION_CLUSTER] = { 0, "cluster", "HOST:PORT", "any node of the cluster, or a single server",
                         take_cluster },
    [OPTION_SHARDS] = { 0, "shards", "P", "number of keys for a new set, a power of two (64)",
                        take_shards },
    [OPTION_WAIT] = { 0, "wait", "N", "replicas that must have a change before it is done (1)",
                      take_wait },
    [OPTION_WINDOWS] = { 0, "windows", "N", "windows of keys on their way at one time (3)",
                         take_windows },
    [OPTION_JOURNAL] = { 0, "journal", "FILE",
                         "record confirmed lines: if killed, run it again to continue",
                         take_journal },
    [OPTION_USER] = { 0, "user", "NAME", "log in as this user (AUTH)", take_user },
    [OPTION_PASSWORD_FILE] = { 0, "password-file", "FILE",
                               "log in with the first line of this file, or with "
                               "$TAMIS_REDIS_PASSWORD",
                               take_password_file },
    [OPTION_TLS] = { 0, "tls", NULL, "connect with TLS", NULL },
    [OPTION_CA_FILE] = { 0, "cacert", "FILE",
                         "trust certificates signed by these CAs (default: the system's)",
                         take_ca_file },
    [OPTION_CERT_FILE] = { 0, "cert", "FILE", "show this certificate to servers", take_cert_file },
    [OPTION_KEY_FILE] = { 0, "key", "FILE", "its key, if it is not in the same file",
                          take_key_file },
    [OPTION_TLS_NAME] = { 0, "tls-name", "NAME",
                          "certificates must be for NAME, not for the host; '*': for any name",
                          take_tls_name },
    [OPTION_NULL] = { '0', "null", NULL, "keys end with a NUL byte, not with a newline",
                      take_null },
    [OPTION_COUNTS] = { 0, "counts", NULL, "each line ends with a tab and a number of copies",
                        NULL },
    [OPTION_INVERT] = { 'v', "invert", NULL, "print the other lines instead", NULL },
    [OPTION_COUNT_LINES] = { 'c', "count", NULL, "print only the number of such lines", NULL },
    [OPTION_JSON] = { 0, "json", NULL, "print JSON", NULL },
    [OPTION_CODE] = { 0, "code", NULL, "print a C program that makes and uses such a set", NULL },
    [OPTION_NO_COPIES] = { 0, "no-copies", NULL,
                           "leave out the numbers of copies: a bit less per key, but no removal",
                           NULL },
    [OPTION_FORCE] = { 'f', "force", NULL, "replace a file even if it is not a set", NULL },
    [OPTION_TRUST] = { 0, "trust", NULL, "do not check the contents of the file before using it",
                       NULL },
    [OPTION_READ] = { 0, "read", NULL, "read the whole file into memory; do not map it", NULL },
    [OPTION_THREADS] = { 0, "threads", "N", "use N threads (default: one for each processor)",
                         take_threads },
    [OPTION_DISCARD] = { 0, "discard-on-interrupt", NULL,
                         "save nothing on SIGINT (Ctrl-C), SIGTERM or SIGHUP", NULL },
    [OPTION_QUIET] = { 'q', "quiet", NULL, "print no messages on success", NULL },
    [OPTION_SILENT] = { 'q', "quiet", NULL, "print nothing, and stop at the first such line",
                        NULL },
    [OPTION_HELP] = { 'h', "help", NULL, "print this page", NULL },
};

static bool takes(const command *chosen, unsigned id) {
    return ((chosen->options | OPTION_BIT(HELP)) >> id & 1) != 0;
}

/* ------------------------------------------------------------------ getopt */

/* The command's options in the two forms that getopt_long() reads. */
typedef struct getopt_form {
    char          letters[2 * N_OPTIONS + 2];
    struct option names[N_OPTIONS + 1];
} getopt_form;

static void getopt_prepare(const command *chosen, getopt_form *ret_form) {
    *ret_form = (getopt_form){ .letters = ":" };
    char          *letter = ret_form->letters + 1;
    struct option *name = ret_form->names;
    for (unsigned id = 0; id < N_OPTIONS; id++) {
        if (!takes(chosen, id)) continue;
        const option_entry *const entry = &table[id];
        bool const                has_value = entry->value != NULL;
        *name++ = (struct option){ entry->name, has_value ? required_argument : no_argument, NULL,
                                   (int)(256 + id) };
        if (entry->letter == 0) continue;
        *letter++ = entry->letter;
        if (has_value) *letter++ = ':';
    }
}

/* The option that getopt_long() has found, by its number or by its letter. */
static unsigned option_find(const command *chosen, int answer) {
    if (answer >= 256) return (unsigned)answer - 256;
    for (unsigned id = 0; id < N_OPTIONS; id++) {
        if (takes(chosen, id) && table[id].letter == answer) return id;
    }
    return N_OPTIONS;
}

/* optopt is the letter, or the number of an option that was given a value and takes none. */
static _Noreturn void die_of_unknown(const command *chosen, char **argv) {
    if (optopt >= 256) die("--%s takes no value", table[optopt - 256].name);
    if (optopt > 0) {
        die("there is no option '-%c'; 'tamis %s --help' lists them", optopt, chosen->name);
    }
    die("there is no option '%s'; 'tamis %s --help' lists them", argv[optind - 1], chosen->name);
}

static _Noreturn void die_of_missing(const command *chosen) {
    unsigned const id = option_find(chosen, optopt);
    if (id == N_OPTIONS) die("an option lacks its value; see 'tamis %s --help'", chosen->name);
    die("--%s needs a value (%s): %s", table[id].name, table[id].value, table[id].text);
}

static void take_options(const command *chosen, int argc, char **argv, options *to) {
    getopt_form form;
    getopt_prepare(chosen, &form);
    opterr = 0;
    int answer;
    while ((answer = getopt_long(argc, argv, form.letters, form.names, NULL)) != -1) {
        if (answer == '?') die_of_unknown(chosen, argv);
        if (answer == ':') die_of_missing(chosen);
        unsigned const id = option_find(chosen, answer);
        to->given |= UINT64_C(1) << id;
        if (id == OPTION_HELP) {
            options_help(chosen);
            output_flush();
            exit(EXIT_DONE);
        }
        if (table[id].take != NULL) table[id].take(to, optarg);
    }
}

/* ------------------------------------------------------------------ all together */

static void check_together(const options *asked) {
    if (is_given(asked, OPTION_BIT(FPR)) && asked->spec.fpr == 0 && asked->spec.geometry == NULL) {
        refuse("-e", "0", "every set has errors; write 1e-12 to 50% (0 only with --geometry)");
    }
    if (is_given(asked, OPTION_BIT(FAST)) && is_given(asked, OPTION_BIT(SMALL))) {
        die("--fast and --small: choose one");
    }
    if (is_given(asked, OPTION_BIT(LIKE)) &&
        is_given(asked, OPTIONS_OF_SPEC | OPTIONS_OF_HASHING | OPTION_BIT(MEMORY))) {
        die("--like takes everything from %s: leave out -n, -e and the others", asked->like);
    }
    if (is_given(asked, OPTION_BIT(JSON)) && is_given(asked, OPTION_BIT(CODE))) {
        die("--json and --code: choose one");
    }
}

/* A set that grows keeps a rate. Its size and its geometry follow from that. */
static void check_growth(const options *asked) {
    if (!is_given(asked, OPTION_BIT(GROW_TO))) return;
    if (is_given(asked, OPTION_BIT(MEMORY))) {
        die("--grow-to and --memory: a set that grows takes as much memory as its keys need; "
            "choose "
            "one");
    }
    if (is_given(asked, OPTION_BIT(GEOMETRY))) {
        die("--grow-to and --geometry: the geometry changes as the set grows; choose one");
    }
    if (asked->spec.grow_to < asked->spec.capacity) {
        die("--grow-to is less than -n, the capacity at the start; write a larger number");
    }
}

/* Options that only states have, or only sets. */
static void check_states(const options *asked) {
    bool const is_of_states = is_given(asked, OPTION_BIT(VALUES));
    if (!is_of_states && is_given(asked, OPTION_BIT(TIMEOUT))) {
        die("--timeout: only states have one; add the number of values, as in --values 8");
    }
    if (!is_of_states && is_given(asked, OPTION_BIT(UNKNOWN))) {
        die("--unknown: only states have it; add the number of values, as in --values 8");
    }
    if (is_of_states && is_given(asked, OPTIONS_OF_ABILITY)) {
        die("--values: every table of states can drop keys and merge, and none counts copies; "
            "leave out --remove, --count, --copies and --merge");
    }
}

/* A set is mapped, and its file is replaced by a rename; a stream allows neither. */
static void check_set_name(const char *name) {
    if (*name == '\0') die("the name of the set is empty; name a file");
    if (strcmp(name, "-") != 0) return;
    die("'-' is standard input, which cannot be a set; name a file (write ./- if that is its "
        "name)");
}

static void check_set_names(const command *chosen, const options *asked) {
    for (size_t i = 0; i < asked->n_operands && i < chosen->set_operands; i++) {
        check_set_name(asked->operands[i]);
    }
    if (asked->like != NULL) check_set_name(asked->like);
    if (asked->set != NULL) check_set_name(asked->set);
}

static void check_operands(const command *chosen, const options *asked) {
    if (asked->n_operands < chosen->min_operands) {
        die("%s is missing; usage: tamis %s %s[options]",
            asked->n_operands == 0 ? "the file" : "a file", chosen->name, chosen->operands);
    }
    if (asked->n_operands > chosen->max_operands) {
        die("'%s' is one operand too many; usage: tamis %s %s[options]",
            asked->operands[chosen->max_operands], chosen->name, chosen->operands);
    }
}

/* The environment variable TAMIS_ISA chooses an instruction set, for comparing speed. It never
 * changes an answer. */
static const char *wanted_isa(void) {
    const char *const wanted = getenv("TAMIS_ISA");
    if (wanted == NULL || *wanted == '\0') return NULL;
    char   known[100] = "";
    size_t at = 0;
    for (size_t i = 0; tamis_isa_name(i) != NULL && at < sizeof known; i++) {
        if (strcmp(wanted, tamis_isa_name(i)) == 0) return tamis_isa_name(i);
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "",
                               tamis_isa_name(i));
    }
    die("TAMIS_ISA=%s: this machine supports %s", wanted, known);
}

/* Without -e, 0.1%; but if keys and memory are given, the lowest rate that fits. */
static void default_fpr(options *asked) {
    bool const is_open =
        is_given(asked, OPTION_BIT(MEMORY)) && is_given(asked, OPTION_BIT(CAPACITY));
    if (!is_given(asked, OPTION_BIT(FPR)) && !is_open) asked->spec.fpr = DEFAULT_FPR;
}

void options_read(const command *chosen, int argc, char **argv, options *ret_options) {
    tamis_spec const spec = TAMIS_SPEC_INIT;
    *ret_options = (options){ .command = chosen,
                              .spec = spec,
                              .separator = '\n',
                              .replicas = 1,
                              .windows = DEFAULT_WINDOWS };
    ret_options->threads = takes(chosen, OPTION_THREADS) ? crew_processors() : 1;
    ret_options->spec.isa = wanted_isa();
    take_options(chosen, argc, argv, ret_options);
    default_fpr(ret_options);
    ret_options->operands = argv + optind;
    ret_options->n_operands = (size_t)(argc - optind);
    bool const is_of_states = is_given(ret_options, OPTION_BIT(VALUES));
    if (ret_options->spec.kind != NULL) kind_check(ret_options->spec.kind, is_of_states);
    check_together(ret_options);
    check_growth(ret_options);
    check_states(ret_options);
    check_operands(chosen, ret_options);
    check_set_names(chosen, ret_options);
    if (ret_options->spec.geometry != NULL) {
        geometry_check(ret_options->spec.geometry, ret_options->spec.kind,
                       is_of_states ? tamis_states_kind_name : tamis_kind_name);
    }
}

/* ------------------------------------------------------------------ help */

static void help_option(const option_entry *entry) {
    char name[64];
    (void)snprintf(name, sizeof name, "--%s%s%s", entry->name, entry->value ? " " : "",
                   entry->value ? entry->value : "");
    if (entry->letter != 0)
        output_text("  -%c, %-22s %s\n", entry->letter, name, entry->text);
    else
        output_text("      %-22s %s\n", name, entry->text);
}

void options_help(const command *chosen) {
    output_text("Usage: tamis %s %s[options]\n\n%s.\n\n", chosen->name, chosen->operands,
                chosen->summary);
    output_string(chosen->text);
    output_string("\nOptions:\n");
    for (unsigned id = 0; id < N_OPTIONS; id++) {
        if (takes(chosen, id)) help_option(&table[id]);
    }
    output_string("\nExamples:\n");
    output_string(chosen->examples);
}
