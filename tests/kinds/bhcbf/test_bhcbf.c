/* test_bhcbf.c - pairs of counters against an oracle that predicts every answer and every byte.
 *
 * usage: test_bhcbf [STEPS]     operations of each history
 *
 * The oracle stores the two numbers of every entry without limits, and a table of all sums. Then
 * many filters are filled, and what they do is compared with what is predicted, and with the paper.
 */
#include "both.h"
#include "by_hand.h"
#include "kinds/bhcbf/sequences.h"
#include "kinds/bhcbf/size.h"
#include "overload.h"

#define MAX_ENTRIES 300
#define MAX_SUM (64 * 64)

#define D SEQUENCE_4(1, 4, 13, 15)
#define FIVE (SEQUENCE_4(1, 2, 6, 12) | SEQUENCE_1(14))
#define WIDE (SEQUENCE_4(1, 3, 8, 16) | SEQUENCE_2(22, 25) | SEQUENCE_1(26))
#define FAR SEQUENCE_4(7, 20, 41, 63)

static uint64_t steps = 6000;

/* Tables that are so small that keys share entries and entries stick: entries, hashes, count_bits,
 * sum_bits, sequence, h, improved, centred. */
static const uint64_t geometries[][BH_FIELDS] = {
    { 300, 5, 4, 8, D, 3, 1, 0 },
    { 300, 5, 4, 8, D, 3, 0, 0 },
    { 200, 5, 4, 6, D, 3, 1, 1 },
    { 100, 4, 3, 5, D, 3, 1, 0 },
    { 150, 4, 5, 4, D, 2, 1, 1 },
    { 90, 3, 2, 2, D, 3, 1, 1 },
    { 40, 6, 6, 12, D, 3, 1, 1 },
    { 40, 6, 6, 12, D, 3, 0, 0 },
    { 7, 20, 6, 10, FIVE, 2, 1, 1 },
    { 2, 64, 6, 12, D, 3, 1, 0 },
    { 120, 7, 4, 7, FIVE, 2, 1, 1 },
    { 200, 5, 4, 8, WIDE, 2, 1, 1 },
    { 150, 3, 5, 9, WIDE, 1, 0, 0 },
    { 99, 5, 6, 12, FAR, 3, 1, 0 },
    { 99, 5, 5, 9, FAR, 3, 1, 1 },
    { 130, 2, 4, 8, 0xfffe, 1, 1, 0 },
    { 130, 1, 4, 8, ~UINT64_C(1), 1, 1, 1 },
};

/* ------------------------------------------------------------------ the oracle */

struct oracle {
    uint64_t g[BH_FIELDS];
    int      value[64], n; /* the sequence */
    int      centre, low;  /* of c3, or 0 */
    int      rows;         /* sums of this many numbers or more are not in the table */
    int      c1[MAX_ENTRIES], c2[MAX_ENTRIES];
    bool     is_stuck[MAX_ENTRIES];
    bool     made[64][MAX_SUM]; /* made[n][s]: is s a sum of exactly n numbers? */
    uint64_t keys, saturated;
};

oracle *oracle_make(const uint64_t *g) {
    oracle *const o = calloc(1, sizeof *o);
    int           sum = 0, bits = 0;
    assert_non_null(o);
    memcpy(o->g, g, sizeof o->g);
    for (int v = 1; v < 64; v++) {
        if ((g[BH_SEQUENCE] >> v & 1) != 0) sum += o->value[o->n++] = v;
    }
    o->made[0][0] = true;
    for (int j = 1; j < 64; j++) {
        for (int i = 0; i < o->n; i++) {
            for (int s = o->value[i]; s < MAX_SUM; s++)
                o->made[j][s] |= o->made[j - 1][s - o->value[i]];
        }
    }
    int const width = o->value[o->n - 1] - o->value[0];
    while (o->rows < 1 << g[BH_COUNT_BITS] && (bits += o->rows * width + 1) <= 36 * 64) o->rows++;
    if (g[BH_CENTRED] == 0) return o;
    o->centre = (int)floor((double)sum / o->n + 0.5);
    o->low = 1 - (1 << (g[BH_SUM_BITS] - 1));
    return o;
}

oracle_facts oracle_look(const oracle *o) {
    uint64_t const bits = o->g[BH_ENTRIES] * (o->g[BH_COUNT_BITS] + o->g[BH_SUM_BITS]);
    return (oracle_facts){ .places = o->g[BH_ENTRIES],
                           .hashes = o->g[BH_HASHES],
                           .body_bytes = ((bits + 7) / 8 + 8 + 63) / 64 * 64,
                           .keys = o->keys,
                           .saturated = o->saturated };
}

