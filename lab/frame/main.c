/* main.c - tamis-lab: the numbers of the papers, measured again. */
#include "lab.h"

#include "journal.h"
#include "options.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "usage: tamis-lab list\n"
    "       tamis-lab run ID.. | all [--quick | --full] [--seed N] [--jobs N]\n"
    "                 [--keep FOLDER] [--csv[=FILE]] [--json[=FILE]] [--curves[=FILE]]\n"
    "\n"
    "Runs experiments from the papers with the library, and compares the results with exact\n"
    "theory, and theory with the numbers that the papers print.\n"
    "\n"
    "  --quick   a few trials, a minute or two for all (default)\n"
    "  --full    the papers' own numbers of trials; three hours of one core\n"
    "  --seed N  seed of all random numbers (default 1); the same seed gives the same results\n"
    "  --jobs N  trials in parallel (default: one per core); results do not depend on it\n"
    "  --keep FOLDER  keep finished trials there: a run that was stopped continues if it is\n"
    "            started again with the same folder\n"
    "  --csv     one line per row, for programs\n"
    "  --json    the same, nested, with the figures\n"
    "  --curves  the points of the figures as CSV\n"
    "            these replace the table; with =FILE they are written in addition to it\n"
    "\n"
    "examples:\n"
    "  tamis-lab list                            list the experiments\n"
    "  tamis-lab run all                         everything, quickly\n"
    "  tamis-lab run bloom.fpr --seed 2          one experiment, with other random numbers\n"
    "  tamis-lab run all --csv > results.csv     to compare with lab/results/quick.csv\n"
    "  tamis-lab run all --full --json=all.json  the table, and a file with the same results\n"
    "  tamis-lab run all --full --keep trials    a long run that can be stopped and continued\n"
    "\n"
    "Exit status: 0 all rows agree with theory, 1 some do not, 2 wrong usage, 3 could not run.\n";

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

/* The experiments in the order of the list, each once however often it was named; then NULL. */
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
        (void)fprintf(stderr,
                      "tamis-lab: there is no experiment '%s'; 'tamis-lab list' lists them\n",
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
        tally->calculated += !lab_is_judged(&run->rows[i]);
        tally->papers_differ += verdict == LAB_PAPER_DIFFERS;
        tally->out += verdict == LAB_OUT;
    }
}

static void run_one(const options *given, const lab_experiment *experiment, progress *waiting,
                    journal *kept, lab_tally *tally) {
    unsigned const index = waiting->index;
    lab_run        run = { .experiment = experiment,
                           .is_full = given->is_full,
                           .seed = given->seed,
                           .jobs = (unsigned)given->jobs,
                           .progress = waiting,
                           .journal = kept };
    progress_experiment(waiting, experiment->id);
    experiment->run(&run);
    progress_experiment_over(waiting);
    if (kept != NULL) journal_experiment_over(kept);
    for (size_t i = 0; i < given->n_outputs; i++) {
        given->outputs[i].format->experiment(given->outputs[i].to, &run, index);
        (void)fflush(given->outputs[i].to);
    }
    count_verdicts(&run, tally);
    lab_run_free(&run);
}

/* Open the files before hours of work, not after them. */
static void open_outputs(options *given) {
    for (size_t i = 0; i < given->n_outputs; i++) {
        output *const out = &given->outputs[i];
        if (out->to == NULL) out->to = fopen(out->path, "w");
        if (out->to == NULL) lab_die("%s cannot be written", out->path);
        out->format->begin(out->to);
    }
}

static void close_outputs(options *given, const lab_tally *tally) {
    for (size_t i = 0; i < given->n_outputs; i++) {
        output *const out = &given->outputs[i];
        out->format->end(out->to, tally);
        bool const is_written = fflush(out->to) == 0 && ferror(out->to) == 0;
        if ((out->path != NULL && fclose(out->to) != 0) || !is_written) {
            lab_die("%s cannot be written", out->path != NULL ? out->path : "the results");
        }
    }
}

static int run_wanted(options *given) {
    const lab_experiment **const wanted = wanted_of(given);
    lab_tally                    tally = { 0 };
    progress                     waiting;
    journal                      kept;
    if (given->keep != NULL) journal_open(&kept, given->keep);
    progress_begin(&waiting, given->is_full, (unsigned)given->jobs);
    for (size_t i = 0; wanted[i] != NULL; i++) progress_expect(&waiting, wanted[i]->id);
    open_outputs(given);
    for (size_t i = 0; wanted[i] != NULL; i++) {
        run_one(given, wanted[i], &waiting, given->keep != NULL ? &kept : NULL, &tally);
    }
    close_outputs(given, &tally);
    free(wanted);
    return tally.out == 0 ? LAB_EXIT_AGREES : LAB_EXIT_OUT;
}

static int run(int n, char **arguments) {
    options    given;
    bool const is_right = options_read(&given, n, arguments) && check_ids(&given);
    int const  status = is_right ? run_wanted(&given) : LAB_EXIT_USAGE;
    options_free(&given);
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
        (void)options_complain("list takes no", argv[2]);
    else if (argc >= 2)
        (void)options_complain("unknown command", argv[1]);
    else
        (void)fputs(USAGE, stderr);
    return LAB_EXIT_USAGE;
}
