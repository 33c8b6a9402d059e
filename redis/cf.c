/* cf.c - CF.*: sets that count copies and can remove them. */
#include "bf.h"
#include "chunks.h"
#include "items.h"
#include "settings.h"
#include "words.h"

#include <stdio.h>

#define MAX_CAPACITY (1LL << 30)

/* ------------------------------------------------------------------ making */

typedef struct wanted_filter {
    long long capacity, bucket_size, max_iterations, expansion;
    bool      is_creating, is_new_only, is_array;
    int       first_item;

    redis_handler *handler; /* of the command */
} wanted_filter;

static wanted_filter default_wish(redis_handler *handler) {
    return (wanted_filter){ .capacity = settings.cf_capacity,
                            .bucket_size = settings.cf_bucket_size,
                            .max_iterations = settings.cf_max_iterations,
                            .expansion = settings.cf_expansion,
                            .is_creating = true,
                            .handler = handler };
}

static const filter_texts texts = { FAMILY_CF, "cf.reserve", "ERR Could not create filter" };

static value_recipe recipe_of(const wanted_filter *wish) {
    return recipe_of_cf((uint64_t)wish->capacity, (uint64_t)wish->bucket_size,
                        (uint64_t)wish->max_iterations, (uint64_t)wish->expansion);
}

/* An option that may stand anywhere after the capacity, with its range. */
typedef struct reserve_option {
    const char *word;
    long long   least, most;
    long long  *ret;
    const char *unreadable, *out_of_range;
} reserve_option;

/* What is wrong with it; NULL: nothing, or it is not there. */
static const char *option_take(redis_string **argv, int argc, const reserve_option *option) {
    for (int i = 3; i + 1 < argc; i += 2) {
        if (!word_is(argv[i], option->word)) continue;
        if (!word_number(argv[i + 1], option->ret)) return option->unreadable;
        if (*option->ret < option->least || *option->ret > option->most)
            return option->out_of_range;
        return NULL;
    }
    return NULL;
}

static long long power_of_two(long long number) {
    long long power = 1;
    while (power < number) power *= 2;
    return number == 0 ? 0 : power;
}

static const char *reserve_wish(redis_string **argv, int argc, wanted_filter *wish) {
    reserve_option const options[] = {
        { "MAXITERATIONS", 1, 65535, &wish->max_iterations, "Couldn't parse MAXITERATIONS",
          "MAXITERATIONS: value must be in the range [1, 65535]" },
        { "BUCKETSIZE", 1, 255, &wish->bucket_size, "Couldn't parse BUCKETSIZE",
          "BUCKETSIZE: value must be in the range [1, 255]" },
        { "EXPANSION", 0, 32768, &wish->expansion, "Couldn't parse EXPANSION",
          "EXPANSION: value must be in the range [0, 32768]" },
    };
    if (!word_number(argv[2], &wish->capacity)) return "Bad capacity";
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *const problem = option_take(argv, argc, &options[i]);
        if (problem != NULL) return problem;
    }
    wish->expansion = power_of_two(wish->expansion);
    return wish->capacity < 2 * wish->bucket_size || wish->capacity > MAX_CAPACITY
               ? "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
               : NULL;
}

int cf_reserve(redis_ctx *ctx, redis_string **argv, int argc) {
    wanted_filter wish = default_wish(cf_reserve);
    if (argc < 3 || argc % 2 == 0) return redis_WrongArity(ctx);
    const char *const problem = reserve_wish(argv, argc, &wish);
    if (problem != NULL) return redis_ReplyWithError(ctx, problem);
    value_recipe recipe = recipe_of(&wish);
    return filter_reserve(ctx, argv[1], &recipe, &texts, wish.handler);
}

/* ------------------------------------------------------------------ adding */

