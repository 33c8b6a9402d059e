/* redis_values.h - make a key of every family in the mock, and use values that were accepted. */
#ifndef TAMIS_FUZZ_REDIS_VALUES_H
#define TAMIS_FUZZ_REDIS_VALUES_H

#include "fuzz.h"
#include "redis_mock.h"
#include "seal.h"

#define N_VALUES 5

static const char *const value_names[N_VALUES] = { "bf", "cf", "set", "timed", "states" };
static const unsigned    value_families[N_VALUES] = { FAMILY_BF, FAMILY_CF, FAMILY_SET, FAMILY_SET,
                                                      FAMILY_STATES };

/* A key of each family, as a client makes it. The seeds are fixed: fuzzing must be repeatable. */
static inline void values_make(void) {
    char item[8] = "i0";
    must(mock_run("BF.RESERVE", "bf", "0.1", "5", NULL));
    for (unsigned i = 0; i < 60; i++) {
        item[1] = (char)('0' + i);
        must(mock_run("BF.ADD", "bf", item, NULL));
    }
    must(mock_run("CF.RESERVE", "cf", "8", "EXPANSION", "0", NULL));
    must(mock_run("CF.ADD", "cf", "a", NULL));
    must(mock_run("TAMIS.RESERVE", "set", "ERROR", "0.1", "CAPACITY", "10", NULL));
    must(mock_run("TAMIS.ADD", "set", "a", NULL));
    must(mock_run("TAMIS.RESERVE", "timed", "ERROR", "0.1", "CAPACITY", "10", "TIMEOUT", "100",
                  NULL));
    must(mock_run("TAMIS.STATE.RESERVE", "states", "ERROR", "0.1", "CAPACITY", "10", "VALUES", "4",
                  NULL));
}

/* Commands of BF and CF keys. */
static inline void values_use_filter(const char *key) {
    (void)mock_run("BF.ADD", key, "x", NULL);
    (void)mock_run("BF.INSERT", key, "NOCREATE", "ITEMS", "x", "y", "z", NULL);
    (void)mock_run("BF.EXISTS", key, "x", NULL);
    (void)mock_run("BF.MEXISTS", key, "x", "y", NULL);
    (void)mock_run("BF.CARD", key, NULL);
    (void)mock_run("BF.DEBUG", key, NULL);
    (void)mock_run("CF.ADD", key, "x", NULL);
    (void)mock_run("CF.INSERT", key, "NOCREATE", "ITEMS", "x", "y", "x", NULL);
    (void)mock_run("CF.INSERTNX", key, "NOCREATE", "ITEMS", "x", "z", NULL);
    (void)mock_run("CF.COUNT", key, "x", NULL);
    (void)mock_run("CF.DEL", key, "x", NULL);
    (void)mock_run("CF.DEBUG", key, NULL);
}

/* Commands of sets, with and without a timeout. */
static inline void values_use_set(const char *key) {
    (void)mock_run("TAMIS.ADD", key, "x", "y", NULL);
    (void)mock_run("TAMIS.ADD", key, "REQUEST", "me", "7", "ITEMS", "x", "y", NULL);
    (void)mock_run("TAMIS.REMOVE", key, "REQUEST", "me", "8", "ITEMS", "x", "y", NULL);
    (void)mock_run("TAMIS.REMOVE", key, "REQUEST", "me", "8", "ITEMS", "x", "y", NULL);
    (void)mock_run("TAMIS.HAS", key, "x", NULL);
    (void)mock_run("TAMIS.COUNT", key, "x", "y", NULL);
    (void)mock_run("TAMIS.REMOVE", key, "x", NULL);
    (void)mock_run("TAMIS.TICK", key, "3", "2", "2000000", NULL);
    (void)mock_run("TAMIS.INFO", key, "SCAN", NULL);
    (void)mock_run("TAMIS.DUMP", key, NULL);
}

