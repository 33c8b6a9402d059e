/* vicbf_sizes.c - table I: 2000 keys at 0.1%, in how many KiB.
 *
 * The paper does not say with how many hashes. Where a size comes out with some k, that k is taken;
 * the best k has a row of its own. The perfect hash of counters on levels is not in the table.
 */
#include "vicbf.h"

#include "core/field.h"
#include "frame/sets.h"
#include "frame/theory.h"
#include "handle.h"
#include "kinds/mlcbf/law.h"
#include "kinds/mlcbf/size.h"
#include "theory/tails.h"

#include <math.h>
#include <stdlib.h>

#define N VI_TABLE_KEYS
#define MOST_K 16

/* ------------------------------------------------------------------ the fewest counters */

/* Lookups of improved Bh-CBF make something of up to 6 keys. */
static double improved_rate(double m, double k) {
    static bh_profile profile;
    static bool       is_known = false;
    if (!is_known) {
        pairs const of = pairs_make(BH_PAPER, 4, 8, 6, false);
        tamis_bh_profile(&of, &profile);
        is_known = true;
    }
    return pow(1 - tamis_bh_excludes(&profile, m, N * k), k);
}

typedef struct scheme {
    vi_config of;
    bool      is_improved;
    unsigned  bits;
} scheme;

static double rate_of(const scheme *s, uint64_t m, unsigned k) {
    vi_config of = s->of;
    of.g[0] = m;
    of.g[1] = k;
    return s->is_improved ? improved_rate((double)m, k) : vi_plain_rate(&of);
}

static uint64_t fewest(const scheme *s, unsigned k) {
    uint64_t low = N, high = 100 * N;
    while (high - low > 1) {
        uint64_t const half = (low + high) / 2;
        *(rate_of(s, half, k) > VI_TABLE_RATE ? &low : &high) = half;
    }
    return high;
}

static unsigned best_k(const scheme *s) {
    unsigned best = 2;
    uint64_t least = UINT64_MAX;
    for (unsigned k = 2; k <= MOST_K; k++) {
        uint64_t const m = fewest(s, k);
        if (m < least) best = k;
        least = min_u64(m, least);
    }
    return best;
}

/* ------------------------------------------------------------------ rows */

typedef struct size_row {
    const char *name, *what, *published, *flaw, *remark;
    unsigned    k;        /* 0: the best */
    bool        is_count; /* counters, not KiB */
    scheme      of;
} size_row;

static void record_size(lab_run *run, const size_row *row) {
    unsigned const k = row->k != 0 ? row->k : best_k(&row->of);
    double const   m = (double)fewest(&row->of, k);
    lab_record(run, &(lab_row){ .name = row->name,
                                .what = lab_text(run, "%s, k = %u", row->what, k),
                                .published = row->published,
                                .exact = row->is_count ? m : m * row->of.bits / VI_KIB,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .flaw = row->flaw,
                                .remark = row->remark });
}

#define CBF \
    { { VI_CBF, N, { 0, 0, 4 } }, false, 4 }
#define BH \
    { { VI_BH, N, { 0, 0, 4, 8, BH_PAPER, 3, 0, 0 } }, false, 12 }
#define IMPROVED \
    { { VI_BH, N, { 0, 0, 4, 8, BH_PAPER, 3, 1, 0 } }, true, 12 }
#define D4 \
    { { VI_VI, N, { 0, 0, 0, 7, VI_D(4), 0 } }, false, 7 }
#define GENERAL \
    { { VI_VI, N, { 0, 0, 0, 8, VI_GENERAL, 0 } }, false, 8 }

