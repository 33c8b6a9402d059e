/* state_print_oracle.h - d-left tables of states as lists, from which every byte is predicted.
 *
 * It is the structure of the paper (Bonomi et al., SIGCOMM 2006, sections 3.4 and 4): each bucket
 * of each subtable is a list of prints with value and timer, the side table one of hashes. It finds
 * the places of a key by long multiplication, and the work that the sweep has left by counting.
 */
#ifndef TAMIS_TESTS_STATE_PRINT_ORACLE_H
#define TAMIS_TESTS_STATE_PRINT_ORACLE_H

#include "by_hand.h"
#include "kinds/state_print/size.h"
#include "subject.h"

#define ORACLE_BUCKETS 200 /* of all subtables, at most */
#define ORACLE_CELLS 70

typedef struct entry {
    uint64_t name; /* the print, or in the side table the hash */
    uint64_t value, timer;
} entry;

typedef struct bucket {
    unsigned n;
    entry    list[ORACLE_CELLS];
} bucket;

typedef struct oracle {
    const tamis_table *table; /* for its numbers only: geometry, values, the hand */
    const uint64_t    *g;
    uint64_t           range, factor[FLUID_MAX_TABLES];
    uint64_t           keys, aged;
    bucket             all[ORACLE_BUCKETS + 1]; /* subtable after subtable, then the side table */
} oracle;

/* ------------------------------------------------------------------ arithmetic */

/* The factors: from a random number on, the next one that is coprime to the range. */
static void oracle_start(oracle *o, const tamis_table *table) {
    memset(o, 0, sizeof *o);
    o->table = table;
    o->g = table->geometry;
    o->range = o->g[STATE_PRINT_BUCKETS] << o->g[STATE_PRINT_PRINT_BITS];
    for (unsigned i = 0; i < o->g[STATE_PRINT_TABLES]; i++) {
        uint64_t factor = high_half(mix64((i + 1) * HASH_GOLDEN), o->range);
        while (have_common_factor(factor, o->range)) factor = (factor + 1) % o->range;
        o->factor[i] = factor;
    }
    assert_true(o->g[STATE_PRINT_TABLES] * o->g[STATE_PRINT_BUCKETS] <= ORACLE_BUCKETS);
    assert_true(o->g[STATE_PRINT_CELLS] <= ORACLE_CELLS && o->g[STATE_PRINT_SIDE] <= ORACLE_CELLS);
}

/* ------------------------------------------------------------------ where a key belongs */

static unsigned side_unit(const oracle *o) {
    return (unsigned)(o->g[STATE_PRINT_TABLES] * o->g[STATE_PRINT_BUCKETS]);
}

/* The bucket of a key in subtable i, and its print there. */
static unsigned home_of(const oracle *o, uint64_t hash, unsigned i, uint64_t *ret_print) {
    uint64_t const f = o->g[STATE_PRINT_PRINT_BITS], prints = (UINT64_C(1) << f) - 1;
    uint64_t const b = o->g[STATE_PRINT_BUCKETS];
    if (o->g[STATE_PRINT_PERMUTED] == 0) {
        *ret_print = 1 + high_half(remix(hash, 8), prints);
        return (unsigned)(i * b + high_half(remix(hash, i), b));
    }
    uint64_t const which = high_half(hash, b * prints);
    uint64_t const fingerprint = which / prints * (prints + 1) + which % prints + 1;
    uint64_t const at = multiply_mod(o->factor[i], fingerprint, o->range);
    *ret_print = at % (prints + 1);
    return (unsigned)(i * b + at / (prints + 1));
}

/* The entries of a key: those with its print in all its buckets, or its own entry in the side
 * table. */
typedef struct holding {
    unsigned n;
    unsigned unit[FLUID_MAX_TABLES], at[FLUID_MAX_TABLES];
} holding;

