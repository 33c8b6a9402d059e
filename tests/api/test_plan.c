/* test_plan.c - tamis_plan_kinds(): what it predicts, what it chooses, and that tamis_create()
 * makes exactly what it chose. Uses only the public API, for all kinds of this build. */
#include "make.h"

#include <tamis/tamis.h>

#define MAX_ROWS 64
#define ALL_ABILITIES (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE)

/* All rows of the plan for a spec. */
typedef struct table {
    tamis_plan rows[MAX_ROWS];
    size_t     n;
} table;

static tamis_spec spec_of(double capacity, double fpr) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = (uint64_t)capacity;
    spec.fpr = fpr;
    return spec;
}

static size_t n_kinds(void) {
    size_t n = 0;
    while (tamis_kind_name(n) != NULL) n++;
    return n;
}

static table plan_of(const tamis_spec *spec) {
    table planned;
    assert_int_equal(tamis_plan_kinds(spec, planned.rows, MAX_ROWS, &planned.n, NULL), TAMIS_OK);
    assert_true(planned.n <= MAX_ROWS);
    return planned;
}

/* The row that is chosen, or NULL if none is. Fails if two are chosen. */
static const tamis_plan *chosen_of(const table *planned) {
    const tamis_plan *chosen = NULL;
    for (size_t i = 0; i < planned->n; i++) {
        if (!planned->rows[i].chosen) continue;
        assert_null(chosen);
        chosen = &planned->rows[i];
    }
    return chosen;
}

static const tamis_plan *row_of(const table *planned, const char *kind) {
    for (size_t i = 0; i < planned->n; i++) {
        if (strcmp(planned->rows[i].kind, kind) == 0) return &planned->rows[i];
    }
    fail_msg("no row for %s", kind);
    return NULL;
}

static double lines_of(const tamis_plan *row) {
    return row->lines_present + row->lines_absent + row->lines_add;
}

static void check_same_plan(const tamis_plan *a, const tamis_plan *b) {
    assert_string_equal(a->kind, b->kind);
    assert_int_equal(a->n_fields, b->n_fields);
    for (unsigned i = 0; i < a->n_fields; i++) {
        assert_string_equal(a->fields[i].name, b->fields[i].name);
        assert_int_equal(a->fields[i].value, b->fields[i].value);
    }
    assert_int_equal(a->abilities, b->abilities);
    assert_int_equal(a->capacity, b->capacity);
    assert_int_equal(a->lifetime, b->lifetime);
    assert_int_equal(a->body_bytes, b->body_bytes);
    assert_int_equal(a->file_bytes, b->file_bytes);
    assert_true(a->fpr == b->fpr && a->overflow == b->overflow && a->saturation == b->saturation);
    assert_true(lines_of(a) == lines_of(b) && a->bits_per_key == b->bits_per_key);
}

/* ------------------------------------------------------------------ specs to try */

static const double capacities[] = { 1,   2,   3,   10,  100,  1e3,  1e4,  1e5,
                                     1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1099511627776.0 };
static const double rates[] = { 0.5,  0.3,  0.1,  0.02, 1e-2, 1e-3,  1e-4,
                                1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12 };

/* Plans for all capacities and rates. Each is made once and kept. */
static const table *planned_at(size_t capacity, size_t rate) {
    static table     grid[COUNT(capacities)][COUNT(rates)];
    table *const     t = &grid[capacity][rate];
    tamis_spec const spec = spec_of(capacities[capacity], rates[rate]);
    if (t->n == 0) *t = plan_of(&spec);
    return t;
}

/* A few capacities and rates, for tests that try all abilities and preferences. */
static const double some_capacities[] = { 1, 100, 1e5, 1e8, 1099511627776.0 };
static const double small_capacities[] = { 1, 2, 7, 100, 1000, 100000 };
static const double some_rates[] = { 0.5, 0.02, 1e-3, 1e-6, 1e-12 };

static unsigned one_in = 1; /* of the specs */
static size_t   apart = 1;  /* use every so many-th capacity */

