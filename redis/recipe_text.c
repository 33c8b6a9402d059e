/* recipe_text.c - a recipe as one line of text, which replicas and append-only files get.
 *
 * The fields stand in a fixed order, with their names, behind a version number.
 */
#include "value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void recipe_write(const value_recipe *r, char *ret_text) {
    (void)snprintf(ret_text, RECIPE_TEXT_BYTES,
                   "1 family=%u part=%u error=%.17g asked=%" PRIu64 " expansion=%" PRIu64
                   " bucket_size=%" PRIu64 " max_iterations=%" PRIu64 " headroom=%" PRIu64
                   " fpr=%.17g capacity=%" PRIu64 " grow_to=%" PRIu64
                   " abilities=%u count_to=%" PRIu64 " small=%u seed=%016" PRIx64 ":%016" PRIx64
                   " values=%" PRIu64 " timeout=%" PRIu64 " tick_ms=%" PRIu64 " now_ms=%" PRIu64
                   " kind=%s geometry=%s set_part=%" PRIu32 " set_parts=%" PRIu32,
                   (unsigned)r->family, r->part, r->error, r->asked, r->expansion, r->bucket_size,
                   r->max_iterations, r->headroom, r->fpr, r->capacity, r->grow_to, r->abilities,
                   r->count_to, (unsigned)r->is_small, r->seed.low, r->seed.high, r->values,
                   r->timeout, r->tick_ms, r->now_ms, r->kind,
                   r->geometry[0] != 0 ? r->geometry : "-", r->set_part, r->set_parts);
}

/* Anybody can send a recipe: what a family cannot have is refused here, the rest by the library. */
static bool recipe_is_possible(const value_recipe *r) {
    unsigned const needs = r->family == FAMILY_CF ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0;
    bool const     is_timed = r->timeout != 0;
    if (r->headroom > 40 || !(r->error > 0 && r->error < 1)) return false;
    if (r->family <= FAMILY_CF)
        return r->set_parts == 0 && r->values == 0 && !is_timed && (r->abilities & needs) == needs;
    if (is_timed && (r->tick_ms == 0 || r->tick_ms > 86400000)) return false;
    if (r->set_parts != 0 && r->values != 0) return false;
    return r->part == 0 &&
           (r->family == FAMILY_STATES ? r->values != 0 : (r->values != 0) == is_timed);
}

bool recipe_read(const char *text, value_recipe *ret_recipe) {
    value_recipe r = { .part = 0 };
    unsigned     family, small;
    /* texts of before there were parts end with the geometry */
    static const char format[] =
        "1 family=%u part=%u error=%lf asked=%" SCNu64 " expansion=%" SCNu64 " bucket_size=%" SCNu64
        " max_iterations=%" SCNu64 " headroom=%" SCNu64 " fpr=%lf capacity=%" SCNu64
        " grow_to=%" SCNu64 " abilities=%u count_to=%" SCNu64 " small=%u seed=%" SCNx64 ":%" SCNx64
        " values=%" SCNu64 " timeout=%" SCNu64 " tick_ms=%" SCNu64 " now_ms=%" SCNu64
        " kind=%15s geometry=%511s set_part=%" SCNu32 " set_parts=%" SCNu32;
    int const n =
        sscanf(text, format, &family, &r.part, &r.error, &r.asked, &r.expansion, &r.bucket_size,
               &r.max_iterations, &r.headroom, &r.fpr, &r.capacity, &r.grow_to, &r.abilities,
               &r.count_to, &small, &r.seed.low, &r.seed.high, &r.values, &r.timeout, &r.tick_ms,
               &r.now_ms, r.kind, r.geometry, &r.set_part, &r.set_parts);
    if ((n != 22 && n != 24) || family < FAMILY_BF || family > FAMILY_STATES) return false;
    r.family = (enum value_family)family;
    r.is_small = small != 0;
    r.has_seed = true;
    if (strcmp(r.geometry, "-") == 0) r.geometry[0] = 0;
    *ret_recipe = r;
    return recipe_is_possible(&r);
}
