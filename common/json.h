/* json.h - write JSON to standard output.
 *
 * Call one function per value; commas and indentation are added. `name` is NULL in a list and at
 * the top level.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* From now on, write each value of the top level on one line. */
void json_compact(void);

void json_open(const char *name, char bracket); /* '{' or '[' */
void json_close(char bracket);
void json_text(const char *name, const char *text);
void json_count(const char *name, uint64_t value);
void json_number(const char *name, double value); /* null if it is not finite */
void json_seconds(const char *name, uint64_t ns); /* with all nine digits */
void json_bool(const char *name, bool value);

#endif
