/* live.c - see live.h. */
#include "live.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* Bytes captured of each packet. The headers are enough: link, tags, tunnels, IPv6 extensions,
 * TCP. */
#define LIVE_SNAPSHOT 512
#define SMALLEST_RING (UINT64_C(1) << 20) /* a few blocks of libpcap's 256 KiB */

/* Flags of PACKET_FANOUT, in the upper half of a mode of 16 bits. */
#define FANOUT_DEFRAGMENT 0x8000 /* fragments go where the whole datagram would go */
#define FANOUT_UNIQUE_ID 0x2000  /* the kernel chooses an id that nobody uses */

typedef struct ring {
    const char    *name;
    pcap_t        *pcap; /* NULL: the interface has gone */
    int            link_type;
    uint64_t       unit_ns; /* of tv_usec */
    live_drops     drops;   /* until it was closed */
    capture_text   problem; /* why it was closed */
    bool           has_next;
    capture_packet next; /* if there are several rings: the first packet, not given out yet */
} ring;

struct live {
    size_t   n;
    uint64_t opening_ns, began_ns;
    ring     rings[LIVE_MAX_INTERFACES];
};

uint64_t live_now_ns(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

const char *live_lost(const live *lane, size_t i) {
    return lane->rings[i].pcap == NULL ? lane->rings[i].problem : NULL;
}

/* ------------------------------------------------------------------ opening a ring */

/* libpcap's own message, or else its text for the status. */
static void explain_activation(const char *name, pcap_t *pcap, int status,
                               capture_text reterr_text) {
    const char *const words =
        *pcap_geterr(pcap) != '\0' ? pcap_geterr(pcap) : pcap_statustostr(status);
    bool const is_forbidden =
        status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED;
    (void)snprintf(reterr_text, sizeof(capture_text), "%s: %.200s%s", name, words,
                   is_forbidden ? "; capturing needs root, or CAP_NET_RAW" : "");
}

/* Attach the filter, or one that takes every packet: see live.h. */
static bool attach_filter(ring *r, const char *expression, capture_text reterr_text) {
    struct bpf_program program;
    if (pcap_compile(r->pcap, &program, expression != NULL ? expression : "", 1,
                     PCAP_NETMASK_UNKNOWN) != 0) {
        (void)snprintf(reterr_text, sizeof(capture_text), "filter '%.100s': %.150s",
                       expression != NULL ? expression : "", pcap_geterr(r->pcap));
        return false;
    }
    int const status = pcap_setfilter(r->pcap, &program);
    pcap_freecode(&program);
    if (status != 0)
        (void)snprintf(reterr_text, sizeof(capture_text), "filter: %.200s", pcap_geterr(r->pcap));
    return status == 0;
}

static bool open_ring(ring *r, const live_spec *spec, capture_text reterr_text) {
    char           text[PCAP_ERRBUF_SIZE] = "";
    uint64_t const share = spec->buffer / spec->n_lanes / spec->n_names;
    r->pcap = pcap_create(r->name, text);
    if (r->pcap == NULL) {
        (void)snprintf(reterr_text, sizeof(capture_text), "%s: %.200s", r->name, text);
        return false;
    }
    (void)pcap_set_snaplen(r->pcap, LIVE_SNAPSHOT);
    (void)pcap_set_promisc(r->pcap, 1);
    (void)pcap_set_timeout(r->pcap, LIVE_BLOCK_MS);
    (void)pcap_set_buffer_size(r->pcap, (int)(share > SMALLEST_RING ? share : SMALLEST_RING));
    (void)pcap_set_tstamp_precision(r->pcap, PCAP_TSTAMP_PRECISION_NANO);
    int const status = pcap_activate(r->pcap);
    if (status < 0) {
        explain_activation(r->name, r->pcap, status, reterr_text);
        return false;
    }
    (void)pcap_setnonblock(r->pcap, 1, text); /* live_wait() waits instead */
    r->link_type = pcap_datalink(r->pcap);
    r->unit_ns = pcap_get_tstamp_precision(r->pcap) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
    return attach_filter(r, spec->filter, reterr_text);
}

/* Let lane `i` share the packets of an interface with the lanes before. *group is the id of the
 * kernel's group, which the first one gets. */
static bool join_fanout(const ring *r, unsigned i, int *group, capture_text reterr_text) {
    int const      socket = pcap_fileno(r->pcap);
    unsigned const mode = PACKET_FANOUT_HASH | FANOUT_DEFRAGMENT | (i == 0 ? FANOUT_UNIQUE_ID : 0);
    unsigned const asked = (unsigned)(i == 0 ? 0 : *group) | mode << 16;
    socklen_t      n = sizeof *group;
    bool is_joined = setsockopt(socket, SOL_PACKET, PACKET_FANOUT, &asked, sizeof asked) == 0;
    if (is_joined && i == 0) {
        is_joined = getsockopt(socket, SOL_PACKET, PACKET_FANOUT, group, &n) == 0;
        *group &= 0xffff;
    }
    if (!is_joined)
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "%s: its packets cannot be divided among several cores: %s", r->name,
                       strerror(errno));
    return is_joined;
}

