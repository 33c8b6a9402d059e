/* contestant.c - the list of those who take part. */
#include "contestant.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

contestant *lineup_enter(bench_lineup *lineup, const bench_entry *entry) {
    if (lineup->n == MAX_CONTESTANTS) return NULL;
    contestant *const who = &lineup->rows[lineup->n++];
    *who = (contestant){ .entry = entry, .group = "peer", .lines = 1 };
    (void)snprintf(who->name, sizeof who->name, "%s", entry->text);
    return who;
}

void contestant_sit_out(contestant *who, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(who->note, sizeof who->note, format, arguments);
    va_end(arguments);
    who->table = NULL;
}

void lineup_free(bench_lineup *lineup) {
    for (size_t i = 0; i < lineup->n; i++) {
        contestant *const who = &lineup->rows[i];
        if (who->table != NULL) who->ops.free(who->table);
    }
    lineup->n = lineup->n_ceilings = 0;
}
