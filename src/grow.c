/* grow.c - sets that grow: a new table has twice the buckets and one remainder bit less. The keys
 * are not needed.
 *
 * Idea
 * ----
 * All that `line` and `rank` store about a key is its print, floor(h x prints / 2^64), and their
 * buckets are in the order of prints. A table with twice the buckets and remainders that are one
 * bit shorter has the same number of prints, so every entry of the old table has its place in the
 * new one. A set that can grow D times starts with D more remainder bits than its fpr needs, and
 * gives up one at each step. So the number of prints never changes, nor does the fpr when the last
 * stage is full.
 *
 *     stage    0            1            2     ...    D = `stages`
 *     buckets  B            2B           4B           2^D B
 *     bits     r + D        r + D - 1    ...          r
 *
 * A step, without a pause
 * -----------------------
 * Buckets move from the table to `next` in groups, in order. So the hash of a key is enough to know
 * in which table the key is:
 *
 *     hash     0 ................ boundary .................... 2^64
 *              in `next`          in the table
 *
 * A step begins at 15/16 of the capacity. Calls that change the set do its work: after every `pace`
 * calls one group is moved, so that the step ends before the capacity is reached. Memory that the
 * old table no longer needs is given back during the step. If an add finds no room before the last
 * stage, it finishes the step at once, and does another step if necessary.
 *
 * grow_calls.c has the operations on keys, which find the right table and pay for the step.
 * grow_prints.c has loops over the prints of both tables. This file has the stages, the steps, and
 * operations on a growing set as a whole.
 */
#include "grow.h"
#include "share.h"
#include "states_door.h"

#include "core/bits.h"
#include "core/memory.h"

#define BEGIN_PARTS 16 /* a step begins when 1/16 of the capacity is left */
#define MAX_PACE 44    /* calls for a group: a group of `line` has 16 x 44 keys at capacity */
#define GIVE_BYTES MEMORY_PAGE /* memory is given back in pieces of this, one for each call */

static uint64_t buckets_of(const tamis_table *table) {
    return table->geometry[0];
}

static uint64_t entries_of(const tamis_set *set) {
    const tamis_table *tables[2];
    uint64_t           sum = 0;
    for (unsigned n = grow_tables(set, tables); n-- != 0;)
        sum += set->kind->growing->entries(tables[n]);
    return sum;
}

/* ------------------------------------------------------------------ stages */

tamis_choice tamis_grow_choice(const tamis_set *set) {
    tamis_choice now = tamis_choice_like(set);
    if (set->growth == NULL) return now;
    now.grows = true;
    now.stage = set->growth->stage;
    now.stages = set->growth->stages;
    now.overflow = set->growth->overflow;
    return now;
}

/* The geometry of another stage. */
static tamis_status plan_stage(const tamis_set *set, int doublings, uint64_t *ret_geometry) {
    tamis_choice       there;
    tamis_choice const here = tamis_grow_choice(set);
    tamis_status const status = tamis_plan_step(&here, doublings, &there);
    if (status == TAMIS_OK) memcpy(ret_geometry, there.geometry, sizeof there.geometry);
    return status;
}

void tamis_grow_prepare(const tamis_set *set, const uint64_t *geometry, tamis_table *ret_table) {
    *ret_table = (tamis_table){ .ids = set->table.ids, .values = set->table.values };
    memcpy(ret_table->geometry, geometry, tamis_kind_n_fields(set->kind) * sizeof geometry[0]);
    set->kind->prepare(ret_table);
}

static tamis_status get_body(const tamis_set *set, tamis_table *table) {
    tamis_status const status = tamis_table_get_body(set, table);
    if (status == TAMIS_ERR_LIMIT) return TAMIS_ERR_MEMORY; /* more than max_bytes */
    if (status == TAMIS_OK)
        memory_avoid_huge_pages(&set->allocator, table->body, (size_t)table->body_bytes);
    return status;
}

/* Free a body. In a shared set, lookups may still read it. */
static void give_body(tamis_set *set, tamis_table *table) {
    if (set->shared != NULL && table->body != NULL) {
        tamis_share_retire_body(set, table);
        return;
    }
    memory_give(&set->allocator, table->body, (size_t)table->body_bytes);
    table->body = NULL;
    table->body_bytes = 0;
}

/* ------------------------------------------------------------------ timers */

/* The sweep for a table with twice the units. Unit u becomes 2u and 2u + 1, and each of them is
 * owed as many passes as u was. */