/* ------------------------------------------------------------------ opening all lanes */

void live_close(live *lane) {
    if (lane == NULL) return;
    for (size_t i = 0; i < lane->n; i++) {
        if (lane->rings[i].pcap != NULL) pcap_close(lane->rings[i].pcap);
    }
    free(lane);
}

/* Lane i, whose rings are opened one by one: lane->n counts them, also if one fails. */
static live *open_lane(const live_spec *spec, unsigned i, int *groups, capture_text reterr_text) {
    live *const lane = calloc(1, sizeof *lane);
    bool        is_open = lane != NULL;
    if (lane == NULL) (void)snprintf(reterr_text, sizeof(capture_text), "out of memory");
    for (size_t at = 0; is_open && at < spec->n_names; at++) {
        ring *const r = &lane->rings[lane->n++];
        r->name = spec->names[at];
        is_open = open_ring(r, spec, reterr_text) &&
                  (spec->n_lanes == 1 || join_fanout(r, i, &groups[at], reterr_text));
    }
    if (is_open) return lane;
    live_close(lane);
    return NULL;
}

bool live_open(live_spec *spec, live **ret_lanes, capture_text reterr_text) {
    int groups[LIVE_MAX_INTERFACES] = { 0 };
    spec->opening_ns = live_now_ns();
    for (unsigned i = 0; i < spec->n_lanes; i++) {
        ret_lanes[i] = open_lane(spec, i, groups, reterr_text);
        if (ret_lanes[i] != NULL) continue;
        while (i-- != 0) live_close(ret_lanes[i]);
        return false;
    }
    spec->began_ns = live_now_ns();
    for (unsigned i = 0; i < spec->n_lanes; i++) {
        ret_lanes[i]->opening_ns = spec->opening_ns;
        ret_lanes[i]->began_ns = spec->began_ns;
    }
    return true;
}

/* ------------------------------------------------------------------ counting drops */

live_drops live_dropped(live *lane, size_t i) {
    ring *const      r = &lane->rings[i];
    struct pcap_stat counts;
    if (r->pcap != NULL && pcap_stats(r->pcap, &counts) == 0)
        r->drops = (live_drops){ .ring = counts.ps_drop, .card = counts.ps_ifdrop };
    return r->drops;
}

/* ------------------------------------------------------------------ reading */

/* A ring whose first packet waits for older ones of other rings is not waited for: it is ready all
 * the time. */
void live_wait(const live *lane, int ms) {
    struct pollfd wanted[LIVE_MAX_INTERFACES];
    nfds_t        n = 0;
    for (size_t i = 0; i < lane->n; i++) {
        const ring *const r = &lane->rings[i];
        if (r->has_next && ms > LIVE_BLOCK_MS) ms = LIVE_BLOCK_MS;
        if (r->pcap == NULL || r->has_next) continue;
        wanted[n++] = (struct pollfd){ .fd = pcap_get_selectable_fd(r->pcap), .events = POLLIN };
    }
    (void)poll(wanted, n, ms); /* if a signal interrupts it, the caller finds no packet */
}

