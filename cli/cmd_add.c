/* cmd_add.c - tamis add, remove: change the set of a file.
 *
 * Both work on a set in memory and save it at the end. If something goes wrong, the file is
 * unchanged. A signal ends the input: what was read so far is saved (signals.h), unless
 * --discard-on-interrupt is given.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "adding.h"
#include "message.h"
#include "numbers.h"
#include "setfile.h"
#include "signals.h"

/* "words.tamis: removed 10 keys, 0 absent; it holds 20 keys and is made for 100 keys". Returns
 * whether it is overloaded. */
static bool tell_change(const tamis_info *info, const char *path, const char *change,
                        const options *asked) {
    contents_text contents;
    capacity_text made_for;
    setfile_name_contents(info, contents);
    setfile_name_capacity(&info->facts, made_for);
    if (!is_given(asked, OPTION_BIT(QUIET))) {
        warn("%s: %s; it holds %s and is made for %s", path, change, contents, made_for);
    }
    return setfile_warn_of_overload(info, path);
}

/* ------------------------------------------------------------------ add */

static int add_run(const options *asked) {
    const char *const path = asked->operands[0];
    setfile_target    target;
    set_in_work const to = setfile_take_shared(path, asked, &target);
    tamis_set *const  set = to.set;
    lines             input;
    tamis_facts       before;
    tamis_info        after;
    added_text        change;
    uint64_t          copies;
    if (tamis_get_facts(set, &before) != TAMIS_OK) die("there is no set to inspect");
    keys_open(&input, asked, 1);
    if (!is_given(asked, OPTION_BIT(DISCARD))) signals_end_input();
    if (add_lines(to, path, &input, asked, &copies) == TAMIS_ERR_FULL) {
        die_of_full(set, path, input.keys);
    }
    if (input.keys != 0) setfile_save(set, &target);
    setfile_inspect(set, &after);
    name_added(&after, input.keys, copies, after.facts.keys - before.keys, change);
    bool const is_overloaded = tell_change(&after, path, change, asked);
    lines_close(&input);
    tamis_free(set);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_add = {
    .name = "add",
    .operands = "FILE [KEYS...] ",
    .summary = "Add keys to a set",
    .text =
        "Keys are the lines of the files KEYS, or of standard input; an empty line is a key,\n"
        "too. In a set that can remove, a key that was added twice must be removed twice.\n"
        "With --counts each line is a key, a tab and a number of copies, as 'tamis count'\n"
        "prints them; 'many' saturates the key. If the set becomes full, nothing is saved, and\n"
        "the file does not change. On SIGINT (Ctrl-C), SIGTERM or SIGHUP, the lines read so far\n"
        "are added and saved; a second signal ends at once, without saving. Ends with 1 if the\n"
        "keys were added, but are so many that the false-positive rate is now higher than\n"
        "planned.\n",
    .examples = "  find . -type f | tamis add seen.tamis\n"
                "  find . -type f -print0 | tamis add -0 seen.tamis\n"
                "  tamis add seen.tamis monday.txt tuesday.txt\n"
                "  printf 'apple\\t5\\n' | tamis add --counts fruit.tamis    five apples\n"
                "  tail -f access.log | tamis add seen.tamis               until Ctrl-C\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(COUNTS) | OPTION_BIT(THREADS) | OPTION_BIT(DISCARD) |
               OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = add_run,
};

/* ------------------------------------------------------------------ remove */

/* With minimal increase, an add raises only the smallest counters of a key. What it has raised is
 * not known later, so nothing can be removed. */
static bool is_minimal(const tamis_plan *plan) {
    for (unsigned i = 0; i < plan->n_fields; i++) {
        if (strcmp(plan->fields[i].name, "minimal") == 0) return plan->fields[i].value != 0;
    }
    return false;
}

static _Noreturn void die_of_no_removal(tamis_set *set, const char *path) {
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

/* How the removals of all lines went. */
typedef struct removal_count {
    uint64_t removed, absent, saturated;
} removal_count;

typedef struct removing {
    tamis_set    *set, *hasher;
    removal_count count;
} removing;

static void note_removal(job *block, const tamis_removal *some) {
    block->sums[0] += some->removed;
    block->sums[1] += some->absent;
    block->sums[2] += some->saturated;
}

static void remove_block(job *block, void *context) {
    const removing *const now = context;
    tamis_key             keys[LINES_BATCH];
    tamis_removal         some;
    size_t                n;
    while (block->status == TAMIS_OK && (n = job_cut(block, keys)) != 0) {
        block->status = tamis_remove_batch(now->set, keys, n, NULL, &some);
        if (block->status == TAMIS_OK) note_removal(block, &some);
    }
}

static bool count_removed(job *block, void *context) {
    removing *const now = context;
    if (block->status != TAMIS_OK) die("cannot remove: %s", tamis_status_text(block->status));
    now->count.removed += block->sums[0];
    now->count.absent += block->sums[1];
    now->count.saturated += block->sums[2];
    return true;
}

static void hash_block(job *block, void *context) {
    job_hash(block, ((const removing *)context)->hasher);
}

static bool remove_hashes(job *block, void *context) {
    removing *const now = context;
    tamis_removal   some = { 0, 0, 0 };
    block->status =
        tamis_remove_hash_batch(now->set, block->hashes, (size_t)block->lines, NULL, &some);
    note_removal(block, &some);
    return count_removed(block, now);
}

static removal_count remove_lines(set_in_work from, lines *input, unsigned threads) {
    removing now = { .set = from.set };
    if (from.is_shared || threads == 1) {
        (void)crew_run(&(crew_task){ remove_block, count_removed, &now }, input,
                       crew_of_workers(threads));
    } else {
        now.hasher = hasher_like(from.set);
        (void)crew_run(&(crew_task){ hash_block, remove_hashes, &now }, input,
                       crew_with_main(threads));
        tamis_free(now.hasher);
    }
    return now.count;
}

/* "removed 12 keys, 0 absent, 8 saturated (they have more copies than the set can count, and stay)"
 */
static void name_removed(const removal_count *count, char *ret_text, size_t n) {
    number_text removed, absent, saturated;
    number_exact(count->removed, removed);
    number_exact(count->absent, absent);
    number_exact(count->saturated, saturated);
    int const length = snprintf(ret_text, n, "removed %s %s, %s absent", removed,
                                plural(count->removed, "key", "keys"), absent);
    if (count->saturated == 0) return;
    (void)snprintf(ret_text + length, n - (size_t)length,
                   ", %s saturated (with more copies than the set can count; they stay in it)",
                   saturated);
}

static int remove_run(const options *asked) {
    const char *const path = asked->operands[0];
    setfile_target    target;
    set_in_work const from = setfile_take_shared(path, asked, &target);
    tamis_set *const  set = from.set;
    lines             input;
    tamis_info        info;
    char              change[240];
    if (tamis_remove_batch(set, NULL, 0, NULL, NULL) != TAMIS_OK) die_of_no_removal(set, path);
    keys_open(&input, asked, 1);
    if (!is_given(asked, OPTION_BIT(DISCARD))) signals_end_input();
    removal_count const count = remove_lines(from, &input, asked->threads);
    if (input.keys != 0) setfile_save(set, &target);
    name_removed(&count, change, sizeof change);
    setfile_inspect(set, &info);
    (void)tell_change(&info, path, change, asked);
    lines_close(&input);
    tamis_free(set);
    return count.absent + count.saturated == 0 ? EXIT_DONE : EXIT_NONE;
}

const command command_remove = {
    .name = "remove",
    .operands = "FILE [KEYS...] ",
    .summary = "Remove keys from a set that was built with --remove",
    .text =
        "Removes one copy of each key. Remove only keys that were added: if you remove another\n"
        "key, it may be taken for one in the set (with the probability of a false positive),\n"
        "which is then lost. A key with more copies than the set can count is saturated: it\n"
        "stays in the set. On SIGINT (Ctrl-C), SIGTERM or SIGHUP, the keys read so far are\n"
        "removed and the set is saved; a second signal ends at once, unsaved. Ends with 0 if\n"
        "all keys were removed, with 1 if some were absent or saturated (the others are\n"
        "removed), with 2 on an error (nothing is removed).\n",
    .examples = "  tamis build seen.tamis -n 1M --remove <urls.txt\n"
                "  tamis remove seen.tamis expired.txt\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(THREADS) | OPTION_BIT(DISCARD) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = remove_run,
};
