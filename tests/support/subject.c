/* subject.c - see subject.h. */
#include "subject.h"

#include "grow.h"

/* Every kind is tried in these. */
static const struct {
    uint64_t capacity;
    double   fpr;
} sizes[] = { { 1, 0.5 }, { 300, 1e-6 }, { 2000, 0.01 }, { 20000, 0.001 } };

/* Some kinds are also tried in geometries that reach their limits early. */
static const struct {
    const char *kind;
    uint64_t    capacity;
    const char *geometry;
    double      overflow;
} special[] = {
    { "bloom", 100, "bits=1000", 0 },         /* not a whole number of lines */
    { "bloom", 50, "bits=777,hashes=64", 0 }, /* the most hashes there are */
    { "bloom", 500, "bits=2,hashes=1", 0 },   /* all marked: everything is in it */
    /* as planned without `blocked`, for the sizes above */
    { "bloom", 300, "bits=8704,hashes=20", 0 },
    { "bloom", 2000, "bits=19456,hashes=7", 0 },
    { "bloom", 20000, "bits=287744,hashes=10", 0 },
    { "counting", 1000, "counters=6000,hashes=4,counter_bits=2", 0 }, /* saturates soon */
    { "counting", 500, "counters=4001,hashes=7,counter_bits=5", 0 },  /* counters straddle words */
    { "counting", 500, "counters=5000,hashes=5,counter_bits=16", 0 },
    { "counting", 20, "counters=8,hashes=20", 0 }, /* a key meets its own counters */
    { "counting", 6, "counters=40,hashes=6,counter_bits=5",
      0 },                                         /* so do strangers, to be refused */
    { "bloom", 900, "bits=40000000,hashes=7", 0 }, /* beyond the cache, on huge pages */
    /* blocked: in vectors of 64 and 32 bits; one line; the fewest and the most hashes; large */
    { "bloom", 2000, "bits=20480,hashes=8,blocked=1", 0 },
    { "bloom", 800, "bits=19968,hashes=16,blocked=1", 0 },
    { "bloom", 30, "bits=512,hashes=8,blocked=1", 0 },
    { "bloom", 100, "bits=5120,hashes=1,blocked=1", 0 },
    { "bloom", 400, "bits=7680,hashes=64,blocked=1", 0 },
    { "bloom", 900, "bits=40000000,hashes=8,blocked=1", 0 },
    { "counting", 900, "counters=10000000,hashes=7", 0 },
    /* blocked: as planned, saturates soon, with gaps, the most hashes, one line, a large one */
    { "counting", 1000, "counters=10240,hashes=6,blocked=1", 0 },
    { "counting", 1000, "counters=6144,hashes=4,counter_bits=2,blocked=1", 0 },
    { "counting", 500, "counters=5100,hashes=5,counter_bits=5,blocked=1", 0 },
    { "counting", 30, "counters=512,hashes=64,counter_bits=2,blocked=1", 0 },
    { "counting", 10, "counters=128,hashes=5,blocked=1", 0 },
    { "counting", 900, "counters=9984000,hashes=7,blocked=1", 0 },
    /* minimal increase: as planned, saturates soon, keys that meet themselves, in lines */
    { "counting", 1000, "counters=9600,hashes=7,minimal=1", 0 },
    { "counting", 1000, "counters=3000,hashes=2,counter_bits=2,minimal=1", 0 },
    { "counting", 20, "counters=8,hashes=20,minimal=1", 0 },
    { "counting", 1000, "counters=8160,hashes=5,counter_bits=5,blocked=1,minimal=1", 0 },
    /* pools run out soon; one bucket of three levels; one long chain in each */
    { "rank", 70,
      "buckets=12,chains=8,remainder_bits=6,cells=8,cells2=4,cells3=6,extensions2=9,extensions3=5,"
      "counter_bits=2,aligned=0",
      0.999 },
    { "rank", 30,
      "buckets=1,chains=16,remainder_bits=8,cells=10,cells2=13,cells3=20,extensions2=1,"
      "extensions3=1,counter_bits=1",
      0.999 },
    { "rank", 60,
      "buckets=3,chains=1,remainder_bits=12,cells=20,cells2=7,cells3=30,extensions2=3,extensions3="
      "3,"
      "counter_bits=3",
      0.999 },
    { "rank", 2000, "remainder_bits=9,counter_bits=0,copies=8,aligned=0", 0 }, /* a multiset */
    { "rank", 2000, "remainder_bits=5,counter_bits=1,copies=2,aligned=1", 0 }, /* saturates soon */
    { "rank", 2000, "remainder_bits=6,copies=1,aligned=0", 0 },                /* a set */
    { "rank", 500, "remainder_bits=11,counter_bits=4,value_bits=13", 0 },
    { "rank", 100, "remainder_bits=44,counter_bits=8,copies=8", 0 },
    /* one line and its attic; a shelf that overflows soon; rests of every sort */
    { "line", 90, "buckets=1,attic=100,copies=8", 0.999 },
    { "line", 1000, "buckets=18,attic=400,copies=8", 0.999 },
    { "line", 930, "buckets=17,attic=500,counter_bits=1,remainder_bits=11", 0.999 },
    { "line", 1000, "remainder_bits=12,copies=3,attic=200", 0.999 },
    { "line", 700, "remainder_bits=16,counter_bits=2,value_bits=9", 0 },
    { "line", 2000, "remainder_bits=8,counter_bits=0,copies=1", 0 },
    { "line", 300, "remainder_bits=40,counter_bits=8", 0 },
    { "line", 900, "buckets=150000,copies=8,attic=50", 0 },
    /* the paper's buckets, alone and in groups; full soon; a block without a bit left; large */
    { "dlbf", 1200, "buckets=100,bucket_bits=64,cells=6,sorting=1280,group=1", 0.999 },
    { "dlbf", 1920, "buckets=100,bucket_bits=128,cells=10,sorting=1418580,group=1", 0.999 },
    { "dlbf", 1200, "buckets=100,bucket_bits=64,cells=6,sorting=1280,group=4", 0.999 },
    { "dlbf", 1920, "buckets=100,bucket_bits=128,cells=10,sorting=1418580,group=4", 0.999 },
    { "dlbf", 50, "tables=2,buckets=8,bucket_bits=64,cells=5,group=4", 0.999 },
    { "dlbf", 200, "tables=4,buckets=4,bucket_bits=128,cells=15,group=1", 0.999 },
    { "dlbf", 900, "tables=2,buckets=200000,bucket_bits=128,group=4", 0 },
    /* full early, with moves and without; saturates soon; a set; all subtables; the narrowest and
     * the widest remainders; buckets below 8 bytes; beyond the cache */
    { "dlcbf", 300, "tables=3,buckets=20,cells=7,remainder_bits=12,counter_bits=2", 0.999 },
    { "dlcbf", 300, "tables=4,buckets=16,cells=6,remainder_bits=14,moves=0,counter_bits=2", 0.999 },
    { "dlcbf", 1000, "tables=4,buckets=64,cells=8,remainder_bits=9,counter_bits=1", 0.9 },
    { "dlcbf", 2000, "remainder_bits=11,counter_bits=0", 0 },
    { "dlcbf", 1500, "tables=8,cells=6,remainder_bits=13,counter_bits=3", 0 },
    { "dlcbf", 60, "remainder_bits=4,counter_bits=4", 0 },
    { "dlcbf", 300, "remainder_bits=32,counter_bits=4", 0 },
    { "dlcbf", 400, "tables=4,cells=3,remainder_bits=13,counter_bits=2,bucket_bytes=6", 0 },
    { "dlcbf", 90, "tables=8,cells=1,remainder_bits=7,counter_bits=1,bucket_bytes=1", 0.9 },
    { "dlcbf", 900, "tables=4,buckets=100000,cells=8,remainder_bits=14,counter_bits=2", 0 },
    /* one bucket in each subtable; buckets that are full soon, and can be squeezed; both layouts,
     * and counters that stick soon and late */
    { "ddlcbf", 4, "tables=2,buckets=1,cells=8,remainder_bits=6,bucket_bytes=16", 0.999 },
    { "ddlcbf", 90, "buckets=4,cells=8,remainder_bits=5,counter_bits=2,bucket_bytes=12", 0.999 },
    { "ddlcbf", 80, "buckets=4,cells=8,remainder_bits=4,lengths=2,counter_bits=1,bucket_bytes=9",
      0.999 },
    { "ddlcbf", 900, "buckets=36,cells=8,remainder_bits=9,lengths=2,counter_bits=2,bucket_bytes=17",
      0.999 },
    { "ddlcbf", 900, "buckets=36,cells=8,remainder_bits=8,bucket_bytes=16", 0.999 },
    { "ddlcbf", 900,
      "tables=3,buckets=23,cells=16,remainder_bits=12,counter_bits=4,bucket_bytes=64", 0.999 },
    { "ddlcbf", 600, "tables=8,buckets=23,cells=4,remainder_bits=13,lengths=2,bucket_bytes=11",
      0.999 },
    { "ddlcbf", 900, "tables=4,buckets=200000,cells=8,remainder_bits=15,bucket_bytes=16", 0 },
    /* 40978 is {1, 4, 13, 15}, 32774 {1, 2, 15}, 65534 all from 1 to 15 */
    { "bhcbf", 1000, "entries=4000,hashes=3,count_bits=2,sum_bits=4,sequence=40978,h=3", 0 },
    { "bhcbf", 1000, "entries=3072,hashes=5,count_bits=4,sum_bits=6,sequence=40978,centred=1", 0 },
    { "bhcbf", 1000, "entries=3001,hashes=5,count_bits=4,sum_bits=4,sequence=40978,centred=1", 0 },
    { "bhcbf", 900, "entries=2560,hashes=5,count_bits=4,sum_bits=8,sequence=40978,improved=0", 0 },
    { "bhcbf", 500, "entries=2001,hashes=6,count_bits=3,sum_bits=8,sequence=32774,centred=0", 0 },
    { "bhcbf", 500, "entries=2001,hashes=7,count_bits=6,sum_bits=12,sequence=65534,h=1", 0 },
    { "bhcbf", 20, "entries=8,hashes=20,count_bits=4,sum_bits=9", 0 }, /* places meet */
    { "bhcbf", 6, "entries=40,hashes=6,count_bits=5,sum_bits=9,improved=0,centred=0", 0 },
    { "bhcbf", 6, "entries=40,hashes=6,count_bits=5,sum_bits=7,improved=1,centred=1", 0 },
    { "bhcbf", 900, "entries=10000000,hashes=7", 0 }, /* beyond the cache */
    /* Table I of the paper, which overflows; areas that run out; a top that is soon reached; a key
     * that meets its own counters; every level; one level; beyond the cache */
    { "mlcbf", 2000,
      "blocks=1,counters=12842,area=2724,hashes=5,increments=240,plain=1,bits=4,bits2=3,bits3=3,"
      "bits4=3",
      0 },
    { "mlcbf", 1000,
      "blocks=30,counters=150,area=130,hashes=4,increments=53504,bits=2,bits2=2,bits3=3,bits4=6",
      0 },
    { "mlcbf", 900, "blocks=70,counters=90,area=400,hashes=6,increments=2,bits=1,bits2=1,bits3=1",
      0 },
    { "mlcbf", 6, "blocks=2,counters=4,area=40,hashes=20,increments=240,bits=3,bits2=5,bits3=8",
      0 },
    { "mlcbf", 6, "blocks=3,counters=20,hashes=7,increments=53504", 0 },
    { "mlcbf", 500,
      "counters=301,blocks=11,area=900,hashes=4,increments=3640655872,bits=1,bits2=2,bits3=1,bits4="
      "4,bits5=5,bits6=8",
      0 },
    { "mlcbf", 500, "blocks=9,counters=333,area=0,hashes=5,increments=53504,plain=1,bits=8", 0 },
    { "mlcbf", 900, "blocks=90000,counters=200,area=311,hashes=4,increments=53504", 0 },
    /* 240 is {4, 5, 6, 7}, 53504 {8, 12, 14, 15}, 2 only 1: sticks soon; some have a hash more;
     * counters of a key meet; blocked of every sort; the most hashes; beyond the cache */
    { "vicbf", 1000, "counters=3000,hashes=5,counter_bits=5,increments=240,blocked=0", 0 },
    { "vicbf", 1000, "counters=4388,hashes=4,more=128,counter_bits=7,increments=240,blocked=0", 0 },
    { "vicbf", 500, "counters=2001,hashes=6,counter_bits=9,increments=4294901760,blocked=0", 0 },
    { "vicbf", 500, "counters=4001,hashes=5,counter_bits=3,increments=2,blocked=0", 0 },
    { "vicbf", 20, "counters=8,hashes=20,counter_bits=12,increments=240,blocked=0", 0 },
    { "vicbf", 6, "counters=40,hashes=6,counter_bits=8,increments=53504,blocked=0", 0 },
    { "vicbf", 1000, "counters=3840,hashes=6,counter_bits=8,increments=53504,blocked=1", 0 },
    { "vicbf", 1000, "counters=4380,hashes=4,more=100,counter_bits=7,increments=240,blocked=1", 0 },
    { "vicbf", 1000, "counters=3060,hashes=5,counter_bits=5,increments=240,blocked=1", 0 },
    { "vicbf", 10, "counters=42,hashes=40,more=255,counter_bits=12,increments=53504,blocked=1", 0 },
    { "vicbf", 900, "counters=5000000,hashes=7,counter_bits=8,increments=53504,blocked=0", 0 },
    { "vicbf", 900, "counters=6400000,hashes=7,counter_bits=8,increments=53504,blocked=1", 0 },
    { "rank", 900, "buckets=100000,chains=64,remainder_bits=7,cells=80,counter_bits=2", 0 },
};

