/* tamis.h - compact approximate sets that you can delete from, count in, and keep a state in.
 *
 * A set answers "was this key added?" in a few bits per key. It never says no to a key that is in
 * it. It says yes to a key that is not in it with a small probability that you choose: the
 * false-positive rate, fpr. Unlike a Bloom filter it can remove keys, and count them.
 *
 *     #include <tamis/tamis.h>
 *
 *     tamis_spec spec = TAMIS_SPEC_INIT;
 *     spec.capacity = 1000000;             // different keys
 *     spec.fpr = 0.001;                    // one wrong yes in a thousand
 *     spec.abilities = TAMIS_CAN_REMOVE;   // what you need besides add and has
 *
 *     tamis_set *set;
 *     if (tamis_create(&spec, &set, NULL) != TAMIS_OK) ...
 *     if (tamis_add(set, "apple", 5) != TAMIS_OK) ...
 *     if (tamis_has(set, "apple", 5)) ...
 *     if (tamis_remove(set, "apple", 5) != TAMIS_OK) ...
 *     tamis_free(set);
 *
 * Read the sections in order, as far as you need:
 *
 *     1  statuses               5  many keys at once       9  planning without making
 *     2  making a set           6  looking at a set       10  version
 *     3  one key at a time      7  whole sets             states.h: keys that carry a value
 *     4  64-bit ids, hashes     8  files
 *
 * Capacity: N different keys fit, each with up to `copies` copies (1, unless the spec asks for
 * more). In addition, any one of them may be added without limit. An add within the capacity can
 * still be refused, with a very small probability that is stated: the overflow probability.
 *
 * Threads: calls that take a `const tamis_set *` may run at the same time as each other. A call
 * that takes a `tamis_set *` needs the set for itself.
 *
 * Shared sets (spec.shared): all calls on the set may run at the same time, except tamis_free().
 *   - When an add has returned, every lookup that begins later finds the key, until it is removed.
 *   - A lookup that runs while its key is added or removed may return either answer.
 *   - A batch is not atomic: other threads may see a part of it. Each call for one key is atomic,
 *     also tamis_add_new() and tamis_add_copies() (but not tamis_remove_copy_hash()).
 *   - Saving, sending and copying first copy the set in memory. Threads that change the set wait
 *     for that copy, about 0.3 s per GiB; lookups do not wait. (If there is no memory for the copy,
 *     saving and sending make those threads wait until the call is done.) The result is valid, and
 *     holds every key that was added before the call and not removed.
 *   - The functions of section 6, splitting, joining and converting make threads that change the
 *     set wait until the call is done. Lookups do not wait.
 *   - Merging, subtracting, clearing and resizing do the same, also for the set that is merged or
 *     subtracted. Lookups see either the old or the new contents; in a set of fixed size they may
 *     wait while the new contents are written.
 *   - Two threads may merge a into b and b into a at the same time.
 *   - A copy of a shared set is shared. Halves, joined and converted sets are not. For a set that
 *     is made `like` a shared one, opened or received, the spec or the options decide.
 *   - A stepper of shared states must not call its own table at all: a change returns
 *     TAMIS_ERR_REENTRY, and a call that only reads may wait for ever.
 *   - Lookups take no lock, except for the few keys in the overflow area of a `line`, and in `rank`
 *     and `counting` if 16 attempts in a row were disturbed by changes.
 *   - In `line` and blocked `bloom`, changes of different keys seldom wait for each other. In
 *     `rank`, `counting` and a `bloom` that is not blocked, one change runs at a time: this is
 *     safe, but not faster with more threads, and a lookup that meets a change starts again.
 *
 * A call that gets NULL for a set, a spec or a required result returns TAMIS_ERR_ARGUMENT.
 * Functions that return no status return false or 0; in debug builds they stop at an assertion.
 * The library keeps no global state, never prints, and never ends the process.
 *
 * Callbacks (allocators, writers, steppers) must return normally: no exceptions, no longjmp. They
 * must not change the set or table that called them; an allocator must not use it at all.
 *
 * Binary compatibility, once released:
 *   - Functions and enum values keep their meaning. New ones are added.
 *   - Structs that the library reads (specs, options) begin with `size`, which their _INIT macro
 *     sets. They may grow at the end. An old caller's smaller struct is accepted. So is a newer
 *     caller's larger one, if the part that this library does not know is all zero.
 *   - Structs that the library fills (tamis_plan, tamis_info, tamis_facts, tamis_problem, ...)
 *     never change their size; new facts take `reserved` words, which are 0 until then.
 *   - tamis_states_batch never changes its size, either. Its `reserved` members must be NULL.
 *   - tamis_key, tamis_seed, tamis_field, tamis_field_range, tamis_allocator, tamis_removal and
 *     tamis_gpu_keys never change.
 */
#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#define TAMIS_NODISCARD __attribute__((warn_unused_result))
#else
#define TAMIS_API
#define TAMIS_NODISCARD
#endif

/* ------------------------------------------------------------------ 1. statuses */

/** The result of a call. 0 is success. A failed call has changed nothing and has left its `ret_`
 *  results untouched. Values never change; new ones use the gaps. */
