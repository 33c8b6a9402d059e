/* entries.h - the entries that the oracles of lines and of shelves keep, in their order. */
#ifndef TAMIS_TESTS_LINE_ENTRIES_H
#define TAMIS_TESTS_LINE_ENTRIES_H

#include <stdint.h>

typedef struct model_entry {
    uint64_t bucket, rest;
    unsigned key; /* chain and byte */
} model_entry;

/* For qsort(): by bucket, key and rest, as a body has them. */
static inline int entry_order(const void *left, const void *right) {
    const model_entry *const a = left, *const b = right;
    if (a->bucket != b->bucket) return a->bucket < b->bucket ? -1 : 1;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->rest > b->rest) - (a->rest < b->rest);
}

#endif
