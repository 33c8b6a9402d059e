/* cmd_file.c - tamis info, verify: what is in files. */
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
