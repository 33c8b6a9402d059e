/* baselines.c - fingerprints in other tables, by arithmetic; and the list of these experiments.
 *
 * A perfect hash and log2(1/fpr) bits for each key are the best that a set of fingerprints can do:
 * the floor in all figures. ICNP 2008, section II, begins with how much more chains with pointers
 * and d-left hashing need.
 */
#include "baselines.h"

#include "allerton2006/dlbf.h"
#include "icnp2008/rank.h"

#include <math.h>

#define II_A "ICNP 2008, section II.A"
#define II_B "ICNP 2008, section II.B"
#define ELEMENTS 1e6 /* of its example */

/* ------------------------------------------------------------------ ICNP 2008, section II */

typedef struct baseline {
    const char *name, *label, *place, *published;
    double      exact;
} baseline;

void baselines_fingerprints(lab_run *run) {
    double const   ideal = 7, fpr = exp2(-ideal), pointer = ceil(log2(ELEMENTS));
    double const   dleft = ceil(log2(24 / fpr)), d = 4, cells = 8, load = 6;
    baseline const rows[] = {
        { "bloom.rate", "Bloom filter of 10 bits, k = 7: rate", II_A, "0.008",
          pow(-expm1(-7 / 10.0), 7) },
        { "bloom.factor", "Bloom filter: bits, times log2(1/fpr)", II_A, "1.44", 1 / M_LN2 },
        { "counting.bits", "counting, 4 bits each: bits per key", II_A, "40", 4 * 10 },
        { "perfect", "perfect hash for 2^-7: bits per key", II_B, "7", ideal },
        { "pointer", "bits of a pointer, a million keys", II_B, "20", pointer },
        { "pointers", "bits of both pointers, doubly linked", II_B, "40", 2 * pointer },
        { "pointers.ratio", "doubly linked, times the perfect hash", II_B, "<7",
          (ideal + 2 * pointer) / ideal },
        { "dleft.read", "d-left: fingerprints to read", II_B, "32", d * cells },
        { "dleft.met", "d-left: fingerprints to match", II_B, "24", d * load },
        { "dleft.print", "d-left: bits of a fingerprint", II_B, "12", dleft },
        { "dleft.more", "bits more than the perfect hash's", II_B, "5", dleft - ideal },
        { "dleft.bits", "d-left: bits per key", II_B, "16", cells / load * dleft },
        { "dleft.ratio", "d-left, times the perfect hash", II_B, ">2",
          cells / load * dleft / ideal },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lab_record(run, &(lab_row){ .name = rows[i].name,
                                    .label = rows[i].label,
                                    .place = rows[i].place,
                                    .published = rows[i].published,
                                    .exact = rows[i].exact,
                                    .rule = LAB_EQUAL,
                                    .reason = "arithmetic" });
    }
}

/* ------------------------------------------------------------------ experiments */

const lab_experiment lab_baselines[] = {
    { .id = "baselines.fingerprints",
      .title = "fingerprints behind a perfect hash, in chains, and in d-left tables",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, section II",
      .run = baselines_fingerprints },
    { .id = "bloom.compressed",
      .title = "compressed Bloom filters, by entropy and by a coder",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, sections II.A and V, and its reference 11",
      .run = bloom_compressed },
    { .id = "baselines.cuckoo",
      .title = "cuckoo hashing for keys that are known beforehand",
      .paper = DLBF_PAPER,
      .place = "Allerton 2006, section II.D",
      .run = baselines_cuckoo },
    { .id = NULL },
};
