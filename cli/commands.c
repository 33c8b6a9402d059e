/* commands.c - see commands.h. */
#include "commands.h"

#include <stdio.h>
#include <unistd.h>

#include "json.h"
#include "message.h"
#include "output.h"
#include "setfile.h"

/* At a terminal, explain why nothing happens. */
static void hint_at_terminal(const options *asked) {
    if (is_given(asked, OPTION_BIT(QUIET) | OPTION_BIT(SILENT))) return;
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
        warn("reading keys from the terminal, one per line; Ctrl-D ends");
    }
}

void keys_open(lines *ret_lines, const options *asked, size_t first) {
    size_t const n_names = asked->n_operands - first;
    if (n_names == 0) hint_at_terminal(asked);
    lines_open(ret_lines, asked->operands + first, n_names, asked->separator);
}

tamis_set *set_create(const tamis_spec *spec) {
    tamis_set         *set;
    tamis_problem      problem = { .status = TAMIS_OK };
    tamis_status const status = tamis_create(spec, &set, &problem);
    if (status == TAMIS_OK) return set;
    if (status == TAMIS_ERR_CANNOT && spec->kind == NULL && spec->grow_to == 0) {
        die("%s; 'tamis plan' with the same options compares the kinds", problem.text);
    }
    problem.status = status;
    die_of_spec(&problem);
}

tamis_set *hasher_make(tamis_seed seed, tamis_hash hash) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = 1;
    spec.fpr = 0.5;
    spec.seed = &seed;
    spec.hash = hash;
    return set_create(&spec);
}

tamis_set *hasher_like(const tamis_set *set) {
    tamis_facts facts;
    if (tamis_get_facts(set, &facts) != TAMIS_OK) die("there is no set to inspect");
    return hasher_make(facts.seed, facts.hash);
}

void die_of_spec(const tamis_problem *problem) {
    const char *advice = NULL;
    if (problem->status == TAMIS_ERR_CANNOT) advice = "'tamis plan' compares the kinds";
    if (problem->status == TAMIS_ERR_MEMORY || problem->status == TAMIS_ERR_LIMIT) {
        advice = "ask for fewer keys or a higher rate";
    }
    const char *const text = *problem->text ? problem->text : tamis_status_text(problem->status);
    die("%s%s%s", text, advice ? "; " : "", advice ? advice : "");
}

const char *plural(uint64_t n, const char *one, const char *many) {
    return n == 1 ? one : many;
}

void print_path(const char *path) {
    char text[4096];
    text_escape(path, text, sizeof text);
    output_string(text);
}

void abilities_name(unsigned abilities, abilities_text ret_text) {
    static const char *const names[] = { "remove", "count", "merge" };
    size_t                   at = 0;
    unsigned                 left = abilities & 7;
    ret_text[0] = '\0';
    for (unsigned i = 0; i < 3; i++) {
        if ((abilities >> i & 1) == 0) continue;
        left &= left - 1;
        const char *const before = at == 0 ? "" : left == 0 ? " and " : ", ";
        at +=
            (size_t)snprintf(ret_text + at, sizeof(abilities_text) - at, "%s%s", before, names[i]);
    }
}

void json_abilities(unsigned abilities) {
    json_open("abilities", '[');
    if (abilities & TAMIS_CAN_REMOVE) json_text(NULL, "remove");
    if (abilities & TAMIS_CAN_COUNT) json_text(NULL, "count");
    if (abilities & TAMIS_CAN_MERGE) json_text(NULL, "merge");
    json_close(']');
}

void json_forecast(const tamis_plan *plan) {
    json_open("geometry", '{');
    for (unsigned i = 0; i < plan->n_fields; i++) {
        json_count(plan->fields[i].name, plan->fields[i].value);
    }
    json_close('}');
    json_count("capacity", plan->capacity);
    json_count("copies", plan->copies);
    json_count("count_to", plan->count_to);
    json_count("body_bytes", plan->body_bytes);
    json_count("file_bytes", plan->file_bytes);
    json_number("bits_per_key", plan->bits_per_key);
    json_number("fpr", plan->fpr);
    json_number("overflow", plan->overflow);
    json_number("saturation", plan->saturation);
    json_number("lines_present", plan->lines_present);
    json_number("lines_absent", plan->lines_absent);
    json_number("lines_add", plan->lines_add);
}
