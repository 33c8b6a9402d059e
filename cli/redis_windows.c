/* redis_windows.c - see redis_windows.h. */
#include "redis_windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define KEYS_PER_SHARD 512 /* in a window, on average */
#define MOST_KEYS 65536    /* in a window */
#define HEAD_WORDS 6       /* of a request, before its items */

/* ------------------------------------------------------------------ the window */

static void *need(void *memory) {
    if (memory == NULL) die("not enough memory for a window of keys");
    return memory;
}

void window_make(key_window *ret_window, shards *set, unsigned place) {
    size_t const wanted = (size_t)set->n * KEYS_PER_SHARD;
    size_t const most = wanted < MOST_KEYS ? wanted : MOST_KEYS;
    *ret_window = (key_window){ .set = set, .most = most };
    ret_window->end = need(calloc(most + LINES_BATCH, sizeof(size_t)));
    ret_window->part = need(calloc(most + LINES_BATCH, sizeof(uint16_t)));
    ret_window->place = need(calloc(most + LINES_BATCH, sizeof(size_t)));
    ret_window->answers = need(calloc(most + LINES_BATCH, sizeof(long long)));
    ret_window->items = need(calloc(set->n, sizeof(unsigned)));
    ret_window->requests = need(calloc(set->n, sizeof(round_request)));
    ret_window->request_of = need(calloc(set->n, sizeof(unsigned)));
    (void)snprintf(ret_window->client, sizeof ret_window->client, "%s.%x", set->client, place);
    size_t const words = most + LINES_BATCH + (size_t)set->n * HEAD_WORDS;
    ret_window->words = need(calloc(words, sizeof(char *)));
    ret_window->word_bytes = need(calloc(words, sizeof(size_t)));
}

void window_free(key_window *window) {
    free(window->end);
    free(window->part);
    free(window->place);
    free(window->answers);
    free(window->items);
    free(window->requests);
    free(window->request_of);
    free(window->words);
    free(window->word_bytes);
    free(window->bytes);
}

static void take_key(key_window *window, tamis_key key) {
    const shards *const set = window->set;
    if (window->used + key.bytes > window->room) {
        window->room = 2 * (window->used + key.bytes) + 65536;
        window->bytes = need(realloc(window->bytes, window->room));
    }
    if (key.bytes != 0) memcpy(window->bytes + window->used, key.data, key.bytes);
    window->used += key.bytes;
    uint32_t const part = tamis_part_of_key(set->hasher, key.data, key.bytes, set->n);
    window->part[window->n] = (uint16_t)part;
    window->place[window->n] = window->items[part]++;
    window->end[window->n++] = window->used;
}

static unsigned largest_shard(const key_window *window) {
    unsigned most = 0;
    for (unsigned i = 0; i < window->set->n; i++)
        most = window->items[i] > most ? window->items[i] : most;
    return most;
}

static bool is_full(const key_window *window) {
    return window->n + LINES_BATCH > window->most ||
           largest_shard(window) + LINES_BATCH > TAMIS_REDIS_REQUEST_ITEMS;
}

/* Has it all that it should have? */
static bool is_complete(const key_window *window, const lines *input, size_t wanted) {
    if (wanted != 0) return window->n >= wanted;
    return is_full(window) || (window->n != 0 && !lines_are_ready(input));
}

bool window_read(key_window *window, lines *input, size_t wanted) {
    tamis_key keys[LINES_BATCH];
    window->n = window->used = 0;
    memset(window->items, 0, window->set->n * sizeof *window->items);
    if (wanted > window->most) die("a window with too many keys: the journal is damaged");
    if (wanted != 0) input->limit = input->keys + wanted;
    while (!is_complete(window, input, wanted)) {
        size_t const n = lines_next(input, keys);
        if (n == 0) break;
        for (size_t i = 0; i < n; i++) take_key(window, keys[i]);
    }
    if (wanted != 0) input->limit = LINES_ALL;
    return window->n != 0;
}

uint64_t window_sum(const key_window *window) {
    uint64_t sum = window->n;
    for (size_t i = 0; i < window->n; i++) {
        size_t            bytes;
        const char *const key = window_key(window, i, &bytes);
        sum =
            (sum ^ tamis_hash_key(window->set->hasher, key, bytes)) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum;
}

const char *window_key(const key_window *window, size_t i, size_t *ret_bytes) {
    size_t const begin = i == 0 ? 0 : window->end[i - 1];
    *ret_bytes = window->end[i] - begin;
    return window->bytes + begin;
}

/* The words before the items: the command, the key, and REQUEST client n ITEMS if it changes the
 * set. */
static void begin_request(key_window *window, unsigned i, const char *verb, bool is_change,
                          round_request *one, size_t at) {
    const shard *const to = &window->set->all[i];
    const char *const  head[HEAD_WORDS] = { verb,           to->key,        "REQUEST",
                                            window->client, window->number, "ITEMS" };
    int const          n = is_change ? HEAD_WORDS : 2;
    *one = (round_request){ .slot = to->slot,
                            .argc = n + (int)window->items[i],
                            .argv = window->words + at,
                            .argv_bytes = window->word_bytes + at };
    for (int w = 0; w < n; w++) {
        one->argv[w] = head[w];
        one->argv_bytes[w] = strlen(head[w]);
    }
}

static void make_requests(key_window *window, const char *verb, bool is_change) {
    size_t   at = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < window->set->n; i++) {
        if (window->items[i] == 0) continue;
        begin_request(window, i, verb, is_change, &window->requests[n], at);
        at += (size_t)window->requests[n].argc;
        window->request_of[i] = n++;
    }
    for (size_t i = 0; i < window->n; i++) {
        unsigned const       part = window->part[i];
        round_request *const one = &window->requests[window->request_of[part]];
        size_t const         word = (size_t)one->argc - window->items[part] + window->place[i];
        one->argv[word] = window_key(window, i, &one->argv_bytes[word]);
    }
    window->n_requests = n;
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
    die("%s: %s", set->all[i].key, one->type == REDIS_REPLY_ERROR ? one->str : "unexpected reply");
}

void window_start(key_window *window, const char *verb, bool is_change, uint64_t number) {
    shards *const set = window->set;
    (void)snprintf(window->number, sizeof window->number, "%" PRIu64, number);
    make_requests(window, verb, is_change);
    window->round = round_start(&set->nodes, window->requests, window->n_requests,
                                is_change ? set->replicas : 0);
}

void window_finish(key_window *window) {
    round_finish(window->round);
    window->round = NULL;
    for (size_t i = 0; i < window->n; i++) {
        unsigned const          part = window->part[i];
        const redisReply *const reply = window->requests[window->request_of[part]].reply;
        window->answers[i] = answer_of(window->set, part, reply, window->place[i]);
    }
    for (unsigned i = 0; i < window->n_requests; i++) freeReplyObject(window->requests[i].reply);
}
