/* module.c - the entry points: what the server calls when it loads and unloads the module. */
#include "chunks.h"
#include "clock.h"
#include "commands.h"
#include "keys.h"
#include "settings.h"

#include <tamis/tamis.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);

static void on_cron(redis_ctx *ctx, redis_event event, uint64_t subevent, void *data) {
    (void)event, (void)subevent, (void)data;
    clock_cron(ctx);
    chunks_tidy(false);
}

/* Loads that are under way would come back into a database that was just emptied. */
static void on_flush(redis_ctx *ctx, redis_event event, uint64_t subevent, void *data) {
    (void)ctx, (void)event, (void)subevent, (void)data;
    chunks_tidy(true);
}

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc) {
    if (!redis_find_functions(ctx)) return REDIS_ERR;
    if (redis_IsModuleNameBusy("tamis")) {
        redis_Log(ctx, "warning", "tamis cannot load: it is loaded already");
        return REDIS_ERR;
    }
    redis_SetModuleAttribs(ctx, "tamis", TAMIS_VERSION_NUMBER, REDIS_API_VERSION);
    if (!settings_read(ctx, argv, argc)) return REDIS_ERR;
    redis_SetModuleOptions(ctx, REDIS_HANDLES_IO_ERRORS);
    if (!settings_register(ctx) || !types_create(ctx) || !commands_create(ctx)) return REDIS_ERR;
    redis_event const cron = { REDIS_EVENT_CRON, 1 }, flush = { REDIS_EVENT_FLUSHDB, 1 };
    if (redis_SubscribeToServerEvent(ctx, cron, on_cron) != REDIS_OK ||
        redis_SubscribeToServerEvent(ctx, flush, on_flush) != REDIS_OK)
        return REDIS_ERR;
    redis_Log(ctx, "notice", "tamis %s: BF.*, CF.* and TAMIS.* are ready", tamis_version());
    return REDIS_OK;
}
