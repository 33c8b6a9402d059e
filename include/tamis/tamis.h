/* tamis.h - compact approximate sets that you can delete from, count in, and keep a state in.
 *
 * A set answers "was this key added?" in a few bits per key. It never says no to a key that is in
 * it; it says yes to a key that is not with a small probability that you choose (the false-positive
 * rate, fpr). Unlike a Bloom filter it can forget a key again, and count one.
 *
 *     #include <tamis/tamis.h>
 *
 *     tamis_spec spec = TAMIS_SPEC_INIT;
 *     spec.capacity = 1000000;             // keys, all different
 *     spec.fpr = 0.001;                    // one wrong yes in a thousand
 *     spec.abilities = TAMIS_CAN_REMOVE;   // what you will want to do besides add and has
 *
 *     tamis_set *set;
 *     if (tamis_create(&spec, &set, NULL) != TAMIS_OK) ...
 *     if (tamis_add(set, "apple", 5) != TAMIS_OK) ...
 *     if (tamis_has(set, "apple", 5)) ...
 *     if (tamis_remove(set, "apple", 5) != TAMIS_OK) ...
 *     tamis_free(set);
 *
 * The header is a course; read as far as you need:
 *
 *     1  statuses               5  many keys at once        9  planning without making
 *     2  making a set           6  looking at a set        10  states
 *     3  one key at a time      7  whole sets              11  version
 *     4  64-bit ids             8  files
 *
 * Threads: calls that take a `const tamis_set *` may run at the same time as each other. A call
 * that takes a `tamis_set *` needs the set for itself.
 *
 * NULL where a set, spec or required result is expected is answered with TAMIS_ERR_ARGUMENT (or
 * `false`, or nothing done); it never crashes. The library keeps no global state, prints nothing,
 * and ends no process.
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

/** What a call says. 0 is success. A failed call has changed nothing and left `ret_` results
 *  untouched. Values are frozen; new ones take the gaps. */
typedef enum tamis_status {
    TAMIS_OK = 0,

    /* answers about keys */
    TAMIS_ERR_FULL = -1,     /**< no room for this key; the set is unchanged */
    TAMIS_ERR_ABSENT = -2,   /**< nothing to remove: the key is certainly not in the set */
    TAMIS_ERR_UNKNOWN = -3,  /**< don't know: the table cannot tell the state of this key */
    TAMIS_ERR_CONFLICT = -4, /**< the key has another state than that; nothing changed */

    /* the caller can fix these */
    TAMIS_ERR_ARGUMENT = -10, /**< NULL, or a value outside its documented range */
    TAMIS_ERR_KIND = -11,     /**< there is no kind of that name */
    TAMIS_ERR_CANNOT = -12,   /**< this kind cannot do that, in this geometry */
    TAMIS_ERR_MISMATCH = -13, /**< the two sets differ in kind, geometry, hash or seed */
    TAMIS_ERR_READ_ONLY =
        -14, /**< the set is mapped from a file; tamis_copy() makes one to change */
    TAMIS_ERR_NOT_BUILT = -15, /**< left out of this build (keyed hash, instruction set) */
    TAMIS_ERR_LIMIT = -16,     /**< larger than this machine or the format can address */

    /* the machine's trouble */
    TAMIS_ERR_MEMORY = -30, /**< an allocation failed */
    TAMIS_ERR_IO = -31,     /**< the operating system refused; `os_error` says why */
    TAMIS_ERR_SPACE = -32,  /**< the disk or the quota is full */

    /* files */
    TAMIS_ERR_FOREIGN = -50,   /**< not a tamis file */
    TAMIS_ERR_VERSION = -51,   /**< written by a newer tamis than this one can read */
    TAMIS_ERR_TRUNCATED = -52, /**< shorter than it says it is */
    TAMIS_ERR_CHECKSUM = -53,  /**< bytes were damaged */
    TAMIS_ERR_CORRUPT = -54    /**< checksums agree, but the contents cannot be */
} tamis_status;

/** A sentence for a status, in English, without a full stop. Never NULL. */
TAMIS_API const char *tamis_status_text(tamis_status status);

/** More about a failure, for calls that can fail in many ways. Pass NULL where you do not care. */
typedef struct tamis_problem {
    tamis_status status;
    int          os_error;  /**< the system's error number, or 0 */
    uint64_t     offset;    /**< byte of the file where the trouble is, when it is one of a file */
    char         text[200]; /**< what is wrong and what to do, one line */
} tamis_problem;

/* ------------------------------------------------------------------ 2. making a set */

typedef struct tamis_set tamis_set;