static void reply_added_one(redis_ctx *ctx, item_outcome done) {
    switch (done) {
    case DONE_NEW: redis_ReplyWithBool(ctx, 1); break;
    case REFUSED_FULL: redis_ReplyWithError(ctx, "Filter is full"); break;
    case REFUSED_PARTS: redis_ReplyWithError(ctx, "Maximum expansions reached"); break;
    case REFUSED_MEMORY: redis_ReplyWithError(ctx, "ERR Insufficient memory"); break;
    default: redis_ReplyWithBool(ctx, 0); break;
    }
}

/* INSERT answers with booleans in RESP3, INSERTNX with integers; in RESP2 both are integers, and
 * -1 is "no space". */
static void reply_added_in_array(redis_ctx *ctx, item_outcome done, bool is_new_only) {
    bool const is_refused = done != DONE_NEW && done != DONE_AGAIN;
    if (is_new_only || (is_refused && !reply_is_resp3(ctx)))
        redis_ReplyWithLongLong(ctx, is_refused ? -1 : done == DONE_NEW);
    else
        redis_ReplyWithBool(ctx, done == DONE_NEW);
}

static void add_items(key_handle *key, redis_string **items, int n, const wanted_filter *wish) {
    item_batch batch;
    batch_begin(&batch, key, items, (size_t)n);
    batch.is_new_only = wish->is_new_only;
    batch.command = wish->is_new_only ? "CF.INSERTNX" : "CF.INSERT";
    batch.word = "ITEMS";
    if (wish->is_array) redis_ReplyWithArray(key->ctx, n);
    for (size_t i = 0, done; i < batch.n; i += done) {
        done = batch_add(&batch, i);
        for (size_t k = 0; k < done; k++) {
            item_outcome one = batch.outcomes[k];
            if (one == DONE_AGAIN && !wish->is_new_only) one = DONE_NEW; /* a copy was stored */
            if (wish->is_array)
                reply_added_in_array(key->ctx, one, wish->is_new_only);
            else
                reply_added_one(key->ctx, one);
        }
    }
    batch_end(&batch, batch.n);
    if (batch.has_changed) key_notify(key, "cf.add");
}

static __attribute__((noinline)) bool make_filter(key_handle *key, const wanted_filter *wish) {
    value_recipe recipe = recipe_of(wish);
    return filter_make_sure(key, &recipe, wish->is_creating, &texts, wish->handler);
}

static int add_command(redis_ctx *ctx, redis_string **argv, int argc, const wanted_filter *wish) {
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    if (key_family(&key, FAMILY_CF) != NULL || make_filter(&key, wish))
        add_items(&key, argv + wish->first_item, argc - wish->first_item, wish);
    key_close(&key);
    return REDIS_OK;
}

static int add_one(redis_ctx *ctx, redis_string **argv, int argc, bool is_new_only) {
    wanted_filter wish = default_wish(is_new_only ? cf_addnx : cf_add);
    if (argc != 3) return redis_WrongArity(ctx);
    wish.first_item = 2;
    wish.is_new_only = is_new_only;
    return add_command(ctx, argv, argc, &wish);
}

int cf_add(redis_ctx *ctx, redis_string **argv, int argc) {
    return add_one(ctx, argv, argc, false);
}

int cf_addnx(redis_ctx *ctx, redis_string **argv, int argc) {
    return add_one(ctx, argv, argc, true);
}

/* Words are told apart by their first letters. */
static int insert(redis_ctx *ctx, redis_string **argv, int argc, bool is_new_only) {
    wanted_filter wish = default_wish(is_new_only ? cf_insertnx : cf_insert);
    int           i = 2;
    if (argc < 4) return redis_WrongArity(ctx);
    wish.is_new_only = is_new_only;
    wish.is_array = true;
    for (; i < argc && word_letter(argv[i], 0) != 'i'; i++) {
        char const letter = word_letter(argv[i], 0);
        if (letter == 'n') {
            wish.is_creating = false;
        } else if (letter == 'c') {
            if (i + 1 == argc) return redis_WrongArity(ctx);
            if (!word_number(argv[++i], &wish.capacity))
                return redis_ReplyWithError(ctx, "Bad capacity");
            if (wish.capacity < 2 * wish.bucket_size || wish.capacity > MAX_CAPACITY)
                return redis_ReplyWithError(
                    ctx, "Capacity must be in the range [cf-bucket-size * 2, 1073741824]");
        } else {
            return redis_ReplyWithError(ctx, "Unknown argument received");
        }
    }
    wish.first_item = i + 1;
    if (wish.first_item >= argc) return redis_WrongArity(ctx);
    return add_command(ctx, argv, argc, &wish);
}

