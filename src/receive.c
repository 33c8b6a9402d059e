/* receive.c - a set from a stream that transfer.c wrote.
 *
 * Reading trusts nothing: the header's checksum and each of its fields, the checksum of all, and
 * then the list itself, print by print. Nothing is larger than the bytes that are there, but for
 * the table that a small stream may rightly ask for: an empty set for many keys.
 *
 * It needs nothing from a kind but `add`: the smallest hash that has a print stands for all of
 * them. So what arrives may be another kind, or another geometry, with as many prints.
 */
#include "core/hash.h"
#include "core/le.h"
#include "theory/print_law.h"
#include "transfer.h"

#include <math.h>

/* ------------------------------------------------------------------ the header */

static void header_decode(const uint8_t *h, stream *ret_stream) {
    *ret_stream = (stream){
        .has_copies = (le32_load(h + AT_FLAGS) & TAMIS_SEND_COPIES) != 0,
        .hash = (tamis_hash)le32_load(h + AT_HASH),
        .remainder_bits = le32_load(h + AT_REMAINDER_BITS),
        .seed = { le64_load(h + AT_SEED_LOW), le64_load(h + AT_SEED_HIGH) },
        .prints = le64_load(h + AT_PRINTS),
        .listed = le64_load(h + AT_LISTED),
        .payload_bytes = le64_load(h + AT_PAYLOAD_BYTES),
        .capacity = le64_load(h + AT_CAPACITY),
        .lifetime = le64_load(h + AT_LIFETIME),
        .n_fields = le32_load(h + AT_FIELDS),
    };
    memcpy(ret_stream->kind, h + AT_KIND, KIND_BYTES);
    for (unsigned i = 0; i < ret_stream->n_fields; i++) {
        ret_stream->geometry[i] = le64_load(h + AT_GEOMETRY + 8 * i);
    }
}

static tamis_status say_at(tamis_problem *problem, tamis_status status, uint64_t offset,
                           const char *what) {
    (void)tamis_problem_say(problem, status, "the stream: %s (byte %llu)", what,
                            (unsigned long long)offset);
    if (problem != NULL) problem->offset = offset;
    return status;
}

/* Could such a stream have been sent? */
static bool stream_is_possible(const stream *of, uint64_t bytes_left) {
    if (of->prints == 0 || of->remainder_bits > STREAM_MAX_REMAINDER_BITS) return false;
    if (of->capacity < 1 || of->capacity > HANDLE_MAX_CAPACITY || of->lifetime < of->capacity)
        return false;
    if (of->kind[0] == '\0' || of->kind[KIND_BYTES - 1] != '\0') return false;
    for (size_t i = 1; i < KIND_BYTES; i++) { /* zeros up to the end behind the name */
        if (of->kind[i - 1] == '\0' && of->kind[i] != '\0') return false;
    }
    if (of->payload_bytes > bytes_left || of->listed > of->payload_bytes * 8) return false;
    return stream_chains(of->prints, of->remainder_bits) <= of->payload_bytes * 8;
}

static tamis_status receive_header(const uint8_t *bytes, size_t n, stream *ret_stream,
                                   tamis_problem *problem) {
    if (n == 0) return say_at(problem, TAMIS_ERR_TRUNCATED, 0, "it is empty");
    if (memcmp(bytes, STREAM_MAGIC, min_u64(n, STREAM_MAGIC_BYTES)) != 0) {
        return say_at(problem, TAMIS_ERR_FOREIGN, 0, "not a set that was sent");
    }
    if (n < AT_GEOMETRY) return say_at(problem, TAMIS_ERR_TRUNCATED, n, "the header is cut");
    if (le16_load(bytes + AT_MAJOR) > STREAM_MAJOR) {
        return say_at(problem, TAMIS_ERR_VERSION, AT_MAJOR, "sent by a newer version of tamis");
    }
    uint32_t const n_fields = le32_load(bytes + AT_FIELDS);
    if (n_fields > TAMIS_MAX_FIELDS) {
        return say_at(problem, TAMIS_ERR_CHECKSUM, AT_FIELDS, "the header is damaged");
    }
    size_t const head = stream_header_bytes(n_fields);
    if (n < head) return say_at(problem, TAMIS_ERR_TRUNCATED, n, "the header is cut");
    if (le64_load(bytes + head - 8) != XXH3_64bits(bytes, head - 8)) {
        return say_at(problem, TAMIS_ERR_CHECKSUM, head - 8, "the header is damaged");
    }
    if ((le32_load(bytes + AT_FLAGS) & ~(uint32_t)TAMIS_SEND_COPIES) != 0) {
        return say_at(problem, TAMIS_ERR_VERSION, AT_FLAGS, "it needs a newer version of tamis");
    }
    header_decode(bytes, ret_stream);
    if (!keyhash_is_built(ret_stream->hash)) {
        return say_at(problem, TAMIS_ERR_NOT_BUILT, AT_HASH, "its hash is not built in");
    }
    if (le32_load(bytes + AT_FIELDS + 4) != 0) {
        return say_at(problem, TAMIS_ERR_CORRUPT, AT_FIELDS + 4, "reserved bytes are not zero");
    }
    if (ret_stream->payload_bytes > n ||
        ret_stream->payload_bytes + head + STREAM_TOTAL_BYTES > n) {
        return say_at(problem, TAMIS_ERR_TRUNCATED, n, "it is cut");
    }
    if (!stream_is_possible(ret_stream, n - head)) {
        return say_at(problem, TAMIS_ERR_CORRUPT, 0, "what the header says is impossible");
    }
    return TAMIS_OK;
}

