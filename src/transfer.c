/* transfer.c - a set as a stream without its empty places. docs/format.md is the specification.
 *
 * Paper: the trimmed form of rank-indexed hashing (ICNP 2008, section V, Table V): 1/lambda + r + 1
 * bits per key, for chains of lambda keys on average and remainders of r bits.
 *
 * Idea
 * ----
 * A kind that stores fingerprints knows of a key nothing but a number in [0, F), its print. So a
 * set is a sorted list of prints, whatever the kind and its geometry. The list is cut into chains
 * by the upper part of the prints: for each chain in turn a one and r bits for each print in it,
 * then a zero. That is one bit per key, one bit per chain and the remainders: the paper's size,
 * without its buckets. r is chosen here to make it smallest, and may differ from the table's.
 *
 *     prints 3 5 | | 17 in chains of 8:   1 011  1 101  0  0  1 001  0
 *
 * Copies, when they are sent, stand behind each remainder in Elias' gamma code: one bit for one.
 *
 * receive.c reads it back.
 */
#include "transfer.h"

#include "core/le.h"
#include "core/memory.h"
#include "print_list.h"

#define BUFFER_BYTES 65536
#define MAX_HEADER_BYTES (AT_GEOMETRY + 8 * TAMIS_MAX_FIELDS + 8)

/* ------------------------------------------------------------------ the header */

static void header_encode(const stream *of, uint8_t *h) {
    size_t const checksum_at =
        stream_header_bytes((unsigned)min_u64(of->n_fields, TAMIS_MAX_FIELDS)) - 8;
    memset(h, 0, MAX_HEADER_BYTES);
    memcpy(h, STREAM_MAGIC, STREAM_MAGIC_BYTES);
    le16_store(h + AT_MAJOR, STREAM_MAJOR);
    le16_store(h + AT_MINOR, STREAM_MINOR);
    le32_store(h + AT_FLAGS, of->has_copies ? TAMIS_SEND_COPIES : 0);
    le32_store(h + AT_HASH, (uint32_t)of->hash);
    le32_store(h + AT_REMAINDER_BITS, of->remainder_bits);
    le64_store(h + AT_SEED_LOW, of->seed.low);
    le64_store(h + AT_SEED_HIGH, of->seed.high);
    le64_store(h + AT_PRINTS, of->prints);
    le64_store(h + AT_LISTED, of->listed);
    le64_store(h + AT_PAYLOAD_BYTES, of->payload_bytes);
    le64_store(h + AT_CAPACITY, of->capacity);
    le64_store(h + AT_LIFETIME, of->lifetime);
    memcpy(h + AT_KIND, of->kind, KIND_BYTES);
    le32_store(h + AT_FIELDS, of->n_fields);
    for (unsigned i = 0; i < of->n_fields && i < TAMIS_MAX_FIELDS; i++) {
        le64_store(h + AT_GEOMETRY + 8 * i, of->geometry[i]);
    }
    le64_store(h + checksum_at, XXH3_64bits(h, checksum_at));
}

/* ------------------------------------------------------------------ sending */

/* Bits on their way out. */
typedef struct outlet {
    tamis_writer *writer;
    void         *context;
    XXH3_state_t  total;
    bool          is_broken;
    bool          has_copies;
    unsigned      remainder_bits;
    uint64_t      chain; /* being listed */
    uint64_t      used;  /* bits of the buffer */
    uint8_t       buffer[BUFFER_BYTES + FIELD_PAD_BYTES];
} outlet;

static void outlet_write(outlet *to, const void *bytes, size_t n) {
    (void)XXH3_128bits_update(&to->total, bytes, n);
    if (!to->is_broken) to->is_broken = !to->writer(to->context, bytes, n);
}

/* Up to FIELD_MAX_BITS bits. The buffer is zero behind those that are used. */
static void outlet_put(outlet *to, uint64_t value, unsigned bits) {
    field_set(to->buffer, to->used, bits, value);
    to->used += bits;
    if (to->used < BUFFER_BYTES * 8) return;
    outlet_write(to, to->buffer, BUFFER_BYTES);
    memmove(to->buffer, to->buffer + BUFFER_BYTES, FIELD_PAD_BYTES);
    memset(to->buffer + FIELD_PAD_BYTES, 0, BUFFER_BYTES);
    to->used -= BUFFER_BYTES * 8;
}

static void outlet_zeros(outlet *to, uint64_t n) {
    for (; n != 0 && !to->is_broken; n -= min_u64(n, FIELD_MAX_BITS)) {
        outlet_put(to, 0, (unsigned)min_u64(n, FIELD_MAX_BITS));
    }
}

/* Elias' gamma: as many zeros as the number has bits beyond the first, then the number, its
 * highest bit first in line. */
static unsigned gamma_bits(uint64_t number) {
    return 2 * (64 - (unsigned)__builtin_clzll(number)) - 1;
}

static void outlet_gamma(outlet *to, uint64_t number) {
    unsigned const below = 63 - (unsigned)__builtin_clzll(number);
    outlet_put(to, UINT64_C(1) << below, below + 1);
    outlet_put(to, number & bits_low(below), below);
}

