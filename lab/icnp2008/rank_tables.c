/* rank_tables.c - Tables III, IV and V: bits per key compared with Bloom filters and d-left
 * hashing, in memory and when sent.
 *
 * The paper compares at the real rate of its tables, lambda / 2^r, and not at their target rate.
 * The percentages were computed before the parameters were rounded for print. If the printed
 * parameters do not give a printed percentage, the flaw names the lambdas that do; some of them
 * round to the printed lambda.
 */
#include "frame/sets.h"
#include "frame/theory.h"
#include "rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_BITS 2
#define COPIES 4
#define CBF_BITS 4 /* of a counter of the standard counting filter */

/* ------------------------------------------------------------------ percentages */

typedef struct contest {
    unsigned counter_bits;
    bool     is_dleft; /* compared with d-left hashing; else with Bloom filters */
} contest;

/* By how many percent the table is larger than the other construction, with this lambda. */
static double percent_over(const rank_print *print, const contest *with, double lambda) {
    rank_print at = *print;
    at.lambda = lambda;
    rank_table const table = rank_as_printed(&at, with->counter_bits);
    double const     rate = rank_print_rate(&at), fold = with->counter_bits != 0 ? CBF_BITS : 1;
    double const     other =
        with->is_dleft ? dleft_bits(rate, with->counter_bits) : fold * bloom_ideal_bits(rate);
    return 100 * (rank_paper_bits(&table) / RANK_KEYS / other - 1);
}

/* The lambda that gives a percentage: a larger one makes smaller tables. */
static double lambda_for(const rank_print *print, const contest *with, double percent) {
    double low = print->lambda * 0.9, high = print->lambda * 1.1;
    for (unsigned i = 0; i < 60; i++) {
        double const middle = (low + high) / 2;
        if (percent_over(print, with, middle) > percent)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void record_percent(lab_run *run, const rank_print *print, const contest *with,
                           const char *name, const char *published, bool is_off) {
    double const value = strtod(published, NULL), half = strchr(published, '.') ? 0.05 : 0.5;
    double const low = lambda_for(print, with, value + half);
    double const high = lambda_for(print, with, value - half);
    lab_record(
        run,
        &(lab_row){ .name = lab_text(run, "%s.%s", print->name, name),
                    .label = with->is_dleft ? "rank against d-left, %" : "rank against standard, %",
                    .place = print->label,
                    .published = published,
                    .exact = percent_over(print, with, print->lambda),
                    .rule = LAB_EQUAL,
                    .reason = "arithmetic",
                    .flaw = is_off ? lab_text(run,
                                              "Not with the parameters as they are printed; a "
                                              "lambda of %.4f to %.4f gives it.",
                                              low, high)
                                   : NULL });
}

/* ------------------------------------------------------------------ Tables III and IV */

/* The size of the library's filter of another kind at this rate. */
static double library_bits(const char *kind, double rate, const char *geometry) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = RANK_KEYS;
    spec.fpr = rate;
    spec.lifetime = RANK_KEYS;
    spec.kind = kind;
    spec.geometry = geometry;
    return rank_plan_of(&spec).bits_per_key;
}

static void record_standard(lab_run *run, const rank_print *print, bool is_counting) {
    double const rate = rank_print_rate(print);
    double const bits = library_bits(is_counting ? "counting" : "bloom", rate,
                                     is_counting ? "counter_bits=4" : "blocked=0");
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s%s.standard", print->name,
                                            is_counting ? ".counting" : ""),
                           .label = is_counting ? "counting Bloom filter, bits per key"
                                                : "Bloom filter, bits per key",
                           .place = print->label,
                           .published = is_counting ? print->counting_standard : print->standard,
                           .exact = (is_counting ? CBF_BITS : 1) * bloom_ideal_bits(rate),
                           .measured = lab_computed(bits),
                           .rule = LAB_RELATIVE,
                           .tolerance = 0.01,
                           .reason = "a real filter has a whole number of hashes" });
}

static void record_dleft(lab_run *run, const rank_print *print, bool is_counting, bool is_off) {
    lab_record(run,
               &(lab_row){
                   .name = lab_text(run, "%s%s.dleft", print->name, is_counting ? ".counting" : ""),
                   .label = is_counting ? "d-left counting filter, bits per key"
                                        : "d-left hashing, bits per key",
                   .place = print->label,
                   .published = is_counting ? print->counting_dleft : print->dleft,
                   .exact = dleft_bits(rank_print_rate(print), is_counting ? COUNTER_BITS : 0),
                   .rule = LAB_EQUAL,
                   .reason = "arithmetic",
                   .flaw = is_off ? "4/3 log2(24 / fpr) is larger, and the percentage beside "
                                    "it fits this larger value: a misprint."
                                  : NULL });
}

