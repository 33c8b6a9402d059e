/* cmd_plan.c - tamis plan: what each kind would take for a job, and which one to choose; tamis
 * kinds. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "geometry.h"
#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "plan_rows.h"
#include "setfile.h"

/* Kinds whose copies use up capacity are chosen for counting only if they are named. */
static bool is_passed_over(const tamis_plan *plan, const tamis_spec *spec) {
    bool const is_counting = (spec->abilities & TAMIS_CAN_COUNT) != 0;
    return is_counting && plan->copies_take_room && spec->kind == NULL && !plan->chosen;
}

static void plans_make(const tamis_spec *spec, plans *ret_plans) {
    tamis_problem problem;
    ret_plans->is_named = spec->kind != NULL;
    ret_plans->prefer = spec->prefer;
    if (tamis_plan_kinds(spec, ret_plans->rows, PLANS_MAX, &ret_plans->n, &problem) != TAMIS_OK) {
        die_of_spec(&problem);
    }
    if (ret_plans->n > PLANS_MAX) ret_plans->n = PLANS_MAX;
    for (size_t i = 0; i < ret_plans->n; i++) {
        tamis_plan *const plan = &ret_plans->rows[i];
        if (plan->status == TAMIS_OK && is_passed_over(plan, spec)) plan->status = TAMIS_ERR_CANNOT;
    }
}

/* ------------------------------------------------------------------ how many keys fit */

static bool fits(const tamis_spec *spec, uint64_t capacity, uint64_t memory) {
    static plans trial;
    tamis_spec   with = *spec;
    with.capacity = capacity;
    plans_make(&with, &trial);
    const tamis_plan *const chosen = plans_chosen(&trial);
    return chosen != NULL && chosen->body_bytes <= memory;
}

/* Not even one key fits: either no kind can do the job, or the memory is too small. */
static _Noreturn void die_of_memory(const tamis_spec *spec, uint64_t memory) {
    static plans trial;
    tamis_spec   with = *spec;
    number_text  given, least;
    with.capacity = 1;
    plans_make(&with, &trial);
    const tamis_plan *const chosen = plans_chosen(&trial);
    if (chosen == NULL) {
        die("no kind can do all of that, in any memory; ask for less, or see why: 'tamis plan -n' "
            "with the same options");
    }
    number_size(memory, given);
    number_size(chosen->body_bytes, least);
    die("--memory %s is not enough: even for one key, %s takes %s", given, chosen->kind, least);
}

/* The largest number of keys for which the chosen kind fits, to a thousandth: double it until it
 * does not fit, then halve the interval. */
