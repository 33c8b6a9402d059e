/* test_dlbf.c - d-left Bloom filters against an oracle that stores complete fingerprints.
 *
 * usage: test_dlbf [STEPS]     operations of each history
 *
 * The oracle has, for each bucket, the list of its fingerprints with all their bits, in order. The
 * bytes of a body follow from these lists, bit by bit. So a cell that has lost too many bits, or a
 * lookup that uses a lost bit, is noticed at once.
 */
#include "kinds/dlbf/size.h"
#include "ledger.h"
#include "subject.h"
#include "survey.h"
#include "table.h"

static uint64_t steps = 1200;

#define NARROW 1280  /* the paper's: one sorted bit at loads 4 and 5 */
#define WIDE 1418580 /* one at all loads up to 10, two at 6 and 7 */
#define ALL_ONE(cells) ((UINT64_C(0x5555555555555555) & ((UINT64_C(4) << 2 * (cells)) - 1)) - 1)
#define ALL_TWO(cells) (2 * ALL_ONE(cells))

/* tables, buckets, bucket_bits, cells, sorting, group. */
static const uint64_t geometries[][DLBF_FIELDS] = {
    { 3, 20, 64, 6, NARROW, 1 },      /* the paper's two */
    { 3, 16, 128, 10, WIDE, 1 },      /* */
    { 3, 20, 64, 6, NARROW, 4 },      /* in groups */
    { 3, 16, 128, 10, WIDE, 4 },      /* */
    { 2, 1, 64, 1, 0, 1 },            /* nothing to share */
    { 2, 4, 64, 1, 4, 4 },            /* all length there may be */
    { 4, 7, 64, 12, 0, 1 },           /* short: many match that are not there */
    { 4, 8, 64, 13, ALL_ONE(13), 4 }, /* narrow, all sorted */
    { 2, 12, 128, 15, 0, 4 },         /* the most cells of a block */
    { 3, 9, 128, 5, ALL_TWO(5), 1 },  /* two bits everywhere */
    { 3, 12, 64, 5, ALL_TWO(5), 4 },  /* */
    { 3, 12, 128, 9, 416004, 4 },     /* as planned for 1e-4 */
    { 2, 5, 128, 15, ALL_ONE(15), 1 },
};

#define N_GEOMETRIES COUNT(geometries)

/* ------------------------------------------------------------------ the oracle */

typedef struct oracle {
    const uint64_t *g;
    unsigned        code_bits, longest;
    uint64_t       *print; /* DLBF_MAX_CELLS for each bucket, in order */
    unsigned       *load;
    uint64_t        keys;
} oracle;

static unsigned sorted_at(const oracle *o, unsigned load) {
    return (unsigned)(o->g[DLBF_SORTING] >> (2 * load)) & 3;
}

/* The splits of a load before this one, in order of (b2, b1, b0). */
static unsigned splits_before(unsigned load, unsigned sorted, unsigned b0, unsigned b1,
                              unsigned b2) {
    unsigned n = 0;
    for (unsigned i2 = 0; i2 <= load; i2++) {
        for (unsigned i1 = 0; i1 <= i2; i1++) {
            for (unsigned i0 = 0; i0 <= i1; i0++) {
                if (sorted < 2 && (i2 != load || i1 != load)) continue;
                if (sorted < 1 && i0 != load) continue;
                if (i2 == b2 && i1 == b1 && i0 == b0) return n;
                n++;
            }
        }
    }
    return n; /* of all */
}

static unsigned codes_before(const oracle *o, unsigned load) {
    unsigned n = 0;
    for (unsigned a = 0; a < load; a++) n += splits_before(a, sorted_at(o, a), 99, 99, 99);
    return n;
}

static oracle oracle_make(const uint64_t *g) {
    oracle         o = { .g = g, .longest = 64 };
    uint64_t const buckets = g[DLBF_TABLES] * g[DLBF_BUCKETS];
    while (1u << o.code_bits < codes_before(&o, (unsigned)g[DLBF_CELLS] + 1)) o.code_bits++;
    while (UINT64_C(1) << (64 - o.longest) < g[DLBF_BUCKETS]) o.longest--;
    if (o.longest > 56) o.longest = 56;
    o.print = calloc(buckets * DLBF_MAX_CELLS, sizeof o.print[0]);
    o.load = calloc(buckets, sizeof o.load[0]);
    assert_non_null(o.print);
    assert_non_null(o.load);
    return o;
}