static void take_header(const ring *r, const struct pcap_pkthdr *header, const u_char *bytes,
                        capture_packet *ret_packet) {
    /* tv_usec holds nanoseconds when libpcap was asked for them */
    *ret_packet = (capture_packet){ .bytes = bytes,
                                    .captured = header->caplen,
                                    .on_wire = header->len,
                                    .time_ns = (uint64_t)header->ts.tv_sec * 1000000000 +
                                               (uint64_t)header->ts.tv_usec * r->unit_ns,
                                    .link_type = r->link_type };
}

/* The interface was removed or went down. What was dropped there stays counted. */
static void close_ring(live *lane, size_t i) {
    ring *const r = &lane->rings[i];
    (void)live_dropped(lane, i);
    (void)snprintf(r->problem, sizeof r->problem, "%s: %.200s", r->name, pcap_geterr(r->pcap));
    pcap_close(r->pcap);
    r->pcap = NULL;
}

static size_t rings_left(const live *lane) {
    size_t n = 0;
    for (size_t i = 0; i < lane->n; i++) n += lane->rings[i].pcap != NULL;
    return n;
}

/* What libpcap's callback needs to pass a packet on. */
typedef struct forward {
    const live   *lane;
    capture_sink *sink;
    void         *context;
} forward;

static void on_ring_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes) {
    const forward *const next = (const void *)user;
    capture_packet       p;
    take_header(&next->lane->rings[0], header, bytes, &p);
    if (!live_is_early(next->lane->opening_ns, next->lane->began_ns, p.time_ns))
        next->sink(next->context, &p);
}

/* One interface: packets are used where they lie in the ring. */
static capture_status read_one_ring(live *lane, size_t max, capture_sink *sink, void *context) {
    forward   next = { lane, sink, context };
    int const n = pcap_dispatch(lane->rings[0].pcap, (int)max, on_ring_packet, (u_char *)&next);
    if (n > 0) return CAPTURE_MORE;
    if (n == 0) return CAPTURE_IDLE;
    close_ring(lane, 0);
    return CAPTURE_BROKEN;
}

/* Get the first packet of a ring, if there is one. libpcap copies it: the ring goes on. */
static void fill_next(live *lane, size_t i) {
    ring *const         r = &lane->rings[i];
    struct pcap_pkthdr *header;
    const u_char       *bytes;
    while (r->pcap != NULL && !r->has_next) {
        int const n = pcap_next_ex(r->pcap, &header, &bytes);
        if (n == 0) return;
        if (n < 0) {
            close_ring(lane, i);
            return;
        }
        take_header(r, header, bytes, &r->next);
        r->has_next = !live_is_early(lane->opening_ns, lane->began_ns, r->next.time_ns);
    }
}

/* The ring whose first packet is the oldest of all, or NULL. A ring that is empty now may still get
 * an older packet than that, unless it is LIVE_LAG_NS old. */
static ring *find_oldest(live *lane, uint64_t now_ns) {
    ring *oldest = NULL;
    bool  is_any_empty = false;
    for (size_t i = 0; i < lane->n; i++) {
        ring *const r = &lane->rings[i];
        fill_next(lane, i);
        is_any_empty |= r->pcap != NULL && !r->has_next;
        if (r->has_next && (oldest == NULL || r->next.time_ns < oldest->next.time_ns)) oldest = r;
    }
    if (oldest == NULL) return NULL;
    return is_any_empty && live_may_be_overtaken(oldest->next.time_ns, now_ns) ? NULL : oldest;
}

static capture_status read_rings(live *lane, size_t max, capture_sink *sink, void *context) {
    uint64_t const now_ns = live_now_ns();
    size_t         n = 0;
    for (ring *oldest; n < max && (oldest = find_oldest(lane, now_ns)) != NULL; n++) {
        oldest->has_next = false;
        sink(context, &oldest->next);
    }
    if (n != 0) return CAPTURE_MORE;
    return rings_left(lane) != 0 ? CAPTURE_IDLE : CAPTURE_BROKEN;
}

capture_status live_read(live *lane, size_t max, capture_sink *sink, void *context) {
    if (lane->n == 1) {
        return lane->rings[0].pcap != NULL ? read_one_ring(lane, max, sink, context)
                                           : CAPTURE_BROKEN;
    }
    return read_rings(lane, max, sink, context);
}