/* Can s be a sum of j numbers, according to the table of sums? */
static bool oracle_may_be(const oracle *o, int j, int s) {
    if (j < 0 || s < j * o->value[0] || s > j * o->value[o->n - 1]) return false;
    return j >= o->rows || o->made[j][s];
}

/* What is stored for an entry; -1 if its numbers do not fit, or would be the mark. */
static int oracle_field(const oracle *o, int c1, int c2) {
    int const bits = (int)o->g[BH_COUNT_BITS], values = 1 << o->g[BH_SUM_BITS];
    int const c3 = c2 - o->centre * c1, mark = (values << bits) - 1;
    if (c1 >= 1 << bits || c3 < o->low || c3 >= o->low + values) return -1;
    int const field = c1 | ((c3 + values) % values) << bits;
    return field == mark ? -1 : field;
}

static void oracle_set(oracle *o, size_t entry, int c1, int c2) {
    o->c1[entry] = c1;
    o->c2[entry] = c2;
    o->is_stuck[entry] = oracle_field(o, c1, c2) < 0;
    o->saturated += o->is_stuck[entry];
}

/* What a key adds to every entry of the table; for most entries nothing. */
typedef struct visit {
    int times[MAX_ENTRIES], sum[MAX_ENTRIES];
} visit;

static visit oracle_visit(const oracle *o, uint64_t hash) {
    visit v = { .times = { 0 } };
    for (unsigned i = 0; i < o->g[BH_HASHES]; i++) {
        uint64_t const place = high_half(remix(hash, i), o->g[BH_ENTRIES] * (uint64_t)o->n);
        v.times[place / (uint64_t)o->n]++;
        v.sum[place / (uint64_t)o->n] += o->value[place % (uint64_t)o->n];
    }
    return v;
}

static bool oracle_holds(const oracle *o, const visit *v) {
    for (size_t e = 0; e < o->g[BH_ENTRIES]; e++) {
        bool const is_far = o->g[BH_IMPROVED] == 0 && o->c1[e] > (int)o->g[BH_H];
        if (v->times[e] == 0 || o->is_stuck[e] || (is_far && o->c1[e] >= v->times[e])) continue;
        if (!oracle_may_be(o, o->c1[e] - v->times[e], o->c2[e] - v->sum[e])) return false;
    }
    return true;
}

bool oracle_has(const oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    return oracle_holds(o, &v);
}

uint64_t oracle_count(const oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    uint64_t    least = TAMIS_COUNT_MANY;
    for (size_t e = 0; e < o->g[BH_ENTRIES]; e++) {
        if (v.times[e] == 0 || o->is_stuck[e]) continue;
        uint64_t most = 0;
        for (int n = 1; n * v.times[e] <= o->c1[e]; n++) {
            bool const can = oracle_may_be(o, o->c1[e] - n * v.times[e], o->c2[e] - n * v.sum[e]);
            if (can) most = (uint64_t)n;
        }
        least = min_u64(least, most);
    }
    return least;
}

static void oracle_move(oracle *o, const visit *v, int sign) {
    bool is_changed = false;
    for (size_t e = 0; e < o->g[BH_ENTRIES]; e++) {
        if (v->times[e] == 0 || o->is_stuck[e]) continue;
        is_changed = true;
        oracle_set(o, e, o->c1[e] + sign * v->times[e], o->c2[e] + sign * v->sum[e]);
    }
    if (is_changed && (sign > 0 || o->keys != 0)) o->keys += (uint64_t)sign;
}

void oracle_add(oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    oracle_move(o, &v, 1);
}

tamis_status oracle_remove(oracle *o, uint64_t hash) {
    visit const v = oracle_visit(o, hash);
    for (size_t e = 0; e < o->g[BH_ENTRIES]; e++) {
        if (v.times[e] == 0 || o->is_stuck[e]) continue;
        if (!oracle_may_be(o, o->c1[e] - v.times[e], o->c2[e] - v.sum[e])) return TAMIS_ERR_ABSENT;
    }
    oracle_move(o, &v, -1);
    return TAMIS_OK;
}