typedef void spec_check(const tamis_spec *spec);

/* For every set of abilities and both preferences. */
static void for_all_wishes(const double *sizes, size_t n_sizes, spec_check *check) {
    unsigned turn = 0;
    for (size_t i = 0; i < n_sizes; i++) {
        for (size_t j = 0; j < COUNT(some_rates); j++) {
            for (unsigned wish = 0; wish < 2 * (ALL_ABILITIES + 1); wish++) {
                if (turn++ % one_in != 0) continue;
                tamis_spec spec = spec_of(sizes[i], some_rates[j]);
                spec.abilities = wish / 2;
                spec.prefer = wish % 2 == 0 ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL;
                check(&spec);
            }
        }
    }
}

/* ------------------------------------------------------------------ the rows */

static void plan_has_a_row_for_each_kind_in_order(void **state) {
    (void)state;
    tamis_spec const spec = spec_of(1000, 0.01);
    table const      planned = plan_of(&spec);
    assert_int_equal(planned.n, n_kinds());
    for (size_t i = 0; i < planned.n; i++) {
        assert_string_equal(planned.rows[i].kind, tamis_kind_name(i));
        assert_true(strlen(planned.rows[i].summary) > 8);
    }
}

/* The row of a kind that cannot meet the spec still has the kind's name and abilities. */
static void plan_rows_that_cannot_tell_kind_and_abilities(void **state) {
    (void)state;
    tamis_spec spec = spec_of(1000, 0.01);
    spec.abilities = TAMIS_CAN_REMOVE;
    table const             planned = plan_of(&spec);
    const tamis_plan *const bloom = row_of(&planned, "bloom");
    assert_int_equal(bloom->status, TAMIS_ERR_CANNOT);
    assert_false(bloom->chosen);
    assert_int_equal(bloom->abilities, TAMIS_CAN_MERGE);
    assert_int_equal(row_of(&planned, "counting")->abilities, ALL_ABILITIES);
}

static void plan_counts_rows_beyond_max_rows_and_writes_none(void **state) {
    (void)state;
    tamis_spec const spec = spec_of(1000, 0.01);
    table const      whole = plan_of(&spec);
    for (size_t max = 0; max <= whole.n + 1; max++) {
        tamis_plan rows[MAX_ROWS], untouched;
        size_t     n = 0;
        memset(rows, 0x5a, sizeof rows);
        memset(&untouched, 0x5a, sizeof untouched);
        assert_int_equal(tamis_plan_kinds(&spec, rows, max, &n, NULL), TAMIS_OK);
        assert_int_equal(n, whole.n);
        for (size_t i = 0; i < max && i < n; i++) check_same_plan(&rows[i], &whole.rows[i]);
        for (size_t i = max < n ? max : n; i < MAX_ROWS; i++) {
            assert_memory_equal(&rows[i], &untouched, sizeof untouched);
        }
    }
    size_t n = 0;
    assert_int_equal(tamis_plan_kinds(&spec, NULL, 0, &n, NULL), TAMIS_OK);
    assert_int_equal(n, whole.n);
}

static void plan_of_a_named_kind_is_its_row_alone(void **state) {
    (void)state;
    tamis_spec  spec = spec_of(1000, 0.01);
    table const whole = plan_of(&spec);
    for (size_t i = 0; i < whole.n; i++) {
        spec.kind = whole.rows[i].kind;
        table const alone = plan_of(&spec);
        assert_int_equal(alone.n, 1);
        assert_int_equal(alone.rows[0].status, whole.rows[i].status);
        assert_int_equal(alone.rows[0].chosen, alone.rows[0].status == TAMIS_OK);
        if (alone.rows[0].status == TAMIS_OK) check_same_plan(&alone.rows[0], &whole.rows[i]);
    }
}