/** What a set may be asked to do besides add and has. Or them together. */
enum {
    TAMIS_CAN_REMOVE = 1,
    TAMIS_CAN_COUNT = 2, /**< tamis_count(); keys are in the set several times each. Kinds in which
                              every copy takes the room of a key are taken only if you name them */
    TAMIS_CAN_MERGE = 4  /**< tamis_merge() */
};

/** Which kind to take when several can do the job. */
typedef enum tamis_preference {
    TAMIS_PREFER_FAST = 0, /**< the fastest: "line" where it can do the job */
    TAMIS_PREFER_SMALL = 1 /**< fewest bytes */
} tamis_preference;

/** How key bytes become 64 bits. Both are keyed by the set's 128-bit seed. */
typedef enum tamis_hash {
    TAMIS_HASH_XXH3 = 1,   /**< fast; for keys that nobody chooses to hurt you */
    TAMIS_HASH_SIPHASH = 2 /**< SipHash-2-4; for keys that an attacker may choose */
} tamis_hash;

/** 128 bits that make a set's hashing its own. */
typedef struct tamis_seed {
    uint64_t low, high;
} tamis_seed;

/** Your own memory. Both functions or neither; as safe for threads as your use of the set, since
 *  copying and writing use them too. `alloc` returns memory aligned to `alignment` (a
 *  power of two, at most 2 MiB) or NULL; `free` gets the same size again. */
typedef struct tamis_allocator {
    void *(*alloc)(void *context, size_t bytes, size_t alignment);
    void (*free)(void *context, void *memory, size_t bytes);
    void *context;
} tamis_allocator;

/** What you want. Start from TAMIS_SPEC_INIT; only `capacity` and `fpr` must be set. */
typedef struct tamis_spec {
    size_t size; /**< set by TAMIS_SPEC_INIT; lets the struct grow */

    uint64_t capacity; /**< different keys in the set at one time; 1 to 2^40. In a set that can
                            remove and was not asked to count, a key that is added again takes
                            room again, up to 8 times; in "vicbf", "bhcbf" and "mlcbf", which never
                            refuse a key, always: beyond capacity their fpr rises */
    double   fpr;      /**< false-positive rate at capacity, 1e-12 to 0.5. With `geometry` it may be
                            0: as good as the geometry gives */
    unsigned abilities; /**< TAMIS_CAN_... */
    tamis_preference prefer;
    const char      *kind;     /**< "line", "rank", ...; NULL: choose for me */
    const char      *geometry; /**< NULL, or fields to fix, as in "hashes=9,counter_bits=3" */

    uint64_t lifetime; /**< adds expected over the set's whole life; 0: 16 x capacity when removal
                            is asked, else capacity */
    double   overflow; /**< largest acceptable probability that an add within capacity is ever
                            refused; 0: 1e-10 */

    const tamis_seed *seed; /**< NULL: random, from the operating system. A fixed seed makes files
                    repeat byte for byte, and lets an attacker who knows it collide keys */
    tamis_hash        hash;
    const tamis_set  *like; /**< make an empty set that can be merged with this one: same kind,
                                geometry, hash and seed. All fields above are then ignored */

    tamis_allocator allocator; /**< zeros: the system's, with huge pages when large */
    const char     *isa;       /**< NULL: the best this processor has. "portable", "sse2" or "avx2"
                                    for comparing speed: never changes a bit of the set */
} tamis_spec;

#define TAMIS_SPEC_INIT                                                                          \
    {                                                                                            \
        sizeof(tamis_spec), 0, 0, 0, TAMIS_PREFER_FAST, NULL, NULL, 0, 0, NULL, TAMIS_HASH_XXH3, \
            NULL, { NULL, NULL, NULL }, NULL                                                     \
    }

/** Make an empty set.
 *
 *  @return TAMIS_OK, _ARGUMENT, _KIND, _CANNOT (no kind, or not this one, can do what the spec
 *  asks), _NOT_BUILT, _LIMIT, _MEMORY, or _IO (no random seed to be had). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_create(const tamis_spec *spec, tamis_set **ret_set,
                                                    tamis_problem *reterr_problem);

/** Give everything back. NULL is fine. */
TAMIS_API void tamis_free(tamis_set *set);

/* ------------------------------------------------------------------ 3. one key at a time */

/** Add one key. In a set that can remove, adding twice needs two removals.
 *
 *  After a number of copies that the kind documents, of which at most 8 take room, a key is
 *  saturated: it stays in the set for good, further adds and removals of it say TAMIS_OK and change
 *  nothing, and no other key notices. tamis_inspect() counts such entries.
 *
 *  @return TAMIS_OK, _FULL (nothing changed), _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add(tamis_set *set, const void *key, size_t key_bytes);

/** Is the key in the set? Never false for a key that was added and not removed, as long as only
 *  added keys were removed. True for a key that is not there with probability fpr. */