void oracle_merge(oracle *o, const oracle *from) {
    for (size_t e = 0; e < o->g[BH_ENTRIES]; e++) {
        if (o->is_stuck[e]) continue;
        oracle_set(o, e, from->is_stuck[e] ? 64 : o->c1[e] + from->c1[e], o->c2[e] + from->c2[e]);
    }
    o->keys += from->keys;
}

/* The body, bit by bit. */
void oracle_bytes(const oracle *o, uint8_t *to) {
    size_t const bits = o->g[BH_COUNT_BITS] + o->g[BH_SUM_BITS];
    for (size_t at = 0; at < o->g[BH_ENTRIES] * bits; at++) {
        size_t const e = at / bits;
        int const    field = o->is_stuck[e] ? -1 : oracle_field(o, o->c1[e], o->c2[e]);
        write_bit(to, at, (field >> (at % bits) & 1) != 0);
    }
}

/* The rate over all possible absent keys: all combinations of entries and numbers, in tables with
 * few entries. */
double oracle_rate(const oracle *o) {
    uint64_t const places = o->g[BH_ENTRIES] * (uint64_t)o->n;
    uint64_t       all = 1, held = 0;
    for (uint64_t i = 0; i < o->g[BH_HASHES]; i++) all *= places;
    for (uint64_t way = 0; way < all; way++) {
        visit    v = { .times = { 0 } };
        uint64_t rest = way;
        for (uint64_t i = 0; i < o->g[BH_HASHES]; i++, rest /= places) {
            uint64_t const place = rest % places;
            v.times[place / (uint64_t)o->n]++;
            v.sum[place / (uint64_t)o->n] += o->value[place % (uint64_t)o->n];
        }
        held += oracle_holds(o, &v);
    }
    return (double)held / (double)all;
}

/* ------------------------------------------------------------------ tables and their oracles */

static const tested under_test = { "bhcbf",   geometries[0], COUNT(geometries),
                                   BH_FIELDS, .crowd = 3,    .calm = 0 };

static void answers_and_bytes_match_the_oracle(void **state) {
    (void)state;
    check_histories(&under_test, steps);
}

static void merges_are_sums(void **state) {
    (void)state;
    check_merges(&under_test);
}

static void chunks_are_their_keys_one_by_one(void **state) {
    (void)state;
    check_chunks(&under_test);
}

/* A removal takes c3 out of its range: 15 + 15 + 1 fits, 15 + 15 does not. The entry is marked, and
 * no remaining key is ever lost. */
static void a_removal_may_take_a_centred_counter_out_of_range(void **state) {
    (void)state;
    static const uint64_t g[] = { 2, 1, 4, 4, D, 3, 1, 1 }; /* c3 is -7 to 8 */
    both                  b = both_make(&under_test, g, NULL, 5);
    uint64_t              up = 0, down = 0; /* of the first entry, with 15 and with 1 */
    for (uint64_t at = 0; at < 1000 && (up == 0 || down == 0); at++) {
        visit const v = oracle_visit(b.o, mix64(at));
        if (v.sum[0] == 15) up = mix64(at);
        if (v.sum[0] == 1) down = mix64(at);
    }
    assert_int_equal(b.kind->calls.add(&b.table, up), TAMIS_OK);   /* 7 */
    assert_int_equal(b.kind->calls.add(&b.table, down), TAMIS_OK); /* 0 */
    assert_int_equal(b.kind->calls.add(&b.table, up), TAMIS_OK);   /* 7 */
    assert_int_equal(b.table.saturated, 0);
    assert_int_equal(b.kind->calls.remove(&b.table, down), TAMIS_OK); /* 14 */
    assert_int_equal(b.table.saturated, 1);
    assert_int_equal(b.kind->calls.add(&b.table, down),
                     TAMIS_OK); /* 7 again, but the entry no longer knows it */
    assert_int_equal(b.table.saturated, 1);
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(b.kind->calls.remove(&b.table, down), TAMIS_ERR_SATURATED);
    }
    assert_true(b.kind->calls.has(&b.table, up));
    assert_int_equal(b.kind->calls.count(&b.table, up), TAMIS_COUNT_MANY);
    both_free(&b);
}

/* A hash with two places: entry a with a number of 13, and entry b, or twice entry b. */
static uint64_t hash_at(const oracle *o, size_t a, size_t b) {
    for (uint64_t at = 0;; at++) {
        visit const v = oracle_visit(o, mix64(at));
        bool const  is_there = a == b ? v.times[a] == 2 : v.sum[a] == 13 && v.times[b] == 1;
        if (is_there && (a == b || b == 2 || v.sum[b] == 13)) return mix64(at);
    }
}

