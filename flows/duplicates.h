/* duplicates.h - recognise copies of packets, as a mirrored port or a capture on several interfaces
 * of a router sees them.
 *
 * A copy has the same ends and the same bytes from the transport header on, and comes shortly after
 * the first. Its link header, its time to live and its IP checksum may differ. Signatures of recent
 * packets are kept in a table of fixed size, one in each place: a busy place forgets, so a copy may
 * be missed. Two different packets are taken for copies with a probability of 2^-64.
 *
 * What it cannot tell: a sender that really sends the same bytes twice within that time.
 */
#ifndef FLOWS_DUPLICATES_H
#define FLOWS_DUPLICATES_H

#include "packet.h"

#define DUPLICATES_PLACES 8192
#define DUPLICATES_BYTES 512 /* of a packet that are compared */

typedef struct duplicates {
    struct {
        uint64_t signature, time_ns;
    } places[DUPLICATES_PLACES];
} duplicates;

/* Was the same packet seen within `within_ns`? Remembers it if not. */
bool duplicates_see(duplicates *d, const packet *p, uint64_t seed, uint64_t time_ns,
                    uint64_t within_ns);

#endif
