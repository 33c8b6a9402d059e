/* geometry.h - what is wrong with --geometry: which field, and what the kind would take. */
#ifndef CLI_GEOMETRY_H
#define CLI_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>

#include <tamis/tamis.h>

/* tamis_kind_name() or tamis_states_kind_name(). */
typedef const char *kind_lister(size_t i);

/* End the program if the text is not FIELD=NUMBER,..., or if the kind cannot have such fields. If
 * `kind` is NULL, every kind of the list is tried. */
void geometry_check(const char *geometry, const char *kind, kind_lister *kinds);

/* What is wrong with it for this kind, to be put after the kind's name: "has no field 'x' (...)".
 * False if nothing is. */
bool geometry_complain(const char *kind, const char *geometry, char *ret_text, size_t n);

/* End the program if there is no kind of that name, and say which one is meant. */
void kind_check(const char *kind, bool is_of_states);

#endif
