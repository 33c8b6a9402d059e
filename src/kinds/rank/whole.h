/* whole.h - work that reads every cell of a table of chains: its survey, and the check of its
 * invariants, which rank.c lists.
 *
 * Both take one pass over all buckets and no memory. The check is for any bytes, of a file that may
 * have been made to do harm: so it looks at the index of a bucket before it follows a chain of it.
 */
#ifndef TAMIS_KINDS_RANK_WHOLE_H
#define TAMIS_KINDS_RANK_WHOLE_H

#include "chains_pools.h"
#include "rank.h"
#include "size.h"

/* ------------------------------------------------------------------ survey */

/* Add up prints, and cells, which become the load in the end. Copies do not matter: a lookup cannot
 * tell one from many. */
static bool rank_count_one(void *context, const chains_place *place, const copies_entry *entry) {
    kind_survey *const survey = context;
    (void)place;
    survey->prints++;
    survey->load += entry->cells;
    return true;
}

/* A lookup says yes if the fingerprint is stored, so the fpr is the share of stored fingerprints. A
 * fingerprint with several cells counts once. */
static void rank_survey(const tamis_table *table, kind_survey *ret_survey) {
    const chains_shape *const shape = &rank_shape_of(table)->chains;
    uint64_t const            all = tamis_rank_prints(table->geometry);
    kind_survey               survey = { .prints = 0 };
    /* Cells in all buckets and extensions, used or not: a table with many free extensions is less
     * full than its buckets. */
    uint64_t const room = shape->buckets * shape->room[0] + shape->pool[1] * shape->room[1] +
                          shape->pool[2] * shape->room[2];
    for (uint64_t bucket = 0; bucket < shape->buckets; bucket++) {
        copies_each(rank_view(table), bucket, rank_count_one, &survey);
    }
    survey.load /= (double)room;
    survey.fpr = (double)survey.prints / (double)all;
    survey.distinct = tamis_prints_distinct(all, survey.prints);
    *ret_survey = survey;
}

/* ------------------------------------------------------------------ check */

/* What the buckets hold, summed up. */
typedef struct rank_audit {
    const rank_shape *shape;
    uint64_t          copies, saturated;
    chains_taken      taken;
} rank_audit;

/* I4, and the sums for I5. If two cells of a fingerprint were not full, it would have a cell more
 * than its copies need: so the number of cells alone says whether it is as it must be. A set
 * without removal (most = 1) has nothing saturated: no one can want to remove it. */
static bool rank_check_one(void *context, const chains_place *place, const copies_entry *entry) {
    (void)place;
    rank_audit *const audit = context;
    uint64_t const    most = audit->shape->most;
    audit->copies += entry->copies;
    audit->saturated += most > 1 && entry->copies == most;
    return entry->copies <= most &&
           entry->cells == copies_cells(&audit->shape->chains, entry->copies);
}

/* I6 and I7. */
static bool rank_states_are_whole(const tamis_table *table, uint64_t bucket, unsigned load,
                                  const char **reterr_why) {
    chains_view const chains = rank_view(table);
    uint64_t const    at = chains_bucket_at(chains.shape, bucket);
    unsigned const    bits = rank_state_bits(table);
    /* The cells 0 to load - 1 are in use, whichever chains they belong to. */
    for (unsigned i = 0; i < load && table->values != 0; i++) {
        uint64_t const bit = rank_state_at(chains.shape, chains_cell(chains, at, i));
        uint64_t const field = field_get(table->body, bit, bits);
        TAMIS_REQUIRE(state_value(table, bits, field) < table->values, reterr_why,
                      "I6: a value is out of range");
        TAMIS_REQUIRE(state_timer_is_possible(table, bits, bucket, field), reterr_why,
                      "I7: a timer is too long");
    }
    return true;
}

/* In the order of trust: a bucket whose levels do not add up (I1) must not be walked, so that is
 * checked before its cells are; what needs all buckets (I2, I3, I5) comes last. */
static bool rank_validate(const tamis_table *table, const char **reterr_why) {
    chains_view const chains = rank_view(table);
    rank_audit        audit = { .shape = rank_shape_of(table) };
    rank_layout       layout = { .end = 0 };
    for (uint64_t bucket = 0; bucket < chains.shape->buckets; bucket++) {
        uint64_t const at = chains_bucket_at(chains.shape, bucket);
        unsigned       load;
        TAMIS_REQUIRE(chains_are_whole(chains, at, &load), reterr_why,
                      "I1: the index bits of a bucket do not match its cells");
        chains_note_taken(chains, at, load, &audit.taken);
        TAMIS_REQUIRE(copies_each(chains, bucket, rank_check_one, &audit), reterr_why,
                      "I4: a fingerprint is in more cells than it needs");
        if (!rank_states_are_whole(table, bucket, load, reterr_why)) return false;
    }
    TAMIS_REQUIRE(chains_pool_is_whole(chains, &audit.taken, 1) &&
                      chains_pool_is_whole(chains, &audit.taken, 2),
                  reterr_why, "I2: an extension belongs to no bucket, or to two buckets");
    for (unsigned part = 0; part < 3; part++) {
        TAMIS_REQUIRE(chains_free_is_zero(chains, part), reterr_why,
                      "I3: a bit of a free extension is set");
    }
    (void)tamis_rank_layout(table->geometry, &layout); /* possible: body_bytes() has checked it */
    TAMIS_REQUIRE(field_rest_is_zero(table->body, layout.end, table->body_bytes), reterr_why,
                  "I3: a bit behind the last part is set");
    TAMIS_REQUIRE(audit.copies == table->keys && audit.saturated == table->saturated, reterr_why,
                  "I5: the cells do not sum up to the keys");
    return true;
}

#endif
