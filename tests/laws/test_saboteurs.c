/* test_saboteurs.c - a checker that never fires proves nothing.
 *
 * First, kinds with one function broken: the law that guards it must see that. Then, tables with
 * one invariant broken: validate must name it.
 */
#include "kinds/line/lines_list.h"
#include "kinds/line/size.h"
#include "kinds/rank/size.h"
#include "sabotage.h"

/* ------------------------------------------------------------------ broken kinds */

static bool forgets_some(const tamis_table *table, uint64_t hash) {
    return hash % 97 != 0 && honest->has(table, hash);
}

static uint64_t forgets_some_in_chunks(const tamis_table *table, const uint64_t *hash, unsigned n) {
    uint64_t const found = honest->has_chunk(table, hash, n);
    return n > 5 ? found & ~UINT64_C(32) : found;
}

static tamis_status refuses_too_late(tamis_table *table, uint64_t hash) {
    if (table->keys < 2100) return honest->add(table, hash);
    table->body[0] ^= 1;
    return TAMIS_ERR_FULL;
}

static tamis_status refuses_too_early(tamis_table *table, uint64_t hash) {
    return table->keys < 1500 ? honest->add(table, hash) : TAMIS_ERR_FULL;
}

static tamis_status removes_anything(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->remove(table, hash);
    return hash % 16 == 0 ? TAMIS_OK : status;
}

static tamis_status touches_when_refusing(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->remove(table, hash);
    if (status == TAMIS_ERR_ABSENT) table->body[hash % table->body_bytes] ^= 4;
    return status;
}

/* Counts a stuck counter down: the classic bug. */
static tamis_status unsticks(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->remove(table, hash);
    uint64_t const     place = fastrange(remix(hash, 0), table->geometry[0]);
    unsigned const     shift = place % 2 * 4;
    if (((table->body[place / 2] >> shift) & 15) == 15) {
        table->body[place / 2] = (uint8_t)(table->body[place / 2] & ~(15u << shift));
    }
    return status;
}

static tamis_status leaves_dirt(tamis_table *table, uint64_t hash) {
    table->body[table->body_bytes - 1] = 1;
    return honest->remove(table, hash);
}

static unsigned adds_unlike_single(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const taken = honest->add_chunk(table, hash, n);
    if (n == 7) table->keys++;
    return taken;
}

static uint64_t removes_unlike_single(tamis_table *table, const uint64_t *hash, unsigned n,
                                      uint64_t *ret_saturated) {
    return honest->remove_chunk(table, hash, n, ret_saturated) ^ (n == 63 ? 1u : 0u);
}

static tamis_status merges_half(tamis_table *into, const tamis_table *from) {
    tamis_status const status = honest->merge(into, from);
    memset(into->body, 0, into->body_bytes / 8);
    return status;
}

static void converts_wrongly(const tamis_table *from, tamis_table *to) {
    honest->convert(from, to);
    memset(to->body, 0xff, to->body_bytes / 8);
}

static bool never_valid(const tamis_table *table, const char **reterr_why) {
    (void)table;
    *reterr_why = "I0: sabotaged";
    return false;
}

/* Other counts than the honest kind of the other instruction sets. */
static tamis_status differs_by_isa(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->add(table, hash);
    table->keys += 2;
    return status;
}

static const saboteur saboteurs[] = {
    SABOTEUR("no_false_negative_under_churn", NULL, has, forgets_some),
    SABOTEUR("batch_equals_single", NULL, has_chunk, forgets_some_in_chunks),
    SABOTEUR("no_false_negative_under_churn", NULL, has_chunk, forgets_some_in_chunks),
    SABOTEUR("refused_adds_change_nothing", NULL, add, refuses_too_late),
    SABOTEUR("refused_adds_change_nothing", NULL, add, refuses_too_early),
    SABOTEUR("refused_removes_change_nothing", NULL, remove, removes_anything),
    SABOTEUR("strange_removals_keep_the_structure", NULL, remove, removes_anything),
    SABOTEUR("refused_removes_change_nothing", NULL, remove, touches_when_refusing),
    SABOTEUR("floods_harm_nobody", NULL, remove, unsticks),
    SABOTEUR("emptying_restores_every_byte", NULL, remove, leaves_dirt),
    SABOTEUR("batch_equals_single", NULL, add_chunk, adds_unlike_single),
    SABOTEUR("batch_equals_single", NULL, remove_chunk, removes_unlike_single),
    SABOTEUR("no_false_negative_under_churn", NULL, count, counts_too_few),
    SABOTEUR("merges_hold_both", NULL, merge, merges_half),
    SABOTEUR("conversions_answer_alike", NULL, convert, converts_wrongly),
    SABOTEUR("error_rate_is_as_predicted", NULL, survey, flatters_itself),
    SABOTEUR("no_false_negative_under_churn", NULL, validate, never_valid),
    SABOTEUR("same_bytes_on_every_isa", NULL, add, differs_by_isa),
    SABOTEUR("counted_and_sized_truly", NULL, add, differs_by_isa),
};

