/* fluid.c - see fluid.h.
 *
 * Idea. The state is the table of tails x(i, j), the share of the buckets of subtable i with at
 * least j keys. Filling follows the differential equation of fluid.h in small steps of the mean
 * load. Churn looks for the state at which arrivals and removals are equal, by solving for one
 * x(i, j) after the other until none moves any more. Both work upward, one level j after the other:
 * a level depends on the one below it, and under churn also on the one above.
 *
 * Why no general solver. Planning asks for tails of 1e-10 to 1e-30. A solver that keeps its error
 * small beside the largest x would lose them. Here every x(i, j) is a product of what is below it,
 * so that its error is small beside itself.
 */
#include "theory/fluid.h"

#include "core/bits.h"

#include <math.h>
#include <string.h>

#define STEPS_PER_KEY 100 /* of filling, in the limit: tails of 1e-30 are good to 2e-3 */
#define STEPS_ROUGH 20    /* of filling a finite table: tails of 1e-15 are good to a tenth */
#define ROUNDS 5000       /* of churn, at most: it takes up to a hundred */
#define WARM_UP 4         /* rounds before Newton's method takes over */
#define CLOSE 1e-8        /* relative change of all tails in a round at which churn is at rest */
#define NOTHING 1e-305    /* smaller numbers have lost their digits */
#define FAINT 1e-50       /* smaller tails are not followed upward: nobody asks for such a chance */
#define FULL (1 - 1e-13)  /* larger shares are 1: what is missing does not matter */

/* ------------------------------------------------------------------ levels */

/* The highest level that is worth following: tails more than 24 keys above the mean are nothing. */
static unsigned highest_level(double load) {
    return (unsigned)fmin(FLUID_MAX_HEIGHT, ceil(load) + 24);
}

/* The table at the start: no bucket has a key, all have "at least 0". */
static void start_empty(unsigned tables, double load, double buckets, fluid *ret_fluid) {
    *ret_fluid = (fluid){ .tables = tables, .load = load, .least = fmin(1, 1 / buckets) };
    for (unsigned i = 0; i < tables; i++) ret_fluid->x[i][0] = 1;
}

/* prod k>i x(k, j-1) for each i, the last factor of p(i, j) in fluid.h; below[k] is x(k, j-1). */
TAMIS_INLINE void products_right(unsigned tables, const double *below, double *ret_right) {
    double product = 1;
    for (unsigned i = tables; i-- > 0;) {
        ret_right[i] = product;
        product *= below[i];
    }
}

/* Split an x(i, j) of a finite table into chance times share ("Finite tables" in fluid.h).
 *
 * The caller goes upward through all levels, from left to right in each. `chance` is the
 * probability of all rare events that it has met so far, 1 at the start. If x is at least one
 * bucket given these events, its share is x / chance. If it is less, that there is such a bucket is
 * one more rare event: the chance becomes smaller, and the share is that of one bucket. */
TAMIS_INLINE double split_share(double x, double least, double *chance) {
    if (x >= least * *chance && *chance > NOTHING) return *chance < 1 ? x / *chance : x;
    *chance = x / least;
    return least;
}

/* ------------------------------------------------------------------ filling */

/* The levels that change in a step: all buckets have those below, and none comes to those above. */
typedef struct span {
    unsigned first, last;
} span;

/* Levels that are as good as full are set to 1, and left out from then on. At the top, a step of
 * Runge and Kutta has four parts, each of which may reach one level more: so the last level is the
 * third above the highest that buckets have. The leftmost buckets are the fullest. */
static span changing_levels(fluid *law) {
    unsigned const end = law->least > 0 ? highest_level(law->load) : FLUID_MAX_HEIGHT;
    span           s = { 1, 4 };
    while (s.last < end && law->x[0][s.last - 3] > FAINT) s.last++;
    for (; s.first < s.last && law->x[law->tables - 1][s.first] > FULL; s.first++) {
        for (unsigned i = 0; i < law->tables; i++) law->x[i][s.first] = 1;
    }
    return s;
}

