/* adding.h - add lines to a set and report it, for build and add. */
#ifndef CLI_ADDING_H
#define CLI_ADDING_H

#include "crew.h"
#include "options.h"

/* Split a line of --counts, "KEY<TAB>COPIES", or end the program. *key becomes the key alone.
 * Returns TAMIS_COUNT_MANY for "many", the count of a saturated key. */
uint64_t counted_split(tamis_key *key, uint64_t line_number);

/* A set that lines are added to or removed from. Threads change it at the same time if it is
 * shared (parting.h). If not, they hash the lines, and the main thread changes it, in the order of
 * the input. */
typedef struct set_in_work {
    tamis_set *set;
    bool       is_shared;
} set_in_work;

/* Should this many threads change a set of this kind at the same time? */
bool is_shared_well(const char *kind, unsigned threads);

/* Add all keys: each once, or with --counts as often as its line says. Stops when a key is refused.
 * @param ret_copies how many copies were added, whatever the status.
 * @return TAMIS_OK or TAMIS_ERR_FULL; anything else ends the program. */
tamis_status add_lines(set_in_work to, const char *path, lines *input, const options *asked,
                       uint64_t *ret_copies);

/* End the program: the set is full, and nothing was saved. */
_Noreturn void die_of_full(const tamis_set *set, const char *path, uint64_t n_lines);

/* "100 lines read, 98 new (the others ...)". n_copies were to be added, and n_new have changed the
 * set. */
typedef char added_text[272];
void         name_added(const tamis_info *info, uint64_t n_lines, uint64_t n_copies, uint64_t n_new,
                        added_text ret_text);

#endif
