/* live.h - packets from network interfaces, on one core or several.
 *
 * Each core has a lane: a thread that reads one ring of each interface. The kernel divides the
 * packets of an interface among the lanes by a hash of the flow (PACKET_FANOUT), which is the same
 * for both directions, so a flow stays in one lane. Rings are those of libpcap (TPACKET_V3: blocks
 * of packets of any length, in memory that the kernel shares).
 *
 * A filter is attached in any case. Only a filter tells the kernel how many bytes of a packet are
 * wanted: without one it copies whole packets (64 KiB with segmentation offload), and the ring is
 * full a hundred times sooner.
 *
 * The two directions of a flow may come through two interfaces, and so through two rings of a lane.
 * Their packets are taken in the order of their timestamps.
 */
#ifndef FLOWS_LIVE_H
#define FLOWS_LIVE_H

#include "capture.h"

#define LIVE_MAX_INTERFACES 16
#define LIVE_MAX_LANES 64

/* The longest time between the arrival of a packet and the moment when it can be read. The kernel
 * hands over a block of packets when it is full, or by a timer: after LIVE_BLOCK_MS to twice as
 * much, and later if the machine is busy. */
#define LIVE_BLOCK_MS 50
#define LIVE_LAG_NS UINT64_C(250000000)

typedef struct live live;

typedef struct live_spec {
    const char *const *names;
    size_t             n_names; /* 1 to LIVE_MAX_INTERFACES */
    const char        *filter;  /* of pcap-filter(7), or NULL */
    uint64_t           buffer;  /* bytes of all rings together */
    unsigned           n_lanes; /* 1 to LIVE_MAX_LANES */
    /* Set by live_open(): packets between the two are ignored. See live_is_early(). */
    uint64_t opening_ns, began_ns;
} live_spec;

/* Open all rings of all lanes, into ret_lanes[n_lanes]. False: nothing is open, and reterr_text
 * says why. */
bool live_open(live_spec *spec, live **ret_lanes, capture_text reterr_text);
void live_close(live *lane);

/* Wait until there is a packet, or for `ms` milliseconds, or until a signal comes. */
void live_wait(const live *lane, int ms);

/* Give up to `max` packets to the sink, without waiting. _MORE, _IDLE: there was none; _BROKEN: no
 * interface is left. */
capture_status live_read(live *lane, size_t max, capture_sink *sink, void *context);

/* Why interface i can be read no more (it was removed, or went down); NULL: it can. */
const char *live_lost(const live *lane, size_t i);

/* Packets that were dropped since the lane was opened: by the kernel, because the ring of interface
 * i was full; and by its network card, because it had no room. All lanes that read an interface see
 * the same number for the card. */
typedef struct live_drops {
    uint64_t ring, card;
} live_drops;
live_drops live_dropped(live *lane, size_t i);

uint64_t live_now_ns(void); /* since 1970 */

/* A ring gets packets as soon as it is open. Before it has joined the others, it gets those that
 * they get, too. All packets of this time are ignored. Older ones are not: if there are any, the
 * clock of the system was set back. */
static inline bool live_is_early(uint64_t opening_ns, uint64_t began_ns, uint64_t time_ns) {
    return time_ns >= opening_ns && time_ns < began_ns;
}

/* With several rings: may an older packet than this one still be on its way in another ring? Not
 * if the packet is from the future: then the clock was set back. */
static inline bool live_may_be_overtaken(uint64_t time_ns, uint64_t now_ns) {
    return (now_ns > time_ns ? now_ns - time_ns : time_ns - now_ns) < LIVE_LAG_NS;
}

#endif
