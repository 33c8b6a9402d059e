/* fuzz_ops.c - the input is a list of operations on a set: changes of one key, saves, streams,
 * merges, subtractions, splits, conversions and changes of size. An exact multiset runs the same
 * operations. A lost key, a count that is too small or a broken invariant ends the run.
 */
#include "core/base.h"
#include "fuzz.h"

#include <tamis/tamis.h>

#define KEYS 256

typedef struct machine {
    tamis_set *set;
    unsigned   truth[KEYS];
    unsigned   abilities;
    bool       is_shared;
} machine;

/* Write the set, read it back, and continue with the set that was read. */
static void reopen(machine *m) {
    static buffer      file;
    tamis_set         *back = NULL;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.shared = m->is_shared;
    file.n = 0;
    must(tamis_write(m->set, take, &file) == TAMIS_OK);
    must(tamis_read(file.bytes, file.n, &options, &back, NULL) == TAMIS_OK);
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

/* Another set that was made of this one has all its keys. NULL: it could not be made. */
static void check_made(const machine *m, tamis_set *made) {
    if (made == NULL) return;
    for (uint64_t key = 0; key < KEYS; key++) must(m->truth[key] == 0 || tamis_has_id(made, key));
    must(tamis_validate(made, NULL));
    tamis_free(made);
}

static void send_and_receive(const machine *m, bool has_copies) {
    static buffer stream;
    tamis_set    *made = NULL;
    stream.n = 0;
    tamis_status const status =
        tamis_send(m->set, has_copies ? TAMIS_SEND_COPIES : 0, take, &stream);
    must(status == TAMIS_OK || status == TAMIS_ERR_CANNOT);
    if (status == TAMIS_OK && tamis_receive(stream.bytes, stream.n, NULL, &made, NULL) == TAMIS_OK)
        check_made(m, made);
}

static void split_and_join(const machine *m) {
    tamis_set *first = NULL, *second = NULL, *whole = NULL;
    if (tamis_split(m->set, &first, &second, NULL) != TAMIS_OK) return;
    must(tamis_join(first, second, &whole, NULL) == TAMIS_OK);
    check_made(m, whole);
    tamis_free(first);
    tamis_free(second);
}

static void convert(const machine *m) {
    tamis_set *made = NULL;
    if (tamis_convert(m->set, "bloom", &made) == TAMIS_OK) check_made(m, made);
}

/* On a copy, since the order in which keys are added, and which of them are refused, is free. */
static void change_copy(const machine *m, uint8_t key) {
    uint64_t   ids[16];
    tamis_set *copy = NULL;
    must(tamis_copy(m->set, &copy) == TAMIS_OK);
    for (uint64_t i = 0; i < 16; i++) ids[i] = key * i;
    (void)!tamis_add_id_balanced(copy, ids, 16, NULL);
    (void)!tamis_refresh(copy, m->set);
    check_made(m, copy);
}

static void resize(const machine *m, uint8_t key) {
    tamis_status const status = tamis_resize(m->set, (uint64_t)key * 8, NULL);
    must(status == TAMIS_OK || status == TAMIS_ERR_CANNOT || status == TAMIS_ERR_LIMIT ||
         status == TAMIS_ERR_FULL);
}

/* Changes of one key other than add and remove. */
static void add_otherwise(machine *m, uint8_t action, uint8_t key) {
    bool           is_new = false;
    uint64_t const copies = action % 4;
    if (action < 244) {
        tamis_status const status = tamis_add_new_id(m->set, key, &is_new);
        must(status == TAMIS_OK || status == TAMIS_ERR_FULL);
        must(!is_new || m->truth[key] == 0);
        m->truth[key] += is_new;
    } else {
        tamis_status const status = tamis_add_copies_id(m->set, key, copies);
        must(status == TAMIS_OK || status == TAMIS_ERR_FULL);
        if (status == TAMIS_OK) m->truth[key] += (unsigned)copies;
    }
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
    } else if (action == 251) {
        split_and_join(m);
    } else if (action == 250) {
        send_and_receive(m, key % 2 != 0);
    } else if (action == 249) {
        convert(m);
    } else if (action == 248) {
        resize(m, key);
    } else if (action == 247) {
        change_copy(m, key);
    } else if (action >= 242) {
        add_otherwise(m, action, key);
    } else {
        must(m->truth[key] == 0 || tamis_has_id(m->set, key));
    }
}

