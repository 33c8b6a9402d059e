/* rank_beyond.c - Figures 5 and 6, and beyond the paper: how the size depends on the number of
 * keys, on the lifetime, on the layout and on the mode.
 *
 * The exact side is an exhaustive search (rank_theory.c); the measured side is the body that the
 * library plans, with every bit counted, in a thousandth of the time. `--curves` writes the points
 * of the figures.
 */
#include "kinds/rank/size.h"
#include "rank.h"

#include <math.h>
#include <string.h>

#define PER_DECADE 8
#define LIFETIMES 16 /* adds per key of the capacity: the library's default for sets that remove */

static const char PLANNED[] = "the budget of overflow is shared out differently, and the body is "
                              "in whole cache lines";

static rank_wish wish_of(double n, double fpr, double lifetimes, bool is_counting) {
    return (rank_wish){ .n = n,
                        .fpr = fpr,
                        .lifetime = lifetimes * n, /* in adds */
                        .overflow = RANK_OVERFLOW,
                        .counter_bits = is_counting ? 2 : 0,
                        .copies = is_counting ? 4 : 1 };
}

static double library_bits(const rank_wish *wish, const char *geometry) {
    return rank_library_choice(wish, geometry).bits_per_key;
}

/* The library's Bloom or counting Bloom filter, with a whole number of hashes. */
static double library_bloom_bits(double fpr, bool is_counting) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = RANK_KEYS;
    spec.lifetime = RANK_KEYS;
    spec.fpr = fpr;
    spec.kind = is_counting ? "counting" : "bloom";
    spec.geometry = is_counting ? "counter_bits=4" : "blocked=0";
    return rank_plan_of(&spec).bits_per_key;
}

/* ------------------------------------------------------------------ Figures 5 and 6 */

static double rate_at(int point) {
    return pow(10, -1 - (double)point / PER_DECADE);
}

static void draw_rate(lab_run *run, bool is_counting, int point) {
    const char *const figure = is_counting ? "figure6" : "figure5";
    double const      rate = rate_at(point), bloom = (is_counting ? 4 : 1) * bloom_ideal_bits(rate);
    rank_wish         wish = wish_of(RANK_KEYS, rate, 1, is_counting);
    lab_draw(run, &(lab_point){ figure, "standard", rate, bloom });
    lab_draw(run, &(lab_point){ figure, "standard in whole hashes", rate,
                                library_bloom_bits(rate, is_counting) });
    lab_draw(run, &(lab_point){ figure, "d-left", rate, dleft_bits(rate, is_counting ? 2 : 0) });
    lab_draw(run, &(lab_point){ figure, "rank (library)", rate, library_bits(&wish, NULL) });
    wish.is_paper = true;
    lab_draw(run, &(lab_point){ figure, "rank (paper)", rate, rank_smallest(&wish, NULL) });
}

static void record_rate(lab_run *run, bool is_counting, int point) {
    double const    rate = rate_at(point);
    rank_wish const wish = wish_of(RANK_KEYS, rate, 1, is_counting);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.%.0e", is_counting ? "counting" : "set", rate),
                           .label = lab_text(run, "bits per key for %.0e", rate),
                           .place = is_counting ? "Figure 6, 100000 keys" : "Figure 5, 100000 keys",
                           .exact = rank_smallest(&wish, NULL),
                           .measured = lab_computed(library_bits(&wish, NULL)),
                           .rule = LAB_RELATIVE,
                           .tolerance = 0.003,
                           .reason = PLANNED,
                           .remark = lab_text(run, "Standard %.2f, d-left %.2f.",
                                              (is_counting ? 4 : 1) * bloom_ideal_bits(rate),
                                              dleft_bits(rate, is_counting ? 2 : 0)) });
}

static void draw_figure(lab_run *run, bool is_counting) {
    for (int point = 0; point <= 6 * PER_DECADE; point++) draw_rate(run, is_counting, point);
    for (int point = 0; point <= 6 * PER_DECADE; point += PER_DECADE) {
        record_rate(run, is_counting, point);
    }
}

/* ------------------------------------------------------------------ where the curves cross */

typedef double bits_at(double rate);

static double paper_rank(double rate) {
    rank_wish wish = wish_of(RANK_KEYS, rate, 1, false);
    wish.is_paper = true;
    return rank_smallest(&wish, NULL);
}

static double exact_rank(double rate) {
    rank_wish const wish = wish_of(RANK_KEYS, rate, 1, false);
    return rank_smallest(&wish, NULL);
}

static double library_rank(double rate) {
    rank_wish const wish = wish_of(RANK_KEYS, rate, 1, false);
    return library_bits(&wish, NULL);
}

static double library_bloom(double rate) {
    return library_bloom_bits(rate, false);
}

#define CROSSING_STEPS 50 /* per decade */

/* The largest rate below which `a` is always smaller than `b`, to within 5%. Rates below 0.1% are
 * not tried: the curves are far apart there. */
