/* json.h - JSON for programs.
 *
 * Values one after the other; commas and indentation come by themselves. `name` is NULL in a list
 * and at the top.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* From now on, one line for each value at the top. */
void json_compact(void);

void json_open(const char *name, char bracket); /* '{' or '[' */
void json_close(char bracket);
void json_text(const char *name, const char *text);
void json_count(const char *name, uint64_t value);
void json_number(const char *name, double value); /* null when it is none */
void json_seconds(const char *name, uint64_t ns); /* with all nine digits */
void json_bool(const char *name, bool value);

#endif
