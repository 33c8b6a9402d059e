/* cmd_merge.c - tamis merge, subtract, convert: sets made of sets. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "numbers.h"
#include "setfile.h"

/* ------------------------------------------------------------------ merge */

static bool is_same_geometry(const tamis_plan *a, const tamis_plan *b) {
    if (a->n_fields != b->n_fields) return false;
    for (unsigned i = 0; i < a->n_fields; i++) {
        if (a->fields[i].value != b->fields[i].value) return false;
    }
    return true;
}

/* In what do two sets differ that cannot be merged? */
static const char *difference(const tamis_set *one, const tamis_set *other) {
    tamis_info a, b;
    setfile_inspect(one, &a);
    setfile_inspect(other, &b);
    if (strcmp(a.plan.kind, b.plan.kind) != 0) return "kind";
    if (!is_same_geometry(&a.plan, &b.plan)) return "geometry (size)";
    return a.hash != b.hash ? "hash" : "seed";
}

/* What two sets that differ cannot do together. */
static _Noreturn void die_of_difference(const tamis_set *one, const tamis_set *other,
                                        const options *asked, const char *path,
                                        const char *cannot) {
    die("%s and %s differ in %s; only sets made alike can %s: build one with --like the other",
        asked->operands[1], path, difference(one, other), cannot);
}

static void merge_file(tamis_set *into, const char *path, const options *asked) {
    const char *const  first = asked->operands[1];
    tamis_set *const   from = setfile_map(path, asked);
    tamis_status const status = tamis_merge(into, from);
    if (status == TAMIS_ERR_MISMATCH) die_of_difference(into, from, asked, path, "merge");
    if (status == TAMIS_ERR_FULL) {
        die("there is no room in %s for %s; nothing was saved, build larger ones", first, path);
    }
    if (status != TAMIS_OK) {
        die("%s cannot merge: %s; build it with --merge", first, tamis_status_text(status));
    }
    tamis_free(from);
}

/* "all.tamis: 2 sets merged, at most 2,000 keys; 3.56 KiB (bloom, ...)". */
static void tell_whole(const tamis_info *info, const char *path, const char *what,
                       const options *asked) {
    number_text  keys;
    setfile_text is;
    if (is_given(asked, OPTION_BIT(QUIET))) return;
    number_exact(info->keys, keys);
    setfile_describe(info, is);
    warn("%s: %s%s %s; %s", path, what, keys, plural(info->keys, "key", "keys"), is);
}

