/* redis_mock.h - a server in small: what the module needs to load, save and run commands.
 *
 * It has one database of a few keys, in memory. Commands are called by name, with words as a client
 * sends them. A command that blocks its client has replied when the call returns.
 */
#ifndef TAMIS_FUZZ_REDIS_MOCK_H
#define TAMIS_FUZZ_REDIS_MOCK_H

#include "../redis/abi.h"
#include "../redis/value.h"

/* Load the module. Called again, it does nothing. */
void mock_begin(void);

/* Forget all keys, and loads that are under way. */
void mock_clear(void);

typedef struct mock_word {
    const void *bytes;
    size_t      n;
} mock_word;

/* A word that is a text. */
mock_word mock_text(const char *text);

/* Run a command, its name first. True: its last reply was no error. */
bool mock_call(const mock_word *words, unsigned n);

/* The same for words without zeros; the last one is NULL. */
bool mock_run(const char *name, ...);

/* May clients be blocked, so that long work is done in threads? They may not at first. */
void mock_let_wait(bool can_block);

/* The value of a key; NULL: there is none. */
void *mock_value(const char *key);

/* Move the value of a key to another address, as active defragmentation does. */
void mock_move(const char *key);

/* What the last command replied as a string, and the number before it. */
extern struct mock_reply {
    unsigned char bytes[1 << 17];
    size_t        n;
    long long     number;
} mock_reply;

/* A stream of an RDB file: strings, each with its length before it, as the server checks them. */
typedef struct mock_stream {
    const uint8_t *bytes;
    size_t         n, at;
    bool           is_broken;
} mock_stream;

/* Load a value of a family from a stream, as RESTORE does. NULL: refused. */
void *mock_load(unsigned family, mock_stream *from, int encoding);

/* Save a value: what the stream would be. */
size_t mock_save(unsigned family, void *value, uint8_t *ret_bytes, size_t room);

/* Give a key this value, as RESTORE does. */
void mock_set(const char *key, unsigned family, void *value);

#endif
