/* bf.h - the handlers of BF.* and CF.*. */
#ifndef TAMIS_REDIS_BF_H
#define TAMIS_REDIS_BF_H

#include "keys.h"

#define DUMP_CHANGED_TEXT "ERR the key changed since this dump began: start again with 0"

redis_handler bf_reserve, bf_add, bf_madd, bf_insert, bf_exists, bf_mexists, bf_card, bf_info,
    bf_debug, bf_scandump, bf_loadchunk;

redis_handler cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_exists, cf_mexists, cf_count,
    cf_del, cf_compact, cf_info, cf_debug, cf_scandump, cf_loadchunk;

/* Does the client speak RESP3? */
static inline bool reply_is_resp3(redis_ctx *ctx) {
    return (redis_GetContextFlags(ctx) & REDIS_SPEAKS_RESP3) != 0;
}

/* bf.c: EXISTS and MEXISTS of both families. A missing key, or one of another type, has nothing. */
int item_exists(redis_ctx *ctx, redis_string **argv, int argc, value_family family);
int items_exist(redis_ctx *ctx, redis_string **argv, int argc, value_family family);

#endif