typedef enum tamis_status {
    TAMIS_OK = 0,

    /* answers about keys */
    TAMIS_ERR_FULL = -1,      /**< no room for this key; the set is unchanged */
    TAMIS_ERR_ABSENT = -2,    /**< the key is certainly not in the set */
    TAMIS_ERR_UNKNOWN = -3,   /**< don't know: the table cannot tell the value of this key */
    TAMIS_ERR_CONFLICT = -4,  /**< the key has another value; nothing changed */
    TAMIS_ERR_SATURATED = -5, /**< the key has more copies than the set can count: it can never be
                                   removed, and nothing changed */
    TAMIS_ERR_PART = -6,      /**< the key belongs to another part of the set; nothing changed */

    /* the caller can fix these */
    TAMIS_ERR_ARGUMENT = -10,  /**< NULL, or a value outside its documented range */
    TAMIS_ERR_KIND = -11,      /**< there is no kind of that name */
    TAMIS_ERR_CANNOT = -12,    /**< this kind cannot do that, in this geometry */
    TAMIS_ERR_MISMATCH = -13,  /**< the two sets differ in kind, geometry, hash or seed */
    TAMIS_ERR_READ_ONLY = -14, /**< the set is mapped from a file; tamis_copy() it to change it */
    TAMIS_ERR_NOT_BUILT = -15, /**< left out of this build (keyed hash, instruction set) */
    TAMIS_ERR_LIMIT = -16,     /**< larger than this machine or the format can address */
    TAMIS_ERR_REENTRY = -17,   /**< a callback called into the table that called it */

    /* problems of the machine */
    TAMIS_ERR_MEMORY = -30, /**< an allocation failed */
    TAMIS_ERR_IO = -31,     /**< a system call failed; `os_error` says why */
    TAMIS_ERR_SPACE = -32,  /**< the disk or the quota is full */

    /* files */
    TAMIS_ERR_FOREIGN = -50,   /**< not a tamis file */
    TAMIS_ERR_VERSION = -51,   /**< written by a newer tamis than this one can read */
    TAMIS_ERR_TRUNCATED = -52, /**< shorter than its header says */
    TAMIS_ERR_CHECKSUM = -53,  /**< bytes were damaged */
    TAMIS_ERR_CORRUPT = -54    /**< checksums match, but the contents are invalid */
} tamis_status;

/** A sentence for a status, in English, without a full stop. Never NULL. */
TAMIS_API const char *tamis_status_text(tamis_status status);

/** Details of a failure, for calls that can fail in many ways. Pass NULL if you need none. */
typedef struct tamis_problem {
    tamis_status status;
    int          os_error;  /**< the system's error number, or 0 */
    uint64_t     offset;    /**< for problems in a file: the byte where the problem is */
    char         text[368]; /**< one line: what is wrong and what to do */
} tamis_problem;

/* ------------------------------------------------------------------ 2. making a set */

typedef struct tamis_set tamis_set;

/** What a set can do besides add and has. Combine them with |. */
enum {
    TAMIS_CAN_REMOVE = 1,
    TAMIS_CAN_COUNT = 2, /**< tamis_count(). Kinds whose copies use up capacity (vicbf, bhcbf and
                              mlcbf) are then chosen only when named, by `kind` or by a `geometry`
                              that only they have. Without TAMIS_CAN_COUNT they may be chosen for
                              one copy of each key; for more copies they never are */
    TAMIS_CAN_MERGE = 4  /**< tamis_merge() */
};

/** Which kind to choose when several can do the job. */
typedef enum tamis_preference {
    TAMIS_PREFER_FAST = 0, /**< the fastest: "line" if it can do the job; "bloom" (blocked) if keys
                                are neither removed nor counted, and it is at most 1/8 larger. If
                                neither fits into `memory`, and the spec leaves the fpr or the
                                capacity open: the lowest fpr, or the most keys. A kind whose fast
                                layout does not fit into `memory` takes its smallest layout */
    TAMIS_PREFER_SMALL = 1 /**< the fewest bytes */
} tamis_preference;

/** How key bytes become 64 bits. Both use all 128 bits of the set's seed. */
typedef enum tamis_hash {
    TAMIS_HASH_DEFAULT = 0, /**< TAMIS_HASH_XXH3 */
    TAMIS_HASH_XXH3 = 1,    /**< fast; for keys that no attacker chooses */
    TAMIS_HASH_SIPHASH = 2  /**< SipHash-2-4; for keys that an attacker may choose */
} tamis_hash;

/** 128 bits. Sets with different seeds hash the same key differently. */
typedef struct tamis_seed {
    uint64_t low, high;
} tamis_seed;

/** Your own memory functions: give both, or neither. If several threads use the set, they must be
 *  thread-safe; copying and writing a set call them, too. `alloc` returns memory aligned to
 *  `alignment` (a power of two, at most 2 MiB), or NULL. `free` gets the size that `alloc` got. */
typedef struct tamis_allocator {
    void *(*alloc)(void *context, size_t bytes, size_t alignment);
    void (*free)(void *context, void *memory, size_t bytes);
    void *context;
} tamis_allocator;

/** Properties of an allocator, for `allocator_flags` in specs and options. */
enum {
    TAMIS_ALLOCATOR_ZEROED = 1 /**< `alloc` returns memory that is zero already, so the library
                                    does not clear it. For allocators that return fresh pages: the
                                    system clears each page when it is first used, and clearing a
                                    large body in advance takes long (about 0.4 ms per MiB) */
};

