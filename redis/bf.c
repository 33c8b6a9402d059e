/* bf.c - BF.*: sets of keys that are never removed. */
#include "bf.h"

#include "chunks.h"
#include "codec.h"
#include "items.h"
#include "settings.h"
#include "words.h"

#include <stdio.h>

#define MAX_CAPACITY (1LL << 30)
#define MAX_EXPANSION 32768

/* ------------------------------------------------------------------ making */

typedef struct wanted_filter {
    double    error;
    long long capacity, expansion;
    bool      is_fixed, is_creating, has_expansion;
    int       first_item;

    redis_handler *handler; /* of the command */
} wanted_filter;

static wanted_filter default_wish(redis_handler *handler) {
    return (wanted_filter){ .error = settings.bf_error,
                            .capacity = settings.bf_capacity,
                            .expansion = settings.bf_expansion,
                            .is_creating = true,
                            .handler = handler };
}

static const filter_texts texts = { FAMILY_BF, "bf.reserve", "ERR could not create filter" };

static value_recipe recipe_of(const wanted_filter *wish) {
    uint64_t const expansion = wish->is_fixed ? 0 : (uint64_t)wish->expansion;
    return recipe_of_bf(wish->error, (uint64_t)wish->capacity, expansion);
}

/* Where the word stands among all arguments; 0: nowhere. */
static int find_word(redis_string **argv, int argc, const char *word) {
    for (int i = 1; i < argc; i++) {
        if (word_is(argv[i], word)) return i;
    }
    return 0;
}

/* What is wrong with EXPANSION and NONSCALING; NULL: nothing. */
static const char *reserve_growth(redis_string **argv, int argc, wanted_filter *wish) {
    int const at = find_word(argv, argc, "EXPANSION");
    wish->is_fixed = find_word(argv, argc, "NONSCALING") != 0;
    if (at == 0) return NULL;
    if (at + 1 == argc) return "ERR no expansion";
    if (!word_number(argv[at + 1], &wish->expansion)) return "ERR bad expansion";
    if (wish->is_fixed && wish->expansion != 0) return "Nonscaling filters cannot expand";
    if (wish->expansion < 0 || wish->expansion > MAX_EXPANSION)
        return "ERR expansion must be in the range [0, 32768]";
    return NULL;
}

static const char *reserve_wish(redis_string **argv, int argc, wanted_filter *wish) {
    if (redis_StringToDouble(argv[2], &wish->error) != REDIS_OK) return "ERR bad error rate";
    if (!(wish->error > 0.0 && wish->error < 1.0))
        return "ERR error rate must be in the range (0.000000, 1.000000)";
    if (!word_number(argv[3], &wish->capacity)) return "ERR bad capacity";
    if (wish->capacity < 1 || wish->capacity > MAX_CAPACITY)
        return "ERR capacity must be in the range [1, 1073741824]";
    return reserve_growth(argv, argc, wish);
}

int bf_reserve(redis_ctx *ctx, redis_string **argv, int argc) {
    wanted_filter wish = default_wish(bf_reserve);
    if (argc < 4 || argc > 7) return redis_WrongArity(ctx);
    const char *const problem = reserve_wish(argv, argc, &wish);
    if (problem != NULL) return redis_ReplyWithError(ctx, problem);
    value_recipe recipe = recipe_of(&wish);
    return filter_reserve(ctx, argv[1], &recipe, &texts, wish.handler);
}

/* ------------------------------------------------------------------ adding */

static void reply_added(redis_ctx *ctx, item_outcome done, bool is_fixed) {
    if (done == DONE_NEW || done == DONE_AGAIN)
        redis_ReplyWithBool(ctx, done == DONE_NEW);
    else
        redis_ReplyWithError(ctx, done == REFUSED_FULL && is_fixed
                                      ? "ERR non scaling filter is full"
                                      : "ERR problem inserting into filter");
}

/* Add items to a key that is there. With `is_array` the reply is an array, which ends when a filter
 * of a fixed size is full. */
