/* rank.c - rank-indexed hashing: what the paper prints, real tables of these sizes, and the list of
 * experiments. */
#include "rank.h"

#include "core/field.h"
#include "handle.h"
#include "kinds/rank/size.h"

/* ------------------------------------------------------------------ what is printed */

/* The target of the third row is missed, see rank_sizes.c. */
const rank_print rank_prints[RANK_PRINTS] = {
    { .name = "1e-2",
      .label = "1%",
      .target = "<0.01",
      .fpr = 0.01,
      .lambda = 0.64,
      .remainder_bits = 6,
      .chains = 60,
      .cells = { 45, 8, 45 },
      .share = { 0.179, 0.027 },
      .bits = "10.6",
      .standard = "9.6",
      .dleft = "15.0",
      .over_standard = "10.1",
      .over_dleft = "-29.5",
      .counting_bits = "13.0",
      .counting_standard = "38.3",
      .counting_dleft = "17.6",
      .counting_over_standard = "-66",
      .counting_over_dleft = "-27",
      .packed = "8.6",
      .packed_ratio = "89",
      .packed_bloom = "30",
      .packed_dleft = "11.7",
      .packed_dleft_ratio = "122" },
    { .name = "1e-3",
      .label = "0.1%",
      .target = "<0.001",
      .fpr = 0.001,
      .lambda = 0.92,
      .remainder_bits = 10,
      .chains = 64,
      .cells = { 63, 17, 50 },
      .share = { 0.36, 0.017 },
      .bits = "14.4",
      .standard = "14.6",
      .dleft = "18.0",
      .over_standard = "-1.1",
      .over_dleft = "-26.3",
      .counting_bits = "16.8",
      .counting_standard = "58.4",
      .counting_dleft = "22.3",
      .counting_over_standard = "-71",
      .counting_over_dleft = "-24",
      .packed = "12.1",
      .packed_ratio = "83",
      .packed_bloom = "150",
      .packed_dleft = "15.2",
      .packed_dleft_ratio = "104" },
    { .name = "1e-4",
      .label = "0.01%",
      .target = "<0.0001",
      .fpr = 0.0001,
      .lambda = 0.86,
      .remainder_bits = 13,
      .chains = 61,
      .cells = { 59, 13, 48 },
      .share = { 0.233, 0.018 },
      .bits = "18.2",
      .standard = "19.1",
      .dleft = "22.2",
      .over_standard = "-4.4",
      .over_dleft = "-23.2",
      .counting_bits = "20.6",
      .counting_standard = "76.3",
      .counting_dleft = "26.4",
      .counting_over_standard = "-73",
      .counting_over_dleft = "-22",
      .packed = "15.2",
      .packed_ratio = "79",
      .packed_bloom = "1.3e3",
      .packed_dleft = "18.3",
      .packed_dleft_ratio = "96",
      .packed_dleft_bloom = "27" },
};

/* ------------------------------------------------------------------ real tables */

tamis_spec rank_spec(const rank_table *table, unsigned counter_bits, unsigned copies, uint64_t keys,
                     char geometry[RANK_GEOMETRY_BYTES]) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    (void)snprintf(geometry, RANK_GEOMETRY_BYTES,
                   "buckets=%.0f,chains=%.0f,remainder_bits=%.0f,cells=%.0f,cells2=%.0f,"
                   "cells3=%.0f,extensions2=%.0f,extensions3=%.0f,counter_bits=%u,copies=%u,"
                   "aligned=0",
                   table->buckets, table->chains, table->remainder_bits, table->cells[0],
                   table->cells[1], table->cells[2], table->pool[0], table->pool[1], counter_bits,
                   copies);
    spec.capacity = keys;
    spec.lifetime = keys;
    spec.overflow = 0.999; /* some of these tables are meant to overflow */
    spec.kind = "rank";
    spec.geometry = geometry;
    return spec;
}

tamis_plan rank_plan_of(const tamis_spec *spec) {
    tamis_plan         plan;
    size_t             n_rows;
    tamis_status const status = tamis_plan_kinds(spec, &plan, 1, &n_rows, NULL);
    if (status != TAMIS_OK || plan.status != TAMIS_OK) {
        lab_die("there is no plan for kind %s, %s", spec->kind,
                spec->geometry != NULL ? spec->geometry : "any geometry");
    }
    return plan;
}

tamis_plan rank_library_choice(const rank_wish *wish, const char *geometry) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    char       mode[RANK_GEOMETRY_BYTES];
    bool const is_counting = wish->copies > 1;
    (void)snprintf(mode, sizeof mode, "%s%scounter_bits=%u,copies=%u",
                   geometry != NULL ? geometry : "", geometry != NULL ? "," : "",
                   wish->counter_bits, wish->copies);
    spec.capacity = (uint64_t)wish->n;
    spec.fpr = wish->fpr;
    spec.abilities = is_counting ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0;
    spec.count_to = is_counting ? ((uint64_t)wish->copies << wish->counter_bits) - 1 : 0;
    spec.prefer = TAMIS_PREFER_SMALL;
    spec.kind = "rank";
    spec.geometry = is_counting ? mode : geometry;
    spec.lifetime = (uint64_t)wish->lifetime;
    spec.overflow = wish->overflow;
    return rank_plan_of(&spec);
}

uint64_t rank_extensions_used(const tamis_set *set, unsigned level) {
    rank_layout layout;
    uint64_t    used = 0;
    if (!tamis_rank_layout(set->table.geometry, &layout)) lab_die("a table without a layout");
    uint64_t const all = set->table.geometry[RANK_EXTENSIONS2 + level - 2];
    for (uint64_t i = 0; i < all; i++)
        used += field_get_bit(set->table.body, layout.used[level] + i);
    return used;
}

/* ------------------------------------------------------------------ experiments */

const lab_experiment lab_rank_icnp2008[] = {
    { .id = "rank.example",
      .title = "the bucket of Figure 3: 8 chains, 7 fingerprints",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, sections III-A and III-B, Figure 3",
      .run = rank_example },
    { .id = "rank.loads",
      .title = "how many buckets overflow: 1000 buckets, 64 chains each, lambda = 0.875",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, section III-C, Table I",
      .run = rank_loads },
    { .id = "rank.sizes",
      .title = "three tables for 100000 keys: bits, overflow, false positives",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, section V, Table II",
      .run = rank_sizes },
    { .id = "rank.smaller",
      .title = "how the three tables use their bits, and smaller tables",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, sections IV and V, Tables II and IV",
      .run = rank_smaller },
    { .id = "rank.overflow",
      .title = "Theorem 1, and its extension to a lifetime, compared with tables that overflow",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, section IV",
      .run = rank_overflow },
    { .id = "rank.compared",
      .title = "bits per key compared with Bloom filters and d-left hashing",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, section V, Tables III and IV",
      .run = rank_compared },
    { .id = "rank.trimmed",
      .title = "bits per key of sent sets",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, section V, Table V",
      .run = rank_trimmed },
    { .id = "rank.figures",
      .title = "bits per key against the false-positive rate, 10^-1 to 10^-7",
      .paper = RANK_PAPER,
      .place = "ICNP 2008, section V, Figures 5 and 6",
      .run = rank_figures },
    { .id = "rank.beyond",
      .title = "bits per key against keys, lifetime, layout and mode",
      .paper = RANK_PAPER,
      .place = "beyond the paper",
      .run = rank_beyond },
    { .id = NULL },
};