/** What you want. Start from TAMIS_SPEC_INIT; only `capacity` and `fpr` must be set. */
typedef struct tamis_spec {
    size_t size; /**< set by TAMIS_SPEC_INIT */

    uint64_t capacity;  /**< different keys in the set at one time, 1 to 2^40. 0 with `memory`: as
                            many as fit */
    double   fpr;       /**< false-positive rate at capacity, 1e-12 to 0.5. 0 with `memory`: the
                            lowest that fits. 0 with `geometry`: what follows from the geometry */
    unsigned abilities; /**< TAMIS_CAN_... */
    uint64_t copies;    /**< copies of EVERY key to plan for, 1 to 2^32; 0: 1. More than one needs
                             counters, unless the set cannot remove (then copies take no room).
                             Counters have limits: "line" and "rank" can plan for 2^21 copies
                             ("rank" for 2^24 if it need not count), "counting" for 4681, "dlcbf"
                             for 16 and "ddlcbf" for 15. In "vicbf", "bhcbf" and "mlcbf" each copy
                             uses up capacity, so they cannot plan for more than 1 */
    uint64_t count_to;  /**< with TAMIS_CAN_COUNT: the highest count that must be exact, 1 to 2^32;
                             0: 255, or what a named kind counts to if that is less. The limits are
                             2^24 - 1 for "line" and "rank", 65534 for "counting", 4088 for
                             "vicbf", 507 for "mlcbf", 63 for "dlcbf", 60 for "ddlcbf" and 57 for
                             "bhcbf". What becomes of a key with more copies: see tamis_count() */
    uint64_t memory;    /**< largest body in bytes; 0: no limit */

    tamis_preference prefer;
    const char      *kind;     /**< "line", "rank", ...; NULL: chosen for you */
    const char      *geometry; /**< NULL, or fields to fix, as in "hashes=9,counter_bits=3" */

    uint64_t lifetime; /**< keys that are added over the set's whole life. Further copies of a key
                            do not count; a key that is added again after its removal does. 0: 16 x
                            capacity if the set can remove, else capacity */
    double   overflow; /**< largest acceptable probability that an add within capacity is ever
                            refused; 0: 1e-10 */

    const tamis_seed *seed; /**< NULL: random, from the operating system. A fixed seed makes files
                                 reproducible byte for byte; an attacker who knows the seed can
                                 make keys collide */
    tamis_hash        hash;
    const tamis_set  *like; /**< make an empty set that can be merged with this one: same kind,
                                 geometry, hash and seed. All fields above are then ignored */

    tamis_allocator allocator; /**< zeros: the system's, with huge pages if the body is large */
    const char     *isa;       /**< instruction set. NULL: the best one up to avx2 or neon.
                                    "portable", "sse4", "avx2", "avx512" (x86-64) or "neon"
                                    (aarch64), to compare speeds: it never changes a bit of the
                                    set. A kind without a build for it uses a simpler one;
                                    tamis_facts.isa says which */

    uint64_t grow_to; /**< the largest capacity that keeps the fpr, up to 2^40; 0: the capacity is
                           fixed. The set grows as keys are added. See tamis_resize() */
    bool     shared;  /**< many threads use the set at the same time: see "Threads" above. Kinds
                           line, rank, bloom and counting can be shared */

    unsigned allocator_flags; /**< TAMIS_ALLOCATOR_... of `allocator` */
    bool     reseed; /**< with `like`: the same kind, geometry and hash function, but with `seed`
                          (NULL: a random one). Such sets cannot be merged. As nothing is planned
                          again, many equal sets are made in microseconds each */

    uint32_t part;  /**< if the set is one part of a larger set: which part, 0 to parts - 1 */
    uint32_t parts; /**< a power of two up to 65536; 0: a whole set. Capacity, grow_to and lifetime
                         are those of this part. With `like`: another part like this one, or with
                         0 and 0 the same part. See section 7 */

    uint64_t max_bytes; /**< largest size of the set's tables together, now and while it grows; 0:
                             no limit. A step of growing has two tables, the body_bytes of two
                             stages (tamis_plan_stages()); both count in full, even if pages of the
                             old one are freed early. A resize in a step has three. If the first
                             table needs more than max_bytes, the call returns _LIMIT. If a step
                             needs more, it does not begin, and adds return _MEMORY when there is
                             no room left. Each copy of the set has this limit for itself:
                             a shared set makes a temporary copy when it is written, merged or
                             cleared, and after a step it keeps the old table until no lookup reads
                             it any more */
} tamis_spec;

#define TAMIS_SPEC_INIT                                                                       \
    {                                                                                         \
        sizeof(tamis_spec), 0, 0, 0, 0, 0, 0, TAMIS_PREFER_FAST, NULL, NULL, 0, 0, NULL,      \
            TAMIS_HASH_DEFAULT, NULL, { NULL, NULL, NULL }, NULL, 0, false, 0, false, 0, 0, 0 \
    }

/** Make an empty set.
 *
 *  @return TAMIS_OK, _ARGUMENT, _KIND, _CANNOT (no kind can do what the spec asks, or the named
 *  kind cannot), _NOT_BUILT, _LIMIT, _MEMORY, or _IO (the system gave no random seed). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_create(const tamis_spec *spec, tamis_set **ret_set,
                                                    tamis_problem *reterr_problem);

/** Free a set and its memory. NULL is allowed. */
TAMIS_API void tamis_free(tamis_set *set);

/* ------------------------------------------------------------------ 3. one key at a time */

/** Add one key. In a set that can remove, a key added twice must be removed twice.
 *
 *  A key with more copies than the set can count is saturated: it can never be removed, and
 *  further adds return TAMIS_OK and change nothing. Other keys are not affected: in kinds without
 *  counters, one key takes the room of 8 keys at most, however often it is added.
 *  tamis_facts.saturated counts such entries.
 *
 *  @return TAMIS_OK; _FULL (nothing changed); _MEMORY: the set has to grow for this key, and there
 *  is no memory for that (nothing changed); _PART: the set is a part, and the key belongs to
 *  another part; _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add(tamis_set *set, const void *key, size_t key_bytes);

/** Add `copies` copies of one key: all of them or none. Each counts as one add. Copies beyond what
 *  the set can count saturate the key. 0 copies change nothing.
 *  @return as tamis_add(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_copies(tamis_set *set, const void *key,
                                                        size_t key_bytes, uint64_t copies);

/** Add one key only if the set does not have it yet, and say whether it was new. A false positive
 *  (probability fpr) is not added: the set already says yes to that key. So do not remove keys from
 *  a set that was filled with this function: removing one key could lose another.
 *  @return as tamis_add(); *ret_is_new is written on TAMIS_OK. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_new(tamis_set *set, const void *key,
                                                     size_t key_bytes, bool *ret_is_new);

/** Is the key in the set? Never false for a key that was added and not removed, as long as only
 *  added keys were removed. For a key that is not in the set, true with probability fpr. */
