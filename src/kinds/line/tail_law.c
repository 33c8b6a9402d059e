/* tail_law.c - see tail_law.h.
 *
 * Time matters here: a search for the best table asks for this law with every load that it tries.
 * The keys of several chains together are Poisson, so their law is computed directly, and not as a
 * sum of the laws of the chains.
 */
#include "tail_law.h"

#include "law.h"
#include "law_arrays.h"
#include "theory/tails.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define MAX_CHAIN 19 /* keys of one chain; more have a probability below 1e-19 */

/* 1 / i for all values of a law: a division takes as long as ten multiplications. */
typedef double law_inverses[MAX_TAIL + 2];

/* Poisson(mean). Returns the last value above LAW_NEVER; from there on all is 0. */
static unsigned law_poisson(double *ret_law, unsigned most, double mean,
                            const law_inverses inverses) {
    double   p = exp(-mean);
    unsigned i = 0;
    for (; i <= most && (p > LAW_NEVER || i < mean); i++) {
        ret_law[i] = p;
        p *= mean * inverses[i + 1];
    }
    memset(ret_law + i, 0, (most + 1 - i) * sizeof *ret_law);
    return i - 1;
}

/* ------------------------------------------------------------------ a line */

/* A line is cut at the first chain that does not fit: that one and all after it are the tail. The
 * keys of several chains together are Poisson, too. This is a cut at chain c; all arrays count
 * keys. */
typedef struct law_cut {
    double   before[LINE_SLOTS + 1]; /* in the c chains before it */
    double   chain[MAX_CHAIN + 1];   /* in chain c */
    double   room[WAYS + MAX_TAIL + 1 + WAYS];
    double  *behind; /* in the 61 - c chains after it: in `room`, with WAYS zeros to either side */
    unsigned last_behind;
} law_cut;

/* Keys in a tail, with room for the longest chain and the longest that is after it. */
#define TAIL_ROOM (MAX_TAIL + MAX_CHAIN + 2)

static_assert((MAX_CHAIN + 1) % WAYS == 0, "whole steps");

/* P[chain c has k keys and the line is cut there], for every k: before it are at most `kept` keys,
 * and more than room - k. For room = kept = 50 and k = 3 that is 48, 49 or 50 keys: the chain does
 * not fit, and all chains before it do. From k to k + 1, one more number of keys before it counts,
 * so `p` grows by one term. */
static void law_cut_at(const law_cut *cut, unsigned kept, unsigned room, double *ret_cut) {
    double p = 0;
    for (unsigned s = room + 1; s <= kept; s++) p += cut->before[s];
    for (unsigned k = 0; k <= MAX_CHAIN; k++) {
        if (k != 0 && k <= room + 1) p += cut->before[room + 1 - k];
        ret_cut[k] = cut->chain[k] * p;
    }
}

/* Add the law of the tail: k keys of the chain where the line is cut, and those after it. WAYS
 * values of k are taken at a time (law_mix_all). */
static void law_add_tail(const law_cut *cut, const double *at, double weight,
                         double tail[TAIL_ROOM]) {
    unsigned last = cut->last_behind;
    for (unsigned k = 0; k <= MAX_CHAIN; k += WAYS) {
        double p[WAYS], most = 0;
        for (unsigned i = 0; i < WAYS; i++) {
            p[i] = weight * at[k + i];
            if (p[i] > most) most = p[i];
        }
        if (!(most > LAW_NEVER)) continue;
        last = law_last_beside(cut->behind, cut->last_behind, most, last);
        law_mix_all(tail, cut->behind, last, k, p);
    }
}

/* From keys to entries: `each` for every key, and `more`. Returns P[there is a tail at all]. */
static double law_add_entries(const double *keys, unsigned each, unsigned more, double *to) {
    double sum = 0;
    for (unsigned i = 0; i < TAIL_ROOM; i++) {
        sum += keys[i];
        to[law_at_most(i * each + more, MAX_TAIL)] += keys[i];
    }
    return sum;
}

/* Keys in tails, by where the entries of a flooded key are. */
typedef struct law_keys {
    double plain[TAIL_ROOM];   /* there is none */
    double in_tail[TAIL_ROOM]; /* in the tail */
    double kept[TAIL_ROOM];    /* before it */
} law_keys;

/* What a line has room for, in keys: all of it, and beside the entries of a flooded key. */
typedef struct law_rooms {
    unsigned room, less;
    bool     is_flooded;
} law_rooms;

/* The cuts at all chains, one after the other, with up to `most` keys after the cut. The flooded
 * key is in any chain. If that is where the line is cut or after it, its entries are in the tail;
 * if it is before that, they leave less room for other keys. */
static void law_cut_all(double chain, law_rooms rooms, unsigned most, law_keys *keys) {
    double const any = 1.0 / LINE_CHAINS;
    double       at[MAX_CHAIN + 1], at_flood[MAX_CHAIN + 1];
    law_cut      cut = { .last_behind = 0 };
    law_inverses inverses = { 0 };
    cut.behind = cut.room + WAYS;
    for (unsigned i = 1; i < MAX_TAIL + 2; i++) inverses[i] = 1.0 / i;
    (void)law_poisson(cut.chain, MAX_CHAIN, chain, inverses);
    for (unsigned c = 0; c < LINE_CHAINS; c++) {
        unsigned const behind = LINE_CHAINS - 1 - c;
        (void)law_poisson(cut.before, LINE_SLOTS, c * chain, inverses);
        cut.last_behind = law_poisson(cut.behind, most, behind * chain, inverses);
        law_cut_at(&cut, rooms.room, rooms.room, at);
        law_add_tail(&cut, at, 1, keys->plain);
        if (!rooms.is_flooded) continue;
        law_cut_at(&cut, rooms.room, rooms.less, at_flood);
        for (unsigned k = 0; k <= MAX_CHAIN; k++) at_flood[k] += behind * at[k];
        law_add_tail(&cut, at_flood, any, keys->in_tail);
        law_cut_at(&cut, rooms.less, rooms.less, at);
        law_add_tail(&cut, at, c * any, keys->kept);
    }
}

