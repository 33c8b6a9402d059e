/* test_golden.c - files of earlier versions can be read, and the same sets are written with the
 * same bytes.
 *
 * usage: test_golden FOLDER            compare with the files in the folder
 *        test_golden FOLDER --write    write those that are missing; never over an old one
 */
#include "golden.h"
#include "make.h"

typedef struct golden {
    const char *file;
    const char *kind;
    const char *geometry;
    uint64_t    keys;
    tamis_hash  hash;
    double      overflow; /* 0: the default of 1e-10 */
} golden;

static const golden goldens[] = {
    { "v1-bloom.tamis", "bloom", "bits=3000,hashes=7", 300, TAMIS_HASH_XXH3, 0 },
    { "v1-bloom-siphash.tamis", "bloom", "bits=1024,hashes=5", 80, TAMIS_HASH_SIPHASH, 0 },
    { "v1-bloom-blocked.tamis", "bloom", "bits=5120,hashes=8,blocked=1", 300, TAMIS_HASH_XXH3, 0 },
    { "v1-counting.tamis", "counting", "counters=3000,hashes=7,counter_bits=4", 300,
      TAMIS_HASH_XXH3, 0 },
    { "v1-counting-5-bits.tamis", "counting", "counters=1501,hashes=4,counter_bits=5", 100,
      TAMIS_HASH_XXH3, 0 },
    { "v1-counting-blocked.tamis", "counting", "counters=4080,hashes=6,counter_bits=5,blocked=1",
      300, TAMIS_HASH_XXH3, 0 },
    { "v1-counting-minimal.tamis", "counting",
      "counters=1501,hashes=4,counter_bits=3,blocked=0,minimal=1", 300, TAMIS_HASH_XXH3, 0 },
    { "v1-rank-counting.tamis", "rank",
      "buckets=40,chains=16,remainder_bits=12,cells=10,cells2=7,cells3=33,extensions2=40,"
      "extensions3=30,counter_bits=2,copies=4,value_bits=0,aligned=0",
      600, TAMIS_HASH_XXH3, 2e-10 }, /* the plan states 1.2e-10, since it includes a flooded key */
    { "v1-rank-aligned-set.tamis", "rank",
      "buckets=20,chains=20,remainder_bits=10,cells=30,cells2=5,cells3=46,extensions2=20,"
      "extensions3=18,counter_bits=0,copies=1,value_bits=0,aligned=1",
      600, TAMIS_HASH_XXH3, 0 },
    { "v1-rank-multiset.tamis", "rank",
      "buckets=20,chains=33,remainder_bits=13,cells=29,cells2=8,cells3=46,extensions2=20,"
      "extensions3=18,counter_bits=0,copies=8,value_bits=0,aligned=0",
      600, TAMIS_HASH_XXH3, 0 },
    { "v1-dlcbf-counting.tamis", "dlcbf",
      "tables=4,buckets=50,cells=8,remainder_bits=18,counter_bits=2,bucket_bytes=20,moves=1", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-dlcbf-set.tamis", "dlcbf",
      "tables=3,buckets=31,cells=11,remainder_bits=11,counter_bits=0,bucket_bytes=17,moves=0", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-ddlcbf.tamis", "ddlcbf",
      "tables=4,buckets=40,cells=8,remainder_bits=14,counter_bits=1,lengths=1,bucket_bytes=16", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-ddlcbf-two-lengths.tamis", "ddlcbf",
      "tables=4,buckets=40,cells=8,remainder_bits=12,counter_bits=2,lengths=2,bucket_bytes=17", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-dlbf.tamis", "dlbf", "tables=3,buckets=100,bucket_bits=64,cells=6,sorting=1280,group=1",
      600, TAMIS_HASH_XXH3, 0 },
    { "v1-dlbf-grouped.tamis", "dlbf",
      "tables=3,buckets=60,bucket_bits=128,cells=10,sorting=1418580,group=4", 600, TAMIS_HASH_XXH3,
      0 },
    { "v1-vicbf.tamis", "vicbf",
      "counters=9001,hashes=5,more=0,counter_bits=8,increments=53504,blocked=0", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-vicbf-blocked.tamis", "vicbf",
      "counters=8760,hashes=5,more=64,counter_bits=7,increments=240,blocked=1", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-bhcbf.tamis", "bhcbf",
      "entries=6001,hashes=6,count_bits=4,sum_bits=8,sequence=40978,h=3,improved=1,centred=0", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-bhcbf-centred.tamis", "bhcbf",
      "entries=6001,hashes=6,count_bits=4,sum_bits=6,sequence=40978,h=3,improved=1,centred=1", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-mlcbf.tamis", "mlcbf",
      "blocks=30,counters=400,area=1500,hashes=5,increments=53504,plain=0,bits=1,bits2=2,bits3=3,"
      "bits4=5,bits5=0,bits6=0",
      600, TAMIS_HASH_XXH3, 0 },
    { "v1-mlcbf-plain.tamis", "mlcbf",
      "blocks=1,counters=12842,area=2724,hashes=5,increments=240,plain=1,bits=4,bits2=3,bits3=3,"
      "bits4=3,bits5=0,bits6=0",
      600, TAMIS_HASH_XXH3, 0 },
    { "v1-line-multiset.tamis", "line",
      "buckets=12,remainder_bits=8,counter_bits=0,copies=8,value_bits=0,attic=200", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-line-counting.tamis", "line",
      "buckets=12,remainder_bits=12,counter_bits=4,copies=1,value_bits=0,attic=200", 600,
      TAMIS_HASH_XXH3, 0 },
    { "v1-line-wide-set.tamis", "line",
      "buckets=12,remainder_bits=24,counter_bits=0,copies=1,value_bits=0,attic=200", 600,
      TAMIS_HASH_XXH3, 0 },
};