TAMIS_API bool tamis_has(const tamis_set *set, const void *key, size_t key_bytes);

/** Remove one copy of a key that was added.
 *
 *  Removing a key that was never added is noticed (TAMIS_ERR_ABSENT, nothing changed) except with
 *  probability fpr. In that case another key pays: it may be lost. So remove only what you added.
 *
 *  @return TAMIS_OK, _ABSENT, _CANNOT, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove(tamis_set *set, const void *key,
                                                    size_t key_bytes);

/** The answer of tamis_count() for a saturated key: more copies than the kind can count. */
#define TAMIS_COUNT_MANY UINT64_MAX

/** How many copies of the key are in the set: never fewer than the truth, more with a probability
 *  of about fpr (that which the set has now). TAMIS_COUNT_MANY for a saturated key.
 *
 *  @return TAMIS_OK, _CANNOT, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count(const tamis_set *set, const void *key,
                                                   size_t key_bytes, uint64_t *ret_count);

/* ------------------------------------------------------------------ 4. 64-bit ids */

/* The same four, for callers whose keys are 64-bit values: ids, or hashes they have anyway. Any
 * values will do, sequential ones too: each is mixed with the set's seed first, one to one (with
 * TAMIS_HASH_SIPHASH, hashed as 8 bytes). A key added by its bytes is asked for by its bytes, one
 * added by its hash by its hash. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_id(tamis_set *set, uint64_t id);
TAMIS_API bool                         tamis_has_id(const tamis_set *set, uint64_t id);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_id(tamis_set *set, uint64_t id);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count_id(const tamis_set *set, uint64_t id,
                                                      uint64_t *ret_count);

/* ------------------------------------------------------------------ 5. many keys at once */

/* A batch means the same as its operations one by one, in order, duplicates included. It is much
 * faster on large sets, because the memory accesses of many keys overlap. Any n is fine; a few
 * dozen and more pay. */

typedef struct tamis_key {
    const void *data;
    size_t      bytes;
} tamis_key;

/** Add keys[0], keys[1], ... and stop at the first that is refused.
 *  @param ret_added how many were added, whatever the status; may be NULL.
 *  @return as tamis_add(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_batch(tamis_set *set, const tamis_key *keys,
                                                       size_t n, size_t *ret_added);

/** Add keys that are known together, each where it is best with the others in mind. In a "dlbf" of
 *  two subtables the fpr becomes less than a half of what it is when they come one by one; other
 *  kinds add them as tamis_add_batch() does. Needs 9 bytes per key and up to an eighth of the body,
 *  for that time.
 *  @return as tamis_add_batch(); _MEMORY. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_balanced(tamis_set *set, const tamis_key *keys,
                                                          size_t n, size_t *ret_added);

/** ret_has[i] becomes tamis_has(keys[i]); ret_has may be NULL.
 *  @return how many are in the set. */
TAMIS_API size_t tamis_has_batch(const tamis_set *set, const tamis_key *keys, size_t n,
                                 bool *ret_has);

/** Remove each key; an absent one is passed over. ret_removed[i] tells; it may be NULL.
 *  @param ret_n_removed how many were removed; may be NULL.
 *  @return TAMIS_OK, also when some or all were absent; _CANNOT, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_batch(tamis_set *set, const tamis_key *keys,
                                                          size_t n, bool *ret_removed,
                                                          size_t *ret_n_removed);

/** ret_counts[i] becomes the count of keys[i]. @return as tamis_count(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count_batch(const tamis_set *set,
                                                         const tamis_key *keys, size_t n,
                                                         uint64_t *ret_counts);

/* The same four on 64-bit ids. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_id_batch(tamis_set *set, const uint64_t *ids,
                                                          size_t n, size_t *ret_added);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_add_id_balanced(tamis_set *set, const uint64_t *ids,
                                                             size_t n, size_t *ret_added);
TAMIS_API size_t tamis_has_id_batch(const tamis_set *set, const uint64_t *ids, size_t n,
                                    bool *ret_has);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_remove_id_batch(tamis_set *set, const uint64_t *ids,
                                                             size_t n, bool *ret_removed,
                                                             size_t *ret_n_removed);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_count_id_batch(const tamis_set *set,
                                                            const uint64_t *ids, size_t n,
                                                            uint64_t *ret_counts);

/* ------------------------------------------------------------------ 6. looking at a set */

/** One number of a geometry, as in { "hashes", 10 }. */
typedef struct tamis_field {
    const char *name;
    uint64_t    value;
} tamis_field;

#define TAMIS_MAX_FIELDS 16

