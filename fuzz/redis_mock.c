/* redis_mock.c - see redis_mock.h. */
#include "redis_mock.h"

#include "fuzz.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#define MAX_KEYS 8
#define MAX_COMMANDS 100
#define MAX_ALLOCATION ((size_t)64 << 20)

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);

struct RedisModuleCtx {
    int (*find)(const char *name, void *ret_function);
};

struct RedisModuleString {
    char  *bytes;
    size_t n;
    int    refs;
};

struct RedisModuleType {
    redis_type_methods methods;
    unsigned           family;
};

typedef struct slot {
    char                   *name; /* NULL: free */
    size_t                  n;
    struct RedisModuleType *type;
    void                   *value;
} slot;

struct RedisModuleKey {
    char   name[300];
    size_t n;
};

struct RedisModuleIO {
    mock_stream *from;
    uint8_t     *to;
    size_t       room, n;
};

static slot                   keys[MAX_KEYS];
static struct RedisModuleType types[8];
static unsigned               n_types;
static struct {
    const char    *name;
    redis_handler *handler;
} commands[MAX_COMMANDS];
static unsigned              n_commands;
static bool                  is_error;
static redis_on_event       *on_flush;
static long long             clock_ms = 1000000;
static struct RedisModuleCtx context;
struct mock_reply            mock_reply;

/* ------------------------------------------------------------------ memory and strings */

static void *try_alloc(size_t n) {
    return n > MAX_ALLOCATION ? NULL : malloc(n);
}

static redis_string *new_string(const void *bytes, size_t n) {
    redis_string *const made = malloc(sizeof *made);
    must(made != NULL);
    *made = (redis_string){ malloc(n + 1), n, 1 };
    must(made->bytes != NULL);
    if (n != 0) memcpy(made->bytes, bytes, n);
    made->bytes[n] = '\0';
    return made;
}

static redis_string *create_string(redis_ctx *ctx, const char *text, size_t n) {
    (void)ctx;
    return new_string(text, n);
}

static void free_string(redis_ctx *ctx, redis_string *one) {
    (void)ctx;
    if (--one->refs != 0) return;
    free(one->bytes);
    free(one);
}

static void retain_string(redis_ctx *ctx, redis_string *one) {
    (void)ctx;
    one->refs++;
}

static const char *string_ptr(const redis_string *one, size_t *ret_n) {
    if (ret_n != NULL) *ret_n = one->n;
    return one->bytes;
}

static int string_to_number(const redis_string *one, long long *ret) {
    char *end;
    *ret = strtoll(one->bytes, &end, 10);
    return one->n != 0 && end == one->bytes + one->n ? REDIS_OK : REDIS_ERR;
}

static int string_to_double(const redis_string *one, double *ret) {
    char *end;
    *ret = strtod(one->bytes, &end);
    return one->n != 0 && end == one->bytes + one->n ? REDIS_OK : REDIS_ERR;
}

/* ------------------------------------------------------------------ keys */

static slot *find_slot(const char *name, size_t n) {
    for (unsigned i = 0; i < MAX_KEYS; i++) {
        if (keys[i].name != NULL && keys[i].n == n && memcmp(keys[i].name, name, n) == 0)
            return &keys[i];
    }
    return NULL;
}

static void drop_slot(slot *one) {
    free(one->name);
    one->type->methods.free(one->value);
    *one = (slot){ NULL, 0, NULL, NULL };
}

static redis_key *open_key(redis_ctx *ctx, redis_string *name, int mode) {
    (void)ctx;
    if (name->n >= sizeof((redis_key *)0)->name) return NULL;
    if ((mode & REDIS_WRITE) == 0 && find_slot(name->bytes, name->n) == NULL) return NULL;
    redis_key *const key = calloc(1, sizeof *key);
    must(key != NULL);
    memcpy(key->name, name->bytes, name->n);
    key->n = name->n;
    return key;
}

static void close_key(redis_key *key) {
    free(key);
}

static slot *slot_of(const redis_key *key) {
    return key != NULL ? find_slot(key->name, key->n) : NULL;
}

static int key_type(redis_key *key) {
    return slot_of(key) != NULL ? 6 : REDIS_KEY_EMPTY;
}

static int delete_key(redis_key *key) {
    if (slot_of(key) != NULL) drop_slot(slot_of(key));
    return REDIS_OK;
}

static int set_value(redis_key *key, redis_type *type, void *value) {
    (void)delete_key(key);
    for (unsigned i = 0; i < MAX_KEYS; i++) {
        if (keys[i].name != NULL) continue;
        keys[i] = (slot){ malloc(key->n + 1), key->n, type, value };
        must(keys[i].name != NULL);
        memcpy(keys[i].name, key->name, key->n);
        return REDIS_OK;
    }
    abort(); /* more keys than the targets use */
}

