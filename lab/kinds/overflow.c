/* overflow.c - what happens beyond capacity: adds that are refused, entries that saturate.
 *
 * Small sets are filled until the first add is refused, many of them. The figure has the kind's own
 * forecast for this many keys beside it. At capacity both are 10^-10 or less.
 */
#include "kinds.h"

#include "frame/sets.h"
#include "handle.h"

#include <math.h>
#include <stdlib.h>

#define KEYS 1000
#define RATE 0.01
#define MOST 4   /* times the capacity */
#define RARE 0.1 /* a forecast is useful only while it is small */

typedef struct beyond_outcome {
    double refused;   /* keys that were there when the first add was refused, or infinite */
    double saturated; /* the same for the first entry that saturates */
} beyond_outcome;

static void beyond_trial(const void *given, lab_random *random, void *ret_outcome) {
    const tamis_plan *const plan = given;
    beyond_outcome *const   outcome = ret_outcome;
    char                    geometry[KINDS_GEOMETRY_BYTES];
    tamis_spec const        spec = kinds_spec(plan, geometry);
    tamis_set *const        set = sets_make(&spec, random);
    key_source const        keys = keys_of(random);
    *outcome = (beyond_outcome){ INFINITY, INFINITY };
    for (uint64_t i = 0; i < MOST * KEYS && isinf(outcome->refused); i++) {
        uint8_t key[KEY_BYTES];
        key_write(&keys, i, key);
        if (tamis_add(set, key, KEY_BYTES) != TAMIS_OK) outcome->refused = (double)i;
        if (isinf(outcome->saturated) && set->table.saturated != 0) outcome->saturated = (double)i;
    }
    tamis_free(set);
}

static beyond_outcome *run_beyond(const lab_run *run, const tamis_plan *plan, uint64_t n) {
    lab_series const series = { .stream = plan->kind,
                                .n = n,
                                .trial = beyond_trial,
                                .given = plan,
                                .outcome_bytes = sizeof(beyond_outcome) };
    return lab_trials(run, &series);
}

/* The forecast of the kind for its geometry with other numbers of keys. */
static tamis_forecast forecast_of(const tamis_plan *plan, double keys) {
    const tamis_kind *kind;
    uint64_t          geometry[TAMIS_MAX_FIELDS] = { 0 };
    tamis_forecast    told;
    if (tamis_kind_find(plan->kind, NULL, &kind) != TAMIS_OK) lab_die("no kind %s", plan->kind);
    for (unsigned i = 0; i < plan->n_fields; i++) geometry[i] = plan->fields[i].value;
    kind->predict(geometry, &(tamis_workload){ (uint64_t)keys, 1, (uint64_t)keys }, &told);
    return told;
}

/* ------------------------------------------------------------------ refused, or saturated */

/* One of the two things that can happen, over a range of loads. */
typedef struct kinds_event {
    const char *figure, *label;
    bool        is_saturation;
    double      from, to, step; /* loads, in units of the capacity */
} kinds_event;

static double share_of(const kinds_event *event, const beyond_outcome *outcomes, uint64_t n,
                       double load) {
    double share = 0;
    for (uint64_t i = 0; i < n; i++) {
        double const first = event->is_saturation ? outcomes[i].saturated : outcomes[i].refused;
        share += first < load * KEYS;
    }
    return share / (double)n;
}

static double told_of(const kinds_event *event, const tamis_forecast *told) {
    return event->is_saturation ? told->saturation : told->overflow;
}

/* At how many loads more happened than forecast, by over 4 standard errors. Counted are loads for
 * which the forecast is small, in tables that do not overflow. */
static double count_broken(const kinds_event *event, const tamis_plan *plan,
                           const beyond_outcome *outcomes, uint64_t n) {
    double broken = 0;
    for (double load = event->from; load < event->to + event->step / 2; load += event->step) {
        tamis_forecast const forecast = forecast_of(plan, load * KEYS);
        double const         told = told_of(event, &forecast);
        double const         sigma = sqrt(told * (1 - told) / (double)n);
        double const         least = 4 / (double)n; /* few events: Poisson, not normal */
        if (told > RARE || forecast.overflow > RARE) break;
        broken += share_of(event, outcomes, n, load) > told + fmax(4 * sigma, least);
    }
    return broken;
}

