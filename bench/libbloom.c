/* libbloom.c - the Bloom filter that Debian ships, by J. Virkki: single calls, no removal.
 *
 * Its sizes are of type int, so it has at most 2^31 bits, and it needs at least 1000 keys. It
 * hashes the key bytes itself (MurmurHash2, twice per call). Its memory comes from calloc(), so
 * without huge pages, unless GLIBC_TUNABLES=glibc.malloc.hugetlb=1 is in the environment.
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
    size_t taken = 0; /* a result of 1 means that all bits were set before; not a failure */
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

static struct bloom *libbloom_make(contestant *entrant, uint64_t n, double fpr) {
    if (n < MIN_ENTRIES) {
        contestant_exclude(entrant, "libbloom needs at least %d keys", MIN_ENTRIES);
        return NULL;
    }
    double const bits = (double)n * -log(fpr) / (log(2) * log(2));
    if (bits >= INT_MAX) {
        contestant_exclude(entrant, "libbloom supports at most 2^31 bits");
        return NULL;
    }
    struct bloom *const bloom = calloc(1, sizeof *bloom);
    if (bloom != NULL && bloom_init(bloom, (int)n, fpr) == 0) return bloom;
    contestant_exclude(entrant, "bloom_init() failed");
    free(bloom);
    return NULL;
}

void enter_libbloom(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                    uint64_t n) {
    (void)options;
    contestant *const entrant = lineup_enter(lineup, entry);
    if (entrant == NULL) return;
    struct bloom *const bloom = libbloom_make(entrant, n, entry->fpr);
    if (bloom == NULL) return;
    (void)snprintf(entrant->name, sizeof entrant->name, "libbloom %s%s", bloom_version(),
                   entry->text + strlen(entry->key));
    entrant->ops = (bench_ops){
        .call = { { libbloom_add, libbloom_has, NULL, NULL } },
        .clear = libbloom_clear,
        .free = libbloom_free,
    };
    entrant->table = bloom;
    entrant->bytes = (uint64_t)bloom->bytes;
    entrant->lines = bloom->hashes;
}