static void plan_like_a_set_is_the_plan_of_that_set(void **state) {
    (void)state;
    tamis_spec spec = spec_of(5000, 1e-4);
    tamis_set *set;
    tamis_info info;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.lifetime = 123456;
    assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_OK);
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    tamis_spec like = TAMIS_SPEC_INIT;
    like.like = set;
    table const planned = plan_of(&like);
    assert_int_equal(planned.n, 1);
    assert_int_equal(planned.rows[0].status, TAMIS_OK);
    assert_true(planned.rows[0].chosen);
    check_same_plan(&planned.rows[0], &info.plan);
    size_t n = 0;
    assert_int_equal(tamis_plan_kinds(&like, NULL, 0, &n, NULL), TAMIS_OK);
    assert_int_equal(n, 1);
    tamis_free(set);
}

/* ------------------------------------------------------------------ what is chosen */

/* For sets from which nothing is removed: is a blocked Bloom filter chosen, and not `line`? */
static bool is_bloom_taken(const tamis_plan *bloom, const tamis_plan *line,
                           const tamis_spec *spec) {
    bool const is_able = bloom->status == TAMIS_OK && spec->geometry == NULL;
    bool const is_small = (double)bloom->body_bytes <= 1.125 * (double)line->body_bytes;
    return is_able && (line->status != TAMIS_OK || is_small);
}

/* PREFER_FAST takes `bloom` or `line`; of the others, the one that touches the fewest lines. */
static void check_fast(const table *planned, const tamis_plan *chosen, const tamis_spec *spec) {
    const tamis_plan *const bloom = row_of(planned, "bloom"), *const line = row_of(planned, "line");
    if (is_bloom_taken(bloom, line, spec))
        assert_string_equal(chosen->kind, "bloom");
    else if (line->status == TAMIS_OK)
        assert_string_equal(chosen->kind, "line");
}

/* To count, a kind whose copies use up capacity has to be named. */
static bool has_to_be_named(const tamis_plan *row, const tamis_spec *spec) {
    bool const is_counting = (spec->abilities & TAMIS_CAN_COUNT) != 0;
    return is_counting && row->copies_take_room && spec->kind == NULL;
}

/* Is this row better? For choices without `bloom` and `line`. */
static bool beats(const tamis_plan *row, const tamis_plan *chosen, const tamis_spec *spec) {
    if (spec->prefer == TAMIS_PREFER_SMALL) return row->body_bytes < chosen->body_bytes;
    bool const is_first = strcmp(chosen->kind, "line") == 0 || strcmp(chosen->kind, "bloom") == 0;
    return !is_first && lines_of(row) < lines_of(chosen);
}

/* The chosen row can do the job, and no other that can is better at what is preferred. */
static void check_choice(const tamis_spec *spec) {
    table const             planned = plan_of(spec);
    const tamis_plan *const chosen = chosen_of(&planned);
    for (size_t i = 0; i < planned.n; i++) {
        const tamis_plan *const row = &planned.rows[i];
        if (row->status != TAMIS_OK || has_to_be_named(row, spec)) continue;
        assert_non_null(chosen);
        assert_int_equal(spec->abilities & ~row->abilities, 0);
        assert_false(beats(row, chosen, spec));
    }
    if (chosen != NULL) assert_int_equal(chosen->status, TAMIS_OK);
    if (chosen != NULL) assert_false(has_to_be_named(chosen, spec));
    if (chosen != NULL && spec->prefer == TAMIS_PREFER_FAST) check_fast(&planned, chosen, spec);
}

static void plan_chooses_the_best_kind_that_can_do_it(void **state) {
    (void)state;
    for_all_wishes(some_capacities, COUNT(some_capacities), check_choice);
}

