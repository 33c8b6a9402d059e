/* report.c - print the report for people. */
#include "report.h"

#include <inttypes.h>
#include <string.h>
#include <tamis/tamis.h>

#if defined(__clang__)
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

/* ------------------------------------------------------------------ the head */

void report_head(FILE *out, const bench_machine *machine, const bench_options *options) {
    fprintf(out, "tamis %s, %s, %s %s", tamis_version(), machine->cpu, COMPILER, machine->compiler);
    if (machine->cache_bytes[N_CACHES - 1] > 0) {
        fprintf(out, ", caches %ld KiB, %ld KiB, %ld MiB", machine->cache_bytes[0] >> 10,
                machine->cache_bytes[1] >> 10, machine->cache_bytes[2] >> 20);
    }
    fprintf(out, "\nkeys   random 64 bits, the same for all; %s\n",
            options->is_id
                ? "tamis takes them as ids, the peers hash 8 bytes: not a fair comparison"
                : "all hash 8 key bytes");
    fprintf(out, "pages  %s (kernel: %s)\n",
            options->is_small_pages
                ? "small pages for all"
                : "tamis and the ceiling ask for huge pages, the peers do not; see --pages",
            machine->huge_pages);
    fprintf(out, "calls  batches of %zu keys (rte_member: at most 64)\n", options->batch);
    if (machine->pinned_to < 0) fprintf(out, "       not pinned to a processor\n");
}

/* ------------------------------------------------------------------ cells */

/* 12 columns: "  105.3 ±4  ". The sign has two bytes and one column. */
static void print_rate(FILE *out, const bench_figure *figure, char mark) {
    if (figure->n_samples == 0) {
        fprintf(out, "%8s    ", "-");
        return;
    }
    double const spread = 50 * (figure->high - figure->low) / figure->rate; /* percent */
    fprintf(out, figure->rate < 10 ? "%8.2f" : "%8.1f", figure->rate);
    fprintf(out, "%c\u00b1%-2.0f", mark, spread < 99 ? spread : 99);
}

static void print_share(FILE *out, double rate, double ceiling) {
    if (rate <= 0 || ceiling <= 0)
        fprintf(out, "%8s    ", "-");
    else
        fprintf(out, "%7.0f%%    ", 100 * rate / ceiling);
}

/* Four decimals, or an exponent for very small rates. */
static void print_fpr(FILE *out, double fpr) {
    if (fpr < 0)
        fprintf(out, "%9s", "-");
    else if (fpr == 0 || fpr >= 1e-5)
        fprintf(out, "%8.4f%%", 100 * fpr);
    else
        fprintf(out, "%8.1e%%", 100 * fpr);
}

static void print_space(FILE *out, const bench_contest *contest, size_t row) {
    const contestant *const entrant = &contest->lineup->rows[row];
    if (row < contest->lineup->n_ceilings)
        fprintf(out, "%8s", "-");
    else
        fprintf(out, "%8.2f", 8 * (double)entrant->bytes / (double)contest->n);
    print_fpr(out, contest_fpr(contest, row));
}

/* ------------------------------------------------------------------ rows */

#define MIN_NAME 18
#define LEFT_COLUMNS 25 /* between the name and the figures: mode, bits per key, fpr */

static int name_width(const bench_contest *contest) {
    int width = MIN_NAME;
    for (size_t row = 0; row < contest->lineup->n; row++) {
        int const length = (int)strlen(contest->lineup->rows[row].name);
        if (length > width) width = length;
    }
    return width;
}

/* The title and two lines of column names, aligned with the numbers. */
static void print_column_names(FILE *out, int width, const char *title, const char *first,
                               const char *second) {
    static const char *const names[2][N_COLUMNS] = {
        { "", "last", "has", "has", "", "churn" },
        { "fill", "tenth", "present", "absent", "remove", "pairs" },
    };
    fprintf(out, "%*s  %s\n", width + LEFT_COLUMNS, "", title);
    for (int line = 0; line < 2; line++) {
        fprintf(out, "%*s", width + LEFT_COLUMNS, line == 0 ? first : second);
        for (int column = 0; column < N_COLUMNS; column++) {
            fprintf(out, "%8s%s", names[line][column], column + 1 < N_COLUMNS ? "    " : "\n");
        }
    }
}

static const char *report_mode(const bench_contest *contest, size_t row, bench_mode mode) {
    static const char *const names[2][N_MODES] = { { "single", "batch" }, { "plain", "groups" } };
    return names[row < contest->lineup->n_ceilings][mode];
}

static void print_figure_row(FILE *out, const bench_contest *contest, size_t row, bench_mode mode) {
    fprintf(out, "%-*s %-6s ", name_width(contest), contest->lineup->rows[row].name,
            report_mode(contest, row, mode));
    print_space(out, contest, row);
    for (int column = 0; column < N_COLUMNS; column++) {
        bench_figure const figure = contest_figure(contest, row, mode, (bench_column)column);
        print_rate(out, &figure, ' ');
    }
    fprintf(out, "\n");
}

static void print_share_row(FILE *out, const bench_contest *contest, size_t row, bench_mode mode) {
    const contestant *const rows = contest->lineup->rows;
    const char *const       ceiling = rows[contest_ceiling_row(contest, row)].name;
    fprintf(out, "%-*s %-6s %17s", name_width(contest), rows[row].name,
            report_mode(contest, row, mode), ceiling);
    for (int column = 0; column < N_COLUMNS; column++) {
        bench_figure const figure = contest_figure(contest, row, mode, (bench_column)column);
        print_share(out, figure.rate, contest_ceiling(contest, row, (bench_column)column));
    }
    fprintf(out, "\n");
}

