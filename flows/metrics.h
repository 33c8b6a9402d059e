/* metrics.h - counters in the text format of Prometheus, for node_exporter's textfile collector. */
#ifndef FLOWS_METRICS_H
#define FLOWS_METRICS_H

#include "session.h"

/* Write a file, and put it in the place of the old one when it is complete: a reader never sees
 * half of it. `info` is that of the table when it was made. False: it failed. That is reported, and
 * the old file stays. */
bool metrics_write(const session *s, const table_info *info, const char *name);

#endif