static const size_row sizes[] = {
    { "cbf", "CBF, KiB", "14.1", "Taken from its reference [7]; the best k gives 14.04.", NULL, 0,
      false, CBF },
    { "bh", "Bh-CBF, KiB", "12.07", NULL, NULL, 0, false, BH },
    { "improved.6", "improved Bh-CBF, KiB", "11.31", "Between those of k = 6 and k = 7.", NULL, 6,
      false, IMPROVED },
    { "improved.7", "improved Bh-CBF, KiB", "11.31", "Between those of k = 6 and k = 7.", NULL, 7,
      false, IMPROVED },
    { "improved.best", "improved Bh-CBF, KiB", NULL, NULL, "5% less than the paper has.", 0, false,
      IMPROVED },
    { "d4.counters", "VI-CBF, D4, counters", "12842", NULL, "k is not stated.", 5, true, D4 },
    { "d4", "VI-CBF, D4, KiB", "10.97", NULL, "k is not stated.", 5, false, D4 },
    { "d4.best", "VI-CBF, D4, KiB", NULL, NULL, "4% less than the paper has.", 0, false, D4 },
    { "general.counters", "VI-CBF, general, counters", "9500",
      "k is not stated; 9 comes nearest of all.", NULL, 9, true, GENERAL },
    { "general", "VI-CBF, general, KiB", "9.28", NULL, "k is not stated.", 9, false, GENERAL },
    { "general.best", "VI-CBF, general, KiB", NULL, NULL, "1% less than the paper has.", 0, false,
      GENERAL },
};

static void record_rates(lab_run *run) {
    static const vi_rate_row rows[] = {
        { "d4.rate",
          "12842 counters, D4, k = 5: rate",
          NULL,
          "1e-3",
          NULL,
          NULL,
          { VI_VI, N, { 12842, 5, 0, 7, VI_D(4), 0 } } },
        { "general.rate",
          "9500 counters, general, k = 9: rate",
          NULL,
          "1e-3",
          NULL,
          NULL,
          { VI_VI, N, { 9500, 9, 0, 8, VI_GENERAL, 0 } } },
        { "bh.rate",
          "8237 entries, k = 7: rate",
          NULL,
          "1e-3",
          NULL,
          NULL,
          { VI_BH, N, { 8237, 7, 4, 8, BH_PAPER, 3, 0, 0 } } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) vi_record_rates(run, &rows[i]);
}

/* What the library plans when it is to be small. */
static tamis_plan plan_of(const char *kind, const char *geometry) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_plan plan;
    size_t     n_rows;
    spec.capacity = spec.lifetime = N;
    spec.fpr = VI_TABLE_RATE;
    spec.prefer = TAMIS_PREFER_SMALL;
    spec.kind = kind;
    spec.geometry = geometry;
    if (tamis_plan_kinds(&spec, &plan, 1, &n_rows, NULL) != TAMIS_OK || plan.status != TAMIS_OK) {
        lab_die("there is no plan of kind %s", kind);
    }
    return plan;
}

static const char *fields_of(lab_run *run, const tamis_plan *plan) {
    const char *text = "Geometry:";
    for (unsigned i = 0; i < plan->n_fields; i++) {
        text = lab_text(run, "%s%s %s=%llu", text, i != 0 ? "," : "", plan->fields[i].name,
                        (unsigned long long)plan->fields[i].value);
    }
    return text;
}

typedef struct planned_row {
    const char *name, *what, *kind, *geometry;
    double      bits; /* of the paper's */
} planned_row;

static void record_planned(lab_run *run, const planned_row *row) {
    double const line = 8 * TAMIS_LINE_BYTES;
    if (!sets_have(row->kind)) return;
    tamis_plan const plan = plan_of(row->kind, row->geometry);
    lab_record(run, &(lab_row){ .name = row->name,
                                .what = row->what,
                                .exact = ceil(row->bits / line) * line / VI_KIB,
                                .measured = lab_computed(8 * (double)plan.body_bytes / VI_KIB),
                                .rule = LAB_AT_MOST,
                                .reason = "the library takes no more than the paper, in whole "
                                          "cache lines, with all bits counted",
                                .remark = fields_of(run, &plan) });
}