/* Kinds that grow, in these. The first stage of `line` has 32 buckets or a few more, which is the
 * least. The buckets of `rank` hold more keys, so its sets are four times as large. */
static const struct {
    uint64_t   capacity, grow_to;
    double     fpr;
    unsigned   abilities;
    uint64_t   copies;
    tamis_hash hash;
} growing[] = {
    { 1500, 12000, 0.01, TAMIS_CAN_REMOVE, 0, TAMIS_HASH_XXH3 },
    { 1500, 6000, 0.01, TAMIS_CAN_MERGE, 0, TAMIS_HASH_XXH3 },
    { 1500, 12000, 0.001, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT, 0, TAMIS_HASH_XXH3 },
    { 1500, 6000, 0.01, TAMIS_CAN_REMOVE, 3, TAMIS_HASH_XXH3 },
    { 1500, 6000, 1e-6, TAMIS_CAN_REMOVE, 0, TAMIS_HASH_SIPHASH },
};

#define N_GROWING COUNT(growing)
#define N_SIZES COUNT(sizes)
#define N_SPECIAL COUNT(special)

const char *because(const char *format, ...) {
    static char reason[300];
    va_list     arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return reason;
}

tamis_status subject_try(const subject *variant, uint64_t seed, const tamis_allocator *allocator,
                         tamis_set **ret_set, tamis_problem *reterr_problem) {
    tamis_seed const whole_seed = make_seed(seed);
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.capacity = variant->capacity;
    spec.lifetime = variant->lifetime;
    spec.fpr = variant->geometry != NULL ? 0 : variant->fpr;
    spec.kind = variant->kind;
    spec.geometry = variant->geometry;
    spec.isa = variant->isa;
    spec.abilities = variant->abilities;
    spec.overflow = variant->overflow;
    spec.prefer = variant->prefer;
    spec.grow_to = variant->grow_to;
    spec.copies = variant->copies;
    spec.hash = variant->hash;
    spec.seed = &whole_seed;
    if (allocator != NULL) spec.allocator = *allocator;
    tamis_status const status = tamis_create(&spec, ret_set, reterr_problem);
    if (status != TAMIS_OK || variant->instead == NULL) return status;
    (*ret_set)->kind = variant->instead;
    (*ret_set)->calls = &variant->instead->calls;
    tamis_handle_bind(*ret_set);
    if ((*ret_set)->growth != NULL) {
        (*ret_set)->growth->table_calls = &variant->instead->calls;
        tamis_grow_choose_calls(*ret_set);
    }
    return status;
}

