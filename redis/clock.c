/* clock.c - ticks. */
#include "clock.h"

#include "hold.h"
#include "keys.h"
#include "words.h"

#include <pthread.h>
#include <string.h>

#define MAX_BYTES_OF_NAME 512 /* keys with longer names age when they are used */
#define STEP_MICROSECONDS 300 /* of sweeping, for one command */
#define CRON_MICROSECONDS 500 /* of sweeping, for one call of the cron */
#define MAX_STEPS 100000

/* A value in the list. Values are freed by other threads (lazy free), so the list has a lock. */
struct timed {
    struct timed *next, *previous;
    tamis_value  *value;
    int           db;
    size_t        bytes;
    char          name[]; /* of the key, as long as it is */
};

/* What the cron needs of one, while the list may change. */
typedef struct timed_copy {
    tamis_value *value;
    int          db;
    size_t       bytes;
    char         name[MAX_BYTES_OF_NAME];
} timed_copy;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timed   *first, *last;
static size_t          n_timed;

uint64_t clock_tick_ms(uint64_t timeout_ms) {
    uint64_t const tick = timeout_ms / 1024;
    return tick < 10 ? 10 : tick > 1000 ? 1000 : tick;
}

/* ------------------------------------------------------------------ ticks */

/* Sweep until nothing is due, or the time is over. Returns the steps that were done. */
static uint64_t sweep(tamis_value *value, uint64_t ticks, uint64_t microseconds) {
    uint64_t const end = redis_MonotonicMicroseconds() + microseconds;
    uint64_t       backlog = 0, steps = 1;
    if (tamis_states_tick(value->states, ticks, NULL, &backlog) != TAMIS_OK) return 0;
    while (backlog != 0 && steps < MAX_STEPS && redis_MonotonicMicroseconds() < end) {
        if (tamis_states_tick(value->states, 0, NULL, &backlog) != TAMIS_OK) break;
        steps++;
    }
    value->changes++;
    return steps;
}

bool clock_apply(tamis_value *value, uint64_t ticks, uint64_t steps, uint64_t now_ms) {
    if (value->timeout == 0 || steps == 0 || steps > MAX_STEPS) return false;
    for (uint64_t i = 0; i < steps; i++) {
        if (tamis_states_tick(value->states, i == 0 ? ticks : 0, NULL, NULL) != TAMIS_OK)
            return false;
    }
    value->last_ms = now_ms;
    value->changes++;
    return true;
}

/* When the clock is set back, time goes on from there: no key leaves too soon, some stay longer. */
static uint64_t ticks_due(tamis_value *value, uint64_t now_ms) {
    if (now_ms < value->last_ms) value->last_ms = now_ms;
    return (now_ms - value->last_ms) / value->tick_ms;
}

static bool has_backlog(const tamis_value *value) {
    tamis_states_facts facts;
    return tamis_states_get_facts(value->states, &facts) == TAMIS_OK && facts.backlog != 0;
}

/* While a thread reads the table, time stands still in it; then it catches up. The same while the
 * server's clients are paused, as for a failover: nothing may go to replicas then, and the server
 * aborts if something does. */
static void advance(redis_ctx *ctx, redis_string *key, tamis_value *value, uint64_t microseconds) {
    if (value->holds != 0 || redis_AvoidReplicaTraffic()) return;
    uint64_t const ticks = ticks_due(value, (uint64_t)redis_Milliseconds());
    if (ticks == 0 && !has_backlog(value)) return;
    uint64_t const steps = sweep(value, ticks, microseconds);
    value->last_ms += ticks * value->tick_ms;
    redis_Replicate(ctx, "TAMIS.TICK", "slll", key, (long long)ticks, (long long)steps,
                    (long long)value->last_ms);
}

static bool is_deciding(redis_ctx *ctx) {
    int const others = REDIS_IS_REPLICA | REDIS_IS_REPLICATED | REDIS_IS_LOADING;
    return (redis_GetContextFlags(ctx) & others) == 0;
}

void clock_advance(redis_ctx *ctx, redis_string *key, tamis_value *value) {
    if (value->timeout == 0) return;
    clock_watch(value, redis_GetSelectedDb(ctx), key);
    if (is_deciding(ctx)) advance(ctx, key, value, STEP_MICROSECONDS);
}

/* TAMIS.TICK key ticks steps now */
int command_tick(redis_ctx *ctx, redis_string **argv, int argc) {
    uint64_t ticks, steps, now_ms;
    if (argc != 5) return redis_WrongArity(ctx);
    if (!word_count(argv[2], &ticks) || !word_count(argv[3], &steps) ||
        !word_count(argv[4], &now_ms))
        return redis_ReplyWithError(ctx, "ERR ticks, steps and time must be numbers");
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    if (hold_defer(&key, command_tick)) {
        key_close(&key);
        return REDIS_OK;
    }
    if (key.value == NULL || !clock_apply(key.value, ticks, steps, now_ms)) {
        key_close(&key);
        return redis_ReplyWithError(ctx, "ERR no key with a timeout");
    }
    key_close(&key);
    redis_ReplicateVerbatim(ctx);
    return redis_ReplyWithSimpleString(ctx, "OK");
}

