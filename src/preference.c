/* preference.c - which of two kinds is taken, if both can do the job.
 *
 *   PREFER_FAST   the default kind, if it can do the job: its operations are the shortest
 *                 (docs/performance.md). If keys are only added, a blocked Bloom filter instead,
 *                 unless it is larger by more than an eighth: its operations are shorter still.
 *                 These two are the first choices. If neither can do it: the kind whose operations
 *                 touch the fewest cache lines, which decide the speed of tables larger than the
 *                 cache. But if a limit of memory leaves the capacity or the fpr open: the most
 *                 keys, or the lowest fpr.
 *   PREFER_SMALL  the fewest bytes. With a limit of memory, the most keys or the lowest fpr.
 *
 * If two are equal, the other measure decides, then the order in the registry.
 *
 * A kind whose copies take room is never taken for a set that counts, even if there is no other:
 * such a set has many copies, which soon use up its capacity, and then its counts are wrong. The
 * user has to name the kind, or a geometry that only such kinds have.
 */
#include "planner.h"

static double lines_touched(const tamis_plan *plan) {
    return plan->lines_present + plan->lines_absent + plan->lines_add;
}

bool tamis_may_be_first(const tamis_kind *kind, const tamis_request *request) {
    bool const is_growing = !need_can(&request->need, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT);
    if (!need_is_fast(&request->need)) return false;
    return kind->is_default || (kind->is_grow_only && is_growing && request->geometry == NULL);
}

static bool is_first(const tamis_candidate *one, const tamis_request *request) {
    return one->plan.status == TAMIS_OK && tamis_may_be_first(one->kind, request);
}

static bool copies_fit(const tamis_kind *kind, const tamis_request *request) {
    return !need_can(&request->need, TAMIS_CAN_COUNT) || !kind->copies_take_room;
}

bool tamis_may_be_chosen(const tamis_kind *kind, const tamis_request *request) {
    bool const is_given = request->kind != NULL || request->geometry != NULL;
    return is_given || copies_fit(kind, request);
}

/* Does a limit of memory leave the rate open, so that each kind reaches another one? */
static bool is_rate_open(const tamis_request *request) {
    return request->memory != 0 && request->need.fpr == 0;
}

/* Does speed decide between kinds that are no first choice? Not if a limit of memory leaves the
 * capacity or the rate open: in 1.3 MiB, a million keys that can be removed have a rate of 6.5% in
 * mlcbf and of 0.68% in rank, which touches only 0.2 cache lines more per add. */
static bool decides_by_speed(const tamis_request *request) {
    return need_is_fast(&request->need) && request->need.work.capacity != 0 &&
           !is_rate_open(request);
}

/* How much smaller `one` is than `other`, in the measure that the request leaves open. */
static double smaller_by(const tamis_candidate *one, const tamis_candidate *other,
                         const tamis_request *request) {
    const tamis_plan *const a = &one->plan, *const b = &other->plan;
    if (request->need.work.capacity == 0) return (double)a->capacity - (double)b->capacity;
    if (is_rate_open(request)) return b->fpr - a->fpr;
    return (double)b->body_bytes - (double)a->body_bytes;
}

/* May the kind for sets that only grow be taken instead of the default? Yes, unless it is larger by
 * more than an eighth; or, if capacity or fpr is open, has fewer keys by more than a ninth or a
 * higher rate. */
static bool is_close(const tamis_plan *growing, const tamis_plan *other,
                     const tamis_request *request) {
    if (request->need.work.capacity == 0)
        return growing->capacity >= other->capacity - other->capacity / 9;
    if (is_rate_open(request)) return growing->fpr <= other->fpr;
    return growing->body_bytes <= other->body_bytes + other->body_bytes / 8;
}

/* Which of two kinds is taken, if at least one of them is a first choice? */
static bool is_before(const tamis_candidate *one, const tamis_candidate *best,
                      const tamis_request *request) {
    if (!is_first(one, request) || !is_first(best, request)) return is_first(one, request);
    return one->kind->is_grow_only ? is_close(&one->plan, &best->plan, request)
                                   : !is_close(&best->plan, &one->plan, request);
}

bool tamis_is_better(const tamis_candidate *one, const tamis_candidate *best,
                     const tamis_request *request) {
    if (one->plan.status != TAMIS_OK || !tamis_may_be_chosen(one->kind, request)) return false;
    if (best->kind == NULL) return true;
    if (is_first(one, request) || is_first(best, request)) return is_before(one, best, request);
    if (copies_fit(one->kind, request) != copies_fit(best->kind, request))
        return copies_fit(one->kind, request);
    double const faster = lines_touched(&best->plan) - lines_touched(&one->plan);
    double const smaller = smaller_by(one, best, request);
    double const first = decides_by_speed(request) ? faster : smaller;
    double const second = decides_by_speed(request) ? smaller : faster;
    if (first == 0 && second == 0) return one->order < best->order;
    return first != 0 ? first > 0 : second > 0;
}
