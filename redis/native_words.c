/* native_words.c - the words of TAMIS.RESERVE, TAMIS.STATE.RESERVE and TAMIS.PLAN. */
#include "clock.h"
#include "native.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

/* A seed is a decimal number, or 32 hexadecimal digits: the high half first. */
static bool read_seed(const redis_string *word, tamis_seed *ret_seed) {
    size_t            n;
    const char *const text = redis_StringPtrLen(word, &n);
    long long         number;
    if (n == 32 && strspn(text, "0123456789abcdefABCDEF") == 32) {
        char half[17] = { 0 };
        memcpy(half, text, 16);
        ret_seed->high = strtoull(half, NULL, 16);
        ret_seed->low = strtoull(text + 16, NULL, 16);
        return true;
    }
    if (!word_number(word, &number) || number < 0) return false;
    *ret_seed = (tamis_seed){ (uint64_t)number, 0 };
    return true;
}

/* Seconds, with a fraction. */
static const char *read_timeout(const redis_string *word, value_recipe *recipe) {
    double seconds;
    if (!word_double(word, &seconds) || seconds < 0.1 || seconds > 1e9)
        return "ERR TIMEOUT must be 0.1 to 1000000000 seconds";
    uint64_t const ms = (uint64_t)(seconds * 1000.0);
    recipe->tick_ms = clock_tick_ms(ms);
    recipe->timeout = (ms + recipe->tick_ms - 1) / recipe->tick_ms;
    recipe->now_ms = (uint64_t)redis_Milliseconds();
    return NULL;
}

static const char *read_kind(const redis_string *word, value_recipe *recipe) {
    size_t            n;
    const char *const text = redis_StringPtrLen(word, &n);
    if (n == 0 || n >= sizeof recipe->kind || strspn(text, "abcdefghijklmnopqrstuvwxyz_") != n)
        return "ERR unknown KIND";
    memcpy(recipe->kind, text, n);
    recipe->kind[n] = 0;
    return NULL;
}

static const char *read_number(const redis_string *word, uint64_t least, uint64_t most,
                               uint64_t *ret, const char *problem) {
    return word_count(word, ret) && *ret >= least && *ret <= most ? NULL : problem;
}

/* A word that has an argument. */
static const char *read_pair(const redis_string *word, redis_string *next, bool is_states,
                             native_wish *wish) {
    value_recipe *const recipe = &wish->recipe;
    uint64_t const      most = UINT64_C(1) << 40;
    if (word_is(word, "ERROR")) {
        wish->has_error = true;
        return word_double(next, &recipe->error) && recipe->error >= 1e-12 && recipe->error <= 0.5
                   ? NULL
                   : "ERR ERROR must be 1e-12 to 0.5";
    }
    if (word_is(word, "CAPACITY")) {
        wish->has_capacity = true;
        return read_number(next, 1, most, &recipe->capacity, "ERR CAPACITY must be 1 to 2^40");
    }
    if (word_is(word, "GROWTO"))
        return read_number(next, 1, most, &recipe->grow_to, "ERR GROWTO must be 1 to 2^40");
    if (word_is(word, "KIND")) return read_kind(next, recipe);
    if (word_is(word, "TIMEOUT")) return read_timeout(next, recipe);
    if (word_is(word, "SEED")) {
        recipe->has_seed = read_seed(next, &recipe->seed);
        return recipe->has_seed ? NULL : "ERR SEED must be a number or 32 hexadecimal digits";
    }
    if (word_is(word, "LIKE")) {
        wish->like = next;
        return NULL;
    }
    if (is_states && word_is(word, "VALUES"))
        return read_number(next, 2, UINT64_C(1) << 32, &recipe->values,
                           "ERR VALUES must be 2 to 2^32");
    return "ERR syntax error";
}

/* PART i P */
static const char *read_part(redis_string **words, int n, value_recipe *recipe) {
    uint64_t part, parts;
    if (n < 3 || !word_count(words[1], &part) || !word_count(words[2], &parts) || parts == 0 ||
        parts > 65536 || (parts & (parts - 1)) != 0 || part >= parts)
        return "ERR PART needs i and P: P a power of two up to 65536, i from 0 to P - 1";
    recipe->set_part = (uint32_t)part;
    recipe->set_parts = (uint32_t)parts;
    return NULL;
}

