/* fluid.c - see fluid.h. */
#include "plan/fluid.h"

#include <math.h>

#define STEPS_PER_KEY 100 /* of filling: tails of 1e-30 are good to 2e-3 of themselves */
#define ROUNDS 5000       /* of churn, at most: it takes up to a hundred */
#define CLOSE 1e-10       /* the relative change of all tails in a round that is rest */
#define NOTHING 1e-305    /* smaller ones have no digits */

/* Loads that matter under churn: the tails beyond are nothing. */
static unsigned height_of(double load) {
    return (unsigned)fmin(FLUID_MAX_HEIGHT, ceil(load) + 24);
}

/* The first load that no bucket has yet. The leftmost buckets are the fullest. */
static unsigned front_of(const fluid *of) {
    unsigned j = 1;
    while (j < FLUID_MAX_HEIGHT && of->x[0][j] > NOTHING) j++;
    return j;
}

static void start_empty(unsigned tables, double load, fluid *ret_fluid) {
    *ret_fluid = (fluid){ .tables = tables, .load = load };
    for (unsigned i = 0; i < tables; i++) ret_fluid->x[i][0] = 1;
}

/* prod k>i x(k, j-1), for each i. */
static void products_right(const fluid *of, unsigned j, double *ret_right) {
    double product = 1;
    for (unsigned i = of->tables; i-- > 0;) {
        ret_right[i] = product;
        product *= of->x[i][j - 1];
    }
}

/* ------------------------------------------------------------------ filling */

static void growth(const fluid *at, unsigned height, fluid *ret_slope) {
    for (unsigned j = 1; j <= height; j++) {
        double left = at->tables, right[FLUID_MAX_TABLES];
        products_right(at, j, right);
        for (unsigned i = 0; i < at->tables; i++) {
            ret_slope->x[i][j] = left * right[i] * (at->x[i][j - 1] - at->x[i][j]);
            left *= at->x[i][j];
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

void tamis_fluid_fill(unsigned tables, double load, fluid *ret_fluid) {
    start_empty(tables, load, ret_fluid);
    double const steps = ceil(load * STEPS_PER_KEY);
    for (double i = 0; i < steps; i++) runge_kutta(ret_fluid, load / steps);
}

/* ------------------------------------------------------------------ churn */

/* x(i, j) of one load from its neighbours; returns the largest relative change. */
static double settle_level(fluid *of, unsigned j) {
    double left = of->tables * of->load / j, right[FLUID_MAX_TABLES], worst = 0;
    products_right(of, j, right);
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

/* From buckets that all have the mean load, or the next. */
void tamis_fluid_churn(unsigned tables, double load, fluid *ret_fluid) {
    start_empty(tables, load, ret_fluid);
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
}

/* ------------------------------------------------------------------ asking */

double tamis_fluid_share(const fluid *of, unsigned j) {
    double sum = 0;
    for (unsigned i = 0; i < of->tables; i++) sum += of->x[i][j];
    return sum / of->tables;
}

double tamis_fluid_all(const fluid *of, unsigned j) {
    double product = 1;
    for (unsigned i = 0; i < of->tables; i++) product *= of->x[i][j];
    return product;
}

/* ------------------------------------------------------------------ the load for a chance */

double tamis_fluid_fill_load(unsigned tables, unsigned j, double chance, double limit) {
    double const step = 1.0 / STEPS_PER_KEY;
    fluid        at;
    start_empty(tables, 0, &at);
    while (at.load < limit && tamis_fluid_all(&at, j) <= chance) {
        at.load += step;
        runge_kutta(&at, step);
    }
    return fmin(limit, at.load - step);
}

/* ln of how many times too large it is; rises with the load. */
static double excess(unsigned tables, unsigned j, double chance, double load) {
    fluid law;
    tamis_fluid_churn(tables, load, &law);
    return log(fmax(tamis_fluid_all(&law, j), NOTHING) / chance);
}

/* Between a load that is fine and one that is not, where the line between them crosses zero. */
double tamis_fluid_churn_load(unsigned tables, unsigned j, double chance, double limit) {
    double low = 0, high = limit, e_low = log(NOTHING / chance);
    double e_high = excess(tables, j, chance, high);
    if (e_high <= 0) return limit;
    while (high - low > 1e-3 * high) {
        double const part = fmin(0.9, fmax(0.1, e_low / (e_low - e_high)));
        double const load = low + part * (high - low), e = excess(tables, j, chance, load);
        *(e <= 0 ? &low : &high) = load;
        *(e <= 0 ? &e_low : &e_high) = e;
    }
    return low;
}