/* A blocked Bloom filter is 9% larger than `line` at an fpr of 0.1%, and 29% larger at 0.01%. */
static void plan_of_a_fast_set_that_only_grows_is_bloom_unless_it_is_larger(void **state) {
    (void)state;
    static const struct {
        uint64_t    capacity, memory;
        double      fpr;
        unsigned    abilities;
        const char *kind;
    } rows[] = {
        { 1000000, 0, .01, 0, "bloom" },
        { 1000000, 0, .001, TAMIS_CAN_MERGE, "bloom" },
        { 1000000, 0, .0001, 0, "line" },
        { 1000000, 0, .01, TAMIS_CAN_REMOVE, "line" },
        { 1000000, 0, .01, TAMIS_CAN_COUNT, "line" },
        { 0, 1 << 20, .01, 0, "bloom" },    /* as many keys as fit */
        { 0, 1 << 20, .0001, 0, "line" },   /* `bloom` would hold a fifth less */
        { 1000000, 3 << 20, 0, 0, "line" }, /* the lowest rate that fits */
        { 1000000, 5 << 18, 0, 0, "bloom" } /* `line` does not fit */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tamis_spec spec = spec_of((double)rows[i].capacity, rows[i].fpr);
        spec.memory = rows[i].memory;
        spec.abilities = rows[i].abilities;
        tamis_set *const set = make_set_from(&spec);
        tamis_plan const made = inspect(set).plan;
        assert_string_equal(made.kind, rows[i].kind);
        if (strcmp(made.kind, "bloom") == 0) assert_true(lines_of(&made) == 3);
        tamis_free(set);
        if (spec.memory != 0) continue; /* a plan of all kinds for a memory takes half a second */
        table const planned = plan_of(&spec);
        assert_string_equal(chosen_of(&planned)->kind, rows[i].kind);
    }
}

/* The smallest body that `spec` can have, of any kind or of the one that it names. */
static uint64_t smallest_body(const tamis_spec *spec) {
    tamis_spec small = *spec;
    small.prefer = TAMIS_PREFER_SMALL;
    table const             planned = plan_of(&small);
    const tamis_plan *const chosen = chosen_of(&planned);
    return chosen != NULL ? chosen->body_bytes : 0;
}

/* PREFER_FAST fits into the memory that PREFER_SMALL needs; with one byte less, the problem names
 * that size. */
static void check_fits(const tamis_spec *asked) {
    tamis_spec     spec = *asked;
    tamis_set     *set = NULL;
    tamis_problem  problem;
    uint64_t const least = smallest_body(&spec);
    char           number[32];
    if (least == 0) return;
    spec.prefer = TAMIS_PREFER_FAST;
    spec.memory = least;
    set = make_set_from(&spec);
    assert_int_equal(inspect(set).facts.body_bytes, least);
    tamis_free(set);
    set = NULL;
    spec.memory = least - 1;
    assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_CANNOT);
    (void)snprintf(number, sizeof number, "needs %llu", (unsigned long long)least);
    assert_non_null(strstr(problem.text, number));
}

static void plan_of_a_fast_set_fits_into_the_memory_of_a_small_one(void **state) {
    (void)state;
    static double const three_rates[] = { .3, .01, 1e-4 };
    for (size_t i = 0; i < 2 * COUNT(three_rates); i++) {
        tamis_spec spec = spec_of(i % 2 == 0 ? 100 : 20000, three_rates[i / 2]);
        spec.abilities = i % 3 == 0 ? 0 : TAMIS_CAN_REMOVE;
        check_fits(&spec);
        for (size_t j = 0; j < n_kinds(); j++) {
            spec.kind = tamis_kind_name(j);
            check_fits(&spec);
        }
    }
}

static void check_made(const tamis_spec *spec) {
    table const             planned = plan_of(spec);
    const tamis_plan *const chosen = chosen_of(&planned);
    tamis_set              *set = NULL;
    tamis_info              info;
    tamis_status const      status = tamis_create(spec, &set, NULL);
    assert_int_equal(status, chosen != NULL ? TAMIS_OK : TAMIS_ERR_CANNOT);
    if (chosen == NULL) return;
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    check_same_plan(&info.plan, chosen);
    tamis_free(set);
}

static void create_makes_what_the_plan_has_chosen(void **state) {
    (void)state;
    for_all_wishes(small_capacities, COUNT(small_capacities), check_made);
}

