/* test_chains.c - kinds/rank/chains.h and kinds/rank/copies.h against chains that are plain arrays.
 *
 * The oracle keeps the cells of every chain in an array, with the rule "append at the end; delete
 * moves the last into the hole", and which extension a bucket has. From that it writes the whole
 * body bit by bit, as the drawing in chains.h says, and after every step all bytes must be equal:
 * every chain, every pointer, every neighbour, and zeros where nothing is stored.
 */
#include "core_units.h"

#include "kinds/rank/copies.h"

#define MAX_BUCKETS 5
#define MAX_CHAINS 64
#define MAX_CELL_BITS 56

typedef struct model {
    chains_shape shape;
    uint64_t     bytes; /* of the body */
    unsigned     length[MAX_BUCKETS][MAX_CHAINS];
    uint64_t     cell[MAX_BUCKETS][MAX_CHAINS][CHAINS_MAX_CELLS];
    uint64_t     extension[MAX_BUCKETS][3];      /* 1 + its number, or 0 */
    bool         is_taken[3][MAX_BUCKETS];       /* extensions */
    unsigned     refused, extended[3], long_one; /* what was seen on the way */
} model;

/* ------------------------------------------------------------------ shapes */

static uint64_t up_to(dice *random, uint64_t n) {
    return 1 + dice_below(random, n);
}

static unsigned bits_for(uint64_t n) {
    unsigned bits = 0;
    while (n >> bits != 0) bits++;
    return bits;
}

/* Rounded up to whole lines, or to a half, a quarter, ... of a line. */
static uint64_t aligned(uint64_t bits) {
    uint64_t size = 1;
    while (size < bits && size < 512) size *= 2;
    return size < bits ? (bits + 511) / 512 * 512 : size;
}

/* Random sizes: one to three parts, from one cell to the most that is possible. */
static void random_sizes(dice *random, chains_shape *shape) {
    unsigned const n = (unsigned)up_to(random, 3);
    uint64_t const most = dice_below(random, 3) == 0 ? 85 : 20;
    shape->buckets = up_to(random, MAX_BUCKETS);
    shape->chains = up_to(random, dice_below(random, 3) == 0 ? 4 : MAX_CHAINS);
    for (unsigned part = 0; part < n; part++) {
        shape->room[part] = up_to(random, most);
        if (part != 0)
            shape->pool[part] = up_to(random, part == 1 ? shape->buckets : shape->pool[1]);
    }
    shape->remainder_bits = up_to(random, dice_below(random, 2) == 0 ? 3 : 40);
    shape->counter_bits = dice_below(random, 9);
    uint64_t const left = MAX_CELL_BITS - shape->remainder_bits - shape->counter_bits;
    uint64_t const others = dice_below(random, 2) == 0 ? 0 : dice_below(random, left + 1);
    shape->cell_bits = shape->remainder_bits + shape->counter_bits + others;
}

/* Where everything is: buckets, extensions of both levels, and their bits. Returns the end. */
static uint64_t lay_out(chains_shape *shape, uint64_t at, bool is_aligned) {
    for (unsigned part = 0; part < 3; part++) {
        uint64_t const head = part == 0 ? shape->chains : 0;
        uint64_t const pointer = part < 2 ? bits_for(shape->pool[part + 1]) : 0;
        shape->index[part] = head + pointer;
        shape->cells[part] = shape->index[part] + shape->room[part];
        uint64_t const bits = shape->cells[part] + shape->room[part] * shape->cell_bits;
        shape->start[part] = at;
        shape->record[part] = is_aligned ? aligned(bits) : bits;
        at += (part == 0 ? shape->buckets : shape->pool[part]) * shape->record[part];
        if (is_aligned) at = (at + 511) / 512 * 512;
        if (part == 2) break;
        shape->pointer[part] = head;
        shape->pointer_bits[part] = pointer;
    }
    for (unsigned part = 1; part < 3; part++) {
        shape->used[part] = at;
        at += shape->pool[part];
    }
    return at;
}

