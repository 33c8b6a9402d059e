/* cmd_plan.c - tamis plan: what each kind would take for a job, and which one to choose; tamis
 * kinds. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "geometry.h"
#include "growth.h"
#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "plan_rows.h"
#include "setfile.h"
#include "stage_rows.h"

/* Kinds whose copies use up capacity are chosen for counting only if they are named. */
static bool is_passed_over(const tamis_plan *plan, const tamis_spec *spec) {
    bool const is_counting = (spec->abilities & TAMIS_CAN_COUNT) != 0;
    return is_counting && plan->copies_take_room && spec->kind == NULL && !plan->chosen;
}

static void plans_make(const tamis_spec *spec, plans *ret_plans) {
    tamis_problem problem;
    ret_plans->is_named = spec->kind != NULL;
    ret_plans->is_any_passed_over = false;
    ret_plans->prefer = spec->prefer;
    ret_plans->open = plans_open(spec->memory, spec->capacity, spec->fpr);
    if (tamis_plan_kinds(spec, ret_plans->rows, PLANS_MAX, &ret_plans->n, &problem) != TAMIS_OK) {
        die_of_spec(&problem);
    }
    if (ret_plans->n > PLANS_MAX) ret_plans->n = PLANS_MAX;
    for (size_t i = 0; i < ret_plans->n; i++) {
        tamis_plan *const plan = &ret_plans->rows[i];
        if (plan->status != TAMIS_OK || !is_passed_over(plan, spec)) continue;
        plan->status = TAMIS_ERR_CANNOT;
        ret_plans->is_any_passed_over = true;
    }
}

/* ------------------------------------------------------------------ why */

typedef char why_text[TABLE_WORD_BYTES];

#define COUNT_TO_DEFAULT 255 /* of a spec that says nothing (tamis.h) */

/* The count that must be exact; 0: none. */
static uint64_t count_asked(const tamis_spec *spec) {
    if ((spec->abilities & TAMIS_CAN_COUNT) == 0) return 0;
    return spec->count_to != 0 ? spec->count_to : COUNT_TO_DEFAULT;
}

/* Could this kind do it with that many copies of every key, and counting that far? */
static bool can_with(const tamis_plan *plan, const tamis_spec *spec, uint64_t copies,
                     uint64_t count_to) {
    tamis_spec with = *spec;
    tamis_plan row;
    size_t     n;
    with.kind = plan->kind;
    with.copies = copies;
    with.count_to = count_to;
    return tamis_plan_kinds(&with, &row, 1, &n, NULL) == TAMIS_OK && row.status == TAMIS_OK;
}

/* Why a kind is out of reach, in a few words, for a job that it has the abilities for. What is
 * asked for is left out, one wish after the other, to find the one that is too much. */
static void why_out_of_reach(const tamis_plan *plan, const tamis_spec *spec, why_text ret_text) {
    size_t const n = sizeof(why_text);
    if (plan->overflow > 0 && plan->fpr <= spec->fpr)
        (void)snprintf(ret_text, n, "overflows too often");
    else if (spec->copies > 1 && can_with(plan, spec, 1, spec->count_to))
        (void)snprintf(ret_text, n, "cannot plan for that many copies of each key");
    else if (spec->count_to > 1 && can_with(plan, spec, spec->copies, 1))
        (void)snprintf(ret_text, n, "cannot count that far at that rate");
    else
        (void)snprintf(ret_text, n, "cannot reach that rate%s",
                       spec->geometry ? " with that geometry" : "");
}

