/* redis_run.c - tamis redis load, has, remove, count, info: keys to their shards, in windows. */
#include "redis_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "progress.h"
#include "redis_journal.h"

static void *need(void *memory) {
    if (memory == NULL) die("not enough memory");
    return memory;
}

/* ------------------------------------------------------------------ load and remove */

static void tell_changes(const shards *set, const options *asked, uint64_t keys, uint64_t ones,
                         const char *verb, const char *outcome) {
    number_text all, some;
    number_exact(keys, all);
    number_exact(ones, some);
    if (is_given(asked, OPTION_BIT(QUIET))) return;
    warn("%s: %s %s %s, %s of them %s; %u %s on %u %s", set->name, all, plural(keys, "key", "keys"),
         verb, some, outcome, set->n, plural(set->n, "shard", "shards"), shards_nodes(set),
         plural(shards_nodes(set), "node", "nodes"));
    if (round_seen.lost_connections + round_seen.sent_again != 0)
        warn("%" PRIu64 " %s lost, and %" PRIu64 " %s sent again", round_seen.lost_connections,
             plural(round_seen.lost_connections, "connection was", "connections were"),
             round_seen.sent_again, plural(round_seen.sent_again, "request", "requests"));
}

/* Keys of the input on their way, in several windows. */
typedef struct key_pump {
    shards     *set;
    const char *verb;
    bool        is_change;
    journal     book;
    lines       input;
    key_window  windows[MAX_WINDOWS];
    uint64_t    begun, done;                               /* windows */
    void (*take)(const key_window *window, void *context); /* the answers of a window, in order */
    void *context;
} key_pump;

static key_window *window_of(key_pump *pump, uint64_t i) {
    return &pump->windows[i % pump->book.windows];
}

static uint64_t count_ones(const key_window *window) {
    uint64_t ones = 0;
    for (size_t i = 0; i < window->n; i++) ones += window->answers[i] == 1;
    return ones;
}

static void finish_until(key_pump *pump, uint64_t on_their_way) {
    while (pump->begun - pump->done > on_their_way) {
        key_window *const window = window_of(pump, pump->done++);
        if (window->round == NULL) continue; /* an earlier run has done it */
        window_finish(window);
        if (pump->is_change) journal_done(&pump->book, count_ones(window));
        pump->take(window, pump->context);
    }
}

/* All windows that were sent are finished before we wait for input. */
static void pump_run(key_pump *pump, const options *asked) {
    keys_open(&pump->input, asked, 2);
    for (unsigned i = 0; i < pump->book.windows; i++) window_make(&pump->windows[i], pump->set, i);
    if (pump->is_change) progress_begin(lines_total_bytes(&pump->input));
    for (;;) {
        key_window *const window = window_of(pump, pump->begun);
        if (!window_read(window, &pump->input, journal_keys(&pump->book, pump->begun))) break;
        if (!journal_is_done(&pump->book, pump->begun, window)) {
            journal_begin(&pump->book, pump->begun, window);
            window_start(window, pump->verb, pump->is_change, pump->begun + 1);
        }
        pump->begun++;
        finish_until(pump, lines_are_ready(&pump->input) ? pump->book.windows - 1 : 0);
        if (pump->is_change) progress_step(pump->input.keys, pump->input.bytes);
    }
    finish_until(pump, 0);
    if (pump->begun < pump->book.n_begun)
        die("%s: the input is not the one of this journal: it ends too early", pump->book.path);
    progress_hide();
    for (unsigned i = 0; i < pump->book.windows; i++) window_free(&pump->windows[i]);
    lines_close(&pump->input);
}

static void take_ones(const key_window *window, void *context) {
    *(uint64_t *)context += count_ones(window);
}

/* Returns how many answers were 1. */
static uint64_t change_all(shards *set, const options *asked, const char *verb,
                           uint64_t *ret_keys) {
    key_pump *const pump = need(calloc(1, sizeof *pump));
    uint64_t        ones = 0;
    *pump = (key_pump){ .set = set, .verb = verb, .is_change = true, .take = take_ones };
    pump->context = &ones;
    journal_open(&pump->book, asked, set);
    if (pump->book.is_ended)
        die("%s: all keys of this journal are confirmed; delete it to %s again", pump->book.path,
            asked->operands[0]);
    ones = pump->book.ones;
    pump_run(pump, asked);
    journal_end(&pump->book);
    *ret_keys = pump->input.keys;
    journal_close(&pump->book);
    free(pump);
    return ones;
}

static int load_run(shards *set, const options *asked) {
    uint64_t keys;
    shards_ensure(set, asked);
    uint64_t const new_ones = change_all(set, asked, "TAMIS.ADD", &keys);
    tell_changes(set, asked, keys, new_ones, "added", "new");
    return EXIT_DONE;
}

static int remove_run(shards *set, const options *asked) {
    uint64_t keys;
    shards_need(set);
    uint64_t const removed = change_all(set, asked, "TAMIS.REMOVE", &keys);
    tell_changes(set, asked, keys, removed, "handled", "removed");
    return removed == keys ? EXIT_DONE : EXIT_NONE;
}

/* ------------------------------------------------------------------ has and count */

typedef struct printer {
    const options *asked;
    bool           is_count;
    uint64_t       chosen;
} printer;

static void print_key(const key_window *window, size_t i) {
    size_t            bytes;
    const char *const key = window_key(window, i, &bytes);
    output_bytes(key, bytes);
}

