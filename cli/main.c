/* main.c - tamis(1): find the command and run it, or print help.
 *
 *     main.c  ->  cmd_*.c  ->  options, lines (keys in), output (data out), setfile (files)
 *
 * The tool uses the library through <tamis/tamis.h> only.
 */
#include <string.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "signals.h"
#include "suggest.h"

static const command *const commands[] = {
    &command_plan,    &command_build, &command_add,      &command_has,     &command_remove,
    &command_count,   &command_dedup, &command_get,      &command_info,    &command_verify,
    &command_resize,  &command_merge, &command_subtract, &command_convert, &command_send,
    &command_receive, &command_redis, &command_kinds,
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])

/* ------------------------------------------------------------------ names */

static const char *command_name(size_t i) {
    return i < N_COMMANDS ? commands[i]->name : NULL;
}

static const command *command_find(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    }
    return NULL;
}

/* What other tools call our commands. */
static const char *synonym_find(const char *word) {
    static const char *const pairs[][2] = {
        { "contains", "has" },     { "check", "has" },     { "query", "has" },
        { "test", "has" },         { "grep", "has" },      { "rm", "remove" },
        { "del", "remove" },       { "delete", "remove" }, { "create", "build" },
        { "new", "build" },        { "make", "build" },    { "insert", "add" },
        { "put", "add" },          { "stat", "info" },     { "show", "info" },
        { "uniq", "dedup" },       { "union", "merge" },   { "minus", "subtract" },
        { "unmerge", "subtract" }, { "fsck", "verify" },   { "size", "plan" },
        { "list", "kinds" },       { "export", "send" },   { "dump", "send" },
        { "import", "receive" },   { "load", "receive" },  { "lookup", "get" },
        { "state", "get" },        { "grow", "resize" },   { "shrink", "resize" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strcmp(pairs[i][0], word) == 0) return pairs[i][1];
    }
    return NULL;
}

static const command *command_need(const char *name) {
    const command *const found = command_find(name);
    if (found != NULL) return found;
    const char *meant = synonym_find(name);
    if (meant == NULL) meant = suggest(name, command_name);
    if (meant != NULL) die("there is no command '%s'; did you mean '%s'?", name, meant);
    die("there is no command '%s'; 'tamis help' lists them", name);
}

/* ------------------------------------------------------------------ help */

static void print_overview(void) {
    output_string("tamis: compact approximate sets of lines\n\n"
                  "Usage: tamis COMMAND [options] ...\n\n"
                  "Commands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        output_text("  %-8s  %s\n", commands[i]->name, commands[i]->summary);
    }
    output_string("\n"
                  "'tamis help COMMAND' prints its options and examples; tamis(1) is the manual.\n"
                  "To begin:\n\n"
                  "  tamis build words.tamis </usr/share/dict/words\n"
                  "  echo sieve | tamis has words.tamis\n"
                  "  tamis info words.tamis\n");
}

static int help_run(int argc, char **argv) {
    if (argc < 2)
        print_overview();
    else
        options_help(command_need(argv[1]));
    return EXIT_DONE;
}

/* ------------------------------------------------------------------ main */

static int command_run(int argc, char **argv) {
    const command *const chosen = command_need(argv[0]);
    options              asked;
    message_command(chosen->name);
    options_read(chosen, argc, argv, &asked);
    return chosen->run(&asked);
}

static bool is_one_of(const char *word, const char *a, const char *b) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_overview();
        return EXIT_TROUBLE;
    }
    if (is_one_of(argv[1], "help", "--help") || strcmp(argv[1], "-h") == 0) {
        return help_run(argc - 1, argv + 1);
    }
    if (is_one_of(argv[1], "--version", "-V")) {
        output_text("tamis %s\n", tamis_version());
        return EXIT_DONE;
    }
    return command_run(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    output_begin();
    signals_begin();
    int const code = run(argc, argv);
    output_flush();
    progress_hide();
    signals_end_if_caught();
    return code;
}
