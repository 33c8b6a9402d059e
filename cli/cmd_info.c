/* cmd_info.c - tamis info: all about sets and states in files. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "growth.h"
#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "setfile.h"

#define INFO_COLUMNS 90
#define MAX_TALLY 64 /* of values whose numbers of keys are listed */

/* ------------------------------------------------------------------ what both have */

static const char *hash_name(tamis_hash hash) {
    return hash == TAMIS_HASH_SIPHASH ? "siphash" : "xxh3";
}

/* A list of words, as "bits=1024, hashes=9", on as many lines as it needs. */
typedef struct info_list {
    const char *name;
    size_t      column;
} info_list;

static void list_add(info_list *list, const char *text, size_t length) {
    bool const is_first = list->column == 0;
    if (is_first || list->column + length + 3 > INFO_COLUMNS) {
        output_text("%s  %-11s ", is_first ? "" : ",\n", is_first ? list->name : "");
        list->column = 14 + length;
    } else {
        output_string(", ");
        list->column += 2 + length;
    }
    output_string(text);
}

static void print_geometry(const tamis_plan *plan) {
    info_list list = { .name = "geometry" };
    for (unsigned i = 0; i < plan->n_fields; i++) {
        char      text[80];
        int const length = snprintf(text, sizeof text, "%s=%llu", plan->fields[i].name,
                                    (unsigned long long)plan->fields[i].value);
        list_add(&list, text, (size_t)length);
    }
    output_string("\n");
}

/* ", made for 2,000 (50%)". Beyond its capacity a set may hold copies, so there is no share. */
static void print_capacity(uint64_t keys, uint64_t capacity) {
    number_text text;
    number_exact(capacity, text);
    output_text(", made for %s", text);
    if (keys <= capacity) output_text(" (%.0f%%)", 100 * (double)keys / (double)capacity);
    output_string("\n");
}

/* In a step of growing there are two tables. */
static void print_size(const tamis_plan *plan, uint64_t body_bytes) {
    number_text body, next, file;
    number_size(plan->body_bytes, body);
    number_size(body_bytes - plan->body_bytes, next);
    if (body_bytes != plan->body_bytes) {
        output_text("  size        %s, %.1f bits per key when full; and %s for the next stage\n",
                    body, plan->bits_per_key, next);
        return;
    }
    number_size(plan->file_bytes, file);
    output_text("  size        %s, %.1f bits per key when full; the file is %s\n", body,
                plan->bits_per_key, file);
}

/* The growth of a set or a table of states: its present stage, and how far it can grow. */
typedef struct info_growth {
    uint64_t grow_to;
    unsigned stage, stages;
    bool     is_growing;
    double   cost, fpr; /* bits per key for the room to grow; the rate at grow_to */
} info_growth;

/* "growth      stage 3 of 7, to 5,120,016 keys at 0.1%; that room costs 4.7 bits per key" */
static void print_growth(const info_growth *growth, const tamis_plan *plan) {
    number_text grow_to, next, rate;
    if (growth->grow_to == 0) return;
    number_exact(growth->grow_to, grow_to);
    number_exact(2 * plan->capacity, next);
    number_rate(growth->fpr, rate);
    output_text("  growth      stage %u of %u", growth->stage, growth->stages);
    if (growth->stage == growth->stages)
        output_string(", the last: it cannot grow further");
    else
        output_text(", to %s keys at %s; that room costs %.1f bits per key", grow_to, rate,
                    growth->cost);
    output_string("\n");
    if (growth->is_growing) output_text("              it is growing to %s keys now\n", next);
}

static void json_growth(const info_growth *growth) {
    json_count("grow_to", growth->grow_to);
    if (growth->grow_to == 0) return;
    json_count("stage", growth->stage);
    json_count("stages", growth->stages);
    json_bool("is_growing", growth->is_growing);
    json_number("growth_bits_per_key", growth->cost);
    json_number("fpr_at_grow_to", growth->fpr);
}

/* "overflow    3.1e-12 in 16,000,000 keys; 0 adds refused so far" */
static void print_risk(const char *name, double risk, const tamis_plan *plan, const char *noun,
                       const char *so_far) {
    number_text text, lifetime;
    number_rate(risk, text);
    number_exact(plan->lifetime, lifetime);
    if (risk == 0)
        output_text("  %-11s never; %s so far\n", name, so_far);
    else
        output_text("  %-11s %s in %s %s; %s so far\n", name, text, lifetime, noun, so_far);
}

