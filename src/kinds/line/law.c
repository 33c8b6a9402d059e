/* law.c - see law.h.
 *
 * A law is an array: law[i] is the probability of the value i. The last element of an array stands
 * for all values from there on, which errs on the safe side.
 */
#include "law.h"

#include "theory/tails.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAX_CHAIN 19 /* keys of one chain; more have a probability below 1e-19 */
#define MAX_TAIL 96  /* entries of one tail */
#define MAX_SENT 256 /* entries of 16 tails, or sent to the attic by one shelf */
#define MAX_SUM 767  /* entries sent by all shelves, where that is summed up exactly */

#define NEVER 1e-40  /* probabilities so small that no sum over all shelves matters */
#define HARDLY 1e-30 /* and that nobody asks for */

static unsigned law_at_most(unsigned n, unsigned most) {
    return n < most ? n : most;
}

/* The last value of a law that has a probability at all. */
static unsigned law_last(const double *law, unsigned most) {
    while (most != 0 && !(law[most] > NEVER)) most--;
    return most;
}

static double law_mean(const double *law, unsigned most) {
    double sum = 0;
    for (unsigned i = 1; i <= most; i++) sum += i * law[i];
    return sum;
}

/* ------------------------------------------------------------------ sums of independent values */

/* Add `p` times a law to *to, with all values moved up by `more`. */
static void law_mix(double *to, unsigned most, const double *law, unsigned last, unsigned more,
                    double p) {
    unsigned const whole = more > most ? 0 : law_at_most(last + 1, most - more);
    double         beyond = 0;
    for (unsigned i = 0; i < whole; i++) to[i + more] += p * law[i];
    for (unsigned i = whole; i <= last; i++) beyond += law[i];
    to[most] += p * beyond;
}

/* Make `law` that of the sum with another value, whose law is `other`; both may be the same. */
static void law_add(double *law, unsigned most, const double *other, unsigned last) {
    double         sum[MAX_SUM + 1] = { 0 };
    unsigned const own_last = law_last(law, most);
    for (unsigned i = 0; i <= last; i++) {
        if (other[i] > NEVER) law_mix(sum, most, law, own_last, i, other[i]);
    }
    memcpy(law, sum, (most + 1) * sizeof *law);
}

/* The law of the sum of n values of the same law: by doubling, from the highest bit of n on. */
static void law_repeat(double *ret_law, unsigned most, const double *one, unsigned one_most,
                       unsigned n) {
    memset(ret_law, 0, (most + 1) * sizeof *ret_law);
    ret_law[0] = 1;
    for (unsigned bit = 1u << 31; bit != 0; bit /= 2) {
        if (n >= 2 * (uint64_t)bit) law_add(ret_law, most, ret_law, law_last(ret_law, most));
        if ((n & bit) != 0) law_add(ret_law, most, one, one_most);
    }
}

/* ------------------------------------------------------------------ a line */

/* A line after some of its chains: kept[i], it holds i entries and is not cut; tail[i], it is cut,
 * and i entries are in its tail. */
typedef struct law_line {
    double kept[LINE_SLOTS + 1], tail[MAX_TAIL + 1];
} law_line;

/* Chains of a mean load. */
typedef struct law_chain {
    double   p[MAX_CHAIN + 1]; /* that it has so many keys */
    unsigned each;             /* entries of every key */
} law_chain;

/* Add to *to, with some weight, the line after one more chain, which has `more` entries beside
 * those of its keys. It is kept if it fits; otherwise the line is cut. */
static void law_add_chain(const law_line *line, const law_chain *chain, unsigned more,
                          double weight, law_line *to) {
    unsigned const last = law_last(line->tail, MAX_TAIL);
    for (unsigned k = 0; k <= MAX_CHAIN; k++) {
        unsigned const size = law_at_most(k * chain->each + more, MAX_TAIL);
        unsigned const first = LINE_SLOTS + 1 - law_at_most(size, LINE_SLOTS + 1);
        double const   p = weight * chain->p[k];
        for (unsigned s = 0; s < first; s++) to->kept[s + size] += p * line->kept[s];
        for (unsigned s = first; s <= LINE_SLOTS; s++) to->tail[size] += p * line->kept[s];
        law_mix(to->tail, MAX_TAIL, line->tail, last, size, p);
    }
}

/* The laws of the tails of lines. */
typedef struct law_tails {
    double plain[MAX_TAIL + 1];
    double flooded[MAX_TAIL + 1]; /* with the entries of a flooded key in any one chain */
} law_tails;

