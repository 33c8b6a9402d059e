/* redis_mock.c - see redis_mock.h: loads the module, and runs commands. */
#include "redis_mock_inside.h"

#include <stdarg.h>
#include <strings.h>

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);

struct mock_server mock_server = { .clock_ms = 1000000 };

/* For functions that the targets never reach. */
static void never(void) {
    abort();
}

static int find_function(const char *name, void *ret_function) {
    void (*found)(void) = strstr(name, "Config") != NULL || strstr(name, "ACL") != NULL ||
                                  strstr(name, "ServerVersion") != NULL
                              ? NULL
                              : never;
    const mock_function *const tables[] = { mock_functions_of_keys, mock_functions_of_replies,
                                            mock_functions_of_waiting };
    for (unsigned t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        for (const mock_function *one = tables[t]; one->name != NULL; one++) {
            if (strcmp(one->name, name) == 0) found = one->function;
        }
    }
    if (found == NULL) return REDIS_ERR;
    memcpy(ret_function, &found, sizeof found);
    return REDIS_OK;
}

void mock_begin(void) {
    if (mock_server.context.find != NULL) return;
    mock_server.context.find = find_function;
    redis_string *words[2] = { mock_string("max-key-bytes", 13), mock_string("16777216", 8) };
    must(RedisModule_OnLoad(&mock_server.context, words, 2) == REDIS_OK);
    mock_string_free(words[0]);
    mock_string_free(words[1]);
}

void mock_clear(void) {
    mock_drop_keys();
    mock_server.on_flush(&mock_server.context, (redis_event){ REDIS_EVENT_FLUSHDB, 1 }, 0, NULL);
}

mock_word mock_text(const char *text) {
    return (mock_word){ text, strlen(text) };
}

bool mock_call(const mock_word *words, unsigned n) {
    redis_string *arguments[32];
    must(n >= 1 && n <= 32);
    for (unsigned i = 0; i < n; i++) arguments[i] = mock_string(words[i].bytes, words[i].n);
    bool is_found = false;
    for (unsigned i = 0; i < mock_server.n_commands && !is_found; i++) {
        is_found = strcasecmp(mock_server.commands[i].name, arguments[0]->bytes) == 0;
        if (is_found)
            (void)mock_server.commands[i].handler(&mock_server.context, arguments, (int)n);
    }
    must(is_found);
    mock_wait(arguments, (int)n);
    for (unsigned i = 0; i < n; i++) mock_string_free(arguments[i]);
    return !mock_server.is_error;
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

void *mock_load(unsigned family, mock_stream *from, int encoding) {
    redis_io io = { .from = from };
    return mock_server.types[family - 1].methods.rdb_load(&io, encoding);
}

size_t mock_save(unsigned family, void *value, uint8_t *ret_bytes, size_t room) {
    redis_io io = { .to = ret_bytes, .room = room };
    mock_server.types[family - 1].methods.rdb_save(&io, value);
    return io.n;
}

void mock_let_wait(bool can_block) {
    mock_server.can_block = can_block;
}
