/* cmd_build.c - tamis build, add, remove: the commands that change what is in a file.
 *
 * All of them work on a set in memory and save it at the end. So whatever stops them, the file
 * holds what it held before, or all that was asked for.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "numbers.h"
#include "setfile.h"

/* ------------------------------------------------------------------ telling */

static _Noreturn void die_of_full(const tamis_set *set, const char *path, uint64_t added) {
    tamis_info  info;
    number_text after, holds, made_for;
    setfile_inspect(set, &info);
    number_exact(added, after);
    number_exact(info.keys, holds);
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
 * it is more than that. */
static bool tell_change(const tamis_info *info, const char *path, const char *what,
                        const options *asked) {
    number_text keys, capacity;
    number_exact(info->keys, keys);
    number_exact(info->plan.capacity, capacity);
    if (!is_given(asked, OPTION_BIT(QUIET))) {
        warn("%s: %s; it holds %s %s and is made for %s", path, what, keys,
             plural(info->keys, "key", "keys"), capacity);
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

/* Add all of them, or end. */
static void add_all(tamis_set *set, const char *path, lines *from) {
    tamis_key keys[LINES_BATCH];
    uint64_t  added = 0;
    size_t    n, taken;
    while ((n = lines_next(from, keys)) != 0) {
        tamis_status const status = tamis_add_batch(set, keys, n, &taken);
        added += taken;
        if (status == TAMIS_ERR_FULL) die_of_full(set, path, added);
        if (status != TAMIS_OK) die("%s: %s", path, tamis_status_text(status));
    }
}

static int add_run(const options *asked) {
    const char *const path = asked->operands[0];
    tamis_set *const  set = setfile_take(path, asked);
    lines             from;
    tamis_info        before, after;
    came_text         what;
    setfile_inspect(set, &before);
    keys_open(&from, asked, 1);
    add_all(set, path, &from);
    if (from.keys != 0) setfile_save(set, path);
    setfile_inspect(set, &after);
    name_lines(&after, from.keys, after.keys - before.keys, what);
    bool const is_overloaded = tell_change(&after, path, what, asked);
    lines_close(&from);
    tamis_free(set);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_add = {
    .name = "add",
    .operands = "FILE [KEYS...] ",
    .summary = "Add keys to a set",
    .text = "Keys are the lines of the files KEYS, or of standard input; an empty line is a key,\n"
            "too. Adding a key twice to a set that can remove needs two removals. If the set\n"
            "gets full, nothing is saved: the file is as it was. Ends with 1 if the keys are in\n"
            "but are so many that the false-positive rate is not what the set was built for.\n",
    .examples = "  find . -type f | tamis add seen.tamis\n"
                "  find . -type f -print0 | tamis add -0 seen.tamis\n"
                "  tamis add seen.tamis monday.txt tuesday.txt\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = add_run,
};

/* ------------------------------------------------------------------ building */

/* An empty set as asked for; the keys are counted first if that is asked. */
static tamis_set *make_set(const options *asked, lines *from) {
    tamis_spec       spec = asked->spec;
    tamis_set *const like = asked->like != NULL ? setfile_map(asked->like, asked) : NULL;
    spec.like = like;
    if (like == NULL && (asked->is_counted || !is_given(asked, OPTION_BIT(CAPACITY)))) {
        uint64_t const count = lines_count(from);
        spec.capacity = count != 0 ? count : 1;
    }
    tamis_set *const set = set_create(&spec);
    tamis_free(like);
    return set;
}

/* "words.tamis: 100 lines read, all new; 183 KiB (bloom, made for 100), false-positive rate ...".
 * Returns whether it is more than it is made for. */
static bool tell_build(const tamis_set *set, const char *path, uint64_t n_read,
                       const options *asked) {
    tamis_info   info;
    came_text    what;
    setfile_text is;
    setfile_inspect(set, &info);
    name_lines(&info, n_read, info.keys, what);
    setfile_describe(&info, is);
    if (!is_given(asked, OPTION_BIT(QUIET))) warn("%s: %s; %s", path, what, is);
    return setfile_warn_of_overload(&info, path);
}

static int build_run(const options *asked) {
    const char *const path = asked->operands[0];
    lines             from;
    setfile_check_target(path, asked);
    keys_open(&from, asked, 1);
    tamis_set *const set = make_set(asked, &from);
    add_all(set, path, &from);
    setfile_save(set, path);
    bool const is_overloaded = tell_build(set, path, from.keys, asked);
    lines_close(&from);
    tamis_free(set);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_build = {
    .name = "build",
    .operands = "FILE [KEYS...] ",
    .summary = "Make a set of keys and save it to FILE",
    .text = "Keys are the lines of the files KEYS, or of standard input; an empty line is a key,\n"
            "too. -n says for how many different keys the set is made; without it, or with\n"
            "'-n auto', the lines are counted first, copies included. 'tamis plan' shows what\n"
            "the options cost. A set that was there is replaced, all at once, when the new one\n"
            "is complete; another file is not, unless by --force. Ends with 1 if the set was\n"
            "saved but there were so many keys that its false-positive rate is not that of -e.\n",
    .examples = "  tamis build words.tamis </usr/share/dict/words\n"
                "  tamis build seen.tamis -n 10M -e 1e-6 --remove </dev/null     empty, for later\n"
                "  tamis build tuesday.tamis --like monday.tamis tuesday.txt     to be merged\n",
    .options = OPTIONS_OF_SPEC | OPTIONS_OF_HASHING | OPTION_BIT(LIKE) | OPTION_BIT(NULL) |
               OPTION_BIT(FORCE) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = build_run,
};

/* ------------------------------------------------------------------ removing */

/* Counters that go up only where they are smallest know of no key: nothing makes them remove. */
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
    die("%s (%s) was not made to remove; build it with --remove", path, info.plan.kind);
}

/* Returns how many keys were there. */
static uint64_t remove_all(tamis_set *set, lines *from) {
    tamis_key keys[LINES_BATCH];
    uint64_t  removed = 0;
    size_t    n, gone;
    while ((n = lines_next(from, keys)) != 0) {
        if (tamis_remove_batch(set, keys, n, NULL, &gone) != TAMIS_OK) die("cannot remove");
        removed += gone;
    }
    return removed;
}

static int remove_run(const options *asked) {
    const char *const path = asked->operands[0];
    tamis_set *const  set = setfile_take(path, asked);
    lines             from;
    tamis_info        info;
    number_text       removed_text, absent_text;
    char              what[120];
    if (tamis_remove_batch(set, NULL, 0, NULL, NULL) != TAMIS_OK) die_of_inability(set, path);
    keys_open(&from, asked, 1);
    uint64_t const removed = remove_all(set, &from), absent = from.keys - removed;
    if (from.keys != 0) setfile_save(set, path);
    number_exact(removed, removed_text);
    number_exact(absent, absent_text);
    (void)snprintf(what, sizeof what, "removed %s %s, %s absent", removed_text,
                   plural(removed, "key", "keys"), absent_text);
    setfile_inspect(set, &info);
    (void)tell_change(&info, path, what, asked);
    lines_close(&from);
    tamis_free(set);
    return absent == 0 ? EXIT_DONE : EXIT_NONE;
}

const command command_remove = {
    .name = "remove",
    .operands = "FILE [KEYS...] ",
    .summary = "Remove keys from a set that can",
    .text = "Takes out one copy of each key. Remove only what was added: a key that was not, but\n"
            "looks like one that was (as probable as a false positive), takes that one with it.\n"
            "Ends with 0 if all keys were there, with 1 if some were absent (the others are\n"
            "removed), with 2 on an error (nothing is removed).\n",
    .examples = "  tamis build seen.tamis -n 1M --remove <urls.txt\n"
                "  tamis remove seen.tamis expired.txt\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = remove_run,
};
