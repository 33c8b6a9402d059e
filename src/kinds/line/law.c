/* law.c - see law.h.
 *
 * From the tails of lines (tail_law.h) to shelves and the attic.
 *
 * Time matters here: a server makes many small sets, and a search for the best one evaluates this
 * law for every load that it tries. So the attic of large tables needs no law of what a shelf
 * sends, but only means (law_within).
 */
#include "law.h"

#include "law_arrays.h"
#include "tail_law.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAX_SENT 256 /* entries of 16 tails, or sent to the attic by one shelf */
#define MAX_SUM 767  /* entries sent by all shelves, where that is summed up exactly */

/* The mean of what a law describes; the last element counts as if it were just that value. */
static double law_mean(const double *law, unsigned most) {
    double sum = 0;
    for (unsigned i = 1; i <= most; i++) sum += i * law[i];
    return sum;
}

/* ------------------------------------------------------------------ sums of independent values */

/* Add `p` times a law to *to, with all values moved up by `more`: the law of a sum in which the
 * other value is `more`, with the probability p. What goes beyond `most` counts as `most`. */
static void law_mix(double *restrict to, unsigned most, const double *restrict law, unsigned last,
                    unsigned more, double p) {
    unsigned const whole = more > most ? 0 : law_at_most(last + 1, most - more);
    double         beyond = 0;
    for (unsigned i = 0; i < whole; i++) to[i + more] += p * law[i];
    for (unsigned i = whole; i <= last; i++) beyond += law[i];
    to[most] += p * beyond;
}

/* Make `law` that of the sum with another value, whose law is `other`; both may be the same. WAYS
 * values of the other are added at a time, unless the sum would go beyond `most`. */
static void law_add(double *law, unsigned most, const double *other, unsigned last) {
    double sum[MAX_SUM + 1], room[MAX_SUM + 1 + 2 * WAYS], *const own = room + WAYS;
    unsigned const own_last = law_last(law, most);
    unsigned       beside = own_last;
    memset(sum, 0, (most + 1) * sizeof *sum);
    memset(room, 0, (own_last + 1 + 2 * WAYS) * sizeof *room);
    memcpy(own, law, (own_last + 1) * sizeof *law);
    for (unsigned i = 0; i <= last; i += WAYS) {
        double         p[WAYS] = { 0 }, largest = 0;
        unsigned const n = law_at_most(WAYS, last + 1 - i);
        for (unsigned way = 0; way < n; way++) {
            p[way] = other[i + way];
            if (p[way] > largest) largest = p[way];
        }
        if (!(largest > LAW_NEVER)) continue;
        beside = law_last_beside(own, own_last, largest, beside);
        if (i + beside + WAYS < most) {
            law_mix_all(sum, own, beside, i, p);
        } else {
            for (unsigned way = 0; way < n; way++) law_mix(sum, most, own, beside, i + way, p[way]);
        }
    }
    memcpy(law, sum, (most + 1) * sizeof *law);
}

/* The law of the sum of n values of the same law: by doubling, from the highest bit of n on. For n
 * = 13, 1101 in binary, these are sums of 1, 2 + 1, 2 x 3, and 2 x 6 + 1 values. */
static void law_repeat(double *ret_law, unsigned most, const double *one, unsigned one_last,
                       unsigned n) {
    memset(ret_law, 0, (most + 1) * sizeof *ret_law);
    ret_law[0] = 1;
    /* Before each bit the sum is of (n >> that bit + 1) values. It is doubled as soon as it is not
     * empty, and gets one value more where the bit is set. */
    for (unsigned bit = 1u << 31; bit != 0; bit /= 2) {
        if (n >= 2 * (uint64_t)bit) law_add(ret_law, most, ret_law, law_last(ret_law, most));
        if ((n & bit) != 0) law_add(ret_law, most, one, one_last);
    }
}

/* ------------------------------------------------------------------ a shelf */