static redis_type *get_type(redis_key *key) {
    return slot_of(key) != NULL ? slot_of(key)->type : NULL;
}

static void *get_value(redis_key *key) {
    return slot_of(key) != NULL ? slot_of(key)->value : NULL;
}

/* ------------------------------------------------------------------ replies */

static int reply(bool is_bad) {
    is_error = is_bad;
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

/* ------------------------------------------------------------------ streams */

static uint64_t load_unsigned(redis_io *io) {
    uint64_t number = 0;
    if (io->from->n - io->from->at < 8) {
        io->from->is_broken = true;
        return 0;
    }
    memcpy(&number, io->from->bytes + io->from->at, 8);
    io->from->at += 8;
    return number;
}

static char *load_string(redis_io *io, size_t *ret_n) {
    uint64_t const n = load_unsigned(io);
    if (io->from->is_broken || n > io->from->n - io->from->at) {
        io->from->is_broken = true;
        return NULL;
    }
    char *const bytes = malloc((size_t)n + 1);
    must(bytes != NULL);
    memcpy(bytes, io->from->bytes + io->from->at, (size_t)n);
    io->from->at += (size_t)n;
    *ret_n = (size_t)n;
    return bytes;
}

static int is_io_error(redis_io *io) {
    return io->from != NULL && io->from->is_broken;
}

static void save_bytes(redis_io *io, const void *bytes, size_t n) {
    must(n <= io->room - io->n);
    memcpy(io->to + io->n, bytes, n);
    io->n += n;
}

static void save_unsigned(redis_io *io, uint64_t number) {
    save_bytes(io, &number, 8);
}

static void save_string(redis_io *io, const char *bytes, size_t n) {
    save_unsigned(io, n);
    save_bytes(io, bytes, n);
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
    must(n_commands < MAX_COMMANDS);
    commands[n_commands].name = name;
    commands[n_commands++].handler = handler;
    return REDIS_OK;
}

static redis_command *get_command(redis_ctx *ctx, const char *name) {
    (void)ctx, (void)name;
    return (redis_command *)(void *)commands;
}

static int set_command_info(redis_command *command, const redis_command_info *info) {
    (void)command, (void)info;
    return REDIS_OK;
}

static redis_type *create_type(redis_ctx *ctx, const char *name, int encoding,
                               redis_type_methods *methods) {
    (void)ctx, (void)name, (void)encoding;
    types[n_types] = (struct RedisModuleType){ *methods, n_types + 1 };
    return &types[n_types++];
}

static int replicate(redis_ctx *ctx, const char *command, const char *format, ...) {
    (void)ctx, (void)command, (void)format;
    return REDIS_OK;
}

static int no_flags(redis_ctx *ctx) {
    (void)ctx;
    return REDIS_DENIES_BLOCKING;
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
    if (event.id == REDIS_EVENT_FLUSHDB) on_flush = call;
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
    return clock_ms += 7;
}

static uint64_t microseconds(void) {
    return (uint64_t)clock_ms * 1000;
}

/* What the targets never come to. */
static void never(void) {
    abort();
}

static size_t usable(void *memory) {
    return malloc_usable_size(memory);
}

#define FUNCTION(name, function) \
    { "RedisModule_" #name, (void (*)(void))(function) }

static const struct {
    const char *name;
    void (*function)(void);
} functions[] = {
    FUNCTION(TryAlloc, try_alloc),
    FUNCTION(Free, free),
    FUNCTION(MallocSize, usable),
    FUNCTION(SetModuleAttribs, set_attribs),
    FUNCTION(IsModuleNameBusy, is_name_busy),
    FUNCTION(SetModuleOptions, set_options),
    FUNCTION(CreateCommand, create_command),
    FUNCTION(GetCommand, get_command),
    FUNCTION(SetCommandInfo, set_command_info),
    FUNCTION(CreateDataType, create_type),
    FUNCTION(ModuleTypeSetValue, set_value),
    FUNCTION(ModuleTypeGetType, get_type),
    FUNCTION(ModuleTypeGetValue, get_value),
    FUNCTION(OpenKey, open_key),
    FUNCTION(CloseKey, close_key),
    FUNCTION(KeyType, key_type),
    FUNCTION(DeleteKey, delete_key),
    FUNCTION(StringPtrLen, string_ptr),
    FUNCTION(StringToLongLong, string_to_number),
    FUNCTION(StringToDouble, string_to_double),
    FUNCTION(CreateString, create_string),
    FUNCTION(FreeString, free_string),
    FUNCTION(RetainString, retain_string),
    FUNCTION(WrongArity, wrong_arity),
    FUNCTION(ReplyWithLongLong, reply_number),
    FUNCTION(ReplyWithDouble, reply_double),
    FUNCTION(ReplyWithBool, reply_bool),
    FUNCTION(ReplyWithNull, reply_nothing),
    FUNCTION(ReplyWithError, reply_error),
    FUNCTION(ReplyWithSimpleString, reply_text),
    FUNCTION(ReplyWithStringBuffer, reply_bytes),
    FUNCTION(ReplyWithArray, reply_list),
    FUNCTION(ReplyWithMap, reply_list),
    FUNCTION(ReplySetArrayLength, set_length),
    FUNCTION(ReplySetMapLength, set_length),
    FUNCTION(Replicate, replicate),
    FUNCTION(ReplicateVerbatim, zero),
    FUNCTION(GetContextFlags, no_flags),
    FUNCTION(GetSelectedDb, zero),
    FUNCTION(SelectDb, select_db),
    FUNCTION(NotifyKeyspaceEvent, notify),
    FUNCTION(SubscribeToServerEvent, subscribe),
    FUNCTION(SaveUnsigned, save_unsigned),
    FUNCTION(LoadUnsigned, load_unsigned),
    FUNCTION(SaveStringBuffer, save_string),
    FUNCTION(LoadStringBuffer, load_string),
    FUNCTION(IsIOError, is_io_error),
    FUNCTION(LogIOError, log_io),
    FUNCTION(GetKeyNameFromIO, key_name),
    FUNCTION(IsBlockedReplyRequest, zero),
    FUNCTION(AvoidReplicaTraffic, zero),
    FUNCTION(Log, log_line),
    FUNCTION(Milliseconds, milliseconds),
    FUNCTION(MonotonicMicroseconds, microseconds),
};

static int find_function(const char *name, void *ret_function) {
    void (*found)(void) = strstr(name, "Config") != NULL || strstr(name, "ACL") != NULL ||
                                  strstr(name, "ServerVersion") != NULL
                              ? NULL
                              : never;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0) found = functions[i].function;
    }
    if (found == NULL) return REDIS_ERR;
    memcpy(ret_function, &found, sizeof found);
    return REDIS_OK;
}