static model *model_new(dice *random) {
    model *const m = calloc(1, sizeof *m);
    assert_non_null(m);
    bool const     is_aligned = dice_below(random, 3) == 0;
    uint64_t const first = is_aligned ? 0 : dice_below(random, 70);
    random_sizes(random, &m->shape);
    m->bytes = (lay_out(&m->shape, first, is_aligned) / 8 + FIELD_PAD_BYTES + 64) / 64 * 64;
    return m;
}

/* ------------------------------------------------------------------ the oracle */

static unsigned model_load(const model *m, uint64_t bucket) {
    unsigned load = 0;
    for (unsigned l = 0; l < MAX_CHAINS; l++) load += m->length[bucket][l];
    return load;
}

/* Where cell `depth` of a chain is among all cells of the bucket: level by level. */
static unsigned model_place(const model *m, uint64_t bucket, unsigned chain, unsigned depth) {
    unsigned place = 0;
    for (unsigned l = 0; l < MAX_CHAINS; l++) {
        unsigned const length = m->length[bucket][l];
        place += length < depth ? length : depth;
        place += l < chain && length > depth;
    }
    return place;
}

/* The part that begins with cell `load`; 0: none does. */
static unsigned model_border(const model *m, unsigned load) {
    unsigned first = 0;
    for (unsigned part = 0; part < 2; part++) {
        first += (unsigned)m->shape.room[part];
        if (load == first && m->shape.pool[part + 1] != 0) return part + 1;
    }
    return 0;
}

/* The first free extension, searched from this bucket's share of the pool on, once around. */
static bool model_take(model *m, uint64_t bucket, unsigned part) {
    uint64_t const n = m->shape.pool[part], share = UINT64_MAX / m->shape.buckets;
    uint64_t       low;
    uint64_t const wanted = multiply_digits(bucket * share, n, &low);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t const which = (wanted + i) % n;
        if (m->is_taken[part][which]) continue;
        m->is_taken[part][which] = true;
        m->extension[bucket][part] = which + 1;
        m->extended[part]++;
        return true;
    }
    return false;
}

static bool model_append(model *m, const chains_place *to, uint64_t cell) {
    unsigned const load = model_load(m, to->bucket), part = model_border(m, load);
    if (load == m->shape.room[0] + m->shape.room[1] + m->shape.room[2]) return false;
    if (part != 0 && !model_take(m, to->bucket, part)) return false;
    unsigned *const length = &m->length[to->bucket][to->chain];
    m->cell[to->bucket][to->chain][(*length)++] = cell;
    if (*length > m->long_one) m->long_one = *length;
    return true;
}

static void model_delete(model *m, const chains_place *from, unsigned depth) {
    uint64_t *const cells = m->cell[from->bucket][from->chain];
    cells[depth] = cells[--m->length[from->bucket][from->chain]];
    unsigned const part = model_border(m, model_load(m, from->bucket));
    if (part == 0) return;
    m->is_taken[part][m->extension[from->bucket][part] - 1] = false;
    m->extension[from->bucket][part] = 0;
}

/* ------------------------------------------------------------------ its bytes */

static void put(uint8_t *bytes, uint64_t at, uint64_t bits, uint64_t value) {
    for (uint64_t i = 0; i < bits; i++) write_bit(bytes, at + i, value >> i & 1);
}

/* One cell and its bit of the higher index. */
static void put_cell(const model *m, uint64_t bucket, unsigned place, uint64_t cell, bool has_next,
                     uint8_t *bytes) {
    const chains_shape *const shape = &m->shape;
    unsigned                  part = 0;
    for (; part < 2 && place >= shape->room[part]; part++) place -= (unsigned)shape->room[part];
    uint64_t const which = part == 0 ? bucket : m->extension[bucket][part] - 1;
    uint64_t const at = shape->start[part] + which * shape->record[part];
    write_bit(bytes, at + shape->index[part] + place, has_next);
    put(bytes, at + shape->cells[part] + place * shape->cell_bits, shape->cell_bits, cell);
}

