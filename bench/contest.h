/* contest.h - all contestants do the same work in turns, and each turn is timed. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "contestant.h"
#include "machine.h"
#include "stats.h"

typedef enum bench_phase {
    PHASE_FILL,    /* from empty to n keys */
    PHASE_PRESENT, /* look up keys that are in the set, in random order */
    PHASE_ABSENT,  /* look up keys that were never added; the yes answers give the fpr */
    PHASE_CHURN,   /* at n keys: remove the oldest, add a new one */
    PHASE_REMOVE,  /* until half of the keys are left */
    N_PHASES
} bench_phase;

/* The results of one contestant in one mode. Churn counts pairs. */
typedef struct bench_outcome {
    bench_series phase[N_PHASES];
    uint64_t     present_asked, present_found;
    uint64_t     absent_asked, absent_found;
    uint64_t     refused_adds;    /* in the fill */
    uint64_t     refused_changes; /* in churn and removal */
} bench_outcome;

typedef struct bench_contest {
    const bench_options *options;
    const bench_machine *machine;
    const bench_lineup  *lineup;
    uint64_t             n;
    unsigned             rounds;
    unsigned             fill_slices;
    unsigned             last_slices; /* of fill_slices: they add the last tenth of the keys */
    unsigned             other_slices;
    bench_outcome        outcomes[MAX_CONTESTANTS + MAX_CEILINGS][N_MODES];
} bench_contest;

/* The arguments must live as long as the contest. @return NULL: no memory. */
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

/* A figure with n_samples 0 was not measured. */
bench_figure contest_figure(const bench_contest *contest, size_t row, bench_mode mode,
                            bench_column column);

/* The row that --ratios names. Beyond the last row: none. */
size_t contest_ratio_row(const bench_contest *contest);

/* The mode of `other` that this mode is compared with: the same, or single calls if it has no such
 * batches. */
bench_mode contest_ratio_mode(const bench_contest *contest, size_t other, bench_mode mode,
                              bench_column column);

/* How many times as fast as `other` this row is. The spread is over the slices. */
bench_figure contest_ratio(const bench_contest *contest, size_t row, size_t other, bench_mode mode,
                           bench_column column);

/* The rate of adds in one slice of the fill, and how full the set was in the middle of it. */
bench_figure contest_filling(const bench_contest *contest, size_t row, bench_mode mode,
                             unsigned slice, double *ret_load);

/* The row of the ceiling whose table is nearest in size; `row` itself if there is none. */
size_t contest_ceiling_row(const bench_contest *contest, size_t row);

/* The ceiling of a figure: the faster of the plain and the prefetching loop, or 0. */
double contest_ceiling(const bench_contest *contest, size_t row, bench_column column);

/* Does this row have a table, and calls of this mode? */
bool contest_has_row(const bench_contest *contest, size_t row, bench_mode mode);

/* The measured fpr, over all lookups of absent keys in both modes. -1: there were none. */
double contest_fpr(const bench_contest *contest, size_t row);

#endif
