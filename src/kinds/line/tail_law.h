/* tail_law.h - how many keys of a line do not fit into it: the law of its tail.
 *
 * A line is cut at the first chain that does not fit (runs.h). That chain and all after it are its
 * tail. Names as in law.h: m keys of a line on average, 62 chains, 50 slots.
 */
#ifndef TAMIS_KINDS_LINE_TAIL_LAW_H
#define TAMIS_KINDS_LINE_TAIL_LAW_H

#define MAX_TAIL 96 /* entries of one tail */

/* The laws of the tails of lines, in entries. */
typedef struct law_tails {
    double plain[MAX_TAIL + 1];
    double flooded[MAX_TAIL + 1]; /* with the entries of a flooded key in any one chain */
} law_tails;

/* `mean` is in keys, which have `each` entries. flood: entries of a flooded key, or 0. */
void tamis_line_tails(double mean, unsigned each, unsigned flood, law_tails *ret_tails);

#endif
