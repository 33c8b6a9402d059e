/* sabotage.h - what the tests of the laws share.
 *
 * A check that never fails proves nothing. So kinds with one function broken are tested: a law must
 * notice it. (Tables: broken.h.)
 */
#ifndef TAMIS_TESTS_SABOTAGE_H
#define TAMIS_TESTS_SABOTAGE_H

#include "broken.h"

/* ------------------------------------------------------------------ broken kinds */

/* The correct kind that the saboteurs are copies of. */
extern const tamis_kind *honest;

typedef struct saboteur {
    const char *law;
    const char *geometry; /* NULL: the subject's own */
    const char *name;
    tamis_kind  broken; /* what is not NULL here replaces the honest function */
} saboteur;

/* A saboteur that replaces `function` of the kind. */
#define SABOTEUR(law, geometry, place, function) \
    {                                            \
        law, geometry, #function, {              \
            .place = function                    \
        }                                        \
    }

/* Run these tests, and for each saboteur one more: its law holds for the subject, and fails with
 * the broken function. */
int sabotage_run(const subject *variant, const saboteur *saboteurs, size_t n_saboteurs,
                 const struct CMUnitTest *tests, size_t n_tests);

/* Broken functions for any kind that removes, counts and merges. */
bool         forgets_single_copies(const tamis_table *table, uint64_t hash);
tamis_status removes_without_looking(tamis_table *table, uint64_t hash);
uint64_t     counts_too_few(const tamis_table *table, uint64_t hash);
tamis_status merges_a_part(tamis_table *into, const tamis_table *from);
void flatters_itself(const tamis_table *table, kind_survey *ret_survey); /* of its present rate */

/* The same for kinds that have a blocked form, in which all places of a key are in one cache line:
 * bloom and counting. The first looks in the next line for some keys; the others state the rate of
 * places that are anywhere. */
bool looks_in_the_next_line(const tamis_table *table, uint64_t hash);
void surveys_as_if_anywhere(const tamis_table *table, kind_survey *ret_survey);
void predicts_as_if_anywhere(const uint64_t *geometry, const tamis_workload *work,
                             tamis_forecast *ret_forecast);

#endif
