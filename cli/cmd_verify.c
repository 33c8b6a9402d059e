/* cmd_verify.c - tamis verify: are files of sets and states undamaged? */
#include "commands.h"

#include <stdio.h>

#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "setfile.h"

typedef struct verified {
    const char   *kind;
    uint64_t      keys;
    contents_text contents; /* the same in words; a set may hold several copies of a key */
} verified;

static void look_at_states(const setfile *file, verified *ret_found) {
    tamis_states_info info;
    number_text       keys;
    if (tamis_states_inspect(file->states, &info) != TAMIS_OK) die("there are no states");
    *ret_found = (verified){ .kind = info.plan.kind, .keys = info.keys };
    number_exact(info.keys, keys);
    (void)snprintf(ret_found->contents, sizeof ret_found->contents, "%s %s", keys,
                   plural(info.keys, "key", "keys"));
}

static verified look_at(const setfile *file) {
    verified   found;
    tamis_info info;
    if (file->set == NULL) {
        look_at_states(file, &found);
        return found;
    }
    setfile_inspect(file->set, &info);
    found = (verified){ .kind = info.plan.kind, .keys = info.facts.keys };
    setfile_name_contents(&info, found.contents);
    return found;
}

static void print_intact(const setfile *file) {
    verified const found = look_at(file);
    print_path(file->path);
    output_text(": intact: %s of kind %s, %s\n", file->set != NULL ? "a set" : "states", found.kind,
                found.contents);
}

static void json_intact(const setfile *file) {
    verified const found = look_at(file);
    json_text("holds", file->set != NULL ? "set" : "states");
    json_text("kind", found.kind);
    json_count("keys", found.keys);
}

static void json_problem(const tamis_problem *problem, const char *advice) {
    json_text("problem", problem->text);
    json_count("offset", problem->offset);
    if (advice != NULL) json_text("advice", advice);
}

/* Opening a file checks everything: header, lengths, every checksum, every invariant of the kind.
 * Returns whether it is intact. */
static bool verify_file(const char *path, const options *asked) {
    options       with = *asked;
    setfile       file;
    tamis_problem problem;
    with.given |= OPTION_BIT(READ);
    bool const        is_intact = setfile_open_any(path, &with, &file, &problem) == TAMIS_OK;
    const char *const advice = is_intact ? NULL : setfile_advice(path, &problem, asked);
    if (is_given(asked, OPTION_BIT(JSON))) {
        json_open(NULL, '{');
        json_text("file", path);
        json_bool("intact", is_intact);
        if (is_intact)
            json_intact(&file);
        else
            json_problem(&problem, advice);
        json_close('}');
    } else if (!is_intact) {
        output_flush();
        warn("%s%s%s", problem.text, advice ? "; " : "", advice ? advice : "");
    } else if (!is_given(asked, OPTION_BIT(QUIET))) {
        print_intact(&file);
    }
    if (is_intact) setfile_close(&file);
    return is_intact;
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
    .summary = "Check sets and files of states for damage",
    .text = "Checks the header, the length, every checksum and every invariant of the kind, and\n"
            "says what is wrong and at which byte. With --json, one object for each file. Ends\n"
            "with 0 if all files are intact, else with 2.\n",
    .examples = "  tamis verify words.tamis\n"
                "  tamis verify --quiet backup/*.tamis\n"
                "  tamis verify --json *.tamis | jq -r 'select(.intact | not) | .file'\n",
    .options = OPTION_BIT(JSON) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = SIZE_MAX,
    .run = verify_run,
};