/* The entries in the tails of this many lines. One of them has the flooded key, or none: NULL. */
static void law_together(const law_tails *tails, const double *flooded, unsigned lines,
                         unsigned most, double *ret_law) {
    unsigned const plain = lines - (flooded != NULL);
    law_repeat(ret_law, most, tails->plain, law_last(tails->plain, MAX_TAIL), plain);
    if (flooded != NULL) law_add(ret_law, most, flooded, law_last(flooded, MAX_TAIL));
}

/* The entries that a shelf sends to the attic: those beyond its places. That is the law of its
 * tails with 0 to SHELF_KEYS put together, and the rest moved down by SHELF_KEYS. */
static void law_sent(const law_tails *tails, const double *flooded, unsigned lines,
                     double *ret_sent) {
    law_together(tails, flooded, lines, MAX_SENT, ret_sent);
    /* Up to SHELF_KEYS entries send none; beyond that, i entries send i - SHELF_KEYS. */
    for (unsigned i = 1; i <= SHELF_KEYS; i++) ret_sent[0] += ret_sent[i];
    memmove(ret_sent + 1, ret_sent + SHELF_KEYS + 1, (MAX_SENT - SHELF_KEYS) * sizeof *ret_sent);
    memset(ret_sent + MAX_SENT + 1 - SHELF_KEYS, 0, SHELF_KEYS * sizeof *ret_sent);
}

/* The mean over what a shelf of SHELF_BUCKETS lines sends does not need that law: it follows from
 * the mean over the tails, and from the laws of up to SHELF_KEYS entries. within[i]: P[the tails
 * have i entries]; the last one stands for more than fit. */
typedef double law_within[SHELF_KEYS + 2];

static void law_within_make(const law_tails *tails, const double *flooded, law_within ret_within) {
    law_together(tails, flooded, SHELF_BUCKETS, SHELF_KEYS + 1, ret_within);
}

/* Sent are the entries in tails, less SHELF_KEYS, if that is not negative. */
void tamis_line_shares(double mean, law_shares *ret_shares) {
    law_tails  tails;
    law_within within;
    tamis_line_tails(mean, 1, 0, &tails);
    law_within_make(&tails, NULL, within);
    double const keys = SHELF_BUCKETS * law_mean(tails.plain, MAX_TAIL), all = SHELF_BUCKETS * mean;
    /* E[max(0, X - s)] = E[X] - s + E[max(0, s - X)], and the last term needs X < s only. Likewise
     * the entries of crowded shelves are all entries less those of the shelves that have room. */
    double sent = keys - SHELF_KEYS, crowded = keys;
    for (unsigned i = 0; i < SHELF_KEYS; i++) {
        sent += (SHELF_KEYS - i) * within[i];
        crowded -= i * within[i];
    }
    ret_shares->cut = fmax(0, 1 - tails.plain[0]);
    ret_shares->in_attic = fmax(0, sent) / all;
    ret_shares->shelved = fmax(0, keys / all - ret_shares->in_attic);
    ret_shares->crowded = keys > 0 ? fmax(0, crowded) / keys : 0;
}

/* ------------------------------------------------------------------ the attic, exactly */

/* The law of what all shelves send, with this many keys: of the whole shelves that are alike, of
 * one with the flooded key, and of the last one, which may have fewer lines. A flooded key is on a
 * shelf that has as many lines as there are: there it sends the most. False: it goes beyond
 * MAX_SUM. */
