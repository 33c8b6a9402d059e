/* send.c - write a set as a stream without its empty places. stream.h describes the stream.
 *
 * The header says how long the list is, so the prints are gone through twice: once to count them
 * and the bits of their copies, once to write them. Nothing of the size of the set is kept, unless
 * its kind does not list its prints in order (print_list.c).
 */
#include "checksum.h"
#include "core/le.h"
#include "core/memory.h"
#include "grow.h"
#include "print_list.h"
#include "share.h"
#include "stream.h"

#define BUFFER_BYTES 65536

/* ------------------------------------------------------------------ writing bits */

/* Bits are collected in a buffer, and passed to the caller's writer when it is full. The buffer is
 * 0 after the last bit. */
typedef struct outlet {
    tamis_writer  *writer;
    void          *context;
    checksum_total total; /* the checksum so far */
    bool           is_broken;
    uint64_t       used; /* bits of the buffer */
    uint8_t        buffer[BUFFER_BYTES + FIELD_PAD_BYTES];
} outlet;

static void outlet_write(outlet *to, const void *bytes, size_t n) {
    tamis_checksum_add(&to->total, bytes, n);
    if (!to->is_broken) to->is_broken = !to->writer(to->context, bytes, n);
}

/* Write up to FIELD_MAX_BITS bits. */
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

/* Elias' gamma code: as many zeros as the number has bits below its highest one, then that one,
 * then those bits. */
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

/* ------------------------------------------------------------------ the length of the list */

/* The result of a first pass over the prints. */
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

/* The length of the list in bits, without copies. */
static uint64_t list_bits(uint64_t prints, uint64_t listed, unsigned remainder_bits) {
    return stream_chains(prints, remainder_bits) + listed * (1 + remainder_bits);
}

/* The r that makes the list shortest. One bit less makes each remainder shorter by one, and twice
 * the chains: the best r leaves about one print in a chain. With few bits there would be more
 * chains than anybody sends; the search ends there, before list_bits() could wrap. */
static unsigned best_remainder(uint64_t prints, uint64_t listed) {
    unsigned best = STREAM_MAX_REMAINDER_BITS;
    for (unsigned r = STREAM_MAX_REMAINDER_BITS; r-- != 0;) {
        if (stream_chains(prints, r) > UINT64_C(1) << 48) break;
        if (list_bits(prints, listed, r) < list_bits(prints, listed, best)) best = r;
    }
    return best;
}

static stream describe_stream(const print_list *list, bool has_copies) {
    const tamis_set *const set = list->set;
    census                 all = { 0 };
    (void)tamis_print_list_each(list, count_print, &all);
    stream sent = { .has_copies = has_copies,
                    .hash = set->hasher.hash,
                    .seed = set->hasher.seed,
                    .prints = set->kind->prints(set->table.geometry),
                    .listed = all.listed,
                    .work = tamis_handle_workload(set),
                    .part = part_of_set(set),
                    .n_fields = tamis_kind_n_fields(set->kind) };
    if (set->growth != NULL) {
        sent.grows = true;
        sent.stage = set->growth->stage;
        sent.stages = set->growth->stages;
        sent.overflow = set->growth->overflow;
    }
    sent.remainder_bits = best_remainder(sent.prints, sent.listed);
    uint64_t const bits = list_bits(sent.prints, sent.listed, sent.remainder_bits);
    sent.payload_bytes = (bits + (has_copies ? all.copies_bits : 0) + 7) / 8;
    memcpy(sent.kind, set->kind->name, strlen(set->kind->name));
    memcpy(sent.geometry, set->table.geometry, sizeof sent.geometry);
    return sent;
}

/* ------------------------------------------------------------------ sending */

/* The state of the list that is being written. */
typedef struct sending {
    const stream *sent;
    outlet       *to;
    uint64_t      chain; /* of the last print */
} sending;

static bool send_print(void *context, uint64_t print, uint64_t copies) {
    sending *const      list = context;
    const stream *const sent = list->sent;
    uint64_t const      chain = print >> sent->remainder_bits;
    /* Out of order, or beyond the last print: the body is damaged, and was not checked. */
    if (chain < list->chain || print >= sent->prints) return false;
    outlet_zeros(list->to, chain - list->chain);
    list->chain = chain;
    outlet_put(list->to, 1 | (print & bits_low(sent->remainder_bits)) << 1,
               1 + sent->remainder_bits);
    if (sent->has_copies) outlet_gamma(list->to, copies_written(copies));
    return !list->to->is_broken;
}

/* TAMIS_OK, _IO, _CORRUPT: the prints are not those of this table, so no stream has them. */
static tamis_status send_all(const print_list *list, const stream *sent, outlet *to) {
    uint8_t header[STREAM_MAX_HEADER_BYTES], total[STREAM_TOTAL_BYTES];
    sending at = { .sent = sent, .to = to };
    tamis_checksum_begin(&to->total);
    tamis_stream_write_header(sent, header);
    outlet_write(to, header, stream_header_bytes(sent->n_fields, stream_flags(sent)));
    if (!tamis_print_list_each(list, send_print, &at))
        return to->is_broken ? TAMIS_ERR_IO : TAMIS_ERR_CORRUPT;
    outlet_zeros(to, stream_chains(sent->prints, sent->remainder_bits) - at.chain);
    outlet_write(to, to->buffer, (size_t)((to->used + 7) / 8));
    tamis_checksum_end(&to->total, total);
    outlet_write(to, total, sizeof total);
    return to->is_broken ? TAMIS_ERR_IO : TAMIS_OK;
}

/* States can neither be merged with sets nor sent: a stream has no values. */
static tamis_status send_now(const tamis_set *set, unsigned flags, tamis_writer *writer,
                             void *context) {
    if (writer == NULL || (flags & ~(unsigned)TAMIS_SEND_COPIES) != 0) {
        return TAMIS_ERR_ARGUMENT;
    }
    bool const has_copies = (flags & TAMIS_SEND_COPIES) != 0;
    if (!stream_takes_kind(set->kind)) return TAMIS_ERR_CANNOT;
    if ((set->abilities & TAMIS_CAN_MERGE) == 0) return TAMIS_ERR_CANNOT;
    if (has_copies && (set->abilities & TAMIS_CAN_COUNT) == 0) return TAMIS_ERR_CANNOT;
    print_list   list;
    tamis_status status = tamis_print_list_make(set, &list);
    if (status != TAMIS_OK) return status;
    outlet *const to = memory_get(&set->allocator, sizeof *to);
    if (to != NULL) {
        stream const sent = describe_stream(&list, has_copies);
        to->writer = writer;
        to->context = context;
        handle_begin_callbacks(set);
        status = send_all(&list, &sent, to);
        handle_end_callbacks(set);
        memory_give(&set->allocator, to, sizeof *to);
    }
    tamis_print_list_free(&list);
    return to == NULL ? TAMIS_ERR_MEMORY : status;
}

tamis_status tamis_send(const tamis_set *set, unsigned flags, tamis_writer *writer, void *context) {
    if (set == NULL) return TAMIS_ERR_ARGUMENT;
    const tamis_set *const read = tamis_share_begin_read(set);
    tamis_status const     status = send_now(read, flags, writer, context);
    tamis_share_end_read(set, read);
    return status;
}