/* ------------------------------------------------------------------ a kind that fills up */

/* Neither kind of this house refuses an add. This honest one does, so that what the laws and the
 * front door do with a refusal is tested too: it takes TOY_ROOM keys, all or nothing in a merge,
 * and cannot remove when its geometry says so. */
#define TOY_ROOM 2100

static tamis_status toy_add(tamis_table *table, uint64_t hash) {
    bool const is_copy = honest->has(table, hash);
    return table->keys < TOY_ROOM || is_copy ? honest->add(table, hash) : TAMIS_ERR_FULL;
}

static tamis_status toy_merge(tamis_table *into, const tamis_table *from) {
    return into->keys + from->keys <= TOY_ROOM ? honest->merge(into, from) : TAMIS_ERR_FULL;
}

static unsigned toy_lacks(const uint64_t *geometry) {
    return geometry[1] == 1 ? TAMIS_CAN_REMOVE : 0;
}

static tamis_kind toy_kind(void) {
    tamis_kind toy = *honest;
    toy.add = toy_add;
    toy.add_chunk = NULL;
    toy.merge = toy_merge;
    toy.lacks = toy_lacks;
    return toy;
}

static subject toy_subject(const tamis_kind *toy) {
    return (subject){
        .kind = "counting", .capacity = 2000, .fpr = 0.01, .operations = 50000, .instead = toy
    };
}

static void every_law_holds_for_a_kind_that_fills_up(void **state) {
    (void)state;
    tamis_kind const toy = toy_kind();
    subject const    of = toy_subject(&toy);
    for (const named_law *at = laws; at->name != NULL; at++) {
        bool const        is_by_isa = strcmp(at->name, "same_bytes_on_every_isa") == 0;
        const char *const why = is_by_isa ? NULL : at->holds(&of); /* the others do not fill up */
        if (why != NULL) fail_msg("%s: %s", at->name, why);
    }
}

static void a_batch_stops_where_it_is_refused(void **state) {
    (void)state;
    tamis_kind const toy = toy_kind();
    subject const    of = toy_subject(&toy);
    tamis_set *const set = subject_make(&of, 1);
    uint64_t         keys[3000];
    size_t           added = 0;
    for (uint64_t i = 0; i < 3000; i++) keys[i] = i;
    assert_int_equal(tamis_add_id_batch(set, keys, 3000, &added), TAMIS_ERR_FULL);
    assert_in_range(added, TOY_ROOM, TOY_ROOM + 60); /* some matched, and needed no room */
    assert_int_equal(set->refused_adds, 1);
    assert_int_equal(tamis_add_id(set, keys[added]), TAMIS_ERR_FULL);
    assert_int_equal(set->refused_adds, 2);
    assert_int_equal(tamis_has_id_batch(set, keys, added, NULL), added);
    tamis_free(set);
}

static void a_merge_that_does_not_fit_changes_nothing(void **state) {
    (void)state;
    tamis_kind const toy = toy_kind();
    subject const    of = toy_subject(&toy);
    tamis_set *const a = subject_make(&of, 1), *const b = subject_make(&of, 1);
    tamis_set *before = NULL;
    for (uint64_t i = 0; i < 1500; i++) {
        assert_int_equal(tamis_add_id(a, i), TAMIS_OK);
        assert_int_equal(tamis_add_id(b, i + 1500), TAMIS_OK);
    }
    assert_int_equal(tamis_copy(a, &before), TAMIS_OK);
    assert_int_equal(tamis_merge(a, b), TAMIS_ERR_FULL);
    assert_memory_equal(a->table.body, before->table.body, a->table.body_bytes);
    assert_int_equal(a->table.keys, before->table.keys);
    tamis_free(a);
    tamis_free(b);
    tamis_free(before);
}

static void a_geometry_may_take_abilities_away(void **state) {
    (void)state;
    tamis_kind const toy = toy_kind();
    uint64_t const   one[TAMIS_MAX_FIELDS] = { 100, 1, 4 }, two[TAMIS_MAX_FIELDS] = { 100, 2, 4 };
    assert_int_equal(tamis_kind_abilities(&toy, one), TAMIS_CAN_COUNT | TAMIS_CAN_MERGE);
    assert_int_equal(tamis_kind_abilities(&toy, two),
                     TAMIS_CAN_COUNT | TAMIS_CAN_MERGE | TAMIS_CAN_REMOVE);
}

/* ------------------------------------------------------------------ broken tables */

static tamis_set *filled(const char *kind, const char *geometry) {
    subject const of = { .kind = kind, .capacity = 100, .geometry = geometry };
    return filled_set(&of, 100);
}

