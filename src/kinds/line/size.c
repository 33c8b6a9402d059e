/* size.c - see line_size.h. */
#include "size.h"

#include "core/checked.h"
#include "theory/tails.h"

#include <math.h>

#define LINE_BYTES 64
#define MIN_ATTIC 16 /* words; so that small tables take a flood */

/* ------------------------------------------------------------------ layout */

uint64_t tamis_line_prints(const uint64_t *g) {
    uint64_t prints;
    if (g[LINE_REMAINDER_BITS] > 63) return 0;
    if (!checked_mul(g[LINE_BUCKETS], LINE_CHAINS, &prints)) return 0;
    return checked_mul(prints, UINT64_C(1) << g[LINE_REMAINDER_BITS], &prints) ? prints : 0;
}

static bool fields_are_possible(const uint64_t *g) {
    uint64_t const many = UINT64_C(1) << 44, bits = g[LINE_REMAINDER_BITS];
    if (g[LINE_BUCKETS] < 1 || g[LINE_BUCKETS] > many || g[LINE_ATTIC] > many) return false;
    if (bits < LINE_BYTE_BITS || bits > LINE_MAX_REMAINDER_BITS) return false;
    if (g[LINE_COUNTER_BITS] > LINE_MAX_COUNTER_BITS || g[LINE_VALUE_BITS] > LINE_MAX_VALUE_BITS)
        return false;
    if (g[LINE_COPIES] < 1 || g[LINE_COPIES] > LINE_MAX_COPIES) return false;
    if ((g[LINE_COUNTER_BITS] != 0 || g[LINE_VALUE_BITS] != 0) && g[LINE_COPIES] != 1) return false;
    return line_rest_bits(g) <= LINE_MAX_REST_BITS && tamis_line_prints(g) != 0;
}

/* Nothing wraps: 2^44 lines of 512 + 50 x 56 bits. */
bool tamis_line_layout(const uint64_t *g, line_layout *ret_layout) {
    if (!fields_are_possible(g)) return false;
    uint64_t const shelves = (g[LINE_BUCKETS] + LINE_GROUP - 1) / LINE_GROUP;
    uint64_t const places = line_attic_homes(g[LINE_ATTIC]) + g[LINE_ATTIC];
    uint64_t const rest = line_rest_bits(g);
    line_layout    layout = { .shelves = g[LINE_BUCKETS] * LINE_BYTES };
    layout.words = layout.shelves + shelves * LINE_BYTES;
    layout.count = layout.words + line_word_bytes(g[LINE_BUCKETS]) * places;
    layout.slot_rests = 8 * (layout.count + 8);
    layout.shelf_rests = layout.slot_rests + g[LINE_BUCKETS] * LINE_SLOTS * rest;
    layout.word_rests = layout.shelf_rests + shelves * LINE_SHELF * rest;
    layout.end = layout.word_rests + places * rest;
    *ret_layout = layout;
    return true;
}

/* ------------------------------------------------------------------ what lines send elsewhere */

#define MAX_CHAIN 19 /* keys of one chain; more have a chance below 1e-19 */
#define MAX_TAIL 96  /* keys of one tail that are told apart; more are taken for so many */
#define MAX_SENT 256 /* keys that one shelf sends to the attic, likewise */

typedef struct shelf_law {
    double   tail[MAX_TAIL + 1]; /* P[the tail of a line has so many keys] */
    double   sent[MAX_SENT + 1]; /* P[a shelf sends so many to the attic] */
    unsigned last_sent;          /* the most of them that has a chance */
    double   crowded;            /* share of the keys in tails whose shelf is full */
} shelf_law;

static unsigned at_most(unsigned n, unsigned most) {
    return n < most ? n : most;
}

/* Add `p` times the law `from` of n + 1 values, moved up by k; what is beyond `most` is taken for
 * it. */
static void add_moved(double *to, unsigned most, const double *from, unsigned n, unsigned k,
                      double p) {
    unsigned const whole = at_most(n, most - k);
    double         beyond = 0;
    for (unsigned i = 0; i <= whole; i++) to[i + k] += p * from[i];
    for (unsigned i = whole + 1; i <= n; i++) beyond += from[i];
    to[most] += p * beyond;
}

