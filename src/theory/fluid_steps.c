/* fluid_steps.c - see fluid_steps.h.
 *
 * A step takes the slopes d p(i, j) of fluid.h at one or more points, and moves every x(i, j) along
 * them. Planning spends most of its time here, so the slopes have two forms with equal results:
 *
 *     growth()         one level after the other. Right for all tables: a share of less than one
 *                      bucket is split into chance times share, and the chance is passed upward.
 *     plain_growth()   where no share is that small, a level needs only the x of the level below,
 *                      which are known. So two levels are computed at once, in the two lanes of a
 *                      vector, with the operations of growth() in the same order.
 *
 * Shares fall from level to level. So a step uses plain_growth() up to the first level that has to
 * be split, and growth() from there on.
 */
#include "theory/fluid_steps.h"

#include "theory/two.h"

#define FULL (1 - 1e-13) /* larger shares are 1: the difference does not matter */

/* ------------------------------------------------------------------ slopes */

/* What a level needs to know of the one below: its shares, and the chance of all rare events so
 * far. */
typedef struct level_below {
    double chance, share[FLUID_MAX_TABLES];
} level_below;

/* Below the first level that changes, all buckets have enough keys: all shares are 1. */
TAMIS_INLINE level_below full_level(unsigned tables) {
    level_below below = { .chance = 1 };
    for (unsigned i = 0; i < tables; i++) below.share[i] = 1;
    return below;
}

/* The growth d p(i, j) of all subtables at level j, as in fluid.h; `below` becomes this level. Only
 * the levels j and j - 1 are read, so the caller may change level j right after the call. Inlined,
 * so that the loops have a constant length where `tables` is a constant. */
TAMIS_INLINE void growth(const fluid *law, unsigned tables, unsigned j, level_below *below,
                         double *ret_slope) {
    double left = tables, right[FLUID_MAX_TABLES]; /* left: d prod k<i x(k, j) */
    fluid_products_right(tables, below->share, right);
    for (unsigned i = 0; i < tables; i++) {
        double const x = law->x[i][j], more = below->chance * below->share[i] - x;
        ret_slope[i] = more > 0 ? left * right[i] * more : 0;
        below->share[i] = fluid_split_share(x, law->least, &below->chance);
        left *= below->share[i];
    }
}

/* The growth at all levels that a step changes. */
typedef struct slopes {
    double slope[FLUID_MAX_TABLES][FLUID_MAX_HEIGHT + 2];
} slopes;

/* The first level that has a share of less than one bucket, which growth() splits; the level after
 * the last, if there is none. Shares fall from level to level, so they are looked at from the top
 * down. */
TAMIS_INLINE unsigned first_rare(const fluid *law, unsigned tables, fluid_span over) {
    unsigned rare = over.last + 1;
    for (bool is_rare = true; is_rare && rare > over.first; rare -= is_rare) {
        is_rare = false;
        for (unsigned i = 0; i < tables; i++)
            is_rare = is_rare || !(law->x[i][rare - 1] >= law->least);
    }
    return rare;
}

/* growth() of the levels from `first` to before `rare`, where nothing is split, two levels at a
 * time. If their number is odd, the level `rare` is written too, with a number that nobody uses:
 * rare_growth() writes it again, or it is beyond the last level. */
TAMIS_INLINE void plain_growth(const fluid *law, unsigned tables, unsigned first, unsigned rare,
                               slopes *ret_slopes) {
    for (unsigned j = first; j < rare; j += 2) {
        two below[FLUID_MAX_TABLES], right[FLUID_MAX_TABLES], left = two_same(tables);
        for (unsigned i = 0; i < tables; i++) below[i] = two_load(&law->x[i][j - 1]);
        right[tables - 1] = two_same(1);
        for (unsigned i = tables - 1; i-- > 0;) right[i] = two_multiply(right[i + 1], below[i + 1]);
        for (unsigned i = 0; i < tables; i++) {
            two const x = two_load(&law->x[i][j]);
            two const grown = two_above_0(two_subtract(below[i], x));
            two_store(&ret_slopes->slope[i][j], two_multiply(two_multiply(left, right[i]), grown));
            left = two_multiply(left, x);
        }
    }
}

/* The slopes of the levels from `rare` on. Below them nothing was split, so the chance is still
 * 1. */
TAMIS_INLINE void rare_growth(const fluid *law, unsigned tables, fluid_span over, unsigned rare,
                              slopes *ret_slopes) {
    level_below below = full_level(tables);
    double      slope[FLUID_MAX_TABLES];
    for (unsigned i = 0; i < tables && rare > over.first; i++) below.share[i] = law->x[i][rare - 1];
    for (unsigned j = rare; j <= over.last; j++) {
        growth(law, tables, j, &below, slope);
        for (unsigned i = 0; i < tables; i++) ret_slopes->slope[i][j] = slope[i];
    }
}

