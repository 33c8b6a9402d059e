/* keys.c - open keys, make them, tell replicas. */
#include "keys.h"

#include "clock.h"
#include "creation.h"
#include "types.h"

#include <string.h>

#define OPEN_WITHOUT_TOUCH (1 << 16)

key_handle key_open(redis_ctx *ctx, redis_string *name, key_use use) {
    int const  mode = use == KEY_FOR_WRITING  ? REDIS_READ | REDIS_WRITE
                      : use == KEY_FOR_AGEING ? REDIS_READ | OPEN_WITHOUT_TOUCH
                                              : REDIS_READ;
    key_handle key = { .ctx = ctx, .name = name, .key = redis_OpenKey(ctx, name, mode) };
    if (key.key == NULL) return key;
    if (type_is_ours(redis_ModuleTypeGetType(key.key))) /* NULL: empty, or a type of the server */
        key.value = redis_ModuleTypeGetValue(key.key);
    else
        key.is_foreign = redis_KeyType(key.key) != REDIS_KEY_EMPTY;
    if (key.value != NULL && use != KEY_FOR_AGEING) clock_advance(ctx, name, key.value);
    return key;
}

void key_close(key_handle *key) {
    if (key->key != NULL) redis_CloseKey(key->key);
    key->key = NULL;
}

tamis_value *key_family(const key_handle *key, value_family family) {
    return key->value != NULL && key->value->family == family ? key->value : NULL;
}

bool key_is_wrong(const key_handle *key, value_family family) {
    return key->is_foreign || (key->value != NULL && key->value->family != family);
}

void key_set(key_handle *key, tamis_value *value) {
    redis_ModuleTypeSetValue(key->key, type_of_family(value->family), value);
    key->value = value;
    clock_watch(value, redis_GetSelectedDb(key->ctx), key->name);
}

void key_notify(const key_handle *key, const char *event) {
    redis_NotifyKeyspaceEvent(key->ctx, REDIS_NOTIFY_MODULE, event, key->name);
}

void key_replicate_part(const key_handle *key, const value_recipe *recipe) {
    char text[RECIPE_TEXT_BYTES];
    recipe_write(recipe, text);
    redis_Replicate(key->ctx, "TAMIS.MAKE", "sc", key->name, text);
}

/* The first part makes the key; a later one must be the next one of a BF or CF key. */
static tamis_status make_part(key_handle *key, value_recipe *recipe) {
    if (recipe->part == 0)
        return key->value == NULL && !key->is_foreign
                   ? creation_make(key, CREATE_AS_TOLD, recipe, NULL, NULL)
                   : TAMIS_ERR_CONFLICT;
    tamis_value *const value = key_family(key, recipe->family);
    if (value == NULL || value->states != NULL || value->n_parts != recipe->part ||
        value->family > FAMILY_CF)
        return TAMIS_ERR_CONFLICT;
    tamis_status const status = value_open_part(value, recipe, NULL);
    if (status == TAMIS_OK) key_replicate_part(key, recipe);
    return status;
}

int command_make(redis_ctx *ctx, redis_string **argv, int argc) {
    value_recipe recipe;
    if (argc != 3) return redis_WrongArity(ctx);
    if (!recipe_read(redis_StringPtrLen(argv[2], NULL), &recipe))
        return redis_ReplyWithError(ctx, "ERR not a recipe");
    key_handle         key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    tamis_status const status = make_part(&key, &recipe);
    key_close(&key);
    if (status == TAMIS_OK) return redis_ReplyWithSimpleString(ctx, "OK");
    if (status == TAMIS_ERR_MISMATCH)
        redis_Log(ctx, "warning",
                  "tamis: a part would get another geometry here than on the primary: both need "
                  "the same version of the module");
    return redis_ReplyWithError(ctx, status == TAMIS_ERR_CONFLICT ? "ERR item exists"
                                                                  : "ERR could not create filter");
}
