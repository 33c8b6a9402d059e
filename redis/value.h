/* value.h - what a key holds.
 *
 * BF.* and CF.* keys are a list of parts, each of them a set of the library. A part grows by itself
 * to 2^headroom times its first capacity; then another part opens with half the error, so adds
 * never fail and the errors of all parts add up to less than what was asked for. TAMIS.* keys are
 * one set, or one table of states; a set with a timeout is a table of states whose keys all have
 * the same value.
 *
 * Parts: only the newest takes fingerprints that it does not have yet. A copy of a key goes to the
 * oldest part that has the key's fingerprint, and is removed from the oldest that has it. An older
 * part never gets a new fingerprint, so it never begins to claim a key that is in a younger one:
 * a removal always finds the part to which the key was added, and no other key is lost.
 *
 * All parts have the same hash function and seed: a key is hashed once.
 */
#ifndef TAMIS_REDIS_VALUE_H
#define TAMIS_REDIS_VALUE_H

#include "memory.h"

#include <tamis/tamis.h>

typedef enum value_family {
    FAMILY_BF = 1,
    FAMILY_CF = 2,
    FAMILY_SET = 3,
    FAMILY_STATES = 4
} value_family;

#define VALUE_MAX_PARTS 48
#define GEOMETRY_BYTES 512 /* of a geometry as text */

typedef struct value_part {
    tamis_set *set;
    uint64_t   prints;  /* keys with a fingerprint of their own; counted here since reading the
                          whole body would take too long */
    uint64_t   limit;   /* prints that it takes */
    uint64_t   plan_at; /* at so many prints the next part is planned; 0: there is none */
} value_part;

/* Everything that makes a part, so that a replica makes the same: what was asked for, what follows
 * from it, and what was random or chosen by the planner. */
typedef struct value_recipe {
    value_family family;
    unsigned     part;  /* 0: it makes the key */
    double       error; /* of the whole key, as asked for */
    uint64_t     asked; /* capacity of the whole key, as asked for */
    uint64_t     expansion, bucket_size, max_iterations;
    uint64_t     headroom; /* of BF and CF; expansion 0: none */

    double     fpr; /* of this part, as are the next */
    uint64_t   capacity, grow_to;
    unsigned   abilities;
    uint64_t   count_to;
    bool       is_small;
    char       kind[16];                 /* empty: chosen, and then filled in */
    char       geometry[GEOMETRY_BYTES]; /* empty: chosen, and then filled in */
    bool       has_seed;
    tamis_seed seed;

    uint32_t set_part, set_parts; /* of TAMIS.* sets: PART i P; 0 and 0: a whole set */

    uint64_t values, timeout, tick_ms; /* of states; ticks */
    uint64_t now_ms;                   /* when time begins */
} value_recipe;

typedef struct tamis_value {
    value_family    family;
    memory_account *account;
    double          error;
    uint64_t        capacity, expansion, bucket_size, max_iterations, headroom, count_to;
    uint64_t        items;   /* BF: adds that were new; CF: adds minus removals */
    uint64_t        deleted; /* CF: removals */
    uint64_t        refused; /* CF: removals of what was not there */
    uint64_t        changes; /* of the contents, since this process has the value */
    uint64_t        dumped;  /* `changes` when the last SCANDUMP began */

    unsigned    n_parts;
    value_part *parts;      /* &first_part, or a list of its own if there are several */
    value_part  first_part; /* most keys have no other, and many keys are small */

    tamis_states *states;
    uint64_t      timeout; /* ticks; 0: keys stay */
    uint64_t      tick_ms, last_ms;
    struct timed *timed; /* this value in the list of those that age (clock.h) */

    struct request_log *requests; /* requests.h; NULL: no client has sent one */

    atomic_uint refs;            /* of the key, and of threads that use it (hold.h) */
    unsigned    holds, promised; /* hold.h */
    unsigned    readers;         /* with the lock of hold.c */
} tamis_value;

typedef enum item_outcome {
    DONE_NEW,   /* it was not there */
    DONE_AGAIN, /* it was there, and has a copy more if copies are counted */
    REFUSED_FULL,
    REFUSED_MEMORY,
    REFUSED_PARTS,     /* no further part can be opened */
    REFUSED_ELSEWHERE, /* it belongs to another part of a set that is spread over a cluster */
    NOT_THERE,
    SATURATED
} item_outcome;

/* Make a value with its first part. The recipe is completed: seed, kind, geometry. */
tamis_status value_create(value_recipe *recipe, tamis_value **ret_value,
                          tamis_problem *reterr_problem);

/* The same with the geometry, hash and seed of a native key. */
tamis_status value_create_like(const tamis_value *other, tamis_value **ret_value);

/* An empty one of that family, for the decoder. NULL: no memory. */
tamis_value *value_new(value_family family);

/* Another reference, and one less: the last one frees it, whichever thread that is. */
void value_share(tamis_value *value);
void value_free(tamis_value *value);

uint64_t value_memory(const tamis_value *value);

/* How to make the next part. */
value_recipe value_next_recipe(const tamis_value *value);

/* Make another part. */
tamis_status value_open_part(tamis_value *value, value_recipe *recipe,
                             tamis_problem *reterr_problem);

/* BF, CF and native sets, by the hash of an item (tamis_hash_key of the first part). */
uint64_t value_hash(const tamis_value *value, tamis_key key);
bool     value_has(const tamis_value *value, uint64_t hash);
uint64_t value_count(const tamis_value *value, uint64_t hash); /* TAMIS_COUNT_MANY: saturated */

/* Add a copy; REFUSED_FULL of a key that can grow: open a part, and try again. */
item_outcome value_add(tamis_value *value, uint64_t hash);

/* Add it unless it is there: DONE_AGAIN changes nothing. */
item_outcome value_add_new(tamis_value *value, uint64_t hash);

item_outcome value_remove(tamis_value *value, uint64_t hash);

/* Does the key have one part, which takes n new items? */
bool value_has_room(const tamis_value *value, size_t n);

/* Count n new items that went into the newest part. */
void value_count_prints(tamis_value *value, size_t n);

/* Add a copy of an item to the only part, which has it. */
item_outcome value_add_copy(tamis_value *value, uint64_t hash);

/* Begin to load the memory of keys that are handled next. */
void value_fetch(const tamis_value *value, const uint64_t *hashes, size_t n);

/* Another part: this set, which has so many prints already. False: no memory, and the set is still
 * the caller's. */
bool value_append_part(tamis_value *value, tamis_set *set, uint64_t prints);

/* The value was copied from `before` to another address, byte by byte. */
void value_moved(tamis_value *value, const tamis_value *before);

/* The spec of a set, without an allocator; and all fields of the geometry that a set has now, as a
 * spec takes them: empty if they cannot be told. */
tamis_spec value_spec(const value_recipe *recipe);
void       value_geometry(const tamis_set *set, char *text, size_t bytes);

/* recipe_text.c: a recipe as a line of text, and back. */
#define RECIPE_TEXT_BYTES 1024
void recipe_write(const value_recipe *recipe, char *ret_text);
bool recipe_read(const char *text, value_recipe *ret_recipe);

#endif