TAMIS_API bool tamis_has(const tamis_set *set, const void *key, size_t key_bytes);

/** Remove one copy of a key that was added.
 *
 *  If the key was never added, the set usually notices: TAMIS_ERR_ABSENT, nothing changed. With
 *  probability fpr it does not notice, and another key may be lost. So remove only what you added.
 *
 *  @return TAMIS_OK, _ABSENT, _SATURATED (nothing changed), _CANNOT, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove(tamis_set *set, const void *key,
                                                    size_t key_bytes);

/** The answer of tamis_count() for a saturated key: more copies than the set can count. */
#define TAMIS_COUNT_MANY UINT64_MAX

/** Get how many copies of the key are in the set. The count is never too low. It is too high with a
 *  probability of about the set's current fpr, because of other keys. Up to tamis_plan.count_to
 *  copies there is nothing else that makes it wrong. A key with more copies is saturated, and has
 *  the count TAMIS_COUNT_MANY; "vicbf", "bhcbf" and "mlcbf" may count further before that, to a
 *  number that depends on the key.
 *
 *  @return TAMIS_OK, _CANNOT, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count(const tamis_set *set, const void *key,
                                                   size_t key_bytes, uint64_t *ret_count);

/** Prefetch: tell the set that this key will soon be looked up, added or removed. The call starts
 *  to load the memory for it into the cache, and returns at once. It costs one hash, and changes
 *  nothing. Use it in programs that handle one key at a time and know the next ones early. Prefetch
 *  16 keys ahead, or 32 on processors that can have many cache misses in flight (AMD since Zen 5):
 *
 *      for (i = 0; i < n; i++) {
 *          if (i + 16 < n) tamis_fetch(set, key[i + 16], bytes[i + 16]);
 *          if (tamis_has(set, key[i], bytes[i])) ...
 *      }
 *
 *  In sets that are larger than the second-level cache this reaches half of the speed of a batch
 *  or more (section 5). In smaller ones it costs more than it saves. Kinds that look at many places
 *  for a key do nothing here. */
TAMIS_API void tamis_fetch(const tamis_set *set, const void *key, size_t key_bytes);

/* ------------------------------------------------------------------ 4. 64-bit ids, and hashes */

/* The same functions for keys that are 64-bit ids. Any values are fine, sequential ones too: each
 * id is first mixed with the set's seed, so that different ids stay different (with
 * TAMIS_HASH_SIPHASH, it is hashed as 8 bytes). If you add a key by its id, look it up by its id;
 * if you add it as bytes, look it up as bytes. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_id(tamis_set *set, uint64_t id);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_copies_id(tamis_set *set, uint64_t id,
                                                           uint64_t copies);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_new_id(tamis_set *set, uint64_t id,
                                                        bool *ret_is_new);
TAMIS_API bool                         tamis_has_id(const tamis_set *set, uint64_t id);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_id(tamis_set *set, uint64_t id);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count_id(const tamis_set *set, uint64_t id,
                                                      uint64_t *ret_count);
TAMIS_API void                         tamis_fetch_id(const tamis_set *set, uint64_t id);

/* Hash a key once and look it up in many sets. Sets with the same hash function and seed (given in
 * the spec, or taken from `like`) compute the same hash of a key, even if their kinds and sizes
 * differ. The _hash functions take such a hash and do not mix it again, so pass only values that
 * tamis_hash_key() and tamis_hash_id() returned. */

/** The hash that the set uses for a key. 0 if there is no set or no key. */
TAMIS_API uint64_t tamis_hash_key(const tamis_set *set, const void *key, size_t key_bytes);
TAMIS_API uint64_t tamis_hash_id(const tamis_set *set, uint64_t id);

TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_hash(tamis_set *set, uint64_t hash);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_new_hash(tamis_set *set, uint64_t hash,
                                                          bool *ret_is_new);
TAMIS_API bool                         tamis_has_hash(const tamis_set *set, uint64_t hash);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_hash(tamis_set *set, uint64_t hash);

/** Remove one copy, as tamis_remove_hash() does, and say whether it was the last one. In a shared
 *  set another thread may have added or removed a copy meanwhile.
 *  @param ret_is_last true: tamis_has_hash() says no now. Set only if a copy was removed.
 *  @return as tamis_remove_hash(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_copy_hash(tamis_set *set, uint64_t hash,
                                                              bool *ret_is_last);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count_hash(const tamis_set *set, uint64_t hash,
                                                        uint64_t *ret_count);
TAMIS_API void                         tamis_fetch_hash(const tamis_set *set, uint64_t hash);

/* ------------------------------------------------------------------ 5. many keys at once */

/* A batch has the same results as single calls for its keys, in order, duplicates included. It is
 * much faster on large sets, because the memory accesses of many keys overlap. Any n is allowed; a
 * batch is worth it from a few dozen keys on. */

typedef struct tamis_key {
    const void *data;
    size_t      bytes;
} tamis_key;

/** Add keys[0], keys[1], ... and stop at the first that is refused.
 *  @param ret_added how many were added, whatever the status; may be NULL.
 *  @return as tamis_add(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_batch(tamis_set *set, const tamis_key *keys,
                                                       size_t n, size_t *ret_added);

/** Add keys that are all known in advance, and choose the place of each key depending on the other
 *  keys. In a "dlbf" of two subtables this lowers the fpr. How much depends on the geometry: 1e-5
 *  and below becomes less than half of that, 2.30e-4 becomes 1.89e-4, 0.99% becomes 0.58%, and 6.6%
 *  becomes 5.7%. Other kinds add the keys as tamis_add_batch() does. During the call it needs
 *  memory: 9 bytes per key and up to an eighth of the body.
 *  @return as tamis_add_batch(); _MEMORY. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_balanced(tamis_set *set, const tamis_key *keys,
                                                          size_t n, size_t *ret_added);

/** Call tamis_add_new() for keys[0], keys[1], ... and stop at the first that is refused.
 *  @param ret_is_new ret_is_new[i] says whether keys[i] was new; may be NULL.
 *  @param ret_done how many were handled, new or not, whatever the status; may be NULL.
 *  @return as tamis_add(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_new_batch(tamis_set *set, const tamis_key *keys,
                                                           size_t n, bool *ret_is_new,
                                                           size_t *ret_done);

/** Set ret_has[i] to tamis_has(keys[i]) for all keys; ret_has may be NULL.
 *  @return how many of the keys are in the set. */
