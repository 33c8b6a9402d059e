/* suggest.h - "did you mean ...?" */
#ifndef COMMON_SUGGEST_H
#define COMMON_SUGGEST_H

#include <stddef.h>

/* Returns the i-th of a list of names; NULL after the last. */
typedef const char *name_at(size_t i);

/* The name that is closest to `text`, or NULL if none is close. */
const char *suggest(const char *text, name_at *names);

#endif
