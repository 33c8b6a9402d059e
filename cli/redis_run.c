/* redis_run.c - tamis redis load, has, remove, count, info: keys to their shards, in rounds. */
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
#include "redis_shards.h"

#define KEYS_PER_SHARD 512 /* in a round, on average */
#define MOST_KEYS 65536    /* in a round */
#define MOST_ITEMS 4096    /* of one shard in a round: what a REQUEST takes */
#define HEAD_WORDS 6       /* of a request, before its items */

/* ------------------------------------------------------------------ a round of keys */

/* Keys that are read, their shards, and a request for each shard that has some. */
typedef struct key_round {
    shards   *set;
    size_t    most, n; /* keys */
    char     *bytes;   /* of the keys, one after the other */
    size_t    used, room;
    size_t   *end;   /* of key i in `bytes` */
    uint16_t *part;  /* of key i */
    size_t   *place; /* of key i among the items of its shard */
    unsigned *items; /* of each shard */

    round_request *requests;   /* of the shards that have keys */
    unsigned      *request_of; /* of shard i */
    const char   **words;
    size_t        *word_bytes;
    char (*numbers)[24]; /* of the requests, as text */
    long long *answers;  /* of key i */
} key_round;

static void *need(void *memory) {
    if (memory == NULL) die("not enough memory for a round of keys");
    return memory;
}

static void round_make(key_round *ret_round, shards *set) {
    size_t const wanted = (size_t)set->n * KEYS_PER_SHARD;
    size_t const most = wanted < MOST_KEYS ? wanted : MOST_KEYS;
    *ret_round = (key_round){ .set = set, .most = most };
    ret_round->end = need(calloc(most + LINES_BATCH, sizeof(size_t)));
    ret_round->part = need(calloc(most + LINES_BATCH, sizeof(uint16_t)));
    ret_round->place = need(calloc(most + LINES_BATCH, sizeof(size_t)));
    ret_round->answers = need(calloc(most + LINES_BATCH, sizeof(long long)));
    ret_round->items = need(calloc(set->n, sizeof(unsigned)));
    ret_round->requests = need(calloc(set->n, sizeof(round_request)));
    ret_round->request_of = need(calloc(set->n, sizeof(unsigned)));
    ret_round->numbers = need(calloc(set->n, sizeof *ret_round->numbers));
    size_t const words = most + LINES_BATCH + (size_t)set->n * HEAD_WORDS;
    ret_round->words = need(calloc(words, sizeof(char *)));
    ret_round->word_bytes = need(calloc(words, sizeof(size_t)));
}

static void round_free(key_round *round) {
    free(round->end);
    free(round->part);
    free(round->place);
    free(round->answers);
    free(round->items);
    free(round->requests);
    free(round->request_of);
    free(round->numbers);
    free(round->words);
    free(round->word_bytes);
    free(round->bytes);
}

static void take_key(key_round *round, tamis_key key) {
    const shards *const set = round->set;
    if (round->used + key.bytes > round->room) {
        round->room = 2 * (round->used + key.bytes) + 65536;
        round->bytes = need(realloc(round->bytes, round->room));
    }
    if (key.bytes != 0) memcpy(round->bytes + round->used, key.data, key.bytes);
    round->used += key.bytes;
    uint32_t const part = tamis_part_of_key(set->hasher, key.data, key.bytes, set->n);
    round->part[round->n] = (uint16_t)part;
    round->place[round->n] = round->items[part]++;
    round->end[round->n++] = round->used;
}

/* Read keys until the round is full, or the input makes us wait. False: there are no more. */
static bool round_read(key_round *round, lines *input) {
    tamis_key keys[LINES_BATCH];
    unsigned  most = 0;
    round->n = round->used = 0;
    memset(round->items, 0, round->set->n * sizeof *round->items);
    while (round->n + LINES_BATCH <= round->most && most + LINES_BATCH <= MOST_ITEMS) {
        size_t const n = lines_next(input, keys);
        if (n == 0) break;
        for (size_t i = 0; i < n; i++) take_key(round, keys[i]);
        for (unsigned i = 0; i < round->set->n; i++)
            most = round->items[i] > most ? round->items[i] : most;
        if (!lines_are_ready(input)) break;
    }
    return round->n != 0;
}

