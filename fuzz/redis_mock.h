/* redis_mock.h - a small server: the functions that the module needs to load, save and run
 * commands.
 *
 * It has one database of a few keys, in memory. Commands are called by name, with words as a client
 * sends them. A command that blocks its client has replied when the call returns.
 */
#ifndef TAMIS_FUZZ_REDIS_MOCK_H
#define TAMIS_FUZZ_REDIS_MOCK_H

#include "../redis/abi.h"
#include "../redis/value.h"

/* Load the module. A second call does nothing. */
void mock_begin(void);

/* Delete all keys, and loads that are not complete. */
void mock_clear(void);

typedef struct mock_word {
    const void *bytes;
    size_t      n;
} mock_word;

/* A word that is a text. */
mock_word mock_text(const char *text);

/* Run a command; the first word is its name. True: its last reply was not an error. */
bool mock_call(const mock_word *words, unsigned n);

/* The same for words without zeros; the last one is NULL. */
bool mock_run(const char *name, ...);

/* Allow that clients are blocked, so that long work is done in threads. At first this is not
 * allowed. */
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

/* A stream of an RDB file: strings, each after its length. The server checks these lengths. */
typedef struct mock_stream {
    const uint8_t *bytes;
    size_t         n, at;
    bool           is_broken;
} mock_stream;

/* Load a value of a family from a stream, as RESTORE does. NULL: refused. */
void *mock_load(unsigned family, mock_stream *from, int encoding);

/* Save a value to a stream. */
size_t mock_save(unsigned family, void *value, uint8_t *ret_bytes, size_t room);

/* Give a key this value, as RESTORE does. */
void mock_set(const char *key, unsigned family, void *value);

#endif
