/* cmd_file.c - tamis info, verify, merge, convert: whole sets. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "numbers.h"
#include "output.h"
#include "report.h"
#include "setfile.h"

/* ------------------------------------------------------------------ info */

static const char *hash_name(tamis_hash hash) {
    return hash == TAMIS_HASH_SIPHASH ? "siphash" : "xxh3";
}

/* "bits=1024, hashes=9". */
static void print_geometry(const tamis_plan *plan) {
    output_string("  geometry    ");
    for (unsigned i = 0; i < plan->n_fields; i++) {
        output_text("%s%s=%llu", i ? ", " : "", plan->fields[i].name,
                    (unsigned long long)plan->fields[i].value);
    }
    output_string("\n");
}

static void print_kind_and_keys(const tamis_info *info) {
    abilities_text abilities;
    number_text    keys, capacity;
    abilities_name(info->plan.abilities, abilities);
    number_exact(info->keys, keys);
    number_exact(info->plan.capacity, capacity);
    output_text("  kind        %s: %s\n", info->plan.kind, info->plan.summary);
    output_text("  can         add, has%s%s\n", *abilities ? ", " : "", abilities);
    output_text("  keys        %s, made for %s (%.0f%%)\n", keys, capacity,
                100 * (double)info->keys / (double)info->plan.capacity);
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
    (void)snprintf(so_far, sizeof so_far, "%s adds refused so far", number);
    print_risk("overflow", info->plan.overflow, info->plan.lifetime, so_far);
    number_exact(info->saturated, number);
    (void)snprintf(so_far, sizeof so_far, "%s entries saturated so far", number);
    print_risk("saturation", info->plan.saturation, info->plan.lifetime, so_far);
    if ((info->plan.abilities & TAMIS_CAN_REMOVE) == 0) return;
    number_exact(info->refused_removes, number);
    output_text("  removals    %s keys were absent so far\n", number);
}

static void print_info(const tamis_info *info, const char *path) {
    number_text seed;
    number_seed(info->seed, seed);
    output_text("%s\n", path);
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
    .run = info_run,
};

/* ------------------------------------------------------------------ verify */

/* Opening checks it all: header, lengths, every checksum, every invariant of the kind. */
static bool verify_file(const char *path, const options *asked) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set;
    tamis_problem      problem;
    tamis_info         info;
    number_text        keys;
    how.isa = asked->spec.isa;
    if (tamis_open(path, &how, &set, &problem) != TAMIS_OK) {
        output_flush();
        const char *const advice = advice_for(&problem);
        warn("%s%s%s", problem.text, advice ? "; " : "", advice ? advice : "");
        return false;
    }
    setfile_inspect(set, &info);
    number_exact(info.keys, keys);
    if (!is_given(asked, OPTION_BIT(QUIET))) {
        output_text("%s: whole and sound: a %s with %s keys\n", path, info.plan.kind, keys);
    }
    tamis_free(set);
    return true;
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
            "says what is wrong and at which byte. Ends with 0 if all files are sound, else 2.\n",
    .examples = "  tamis verify words.tamis\n"
                "  tamis verify --quiet backup/*.tamis\n",
    .options = OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
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

static void merge_file(tamis_set *into, const char *first, const char *path, const char *isa) {
    tamis_set *const   from = setfile_look(path, isa);
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

static int merge_run(const options *asked) {
    const char *const out = asked->operands[0], *const first = asked->operands[1];
    setfile_check_target(out, asked);
    tamis_set *const set = setfile_read(first, asked->spec.isa);
    for (size_t i = 2; i < asked->n_operands; i++) {
        merge_file(set, first, asked->operands[i], asked->spec.isa);
    }
    setfile_save(set, out);
    tamis_info info;
    setfile_inspect(set, &info);
    setfile_warn_of_overload(&info, out);
    tamis_free(set);
    return EXIT_DONE;
}

const command command_merge = {
    .name = "merge",
    .operands = "OUT A B... ",
    .summary = "Save to OUT a set with the keys of A, B and so on",
    .text = "Only sets that were made alike can merge: the same kind, size and seed. 'tamis\n"
            "build --like A' makes one that can merge with A. OUT may be one of them.\n",
    .examples = "  tamis build week.tamis -n 1M --merge monday.txt\n"
                "  tamis build tuesday.tamis --like week.tamis tuesday.txt\n"
                "  tamis merge week.tamis week.tamis tuesday.tamis\n",
    .options = OPTION_BIT(FORCE),
    .min_operands = 3,
    .max_operands = SIZE_MAX,
    .run = merge_run,
};

/* ------------------------------------------------------------------ convert */

static int convert_run(const options *asked) {
    const char *const in = asked->operands[0], *const out = asked->operands[1];
    const char *const kind = asked->spec.kind;
    if (kind == NULL) die("into which kind? Say --kind bloom");
    setfile_check_target(out, asked);
    tamis_set *const   set = setfile_map(in, asked);
    tamis_set         *converted;
    tamis_status const status = tamis_convert(set, kind, &converted);
    if (status == TAMIS_ERR_CANNOT) {
        tamis_info info;
        setfile_inspect(set, &info);
        die("%s is of kind %s, which cannot become %s; a set only becomes one that can do less, "
            "as counting becomes bloom",
            in, info.plan.kind, kind);
    }
    if (status != TAMIS_OK) die("%s: %s", in, tamis_status_text(status));
    setfile_save(converted, out);
    tamis_free(converted);
    tamis_free(set);
    return EXIT_DONE;
}

const command command_convert = {
    .name = "convert",
    .operands = "IN OUT --kind KIND ",
    .summary = "Save a set as one of another kind, smaller and with fewer abilities",
    .text = "The new set answers 'has' as the old one does. For sending a set to where it is\n"
            "only asked: counting becomes bloom in a quarter of the space.\n",
    .examples = "  tamis convert seen.tamis seen-bloom.tamis --kind bloom\n",
    .options = OPTION_BIT(KIND) | OPTION_BIT(FORCE),
    .min_operands = 2,
    .max_operands = 2,
    .run = convert_run,
};