static void bloom_validate_names_each_invariant(void **state) {
    (void)state;
    tamis_set *const set = filled("bloom", "bits=1000,hashes=5");
    set->table.body[1000 / 8] ^= 1; /* the first bit beyond */
    expect_broken(set, "I1");
    set->table.body[1000 / 8] ^= 1;
    set->table.body[set->table.body_bytes - 1] ^= 0x80; /* the last one */
    expect_broken(set, "I1");
    set->table.body[set->table.body_bytes - 1] ^= 0x80;
    uint64_t const keys = set->table.keys;
    set->table.keys = 0;
    expect_broken(set, "I2");
    set->table.keys = 5;
    expect_broken(set, "I3");
    set->table.keys = keys;
    set->table.saturated = 1;
    expect_broken(set, "I4");
    set->table.saturated = 0;
    assert_true(tamis_validate(set, NULL));
    memset(set->table.body, 0, set->table.body_bytes);
    expect_broken(set, "I2");
    tamis_free(set);
}

static void counting_validate_names_each_invariant(void **state) {
    (void)state;
    tamis_set *const set = filled("counting", "counters=999,hashes=5,counter_bits=4");
    set->table.body[999 / 2] ^= 0x10; /* the first bits beyond */
    expect_broken(set, "I1");
    set->table.body[999 / 2] ^= 0x10;
    set->table.saturated = 1;
    expect_broken(set, "I2");
    set->table.saturated = 0;
    set->table.keys++;
    expect_broken(set, "I3");
    set->table.keys = UINT64_MAX / 2; /* and no overflow in the check */
    expect_broken(set, "I3");
    tamis_free(set);
}

/* Any change of any counter shows. */
static void counting_validate_sees_every_flipped_bit(void **state) {
    (void)state;
    tamis_set *const set = filled("counting", "counters=999,hashes=5,counter_bits=4");
    for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
        flip(set, bit);
        assert_false(tamis_validate(set, NULL));
        flip(set, bit);
    }
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* ------------------------------------------------------------------ broken rank-indexed tables */

/* Three levels, some extensions taken and some not, cells that are counted and fingerprints in two
 * cells; aligned, so that there are bits between the parts. */
#define RANK_PACKED                                                                                \
    "buckets=13,chains=8,remainder_bits=7,cells=7,cells2=4,cells3=9,extensions2=12,extensions3=9," \
    "counter_bits=1,copies=4,aligned=0"
#define RANK_ALIGNED_SET                                                                           \
    "buckets=13,chains=8,remainder_bits=7,cells=7,cells2=4,cells3=9,extensions2=12,extensions3=9," \
    "counter_bits=0,copies=1,aligned=1"

static tamis_set *rank_filled(const char *geometry) {
    subject const of = { .kind = "rank", .capacity = 90, .geometry = geometry, .overflow = 0.9999 };
    tamis_set    *set = filled_set(&of, 90);
    for (uint64_t key = 0; key < 9; key++) {
        for (unsigned i = 0; i < 3; i++) assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    }
    assert_true(tamis_validate(set, NULL));
    return set;
}

static rank_layout rank_layout_of(const tamis_set *set) {
    rank_layout layout;
    assert_true(tamis_rank_layout(set->table.geometry, &layout));
    return layout;
}

/* The bit of the body where the first bucket with more, or no more, than `cells` cells begins. */
static uint64_t rank_bucket(const tamis_set *set, bool has_more, uint64_t cells, bool *ret_found) {
    rank_layout const layout = rank_layout_of(set);
    const uint64_t   *g = set->table.geometry;
    for (uint64_t b = 0; b < g[RANK_BUCKETS]; b++) {
        uint64_t const at = b * layout.record[1];
        uint64_t const pointer =
            field_get(set->table.body, at + g[RANK_CHAINS], rank_pointer_bits(g[RANK_EXTENSIONS2]));
        uint64_t load = bits_popcount(field_get(set->table.body, at, (unsigned)g[RANK_CHAINS]));
        uint64_t const index = at + g[RANK_CHAINS] + rank_pointer_bits(g[RANK_EXTENSIONS2]);
        load += bits_popcount(field_get(set->table.body, index, (unsigned)g[RANK_CELLS]));
        *ret_found = (pointer != 0 || load > cells) == has_more;
        if (*ret_found) return at;
    }
    return 0;
}

/* The first extension of the second level that is taken, or not. */
static uint64_t rank_extension(const tamis_set *set, bool is_taken) {
    rank_layout const layout = rank_layout_of(set);
    for (uint64_t i = 0; i < set->table.geometry[RANK_EXTENSIONS2]; i++) {
        if (field_get_bit(set->table.body, layout.used[2] + i) == is_taken) return i;
    }
    fail_msg("there is no such extension");
    return 0;
}

