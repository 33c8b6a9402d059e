/* survey.h - what a kind says of its contents. */
#ifndef TAMIS_TESTS_SURVEY_H
#define TAMIS_TESTS_SURVEY_H

#include "kind.h"

static inline double survey_fpr(const tamis_kind *kind, const tamis_table *table) {
    kind_survey survey = { 0 };
    kind->survey(table, &survey);
    return survey.fpr;
}

#endif