/** What a kind makes of a spec, and what its own analysis predicts of that. */
typedef struct tamis_plan {
    const char  *kind;
    const char  *summary; /**< the kind in one line */
    tamis_status status;  /**< TAMIS_OK, or why this kind cannot do it; then only kind, summary
                               and abilities have a meaning */
    bool         chosen;  /**< what tamis_create() takes */
    bool         copies_take_room; /**< even if it was asked to count: see TAMIS_CAN_COUNT */
    unsigned     abilities;
    uint64_t     capacity;
    uint64_t     lifetime;
    unsigned     n_fields;
    tamis_field  fields[TAMIS_MAX_FIELDS]; /**< the geometry */

    uint64_t body_bytes;   /**< every bit that the kind uses */
    uint64_t file_bytes;   /**< the same as a file */
    double   bits_per_key; /**< 8 x body_bytes / capacity */

    double fpr;        /**< predicted at capacity. Entries that saturate later raise it: it is for
                            a lifetime in which `saturation` is small */
    double overflow;   /**< probability that an add within capacity is refused in the lifetime */
    double saturation; /**< probability that any entry saturates in the lifetime, without floods */

    double lines_present; /**< cache lines that a lookup touches, on average */
    double lines_absent;
    double lines_add;

    double unknown; /**< of states: how often a key that is there is answered with "don't know" */

    uint64_t reserved[7];
} tamis_plan;

typedef struct tamis_info {
    tamis_plan  plan; /**< of the geometry that the set has; `fpr` there is the predicted one */
    const char *isa;
    tamis_hash  hash;
    tamis_seed  seed;
    bool        is_mapped; /**< read-only, from a file */
    bool        is_huge;   /**< huge pages were asked for */

    uint64_t keys; /**< adds minus removals, those that changed nothing left out. After a merge
                        of kinds that cannot remove, an upper bound */
    double   current_fpr;     /**< from the set's contents now */
    uint64_t saturated;       /**< entries that will not count down any more */
    uint64_t refused_adds;    /**< that said TAMIS_ERR_FULL */
    uint64_t refused_removes; /**< that said TAMIS_ERR_ABSENT */
    uint64_t memory_bytes;    /**< body and handle */
    uint64_t moved;           /**< entries that gave way to another one (d-left kinds) */

    uint64_t reserved[7];
} tamis_info;

/** Tell all about a set. Reads the whole body, to tell the current fpr.
 *  @return TAMIS_OK, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_inspect(const tamis_set *set, tamis_info *ret_info);

/** Check every invariant of the kind. False means a bug, or memory damage; *reterr_why names the
 *  invariant (a static string). */
TAMIS_API bool tamis_validate(const tamis_set *set, const char **reterr_why);

/* ------------------------------------------------------------------ 7. whole sets */

/** Remove everything, and set all counts to zero. @return TAMIS_OK, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_clear(tamis_set *set);

/** Make a set with the same contents, in memory, to be changed. It takes over the allocator.
 *  @return TAMIS_OK, _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_copy(const tamis_set *set, tamis_set **ret_copy);

/** Add the contents of `from` to `into`: all of it or nothing. Make the two with the same spec and
 *  seed, or one with `like` the other.
 *  @return TAMIS_OK, _MISMATCH, _CANNOT, _FULL, _READ_ONLY, _ARGUMENT; _MEMORY: some kinds keep a
 *  copy meanwhile. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_merge(tamis_set *into, const tamis_set *from);

/** Take the contents of `from` out of `into`, the reverse of tamis_merge(): all of it or nothing.
 *  Subtract only what was added or merged: as with tamis_remove(), a set that was not is refused
 *  except by chance, and then others pay. What is saturated in `into` stays there.
 *  @return TAMIS_OK; _ABSENT: `from` holds something that `into` certainly does not, or has
 *  something saturated that is not so there; _CANNOT: the set cannot remove or merge, or stores
 *  more of a key than its fingerprint (ddlcbf); _MISMATCH, _READ_ONLY, _ARGUMENT; _MEMORY: some
 *  kinds keep a copy meanwhile. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_subtract(tamis_set *into, const tamis_set *from);

/** Store anew what `set` holds, as `fuller` knows it: for kinds whose fingerprints become shorter
 *  in a life of adds and removals (ddlcbf). `fuller` has the same kind, seed, hash, buckets and
 *  remainder_bits, and the same keys: a copy with wider buckets that was kept beside, or a set that
 *  was made `like` this one and filled again. All or nothing.
 *  @return TAMIS_OK; _MISMATCH: they are not alike, or do not hold the same; _CANNOT: the kind has
 *  no use for it; _FULL, _MEMORY, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_refresh(tamis_set *set, const tamis_set *fuller);

/** Make a set of another kind with the same answers to `has`, smaller and with fewer abilities:
 *  "counting" into "bloom", to send or to keep.
 *  @return TAMIS_OK, _KIND, _CANNOT (there is no such conversion), _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_convert(const tamis_set *set, const char *kind,
                                                     tamis_set **ret_set);

/* ------------------------------------------------------------------ 8. files */

