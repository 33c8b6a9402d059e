/* dpdk.c - DPDK's rte_member in hash-table mode: a cuckoo filter with 16-bit signatures.
 *
 * Memory: DPDK 22.11 rounds num_keys up to a power of two, and stores 16 entries to a bucket of one
 * cache line: 16 signatures and 16 set numbers, 16 bits each. So 32 bits per entry, and 32 to 64
 * per key: 4,000,000 keys get 2^22 entries, 33.6 bits per key at a load of 95%. The table is an
 * open field of rte_member_setsum, so its size is read and not guessed.
 *
 * Its false-positive rate cannot be asked for. All it keeps of a key are 32 bits of CRC, so two
 * keys in 2^32 are one: at n keys, n / 2^32 comes on top of what the signatures give.
 *
 * Lookups have a bulk call of at most 64 keys; adding and removing are single only.
 */
#include "contestant.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_member.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ENTRIES (UINT64_C(1) << 29) /* at 2^30 its table size wraps around in 32 bits */
#define THE_SET 1
#define SLACK_MEGABYTES 64

/* ------------------------------------------------------------------ calls */

static size_t dpdk_add(void *table, const uint64_t *keys, size_t n) {
    size_t added = 0; /* 1 says that entries had to move */
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

static uint64_t table_megabytes(uint64_t n) {
    return (entries_for(n) / RTE_MEMBER_BUCKET_ENTRIES * LINE_BYTES >> 20) + 1;
}

/* DPDK wants a whole world around it, once per process. This one needs no huge pages, no network
 * cards and no rights, and stays on the processor that we are on. */
static bool start_world(uint64_t largest_n) {
    char memory[32], place[32];
    char quiet[] = "--log-level=critical", name[] = "tamis-bench", no_huge[] = "--no-huge";
    char no_pci[] = "--no-pci", no_telemetry[] = "--no-telemetry", no_files[] = "--no-shconf";
    char iova[] = "--iova-mode=va", m[] = "-m";
    (void)snprintf(memory, sizeof memory, "%llu",
                   (unsigned long long)(table_megabytes(largest_n) + SLACK_MEGABYTES));
    (void)snprintf(place, sizeof place, "--lcores=0@%d", sched_getcpu());
    char *arguments[] = { name,  no_huge, no_pci, no_telemetry, no_files, iova,
                          quiet, place,   m,      memory };
    return rte_eal_init((int)(sizeof arguments / sizeof arguments[0]), arguments) >= 0;
}

static bool *world_is_up(void) {
    static bool is_up = false; /* DPDK's state is the process's, so this is too */
    return &is_up;
}

static bool ensure_world(const bench_options *options) {
    uint64_t largest = options_largest_size(options);
    if (largest > MAX_ENTRIES) largest = MAX_ENTRIES;
    if (!*world_is_up()) *world_is_up() = start_world(largest);
    return *world_is_up();
}

void leave_dpdk(void) {
    if (*world_is_up()) rte_eal_cleanup();
    *world_is_up() = false;
}

/* ------------------------------------------------------------------ entering */

static struct rte_member_setsum *dpdk_make(contestant *who, const bench_options *options,
                                           uint64_t n) {
    if (n > MAX_ENTRIES) {
        contestant_sit_out(who, "rte_member stops at 2^29 keys");
        return NULL;
    }
    if (!ensure_world(options)) {
        contestant_sit_out(who, "rte_eal_init: %s", rte_strerror(rte_errno));
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
    if (table == NULL) contestant_sit_out(who, "rte_member_create: %s", rte_strerror(rte_errno));
    return table;
}

void enter_dpdk(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                uint64_t n) {
    contestant *const who = lineup_enter(lineup, entry);
    if (who == NULL) return;
    struct rte_member_setsum *const table = dpdk_make(who, options, n);
    if (table == NULL) return;
    (void)snprintf(who->name, sizeof who->name, "rte_member HT");
    who->ops = (bench_ops){
        .call = { { dpdk_add, dpdk_has, dpdk_remove, dpdk_churn },
                  { NULL, dpdk_has_bulk, NULL, NULL } },
        .clear = dpdk_clear,
        .free = dpdk_free,
    };
    who->table = table;
    who->bytes = (uint64_t)table->bucket_cnt * LINE_BYTES;
    who->lines = 2;
    (void)snprintf(who->note, sizeof who->note,
                   "its fpr cannot be asked for; 2^k entries, here %.0f%% full; 4 KiB pages",
                   100.0 * (double)n / ((double)table->bucket_cnt * RTE_MEMBER_BUCKET_ENTRIES));
}
