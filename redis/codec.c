/* codec.c - values to bytes and back. */
#include "codec.h"

#include "requests.h"

#include <string.h>

#define ROW_BYTES 32
#define MAX_EXTRA REQUESTS_MAX_BYTES /* the requests of clients */

static const char MAGIC[8] = { 't', 'a', 'm', 'i', 's', '-', 'v', '1' };

enum {
    AT_FAMILY = 8,
    AT_BYTES = 16, /* of everything */
    AT_ERROR = 24,
    AT_CAPACITY = 32,
    AT_EXPANSION = 40,
    AT_BUCKET_SIZE = 48,
    AT_MAX_ITERATIONS = 56,
    AT_HEADROOM = 64,
    AT_COUNT_TO = 72,
    AT_ITEMS = 80,
    AT_DELETED = 88,
    AT_REFUSED = 96,
    AT_TIMEOUT = 104,
    AT_TICK_MS = 112,
    AT_LAST_MS = 120,
    AT_PARTS = 128,
    AT_IS_STATES = 136,
    AT_EXTRA = 144,                       /* bytes of it */
    AT_RESERVED = 152,                    /* zero */
    AT_CHECKSUM = VALUE_HEADER_BYTES - 8, /* of the header, the rows and the extra bytes */

    ROW_FILE_BYTES = 0,
    ROW_PRINTS = 8
};

static void put64(char *at, uint64_t number) {
    for (unsigned i = 0; i < 8; i++) at[i] = (char)(number >> (8 * i) & 255);
}

static uint64_t get64(const char *at) {
    uint64_t number = 0;
    for (unsigned i = 8; i-- != 0;) number = number << 8 | (unsigned char)at[i];
    return number;
}

