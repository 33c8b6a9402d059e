/* geometry.h - what is wrong with --geometry: which field, and what the kind would take. */
#ifndef CLI_GEOMETRY_H
#define CLI_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>

#include <tamis/tamis.h>

/* End the program if the text is not FIELD=NUMBER,..., or if the kind that the spec names (or, if
 * it names none, every kind) cannot have such fields. */
void geometry_check(const tamis_spec *spec);

/* What is wrong with it for this kind, as it follows the kind's name: "has no field 'x' (...)".
 * False if nothing is. */
bool geometry_complain(const char *kind, const char *geometry, char *ret_text, size_t n);

#endif
