/* fluid.c - see fluid.h. */
#include "plan/fluid.h"

#include <math.h>
#include <stdbool.h>

#define STEPS_PER_KEY 100 /* of filling: tails of 1e-30 are good to 2e-3 of themselves */
#define STEPS_ROUGH 20    /* of finite tables: tails of 1e-15 are good to a tenth */
#define ROUNDS 5000       /* of churn, at most: it takes up to a hundred */
#define CLOSE 1e-8        /* the relative change of all tails in a round that is rest */
#define NOTHING 1e-305    /* smaller ones have no digits */
#define FAINT 1e-80       /* smaller ones are no front yet: nobody asks for such a chance */

/* Loads that matter: the tails beyond are nothing. */
static unsigned height_of(double load) {
    return (unsigned)fmin(FLUID_MAX_HEIGHT, ceil(load) + 24);
}

/* Up to the third load behind the last that some bucket has: a step has four parts. The leftmost
 * buckets are the fullest. */
static unsigned front_of(const fluid *of) {
    unsigned const end = of->least > 0 ? height_of(of->load) : FLUID_MAX_HEIGHT;
    unsigned       j = 4;
    while (j < end && of->x[0][j - 3] > FAINT) j++;
    return j;
}

static void start_empty(unsigned tables, double load, double buckets, fluid *ret_fluid) {
    *ret_fluid = (fluid){ .tables = tables, .load = load, .least = fmin(1, 1 / buckets) };
    for (unsigned i = 0; i < tables; i++) ret_fluid->x[i][0] = 1;
}

/* prod k>i x(k, j-1), for each i. */
static void products_right(unsigned tables, const double *below, double *ret_right) {
    double product = 1;
    for (unsigned i = tables; i-- > 0;) {
        ret_right[i] = product;
        product *= below[i];
    }
}

/* The share that x(i, j) stands for, given all that is rare before it, whose chance is `chance`. */
static double share_of(double x, double chance) {
    if (chance >= 1) return x;
    return chance > NOTHING ? x / chance : 0;
}

/* That, or the one bucket that there is at least; then it is one more that is rare. */
static double at_least_one(double least, double share, double *chance) {
    if (share >= least) return share;
    *chance *= share / least;
    return least;
}

/* ------------------------------------------------------------------ filling */

/* The first load that some bucket has not: below, nothing grows any more. */
static unsigned bottom_of(const fluid *of) {
    unsigned j = 1;
    while (j < FLUID_MAX_HEIGHT && of->x[of->tables - 1][j] >= 1) j++;
    return j;
}

static void growth(const fluid *at, unsigned height, fluid *ret_slope) {
    double         chance = 1, below[FLUID_MAX_TABLES], right[FLUID_MAX_TABLES];
    unsigned const bottom = bottom_of(at);
    for (unsigned i = 0; i < at->tables; i++) {
        for (unsigned j = 1; j < bottom; j++) ret_slope->x[i][j] = 0;
        below[i] = 1;
    }
    for (unsigned j = bottom; j <= height; j++) {
        double left = at->tables;
        products_right(at->tables, below, right);
        for (unsigned i = 0; i < at->tables; i++) {
            double const share = share_of(at->x[i][j], chance);
            ret_slope->x[i][j] = chance * left * right[i] * fmax(0, below[i] - share);
            below[i] = at_least_one(at->least, share, &chance);
            left *= below[i];
        }
    }
}

/* to = from + step x slope. */
static void move_on(const fluid *from, unsigned height, double step, const fluid *slope,
                    fluid *to) {
    for (unsigned i = 0; i < from->tables; i++) {
        for (unsigned j = 1; j <= height; j++) {
            to->x[i][j] = from->x[i][j] + step * slope->x[i][j];
        }
    }
}

static void runge_kutta(fluid *of, double step) {
    static const double weight[4] = { 1, 2, 2, 1 }, ahead[4] = { 0.5, 0.5, 1, 0 };
    fluid               sum = *of, tried = *of, slope = *of;
    unsigned const      height = front_of(of);
    for (unsigned part = 0; part < 4; part++) {
        growth(&tried, height, &slope);
        move_on(&sum, height, step * weight[part] / 6, &slope, &sum);
        move_on(of, height, step * ahead[part], &slope, &tried);
    }
    *of = sum;
}

void tamis_fluid_go_on(fluid *of, double load) {
    double const more = load - of->load;
    double const steps = ceil(more * (of->least > 0 ? STEPS_ROUGH : STEPS_PER_KEY));
    of->load = load;
    for (double i = 0; i < steps; i++) runge_kutta(of, more / steps);
}

void tamis_fluid_fill(unsigned tables, double load, double buckets, fluid *ret_fluid) {
    start_empty(tables, 0, buckets, ret_fluid);
    tamis_fluid_go_on(ret_fluid, load);
}

void tamis_fluid_few(unsigned tables, double buckets, unsigned keys, fluid *ret_fluid) {
    double const step = 1 / (tables * buckets);
    fluid        slope;
    start_empty(tables, keys * step, INFINITY, ret_fluid);
    for (unsigned i = 0; i < keys; i++) {
        unsigned const height = front_of(ret_fluid);
        growth(ret_fluid, height, &slope);
        move_on(ret_fluid, height, step, &slope, ret_fluid);
    }
}

