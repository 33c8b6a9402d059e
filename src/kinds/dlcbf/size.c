/* size.c - see size.h. */
#include "size.h"

#include <math.h>
#include <string.h>

static bool is_churned(const uint64_t *g) {
    return g[DLCBF_COUNTER_BITS] != 0; /* without counters there is no removal */
}

bool tamis_dlcbf_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    if (g[DLCBF_COUNTER_BITS] > DLCBF_MAX_COUNTER_BITS || g[DLCBF_MOVES] > 1 ||
        g[DLCBF_REMAINDER_BITS] > DLCBF_MAX_REMAINDER_BITS)
        return false;
    return tamis_dleft_bytes(g, ret_bytes);
}

uint64_t tamis_dlcbf_prints(const uint64_t *g) {
    return tamis_dleft_prints(g);
}

double tamis_dlcbf_overflow(const uint64_t *g, double n, double lifetime) {
    return tamis_dleft_overflow(g, is_churned(g), n, lifetime);
}

/* A lookup goes from the left until it has found its key. */
void tamis_dlcbf_touches(const uint64_t *g, double n, double *ret_present, double *ret_absent,
                         double *ret_add) {
    double const   bytes = (double)g[DLCBF_BUCKET_BYTES], tables = (double)g[DLCBF_TABLES];
    uint64_t const power = g[DLCBF_BUCKET_BYTES] & -g[DLCBF_BUCKET_BYTES]; /* buckets begin there */
    double const   each = 1 + (bytes - fmin(64, (double)power)) / 64;      /* lines of a bucket */
    double         mean = 0, sum = 0;
    fluid          law;
    tamis_dleft_law(g, is_churned(g), n, &law);
    for (unsigned i = 0; i < law.tables; i++) {
        for (unsigned j = 1; j <= FLUID_MAX_HEIGHT; j++) {
            mean += (i + 1) * law.x[i][j];
            sum += law.x[i][j];
        }
    }
    *ret_present = each * (sum > 0 ? mean / sum : 1);
    *ret_absent = *ret_add = each * tables;
}

/* ------------------------------------------------------------------ choice */

/* Counters that hold all planned copies of a key in one cell, and count as far as is asked. */
static uint64_t enough_counter_bits(const tamis_need *need) {
    if (!need_can(need, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)) return 0;
    uint64_t bits = 2; /* the paper's */
    while (bits < DLCBF_MAX_COUNTER_BITS && (UINT64_C(1) << bits < need->work.copies ||
                                             (uint64_t)DLCBF_COPIES << bits <= need->count_to))
        bits++;
    return bits;
}

/* One key may be added without end, and then takes DLCBF_COPIES cells: hence the keys. The need
 * states the rate of its capacity, and the rate rises in proportion to the keys. */
bool tamis_dlcbf_choose(const tamis_need *need, uint64_t *ret_geometry) {
    double const capacity = (double)need->work.capacity, keys = capacity + DLCBF_COPIES - 1;
    uint64_t     g[DLCBF_FIELDS], bytes;
    memcpy(g, need->fixed, sizeof g);
    if (g[DLCBF_COUNTER_BITS] == NEED_FREE) g[DLCBF_COUNTER_BITS] = enough_counter_bits(need);
    if (g[DLCBF_MOVES] == NEED_FREE) g[DLCBF_MOVES] = 1;
    if (g[DLCBF_COUNTER_BITS] > DLCBF_MAX_COUNTER_BITS) return false;
    if (is_churned(g) && dlcbf_full(g) < need->work.copies) return false;
    dleft_rules const rules = { .keys = keys,
                                .fpr = need->fpr * keys / capacity,
                                .overflow = need->overflow,
                                .is_churned = is_churned(g),
                                .most_print_bits = DLCBF_MAX_REMAINDER_BITS };
    if (!tamis_dleft_choose(need, &rules, g) || !tamis_dlcbf_bytes(g, &bytes)) return false;
    memcpy(ret_geometry, g, sizeof g);
    return true;
}