TAMIS_API size_t tamis_has_batch(const tamis_set *set, const tamis_key *keys, size_t n,
                                 bool *ret_has);

/** The results of a batch of removals. The three numbers add up to the number of keys. */
typedef struct tamis_removal {
    size_t removed, absent, saturated;
} tamis_removal;

/** Remove one copy of each key; absent and saturated keys are skipped. ret_removed[i] says
 *  whether keys[i] was removed. Both results may be NULL.
 *  @return TAMIS_OK, also if some or all were absent; _CANNOT, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_batch(tamis_set *set, const tamis_key *keys,
                                                          size_t n, bool *ret_removed,
                                                          tamis_removal *ret_removal);

/** Set ret_counts[i] to the count of keys[i] for all keys. @return as tamis_count(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count_batch(const tamis_set *set,
                                                         const tamis_key *keys, size_t n,
                                                         uint64_t *ret_counts);

/* The same for 64-bit ids. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_id_batch(tamis_set *set, const uint64_t *ids,
                                                          size_t n, size_t *ret_added);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_id_balanced(tamis_set *set, const uint64_t *ids,
                                                             size_t n, size_t *ret_added);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_new_id_batch(tamis_set *set, const uint64_t *ids,
                                                              size_t n, bool *ret_is_new,
                                                              size_t *ret_done);
TAMIS_API size_t tamis_has_id_batch(const tamis_set *set, const uint64_t *ids, size_t n,
                                    bool *ret_has);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_id_batch(tamis_set *set, const uint64_t *ids,
                                                             size_t n, bool *ret_removed,
                                                             tamis_removal *ret_removal);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count_id_batch(const tamis_set *set,
                                                            const uint64_t *ids, size_t n,
                                                            uint64_t *ret_counts);

/* The same for hashes of section 4. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_hash_batch(tamis_set *set, const uint64_t *hashes,
                                                            size_t n, size_t *ret_added);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_new_hash_batch(tamis_set      *set,
                                                                const uint64_t *hashes, size_t n,
                                                                bool *ret_is_new, size_t *ret_done);
TAMIS_API size_t tamis_has_hash_batch(const tamis_set *set, const uint64_t *hashes, size_t n,
                                      bool *ret_has);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_hash_batch(tamis_set      *set,
                                                               const uint64_t *hashes, size_t n,
                                                               bool          *ret_removed,
                                                               tamis_removal *ret_removal);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count_hash_batch(const tamis_set *set,
                                                              const uint64_t *hashes, size_t n,
                                                              uint64_t *ret_counts);

/* ------------------------------------------------------------------ 6. looking at a set */

/** What is known about a set without reading its body. */
typedef struct tamis_facts {
    const char *kind;
    const char *isa;
    unsigned    abilities; /**< TAMIS_CAN_... */
    tamis_hash  hash;
    tamis_seed  seed;
    bool        is_mapped; /**< read-only, from a file */
    bool        is_huge;   /**< huge pages were requested */

    uint64_t capacity; /**< as in tamis_spec */
    uint64_t copies;
    uint64_t lifetime;
    uint64_t count_to; /**< every key can be counted up to this, see tamis_count(); 0: it cannot
                            count */

    uint64_t keys;            /**< adds minus removals, without calls that changed nothing. After a
                                   merge of kinds that cannot remove, this is an upper bound */
    uint64_t saturated;       /**< saturated entries: they can no longer be removed */
    uint64_t refused_adds;    /**< calls that returned TAMIS_ERR_FULL */
    uint64_t refused_removes; /**< calls that returned TAMIS_ERR_ABSENT */
    uint64_t moved;           /**< entries that were moved to make room (d-left kinds) */
    uint64_t body_bytes;
    uint64_t memory_bytes; /**< all memory of the set: its tables, the handle, and what growing and
                                sharing need (up to 150 KiB if it is shared and grows) */

    /* for a set that grows; 0 in others */
    uint64_t grow_to;       /**< the largest capacity that keeps the fpr */
    unsigned stage, stages; /**< the capacity is now 2^stage times the first one; it can be up to
                                 2^stages times that */
    bool     is_growing;    /**< a step to the next stage is under way */

    uint32_t part, parts; /**< as in tamis_spec; 0 and 0: a whole set */

    uint64_t reserved[4];
} tamis_facts;

/** Get the facts of a set. The body is not read, so this takes a few nanoseconds (longer in a
 *  shared set, where it first waits for changes). @return TAMIS_OK, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_get_facts(const tamis_set *set,
                                                       tamis_facts     *ret_facts);

/** Get one field of the set's geometry by its name, such as "buckets". tamis_kind_fields() lists
 *  the names. During a step of growing, the field describes the old, smaller table.
 *  @return TAMIS_OK, _ARGUMENT (also if the kind has no such field). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_get_field(const tamis_set *set, const char *name,
                                                       uint64_t *ret_value);

/** One number of a geometry, as in { "hashes", 10 }. */
typedef struct tamis_field {
    const char *name;
    uint64_t    value;
} tamis_field;

#define TAMIS_MAX_FIELDS 16

