/* test_rank_lines.c - cache lines per operation of a rank-indexed table, stated and counted.
 *
 * The kind is compiled into this file (touches.h), with reads of single bytes reported, too.
 */
#include "touches.h"

#include "core/field.h"

/* Reads of single bytes, which le.h does not see. */
static inline uint64_t traced_wide(const uint8_t *body, uint64_t at, unsigned bits) {
    touched(body + at / 8, 9);
    return field_get_wide(body, at, bits);
}

static inline void traced_set_bit(uint8_t *body, uint64_t at, bool value) {
    touched(body + at / 8, 1);
    field_set_bit(body, at, value);
}

#define field_get_wide traced_wide
#define field_set_bit traced_set_bit
#include "kinds/rank/rank.c"
#include "kinds/rank/states.c"
#undef field_get_wide
#undef field_set_bit

/* Lookups within 2.5%, adds within 10%; found were 2.0% and 9.3%. */
static void lines_are_as_stated(void **state) {
    const touches_job *const job = *state;
    const tamis_kind *const  kind = &tamis_kind_rank_traced;
    tamis_forecast           stated;
    tamis_table              table = touches_table(kind, job, &stated);
    touches const            counted = touches_count(kind, &table, false);
    free(table.body);
    touches_check(job, &stated, &counted, 0.025, 0.1);
}

#define COUNTED (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)

static const touches_job jobs[] = {
    { .name = "packed set, 10%", .fpr = 0.1, .abilities = 0, .prefer = TAMIS_PREFER_SMALL },
    { .name = "packed set, 1%", .fpr = 1e-2, .abilities = 0, .prefer = TAMIS_PREFER_SMALL },
    { .name = "packed set, 0.1%", .fpr = 1e-3, .abilities = 0, .prefer = TAMIS_PREFER_SMALL },
    { .name = "packed set, 1e-6", .fpr = 1e-6, .abilities = 0, .prefer = TAMIS_PREFER_SMALL },
    { .name = "packed, counting, 1%",
      .fpr = 1e-2,
      .abilities = COUNTED,
      .prefer = TAMIS_PREFER_SMALL },
    { .name = "packed, counting, 0.01%",
      .fpr = 1e-4,
      .abilities = COUNTED,
      .prefer = TAMIS_PREFER_SMALL },
    { .name = "aligned set, 1%", .fpr = 1e-2, .abilities = 0, .prefer = TAMIS_PREFER_FAST },
    { .name = "aligned set, 1e-6", .fpr = 1e-6, .abilities = 0, .prefer = TAMIS_PREFER_FAST },
    { .name = "aligned, counting, 1%",
      .fpr = 1e-2,
      .abilities = COUNTED,
      .prefer = TAMIS_PREFER_FAST },
    { .name = "aligned, counting, 0.01%",
      .fpr = 1e-4,
      .abilities = COUNTED,
      .prefer = TAMIS_PREFER_FAST },
};

int main(void) {
    struct CMUnitTest tests[COUNT(jobs)];
    for (size_t i = 0; i < COUNT(jobs); i++) {
        tests[i] = unit_named(jobs[i].name, lines_are_as_stated, &jobs[i]);
    }
    return unit_run("rank_lines", tests, COUNT(tests));
}
