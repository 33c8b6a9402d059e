/* redis_mock_inside.h - declarations that the files of the mock share. */
#ifndef TAMIS_FUZZ_REDIS_MOCK_INSIDE_H
#define TAMIS_FUZZ_REDIS_MOCK_INSIDE_H

#include "fuzz.h"
#include "redis_mock.h"

#define MOCK_COMMANDS 100

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

struct RedisModuleIO {
    mock_stream *from;
    uint8_t     *to;
    size_t       room, n;
};

/* The functions that the module has registered, and the last reply. */
extern struct mock_server {
    struct RedisModuleCtx  context;
    struct RedisModuleType types[8];
    unsigned               n_types;
    struct {
        const char    *name;
        redis_handler *handler;
    } commands[MOCK_COMMANDS];
    unsigned        n_commands;
    bool            is_error;
    redis_on_event *on_flush;
    long long       clock_ms;
    bool            can_block; /* false: all clients are as in a transaction */
} mock_server;

/* A function that the module may look up by its name. */
typedef struct mock_function {
    const char *name;
    void (*function)(void);
} mock_function;

#define MOCK_FUNCTION(name, function) \
    { "RedisModule_" #name, (void (*)(void))(function) }

/* The functions of each file; the name after the last is NULL. */
extern const mock_function mock_functions_of_keys[], mock_functions_of_replies[],
    mock_functions_of_waiting[];

/* redis_mock_keys.c */
redis_string *mock_string(const void *bytes, size_t n);
void          mock_string_free(redis_string *one);
void          mock_drop_keys(void);

/* redis_mock_waiting.c: run the jobs that blocked clients wait for, until no client waits. `words`
 * are those of the command. */
void mock_wait(redis_string **words, int n);

#endif