static void print_lines_and_hash(const tamis_plan *plan, const char *adding, tamis_hash hash,
                                 tamis_seed seed) {
    number_text text;
    number_seed(seed, text);
    output_text("  lines       %.1f to find a key, %.1f to miss one, %.1f to %s one\n",
                plan->lines_present, plan->lines_absent, plan->lines_add, adding);
    output_text("  hash        %s, seed %s\n", hash_name(hash), text);
}

static void json_hash(tamis_hash hash, tamis_seed seed) {
    number_text text;
    number_seed(seed, text);
    json_text("hash", hash_name(hash));
    json_text("seed", text);
}

/* ------------------------------------------------------------------ sets */

static void print_set_events(const tamis_info *info) {
    number_text number;
    char        so_far[80];
    number_exact(info->facts.refused_adds, number);
    (void)snprintf(so_far, sizeof so_far, "%s %s refused", number,
                   plural(info->facts.refused_adds, "add", "adds"));
    print_risk("overflow", info->plan.overflow, &info->plan, "keys", so_far);
    number_exact(info->facts.moved, number);
    if (info->facts.moved != 0)
        output_text("  moved       %s %s moved to make room so far\n", number,
                    plural(info->facts.moved, "entry was", "entries were"));
    number_exact(info->facts.saturated, number);
    (void)snprintf(so_far, sizeof so_far, "%s %s saturated", number,
                   plural(info->facts.saturated, "entry", "entries"));
    print_risk("saturation", info->plan.saturation, &info->plan, "keys", so_far);
    if ((info->plan.abilities & TAMIS_CAN_REMOVE) == 0) return;
    number_exact(info->facts.refused_removes, number);
    output_text("  removals    %s %s absent so far\n", number,
                plural(info->facts.refused_removes, "key was", "keys were"));
}

/* A set does not store keys, and a false positive that was not added has left no trace. So the
 * number of different keys is an estimate from the contents. Exact counts are printed with it. */
static void print_keys(const tamis_info *info) {
    bool const    is_multiset = (info->plan.abilities & TAMIS_CAN_REMOVE) != 0;
    number_text   distinct, keys, prints;
    capacity_text made_for;
    number_exact((uint64_t)(info->distinct + 0.5), distinct);
    number_exact(info->facts.keys, keys);
    number_exact(info->prints, prints);
    setfile_name_capacity(&info->facts, made_for);
    output_text("  keys        about %s different, made for %s\n", distinct, made_for);
    if (is_multiset)
        output_text("  copies      %s in all, added and not removed\n", keys);
    else
        output_text("  added       %s %s changed the set, or a set that was merged into it\n", keys,
                    plural(info->facts.keys, "add has", "adds have"));
    output_text("  load        %.3g%% of the room is in use", 100 * info->load);
    if (info->prints != 0) {
        output_text(", by %s different %s", prints,
                    plural(info->prints, "fingerprint", "fingerprints"));
    }
    output_string("\n");
}

static info_growth set_growth(const tamis_info *info) {
    const tamis_facts *const facts = &info->facts;
    info_growth              growth = { .grow_to = facts->grow_to,
                                        .stage = facts->stage,
                                        .stages = facts->stages,
                                        .is_growing = facts->is_growing };
    if (facts->grow_to == 0) return growth;
    growth.fpr = growth_last_rate(&info->plan, facts->stage, facts->stages);
    growth.cost = growth_cost(&info->plan, growth.fpr);
    return growth;
}

static void print_set(const tamis_info *info) {
    info_growth const growth = set_growth(info);
    abilities_text    abilities;
    number_text       count_to, now, full;
    abilities_name(info->plan.abilities, abilities);
    number_exact(info->plan.count_to, count_to);
    number_rate(info->current_fpr, now);
    number_rate(info->plan.fpr, full);
    output_text("  kind        %s: %s\n", info->plan.kind, info->plan.summary);
    output_text("  can         add, has%s%s\n", *abilities ? ", " : "", abilities);
    if (info->plan.count_to != 0)
        output_text("  counts      up to %s copies, too high about as often as a false positive\n",
                    count_to);
    print_keys(info);
    if (info->facts.parts != 0)
        output_text("  part        %u of a set in %u parts, 0 to %u\n", info->facts.part,
                    info->facts.parts, info->facts.parts - 1);
    print_growth(&growth, &info->plan);
    output_text("  fpr         %s now, %s when full\n", now, full);
    print_size(&info->plan, info->facts.body_bytes);
    print_geometry(&info->plan);
    print_set_events(info);
    print_lines_and_hash(&info->plan, "add", info->facts.hash, info->facts.seed);
}