static void add_items(key_handle *key, redis_string **items, int n, bool is_array) {
    item_batch batch;
    size_t     i = 0, done = 1;
    batch_begin(&batch, key, items, (size_t)n);
    batch.command = "BF.MADD";
    batch.is_new_only = true;
    batch.ends_when_full = key->value->expansion == 0;
    if (is_array) redis_ReplyWithArray(key->ctx, REDIS_POSTPONED_LENGTH);
    for (bool is_full = false; i < batch.n && !is_full; i += done) {
        done = batch_add(&batch, i);
        for (size_t k = 0; k < done; k++)
            reply_added(key->ctx, batch.outcomes[k], batch.ends_when_full);
        is_full = batch.ends_when_full && batch.outcomes[done - 1] == REFUSED_FULL;
    }
    if (is_array) redis_ReplySetArrayLength(key->ctx, (long)i);
    batch_end(&batch, i);
    if (batch.has_changed) key_notify(key, "bf.add");
}

static __attribute__((noinline)) bool make_filter(key_handle *key, const wanted_filter *wish) {
    value_recipe recipe = recipe_of(wish);
    return filter_make_sure(key, &recipe, wish->is_creating, &texts, wish->handler);
}

static int add_command(redis_ctx *ctx, redis_string **argv, int argc, const wanted_filter *wish,
                       bool is_array) {
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    if (key_family(&key, FAMILY_BF) != NULL || make_filter(&key, wish))
        add_items(&key, argv + wish->first_item, argc - wish->first_item, is_array);
    key_close(&key);
    return REDIS_OK;
}

int bf_add(redis_ctx *ctx, redis_string **argv, int argc) {
    wanted_filter wish = default_wish(bf_add);
    if (argc != 3) return redis_WrongArity(ctx);
    wish.first_item = 2;
    return add_command(ctx, argv, argc, &wish, false);
}

int bf_madd(redis_ctx *ctx, redis_string **argv, int argc) {
    wanted_filter wish = default_wish(bf_madd);
    if (argc < 3) return redis_WrongArity(ctx);
    wish.first_item = 2;
    return add_command(ctx, argv, argc, &wish, true);
}

/* One option at argv[i], of which the first letters count. Returns how many arguments it took; 0:
 * *reterr says what is wrong. */
static int insert_option(redis_string **argv, int argc, int i, wanted_filter *wish,
                         const char **reterr) {
    char const    letter = word_letter(argv[i], 0);
    redis_string *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (letter == 'n') {
        if (word_letter(argv[i], 2) == 'c')
            wish->is_creating = false;
        else
            wish->is_fixed = true;
        return 1;
    }
    if (letter != 'e' && letter != 'c') *reterr = "Unknown argument received";
    if (*reterr != NULL || next == NULL) return 0;
    if (letter == 'c') {
        bool const is_good = word_number(next, &wish->capacity) && wish->capacity >= 1 &&
                             wish->capacity <= MAX_CAPACITY;
        if (!is_good) *reterr = "Bad capacity";
    } else if (word_letter(argv[i], 1) == 'r') {
        bool const is_good = redis_StringToDouble(next, &wish->error) == REDIS_OK &&
                             wish->error > 0.0 && wish->error < 1.0;
        if (!is_good) *reterr = "Bad error rate";
    } else {
        bool const is_good = word_number(next, &wish->expansion) && wish->expansion >= 0 &&
                             wish->expansion <= MAX_EXPANSION;
        if (!is_good) *reterr = "Bad expansion";
    }
    return *reterr != NULL ? 0 : 2;
}

int bf_insert(redis_ctx *ctx, redis_string **argv, int argc) {
    wanted_filter wish = default_wish(bf_insert);
    const char   *problem = NULL;
    int           i = 2;
    if (argc < 4) return redis_WrongArity(ctx);
    while (i < argc && word_letter(argv[i], 0) != 'i') {
        int const taken = insert_option(argv, argc, i, &wish, &problem);
        if (problem != NULL) return redis_ReplyWithError(ctx, problem);
        if (taken == 0) return redis_WrongArity(ctx);
        i += taken;
    }
    wish.first_item = i + 1;
    if (wish.first_item >= argc) return redis_WrongArity(ctx);
    return add_command(ctx, argv, argc, &wish, true);
}

/* ------------------------------------------------------------------ asking */

int items_exist(redis_ctx *ctx, redis_string **argv, int argc, value_family family) {
    key_handle               key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_value *const value = key_family(&key, family);
    size_t const             n = (size_t)argc - 2;
    uint64_t                 hashes[ITEMS_AT_ONCE];
    bool                     has[ITEMS_AT_ONCE];
    redis_ReplyWithArray(ctx, (long)n);
    for (size_t at = 0; at < n; at += ITEMS_AT_ONCE) {
        size_t const some = n - at < ITEMS_AT_ONCE ? n - at : ITEMS_AT_ONCE;
        for (size_t k = 0; k < some && value != NULL; k++)
            hashes[k] = value_hash(value, word_key(argv[2 + at + k]));
        if (value != NULL && value->n_parts == 1)
            (void)tamis_has_hash_batch(value->parts[0].set, hashes, some, has);
        for (size_t k = 0; k < some; k++) {
            bool const yes =
                value != NULL && (value->n_parts == 1 ? has[k] : value_has(value, hashes[k]));
            redis_ReplyWithBool(ctx, yes);
        }
    }
    key_close(&key);
    return REDIS_OK;
}