/* A file is the same on every machine (docs/format.md). Everything in it is checksummed. */

/** Save under a name. At every moment, also when the process or the machine dies, the name holds
 *  the complete old file or the complete new one. (After an error of the disk in the very last
 *  step it is already the new one, perhaps not for good; the text says so.)
 *  @return TAMIS_OK, _IO, _SPACE, _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_save(const tamis_set *set, const char *path,
                                                  tamis_problem *reterr_problem);

enum {
    TAMIS_OPEN_MAP = 1,  /**< map the file read-only instead of reading it: opens at once, shares
                              memory between processes. Do not shorten the file meanwhile */
    TAMIS_OPEN_TRUST = 2 /**< skip the check of the body, which reads all of it. Only for files
                              that nobody else can write. The header is always checked */
};

typedef struct tamis_open_options {
    size_t          size;
    unsigned        flags; /**< TAMIS_OPEN_... */
    const char     *isa;   /**< as in tamis_spec */
    tamis_allocator allocator;
} tamis_open_options;

#define TAMIS_OPEN_OPTIONS_INIT                \
    {                                          \
        sizeof(tamis_open_options), 0, NULL, { \
            NULL, NULL, NULL                   \
        }                                      \
    }

/** Open a saved set. `options` may be NULL: read into memory, checked.
 *  @return TAMIS_OK, _IO, _FOREIGN, _VERSION, _TRUNCATED, _CHECKSUM, _CORRUPT, _KIND, _NOT_BUILT,
 *  _LIMIT, _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_open(const char               *path,
                                                  const tamis_open_options *options,
                                                  tamis_set               **ret_set,
                                                  tamis_problem            *reterr_problem);

/** Takes the next bytes of a file being written; returns false to stop. */
typedef bool tamis_writer(void *context, const void *bytes, size_t n);

/** Write what tamis_save() would, to anywhere.
 *  @return TAMIS_OK, _IO (the writer stopped), _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_write(const tamis_set *set, tamis_writer *writer,
                                                   void *context);

/** Read back what tamis_write() wrote, from memory, which is copied and may be freed.
 *  TAMIS_OPEN_MAP is ignored. @return as tamis_open(), without _IO. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_read(const void *bytes, size_t n,
                                                  const tamis_open_options *options,
                                                  tamis_set               **ret_set,
                                                  tamis_problem            *reterr_problem);

/* Sending. Kinds that store fingerprints (line, rank) can be sent without their empty places, in
 * about log2(1/fpr) + 2 bits per key. What arrives may become a set of another size, or one without
 * what only removal needs. */

enum {
    TAMIS_SEND_COPIES = 1 /**< with how many copies of each key there are: one bit more per key.
                               Without, what arrives cannot remove */
};

/** Write a set as a stream to send.
 *  @return TAMIS_OK, _CANNOT (the kind stores no fingerprints, or no copies), _IO (the writer
 *  stopped), _MEMORY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_send(const tamis_set *set, unsigned flags,
                                                  tamis_writer *writer, void *context);

/** Make a set of what tamis_send() wrote.
 *  @param spec NULL: the same kind and geometry (without copies, the same kind without removal).
 *  Otherwise what you want instead: kind, capacity, abilities, geometry, `like` and so on, as for
 *  tamis_create(); capacity 0 is the sender's, abilities 0 are those of the sender if copies were
 *  sent, fpr 0 is up to one and a half times that of the sender. (The number of fingerprints stays,
 *  so the fpr grows with the capacity.) Seed and hash are always the sender's, since the keys are
 *  hashed already.
 *  @return TAMIS_OK, _FOREIGN, _VERSION, _TRUNCATED, _CHECKSUM, _CORRUPT, _KIND, _NOT_BUILT,
 *  _LIMIT, _MEMORY, _CANNOT (no geometry has those fingerprints and does what is asked),
 *  _MISMATCH, _FULL (more keys than the set that is asked for has room for), _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_receive(const void *bytes, size_t n,
                                                     const tamis_spec *spec, tamis_set **ret_set,
                                                     tamis_problem *reterr_problem);

/* ------------------------------------------------------------------ 9. planning without making */

