/* stage_rows.h - the stages of a set or of states that grow, for 'tamis plan --grow-to'. */
#ifndef CLI_STAGE_ROWS_H
#define CLI_STAGE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include <tamis/tamis.h>

#include "columns.h"

#define STAGES_MAX (TABLE_ROWS - 1)

typedef struct stage_rows {
    tamis_plan    rows[STAGES_MAX];
    size_t        n; /* 0: it does not grow, or no kind can; then `problem` says why */
    tamis_problem problem;
} stage_rows;

/* Nothing is planned for a spec without grow_to. */
void stages_make(const tamis_spec *spec, stage_rows *ret_stages);
void stages_make_states(const tamis_states_spec *spec, stage_rows *ret_stages);

/* Why a kind has no plan for a spec with grow_to: it cannot grow at all, or not that far. */
const char *stages_why_not(const char *kind, bool is_of_states);

/* Print a row for each stage; nothing if there is none. */
void stages_print(const stage_rows *stages);
void stages_json(const stage_rows *stages);

#endif