int item_exists(redis_ctx *ctx, redis_string **argv, int argc, value_family family) {
    if (argc != 3) return redis_WrongArity(ctx);
    key_handle               key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_value *const value = key_family(&key, family);
    redis_ReplyWithBool(ctx,
                        value != NULL && value_has(value, value_hash(value, word_key(argv[2]))));
    key_close(&key);
    return REDIS_OK;
}

int bf_exists(redis_ctx *ctx, redis_string **argv, int argc) {
    return item_exists(ctx, argv, argc, FAMILY_BF);
}

int bf_mexists(redis_ctx *ctx, redis_string **argv, int argc) {
    return argc < 3 ? redis_WrongArity(ctx) : items_exist(ctx, argv, argc, FAMILY_BF);
}

int bf_card(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc != 2) return redis_WrongArity(ctx);
    key_handle key = key_open(ctx, argv[1], KEY_FOR_READING);
    if (key_is_wrong(&key, FAMILY_BF))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else
        redis_ReplyWithLongLong(ctx, key.value != NULL ? (long long)key.value->items : 0);
    key_close(&key);
    return REDIS_OK;
}

/* Keys that the filter has room for now. While a growing filter has no more than was asked for,
 * that is what was asked for, although its first stage may have room for more. */
static long long current_capacity(const tamis_value *value) {
    long long sum = 0;
    if (value->items <= value->capacity || value->expansion == 0) return (long long)value->capacity;
    for (unsigned i = 0; i < value->n_parts; i++) {
        tamis_facts facts;
        if (tamis_get_facts(value->parts[i].set, &facts) == TAMIS_OK)
            sum += (long long)facts.capacity;
    }
    return sum;
}

static void reply_fact(redis_ctx *ctx, const tamis_value *value, unsigned fact) {
    long long const numbers[] = { current_capacity(value), (long long)value_memory(value),
                                  (long long)value->n_parts, (long long)value->items,
                                  (long long)value->expansion };
    if (fact == 4 && value->expansion == 0)
        redis_ReplyWithNull(ctx);
    else
        redis_ReplyWithLongLong(ctx, numbers[fact]);
}

static void reply_info(redis_ctx *ctx, const tamis_value *value, const redis_string *word) {
    static const char *const names[] = { "Capacity", "Size", "Number of filters",
                                         "Number of items inserted", "Expansion rate" };
    static const char *const words[] = { "CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION" };
    if (word == NULL) {
        redis_ReplyWithMap(ctx, 5);
        for (unsigned i = 0; i < 5; i++) {
            redis_ReplyWithSimpleString(ctx, names[i]);
            reply_fact(ctx, value, i);
        }
        return;
    }
    for (unsigned i = 0; i < 5; i++) {
        if (!word_is(word, words[i])) continue;
        redis_ReplyWithArray(ctx, 1);
        reply_fact(ctx, value, i);
        return;
    }
    redis_ReplyWithError(ctx, "Invalid information value");
}

int bf_info(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 2 || argc > 3) return redis_WrongArity(ctx);
    key_handle key = key_open(ctx, argv[1], KEY_FOR_READING);
    if (key_is_wrong(&key, FAMILY_BF))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (key.value == NULL)
        redis_ReplyWithError(ctx, "ERR not found");
    else
        reply_info(ctx, key.value, argc == 3 ? argv[2] : NULL);
    key_close(&key);
    return REDIS_OK;
}