static const char *key_at(const key_round *round, size_t i, size_t *ret_bytes) {
    size_t const begin = i == 0 ? 0 : round->end[i - 1];
    *ret_bytes = round->end[i] - begin;
    return round->bytes + begin;
}

/* The words before the items: the command, the key, and REQUEST client n ITEMS if it changes the
 * set. */
static void begin_request(key_round *round, unsigned i, const char *verb, bool is_change,
                          round_request *one, size_t at) {
    shard *const      to = &round->set->all[i];
    const char *const head[HEAD_WORDS] = {
        verb, to->key, "REQUEST", round->set->client, round->numbers[i], "ITEMS"
    };
    int const n = is_change ? HEAD_WORDS : 2;
    if (is_change) (void)snprintf(round->numbers[i], sizeof round->numbers[i], "%" PRIu64, ++to->n);
    *one = (round_request){ .slot = to->slot,
                            .argc = n + (int)round->items[i],
                            .argv = round->words + at,
                            .argv_bytes = round->word_bytes + at };
    for (int w = 0; w < n; w++) {
        one->argv[w] = head[w];
        one->argv_bytes[w] = strlen(head[w]);
    }
}

/* Returns how many shards have a request. */
static unsigned make_requests(key_round *round, const char *verb, bool is_change) {
    size_t   at = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < round->set->n; i++) {
        if (round->items[i] == 0) continue;
        begin_request(round, i, verb, is_change, &round->requests[n], at);
        at += (size_t)round->requests[n].argc;
        round->request_of[i] = n++;
    }
    for (size_t i = 0; i < round->n; i++) {
        unsigned const       part = round->part[i];
        round_request *const one = &round->requests[round->request_of[part]];
        size_t const         word = (size_t)one->argc - round->items[part] + round->place[i];
        one->argv[word] = key_at(round, i, &one->argv_bytes[word]);
    }
    return n;
}

/* A number for each item; "MANY" is -2. Whatever else comes ends the program. */
static long long answer_of(const shards *set, unsigned i, const redisReply *reply, size_t item) {
    const redisReply *one = reply;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements != 0)
        one = reply->element[item < reply->elements ? item : reply->elements - 1];
    bool const is_short = reply->type == REDIS_REPLY_ARRAY && item >= reply->elements;
    if (is_short && one->type != REDIS_REPLY_ERROR) /* only a refused item may end a reply */
        die("%s: a reply with only %zu answers", set->all[i].key, reply->elements);
    if (one->type == REDIS_REPLY_INTEGER && reply->type == REDIS_REPLY_ARRAY) return one->integer;
    if (one->type == REDIS_REPLY_STATUS) return -2;
    die("%s: %s", set->all[i].key, one->type == REDIS_REPLY_ERROR ? one->str : "a strange reply");
}

/* Send the keys of a round, and get an answer for each. */
static void round_ask(key_round *round, const char *verb, bool is_change) {
    unsigned const n = make_requests(round, verb, is_change);
    round_run(&round->set->nodes, round->requests, n, is_change ? round->set->replicas : 0);
    for (size_t i = 0; i < round->n; i++) {
        unsigned const          part = round->part[i];
        const redisReply *const reply = round->requests[round->request_of[part]].reply;
        round->answers[i] = answer_of(round->set, part, reply, round->place[i]);
    }
    for (unsigned i = 0; i < n; i++) freeReplyObject(round->requests[i].reply);
}

/* ------------------------------------------------------------------ load and remove */

static void tell_changes(const shards *set, const options *asked, uint64_t keys, uint64_t ones,
                         const char *what, const char *which) {
    number_text all, some;
    number_exact(keys, all);
    number_exact(ones, some);
    if (is_given(asked, OPTION_BIT(QUIET))) return;
    warn("%s: %s %s %s, %s of them %s; %u %s on %u %s", set->name, all, plural(keys, "key", "keys"),
         what, some, which, set->n, plural(set->n, "shard", "shards"), shards_nodes(set),
         plural(shards_nodes(set), "node", "nodes"));
    if (round_seen.lost_connections + round_seen.sent_again != 0)
        warn("%" PRIu64 " %s lost on the way, and %" PRIu64 " %s sent again",
             round_seen.lost_connections,
             plural(round_seen.lost_connections, "connection was", "connections were"),
             round_seen.sent_again, plural(round_seen.sent_again, "request", "requests"));
}

