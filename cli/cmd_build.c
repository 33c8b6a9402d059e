/* cmd_build.c - tamis build, add, remove: the commands that change the contents of a file.
 *
 * All of them work on a set in memory and save it at the end. If something goes wrong, the file is
 * unchanged. A signal ends the input: what was read so far is saved (signals.h), unless
 * --discard-on-interrupt is given.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "numbers.h"
#include "setfile.h"
#include "signals.h"

/* ------------------------------------------------------------------ telling */

static _Noreturn void die_of_full(const tamis_set *set, const char *path, uint64_t added) {
    tamis_info  info;
    number_text after, holds, made_for;
    setfile_inspect(set, &info);
    number_exact(added, after);
    number_exact(info.facts.keys, holds);
    number_exact(info.plan.capacity, made_for);
    bool has_copies = (info.plan.abilities & TAMIS_CAN_REMOVE) != 0; /* that take room */
    for (unsigned i = 0; i < info.plan.n_fields; i++) {
        bool const is_counter = strcmp(info.plan.fields[i].name, "counter_bits") == 0;
        if (is_counter && info.plan.fields[i].value != 0) has_copies = false;
    }
    die("%s is full after %s %s: it holds %s and is made for %s%s; nothing was saved, build a "
        "larger one with 'tamis build -n'%s",
        path, after, plural(added, "line", "lines"), holds, made_for,
        has_copies ? ", and lines that come again take room again" : "",
        has_copies ? ", or one that counts them, with --count" : "");
}

/* "words.tamis: removed 10 keys, 0 absent; it holds 20 keys and is made for 100". Returns whether
 * it is overloaded. */
static bool tell_change(const tamis_info *info, const char *path, const char *change,
                        const options *asked) {
    number_text keys, capacity;
    number_exact(info->facts.keys, keys);
    number_exact(info->plan.capacity, capacity);
    if (!is_given(asked, OPTION_BIT(QUIET))) {
        warn("%s: %s; it holds %s %s and is made for %s", path, change, keys,
             plural(info->facts.keys, "key", "keys"), capacity);
    }
    return setfile_warn_of_overload(info, path);
}

/* Lines that added nothing are not lost: a set that cannot remove has nothing to add for a key that
 * is there already or looks like one that is, and one that can has counted its fill of it. */
static void name_rest(const tamis_info *info, uint64_t n_new, char *ret_text, size_t n) {
    bool const  is_multiset = (info->plan.abilities & TAMIS_CAN_REMOVE) != 0;
    number_text text;
    number_exact(n_new, text);
    (void)snprintf(ret_text, n, "%s %s (%s %s)", n_new != 0 ? text : "none",
                   is_multiset ? "added" : "new", n_new != 0 ? "the others" : "all",
                   is_multiset ? "are copies beyond what it counts"
                               : "were in it already, or seem to be");
}

typedef char came_text[200];

/* "100 lines read, all new", "100 lines read, 98 new (the others ...)". */
static void name_lines(const tamis_info *info, uint64_t n_read, uint64_t n_new,
                       came_text ret_text) {
    bool const  is_multiset = (info->plan.abilities & TAMIS_CAN_REMOVE) != 0;
    number_text read;
    char        rest[128];
    number_exact(n_read, read);
    if (n_new < n_read)
        name_rest(info, n_new, rest, sizeof rest);
    else
        (void)snprintf(rest, sizeof rest, "%s%s", n_read > 1 ? "all " : "",
                       is_multiset ? "added" : "new");
    (void)snprintf(ret_text, sizeof(came_text), "%s %s read%s%s", read,
                   plural(n_read, "line", "lines"), n_read != 0 ? ", " : "",
                   n_read != 0 ? rest : "");
}

/* ------------------------------------------------------------------ adding */

/* Add all keys; if the set gets full, end the program. */
static void add_all(tamis_set *set, const char *path, lines *input) {
    tamis_key keys[LINES_BATCH];
    uint64_t  added = 0;
    size_t    n, taken;
    while ((n = lines_next(input, keys)) != 0) {
        tamis_status const status = tamis_add_batch(set, keys, n, &taken);
        added += taken;
        if (status == TAMIS_ERR_FULL) die_of_full(set, path, added);
        if (status != TAMIS_OK) die("%s: %s", path, tamis_status_text(status));
    }
}