/* What the level below hands up: its shares, and the chance of all rare events so far. */
typedef struct level_below {
    double chance, share[FLUID_MAX_TABLES];
} level_below;

/* Below the first level: all buckets. */
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
    products_right(tables, below->share, right);
    for (unsigned i = 0; i < tables; i++) {
        double const x = law->x[i][j], more = below->chance * below->share[i] - x;
        ret_slope[i] = more > 0 ? left * right[i] * more : 0;
        below->share[i] = split_share(x, law->least, &below->chance);
        left *= below->share[i];
    }
}

/* One step of Euler's method, in place. */
static void euler_step(fluid *law, span over, double step) {
    level_below below = full_level(law->tables);
    double      slope[FLUID_MAX_TABLES];
    for (unsigned j = over.first; j <= over.last; j++) {
        growth(law, law->tables, j, &below, slope);
        for (unsigned i = 0; i < law->tables; i++) law->x[i][j] += step * slope[i];
    }
}

/* The growth of all levels of a step. */
typedef struct slopes {
    double of[FLUID_MAX_TABLES][FLUID_MAX_HEIGHT + 2];
} slopes;

/* The first level that has a share of less than one bucket, which growth() splits; the level after
 * the last, if there is none. Shares fall from level to level, so they are looked at from the top
 * down. */
TAMIS_INLINE unsigned first_rare(const fluid *law, unsigned tables, span over) {
    unsigned rare = over.last + 1;
    for (bool is_rare = true; is_rare && rare > over.first; rare -= is_rare) {
        is_rare = false;
        for (unsigned i = 0; i < tables; i++)
            is_rare = is_rare || !(law->x[i][rare - 1] >= law->least);
    }
    return rare;
}

/* Two neighbours of an array of doubles. The compiler has instructions for two at a time on every
 * processor that tamis has a build for, and does without them on others. */
typedef double  two __attribute__((vector_size(16)));
typedef int64_t two_masks __attribute__((vector_size(16)));

TAMIS_INLINE two two_at(const double *x) {
    two pair;
    memcpy(&pair, x, sizeof pair);
    return pair;
}

/* growth() of the levels from `first` to before `rare`, where nothing is split. Levels do not wait
 * for each other here, so two of them are computed at a time. The one after the last may be written
 * too, with a number that means nothing. */
TAMIS_INLINE void plain_growth(const fluid *law, unsigned tables, unsigned first, unsigned rare,
                               slopes *ret_slopes) {
    for (unsigned j = first; j < rare; j += 2) {
        two below[FLUID_MAX_TABLES], right[FLUID_MAX_TABLES], left = { tables, tables };
        for (unsigned i = 0; i < tables; i++) below[i] = two_at(&law->x[i][j - 1]);
        right[tables - 1] = (two){ 1, 1 };
        for (unsigned i = tables - 1; i-- > 0;) right[i] = right[i + 1] * below[i + 1];
        for (unsigned i = 0; i < tables; i++) {
            two const x = two_at(&law->x[i][j]), more = below[i] - x;
            two const grown = (two)((two_masks)more & (two_masks)(more > 0)); /* or 0 */
            two const slope = left * right[i] * grown;
            memcpy(&ret_slopes->of[i][j], &slope, sizeof slope);
            left *= x;
        }
    }
}

/* And of the levels from `rare` on. */
TAMIS_INLINE void rare_growth(const fluid *law, unsigned tables, span over, unsigned rare,
                              slopes *ret_slopes) {
    level_below below = full_level(tables);
    double      slope[FLUID_MAX_TABLES];
    for (unsigned i = 0; i < tables && rare > over.first; i++) below.share[i] = law->x[i][rare - 1];
    for (unsigned j = rare; j <= over.last; j++) {
        growth(law, tables, j, &below, slope);
        for (unsigned i = 0; i < tables; i++) ret_slopes->of[i][j] = slope[i];
    }
}

