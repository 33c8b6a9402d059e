/* signals.h - how the tool ends when it is interrupted.
 *
 * SIGINT (Ctrl-C), SIGTERM and SIGHUP end a command that only answers questions as they end any
 * other program. A command that collects keys for a file treats the first of them as the end of its
 * input: it saves what it has read, says so, and then ends by the same signal, so that shells and
 * scripts see what happened. A second signal ends it at once; the file is then as it was. (One that
 * comes within half a second of the first counts as the same: timeout(1) sends two.)
 *
 * While a file is being saved, a first signal waits: the save is all or nothing, and no temporary
 * file is left behind.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* Once, at the start. A closed pipe and a file-size limit become errors of write(2), which are
 * handled where they happen; a mapped file that is cut short becomes a message. */
void signals_begin(void);

/* From now on the first signal ends the input and not the program. A signal that was ignored when
 * the program began, as under nohup(1), stays ignored. */
void signals_end_input(void);

/* The signal that has ended the input, or 0. */
int signals_caught(void);

/* Readable once a signal was caught, for poll(2); -1 without signals_end_input(). */
int signals_descriptor(void);

/* "SIGINT" */
const char *signals_name(int number);

/* If a signal was caught, end by it, after its work is done. */
void signals_end_if_caught(void);

void signals_hold(void);
void signals_release(void); /* a signal that came meanwhile comes now */

#endif