/* Key i as text, of many lengths. */
static size_t key_text(uint64_t i, char text[300]) {
    int const n =
        snprintf(text, 300, "key %llu %.*s", (unsigned long long)i, (int)(i % 200),
                 "the quick brown fox jumps over the lazy dog; the quick brown fox jumps "
                 "over the lazy dog; the quick brown fox jumps over the lazy dog; the "
                 "quick brown fox jumps over the lazy dog; the quick brown fox jumps over");
    return (size_t)n;
}

/* Keys as text and as ids, some twice, some removed again. */
static void fill(tamis_set *set, uint64_t keys) {
    char text[300];
    for (uint64_t i = 0; i < keys / 2; i++) {
        size_t const n = key_text(i, text);
        assert_int_equal(tamis_add(set, text, n), TAMIS_OK);
        assert_int_equal(tamis_add_id(set, i), TAMIS_OK);
        if (i % 3 == 0) assert_int_equal(tamis_add_id(set, i), TAMIS_OK);
    }
    for (uint64_t i = 0; i < keys / 2; i += 5) (void)!tamis_remove_id(set, i + 1000000);
    for (uint64_t i = 0; i < keys / 2; i += 3) (void)!tamis_remove_id(set, i);
}

/* NULL: its hash function is not in this build. */
static tamis_set *make(const golden *g) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = g->kind;
    spec.geometry = g->geometry;
    spec.capacity = g->keys;
    spec.overflow = g->overflow;
    spec.hash = g->hash;
    spec.seed = &golden_seed;
    tamis_set *const set = make_set_if_built(&spec);
    if (set != NULL) fill(set, g->keys);
    return set;
}

static void golden_is_written_the_same(void **state) {
    const golden *const g = *state;
    tamis_set *const    set = make(g);
    assert_non_null(set);
    buffer const now = buffer_of(set);
    golden_expect(g->file, &now);
    free(now.bytes);
    tamis_free(set);
}

static void golden_is_read_and_answers(void **state) {
    const golden *const g = *state;
    char                path[GOLDEN_PATH_BYTES], text[300];
    tamis_set          *set = NULL;
    golden_path(g->file, path);
    assert_int_equal(tamis_open(path, NULL, &set, NULL), TAMIS_OK);
    for (uint64_t i = 0; i < g->keys / 2; i++) {
        size_t const n = key_text(i, text);
        assert_true(tamis_has(set, text, n));
        assert_true(tamis_has_id(set, i));
    }
    tamis_info info;
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_string_equal(info.plan.kind, g->kind);
    assert_int_equal(info.plan.capacity, g->keys);
    assert_int_equal(info.facts.hash, g->hash);
    tamis_free(set);
}

static int write_missing(void) {
    for (size_t i = 0; i < COUNT(goldens); i++) {
        tamis_set *const set = make(&goldens[i]);
        if (set == NULL) return 1;
        buffer const now = buffer_of(set);
        if (!golden_write(goldens[i].file, &now)) return 1;
        free(now.bytes);
        tamis_free(set);
    }
    return 0;
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[2 * COUNT(goldens)];
    if (argc < 2) return 2;
    golden_folder = argv[1];
    if (argc > 2 && strcmp(argv[2], "--write") == 0) return write_missing();
    size_t n = 0;
    for (size_t i = 0; i < COUNT(goldens); i++) {
        tamis_set *const set = make(&goldens[i]);
        tamis_free(set);
        if (set == NULL) continue; /* its hash is not in this build */
        union {
            const void *in;
            void       *out;
        } const state = { &goldens[i] };
        struct CMUnitTest const written =
            cmocka_unit_test_prestate(golden_is_written_the_same, state.out);
        struct CMUnitTest const read =
            cmocka_unit_test_prestate(golden_is_read_and_answers, state.out);
        tests[n++] = written;
        tests[n++] = read;
    }
    return _cmocka_run_group_tests("golden", tests, n, NULL, NULL);
}
