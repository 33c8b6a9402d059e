/* say.c - see say.h. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

tamis_status say(tamis_problem *problem, tamis_status status, const char *format, ...) {
    if (problem == NULL) return status;
    va_list arguments;
    *problem = (tamis_problem){ .status = status };
    va_start(arguments, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return status;
}