static sweep doubled_sweep(const sweep *hand) {
    sweep twice = *hand;
    twice.units *= 2;
    twice.done *= 2;
    twice.due *= 2;
    return twice;
}

/* The same at the end of a step, including the time that is not yet a whole unit. A unit is due
 * when the hand (the position of the sweep) is at its end, and the end of u is the end of 2u + 1.
 * If the hand were there, 2u would be due half a unit sooner than u, and its keys would lose that
 * time. So the hand waits for one small unit: 2u is due when u would have been, and 2u + 1 half a
 * unit later. */
static sweep doubled_sweep_with_rest(const sweep *hand) {
    sweep twice = doubled_sweep(hand);
    if (hand->timeout == 0) return twice;
    bool const has_waited = 2 * hand->rest >= hand->timeout;
    twice.late = 2 * hand->late + !has_waited;
    twice.rest = 2 * hand->rest - (has_waited ? hand->timeout : 0);
    return twice;
}

/* The sweep as it goes on in a table of another stage. */
static sweep scaled_sweep(const sweep *hand, int doublings) {
    sweep scaled = doublings < 0 ? sweep_shrunk(hand, (unsigned)-doublings) : *hand;
    for (int i = 0; i < doublings; i++) scaled = doubled_sweep_with_rest(&scaled);
    return scaled;
}

void tamis_grow_follow_sweep(tamis_set *set) {
    if (set->growth != NULL) set->growth->next.sweep = doubled_sweep(&set->table.sweep);
}

/* ------------------------------------------------------------------ a step */

/* Choose the functions that the public functions call, and set when the next step begins. */
static void settle(tamis_set *set) {
    struct growth *const growth = set->growth;
    bool const           is_moving = grow_is_moving(set);
    bool const           is_last = growth->stage == growth->stages;
    growth->table_calls = tamis_kind_calls(set->kind, set->table.geometry);
    growth->begin_at = is_last ? UINT64_MAX : set->capacity - set->capacity / BEGIN_PARTS;
    if (is_moving) growth->next_calls = tamis_kind_calls(set->kind, growth->next.geometry);
    if (set->shared == NULL)
        tamis_grow_choose_calls(set);
    else
        tamis_share_settle(set);
}

/* Give `next` the geometry of the next stage, without a body. */
static tamis_status plan_next(tamis_set *set) {
    uint64_t           geometry[TAMIS_MAX_FIELDS] = { 0 };
    tamis_status const status = plan_stage(set, 1, geometry);
    if (status != TAMIS_OK) return status;
    tamis_grow_prepare(set, geometry, &set->growth->next);
    set->growth->next.sweep = doubled_sweep(&set->table.sweep);
    return TAMIS_OK;
}

/* How many calls pay for one group. The step must be done before the set is at its capacity. */
static uint64_t pace_of(const tamis_set *set) {
    uint64_t const group = set->kind->growing->group;
    uint64_t const groups = (buckets_of(&set->table) - set->growth->moved + group - 1) / group;
    uint64_t const left = sub_or_0(set->capacity, entries_of(set));
    return max_u64(1, min_u64(left / max_u64(groups, 1), MAX_PACE));
}

static void set_boundary(struct growth *growth, const tamis_table *table, uint64_t moved) {
    growth->moved = moved;
    growth->boundary = moved == 0 ? 0 : fastrange_inverse(moved, buckets_of(table));
}

void tamis_grow_resume(tamis_set *set, uint64_t moved) {
    set_boundary(set->growth, &set->table, moved);
    settle(set);
    set->growth->pace = pace_of(set);
    set->growth->credit = 0;
    memset(set->growth->given_back, 0, sizeof set->growth->given_back);
}

tamis_status tamis_grow_begin_step(tamis_set *set) {
    struct growth *const growth = set->growth;
    /* The counts of a body that was not checked may be so high that even the last stage seems
     * full. */
    if (growth->stage == growth->stages) return TAMIS_ERR_FULL;
    tamis_status status = plan_next(set);
    /* The beginning and the end of a step publish views and retire bodies. What that takes is
     * allocated now, so that it cannot fail later. */
    if (set->shared != NULL && !tamis_share_prepare(set, 4)) status = TAMIS_ERR_MEMORY;
    if (status == TAMIS_OK) status = get_body(set, &growth->next);
    if (status != TAMIS_OK) {
        growth->next = (tamis_table){ .body = NULL };
        /* Not with every add. The entries of a shared set are not known here (share_grow.c). */
        growth->begin_at = max_u64(growth->begin_at, entries_of(set) + 1 + set->capacity / 256);
        return status;
    }
    tamis_grow_resume(set, 0);
    if (set->shared != NULL) tamis_share_publish(set);
    return TAMIS_OK;
}