TAMIS_INLINE void slopes_with(unsigned tables, const fluid *law, span over, slopes *ret_slopes) {
    unsigned const rare = first_rare(law, tables, over);
    plain_growth(law, tables, over.first, rare, ret_slopes);
    rare_growth(law, tables, over, rare, ret_slopes);
}

/* The numbers of subtables that are planned for have instances of their own: loops over them have a
 * constant length. */
static void find_slopes(const fluid *law, span over, slopes *ret_slopes) {
    switch (law->tables) {
    case 2: slopes_with(2, law, over, ret_slopes); break;
    case 3: slopes_with(3, law, over, ret_slopes); break;
    case 4: slopes_with(4, law, over, ret_slopes); break;
    default: slopes_with(law->tables, law, over, ret_slopes); break;
    }
}

/* One of the four parts of a step of Runge and Kutta. The slope is taken at the point `at`; `sum`
 * grows by `weight` of it, and `tried` becomes the point that is `ahead` from the beginning. Not
 * inlined: the stack frame of its caller would be larger than 16 KiB. */
static __attribute__((noinline)) void runge_kutta_part(const fluid *begin, span over, double weight,
                                                       double ahead, const fluid *at, fluid *sum,
                                                       fluid *tried) {
    slopes all;
    find_slopes(at, over, &all);
    for (unsigned i = 0; i < begin->tables; i++) {
        const double *const before = at == begin ? begin->x[i] : sum->x[i];
        for (unsigned j = over.first; j <= over.last; j += 2) {
            two const slope = two_at(&all.of[i][j]);
            two const total = two_at(&before[j]) + weight * slope;
            two const next = two_at(&begin->x[i][j]) + ahead * slope;
            memcpy(&sum->x[i][j], &total, sizeof total);
            memcpy(&tried->x[i][j], &next, sizeof next);
        }
    }
}

/* One step of Runge and Kutta's method of the fourth order. In `tried` and `sum`, only the levels
 * that change are written and read, and the one below them, which is full. Not inlined: with the
 * fluid of its caller, the stack frame would be larger than 16 KiB. */
static __attribute__((noinline)) void runge_kutta(fluid *law, double step) {
    span const over = changing_levels(law);
    fluid      tried, sum;
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

void tamis_fluid_go_on(fluid *law, double load) {
    double const more = load - law->load;
    double const steps = ceil(more * (law->least > 0 ? STEPS_ROUGH : STEPS_PER_KEY));
    law->load = load;
    for (double i = 0; i < steps; i++) runge_kutta(law, more / steps);
}

void tamis_fluid_fill(unsigned tables, double load, double buckets, fluid *ret_fluid) {
    start_empty(tables, 0, buckets, ret_fluid);
    tamis_fluid_go_on(ret_fluid, load);
}

/* A key raises the mean load by 1 / (d B): that is one step of Euler's method. */
void tamis_fluid_few(unsigned tables, double buckets, unsigned keys, fluid *ret_fluid) {
    double const step = 1 / (tables * buckets);
    start_empty(tables, keys * step, INFINITY, ret_fluid);
    for (unsigned i = 0; i < keys; i++) euler_step(ret_fluid, changing_levels(ret_fluid), step);
}

/* ------------------------------------------------------------------ churn */

/* Solve the balance of fluid.h, d p(i, j) = j (x(i, j) - x(i, j+1)) / load, for x(i, j), from left
 * to right at one level j:
 *
 *     x(i, j) = (x(i, j+1) + pull x(i, j-1)) / (1 + pull)
 *     pull    = d load / j  prod k<i x(k, j)  prod k>i x(k, j-1)
 *
 * Returns whether any of them is still moving. */
static bool settle_level(fluid *law, unsigned j) {
    bool   is_moving = false;
    double left = law->tables * law->load / j;
    double below[FLUID_MAX_TABLES], right[FLUID_MAX_TABLES];
    for (unsigned i = 0; i < law->tables; i++) below[i] = law->x[i][j - 1];
    products_right(law->tables, below, right);
    for (unsigned i = 0; i < law->tables; i++) {
        double *const x = law->x[i];
        double const  pull = left * right[i];
        double const  next = (x[j + 1] + pull * x[j - 1]) / (1 + pull);
        is_moving = is_moving || (next > NOTHING && fabs(next - x[j]) > CLOSE * next);
        x[j] = next;
        left *= next;
    }
    return is_moving;
}

/* Bring the sum of all tails back to the mean load. Levels look at their neighbours only, so by
 * themselves they would take thousands of rounds for it. What is missing (or is too much) is spread
 * over the levels as new keys would be. */
static void settle_load(fluid *law, unsigned height) {
    span const all = { 1, height };
    double     sum = 0;
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned j = 1; j <= height; j++) sum += law->x[i][j];
    }
    euler_step(law, all, law->load - sum / law->tables);
}

