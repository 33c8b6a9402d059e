/* output.h - data on standard output, in large writes.
 *
 * If the reader of a pipe has gone, the program ends quietly, with EXIT_PIPE. Any other failure is
 * reported and ends the program with EXIT_TROUBLE: no data is lost without a message.
 */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message.h"

/* Once, at the start. If one of the three standard files is closed, a file that we open would get
 * its number, and our messages would be written to it. So open /dev/null there, in the direction
 * in which every use fails. */
void output_begin(void);

void output_bytes(const void *bytes, size_t n);
void output_string(const char *text);
void output_number(uint64_t value); /* in decimal digits */
void output_text(const char *format, ...) MESSAGE_FORMAT(1);
void output_flush(void);

/* Bytes that were written so far. What is not flushed yet is not counted. */
uint64_t output_written(void);

/* May there be colours? Only on a terminal that has them, and not if NO_COLOR is set. */
bool output_is_colourful(void);

#endif
