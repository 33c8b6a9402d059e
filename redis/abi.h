/* abi.h - the part of the server's module ABI that this module uses.
 *
 * Debian ships no header for modules, so this is our own. The server passes a context to the entry
 * point; its first word is a function that finds the others by name. Names, argument types and
 * constants are those of Redis 7.0, which Valkey kept. There are two lists: without a function of
 * the first one the module refuses to load and says which is missing; what is absent of the second
 * one is logged, and docs/redis.md says what does not work then.
 *
 * redis_Name(...) calls RedisModule_Name of the server's documentation.
 */
#ifndef TAMIS_REDIS_ABI_H
#define TAMIS_REDIS_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------ constants */

enum { REDIS_OK = 0, REDIS_ERR = 1 };
enum { REDIS_API_VERSION = 1 };

enum { REDIS_READ = 1, REDIS_WRITE = 2 };
enum { REDIS_KEY_EMPTY = 0 };
enum { REDIS_POSTPONED_LENGTH = -1 };

enum { REDIS_HANDLES_IO_ERRORS = 1 };

enum { /* of GetContextFlags */
       REDIS_IS_LUA = 1 << 0,
       REDIS_IS_MULTI = 1 << 1,
       REDIS_IS_REPLICA = 1 << 3,
       REDIS_IS_CLUSTER = 1 << 5,
       REDIS_IS_REPLICATED = 1 << 12,
       REDIS_IS_LOADING = 1 << 13,
       REDIS_DENIES_BLOCKING = 1 << 21,
       REDIS_SPEAKS_RESP3 = 1 << 22
};

enum { REDIS_NOTIFY_MODULE = 1 << 13 }; /* class 'd' of keyspace events */

enum { REDIS_EVENT_FLUSHDB = 2, REDIS_EVENT_CRON = 8 };

enum {
    REDIS_ARG_STRING,
    REDIS_ARG_INTEGER,
    REDIS_ARG_DOUBLE,
    REDIS_ARG_KEY,
    REDIS_ARG_PATTERN,
    REDIS_ARG_UNIX_TIME,
    REDIS_ARG_TOKEN,
    REDIS_ARG_ONE_OF,
    REDIS_ARG_BLOCK
};
enum { REDIS_ARG_OPTIONAL = 1, REDIS_ARG_MULTIPLE = 2 };

enum { REDIS_BEGIN_INDEX = 2, REDIS_BEGIN_KEYWORD = 3, REDIS_FIND_RANGE = 2 };
enum { /* what a command does to a key */
       REDIS_KEY_RO = 1 << 0,
       REDIS_KEY_RW = 1 << 1,
       REDIS_KEY_OW = 1 << 2,
       REDIS_KEY_ACCESS = 1 << 4,
       REDIS_KEY_UPDATE = 1 << 5,
       REDIS_KEY_INSERT = 1 << 6,
       REDIS_KEY_DELETE = 1 << 7
};

/* ------------------------------------------------------------------ types */

typedef struct RedisModuleCtx           redis_ctx;
typedef struct RedisModuleString        redis_string;
typedef struct RedisModuleKey           redis_key;
typedef struct RedisModuleType          redis_type;
typedef struct RedisModuleIO            redis_io;
typedef struct RedisModuleDigest        redis_digest;
typedef struct RedisModuleCommand       redis_command;
typedef struct RedisModuleKeyOptCtx     redis_key_context;
typedef struct RedisModuleDefragCtx     redis_defrag;
typedef struct RedisModuleBlockedClient redis_blocked;
typedef struct RedisModuleCallReply     redis_reply;
typedef int redis_handler(redis_ctx *ctx, redis_string **argv, int argc);

/* of CONFIG GET and SET */
typedef long long redis_get_number(const char *name, void *data);
typedef int redis_set_number(const char *name, long long number, void *data, redis_string **reterr);
typedef redis_string *redis_get_string(const char *name, void *data);
typedef int           redis_set_string(const char *name, redis_string *text, void *data,
                                       redis_string **reterr);
typedef int           redis_apply(redis_ctx *ctx, void *data, redis_string **reterr);
enum { REDIS_CONFIG_UNPREFIXED = 1 << 9 }; /* Redis 8 */

typedef struct redis_event {
    uint64_t id, data_version;
} redis_event;

typedef void redis_on_event(redis_ctx *ctx, redis_event event, uint64_t subevent, void *data);

