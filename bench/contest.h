/* contest.h - everybody does the same work in turns, and the clock is read around each turn. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "contestant.h"
#include "machine.h"
#include "stats.h"

typedef enum bench_phase {
    PHASE_FILL,    /* from empty to n keys */
    PHASE_PRESENT, /* ask for keys that are there, in random order */
    PHASE_ABSENT,  /* ask for keys that never were; the yes answers give the fpr */
    PHASE_CHURN,   /* at n keys: remove the oldest, add a new one */
    PHASE_REMOVE,  /* down to half */
    N_PHASES
} bench_phase;

/* What one contestant did in one mode. Churn counts pairs. */
typedef struct bench_outcome {
    bench_series phase[N_PHASES];
    uint64_t     present_asked, present_found;
    uint64_t     absent_asked, absent_found;
    uint64_t     refused_adds;    /* of the fill */
    uint64_t     refused_changes; /* of churn and removal */
} bench_outcome;

typedef struct bench_contest {
    const bench_options *options;
    const bench_machine *machine;
    const bench_lineup  *lineup;
    uint64_t             n;
    unsigned             rounds;
    unsigned             fill_slices; /* of which the last ones are the last tenth */
    unsigned             last_slices;
    unsigned             other_slices;
    bench_outcome        outcomes[MAX_CONTESTANTS + MAX_CEILINGS][N_MODES];
} bench_contest;

/* What it is given stays the caller's. @return NULL without memory. */
bench_contest *contest_run(const bench_options *options, const bench_machine *machine,
                           const bench_lineup *lineup, uint64_t n);
void           contest_free(bench_contest *contest);

/* The columns of the report. */
typedef enum bench_column {
    COLUMN_FILL,
    COLUMN_LAST, /* the last tenth of the fill */
    COLUMN_PRESENT,
    COLUMN_ABSENT,
    COLUMN_REMOVE,
    COLUMN_CHURN,
    N_COLUMNS
} bench_column;

/* A figure with n_samples 0 says that there is nothing to tell. */
bench_figure contest_figure(const bench_contest *contest, size_t row, bench_mode mode,
                            bench_column column);

/* Of --ratios; beyond the last row: there is none. */
size_t contest_ratio_row(const bench_contest *contest);

/* The calls of `other` that those of this mode are held against: the same, or single ones where it
 * has none. */
bench_mode contest_ratio_mode(const bench_contest *contest, size_t other, bench_mode mode,
                              bench_column column);

/* How many times faster `row` is than `other`. The spread is that of the slices. */
bench_figure contest_ratio(const bench_contest *contest, size_t row, size_t other, bench_mode mode,
                           bench_column column);

/* Adding in one slice of the fill, and how full the set was in the middle of it. */
bench_figure contest_filling(const bench_contest *contest, size_t row, bench_mode mode,
                             unsigned slice, double *ret_load);

/* The row of the ceiling whose table is nearest in size; row itself where there is none. */
size_t contest_ceiling_row(const bench_contest *contest, size_t row);

/* The ceiling of a figure: the better of the plain and the prefetching loop, or 0. */
double contest_ceiling(const bench_contest *contest, size_t row, bench_column column);

/* Has this row a table, and calls of this mode? */
bool contest_has_row(const bench_contest *contest, size_t row, bench_mode mode);

/* Of all lookups of absent keys in both modes; -1 if there were none. */
double contest_fpr(const bench_contest *contest, size_t row);

#endif
