/* planner.h - what planner.c, preference.c and plan_stages.c share. */
#ifndef TAMIS_PLANNER_H
#define TAMIS_PLANNER_H

#include "handle.h"

/* A kind and its plan for a request. plan.status says whether it can do the job. */
typedef struct tamis_candidate {
    const tamis_kind *kind;  /* NULL: none */
    size_t            order; /* of the kind in the registry */
    uint64_t          geometry[TAMIS_MAX_FIELDS];
    unsigned   stages; /* for a set that grows: geometry and plan are those of the last stage */
    bool       has_forecast;
    tamis_plan plan;
} tamis_candidate;

/* planner.c: let a kind make a plan for a set of fixed size. */
void tamis_ask_kind(const tamis_kind *kind, const tamis_request *request,
                    tamis_candidate *ret_candidate);

/* plan_stages.c: the same for a set that grows. */
void tamis_plan_growing(const tamis_kind *kind, const tamis_request *request,
                        tamis_candidate *ret_candidate);

/* plan_stages.c: the first stage of a set that grows, from the last one. _CANNOT: there is none. */
tamis_status tamis_first_stage(const tamis_choice *last, unsigned stages, tamis_choice *ret_first);

/* plan_stages.c: if the kind cannot do the job because of growth, say so, and what is possible. */
bool tamis_say_growth(const tamis_kind *kind, const tamis_request *request, tamis_problem *problem);

/* preference.c: is this kind chosen before all others, if it can do the job? */
bool tamis_may_be_first(const tamis_kind *kind, const tamis_request *request);

/* preference.c: may this kind be chosen at all? For a set that counts, kinds whose copies use up
 * capacity have to be named. */
bool tamis_may_be_chosen(const tamis_kind *kind, const tamis_request *request);

/* planner_words.c: no kind can meet the request; say what would help. Returns _CANNOT. */
tamis_status tamis_say_none_can(const tamis_request *request, tamis_problem *problem);

/* preference.c: is `one` taken rather than the best so far, which may be none? */
bool tamis_is_better(const tamis_candidate *one, const tamis_candidate *best,
                     const tamis_request *request);

#endif
