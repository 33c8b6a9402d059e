/* native.h - the handlers of TAMIS.*, and what they share. */
#ifndef TAMIS_REDIS_NATIVE_H
#define TAMIS_REDIS_NATIVE_H

#include "keys.h"

redis_handler set_reserve, set_add, set_has, set_remove, set_count, set_info, set_plan, set_merge,
    set_dump, set_restore;

redis_handler states_reserve, states_put, states_get, states_move, states_touch, states_drop,
    states_tally;

/* What RESERVE and PLAN ask for. */
typedef struct native_wish {
    value_recipe  recipe;
    redis_string *like; /* NULL: none */
    bool          has_error, has_capacity;
} native_wish;

/* native_words.c: read the words from argv[first] on. NULL: all is well; else the error to reply.
 * Words of states are accepted only if `is_states`. */
const char *native_read_wish(redis_string **argv, int argc, int first, bool is_states,
                             native_wish *ret_wish);

/* Do all words beside LIKE agree with the other key? */
bool native_is_like(const native_wish *wish, const tamis_value *other);

/* Make the key of a wish, reply, and tell replicas. */
int native_reserve(redis_ctx *ctx, redis_string **argv, const native_wish *wish,
                   value_family family);

/* "ERR " and what the library says. */
void native_problem_text(tamis_status status, const tamis_problem *problem, char *ret_text,
                         size_t bytes);
int  native_reply_problem(redis_ctx *ctx, tamis_status status, const tamis_problem *problem);

#endif