static void print_answers(const key_window *window, void *context) {
    printer *const       to = context;
    const options *const asked = to->asked;
    bool const           is_printed = !is_given(asked, OPTION_BIT(COUNT_LINES));
    bool const           wanted = !is_given(asked, OPTION_BIT(INVERT));
    for (size_t i = 0; i < window->n; i++) {
        bool const is_chosen = to->is_count || (window->answers[i] != 0) == wanted;
        to->chosen += is_chosen;
        if (!is_chosen || !is_printed) continue;
        print_key(window, i);
        if (to->is_count) output_bytes("\t", 1);
        if (to->is_count && window->answers[i] == -2) output_string("many");
        if (to->is_count && window->answers[i] != -2) output_number((uint64_t)window->answers[i]);
        output_bytes(&asked->separator, 1);
    }
}

static int ask_run(shards *set, const options *asked, bool is_count) {
    key_pump *const pump = need(calloc(1, sizeof *pump));
    printer         to = { asked, is_count, 0 };
    shards_need(set);
    *pump = (key_pump){ .set = set,
                        .verb = is_count ? "TAMIS.COUNT" : "TAMIS.HAS",
                        .book = { .windows = asked->windows },
                        .take = print_answers,
                        .context = &to };
    pump_run(pump, asked);
    free(pump);
    if (is_given(asked, OPTION_BIT(COUNT_LINES)) && !is_count) {
        output_number(to.chosen);
        output_string("\n");
    }
    return to.chosen != 0 || is_count ? EXIT_DONE : EXIT_NONE;
}

/* ------------------------------------------------------------------ info */

/* A number of TAMIS.INFO by its name. */
static double info_number(const redisReply *reply, const char *name) {
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
        const redisReply *const key = reply->element[i], *const value = reply->element[i + 1];
        if (key->str == NULL || strcmp(key->str, name) != 0) continue;
        if (value->type == REDIS_REPLY_INTEGER) return (double)value->integer;
        return value->str != NULL ? strtod(value->str, NULL) : NAN;
    }
    return NAN;
}

typedef struct info_sums {
    double   keys, capacity, bytes, worst_error, fullest;
    unsigned missing;
} info_sums;

static info_sums sum_shards(shards *set) {
    info_sums            sums = { 0 };
    const char          *argv[] = { "TAMIS.INFO", NULL };
    round_request *const all = shards_ask_all(set, 2, argv, false, 0);
    for (unsigned i = 0; i < set->n; i++) {
        const redisReply *const reply = all[i].reply;
        if (reply->type == REDIS_REPLY_NIL) {
            sums.missing++;
            continue;
        }
        if (reply->type != REDIS_REPLY_ARRAY)
            die("%s: %s", set->all[i].key,
                reply->type == REDIS_REPLY_ERROR ? reply->str : "unexpected reply");
        sums.keys += info_number(reply, "keys");
        sums.capacity += info_number(reply, "capacity");
        sums.bytes += info_number(reply, "body bytes");
        sums.worst_error = fmax(sums.worst_error, info_number(reply, "predicted error"));
        sums.fullest = fmax(sums.fullest, /* "fullness" needs a look at all of a large shard */
                            info_number(reply, "keys") / info_number(reply, "capacity"));
    }
    shards_free_all(set, all);
    return sums;
}

static int info_run(shards *set) {
    number_text keys, capacity, size, rate, seed;
    shards_need(set);
    info_sums const sums = sum_shards(set);
    number_exact((uint64_t)sums.keys, keys);
    number_exact((uint64_t)sums.capacity, capacity);
    number_size((uint64_t)sums.bytes, size);
    number_rate(sums.worst_error, rate);
    number_seed(set->meta.seed, seed);
    output_text("%s\n", set->name);
    output_text("  shards      %u on %u %s\n", set->n, shards_nodes(set),
                plural(shards_nodes(set), "node", "nodes"));
    if (sums.missing != 0)
        output_text("  missing     %u %s not there\n", sums.missing,
                    plural(sums.missing, "shard is", "shards are"));
    output_text(
        "  keys        %s copies, made for %s keys; the fullest shard has %.0f%% of its share\n",
        keys, capacity, 100 * sums.fullest);
    output_text("  fpr         %s at most when full\n", rate);
    output_text("  size        %s\n", size);
    output_text("  hash        %s, seed %s\n",
                set->meta.hash == TAMIS_HASH_XXH3 ? "xxh3" : "siphash", seed);
    return sums.missing == 0 ? EXIT_DONE : EXIT_NONE;
}

/* ------------------------------------------------------------------ the actions */

static const char *file_of(const options *asked) {
    if (asked->n_operands != 3) die("a file is missing; write it after the name of the set");
    return asked->operands[2];
}

/* Before anything is connected. */
static void check_action(const options *asked) {
    static const char *const all[] = {
        "load", "has", "count", "remove", "info", "import", "export"
    };
    if (asked->n_operands == 0)
        die("a subcommand is missing; write load, has, count, remove, info, import or export");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(asked->operands[0], all[i]) == 0) return;
    }
    die("there is no 'tamis redis %s'; there are load, has, count, remove, info, import and export",
        asked->operands[0]);
}

static int act(shards *set, const options *asked) {
    const char *const action = asked->operands[0];
    if (strcmp(action, "load") == 0) return load_run(set, asked);
    if (strcmp(action, "has") == 0) return ask_run(set, asked, false);
    if (strcmp(action, "count") == 0) return ask_run(set, asked, true);
    if (strcmp(action, "remove") == 0) return remove_run(set, asked);
    if (strcmp(action, "info") == 0) return info_run(set);
    return strcmp(action, "import") == 0 ? shards_import(set, asked, file_of(asked))
                                         : shards_export(set, asked, file_of(asked));
}

int redis_run(const options *asked) {
    check_action(asked);
    shards *const set = need(calloc(1, sizeof *set));
    shards_open(set, asked);
    int const code = act(set, asked);
    shards_close(set);
    free(set);
    return code;
}
