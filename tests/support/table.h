/* table.h - tables of a kind without a handle, for tests that call the kind itself. */
#ifndef TAMIS_TESTS_TABLE_H
#define TAMIS_TESTS_TABLE_H

#include "unit.h"

#include "kind.h"

/* The kind on one instruction set; NULL: on the best one. */
static inline const tamis_kind *find_kind(const char *name, const char *isa) {
    const tamis_kind *kind = NULL;
    assert_int_equal(tamis_kind_find(name, isa, &kind), TAMIS_OK);
    return kind;
}

static inline unsigned count_fields(const tamis_kind *kind) {
    unsigned n = 0;
    while (kind->fields[n].name != NULL) n++;
    return n;
}

/* An empty table. Its body is the caller's, for free(). */
static inline tamis_table table_make(const tamis_kind *kind, const uint64_t *geometry) {
    tamis_table table = { .keys = 0 };
    memcpy(table.geometry, geometry, count_fields(kind) * sizeof geometry[0]);
    assert_true(kind->body_bytes(table.geometry, &table.body_bytes));
    table.body = aligned_alloc(64, table.body_bytes);
    assert_non_null(table.body);
    memset(table.body, 0, table.body_bytes);
    if (kind->prepare != NULL) kind->prepare(&table);
    return table;
}

static inline void expect_valid_table(const tamis_kind *kind, const tamis_table *table) {
    const char *why = NULL;
    if (!kind->validate(table, &why)) fail_msg("%s", why);
}

/* The geometry as text, as in a spec: "buckets=5,cells=7,...". Valid until the next call. */
static inline const char *geometry_text(const tamis_kind *kind, const uint64_t *geometry) {
    static char text[600];
    size_t      n = 0;
    for (unsigned i = 0; i < count_fields(kind); i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s=%llu", i == 0 ? "" : ",",
                              kind->fields[i].name, (unsigned long long)geometry[i]);
    }
    assert_true(n < sizeof text);
    return text;
}

/* An empty table counts a key exactly up to its limit, which is `most`. At the limit the count is
 * TAMIS_COUNT_MANY, and stays so. */
static inline void check_counts_to_the_limit(const tamis_kind *kind, tamis_table *table,
                                             uint64_t hash, uint64_t most) {
    for (uint64_t n = 1; n < most; n++) {
        assert_int_equal(kind->calls.add(table, hash), TAMIS_OK);
        assert_int_equal(kind->calls.count(table, hash), n);
    }
    assert_int_equal(table->saturated, 0);
    for (uint64_t n = 0; n < 3; n++) assert_int_equal(kind->calls.add(table, hash), TAMIS_OK);
    assert_int_equal(kind->calls.count(table, hash), TAMIS_COUNT_MANY);
    assert_int_equal(table->keys, most);
    assert_int_equal(table->saturated, most > 1);
    assert_int_equal(kind->calls.remove(table, hash), TAMIS_ERR_SATURATED);
    assert_int_equal(kind->calls.count(table, hash), TAMIS_COUNT_MANY);
}

/* A kind_visit that stops at the third print. The context is a counter. */
static inline bool visit_three(void *context, uint64_t print, uint64_t copies) {
    (void)print;
    (void)copies;
    return ++*(unsigned *)context < 3;
}

#endif