/* Why a kind cannot do it, in a few words. */
static void why_not(const tamis_plan *plan, const tamis_spec *spec, why_text ret_text) {
    size_t const   n = sizeof(why_text);
    unsigned const missing = spec->abilities & ~plan->abilities;
    abilities_text names;
    number_text    size;
    bool const     is_counting_less = plan->count_to != 0 && plan->count_to < count_asked(spec);
    abilities_name(missing, names);
    number_size(plan->body_bytes, size);
    if (geometry_complain(plan->kind, spec->geometry, ret_text, n))
        return;
    else if (plan->status == TAMIS_ERR_LIMIT)
        (void)snprintf(ret_text, n, "too large to address");
    else if (missing != 0)
        (void)snprintf(ret_text, n, "cannot %s", names);
    else if (is_counting_less && spec->count_to != 0)
        (void)snprintf(ret_text, n, "counts only to %llu", (unsigned long long)plan->count_to);
    else if (spec->grow_to != 0)
        (void)snprintf(ret_text, n, "%s", stages_why_not(plan->kind, false));
    else if (spec->memory != 0 && plan->body_bytes > spec->memory)
        (void)snprintf(ret_text, n, "does not fit: takes %s%s", size,
                       spec->capacity == 0 ? " for one key" : "");
    else if (is_passed_over(plan, spec))
        (void)snprintf(ret_text, n, "copies use up capacity: chosen only if named");
    else if (is_counting_less)
        (void)snprintf(ret_text, n, "counts only to %llu", (unsigned long long)plan->count_to);
    else
        why_out_of_reach(plan, spec, ret_text);
}

/* ------------------------------------------------------------------ for people */

/* The job in words: "1M keys, at most 0.1% false positives, able to remove; 16M keys in its life".
 */
static void print_job(const tamis_spec *spec, const plans *all) {
    number_text             keys, grow_to, copies, count_to, rate, arrivals, memory;
    abilities_text          names;
    const tamis_plan *const chosen = plans_chosen(all);
    number_short((double)spec->capacity, keys);
    number_exact(spec->copies, copies);
    number_exact(spec->count_to, count_to);
    number_rate(spec->fpr, rate);
    number_size(spec->memory, memory);
    abilities_name(spec->abilities, names);
    if (spec->capacity != 0)
        output_text("%s %s", keys, plural(spec->capacity, "key", "keys"));
    else
        output_string("As many keys as fit");
    number_short((double)spec->grow_to, grow_to);
    if (spec->grow_to != 0) output_text(", growing to %s", grow_to);
    if (spec->memory != 0) output_text(", in at most %s", memory);
    if (spec->copies > 1) output_text(", with up to %s copies each", copies);
    if (spec->fpr > 0) output_text(", at most %s false positives", rate);
    if (spec->abilities != 0) output_text(", able to %s", names);
    if (spec->count_to != 0) output_text(", counting up to %s", count_to);
    if (chosen != NULL && spec->capacity != 0 && chosen->lifetime > spec->capacity) {
        number_short((double)chosen->lifetime, arrivals);
        output_text("; %s keys in its life", arrivals);
    }
    output_string("\n\n");
}

static void add_able_row(report_table *table, const plans *all, const tamis_plan *plan,
                         bool is_counting) {
    table_row *const row = table_add_able(table, all, plan);
    number_text      fpr, count_to;
    number_rate(plan->fpr, fpr);
    row_add(row, fpr);
    row_rate(row, plan->overflow);
    row_rate(row, plan->saturation);
    number_exact(plan->count_to, count_to);
    if (is_counting) row_add(row, count_to);
    row_lines(row, plan);
}

static void print_table(const plans *all, const tamis_spec *spec) {
    bool const          is_counting = (spec->abilities & TAMIS_CAN_COUNT) != 0;
    const char *const   heads[] = { "  kind",   plans_size_head(all), "bits/key", "fpr",
                                    "overflow", "saturation",         "counts to" };
    report_table *const table = plans_table(heads, is_counting ? 7 : 6);
    for (size_t i = 0; i < all->n; i++) {
        if (all->rows[i].status == TAMIS_OK) {
            add_able_row(table, all, &all->rows[i], is_counting);
        } else {
            why_text why;
            why_not(&all->rows[i], spec, why);
            table_add_unable(table, &all->rows[i], why);
        }
    }
    table_print(table);
    free(table);
}

/* For comparison: an exact set must keep the 64-bit hash of every key, in a table with some free
 * places. */
