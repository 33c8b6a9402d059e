/* replace.h - write a file beside an old one, and put it in the place of that when it is complete.
 *
 *     replacement r;
 *     int         error = replace_begin("flows.state", &r);
 *     if (error == 0) {
 *         (void)fprintf(r.file, ...);
 *         error = replace_end(&r, true);
 *     }
 *
 * At any time the name leads to the old file or to the new one, and the file is complete: if the
 * process is killed, if the disk is full, and with `is_synced` also if the power fails. The library
 * saves its files in the same way (src/os.c).
 *
 * If the name is a link, the link stays, and the file that it leads to is replaced. The new file
 * has the owner, group and mode of the old one, as far as the system allows. Permissions of the
 * folder are needed, as for rename(2), and none of the old file.
 */
#ifndef COMMON_REPLACE_H
#define COMMON_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct replacement {
    FILE *file;   /* to write to, and to change the mode of */
    int   folder; /* open, the one of the two names: */
    bool  is_named;
    char  name[256], temporary[32];
} replacement;

/* Returns 0, or the number of the error: then there is nothing to end. EINVAL: there is a device or
 * a pipe of that name. ENOENT: the folder does not exist, or the name is a link that leads
 * nowhere. */
int replace_begin(const char *path, replacement *ret_replacement);

/* Replace the file. Returns 0, or the number of the error: then the old file stays (it may have
 * been replaced if only the sync of its folder failed). `is_synced` waits for the disk. */
int replace_end(replacement *r, bool is_synced);

/* Instead of replace_end(): nothing was replaced, and nothing is left. */
void replace_abandon(replacement *r);

#endif
