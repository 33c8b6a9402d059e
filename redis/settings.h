/* settings.h - the module's arguments: defaults of new keys, and limits.
 *
 *     loadmodule tamis-redis.so bf-error-rate 0.001 max-key-bytes 1073741824
 */
#ifndef TAMIS_REDIS_SETTINGS_H
#define TAMIS_REDIS_SETTINGS_H

#include "abi.h"

typedef struct tamis_settings {
    double    bf_error;
    long long bf_capacity;
    long long bf_expansion;
    double    cf_error;
    long long cf_capacity;
    long long cf_bucket_size;
    long long cf_max_iterations;
    long long cf_expansion;
    long long cf_max_expansions;
    long long cf_count_to;   /* copies of a key that CF.COUNT tells exactly */
    long long headroom;      /* a part grows to 2^headroom times its first capacity */
    long long max_key_bytes; /* memory of one key; 0: no limit */
    long long fixed_seed;    /* of all new keys, for tests; 0: random seeds */
    long long stage_seconds; /* a LOADCHUNK that does not go on for so long is given up */
} tamis_settings;

extern tamis_settings settings;

/* Read pairs of name and value. False: something is wrong, and the log says what. */
bool settings_read(redis_ctx *ctx, redis_string **argv, int argc);

/* Let CONFIG GET and SET have them too, where the server can: as tamis.bf-error-rate and so on;
 * from Redis 8 on without a prefix. False: the server refused one, or a value in its file. */
bool settings_register(redis_ctx *ctx);

#endif
