/* libbloom.c - the Bloom filter that Debian ships, by J. Virkki: single calls, no removal.
 *
 * It takes its sizes as int, so it ends at 2^31 bits, and it asks for 1000 keys at least. It hashes
 * the key bytes itself (MurmurHash2, twice per call), on memory from calloc: no huge pages, unless
 * GLIBC_TUNABLES=glibc.malloc.hugetlb=1 is in the environment.
 */
#include "contestant.h"

#include <bloom.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_ENTRIES 1000

static size_t libbloom_add(void *table, const uint64_t *keys, size_t n) {
    size_t taken = 0; /* 1 says that all bits were set before: that is no refusal */
    for (size_t i = 0; i < n; i++) taken += bloom_add(table, &keys[i], KEY_BYTES) >= 0;
    return taken;
}

static size_t libbloom_has(void *table, const uint64_t *keys, size_t n) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += bloom_check(table, &keys[i], KEY_BYTES) == 1;
    return found;
}

static void libbloom_clear(void *table) {
    (void)bloom_reset(table);
}

static void libbloom_free(void *table) {
    bloom_free(table);
    free(table);
}

static double bits_wanted(uint64_t n, double fpr) {
    return (double)n * -log(fpr) / (log(2) * log(2));
}

static struct bloom *libbloom_make(contestant *who, uint64_t n, double fpr) {
    if (n < MIN_ENTRIES) {
        contestant_sit_out(who, "libbloom wants %d keys at least", MIN_ENTRIES);
        return NULL;
    }
    if (bits_wanted(n, fpr) >= INT_MAX) {
        contestant_sit_out(who, "libbloom stops at 2^31 bits");
        return NULL;
    }
    struct bloom *const bloom = calloc(1, sizeof *bloom);
    if (bloom != NULL && bloom_init(bloom, (int)n, fpr) == 0) return bloom;
    contestant_sit_out(who, "bloom_init() refused");
    free(bloom);
    return NULL;
}

void enter_libbloom(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                    uint64_t n) {
    (void)options;
    contestant *const who = lineup_enter(lineup, entry);
    if (who == NULL) return;
    struct bloom *const bloom = libbloom_make(who, n, entry->fpr);
    if (bloom == NULL) return;
    (void)snprintf(who->name, sizeof who->name, "libbloom %s%s", bloom_version(),
                   entry->text + strlen(entry->key));
    who->ops = (bench_ops){
        .call = { { libbloom_add, libbloom_has, NULL, NULL } },
        .clear = libbloom_clear,
        .free = libbloom_free,
    };
    who->table = bloom;
    who->bytes = (uint64_t)bloom->bytes;
    who->lines = bloom->hashes;
}
