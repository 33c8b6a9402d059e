/* entries.h - who is to be measured, and with which spec: "line", "line:0.003",
 * "rank:0.003:small", "counting:blocked=1", "line:states". */
#ifndef BENCH_ENTRIES_H
#define BENCH_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define MAX_NAMED 48

/* One word of --only. Peers heed what they can: libbloom the rate, rte_member nothing. */
typedef struct bench_entry {
    char        text[48];     /* as it was written: the name in the table */
    char        key[24];      /* a kind of tamis, or a peer */
    double      fpr;          /* 0: that of --fpr */
    const char *isa;          /* or NULL: that of --isa */
    char        geometry[64]; /* fields that are fixed, "blocked=1,hashes=7"; "": none */
    bool        is_small, is_plain, is_removing, is_counting;
    bool        is_states, is_moving, is_ageing; /* keys with a state: tamis_states.c */
} bench_entry;

typedef struct bench_entries {
    bench_entry list[MAX_NAMED];
    size_t      n;
} bench_entries;

/* "NAME[:FPR][:WORD...],..."; false: it cannot be that. */
bool entries_parse(bench_entries *entries, const char *text);

/* Are its keys to have states? */
bool entry_has_states(const bench_entry *entry);

/* The first entry with timers and no states that could have them; NULL: there is none. */
const bench_entry *entries_find_ageless(const bench_entries *entries);

/* Everybody, if nobody was named; and what is said for all, where an entry says nothing. */
void entries_complete(bench_entries *entries, double fpr, bool is_removing);

/* The entry written like that, or else the first of that name; NULL: there is none. */
const bench_entry *entries_find(const bench_entries *entries, const char *text);

bool parse_fpr(const char *text, double *ret_fpr);

/* All names that there are. */
void entries_print_keys(FILE *out);

#endif
