/* progress.h - one line on the terminal while long work goes on: how much, rate, time left.
 *
 * Nothing is shown in the first second, nor when stderr is not a terminal, nor once data
 * were written to one.
 */
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stdint.h>

/* Work begins, on `total_bytes` of input; 0 when nobody knows. */
void progress_begin(uint64_t total_bytes);

/* So far. Call it as often as you like: most calls only look at the clock. */
void progress_step(uint64_t keys, uint64_t bytes);

/* The same where the keys are not seen one by one. */
void progress_bytes(uint64_t bytes);

/* For a line of the caller's own: seconds since the beginning when it is time for another one, or
 * else 0; and the line itself. */
double progress_due(void);
void   progress_show(const char *text, double seconds, uint64_t bytes);

/* The output goes to the terminal itself: no line from now on. */
void progress_stop(void);

/* Take the line away: the work is done, or a message wants its place. */
void progress_hide(void);

#endif
