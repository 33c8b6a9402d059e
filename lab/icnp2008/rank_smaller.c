/* rank_smaller.c - Table II again: how its tables spend their bits, which overflow probability they
 * are made for, and how much smaller they could be if fewer of their parameters are fixed. */
#include "rank.h"

#include "kinds/rank/size.h"

#include <math.h>

/* ------------------------------------------------------------------ how the bits are used */

static void record_computed(lab_run *run, const rank_print *print, const char *name,
                            const char *label, double exact, const char *remark) {
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.%s", print->name, name),
                                .label = label,
                                .place = print->label,
                                .exact = exact,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = remark });
}

/* All bits except the cells, the bit beside each cell, and the base index. */
static double extension_bits(const rank_table *table) {
    double const cells = table->buckets * table->cells[0] + table->pool[0] * table->cells[1] +
                         table->pool[1] * table->cells[2];
    return rank_paper_bits(table) - cells * (table->cell_bits + 1) - table->buckets * table->chains;
}

static double cells_of(const rank_table *table) {
    return table->buckets * table->cells[0] + table->pool[0] * table->cells[1] +
           table->pool[1] * table->cells[2];
}

static void record_spent(lab_run *run, const rank_print *print) {
    rank_table const table = rank_as_printed(print, 0);
    record_computed(run, print, "cells", "cells per key", cells_of(&table) / RANK_KEYS, NULL);
    record_computed(run, print, "pointers", "bits per key for pointers and flags",
                    extension_bits(&table) / RANK_KEYS, NULL);
}

/* ------------------------------------------------------------------ for which overflow */

static void record_beyond(lab_run *run, const rank_print *print) {
    rank_table const table = rank_as_built(print, 0);
    double const     all = table.cells[0] + table.cells[1] + table.cells[2];
    double const     beyond = tamis_rank_bucket_overflow(table.buckets, RANK_KEYS, RANK_KEYS, all);
    double const less = tamis_rank_bucket_overflow(table.buckets, RANK_KEYS, RANK_KEYS, all - 1);
    record_computed(run, print, "beyond", "P[a bucket needs more than three parts]", beyond,
                    "It is just below 1e-12, and with one cell less it would be above: the tables "
                    "were dimensioned for 1e-12, and not for the stated 1e-10.");
    record_computed(run, print, "beyond.less", "the same with Z3 one less", less, NULL);
}

/* ------------------------------------------------------------------ how much smaller */

static rank_wish wish_for(const rank_print *print) {
    return (rank_wish){ .n = RANK_KEYS,
                        .fpr = print->fpr,
                        .lifetime = RANK_KEYS,
                        .overflow = RANK_OVERFLOW,
                        .copies = 1,
                        .is_paper = true,
                        .remainder_bits = (unsigned)print->remainder_bits };
}

static const char *describe(lab_run *run, const rank_table *best, const char *printed) {
    return lab_text(run,
                    "The paper prints %s. lambda = %.3f, L = %.0f, B = %.0f, Z = %.0f %.0f %.0f, "
                    "J = %.0f %.0f.",
                    printed, RANK_KEYS / (best->buckets * best->chains), best->chains,
                    best->buckets, best->cells[0], best->cells[1], best->cells[2], best->pool[0],
                    best->pool[1]);
}

static void record_search(lab_run *run, const rank_print *print, const char *name,
                          const char *label, const rank_wish *wish, const char *printed) {
    rank_table   best;
    double const bits = rank_smallest(wish, &best);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.%s", print->name, name),
                                .label = label,
                                .place = print->label,
                                .exact = bits,
                                .rule = LAB_EQUAL,
                                .reason = "an exhaustive search",
                                .remark = describe(run, &best, printed) });
}

/* lambda, r and L as printed, though lambda misses the rate in the third row: only Z and J free. */
static void record_as_given(lab_run *run, const rank_print *print) {
    rank_wish wish = wish_for(print);
    wish.chains = (unsigned)print->chains;
    wish.buckets = ceil(RANK_KEYS / (print->lambda * print->chains));
    record_search(run, print, "given", "S / n with the printed lambda, r, L", &wish, print->bits);
}

static void record_smaller(lab_run *run, const rank_print *print) {
    rank_wish const set = wish_for(print);
    rank_wish       counting = set;
    counting.counter_bits = 2;
    record_as_given(run, print);
    record_search(run, print, "given.r", "S / n with the printed r alone", &set, print->bits);
    record_search(run, print, "given.r.counting", "the same, counting", &counting,
                  print->counting_bits);
}

void rank_smaller(lab_run *run) {
    for (unsigned i = 0; i < RANK_PRINTS; i++) {
        record_spent(run, &rank_prints[i]);
        record_beyond(run, &rank_prints[i]);
        record_smaller(run, &rank_prints[i]);
    }
}
