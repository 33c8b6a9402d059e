/* dlbf_choices.c - sections II.B and II.C: how many subtables, how many bits, and groups.
 *
 * Three statements of the paper without numbers of their own: three subtables are best and four
 * not much worse; d-left Bloom filters are better than standard ones from about 16 bits per key on;
 * and two examples of how a group of four buckets shares 240 bits.
 */
#include "dlbf.h"
#include "frame/sets.h"
#include "kinds/dlbf/size.h"

#include <math.h>
#include <stdlib.h>

#define II_B "Allerton 2006, section II.B"
#define II_C "Allerton 2006, section II.C"

/* ------------------------------------------------------------------ how many subtables */

#define QUICK_TRIALS 24
#define FULL_TRIALS 400

/* The same buckets and keys, divided among any number of subtables. */
typedef struct dlbf_subject {
    const char          *name, *label;
    const bucket_layout *layout;
    double               load;
    unsigned             buckets; /* of all subtables */
    unsigned             group;
} dlbf_subject;

static const dlbf_subject subjects[] = {
    { "64", "64 bits", &dlbf_sorted64, 4, 12288, 1 },
    { "128", "128 bits", &dlbf_two128, 6.4, 7680, 1 },
    { "64.grouped", "64 bits, groups", &dlbf_sorted64, 4, 12288, DLBF_PAPER_GROUP },
    { "128.grouped", "128 bits, groups", &dlbf_two128, 6.4, 7680, DLBF_PAPER_GROUP },
};

static double rate_with(const dlbf_subject *subject, unsigned tables) {
    fluid law;
    tamis_fluid_fill(tables, subject->load, INFINITY, &law);
    return subject->group == 1 ? dlbf_own_rate(subject->layout, &law)
                               : dlbf_group_own_rate(subject->layout, &law, DLBF_LIBRARY);
}

static unsigned best_tables(const dlbf_subject *subject) {
    unsigned best = 2;
    for (unsigned tables = 3; tables <= 6; tables++) {
        if (rate_with(subject, tables) < rate_with(subject, best)) best = tables;
    }
    return best;
}

static void record_tables(lab_run *run, const dlbf_subject *subject, unsigned tables) {
    dlbf_kind_config const config = { .tables = tables,
                                      .buckets = subject->buckets / tables,
                                      .group = subject->group,
                                      .keys = (uint64_t)(subject->load * subject->buckets),
                                      .layout = subject->layout };
    uint64_t const         n = run->is_full ? FULL_TRIALS : QUICK_TRIALS;
    const char *const      name = lab_text(run, "%s.tables.%u", subject->name, tables);
    lab_sample const       own = dlbf_kind_own_rate(run, name, &config, n);
    lab_record(run,
               &(lab_row){ .name = name,
                           .label = lab_text(run, "%s: rate, %u subtables", subject->label, tables),
                           .place = II_B,
                           .exact = rate_with(subject, tables),
                           .measured = lab_sample_mean(&own, 0),
                           LAB_WITHIN_4_SIGMA });
}

static void record_best(lab_run *run, const dlbf_subject *subject) {
    double const four = rate_with(subject, 4) / rate_with(subject, 3) - 1;
    double const two = rate_with(subject, 2) / rate_with(subject, 3) - 1;
    bool const   is_grouped = subject->group != 1;
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.best", subject->name),
                                .label = lab_text(run, "%s: best subtable count", subject->label),
                                .place = II_B,
                                .published = is_grouped ? NULL : "3",
                                .exact = best_tables(subject),
                                .rule = LAB_EQUAL,
                                .reason = "the least rate of 2 to 6, by the fluid limit",
                                .remark = lab_text(run,
                                                   "Compared with 3, rates are %+.0f%% with 2 "
                                                   "and %+.0f%% with 4.%s",
                                                   100 * two, 100 * four,
                                                   is_grouped ? " A group evens out the loads, "
                                                                "and with 2 a lookup meets fewer "
                                                                "keys."
                                                              : "") });
}