static uint64_t scaled_count(uint64_t number, int doublings) {
    return doublings < 0 ? number >> -doublings : number << doublings;
}

/* Replace the table of the set by this one, of another stage. It may be growth->next: if not, the
 * caller has given back the body of that. */
static void take_stage(tamis_set *set, tamis_table *made, int doublings) {
    struct growth *const growth = set->growth;
    made->moved += set->table.moved;
    made->aged += set->table.aged;
    made->refused_adds = set->table.refused_adds;
    made->refused_removes = set->table.refused_removes;
    give_body(set, &set->table);
    tamis_handle_take_table(set, made);
    growth->next = (tamis_table){ .body = NULL };
    set_boundary(growth, &set->table, 0);
    growth->stage = (unsigned)((int)growth->stage + doublings);
    set->capacity = scaled_count(set->capacity, doublings);
    set->lifetime = scaled_count(set->lifetime, doublings);
    memory_use_huge_pages(&set->allocator, set->table.body, (size_t)set->table.body_bytes);
    settle(set);
    if (set->shared == NULL) return;
    tamis_share_divide(set);
    tamis_share_publish(set);
}

static void end_step(tamis_set *set) {
    set->growth->next.sweep = doubled_sweep_with_rest(&set->table.sweep);
    take_stage(set, &set->growth->next, 1);
}

/* Give back one piece of memory that no bucket of the table needs any more. The rest is freed when
 * the step ends. */
static void give_back(tamis_set *set) {
    struct growth *const growth = set->growth;
    kind_span            spans[KIND_MAX_SPANS];
    unsigned const       n = set->kind->growing->spans(&set->table, growth->moved, spans);
    for (unsigned i = 0; i < n; i++) {
        size_t const from =
            memory_whole_pages((size_t)max_u64(growth->given_back[i], spans[i].begin));
        if (spans[i].end < from + GIVE_BYTES) continue;
        memory_give_part(&set->allocator, set->table.body, (size_t)set->table.body_bytes, from,
                         GIVE_BYTES);
        growth->given_back[i] = from + GIVE_BYTES;
        return;
    }
}

/* Counts that move from one table to the other together with the buckets. */
typedef struct counts {
    uint64_t keys, entries, saturated;
} counts;

static counts counts_of(const tamis_table *table) {
    return (counts){ table->keys, table->entries, table->saturated };
}

static void set_counts(tamis_table *table, counts all) {
    table->keys = all.keys;
    table->entries = all.entries;
    table->saturated = all.saturated;
}

/* Copy the buckets first..first+n-1 to `next`, and move their counts. TAMIS_OK; or _FULL, and
 * nothing has changed. In a shared set, other threads look up keys in `next` at the same time,
 * without waiting. So existing entries of `next` must not move, and neighbouring bits in the same
 * word must be written back unchanged. */
static tamis_status carry_group(tamis_set *set, uint64_t first, uint64_t n) {
    struct growth *const      growth = set->growth;
    const kind_growing *const how = set->kind->growing;
    counts const              before = counts_of(&growth->next);
    for (uint64_t i = 0; i < n; i++) {
        if (how->carry(&set->table, first + i, &growth->next) == TAMIS_OK) continue;
        how->wipe(&growth->next, 2 * first, 2 * n);
        set_counts(&growth->next, before);
        return TAMIS_ERR_FULL;
    }
    counts const after = counts_of(&growth->next), here = counts_of(&set->table);
    set_counts(&set->table, (counts){ here.keys - (after.keys - before.keys),
                                      here.entries - (after.entries - before.entries),
                                      here.saturated - (after.saturated - before.saturated) });
    return TAMIS_OK;
}

/* Move the last group and end the step; in a shared set with all stripes locked. */
static tamis_status move_last(tamis_set *set, uint64_t first, uint64_t n) {
    tamis_share_hold(set);
    tamis_status const status = carry_group(set, first, n);
    if (status == TAMIS_OK) end_step(set); /* the old table is freed as it is */
    tamis_share_release(set);
    return status;
}

/* Move one group. TAMIS_OK; or _FULL, and nothing has changed: `next` has no room, since many of
 * the added keys belong to a few buckets. */
