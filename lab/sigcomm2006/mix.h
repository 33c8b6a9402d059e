/* mix.h - the paper's formulas for stateful Bloom filters (section 3.3), for insertions only.
 *
 * n[i] keys have value i. None has moved yet, and cells count, so that keys of the same value can
 * share a cell. Places of a key that coincide are considered (theory/overlaid_size.h).
 */
#ifndef TAMIS_LAB_SBF_MIX_H
#define TAMIS_LAB_SBF_MIX_H

typedef struct sbf_mix {
    double        m; /* cells */
    unsigned      k, values;
    const double *n;
} sbf_mix;

/* P[a key with value i is unknown]. */
double sbf_mix_unknown(const sbf_mix *mix, unsigned i);

/* P[an absent key is unknown], and P[an absent key has value i]. */
double sbf_mix_absent_unknown(const sbf_mix *mix);
double sbf_mix_absent_value(const sbf_mix *mix, unsigned i);

#endif
