/* fluid.c - see fluid.h.
 *
 * Idea. The state is the table of tails x(i, j), the share of the buckets of subtable i with at
 * least j keys. Filling follows the differential equation of fluid.h in small steps of the mean
 * load (fluid_steps.c). Churn looks for the state at which arrivals and removals are equal, by
 * solving for one x(i, j) after the other until none moves any more. Both work upward, one level j
 * after the other: a level depends on the one below it, and under churn also on the one above.
 *
 * Why no general solver. Planning asks for tails of 1e-10 to 1e-30. A solver that keeps its error
 * small beside the largest x would lose them. Here every x(i, j) is a product of what is below it,
 * so that its error is small beside itself.
 */
#include "theory/fluid.h"

#include "theory/fluid_steps.h"

#include <string.h>

#define STEPS_PER_KEY 100 /* of filling, in the limit: tails of 1e-30 are good to 2e-3 */
#define STEPS_ROUGH 20    /* of filling a finite table: tails of 1e-15 are good to a tenth */
#define FLUID_ROUNDS 5000 /* of churn, at most: it takes up to a hundred */
#define WARM_UP 4         /* rounds before Newton's method takes over */
#define CLOSE 1e-8        /* relative change of all tails in a round at which churn is at rest */

/* ------------------------------------------------------------------ filling */

/* The table at the start: no bucket has a key, all have "at least 0". */
static void start_empty(unsigned tables, double load, double buckets, fluid *ret_fluid) {
    *ret_fluid = (fluid){ .tables = tables, .load = load, .least = fmin(1, 1 / buckets) };
    for (unsigned i = 0; i < tables; i++) ret_fluid->x[i][0] = 1;
}

/* From this load on, one key more per bucket moves all tails up by one level and changes nothing
 * else: as many buckets as before are 1, 2, ... keys above or below the mean. The equation of
 * fluid.h knows a level only by its neighbours, so what repeats itself once does so for ever.
 *
 * More subtables make loads more even, so they need fewer keys until then. With these loads the
 * logarithms of all tails are within 3e-3 of what steps alone would make them in finite tables, and
 * within 3e-5 in the limit (tests/theory/test_fluid.c). In a single subtable loads become more and
 * more uneven, and it never holds. */
static double wave_load(const fluid *law) {
    static const double finite[] = { INFINITY, INFINITY, 19, 7, 5 };
    static const double limit[] = { INFINITY, INFINITY, 33, 12, 7 };
    unsigned const      tables = law->tables < 4 ? law->tables : 4;
    return law->least > 0 ? finite[tables] : limit[tables];
}

/* Move all tails up by this many levels. */
static void raise_wave(fluid *law, unsigned levels) {
    for (unsigned i = 0; i < law->tables; i++) {
        double *const x = law->x[i];
        memmove(&x[levels], &x[0], sizeof law->x[i] - levels * sizeof x[0]);
        for (unsigned j = 0; j < levels; j++) x[j] = 1;
    }
    law->load += levels;
}

void tamis_fluid_go_on(fluid *law, double load) {
    double const   from = fmax(law->load, wave_load(law));
    unsigned const whole = load > from ? (unsigned)(load - from) : 0;
    double const   more = load - whole - law->load;
    double const   steps = ceil(more * (law->least > 0 ? STEPS_ROUGH : STEPS_PER_KEY));
    law->load = load - whole;
    for (double i = 0; i < steps; i++) tamis_fluid_runge_kutta(law, more / steps);
    raise_wave(law, whole);
}

void tamis_fluid_fill(unsigned tables, double load, double buckets, fluid *ret_fluid) {
    start_empty(tables, 0, buckets, ret_fluid);
    tamis_fluid_go_on(ret_fluid, load);
}

/* A key raises the mean load by 1 / (d B): that is one step of Euler's method. */
void tamis_fluid_few(unsigned tables, double buckets, unsigned keys, fluid *ret_fluid) {
    double const step = 1 / (tables * buckets);
    start_empty(tables, keys * step, INFINITY, ret_fluid);
    for (unsigned i = 0; i < keys; i++)
        tamis_fluid_euler(ret_fluid, tamis_fluid_changing(ret_fluid), step);
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
    fluid_products_right(law->tables, below, right);
    for (unsigned i = 0; i < law->tables; i++) {
        double *const x = law->x[i];
        double const  pull = left * right[i];
        double const  next = (x[j + 1] + pull * x[j - 1]) / (1 + pull);
        is_moving = is_moving || (next > FLUID_NOTHING && fabs(next - x[j]) > CLOSE * next);
        x[j] = next;
        left *= next;
    }
    return is_moving;
}

/* Bring the sum of all tails back to the mean load. Levels look at their neighbours only, so by
 * themselves they would take thousands of rounds for it. What is missing (or is too much) is spread
 * over the levels as new keys would be. */
static void settle_load(fluid *law, unsigned height) {
    fluid_span const all = { 1, height };
    double           sum = 0;
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned j = 1; j <= height; j++) sum += law->x[i][j];
    }
    tamis_fluid_euler(law, all, law->load - sum / law->tables);
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
 * right, the matrix of the level below, and -F in the last column. Inlined, like the two functions
 * after it, so that the loops have a constant length where `d` is a constant. */