TAMIS_INLINE void slopes_with(unsigned tables, const fluid *law, fluid_span over,
                              slopes *ret_slopes) {
    unsigned const rare = first_rare(law, tables, over);
    plain_growth(law, tables, over.first, rare, ret_slopes);
    rare_growth(law, tables, over, rare, ret_slopes);
}

/* The planner takes 2 to 4 subtables if nobody asks for more. These numbers have instances of their
 * own, in which the loops over the subtables have a constant length. */
static void find_slopes(const fluid *law, fluid_span over, slopes *ret_slopes) {
    switch (law->tables) {
    case 2: slopes_with(2, law, over, ret_slopes); break;
    case 3: slopes_with(3, law, over, ret_slopes); break;
    case 4: slopes_with(4, law, over, ret_slopes); break;
    default: slopes_with(law->tables, law, over, ret_slopes); break;
    }
}

/* ------------------------------------------------------------------ steps */

/* Levels that are as good as full are set to 1, and left out from then on. At the top, a step of
 * Runge and Kutta has four parts, each of which may reach one level more: so the last level is the
 * third above the highest that buckets have. The leftmost subtable has the fullest buckets, so it
 * is looked at for the top, and the rightmost one for the bottom. */
fluid_span tamis_fluid_changing(fluid *law) {
    unsigned const end = law->least > 0 ? fluid_highest_level(law->load) : FLUID_MAX_HEIGHT;
    fluid_span     s = { 1, 4 };
    while (s.last < end && law->x[0][s.last - 3] > FLUID_FAINT) s.last++;
    for (; s.first < s.last && law->x[law->tables - 1][s.first] > FULL; s.first++) {
        for (unsigned i = 0; i < law->tables; i++) law->x[i][s.first] = 1;
    }
    return s;
}

/* One step of Euler's method, in place. */
void tamis_fluid_euler(fluid *law, fluid_span over, double step) {
    level_below below = full_level(law->tables);
    double      slope[FLUID_MAX_TABLES];
    for (unsigned j = over.first; j <= over.last; j++) {
        growth(law, law->tables, j, &below, slope);
        for (unsigned i = 0; i < law->tables; i++) law->x[i][j] += step * slope[i];
    }
}

/* One of the four parts of a step of Runge and Kutta. The slope is taken at the point `at`; `sum`
 * grows by `weight` of it, and `tried` becomes the point that is `ahead` from the beginning. Not
 * inlined: the stack frame of its caller would be larger than 16 KiB. */
static __attribute__((noinline)) void runge_kutta_part(const fluid *begin, fluid_span over,
                                                       double weight, double ahead, const fluid *at,
                                                       fluid *sum, fluid *tried) {
    slopes all;
    find_slopes(at, over, &all);
    for (unsigned i = 0; i < begin->tables; i++) {
        const double *const before = at == begin ? begin->x[i] : sum->x[i];
        for (unsigned j = over.first; j <= over.last; j += 2) {
            two const slope = two_load(&all.slope[i][j]);
            two const gained = two_multiply(two_same(weight), slope);
            two const moved = two_multiply(two_same(ahead), slope);
            two_store(&sum->x[i][j], two_add(two_load(&before[j]), gained));
            two_store(&tried->x[i][j], two_add(two_load(&begin->x[i][j]), moved));
        }
    }
}

/* One step of Runge and Kutta's method of the fourth order. In `tried` and `sum`, only the levels
 * that change are written and read, and the one below them, which is full. Not inlined: with the
 * fluid of its caller, the stack frame would be larger than 16 KiB. */
__attribute__((noinline)) void tamis_fluid_runge_kutta(fluid *law, double step) {
    fluid_span const over = tamis_fluid_changing(law);
    fluid            tried, sum;
    tried.tables = law->tables;
    tried.least = law->least;
    for (unsigned i = 0; i < law->tables; i++) tried.x[i][over.first - 1] = 1; /* the level below */
    runge_kutta_part(law, over, step * 1 / 6, step * 0.5, law, &sum, &tried);
    runge_kutta_part(law, over, step * 2 / 6, step * 0.5, &tried, &sum, &tried);
    runge_kutta_part(law, over, step * 2 / 6, step, &tried, &sum, &tried);
    runge_kutta_part(law, over, step * 1 / 6, 0, &tried, &sum, &tried);
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned j = over.first; j <= over.last; j++) law->x[i][j] = sum.x[i][j];
    }
}