static void put_bucket(const model *m, uint64_t bucket, uint8_t *bytes) {
    const chains_shape *const shape = &m->shape;
    uint64_t                  at = shape->start[0] + bucket * shape->record[0];
    for (unsigned l = 0; l < shape->chains; l++) {
        unsigned const length = m->length[bucket][l];
        write_bit(bytes, at + l, length != 0);
        for (unsigned depth = 0; depth < length; depth++) {
            put_cell(m, bucket, model_place(m, bucket, l, depth), m->cell[bucket][l][depth],
                     depth + 1 < length, bytes);
        }
    }
    for (unsigned part = 1; part < 3 && m->extension[bucket][part] != 0; part++) {
        uint64_t const which = m->extension[bucket][part];
        put(bytes, at + shape->pointer[part - 1], shape->pointer_bits[part - 1], which);
        at = shape->start[part] + (which - 1) * shape->record[part];
    }
}

static void model_bytes(const model *m, uint8_t *ret_bytes) {
    memset(ret_bytes, 0, m->bytes);
    for (uint64_t bucket = 0; bucket < m->shape.buckets; bucket++) {
        put_bucket(m, bucket, ret_bytes);
    }
    for (unsigned part = 1; part < 3; part++) {
        for (uint64_t i = 0; i < m->shape.pool[part]; i++) {
            write_bit(ret_bytes, m->shape.used[part] + i, m->is_taken[part][i]);
        }
    }
}

static void check_bytes(const model *m, const uint8_t *body) {
    uint8_t *const expected = malloc(m->bytes);
    assert_non_null(expected);
    model_bytes(m, expected);
    bool const is_equal = memcmp(body, expected, m->bytes) == 0;
    free(expected);
    if (is_equal) return;
    print_error("%llu chains, cells of %llu bits, %llu+%llu+%llu of them\n",
                (unsigned long long)m->shape.chains, (unsigned long long)m->shape.cell_bits,
                (unsigned long long)m->shape.room[0], (unsigned long long)m->shape.room[1],
                (unsigned long long)m->shape.room[2]);
    fail();
}

/* ------------------------------------------------------------------ what is asked of a bucket */

/* What the oracle has for a remainder in a chain. */
static copies_entry model_entry(const model *m, const chains_place *at, uint64_t remainder) {
    copies_entry   entry = { .remainder = remainder };
    unsigned const counter = (unsigned)m->shape.counter_bits;
    for (unsigned i = 0; i < m->length[at->bucket][at->chain]; i++) {
        uint64_t const cell = m->cell[at->bucket][at->chain][i];
        if ((cell & bits_low((unsigned)m->shape.remainder_bits)) != remainder) continue;
        entry.cells++;
        entry.copies += 1 + (unsigned)(cell >> m->shape.remainder_bits & bits_low(counter));
    }
    return entry;
}

static void check_bucket(const model *m, chains_view chains, uint64_t bucket) {
    uint64_t const at = chains_bucket_at(chains.shape, bucket);
    unsigned       load = 0;
    assert_true(chains_are_whole(chains, at, &load));
    assert_int_equal(load, model_load(m, bucket));
    assert_int_equal(chains_load(chains, at), load);
}

/* Walk down the chain with the functions under test. */
static void check_chain(const model *m, chains_view chains, const chains_place *at) {
    unsigned const length = m->length[at->bucket][at->chain];
    uint64_t const base = chains_base(chains, at->at);
    chains_step    step = chains_first(base, at->chain);
    assert_int_equal(base >> at->chain & 1, length != 0);
    for (unsigned depth = 0; depth < length; depth++) {
        unsigned const i = chains_at_step(&step);
        assert_int_equal(i, model_place(m, at->bucket, at->chain, depth));
        assert_int_equal(field_get(chains.body, chains_cell(chains, at->at, i),
                                   (unsigned)chains.shape->cell_bits),
                         m->cell[at->bucket][at->chain][depth]);
        assert_int_equal(chains_next(chains, at->at, &step), depth + 1 < length);
    }
}

