/* outputs.h - files that results go to: are they possible, and moving them aside. */
#ifndef FLOWS_OUTPUTS_H
#define FLOWS_OUTPUTS_H

#include "options.h"

/* End the program with a message if a file that is opened later, or again, cannot be opened: at the
 * start, and not after a day of capturing. From interfaces this is called when the rights have been
 * given up with which the program began. */
void outputs_check(const options *asked);

/* Do two names lead to the same file, "-" being the standard input? If it does not exist yet: would
 * they? */
bool outputs_are_same(const char *name, const char *other);

/* Is a name that of a part which outputs_rotate() makes or replaces? */
bool outputs_are_old_part(const char *name, const char *rotated, unsigned keep);

/* FILE.1 becomes FILE.2, and so on; the oldest is replaced. Then FILE becomes FILE.1. */
void outputs_rotate(const char *name, unsigned keep);

#endif