static void draw(lab_run *run, const kinds_event *event, const tamis_plan *plan,
                 const beyond_outcome *outcomes, uint64_t n) {
    for (double load = event->from; load < event->to + event->step / 2; load += event->step) {
        tamis_forecast const forecast = forecast_of(plan, load * KEYS);
        double const         share = share_of(event, outcomes, n, load);
        double const         sigma = sqrt(fmax(share * (1 - share), 1 / (double)n) / (double)n);
        lab_point const      point = { event->figure, plan->kind, load, told_of(event, &forecast) };
        lab_draw(run, &point);
        lab_draw_measured(run, &(lab_point){ event->figure, plan->kind, load, share }, sigma);
    }
}

/* Kinds to which it never happens are left out of the figure. */
static bool is_touched(const kinds_event *event, const tamis_plan *plan,
                       const beyond_outcome *outcomes, uint64_t n) {
    tamis_forecast const forecast = forecast_of(plan, event->to * KEYS);
    return told_of(event, &forecast) > 0.01 || share_of(event, outcomes, n, event->to) > 0;
}

static void record(lab_run *run, const kinds_event *event, const tamis_plan *plan,
                   const beyond_outcome *outcomes, uint64_t n) {
    tamis_forecast const told = forecast_of(plan, KEYS);
    double const         seen = share_of(event, outcomes, n, 1) * (double)n;
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.capacity", plan->kind),
                           .label = lab_text(run, "%s: tables with one, at capacity", plan->kind),
                           .exact = told_of(event, &told) * (double)n,
                           .measured = { .value = seen, .trials = n },
                           .rule = LAB_COUNT,
                           .tolerance = 1e-4,
                           .reason = "a count of rare events, as forecast" });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.beyond", plan->kind),
                                .label = lab_text(run, "%s: loads above the forecast", plan->kind),
                                .measured = { .value = count_broken(event, plan, outcomes, n),
                                              .trials = n },
                                .rule = LAB_EQUAL,
                                .reason = "a forecast is a bound, and may be exceeded by 4 "
                                          "standard errors" });
}

static void run_event(lab_run *run, const kinds_event *event) {
    kinds_job const job = { .capacity = KEYS, .fpr = RATE };
    uint64_t const  n = run->is_full ? 4000 : 200;
    for (size_t i = 0; i < kinds_count(); i++) {
        tamis_plan plan;
        if (!kinds_plan(tamis_kind_name(i), &job, &plan)) continue;
        beyond_outcome *const outcomes = run_beyond(run, &plan, n);
        record(run, event, &plan, outcomes, n);
        if (is_touched(event, &plan, outcomes, n)) draw(run, event, &plan, outcomes, n);
        free(outcomes);
    }
}

/* ------------------------------------------------------------------ experiments */

void kinds_overflow(lab_run *run) {
    kinds_event const event = { .figure = "overflow", .from = 1, .to = 1.6, .step = 0.02 };
    lab_describe(run, &(lab_figure){ .name = event.figure,
                                     .title = "Sets for 1000 keys that have refused an add",
                                     .x = "keys, of those that it is made for",
                                     .y = "share of sets",
                                     .remark = "Lines are forecasts, dots what happened. Kinds "
                                               "that never refuse are left out." });
    run_event(run, &event);
}

void kinds_saturation(lab_run *run) {
    kinds_event const event = {
        .figure = "saturation", .is_saturation = true, .from = 1, .to = MOST, .step = 0.1
    };
    lab_describe(run, &(lab_figure){ .name = event.figure,
                                     .title = "Sets for 1000 keys in which an entry is stuck",
                                     .x = "keys, of those that it is made for",
                                     .y = "share of sets",
                                     .remark = "Lines are forecasts, which are of use only where "
                                               "they are small; dots what happened. Kinds in "
                                               "which nothing saturates are left out." });
    run_event(run, &event);
}
