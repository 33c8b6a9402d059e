/* redis_mock_replies.c - replies, registrations, clocks and logs of the mock. */
#include "redis_mock_inside.h"

struct mock_reply mock_reply;

/* ------------------------------------------------------------------ replies */

static int reply(bool is_bad) {
    mock_server.is_error = is_bad;
    return REDIS_OK;
}

static int reply_error(redis_ctx *ctx, const char *text) {
    (void)ctx, (void)text;
    return reply(true);
}

static int reply_number(redis_ctx *ctx, long long number) {
    (void)ctx;
    mock_reply.number = number;
    return reply(false);
}

static int reply_double(redis_ctx *ctx, double number) {
    (void)ctx, (void)number;
    return reply(false);
}

static int reply_bool(redis_ctx *ctx, int yes) {
    (void)ctx, (void)yes;
    return reply(false);
}

static int reply_nothing(redis_ctx *ctx) {
    (void)ctx;
    return reply(false);
}

static int wrong_arity(redis_ctx *ctx) {
    (void)ctx;
    return reply(true);
}

static int reply_text(redis_ctx *ctx, const char *text) {
    (void)ctx, (void)text;
    return reply(false);
}

static int reply_bytes(redis_ctx *ctx, const char *bytes, size_t n) {
    (void)ctx;
    mock_reply.n = n <= sizeof mock_reply.bytes ? n : 0;
    memcpy(mock_reply.bytes, bytes, mock_reply.n);
    return reply(false);
}

static int reply_list(redis_ctx *ctx, long length) {
    (void)ctx, (void)length;
    return reply(false);
}

static void set_length(redis_ctx *ctx, long length) {
    (void)ctx, (void)length;
}

/* ------------------------------------------------------------------ the rest */

static void set_attribs(redis_ctx *ctx, const char *name, int version, int api) {
    (void)ctx, (void)name, (void)version, (void)api;
}

static int is_name_busy(const char *name) {
    (void)name;
    return 0;
}

static void set_options(redis_ctx *ctx, int options) {
    (void)ctx, (void)options;
}

static int create_command(redis_ctx *ctx, const char *name, redis_handler *handler,
                          const char *flags, int first, int last, int step) {
    (void)ctx, (void)flags, (void)first, (void)last, (void)step;
    must(mock_server.n_commands < MOCK_COMMANDS);
    mock_server.commands[mock_server.n_commands].name = name;
    mock_server.commands[mock_server.n_commands++].handler = handler;
    return REDIS_OK;
}

static redis_command *get_command(redis_ctx *ctx, const char *name) {
    (void)ctx, (void)name;
    return (redis_command *)(void *)mock_server.commands;
}

static int set_command_info(redis_command *command, const redis_command_info *info) {
    (void)command, (void)info;
    return REDIS_OK;
}

static redis_type *create_type(redis_ctx *ctx, const char *name, int encoding,
                               redis_type_methods *methods) {
    (void)ctx, (void)name, (void)encoding;
    mock_server.types[mock_server.n_types] =
        (struct RedisModuleType){ *methods, mock_server.n_types + 1 };
    return &mock_server.types[mock_server.n_types++];
}

static int replicate(redis_ctx *ctx, const char *command, const char *format, ...) {
    (void)ctx, (void)command, (void)format;
    return REDIS_OK;
}

static int zero(redis_ctx *ctx) {
    (void)ctx;
    return 0;
}

static int select_db(redis_ctx *ctx, int db) {
    (void)ctx, (void)db;
    return REDIS_OK;
}

static int notify(redis_ctx *ctx, int type, const char *event, redis_string *key) {
    (void)ctx, (void)type, (void)event, (void)key;
    return REDIS_OK;
}

static int subscribe(redis_ctx *ctx, redis_event event, redis_on_event *call) {
    (void)ctx;
    if (event.id == REDIS_EVENT_FLUSHDB) mock_server.on_flush = call;
    return REDIS_OK;
}

static void log_io(redis_io *io, const char *level, const char *format, ...) {
    (void)io, (void)level, (void)format;
}

static void log_line(redis_ctx *ctx, const char *level, const char *format, ...) {
    (void)ctx, (void)level, (void)format;
}

static const redis_string *key_name(redis_io *io) {
    (void)io;
    return NULL;
}

static long long milliseconds(void) {
    return mock_server.clock_ms += 7;
}

static uint64_t microseconds(void) {
    return (uint64_t)mock_server.clock_ms * 1000;
}

const mock_function mock_functions_of_replies[] = {
    MOCK_FUNCTION(SetModuleAttribs, set_attribs),
    MOCK_FUNCTION(IsModuleNameBusy, is_name_busy),
    MOCK_FUNCTION(SetModuleOptions, set_options),
    MOCK_FUNCTION(CreateCommand, create_command),
    MOCK_FUNCTION(GetCommand, get_command),
    MOCK_FUNCTION(SetCommandInfo, set_command_info),
    MOCK_FUNCTION(CreateDataType, create_type),
    MOCK_FUNCTION(WrongArity, wrong_arity),
    MOCK_FUNCTION(ReplyWithLongLong, reply_number),
    MOCK_FUNCTION(ReplyWithDouble, reply_double),
    MOCK_FUNCTION(ReplyWithBool, reply_bool),
    MOCK_FUNCTION(ReplyWithNull, reply_nothing),
    MOCK_FUNCTION(ReplyWithError, reply_error),
    MOCK_FUNCTION(ReplyWithSimpleString, reply_text),
    MOCK_FUNCTION(ReplyWithStringBuffer, reply_bytes),
    MOCK_FUNCTION(ReplyWithArray, reply_list),
    MOCK_FUNCTION(ReplyWithMap, reply_list),
    MOCK_FUNCTION(ReplySetArrayLength, set_length),
    MOCK_FUNCTION(ReplySetMapLength, set_length),
    MOCK_FUNCTION(Replicate, replicate),
    MOCK_FUNCTION(ReplicateVerbatim, zero),
    MOCK_FUNCTION(GetSelectedDb, zero),
    MOCK_FUNCTION(SelectDb, select_db),
    MOCK_FUNCTION(NotifyKeyspaceEvent, notify),
    MOCK_FUNCTION(SubscribeToServerEvent, subscribe),
    MOCK_FUNCTION(LogIOError, log_io),
    MOCK_FUNCTION(GetKeyNameFromIO, key_name),
    MOCK_FUNCTION(AvoidReplicaTraffic, zero),
    MOCK_FUNCTION(Call, zero),
    MOCK_FUNCTION(FreeCallReply, zero),
    MOCK_FUNCTION(Log, log_line),
    MOCK_FUNCTION(Milliseconds, milliseconds),
    MOCK_FUNCTION(MonotonicMicroseconds, microseconds),
    { NULL, NULL },
};
