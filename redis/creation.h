/* creation.h - making the value of a new key, which may take milliseconds of planning.
 *
 * What was made before is made again at once: the last recipes are remembered with what was chosen
 * for them, and their shapes are kept (shapes.h). Another one is made in a thread, if the client
 * can wait; then the command runs again, and finds the value made.
 */
#ifndef TAMIS_REDIS_CREATION_H
#define TAMIS_REDIS_CREATION_H

#include "keys.h"

typedef enum creation_rule {
    CREATE_AS_TOLD, /* the recipe is complete, or it makes states */
    CREATE_SMALL,   /* BF and CF: the smallest kind that can do it */
    CREATE_SET      /* TAMIS.*: able to remove and to merge, if its kind can */
} creation_rule;

/* Abilities to try for a set of CREATE_SET, the i-th time. False: there is nothing more to try. */
bool creation_abilities(unsigned asked, unsigned i, unsigned *ret_abilities);

/* Not a status of the library: the client waits, and `handler` will run again. Reply nothing. */
#define CREATED_LATER ((tamis_status)1)

/* Make the key from a recipe, and tell replicas how. Without a handler it is made at once. */
tamis_status creation_make(key_handle *key, creation_rule rule, value_recipe *recipe,
                           redis_handler *handler, tamis_problem *reterr_problem);

#endif
