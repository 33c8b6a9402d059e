/* test_line_tails.c - the law of a tail agrees with its definition.
 *
 * The library has a closed form for most of it (tail_law.c). Here it is added up as it is defined:
 * chain by chain, for each place where the line may be cut and each chain where a flooded key may
 * be.
 */
#include "unit.h"

#include "kinds/line/law.h"
#include "kinds/line/tail_law.h"
#include "theory/tails.h"

#define CHAIN 19 /* keys of a chain, at most */
#define MOST 160 /* and of all behind it */

/* Add the tail of lines that are cut at a chain which has k keys, with a chance of cut[k]. `more`
 * entries of a flooded key are in the tail. */
static void add_tail(const double cut[CHAIN + 1], double behind, unsigned each, unsigned more,
                     double tail[MAX_TAIL + 1]) {
    for (unsigned u = 0; u <= MOST; u++) {
        double const p = exp(tamis_poisson_log(behind, u));
        for (unsigned k = 0; k <= CHAIN; k++) {
            unsigned const entries = (k + u) * each + more;
            tail[entries < MAX_TAIL ? entries : MAX_TAIL] += p * cut[k];
        }
    }
}

/* Add the tails of lines whose flooded key, with so many entries, is in chain `where`; where it is
 * LINE_CHAINS, there is none. kept[s]: P[the chains so far fit, and have s keys]. */
static void add_tails(double chain, unsigned each, unsigned flood, unsigned where, double weight,
                      double tail[MAX_TAIL + 1]) {
    double kept[LINE_SLOTS + 1] = { weight };
    for (unsigned c = 0; c < LINE_CHAINS; c++) {
        double         next[LINE_SLOTS + 1] = { 0 }, cut[CHAIN + 1] = { 0 };
        unsigned const before = where <= c ? flood : 0;
        unsigned const more = where >= c && where < LINE_CHAINS ? flood : 0;
        for (unsigned k = 0; k <= CHAIN; k++) {
            double const p = exp(tamis_poisson_log(chain, k));
            for (unsigned s = 0; s <= LINE_SLOTS; s++) {
                bool const is_cut = (s + k) * each + before > LINE_SLOTS;
                *(is_cut ? &cut[k] : &next[s + k]) += p * kept[s];
            }
        }
        add_tail(cut, (LINE_CHAINS - 1 - c) * chain, each, more, tail);
        memcpy(kept, next, sizeof kept);
    }
}

/* Tails of hardly any probability are left out: the library drops what is below 1e-30. */
static void check_law(const double *stated, const double *added) {
    for (unsigned i = 1; i < MAX_TAIL; i++) {
        if (added[i] > 1e-22) assert_near(stated[i] / added[i], 1, 1e-7);
    }
    for (unsigned i = 1; i < MAX_TAIL; i++) {
        if (added[i] > 1e-15) assert_near(stated[i] / added[i], 1, 1e-10);
    }
}

static void tails_are_as_defined(void **state) {
    static const struct {
        double   mean;
        unsigned each, flood;
    } cases[] = { { 46, 1, 0 }, { 46, 1, 8 }, { 30, 1, 8 }, { 55, 1, 8 }, { 20, 2, 0 } };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        double         plain[MAX_TAIL + 1] = { 0 }, flooded[MAX_TAIL + 1] = { 0 };
        double const   chain = cases[i].mean / LINE_CHAINS;
        unsigned const each = cases[i].each, flood = cases[i].flood;
        law_tails      stated;
        tamis_line_tails(cases[i].mean, each, flood, &stated);
        add_tails(chain, each, 0, LINE_CHAINS, 1, plain);
        check_law(stated.plain, plain);
        for (unsigned c = 0; c < LINE_CHAINS && flood != 0; c++) {
            add_tails(chain, each, flood, c, 1.0 / LINE_CHAINS, flooded);
        }
        if (flood != 0) check_law(stated.flooded, flooded);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_as_defined),
    };
    return unit_run("line_tails", tests, COUNT(tests));
}