static void json_set(const tamis_info *info) {
    info_growth const growth = set_growth(info);
    json_text("holds", "set");
    json_text("kind", info->plan.kind);
    json_text("summary", info->plan.summary);
    json_abilities(info->plan.abilities);
    json_count("keys", info->facts.keys);
    json_number("distinct", info->distinct);
    json_count("prints", info->prints);
    json_number("load", info->load);
    json_count("lifetime", info->plan.lifetime);
    json_number("current_fpr", info->current_fpr);
    json_forecast(&info->plan);
    json_growth(&growth);
    if (info->facts.parts != 0) {
        json_count("part", info->facts.part);
        json_count("parts", info->facts.parts);
    }
    json_count("saturated", info->facts.saturated);
    json_count("moved", info->facts.moved);
    json_count("refused_adds", info->facts.refused_adds);
    json_count("refused_removes", info->facts.refused_removes);
    json_hash(info->facts.hash, info->facts.seed);
}

/* ------------------------------------------------------------------ states */

/* How many keys have each value, to be freed; NULL if there are too many values, or the kind does
 * not know. */
static uint64_t *tally_make(const tamis_states *states, const tamis_states_info *info) {
    uint64_t *const counts =
        info->values <= MAX_TALLY ? calloc((size_t)info->values, sizeof(uint64_t)) : NULL;
    if (counts == NULL || tamis_states_tally(states, counts) == TAMIS_OK) return counts;
    free(counts);
    return NULL;
}

/* "values      0: 12 keys, 3: 40 keys": only values that some key has. */
static void print_tally(const tamis_states *states, const tamis_states_info *info) {
    uint64_t *const counts = tally_make(states, info);
    info_list       list = { .name = "values" };
    for (uint64_t value = 0; counts != NULL && value < info->values; value++) {
        char        text[80];
        number_text number;
        if (counts[value] == 0) continue;
        number_exact(counts[value], number);
        int const length = snprintf(text, sizeof text, "%llu: %s %s", (unsigned long long)value,
                                    number, plural(counts[value], "key", "keys"));
        list_add(&list, text, (size_t)length);
    }
    if (list.column != 0) output_string("\n");
    free(counts);
}

static void print_ageing(const tamis_states_info *info) {
    number_text ticks, aged, backlog;
    if (info->timeout == 0) {
        output_string("  timeout     none\n");
        return;
    }
    number_exact(info->timeout, ticks);
    number_exact(info->aged, aged);
    number_exact(info->backlog, backlog);
    output_text("  timeout     %s %s; %s dropped so far, %s buckets to be swept\n", ticks,
                plural(info->timeout, "tick", "ticks"), aged, backlog);
}

static void print_states_events(const tamis_states_info *info) {
    number_text number, room;
    char        so_far[80];
    number_exact(info->refused, number);
    (void)snprintf(so_far, sizeof so_far, "%s %s refused", number,
                   plural(info->refused, "put", "puts"));
    print_risk("overflow", info->plan.overflow, &info->plan, "keys", so_far);
    number_exact(info->conflicts, number);
    output_text("  conflicts   %s so far: a key had another value than expected\n", number);
    if (info->side_room == 0) return;
    number_exact(info->side_keys, number);
    number_exact(info->side_room, room);
    output_text("  side table  %s of %s places used\n", number, room);
}

static info_growth states_growth(const tamis_states_facts *facts, const tamis_states_info *info) {
    info_growth growth = { .grow_to = facts->grow_to,
                           .stage = facts->stage,
                           .stages = facts->stages,
                           .is_growing = facts->is_growing };
    if (facts->grow_to == 0) return growth;
    growth.fpr = growth_last_rate(&info->plan, facts->stage, facts->stages);
    growth.cost = growth_states_cost(info, growth.fpr);
    return growth;
}