/** The geometry that a kind chooses for a spec, and what its analysis predicts. */
typedef struct tamis_plan {
    const char  *kind;
    const char  *summary; /**< the kind in one line */
    tamis_status status;  /**< TAMIS_OK, or why this kind cannot do it; then only kind, summary
                               and abilities have a meaning */
    bool         chosen;  /**< this is the kind that tamis_create() chooses. There may be none, even
                               if rows are TAMIS_OK: see TAMIS_CAN_COUNT */
    bool         copies_take_room; /**< each copy of a key takes as much room as another key */
    unsigned     abilities;
    uint64_t     capacity;
    uint64_t     lifetime;
    unsigned     n_fields;
    tamis_field  fields[TAMIS_MAX_FIELDS]; /**< the geometry */

    uint64_t body_bytes;   /**< size of the table, in memory and in a file */
    uint64_t file_bytes;   /**< size of the whole file */
    double   bits_per_key; /**< 8 x body_bytes / capacity */

    double fpr;        /**< predicted at capacity. It holds while few entries are saturated: each
                            saturated entry raises the fpr */
    double overflow;   /**< probability that an add within capacity is refused in the lifetime */
    double saturation; /**< probability that any entry saturates in the lifetime, if no key is added
                            more often than planned */

    double lines_present; /**< cache lines that a lookup touches, on average */
    double lines_absent;
    double lines_add;

    double unknown; /**< for states: how often a present key is answered with "don't know" */

    uint64_t copies;   /**< copies of every key that are planned for */
    uint64_t count_to; /**< every key can be counted up to this, see tamis_count(); 0: it cannot
                            count */

    uint64_t peak_bytes; /**< in rows of tamis_plan_stages(): the largest size of the tables while
                              the set grows to this stage; else 0 */

    uint64_t reserved[12];
} tamis_plan;

typedef struct tamis_info {
    tamis_plan  plan; /**< for the geometry that the set has; `plan.fpr` is the predicted one */
    tamis_facts facts;

    double   current_fpr; /**< computed from the present contents */
    double   distinct;    /**< estimate of how many different keys were added, computed from the
                               contents. It includes false positives that tamis_add_new() did not
                               add */
    double   load;        /**< how full the table is, 0 to 1 */
    uint64_t prints;      /**< different fingerprints that are stored; 0 if the kind stores none */

    uint64_t reserved[8];
} tamis_info;

/** Get everything that is known about a set. Reads the whole body. @return TAMIS_OK, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_inspect(const tamis_set *set, tamis_info *ret_info);

/** Check every invariant of the kind. If it returns false, there is a bug, or memory was damaged;
 *  *reterr_why names the broken invariant (a static string). */
TAMIS_API bool tamis_validate(const tamis_set *set, const char **reterr_why);

/* ------------------------------------------------------------------ 7. whole sets */

/** Remove everything, and set all counts to zero. @return TAMIS_OK, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_clear(tamis_set *set);

/** Make a set with the same contents, in memory, that can be changed. It uses the same allocator.
 *  @return TAMIS_OK, _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_copy(const tamis_set *set, tamis_set **ret_copy);

/** Change the capacity of a set that was made with `grow_to`. Possible capacities are the first
 *  capacity times a power of two; the set gets the smallest of them that is at least `capacity`.
 *  Choose a larger one before many keys arrive, or a smaller one after many removals, to free
 *  memory. All answers stay the same. During the call it needs memory for both sizes, and in a step
 *  of growing also for the new table of the step. On any failure nothing has changed.
 *  @param ret_capacity the capacity that it has now; may be NULL.
 *  @return TAMIS_OK; _CANNOT: the set has a fixed size; _LIMIT: more than grow_to; _FULL: the set
 *  has more keys than that; _MEMORY, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_resize(tamis_set *set, uint64_t capacity,
                                                    uint64_t *ret_capacity);

/** Add the contents of `from` to `into`: all of it or nothing. Both sets must be made with the same
 *  spec and seed, or one with `like` set to the other. Sets that grow can be merged at any stage;
 *  `into` grows if needed.
 *  @return TAMIS_OK, _MISMATCH, _CANNOT, _FULL, _READ_ONLY, _ARGUMENT; _MEMORY: some kinds need a
 *  temporary copy, and `into` may have to grow. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_merge(tamis_set *into, const tamis_set *from);

/** Take the contents of `from` out of `into`, the reverse of tamis_merge(): all of it or nothing.
 *  Subtract only what was added or merged. As with tamis_remove(), the set usually notices keys
 *  that were not added, and refuses; if it does not notice, other keys may be lost. Saturated
 *  entries of `into` stay.
 *  @return TAMIS_OK; _ABSENT: `from` is not a subset of `into`; _CANNOT: the set cannot remove or
 *  merge, or its fingerprints have several lengths (ddlcbf); _MISMATCH,
 *  _READ_ONLY, _ARGUMENT; _MEMORY: some kinds need a temporary copy. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_subtract(tamis_set *into, const tamis_set *from);

/** Give `set` back the longer fingerprints that it has lost. In ddlcbf, fingerprints become shorter
 *  as keys are added and removed; `fuller` must have the same keys with longer fingerprints. It
 *  must have the same kind, seed, hash, buckets and remainder_bits: for example a second set with
 *  wider buckets that is always changed in the same way, or a set that was made `like` this one and
 *  filled again. All or nothing.
 *  @return TAMIS_OK; _MISMATCH: the sets are not alike, or do not have the same keys; _CANNOT: this
 *  kind does not need it; _FULL, _MEMORY, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_refresh(tamis_set *set, const tamis_set *fuller);

/** Make a set of another kind that has the same answers to `has`, but is smaller and can do less:
 *  for example a "bloom" from a "counting".
 *  @return TAMIS_OK, _KIND, _CANNOT (there is no such conversion), _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_convert(const tamis_set *set, const char *kind,
                                                     tamis_set **ret_set);

/* Parts. A set that is too large for one machine is split into P = 2^k parts (spec.part and
 * spec.parts) with the same seed and hash. The first k bits of a key's hash choose the part. The
 * part uses only the other bits, so its keys are spread over all of its buckets. A part knows which
 * keys belong to other parts: a lookup of such a key says no, an add returns TAMIS_ERR_PART, a
 * removal TAMIS_ERR_ABSENT. This check costs one comparison per key in a part, and nothing in other
 * sets. Hashes (section 4) are the same in all parts and in the whole set. Parts are copied, saved,
 * sent, resized and merged (the same part of two sets) as other sets are. States have no parts. */

