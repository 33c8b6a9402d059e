/* resident.h - how much memory this process has, as the system counts it. */
#ifndef TAMIS_TESTS_RESIDENT_H
#define TAMIS_TESTS_RESIDENT_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Pages that are in memory, in bytes. 0: it is not known. */
static inline uint64_t resident_bytes(void) {
    unsigned long long all = 0, here = 0;
    FILE *const        file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%llu %llu", &all, &here) != 2) here = 0;
    if (file != NULL) (void)fclose(file);
    (void)all;
    return here * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The same without what a sanitizer needs. 0: it is not known, and with a sanitizer it never is. */
static inline uint64_t resident_own_bytes(void) {
#ifdef __SANITIZE_ADDRESS__
    return 0;
#else
    return resident_bytes();
#endif
}

#endif