/* Compare the trail of a key, except for which of several equal cells is the match. */
static copies_trail check_trail(const model *m, chains_view chains, const chains_place *at) {
    copies_trail const trail = copies_follow(chains, at);
    copies_entry const entry = model_entry(m, at, at->remainder);
    unsigned const     length = m->length[at->bucket][at->chain];
    assert_int_equal(trail.end.length, length);
    assert_int_equal(trail.end.next, model_place(m, at->bucket, at->chain, length));
    if (length > 0)
        assert_int_equal(trail.end.last, model_place(m, at->bucket, at->chain, length - 1));
    if (length > 1)
        assert_int_equal(trail.end.before, model_place(m, at->bucket, at->chain, length - 2));
    assert_int_equal(trail.cells, entry.cells);
    assert_int_equal(trail.copies, entry.copies);
    assert_int_equal(chains_hold(chains, at), entry.cells != 0);
    return trail;
}

typedef struct visits {
    const model *m;
    unsigned     cells, n;
    uint64_t     last_chain, last_remainder;
} visits;

static bool check_visit(void *context, const chains_place *at, const copies_entry *entry) {
    visits *const      seen = context;
    copies_entry const expected = model_entry(seen->m, at, entry->remainder);
    assert_int_equal(entry->remainder, at->remainder);
    assert_int_equal(entry->cells, expected.cells);
    assert_int_equal(entry->copies, expected.copies);
    bool const is_later = at->chain > seen->last_chain ||
                          (at->chain == seen->last_chain && at->remainder > seen->last_remainder);
    assert_true(seen->n++ == 0 || is_later);
    seen->last_chain = at->chain;
    seen->last_remainder = at->remainder;
    seen->cells += entry->cells;
    return true;
}

static void check_visits(const model *m, chains_view chains, uint64_t bucket) {
    visits seen = { .m = m };
    assert_true(copies_each(chains, bucket, check_visit, &seen));
    assert_int_equal(seen.cells, model_load(m, bucket));
}

/* ------------------------------------------------------------------ histories */

static chains_place random_place(const model *m, dice *random) {
    chains_place place;

    place.bucket = dice_below(random, m->shape.buckets);
    place.at = m->shape.start[0] + place.bucket * m->shape.record[0];
    place.chain = (unsigned)dice_below(random, dice_below(random, 3) == 0 ? 1 : m->shape.chains);
    place.remainder = dice_edge(random) & bits_low((unsigned)m->shape.remainder_bits);
    return place;
}

static void step_append(model *m, chains_view chains, dice *random) {
    chains_place const place = random_place(m, random);
    copies_trail const trail = check_trail(m, chains, &place);
    unsigned const     others = (unsigned)(chains.shape->cell_bits - chains.shape->remainder_bits);
    uint64_t const     more = dice_edge(random) & bits_low(others);
    uint64_t const     cell = place.remainder | more << chains.shape->remainder_bits;
    bool const         is_taken = chains_append(chains, &place, &trail.end, cell);
    assert_int_equal(is_taken, model_append(m, &place, cell));
    m->refused += !is_taken;
    check_bytes(m, chains.body);
    check_bucket(m, chains, place.bucket);
    check_chain(m, chains, &place);
}

static void step_delete(model *m, chains_view chains, dice *random) {
    chains_place const place = random_place(m, random);
    copies_trail const trail = check_trail(m, chains, &place);
    if (trail.end.length == 0) return;
    unsigned const depth = (unsigned)dice_below(random, trail.end.length);
    chains_delete(chains, &place, &trail.end, model_place(m, place.bucket, place.chain, depth));
    model_delete(m, &place, depth);
    check_bytes(m, chains.body);
    check_bucket(m, chains, place.bucket);
    check_chain(m, chains, &place);
}

/* Delete all cells, one by one. */
static void empty(model *m, chains_view chains) {
    for (uint64_t bucket = 0; bucket < m->shape.buckets; bucket++) {
        chains_place place = { .bucket = bucket, .at = chains_bucket_at(chains.shape, bucket) };
        for (place.chain = 0; place.chain < m->shape.chains; place.chain++) {
            while (m->length[bucket][place.chain] != 0) {
                copies_trail const trail = check_trail(m, chains, &place);
                chains_delete(chains, &place, &trail.end, trail.end.last);
                model_delete(m, &place, trail.end.length - 1);
            }
        }
    }
    check_bytes(m, chains.body);
    for (uint64_t i = 0; i < m->bytes; i++) assert_int_equal(chains.body[i], 0);
}

