/* ddlcbf_oracle.h - a d-left table with dynamic bit reassignment, slow and obvious.
 *
 * Cells are strings of the letters 0 and 1, in plain lists. Prefixes are compared letter by letter,
 * and the bytes of a bucket are written letter by letter, according to docs/format.md. It predicts
 * every status, every count and every byte. For geometries with few buckets.
 */
#ifndef TAMIS_TESTS_DDLCBF_ORACLE_H
#define TAMIS_TESTS_DDLCBF_ORACLE_H

#include "core/permute.h"
#include "kinds/ddlcbf/size.h"
#include "subject.h"

#define ORACLE_BUCKETS 64 /* in all */
#define ORACLE_LETTERS 48

typedef struct oracle_cell {
    char     text[ORACLE_LETTERS];
    unsigned counter;
} oracle_cell;

typedef struct oracle_bucket {
    unsigned    level, n; /* level: the most cells since it was empty, or one more when squeezed */
    oracle_cell cell[20]; /* the short ones first, each sort in order */
} oracle_bucket;

typedef struct ddlcbf_oracle {
    uint64_t      g[DDLCBF_FIELDS];
    unsigned      room, code_bits, most, top; /* top: the counter that is stuck */
    oracle_bucket bucket[ORACLE_BUCKETS];
    uint64_t      keys, saturated, squeezed;
    bool          takes_shortest; /* sabotage: removes the shortest match */
} ddlcbf_oracle;

/* A key: its (b, r) as a number, and z as letters. */
typedef struct oracle_key {
    uint64_t print;
    char     z[ORACLE_LETTERS];
} oracle_key;

/* ------------------------------------------------------------------ shape */

static inline unsigned oracle_log2(unsigned n) {
    unsigned bits = 0;
    while (1u << bits < n) bits++;
    return bits;
}

/* The code of (level, cells, zeros): how many such triples come before it. */
static inline unsigned oracle_code(unsigned level, unsigned cells, unsigned zeros) {
    unsigned code = 0;
    for (unsigned l = 0; l <= level; l++) {
        for (unsigned c = 0; c <= l; c++) {
            for (unsigned z = 0; z <= c; z++, code++) {
                if (l == level && c == cells && z == zeros) return code;
            }
        }
    }
    return code;
}

static inline void oracle_make(const uint64_t *g, ddlcbf_oracle *ret_o) {
    unsigned const cells = (unsigned)g[DDLCBF_CELLS];
    memset(ret_o, 0, sizeof *ret_o);
    memcpy(ret_o->g, g, sizeof ret_o->g);
    ret_o->code_bits = g[DDLCBF_LENGTHS] == 1
                           ? oracle_log2(oracle_code(cells + 1, cells, cells) + 1)
                           : 10 + oracle_log2((cells + 1) * (cells + 2) / 2);
    ret_o->room = 8 * (unsigned)g[DDLCBF_BUCKET_BYTES] - ret_o->code_bits;
    ret_o->most = 40; /* with so few buckets, the hash has more bits than that */
    if (g[DDLCBF_LENGTHS] == 2 && g[DDLCBF_REMAINDER_BITS] + 31 < 40)
        ret_o->most = (unsigned)g[DDLCBF_REMAINDER_BITS] + 31;
    ret_o->top = (1u << g[DDLCBF_COUNTER_BITS]) - 1;
}

/* The length of each cell if this many cells share all the room. */
static inline unsigned oracle_share(const ddlcbf_oracle *o, unsigned room, unsigned cells) {
    int const length =
        (int)(room / cells) - (int)o->g[DDLCBF_COUNTER_BITS] + (o->g[DDLCBF_LENGTHS] == 1 ? 1 : 0);
    return length < 0 ? 0 : (unsigned)length < o->most ? (unsigned)length : o->most;
}

/* ------------------------------------------------------------------ keys */

static inline void oracle_letters(uint64_t number, unsigned n, char *ret_text) {
    for (unsigned i = 0; i < n; i++) ret_text[i] = number >> (n - 1 - i) & 1 ? '1' : '0';
    ret_text[n] = '\0';
}

