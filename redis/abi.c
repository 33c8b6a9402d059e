/* abi.c - find the server's functions by name. */
#include "abi.h"

#define REDIS_DEFINE(type, name, arguments) type(*redis_##name) arguments;
REDIS_REQUIRED(REDIS_DEFINE)
REDIS_OPTIONAL(REDIS_DEFINE)

/* The server writes the function's address to *ret_function, and leaves it alone if there is none.
 * Returns 0 (REDIS_OK) if there is one. */
typedef int find_function(const char *name, void *ret_function);

typedef struct wanted_function {
    const char *name;
    void       *slot;
    bool        is_required;
} wanted_function;

#define REDIS_NEED(type, name, arguments) { "RedisModule_" #name, &redis_##name, true },
#define REDIS_WISH(type, name, arguments) { "RedisModule_" #name, &redis_##name, false },

static const wanted_function all[] = { REDIS_REQUIRED(REDIS_NEED) REDIS_OPTIONAL(REDIS_WISH) };

bool redis_is_valkey;

bool redis_find_functions(redis_ctx *ctx) {
    find_function *find;
    bool           is_complete = true;
    __builtin_memcpy(&find, (const void *)ctx, sizeof find); /* the context's first word */
    void *only_there = NULL;
    redis_is_valkey = find("ValkeyModule_Log", &only_there) == REDIS_OK;
    (void)find("RedisModule_Log", &redis_Log);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (find(all[i].name, all[i].slot) == REDIS_OK) continue;
        if (all[i].is_required) is_complete = false;
        if (redis_Log == NULL) continue;
        redis_Log(ctx, all[i].is_required ? "warning" : "notice",
                  all[i].is_required
                      ? "tamis cannot load: this server has no %s (Redis 7.0 or newer has it)"
                      : "tamis: this server has no %s; docs/redis.md says what that means",
                  all[i].name);
    }
    return is_complete;
}