static holding oracle_find(const oracle *o, uint64_t hash) {
    const bucket *const aside = &o->all[side_unit(o)];
    holding             found = { .n = 0 };
    for (unsigned k = 0; k < aside->n; k++) {
        if (aside->list[k].name == hash) return (holding){ 1, { side_unit(o) }, { k } };
    }
    for (unsigned i = 0; i < o->g[STATE_PRINT_TABLES]; i++) {
        uint64_t       print;
        unsigned const unit = home_of(o, hash, i, &print);
        for (unsigned k = 0; k < o->all[unit].n; k++) {
            if (o->all[unit].list[k].name != print) continue;
            assert_true(found.n < FLUID_MAX_TABLES);
            found.unit[found.n] = unit;
            found.at[found.n++] = k;
        }
    }
    return found;
}

static entry *entry_of(oracle *o, const holding *found, unsigned i) {
    return &o->all[found->unit[i]].list[found->at[i]];
}

static tamis_status oracle_get(oracle *o, uint64_t hash, uint64_t *ret_value) {
    holding const found = oracle_find(o, hash);
    if (found.n == 0) return TAMIS_ERR_ABSENT;
    uint64_t const value = entry_of(o, &found, 0)->value;
    if (found.n > 1 || value == o->table->values) return TAMIS_ERR_UNKNOWN;
    *ret_value = value;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ changes */

/* How often the sweep will still pass a unit until all ageing that is due is done. */
static uint64_t owed_to(const oracle *o, unsigned unit) {
    const sweep *const hand = &o->table->sweep;
    uint64_t           times = 0;
    for (uint64_t at = hand->done; at < hand->due; at++) times += at % hand->units == unit;
    return times;
}

static uint64_t fresh_timer(const oracle *o, unsigned unit, uint64_t value) {
    const sweep *const hand = &o->table->sweep;
    if (hand->timeout == 0) return 0;
    uint64_t const own = value < 16 ? hand->lives >> (4 * value) & 15 : 0;
    uint64_t const most = (UINT64_C(1) << (hand->timer_bits - 1)) - 1;
    return (own != 0 ? own : most) + owed_to(o, unit);
}

static void set_entry(oracle *o, const holding *found, unsigned i, uint64_t value) {
    entry *const e = entry_of(o, found, i);
    e->value = value;
    e->timer = fresh_timer(o, found->unit[i], value);
}

static void take_out(oracle *o, unsigned unit, unsigned at) {
    bucket *const b = &o->all[unit];
    b->list[at] = b->list[--b->n];
    o->keys--;
}

static tamis_status add_to(oracle *o, unsigned unit, uint64_t name, uint64_t value) {
    bucket *const  b = &o->all[unit];
    uint64_t const room = unit == side_unit(o) ? o->g[STATE_PRINT_SIDE] : o->g[STATE_PRINT_CELLS];
    if (b->n == room) return TAMIS_ERR_FULL;
    b->list[b->n++] = (entry){ name, value, fresh_timer(o, unit, value) };
    o->keys++;
    return TAMIS_OK;
}

/* The least loaded bucket, the leftmost of several; the side table if that is full, or if the print
 * is in one of the buckets already. */
static tamis_status oracle_insert(oracle *o, uint64_t hash, uint64_t value) {
    uint64_t print, best_print = 0;
    unsigned best = side_unit(o);
    if (oracle_find(o, hash).n != 0) return add_to(o, best, hash, value);
    for (unsigned i = 0; i < o->g[STATE_PRINT_TABLES]; i++) {
        unsigned const unit = home_of(o, hash, i, &print);
        if (best != side_unit(o) && o->all[unit].n >= o->all[best].n) continue;
        best = unit;
        best_print = print;
    }
    bool const is_full = o->all[best].n == o->g[STATE_PRINT_CELLS];
    return is_full ? add_to(o, side_unit(o), hash, value) : add_to(o, best, best_print, value);
}

static tamis_status oracle_put(oracle *o, uint64_t hash, uint64_t value) {
    uint64_t           own;
    holding const      found = oracle_find(o, hash);
    tamis_status const status = oracle_get(o, hash, &own);
    bool const         is_aside = found.n != 0 && found.unit[0] == side_unit(o);
    if (status == TAMIS_ERR_ABSENT) return oracle_insert(o, hash, value);
    if (status == TAMIS_ERR_UNKNOWN && !is_aside) return add_to(o, side_unit(o), hash, value);
    if (status == TAMIS_OK && own != value) return TAMIS_ERR_CONFLICT;
    set_entry(o, &found, 0, value);
    return TAMIS_OK;
}

static tamis_status oracle_move(oracle *o, uint64_t hash, uint64_t from, uint64_t to) {
    uint64_t           own;
    holding const      found = oracle_find(o, hash);
    tamis_status const status = oracle_get(o, hash, &own);
    if (status == TAMIS_ERR_UNKNOWN) {
        for (unsigned i = 0; i < found.n; i++) set_entry(o, &found, i, o->table->values);
    }
    if (status != TAMIS_OK) return status;
    if (from != TAMIS_ANY_VALUE && from != own) return TAMIS_ERR_CONFLICT;
    if (o->g[STATE_PRINT_REINSERTS] == 0) {
        set_entry(o, &found, 0, to);
        return TAMIS_OK;
    }
    take_out(o, found.unit[0], found.at[0]);
    return oracle_insert(o, hash, to);
}

static tamis_status oracle_touch(oracle *o, uint64_t hash) {
    uint64_t      own;
    holding const found = oracle_find(o, hash);
    for (unsigned i = 0; i < found.n; i++) set_entry(o, &found, i, entry_of(o, &found, i)->value);
    return oracle_get(o, hash, &own);
}

static tamis_status oracle_drop(oracle *o, uint64_t hash, uint64_t from) {
    uint64_t           own;
    holding const      found = oracle_find(o, hash);
    tamis_status const status = oracle_get(o, hash, &own);
    if (status != TAMIS_OK) return status;
    if (from != TAMIS_ANY_VALUE && from != own) return TAMIS_ERR_CONFLICT;
    take_out(o, found.unit[0], found.at[0]);
    return TAMIS_OK;
}

/* The sweep visits a unit, from its last entry to its first. `aged` may be NULL. */
static void oracle_sweep(oracle *o, unsigned unit, uint64_t *aged) {
    bucket *const b = &o->all[unit];
    for (unsigned k = b->n; k-- > 0;) {
        if (b->list[k].timer-- != 0) continue;
        if (aged != NULL && b->list[k].value < o->table->values) aged[b->list[k].value]++;
        o->aged++;
        take_out(o, unit, k);
    }
}

/* ------------------------------------------------------------------ bytes */

/* Write n names of `bits` bits each, from a bit on; their fields follow after the room for all
 * names. */
static void write_list(const oracle *o, const bucket *b, uint64_t at, uint64_t bits, uint64_t room,
                       uint8_t *to) {
    uint64_t const x = o->g[STATE_PRINT_VALUE_BITS], timer_bits = o->table->sweep.timer_bits;
    for (unsigned k = 0; k < b->n; k++) {
        write_bits(to, at + k * bits, bits, b->list[k].name);
        write_bits(to, at + room * bits + k * x, x - timer_bits, b->list[k].value);
        write_bits(to, at + room * bits + (k + 1) * x - timer_bits, timer_bits, b->list[k].timer);
    }
}

static void oracle_write(const oracle *o, uint8_t *ret_body, uint64_t bytes) {
    uint64_t const bucket_bytes = o->g[STATE_PRINT_BUCKET_BYTES];
    uint64_t const side = (side_unit(o) * bucket_bytes + 7) / 8 * 8;
    memset(ret_body, 0, bytes);
    for (unsigned b = 0; b < side_unit(o); b++) {
        write_list(o, &o->all[b], 8 * bucket_bytes * b, o->g[STATE_PRINT_PRINT_BITS],
                   o->g[STATE_PRINT_CELLS], ret_body);
    }
    if (o->g[STATE_PRINT_SIDE] == 0) return;
    write_bits(ret_body, 8 * side, 64, o->all[side_unit(o)].n);
    write_list(o, &o->all[side_unit(o)], 8 * (side + 8), 64, o->g[STATE_PRINT_SIDE], ret_body);
}

#endif
