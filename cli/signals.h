/* signals.h - how the tool dies.
 *
 * Ctrl-C and its kin end the tool as they end any other, so that shells and scripts see what
 * happened; no file has changed then. Only while a file is being saved do they wait: the save is
 * all or nothing, and a temporary file is not to be left behind.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* Once, at the start. A closed pipe and a file-size limit become errors of write(2), which are
 * handled where they happen; a mapped file that is cut becomes a message. */
void signals_begin(void);

void signals_hold(void);
void signals_release(void); /* what came meanwhile, comes now */

#endif
