/* commands.h - all commands, and functions that several of them use. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "lines.h"
#include "options.h"

extern const command command_plan, command_kinds;                      /* cmd_plan.c */
extern const command command_build;                                    /* cmd_build.c */
extern const command command_add, command_remove;                      /* cmd_add.c */
extern const command command_has, command_count;                       /* cmd_query.c */
extern const command command_dedup;                                    /* cmd_dedup.c */
extern const command command_get;                                      /* cmd_get.c */
extern const command command_info;                                     /* cmd_info.c */
extern const command command_verify;                                   /* cmd_verify.c */
extern const command command_merge, command_subtract, command_convert; /* cmd_merge.c */
extern const command command_resize;                                   /* cmd_resize.c */
extern const command command_redis;                                    /* cmd_redis.c */
extern const command command_send, command_receive;                    /* cmd_send.c */

/* tamis plan with --values (cmd_plan_states.c). */
int plan_states_run(const options *asked);

/* Open the operands from the first-th on as files of keys; if there are none, standard input. */
void keys_open(lines *ret_lines, const options *asked, size_t first);

/* Make an empty set, or end the program. */
tamis_set *set_create(const tamis_spec *spec);

/* A set that is only used for its hashes: those that any set of this seed and hash function has.
 * One thread may change that set while others hash. */
tamis_set *hasher_make(tamis_seed seed, tamis_hash hash);
tamis_set *hasher_like(const tamis_set *set);

/* End the program with what the library says about a spec, and what to do. */
_Noreturn void die_of_spec(const tamis_problem *problem);

/* Can 'tamis send' and 'tamis receive --kind' make a set of that kind of this one? Found by trying
 * (cmd_send.c). */
bool is_sent_as(const tamis_set *set, const char *kind);

const char *plural(uint64_t n, const char *one, const char *many);

/* Print the lines whose answer is the wanted one. */
void print_chosen(const tamis_key *keys, const bool *answers, size_t n, bool wanted);

/* Print the name of a file on one line, whatever is in it. */
void print_path(const char *path);

/* "remove and count", for abilities; "" for none. */
typedef char abilities_text[32];
void         abilities_name(unsigned abilities, abilities_text ret_text);

/* Parts of JSON objects: the abilities of a set; its geometry, sizes and probabilities. */
void json_abilities(unsigned abilities);
void json_forecast(const tamis_plan *plan);

#endif