#define NEVER 1e-40 /* chances that no sum of all shelves brings back */

/* The last value of a law that has a chance at all. */
static unsigned last_of(const double *law, unsigned most) {
    while (most != 0 && !(law[most] > NEVER)) most--;
    return most;
}

/* Chain after chain: those that fit are in the line; from the first that does not, in the tail. */
static void tail_law(double mean, shelf_law *of) {
    double chain[MAX_CHAIN + 1], line[LINE_SLOTS + 1] = { 1 }, tail[MAX_TAIL + 1] = { 0 };
    for (unsigned k = 0; k <= MAX_CHAIN; k++) {
        chain[k] = exp(tamis_poisson_log(mean / LINE_CHAINS, k));
    }
    for (unsigned c = 0; c < LINE_CHAINS; c++) {
        double         next_line[LINE_SLOTS + 1] = { 0 }, next_tail[MAX_TAIL + 1] = { 0 };
        unsigned const last = last_of(tail, MAX_TAIL);
        for (unsigned k = 0; k <= MAX_CHAIN; k++) {
            double const p = chain[k];
            for (unsigned s = 0; s + k <= LINE_SLOTS; s++) next_line[s + k] += p * line[s];
            for (unsigned s = LINE_SLOTS + 1 - k; s <= LINE_SLOTS; s++) next_tail[k] += p * line[s];
            add_moved(next_tail, MAX_TAIL, tail, last, k, p);
        }
        memcpy(line, next_line, sizeof line);
        memcpy(tail, next_tail, sizeof tail);
    }
    for (unsigned s = 0; s <= LINE_SLOTS; s++) tail[0] += line[s];
    *of = (shelf_law){ .sent = { 0 } };
    memcpy(of->tail, tail, sizeof tail);
}

/* The law of the sum of two that have the same. */
static void doubled(const double *one, double *ret_two) {
    unsigned const last = last_of(one, MAX_SENT);
    memset(ret_two, 0, (MAX_SENT + 1) * sizeof *ret_two);
    for (unsigned s = 0; s <= last; s++) {
        if (one[s] > NEVER) add_moved(ret_two, MAX_SENT, one, last, s, one[s]);
    }
}

static_assert(LINE_GROUP == 16, "four times doubled");

/* All beyond the shelf's places go to the attic. */
static void sent_law(shelf_law *of) {
    double one[MAX_SENT + 1] = { 0 }, two[MAX_SENT + 1];
    memcpy(one, of->tail, sizeof of->tail);
    for (unsigned lines = 1; lines < LINE_GROUP; lines *= 4) {
        doubled(one, two);
        doubled(two, one);
    }
    double keys = 0, crowded = 0;
    for (unsigned s = 0; s <= MAX_SENT; s++) {
        of->sent[s <= LINE_SHELF ? 0 : s - LINE_SHELF] += one[s];
        keys += s * one[s];
        crowded += s < LINE_SHELF ? 0 : s * one[s];
    }
    of->crowded = keys > 0 ? crowded / keys : 0;
    of->last_sent = last_of(of->sent, MAX_SENT);
}

static void shelf_law_of(double mean, shelf_law *ret) {
    tail_law(mean, ret);
    sent_law(ret);
}

/* ln E[e^(theta x sent)]. */
static double sent_moment(const shelf_law *of, double theta) {
    double const step = exp(theta);
    double       sum = 0, power = 1;
    for (unsigned s = 1; s <= of->last_sent; s++) {
        power *= step;
        sum += of->sent[s] * (power - 1);
    }
    return log1p(sum);
}

/* Chernoff: the smallest K with P[sum over the shelves > K] <= e^-budget, and the reverse. */
static double room_for(const shelf_law *of, double shelves, double budget) {
    double best = INFINITY;
    for (double theta = 1e-4; theta < 3; theta *= 1.15) {
        best = fmin(best, (shelves * sent_moment(of, theta) + budget) / theta);
    }
    return best;
}

