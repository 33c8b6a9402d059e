/* setfile.h - sets in files: open, save, and say what is wrong with them. */
#ifndef CLI_SETFILE_H
#define CLI_SETFILE_H

#include "options.h"

/* For questions: mapped, and checked unless --trust. */
tamis_set *setfile_map(const char *path, const options *asked);

/* For looking on, from a second place of the command line: mapped and checked. */
tamis_set *setfile_look(const char *path, const char *isa);

/* The same in memory, where it can be changed. */
tamis_set *setfile_read(const char *path, const char *isa);

/* To be changed and saved again. Other tools that want to change the file wait until this one
 * has ended, so that no change is lost. */
tamis_set *setfile_take(const char *path, const options *asked);

/* To be saved to, perhaps after hours of work: may it be (over)written? Files of keys are not
 * replaced by mistake. Others wait, as for setfile_take(). */
void setfile_check_target(const char *path, const options *asked);

void setfile_save(const tamis_set *set, const char *path);

/* All about a set; it cannot fail on a set that is one. */
void setfile_inspect(const tamis_set *set, tamis_info *ret_info);

/* End the program with what the library says of a file, and what to do. */
_Noreturn void die_of_problem(const tamis_problem *problem);

/* What to do about it, or NULL. */
const char *advice_for(const tamis_problem *problem);

/* Say so when a set that never refuses has taken more than it was made for. */
void setfile_warn_of_overload(const tamis_info *info, const char *path);

#endif
