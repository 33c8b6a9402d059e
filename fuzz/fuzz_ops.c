/* fuzz_ops.c - the input is a list of operations: adds, removals, lookups, saves, merges and
 * subtractions. An exact multiset runs the same operations. A lost key, a count that is too small
 * or a broken invariant ends the run.
 */
#include "core/base.h"
#include "fuzz.h"

#include <tamis/tamis.h>

#define KEYS 256

typedef struct machine {
    tamis_set *set;
    unsigned   truth[KEYS];
    unsigned   abilities;
} machine;

/* Write the set, read it back, and continue with the set that was read. */
static void reopen(machine *m) {
    static buffer file;
    tamis_set    *back = NULL;
    file.n = 0;
    must(tamis_write(m->set, take, &file) == TAMIS_OK);
    must(tamis_read(file.bytes, file.n, NULL, &back, NULL) == TAMIS_OK);
    tamis_free(m->set);
    m->set = back;
}

/* Double the copies of each key: merge the set with a copy of itself, if it can merge and has
 * room. */
static void merge_with_copy(machine *m) {
    tamis_set *copy = NULL;
    must(tamis_copy(m->set, &copy) == TAMIS_OK);
    tamis_status const status = tamis_merge(m->set, copy);
    must(status == TAMIS_OK || status == TAMIS_ERR_FULL || status == TAMIS_ERR_CANNOT);
    for (unsigned key = 0; key < KEYS && status == TAMIS_OK; key++) m->truth[key] *= 2;
    tamis_free(copy);
}

/* Merge another set with some keys, and subtract it again: the contents stay the same. */
static void merge_and_subtract(machine *m, uint8_t key) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *other = NULL;
    spec.like = m->set;
    must(tamis_create(&spec, &other, NULL) == TAMIS_OK);
    for (unsigned i = 0; i < key % 16u; i++) {
        if (tamis_add_id(other, (key + i * 37u) % KEYS) != TAMIS_OK) break;
    }
    if (tamis_merge(m->set, other) == TAMIS_OK) {
        tamis_status const status = tamis_subtract(m->set, other);
        must(status == TAMIS_OK || status == TAMIS_ERR_CANNOT);
    }
    tamis_free(other);
}

static void check(const machine *m) {
    for (uint64_t key = 0; key < KEYS; key++) {
        if (m->truth[key] == 0) continue;
        uint64_t count = UINT64_MAX;
        must(tamis_has_id(m->set, key));
        if ((m->abilities & TAMIS_CAN_COUNT) != 0) {
            must(tamis_count_id(m->set, key, &count) == TAMIS_OK);
        }
        must(count >= m->truth[key]);
    }
    must(tamis_validate(m->set, NULL));
}

static void step(machine *m, uint8_t action, uint8_t key) {
    bool const can_remove = (m->abilities & TAMIS_CAN_REMOVE) != 0;
    if (action < 120) {
        tamis_status const status = tamis_add_id(m->set, key);
        must(status == TAMIS_OK || status == TAMIS_ERR_FULL);
        m->truth[key] += status == TAMIS_OK;
    } else if (action < 240 && can_remove && m->truth[key] != 0) {
        tamis_status const status = tamis_remove_id(m->set, key); /* a saturated key stays */
        must(status == TAMIS_OK || (status == TAMIS_ERR_SATURATED && tamis_has_id(m->set, key)));
        m->truth[key]--;
    } else if (action >= 254) {
        reopen(m);
    } else if (action == 253 && m->truth[key] < 1000000) {
        merge_with_copy(m);
    } else if (action == 252) {
        merge_and_subtract(m, key);
    } else {
        must(m->truth[key] == 0 || tamis_has_id(m->set, key));
    }
}

/* Small tables that reach their limits soon. */
static const struct {
    const char *kind, *geometry;
} tables[] = {
    { "bloom", "bits=500,hashes=3" },
    { "bloom", "bits=77" },
    { "bloom", "bits=512,hashes=8,blocked=1" },
    { "bloom", "bits=1024,hashes=4,blocked=1" },
    { "counting", "counters=500,hashes=3" },
    { "counting", "counters=300,counter_bits=2" },
    { "counting", "counters=99,hashes=9" },
    { "counting", "counters=200,counter_bits=7" },
    { "counting", "counters=512,hashes=4,counter_bits=2,blocked=1" },
    { "counting", "counters=300,hashes=4,counter_bits=3,minimal=1" },
    { "line", "buckets=1,attic=60,copies=8" },
    { "line", "buckets=17,counter_bits=2,remainder_bits=11,attic=60" },
    { "rank", "remainder_bits=6,counter_bits=2,aligned=0" },
    { "dlcbf", "tables=3,buckets=6,cells=7,remainder_bits=9,counter_bits=1" },
    { "ddlcbf", "buckets=5,cells=8,remainder_bits=5,counter_bits=2,bucket_bytes=12" },
    { "dlbf", "tables=2,buckets=8,bucket_bits=64,cells=5,group=4" },
    { "vicbf", "counters=200,hashes=4,counter_bits=5,increments=240,blocked=0" },
    { "bhcbf", "entries=150,hashes=4,count_bits=2,sum_bits=5,sequence=40978" },
    { "mlcbf", "blocks=5,counters=40,area=60,hashes=4,increments=53504,bits=2,bits2=2,bits3=3" },
};

#define N_TABLES (sizeof tables / sizeof tables[0])

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 3) return 0;
    unsigned const   choice = bytes[0] % N_TABLES;
    tamis_seed const seed = { bytes[1], 1 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.capacity = 30;
    spec.overflow = 0.999;
    spec.kind = tables[choice].kind;
    spec.geometry = tables[choice].geometry;
    spec.seed = &seed;
    machine    m = { .set = NULL };
    tamis_info info;
    must(tamis_create(&spec, &m.set, NULL) == TAMIS_OK);
    must(tamis_inspect(m.set, &info) == TAMIS_OK);
    m.abilities = info.plan.abilities;
    for (size_t at = 2; at + 1 < n; at += 2) step(&m, bytes[at], bytes[at + 1]);
    check(&m);
    tamis_free(m.set);
    return 0;
}
