/* setfile.h - sets in files: open, save, and say what is wrong with them. */
#ifndef CLI_SETFILE_H
#define CLI_SETFILE_H

#include <stdbool.h>

#include "options.h"

/* For questions: mapped, and checked unless --trust. */
tamis_set *setfile_map(const char *path, const options *asked);

/* The same in memory, where it can be changed. */
tamis_set *setfile_read(const char *path, const options *asked);

/* To be changed and saved again. Others that want to change the file say so and wait until this
 * one has ended, so that no change is lost. */
tamis_set *setfile_take(const char *path, const options *asked);

/* To be saved to, perhaps after hours of work: may it be (over)written? Files of keys are not
 * replaced by mistake. Others wait, as for setfile_take(). */
void setfile_check_target(const char *path, const options *asked);

void setfile_save(const tamis_set *set, const char *path);

/* All about a set; it cannot fail on a set that is one. */
void setfile_inspect(const tamis_set *set, tamis_info *ret_info);

/* What to do about a problem with a file, as this command would; or NULL. */
const char *setfile_advice(const tamis_problem *problem, const options *asked);

/* "183 KiB (bloom, made for 100,000), false-positive rate 0.1%": what a set is now. */
typedef char setfile_text[240];
void         setfile_describe(const tamis_info *info, setfile_text ret_text);

/* Say so when a set that never refuses has taken more than it was made for, so that its
 * false-positive rate is not what was asked for. */
bool setfile_warn_of_overload(const tamis_info *info, const char *path);

#endif
