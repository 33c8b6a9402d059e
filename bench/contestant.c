/* contestant.c - the list of contestants. */
#include "contestant.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

contestant *lineup_enter(bench_lineup *lineup, const bench_entry *entry) {
    if (lineup->n == MAX_CONTESTANTS) return NULL;
    contestant *const entrant = &lineup->rows[lineup->n++];
    *entrant = (contestant){ .entry = entry, .group = "peer", .lines = 1 };
    (void)snprintf(entrant->name, sizeof entrant->name, "%s", entry->text);
    return entrant;
}

void contestant_exclude(contestant *entrant, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(entrant->note, sizeof entrant->note, format, arguments);
    va_end(arguments);
    entrant->table = NULL;
}

void lineup_free(bench_lineup *lineup) {
    for (size_t i = 0; i < lineup->n; i++) {
        contestant *const entrant = &lineup->rows[i];
        if (entrant->table != NULL) entrant->ops.free(entrant->table);
    }
    lineup->n = lineup->n_ceilings = 0;
}