static double log_chance(const shelf_law *of, double shelves, double room) {
    double best = 0;
    for (double theta = 1e-4; theta < 3; theta *= 1.15) {
        best = fmin(best, shelves * sent_moment(of, theta) - theta * room);
    }
    return best;
}

static double mean_of(const double *law, unsigned n) {
    double sum = 0;
    for (unsigned i = 1; i <= n; i++) sum += i * law[i];
    return sum;
}

void tamis_line_load(double lines, double mean, double chance, line_load *ret_load) {
    shelf_law law;
    shelf_law_of(mean, &law);
    double const shelves = ceil(lines / LINE_GROUP);
    double const sent = mean_of(law.sent, MAX_SENT) / LINE_GROUP;
    ret_load->cut = fmax(0, 1 - law.tail[0]);
    ret_load->in_attic = sent / mean;
    ret_load->shelved = fmax(0, mean_of(law.tail, MAX_TAIL) / mean - ret_load->in_attic);
    ret_load->crowded = law.crowded;
    ret_load->room = ceil(room_for(&law, shelves, -log(chance / 2)));
}

/* ------------------------------------------------------------------ prediction */

/* Entries at capacity: one of the keys may be there as often as it can. */
static double entries_of(const uint64_t *g, double n) {
    return n + (double)g[LINE_COPIES] - 1;
}

static double mean_load(const uint64_t *g, double n) {
    return n / (double)g[LINE_BUCKETS];
}

double tamis_line_overflow(const uint64_t *g, double n, double lifetime) {
    shelf_law    law;
    double const entries = entries_of(g, n), lines = (double)g[LINE_BUCKETS];
    if (entries <= LINE_SLOTS || entries <= fmin((double)g[LINE_ATTIC], LINE_MAX_TAIL)) return 0;
    if (mean_load(g, entries) > LINE_LAWFUL_LOAD) return 1;
    shelf_law_of(mean_load(g, entries), &law);
    double const once = log_chance(&law, ceil(lines / LINE_GROUP), (double)g[LINE_ATTIC] + 1);
    return fmin(1, 2 * (1 + tamis_prints_churn(n, lifetime)) * exp(once));
}

/* Beside the line: its tail, if the key is or would be there, is a line of the shelf, and one of
 * the attic if the shelf is full. An absent key reads a rest if its byte is right by chance. Of
 * the rests, an add moves half. */
void tamis_line_touches(const uint64_t *g, double n, double *ret_present, double *ret_absent,
                        double *ret_add) {
    double const mean = fmin(mean_load(g, n), LINE_LAWFUL_LOAD), chain = mean / LINE_CHAINS;
    double const is_wide = g[LINE_REMAINDER_BITS] > LINE_BYTE_BITS ? 1 : 0;
    double const rest = (double)line_rest_bits(g), has_rests = rest != 0 ? 1 : 0;
    line_load    load;
    tamis_line_load((double)g[LINE_BUCKETS], mean, 0.5, &load);
    double const away = load.shelved + load.in_attic, tail = 1 + load.crowded;
    *ret_present = 1 + away * tail + is_wide;
    *ret_absent = 1 + away * tail * chain + is_wide * chain / 256;
    *ret_add = 1 + load.cut * (1 + has_rests) + has_rests + rest * mean / 2 / (8 * LINE_BYTES);
}

/* ------------------------------------------------------------------ choice */

static uint64_t or_fixed(uint64_t fixed, double chosen) {
    return fixed != NEED_FREE ? fixed : (uint64_t)chosen;
}

