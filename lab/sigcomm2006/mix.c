/* mix.c - see mix.h. */
#include "mix.h"

#include "theory/overlaid_size.h"

#include <math.h>

/* P[none of this many keys hits a cell]. */
static double mix_missed(const sbf_mix *mix, double keys) {
    return exp(mix->k * keys * log1p(-1 / mix->m));
}

static double mix_keys(const sbf_mix *mix) {
    double sum = 0;
    for (unsigned i = 0; i < mix->values; i++) sum += mix->n[i];
    return sum;
}

/* P[a cell has value i]: hit by keys of that value and no others. */
static double mix_value(const sbf_mix *mix, unsigned i) {
    return mix_missed(mix, mix_keys(mix) - mix->n[i]) * (1 - mix_missed(mix, mix->n[i]));
}

/* P[a cell says "don't know"]: it is hit, and says no value. */
static double mix_unknown(const sbf_mix *mix) {
    double rest = 1 - mix_missed(mix, mix_keys(mix));
    for (unsigned i = 0; i < mix->values; i++) rest -= mix_value(mix, i);
    return fmax(rest, 0);
}

double sbf_mix_unknown(const sbf_mix *mix, unsigned i) {
    return tamis_overlaid_all(1 - mix_missed(mix, mix_keys(mix) - mix->n[i]), mix->m, mix->k);
}

double sbf_mix_absent_unknown(const sbf_mix *mix) {
    return tamis_overlaid_all(mix_unknown(mix), mix->m, mix->k);
}

double sbf_mix_absent_value(const sbf_mix *mix, unsigned i) {
    double const unknown = mix_unknown(mix);
    return tamis_overlaid_all(unknown + mix_value(mix, i), mix->m, mix->k) -
           tamis_overlaid_all(unknown, mix->m, mix->k);
}
