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

/* Why can two sets not be merged? Name the first difference. */
static const char *difference(const tamis_set *one, const tamis_set *other) {
    tamis_info a, b;
    setfile_inspect(one, &a);
    setfile_inspect(other, &b);
    if (strcmp(a.plan.kind, b.plan.kind) != 0) return "kind";
    if (!is_same_geometry(&a.plan, &b.plan)) return "geometry (size)";
    return a.facts.hash != b.facts.hash ? "hash" : "seed";
}

static _Noreturn void die_of_difference(const tamis_set *one, const tamis_set *other,
                                        const options *asked, const char *path,
                                        const char *cannot) {
    die("%s and %s differ in %s; only sets that were built alike can %s: build one of them with "
        "--like",
        asked->operands[1], path, difference(one, other), cannot);
}

/* Can a set of this kind merge if it is asked to? */
static bool is_mergeable(const tamis_plan *like) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_plan plan;
    size_t     n;
    spec.kind = like->kind;
    spec.capacity = like->capacity;
    spec.fpr = 0.5;
    spec.abilities = TAMIS_CAN_MERGE;
    return tamis_plan_kinds(&spec, &plan, 1, &n, NULL) == TAMIS_OK && plan.status == TAMIS_OK;
}

static _Noreturn void die_of_no_merge(tamis_set *set, const char *path) {
    tamis_info info;
    setfile_inspect(set, &info);
    tamis_free(set);
    if (is_mergeable(&info.plan)) {
        die("%s (%s) was not built to merge; build it with --merge", path, info.plan.kind);
    }
    die("%s is of kind %s, which cannot merge; build it with --merge and another kind ('tamis plan "
        "--merge' compares them)",
        path, info.plan.kind);
}

static void merge_file(tamis_set *into, const char *path, const options *asked) {
    const char *const first = asked->operands[1];
    setfile           from;
    setfile_open_set(path, asked, &from);
    tamis_status const status = tamis_merge(into, from.set);
    if (status == TAMIS_ERR_MISMATCH) die_of_difference(into, from.set, asked, path, "merge");
    if (status == TAMIS_ERR_CANNOT) die_of_no_merge(into, first);
    if (status == TAMIS_ERR_FULL) {
        die("there is no room in %s for %s; nothing was saved, build larger ones", first, path);
    }
    if (status != TAMIS_OK) die("%s: %s; nothing was saved", first, tamis_status_text(status));
    setfile_close(&from);
}

/* "all.tamis: 2 sets merged, about 1,998 different keys; 3.56 KiB (bloom, ...)". */
static void tell_saved(const tamis_info *info, const char *path, const char *change,
                       const options *asked) {
    number_text  keys;
    setfile_text description;
    if (is_given(asked, OPTION_BIT(QUIET))) return;
    uint64_t const distinct = (uint64_t)(info->distinct + 0.5);
    number_exact(distinct, keys);
    setfile_describe(info, description);
    warn("%s: %sabout %s different %s; %s", path, change, keys, plural(distinct, "key", "keys"),
         description);
}

