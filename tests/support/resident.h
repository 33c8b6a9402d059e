/* resident.h - how much memory this process has, as the system counts it. */
#ifndef TAMIS_TESTS_RESIDENT_H
#define TAMIS_TESTS_RESIDENT_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Pages that are in memory, in bytes. 0: it is not known, or the program runs with a sanitizer,
 * whose own memory would be counted, too. */
static inline uint64_t resident_bytes(void) {
    unsigned long long all = 0, here = 0;
#ifndef __SANITIZE_ADDRESS__
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%llu %llu", &all, &here) != 2) here = 0;
    if (file != NULL) (void)fclose(file);
#endif
    (void)all;
    return here * (uint64_t)sysconf(_SC_PAGESIZE);
}

#endif