static void oracle_free(oracle *o) {
    free(o->print);
    free(o->load);
}

/* The bucket of a key in subtable i, and its fingerprint. */
static uint64_t oracle_place(const oracle *o, uint64_t hash, unsigned i, uint64_t *ret_print) {
    uint64_t       rest;
    uint64_t const bucket = mul_wide(remix(hash, i), o->g[DLBF_BUCKETS], &rest);
    *ret_print = rest >> (64 - o->longest);
    return i * o->g[DLBF_BUCKETS] + bucket;
}

/* The bits that a group would take if all fingerprints had this length. */
static uint64_t bits_at_length(const oracle *o, uint64_t first, unsigned length) {
    uint64_t bits = 0;
    for (uint64_t b = first; b < first + o->g[DLBF_GROUP]; b++) {
        bits += o->load[b] * (length - sorted_at(o, o->load[b]));
    }
    return bits;
}

/* The largest length that fits for all buckets of the group; then one bit more for one bucket after
 * the other, as long as it fits. */
static unsigned oracle_length(const oracle *o, uint64_t bucket) {
    uint64_t const group = o->g[DLBF_GROUP], first = bucket / group * group;
    uint64_t const room = group * (o->g[DLBF_BUCKET_BITS] - o->code_bits);
    unsigned       length = 2;
    while (length < o->longest && bits_at_length(o, first, length + 1) <= room) length++;
    if (length == o->longest) return length;
    uint64_t bits = bits_at_length(o, first, length);
    for (uint64_t b = first; b <= bucket; b++) bits += o->load[b];
    return length + (bits <= room);
}

static bool bucket_has(const oracle *o, uint64_t bucket, uint64_t print) {
    unsigned const lost = o->longest - oracle_length(o, bucket);
    for (unsigned i = 0; i < o->load[bucket]; i++) {
        if (o->print[bucket * DLBF_MAX_CELLS + i] >> lost == print >> lost) return true;
    }
    return false;
}

static bool oracle_has(const oracle *o, uint64_t hash) {
    for (unsigned i = 0; i < o->g[DLBF_TABLES]; i++) {
        uint64_t       print;
        uint64_t const bucket = oracle_place(o, hash, i, &print);
        if (bucket_has(o, bucket, print)) return true;
    }
    return false;
}

static void oracle_insert(oracle *o, uint64_t bucket, uint64_t print) {
    uint64_t *const list = o->print + bucket * DLBF_MAX_CELLS;
    unsigned        at = 0;
    while (at < o->load[bucket] && list[at] <= print) at++;
    for (unsigned i = o->load[bucket]; i > at; i--) list[i] = list[i - 1];
    list[at] = print;
    o->load[bucket]++;
    o->keys++;
}

/* The subtable with the smallest of these loads, the first of several; tables: all are full. */
static unsigned least_loaded(const oracle *o, uint64_t hash, const unsigned *load) {
    unsigned best = (unsigned)o->g[DLBF_TABLES], least = (unsigned)o->g[DLBF_CELLS];
    for (unsigned i = 0; i < o->g[DLBF_TABLES]; i++) {
        uint64_t       print;
        unsigned const here = load[oracle_place(o, hash, i, &print)];
        if (here >= least) continue;
        least = here;
        best = i;
    }
    return best;
}