static int merge_run(const options *asked) {
    const char *const out = asked->operands[0];
    tamis_info        info;
    char              what[80];
    setfile_check_target(out, asked);
    tamis_set *const set = setfile_read(asked->operands[1], asked);
    for (size_t i = 2; i < asked->n_operands; i++) merge_file(set, asked->operands[i], asked);
    setfile_save(set, out);
    setfile_inspect(set, &info);
    (void)snprintf(what, sizeof what, "%zu sets merged, %s", asked->n_operands - 1,
                   is_bound_after_merge(&info.plan) ? "at most " : "");
    tell_whole(&info, out, what, asked);
    bool const is_overloaded = setfile_warn_of_overload(&info, out);
    tamis_free(set);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_merge = {
    .name = "merge",
    .operands = "OUT A B... ",
    .summary = "Save to OUT a set with the keys of A, B and so on",
    .text = "Only sets that were made alike can merge: the same kind, size and seed. 'tamis\n"
            "build --like A' makes one that can merge with A. OUT may be one of them. Ends with\n"
            "1 if OUT was saved but has so many keys that its false-positive rate is not that of\n"
            "the others.\n",
    .examples = "  tamis build week.tamis -n 1M --merge monday.txt\n"
                "  tamis build tuesday.tamis --like week.tamis tuesday.txt\n"
                "  tamis merge week.tamis week.tamis tuesday.tamis\n",
    .options = OPTION_BIT(FORCE) | OPTION_BIT(QUIET),
    .min_operands = 3,
    .max_operands = SIZE_MAX,
    .set_operands = SIZE_MAX,
    .run = merge_run,
};

/* ------------------------------------------------------------------ subtract */

/* It cannot remove or merge, or its kind has no way to do it. */
static _Noreturn void die_of_inability(const tamis_set *set, const char *path) {
    unsigned const needed = TAMIS_CAN_REMOVE | TAMIS_CAN_MERGE;
    tamis_info     info;
    setfile_inspect(set, &info);
    bool const is_able = (info.plan.abilities & needed) == needed;
    die("nothing can be subtracted from %s, of kind %s; build %s", path, info.plan.kind,
        is_able ? "one of another kind" : "it with --remove --merge");
}

static void subtract_file(tamis_set *into, const char *path, const options *asked) {
    const char *const  first = asked->operands[1];
    tamis_set *const   from = setfile_map(path, asked);
    tamis_status const status = tamis_subtract(into, from);
    if (status == TAMIS_ERR_MISMATCH) die_of_difference(into, from, asked, path, "be subtracted");
    if (status == TAMIS_ERR_ABSENT) {
        die("%s is no part of %s: it holds what is not there; nothing was saved", path, first);
    }
    if (status == TAMIS_ERR_CANNOT) die_of_inability(into, first);
    if (status != TAMIS_OK) die("%s: %s", first, tamis_status_text(status));
    tamis_free(from);
}

static int subtract_run(const options *asked) {
    const char *const out = asked->operands[0];
    tamis_info        info;
    char              what[80];
    setfile_check_target(out, asked);
    tamis_set *const set = setfile_read(asked->operands[1], asked);
    for (size_t i = 2; i < asked->n_operands; i++) subtract_file(set, asked->operands[i], asked);
    setfile_save(set, out);
    setfile_inspect(set, &info);
    (void)snprintf(what, sizeof what, "%zu %s subtracted, ", asked->n_operands - 2,
                   plural(asked->n_operands - 2, "set", "sets"));
    tell_whole(&info, out, what, asked);
    tamis_free(set);
    return EXIT_DONE;
}

const command command_subtract = {
    .name = "subtract",
    .operands = "OUT A B... ",
    .summary = "Save to OUT the set A without the keys of B and so on",
    .text = "The reverse of merge, for sets that can remove: what was added to B must have been\n"
            "added to A, or B merged into it. A B that holds something that A certainly does not\n"
            "is refused, and nothing is saved. OUT may be A.\n",
    .examples = "  tamis build day.tamis -n 100k --remove --merge monday.txt\n"
                "  tamis merge week.tamis week.tamis day.tamis\n"
                "  tamis subtract week.tamis week.tamis day.tamis       a week later\n",
    .options = OPTION_BIT(FORCE) | OPTION_BIT(QUIET),
    .min_operands = 3,
    .max_operands = SIZE_MAX,
    .set_operands = SIZE_MAX,
    .run = subtract_run,
};

/* ------------------------------------------------------------------ convert */

/* "bloom or rank": what the set can become; "" if nothing. The library answers by doing it. */
static void list_targets(const tamis_set *set, const char *own_kind, char *ret_text, size_t n) {
    size_t at = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; tamis_kind_name(i) != NULL && at < n; i++) {
        tamis_set *converted = NULL;
        if (strcmp(tamis_kind_name(i), own_kind) == 0) continue;
        if (tamis_convert(set, tamis_kind_name(i), &converted) != TAMIS_OK) continue;
        tamis_free(converted);
        at += (size_t)snprintf(ret_text + at, n - at, "%s%s", at != 0 ? " or " : "",
                               tamis_kind_name(i));
    }
}

/* It has another kind already, or none is named, or it cannot become that one. */
static _Noreturn void die_of_kind(const tamis_set *set, const char *path, const char *wanted) {
    tamis_info info;
    char       targets[200];
    setfile_inspect(set, &info);
    list_targets(set, info.plan.kind, targets, sizeof targets);
    bool const is_any = *targets != '\0';
    if (wanted != NULL && strcmp(wanted, info.plan.kind) == 0) {
        die("%s is of kind %s already; to have it twice, copy the file", path, wanted);
    }
    if (wanted == NULL && is_any) die("into which kind? Say --kind %s", targets);
    die("%s is of kind %s, which can become %s%s", path, info.plan.kind,
        is_any ? targets : "no other", is_any ? "" : "; build one of the kind you want");
}

static int convert_run(const options *asked) {
    const char *const in = asked->operands[0], *const out = asked->operands[1];
    const char *const kind = asked->spec.kind;
    tamis_set *const  set = setfile_map(in, asked);
    tamis_set        *converted;
    tamis_info        info;
    setfile_inspect(set, &info);
    if (kind == NULL || strcmp(kind, info.plan.kind) == 0) die_of_kind(set, in, kind);
    setfile_check_target(out, asked);
    tamis_status const status = tamis_convert(set, kind, &converted);
    if (status == TAMIS_ERR_CANNOT) die_of_kind(set, in, kind);
    if (status != TAMIS_OK) die("%s: %s", in, tamis_status_text(status));
    setfile_save(converted, out);
    setfile_inspect(converted, &info);
    tell_whole(&info, out, "", asked);
    tamis_free(converted);
    tamis_free(set);
    return EXIT_DONE;
}

const command command_convert = {
    .name = "convert",
    .operands = "IN OUT --kind KIND ",
    .summary = "Save a set as one of another kind, smaller and with fewer abilities",
    .text = "The new set answers 'has' as the old one does. For sending a set to where it is\n"
            "only asked: counting becomes bloom in a quarter of the space. Without --kind, says\n"
            "what the set can become.\n",
    .examples = "  tamis convert seen.tamis seen-bloom.tamis --kind bloom\n",
    .options = OPTION_BIT(KIND) | OPTION_BIT(FORCE) | OPTION_BIT(QUIET),
    .min_operands = 2,
    .max_operands = 2,
    .set_operands = 2,
    .run = convert_run,
};