typedef struct redis_type_methods {
    uint64_t version; /* 4: up to copy2 */
    void *(*rdb_load)(redis_io *io, int encoding);
    void (*rdb_save)(redis_io *io, void *value);
    void (*aof_rewrite)(redis_io *io, redis_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(redis_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(redis_io *io, int encoding, int when);
    void (*aux_save)(redis_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(redis_string *key, const void *value);
    void (*unlink)(redis_string *key, const void *value);
    void *(*copy)(redis_string *from, redis_string *to, const void *value);
    int (*defrag)(redis_defrag *defrag, redis_string *key, void **value);
    size_t (*mem_usage2)(redis_key_context *context, const void *value, size_t samples);
    size_t (*free_effort2)(redis_key_context *context, const void *value);
    void (*unlink2)(redis_key_context *context, const void *value);
    void *(*copy2)(redis_key_context *context, const void *value);
} redis_type_methods;

typedef struct redis_arg {
    const char       *name;
    int               type;
    int               key_spec; /* index of the key, -1 if it is none */
    const char       *token;
    const char       *summary;
    const char       *since;
    int               flags;
    const char       *deprecated_since;
    struct redis_arg *subargs;
    const char       *display_text;
} redis_arg;

typedef struct redis_history {
    const char *since, *changes;
} redis_history;

typedef struct redis_key_spec {
    const char *notes;
    uint64_t    flags;
    int         begin_search;
    union {
        struct {
            int position;
        } index;
        struct {
            const char *keyword;
            int         start_from;
        } keyword;
    } begin;
    int find_keys;
    union {
        struct {
            int last_key, step, limit;
        } range;
        struct {
            int index, first_key, step;
        } number;
    } find;
} redis_key_spec;

typedef struct redis_info_version {
    int    version;
    size_t history_bytes, key_spec_bytes, arg_bytes;
} redis_info_version;

typedef struct redis_command_info {
    const redis_info_version *version;
    const char               *summary, *complexity, *since;
    redis_history            *history;
    const char               *tips;
    int                       arity;
    redis_key_spec           *key_specs;
    redis_arg                *args;
} redis_command_info;

/* ------------------------------------------------------------------ functions */

#define REDIS_REQUIRED(X)                                                                          \
    X(void *, TryAlloc, (size_t bytes))                                                            \
    X(void, Free, (void *memory))                                                                  \
    X(size_t, MallocSize, (void *memory))                                                          \
    X(void, SetModuleAttribs, (redis_ctx * ctx, const char *name, int version, int api))           \
    X(int, IsModuleNameBusy, (const char *name))                                                   \
    X(void, SetModuleOptions, (redis_ctx * ctx, int options))                                      \
    X(int, CreateCommand,                                                                          \
      (redis_ctx * ctx, const char *name, redis_handler *handler, const char *flags, int first,    \
       int last, int step))                                                                        \
    X(redis_command *, GetCommand, (redis_ctx * ctx, const char *name))                            \
    X(int, SetCommandInfo, (redis_command * command, const redis_command_info *info))              \
    X(redis_type *, CreateDataType,                                                                \
      (redis_ctx * ctx, const char *name, int encoding, redis_type_methods *methods))              \
    X(int, ModuleTypeSetValue, (redis_key * key, redis_type * type, void *value))                  \
    X(redis_type *, ModuleTypeGetType, (redis_key * key))                                          \
    X(void *, ModuleTypeGetValue, (redis_key * key))                                               \
    X(redis_key *, OpenKey, (redis_ctx * ctx, redis_string * name, int mode))                      \
    X(void, CloseKey, (redis_key * key))                                                           \
    X(int, KeyType, (redis_key * key))                                                             \
    X(int, DeleteKey, (redis_key * key))                                                           \
    X(const char *, StringPtrLen, (const redis_string *string, size_t *ret_bytes))                 \
    X(int, StringToLongLong, (const redis_string *string, long long *ret))                         \
    X(int, StringToDouble, (const redis_string *string, double *ret))                              \
    X(redis_string *, CreateString, (redis_ctx * ctx, const char *text, size_t bytes))             \
    X(void, FreeString, (redis_ctx * ctx, redis_string * string))                                  \
    X(void, RetainString, (redis_ctx * ctx, redis_string * string))                                \
    X(int, WrongArity, (redis_ctx * ctx))                                                          \
    X(int, ReplyWithLongLong, (redis_ctx * ctx, long long number))                                 \
    X(int, ReplyWithDouble, (redis_ctx * ctx, double number))                                      \
    X(int, ReplyWithBool, (redis_ctx * ctx, int yes))                                              \
    X(int, ReplyWithNull, (redis_ctx * ctx))                                                       \
    X(int, ReplyWithError, (redis_ctx * ctx, const char *text))                                    \
    X(int, ReplyWithSimpleString, (redis_ctx * ctx, const char *text))                             \
    X(int, ReplyWithStringBuffer, (redis_ctx * ctx, const char *bytes, size_t n))                  \
    X(int, ReplyWithArray, (redis_ctx * ctx, long length))                                         \
    X(int, ReplyWithMap, (redis_ctx * ctx, long length))                                           \
    X(void, ReplySetArrayLength, (redis_ctx * ctx, long length))                                   \
    X(void, ReplySetMapLength, (redis_ctx * ctx, long length))                                     \
    X(int, Replicate, (redis_ctx * ctx, const char *command, const char *format, ...))             \
    X(int, ReplicateVerbatim, (redis_ctx * ctx))                                                   \
    X(int, GetContextFlags, (redis_ctx * ctx))                                                     \
    X(int, GetSelectedDb, (redis_ctx * ctx))                                                       \
    X(int, SelectDb, (redis_ctx * ctx, int db))                                                    \
    X(int, NotifyKeyspaceEvent, (redis_ctx * ctx, int type, const char *event, redis_string *key)) \
    X(int, SubscribeToServerEvent, (redis_ctx * ctx, redis_event event, redis_on_event * call))    \
    X(void, SaveUnsigned, (redis_io * io, uint64_t number))                                        \
    X(uint64_t, LoadUnsigned, (redis_io * io))                                                     \
    X(void, SaveStringBuffer, (redis_io * io, const char *bytes, size_t n))                        \
    X(char *, LoadStringBuffer, (redis_io * io, size_t * ret_bytes))                               \
    X(int, IsIOError, (redis_io * io))                                                             \
    X(void, LogIOError, (redis_io * io, const char *level, const char *format, ...))               \
    X(void, EmitAOF, (redis_io * io, const char *command, const char *format, ...))                \
    X(const redis_string *, GetKeyNameFromIO, (redis_io * io))                                     \
    X(int, GetDbIdFromIO, (redis_io * io))                                                         \
    X(const redis_string *, GetToKeyNameFromOptCtx, (redis_key_context * context))                 \
    X(int, GetToDbIdFromOptCtx, (redis_key_context * context))                                     \
    X(void, DigestAddStringBuffer, (redis_digest * digest, const char *bytes, size_t n))           \
    X(void, DigestAddLongLong, (redis_digest * digest, long long number))                          \
    X(void, DigestEndSequence, (redis_digest * digest))                                            \
    X(void *, DefragAlloc, (redis_defrag * defrag, void *memory))                                  \
    X(redis_blocked *, BlockClient,                                                                \
      (redis_ctx * ctx, redis_handler * reply, redis_handler * timeout,                            \
       void (*free_data)(redis_ctx *, void *), long long timeout_ms))                              \
    X(int, UnblockClient, (redis_blocked * client, void *data))                                    \
    X(int, AbortBlock, (redis_blocked * client))                                                   \
    X(void *, GetBlockedClientPrivateData, (redis_ctx * ctx))                                      \
    X(int, IsBlockedReplyRequest, (redis_ctx * ctx))                                               \
    X(int, AvoidReplicaTraffic, (void))                                                            \
    X(redis_reply *, Call, (redis_ctx * ctx, const char *command, const char *format, ...))        \
    X(void, FreeCallReply, (redis_reply * reply))                                                  \
    X(void, Log, (redis_ctx * ctx, const char *level, const char *format, ...))                    \
    X(long long, Milliseconds, (void))                                                             \
    X(uint64_t, MonotonicMicroseconds, (void))

#define REDIS_OPTIONAL(X)                                                                     \
    X(int, AddACLCategory, (redis_ctx * ctx, const char *name))                               \
    X(int, SetCommandACLCategories, (redis_command * command, const char *categories))        \
    X(int, GetServerVersion, (void))                                                          \
    X(int, RegisterNumericConfig,                                                             \
      (redis_ctx * ctx, const char *name, long long initial, unsigned flags, long long least, \
       long long most, redis_get_number *get, redis_set_number *set, redis_apply *apply,      \
       void *data))                                                                           \
    X(int, RegisterStringConfig,                                                              \
      (redis_ctx * ctx, const char *name, const char *initial, unsigned flags,                \
       redis_get_string *get, redis_set_string *set, redis_apply *apply, void *data))         \
    X(int, LoadConfigs, (redis_ctx * ctx))

#define REDIS_DECLARE(type, name, arguments) extern type(*redis_##name) arguments;
REDIS_REQUIRED(REDIS_DECLARE)
REDIS_OPTIONAL(REDIS_DECLARE)
#undef REDIS_DECLARE

/* Is it Valkey? Its version 8 is not that of Redis. */
extern bool redis_is_valkey;

/* Find all functions. False, and a line in the log: one that is required is missing. */
bool redis_find_functions(redis_ctx *ctx);

#endif