/* ------------------------------------------------------------------ churn, by Newton's method
 *
 * Rounds of settle_level come to rest slowly: where most buckets are, each level waits for its
 * neighbours. Newton's method moves all levels at once, and doubles the digits in each step. The
 * equations of level j, F(i) = 0, are those of settle_level:
 *
 *     F(i) = x(i, j) - x(i, j+1) - pull(i) (x(i, j-1) - x(i, j))
 *
 * They hold x of three levels, so a step is the solution of a system with three diagonals of small
 * matrices. It is solved from the top down: what level j moves by is given[j] less ratio[j] times
 * what level j - 1 moves by. Rounds follow it, so that tails keep all their digits. */

#define NEWTON_TABLES 4
#define NEWTON_LEVELS 64

typedef struct newton {
    double given[NEWTON_LEVELS + 2][NEWTON_TABLES];
    double ratio[NEWTON_LEVELS + 2][NEWTON_TABLES][NEWTON_TABLES];
} newton;

/* The equations of level j: the matrix of its own x, with ratio[j + 1] of the level above; on the
 * right, the matrix of the level below, and -F in the last column. */
static void newton_level(const fluid *law, unsigned j, const newton *all,
                         double own[][NEWTON_TABLES], double right[][NEWTON_TABLES + 1]) {
    unsigned const d = law->tables;
    double         left = d * law->load / j, below[FLUID_MAX_TABLES], after[FLUID_MAX_TABLES];
    for (unsigned i = 0; i < d; i++) below[i] = law->x[i][j - 1];
    products_right(d, below, after);
    for (unsigned i = 0; i < d; i++) {
        const double *const x = law->x[i];
        double const        pull = left * after[i], step = x[j - 1] - x[j];
        for (unsigned k = 0; k < d; k++) {
            own[i][k] = all->ratio[j + 1][i][k] + (k < i ? -pull / law->x[k][j] * step : 0);
            right[i][k] = k > i ? -pull / below[k] * step : 0;
        }
        own[i][i] += 1 + pull;
        right[i][i] = -pull;
        right[i][d] = x[j + 1] - x[j] + pull * step + all->given[j + 1][i];
        left *= x[j];
    }
}

/* Gauss's elimination, in place: `right` becomes the solution. The diagonal is more than 1, and
 * larger than all that is beside it, so no rows are exchanged. */
static void newton_solve(unsigned d, double own[][NEWTON_TABLES],
                         double right[][NEWTON_TABLES + 1]) {
    for (unsigned pivot = 0; pivot < d; pivot++) {
        for (unsigned i = 0; i < d; i++) {
            double const factor = own[i][pivot] / own[pivot][pivot];
            if (i == pivot) continue;
            for (unsigned k = pivot; k < d; k++) own[i][k] -= factor * own[pivot][k];
            for (unsigned k = 0; k <= d; k++) right[i][k] -= factor * right[pivot][k];
        }
    }
    for (unsigned i = 0; i < d; i++) {
        for (unsigned k = 0; k <= d; k++) right[i][k] /= own[i][i];
    }
}