uint64_t value_checksum(const void *bytes, size_t n) {
    const unsigned char *const at = bytes;
    uint64_t                   sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* The checksum of header and rows, and of the extra bytes behind them if there are some. */
static uint64_t checksum_with_extra(const char *front, size_t n, const char *extra,
                                    size_t n_extra) {
    uint64_t const sums[2] = { value_checksum(front, n), value_checksum(extra, n_extra) };
    return n_extra == 0 ? sums[0] : sums[0] ^ (sums[1] << 1 | sums[1] >> 63);
}

/* ------------------------------------------------------------------ writing */

static bool count_bytes(void *context, const void *bytes, size_t n) {
    (void)bytes;
    *(uint64_t *)context += n;
    return true;
}

/* Length of a file without reading the body: a header, two bodies at most, their checksums. */
static uint64_t file_bytes_of(uint64_t body_bytes) {
    uint64_t const block = 65536;
    return 4096 + body_bytes + 8 * (body_bytes / block + (body_bytes % block != 0)) + 16;
}

static bool write_file(const tamis_value *value, unsigned i, tamis_writer *writer, void *context) {
    tamis_status const status = value->states != NULL
                                    ? tamis_states_write(value->states, writer, context)
                                    : tamis_write(value->parts[i].set, writer, context);
    return status == TAMIS_OK;
}

static bool count_by_writing(const tamis_value *value, unsigned i, uint64_t *ret_bytes) {
    *ret_bytes = 0;
    return write_file(value, i, count_bytes, ret_bytes);
}

/* A set in a step has two bodies, whose lengths are not known one by one: then it is written to
 * count. */
static bool part_file_bytes(const tamis_value *value, unsigned i, uint64_t *ret_bytes) {
    tamis_facts        facts;
    tamis_states_facts states;
    if (value->states != NULL) {
        if (tamis_states_get_facts(value->states, &states) != TAMIS_OK) return false;
        if (states.is_growing) return count_by_writing(value, i, ret_bytes);
        *ret_bytes = file_bytes_of(states.body_bytes);
        return true;
    }
    if (tamis_get_facts(value->parts[i].set, &facts) != TAMIS_OK) return false;
    if (facts.is_growing) return count_by_writing(value, i, ret_bytes);
    *ret_bytes = file_bytes_of(facts.body_bytes);
    return true;
}

static unsigned rows_of(const tamis_value *value) {
    return value->states != NULL ? 1 : value->n_parts;
}

typedef struct value_front {
    char        bytes[VALUE_HEADER_BYTES + ROW_BYTES * VALUE_MAX_PARTS];
    size_t      n;
    byte_buffer extra;
} value_front;

/* Header and rows. */
static bool encode_front(const tamis_value *value, value_front *ret_front) {
    char *const    h = ret_front->bytes;
    unsigned const rows = rows_of(value);
    uint64_t       error_bits, total = VALUE_HEADER_BYTES + ROW_BYTES * rows;
    memset(ret_front, 0, sizeof *ret_front);
    if (!requests_encode(value->requests, &ret_front->extra)) return false;
    total += ret_front->extra.n;
    for (unsigned i = 0; i < rows; i++) {
        char *const row = h + VALUE_HEADER_BYTES + ROW_BYTES * i;
        uint64_t    bytes;
        if (!part_file_bytes(value, i, &bytes)) return false;
        put64(row + ROW_FILE_BYTES, bytes);
        put64(row + ROW_PRINTS, value->states != NULL ? 0 : value->parts[i].prints);
        total += bytes;
    }
    memcpy(h, MAGIC, sizeof MAGIC);
    memcpy(&error_bits, &value->error, sizeof error_bits);
    put64(h + AT_FAMILY, value->family);
    put64(h + AT_BYTES, total);
    put64(h + AT_ERROR, error_bits);
    put64(h + AT_CAPACITY, value->capacity);
    put64(h + AT_EXPANSION, value->expansion);
    put64(h + AT_BUCKET_SIZE, value->bucket_size);
    put64(h + AT_MAX_ITERATIONS, value->max_iterations);
    put64(h + AT_HEADROOM, value->headroom);
    put64(h + AT_COUNT_TO, value->count_to);
    put64(h + AT_ITEMS, value->items);
    put64(h + AT_DELETED, value->deleted);
    put64(h + AT_REFUSED, value->refused);
    put64(h + AT_TIMEOUT, value->timeout);
    put64(h + AT_TICK_MS, value->tick_ms);
    put64(h + AT_LAST_MS, value->last_ms);
    put64(h + AT_PARTS, rows);
    put64(h + AT_IS_STATES, value->states != NULL);
    ret_front->n = VALUE_HEADER_BYTES + ROW_BYTES * rows;
    put64(h + AT_EXTRA, ret_front->extra.n);
    put64(h + AT_CHECKSUM, checksum_with_extra(h, ret_front->n, ret_front->extra.bytes,
                                               ret_front->extra.n)); /* the field is 0 till then */
    return true;
}

uint64_t value_encoded_bytes(const tamis_value *value) {
    value_front    front;
    uint64_t const bytes = encode_front(value, &front) ? get64(front.bytes + AT_BYTES) : 0;
    buffer_free(&front.extra);
    return bytes;
}

/* Header, rows and extra bytes. */
static bool write_front(const tamis_value *value, tamis_writer *writer, void *context) {
    value_front front;
    bool const  is_written =
        encode_front(value, &front) && writer(context, front.bytes, front.n) &&
        (front.extra.n == 0 || writer(context, front.extra.bytes, front.extra.n));
    buffer_free(&front.extra);
    return is_written;
}

bool value_encode(const tamis_value *value, tamis_writer *writer, void *context) {
    if (!write_front(value, writer, context)) return false;
    for (unsigned i = 0; i < rows_of(value); i++) {
        if (!write_file(value, i, writer, context)) return false;
    }
    return true;
}

/* A writer that leaves out the first and the last piece of a file: its header and its total
 * checksum, as the library writes them. */
typedef struct middle_writer {
    uint64_t      at, end; /* of the file */
    tamis_writer *writer;
    void         *context;
} middle_writer;

static bool middle_write(void *context, const void *bytes, size_t n) {
    middle_writer *const middle = context;
    bool const           is_first = middle->at == 0, is_last = middle->at + n == middle->end;
    middle->at += n;
    return is_first || is_last || middle->writer(middle->context, bytes, n);
}

bool value_encode_contents(const tamis_value *value, tamis_writer *writer, void *context) {
    if (!write_front(value, writer, context)) return false;
    for (unsigned i = 0; i < rows_of(value); i++) {
        middle_writer middle = { .writer = writer, .context = context };
        if (!part_file_bytes(value, i, &middle.end) || !write_file(value, i, middle_write, &middle))
            return false;
    }
    return true;
}

/* A writer that keeps a range and then stops. */
typedef struct range_window {
    uint64_t     at, first, end;
    byte_buffer *kept;
    bool         is_failed;
} range_window;

static bool window_write(void *context, const void *bytes, size_t n) {
    range_window *const window = context;
    uint64_t const      begin = window->at, end = window->at + n;
    window->at = end;
    if (end > window->first && begin < window->end) {
        uint64_t const from = begin < window->first ? window->first - begin : 0;
        uint64_t const to = end > window->end ? window->end - begin : n;
        window->is_failed =
            !buffer_append(window->kept, (const char *)bytes + from, (size_t)(to - from));
    }
    return !window->is_failed && end < window->end;
}

bool value_encode_range(const tamis_value *value, uint64_t offset, uint64_t n,
                        byte_buffer *ret_bytes) {
    range_window window = { .first = offset, .end = offset + n, .kept = ret_bytes };
    size_t const had = ret_bytes->n;
    (void)value_encode(value, window_write, &window); /* it stops at the end of the range */
    return !window.is_failed && ret_bytes->n - had == n;
}

/* ------------------------------------------------------------------ reading */

uint64_t value_stated_bytes(const char *bytes, size_t n) {
    if (n < VALUE_HEADER_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) return 0;
    return get64(bytes + AT_BYTES);
}

static bool is_zero(const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0) return false;
    }
    return true;
}