static tamis_status oracle_add(oracle *o, uint64_t hash) {
    uint64_t print;
    if (oracle_has(o, hash)) return TAMIS_OK;
    unsigned const i = least_loaded(o, hash, o->load);
    if (i == o->g[DLBF_TABLES]) return TAMIS_ERR_FULL;
    uint64_t const bucket = oracle_place(o, hash, i, &print);
    oracle_insert(o, bucket, print);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ its bytes */

/* How many cells have sorted bits that are at most these. */
static unsigned cells_up_to(const oracle *o, uint64_t bucket, unsigned sorted, unsigned part) {
    unsigned n = 0;
    for (unsigned i = 0; i < o->load[bucket]; i++) {
        n += o->print[bucket * DLBF_MAX_CELLS + i] >> (o->longest - sorted) <= part;
    }
    return n;
}

static unsigned oracle_code(const oracle *o, uint64_t bucket) {
    unsigned const load = o->load[bucket], sorted = sorted_at(o, load);
    unsigned const b0 = cells_up_to(o, bucket, sorted, 0), b1 = cells_up_to(o, bucket, sorted, 1);
    unsigned const b2 = cells_up_to(o, bucket, sorted, 2);
    return codes_before(o, load) + splits_before(load, sorted, b0, b1, b2);
}

static void oracle_encode(const oracle *o, uint8_t *body) {
    uint64_t const group = o->g[DLBF_GROUP], block_bits = group * o->g[DLBF_BUCKET_BITS];
    uint64_t const buckets = o->g[DLBF_TABLES] * o->g[DLBF_BUCKETS];
    for (uint64_t first = 0; first < buckets; first += group) {
        uint64_t at = first / group * block_bits;
        for (uint64_t b = first; b < first + group; b++) {
            at = write_bits(body, at, o->code_bits, oracle_code(o, b));
        }
        for (uint64_t b = first; b < first + group; b++) {
            unsigned const length = oracle_length(o, b), sorted = sorted_at(o, o->load[b]);
            for (unsigned i = 0; i < o->load[b]; i++) {
                uint64_t const print = o->print[b * DLBF_MAX_CELLS + i] >> (o->longest - length);
                at = write_bits(body, at, length - sorted, print);
            }
        }
        assert_true(at <= (first / group + 1) * block_bits);
    }
}

/* ------------------------------------------------------------------ a table and its oracle */

typedef struct pair {
    const tamis_kind *kind;
    tamis_table       table;
    oracle            oracle;
    uint8_t          *expected;
    dice              chance;
    uint64_t          refused, matched; /* how often that happened */
} pair;

static pair pair_make(const uint64_t *geometry, const char *isa, uint64_t seed) {
    pair p = { .oracle = oracle_make(geometry), .chance = { seed } };
    p.kind = find_kind("dlbf", isa);
    p.table = table_make(p.kind, geometry);
    p.expected = malloc(p.table.body_bytes);
    assert_non_null(p.expected);
    return p;
}

static void pair_free(pair *p) {
    free(p->table.body);
    free(p->expected);
    oracle_free(&p->oracle);
}

static void check_bytes(pair *p) {
    memset(p->expected, 0, p->table.body_bytes);
    oracle_encode(&p->oracle, p->expected);
    assert_memory_equal(p->table.body, p->expected, p->table.body_bytes);
    assert_int_equal(p->table.keys, p->oracle.keys);
    expect_valid_table(p->kind, &p->table);
}

static void step_add(pair *p, uint64_t hash) {
    uint64_t const     keys = p->oracle.keys;
    tamis_status const expected = oracle_add(&p->oracle, hash);
    assert_int_equal(p->kind->calls.add(&p->table, hash), expected);
    assert_int_equal(p->kind->calls.has(&p->table, hash), expected == TAMIS_OK);
    p->refused += expected == TAMIS_ERR_FULL;
    p->matched += expected == TAMIS_OK && p->oracle.keys == keys;
    check_bytes(p);
}

static void ask_strangers(pair *p, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint64_t const hash = dice_roll(&p->chance);
        assert_int_equal(p->kind->calls.has(&p->table, hash), oracle_has(&p->oracle, hash));
    }
}

static void pair_clear(pair *p) {
    memset(p->table.body, 0, p->table.body_bytes);
    memset(p->oracle.load, 0, p->oracle.g[DLBF_TABLES] * p->oracle.g[DLBF_BUCKETS] * 4);
    p->table.keys = p->oracle.keys = 0;
}

/* Add keys until the table is full, and begin again. */
static void history(pair *p, uint64_t n) {
    uint64_t refused = 0;
    for (uint64_t i = 0; i < n; i++) {
        step_add(p, dice_roll(&p->chance));
        ask_strangers(p, 20);
        if (p->refused < refused + 40) continue;
        refused = p->refused;
        pair_clear(p);
    }
}

static void every_byte_matches_the_oracle(void **state) {
    (void)state;
    const char *isa;
    for (size_t i = 0; (isa = tamis_isa_name(i)) != NULL; i++) {
        uint64_t refused = 0, matched = 0;
        for (size_t g = 0; g < N_GEOMETRIES; g++) {
            pair p = pair_make(geometries[g], isa, 100 + g);
            history(&p, steps);
            refused += p.refused;
            matched += p.matched;
            pair_free(&p);
        }
        assert_true(refused > 100 && matched > 50);
    }
}

/* ------------------------------------------------------------------ what it says of itself */