/* I1: a level that does not add up; a mark, or a cell, behind the last. */
static void rank_validate_names_levels_that_do_not_add_up(void **state) {
    (void)state;
    tamis_set *const      set = rank_filled(RANK_PACKED);
    const uint64_t *const g = set->table.geometry;
    rank_layout const     layout = rank_layout_of(set);
    bool                  found;
    uint64_t const        small = rank_bucket(set, false, g[RANK_CELLS] - 1, &found);
    assert_true(found);
    expect_flip_broken(set, small + layout.record[1] - 1, "I1"); /* the last bit of the last cell */
    uint64_t const index = small + g[RANK_CHAINS] + rank_pointer_bits(g[RANK_EXTENSIONS2]);
    expect_flip_broken(set, index + g[RANK_CELLS] - 1, "I1"); /* its mark */
    memset(set->table.body, 0xff, set->table.body_bytes);
    expect_broken(set, "I1");
    tamis_free(set);
}

/* I2: a pointer to nowhere or where none is needed; one that is missing; an extension of two
 * buckets, of none, or taken and not marked so. */
static void rank_validate_names_extensions_that_are_not_one_buckets(void **state) {
    (void)state;
    tamis_set *const      set = rank_filled(RANK_PACKED);
    const uint64_t *const g = set->table.geometry;
    rank_layout const     layout = rank_layout_of(set);
    unsigned const        bits = rank_pointer_bits(g[RANK_EXTENSIONS2]);
    bool                  found[2];
    uint64_t const        large = rank_bucket(set, true, g[RANK_CELLS], &found[0]) + g[RANK_CHAINS];
    uint64_t const small = rank_bucket(set, false, g[RANK_CELLS], &found[1]) + g[RANK_CHAINS];
    uint64_t const pointer = field_get(set->table.body, large, bits);
    assert_true(found[0] && found[1]);
    for (uint64_t wrong = 0; wrong < 16; wrong++) {
        if (wrong == pointer) continue;
        field_set(set->table.body, large, bits, wrong);
        assert_false(tamis_validate(set, NULL));
    }
    field_set(set->table.body, large, bits, pointer);
    expect_flip_broken(set, small, "I"); /* seen with the levels, which have no use for one: I1 */
    expect_flip_broken(set, layout.used[2] + rank_extension(set, true), "I2");
    expect_flip_broken(set, layout.used[2] + rank_extension(set, false), "I2");
    expect_flip_broken(set, layout.used[3] + g[RANK_EXTENSIONS3] - 1, "I2");
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* Two buckets that share an extension, whose own one nobody has then: both are whole. */
static void rank_validate_names_an_extension_of_two_buckets(void **state) {
    (void)state;
    tamis_set *const      set = rank_filled(RANK_PACKED);
    const uint64_t *const g = set->table.geometry;
    rank_layout const     layout = rank_layout_of(set);
    unsigned const        bits = rank_pointer_bits(g[RANK_EXTENSIONS2]);
    uint64_t              first = 0;
    bool                  is_seen = false;
    for (uint64_t b = 0; b < g[RANK_BUCKETS] && !is_seen; b++) {
        uint64_t const at = b * layout.record[1] + g[RANK_CHAINS];
        uint64_t const pointer = field_get(set->table.body, at, bits);
        if (pointer == 0) continue;
        if (first != 0) {
            const char *why = "nothing";
            field_set(set->table.body, at, bits, first);
            assert_false(tamis_validate(set, &why));
            is_seen = strncmp(why, "I2", 2) == 0;
            field_set(set->table.body, at, bits, pointer);
        }
        first = first != 0 ? first : pointer;
    }
    assert_true(is_seen);
    tamis_free(set);
}

/* I3: a bit in an extension that is free, between the parts, or behind them all. */
static void rank_validate_names_bits_where_nothing_is(void **state) {
    (void)state;
    tamis_set *const      set = rank_filled(RANK_ALIGNED_SET);
    const uint64_t *const g = set->table.geometry;
    rank_layout const     layout = rank_layout_of(set);
    uint64_t const        vacant = layout.start[2] + rank_extension(set, false) * layout.record[2];
    uint64_t const        gap = g[RANK_BUCKETS] * layout.record[1];
    assert_true(gap < layout.start[2]); /* 13 buckets of a quarter of a line */
    expect_flip_broken(set, layout.end, "I3");
    expect_flip_broken(set, set->table.body_bytes * 8 - 1, "I3");
    expect_flip_broken(set, vacant, "I3");
    expect_flip_broken(set, vacant + layout.record[2] - 1, "I3");
    expect_flip_broken(set, gap, "I3");
    expect_flip_broken(set, layout.start[2] - 1, "I3");
    tamis_free(set);
}

/* I4: a second cell of a fingerprint whose first is not full. I5: counts that are not `keys`. */
static void rank_validate_names_cells_and_counts_that_are_wrong(void **state) {
    (void)state;
    subject const    of = { .kind = "rank",
                            .capacity = 2,
                            .geometry = "buckets=1,chains=1,remainder_bits=7,cells=4,"
                                           "counter_bits=1,copies=2,aligned=0" };
    tamis_set *const set = subject_make(&of, 1);
    assert_non_null(set);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(tamis_add_id(set, 5), TAMIS_OK);
    uint64_t const cells = 1 + 4; /* the base index, the higher index of 4, then cells of 8 bits */
    assert_true(tamis_validate(set, NULL));
    expect_flip_broken(set, cells + 7, "I4");     /* 1 + 1 copies in two cells */
    expect_flip_broken(set, cells + 8 + 7, "I5"); /* 2 + 2 copies: one too many */
    set->table.keys++;
    expect_broken(set, "I5");
    set->table.keys--;
    set->table.saturated++;
    expect_broken(set, "I5");
    set->table.saturated--;
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* Is the bit in the remainder of a cell? Only there another bit may be another table. */
static bool is_remainder(const uint64_t *g, const rank_layout *layout, uint64_t bit) {
    for (unsigned level = 1; level <= 3; level++) {
        uint64_t const count = g[level == 1 ? RANK_BUCKETS : RANK_EXTENSIONS2 + level - 2];
        uint64_t const room = g[RANK_CELLS + level - 1];
        uint64_t       head = room + (level == 1 ? g[RANK_CHAINS] : 0);
        if (level < 3) head += rank_pointer_bits(g[RANK_EXTENSIONS2 + level - 1]);
        if (bit < layout->start[level] ||
            bit >= layout->start[level] + count * layout->record[level])
            continue;
        uint64_t const at = (bit - layout->start[level]) % layout->record[level];
        if (at < head || at >= head + room * rank_cell_bits(g)) return false;
        return (at - head) % rank_cell_bits(g) < g[RANK_REMAINDER_BITS];
    }
    return false;
}

/* Any change of any bit shows, but for one that makes another fingerprint. */
static void rank_validate_sees_every_flipped_bit(void **state) {
    (void)state;
    static const char *const geometries[] = { RANK_PACKED, RANK_ALIGNED_SET };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const  set = rank_filled(geometries[i]);
        rank_layout const layout = rank_layout_of(set);
        for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
            flip(set, bit);
            bool const is_seen = !tamis_validate(set, NULL);
            flip(set, bit);
            if (is_seen || is_remainder(set->table.geometry, &layout, bit)) continue;
            fail_msg("bit %llu of %llu, %s", (unsigned long long)bit,
                     (unsigned long long)layout.end, geometries[i]);
        }
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

static void rank_validate_is_safe_on_any_bytes(void **state) {
    (void)state;
    static const char *const geometries[] = { RANK_PACKED, RANK_ALIGNED_SET };
    dice                     chance = { 7 };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = rank_filled(geometries[i]);
        for (unsigned round = 0; round < 3000; round++) {
            scramble(set, &chance, round);
            assert_false(tamis_validate(set, NULL));
            (void)tamis_has_id(set, round);
        }
        tamis_free(set);
    }
}

/* ------------------------------------------------------------------ broken tables of lines */

/* Two shelves, lines that are cut and words in the attic. */
#define LINE_MULTISET "buckets=18,remainder_bits=12,counter_bits=0,copies=8,attic=90"
#define LINE_COUNTING "buckets=18,remainder_bits=8,counter_bits=3,copies=1,attic=90"

/* How a table of lines looks, worked out of its geometry. */
typedef struct line_view {
    lines_shape shape;
    lines_view  of;
    shelf_view  all;
} line_view;

static void line_view_of(const tamis_set *set, line_view *ret_view) {
    const uint64_t *const g = set->table.geometry;
    line_layout           at;
    assert_true(tamis_line_layout(g, &at));
    ret_view->shape = (lines_shape){ .buckets = g[LINE_BUCKETS],
                                     .remainder_bits = g[LINE_REMAINDER_BITS],
                                     .counter_bits = g[LINE_COUNTER_BITS],
                                     .rest_bits = line_rest_bits(g),
                                     .shelves = at.shelves,
                                     .words = at.words,
                                     .count = at.count,
                                     .slot_rests = at.slot_rests,
                                     .shelf_rests = at.shelf_rests,
                                     .word_rests = at.word_rests,
                                     .homes = line_attic_homes(g[LINE_ATTIC]),
                                     .room = g[LINE_ATTIC],
                                     .word_bits = 8 * line_word_bytes(g[LINE_BUCKETS]),
                                     .end = at.end };
    ret_view->of = (lines_view){ set->table.body, &ret_view->shape };
    ret_view->all = lines_shelves(ret_view->of);
}

static tamis_set *line_filled(const char *geometry, line_view *ret_view) {
    subject const of = {
        .kind = "line", .capacity = 900, .geometry = geometry, .overflow = 0.9999
    };
    tamis_set *set = subject_make(&of, 1);
    assert_non_null(set);
    line_view_of(set, ret_view);
    for (uint64_t key = 0; key < 40; key++) assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    for (uint64_t key = 0; attic_count(&ret_view->all.attic) < 8; key++) {
        assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    }
    assert_true(tamis_validate(set, NULL));
    return set;
}

/* The first line that is cut, or has free slots and is not. */
static uint64_t line_bucket(const line_view *view, bool is_cut) {
    for (uint64_t bucket = 0; bucket < view->shape.buckets; bucket++) {
        runs const index = runs_load(lines_at(view->of, bucket));
        if (runs_are_cut(index) == is_cut && (is_cut || runs_used(index) < RUNS_SLOTS)) {
            return bucket;
        }
    }
    fail_msg("there is no such line");
    return 0;
}

/* I1: a chain less than there are runs; a start behind the end; a byte, or a rest, that is free. */
static void line_validate_names_an_impossible_index(void **state) {
    (void)state;
    line_view        view;
    tamis_set *const set = line_filled(LINE_MULTISET, &view);
    uint64_t const   bucket = line_bucket(&view, false), at = 512 * bucket;
    runs const       index = runs_load(lines_at(view.of, bucket));
    expect_flip_broken(set, at + bits_lowest(index.occ), "I1");
    expect_flip_broken(set, at + 61 + RUNS_SLOTS, "I1");
    expect_flip_broken(set, at + 511, "I1");
    expect_flip_broken(set, at + 112 + 8 * runs_used(index), "I1");
    uint64_t const rest = lines_rest_at(view.of, bucket, RUNS_SLOTS - 1);
    expect_flip_broken(set, rest + 3, "I1");
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* Swap the bytes, or the rests, of a slot and the next in its run. */
static bool line_swap(const line_view *view, uint64_t bucket, unsigned slot, bool is_rest) {
    uint8_t *const slots = lines_at(view->of, bucket) + RUNS_AT;
    runs const     index = runs_load(lines_at(view->of, bucket));
    uint64_t const one = lines_rest(view->of, bucket, slot);
    uint64_t const next = lines_rest(view->of, bucket, slot + 1);
    if (slot + 1 >= runs_used(index) || (index.starts >> (slot + 1) & 1) != 0) return false;
    if (is_rest ? slots[slot] != slots[slot + 1] || one == next : slots[slot] == slots[slot + 1])
        return false;
    uint8_t const  byte = slots[slot];
    unsigned const bits = (unsigned)view->shape.rest_bits;
    slots[slot] = slots[slot + 1];
    slots[slot + 1] = byte;
    field_set(view->of.body, lines_rest_at(view->of, bucket, slot), bits, next);
    field_set(view->of.body, lines_rest_at(view->of, bucket, slot + 1), bits, one);
    return true;
}

/* I2: a chain that has nothing; a line that is cut too early, or in a run; slots out of order. */
static void line_validate_names_lines_out_of_order(void **state) {
    (void)state;
    line_view        view;
    tamis_set *const set = line_filled(LINE_MULTISET, &view);
    unsigned         swapped = 0;
    uint64_t const   bucket = line_bucket(&view, false), cut = line_bucket(&view, true);
    runs const       index = runs_load(lines_at(view.of, bucket));
    runs const       other = runs_load(lines_at(view.of, cut));
    expect_flip_broken(set, 512 * bucket + bits_lowest(~index.occ), "I2");
    expect_flip_broken(set, 512 * cut + bits_lowest(~other.occ), "I2");
    for (uint64_t b = 0; b < view.shape.buckets; b++) {
        for (unsigned slot = 0; slot + 1 < RUNS_SLOTS; slot++) {
            if (!line_swap(&view, b, slot, false)) continue;
            expect_broken(set, "I2");
            assert_true(line_swap(&view, b, slot, false));
            swapped++;
        }
    }
    assert_true(swapped > 50 && tamis_validate(set, NULL));
    lines_cut_last(view.of, bucket); /* all is there, and in order */
    expect_broken(set, "I2");
    tamis_free(set);
}

/* I2: two rests of equal bytes the wrong way round. */
static void line_validate_names_rests_out_of_order(void **state) {
    (void)state;
    line_view         view;
    tamis_set *const  set = line_filled(LINE_MULTISET, &view);
    uint64_t const    bucket = line_bucket(&view, false);
    lines_place const place = { .bucket = bucket, .chain = 3, .byte = 77, .remainder = 5 };
    lines_place const more = { .bucket = bucket, .chain = 3, .byte = 77, .remainder = 9 };
    lines_found       found = lines_look(view.of, &place);
    assert_true(lines_new_entry(view.of, &place, &found, 5));
    found = lines_look(view.of, &more);
    assert_true(lines_new_entry(view.of, &more, &found, 9));
    set->table.keys += 2;
    assert_true(tamis_validate(set, NULL));
    found = lines_look(view.of, &place);
    assert_true(line_swap(&view, bucket, bits_lowest(found.slots), true));
    expect_broken(set, "I2");
    tamis_free(set);
}

/* I3: a shelf that counts wrongly, or has a key that is free; an attic that does, is out of order,
 * or has what would have room on the shelf. */
static void line_validate_names_shelves_and_attics_that_are_wrong(void **state) {
    (void)state;
    line_view               view;
    tamis_set *const        set = line_filled(LINE_MULTISET, &view);
    const attic_view *const up = &view.all.attic;
    uint64_t const          first = 8 * view.shape.shelves, second = first + 512;
    assert_int_equal(shelf_used(le64_load(shelf_line(&view.all, 0))), SHELF_KEYS);
    unsigned const used = shelf_used(le64_load(shelf_line(&view.all, 16)));
    assert_true(used < SHELF_KEYS);
    expect_flip_broken(set, first + 63, "I3");
    expect_flip_broken(set, second + 63, "I3");
    expect_flip_broken(set, second + used + 2, "I3"); /* a third bucket, of two */
    expect_flip_broken(set, second + 64 + 16 * SHELF_KEYS - 1, "I3");
    expect_flip_broken(set, view.shape.shelf_rests + 2 * SHELF_KEYS * 4 - 1, "I3");
    expect_flip_broken(set, 8 * view.shape.count, "I3");
    expect_flip_broken(set, view.shape.end - 1, "I3"); /* the rest of no word */
    uint64_t const place = attic_find(up, attic_make_word(0, 0));
    expect_flip_broken(set, 8 * view.shape.words + view.shape.word_bits * (place + 1) - 1,
                       "I3"); /* of no bucket */
    assert_true(tamis_validate(set, NULL));
    attic_add(up, attic_make_word(17, 5 << 8), 0);
    expect_broken(set, "I3");
    tamis_free(set);
}

/* I3: a word that is at another place than its own. */
static void line_validate_names_words_that_are_not_at_home(void **state) {
    (void)state;
    line_view               view;
    tamis_set *const        set = line_filled(LINE_MULTISET, &view);
    const attic_view *const up = &view.all.attic;
    unsigned                moved = 0;
    for (uint64_t place = 0; place < attic_places(up); place++) {
        uint64_t const word = attic_word(up, place), rest = attic_rest(up, place);
        for (uint64_t to = 0; word != 0 && to < attic_places(up); to++) {
            if (attic_word(up, to) != 0) continue;
            attic_set(up, place, 0, 0);
            attic_set(up, to, word, rest);
            assert_false(tamis_validate(set, NULL));
            attic_set(up, to, 0, 0);
            attic_set(up, place, word, rest);
            moved++;
        }
    }
    assert_true(moved > 500 && tamis_validate(set, NULL));
    tamis_free(set);
}

/* I4: a ninth copy; with counters, a second entry. */
static void line_validate_names_too_many_copies(void **state) {
    (void)state;
    static const char *const geometries[] = { LINE_MULTISET, LINE_COUNTING };
    for (unsigned i = 0; i < 2; i++) {
        line_view         view;
        tamis_set *const  set = line_filled(geometries[i], &view);
        unsigned const    most = i == 0 ? 8 : 1;
        lines_place const place = { .bucket = 16, .chain = 3, .byte = 77, .remainder = 0 };
        for (unsigned copy = 0; copy < most + 1; copy++) {
            lines_found const found = lines_look(view.of, &place);
            assert_true(lines_new_entry(view.of, &place, &found, 0));
            set->table.keys++;
            set->table.saturated += copy + 1 == most && most > 1;
            if (copy < most) assert_true(tamis_validate(set, NULL));
        }
        expect_broken(set, "I4");
        tamis_free(set);
    }
}

/* I5: counts that are not `keys`, or not `saturated`. I6: a bit behind the last. */
static void line_validate_names_counts_and_bits_that_are_wrong(void **state) {
    (void)state;
    line_view        view;
    tamis_set *const set = line_filled(LINE_COUNTING, &view);
    set->table.keys++;
    expect_broken(set, "I5");
    set->table.keys--;
    set->table.saturated++;
    expect_broken(set, "I5");
    set->table.saturated--;
    expect_flip_broken(set, lines_rest_at(view.of, 0, 0), "I5"); /* a copy more or less */
    expect_flip_broken(set, view.shape.end, "I6");
    expect_flip_broken(set, set->table.body_bytes * 8 - 1, "I6");
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

/* More entries of a bucket than any operation makes or sees: they are not to be believed. */
static void line_validate_names_a_bucket_with_too_many(void **state) {
    (void)state;
    subject const    of = { .kind = "line",
                            .capacity = 40,
                            .geometry = "buckets=1,remainder_bits=12,copies=8,attic=400" };
    tamis_set *const set = subject_make(&of, 1);
    line_view        view;
    assert_non_null(set);
    line_view_of(set, &view);
    for (unsigned i = 0; i < LINES_MAX_ENTRIES + 10; i++) {
        tail_add(&view.all, 0, 5 << 8 | i / 16, i % 16);
    }
    runs_store(set->table.body, (runs){ UINT64_C(1) << 5, 1 });
    set->table.keys = LINES_MAX_ENTRIES + 10;
    assert_false(tamis_validate(set, NULL));
    set->table.keys = LINES_MAX_ENTRIES;
    assert_false(tamis_validate(set, NULL));
    tamis_free(set);
}

/* Is the bit part of a fingerprint? Only there another bit may be another table. */
static bool line_is_fingerprint(const line_view *view, uint64_t bit) {
    const lines_shape *const s = &view->shape;
    if (bit < 8 * s->shelves) return bit % 512 >= 112;
    if (bit < 8 * s->words) return bit % 512 >= 64;
    if (bit < 8 * s->count) return (bit - 8 * s->words) % s->word_bits < 14;
    return bit >= s->slot_rests && bit < s->end && s->counter_bits == 0;
}

/* Any change of any bit shows, but for one that makes another fingerprint. */
static void line_validate_sees_every_flipped_bit(void **state) {
    (void)state;
    static const char *const geometries[] = { LINE_MULTISET, LINE_COUNTING };
    for (unsigned i = 0; i < 2; i++) {
        line_view        view;
        tamis_set *const set = line_filled(geometries[i], &view);
        for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
            if (line_is_fingerprint(&view, bit)) continue;
            flip(set, bit);
            bool const is_seen = !tamis_validate(set, NULL);
            flip(set, bit);
            if (!is_seen) fail_msg("bit %llu, %s", (unsigned long long)bit, geometries[i]);
        }
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

static void line_validate_is_safe_on_any_bytes(void **state) {
    (void)state;
    static const char *const geometries[] = { LINE_MULTISET, LINE_COUNTING };
    dice                     chance = { 7 };
    for (unsigned i = 0; i < 2; i++) {
        line_view        view;
        tamis_set *const set = line_filled(geometries[i], &view);
        uint8_t *const   good = malloc(set->table.body_bytes);
        assert_non_null(good);
        memcpy(good, set->table.body, set->table.body_bytes);
        for (unsigned round = 0; round < 1500; round++) {
            uint64_t const from = dice_below(&chance, set->table.body_bytes);
            memcpy(set->table.body, good, set->table.body_bytes);
            for (uint64_t at = round % 2 == 0 ? 0 : from; at < set->table.body_bytes; at++) {
                uint64_t const roll = dice_roll(&chance), mask = roll >> 8 & roll >> 16;
                set->table.body[at] = (uint8_t)(roll & (round % 3 == 0 ? UINT64_MAX : mask));
            }
            assert_false(tamis_validate(set, NULL));
            (void)tamis_has_id(set, round);
        }
        free(good);
        tamis_free(set);
    }
}

int main(void) {
    static const subject of = {
        .kind = "counting", .capacity = 2000, .fpr = 0.01, .operations = 50000
    };
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_law_holds_for_a_kind_that_fills_up),
        cmocka_unit_test(a_batch_stops_where_it_is_refused),
        cmocka_unit_test(a_merge_that_does_not_fit_changes_nothing),
        cmocka_unit_test(a_geometry_may_take_abilities_away),
        cmocka_unit_test(bloom_validate_names_each_invariant),
        cmocka_unit_test(counting_validate_names_each_invariant),
        cmocka_unit_test(counting_validate_sees_every_flipped_bit),
        cmocka_unit_test(rank_validate_names_levels_that_do_not_add_up),
        cmocka_unit_test(rank_validate_names_extensions_that_are_not_one_buckets),
        cmocka_unit_test(rank_validate_names_an_extension_of_two_buckets),
        cmocka_unit_test(rank_validate_names_bits_where_nothing_is),
        cmocka_unit_test(rank_validate_names_cells_and_counts_that_are_wrong),
        cmocka_unit_test(rank_validate_sees_every_flipped_bit),
        cmocka_unit_test(rank_validate_is_safe_on_any_bytes),
        cmocka_unit_test(line_validate_names_an_impossible_index),
        cmocka_unit_test(line_validate_names_lines_out_of_order),
        cmocka_unit_test(line_validate_names_rests_out_of_order),
        cmocka_unit_test(line_validate_names_shelves_and_attics_that_are_wrong),
        cmocka_unit_test(line_validate_names_words_that_are_not_at_home),
        cmocka_unit_test(line_validate_names_too_many_copies),
        cmocka_unit_test(line_validate_names_counts_and_bits_that_are_wrong),
        cmocka_unit_test(line_validate_names_a_bucket_with_too_many),
        cmocka_unit_test(line_validate_sees_every_flipped_bit),
        cmocka_unit_test(line_validate_is_safe_on_any_bytes),
    };
    return sabotage_run(&of, saboteurs, COUNT(saboteurs), tests, COUNT(tests));
}
