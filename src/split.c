/* split.c - split a set into two parts, and join two parts, without the keys.
 *
 * Idea
 * ----
 * All that `line` and `rank` store about a key is its print, floor(h x F), and buckets are in the
 * order of prints. A half sees the hash frac(2h), and has F / 2 prints and half of the buckets
 * (part.c):
 *
 *     prints      0 ........... F/2 ........... F
 *     becomes     first half    second half             print p, or p - F/2
 *
 * So each print moves to its half unchanged, and back. The geometry of a half is that of the whole
 * with half of the buckets, except for fields that depend on the load (the attic of `line`, the
 * extensions of `rank`). For the same overflow probability, a half needs a little more than half of
 * these. How much more is planned from facts that both the whole and its halves know. So joining
 * removes exactly what splitting has added: in `line`, whose bytes depend only on the contents, the
 * joined set has the same bytes as the original.
 */
#include "grow.h"
#include "part.h"
#include "share.h"

#define MOST_TRIES 12 /* with twice the room each time */

/* ------------------------------------------------------------------ geometries */

/* The choice that a set was made from; in a step of growing, for the stage that it grows to. */
static tamis_choice choice_of(const tamis_set *set) {
    const struct growth *const growth = set->growth;
    tamis_choice               choice = tamis_choice_like(set);
    choice.overflow = TAMIS_DEFAULT_OVERFLOW;
    if (growth == NULL) return choice;
    choice.grows = true;
    choice.stage = growth->stage;
    choice.stages = growth->stages;
    choice.overflow = growth->overflow;
    if (!grow_is_moving(set)) return choice;
    choice.stage++;
    choice.work.capacity *= 2;
    choice.work.lifetime *= 2;
    memcpy(choice.geometry, growth->next.geometry, sizeof choice.geometry);
    return choice;
}

/* Half of a number that was doubled at each stage: rounded up in the first half, down in the
 * second, so that both together are the whole. */
static uint64_t half_of(uint64_t number, unsigned stage, bool is_second) {
    uint64_t const first = number >> stage;
    return (is_second ? first / 2 : first - first / 2) << stage;
}

/* The choice of a half, except for the fields that depend on the load. */
static tamis_choice half_shape(const tamis_choice *whole, bool is_second) {
    tamis_choice half = *whole;
    half.geometry[0] /= 2;
    half.work.capacity = half_of(whole->work.capacity, whole->stage, is_second);
    half.work.lifetime = half_of(whole->work.lifetime, whole->stage, is_second);
    half.part.part = 2 * whole->part.part + is_second;
    half.part.parts = whole->part.parts == 0 ? 2 : 2 * whole->part.parts;
    return half;
}

/* For each field that depends on the load: how much more each half has than half of the whole. 0 if
 * a geometry is so full that it cannot be planned. */
static void plan_extra(const tamis_choice *whole, uint64_t *ret_extra) {
    tamis_choice const half = half_shape(whole, false);
    tamis_choice       planned, planned_half;
    memset(ret_extra, 0, TAMIS_MAX_FIELDS * sizeof *ret_extra);
    if (tamis_plan_step(whole, 0, &planned) != TAMIS_OK ||
        tamis_plan_step(&half, 0, &planned_half) != TAMIS_OK)
        return;
    for (unsigned i = 1; i < TAMIS_MAX_FIELDS; i++) {
        uint64_t const share = planned.geometry[i] - planned.geometry[i] / 2;
        ret_extra[i] = sub_or_0(planned_half.geometry[i], share);
    }
}

/* Find the fields that depend on the load: they are NEED_FREE in ret_fixed. */
static bool fixed_fields(const tamis_choice *choice, int doublings, uint64_t *ret_fixed) {
    memset(ret_fixed, 0, TAMIS_MAX_FIELDS * sizeof *ret_fixed);
    return choice->kind->growing->scale(choice->geometry, doublings, ret_fixed);
}

static tamis_choice half_choice(const tamis_choice *whole, bool is_second) {
    tamis_choice half = half_shape(whole, is_second);
    uint64_t     fixed[TAMIS_MAX_FIELDS], extra[TAMIS_MAX_FIELDS];
    plan_extra(whole, extra);
    (void)fixed_fields(whole, 0, fixed);
    for (unsigned i = 1; i < TAMIS_MAX_FIELDS; i++) {
        if (fixed[i] == NEED_FREE)
            half.geometry[i] = half_of(whole->geometry[i], 0, is_second) + extra[i];
    }
    return half;
}

/* The sum of two numbers that may be doubled for the remaining stages, up to the largest one that
 * is possible at this stage. */
static uint64_t sum_of_lives(uint64_t a, uint64_t b, unsigned stage, unsigned stages) {
    uint64_t const most = UINT64_MAX >> (stages - stage) >> stage << stage;
    return b > most || a > most - b ? most : a + b;
}

