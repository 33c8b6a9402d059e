/* requests.c - REQUEST client n: every request is done once. See requests.h. */
#include "requests.h"

#include "codec.h"
#include "words.h"

#include <stddef.h>
#include <string.h>

#define AS_TEXT_OF(number) #number
#define AS_TEXT(number) AS_TEXT_OF(number)

/* ------------------------------------------------------------------ words */

static const char *read_client(redis_string *word, request *asked) {
    size_t            n;
    const char *const text = redis_StringPtrLen(word, &n);
    if (n == 0 || n > REQUEST_CLIENT_BYTES || memchr(text, 0, n) != NULL)
        return "ERR the client of a REQUEST is 1 to " AS_TEXT(REQUEST_CLIENT_BYTES) " bytes";
    memcpy(asked->asked.client, text, n);
    asked->client = word;
    return NULL;
}

/* AT ms end done: how a primary tells replicas. */
static const char *read_told(redis_string **words, request *asked) {
    uint64_t end, done;
    if (!word_count(words[0], &asked->asked.at_ms) || !word_count(words[1], &end) ||
        !word_count(words[2], &done) || end >= N_ENDS || done > REQUEST_MAX_ITEMS)
        return "ERR syntax error";
    asked->asked.end = (uint32_t)end;
    asked->asked.done = (uint32_t)done;
    asked->is_told = true;
    return NULL;
}

/* Two requests with the same items, in the same order, have the same sum. */
static uint64_t sum_items(redis_string **items, int n, bool is_remove) {
    uint64_t sum = value_checksum(is_remove ? "R" : "A", 1);
    for (int i = 0; i < n; i++) {
        tamis_key const item = word_key(items[i]);
        uint64_t const  pair[2] = { sum, value_checksum(item.data, item.bytes) };
        sum = value_checksum(pair, sizeof pair);
    }
    return sum;
}

/* Is it from a primary or an append-only file? */
static bool is_obeyed(redis_ctx *ctx) {
    return (redis_GetContextFlags(ctx) & (REDIS_IS_REPLICATED | REDIS_IS_LOADING)) != 0;
}

/* Where the items begin: behind the word ITEMS, which no item can be taken for, because its place
 * is fixed. 0: there is none. */
static int find_items(redis_string **argv, int argc, bool is_told) {
    int const at = is_told ? 9 : 5;
    return argc > at + 1 && word_is(argv[at], "ITEMS") ? at + 1 : 0;
}

const char *request_read(redis_ctx *ctx, redis_string **argv, int argc, bool is_remove,
                         request *ret_request, int *ret_first) {
    int first = 2;
    memset(ret_request, 0, offsetof(request, asked) + offsetof(request_record, replies));
    ret_request->is_told = false;
    ret_request->record = NULL;
    *ret_first = first;
    if (argc < 6 || !word_is(argv[2], "REQUEST")) return NULL;
    const char *problem = read_client(argv[3], ret_request);
    if (problem != NULL) return problem;
    if (!word_count(argv[4], &ret_request->asked.n) || ret_request->asked.n == 0)
        return "ERR the number of a REQUEST is 1, 2, ...";
    ret_request->asked.at_ms = (uint64_t)redis_Milliseconds();
    bool const is_told = word_is(argv[5], "AT");
    first = find_items(argv, argc, is_told);
    if (is_told && !is_obeyed(ctx)) return "ERR AT is for replicas and append-only files";
    if (first == 0) return "ERR REQUEST client n needs ITEMS item ... behind it";
    if (is_told) problem = read_told(argv + 6, ret_request);
    if (problem != NULL) return problem;
    if (argc - first > REQUEST_MAX_ITEMS)
        return "ERR a REQUEST has at most " AS_TEXT(REQUEST_MAX_ITEMS) " items";
    ret_request->asked.is_remove = is_remove;
    ret_request->asked.sum = sum_items(argv + first, argc - first, is_remove);
    *ret_first = first;
    return NULL;
}

/* ------------------------------------------------------------------ the log */

static tamis_allocator allocator_of(const tamis_value *value) {
    return account_allocator(value->account);
}

static void *get(const tamis_value *value, size_t bytes) {
    tamis_allocator const from = allocator_of(value);
    return from.alloc(from.context, bytes, 64);
}

static void give(const tamis_value *value, void *memory, size_t bytes) {
    tamis_allocator const to = allocator_of(value);
    to.free(to.context, memory, bytes);
}

