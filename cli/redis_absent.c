/* redis_absent.c - 'tamis redis' in a build without hiredis. */
#include "message.h"
#include "redis_run.h"

int redis_run(const options *asked) {
    (void)asked;
    die("this build cannot talk to Redis: it was made without hiredis; install libhiredis-dev and "
        "build it again");
}
