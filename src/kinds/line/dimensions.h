/* dimensions.h - what a line, a shelf and the attic have room for. Both sides include this: what
 * works on a body (runs.h, shelf.h, attic.h), and what computes sizes and chances (size.h, law.h).
 */
#ifndef TAMIS_KINDS_LINE_DIMENSIONS_H
#define TAMIS_KINDS_LINE_DIMENSIONS_H

#define LINE_CHAINS 62
#define LINE_SLOTS 50     /* entries of a line */
#define LINE_BYTE_BITS 8  /* of a remainder: those in the line, not among the rests */
#define LINE_MAX_TAIL 200 /* entries of a tail; none comes near this at a planned load */

#define SHELF_BUCKETS 16 /* lines that share a shelf, and a home in the attic */
#define SHELF_KEYS 28

#define ATTIC_OWN_BITS 14 /* of a word: chain and byte; the others are the number of its bucket */

#endif