static uint64_t capacity_for(const tamis_spec *spec, uint64_t memory) {
    uint64_t low = 1, high = 2;
    if (!fits(spec, low, memory)) die_of_memory(spec, memory);
    while (high < UINT64_C(1) << 40 && fits(spec, high, memory)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1 + low / 1000) {
        uint64_t const middle = low + (high - low) / 2;
        if (fits(spec, middle, memory))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ------------------------------------------------------------------ why */

typedef char why_text[TABLE_WORD_BYTES];

/* Why a kind cannot do it, in a few words. */
static void why_not(const tamis_plan *plan, const tamis_spec *spec, uint64_t memory,
                    why_text ret_text) {
    size_t const   n = sizeof(why_text);
    unsigned const missing = spec->abilities & ~plan->abilities;
    abilities_text names;
    number_text    size;
    abilities_name(missing, names);
    number_size(plan->body_bytes - memory, size);
    if (plan->status == TAMIS_OK)
        (void)snprintf(ret_text, n, "does not fit: %s too large", size);
    else if (geometry_complain(plan->kind, spec->geometry, ret_text, n))
        return;
    else if (plan->status == TAMIS_ERR_LIMIT)
        (void)snprintf(ret_text, n, "too large to address");
    else if (missing != 0)
        (void)snprintf(ret_text, n, "cannot %s", names);
    else if (is_passed_over(plan, spec))
        (void)snprintf(ret_text, n, "copies use up capacity: chosen only if named");
    else if (plan->overflow > 0 && plan->fpr <= spec->fpr)
        (void)snprintf(ret_text, n, "overflows too often");
    else
        (void)snprintf(ret_text, n, "cannot reach that rate%s",
                       spec->geometry ? " with that geometry" : "");
}

/* ------------------------------------------------------------------ for people */

/* The job in words: "1M keys, at most 0.1% false positives, to add, ask and remove". */
static void print_job(const tamis_spec *spec, const plans *all) {
    number_text             keys, rate, adds, memory;
    abilities_text          names;
    const tamis_plan *const chosen = plans_chosen(all);
    number_short((double)spec->capacity, keys);
    number_rate(spec->fpr, rate);
    number_size(all->memory, memory);
    abilities_name(spec->abilities, names);
    output_text("%s %s", keys, plural(spec->capacity, "key", "keys"));
    if (spec->fpr > 0) output_text(", at most %s false positives", rate);
    if (spec->abilities != 0) output_text(", able to %s", names);
    if (all->memory != 0) output_text(", in at most %s", memory);
    if (chosen != NULL && chosen->lifetime > spec->capacity) {
        number_short((double)chosen->lifetime, adds);
        output_text("; %s adds in its life", adds);
    }
    output_string("\n\n");
}

static void add_able_row(report_table *table, const tamis_plan *plan) {
    table_row *const row = table_add_able(table, plan);
    number_text      fpr;
    number_rate(plan->fpr, fpr);
    row_add(row, fpr);
    row_rate(row, plan->overflow);
    row_rate(row, plan->saturation);
    row_lines(row, plan);
}

static void print_table(const plans *all, const tamis_spec *spec) {
    static const char *const heads[TABLE_COLUMNS] = { "  kind", "size",     "bits/key",
                                                      "fpr",    "overflow", "saturation",
                                                      "hit",    "miss",     "add" };
    report_table *const      table = plans_table(heads);
    for (size_t i = 0; i < all->n; i++) {
        if (plans_is_able(all, &all->rows[i])) {
            add_able_row(table, &all->rows[i]);
        } else {
            why_text why;
            why_not(&all->rows[i], spec, all->memory, why);
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
static const tamis_plan *plan_small(const tamis_spec *spec, uint64_t memory) {
    static plans small;
    tamis_spec   with = *spec;
    if (spec->kind != NULL || spec->prefer == TAMIS_PREFER_SMALL) return NULL;
    with.prefer = TAMIS_PREFER_SMALL;
    if (memory != 0) with.capacity = capacity_for(&with, memory);
    plans_make(&with, &small);
    return plans_chosen(&small);
}

/* "With --small it takes rank, 1.65 MiB." */
static void print_small(const tamis_plan *small, const plans *all) {
    number_text size, keys;
    number_size(small->body_bytes, size);
    number_short((double)small->capacity, keys);
    output_text("  With --small it takes %s, %s", small->kind, size);
    if (all->memory != 0) output_text(", for %s %s", keys, plural(small->capacity, "key", "keys"));
    output_string(".\n");
}

static void print_for_people(const plans *all, const tamis_spec *spec) {
    print_job(spec, all);
    print_table(all, spec);
    if (plans_chosen(all) == NULL) return;
    plans_print_chosen(all);
    const tamis_plan *const small = plan_small(spec, all->memory);
    if (small != NULL) print_small(small, all);
    print_comparison(plans_chosen(all));
}

/* ------------------------------------------------------------------ for programs */

static void json_plan(const tamis_plan *plan, const tamis_spec *spec, const plans *all) {
    bool const is_possible = plans_is_able(all, plan);
    why_text   why;
    json_open(NULL, '{');
    json_text("kind", plan->kind);
    json_text("summary", plan->summary);
    json_abilities(plan->abilities);
    json_bool("possible", is_possible);
    json_bool("chosen", plan->chosen);
    if (!is_possible) {
        why_not(plan, spec, all->memory, why);
        json_text("why_not", why);
    }
    if (plan->status == TAMIS_OK) json_forecast(plan);
    json_close('}');
}

static void print_json(const plans *all, const tamis_spec *spec) {
    json_open(NULL, '{');
    json_count("capacity", spec->capacity);
    json_number("fpr", spec->fpr);
    json_abilities(spec->abilities);
    plans_json_chosen(all);
    const tamis_plan *const small = plan_small(spec, all->memory);
    if (small != NULL) {
        json_open("with_small", '{');
        json_text("kind", small->kind);
        json_count("capacity", small->capacity);
        json_count("body_bytes", small->body_bytes);
        json_close('}');
    }
    json_open("kinds", '[');
    for (size_t i = 0; i < all->n; i++) json_plan(&all->rows[i], spec, all);
    json_close(']');
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

static void code_spec(const tamis_spec *spec, const tamis_plan *chosen) {
    output_text("    spec.capacity = %llu;\n", (unsigned long long)spec->capacity);
    if (spec->fpr > 0) output_text("    spec.fpr = %.10g;\n", spec->fpr);
    code_abilities(spec->abilities);
    code_rare_fields(spec->geometry, spec->lifetime, spec->overflow);
    output_text("    spec.kind = \"%s\"; /* without this line, tamis_create() chooses */\n",
                chosen->kind);
}

static void print_code(const plans *all, const tamis_spec *spec) {
    const tamis_plan *const chosen = plans_chosen(all);
    number_text             keys, size;
    if (chosen == NULL) return;
    number_short((double)spec->capacity, keys);
    number_size(chosen->body_bytes, size);
    output_text("/* A set for %s %s in %s (%s).\n"
                " * Build it with: cc set.c $(pkg-config --cflags --libs tamis) */\n",
                keys, plural(spec->capacity, "key", "keys"), size, chosen->kind);
    output_string(code_head);
    code_spec(spec, chosen);
    output_string(code_create);
    if (spec->abilities & TAMIS_CAN_COUNT) output_string(code_count);
    if (spec->abilities & TAMIS_CAN_REMOVE) output_string(code_remove);
    output_string(code_tail);
}

/* ------------------------------------------------------------------ plan */

static void find_capacity(const options *asked, tamis_spec *spec) {
    if (asked->is_counted) die("-n auto: plan reads no keys; write a number");
    if (!is_given(asked, OPTION_BIT(CAPACITY) | OPTION_BIT(MEMORY))) {
        die("for how many keys? Say -n 1M, or give the memory: --memory 16MiB");
    }
    if (!is_given(asked, OPTION_BIT(MEMORY))) return;
    spec->capacity = capacity_for(spec, asked->memory);
}

static int plan_run(const options *asked) {
    static plans all;
    tamis_spec   spec = asked->spec;
    if (is_given(asked, OPTION_BIT(VALUES))) return plan_states_run(asked);
    find_capacity(asked, &spec);
    plans_make(&spec, &all);
    all.memory = asked->memory;
    plans_sort(&all);
    if (is_given(asked, OPTION_BIT(JSON)))
        print_json(&all, &spec);
    else if (is_given(asked, OPTION_BIT(CODE)))
        print_code(&all, &spec);
    else
        print_for_people(&all, &spec);
    if (plans_chosen(&all) != NULL) return EXIT_DONE;
    output_flush();
    warn("no kind can do all of that; ask for less");
    return EXIT_NONE;
}

const command command_plan = {
    .name = "plan",
    .operands = "-n KEYS [-e RATE] ",
    .summary = "Compare the kinds of sets for a job, and choose one",
    .text = "Nothing is made. For each kind that can do the job it prints the size, the\n"
            "false-positive rate (fpr) when full, the probability that an add is ever refused\n"
            "(overflow) or that a counter ever reaches its end (saturation), and the cache lines\n"
            "that are touched to find a key (hit), to miss one and to add one. Ends with 1 if no\n"
            "kind can do it. With --values it plans a table of states instead, in which each key\n"
            "has a value; unknown is how often the answer is \"don't know\" (docs/states.md).\n",
    .examples = "  tamis plan -n 1M -e 0.1%                 a million keys\n"
                "  tamis plan -n 1M -e 0.1% --remove        the same, and remove them again\n"
                "  tamis plan --memory 16MiB -e 1e-6        how many keys do 16 MiB hold?\n"
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
 * So each ability is tried. */
static void find_abilities(const tamis_spec *spec, plans *all) {
    static plans   trial;
    tamis_spec     with = *spec;
    unsigned const each[] = { TAMIS_CAN_REMOVE, TAMIS_CAN_COUNT, TAMIS_CAN_MERGE };
    for (unsigned i = 0; i < 3; i++) {
        with.abilities = each[i];
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
    .text = "Every set can add keys and answer whether it has one; what more a kind can do is\n"
            "in brackets. 'tamis plan' compares them for a job.\n",
    .examples = "  tamis kinds\n",
    .options = OPTION_BIT(JSON),
    .run = kinds_run,
};