static void print_states(const tamis_states *states, const tamis_states_info *info,
                         const tamis_states_facts *facts) {
    info_growth const growth = states_growth(facts, info);
    number_text       keys, values, now, full, unknown, cells;
    number_exact(info->keys, keys);
    number_exact(info->values, values);
    number_rate(info->current_fpr, now);
    number_rate(info->plan.fpr, full);
    number_rate(info->plan.unknown, unknown);
    number_exact(info->unknown_cells, cells);
    output_text("  kind        %s: %s\n", info->plan.kind, info->plan.summary);
    output_text("  holds       states: each key has one of %s values\n", values);
    output_text("  keys        %s", keys);
    print_capacity(info->keys, info->plan.capacity);
    print_tally(states, info);
    print_growth(&growth, &info->plan);
    output_text("  fpr         %s now, %s when full\n", now, full);
    output_text("  unknown     %s when full; %s %s \"don't know\" now\n", unknown, cells,
                plural(info->unknown_cells, "cell says", "cells say"));
    print_ageing(info);
    print_size(&info->plan, facts->body_bytes);
    print_geometry(&info->plan);
    print_states_events(info);
    print_lines_and_hash(&info->plan, "put", info->hash, info->seed);
}

static void json_tally(const tamis_states *states, const tamis_states_info *info) {
    uint64_t *const counts = tally_make(states, info);
    if (counts == NULL) return;
    json_open("keys_by_value", '[');
    for (uint64_t value = 0; value < info->values; value++) json_count(NULL, counts[value]);
    json_close(']');
    free(counts);
}

static void json_states(const tamis_states *states, const tamis_states_info *info,
                        const tamis_states_facts *facts) {
    info_growth const growth = states_growth(facts, info);
    json_text("holds", "states");
    json_text("kind", info->plan.kind);
    json_text("summary", info->plan.summary);
    json_count("values", info->values);
    json_count("timeout", info->timeout);
    json_count("timer_bits", info->timer_bits);
    json_count("keys", info->keys);
    json_tally(states, info);
    json_count("lifetime", info->plan.lifetime);
    json_number("current_fpr", info->current_fpr);
    json_number("unknown", info->plan.unknown);
    json_count("unknown_cells", info->unknown_cells);
    json_forecast(&info->plan);
    json_growth(&growth);
    json_count("aged", info->aged);
    json_count("backlog", info->backlog);
    json_count("side_keys", info->side_keys);
    json_count("side_room", info->side_room);
    json_count("refused_puts", info->refused);
    json_count("conflicts", info->conflicts);
    json_hash(info->hash, info->seed);
}

/* ------------------------------------------------------------------ both */

static void info_of_set(const tamis_set *set, bool is_json) {
    tamis_info info;
    setfile_inspect(set, &info);
    if (is_json)
        json_set(&info);
    else
        print_set(&info);
}

static void info_of_states(const tamis_states *states, bool is_json) {
    tamis_states_info  info;
    tamis_states_facts facts;
    if (tamis_states_inspect(states, &info) != TAMIS_OK ||
        tamis_states_get_facts(states, &facts) != TAMIS_OK) {
        die("there are no states to inspect");
    }
    if (is_json)
        json_states(states, &info, &facts);
    else
        print_states(states, &info, &facts);
}

static void info_of_file(const char *path, const options *asked) {
    bool const    is_json = is_given(asked, OPTION_BIT(JSON));
    setfile       file;
    tamis_problem problem;
    if (setfile_open_any(path, asked, &file, &problem) != TAMIS_OK) {
        const char *const advice = setfile_advice(path, &problem, asked);
        die("%s%s%s", problem.text, advice ? "; " : "", advice ? advice : "");
    }
    if (is_json) {
        json_open(NULL, '{');
        json_text("file", path);
    } else {
        print_path(path);
        output_string("\n");
    }
    if (file.set != NULL)
        info_of_set(file.set, is_json);
    else
        info_of_states(file.states, is_json);
    if (is_json) json_close('}');
    setfile_close(&file);
}

static int info_run(const options *asked) {
    for (size_t i = 0; i < asked->n_operands; i++) {
        if (i != 0 && !is_given(asked, OPTION_BIT(JSON))) output_string("\n");
        info_of_file(asked->operands[i], asked);
    }
    return EXIT_DONE;
}

const command command_info = {
    .name = "info",
    .operands = "FILE... ",
    .summary = "Print everything about sets and files of states",
    .text =
        "Prints the kind and its abilities, the number of keys, the false-positive rate now\n"
        "and when full, sizes, geometry, probabilities, and how many calls were refused. For a\n"
        "set that grows, also how far it can grow, and what the room for that costs. For\n"
        "states, also the values, how many keys have each, and the timeout. With --json,\n"
        "prints one object for each file.\n",
    .examples = "  tamis info words.tamis\n"
                "  tamis info --json *.tamis | jq -r '[.file, .keys] | @tsv'\n",
    .options = OPTION_BIT(JSON) | OPTION_BIT(TRUST) | OPTION_BIT(READ),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = SIZE_MAX,
    .run = info_run,
};
