/* problem.c - the texts of statuses and problems. */
#include "handle.h"

#include <stdarg.h>
#include <stdio.h>

const char *tamis_status_text(tamis_status status) {
    switch (status) {
    case TAMIS_OK: return "success";
    case TAMIS_ERR_FULL: return "the set is full";
    case TAMIS_ERR_ABSENT: return "the key is not in the set";
    case TAMIS_ERR_UNKNOWN: return "the value of the key is not known";
    case TAMIS_ERR_CONFLICT: return "the key has another value";
    case TAMIS_ERR_SATURATED:
        return "the key is saturated: it has too many copies to be counted, and cannot be removed";
    case TAMIS_ERR_PART: return "the key belongs to another part of the set";
    case TAMIS_ERR_ARGUMENT: return "an argument is missing or out of range";
    case TAMIS_ERR_KIND: return "there is no kind of that name";
    case TAMIS_ERR_CANNOT: return "this kind of set cannot do that";
    case TAMIS_ERR_MISMATCH: return "the sets differ in kind, geometry, hash or seed";
    case TAMIS_ERR_READ_ONLY: return "the set is mapped from a file and cannot be changed";
    case TAMIS_ERR_NOT_BUILT: return "not in this build, or not supported by this processor";
    case TAMIS_ERR_LIMIT: return "too large";
    case TAMIS_ERR_REENTRY: return "a callback called into the table that called it";
    case TAMIS_ERR_MEMORY: return "out of memory";
    case TAMIS_ERR_IO: return "a system call for input or output failed";
    case TAMIS_ERR_SPACE: return "no space left";
    case TAMIS_ERR_FOREIGN: return "not a tamis file";
    case TAMIS_ERR_VERSION: return "written by a newer version of tamis";
    case TAMIS_ERR_TRUNCATED: return "the file is shorter than it should be";
    case TAMIS_ERR_CHECKSUM: return "the file is damaged: a checksum is wrong";
    case TAMIS_ERR_CORRUPT: return "checksums match, but the contents are invalid";
    }
    return "unknown status";
}

tamis_status tamis_problem_say(tamis_problem *problem, tamis_status status, const char *format,
                               ...) {
    if (problem == NULL) return status;
    *problem = (tamis_problem){ .status = status };
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    for (char *at = problem->text; *at != '\0'; at++) { /* no control bytes of file names */
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?';
    }
    return status;
}

tamis_status tamis_problem_say_memory(tamis_problem *problem, const char *purpose, uint64_t bytes) {
    return tamis_problem_say(problem, TAMIS_ERR_MEMORY, "not enough memory: %s needs %llu bytes",
                             purpose, (unsigned long long)bytes);
}
