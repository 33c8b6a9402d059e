/* rank_example.c - Figure 3: the seven fingerprints of one bucket, in a table of the library.
 *
 * The bucket has L = 8 chains and Z = 12 cells. Chain 7 has three fingerprints; the example looks
 * up the last of them. Before chain 7, one chain has two fingerprints and another one has one;
 * after it, chain 8 has one. The paper shows these chains only in a drawing: here they are 2 and 4.
 *
 *     base index I0      0 1 0 1 0 0 1 1
 *     higher index       I1 = 0 1 1 0     I2 = 0 1     I3 = 0
 *     cells              A1 = a b d g     A2 = c e     A3 = f
 *
 * The table gets hashes that select exactly these chains and remainders. The result is read from
 * its body.
 */
#include "rank.h"

#include "core/bits.h"
#include "core/field.h"
#include "frame/sets.h"
#include "handle.h"
#include "kinds/rank/size.h"

#include <stdlib.h>

#define CHAINS 8
#define CELLS 12
#define BITS 7
#define ASKED 7 /* the chain that is followed, counted from 1 */

typedef struct stored {
    unsigned    chain; /* from 1 */
    const char *bits;
} stored;

static const stored prints[] = { { 2, "0101111" }, { 4, "0011001" }, { 4, "1001111" },
                                 { 7, "1011110" }, { 7, "0001000" }, { 7, "1010101" },
                                 { 8, "0101001" } };

#define PRINTS (sizeof prints / sizeof prints[0])

/* ------------------------------------------------------------------ computed by counting */

static unsigned length_of(unsigned chain) {
    unsigned length = 0;
    for (size_t i = 0; i < PRINTS; i++) length += prints[i].chain == chain;
    return length;
}

/* Chains up to this one that have a fingerprint on the level, from 1: the size of the level, and
 * the place of a chain in it. */
static double level_rank(unsigned level, unsigned upto) {
    double rank = 0;
    for (unsigned chain = 1; chain <= upto; chain++) rank += length_of(chain) >= level;
    return rank;
}

/* ------------------------------------------------------------------ read from a body */

static tamis_set *make_bucket(void) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    lab_random random = { 1 };
    tamis_set *set;
    spec.capacity = 1;
    spec.kind = "rank";
    spec.geometry = "buckets=1,chains=8,remainder_bits=7,cells=12,cells2=0,cells3=0,extensions2=0,"
                    "extensions3=0,counter_bits=0,copies=1,aligned=0";
    set = sets_make(&spec, &random);
    for (size_t i = 0; i < PRINTS; i++) {
        uint64_t const hash = (uint64_t)(prints[i].chain - 1) << 61 |
                              (uint64_t)strtoull(prints[i].bits, NULL, 2) << (61 - BITS);
        if (set->kind->calls.add(&set->table, hash) != TAMIS_OK) lab_die("an add was refused");
    }
    return set;
}

/* A level of the index, and where it begins among the cells. */
typedef struct level {
    uint64_t bits;
    unsigned start, size;
} level;

static level base_of(const tamis_set *set) {
    return (level){ field_get(set->table.body, 0, CHAINS), 0, CHAINS };
}

static level next_level(const tamis_set *set, const level *above, unsigned start) {
    unsigned const size = bits_popcount(above->bits);
    return (level){ field_get(set->table.body, CHAINS + start, size), start, size };
}

/* rank(I, i), inclusive and from 1. */
static unsigned rank_in(const level *index, unsigned i) {
    return bits_popcount(index->bits & bits_low(i));
}

/* Seven bits as a decimal number with these digits, as the paper prints them. */
static double as_printed(uint64_t bits) {
    double digits = 0;
    for (unsigned i = BITS; i-- > 0;) digits = 10 * digits + (double)(bits >> i & 1);
    return digits;
}

/* ------------------------------------------------------------------ rows */

static void record(lab_run *run, const char *name, const char *label, const char *published,
                   double exact, double measured) {
    lab_record(run, &(lab_row){
                        .name = name,
                        .label = label,
                        .published = published,
                        .exact = exact,
                        .measured = lab_computed(measured),
                        .rule = LAB_EQUAL,
                        .reason = "counted; the measured column is read from the library's body" });
}

void rank_example(lab_run *run) {
    static const char *const sizes[] = { "4", "2", "1" }, *const ranks[] = { "3", "2", "1" };
    if (!sets_have("rank")) return;
    tamis_set *const set = make_bucket();
    level            at = base_of(set);
    unsigned         place = ASKED, start = 0;
    for (unsigned i = 0; i < 3; i++) {
        unsigned const before = place;
        place = rank_in(&at, place);
        record(run, lab_text(run, "rank.%u", i), lab_text(run, "rank(I%u, %u)", i, before),
               ranks[i], level_rank(i + 1, ASKED), place);
        at = next_level(set, &at, start);
        start += at.size;
        record(run, lab_text(run, "size.%u", i + 1),
               lab_text(run, "bits of I%u, cells of A%u", i + 1, i + 1), sizes[i],
               level_rank(i + 1, CHAINS), at.size);
    }
    uint64_t const cell =
        field_get(set->table.body, CHAINS + CELLS + (uint64_t)(at.start + place - 1) * BITS, BITS);
    record(run, "found", "A3[1], in binary", "1010101",
           as_printed(strtoull(prints[5].bits, NULL, 2)), as_printed(cell));
    record(run, "end", "I3[1]: the chain has ended", "0", length_of(ASKED) > 3,
           (double)(at.bits & 1));
    record(run, "index", "bits of the index, L + Z", "20", CHAINS + CELLS,
           (double)rank_record_bits(set->table.geometry, 1) - CELLS * BITS);
    tamis_free(set);
}
