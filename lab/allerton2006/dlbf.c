/* dlbf.c - d-left Bloom filters and their counting variant: codes, the comparison with
 * Bloom filters, and the list of experiments. */
#include "dlbf.h"

#include <math.h>

/* ------------------------------------------------------------------ codes */

static void record_codes(lab_run *run, const char *name, const char *label, const char *published,
                         double exact, const char *flaw, const char *remark) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .published = published,
                                .exact = exact,
                                .rule = LAB_EQUAL,
                                .reason = "counted",
                                .flaw = flaw,
                                .remark = remark });
}

/* Bits for load and zeros of all loads up to k, right and as printed. */
static double code_bits(unsigned k) {
    bucket_layout const all = { .bits = 120, .one = { 1, k } };
    return ceil(log2(dlbf_codes(&all, k)));
}

static double printed_code_bits(double k) {
    return ceil(log2(k * (k + 1) / 2));
}

static const char *wrong_loads(lab_run *run) {
    const char *list = "";
    for (unsigned k = 1; k <= 11; k++) {
        if (code_bits(k) != printed_code_bits(k)) list = lab_text(run, "%s %u", list, k);
    }
    return lab_text(run, "Wrong for k =%s of 1 to 11; there are (k + 1)(k + 2) / 2 codes.", list);
}

/* Codes of the ddlCBF: the highest load of a bucket so far, its load now, and how many cells begin
 * with 0. */
static double peak_codes(unsigned most) {
    double codes = 0;
    for (unsigned peak = 0; peak <= most; peak++) {
        for (unsigned load = 0; load <= peak; load++) codes += load + 1;
    }
    return codes;
}

void dlbf_codes_run(lab_run *run) {
    record_codes(run, "64", "codes: loads up to 6, zeros of 4 and 5", "16",
                 dlbf_codes(&dlbf_sorted64, 6), NULL, "Just enough; a load of 7 has no code.");
    record_codes(run, "formula.7", "bits for loads up to 7, with zeros", "5", code_bits(7),
                 "k (k + 1) / 2 leaves out the empty bucket.", wrong_loads(run));
    record_codes(run, "128", "codes: loads up to 10, 6 and 7 by two", NULL,
                 dlbf_codes(&dlbf_two128, 10), NULL,
                 lab_text(run,
                          "The paper goes to 11, which makes %.0f of 256; a full bucket of 11 "
                          "has bits to spare for its zeros.",
                          dlbf_codes(&dlbf_two128, 11)));
    record_codes(run, "128.78", "codes: loads up to 8, 7 and 8 by two", "256",
                 dlbf_codes(&dlbf_two128_78, 8), "Loads up to 8 alone need more than 8 bits.",
                 "\"With some care\" must mean the bit that a load of 7 leaves of its 120.");
    record_codes(run, "ddlcbf", "codes for (peak, load, zeros), up to 8", NULL, peak_codes(8), NULL,
                 "Fits into 8 bits.");
}

/* ------------------------------------------------------------------ compared with Bloom filters */

static void record_beside(lab_run *run, const char *name, const char *label, const char *place,
                          const char *published, double exact, const char *remark) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .place = place,
                                .published = published,
                                .exact = exact,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = remark });
}

/* The rate of a Bloom filter with k hashes. */
static double bloom_rate(double bits, double k) {
    return pow(-expm1(-k / bits), k);
}

void dlbf_compared_run(lab_run *run) {
    static const char a[] = "Allerton 2006, section II.A", b[] = "Allerton 2006, section II.B";
    fluid             law;
    dlbf_law(4, &law);
    double const plain = dlbf_rate(&dlbf_plain64, &law);
    dlbf_law(6.4, &law);
    double const two = dlbf_rate(&dlbf_two128, &law), needed = log2(1 / two) / log(2);
    record_beside(run, "fixed.exponent", "fixed length f: a Bloom filter has 2^-xf", a, "1.04",
                  1.5 * log(2), NULL);
    record_beside(run, "fixed.crossover", "f above which 12 x 2^-f is below that", a, NULL,
                  log2(12) / (1.5 * log(2) - 1),
                  "\"Unreasonably large\", the paper says, \"say f >= 50\".");
    record_beside(run, "64.worse", "64 bits, plain: rate / Bloom filter's", a, "2",
                  plain / bloom_rate(16, 11), NULL);
    record_beside(run, "128.better", "128 bits, by two: Bloom filter's / rate", b, "<3",
                  bloom_rate(20, 14) / two, NULL);
    record_beside(run, "128.saved", "share of a Bloom filter's bits saved", b, "0.1",
                  1 - 20 / needed, NULL);
}

/* ------------------------------------------------------------------ experiments */

const lab_experiment lab_dlbf_allerton2006[] = {
    { .id = "dlbf.loads",
      .title = "how full buckets are: 3 subtables, 4 and 6.4 keys per bucket",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, Tables I and II",
      .run = dlbf_loads_run },
    { .id = "dlbf.codes",
      .title = "how many codes a bucket needs",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, sections II.B and III.A",
      .run = dlbf_codes_run },
    { .id = "dlbf.rates",
      .title = "false positives of d-left Bloom filters",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, sections II.A to II.C",
      .run = dlbf_rates_run },
    { .id = "dlbf.compared",
      .title = "d-left compared with standard Bloom filters",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, sections II.A and II.B",
      .run = dlbf_compared_run },
    { .id = "dlbf.tables",
      .title = "two, three or four subtables",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section II.B",
      .run = dlbf_tables_run },
    { .id = "dlbf.even",
      .title = "from how many bits per key on they are better than Bloom filters",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, abstract and section II.B",
      .run = dlbf_even_run },
    { .id = "dlbf.groups",
      .title = "two groups of four buckets, as examples",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section II.C",
      .run = dlbf_groups_run },
    { .id = "dlbf.offline",
      .title = "keys placed again ten times: 2 subtables of 4096 buckets",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section II.D",
      .run = dlbf_offline_run },
    { .id = "dlbf.underloaded",
      .title = "filters that are not full yet",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section II.E",
      .run = dlbf_underloaded_run },
    { .id = "ddlcbf.peaks",
      .title = "the counting variant: 4 x 2048 buckets of 120 bits, 49152 keys, 2^20 steps",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section III.C",
      .run = ddlcbf_peaks_run },
    { .id = "dlbf.kind",
      .title = "the same filters, made by the library",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section II",
      .run = dlbf_kind_run },
    { .id = "dlbf.balanced",
      .title = "keys that come together, placed again ten times by the library",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section II.D",
      .run = dlbf_balanced_run },
    { .id = "ddlcbf.kind",
      .title = "the counting variant, made by the library",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section III.C",
      .run = ddlcbf_kind_run },
    { .id = NULL },
};