/* Insert and delete at random; in each part of the history one of them is more frequent. */
static void live(model *m, chains_view chains, dice *random) {
    for (unsigned stretch = 0; stretch < 4; stretch++) {
        uint64_t const steps = 40 + m->shape.buckets * chains_room(&m->shape);
        for (uint64_t i = 0; i < steps; i++) {
            bool const towards = dice_below(random, 4) != 0;
            if ((stretch % 2 == 0) == towards)
                step_append(m, chains, random);
            else
                step_delete(m, chains, random);
        }
        for (uint64_t b = 0; b < m->shape.buckets; b++) check_visits(m, chains, b);
    }
}

static void chains_are_as_an_array_of_arrays_would_be(void **state) {
    (void)state;
    dice     random = dice_start();
    unsigned refused = 0, second = 0, third = 0, longest = 0;
    for (unsigned round = 0; round < 100; round++) {
        model *const      m = model_new(&random);
        fenced            body = fenced_new(m->bytes);
        chains_view const chains = { body.bytes, &m->shape };
        live(m, chains, &random);
        empty(m, chains);
        refused += m->refused;
        second += m->extended[1];
        third += m->extended[2];
        if (m->long_one > longest) longest = m->long_one;
        fenced_free(&body);
        free(m);
    }
    assert_true(refused > 500 && second > 100 && third > 30 && longest > 40); /* all was met */
}

/* Every bit of a record after those that `load` cells use. */
static void check_behind(const model *m, chains_view chains, uint64_t bucket) {
    const chains_shape *const shape = chains.shape;
    uint64_t const            at = chains_bucket_at(shape, bucket);
    unsigned                  left = model_load(m, bucket), load;
    for (unsigned part = 0; part < 3 && (part == 0 || m->extension[bucket][part] != 0); part++) {
        uint64_t const which = part == 0 ? bucket : m->extension[bucket][part] - 1;
        uint64_t const record = shape->start[part] + which * shape->record[part];
        uint64_t const used = min_u64(left, shape->room[part]);
        for (uint64_t bit = shape->index[part] + used; bit < shape->record[part]; bit++) {
            uint64_t const cells = shape->cells[part];
            if (bit >= cells && bit < cells + used * shape->cell_bits) continue;
            flip_bit(chains.body, record + bit);
            assert_false(chains_are_whole(chains, at, &load));
            flip_bit(chains.body, record + bit);
        }
        left -= (unsigned)used;
    }
    assert_true(chains_are_whole(chains, at, &load));
}

static void chains_are_not_whole_with_any_bit_behind_the_last_cell(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 40; round++) {
        model *const      m = model_new(&random);
        fenced            body = fenced_new(m->bytes);
        chains_view const chains = { body.bytes, &m->shape };
        for (unsigned i = 0; i < 20 + 10 * round; i++) step_append(m, chains, &random);
        for (uint64_t bucket = 0; bucket < m->shape.buckets; bucket++) {
            check_behind(m, chains, bucket);
        }
        fenced_free(&body);
        free(m);
    }
}

/* ------------------------------------------------------------------ copies */

/* Add or remove one copy of a fingerprint. It has as few cells as its copies need, and at most one
 * of them is not full. */
static void step_copies(chains_view chains, const chains_place *at, unsigned *copies,
                        dice *random) {
    copies_trail const trail = copies_follow(chains, at);
    unsigned const     counter = (unsigned)chains.shape->counter_bits;
    assert_int_equal(trail.copies, *copies);
    assert_int_equal(trail.cells, (*copies + (1u << counter) - 1) >> counter);
    assert_int_equal(trail.cells, copies_cells(chains.shape, *copies));
    if (dice_below(random, 3) != 0) {
        *copies += copies_up(chains, at, &trail);
    } else if (*copies != 0) {
        copies_down(chains, at, &trail);
        --*copies;
    }
    unsigned load = 0;
    assert_true(chains_are_whole(chains, at->at, &load));
}

