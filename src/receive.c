/* receive.c - make a set from a stream. stream.h describes the stream.
 *
 * tamis_receive() has three steps:
 *
 *   1. read and check the header (stream.c);
 *   2. decide which set to make: the same as the sent one, one like another set, or one for a spec;
 *   3. make it, and add the prints of the list one by one.
 *
 * The only function of a kind that it needs is `add` (`add_copies` is faster): for each print it
 * adds the smallest hash that has this print. So the new set may have another kind or geometry than
 * the sent one, as long as the number of prints is the same.
 *
 * Nothing is trusted: every print of the list is checked, even though the checksum was correct.
 */
#include "core/hash.h"
#include "grow.h"
#include "share.h"
#include "stream.h"
#include "theory/print_law.h"

#include <math.h>

#define RATE_SLACK 1.5 /* how much the fpr may grow without a spec.fpr; docs/command-line.md */

/* ------------------------------------------------------------------ reading bits */

/* The checksum after the payload pads the last words. */
static_assert(STREAM_TOTAL_BYTES >= FIELD_PAD_BYTES, "the payload may be read word by word");

/* The payload, read from its lowest bit on. */
typedef struct inlet {
    const uint8_t *payload;
    uint64_t       at, bits; /* the next bit, and how many there are */
} inlet;

static bool inlet_get(inlet *from, unsigned bits, uint64_t *ret_value) {
    if (bits > from->bits - from->at) return false;
    *ret_value = field_get(from->payload, from->at, bits);
    from->at += bits;
    return true;
}

/* Count the zeros before the next one bit, and skip that bit, too. False: no one bit is left. */
static bool inlet_zeros(inlet *from, uint64_t *ret_zeros) {
    uint64_t zeros = 0;
    while (from->at < from->bits) {
        unsigned const bits = (unsigned)min_u64(from->bits - from->at, FIELD_MAX_BITS);
        uint64_t const word = field_get(from->payload, from->at, bits);
        unsigned const here = word != 0 ? bits_lowest(word) : bits;
        zeros += here;
        from->at += here;
        if (word == 0) continue;
        from->at++;
        *ret_zeros = zeros;
        return true;
    }
    return false;
}

/* Read a number in Elias' gamma code: as many zeros as it has bits after its first one, then the
 * number itself. The largest is that of a saturated print, 2^16, so more than 16 zeros are an
 * error. */
static bool inlet_gamma(inlet *from, uint64_t *ret_number) {
    uint64_t below, rest;
    if (!inlet_zeros(from, &below) || below > 16) return false;
    if (!inlet_get(from, (unsigned)below, &rest)) return false;
    *ret_number = UINT64_C(1) << below | rest;
    return *ret_number <= STREAM_MANY_COPIES;
}

/* ------------------------------------------------------------------ the list */

/* The state of a list that is being read into a set. */
typedef struct receiving {
    const stream  *sent;
    tamis_set     *set;
    inlet          from;
    uint64_t       chain; /* of the next print */
    uint64_t       least; /* the smallest possible next print, since they increase */
    tamis_problem *problem;
} receiving;

static tamis_status say_broken(const receiving *list, const char *text) {
    return tamis_stream_say(list->problem, TAMIS_ERR_CORRUPT, 0, text);
}

static const char WRONG_END[] = "has a list that does not end where it should";

/* Add the copies of a print. The kind wants a hash: the smallest one that has this print stands for
 * all keys that have it. If the print was saturated, it is saturated again, however far this set
 * counts. A set that does not count gets one copy. */
static tamis_status add_print(const receiving *list, uint64_t print, uint64_t copies) {
    tamis_set *const set = list->set;
    uint64_t const   hash = fastrange_inverse(print, list->sent->prints);
    bool const       is_counted = (set->abilities & TAMIS_CAN_COUNT) != 0;
    if (copies == STREAM_MANY_COPIES) copies = TAMIS_COUNT_MANY;
    if (!is_counted) copies = 1;
    return tamis_table_add_copies(part_inner_calls(set), &set->table, hash, copies);
}

/* Read one print: a zero for each chain that ends before it, a one, its remainder, and its copies.
 * Prints increase, so a damaged list is noticed by a print that is not larger than the last. */
