/* keys.h - from the name of a key to its value, and the four types of values. */
#ifndef TAMIS_REDIS_KEYS_H
#define TAMIS_REDIS_KEYS_H

#include "value.h"

#define WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

typedef enum key_use {
    KEY_FOR_READING,
    KEY_FOR_WRITING, /* clients that WATCH it are told when it is closed */
    KEY_FOR_AGEING   /* it does not count as used */
} key_use;

typedef struct key_handle {
    redis_ctx    *ctx;
    redis_string *name;
    redis_key    *key;
    tamis_value  *value;      /* NULL: there is none, or it is not ours */
    bool          is_foreign; /* there is something that is not ours */
} key_handle;

/* types.c: make the types. False: the server refused. */
bool types_create(redis_ctx *ctx);

key_handle key_open(redis_ctx *ctx, redis_string *name, key_use use);
void       key_close(key_handle *key);

/* The key's value if it is of this family, else NULL. */
tamis_value *key_family(const key_handle *key, value_family family);

/* Does the key hold anything that is not of this family? */
bool key_is_wrong(const key_handle *key, value_family family);

/* Give the key, which is open for writing, this value. */
void key_set(key_handle *key, tamis_value *value);

/* Tell those who listen: events of the module class ('d'). */
void key_notify(const key_handle *key, const char *event);

/* Tell replicas how a part was made. */
void key_replicate_part(const key_handle *key, const value_recipe *recipe);

/* TAMIS.MAKE key recipe: what they are told. */
redis_handler command_make;

#endif