tamis_set *subject_make(const subject *variant, uint64_t seed) {
    tamis_set    *set = NULL;
    tamis_problem problem = { 0 };
    if (subject_try(variant, seed, NULL, &set, &problem) == TAMIS_OK) return set;
    print_message("# %s\n", problem.text); /* the law says only that it could not be made */
    return NULL;
}

tamis_set *make_set(const subject *variant, uint64_t seed) {
    tamis_set    *set = NULL;
    tamis_problem problem = { 0 };
    if (subject_try(variant, seed, NULL, &set, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    return set;
}

static bool is_for(size_t i, const char *kind) {
    return strcmp(special[i].kind, kind) == 0;
}

bool isa_is_own(const char *kind, const char *isa) {
    const tamis_kind *found = NULL;
    return tamis_kind_find(kind, isa, &found) == TAMIS_OK && strcmp(found->isa, isa) == 0;
}

bool isa_is_best(const char *kind, const char *isa) {
    const tamis_kind *found = NULL;
    return tamis_kind_find(kind, NULL, &found) == TAMIS_OK && strcmp(found->isa, isa) == 0;
}

/* Not every kind reaches every rate; one that says so is not tried at it. */
static bool is_possible(const subject *variant) {
    tamis_set         *set = NULL;
    tamis_status const status = subject_try(variant, 1, NULL, &set, NULL);
    tamis_free(set);
    return status != TAMIS_ERR_CANNOT;
}

/* Do the abilities of the kind depend on the geometry? Then it is tried with and without them. */
static bool can_be_less(const char *kind) {
    const tamis_kind *found = NULL;
    return tamis_kind_find(kind, NULL, &found) == TAMIS_OK && found->lacks != NULL;
}

/* Histories are longer, so that they reach the steps of growing. */
static subject growing_subject(const subject *base, size_t i) {
    subject        variant = *base;
    uint64_t const times = strcmp(base->kind, "rank") == 0 ? 4 : 1;
    variant.capacity = times * growing[i].capacity;
    variant.grow_to = times * growing[i].grow_to;
    variant.fpr = growing[i].fpr;
    variant.abilities = growing[i].abilities;
    variant.copies = growing[i].copies;
    variant.hash = growing[i].hash;
    variant.operations = max_u64(base->operations, times * 10000);
    return variant;
}

static size_t add_growing(const subject *base, subject *ret_subjects) {
    const tamis_kind *found = NULL;
    size_t            n = 0;
    if (tamis_kind_find(base->kind, NULL, &found) != TAMIS_OK || found->growing == NULL) return 0;
    for (size_t i = 0; i < N_GROWING; i++) {
        if (keyhash_is_built(growing[i].hash)) ret_subjects[n++] = growing_subject(base, i);
    }
    return n;
}

subject *subjects_all(uint64_t operations, size_t *ret_n) {
    size_t n_kinds = 0, n_isas = 0;
    while (tamis_kind_name(n_kinds) != NULL) n_kinds++;
    while (tamis_isa_name(n_isas) != NULL) n_isas++;
    subject *const all =
        calloc(n_kinds * n_isas * (2 * N_SIZES + N_GROWING + N_SPECIAL), sizeof *all);
    assert(all != NULL);
    size_t n = 0;
    for (size_t k = 0; k < n_kinds; k++) {
        for (size_t isa = 0; isa < n_isas; isa++) {
            if (!isa_is_own(tamis_kind_name(k), tamis_isa_name(isa))) continue;
            bool const is_between = /* it has nothing that the best has not, or the last */
                !isa_is_best(tamis_kind_name(k), tamis_isa_name(isa)) && isa != n_isas - 1;
            subject const base = { .kind = tamis_kind_name(k),
                                   .isa = tamis_isa_name(isa),
                                   .operations = is_between ? operations / 4 : operations };
            size_t const  first = n;
            for (size_t i = 0; i < 2 * N_SIZES; i++) {
                if (i >= N_SIZES && !can_be_less(base.kind)) break;
                all[n] = base;
                all[n].capacity = sizes[i % N_SIZES].capacity;
                all[n].fpr = sizes[i % N_SIZES].fpr;
                all[n].abilities = i < N_SIZES ? 0 : TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
                n += is_possible(&all[n]);
            }
            assert(n > first); /* or nothing would be tested of it */
            n += add_growing(&base, all + n);
            for (size_t i = 0; i < N_SPECIAL; i++) {
                if (!is_for(i, base.kind)) continue;
                all[n] = base;
                all[n].capacity = special[i].capacity;
                all[n].overflow = special[i].overflow;
                all[n++].geometry = special[i].geometry;
            }
        }
    }
    *ret_n = n;
    return all;
}
