/* floods.h - hosts that receive many flows which nobody answers, in bounded memory.
 *
 * For each receiver in a list (ranking.h), flows are counted that begin and are not answered:
 *
 *     half-open       TCP: a SYN, or a SYN-ACK that nobody asked for
 *     unconfirmed     picked up from one packet: a lone ACK, data; an answer that nobody asked for
 *     closing         TCP: the first packet is a FIN. Answered when the other end closes as well
 *
 * Every FLOODS_WINDOW_NS, receivers with FLOODS_FLOWS or more flows of one kind are looked for.
 * Flows of the last FLOODS_GRACE_NS may still be answered: they count for the next window. A flood
 * is
 *
 *     many sources,            FLOODS_SOURCES or more, or
 *     one service              most of the flows are for one port
 *
 * Few sources and many ports are a scan (scans.h), not a flood. In a capture of one direction all
 * flows seem to be unanswered. So a flood is reported only if a packet was captured that the
 * receiver itself has sent. Half-open flows of TCP need no such packet: their ACK shows that they
 * were answered.
 *
 * A refusal (RST, or an ICMP error) ends a half-open flow, so that retries at a service that is
 * down are not a flood. But hosts also send refusals to lone packets; these do not count as
 * answers.
 *
 * The receiver of the first packet is the target, whether it is the client or the server. A flow
 * that is answered is subtracted from both its ends, if they are in the list, because the receiver
 * of its first packet is not remembered. So the count of a flood may be too low, but this never
 * makes a host look flooded.
 *
 * To keep the cost low, the list sees a sample: of the flows of a window, FLOODS_WHOLE or half as
 * many, chosen by their id, and each counts for 1, 2, 4, ... of them. A target must have
 * FLOODS_LEAST_SAMPLES, so a small flood among very many other flows is not found.
 */
#ifndef FLOWS_FLOODS_H
#define FLOWS_FLOODS_H

#include "scans.h"
#include "tracker.h"

#define FLOODS_FLOWS 1000
#define FLOODS_WINDOW_NS UINT64_C(10000000000)
#define FLOODS_GRACE_NS UINT64_C(1000000000)
#define FLOODS_SOURCES 8
#define FLOODS_WHOLE 512
#define FLOODS_LEAST_SAMPLES 8
#define FLOODS_FOUND 256 /* that are remembered; the smallest goes first */

typedef enum flood_kind {
    FLOOD_HALF_OPEN,
    FLOOD_UNCONFIRMED,
    FLOOD_CLOSING,
    N_FLOOD_KINDS
} flood_kind;

const char *flood_kind_name(flood_kind kind); /* "half-open" */

/* A candidate for who has more than half of all, and how far it is ahead (Boyer and Moore). */
typedef struct flood_vote {
    uint64_t lead;
    host_end winner;
} flood_vote;

/* A receiver, in this window. */
typedef struct flood_target {
    bool       has_sent;  /* something was captured, at any time */
    bool       is_told;   /* of a flood that goes on */
    bool       is_before; /* `opened` and what follows it are of the window before */
    uint64_t   flows[N_FLOOD_KINDS];
    uint64_t   slot;                    /* of the latest flow, in units of FLOODS_GRACE_NS, */
    uint64_t   young[2][N_FLOOD_KINDS]; /* and flows of that time and of the one before */
    uint64_t   opened;                  /* flows in this window, answered or not, */
    flood_vote port, source;            /* and whose they are */
    uint8_t    sources[SCANS_REGISTERS];
} flood_target;

/* A flood that was found, with all its flows so far. */
typedef struct flood {
    flood_kind kind;
    host_end   target; /* port: of the service, 0 if there are several */
    host_end   source; /* version 0: there is none with more than half of the flows */
    uint64_t   flows, in_window, in_interval;
} flood;

typedef struct floods {
    const machine *m;
    ranking        list;
    bool           can_tell_half_open; /* also in a capture of one direction */
    uint64_t       weight;             /* of a flow in the sample */
    uint64_t       n_sampled;          /* flows of this window */
    uint64_t       next_ns;            /* when this window ends */
    uint64_t       n_told[N_FLOOD_KINDS];
    size_t         n_found;
    flood          found[FLOODS_FOUND];
    bool           is_busy[RANKING_HOSTS]; /* there is something to judge */
    flood_target   targets[RANKING_HOSTS];
} floods;

void floods_init(floods *ret_floods, const machine *m, uint64_t seed);

/* A rule applied to a packet of a flow in the sample. */
void floods_see_rule(floods *f, const tracked *p, tamis_status after);

static inline void floods_see(floods *f, const tracked *p, uint64_t id, tamis_status after) {
    if ((id & (f->weight - 1)) == 0) floods_see_rule(f, p, after);
}

/* Time has passed: judge all targets if a window is over, or at the end (is_last). on_found() is
 * called when a flood begins. */
typedef void floods_hook(void *context, const flood *found);
void floods_judge(floods *f, uint64_t now_ns, bool is_last, floods_hook *on_found, void *context);

/* A new interval begins: in_interval counts from here. */
void floods_begin_interval(floods *f);

/* The floods that were found, most flows first; of this interval, if asked. Returns how many. */
size_t floods_list(const floods *f, bool is_interval, const flood **ret_found, size_t max);

#endif
