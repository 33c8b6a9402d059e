/* options.c - the command line. */
#include "options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_KEYS 100
#define MAX_KEYS (UINT64_C(1) << 36)
#define MANY_KEYS 10000000 /* with more, one round is enough and takes minutes */

static const char help[] =
    "usage: tamis-bench [options]\n"
    "\n"
    "Compare speed and size of every tamis kind, of libbloom and of DPDK's rte_member, on the "
    "same\n"
    "keys in one process. The first rows are the speed of bare random memory. bench/README.md\n"
    "explains the report, and how to add contestants of your own.\n"
    "\n"
    "  --n SIZES       number of keys: 4000000, 4M, or several: 100k,4M,60M (default 4M)\n"
    "  --fpr P         false-positive rate, for those that have a choice (default 0.01)\n"
    "  --keys TYPE     bytes: all hash 8 key bytes (default);\n"
    "                  ids: tamis takes the keys as 64-bit ids, while its peers still hash\n"
    "  --only NAMES    names of the list below (default: all), each with options of its own:\n"
    "                  line:0.003,rank:0.001:small. Options are: an fpr; small (the smallest "
    "table\n"
    "                  instead of the fastest); remove, count, or plain (neither, with --remove);\n"
    "                  an instruction set; FIELD=NUMBER of the geometry, as in "
    "counting:blocked=1;\n"
    "                  states (keys have a state: put, get, drop) or moves (move instead of get),\n"
    "                  and ageing (with timers); fetch (single calls with prefetch hints).\n"
    "                  A name may occur more than once.\n"
    "  --ratios NAME   compare this one with each of the others, slice by slice\n"
    "  --isa WHICH     best (default), or all: each tamis kind on each instruction set\n"
    "  --remove        ask tamis for sets that can remove; other kinds are left out\n"
    "  --batch B       keys per batch call, 1 to 1024 (default 256)\n"
    "  --ahead A       rows with hints: how many keys ahead to hint, 1 to 1024 (default 16)\n"
    "  --slices S      slices per phase; contestants take turns in each (default 16)\n"
    "  --rounds R      repeat everything (default 3; 1 above 10M keys)\n"
    "  --pages small   no huge pages for anyone (default: own, each as it does by itself)\n"
    "  --ceiling SIZE  bytes of the bare memory (default: chosen by the sizes of the tables)\n"
    "  --cpu C         pin to this processor (default: the current one)\n"
    "  --seed S        seed of the keys (default 1)\n"
    "  --json FILE     write all numbers as JSON; -: to stdout, and the report to stderr\n"
    "  --help\n"
    "\n"
    "  tamis-bench --n 4M\n"
    "  tamis-bench --n 100k,4M,60M --fpr 0.001 --json speed.json\n"
    "  tamis-bench --n 1M --only bloom,libbloom --keys bytes --pages small\n"
    "  tamis-bench --n 4M --remove --only line:0.003,counting:0.001,rte_member --ratios line\n"
    "  tamis-bench --n 20k --slices 4          a first look, in a second or two\n";

/* ------------------------------------------------------------------ numbers */

/* "4M", "1.5k", "100": digits with an optional decimal suffix. */
static bool parse_size(const char *text, uint64_t *ret_size, const char **ret_rest) {
    char        *rest;
    double const number = strtod(text, &rest);
    if (rest == text || !(number >= 0)) return false;
    double factor = 1;
    switch (*rest) {
    case 'k':
    case 'K': factor = 1e3; break;
    case 'M': factor = 1e6; break;
    case 'G': factor = 1e9; break;
    default: break;
    }
    if (number * factor > 1e18) return false;
    *ret_size = (uint64_t)llround(number * factor);
    *ret_rest = rest + (factor > 1);
    return true;
}

static bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *ret_number) {
    const char *rest;
    uint64_t    number;
    if (!parse_size(text, &number, &rest) || *rest != '\0') return false;
    if (number < low || number > high) return false;
    *ret_number = number;
    return true;
}

static bool parse_unsigned(const char *text, unsigned low, unsigned high, unsigned *ret_number) {
    uint64_t number;
    if (!parse_number(text, low, high, &number)) return false;
    *ret_number = (unsigned)number;
    return true;
}

static bool parse_sizes(bench_options *options, const char *text) {
    options->n_sizes = 0;
    for (;;) {
        uint64_t size;
        if (options->n_sizes == MAX_SIZES || !parse_size(text, &size, &text)) return false;
        if (size < MIN_KEYS || size > MAX_KEYS) return false;
        options->sizes[options->n_sizes++] = size;
        if (*text == '\0') return true;
        if (*text++ != ',') return false;
    }
}

/* A number of keys from 1 to `most`. */
static bool parse_count(const char *text, unsigned most, size_t *ret_count) {
    unsigned count;
    if (!parse_unsigned(text, 1, most, &count)) return false;
    *ret_count = count;
    return true;
}

static bool parse_cpu(bench_options *options, const char *text) {
    unsigned cpu;
    if (!parse_unsigned(text, 0, 4095, &cpu)) return false;
    options->cpu = (int)cpu;
    return true;
}

/* ------------------------------------------------------------------ words */

static bool parse_choice(const char *text, const char *no, const char *yes, bool *ret_is_yes) {
    *ret_is_yes = strcmp(text, yes) == 0;
    return *ret_is_yes || strcmp(text, no) == 0;
}

