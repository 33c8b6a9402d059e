/* outside.h - take part in tamis-bench with a filter of your own, or one that you found.
 *
 * Write one file, in C or C++, that includes this header, and build with
 *
 *     make bench CONTESTANTS=/path/mine.cpp
 *
 * The file has functions for one key, which the compiler can inline, and this header makes the
 * loops over many keys from them. bench/README.md has the steps, bench/examples/ two whole files.
 *
 *     typedef struct mine mine;
 *     static inline bool mine_add(mine *table, uint64_t key);     false: refused
 *     static inline bool mine_has(mine *table, uint64_t key);
 *     static inline bool mine_remove(mine *table, uint64_t key);  false: not found
 *     static inline void mine_fetch(mine *table, uint64_t key);   OUTSIDE_PREFETCH() what it needs
 *
 *     OUTSIDE_LOOPS(mine, mine, mine_add, mine_has)
 *     OUTSIDE_REMOVE_LOOPS(mine, mine, mine_add, mine_remove)                   if it can remove
 *     OUTSIDE_FETCH_LOOPS(mine, mine, mine_add, mine_has, mine_fetch)           if it has a fetch
 *     OUTSIDE_FETCH_REMOVE_LOOPS(mine, mine, mine_add, mine_remove, mine_fetch) if it has both
 *
 *     static const outside_contestant contestant = {
 *         OUTSIDE_HEAD,
 *         .name = "mine",
 *         .make = mine_make, .free = mine_free, .bytes = mine_bytes,
 *         .single = { mine_add_each, mine_has_each, mine_remove_each, mine_churn_each },
 *         .ahead = { mine_add_ahead, mine_has_ahead, mine_remove_ahead, mine_churn_ahead },
 *     };
 *     OUTSIDE_ENTER(contestant)
 */
#ifndef BENCH_OUTSIDE_H
#define BENCH_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Changes whenever a field does. */
#define OUTSIDE_VERSION 1

/* Handle keys[0..n). Returns for how many the answer was yes: added, found, removed. */
typedef size_t outside_call(void *table, const uint64_t *keys, size_t n);

/* n times: remove old_keys[i], then add new_keys[i]. Returns the yes answers, at most 2n. */
typedef size_t outside_churn(void *table, const uint64_t *old_keys, const uint64_t *new_keys,
                             size_t n);

/* The same with prefetches `ahead` keys early. */
typedef size_t outside_call_ahead(void *table, const uint64_t *keys, size_t n, size_t ahead);
typedef size_t outside_churn_ahead(void *table, const uint64_t *old_keys, const uint64_t *new_keys,
                                   size_t n, size_t ahead);

/* Calls that the contestant does not have are NULL. Their columns stay empty. */
typedef struct outside_singles {
    outside_call  *add, *has, *remove;
    outside_churn *churn;
} outside_singles;

/* One call for up to 1024 keys. Churn in batches is made of remove and add. */
typedef struct outside_batches {
    outside_call *add, *has, *remove;
} outside_batches;

typedef struct outside_aheads {
    outside_call_ahead  *add, *has, *remove;
    outside_churn_ahead *churn;
} outside_aheads;

/* One contestant. C++ takes named fields since C++20, in this order. */
typedef struct outside_contestant {
    uint32_t    version, struct_bytes; /* OUTSIDE_HEAD */
    const char *name;                  /* for the report and for --only: letters, digits, _ . - */
    const char *note;                  /* printed below the report, or NULL */

    /* Make a table for n keys at this false-positive rate. NULL: not possible. Write to all its
     * memory (memset); otherwise the fill also measures how the kernel provides pages. */
    void *(*make)(uint64_t n, double fpr);
    void (*free)(void *table);
    void (*clear)(void *table);           /* NULL: the bench frees the table and makes another */
    uint64_t (*bytes)(const void *table); /* size of the table */
    double lines;                         /* cache lines that a lookup touches, about; 0: one */

    outside_singles single; /* one key after the other; add and has are required */
    outside_batches batch;  /* many keys at once; optional */
    outside_aheads  ahead;  /* with prefetches: a row NAME-pf; optional, but then add and has */
} outside_contestant;

#define OUTSIDE_HEAD \
    .version = OUTSIDE_VERSION, .struct_bytes = (uint32_t)sizeof(outside_contestant)

#ifdef __cplusplus
extern "C" {
#endif

/* The contestant must live as long as the program. */
void outside_register(const outside_contestant *peer);

#ifdef __cplusplus
}
#endif

/* Take part. The contestant is registered before main(). A file may enter several. */
#define OUTSIDE_ENTER(CONTESTANT)                                               \
    __attribute__((constructor)) static void outside_enter_##CONTESTANT(void) { \
        outside_register(&CONTESTANT);                                          \
    }