/* What the paper takes from ESA 2006: 4 m (r + 2) / 3 bits, and a rate below 24 / 2^r. */
static void record_dlcbf(lab_run *run) {
    lab_record(run, &(lab_row){ .name = "dlcbf",
                                .what = "dlCBF, r = 14, KiB",
                                .published = "5.2",
                                .exact = 4 * N * 16 / 3.0 / VI_KIB,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
    lab_record(run, &(lab_row){ .name = "dlcbf.rate",
                                .what = "dlCBF, r = 14: rate",
                                .published = "1.5e-3",
                                .exact = ldexp(24, -14),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
}

/* Tables of sums, as the paper counts them: h^2 v bits. */
static void record_tables(lab_run *run) {
    static const struct {
        const char *name, *what, *published;
        double      bits;
    } rows[] = { { "table.bh", "table of Bh-CBF, KiB: 3 x 3 x 15", "0.02", 3 * 3 * 15 },
                 { "table.improved", "table of improved, KiB: 6 x 6 x 15", "0.07", 6 * 6 * 15 },
                 { "table.general", "table of general D, KiB: 15 x 15", "0.03", 15 * 15 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lab_record(run, &(lab_row){ .name = rows[i].name,
                                    .what = rows[i].what,
                                    .published = rows[i].published,
                                    .exact = rows[i].bits / VI_KIB,
                                    .rule = LAB_EQUAL,
                                    .reason = "arithmetic",
                                    .remark = i == 0 ? "The paper prints 33 for 3^2." : NULL });
    }
}

void vi_sizes_run(lab_run *run) {
    static const struct {
        planned_row row;
        scheme      of;
    } plans[] = {
        { { "library.cbf", "CBF, and the library's", "counting", NULL, 0 }, CBF },
        { { "library.bh", "Bh-CBF, and the library's", "bhcbf", NULL, 0 }, BH },
        { { "library.improved", "improved, and the library's", "bhcbf", NULL, 0 }, IMPROVED },
        { { "library.d4", "VI-CBF of D4, and the library's", "vicbf", "increments=240", 0 }, D4 },
        { { "library.general", "general D, and the library's", "vicbf", "increments=53504", 0 },
          GENERAL },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) record_size(run, &sizes[i]);
    record_tables(run);
    record_dlcbf(run);
    record_rates(run);
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        planned_row row = plans[i].row;
        row.bits = (double)fewest(&plans[i].of, best_k(&plans[i].of)) * plans[i].of.bits;
        record_planned(run, &row);
    }
}

/* ------------------------------------------------------------------ levels: what overflows
 *
 * The counters of a vicbf are those of the paper's filter on levels, before they are cut up: a
 * counter needs a cell on a level from the sum of all maxima below it on.
 */

#define D4_TOP 36  /* 15 + 7 + 7 + 7 */
#define D4_LAST 29 /* 15 + 7 + 7 */
#define D4_CELLS 6 /* on the last level */
#define GENERAL_FULL 31
#define GENERAL_CELLS 1187 /* on the second level: a guess */

typedef struct level_outcome {
    bool is_beyond;       /* a counter is above the top */
    bool is_full;         /* more counters than cells on the level in question */
    bool is_nonzero_full; /* without those whose cell is 0 */
} level_outcome;

typedef struct level_config {
    uint64_t m, k, mask, bits, from, cells, top;
} level_config;

static tamis_set *make_filter(const level_config *of, lab_random *random) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    char       geometry[128];
    (void)snprintf(geometry, sizeof geometry,
                   "counters=%u,hashes=%u,more=0,counter_bits=%u,increments=%u,blocked=0",
                   (unsigned)of->m, (unsigned)of->k, (unsigned)of->bits, (unsigned)of->mask);
    spec.capacity = N;
    spec.kind = "vicbf";
    spec.geometry = geometry;
    return sets_make(&spec, random);
}

static void level_trial(const void *given, lab_random *random, void *ret_outcome) {
    const level_config *const of = given;
    level_outcome *const      outcome = ret_outcome;
    tamis_set *const          set = make_filter(of, random);
    key_source const          keys = keys_of(random);
    uint64_t                  cells = 0, nonzero = 0;
    sets_fill(set, &keys, 0, N);
    for (uint64_t i = 0; i < of->m; i++) {
        uint64_t const c = field_get(set->table.body, i * of->bits, (unsigned)of->bits);
        outcome->is_beyond |= c > of->top;
        cells += c >= of->from;
        nonzero += c > of->from;
    }
    outcome->is_full = cells > of->cells;
    outcome->is_nonzero_full = nonzero > of->cells;
    tamis_free(set);
}

/* The same by the law of a counter, as if counters knew nothing of each other. */
typedef struct level_chances {
    double beyond, full, nonzero_full;
} level_chances;

static level_chances chances_of(const level_config *of) {
    numbered const plain = numbered_make(of->mask, true);
    double const   m = (double)of->m, cells = (double)of->cells + 1;
    double         beyond, from, above;
    ml_law         law;
    tamis_ml_law(&plain, m, (double)(N * of->k), &law);
    beyond = from = above = law.beyond;
    for (uint64_t c = of->from; c < ML_MAX_SUM; c++) {
        from += law.chance[c];
        above += c > of->from ? law.chance[c] : 0;
        beyond += c > of->top ? law.chance[c] : 0;
    }
    return (level_chances){ -expm1(m * log1p(-beyond)), tamis_binomial_tail(m, from, cells),
                            tamis_binomial_tail(m, above, cells) };
}

static void record_share(lab_run *run, const char *name, const char *what, double exact,
                         const lab_sample *share, const char *remark) {
    double const sigma = sqrt(exact * (1 - exact) / (double)share->n);
    lab_record(run, &(lab_row){ .name = name,
                                .what = what,
                                .exact = exact,
                                .measured = lab_sample_mean(share, fmax(sigma, 1e-3)),
                                LAB_WITHIN_4_SIGMA,
                                .remark = remark });
}

typedef struct level_samples {
    lab_sample beyond, full, nonzero;
} level_samples;

static level_samples run_levels(const lab_run *run, const char *stream, const level_config *of) {
    uint64_t const       n = run->is_full ? 4000 : 1000;
    lab_series const     series = { .stream = stream,
                                    .n = n,
                                    .trial = level_trial,
                                    .given = of,
                                    .outcome_bytes = sizeof(level_outcome) };
    level_outcome *const outcomes = lab_trials(run, &series);
    level_samples        samples = { .beyond = { 0 } };
    for (uint64_t i = 0; i < n; i++) {
        lab_sample_add(&samples.beyond, outcomes[i].is_beyond);
        lab_sample_add(&samples.full, outcomes[i].is_full);
        lab_sample_add(&samples.nonzero, outcomes[i].is_nonzero_full);
    }
    free(outcomes);
    return samples;
}

static void record_d4_levels(lab_run *run, unsigned k) {
    level_config const  of = { 12842, k, VI_D(4), 7, D4_LAST, D4_CELLS, D4_TOP };
    level_samples const is = run_levels(run, lab_text(run, "d4.%u", k), &of);
    level_chances const law = chances_of(&of);
    record_share(run, lab_text(run, "d4.top.k%u", k),
                 lab_text(run, "filters with a counter above 36, k = %u", k), law.beyond,
                 &is.beyond, "The four levels of 4, 3, 3 and 3 bits end at 36.");
    record_share(run, lab_text(run, "d4.last.k%u", k),
                 lab_text(run, "filters with level 4 too small, k = %u", k), law.full, &is.full,
                 "A counter that is just 29 has a cell there too, with a zero in it.");
    record_share(run, lab_text(run, "d4.last.nonzero.k%u", k),
                 lab_text(run, "and without cells of 0, k = %u", k), law.nonzero_full, &is.nonzero,
                 NULL);
}

/* P[a counter has a cell on level 2]. */
static double share_of_full(const level_config *of, double hits) {
    numbered const plain = numbered_make(of->mask, true);
    double         share = 1;
    ml_law         law;
    tamis_ml_law(&plain, (double)of->m, hits, &law);
    for (uint64_t c = 0; c < of->from; c++) share -= law.chance[c];
    return share;
}

/* P[more of them than cells]. Here they are many, and steadier than independent ones, since all
 * hits together are n k: a normal law whose variance is less by nk (dq / d hits per counter)^2. */
static double chance_of_many(const level_config *of) {
    double const m = (double)of->m, hits = (double)(N * of->k), step = 1e-3 * hits;
    double const q = share_of_full(of, hits);
    double const slope =
        m * (share_of_full(of, hits + step) - share_of_full(of, hits - step)) / (2 * step);
    double const variance = m * q * (1 - q) - hits * slope * slope;
    double const chance = .5 * erfc(((double)of->cells + .5 - m * q) / sqrt(2 * variance));
    return chance < 1e-12 ? 0 : chance;
}

static void record_general_levels(lab_run *run, unsigned k) {
    level_config const  of = { 9500, k, VI_GENERAL, 8, GENERAL_FULL, GENERAL_CELLS, 255 };
    level_samples const is = run_levels(run, lab_text(run, "general.%u", k), &of);
    record_share(run, lab_text(run, "general.second.k%u", k),
                 lab_text(run, "filters with level 2 too small, k = %u", k), chance_of_many(&of),
                 &is.full, "1187 cells are a guess, from the printed 0.82 KB.");
}

/* ------------------------------------------------------------------ levels: filters
 *
 * The library's own filters with the paper's levels, in one block, with room for all cells.
 */

typedef struct ml_config {
    uint64_t g[ML_FIELDS];
} ml_config;

typedef struct ml_outcome {
    double own, asked; /* rates: by the contents, and of absent keys that were asked for */
    double lost;       /* keys */
} ml_outcome;

#define ML_QUERIES 20000

static void ml_trial(const void *given, lab_random *random, void *ret_outcome) {
    const uint64_t *const g = ((const ml_config *)given)->g;
    tamis_spec            spec = TAMIS_SPEC_INIT;
    tamis_info            info;
    char                  text[200];
    (void)snprintf(text, sizeof text,
                   "blocks=1,counters=%u,area=%u,hashes=%u,increments=%u,plain=1,"
                   "bits=%u,bits2=%u,bits3=%u,bits4=%u,bits5=0,bits6=0",
                   (unsigned)g[ML_COUNTERS], (unsigned)g[ML_AREA], (unsigned)g[ML_HASHES],
                   (unsigned)g[ML_INCREMENTS], (unsigned)g[ML_BITS], (unsigned)g[ML_BITS + 1],
                   (unsigned)g[ML_BITS + 2], (unsigned)g[ML_BITS + 3]);
    spec.capacity = N;
    spec.kind = "mlcbf";
    spec.geometry = text;
    tamis_set *const set = sets_make(&spec, random);
    key_source const keys = keys_of(random);
    sets_fill(set, &keys, 0, N);
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a filter cannot be inspected");
    *(ml_outcome *)ret_outcome =
        (ml_outcome){ .own = info.current_fpr,
                      .asked = (double)sets_count(set, &keys, N, ML_QUERIES) / ML_QUERIES,
                      .lost = (double)(N - sets_count(set, &keys, 0, N)) };
    tamis_free(set);
}

static ml_outcome *ml_run(const lab_run *run, const char *name, const ml_config *of, uint64_t n) {
    lab_series const series = {
        .stream = name, .n = n, .trial = ml_trial, .given = of, .outcome_bytes = sizeof(ml_outcome)
    };
    return lab_trials(run, &series);
}

static void record_lost(lab_run *run, const char *name, double lost) {
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.lost", name),
                                .what = "keys lost",
                                .exact = 0,
                                .measured = lab_computed(lost),
                                .rule = LAB_EQUAL,
                                .reason = "no false negatives" });
}

static void record_ml_rate(lab_run *run, const char *name, const char *what, const ml_config *of) {
    uint64_t const    n = run->is_full ? 1000 : 50;
    ml_outcome *const filters = ml_run(run, name, of, n);
    lab_sample        own = { 0 }, asked = { 0 };
    double            lost = 0;
    ml_forecast       told;
    for (uint64_t i = 0; i < n; i++) {
        lab_sample_add(&own, filters[i].own);
        lab_sample_add(&asked, filters[i].asked);
        lost += filters[i].lost;
    }
    free(filters);
    tamis_ml_forecast(of->g, N, N, &told);
    double const scatter = lab_sample_deviation(&own);
    double const sigma = theory_rate_sigma(told.fpr, scatter, (double)n, ML_QUERIES);
    lab_record(run, &(lab_row){ .name = name,
                                .what = what,
                                .exact = told.fpr,
                                .measured = lab_sample_mean(&own, 0),
                                LAB_WITHIN_4_SIGMA,
                                .remark = "The cells that find no room in the paper have it." });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.asked", name),
                                .what = "the same, asked for absent keys",
                                .exact = told.fpr,
                                .measured = lab_sample_mean(&asked, sigma),
                                LAB_WITHIN_4_SIGMA });
    record_lost(run, name, lost);
}