/** Lay out every kind for a spec, and mark the one that tamis_create() takes. With `spec->kind`
 *  or `spec->like`, one row. Rows beyond `max_rows` are counted and not written.
 *  @param ret_n_rows how many kinds there are.
 *  @return TAMIS_OK, also when no kind can do it (then no row is chosen); _ARGUMENT, _KIND. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_plan_kinds(const tamis_spec *spec,
                                                        tamis_plan *ret_rows, size_t max_rows,
                                                        size_t        *ret_n_rows,
                                                        tamis_problem *reterr_problem);

/** The names of the kinds in this build, i = 0, 1, ...; NULL after the last. */
TAMIS_API const char *tamis_kind_name(size_t i);

/** The instruction sets that this build has and this processor runs, best first; NULL after the
 *  last, which is "portable". */
TAMIS_API const char *tamis_isa_name(size_t i);

/* ------------------------------------------------------------------ 10. states */

/* A key that carries a small value: the state of a connection, the phase of a job, a colour. It is
 * kept in a few bits, and asked for it a table has three answers: a value, "absent", or "don't
 * know" (TAMIS_ERR_UNKNOWN), which is what it says instead of a wrong value, where it can tell.
 *
 *     tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
 *     spec.capacity = 1000000;
 *     spec.values = 8;                     // 0 to 7
 *     spec.fpr = 0.001;
 *     spec.timeout = 60;                   // ticks, of whatever length; 0: nothing ages
 *
 *     tamis_states *states;
 *     uint32_t      value;
 *     if (tamis_states_create(&spec, &states, NULL) != TAMIS_OK) ...
 *     if (tamis_states_put(states, key, n, SYN) != TAMIS_OK) ...
 *     if (tamis_states_move(states, key, n, SYN, ESTABLISHED) != TAMIS_OK) ...
 *     if (tamis_states_get(states, key, n, &value) == TAMIS_OK) ...
 *     if (tamis_states_tick(states, 1, NULL, NULL) != TAMIS_OK) ...
 *     tamis_states_free(states);
 *
 * What can go wrong, and how often, is the plan's to say: `fpr` is how often a key that is not
 * there has a value, or one that is there another one's; `unknown` how often a key that is there is
 * answered with "don't know".
 *
 * Kinds that store fingerprints ("line", "rank", "state_print") keep one value for one fingerprint.
 * Two keys with the same fingerprint are one key to them. So put on a key that matches and has the
 * same value refreshes it, and with another value it is a conflict. The kinds of cells that keys
 * share ("state_bloom", "state_direct") take every put for a new key as long as they need not age
 * (`timeout` 0): then keys are told apart by how often their cells were put to. "state_bloom" never
 * has a wrong value then, provided that the caller keeps to the rules: put once, move and drop only
 * what is there.
 */

typedef struct tamis_states tamis_states;

/** Any value will do, where one to expect is asked for. */
#define TAMIS_ANY_VALUE UINT64_MAX

/** What you want. Start from TAMIS_STATES_SPEC_INIT; `capacity`, `values` and `fpr` must be set. */
typedef struct tamis_states_spec {
    size_t size; /**< set by TAMIS_STATES_SPEC_INIT; lets the struct grow */

    uint64_t capacity; /**< keys at one time, 1 to 2^40 */
    uint64_t values;   /**< how many there are, 2 to 2^32: 0, 1, ... */
    double   fpr;      /**< how often a key that is not there may have a value, 1e-12 to 0.5 */
    double   unknown;  /**< how often a key that is there may be answered with "don't know", under
                            churn; 0: as often as fpr */

    uint64_t        timeout;  /**< ticks after which a silent key goes, 1 to 2^32; 0: none goes */
    const uint64_t *timeouts; /**< NULL, or one for each of up to 16 values; none beyond `timeout`,
                                    and each is rounded up to a multiple of timeout / n */
    unsigned        timer_bits; /**< 2 to 5: a silent key goes within timeout x (1 + 1 / n), n being
                                     1, 3, 7 or 15; 0: 2, or 4 with `timeouts` */

    tamis_preference prefer;   /**< TAMIS_PREFER_SMALL as it comes */
    const char      *kind;     /**< "rank", "state_print", ...; NULL: choose for me */
    const char      *geometry; /**< NULL, or fields to fix */

    uint64_t lifetime; /**< keys expected over the whole life; 0: 16 x capacity. With the capacity
                            itself, none is ever dropped */
    double   overflow; /**< largest acceptable probability that a put within capacity is ever
                            refused; 0: 1e-10 */

    const tamis_seed   *seed; /**< as in tamis_spec */
    tamis_hash          hash;
    const tamis_states *like; /**< same kind, geometry, values, timeouts, hash and seed as this one.
                                   All fields above are then ignored */

    tamis_allocator allocator;
    const char     *isa;
} tamis_states_spec;

