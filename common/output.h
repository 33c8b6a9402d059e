/* output.h - data on stdout, in large writes.
 *
 * A reader that went away ends the program quietly, with EXIT_PIPE. Any other failure is said, and
 * ends it with EXIT_TROUBLE: data that could not be written is never passed over.
 */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message.h"

/* Once, at the start. If one of the three standard files is closed, a file that we open would get
 * its number, and our messages. So the place is taken, in the direction that fails. */
void output_begin(void);

void output_bytes(const void *bytes, size_t n);
void output_string(const char *text);
void output_number(uint64_t value); /* in decimal digits */
void output_text(const char *format, ...) MESSAGE_FORMAT(1);
void output_flush(void);

/* May there be colours? Only on a terminal that can, for people who did not say NO_COLOR. */
bool output_is_colourful(void);

#endif