/* ------------------------------------------------------------------ many keys after the cut
 *
 * Where s keys are before the cut and u after it, the sum over all chains c has a closed form.
 * With 61 other chains, and x = c / 61,
 *
 *     sum over c of  Poisson(c chain)[s] Poisson((61 - c) chain)[u]
 *                  = e^(-61 chain) (61 chain)^(s+u) / (s! u!)  sum over c of  x^s (1-x)^u
 *
 * and the last sum is 61 times its integral, s! u! / (s+u+1)!, so that all of it is
 * Poisson(61 chain)[s+u+1] / chain. By Euler and Maclaurin, a sum differs from its integral by
 * derivatives at both ends only. Here the first that is not 0 there is the u-th or the s-th: from
 * CLOSED_FROM on, that is below 1e-16 of the sum. With fewer keys, the sum is made.
 *
 * If the flooded key is in one of the 61 - c chains after the cut, or of the c before it:
 *
 *     (61 - c) Poisson((61 - c) chain)[u] = (u + 1) / chain  Poisson((61 - c) chain)[u + 1]
 *     c Poisson(c chain)[s]               = (s + 1) / chain  Poisson(c chain)[s + 1]
 */
#define CLOSED_FROM 20
#define MAX_CLOSED (LINE_SLOTS + MAX_TAIL + 2)

/* Add all cuts with u keys after them: k keys in the chain that is cut, and s before it, from
 * more than `room - k` or `less - k` on. `both` is that closed form, by s + u. */
static void law_add_closed(const double *cut_chain, double chain, law_rooms rooms, unsigned u,
                           const double *both, law_keys *keys) {
    double const any = 1.0 / LINE_CHAINS, over = 1 / chain;
    double       plain = 0, flooded = 0, behind = 0, before = 0;
    for (unsigned s = rooms.less + 1; s <= rooms.room && rooms.is_flooded; s++)
        flooded += both[s + u];
    keys->in_tail[u] += any * cut_chain[0] * flooded; /* the flooded key alone is cut */
    for (unsigned k = 1; k <= MAX_CHAIN; k++) {
        unsigned const s = rooms.room + 1 - k, t = rooms.less + 1 - k;
        plain += both[s + u];
        keys->plain[k + u] += cut_chain[k] * plain;
        if (!rooms.is_flooded) continue;
        flooded += both[t + u];
        behind += (u + 1) * over * both[s + u + 1];
        before += (t + 1) * over * both[t + u + 1];
        keys->in_tail[k + u] += any * cut_chain[k] * (flooded + behind);
        keys->kept[k + u] += any * cut_chain[k] * before;
    }
}

/* All cuts with CLOSED_FROM keys after them, or more; law_cut_all() has those with fewer. Both add
 * to the same laws. */
static void law_closed_all(double chain, law_rooms rooms, law_keys *keys) {
    double       both[MAX_CLOSED], cut_chain[MAX_CHAIN + 1];
    double const mean = (LINE_CHAINS - 1) * chain;
    for (unsigned i = 0; i < MAX_CLOSED; i++) both[i] = exp(tamis_poisson_log(mean, i + 1)) / chain;
    for (unsigned k = 0; k <= MAX_CHAIN; k++) cut_chain[k] = exp(tamis_poisson_log(chain, k));
    for (unsigned u = CLOSED_FROM; u <= MAX_TAIL; u++) {
        law_add_closed(cut_chain, chain, rooms, u, both, keys);
    }
}

/* All in keys first: a line has room for 50 / each of them. With 2 entries for each key that is 25.
 * Entries come last. What is not in any tail is an empty one. The closed form needs CLOSED_FROM
 * keys before a cut, too: before each there are more than `less` - MAX_CHAIN. */
void tamis_line_tails(double mean, unsigned each, unsigned flood, law_tails *ret_tails) {
    double const    chain = mean / LINE_CHAINS;
    law_rooms const rooms = { LINE_SLOTS / each, (LINE_SLOTS - flood) / each, flood != 0 };
    bool const      is_closed = rooms.less >= CLOSED_FROM + MAX_CHAIN;
    law_keys        keys;
    memset(&keys, 0, sizeof keys);
    law_cut_all(chain, rooms, is_closed ? CLOSED_FROM - 1 : MAX_TAIL, &keys);
    if (is_closed) law_closed_all(chain, rooms, &keys);
    memset(ret_tails, 0, sizeof *ret_tails);
    ret_tails->plain[0] = fmax(0, 1 - law_add_entries(keys.plain, each, 0, ret_tails->plain));
    ret_tails->flooded[0] =
        fmax(0, 1 - law_add_entries(keys.in_tail, each, flood, ret_tails->flooded) -
                    law_add_entries(keys.kept, each, 0, ret_tails->flooded));
}