static void print_comparison(const tamis_plan *chosen) {
    number_text    size;
    uint64_t const exact_bytes = 8 * (chosen->capacity + chosen->capacity / 7);
    number_size(exact_bytes, size);
    output_text("  An exact table of 64-bit hashes, 7/8 full, would take %s.\n", size);
}

/* What --small would choose; NULL if that was asked for, or a kind was named. It is laid out in its
 * own way, so the rows of the other plan say nothing about it. */
static const tamis_plan *plan_small(const tamis_spec *spec) {
    static plans small;
    tamis_spec   with = *spec;
    if (spec->kind != NULL || spec->prefer == TAMIS_PREFER_SMALL) return NULL;
    with.prefer = TAMIS_PREFER_SMALL;
    plans_make(&with, &small);
    return plans_chosen(&small);
}

static void print_for_people(const plans *all, const stage_rows *stages, const tamis_spec *spec) {
    print_job(spec, all);
    print_table(all, spec);
    if (plans_chosen(all) == NULL) return;
    plans_print_chosen(all);
    const tamis_plan *const small = plan_small(spec);
    if (small != NULL) plans_print_small(all, small);
    print_comparison(plans_chosen(all));
    stages_print(stages);
}

/* ------------------------------------------------------------------ for programs */

static void json_plan(const tamis_plan *plan, const tamis_spec *spec) {
    bool const is_possible = plan->status == TAMIS_OK;
    why_text   why;
    json_open(NULL, '{');
    json_text("kind", plan->kind);
    json_text("summary", plan->summary);
    json_abilities(plan->abilities);
    json_bool("possible", is_possible);
    json_bool("chosen", plan->chosen);
    if (!is_possible) {
        why_not(plan, spec, why);
        json_text("why_not", why);
    }
    if (is_possible) json_forecast(plan);
    json_close('}');
}

