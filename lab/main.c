/* main.c - tamis-lab: the numbers of the papers, measured again. */
#include "lab.h"

#include "progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char USAGE[] =
    "usage: tamis-lab list\n"
    "       tamis-lab run ID.. | all [--quick | --full] [--seed N] [--jobs N]\n"
    "                                    [--csv | --json | --curves]\n"
    "\n"
    "Runs experiments from the papers with the library, and holds what comes out against exact\n"
    "theory, and theory against what the papers print.\n"
    "\n"
    "  --quick   a few trials, a minute or two for all (default)\n"
    "  --full    the papers' own numbers of trials; three hours of one core\n"
    "  --seed N  other randomness (default 1); the same seed gives the same results\n"
    "  --jobs N  trials side by side (default: one per core); results do not depend on it\n"
    "  --csv     one line per row, for programs\n"
    "  --json    the same, nested\n"
    "  --curves  the points of the figures as CSV, instead of rows; lab/draw makes pictures\n"
    "\n"
    "examples:\n"
    "  tamis-lab list                            what there is\n"
    "  tamis-lab run all                         everything, quickly\n"
    "  tamis-lab run bloom.fpr --seed 2          one experiment, with other randomness\n"
    "  tamis-lab run all --csv > results.csv     to compare with lab/results/quick.csv\n"
    "\n"
    "Exit status: 0 all rows agree with theory, 1 some do not, 2 wrong usage, 3 could not run.\n";

#define MOST_JOBS 256

typedef struct options {
    bool              is_full;
    uint64_t          seed, jobs;
    const lab_format *format;
    const char      **ids; /* as given; freed by main */
    size_t            n_ids;
} options;

/* ------------------------------------------------------------------ reading the command line */

static bool complain(const char *problem, const char *argument) {
    (void)fprintf(stderr, "tamis-lab: %s '%s'; see tamis-lab --help\n", problem, argument);
    return false;
}

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
    return (*ret_jobs >= 1 && *ret_jobs <= MOST_JOBS) || complain("--jobs is 1 to 256, not", text);
}

static bool choose_format(options *given, const lab_format *format) {
    bool const is_first = given->format == &lab_table || given->format == format;
    given->format = format;
    return is_first || complain("take one of", "--csv --json --curves");
}

/* One option; `next` is the argument after it, and is taken if *ret_taken becomes 2. */
static bool read_option(options *given, const char *option, const char *next, int *ret_taken) {
    *ret_taken = 1;
    if (strcmp(option, "--quick") == 0 || strcmp(option, "--full") == 0) {
        given->is_full = option[2] == 'f';
        return true;
    }
    if (strcmp(option, "--csv") == 0) return choose_format(given, &lab_csv);
    if (strcmp(option, "--json") == 0) return choose_format(given, &lab_json);
    if (strcmp(option, "--curves") == 0) return choose_format(given, &lab_curves);
    *ret_taken = 2;
    if (strcmp(option, "--seed") == 0) return read_number(option, next, &given->seed);
    if (strcmp(option, "--jobs") == 0) return read_jobs(next, &given->jobs);
    return complain("unknown option", option);
}

static bool read_options(options *given, int n, char **arguments) {
    for (int i = 0, taken = 1; i < n; i += taken) {
        taken = 1;
        if (arguments[i][0] != '-') {
            given->ids[given->n_ids++] = arguments[i];
        } else if (!read_option(given, arguments[i], arguments[i + 1], &taken)) {
            return false;
        }
    }
    return given->n_ids != 0 || complain("run what? Name an experiment, or", "all");
}

/* ------------------------------------------------------------------ experiments by their id */

static const lab_experiment *find(const char *id) {
    for (size_t paper = 0; lab_papers[paper] != NULL; paper++) {
        for (const lab_experiment *at = lab_papers[paper]; at->id != NULL; at++) {
            if (strcmp(at->id, id) == 0) return at;
        }
    }
    return NULL;
}

static bool is_wanted(const options *given, const char *id) {
    for (size_t i = 0; i < given->n_ids; i++) {
        if (strcmp(given->ids[i], id) == 0 || strcmp(given->ids[i], "all") == 0) return true;
    }
    return false;
}

