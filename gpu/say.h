/* say.h - fill in a tamis_problem. */
#ifndef TAMIS_GPU_SAY_H
#define TAMIS_GPU_SAY_H

#include <tamis/tamis.h>

/* As printf does; nothing if `problem` is NULL. Returns `status`. */
__attribute__((format(printf, 3, 4))) tamis_status say(tamis_problem *problem, tamis_status status,
                                                       const char *format, ...);

#endif
