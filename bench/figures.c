/* figures.c - compute the columns of the report from the results of a contest. */
#include "contest.h"

/* Where the samples of a column are. The fill gets slower as the set fills, so its times are
 * summed. */
typedef struct column_place {
    bench_phase phase;
    unsigned    first, end; /* slices */
    bool        is_total;
} column_place;

static column_place find_column(const bench_contest *contest, bench_column column) {
    unsigned const fill = contest->fill_slices, others = contest->other_slices;
    switch (column) {
    case COLUMN_FILL: return (column_place){ PHASE_FILL, 0, fill, true };
    case COLUMN_LAST: return (column_place){ PHASE_FILL, fill - contest->last_slices, fill, true };
    case COLUMN_PRESENT: return (column_place){ PHASE_PRESENT, 0, others, false };
    case COLUMN_ABSENT: return (column_place){ PHASE_ABSENT, 0, others, false };
    case COLUMN_REMOVE: return (column_place){ PHASE_REMOVE, 0, fill, false };
    case COLUMN_CHURN: return (column_place){ PHASE_CHURN, 0, others, false };
    case N_COLUMNS: break;
    }
    return (column_place){ PHASE_FILL, 0, 0, false };
}

bench_figure contest_figure(const bench_contest *contest, size_t row, bench_mode mode,
                            bench_column column) {
    column_place const        at = find_column(contest, column);
    const bench_series *const series = &contest->outcomes[row][mode].phase[at.phase];
    if (at.is_total) return series_total(series, at.first, at.end);
    return series_part(series, at.first, at.end);
}

/* ------------------------------------------------------------------ ratios */

size_t contest_ratio_row(const bench_contest *contest) {
    const bench_options *const options = contest->options;
    size_t                     row = contest->lineup->n;
    if (options->ratios == NULL) return row;
    const bench_entry *const entry = entries_find(&options->entries, options->ratios);
    for (row = 0; row < contest->lineup->n; row++) {
        const contestant *const entrant = &contest->lineup->rows[row];
        if (entrant->entry == entry && entrant->table != NULL) break;
    }
    return row;
}

bench_mode contest_ratio_mode(const bench_contest *contest, size_t other, bench_mode mode,
                              bench_column column) {
    bool const has_mode = contest_figure(contest, other, mode, column).n_samples != 0;
    return has_mode ? mode : MODE_SINGLE;
}

bench_figure contest_ratio(const bench_contest *contest, size_t row, size_t other, bench_mode mode,
                           bench_column column) {
    column_place const        at = find_column(contest, column);
    bench_mode const          other_mode = contest_ratio_mode(contest, other, mode, column);
    const bench_series *const a = &contest->outcomes[row][mode].phase[at.phase];
    const bench_series *const b = &contest->outcomes[other][other_mode].phase[at.phase];
    bench_figure              ratio = series_ratio(a, b, at.first, at.end);
    if (at.is_total && ratio.n_samples != 0) {
        ratio.rate =
            series_total(a, at.first, at.end).rate / series_total(b, at.first, at.end).rate;
    }
    return ratio;
}

/* ------------------------------------------------------------------ while filling */

bench_figure contest_filling(const bench_contest *contest, size_t row, bench_mode mode,
                             unsigned slice, double *ret_load) {
    const bench_series *const series = &contest->outcomes[row][mode].phase[PHASE_FILL];
    uint64_t                  before = 0;
    for (unsigned i = 0; i < slice; i++) before += series->samples[i].ops;
    *ret_load = ((double)before + (double)series->samples[slice].ops / 2) / (double)contest->n;
    return series_part(series, slice, slice + 1);
}

/* ------------------------------------------------------------------ ceiling and fpr */

/* How many times larger the larger table is. */
static double size_ratio(const contestant *a, const contestant *b) {
    double const ratio = (double)a->bytes / (double)b->bytes;
    return ratio < 1 ? 1 / ratio : ratio;
}

size_t contest_ceiling_row(const bench_contest *contest, size_t row) {
    const contestant *const rows = contest->lineup->rows;
    size_t                  nearest = row;
    for (size_t i = 0; i < contest->lineup->n_ceilings; i++) {
        if (rows[i].table == NULL) continue;
        bool const is_first = nearest == row;
        if (is_first || size_ratio(&rows[i], &rows[row]) < size_ratio(&rows[nearest], &rows[row])) {
            nearest = i;
        }
    }
    return nearest;
}

double contest_ceiling(const bench_contest *contest, size_t row, bench_column column) {
    size_t const ceiling = contest_ceiling_row(contest, row);
    double const plain = contest_figure(contest, ceiling, MODE_SINGLE, column).rate;
    double const groups = contest_figure(contest, ceiling, MODE_BATCH, column).rate;
    if (ceiling >= contest->lineup->n_ceilings) return 0;
    return plain > groups ? plain : groups;
}

double contest_fpr(const bench_contest *contest, size_t row) {
    uint64_t asked = 0, found = 0;
    for (int mode = 0; mode < N_MODES; mode++) {
        asked += contest->outcomes[row][mode].absent_asked;
        found += contest->outcomes[row][mode].absent_found;
    }
    if (asked == 0 || row < contest->lineup->n_ceilings) return -1;
    return (double)found / (double)asked;
}