static void print_json(const plans *all, const stage_rows *stages, const tamis_spec *spec) {
    json_open(NULL, '{');
    const tamis_plan *const chosen = plans_chosen(all);
    json_count("capacity", chosen != NULL ? chosen->capacity : spec->capacity);
    json_number("fpr", spec->fpr);
    json_count("memory", spec->memory);
    json_count("grow_to", spec->grow_to);
    json_count("copies", spec->copies > 1 ? spec->copies : 1);
    json_count("count_to", spec->count_to);
    json_abilities(spec->abilities);
    plans_json_chosen(all);
    const tamis_plan *const small = plan_small(spec);
    if (small != NULL) {
        json_open("with_small", '{');
        json_text("kind", small->kind);
        json_count("capacity", small->capacity);
        json_count("body_bytes", small->body_bytes);
        json_number("fpr", small->fpr);
        json_close('}');
    }
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
                                "    tamis_spec spec = TAMIS_SPEC_INIT;\n";

static const char code_create[] =
    "\n"
    "    tamis_set    *set;\n"
    "    tamis_problem problem;\n"
    "    if (tamis_create(&spec, &set, &problem) != TAMIS_OK) {\n"
    "        fprintf(stderr, \"%s\\n\", problem.text);\n"
    "        return 1;\n"
    "    }\n"
    "    if (tamis_add(set, \"apple\", 5) != TAMIS_OK) fprintf(stderr, \"the set is full\\n\");\n"
    "    printf(\"apple: %s\\n\", tamis_has(set, \"apple\", 5) ? \"yes\" : \"no\");\n"
    "    printf(\"pear:  %s\\n\", tamis_has(set, \"pear\", 4) ? \"yes\" : \"no\");\n";

static const char code_count[] =
    "\n"
    "    uint64_t copies;\n"
    "    if (tamis_count(set, \"apple\", 5, &copies) == TAMIS_OK) {\n"
    "        printf(\"apples: %llu\\n\", (unsigned long long)copies);\n"
    "    }\n";

static const char code_remove[] =
    "\n"
    "    if (tamis_remove(set, \"apple\", 5) != TAMIS_OK) fprintf(stderr, \"no apple\\n\");\n"
    "    printf(\"apple: %s\\n\", tamis_has(set, \"apple\", 5) ? \"yes\" : \"no\");\n";

static const char code_tail[] = "\n"
                                "    tamis_free(set);\n"
                                "    return 0;\n"
                                "}\n";

static void code_abilities(unsigned abilities) {
    static const char *const names[] = { "REMOVE", "COUNT", "MERGE" };
    const char              *before = "    spec.abilities = ";
    for (unsigned i = 0; i < 3; i++) {
        if ((abilities >> i & 1) == 0) continue;
        output_text("%sTAMIS_CAN_%s", before, names[i]);
        before = " | ";
    }
    if (abilities != 0) output_string(";\n");
}

static void code_number(const char *field, uint64_t value) {
    if (value != 0) output_text("    spec.%s = %llu;\n", field, (unsigned long long)value);
}

static void code_spec(const tamis_spec *spec, const tamis_plan *chosen) {
    uint64_t const first = spec->grow_to != 0 ? spec->capacity : chosen->capacity;
    output_text("    spec.capacity = %llu;\n", (unsigned long long)first);
    code_number("grow_to", spec->grow_to);
    if (spec->fpr > 0) output_text("    spec.fpr = %.10g;\n", spec->fpr);
    code_abilities(spec->abilities);
    code_number("copies", spec->copies);
    code_number("count_to", spec->count_to);
    code_number("memory", spec->memory);
    code_rare_fields(spec->geometry, spec->lifetime, spec->overflow);
    output_text("    spec.kind = \"%s\"; /* without this line, tamis_create() chooses */\n",
                chosen->kind);
}

static void print_code(const plans *all, const tamis_spec *spec) {
    const tamis_plan *const chosen = plans_chosen(all);
    number_text             keys, size;
    if (chosen == NULL) return;
    number_short((double)chosen->capacity, keys);
    number_size(chosen->body_bytes, size);
    output_text("/* A set for %s %s in %s (%s).\n"
                " * Build it with: cc set.c $(pkg-config --cflags --libs tamis) */\n",
                keys, plural(chosen->capacity, "key", "keys"), size, chosen->kind);
    output_string(code_head);
    code_spec(spec, chosen);
    output_string(code_create);
    if (spec->abilities & TAMIS_CAN_COUNT) output_string(code_count);
    if (spec->abilities & TAMIS_CAN_REMOVE) output_string(code_remove);
    output_string(code_tail);
}

/* ------------------------------------------------------------------ plan */

/* No kind can do it. The library says why, where it tries to choose one. */
static void tell_why_none(const tamis_spec *spec) {
    tamis_problem problem;
    size_t        n;
    if (tamis_plan_stages(spec, NULL, 0, &n, &problem) != TAMIS_OK) warn("%s", problem.text);
}

static int plan_run(const options *asked) {
    static plans      all;
    static stage_rows stages;
    tamis_spec        spec = asked->spec;
    if (is_given(asked, OPTION_BIT(VALUES))) return plan_states_run(asked);
    if (asked->is_counted) die("-n auto: plan reads no keys; write a number");
    if (!is_given(asked, OPTION_BIT(CAPACITY) | OPTION_BIT(MEMORY) | OPTION_BIT(GROW_TO))) {
        die("say for how many keys: -n 1M, or --grow-to 1G, or how much memory: --memory 16MiB");
    }
    if (spec.capacity == 0 && spec.grow_to != 0) spec.capacity = growth_first(spec.grow_to);
    plans_make(&spec, &all);
    plans_sort(&all);
    stages_make(&spec, &stages);
    if (is_given(asked, OPTION_BIT(JSON)))
        print_json(&all, &stages, &spec);
    else if (is_given(asked, OPTION_BIT(CODE)))
        print_code(&all, &spec);
    else
        print_for_people(&all, &stages, &spec);
    if (plans_chosen(&all) != NULL) return EXIT_DONE;
    output_flush();
    tell_why_none(&spec);
    return EXIT_NONE;
}

const command command_plan = {
    .name = "plan",
    .operands = "-n KEYS [-e RATE] ",
    .summary = "Compare the kinds of sets for a job, and choose one",
    .text =
        "Makes no set. For each kind that can do the job it prints the size, the\n"
        "false-positive rate (fpr) when full, the probability that an add is ever refused\n"
        "(overflow) or that a counter ever reaches its maximum (saturation), and how many\n"
        "cache lines are touched to look up a present key (hit) or an absent key (miss) and to\n"
        "add a key. Ends with 1 if no kind can do it. With --grow-to the table is for the\n"
        "largest size, and a second table has a row for each size until then. With --values it\n"
        "plans a table of states instead, in which each key has a value; unknown is how often\n"
        "the answer is \"don't know\" (docs/states.md).\n",
    .examples =
        "  tamis plan -n 1M -e 0.1%                 a million keys\n"
        "  tamis plan -n 1M -e 0.1% --remove        the same, and they can be removed\n"
        "  tamis plan --memory 16MiB -e 1e-6        how many keys fit into 16 MiB?\n"
        "  tamis plan --memory 16MiB -n 10M         which rate do 10M keys have in 16 MiB?\n"
        "  tamis plan -n 1k --grow-to 1G            what does it cost to grow?\n"
        "  tamis plan -n 10M --count --code >set.c  the C program for it\n"
        "  tamis plan -n 1M --values 8 --timeout 60 the states of a million connections\n",
    .options = OPTIONS_OF_SPEC | OPTIONS_OF_STATES | OPTION_BIT(MEMORY) | OPTION_BIT(JSON) |
               OPTION_BIT(CODE),
    .run = plan_run,
};

/* ------------------------------------------------------------------ kinds */

static void print_kind(const tamis_plan *plan) {
    abilities_text names;
    abilities_name(plan->abilities, names);
    output_text("%-10s %s%s%s%s\n", plan->kind, plan->summary, *names ? " (can " : "", names,
                *names ? ")" : "");
}

static void json_kind(const tamis_plan *plan) {
    json_open(NULL, '{');
    json_text("kind", plan->kind);
    json_text("summary", plan->summary);
    json_abilities(plan->abilities);
    json_close('}');
}

/* What a kind can do may depend on its geometry, which depends on the abilities that are asked for.
 * So each ability is tried; some kinds count, but not as far as the default. */
static void find_abilities(const tamis_spec *spec, plans *all) {
    static plans   trial;
    tamis_spec     with = *spec;
    unsigned const each[] = { TAMIS_CAN_REMOVE, TAMIS_CAN_COUNT, TAMIS_CAN_MERGE };
    for (unsigned i = 0; i < 3; i++) {
        with.abilities = each[i];
        with.count_to = each[i] == TAMIS_CAN_COUNT ? 1 : 0;
        plans_make(&with, &trial);
        for (size_t k = 0; k < all->n; k++) {
            if (trial.rows[k].status == TAMIS_OK) all->rows[k].abilities |= each[i];
        }
    }
}

static int kinds_run(const options *asked) {
    static plans all;
    tamis_spec   spec = asked->spec;
    bool const   is_json = is_given(asked, OPTION_BIT(JSON));
    spec.capacity = 1000; /* any number: only names and abilities are printed */
    plans_make(&spec, &all);
    find_abilities(&spec, &all);
    if (is_json) json_open(NULL, '[');
    for (size_t i = 0; i < all.n; i++) {
        if (is_json)
            json_kind(&all.rows[i]);
        else
            print_kind(&all.rows[i]);
    }
    if (is_json) json_close(']');
    return EXIT_DONE;
}

const command command_kinds = {
    .name = "kinds",
    .operands = "",
    .summary = "List the kinds of sets",
    .text = "Every set can add keys and look them up; other abilities of a kind are in brackets.\n"
            "'tamis plan' compares the kinds for a job.\n",
    .examples = "  tamis kinds\n",
    .options = OPTION_BIT(JSON),
    .run = kinds_run,
};