static double oracle_fpr(const oracle *o) {
    double hit = 0;
    for (uint64_t i = 0; i < o->g[DLBF_TABLES]; i++) {
        double sum = 0;
        for (uint64_t b = i * o->g[DLBF_BUCKETS]; b < (i + 1) * o->g[DLBF_BUCKETS]; b++) {
            unsigned const  length = oracle_length(o, b), lost = o->longest - length;
            const uint64_t *list = o->print + b * DLBF_MAX_CELLS;
            for (unsigned cell = 0; cell < o->load[b]; cell++) {
                bool const is_new = cell == 0 || list[cell] >> lost != list[cell - 1] >> lost;
                sum += is_new ? pow(0.5, length) : 0;
            }
        }
        hit = 1 - (1 - hit) * (1 - sum / (double)o->g[DLBF_BUCKETS]);
    }
    return hit;
}

static void the_rate_is_that_of_its_cells(void **state) {
    (void)state;
    for (size_t g = 0; g < N_GEOMETRIES; g++) {
        pair p = pair_make(geometries[g], NULL, g);
        for (unsigned i = 0; i < 300; i++) {
            step_add(&p, dice_roll(&p.chance));
            double const expected = oracle_fpr(&p.oracle), told = survey_fpr(p.kind, &p.table);
            assert_true(fabs(told - expected) <= 1e-9 * expected + 1e-15);
        }
        pair_free(&p);
    }
}

/* ------------------------------------------------------------------ keys that come together */

#define MAX_TOGETHER 400

/* The algorithm: place all keys, ten times place each again, then store them in order. */
static uint64_t oracle_balance(oracle *o, const uint64_t *hash, uint64_t n) {
    uint64_t const buckets = o->g[DLBF_TABLES] * o->g[DLBF_BUCKETS];
    unsigned const nowhere = (unsigned)o->g[DLBF_TABLES];
    unsigned       load[200], where[MAX_TOGETHER];
    bool           is_there[MAX_TOGETHER];
    uint64_t       print;
    assert_true(buckets <= 200 && n <= MAX_TOGETHER);
    memcpy(load, o->load, buckets * sizeof load[0]);
    for (uint64_t i = 0; i < n; i++) is_there[i] = oracle_has(o, hash[i]);
    for (uint64_t i = 0; i < n; i++) where[i] = nowhere;
    for (uint64_t i = 0; i < 11 * n; i++) {
        uint64_t const key = i % n;
        if (is_there[key]) continue;
        if (where[key] != nowhere) load[oracle_place(o, hash[key], where[key], &print)]--;
        where[key] = least_loaded(o, hash[key], load);
        if (where[key] != nowhere) load[oracle_place(o, hash[key], where[key], &print)]++;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (is_there[i] || oracle_has(o, hash[i])) continue;
        uint64_t bucket = where[i] == nowhere ? 0 : oracle_place(o, hash[i], where[i], &print);
        if (where[i] == nowhere || o->load[bucket] == o->g[DLBF_CELLS]) {
            if (oracle_add(o, hash[i]) != TAMIS_OK) return i;
        } else {
            oracle_insert(o, bucket, print);
        }
    }
    return n;
}

static void balance(pair *p, const uint64_t *hash, uint64_t n) {
    uint8_t *const scratch = malloc(p->kind->calls.balance_bytes(&p->table, n));
    assert_non_null(scratch);
    memset(scratch, 0xa5, p->kind->calls.balance_bytes(&p->table, n));
    uint64_t const added = p->kind->calls.add_balanced(&p->table, hash, n, scratch);
    assert_int_equal(added, oracle_balance(&p->oracle, hash, n));
    for (uint64_t i = 0; i < added; i++) assert_true(p->kind->calls.has(&p->table, hash[i]));
    check_bytes(p);
    free(scratch);
}

/* Into empty tables and tables with keys, with repeated keys, and with too many. */
static void keys_that_come_together_are_balanced(void **state) {
    (void)state;
    for (size_t g = 0; g < N_GEOMETRIES; g++) {
        pair p = pair_make(geometries[g], NULL, g);
        for (unsigned round = 0; round < 20; round++) {
            uint64_t       hash[MAX_TOGETHER];
            uint64_t const n = 1 + dice_below(&p.chance, MAX_TOGETHER);
            for (uint64_t i = 0; i < n; i++) {
                bool const is_copy = i > 0 && dice_below(&p.chance, 8) == 0;
                hash[i] = is_copy ? hash[dice_below(&p.chance, i)] : dice_roll(&p.chance);
            }
            balance(&p, hash, n);
            if (round % 3 == 2) pair_clear(&p);
        }
        pair_free(&p);
    }
}

/* ------------------------------------------------------------------ through the front door */