static int merge_run(const options *asked) {
    const char *const out = asked->operands[0];
    setfile_target    target;
    tamis_info        info;
    char              change[80];
    setfile_aim(out, asked, &target);
    tamis_set *const set = setfile_read(asked->operands[1], asked);
    for (size_t i = 2; i < asked->n_operands; i++) merge_file(set, asked->operands[i], asked);
    setfile_save(set, &target);
    setfile_inspect(set, &info);
    (void)snprintf(change, sizeof change, "%zu sets merged, ", asked->n_operands - 1);
    tell_saved(&info, out, change, asked);
    bool const is_overloaded = setfile_warn_of_overload(&info, out);
    tamis_free(set);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_merge = {
    .name = "merge",
    .operands = "OUT A B... ",
    .summary = "Save to OUT a set with the keys of A, B and so on",
    .text =
        "Only sets that were built alike can merge: with the same kind, size and seed. 'tamis\n"
        "build --like A' builds a set that can merge with A. OUT may be one of them. Ends with\n"
        "1 if OUT was saved, but has so many keys that its false-positive rate is higher than\n"
        "that of the others.\n",
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

/* The set was not built to remove and merge, or its kind cannot subtract at all. */
static _Noreturn void die_of_no_subtract(const tamis_set *set, const char *path) {
    unsigned const needed = TAMIS_CAN_REMOVE | TAMIS_CAN_MERGE;
    tamis_info     info;
    setfile_inspect(set, &info);
    bool const is_able = (info.plan.abilities & needed) == needed;
    die("nothing can be subtracted from %s (%s); build it with %s", path, info.plan.kind,
        is_able ? "another kind: line, rank or counting can" : "--remove --merge");
}

static void subtract_file(tamis_set *into, const char *path, const options *asked) {
    const char *const first = asked->operands[1];
    setfile           from;
    setfile_open_set(path, asked, &from);
    tamis_status const status = tamis_subtract(into, from.set);
    if (status == TAMIS_ERR_MISMATCH) {
        die_of_difference(into, from.set, asked, path, "be subtracted");
    }
    if (status == TAMIS_ERR_ABSENT) {
        die("%s is not a subset of %s; nothing was saved", path, first);
    }
    if (status == TAMIS_ERR_CANNOT) die_of_no_subtract(into, first);
    if (status != TAMIS_OK) die("%s: %s", first, tamis_status_text(status));
    setfile_close(&from);
}

static int subtract_run(const options *asked) {
    const char *const out = asked->operands[0];
    setfile_target    target;
    tamis_info        info;
    char              change[80];
    setfile_aim(out, asked, &target);
    tamis_set *const set = setfile_read(asked->operands[1], asked);
    for (size_t i = 2; i < asked->n_operands; i++) subtract_file(set, asked->operands[i], asked);
    setfile_save(set, &target);
    setfile_inspect(set, &info);
    (void)snprintf(change, sizeof change, "%zu %s subtracted, ", asked->n_operands - 2,
                   plural(asked->n_operands - 2, "set", "sets"));
    tell_saved(&info, out, change, asked);
    tamis_free(set);
    return EXIT_DONE;
}

const command command_subtract = {
    .name = "subtract",
    .operands = "OUT A B... ",
    .summary = "Save to OUT the set A without the keys of B and so on",
    .text = "This is the reverse of merge, for sets that can remove. The keys of B must have been\n"
            "added to A, or B merged into it. If B has a key that A does not have, the command\n"
            "refuses and saves nothing. OUT may be A.\n",
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

/* "bloom or rank": the kinds that tamis_convert() can make of the set, found by trying; "" if there
 * are none. */
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

/* "rank or dlcbf": the kinds that send and receive can make of the set. */
static void list_sent_as(const tamis_set *set, const char *own_kind, char *ret_text, size_t n) {
    size_t at = 0;
    *ret_text = '\0';
    for (size_t i = 0; tamis_kind_name(i) != NULL && at < n; i++) {
        const char *const kind = tamis_kind_name(i);
        if (strcmp(kind, own_kind) == 0 || !is_sent_as(set, kind)) continue;
        at += (size_t)snprintf(ret_text + at, n - at, "%s%s", at != 0 ? " or " : "", kind);
    }
}

/* There is no conversion, but a kind of fingerprints can be sent and received as another one. */
static _Noreturn void die_of_no_conversion(const tamis_set *set, const options *asked,
                                           const char *own_kind, const char *targets) {
    const char *const in = asked->operands[0], *const out = asked->operands[1];
    const char *const wanted = asked->spec.kind;
    if (wanted != NULL && is_sent_as(set, wanted)) {
        die("convert cannot make a %s from a %s; use: tamis send %s | tamis receive %s --kind %s",
            wanted, own_kind, in, out, wanted);
    }
    bool const is_any = *targets != '\0';
    if (!is_any && is_sent_as(set, own_kind)) {
        char kinds[200];
        list_sent_as(set, own_kind, kinds, sizeof kinds);
        die("%s is of kind %s, which convert cannot change; 'tamis send' and 'tamis receive "
            "--kind' can make a %s from it",
            in, own_kind, kinds);
    }
    die("%s is of kind %s, which can become %s%s", in, own_kind, is_any ? targets : "no other",
        is_any ? "" : "; build one of the kind you want from the keys");
}

/* No kind is named, or the set has it already, or cannot be converted to it. */
static _Noreturn void die_of_kind(const tamis_set *set, const options *asked) {
    const char *const in = asked->operands[0], *const wanted = asked->spec.kind;
    tamis_info info;
    char       targets[200];
    setfile_inspect(set, &info);
    list_targets(set, info.plan.kind, targets, sizeof targets);
    if (wanted != NULL && strcmp(wanted, info.plan.kind) == 0) {
        die("%s is already of kind %s; copy the file if you want two", in, wanted);
    }
    if (wanted == NULL && *targets != '\0') {
        die("say which kind to make with --kind; this set can become %s", targets);
    }
    die_of_no_conversion(set, asked, info.plan.kind, targets);
}

static int convert_run(const options *asked) {
    const char *const in = asked->operands[0], *const out = asked->operands[1];
    const char *const kind = asked->spec.kind;
    setfile           from;
    setfile_target    target;
    tamis_set        *converted;
    tamis_info        info;
    setfile_open_set(in, asked, &from);
    setfile_inspect(from.set, &info);
    if (kind == NULL || strcmp(kind, info.plan.kind) == 0) die_of_kind(from.set, asked);
    setfile_aim(out, asked, &target);
    tamis_status const status = tamis_convert(from.set, kind, &converted);
    if (status == TAMIS_ERR_CANNOT) die_of_kind(from.set, asked);
    if (status != TAMIS_OK) die("%s: %s", in, tamis_status_text(status));
    setfile_close(&from);
    setfile_save(converted, &target);
    setfile_inspect(converted, &info);
    tell_saved(&info, out, "", asked);
    tamis_free(converted);
    return EXIT_DONE;
}

const command command_convert = {
    .name = "convert",
    .operands = "IN OUT --kind KIND ",
    .summary = "Save a set as another kind, which is smaller and can do less",
    .text = "The new set has the same answers to 'has'. Use it for a set that will not change any\n"
            "more: a counting becomes a bloom in a quarter of the space. Without --kind, the\n"
            "command lists the kinds that are possible. Between kinds that store fingerprints,\n"
            "convert with 'tamis send IN | tamis receive OUT --kind KIND'.\n",
    .examples = "  tamis convert seen.tamis seen-bloom.tamis --kind bloom\n",
    .options = OPTION_BIT(KIND) | OPTION_BIT(FORCE) | OPTION_BIT(QUIET),
    .min_operands = 2,
    .max_operands = 2,
    .set_operands = 2,
    .run = convert_run,
};