/* ------------------------------------------------------------------ the list */

static void link_in(struct timed *timed) {
    timed->next = NULL;
    timed->previous = last;
    if (last != NULL) last->next = timed;
    if (first == NULL) first = timed;
    last = timed;
    n_timed++;
}

static void link_out(struct timed *timed) {
    if (timed->next != NULL) timed->next->previous = timed->previous;
    if (timed->previous != NULL) timed->previous->next = timed->next;
    if (first == timed) first = timed->next;
    if (last == timed) last = timed->previous;
    n_timed--;
}

void clock_watch(tamis_value *value, int db, const redis_string *key) {
    size_t            n;
    const char *const name = redis_StringPtrLen(key, &n);
    struct timed     *timed = value->timed;
    if (value->timeout == 0 || n > MAX_BYTES_OF_NAME) return;
    if (timed != NULL && timed->db == db && timed->bytes == n && memcmp(timed->name, name, n) == 0)
        return;
    clock_forget(value);
    timed = redis_TryAlloc(sizeof *timed + n);
    if (timed == NULL) return; /* it ages when it is used */
    timed->value = value;
    timed->db = db;
    timed->bytes = n;
    memcpy(timed->name, name, n);
    pthread_mutex_lock(&lock);
    link_in(timed);
    value->timed = timed;
    pthread_mutex_unlock(&lock);
}

size_t clock_memory(const tamis_value *value) {
    return value->timed != NULL ? redis_MallocSize(value->timed) : 0;
}

void clock_forget(tamis_value *value) {
    if (value->timed == NULL) return;
    pthread_mutex_lock(&lock);
    link_out(value->timed);
    redis_Free(value->timed);
    value->timed = NULL;
    pthread_mutex_unlock(&lock);
}

void clock_moved(tamis_value *value) {
    pthread_mutex_lock(&lock);
    if (value->timed != NULL) value->timed->value = value;
    pthread_mutex_unlock(&lock);
}

/* The first of the list goes to its end, and is described to the caller. */
static bool take_turn(timed_copy *ret_copy) {
    pthread_mutex_lock(&lock);
    struct timed *const timed = first;
    if (timed != NULL) {
        ret_copy->value = timed->value;
        ret_copy->db = timed->db;
        ret_copy->bytes = timed->bytes;
        memcpy(ret_copy->name, timed->name, timed->bytes);
        link_out(timed);
        link_in(timed);
    }
    pthread_mutex_unlock(&lock);
    return timed != NULL;
}

/* A key that nobody uses is swept 64 times in a timeout, and not at all if it is empty: every time
 * is a line in the append-only file. */
static bool is_worth_it(tamis_value *value) {
    tamis_states_facts facts;
    uint64_t const     ticks = ticks_due(value, (uint64_t)redis_Milliseconds());
    if (tamis_states_get_facts(value->states, &facts) != TAMIS_OK) return false;
    return facts.backlog != 0 || (facts.keys != 0 && ticks > value->timeout / 64);
}

/* The name may be stale: after RENAME or MOVE the key is found again when it is used next. */
static void age_one(redis_ctx *ctx, const timed_copy *timed) {
    if (redis_SelectDb(ctx, timed->db) != REDIS_OK) return;
    redis_string *const name = redis_CreateString(ctx, timed->name, timed->bytes);
    key_handle          key = key_open(ctx, name, KEY_FOR_AGEING);
    if (key.value != NULL && key.value == timed->value && key.value->timeout != 0 &&
        is_worth_it(key.value))
        advance(ctx, name, key.value, CRON_MICROSECONDS);
    key_close(&key);
    redis_FreeString(ctx, name);
}

/* With the lock: a thread may be freeing a value. */
static size_t count_timed(void) {
    pthread_mutex_lock(&lock);
    size_t const n = n_timed;
    pthread_mutex_unlock(&lock);
    return n;
}

void clock_cron(redis_ctx *ctx) {
    uint64_t const end = redis_MonotonicMicroseconds() + CRON_MICROSECONDS;
    size_t const   n = count_timed();
    timed_copy     timed;
    if (n == 0 || !is_deciding(ctx)) return;
    for (size_t i = 0; i < n && take_turn(&timed); i++) {
        age_one(ctx, &timed);
        if (redis_MonotonicMicroseconds() >= end) return;
    }
}