static void record_ml_rates(lab_run *run) {
    static const ml_config d4 = { { 1, 12842, 25684, 5, VI_D(4), 1, 4, 3, 3, 3 } };
    static const ml_config general = { { 1, 9500, 19000, 6, VI_GENERAL, 1, 5, 5, 5, 4 } };
    if (!sets_have("mlcbf")) return;
    record_ml_rate(run, "d4.filters", "D4 on the paper's levels, k = 5: rate", &d4);
    record_ml_rate(run, "general.filters", "general on the paper's levels, k = 6", &general);
}

/* ------------------------------------------------------------------ levels: sizes */

static void record_bits(lab_run *run, const char *name, const char *what, const char *published,
                        double bits, const char *remark) {
    lab_record(run, &(lab_row){ .name = name,
                                .what = what,
                                .published = published,
                                .exact = bits / VI_KIB,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = remark });
}

static void record_general_rate(lab_run *run, unsigned k) {
    static const scheme general = GENERAL;
    lab_record(run, &(lab_row){ .name = lab_text(run, "general.rate.k%u", k),
                                .what = lab_text(run, "9500 counters, general, k = %u: rate", k),
                                .published = "<1e-3",
                                .exact = rate_of(&general, 9500, k),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .flaw = "Printed as 10^-3. Not met with a k for which 1187 cells "
                                        "might be enough." });
}