/* The checksum of all before the files, with the field of the checksum itself as 0. */
static bool front_is_whole(const char *h, size_t bytes, size_t extra) {
    value_front copy;
    memcpy(copy.bytes, h, bytes);
    put64(copy.bytes + AT_CHECKSUM, 0);
    return checksum_with_extra(copy.bytes, bytes, h + bytes, extra) == get64(h + AT_CHECKSUM);
}

/* Header and rows, as far as they can be checked without the files. */
static const char *front_problem(const char *h, size_t n, unsigned family) {
    if (value_stated_bytes(h, n) != n) return "the length is not the stated one";
    uint64_t const rows = get64(h + AT_PARTS), is_states = get64(h + AT_IS_STATES);
    uint64_t const stated = get64(h + AT_FAMILY);
    if (rows < 1 || rows > VALUE_MAX_PARTS || n < VALUE_HEADER_BYTES + ROW_BYTES * rows)
        return "impossible number of parts";
    uint64_t const front = VALUE_HEADER_BYTES + ROW_BYTES * rows, extra = get64(h + AT_EXTRA);
    if (extra > MAX_EXTRA) return "written by a newer version";
    if (extra > n - front) return "the requests are cut";
    if (!front_is_whole(h, (size_t)front, (size_t)extra)) return "the header is damaged";
    if (!is_zero(h + AT_RESERVED, AT_CHECKSUM - AT_RESERVED)) return "reserved bytes are not zero";
    if (stated < FAMILY_BF || stated > FAMILY_STATES || (family != 0 && stated != family))
        return "it belongs to another command family";
    if (is_states > 1 || (is_states && (rows != 1 || stated < FAMILY_SET)) ||
        (stated == FAMILY_STATES && !is_states) || (stated >= FAMILY_SET && rows != 1))
        return "parts that this family cannot have";
    bool const is_timed = get64(h + AT_TIMEOUT) != 0;
    if (is_timed && (!is_states || get64(h + AT_TICK_MS) - 1 >= 86400000))
        return "impossible timeout";
    return get64(h + AT_HEADROOM) > 40 || get64(h + AT_CAPACITY) > UINT64_C(1) << 40
               ? "impossible configuration"
               : NULL;
}