int cf_insert(redis_ctx *ctx, redis_string **argv, int argc) {
    return insert(ctx, argv, argc, false);
}

int cf_insertnx(redis_ctx *ctx, redis_string **argv, int argc) {
    return insert(ctx, argv, argc, true);
}

/* ------------------------------------------------------------------ asking, removing */

int cf_exists(redis_ctx *ctx, redis_string **argv, int argc) {
    return item_exists(ctx, argv, argc, FAMILY_CF);
}

int cf_mexists(redis_ctx *ctx, redis_string **argv, int argc) {
    return argc < 3 ? redis_WrongArity(ctx) : items_exist(ctx, argv, argc, FAMILY_CF);
}

/* A saturated key has more copies than can be counted: one more than the highest exact count. */
int cf_count(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc != 3) return redis_WrongArity(ctx);
    key_handle               key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_value *const value = key_family(&key, FAMILY_CF);
    uint64_t                 count = 0;
    if (value != NULL) {
        tamis_facts facts;
        count = value_count(value, value_hash(value, word_key(argv[2])));
        if (count == TAMIS_COUNT_MANY)
            count =
                tamis_get_facts(value->parts[0].set, &facts) == TAMIS_OK ? facts.count_to + 1 : 0;
    }
    redis_ReplyWithLongLong(ctx, (long long)count);
    key_close(&key);
    return REDIS_OK;
}

/* The reply is how many copies were deleted: 0 for a saturated key, which stays. */
int cf_del(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc != 3) return redis_WrongArity(ctx);
    key_handle         key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    tamis_value *const value = key_family(&key, FAMILY_CF);
    if (value == NULL) {
        redis_ReplyWithError(ctx, "Not found");
    } else {
        item_outcome const done = value_remove(value, value_hash(value, word_key(argv[2])));
        redis_ReplyWithBool(ctx, done == DONE_AGAIN);
        redis_ReplicateVerbatim(ctx);
        if (done == DONE_AGAIN) key_notify(&key, "cf.del");
    }
    key_close(&key);
    return REDIS_OK;
}

/* There is nothing to compact: room that removals leave is used again at once. */
int cf_compact(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc != 2) return redis_WrongArity(ctx);
    key_handle key = key_open(ctx, argv[1], KEY_FOR_READING);
    if (key_family(&key, FAMILY_CF) == NULL)
        redis_ReplyWithError(ctx, "Cuckoo filter was not found");
    else
        redis_ReplyWithSimpleString(ctx, "OK");
    key_close(&key);
    return REDIS_OK;
}

static uint64_t buckets_of(const tamis_value *value) {
    uint64_t sum = 0, n;
    for (unsigned i = 0; i < value->n_parts; i++) {
        if (tamis_get_field(value->parts[i].set, "buckets", &n) == TAMIS_OK) sum += n;
    }
    return sum;
}

static void reply_info(redis_ctx *ctx, const tamis_value *value) {
    static const char *const names[] = { "Size",
                                         "Number of buckets",
                                         "Number of filters",
                                         "Number of items inserted",
                                         "Number of items deleted",
                                         "Bucket size",
                                         "Expansion rate",
                                         "Max iterations" };
    uint64_t const numbers[] = { value_memory(value), buckets_of(value),    value->n_parts,
                                 value->items,        value->deleted,       value->bucket_size,
                                 value->expansion,    value->max_iterations };
    redis_ReplyWithMap(ctx, 8);
    for (unsigned i = 0; i < 8; i++) {
        redis_ReplyWithSimpleString(ctx, names[i]);
        redis_ReplyWithLongLong(ctx, (long long)numbers[i]);
    }
}

