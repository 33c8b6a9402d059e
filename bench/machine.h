/* machine.h - facts about the machine that runs the bench. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#define N_CACHES 3

typedef struct bench_machine {
    char        cpu[96];
    char        huge_pages[64]; /* the kernel's setting: "madvise", "always", "never" */
    const char *compiler;
    long        page_bytes;
    long        cache_bytes[N_CACHES]; /* level 1 (data) to level 3; 0: unknown */
    int         pinned_to;             /* processor, or -1 */
} bench_machine;

bench_machine machine_look(int pinned_to);

#endif
