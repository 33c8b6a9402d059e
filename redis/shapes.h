/* shapes.h - shapes of sets that were made before, so that the next one needs no planning.
 *
 * Planning a set takes milliseconds, which is too long for a server whose clients make thousands of
 * keys, or whose keys open another part. So the last shapes are kept as empty sets, and a new set
 * takes its geometry from one of them, with a seed of its own. The bodies of empty sets are pages
 * that nobody has touched: they take addresses, and no memory.
 *
 * All functions may be called by any thread.
 */
#ifndef TAMIS_REDIS_SHAPES_H
#define TAMIS_REDIS_SHAPES_H

#include "value.h"

/* Was a set of that shape made before? Then make another one, by the spec and like that one; its
 * geometry as text is copied. False: no. */
bool shapes_make(const value_recipe *recipe, const tamis_spec *spec, char *ret_geometry,
                 tamis_set **ret_set, tamis_status *ret_status);

/* Keep the shape of a set that was made by this recipe. */
void shapes_keep(const value_recipe *recipe, const tamis_set *set, const char *geometry);

/* A set of this recipe is going to be needed: plan it in a thread, if it is not known. */
void shapes_plan_ahead(const value_recipe *recipe);

#endif
