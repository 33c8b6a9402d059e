/* print_law.c - see prints.h. */
#include "theory/print_law.h"

#include "theory/tails.h"

#include <math.h>

double tamis_prints_fpr(uint64_t prints, double n) {
    return -expm1(n * log1p(-1 / (double)prints));
}

double tamis_prints_churn(double n, double lifetime) {
    return lifetime > n ? lifetime - n : 0;
}

/* In the filling, or with an add later in place of a key that was removed. */
double tamis_prints_saturation(uint64_t prints, uint64_t most, double n, double lifetime) {
    if (most == 1) return 0;
    double const each = 1 / (double)prints;
    double const filling = (double)prints * tamis_binomial_tail(n, each, (double)most);
    double const add = exp(tamis_binomial_log(n - 1, each, (double)most - 1));
    return -expm1(-(filling + tamis_prints_churn(n, lifetime) * add));
}

prints_mode tamis_prints_mode(prints_mode fixed, bool is_removed, bool is_counted,
                              prints_mode counting) {
    prints_mode mode = fixed;
    if (mode.value_bits == NEED_FREE) mode.value_bits = 0;
    if (mode.counter_bits == NEED_FREE) {
        bool const is_fixed = mode.copies != NEED_FREE || mode.value_bits != 0;
        mode.counter_bits = is_counted && !is_fixed ? counting.counter_bits : 0;
    }
    if (mode.copies == NEED_FREE) {
        bool const is_multiset = (is_removed || is_counted) && mode.value_bits == 0;
        mode.copies = mode.counter_bits != 0 ? counting.copies
                      : is_multiset          ? PRINTS_MULTISET_COPIES
                                             : 1;
    }
    return mode;
}

unsigned tamis_prints_value_bits(uint64_t values, unsigned timer_bits) {
    unsigned bits = 1;
    while (UINT64_C(1) << bits < values) bits++;
    return bits + timer_bits;
}

static bool is_free_or(uint64_t fixed, uint64_t value) {
    return fixed == NEED_FREE || fixed == value;
}

bool tamis_prints_states(uint64_t values, unsigned timer_bits, prints_mode *mode) {
    unsigned const bits = tamis_prints_value_bits(values, timer_bits);
    if (!is_free_or(mode->counter_bits, 0) || !is_free_or(mode->copies, 1) ||
        !is_free_or(mode->value_bits, bits))
        return false;
    *mode = (prints_mode){ .counter_bits = 0, .copies = 1, .value_bits = bits };
    return true;
}