/* Small tables that reach their limits soon. Those with grow_to grow, by a plan and not by a
 * geometry. */
static const struct {
    const char *kind, *geometry;
    uint64_t    grow_to;
    bool        is_shared;
} tables[] = {
    { .kind = "bloom", .geometry = "bits=500,hashes=3" },
    { .kind = "bloom", .geometry = "bits=77" },
    { .kind = "bloom", .geometry = "bits=512,hashes=8,blocked=1" },
    { .kind = "bloom", .geometry = "bits=1024,hashes=4,blocked=1" },
    { .kind = "counting", .geometry = "counters=500,hashes=3" },
    { .kind = "counting", .geometry = "counters=300,counter_bits=2" },
    { .kind = "counting", .geometry = "counters=99,hashes=9" },
    { .kind = "counting", .geometry = "counters=200,counter_bits=7" },
    { .kind = "counting", .geometry = "counters=512,hashes=4,counter_bits=2,blocked=1" },
    { .kind = "counting", .geometry = "counters=300,hashes=4,counter_bits=3,minimal=1" },
    { .kind = "line", .geometry = "buckets=1,attic=60,copies=8" },
    { .kind = "line", .geometry = "buckets=17,counter_bits=2,remainder_bits=11,attic=60" },
    { .kind = "rank", .geometry = "remainder_bits=6,counter_bits=2,aligned=0" },
    { .kind = "dlcbf", .geometry = "tables=3,buckets=6,cells=7,remainder_bits=9,counter_bits=1" },
    { .kind = "ddlcbf",
      .geometry = "buckets=5,cells=8,remainder_bits=5,counter_bits=2,bucket_bytes=12" },
    { .kind = "dlbf", .geometry = "tables=2,buckets=8,bucket_bits=64,cells=5,group=4" },
    { .kind = "vicbf",
      .geometry = "counters=200,hashes=4,counter_bits=5,increments=240,blocked=0" },
    { .kind = "bhcbf", .geometry = "entries=150,hashes=4,count_bits=2,sum_bits=5,sequence=40978" },
    { .kind = "mlcbf",
      .geometry = "blocks=5,counters=40,area=60,hashes=4,increments=53504,bits=2,bits2=2,bits3=3" },
    { .kind = "line", .grow_to = 2000 },
    { .kind = "rank", .grow_to = 2000 },
    { .kind = "line", .grow_to = 2000, .is_shared = true },
    { .kind = "rank", .grow_to = 2000, .is_shared = true },
    { .kind = "line", .geometry = "buckets=32,attic=720,copies=8", .is_shared = true },
    { .kind = "counting", .geometry = "counters=500,hashes=3", .is_shared = true },
    { .kind = "bloom", .geometry = "bits=500,hashes=3", .is_shared = true },
};

#define N_TABLES (sizeof tables / sizeof tables[0])

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 3) return 0;
    unsigned const   choice = bytes[0] % N_TABLES;
    tamis_seed const seed = { bytes[1], 1 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.capacity = 30;
    spec.kind = tables[choice].kind;
    spec.geometry = tables[choice].geometry;
    spec.grow_to = tables[choice].grow_to;
    if (spec.grow_to == 0) {
        spec.overflow = 0.999;
    } else {
        spec.capacity = 100;
        spec.fpr = 0.01;
        spec.abilities = TAMIS_CAN_REMOVE;
    }
    spec.shared = tables[choice].is_shared;
    spec.seed = &seed;
    machine    m = { .set = NULL, .is_shared = spec.shared };
    tamis_info info;
    must(tamis_create(&spec, &m.set, NULL) == TAMIS_OK);
    must(tamis_inspect(m.set, &info) == TAMIS_OK);
    m.abilities = info.plan.abilities;
    for (size_t at = 2; at + 1 < n; at += 2) step(&m, bytes[at], bytes[at + 1]);
    check(&m);
    tamis_free(m.set);
    return 0;
}
