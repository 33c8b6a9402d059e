/* progress.h - one line on the terminal during long work: how much is done, rate, time left.
 *
 * Nothing is shown in the first second, nor if standard error is not a terminal, nor after data
 * were written to a terminal.
 */
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stdint.h>

/* Work begins, on `total_bytes` of input; 0 if that is not known. */
void progress_begin(uint64_t total_bytes);

/* So much is done. Call it often: most calls only look at the clock. */
void progress_step(uint64_t keys, uint64_t bytes);

/* The same for work that is counted in bytes only. */
void progress_bytes(uint64_t bytes);

/* For a caller that writes its own line: progress_due() returns the seconds since the beginning if
 * it is time for another line, else 0; progress_show() shows one. */
double progress_due(void);
void   progress_show(const char *text, double seconds, uint64_t bytes);

/* Show no line from now on, because the output goes to the terminal. */
void progress_stop(void);

/* Erase the line: the work is done, or a message needs its place. */
void progress_hide(void);

#endif