static void reply_debug(redis_ctx *ctx, const tamis_value *value) {
    char      text[256];
    int const n = snprintf(
        text, sizeof text,
        "bktsize:%llu buckets:%llu items:%llu deletes:%llu filters:%u "
        "max_iterations:%llu expansion:%llu",
        (unsigned long long)value->bucket_size, (unsigned long long)buckets_of(value),
        (unsigned long long)value->items, (unsigned long long)value->deleted, value->n_parts,
        (unsigned long long)value->max_iterations, (unsigned long long)value->expansion);
    redis_ReplyWithStringBuffer(ctx, text, (size_t)n);
}

static int show(redis_ctx *ctx, redis_string **argv, int argc,
                void (*reply)(redis_ctx *, const tamis_value *)) {
    if (argc != 2) return redis_WrongArity(ctx);
    key_handle key = key_open(ctx, argv[1], KEY_FOR_READING);
    if (key_is_wrong(&key, FAMILY_CF))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (key.value == NULL)
        redis_ReplyWithError(ctx, "ERR not found");
    else
        reply(ctx, key.value);
    key_close(&key);
    return REDIS_OK;
}

int cf_info(redis_ctx *ctx, redis_string **argv, int argc) {
    return show(ctx, argv, argc, reply_info);
}

int cf_debug(redis_ctx *ctx, redis_string **argv, int argc) {
    return show(ctx, argv, argc, reply_debug);
}

/* ------------------------------------------------------------------ dumps */

static void reply_dump(redis_ctx *ctx, tamis_value *value, long long position) {
    byte_buffer       piece = { NULL, 0, 0 };
    long long         next = 0;
    dump_result const result =
        value->items == 0 ? DUMP_END : chunks_dump(value, position, &piece, &next);
    if (result == DUMP_CHANGED || result == DUMP_NO_MEMORY) {
        redis_ReplyWithError(ctx, result == DUMP_CHANGED ? DUMP_CHANGED_TEXT
                                                         : "ERR Insufficient memory");
    } else {
        redis_ReplyWithArray(ctx, 2);
        redis_ReplyWithLongLong(ctx, result == DUMP_END ? 0 : next);
        if (result == DUMP_END)
            redis_ReplyWithNull(ctx);
        else
            redis_ReplyWithStringBuffer(ctx, piece.bytes, piece.n);
    }
    buffer_free(&piece);
}

int cf_scandump(redis_ctx *ctx, redis_string **argv, int argc) {
    long long position;
    if (argc != 3) return redis_WrongArity(ctx);
    if (!word_number(argv[2], &position) || position < 0)
        return redis_ReplyWithError(ctx, "Invalid position");
    key_handle key = key_open(ctx, argv[1], KEY_FOR_READING);
    if (key_is_wrong(&key, FAMILY_CF))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (key.value == NULL)
        redis_ReplyWithError(ctx, "ERR not found");
    else
        reply_dump(ctx, key.value, position);
    key_close(&key);
    return REDIS_OK;
}

int cf_loadchunk(redis_ctx *ctx, redis_string **argv, int argc) {
    long long position;
    if (argc != 4) return redis_WrongArity(ctx);
    if (!word_number(argv[2], &position) || position == 0)
        return redis_ReplyWithError(ctx, "Invalid position");
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    if (key_is_wrong(&key, FAMILY_CF))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (key.value != NULL)
        redis_ReplyWithError(ctx, position == 1 ? "ERR item exists" : "Couldn't load chunk!");
    else if (position < 0)
        redis_ReplyWithError(ctx, "ERR not found");
    else
        chunks_load(&key, FAMILY_CF, position, word_key(argv[3]));
    key_close(&key);
    return REDIS_OK;
}
