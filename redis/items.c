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

/* All items of the command have room in the only part: then no part opens on the way, so that a
 * replica makes the same rounds of the same command, and items of a round may go in together: first
 * those that are new, then copies of others. Returns how many items are done; where the set refuses
 * one, it is tried again alone, and reported. */
static size_t add_together(item_batch *batch, size_t i, size_t n) {
    tamis_value *const value = batch->key->value;
    bool               is_new[ITEMS_AT_ONCE];
    size_t             done = 0, n_new = 0;
    if (n == 1 || !value_has_room(value, batch->n - i)) return 0;
    (void)!tamis_add_new_hash_batch(value->parts[0].set, batch->hashes, n, is_new, &done);
    for (size_t k = 0; k < done; k++) {
        batch->outcomes[k] = is_new[k] ? DONE_NEW : DONE_AGAIN;
        n_new += is_new[k];
    }
    value_count_prints(value, n_new);
    for (size_t k = 0; k < done && n_new != done && !batch->is_new_only; k++) {
        if (!is_new[k]) batch->outcomes[k] = value_add_copy(value, batch->hashes[k]);
    }
    return done;
}

/* One item that was not added together with others. */
static item_outcome add_alone(item_batch *batch, size_t i, uint64_t hash) {
    tamis_value *const value = batch->key->value;
    item_outcome done = batch->is_new_only ? value_add_new(value, hash) : value_add(value, hash);
    if (done == REFUSED_FULL && value->expansion != 0) {
        done = open_part(batch, i);
        if (done == DONE_NEW) done = value_add(value, hash);
    }
    return done;
}

void batch_begin(item_batch *batch, key_handle *key, redis_string **items, size_t n) {
    batch->key = key;
    batch->items = items;
    batch->n = n;
    batch->told = 0;
    batch->word = NULL;
    batch->is_new_only = batch->ends_when_full = batch->has_changed = false;
}

/* Item i was refused, perhaps for want of memory that a replica has: it must not hear of it. A
 * filter of a fixed size that is full is full there, too; then CF.INSERT is replicated as a whole,
 * because copies take cells there, in an order that depends on the rounds of a command. */
static void leave_out(item_batch *batch, size_t i, item_outcome refused) {
    if (refused == REFUSED_FULL && !batch->is_new_only) return;
    tell(batch, i);
    batch->told = i + 1;
}

/* Has the item changed anything? */
static bool is_change(const item_batch *batch, item_outcome done) {
    return done == DONE_NEW || (done == DONE_AGAIN && !batch->is_new_only);
}

size_t batch_add(item_batch *batch, size_t i) {
    tamis_value *const value = batch->key->value;
    size_t const       rest = batch->n - i, n = rest < ITEMS_AT_ONCE ? rest : ITEMS_AT_ONCE;
    for (size_t k = 0; k < n; k++)
        batch->hashes[k] = value_hash(value, word_key(batch->items[i + k]));
    size_t done = add_together(batch, i, n);
    if (done < n && n > 1) value_fetch(value, batch->hashes + done, n - done);
    for (bool is_full = false; done < n && !is_full; done++) {
        item_outcome const one = add_alone(batch, i + done, batch->hashes[done]);
        batch->outcomes[done] = one;
        is_full = one == REFUSED_FULL && batch->ends_when_full;
        if (one != DONE_NEW && one != DONE_AGAIN) leave_out(batch, i + done, one);
    }
    for (size_t k = 0; k < done && !batch->has_changed; k++)
        batch->has_changed = is_change(batch, batch->outcomes[k]);
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