static void record_rank(lab_run *run, const rank_print *print, bool is_counting) {
    unsigned const   counter = is_counting ? COUNTER_BITS : 0;
    rank_table const table = rank_as_printed(print, counter), built = rank_as_built(print, counter);
    char             geometry[RANK_GEOMETRY_BYTES];
    tamis_spec const spec =
        rank_spec(&built, counter, is_counting ? COPIES : 1, RANK_KEYS, geometry);
    lab_record(
        run,
        &(lab_row){ .name = lab_text(run, "%s%s.rank", print->name, is_counting ? ".counting" : ""),
                    .label = is_counting ? "rank counting, bits per key" : "rank, bits per key",
                    .place = print->label,
                    .published = is_counting ? print->counting_bits : print->bits,
                    .exact = rank_paper_bits(&table) / RANK_KEYS,
                    .measured = lab_computed(rank_plan_of(&spec).bits_per_key),
                    .rule = LAB_AT_MOST,
                    .reason = "the library's pointers have no flag bit" });
}

/* ------------------------------------------------------------------ filled and emptied */

typedef struct counting_outcome {
    uint64_t hits, refused, left;
} counting_outcome;

#define QUERIES 1000000

static void counting_trial(const void *given, lab_random *random, void *ret_outcome) {
    const rank_table       *table = given;
    counting_outcome *const outcome = ret_outcome;
    char                    geometry[RANK_GEOMETRY_BYTES];
    tamis_spec const        spec = rank_spec(table, COUNTER_BITS, COPIES, RANK_KEYS, geometry);
    tamis_set *const        set = sets_make(&spec, random);
    key_source const        keys = keys_of(random);
    tamis_info              info;
    sets_fill(set, &keys, 0, RANK_KEYS);
    outcome->hits = sets_count(set, &keys, RANK_KEYS, QUERIES);
    for (uint64_t i = 0; i < RANK_KEYS; i++) {
        uint8_t key[KEY_BYTES];
        key_write(&keys, i, key);
        outcome->refused += tamis_remove(set, key, KEY_BYTES) != TAMIS_OK;
    }
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a table cannot be inspected");
    outcome->left = info.facts.keys + rank_extensions_used(set, 2) + rank_extensions_used(set, 3);
    tamis_free(set);
}

static void record_emptied(lab_run *run, const rank_print *print) {
    rank_table const        built = rank_as_built(print, COUNTER_BITS);
    lab_series const        series = { .stream = print->name,
                                       .n = run->is_full ? 200 : 3,
                                       .trial = counting_trial,
                                       .given = &built,
                                       .outcome_bytes = sizeof(counting_outcome) };
    counting_outcome *const outcomes = lab_trials(run, &series);
    double const            rate = rank_table_rate(&built, RANK_KEYS);
    lab_sample              asked = { 0 };
    uint64_t                wrong = 0;
    for (uint64_t i = 0; i < series.n; i++) {
        lab_sample_add(&asked, (double)outcomes[i].hits / QUERIES);
        wrong += outcomes[i].refused + outcomes[i].left;
    }
    free(outcomes);
    double const sigma = theory_rate_sigma(rate, 0, (double)series.n, QUERIES);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.counting.fpr", print->name),
                                .label = "false positives of the counting table",
                                .place = print->label,
                                .exact = rate,
                                .measured = lab_sample_mean(&asked, sigma),
                                LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.counting.left", print->name),
                                .label = "keys left when all are removed",
                                .place = print->label,
                                .exact = 0,
                                .measured = { (double)wrong, series.n, 0, 0 },
                                .rule = LAB_EQUAL,
                                .reason = "a law: what was added can be removed, and leaves "
                                          "nothing" });
}

void rank_compared(lab_run *run) {
    static const contest standard = { 0, false }, dleft = { 0, true };
    static const contest cbf = { COUNTER_BITS, false }, dlcbf = { COUNTER_BITS, true };
    for (unsigned i = 0; i < RANK_PRINTS; i++) {
        const rank_print *print = &rank_prints[i];
        record_standard(run, print, false);
        record_dleft(run, print, false, i != 0);
        record_rank(run, print, false);
        record_percent(run, print, &standard, "over.standard", print->over_standard, i != 0);
        record_percent(run, print, &dleft, "over.dleft", print->over_dleft, i != 0);
        record_standard(run, print, true);
        record_dleft(run, print, true, false);
        record_rank(run, print, true);
        record_percent(run, print, &cbf, "counting.over.standard", print->counting_over_standard,
                       false);
        record_percent(run, print, &dlcbf, "counting.over.dleft", print->counting_over_dleft,
                       i != 2);
        record_emptied(run, print);
    }
}

/* ------------------------------------------------------------------ Table V */

static double packed_bits(const rank_print *print) {
    return 1 / print->lambda + print->remainder_bits + 1;
}

static bool count_bytes(void *context, const void *bytes, size_t n) {
    (void)bytes;
    *(uint64_t *)context += n;
    return true;
}

typedef struct stream_given {
    const rank_print *print;
    bool              is_counting;
} stream_given;