static __attribute__((noinline)) bool law_sum(const law_life *life, double keys, double *ret_sum) {
    unsigned const lines = (unsigned)life->lines, whole = lines / SHELF_BUCKETS;
    unsigned const rest = lines % SHELF_BUCKETS; /* lines of the last shelf */
    law_tails      tails;
    double         sent[MAX_SENT + 1] = { 1 };
    tamis_line_tails(keys / life->lines, life->each, life->flood, &tails);
    const double *const flooded = life->flood != 0 ? tails.flooded : NULL;
    unsigned const      plain = whole - (whole != 0 && flooded != NULL);
    if (plain != 0) law_sent(&tails, NULL, SHELF_BUCKETS, sent);
    law_repeat(ret_sum, MAX_SUM, sent, law_last(sent, MAX_SENT), plain);
    if (plain != whole) {
        law_sent(&tails, flooded, SHELF_BUCKETS, sent);
        law_add(ret_sum, MAX_SUM, sent, law_last(sent, MAX_SENT));
    }
    if (rest != 0) {
        law_sent(&tails, whole == 0 ? flooded : NULL, rest, sent);
        law_add(ret_sum, MAX_SUM, sent, law_last(sent, MAX_SENT));
    }
    return ret_sum[MAX_SUM] < LAW_NEVER;
}

/* The laws of S with n and with n + 1 keys. */
typedef struct law_sums {
    double now[MAX_SUM + 1], next[MAX_SUM + 1];
} law_sums;

/* False: the exact sum is not possible, or would take too long. Without churn the second law is not
 * needed. */
static bool law_sums_make(const law_life *life, law_sums *ret_sums) {
    /* For many shelves the sum would take too long, and gain little (law.h). */
    if (life->lines > LAW_EXACT_SHELVES * SHELF_BUCKETS) return false;
    if (!law_sum(life, life->keys, ret_sums->now)) return false;
    if (life->churn > 0) return law_sum(life, life->keys + 1, ret_sums->next);
    memcpy(ret_sums->next, ret_sums->now, sizeof ret_sums->next);
    return true;
}

/* The probability of law.h, from G(n) and G(n + 1). The difference can be rounded to less than
 * 0. */
static double law_refused(const law_life *life, double now, double next) {
    return fmin(1, 2 * (now + life->churn * fmax(0, next - now)));
}

/* P[more is sent than the attic has room for], from both laws. */
static double law_exact(const law_life *life, const law_sums *sums, double room) {
    double now = 0, next = 0;
    for (unsigned k = MAX_SUM; k > room; k--) {
        now += sums->now[k];
        next += sums->next[k];
    }
    return law_refused(life, now, next);
}

/* The least room for a probability: go down from the largest value, and add up P[S >= room]. The
 * first room at which that is too much is enough: only more than it overflows. */
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

/* Shelves that are all alike, except for the one with the flooded key. */
typedef struct law_shelves {
    double     n;
    law_tails  tails;
    unsigned   last_plain, last_flooded; /* of the tails */
    law_within plain, flooded;
} law_shelves;

/* All that does not depend on theta, computed once: law_least() evaluates the moments a dozen
 * times. */
static void law_shelves_make(const law_life *life, law_shelves *ret_shelves) {
    law_tails *const tails = &ret_shelves->tails;
    tamis_line_tails(life->keys / life->lines, life->each, life->flood, tails);
    if (life->flood == 0) memcpy(tails->flooded, tails->plain, sizeof tails->flooded);
    ret_shelves->n = ceil(life->lines / SHELF_BUCKETS); /* the last one as if it were whole */
    ret_shelves->last_plain = law_last(tails->plain, MAX_TAIL);
    ret_shelves->last_flooded = law_last(tails->flooded, MAX_TAIL);
    law_within_make(tails, NULL, ret_shelves->plain);
    if (life->flood == 0)
        memcpy(ret_shelves->flooded, ret_shelves->plain, sizeof ret_shelves->flooded);
    else
        law_within_make(tails, tails->flooded, ret_shelves->flooded);
}

/* ln E[e^(theta x entries)] of a tail. */
static double law_tail_moment(const double *tail, unsigned last, double theta) {
    /* E[e^(theta x)] - 1, summed up as tail[i] (e^(theta i) - 1), so that a small result is exact:
     * nearly all tails are empty. */
    double const step = exp(theta);
    double       sum = 0, power = 1;
    for (unsigned i = 1; i <= last; i++) {
        power *= step;
        sum += tail[i] * (power - 1);
    }
    return log1p(sum);
}