/* Move all levels up to `height`. An x stays between 0 and the one below it. */
static void newton_move(fluid *law, unsigned height, const newton *all) {
    double moved[NEWTON_TABLES] = { 0 }; /* of the level below */
    for (unsigned j = 1; j <= height; j++) {
        double next[NEWTON_TABLES];
        for (unsigned i = 0; i < law->tables; i++) {
            double *const x = law->x[i];
            next[i] = all->given[j][i];
            for (unsigned k = 0; k < law->tables; k++) next[i] -= all->ratio[j][i][k] * moved[k];
            x[j] = fmin(x[j - 1], fmax(x[j] / 16, x[j] + next[i]));
        }
        for (unsigned i = 0; i < law->tables; i++) moved[i] = next[i];
    }
}

/* The levels that a step moves: where tails are faint, a round finds them from those below. */
static unsigned newton_height(const fluid *law, unsigned last) {
    unsigned height = 1;
    while (height < last && law->x[law->tables - 1][height + 1] > FAINT) height++;
    return height;
}

/* One step, of all levels up to `height`. */
static __attribute__((noinline)) void newton_step(fluid *law, unsigned height) {
    newton all;
    for (unsigned i = 0; i < law->tables; i++) {
        all.given[height + 1][i] = 0;
        for (unsigned k = 0; k < law->tables; k++) all.ratio[height + 1][i][k] = 0;
    }
    for (unsigned j = height; j >= 1; j--) {
        double own[NEWTON_TABLES][NEWTON_TABLES], right[NEWTON_TABLES][NEWTON_TABLES + 1];
        newton_level(law, j, &all, own, right);
        newton_solve(law->tables, own, right);
        for (unsigned i = 0; i < law->tables; i++) {
            all.given[j][i] = right[i][law->tables];
            for (unsigned k = 0; k < law->tables; k++) all.ratio[j][i][k] = right[i][k];
        }
    }
    newton_move(law, height, &all);
}

/* ------------------------------------------------------------------ churn, at rest */

/* From the limit to a table of finite buckets. From the first tail below one bucket on, each
 * x(i, j) is computed again from the level below, as chance times share; the level above it, which
 * is rarer still, is left out of the balance. */
static void make_finite(fluid *law, double least) {
    double chance = 1, below[FLUID_MAX_TABLES], right[FLUID_MAX_TABLES];
    bool   is_rare = false;
    law->least = least;
    for (unsigned i = 0; i < law->tables; i++) below[i] = 1;
    for (unsigned j = 1; j <= highest_level(law->load); j++) {
        double left = law->tables * law->load / j;
        products_right(law->tables, below, right);
        for (unsigned i = 0; i < law->tables; i++) {
            double const pull = left * right[i];
            is_rare = is_rare || law->x[i][j] < least;
            if (is_rare) law->x[i][j] = chance * fmax(law->x[i][j], pull * below[i] / (1 + pull));
            below[i] = split_share(law->x[i][j], least, &chance);
            left *= below[i];
        }
    }
}

/* Start with buckets that all have the mean load, rounded up or down. Then settle all levels that
 * have any buckets, and the load, until nothing moves; at last, make it finite. */
void tamis_fluid_churn(unsigned tables, double load, double buckets, fluid *ret_fluid) {
    start_empty(tables, load, INFINITY, ret_fluid);
    for (unsigned i = 0; i < tables; i++) {
        for (unsigned j = 1; j <= ceil(load); j++) ret_fluid->x[i][j] = fmin(1, load + 1 - j);
    }
    bool is_moving = true;
    for (unsigned round = 0; round < ROUNDS && is_moving; round++) {
        unsigned j = 0;
        is_moving = false;
        do {
            is_moving = settle_level(ret_fluid, ++j) || is_moving;
        } while (j < highest_level(load) && ret_fluid->x[0][j] > NOTHING);
        if (round >= WARM_UP && tables <= NEWTON_TABLES && j <= NEWTON_LEVELS)
            newton_step(ret_fluid, newton_height(ret_fluid, j));
        else
            settle_load(ret_fluid, j);
    }
    make_finite(ret_fluid, fmin(1, 1 / buckets));
}