void requests_free(tamis_value *value) {
    request_log *const log = value->requests;
    if (log == NULL) return;
    for (unsigned i = 0; i < log->n; i++) give(value, log->records[i], sizeof(request_record));
    give(value, log, sizeof *log);
    value->requests = NULL;
}

/* Take record i out of the order. */
static request_record *take_out(request_log *log, unsigned i) {
    request_record *const record = log->records[i];
    memmove(&log->records[i], &log->records[i + 1], (log->n - i - 1) * sizeof log->records[0]);
    log->n--;
    return record;
}

/* Forget clients that were silent for long; and the one that was silent longest, if all places are
 * taken. */
static void make_room(tamis_value *value, uint64_t now_ms) {
    request_log *const log = value->requests;
    while (log->n != 0) {
        uint64_t const at_ms = log->records[0]->at_ms;
        bool const     is_old = now_ms > at_ms && now_ms - at_ms > REQUEST_AGE_MS;
        if (!is_old && log->n < REQUEST_CLIENTS) return;
        give(value, take_out(log, 0), sizeof(request_record));
    }
}

/* The place of the client's record; log->n: it has none. */
static unsigned find_client(const request_log *log, const request_record *asked) {
    unsigned i = 0;
    while (i < log->n && memcmp(log->records[i]->client, asked->client, sizeof asked->client) != 0)
        i++;
    return i;
}

/* Make record i the newest one; if there is no record i, add a new one. NULL: no memory. */
static request_record *renew_record(tamis_value *value, unsigned i, const request_record *asked) {
    request_log *const log = value->requests;
    request_record    *record = i < log->n ? take_out(log, i) : NULL;
    if (record == NULL) {
        make_room(value, asked->at_ms);
        record = get(value, sizeof *record);
        if (record == NULL) return NULL;
        memcpy(record->client, asked->client, sizeof record->client);
    }
    log->records[log->n++] = record;
    return record;
}

/* ------------------------------------------------------------------ requests */

const char *request_end_text(request_end end) {
    switch (end) {
    case END_FULL: return "ERR the set is full";
    case END_MEMORY: return "ERR Insufficient memory";
    case END_PART: return "ERR the item belongs to another part of the set";
    default: return NULL;
    }
}

static int reply_of(const request_record *record, unsigned i) {
    int const bits = record->replies[i / 4] >> (2 * (i % 4)) & 3;
    return bits == 2 ? -1 : bits;
}

/* The reply of the first time. */
static void reply_again(redis_ctx *ctx, const request_record *record) {
    const char *const error = request_end_text((enum request_end)record->end);
    redis_ReplyWithArray(ctx, (long)record->done + (error != NULL));
    for (unsigned i = 0; i < record->done; i++) redis_ReplyWithLongLong(ctx, reply_of(record, i));
    if (error != NULL) redis_ReplyWithError(ctx, error);
}

/* A request that was done changes nothing, not even the order of the log: replicas do not hear of
 * it. */
static bool is_done(redis_ctx *ctx, const request_record *record, const request_record *asked) {
    if (record->n < asked->n) return false;
    if (record->n > asked->n)
        redis_ReplyWithError(ctx, "DONE an earlier request: a later one was done already");
    else if (record->sum != asked->sum)
        redis_ReplyWithError(ctx, "ERR a request of this number had other items");
    else
        reply_again(ctx, record);
    return true;
}

bool request_begin(key_handle *key, request *asked) {
    tamis_value *const value = key->value;
    if (asked->client == NULL) return true;
    if (value->requests == NULL) value->requests = get(value, sizeof *value->requests);
    if (value->requests != NULL) {
        unsigned const i = find_client(value->requests, &asked->asked);
        if (i < value->requests->n && is_done(key->ctx, value->requests->records[i], &asked->asked))
            return false;
        asked->record = renew_record(value, i, &asked->asked);
    }
    if (asked->record == NULL)
        redis_ReplyWithError(key->ctx, "ERR Insufficient memory");
    else
        memset(asked->record->replies, 0, sizeof asked->record->replies);
    return asked->record != NULL;
}

void request_note(request *asked, int i, int reply) {
    if (asked->record == NULL) return;
    unsigned const bits = reply < 0 ? 2 : (unsigned)reply;
    asked->record->replies[i / 4] |= (uint8_t)(bits << (2 * (i % 4)));
}

