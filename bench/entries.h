/* entries.h - what is measured, and with which spec: "line", "line:0.003", "rank:0.003:small",
 * "counting:blocked=1", "line:states", "line:fetch". */
#ifndef BENCH_ENTRIES_H
#define BENCH_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define MAX_NAMED 48

/* One entry of --only. Peers use what they can: libbloom the rate, rte_member nothing. */
typedef struct bench_entry {
    char        text[48];     /* as written; the name in the report */
    char        key[24];      /* a kind of tamis, or a peer */
    double      fpr;          /* 0: the one of --fpr */
    const char *isa;          /* NULL: the one of --isa */
    char        geometry[64]; /* fixed fields, as in "blocked=1,hashes=7"; "": none */
    bool        is_small, is_plain, is_removing, is_counting;
    bool        is_states, is_moving, is_ageing; /* keys have a state: tamis_states.c */
    bool        is_hinted;                       /* single calls with tamis_fetch() */
} bench_entry;

typedef struct bench_entries {
    bench_entry list[MAX_NAMED];
    size_t      n;
} bench_entries;

/* Parse "NAME[:FPR][:WORD...],...". False: not valid. */
bool entries_parse(bench_entries *entries, const char *text);

/* Do its keys have states? */
bool entry_has_states(const bench_entry *entry);

/* The first entry that asks for timers without states. NULL: none. */
const bench_entry *entries_find_ageing_set(const bench_entries *entries);

/* The first entry that asks for hints and is not a tamis set. NULL: none. */
const bench_entry *entries_find_wrong_hint(const bench_entries *entries);

/* If there are no entries, add all contestants. Then fill in the options that hold for all. */
void entries_complete(bench_entries *entries, double fpr, bool is_removing);

/* The entry with this text, or else the first with this name. NULL: none. */
const bench_entry *entries_find(const bench_entries *entries, const char *text);

bool parse_fpr(const char *text, double *ret_fpr);

/* Is this the name of a tamis kind or of a peer that the bench knows by itself? */
bool entries_has_own_key(const char *name);

/* Print all names. */
void entries_print_keys(FILE *out);

#endif