void dlbf_tables_run(lab_run *run) {
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        for (unsigned tables = 2; tables <= 4 && sets_have("dlbf"); tables++)
            record_tables(run, &subjects[i], tables);
        record_best(run, &subjects[i]);
    }
}

/* ------------------------------------------------------------------ from how many bits on
 *
 * Fewer keys in the same buckets are more bits per key. Where the rate crosses that of a Bloom
 * filter of as many bits, with the number of hashes that is best, is the break-even.
 */

static double best_bloom_rate(double bits) {
    double const k = bits * log(2), low = floor(k), high = ceil(k);
    return fmin(pow(-expm1(-low / bits), low), pow(-expm1(-high / bits), high));
}

#define EVEN_BUCKETS 4096 /* of each subtable */

typedef struct even_row {
    const char          *name, *label, *published, *remark;
    const bucket_layout *layout;
    unsigned             group;
    dlbf_sharing         sharing;
    double               low, high; /* loads on either side of the break-even */
} even_row;

static double bits_at(const even_row *row, double load) {
    return row->layout->bits / 15.0 * 16 / load;
}

/* The logarithm of the rate divided by a Bloom filter's rate. */
static double excess(const even_row *row, double load, double rate) {
    return log(rate / best_bloom_rate(bits_at(row, load)));
}

static double excess_at(const even_row *row, double load) {
    fluid law;
    dlbf_law(load, &law);
    return excess(row, load,
                  row->group == 1 ? dlbf_own_rate(row->layout, &law)
                                  : dlbf_group_own_rate(row->layout, &law, row->sharing));
}

