/* law_arrays.h - laws as arrays: law[i] is the probability of the value i.
 *
 * The last element of an array stands for all values from there on, which errs on the safe side.
 */
#ifndef TAMIS_KINDS_LINE_LAW_ARRAYS_H
#define TAMIS_KINDS_LINE_LAW_ARRAYS_H

/* Probabilities so small that no sum over all shelves matters. Terms below it are left out. */
#define LAW_NEVER 1e-30

static __attribute__((unused)) unsigned law_at_most(unsigned n, unsigned most) {
    return n < most ? n : most;
}

/* The last value of a law that has a probability at all. */
static __attribute__((unused)) unsigned law_last(const double *law, unsigned most) {
    while (most != 0 && !(law[most] > LAW_NEVER)) most--;
    return most;
}

/* Add WAYS moved copies of a law to *to: p[0] times the law moved up by `more`, p[1] times the law
 * moved up by more + 1, and so on. That is law_mix() of law.c for WAYS probabilities at once: each
 * sum is loaded and stored once for all of them, which takes a third less time. The law has
 * WAYS - 1 zeros on either side, and *to has room for the whole result. */
#define WAYS 4

static __attribute__((unused)) void law_mix_all(double *restrict to, const double *restrict law,
                                                unsigned last, unsigned more,
                                                const double p[WAYS]) {
    double const p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3];
    to += more;
    for (unsigned i = 0; i < last + WAYS; i++) {
        to[i] +=
            (p0 * law[i] + p1 * law[(int)i - 1]) + (p2 * law[(int)i - 2] + p3 * law[(int)i - 3]);
    }
}

/* The last value i with p x law[i] > LAW_NEVER. `last` is that for a similar p, to start from. */
static __attribute__((unused)) unsigned law_last_beside(const double *law, unsigned most, double p,
                                                        unsigned last) {
    while (last < most && p * law[last + 1] > LAW_NEVER) last++;
    while (last != 0 && !(p * law[last] > LAW_NEVER)) last--;
    return last;
}

#endif