/* ------------------------------------------------------------------ churn */

/* x(i, j) of one load from its neighbours; returns the largest relative change. */
static double settle_level(fluid *of, unsigned j) {
    double left = of->tables * of->load / j, worst = 0;
    double below[FLUID_MAX_TABLES], right[FLUID_MAX_TABLES];
    for (unsigned i = 0; i < of->tables; i++) below[i] = of->x[i][j - 1];
    products_right(of->tables, below, right);
    for (unsigned i = 0; i < of->tables; i++) {
        double *const x = of->x[i];
        double const  pull = left * right[i];
        double const  next = (x[j + 1] + pull * x[j - 1]) / (1 + pull);
        if (next > NOTHING) worst = fmax(worst, fabs(next - x[j]) / next);
        x[j] = next;
        left *= next;
    }
    return worst;
}

/* Levels look at their neighbours only, so the load of all would take long to come right. What is
 * missing is added as hashing adds it. */
static void settle_load(fluid *of, unsigned height) {
    fluid  slope;
    double sum = 0;
    for (unsigned i = 0; i < of->tables; i++) {
        for (unsigned j = 1; j <= height; j++) sum += of->x[i][j];
    }
    growth(of, height, &slope);
    move_on(of, height, of->load - sum / of->tables, &slope, of);
}

/* From the limit to a finite table: what is rare comes from what is below it alone. */
static void make_finite(fluid *of, double least) {
    double chance = 1, below[FLUID_MAX_TABLES], right[FLUID_MAX_TABLES];
    bool   is_rare = false;
    of->least = least;
    for (unsigned i = 0; i < of->tables; i++) below[i] = 1;
    for (unsigned j = 1; j <= height_of(of->load); j++) {
        double left = of->tables * of->load / j;
        products_right(of->tables, below, right);
        for (unsigned i = 0; i < of->tables; i++) {
            double const pull = left * right[i];
            is_rare = is_rare || of->x[i][j] < least;
            if (is_rare) of->x[i][j] = chance * fmax(of->x[i][j], pull * below[i] / (1 + pull));
            below[i] = at_least_one(least, share_of(of->x[i][j], chance), &chance);
            left *= below[i];
        }
    }
}

/* From buckets that all have the mean load, or the next. */
void tamis_fluid_churn(unsigned tables, double load, double buckets, fluid *ret_fluid) {
    start_empty(tables, load, INFINITY, ret_fluid);
    for (unsigned i = 0; i < tables; i++) {
        for (unsigned j = 1; j <= ceil(load); j++) ret_fluid->x[i][j] = fmin(1, load + 1 - j);
    }
    double worst = 1;
    for (unsigned round = 0; round < ROUNDS && worst > CLOSE; round++) {
        worst = 0;
        for (unsigned j = 1; j <= height_of(load); j++) {
            worst = fmax(worst, settle_level(ret_fluid, j));
        }
        settle_load(ret_fluid, height_of(load));
    }
    make_finite(ret_fluid, fmin(1, 1 / buckets));
}

/* ------------------------------------------------------------------ asking */

double tamis_fluid_share(const fluid *of, unsigned j) {
    double sum = 0;
    for (unsigned i = 0; i < of->tables; i++) sum += of->x[i][j];
    return sum / of->tables;
}

double tamis_fluid_all(const fluid *of, unsigned j) {
    double chance = 1, product = 1;
    for (unsigned level = 1; level <= j; level++) {
        product = 1;
        for (unsigned i = 0; i < of->tables; i++) {
            product *= at_least_one(of->least, share_of(of->x[i][level], chance), &chance);
        }
    }
    return chance * product;
}

/* ------------------------------------------------------------------ the load for a chance */

/* With the buckets that there are at the limit: a few less than there will be, which is safe. */
double tamis_fluid_fill_load(unsigned tables, unsigned j, double chance, double n, double limit) {
    double const step = 1.0 / STEPS_ROUGH;
    fluid        at;
    start_empty(tables, 0, n / (limit * tables), &at);
    for (; at.load < limit; at.load += step) {
        runge_kutta(&at, step);
        if (tamis_fluid_all(&at, j) > chance) return at.load;
    }
    return limit;
}

/* ln of how many times too large it is; rises with the load. */
static double excess(unsigned tables, unsigned j, double chance, double n, double load) {
    fluid law;
    tamis_fluid_churn(tables, load, n / (load * tables), &law);
    return log(fmax(tamis_fluid_all(&law, j), NOTHING) / chance);
}

/* Between a load that is fine and one that is not, where the line between them crosses zero. */
double tamis_fluid_churn_load(unsigned tables, unsigned j, double chance, double n, double limit) {
    double low = 0, high = limit, e_low = log(NOTHING / chance);
    double e_high = excess(tables, j, chance, n, high);
    if (e_high <= 0) return limit;
    while (high - low > 2e-3 * high) {
        double const part = fmin(0.9, fmax(0.1, e_low / (e_low - e_high)));
        double const load = low + part * (high - low), e = excess(tables, j, chance, n, load);
        *(e <= 0 ? &low : &high) = load;
        *(e <= 0 ? &e_low : &e_high) = e;
    }
    return low;
}