/** The part that a hash belongs to, if the set has `parts` parts (a power of two up to 65536). */
TAMIS_API uint32_t tamis_part_of_hash(uint64_t hash, uint32_t parts);

/** The same for a key. `set` computes its hash; it may be any of the parts, or the whole set. */
TAMIS_API uint32_t tamis_part_of_key(const tamis_set *set, const void *key, size_t key_bytes,
                                     uint32_t parts);

/** Split a set in two. The keys are not needed. A whole set becomes parts 0 and 1 of 2; part i of P
 *  becomes parts 2i and 2i + 1 of 2P. The kinds line and rank can be split. Each half has half of
 *  the buckets, of the possible fingerprints and of the capacity (if that is odd, the first half
 *  has one more), so answers and the fpr stay the same. The first half takes over the counters of
 *  refused calls. If the set is in a step of growing, the halves are at the next stage. In `line`,
 *  if the set was not in a step, joining the halves gives the same bytes again.
 *  @return TAMIS_OK; _CANNOT: another kind, or an odd number of buckets (the problem says which);
 *  _LIMIT: there would be more than 65536 parts, or parts for less than one key; _MEMORY,
 *  _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_split(const tamis_set *set, tamis_set **ret_first,
                                                   tamis_set    **ret_second,
                                                   tamis_problem *reterr_problem);

/** Join parts 2i and 2i + 1 of 2P into part i of P, or into a whole set: the reverse of a split.
 *  Parts of sets that grow may be at different stages; the result is at the later one.
 *  @return TAMIS_OK; _MISMATCH: the parts are not such a pair, or differ in kind, fingerprints,
 *  hash or seed; _CANNOT, _LIMIT, _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_join(const tamis_set *first, const tamis_set *second,
                                                  tamis_set    **ret_set,
                                                  tamis_problem *reterr_problem);

/* ------------------------------------------------------------------ 8. files */

/* A file is the same on every machine (docs/format.md). Everything in it is checksummed. */

/** Save a set to a file. The old file is replaced in one step: at every moment, even if the process
 *  or the machine fails, `path` is either the complete old file or the complete new one. (After a
 *  disk error in the very last step, the new file is already in place, but may not survive a crash
 *  of the machine; the problem text says so.)
 *  @return TAMIS_OK, _IO, _SPACE, _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_save(const tamis_set *set, const char *path,
                                                  tamis_problem *reterr_problem);

enum {
    TAMIS_OPEN_MAP = 1,  /**< map the file read-only instead of reading it: it opens at once, and
                              processes share its memory. If anybody overwrites or shortens the file
                              in place, answers change, or the process gets SIGBUS; tamis_save()
                              replaces the file and is safe */
    TAMIS_OPEN_TRUST = 2 /**< do not check the body (the check reads all of it). Only for files
                              that nobody else can write. The header is always checked. If the
                              body is damaged, calls answer anything, but stay in the set's memory
                              and end */
};

typedef struct tamis_open_options {
    size_t          size;
    unsigned        flags; /**< TAMIS_OPEN_... */
    const char     *isa;   /**< as in tamis_spec */
    tamis_allocator allocator;
    bool            shared; /**< as in tamis_spec. A mapped file is read-only, and shared anyway */
    unsigned        allocator_flags; /**< as in tamis_spec */
    uint64_t        max_bytes;       /**< as in tamis_spec, for files that you do not trust. Opening
                                    never takes more memory than the length of the file, and with
                                    `shared` 144 KiB for locks besides; but a set that grows may ask
                                    for more later */
} tamis_open_options;

#define TAMIS_OPEN_OPTIONS_INIT \
    { sizeof(tamis_open_options), 0, NULL, { NULL, NULL, NULL }, false, 0, 0 }

/** Open a saved set. `options` may be NULL: read into memory, checked.
 *  @return TAMIS_OK, _IO, _FOREIGN, _VERSION, _TRUNCATED, _CHECKSUM, _CORRUPT, _KIND, _NOT_BUILT,
 *  _LIMIT, _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_open(const char               *path,
                                                  const tamis_open_options *options,
                                                  tamis_set               **ret_set,
                                                  tamis_problem            *reterr_problem);

/** The same for a file that you have already opened for reading. It is read from its first byte,
 *  whatever the current offset is. The call does not close the descriptor; you may close it at any
 *  time afterwards.
 *  @return as tamis_open(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_open_fd(int fd, const tamis_open_options *options,
                                                     tamis_set    **ret_set,
                                                     tamis_problem *reterr_problem);

/** Takes the next bytes of a file being written; returns false to stop.
 *
 *  This is a callback: it must return normally (no exception, no longjmp), and must not change the
 *  set that is written or sent. A call that would change that set returns TAMIS_ERR_REENTRY and
 *  does nothing (or succeeds, if the set is shared: then a copy is written); tamis_free() of it
 *  does nothing, either. Calls that only read it are allowed. */
typedef bool tamis_writer(void *context, const void *bytes, size_t n);

/** Pass the bytes of the file that tamis_save() would make to your own function.
 *  @return TAMIS_OK, _IO (the writer stopped), _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_write(const tamis_set *set, tamis_writer *writer,
                                                   void *context);

/** Make a set from the bytes that tamis_write() wrote. They are copied, so you may free them.
 *  TAMIS_OPEN_MAP is ignored. @return as tamis_open(), without _IO. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_read(const void *bytes, size_t n,
                                                  const tamis_open_options *options,
                                                  tamis_set               **ret_set,
                                                  tamis_problem            *reterr_problem);

/* Sending. Kinds that store fingerprints of one length (line, rank, dlcbf) can be sent without
 * their empty places, in about log2(1/fpr) + 2 bits per key. The receiver can make a set of another
 * size from the stream, or one that cannot remove. */