/* Keys in rounds: each is acknowledged before the next begins. Returns how many answers were 1. */
static uint64_t change_all(shards *set, const options *asked, const char *verb,
                           uint64_t *ret_keys) {
    key_round round;
    lines     input;
    uint64_t  ones = 0;
    keys_open(&input, asked, 2);
    round_make(&round, set);
    progress_begin(lines_total_bytes(&input));
    while (round_read(&round, &input)) {
        round_ask(&round, verb, true);
        for (size_t i = 0; i < round.n; i++) ones += round.answers[i] == 1;
        progress_step(input.keys, input.bytes);
    }
    *ret_keys = input.keys;
    progress_hide();
    round_free(&round);
    lines_close(&input);
    return ones;
}

static int load_run(shards *set, const options *asked) {
    uint64_t keys;
    shards_found(set, asked);
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

static void print_key(const key_round *round, size_t i) {
    size_t            bytes;
    const char *const key = key_at(round, i, &bytes);
    output_bytes(key, bytes);
}

static uint64_t print_answers(const key_round *round, const options *asked, bool is_count) {
    bool const is_printed = !is_given(asked, OPTION_BIT(COUNT_LINES));
    bool const wanted = !is_given(asked, OPTION_BIT(INVERT));
    uint64_t   chosen = 0;
    for (size_t i = 0; i < round->n; i++) {
        bool const is_chosen = is_count || (round->answers[i] != 0) == wanted;
        chosen += is_chosen;
        if (!is_chosen || !is_printed) continue;
        print_key(round, i);
        if (is_count) output_bytes("\t", 1);
        if (is_count && round->answers[i] == -2) output_string("many");
        if (is_count && round->answers[i] != -2) output_number((uint64_t)round->answers[i]);
        output_bytes(&asked->separator, 1);
    }
    return chosen;
}

static int ask_run(shards *set, const options *asked, bool is_count) {
    key_round round;
    lines     input;
    uint64_t  chosen = 0;
    shards_need(set);
    keys_open(&input, asked, 2);
    round_make(&round, set);
    while (round_read(&round, &input)) {
        round_ask(&round, is_count ? "TAMIS.COUNT" : "TAMIS.HAS", false);
        chosen += print_answers(&round, asked, is_count);
    }
    if (is_given(asked, OPTION_BIT(COUNT_LINES)) && !is_count) {
        output_number(chosen);
        output_string("\n");
    }
    round_free(&round);
    lines_close(&input);
    return chosen != 0 || is_count ? EXIT_DONE : EXIT_NONE;
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
        if (reply->type != REDIS_REPLY_ARRAY) {
            sums.missing++;
            continue;
        }
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
    if (asked->n_operands != 3) die("which file? Write it after the name of the set");
    return asked->operands[2];
}

static int act(shards *set, const options *asked) {
    const char *const action = asked->operands[0];
    if (strcmp(action, "load") == 0) return load_run(set, asked);
    if (strcmp(action, "has") == 0) return ask_run(set, asked, false);
    if (strcmp(action, "count") == 0) return ask_run(set, asked, true);
    if (strcmp(action, "remove") == 0) return remove_run(set, asked);
    if (strcmp(action, "info") == 0) return info_run(set);
    if (strcmp(action, "import") == 0) return shards_import(set, asked, file_of(asked));
    if (strcmp(action, "export") == 0) return shards_export(set, asked, file_of(asked));
    die("there is no 'tamis redis %s'; there are load, has, count, remove, info, import and export",
        action);
}

int redis_run(const options *asked) {
    shards *const set = need(calloc(1, sizeof *set));
    shards_open(set, asked);
    int const code = act(set, asked);
    shards_close(set);
    free(set);
    return code;
}
