/* shapes.h - shapes of keys that were made before, so that the next one needs no planning.
 *
 * Planning a set takes milliseconds, which is too long for a server whose clients make thousands of
 * small keys. So the last few shapes are kept as empty sets, and a new key takes its geometry from
 * one of them, with a seed of its own.
 */
#ifndef TAMIS_REDIS_SHAPES_H
#define TAMIS_REDIS_SHAPES_H

#include "value.h"

/* A set of that shape was made before: an empty one, and its geometry as text. NULL: no. */
const tamis_set *shapes_find(const value_recipe *recipe, const char **ret_geometry);

/* Keep the shape of a set that was made by this recipe. Only small ones are kept. */
void shapes_keep(const value_recipe *recipe, const tamis_set *set, const char *geometry);

#endif