#define TAMIS_STATES_SPEC_INIT                                                                   \
    {                                                                                            \
        sizeof(tamis_states_spec), 0, 0, 0, 0, 0, NULL, 0, TAMIS_PREFER_SMALL, NULL, NULL, 0, 0, \
            NULL, TAMIS_HASH_XXH3, NULL, { NULL, NULL, NULL }, NULL                              \
    }

/** Make an empty table. @return as tamis_create(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_create(const tamis_states_spec *spec,
                                                           tamis_states           **ret_states,
                                                           tamis_problem           *reterr_problem);

TAMIS_API void tamis_states_free(tamis_states *states);

/* One key. Each also takes a 64-bit id or hash instead, as in section 4.
 *
 * put    the key comes, with a value. TAMIS_OK; _CONFLICT: it is there with another value, nothing
 *        changed; _FULL; _UNKNOWN: nobody knows its value, and there is nowhere to note it apart;
 *        _ARGUMENT: there is no such value.
 * get    TAMIS_OK and the value, _ABSENT or _UNKNOWN. Never refreshes a timer.
 * move   give another value to a key that has `from`, or TAMIS_ANY_VALUE, and refresh it. TAMIS_OK;
 *        _CONFLICT: it has another value, nothing changed; _ABSENT; _UNKNOWN: it stays unknown.
 * touch  refresh it. TAMIS_OK, _ABSENT; _UNKNOWN: it is refreshed, whatever it is.
 * drop   the key goes, if it has `from`, or TAMIS_ANY_VALUE. TAMIS_OK; _CONFLICT, _ABSENT; or
 *        _UNKNOWN: it cannot be told from another one, and stays until it has aged. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_put(tamis_states *states, const void *key,
                                                        size_t key_bytes, uint32_t value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_get(const tamis_states *states, const void *key,
                                                        size_t key_bytes, uint32_t *ret_value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_move(tamis_states *states, const void *key,
                                                         size_t key_bytes, uint64_t from,
                                                         uint32_t to);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_touch(tamis_states *states, const void *key,
                                                          size_t key_bytes);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_drop(tamis_states *states, const void *key,
                                                         size_t key_bytes, uint64_t from);

TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_put_id(tamis_states *states, uint64_t id,
                                                           uint32_t value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_get_id(const tamis_states *states, uint64_t id,
                                                           uint32_t *ret_value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_move_id(tamis_states *states, uint64_t id,
                                                            uint64_t from, uint32_t to);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_touch_id(tamis_states *states, uint64_t id);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_drop_id(tamis_states *states, uint64_t id,
                                                            uint64_t from);

/* Many keys, in order, each as if it were alone. They are given as bytes or as 64-bit values; what
 * goes with each of them, and where the answers are wanted, are lists, too. */

typedef struct tamis_states_batch {
    const tamis_key *keys; /**< one of these two */
    const uint64_t  *ids;
    size_t           n;
    const uint64_t  *from;         /**< NULL: any value */
    const uint32_t  *values;       /**< to put, or to move to */
    tamis_status    *ret_statuses; /**< what each call would have said; may be NULL */
    uint32_t        *ret_values;   /**< for get: written where the status is TAMIS_OK */
} tamis_states_batch;

/* All return TAMIS_OK also when some or all of the keys were refused, and count those that were not
 * in *ret_n (may be NULL); _READ_ONLY, _ARGUMENT: nothing was done. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_put_batch(tamis_states             *states,
                                                              const tamis_states_batch *batch,
                                                              size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_get_batch(const tamis_states       *states,
                                                              const tamis_states_batch *batch,
                                                              size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_move_batch(tamis_states             *states,
                                                               const tamis_states_batch *batch,
                                                               size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_touch_batch(tamis_states             *states,
                                                                const tamis_states_batch *batch,
                                                                size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_drop_batch(tamis_states             *states,
                                                               const tamis_states_batch *batch,
                                                               size_t                   *ret_n);

/** What a state machine says to an event of a key. */
typedef enum tamis_step {
    TAMIS_STEP_LEAVE = 0, /**< nothing */
    TAMIS_STEP_TOUCH = 1, /**< refresh it */
    TAMIS_STEP_SET = 2,   /**< put it, or move it, to *ret_to */
    TAMIS_STEP_DROP = 3   /**< it is over */
} tamis_step;

/** Given key i of the batch as it is at its turn (`status` and `value` as of get), decide. */
typedef tamis_step tamis_stepper(void *context, size_t i, tamis_status status, uint32_t value,
                                 uint32_t *ret_to);