enum {
    TAMIS_SEND_COPIES = 1 /**< send how many copies of each key there are: one bit more per key.
                               Without it the received set cannot remove. A key with 65536 copies or
                               more arrives saturated */
};

/** Write a set as a stream, without its empty places.
 *  @return TAMIS_OK, _CANNOT (the kind stores no fingerprints, or no copies), _IO (the writer
 *  stopped), _CORRUPT (only if the body was not checked, see TAMIS_OPEN_TRUST), _MEMORY,
 *  _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_send(const tamis_set *set, unsigned flags,
                                                  tamis_writer *writer, void *context);

/** Make a set from what tamis_send() wrote.
 *  @param spec NULL: the same kind and geometry (without copies, the same kind without removal).
 *  Otherwise what you want instead: kind, capacity, abilities, geometry, `like` and so on, as for
 *  tamis_create(). These fields have other defaults here:
 *    - capacity 0: that of the sender;
 *    - abilities 0: those of the sender, if copies were sent;
 *    - fpr 0: up to one and a half times that of the sender (the number of possible fingerprints
 *      cannot change, so the fpr grows with the capacity);
 *    - count_to 0: that of the sender, if it has counters. If you name a kind that cannot count so
 *      far, the result is _CANNOT, unless you fix a geometry.
 *  Seed and hash are always those of the sender, since the keys are hashed already. A short stream
 *  can describe a large empty set: for streams that you do not trust, pass a spec with `max_bytes`.
 *  If that is all it asks for, the set is the same as without a spec.
 *  @return TAMIS_OK, _FOREIGN, _VERSION, _TRUNCATED, _CHECKSUM, _CORRUPT, _KIND, _NOT_BUILT,
 *  _LIMIT, _MEMORY, _CANNOT (no geometry with these fingerprints can do what the spec asks),
 *  _MISMATCH, _FULL (more keys than the requested set has room for), _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_receive(const void *bytes, size_t n,
                                                     const tamis_spec *spec, tamis_set **ret_set,
                                                     tamis_problem *reterr_problem);

/* ------------------------------------------------------------------ 9. planning without making */

/** Plan every kind for a spec, one row for each, and mark the one that tamis_create() uses. With
 *  `spec->kind` or `spec->like` there is one row. With `spec->memory` and no capacity, each row has
 *  the capacity that this kind has room for. With `spec->grow_to`, rows describe the last stage
 *  (tamis_plan_stages() describes all), and kinds that cannot grow have the status _CANNOT. Rows
 *  beyond `max_rows` are counted and not written.
 *  @param ret_n_rows how many kinds there are.
 *  @return TAMIS_OK, also when no kind can do it (then no row is chosen); _ARGUMENT, _KIND. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_plan_kinds(const tamis_spec *spec,
                                                        tamis_plan *ret_rows, size_t max_rows,
                                                        size_t        *ret_n_rows,
                                                        tamis_problem *reterr_problem);

/** Plan the stages of a set that grows, with the kind that tamis_create() uses: row i is stage i.
 *  The capacity doubles from row to row. Each row describes the set at that stage: body_bytes,
 *  bits_per_key, and the fpr when that stage is full. The last row has a capacity of grow_to or a
 *  little more, and the fpr of the spec. `peak_bytes` is the largest size of the tables while the
 *  set grows to that stage: the old table and the new one together. But if the old table has 4 MiB
 *  or more from the system's allocator, it is the larger of the two and a twentieth of it, since
 *  the pages of the old table are freed during the step. (tamis_resize() always needs both.)
 *  Without grow_to there is one row. With `spec->like`, rows are those of that set. Rows beyond
 *  `max_rows` are counted and not written; there are at most 40.
 *  @param ret_n_rows how many stages there are.
 *  @return as tamis_create(), without _MEMORY, since nothing is made. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_plan_stages(const tamis_spec *spec,
                                                         tamis_plan *ret_rows, size_t max_rows,
                                                         size_t        *ret_n_rows,
                                                         tamis_problem *reterr_problem);

/** The names of the kinds in this build, i = 0, 1, ...; NULL after the last. */
TAMIS_API const char *tamis_kind_name(size_t i);

/** A field of a kind's geometry, and the range of its values. Not every combination of values is
 *  possible; the planner refuses the others. */
typedef struct tamis_field_range {
    const char *name;
    uint64_t    least, most;
} tamis_field_range;

/** Get the fields of a kind's geometry (of sets or states). `ret_fields` needs room for
 *  TAMIS_MAX_FIELDS.
 *  @return TAMIS_OK, _KIND, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_kind_fields(const char        *kind,
                                                         tamis_field_range *ret_fields,
                                                         size_t            *ret_n_fields);

/** The names of the instruction sets that are in this build and that this processor supports, i =
 *  0, 1, ..., first the one that sets use by default. The last is "portable"; NULL after it.
 *  "avx512" is used on request only: tamis_spec.isa. */
TAMIS_API const char *tamis_isa_name(size_t i);

/* ------------------------------------------------------------------ 10. version */

#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0
#define TAMIS_VERSION_NUMBER \
    (TAMIS_VERSION_MAJOR * 10000 + TAMIS_VERSION_MINOR * 100 + TAMIS_VERSION_PATCH)

/** The version of the library at run time: "0.1.0", and as a number, 100. */
TAMIS_API const char *tamis_version(void);
TAMIS_API unsigned    tamis_version_number(void);

#ifdef __cplusplus
}
#endif

#include <tamis/states.h>

#endif
