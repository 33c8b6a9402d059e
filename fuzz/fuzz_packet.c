/* fuzz_packet.c - the input is a packet: it is parsed or skipped, and nothing is read beyond its
 * end.
 *
 * The first bytes choose the link type and how much of the packet was captured; the others are the
 * packet. A packet that was parsed is parsed again, cut shorter: fields may only become unknown.
 */
#include "fuzz.h"
#include "link.h"
#include "packet.h"

#include <string.h>

static size_t n_link_types(void) {
    size_t n = 0;
    while (link_type_at(n) >= 0) n++;
    return n;
}

/* A separate allocation, so that the sanitizer notices reads beyond the end. */
static packet_skip parse(const uint8_t *bytes, size_t captured, size_t on_wire, int link_type,
                         packet *ret_packet) {
    uint8_t *const copy = malloc(captured != 0 ? captured : 1);
    must(copy != NULL);
    memcpy(copy, bytes, captured);
    packet_skip const skip = packet_parse(copy, captured, on_wire, link_type, ret_packet);
    free(copy);
    return skip;
}

static void check_taken(const packet *p, size_t on_wire) {
    static const uint8_t zeros[12];
    must(p->payload_bytes <= on_wire);
    must(p->flow.version == 4 || p->flow.version == 6);
    int const order = memcmp(p->flow.address[0], p->flow.address[1], 16);
    must(order < 0 || (order == 0 && p->flow.port[0] <= p->flow.port[1]));
    if (p->flow.version == 6) return;
    must(memcmp(p->flow.address[0] + 4, zeros, 12) == 0);
    must(memcmp(p->flow.address[1] + 4, zeros, 12) == 0);
}

/* Field by field: a packet has padding, which nobody sets. */
static bool have_same_fields(const packet *a, const packet *b) {
    return memcmp(&a->flow, &b->flow, sizeof a->flow) == 0 && a->is_from_high == b->is_from_high &&
           a->is_fragment == b->is_fragment && a->is_quoted == b->is_quoted &&
           a->flags == b->flags && a->type == b->type && a->payload_bytes == b->payload_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 4) return 0;
    size_t const which = bytes[0] % (n_link_types() + 2);
    int const link_type = which < n_link_types() ? link_type_at(which) : which % 2 == 0 ? 192 : 147;
    size_t const      captured = n - 4, on_wire = captured + (bytes[1] % 4 == 0 ? bytes[2] : 0);
    packet            whole, part;
    packet_skip const skip = parse(bytes + 4, captured, on_wire, link_type, &whole);
    must(skip < N_PACKET_SKIPS && packet_skip_name(skip) != NULL);
    if (skip != PACKET_TAKEN) return 0;
    check_taken(&whole, on_wire);
    size_t const      shorter = bytes[3] % (captured + 1);
    packet_skip const again = parse(bytes + 4, shorter, on_wire, link_type, &part);
    must(again == PACKET_TAKEN || again == PACKET_CUT);
    if (again == PACKET_TAKEN) must(have_same_fields(&whole, &part));
    return 0;
}