/* ------------------------------------------------------------------ all options */

enum { HELP = 'h', N = 256, FPR, KEYS, ONLY, RATIOS, ISA, REMOVE, BATCH, AHEAD };
enum { SLICES = AHEAD + 1, ROUNDS, PAGES, CEILING, CPU, SEED, JSON };

static const struct option long_options[] = {
    { "n", required_argument, NULL, N },
    { "fpr", required_argument, NULL, FPR },
    { "keys", required_argument, NULL, KEYS },
    { "only", required_argument, NULL, ONLY },
    { "ratios", required_argument, NULL, RATIOS },
    { "isa", required_argument, NULL, ISA },
    { "remove", no_argument, NULL, REMOVE },
    { "batch", required_argument, NULL, BATCH },
    { "ahead", required_argument, NULL, AHEAD },
    { "slices", required_argument, NULL, SLICES },
    { "rounds", required_argument, NULL, ROUNDS },
    { "pages", required_argument, NULL, PAGES },
    { "ceiling", required_argument, NULL, CEILING },
    { "cpu", required_argument, NULL, CPU },
    { "seed", required_argument, NULL, SEED },
    { "json", required_argument, NULL, JSON },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

static bool parse_one(bench_options *options, int option, const char *text) {
    switch (option) {
    case N: return parse_sizes(options, text);
    case FPR: return parse_fpr(text, &options->fpr);
    case KEYS: return parse_choice(text, "bytes", "ids", &options->is_id);
    case ONLY: options->only = text; return entries_parse(&options->entries, text);
    case RATIOS: options->ratios = text; return true;
    case ISA: return parse_choice(text, "best", "all", &options->is_every_isa);
    case REMOVE: options->is_removing = true; return true;
    case BATCH: return parse_count(text, MAX_BATCH, &options->batch);
    case AHEAD: return parse_count(text, MAX_AHEAD, &options->ahead);
    case SLICES: return parse_unsigned(text, 2, 1000, &options->slices);
    case ROUNDS: return parse_unsigned(text, 1, 1000, &options->rounds);
    case PAGES: return parse_choice(text, "own", "small", &options->is_small_pages);
    case CEILING: return parse_number(text, 4096, UINT64_C(1) << 40, &options->ceiling_bytes);
    case CPU: return parse_cpu(options, text);
    case SEED: return parse_number(text, 0, UINT64_C(1) << 53, &options->seed);
    case JSON: options->json = text; return true;
    default: return false;
    }
}

static void print_help(void) {
    (void)fputs(help, stdout);
    (void)fputs("\nnames for --only: ", stdout);
    entries_print_keys(stdout);
}

static void refuse_value(int option, const char *name, const char *text) {
    (void)fprintf(stderr, "tamis-bench: --%s '%s' is not valid; see --help\n", name, text);
    if (option != ONLY) return;
    (void)fputs("tamis-bench: names for --only: ", stderr);
    entries_print_keys(stderr);
}

/* Check what depends on several options, and fill in defaults. */
static options_verdict complete_options(bench_options *options) {
    entries_complete(&options->entries, options->fpr, options->is_removing);
    const bench_entry *const ageing = entries_find_ageing_set(&options->entries);
    if (ageing != NULL) {
        (void)fprintf(stderr,
                      "tamis-bench: '%s': ageing needs states; write %s:states or %s:moves\n",
                      ageing->text, ageing->text, ageing->text);
        return OPTIONS_WRONG;
    }
    const bench_entry *const hinted = entries_find_wrong_hint(&options->entries);
    if (hinted != NULL) {
        (void)fprintf(stderr, "tamis-bench: '%s': fetch is for tamis sets only\n", hinted->text);
        return OPTIONS_WRONG;
    }
    const char *const name = options->ratios;
    if (name == NULL || entries_find(&options->entries, name) != NULL) return OPTIONS_RUN;
    (void)fprintf(stderr, "tamis-bench: --ratios '%s': this name does not take part\n", name);
    return OPTIONS_WRONG;
}

options_verdict options_parse(bench_options *ret_options, int argc, char **argv) {
    *ret_options = (bench_options){ .sizes = { 4000000 }, .n_sizes = 1, .fpr = 0.01, .batch = 256 };
    ret_options->ahead = 16;
    ret_options->slices = 16;
    ret_options->seed = 1;
    ret_options->cpu = -1;
    int option, which = 0;
    while ((option = getopt_long(argc, argv, "h", long_options, &which)) != -1) {
        if (option == HELP) {
            print_help();
            return OPTIONS_DONE;
        }
        if (option == '?') return OPTIONS_WRONG; /* getopt has printed why */
        if (parse_one(ret_options, option, optarg)) continue;
        refuse_value(option, long_options[which].name, optarg);
        return OPTIONS_WRONG;
    }
    if (optind == argc) return complete_options(ret_options);
    (void)fprintf(stderr, "tamis-bench: unexpected argument '%s'; see --help\n", argv[optind]);
    return OPTIONS_WRONG;
}

uint64_t options_largest_size(const bench_options *options) {
    uint64_t largest = 0;
    for (size_t i = 0; i < options->n_sizes; i++) {
        if (options->sizes[i] > largest) largest = options->sizes[i];
    }
    return largest;
}

unsigned options_rounds(const bench_options *options, uint64_t n) {
    if (options->rounds != 0) return options->rounds;
    return n > MANY_KEYS ? 1 : 3;
}