static tamis_status receive_total(const uint8_t *bytes, size_t n, const stream *from,
                                  tamis_problem *problem) {
    uint64_t const      end = stream_header_bytes(from->n_fields) + from->payload_bytes;
    XXH128_hash_t const sum = XXH3_128bits(bytes, (size_t)end);
    if (end + STREAM_TOTAL_BYTES < n) {
        return say_at(problem, TAMIS_ERR_CORRUPT, end + STREAM_TOTAL_BYTES,
                      "more bytes than belong");
    }
    if (le64_load(bytes + end) != sum.low64 || le64_load(bytes + end + 8) != sum.high64) {
        return say_at(problem, TAMIS_ERR_CHECKSUM, end, "it was damaged on the way");
    }
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the list */

/* Bits on their way in. The total behind the payload pads the last words. */
typedef struct inlet {
    const uint8_t *payload;
    uint64_t       at, bits;
} inlet;

static_assert(STREAM_TOTAL_BYTES >= FIELD_PAD_BYTES, "the payload may be read word by word");

static bool inlet_get(inlet *from, unsigned bits, uint64_t *ret_value) {
    if (bits > from->bits - from->at) return false;
    *ret_value = field_get(from->payload, from->at, bits);
    from->at += bits;
    return true;
}

/* Zeros up to the next one, which is taken too. False: there is none. */
static bool inlet_zeros(inlet *from, uint64_t *ret_zeros) {
    uint64_t zeros = 0;
    while (from->at < from->bits) {
        unsigned const bits = (unsigned)min_u64(from->bits - from->at, FIELD_MAX_BITS);
        uint64_t const word = field_get(from->payload, from->at, bits);
        unsigned const here = word != 0 ? bits_lowest(word) : bits;
        zeros += here;
        from->at += here + (word != 0);
        if (word != 0) break;
        if (from->at == from->bits) return false;
    }
    *ret_zeros = zeros;
    return from->at <= from->bits;
}

static bool inlet_gamma(inlet *from, uint64_t *ret_number) {
    uint64_t below, rest;
    if (!inlet_zeros(from, &below) || below > 16) return false;
    if (!inlet_get(from, (unsigned)below, &rest)) return false;
    *ret_number = UINT64_C(1) << below | rest;
    return *ret_number <= STREAM_MANY_COPIES;
}

/* Add so many copies of a print, or those that saturate it. */
static bool add_copies(tamis_set *set, uint64_t print, uint64_t prints, uint64_t copies) {
    uint64_t const hash = fastrange_inverse(print, prints);
    bool const     is_counted = (set->abilities & TAMIS_CAN_COUNT) != 0;
    for (uint64_t i = 0; i < (is_counted ? copies : 1); i++) {
        bool const is_asked = i % 16 == 15; /* of many, not after each */
        if (is_asked && set->kind->count(&set->table, hash) == TAMIS_COUNT_MANY) break;
        tamis_status const status = set->kind->add_print != NULL
                                        ? set->kind->add_print(&set->table, print)
                                        : set->kind->add(&set->table, hash);
        if (status != TAMIS_OK) return false;
    }
    return true;
}

static const char BROKEN[] = "the list does not end where it should";

/* One entry of the list: the zeros before it have moved on to `chain`. */
static tamis_status take_entry(tamis_set *set, const stream *of, inlet *from, uint64_t chain,
                               uint64_t *last, tamis_problem *problem) {
    uint64_t remainder, copies = 1;
    if (chain >= stream_chains(of->prints, of->remainder_bits) ||
        !inlet_get(from, of->remainder_bits, &remainder) ||
        (of->has_copies && !inlet_gamma(from, &copies))) {
        return say_at(problem, TAMIS_ERR_CORRUPT, 0, BROKEN);
    }
    uint64_t const print = chain << of->remainder_bits | remainder;
    if (print >= of->prints || (*last != UINT64_MAX && print <= *last)) {
        return say_at(problem, TAMIS_ERR_CORRUPT, 0, "the list is out of order");
    }
    *last = print;
    if (add_copies(set, print, of->prints, copies)) return TAMIS_OK;
    return tamis_problem_say(problem, TAMIS_ERR_FULL,
                             "the set has no room for the %llu keys sent: ask for more capacity",
                             (unsigned long long)of->listed);
}

static tamis_status receive_list(tamis_set *set, const stream *of, const uint8_t *payload,
                                 tamis_problem *problem) {
    inlet    from = { payload, 0, of->payload_bytes * 8 };
    uint64_t chain = 0, last = UINT64_MAX, zeros;
    for (uint64_t i = 0; i < of->listed; i++) {
        if (!inlet_zeros(&from, &zeros)) return say_at(problem, TAMIS_ERR_CORRUPT, 0, BROKEN);
        chain += zeros;
        tamis_status const status = take_entry(set, of, &from, chain, &last, problem);
        if (status != TAMIS_OK) return status;
    }
    uint64_t const left = from.bits - from.at;
    uint64_t const chains = stream_chains(of->prints, of->remainder_bits) - chain;
    bool const     is_whole = left >= chains && left - chains < 8;
    if (!is_whole || inlet_zeros(&from, &zeros)) {
        return say_at(problem, TAMIS_ERR_CORRUPT, 0, BROKEN);
    }
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ into what */

/* The set as it was. */
static tamis_status choose_same(const stream *of, const char *isa, tamis_choice *ret_choice,
                                tamis_problem *problem) {
    tamis_status const status = tamis_kind_find(of->kind, isa, &ret_choice->kind);
    if (status == TAMIS_ERR_KIND) return say_at(problem, status, AT_KIND, "of a kind unknown here");
    if (status != TAMIS_OK) return say_at(problem, status, 0, "no such instruction set here");
    uint64_t          bytes;
    const tamis_kind *kind = ret_choice->kind;
    memcpy(ret_choice->geometry, of->geometry, sizeof of->geometry);
    if (of->n_fields != tamis_kind_n_fields(kind) || !kind->body_bytes(of->geometry, &bytes) ||
        kind->prints == NULL || kind->prints(of->geometry) != of->prints) {
        return say_at(problem, TAMIS_ERR_CORRUPT, AT_GEOMETRY, "the geometry is impossible");
    }
    return TAMIS_OK;
}

/* A set like another. */
static tamis_status choose_like(const stream *of, const tamis_spec *spec, tamis_choice *ret_choice,
                                tamis_problem *problem) {
    const tamis_set *const like = spec->like;
    bool const is_alike = like->hasher.hash == of->hash && like->hasher.seed.low == of->seed.low &&
                          like->hasher.seed.high == of->seed.high && like->kind->prints != NULL &&
                          like->kind->prints(like->table.geometry) == of->prints;
    if (!is_alike) {
        return tamis_problem_say(problem, TAMIS_ERR_MISMATCH,
                                 "the stream and the set it shall be like differ in seed, hash or "
                                 "fingerprints");
    }
    ret_choice->work = tamis_handle_workload(like);
    memcpy(ret_choice->geometry, like->table.geometry, sizeof ret_choice->geometry);
    return tamis_kind_find(like->kind->name, spec->isa, &ret_choice->kind);
}

/* What the sender could do with copies, if they were sent: count them if it had counters, or else
 * remove them. */
static unsigned stream_abilities(const stream *of) {
    const tamis_kind *sender;
    if (!of->has_copies || tamis_kind_find(of->kind, NULL, &sender) != TAMIS_OK) return 0;
    if (of->n_fields != tamis_kind_n_fields(sender)) return 0;
    unsigned wanted = TAMIS_CAN_REMOVE;
    for (unsigned i = 0; i < of->n_fields; i++) {
        bool const is_counter = strcmp(sender->fields[i].name, "counter_bits") == 0;
        if (is_counter && of->geometry[i] != 0) wanted |= TAMIS_CAN_COUNT;
    }
    return tamis_kind_abilities(sender, of->geometry) & wanted;
}

/* A set as the spec asks. What the spec leaves open is as it was, but for the rate: that of the
 * prints grows with the keys, and half as much again is put up with. */
static tamis_status choose_new(const stream *of, const tamis_spec *spec, tamis_choice *ret_choice,
                               tamis_problem *problem) {
    double const  own_rate = (double)of->capacity / (double)of->prints;
    tamis_spec    asked = *spec;
    tamis_request request;
    if (asked.capacity == 0) asked.capacity = max_u64(of->capacity, of->listed);
    if (asked.fpr == 0) asked.fpr = fmin(1.5 * own_rate, 0.5);
    if (asked.abilities == 0) asked.abilities = stream_abilities(of);
    tamis_status const status = tamis_request_set(&asked, &request, problem);
    if (status != TAMIS_OK) return status;
    request.need.prints = of->prints;
    tamis_status const chosen = tamis_choose(&request, ret_choice, problem);
    double const       rate = tamis_prints_fpr(of->prints, (double)asked.capacity);
    if (chosen == TAMIS_ERR_CANNOT && rate > request.need.fpr) {
        return tamis_problem_say(problem, chosen,
                                 "of %llu keys with these fingerprints one in %.0f would be taken "
                                 "for another: ask for fewer, or allow that fpr",
                                 (unsigned long long)asked.capacity, 1 / rate);
    }
    return chosen;
}

static tamis_status receive_choice(const stream *of, const tamis_spec *spec,
                                   tamis_choice *ret_choice, tamis_problem *problem) {
    tamis_status      status;
    const tamis_kind *sender;
    bool              is_complete = of->has_copies;
    tamis_choice      choice = { .work = { of->capacity, 1, of->lifetime } };
    if (!is_complete && tamis_kind_find(of->kind, NULL, &sender) == TAMIS_OK) {
        is_complete = (tamis_kind_abilities(sender, of->geometry) & TAMIS_CAN_REMOVE) == 0;
    }
    tamis_spec reduced = TAMIS_SPEC_INIT; /* for one that lost its copies on the way */
    reduced.kind = of->kind;
    if (spec == NULL && !is_complete) spec = &reduced;
    status = spec == NULL         ? choose_same(of, NULL, &choice, problem)
             : spec->like != NULL ? choose_like(of, spec, &choice, problem)
                                  : choose_new(of, spec, &choice, problem);
    if (status == TAMIS_ERR_NOT_BUILT) {
        return tamis_problem_say(problem, status, "no instruction set '%s' here", spec->isa);
    }
    if (status != TAMIS_OK) return status;
    unsigned const abilities = tamis_kind_abilities(choice.kind, choice.geometry);
    if (!of->has_copies && (abilities & TAMIS_CAN_REMOVE) != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "the stream has no copies, so a set made of it cannot remove: "
                                 "send it with them");
    }
    *ret_choice = choice;
    return TAMIS_OK;
}

tamis_status tamis_receive(const void *bytes, size_t n, const tamis_spec *spec, tamis_set **ret_set,
                           tamis_problem *reterr_problem) {
    tamis_spec today = TAMIS_SPEC_INIT;
    stream     of;
    if ((bytes == NULL && n != 0) || ret_set == NULL ||
        (spec != NULL && !tamis_copy_sized(&today, sizeof today, spec))) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT,
                                 "no bytes, no ret_set, or a spec not from TAMIS_SPEC_INIT");
    }
    if (!allocator_is_whole(&today.allocator)) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT,
                                 "an allocator needs alloc and free");
    }
    tamis_choice choice;
    tamis_status status = receive_header(bytes, n, &of, reterr_problem);
    if (status == TAMIS_OK) status = receive_total(bytes, n, &of, reterr_problem);
    if (status == TAMIS_OK) {
        status = receive_choice(&of, spec != NULL ? &today : NULL, &choice, reterr_problem);
    }
    if (status != TAMIS_OK) return status;
    tamis_set    *set;
    keyhash const hasher = keyhash_make(of.hash, of.seed);
    status = tamis_make(&choice, &hasher, &today.allocator, &set);
    if (status != TAMIS_OK) return say_at(reterr_problem, status, 0, tamis_status_text(status));
    const uint8_t *const payload = (const uint8_t *)bytes + stream_header_bytes(of.n_fields);
    status = receive_list(set, &of, payload, reterr_problem);
    if (status == TAMIS_OK)
        *ret_set = set;
    else
        tamis_free(set);
    return status;
}