/* Bits per key of a real stream, with its header. */
static void stream_trial(const void *given, lab_random *random, void *ret_outcome) {
    const stream_given *config = given;
    unsigned const      counter = config->is_counting ? COUNTER_BITS : 0;
    rank_table const    table = rank_as_built(config->print, counter);
    char                geometry[RANK_GEOMETRY_BYTES];
    uint64_t            bytes = 0;
    tamis_spec const    spec =
        rank_spec(&table, counter, config->is_counting ? COPIES : 1, RANK_KEYS, geometry);
    tamis_set *const set = sets_make(&spec, random);
    key_source const keys = keys_of(random);
    sets_fill(set, &keys, 0, RANK_KEYS);
    unsigned const flags = config->is_counting ? TAMIS_SEND_COPIES : 0;
    if (tamis_send(set, flags, count_bytes, &bytes) != TAMIS_OK) lab_die("a table cannot be sent");
    *(double *)ret_outcome = 8 * (double)bytes / RANK_KEYS;
    tamis_free(set);
}

static void record_stream(lab_run *run, const rank_print *print, bool is_counting) {
    stream_given const given = { print, is_counting };
    lab_series const   series = { .stream = lab_text(run, "%s.%d", print->name, is_counting),
                                  .n = run->is_full ? 20 : 2,
                                  .trial = stream_trial,
                                  .given = &given,
                                  .outcome_bytes = sizeof(double) };
    double *const      outcomes = lab_trials(run, &series);
    lab_sample         bits = { 0 };
    for (uint64_t i = 0; i < series.n; i++) lab_sample_add(&bits, outcomes[i]);
    free(outcomes);
    lab_record(
        run,
        &(lab_row){
            .name = lab_text(run, "%s.%s", print->name, is_counting ? "counting.packed" : "packed"),
            .label = is_counting ? "sent with copies, bits per key" : "sent, bits per key",
            .place = print->label,
            .published = is_counting ? NULL : print->packed,
            .exact = packed_bits(print) + is_counting,
            .measured = lab_sample_mean(&bits, 0),
            .rule = LAB_RELATIVE,
            .tolerance = 0.01,
            .reason = "a header comes on top, and equal fingerprints are sent once",
            .remark = is_counting ? "One bit more says that there is one copy." : NULL });
}

static void record_ratio(lab_run *run, const rank_print *print, const char *name, double bits,
                         const char *published, const char *flaw) {
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.%s", print->name, name),
                                .label = "of the Bloom filter's bits, %",
                                .place = print->label,
                                .published = published,
                                .exact = 100 * bits / bloom_ideal_bits(rank_print_rate(print)),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .flaw = flaw });
}

/* The Bloom filter that compresses to the same size. A hundredth of a bit matters, and so does the
 * rate: no reading gives all that is printed. */
static void record_uncompressed(lab_run *run, const rank_print *print, const char *name,
                                double bits, const char *published, bool is_off) {
    double const rate = rank_print_rate(print), rounded = round(10 * bits) / 10;
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.%s", print->name, name),
                           .label = "bits per key of a Bloom filter for that",
                           .place = print->label,
                           .published = published,
                           .exact = bloom_uncompressed_bits(rate, bits),
                           .rule = LAB_EQUAL,
                           .reason = "the entropy equation, solved",
                           .flaw = is_off ? "It depends on the fourth digit of the size sent, and "
                                            "on which rate is meant; see the other readings."
                                          : NULL,
                           .remark = lab_text(
                               run,
                               "For the nominal rate %.4g; with the size as printed, %.4g bits, "
                               "%.4g, and both %.4g.",
                               bloom_uncompressed_bits(print->fpr, bits), rounded,
                               bloom_uncompressed_bits(rate, rounded),
                               bloom_uncompressed_bits(print->fpr, rounded)) });
}

static void record_packed_dleft(lab_run *run, const rank_print *print) {
    double const bits = dleft_packed_bits(rank_print_rate(print));
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.dleft", print->name),
                                .label = "d-left hashing, sent, bits per key",
                                .place = print->label,
                                .published = print->packed_dleft,
                                .exact = bits,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = "log2(24 / fpr) and a count of 3 bits for the 6 keys of "
                                          "a bucket: the paper does not say, but this fits." });
    record_ratio(run, print, "dleft.ratio", bits, print->packed_dleft_ratio, NULL);
    if (print->packed_dleft_bloom == NULL) return;
    record_uncompressed(run, print, "dleft.bloom", bits, print->packed_dleft_bloom, false);
}

void rank_trimmed(lab_run *run) {
    for (unsigned i = 0; i < RANK_PRINTS; i++) {
        const rank_print *print = &rank_prints[i];
        double const      bits = packed_bits(print);
        record_stream(run, print, false);
        record_ratio(run, print, "ratio", bits, print->packed_ratio,
                     i == 2 ? "79.5, cut off and not rounded." : NULL);
        record_uncompressed(run, print, "bloom", bits, print->packed_bloom, true);
        record_stream(run, print, true);
        record_packed_dleft(run, print);
    }
}