static tamis_status receive_print(receiving *list) {
    const stream *const sent = list->sent;
    uint64_t            zeros, remainder, copies = 1;
    if (!inlet_zeros(&list->from, &zeros)) return say_broken(list, WRONG_END);
    list->chain += zeros;
    if (list->chain >= stream_chains(sent->prints, sent->remainder_bits) ||
        !inlet_get(&list->from, sent->remainder_bits, &remainder) ||
        (sent->has_copies && !inlet_gamma(&list->from, &copies))) {
        return say_broken(list, WRONG_END);
    }
    uint64_t const print = list->chain << sent->remainder_bits | remainder;
    if (print >= sent->prints || print < list->least) {
        return say_broken(list, "has a list that is out of order");
    }
    list->least = print + 1;
    tamis_status const status = add_print(list, print, copies);
    if (status == TAMIS_ERR_MEMORY)
        return tamis_problem_say(list->problem, status, "not enough memory for the set to grow");
    if (status == TAMIS_OK) return status;
    return tamis_problem_say(list->problem, TAMIS_ERR_FULL,
                             "the set has no room for the %llu keys sent: ask for more capacity",
                             (unsigned long long)sent->listed);
}

/* After the last print there is a zero for each remaining chain, and zeros up to a whole byte. */
static tamis_status receive_list(tamis_set *set, const stream *sent, const uint8_t *payload,
                                 tamis_problem *problem) {
    receiving list = { .sent = sent,
                       .set = set,
                       .from = { payload, 0, sent->payload_bytes * 8 },
                       .problem = problem };
    for (uint64_t i = 0; i < sent->listed; i++) {
        tamis_status const status = receive_print(&list);
        if (status != TAMIS_OK) return status;
    }
    uint64_t const chains = stream_chains(sent->prints, sent->remainder_bits) - list.chain;
    uint64_t const left = list.from.bits - list.from.at;
    uint64_t       zeros;
    bool const     is_whole = left >= chains && left - chains < 8;
    if (!is_whole || inlet_zeros(&list.from, &zeros)) return say_broken(&list, WRONG_END);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ which set to make */

static tamis_status say_impossible_growth(tamis_problem *problem) {
    return tamis_stream_say(problem, TAMIS_ERR_CORRUPT, STREAM_AT_GEOMETRY,
                            "has a set that cannot grow like that");
}

/* The same set as the sent one. */
static tamis_status choose_same(const stream *sent, tamis_choice *ret_choice,
                                tamis_problem *problem) {
    const tamis_kind *kind;
    uint64_t          bytes;
    if (tamis_kind_find(sent->kind, NULL, &kind) != TAMIS_OK) {
        return tamis_stream_say(problem, TAMIS_ERR_KIND, STREAM_AT_KIND,
                                "has a kind that this build does not know");
    }
    /* Tables of states cannot be merged, and not be sent. A header with bits for values says that
     * it is one. */
    bool const is_possible = sent->n_fields == tamis_kind_n_fields(kind) &&
                             stream_takes_kind(kind) && kind->body_bytes(sent->geometry, &bytes) &&
                             kind->prints(sent->geometry) == sent->prints &&
                             (tamis_kind_abilities(kind, sent->geometry) & TAMIS_CAN_MERGE) != 0;
    if (!is_possible) {
        return tamis_stream_say(problem, TAMIS_ERR_CORRUPT, STREAM_AT_GEOMETRY,
                                "has an impossible geometry");
    }
    *ret_choice = (tamis_choice){ .kind = kind,
                                  .work = sent->work,
                                  .grows = sent->grows,
                                  .stage = sent->stage,
                                  .stages = sent->stages,
                                  .overflow = sent->overflow };
    memcpy(ret_choice->geometry, sent->geometry, sizeof ret_choice->geometry);
    if (sent->grows && !tamis_grow_is_possible(ret_choice)) return say_impossible_growth(problem);
    return TAMIS_OK;
}

/* A set like another one, which must have the same prints for the same keys. */
static tamis_status choose_like(const stream *sent, const tamis_spec *spec,
                                tamis_choice *ret_choice, tamis_problem *problem) {
    const tamis_set *const like = spec->like;
    tamis_choice const     choice = tamis_choice_to_follow(like);
    bool const             is_alike = keyhash_is(&like->hasher, sent->hash, sent->seed) &&
                          stream_takes_kind(choice.kind) &&
                          choice.kind->prints(choice.geometry) == sent->prints &&
                          part_is_same(choice.part, sent->part);
    if (!is_alike) {
        return tamis_problem_say(problem, TAMIS_ERR_MISMATCH,
                                 "the stream and the other set (like) differ in seed, hash, "
                                 "part or fingerprints");
    }
    *ret_choice = choice;
    return tamis_kind_find(choice.kind->name, spec->isa, &ret_choice->kind);
}

/* Kinds do not say whether a geometry has counters; those that can have them call the field
 * counter_bits. */
static bool has_counters(const tamis_kind *sender, const stream *sent) {
    for (unsigned i = 0; i < sent->n_fields; i++) {
        bool const is_counter = strcmp(sender->fields[i].name, "counter_bits") == 0;
        if (is_counter && sent->geometry[i] != 0) return true;
    }
    return false;
}

/* The abilities of a set that inherits them from the sender: to count, if the sender had counters;
 * else to remove, if it could. Both need copies in the stream. */
static unsigned senders_abilities(const stream *sent) {
    const tamis_kind *sender;
    if (!sent->has_copies || tamis_kind_find(sent->kind, NULL, &sender) != TAMIS_OK) return 0;
    if (sent->n_fields != tamis_kind_n_fields(sender)) return 0;
    unsigned const wanted = TAMIS_CAN_REMOVE | (has_counters(sender, sent) ? TAMIS_CAN_COUNT : 0);
    return tamis_kind_abilities(sender, sent->geometry) & wanted;
}

/* How far a sender with counters counts; 0 if it has none, or if its kind is not in this build. */
static uint64_t senders_count_to(const stream *sent) {
    const tamis_kind *sender;
    uint64_t          bytes;
    if ((senders_abilities(sent) & TAMIS_CAN_COUNT) == 0) return 0;
    if (tamis_kind_find(sent->kind, NULL, &sender) != TAMIS_OK) return 0;
    return sender->body_bytes(sent->geometry, &bytes) ? sender->count_to(sent->geometry) : 0;
}

/* Counts must be exact up to the spec's count_to; without it (`is_count_open`), up to the sender's.
 * If the kind cannot do that, the set is refused, unless the spec fixes the counters in a geometry:
 * then it is still open, and the planner accepts a table that counts less. */
static void take_senders_counts(const stream *sent, const tamis_spec *asked,
                                tamis_request *request) {
    uint64_t const count_to = senders_count_to(sent);
    if (!request->is_count_open || count_to == 0) return;
    request->need.count_to = max_u64(count_to, asked->copies);
    request->is_count_open = asked->geometry != NULL;
}

/* The planner has refused it. Would it do the same if it could choose the number of prints? */
static bool is_possible_with_other_prints(const tamis_request *request) {
    tamis_request free = *request;
    tamis_choice  choice;
    free.need.prints = 0;
    return tamis_choose(&free, &choice, NULL) == TAMIS_OK;
}

/* A set for a spec. Fields that the spec leaves open are inherited from the sender, except for the
 * rate: the number of prints is given, so the rate grows with the capacity. A little of that
 * (RATE_SLACK) is accepted without a word, more only if the spec names the rate.
 *
 * The planner may say no for many reasons. If the number of prints is the one, its message would
 * speak of things that nobody can change; so these cases have messages of their own. */
static tamis_status choose_new(const stream *sent, const tamis_spec *spec, tamis_choice *ret_choice,
                               tamis_problem *problem) {
    tamis_spec    asked = *spec;
    tamis_request request;
    if (asked.capacity == 0) asked.capacity = max_u64(sent->work.capacity, sent->listed);
    uint64_t const last = max_u64(sent->work.capacity, asked.grow_to);
    double const   senders_rate = (double)last / (double)sent->prints;
    if (asked.copies == 0) asked.copies = sent->work.copies;
    if (asked.fpr == 0) /* a sender with fixed fields may be below the least rate of a spec */
        asked.fpr = fmax(HANDLE_MIN_RATE, fmin(RATE_SLACK * senders_rate, HANDLE_MAX_RATE));
    if (asked.abilities == 0) asked.abilities = senders_abilities(sent);
    tamis_status status = tamis_request_set(&asked, &request, problem);
    if (status != TAMIS_OK) return status;
    request.need.prints = sent->prints;
    take_senders_counts(sent, &asked, &request);
    status = tamis_choose(&request, ret_choice, problem);
    double const rate =
        tamis_prints_fpr(sent->prints, (double)max_u64(asked.capacity, asked.grow_to));
    if (status == TAMIS_ERR_CANNOT && rate > asked.fpr) {
        return tamis_problem_say(problem, status,
                                 "with %llu keys and these fingerprints, one absent key in %.0f "
                                 "would be a false positive: ask for fewer keys, or allow that fpr",
                                 (unsigned long long)asked.capacity, 1 / rate);
    }
    if (status == TAMIS_ERR_CANNOT && asked.grow_to == 0 &&
        is_possible_with_other_prints(&request)) {
        return tamis_problem_say(
            problem, status,
            "no table%s%s%s with the fingerprints of the stream (%.15s) can do "
            "all of that: ask for less, or receive it without a spec",
            asked.kind != NULL ? " of kind " : "", asked.kind != NULL ? asked.kind : "",
            asked.shared ? " that threads share" : "", sent->kind);
    }
    return status;
}

/* Can the sent set be made again? Not if it could remove, and its copies were not sent. */
static bool is_complete(const stream *sent) {
    const tamis_kind *sender;
    if (sent->has_copies || tamis_kind_find(sent->kind, NULL, &sender) != TAMIS_OK) return true;
    return (tamis_kind_abilities(sender, sent->geometry) & TAMIS_CAN_REMOVE) == 0;
}

/* The capacity that the sender can grow to; 0 if the numbers are invalid. */
static uint64_t last_capacity(const stream *sent) {
    unsigned const left = sent->stages - sent->stage;
    if (sent->stage > sent->stages || left > GROW_MAX_STAGES) return 0;
    return sent->work.capacity <= HANDLE_MAX_CAPACITY >> left ? sent->work.capacity << left : 0;
}

/* Without a spec: the same set again. If it could remove and its copies were not sent, a set of the
 * same kind without removal. */
static tamis_status choose_without_spec(const stream *sent, tamis_choice *ret_choice,
                                        tamis_problem *problem) {
    if (is_complete(sent)) return choose_same(sent, ret_choice, problem);
    tamis_spec same_kind = TAMIS_SPEC_INIT;
    same_kind.kind = sent->kind;
    if (sent->grows) same_kind.grow_to = last_capacity(sent);
    if (sent->grows && same_kind.grow_to == 0) return say_impossible_growth(problem);
    return choose_new(sent, &same_kind, ret_choice, problem);
}

/* Decide which set to make. With spec.like it is one like that set, with any other spec the best
 * for the spec and these prints. In each case the part of a larger set stays what it was, and no
 * set can remove without copies. */
static tamis_status choose(const stream *sent, const tamis_spec *spec, tamis_choice *ret_choice,
                           tamis_problem *problem) {
    tamis_status status;
    if (spec == NULL)
        status = choose_without_spec(sent, ret_choice, problem);
    else if (spec->like != NULL)
        status = choose_like(sent, spec, ret_choice, problem);
    else
        status = choose_new(sent, spec, ret_choice, problem);
    if (spec != NULL && spec->isa != NULL && status == TAMIS_ERR_NOT_BUILT) {
        return tamis_problem_say(problem, status,
                                 "this build or processor does not have the instruction set '%s'",
                                 spec->isa);
    }
    if (status != TAMIS_OK) return status;
    if (spec != NULL && spec->parts != 0 &&
        !part_is_same((tamis_part_place){ spec->part, spec->parts }, sent->part)) {
        return tamis_problem_say(problem, TAMIS_ERR_MISMATCH,
                                 "the stream is part %u of %u: it cannot become another",
                                 sent->part.part, sent->part.parts);
    }
    ret_choice->part = sent->part;
    unsigned const abilities = tamis_kind_abilities(ret_choice->kind, ret_choice->geometry);
    if (!sent->has_copies && (abilities & TAMIS_CAN_REMOVE) != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "the stream has no copies, so a set made of it cannot remove: "
                                 "send it with them");
    }
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the front door */

/* Does the spec set max_bytes, and nothing else but an allocator? Then the set is the same as the
 * sent one, as without a spec (tamis.h). */
static bool asks_nothing(const tamis_spec *s) {
    bool const is_default = s->capacity == 0 && !(s->fpr > 0) && s->abilities == 0 &&
                            s->copies == 0 && s->count_to == 0 && s->memory == 0 &&
                            s->prefer == TAMIS_PREFER_FAST && s->lifetime == 0 &&
                            !(s->overflow > 0) && s->grow_to == 0 && s->parts == 0;
    bool const is_open = s->kind == NULL && s->geometry == NULL && s->like == NULL &&
                         s->isa == NULL && s->seed == NULL && s->hash == TAMIS_HASH_DEFAULT;
    return s->max_bytes != 0 && is_default && is_open && !s->shared && !s->reseed;
}

static tamis_status make_empty(const stream *sent, const tamis_choice *choice,
                               const tamis_allocator *allocator, tamis_set **ret_set,
                               tamis_problem *problem) {
    keyhash const      hasher = keyhash_make(sent->hash, sent->seed);
    tamis_status const status = tamis_make(choice, &hasher, allocator, ret_set);
    if (status == TAMIS_ERR_MEMORY) {
        uint64_t body_bytes = 0;
        (void)choice->kind->body_bytes(choice->geometry, &body_bytes);
        return tamis_problem_say_memory(problem, "the set that was sent", body_bytes);
    }
    if (status == TAMIS_OK) return status;
    return tamis_problem_say(problem, status, "cannot make the set from the stream: %s",
                             tamis_status_text(status));
}

/* No other thread knows the set before it is complete, so it is filled first. */
static tamis_status share_received(tamis_set *set, tamis_problem *problem) {
    tamis_status const status = tamis_share_init(set);
    if (status == TAMIS_OK) return status;
    return tamis_problem_say(problem, status, "a %s cannot be shared: %s", set->kind->name,
                             tamis_status_text(status));
}

tamis_status tamis_receive(const void *bytes, size_t n, const tamis_spec *spec, tamis_set **ret_set,
                           tamis_problem *reterr_problem) {
    tamis_spec   today = TAMIS_SPEC_INIT;
    stream       sent;
    tamis_choice choice;
    tamis_set   *set;
    if ((bytes == NULL && n != 0) || ret_set == NULL) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "bytes or ret_set is NULL");
    }
    tamis_status status = TAMIS_OK;
    if (spec != NULL)
        status = tamis_copy_sized(&today, sizeof today, spec, "TAMIS_SPEC_INIT", reterr_problem);
    if (status != TAMIS_OK) return status;
    if (!allocator_is_whole(&today.allocator, today.allocator_flags)) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT,
                                 "an allocator needs alloc and free");
    }
    status = tamis_stream_read_header(bytes, n, &sent, reterr_problem);
    if (status != TAMIS_OK) return status;
    status = choose(&sent, spec == NULL || asks_nothing(&today) ? NULL : &today, &choice,
                    reterr_problem);
    if (status != TAMIS_OK) return status;
    choice.allocator_flags = today.allocator_flags;
    choice.max_bytes = today.max_bytes;
    status = make_empty(&sent, &choice, &today.allocator, &set, reterr_problem);
    if (status != TAMIS_OK) return status;
    const uint8_t *const payload =
        (const uint8_t *)bytes + stream_header_bytes(sent.n_fields, stream_flags(&sent));
    status = receive_list(set, &sent, payload, reterr_problem);
    if (status == TAMIS_OK && today.shared) status = share_received(set, reterr_problem);
    if (status == TAMIS_OK)
        *ret_set = set;
    else
        tamis_free(set);
    return status;
}