/* `mean` is in keys. */
static void law_tails_make(double mean, unsigned each, unsigned flood, law_tails *ret_tails) {
    law_chain chain = { .each = each };
    law_line  plain = { .kept = { 1 } }, flooded = { .kept = { 0 } };
    for (unsigned k = 0; k <= MAX_CHAIN; k++) {
        chain.p[k] = exp(tamis_poisson_log(mean / LINE_CHAINS, k));
    }
    for (unsigned c = 0; c < LINE_CHAINS; c++) {
        law_line next = { .kept = { 0 } }, next_flooded = { .kept = { 0 } };
        law_add_chain(&plain, &chain, 0, 1, &next);
        if (flood != 0) law_add_chain(&flooded, &chain, 0, 1, &next_flooded);
        if (flood != 0) law_add_chain(&plain, &chain, flood, 1.0 / LINE_CHAINS, &next_flooded);
        plain = next;
        flooded = next_flooded;
    }
    memcpy(ret_tails->plain, plain.tail, sizeof plain.tail);
    memcpy(ret_tails->flooded, flooded.tail, sizeof flooded.tail);
    for (unsigned s = 0; s <= LINE_SLOTS; s++) {
        ret_tails->plain[0] += plain.kept[s];
        ret_tails->flooded[0] += flooded.kept[s];
    }
}

/* ------------------------------------------------------------------ a shelf */

/* The entries in the tails of so many lines; one of the lines may have a flooded key. */
static void law_together(const law_tails *tails, unsigned lines, bool is_flooded, double *ret_law) {
    law_repeat(ret_law, MAX_SENT, tails->plain, law_last(tails->plain, MAX_TAIL),
               lines - is_flooded);
    if (is_flooded) law_add(ret_law, MAX_SENT, tails->flooded, law_last(tails->flooded, MAX_TAIL));
}

/* Those beyond the places of a shelf are sent to the attic. */
static void law_beyond_shelf(double *law) {
    for (unsigned i = 1; i <= LINE_SHELF; i++) law[0] += law[i];
    memmove(law + 1, law + LINE_SHELF + 1, (MAX_SENT - LINE_SHELF) * sizeof *law);
    memset(law + MAX_SENT + 1 - LINE_SHELF, 0, LINE_SHELF * sizeof *law);
}

static void law_sent(const law_tails *tails, unsigned lines, bool is_flooded, double *ret_sent) {
    law_together(tails, lines, is_flooded, ret_sent);
    law_beyond_shelf(ret_sent);
}

void tamis_line_shares(double mean, law_shares *ret_shares) {
    law_tails tails;
    double    law[MAX_SENT + 1], keys = 0, crowded = 0;
    law_tails_make(mean, 1, 0, &tails);
    law_together(&tails, LINE_GROUP, false, law);
    for (unsigned i = 0; i <= MAX_SENT; i++) {
        keys += i * law[i];
        crowded += i < LINE_SHELF ? 0 : i * law[i];
    }
    law_beyond_shelf(law);
    ret_shares->cut = fmax(0, 1 - tails.plain[0]);
    ret_shares->in_attic = law_mean(law, MAX_SENT) / LINE_GROUP / mean;
    ret_shares->shelved = fmax(0, law_mean(tails.plain, MAX_TAIL) / mean - ret_shares->in_attic);
    ret_shares->crowded = keys > 0 ? crowded / keys : 0;
}

/* ------------------------------------------------------------------ the attic, exactly */

/* The law of what all shelves send, with so many keys. A flooded key is on a shelf that has as many
 * lines as there are. False: it goes beyond MAX_SUM. */
static __attribute__((noinline)) bool law_sum(const law_life *life, double keys, double *ret_sum) {
    unsigned const lines = (unsigned)life->lines, whole = lines / LINE_GROUP;
    bool const     is_whole_flooded = life->flood != 0 && whole != 0;
    law_tails      tails;
    double         sent[MAX_SENT + 1];
    law_tails_make(keys / life->lines, life->each, life->flood, &tails);
    law_sent(&tails, LINE_GROUP, false, sent);
    law_repeat(ret_sum, MAX_SUM, sent, law_last(sent, MAX_SENT), whole - is_whole_flooded);
    if (is_whole_flooded) {
        law_sent(&tails, LINE_GROUP, true, sent);
        law_add(ret_sum, MAX_SUM, sent, law_last(sent, MAX_SENT));
    }
    if (lines % LINE_GROUP != 0) { /* the last shelf has fewer lines */
        law_sent(&tails, lines % LINE_GROUP, life->flood != 0 && whole == 0, sent);
        law_add(ret_sum, MAX_SUM, sent, law_last(sent, MAX_SENT));
    }
    return ret_sum[MAX_SUM] < HARDLY;
}

/* The laws of S with n and with n + 1 keys. */
typedef struct law_sums {
    double now[MAX_SUM + 1], next[MAX_SUM + 1];
} law_sums;