void request_finish(key_handle *key, request *asked, request_end end, int done,
                    redis_string **items, int n) {
    request_record *const record = asked->record;
    record->n = asked->asked.n;
    record->at_ms = asked->asked.at_ms;
    record->sum = asked->asked.sum;
    record->is_remove = asked->asked.is_remove;
    record->end = end;
    record->done = (uint32_t)done;
    key->value->changes++;
    redis_Replicate(key->ctx, record->is_remove ? "TAMIS.REMOVE" : "TAMIS.ADD", "scslclllcv",
                    key->name, "REQUEST", asked->client, (long long)record->n, "AT",
                    (long long)record->at_ms, (long long)record->end, (long long)record->done,
                    "ITEMS", items, (size_t)n);
}

/* ------------------------------------------------------------------ bytes */

/* The fixed fields, and the replies that there are, up to a multiple of 8 bytes. */
#define FIXED_BYTES offsetof(request_record, replies)

static size_t replies_bytes(uint32_t done) {
    return ((size_t)done + 31) / 32 * 8;
}

static void put_number(char *at, uint64_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) at[i] = (char)(number >> (8 * i) & 255);
}

static uint64_t get_number(const char *at, unsigned bytes) {
    uint64_t number = 0;
    for (unsigned i = bytes; i-- != 0;) number = number << 8 | (unsigned char)at[i];
    return number;
}

bool requests_encode(const request_log *log, byte_buffer *ret_bytes) {
    char fixed[FIXED_BYTES];
    if (log == NULL || log->n == 0) return true;
    put_number(fixed, log->n, 8);
    if (!buffer_append(ret_bytes, fixed, 8)) return false;
    for (unsigned i = 0; i < log->n; i++) {
        const request_record *const record = log->records[i];
        memcpy(fixed, record->client, sizeof record->client);
        put_number(fixed + offsetof(request_record, n), record->n, 8);
        put_number(fixed + offsetof(request_record, at_ms), record->at_ms, 8);
        put_number(fixed + offsetof(request_record, sum), record->sum, 8);
        put_number(fixed + offsetof(request_record, is_remove), record->is_remove, 4);
        put_number(fixed + offsetof(request_record, end), record->end, 4);
        put_number(fixed + offsetof(request_record, done), record->done, 4);
        put_number(fixed + offsetof(request_record, unused), 0, 4);
        if (!buffer_append(ret_bytes, fixed, FIXED_BYTES) ||
            !buffer_append(ret_bytes, record->replies, replies_bytes(record->done)))
            return false;
    }
    return true;
}

/* Decode one record from the n bytes that are left. Returns its length; 0: it is not valid. */
static size_t decode_record(const char *bytes, size_t n, request_record *ret_record) {
    if (n < FIXED_BYTES) return 0;
    memcpy(ret_record->client, bytes, sizeof ret_record->client);
    ret_record->n = get_number(bytes + offsetof(request_record, n), 8);
    ret_record->at_ms = get_number(bytes + offsetof(request_record, at_ms), 8);
    ret_record->sum = get_number(bytes + offsetof(request_record, sum), 8);
    ret_record->is_remove = (uint32_t)get_number(bytes + offsetof(request_record, is_remove), 4);
    ret_record->end = (uint32_t)get_number(bytes + offsetof(request_record, end), 4);
    ret_record->done = (uint32_t)get_number(bytes + offsetof(request_record, done), 4);
    size_t const replies = replies_bytes(ret_record->done);
    if (ret_record->client[0] == 0 || ret_record->is_remove > 1 || ret_record->end >= N_ENDS ||
        ret_record->done > REQUEST_MAX_ITEMS || replies > n - FIXED_BYTES)
        return 0;
    memcpy(ret_record->replies, bytes + FIXED_BYTES, replies);
    return FIXED_BYTES + replies;
}

const char *requests_decode(const char *bytes, size_t n, tamis_value *value) {
    static const char wrong[] = "the requests are damaged";
    if (n == 0) return NULL;
    uint64_t const records = n < 8 ? 0 : get_number(bytes, 8);
    size_t         at = 8;
    if (records == 0 || records > REQUEST_CLIENTS || value->family != FAMILY_SET) return wrong;
    value->requests = get(value, sizeof *value->requests);
    if (value->requests == NULL) return "no memory";
    for (uint64_t i = 0; i < records; i++) {
        request_record *const record = get(value, sizeof *record);
        if (record == NULL) return "no memory";
        value->requests->records[value->requests->n++] = record;
        size_t const taken = decode_record(bytes + at, n - at, record);
        if (taken == 0) return wrong;
        at += taken;
    }
    return at == n ? NULL : wrong;
}
