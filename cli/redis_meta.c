/* redis_meta.c - see redis_meta.h. */
#include "redis_meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FIRST_KEYS 1000000 /* without -n, a set begins with room for these */
#define GROW_TO UINT64_C(1000000000)

void meta_write(const set_meta *meta, char ret_text[META_BYTES]) {
    (void)snprintf(ret_text, META_BYTES,
                   "tamis 2 %s shards=%u hash=%u seed=%016" PRIx64 ":%016" PRIx64
                   " from=%s fpr=%.17g keys=%" PRIu64 " grow_to=%" PRIu64 " counts=%u kind=%s",
                   meta->is_whole ? "whole" : "making", meta->shards, (unsigned)meta->hash,
                   meta->seed.low, meta->seed.high, meta->is_imported ? "file" : "load", meta->fpr,
                   meta->capacity, meta->grow_to, meta->counts, meta->kind);
}

bool meta_read(const char *text, set_meta *ret_meta) {
    char     state[8], from[8];
    unsigned hash = 0, counts = 0;
    int      end = 0;
    *ret_meta = (set_meta){ .shards = 0 };
    if (sscanf(text,
               "tamis 2 %7s shards=%u hash=%u seed=%16" SCNx64 ":%16" SCNx64
               " from=%7s fpr=%lf keys=%" SCNu64 " grow_to=%" SCNu64 " counts=%u kind=%31s%n",
               state, &ret_meta->shards, &hash, &ret_meta->seed.low, &ret_meta->seed.high, from,
               &ret_meta->fpr, &ret_meta->capacity, &ret_meta->grow_to, &counts, ret_meta->kind,
               &end) != 11)
        return false;
    ret_meta->is_whole = strcmp(state, "whole") == 0;
    ret_meta->is_imported = strcmp(from, "file") == 0;
    ret_meta->hash = (tamis_hash)hash;
    ret_meta->counts = counts != 0;
    unsigned const n = ret_meta->shards;
    return text[end] == '\0' && n >= 1 && n <= MAX_SHARDS && (n & (n - 1)) == 0;
}

bool meta_is_same(const set_meta *a, const set_meta *b) {
    char     texts[2][META_BYTES];
    set_meta as_b = *a;
    as_b.is_whole = b->is_whole;
    meta_write(&as_b, texts[0]);
    meta_write(b, texts[1]);
    return strcmp(texts[0], texts[1]) == 0;
}

set_meta meta_of_options(const options *asked) {
    const tamis_spec *const spec = &asked->spec;
    bool const              has_keys = spec->capacity != 0;
    set_meta                meta = {
                       .shards = asked->shards != 0 ? asked->shards : DEFAULT_SHARDS,
                       .hash = TAMIS_HASH_XXH3,
                       .seed = asked->seed,
                       .fpr = spec->fpr,
                       .capacity = has_keys ? spec->capacity : FIRST_KEYS,
                       .grow_to = spec->grow_to != 0 || has_keys ? spec->grow_to : GROW_TO,
                       .counts = (spec->abilities & TAMIS_CAN_COUNT) != 0,
    };
    (void)snprintf(meta.kind, sizeof meta.kind, "%s", spec->kind != NULL ? spec->kind : "-");
    return meta;
}

const char *meta_conflict(const set_meta *meta, const options *asked) {
    set_meta const other = meta_of_options(asked);
    struct {
        uint64_t    bit;
        bool        is_other;
        const char *name;
    } const all[] = {
        { OPTION_BIT(CAPACITY), other.capacity != meta->capacity, "-n" },
        { OPTION_BIT(GROW_TO), other.grow_to != meta->grow_to, "--grow-to" },
        { OPTION_BIT(FPR), other.fpr != meta->fpr, "-e" },
        { OPTION_BIT(COUNT), other.counts != meta->counts, "--count" },
        { OPTION_BIT(KIND), strcmp(other.kind, meta->kind) != 0, "--kind" },
        { OPTION_BIT(SEED), other.seed.low != meta->seed.low || other.seed.high != meta->seed.high,
          "--seed" },
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (is_given(asked, all[i].bit) && all[i].is_other) return all[i].name;
    }
    return NULL;
}
