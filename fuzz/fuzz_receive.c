/* fuzz_receive.c - the input is a stream, or changes to a valid one: it is refused, or becomes a
 * set that can be used and sent again.
 *
 * The first byte says what the others are: a whole stream; changes to a valid stream; or the
 * payload of one. A changed stream would never pass the checksums, so they are corrected first, as
 * an attacker would do. The second byte chooses the spec of the receiver.
 */
#include "core/le.h"
#include "fuzz.h"

#include <tamis/tamis.h>
#include <xxhash.h>

#define AT_FLAGS 12
#define HAS_GROWTH 2u
#define HAS_PART 4u
#define AT_LISTED 48
#define AT_PAYLOAD 56
#define AT_FIELDS 96
#define AT_GEOMETRY 104
#define TOTAL 16
#define MAX_BODY ((size_t)4 << 20)
#define N_GOOD 8

/* ------------------------------------------------------------------ memory */

static size_t n_out; /* bytes that are allocated */

/* A few bytes can describe a large empty set. Refuse that here. */
static void *take_memory(void *context, size_t bytes, size_t alignment) {
    (void)context;
    if (bytes > MAX_BODY) return NULL;
    n_out += bytes;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give_memory(void *context, void *memory, size_t bytes) {
    (void)context;
    n_out -= bytes;
    free(memory);
}

/* ------------------------------------------------------------------ good streams */

static buffer     good[N_GOOD];
static tamis_set *like;

/* Every kind that can be sent, sets that grow, and parts. */
static const struct {
    const char *kind, *geometry;
    uint64_t    keys, grow_to;
    uint32_t    parts;
} goods[N_GOOD] = {
    { "rank", "buckets=5,chains=12,remainder_bits=6,counter_bits=2,aligned=0", 40, 0, 0 },
    { "rank", "buckets=8,chains=8,remainder_bits=6,copies=1", 40, 0, 0 },
    { "rank", "buckets=3,chains=20,remainder_bits=7,counter_bits=0,copies=8,aligned=1", 40, 0, 0 },
    { "rank", "buckets=2,chains=64,remainder_bits=9,counter_bits=2", 40, 0, 0 },
    { "line", NULL, 40, 0, 0 },
    { "dlcbf", NULL, 40, 0, 0 },
    { "line", NULL, 600, 2000, 0 },
    { "line", NULL, 40, 0, 4 },
};

static tamis_set *good_set(unsigned which) {
    tamis_seed const seed = { which, 1 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    tamis_set       *set = NULL;
    spec.capacity = goods[which].keys;
    spec.grow_to = goods[which].grow_to;
    spec.kind = goods[which].kind;
    spec.geometry = goods[which].geometry;
    spec.fpr = spec.geometry == NULL ? 0.01 : 0;
    spec.abilities = spec.geometry == NULL ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0;
    spec.parts = goods[which].parts;
    spec.seed = &seed;
    must(tamis_create(&spec, &set, NULL) == TAMIS_OK);
    for (uint64_t key = 0; key < goods[which].keys; key++) {
        for (uint64_t i = 0; i <= key % 4; i++) (void)!tamis_add_id(set, key);
    }
    return set;
}

static unsigned flags_of(const tamis_set *set) {
    tamis_info info;
    must(tamis_inspect(set, &info) == TAMIS_OK);
    return (info.plan.abilities & TAMIS_CAN_COUNT) != 0 ? TAMIS_SEND_COPIES : 0;
}

static void make_good(void) {
    if (good[0].n != 0) return;
    for (unsigned i = 0; i < N_GOOD; i++) {
        tamis_set *const set = good_set(i);
        must(tamis_send(set, flags_of(set), take, &good[i]) == TAMIS_OK);
        if (i == 0)
            like = set;
        else
            tamis_free(set);
    }
}

/* ------------------------------------------------------------------ from bytes to a stream */

/* The geometry, the fields of growing sets and of parts after it, and the checksum. */
static size_t head_bytes(const buffer *s) {
    if (s->n < AT_GEOMETRY) return SIZE_MAX;
    uint32_t const fields = le32_load(s->bytes + AT_FIELDS), flags = le32_load(s->bytes + AT_FLAGS);
    size_t const   more = ((flags & HAS_GROWTH) != 0 ? 16 : 0) + ((flags & HAS_PART) != 0 ? 8 : 0);
    return fields > 16 ? SIZE_MAX : AT_GEOMETRY + 8 * (size_t)fields + more + 8;
}

static void seal(buffer *s) {
    size_t const head = head_bytes(s);
    if (head > s->n || s->n - head < TOTAL) return;
    le64_store(s->bytes + head - 8, XXH3_64bits(s->bytes, head - 8));
    XXH128_hash_t const total = XXH3_128bits(s->bytes, s->n - TOTAL);
    le64_store(s->bytes + s->n - 16, total.low64);
    le64_store(s->bytes + s->n - 8, total.high64);
}

/* Three bytes for each change: the position, and the new value. */
static void change(buffer *s, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i + 2 < n; i += 3) s->bytes[le16_load(bytes + i) % s->n] ^= bytes[i + 2];
}

/* The number of entries, and the list of them. */
static void replace_payload(buffer *s, const uint8_t *bytes, size_t n) {
    static const uint8_t zeros[TOTAL];
    if (n < 2 || n > BUFFER_BYTES / 2) return;
    s->n = head_bytes(s);
    le64_store(s->bytes + AT_LISTED, le16_load(bytes));
    le64_store(s->bytes + AT_PAYLOAD, n - 2);
    (void)take(s, bytes + 2, n - 2);
    (void)take(s, zeros, TOTAL);
}

/* ------------------------------------------------------------------ what is asked */

static bool choose_spec(unsigned choice, tamis_spec *spec) {
    static const char *const geometries[] = { "counter_bits=4", "copies=1", "aligned=1",
                                              "cells=3,cells2=2" };
    static const char *const kinds[] = { "rank", "line", "dlcbf", "bloom" };
    spec->allocator = (tamis_allocator){ take_memory, give_memory, NULL };
    if (choice % 8 == 0) return false;
    if (choice % 8 == 1) spec->like = like;
    if (choice % 8 == 2) spec->geometry = geometries[choice / 8 % 4];
    if (choice % 8 == 3) spec->kind = kinds[choice / 8 % 4];
    if (choice % 8 == 4) spec->max_bytes = MAX_BODY / 4;
    if (choice & 8) spec->abilities = TAMIS_CAN_REMOVE;
    if (choice & 16) spec->capacity = 10 + choice;
    if (choice & 32) spec->prefer = TAMIS_PREFER_SMALL;
    if (choice & 64) spec->fpr = 0.3;
    if (choice & 128) spec->overflow = 0.9;
    return true;
}

/* If it is sent and received again, it stays the same. */
static void send_again(const tamis_set *set) {
    static buffer once, twice;
    tamis_set    *back = NULL;
    once.n = twice.n = 0;
    must(tamis_send(set, flags_of(set), take, &once) == TAMIS_OK);
    must(tamis_receive(once.bytes, once.n, NULL, &back, NULL) == TAMIS_OK);
    must(tamis_send(back, flags_of(back), take, &twice) == TAMIS_OK);
    must(once.n == twice.n && memcmp(once.bytes, twice.bytes, once.n) == 0);
    tamis_free(back);
}

static void use(tamis_set *set) {
    uint64_t keys[100], counts[100];
    bool     flags[100];
    for (uint64_t i = 0; i < 100; i++) keys[i] = i;
    must(tamis_validate(set, NULL));
    send_again(set);
    (void)tamis_has_id_batch(set, keys, 100, flags);
    (void)!tamis_add_id_batch(set, keys, 100, NULL);
    (void)!tamis_count_id_batch(set, keys, 100, counts);
    (void)!tamis_remove_id_batch(set, keys, 100, flags, NULL);
    must(tamis_validate(set, NULL));
}

/* Without a spec the system's allocator is used, for as much memory as the geometry needs, and it
 * takes minutes to check a table of many GiB. Its fields are the number of buckets, rows or places,
 * the room in an attic, and small numbers. */
static bool is_giant(const buffer *s) {
    if (s->n < AT_GEOMETRY) return false;
    uint32_t const fields = le32_load(s->bytes + AT_FIELDS);
    for (size_t i = 0; i < fields && AT_GEOMETRY + 8 * i + 8 <= s->n; i++) {
        if (le64_load(s->bytes + AT_GEOMETRY + 8 * i) > 4096) return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static buffer s;
    tamis_spec    spec = TAMIS_SPEC_INIT;
    tamis_set    *set = NULL;
    make_good();
    if (n < 2 || n > BUFFER_BYTES) return 0;
    s = good[bytes[0] / 8 % N_GOOD];
    if (bytes[0] % 4 == 0) {
        s.n = 0;
        (void)take(&s, bytes + 2, n - 2);
    } else if (bytes[0] % 4 == 1) {
        replace_payload(&s, bytes + 2, n - 2);
    } else {
        change(&s, bytes + 2, n - 2);
    }
    if (bytes[0] / 32 != 7) seal(&s);
    bool const has_spec = choose_spec(bytes[1], &spec);
    if (!has_spec && is_giant(&s)) return 0;
    uint8_t *const copy = malloc(
        s.n != 0 ? s.n : 1); /* a separate allocation, so that reads beyond the end are noticed */
    must(copy != NULL);
    memcpy(copy, s.bytes, s.n);
    if (tamis_receive(copy, s.n, has_spec ? &spec : NULL, &set, NULL) == TAMIS_OK) use(set);
    tamis_free(set);
    free(copy);
    must(n_out == 0);
    return 0;
}