/** Take each key through one step of your machine: get, decide, and do what was decided. Of the
 *  batch, `from` and `values` are not used; ret_statuses tell how what was decided went, and
 *  ret_values what get said before it. @return as the other batches. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_step_batch(tamis_states             *states,
                                                               const tamis_states_batch *batch,
                                                               tamis_stepper *step, void *context,
                                                               size_t *ret_n);

/** Let time pass. A sweep goes round the table, once in `timeout` (with more timer bits, more
 *  often), and takes out what was silent. One call does a bounded part of that, at most as much as
 *  falls due in two ticks (or 1024 units, if that is more): whoever calls once in a tick keeps up.
 *  What a call leaves is the backlog, which later calls work off, tick(states, 0, ...) as well.
 *
 *  A key that was put, moved or touched within its timeout is never taken out, whatever the
 *  backlog. One that was silent for two timeouts is gone when the backlog is zero (unless it was
 *  touched when there was one: then it may take two more). For kinds of shared cells that is said
 *  of each cell: a key goes when one of its cells does.
 *
 *  @param aged NULL, or room for `values` counters, to which those that go are added, by value
 *  (by the kinds that store fingerprints).
 *  @param ret_backlog buckets that are due; may be NULL.
 *  @return TAMIS_OK, _READ_ONLY, _ARGUMENT; _CANNOT: there is no timeout. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_tick(tamis_states *states, uint64_t ticks,
                                                         uint64_t *aged, uint64_t *ret_backlog);

typedef struct tamis_states_info {
    tamis_plan  plan; /**< of the geometry; `unknown` there is the predicted one */
    const char *isa;
    tamis_hash  hash;
    tamis_seed  seed;
    bool        is_mapped;
    bool        is_huge;

    uint64_t values;
    uint64_t timeout;
    unsigned timer_bits;

    uint64_t keys;          /**< that came and did not go; where cells are shared and age, an upper
                                 bound */
    double   current_fpr;   /**< from the contents now */
    uint64_t unknown_cells; /**< cells that say "don't know" */
    uint64_t side_keys;     /**< keys in the exact side table (state_print) */
    uint64_t side_room;
    uint64_t saturated;
    uint64_t moved;
    uint64_t aged;      /**< keys (of shared cells: cells) that were silent for too long */
    uint64_t backlog;   /**< buckets that are due to be looked through */
    uint64_t refused;   /**< puts that said TAMIS_ERR_FULL */
    uint64_t conflicts; /**< calls that said TAMIS_ERR_CONFLICT */
    uint64_t memory_bytes;

    uint64_t reserved[8];
} tamis_states_info;

/** Tell all about a table. Reads the whole body. @return TAMIS_OK, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_inspect(const tamis_states *states,
                                                            tamis_states_info  *ret_info);

/** How many keys have each value, into room for `values` counters. Reads the whole body.
 *  @return TAMIS_OK, _ARGUMENT; _CANNOT: kinds of shared cells do not know. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_tally(const tamis_states *states,
                                                          uint64_t           *ret_counts);

/* Whole tables and files, as sections 6 to 9 have them for sets. A file of states is opened with
 * tamis_states_open(), one of a set with tamis_open(); each says so when it is given the other. */

TAMIS_API bool tamis_states_validate(const tamis_states *states, const char **reterr_why);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_clear(tamis_states *states);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_copy(const tamis_states *states,
                                                         tamis_states      **ret_copy);

/** Put all that `from` holds: all of it or nothing. A key of both keeps the younger timer. Where
 *  the two sweeps are at different places a silent key may stay for a round longer; none goes
 *  sooner.
 *  @return as tamis_merge(); _CONFLICT: some key has different values in the two (with kinds that
 *  can store "don't know" it becomes that, and is no reason to refuse). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_merge(tamis_states       *into,
                                                          const tamis_states *from);

TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_save(const tamis_states *states,
                                                         const char         *path,
                                                         tamis_problem      *reterr_problem);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_write(const tamis_states *states,
                                                          tamis_writer *writer, void *context);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_open(const char               *path,
                                                         const tamis_open_options *options,
                                                         tamis_states            **ret_states,
                                                         tamis_problem            *reterr_problem);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_read(const void *bytes, size_t n,
                                                         const tamis_open_options *options,
                                                         tamis_states            **ret_states,
                                                         tamis_problem            *reterr_problem);

/** Lay out every kind of states for a spec. @return as tamis_plan_kinds(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_plan_kinds(const tamis_states_spec *spec,
                                                               tamis_plan              *ret_rows,
                                                               size_t max_rows, size_t *ret_n_rows,
                                                               tamis_problem *reterr_problem);

/** The names of the kinds of states, i = 0, 1, ...; NULL after the last. */
TAMIS_API const char *tamis_states_kind_name(size_t i);

/* ------------------------------------------------------------------ 11. version */

#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0

/** Of the library at run time, as in "0.1.0". */
TAMIS_API const char *tamis_version(void);

#ifdef __cplusplus
}
#endif

#endif