static inline oracle_key oracle_key_make(const ddlcbf_oracle *o, uint64_t print, uint64_t z) {
    oracle_key key = { .print = print };
    oracle_letters(z, o->most - (unsigned)o->g[DDLCBF_REMAINDER_BITS], key.z);
    return key;
}

/* A hash that is (b, r, z). */
static inline uint64_t oracle_hash(const ddlcbf_oracle *o, uint64_t print, uint64_t z) {
    unsigned const z_bits = o->most - (unsigned)o->g[DDLCBF_REMAINDER_BITS];
    uint64_t const all = o->g[DDLCBF_BUCKETS] << o->most;
    return fastrange_inverse(print << z_bits | z, all);
}

/* P_i by long multiplication: doubling and adding, all below n. */
static inline uint64_t oracle_permute(const ddlcbf_oracle *o, unsigned i, uint64_t print) {
    uint64_t const n = o->g[DDLCBF_BUCKETS] << o->g[DDLCBF_REMAINDER_BITS];
    uint64_t       factor = permutation_make(n, i).there.factor, sum = 0;
    for (; factor != 0; factor >>= 1, print = print * 2 % n) {
        if (factor & 1) sum = (sum + print) % n;
    }
    return sum;
}

static inline oracle_bucket *oracle_place(ddlcbf_oracle *o, const oracle_key *key, unsigned i,
                                          char *ret_text) {
    unsigned const r = (unsigned)o->g[DDLCBF_REMAINDER_BITS];
    uint64_t const at = oracle_permute(o, i, key->print);
    oracle_letters(at % (UINT64_C(1) << r), r, ret_text);
    strcat(ret_text, key->z);
    return &o->bucket[i * o->g[DDLCBF_BUCKETS] + (at >> r)];
}

