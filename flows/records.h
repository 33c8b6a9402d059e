/* records.h - what a flow log needs to know of each flow, in 64 bits: two tables of tamis_states,
 * with 32 bits for each flow in each.
 *
 *     first    | 1 is long | 11 beginning | 10 bytes of the client | 10 bytes of the server |
 *     second   | 7 fraction | 1 is guess | 2 unused | 11 packets of client | 11 of the server |
 *
 * Bytes and packets are approximate counters (counter.h). Packets are exact up to 511; beyond, the
 * standard error is at most 8%. For bytes it is at most 11%, and far less for flows of few packets:
 * each packet adds one rounding, to a number within 2.3%.
 *
 * The beginning is kept in seconds, modulo 2048, and 128ths of a second. When a flow has lasted for
 * 1024 seconds, its beginning is kept in units of 64 seconds instead. Flows of more than 36 hours
 * wrap around. (With timeouts of more than 15 minutes all units are longer, in proportion.)
 */
#ifndef FLOWS_RECORDS_H
#define FLOWS_RECORDS_H

#include "tracker.h"

/* What is known of a flow, as codes: see the layout above. */
typedef struct record {
    bool     is_known; /* else everything is 0 */
    bool     is_long;  /* `start` is in long units */
    bool     is_guess;
    uint32_t start, fraction;
    uint32_t bytes[2], packets[2]; /* of client and server: codes of counters */
} record;

typedef struct records {
    tamis_states  *tables[2];
    uint64_t       unit_ns; /* a second, or more */
    uint64_t       random;
    uint64_t       longest; /* timeout, in ticks */
    const machine *m;
} records;

/* Room for `capacity` flows. False: *reterr_problem says why. */
bool records_init(records *ret_records, const machine *m, uint64_t capacity, double fpr,
                  const tamis_seed *seed, tamis_problem *reterr_problem);
void records_fini(records *r);
void records_tick(records *r, uint64_t ticks);

/* Take a batch of packets into the records. ret_records[i] is what is known of the flow of packet
 * i, including this packet. If the packet opens a flow, ret_before[i] is what was known of the flow
 * that had its ends before, if there was one. */
void records_batch(records *r, const tracked *batch, const uint64_t *ids, const tamis_status *after,
                   size_t n, record *ret_records, record *ret_before);

/* A flow is over: take out what is known of it. (A packet that ends a flow does so as well.) */
void records_take(records *r, uint64_t id, record *ret_record);

/* The numbers that a record stands for. */
typedef struct record_values {
    uint64_t duration_ns;
    double   bytes[2], packets[2];
} record_values;

/* The last packet of the flow came at this time of the clock. */
void records_read(const records *r, const record *known, uint64_t now_ns,
                  record_values *ret_values);

uint64_t records_bytes(const records *r);

#endif