static int add_run(const options *asked) {
    const char *const path = asked->operands[0];
    setfile_target    target;
    tamis_set *const  set = setfile_take(path, asked, &target);
    lines             input;
    tamis_info        before, after;
    came_text         change;
    setfile_inspect(set, &before);
    keys_open(&input, asked, 1);
    if (!is_given(asked, OPTION_BIT(DISCARD))) signals_end_input();
    add_all(set, path, &input);
    if (input.keys != 0) setfile_save(set, &target);
    setfile_inspect(set, &after);
    name_lines(&after, input.keys, after.facts.keys - before.facts.keys, change);
    bool const is_overloaded = tell_change(&after, path, change, asked);
    lines_close(&input);
    tamis_free(set);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_add = {
    .name = "add",
    .operands = "FILE [KEYS...] ",
    .summary = "Add keys to a set",
    .text = "Keys are the lines of the files KEYS, or of standard input; an empty line is a key,\n"
            "too. In a set that can remove, a key that was added twice must be removed twice. If\n"
            "the set gets full, nothing is saved: the file is unchanged. If SIGINT (Ctrl-C),\n"
            "SIGTERM or SIGHUP comes, the lines read so far are added and saved; a second signal\n"
            "ends at once, without saving. Ends with 1 if the keys were added but are so many\n"
            "that the false-positive rate is higher than the set was built for.\n",
    .examples = "  find . -type f | tamis add seen.tamis\n"
                "  find . -type f -print0 | tamis add -0 seen.tamis\n"
                "  tamis add seen.tamis monday.txt tuesday.txt\n"
                "  tail -f access.log | tamis add seen.tamis         until Ctrl-C\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(DISCARD) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = add_run,
};

/* ------------------------------------------------------------------ building */

/* An empty set as asked for; the keys are counted first if that is asked. */
static tamis_set *make_set(const options *asked, lines *input) {
    tamis_spec spec = asked->spec;
    setfile    like = { .descriptor = -1 };
    if (asked->like != NULL) setfile_open_set(asked->like, asked, &like);
    spec.like = like.set;
    if (like.set == NULL && (asked->is_counted || !is_given(asked, OPTION_BIT(CAPACITY)))) {
        uint64_t const count = lines_count(input);
        spec.capacity = count != 0 ? count : 1;
    }
    tamis_set *const set = set_create(&spec);
    setfile_close(&like);
    return set;
}

/* "words.tamis: 100 lines read, all new; 183 KiB (bloom, made for 100 keys), false-positive rate
 * ...". Returns whether the set is overloaded. */
static bool tell_build(const tamis_set *set, const char *path, uint64_t n_read,
                       const options *asked) {
    tamis_info   info;
    came_text    change;
    setfile_text description;
    setfile_inspect(set, &info);
    name_lines(&info, n_read, info.facts.keys, change);
    setfile_describe(&info, description);
    if (!is_given(asked, OPTION_BIT(QUIET))) warn("%s: %s; %s", path, change, description);
    return setfile_warn_of_overload(&info, path);
}

static int build_run(const options *asked) {
    const char *const path = asked->operands[0];
    setfile_target    target;
    lines             input;
    setfile_aim(path, asked, &target);
    keys_open(&input, asked, 1);
    if (!is_given(asked, OPTION_BIT(DISCARD))) signals_end_input();
    tamis_set *const set = make_set(asked, &input);
    add_all(set, path, &input);
    setfile_save(set, &target);
    bool const is_overloaded = tell_build(set, path, input.keys, asked);
    lines_close(&input);
    tamis_free(set);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_build = {
    .name = "build",
    .operands = "FILE [KEYS...] ",
    .summary = "Make a set of keys and save it to FILE",
    .text = "Keys are the lines of the files KEYS, or of standard input; an empty line is a key,\n"
            "too. -n is the number of different keys that the set is made for; without it, or\n"
            "with '-n auto', the lines are counted first, copies included. 'tamis plan' shows\n"
            "what the options cost. If FILE is a set, it is replaced when the new one is\n"
            "complete; another file is replaced only with --force. If SIGINT (Ctrl-C), SIGTERM\n"
            "or SIGHUP comes, a set of the lines read so far is saved; a second signal ends at\n"
            "once, without saving. Ends with 1 if the set was saved but has so many keys that\n"
            "its false-positive rate is higher than -e.\n",
    .examples = "  tamis build words.tamis </usr/share/dict/words\n"
                "  tamis build seen.tamis -n 10M -e 1e-6 --remove </dev/null     empty, for later\n"
                "  tamis build tuesday.tamis --like monday.tamis tuesday.txt     to be merged\n",
    .options = OPTIONS_OF_SPEC | OPTIONS_OF_HASHING | OPTION_BIT(LIKE) | OPTION_BIT(NULL) |
               OPTION_BIT(FORCE) | OPTION_BIT(DISCARD) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = build_run,
};

/* ------------------------------------------------------------------ removing */

/* With minimal increase, an add raises only the smallest counters of a key. What it has raised is
 * not known later, so nothing can be removed. */
static bool is_minimal(const tamis_plan *plan) {
    for (unsigned i = 0; i < plan->n_fields; i++) {
        if (strcmp(plan->fields[i].name, "minimal") == 0) return plan->fields[i].value != 0;
    }
    return false;
}

static _Noreturn void die_of_inability(tamis_set *set, const char *path) {
    tamis_info info;
    setfile_inspect(set, &info);
    tamis_free(set);
    if (is_minimal(&info.plan)) {
        die("%s (%s) counts by minimal increase, and nothing can be removed from it; build it "
            "without minimal=1",
            path, info.plan.kind);
    }
    die("%s (%s) was not built to remove; build it with --remove", path, info.plan.kind);
}

/* Returns how many keys were there. */
static uint64_t remove_all(tamis_set *set, lines *input) {
    tamis_key     keys[LINES_BATCH];
    uint64_t      removed = 0;
    size_t        n;
    tamis_removal gone;
    while ((n = lines_next(input, keys)) != 0) {
        if (tamis_remove_batch(set, keys, n, NULL, &gone) != TAMIS_OK) die("cannot remove");
        removed += gone.removed;
    }
    return removed;
}

static int remove_run(const options *asked) {
    const char *const path = asked->operands[0];
    setfile_target    target;
    tamis_set *const  set = setfile_take(path, asked, &target);
    lines             input;
    tamis_info        info;
    number_text       removed_text, absent_text;
    char              change[120];
    if (tamis_remove_batch(set, NULL, 0, NULL, NULL) != TAMIS_OK) die_of_inability(set, path);
    keys_open(&input, asked, 1);
    if (!is_given(asked, OPTION_BIT(DISCARD))) signals_end_input();
    uint64_t const removed = remove_all(set, &input), absent = input.keys - removed;
    if (input.keys != 0) setfile_save(set, &target);
    number_exact(removed, removed_text);
    number_exact(absent, absent_text);
    (void)snprintf(change, sizeof change, "removed %s %s, %s absent", removed_text,
                   plural(removed, "key", "keys"), absent_text);
    setfile_inspect(set, &info);
    (void)tell_change(&info, path, change, asked);
    lines_close(&input);
    tamis_free(set);
    return absent == 0 ? EXIT_DONE : EXIT_NONE;
}

const command command_remove = {
    .name = "remove",
    .operands = "FILE [KEYS...] ",
    .summary = "Remove keys from a set that was built with --remove",
    .text = "Removes one copy of each key. Remove only what was added: a key that was not, but is\n"
            "taken for one that was (with the probability of a false positive), removes that one\n"
            "instead. If SIGINT (Ctrl-C), SIGTERM or SIGHUP comes, the keys read so far are\n"
            "removed and the set is saved; a second signal ends at once, without saving. Ends\n"
            "with 0 if all keys were removed, with 1 if some were absent (the others are\n"
            "removed), with 2 on an error (nothing is removed).\n",
    .examples = "  tamis build seen.tamis -n 1M --remove <urls.txt\n"
                "  tamis remove seen.tamis expired.txt\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(DISCARD) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = remove_run,
};