tamis_status tamis_grow_move_group(tamis_set *set) {
    struct growth *const growth = set->growth;
    uint64_t const       first = growth->moved;
    uint64_t const       n = min_u64(set->kind->growing->group, buckets_of(&set->table) - first);
    if (first + n == buckets_of(&set->table)) return move_last(set, first, n);
    if (set->shared != NULL) tamis_share_begin_move(set, first);
    tamis_status const status = carry_group(set, first, n);
    if (status == TAMIS_OK) {
        set_boundary(growth, &set->table, first + n);
        if (set->shared != NULL) tamis_share_show_move(set, first);
        set->kind->growing->wipe(&set->table, first, n);
    }
    if (set->shared != NULL) tamis_share_end_move(set, first);
    if (status == TAMIS_OK) give_back(set);
    return status;
}

/* ------------------------------------------------------------------ changing the size at once */

static tamis_status carry_all(const tamis_set *set, tamis_table *to) {
    const tamis_table *tables[2];
    tamis_status       status = TAMIS_OK;
    for (unsigned n = grow_tables(set, tables), t = 0; t < n; t++) {
        for (uint64_t i = 0; i < buckets_of(tables[t]) && status == TAMIS_OK; i++)
            status = set->kind->growing->carry(tables[t], i, to);
    }
    return status;
}

/* Make the new table, and replace both old ones by it. */
static tamis_status rebuild_held(tamis_set *set, int doublings) {
    struct growth *const growth = set->growth;
    uint64_t             geometry[TAMIS_MAX_FIELDS] = { 0 };
    tamis_table          made;
    tamis_status         status = plan_stage(set, doublings, geometry);
    if (set->shared != NULL && !tamis_share_prepare(set, 4)) status = TAMIS_ERR_MEMORY;
    if (status != TAMIS_OK) return status;
    tamis_grow_prepare(set, geometry, &made);
    made.sweep = scaled_sweep(&set->table.sweep, doublings); /* timers are carried to it */
    status = get_body(set, &made);
    if (status == TAMIS_OK) status = carry_all(set, &made);
    if (status != TAMIS_OK) {
        give_body(set, &made);
        return status;
    }
    made.moved = growth->next.moved;
    made.aged = growth->next.aged;
    give_body(set, &growth->next);
    take_stage(set, &made, doublings);
    return TAMIS_OK;
}

tamis_status tamis_grow_rebuild(tamis_set *set, int doublings) {
    int const stage = (int)set->growth->stage + doublings;
    if (stage < 0 || stage > (int)set->growth->stages) return TAMIS_ERR_LIMIT;
    tamis_share_hold(set);
    tamis_status const status = rebuild_held(set, doublings);
    tamis_share_release(set);
    return status;
}

/* If a step cannot be finished, the set goes directly to a later stage: the first whose table has
 * room for all entries. */
tamis_status tamis_grow_make_room(tamis_set *set) {
    struct growth *const growth = set->growth;
    tamis_status         status = TAMIS_OK;
    if (!grow_is_moving(set)) {
        if (growth->stage == growth->stages) return TAMIS_ERR_FULL;
        status = tamis_grow_begin_step(set);
    }
    while (status == TAMIS_OK && grow_is_moving(set)) status = tamis_grow_move_group(set);
    for (int steps = 2; status == TAMIS_ERR_FULL; steps++) {
        if (growth->stage + (unsigned)steps > growth->stages) break;
        status = tamis_grow_rebuild(set, steps);
    }
    return status == TAMIS_ERR_MEMORY ? status : status == TAMIS_OK ? TAMIS_OK : TAMIS_ERR_FULL;
}

/* ------------------------------------------------------------------ calls do the work of a step */

/* If there is no memory to begin a step, it begins later. */
void tamis_grow_pay(tamis_set *set, uint64_t n) {
    struct growth *const growth = set->growth;
    if (!grow_is_moving(set)) {
        if (__builtin_expect(entries_of(set) >= growth->begin_at, 0))
            (void)tamis_grow_begin_step(set);
        return;
    }
    growth->credit += n;
    while (growth->credit >= growth->pace && grow_is_moving(set)) {
        growth->credit -= growth->pace;
        if (tamis_grow_move_group(set) != TAMIS_OK) return;
    }
}

/* ------------------------------------------------------------------ the life of a growing set */

