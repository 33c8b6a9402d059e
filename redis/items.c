/* items.c - adds of many items, parts that open on the way. */
#include "items.h"

#include "creation.h"
#include "settings.h"
#include "words.h"

/* ------------------------------------------------------------------ recipes */

/* Growing keys leave half of the error to the parts that may come. */
static void recipe_set_growth(value_recipe *recipe, uint64_t capacity, uint64_t expansion) {
    uint64_t const most = UINT64_C(1) << 40;
    recipe->asked = recipe->capacity = capacity;
    recipe->expansion = expansion;
    recipe->fpr = recipe->error;
    if (expansion == 0) return;
    recipe->headroom = (uint64_t)settings.headroom;
    recipe->fpr = recipe->error / 2;
    recipe->grow_to = capacity > most >> recipe->headroom ? most : capacity << recipe->headroom;
}

value_recipe recipe_of_bf(double error, uint64_t capacity, uint64_t expansion) {
    value_recipe recipe = { .family = FAMILY_BF,
                            .error = error > 0.25 ? 0.25 : error,
                            .is_small = true };
    recipe_set_growth(&recipe, capacity, expansion);
    return recipe;
}

value_recipe recipe_of_cf(uint64_t capacity, uint64_t bucket_size, uint64_t max_iterations,
                          uint64_t expansion) {
    value_recipe recipe = { .family = FAMILY_CF,
                            .error = settings.cf_error,
                            .bucket_size = bucket_size,
                            .max_iterations = max_iterations,
                            .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT,
                            .count_to = (uint64_t)settings.cf_count_to,
                            .is_small = true };
    recipe_set_growth(&recipe, capacity, expansion);
    return recipe;
}

/* ------------------------------------------------------------------ batches */

static void tell(item_batch *batch, size_t end) {
    redis_string **const items = batch->items + batch->told;
    size_t const         n = end - batch->told;
    redis_ctx *const     ctx = batch->key->ctx;
    if (n == 0) return;
    if (batch->word != NULL)
        redis_Replicate(ctx, batch->command, "scv", batch->key->name, batch->word, items, n);
    else
        redis_Replicate(ctx, batch->command, "sv", batch->key->name, items, n);
    batch->told = end;
}

/* Open the next part, before item i. */
static item_outcome open_part(item_batch *batch, size_t i) {
    tamis_value *const value = batch->key->value;
    if (value->family == FAMILY_CF && value->n_parts >= (unsigned)settings.cf_max_expansions)
        return REFUSED_PARTS;
    value_recipe       next = value_next_recipe(value);
    tamis_status const status = value_open_part(value, &next, NULL);
    if (status != TAMIS_OK) return status == TAMIS_ERR_MEMORY ? REFUSED_MEMORY : REFUSED_PARTS;
    if (batch->n > 1) tell(batch, i);
    key_replicate_part(batch->key, &next);
    return DONE_NEW;
}

/* New items of a BF key with one part that has room for all of them go in together. Returns how
 * many did; what is refused (no memory to grow) is tried again one by one, and then reported. */
static size_t add_together(item_batch *batch, size_t i, size_t n) {
    tamis_value *const value = batch->key->value;
    tamis_key          keys[ITEMS_AT_ONCE];
    size_t             done = 0;
    if (n == 1 || value->family != FAMILY_BF || !value_has_room(value, n)) return 0;
    for (size_t k = 0; k < n; k++) keys[k] = word_key(batch->items[i + k]);
    tamis_status const status =
        tamis_add_new_batch(value->parts[0].set, keys, n, batch->is_new, &done);
    for (size_t k = 0; k < done; k++) value_count_print(value, batch->is_new[k]);
    return status == TAMIS_OK ? n : done;
}

static void prepare(item_batch *batch, size_t i) {
    size_t const rest = batch->n - i, n = rest < ITEMS_AT_ONCE ? rest : ITEMS_AT_ONCE;
    batch->n_done = batch->is_new_only ? add_together(batch, i, n) : 0;
    if (batch->n_done == n) return;
    for (size_t k = 0; k < n; k++)
        batch->hashes[k] = value_hash(batch->key->value, word_key(batch->items[i + k]));
    if (n > 1) value_fetch(batch->key->value, batch->hashes, n);
}

/* One item that was not added together with others. */
static item_outcome add_alone(item_batch *batch, size_t i) {
    tamis_value *const value = batch->key->value;
    uint64_t const     hash = batch->hashes[i % ITEMS_AT_ONCE];
    item_outcome done = batch->is_new_only ? value_add_new(value, hash) : value_add(value, hash);
    if (done == REFUSED_FULL && value->expansion != 0) {
        done = open_part(batch, i);
        if (done == DONE_NEW) done = value_add(value, hash);
    }
    return done;
}

item_outcome batch_add(item_batch *batch, size_t i) {
    if (i % ITEMS_AT_ONCE == 0) prepare(batch, i);
    size_t const       k = i % ITEMS_AT_ONCE;
    item_outcome const done = k >= batch->n_done ? add_alone(batch, i)
                              : batch->is_new[k] ? DONE_NEW
                                                 : DONE_AGAIN;
    if (done == DONE_NEW || (done == DONE_AGAIN && !batch->is_new_only)) batch->has_changed = true;
    return done;
}

void batch_end(item_batch *batch, size_t done) {
    if (!batch->has_changed) return;
    if (batch->told == 0 && done == batch->n)
        redis_ReplicateVerbatim(batch->key->ctx);
    else
        tell(batch, done);
}

/* ------------------------------------------------------------------ making keys */

static void reply_not_created(redis_ctx *ctx, tamis_status status, const filter_texts *texts) {
    redis_ReplyWithError(ctx, status == TAMIS_ERR_MEMORY
                                  ? "ERR Insufficient memory to create filter"
                                  : texts->not_created);
}

int filter_reserve(redis_ctx *ctx, redis_string *name, value_recipe *recipe,
                   const filter_texts *texts, redis_handler *handler) {
    key_handle key = key_open(ctx, name, KEY_FOR_WRITING);
    if (key_is_wrong(&key, texts->family)) {
        redis_ReplyWithError(ctx, WRONG_TYPE);
    } else if (key.value != NULL) {
        redis_ReplyWithError(ctx, "ERR item exists");
    } else {
        tamis_status const status = creation_make(&key, CREATE_SMALL, recipe, handler, NULL);
        if (status == TAMIS_OK) {
            key_notify(&key, texts->reserved);
            redis_ReplyWithSimpleString(ctx, "OK");
        } else if (status != CREATED_LATER) {
            reply_not_created(ctx, status, texts);
        }
    }
    key_close(&key);
    return REDIS_OK;
}

bool filter_make_sure(key_handle *key, value_recipe *recipe, bool is_creating,
                      const filter_texts *texts, redis_handler *handler) {
    tamis_status status = TAMIS_OK;
    if (key_is_wrong(key, texts->family)) {
        redis_ReplyWithError(key->ctx, WRONG_TYPE);
        return false;
    }
    if (key->value == NULL && !is_creating) {
        redis_ReplyWithError(key->ctx, "ERR not found");
        return false;
    }
    if (key->value == NULL) status = creation_make(key, CREATE_SMALL, recipe, handler, NULL);
    if (status != TAMIS_OK && status != CREATED_LATER) reply_not_created(key->ctx, status, texts);
    return status == TAMIS_OK;
}