/* The reverse: the choice of the whole set, from two halves that belong together. */
static tamis_choice whole_choice(const tamis_choice *first, const tamis_choice *second) {
    bool const                is_later = second->stage > first->stage;
    const tamis_choice *const later = is_later ? second : first, *other = is_later ? first : second;
    tamis_choice              whole = *later;
    uint64_t                  fixed[TAMIS_MAX_FIELDS], extra[TAMIS_MAX_FIELDS];
    unsigned const            behind = later->stage - other->stage;
    whole.geometry[0] *= 2;
    whole.work.capacity += other->work.capacity << behind;
    whole.work.lifetime = sum_of_lives(whole.work.lifetime, other->work.lifetime << behind,
                                       whole.stage, whole.stages);
    whole.part = (tamis_part_place){ later->part.part / 2, later->part.parts / 2 };
    if (whole.part.parts == 1) whole.part.parts = 0;
    plan_extra(&whole, extra);
    (void)fixed_fields(later, 0, fixed);
    for (unsigned i = 1; i < TAMIS_MAX_FIELDS; i++) {
        uint64_t const others = behind == 0 ? other->geometry[i] : later->geometry[i];
        if (fixed[i] == NEED_FREE)
            whole.geometry[i] = sub_or_0(later->geometry[i] + others, 2 * extra[i]);
    }
    return whole;
}

/* ------------------------------------------------------------------ copying prints */

/* Prints from..from+n-1 of a set become the prints from `to` on in the table. */
typedef struct carrying {
    const kind_calls *calls;
    tamis_table      *table;
    uint64_t          from, n, to, prints;
    tamis_status      status;
} carrying;

static bool carry_print(void *context, uint64_t print, uint64_t copies) {
    carrying *const carry = context;
    if (print < carry->from || print - carry->from >= carry->n) return true;
    uint64_t const hash = fastrange_inverse(print - carry->from + carry->to, carry->prints);
    carry->status = tamis_table_add_copies(carry->calls, carry->table, hash, copies);
    return carry->status == TAMIS_OK;
}

/* Add n prints of a set, from `from` on, as prints from `to` on. They are added directly to the
 * table, so that a set that grows does not begin a step because of them. */
static tamis_status carry_prints(const tamis_set *set, uint64_t from, uint64_t n, tamis_set *made,
                                 uint64_t to) {
    carrying carry = { .calls = tamis_kind_calls(made->kind, made->table.geometry),
                       .table = &made->table,
                       .from = from,
                       .n = n,
                       .to = to,
                       .prints = made->kind->prints(made->table.geometry),
                       .status = TAMIS_OK };
    (void)tamis_each_print(set, carry_print, &carry);
    return carry.status;
}

/* Increase the fields that depend on the load, for contents that are less even than planned. */
static void add_room(tamis_choice *choice) {
    uint64_t fixed[TAMIS_MAX_FIELDS];
    (void)fixed_fields(choice, 0, fixed);
    for (unsigned i = 1; i < TAMIS_MAX_FIELDS; i++) {
        if (fixed[i] == NEED_FREE) choice->geometry[i] = 2 * choice->geometry[i] + 8;
    }
}

/* Fills an empty set from one or two others. */
typedef tamis_status fill_set(tamis_set *made, const tamis_set *const *sources);

/* Make a set and fill it. If there is not enough room, try again with more. */
static tamis_status make_filled(tamis_choice choice, const tamis_set *const *sources,
                                fill_set *fill, tamis_set **ret_set) {
    const tamis_set *const like = sources[0];
    tamis_status           status = TAMIS_ERR_FULL;
    for (unsigned tries = 0; tries < MOST_TRIES && status == TAMIS_ERR_FULL; tries++) {
        tamis_set *made = NULL;
        status = tamis_make(&choice, &like->hasher, &like->allocator, &made);
        if (status != TAMIS_OK) return status;
        status = fill(made, sources);
        if (status == TAMIS_OK)
            *ret_set = made;
        else
            tamis_free(made);
        add_room(&choice);
    }
    return status;
}

/* ------------------------------------------------------------------ splitting */

static tamis_status fill_half(tamis_set *made, const tamis_set *const *sources) {
    uint64_t const prints = made->kind->prints(made->table.geometry);
    uint64_t const from = made->part->place.part % 2 == 0 ? 0 : prints;
    return carry_prints(sources[0], from, prints, made, 0);
}

static tamis_status check_split(const tamis_set *set, const tamis_choice *whole,
                                tamis_problem *problem) {
    if (set->kind->growing == NULL || set->table.values != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "kind %s cannot be split, only line and rank", set->kind->name);
    }
    if (whole->geometry[0] % 2 != 0) {
        return tamis_problem_say(
            problem, TAMIS_ERR_CANNOT,
            "%llu buckets cannot be split in two halves: make the set with a geometry of %s=N, a "
            "multiple of the number of parts",
            (unsigned long long)whole->geometry[0], set->kind->fields[0].name);
    }
    if (whole->part.parts >= 1u << PART_MAX_BITS || whole->work.capacity >> whole->stage < 2) {
        return tamis_problem_say(
            problem, TAMIS_ERR_LIMIT,
            "the set cannot be split further: there would be more than 65536 parts, or "
            "less than one key in each");
    }
    return TAMIS_OK;
}

