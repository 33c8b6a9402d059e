/* figures.c - what came out of a contest. */
#include "contest.h"

bench_figure contest_figure(const bench_contest *contest, size_t row, bench_mode mode,
                            bench_column column) {
    const bench_series *const phase = contest->outcomes[row][mode].phase;
    unsigned const            slices = contest->fill_slices;
    switch (column) {
    case COLUMN_FILL: return series_total(&phase[PHASE_FILL], 0, slices);
    case COLUMN_LAST:
        return series_total(&phase[PHASE_FILL], slices - contest->last_slices, slices);
    case COLUMN_PRESENT: return series_median(&phase[PHASE_PRESENT]);
    case COLUMN_ABSENT: return series_median(&phase[PHASE_ABSENT]);
    case COLUMN_REMOVE: return series_median(&phase[PHASE_REMOVE]);
    case COLUMN_CHURN: return series_median(&phase[PHASE_CHURN]);
    case N_COLUMNS: break;
    }
    return (bench_figure){ 0 };
}

/* How many times larger the larger one is. */
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