TAMIS_INLINE void newton_level(const fluid *law, unsigned d, unsigned j, const newton *all,
                               double own[][NEWTON_TABLES], double right[][NEWTON_TABLES + 1]) {
    double left = d * law->load / j, below[FLUID_MAX_TABLES], after[FLUID_MAX_TABLES];
    for (unsigned i = 0; i < d; i++) below[i] = law->x[i][j - 1];
    fluid_products_right(d, below, after);
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
TAMIS_INLINE void newton_solve(unsigned d, double own[][NEWTON_TABLES],
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

/* given[] and ratio[] of all levels up to `height`, from the top down. */
TAMIS_INLINE void newton_solve_all(const fluid *law, unsigned d, unsigned height, newton *ret_all) {
    for (unsigned i = 0; i < d; i++) {
        ret_all->given[height + 1][i] = 0;
        for (unsigned k = 0; k < d; k++) ret_all->ratio[height + 1][i][k] = 0;
    }
    for (unsigned j = height; j >= 1; j--) {
        double own[NEWTON_TABLES][NEWTON_TABLES], right[NEWTON_TABLES][NEWTON_TABLES + 1];
        newton_level(law, d, j, ret_all, own, right);
        newton_solve(d, own, right);
        for (unsigned i = 0; i < d; i++) {
            ret_all->given[j][i] = right[i][d];
            for (unsigned k = 0; k < d; k++) ret_all->ratio[j][i][k] = right[i][k];
        }
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
    while (height < last && law->x[law->tables - 1][height + 1] > FLUID_FAINT) height++;
    return height;
}

/* One step, of all levels up to `height`. Planning takes 2 to 4 subtables; each has an instance. */
static __attribute__((noinline)) void newton_step(fluid *law, unsigned height) {
    newton all;
    switch (law->tables) {
    case 2: newton_solve_all(law, 2, height, &all); break;
    case 3: newton_solve_all(law, 3, height, &all); break;
    case 4: newton_solve_all(law, 4, height, &all); break;
    default: newton_solve_all(law, law->tables, height, &all); break;
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
    for (unsigned j = 1; j <= fluid_highest_level(law->load); j++) {
        double left = law->tables * law->load / j;
        fluid_products_right(law->tables, below, right);
        for (unsigned i = 0; i < law->tables; i++) {
            double const pull = left * right[i];
            is_rare = is_rare || law->x[i][j] < least;
            if (is_rare) law->x[i][j] = chance * fmax(law->x[i][j], pull * below[i] / (1 + pull));
            below[i] = fluid_split_share(law->x[i][j], least, &chance);
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
    for (unsigned round = 0; round < FLUID_ROUNDS && is_moving; round++) {
        unsigned j = 0;
        is_moving = false;
        do {
            is_moving = settle_level(ret_fluid, ++j) || is_moving;
        } while (j < fluid_highest_level(load) && ret_fluid->x[0][j] > FLUID_NOTHING);
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
            product *= fluid_split_share(law->x[i][level], law->least, &chance);
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

/* Raise the wave by as many keys per bucket as keep the chance. */
static void skip_fine_loads(fluid *law, unsigned j, double chance, double limit) {
    unsigned levels = 0;
    while (levels + 1 < j && law->load + levels + 1 < limit &&
           tamis_fluid_all(law, j - levels - 1) <= chance)
        levels++;
    raise_wave(law, levels);
}

/* One filling finds it: the chance rises with the load, so the first load at which it is too large
 * is the end. The number of buckets is that at the limit: a few less than there will be, which is
 * safe. */
double tamis_fluid_fill_load(unsigned tables, unsigned j, double chance, double n, double limit) {
    double const step = 1.0 / STEPS_ROUGH;
    fluid        law;
    start_empty(tables, 0, n / (limit * tables), &law);
    for (; law.load < limit; law.load += step) {
        if (law.load >= wave_load(&law)) skip_fine_loads(&law, j, chance, limit);
        tamis_fluid_runge_kutta(&law, step);
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
        unsigned const whole = law.load >= wave_load(&law) ? (unsigned)(load - law.load) : 0;
        if (whole > 0 && j + whole < most) {
            raise_wave(&law, whole);
            j += whole;
            less += whole;
        }
        step = fmin(step, load - law.load);
        tamis_fluid_runge_kutta(&law, step);
        for (; j < most && tamis_fluid_all(&law, j) > chance; j++) less = law.load;
    }
    *ret_less = less;
    return j;
}

/* ln of how many times too large the chance is under churn at a load; it rises with the load. */
static double churn_excess(unsigned tables, unsigned j, double chance, double n, double load) {
    fluid law;
    tamis_fluid_churn(tables, load, n / (load * tables), &law);
    return log(fmax(tamis_fluid_all(&law, j), FLUID_NOTHING) / chance);
}

/* Find where the excess is zero. Between a load that is fine and one that is not, try next where
 * the straight line between their excesses crosses zero, but at least a tenth of the way from
 * either end, so that both ends close in. Stops at 0.2%, and returns the load that is fine: 0 if
 * the chance is so small that no load is known to be. */
double tamis_fluid_churn_load(unsigned tables, unsigned j, double chance, double n, double limit) {
    if (chance < FLUID_NOTHING) return 0;
    double low = 0, high = limit, e_low = log(FLUID_NOTHING / chance);
    double e_high = churn_excess(tables, j, chance, n, high);
    if (e_high <= 0) return limit;
    while (high - low > 2e-3 * high) {
        double const part = fmin(0.9, fmax(0.1, e_low / (e_low - e_high)));
        double const load = low + part * (high - low), e = churn_excess(tables, j, chance, n, load);
        if (e <= 0)
            low = load;
        else
            high = load;
        if (e <= 0)
            e_low = e;
        else
            e_high = e;
    }
    return low;
}
