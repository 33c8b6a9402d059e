/* no_libbloom.c - in place of libbloom.c where the package is missing. */
#include "contestant.h"

void enter_libbloom(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                    uint64_t n) {
    (void)options;
    (void)n;
    contestant *const who = lineup_enter(lineup, entry);
    if (who != NULL) contestant_sit_out(who, "not in this build: install libbloom-dev");
}