static double crossing(bits_at *a, bits_at *b) {
    double rate = 1e-3;
    for (int step = 0; step < 2 * CROSSING_STEPS; step++) {
        double const next = pow(10, -3 + (step + 1.0) / CROSSING_STEPS);
        if (a(next) >= b(next)) break;
        rate = next;
    }
    return rate;
}

static void record_crossings(lab_run *run) {
    static const char place[] = "Figure 5: rank is smaller than a Bloom filter below ...";
    lab_record(run, &(lab_row){ .name = "crossing.paper",
                                .label = "the paper's S / n, an ideal Bloom filter",
                                .place = place,
                                .exact = crossing(paper_rank, bloom_ideal_bits),
                                .rule = LAB_EQUAL,
                                .reason = "an exhaustive search",
                                .remark = "The paper says \"at or below just 0.1%\", from its "
                                          "tables, which are not the smallest." });
    lab_record(run, &(lab_row){ .name = "crossing.body",
                                .label = "our body, an ideal Bloom filter",
                                .place = place,
                                .exact = crossing(exact_rank, bloom_ideal_bits),
                                .measured = lab_computed(crossing(library_rank, bloom_ideal_bits)),
                                .rule = LAB_RELATIVE,
                                .tolerance = 0.1,
                                .reason = "two steps of 5%" });
    lab_record(run, &(lab_row){ .name = "crossing.real",
                                .label = "our body, a Bloom filter of whole hashes",
                                .place = place,
                                .exact = crossing(exact_rank, library_bloom),
                                .measured = lab_computed(crossing(library_rank, library_bloom)),
                                .rule = LAB_RELATIVE,
                                .tolerance = 0.1,
                                .reason = "two steps of 5%" });
}

/* Check that counting is smaller than both others everywhere. */
static void record_counting_wins(lab_run *run) {
    unsigned losses = 0;
    for (int point = 0; point <= 6 * PER_DECADE; point++) {
        double const    rate = rate_at(point);
        rank_wish const wish = wish_of(RANK_KEYS, rate, 1, true);
        double const    bits = library_bits(&wish, NULL);
        losses += bits >= dleft_bits(rate, 2) || bits >= 4 * bloom_ideal_bits(rate);
    }
    lab_record(run, &(lab_row){ .name = "counting.losses",
                                .label = "points where counting is not smallest",
                                .place = "Figure 6, 100000 keys",
                                .exact = 0,
                                .measured = lab_computed(losses),
                                .rule = LAB_EQUAL,
                                .reason = "what the figure shows" });
}

static void describe_figures(lab_run *run) {
    lab_figure const sets = { .name = "figure5",
                              .title = "Figure 5: a set of 100000 keys",
                              .x = "false-positive rate",
                              .y = "bits per key",
                              .is_log_x = true };
    lab_figure       counting = sets;
    counting.name = "figure6";
    counting.title = "Figure 6: a counting set of 100000 keys";
    lab_describe(run, &sets);
    lab_describe(run, &counting);
}

void rank_figures(lab_run *run) {
    describe_figures(run);
    draw_figure(run, false);
    record_crossings(run);
    draw_figure(run, true);
    record_counting_wins(run);
}

/* ------------------------------------------------------------------ against the number of keys */

#define BEYOND_RATE 0.001

static void record_planned(lab_run *run, const char *place, const char *name, const char *label,
                           const rank_wish *wish, const char *geometry) {
    tamis_plan const plan = rank_library_choice(wish, geometry);
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .place = place,
                                .exact = rank_smallest(wish, NULL),
                                .measured = lab_computed(plan.bits_per_key),
                                .rule = LAB_RELATIVE,
                                .tolerance = wish->n < 5000 ? 0.05 : 0.005,
                                .reason = wish->n < 5000 ? "a body is in whole cache lines, and "
                                                           "this one is small"
                                                         : PLANNED,
                                .remark = lab_text(run,
                                                   "P[overflow] %.2g, P[saturation] %.2g; a lookup "
                                                   "touches %.2f lines if present, %.2f if not.",
                                                   plan.overflow, plan.saturation,
                                                   plan.lines_present, plan.lines_absent) });
}

static void draw_keys(lab_run *run, double n) {
    rank_wish const set = wish_of(n, BEYOND_RATE, 1, false);
    rank_wish const counting = wish_of(n, BEYOND_RATE, LIFETIMES, true);
    rank_wish       multiset = wish_of(n, BEYOND_RATE, LIFETIMES, false);
    multiset.copies = RANK_MAX_COPIES;
    lab_draw(run, &(lab_point){ "keys", "set", n, library_bits(&set, NULL) });
    lab_draw(run, &(lab_point){ "keys", "set; one line", n, library_bits(&set, "aligned=1") });
    lab_draw(run, &(lab_point){ "keys", "counting", n, library_bits(&counting, NULL) });
    lab_draw(run, &(lab_point){ "keys", "multiset", n, library_bits(&multiset, NULL) });
}

