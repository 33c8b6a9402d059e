/* main.c - tamis-flows(1): choose and run the command.
 *
 *     main.c  ->  session.c, lanes.c  ->  capture, live, packet, tracker  ->  report, summary
 *
 * The tool uses the library through <tamis/tamis.h> only.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explain.h"
#include "json.h"
#include "lanes.h"
#include "machine_file.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "outputs.h"
#include "progress.h"
#include "report.h"
#include "state.h"
#include "suggest.h"

/* ------------------------------------------------------------------ commands */

/* Without an open capture there is nothing to report: the errors were printed already. */
static void print_results(upkeep *u, session *s) {
    if (s->n_captures == 0) return;
    upkeep_end(u, s);
    bool const is_wanted = s->asked->is_json || (!s->asked->is_quiet && !s->asked->is_csv);
    if (is_wanted) upkeep_report(s);
}

static int exit_code(const session *s) {
    if (s->is_broken) return EXIT_TROUBLE;
    bool const is_incomplete = s->asked->fails_on_drops && s->dropped != 0;
    bool const was_full = s->tracker.counts.no_room != 0 || s->tracker.counts.evicted != 0;
    return is_incomplete || was_full ? EXIT_NONE : EXIT_DONE;
}

static int track(int argc, char **argv, const char *name) {
    options        asked;
    upkeep         u;
    session *const s = malloc(sizeof *s);
    if (s == NULL) die("out of memory");
    options_read(argc, argv, name, &asked);
    if (asked.is_json) json_compact();
    if (asked.interface == NULL) outputs_check(&asked);
    upkeep_open_output(&u, &asked);
    session_begin(s, &asked, &u);
    if (asked.interface != NULL) lanes_capture(s, &u);
    for (size_t i = 0; i < asked.n_captures; i++) session_read(s, asked.captures[i]);
    session_finish(s);
    /* Before the report: its reader may have gone, which ends the program. */
    bool const is_saved =
        asked.state == NULL || s->n_captures == 0 ||
        state_save(asked.state, &s->m, &s->spec, &s->tracker.room, session_time(s));
    print_results(&u, s);
    s->is_broken |= !is_saved; /* the report is complete all the same */
    int const code = exit_code(s);
    session_end(s);
    free(s);
    return code;
}

/* The name of built-in machine i, or NULL after the last. */
static const char *shipped_name(size_t i) {
    const machine_shipped *const shipped = machine_shipped_at(i);
    return shipped != NULL ? shipped->name : NULL;
}

static int list_machines(void) {
    for (size_t i = 0; shipped_name(i) != NULL; i++) {
        machine         m;
        machine_problem problem;
        if (!machine_read(machine_shipped_at(i)->text, machine_shipped_at(i)->n, &m, &problem)) {
            die("%s:%u: %s", shipped_name(i), problem.line, problem.text);
        }
        output_text("%-8s  %s\n", m.name, m.title);
        machine_free(&m);
    }
    return EXIT_DONE;
}

static int show_machine(int argc, char **argv) {
    if (argc != 2) die("show needs the name of a machine; 'tamis-flows machines' lists them");
    for (size_t i = 0; shipped_name(i) != NULL; i++) {
        if (strcmp(shipped_name(i), argv[1]) != 0) continue;
        output_bytes(machine_shipped_at(i)->text, machine_shipped_at(i)->n);
        return EXIT_DONE;
    }
    die("there is no built-in machine '%s'; 'tamis-flows machines' lists them", argv[1]);
}

static int check_machine(int argc, char **argv) {
    bool const is_first = argc == 3 && strcmp(argv[1], "--dot") == 0;
    bool const is_drawn = is_first || (argc == 3 && strcmp(argv[2], "--dot") == 0);
    if ((argc != 2 && !is_drawn) || strcmp(argv[1 + is_first], "--dot") == 0)
        die("check needs a machine, by its name or in a file, and perhaps --dot");
    machine m;
    machine_load(&m, argv[1 + is_first]);
    if (is_drawn)
        explain_draw(&m);
    else
        explain_machine(&m);
    machine_free(&m);
    return EXIT_DONE;
}

/* All commands, for suggestions: the fixed ones, then the built-in machines. */
static const char *command_at(size_t i) {
    static const char *const names[] = { "run", "check", "show", "machines", "help" };
    size_t const             n = sizeof names / sizeof names[0];
    return i < n ? names[i] : shipped_name(i - n);
}

static _Noreturn void refuse_command(const char *name) {
    const char *const meant = suggest(name, command_at);
    if (meant != NULL) die("there is no command '%s'; did you mean '%s'?", name, meant);
    die("there is no command '%s'; 'tamis-flows help' lists them; 'tamis-flows run FILE' runs your "
        "own machine",
        name);
}

static int run_command(int argc, char **argv) {
    const char *const name = argc < 2 ? "help" : argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        options_help();
        return argc < 2 ? EXIT_TROUBLE : EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        output_text("tamis-flows %s\n", tamis_version());
        return EXIT_DONE;
    }
    if (strcmp(name, "machines") == 0) return list_machines();
    if (strcmp(name, "show") == 0) return show_machine(argc - 1, argv + 1);
    if (strcmp(name, "check") == 0) return check_machine(argc - 1, argv + 1);
    if (strcmp(name, "run") == 0) return track(argc - 1, argv + 1, NULL);
    for (size_t i = 0; shipped_name(i) != NULL; i++) {
        if (strcmp(shipped_name(i), name) == 0) return track(argc - 1, argv + 1, name);
    }
    refuse_command(name);
}

/* ------------------------------------------------------------------ main */

/* The first Ctrl-C ends the capture, and the report is printed. Another one, a second later or
 * more, ends the process. A signal that comes sooner counts as the same one: timeout(1) signals the
 * process and then its whole group. */
static void on_stop_signal(int number) {
    static time_t   first;
    struct timespec time;
    int const       error = errno; /* of whatever call was interrupted */
    capture_stop();
    bool const is_timed = clock_gettime(CLOCK_MONOTONIC, &time) == 0;
    if (is_timed && first == 0) first = time.tv_sec;
    if (is_timed && time.tv_sec - first >= 2) { /* seconds are rounded: one has passed at least */
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    errno = error;
}

static void catch_signals(void) {
    struct sigaction action = { .sa_handler = on_stop_signal }; /* no SA_RESTART: stop reads */
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    action = (struct sigaction){ .sa_handler = upkeep_signal };
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* output.c handles it */
}

int main(int argc, char **argv) {
    output_begin();
    catch_signals();
    message_program("tamis-flows");
    int const code = run_command(argc, argv);
    output_flush();
    progress_hide();
    return code;
}
