/* no_dpdk.c - replaces dpdk.c if the package is not installed. */
#include "contestant.h"

void enter_dpdk(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                uint64_t n) {
    (void)options;
    (void)n;
    contestant *const entrant = lineup_enter(lineup, entry);
    if (entrant != NULL) contestant_exclude(entrant, "not in this build: install libdpdk-dev");
}

void dpdk_shutdown(void) {
}