/* Remove a key by removing two absent keys, each of which has one of its entries and one that is
 * stuck. Repeat until the count of keys would fall below 0. */
static void removals_of_absent_keys_never_count_below_zero(void **state) {
    (void)state;
    static const uint64_t g[] = { 3, 2, 2, 8, D, 3, 1, 0 };
    both                  b = both_make(&under_test, g, NULL, 1);
    b.hash[0] = hash_at(b.o, 2, 2);
    b.hash[1] = hash_at(b.o, 0, 1);
    b.hash[2] = hash_at(b.o, 0, 2);
    b.hash[3] = hash_at(b.o, 1, 2);
    for (unsigned i = 0; i < 4; i++) both_add(&b, 0);
    assert_int_equal(b.table.saturated, 1);
    for (unsigned i = 0; i < 20; i++) {
        both_add(&b, 1);
        both_remove(&b, 2, false);
        both_remove(&b, 3, false);
        both_check_counts(&b);
    }
    assert_true(b.refused == 0 && b.table.keys == 0);
    both_check_bytes(&b);
    both_free(&b);
}

static void current_fpr_is_the_share_of_absent_keys_that_match(void **state) {
    (void)state;
    static const uint64_t few[][BH_FIELDS] = {
        { 5, 3, 4, 8, D, 3, 1, 0 }, { 5, 3, 4, 8, D, 3, 0, 0 },    { 4, 3, 3, 4, D, 3, 1, 1 },
        { 2, 5, 4, 8, D, 3, 1, 0 }, { 6, 3, 4, 6, FIVE, 2, 1, 1 }, { 3, 4, 2, 6, D, 3, 1, 1 },
    };
    static const tested small = { "bhcbf", few[0], COUNT(few), BH_FIELDS, 0, 0 };
    check_rates(&small, 7);
}

/* ------------------------------------------------------------------ many filters */

#define FILTERS 50
#define STRANGERS 10000

static subject bhcbf_of(const char *geometry, double capacity, double lifetime) {
    return (subject){ .kind = "bhcbf",
                      .capacity = (uint64_t)capacity,
                      .lifetime = (uint64_t)lifetime,
                      .geometry = geometry,
                      .fpr = .001 };
}

static tamis_set *make_bhcbf(const char *geometry, double capacity, double lifetime,
                             uint64_t seed) {
    subject const variant = bhcbf_of(geometry, capacity, lifetime);
    return make_set(&variant, seed);
}

typedef struct trial {
    const char *geometry; /* NULL: as planned */
    double      fpr;      /* stated; 0: only what is predicted */
    double      stuck;    /* share of entries */
} trial;

typedef struct means {
    double fpr, predicted, hits, stuck, entries;
} means;

static means fill_many(const trial *tried) {
    means sum = { .fpr = 0 };
    for (uint64_t seed = 0; seed < FILTERS; seed++) {
        tamis_set *const set = make_bhcbf(tried->geometry, 1024, 1024, seed);
        add_ids(set, 0, 1024);
        sum.hits += (double)count_ids(set, 1000000, STRANGERS);
        tamis_info const info = inspect(set);
        sum.fpr += info.current_fpr / FILTERS;
        sum.predicted = info.plan.fpr;
        sum.stuck += (double)info.facts.saturated;
        sum.entries += (double)set->table.geometry[BH_ENTRIES];
        tamis_free(set);
    }
    return sum;
}

/* The mean of 50 filters is within 3% of the paper's rate and of the prediction, and the share of
 * absent keys that are found is the one that the filters state. */
static void filters_are_as_predicted(void **state) {
    const trial *const tried = *state;
    means const        mean = fill_many(tried);
    double const       expected = mean.fpr * FILTERS * STRANGERS;
    if (tried->fpr != 0 && fabs(mean.fpr / tried->fpr - 1) > .03) {
        fail_msg("%s: %.5f, not %.5f", tried->geometry, mean.fpr, tried->fpr);
    }
    if (fabs(mean.fpr / mean.predicted - 1) > .03) {
        fail_msg("%.5f is predicted, and is %.5f", mean.predicted, mean.fpr);
    }
    if (fabs(mean.hits - expected) > 5 * sqrt(expected)) {
        fail_msg("%.0f strangers, not %.1f", mean.hits, expected);
    }
    double const stuck = tried->stuck * mean.entries;
    if (fabs(mean.stuck - stuck) > .03 * stuck + 4 * sqrt(stuck)) {
        fail_msg("%.0f entries are stuck, not %.1f", mean.stuck, stuck);
    }
}