static tamis_set *made(uint64_t capacity, const char *kind, const char *geometry) {
    return make_set(&(subject){ .kind = kind,
                                .capacity = capacity,
                                .geometry = geometry,
                                .fpr = 0.01,
                                .overflow = 1 - 1e-9 },
                    3);
}

static double rate_of(const tamis_set *set) {
    return survey_fpr(set->kind, &set->table);
}

#define SMALL_PAIR "tables=2,buckets=512,bucket_bits=64,cells=6,sorting=1280,group=1"

static void balanced_sets_hold_all_and_err_less(void **state) {
    (void)state;
    uint64_t ids[4096];
    size_t   added = 0;
    for (uint64_t i = 0; i < 4096; i++) ids[i] = i;
    tamis_set *const single = made(4096, "dlbf", SMALL_PAIR);
    tamis_set *const together = made(4096, "dlbf", SMALL_PAIR);
    assert_true(tamis_add_id_batch(single, ids, 4096, &added) == TAMIS_OK || added > 3900);
    assert_int_equal(tamis_add_id_balanced(together, ids, 4096, &added), TAMIS_OK);
    assert_int_equal(added, 4096);
    assert_int_equal(tamis_has_id_batch(together, ids, 4096, NULL), 4096);
    assert_true(tamis_validate(together, NULL));
    assert_true(rate_of(together) < 0.6 * rate_of(single));
    for (uint64_t i = 0; i < 4096; i++) ids[i] = 5000 + i;
    assert_int_equal(tamis_add_id_balanced(together, ids, 4096, &added), TAMIS_ERR_FULL);
    assert_int_equal(together->table.refused_adds, 1);
    assert_true(added < 4096);
    assert_int_equal(tamis_has_id_batch(together, ids, added, NULL), added);
    tamis_free(single);
    tamis_free(together);
}

/* Keys as bytes, and invalid arguments. Kinds without balancing add in the usual way. */
static void balancing_is_for_any_keys_and_kinds(void **state) {
    (void)state;
    static const char *const kinds[] = { "dlbf", "line", "bloom" };
    tamis_key const          keys[] = { { "apple", 5 }, { "pear", 4 }, { NULL, 0 }, { "pear", 4 } };
    tamis_key const          wrong[] = { { "apple", 5 }, { NULL, 3 } };
    for (unsigned i = 0; i < 3; i++) {
        tamis_set *const set = made(100, kinds[i], NULL);
        size_t           added = 77;
        assert_int_equal(tamis_add_balanced(set, keys, 4, &added), TAMIS_OK);
        assert_int_equal(added, 4);
        assert_int_equal(tamis_has_batch(set, keys, 4, NULL), 4);
        assert_int_equal(tamis_add_balanced(set, keys, 0, NULL), TAMIS_OK);
        assert_int_equal(tamis_add_balanced(set, NULL, 1, NULL), TAMIS_ERR_ARGUMENT);
        assert_int_equal(tamis_add_balanced(set, wrong, 2, &added), TAMIS_ERR_ARGUMENT);
        assert_int_equal(added, 0);
        tamis_free(set);
    }
    assert_int_equal(tamis_add_id_balanced(NULL, NULL, 0, NULL), TAMIS_ERR_ARGUMENT);
}

static void balancing_without_memory_changes_nothing(void **state) {
    (void)state;
    uint64_t const        ids[] = { 1, 2, 3 };
    size_t                added = 9;
    ledger                book = { .is_empty = true };
    tamis_set *const      set = made(100, "dlbf", NULL);
    tamis_allocator const allocator = set->allocator;
    set->allocator = ledger_allocator(&book);
    assert_int_equal(tamis_add_id_balanced(set, ids, 3, &added), TAMIS_ERR_MEMORY);
    set->allocator = allocator;
    assert_int_equal(added, 0);
    assert_int_equal(set->table.keys, 0);
    assert_int_equal(tamis_has_id_batch(set, ids, 3, NULL), 0);
    tamis_free(set);
}

int main(int argc, char **argv) {
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_matches_the_oracle),
        cmocka_unit_test(the_rate_is_that_of_its_cells),
        cmocka_unit_test(keys_that_come_together_are_balanced),
        cmocka_unit_test(balanced_sets_hold_all_and_err_less),
        cmocka_unit_test(balancing_is_for_any_keys_and_kinds),
        cmocka_unit_test(balancing_without_memory_changes_nothing),
    };
    return cmocka_run_group_tests_name("dlbf", tests, NULL, NULL);
}