/* The first field is not one of the default kind; the second is, and other kinds have it, too. */
static void create_makes_what_the_plan_has_chosen_of_a_geometry(void **state) {
    (void)state;
    static const char *const geometries[] = { "hashes=4", "remainder_bits=11" };
    for (unsigned i = 0; i < 2 * COUNT(geometries); i++) {
        tamis_spec spec = spec_of(3000, 0.01);
        spec.geometry = geometries[i / 2];
        spec.prefer = i % 2 == 0 ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL;
        check_choice(&spec);
        check_made(&spec);
    }
    tamis_spec spec = spec_of(3000, 0.01);
    tamis_set *set;
    spec.geometry = "feathers=4";
    assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_ERR_ARGUMENT);
    table const planned = plan_of(&spec);
    assert_null(chosen_of(&planned));
}

static void create_makes_each_kind_as_planned_when_named(void **state) {
    (void)state;
    for (size_t i = 0; i < n_kinds(); i++) {
        for (size_t j = 0; j < COUNT(rates); j++) {
            tamis_spec spec = spec_of(3000, rates[j]);
            spec.kind = tamis_kind_name(i);
            check_made(&spec);
        }
    }
}

/* ------------------------------------------------------------------ what is predicted */

static void check_prediction(const tamis_plan *row, const tamis_spec *spec) {
    assert_int_equal(row->capacity, spec->capacity);
    assert_true(row->fpr > 0 && row->fpr <= spec->fpr);
    assert_true(row->overflow >= 0 && row->overflow <= 1e-10);
    assert_true(row->saturation >= 0 && row->saturation <= 1);
    assert_true(row->lines_present >= 1 && row->lines_absent >= 1 && row->lines_add >= 1);
    assert_in_range(row->n_fields, 1, TAMIS_MAX_FIELDS);
    assert_true(row->body_bytes >= 64 && row->body_bytes % 64 == 0);
    assert_true(row->file_bytes > row->body_bytes);
    assert_near(row->bits_per_key, 8.0 * (double)row->body_bytes / (double)row->capacity, 1e-12);
}

/* Only planned: the largest of these tables would take petabytes. */
static void plan_predicts_no_more_than_the_rate_that_was_asked(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(capacities); i += apart) {
        for (size_t j = 0; j < COUNT(rates); j++) {
            tamis_spec const   spec = spec_of(capacities[i], rates[j]);
            const table *const planned = planned_at(i, j);
            for (size_t row = 0; row < planned->n; row++) {
                if (planned->rows[row].status != TAMIS_OK) continue;
                check_prediction(&planned->rows[row], &spec);
            }
        }
    }
}

/* Two keys with equal 64-bit hashes cannot be told apart. That adds n / 2^64 to the rate, and no
 * larger Bloom filter can avoid it. */
static void plan_of_bloom_fails_only_where_64_bits_are_too_few(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(capacities); i += apart) {
        for (size_t j = 0; j < COUNT(rates); j++) {
            bool const is_enough = capacities[i] * 0x1p-64 < rates[j];
            assert_int_equal(row_of(planned_at(i, j), "bloom")->status,
                             is_enough ? TAMIS_OK : TAMIS_ERR_CANNOT);
        }
    }
}

/* The textbook: log2(e) x log2(1/fpr) bits per key. k is a whole number, which costs up to 12% at
 * rates between 1/2 and 1/4 and little elsewhere, so 0.3 is left out. */
static void plan_of_bloom_takes_the_bits_of_the_textbook(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(capacities); i += apart) {
        for (size_t j = 0; j < COUNT(rates); j++) {
            double const n = capacities[i], fpr = rates[j];
            if (n < 1e5 || fpr == 0.3 || n * 0x1p-64 > fpr / 100) continue;
            tamis_spec spec = spec_of(n, fpr);
            spec.kind = "bloom";
            spec.geometry = "blocked=0";
            assert_near(plan_of(&spec).rows[0].bits_per_key, 1.4427 * log2(1 / fpr), 0.03);
        }
    }
}

