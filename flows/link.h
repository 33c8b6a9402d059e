/* link.h - link layers: from the first byte of a packet to the first byte of IP. */
#ifndef FLOWS_LINK_H
#define FLOWS_LINK_H

#include "packet.h"

/* The bytes of a packet that are not read yet. */
typedef struct cursor {
    const uint8_t *at;
    const uint8_t *end;
} cursor;

static inline size_t cursor_left(const cursor *from) {
    return (size_t)(from->end - from->at);
}

/* The next n bytes, or NULL when there are fewer; nothing is consumed then. */
static inline const uint8_t *cursor_take(cursor *from, size_t n) {
    if (cursor_left(from) < n) return NULL;
    const uint8_t *const taken = from->at;
    from->at += n;
    return taken;
}

static inline uint16_t big16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t big32(const uint8_t *at) {
    return (uint32_t)big16(at) << 16 | big16(at + 2);
}

/* Move to where IP begins. PACKET_TAKEN: there it is, of a version that its first byte tells. */
packet_skip link_strip_any(cursor *from, int link_type);

/* The same, with a short way for what nearly every packet is: IP in Ethernet. */
static inline packet_skip link_strip(cursor *from, int link_type) {
    if (link_type == 1 && cursor_left(from) >= 14) {
        uint16_t const type = big16(from->at + 12);
        if (type == 0x0800 || type == 0x86dd) {
            from->at += 14;
            return PACKET_TAKEN;
        }
    }
    return link_strip_any(from, link_type);
}

/* The link types that are read, i = 0, 1, ...; -1 after the last. */
int link_type_at(size_t i);

#endif