void vi_levels_run(lab_run *run) {
    double const d4 = 12842 * 4, d4_upper = (802 + 100 + 6) * 3;
    double const general = 9500 * 5, general_upper = (1187 + 148) * 5 + 9 * 4;
    record_bits(run, "d4.main", "D4, level 1, KiB", "6.27", d4, NULL);
    record_bits(run, "d4.upper", "D4, levels 2 to 4, KiB", "0.33", d4_upper, NULL);
    record_bits(run, "d4.all", "D4, KiB", "6.60", d4 + d4_upper,
                "Without the perfect hash that finds a cell.");
    record_bits(run, "general.main", "general, level 1, KiB", "5.80", general, NULL);
    record_bits(run, "general.upper", "general, levels 2 to 4, KiB", "0.82", general_upper,
                "Sizes of levels are not stated: 1187, 148 and 9 are a guess.");
    record_general_rate(run, 5);
    record_general_rate(run, 6);
    record_ml_rates(run);
    if (sets_have("vicbf")) {
        record_d4_levels(run, 5);
        record_d4_levels(run, 6);
        record_general_levels(run, 5);
        record_general_levels(run, 6);
        record_general_levels(run, 7);
    }
    record_planned(run, &(planned_row){ "library.hcbf", "ML-HCBF, and the library's", "mlcbf",
                                        "increments=2", 7.55 * VI_KIB }); /* as printed */
    record_planned(run, &(planned_row){ "library.d4", "D4, and the library's", "mlcbf",
                                        "increments=240", d4 + d4_upper });
    record_planned(run, &(planned_row){ "library.general", "general, and the library's", "mlcbf",
                                        "increments=53504", general + general_upper });
    record_planned(run, &(planned_row){ "library.any", "general, and the library's own choice",
                                        "mlcbf", NULL, general + general_upper });
}