static void reply_debug(redis_ctx *ctx, const tamis_value *value) {
    char text[256];
    int  n = snprintf(text, sizeof text, "size:%llu", (unsigned long long)value->items);
    redis_ReplyWithArray(ctx, 1 + (long)value->n_parts);
    redis_ReplyWithStringBuffer(ctx, text, (size_t)n);
    for (unsigned i = 0; i < value->n_parts; i++) {
        const value_part *const part = &value->parts[i];
        tamis_facts             facts;
        if (tamis_get_facts(part->set, &facts) != TAMIS_OK) return;
        uint64_t hashes = 0; /* other kinds than Bloom filters have none */
        (void)!tamis_get_field(part->set, "hashes", &hashes);
        n = snprintf(text, sizeof text,
                     "bytes:%llu bits:%llu hashes:%llu hashwidth:64 capacity:%llu size:%llu "
                     "ratio:%g",
                     (unsigned long long)facts.body_bytes,
                     (unsigned long long)(8 * facts.body_bytes),
                     (unsigned long long)(hashes != 0 ? hashes : 1),
                     (unsigned long long)part->limit, (unsigned long long)part->prints,
                     value->error / (double)(UINT64_C(1) << (i + (value->expansion != 0))));
        redis_ReplyWithStringBuffer(ctx, text, (size_t)n);
    }
}

int bf_debug(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc != 2) return redis_WrongArity(ctx);
    key_handle key = key_open(ctx, argv[1], KEY_FOR_READING);
    if (key_is_wrong(&key, FAMILY_BF))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (key.value == NULL)
        redis_ReplyWithError(ctx, "ERR not found");
    else
        reply_debug(ctx, key.value);
    key_close(&key);
    return REDIS_OK;
}

/* ------------------------------------------------------------------ dumps */

static void reply_dump(redis_ctx *ctx, tamis_value *value, long long position) {
    byte_buffer       piece = { NULL, 0, 0 };
    long long         next = 0;
    dump_result const result =
        position < 0 ? DUMP_END : chunks_dump(value, position, &piece, &next);
    if (result == DUMP_CHANGED || result == DUMP_NO_MEMORY) {
        redis_ReplyWithError(ctx, result == DUMP_CHANGED ? DUMP_CHANGED_TEXT
                                                         : "ERR Insufficient memory");
    } else {
        redis_ReplyWithArray(ctx, 2);
        redis_ReplyWithLongLong(ctx, result == DUMP_END ? 0 : next);
        redis_ReplyWithStringBuffer(ctx, piece.n != 0 ? piece.bytes : "",
                                    result == DUMP_END ? 0 : piece.n);
    }
    buffer_free(&piece);
}

int bf_scandump(redis_ctx *ctx, redis_string **argv, int argc) {
    long long position;
    if (argc != 3) return redis_WrongArity(ctx);
    key_handle key = key_open(ctx, argv[1], KEY_FOR_READING);
    if (key_is_wrong(&key, FAMILY_BF))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (key.value == NULL)
        redis_ReplyWithError(ctx, "ERR not found");
    else if (!word_number(argv[2], &position))
        redis_ReplyWithError(ctx, "Second argument must be numeric");
    else
        reply_dump(ctx, key.value, position);
    key_close(&key);
    return REDIS_OK;
}

/* A live filter is never overwritten. The errors are those that clients know from other servers:
 * they depend on where the piece would go. It ends before `position`, counted from 1. */
static void reply_not_loaded(redis_ctx *ctx, const tamis_value *value, long long position,
                             size_t n) {
    uint64_t const total = value_encoded_bytes(value);
    bool const     is_bad = position <= 0 || (uint64_t)position < n;
    uint64_t const begin = is_bad ? 0 : (uint64_t)position - n; /* of its bytes */
    if (is_bad)
        redis_ReplyWithError(ctx, "ERR received bad data");
    else if (begin < 1 || begin > total)
        redis_ReplyWithError(ctx, "ERR invalid offset - no link found");
    else if (n == 0)
        redis_ReplyWithSimpleString(ctx, "OK"); /* nothing was to be written */
    else if (n > total - begin + 1)
        redis_ReplyWithError(ctx, "ERR invalid chunk - Too big for current filter");
    else
        redis_ReplyWithError(ctx, "ERR received bad data");
}

int bf_loadchunk(redis_ctx *ctx, redis_string **argv, int argc) {
    long long position;
    if (argc != 4) return redis_WrongArity(ctx);
    if (!word_number(argv[2], &position))
        return redis_ReplyWithError(ctx, "ERR Second argument must be numeric");
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    if (key_is_wrong(&key, FAMILY_BF))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (key.value != NULL)
        reply_not_loaded(ctx, key.value, position, word_key(argv[3]).bytes);
    else if (position < 1)
        redis_ReplyWithError(ctx, "ERR not found");
    else
        chunks_load(&key, FAMILY_BF, position, word_key(argv[3]));
    key_close(&key);
    return REDIS_OK;
}