/* ln E[e^(theta x sent)] of a shelf: that of its tails, SHELF_KEYS entries less. But where the
 * tails have no more than that, nothing is sent. So with X entries in the tails and s = SHELF_KEYS
 *
 *     E[e^(theta max(0, X - s))]  =  E[e^(theta (X - s))]
 *                                    + sum over i < s of  P[X = i] (1 - e^(theta (i - s)))
 *
 * and only the laws of fewer than s entries are needed beside the moment of the tails. */
static double law_sent_moment(const double *within, double tails, double theta) {
    double const step = exp(-theta), less = tails - theta * SHELF_KEYS;
    double       sum = exp(less), power = step;
    if (less > 700) return less; /* the rest is nothing beside it, and e^less is too large */
    for (unsigned i = SHELF_KEYS; i-- > 0; power *= step) sum += within[i] * (1 - power);
    return log(sum);
}

/* ln E[e^(theta S)]: shelves are independent, so their logarithms add up. Likewise the tails of the
 * lines of a shelf. */
static double law_moment(const law_shelves *shelves, double theta) {
    double const plain = law_tail_moment(shelves->tails.plain, shelves->last_plain, theta);
    double const flooded = law_tail_moment(shelves->tails.flooded, shelves->last_flooded, theta);
    double const others = (SHELF_BUCKETS - 1) * plain;
    return (shelves->n - 1) * law_sent_moment(shelves->plain, others + plain, theta) +
           law_sent_moment(shelves->flooded, others + flooded, theta);
}

/* P[S > room] <= E[e^(theta S)] e^(-theta (room + 1)) for every theta. That is solved for ln P,
 * given the room:
 *
 *     ln P      =  ln E[e^(theta S)] - theta (room + 1)
 *
 * or for the room + 1, given the budget -ln P, which leaves room for no more than P:
 *
 *     room + 1  =  (ln E[e^(theta S)] + budget) / theta
 */
typedef double law_chernoff(const law_shelves *shelves, double given, double theta);

static double law_chernoff_log(const law_shelves *shelves, double room, double theta) {
    return law_moment(shelves, theta) - theta * (room + 1);
}

static double law_chernoff_room(const law_shelves *shelves, double budget, double theta) {
    return (law_moment(shelves, theta) + budget) / theta;
}

/* The thetas that are tried: FIRST_THETA x NEXT_THETA^i, up to 3. */
#define FIRST_THETA 1e-4
#define NEXT_THETA 1.15
#define THETAS 74

/* The least bound of all thetas. It falls up to the best theta and rises from there on, since the
 * logarithm of a moment is convex: so bisection finds it. */
static double law_least(const law_shelves *shelves, law_chernoff *bound, double given) {
    unsigned low = 0, high = THETAS - 1;
    double   least = INFINITY;
    while (low < high) {
        unsigned const middle = (low + high) / 2;
        double const   theta = FIRST_THETA * pow(NEXT_THETA, middle);
        double const   here = bound(shelves, given, theta);
        double const   next = bound(shelves, given, theta * NEXT_THETA);
        least = fmin(least, fmin(here, next));
        if (here <= next)
            high = middle;
        else
            low = middle + 1;
    }
    return least;
}

/* Chernoff's bound in place of both G(n) and of the term for churn (law.h). */
static __attribute__((noinline)) double law_bound(const law_life *life, double room) {
    law_shelves shelves;
    law_shelves_make(life, &shelves);
    double const log_p = fmin(0, law_least(&shelves, law_chernoff_log, room));
    return fmin(1, 2 * (1 + life->churn) * exp(log_p));
}

/* The same, solved for the room: -ln of the probability that G(n) may have is the budget. */
static __attribute__((noinline)) double law_bound_room(const law_life *life, double overflow) {
    double const budget = -log(overflow / (2 * (1 + life->churn)));
    law_shelves  shelves;
    law_shelves_make(life, &shelves);
    return ceil(law_least(&shelves, law_chernoff_room, budget));
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