void tamis_fluid_law(unsigned tables, bool is_churned, double load, double buckets,
                     fluid *ret_fluid) {
    if (is_churned)
        tamis_fluid_churn(tables, load, buckets, ret_fluid);
    else
        tamis_fluid_fill(tables, load, buckets, ret_fluid);
}

/* ------------------------------------------------------------------ asking */

double tamis_fluid_share(const fluid *law, unsigned j) {
    double sum = 0;
    for (unsigned i = 0; i < law->tables; i++) sum += law->x[i][j];
    return sum / law->tables;
}

/* prod i x(i, j), with the shares of level j given all that is rare, times the chance of that. */
double tamis_fluid_all(const fluid *law, unsigned j) {
    double chance = 1, product = 1;
    for (unsigned level = 1; level <= j; level++) {
        product = 1;
        for (unsigned i = 0; i < law->tables; i++) {
            product *= split_share(law->x[i][level], law->least, &chance);
        }
    }
    return chance * product;
}

/* Keys per bucket of subtable i are the sum of its tails, so that is its share of all keys. */
double tamis_fluid_tables_read(const fluid *law, unsigned last) {
    double mean = 0, keys = 0;
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned j = 1; j <= last; j++) {
            mean += (i + 1) * law->x[i][j];
            keys += law->x[i][j];
        }
    }
    return keys > 0 ? mean / keys : 1;
}

/* ------------------------------------------------------------------ the load for a chance */

/* One filling finds it: the chance rises with the load, so the first load at which it is too large
 * is the end. The number of buckets is that at the limit: a few less than there will be, which is
 * safe. */
double tamis_fluid_fill_load(unsigned tables, unsigned j, double chance, double n, double limit) {
    double const step = 1.0 / STEPS_ROUGH;
    fluid        law;
    start_empty(tables, 0, n / (limit * tables), &law);
    for (; law.load < limit; law.load += step) {
        runge_kutta(&law, step);
        if (tamis_fluid_all(&law, j) > chance) return law.load;
    }
    return limit;
}

/* The chance rises with the load, so j rises, too. */
unsigned tamis_fluid_fill_cells(unsigned tables, double load, double chance, double n,
                                unsigned most, double *ret_less) {
    unsigned j = 1;
    double   step = 1.0 / STEPS_ROUGH, less = 0;
    fluid    law;
    start_empty(tables, 0, n / (load * tables), &law);
    for (; law.load < load; law.load += step) {
        step = fmin(step, load - law.load);
        runge_kutta(&law, step);
        for (; j < most && tamis_fluid_all(&law, j) > chance; j++) less = law.load;
    }
    *ret_less = less;
    return j;
}

/* ln of how many times too large the chance is under churn at a load; it rises with the load. */
static double churn_excess(unsigned tables, unsigned j, double chance, double n, double load) {
    fluid law;
    tamis_fluid_churn(tables, load, n / (load * tables), &law);
    return log(fmax(tamis_fluid_all(&law, j), NOTHING) / chance);
}

/* Find where the excess is zero. Between a load that is fine and one that is not, try next where
 * the straight line between their excesses crosses zero, but at least a tenth of the way from
 * either end, so that both ends close in. Stops at 0.2%, and returns the load that is fine. */
double tamis_fluid_churn_load(unsigned tables, unsigned j, double chance, double n, double limit) {
    double low = 0, high = limit, e_low = log(NOTHING / chance);
    double e_high = churn_excess(tables, j, chance, n, high);
    if (e_high <= 0) return limit;
    while (high - low > 2e-3 * high) {
        double const part = fmin(0.9, fmax(0.1, e_low / (e_low - e_high)));
        double const load = low + part * (high - low), e = churn_excess(tables, j, chance, n, load);
        *(e <= 0 ? &low : &high) = load;
        *(e <= 0 ? &e_low : &e_high) = e;
    }
    return low;
}
