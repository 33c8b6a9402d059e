/* cmd_plan_states.c - tamis plan --values: what each kind would make of a table of states. */
#include "commands.h"

#include <stdlib.h>

#include "growth.h"
#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "plan_rows.h"
#include "stage_rows.h"

/* ------------------------------------------------------------------ the job */

/* States are meant to be small: unless --fast is given, the smallest kind is chosen. */
static tamis_states_spec states_spec(const options *asked) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = asked->spec.capacity;
    spec.values = asked->values;
    spec.fpr = asked->spec.fpr;
    spec.unknown = asked->unknown;
    spec.timeout = asked->timeout;
    spec.memory = asked->spec.memory;
    spec.prefer = is_given(asked, OPTION_BIT(FAST)) ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL;
    spec.kind = asked->spec.kind;
    spec.geometry = asked->spec.geometry;
    spec.lifetime = asked->spec.lifetime;
    spec.overflow = asked->spec.overflow;
    spec.grow_to = asked->spec.grow_to;
    if (spec.capacity == 0 && spec.grow_to != 0) spec.capacity = growth_first(spec.grow_to);
    return spec;
}

static void plans_make(const tamis_states_spec *spec, plans *ret_plans) {
    tamis_problem problem;
    *ret_plans = (plans){ .is_named = spec->kind != NULL,
                          .prefer = spec->prefer,
                          .open = plans_open(spec->memory, spec->capacity, spec->fpr) };
    if (tamis_states_plan_kinds(spec, ret_plans->rows, PLANS_MAX, &ret_plans->n, &problem) !=
        TAMIS_OK) {
        die_of_spec(&problem);
    }
    plans_sort(ret_plans);
}

static const char *why_not(const tamis_plan *plan, const tamis_states_spec *spec) {
    double const unknown = spec->unknown != 0 ? spec->unknown : spec->fpr;
    if (plan->status == TAMIS_ERR_LIMIT) return "too large to address";
    if (plan->status == TAMIS_ERR_ARGUMENT) return "has no such fields";
    if (spec->grow_to != 0) return stages_why_not(plan->kind, true);
    if (plan->fpr > spec->fpr) return "is wrong too often";
    if (plan->unknown > unknown) return "answers \"don't know\" too often";
    if (plan->overflow > spec->overflow && plan->body_bytes != 0) return "overflows too often";
    return spec->geometry != NULL ? "cannot reach that with that geometry"
                                  : "cannot do all of that";
}

/* ------------------------------------------------------------------ for people */

/* "1M keys of 8 values, at most 0.1% wrong and 0.1% unknown, dropped after 60 ticks". */
static void print_job(const tamis_states_spec *spec, const tamis_plan *chosen) {
    number_text keys, grow_to, values, rate, unknown, memory, puts;
    number_short((double)spec->capacity, keys);
    number_short((double)spec->values, values);
    number_rate(spec->fpr, rate);
    number_rate(spec->unknown != 0 ? spec->unknown : spec->fpr, unknown);
    number_size(spec->memory, memory);
    if (spec->capacity != 0)
        output_text("%s %s of %s values", keys, plural(spec->capacity, "key", "keys"), values);
    else
        output_text("As many keys of %s values as fit", values);
    number_short((double)spec->grow_to, grow_to);
    if (spec->grow_to != 0) output_text(", growing to %s", grow_to);
    if (spec->memory != 0) output_text(", in at most %s", memory);
    if (spec->fpr > 0) output_text(", at most %s wrong and %s unknown", rate, unknown);
    if (spec->timeout != 0) {
        output_text(", dropped after %llu %s without a touch", (unsigned long long)spec->timeout,
                    plural(spec->timeout, "tick", "ticks"));
    }
    if (chosen != NULL && spec->capacity != 0 && chosen->lifetime > spec->capacity) {
        number_short((double)chosen->lifetime, puts);
        output_text("; %s keys in its life", puts);
    }
    output_string("\n\n");
}

static void add_able_row(report_table *table, const plans *all, const tamis_plan *plan) {
    table_row *const row = table_add_able(table, all, plan);
    row_rate(row, plan->fpr);
    row_rate(row, plan->unknown);
    row_rate(row, plan->overflow);
    row_lines(row, plan);
}

static void print_table(const plans *all, const tamis_states_spec *spec) {
    const char *const   heads[] = { "  kind",  plans_size_head(all), "bits/key", "fpr", "unknown",
                                    "overflow" };
    report_table *const table = plans_table(heads, 6);
    for (size_t i = 0; i < all->n; i++) {
        if (all->rows[i].status == TAMIS_OK)
            add_able_row(table, all, &all->rows[i]);
        else
            table_add_unable(table, &all->rows[i], why_not(&all->rows[i], spec));
    }
    table_print(table);
    free(table);
}

static void print_for_people(const plans *all, const stage_rows *stages,
                             const tamis_states_spec *spec) {
    number_text             size;
    const tamis_plan *const chosen = plans_chosen(all);
    print_job(spec, chosen);
    print_table(all, spec);
    if (chosen == NULL) return;
    plans_print_chosen(all);
    number_size(16 * (chosen->capacity + chosen->capacity / 7), size);
    output_text("  An exact table of 64-bit hashes and values in 16 bytes, 7/8 full, would take "
                "%s.\n",
                size);
    stages_print(stages);
}

/* ------------------------------------------------------------------ for programs */

