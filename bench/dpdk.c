/* dpdk.c - DPDK's rte_member in hash-table mode: a cuckoo filter with 16-bit signatures.
 *
 * Memory: DPDK 22.11 rounds num_keys up to a power of two, and stores 16 entries in a bucket of one
 * cache line: 16 signatures and 16 set numbers, 16 bits each. That is 32 bits per entry, and 32 to
 * 64 per key: 4,000,000 keys get 2^22 entries, 33.6 bits per key at a load of 95%. The table is a
 * public field of rte_member_setsum, so its size is read from there.
 *
 * Its false-positive rate cannot be set. It keeps 32 bits of CRC of a key. Two keys share them with
 * probability 2^-32, so at n keys the rate is n / 2^32 plus the rate of the signatures.
 *
 * Lookups have a bulk call for at most 64 keys. Adds and removals are single calls.
 */
#include "contestant.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_member.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ENTRIES (UINT64_C(1) << 29) /* at 2^30 its table size overflows 32 bits */
#define THE_SET 1
#define SLACK_MEGABYTES 64

/* ------------------------------------------------------------------ calls */

static size_t dpdk_add(void *table, const uint64_t *keys, size_t n) {
    size_t added = 0; /* a result of 1 means that entries had to move */
    for (size_t i = 0; i < n; i++) added += rte_member_add(table, &keys[i], THE_SET) >= 0;
    return added;
}

static size_t dpdk_has(void *table, const uint64_t *keys, size_t n) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        member_set_t set;
        found += rte_member_lookup(table, &keys[i], &set) == 1;
    }
    return found;
}

static size_t dpdk_remove(void *table, const uint64_t *keys, size_t n) {
    size_t removed = 0;
    for (size_t i = 0; i < n; i++) removed += rte_member_delete(table, &keys[i], THE_SET) == 0;
    return removed;
}

static size_t dpdk_churn(void *table, const uint64_t *keys, size_t n) {
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        done += rte_member_delete(table, &keys[i], THE_SET) == 0;
        done += rte_member_add(table, &keys[n + i], THE_SET) >= 0;
    }
    return done;
}

static size_t dpdk_has_bulk(void *table, const uint64_t *keys, size_t n) {
    const void  *pointers[RTE_MEMBER_LOOKUP_BULK_MAX];
    member_set_t sets[RTE_MEMBER_LOOKUP_BULK_MAX];
    size_t       found = 0;
    for (size_t at = 0; at < n; at += RTE_MEMBER_LOOKUP_BULK_MAX) {
        size_t const left = n - at;
        size_t const now = left < RTE_MEMBER_LOOKUP_BULK_MAX ? left : RTE_MEMBER_LOOKUP_BULK_MAX;
        for (size_t i = 0; i < now; i++) pointers[i] = &keys[at + i];
        int const matches = rte_member_lookup_bulk(table, pointers, (uint32_t)now, sets);
        found += matches > 0 ? (size_t)matches : 0;
    }
    return found;
}

static void dpdk_clear(void *table) {
    rte_member_reset(table);
}

static void dpdk_free(void *table) {
    rte_member_free(table);
}

/* ------------------------------------------------------------------ the environment */

static uint64_t entries_for(uint64_t n) {
    uint64_t entries = RTE_MEMBER_BUCKET_ENTRIES;
    while (entries < n) entries *= 2;
    return entries;
}

/* DPDK must be initialised once per process. This way it needs no huge pages, no network cards and
 * no privileges, and stays on the current processor. */
static bool start_dpdk(uint64_t largest_n) {
    uint64_t const table_megabytes =
        (entries_for(largest_n) / RTE_MEMBER_BUCKET_ENTRIES * LINE_BYTES >> 20) + 1;
    char memory[32], place[32];
    char quiet[] = "--log-level=critical", name[] = "tamis-bench", no_huge[] = "--no-huge";
    char no_pci[] = "--no-pci", no_telemetry[] = "--no-telemetry", no_files[] = "--no-shconf";
    char iova[] = "--iova-mode=va", m[] = "-m";
    (void)snprintf(memory, sizeof memory, "%llu",
                   (unsigned long long)(table_megabytes + SLACK_MEGABYTES));
    (void)snprintf(place, sizeof place, "--lcores=0@%d", sched_getcpu());
    char *arguments[] = { name,  no_huge, no_pci, no_telemetry, no_files, iova,
                          quiet, place,   m,      memory };
    return rte_eal_init((int)(sizeof arguments / sizeof arguments[0]), arguments) >= 0;
}

static bool *dpdk_is_started(void) {
    static bool is_started = false; /* per process, like the state of DPDK */
    return &is_started;
}

static bool ensure_dpdk(const bench_options *options) {
    uint64_t largest = options_largest_size(options);
    if (largest > MAX_ENTRIES) largest = MAX_ENTRIES;
    if (!*dpdk_is_started()) *dpdk_is_started() = start_dpdk(largest);
    return *dpdk_is_started();
}

void dpdk_shutdown(void) {
    if (*dpdk_is_started()) rte_eal_cleanup();
    *dpdk_is_started() = false;
}

/* ------------------------------------------------------------------ entering */

static struct rte_member_setsum *dpdk_make(contestant *entrant, const bench_options *options,
                                           uint64_t n) {
    if (n > MAX_ENTRIES) {
        contestant_exclude(entrant, "rte_member supports at most 2^29 keys");
        return NULL;
    }
    if (!ensure_dpdk(options)) {
        contestant_exclude(entrant, "rte_eal_init: %s", rte_strerror(rte_errno));
        return NULL;
    }
    struct rte_member_parameters const parameters = {
        .name = "bench",
        .type = RTE_MEMBER_TYPE_HT,
        .num_keys = (uint32_t)n,
        .key_len = KEY_BYTES,
        .prim_hash_seed = (uint32_t)(2 * options->seed),
        .sec_hash_seed = (uint32_t)(2 * options->seed + 1),
    };
    struct rte_member_setsum *const table = rte_member_create(&parameters);
    if (table == NULL)
        contestant_exclude(entrant, "rte_member_create: %s", rte_strerror(rte_errno));
    return table;
}

void enter_dpdk(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                uint64_t n) {
    contestant *const entrant = lineup_enter(lineup, entry);
    if (entrant == NULL) return;
    struct rte_member_setsum *const table = dpdk_make(entrant, options, n);
    if (table == NULL) return;
    (void)snprintf(entrant->name, sizeof entrant->name, "rte_member HT");
    entrant->ops = (bench_ops){
        .call = { { dpdk_add, dpdk_has, dpdk_remove, dpdk_churn },
                  { NULL, dpdk_has_bulk, NULL, NULL } },
        .clear = dpdk_clear,
        .free = dpdk_free,
    };
    entrant->table = table;
    entrant->bytes = (uint64_t)table->bucket_cnt * LINE_BYTES;
    entrant->lines = 2;
    (void)snprintf(entrant->note, sizeof entrant->note,
                   "its fpr cannot be set; 2^k entries, here %.0f%% full; 4 KiB pages",
                   100.0 * (double)n / ((double)table->bucket_cnt * RTE_MEMBER_BUCKET_ENTRIES));
}