/* Prefetch the line of an address, for the `fetch` of a filter. gcc sees no effect in a function
 * that has only __builtin_prefetch(), and may leave out all calls of it (gcc 12 does, unless the
 * function is very short): then the row with prefetches is the one without them. The empty asm is
 * an effect. Elsewhere, the flag -fno-ipa-modref helps. */
#define OUTSIDE_PREFETCH(ADDRESS)    \
    do {                             \
        __builtin_prefetch(ADDRESS); \
        __asm__ volatile("");        \
    } while (0)

/* ------------------------------------------------------------------ loops */

/* NAME: prefix of the names of the loops. TABLE: a type. The others are functions for one key. */

/* NAME_add_each, NAME_has_each */
#define OUTSIDE_LOOPS(NAME, TABLE, ADD, HAS)   \
    OUTSIDE_EACH_(NAME##_add_each, TABLE, ADD) \
    OUTSIDE_EACH_(NAME##_has_each, TABLE, HAS)

/* NAME_remove_each, NAME_churn_each */
#define OUTSIDE_REMOVE_LOOPS(NAME, TABLE, ADD, REMOVE) \
    OUTSIDE_EACH_(NAME##_remove_each, TABLE, REMOVE)   \
    OUTSIDE_CHURN_(NAME##_churn_each, TABLE, ADD, REMOVE)

/* NAME_add_ahead, NAME_has_ahead */
#define OUTSIDE_FETCH_LOOPS(NAME, TABLE, ADD, HAS, FETCH) \
    OUTSIDE_AHEAD_(NAME##_add_ahead, TABLE, ADD, FETCH)   \
    OUTSIDE_AHEAD_(NAME##_has_ahead, TABLE, HAS, FETCH)

/* NAME_remove_ahead, NAME_churn_ahead */
#define OUTSIDE_FETCH_REMOVE_LOOPS(NAME, TABLE, ADD, REMOVE, FETCH) \
    OUTSIDE_AHEAD_(NAME##_remove_ahead, TABLE, REMOVE, FETCH)       \
    OUTSIDE_CHURN_AHEAD_(NAME##_churn_ahead, TABLE, ADD, REMOVE, FETCH)

#define OUTSIDE_EACH_(LOOP, TABLE, ONE)                                       \
    static size_t LOOP(void *outside_table, const uint64_t *keys, size_t n) { \
        TABLE *const table = (TABLE *)outside_table;                          \
        size_t       yes = 0;                                                 \
        for (size_t i = 0; i < n; i++) yes += ONE(table, keys[i]) ? 1 : 0;    \
        return yes;                                                           \
    }

#define OUTSIDE_CHURN_(LOOP, TABLE, ADD, REMOVE)                                                \
    static size_t LOOP(void *outside_table, const uint64_t *old_keys, const uint64_t *new_keys, \
                       size_t n) {                                                              \
        TABLE *const table = (TABLE *)outside_table;                                            \
        size_t       yes = 0;                                                                   \
        for (size_t i = 0; i < n; i++) {                                                        \
            yes += REMOVE(table, old_keys[i]) ? 1 : 0;                                          \
            yes += ADD(table, new_keys[i]) ? 1 : 0;                                             \
        }                                                                                       \
        return yes;                                                                             \
    }

#define OUTSIDE_AHEAD_(LOOP, TABLE, ONE, FETCH)                                             \
    static size_t LOOP(void *outside_table, const uint64_t *keys, size_t n, size_t ahead) { \
        TABLE *const table = (TABLE *)outside_table;                                        \
        size_t       yes = 0;                                                               \
        for (size_t i = 0; i < n; i++) {                                                    \
            if (i + ahead < n) FETCH(table, keys[i + ahead]);                               \
            yes += ONE(table, keys[i]) ? 1 : 0;                                             \
        }                                                                                   \
        return yes;                                                                         \
    }

#define OUTSIDE_CHURN_AHEAD_(LOOP, TABLE, ADD, REMOVE, FETCH)                                   \
    static size_t LOOP(void *outside_table, const uint64_t *old_keys, const uint64_t *new_keys, \
                       size_t n, size_t ahead) {                                                \
        TABLE *const table = (TABLE *)outside_table;                                            \
        size_t       yes = 0;                                                                   \
        for (size_t i = 0; i < n; i++) {                                                        \
            if (i + ahead < n) FETCH(table, old_keys[i + ahead]);                               \
            if (i + ahead < n) FETCH(table, new_keys[i + ahead]);                               \
            yes += REMOVE(table, old_keys[i]) ? 1 : 0;                                          \
            yes += ADD(table, new_keys[i]) ? 1 : 0;                                             \
        }                                                                                       \
        return yes;                                                                             \
    }

#endif
