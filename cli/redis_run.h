/* redis_run.h - the work of 'tamis redis', which a build without hiredis leaves out. */
#ifndef CLI_REDIS_RUN_H
#define CLI_REDIS_RUN_H

#include "options.h"

int redis_run(const options *asked);

#endif
