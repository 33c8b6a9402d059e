/* types.h - the four types of values, one for each family of commands. */
#ifndef TAMIS_REDIS_TYPES_H
#define TAMIS_REDIS_TYPES_H

#include "value.h"

bool        type_is_ours(const redis_type *type);
redis_type *type_of_family(value_family family);

/* The largest encoded value that is accepted from outside; UINT64_MAX: any. */
uint64_t type_max_encoded_bytes(void);

#endif