/* At a mean load: the lines and the attic. Returns the bits of the body. */
static double try_load(const line_need *need, const uint64_t *fixed, uint64_t *g, double mean) {
    double const n = entries_of(g, need->n);
    if (n / mean > 0x1p44) return INFINITY;
    g[LINE_BUCKETS] = or_fixed(fixed[LINE_BUCKETS], ceil(n / mean));
    if (need->prints != 0) {
        uint64_t const step = (uint64_t)LINE_CHAINS << g[LINE_REMAINDER_BITS];
        if (need->prints % step != 0) return INFINITY;
        g[LINE_BUCKETS] = need->prints / step;
        if (fixed[LINE_BUCKETS] != NEED_FREE && fixed[LINE_BUCKETS] != g[LINE_BUCKETS])
            return INFINITY;
    }
    line_load    load = { .room = 0 };
    double const chance = need->overflow / (1 + tamis_prints_churn(need->n, need->lifetime));
    bool const   is_sent = fixed[LINE_ATTIC] == NEED_FREE && n > LINE_SLOTS;
    if (is_sent && mean_load(g, n) > LINE_LAWFUL_LOAD) return INFINITY;
    if (is_sent) tamis_line_load((double)g[LINE_BUCKETS], mean_load(g, n), chance, &load);
    g[LINE_ATTIC] = or_fixed(fixed[LINE_ATTIC], is_sent ? fmax(load.room, MIN_ATTIC) : 0);
    line_layout layout;
    return tamis_line_layout(g, &layout) ? (double)layout.end : INFINITY;
}

/* The load that makes the table smallest, for a remainder. */
static double best_load(const line_need *need, const uint64_t *fixed, uint64_t *g) {
    double const chains = LINE_CHAINS * ldexp(1, (int)g[LINE_REMAINDER_BITS]);
    double const fast = line_rest_bits(g) != 0 ? LINE_FAST_LOAD_RESTS : LINE_FAST_LOAD;
    double const most = need->is_fast ? fast : LINE_MAX_LOAD;
    double const limit = need->fpr > 0 ? need->fpr * chains : most; /* n/F <= fpr */
    uint64_t     best[LINE_FIELDS] = { 0 };
    double       least = INFINITY, bits = INFINITY, mean = fmin(most, limit), lines = 0;
    bool const   is_free = need->prints == 0 && fixed[LINE_BUCKETS] == NEED_FREE;
    do { /* until it only grows */
        double const needed = ceil(entries_of(g, need->n) / mean);
        if (needed != lines) bits = try_load(need, fixed, g, mean);
        lines = needed;
        for (unsigned i = 0; i < LINE_FIELDS && bits < least; i++) best[i] = g[i];
        least = fmin(least, bits);
        mean -= 0.5;
    } while (is_free && mean >= LINE_MIN_LOAD && bits <= 1.02 * least);
    for (unsigned i = 0; i < LINE_FIELDS; i++) g[i] = best[i];
    return least;
}

/* Shorter remainders than the first that allows a good load only waste lines, longer ones than the
 * next only bits. */
static unsigned first_remainder(const line_need *need) {
    unsigned bits = LINE_BYTE_BITS;
    if (need->fpr <= 0) return bits;
    while (bits < LINE_MAX_REMAINDER_BITS - 1 &&
           need->fpr * LINE_CHAINS * ldexp(1, (int)bits) < LINE_GOOD_LOAD) {
        bits++;
    }
    return bits;
}

bool tamis_line_choose(const line_need *need, uint64_t *geometry) {
    uint64_t const fixed = geometry[LINE_REMAINDER_BITS];
    if (fixed != NEED_FREE && fixed > LINE_MAX_REMAINDER_BITS) return false;
    unsigned const first = fixed != NEED_FREE ? (unsigned)fixed : first_remainder(need);
    unsigned const tries = fixed != NEED_FREE ? 1 : need->prints != 0 ? 33 : need->fpr > 0 ? 2 : 1;
    uint64_t       best[LINE_FIELDS] = { 0 };
    double         least = INFINITY;
    for (unsigned bits = first; bits < first + tries && bits <= LINE_MAX_REMAINDER_BITS; bits++) {
        uint64_t g[LINE_FIELDS];
        for (unsigned i = 0; i < LINE_FIELDS; i++) g[i] = geometry[i];
        g[LINE_REMAINDER_BITS] = bits;
        double const size = best_load(need, geometry, g);
        if (size >= least) continue;
        least = size;
        for (unsigned i = 0; i < LINE_FIELDS; i++) best[i] = g[i];
    }
    for (unsigned i = 0; i < LINE_FIELDS && least < INFINITY; i++) geometry[i] = best[i];
    return least < INFINITY;
}