#define PAPER(m, k, a, b, improved, centred)                                             \
    "entries=" #m ",hashes=" #k ",count_bits=" #a ",sum_bits=" #b ",sequence=40978,h=3," \
    "improved=" #improved ",centred=" #centred

static trial trials[] = {
    { PAPER(2560, 5, 4, 8, 0, 0), .01527, 0 },
    { PAPER(2560, 5, 4, 8, 1, 0), .00976, 0 },
    { PAPER(2560, 6, 4, 8, 1, 0), .00901, 0 },
    { PAPER(4266, 8, 4, 8, 0, 0), .00092, 0 },
    { PAPER(4266, 8, 4, 8, 1, 0), .00047, 0 },
    { PAPER(4266, 10, 4, 8, 1, 0), .00039, 0 },
    { PAPER(3072, 5, 4, 6, 1, 0), .00474, .00230 },
    { PAPER(3840, 5, 3, 5, 1, 0), .00259, .05699 },
    { PAPER(3072, 5, 4, 6, 1, 1), .00469, .00050 },
    { "entries=2560,hashes=2,count_bits=4,sum_bits=8,sequence=65534,improved=0,centred=0", .04630,
      0 },
    { "entries=2560,hashes=4,count_bits=4,sum_bits=8,sequence=8470,improved=0,centred=0", .01963,
      0 },
    { "entries=2560,hashes=5,count_bits=4,sum_bits=8,sequence=32774,improved=0,centred=0", .02728,
      0 },
    { NULL, 0, 0 },
    { "entries=3000,sequence=40978", 0, 0 },
    { "entries=3500,sequence=20550", 0, 0 }, /* {1, 2, 6, 12, 14} */
    { "entries=2000,hashes=7,count_bits=6,sum_bits=12,sequence=65534,h=1", 0, 0 },
};

/* ------------------------------------------------------------------ many lives */

/* The number of sets for each lifetime. Short runs have fewer, and then sigma is larger. */
static unsigned n_sets(void) {
    return steps < 4000 ? 200 : 500;
}

typedef struct life {
    const char *geometry;
    double      capacity, lifetime;
} life;

/* The statement may be a sixth too high, since an entry that comes back into its range is counted
 * twice. */
static void entries_stick_as_often_as_stated(void **state) {
    const life *const lived = *state;
    subject const     variant = bhcbf_of(lived->geometry, lived->capacity, lived->lifetime);
    check_saturation(&variant, n_sets(), 1 / 1.2, 1);
}

static life lives[] = {
    { PAPER(1500, 5, 4, 6, 1, 0), 200, 200 },  { PAPER(1500, 5, 4, 6, 1, 1), 300, 300 },
    { PAPER(1500, 5, 3, 8, 1, 0), 200, 1000 }, { PAPER(1500, 5, 4, 6, 1, 0), 100, 1000 },
    { PAPER(1500, 5, 4, 6, 1, 1), 180, 1800 }, { PAPER(3000, 3, 5, 5, 1, 1), 150, 1500 },
};

int main(int argc, char **argv) {
    static const struct CMUnitTest first[] = {
        cmocka_unit_test(answers_and_bytes_match_the_oracle),
        cmocka_unit_test(chunks_are_their_keys_one_by_one),
        cmocka_unit_test(merges_are_sums),
        cmocka_unit_test(a_removal_may_take_a_centred_counter_out_of_range),
        cmocka_unit_test(removals_of_absent_keys_never_count_below_zero),
        cmocka_unit_test(current_fpr_is_the_share_of_absent_keys_that_match),
    };
    struct CMUnitTest tests[COUNT(first) + COUNT(trials) + COUNT(lives)];
    size_t            n = COUNT(first);
    memcpy(tests, first, sizeof first);
    for (size_t i = 0; i < COUNT(trials); i++) {
        tests[n++] =
            (struct CMUnitTest)cmocka_unit_test_prestate(filters_are_as_predicted, &trials[i]);
    }
    for (size_t i = 0; i < COUNT(lives); i++) {
        tests[n++] = (struct CMUnitTest)cmocka_unit_test_prestate(entries_stick_as_often_as_stated,
                                                                  &lives[i]);
    }
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return _cmocka_run_group_tests("bhcbf", tests, n, NULL, NULL);
}