static inline void values_use_states(const char *key) {
    (void)mock_run("TAMIS.STATE.PUT", key, "x", "1", "y", "0", "z", "3", NULL);
    (void)mock_run("TAMIS.STATE.GET", key, "x", NULL);
    (void)mock_run("TAMIS.STATE.MOVE", key, "1", "2", "x", "y", NULL);
    (void)mock_run("TAMIS.STATE.MOVE", key, "*", "0", "z", NULL);
    (void)mock_run("TAMIS.STATE.TOUCH", key, "x", "absent", NULL);
    (void)mock_run("TAMIS.STATE.TALLY", key, NULL);
    (void)mock_run("TAMIS.STATE.DROP", key, "*", "x", NULL);
}

/* An empty key that was made like it has its geometry: merge the two in both directions, and use
 * the copy. */
static inline void values_use_twin(const char *key) {
    (void)mock_run("TAMIS.RESERVE", "twin", "LIKE", key, NULL);
    (void)mock_run("TAMIS.STATE.RESERVE", "twin", "LIKE", key, NULL);
    (void)mock_run("TAMIS.ADD", "twin", "t", NULL);
    (void)mock_run("TAMIS.STATE.PUT", "twin", "t", "1", NULL);
    (void)mock_run("TAMIS.MERGE", "twin", key, NULL);
    (void)mock_run("TAMIS.MERGE", key, "twin", NULL);
    (void)mock_run("TAMIS.HAS", "twin", "t", NULL);
    (void)mock_run("TAMIS.STATE.GET", "twin", "t", NULL);
}

/* Every value that was accepted must work. Commands of other families are refused. Left out: PLAN,
 * which needs no key, and RESTORE, whose files fuzz_read has. */
static inline void values_use(const char *key) {
    values_use_filter(key);
    values_use_set(key);
    values_use_states(key);
    values_use_twin(key);
    (void)mock_run("BF.INFO", key, NULL);
    (void)mock_run("CF.INFO", key, NULL);
    (void)mock_run("BF.SCANDUMP", key, "0", NULL);
    (void)mock_run("CF.SCANDUMP", key, "0", NULL);
}

/* The checksum of headers and pieces (FNV-1a). */
static inline uint64_t values_checksum(const uint8_t *bytes, size_t n) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* A saved value (mock_save) is its length, then strings. Join the strings: this is the encoding of
 * the value. */
static inline size_t values_join(const uint8_t *stream, size_t n, uint8_t *ret_value) {
    size_t done = 0;
    for (size_t at = 8; at + 8 <= n;) {
        uint64_t const piece = le64_load(stream + at);
        if (piece > n - at - 8) break;
        memcpy(ret_value + done, stream + at + 8, (size_t)piece);
        done += (size_t)piece;
        at += 8 + (size_t)piece;
    }
    return done;
}

#define VALUES_HEADER 256
#define VALUES_ROW 32

/* Correct the checksums of an encoding: of each file in it, then of header, rows and requests. */
static inline void values_seal(uint8_t *value, size_t n) {
    if (n < VALUES_HEADER) return;
    uint64_t const rows = le64_load(value + 128), extra = le64_load(value + 144);
    if (rows > 48 || extra > n || VALUES_HEADER + VALUES_ROW * rows + extra > n) return;
    size_t const front = VALUES_HEADER + VALUES_ROW * (size_t)rows;
    size_t       at = front + (size_t)extra;
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t const length = le64_load(value + VALUES_HEADER + VALUES_ROW * i);
        if (length > n - at) break;
        seal_file(value + at, (size_t)length);
        at += (size_t)length;
    }
    le64_store(value + 248, 0);
    uint64_t const sum = values_checksum(value, front);
    uint64_t const more = values_checksum(value + front, (size_t)extra);
    le64_store(value + 248, extra == 0 ? sum : sum ^ (more << 1 | more >> 63));
}

#endif
