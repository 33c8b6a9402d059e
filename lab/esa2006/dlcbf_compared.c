/* dlcbf_compared.c - section 4: a comparison with the counting Bloom filter, by arithmetic.
 *
 * With r bits of remainder and 2 of counter, 6 keys in 8 cells: 24 x 2^-r bounds the rate, and a
 * key takes 4/3 (r + 2) bits. A counting Bloom filter of c counters of 4 bits has (2^-ln 2)^c.
 */
#include "dlcbf.h"

#include <math.h>

static double dleft_rate(double r) {
    return 24 * exp2(-r);
}

static double dleft_bits(double r) {
    return 4.0 / 3 * (r + 2);
}

/* The same as a function of the rate. */
static double dleft_bits_for(double rate) {
    return (4 * log2(1 / rate) + 20 + 4 * log2(3)) / 3;
}

/* With the best number of hashes, whole or not; and with k. */
static double cbf_ideal_rate(double counters) {
    return exp2(-log(2) * counters);
}

static double cbf_rate(double counters, double k) {
    return pow(-expm1(-k / counters), k);
}

static void record(lab_run *run, const char *name, const char *label, const char *published,
                   double exact) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .published = published,
                                .exact = exact,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
}

/* Two formulas for the same number. */
static void record_identities(lab_run *run) {
    double const rate = dleft_rate(DLCBF_PAPER_BITS);
    lab_record(run, &(lab_row){ .name = "bits",
                                .label = "bits per key: by r, and by the rate",
                                .exact = dleft_bits(DLCBF_PAPER_BITS),
                                .measured = lab_computed(dleft_bits_for(rate)),
                                .rule = LAB_EQUAL,
                                .reason = "an identity" });
    lab_record(
        run, &(lab_row){ .name = "bits.all",
                         .label = "bits in all: 4 m (r + 2) / 3, and 2^20",
                         .exact = ldexp(1, 20),
                         .measured = lab_computed(DLCBF_PAPER_KEYS * dleft_bits(DLCBF_PAPER_BITS)),
                         .rule = LAB_EQUAL,
                         .reason = "an identity" });
}

/* The smallest r for which the d-left filter is better at the same size. */
static double first_better(void) {
    double r = 40;
    while (r > 5 && cbf_ideal_rate((r - 1 + 2) / 3) > dleft_rate(r - 1)) r--;
    return r;
}

static void record_ratio(lab_run *run) {
    double const c = 16.0 / 3, rate = dleft_rate(DLCBF_PAPER_BITS);
    lab_record(run, &(lab_row){ .name = "ratio",
                                .label = "times fewer false positives, r = 14",
                                .published = ">100",
                                .exact = cbf_ideal_rate(c) / rate,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .flaw = "The factor is not over 100.",
                                .remark = lab_text(run,
                                                   "With whole numbers of hashes: %.1f for "
                                                   "3, %.1f for 4.",
                                                   cbf_rate(c, 3) / rate, cbf_rate(c, 4) / rate) });
}

void dlcbf_compared(lab_run *run) {
    record_identities(run);
    record(run, "better", "smallest r for which dlCBF is better", "7", first_better());
    record_ratio(run);
    record(run, "cbf.9", "CBF of 9 counters, k = 6: rate", "0.01327", cbf_rate(9, 6));
    record(run, "dlcbf.11", "dlCBF of 11 bits: bound of the rate", "0.01172", dleft_rate(11));
    record(run, "dlcbf.11.bits", "its bits per key, 52/3", NULL, dleft_bits(11));
    record(run, "half", "its bits as a share of the CBF's 36", "<0.5", dleft_bits(11) / 36);
    record(run, "bloom.1%", "bits per key of a Bloom filter for 1%", "<10", log2(100) / log(2));
}
