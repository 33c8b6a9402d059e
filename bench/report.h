/* report.h - print the results, for people and for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "contest.h"
#include "machine.h"

#include <stdio.h>

/* The head of the report, and the tables of one contest. */
void report_head(FILE *out, const bench_machine *machine, const bench_options *options);
void report_table(FILE *out, const bench_contest *contest);

/* One JSON document: begin, one size per contest, end. */
void json_begin(FILE *out, const bench_machine *machine, const bench_options *options);
void json_size(FILE *out, const bench_contest *contest, bool is_first);
void json_end(FILE *out);

#endif
