/* setfile.h - sets and states in files: open and save them, and say what is wrong with a file. */
#ifndef CLI_SETFILE_H
#define CLI_SETFILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "adding.h"
#include "options.h"

/* ------------------------------------------------------------------ to be asked */

/* An open file of a set or of states: `set` or `states` is NULL.
 *
 * A small file is read into memory, and so is any file with --read. A larger one is mapped, and so
 * is any file with --trust: that is faster, and several processes share the memory. But if another
 * program overwrites a mapped file in place, the answers are those of the new bytes, which nobody
 * has checked. So a mapped file is watched: setfile_check() ends the program if it has changed. A
 * file that is replaced by a new one of the same name, as tamis does it, changes nothing here. */
typedef struct setfile {
    tamis_set    *set;
    tamis_states *states;
    const char   *path;
    int           descriptor; /* of the mapped file, or -1 */
    struct stat   before;     /* of the mapped file, when it was opened */
} setfile;

/* Open a file, which is checked unless --trust is given. Whatever is wrong ends the program. */
void setfile_open_set(const char *path, const options *asked, setfile *ret_file);
void setfile_open_states(const char *path, const options *asked, setfile *ret_file);

/* The same for any of the two, without --trust; the caller says what is wrong. */
tamis_status setfile_open_any(const char *path, const options *asked, setfile *ret_file,
                              tamis_problem *reterr_problem);

/* End the program if another program has written to the mapped file. Call it after lookups, before
 * their answers are printed. */
void setfile_check(const setfile *file);

/* Check it for the last time, and close it. */
void setfile_close(setfile *file);

/* ------------------------------------------------------------------ to be changed */

/* A file to save to, as it was when the work began. */
typedef struct setfile_target {
    const char *path;
    bool        exists;
    struct stat before;
} setfile_target;

/* Read a set into memory, where it can be changed. */
tamis_set *setfile_read(const char *path, const options *asked);

/* Read a set that will be changed and saved again. Other tamis processes that want to change the
 * file say so and wait until this one has ended, so that no change is lost. */
tamis_set *setfile_take(const char *path, const options *asked, setfile_target *ret_target);

/* The same, to be changed by as many threads as asked for, if the kind allows that. */
set_in_work setfile_take_shared(const char *path, const options *asked, setfile_target *ret_target);

/* Before long work: end the program if the result could not or should not be saved to that path. A
 * file of keys or of states is not replaced by mistake. Others wait, as for setfile_take(). */
void setfile_aim(const char *path, const options *asked, setfile_target *ret_target);

/* Save, or end the program. A file that another program has changed since the work began is left
 * as it is. */
void setfile_save(const tamis_set *set, const setfile_target *target);

/* ------------------------------------------------------------------ to be told */

/* All about a set; it cannot fail on a set that is open. */
void setfile_inspect(const tamis_set *set, tamis_info *ret_info);

/* What to do about a problem with a file, in the words of the command line; or NULL. */
const char *setfile_advice(const char *path, const tamis_problem *problem, const options *asked);

/* "100,000 keys", "100,000 keys with up to 3 copies each" or "100,000 keys, growing to 1,600,000":
 * what a set is made for. */
typedef char capacity_text[240];
void         setfile_name_capacity(const tamis_facts *facts, capacity_text ret_text);

/* Does a set that can remove hold more adds than different keys? */
bool setfile_has_copies(const tamis_info *info);

/* "100,000 keys", "200,000 copies of about 100,000 keys" or "about 100,000 keys": what a set holds.
 * It counts adds. These are not the different keys if some came again, or seemed to. */
typedef char contents_text[120];
void         setfile_name_contents(const tamis_info *info, contents_text ret_text);

/* "183 KiB (bloom, made for 100,000 keys), false-positive rate 0.1%": what a set is now. */
typedef char setfile_text[420];
void         setfile_describe(const tamis_info *info, setfile_text ret_text);

/* Warn if a set that never refuses keys has taken more than it was made for, so that its
 * false-positive rate is higher than planned. Returns whether it has. */
bool setfile_warn_of_overload(const tamis_info *info, const char *path);

#endif
