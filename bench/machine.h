/* machine.h - where the figures are taken. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#define N_CACHES 3

typedef struct bench_machine {
    char        cpu[96];
    char        huge_pages[64]; /* the kernel's word for it: "madvise", "always", "never" */
    const char *compiler;
    long        page_bytes;
    long        cache_bytes[N_CACHES]; /* first level, data only, to third; 0: not known */
    int         pinned_to;             /* processor, or -1 */
} bench_machine;

bench_machine machine_look(int pinned_to);

#endif
