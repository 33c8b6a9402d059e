/* commands.h - all commands, and what several of them need. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "lines.h"
#include "options.h"

extern const command command_plan, command_kinds;                      /* cmd_plan.c */
extern const command command_build, command_add, command_remove;       /* cmd_build.c */
extern const command command_has, command_count;                       /* cmd_query.c */
extern const command command_dedup;                                    /* cmd_dedup.c */
extern const command command_info, command_verify;                     /* cmd_file.c */
extern const command command_merge, command_subtract, command_convert; /* cmd_merge.c */
extern const command command_send, command_receive;                    /* cmd_send.c */

/* tamis plan with --values (cmd_plan_states.c). */
int plan_states_run(const options *asked);

/* The keys of a command whose first operand is a set (or, with `first` 0, nothing but keys). */
void keys_open(lines *ret_lines, const options *asked, size_t first);

/* An empty set, or the end. */
tamis_set *set_create(const tamis_spec *spec);

/* End the program with what the library says of a spec, and what to do. */
_Noreturn void die_of_spec(const tamis_problem *problem);

const char *plural(uint64_t n, const char *one, const char *many);

/* Print the lines whose answer is the wanted one. */
void print_chosen(const tamis_key *keys, const bool *answers, size_t n, bool wanted);

/* "remove and count", for abilities; "" for none. */
typedef char abilities_text[32];
void         abilities_name(unsigned abilities, abilities_text ret_text);

/* Parts of JSON objects: what a set can do; and its geometry, sizes and probabilities. */
void json_abilities(unsigned abilities);
void json_forecast(const tamis_plan *plan);

/* A set that can neither remove nor count does not see which keys two of them share. */
bool is_bound_after_merge(const tamis_plan *plan);

#endif