static tamis_status split_now(const tamis_set *set, tamis_set **ret_halves,
                              tamis_problem *problem) {
    tamis_choice const whole = choice_of(set);
    tamis_status       status = check_split(set, &whole, problem);
    if (status != TAMIS_OK) return status;
    for (unsigned i = 0; i < 2 && status == TAMIS_OK; i++)
        status = make_filled(half_choice(&whole, i != 0), &set, fill_half, &ret_halves[i]);
    if (status != TAMIS_OK)
        return tamis_problem_say(problem, status, "cannot make a half: %s",
                                 tamis_status_text(status));
    ret_halves[0]->table.refused_adds = set->table.refused_adds;
    ret_halves[0]->table.refused_removes = set->table.refused_removes;
    return TAMIS_OK;
}

tamis_status tamis_split(const tamis_set *set, tamis_set **ret_first, tamis_set **ret_second,
                         tamis_problem *reterr_problem) {
    tamis_set *halves[2] = { NULL, NULL };
    if (set == NULL || ret_first == NULL || ret_second == NULL) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "a set or a result is NULL");
    }
    tamis_share_hold(set);
    tamis_status const status = split_now(set, halves, reterr_problem);
    tamis_share_release(set);
    if (status == TAMIS_OK) {
        *ret_first = halves[0];
        *ret_second = halves[1];
    } else {
        tamis_free(halves[0]);
        tamis_free(halves[1]);
    }
    return status;
}

/* ------------------------------------------------------------------ joining */

/* Are these parts 2i and 2i + 1, in this order, of one set? At the stage of the later one they have
 * the same geometry, except for what depends on the load. */
static bool are_halves(const tamis_set *first, const tamis_set *second, const tamis_choice *a,
                       const tamis_choice *b) {
    uint64_t const most = max_u64(a->stage, b->stage);
    uint64_t       fixed_a[TAMIS_MAX_FIELDS], fixed_b[TAMIS_MAX_FIELDS];
    return a->part.parts >= 2 && a->part.parts == b->part.parts && a->part.part % 2 == 0 &&
           b->part.part == a->part.part + 1 && strcmp(a->kind->name, b->kind->name) == 0 &&
           keyhash_is_same(&first->hasher, &second->hasher) && a->grows == b->grows &&
           a->stages == b->stages && a->work.copies == b->work.copies &&
           fixed_fields(a, (int)(most - a->stage), fixed_a) &&
           fixed_fields(b, (int)(most - b->stage), fixed_b) &&
           memcmp(fixed_a, fixed_b, sizeof fixed_a) == 0;
}

static tamis_status fill_whole(tamis_set *made, const tamis_set *const *sources) {
    uint64_t const half = made->kind->prints(made->table.geometry) / 2;
    tamis_status   status = carry_prints(sources[0], 0, half, made, 0);
    if (status == TAMIS_OK) status = carry_prints(sources[1], 0, half, made, half);
    return status;
}

static tamis_status join_now(const tamis_set *first, const tamis_set *second, tamis_set **ret_set,
                             tamis_problem *problem) {
    const tamis_set *const sources[2] = { first, second };
    if (first->kind->growing == NULL || second->kind->growing == NULL) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "kind %s cannot be joined, only line and rank", first->kind->name);
    }
    tamis_choice const a = choice_of(first), b = choice_of(second);
    if (!are_halves(first, second, &a, &b)) {
        return tamis_problem_say(problem, TAMIS_ERR_MISMATCH,
                                 "part %u of %u and part %u of %u are not the two halves of a set: "
                                 "parts 2i and 2i + 1, with the same kind, geometry, hash and seed",
                                 a.part.part, a.part.parts, b.part.part, b.part.parts);
    }
    tamis_choice const whole = whole_choice(&a, &b);
    if (whole.work.capacity > HANDLE_MAX_CAPACITY >> (whole.stages - whole.stage)) {
        return tamis_problem_say(problem, TAMIS_ERR_LIMIT,
                                 "the joined set would be for more than 2^40 keys");
    }
    tamis_set         *made = NULL;
    tamis_status const status = make_filled(whole, sources, fill_whole, &made);
    if (status != TAMIS_OK) {
        return tamis_problem_say(problem, status, "cannot make the joined set: %s",
                                 tamis_status_text(status));
    }
    made->table.refused_adds =
        kind_sum_counts(first->table.refused_adds, second->table.refused_adds);
    made->table.refused_removes =
        kind_sum_counts(first->table.refused_removes, second->table.refused_removes);
    *ret_set = made;
    return TAMIS_OK;
}

tamis_status tamis_join(const tamis_set *first, const tamis_set *second, tamis_set **ret_set,
                        tamis_problem *reterr_problem) {
    if (first == NULL || second == NULL || ret_set == NULL || first == second) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT,
                                 "a set or the result is NULL, or both are the same");
    }
    tamis_share_hold_two(first, second);
    tamis_status const status = join_now(first, second, ret_set, reterr_problem);
    tamis_share_release_two(first, second);
    return status;
}