/* In the order of the list, each once, however often it is named; NULL at the end. */
static const lab_experiment **wanted_of(const options *given) {
    const lab_experiment **wanted = NULL;
    size_t                 n = 0;
    for (size_t paper = 0; lab_papers[paper] != NULL; paper++) {
        for (const lab_experiment *at = lab_papers[paper]; at->id != NULL; at++) {
            if (!is_wanted(given, at->id)) continue;
            wanted = lab_grow(wanted, n, sizeof *wanted);
            wanted[n++] = at;
        }
    }
    wanted = lab_grow(wanted, n, sizeof *wanted);
    wanted[n] = NULL;
    return wanted;
}

static bool check_ids(const options *given) {
    for (size_t i = 0; i < given->n_ids; i++) {
        if (strcmp(given->ids[i], "all") == 0 || find(given->ids[i]) != NULL) continue;
        (void)fprintf(stderr, "tamis-lab: no experiment '%s'; 'tamis-lab list' names them all\n",
                      given->ids[i]);
        return false;
    }
    return true;
}

static int list(void) {
    for (size_t paper = 0; lab_papers[paper] != NULL; paper++) {
        for (const lab_experiment *at = lab_papers[paper]; at->id != NULL; at++) {
            (void)printf("%-16s %s (%s)\n", at->id, at->title, at->place);
        }
    }
    return LAB_EXIT_AGREES;
}

/* ------------------------------------------------------------------ running them */

static void count_verdicts(const lab_run *run, lab_tally *tally) {
    for (size_t i = 0; i < run->n_rows; i++) {
        lab_verdict const verdict = lab_judge(&run->rows[i]).verdict;
        tally->rows++;
        tally->papers_differ += verdict == LAB_PAPER_DIFFERS;
        tally->out += verdict == LAB_OUT;
    }
}

static void run_one(const options *given, const lab_experiment *experiment, progress *waiting,
                    lab_tally *tally) {
    unsigned const index = waiting->index;
    lab_run        run = { .experiment = experiment,
                           .is_full = given->is_full,
                           .seed = given->seed,
                           .jobs = (unsigned)given->jobs,
                           .progress = waiting };
    progress_experiment(waiting, experiment->id);
    experiment->run(&run);
    progress_experiment_over(waiting);
    given->format->experiment(stdout, &run, index);
    (void)fflush(stdout);
    count_verdicts(&run, tally);
    lab_run_free(&run);
}

static int run_wanted(const options *given) {
    const lab_experiment **const wanted = wanted_of(given);
    lab_tally                    tally = { 0 };
    progress                     waiting;
    progress_begin(&waiting, given->is_full, (unsigned)given->jobs);
    for (size_t i = 0; wanted[i] != NULL; i++) progress_expect(&waiting, wanted[i]->id);
    given->format->begin(stdout);
    for (size_t i = 0; wanted[i] != NULL; i++) run_one(given, wanted[i], &waiting, &tally);
    given->format->end(stdout, &tally);
    free(wanted);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) lab_die("the results cannot be written");
    return tally.out == 0 ? LAB_EXIT_AGREES : LAB_EXIT_OUT;
}

static int run(int n, char **arguments) {
    long const cores = sysconf(_SC_NPROCESSORS_ONLN);
    options    given = { .seed = 1, .jobs = 1, .format = &lab_table };
    if (cores > 1) given.jobs = cores < MOST_JOBS ? (uint64_t)cores : MOST_JOBS;
    given.ids = lab_allocate((size_t)n + 1, sizeof *given.ids);
    bool const is_right = read_options(&given, n, arguments) && check_ids(&given);
    int const  status = is_right ? run_wanted(&given) : LAB_EXIT_USAGE;
    free(given.ids);
    return status;
}

/* ------------------------------------------------------------------ main */

static bool is_help(const char *argument) {
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (is_help(argv[i])) return fputs(USAGE, stdout) < 0;
    }
    if (argc == 2 && strcmp(argv[1], "list") == 0) return list();
    if (argc >= 2 && strcmp(argv[1], "run") == 0) return run(argc - 2, argv + 2);
    if (argc >= 3 && strcmp(argv[1], "list") == 0)
        (void)complain("list takes no", argv[2]);
    else if (argc >= 2)
        (void)complain("unknown command", argv[1]);
    else
        (void)fputs(USAGE, stderr);
    return LAB_EXIT_USAGE;
}