static void copies_fill_one_cell_before_they_take_another(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 30; round++) {
        model *const      m = model_new(&random);
        fenced            body = fenced_new(m->bytes);
        chains_view const chains = { body.bytes, &m->shape };
        unsigned          copies[MAX_BUCKETS][2][4] = { 0 };
        for (unsigned i = 0; i < 2000; i++) {
            chains_place place = random_place(m, &random);
            place.chain = (unsigned)(m->shape.chains - 1) * (i % 2);
            place.remainder &= 3;
            unsigned const which = m->shape.chains == 1 ? 0 : i % 2;
            step_copies(chains, &place, &copies[place.bucket][which][place.remainder], &random);
        }
        fenced_free(&body);
        free(m);
    }
}

/* ------------------------------------------------------------------ any bytes */

static bool visit_any(void *context, const chains_place *at, const copies_entry *entry) {
    (void)at;
    *(uint64_t *)context += entry->cells;
    return true;
}

/* Call all functions that read. They may find anything, but must return. */
static void read_all(chains_view chains, dice *random) {
    uint64_t cells = 0;
    unsigned load;
    for (uint64_t bucket = 0; bucket < chains.shape->buckets; bucket++) {
        uint64_t const at = chains_bucket_at(chains.shape, bucket);
        (void)chains_are_whole(chains, at, &load);
        assert_true(load <= chains_room(chains.shape));
        assert_true(copies_each(chains, bucket, visit_any, &cells));
        (void)chains_load(chains, at);
    }
    chains_place const place = chains_find(chains.shape, dice_roll(random));
    (void)chains_hold(chains, &place);
    (void)copies_follow(chains, &place);
}

static void random_bytes(dice *random, const model *m, uint8_t *body) {
    uint64_t const density = dice_below(random, 5); /* from hardly a bit to nearly all */
    for (uint64_t i = 0; i < m->bytes; i++) {
        uint8_t const a = (uint8_t)dice_roll(random), b = (uint8_t)dice_roll(random);
        uint8_t const both = a & b, either = a | b;
        body[i] = density == 0 ? 0 : density == 1 ? both : density == 2 ? a : either;
        if (density == 4) body[i] = 0xff;
    }
}

static void chains_of_any_bytes_are_read_inside_the_body(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 1000; round++) {
        model *const m = model_new(&random);
        fenced       body = fenced_new(m->bytes);
        random_bytes(&random, m, body.bytes);
        for (unsigned i = 0; i < 20; i++) read_all((chains_view){ body.bytes, &m->shape }, &random);
        fenced_free(&body);
        free(m);
    }
}

/* In a file that was opened with TAMIS_OPEN_TRUST, changes may be wrong, but must stay inside the
 * body. */
static void chains_of_any_bytes_are_changed_inside_the_body(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 3000; round++) {
        model *const      m = model_new(&random);
        fenced            body = fenced_new(m->bytes);
        chains_view const chains = { body.bytes, &m->shape };
        random_bytes(&random, m, body.bytes);
        for (unsigned i = 0; i < 40; i++) {
            chains_place const place = chains_find(chains.shape, dice_roll(&random));
            copies_trail const trail = copies_follow(chains, &place);
            if (i % 2 == 0) (void)copies_up(chains, &place, &trail);
            if (i % 2 == 1 && trail.cells != 0) copies_down(chains, &place, &trail);
        }
        fenced_free(&body);
        free(m);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(chains_are_as_an_array_of_arrays_would_be),
    cmocka_unit_test(chains_are_not_whole_with_any_bit_behind_the_last_cell),
    cmocka_unit_test(copies_fill_one_cell_before_they_take_another),
    cmocka_unit_test(chains_of_any_bytes_are_read_inside_the_body),
    cmocka_unit_test(chains_of_any_bytes_are_changed_inside_the_body),
};

CORE_EXPORT(chains)