typedef void row_printer(FILE *out, const bench_contest *contest, size_t row, bench_mode mode);

static void print_rows(FILE *out, const bench_contest *contest, size_t first, row_printer *print) {
    for (size_t row = first; row < contest->lineup->n; row++) {
        for (int mode = 0; mode < N_MODES; mode++) {
            if (contest_has_row(contest, row, (bench_mode)mode)) {
                print(out, contest, row, (bench_mode)mode);
            }
        }
    }
}

/* ------------------------------------------------------------------ ratios */

static void print_ratio_row(FILE *out, const bench_contest *contest, size_t best, size_t other,
                            bench_mode mode) {
    const contestant *const rows = contest->lineup->rows;
    fprintf(out, "%-*s %-6s %17.2f", name_width(contest), rows[other].name,
            report_mode(contest, best, mode), (double)rows[other].bytes / (double)rows[best].bytes);
    for (int i = 0; i < N_COLUMNS; i++) {
        bench_column const column = (bench_column)i;
        bench_figure const ratio = contest_ratio(contest, best, other, mode, column);
        bool const         is_other_mode = contest_ratio_mode(contest, other, mode, column) != mode;
        print_rate(out, &ratio, is_other_mode ? '*' : ' ');
    }
    fprintf(out, "\n");
}

static void print_ratios(FILE *out, const bench_contest *contest) {
    const contestant *const rows = contest->lineup->rows;
    size_t const            best = contest_ratio_row(contest);
    char                    title[160];
    if (best >= contest->lineup->n) return;
    (void)snprintf(title, sizeof title,
                   "%s: how many times as fast as each; *: compared with its single calls",
                   rows[best].name);
    fprintf(out, "\n");
    print_column_names(out, name_width(contest), title, "memory", "ratio");
    for (size_t row = contest->lineup->n_ceilings; row < contest->lineup->n; row++) {
        if (row == best || rows[row].table == NULL) continue;
        print_ratio_row(out, contest, best, row, MODE_SINGLE);
        print_ratio_row(out, contest, best, row, MODE_BATCH);
    }
}

/* ------------------------------------------------------------------ notes */

static void print_note_count(FILE *out, const char *name, uint64_t n, const char *text) {
    if (n != 0) fprintf(out, "  %s: %" PRIu64 " %s\n", name, n, text);
}

/* Notes about operations that failed. */
typedef struct note_texts {
    const char *refused, *lost, *unchanged;
} note_texts;

static const note_texts *find_texts(const contestant *entrant) {
    static const note_texts sets = { "adds refused while filling",
                                     "lookups of present keys answered no",
                                     "adds or removals refused in churn and removal" };
    static const note_texts states = {
        "puts refused while filling: a key with the same fingerprint has another state "
        "(TAMIS_ERR_CONFLICT), or the table is full",
        "gets or moves of keys that were put found nothing",
        "puts or drops refused in churn and removal: keys with the same fingerprint are one key"
    };
    return entrant->entry != NULL && entry_has_states(entrant->entry) ? &states : &sets;
}

static void print_bench_notes(FILE *out, const bench_contest *contest) {
    for (size_t row = 0; row < contest->lineup->n; row++) {
        const contestant *const entrant = &contest->lineup->rows[row];
        const note_texts *const texts = find_texts(entrant);
        uint64_t                refused = 0, lost = 0, unchanged = 0;
        for (int mode = 0; mode < N_MODES && row >= contest->lineup->n_ceilings; mode++) {
            const bench_outcome *const outcome = &contest->outcomes[row][mode];
            refused += outcome->refused_adds;
            lost += outcome->present_asked - outcome->present_found;
            unchanged += outcome->refused_changes;
        }
        if (entrant->table == NULL)
            fprintf(out, "  %s: not measured: %s\n", entrant->name, entrant->note);
        if (entrant->table != NULL && entrant->note[0] != '\0') {
            fprintf(out, "  %s: %s\n", entrant->name, entrant->note);
        }
        print_note_count(out, entrant->name, refused, texts->refused);
        print_note_count(out, entrant->name, lost, texts->lost);
        print_note_count(out, entrant->name, unchanged, texts->unchanged);
    }
}

static void print_title(FILE *out, const bench_contest *contest) {
    fprintf(out, "\n%" PRIu64 " keys, requested fpr %g%%, %u round%s of %u slices\n\n", contest->n,
            100 * contest->options->fpr, contest->rounds, contest->rounds == 1 ? "" : "s",
            contest->other_slices);
}

void report_table(FILE *out, const bench_contest *contest) {
    int const width = name_width(contest);
    print_title(out, contest);
    print_column_names(out, width,
                       "million operations per second, \u00b1 spread in % (half of p10..p90)",
                       "bits      fpr", "per key measured");
    print_rows(out, contest, 0, print_figure_row);
    fprintf(out, "\n");
    print_column_names(out, width, "percent of the ceiling (the faster of plain and groups)", "",
                       "ceiling");
    print_rows(out, contest, contest->lineup->n_ceilings, print_share_row);
    print_ratios(out, contest);
    fprintf(out, "\n");
    print_bench_notes(out, contest);
}