static bool law_sums_make(const law_life *life, law_sums *ret_sums) {
    if (life->lines > LAW_EXACT_SHELVES * LINE_GROUP) return false;
    return law_sum(life, life->keys, ret_sums->now) &&
           law_sum(life, life->keys + 1, ret_sums->next);
}

/* From G(n) and G(n + 1). */
static double law_refused(const law_life *life, double now, double next) {
    return fmin(1, 2 * (now + life->churn * fmax(0, next - now)));
}

static double law_exact(const law_life *life, const law_sums *sums, double room) {
    double now = 0, next = 0;
    for (unsigned k = MAX_SUM; k > room; k--) {
        now += sums->now[k];
        next += sums->next[k];
    }
    return law_refused(life, now, next);
}

static double law_exact_room(const law_life *life, const law_sums *sums, double overflow) {
    double   now = 0, next = 0;
    unsigned room = MAX_SUM;
    for (; room != 0; room--) {
        now += sums->now[room];
        next += sums->next[room];
        if (law_refused(life, now, next) > overflow) break;
    }
    return room;
}

/* ------------------------------------------------------------------ the attic, by Chernoff */

/* ln E[e^(theta x sent)]. */
static double law_moment(const double *sent, unsigned last, double theta) {
    double const step = exp(theta);
    double       sum = 0, power = 1;
    for (unsigned i = 1; i <= last; i++) {
        power *= step;
        sum += sent[i] * (power - 1);
    }
    return log1p(sum);
}

/* Shelves that are all alike, but for the one with the flooded key. */
typedef struct law_shelves {
    double   n;
    double   plain[MAX_SENT + 1], flooded[MAX_SENT + 1];
    unsigned last_plain, last_flooded;
} law_shelves;

static void law_shelves_make(const law_life *life, law_shelves *ret_shelves) {
    law_tails tails;
    law_tails_make(life->keys / life->lines, life->each, life->flood, &tails);
    ret_shelves->n = ceil(life->lines / LINE_GROUP);
    law_sent(&tails, LINE_GROUP, false, ret_shelves->plain);
    memcpy(ret_shelves->flooded, ret_shelves->plain, sizeof ret_shelves->plain);
    if (life->flood != 0) law_sent(&tails, LINE_GROUP, true, ret_shelves->flooded);
    ret_shelves->last_plain = law_last(ret_shelves->plain, MAX_SENT);
    ret_shelves->last_flooded = law_last(ret_shelves->flooded, MAX_SENT);
}

/* ln E[e^(theta S)]. */
static double law_moments(const law_shelves *shelves, double theta) {
    return (shelves->n - 1) * law_moment(shelves->plain, shelves->last_plain, theta) +
           law_moment(shelves->flooded, shelves->last_flooded, theta);
}

/* P[S > room] <= E[e^(theta S)] e^(-theta (room + 1)) for every theta: that is solved for the room,
 * or for the probability, with the best theta of a grid. */
#define FIRST_THETA 1e-4
#define LAST_THETA 3.0
#define NEXT_THETA 1.15

static __attribute__((noinline)) double law_bound(const law_life *life, double room) {
    law_shelves shelves;
    double      best = 0;
    law_shelves_make(life, &shelves);
    for (double theta = FIRST_THETA; theta < LAST_THETA; theta *= NEXT_THETA) {
        best = fmin(best, law_moments(&shelves, theta) - theta * (room + 1));
    }
    return fmin(1, 2 * (1 + life->churn) * exp(best));
}

static __attribute__((noinline)) double law_bound_room(const law_life *life, double overflow) {
    double const budget = -log(overflow / (2 * (1 + life->churn)));
    law_shelves  shelves;
    double       best = INFINITY;
    law_shelves_make(life, &shelves);
    for (double theta = FIRST_THETA; theta < LAST_THETA; theta *= NEXT_THETA) {
        best = fmin(best, (law_moments(&shelves, theta) + budget) / theta);
    }
    return ceil(best);
}

/* ------------------------------------------------------------------ both */

double tamis_line_law(const law_life *life, double room) {
    law_sums sums;
    if (life->each * life->keys / life->lines > LAW_MAX_LOAD) return 1;
    return law_sums_make(life, &sums) ? law_exact(life, &sums, room) : law_bound(life, room);
}

double tamis_line_room(const law_life *life, double overflow) {
    law_sums sums;
    return law_sums_make(life, &sums) ? law_exact_room(life, &sums, overflow)
                                      : law_bound_room(life, overflow);
}

double tamis_line_rough_room(const law_life *life, double overflow) {
    law_life plain = *life;
    plain.flood = 0;
    return law_bound_room(&plain, overflow);
}
