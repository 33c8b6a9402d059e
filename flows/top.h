/* top.h - who: the hosts with the most flows, half-open flows, refusals, resets and bytes, in
 * bounded memory.
 *
 * Four lists (ranking.h) of 1024 hosts: the clients of flows and their servers, by flows; and
 * senders and receivers, by bytes. The other counts of a host begin when it enters its list. A host
 * with more than a 1024th of all flows (or bytes) is always in its list.
 *
 * So that lists cost little, they see a sample:
 *
 *   - All of the first TOP_FLOWS_WHOLE flows are counted. After that, one flow in 2, 4, 8, ...,
 *     chosen by its id, counts for as many, with all that happens to it, so that the sample has
 *     TOP_FLOWS_WHOLE flows or more. A host with a share p of the flows has a standard error of at
 *     most 1 / sqrt(p x TOP_FLOWS_WHOLE): 8% for a host with a hundredth of the flows.
 *   - Bytes are counted at every n-th byte of the traffic: the packet that contains it counts for n
 *     bytes. n begins with TOP_FIRST_STEP and doubles with the traffic, so that there are
 *     TOP_SAMPLES such bytes or more. A host with a share p of the traffic has a standard error of
 *     at most 1 / sqrt(p x TOP_SAMPLES): 5% for a host with a tenth of the bytes.
 */
#ifndef FLOWS_TOP_H
#define FLOWS_TOP_H

#include "ranking.h"
#include "tracker.h"

#define TOP_FLOWS_WHOLE 16384
#define TOP_SAMPLES 4096
#define TOP_FIRST_STEP 64 /* bytes */

typedef enum top_measure {
    TOP_FLOWS,
    TOP_HALF_OPEN, /* attempts without an answer so far: half-open now, or timed out */
    TOP_REFUSED,
    TOP_RESET,
    N_TOP_COUNTS,             /* those above belong to flows */
    TOP_BYTES = N_TOP_COUNTS, /* sent by a source, received by a target */
    N_TOP_MEASURES
} top_measure;

typedef enum top_role { TOP_SOURCE, TOP_TARGET, N_TOP_ROLES } top_role;

const char *top_measure_name(top_measure measure); /* "half_open" */
const char *top_role_name(top_role role);          /* "source", "target" */

typedef struct top_list {
    ranking  flows, bytes;
    uint64_t counts[N_TOP_MEASURES][RANKING_HOSTS]; /* those of bytes belong to `bytes` */
    uint16_t ports[RANKING_HOSTS];                  /* the port of the server's end, and */
    bool     has_ports[RANKING_HOSTS];              /* there were others, too */
} top_list;

typedef struct top {
    const machine *m;
    uint64_t       n_flows;   /* opened */
    uint64_t       weight;    /* of a flow in the sample */
    uint64_t       n_bytes;   /* seen */
    uint64_t       step;      /* bytes from one that counts to the next */
    uint64_t       next_byte; /* the next one that counts */
    top_list       lists[N_TOP_ROLES];
} top;

void top_init(top *ret_top, const machine *m, uint64_t seed);

/* So many more flows have been opened. */
void top_add_flows(top *t, uint64_t n);

/* A batch of packets arrives: count their bytes. In most batches there is no byte that counts. */
void top_see_bytes(top *t, const tracked *batch, size_t n);

/* A rule applied to a packet. */
void top_see_rule(top *t, const tracked *p, tamis_status after);

static inline void top_see(top *t, const tracked *p, uint64_t id, tamis_status after) {
    if ((id & (t->weight - 1)) == 0) top_see_rule(t, p, after);
}

/* One row of a list. */
typedef struct top_row {
    host_end host; /* port: of the service, 0 if there are several or none */
    uint64_t count;
} top_row;

/* The hosts with the largest counts, largest first, but for those that are hardly in the sample.
 * Returns how many. */
size_t top_rows(const top *t, top_role role, top_measure measure, top_row *ret_rows, size_t max);

#endif