static uint64_t copies_written(uint64_t copies) {
    return copies == TAMIS_COUNT_MANY ? STREAM_MANY_COPIES : min_u64(copies, STREAM_MANY_COPIES);
}

static bool send_print(void *context, uint64_t print, uint64_t copies) {
    outlet *const  to = context;
    uint64_t const chain = print >> to->remainder_bits;
    if (chain < to->chain) return false; /* out of order: a table that is damaged */
    outlet_zeros(to, chain - to->chain);
    to->chain = chain;
    outlet_put(to, 1 | (print & bits_low(to->remainder_bits)) << 1, 1 + to->remainder_bits);
    if (to->has_copies) outlet_gamma(to, copies_written(copies));
    return !to->is_broken;
}

/* A first pass: how much there is to say. */
typedef struct census {
    uint64_t listed, copies_bits;
} census;

static bool count_print(void *context, uint64_t print, uint64_t copies) {
    (void)print;
    census *const all = context;
    all->listed++;
    all->copies_bits += gamma_bits(copies_written(copies));
    return true;
}

static uint64_t payload_bits(uint64_t prints, uint64_t listed, unsigned remainder_bits) {
    return stream_chains(prints, remainder_bits) + listed * (1 + remainder_bits);
}

/* The r that makes the list shortest. */
static unsigned best_remainder(uint64_t prints, uint64_t listed) {
    unsigned best = STREAM_MAX_REMAINDER_BITS;
    for (unsigned r = STREAM_MAX_REMAINDER_BITS; r-- != 0;) {
        if (stream_chains(prints, r) > UINT64_C(1) << 48) break;
        if (payload_bits(prints, listed, r) < payload_bits(prints, listed, best)) best = r;
    }
    return best;
}

static stream stream_of(const prints_list *list, bool has_copies) {
    const tamis_set *const set = list->set;
    census                 all = { 0 };
    (void)tamis_prints_each(list, count_print, &all);
    stream of = { .has_copies = has_copies,
                  .hash = set->hasher.hash,
                  .seed = set->hasher.seed,
                  .prints = set->kind->prints(set->table.geometry),
                  .listed = all.listed,
                  .capacity = set->capacity,
                  .lifetime = set->lifetime,
                  .n_fields = tamis_kind_n_fields(set->kind) };
    of.remainder_bits = best_remainder(of.prints, of.listed);
    uint64_t const bits = payload_bits(of.prints, of.listed, of.remainder_bits);
    of.payload_bytes = (bits + (has_copies ? all.copies_bits : 0) + 7) / 8;
    memcpy(of.kind, set->kind->name, strlen(set->kind->name));
    memcpy(of.geometry, set->table.geometry, sizeof of.geometry);
    return of;
}

static bool send_all(const prints_list *list, const stream *of, outlet *to) {
    uint8_t       header[MAX_HEADER_BYTES], total[STREAM_TOTAL_BYTES];
    XXH128_hash_t sum;
    header_encode(of, header);
    (void)XXH3_128bits_reset(&to->total);
    outlet_write(to, header, stream_header_bytes(of->n_fields));
    (void)tamis_prints_each(list, send_print, to);
    outlet_zeros(to, stream_chains(of->prints, of->remainder_bits) - to->chain);
    outlet_write(to, to->buffer, (size_t)((to->used + 7) / 8));
    sum = XXH3_128bits_digest(&to->total);
    le64_store(total, sum.low64);
    le64_store(total + 8, sum.high64);
    outlet_write(to, total, sizeof total);
    return !to->is_broken;
}

tamis_status tamis_send(const tamis_set *set, unsigned flags, tamis_writer *writer, void *context) {
    if (set == NULL || writer == NULL || (flags & ~(unsigned)TAMIS_SEND_COPIES) != 0) {
        return TAMIS_ERR_ARGUMENT;
    }
    bool const has_copies = (flags & TAMIS_SEND_COPIES) != 0;
    if (set->kind->each == NULL) return TAMIS_ERR_CANNOT;
    if ((set->abilities & TAMIS_CAN_MERGE) == 0) return TAMIS_ERR_CANNOT; /* it has values */
    if (has_copies && (set->abilities & TAMIS_CAN_COUNT) == 0) return TAMIS_ERR_CANNOT;
    prints_list        list;
    tamis_status const status = tamis_prints_list(set, &list);
    if (status != TAMIS_OK) return status;
    outlet *const to = memory_get(&set->allocator, sizeof *to);
    if (to == NULL) {
        tamis_prints_free(&list);
        return TAMIS_ERR_MEMORY;
    }
    stream const of = stream_of(&list, has_copies);
    to->writer = writer;
    to->context = context;
    to->has_copies = has_copies;
    to->remainder_bits = of.remainder_bits;
    bool const is_sent = send_all(&list, &of, to);
    tamis_prints_free(&list);
    memory_give(&set->allocator, to, sizeof *to);
    return is_sent ? TAMIS_OK : TAMIS_ERR_IO;
}