bool tamis_grow_is_possible(const tamis_choice *choice) {
    const tamis_workload *const work = &choice->work;
    unsigned const              stage = choice->stage, stages = choice->stages;
    uint64_t                    fixed[TAMIS_MAX_FIELDS];
    if (choice->kind->growing == NULL || stages > GROW_MAX_STAGES || stage > stages) return false;
    unsigned const left = stages - stage;
    uint64_t const below = bits_low(stage); /* both were doubled at each stage */
    return work->capacity <= HANDLE_MAX_CAPACITY >> left && work->lifetime <= UINT64_MAX >> left &&
           ((work->capacity | work->lifetime) & below) == 0 && choice->overflow > 0 &&
           choice->overflow < 1 && choice->kind->growing->scale(choice->geometry, (int)left, fixed);
}

tamis_status tamis_grow_init(tamis_set *set, unsigned stage, unsigned stages, double overflow) {
    set->growth = memory_get(&set->allocator, sizeof *set->growth);
    if (set->growth == NULL) return TAMIS_ERR_MEMORY;
    set->growth->stage = stage;
    set->growth->stages = stages;
    set->growth->overflow = overflow;
    set->growth->refusal = TAMIS_ERR_FULL;
    set->states = set->table.values != 0 ? &tamis_grow_states : NULL;
    settle(set);
    return TAMIS_OK;
}

/* In a mapped file, the body of `next` is freed with the mapping. */
void tamis_grow_free(tamis_set *set) {
    if (set->growth == NULL) return;
    if (set->mapping == NULL) give_body(set, &set->growth->next);
    memory_give(&set->allocator, set->growth, sizeof *set->growth);
    set->growth = NULL;
}

tamis_status tamis_grow_copy(tamis_set *to, const tamis_set *from) {
    const struct growth *const growth = from->growth;
    if (from->mapping != NULL) to->kind->growing->recount(&to->table);
    tamis_status status = tamis_grow_init(to, growth->stage, growth->stages, growth->overflow);
    if (status != TAMIS_OK || !grow_is_moving(from)) return status;
    tamis_grow_prepare(to, growth->next.geometry, &to->growth->next);
    status = get_body(to, &to->growth->next);
    if (status != TAMIS_OK) return status;
    tamis_table_copy(&to->growth->next, &growth->next);
    if (from->mapping != NULL) to->kind->growing->recount(&to->growth->next);
    tamis_grow_resume(to, growth->moved);
    return TAMIS_OK;
}

void tamis_grow_clear(tamis_set *set) {
    if (set->growth == NULL) return;
    give_body(set, &set->growth->next);
    set->growth->next = (tamis_table){ .body = NULL };
    set_boundary(set->growth, &set->table, 0);
    settle(set);
}

/* ------------------------------------------------------------------ the public function */

/* How many doublings make the capacity just large enough (negative: the set becomes smaller). */
static int doublings_to(const tamis_set *set, uint64_t capacity) {
    const struct growth *const growth = set->growth;
    uint64_t const             first = set->capacity >> growth->stage;
    unsigned                   stage = 0;
    while (stage < growth->stages && first << stage < capacity) stage++;
    return (int)stage - (int)growth->stage;
}

static tamis_status resize_held(tamis_set *set, uint64_t capacity, uint64_t *ret_capacity) {
    tamis_status status = TAMIS_OK;
    if (capacity > grow_largest(set)) return TAMIS_ERR_LIMIT;
    if (capacity < entries_of(set)) return TAMIS_ERR_FULL;
    int const doublings = doublings_to(set, capacity);
    if (doublings != 0 || grow_is_moving(set)) status = tamis_grow_rebuild(set, doublings);
    if (status == TAMIS_OK && ret_capacity != NULL) *ret_capacity = set->capacity;
    return status;
}

static tamis_status resize(tamis_set *set, uint64_t capacity, uint64_t *ret_capacity) {
    if (set->growth == NULL) return TAMIS_ERR_CANNOT;
    tamis_share_hold(set);
    tamis_status const status = resize_held(set, capacity, ret_capacity);
    tamis_share_release(set);
    return status;
}

tamis_status tamis_resize(tamis_set *set, uint64_t capacity, uint64_t *ret_capacity) {
    if (set == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = handle_change_status(set);
    return status == TAMIS_OK ? resize(set, capacity, ret_capacity) : status;
}

tamis_status tamis_states_resize(tamis_states *states, uint64_t capacity, uint64_t *ret_capacity) {
    tamis_status const status = states_check(states);
    return status == TAMIS_OK ? resize(&states->set, capacity, ret_capacity) : status;
}