static void record_keys(lab_run *run) {
    lab_describe(run,
                 &(lab_figure){ .name = "keys",
                                .title = "What a key takes, by how many there are, at 0.1%",
                                .x = "keys",
                                .y = "bits per key",
                                .is_log_x = true,
                                .remark = "The multiset and the counting set are for 16 adds per "
                                          "key in their life, the set for one." });
    for (int point = 0; point <= 6 * 4; point++) {
        double const n = round(pow(10, 3 + point / 4.0));
        draw_keys(run, n);
        if (point % 4 != 0) continue;
        rank_wish const wish = wish_of(n, BEYOND_RATE, 1, false);
        record_planned(run, "keys, 0.1%, a set that is filled once", lab_text(run, "keys.%.0e", n),
                       lab_text(run, "bits per key for %.0e keys", n), &wish, NULL);
    }
}

/* ------------------------------------------------------------------ lifetime and mode */

static void record_lifetimes(lab_run *run) {
    static const double lifetimes[] = { 1, LIFETIMES, 1024, 1 << 20 };
    for (size_t i = 0; i < sizeof lifetimes / sizeof lifetimes[0]; i++) {
        rank_wish const wish = wish_of(RANK_KEYS, BEYOND_RATE, lifetimes[i], true);
        record_planned(run, "lifetime, 100000 keys, 0.1%, counting",
                       lab_text(run, "lifetime.%.0f", lifetimes[i]),
                       lab_text(run, "bits per key, %.0f adds for each", lifetimes[i]), &wish,
                       NULL);
    }
}

static void record_modes(lab_run *run) {
    static const char place[] = "mode, 100000 keys, 0.1%, 16 adds for each";
    rank_wish const   counting = wish_of(RANK_KEYS, BEYOND_RATE, LIFETIMES, true);
    rank_wish         multiset = wish_of(RANK_KEYS, BEYOND_RATE, LIFETIMES, false);
    multiset.copies = RANK_MAX_COPIES;
    record_planned(run, place, "mode.counting", "bits per key, a counter in each cell", &counting,
                   NULL);
    record_planned(run, place, "mode.multiset", "bits per key, a cell for each copy", &multiset,
                   NULL);
}

/* ------------------------------------------------------------------ layout */

static double field(const tamis_plan *plan, const char *name) {
    for (unsigned i = 0; i < plan->n_fields; i++) {
        if (strcmp(plan->fields[i].name, name) == 0) return (double)plan->fields[i].value;
    }
    lab_die("the kind has no field %s", name);
}

/* A record of whole lines, or of the next power of two. */
static double aligned(double bits) {
    return bits >= 512 ? 512 * ceil(bits / 512) : exp2(ceil(log2(bits)));
}

/* All of the body, with the levels beginning at lines. */
static double aligned_body_bits(const tamis_plan *plan) {
    double const cell = 1 + field(plan, "remainder_bits") + field(plan, "counter_bits");
    double const two = field(plan, "extensions2"), three = field(plan, "extensions3");
    double const first =
        aligned(field(plan, "chains") + field(plan, "cells") * cell + ceil(log2(two + 1)));
    double const second = aligned(field(plan, "cells2") * cell + ceil(log2(three + 1)));
    double const third = aligned(field(plan, "cells3") * cell);
    double       lines = ceil(field(plan, "buckets") * first / 512);
    if (two > 0) lines += ceil(two * second / 512);
    if (three > 0) lines += ceil(three * third / 512);
    return 512 * (lines + ceil((ceil((two + three) / 8) + 9) / 64));
}

static void record_layouts(lab_run *run) {
    static const double rates[] = { 0.01, 0.001, 0.0001 };
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        rank_wish const  wish = wish_of(RANK_KEYS, rates[i], LIFETIMES, true);
        tamis_plan const plan = rank_library_choice(&wish, "aligned=1");
        tamis_plan const packed = rank_library_choice(&wish, NULL);
        lab_record(
            run, &(lab_row){ .name = lab_text(run, "aligned.%.0e", rates[i]),
                             .label = lab_text(run, "bits per key, a line a bucket, %g", rates[i]),
                             .place = "layout, 100000 keys, counting, 16 adds for each",
                             .exact = aligned_body_bits(&plan) / RANK_KEYS,
                             .measured = lab_computed(plan.bits_per_key),
                             .rule = LAB_EQUAL,
                             .reason = "arithmetic",
                             .remark = lab_text(
                                 run,
                                 "Packed it is %.2f. A lookup touches %.2f lines if present, "
                                 "%.2f if not; packed %.2f and %.2f.",
                                 packed.bits_per_key, plan.lines_present, plan.lines_absent,
                                 packed.lines_present, packed.lines_absent) });
    }
}

void rank_beyond(lab_run *run) {
    record_keys(run);
    record_lifetimes(run);
    record_modes(run);
    record_layouts(run);
}
