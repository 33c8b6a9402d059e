/* clock.h - seconds, for progress and for how often files are written; no result depends on it. */
#ifndef TAMIS_LAB_CLOCK_H
#define TAMIS_LAB_CLOCK_H

#include <time.h>

static inline double clock_now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
