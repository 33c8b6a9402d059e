/* options.c - see options.h. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_JOBS 256

bool options_complain(const char *problem, const char *argument) {
    (void)fprintf(stderr, "tamis-lab: %s '%s'; see tamis-lab --help\n", problem, argument);
    return false;
}

/* ------------------------------------------------------------------ numbers */

/* The number after an option. */
static bool read_number(const char *option, const char *text, uint64_t *ret_number) {
    char *end = NULL;
    bool  is_right = text != NULL && *text >= '0' && *text <= '9';
    errno = 0;
    if (is_right) *ret_number = strtoull(text, &end, 10);
    is_right = is_right && *end == '\0' && errno == 0;
    if (!is_right) {
        (void)fprintf(stderr, "tamis-lab: %s needs a number below 2^64, not '%s'\n", option,
                      text != NULL ? text : "");
    }
    return is_right;
}

static bool read_jobs(const char *text, uint64_t *ret_jobs) {
    if (!read_number("--jobs", text, ret_jobs)) return false;
    if (*ret_jobs >= 1 && *ret_jobs <= MOST_JOBS) return true;
    return options_complain("--jobs is 1 to 256, not", text);
}

static uint64_t default_jobs(void) {
    long const cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MOST_JOBS ? MOST_JOBS : (uint64_t)cores;
}

/* ------------------------------------------------------------------ formats */

/* The format of --csv, --json or --curves, alone or with =FILE; NULL: it is none of them. */
static const lab_format *format_of(const char *option) {
    size_t const letters = strcspn(option, "=");
    if (letters == 5 && strncmp(option, "--csv", letters) == 0) return &lab_csv;
    if (letters == 6 && strncmp(option, "--json", letters) == 0) return &lab_json;
    if (letters == 8 && strncmp(option, "--curves", letters) == 0) return &lab_curves;
    return NULL;
}

static bool choose_format(options *given, const lab_format *format, const char *option) {
    const char *const equals = strchr(option, '=');
    if (equals != NULL) {
        if (given->n_outputs == OPTIONS_MAX_OUTPUTS) return options_complain("too many", option);
        given->outputs[given->n_outputs++] = (output){ format, equals + 1, NULL };
        return true;
    }
    bool const is_first = given->outputs[0].format == &lab_table;
    if (!is_first)
        return options_complain("only one format can be printed without a file, not also", option);
    given->outputs[0].format = format;
    return true;
}

/* ------------------------------------------------------------------ all options */

static bool read_folder(const char *text, const char **ret_folder) {
    *ret_folder = text;
    return text != NULL || options_complain("a folder is missing after", "--keep");
}

/* One option; `next` is the argument after it, and is taken if *ret_taken becomes 2. */
static bool read_option(options *given, const char *option, const char *next, int *ret_taken) {
    const lab_format *const format = format_of(option);
    *ret_taken = 1;
    if (format != NULL) return choose_format(given, format, option);
    if (strcmp(option, "--quick") == 0 || strcmp(option, "--full") == 0) {
        given->is_full = option[2] == 'f';
        return true;
    }
    *ret_taken = 2;
    if (strcmp(option, "--seed") == 0) return read_number(option, next, &given->seed);
    if (strcmp(option, "--jobs") == 0) return read_jobs(next, &given->jobs);
    if (strcmp(option, "--keep") == 0) return read_folder(next, &given->keep);
    return options_complain("unknown option", option);
}

bool options_read(options *given, int n, char **arguments) {
    *given = (options){ .seed = 1,
                        .jobs = default_jobs(),
                        .outputs = { { &lab_table, NULL, stdout } },
                        .n_outputs = 1,
                        .ids = lab_allocate((size_t)n + 1, sizeof *given->ids) };
    for (int i = 0, taken = 1; i < n; i += taken) {
        taken = 1;
        if (arguments[i][0] != '-') {
            given->ids[given->n_ids++] = arguments[i];
        } else if (!read_option(given, arguments[i], arguments[i + 1], &taken)) {
            return false;
        }
    }
    return given->n_ids != 0 || options_complain("no experiment is named; name one, or", "all");
}

void options_free(options *given) {
    free(given->ids);
}
