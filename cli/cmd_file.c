/* cmd_file.c - tamis info, verify, merge, convert: whole sets. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "setfile.h"

/* ------------------------------------------------------------------ info */

#define INFO_COLUMNS 90

static const char *hash_name(tamis_hash hash) {
    return hash == TAMIS_HASH_SIPHASH ? "siphash" : "xxh3";
}

/* "bits=1024, hashes=9", on as many lines as that takes. */
static void print_geometry(const tamis_plan *plan) {
    size_t column = INFO_COLUMNS;
    for (unsigned i = 0; i < plan->n_fields; i++) {
        char         text[80];
        size_t const length = (size_t)snprintf(text, sizeof text, "%s=%llu", plan->fields[i].name,
                                               (unsigned long long)plan->fields[i].value);
        bool const   is_next = column + length + 3 > INFO_COLUMNS;
        if (is_next) {
            output_string(i == 0 ? "  geometry    " : ",\n              ");
            column = 14 + length;
        } else {
            output_string(", ");
            column += 2 + length;
        }
        output_string(text);
    }
    output_string("\n");
}

/* A set that can neither remove nor count does not see which keys two of them share. */
static bool is_bound_after_merge(const tamis_plan *plan) {
    unsigned const exact = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    return (plan->abilities & TAMIS_CAN_MERGE) != 0 && (plan->abilities & exact) == 0;
}

static void print_kind_and_keys(const tamis_info *info) {
    abilities_text abilities;
    number_text    keys, capacity;
    abilities_name(info->plan.abilities, abilities);
    number_exact(info->keys, keys);
    number_exact(info->plan.capacity, capacity);
    output_text("  kind        %s: %s\n", info->plan.kind, info->plan.summary);
    output_text("  can         add, has%s%s\n", *abilities ? ", " : "", abilities);
    output_text("  keys        %s%s, made for %s", keys,
                is_bound_after_merge(&info->plan) ? " (at most, if sets were merged into it)" : "",
                capacity);
    if (info->keys <= info->plan.capacity) /* beyond, some may be copies */
        output_text(" (%.0f%%)", 100 * (double)info->keys / (double)info->plan.capacity);
    output_string("\n");
}

static void print_sizes(const tamis_info *info) {
    number_text body, file, now, full;
    number_size(info->plan.body_bytes, body);
    number_size(info->plan.file_bytes, file);
    number_rate(info->current_fpr, now);
    number_rate(info->plan.fpr, full);
    output_text("  fpr         %s now, %s when full\n", now, full);
    output_text("  size        %s, %.1f bits per key when full; the file %s\n", body,
                info->plan.bits_per_key, file);
}

/* "overflow    3.1e-12 in 16,000,000 adds", or "never". */
static void print_risk(const char *name, double risk, uint64_t lifetime, const char *so_far) {
    number_text text, adds;
    number_rate(risk, text);
    number_exact(lifetime, adds);
    if (risk == 0)
        output_text("  %-11s never; %s\n", name, so_far);
    else
        output_text("  %-11s %s in %s adds; %s\n", name, text, adds, so_far);
}

static void print_risks(const tamis_info *info) {
    number_text number;
    char        so_far[80];
    number_exact(info->refused_adds, number);
    (void)snprintf(so_far, sizeof so_far, "%s %s refused so far", number,
                   plural(info->refused_adds, "add", "adds"));
    print_risk("overflow", info->plan.overflow, info->plan.lifetime, so_far);
    number_exact(info->moved, number);
    if (info->moved != 0)
        output_text("  moved       %s %s made room so far\n", number,
                    plural(info->moved, "entry", "entries"));
    number_exact(info->saturated, number);
    (void)snprintf(so_far, sizeof so_far, "%s %s saturated so far", number,
                   plural(info->saturated, "entry", "entries"));
    print_risk("saturation", info->plan.saturation, info->plan.lifetime, so_far);
    if ((info->plan.abilities & TAMIS_CAN_REMOVE) == 0) return;
    number_exact(info->refused_removes, number);
    output_text("  removals    %s %s absent so far\n", number,
                plural(info->refused_removes, "key was", "keys were"));
}

static void print_path(const char *path) {
    char text[4096];
    text_escape(path, text, sizeof text);
    output_string(text);
}

static void print_info(const tamis_info *info, const char *path) {
    number_text seed;
    number_seed(info->seed, seed);
    print_path(path);
    output_string("\n");
    print_kind_and_keys(info);
    print_sizes(info);
    print_geometry(&info->plan);
    print_risks(info);
    output_text("  lines       %.1f to find a key, %.1f to miss one, %.1f to add one\n",
                info->plan.lines_present, info->plan.lines_absent, info->plan.lines_add);
    output_text("  hash        %s, seed %s\n", hash_name(info->hash), seed);
}