/* The load with the same rate as a Bloom filter of as many bits. */
static double even_load(const even_row *row) {
    double low = row->low, high = row->high;
    if (excess_at(row, low) > 0 || excess_at(row, high) < 0) lab_die("no break-even between");
    while (high - low > 1e-9) {
        double const middle = (low + high) / 2;
        if (excess_at(row, middle) < 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Make filters at the load where, by theory, both rates are equal. Their rate differs a little from
 * the Bloom filter's there. That difference, divided by the slope by theory, is the distance to
 * their own break-even. */
static lab_measured measure_even(lab_run *run, const even_row *row, double load) {
    uint64_t const         n = run->is_full ? FULL_TRIALS : QUICK_TRIALS;
    dlbf_kind_config const config = { .tables = DLBF_PAPER_TABLES,
                                      .buckets = EVEN_BUCKETS,
                                      .group = row->group,
                                      .keys = (uint64_t)(load * DLBF_PAPER_TABLES * EVEN_BUCKETS),
                                      .layout = row->layout };
    lab_sample const       own = dlbf_kind_own_rate(run, row->name, &config, n);
    double const           step = 1e-4 * load, bits = bits_at(row, load);
    double const           slope = (excess_at(row, load + step) - excess_at(row, load - step)) /
                         (bits_at(row, load - step) - bits_at(row, load + step));
    double const sigma = lab_sample_deviation(&own) / own.mean / sqrt((double)n);
    return (lab_measured){ .value = bits + excess(row, load, own.mean) / slope,
                           .trials = n,
                           .sigma_trials = sigma / slope };
}

static void record_even(lab_run *run, const even_row *row) {
    double const load = even_load(row);
    bool const   is_measured = row->sharing != DLBF_EQUAL && sets_have("dlbf");
    lab_record(run, &(lab_row){ .name = row->name,
                                .label = row->label,
                                .place = II_B,
                                .published = row->published,
                                .exact = bits_at(row, load),
                                .measured = is_measured ? measure_even(run, row, load)
                                                        : (lab_measured){ 0 },
                                LAB_WITHIN_4_SIGMA,
                                .remark = row->remark });
}

void dlbf_even_run(lab_run *run) {
    static const even_row rows[] = {
        { "64", "64 bits: bits per key at the break-even", "16", NULL, &dlbf_sorted64, 1,
          DLBF_LIBRARY, 4.0, 4.2 },
        { "128", "128 bits: bits per key at the break-even", NULL,
          "Larger buckets are better only where there are more bits.", &dlbf_two128, 1,
          DLBF_LIBRARY, 7.6, 7.9 },
        { "64.grouped", "the same, groups by the paper's rule", NULL,
          "\"Further bit-saving tricks could drive this number down further\": grouping does.",
          &dlbf_sorted64, DLBF_PAPER_GROUP, DLBF_EQUAL, 4.3, 4.6 },
        { "64.library", "the same, groups by the library's rule", NULL, NULL, &dlbf_sorted64,
          DLBF_PAPER_GROUP, DLBF_LIBRARY, 4.3, 4.9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) record_even(run, &rows[i]);
}

/* ------------------------------------------------------------------ two groups */

/* The lengths that the library gives the buckets of such a group, without semi-sorting. Up to 8
 * cells make codes of 4 bits, as in the paper. */
static void library_lengths(const unsigned loads[DLBF_PAPER_GROUP],
                            unsigned       ret_lengths[DLBF_PAPER_GROUP]) {
    uint64_t const geometry[DLBF_FIELDS] = {
        [DLBF_TABLES] = 3, [DLBF_BUCKETS] = 4096, [DLBF_BUCKET_BITS] = 64,
        [DLBF_CELLS] = 8,  [DLBF_SORTING] = 0,    [DLBF_GROUP] = 4
    };
    dlbf_layout layout;
    if (!tamis_dlbf_layout(geometry, &layout)) lab_die("a filter without a layout");
    tamis_dlbf_lengths(geometry, &layout, loads, ret_lengths);
}

typedef struct group_sums {
    double shortest, cells_longer; /* bits; and cells that have one more */
} group_sums;

static group_sums sums_of(const unsigned loads[DLBF_PAPER_GROUP],
                          const unsigned lengths[DLBF_PAPER_GROUP]) {
    group_sums sums = { .shortest = lengths[0] };
    for (unsigned i = 1; i < DLBF_PAPER_GROUP; i++) sums.shortest = fmin(sums.shortest, lengths[i]);
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++)
        sums.cells_longer += lengths[i] > sums.shortest ? loads[i] : 0;
    return sums;
}

typedef struct group_row {
    const char *name, *shortest, *longer, *remark;
    unsigned    loads[DLBF_PAPER_GROUP];
} group_row;

static void record_group(lab_run *run, const group_row *row) {
    unsigned lengths[DLBF_PAPER_GROUP], library[DLBF_PAPER_GROUP];
    dlbf_group_lengths(&dlbf_plain64, row->loads, DLBF_SPENT, lengths);
    library_lengths(row->loads, library);
    group_sums const exact = sums_of(row->loads, lengths), own = sums_of(row->loads, library);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.bits", row->name),
                           .label = lab_text(run, "loads %s: bits of a fingerprint", row->name),
                           .place = II_C,
                           .published = row->shortest,
                           .exact = exact.shortest,
                           .measured = lab_computed(own.shortest),
                           .rule = LAB_EQUAL,
                           .reason = "arithmetic; the measured column is the library's rule" });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.longer", row->name),
                                .label = "fingerprints with one bit more",
                                .place = II_C,
                                .published = row->longer,
                                .exact = exact.cells_longer,
                                .measured = lab_computed(own.cells_longer),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic; the measured column is the library's rule",
                                .remark = row->remark });
}

void dlbf_groups_run(lab_run *run) {
    static const group_row rows[] = {
        { "5-4-4-3", "15", "0", NULL, { 5, 4, 4, 3 } },
        { "5-5-4-4", "13", "5", "One bit of 240 is left over.", { 5, 5, 4, 4 } },
    };
    record_group(run, &rows[0]);
    record_group(run, &rows[1]);
}