static void json_plan(const tamis_plan *plan, const tamis_states_spec *spec) {
    bool const is_possible = plan->status == TAMIS_OK;
    json_open(NULL, '{');
    json_text("kind", plan->kind);
    json_text("summary", plan->summary);
    json_bool("possible", is_possible);
    json_bool("chosen", plan->chosen);
    if (is_possible) {
        json_forecast(plan);
        json_number("unknown", plan->unknown);
    } else {
        json_text("why_not", why_not(plan, spec));
    }
    json_close('}');
}

static void print_json(const plans *all, const stage_rows *stages, const tamis_states_spec *spec) {
    const tamis_plan *const chosen = plans_chosen(all);
    json_open(NULL, '{');
    json_count("capacity", chosen != NULL ? chosen->capacity : spec->capacity);
    json_count("values", spec->values);
    json_number("fpr", spec->fpr);
    json_number("unknown", spec->unknown != 0 ? spec->unknown : spec->fpr);
    json_count("timeout", spec->timeout);
    json_count("memory", spec->memory);
    json_count("grow_to", spec->grow_to);
    plans_json_chosen(all);
    json_open("kinds", '[');
    for (size_t i = 0; i < all->n; i++) json_plan(&all->rows[i], spec);
    json_close(']');
    stages_json(stages);
    json_close('}');
}

/* ------------------------------------------------------------------ for programmers */

static const char code_head[] = "#include <stdio.h>\n"
                                "#include <tamis/tamis.h>\n"
                                "\n"
                                "int main(void) {\n"
                                "    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;\n";

static const char code_create[] =
    "\n"
    "    tamis_states *states;\n"
    "    tamis_problem problem;\n"
    "    uint32_t      value;\n"
    "    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK) {\n"
    "        fprintf(stderr, \"%s\\n\", problem.text);\n"
    "        return 1;\n"
    "    }\n"
    "    if (tamis_states_put(states, \"apple\", 5, 0) != TAMIS_OK) return 1;\n"
    "    if (tamis_states_move(states, \"apple\", 5, 0, 1) != TAMIS_OK) return 1;\n"
    "    if (tamis_states_get(states, \"apple\", 5, &value) == TAMIS_OK) {\n"
    "        printf(\"apple: %u\\n\", (unsigned)value);\n"
    "    }\n";

static const char code_tick[] =
    "\n"
    "    uint64_t backlog; /* one call does a bounded part of the sweep: repeat it */\n"
    "    if (tamis_states_tick(states, 2 * spec.timeout, NULL, &backlog) != TAMIS_OK) return 1;\n"
    "    while (backlog != 0) {\n"
    "        if (tamis_states_tick(states, 0, NULL, &backlog) != TAMIS_OK) return 1;\n"
    "    }\n"
    "    if (tamis_states_get(states, \"apple\", 5, &value) == TAMIS_ERR_ABSENT) {\n"
    "        printf(\"apple: gone\\n\");\n"
    "    }\n";

static const char code_tail[] = "\n"
                                "    tamis_states_free(states);\n"
                                "    return 0;\n"
                                "}\n";

static void code_spec(const tamis_states_spec *spec, const tamis_plan *chosen) {
    uint64_t const first = spec->grow_to != 0 ? spec->capacity : chosen->capacity;
    output_text("    spec.capacity = %llu;\n", (unsigned long long)first);
    if (spec->grow_to != 0)
        output_text("    spec.grow_to = %llu;\n", (unsigned long long)spec->grow_to);
    output_text("    spec.values = UINT64_C(%llu);\n", (unsigned long long)spec->values);
    if (spec->fpr > 0) output_text("    spec.fpr = %.10g;\n", spec->fpr);
    if (spec->unknown > 0) output_text("    spec.unknown = %.10g;\n", spec->unknown);
    if (spec->timeout != 0) {
        output_text("    spec.timeout = %llu; /* ticks */\n", (unsigned long long)spec->timeout);
    }
    code_rare_fields(spec->geometry, spec->lifetime, spec->overflow);
    output_text("    spec.kind = \"%s\"; /* without this line, tamis_states_create() chooses */\n",
                chosen->kind);
}

static void print_code(const plans *all, const tamis_states_spec *spec) {
    const tamis_plan *const chosen = plans_chosen(all);
    number_text             keys, size;
    if (chosen == NULL) return;
    number_short((double)chosen->capacity, keys);
    number_size(chosen->body_bytes, size);
    output_text("/* States for %s %s in %s (%s).\n"
                " * Build it with: cc states.c $(pkg-config --cflags --libs tamis) */\n",
                keys, plural(chosen->capacity, "key", "keys"), size, chosen->kind);
    output_string(code_head);
    code_spec(spec, chosen);
    output_string(code_create);
    if (spec->timeout != 0) output_string(code_tick);
    output_string(code_tail);
}

/* ------------------------------------------------------------------ all together */

int plan_states_run(const options *asked) {
    static plans            all;
    static stage_rows       stages;
    tamis_states_spec const spec = states_spec(asked);
    if (asked->is_counted) die("-n auto: plan reads no keys; write a number");
    if (spec.capacity == 0 && spec.memory == 0) {
        die("say for how many keys: -n 1M, or --grow-to 1G, or how much memory: --memory 16MiB");
    }
    plans_make(&spec, &all);
    stages_make_states(&spec, &stages);
    if (is_given(asked, OPTION_BIT(JSON)))
        print_json(&all, &stages, &spec);
    else if (is_given(asked, OPTION_BIT(CODE)))
        print_code(&all, &spec);
    else
        print_for_people(&all, &stages, &spec);
    if (plans_chosen(&all) != NULL) return EXIT_DONE;
    output_flush();
    if (*stages.problem.text != '\0')
        warn("%s", stages.problem.text);
    else
        warn("no kind of states can do all of that; ask for higher rates, or for fewer values");
    return EXIT_NONE;
}