static void json_info(const tamis_info *info, const char *path) {
    number_text seed;
    number_seed(info->seed, seed);
    json_open(NULL, '{');
    json_text("file", path);
    json_text("kind", info->plan.kind);
    json_text("summary", info->plan.summary);
    json_abilities(info->plan.abilities);
    json_count("keys", info->keys);
    json_count("capacity", info->plan.capacity);
    json_count("lifetime", info->plan.lifetime);
    json_number("current_fpr", info->current_fpr);
    json_forecast(&info->plan);
    json_count("saturated", info->saturated);
    json_count("moved", info->moved);
    json_count("refused_adds", info->refused_adds);
    json_count("refused_removes", info->refused_removes);
    json_text("hash", hash_name(info->hash));
    json_text("seed", seed);
    json_close('}');
}

static int info_run(const options *asked) {
    bool const is_json = is_given(asked, OPTION_BIT(JSON));
    for (size_t i = 0; i < asked->n_operands; i++) {
        const char *const path = asked->operands[i];
        tamis_set *const  set = setfile_map(path, asked);
        tamis_info        info;
        setfile_inspect(set, &info);
        if (i != 0 && !is_json) output_string("\n");
        if (is_json)
            json_info(&info, path);
        else
            print_info(&info, path);
        tamis_free(set);
    }
    return EXIT_DONE;
}

const command command_info = {
    .name = "info",
    .operands = "FILE... ",
    .summary = "Tell all about sets",
    .text = "The kind and what it can do, the keys in it, the false-positive rate now and when\n"
            "full, sizes, geometry, probabilities and what has happened so far. With --json, one\n"
            "object for each file.\n",
    .examples = "  tamis info words.tamis\n"
                "  tamis info --json *.tamis | jq -r '[.file, .keys] | @tsv'\n",
    .options = OPTION_BIT(JSON) | OPTION_BIT(TRUST),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = SIZE_MAX,
    .run = info_run,
};

/* ------------------------------------------------------------------ verify */

static void print_sound(const tamis_set *set, const char *path, const options *asked) {
    tamis_info  info;
    number_text keys;
    if (is_given(asked, OPTION_BIT(QUIET))) return;
    setfile_inspect(set, &info);
    number_exact(info.keys, keys);
    print_path(path);
    output_text(": whole and sound: kind %s, %s %s\n", info.plan.kind, keys,
                plural(info.keys, "key", "keys"));
}

static void json_verified(const tamis_set *set, const char *path, const tamis_problem *problem,
                          const char *advice) {
    tamis_info info;
    json_open(NULL, '{');
    json_text("file", path);
    json_bool("sound", set != NULL);
    if (set != NULL) {
        setfile_inspect(set, &info);
        json_text("kind", info.plan.kind);
        json_count("keys", info.keys);
    } else {
        json_text("problem", problem->text);
        json_count("offset", problem->offset);
        if (advice != NULL) json_text("advice", advice);
    }
    json_close('}');
}

/* Opening checks it all: header, lengths, every checksum, every invariant of the kind. */
static bool verify_file(const char *path, const options *asked) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    tamis_problem      problem;
    how.isa = asked->spec.isa;
    bool const        is_sound = tamis_open(path, &how, &set, &problem) == TAMIS_OK;
    const char *const advice = is_sound ? NULL : setfile_advice(&problem, asked);
    if (is_given(asked, OPTION_BIT(JSON))) {
        json_verified(set, path, &problem, advice);
    } else if (is_sound) {
        print_sound(set, path, asked);
    } else {
        output_flush();
        warn("%s%s%s", problem.text, advice ? "; " : "", advice ? advice : "");
    }
    tamis_free(set);
    return is_sound;
}

static int verify_run(const options *asked) {
    int code = EXIT_DONE;
    for (size_t i = 0; i < asked->n_operands; i++) {
        if (!verify_file(asked->operands[i], asked)) code = EXIT_TROUBLE;
    }
    return code;
}

const command command_verify = {
    .name = "verify",
    .operands = "FILE... ",
    .summary = "Check sets for damage",
    .text = "Checks the header, the length, every checksum and every invariant of the kind, and\n"
            "says what is wrong and at which byte. With --json, one object for each file. Ends\n"
            "with 0 if all files are sound, else 2.\n",
    .examples = "  tamis verify words.tamis\n"
                "  tamis verify --quiet backup/*.tamis\n"
                "  tamis verify --json *.tamis | jq -r 'select(.sound | not) | .file'\n",
    .options = OPTION_BIT(JSON) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = SIZE_MAX,
    .run = verify_run,
};

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

static void merge_file(tamis_set *into, const char *path, const options *asked) {
    const char *const  first = asked->operands[1];
    tamis_set *const   from = setfile_map(path, asked);
    tamis_status const status = tamis_merge(into, from);
    if (status == TAMIS_ERR_MISMATCH) {
        die("%s and %s differ in %s; only sets made alike can merge: build one with --like the "
            "other",
            first, path, difference(into, from));
    }
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
