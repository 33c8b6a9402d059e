/* dlbf_underloaded.c - section II.E: filters that are not full yet.
 *
 * The paper prints no numbers here. The rates are too small to be measured by queries. So a
 * filter's own rate is measured, which follows from its contents.
 */
#include "dlbf.h"
#include "frame/sets.h"

#include <math.h>

#define BUCKETS 4096 /* of each subtable */
#define LONGEST 52   /* bits that a hash of 64 leaves for a fingerprint, beside 2^12 buckets */

typedef struct dlbf_subject {
    const char          *label;
    const bucket_layout *layout;
    double               load; /* keys per bucket, when full */
} dlbf_subject;

static const dlbf_subject subjects[] = { { "64-bit buckets", &dlbf_sorted64, 4 },
                                         { "128-bit buckets", &dlbf_two128, 6.4 } };

/* Per key, with the code, when full. */
static double bits_of(const dlbf_subject *subject) {
    return subject->layout->bits * 16 / 15.0 / subject->load;
}

/* A Bloom filter of as many bits, with the hashes that are best when it is full. */
static double bloom_at(const dlbf_subject *subject, double part) {
    double const k = round(bits_of(subject) * log(2));
    return pow(-expm1(-k * part / bits_of(subject)), k);
}

static double rate_at(const dlbf_subject *subject, double part) {
    fluid law;
    dlbf_law(part * subject->load, &law);
    return dlbf_rate(subject->layout, &law);
}

static double keys_at(const dlbf_subject *subject, double part) {
    return floor(part * subject->load * DLBF_PAPER_TABLES * BUCKETS);
}

/* The paper lets the only key of a bucket have all of its bits; from a hash it has fewer. And two
 * keys can have the same hash, which matters at such small rates. */
static double library_rate_at(const dlbf_subject *subject, double part) {
    double rate = rate_at(subject, part) + keys_at(subject, part) * exp2(-64);
    fluid  law;
    dlbf_law(part * subject->load, &law);
    for (unsigned load = 1; load <= 3; load++) {
        double const more = exp2(-LONGEST) - exp2(-(double)dlbf_length(subject->layout, load));
        rate += DLBF_PAPER_TABLES * dlbf_share(&law, load) * load * fmax(more, 0);
    }
    return rate;
}

/* The share of the rate that semi-sorting saves. */
static double saved_at(const dlbf_subject *subject, double part) {
    bucket_layout const plain = { .bits = subject->layout->bits };
    fluid               law;
    dlbf_law(part * subject->load, &law);
    return 1 - rate_at(subject, part) / dlbf_rate(&plain, &law);
}

static lab_measured measure(lab_run *run, const dlbf_subject *subject, double part) {
    double const   keys = keys_at(subject, part);
    uint64_t const n = run->is_full ? 400 : 24;
    if (!sets_have("dlbf")) return (lab_measured){ 0 };
    dlbf_kind_config const config = { DLBF_PAPER_TABLES, BUCKETS, 1, (uint64_t)keys,
                                      subject->layout };
    const char *const      stream = lab_text(run, "%s.%.2f", subject->layout->name, part);
    lab_sample const       own = dlbf_kind_own_rate(run, stream, &config, n);
    return lab_sample_mean(&own, 0);
}

static void record_part(lab_run *run, const dlbf_subject *subject, double part) {
    lab_measured const measured = measure(run, subject, part);
    lab_record(
        run,
        &(lab_row){ .name = lab_text(run, "%s.%.2f", subject->layout->name, part),
                    .label = lab_text(run, "false positives at %.0f%% of the load", 100 * part),
                    .place = lab_text(run, "Allerton 2006, section II.E: %s", subject->label),
                    .exact = library_rate_at(subject, part),
                    .measured = measured,
                    LAB_WITHIN_4_SIGMA,
                    .remark = lab_text(run, "A Bloom filter has %.3g. Semi-sorting saves %.0f%%.",
                                       bloom_at(subject, part), 100 * saved_at(subject, part)) });
    if (measured.trials == 0) return;
    lab_draw_measured(run,
                      &(lab_point){ "underloaded",
                                    lab_text(run, "d-left, %.0f bits per key", bits_of(subject)),
                                    part, measured.value },
                      measured.sigma_trials);
}

static void draw(lab_run *run, const dlbf_subject *subject) {
    for (double part = 0.2; part < 1.005; part += 0.02) {
        lab_draw(run, &(lab_point){ "underloaded",
                                    lab_text(run, "d-left, %.0f bits per key", bits_of(subject)),
                                    part, rate_at(subject, part) });
        lab_draw(run, &(lab_point){ "underloaded",
                                    lab_text(run, "Bloom, %.0f bits per key", bits_of(subject)),
                                    part, bloom_at(subject, part) });
    }
}

void dlbf_underloaded_run(lab_run *run) {
    lab_describe(run, &(lab_figure){ .name = "underloaded",
                                     .title = "False positives while filters fill up",
                                     .x = "part of the keys that they are made for",
                                     .y = "false-positive rate",
                                     .is_log_y = true,
                                     .remark = "Lines by theory, dots measured." });
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        draw(run, &subjects[i]);
        for (unsigned quarter = 1; quarter <= 4; quarter++) {
            record_part(run, &subjects[i], quarter / 4.0);
        }
    }
}
