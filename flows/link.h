/* link.h - link layers: find where IP begins in a packet. */
#ifndef FLOWS_LINK_H
#define FLOWS_LINK_H

#include "packet.h"

/* The bytes of a packet that are not consumed yet. */
typedef struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    unsigned       depth; /* tunnels that were entered */
} cursor;

#define CURSOR_MAX_DEPTH 4

static inline size_t cursor_left(const cursor *rest) {
    return (size_t)(rest->end - rest->at);
}

/* Consume and return the next n bytes. NULL: there are fewer, and nothing is consumed. */
static inline const uint8_t *cursor_take(cursor *rest, size_t n) {
    if (cursor_left(rest) < n) return NULL;
    const uint8_t *const taken = rest->at;
    rest->at += n;
    return taken;
}

static inline uint16_t big16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t big32(const uint8_t *at) {
    return (uint32_t)big16(at) << 16 | big16(at + 2);
}

/* Enter one more tunnel. False: there were too many. */
static inline bool cursor_deepen(cursor *rest) {
    return rest->depth++ < CURSOR_MAX_DEPTH;
}

/* Does this look like an IP packet? For places where nothing else says so. */
bool link_is_ip(const cursor *rest);

/* Consume what an Ethernet type announces, up to IP. */
packet_skip link_strip_type(cursor *rest, unsigned type);

/* Consume the link headers. PACKET_TAKEN: IP follows; its first byte tells the version. */
packet_skip link_strip_any(cursor *rest, int link_type);

/* Consume Ethernet, if there is IP in it that looks right. PACKET_SHORT_LINK: there are too few
 * bytes to tell. */
packet_skip link_strip_inner_ethernet(cursor *rest);

/* As link_strip_any(), with a fast path for the most common case: IP in Ethernet. */
static inline packet_skip link_strip(cursor *rest, int link_type) {
    if (link_type == 1 && cursor_left(rest) >= 14) {
        uint16_t const type = big16(rest->at + 12);
        if (type == 0x0800 || type == 0x86dd) {
            rest->at += 14;
            return PACKET_TAKEN;
        }
    }
    return link_strip_any(rest, link_type);
}

/* The supported link types, i = 0, 1, ...; -1 after the last. */
int link_type_at(size_t i);

#endif