static inline bool oracle_begins(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ------------------------------------------------------------------ buckets */

static inline int oracle_compare(const void *left, const void *right) {
    const oracle_cell *const a = left, *const b = right;
    if (strlen(a->text) != strlen(b->text)) return strlen(a->text) < strlen(b->text) ? -1 : 1;
    int const order = strcmp(a->text, b->text);
    return order != 0 ? order : (int)a->counter - (int)b->counter;
}

static inline void oracle_sort(oracle_bucket *b) {
    qsort(b->cell, b->n, sizeof b->cell[0], oracle_compare);
}

static inline void oracle_cut(oracle_bucket *b, unsigned length) {
    for (unsigned i = 0; i < b->n; i++) {
        if (strlen(b->cell[i].text) > length) b->cell[i].text[length] = '\0';
    }
}

/* The short and the long length that are in use; 0: none. */
static inline void oracle_lengths(const oracle_bucket *b, unsigned *ret_short, unsigned *ret_long,
                                  unsigned *ret_n_long) {
    *ret_short = b->n == 0 ? 0 : (unsigned)strlen(b->cell[0].text);
    *ret_long = b->n == 0 ? 0 : (unsigned)strlen(b->cell[b->n - 1].text);
    *ret_n_long = 0;
    for (unsigned i = 0; i < b->n; i++) *ret_n_long += strlen(b->cell[i].text) > *ret_short;
    if (*ret_n_long == 0) *ret_long = 0;
}

/* The length that a new cell gets; other cells are cut to make room for it. */
static inline unsigned oracle_fit(const ddlcbf_oracle *o, oracle_bucket *b) {
    unsigned const counter = (unsigned)o->g[DDLCBF_COUNTER_BITS];
    unsigned       length, short_one, long_one, n_long;
    if (o->g[DDLCBF_LENGTHS] == 1) {
        if (b->level < b->n + 1) b->level = b->n + 1;
        length = b->level > o->g[DDLCBF_CELLS] ? (unsigned)o->g[DDLCBF_REMAINDER_BITS]
                                               : oracle_share(o, o->room, b->level);
        oracle_cut(b, length);
        return length;
    }
    oracle_lengths(b, &short_one, &long_one, &n_long);
    length = oracle_share(o, o->room - (b->n - n_long) * (short_one + counter), n_long + 1);
    if (n_long != 0 && length > long_one) length = long_one;
    if (b->n != 0 && length > short_one) {
        oracle_cut(b, length > short_one ? length : short_one);
        return length;
    }
    length = oracle_share(o, o->room, b->n + 1);
    if (b->n != 0 && length > short_one) length = short_one;
    oracle_cut(b, length);
    return length;
}

static inline void oracle_put(ddlcbf_oracle *o, oracle_bucket *b, const char *text) {
    unsigned const     length = oracle_fit(o, b);
    oracle_cell *const cell = &b->cell[b->n++];
    memset(cell, 0, sizeof *cell);
    memcpy(cell->text, text, length);
    oracle_sort(b);
    o->keys++;
}

static inline void oracle_take(oracle_bucket *b, unsigned i) {
    memmove(&b->cell[i], &b->cell[i + 1], (b->n - i - 1) * sizeof b->cell[0]);
    if (--b->n == 0) memset(b, 0, sizeof *b);
}

/* Cut all cells to r letters, and join equal ones. False: none are equal, and nothing has
 * changed. */
static inline bool oracle_squeeze(ddlcbf_oracle *o, oracle_bucket *b) {
    oracle_bucket then = *b, merged = { .level = (unsigned)o->g[DDLCBF_CELLS] + 1 };
    oracle_cut(&then, (unsigned)o->g[DDLCBF_REMAINDER_BITS]);
    oracle_sort(&then);
    uint64_t keys = o->keys, saturated = o->saturated;
    for (unsigned i = 0; i < then.n; i++) {
        oracle_cell *const last = merged.n == 0 ? NULL : &merged.cell[merged.n - 1];
        oracle_cell *const cell = &then.cell[i];
        if (last == NULL || strcmp(last->text, cell->text) != 0) {
            merged.cell[merged.n++] = *cell;
            continue;
        }
        unsigned const copies = last->counter + cell->counter + 2;
        unsigned const counter = copies - 1 < o->top ? copies - 1 : o->top;
        saturated += (uint64_t)(counter == o->top) - (last->counter == o->top);
        saturated -= cell->counter == o->top;
        keys -= copies - (counter + 1);
        last->counter = counter;
    }
    if (merged.n == b->n) return false;
    *b = merged;
    o->keys = keys;
    o->saturated = saturated;
    o->squeezed++;
    return true;
}

/* ------------------------------------------------------------------ operations */

typedef struct oracle_match {
    oracle_bucket *bucket;
    unsigned       i, length, counter;
} oracle_match;

/* All cells that are a prefix of the key. */
static inline unsigned oracle_matches(ddlcbf_oracle *o, const oracle_key *key,
                                      oracle_match ret_list[200]) {
    unsigned n = 0;
    char     text[2 * ORACLE_LETTERS];
    for (unsigned i = 0; i < o->g[DDLCBF_TABLES]; i++) {
        oracle_bucket *const b = oracle_place(o, key, i, text);
        for (unsigned k = 0; k < b->n; k++) {
            if (!oracle_begins(text, b->cell[k].text)) continue;
            unsigned const length = (unsigned)strlen(b->cell[k].text);
            ret_list[n++] = (oracle_match){ b, k, length, b->cell[k].counter };
        }
    }
    return n;
}

/* The longest match. Of equally long ones, one that is not stuck is preferred. */
static inline const oracle_match *oracle_longest(const ddlcbf_oracle *o, const oracle_match *list,
                                                 unsigned n) {
    const oracle_match *best = list;
    for (unsigned i = 1; i < n; i++) {
        bool const is_longer =
            o->takes_shortest ? list[i].length < best->length : list[i].length > best->length;
        bool const is_free = best->counter == o->top && list[i].counter != o->top;
        if (is_longer || (list[i].length == best->length && is_free)) best = &list[i];
    }
    return best;
}

static inline void oracle_set(ddlcbf_oracle *o, const oracle_match *at, unsigned counter) {
    o->keys += (uint64_t)counter - at->counter;
    o->saturated += counter == o->top;
    at->bucket->cell[at->i].counter = counter;
    oracle_sort(at->bucket);
}

static inline bool oracle_make_room(ddlcbf_oracle *o, const oracle_key *key) {
    char text[2 * ORACLE_LETTERS];
    for (unsigned i = 0; i < o->g[DDLCBF_TABLES]; i++) {
        if (oracle_squeeze(o, oracle_place(o, key, i, text))) return true;
    }
    return false;
}

static inline tamis_status oracle_add(ddlcbf_oracle *o, const oracle_key *key) {
    oracle_match        list[200];
    unsigned const      n = oracle_matches(o, key, list);
    char                text[2 * ORACLE_LETTERS], least_text[2 * ORACLE_LETTERS];
    oracle_bucket      *least = NULL;
    const oracle_match *open = NULL;
    for (unsigned i = 0; i < n; i++) {
        if (list[i].counter == o->top) return TAMIS_OK;
        if (list[i].counter + 1 == o->top) continue;
        if (open == NULL || list[i].length > open->length) open = &list[i];
    }
    if (open != NULL) {
        oracle_set(o, open, open->counter + 1);
        return TAMIS_OK;
    }
    for (unsigned i = 0; i < o->g[DDLCBF_TABLES]; i++) {
        oracle_bucket *const b = oracle_place(o, key, i, text);
        if (least != NULL && b->n >= least->n) continue;
        least = b;
        strcpy(least_text, text);
    }
    if (n < DDLCBF_COPIES && least->n < o->g[DDLCBF_CELLS]) {
        oracle_put(o, least, least_text);
        return TAMIS_OK;
    }
    if (n < DDLCBF_COPIES && oracle_make_room(o, key)) return oracle_add(o, key);
    if (n == 0) return TAMIS_ERR_FULL;
    oracle_set(o, oracle_longest(o, list, n), o->top);
    return TAMIS_OK;
}

static inline tamis_status oracle_remove(ddlcbf_oracle *o, const oracle_key *key) {
    oracle_match   list[200];
    unsigned const n = oracle_matches(o, key, list);
    if (n == 0) return TAMIS_ERR_ABSENT;
    for (unsigned i = 0; i < n; i++) {
        if (list[i].counter == o->top) return TAMIS_ERR_SATURATED;
    }
    const oracle_match *const at = oracle_longest(o, list, n);
    if (at->counter != 0) {
        oracle_set(o, at, at->counter - 1);
    } else {
        oracle_take(at->bucket, at->i);
        o->keys--;
    }
    return TAMIS_OK;
}

static inline uint64_t oracle_count(ddlcbf_oracle *o, const oracle_key *key) {
    oracle_match   list[200];
    unsigned const n = oracle_matches(o, key, list);
    uint64_t       copies = 0;
    for (unsigned i = 0; i < n; i++) {
        if (list[i].counter == o->top) return TAMIS_COUNT_MANY;
        copies += list[i].counter + 1;
    }
    return copies;
}

/* ------------------------------------------------------------------ bytes */

static inline unsigned oracle_bucket_code(const ddlcbf_oracle *o, const oracle_bucket *b) {
    unsigned const least = (unsigned)o->g[DDLCBF_REMAINDER_BITS];
    unsigned       zeros = 0, short_one, long_one, n_long;
    if (b->n == 0) return 0;
    if (o->g[DDLCBF_LENGTHS] == 1) {
        for (unsigned i = 0; i < b->n; i++) zeros += b->cell[i].text[0] == '0';
        return oracle_code(b->level, b->n, zeros);
    }
    oracle_lengths(b, &short_one, &long_one, &n_long);
    unsigned const pair = b->n * (b->n + 1) / 2 + n_long;
    return pair * 1024 + (short_one - least) * 32 + (n_long == 0 ? 0 : long_one - least);
}

static inline void oracle_bytes(const ddlcbf_oracle *o, const oracle_bucket *b,
                                uint8_t *ret_bytes) {
    uint64_t       at = 0;
    unsigned const bytes = (unsigned)o->g[DDLCBF_BUCKET_BYTES];
    memset(ret_bytes, 0, bytes);
    for (unsigned i = 0; i < b->n; i++) {
        const char *text = b->cell[i].text;
        if (o->g[DDLCBF_LENGTHS] == 1) text++;
        uint64_t const number = *text == '\0' ? 0 : strtoull(text, NULL, 2);
        at = write_bits(ret_bytes, at, o->g[DDLCBF_COUNTER_BITS], b->cell[i].counter);
        at = write_bits(ret_bytes, at, strlen(text), number);
    }
    write_bits(ret_bytes, 8 * bytes - o->code_bits, o->code_bits, oracle_bucket_code(o, b));
}

#endif