/* COUNTING [n]: no other word is a number. */
static const char *read_counting(redis_string **words, int n, value_recipe *recipe) {
    long long most = 0;
    recipe->abilities |= TAMIS_CAN_COUNT;
    recipe->count_to = 0;
    if (n < 2 || !word_number(words[1], &most)) return NULL;
    if (most < 1 || most > 65535) return "ERR COUNTING n: n must be 1 to 65535";
    recipe->count_to = (uint64_t)most;
    return NULL;
}

/* Words beside LIKE must say what the other key is, so that nobody gets another key than asked for.
 * SMALL does not matter: it is about the choice of a kind. */
bool native_is_like(const native_wish *wish, const tamis_value *other) {
    const value_recipe *const asked = &wish->recipe;
    tamis_states_facts        states = { .values = 0 };
    tamis_facts               set = { .parts = 0 };
    bool const                is_set = other->states == NULL;
    if ((is_set ? tamis_get_facts(other->parts[0].set, &set)
                : tamis_states_get_facts(other->states, &states)) != TAMIS_OK)
        return false;
    const char *const kind = is_set ? set.kind : states.kind;
    uint64_t const    grow_to = is_set ? set.grow_to : states.grow_to;
    bool const        is_timed = asked->timeout != 0;
    return (!wish->has_error || asked->error == other->error) &&
           (!wish->has_capacity || asked->capacity == other->capacity) &&
           (asked->grow_to == 0 || asked->grow_to == grow_to) &&
           (asked->kind[0] == 0 || strcmp(asked->kind, kind) == 0) &&
           (asked->abilities & ~set.abilities) == 0 &&
           (asked->count_to == 0 || asked->count_to == other->count_to) &&
           (asked->values == 0 || asked->values == states.values) &&
           (!is_timed || (asked->timeout == other->timeout && asked->tick_ms == other->tick_ms)) &&
           (asked->set_parts == 0 ||
            (asked->set_part == set.part && asked->set_parts == set.parts));
}

static const char *check_wish(bool is_states, const native_wish *wish) {
    const value_recipe *const recipe = &wish->recipe;
    if (recipe->set_parts != 0 && recipe->timeout != 0) return "ERR a set with TIMEOUT has no PART";
    if (wish->like != NULL)
        return recipe->has_seed ? "ERR SEED or LIKE: the seed comes from the other key" : NULL;
    if (!wish->has_error || !wish->has_capacity) return "ERR ERROR and CAPACITY are needed";
    if (recipe->grow_to != 0 && recipe->grow_to < recipe->capacity)
        return "ERR GROWTO must not be less than CAPACITY";
    if (is_states && recipe->values == 0) return "ERR VALUES is needed";
    bool const is_counting = (recipe->abilities & TAMIS_CAN_COUNT) != 0;
    return recipe->timeout != 0 && !is_states && is_counting ? "ERR a set with TIMEOUT cannot count"
                                                             : NULL;
}

const char *native_read_wish(redis_string **argv, int argc, int first, bool is_states,
                             native_wish *ret_wish) {
    value_recipe *const recipe = &ret_wish->recipe;
    *ret_wish = (native_wish){ .like = NULL };
    for (int i = first; i < argc; i++) {
        if (!is_states && word_is(argv[i], "COUNTING")) {
            const char *const problem = read_counting(argv + i, argc - i, recipe);
            if (problem != NULL) return problem;
            i += recipe->count_to != 0;
        } else if (!is_states && word_is(argv[i], "SMALL")) {
            recipe->is_small = true;
        } else if (!is_states && word_is(argv[i], "PART")) {
            const char *const problem = read_part(argv + i, argc - i, recipe);
            if (problem != NULL) return problem;
            i += 2;
        } else if (i + 1 == argc) {
            return "ERR syntax error";
        } else {
            const char *const problem = read_pair(argv[i], argv[i + 1], is_states, ret_wish);
            if (problem != NULL) return problem;
            i++;
        }
    }
    recipe->fpr = recipe->error;
    recipe->asked = recipe->capacity;
    return check_wish(is_states, ret_wish);
}

void native_problem_text(tamis_status status, const tamis_problem *problem, char *ret_text,
                         size_t bytes) {
    const char *const what =
        problem != NULL && problem->text[0] != 0 ? problem->text : tamis_status_text(status);
    (void)snprintf(ret_text, bytes, "ERR %s", what);
    for (char *at = ret_text; *at != 0; at++) {
        if (*at == '\r' || *at == '\n') *at = ' ';
    }
}

int native_reply_problem(redis_ctx *ctx, tamis_status status, const tamis_problem *problem) {
    char text[400];
    native_problem_text(status, problem, text, sizeof text);
    return redis_ReplyWithError(ctx, text);
}