static void plan_never_grows_when_less_is_asked(void **state) {
    (void)state;
    for (size_t i = apart; i < COUNT(capacities); i += apart) {
        for (size_t j = 1; j < COUNT(rates); j++) {
            const table *const all = planned_at(i, j);
            const table *const fewer = planned_at(i - apart, j), *const coarser =
                                                                     planned_at(i, j - 1);
            for (size_t kind = 0; kind < all->n; kind++) {
                if (all->rows[kind].status != TAMIS_OK) continue;
                assert_int_equal(fewer->rows[kind].status, TAMIS_OK);
                assert_int_equal(coarser->rows[kind].status, TAMIS_OK);
                assert_true(fewer->rows[kind].body_bytes <= all->rows[kind].body_bytes);
                assert_true(coarser->rows[kind].body_bytes <= all->rows[kind].body_bytes);
            }
        }
    }
}

/* ------------------------------------------------------------------ modes of rank */

static tamis_plan rank_for(unsigned abilities) {
    tamis_spec spec = spec_of(100000, 0.01);
    spec.abilities = abilities;
    spec.count_to = (abilities & TAMIS_CAN_COUNT) != 0 ? 255 : 0;
    spec.kind = "rank";
    table const planned = plan_of(&spec);
    assert_int_equal(planned.rows[0].status, TAMIS_OK);
    return planned.rows[0];
}

static void check_rank_mode(unsigned abilities, uint64_t counter_bits, uint64_t copies) {
    tamis_plan const row = rank_for(abilities);
    assert_int_equal(plan_field(&row, "counter_bits"), counter_bits);
    assert_int_equal(plan_field(&row, "copies"), copies);
    assert_int_equal((row.abilities & TAMIS_CAN_REMOVE) != 0, copies << counter_bits > 1);
}

/* Counting to 255 needs counters. For removal alone, a table with a cell for each copy is
 * smaller. */
static void plan_of_rank_is_a_multiset_unless_it_must_count(void **state) {
    (void)state;
    check_rank_mode(0, 0, 1);
    check_rank_mode(TAMIS_CAN_MERGE, 0, 1);
    check_rank_mode(TAMIS_CAN_REMOVE, 0, 8);
    check_rank_mode(TAMIS_CAN_COUNT, 8, 1);
    check_rank_mode(TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT, 8, 1);
    tamis_plan const set = rank_for(0), multiset = rank_for(TAMIS_CAN_REMOVE);
    tamis_plan const counting = rank_for(TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE);
    assert_true(set.bits_per_key <= multiset.bits_per_key);
    assert_true(multiset.bits_per_key + 1.5 < counting.bits_per_key);
}

/* ------------------------------------------------------------------ lifetime */

static uint64_t lifetime_of(unsigned abilities, uint64_t lifetime) {
    tamis_spec spec = spec_of(1000, 0.01);
    spec.abilities = abilities;
    spec.lifetime = lifetime;
    table const planned = plan_of(&spec);
    return row_of(&planned, "counting")->lifetime;
}

static void plan_lifetime_is_16_fillings_when_removal_is_asked(void **state) {
    (void)state;
    assert_int_equal(lifetime_of(0, 0), 1000);
    assert_int_equal(lifetime_of(TAMIS_CAN_COUNT, 0), 1000);
    assert_int_equal(lifetime_of(TAMIS_CAN_REMOVE, 0), 16000);
    assert_int_equal(lifetime_of(TAMIS_CAN_REMOVE, 77777), 77777);
    assert_int_equal(lifetime_of(TAMIS_CAN_REMOVE, 1000), 1000); /* filled once */
}