/* ------------------------------------------------------------------ the targets' side */

void mock_begin(void) {
    if (context.find != NULL) return;
    context.find = find_function;
    redis_string *words[2] = { new_string("max-key-bytes", 13), new_string("16777216", 8) };
    must(RedisModule_OnLoad(&context, words, 2) == REDIS_OK);
    free_string(NULL, words[0]);
    free_string(NULL, words[1]);
}

void mock_clear(void) {
    for (unsigned i = 0; i < MAX_KEYS; i++) {
        if (keys[i].name != NULL) drop_slot(&keys[i]);
    }
    on_flush(&context, (redis_event){ REDIS_EVENT_FLUSHDB, 1 }, 0, NULL);
}

mock_word mock_text(const char *text) {
    return (mock_word){ text, strlen(text) };
}

bool mock_call(const mock_word *words, unsigned n) {
    redis_string *arguments[32];
    must(n >= 1 && n <= 32);
    for (unsigned i = 0; i < n; i++) arguments[i] = new_string(words[i].bytes, words[i].n);
    bool is_found = false;
    for (unsigned i = 0; i < n_commands && !is_found; i++) {
        is_found = strcasecmp(commands[i].name, arguments[0]->bytes) == 0;
        if (is_found) (void)commands[i].handler(&context, arguments, (int)n);
    }
    must(is_found);
    for (unsigned i = 0; i < n; i++) free_string(NULL, arguments[i]);
    return !is_error;
}

bool mock_run(const char *name, ...) {
    mock_word   words[32];
    unsigned    n = 0;
    va_list     rest;
    const char *word = name;
    va_start(rest, name);
    for (; word != NULL && n < 32; word = va_arg(rest, const char *)) words[n++] = mock_text(word);
    va_end(rest);
    return mock_call(words, n);
}

void *mock_value(const char *key) {
    slot *const found = find_slot(key, strlen(key));
    return found != NULL ? found->value : NULL;
}

void *mock_load(unsigned family, mock_stream *from, int encoding) {
    redis_io io = { .from = from };
    return types[family - 1].methods.rdb_load(&io, encoding);
}

size_t mock_save(unsigned family, void *value, uint8_t *ret_bytes, size_t room) {
    redis_io io = { .to = ret_bytes, .room = room };
    types[family - 1].methods.rdb_save(&io, value);
    return io.n;
}

void mock_set(const char *key, unsigned family, void *value) {
    redis_key name = { .n = strlen(key) };
    memcpy(name.name, key, name.n);
    (void)set_value(&name, &types[family - 1], value);
}