static void decode_config(const char *h, tamis_value *value) {
    uint64_t const error_bits = get64(h + AT_ERROR);
    memcpy(&value->error, &error_bits, sizeof error_bits);
    value->capacity = get64(h + AT_CAPACITY);
    value->expansion = get64(h + AT_EXPANSION);
    value->bucket_size = get64(h + AT_BUCKET_SIZE);
    value->max_iterations = get64(h + AT_MAX_ITERATIONS);
    value->headroom = get64(h + AT_HEADROOM);
    value->count_to = get64(h + AT_COUNT_TO);
    value->items = get64(h + AT_ITEMS);
    value->deleted = get64(h + AT_DELETED);
    value->refused = get64(h + AT_REFUSED);
    value->timeout = get64(h + AT_TIMEOUT);
    value->tick_ms = get64(h + AT_TICK_MS);
    value->last_ms = get64(h + AT_LAST_MS);
}

/* A set that belongs to the ones before it, and can do what its family needs. */
static const char *part_problem(const tamis_value *value, const tamis_set *set) {
    tamis_facts    facts, first;
    unsigned const needs = value->family == FAMILY_CF ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0;
    if (tamis_get_facts(set, &facts) != TAMIS_OK ||
        tamis_get_facts(value->parts[0].set, &first) != TAMIS_OK)
        return "no facts";
    if ((facts.abilities & needs) != needs) return "a part cannot do what its family needs";
    if (facts.hash != first.hash || facts.seed.low != first.seed.low ||
        facts.seed.high != first.seed.high)
        return "parts with different seeds";
    return NULL;
}

static const char *decode_set(tamis_value *value, const char *file, size_t n, uint64_t prints) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.allocator = account_allocator(value->account);
    options.allocator_flags = ACCOUNT_FLAGS;
    tamis_set *set;
    if (tamis_read(file, n, &options, &set, NULL) != TAMIS_OK) return "a part is damaged";
    if (value_append_part(value, set, prints)) return part_problem(value, set);
    tamis_free(set);
    return "no memory";
}

/* The clock of the value and of the table must be the same. */
static const char *decode_states(tamis_value *value, const char *file, size_t n) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_states_facts facts;
    options.allocator = account_allocator(value->account);
    options.allocator_flags = ACCOUNT_FLAGS;
    if (tamis_states_read(file, n, &options, &value->states, NULL) != TAMIS_OK ||
        tamis_states_get_facts(value->states, &facts) != TAMIS_OK)
        return "the table is damaged";
    return facts.timeout == value->timeout ? NULL : "two different timeouts";
}

static const char *decode_parts(const char *bytes, size_t n, tamis_value *value) {
    unsigned const rows = (unsigned)get64(bytes + AT_PARTS);
    size_t const   extra = (size_t)get64(bytes + AT_EXTRA);
    size_t         at = VALUE_HEADER_BYTES + (size_t)ROW_BYTES * rows;
    const char    *why = requests_decode(bytes + at, extra, value);
    if (why != NULL) return why;
    at += extra;
    for (unsigned i = 0; i < rows; i++) {
        const char *const row = bytes + VALUE_HEADER_BYTES + (size_t)ROW_BYTES * i;
        uint64_t const    length = get64(row + ROW_FILE_BYTES);
        if (length > n - at) return "a part is cut";
        const char *const problem =
            get64(bytes + AT_IS_STATES) != 0
                ? decode_states(value, bytes + at, (size_t)length)
                : decode_set(value, bytes + at, (size_t)length, get64(row + ROW_PRINTS));
        if (problem != NULL) return problem;
        at += (size_t)length;
    }
    return at == n ? NULL : "more bytes than belong";
}

tamis_value *value_decode(const char *bytes, size_t n, unsigned family, const char **reterr_why) {
    const char  *why = n < VALUE_HEADER_BYTES ? "too short" : front_problem(bytes, n, family);
    tamis_value *value = NULL;
    if (why == NULL) {
        value = value_new((enum value_family)get64(bytes + AT_FAMILY));
        if (value == NULL) why = "no memory";
    }
    if (why == NULL) {
        decode_config(bytes, value);
        why = decode_parts(bytes, n, value);
    }
    if (why == NULL) return value;
    if (reterr_why != NULL) *reterr_why = why;
    value_free(value);
    return NULL;
}