/* The lifetime is at least the capacity: filling alone needs that. */
static void plan_lifetime_below_capacity_is_refused(void **state) {
    (void)state;
    static const uint64_t short_lives[] = { 1, 5, 999 };
    for (size_t i = 0; i < COUNT(short_lives); i++) {
        for (unsigned abilities = 0; abilities <= ALL_ABILITIES; abilities++) {
            tamis_spec    spec = spec_of(1000, 0.01);
            tamis_problem problem = { .text = "" };
            tamis_set    *set = NULL;
            size_t        n = 0;
            spec.abilities = abilities;
            spec.lifetime = short_lives[i];
            assert_int_equal(tamis_plan_kinds(&spec, NULL, 0, &n, &problem), TAMIS_ERR_ARGUMENT);
            assert_non_null(strstr(problem.text, "lifetime"));
            assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_ERR_ARGUMENT);
            assert_null(set);
        }
    }
}

static double saturation_of(uint64_t lifetime, const char *geometry) {
    tamis_spec spec = spec_of(100000, 0.01);
    spec.kind = "counting";
    spec.geometry = geometry;
    spec.lifetime = lifetime;
    table const planned = plan_of(&spec);
    assert_int_equal(planned.rows[0].status, TAMIS_OK);
    return planned.rows[0].saturation;
}

/* A longer life and narrower counters make it likelier that one sticks. */
static void plan_saturation_rises_with_lifetime_and_falls_with_bits(void **state) {
    (void)state;
    double const once = saturation_of(100000, "counter_bits=4");
    double const often = saturation_of(100000000, "counter_bits=4");
    assert_true(once > 0 && once < often && often < 1);
    assert_true(saturation_of(100000, "counter_bits=5") < once);
    assert_true(saturation_of(100000, "counter_bits=3") > once);
    assert_near(saturation_of(UINT64_MAX, "counter_bits=2"), 1, 1e-9);
}

/* ------------------------------------------------------------------ pure */

static void plan_is_the_same_every_time(void **state) {
    (void)state;
    tamis_spec spec = spec_of(54321, 0.00123);
    spec.abilities = TAMIS_CAN_REMOVE;
    tamis_spec const before = spec;
    table const      first = plan_of(&spec), second = plan_of(&spec);
    for (size_t i = 0; i < first.n; i++) {
        if (first.rows[i].status == TAMIS_OK) check_same_plan(&first.rows[i], &second.rows[i]);
    }
    assert_memory_equal(&spec, &before, sizeof spec);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_has_a_row_for_each_kind_in_order),
        cmocka_unit_test(plan_rows_that_cannot_tell_kind_and_abilities),
        cmocka_unit_test(plan_counts_rows_beyond_max_rows_and_writes_none),
        cmocka_unit_test(plan_of_a_named_kind_is_its_row_alone),
        cmocka_unit_test(plan_like_a_set_is_the_plan_of_that_set),
        cmocka_unit_test(plan_chooses_the_best_kind_that_can_do_it),
        cmocka_unit_test(plan_of_a_fast_set_that_only_grows_is_bloom_unless_it_is_larger),
        cmocka_unit_test(plan_of_a_fast_set_fits_into_the_memory_of_a_small_one),
        cmocka_unit_test(create_makes_what_the_plan_has_chosen),
        cmocka_unit_test(create_makes_what_the_plan_has_chosen_of_a_geometry),
        cmocka_unit_test(create_makes_each_kind_as_planned_when_named),
        cmocka_unit_test(plan_predicts_no_more_than_the_rate_that_was_asked),
        cmocka_unit_test(plan_of_bloom_fails_only_where_64_bits_are_too_few),
        cmocka_unit_test(plan_of_bloom_takes_the_bits_of_the_textbook),
        cmocka_unit_test(plan_never_grows_when_less_is_asked),
        cmocka_unit_test(plan_lifetime_is_16_fillings_when_removal_is_asked),
        cmocka_unit_test(plan_lifetime_below_capacity_is_refused),
        cmocka_unit_test(plan_of_rank_is_a_multiset_unless_it_must_count),
        cmocka_unit_test(plan_saturation_rises_with_lifetime_and_falls_with_bits),
        cmocka_unit_test(plan_is_the_same_every_time),
    };
    if (argc > 1) one_in = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2) apart = strtoul(argv[2], NULL, 10);
    return unit_run("plan", tests, COUNT(tests));
}
