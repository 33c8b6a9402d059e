/* fluid.c - see fluid.h. */
#include "theory/fluid.h"

#include <math.h>
#include <stdbool.h>

#define STEPS_PER_KEY 100 /* of filling: tails of 1e-30 are good to 2e-3 of themselves */
#define STEPS_ROUGH 20    /* of finite tables: tails of 1e-15 are good to a tenth */
#define ROUNDS 5000       /* of churn, at most: it takes up to a hundred */
#define CLOSE 1e-8        /* the relative change of all tails in a round that is rest */
#define NOTHING 1e-305    /* smaller ones have no digits */
#define FAINT 1e-50       /* smaller ones are no front yet: nobody asks for such a chance */
#define FULL (1 - 1e-13)  /* larger ones are at rest: what is missing does not matter */

/* Loads that matter: the tails beyond are nothing. */
static unsigned height_of(double load) {
    return (unsigned)fmin(FLUID_MAX_HEIGHT, ceil(load) + 24);
}

/* Up to the third load behind the last that some bucket has: a step has four parts. The leftmost
 * buckets are the fullest. */
static unsigned front_of(const fluid *law) {
    unsigned const end = law->least > 0 ? height_of(law->load) : FLUID_MAX_HEIGHT;
    unsigned       j = 4;
    while (j < end && law->x[0][j - 3] > FAINT) j++;
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

/* The share that x(i, j) stands for, given all that is rare before it, whose chance is `chance`; at
 * least the one bucket that there is. Then it is one more that is rare, and x = chance x share. */
static double share_of(double x, double least, double *chance) {
    if (x >= least * *chance && *chance > NOTHING) return *chance < 1 ? x / *chance : x;
    *chance = x / least;
    return least;
}

/* ------------------------------------------------------------------ filling */

/* The loads that grow: below, all buckets have them; beyond, none has and comes to. */
typedef struct span {
    unsigned first, last;
} span;

/* What is as good as full becomes so. */
static span span_of(fluid *law) {
    span s = { 1, front_of(law) };
    for (; s.first < s.last && law->x[law->tables - 1][s.first] > FULL; s.first++) {
        for (unsigned i = 0; i < law->tables; i++) law->x[i][s.first] = 1;
    }
    return s;
}

/* What the levels below leave behind for the next one: the shares x(i, j - 1), and the chance of
 * all that is rare so far. */
typedef struct rise {
    double chance, below[FLUID_MAX_TABLES];
} rise;

static rise rise_start(unsigned tables) {
    rise from = { .chance = 1 };
    for (unsigned i = 0; i < tables; i++) from.below[i] = 1;
    return from;
}

/* dx(i, j) of all subtables at one level j, the next one up. Only the levels j and j - 1 matter, so
 * whoever asks may change level j as soon as it is told. */
static void growth(const fluid *at, unsigned j, rise *from, double *ret_slope) {
    double left = at->tables, right[FLUID_MAX_TABLES];
    products_right(at->tables, from->below, right);
    for (unsigned i = 0; i < at->tables; i++) {
        double const x = at->x[i][j], more = from->chance * from->below[i] - x;
        ret_slope[i] = more > 0 ? left * right[i] * more : 0;
        from->below[i] = share_of(x, at->least, &from->chance);
        left *= from->below[i];
    }
}

/* One step of Euler's method, in place. */
static void grow(fluid *law, span over, double step) {
    rise   from = rise_start(law->tables);
    double slope[FLUID_MAX_TABLES];
    for (unsigned j = over.first; j <= over.last; j++) {
        growth(law, j, &from, slope);
        for (unsigned i = 0; i < law->tables; i++) law->x[i][j] += step * slope[i];
    }
}

/* One of the four parts of a step: with the growth at the point that was tried last, the sum goes
 * on by its weight, and the next point is `ahead` from where the step began. */
static void try_point(const fluid *begin, span over, double weight, double ahead, const fluid *at,
                      fluid *sum, fluid *tried) {
    rise   from = rise_start(begin->tables);
    double slope[FLUID_MAX_TABLES];
    for (unsigned j = over.first; j <= over.last; j++) {
        growth(at, j, &from, slope);
        for (unsigned i = 0; i < begin->tables; i++) {
            double const before = at == begin ? begin->x[i][j] : sum->x[i][j];
            sum->x[i][j] = before + weight * slope[i];
            tried->x[i][j] = begin->x[i][j] + ahead * slope[i];
        }
    }
}

/* Of all that is tried, only the loads that grow are ever written, and so read. Not inlined: with
 * the fluid of its caller, the frame would be larger than 16 KiB. */
static __attribute__((noinline)) void runge_kutta(fluid *law, double step) {
    span const over = span_of(law);
    fluid      tried, sum;
    tried.tables = law->tables;
    tried.least = law->least;
    try_point(law, over, step * 1 / 6, step * 0.5, law, &sum, &tried);
    try_point(law, over, step * 2 / 6, step * 0.5, &tried, &sum, &tried);
    try_point(law, over, step * 2 / 6, step, &tried, &sum, &tried);
    try_point(law, over, step * 1 / 6, 0, &tried, &sum, &tried);
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

void tamis_fluid_few(unsigned tables, double buckets, unsigned keys, fluid *ret_fluid) {
    double const step = 1 / (tables * buckets);
    start_empty(tables, keys * step, INFINITY, ret_fluid);
    for (unsigned i = 0; i < keys; i++) grow(ret_fluid, span_of(ret_fluid), step);
}

/* ------------------------------------------------------------------ churn */

/* x(i, j) of one load from its neighbours. Returns whether that is still a change. */
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

/* Levels look at their neighbours only, so the load of all would take long to come right. What is
 * missing is added as hashing adds it. */
static void settle_load(fluid *law, unsigned height) {
    span const all = { 1, height };
    double     sum = 0;
    for (unsigned i = 0; i < law->tables; i++) {
        for (unsigned j = 1; j <= height; j++) sum += law->x[i][j];
    }
    grow(law, all, law->load - sum / law->tables);
}

/* From the limit to a finite table: what is rare comes from what is below it alone. */
static void make_finite(fluid *law, double least) {
    double chance = 1, below[FLUID_MAX_TABLES], right[FLUID_MAX_TABLES];
    bool   is_rare = false;
    law->least = least;
    for (unsigned i = 0; i < law->tables; i++) below[i] = 1;
    for (unsigned j = 1; j <= height_of(law->load); j++) {
        double left = law->tables * law->load / j;
        products_right(law->tables, below, right);
        for (unsigned i = 0; i < law->tables; i++) {
            double const pull = left * right[i];
            is_rare = is_rare || law->x[i][j] < least;
            if (is_rare) law->x[i][j] = chance * fmax(law->x[i][j], pull * below[i] / (1 + pull));
            below[i] = share_of(law->x[i][j], least, &chance);
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
    bool is_moving = true;
    for (unsigned round = 0; round < ROUNDS && is_moving; round++) {
        unsigned j = 0;
        is_moving = false;
        do {
            is_moving = settle_level(ret_fluid, ++j) || is_moving;
        } while (j < height_of(load) && ret_fluid->x[0][j] > NOTHING);
        settle_load(ret_fluid, j);
    }
    make_finite(ret_fluid, fmin(1, 1 / buckets));
}

/* ------------------------------------------------------------------ asking */

double tamis_fluid_share(const fluid *law, unsigned j) {
    double sum = 0;
    for (unsigned i = 0; i < law->tables; i++) sum += law->x[i][j];
    return sum / law->tables;
}

double tamis_fluid_all(const fluid *law, unsigned j) {
    double chance = 1, product = 1;
    for (unsigned level = 1; level <= j; level++) {
        product = 1;
        for (unsigned i = 0; i < law->tables; i++) {
            product *= share_of(law->x[i][level], law->least, &chance);
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
